#!/usr/bin/perl

# Sign-in with a password, and the session that it makes.

use strict;
use warnings;
use utf8;

use MIME::Base64 ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(wait_for);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;

my %SVC = (svc_sign_in => 'on',
           svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 1000',
                        'RATE_LIMIT_LOGIN_EMAIL_MAX 100' ]);

my $s = SvcTest->new(svc => { %SVC })->start;
my $node = $s->node(svc => { %SVC });
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'Ada@acme.test',
                        displayName => 'Ada', role => 'owner');
my $bob = with_password($s, $acme, userName => 'bob@acme.test');


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }


sub signed_in {
    my ($email, %opt) = @_;

    my $b = browser(%opt);
    my $r = $b->login($email);

    is($r->status, 200, "$email signs in") or diag($r->body);

    return $b;
}


# Returns a browser with a copy of the cookies, like another window.

sub window {
    my ($b, %opt) = @_;

    return bless { %$b, cookies => { %{ $b->{cookies} } }, %opt }, ref $b;
}


sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}


sub alive {
    my ($b, $name) = @_;

    is(window($b, port => $_)->get('/v1/auth/session')->status, 200, $name)
        for undef, $node->{port};
}


# Tests that the session is dead on all nodes, and that the browser forgets it.

sub dead {
    my ($b, $name) = @_;

    for my $port (undef, $node->{port}) {
        my $w = window($b, port => $port);
        my $r = $w->get('/v1/auth/session');

        admin_error($r, 401, 'unauthenticated', $name);
        is_deeply([ @{ $w->{cookies} }{qw(svc_session svc_csrf)} ],
                  [ undef, undef ], 'and the cookies are deleted');
    }


    # another request may have got newer cookies meanwhile

    my $w = window($b);
    my $r = $w->get('/v1/admin/tenant');

    admin_error($r, 401, 'unauthenticated', "$name: nor for administration");
    is($r->header('Set-Cookie'), undef, 'which takes no cookie away');
}


# --- a session -----------------------------------------------------------------

my $b = browser();
my $r = $b->login('ada@ACME.test');

is($r->status, 200, 'an address in any case') or diag($r->body);

my $session = $r->json;

like(delete $session->{csrfToken}, qr/\A[\w-]{22}\z/, 'a token for what changes');
like(delete $session->{expiresAt}, $TIME, 'until when');
is_deeply($session, {
    user => { id => $ada->{id}, email => 'Ada@acme.test', displayName => 'Ada',
              locale => undef },
    tenant => { id => $acme->{id}, slug => 'acme', name => "Acme" },
    role => 'owner',
    permissions => [ qw(apps:manage audit:view groups:manage members:manage
                        roles:manage tenant:manage users:view) ],
    mfa => { enrolled => JSON::PP::false, methods => [], verifiedAt => undef },
}, 'who, where, and what for');

is($r->header('Cache-Control'), 'no-store', 'not stored');
like($r->header('Set-Cookie'), qr/(?:^|, )svc_session=[\w-]{64}; Path=\/; HttpOnly; SameSite=Lax(?:,|$)/,
     'the cookie of the session');
like($r->header('Set-Cookie'), qr/(?:^|, )svc_csrf=[\w-]{22}; Path=\/; SameSite=Lax(?:,|$)/,
     'one that a page may read');
like($r->header('Set-Cookie'), qr/(?:^|, )svc_device=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000(?:,|$)/,
     'and the device');

$r = $b->get('/v1/auth/session');
is($r->status, 200, 'the session');
is($r->json->{csrfToken}, $b->{csrf}, 'has the same token');
is($r->json->{user}{id}, $ada->{id}, 'and user');

is($b->get('/v1/admin/tenant')->status, 200, 'it reads');
is($b->ask(PATCH => '/v1/admin/tenant', { name => 'Acme Ltd' })->status, 200, 'and writes');

my $event = $b->get("/v1/admin/audit?action=tenant.updated")->json->{events}[0];

