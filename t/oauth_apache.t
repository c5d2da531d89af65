#!/usr/bin/perl

# Runs Debian's Apache with mod_auth_openidc in front of pages: users sign in at
# /oauth, and tokens for an API are introspected there.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Apache;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Nginx ();
use SvcTest::OAuth qw(oauth_server application form claims escape);
use SvcTest::Party qw(visit);
use SvcTest::Process qw(run);
use SvcTest::Skip;

needs(program => 'openssl', apache => 'auth_openidc');

my $s = oauth_server(locations => <<'EOT');
        location /.well-known/openid-configuration {
            svc_oauth_metadata on;
        }
        location /.well-known/oauth-authorization-server {
            svc_oauth_metadata on;
        }
EOT

# mod_auth_openidc wants TLS where it introspects.

my $tls = SvcTest::Nginx::free_port();
my $as = "https://127.0.0.1:$tls";
my $dir = $s->dir;
my ($status, $text) = run([
    qw(openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj
       /CN=as -addext subjectAltName=IP:127.0.0.1 -keyout), "$dir/as.key", '-out', "$dir/as.pem"
]);

die "openssl: $text\n" if $status;

$s->nginx->{server} = <<"EOT";
        listen 127.0.0.1:$tls ssl;
        ssl_certificate $dir/as.pem;
        ssl_certificate_key $dir/as.key;
EOT
$s->nginx->{svc} = { %{ $s->nginx->{svc} }, svc_base_url => $as, svc_login_url => '/signin/' };
$s->start;

my $acme = $s->tenant('acme');
my $issuer = "$as/oauth/t/acme";
my $PAGE = join '', map { "$_=<!--#echo var=\"$_\" -->\n" }
           qw(REMOTE_USER OIDC_CLAIM_email OIDC_CLAIM_name OIDC_CLAIM_iss OIDC_access_token);
my $apache = SvcTest::Apache->new($s, map { $_ => $PAGE } qw(page.html fresh.html api.html));
my $rp = $apache->base_url;

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada Lovelace');

with_password($s, $acme, userName => "$_\@acme.test") for qw(bob carl);

my $web = application($acme, name => 'Pages', type => 'web', redirectUris => [ "$rp/redirect" ],
                      postLogoutRedirectUris => [ "$rp/bye" ], signingAlg => 'ES256',
                      scopes => [ qw(openid profile email) ]);
my $api = application($acme, name => 'API', resourceUri => "$rp/api.html");

# A JWT would be too long for mod_auth_openidc's cache.

my $service = application($acme, name => 'Service', accessTokenFormat => 'opaque',
                          scopes => [ qw(read write) ]);

$apache->launch([ qw(authz_user include auth_openidc) ], <<"EOT");
OIDCProviderMetadataURL $issuer/.well-known/openid-configuration
OIDCClientID $web->{clientId}
OIDCClientSecret $web->{clientSecret}
OIDCRedirectURI $rp/redirect
OIDCCABundlePath $dir/as.pem
OIDCCryptoPassphrase "of this test"
OIDCScope "openid profile email offline_access"
OIDCPKCEMethod S256
OIDCIDTokenSignedResponseAlg ES256
OIDCRemoteUserClaim sub
OIDCInfoHook iat access_token refresh_token userinfo

OIDCOAuthIntrospectionEndpoint $as/oauth/introspect
OIDCOAuthIntrospectionEndpointAuth client_secret_basic
OIDCOAuthClientID $api->{clientId}
OIDCOAuthClientSecret $api->{clientSecret}
OIDCOAuthTokenIntrospectionInterval -1
OIDCOAuthRemoteUserClaim sub

SetOutputFilter INCLUDES
Options +Includes

<Location />
    AuthType openid-connect
    Require claim email:ada\@acme.test
</Location>

<Location /fresh.html>
    AuthType openid-connect
    Require valid-user
    OIDCRefreshAccessTokenBeforeExpiry 86400 logout_on_error
</Location>

<Location /api.html>
    AuthType oauth20
    Require claim scope:read
</Location>
EOT


my $b = SvcTest::Browser->new($s, tenant => 'acme');
my $pages = SvcTest::Browser->new($s, port => $apache->{port});


# Gets a page of Apache's.

