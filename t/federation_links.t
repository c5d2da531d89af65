#!/usr/bin/perl

# Identities of other servers that are a user's: seen, added, taken away.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Connection qw(verified);
use SvcTest::Idp;
use SvcTest::Mail;
use SvcTest::Process qw(wait_for);
use SvcTest::Receiver;


my %ROOMY = (svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 1000" } qw(IP EMAIL) ]);
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $TIME = qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;

my $s = SvcTest->new(workers => 2, svc => { %ROOMY });
my $idp = SvcTest::Idp->new($s, SvcTest::Receiver->new($s), lies => 1);
my $mail = SvcTest::Mail->new($s, port => 'plain');

$s->start;
$idp->ready;
$s->secret($PASSWORD);

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);

verified($s, $acme, 'acme.test');

my $ALL = "'{apps:manage,audit:view,groups:manage,members:manage,roles:manage,tenant:manage,"
    . "users:view}'";

$idp->connect($acme, 'oidc-one', domains => "'{acme.test}'", vouched => $ALL,
              vouched_owner => 'true', jit_provisioning => 'true', label => "'One'");
$idp->connect($acme, 'oidc-two', issuer => 1, link_by_email => "'never'");


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }


sub user {
    my ($name, %more) = @_;

    return with_password($s, $acme, userName => "$name\@acme.test", %more);
}


sub signed_in {
    my ($name) = @_;
    my $b = browser();

    is($b->login("$name\@acme.test")->status, 200, "$name, by a password");

    return $b;
}


# What the ID tokens say from now on.

sub claims {
    my ($sub, %more) = @_;

    $idp->ask(claims => { sub => $sub, email => "$sub\@acme.test", email_verified => $TRUE,
                          %more });
}


# Begins a flow.  Returns where the browser comes back.