is($event->{actor}{type}, 'user', 'as the user');
is($event->{actor}{id}, $ada->{id}, 'of that id');

$event = $b->get('/v1/admin/audit?action=user.login')->json->{events}[0];
is($event->{actor}{id}, $ada->{id}, 'a sign-in is in the log');
is($event->{target}{id}, $ada->{id}, 'of whom');
is_deeply($event->{details}, { score => 0, signals => [], methods => [ 'password' ] },
          'with what risk, and how');


# --- one's own sessions ----------------------------------------------------------

my $phone = signed_in('ada@acme.test', agent => 'Phone "1" Android Chrome/1');
my $list = $phone->get('/v1/auth/sessions');

is($list->status, 200, 'a list of them');
is($list->header('Cache-Control'), 'no-store', 'not stored');
$list = $list->json;
is($list->{total}, 2, 'both');
is_deeply([ map { $_->{current} ? 1 : 0 } @{ $list->{sessions} } ], [ 1, 0 ],
          'the newest first, and which one it is');

my ($one) = @{ $list->{sessions} };

like(delete $one->{$_}, $TIME, $_) for qw(createdAt lastSeenAt expiresAt);
like(delete $one->{id}, qr/\A[0-9a-f-]{36}\z/, 'id');
is_deeply($one, { current => JSON::PP::true, ip => '127.0.0.1', country => undef,
                  userAgent => 'Phone "1" Android Chrome/1',
                  methods => [ 'password' ] }, 'and what a user knows it by');

my $bobs = signed_in('bob@acme.test');
my $bobs_id = $bobs->get('/v1/auth/sessions')->json->{sessions}[0]{id};
my $other = $list->{sessions}[1]{id};

is($bobs->get('/v1/auth/sessions')->json->{total}, 1, "not another user's");
admin_error($phone->ask(DELETE => "/v1/auth/sessions/$_"), 404, undef,
            "another user's or none: $_")
    for $bobs_id, '00000000-0000-4000-8000-000000000000', 'x';
alive($bobs, 'which lives');

is($phone->ask(DELETE => "/v1/auth/sessions/$other")->status, 204, 'one ends');
dead($b, 'it has ended');
is($phone->ask(DELETE => "/v1/auth/sessions/$other")->status, 204, 'once more');
alive($phone, 'the other one lives');

$b = signed_in('ada@acme.test');
signed_in('ada@acme.test');

my $old = window($phone);

$r = $phone->post('/v1/auth/sessions/revoke-others');
is($r->status, 200, 'all others end') or diag($r->body);
is_deeply($r->json, { revokedSessions => 2 }, 'so many');
isnt($phone->{cookies}{svc_session}, $old->{cookies}{svc_session}, 'rotated');
isnt($phone->{csrf}, $old->{csrf}, 'and its token');
alive($phone, 'it lives');
dead($b, 'another one is dead');
dead($old, 'so is its own before');
is($phone->get('/v1/auth/sessions')->json->{total}, 1, 'one is left');

admin_error($old->post('/v1/auth/sessions/revoke-others'), 401,
            'unauthenticated', 'the old one ends nobody');
alive($phone, 'it still lives');


# --- who may change something ------------------------------------------------------

sub tenant_name {
    return scalar $s->sql("SELECT name FROM svc.tenant WHERE id = '$acme->{id}'");
}

$b = signed_in('ada@acme.test');

my $name = tenant_name();
my $good = $b->{csrf};

sub change {
    my ($b, @headers) = @_;

    return $s->http(PATCH => '/v1/admin/tenant',
                    [ Cookie => $b->cookie, @headers ], { name => 'Changed' });
}

