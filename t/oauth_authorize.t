#!/usr/bin/perl

# Shows GET and POST /oauth/authorize: which errors are shown to the browser, which go
# back to the client, in which order, and the codes.

use strict;
use utf8;
use warnings;

use Digest::SHA qw(sha256 sha256_hex);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(enrolled);
use SvcTest::OAuth qw(oauth_server application form oauth_error);
use SvcTest::Process qw(wait_for);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = oauth_server(svc => { svc_login_url => '/signin/?x=1' })->start;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $base = 'http://127.0.0.1:' . $s->port;
my $iss = "$base/oauth/t/acme";
my $CB = 'https://app.acme.test/cb';
my @URLS;                       # values of svc_login_url, and whether nginx -t takes them
my $VERIFIER = 'v' x 43;
my $CHALLENGE = encode_base64url(sha256($VERIFIER));

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada');
my $bob = with_password($s, $acme, userName => 'bob@acme.test');
my $eve = with_password($s, $globex, userName => 'eve@globex.test');
my $web = application($acme, name => 'Billing', type => 'web', requireConsent => JSON::PP::false,
                      redirectUris => [ $CB, "$CB?a=b" ],
                      scopes => [ qw(openid profile email invoices:read) ]);


sub browser {
    my ($email, $tenant) = @_;

    my $b = SvcTest::Browser->new($s, tenant => $tenant // 'acme');

    $b->login($email)->status == 200 or die "no session of $email\n";

    return $b;
}


# Returns the pairs of a request; undef removes one, as in (state => undef).

sub query {
    my (@more) = @_;

    my @default = (client_id => $web->{clientId}, redirect_uri => $CB, response_type => 'code',
                   code_challenge => $CHALLENGE, code_challenge_method => 'S256', state => 'xyz');
    my %more;
    my @pairs;

    for (my $i = 0; $i < @more; $i += 2) {
        $more{$more[$i]} = 1;
    }

    while (my ($name, $value) = splice @default, 0, 2) {
        push @pairs, $name, $value if !$more{$name};
    }

    push @pairs, @more;

    my @text;

    while (my ($name, $value) = splice @pairs, 0, 2) {
        push @text, join '=', map { SvcTest::OAuth::escape($_) } $name, $value
            if defined $value;
    }

    return join '&', @text;
}


my $nobody = SvcTest::Browser->new($s, tenant => 'acme');
my $in = browser('ada@acme.test');

sub authorize {
    my ($b, @more) = @_;

    return $b->get('/oauth/authorize?' . query(@more));
}


sub decoded {
    my ($text) = @_;

    $text =~ s/%([0-9A-F]{2})/chr hex $1/ge;

    return $text;
}


sub params {
    my ($url) = @_;

    my ($query) = $url =~ /\?(.*)\z/s;

    return map { decoded($_) } map { split /=/, $_, 2 } split /&/, $query // '';
}


# Expects a 303; returns its address and parameters.

sub to {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $to = $r->header('Location') // '';

    ok($r->status == 303 && ($r->header('Referrer-Policy') // '') eq 'no-referrer'
       && ($r->header('Cache-Control') // '') eq 'no-store', "$name: 303")
        or diag($r->status, ' ', $r->body // '');

    return { url => $to =~ s/\?.*//sr, params($to) };
}


sub error_to {
    my ($r, $code, $name, %more) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $to = to($r, $name);
    my $text = delete $to->{error_description} // '';

    is_deeply($to, { url => $CB, error => $code, state => 'xyz', iss => $iss, %more },
              "$name: $code");
    like($text, qr/\A[\x20\x21\x23-\x5b\x5d-\x7e]+\z/, "$name: says why");

    return $text;
}


sub code_to {
    my ($r, $name, %more) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $to = to($r, $name);
    my $code = delete $to->{code} // '';

    $s->secret($code) if $code ne '';
    like($code, qr/\A[\w-]{43}\z/, "$name: a code");
    is_deeply($to, { url => $CB, state => 'xyz', iss => $iss, %more }, "$name: and no more");

    return $code;
}


# Expects a redirect to the page; returns the page's return_to and consent.

sub page_to {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $to = to($r, $name);

    is($to->{url}, '/signin/', "$name: the page");
    is($to->{x}, 1, "$name: with its own query");
    like($to->{return_to} // '', qr{\A/oauth/authorize\?}, "$name: and back");

    return ($to->{return_to}, $to->{consent});
}


sub direct {
    my ($r, $code, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    oauth_error($r, 400, $code, $name);
    is($r->header('Location'), undef, "$name: nobody is sent anywhere");
}


sub set { $s->sql("UPDATE svc.application SET $_[1] WHERE client_id = '$_[0]{clientId}'") }
sub grants { return $s->sql('SELECT count(*) FROM svc.oauth_grant') }


# --- errors that are shown to the browser -------------------------------------------

direct(authorize($in, client_id => undef), 'invalid_request', 'no client');
direct($in->get('/oauth/authorize'), 'invalid_request', 'nothing');
direct(authorize($in, client_id => $web->{clientId}, client_id => $web->{clientId}),
       'invalid_request', 'two clients');
direct(authorize($in, client_id => $_), 'invalid_client', "the client $_")
    for 'app_' . '0' x 32, 'nobody', "app_\x{20ac}", $web->{clientId} . '0';
direct($in->get('/oauth/authorize?client_id=%zz'), 'invalid_request', 'percent');
direct($in->get('/oauth/authorize?' . query() . '&x=%00'), 'invalid_request', 'NUL');

direct(authorize($in, redirect_uri => $_), 'invalid_request', "to $_")
    for "$CB/", "$CB?x", 'https://app.acme.test/CB', 'HTTPS://app.acme.test/cb',
        'https://app.acme.test@evil.test/cb', '//app.acme.test/cb', 'https://app.acme.test:443/cb',
        'https://app.acme.test/cb#', 'https://app.acme.test/%63b', 'x' x 4000;
direct(authorize($in, redirect_uri => undef), 'invalid_request', 'no redirect_uri');
direct(authorize($in, redirect_uri => $CB, redirect_uri => $CB), 'invalid_request',
       'two redirect_uris');
is(grants(), 0, 'nothing was granted');


# --- a code -------------------------------------------------------------------------

my $code = code_to(authorize($in, nonce => "n'\x{20ac}", dpop_jkt => encode_base64url(sha256('k'))),
                   'signed in');
my $row = $s->sql("SELECT row_to_json(r) FROM (SELECT encode(c.digest, 'hex') AS digest,"
    . " c.client_id, c.redirect_uri, encode(c.challenge, 'hex') AS challenge, c.nonce,"
    . " encode(c.jkt, 'hex') AS jkt, c.used_at, g.user_id, g.scopes, g.resources,"
    . ' g.session_id = s.root_id AS session, g.auth_time = s.auth_time::timestamptz(3) AS auth,'
    . ' g.methods = s.methods AS amr,'
    . " c.expires_at BETWEEN now() + '50 s' AND now() + '60 s' AS minute,"
    . " g.expires_at BETWEEN now() + '89 days' AND now() + '90 days' AS long"
    . ' FROM svc.oauth_code c JOIN svc.oauth_grant g ON g.id = c.grant_id'
    . ' JOIN svc.session s ON s.user_id = g.user_id) r');

is_deeply(JSON::PP->new->utf8->decode($row), {
    digest => sha256_hex($code), client_id => $web->{clientId}, redirect_uri => $CB,
    challenge => unpack('H*', sha256($VERIFIER)), nonce => "n'\x{20ac}",
    jkt => unpack('H*', sha256('k')), used_at => undef, user_id => $ada->{id},
    scopes => [ qw(email invoices:read openid profile) ], resources => [],
    map { $_ => JSON::PP::true() } qw(session auth amr minute long),
}, 'and what it is bound to') or diag($row);

my $two = code_to(authorize($in), 'again');
isnt($two, $code, 'another one each time');

code_to(authorize($in, redirect_uri => "$CB?a=b"), 'a query of its own', a => 'b');
like(authorize($in, redirect_uri => "$CB?a=b")->header('Location'), qr/\Q$CB?a=b&code=\E/,
     'behind which it goes');
like(authorize($in, state => undef)->header('Location'), qr/\?code=[\w-]{43}&iss=[^&]+\z/,
     'without a state');

for my $state ("a\r\nSet-Cookie: x=y", 'a&error=b', 'a=b+c%20#', 'ü€' x 400) {
    my $r = authorize($in, state => $state);
    my $bytes = $state;

    utf8::encode($bytes);
    code_to($r, 'state ' . substr($state, 0, 2), state => $bytes);
    is($r->header('Set-Cookie'), undef, '... is one parameter');
    unlike($r->header('Location'), qr/[\r\n\x80-\xff]/, '... in ASCII');
}


# --- errors that go back to the client ----------------------------------------------

my @WRONG = (
    [ 'scope twice', invalid_request => scope => 'openid', scope => 'openid' ],
    [ 'an unknown one twice', invalid_request => x => 1, x => 1 ],
    [ 'twice before all else', invalid_request => x => 1, x => 1, response_type => 'token' ],
    [ 'a long nonce', invalid_request => nonce => 'n' x 256 ],
    [ 'a challenge of 42', invalid_request => code_challenge => 'c' x 42 ],
    [ 'a challenge of 44', invalid_request => code_challenge => 'c' x 44 ],
    [ 'a challenge with +', invalid_request => code_challenge => '+' x 43 ],
    [ 'dpop_jkt', invalid_request => dpop_jkt => 'x' ],
    [ 'max_age', invalid_request => max_age => '-1' ],
    [ 'max_age again', invalid_request => max_age => '1' x 11 ],
    [ 'max_age with a fraction', invalid_request => max_age => '1.5' ],
    ( map { [ "auth_after $_", invalid_request => auth_after => $_ ] }
      '1.', '.5', '1.5.5', '1.1234567', '-1', '1e9', 'x' ),
    [ 'prompt', invalid_request => prompt => 'signup' ],
    [ 'prompt create, and nobody signs up', invalid_request => prompt => 'create' ],
    [ 'prompt none create', invalid_request => prompt => 'none create' ],
    [ 'prompt none login', invalid_request => prompt => 'none login' ],
    [ 'request', request_not_supported => request => 'x' ],
    [ 'request_uri', request_uri_not_supported => request_uri => 'https://x.test/' ],
    [ 'no response_type', invalid_request => response_type => undef ],
    [ 'token', unsupported_response_type => response_type => 'token' ],
    [ 'code token', unsupported_response_type => response_type => 'code id_token' ],
    [ 'another mode', invalid_request => response_mode => 'jwt' ],
    [ 'no challenge', invalid_request => code_challenge => undef ],
    [ 'plain', invalid_request => code_challenge_method => 'plain' ],
    [ 'no method', invalid_request => code_challenge_method => undef ],
    [ 'resource', invalid_target => resource => 'api' ],
    [ 'resource#', invalid_target => resource => 'https://api.test/#x' ],
    [ 'a long resource', invalid_target => resource => 'https://api.test/' . 'x' x 512 ],
    [ 'nine', invalid_target => map { (resource => "https://api$_.test/") } 1 .. 9 ],
    [ 'a scope with a quote', invalid_scope => scope => 'a"b' ],
    [ 'a scope of others', invalid_scope => scope => 'openid payments' ],
    [ 'nothing but offline_access', invalid_scope => scope => 'offline_access x' ],
    [ 'a hint', invalid_request => id_token_hint => 'a.b.c' ],
);

for (@WRONG) {
    my ($name, $code, @more) = @$_;

    error_to(authorize($in, @more), $code, $name);
    error_to(authorize($nobody, @more), $code, "nobody, $name") if @more < 4;
}

{
    my $to = to(authorize($in, state => 's' x 2049), 'a long state');

    is($to->{error}, 'invalid_request', '... is an error');
    ok(!exists $to->{state}, '... and does not go back');
    $to = to(authorize($in, state => 'a', state => 'b'), 'two states');
    is($to->{error}, 'invalid_request', '... are an error');
    ok(!exists $to->{state}, '... and none goes back');
}

# --- a new account ------------------------------------------------------------------

# Where users may sign up, the page offers it even to a user with a session, and
# continues once that is done.

sub signs_up {
    my ($on) = @_;

    $s->sql("UPDATE svc.tenant SET branding = branding || '{\"allowSelfSignup\":$on}'"
            . " WHERE slug = 'acme'");
}

signs_up('true');

for my $case ([ 'nobody', $nobody ], [ 'somebody', $in ]) {
    my ($name, $b) = @$case;
    my $r = authorize($b, prompt => 'create', login_hint => 'new@acme.test', max_age => 5);

    like($r->header('Location'), qr{\A/signin/\?x=1&return_to=[^#&]+#signup\z}, "$name: the page");

    my %back = params(decoded($r->header('Location') =~ s/.*return_to=|#.*//gr));

    is_deeply([ @back{qw(prompt max_age login_hint)} ], [ undef, undef, 'new@acme.test' ],
              "$name: it is done once");
    like($back{auth_after}, qr/\A\d+(?:\.\d+)?\z/, "$name: for a session of later");
    page_to($b->get('/oauth/authorize?' . (decoded($r->header('Location')
        =~ s/.*return_to=|#.*//gr) =~ s/.*\?//r)), "$name, back");
}

like(authorize($in, prompt => 'consent create')->header('Location'),
     qr/prompt%3Dconsent.*#signup\z/, 'and to be asked');
error_to(authorize($in, prompt => 'create', scope => 'payments'), 'invalid_scope',
         'create, and a scope of others');
error_to(authorize($in, prompt => 'none create'), 'invalid_request', 'none create');
error_to(authorize($in, prompt => 'create', id_token_hint => 'a.b.c'), 'invalid_request',
         'create, and a hint that is none');
direct(authorize($in, prompt => 'create', redirect_uri => "$CB/"), 'invalid_request',
       'create, and another address');
is($in->get('/v1/oauth/authorization?' . query(prompt => 'create'))->json->{login}, 'required',
   'what the page is told');
unlike(authorize($nobody, prompt => 'select_account')->header('Location'), qr/#/,
       'select_account is a sign-in');

signs_up('false');
is(error_to(authorize($in, prompt => 'create'), 'invalid_request', 'where nobody signs up'),
   "'prompt' is 'create', and nobody can sign up here.", '... it says so');


# --- people who follow a link ----------------------------------------------------------

my $BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
my $evil = '<img src=x onerror=alert(1)>"&';

for my $case ([ 'no client', client_id => undef ], [ 'an unknown one', client_id => 'app_x' ],
              [ 'another address', redirect_uri => 'https://evil.test/' ],
              [ 'two of them', redirect_uri => $CB, redirect_uri => $CB ],
              [ 'no text of HTML', client_id => $evil ],
              [ 'nor here', redirect_uri => "https://x.test/$evil" ])
{
    my ($name, @more) = @$case;
    my $path = '/oauth/authorize?' . query(@more);
    my $machine = $nobody->get($path);
    my $r = $nobody->get($path, undef, Accept => $BROWSER);

    oauth_error($machine, 400, $machine->json->{error}, "$name: a machine");
    is($r->status, $machine->status, "$name: the same status for people");
    is($r->header('Content-Type'), 'text/html; charset=utf-8', "$name: a page");
    is($r->header('Cache-Control'), 'no-store', "$name: which nobody keeps");
    is($r->header('Content-Security-Policy'), "default-src 'none'; base-uri 'none';"
       . " form-action 'none'; frame-ancestors 'none'", "$name: and which does nothing");
    is($r->header('X-Content-Type-Options'), 'nosniff', "$name: nor is anything else");
    is($r->header('Location'), undef, "$name: and leads nowhere");
    like($r->body, qr{\A<!doctype html>\n<html lang="en">.*<p>\w+: [^<>]+</p>\n\z}s,
         "$name: it says what is wrong") or diag($r->body);
    unlike($r->body, qr/<img|onerror=|[{}]/, "$name: in words");

    my ($told) = $r->body =~ /<p>(\w+): /;
    is($told, $machine->json->{error}, "$name: the same");
}

for my $case ([ 'application/json' => 'json' ], [ '*/*' => 'json' ], [ 'text/plain' => 'json' ],
              [ 'application/json, text/html' => 'json' ], [ 'TEXT/HTML' => 'html' ],
              [ 'text/html, application/json' => 'html' ])
{
    my ($accept, $type) = @$case;

    like($nobody->get('/oauth/authorize?client_id=x', undef, Accept => $accept)
         ->header('Content-Type'), qr/$type/, "Accept: $accept");
}

is($nobody->ask(POST => '/oauth/authorize', undef, Accept => $BROWSER,
                'Content-Type' => 'application/json')->header('Content-Type'),
   'text/html; charset=utf-8', 'a form that is none, too');


# --- requests that are too long for the page -----------------------------------------------

{
    my $long = "\x{20ac}" x 682;
    my $r = authorize($nobody, state => $long);

    utf8::encode(my $bytes = $long);
    error_to($r, 'invalid_request', 'a state that the page would not be given',
             state => $bytes);
    like(to(authorize($nobody, state => 's' x 2048), 'one that it is')->{return_to},
         qr/s{2048}/, '... goes there');
    code_to(authorize($in, state => $long), 'nobody asks a page', state => $bytes);
}

error_to(authorize($in, redirect_uri => "$CB?a=b", scope => 'x'), 'invalid_scope',
         'behind a query', a => 'b');


# --- the order of errors ------------------------------------------------------------

# Each request has all the errors of those after it, too.

my $agent = application($acme, name => 'Agent', type => 'agent', redirectUris => [ $CB ],
                        grantTypes => [ 'authorization_code' ], scopes => [ qw(read write) ],
                        ownerId => $ada->{id});
my @AGENT = (client_id => $agent->{clientId});
my @ALL = (@AGENT, scope => 'a"b', resource => 'api', prompt => 'none');

set($agent, "enabled = false, expires_at = now() - interval '1 s', grant_types = '{}',"
            . " allowed_audiences = '{https://api.test/}',"
            . " allowed_audience_keys = '{https://api.test/}', allowed_scopes = '{read}'");
$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE slug = 'acme'");
error_to(authorize($nobody, @ALL, response_mode => 'x'), 'invalid_request', 'form');
like(error_to(authorize($nobody, @ALL), 'access_denied', 'tenant'), qr/suspended/, 'suspended');
error_to(authorize($in, prompt => 'none'), 'access_denied', 'with a session, too');
$s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE slug = 'acme'");
like(error_to(authorize($nobody, @ALL), 'unauthorized_client', 'agent'), qr/disabled/, 'killed');
set($agent, 'enabled = true');
like(error_to(authorize($nobody, @ALL), 'unauthorized_client', 'agent'), qr/expired/, 'expired');
set($agent, 'expires_at = NULL, owner_id = NULL');
$s->sql("UPDATE svc.oauth_tenant SET orphan_action = 'disable', orphan_grace_hours = 0"
        . " WHERE tenant_id = '$acme->{id}'");
like(error_to(authorize($nobody, @ALL), 'unauthorized_client', 'agent'), qr/nobody active/,
     'orphaned');
set($agent, "owner_id = '$ada->{id}'");
like(error_to(authorize($nobody, @ALL), 'unauthorized_client', 'agent'), qr/grant type/,
     'no grant');
set($agent, "grant_types = '{authorization_code}'");
error_to(authorize($nobody, @ALL), 'invalid_target', 'a resource');
$ALL[5] = 'https://api.test.evil/';
error_to(authorize($nobody, @ALL), 'invalid_target', 'one beyond the ceiling');
$ALL[5] = 'HTTPS://api.test';
error_to(authorize($nobody, @ALL), 'invalid_scope', 'a scope');
$ALL[3] = 'write';
error_to(authorize($nobody, @ALL), 'invalid_scope', 'one beyond the ceiling');
$ALL[3] = 'read';
error_to(authorize($nobody, @ALL), 'login_required', 'nobody');
$s->sql("UPDATE svc.application SET assignment = 'groups'"
        . " WHERE client_id = '$agent->{clientId}'");
error_to(authorize($in, @ALL), 'access_denied', 'in no group');

my $group = $s->sql('INSERT INTO svc.user_group (tenant_id, id, name) VALUES'
                    . " ('$acme->{id}', gen_random_uuid(), 'Staff') RETURNING id");

$s->sql("INSERT INTO svc.group_member (tenant_id, group_id, user_id) VALUES"
        . " ('$acme->{id}', '$group', '$ada->{id}')");
error_to(authorize($in, @ALL), 'access_denied', 'not in the right one');
$s->sql("INSERT INTO svc.group_app (tenant_id, client_id, group_id) VALUES"
        . " ('$acme->{id}', '$agent->{clientId}', '$group')");
error_to(authorize($in, @ALL), 'consent_required', 'no consent');
error_to(authorize(browser('bob@acme.test'), @ALL), 'access_denied', 'somebody else');
set($agent, 'require_consent = false');
code_to(authorize($in, @ALL), 'all is well');
is($s->sql("SELECT resources::text || resource_keys::text || scopes::text FROM svc.oauth_grant"
           . " WHERE client_id = '$agent->{clientId}'"),
   '{HTTPS://api.test}{https://api.test/}{read}', 'and what is granted');
set($agent, "allowed_scopes = '{}'");
error_to(authorize($in, @AGENT), 'invalid_scope', 'a ceiling of nothing');
set($agent, "allowed_scopes = NULL, allowed_audiences = '{}', allowed_audience_keys = '{}'");
error_to(authorize($in, @AGENT), 'invalid_target', 'no audience at all');

# The scope offline_access.

my $offline = sub {
    code_to(authorize($in, scope => "openid offline_access"), $_[0]);
    return $s->sql('SELECT scopes FROM svc.oauth_grant ORDER BY created_at DESC LIMIT 1');
};

is($offline->('offline_access'), '{offline_access,openid}', 'is granted when it is asked for');
set($web, "grant_types = '{authorization_code}'");
is($offline->('offline_access'), '{openid}', 'and ignored without refresh_token');
set($web, "grant_types = '{authorization_code,refresh_token}'");


# --- sessions -----------------------------------------------------------------------

my ($return, $consent) = page_to(authorize($nobody, x => 'a b&c'), 'nobody');

is_deeply({ params($return) }, { params('?' . query(x => 'a b&c')) },
          'comes back with what was asked for');
is($consent, undef, 'and is not asked');
code_to($in->get($return), 'whoever has signed in then');

# The user is named by an ID token.

my $shown = form($s, token => { grant_type => 'authorization_code', code_verifier => $VERIFIER,
                                redirect_uri => $CB,
                                code => code_to(authorize($in, scope => 'openid'), 'a code') },
                 client => $web)->json;
my $hint = $shown->{id_token};
my $keys = "svc.oauth_key SET revoked_at = %s WHERE tenant_id = '$acme->{id}'";

code_to(authorize($in, id_token_hint => $hint), 'the user of an ID token');
page_to(authorize(browser('bob@acme.test'), id_token_hint => $hint), 'another user');
error_to(authorize($in, id_token_hint => $_), 'invalid_request', 'no ID token')
    for $hint =~ s/.{86}\z/'A' x 86/er, $shown->{access_token};
$s->sql(sprintf "UPDATE $keys", 'now()');
error_to(authorize($in, id_token_hint => $hint), 'invalid_request', 'a key that was revoked');
$s->sql(sprintf "UPDATE $keys", 'NULL');

error_to(authorize($nobody, prompt => 'none'), 'login_required', 'nobody, prompt=none');
code_to(authorize($in, prompt => 'none'), 'somebody, prompt=none');

for (qw(login select_account)) {
    ($return) = page_to(authorize($in, prompt => $_), "prompt=$_");

    my %back = params($return);

    ok(!exists $back{prompt}, '... goes');
    cmp_ok($back{auth_after}, '<=', time + 2, '... for a time');
    page_to($in->get($return =~ s/auth_after=[\d.]+/'auth_after=' . (time + 100)/er),
            'not before');

    for my $before ('1 s', '1 ms', '0 s') {
        $s->sql("UPDATE svc.session SET auth_time = to_timestamp($back{auth_after})"
                . " - interval '$before'");
        page_to($in->get($return), "the old sign-in, $before before");
    }

    page_to($in->get($return =~ s/(auth_after=\d+)[\d.]*/$1/r . '&prompt=login'),
            'of a page that is open still');
    code_to(browser('ada@acme.test')->get($return), 'the new one');
}

($return) = page_to(authorize($in, prompt => 'login consent'), 'both');
is({ params($return) }->{prompt}, 'consent', '... the other one stays');

$s->sql("UPDATE svc.session SET auth_time = now() - interval '1 hour'");
code_to(authorize($in, max_age => 3700), 'young enough');
($return) = page_to(authorize($in, max_age => 3000), 'too old');
ok(!exists { params($return) }->{max_age}, '... is not asked for once more');
ok(exists { params($return) }->{auth_after}, '... but a time');
error_to(authorize($in, max_age => 3000, prompt => 'none'), 'login_required', 'too old');
($return) = page_to(authorize($in, max_age => 0), 'max_age=0');
code_to(browser('ada@acme.test')->get($return), '... and no loop');
($return) = page_to(authorize($nobody, max_age => 0), 'max_age=0 of nobody');
code_to(browser('ada@acme.test')->get($return), '... nor there');
error_to(authorize($in, prompt => 'none', auth_after => '9999999999'), 'login_required',
         'a time to come');

# The session may be another tenant's.

my $theirs = browser('eve@globex.test', 'globex');

($return) = page_to(authorize($theirs), 'a session of another tenant');
unlike($theirs->get('/oauth/authorize?' . query())->header('Location'), qr/eve|globex/,
       '... of which nothing is said');
error_to(authorize($theirs, prompt => 'none'), 'login_required', 'another tenant');

my $mfa = browser('bob@acme.test');

enrolled($mfa);

my $pending = SvcTest::Browser->new($s, tenant => 'acme');

is($pending->login('bob@acme.test')->status, 403, 'a session that waits for a factor');
ok($pending->{cookies}{svc_session}, 'there is one');
page_to(authorize($pending), 'it counts as none');

for ("svc_session=x", "svc_session=$in->{cookies}{svc_session}; svc_session=x",
     'svc_session=' . 'A' x 64)
{
    page_to($nobody->ask(GET => '/oauth/authorize?' . query(), undef, Cookie => $_),
            'a bad cookie');
}

$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$ada->{id}'");
page_to(authorize($in), 'a suspended user');
$s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$ada->{id}'");
page_to(authorize($in), 'who is active again');
$in = browser('ada@acme.test');
code_to(authorize($in), 'an active one');
$s->sql("UPDATE svc.session SET last_seen_at = now() - interval '2 minutes'");
code_to(authorize($in), 'after two minutes');
ok((wait_for { $s->sql("SELECT count(*) FROM svc.session WHERE user_id = '$ada->{id}'"
                      . " AND last_seen_at > now() - interval '1 minute'") }),
   'the session is in use');
$s->sql("UPDATE svc.session SET last_seen_at = now() - interval '1 month'");
page_to(authorize($in), 'an idle session');
$in = browser('ada@acme.test');


# --- native applications, and loopback ----------------------------------------------

my $native = application($acme, name => 'Native', type => 'native',
    requireConsent => JSON::PP::false,
    redirectUris => [ 'http://127.0.0.1/cb', 'http://[::1]:8080/cb?x', $CB ]);

sub native {
    my ($uri, $client) = @_;

    return authorize($in, client_id => ($client // $native)->{clientId}, redirect_uri => $uri);
}

for ('http://127.0.0.1/cb', 'http://127.0.0.1:5173/cb', 'http://[::1]/cb?x',
     'http://[::1]:1/cb?x')
{
    my ($return, $consent) = page_to(native($_), "to $_");

    is($consent, 1, '... asks each time');
}

direct(native($_), 'invalid_request', "to $_")
    for 'http://127.0.0.1.evil/cb', 'http://127.0.0.1:80@evil/cb', 'http://localhost/cb',
        'http://127.0.0.1/cb?x', 'http://127.0.0.1/', 'http://127.0.0.1:x/cb',
        'https://127.0.0.1/cb', 'http://[::1]:1/cb', 'http://127.0.0.1:5173/cb#';
code_to(native($CB), 'another one');

my $local = application($acme, name => 'Local', type => 'web', redirectUris =>
                        [ 'http://localhost:3000/cb' ], requireConsent => JSON::PP::false);

direct(native('http://localhost:3001/cb', $local), 'invalid_request', 'another port of a web app');
is((page_to(native('http://localhost:3000/cb', $local), 'its own'))[1], 1, 'asks each time');


# --- POST ---------------------------------------------------------------------------

my $r = form($s, authorize => { client_id => $web->{clientId}, redirect_uri => $CB,
                                state => "a\r\nX: y", prompt => 'login', x => "\x{20ac}" });

is($r->status, 303, 'POST');
is($r->header('X'), undef, 'with no header of others');
like($r->header('Location'), qr{\A/oauth/authorize\?[!-~]+\z}, 'is a GET');
is_deeply({ params($r->header('Location')) },
          { client_id => $web->{clientId}, redirect_uri => $CB, state => "a\r\nX: y",
            prompt => 'login', x => "\xe2\x82\xac" }, 'of the same');
direct(form($s, authorize => {}), 'invalid_request', 'an empty one');
direct($s->http(POST => '/oauth/authorize', [ 'Content-Type' => 'application/json' ], '{}'),
       'invalid_request', 'JSON');
oauth_error($s->http(PUT => '/oauth/authorize'), 405, 'invalid_request', 'PUT');


# --- svc_login_url ------------------------------------------------------------------

{
    my $nginx = $s->nginx;
    my %svc = %{ $nginx->{svc} };

    for (map { [ $_, 1 ] } "$base/in", "$base", "$base?a=b", '/in', '/') {
        push @URLS, $_;
    }

    push @URLS, map { [ $_, 0 ] } 'https://evil.test/', "$base.evil.test/", "$base\@evil.test/",
        '//evil.test/', 'in', '/in#x', 'javascript:x', "https:/\\evil.test";

    for (@URLS) {
        my ($url, $good) = @$_;

        $nginx->{svc} = { %svc, svc_login_url => qq{"$url"} };
        $nginx->write_configuration;

        my ($status, $text) = $nginx->test_configuration;

        is($status == 0 ? 1 : 0, $good, "svc_login_url $url") or diag($text);
    }

    # Both URLs may be spelled in any way.

    for (map { my $base = $_->[0]; map { [ $base, @$_ ] } @{ $_->[1] } }
         [ 'https://login.test', [ [ 'https://LOGIN.test:443/in', 1 ],
                                   [ 'HTTPS://login.test', 1 ],
                                   [ 'https://login.test:443?x=1', 1 ],
                                   [ 'https://login.test:444/in', 0 ],
                                   [ 'http://login.test:443/in', 0 ],
                                   [ 'https://login.test:443.evil.test/', 0 ] ] ],
         [ 'https://Login.test:443', [ [ 'https://login.test/in', 1 ],
                                       [ 'https://login.test:4430/in', 0 ] ] ],
         [ 'https://login.test/%7Eid', [ [ 'https://login.test/~id/in', 1 ],
                                         [ 'https://login.test/%7eid', 1 ],
                                         [ 'https://login.test/~idea', 0 ],
                                         [ 'https://login.test/', 0 ] ] ])
    {
        my ($base, $url, $good) = @$_;

        $nginx->{svc} = { %svc, svc_base_url => $base, svc_login_url => qq{"$url"} };
        $nginx->write_configuration;

        my ($status, $text) = $nginx->test_configuration;

        is($status == 0 ? 1 : 0, $good, "svc_base_url $base, svc_login_url $url") or diag($text);
    }

    $nginx->{svc} = \%svc;
    $nginx->write_configuration;
}


# --- faults -------------------------------------------------------------------------

my $before = grants();

for (1 .. 20) {
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $s->port)
        or die "connect: $!";

    print $socket 'GET /oauth/authorize?' . query() . " HTTP/1.1\r\nHost: x\r\nCookie: "
        . $in->cookie . "\r\n\r\n";
    close $socket;
}

ok((wait_for { authorize($in)->status == 303 }), 'clients that go do no harm');

$s->pg->stop;
$r = authorize($in);
oauth_error($r, 503, 'temporarily_unavailable', 'without PostgreSQL');
ok($r->header('Retry-After'), 'for a while');
$s->pg->launch;
ok((wait_for { authorize($in)->status == 303 }), 'and then again');

$s->done(allow => [ qr/\[emerg\] .* "svc_login_url/ ]);
done_testing();
