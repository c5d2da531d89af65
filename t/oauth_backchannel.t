#!/usr/bin/perl

# Shows that applications are told that a session has ended, whatever ended it: by a
# token that others can verify, once for each session, with three attempts at most,
# and that no slow receiver holds up others.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Metrics;
use SvcTest::Npm;
use SvcTest::OAuth qw(oauth_server application form claims escape);
use SvcTest::Process qw(signal_pid slow wait_for write_file);
use SvcTest::Receiver;

my $s = oauth_server(locations => $SvcTest::Metrics::LOCATION);
my $receiver = SvcTest::Receiver->new($s, svc_webhooks => 'off', svc_backchannel_logout => 'on',
                                      svc_webhook_timeout => '2s', svc_set => [
    'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_LOGIN_WINDOW 0' ]);

$s->start;

my $acme = $s->tenant('acme');
my $issuer = $s->base_url . '/oauth/t/acme';
my $CB = 'https://app.test/cb';
my $VERIFIER = 'v' x 43;
my $users = 0;

$s->secret($PASSWORD);

my %WEB = (type => 'web', requireConsent => JSON::PP::false, redirectUris => [ $CB ],
           signingAlg => 'ES256', scopes => [ 'openid' ]);

sub app {
    my ($path, %more) = @_;

    my $app = application($acme, %WEB, name => $path // 'x',
                          $path ? (backchannelLogoutUri => $receiver->url($path)) : (), %more);

    $app->{path} = $path;

    return $app;
}


sub user { return with_password($s, $acme, userName => 'u' . ++$users . '@acme.test', @_) }

sub browser {
    my ($user) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    $b->login($user->{userName})->status == 200 or die "no session of $user->{userName}\n";

    return $b;
}


# Signs a user in to an application; returns the tokens.