for my $case (
    [ 'no token',            [ ] ],
    [ 'an empty one',        [ 'X-CSRF-Token' => '' ] ],
    [ 'a wrong one',         [ 'X-CSRF-Token' => $good =~ s/\A(.)/$1 eq 'A' ? 'B' : 'A'/er ] ],
    [ 'one that is cut',     [ 'X-CSRF-Token' => substr $good, 0, -1 ] ],
    [ 'one that is longer',  [ 'X-CSRF-Token' => "${good}A" ] ],
    [ "another session's",   [ 'X-CSRF-Token' => $phone->{csrf} ] ],
    [ "another user's",      [ 'X-CSRF-Token' => $bobs->{csrf} ] ],
    [ 'two',                 [ ('X-CSRF-Token' => $good) x 2 ] ],
    [ 'two, one is wrong',   [ 'X-CSRF-Token' => $good,
                               'X-CSRF-Token' => 'A' x 22 ] ],
    [ 'a list of two',       [ 'X-CSRF-Token' => "$good, $good" ] ],
    [ 'Origin of another',   [ 'X-CSRF-Token' => $good,
                               Origin => 'https://evil.test' ] ],
    [ 'Origin null',         [ 'X-CSRF-Token' => $good, Origin => 'null' ] ],
    [ 'Origin with https',   [ 'X-CSRF-Token' => $good,
                               Origin => 'https://127.0.0.1:' . $s->port ] ],
    [ 'Origin of another port', [ 'X-CSRF-Token' => $good,
                                  Origin => 'http://127.0.0.1' ] ],
    [ 'Sec-Fetch-Site: cross-site', [ 'X-CSRF-Token' => $good,
                                  'Sec-Fetch-Site' => 'cross-site' ] ],
    [ 'Sec-Fetch-Site: same-site', [ 'X-CSRF-Token' => $good,
                                  'Sec-Fetch-Site' => 'same-site' ] ],
    [ 'an unknown Sec-Fetch-Site', [ 'X-CSRF-Token' => $good,
                                  'Sec-Fetch-Site' => 'same-originX' ] ])
{
    my ($what, $headers) = @$case;

    admin_error(change($b, @$headers), 403, 'csrf_failed', $what);
}

is(tenant_name(), $name, 'nothing has changed');

for my $path ('/v1/auth/sessions/revoke-others', '/v1/auth/logout') {
    admin_error($b->post($path, undef, 'X-CSRF-Token' => undef), 403,
                'csrf_failed', "$path without a token");
    admin_error($b->post($path, undef, Origin => 'null'), 403, 'csrf_failed',
                "$path from nowhere");
}

admin_error($b->ask(DELETE => "/v1/auth/sessions/$bobs_id", undef,
                    'X-CSRF-Token' => undef),
            403, 'csrf_failed', 'an end without a token');
alive($b, 'it has not ended');

for my $headers ([ Origin => $s->base_url ], [ 'Sec-Fetch-Site' => 'same-origin' ],
                 [ 'Sec-Fetch-Site' => 'none', Origin => 'null' ])
{
    is(change($b, 'X-CSRF-Token' => $good, @$headers)->status, 200,
       "with @$headers");
}

$s->sql("UPDATE svc.tenant SET name = '$name' WHERE id = '$acme->{id}'");

# a GET ignores the CSRF token, and no GET changes anything

is($b->get('/v1/admin/tenant', undef, 'X-CSRF-Token' => 'x')->status, 200,
   'GET does not ask for one');

for my $path ('/v1/auth/logout', '/v1/auth/login',
              '/v1/auth/sessions/revoke-others', "/v1/auth/sessions/$bobs_id",
              '/v1/admin/users/unlock')
{
    admin_error($b->get("$path?X-CSRF-Token=$good&csrfToken=$good"),
                405, undef, "GET $path");
}

alive($b, 'the session lives');
alive($bobs, 'the other one too');


# --- a token decides when there is one ------------------------------------------------

sub with_bearer {
    my ($token, $method, $path, $body) = @_;

    return $s->http($method, $path, [ Cookie => $b->cookie,
                                      Authorization => "Bearer $token" ],
                    $body);
}

is(with_bearer($acme->{api_token}, PATCH => '/v1/admin/tenant',
               { name => $name })->status, 200, 'a good token needs no CSRF');
