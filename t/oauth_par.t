#!/usr/bin/perl

# Shows POST /oauth/par (RFC 9126), and authorization requests with a request_uri:
# whose it is, how long it is good, and how each kind of request goes on.

use strict;
use utf8;
use warnings;

use Digest::SHA qw(sha256 sha256_hex);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Grants qw(redeem $VERIFIER);
use SvcTest::Lines;
use SvcTest::OAuth qw(oauth_server application form oauth_error escape unescape claims);
use SvcTest::Skip;

needs(python => 'cryptography');

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = oauth_server(svc => { svc_login_url => '/signin' })->start;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $base = 'http://127.0.0.1:' . $s->port;
my $iss = "$base/oauth/t/acme";
my $CB = 'https://app.acme.test/cb';
my $URN = 'urn:ietf:params:oauth:request_uri:';
my $PAGE = '/v1/oauth/authorization';
my ($TRUE, $FALSE) = (JSON::PP::true, JSON::PP::false);
my $WRONG = "'request_uri' is unknown, has been used or has expired, or was pushed by another"
            . " client or opened in another browser.";

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');

with_password($s, $acme, userName => 'bob@acme.test');
with_password($s, $globex, userName => 'eve@globex.test');

my %WEB = (type => 'web', redirectUris => [ $CB, 'http://127.0.0.1:9/cb' ], signingAlg => 'ES256',
           scopes => [ qw(openid profile email read) ]);
my $web = application($acme, %WEB, requireConsent => $FALSE);
my $asks = application($acme, %WEB, name => 'Asks');
my $must = application($acme, %WEB, requireConsent => $FALSE, requirePar => $TRUE);
my $spa = application($acme, %WEB, type => 'spa', requireConsent => $FALSE);
my $native = application($acme, %WEB, type => 'native',
                         redirectUris => [ 'http://127.0.0.1/cb' ]);
my $agent = application($acme, %WEB, type => 'agent', requireConsent => $FALSE,
                        grantTypes => [ 'authorization_code' ]);
my $m2m = application($acme);
my $theirs = application($globex, %WEB, requireConsent => $FALSE);
my $dpop = SvcTest::Lines->new($s->root . '/t/lib/dpop');

my %ASK = (redirect_uri => $CB, response_type => 'code', state => 'x y', code_challenge_method =>
           'S256', code_challenge => encode_base64url(sha256($VERIFIER)), scope => 'openid');


sub browser {
    my ($email) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    !$email or $b->login($email)->status == 200 or die "no session of $email\n";

    return $b;
}


# Pushes a client's request; undef removes a parameter.

