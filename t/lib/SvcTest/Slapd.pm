package SvcTest::Slapd;

# Debian's slapd as a directory of a test, with certificates of a CA that is
# made for it.
#
#     my $slapd = SvcTest::Slapd->new($s);
#     $slapd->launch;
#     $slapd->add("dn: ...\n...\n");
#
# It listens on 127.0.0.1: $slapd->url is ldap://, $slapd->urls ldaps://.  Its
# certificate is for 127.0.0.1 and for $NAME.  Members of groups have memberOf.

use strict;
use warnings;

use Exporter qw(import);
use IO::Socket::INET;

use SvcTest::Nginx ();
use SvcTest::Process qw(alive wait_for spawn run run_user slurp write_file signal_pid
    wait_exit);
use SvcTest::Skip;

our @EXPORT_OK = qw($SUFFIX $SERVICE $BIND $NAME);

needs(program => 'slapd ldapmodify openssl');

our $SUFFIX = 'dc=example,dc=test';
our $SERVICE = "cn=service,$SUFFIX";
our $BIND = 'the password of the service';
our $NAME = 'ldap.example.test';

my $ROOT = "cn=root,$SUFFIX";
my $ROOT_PASSWORD = 'root of this directory';

# An entry may have attributes of Active Directory, 389 Directory Server, and
# eDirectory, too.

