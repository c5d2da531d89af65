#!/usr/bin/perl

# /v1/admin/scim/tokens: the tokens with which directories provision users.

use strict;
use warnings;
use utf8;

use Digest::SHA qw(sha256_hex);
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(wait_for);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');


sub ask {
    my ($method, $path, $body, %opt) = @_;

    return ($opt{tenant} // $acme)->admin($method, "/scim/tokens$path", $body,
                                          $opt{headers}, $opt{token});
}


# Makes a token.  Returns the answer and the secret.

sub made {
    my ($body, %opt) = @_;

    my $r = ask(POST => '', $body, %opt);

    is($r->status, 201, 'a token') or diag($r->body);
    is($r->header('cache-control'), 'no-store', 'not for caches');

    my $token = $r->json;
    my $secret = delete $token->{secret};

    $s->secret($secret);

    return ($token, $secret);
}


# Returns what a directory gets with a secret.

sub users_with {
    my ($secret) = @_;

    return $s->http(GET => '/scim/v2/Users',
                    [ Authorization => "Bearer $secret" ]);
}


# --- permissions ------------------------------------------------------------------

my $weak = $acme->token_for('apps:manage,audit:view,groups:manage,members:manage,'
                            . 'roles:manage,users:view');

for ([ GET => '' ], [ POST => '', {} ], [ DELETE => "/$acme->{scim_id}" ]) {
    admin_error(ask(@$_[0 .. 2], token => $weak), 403, undef,
                "$_->[0] without the permission");
    admin_error(ask(@$_[0 .. 2], token => $acme->{scim_token}), 401, undef,
                "$_->[0] with a SCIM token");
}

is(users_with($acme->{scim_token})->status, 200, 'nothing was revoked');


# --- a token's life -----------------------------------------------------------------

my ($token, $secret) = made({ name => " Entra \x{1F680} " });

like(admin_error(ask(POST => '', { name => 'x', expiresAt => '2099-01-01T00:00:00Z' }), 400,
                 'invalid_request', 'an end, which there is none of')->{message},
     qr/^"expiresAt" is not a known member/, 'which is named');


like($secret, qr/\Ascim_[A-Za-z0-9_-]{43}\z/, 'its secret');
like($token->{id}, $UUID, 'its id');
like($token->{createdAt}, $TIME, 'its time');
is_deeply($token, {
    id => $token->{id}, name => "Entra \x{1F680}", createdAt => $token->{createdAt},
    prefix => substr($secret, 0, 9), maker => undef, actsOnOwners => JSON::PP::false,
    lastUsedAt => undef, revokedAt => undef,
    createdBy => { type => 'apiToken', id => $acme->{api_id},
                   name => $acme->{api_name} },
    baseUrl => $s->base_url . '/scim/v2' }, 'all of it');

my $r = $s->http(POST => "$token->{baseUrl}/Users" =~ s/^\Q${\ $s->base_url }\E//r,
                 [ Authorization => "Bearer $secret",
                   'Content-Type' => 'application/scim+json' ],
                 { userName => 'ada@acme.test' });

is($r->status, 201, 'it provisions') or diag($r->body);
is($s->sql("SELECT tenant_id FROM svc.user_account WHERE user_name ="
           . " 'ada\@acme.test'"), $acme->{id}, 'a user of its tenant');
is($s->sql("SELECT actor_id FROM svc.audit_event WHERE action = 'user.created'"),
   $token->{id}, 'in its name');
admin_error($acme->admin(GET => '/scim/tokens', undef, undef, $secret), 401, undef,
            'and does nothing else');
ok((wait_for { $s->sql('SELECT count(last_used_at) FROM svc.credential'
                       . " WHERE id = '$token->{id}'") == 1 }),
   'that it was used is kept');

my $list = ask(GET => '')->json;
my ($same, $first) = @{ $list->{tokens} };

like(delete $same->{lastUsedAt}, $TIME, 'in the list');
delete @$token{qw(lastUsedAt baseUrl)};
is_deeply($same, $token, 'it is the same, without the secret');
is($first->{id}, $acme->{scim_id}, 'behind it that of before');
is($first->{createdBy}, undef, 'which an operator made');
is_deeply([ @$list{qw(total limit offset)} ], [ 2, 100, 0 ], 'all of this tenant');
is_deeply([ map { $_->{id} } @{ ask(GET => '?limit=1&offset=1')->json->{tokens} } ],
          [ $acme->{scim_id} ], 'a page');
admin_error(ask(GET => "?$_"), 400, undef, $_) for 'limit=0', 'offset=-1', 'limit=x';

admin_one($acme, '/scim/tokens', $token->{id}, needs => 'tenant:manage', other => $globex,
          none => [ $acme->{api_id}, $globex->{scim_id}, 'x', uc $token->{id} ]);
admin_finds($acme, '/scim/tokens', needs => 'tenant:manage', of => 'tokens', by => 'id', finds => {
    entra => [ $token->{id} ], substr($secret, 0, 9) => [ $token->{id} ],
    $token->{id} => [ $token->{id} ], '%' => [], $acme->{api_id} => [],
    $globex->{scim_id} => [] });
admin_error(ask(DELETE => "/$token->{id}", undef, tenant => $globex), 404, undef,
            'another tenant revokes nothing');
