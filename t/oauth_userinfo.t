#!/usr/bin/perl

# Shows what GET and POST /oauth/userinfo tell of a user, and for which tokens.

use strict;
use warnings;

use JSON::PP ();
use MIME::Base64 qw(decode_base64url encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Grants qw(grant code redeem refresh $REDIRECT);
use SvcTest::OAuth qw(oauth_server application form claims);

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my %WEB = (type => 'web', redirectUris => [ $REDIRECT ],
           scopes => [ qw(openid profile email invoices:read) ]);

my $web = application($acme, %WEB);
my $opaque = application($acme, %WEB, accessTokenFormat => 'opaque');
my $agent = application($acme, %WEB, type => 'agent', name => 'Agent',
                        grantTypes => [ qw(authorization_code refresh_token) ]);
my $robot = application($acme, name => 'Robot');
my $foreign = application($globex, %WEB);
my $ada = $acme->create(userName => 'ada@acme.test', displayName => "Ada \x{263a}",
                        name => { givenName => 'Ada', familyName => 'Lovelace' },
                        locale => 'en-GB');
my $bare = $acme->create(userName => 'bare@acme.test');
my $eve = $globex->create(userName => 'eve@globex.test');

sub token {
    my ($app, $user, %opt) = @_;

    my $tenant = $app == $foreign ? $globex : $acme;

    return redeem($s, $app, code($tenant, $app, $user, %opt))->json->{access_token};
}

sub userinfo {
    my ($token, $method, %http) = @_;

    return $s->http($method // 'GET', '/oauth/userinfo',
                    [ defined $token ? (Authorization => $token) : () ], undef, %http);
}

sub told { return userinfo("Bearer $_[0]")->json }

sub dead {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($r->status, 401, "$name: 401") or diag($r->body);
    is($r->json->{error}{code}, 'unauthorized', "$name: as the JSON API says it");
    is($r->header('www-authenticate'), 'Bearer error="invalid_token"', "$name: a challenge");
}


# --- claims -----------------------------------------------------------------------

my $t = token($web, $ada, scopes => [ qw(openid profile email) ]);
my $r = userinfo("Bearer $t");

is($r->status, 200, 'a user') or diag($r->body);
is($r->header('cache-control'), 'no-store', 'that is not stored');
is($r->header('access-control-allow-origin'), '*', 'any page may read it');
is($r->header('content-type'), 'application/json', 'as JSON');

my $all = $r->json;

like(delete $all->{updated_at}, qr/\A1[0-9]{9}\z/, 'a time');
is_deeply($all, { sub => $ada->{id}, name => "Ada \x{263a}", given_name => 'Ada',
                  family_name => 'Lovelace', locale => 'en-GB', email => 'ada@acme.test',
                  email_verified => $TRUE }, 'all claims');

$s->sql("UPDATE svc.user_account SET email_verified = false WHERE id = '$ada->{id}'");

is_deeply(userinfo("bEARER  $t", 'POST')->json->{email_verified}, $FALSE, 'by POST');
is_deeply(told(token($web, $ada)), { sub => $ada->{id} }, 'openid alone');
is_deeply(told(token($opaque, $ada, scopes => [ qw(openid email) ])),
          { sub => $ada->{id}, email => 'ada@acme.test', email_verified => $FALSE },
          'e-mail, by an opaque token');
is_deeply([ sort keys %{ told(token($web, $bare, scopes => [ qw(openid profile) ])) } ],
          [ qw(sub updated_at) ], 'what is not known is not told');
$s->sql("UPDATE svc.user_account SET display_name = NULL WHERE id = '$ada->{id}'");
is(told(token($web, $ada, scopes => [ qw(openid profile) ]))->{name}, 'Ada Lovelace',
   'a name of two parts');
is_deeply(told(token($agent, $ada)), { sub => $ada->{id},
                                       act => { sub => $agent->{clientId} } }, 'who acts');
is_deeply(told(token($foreign, $eve)), { sub => $eve->{id} }, 'of another tenant');


# --- what is no token ---------------------------------------------------------------

my ($head, $payload, $signature) = split /\./, $t;
my $none = join '.', encode_base64url('{"alg":"none","typ":"at+jwt"}'), $payload, '';
my $other = (split /\./, token($web, $bare))[1];
my $o = token($opaque, $ada);
my $bytes = decode_base64url(substr $o, 4);
my $code = code($acme, $web, $ada, scopes => [ qw(openid offline_access) ]);
my $answer = redeem($s, $web, $code)->json;

my $globex_id = pack 'H*', $globex->{id} =~ tr/-//dr;

my %DEAD = (
    'no token' => undef,
    'no scheme' => $t,
    'nothing' => 'Bearer ',
    'Basic' => 'Basic eDp4',
    'garbage' => 'Bearer x',
    'dots' => 'Bearer ' . '.' x 2000,
    'two of them' => "Bearer $t $t",
    'another signature' => "Bearer $head.$payload." . ('A' x 86),
    'another payload' => "Bearer $head.$other.$signature",
    'alg none' => "Bearer $none",
    'an ID token' => "Bearer $answer->{id_token}",
    'a refresh token' => "Bearer $answer->{refresh_token}",
    'a code' => 'Bearer ' . code($acme, $web, $ada)->{code},
    'an API token' => "Bearer $acme->{api_token}",
    'an opaque one with another secret' => 'Bearer sat_'
        . encode_base64url(substr($bytes, 0, 32) . 'x' x 32),
    'one of another tenant' => 'Bearer sat_'
        . encode_base64url($globex_id . substr $bytes, 16),
    'a shorter one' => 'Bearer ' . substr($o, 0, -2),
    'for an API' => 'Bearer ' . token($web, $ada, resources => [ 'urn:a' ]),
);

dead(userinfo($DEAD{$_}), $_) for sort keys %DEAD;
dead($s->http(GET => "/oauth/userinfo?access_token=$t"), 'in the query');

# The token may be in a form (RFC 6750, 2.2), as some clients send it.

sub posted {
    my ($body, $type, @headers) = @_;

    return $s->http(POST => '/oauth/userinfo', [ 'Content-Type' => $type, @headers ], $body);
}

my $form = 'application/x-www-form-urlencoded';

is_deeply(posted("x=y&access_token=$t", "$form; charset=utf-8")->json,
          told($t), 'in a form');
is(posted('{', $_, Authorization => "Bearer $t")->status, 200, "$_: another body beside a header")
    for 'application/json', $form, 'text/plain';
dead(posted(@{ $_->[1] }), "in a form, $_->[0]") for (
    [ 'of another type' => [ "access_token=$t", 'text/plain' ] ],
    [ 'twice' => [ "access_token=$t&access_token=$t", $form ] ],
    [ 'garbage' => [ 'access_token=x', $form ] ],
    [ 'nothing' => [ 'access_token=', $form ] ],
    [ 'not encoded' => [ "access_token=$t&x=%zz", $form ] ],
    [ 'and in a header' => [ "access_token=$t", $form, Authorization => "Bearer $t" ] ],
);
is(posted('access_token=' . 'x' x 65536, $form)->status, 413,
   'a form that is too large');

# nginx itself refuses a second Authorization header: the answer is that to a bad
# token.

for my $method (qw(GET POST)) {
    for my $two ([ $t, $t ], [ $t, 'x' ], [ 'x', $t ]) {
        my $name = "$method with two headers";

        $r = $s->http($method => '/oauth/userinfo',
                      [ map { (Authorization => "Bearer $_") } @$two ]);
        dead($r, $name);
        is($r->header('cache-control'), 'no-store', "$name: is not stored");
        is($r->header('access-control-allow-origin'), '*', "$name: any page may read it");
    }
}

dead($s->http(GET => '/oauth/userinfo/', [ map { (Authorization => "Bearer $_") } $t, 'x' ]),
     'with a slash at its end');

# Elsewhere it is a bad request (RFC 9110, 5.3), in the surface's envelope.

for my $case ([ GET => '/oauth/userinfo/x', 'oauth' ], [ POST => '/oauth/token', 'oauth' ],
              [ POST => '/oauth/introspect', 'oauth' ], [ POST => '/oauth/revoke', 'oauth' ],
              [ GET => '/oauth/authorize', 'oauth' ], [ GET => '/oauth/t/acme/jwks', 'oauth' ],
              [ GET => '/v1/applications' ], [ POST => '/v1/oauth/authorization' ])
{
    my ($method, $path, $oauth) = @$case;

    $r = $s->http($method => $path, [ map { (Authorization => "Bearer $_") } $t, 'x' ]);
    is($r->status, 400, "$method $path with two headers: 400");
    is($oauth ? $r->json->{error} : $r->json->{error}{code}, 'invalid_request',
       "$method $path: in its envelope");
    next if $path !~ m{^/oauth/(?:token|introspect|revoke)$};
    is_deeply([ map { $r->header($_) } qw(cache-control pragma) ], [ 'no-store', 'no-cache' ],
              "$path: is not stored");
}

for my $fields ({ grant_type => 'client_credentials' }) {
    my $own = form($s, token => $fields, client => $robot)->json->{access_token};

    $r = userinfo("Bearer $own");
    is($r->status, 403, 'a client\'s own');
    is($r->json->{error}{code}, 'forbidden', 'as the JSON API says it');
    is($r->header('www-authenticate'), 'Bearer error="insufficient_scope", scope="openid"',
       'with what it needs');
}

is(userinfo('Bearer ' . token($web, $ada, scopes => [ 'invoices:read' ]))->status, 403,
   'a user\'s without openid');

$r = $s->http(PUT => '/oauth/userinfo');
is($r->status, 405, 'PUT');
is($r->header('allow'), 'GET, HEAD, POST', 'GET and POST it is');


# --- what ends a token ----------------------------------------------------------------

my %END = (
    'revoked' => sub { form($s, revoke => { token => $_[0] }, client => $web) },
    'a user who was suspended' => sub {
        $s->sql("UPDATE svc.user_account SET status = '$_' WHERE id = '$ada->{id}'")
            for qw(suspended active);
    },
    'a client that is off' => sub {
        $s->sql('UPDATE svc.application SET enabled = false WHERE client_id ='
                . " '$web->{clientId}'");
    },
    'a grant that was revoked' => sub {
        $s->sql('UPDATE svc.oauth_grant SET revoked_at = now()');
    },
    'bound to a key' => sub {
        $s->sql('UPDATE svc.oauth_token SET jkt = ' . "'\\x" . 'ab' x 32 . "'");
    },
    'signed by a key that was revoked' => sub {
        $s->sql("UPDATE svc.oauth_key SET revoked_at = now() WHERE tenant_id = '$acme->{id}'");
    },
);

for my $name (sort keys %END) {
    my $t = token($web, $ada);

    is(userinfo("Bearer $t")->status, 200, "$name: before");
    $END{$name}->($t);
    dead(userinfo("Bearer $t"), $name);

    $s->sql('UPDATE svc.user_account SET valid_after = NULL');
    $s->sql('UPDATE svc.application SET enabled = true');
}

# A location of another tenant.

my $theirs = token($foreign, $eve);

$s->{nginx}{svc}{svc_tenant} = 'acme';
$s->reload;
dead(userinfo("Bearer $theirs"), 'in a location of another tenant');
$s->{nginx}{svc}{svc_tenant} = undef;
$s->reload;
is(userinfo("Bearer $theirs")->status, 200, 'elsewhere it is good');


# --- without PostgreSQL ---------------------------------------------------------------

$s->pg->stop('QUIT');
$r = userinfo("Bearer $theirs");
is($r->status, 503, 'nobody knows');
ok($r->header('retry-after'), 'with Retry-After');
$s->pg->launch;
$s->wait_healthy;
is(userinfo("Bearer $theirs")->status, 200, 'and again');

$s->done(shown => [ qr{ \[info\] .* client sent duplicate header line: } ]);
done_testing();
