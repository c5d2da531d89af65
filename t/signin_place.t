#!/usr/bin/perl

# A blocked address, and an access policy that denies, apply wherever a proof is
# taken or a code is issued, not only at the sign-in.  What deliberately
# continues is tested, too.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(totp enrolled policy);
use SvcTest::OAuth qw(oauth_server application form consent);

my $s = oauth_server(svc => { svc_password_hash => 'memory=7m iterations=1',
                              svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 100000',
                                           'RATE_LIMIT_LOGIN_EMAIL_MAX 100000' ] })->start;
my $acme = $s->tenant('acme');
my $CB = 'https://app.acme.test/cb';
my $web = application($acme, name => 'Web', type => 'web', redirectUris => [ $CB ],
                      grantTypes => [ qw(authorization_code refresh_token) ],
                      scopes => [ 'openid' ]);
my $query = join '&', "client_id=$web->{clientId}", 'redirect_uri=' . SvcTest::OAuth::escape($CB),
                 'response_type=code', 'scope=openid%20offline_access', 'state=xyz',
                 'code_challenge=' . encode_base64url(sha256('v' x 43)),
                 'code_challenge_method=S256';

$s->secret($PASSWORD);

sub browser {
    my ($name) = @_;
    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    $b->login("$name\@acme.test");

    return $b;
}

my %id = map { $_ => with_password($s, $acme, userName => "$_\@acme.test")->{id} }
         qw(ada bob cyd dan);

consent($acme, $id{ada}, $web, [ qw(openid offline_access) ]);


# --- how it is closed, and opened --------------------------------------------------------

my %CLOSE = (
    blocked => sub {
        $s->sql("INSERT INTO svc.ip_block (tenant_id, ip) VALUES ('$acme->{id}', '127.0.0.1')");
    },
    policy => sub {
        $s->sql('UPDATE svc.governance SET access_number = access_number + 1, access_policy ='
                . " '{\"rules\":[],\"defaultAction\":\"deny\"}' WHERE tenant_id = '$acme->{id}'");
    },
);
my %OPEN = (
    blocked => sub { $s->sql("DELETE FROM svc.ip_block") },
    policy => sub { policy($acme, 'allow') },
);


# --- what is asked for -------------------------------------------------------------------

# Made before: a full session, one that waits for its factor, one that has to
# enroll one, and one that waits for a new password; and a grant with its
# tokens.

my $ada = browser('ada');
my $with = browser('bob');
my $factor = enrolled($with);
my $waiting = browser('bob');

policy($acme, 'mfa');

my $enrolling = browser('cyd');

policy($acme, 'allow');

my $new = $enrolling->post('/v1/mfa/totp', {})->json;

$s->secret($new->{secret});
$s->sql("UPDATE svc.password SET set_at = now() - interval '60 days' WHERE user_id = '$id{dan}'");
is($acme->admin(PUT => '/password-policy', { maxAgeDays => 30 }, undef,
                $acme->token_for('tenant:manage'))->status, 200, 'passwords end');

my $expired = browser('dan');

$s->sql("UPDATE svc.governance SET max_age_days = 0 WHERE tenant_id = '$acme->{id}'");

sub code_of {
    my ($location) = @_;

    $s->secret($1) if $location =~ /[?&]code=([\w-]+)/;

    return $1;
}

sub token {
    return form($s, token => { @_ }, client => $web)->json;
}

my $code = code_of($ada->get("/oauth/authorize?$query")->header('Location'));
my $tokens = token(grant_type => 'authorization_code', code => $code,
                   code_verifier => 'v' x 43);

$s->secret($tokens->{$_}) for qw(access_token refresh_token);
ok($tokens->{refresh_token}, 'there are tokens');

my $asked = $ada->get("/v1/oauth/authorization?$query")->json;
my %decision = (request => $query, userId => $id{ada}, resources => $asked->{resources},
                scopes => [ map { $_->{name} } @{ $asked->{scopes} } ]);

sub events {
    my ($name) = @_;

    return $s->sql("SELECT string_agg(details->>'reason', ' ' ORDER BY id) FROM svc.audit_event"
                   . " WHERE action = 'user.login_failed' AND target_id = '$id{$name}'") // '';
}

sub denied_to {
    my ($r, $name) = @_;

    like($r->header('Location') // $r->body,
         qr/\A\Q$CB\E\?error=access_denied&error_description=[\w%.+-]+&state=xyz&iss=/,
         "$name: the client hears of it");
}

