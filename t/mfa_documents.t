#!/usr/bin/perl

# Runs the documented examples of second factors: with curl and oathtool, and those of
# a page.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Documents qw(section examples);
use SvcTest::Factor qw(totp);
use SvcTest::Npm;
use SvcTest::Process qw(run wait_for);
use SvcTest::Skip;

needs(program => 'curl');

my $README = 'ngx_svc_admin/signin/README.md';

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $JSON = JSON::PP->new->utf8;

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada');


# --- from a shell -------------------------------------------------------------------

# A code is also good in the 30 seconds after its own.

wait_for { time % 30 < 20 };

my $factors = section($README, 'Second factors');
my $script = join "\n", examples('bash', $factors), 'echo "$secret"';

$script =~ s/\bcurl (--no-fail )?/q(curl -sS -w "\\n" ) . ($1 ? '' : '-f ')/ge;

my ($status, $text) = run([ 'bash', '-euo', 'pipefail', '-c', $script ],
                          env => { SVC_BASE_URL => $s->base_url,
                                   SVC_OWNER_PASSWORD => $PASSWORD });

is($status, 0, 'all of it goes well') or diag($text);

my @answers = map { $JSON->decode($_) } grep { /^\{/ } split /\n/, $text;
my ($secret) = $text =~ /^([A-Z2-7]{32})$/m;

$s->secret($secret);
is(scalar @answers, 4, 'and is answered');
is($answers[2]{error}{code}, 'step_up_required', 'the second sign-in waits');
is($answers[3]{user}{email}, 'ada@acme.test', 'until the code is shown');

my ($shown) = map { $JSON->decode($_) } examples('json', $factors);

is_deeply([ sort keys %{ $shown->{factor} } ], [ sort keys %{ $answers[1]{factor} } ],
          'the factor that is shown');
is(scalar @{ $shown->{recoveryCodes} }, scalar @{ $answers[1]{recoveryCodes} },
   'and its codes');


# --- from a page --------------------------------------------------------------------

my $code = totp($secret, 1);

my @said = @{ $JSON->decode(npm_run($s->root, 'page.mjs', $JSON->encode({
    base => $s->base_url, hash => '',
    script => join("\n", examples('js', section($README, 'From a page')),
                   "const said = [];\n" . <<"EOT" . "\nreturn said;\n"),
said.push(await signIn("ada\@acme.test", "$PASSWORD", "acme"));
said.push(await showCode("000000"));
said.push(await showCode("$code"));
said.push((await whoIsIt()).user.email);

const app = await addApp("Tablet");

said.push(app.secret.length, app.image.startsWith("data:image/svg+xml,%3Csvg"));
EOT
}))) };

is_deeply(\@said, [ 'Please enter the code of your app.', 'That is not the code.',
                    'Thank you.', 'ada@acme.test', 32, JSON::PP::true ],
          'what the page says');

$s->done;
done_testing();
