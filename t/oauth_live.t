#!/usr/bin/perl

# Shows whether a token lives: introspection and revocation, and what ends an issued
# token: a kill, a ceiling, a cut-off, its key.

use strict;
use warnings;

use JSON::PP ();
use MIME::Base64 qw(encode_base64url decode_base64url);
use Test::More;

use SvcTest;
use SvcTest::OAuth qw(oauth_server oauth_node application form oauth_error claims user_token);
use SvcTest::Process qw(wait_for);

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $node = oauth_node($s);
my $base = 'http://127.0.0.1:' . $s->port;
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());

my %api = (name => 'API', resourceUri => 'https://api.test/');
my $rs = application($acme, %api);
my $robot = application($acme, name => 'Robot', scopes => [ 'a', 'b' ]);
my $other = application($acme, name => 'Other');
my $agent = application($acme, name => 'Agent', type => 'agent', scopes => [ 'a', 'b' ]);
my $opaque = application($acme, name => 'Opaque', scopes => [ 'a', 'b' ],
                         accessTokenFormat => 'opaque');
my $spa = application($acme, name => 'SPA', type => 'spa',
                      redirectUris => [ 'https://a.test/' ]);
my $foreign = application($globex, %api);


sub token {
    my ($client, %fields) = @_;
    my $r = form($s, token => { grant_type => 'client_credentials', %fields },
                 client => $client);

    $r->status == 200 or die $r->body;
    $s->secret($r->json->{access_token}) if $r->json->{access_token} =~ /^sat_/;

    return $r->json->{access_token};
}

# Introspects a token on both nodes, and expects the same answer.

sub introspect {
    my ($token, $client) = @_;
    my @r = map { form($s, introspect => { token => $token }, client => $client // $robot,
                       http => { port => $_ }) } $s->port, $node->{port};

    is($r[0]->body, $r[1]->body, 'on both nodes') or diag($r[0]->status);

    return $r[0]->json;
}

sub dead {
    my ($token, $name, $client) = @_;

    is_deeply(introspect($token, $client), { active => $FALSE }, "$name: not active");
}

sub set {
    my ($app, $set) = @_;

    $s->sql("UPDATE svc.application SET $set WHERE client_id = '$app->{clientId}'");
}


# --- the answer --------------------------------------------------------------------

for my $client ($robot, $opaque) {
    my $token = token($client, resource => 'https://API.test', scope => 'a');
    my $told = introspect($token, $client);

    cmp_ok($told->{exp} - $told->{iat}, '<=', 3600, 'it ends');
    is_deeply($told, { active => $TRUE, sub => $client->{clientId},
                       client_id => $client->{clientId}, scope => 'a',
                       iss => "$base/oauth/t/acme", aud => 'https://api.test/',
                       exp => $told->{exp}, iat => $told->{iat}, jti => $told->{jti},
                       token_type => 'Bearer' }, 'all of it');

    if ($client == $robot) {
        my (undef, $claims) = claims($token);

        is($told->{$_}, $claims->{$_}, "$_ as in the JWT") for qw(jti iat exp iss aud sub);
    }

    is(introspect($token, $client)->{active}, $TRUE, 'again');
    is(introspect($token, $rs)->{active}, $TRUE, 'who it is for sees it');
    dead($token, 'another client', $other);
    dead($token, 'another tenant', $foreign);
    dead($token, 'one that is for itself', $other);

    $token = token($client);
    is(introspect($token, $other)->{active}, $TRUE, 'all see what is for the issuer');
    is(introspect($token, $other)->{aud}, "$base/oauth/t/acme", 'which is its audience');
    dead($token, 'not another tenant\'s', $foreign);
}

my $r = form($s, introspect => { token => token($robot) }, client => $robot);
is($r->header('cache-control'), 'no-store', 'it is not stored');
is($r->header('access-control-allow-origin'), undef, 'nor read by pages');

# Who may not introspect.

oauth_error(form($s, introspect => { token => 'x', client_id => $spa->{clientId} }), 400,
            'invalid_client', 'a public client');
