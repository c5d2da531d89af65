#!/usr/bin/perl

# The document's examples of sign-in: with curl, and from a page, as a browser
# runs them.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Documents qw(section examples);
use SvcTest::Npm;
use SvcTest::Process qw(run);
use SvcTest::Skip;

needs(program => 'curl');

my $NEW = 'a quiet harbour before seven';
my $README = 'ngx_svc_admin/signin/README.md';

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $JSON = JSON::PP->new->utf8;

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada',
              role => 'owner');


sub elsewhere {
    my ($password) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    is($b->login('ada@acme.test', $password)->status, 200, 'another session');

    return $b;
}


# --- from a shell -------------------------------------------------------------------

my @elsewhere = map { elsewhere() } 1;
my $shell = section($README, 'From a shell');
my $script = join "\n", examples('bash', $shell);

$script =~ s/^(.*)\bcurl /$1curl -sS -f -w '\\n' /mg;

my ($status, $text) = run([ 'bash', '-euo', 'pipefail', '-c', $script ],
                          env => { SVC_BASE_URL => $s->base_url,
                                   SVC_OWNER_PASSWORD => $PASSWORD });

is($status, 0, 'all of it goes well') or diag($text);

my @answers = map { $JSON->decode($_) } grep { /^\{/ } split /\n/, $text;

is(scalar @answers, 6, 'and is answered');
is_deeply($answers[1], $answers[0], 'the session, as the sign-in has said');
is($answers[2]{tenant}{name}, 'Acme SAS', 'a change of the tenant');
is(scalar @{ $answers[3]{sessions} }, 3, 'the sessions');
is_deeply($answers[4], { revokedSessions => 1 }, 'one was ended, one was left');
is($answers[5]{user}{id}, $answers[0]{user}{id}, 'another password');
is($_->get('/v1/auth/session')->status, 401, 'they are over') for @elsewhere;

# the answer in the document has the members of a real one

my ($shown) = map { $JSON->decode($_) } examples('json', $shell);


sub members {
    my ($value) = @_;

    return ref $value eq 'HASH'
        ? { map { $_ => members($value->{$_}) } keys %$value } : '';
}


is_deeply(members($shown), members($answers[0]), 'the answer that is shown');
is_deeply($shown->{permissions}, $answers[0]{permissions}, 'its permissions');


# --- from a page --------------------------------------------------------------------

@elsewhere = map { elsewhere($NEW) } 1, 2;



# Returns the output of a script that calls the page's functions.

sub page_says {
    my ($script, $hash) = @_;

    return @{ $JSON->decode(npm_run($s->root, 'page.mjs', $JSON->encode({
        base => $s->base_url, hash => $hash // '',
        script => join("\n", examples('js', section($README, 'From a page')),
                       "const said = [];\n$script\nreturn said;\n"),
    }))) };
}


my @said = page_says(<<'EOT');
said.push(await whoIsIt());
said.push(await signIn("ada@acme.test", "wrong", "acme"));
said.push(await signIn("ada@acme.test", "a quiet harbour before seven", "acme"));
said.push((await whoIsIt()).user.email);

const other = (await sessions()).find(s => !s.current);

said.push(await end(other.id));
said.push(await endOthers());
said.push((await sessions()).length);
said.push(await signOut());
said.push(await whoIsIt());
EOT

my $wrong = 'Address or password is wrong.';

is_deeply(\@said, [ undef, $wrong, 'Welcome, Ada.', 'ada@acme.test', undef,
                    { revokedSessions => 1 }, 1, undef, undef ],
          'what the page says');

my $link = 'x' x 43;

$s->secret($link, $NEW);
$s->sql('INSERT INTO svc.password_reset (tenant_id, token_hash, user_id,'
        . " expires_at) SELECT tenant_id, '\\x" . sha256_hex($link) . "', id,"
        . " now() + interval '1 day' FROM svc.user_account"
        . " WHERE user_name = 'ada\@acme.test'");

@said = page_says(<<'EOT', "#token=$link");
said.push(await resetPassword(takeToken(), "a lantern on the pier at dusk", "acme"));
said.push(location.hash);
said.push(await signIn("ada@acme.test", "a lantern on the pier at dusk", "acme"));
said.push(await changePassword("wrong", "seven gulls above the chimney"));
said.push(await changePassword("a lantern on the pier at dusk",
                               "seven gulls above the chimney"));
said.push(await signIn("ada@acme.test", "seven gulls above the chimney", "acme"));
for (let i = 0; i < 10; i++) {
  said.push(await signIn("ada@acme.test", "wrong", "acme"));
}
EOT

is_deeply([ splice @said, 0, 6 ],
          [ undef, '', 'Welcome, Ada.', 'The old one is wrong.',
            'Changed. All other sessions have ended.', 'Welcome, Ada.' ],
          'of new passwords');
is_deeply([ @said[0 .. 8] ], [ ($wrong) x 9 ], 'of wrong passwords');
like($said[9], qr/^Please try again in \d+ seconds\.$/, 'of a lock');


# --- invitations ---------------------------------------------------------------------

$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
        . " ('$acme->{id}', 'auditor', 'Auditor', '{audit:view}')");
