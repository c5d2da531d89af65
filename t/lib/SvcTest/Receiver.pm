package SvcTest::Receiver;

# Receivers of webhooks, with TLS: good, other (a certificate for another name),
# expired, self (self-signed), plain (no TLS), stall (accepts, and never
# answers), reset, and an HTTP proxy.
#
#     my $receiver = SvcTest::Receiver->new($s);      # before $s->start
#     my $hook = $receiver->hook($acme, '/ok');       # an endpoint
#     ... something happens ...
#     my @got = $receiver->wait($hook, 1);

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Fcntl qw(LOCK_EX);
use File::Basename qw(dirname);
use File::Copy qw(cp);
use File::Path qw(make_path remove_tree);
use Test::More ();
use Time::HiRes qw(time);

use SvcTest::Json qw(json);
use SvcTest::Process qw(wait_for spawn run slurp);
use SvcTest::Skip;

needs(program => 'cc node openssl');


my $JSON = json();
my @KEY = qw(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes);
my %DATES = (ten => [ qw(-days 10) ],
             past => [ qw(-startdate 20200101000000Z
                          -enddate 20200201000000Z) ]);


# Sets the directives of nginx that webhooks to these receivers need; %svc adds
# others.

sub new {
    my ($class, $s, %svc) = @_;

    my $self = bless { s => $s, dir => "$s->{dir}/tls", got => [], at => 0,
                       log => "$s->{dir}/received" }, $class;

    make_path($self->{dir});
    $self->certificates;

    my $out = "$self->{dir}/servers";

    open my $fh, '>', $self->{log} or die "$self->{log}: $!\n";

    $self->{pid} = spawn([ 'node', "$s->{root}/t/lib/webhook-receiver.mjs",
                           $self->{dir}, $self->{log} ], out => $out);

    wait_for { (slurp($out) // '') =~ /^ready$/m }
        or die 'no receiver: ' . slurp($out) . "\n";

    $self->{port} = { slurp($out) =~ /^(\w+) (\d+)$/mg };

    my $nginx = $s->{nginx};

    $nginx->{svc} = { svc_webhooks => 'on',
                      svc_webhook_ca_file => "$self->{dir}/ca.pem",
                      svc_webhook_allow => '127.0.0.0/8',
                      %svc, %{ $nginx->{svc} // {} } };

    return $self;
}


sub openssl {
    my ($self, @arg) = @_;

    my ($status, $text) = run([ 'openssl', @arg ], cwd => $self->{dir});

    die "openssl @arg: $text\n" if $status != 0;
}


# They are made once a day, and copied for each test: openssl is started for each of
# them, which takes longer than the receivers do to start.

sub certificates {
    my ($self) = @_;

    my $build = dirname(__FILE__) . '/../../../build/t';
    my $made = "$build/tls-" . substr sha256_hex(join "\0", int(time / 86400),
                                                 slurp(__FILE__)), 0, 16;

    make_path($build);
    open my $lock, '>', "$build/tls.lock" or die "$build: $!\n";
    flock $lock, LOCK_EX or die "flock: $!\n";

    if (!-d $made) {
        remove_tree(glob "$build/tls-*");
        $self->make_certificates;
        mkdir "$made.new" or die "$made.new: $!\n";
        cp($_, "$made.new") or die "$_: $!\n" for glob "$self->{dir}/*.*";
        rename "$made.new", $made or die "rename $made: $!\n";

        return;
    }

    cp($_, $self->{dir}) or die "$_: $!\n" for glob "$made/*";
}


sub make_certificates {
    my ($self) = @_;

    my $here = 'subjectAltName=IP:127.0.0.1,DNS:hooks.example.com,'
               . 'DNS:*.hooks.example.com';

    $self->openssl('req', '-x509', @KEY, '-keyout', 'ca.key', '-out', 'ca.pem',
                   '-subj', '/CN=Test CA', '-days', 10);
    $self->openssl('req', '-x509', @KEY, '-keyout', 'self.key', '-out',
                   'self.pem', '-subj', '/CN=self', '-days', 10, '-addext',
                   $here);

    $self->write('ca.cnf', <<'EOT');
[ca]
default_ca = test
[test]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
EOT
    $self->write('index.txt', '');

    $self->certificate(good => $here);
    $self->certificate(expired => $here, 'past');
    $self->certificate(other => 'subjectAltName=DNS:other.example.com');
}


# Makes NAME.pem and NAME.key.  $dates: "ten" days from now, or "past".

sub certificate {
    my ($self, $name, $alt, $dates) = @_;

    $self->write("$name.ext", "$alt\n");
    $self->openssl('req', @KEY, '-keyout', "$name.key", '-out', "$name.csr",
                   '-subj', "/CN=$name");
    $self->openssl('ca', '-batch', '-notext', '-config', 'ca.cnf', '-in',
                   "$name.csr", '-cert', 'ca.pem', '-keyfile', 'ca.key',
                   @{ $DATES{ $dates // 'ten' } }, '-extfile', "$name.ext",
                   '-out', "$name.pem");
}


sub write {
    my ($self, $name, $text) = @_;

    open my $fh, '>', "$self->{dir}/$name" or die "$name: $!\n";
    print $fh $text;
    close $fh;
}


sub url {
    my ($self, $path, $server, $host) = @_;

    return 'https://' . ($host // '127.0.0.1')
           . ":$self->{port}{ $server // 'good' }$path";
}


# Creates an endpoint.  Returns its object, with the path in it.  server: one of
# the above; host: a name instead of 127.0.0.1; events.

sub hook {
    my ($self, $tenant, $path, %arg) = @_;

    my $r = $tenant->admin(POST => '/webhooks', {
        url => $self->url($path, @arg{qw(server host)}),
        events => $arg{events} // [ 'user.created' ],
    });

    die "POST /webhooks: $r->{status} $r->{body}\n" if $r->status != 201;

    my $hook = $r->json;

    $self->{s}->secret($hook->{secret});
    @$hook{qw(path tenant)} = ($path, $tenant);

    return $hook;
}


# Starts t/lib/hostile.c in a mode.  Returns the server's name, for hook().
#  @cipher: ciphers of TLS 1.2, the only version that it then speaks.

sub hostile {
    my ($self, $mode, @cipher) = @_;

    my $program = "$self->{s}{dir}/hostile";
    my $out = "$self->{dir}/$mode.out";

    if (!-e $program) {
        my ($status, $text) = run([ $ENV{CC} || 'cc',
            qw(-O1 -Wall -Wextra -Werror -o), $program,
            "$self->{s}{root}/t/lib/hostile.c", qw(-lssl -lcrypto) ]);

        die "hostile.c: $text\n" if $status != 0;
    }

    spawn([ $program, "$self->{dir}/good.pem", "$self->{dir}/good.key", $mode,
            @cipher ], out => $out);

    wait_for { (slurp($out) // '') =~ /^port (\d+)$/m }
        or die "no receiver of $mode: " . slurp($out) . "\n";

    ($self->{port}{$mode}) = slurp($out) =~ /^port (\d+)$/m;

    return $mode;
}


# Returns all requests that have come, oldest first: hashes with time (ms), url,
# connection, headers (a flat list), body, and header, by name in lower case.

sub received {
    my ($self) = @_;

    open my $fh, '<:raw', $self->{log} or die "$self->{log}: $!\n";
    seek $fh, $self->{at}, 0;

    while (my $line = readline $fh) {
        last if $line !~ /\n\z/;

        my $got = $JSON->decode($line);
        my @headers = @{ $got->{headers} };

        utf8::downgrade($got->{body});

        while (my ($name, $value) = splice @headers, 0, 2) {
            $got->{header}{lc $name} = $value;
        }

        push @{ $self->{got} }, $got;
        push @{ $self->{got_at}{ $got->{url} } }, $got;
        $self->{at} += length $line;
    }

    return @{ $self->{got} };
}


# Returns the requests to an endpoint's path.

sub at {
    my ($self, $hook) = @_;

    my $path = ref $hook ? $hook->{path} : $hook;

    $self->received;

    return @{ $self->{got_at}{$path} // [] };
}


# Returns the same once there are at least $n, or after $seconds.

sub wait {
    my ($self, $hook, $n, $seconds) = @_;

    wait_for { $self->at($hook) >= $n } $seconds;

    return $self->at($hook);
}


# Returns the delivery log of an endpoint, oldest first, once it has $n rows.

sub deliveries {
    my ($self, $hook, $n, $seconds) = @_;

    my $list;

    wait_for {
        $list = $hook->{tenant}->admin(GET =>
                    "/webhooks/$hook->{id}/deliveries?limit=500")->json;
        $list->{total} >= $n;
    } $seconds
        or Test::More::diag("$list->{total} rows of $n in the delivery log\n",
                            grep { /webhook|PostgreSQL/ }
                            $self->{s}->nginx->log_lines);

    return reverse @{ $list->{deliveries} };
}


# Returns the delays, in ms, of $n events at an endpoint, one after the other,
# sorted. $event makes an event, and $more is called after each.

sub delays {
    my ($self, $hook, $n, $event, $more) = @_;

    my @delays;
    my $seen = $self->at($hook);

    for my $i (1 .. $n) {
        my $since = 1000 * time;

        $event->();

        my $got = ($self->wait($hook, $seen + $i, 30))[$seen + $i - 1];

        push @delays, $got ? $got->{time} - $since : 1e9;
        $more->() if $more;
    }

    return sort { $a <=> $b } @delays;
}


# Returns how many deliveries are pending.

sub pending {
    my ($self) = @_;

    my $n = $self->{s}->redis->command('HINCRBY svc.webhook2.pending total 0');

    return ($n // '') =~ /^:(\d+)$/ ? $1 : die 'Redis: ' . ($n // '') . "\n";
}


1;