sub sign_in {
    my ($b, $app, $scope) = @_;

    my $r = $b->get('/oauth/authorize?' . join '&', map { escape($_) =~ s/%3D/=/r }
        "client_id=$app->{clientId}", "redirect_uri=$CB", 'response_type=code',
        'scope=' . ($scope // 'openid'), 'code_challenge_method=S256',
        'code_challenge=' . encode_base64url(sha256($VERIFIER)));
    my ($code) = ($r->header('Location') // '') =~ /[?&]code=([\w-]+)/
        or die $r->status, $r->header('Location') // '', $r->body;

    $s->secret($code);
    $r = form($s, token => { grant_type => 'authorization_code', code => $code,
                             redirect_uri => $CB, code_verifier => $VERIFIER },
              client => $app);
    $r->status == 200 or die $r->body;

    return $r->json;
}

sub sid { return (claims($_[0]{id_token}))[1]{sid} }


# told() returns the verified claims of the tokens that an application was sent;
# sids() returns their "sid", sorted.

sub told {
    my ($app, $n, $seconds) = @_;

    return map { (claims($_->{body} =~ s/\Alogout_token=//r))[1] }
           $receiver->wait($app->{path}, $n, $seconds // 10);
}

sub sids { return [ sort map { $_->{sid} } told(@_) ] }


# Returns how many logouts wait in the database; in the end there are none.

sub waiting { return $s->sql('SELECT count(*) FROM svc.oauth_logout') }


# --- the token ------------------------------------------------------------------------

my $app = app('/ok/first');
my $other = app('/ok/other', backchannelLogoutSessionRequired => JSON::PP::true);
my $deaf = app(undef);
my $ada = user();
my $b = browser($ada);
my $sid = sid(sign_in($b, $app));
my $sid_other = sid(sign_in($b, $other));

sign_in($b, $app);
sign_in($b, $deaf);
is($b->post('/v1/auth/logout')->status, 204, 'she signs out');

my ($got) = $receiver->wait($app->{path}, 1, 10);

is_deeply([ @$got{qw(method url)}, @{ $got->{header} }{qw(content-type user-agent)} ],
          [ 'POST', '/ok/first', 'application/x-www-form-urlencoded', 'Svc-Logout/1' ],
          'a form is posted');

my ($token) = $got->{body} =~ /\Alogout_token=([\w.-]+)\z/;
my $verify = sub {
    my ($to, $alg, @tokens) = @_;

    return map { JSON::PP::decode_json($_) } split /\n/, npm_run($s->root, 'logout.mjs',
        JSON::PP::encode_json({ issuer => $issuer, audience => $to->{clientId}, alg => $alg,
                                jwks => $s->http(GET => '/oauth/t/acme/jwks')->json,
                                tokens => \@tokens }));
};
my ($claims, $forged) = $verify->($app, 'ES256', $token,
                                   $token =~ s/.{86}\z/'A' x 86/er);

is_deeply($claims, {
    iss => $issuer, aud => [ $app->{clientId} ], sub => $ada->{id}, sid => $sid,
    events => { 'http://schemas.openid.net/event/backchannel-logout' => {} },
    iat => $claims->{iat}, exp => $claims->{iat} + 120, jti => $claims->{jti},
}, 'jose verifies it') or diag(explain($claims));
like($claims->{jti}, qr/\A[0-9a-f]{32}\z/, 'it has an id');
cmp_ok(abs($claims->{iat} - time), '<', 10, 'and is new');
like($forged->{wrong}, qr/signature/, 'and not one that was changed');
is_deeply(sids($other, 1), [ $sid_other ], 'the other application knows it by another sid');
ok((wait_for { waiting() == 0 }), 'nothing is left');
is(scalar $receiver->at($app->{path}), 1, 'one for all grants of the session');

{
    my $rsa = app('/ok/rsa', signingAlg => 'RS256');
    my $own = browser($ada);
    my $signed_in = sign_in($own, $rsa);

    $own->post('/v1/auth/logout');

    my ($sent) = $receiver->wait($rsa->{path}, 1, 10);
    my ($rs256, $wrong) = map { $verify->($rsa, $_, $sent->{body} =~ s/\Alogout_token=//r) }
                          qw(RS256 ES256);

    is($rs256->{sid}, sid($signed_in), 'RS256, for an application whose tokens are signed so')
        or diag(explain($rs256));
    like($wrong->{wrong}, qr/alg/, '... and by no other one');
}

my $document = $s->http(GET => '/oauth/t/acme/.well-known/openid-configuration')->json;

is_deeply([ @$document{qw(backchannel_logout_supported backchannel_logout_session_supported)} ],
          [ (JSON::PP::true) x 2 ], 'the metadata says that it is there');


# --- all ways to end a session ----------------------------------------------------------

my $owner = user(role => 'owner');
my $admin = browser($owner);
my $way = 0;
my $admin_does = sub {
    my ($method, $path, $body) = @_;

    my $r = $acme->admin($method, $path, undef, $body, $acme->token_for(
        'members:manage,users:view'));

    return $r->status < 300 || diag("$path: ", $r->status, ' ', $r->body) && 0;
};

# Each way takes the user, the browser and the sid, and tells whether it ends the
# session.

my @WAYS = (
    [ 'an application' => sub {
        my ($user, $own, $signed_in) = @_;
        $own->get("/oauth/logout?id_token_hint=$signed_in->{id_token}")->status == 303;
    } ],
    [ 'the page' => sub { $_[1]->post('/v1/oauth/logout', { request => '' })->status == 200 } ],
    [ 'another session, by its id' => sub {
        my ($user, $own) = @_;
        my ($id) = map { $_->{id} } grep { $_->{current} }
                   @{ $own->get('/v1/auth/sessions')->json->{sessions} };
        browser($user)->ask(DELETE => "/v1/auth/sessions/$id")->status == 204;
    } ],
    [ 'another session, all others' => sub {
        browser($_[0])->post('/v1/auth/sessions/revoke-others')->status == 200;
    } ],
    [ 'another session, the password' => sub {
        my %body = (currentPassword => $PASSWORD, newPassword => "of nobody any more $way");
        browser($_[0])->post('/v1/auth/password', \%body)->status == 200;
    } ],
    [ 'a new sign-in of the browser' => sub {
        $_[1]->login($_[0]{userName})->status == 200;
    } ],
    [ 'an administrator' => sub { $admin_does->(POST => "/users/$_[0]{id}/logout") } ],
    [ 'a suspension' => sub { $admin_does->(POST => "/users/$_[0]{id}/suspend") } ],
    [ 'the reset of factors' => sub { $admin_does->(POST => "/users/$_[0]{id}/reset-mfa") } ],
    [ 'a directory' => sub {
        $acme->scim(PATCH => "/Users/$_[0]{id}", { schemas =>
            [ 'urn:ietf:params:scim:api:messages:2.0:PatchOp' ],
            Operations => [ { op => 'replace', path => 'active', value => JSON::PP::false } ] })
            ->status == 200;
    } ],
    [ 'a directory that deletes' => sub {
        $acme->scim(DELETE => "/Users/$_[0]{id}")->status == 204;
    } ],
    [ 'the end of the row of the user' => sub {
        $s->sql("DELETE FROM svc.user_account WHERE id = '$_[0]{id}'");
        1;
    } ],
    [ 'svcctl' => sub {
        my (undef, $rc) = $s->svcctl(qw(user reset-mfa --tenant acme --email), $_[0]{userName});
        $rc == 0;
    } ],
);

for (@WAYS) {
    my ($name, $end) = @$_;
    my $user = user();
    my $own = browser($user);
    my $to = app('/ok/way' . ++$way);
    my $signed_in = sign_in($own, $to);

    ok($end->($user, $own, $signed_in), $name);
    is_deeply(sids($to, 1), [ sid($signed_in) ], '... the application is told');
}

# The session that goes on has another secret; it is told of when it ends itself.

for my $what ([ '/v1/auth/sessions/revoke-others' ],
              [ '/v1/auth/password', { currentPassword => $PASSWORD,
                                       newPassword => 'a quiet harbour before seven' } ])
{
    my $user = user();
    my ($own, $lost) = map { browser($user) } 1 .. 2;
    my $to = app('/ok/goes' . ++$way);
    my ($kept, $gone) = map { sid(sign_in($_, $to)) } $own, $lost;

    is($own->post(@$what)->status, 200, $what->[0]);
    is_deeply(sids($to, 1), [ $gone ], '... the other one has ended');
    ok((wait_for { waiting() == 0 }), '... and nothing else');
    is($own->post('/v1/auth/logout')->status, 204, '... until she signs out');
    is_deeply(sids($to, 2), [ sort $kept, $gone ], '... is told then');
}

# A session that merely expires is not told of.

{
    my $user = user();
    my $own = browser($user);
    my $to = app('/ok/idle');

    sign_in($own, $to);
    $s->sql("UPDATE svc.session SET expires_at = now() - interval '2 hours'"
            . " WHERE user_id = '$user->{id}'");
    $s->sql('SELECT svc.sign_in_expire(1000, 60)');
    is($s->sql("SELECT count(*) FROM svc.session WHERE user_id = '$user->{id}'"), 0, 'it is gone');
    is(waiting(), 0, 'which is told nobody');
}

# An application that has set its URI only now.

{
    my $user = user();
    my $own = browser($user);
    my $to = app(undef);
    my $signed_in = sign_in($own, $to);

    $to->{path} = '/ok/late';

    my $r = $s->http(PATCH => "/v1/applications/$to->{clientId}",
                     [ Authorization => "Bearer $acme->{apps_token}" ],
                     { backchannelLogoutUri => $receiver->url($to->{path}) });

    is($r->status, 200, 'a URI, later') or diag($r->body);
    $own->post('/v1/auth/logout');
    is_deeply(sids($to, 1), [ sid($signed_in) ], 'it is told of the session that there was');
}


# --- refresh tokens ---------------------------------------------------------------------

{
    my $user = user();
    my $own = browser($user);
    my $always = app('/ok/refresh', refreshTokens => 'always');
    my $refresh = sub {
        my $r = form($s, token => { grant_type => 'refresh_token',
                                    refresh_token => $_[0]{refresh_token} }, client => $_[1]);

        $s->secret($r->json->{refresh_token} // ());

        return $r->status == 200 ? $r->json : $r->json->{error};
    };
    my $short = sign_in($own, $always);
    my $long = sign_in($own, $always, 'openid offline_access');

    $s->secret(map { $_->{refresh_token} } $short, $long);
    ok($short->{refresh_token} && $long->{refresh_token}, 'two refresh tokens');
    $own->post('/v1/auth/logout');
    is_deeply(sids($always, 1), [ sid($short) ], 'the session has ended');
    is($refresh->($short, $always), 'invalid_grant', 'and with it the one without offline_access');
    is(ref $refresh->($long, $always), 'HASH', '... but not the other one');
    is($s->sql("SELECT string_agg(reason, ',') FROM svc.oauth_grant"
               . " WHERE client_id = '$always->{clientId}'"), 'session_ended', 'which is why');
}


# --- receivers that fail ----------------------------------------------------------------

sub counted {
    my $m = SvcTest::Metrics->get($s);

    return { map { $_ => $m->value('svc_logout_tokens_total', outcome => $_) }
             qw(delivered retried abandoned refused) };
}

sub signed_out {
    my ($to) = @_;

    my $own = browser(user());

    sign_in($own, $to);
    $own->post('/v1/auth/logout');
}

ok((wait_for { waiting() == 0 }), 'nothing waits');

my $before = counted();
my $broken = app('/status/500');

signed_out($broken);

my @times = map { $_->{time} } $receiver->wait($broken->{path}, 3, 20);

is(@times, 3, 'three attempts');
cmp_ok($times[1] - $times[0], '>=', 900, '... the second one a second later');
cmp_ok($times[2] - $times[1], '>=', 4900, '... the third one five');
ok((wait_for { waiting() == 0 }), '... and no more');
is_deeply(counted(), { %$before, retried => $before->{retried} + 2,
                       abandoned => $before->{abandoned} + 1 }, 'which is counted');

# A receiver that works again.

$before = counted();

my $back = app('/fail/1/back');

signed_out($back);
ok((wait_for { counted()->{delivered} == $before->{delivered} + 1 } 20),
   'the second attempt is taken');
is_deeply(counted(), { %$before, retried => $before->{retried} + 1,
                       delivered => $before->{delivered} + 1 }, '... which is counted');
is(scalar $receiver->at($back->{path}), 2, '... and no third one made');
ok((wait_for { waiting() == 0 }), '... nor waited for');

my @jti = map { $_->{jti} } told($broken, 3);

is(keys %{ { map { $_ => 1 } @jti } }, 3, 'each has an id of its own');

$before = counted();
signed_out(app("/redirect/$receiver->{port}{good}"));
$receiver->wait("/redirect/$receiver->{port}{good}", 3, 20);
ok((wait_for { waiting() == 0 }), 'nothing waits');
is(scalar $receiver->at('/visited'), 0, 'a redirect is not followed');

# Addresses that are not public are refused: when the URI is set, and, for stored URIs
# and what a name resolves to, when the token is sent.

for my $host ('10.0.0.1', '169.254.169.254', '[::ffff:10.0.0.1]') {
    my $to = app('/x');
    my $r = $s->http(PATCH => "/v1/applications/$to->{clientId}",
                     [ Authorization => "Bearer $acme->{apps_token}" ],
                     { backchannelLogoutUri => "https://$host/logout" });

    is($r->status, 400, "$host: cannot be set");
    like($r->json->{error}{message}, qr/^"backchannelLogoutUri" must have a public host: /,
         '... which is said');
    $s->sql("UPDATE svc.application SET backchannel_logout_uri = 'https://$host/logout'"
            . " WHERE client_id = '$to->{clientId}'");
    $before = counted();
    signed_out($to);
    ok((wait_for { counted()->{refused} == $before->{refused} + 1 }), "$host: refused");
    ok((wait_for { waiting() == 0 }), '... and nothing is left');
    is_deeply(counted(), { %$before, refused => $before->{refused} + 1 },
              '... which was not tried again');
}

$before = counted();
signed_out(app('/x', backchannelLogoutUri => $receiver->url('/ok/x', 'self')));
ok((wait_for { counted()->{abandoned} == $before->{abandoned} + 1 } 20),
   'a certificate of nobody');
is(scalar $receiver->at('/ok/x'), 0, '... is sent nothing');

# Eight logouts wait for a receiver that does not answer, before one for a receiver
# that does.

my $hangs = app('/hang');
my @waits = map { my $own = browser(user()); sign_in($own, $hangs); $own } 1 .. 8;
my $quick = app('/ok/quick');
my $own = browser(user());

sign_in($own, $quick);
$_->post('/v1/auth/logout') for @waits;
ok($receiver->wait($hangs->{path}, 4, 10) >= 4, 'four wait for an answer');

my $since = time;

$own->post('/v1/auth/logout');
is(scalar $receiver->wait($quick->{path}, 1, 10), 1, 'somebody else');
cmp_ok(time - $since, '<', 1.9, '... does not wait for them');


# --- many logouts at the same time ------------------------------------------------------

my $many = 1000;
my @apps = map { app("/ok/many$_") } 1 .. 8;
my $list = join ',', map { "'$_->{clientId}'" } @apps;

$s->sql(<<"EOT");
INSERT INTO svc.user_account (tenant_id, id, user_name, display_name)
SELECT '$acme->{id}', md5('many' || i)::uuid, 'many' || i || '\@acme.test', 'x'
  FROM generate_series(1, $many) i;
INSERT INTO svc.session (tenant_id, id, user_id, token_hash, root_id, stage, auth_time,
                         expires_at)
SELECT '$acme->{id}', md5('session' || i)::uuid, md5('many' || i)::uuid,
       sha256(('many' || i)::bytea), md5('session' || i)::uuid, 'full', now(), now() + '1 h'
  FROM generate_series(1, $many) i;
INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes, resources,
                             resource_keys, session_id, session_at, auth_time, methods,
                             consented, expires_at, watches)
SELECT '$acme->{id}', gen_random_uuid(), (ARRAY[$list])[i % 8 + 1], md5('many' || i)::uuid,
       '{openid}', '{}', '{}', md5('session' || i)::uuid, now(), now(), '{}', true,
       now() + '1 day', true
  FROM generate_series(1, $many) i;
EOT

my @at_once = map { $s->connect_as('postgres') } 1 .. 4;

$at_once[$_]->begin(<<"EOT") for 0 .. 3;
DO \$\$ DECLARE i integer; BEGIN
    FOR i IN 1 .. $many LOOP
        IF $_ = 0 THEN
            UPDATE svc.session SET ended_at = now() WHERE id = md5('session' || i)::uuid
               AND ended_at IS NULL;
        ELSIF $_ = 1 THEN
            UPDATE svc.user_account SET valid_after = clock_timestamp()
             WHERE id = md5('many' || $many + 1 - i)::uuid;
        ELSIF $_ = 2 THEN
            UPDATE svc.oauth_grant SET revoked_at = now(), reason = 'x'
             WHERE user_id = md5('many' || i)::uuid AND revoked_at IS NULL;
        ELSE
            UPDATE svc.session SET ended_at = now()
             WHERE id = md5('session' || $many + 1 - i)::uuid AND ended_at IS NULL;
        END IF;
        COMMIT;
    END LOOP;
END \$\$
EOT
$_->until_ready for @at_once;
ok((wait_for { waiting() == 0 } 60), 'all were sent');

my %sids = map { $_->{sid} => 1 } map { told($_, 1) } @apps;

is(keys %sids, $many, "$many logouts beside revocations: each was told");


# --- a helper that is killed -----------------------------------------------------------

# The helper is killed while a receiver has its token: another one is sent after the
# minute in which an answer would have come.

{
    $s->nginx->{svc}{svc_webhook_timeout} = '30s';
    $s->reload;

    my $to = app('/until/answered');

    signed_out($to);
    is(scalar $receiver->wait($to->{path}, 1, 10), 1, 'a token is under way');

    my $pid = $s->nginx->wait_helper;

    signal_pid('KILL', $pid);
    ok($s->nginx->wait_helper($pid), 'its helper is killed, another one starts');
    is(waiting(), 1, '... who knows of it');
    cmp_ok($s->sql('SELECT extract(epoch FROM due_at - clock_timestamp()) FROM svc.oauth_logout'),
           '>', 0, '... and lets it have its time');
    is(scalar $receiver->at($to->{path}), 1, '... before which nobody is told again');
    write_file("$receiver->{dir}/answered", '');
    $s->sql('UPDATE svc.oauth_logout SET due_at = clock_timestamp()');

    my @told = told($to, 2, 20);

    is(scalar @told, 2, 'then the other one tells it');
    is_deeply([ map { $_->{sid} } @told ], [ ($told[0]{sid}) x 2 ], '... of the same session');
    isnt($told[0]{jti}, $told[1]{jti}, '... by a token of its own');
    ok((wait_for { waiting() == 0 }), '... and nothing is left');
    is(scalar $receiver->at($to->{path}), 2, '... nor told again');
}


# --- a helper that quits, and one that leaves ---------------------------------------------

# the one writes what becomes of the token that is under way; the other one cannot, while
# PostgreSQL is away, and waits for nobody

{
    my $to = app('/until/quit');

    signed_out($to);
    is(scalar $receiver->wait($to->{path}, 1, 10), 1, 'a token is under way');

    my $pid = $s->nginx->wait_helper;

    signal_pid('QUIT', $pid);
    ok((wait_for { $s->nginx->said(qr/$pid#.*helper process is shutting down/) }),
       'its helper quits');
    is(waiting(), 1, '... but waits for the answer');
    write_file("$receiver->{dir}/quit", '');
    ok($s->nginx->wait_helper($pid), '... and ends');
    is(waiting(), 0, '... with what became of it');
    is(scalar $receiver->at($to->{path}), 1, '... which was told once');
}

{
    my $to = app('/until/away');

    signed_out($to);
    is(scalar $receiver->wait($to->{path}, 1, 10), 1, 'a token is under way');

    my $pid = $s->nginx->wait_helper;

    $s->pg->stop;
    $before = counted();
    write_file("$receiver->{dir}/away", '');
    ok((wait_for { counted()->{delivered} == $before->{delivered} + 1 }),
       'it is taken while PostgreSQL is away');

    my $began = time;

    signal_pid('TERM', $pid);
    ok($s->nginx->wait_helper($pid), 'the helper leaves');
    cmp_ok(time - $began, '<', slow(10), '... at once');
    $s->pg->launch;
    ok($s->wait_healthy, 'PostgreSQL is back');
    is(waiting(), 1, '... and knows of no answer');
    $s->sql('UPDATE svc.oauth_logout SET due_at = clock_timestamp()');
    is(scalar(told($to, 2, 20)), 2, '... so that the application is told again');
    ok((wait_for { waiting() == 0 }), '... and nothing is left');
    is(scalar $receiver->at($to->{path}), 2, '... nor told once more');
}

$s->done(shown => [ qr/was not told of a logout/, qr/webhook/ ],
         allow => [ qr/exited on signal 9/ ]);
done_testing();