is(users_with($secret)->status, 200, 'so it is good');
is(ask(DELETE => "/$token->{id}")->status, 204, 'revoked');
is(users_with($secret)->status, 401, 'from the next request on');
is(ask(DELETE => "/$token->{id}")->status, 204, 'again');
like(ask(GET => '')->json->{tokens}[0]{revokedAt}, $TIME, 'it stays in the list');

admin_error(ask(DELETE => "/$_"), 404, undef, "no token: $_")
    for $acme->{api_id}, '00000000-0000-4000-8000-000000000000', 'x';
is($acme->admin(GET => '/tenant')->status, 200, 'an API token is not revoked here');


# --- its name -----------------------------------------------------------------------

is((made($_))[0]{name}, 'SCIM', 'without a name')
    for {}, { name => undef };
is((made({ name => 'ü' x 100 }))[0]{name}, 'ü' x 100, 'of 100 characters');

for my $name ('', ' ', 'x' x 101, "a\nb", 1, [], {}) {
    like(admin_error(ask(POST => '', { name => $name }), 400, 'invalid_request',
                     'no name')->{message}, qr/^"name"/, 'which is said');
}

admin_error(ask(POST => '', $_), 400, 'invalid_request', "a body of $_")
    for '', '[]', '{"name":"a","name":"b"}';


# --- sent again -----------------------------------------------------------------------

my @key = ('Idempotency-Key' => 'k');
my ($once) = made({ name => 'Okta' }, headers => \@key);
my $again = ask(POST => '', { name => 'Okta' }, headers => \@key);

is($again->status, 201, 'sent again');
is($again->header('idempotency-replayed'), 'true', 'it is the first answer');
is_deeply($again->json, $once, 'without the secret');
admin_error(ask(POST => '', { name => 'Other' }, headers => \@key), 409,
            'idempotency_conflict', 'with another body');


# --- of a session -----------------------------------------------------------------------

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'owner@acme.test', role => 'owner');
with_password($s, $acme, userName => 'member@acme.test');

my ($b, $member) = map { SvcTest::Browser->new($s, tenant => 'acme') } 1, 2;

is($b->login('owner@acme.test')->status, 200, 'an owner signs in');
is($member->login('member@acme.test')->status, 200, 'and a member');
admin_error($member->get('/v1/admin/scim/tokens'), 403, 'forbidden',
            'a member may not');

$r = $b->post('/v1/admin/scim/tokens', { name => 'by hand' });
is($r->status, 201, 'an owner makes one');
$s->secret($r->json->{secret});
is($r->json->{createdBy}{type}, 'user', 'in his name');
is(users_with($r->json->{secret})->status, 200, 'and it works');
admin_error($b->ask(POST => '/v1/admin/scim/tokens', {}, 'X-CSRF-Token' => undef),
            403, 'csrf_failed', 'a request that is forged');

$s->sql('UPDATE svc.session SET reauth_at = NULL, mfa_at = NULL');
admin_error($b->post('/v1/admin/scim/tokens', {}), 403, 'step_up_required',
            'a session that is not fresh');
is($b->ask(DELETE => '/v1/admin/scim/tokens/' . $r->json->{id})->status, 204,
   'which may revoke');


# --- as many as there may be --------------------------------------------------------------

$s->sql('INSERT INTO svc.credential (token_hash, tenant_id, kind, name, prefix,'
        . " permissions) SELECT sha256(n::text::bytea), '$acme->{id}', 'scim', 'n',"
        . " 'scim_', '{scim}' FROM generate_series(1, 99 - (SELECT count(*)::int"
        . " FROM svc.credential WHERE tenant_id = '$acme->{id}' AND kind = 'scim'"
        . ' AND revoked_at IS NULL)) n');

my @begun = map { $s->begin(POST => '/v1/admin/scim/tokens',
                            [ Authorization => "Bearer $acme->{api_token}" ], {}) }
            1 .. 4;
my @end = map { $_->read } @begun;

$s->secret(map { $_->json->{secret} // () } @end);
is_deeply([ sort map { $_->status } @end ], [ 201, 400, 400, 400 ],
          'at the same time one is the last');
admin_error(ask(POST => '', {}), 400, 'limit_exceeded', 'one too many');
is(ask(DELETE => '/' . ask(GET => '')->json->{tokens}[0]{id})->status, 204, 'one less');
made({});


# --- what is kept -----------------------------------------------------------------------

is_deeply([ $s->sql('SELECT encode(token_hash, \'hex\'), permissions'
                    . " FROM svc.credential WHERE id = '$token->{id}'") ],
          [ [ sha256_hex($secret), '{scim}' ] ], 'the hash, and what it is for');
is_deeply([ $s->sql('SELECT action, actor_id, target_type, target_name, details'
                    . " FROM svc.audit_event WHERE target_id = '$token->{id}'"
                    . ' ORDER BY id') ],
          [ map { [ "scim.token_$_", $acme->{api_id}, 'scimToken',
                    "Entra \xF0\x9F\x9A\x80", '{}' ] } qw(created revoked) ],
          'audited, once each');
is($s->sql("SELECT count(*) FROM svc.audit_event e WHERE e::text LIKE"
           . " '%$secret%'"), 0, 'without the secret');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;

done_testing();
