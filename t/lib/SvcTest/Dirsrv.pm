package SvcTest::Dirsrv;

# Debian's 389 Directory Server as a directory of a test.  It is made of the templates that
# dscreate has, without what that does for systemd, and is used as SvcTest::Slapd is.
#
#     my $dirsrv = SvcTest::Dirsrv->new($s);
#     $dirsrv->launch;
#     $dirsrv->person(ada => (userPassword => ...));
#
# Members of groups have memberOf.

use strict;
use warnings;

use parent -norequire, 'SvcTest::Slapd';

use SvcTest::Process qw(on_exit run run_user slurp write_file);
use SvcTest::Skip;
use SvcTest::Slapd qw($SUFFIX $SERVICE);

needs(program => 'ns-slapd certutil pk12util openssl ldapsearch');

my $SHARE = '/usr/share/dirsrv/data';

# what starts and errors are told with, of the levels that there are
my $LEVEL = 266354688;


# It calls a semaphore by the last part of its folder, and leaves it behind.

sub new {
    my ($class, $s, %opt) = @_;
    my $dir = $opt{dir} // "dirsrv-$$";

    on_exit(sub { unlink "/dev/shm/sem.$dir.stats" });

    return $class->SUPER::new($s, %opt, dir => $dir);
}


# Nobody may read anything until an instruction says so.

sub launch {
    my ($self) = @_;
    my $filled = $self->{filled};

    $self->SUPER::launch;
    $self->add(<<"END") if !$filled;
dn: $SUFFIX
changetype: modify
add: aci
aci: (targetattr != "userPassword")(version 3.0; acl "service";
  allow (read, search, compare) userdn = "ldap:///$SERVICE";)
END
}


# It takes certificates from a database of NSS.

sub certify {
    my ($self, @names) = @_;

    $self->SUPER::certify(@names);
    unlink map { "$self->{dir}/$_" } qw(cert9.db key4.db pkcs11.txt);

    for my $command ([ qw(openssl pkcs12 -export -in server.pem -inkey server.key
                          -name Server-Cert -passout pass: -out server.p12) ],
                     [ qw(certutil -d . -N --empty-password) ],
                     [ qw(pk12util -d . -i server.p12 -W), '' ],
                     [ qw(certutil -d . -A -n CA -a -i ca.pem -t), 'CT,,' ])
    {
        my ($status, $text) = run($command, cwd => $self->{dir});

        die "@$command: $text\n" if $status != 0;
    }
}


sub command {
    my ($self) = @_;
    my $dir = $self->{dir};

    if (!-e "$dir/dse.ldif") {
        mkdir "$dir/$_" or die "$dir/$_: $!\n" for qw(schema logs run);
        write_file("$dir/schema/99user.ldif", slurp('/etc/dirsrv/schema/99user.ldif'));
        write_file("$dir/$_", slurp("/etc/dirsrv/config/$_"))
            for qw(slapd-collations.conf certmap.conf);
        write_file("$dir/dse.ldif", $self->configuration);
    }

    return ('/usr/sbin/ns-slapd', '-D', $dir, '-i', "$dir/run/pid", '-d', $LEVEL);
}


sub configuration {
    my ($self) = @_;
    my ($dir, $host) = ($self->{dir}, '127.0.0.1');
    my %set = ((map { $_ => $dir } qw(tmp_dir cert_dir ldif_dir bak_dir inst_dir config_dir)),
               schema_dir => "$dir/schema", log_dir => "$dir/logs", lock_dir => "$dir/run",
               run_dir => "$dir/run", db_dir => "$dir/db", db_home_dir => "$dir/db",
               db_lib => 'mdb', fqdn => $host, ds_port => $self->{port},
               ds_user => run_user(), rootdn => $self->fill('ROOT'),
               ds_passwd => '{CLEAR}' . $self->fill('PASSWORD'), ldapi_enabled => 'off',
               ldapi => "$dir/run/ldapi", ldapi_autobind => 'off', ds_suffix => $SUFFIX,
               ds_bename => 'userRoot');
    my $text = join "\n", map { slurp("$SHARE/$_.ldif") } 'template-dse', 'template-suffix-db';

    $text =~ s/%(\w+)%/$set{$1} \/\/ die "%$1%"/ge;
    $text =~ s/\n{3,}/\n\n/g;
    $text =~ s/^cn: config\n\K/join '', map { "nsslapd-$_\n" } 'security: on',
               "secureport: $self->{ports}", "listenhost: $host", "securelistenhost: $host",
               'dynamic-plugins: on'/me;

    $text =~ s/^cn: MemberOf Plugin\n(?:.+\n)*?nsslapd-pluginenabled: \Koff/on/mi
        or die "no plugin for memberOf\n";

    return $text;
}


# Switches a plugin on, or off, while it runs.

sub plugin {
    my ($self, $name, $to) = @_;

    $self->add("dn: cn=$name,cn=plugins,cn=config\nchangetype: modify\n"
               . "replace: nsslapd-pluginEnabled\nnsslapd-pluginEnabled: $to\n");
}


# Returns an entry's value of an attribute.

sub value {
    my ($self, $dn, $name) = @_;
    my ($status, $text) = run([ 'ldapsearch', '-x', '-LLL', '-H', $self->url, '-D',
                                $self->fill('ROOT'), '-w', $self->fill('PASSWORD'), '-s', 'base',
                                '-b', $dn, 'objectClass=*', $name ]);

    return $text =~ /^\Q$name\E: (.+)$/mi ? $1 : die "$dn has no $name: $text\n";
}


sub starts { return scalar $_[0]->lines('slapd started') }


1;