sub page {
    my ($path, %headers) = @_;

    return $pages->ask(GET => $path =~ s/\A\Q$rp\E//r, undef, Accept => 'text/html', %headers);
}


sub led_to {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($r->status, 302, $name) or diag($r->body);

    return $r->header('Location');
}


# Returns what a page shows of its user.

sub shown {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($r->status, 200, $name) or diag($r->body);

    my %shown = $r->body =~ /^(\w+)=(.*)$/mg;

    $s->secret($shown{OIDC_access_token}) if $shown{OIDC_access_token};

    return \%shown;
}


# Goes from a page to /oauth, signs in, and returns the URL that leads back to Apache.

sub signed_in {
    my ($path, $b, $email, $decision) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $to = visit($b, led_to(page($path), 'nobody'), $email, $decision);

    $s->secret($1) if $to =~ /[?&]code=([\w-]+)/;
    like($to, qr{\A\Q$rp/redirect?\E}, 'comes back');

    return $to;
}


# --- a sign-in --------------------------------------------------------------------

my $to = signed_in('/page.html', $b, 'ada@acme.test');

is(led_to(page($to), 'with a code'), "$rp/page.html", 'to the page');

my $shown = shown(page('/page.html'), 'which is shown');
my $access = delete $shown->{OIDC_access_token};

is_deeply($shown, { REMOTE_USER => $ada->{id}, OIDC_CLAIM_email => 'ada@acme.test',
                    OIDC_CLAIM_name => 'Ada Lovelace', OIDC_CLAIM_iss => $issuer },
          'with what ID token and userinfo say');
is((claims($access))[1]{sub}, $ada->{id}, 'and an access token');
is_deeply([ $s->sql('SELECT count(*), count(used_at) FROM svc.oauth_code') ], [ [ 1, 1 ] ],
          'for which a code was exchanged');

is(shown(page('/page.html'), 'again')->{OIDC_access_token}, $access,
   'it is the same within a session');


# --- refresh ----------------------------------------------------------------------

my @tokens = map { shown(page('/fresh.html'), 'a page for the fresh')->{OIDC_access_token} }
             1, 2;

isnt($tokens[0], $access, 'refreshes');
isnt($tokens[1], $tokens[0], 'each time');

my $info = page('/redirect?info=json')->json;

$s->secret(@$info{qw(access_token refresh_token)});
is($info->{userinfo}{email}, 'ada@acme.test', 'what it knows of the user');
is($info->{access_token}, $tokens[1], 'and keeps');
like($info->{refresh_token}, qr/\Asrt_/, 'with a refresh token');


# --- logout -------------------------------------------------------------------------

my $out = led_to(page('/redirect?logout=' . escape("$rp/bye")), 'a logout');

like($out, qr{\A\Q$issuer\E/logout\?id_token_hint=}, 'is one here, too');
is(visit($b, $out, 'ada@acme.test'), "$rp/bye", 'and leads where it was asked to');
is($s->sql('SELECT reason FROM svc.oauth_grant'), 'revoked', 'and revokes the tokens');
is(form($s, introspect => { token => $info->{access_token} }, client => $web)->body,
   '{"active":false}', 'all of them');

$to = signed_in('/fresh.html', $b, 'ada@acme.test');
like($to, qr/[?&]code=/, 'who has signed in again');
page($to);
shown(page('/fresh.html'), 'signed in again');

sub enable {
    my ($on) = @_;

    my $r = $s->http(PATCH => "/v1/applications/$web->{clientId}",
                     [ Authorization => "Bearer $acme->{apps_token}" ],
                     { enabled => $on ? JSON::PP::true : JSON::PP::false });

    is($r->status, 200, 'the application is ' . ($on ? 'on' : 'off')) or diag($r->body);
}

enable(0);
page('/fresh.html');                # the session ends, since its refresh is refused now
$to = signed_in('/fresh.html', $b, 'ada@acme.test');
like($to, qr/[?&]error=unauthorized_client&/, 'nor sign in');
isnt(page($to)->status, 302, 'which is the end');
enable(1);


# --- users without access -----------------------------------------------------------

$pages->{cookies} = {};
$to = signed_in('/page.html', SvcTest::Browser->new($s, tenant => 'acme'), 'bob@acme.test');
is(led_to(page($to), 'somebody else'), "$rp/page.html", 'is known');
is(page('/page.html')->status, 401, 'and not let in');
is(shown(page('/fresh.html'), 'but there')->{OIDC_CLAIM_email}, 'bob@acme.test', 'as he is');

$pages->{cookies} = {};
$to = signed_in('/page.html', SvcTest::Browser->new($s, tenant => 'acme'), 'carl@acme.test',
                'deny');
like($to, qr/[?&]error=access_denied&/, 'who does not consent');
isnt(page($to)->status, 302, 'is not signed in');

$to = signed_in('/page.html', $b, 'ada@acme.test');
isnt(page($to =~ s/state=/state=x/r)->status, 302, 'nor is one with a state of others');


# --- an API -------------------------------------------------------------------------

my %AT = (resource => "$rp/api.html");

sub token {
    my (%more) = @_;

    my $token = form($s, token => { grant_type => 'client_credentials', %AT, %more },
                     client => $service)->json->{access_token};

    $s->secret($token);

    return $token;
}


sub called {
    my ($token) = @_;

    return page('/api.html', Authorization => "Bearer $token");
}


my $token = token(scope => 'read');

is(shown(called($token), 'an API, with a token')->{REMOTE_USER}, $service->{clientId},
   'knows whose it is');
is(called(token(scope => 'write'))->status, 401, 'not with another scope');
is(called(token(scope => 'read', resource => 'https://other.test/'))->status, 401,
   'nor with a token for another API');
is(form($s, revoke => { token => $token }, client => $service)->status, 200, 'it is revoked');
is(called($token)->status, 401, 'and not good any more');

$apache->stop;
is(join('', $apache->said =~ /^.*\[(?:\w+:)?(?:crit|alert|emerg)\].*$/mg), '',
   'nothing is wrong with Apache');

$s->done;
done_testing;
