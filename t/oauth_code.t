#!/usr/bin/perl

# Shows POST /oauth/token with codes: the tokens, ID tokens, and that a code is good
# once, for one client.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Grants qw(grant code redeem refresh $VERIFIER $REDIRECT digest);
use SvcTest::OAuth qw(oauth_server application form oauth_error claims basic);
use SvcTest::Process qw(slurp);
use SvcTest::Skip;

needs(python => 'jwt');

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $base = 'http://127.0.0.1:' . $s->port;
my $issuer = "$base/oauth/t/acme";
my @ALL = (qw(openid profile email offline_access invoices:read));
my %WEB = (type => 'web', redirectUris => [ $REDIRECT ],
           scopes => [ qw(openid profile email invoices:read) ]);

my $web = application($acme, %WEB, name => 'Web');
my $other = application($acme, %WEB, name => 'Other');
my $spa = application($acme, %WEB, name => 'SPA', type => 'spa');
my $opaque = application($acme, %WEB, name => 'Opaque', accessTokenFormat => 'opaque');
my $foreign = application($globex, %WEB, name => 'Foreign');
my $ada = $acme->create(userName => 'ada@acme.test');

sub bad {
    my ($r, $code, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    return oauth_error($r, 400, $code, $name);
}

sub spent {
    my ($code) = @_;

    return $s->sql('SELECT used_at IS NOT NULL FROM svc.oauth_code WHERE digest = '
                   . "'" . digest($code->{code}) . "'") eq 't';
}

# Returns the "sid" by which a client knows the session of a code's grant.

sub sid {
    my ($tenant, $app, $code) = @_;

    my $root = $s->sql("SELECT session_id FROM svc.oauth_grant WHERE id = '$code->{grant}'");

    return substr encode_base64url(sha256(pack('H32 H32', map { tr/-//dr } $tenant->{id}, $root)
                                          . $app->{clientId})), 0, 22;
}


sub set {
    my ($table, $id, $set) = @_;

    $s->sql("UPDATE svc.$table SET $set WHERE "
            . ($table eq 'application' ? 'client_id' : 'id') . " = '$id'");
}


# --- tokens ----------------------------------------------------------------------

my $code = code($acme, $web, $ada, scopes => \@ALL, nonce => 'n-0S6_WzA2Mj');
my $r = redeem($s, $web, $code);

is($r->status, 200, 'a code') or diag($r->body);
is($r->header('cache-control'), 'no-store', 'that is not stored');

my $t = $r->json;

is_deeply([ sort keys %$t ],
          [ qw(access_token expires_in id_token refresh_token scope token_type) ],
          'the members');
is($t->{scope}, 'email invoices:read offline_access openid profile', 'what was granted');
like($t->{refresh_token}, qr/\Asrt_[\w-]{43}\z/, 'a refresh token');

my ($head, $claims) = claims($t->{access_token});

is($head->{typ}, 'at+jwt', 'RFC 9068');
is($claims->{sub}, $ada->{id}, 'the user');
is($claims->{client_id}, $web->{clientId}, 'to the client');
is($claims->{aud}, $issuer, 'for the issuer');
is($claims->{auth_time}, 1767323045, 'who signed in then');
is($claims->{acr}, 'urn:svc:2', 'by two factors');
ok(!$claims->{act}, 'who acts for nobody');

($head, my $id) = claims($t->{id_token});

is_deeply({ %$head, kid => 0 }, { alg => 'RS256', typ => 'JWT', kid => 0 }, 'an ID token');
is_deeply($id, { iss => $issuer, sub => $ada->{id}, aud => [ $web->{clientId} ],
                 iat => $claims->{iat}, exp => $claims->{iat} + 3600,
                 auth_time => 1767323045, nonce => 'n-0S6_WzA2Mj',
                 acr => 'urn:svc:2', amr => [ qw(pwd otp mfa) ], sid => sid($acme, $web, $code),
                 at_hash => encode_base64url(substr sha256($t->{access_token}), 0, 16) },
          'its claims');

# Each client knows the same session by another "sid".

my ($one, $two) = (code($acme, $web, $ada), code($acme, $other, $ada));

set(oauth_grant => $_->{grant}, "session_id = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'")
    for $one, $two;

my @sids = map { (claims($_->json->{id_token}))[1]{sid} } redeem($s, $web, $one),
                                                          redeem($s, $other, $two);

is_deeply(\@sids, [ sid($acme, $web, $one), sid($acme, $other, $two) ], 'sid of two clients');
isnt($sids[0], $sids[1], 'is not the same');

# The user's methods, in the words of RFC 8176.

my %AMR = (
    'password' => 'pwd', 'email' => 'otp', 'recovery' => 'otp', 'email,totp' => 'otp',
    'password,email' => 'pwd otp mfa', 'password,recovery' => 'pwd otp mfa',
    'password,totp,recovery' => 'pwd otp mfa', 'passkey,hwk' => 'hwk user mfa',
    'passkey' => 'swk user mfa', 'password,passkey' => 'pwd swk user mfa',
    'password,passkey,hwk' => 'pwd hwk user mfa', 'email,passkey' => 'otp swk user mfa',
    'password,totp,passkey' => 'pwd otp swk user mfa', '' => '', 'other' => '',
);

for my $methods (sort keys %AMR) {
    my $one = code($acme, $web, $ada);

    set(oauth_grant => $one->{grant}, "methods = '{$methods}'");

    my $given = redeem($s, $web, $one)->json;
    my ($said, $access) = map { (claims($given->{$_}))[1] } qw(id_token access_token);
    my $acr = $methods =~ /passkey/ ? 'phr' : $AMR{$methods} =~ /mfa/ ? 'urn:svc:2' : 'urn:svc:1';

    is(join(' ', @{ $said->{amr} }), $AMR{$methods}, "amr of {$methods}");
    is($said->{acr}, $acr, '... its acr');
    is($access->{acr}, $acr, '... and in the access token');
}

# Introspection tells them, too (RFC 9470, 6).

for my $app ($web, $opaque) {
    my $token = redeem($s, $app, code($acme, $app, $ada))->json->{access_token};
    my $told = form($s, introspect => { token => $token }, client => $app)->json;

    is_deeply([ @$told{qw(sub auth_time acr)} ], [ $ada->{id}, 1767323045, 'urn:svc:2' ],
              "introspection of a token, $app->{name}");
}

# Another library verifies both tokens.

my $jwk = $s->sql("SELECT public FROM svc.oauth_key WHERE kid = '$head->{kid}'");
my $python = <<'EOT';
import jwt, sys
jwk, issuer, client, access, id = sys.argv[1:]
key = jwt.PyJWK.from_json(jwk, "RS256").key
a = jwt.decode(access, key, ["RS256"], audience=issuer, issuer=issuer)
i = jwt.decode(id, key, ["RS256"], audience=client, issuer=issuer)
print(a["sub"] == i["sub"])
EOT

open my $pipe, '-|', '/usr/bin/python3', '-c', $python, $jwk, $issuer, $web->{clientId},
                     @$t{qw(access_token id_token)} or die "python3: $!\n";
is(join('', <$pipe>), "True\n", 'another library verifies them');
close $pipe;

is_deeply([ $s->sql('SELECT client_id, user_id, grant_id, chain IS NULL, principals,'
                    . " grant_type FROM svc.oauth_token WHERE jti = '$claims->{jti}'") ],
          [ [ $web->{clientId}, $ada->{id}, $code->{grant}, 't', "{$web->{clientId}}",
              'authorization_code' ] ], 'the row');

$t = redeem($s, $spa, code($acme, $spa, $ada), redirect_uri => undef)->json;
is_deeply([ sort keys %$t ], [ qw(access_token expires_in id_token scope token_type) ],
          'of a client without a secret; no refresh token; and redirect_uri left out');

for my $secretless ([ $spa, 200 ], [ $web, 401 ]) {
    my ($app, $status) = @$secretless;
    my $r = redeem($s, { %$app, clientSecret => undef }, code($acme, $app, $ada),
                   client_id => undef);
    my $form = sub { 'grant_type=authorization_code&code=' . code($acme, $app, $ada)->{code}
                     . "&code_verifier=$VERIFIER$_[0]" };
    my $by_basic = sub { $s->http(POST => '/oauth/token',
        [ 'Content-Type' => 'application/x-www-form-urlencoded',
          Authorization => basic({ clientId => $_[0], clientSecret => '' }) ], $_[1]) };

    is($r->status, 400, "$app->{type}: no client");
    is($by_basic->($app->{clientId}, $form->(''))->status, $status,
       "$app->{type}: an empty secret by Basic");
    is($by_basic->($app->{clientId}, $form->("&client_id=$app->{clientId}"))->status, $status,
       "$app->{type}: and its client_id");
    is($by_basic->($app->{clientId}, $form->("&client_id=$opaque->{clientId}"))->status, 400,
       "$app->{type}: or another one");
}

$t = redeem($s, $opaque, code($acme, $opaque, $ada))->json;
like($t->{access_token}, qr/\Asat_/, 'an opaque one');
is((claims($t->{id_token}))[1]{at_hash},
   encode_base64url(substr sha256($t->{access_token}), 0, 16), 'with an ID token');
ok(!defined $s->sql('SELECT kid FROM svc.oauth_token WHERE client_id ='
                    . " '$opaque->{clientId}'"), 'it has no key');

$t = redeem($s, $web, code($acme, $web, $ada, scopes => [ 'invoices:read' ]))->json;
is_deeply([ sort keys %$t ], [ qw(access_token expires_in scope token_type) ],
          'without openid no ID token');
ok(!exists((claims(redeem($s, $web, code($acme, $web, $ada))->json->{id_token}))[1]{nonce}),
   'and no nonce without one');

# The first token of a tenant makes its key, and the code is spent once.

my $eve = $globex->create(userName => 'eve@globex.test');

$code = code($globex, $foreign, $eve);
is(redeem($s, $foreign, $code)->status, 200, 'the first token of a tenant');


# --- parameters ------------------------------------------------------------------

$code = code($acme, $web, $ada);

for my $verifier ('v' x 42, 'v' x 129, 'v' x 42 . '+', 'v' x 42 . "\x{e9}") {
    bad(redeem($s, $web, $code, code_verifier => $verifier), 'invalid_request',
        'a verifier of ' . length $verifier);
}

bad(redeem($s, $web, { code => $_ }), 'invalid_request', 'a code of ' . length($_ // ''))
    for undef, 'x' x 513;
bad(redeem($s, $web, { code => $_ }), 'invalid_grant', 'a code of ' . length $_)
    for 'x', 'x' x 512, "\x{263a}", "$code->{code}=";
ok(!spent($code), 'nothing of which spends it');


# --- whose a code is, and once ---------------------------------------------------

bad(redeem($s, $other, $code), 'invalid_grant', 'of another client');
bad(redeem($s, $foreign, $code), 'invalid_grant', 'of another tenant');
bad(form($s, token => { grant_type => 'authorization_code', code => $code->{code},
                        code_verifier => $VERIFIER, client_id => $web->{clientId} }),
    'invalid_client', 'without the secret');
oauth_error(redeem($s, { %$web, clientSecret => 'x' x 43 }, $code), 401, 'invalid_client',
            'with a wrong one');

set(application => $web->{clientId}, 'enabled = false');
bad(redeem($s, $web, $code), 'invalid_grant', 'a client that is off');
set(application => $web->{clientId}, "enabled = true, grant_types = '{refresh_token}'");
bad(redeem($s, $web, $code), 'unauthorized_client', 'one without the grant type');
set(application => $web->{clientId}, "grant_types = '{authorization_code,refresh_token}',"
                                     . ' require_dpop = true');
bad(redeem($s, $web, $code), 'invalid_dpop_proof', 'one that must show a proof');
set(application => $web->{clientId}, 'require_dpop = false');
ok(!spent($code), 'none of them spends it');

$r = redeem($s, $web, $code);
is($r->status, 200, 'its own does');

my $expired = code($acme, $web, $ada, expires => "now() - interval '1 s'");
bad(redeem($s, $web, $expired), 'invalid_grant', 'one that has expired');
ok(!spent($expired), 'and stays as it was');

# Each of these requests spends the code.

my %SPENT = (
    'no verifier' => [ {}, { code_verifier => undef }, 'invalid_grant' ],
    'a wrong verifier' => [ {}, { code_verifier => 'w' x 43 }, 'invalid_grant' ],
    'another redirect_uri' => [ {}, { redirect_uri => "$REDIRECT/" }, 'invalid_grant' ],
    'a key without its proof' => [ { jkt => 'ab' x 32 }, {}, 'invalid_grant' ],
    'a resource that was not granted' => [ {}, { resource => 'urn:a' }, 'invalid_target' ],
    'another one' => [ { resources => [ 'urn:b' ] }, { resource => 'urn:a' },
                       'invalid_target' ],
    'several, and none named' => [ { resources => [ 'urn:a', 'urn:b' ] }, {},
                                   'invalid_target' ],
    'a scope that the client has lost' => [ { scopes => [ 'gone' ] }, {}, 'invalid_scope' ],
    'a grant that has expired' => [ { expires_at => 'now()' }, {}, 'invalid_grant' ],
);

for my $name (sort keys %SPENT) {
    my ($opt, $fields, $error) = @{ $SPENT{$name} };

    my $code = code($acme, $web, $ada, %$opt);

    bad(redeem($s, $web, $code, %$fields), $error, $name);
    ok(spent($code), "$name: it is spent");
    bad(redeem($s, $web, $code), 'invalid_grant', "$name: and again");
}


# --- a code that is presented again ----------------------------------------------

$code = code($acme, $web, $ada, scopes => \@ALL);
$t = redeem($s, $web, $code)->json;

bad(redeem($s, $other, $code), 'invalid_grant', 'a spent code by another client');
ok(!defined $s->sql("SELECT revoked_at FROM svc.oauth_grant WHERE id = '$code->{grant}'"),
   'does no harm');

my $used = $s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'oauth.grant_revoked'");

bad(redeem($s, $web, $code), 'invalid_grant', 'by its own');
is($s->sql("SELECT reason FROM svc.oauth_grant WHERE id = '$code->{grant}'"),
   'code_replayed', 'ends the grant');
bad(refresh($s, $web, $t->{refresh_token}), 'invalid_grant', 'with its refresh token');
bad(redeem($s, $web, $code), 'invalid_grant', 'and once more');

my @events = $s->sql('SELECT actor_type, actor_id, actor_name, target_type, target_id,'
                     . " details->>'reason', details->>'clientId', details->>'userId',"
                     . " host(ip) FROM svc.audit_event WHERE action = 'oauth.grant_revoked'"
                     . ' ORDER BY id DESC LIMIT 1');
is_deeply(\@events, [ [ 'application', $web->{clientId}, 'Web', 'grant', $code->{grant},
                        'code_replayed', $web->{clientId}, $ada->{id}, '127.0.0.1' ] ],
          'which is on record');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'oauth.grant_revoked'"),
   $used + 1, 'once');


# --- users -----------------------------------------------------------------------

$code = code($acme, $web, $ada);
set(user_account => $ada->{id}, "status = 'suspended'");
bad(redeem($s, $web, $code), 'access_denied', 'a user who is suspended');
ok(spent($code), 'spends it');
set(user_account => $ada->{id}, "status = 'active'");

$code = code($acme, $web, $ada, created_at => "now() - interval '5 s'");
set(user_account => $ada->{id}, 'valid_after = now()');
bad(redeem($s, $web, $code), 'invalid_grant', 'one who has signed out everywhere');
set(user_account => $ada->{id}, 'valid_after = NULL');

for my $table ("application SET tokens_valid_after = now() WHERE client_id ="
               . " '$other->{clientId}'",
               "oauth_tenant SET tokens_valid_after = now() WHERE tenant_id = '$acme->{id}'")
{
    $code = code($acme, $other, $ada, created_at => "now() - interval '5 s'");
    $s->sql("UPDATE svc.$table");
    bad(redeem($s, $other, $code), 'invalid_grant', 'a grant that is cut off');
    $s->sql('UPDATE svc.oauth_tenant SET tokens_valid_after = NULL');
    set(application => $other->{clientId}, 'tokens_valid_after = NULL');
}

my $grouped = application($acme, %WEB, name => 'Grouped');
my %AS = (Authorization => "Bearer $acme->{apps_token}");
my $group = $s->http(POST => '/v1/admin/groups', [ %AS ], { name => 'Staff' })->json;

is($s->http(POST => "/v1/admin/groups/$group->{id}/apps", [ %AS ],
            { clientIds => [ $grouped->{clientId} ] })->status, 200, 'an app of a group');

$code = code($acme, $grouped, $ada);
bad(redeem($s, $grouped, $code), 'access_denied', 'a user who is not in it');
$s->sql("INSERT INTO svc.group_member (tenant_id, group_id, user_id)"
        . " VALUES ('$acme->{id}', '$group->{id}', '$ada->{id}')");
is(redeem($s, $grouped, code($acme, $grouped, $ada))->status, 200, 'one who is');


# --- targets and scopes ----------------------------------------------------------

$t = redeem($s, $web, code($acme, $web, $ada, resources => [ 'urn:a' ]))->json;
is((claims($t->{access_token}))[1]{aud}, 'urn:a', 'the only resource');
$t = redeem($s, $web, code($acme, $web, $ada, resources => [ 'urn:a', 'urn:b' ]),
            resource => 'urn:b')->json;
is((claims($t->{access_token}))[1]{aud}, 'urn:b', 'one of them');

# The token is for the resource as its application has registered it, however it was
# spelled.

application($acme, name => 'RS', resourceUri => 'https://rs.test');
$t = redeem($s, $web, code($acme, $web, $ada, scopes => \@ALL,
                           resources => [ 'HTTPS://RS.test:443/' ],
                           resource_keys => [ 'https://rs.test/' ]))->json;
is((claims($t->{access_token}))[1]{aud}, 'https://rs.test', 'for it, by a code');

for my $uri ('https://rs.test/', 'https://RS.test:443', undef) {
    $t = form($s, token => { grant_type => 'refresh_token', refresh_token => $t->{refresh_token},
                             defined $uri ? (resource => $uri) : () }, client => $web)->json;
    is((claims($t->{access_token}))[1]{aud}, 'https://rs.test',
       'for it, refreshed as ' . ($uri // 'nothing'));
}

set(application => $web->{clientId}, "scopes = '{openid}'");
$t = redeem($s, $web, code($acme, $web, $ada, scopes => \@ALL))->json;
is($t->{scope}, 'offline_access openid', 'what the client has today');
set(application => $web->{clientId}, "scopes = '{email,invoices:read,openid,profile}',"
                                     . " grant_types = '{authorization_code}'");
$t = redeem($s, $web, code($acme, $web, $ada, scopes => \@ALL))->json;
ok(!exists $t->{refresh_token}, 'a client that does not refresh any more');
set(application => $web->{clientId}, "grant_types = '{authorization_code,refresh_token}'");


# --- agents ----------------------------------------------------------------------

my $agent = application($acme, %WEB, name => 'Agent', type => 'agent',
                        grantTypes => [ qw(authorization_code refresh_token) ]);
my $agents = "client_id = '$agent->{clientId}'";

$code = code($acme, $agent, $ada, scopes => \@ALL, resources => [ 'urn:a' ]);
$t = redeem($s, $agent, $code)->json;
($head, $claims) = claims($t->{access_token});
is_deeply($claims->{act}, { sub => $agent->{clientId} }, 'an agent is an actor');
is($claims->{sub}, $ada->{id}, 'of a user');
is($t->{expires_in}, 900, 'for a while');

my $q = 'SELECT client_name, subject_type, subject_id, chain, grant_type, audience, scopes,'
        . ' outcome, reason, token_jti, parent_jti, bound, ip, request_id IS NOT NULL,'
        . ' extract(epoch FROM expires_at - created_at)::int FROM svc.delegation';

is_deeply([ $s->sql("$q WHERE $agents") ],
          [ [ 'Agent', 'user', $ada->{id}, "{$agent->{clientId}}", 'authorization_code',
              'urn:a', '{email,invoices:read,offline_access,openid,profile}', 'granted',
              undef, $claims->{jti}, undef, 'f', '127.0.0.1', 't', 900 ] ],
          'which is in the journal');
is($s->sql('SELECT chain FROM svc.oauth_token WHERE jti = ' . "'$claims->{jti}'"),
   "{$agent->{clientId}}", 'and in the row');

set(application => $agent->{clientId}, "max_token_ttl = 60, allowed_scopes = '{openid}',"
    . " allowed_audiences = '{urn:a}', allowed_audience_keys = '{urn:a}'");
my @at = (resources => [ 'urn:a' ]);

$t = redeem($s, $agent, code($acme, $agent, $ada, scopes => \@ALL, @at))->json;
is($t->{scope}, 'offline_access openid', 'a ceiling of scopes');
is($t->{expires_in}, 60, 'of time');
is((claims($t->{access_token}))[1]{aud}, 'urn:a', 'the only audience');
like($t->{refresh_token}, qr/\Asrt_/, 'still what was granted');

my $before = $s->sql('SELECT count(*) FROM svc.delegation');

bad(redeem($s, $agent, code($acme, $agent, $ada, scopes => [ 'profile' ], @at)),
    'invalid_scope', 'above it');
bad(redeem($s, $agent, code($acme, $agent, $ada)), 'invalid_target',
    'what was granted for the issuer is not for the only audience of today');
bad(redeem($s, $agent, code($acme, $agent, $ada, resources => [ 'urn:b' ])),
    'invalid_target', 'another audience');
set(application => $agent->{clientId}, "allowed_scopes = '{}'");
bad(redeem($s, $agent, code($acme, $agent, $ada, @at)), 'invalid_scope', 'none at all');
set(application => $agent->{clientId},
    "expires_at = now() - interval '1 ms', allowed_scopes = NULL");
$code = code($acme, $agent, $ada);
bad(redeem($s, $agent, $code), 'invalid_grant', 'an agent that has expired');
ok(!spent($code), 'the code stays');
is($s->sql('SELECT count(*) FROM svc.delegation'), $before, 'nothing of which is delegated');
is(join(' ', map { join ':', @$_ } $s->sql('SELECT type, occurrences FROM svc.agent_anomaly'
                                           . ' ORDER BY type')),
   'audience_denied:2 expired_use:1 scope_denied:2', 'but is unusual');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
