#!/usr/bin/perl

# Shows how people sign up organizations, whose first owners they are.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD);
use SvcTest::Mail;
use SvcTest::Process qw(wait_for);
use SvcTest::Signup;

my $PATH = '/v1/auth/organizations';
my %SVC = (SvcTest::Signup::svc(), svc_organization_signup => 'on');

my $s = SvcTest->new(workers => 1);
my $mail = SvcTest::Mail->new($s, port => 'plain', %SVC);

$s->start;

my $acme = $s->tenant('acme');
my $up = SvcTest::Signup->new($s, $mail, undef, path => $PATH, link => 'organization');
my @workers = $s->workers;
my $n = 0;

$s->secret($PASSWORD);

sub browser { return SvcTest::Browser->new($s, @_) }
sub fresh { return 'owner' . ++$n . '@new.test' }
sub tenants { return scalar $s->sql("SELECT count(*) FROM svc.tenant WHERE slug = '$_[0]'") }
sub pending { return scalar $s->sql('SELECT count(*) FROM svc.organization_signup') }


sub start {
    my ($slug, %more) = @_;

    return $up->start(delete $more{email} // fresh(), slug => $slug, name => 'Initech',
                      %more);
}


sub begun { return $up->begin(fresh(), slug => $_[0], name => 'Initech') }


# --- an organization is made --------------------------------------------------------------

my $b = browser();
my $email = fresh();
my $r = start('initech', email => $email, browser => $b, role => 'member');

is($r->status, 202, 'accepted') or diag($r->body);
is_deeply([ sort keys %{ $r->json } ], [ qw(challengeId expiresAt) ], 'and no more');
is($r->header('Cache-Control'), 'no-store', 'stored nowhere');
is(tenants('initech'), 0, 'there is no tenant');

my $in = $up->mailed($r, $email, $b);

