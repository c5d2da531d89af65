package SvcBench::Webhook;

# Webhooks, delivered to an nginx that answers at once, and whose access log has
# the time of each.

use strict;
use warnings;

use IO::Socket::INET;
use POSIX qw(ceil);
use Time::HiRes qw(time);

use SvcBench::Cpu;
use SvcBench::Load;
use SvcBench::Scim;
use SvcTest::Nginx;
use SvcTest::Process qw(run run_user spawn slurp wait_for);
use SvcTest::Resolver;


my $CA = '/etc/ssl/certs/ca-certificates.crt';
my $PER_TENANT = 100;
my $POST_RATE = 1_000;
my $BODY = '{"id":"' . '0' x 32 . '","event":"user.created","tenantId":"'
           . '0' x 36 . '","createdAt":"2026-11-21T09:15:30.123Z","data":'
           . '{"userId":"' . '0' x 36 . '","email":"user123456@bench.test"}}';

my (%r, $n);


# Starts the receiver before the system, and sets the directives for webhooks to
# it.

sub prepare {
    my ($system) = @_;

    my $s = $system->{s};
    my $dir = "$s->{dir}/receiver";

    mkdir $dir or die "$dir: $!\n";
    chown((getpwnam run_user())[2, 3], $dir) if $> == 0;

    %r = (dir => $dir, port => SvcTest::Nginx::free_port(),
          log => "$dir/access.log");

    # accepts connections, and never answers

    $r{stall} = IO::Socket::INET->new(Listen => 4096,
                                      LocalAddr => '127.0.0.1')
        or die "no socket: $!\n";

    certificates($dir);
    start_nginx($s);

    $r{resolver} = SvcTest::Resolver->new($s, quiet => 1);
    $r{resolver}->set('lost.example.com' => 'hang');

    $s->nginx->{svc} = { %{ $s->nginx->{svc} }, svc_webhooks => 'on',
                         svc_webhook_ca_file => "$dir/ca.pem",
                         svc_webhook_allow => '127.0.0.0/8' };
}


# Returns a file with the system's CAs, and one more.

sub certificates {
    my ($dir) = @_;

    my ($status, $text) = run([ qw(openssl req -x509 -newkey ec -pkeyopt
        ec_paramgen_curve:P-256 -nodes -keyout key.pem -out own.pem
        -subj /CN=bench -days 2 -addext subjectAltName=IP:127.0.0.1) ],
        cwd => $dir);

    die "openssl: $text\n" if $status != 0;

    open my $fh, '>', "$dir/ca.pem" or die "$!\n";
    print $fh slurp($CA) // die("$CA: $!\n"), slurp("$dir/own.pem");
    close $fh;
}


sub start_nginx {
    my ($s) = @_;

    my $user = $> == 0 ? 'user ' . run_user() . ';' : '';
    my $stall = $r{stall}->sockport;
    my $body = 'x' x 2000;

    open my $fh, '>', "$r{dir}/nginx.conf" or die "$!\n";
    print $fh <<"EOT";
$user
daemon off;
worker_processes 1;
error_log $r{dir}/error.log;
pid $r{dir}/nginx.pid;

events {
    worker_connections 4096;
}

http {
    log_format came "\$msec \$uri";
    access_log $r{log} came;
    client_body_temp_path $r{dir}/body;
    keepalive_requests 100000000;

    server {
        listen 127.0.0.1:$r{port} ssl backlog=4096;
        ssl_certificate $r{dir}/own.pem;
        ssl_certificate_key $r{dir}/key.pem;

        location /reference {
            access_log off;
            return 200 "ok";
        }

        location /once {
            keepalive_timeout 0;
            return 200 "ok";
        }

        # a head at once, and then ten bytes a second

        location /drip {
            access_log off;
            limit_rate_after 500;
            limit_rate 10;
            return 200 "$body";
        }

        location /hang {
            access_log off;
            proxy_pass http://127.0.0.1:$stall;
        }

        location / {
            return 200 "ok";
        }
    }
}
EOT
    close $fh;

    $r{pid} = spawn([ '/usr/sbin/nginx', '-c', "$r{dir}/nginx.conf" ],
                    out => "$r{dir}/stderr");

    wait_for { IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                     PeerPort => $r{port}) } 10
        or die 'the receiver does not start: ' . slurp("$r{dir}/stderr") . "\n";
}