for my $why (qw(blocked policy)) {
    my $nobody = SvcTest::Browser->new($s, tenant => 'acme');
    my $codes = $s->sql('SELECT count(*) FROM svc.oauth_code');

    $s->sql("DELETE FROM svc.audit_event WHERE action = 'user.login_failed'");
    $CLOSE{$why}->();

    # codes are not issued

    denied_to($ada->get("/oauth/authorize?$query"), "$why, a session");
    denied_to($nobody->get("/oauth/authorize?$query"), "$why, nobody");
    denied_to($ada->get("/oauth/authorize?$query&prompt=none"), "$why, prompt=none");
    admin_error($ada->get("/v1/oauth/authorization?$query"), 400, 'access_denied',
                "$why: the page");
    admin_error($ada->post('/v1/oauth/authorization', { %decision, decision => 'approve' }), 400,
                'access_denied', "$why: an approval");
    is($s->sql('SELECT count(*) FROM svc.oauth_code'), $codes, "$why: there is no code");

    # proofs are not taken

    admin_error(SvcTest::Browser->new($s, tenant => 'acme')->login('ada@acme.test'), 403,
                'access_denied', "$why: a sign-in");
    admin_error($ada->post('/v1/mfa/challenge', {}), 403, 'access_denied', "$why: a challenge");
    admin_error($ada->post('/v1/mfa/step-up', { password => $PASSWORD }), 403, 'access_denied',
                "$why: a step-up");
    is(events('ada'), "$why $why $why", '... which are on record');

    admin_error($waiting->post('/v1/mfa/step-up', { code => totp($factor->{secret}) }), 403,
                'access_denied', "$why: the factor of a sign-in");
    is(events('bob'), $why, '... which is on record');
    admin_error($enrolling->post("/v1/mfa/totp/$new->{id}/confirm",
                                 { code => totp($new->{secret}) }), 403, 'access_denied',
                "$why: the first factor");
    admin_error($enrolling->post('/v1/mfa/totp', {}), 403, 'access_denied', "$why: another one");
    admin_error($expired->post('/v1/auth/password', { newPassword => "$PASSWORD-new" }), 403,
                'access_denied', "$why: a new password");
    admin_error($ada->post('/v1/auth/password', { currentPassword => $PASSWORD,
                                                  newPassword => "$PASSWORD-new" }), 403,
                'access_denied', "$why: another one");
    admin_error($ada->post('/v1/mfa/passkeys/options', {}), 403, 'access_denied',
                "$why: a passkey");
    is($s->sql("SELECT count(*) FROM svc.session WHERE stage <> 'full' AND ended_at IS NULL"), 3,
       "$why: who waits waits on");

    # what continues

    is($ada->get('/v1/auth/session')->status, 200, "$why: a session goes on");
    is(form($s, introspect => { token => $tokens->{access_token} },
            client => $web)->json->{active}, JSON::PP::true(), "$why: so does a token");
    $tokens = { %$tokens, %{ token(grant_type => 'refresh_token',
                                   refresh_token => $tokens->{refresh_token}) } };
    $s->secret($tokens->{$_}) for qw(access_token refresh_token);
    is($tokens->{error}, undef, "$why: and a grant");

    $OPEN{$why}->();
}

# --- when it is open again ---------------------------------------------------------------

ok(code_of($ada->get("/oauth/authorize?$query")->header('Location')), 'codes are given');

# a policy that denies others, and not this address

$s->sql('UPDATE svc.governance SET access_number = access_number + 1, access_policy ='
        . ' \'{"rules":[{"name":"Abroad","enabled":true,"networks":["192.0.2.0/24"],'
        . '"action":"deny"}],"defaultAction":"allow"}\' WHERE tenant_id = ' . "'$acme->{id}'");
ok(code_of($ada->get("/oauth/authorize?$query")->header('Location')), 'by a policy that allows it');
is($ada->get("/v1/oauth/authorization?$query")->json->{consent}, 'given', '... and the page');

my $r = $ada->post('/v1/oauth/authorization', { %decision, decision => 'approve' });

is($r->status, 200, '... and an approval') or diag($r->body);
ok(code_of($r->json->{redirectTo}), '... which has a code');
is($waiting->post('/v1/mfa/step-up', { code => totp($factor->{secret}) })->status, 200,
   'the factor is taken');
is($enrolling->post("/v1/mfa/totp/$new->{id}/confirm",
                    { code => totp($new->{secret}) })->status, 200, 'and the first one');
is($expired->post('/v1/auth/password', { newPassword => "$PASSWORD-new" })->status, 200,
   'and a new password');

$s->done;
done_testing();
