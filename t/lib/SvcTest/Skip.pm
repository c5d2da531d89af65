package SvcTest::Skip;

# What cannot be tested here, and what is missing for it.  It is a failure where
# nothing may be left out: SVC_TEST_ALL=1.  Otherwise it is said, and written to the
# file SVC_TEST_SKIPPED, of which "make test" makes a list.
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
# A library says what it needs when it is loaded: nothing runs then that would have
# to be ended.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

our @EXPORT = qw(needs must_have skip_file skip_part skip_built_in);
our @EXPORT_OK = qw(lacks);


# Who has it, and Debian's packages of all that a test asks for: conf/deps.sh
# installs them.

our %KIND = (
    program => { has => \&has_program, for => '', package => {
        apache2 => 'apache2-bin',
        cc => 'gcc',
        chromium => 'chromium',
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
        oathtool => 'oathtool',
        openssl => 'openssl',
        php => 'php-cli',
        postgres => 'postgresql',
        psql => 'postgresql-client',
        python3 => 'python3',
        'oidc-agent' => 'oidc-agent-cli',
        'oidc-gen' => 'oidc-agent-cli',
        'redis-cli' => 'redis-tools',
        'redis-server' => 'redis-server',
        ruby => 'ruby',
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


# nginx and other servers are in folders that users may not have in their PATH.

sub has_program {
    my ($name) = @_;

    return grep { -x "$_/$name" } split(/:/, $ENV{PATH}),
                                  qw(/usr/local/sbin /usr/sbin /sbin);
}


# The programs in Python are run by Debian's.  It is asked, which takes its time,
# only where the module is not in Debian's folder, or another one comes first.

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


# What is missing of it, and how to get that; undef when all is there.

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


# Nothing of the file, or of the file that loads this library, is run without it.

sub needs {
    my $why = lacks(@_);

    skip_file($why) if $why;
}


# The same of what no test can do without: none of them is run.

sub must_have {
    my $why = lacks(@_);

    BAIL_OUT($why) if $why;
}


# One line, where "die" adds others while modules are loaded.  Of a benchmark nothing
# is left out.

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


# What installs, or runs, the modules that are built for Debian's nginx: of a
# build with sanitizers they are a part of nginx.

sub skip_built_in {
    skip_file('the modules are built into this nginx')
        if defined $ENV{SVC_TEST_MODULES} && $ENV{SVC_TEST_MODULES} eq '';
}


1;
