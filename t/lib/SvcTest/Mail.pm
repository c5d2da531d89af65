package SvcTest::Mail;

# A mail server for the nginx under test, and mails queued in Redis as a worker
# does it.
#
#     my $mail = SvcTest::Mail->new($s);          # before $s->start
#     $mail->push(kind => 'reset', to => 'ada@acme.test', tenant => $acme->{id});
#     my @got = $mail->wait(1);                   # what has arrived

use strict;
use warnings;

use Cwd ();
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use JSON::PP ();
use Test::More ();

use SvcTest::Process qw(wait_for spawn run run_apart slurp write_file
    signal_pid wait_exit);
use SvcTest::Skip;


my $JSON = JSON::PP->new->utf8->ascii->canonical;

our @EXPORT_OK = qw(nowhere);

our @KINDS = qw(sign_in verify signup exists reset invite mfa changed new_device
                locked);
my %KIND = map { $KINDS[$_] => $_ } 0 .. $#KINDS;


# Starts the server, and sets the directives of nginx that mail to it needs;
# %svc adds others.  port: plain, tls or smtps.

sub new {
    my ($class, $s, %opt) = @_;

    needs(program => 'openssl', python => 'aiosmtpd cryptography');

    my $self = bless { s => $s, dir => "$s->{dir}/mail", n => 0 }, $class;

    make_path($self->{dir});
    $self->certificate;
    $self->launch;

    my $nginx = $s->{nginx};

    $nginx->{svc} = { $self->directives(delete $opt{port} // 'tls'), %opt,
                      %{ $nginx->{svc} // {} } };

    return $self;
}


sub directives {
    my ($self, $port) = @_;

    my $scheme = $port eq 'smtps' ? 'smtps' : 'smtp';
    my $credentials = "$self->{dir}/credentials";

    write_file($credentials, "user:se:cret\n");
    chmod 0600, $credentials;
    $self->{s}->secret('se:cret');

    return (svc_mail => "$scheme://127.0.0.1:$self->{port}{$port}",
            svc_mail_from => '"Acmé sign-in <no-reply@login.acme.test>"',
            svc_mail_templates => "$self->{s}{root}/conf/mail",
            svc_webhook_ca_file => "$self->{dir}/cert.pem",
            $port eq 'tls' ? (svc_mail_credentials => $credentials) : (),
            $port eq 'plain' ? (svc_mail_tls => 'off') : ());
}


# Returns the directives of a mail server at an address where nothing listens:
# they switch on the routes that send mail.

sub nowhere {
    my $root = Cwd::realpath(dirname(__FILE__) . '/../../..');

    return (svc_mail => 'smtp://127.0.0.1:9', svc_mail_from => 'a@acme.test',
            svc_mail_templates => "$root/conf/mail");
}


sub certificate {
    my ($self) = @_;

    my ($status, $text) = run(
        [ qw(openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes
             -keyout key.pem -out cert.pem -subj /CN=mail -days 10 -addext),
          'subjectAltName=IP:127.0.0.1,DNS:localhost' ],
        cwd => $self->{dir});

    die "openssl: $text\n" if $status != 0;
}


sub launch {
    my ($self) = @_;

    my $out = "$self->{dir}/out";

    unlink $out;
    $self->{pid} = spawn([ "$self->{s}{root}/t/lib/mail-receiver",
                           $self->{dir} ], out => $out);

    wait_for { (slurp($out) // '') =~ /^ready$/m }
        or die 'no mail server: ' . (slurp($out) // '') . "\n";

    $self->{port} = { slurp($out) =~ /^(\w+) (\d+)$/mg };
}


# Sets what is to go wrong (see t/lib/mail-receiver); without an argument
# nothing.

sub mode {
    my ($self, @lines) = @_;

    write_file("$self->{dir}/mode.new", join '', map { "$_\n" } @lines);
    rename "$self->{dir}/mode.new", "$self->{dir}/mode" or die "mode: $!\n";
}


# Queues mails, which are hashes; each gets an id.  Returns the ids.

sub push_all {
    my ($self, @mails) = @_;

    my $file = "$self->{dir}/push";
    my @ids;

    for my $mail (@mails) {
        $mail->{id} //= sprintf '%032x', ++$self->{n};
        $mail->{tenant} //= '00000000-0000-4000-8000-000000000001';
        $mail->{kind} = $KIND{ $mail->{kind} // 'reset' };
        CORE::push @ids, $mail->{id};
    }

    write_file($file, join '', map { $JSON->encode($_) . "\n" } @mails);

    my ($status, $out, $err) = run_apart(
        [ "$self->{s}{root}/t/lib/mail-seal", $self->{s}{key_file},
          $self->{s}->redis->{socket} ], in => $file);

    die "mail-seal: $out$err\n" if $status != 0;

    return @ids;
}


sub push {
    my ($self, %mail) = @_;

    return ($self->push_all(\%mail))[0];
}


# Returns what the server has logged, or only the entries of one event.

sub events {
    my ($self, $event) = @_;

    if (open my $fh, '<:raw', "$self->{dir}/log") {
        seek $fh, $self->{at} // 0, 0;

        while (my $line = readline $fh) {
            last if $line !~ /\n\z/;

            $self->{at} += length $line;
            CORE::push @{ $self->{events} }, $JSON->decode($line);
        }
    }

    return grep { !$event || $_->{event} eq $event } @{ $self->{events} };
}


# Returns how often each recipient has got a mail.

sub counts {
    my ($self) = @_;

    my %n;

    $n{ $_->{to}[0] }++ for $self->events('mail');

    return \%n;
}


# Returns the mails that have come, each with its text, once there are $n.

sub wait {
    my ($self, $n, $seconds) = @_;

    wait_for { $self->events('mail') >= $n } $seconds;

    return map { { %$_, text => slurp($_->{file}) } } $self->events('mail');
}


# Returns how many mails Redis still has.

sub pending {
    my ($self) = @_;

    my ($length) = $self->{s}->redis->lines('HGET', 'svc.mail.pending', 'total');

    return $length || 0;
}


sub stop {
    my ($self) = @_;

    signal_pid('TERM', $self->{pid});
    wait_exit($self->{pid});
}


1;
