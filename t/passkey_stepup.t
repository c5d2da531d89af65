#!/usr/bin/perl

# Passkeys as the second factor after a password, and for operations that need a
# fresh one; and at the tenant's own domain.

use strict;
use warnings;

use FindBin;
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Authenticator;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Passkey qw(register sign_in options challenge);

my $ROOT = "$FindBin::Bin/..";
my $ORIGIN = 'https://login.acme.test:8443';

my $s = SvcTest->new(svc => {
    svc_sign_in => 'on', svc_base_url => "$ORIGIN/svc",
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0', 'RATE_LIMIT_LOGIN_EMAIL_MAX 0',
                 'MFA_CHALLENGE_ATTEMPTS 10' ] })->start;
my $acme = $s->tenant('acme');

$s->tenant('globex');
$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }

sub authenticator {
    return SvcTest::Authenticator->new($ROOT, $_[0] // $ORIGIN);
}


sub asked {
    my ($b, %body) = @_;

    my $r = $b->post('/v1/mfa/challenge', { %body });

    is($r->status, 200, 'a challenge') or diag($r->body);

    return $r->json;
}


sub locked {
    my ($until) = @_;

    $s->sql("UPDATE svc.user_account SET locked_until = $until"
            . " WHERE id = '$ada->{id}'");
}


my $keys = authenticator();
my $b = browser();

is($b->login('ada@acme.test')->status, 200, 'signed in');
is(register($b, $keys, counter => 3)->status, 201, 'a passkey');


# --- after the password ------------------------------------------------------

my $in = browser();

admin_error($in->login('ada@acme.test'), 403, 'step_up_required',
            'a second factor is wanted');

my $asked = asked($in);

is_deeply([ @$asked{qw(method methods attemptsLeft)} ],
          [ 'passkey', [ qw(passkey recovery) ], 10 ], 'a passkey');
is_deeply([ map { $_->{transports} } @{ $asked->{publicKey}{allowCredentials} } ],
          [ [ 'internal' ] ], 'the one that there is');
is($asked->{publicKey}{rpId}, 'login.acme.test', 'of the site');

my $credential = $keys->answer($asked->{publicKey});
my $old = $in->cookie;
my $r = $in->post('/v1/mfa/step-up', { credential => $credential,
                                       challengeId => $asked->{challengeId} });

is($r->status, 200, 'is shown') or diag($r->body);
isnt($in->cookie, $old, 'another key');
is($in->get('/v1/auth/session')->status, 200, 'signed in');
is_deeply($in->get('/v1/auth/sessions')->json->{sessions}[0]{methods},
          [ qw(password passkey) ], 'by both');
is($s->sql('SELECT methods FROM svc.session ORDER BY created_at DESC LIMIT 1'),
   '{password,passkey,hwk}', 'of a kind that cannot be backed up');
is($s->sql('SELECT sign_count FROM svc.passkey'), 4, 'counted');
admin_error($in->post('/v1/mfa/step-up', { credential => $credential }), 401,
            'invalid_code', 'once');


# --- for what wants a fresh one ----------------------------------------------

$s->sql("UPDATE svc.session SET mfa_at = now() - interval '1 h'");
admin_error($in->post('/v1/mfa/passkeys/options', {}), 403, 'step_up_required',
            'not fresh');
locked("now() + interval '1 h'");
$asked = asked($in, method => 'passkey');
is($in->post('/v1/mfa/step-up', { credential => $keys->answer(
    $asked->{publicKey}) })->status, 200, 'a lock is nothing to it');
locked('NULL');
is($in->post('/v1/mfa/passkeys/options', {})->status, 200, 'fresh');

$asked = asked($in, method => 'passkey');
admin_error($in->post('/v1/mfa/step-up', { credential => $keys->answer(
    $asked->{publicKey}, counter => 2) }), 401, 'invalid_code', 'counted back');
is(($acme->events_where("action = 'mfa.challenge_failed'", 'details'))[-1][0]{reason},
   'passkey_cloned', 'which is audited');
is($s->sql('SELECT failed_logins FROM svc.user_account'), 0,
   'and does not count for the lock');

my $session = pack 'H*', scalar $s->sql(<<"EOT");
SELECT replace(id::text, '-', '') FROM svc.session
WHERE ended_at IS NULL AND 'passkey' = ANY (methods) ORDER BY created_at DESC LIMIT 1
EOT

$asked->{publicKey}{challenge} = challenge($s, 'stepup', 'login.acme.test', 301,
                                           $session);
admin_error($in->post('/v1/mfa/step-up', { credential => $keys->answer(
    $asked->{publicKey}, counter => 20) }), 400, 'challenge_expired', 'too late');

for my $body ({ credential => {}, code => '123456' }, {}, { credential => 'x' }) {
    admin_error($in->post('/v1/mfa/step-up', $body), 400, 'invalid_request',
                'one thing at a time');
}


# --- at the tenant's own domain ----------------------------------------------

$s->sql("INSERT INTO svc.domain (tenant_id, domain, verified_at) VALUES"
        . " ('$acme->{id}', 'id.acme.test', now()),"
        . " ('$acme->{id}', 'soon.acme.test', NULL)");

my @there = (Host => 'ID.acme.test:444');
my $own = authenticator('https://id.acme.test:444');
my $public = $in->ask(POST => '/v1/mfa/passkeys/options', {}, @there)
             ->json->{publicKey};

is($public->{rp}{id}, 'id.acme.test', 'its site');
is_deeply($public->{excludeCredentials}, [], 'has passkeys of its own');
is($in->ask(POST => '/v1/mfa/passkeys',
           { credential => $own->answer($public, id => 'b3du') }, @there)->status,
   201, 'one');

$public = $in->ask(POST => '/v1/auth/passkey/options', {}, @there)->json->{publicKey};
is($public->{rpId}, 'id.acme.test', 'its site');
is($in->ask(POST => '/v1/auth/passkey/verify',
            { credential => $own->answer($public) }, @there)->status, 200,
   'signs in there');

# a challenge of one site does not work at the other

$public = $in->ask(POST => '/v1/auth/passkey/options', {}, @there)->json->{publicKey};
admin_error($in->ask(POST => '/v1/auth/passkey/verify',
                     { credential => $own->answer($public) }), 401,
            'invalid_credentials', 'and not elsewhere');
$public = options($in, '/v1/auth/passkey/options');
admin_error($in->ask(POST => '/v1/auth/passkey/verify',
                     { credential => $keys->answer($public, counter => 30) },
                     @there), 401, 'invalid_credentials', 'nor the other way');
admin_error($in->ask(POST => '/v1/auth/passkey/options', { tenant => 'globex' },
                     @there), 400, 'invalid_request', 'of no other tenant');
is($in->ask(POST => '/v1/auth/passkey/options', {}, Host => 'soon.acme.test')
   ->json->{publicKey}{rpId}, 'login.acme.test', 'one that is not verified is none');


# --- where there are none ----------------------------------------------------

for my $url ('http://login.acme.test', 'https://192.0.2.1', 'http://127.0.0.1:8080',
             'https://[2001:db8::1]') {
    my $node = $s->node(svc => { svc_sign_in => 'on', svc_base_url => $url });

    admin_error(browser(port => $node->{port})->post('/v1/auth/passkey/options', {}),
                404, 'not_found', $url);
    $node->stop;
}

done_testing();
