#!/usr/bin/perl

# Shows how users manage their own second factors: one-time passwords, as oathtool
# makes them, and recovery codes.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(totp policy burst);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;
my $CODE = qr/\A[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}\z/;

my $s = SvcTest->new(svc => { svc_sign_in => 'on', svc_set => [
    'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_LOGIN_EMAIL_MAX 100' ] })->start;
my $acme = $s->tenant('acme');

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');
with_password($s, $acme, userName => 'bob@acme.test');
with_password($s, $acme, userName => 'eve@acme.test');


sub signed_in {
    my ($email) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    is($b->login($email)->status, 200, "$email signs in");

    return $b;
}


sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}


my $ada = signed_in('ada@acme.test');
my $other = signed_in('ada@acme.test');


# --- no factor ------------------------------------------------------------------

my $r = $ada->get('/v1/mfa/factors');

is($r->status, 200, 'the factors') or diag($r->body);
is_deeply($r->json, { factors => [], recoveryCodesLeft => 0 }, 'are none');
is($r->header('Cache-Control'), 'no-store', 'and not stored');
admin_error($ada->post('/v1/mfa/recovery-codes'), 400, 'invalid_request',
            'no codes for nothing');


# --- the first factor -------------------------------------------------------------

$r = $ada->post('/v1/mfa/totp', { name => 'Téléphone' });
is($r->status, 201, 'a new one') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'which is not stored');

my $new = $r->json;

$s->secret($new->{secret});
is_deeply([ sort keys %$new ], [ qw(id otpauthUri qrSvg secret) ], 'what it has');
like($new->{id}, $UUID, 'an id');
like($new->{secret}, qr/\A[A-Z2-7]{32}\z/, 'a secret');
is($new->{otpauthUri}, 'otpauth://totp/Acme:ada%40acme.test?secret='
   . "$new->{secret}&issuer=Acme&algorithm=SHA1&digits=6&period=30", 'its address');
like($new->{qrSvg}, qr{\A<svg [^<]*xmlns="http://www.w3.org/2000/svg".*</svg>\n?\z}s,
     'to be scanned');
unlike($s->sql("SELECT encode(secret, 'hex') FROM svc.factor WHERE id = '$new->{id}'"),
       qr/@{[ unpack 'H*', $new->{secret} ]}/, 'it is sealed');

is_deeply($ada->get('/v1/mfa/factors')->json->{factors}[0]{confirmed},
          JSON::PP::false, 'it does not count yet');
is($ada->get('/v1/auth/session')->json->{mfa}{enrolled}, JSON::PP::false, 'not at all');

for my $wrong (totp($new->{secret}, -3), totp($new->{secret}, 3)) {
    admin_error($ada->post("/v1/mfa/totp/$new->{id}/confirm", { code => $wrong }),
                401, 'invalid_code', 'a code of another time');
}

admin_error($other->post("/v1/mfa/totp/00000000-0000-7000-8000-000000000000/confirm",
                         { code => '123456' }), 404, 'not_found', 'of no factor');

is_deeply($ada->get('/v1/auth/session')->json->{mfa}{methods}, [], 'one that waits is none');

my $before = $ada->{cookies}{svc_session};

$r = $ada->post("/v1/mfa/totp/$new->{id}/confirm", { code => totp($new->{secret}) });
is($r->status, 200, 'it is confirmed') or diag($r->body);

my ($factor, $codes) = @{ $r->json }{qw(factor recoveryCodes)};

like($factor->{createdAt}, $TIME, 'since when');
is_deeply($factor, { id => $new->{id}, type => 'totp', name => 'Téléphone',
                     createdAt => $factor->{createdAt}, lastUsedAt => undef,
                     confirmed => JSON::PP::true, backedUp => undef }, 'the factor');
is(scalar(grep { /$CODE/ } @$codes), 10, 'ten recovery codes');
is(scalar(keys %{ { map { $_ => 1 } @$codes } }), 10, 'all of them others');

isnt($ada->{cookies}{svc_session}, $before, 'the session goes on under another key');
admin_error(SvcTest::Browser->new($s)->get('/v1/auth/session', undef,
                                           Cookie => "svc_session=$before"),
            401, 'unauthenticated', 'the old one is dead');
is($other->get('/v1/auth/session')->status, 200, 'other sessions go on');

my $session = $ada->get('/v1/auth/session')->json;

is($session->{mfa}{enrolled}, JSON::PP::true, 'the session knows it');
like($session->{mfa}{verifiedAt}, $TIME, 'and when it was shown');
is_deeply($session->{mfa}{methods}, [ qw(totp recovery) ], 'and what there is');
is_deeply([ events('mfa.factor_added') ],
          [ { factorId => $new->{id}, type => 'totp', name => 'Téléphone' } ],
          'it is in the audit log');
is($ada->get('/v1/mfa/factors')->json->{recoveryCodesLeft}, 10, 'ten are left');

admin_error($ada->post("/v1/mfa/totp/$new->{id}/confirm",
                       { code => totp($new->{secret}, 1) }), 404, 'not_found',
            'it is not confirmed twice');


# --- a user with a factor needs it --------------------------------------------------

admin_error($other->post('/v1/mfa/totp', {}), 403, 'step_up_required',
            'a password does not do for the next one');
admin_error($other->ask(DELETE => "/v1/mfa/factors/$new->{id}"), 403,
            'step_up_required', 'nor to remove it');
admin_error($other->ask(PATCH => "/v1/mfa/factors/$new->{id}", { name => 'x' }), 403,
            'step_up_required', 'or to name it');
