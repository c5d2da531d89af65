#!/usr/bin/perl

# Shows GET and POST /oauth/logout, and POST /v1/oauth/logout: which session ends at
# once, when the user is asked, and where the browser goes then.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256 sha256);
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::OAuth qw(oauth_server application form claims escape unescape);
use SvcTest::Skip;

needs(perl => 'Crypt::PK::ECC');

require Crypt::PK::ECC;

my $s = oauth_server(svc => { svc_login_url => '/signin/?x=1' })->start;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $base = 'http://127.0.0.1:' . $s->port;
my $CB = 'https://app.test/cb';
my $OUT = 'https://app.test/out';
my $VERIFIER = 'v' x 43;

$s->secret($PASSWORD);
with_password($s, $acme, userName => $_) for qw(ada@acme.test bob@acme.test);
with_password($s, $globex, userName => 'eve@globex.test');

my %WEB = (type => 'web', requireConsent => JSON::PP::false, redirectUris => [ $CB ],
           postLogoutRedirectUris => [ $OUT, "$OUT?a=b" ], signingAlg => 'ES256');
my $web = application($acme, %WEB);
my $other = application($acme, %WEB, postLogoutRedirectUris => [ 'https://other.test/' ]);
my $theirs = application($globex, %WEB);


sub browser {
    my ($email, $tenant) = @_;

    my $b = SvcTest::Browser->new($s, tenant => $tenant // 'acme');

    $b->login($email)->status == 200 or die "no session of $email\n";

    return $b;
}


sub query {
    my (@pairs) = @_;

    my @text;

    while (my ($name, $value) = splice @pairs, 0, 2) {
        push @text, join '=', map { escape($_) } $name, $value if defined $value;
    }

    return join '&', @text;
}


# Returns what a client gets for a browser that has signed in.

sub tokens {
    my ($b, $app) = @_;

    $app //= $web;

    my $r = $b->get('/oauth/authorize?' . query(
        client_id => $app->{clientId}, redirect_uri => $CB, response_type => 'code',
        scope => 'openid', code_challenge => encode_base64url(sha256($VERIFIER)),
        code_challenge_method => 'S256'));
    my ($code) = ($r->header('Location') // '') =~ /[?&]code=([\w-]+)/ or die $r->body;

    $s->secret($code);
    $r = form($s, token => { grant_type => 'authorization_code', code => $code,
                             redirect_uri => $CB, code_verifier => $VERIFIER },
              client => $app);
    $r->status == 200 or die $r->body;

    return $r->json;
}

sub id_token { return tokens(@_)->{id_token} }


sub logout {
    my ($b, @pairs) = @_;

    return $b->get('/oauth/logout?' . query(@pairs));
}


# Expects a 303, and that the session lives or has ended.

sub leads {
    my ($r, $to, $b, $alive, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is_deeply([ $r->status, map { $r->header($_) } qw(Location Cache-Control Referrer-Policy) ],
              [ 303, $to, 'no-store', 'no-referrer' ], $name) or diag($r->body);
    is($b->get('/v1/auth/session')->status, $alive ? 200 : 401,
       $alive ? '... and the session lives' : '... and there is no session') if $b;
}

sub asks { return '/signin/?x=1&logout=' . escape(query(@_)) }

my $OVER = '/signin/?x=1&signed_out=1';


# Expects that the page asks, with the endpoint's request, and checks what a yes does.

sub asked {
    my ($who, $target, $name, @pairs) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my %pairs = @pairs;
    my $sorted = query(map { $_ => $pairs{$_} } grep { exists $pairs{$_} }
                       qw(state client_id id_token_hint post_logout_redirect_uri));
    my $r = logout($who, @pairs);

    leads($r, '/signin/?x=1&logout=' . escape($sorted), $who, 1, "$name: asks");

    my ($request) = $r->header('Location') =~ /logout=(.*)/;

    $r = $who->post('/v1/oauth/logout', { request => unescape($request) });
    is_deeply([ $r->status, $r->json, $r->header('Cache-Control') ],
              [ 200, { redirectTo => $target }, 'no-store' ], "$name: yes") or diag($r->body);
    is($who->get('/v1/auth/session')->status, 401, "$name: the session has ended");
}


sub refused {
    my ($r, $like, $b, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is_deeply([ $r->status, eval { $r->json->{error} }, $r->header('Location') ],
              [ 400, 'invalid_request', undef ], "$name: 400 invalid_request") or diag($r->body);
    like($r->json->{error_description}, $like, '... says why');
    is($b->get('/v1/auth/session')->status, 200, '... and the session lives') if $b;
}


# --- the browser's own session --------------------------------------------------------

my $b = browser('ada@acme.test');
my $far = browser('ada@acme.test');
my $hint = id_token($b);
my $r = logout($b, id_token_hint => $hint, post_logout_redirect_uri => $OUT, state => 'a b&c=');

leads($r, "$OUT?state=a%20b%26c%3D", undef, 0, 'its own: goes back at once, with the state');
is_deeply([ sort +($r->header('Set-Cookie') // '') =~ /(\w+)=; /g ],
          [ qw(svc_csrf svc_session) ], 'the cookies go');
is($b->get('/v1/auth/session')->status, 401, 'the session has ended');
is($far->get('/v1/auth/session')->status, 200, 'one of another browser has not');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'session.revoked'"
           . " AND actor_type = 'user'"), 1, 'the audit log has it');

leads(logout($b, id_token_hint => $hint, post_logout_redirect_uri => "$OUT?a=b", state => 'x'),
      "$OUT?a=b&state=x", undef, 0, 'again: there is no session, and it goes back');
leads(logout($b, id_token_hint => $hint), $OVER, undef, 0, 'or to the page');

$b = browser('ada@acme.test');
leads(logout($b, id_token_hint => id_token($b), client_id => $web->{clientId}), $OVER, $b, 0,
      'without a URI');

$b = browser('ada@acme.test');
$hint = id_token($b);
is($b->post('/v1/auth/sessions/revoke-others')->status, 200, 'a session under another secret');
leads(logout($b, id_token_hint => $hint, post_logout_redirect_uri => $OUT), $OUT, $b, 0,
      'is the same one');
is($far->get('/v1/auth/session')->status, 401, 'the other one went before');

$b = browser('ada@acme.test');
$hint = id_token($b);
$r = $b->ask(HEAD => '/oauth/logout?' . query(id_token_hint => $hint));
is_deeply([ $r->status, $b->get('/v1/auth/session')->status ], [ 303, 200 ],
          'HEAD ends nothing');

$r = $b->get('/oauth/t/acme/logout?' . query(id_token_hint => $hint,
                                             post_logout_redirect_uri => $OUT));
leads($r, $OUT, $b, 0, 'below the issuer');


{
    my $rsa = application($acme, %WEB, signingAlg => 'RS256');

    $b = browser('ada@acme.test');
    leads(logout($b, id_token_hint => id_token($b, $rsa), post_logout_redirect_uri => $OUT),
          $OUT, $b, 0, 'a hint that was signed by RS256');
}

# An ID token that has expired is a hint, too (RP-Initiated Logout 1.0, 2): it has the
# claims of a good one of a year ago, signed by a key of the tenant.

{
    my $key = Crypt::PK::ECC->new->generate_key('secp256r1');
    my $kid = 'e' x 43;
    my $public = JSON::PP->new->encode({ %{ $key->export_key_jwk('public', 1) }, kid => $kid,
                                         alg => 'ES256', use => 'sig' });

    $s->sql("INSERT INTO svc.oauth_key (tenant_id, kid, public, sealed) VALUES ('$acme->{id}',"
            . " '$kid', '$public', '\\x00')");

    my $year = 365 * 86_400;
    my $of = sub {
        my (undef, $claims) = claims(id_token($_[0]));
        my $text = join '.', map { encode_base64url(JSON::PP->new->encode($_)) }
                   { alg => 'ES256', typ => 'JWT', kid => $kid },
                   { %$claims, map { $_ => $claims->{$_} - $year } qw(iat exp auth_time) };

        return "$text." . encode_base64url($key->sign_message_rfc7518($text, 'SHA256'));
    };

    $b = browser('ada@acme.test');
    $hint = $of->($b);
    cmp_ok((claims($hint))[1]{exp}, '<', time, 'a hint that has expired');
    leads(logout($b, id_token_hint => $hint, post_logout_redirect_uri => $OUT, state => 'x'),
          "$OUT?state=x", undef, 0, '... ends its session at once');
    is($b->get('/v1/auth/session')->status, 401, '... which has ended');

    my $bystander = browser('bob@acme.test');

    asked($bystander, $OUT, "another user's, which has expired", id_token_hint => $hint,
          post_logout_redirect_uri => $OUT);
    $b = browser('ada@acme.test');
    $hint = $of->($b);
    substr $hint, -1, 1, substr($hint, -1) eq 'A' ? 'Q' : 'A';
    asked($b, undef, 'one that has expired, and was changed', id_token_hint => $hint,
          post_logout_redirect_uri => $OUT);
    $s->sql("DELETE FROM svc.oauth_key WHERE kid = '$kid'");
}


# --- when the user is asked -------------------------------------------------------------

my $there = browser('ada@acme.test');
my $bob = browser('bob@acme.test');
my $eve = browser('eve@globex.test', 'globex');
my %hint = (there => id_token($there), bob => id_token($bob), eve => id_token($eve, $theirs));
my @URI = (post_logout_redirect_uri => $OUT);

asked(browser('ada@acme.test'), $OUT, "another browser's", id_token_hint => $hint{there}, @URI);
asked(browser('ada@acme.test'), undef, '... without a URI', id_token_hint => $hint{there});
asked(browser('ada@acme.test'), "$OUT?state=x", "another user's", id_token_hint => $hint{bob},
      @URI, state => 'x');
asked(browser('ada@acme.test'), undef, 'no hint');
asked(browser('ada@acme.test'), undef, 'no hint and no client', @URI);
asked(browser('ada@acme.test'), $OUT, 'no hint, a client', client_id => $web->{clientId}, @URI);
is($_->get('/v1/auth/session')->status, 200, 'the others live') for $there, $bob;

my $nobody = SvcTest::Browser->new($s, tenant => 'acme');

leads(logout($nobody, client_id => $web->{clientId}, @URI),
      asks(client_id => $web->{clientId}, @URI), undef, 0, 'no hint and no session: asks');
leads(logout($nobody), '/signin/?x=1&logout=', undef, 0, 'nothing at all: asks');
leads(logout($eve, id_token_hint => $hint{there}, @URI), $OUT, $eve, 1,
      'a session of another tenant is none');

# These are no ID tokens of the client.

my ($head, $payload, $signature) = split /\./, $hint{there};
my $jwk = $s->http(GET => '/oauth/t/acme/jwks')->body;
my $jwt = sub { join '.', map { encode_base64url($_) } @_ };
my (undef, $claims) = claims($hint{there});
my $json = JSON::PP->new->canonical;
my $kid = (claims($hint{there}))[0]{kid};
my $hs = encode_base64url($json->encode({ alg => 'HS256', kid => $kid, typ => 'JWT' }))
         . ".$payload";
my $changed = encode_base64url($json->encode({ %$claims, sub => 'x' }));
my %BAD = (
    'another payload' => "$head.$changed.$signature",
    'no signature' => "$head.$payload.",
    'alg none' => encode_base64url('{"alg":"none"}') . ".$payload.",
    'HS256 by the public key' => "$hs." . encode_base64url(hmac_sha256($hs, $jwk)),
    'no JWT' => 'x',
    'an access token' => tokens($there)->{access_token},
    'of a client that is none' => $jwt->('{"alg":"ES256","kid":"' . 'k' x 43 . '"}',
                                         '{"aud":"app_' . '0' x 32 . '"}', 's' x 64),
    'of two clients' => $jwt->('{"alg":"ES256","kid":"' . 'k' x 43 . '"}',
                               $json->encode({ aud => [ ($web->{clientId}) x 2 ] }), 's' x 64),
);

for my $name (sort keys %BAD) {
    asked(browser('ada@acme.test'), undef, $name, id_token_hint => $BAD{$name}, @URI);
    leads(logout($nobody, id_token_hint => $BAD{$name}, @URI),
          asks(id_token_hint => $BAD{$name}, @URI), undef, 0, '... also without a session');
}

asked(browser('ada@acme.test'), undef, 'the client is named, the hint is bad',
      client_id => $web->{clientId}, id_token_hint => 'x', @URI);


# --- what is refused ----------------------------------------------------------------------

$b = browser('ada@acme.test');
$hint = id_token($b);

refused(logout($b, id_token_hint => $hint, post_logout_redirect_uri => $_),
        qr/post_logout_redirect_uri/, $b, $_)
    for "$OUT/", 'https://app.test/OUT', "$OUT?a=c", 'https://evil.test/', $CB,
        'https://other.test/', 'javascript:alert(1)';
refused(logout($b, client_id => $web->{clientId}, post_logout_redirect_uri => "$OUT/"),
        qr/post_logout_redirect_uri/, $b, 'no hint: not one of the client');
refused(logout($b, id_token_hint => $hint, client_id => $other->{clientId}, @URI),
        qr/client_id/, $b, "another client's hint");
refused(logout($b, client_id => $_, @URI), qr/client_id/, $b, "client_id $_")
    for 'x', 'app_' . '0' x 32;
refused(logout($b, id_token_hint => $hint, state => 'x', state => 'y'), qr/state/, $b,
        'a parameter twice');
refused(logout($b, id_token_hint => $hint, @URI, state => 'x' x 2049), qr/state/, $b,
        'too long a state');
refused($b->get('/oauth/logout?state=%ff'), qr/UTF-8/, $b, 'no UTF-8');
refused($b->get('/oauth/t/globex/logout?' . query(client_id => $web->{clientId}, @URI)),
        qr/client_id/, $b, 'below the issuer of another tenant');

$r = $b->ask(GET => '/oauth/logout?' . query(id_token_hint => $hint,
                                             post_logout_redirect_uri => 'https://evil.test/'),
             undef, Accept => 'text/html');
is($r->status, 400, 'a browser');
like($r->header('Content-Type'), qr{\Atext/html}, '... sees a page');

for my $request ('client_id=' . $web->{clientId} . '&post_logout_redirect_uri=x', 'a=%', 1) {
    admin_error($b->post('/v1/oauth/logout', { request => $request }), 400,
                'invalid_request', "the page's: $request");
}

is($b->get('/v1/auth/session')->status, 200, 'the session lives');


# --- POST ---------------------------------------------------------------------------------

my @FORM = ('Content-Type' => 'application/x-www-form-urlencoded');
my $body = query(state => "\x{c3}\x{a9}", id_token_hint => $hint, @URI);

for my $path ('/oauth/logout', '/oauth/t/acme/logout') {
    $r = $b->ask(POST => $path, $body, @FORM);
    leads($r, "$path?$body", $b, 1, "POST $path leads to GET");
}

$r = $b->get($r->header('Location'));
leads($r, "$OUT?state=%C3%A9", $b, 0, 'which does it');
$b = browser('ada@acme.test');
refused($b->ask(POST => '/oauth/logout?state=x', $body, @FORM), qr/body/, $b, 'a query');
refused($b->ask(POST => '/oauth/logout', '{}', 'Content-Type' => 'application/json'),
        qr/Content-Type/, $b, 'no form');
is($b->ask(DELETE => '/oauth/logout')->status, 405, 'no other method');


# --- the page's own call ------------------------------------------------------------------

my %YES = (request => query(client_id => $web->{clientId}, @URI));

for my $row ([ 'no token', 'X-CSRF-Token' => undef ], [ 'another token', 'X-CSRF-Token' => 'x' x 22 ],
             [ 'another origin', Origin => 'https://evil.test' ],
             [ 'another site', 'Sec-Fetch-Site' => 'cross-site' ])
{
    my ($name, @headers) = @$row;

    for my $request ($YES{request}, '') {
        admin_error($b->ask(POST => '/v1/oauth/logout', { request => $request }, @headers), 403,
                    'csrf_failed', $name);
    }
}

is($b->get('/v1/auth/session')->status, 200, 'nothing has ended the session');
is($b->get('/v1/oauth/logout')->status, 405, 'nor does GET');
admin_error($b->post('/v1/oauth/logout', {}), 400, 'invalid_request', 'which request?');

$r = $nobody->post('/v1/oauth/logout', \%YES);
is_deeply([ $r->status, $r->json ], [ 200, { redirectTo => $OUT } ], 'nobody: as somebody');

$r = $b->post('/v1/oauth/logout', { request => '' });
is_deeply([ $r->status, $r->json, [ sort +($r->header('Set-Cookie') // '') =~ /(\w+)=; /g ] ],
          [ 200, { redirectTo => undef }, [ qw(svc_csrf svc_session) ] ], 'and a request of nobody');
is($b->get('/v1/auth/session')->status, 401, '... ends the session');
$r = $b->post('/v1/oauth/logout', \%YES);
is($r->status, 200, 'again');

# A client that is disabled, and one that is deleted.

$b = browser('ada@acme.test');
$hint = id_token($b, $other);

my $token = $acme->{apps_token};
my $change = sub {
    return $s->http($_[0] => "/v1/applications/$other->{clientId}",
                    [ Authorization => "Bearer $token" ], $_[1])->status;
};

is($change->(PATCH => { enabled => JSON::PP::false }), 200, 'disabled');
leads(logout($b, id_token_hint => $hint, post_logout_redirect_uri => 'https://other.test/'),
      'https://other.test/', $b, 0, 'it signs out all the same');
is($change->('DELETE'), 204, 'deleted');
asked(browser('ada@acme.test'), undef, 'of a client that was', id_token_hint => $hint,
      post_logout_redirect_uri => 'https://other.test/');

done_testing();
