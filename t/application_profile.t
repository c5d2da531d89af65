#!/usr/bin/perl

# Shows what the security profile "fapi2" fills in and freezes, which applications may
# have it, and what becomes of the tokens that were given before.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD);
use SvcTest::Grants qw(code redeem refresh $REDIRECT $VERIFIER);
use SvcTest::Lines;
use SvcTest::OAuth qw(oauth_server application form oauth_error);
use SvcTest::Process qw(wait_for);
use SvcTest::Skip;

needs(python => 'cryptography');

use Crypt::PK::ECC;
use Crypt::PK::RSA;

my ($TRUE, $FALSE) = (JSON::PP::true, JSON::PP::false);

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $token = $acme->token_for('apps:manage,audit:view');

my %WEB = (name => 'Bank', type => 'web', redirectUris => [ $REDIRECT ],
           scopes => [ 'openid' ]);
my %FROZEN = (tokenEndpointAuthMethod => 'private_key_jwt', requirePar => $TRUE,
              requireDpop => $TRUE, requirePkce => $TRUE, signingAlg => 'ES256');
my %OTHER = (tokenEndpointAuthMethod => 'client_secret_basic', requirePar => $FALSE,
             requireDpop => $FALSE, requirePkce => $FALSE, signingAlg => 'RS256');

sub ask {
    my ($method, $path, $body) = @_;

    return $s->http($method, "/v1/applications$path", [ Authorization => "Bearer $token" ],
                    $body);
}

sub key {
    my ($pk, %more) = @_;

    return { keys => [ { %{ $pk->export_key_jwk('public', 1) }, kid => 'a', %more } ] };
}

