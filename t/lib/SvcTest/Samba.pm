package SvcTest::Samba;

# Samba as Active Directory, of which only LDAP runs, on an address of this machine
# that no other test has.  It takes root: its ports are 389 and 636.
#
#     my $ad = SvcTest::Samba->new($s);
#     $ad->launch;
#     $ad->tool(qw(user create ada), $password);

use strict;
use warnings;

use Exporter qw(import);
use JSON::PP qw(encode_json);

use SvcTest::Process qw(alive wait_for spawn run slurp write_file signal_pid wait_exit);
use SvcTest::Skip;

our @EXPORT_OK = qw($DOMAIN $ADMIN);

needs(program => 'samba samba-tool ldapmodify ldapsearch python3', python => 'samba');
skip_file('it needs root') if $> != 0;

my $TOOLS = <<'EOT';
import json, sys
from samba.netcmd.main import cmd_sambatool
for args in json.loads(sys.argv[1]):
    if cmd_sambatool()._run("samba-tool", *args):
        sys.exit(str(args))
EOT

our $DOMAIN = 'DC=ad,DC=example,DC=test';
our $ADMIN = 'Passw0rd of the test';


sub new {
    my ($class, $s) = @_;

    my $self = bless { dir => "$s->{dir}/samba",
                       address => join('.', 127, map { 1 + $_ % 250 } $$ >> 8, $$, 7) },
               $class;

    $s->secret($ADMIN);

    my ($status, $text) = run([ qw(samba-tool domain provision --server-role=dc
        --realm=AD.EXAMPLE.TEST --domain=ADTEST --host-name=dc1 --dns-backend=NONE
        --option=ldb:nosync=true),
        "--host-ip=$self->{address}", "--adminpass=$ADMIN", "--targetdir=$self->{dir}" ],
        timeout => 180);

    die "samba-tool: $text\n" if $status != 0;

    my $conf = slurp($self->conf) =~ s/^\s*server services = .*\n//mr;

    write_file($self->conf, $conf =~ s{\[global\]\n}{[global]
\tinterfaces = $self->{address}/8
\tbind interfaces only = yes
\tserver services = ldap
\tldb:nosync = true
\tlog file = $self->{dir}/log
}r);

    return $self;
}

sub conf { return "$_[0]{dir}/etc/smb.conf" }
sub url { return "ldaps://$_[0]{address}" }
sub said { return slurp("$_[0]{dir}/out") // '' }


sub launch {
    my ($self) = @_;

    $self->{pid} = spawn([ '/usr/sbin/samba', '-i', '-M', 'single', '-s', $self->conf ],
                         out => "$self->{dir}/out");

    wait_for { $self->asked || !alive($self->{pid}) };
    die 'no samba: ' . $self->said if !alive($self->{pid});
}


sub asked {
    my ($self) = @_;
    my ($status) = run([ 'ldapsearch', '-x', '-H', $self->url, '-s', 'base', '-b', '' ],
                       env => { LDAPTLS_REQCERT => 'never' });

    return $status == 0;
}


# Runs samba-tool, on its files.

sub tool { return shift->tools([ @_ ]) }


# Runs it with each of these arguments, in one process: it takes most of a second to
# start.

sub tools {
    my ($self, @commands) = @_;
    my ($status, $text) = run([ '/usr/bin/python3', '-c', $TOOLS, encode_json([
        map { [ @$_, '-s', $self->conf ] } @commands ]) ], timeout => 60 * @commands);

    die "samba-tool: $text\n" if $status != 0;
}


# Changes an entry by LDAP.

sub change {
    my ($self, $dn, $ldif) = @_;

    write_file("$self->{dir}/ldif", "dn: $dn\nchangetype: modify\n$ldif");

    my ($status, $text) = run([ 'ldapmodify', '-x', '-H', $self->url, '-D',
                                "CN=Administrator,CN=Users,$DOMAIN", '-w', $ADMIN, '-f',
                                "$self->{dir}/ldif" ],
                              env => { LDAPTLS_REQCERT => 'never' });

    die "ldapmodify: $text\n" if $status != 0;
}


# Its CA, which it makes when it starts.

sub ca { return slurp("$_[0]{dir}/private/tls/ca.pem") }


sub stop {
    my ($self) = @_;

    return if !alive($self->{pid});

    signal_pid('TERM', $self->{pid});
    wait_exit($self->{pid});
}


1;
