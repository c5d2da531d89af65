#!/usr/bin/perl

# Shows the demo with FEDERATION=1: a second tenant is the identity provider of the first,
# which people find on its page, and a directory has three more.

use strict;
use utf8;
use warnings;

use Cwd ();
use File::Path qw(remove_tree);
use File::Temp ();
use Test::More;

use SvcTest::Nginx ();
use SvcTest::Page;
use SvcTest::Process qw(on_exit slurp);
use SvcTest::Skip;

needs(program => 'curl python3 slapd', python => 'aiosmtpd');

skip_built_in();

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $dir = File::Temp::tempdir('/tmp/svcfed.XXXXXX');
chmod 0755, $dir;

my $run = "$dir/run";
my $port = SvcTest::Nginx::free_port();

$ENV{RUN_DIR} = $run;
delete @ENV{qw(SVC_PG PERL5LIB MAKEFLAGS MAKELEVEL MFLAGS PORT FEDERATION)};

on_exit(sub {
    qx(conf/demo.sh stop 2>&1);
    remove_tree($dir);
});


sub sh {
    my ($command) = @_;
    my $text = qx(( $command ) 2>&1);

    return ($text, $? >> 8);
}


my ($text, $rc) = sh("FEDERATION=1 conf/demo.sh start $port");

is($rc, 0, 'it starts') or diag($text);

my ($provider) = $text =~ m{^provider +(http://127\.0\.0\.1:\d+)/login\?tenant=corp,}m;
my ($password) = $text =~ /^  password +([0-9a-f]{24}), of all four$/m;

ok(defined $provider && defined $password, 'and tells of a provider, and of people')
    or diag($text);

for my $line ($text =~ /^(curl .*lab\.test.*|curl .*\/discover .*)$/mg) {
    my ($answer, $status) = sh("$line -sS -w '\\n%{http_code}\\n'");

    like($answer, qr/^200$/m, 'a curl line') or diag("$line\n$answer");
    unlike($answer, qr/"ok":false/, '... with no step that fails') if $line =~ /ldap/;
}


# --- the way that the page leads -----------------------------------------------------

my $origin = "http://localhost:$port";
my $page = SvcTest::Page->new(Cwd::getcwd());

sub shows {
    my ($heading) = @_;

    ok(eval { $page->do(heading => $heading); 1 }, $heading)
        or diag($@, $page->do('url'), $page->do(text => 'body'));
}

$page->do(go => "$origin/login?tenant=acme");
shows('Sign in – Acme');
$page->do(press => 'Sign in with Acme Corporation');
shows('Sign in – Acme Corporation');
like($page->do('url'), qr{^\Q$provider\E/login\?}, 'at the provider');
$page->do(type => 'E-mail address', 'margaret@acme.test');
$page->do(type => 'Password', $password);
$page->do(press => 'Sign in');
shows('Acme asks for access');
$page->do(press => 'Allow');
shows('Your account');
is($page->do('url'), "$origin/account", 'back here');
like($page->do(text => 'body'), qr/\bMargaret Hamilton\b.*\bAcme\b/, 'as Margaret');

for ([ 'de-AT', 'Anmelden', 'Mit Acme Corporation anmelden', 'E-Mail-Adresse', 'Passwort',
       'Acme bittet um Zugriff', 'Erlauben', 'Ihr Konto' ],
     [ 'fr-CA', 'Se connecter', 'Se connecter avec Acme Corporation', 'Adresse e-mail',
       'Mot de passe', 'Acme demande un accès', 'Autoriser', 'Votre compte' ])
{
    my ($locale, $sign_in, $with, $address, $secret, $asks, $allow, $in) = @$_;

    $page->do(open => { locale => $locale });
    $page->do(go => "$origin/login?tenant=acme");
    shows("$sign_in – Acme");
    $page->do(press => $with);
    shows("$sign_in – Acme Corporation");
    $page->do(type => $address, 'margaret@acme.test');
    $page->do(type => $secret, $password);
    $page->do(press => $sign_in);
    shows($asks);
    $page->do(press => $allow);
    shows($in);
}


# --- again, and the end ---------------------------------------------------------------

($text, $rc) = sh("conf/demo.sh start $port");
is($rc, 0, 'again');
unlike($text, qr/^==> (?:starting|stopping|making|connecting|reloading)/m, 'changes nothing');
like($text, qr/^provider /m, 'it stays so');

($text, $rc) = sh("FEDERATION=0 conf/demo.sh start $port");
is($rc, 0, 'without');
unlike($text, qr/^provider /m, 'it is gone');
like($text, qr/^==> stopping the identity provider$/m, 'one server')
    && like($text, qr/^==> stopping the directory$/m, 'and the other');
unlike(slurp("$run/nginx.conf"), qr/svc_federation/, 'and what NGINX was told');

($text, $rc) = sh("FEDERATION=1 conf/demo.sh start $port");
is($rc, 0, 'with it once more') or diag($text);
unlike($text, qr/^==> (?:making|connecting)/m, 'as it was');

($text, $rc) = sh('conf/demo.sh stop');
is($rc, 0, 'stopped');
is((grep { index(slurp($_) // '', "$run/") >= 0 } glob '/proc/[0-9]*/cmdline'), 0,
   'nothing is left');

done_testing();