admin_error(with_bearer('svc_' . 'x' x 43, GET => '/v1/admin/tenant'), 401,
            'unauthorized', 'a bad one is not made good by a cookie');
is(with_bearer($globex->{api_token}, GET => "/v1/admin/tenant")->json->{tenant}{slug},
   'globex', 'the tenant is that of the token');
admin_error(with_bearer($acme->{api_token}, GET => $_), 403, 'forbidden',
            "$_ is not for tokens")
    for '/v1/auth/session', '/v1/auth/sessions';
admin_error($s->http(GET => '/v1/auth/session'), 401, 'unauthenticated',
            'nothing sent');
admin_error($s->http(GET => '/v1/admin/tenant'), 401, 'unauthorized',
            'nothing sent, where a token would do');


# --- invalid cookies -------------------------------------------------------------------

my $value = $b->{cookies}{svc_session};

for my $case (
    [ 'two',            "svc_session=$value; svc_session=$value" ],
    [ 'two that differ', "svc_session=$value; svc_session=$phone->{cookies}{svc_session}" ],
    [ 'empty',          'svc_session=' ],
    [ '63 characters',  'svc_session=' . substr $value, 0, 63 ],
    [ '65 characters',  "svc_session=${value}A" ],
    [ '4,000',          'svc_session=' . 'A' x 4000 ],
    [ 'padding',        'svc_session=' . substr($value, 0, 63) . '=' ],
    [ 'base64',         'svc_session=' . substr($value, 0, 63) . '+' ],
    [ 'quotes',         "svc_session=\"$value\"" ],
    [ 'zeros',          'svc_session=' . 'A' x 64 ],
    [ 'another secret', 'svc_session=' . substr($value, 0, 24) . 'A' x 40 ],
    [ 'not by case',    "SVC_SESSION=$value; svc_session=" . 'A' x 64 ])
{
    my ($what, $cookie) = @$case;

    admin_error($s->http($_->[0] => $_->[1], [ Cookie => $cookie,
                                               'X-CSRF-Token' => $good ],
                         $_->[2]), 401, 'unauthenticated',
                "a cookie: $what, $_->[1]")
        for [ GET => '/v1/auth/session' ],
            [ PATCH => '/v1/admin/tenant', { name => 'Changed' } ];
}

is($s->http(GET => '/v1/auth/session',
            [ Cookie => 'a=b', Cookie => "  svc_session=$value ;x" ])->status,
   200, 'in a second header, with others around');
is(tenant_name(), $name, 'nothing has changed');

# a cookie with another tenant's id in it is not a session of that tenant

