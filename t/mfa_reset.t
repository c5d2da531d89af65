#!/usr/bin/perl

# Shows who sees a user's second factors and sessions, and who may reset and end them.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(enrolled);
use SvcTest::Governance qw($ALL);

my $s = SvcTest->new(svc => { svc_sign_in => 'on', svc_set => [
    'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_LOGIN_EMAIL_MAX 1000' ] })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($PASSWORD);
$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
        . " ('$acme->{id}', 'helpdesk', 'Help desk', '{members:manage,users:view}')");

my %role = (owner => 'owner', admin => 'admin', help => 'helpdesk', member => 'member',
            other => 'owner');
my %id = map { $_ => with_password($s, $acme, userName => "$_\@acme.test",
                                   role => $role{$_})->{id} } sort keys %role;


sub signed_in {
    my ($who) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    is($b->login("$who\@acme.test")->status, 200, "$who signs in");

    return $b;
}


sub factors {
    my ($who) = @_;

    return $s->sql("SELECT (SELECT count(*) FROM svc.factor WHERE user_id = '$id{$who}')"
                   . " || ' ' || (SELECT count(*) FROM svc.recovery_code WHERE user_id"
                   . " = '$id{$who}') || ' ' || mfa_enrolled FROM svc.user_account"
                   . " WHERE id = '$id{$who}'");
}


my %b = map { $_ => signed_in($_) } sort keys %role;

enrolled($b{$_}) for qw(member help admin other);

sub reset_mfa { return $b{$_[0]}->post("/v1/admin/users/$id{$_[1]}/reset-mfa") }


# --- who resets whose ---------------------------------------------------------------

for my $case ([ member => 'other' ], [ help => 'admin' ], [ help => 'other' ],
              [ admin => 'other' ])
{
    my ($who, $whose) = @$case;
    my $before = factors($whose);

    admin_error(reset_mfa($who, $whose), 403, 'forbidden', "not $whose by $who");
    is(factors($whose), $before, 'nothing has happened');
    is($b{$whose}->get('/v1/auth/session')->status, 200, 'nor to a session');
}

admin_error($s->http(POST => "/v1/admin/users/$id{member}/reset-mfa",
                          { Authorization => 'Bearer ' . $globex->token_for($ALL) }),
            404, 'not_found', 'of another tenant');

for my $case ([ help => 'member' ], [ admin => 'help' ], [ owner => 'other' ]) {
    my ($who, $whose) = @$case;
    my $r = reset_mfa($who, $whose);

    is($r->status, 200, "$whose by $who") or diag($r->body);
    is($r->json->{id}, $id{$whose}, 'who it is');
    is($r->json->{mfaEnrolled}, JSON::PP::false, 'without a factor');
    is(factors($whose), '0 0 false', 'and without codes');
    admin_error($b{$whose}->get('/v1/auth/session'), 401, 'unauthenticated',
                'the sessions have ended');
    signed_in($whose);
}

is_deeply([ map { $_->[0] } $acme->events_where("action = 'mfa.reset'", 'details') ],
          [ ({ factors => 1 }) x 3 ], 'it is in the log');

# A token's permissions decide.

my $few = $acme->token_for('members:manage,users:view');

admin_error($s->http(POST => "/v1/admin/users/$id{admin}/reset-mfa",
                        { Authorization => "Bearer $few" }), 403, 'forbidden',
            'not an administrator by a token that may less');
is($s->http(POST => "/v1/admin/users/$id{admin}/reset-mfa",
               { Authorization => 'Bearer ' . $acme->token_for($ALL) })->status, 200,
   'but by one that may as much');


# --- what others see of them ------------------------------------------------------------

my $b = signed_in('member');
my $help = signed_in('help');

enrolled($b);

sub of { return "/v1/admin/users/$id{$_[0]}/$_[1]" }

my $own = $b->get('/v1/mfa/factors')->json;
my $r = $help->get(of(member => 'factors'));

is_deeply($r->json, { %$own, total => 1, limit => 100, offset => 0 },
          'the factors, and how many codes are left, as the user sees them');
is($own->{recoveryCodesLeft}, 10, 'which is all');

$own = $b->get('/v1/auth/sessions')->json;

my ($current) = map { $_->{id} } grep { delete $_->{current} } @{ $own->{sessions} };

$r = $help->get(of(member => 'sessions'));
is_deeply($r->json, $own, 'the sessions, too, but for which is whose request');
is_deeply($help->get(of(member => 'sessions?limit=1&offset=9'))->json,
          { %$own, sessions => [], limit => 1, offset => 9 }, 'in pages');

for my $what (qw(factors sessions groups)) {
    my $path = of(member => $what);
    my $view = $acme->token_for('users:view');
    my $manage = $acme->token_for('members:manage');
    my @may = $what eq 'groups' ? ($view, $manage) : ($manage, $view);
    my @as = map { { Authorization => "Bearer $_" } } @may, $globex->token_for($ALL);

    is($s->http(GET => $path, $as[0])->status, 200, "$what, with what it takes");
    admin_error($s->http(GET => $path, $as[1]), 403, 'forbidden', 'and not without it');
    admin_error($s->http(GET => $path, $as[2]), 404, 'not_found', 'nor in another tenant');
    admin_error($help->get("/v1/admin/users/$id{member}x/$what"), 404, 'not_found', 'of nobody');
}

my ($theirs) = map { $_->{id} } @{ $help->get(of(owner => 'sessions'))->json->{sessions} };

admin_error($help->ask(DELETE => of(owner => "sessions/$theirs")), 403, 'forbidden',
            'help does not end a session of an owner');
admin_error($help->ask(DELETE => of(member => "sessions/$theirs")), 404, 'not_found',
            'nor as that of somebody else');
is($help->get(of(owner => 'sessions'))->json->{sessions}[0]{id}, $theirs, 'it goes on');

is($help->ask(DELETE => of(member => "sessions/$current"))->status, 204,
   'but one of a member');
admin_error($b->get('/v1/auth/session'), 401, 'unauthenticated', 'it has ended');
is($help->ask(DELETE => of(member => "sessions/$current"))->status, 204, 'once more is no error');
is_deeply([ $acme->events_where("action = 'session.revoked'", 'target_id', 'details') ],
          [ [ $current, { userId => $id{member} } ] ], 'and no event');


# --- from the shell -------------------------------------------------------------------

$s->sql("DELETE FROM svc.factor WHERE user_id = '$id{member}'");
$b = signed_in('member');
enrolled($b);

my ($out, $rc) = $s->svcctl('user', 'reset-mfa', '--tenant', 'acme', '--email',
                            'Member@acme.test');

is($rc, 0, 'svcctl') or diag($out);
is($out, "Second factors of Member\@acme.test that are gone: 1. All sessions have ended.\n",
   'says so');
is(factors('member'), '0 0 false', 'all is gone');
admin_error($b->get('/v1/auth/session'), 401, 'unauthenticated', 'the session too');
is_deeply([ $acme->events_where("action = 'mfa.reset' AND details ? 'source'", 'details')
            ]->[0][0], { source => 'svcctl', factors => 1 }, 'audited');

my (undef, $failed, $err) = $s->svcctl('user', 'reset-mfa', '--tenant', 'acme',
                                       '--email', 'nobody@acme.test');
isnt($failed, 0, 'of nobody');
like($err, qr/has no such user: "nobody\@acme\.test"/, 'it says so');

$s->done;
done_testing();