oauth_error(form($s, introspect => { token => token($robot), client_id => $robot->{clientId} }),
            400, 'invalid_client', 'its id alone is no proof');
oauth_error(form($s, introspect => { token => 'x' }), 400, 'invalid_client', 'nobody');
oauth_error(form($s, introspect => { token => 'x' },
                 client => { %$robot, clientSecret => 'x' x 43 }), 401, 'invalid_client',
            'a wrong secret');
oauth_error(form($s, introspect => { }, client => $robot), 400, 'invalid_request', 'no token');
set($other, 'enabled = false');
oauth_error(form($s, introspect => { token => 'x' }, client => $other), 401, 'invalid_client',
            'one that is disabled');
set($other, 'enabled = true');


# --- what is no token --------------------------------------------------------------

my $token = token($robot);
my @part = split /\./, $token;
my (undef, $claims) = claims($token);
my ($mine, $theirs) = (token($robot), token($foreign));

sub altered {
    my ($head, $body) = @_;
    my ($h, $c) = claims($token);
    my $json = JSON::PP->new->canonical;

    return join '.', encode_base64url($json->encode({ %$h, %{ $head // {} } })),
                     encode_base64url($json->encode({ %$c, %{ $body // {} } })), $part[2];
}

my %none = (
    'the string null' => 'null', 'dots' => '.' x 10240, 'empty parts' => '..',
    'a signature of another' => join('.', @part[0, 1], (split /\./, $mine)[2]),
    'another kid' => altered({ kid => (claims($theirs))[0]{kid} }),
    'alg none' => altered({ alg => 'none' }), 'HS256' => altered({ alg => 'HS256' }),
    'no typ' => altered({ typ => 'JWT' }), 'an id token' => altered({ typ => 'id_token' }),
    'another scope' => altered(undef, { scope => 'admin' }),
    'a later end' => altered(undef, { exp => $claims->{exp} + 1000 }),
    'jti of another' => altered(undef, { jti => (claims($mine))[1]{jti} }),
    'jti twice' => join('.', $part[0],
                        encode_base64url(decode_base64url($part[1])
                                         =~ s/\A\{/{"jti":"x",/r), $part[2]),
    'no jti' => altered(undef, { jti => undef }), 'padding' => "$token=",
    'signed by another tenant' => $theirs,
    'an unknown opaque one' => 'sat_' . 'A' x 107, 'a short one' => 'sat_A',
    'an unknown one that refreshes' => 'srt_' . 'A' x 43, 'an API token' => $acme->{api_token},
);

dead($none{$_}, $_) for sort keys %none;

# The row has the jti of a token that another tenant has signed, with either key. That
# tenant's own row is stored after the answer.

ok((wait_for { $s->sql("SELECT count(*) FROM svc.oauth_token WHERE jti = '"
                       . (claims($theirs))[1]{jti} . "'") }), 'the row of another tenant');

for my $kid (map { (claims($_))[0]{kid} } $token, $theirs) {
    my $jti = (claims($theirs))[1]{jti};

    $s->sql('INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals,'
            . ' grant_type, scopes, kid, ttl)'
            . " SELECT '$acme->{id}', jti, issued_at, '$robot->{clientId}',"
            . " '{$robot->{clientId}}', grant_type, scopes, '$kid', ttl FROM svc.oauth_token"
            . " WHERE tenant_id = '$globex->{id}' AND jti = '$jti'");
    dead($theirs, 'a jti of ours, and a signature of theirs');
    is($s->sql('WITH d AS (DELETE FROM svc.oauth_token WHERE'
               . " tenant_id = '$acme->{id}' AND jti = '$jti' RETURNING 1)"
               . ' SELECT count(*) FROM d'), 1, 'which was there');
}

my $o = token($opaque);
dead(substr($o, 0, -2) . 'AA', 'another secret');
dead($o =~ s/sat_/srt_/r, 'another kind');

# Flips a bit of the token's tenant.

sub of_tenant {
    my ($token, $bit) = @_;

    my $bytes = decode_base64url(substr $token, 4);

    vec($bytes, $bit, 1) ^= 1;

    my $altered = 'sat_' . encode_base64url($bytes);

    $s->secret($altered);

    return $altered;
}

dead(of_tenant($o, $_), "of another tenant, in bit $_", $opaque) for 0 .. 127;
is(revoke(of_tenant($o, 0), $opaque)->status, 200, 'nor is that one revoked');
is(introspect($o, $opaque)->{active}, $TRUE, 'that one lives');


# --- what ends a token ---------------------------------------------------------------

$token = token($agent);
$o = token($opaque);
is(introspect($_)->{active}, $TRUE, 'it lives') for $token, $o;

sub patch {
    my ($app, $body) = @_;

    is($s->http(PATCH => "/v1/applications/$app->{clientId}",
                [ Authorization => "Bearer $acme->{apps_token}" ], $body)->status, 200,
       'patched');
}

set($_, 'enabled = false') for $agent, $opaque;
dead($_, 'killed') for $token, $o;
set($_, 'enabled = true, tokens_valid_after = clock_timestamp()') for $agent, $opaque;
dead($_, 'enabled again') for $token, $o;

$token = token($agent);
is(introspect($token)->{active}, $TRUE, 'a new one lives');
set($agent, "expires_at = now() - interval '1 s'");
dead($token, 'expired');
set($agent, 'expires_at = NULL');
is(introspect($token)->{active}, $TRUE, 'not any more');

# Ceilings.

set($agent, "allowed_scopes = '{a}'");
is(introspect($token)->{scope}, 'a', 'a scope is gone');
set($agent, "allowed_scopes = '{c}'");
dead($token, 'no scope is left');
set($agent, 'allowed_scopes = NULL');
is(introspect($token)->{scope}, 'a b', 'they are back');
set($agent, "scopes = '{b}'");
is(introspect($token)->{scope}, 'b', 'the application has lost it');
set($agent, "scopes = '{a,b}', max_token_ttl = 60");
is(introspect($token)->{active}, $TRUE, 'a shorter life');
cmp_ok(introspect($token)->{exp} - introspect($token)->{iat}, '<=', 60, 'is told');

my $older = application($acme, name => 'Older', type => 'agent', scopes => [ 'a' ]);
my $old = user_token($acme, client => $older, scopes => [ 'a' ], ago => 61,
                     user => $acme->create(userName => 'ada@acme.test')->{id});

set($older, 'max_token_ttl = 3600');
is(introspect($old)->{active}, $TRUE, 'a token of a minute ago');
set($older, 'max_token_ttl = 60');
dead($old, 'it is over by a ceiling of a minute');

set($agent, "max_token_ttl = NULL, allowed_audiences = '{urn:a}',"
            . " allowed_audience_keys = '{urn:a}'");
dead($token, 'its audience is not allowed');
set($agent, "allowed_audiences = '{$base/oauth/t/acme}',"
            . " allowed_audience_keys = '{$base/oauth/t/acme}'");
is(introspect($token)->{active}, $TRUE, 'the issuer is');
set($agent, 'allowed_audiences = NULL, allowed_audience_keys = NULL');

# Cut-offs of the tenant, and its suspension.

$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE id = '$acme->{id}'");
oauth_error(form($s, introspect => { token => $token }, client => $robot), 401,
            'invalid_client', 'suspended');
$s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE id = '$acme->{id}'");
is(introspect($token)->{active}, $TRUE, 'resumed');
$s->sql("UPDATE svc.oauth_tenant SET tokens_valid_after = now()"
        . " WHERE tenant_id = '$acme->{id}'");
dead($token, 'cut off');

# A revoked key.

$token = token($robot);
$o = token($opaque);
my $kid = (claims($token))[0]{kid};
$s->sql("UPDATE svc.oauth_key SET revoked_at = now() WHERE kid = '$kid'");
$s->sql("UPDATE svc.oauth_tenant SET active_kid = NULL WHERE active_kid = '$kid'");
dead($token, 'its key is revoked');
is(introspect($o, $opaque)->{active}, $TRUE, 'an opaque one has none');
$token = token($robot);
isnt((claims($token))[0]{kid}, $kid, 'the next one has another');
is(introspect($token)->{active}, $TRUE, 'and lives');

# A token that has expired, and an application that is deleted.

set($robot, "expires_at = now() + interval '1 s'");
$token = token($robot);
set($robot, 'expires_at = NULL');
wait_for { !form($s, introspect => { token => $token }, client => $robot)->json->{active} };
dead($token, 'it is over');
$token = token($agent);
$s->http(DELETE => "/v1/applications/$agent->{clientId}",
         [ Authorization => "Bearer $acme->{apps_token}" ]);
dead($token, 'the application is gone');


# --- revocation ----------------------------------------------------------------------

sub revoke {
    my ($token, $client, %fields) = @_;

    return form($s, revoke => { token => $token, %fields }, client => $client);
}

for my $client ($robot, $opaque) {
    my $token = token($client);

    $r = revoke($token, $other);
    is($r->status, 200, 'another client\'s');
    is($r->body, '', 'says nothing');
    is($r->header('content-type'), 'application/json', 'of a type');
    is($r->header('access-control-allow-origin'), '*', 'any page may');
    is(introspect($token, $client)->{active}, $TRUE, 'and it lives');
    is(revoke($token, $foreign)->status, 200, 'another tenant\'s');
    is(introspect($token, $client)->{active}, $TRUE, 'and it lives');
    is(revoke($token, $client, token_type_hint => 'refresh_token')->status, 200, 'its own');
    dead($token, 'revoked', $client);
    is(revoke($token, $client)->status, 200, 'again');
}

# No worker knows these kids yet; each of the two gets to see them at some time.

is(revoke($none{$_}, $robot)->status, 200, "revoke: $_") for sort keys %none;

$token = token($robot);
set($robot, 'enabled = false');
is(revoke($token, $robot)->status, 200, 'one that is disabled may');
is($s->sql('SELECT count(*) FROM svc.oauth_token WHERE revoked_at IS NOT NULL AND jti ='
           . " '@{[ (claims($token))[1]{jti} ]}'"), 1, 'it is revoked');
set($robot, 'enabled = true');

oauth_error(revoke($token, { %$robot, clientSecret => 'x' x 43 }), 401, 'invalid_client',
            'a wrong secret');
oauth_error(form($s, revoke => { token => $token, client_id => $robot->{clientId} }), 400,
            'invalid_client', 'by the id alone');
oauth_error(form($s, revoke => { }, client => $robot), 400, 'invalid_request', 'no token');
is(form($s, revoke => { token => 'x', client_id => $spa->{clientId} })->status, 200,
   'a public client');

# A revocation ends what was exchanged from the token, in trees that SQL makes here.

my $root = token($opaque);
wait_for { $s->sql("SELECT count(*) FROM svc.oauth_token"
                   . " WHERE secret_hash = sha256('$root')") == 1 };
my $jtis = $s->sql("SELECT jti FROM svc.oauth_token WHERE client_id = '$opaque->{clientId}'"
                   . ' ORDER BY issued_at DESC, jti DESC LIMIT 1');

sub child {
    my ($parent) = @_;

    return scalar $s->sql(<<"EOT");
INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, root_jti, parent_jti,
                             principals, grant_type, scopes, ttl)
SELECT tenant_id, gen_random_uuid(), clock_timestamp(), '$other->{clientId}',
       coalesce(root_jti, jti), jti, '{$other->{clientId}}', 'x', '{}', 600
FROM svc.oauth_token WHERE jti = '$parent' RETURNING jti
EOT
}

my $one = child($jtis);
my $two = child($one);
my $beside = child($jtis);

revoke($root, $opaque);
is($s->sql("SELECT count(*) FROM svc.oauth_token WHERE jti IN ('$jtis', '$one', '$two',"
           . " '$beside') AND revoked_at IS NOT NULL"), 4, 'all that came of it');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
