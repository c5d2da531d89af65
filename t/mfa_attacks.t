#!/usr/bin/perl

# Shows the exact answers to attacks on second factors, and to wrong requests for
# them. t/routes.t has what is the same for every route.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(totp enrolled burst);
use SvcTest::Mail;

# Two nodes, with few connections each.

my %SVC = (svc_sign_in => 'on',
           svc_postgres_pool => [ 'read connections=1 depth=16',
                                  'write connections=4 depth=2',
                                  'slow connections=1 depth=1' ]);
my $s = SvcTest->new(workers => 1, svc => { %SVC, SvcTest::Mail::nowhere(), svc_set => [
    'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_LOGIN_EMAIL_MAX 1000' ] })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $ID = '00000000-0000-7000-8000-000000000000';
my @workers = $s->workers;

$s->secret($PASSWORD);


sub browser {
    my ($tenant, %opt) = @_;

    return SvcTest::Browser->new($s, tenant => $tenant->{slug}, %opt);
}


sub user {
    my ($tenant, $name) = @_;

    my $b = browser($tenant);

    with_password($s, $tenant, userName => "$name\@test.test", role => 'owner');
    is($b->login("$name\@test.test")->status, 200, "$name signs in");

    return $b;
}


sub waiting {
    my ($tenant, $name, %opt) = @_;

    my $b = browser($tenant, %opt);

    admin_error($b->login("$name\@test.test"), 403, 'step_up_required',
                "$name is asked for a factor");

    return $b;
}


sub step_up {
    my ($b, $code, %more) = @_;

    return $b->post('/v1/mfa/step-up', { code => $code, %more });
}


sub wrong { return sprintf '%06d', (totp($_[0]{secret}) + 333_333) % 1_000_000 }


sub forgive {
    $s->sql('UPDATE svc.user_account SET failed_logins = 0, locked_until = NULL');
    $s->sql('DELETE FROM svc.challenge');
}


my $ada = user($acme, 'ada');
my $factor = enrolled($ada);
my $bob = user($acme, 'bob');
my $bobs = enrolled($bob);
my $eve = user($globex, 'eve');
my $eves = enrolled($eve);

# --- fixation -----------------------------------------------------------------------

my $thief = waiting($acme, 'ada');
my $victim = browser($acme, cookies => { %{ $thief->{cookies} } });

admin_error($victim->login('ada@test.test'), 403, 'step_up_required', 'with a cookie');
isnt($victim->{cookies}{svc_session}, $thief->{cookies}{svc_session}, 'it gets another one');
admin_error($thief->get('/v1/auth/session'), 401, 'unauthenticated', 'the old one is dead');

my $before = $victim->{cookies}{svc_session};

is(step_up($victim, totp($factor->{secret}))->status, 200, 'a factor is shown');
isnt($victim->{cookies}{svc_session}, $before, 'and yet another one comes');
admin_error(browser($acme, cookies => { svc_session => $before })->get('/v1/auth/session'),
            401, 'unauthenticated', 'that one is dead, too');


# --- attempts --------------------------------------------------------------------

forgive();

my $b = waiting($acme, 'ada');

admin_error(step_up($b, wrong($factor)), 401, 'invalid_code', "wrong: $_") for 1 .. 5;
admin_error(step_up($b, totp($factor->{secret}, 1)), 400, 'challenge_expired',
            'the sixth, which is right');

forgive();

my %seen;

$seen{ join ' ', $_->status, $_->json->{error}{code} }++
    for burst($ada, 50, '/v1/mfa/step-up', { code => wrong($factor) });
is_deeply(\%seen, { '401 invalid_code' => 5, '400 challenge_expired' => 45 },
          'of 50 at the same time 5 are compared');

# The attempts of the client's address are limited, too.

my $few = $s->node(workers => 1, svc => { %SVC, svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 20',
                                               'RATE_LIMIT_LOGIN_EMAIL_MAX 1000' ] });

forgive();
$s->redis->command('FLUSHALL');
%seen = ();
$seen{ join ' ', $_->status, $_->json->{error}{code} }++
    for burst($ada, 50, '/v1/mfa/step-up', { code => wrong($factor) },
              port => $few->{port});
is($seen{'429 rate_limited'}, 30, 'of an address that may 20 times 30 are told to wait')
    or diag(explain(\%seen));
cmp_ok($seen{'401 invalid_code'}, '<=', 5, 'five compared at most');
$s->redis->command('FLUSHALL');


# --- challenges and codes of others ----------------------------------------------------

forgive();

my %id = map { $_->[0] => $_->[1]->post('/v1/mfa/challenge', {})->json->{challengeId} }
         [ bob => $bob ], [ eve => $eve ];

$b = waiting($acme, 'ada');
admin_error(step_up($b, totp($factor->{secret}, 1), challengeId => $id{$_}), 400,
            'challenge_expired', "the challenge of $_") for sort keys %id;
admin_error(step_up($b, totp($factor->{secret}, 1), challengeId => $_), 400,
            'challenge_expired', "of nobody: $_") for $ID, 'x', "'", 'a' x 64;
admin_error(step_up($b, totp($_->{secret})), 401, 'invalid_code', 'the code of another user')
    for $bobs, $eves;
admin_error(step_up($b, $_->{codes}[0]), 401, 'invalid_code', 'or a recovery code')
    for $bobs, $eves;
is($s->sql('SELECT count(*) FROM svc.recovery_code'), 30, 'which are all there');


