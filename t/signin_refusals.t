#!/usr/bin/perl

# Each refused sign-in is in the audit log, and can be found by the account's
# address; for an unknown address nothing of what was typed is stored.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(totp enrolled policy);

my $s = SvcTest->new(svc => { svc_sign_in => 'on',
                              svc_password_hash => 'memory=7m iterations=1',
                              svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 100000',
                                           'RATE_LIMIT_LOGIN_EMAIL_MAX 100000' ] },
                     workers => 1)->start;
my $acme = $s->tenant('acme');
my $manage = $acme->token_for('tenant:manage');

$s->secret($PASSWORD);

my %id = map { $_ => with_password($s, $acme, userName => "$_\@acme.test")->{id} }
         qw(ada bob cyd dan eve);

sub login {
    my ($name, $password) = @_;
    my $b = SvcTest::Browser->new($s, tenant => 'acme');
    my $r = $b->login("$name\@acme.test", $password);

    return ($b, $r->status == 200 ? '' : $r->json->{error}{code});
}

# Tests the last event of a sign-in: its user and reason, and that a search by
# the address finds it.

sub refused {
    my ($name, $code, $action, $why) = @_;
    my ($last) = $s->sql('SELECT action, outcome, target_id, target_name, details'
                         . ' FROM svc.audit_event ORDER BY created_at DESC, id DESC LIMIT 1');
    my $details = JSON::PP::decode_json($last->[4]);

    is_deeply([ @$last[0 .. 3], $details->{reason} // $details->{method} ],
              [ $action, 'failure', $id{$name}, "$name\@acme.test", $why ],
              "$name: $why is audited under the address");
    is($acme->admin(GET => "/audit?q=$name%40acme.test&action=$action&limit=1", undef, [],
                    $acme->token_for('audit:view'))->json->{events}[0]{target}{name},
       "$name\@acme.test", 'and found by it');
}

my ($b, $code) = login('ada', 'wrong');

is($code, 'invalid_credentials', 'a wrong password');
refused('ada', $code, 'user.login_failed', 'wrong');

# an unknown address

(undef, $code) = login('a-secret-typed-here', 'wrong');
is($code, 'invalid_credentials', 'nobody');
is($s->sql("SELECT count(*) FROM svc.audit_event e WHERE e::text LIKE '%a-secret-typed%'"), 0,
   'nothing that was typed is kept');
is_deeply([ $s->sql('SELECT target_id, target_name FROM svc.audit_event'
                    . ' ORDER BY created_at DESC, id DESC LIMIT 1') ], [ [ undef, undef ] ],
          'it is of nobody');

# a wrong second factor

($b) = login('bob');

my $factor = enrolled($b);

($b, $code) = login('bob');
is($code, 'step_up_required', 'a factor is asked for');
admin_error($b->post('/v1/mfa/step-up', { code => sprintf '%06d',
                (totp($factor->{secret}) + 333_333) % 1_000_000 }), 401, 'invalid_code',
            'a wrong one');
refused('bob', $code, 'mfa.challenge_failed', 'totp');

# users who may not sign in

$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$id{cyd}'");
(undef, $code) = login('cyd');
is($code, 'invalid_credentials', 'who is suspended');
refused('cyd', $code, 'user.login_failed', 'inactive');

# a password that has expired

is($acme->admin(PUT => '/password-policy', { maxAgeDays => 30 }, undef, $manage)->status, 200,
   'passwords become old');
$s->sql("UPDATE svc.password SET set_at = now() - interval '31 days'"
        . " WHERE user_id IN ('$id{dan}', '$id{bob}')");
(undef, $code) = login('dan');
is($code, 'password_expired', 'an old one');
refused('dan', $code, 'user.login_failed', 'password_expired');

($b) = login('bob');
admin_error($b->post('/v1/mfa/step-up', { code => totp($factor->{secret}) }), 403,
            'password_expired', 'an old one behind a factor');
refused('bob', $code, 'user.login_failed', 'password_expired');

# the policy requires a factor

policy($acme, 'mfa');
(undef, $code) = login('eve');
is($code, 'mfa_enrollment_required', 'a factor is wanted');
refused('eve', $code, 'user.login_failed', 'mfa_enrollment_required');

# a policy or a block decides, whatever the password

$s->sql("UPDATE svc.governance SET access_number = access_number + 1,"
        . " access_policy = '{\"rules\":[],\"defaultAction\":\"deny\"}'"
        . " WHERE tenant_id = '$acme->{id}'");
(undef, $code) = login('eve', 'wrong');
is($code, 'access_denied', 'a policy');
refused('eve', $code, 'user.login_failed', 'policy');
policy($acme, 'allow');
$s->sql("INSERT INTO svc.ip_block (tenant_id, ip) VALUES ('$acme->{id}', '127.0.0.1')");
(undef, $code) = login('eve', 'wrong');
is($code, 'access_denied', 'who comes from there');
refused('eve', $code, 'user.login_failed', 'blocked');

$s->done;
done_testing();
