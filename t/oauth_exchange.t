#!/usr/bin/perl

# Shows the grant type token-exchange: forms, whose tokens may be exchanged and by
# whom, targets, scopes, times, and the journal, which has refused exchanges, too.

use strict;
use warnings;

use MIME::Base64 qw(decode_base64url encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::OAuth qw(oauth_server application form oauth_error claims user_token consent exchange
                      delegations $EXCHANGE $ACCESS_TOKEN);
use SvcTest::Documents qw(examples section);
use SvcTest::Process qw(run);
use SvcTest::Skip;

needs(program => 'curl');

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $base = 'http://127.0.0.1:' . $s->port;
my $TYPE = 'urn:ietf:params:oauth:token-type';

my $web = application($acme, name => 'Web', type => 'web', redirectUris => [ 'https://w.test/' ],
                      scopes => [ qw(openid read write admin) ]);
my $api = application($acme, name => 'API', resourceUri => 'https://API.test');
my $bare = application($acme, name => 'No resource',
                       grantTypes => [ 'client_credentials', $EXCHANGE ]);
my $m2m = application($acme, name => 'Robot', scopes => [ qw(read write) ],
                      grantTypes => [ 'client_credentials', $EXCHANGE ],
                      resourceUri => 'https://robot.test/');
my $agent = application($acme, name => 'Agent', type => 'agent', scopes => [ qw(read write) ],
                        resourceUri => 'https://agent.test/');
my $plain = application($acme, name => 'Plain', scopes => [ 'read' ]);
my $opaque = application($acme, name => 'Opaque', scopes => [ qw(openid read write) ],
                         accessTokenFormat => 'opaque',
                         grantTypes => [ 'client_credentials', $EXCHANGE ]);
my $other = application($globex, name => 'Other', scopes => [ 'read' ],
                        grantTypes => [ 'client_credentials', $EXCHANGE ]);

my $ada = $acme->create(userName => 'ada@acme.test')->{id};
my $bob = $globex->create(userName => 'bob@globex.test')->{id};

sub set {
    my ($app, $set) = @_;

    $s->sql("UPDATE svc.application SET $set WHERE client_id = '$app->{clientId}'");
}

# Returns a user's token of the web application, for an API that exchanges it.

sub ada {
    my ($for, %more) = @_;

    return user_token($acme, client => $web, user => $ada, scopes => [ qw(openid read write) ],
                      audience => "https://$for.test/", %more);
}

sub own {
    my ($client, %fields) = @_;
    my $r = form($s, token => { grant_type => 'client_credentials', %fields },
                 client => $client);

    $r->status == 200 or die $r->body;
    $s->secret($r->json->{access_token}) if $r->json->{access_token} =~ /^sat_/;

    return $r->json->{access_token};
}

# Flips the last bit of an opaque token.

sub altered_bytes {
    my ($token) = @_;
    my $bytes = decode_base64url(substr $token, 4);

    substr($bytes, -1) ^= "\1";

    return 'sat_' . encode_base64url($bytes);
}

sub refused {
    my ($r, $code, $reason, $name, $client) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $text = oauth_error($r, 400, $code, $name);
    my ($row) = delegations($s, $client // $agent, qw(outcome reason));

    is("$row->{outcome} " . ($row->{reason} // ''), "refused $reason", "$name: journaled");

    return $text;
}

sub count {
    return $s->sql('SELECT count(*) FROM svc.delegation');
}


# --- a user's token ----------------------------------------------------------------

my @AT = ('', 'https://api.test/', 'urn:ours');

consent($acme, $ada, $agent, [ qw(openid read write) ], @AT);

my $r = exchange($s, $agent, ada('agent'));

is($r->status, 200, 'exchanged') or BAIL_OUT($r->body);
is($r->header('cache-control'), 'no-store', 'it is not stored');

my $t = $r->json;

is_deeply([ sort keys %$t ],
          [ qw(access_token expires_in issued_token_type scope token_type) ], 'its members');
is($t->{issued_token_type}, $ACCESS_TOKEN, 'an access token');
is($t->{token_type}, 'Bearer', 'a bearer token');
is($t->{scope}, 'read write', 'with what both may have, and nothing of users');
is($t->{expires_in}, 900, 'as long as an agent\'s');

my ($head, $claims) = claims($t->{access_token});

is($head->{typ}, 'at+jwt', 'a JWT');
is_deeply($claims, { iss => "$base/oauth/t/acme", aud => "$base/oauth/t/acme", sub => $ada,
                     client_id => $agent->{clientId}, scope => 'read write',
                     act => { sub => $agent->{clientId} },
                     map { $_ => $claims->{$_} } qw(jti iat exp) }, 'and all that is in it');

my ($row) = delegations($s, $agent, qw(client_name subject_type subject_id chain grant_type
                                       audience scopes outcome reason token_jti bound ip
                                       request_id));

ok(delete $row->{request_id}, 'the request is in the journal');
is_deeply($row, { client_name => 'Agent', subject_type => 'user', subject_id => $ada,
                  chain => "{$agent->{clientId}}", grant_type => $EXCHANGE,
                  audience => "$base/oauth/t/acme", scopes => '{read,write}',
                  outcome => 'granted', reason => undef, token_jti => $claims->{jti},
                  bound => 'f', ip => '127.0.0.1' }, 'with who acts for whom');
is($s->sql('SELECT count(*) FROM svc.delegation d JOIN svc.oauth_token k'
           . ' ON k.jti = d.token_jti AND k.parent_jti = d.parent_jti'
           . ' AND k.root_jti = d.root_jti AND d.parent_jti = d.root_jti'
           . " AND k.issued_at + k.ttl * interval '1 s' = d.expires_at"
           . ' AND k.chain = d.chain AND d.chain <@ k.principals'
           . " AND k.user_id = '$ada' AND k.grant_type = d.grant_type"), 1,
   'as the token is stored');
is(form($s, introspect => { token => $t->{access_token} }, client => $agent)->json->{active}, 1,
   'it lives');

# Lifetimes.

ok(exchange($s, $agent, ada('agent', ttl => 100))->json->{expires_in} <= 100,
   'not longer than what it is of');
set($agent, 'max_token_ttl = 60');
is(exchange($s, $agent, ada('agent'))->json->{expires_in}, 60, 'nor than its ceiling');
set($agent, "max_token_ttl = NULL, expires_at = now() + interval '50 s'");
ok(exchange($s, $agent, ada('agent'))->json->{expires_in} <= 50, 'nor than the agent');
set($agent, 'expires_at = NULL');
set($web, 'max_token_ttl = 60');
ok(exchange($s, $agent, ada('agent'))->json->{expires_in} <= 60, 'nor than who had it');
set($web, 'max_token_ttl = NULL');

# What the new token inherits.

my $grant = $s->sql('INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes,'
                    . ' resources, resource_keys, session_id, auth_time, methods, expires_at)'
                    . " VALUES ('$acme->{id}', gen_random_uuid(), '$web->{clientId}', '$ada',"
                    . " '{read}', '{}', '{}', gen_random_uuid(), '2026-01-02 03:04:05+00',"
                    . " '{passkey}', now() + interval '1 day') RETURNING id");

$t = exchange($s, $agent, ada('agent', grant => $grant))->json;
(undef, $claims) = claims($t->{access_token});
is($claims->{auth_time}, 1767323045, 'when the user has signed in');
is($claims->{acr}, 'phr', 'and how');
is_deeply([ @{ form($s, introspect => { token => $t->{access_token} },
                    client => $agent)->json }{qw(auth_time acr)} ], [ 1767323045, 'phr' ],
          'which introspection tells');
is($s->sql("SELECT grant_id FROM svc.oauth_token WHERE jti = '$claims->{jti}'"), $grant,
   'the grant');
$s->sql("UPDATE svc.oauth_grant SET revoked_at = now() WHERE id = '$grant'");
ok(!form($s, introspect => { token => $t->{access_token} }, client => $agent)->json->{active},
   'and its end');
refused(exchange($s, $agent, ada('agent', grant => $grant)), 'invalid_request',
        'subject_invalid', 'a grant that is revoked');

# A JWT is exchanged for an opaque token.

$t = exchange($s, $opaque, own($plain))->json;
ok($t->{error}, 'one that is for nobody');
set($opaque, "resource_uri = 'https://opaque.test/', resource_key = 'https://opaque.test/'");
$r = exchange($s, $opaque, own($plain, resource => 'https://opaque.test'));
is($r->status, 200, 'for the resource of who exchanges it') or diag($r->body);
like($r->json->{access_token}, qr/\Asat_[\w-]{86}\z/, 'an opaque one for a JWT');
is($r->json->{scope}, 'read', 'with less');
($row) = delegations($s, $opaque, qw(subject_type subject_id));
is_deeply($row, { subject_type => 'service', subject_id => $plain->{clientId} },
          'of a service');
is($s->sql('SELECT principals FROM svc.oauth_token WHERE jti = (SELECT token_jti'
           . " FROM svc.delegation WHERE client_id = '$opaque->{clientId}'"
           . " AND outcome = 'granted')"), "{$opaque->{clientId},$plain->{clientId}}",
   'which it lives by');
is(form($s, introspect => { token => $r->json->{access_token} }, client => $opaque)->json->{sub},
   $plain->{clientId}, 'its subject');
set($plain, 'enabled = false');
ok(!form($s, introspect => { token => $r->json->{access_token} }, client => $opaque)
   ->json->{active}, 'dead with it');
set($plain, 'enabled = true');

# An opaque token is changed to name another tenant.

my $altered = ada('opaque');
my $bytes = decode_base64url(substr $altered, 4);

vec($bytes, 7, 1) ^= 1;
$altered = 'sat_' . encode_base64url($bytes);
$s->secret($altered);
refused(exchange($s, $opaque, $altered, audience => $api->{clientId}), 'access_denied',
        'other_tenant', 'an opaque one of another tenant', $opaque);

set($other, "access_token_format = 'opaque'");
refused(exchange($s, $opaque, own($other), audience => $api->{clientId}), 'access_denied',
        'other_tenant', 'one that is sealed for another tenant', $opaque);
refused(exchange($s, $opaque, altered_bytes(own($other)), audience => $api->{clientId}),
        'invalid_request', 'subject_invalid', 'and altered', $opaque);
set($other, "access_token_format = 'jwt'");

my $bot = own($agent, resource => 'https://robot.test/');
$r = exchange($s, $m2m, $bot, audience => $api->{clientId});
is($r->status, 200, 'an agent\'s') or diag($r->body);
(undef, $claims) = claims($r->json->{access_token});
is($claims->{aud}, 'https://API.test', 'for an application by its clientId');
is($claims->{sub}, $agent->{clientId}, 'the agent');
is_deeply($claims->{act}, { sub => $m2m->{clientId} }, 'for whom a service acts');
($row) = delegations($s, $m2m, qw(subject_type subject_id));
is_deeply($row, { subject_type => 'agent', subject_id => $agent->{clientId} }, 'of an agent');


# --- forms -------------------------------------------------------------------------

my $n = count();
my $good = ada('agent');

my @BAD = (
    [ 'no subject_token', subject_token => undef ],
    [ 'an empty one', subject_token => '' ],
    [ 'no type', subject_token_type => undef ],
    [ 'SAML', subject_token_type => "$TYPE:saml2" ],
    [ 'an ID token by its type', subject_token_type => "$TYPE:id_token" ],
    [ 'a refresh token by its type', subject_token_type => "$TYPE:refresh_token" ],
    [ 'another type', subject_token_type => "$ACCESS_TOKEN " ],
    [ 'asking for an ID token', requested_token_type => "$TYPE:id_token" ],
    [ 'asking for a JWT', requested_token_type => "$TYPE:jwt" ],
    [ 'an actor without a type', actor_token => 'x' ],
    [ 'a type without an actor', actor_token_type => $ACCESS_TOKEN ],
    [ 'an actor by SAML', actor_token => 'x', actor_token_type => "$TYPE:saml1" ],
);

for my $bad (@BAD) {
    my ($name, %fields) = @$bad;
    oauth_error(exchange($s, $agent, $good, %fields), 400, 'invalid_request', $name);
}

is(exchange($s, $agent, $good, requested_token_type => $ACCESS_TOKEN,
            subject_token_type => "$TYPE:jwt", scope => 'read')->status, 200,
   'what may be said');
is(count() - $n, 1, 'what is no exchange yet is not journaled');

# A malformed target or scope is answered once the agent is known to be allowed to
# exchange, and is journaled like one that is not allowed.

my @pairs = (grant_type => $EXCHANGE, subject_token => $good,
             subject_token_type => $ACCESS_TOKEN);

for my $more ([ resource => 'urn:a', resource => 'urn:b' ],
              [ audience => 'urn:a', audience => 'urn:b' ],
              [ resource => 'urn:a', audience => 'urn:a' ], [ resource => 'a' ],
              [ resource => 'https://api.test/#x' ], [ audience => 'api' ],
              [ resource => 'urn:' . 'x' x 509 ])
{
    refused(form($s, token => [ @pairs, @$more ], client => $agent), 'invalid_target',
            'audience_denied', substr "@$more", 0, 40);
}

is((delegations($s, $agent, 'audience'))[0]{audience}, undef, 'nothing long is kept');
is((delegations($s, $agent, 'audience'))[1]{audience}, 'api', 'what was asked for is');

refused(exchange($s, $agent, $good, scope => $_), 'invalid_scope', 'scope_denied', "scope '$_'")
    for 'a"b', "a\tb";

# Requests of a wrong client, or of one that may not exchange, are not journaled.

$n = count();
oauth_error(exchange($s, { %$agent, clientSecret => 'x' x 43 }, $good), 401, 'invalid_client',
            'a wrong secret');
oauth_error(exchange($s, $plain, own($plain)), 400, 'unauthorized_client', 'without the grant');
set($agent, 'require_dpop = true');
oauth_error(exchange($s, $agent, $good), 400, 'invalid_dpop_proof', 'without a proof');
set($agent, 'require_dpop = false');
is(count(), $n, 'are not journaled');


# --- subjects ----------------------------------------------------------------------

my $jwt = own($agent, resource => 'https://robot.test/');
my @part = split /\./, $jwt;
my $json = JSON::PP->new->canonical;

sub altered {
    my ($head, $body) = @_;
    my ($h, $c) = claims($jwt);

    return join '.', encode_base64url($json->encode({ %$h, %{ $head // {} } })),
                     encode_base64url($json->encode({ %$c, %{ $body // {} } })), $part[2];
}

my %none = (
    'garbage' => 'x', 'a refresh token' => 'srt_' . 'A' x 43,
    'forged' => altered(undef, { sub => $ada }), 'alg none' => altered({ alg => 'none' }),
    'no signature' => "$part[0].$part[1].", 'an ID token' => altered({ typ => 'JWT' }),
    'HS256' => altered({ alg => 'HS256' }),
    'another secret' => altered_bytes(ada('agent')),
    'expired' => ada('agent', ago => 10, ttl => 5),
    'another issuer' => altered({ kid => 'A' x 43 }, { iss => 'https://evil.test/' }),
    'another issuer of ours' => altered({ kid => 'A' x 43 }),
    8192 => 'x' x 8193,
);

for my $name (sort keys %none) {
    refused(exchange($s, $m2m, $none{$name}), 'invalid_request', 'subject_invalid', $name, $m2m);
}

is($s->sql("SELECT count(*) FROM svc.delegation WHERE reason = 'subject_invalid'"
           . " AND subject_id IS NOT NULL AND client_id = '$m2m->{clientId}'"), 1,
   'whose it was is known of what was one: the expired one');

# A forged token is refused even when the worker has seen the key.

is(exchange($s, $m2m, $jwt)->status, 200, 'a good one');
refused(exchange($s, $m2m, $none{forged}), 'invalid_request', 'subject_invalid',
        'forged, of a key that is known', $m2m);

# Tokens of another tenant.

for my $token (own($other, resource => 'https://robot.test/'),
               user_token($globex, client => $other, user => $bob, scopes => [ 'read' ],
                          audience => 'https://robot.test/'))
{
    refused(exchange($s, $m2m, $token), 'access_denied', 'other_tenant', 'of another tenant',
            $m2m) for 1, 2;
}

ok(!$s->sql("SELECT count(*) FROM svc.delegation WHERE reason = 'other_tenant'"
            . ' AND (subject_id IS NOT NULL OR parent_jti IS NOT NULL)'), 'which is not told');

# The token has to be for the client that exchanges it.

refused(exchange($s, $agent, ada('api')), 'invalid_request', 'subject_not_for_actor',
        'for another API');
refused(exchange($s, $bare, user_token($acme, client => $web, user => $ada,
                                       scopes => [ 'read' ])),
        'invalid_request', 'subject_not_for_actor', 'for the issuer', $bare);
refused(exchange($s, $agent, own($agent)), 'invalid_request', 'subject_not_for_actor',
        'its own');
refused(exchange($s, $agent, own($agent, resource => 'https://agent.test/')),
        'invalid_request', 'subject_not_for_actor', 'its own for itself');
is(exchange($s, $agent, user_token($acme, client => $agent, user => $ada, scopes => [ 'read' ],
                                   audience => 'https://elsewhere.test/',
                                   chain => [ $agent->{clientId} ]))->status, 200,
   'a user\'s that was issued to it, whoever it is for');

# Users who may not use the agent.

my $group = $s->sql('INSERT INTO svc.user_group (tenant_id, id, name)'
                    . " VALUES ('$acme->{id}', gen_random_uuid(), 'Group') RETURNING id");
set($agent, "assignment = 'groups'");
refused(exchange($s, $agent, ada('agent')), 'access_denied', 'not_in_group', 'no group');
$s->sql('INSERT INTO svc.group_app (tenant_id, client_id, group_id)'
        . " VALUES ('$acme->{id}', '$agent->{clientId}', '$group')");
refused(exchange($s, $agent, ada('agent')), 'access_denied', 'not_in_group',
        'in none of its groups');
$s->sql('INSERT INTO svc.group_member (tenant_id, group_id, user_id)'
        . " VALUES ('$acme->{id}', '$group', '$ada')");
is(exchange($s, $agent, ada('agent'))->status, 200, 'in one');
set($agent, "assignment = 'everyone'");

my $old = ada('agent');
$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$ada'");
refused(exchange($s, $agent, $old), 'access_denied', 'subject_inactive', 'a suspended user');
($row) = delegations($s, $agent, qw(subject_id));
is($row->{subject_id}, $ada, 'who is known');
$s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$ada'");
refused(exchange($s, $agent, $old), 'invalid_request', 'subject_invalid',
        'a token from before');

# Tokens of actors.

my $me = own($agent);
my @actor = (actor_token_type => $ACCESS_TOKEN);

is(exchange($s, $agent, ada('agent'), @actor, actor_token => $me)->status, 200,
   'an actor\'s token');
refused(exchange($s, $agent, ada('agent'), @actor, actor_token => $_), 'invalid_request',
        'subject_not_for_actor', 'one that is none')
    for 'x', own($m2m), ada('agent'), "${me}x", own($other);


# --- targets -----------------------------------------------------------------------

sub aud {
    my (%fields) = @_;
    my $r = exchange($s, $agent, ada('agent'), %fields);

    return $r->status == 200 ? (claims($r->json->{access_token}))[1]{aud}
                             : $r->json->{error};
}

sub anomalies {
    return join ' ', map { join ':', @$_ }
           $s->sql('SELECT type, occurrences FROM svc.agent_anomaly'
                   . " WHERE client_id = '$agent->{clientId}' ORDER BY type");
}

is(aud(resource => 'https://api.test:443/'), 'https://API.test',
   'of an application, as that has registered it');
is(aud(audience => 'https://api.test'), 'https://API.test', 'likewise');
is(aud(resource => "$base/oauth/t/acme"), "$base/oauth/t/acme", 'the issuer');

refused(exchange($s, $agent, ada('agent'), @$_), 'invalid_target', 'audience_denied', "@$_")
    for [ resource => 'https://api.test/x' ], [ resource => 'urn:nobody' ],
        [ audience => $bare->{clientId} ], [ audience => 'app_' . '0' x 32 ],
        [ audience => $other->{clientId} ];
($row) = delegations($s, $agent, qw(audience));
is($row->{audience}, $other->{clientId}, 'what was asked for is journaled');

set($api, 'enabled = false');
is(aud(resource => 'https://api.test/'), 'invalid_target', 'of one that is disabled');
is(aud(audience => $api->{clientId}), 'invalid_target', 'by its clientId');
set($api, 'enabled = true');
is(anomalies(), '', 'that is not unusual');

set($agent, "allowed_audiences = '{urn:ours}', allowed_audience_keys = '{urn:ours}'");
is(aud(), 'urn:ours', 'the only one of a ceiling');
is(aud(resource => 'urn:ours'), 'urn:ours', 'which need not be an application\'s');
refused(exchange($s, $agent, ada('agent'), resource => 'https://api.test/'), 'invalid_target',
        'audience_denied', 'above the ceiling');
is(anomalies(), 'audience_denied:1', 'is unusual');
set($agent, "allowed_audiences = '{urn:a,urn:b}', allowed_audience_keys = '{urn:a,urn:b}'");
is(aud(), 'invalid_target', 'one of several must be named');
set($agent, "allowed_audiences = '{}', allowed_audience_keys = '{}'");
is(aud(resource => 'https://api.test/'), 'invalid_target', 'none');
set($agent, 'allowed_audiences = NULL, allowed_audience_keys = NULL');


# --- scopes ------------------------------------------------------------------------

sub scope {
    my (%fields) = @_;
    my $r = exchange($s, $agent, ada('agent'), %fields);

    return $r->status == 200 ? $r->json->{scope} : $r->json->{error};
}

$s->sql('DELETE FROM svc.agent_anomaly');

is(scope(scope => 'read'), 'read', 'less');
refused(exchange($s, $agent, ada('agent'), scope => $_), 'invalid_scope', 'scope_denied', $_)
    for 'openid', 'admin', 'read other';
($row) = delegations($s, $agent, qw(scopes));
is($row->{scopes}, '{other,read}', 'what was asked for is journaled');
refused(exchange($s, $agent, ada('agent', scopes => [ 'openid' ])), 'invalid_scope',
        'scope_denied', 'nothing in common');
set($web, "scopes = '{openid,read}'");
is(scope(), 'read', 'what the client of the subject has lost is lost');
set($web, "scopes = '{admin,openid,read,write}'");
is(anomalies(), '', 'that is not unusual');

set($agent, "allowed_scopes = '{read}'");
is(scope(), 'read', 'a ceiling');
refused(exchange($s, $agent, ada('agent'), scope => 'write'), 'invalid_scope', 'scope_denied',
        'above it');
set($agent, "allowed_scopes = '{}'");
refused(exchange($s, $agent, ada('agent')), 'invalid_scope', 'scope_denied', 'of nothing');
is(anomalies(), 'scope_denied:2', 'that is unusual');
set($agent, 'allowed_scopes = NULL');

consent($acme, $ada, $agent, [ qw(openid read) ]);
is(scope(), 'read', 'what the user has consented to');
like(refused(exchange($s, $agent, ada('agent'), scope => 'write'), 'invalid_scope',
             'not_authorized', 'and not more'), qr/'write'/, 'it is named');
refused(exchange($s, $agent, ada('agent'), resource => 'https://api.test/'), 'invalid_scope',
        'not_authorized', 'nor for another API');
consent($acme, $ada, $agent, [ 'read' ], 'https://api.test/');
refused(exchange($s, $agent, ada('agent')), 'invalid_scope', 'not_authorized',
        'nor the issuer, when it is for an API');
is(aud(resource => 'HTTPS://api.test'), 'https://API.test', '... which it may');
$s->sql('DELETE FROM svc.oauth_consent');
refused(exchange($s, $agent, ada('agent')), 'invalid_scope', 'not_authorized', 'no consent');
set($agent, 'require_consent = false');
is(scope(), 'read write', 'which the administrator has given');

my @many = map { sprintf 's%063d', $_ } 1 .. 70;
set($_, "scopes = '{" . join(',', 'read', @many, 'write') . "}'") for $agent, $web;
oauth_error(exchange($s, $agent, ada('agent', scopes => \@many)), 400, 'invalid_scope',
            'too long for a token');
set($_, "scopes = '{read,write}'") for $agent, $web;


# --- agents that may not act ---------------------------------------------------------

$s->sql('DELETE FROM svc.agent_anomaly');
$good = ada('agent');

set($agent, 'enabled = false');
refused(exchange($s, $agent, $good), 'invalid_grant', 'agent_disabled', 'killed');
($row) = delegations($s, $agent, qw(subject_id client_name chain));
is_deeply($row, { subject_id => $ada, client_name => 'Agent',
                  chain => "{$agent->{clientId}}" }, 'for whom it would have acted');
is(anomalies(), 'disabled_use:1', 'and unusual');
set($agent, "enabled = true, expires_at = now() - interval '1 s'");
refused(exchange($s, $agent, $good), 'invalid_grant', 'agent_expired', 'expired');
is(anomalies(), 'disabled_use:1 expired_use:1', 'unusual, too');
set($agent, 'expires_at = NULL');

$s->sql("UPDATE svc.oauth_tenant SET orphan_action = 'disable' WHERE tenant_id ="
        . " '$acme->{id}'");
$s->sql('ALTER TABLE svc.application DISABLE TRIGGER application_owner');
set($agent, "owner_lost_at = now() - interval '73 h'");
refused(exchange($s, $agent, $good), 'invalid_grant', 'owner_lost', 'an orphan');
$s->sql('ALTER TABLE svc.application ENABLE TRIGGER application_owner');
$s->sql("UPDATE svc.oauth_tenant SET orphan_action = 'none'");
is(anomalies(), 'disabled_use:2 expired_use:1', 'unusual as a kill');

$n = count();
$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE id = '$acme->{id}'");
oauth_error(exchange($s, $agent, $good), 400, 'invalid_grant', 'a suspended tenant');
$s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE id = '$acme->{id}'");
is(count(), $n, 'is not journaled');


# --- the example -------------------------------------------------------------------

my %invoices = (scopes => [ 'invoices:read' ]);
my $desk = application($acme, %invoices, name => 'Desk', type => 'web',
                       redirectUris => [ 'https://desk.test/' ]);
my $clerk = application($acme, %invoices, name => 'Clerk', resourceUri => 'https://clerk.test/',
                        grantTypes => [ $EXCHANGE ]);

application($acme, name => 'Books', resourceUri => 'https://api.example.com/');

my ($example) = examples('bash', section('ngx_svc_admin/oauth/README.md', 'Delegation'));
my ($status, $text) = run([ 'bash', '-euo', 'pipefail', '-c',
                            $example =~ s/\bcurl /curl -sS -f /gr ],
    env => { SVC_BASE_URL => $s->base_url, SVC_CLIENT_ID => $clerk->{clientId},
             SVC_CLIENT_SECRET => $clerk->{clientSecret},
             SVC_USER_TOKEN => user_token($acme, %invoices, client => $desk, user => $ada,
                                          audience => 'https://clerk.test/') });

is($status, 0, 'the example of the document') or diag($text);
like($text, qr/"access_token":".*"scope":"invoices:read"/, 'does as it says');
($row) = delegations($s, $clerk, qw(outcome audience subject_id));
is_deeply($row, { outcome => 'granted', audience => 'https://api.example.com/',
                  subject_id => $ada }, 'and is journaled');


# --- the journal -------------------------------------------------------------------

for my $who ('svc_app', 'postgres') {
    my $db = $s->connect_as($who);

    if ($who eq 'svc_app') {
        $db->query("SELECT set_config('svc.tenant', '$acme->{id}', false)");
    }

    for my $sql ("UPDATE svc.delegation SET outcome = 'granted', reason = NULL",
                 'DELETE FROM svc.delegation', 'TRUNCATE svc.delegation',
                 'DELETE FROM ' . $s->sql('SELECT tableoid::regclass FROM svc.delegation LIMIT 1'))
    {
        ok(!eval { $db->query($sql); 1 }, "$who: $sql");
        like($@, $who eq 'svc_app' ? qr/permission denied/ : qr/is not changed/, 'refused');
    }
}

is($s->sql("SELECT count(*) FROM svc.delegation WHERE tenant_id <> '$acme->{id}'"), 0,
   'no other tenant has a row');
is($s->sql("SELECT count(*) FROM svc.delegation WHERE outcome = 'granted' AND NOT EXISTS ("
           . 'SELECT FROM svc.oauth_token k WHERE k.jti = token_jti)'), 0,
   'what was granted was issued');
is($s->sql("SELECT count(*) FROM svc.oauth_token WHERE grant_type = '$EXCHANGE' AND jti NOT IN ("
           . 'SELECT token_jti FROM svc.delegation WHERE token_jti IS NOT NULL)'), 0,
   'and what was issued is journaled');

$s->done;
done_testing();
