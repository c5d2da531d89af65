package SvcTest::Skip;

# Leaves out what cannot be tested here, and says what is missing.  With
# SVC_TEST_ALL=1 that is a failure.  Otherwise it is printed, and written to the
# file SVC_TEST_SKIPPED, from which "make test" makes a list.
#
#     needs(program => 'node npm', python => 'dnslib');
#
#     skip_file('it needs root') if $> != 0;
#
#     SKIP: {
#         skip_part('it needs root', 6) if $> != 0;
#         ...
#     }
#
# A library calls needs() when it is loaded, when nothing runs yet that would
# have to be ended.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

our @EXPORT = qw(needs must_have skip_file skip_part skip_built_in);
our @EXPORT_OK = qw(lacks);


# How to find out whether something is installed, and the Debian package of each
# thing that a test needs: conf/deps.sh installs these.

our %KIND = (
    program => { has => \&has_program, for => '', package => {
        apache2 => 'apache2-bin',
        cc => 'gcc',
        chromium => 'chromium',
        certutil => 'libnss3-tools',
        curl => 'curl',
        exim4 => 'exim4-daemon-light',
        go => 'golang-go',
        ip => 'iproute2',
        jq => 'jq',
        make => 'make',
        man => 'man-db',
        mandoc => 'mandoc',
        nginx => 'nginx',
        node => 'nodejs',
        npm => 'npm',
        'ns-slapd' => '389-ds-base',
        oathtool => 'oathtool',
        openssl => 'openssl',
        php => 'php-cli',
        pk12util => 'libnss3-tools',
        postgres => 'postgresql',
        psql => 'postgresql-client',
        python3 => 'python3',
        'oidc-agent' => 'oidc-agent-cli',
        'oidc-gen' => 'oidc-agent-cli',
        'redis-cli' => 'redis-tools',
        'redis-server' => 'redis-server',
        ruby => 'ruby',
        slapd => 'slapd',
        ldapmodify => 'ldap-utils',
        ldapsearch => 'ldap-utils',
        ldapwhoami => 'ldap-utils',
        samba => 'samba-ad-dc',
        'samba-tool' => 'samba-ad-dc',
        valgrind => 'valgrind',
    } },
    python => { has => \&has_python, for => ' for Python', package => {
        aiosmtpd => 'python3-aiosmtpd',
        argon2 => 'python3-argon2',
        authlib => 'python3-authlib',
        cryptography => 'python3-cryptography',
        dnslib => 'python3-dnslib',
        fido2 => 'python3-fido2',
        jose => 'python3-jose',
        jwcrypto => 'python3-jwcrypto',
        jwt => 'python3-jwt',
        requests => 'python3-requests',
        requests_oauthlib => 'python3-requests-oauthlib',
        samba => 'python3-samba',
        social_core => 'python3-social-auth-core',
    } },
    perl => { has => \&has_perl, for => ' for Perl', package => {
        'Crypt::AuthEnc::GCM' => 'libcryptx-perl',
        'Crypt::PK::ECC' => 'libcryptx-perl',
    } },
    apache => { has => \&has_apache, for => ' for Apache', package => {
        auth_openidc => 'libapache2-mod-auth-openidc',
        oauth2 => 'libapache2-mod-oauth2',
    } },
    go => { has => \&has_go, for => ' for Go', package => {
        'github.com/coreos/go-oidc' => 'golang-github-coreos-go-oidc-dev',
        'golang.org/x/oauth2' => 'golang-golang-x-oauth2-dev',
    } },
    ruby => { has => \&has_ruby, for => ' for Ruby', package => {
        omniauth_openid_connect => 'ruby-omniauth-openid-connect',
    } },
);


# nginx and other servers are in folders that users may not have in PATH.

sub has_program {
    my ($name) = @_;

    return grep { -x "$_/$name" } split(/:/, $ENV{PATH}),
                                  qw(/usr/local/sbin /usr/sbin /sbin);
}


# The Python programs run under Debian's Python.  It is asked, which takes time,
# only when the module is not in Debian's folder, or PYTHONPATH puts another one
# first.

sub has_python {
    my ($name) = @_;

    return 1 if !$ENV{PYTHONPATH}
                && grep { -e "/usr/lib/python3/dist-packages/$_" } $name, "$name.py";
    return system("/usr/bin/python3 -c 'import $name' 2>/dev/null") == 0;
}


sub has_perl {
    my $file = $_[0] =~ s{::}{/}gr . '.pm';

    return grep { -e "$_/$file" } @INC;
}


sub has_apache {
    return -e "/usr/lib/apache2/modules/mod_$_[0].so";
}


sub has_go {
    return -d "/usr/share/gocode/src/$_[0]";
}


sub has_ruby {
    return scalar grep { -e } map { glob "$_/$_[0].rb" }
           '/usr/share/rubygems-integration/all/gems/*/lib', '/usr/lib/ruby/vendor_ruby';
}


# Returns what is missing, and how to install it; undef when nothing is.

sub lacks {
    my (@needed) = @_;
    my (@missing, @packages);

    while (my ($kind, $names) = splice @needed, 0, 2) {
        for my $name (split ' ', $names) {
            my $package = $KIND{$kind}{package}{$name}
                          // die "no package is known to have the $kind $name\n";

            next if $KIND{$kind}{has}->($name);

            push @missing, $name . $KIND{$kind}{for};
            push @packages, $package;
        }
    }

    return if !@missing;
    return join(', ', @missing) . (@missing > 1 ? ' are' : ' is')
           . " not installed: apt-get install @packages, or make deps-test";
}


# Skips the file, or the file that loads this library, when something is
# missing.

sub needs {
    my $why = lacks(@_);

    skip_file($why) if $why;
}


# Ends the whole run when something is missing that no test can do without.

sub must_have {
    my $why = lacks(@_);

    BAIL_OUT($why) if $why;
}


# Ends with one line; "die" adds others while modules are loaded.  A benchmark
# leaves nothing out, and ends here, too.

sub end {
    diag(@_);
    exit 1;
}


sub say_so {
    my ($why) = @_;

    $why =~ s/\s+/ /g;

    end($why) if $0 !~ /\.t\z/;
    end("not tested, and SVC_TEST_ALL is set: $why") if $ENV{SVC_TEST_ALL};

    diag("not tested: $why");

    my $list = $ENV{SVC_TEST_SKIPPED} // return $why;

    open my $fh, '>>', $list or die "$list: $!\n";
    print $fh "$0: $why\n";
    close $fh;

    return $why;
}


sub skip_file {
    plan(skip_all => say_so(@_));
}


sub skip_part {
    my ($why, $n) = @_;

    skip(say_so($why), $n);
}


# Skips what installs or runs the modules that are built for Debian's nginx: in
# a build with sanitizers they are part of nginx.

sub skip_built_in {
    skip_file('the modules are built into this nginx')
        if defined $ENV{SVC_TEST_MODULES} && $ENV{SVC_TEST_MODULES} eq '';
}


1;