my $CONFIG = <<'END';
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
attributetype ( 1.2.840.113556.1.4.2 NAME 'objectGUID'
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl'
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.159 NAME 'accountExpires'
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributetype ( 2.16.840.1.113730.3.1.610 NAME 'nsAccountLock'
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
attributetype ( 2.16.840.1.113730.3.1.542 NAME 'nsUniqueId'
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
attributetype ( 2.16.840.1.113719.1.1.4.1.19 NAME 'loginDisabled'
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.7 SINGLE-VALUE )
objectclass ( 1.3.6.1.4.1.4203.666.1 NAME 'otherAccount' AUXILIARY
  MAY ( objectGUID $ userAccountControl $ accountExpires $ nsAccountLock $ nsUniqueId
        $ loginDisabled ) )
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
moduleload ppolicy
pidfile DIR/slapd.pid
TLSCACertificateFile DIR/ca.pem
TLSCertificateFile DIR/server.pem
TLSCertificateKeyFile DIR/server.key
security simple_bind=128
database mdb
suffix "SUFFIX"
rootdn "ROOT"
rootpw "PASSWORD"
directory DIR/db
dbnosync
index objectClass,member eq
index mail,uid eq
overlay memberof
memberof-group-oc groupOfNames
overlay ppolicy
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="SERVICE" read by anonymous auth by users none
END

my $BASE = <<'END';
dn: SUFFIX
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: SERVICE
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: service
userPassword: BIND

dn: ou=people,SUFFIX
objectClass: organizationalUnit
ou: people

dn: ou=groups,SUFFIX
objectClass: organizationalUnit
ou: groups
END


# Options: dir, its folder below that of the test; names, what its certificate is
# for, as "DNS:x,IP:y"; conf, more lines of its configuration.

sub new {
    my ($class, $s, %opt) = @_;

    my $self = bless { dir => "$s->{dir}/" . ($opt{dir} // 'slapd'), conf => $opt{conf} // '',
                       port => SvcTest::Nginx::free_port(),
                       ports => SvcTest::Nginx::free_port() }, $class;

    mkdir $_ or die "$_: $!\n" for $self->{dir}, "$self->{dir}/db";
    $self->certify($opt{names} // "IP:127.0.0.1,DNS:$NAME");
    $s->secret($BIND);

    return $self;
}

sub url { return "ldap://127.0.0.1:$_[0]{port}" }
sub urls { return "ldaps://127.0.0.1:$_[0]{ports}" }
sub ca_file { return "$_[0]{dir}/ca.pem" }
sub ca { return slurp($_[0]->ca_file) }
sub pid { return $_[0]{pid} }


# Makes a CA, and a certificate of it for the names; they count from the next start.

sub certify {
    my ($self, $names) = @_;
    my @key = qw(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1);

    write_file("$self->{dir}/names", "subjectAltName=$names\n");

    for my $arg ([ 'req', '-x509', @key, qw(-subj /CN=CA -keyout ca.key -out ca.pem) ],
                 [ 'req', @key, qw(-subj /CN=server -keyout server.key -out server.csr) ],
                 [ qw(x509 -req -in server.csr -CA ca.pem -CAkey ca.key -days 1
                      -CAcreateserial -extfile names -out server.pem) ])
    {
        my ($status, $text) = run([ 'openssl', @$arg ], cwd => $self->{dir});

        die "openssl @$arg: $text\n" if $status != 0;
    }

    $self->own;
}


sub own {
    my ($self) = @_;

    return if $> != 0;

    my @user = (getpwnam run_user())[2, 3];

    chown @user, $self->{dir}, glob("$self->{dir}/*"), glob("$self->{dir}/db/*");
}


sub fill {
    my ($self, $text) = @_;
    my %set = (DIR => $self->{dir}, SUFFIX => $SUFFIX, SERVICE => $SERVICE, BIND => $BIND,
               ROOT => $ROOT, PASSWORD => $ROOT_PASSWORD);

    return $text =~ s/\b(DIR|SUFFIX|SERVICE|BIND|ROOT|PASSWORD)\b/$set{$1}/gr;
}


# Starts it, the first time with entries, as LDIF, beside those that it always has.

sub launch {
    my ($self, $ldif) = @_;
    my @command = $self->command;
    my $starts = $self->starts;

    $self->load($ldif) if $ldif;
    $self->own;
    $self->{pid} = spawn(\@command, user => run_user(), out => "$self->{dir}/log");

    wait_for { $self->starts > $starts && $self->listens || !alive($self->{pid}) };
    die "no directory: " . $self->said if !alive($self->{pid});

    $self->add($self->fill($BASE)) if !$self->{filled}++;
}


# Writes what it is configured with, and returns what starts it.

sub command {
    my ($self) = @_;

    write_file("$self->{dir}/slapd.conf", $self->fill($CONFIG) . $self->{conf});

    return ('/usr/sbin/slapd', '-f', "$self->{dir}/slapd.conf", '-h',
            $self->url . ' ' . $self->urls, '-d', 'stats');
}

sub starts { return scalar $_[0]->lines('slapd starting') }


# Many entries are there sooner than by "add".

sub load {
    my ($self, $ldif) = @_;

    write_file("$self->{dir}/ldif", $self->fill($BASE) . "\n$ldif");

    my ($status, $text) = run([ '/usr/sbin/slapadd', '-q', '-f', "$self->{dir}/slapd.conf", '-l',
                                "$self->{dir}/ldif" ]);

    die "slapadd: $text\n" if $status != 0;

    $self->{filled} = 1;
}


# It listens only after it has said that it starts.

sub listens {
    my ($self) = @_;

    return 2 == grep { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $_) }
                     @$self{qw(port ports)};
}


# Adds entries, or changes them, as LDIF says.

sub add {
    my ($self, $ldif) = @_;

    write_file("$self->{dir}/ldif", $ldif);

    my ($status, $text) = run([ 'ldapmodify', '-a', '-x', '-ZZ', '-e', 'relax', '-H', $self->url,
                                '-D', $ROOT, '-w', $ROOT_PASSWORD, '-f', "$self->{dir}/ldif" ],
                              env => { LDAPTLS_REQCERT => 'never' });

    die "ldapmodify: $text\n" if $status != 0;
}


# Adds a person: uid, and further attributes.

sub person {
    my ($self, $uid, %attribute) = @_;
    my $dn = "uid=$uid,ou=people,$SUFFIX";
    my %all = (cn => $uid, sn => $uid, mail => "$uid\@example.test", %attribute);

    $self->add(join "\n", "dn: $dn", 'objectClass: inetOrgPerson', "uid: $uid",
               (map { my $name = $_;
                      map { "$name: $_" } ref $all{$name} ? @{ $all{$name} } : $all{$name} }
                    sort keys %all), '');

    return $dn;
}


sub group {
    my ($self, $name, @members) = @_;
    my $dn = "cn=$name,ou=groups,$SUFFIX";

    $self->add(join "\n", "dn: $dn", 'objectClass: groupOfNames', "cn: $name",
               (map { "member: $_" } @members), '');

    return $dn;
}


# What it was asked, as lines of its log that match.

sub said { return slurp("$_[0]{dir}/log") // '' }

sub lines {
    my ($self, $pattern) = @_;

    return grep { /$pattern/ } split /\n/, $self->said;
}


# Stops it until it goes on; under load a process runs on for a while.

sub hold {
    my ($self) = @_;

    signal_pid('STOP', $self->{pid});
    wait_for { !grep { slurp($_) !~ /^\d+ \(.*\) T/ } glob "/proc/$self->{pid}/task/*/stat" };
}

# Whether something waits to be read by it.

sub queued {
    my ($self) = @_;
    my $port = join '|', map { sprintf '%04X', $_ } @$self{qw(port ports)};

    return grep { /^\s*\d+: [0-9A-F]+:(?:$port) \S+ 01 \w+:(?!0{8})/ }
           split /\n/, slurp('/proc/net/tcp');
}

sub go_on { signal_pid('CONT', $_[0]{pid}) }


sub stop {
    my ($self, $signal) = @_;

    return if !alive($self->{pid});

    signal_pid('CONT', $self->{pid});
    signal_pid($signal // 'TERM', $self->{pid});
    wait_exit($self->{pid});
}


1;