like($in->{code} // '', qr/^\d{6}$/, 'a mail comes with a code');
like($in->{link}, qr{^\Q${\$s->base_url}\E/login#organization=}, 'and a link to here');
like($in->{mail}{plain}, qr/^initech\r?$/m, 'of the organization');
unlike($in->{mail}{plain}, qr/Initech/, 'and no text of whoever has asked');
unlike(scalar $s->sql("SELECT encode(data, 'escape') FROM svc.organization_signup"),
       qr/new\.test|Initech|argon2/, 'what waits is sealed');

$r = $up->verify($in);
is($r->status, 201, 'the code makes it') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'and is not kept');

my $session = $r->json;

is($session->{user}{email}, $email, 'who it is');
is($session->{role}, 'owner', 'its owner');
is($session->{tenant}{slug}, 'initech', 'of the tenant');
is($session->{tenant}{name}, 'Initech', 'with its name');
is($b->get('/v1/auth/session')->status, 200, 'signed in');
is($b->get('/v1/admin/tenant')->json->{tenant}{slug}, 'initech', 'and may administer it');
is(scalar(@{ $b->get('/v1/admin/users')->json->{users} }), 1, 'with nobody else');

my $user = $b->get("/v1/admin/users/$session->{user}{id}")->json;

is_deeply({ map { $_ => $user->{$_} } qw(status source emailVerified role) },
          { status => 'active', source => 'local', role => 'owner',
            emailVerified => JSON::PP::true() }, 'the account');

my @events = $s->sql('SELECT action, target_id, actor_id FROM svc.audit_event'
                     . " WHERE tenant_id = '$session->{tenant}{id}' ORDER BY id");

is_deeply(\@events, [ [ 'user.created', ($session->{user}{id}) x 2 ],
                      [ 'tenant.created', $session->{tenant}{id}, $session->{user}{id} ],
                      [ 'user.login', ($session->{user}{id}) x 2 ] ], 'audited');
is_deeply([ $acme->events_where("action IN ('user.created', 'tenant.created')"
                                . " AND actor_type = 'user'", 'action') ], [],
          'nowhere else');

is(browser(tenant => 'initech')->login($email)->status, 200, 'the password signs in');
admin_error($up->verify($in), 400, 'challenge_expired', 'the code is good once');
admin_error($up->verify($in, token => 1), 400, 'challenge_expired', 'and so is the link');

my $policy = $b->get('/v1/admin/password-policy')->json;

is_deeply([ @$policy{qw(minLength rejectBreached rejectContextual requireLower
                        requireUpper requireDigit requireSymbol)} ],
          [ 12, (JSON::PP::true()) x 2, (JSON::PP::false()) x 4 ],
          'the policy that the password was held against');

$in = begun('by-link');
admin_error($up->verify($in, token => 1, browser => browser()), 400, 'invalid_token',
            'the link in another browser');
is($up->verify($in, token => 1)->status, 201, 'and where it began');


# --- a slug that is taken --------------------------------------------------------------------

admin_error(start('acme'), 409, 'slug_taken', 'taken');

my ($one, $two) = map { begun('umbrella') } 1 .. 2;

is($up->verify($two)->status, 201, 'whoever is first gets it');
admin_error($up->verify($one), 409, 'slug_taken', 'taken meanwhile');
is(tenants('umbrella'), 1, 'one tenant');
is($s->sql("SELECT count(*) FROM svc.user_account WHERE user_name ="
           . " '$one->{email}'"), 0, 'and no account');

$in = begun('same-owner');
$s->sql('UPDATE svc.organization_signup SET created_at = created_at'
        . " - interval '1 minute'");
like($up->begin($two->{email}, slug => 'second', name => 'Second')->{code}, qr/^\d{6}$/,
     'an owner may have another one');


# --- wrong members ----------------------------------------------------------------------------

my $before = pending();

for my $case ([ slug => undef ], [ slug => '' ], [ slug => 'A' ], [ slug => '-a' ],
              [ slug => 'x' x 64 ], [ slug => 7 ], [ slug => "a\nb" ],
              [ name => undef ], [ name => '' ], [ name => 'x' x 121 ],
              [ name => "a\r\nBcc: eve\@x.test" ], [ name => [] ],
              [ email => '' ], [ email => 'a b@c' ], [ email => 7 ],
              [ password => undef ], [ password => 'x' x 1025 ])
{
    my ($member, $value) = @$case;
    my $name = "$member: " . (!defined $value ? 'null' : ref $value ? 'array'
                                                       : substr $value, 0, 9);
    my $error = admin_error(start('wrong', $member => $value), 400, 'invalid_request',
                            $name);

    like($error->{message}, qr/"$member"/, "$name: it is named");
}

for my $bad ([ 'quite words', 'minLength' ], [ 'password1234', 'rejectBreached' ],
             [ 'initech-initech', 'rejectContextual' ])
{
    my ($password, $rule) = @$bad;
    my $error = admin_error(start('initech2', password => $password), 400,
                            'password_rejected', $rule);

    like($error->{message}, qr/^$rule: /, 'it says why');
}

is(pending(), $before, 'nothing is kept of it');

admin_error(browser()->post("$PATH/verify", $_), 400, 'invalid_request', 'no shape')
    for {}, { challengeId => 'x' }, { code => '123456' }, { token => '' };
admin_error(browser()->post("$PATH/verify", $_), 400, 'challenge_expired', 'unknown')
    for { challengeId => 'x', code => '123456' }, { token => 'x' x 43 };

for my $path ('', '/verify') {
    admin_error(browser()->ask(POST => "$PATH$path", { slug => 'x' },
                               'Sec-Fetch-Site' => 'cross-site'),
                403, 'csrf_failed', "$path: of another origin");
    admin_error(browser()->get("$PATH$path"), 405, undef, "$path: GET");
    admin_error(browser()->post("$PATH$path", { email => 'x' x 16400 }), 413,
                'payload_too_large', "$path: too much");
}

# A code of another kind.

SvcTest::Signup->new($s, $mail, $acme)->allow;

my $member = SvcTest::Signup->new($s, $mail, $acme)->begin('carol@acme.test');

admin_error($up->verify($member), 400, 'challenge_expired', 'of a sign-up to a tenant');
admin_error(SvcTest::Signup->new($s, $mail, $acme)->verify($in), 400,
            'challenge_expired', 'nor the other way round');


# --- codes, and many requests at once ------------------------------------------------------------

sub verifying {
    my ($in) = @_;

    return $s->begin(POST => "$PATH/verify", [], $up->shown($in));
}

my $wrong = $in->{code} eq '123456' ? '654321' : '123456';
my %status;

$status{ $_->read->status }++ for map { verifying({ %$in, code => $wrong }) } 1 .. 20;
is_deeply(\%status, { 401 => 5, 400 => 15 }, 'five guesses of twenty');
admin_error($up->verify($in), 400, 'challenge_expired', 'and then it is over');

$in = begun('rush');
%status = ();
$status{ $_->read->status }++ for map { verifying($in) } 1 .. 20;
is_deeply(\%status, { 201 => 1, 400 => 19 }, 'one of twenty');
is(tenants('rush'), 1, 'one tenant');

$in = begun('late');
$s->sql("UPDATE svc.organization_signup SET expires_at = now() - interval '1 ms'");
admin_error($up->verify($in), 400, 'challenge_expired', 'too late');

for my $how (qw(close abort)) {
    my @left = map { begun("left-$how-$_") } 1 .. 3;

    $_->$how for map { verifying($_) } @left;
    is($up->verify(begun("next-$how"))->status, 201, "$how: others go on");
}

ok($s->unharmed(\@workers, 'clients that leave'), 'the worker is the same');
is($s->sql('SELECT count(*) FROM svc.tenant t WHERE NOT EXISTS (SELECT FROM'
           . ' svc.user_account u JOIN svc.password p ON p.user_id = u.id'
           . " WHERE u.tenant_id = t.id) AND t.slug <> 'acme'"), 0,
   'no tenant is half made');
is_deeply([ $s->pg->errors ], [], 'nothing in the log of PostgreSQL');


# --- limits -------------------------------------------------------------------------------------

$email = fresh();
is_deeply([ map { start("limit$_", email => $email)->status } 1 .. 7 ],
          [ (202) x 5, 429, 429 ], 'five an hour of an address');
ok((wait_for { $mail->pending == 0 }), 'no mail is left');
is($mail->counts->{$email}, 1, 'of which one is mailed at once');

$s->sql('DELETE FROM svc.organization_signup');
$s->sql('INSERT INTO svc.organization_signup (id, slug, email_mac, code_mac, token_hash,'
        . ' binding_hash, data, void, expires_at) SELECT gen_random_uuid(), \'x\','
        . " substr(sha256('x'), 1, 16), substr(sha256('x'), 1, 16),"
        . " sha256(i::text::bytea), sha256('x'), 'x', false, now() + interval '1 hour'"
        . ' FROM generate_series(1, 10000) i');
admin_error(start('full'), 503, 'unavailable', 'ten thousand are enough');
is(pending(), 10_000, 'and stay so');

# One transaction expires and deletes all rows, so that no sweep of the server deletes
# some of them in between.

my $owner = $s->connect_as('postgres');

$owner->query('BEGIN');
$owner->query("UPDATE svc.organization_signup SET expires_at = now() - interval '2 hours'");
is($owner->query('SELECT svc.sign_in_expire(20000, 300)')->[0][0], 10_000, 'they expire');
$owner->query('COMMIT');
is(start('room')->status, 202, 'and there is room');


# --- where it is switched off ---------------------------------------------------------------------

my %off = SvcTest::Signup::svc();

for my $case ([ 'svc_organization_signup off', { %off, svc_mail => undef } ],
              [ 'no svc_mail', { %SVC } ])
{
    my ($name, $svc) = @$case;
    my $node = $s->node(svc => $svc);

    for my $path ('', '/verify') {
        admin_error(browser(port => $node->{port})->post("$PATH$path", { slug => 'x' }),
                    404, 'not_found', "$name: $path");
    }

    is($s->http(GET => '/v1/auth/options?tenant=acme', undef, undef,
                port => $node->{port})->json->{methods}{organizations},
       JSON::PP::false(), "$name: nor is it offered");
}

is($s->http(GET => '/v1/auth/options?tenant=acme')->json->{methods}{organizations},
   JSON::PP::true(), 'here it is');


# --- Redis is stopped -------------------------------------------------------------------------------

$in = begun('away');
$before = pending();
$s->redis->stop;
ok((wait_for { start('initech')->status == 503 }), '503 while Redis is down');
is(start('fresh')->status, 503, 'whatever the slug');
is(pending(), $before, 'nothing is looked up');
is($up->verify($in)->status, 201, 'what has been mailed is good');
$s->redis->launch;

$s->done;
done_testing();