admin_error($other->post('/v1/mfa/recovery-codes'), 403, 'step_up_required',
            'or for codes');


# --- names and codes ----------------------------------------------------------------

$r = $ada->ask(PATCH => "/v1/mfa/factors/$new->{id}", { name => '  Phone ' });
is($r->status, 200, 'another name') or diag($r->body);
is_deeply($r->json, { %$factor, name => 'Phone' }, 'of the same factor');
is_deeply([ map { $_->{name} } events('mfa.factor_updated') ], [ 'Phone' ], 'audited');
is($ada->ask(PATCH => "/v1/mfa/factors/$new->{id}", { name => 'Phone' })->status, 200,
   'the same one');
is(scalar events('mfa.factor_updated'), 1, 'is no change');

$r = $ada->post('/v1/mfa/recovery-codes');
is($r->status, 201, 'other codes') or diag($r->body);

my %old = map { $_ => 1 } @$codes;
my $fresh = $r->json->{recoveryCodes};

is(scalar(grep { /$CODE/ && !$old{$_} } @$fresh), 10, 'ten of them');
is($s->sql('SELECT count(*) FROM svc.recovery_code'), 10, 'the old ones are gone');
is(scalar events('mfa.recovery_codes_created'), 1, 'audited');


# --- another factor, and too many -----------------------------------------------------

my @pending;

for (1 .. 3) {
    $r = $ada->post('/v1/mfa/totp', {});
    is($r->status, 201, "one that waits: $_");
    push @pending, $r->json;
    $s->secret($r->json->{secret});
}

admin_error($ada->post('/v1/mfa/totp', {}), 400, 'limit_exceeded', 'three wait');
$s->sql("UPDATE svc.factor SET created_at = now() - interval '16 minutes'"
        . " WHERE id = '$pending[0]{id}'");
admin_error($ada->post("/v1/mfa/totp/$pending[0]{id}/confirm",
                       { code => totp($pending[0]{secret}) }), 404, 'not_found',
            'after 15 minutes it is too late');
is(scalar @{ $ada->get('/v1/mfa/factors')->json->{factors} }, 3, 'it is not listed');
is($ada->post('/v1/mfa/totp', {})->status, 201, 'and makes room');
$s->sql('SELECT svc.sign_in_expire(1000, 900)');
is($s->sql("SELECT count(*) FROM svc.factor WHERE id = '$pending[0]{id}'"), 0,
   'then it goes');

$r = $ada->post("/v1/mfa/totp/$pending[1]{id}/confirm",
                { code => totp($pending[1]{secret}) });
is($r->status, 200, 'the second one is confirmed') or diag($r->body);
is($r->json->{recoveryCodes}, undef, 'without codes');
is($s->sql('SELECT count(*) FROM svc.recovery_code'), 10, 'those there were stay');
is($r->json->{factor}{name}, 'Authenticator', 'it has a name');

$s->sql('INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at)'
        . " SELECT tenant_id, user_id, gen_random_uuid(), 'passkey', 'x', now()"
        . " FROM svc.factor, generate_series(1, 16) WHERE id = '$new->{id}'");
admin_error($ada->post('/v1/mfa/totp', {}), 400, 'limit_exceeded', 'twenty are enough');
is_deeply($ada->get('/v1/auth/session')->json->{mfa}{methods},
          [ qw(passkey totp recovery) ], 'each kind once');
$s->sql("DELETE FROM svc.factor WHERE type = 'passkey'");


# --- removing factors -------------------------------------------------------------

$before = $ada->{cookies}{svc_session};
$r = $ada->ask(DELETE => "/v1/mfa/factors/$pending[1]{id}");
is($r->status, 204, 'one is removed') or diag($r->body);
isnt($ada->{cookies}{svc_session}, $before, 'the session goes on under another key');
is_deeply([ map { $_->{factorId} } events('mfa.factor_removed') ], [ $pending[1]{id} ],
          'audited');
admin_error($ada->ask(DELETE => "/v1/mfa/factors/$pending[1]{id}"), 404, 'not_found',
            'it is gone');

my $bob = signed_in('bob@acme.test');

admin_error($bob->ask(DELETE => "/v1/mfa/factors/$new->{id}"), 404, 'not_found',
            'nobody removes another one\'s');
admin_error($bob->ask(PATCH => "/v1/mfa/factors/$new->{id}", { name => 'x' }), 404,
            'not_found', 'or names it');

for my $action (qw(mfa allow)) {
    ok(policy($acme, $action), "the policy says $action");

    $r = $ada->ask(DELETE => "/v1/mfa/factors/$new->{id}");

    $action eq 'mfa'
        ? admin_error($r, 400, 'last_factor', 'the last one stays')
        : is($r->status, 204, 'or goes');
}

is_deeply($ada->get('/v1/mfa/factors')->json->{recoveryCodesLeft}, 0,
          'and recovery codes with it');
is($s->sql('SELECT mfa_enrolled FROM svc.user_account WHERE user_name ='
           . " 'ada\@acme.test'"), 'f', 'there is none');
$session = $ada->get('/v1/auth/session')->json->{mfa};
is($session->{enrolled}, JSON::PP::false, 'at all');
is_deeply($session->{methods}, [], 'of any kind');


# --- at the same time -----------------------------------------------------------------

my $eve = signed_in('eve@acme.test');
my @statuses = sort map { $_->status } burst($eve, 8, '/v1/mfa/totp', {});

is_deeply(\@statuses, [ (201) x 3, (400) x 5 ], 'of eight three wait');

$s->done;
done_testing();