sub url {
    my ($path, $host, $port) = @_;

    return 'https://' . ($host // '127.0.0.1') . ':' . ($port // $r{port})
           . $path;
}


# Makes an endpoint of tenant $i; returns the path and the id.

sub hook {
    my ($system, $i, $url) = @_;

    my $tenant = $system->{tenants}[$i];
    my $reply = $tenant->admin(POST => '/webhooks', {
        url => $url, events => [ 'user.created' ] });

    die 'POST /webhooks: ' . $reply->body . "\n" if $reply->status != 201;

    return { tenant => $tenant, id => $reply->json->{id} };
}


sub unhook {
    $_->{tenant}->admin(DELETE => "/webhooks/$_->{id}") for @_;
}


sub user {
    my ($c, $tenant) = @_;

    my $reply = $c->request(POST => '/scim/v2/Users',
        [ @{ $tenant->headers }, 'Content-Type', 'application/scim+json' ],
        SvcTest::encode({ userName => 'hook' . ++$n . '@bench.test' }));

    die 'POST: ' . ($reply ? $reply->body : $c->error) . "\n"
        if !$reply || $reply->status != 201;
}


# Returns when deliveries came, after the log's first $from bytes.

sub came {
    my ($from, $path) = @_;

    open my $fh, '<', $r{log} or die "$r{log}: $!\n";
    seek $fh, $from, 0;

    my @came;

    while (defined(my $line = readline $fh)) {
        push @came, $1 if $line =~ /^([\d.]+) (\S+)\n/ && $2 eq $path;
    }

    return @came;
}


# Creates so many users that each of the endpoints gets its share.  Returns the
# time from the first of them until everything has come.

sub burst {
    my ($system, $path, $hooks, $users) = @_;

    my @hooks = map { hook($system, 0, url($path)) } 1 .. $hooks;
    my $from = -s $r{log};
    my $cpu = SvcBench::Cpu->new($system->processes);
    my $begin = time;
    my $c = $system->{s}->connection;

    user($c, $system->{tenants}[0]) for 1 .. $users;

    my $want = $hooks * $users;

    # reading all lines each time would use a part of the processors

    my $size = $from + $want * length sprintf "%.3f %s\n", $begin, $path;

    wait_for { -s $r{log} >= $size } 60;

    my @came = came($from, $path);
    my ($last) = sort { $b <=> $a } @came;
    my %n = (rate => @came / ($last - $begin), requests => scalar @came,
             faults => @came == $want ? []
                       : [ scalar(@came) . " of $want deliveries came" ],
             $cpu->per_request(scalar @came));

    unhook(@hooks);
    $system->reset;

    return \%n;
}


sub deliveries {
    my ($system, $seconds) = @_;

    return burst($system, '/kept', $PER_TENANT, ceil(30 * $seconds));
}


sub connections {
    my ($system, $seconds) = @_;

    return burst($system, '/once', $PER_TENANT, ceil(6 * $seconds));
}


sub reference {
    my ($system, $seconds) = @_;

    return SvcBench::Load::wrk($system, 'post', seconds => $seconds,
                               connections => 64, body => $BODY,
                               path => '/reference', url => url(''),
                               processes => { server => { root => $r{pid} } });
}


# Measures from before a user is created until the receiver has the webhook.

sub delay {
    my ($system, $seconds) = @_;

    my $hook = hook($system, 1, url('/delay'));
    my $c = $system->{s}->connection;
    my @took;

    my $cpu = SvcBench::Cpu->new($system->processes);
    my $end = time + $seconds;

    while (time < $end) {
        my $from = -s $r{log};
        my $begin = time;

        user($c, $system->{tenants}[1]);

        my @came;
        wait_for { @came = came($from, '/delay') } 60
            or die "a delivery does not come\n";

        push @took, 1e6 * ($came[0] - $begin);
    }

    @took = sort { $a <=> $b } @took;

    my %n = (rate => @took / $seconds, requests => scalar @took,
             p99 => $took[0.99 * $#took], faults => [],
             $cpu->per_request(scalar @took));

    unhook($hook);
    $system->reset;

    return \%n;
}


sub beside {
    my ($system, $seconds) = @_;

    my @bad = (hook($system, 2, url('/lost', 'lost.example.com')),
               hook($system, 2, url('/stall', undef, $r{stall}->sockport)));
    my $c = $system->{s}->connection;

    user($c, $system->{tenants}[2]) for 1 .. 100;

    my $taken = delay($system, $seconds);

    unhook(@bad);
    $system->reset;

    return $taken;
}


# Measures the same while all tenants of @$tenants have so many endpoints at a
# path that holds on to attempts, and events for them.

sub beside_crowd {
    my ($system, $seconds, $path, $tenants, $hooks, $users, $begun) = @_;

    my $c = $system->{s}->connection;
    my @bad;

    for my $i (@$tenants) {
        push @bad, map { hook($system, $i, url($path)) } 1 .. $hooks;
    }

    for my $i (@$tenants) {
        user($c, $system->{tenants}[$i]) for 1 .. $users;
    }

    my $redis = $system->{s}->redis;

    wait_for {
        my ($key) = $redis->lines(KEYS => 'svc.webhook2.own.*.begun');
        $key && ($redis->lines(HLEN => $key))[0] >= $begun;
    } 60 or die "fewer than $begun attempts are held on to\n";

    my $taken = delay($system, $seconds);

    unhook(@bad);
    $system->reset;

    return $taken;
}


sub drip {
    my ($system, $seconds) = @_;

    return beside_crowd($system, $seconds, '/drip', [ 2 .. 9 ], 4,
                        $seconds < 1 ? 5 : 50, 32);
}


# Measures a tenth of them, for a moment.

sub hang {
    my ($system, $seconds) = @_;

    my @crowd = $seconds < 1 ? (6, 5, 30) : (66, 5, 300);

    return beside_crowd($system, $seconds, '/hang', [ 0, 2 .. 9 ], @crowd);
}


sub posts {
    my ($system, $seconds, $subscribed) = @_;

    my @hooks = $subscribed ? map { hook($system, $_, url('/post')) }
                              0 .. $#{ $system->{tenants} }
                            : ();

    my $taken = SvcBench::Load::wrk($system, 'create', seconds => $seconds,
                                    connections => 32, threads => 1,
                                    rate => $POST_RATE);

    unhook(@hooks);
    $system->reset;

    return $taken;
}


# Creates users as fast as they are answered, each with a webhook, while the
# outbox is on or off.  All are delivered before it ends.

sub outbox {
    my ($system, $seconds, $on) = @_;

    my $s = $system->{s};
    my $nginx = $s->nginx;
    my $redis = $s->redis;
    my $svc = $nginx->{svc};

    local @$svc{qw(svc_webhook_outbox svc_webhook_queue)}
        = ($on ? undef : 'off', '1000000 tenant=1000000 endpoint=1000000');

    my @helpers = $nginx->helper_pids;

    $nginx->reload;
    $nginx->wait_helper(@helpers) or die "no helper\n";
    $s->wait_healthy or die "nginx is not healthy\n";

    my @hooks = map { hook($system, $_, url('/post')) } 0 .. $#{ $system->{tenants} };

    # new workers open their connections one after the other

    SvcBench::Load::wrk($system, 'create', seconds => $seconds < 1 ? $seconds : 1,
                        connections => 64);

    my $taken = SvcBench::Scim::create($system, $seconds);

    wait_for {
        $redis->command('HINCRBY svc.webhook2.pending total 0') eq ':0'
    } 120 or die "the webhooks are not delivered\n";

    unhook(@hooks);
    $system->reset;
    $s->sql('TRUNCATE svc.webhook_done');

    return $taken;
}


1;
