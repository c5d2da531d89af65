package SvcTest::Exim;

# Exim, as an example of a common mail server: it takes mail to acme.test, only
# over TLS and from clients that authenticate, into a folder of its own.
#
#     my $exim = SvcTest::Exim->new($s, $mail);   # with the certificate of $mail
#     $s->nginx->{svc} = { %{ $s->nginx->{svc} }, $exim->directives('smtps') };
#     my @texts = $exim->wait(1);

use strict;
use warnings;

use File::Path qw(make_path);

use SvcTest::Nginx ();
use SvcTest::Process qw(wait_for spawn run_user slurp write_file signal_pid
    wait_exit);
use SvcTest::Skip;

needs(program => 'exim4');


my $CONFIG = <<'EOT';
exim_user = USER
exim_group = GROUP
deliver_drop_privilege
primary_hostname = mail.acme.test
spool_directory = DIR/spool
log_file_path = DIR/%slog
pid_file_path = DIR/pid
keep_environment =
local_interfaces = 127.0.0.1
daemon_smtp_ports = SMTP : SMTPS
tls_on_connect_ports = SMTPS
tls_advertise_hosts = *
tls_certificate = DIR/cert.pem
tls_privatekey = DIR/key.pem
auth_advertise_hosts = ${if def:tls_in_cipher {*}}
acl_smtp_rcpt = rcpt

begin acl
rcpt:
  deny !encrypted = *
  deny !authenticated = *
  accept domains = acme.test

begin routers
all:
  driver = accept
  transport = folder

begin transports
folder:
  driver = appendfile
  directory = DIR/mails
  maildir_format
  envelope_to_add
  return_path_add
  user = USER
  group = GROUP

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${if and {{eq{$auth2}{user}} {eq{$auth3}{se:cret}}}}
  server_set_id = $auth2
EOT


sub new {
    my ($class, $s, $mail) = @_;

    my ($uid, $gid) = (getpwnam run_user())[2, 3];
    my $self = bless { mail => $mail, dir => "$s->{dir}/exim",
                       smtp => SvcTest::Nginx::free_port(),
                       smtps => SvcTest::Nginx::free_port() }, $class;
    my %set = (USER => $uid, GROUP => $gid, DIR => $self->{dir},
               SMTP => $self->{smtp}, SMTPS => $self->{smtps});

    make_path("$self->{dir}/spool", "$self->{dir}/mails");
    write_file("$self->{dir}/$_", slurp("$mail->{dir}/$_")) for qw(cert.pem key.pem);
    write_file("$self->{dir}/conf", $CONFIG =~ s/\b(USER|GROUP|DIR|SMTPS?)\b/$set{$1}/gr);
    chown $uid, $gid, $self->{dir}, glob "$self->{dir}/*" if $> == 0;

    $self->{pid} = spawn([ '/usr/sbin/exim4', '-C', "$self->{dir}/conf", '-bdf' ],
                         user => run_user(), out => "$self->{dir}/out");

    wait_for { (slurp("$self->{dir}/mainlog") // '') =~ /listening for SMTP/ }
        or die 'no exim: ' . join '', map { slurp("$self->{dir}/$_") // '' }
                                          qw(out mainlog);

    return $self;
}


# Returns nginx's directives for mail to this server, by smtp or smtps.

sub directives {
    my ($self, $scheme) = @_;

    return ($self->{mail}->directives('tls'),
            svc_mail => "$scheme://127.0.0.1:$self->{$scheme}");
}


# Returns the mails that have come, once there are $n.

sub wait {
    my ($self, $n) = @_;

    my @files;

    wait_for { (@files = glob "$self->{dir}/mails/new/*") >= $n };

    return map { slurp($_) } @files;
}


sub stop {
    my ($self) = @_;

    signal_pid('TERM', $self->{pid});
    wait_exit($self->{pid});
}


1;