sub begun {
    my ($b, $key, %body) = @_;
    my $to = $idp->start($b, $key, %body)->json->{redirectTo};

    return ($idp->ask(walk => $to)->{location} // '') =~ s{^https?://[^/]*}{}r;
}


sub refused {
    my ($r, $code, $name) = @_;

    is($r->status, 303, $name);
    is(SvcTest::Idp::refusal($r), $code, "says $code")
        or diag($r->header('Location') // $r->body);
}


# A journey that ends well.  Returns the browser.

sub comes {
    my ($key, $name, %opt) = @_;
    my $b = $opt{browser} // browser();

    is($b->get(begun($b, $key, %{ $opt{body} // {} }))->header('Location'),
       $opt{to} // '/account', $name);

    return $b;
}


sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}


# How many mails there are to somebody that something has changed, when there are as many.

sub told {
    my ($name, $n) = @_;
    my $found = sub {
        return scalar grep { "@{ $_->{to} }" eq "$name\@acme.test"
                             && grep { $_->[0] eq 'Subject' && $_->[1] =~ /has changed/ }
                                     @{ $_->{headers} } } $mail->events('mail');
    };

    wait_for { $mail->pending == 0 && $found->() >= $n };

    return $found->();
}


sub own { return $_[0]->get('/v1/auth/identities')->json->{identities} }
sub links_of { return $acme->admin(GET => "/users/$_[0]/links", undef, [], $_[1])->json->{links} }
sub alive { return $_[0]->get('/v1/auth/session')->status == 200 }


# --- what is seen -----------------------------------------------------------------------

my $viewer = $acme->token_for('users:view');
my $manager = $acme->token_for('members:manage');

claims('jo', auth_time => time);

my $jo = comes('oidc-one', 'somebody who is new');
my $page = $jo->get('/v1/auth/identities');
my $id = $s->sql("SELECT id FROM svc.user_account WHERE user_name = 'jo\@acme.test'");
my ($link) = @{ $page->json->{identities} };

is($page->header('Cache-Control'), 'no-store', 'own links are not stored');
is_deeply([ @{ $page->json }{qw(total limit offset)} ], [ 1, 100, 0 ], 'a page');
like(delete $link->{$_}, $TIME, $_) for qw(linkedAt lastAt);
is_deeply($link, { id => $link->{id}, connection => 'oidc-one', kind => 'social', label => 'One',
                   email => 'jo@acme.test' }, 'a link, without its subject');
is(links_of($id, $viewer)->[0]{id}, $link->{id}, 'an administrator sees it');
admin_error($acme->admin(GET => "/users/$link->{id}/links", undef, [], $viewer), 404, undef,
            'of no user');
admin_error($globex->admin(GET => "/users/$id/links", undef, [],
                           $globex->token_for('users:view')), 404, undef, "of another tenant's");
admin_error($acme->admin(GET => "/users/$id/links", undef, [], $acme->token_for('audit:view')),
            403, 'forbidden', 'with another permission');
admin_error($s->http(GET => '/v1/auth/identities'), 401, 'unauthenticated', 'without a session');


# --- the last way in (12) -----------------------------------------------------------------

sub remove { return $_[0]->ask(DELETE => "/v1/auth/identities/" . ($_[1] // $link->{id})) }

admin_error(remove($jo), 400, 'last_factor', 'the last way in stays');
is(scalar @{ own($jo) }, 1, 'it is there');
admin_error($jo->ask(DELETE => "/v1/auth/identities/$id"), 404, undef, 'none of that id');

my $ann = user('ann');

admin_error(remove(signed_in('ann')), 404, undef, "somebody else's");

# A link of a connection that is off is none, nor a password while people must come in
# by a connection.

my $other = "(tenant_id, connection_id, subject_hash, id, user_id, subject) SELECT tenant_id,"
    . " connection_id, sha256('jo'), gen_random_uuid(), '$id', '\\x00' FROM svc.social";

$s->sql("INSERT INTO svc.federated_identity $other WHERE provider = 'oidc-two'");
$s->sql("UPDATE svc.social SET enabled = false WHERE provider = 'oidc-two'");
admin_error(remove($jo), 400, 'last_factor', 'another one is off');
$s->sql("UPDATE svc.social SET enabled = true WHERE provider = 'oidc-two'");

my $force = "UPDATE svc.domain SET sign_in = %s, rp_id = %s WHERE domain = 'acme.test'";

$s->sql(sprintf $force, "(SELECT connection_id FROM svc.social WHERE provider = 'oidc-one')",
        "'acme.test'");
admin_error(remove($jo), 400, 'last_factor', 'people must come in by this one');
$s->sql(sprintf $force, 'NULL', 'NULL');

my $two = $jo;

$jo = comes('oidc-one', 'in a second browser');
is(remove($jo)->status, 204, 'with another one it goes');
is(told('jo', 1), 1, 'the user is told');
is_deeply([ map { alive($_) ? 1 : 0 } $jo, $two ], [ 0, 0 ], 'and with it the sessions by it');
is_deeply([ events('federation.unlinked') ], [ { connection => 'oidc-one' } ],
          'federation.unlinked');
is(links_of($id)->[0]{connection}, 'oidc-two', 'the other one is left');

# A passkey is a way in, and a link is, to whoever removes a passkey.

claims('ann', auth_time => time);

my $b = comes('oidc-one', 'who has a password');

$s->sql("DELETE FROM svc.password WHERE user_id = '$ann->{id}'");

my $factor = $s->sql('INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at)'
    . " VALUES ('$acme->{id}', '$ann->{id}', gen_random_uuid(), 'passkey', 'x', now())"
    . ' RETURNING id');

$s->sql('INSERT INTO svc.passkey (tenant_id, credential_hash, user_id, factor_id, credential_id,'
        . ' public_key, alg, rp_id, sign_count, be, bs, transports, aaguid)'
        . " VALUES ('$acme->{id}', sha256('x'), '$ann->{id}', '$factor', 'x', 'x', -7, 'x', 0,"
        . " false, false, 0, '\\x" . '00' x 16 . "')");
$s->sql("UPDATE svc.session SET mfa_at = now() WHERE user_id = '$ann->{id}'");

my ($annes) = map { $_->{id} } @{ own($b) };

$s->sql("UPDATE svc.social SET enabled = false WHERE provider = 'oidc-one'");
$s->sql("UPDATE svc.session SET ended_at = NULL WHERE user_id = '$ann->{id}'");
admin_error($b->ask(DELETE => "/v1/mfa/factors/$factor"), 400, 'last_factor',
            'a passkey, while the connection is off');
$s->sql("UPDATE svc.social SET enabled = true WHERE provider = 'oidc-one'");
is(remove($b, $annes)->status, 204, 'a link, as there is a passkey');


# --- by an administrator -------------------------------------------------------------------

sub unlink_of {
    my ($user, $token, $link) = @_;

    $link //= links_of($user)->[0]{id};

    return $acme->admin(DELETE => "/users/$user/links/$link", undef, [], $token);
}


my $boss = user('boss', role => 'owner');
my $clerk = user('clerk');

claims('boss', auth_time => time);

my $bosses = comes('oidc-one', 'an owner');

claims('clerk', auth_time => time);

my $clerks = comes('oidc-one', 'a member');
my $by_password = signed_in('clerk');

admin_error(unlink_of($boss->{id}, $manager), 403, 'forbidden', "an owner's link");
ok(alive($bosses), 'it is there');
admin_error(unlink_of($clerk->{id}, $viewer), 403, 'forbidden', 'with another permission');
admin_error(unlink_of($clerk->{id}, $manager, $id), 404, undef, 'none of that id');
admin_error(unlink_of($clerk->{id}, $manager, links_of($boss->{id})->[0]{id}), 404, undef,
            "somebody else's by that user");
admin_error(unlink_of($ann->{id}, $manager, links_of($clerk->{id})->[0]{id}), 404, undef,
            "nor a member's by another one");
is(unlink_of($clerk->{id}, $manager)->status, 204, "a member's");
is_deeply([ map { alive($_) ? 1 : 0 } $clerks, $by_password ], [ 0, 1 ],
          'the session by it has ended, the other one has not');
is(told('clerk', 2), 2, 'the user is told, as of the link');
is(unlink_of($id, $manager)->status, 204, 'the last way in of somebody');
$s->sql("DELETE FROM svc.password WHERE user_id = '$boss->{id}'");
admin_error($bosses->ask(DELETE => "/v1/admin/users/$boss->{id}/links/"
                         . links_of($boss->{id})->[0]{id}), 400, 'last_factor', 'but not the own');


# --- an identity is linked -------------------------------------------------------------------

sub link_body { return (purpose => 'link', @_) }

my $tim = user('tim');

$b = signed_in('tim');
claims('tims', email => 'tim@elsewhere.test', auth_time => time);
comes('oidc-two', 'an identity of any address', browser => $b, to => '/console/users',
      body => { link_body(returnTo => '/console/users') });
is_deeply([ map { "$_->{connection} $_->{email}" } @{ own($b) } ],
          [ 'oidc-two tim@elsewhere.test' ], 'is linked');
is_deeply((events('federation.linked'))[-1], { connection => 'oidc-two' }, 'federation.linked');
ok(alive($b), 'the session goes on');
is(told('tim', 1), 1, 'the user is told');
is((comes('oidc-two', 'and signs its user in'))->get('/v1/auth/session')->json->{user}{id},
   $tim->{id}, 'that one');
comes('oidc-two', 'once more', browser => $b, body => { link_body() });
is(scalar @{ own($b) }, 1, 'makes no other link');
is(told('tim', 1), 1, 'and tells nothing');

claims('another', auth_time => time);
refused($b->get(begun($b, 'oidc-two', link_body())), 'conflict',
        'another one of the same connection');

my $una = user('una');
my $unas = signed_in('una');

claims('tims', auth_time => time);
refused($unas->get(begun($unas, 'oidc-two', link_body())), 'conflict', "somebody else's");
is_deeply(own($unas), [], 'is not linked');
is((events('federation.denied'))[-1]{why}, 'conflict', 'is in the audit log');

# What a flow of a session begins with, and comes back with.

sub links_to { return $idp->start($_[0], 'oidc-two', link_body()) }

admin_error(links_to(browser()), 401, 'unauthenticated', 'without a session');
admin_error($unas->post('/v1/auth/federation/start', { connection => 'oidc-two', link_body() },
                        'X-CSRF-Token' => undef), 403, 'csrf_failed', 'without its token');
admin_error($s->http(POST => '/v1/auth/federation/start',
                     [ Authorization => "Bearer $acme->{api_token}" ],
                     { connection => 'oidc-two', link_body() }), 403, 'forbidden',
            'with a token');
admin_error($idp->start($unas, 'oidc-two', purpose => 'test'), 400, undef, 'another purpose');

my $stale = "UPDATE svc.session SET reauth_at = now() - interval '1 day', mfa_at = NULL"
    . " WHERE user_id = '$una->{id}'";

claims('unas', auth_time => time);

my $back = begun($unas, 'oidc-two', link_body());

$s->sql($stale);
admin_error(links_to($unas), 403, 'step_up_required', 'a session that is not fresh');
refused($unas->get($back), 'step_up_required', 'nor when it comes back');

for my $case ([ 'no session', sub { delete @{ $_[0]{cookies} }{qw(svc_session svc_csrf)} },
                'unauthenticated' ],
              [ 'one that has ended', sub { $s->sql('UPDATE svc.session SET ended_at = now()'
                                                  . " WHERE user_id = '$una->{id}'") },
                'unauthenticated' ],
              [ 'another sign-in of the user', sub { $_[0]->login('una@acme.test') },
                'flow_expired' ],
              [ "somebody else's", sub { $_[0]->login('tim@acme.test') }, 'flow_expired' ]) {
    my $b = signed_in('una');
    my $back = begun($b, 'oidc-two', link_body());

    $case->[1]($b);
    refused($b->get($back), $case->[2], "back with $case->[0]");
}

is_deeply([ $s->sql("SELECT id FROM svc.federated_identity WHERE user_id = '$una->{id}'") ], [],
          'nothing is linked');

# Nobody who may do more than whoever has configured the connection.

$s->sql("UPDATE svc.user_account SET role = 'admin' WHERE id = '$una->{id}'");
$unas = signed_in('una');
claims('unas', auth_time => time);
refused($unas->get(begun($unas, 'oidc-two', link_body())), 'access_denied',
        'an administrator, by what covers members');
is((events('federation.denied'))[-1]{why}, 'uncovered', 'is in the audit log');
$s->sql("UPDATE svc.social SET vouched = $ALL WHERE provider = 'oidc-two'");
comes('oidc-two', 'and by what covers administrators', browser => $unas,
      body => { link_body() });


# --- a step-up -----------------------------------------------------------------------------------

sub fresh { return $_[0]->post('/v1/mfa/totp', {})->status == 201 ? 1 : 0 }

$b = signed_in('tim');
$stale =~ s/$una->{id}/$tim->{id}/;

my $old = $b->cookie;

for my $case ([ 'no auth_time', [ 'tims' ], 'federation_failed', 0 ],
              [ 'one of before', [ 'tims', auth_time => time - 10 ], 'federation_failed', 0 ],
              [ 'another identity', [ 'another', auth_time => time + 5 ], 'access_denied', 0 ],
              [ 'the right one, of now', [ 'tims', auth_time => time + 5 ], undef, 1 ]) {
    $s->sql($stale);
    claims(@{ $case->[1] });

    my $r = $b->get(begun($b, 'oidc-two', purpose => 'step_up', returnTo => '/account'));

    is(SvcTest::Idp::refusal($r), $case->[2], $case->[0]);
    is(fresh($b), $case->[3], $case->[3] ? 'is fresh' : 'is not fresh');
}

is($s->http(GET => '/v1/auth/session', [ Cookie => $old ])->status, 401,
   'the session has another cookie');
like($idp->start($b, 'oidc-two', purpose => 'step_up')->json->{redirectTo},
     qr/&prompt=login&max_age=0&/, 'whoever is signed in there signs in once more');

# Who has a second factor needs one, which the proof is where it says so, and is believed.

sub enrolled {
    my ($is) = @_;

    $s->sql("UPDATE svc.user_account SET mfa_enrolled = $is WHERE id = '$tim->{id}'");
}

for my $trust (qw(false true)) {
    $s->sql("UPDATE svc.social SET trust_mfa = $trust WHERE provider = 'oidc-two'");
    $s->sql($stale);
    enrolled('true');
    claims('tims', auth_time => time + 5, amr => [ 'mfa' ]);
    comes('oidc-two', "a second factor that is believed: $trust", browser => $b,
          body => { purpose => 'step_up' });
    is(fresh($b), $trust eq 'true' ? 1 : 0, 'counts or not');
    enrolled('false');
}


# --- who is invited --------------------------------------------------------------------------------

my $group = $acme->admin(POST => '/groups', { name => 'Staff' }, [],
                         $acme->token_for('groups:manage'))->json->{id};

sub invited {
    my ($name, %more) = @_;
    my $r = $acme->admin(POST => '/invitations', { email => "$name\@acme.test", role => 'member',
                                                   %more }, [],
                         $acme->token_for($ALL =~ s/[{}']//gr));

    return $r->json->{inviteUrl} =~ /#token=(.*)/ ? $1 : die $r->body;
}


sub invite_body { return (purpose => 'invite', token => $_[0]) }

sub account_of {
    my ($name) = @_;
    my $row = $s->sql('SELECT role || \' \' || source FROM svc.user_account'
                      . " WHERE user_name = '$name\@acme.test'");

    return $row;
}

my $token = invited('ivy', groupIds => [ $group ]);

claims('ivy', email_verified => $FALSE, auth_time => time);

my $ivy = comes('oidc-two', 'by an invitation, an address that is not proved there',
                body => { invite_body($token) });

is(account_of('ivy'), 'member invitation', 'the account');
is($ivy->get('/v1/auth/session')->json->{user}{email}, 'ivy@acme.test', 'is signed in');
is(scalar @{ own($ivy) }, 1, 'and linked');
is(scalar $s->sql('SELECT count(*) FROM svc.group_member JOIN svc.user_account ON user_id = id'
                  . " WHERE user_name = 'ivy\@acme.test' AND group_id = '$group'"), 1,
   'with its groups');
is_deeply((events('invitation.accepted'))[-1]{groupIds}, [ $group ], 'invitation.accepted');
admin_error($idp->start(browser(), 'oidc-two', invite_body($token)), 400, 'invalid_invite',
            'which is good once');
admin_error($idp->start(browser(), 'oidc-two', invite_body('x')), 400, 'invalid_invite',
            'a token that is none');
admin_error($idp->start(browser(), 'oidc-two', purpose => 'invite'), 400, undef, 'no token');

$token = invited('jan');
claims('other', auth_time => time);

my $jan = browser();

refused($jan->get(begun($jan, 'oidc-two', invite_body($token))), 'invitation_mismatch',
        'another address');
claims('jan', auth_time => time);
$back = begun($jan, 'oidc-two', invite_body($token));
$s->sql("UPDATE svc.invitation SET revoked_at = now() WHERE email = 'jan\@acme.test'");
refused($jan->get($back), 'invalid_invite', 'revoked meanwhile');
is(account_of('jan'), undef, 'is nobody');

$token = invited('kim');
$s->sql(sprintf $force, "(SELECT connection_id FROM svc.social WHERE provider = 'oidc-one')",
        "'acme.test'");
claims('kim', auth_time => time);
refused($jan->get(begun($jan, 'oidc-two', invite_body($token))), 'sso_required',
        'by another connection than the one that people must come in by');
$s->sql(sprintf $force, 'NULL', 'NULL');

# Whoever has configured the connection may do less than the invited.

$token = invited('lea', role => 'admin');
$s->sql("UPDATE svc.social SET vouched = '{}' WHERE provider = 'oidc-two'");
claims('lea', auth_time => time);
refused($jan->get(begun($jan, 'oidc-two', invite_body($token))), 'access_denied',
        'more than the connection covers');
is(account_of('lea'), undef, 'is nobody');

# Without a token it is the address's, of a domain of the connection's.

$s->sql("UPDATE svc.social SET jit_provisioning = false WHERE provider = 'oidc-one'");
claims('lea', auth_time => time);
refused($jan->get(begun($jan, 'oidc-two')), 'no_account', 'without a domain of its own');
claims('lea', email_verified => $FALSE);
refused($jan->get(begun($jan, 'oidc-one')), 'email_unverified', 'an address that is not proved');
claims('lea', auth_time => time);
comes('oidc-one', 'a pending invitation of a domain of the connection');
is(account_of('lea'), 'admin invitation', 'is accepted');

invited('max', role => 'admin');
$s->sql("UPDATE svc.social SET vouched = '{}' WHERE provider = 'oidc-one'");
claims('max', auth_time => time);
refused($jan->get(begun($jan, 'oidc-one')), 'access_denied', 'not for more than is covered');
$s->sql("UPDATE svc.social SET vouched = $ALL WHERE provider = 'oidc-one'");
$s->sql("UPDATE svc.invitation SET expires_at = now() WHERE email = 'max\@acme.test'");
refused($jan->get(begun($jan, 'oidc-one')), 'no_account', 'nor an old one');

# --- a code by mail proves whose the address is (10) ---------------------------------------------

my $MAIL = '/v1/auth/federation/mail';

$s->sql("UPDATE svc.social SET link_by_email = 'owned', updated_at = clock_timestamp()"
        . " WHERE provider = 'oidc-two'");

# Whoever comes by an identity that must be linked first.  Returns the browser, and the flow.

sub held {
    my ($sub, $email) = @_;
    my $b = browser();

    claims($sub, email => "$email\@acme.test", auth_time => time);

    my $r = $b->get(begun($b, 'oidc-two', returnTo => '/console'));

    like($r->header('Location'), qr/#error=link_required&id=\w+/, "$sub has to link it");

    return ($b, $r->header('Location') =~ /&flow=([\w-]{43})\z/ ? $1 : undef);
}


sub asked { return $_[0]->post("$MAIL/start", { flow => $_[1] }) }

# Asks for a code.  Returns the challenge, and the code.

sub mailed {
    my ($b, $flow) = @_;
    my $n = $mail->events('mail');
    my $r = asked($b, $flow);

    is($r->status, 202, 'a code is mailed') or diag($r->body);
    wait_for { $mail->pending == 0 && $mail->events('mail') > $n };

    my ($code) = ($mail->events('mail'))[-1]{plain} =~ /^\s*(\d{6})\r?$/m;

    # there may be another mail at once

    $s->sql("UPDATE svc.email_challenge SET created_at = created_at - interval '1 minute'");

    return ($r->json->{challengeId}, $code);
}


sub verify {
    my ($b, $flow, $challenge, $code) = @_;

    return $b->post("$MAIL/verify", { flow => $flow, challengeId => $challenge, code => $code });
}


my $pat = user('pat');
my ($pats, $flow) = held('pats', 'pat');
my ($challenge, $code) = mailed($pats, $flow);
my ($thief, $others) = held('thief', 'pat');

admin_error(verify($thief, $others, $challenge, $code), 400, 'challenge_expired',
            "another subject's code");
is($s->sql("SELECT count(*) FROM svc.federated_identity WHERE user_id = '$pat->{id}'"), 0,
   'links nothing');
admin_error(verify($thief, $flow, $challenge, $code), 400, 'flow_expired', "another browser's flow");
admin_error(verify($pats, 'x' x 43, $challenge, $code), 400, 'flow_expired', 'no flow');
admin_error(verify($pats, $flow, $challenge, $code eq '000000' ? '000001' : '000000'), 401,
            'invalid_code', 'a wrong code');

my $r = verify($pats, $flow, $challenge, $code);

is($r->status, 200, 'the right one') or diag($r->body);
is($r->json->{user}{email}, 'pat@acme.test', 'signs in');
is_deeply([ map { $_->{connection} } @{ own($pats) } ], [ 'oidc-two' ], 'and links');
is((events('federation.linked'))[-1]{connection}, 'oidc-two', 'federation.linked');
is(told('pat', 1), 1, 'the user is told');
admin_error(verify($pats, $flow, $challenge, $code), 400, 'challenge_expired', 'once');
admin_error(asked($pats, $flow), 400, 'flow_expired', 'there is nothing more to prove');
is(browser()->login('pat@acme.test')->status, 200, 'the account keeps its password');
claims('pats', auth_time => time);
comes('oidc-two', 'and its identity');

# Of an account that somebody has made beforehand nothing is adopted.

user('quin');
$s->sql("UPDATE svc.user_account SET email_verified = false WHERE user_name = 'quin\@acme.test'");

my $squatter = signed_in('quin');
my ($quin, $quins) = held('quins', 'quin');

is(verify($quin, $quins, mailed($quin, $quins))->status, 200, 'its owner comes');
is($squatter->get('/v1/auth/session')->status, 401, 'the session of whoever made it is over');
is(browser()->login('quin@acme.test')->status, 401, 'its password is gone');
is_deeply((events('federation.linked'))[-1],
          { connection => 'oidc-two', purged => $TRUE, mailed => $TRUE }, 'which is written down');

# Of one identity that says another address now: the code for one's own is good for no other.

user($_) for qw(tia uma);

my ($tia, $tias) = held('both', 'tia');

($challenge, $code) = mailed($tia, $tias);

my ($uma, $umas) = held('both', 'uma');

admin_error(verify($uma, $umas, $challenge, $code), 400, 'challenge_expired', "another's address");
admin_error(verify($tia, $umas, $challenge, $code), 400, 'flow_expired', "or another's flow");
is($s->sql("SELECT count(*) FROM svc.federated_identity i JOIN svc.user_account u"
           . " ON u.id = i.user_id WHERE u.user_name ~ '^(tia|uma)'"), 0, 'links nothing');
is(verify($tia, $tias, $challenge, $code)->status, 200, 'it is still good for itself');
is($s->sql("SELECT methods[1] FROM svc.session ORDER BY created_at DESC LIMIT 1"), 'email',
   'another code by mail proves nothing more');

# Two that come at once, and one that does not wait for the answer.

sub shows {
    my ($b, $flow, $challenge, $code) = @_;

    return $s->begin(POST => "$MAIL/verify", [ Cookie => $b->cookie, Connection => 'close' ],
                     { flow => $flow, challengeId => $challenge, code => $code });
}

user('tom');

my ($tom, $toms) = held('toms', 'tom');
my @tom = ($tom, $toms, mailed($tom, $toms));

is_deeply([ sort map { $_->read->status } map { shows(@tom) } 1, 2 ], [ 200, 400 ],
          'a code is good once');

my $val = user('val');
my ($vals, $hers) = held('vals', 'val');
my $db = $s->connect_as('postgres');
my @workers = $s->workers;
my @val = ($vals, $hers, mailed($vals, $hers));

$db->query($_) for 'BEGIN', "SELECT FROM svc.user_account WHERE id = '$val->{id}' FOR UPDATE";

my $c = shows(@val);

ok((wait_for { $s->waiting == 1 }), 'one that waits');
$c->abort;
$db->query('COMMIT');
ok((wait_for { links_of($val->{id})->[0] }), 'links, whoever has gone');
$s->unharmed(\@workers, 'and nothing else comes of it');

# For whom there is no code.

user('ray', role => 'admin');
is((held('rays', 'ray'))[1], undef, 'an administrator');
is((held('more', 'pat'))[1], undef, 'who has another identity of the connection');
user('sue');

my ($sue, $sues) = held('sues', 'sue');

$s->sql("UPDATE svc.user_account SET role = 'admin' WHERE user_name = 'sue\@acme.test'");
admin_error(asked($sue, $sues), 400, 'flow_expired', 'who has become one meanwhile');
$s->sql("UPDATE svc.user_account SET role = 'member' WHERE user_name = 'sue\@acme.test'");
($challenge, $code) = mailed($sue, $sues);
$s->sql("UPDATE svc.user_account SET role = 'admin' WHERE user_name = 'sue\@acme.test'");
admin_error(verify($sue, $sues, $challenge, $code), 400, 'flow_expired', 'nor with a code');
$s->sql("UPDATE svc.user_account SET role = 'member' WHERE user_name = 'sue\@acme.test'");
($sue, $sues) = held('sues', 'sue');
($challenge, $code) = mailed($sue, $sues);
$s->sql("UPDATE svc.user_account SET valid_after = now() WHERE user_name = 'sue\@acme.test'");
admin_error(verify($sue, $sues, $challenge, $code), 400, 'flow_expired',
            'who has ended all sessions since');
$s->sql("UPDATE svc.user_account SET mfa_enrolled = true WHERE user_name = 'sue\@acme.test'");
is((held('sues', 'sue'))[1], undef, 'who has a second factor');
$s->sql("UPDATE svc.user_account SET mfa_enrolled = false WHERE user_name = 'sue\@acme.test'");
($sue, $sues) = held('sues', 'sue');
($challenge, $code) = mailed($sue, $sues);
$s->sql("UPDATE svc.user_account SET locked_until = now() + interval '1 hour'"
        . " WHERE user_name = 'sue\@acme.test'");
admin_error(verify($sue, $sues, $challenge, $code), 429, 'account_locked', 'who is locked');
$s->sql("UPDATE svc.user_account SET locked_until = NULL WHERE user_name = 'sue\@acme.test'");
$s->sql("UPDATE svc.social SET link_by_email = 'never', updated_at = clock_timestamp()"
        . " WHERE provider = 'oidc-two'");
is((held('sues', 'sue'))[1], undef, 'where no address links anything');
admin_error(verify($sue, $sues, $challenge, $code), 400, 'flow_expired',
            'and what was begun is over');

$s->done;
done_testing;