# --- codes -----------------------------------------------------------------------

forgive();
$s->sql('UPDATE svc.factor SET last_step = 0');
$b = waiting($acme, 'ada');
my $used = totp($factor->{secret});

is(step_up($b, $used)->status, 200, 'a code');
admin_error(step_up($b, $used), 401, 'invalid_code', 'in its step again');
admin_error(step_up($b, totp($factor->{secret}, -1)), 401, 'invalid_code', 'or an older one');
$s->sql('UPDATE svc.factor SET last_step = 0');
admin_error(step_up($b, totp($factor->{secret}, $_)), 401, 'invalid_code', "$_ steps off")
    for -3, 3;
admin_error($b->post('/v1/mfa/step-up', $_), 400, 'invalid_request', 'the shape of '
            . JSON::PP->new->ascii->canonical->encode($_))
    for { code => '1234567' }, { code => '12345' }, { code => "\x{661}" x 6 },
        { code => '12 456' }, { code => '' }, { code => undef }, { code => [ '123456' ] },
        { code => 123456 }, { code => 'x' x 65 }, { code => 'uuuuu-uuuuu' }, {},
        { password => '' }, { password => "a\x{0}b" }, { password => 'x' x 1025 },
        { code => '123456', password => $PASSWORD }, { code => '123456', method => 'sms' },
        { code => '123456', challengeId => '' }, { code => '123456', challengeId => 1 };
admin_error($b->post('/v1/mfa/challenge', $_), 400, 'invalid_request', 'a challenge of '
            . JSON::PP->new->canonical->encode($_))
    for { method => 'sms' }, { method => 'password' }, { method => 1 }, { method => '' };
admin_error($b->ask(POST => '/v1/mfa/step-up', '{"code":"123456","code":"654321"}'), 400,
            'invalid_request', 'a key twice');
admin_error($b->ask(POST => '/v1/mfa/step-up', { code => '1' x 16384 }), 413,
            'payload_too_large', 'a large body');

forgive();

my ($code, $other) = @{ $factor->{codes} };

is(step_up($b, lc($code) =~ s/-//r)->status, 200, 'a recovery code without its hyphen');
admin_error(step_up($b, $code), 401, 'invalid_code', 'is good for one time');
is(step_up($b, uc $other)->status, 200, 'one in capitals');


# --- factors ----------------------------------------------------------------------

admin_error($b->post('/v1/mfa/totp', $_), 400, 'invalid_request', 'a name: '
            . JSON::PP->new->ascii->canonical->encode($_))
    for { name => '' }, { name => ' ' }, { name => 'x' x 65 }, { name => "a\nb" },
        { name => 1 };
is($b->post('/v1/mfa/totp', { name => "\x{e9}" x 64 })->status, 201, '64 characters');

my $pending = $s->sql('SELECT id FROM svc.factor WHERE confirmed_at IS NULL');

admin_error($b->post("/v1/mfa/totp/$pending/confirm", $_), 400, 'invalid_request',
            'to confirm ' . JSON::PP->new->canonical->encode($_))
    for {}, { code => '12345' }, { code => 123456 }, { code => 'k7f2m-9xq4t' };
admin_error($b->post('/v1/mfa/totp/x/confirm', { code => '123456' }), 404, 'not_found',
            'of no id');
admin_error($bob->post("/v1/mfa/totp/$pending/confirm", { code => '123456' }), 404,
            'not_found', 'another one\'s');
admin_error($b->ask(PATCH => "/v1/mfa/factors/$pending", $_), 400, 'invalid_request',
            'to name it ' . JSON::PP->new->canonical->encode($_))
    for {}, { name => undef }, { name => '' };
admin_error($b->ask(DELETE => '/v1/mfa/factors/x'), 404, 'not_found', 'to remove no id');
is($b->ask(DELETE => "/v1/mfa/factors/$pending")->status, 204, 'to remove it');


# --- what a password allows ----------------------------------------------------------

forgive();

for my $round (1, 2) {
    my $w = waiting($acme, 'ada');

    for my $n (1 .. 5) {
        my $last = $round == 2 && $n == 5;

        admin_error(step_up($w, wrong($factor)), $last ? 429 : 401,
                    $last ? 'account_locked' : 'invalid_code', "login $round, guess $n");
    }
}

admin_error(browser($acme)->login('ada@test.test'), 429, 'account_locked', 'then no more');
admin_error(step_up($b, totp($factor->{secret}, 1)), 429, 'account_locked',
            'of a full session neither');
forgive();

admin_error($b->post('/v1/mfa/step-up', { password => $PASSWORD }), 401, 'invalid_code',
            'the password of who has a factor');
is($s->sql("SELECT failed_logins FROM svc.user_account WHERE user_name = 'ada\@test.test'"),
   1, 'is a failure');


# --- stale sessions ------------------------------------------------------------------

$s->sql("UPDATE svc.session SET mfa_at = now() - interval '601 seconds'");
admin_error($b->ask(DELETE => "/v1/mfa/factors/$factor->{id}"), 403, 'step_up_required',
            'a factor is not removed by a session that was left alone');
admin_error($b->post('/v1/admin/api-tokens', { name => 'x', scopes => [] }), 403,
            'step_up_required', 'and no token is made');
is($b->get('/v1/mfa/factors')->json->{factors}[0]{id}, $factor->{id}, 'it is there');

ok($s->unharmed(\@workers, "all of it"), 'the server is well');

$s->done;
done_testing();