$s->sql("UPDATE svc.tenant SET name = 'Acme'");

my $token = $acme->token_for('audit:view,members:manage');
my $invitations = section($README, 'Invitations');

$script = join "\n", examples('bash', $invitations), 'echo "$invited"';
$script =~ s/\bcurl /curl -sS -f -w '\\n' /g;
($status, $text) = run([ 'bash', '-euo', 'pipefail', '-c', $script ],
                       env => { SVC_BASE_URL => $s->base_url,
                                SVC_ADMIN_TOKEN => $token });

is($status, 0, 'an invitation, from a shell') or diag($text);
@answers = map { $JSON->decode($_) } grep { /^\{/ } split /\n/, $text;
is(scalar @answers, 4, 'is answered');
($shown) = map { $JSON->decode($_) } examples('json', $invitations);
is_deeply($answers[0], $shown, 'as it is shown');
is($answers[1]{user}{displayName}, 'Carol', 'the account');
is_deeply($answers[2], $answers[1], 'which is signed in');
$s->secret($answers[3]{inviteUrl} =~ s/.*=//r);

# --- sign-up, without mail ---------------------------------------------------------------

($script) = examples('bash', section($README, 'Sign-up'));
$script =~ s/\bcurl /curl -sS -f -w '\\n' /g;
($status, $text) = run([ 'bash', '-euo', 'pipefail', '-c', $script ],
                       env => { SVC_BASE_URL => $s->base_url,
                                SVC_ADMIN_TOKEN => $acme->token_for('tenant:manage') });
is($status, 0, 'a sign-up, from a shell') or diag($text);
is($JSON->decode((split /\n/, $text)[-1])->{user}{email}, 'dora@acme.test', 'is an account');

my $asked = $acme->admin(POST => '/invitations', { email => 'dan@acme.test',
                                                   role => 'member' }, undef, $token);
my ($hash) = $asked->json->{inviteUrl} =~ /(#token=.*)/;

$s->secret($hash =~ s/.*=//r);
@said = page_says(<<'EOT', $hash);
const token = takeToken();

said.push((await lookUp(token)).email);
said.push(await join(token, "short", "Dan"));
said.push(await join(token, "a quiet harbour before seven", "Dan"));
said.push((await whoIsIt()).user.displayName);
said.push(await join(token, "a quiet harbour before seven", "Dan"));
EOT

like(splice(@said, 1, 1), qr/^minLength: /, 'a password that is too short');
is_deeply(\@said, [ 'dan@acme.test', 'Welcome to Acme.', 'Dan',
                    'This invitation is over. Ask for another one.' ], 'of a page');


# --- what the document says ---------------------------------------------------------

my %codes = map { my ($status, $codes) = /^\| (\d+) \| (.*?) \|/;
                  map { $_ => $status } $codes =~ /`(\w+)`/g }
            grep { /^\| \d/ }
            split /\n/, section($README, 'What the answers mean');
my $paths = $s->http(GET => '/v1/openapi.json')->json->{paths};
my $responses = $s->http(GET => '/v1/openapi.json')->json->{components}{responses};
my %contract;

for my $path (grep { m{\A/v1/(?:auth|mfa)/} } keys %$paths) {
    for my $operation (values %{ $paths->{$path} }) {
        for my $status (grep { /\A[45]/ } keys %{ $operation->{responses} }) {
            my ($name) = $operation->{responses}{$status}{'$ref'} =~ m{(\w+)\z};
            my $all = $responses->{$name}{content}{'application/json'}{examples};

            $contract{$_} = $status for keys %$all;
        }
    }
}

delete @contract{qw(internal_error not_found)};
is_deeply(\%codes, \%contract, 'the codes, as the contract has them');

$s->done;
done_testing();