sub refused {
    my ($r, $member, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    like(admin_error($r, 400, 'invalid_request', $name)->{message}, qr/^"\Q$member\E"/,
         "$name: it says $member");
}

sub frozen {
    my ($app, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is_deeply({ map { $_ => $app->{$_} } keys %FROZEN }, \%FROZEN, $name)
        or diag(explain($app));
}

sub changed {
    my ($id) = @_;

    my $text = $s->sql("SELECT details->>'changed' FROM svc.audit_event"
                       . " WHERE target_id = '$id' AND action = 'application.updated'"
                       . ' ORDER BY id DESC LIMIT 1');

    return join ' ', sort @{ JSON::PP::decode_json($text) };
}

my $keys = key(Crypt::PK::ECC->new->generate_key('secp256r1'));
my $rsa = Crypt::PK::RSA->new->generate_key(256);


# --- a new application --------------------------------------------------------------

my %FAPI = (%WEB, securityProfile => 'fapi2', jwks => $keys);

my $r = ask(POST => '', \%FAPI);
my $app = $r->json;

is($r->status, 201, 'an application of the profile') or diag($r->body);
frozen($app, 'which fills what it demands');
is_deeply([ @$app{qw(securityProfile jwks clientSecret secretRotatedAt)} ],
          [ 'fapi2', $keys, undef, undef ], 'it has keys, and no secret');
is($s->sql("SELECT count(*) FROM svc.oauth_login WHERE client_id = '$app->{clientId}'"
           . " AND kind = 'secret'"), 0, 'nobody finds it by one');
is(ask(POST => '', { %FAPI, %FROZEN })->status, 201, 'a body may say so itself');

for my $member (sort keys %OTHER) {
    refused(ask(POST => '', { %FAPI, $member => $OTHER{$member} }), $member,
            "a new one with another $member");
}

refused(ask(POST => '', { %FAPI, jwks => undef }), 'jwks', 'without keys');
refused(ask(POST => '', { %FAPI, jwks => key($rsa, alg => 'RS256') }), 'jwks',
        'with a key for RS256 alone');
is(ask(POST => '', { %FAPI, jwks => key($rsa) })->status, 201, 'an RSA key can do PS256');
refused(ask(POST => '', { %FAPI, type => $_ }), 'securityProfile', "of the type $_")
    for qw(spa native);
refused(ask(POST => '', { %FAPI, redirectUris => [ $REDIRECT, 'http://127.0.0.1/cb' ] }),
        'redirectUris', 'an answer in the clear');
refused(ask(POST => '', { %FAPI, securityProfile => 'fapi1' }), 'securityProfile',
        'another profile');

for my $type (qw(m2m agent)) {
    my $service = ask(POST => '', { name => 'x', type => $type, securityProfile => 'fapi2',
                                    jwks => $keys });

    is($service->status, 201, "$type: there may be one") or diag($service->body);
    frozen($service->json, "$type: the same of it");
}


# --- what is frozen -----------------------------------------------------------------

my $id = $app->{clientId};

for my $member (sort keys %OTHER) {
    refused(ask(PATCH => "/$id", { $member => $OTHER{$member} }), $member,
            "another $member later");
}

refused(ask(PATCH => "/$id", { tokenEndpointAuthMethod => 'client_secret_basic',
                               jwks => undef }), 'tokenEndpointAuthMethod', 'a secret later');
refused(ask(PATCH => "/$id", { jwks => undef }), 'jwks', 'no keys later');
refused(ask(PATCH => "/$id", { redirectUris => [ 'http://localhost/cb' ] }), 'redirectUris',
        'a URI in the clear later');
is_deeply(ask(GET => "/$id")->json, $app, 'it is as it was');
is_deeply(ask(PATCH => "/$id", $app)->json, $app, 'put back as it was read');
is(ask(PATCH => "/$id", { name => 'Other', scopes => [ 'openid', 'profile' ] })->status, 200,
   'all else can be changed');

$r = ask(PATCH => "/$id", { securityProfile => undef });
frozen($r->json, 'without the profile the members stay');
is($r->json->{securityProfile}, undef, 'and it has none');
is(changed($id), 'securityProfile', 'the audit log says so');
is(ask(PATCH => "/$id", { requirePar => $FALSE, signingAlg => 'RS256' })->status, 200,
   'and are frozen no more');

$r = ask(PATCH => "/$id", { securityProfile => 'fapi2' });
frozen($r->json, 'it fills them again, with the keys that there are');
is(changed($id), 'requirePar securityProfile signingAlg', 'the audit log says which');

$r = ask(PATCH => "/$id", { securityProfile => undef, requireDpop => $FALSE });
is_deeply([ @{ $r->json }{qw(securityProfile requireDpop)} ], [ undef, $FALSE ],
          'both at once');


# --- tokens that were given before --------------------------------------------------

my $ada = $acme->create(userName => 'ada@acme.test');
my $web = application($acme, %WEB, accessTokenFormat => 'opaque');
my $path = "/$web->{clientId}";
my %grant = (scopes => [ qw(openid offline_access) ]);
my $given = redeem($s, $web, code($acme, $web, $ada, %grant))->json;
my $code = code($acme, $web, $ada, %grant);

sub userinfo {
    return $s->http(GET => '/oauth/userinfo',
                    [ Authorization => "Bearer $given->{access_token}" ])->status;
}

is(userinfo(), 200, 'a bearer token is good');
refused(ask(PATCH => $path, { securityProfile => 'fapi2' }), 'jwks', 'no keys, no profile');
is(userinfo(), 200, 'which has changed nothing');
$r = ask(PATCH => $path, { securityProfile => 'fapi2', jwks => $keys });
frozen($r->json, 'with keys there is one');
is(userinfo(), 401, 'the bearer token has ended');
oauth_error(refresh($s, $web, $given->{refresh_token}), 401, 'invalid_client',
            'nobody refreshes by the secret');

# Without the profile and with another secret, what was given before stays dead.

$r = ask(PATCH => $path, { securityProfile => undef, requireDpop => $FALSE, jwks => undef,
                           tokenEndpointAuthMethod => 'client_secret_basic' });
is($r->status, 200, 'a secret in place of the keys') or diag($r->body);
$web->{clientSecret} = ask(POST => "$path/secret", {})->json->{clientSecret};
$s->secret($web->{clientSecret});
is(userinfo(), 401, 'it stays so');
oauth_error(refresh($s, $web, $given->{refresh_token}), 400, 'invalid_grant',
            'of the refresh token');
oauth_error(redeem($s, $web, $code), 400, 'invalid_grant', 'and of a code');
is(redeem($s, $web, code($acme, $web, $ada, %grant))->status, 200,
   'what is granted since is good');


# Tokens that are given while the profile is being stored end with the others: another
# transaction holds up the statements after the cut-off.

my $lines = SvcTest::Lines->new($s->root . '/t/lib/assertion');
my $public = $lines->ask({ key => 'a' })->{jwk};

sub proved {
    my ($client) = @_;

    my $aud = 'http://127.0.0.1:' . $s->port . '/oauth/t/acme';
    my $text = $lines->ask({ key => 'a', client => $client->{clientId},
                             aud => $aud })->{assertion};

    $s->secret($text);

    return (client_assertion => $text, client_assertion_type =>
            'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
}

sub active {
    my ($client, $shown) = @_;

    my $r = form($s, introspect => { token => $shown, proved($client) });

    $r->status == 200 or die 'POST /oauth/introspect: ' . $r->body . "\n";

    return $r->json->{active};
}

for my $stays (0, 1) {
    my $client = application($acme, %WEB, type => 'agent', jwks => { keys => [ $public ] },
                             tokenEndpointAuthMethod => 'private_key_jwt', grantTypes =>
                             [ qw(authorization_code client_credentials refresh_token) ]);
    my $id = $client->{clientId};
    my $of = code($acme, $client, $ada, %grant);
    my $holder = $s->connect_as('postgres');

    $holder->query('BEGIN');
    $holder->query(<<"EOT");
INSERT INTO svc.oauth_login (digest, tenant_id, client_id, kind)
SELECT sha256('\\x03' || convert_to(client_id, 'UTF8') || '\\x00'
              || sha256(convert_to(jwks::text || ' fapi2', 'UTF8'))), tenant_id, client_id, 'keys'
  FROM svc.application WHERE client_id = '$id'
EOT

    my $c = $s->begin(PATCH => "/v1/applications/$id",
                      [ Authorization => "Bearer $token", 'Content-Type' => 'application/json' ],
                      '{"securityProfile":"fapi2"}');

    ok((wait_for { return $s->waiting == 1 }), 'the profile waits');

    my $own = form($s, token => { grant_type => 'client_credentials', proved($client) })->json;
    my $users = form($s, token => { grant_type => 'authorization_code', code => $of->{code},
                                    redirect_uri => $REDIRECT, code_verifier => $VERIFIER,
                                    proved($client) })->json;

    my @given = ($own->{access_token}, @$users{qw(access_token refresh_token)});

    $s->secret($_) for @given, $users->{id_token};
    is(scalar(grep { active($client, $_) } @given), 3, 'what is given meanwhile is good');

    $c->close if !$stays;
    $holder->query('ROLLBACK');
    is($c->read->json->{securityProfile}, 'fapi2', 'the profile is there') if $stays;
    ok((wait_for { return !grep { active($client, $_) } @given }),
       $stays ? 'and all of that has ended' : 'it has ended, too, when nobody waits for it');
}


# --- what a session must be fresh for -----------------------------------------------

$s->secret($PASSWORD);

my $owner = SvcTest::Browser::with_password($s, $acme, userName => 'owner@acme.test',
                                            role => 'owner');
my $b = SvcTest::Browser->new($s, tenant => 'acme');

is($b->login('owner@acme.test')->status, 200, 'an owner signs in');
$s->sql('UPDATE svc.session SET mfa_at = NULL, reauth_at = NULL');

my $bank = ask(POST => '', { %WEB, tokenEndpointAuthMethod => 'private_key_jwt',
                             jwks => $keys })->json->{clientId};

$r = $b->ask(PATCH => "/v1/applications/$bank", { securityProfile => 'fapi2' });
is($r->status, 200, 'stricter is not looser') or diag($r->body);
admin_error($b->ask(PATCH => "/v1/applications/$bank", $_), 403, 'step_up_required',
            join ', ', sort keys %$_)
    for { securityProfile => undef }, { jwks => key($rsa) };
$s->sql("UPDATE svc.application SET security_profile = NULL WHERE client_id = '$bank'");
admin_error($b->ask(PATCH => "/v1/applications/$bank", { requirePar => $FALSE }), 403,
            'step_up_required', 'no more PAR');

$s->done;
done_testing;