my $raw = MIME::Base64::decode_base64url($value);
my $forged = MIME::Base64::encode_base64url(
    pack('H*', $globex->{id} =~ tr/-//dr) . substr($raw, 16), '');

admin_error($s->http(GET => '/v1/admin/tenant',
                     [ Cookie => "svc_session=$forged" ]),
            401, 'unauthenticated', "another tenant's id before a secret");


# --- the end ------------------------------------------------------------------------------

my $gone = window($b);

is($b->post('/v1/auth/logout')->status, 204, 'a logout');
is_deeply([ @{ $b->{cookies} }{qw(svc_session svc_csrf)} ], [ undef, undef ],
          'no cookie is left');
dead($gone, 'after a logout');
is($b->post('/v1/auth/logout')->status, 204, 'without a session too');
$r = window($gone)->post('/v1/auth/logout', undef, 'X-CSRF-Token' => undef);
is($r->status, 204, 'and with a dead one, without CSRF');
is($r->header('Cache-Control'), 'no-store', 'not stored');
admin_error($gone->ask(PATCH => '/v1/admin/tenant', { name => 'x' },
                       'X-CSRF-Token' => 'x'),
            401, 'unauthenticated', 'a dead session is told before CSRF');

# fixation: a sign-in makes another secret, and the one before is dead

$b = signed_in('bob@acme.test');
$gone = window($b);
is($b->login('ada@acme.test')->status, 200, 'another user signs in');
isnt($b->{cookies}{svc_session}, $gone->{cookies}{svc_session}, 'anew');
is($b->get('/v1/auth/session')->json->{user}{id}, $ada->{id}, 'as that one');
dead($gone, 'of the one before');

# a made-up session cookie is not accepted

$b = browser(cookies => { svc_session => 'A' x 64 });
is($b->login('ada@acme.test')->status, 200, 'over a cookie of a stranger');
isnt($b->{cookies}{svc_session}, 'A' x 64, 'gets its own');

# what others do takes effect with the next request, on every node

my $admin = $acme->token_for('members:manage,users:view');

sub administrator {
    my ($what) = @_;

    my $r = $acme->admin(POST => "/users/$bob->{id}/$what", undef, [], $admin);

    cmp_ok($r->status, '<', 300, $what) or diag($r->body);
}

sub scim_active {
    my ($active) = @_;

    my $r = $acme->scim(PATCH => "/Users/$bob->{id}", {
        schemas => [ 'urn:ietf:params:scim:api:messages:2.0:PatchOp' ],
        Operations => [ { op => 'replace', path => 'active',
                          value => $active ? JSON::PP::true
                                           : JSON::PP::false } ] });

    is($r->status, 200, 'SCIM: active ' . ($active ? 'true' : 'false'));
}

for my $case ([ 'suspend', sub { administrator('suspend') },
                sub { administrator('reactivate') } ],
              [ 'deactivation', sub { scim_active(0) }, sub { scim_active(1) } ],
              [ 'logout', sub { administrator('logout') }, undef ])
{
    my ($what, $do, $undo) = @$case;

    $b = signed_in('bob@acme.test');
    alive($b, "before the $what");
    $do->();
    dead(window($b), "after the $what");
    next if !$undo;
    admin_error(browser()->login('bob@acme.test'), 401, 'invalid_credentials',
                "no sign-in after the $what");
    $undo->();
    dead($b, "it stays dead when that is undone");
}

$b = signed_in('bob@acme.test');
$s->svcctl(qw(tenant suspend --tenant acme));
dead($b, 'of a suspended tenant');
admin_error(browser()->login('bob@acme.test'), 403, 'access_denied',
            'nobody signs in to it');
$s->svcctl(qw(tenant resume --tenant acme));
alive($b, 'which goes on with it');
is_deeply([ grep { defined } map { $_->{suspended} } events(q(tenant.updated)) ],
          [ JSON::PP::true(), JSON::PP::false() ], 'and both are in the log');

# idle for too long, and signed in for too long

sub session_set {
    my ($set) = @_;

    my @rows = $s->sql("UPDATE svc.session SET $set WHERE user_id = '$bob->{id}'"
                       . ' AND ended_at IS NULL RETURNING id');
    cmp_ok(scalar @rows, '>', 0, $set);
}

sub ago { return "clock_timestamp() - interval '$_[0]'" }

sub touched {
    return $s->sql("SELECT last_seen_at > now() - interval '1 min'"
                   . " FROM svc.session WHERE user_id = '$bob->{id}'"
                   . ' ORDER BY created_at DESC LIMIT 1') eq 't';
}

session_set('last_seen_at = ' . ago('29 min 30 s'));

# on one node, so that the other one does not write a later use afterwards

is(window($b)->get('/v1/auth/session')->status, 200, 'idle, but not for long enough');
ok((wait_for { touched() }), 'which is noted');
alive($b, 'on all nodes');
session_set('last_seen_at = ' . ago('30 min 1 s'));
dead($b, 'idle for too long');

$b = signed_in('bob@acme.test');
my $until = $b->get('/v1/auth/session')->json->{expiresAt};

is($b->get('/v1/auth/session')->json->{expiresAt}, $until,
   'its end does not move with use');
session_set('expires_at = ' . ago('1 s'));
dead($b, 'after its end, though it was used');


# --- roles ----------------------------------------------------------------------------------

sub role {
    my ($role) = @_;

    $s->sql("UPDATE svc.user_account SET role = '$role'"
            . " WHERE id = '$bob->{id}'");
}

$b = signed_in('bob@acme.test');
admin_error($b->get('/v1/admin/tenant'), 403, 'forbidden', 'a member reads nothing');
is_deeply($b->get('/v1/auth/session')->json->{permissions}, [], 'and may nothing');

role('admin');
is($b->get('/v1/admin/tenant')->status, 200, 'an administrator does');
is($b->ask(PATCH => '/v1/admin/tenant', { name => $name })->status, 200, 'and writes');

my $groups = $s->sql('SELECT count(*) FROM svc.user_group');

role('member');
admin_error($b->post('/v1/admin/groups', { name => 'Late' }), 403, 'forbidden',
            'not any more, by the next request');
is($s->sql('SELECT count(*) FROM svc.user_group'), $groups, 'and made nothing');

$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
        . " ('$acme->{id}', 'reader', 'Reader', '{users:view}')");
role('reader');
is($b->get('/v1/admin/users')->status, 200, 'a role of the tenant');
is($b->get('/v1/admin/tenant')->status, 200, 'with any permission');
admin_error($b->get('/v1/admin/groups'), 403, 'forbidden', 'has no others');
$s->sql("UPDATE svc.role SET permissions = '{groups:manage}'"
        . " WHERE key = 'reader'");
is($b->get('/v1/admin/groups')->status, 200, 'what the role gains');
admin_error($b->get('/v1/admin/users'), 403, 'forbidden', 'and loses');

# nobody grants a permission that he does not have

$s->sql("UPDATE svc.role SET permissions = '{roles:manage,tenant:manage}'"
        . " WHERE key = 'reader'");
admin_error($b->post('/v1/admin/roles', { name => 'Strong',
                                          permissions => [ 'apps:manage' ] }),
            403, 'forbidden', 'a role with more than the own one');
is($b->post('/v1/admin/roles', { name => 'Weak',
                                 permissions => [ 'tenant:manage' ] })->status,
   201, 'and with no more');


# --- 50 sessions, and 50 devices -----------------------------------------------------------------

sub count_of {
    my ($user, $what) = @_;

    return scalar $s->sql("SELECT count(*) FROM svc.$what"
                          . " AND user_id = '$user->{id}'");
}


my $many = with_password($s, $acme, userName => 'many@acme.test');
my ($sessions, $devices) = ('session WHERE ended_at IS NULL', 'user_device WHERE true');

$s->sql("INSERT INTO svc.session (tenant_id, user_id, token_hash, created_at, expires_at)"
        . " SELECT '$acme->{id}', '$many->{id}', sha256(('many' || i)::bytea),"
        . " now() - i * interval '1 min', now() + interval '1 hour'"
        . ' FROM generate_series(1, 49) i');
$s->sql('INSERT INTO svc.user_device (tenant_id, user_id, hash, last_at)'
        . " SELECT '$acme->{id}', '$many->{id}', sha256(i::text::bytea),"
        . " now() - i * interval '1 min' FROM generate_series(1, 49) i");

my $known = signed_in('many@acme.test');

is(count_of($many, $_), 50, "50 are not too many: $_") for $sessions, $devices;

signed_in('many@acme.test');
is(count_of($many, $_), 50, "of 51 one goes: $_") for $sessions, $devices;
is(count_of($many, "session WHERE token_hash = sha256('many49')"
                   . ' AND ended_at IS NOT NULL'), 1, 'the oldest session');
is(count_of($many, "user_device WHERE hash = sha256('49')"), 0, 'and the oldest device');

is($known->login('many@acme.test')->status, 200, 'a browser that is known');
is(count_of($many, $devices), 50, 'is no other device');
is(count_of($many, "user_device WHERE hash = sha256('48')"), 1, 'none goes for it');
is(count_of($many, $sessions), 50, 'nor a session, but its own');
is(count_of($many, "session WHERE token_hash = sha256('many48')"
                   . ' AND ended_at IS NULL'), 1, 'the oldest one stays');


# --- 51 sessions -----------------------------------------------------------------------------

my $first = signed_in('ada@acme.test');

$s->sql("INSERT INTO svc.session (tenant_id, id, user_id, token_hash, root_id,"
        . " stage, methods, auth_time, expires_at, reauth_at, ip)"
        . " SELECT '$acme->{id}', gen_random_uuid(), '$ada->{id}',"
        . " sha256(i::text::bytea), gen_random_uuid(), 'full', '{password}',"
        . " clock_timestamp(), now() + interval '1 hour', clock_timestamp(),"
        . " '127.0.0.1' FROM generate_series(1, 49) i");
$b = signed_in('ada@acme.test');
dead($first, 'the oldest of 51');
is($b->get('/v1/auth/sessions')->json->{total}, 50, '50 are left');


# --- a policy that wants a second factor -------------------------------------------------------

my $tenant_admin = $acme->token_for('tenant:manage');

is($acme->admin(PUT => '/access-policy', { rules => [], defaultAction => 'mfa' },
                [], $tenant_admin)->status, 200, 'all need a second factor');

$b = browser();
$r = $b->login('ada@acme.test');
admin_error($r, 403, 'mfa_enrollment_required', 'who has none is to get one');
is($r->header('Cache-Control'), 'no-store', 'not stored');
ok($b->{cookies}{$_}, "with $_") for qw(svc_session svc_csrf);
is($b->{cookies}{svc_device}, undef, 'but of no known device');
admin_error($b->ask(@$_), 403, 'mfa_enrollment_required', "@$_[0, 1]")
    for [ GET => '/v1/auth/session' ], [ GET => '/v1/auth/sessions' ],
        [ GET => '/v1/admin/tenant' ], [ GET => '/v1/admin/users' ],
        [ PATCH => '/v1/admin/tenant', { name => 'Changed' } ],
        [ POST => '/v1/admin/groups', { name => 'Changed' } ],
        [ POST => '/v1/auth/sessions/revoke-others' ],
        [ DELETE => "/v1/auth/sessions/$bobs_id" ];
is(tenant_name(), $name, 'nothing has changed');
is($s->sql("SELECT round(extract(epoch FROM expires_at - created_at))"
           . " FROM svc.session WHERE stage = 'enroll'"), 600, 'for ten minutes');

$gone = window($b);
is($b->post('/v1/auth/logout')->status, 204, 'it may end');
dead($gone, 'and is dead');

# a user with a factor gets another code, and can do as little

$s->sql("UPDATE svc.user_account SET mfa_enrolled = true WHERE id = '$ada->{id}'");
$b = browser();
admin_error($b->login('ada@acme.test'), 403, 'step_up_required', 'who has one');
admin_error($b->ask(@$_), 403, 'step_up_required', "@$_[0, 1]")
    for [ GET => '/v1/auth/session' ], [ GET => '/v1/admin/tenant' ],
        [ PATCH => '/v1/admin/tenant', { name => 'Changed' } ];
$s->sql("UPDATE svc.user_account SET mfa_enrolled = false WHERE id = '$ada->{id}'");
is($acme->admin(PUT => '/access-policy', { rules => [],
                                           defaultAction => 'allow' },
                [], $tenant_admin)->status, 200, 'and without that policy');

# a password that has expired

is($acme->admin(PUT => '/password-policy', { maxAgeDays => 30 }, [],
                $tenant_admin)->status, 200, 'passwords of 30 days');
$s->sql("UPDATE svc.password SET set_at = now() - interval '31 days'"
        . " WHERE user_id = '$bob->{id}'");
role('admin');
$b = browser();
admin_error($b->login('bob@acme.test'), 403, 'password_expired', 'is older');
admin_error($b->ask(@$_), 403, 'password_expired', "@$_[0, 1]")
    for [ GET => '/v1/auth/session' ], [ GET => '/v1/admin/tenant' ];
signed_in('ada@acme.test');


is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