sub push_it {
    my ($app, %more) = @_;

    my ($path, $headers) = map { delete $more{$_} } qw(path headers);

    return form($s, $path // 'par',
                { %ASK, ($app->{clientSecret} ? () : (client_id => $app->{clientId})), %more },
                ($app->{clientSecret} ? (client => $app) : ()), headers => $headers // []);
}


sub pushed {
    my ($app, %more) = @_;

    my $r = push_it($app, %more);

    $r->status == 201 or die 'POST /oauth/par: ' . $r->status . ' ' . $r->body . "\n";

    return $r->json->{request_uri};
}


sub query {
    my ($app, $uri, %more) = @_;

    my %all = (client_id => ref $app ? $app->{clientId} : $app, request_uri => $uri, %more);

    return join '&', map { "$_=" . escape($all{$_}) } sort keys %all;
}


sub authorize {
    my ($b, $app, $uri, %more) = @_;

    my $path = delete $more{path} // 'authorize';

    return $b->get("/oauth/$path?" . query($app, $uri, %more));
}


# Expects a redirect; returns its parameters.

sub to {
    my ($r, $name, $where, $sign) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $sign //= '?';

    my ($url, $text) = ($r->header('Location') // '') =~ /\A(.*?)\Q$sign\E(.*)\z/s;

    is($r->status, 303, "$name: 303") or diag($r->body);
    is($url, $where, "$name: to where it should");

    my %field = map { unescape($_) } map { split /=/, $_, 2 } split /&/, $text // '';

    $s->secret($field{code}) if $field{code};

    return \%field;
}


sub code_to {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $field = to($r, $name, $CB);

    like($field->{code}, qr/\A[\w-]{43}\z/, "$name: a code");
    is_deeply([ @{$field}{qw(state iss error)} ], [ 'x y', $iss, undef ], "$name: and no more");

    return $field->{code};
}


sub error_to {
    my ($r, $error, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $field = to($r, $name, $CB);

    is_deeply([ @{$field}{qw(error state iss code)} ], [ $error, 'x y', $iss, undef ],
              "$name: $error");

    return $field->{error_description};
}


# Expects a redirect to the page, whose address names the pushed request and nothing
# else.

sub page_to {
    my ($r, $app, $uri, $name, %more) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my ($text) = ($r->header('Location') // '') =~ m{\A/signin\?return_to=([^&#]*)};
    my ($query) = unescape($text // '') =~ m{\A/oauth/authorize\?(.*)\z};
    my %field = map { unescape($_) } map { split /=/, $_, 2 } split /&/, $query // '';

    is($r->status, 303, "$name: to the page") or diag($r->status, ' ', $r->body);

    my $after = delete $field{auth_after};

    is(defined $after, !!delete $more{after}, "$name: after a time") or diag($text);
    is_deeply(\%field, { client_id => $app->{clientId}, request_uri => $uri },
              "$name: which knows the request alone");
    is(($r->header('Location') =~ /&consent=1\z/ || 0) . '', $more{consent} // 0,
       "$name: to be asked, or not");
    like($r->header('Location'), qr/#signup\z/, "$name: for an account") if $more{signup};

    return "/oauth/authorize?$query";
}


sub direct {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is(oauth_error($r, 400, 'invalid_request', $name), $WRONG, "$name: it says no more");
    is($r->header('Location'), undef, "$name: nobody is sent anywhere");
}


sub row {
    my ($uri, $columns) = @_;

    my $digest = sha256_hex(substr $uri, length $URN);

    return scalar $s->sql("SELECT $columns FROM svc.oauth_par WHERE digest = '\\x$digest'");
}


sub change {
    my ($uri, $set) = @_;

    my $digest = sha256_hex(substr $uri, length $URN);

    $s->sql("UPDATE svc.oauth_par SET $set WHERE digest = '\\x$digest'");
}


# Returns the parameters that a page posts.

sub posted {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($r->status, 200, "$name: a page that posts") or diag($r->status, ' ', $r->body);

    my %field = $r->body =~ /name="([^"]+)" value="([^"]*)"/g;

    s/&#(\d+);/chr $1/ge for values %field;
    $s->secret($field{code}) if $field{code};

    return \%field;
}


my $in = browser('ada@acme.test');


# --- the answer -----------------------------------------------------------------------

{
    my $r = push_it($web);

    is($r->status, 201, 'it is taken') or diag($r->body);

    my $json = $r->json;
    my $uri = delete $json->{request_uri};

    like($uri, qr/\A\Q$URN\E[\w-]{43}\z/, 'a request_uri');
    is_deeply($json, { expires_in => 90 }, '... for a minute and a half');
    is($r->header('Cache-Control'), 'no-store', '... which nobody keeps');
    is($r->header('Pragma'), 'no-cache', '... in the words of HTTP/1.0');
    is($r->header('Content-Type'), 'application/json', '... as JSON');
    is($r->header('Access-Control-Allow-Origin'), '*', '... that pages may read');
    unlike($s->sql('SELECT params FROM svc.oauth_par'), qr/client|secret/,
           'what the client proves itself with is not stored');
    is(row($uri, 'client_id'), $web->{clientId}, 'it is found by a digest');

    my $code = code_to(authorize($in, $web, $uri), 'somebody who is signed in');
    my $t = redeem($s, $web, { code => $code }, redirect_uri => $CB);

    is($t->status, 200, 'the code is good');
    is($t->json->{scope}, 'openid', '... for what was pushed');
    is(row($uri, 'used_at IS NOT NULL'), 't', 'it is spent');
    direct(authorize($in, $web, $uri), 'once more');
}

for my $app ($web, $spa, $agent) {
    my $uri = pushed($app);

    code_to(authorize($in, $app, $uri), "$app->{type}");
}

{
    my $uri = pushed($web, path => 't/acme/par');

    code_to(authorize($in, $web, $uri, path => 't/acme/authorize'), 'below the issuer');
    code_to(authorize($in, $web, pushed($web)), 'at a path, and at the other one');
    oauth_error(push_it($web, path => 't/globex/par'), 401, 'invalid_client',
                'pushed at the path of another tenant');
    oauth_error(authorize($in, $web, pushed($web), path => 't/globex/authorize'), 400,
                'invalid_client', 'brought to it');
}

{
    my $r = form($s, 'par', { %ASK, client_id => $web->{clientId},
                              client_secret => $web->{clientSecret} });

    is($r->status, 201, 'a secret in the body');
    code_to(authorize($in, $web, $r->json->{request_uri}), '... it goes on');
    unlike(row($r->json->{request_uri}, 'params'), qr/secret/, '... and is not stored');
}


# --- who may push ---------------------------------------------------------------------

oauth_error(form($s, 'par', { %ASK, client_id => $web->{clientId} }), 400, 'invalid_client',
            'a confidential client without its secret');
oauth_error(push_it({ %$web, clientSecret => 'x' x 43 }), 401, 'invalid_client', 'a wrong one');
oauth_error(push_it({ clientId => 'app_' . '0' x 32, clientSecret => 'x' x 43 }), 401,
            'invalid_client', 'nobody');
oauth_error(form($s, 'par', { %ASK, client_id => 'x' }), 400, 'invalid_client', 'no clientId');
oauth_error(form($s, 'par', \%ASK), 400, 'invalid_client', 'none at all');
oauth_error(push_it({ %$spa, clientSecret => 'x' x 43 }), 401, 'invalid_client',
            'a public client with a secret');
oauth_error(push_it($web, client_id => $asks->{clientId}), 400, 'invalid_request',
            'two clients');
oauth_error(push_it($m2m), 400, 'invalid_request', 'one without redirect URIs');

for (GET => 'PUT', 'DELETE') {
    my $r = $s->http($_ => '/oauth/par');

    oauth_error($r, 405, 'invalid_request', $_);
    is($r->header('Allow'), 'POST', "$_: what there is");
}

{
    my $r = $s->http(OPTIONS => '/oauth/t/acme/par', [ Origin => 'https://x.test' ]);

    is($r->status, 204, 'a page may ask whether it may');
    like($r->header('Access-Control-Allow-Headers'), qr/DPoP/, '... with a proof');
}


# A client may authenticate with an assertion, which may be for this endpoint, and is
# good once.

my $TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
my $signs = SvcTest::Lines->new($s->root . '/t/lib/assertion');
my $keys = application($acme, %WEB, requireConsent => $FALSE,
                       tokenEndpointAuthMethod => 'private_key_jwt',
                       jwks => { keys => [ $signs->ask({ key => 'es', alg => 'ES256',
                                                         settings => {} })->{jwk} ] });

sub assertion {
    my ($aud, %more) = @_;

    my $text = $signs->ask({ key => 'es', client => $keys->{clientId}, aud => $aud,
                             %more })->{assertion};

    $s->secret($text);

    return $text;
}

sub push_by {
    my ($assertion, %more) = @_;

    return form($s, delete $more{path} // 'par',
                { %ASK, client_assertion => $assertion, client_assertion_type => $TYPE, %more });
}

for my $aud ($iss, "$base/oauth/token", "$iss/token", "$base/oauth/par", "$iss/par", [ $iss ]) {
    my $assertion = assertion($aud);
    my $r = push_by($assertion);

    is($r->status, 201, 'an assertion') or diag($r->body);
    unlike(row($r->json->{request_uri}, 'params'), qr/assertion/, '... which is not stored');
    code_to(authorize($in, $keys, $r->json->{request_uri}), '... goes on');

    my $stored = $s->sql('SELECT count(*) FROM svc.oauth_par');

    oauth_error(push_by($assertion), 400, 'invalid_client', '... once');
    oauth_error(push_by($assertion, state => 'x' x 3000), 400, 'invalid_client',
                '... whatever comes with it');
    is($s->sql('SELECT count(*) FROM svc.oauth_par'), $stored, '... and is stored once');
}

oauth_error(push_by(assertion($_)), 400, 'invalid_client', "an assertion for $_")
    for "$base/oauth/revoke", "$iss/authorize", "$base/oauth/t/globex/par", "${iss}/par/",
        "$iss/par/token", $base;
oauth_error(push_by(assertion($iss, key => 'other')), 400, 'invalid_client', 'of another key');
oauth_error(push_by(assertion("$iss/par"), path => 'token', grant_type => 'authorization_code',
                    code => 'x', code_verifier => $VERIFIER), 400, 'invalid_client',
            'at the token endpoint it may not be for this one');
oauth_error(form($s, 'par', { %ASK, client_id => $keys->{clientId} }), 400, 'invalid_client',
            'a client with keys, by its clientId alone');
is(push_by(assertion($iss), client_id => $keys->{clientId}, path => 't/acme/par')->status, 201,
   'with both, below the issuer');


# --- what is wrong with a request -----------------------------------------------------

my @BAD = (
    [ 'no redirect_uri', invalid_request => redirect_uri => undef ],
    [ 'another redirect_uri', invalid_request => redirect_uri => "$CB/" ],
    [ 'request_uri', invalid_request => request_uri => "${URN}x" ],
    [ 'request_uri, of another kind', invalid_request => request_uri => 'https://x.test/' ],
    [ 'request', request_not_supported => request => 'a.b.c' ],
    [ 'no response_type', invalid_request => response_type => undef ],
    [ 'another response_type', unsupported_response_type => response_type => 'token' ],
    [ 'response_mode', invalid_request => response_mode => 'jwt' ],
    [ 'no challenge', invalid_request => code_challenge => undef ],
    [ 'a plain challenge', invalid_request => code_challenge_method => 'plain' ],
    [ 'a long state', invalid_request => state => 'x' x 2049 ],
    [ 'a long nonce', invalid_request => nonce => 'x' x 256 ],
    [ 'max_age', invalid_request => max_age => '-1' ],
    [ 'prompt', invalid_request => prompt => 'none login' ],
    [ 'prompt=create, where nobody signs up', invalid_request => prompt => 'create' ],
    [ 'id_token_hint', invalid_request => id_token_hint => 'a.b.c' ],
    [ 'dpop_jkt', invalid_request => dpop_jkt => 'x' ],
    [ 'claims', invalid_request => claims => '[' ],
    [ 'scope', invalid_scope => scope => 'payments' ],
    [ 'no scope', invalid_scope => scope => '"' ],
    [ 'resource', invalid_target => resource => 'api' ],
    [ 'a name that is none', invalid_request => "a\x00" => 'x' ],
    [ 'no UTF-8', invalid_request => state => "\xff" ],
);

my $before = $s->sql('SELECT count(*) FROM svc.oauth_par');

for (@BAD) {
    my ($name, $error, %more) = @$_;
    my $r = push_it($web, %more);

    oauth_error($r, 400, $error, $name);
    is($r->header('Location'), undef, "$name: nobody is sent anywhere");
}

oauth_error(form($s, 'par', [ %ASK, state => 'b' ], client => $web), 400, 'invalid_request',
            'a parameter twice');
oauth_error(form($s, 'par?x=1', \%ASK, client => $web), 400, 'invalid_request', 'in the query');
oauth_error($s->http(POST => '/oauth/par', [ Authorization => SvcTest::OAuth::basic($web) ], {}),
            400, 'invalid_request', 'JSON');
oauth_error(push_it($web, x => 'y' x 65536), 413, 'invalid_request', 'over 64 KiB');
like(oauth_error(push_it($web, x => 'y' x 16384), 400, 'invalid_request', 'over 16 KiB'),
     qr/16384 bytes/, '... it says how many there may be');
is($s->sql('SELECT count(*) FROM svc.oauth_par'), $before, 'none of them is stored');

{
    my $long = 16384 - length(join '', map { "&$_=" . escape($ASK{$_}) } keys %ASK) - 3;
    my $uri = pushed($web, x => 'y' x $long);

    is(row($uri, 'octet_length(params)'), 16384, 'as many as there may be');
    code_to(authorize($in, $web, $uri), '... are taken');
    oauth_error(push_it($web, x => 'y' x ($long + 1)), 400, 'invalid_request', 'one more');
}

for my $off ('enabled = false', "grant_types = '{}'") {
    my $app = application($acme, %WEB);
    my $uri = pushed($app);

    $s->sql("UPDATE svc.application SET $off WHERE client_id = '$app->{clientId}'");
    oauth_error(push_it($app), 400, 'unauthorized_client', $off);
    error_to(authorize($in, $app, $uri), 'unauthorized_client', "$off, since it was pushed");
    direct(authorize($in, $app, $uri), "$off, once more");
}

{
    my $app = application($acme, %WEB);
    my $uri = pushed($app);

    $s->sql("UPDATE svc.application SET redirect_uris = '{https://x.test/}'"
            . " WHERE client_id = '$app->{clientId}'");
    oauth_error(authorize($in, $app, $uri), 400, 'invalid_request',
                'a redirect URI that is none any more');
    $s->sql("DELETE FROM svc.application WHERE client_id = '$app->{clientId}'");
    oauth_error(authorize($in, $app, $uri), 400, 'invalid_client', 'a client that is gone');
    is(row($uri, 'count(*)'), 0, '... and with it what it has pushed');
}

$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE slug = 'globex'");
oauth_error(push_it($theirs), 400, 'access_denied', 'a tenant that is suspended');
$s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE slug = 'globex'");


# --- whose a request_uri is, and for how long -----------------------------------------

direct(authorize($in, $web, $_), 'never pushed: ' . substr $_, -9)
    for $URN . 'x' x 43, $URN, "${URN}x", $URN . 'x' x 2000;
direct(authorize($in, $asks, pushed($web)), 'of another client');
direct(authorize($in, $theirs, pushed($web)), 'of another tenant');

{
    my $uri = pushed($web);

    change($uri, "created_at = now() - interval '91 s', expires_at = now() - interval '1 s'");
    direct(authorize($in, $web, $uri), 'after 91 seconds');
}

{
    my $uri = pushed($web);
    my $first = browser();
    my $r = authorize($first, $web, $uri);

    page_to($r, $web, $uri, 'nobody yet');
    like($r->header('Set-Cookie'),
         qr/\Asvc_par=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600\z/,
         '... whose browser is known from now on');
    is(row($uri, "expires_at > now() + interval '59 minutes'"), 't', '... for an hour');

    change($uri, "created_at = now() - interval '10 minutes'");
    direct(authorize($in, $web, $uri), 'another browser');
    direct(authorize(browser('ada@acme.test'), $web, $uri), 'another one, without a cookie');
    page_to(authorize($first, $web, $uri), $web, $uri, 'a reload');

    my $other = pushed($web);

    page_to(authorize($first, $web, $other), $web, $other, 'in another tab');
    is($first->login('ada@acme.test')->status, 200, 'a sign-in');
    code_to(authorize($first, $web, $uri), 'it comes back');
    direct(authorize($first, $web, $uri), 'and once more');
    code_to(authorize($first, $web, $other), 'the other tab goes on');

    my $late = pushed($web);

    authorize($first, $asks, $late);
    page_to(authorize(browser(), $web, $late), $web, $late,
            'whoever is refused has not made it his');

    my $hour = pushed($asks);

    page_to(authorize($first, $asks, $hour), $asks, $hour, 'to be asked', consent => 1);
    change($hour, "expires_at = now() - interval '1 ms'");
    direct(authorize($first, $asks, $hour), 'after an hour');
}

for my $cookie ('x', 'x' x 43, 'x' x 44, '') {
    my $uri = pushed($web);
    my $b = browser();

    $b->{cookies}{svc_par} = $cookie;

    page_to(authorize($b, $web, $uri), $web, $uri, 'cookie ' . length $cookie);
    is(length $b->{cookies}{svc_par}, 43, '... it has one');

    my $kept = $b->{cookies}{svc_par};

    $b->{cookies}{svc_par} = 'y' x 43;
    direct(authorize($b, $web, $uri), 'another cookie');
    $b->{cookies}{svc_par} = $kept;
    page_to(authorize($b, $web, $uri), $web, $uri, 'and that one');
}


# --- other parameters beside it -------------------------------------------------------

{
    my $uri = pushed($web, nonce => 'n');
    my $code = code_to(authorize($in, $web, $uri, redirect_uri => 'https://evil.test/',
                                 scope => 'openid read', state => 'z', nonce => 'other',
                                 response_mode => 'fragment', prompt => 'none', max_age => 'x',
                                 code_challenge => 'x', request => 'a.b.c'),
                       'all that is beside it');
    my $t = redeem($s, $web, { code => $code }, redirect_uri => $CB)->json;

    is($t->{scope}, 'openid', '... is not looked at');
    is((claims($t->{id_token}))[1]{nonce}, 'n', '... nor is its nonce');
}

{
    my $uri = pushed($web, auth_after => '9999999999', decided => 'x');

    unlike(row($uri, 'params'), qr/auth_after|decided/, 'what is ours cannot be pushed');
    code_to(authorize($in, $web, $uri), '... and does nothing');
}

{
    my $uri = pushed($web);

    oauth_error($in->get('/oauth/authorize?' . query($web, $uri) . '&request_uri=' . escape($uri)),
                400, 'invalid_request', 'twice there');
    oauth_error($in->get('/oauth/authorize?request_uri=' . escape($uri)), 400, 'invalid_request',
                'without client_id');

    my $r = form($s, 'authorize', { client_id => $web->{clientId}, request_uri => $uri,
                                    state => 'z' });

    is($r->status, 303, 'POST');
    is($r->header('Location'), '/oauth/authorize?' . query($web, $uri), '... is the same by GET');
    is(row($uri, 'browser IS NULL'), 't', '... which opens it');
    is($in->get($r->header('Location'))->status, 303, '... and goes on');
}

error_to($in->get('/oauth/authorize?' . query($web, 'https://x.test/', %ASK)),
         'request_uri_not_supported', 'a request_uri of another kind');


# A pushed state comes back unchanged, whatever it is.

{
    my @bad;

    for (1 .. $ENV{SVC_TEST_FULL} ? 2000 : 200) {
        my $state = join '', map { chr(rand 4 < 3 ? 1 + int rand 126 : 0xa0 + int rand 0x2000) }
                             0 .. rand 60;
        my $field = to(authorize($in, $web, pushed($web, state => $state)), 'drawn', $CB);

        utf8::encode($state);
        push @bad, escape($state) if $field->{state} ne $state;
    }

    is_deeply(\@bad, [], 'states that were drawn');
}


# --- requirePar -----------------------------------------------------------------------

{
    my $plain = join '&', "client_id=$must->{clientId}",
                          map { "$_=" . escape($ASK{$_}) } sort keys %ASK;

    is(error_to($in->get("/oauth/authorize?$plain"), 'invalid_request',
                'a client that must push'),
       "The client must push its requests, and bring a 'request_uri'.", '... it says so');
    code_to(authorize($in, $must, pushed($must)), '... and does');

    is($in->get("$PAGE?$plain")->status, 400, 'nor does the page get round it');
    is($in->post($PAGE, { request => $plain, decision => 'approve', userId => $ada->{id},
                          scopes => [ 'openid' ], resources => [] })->status, 400,
       '... nor a decision');
}


# --- response modes -------------------------------------------------------------------

{
    my $field = to(authorize($in, $web, pushed($web, response_mode => 'fragment')), 'fragment',
                   $CB, '#');

    is_deeply([ sort keys %$field ], [ qw(code iss state) ], '... a code');

    my $uri = pushed($web, response_mode => 'form_post');

    $field = posted(authorize($in, $web, $uri), 'form_post');
    is_deeply([ sort keys %$field ], [ qw(code iss state) ], '... a code');
    direct(authorize($in, $web, $uri), 'it is spent by that');
}

for my $mode (qw(query form_post)) {
    my $uri = pushed($asks, prompt => 'none', response_mode => $mode);
    my $r = authorize($in, $asks, $uri);
    my $field = $mode eq 'query' ? to($r, 'an error', $CB) : posted($r, 'an error');

    is($field->{error}, 'consent_required', "$mode: an error leaves");
    is(row($uri, 'used_at IS NOT NULL'), 't', '... and spends it');
    direct(authorize($in, $asks, $uri), "$mode: once more");
}

error_to(authorize(browser(), $web, pushed($web, prompt => 'none')), 'login_required',
         'prompt=none of nobody');
code_to(authorize($in, $web, pushed($web, prompt => 'none')), 'prompt=none of somebody');


# --- a new sign-in --------------------------------------------------------------------

for my $prompt ('login', 'select_account', 'login consent') {
    my $b = browser('ada@acme.test');
    my $uri = pushed($web, prompt => $prompt);
    my $return = page_to(authorize($b, $web, $uri), $web, $uri, $prompt, after => 1);

    for my $time (0, time - 100, 9999999999, 'x') {
        page_to(authorize($b, $web, $uri, auth_after => $time), $web, $uri,
                "$prompt, auth_after=$time", after => 1);
    }

    is($b->get("$PAGE?" . query($web, $uri, auth_after => 0))->json->{login}, 'required',
       "$prompt: nor does the page take it");
    is($b->login('ada@acme.test')->status, 200, "$prompt: a new one");

    if ($prompt =~ /consent/) {
        page_to($b->get($return), $web, $uri, $prompt, after => 1, consent => 1);

    } else {
        code_to($b->get($return), "$prompt: it comes back");
    }
}

{
    my $b = browser('ada@acme.test');
    my $uri = pushed($web, max_age => 0);
    my $return = page_to(authorize($b, $web, $uri), $web, $uri, 'max_age=0', after => 1);

    is($b->login('ada@acme.test')->status, 200, 'a new one');
    code_to($b->get($return), 'max_age=0: it does');

    code_to(authorize($b, $web, pushed($web, max_age => 600)), 'max_age=600');
    $s->sql("UPDATE svc.session SET auth_time = now() - interval '700 s', created_at = now()"
            . " - interval '700 s' WHERE user_id = '$ada->{id}'");
    $uri = pushed($web, max_age => 600);
    $return = page_to(authorize($b, $web, $uri), $web, $uri, 'an older one', after => 1);
    page_to(authorize($b, $web, $uri, auth_after => 1), $web, $uri, 'whatever the address says',
            after => 1);
    error_to(authorize($b, $web, pushed($web, max_age => 600, prompt => 'none')),
             'login_required', '... and nobody may be asked');
    is($b->login('ada@acme.test')->status, 200, 'a new one');

    # Time has passed: a sign-in that has been done is not asked for again.

    change($uri, "expires_at = expires_at - interval '20 minutes'");
    $s->sql("UPDATE svc.session SET auth_time = now() - interval '11 minutes'"
            . " WHERE user_id = '$ada->{id}' AND auth_time > now() - interval '1 minute'");
    code_to($b->get($return), 'and when he has waited');
}

$in = browser('ada@acme.test');

{
    my $uri = pushed($web, acr_values => 'urn:svc:2', claims =>
                     '{"id_token":{"acr":{"essential":true,"values":["urn:svc:2"]}}}');
    my $b = browser('ada@acme.test');
    my $return = page_to(authorize($b, $web, $uri), $web, $uri, 'a step up', after => 1);

    page_to(authorize($b, $web, $uri), $web, $uri, 'a step up, once more', after => 1);
    is($b->login('ada@acme.test')->status, 200, 'a sign-in that is as before');
    error_to($b->get($return), 'unmet_authentication_requirements', '... does not do');
    direct($b->get($return), '... and is told once');

    $uri = pushed($web, claims =>
                  '{"id_token":{"acr":{"essential":true,"values":["urn:svc:2"]}}}');
    $return = page_to(authorize($b, $web, $uri), $web, $uri, 'a step up', after => 1);
    is($b->login('ada@acme.test')->status, 200, 'a sign-in');
    $s->sql("UPDATE svc.session SET methods = '{password,totp}'"
            . " WHERE user_id = '$ada->{id}' AND auth_time > now() - interval '1 minute'");
    my $t = redeem($s, $web, { code => code_to($b->get($return), 'with two factors') },
                   redirect_uri => $CB)->json;

    is((claims($t->{id_token}))[1]{acr}, 'urn:svc:2', '... it is told');
    code_to(authorize($b, $web, pushed($web, claims =>
            '{"id_token":{"acr":{"essential":true,"values":["urn:svc:2"]}}}')),
            'who reaches it is not asked');
}

{
    $s->sql("UPDATE svc.tenant SET branding = branding || '{\"allowSelfSignup\": true}'"
            . " WHERE slug = 'acme'");

    my $b = browser('ada@acme.test');
    my $uri = pushed($web, prompt => 'create', login_hint => 'new@acme.test');
    my $return = page_to(authorize($b, $web, $uri), $web, $uri, 'prompt=create', after => 1,
                         signup => 1);

    is($b->get("$PAGE?" . query($web, $uri))->json->{loginHint}, 'new@acme.test',
       'who is meant is told to the page alone');
    is($b->login('bob@acme.test')->status, 200, 'whoever has one by now');
    page_to(authorize($b, $web, $uri), $web, $uri, 'a reload asks once more', after => 1,
            signup => 1);
    code_to($b->get($return), 'goes on');
}

{
    my $t = redeem($s, $web, { code => code_to(authorize($in, $web, pushed($web)), 'a code') },
                   redirect_uri => $CB)->json;
    my $uri = pushed($web, id_token_hint => $t->{id_token});

    code_to(authorize($in, $web, $uri), 'id_token_hint');
    page_to(authorize(browser('bob@acme.test'), $web, $uri = pushed($web, id_token_hint =>
            $t->{id_token})), $web, $uri, 'id_token_hint of somebody else');
    $uri = pushed($web, id_token_hint => $t->{id_token} =~ s/.{8}\z/AAAAAAAA/r);
    error_to(authorize($in, $web, $uri), 'invalid_request',
             'a hint that nobody has signed is found out by then');
    direct(authorize($in, $web, $uri), '... and spends it');
}


# --- consent --------------------------------------------------------------------------

sub decide {
    my ($b, $app, $uri, $decision, %more) = @_;

    my $asked = $b->get("$PAGE?" . query($app, $uri))->json;

    return $b->post($PAGE, { request => query($app, $uri), decision => $decision,
                             userId => $asked->{user}{id} // $ada->{id},
                             resources => $asked->{resources} // [],
                             scopes => [ map { $_->{name} } @{ $asked->{scopes} // [] } ],
                             %more });
}

{
    my $uri = pushed($asks, scope => 'openid read');

    is($in->get("$PAGE?" . query($asks, $uri))->status, 400, 'the page opens no request');
    is(row($uri, 'browser IS NULL'), 't', '... indeed');
    page_to(authorize($in, $asks, $uri), $asks, $uri, 'consent', consent => 1);

    my $asked = $in->get("$PAGE?" . query($asks, $uri));

    is($asked->status, 200, 'what it asks for') or diag($asked->body);
    is_deeply([ map { $_->{name} } @{ $asked->json->{scopes} } ], [ qw(openid read) ],
              '... is told');
    is($asked->json->{redirectHost}, 'app.acme.test', '... and where it leads');
    is($asked->json->{loginHint}, undef, '... and not whom it means');

    my $bob = browser('bob@acme.test');

    is($bob->get("$PAGE?" . query($asks, $uri))->status, 400, '... to another browser not');
    is(decide($bob, $asks, $uri, 'approve')->status, 400, '... which cannot decide');
    is(decide($in, $asks, $uri, 'approve', scopes => [ 'openid' ])->status, 409,
       'what was not shown is not granted');
    is(row($uri, 'used_at IS NULL'), 't', '... and spends nothing');

    my $r = decide($in, $asks, $uri, 'approve');

    is($r->status, 200, 'approved') or diag($r->body);
    like($r->json->{redirectTo}, qr/\A\Q$CB?code=\E[\w-]{43}&state=x%20y&iss=[^&]+\z/,
         '... a code');
    is(row($uri, 'used_at IS NOT NULL'), 't', '... it is spent');
    is(decide($in, $asks, $uri, 'approve')->status, 400, 'twice');
    direct(authorize($in, $asks, $uri), 'at the endpoint');
    is($in->get("$PAGE?" . query($asks, $uri, decided => 'x'))->status, 400, 'at the page');
    is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'consent.granted'"), 1,
       'one consent is on record');
    code_to(authorize($in, $asks, pushed($asks, scope => 'openid read')),
            'from now on nobody is asked');
}

{
    my $uri = pushed($asks, prompt => 'consent');

    page_to(authorize($in, $asks, $uri), $asks, $uri, 'prompt=consent', consent => 1);

    my $r = decide($in, $asks, $uri, 'deny');

    like($r->json->{redirectTo}, qr/\A\Q$CB?error=access_denied&\E/, 'refused');
    is(row($uri, 'used_at IS NOT NULL'), 't', '... it is spent');
    is(decide($in, $asks, $uri, 'approve')->status, 400, 'and cannot be approved');
}

for my $decision (qw(approve deny)) {
    my $uri = pushed($asks, prompt => 'consent', response_mode => 'form_post');

    page_to(authorize($in, $asks, $uri), $asks, $uri, 'form_post', consent => 1);

    my $to = decide($in, $asks, $uri, $decision)->json->{redirectTo};
    my $sealed = ($to =~ /&decided=([\w-]+)\z/)[0];

    is($to, '/oauth/authorize?' . query($asks, $uri) . "&decided=$sealed",
       "$decision: back by the endpoint");

    my $field = posted($in->get($to), "$decision, back");

    is(defined $field->{code} ? 'approve' : $field->{error} eq 'access_denied' ? 'deny' : '',
       $decision, "$decision: as was decided");
    is_deeply([ @{$field}{qw(state iss)} ], [ 'x y', $iss ], "$decision: with the rest");
    posted($in->get($to), "$decision, a reload");
    direct(authorize($in, $asks, $uri), "$decision: not without it");
    direct(authorize($in, $asks, $uri, decided => 'x'), "$decision: nor by another one");
    direct(browser('ada@acme.test')->get($to), "$decision: of another browser");

    my $out = browser();

    $out->{cookies}{svc_par} = $in->{cookies}{svc_par};
    direct($out->get($to), "$decision: without the session");

    is(redeem($s, $asks, { code => $field->{code} }, redirect_uri => $CB)->status, 200,
       'the code is good') if $decision eq 'approve';
}

{
    my $uri = pushed($native, redirect_uri => 'http://127.0.0.1:4711/cb');

    page_to(authorize($in, $native, $uri), $native, $uri, 'a native one', consent => 1);
    like(decide($in, $native, $uri, 'approve')->json->{redirectTo},
         qr{\Ahttp://127\.0\.0\.1:4711/cb\?code=}, '... at its port');
}


# --- DPoP -----------------------------------------------------------------------------

sub proof {
    my ($key, $path, %claims) = @_;

    return $dpop->ask({ key => $key, claims => { htu => "$base/oauth/$path", %claims },
                        header => {}, settings => {} });
}

sub token {
    my ($code, $key) = @_;

    return form($s, 'token', { grant_type => 'authorization_code', code => $code,
                               code_verifier => $VERIFIER, redirect_uri => $CB }, client => $web,
                headers => [ DPoP => proof($key, 'token')->{proof} ]);
}

{
    my ($one, $two) = map { proof($_, 'par') } qw(one two);

    for (
        [ 'by a proof', headers => [ DPoP => $one->{proof} ] ],
        [ 'by a parameter', dpop_jkt => $one->{jkt} ],
        [ 'by both', dpop_jkt => $one->{jkt},
          headers => [ DPoP => proof('one', 'par')->{proof} ] ],
        [ 'below the issuer', path => 't/acme/par',
          headers => [ DPoP => proof('one', 't/acme/par')->{proof} ] ],
    ) {
        my ($name, %more) = @$_;
        my $uri = pushed($web, %more);

        oauth_error(token(code_to(authorize($in, $web, $uri, dpop_jkt => $two->{jkt}), $name), 'two'),
                    400, 'invalid_grant', "$name, another key");
        is(token(code_to(authorize($in, $web, pushed($web, %more, $more{headers} ? (headers =>
             [ DPoP => proof('one', $more{path} // 'par')->{proof} ]) : ())), $name), 'one')
           ->json->{token_type}, 'DPoP', "$name: the code is bound to the key");
    }

    my $r = push_it($web, headers => [ DPoP => $one->{proof} ]);

    oauth_error($r, 400, 'invalid_dpop_proof', 'a proof that was used');
    like($r->header('DPoP-Nonce'), qr/\A[\w-]{32}\z/, '... a nonce for the next one');
    oauth_error(push_it($web, dpop_jkt => $one->{jkt}, headers => [ DPoP => $two->{proof} ]), 400,
                'invalid_dpop_proof', 'two keys');
    oauth_error(push_it($web, headers => [ DPoP => proof('one', 'token')->{proof} ]), 400,
                'invalid_dpop_proof', 'a proof for another path');
    oauth_error(push_it($web, headers => [ DPoP => 'x' ]), 400, 'invalid_dpop_proof', 'none');
    my $twice = assertion($iss);
    my @both = map { proof('one', 'par')->{proof} } 1 .. 2;
    my %by = (%ASK, client_assertion => $twice, client_assertion_type => $TYPE);

    is(form($s, 'par', \%by, headers => [ DPoP => $both[0] ])->status, 201,
       'an assertion and a proof');
    oauth_error(form($s, 'par', \%by, headers => [ DPoP => $both[1] ]), 400, 'invalid_client',
                'the assertion once more');
    oauth_error(form($s, 'par', { %by, client_assertion => assertion($iss) },
                     headers => [ DPoP => $both[0] ]), 400, 'invalid_dpop_proof',
                'the proof once more');
    oauth_error(push_it({ %$web, clientSecret => 'x' x 43 },
                        headers => [ DPoP => my $kept = proof('one', 'par')->{proof} ]), 401,
                'invalid_client', 'of nobody');
    is(push_it($web, headers => [ DPoP => $kept ])->status, 201, '... it is not used by that');
}


# --- expired requests are deleted -----------------------------------------------------

{
    my ($over, $not) = map { pushed($web) } 1 .. 2;

    change($over, "expires_at = now() - interval '1 s'");
    $s->sql('SELECT svc.oauth_expire(1000)');
    is(row($over, 'count(*)') . row($not, 'count(*)'), '01', 'what is over goes, and no more');
    $s->sql("DELETE FROM svc.application WHERE client_id = '$web->{clientId}'");
    is(row($not, 'count(*)'), 0, 'that of an application goes with it');
}

$s->done;
done_testing;
