#!/usr/bin/perl

# Shows response_mode of /oauth/authorize: query, fragment and form_post, for codes
# and errors, and what the page of sign-in gets for each.

use strict;
use utf8;
use warnings;

use Digest::SHA qw(sha256 sha256_base64);
use MIME::Base64 qw(decode_base64url encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Grants qw(redeem $VERIFIER);
use SvcTest::OAuth qw(oauth_server application oauth_error escape unescape);
use SvcTest::Process qw(slurp);
use SvcTest::Skip;

needs(perl => 'Crypt::AuthEnc::GCM');

require Crypt::AuthEnc::GCM;

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = oauth_server(svc => { svc_login_url => '/signin' })->start;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $base = 'http://127.0.0.1:' . $s->port;
my $iss = "$base/oauth/t/acme";
my $CB = 'https://app.acme.test/cb';
my $CHALLENGE = encode_base64url(sha256($VERIFIER));

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');

with_password($s, $acme, userName => 'bob@acme.test');

my %WEB = (type => 'web', redirectUris => [ $CB, "$CB?a=b&amp;'c", 'http://127.0.0.1:9/cb' ],
           scopes => [ qw(openid email) ]);
my $web = application($acme, %WEB, requireConsent => JSON::PP::false);
my $asks = application($acme, %WEB, name => 'Asks');


sub browser {
    my ($email) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    $b->login($email)->status == 200 or die "no session of $email\n";

    return $b;
}


sub query {
    my (%more) = @_;

    my %all = (client_id => $web->{clientId}, redirect_uri => $CB, response_type => 'code',
               code_challenge => $CHALLENGE, code_challenge_method => 'S256', state => 'x y',
               %more);

    return join '&', map { "$_=" . escape($all{$_}) } grep { defined $all{$_} } sort keys %all;
}


my $nobody = SvcTest::Browser->new($s, tenant => 'acme');
my $in = browser('ada@acme.test');

sub authorize {
    my ($b, %more) = @_;

    return $b->get('/oauth/authorize?' . query(%more));
}


# reference() decodes character references. form_of() returns where a page posts to,
# and which fields; a page with anything else in it fails.

sub reference {
    my ($text) = @_;

    $text =~ s/&#(\d+);/chr $1/ge;

    return $text;
}


sub form_of {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $value = qr/(?:[A-Za-z0-9\x80-\xff]|&#\d{1,3};)*/;
    my ($url, $inputs, $script) = ($r->body // '') =~ m{
        \A<!doctype\ html>\n<html\ lang="en">\n<meta\ charset="utf-8">\n
        <meta\ name="viewport"\ content="width=device-width">\n<title>One\ moment</title>\n
        <form\ method="post"\ action="($value)">\n
        ((?:<input\ type="hidden"\ name="[a-z_]+"\ value="$value">\n)+)
        <noscript>\n<p>[^<>]+</p>\n<button>Continue</button>\n</noscript>\n</form>\n
        <script>([^<]+)</script>\n\z}x;

    ok(defined $url && $r->status == 200, "$name: a page that posts")
        or diag($r->status, ' ', $r->body);
    is($r->header('Location'), undef, "$name: and no redirect");
    is($r->header('Content-Type'), 'text/html; charset=utf-8', "$name: HTML");
    is($r->header('Cache-Control'), 'no-store', "$name: which nobody keeps");
    is($r->header('X-Content-Type-Options'), 'nosniff', "$name: as it says");
    is($r->header('Referrer-Policy'), 'strict-origin', "$name: without its address");
    is($r->header('Content-Security-Policy'), "default-src 'none'; script-src 'sha256-"
       . sha256_base64($script // '') . "='; base-uri 'none'; frame-ancestors 'none'",
       "$name: with this script alone, in no frame, and to wherever it leads");

    my %field = ($inputs // '') =~ /name="([^"]+)" value="([^"]*)"/g;

    $_ = reference($_) for values %field;
    $s->secret($field{code}) if $field{code};

    return { url => reference($url // ''), %field };
}


# Expects a redirect; returns its parameters, which are after "?" or "#".

sub redirect {
    my ($r, $sign, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my ($url, $text) = ($r->header('Location') // '') =~ /\A(.*?)\Q$sign\E(.*)\z/s;

    is($r->status, 303, "$name: 303") or diag($r->body);
    is($r->header('Referrer-Policy'), 'no-referrer', "$name: without a referrer");
    is($r->header('Cache-Control'), 'no-store', "$name: which nobody keeps");

    my %field = map { unescape($_) } map { split /=/, $_, 2 } split /&/, $text // '';

    $s->secret($field{code}) if $field{code};

    return { url => $url, %field };
}

my %ANSWER = (
    query => sub { redirect($_[0], '?', $_[1]) },
    fragment => sub { redirect($_[0], '#', $_[1]) },
    form_post => \&form_of,
);


# --- codes --------------------------------------------------------------------------

for my $mode (sort keys %ANSWER) {
    my $got = $ANSWER{$mode}->(authorize($in, response_mode => $mode), $mode);
    my $code = delete $got->{code} // '';

    like($code, qr/\A[\w-]{43}\z/, "$mode: a code");
    is_deeply($got, { url => $CB, state => 'x y', iss => $iss }, "$mode: and no more");
    is(redeem($s, $web, { code => $code }, redirect_uri => $CB)->status, 200,
       "$mode: which is good");

    $got = $ANSWER{$mode}->(authorize($in, response_mode => $mode, state => undef),
                            "$mode, no state");
    is_deeply([ sort keys %$got ], [ qw(code iss url) ], "$mode: without a state");
}

for my $sign ('?', '#') {
    my $mode = $sign eq '#' ? 'fragment' : 'form_post';
    my $r = authorize($in, response_mode => $mode, redirect_uri => "$CB?a=b&amp;'c");
    my $got = $ANSWER{$mode}->($r, "$mode, a query");

    is($got->{url}, "$CB?a=b&amp;'c", "$mode: the query of the address stays");
}

is($in->ask(HEAD => '/oauth/authorize?' . query(response_mode => 'form_post'))->body, '', 'HEAD');


# --- errors -------------------------------------------------------------------------

my @WRONG = (
    [ invalid_request => code_challenge => undef ],
    [ invalid_request => nonce => 'n' x 256 ],
    [ unsupported_response_type => response_type => 'token' ],
    [ invalid_scope => scope => 'payments' ],
    [ invalid_target => resource => 'api' ],
    [ login_required => prompt => 'none', max_age => 0 ],
    [ consent_required => prompt => 'none', client_id => $asks->{clientId} ],
);

for my $mode (sort keys %ANSWER) {
    for (@WRONG) {
        my ($error, %more) = @$_;
        my $got = $ANSWER{$mode}->(authorize($in, response_mode => $mode, %more),
                                   "$mode, $error");

        like(delete $got->{error_description}, qr/\A[\x20\x21\x23-\x5b\x5d-\x7e]+\z/,
             "$mode: why");
        is_deeply($got, { url => $CB, error => $error, state => 'x y', iss => $iss },
                  "$mode: $error");
    }

    my $twice = $ANSWER{$mode}->($in->get('/oauth/authorize?'
        . query(response_mode => $mode) . '&x=1&x=1'), "$mode, x twice");

    is($twice->{error}, 'invalid_request', "$mode: what is twice there");
}

for my $mode ('', 'Query', 'form_post ', 'jwt', 'query.jwt', "form_post\x{20ac}", 'x' x 3000) {
    my $got = $ANSWER{query}->(authorize($in, response_mode => $mode), 'mode ' . substr $mode, 0, 9);

    is($got->{error}, $mode eq '' ? undef : 'invalid_request', '... is told in the query');
}

{
    my $got = $ANSWER{query}->($in->get('/oauth/authorize?' . query(response_mode => 'form_post')
                                        . '&response_mode=fragment'), 'two modes');

    is($got->{error}, 'invalid_request', '... are told in the query');
}

# No mode sends a browser to another address.

for my $mode (sort keys %ANSWER) {
    my $r = authorize($in, response_mode => $mode, redirect_uri => 'https://evil.test/');

    oauth_error($r, 400, 'invalid_request', "$mode, another address");
    is($r->header('Location'), undef, '... is no redirect');
    unlike($r->body, qr/evil/, '... and no page');
    oauth_error(authorize($in, response_mode => $mode, client_id => 'app_x'), 400,
                'invalid_client', "$mode, no client");
    like(authorize($nobody, response_mode => $mode)->header('Location'),
         qr{\A/signin\?return_to=.*response_mode%3D$mode}, "$mode: nobody, to the page");
}


# --- states that look like HTML -------------------------------------------------------

for my $state ('"><script>alert(1)</script>', '" autofocus onfocus="alert(1)', "' x='",
               '</form><form action="https://evil.test/">', '&quot;&#34;&amp;', '-->', ']]>',
               "\r\n\t\x01\x7f", '`${x}`', '%22%3e', 'ü€😀', "\x{feff}\x{202e}\x{2028}", ' ',
               '<' x 2048, "\x{20ac}" x 682)
{
    my $got = form_of(authorize($in, response_mode => 'form_post', state => $state),
                      'state ' . substr $state =~ s/[^ -~]/?/gr, 0, 20);
    my $bytes = $state;

    utf8::encode($bytes);
    is($got->{state}, $bytes, '... is posted as it was');
    is($got->{url}, $CB, '... where it belongs');
}

# Random states: what the page contains is what was sent.

my $N = $ENV{SVC_TEST_FULL} ? 2000 : 200;
my $tags = authorize($in, response_mode => 'form_post')->body =~ tr/<>"//;
my @bad;

for (1 .. $N) {
    my $state = join '', map { chr(rand 4 < 3 ? 1 + int rand 126 : 0xa0 + int rand 0x2000) }
                         0 .. rand 60;

    # escape() takes text for bytes where Perl has no need of UTF-8

    utf8::upgrade($state);

    my $r = authorize($in, response_mode => 'form_post', state => $state);
    my ($got) = $r->body =~ /name="state" value="([^"]*)">\n/;

    utf8::encode($state);
    push @bad, escape($state) if reference($got // '') ne $state
                                 || $r->body =~ tr/<>"// != $tags;
}

is_deeply(\@bad, [], "$N states that were drawn");


# --- the page of sign-in ----------------------------------------------------------------

my $PATH = '/v1/oauth/authorization';

sub decide {
    my ($b, $decision, %more) = @_;

    my %ask = (client_id => $asks->{clientId}, %more);
    my $asked = $b->get("$PATH?" . query(%ask))->json;

    return $b->post($PATH, { request => query(%ask), decision => $decision,
                             userId => $asked->{user}{id}, resources => $asked->{resources},
                             scopes => [ map { $_->{name} } @{ $asked->{scopes} } ] });
}

for my $mode (qw(query fragment)) {
    my $to = decide($in, approve => response_mode => $mode, prompt => 'consent')->json->{redirectTo};
    my $sign = $mode eq 'query' ? '?' : '#';

    like($to, qr/\A\Q$CB$sign\Ecode=[\w-]{43}&state=x%20y&iss=[^&]+\z/, "$mode: approved");
    $s->secret($1) if $to =~ /code=([\w-]+)/;
    like(decide($in, deny => response_mode => $mode)->json->{redirectTo},
         qr/\A\Q$CB$sign\Eerror=access_denied&/, "$mode: refused");
}

my %FORM = (response_mode => 'form_post', prompt => 'consent');
my $r = decide($in, approve => %FORM);
my $to = $r->json->{redirectTo};

is($r->header('Cache-Control'), 'no-store', 'form_post: approved');
like($to, qr{\A/oauth/authorize\?[^#]*&decided=[\w-]+\z}, 'it leads back here');

my $digest = $s->sql("SELECT encode(digest, 'hex') FROM svc.oauth_code WHERE client_id ="
                     . " '$asks->{clientId}' ORDER BY expires_at DESC LIMIT 1");
my $got = form_of($in->get($to), 'from where it is posted');
my $code = delete $got->{code};

is(Digest::SHA::sha256_hex($code), $digest, 'the code that was given');
unlike($to, qr/\Q$code\E/, 'which the address does not have');
is_deeply($got, { url => $CB, state => 'x y', iss => $iss }, 'with the state and the issuer');
is(redeem($s, $asks, { code => $code }, redirect_uri => $CB)->status, 200, 'it is good');

# An answer is for this session and this request only: otherwise the request is like
# any other.

my $ask = qr{\A/signin\?return_to=%2Foauth%2Fauthorize%3F(?:(?!decided).)*&consent=1\z};
my $login = qr{\A/signin\?return_to=%2Foauth%2Fauthorize%3F(?:(?!decided).)*\z};

like($nobody->get($to)->header('Location'), $login, 'without the session');
like(browser('bob@acme.test')->get($to)->header('Location'), $ask, 'of somebody else');
like(browser('ada@acme.test')->get($to)->header('Location'), $ask, 'of the same user elsewhere');
like($in->get($to =~ s/state=x%20y/state=x/r)->header('Location'), $ask, 'with another state');
like($in->get($to =~ s/redirect_uri=[^&]*\K/%3Fa%3Db%26amp%3B%27c/r)->header('Location'), $ask,
     'to another address');
is($in->get($to =~ s/$asks->{clientId}/$web->{clientId}/r)->header('Location') =~ $ask, 1,
   'of another client');
like($in->get($to =~ s/&response_mode=form_post//r)->header('Location'), $ask, 'in another mode');
like($in->get($_)->header('Location'), $ask, 'changed: ' . substr $_, -20)
    for $to =~ s/decided=\K(.)/$1 eq 'A' ? 'B' : 'A'/er, substr($to, 0, -1), "${to}A",
        $to =~ s/decided=\K.*/A/r, $to =~ s/decided=\K.*/'A' x 400/er,
        $to =~ s/decided=\K.*/%C3%A9/r;
like(to_error($in->get("$to&decided=x")), qr/invalid_request/, 'twice');

# Returns the answer with another end: opened with the server's key, and sealed again.

sub ending {
    my ($to, $then) = @_;

    my ($path, $value) = $to =~ /\A(.*&decided=)(.*)\z/;
    my ($key) = map { pack 'H*', $_ } slurp($s->{key_file}) =~ /^1:(\w+)$/m;
    my $secret = substr decode_base64url($in->{cookies}{svc_session}), 16;
    my $for = 'oauth_decided' . sha256(sha256($secret) . join '', map { "$_\0" }
                                       $asks->{clientId}, $CB, 'x y');
    my ($id, $rest) = unpack 'C/a a*', decode_base64url($value);
    my ($nonce, $text, $tag) = unpack 'a12 a' . (length($rest) - 28) . ' a16', $rest;

    $text = Crypt::AuthEnc::GCM::gcm_decrypt_verify('AES', $key, $nonce, $for, $text, $tag)
        // die "it cannot be opened\n";
    cmp_ok(abs(hex(substr $text, 0, 16) - time - 60), '<', 30, 'it ends in a minute');
    substr $text, 0, 16, sprintf '%016x', $then;
    ($text, $tag) = Crypt::AuthEnc::GCM::gcm_encrypt_authenticate('AES', $key, $nonce, $for,
                                                                  $text);

    return $path . encode_base64url(pack 'C/a a*', $id, "$nonce$text$tag");
}

$to = decide($in, approve => %FORM)->json->{redirectTo};
like($in->get(ending($to, time - 5))->header('Location'), $ask, 'over: asks again');
like(form_of($in->get(ending($to, time + 5)), 'not over')->{code}, qr/\A[\w-]{43}\z/,
     'until then it has the code');

sub to_error { return form_of($_[0], 'an error')->{error} }

my $denied = form_of($in->get(decide($in, deny => %FORM)->json->{redirectTo}), 'refused');

is_deeply($denied, { url => $CB, error => 'access_denied', state => 'x y', iss => $iss,
                     error_description => 'The user has refused.' }, 'the refusal is posted');

# An application with a loopback address asks each time, and gets its answer.

my $native = application($acme, type => 'native', redirectUris => [ 'http://127.0.0.1/cb' ]);
my %LOOP = (response_mode => 'form_post', client_id => $native->{clientId},
            redirect_uri => 'http://127.0.0.1:5173/cb');

$got = form_of($in->get(decide($in, approve => %LOOP)->json->{redirectTo}), 'loopback');
is($got->{url}, 'http://127.0.0.1:5173/cb', 'where it listens');
like($got->{code}, qr/\A[\w-]{43}\z/, 'a code');

$s->done;
done_testing;
