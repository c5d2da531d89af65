#!/usr/bin/perl

# Runs the README's script in a real Chromium, whose developer protocol has an
# authenticator: a passkey is made, signs in, and steps up.

use strict;
use warnings;

use FindBin;
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Chromium;
use SvcTest::Process qw(slurp);

my $ROOT = "$FindBin::Bin/..";

my $s = SvcTest->new(svc => { svc_sign_in => 'on' });
my $origin = "http://localhost:$s->{nginx}{port}";
my $page = "$s->{dir}/page.html";
my $script = join "\n", slurp("$ROOT/ngx_svc_admin/signin/README.md")
                        =~ /^```js\n(.*?)^```$/msg;

open my $fh, '>', $page or die "$page: $!\n";
print $fh "<!doctype html><title>Passkeys</title>",
    "<link rel=\"icon\" href=\"data:,\"><script>$script</script>";
close $fh or die "$page: $!\n";

$s->{nginx}{svc_default}{svc_base_url} = $origin;
$s->{nginx}{locations} .= "        location = /page { default_type text/html;"
                          . " alias $page; }\n";
$s->start;

my $acme = $s->tenant('acme');

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada');

my $c = SvcTest::Chromium->new($ROOT, "$origin/page");

ok($c->run('window.isSecureContext'), 'a page');
is($c->run("signIn('ada\@acme.test', '$PASSWORD', 'acme')"), 'Welcome, Ada.',
   'signed in with a password');

my $added = $c->run("addPasskey('Chromium')");

is($added->{factor}{name}, 'Chromium', 'a passkey');
is(scalar @{ $added->{recoveryCodes} }, 10, 'and recovery codes');
is(eval { $c->run("addPasskey('Again')") }, undef, 'the authenticator has it');
like($@, qr/InvalidStateError/, 'as it says');

$c->run('signOut()');
is($c->run('whoIsIt()'), undef, 'signed out');
is($c->run('signInWithPasskey()')->{user}{email}, 'ada@acme.test',
   'signed in, and nobody has said who');
is($c->run('whoIsIt()')->{mfa}{enrolled}, JSON::PP::true(), 'it is a factor');

$c->run('signOut()');
is($c->run("signIn('ada\@acme.test', '$PASSWORD', 'acme')"),
   'Please enter the code of your app.',
   'the password alone does not do');
is($c->run('stepUpWithPasskey()')->{user}{email}, 'ada@acme.test',
   'with the passkey it does');
is($s->sql('SELECT sign_count > 0 FROM svc.passkey'), 't', 'which counts');

done_testing();
