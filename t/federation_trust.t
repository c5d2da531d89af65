#!/usr/bin/perl

# How far a server that people sign in through is believed.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Idp;
use SvcTest::Receiver;


my %ROOMY = (svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 1000" } qw(IP EMAIL) ]);
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $CALLBACK = SvcTest::Idp::callback('oidc-one');

my $s = SvcTest->new(workers => 2, svc => { %ROOMY });
my $idp = SvcTest::Idp->new($s, SvcTest::Receiver->new($s), slugs => [ qw(acme globex) ],
                            lies => 1);
my ($honest, $evil) = @{ $idp->{issuers} };

$s->start;
$idp->ready;
$s->secret($PASSWORD);

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->sql("INSERT INTO svc.domain (tenant_id, domain, token, verified_at) VALUES"
        . " ('$acme->{id}', 'acme.test', '" . 'x' x 43 . "', now())");

my $ALL = "'{apps:manage,audit:view,groups:manage,members:manage,roles:manage,tenant:manage,"
    . "users:view}'";

$idp->connect($acme, 'oidc-one', domains => "'{acme.test}'", vouched => $ALL,
              vouched_owner => 'true', jit_provisioning => 'true');
$idp->connect($acme, 'oidc-two', issuer => 1);
$idp->connect($globex, 'oidc-one', issuer => 1);


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }


sub user {
    my ($name, %more) = @_;

    return with_password($s, $acme, userName => "$name\@acme.test", %more);
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


# A journey that ends with a session.  Returns the browser.

sub comes {
    my ($key, $name) = @_;
    my $b = browser();

    is($b->get(begun($b, $key))->header('Location'), '/account', $name);

    return $b;
}


sub why {
    my ($tenant) = @_;

    return (($tenant // $acme)->events_where("action = 'federation.failed'",
                                             'details'))[-1][0]{why};
}


# --- a provider that sends people on to another one, to get the code of that -----------------

user('boss', role => 'owner');
claims('boss');

my $thief = browser();
my $own = $idp->start($thief, 'oidc-one')->json->{redirectTo};
my $victim = browser();

$idp->ask(leads => { $evil => $own });

my $back = begun($victim, 'oidc-two');

like($back, qr{^\Q$CALLBACK\E\?code=[\w-]+&state=[\w-]{43}\z},
     'the victim comes back from the honest one');
refused($victim->get($back), 'federation_failed', 'with the code of another connection');
is(why(), 'the redirect URI is that of another connection', 'which is in the audit log');
refused($victim->get($back), 'flow_expired', 'the flow is spent');
is_deeply($idp->ask->{got}, { $honest => 0, $evil => 0 }, 'the code was sent nowhere');

# another tenant may have a connection of that name

$victim = browser(tenant => 'globex');
$back = begun($victim, 'oidc-one');
like($back, qr{^\Q$CALLBACK\E\?code}, 'a victim in another tenant comes back from it, too');

my $told = $victim->get($back);

refused($told, 'federation_failed', 'with the code of another tenant');
like($told->header('Location'), qr/tenant=globex/, 'to where it has begun');
is(why($globex), 'the redirect URI is that of another connection', 'its audit log says why');
is_deeply($idp->ask->{got}, { $honest => 0, $evil => 0 }, 'the code was sent nowhere');
$idp->ask(leads => {});
comes('oidc-one', 'without all that the honest one is fine');


# --- what any page can have browsers get --------------------------------------------------------

sub counted { return $s->redis->lines(KEYS => 'svc.rate.l.*') }

my $state = 'A' x 43;
my $known = browser();

begun($known, 'oidc-one');
$s->redis->lines(DEL => counted());
$s->pg->freeze;

refused($_->[0]->get("$CALLBACK$_->[1]"), 'flow_expired', $_->[2])
    for [ browser(), '', 'neither state nor cookie' ],
        [ browser(), "?code=x&state=$state", 'a state and no cookie' ],
        [ $known, '?code=x', 'the cookie and no state' ],
        [ $known, '?code=x&state=' . '+' x 43, 'nor one that could be ours' ],
        [ $known, "?state=$state&state=$state", 'nor two' ];
$s->pg->thaw;
is_deeply([ counted() ], [], 'nothing is counted, and PostgreSQL is not asked');
refused($known->get("$CALLBACK?code=x&state=$state"), 'flow_expired', 'with both');
is(scalar(my @keys = counted()), 1, 'it is counted');


# --- what is a fresh factor -----------------------------------------------------------------------

sub step_up {
    my ($name, %claims) = @_;

    claims('boss', %claims);
    admin_error(comes('oidc-one', $name)->post('/v1/mfa/totp', {}), 403, 'step_up_required',
                'is no fresh factor');
}

step_up('a proof without auth_time');
step_up('one of a day ago', auth_time => time - 86400);
claims('boss', auth_time => time);
is(comes('oidc-one', 'one of now')->post('/v1/mfa/totp', {})->status, 201, 'is one');


# --- somebody new whom the risk denies ---------------------------------------------------------------

$s->sql('UPDATE svc.governance SET risk_enabled = true, risk_mfa_threshold = 20,'
        . " risk_deny_threshold = 25 WHERE tenant_id = '$acme->{id}'");
browser()->login("nobody$_\@acme.test", 'wrong wrong wrong') for 1 .. 8;
claims('new', auth_time => time);

my $new = browser();

refused($new->get(begun($new, 'oidc-one')), 'access_denied', 'a new person with a risk');
is(scalar $s->sql("SELECT count(*) FROM svc.user_account WHERE user_name = 'new\@acme.test'"), 0,
   'gets no account');
is($new->get('/v1/auth/session')->status, 401, 'nor a session');
$s->sql("UPDATE svc.governance SET risk_enabled = false WHERE tenant_id = '$acme->{id}'");


# --- a link that was made while the connection covered members -----------------------------------------

sub covers {
    my ($permissions, $owner) = @_;

    $s->sql("UPDATE svc.social SET vouched = $permissions, vouched_owner = $owner"
            . " WHERE provider = 'oidc-one'");
}

my $mia = user('mia');

claims('mia', auth_time => time);
covers("'{}'", 'false');
comes('oidc-one', 'a member is linked');
covers($ALL, 'true');

for my $role (qw(owner admin)) {
    $s->sql("UPDATE svc.user_account SET role = '$role' WHERE id = '$mia->{id}'");

    my $b = browser();

    refused($b->get(begun($b, 'oidc-one')), 'access_denied', "and is no $role by that link");
}

$s->sql("DELETE FROM svc.federated_identity WHERE user_id = '$mia->{id}'");
comes('oidc-one', 'a new link is an administrator');


# --- who may do more than before --------------------------------------------------------------------

my $owner = browser();
my $leo = user('leo');
my $roles = $acme->token_for($ALL =~ s/[{}']//gr);

is($owner->login('boss@acme.test')->status, 200, 'an owner, by a password');
claims('leo', auth_time => time);
is($acme->admin(POST => '/roles', { key => 'clerk', name => 'Clerk', permissions => [] }, [],
                $roles)->status, 201, 'a role');

for my $raise ([ 'another role', sub { $owner->ask(PUT => "/v1/admin/members/$leo->{id}",
                                                   { role => 'clerk' }) } ],
               [ 'more of a role', sub { $acme->admin(PUT => '/roles/clerk', { permissions =>
                                                      [ 'users:view' ] }, [], $roles) } ]) {
    my $b = comes('oidc-one', $raise->[0]);
    my $by_password = browser();

    $by_password->login('leo@acme.test');
    is($raise->[1]()->status, 200, 'is given');
    is($b->get('/v1/auth/session')->status, 401, 'the session by a connection has ended');
    is($by_password->get('/v1/auth/session')->status, 200, 'another one has not');
}


# --- what an application wants ----------------------------------------------------------------------

sub asked {
    my ($query, %body) = @_;
    my $url = $idp->start(browser(), 'oidc-one', returnTo => "/oauth/authorize?$query", %body)
                  ->json->{redirectTo};
    my %is = map { /^(\w+)=(.*)/ } split /&/, $url =~ s/.*\?//r;

    return join ' ', map { "$_=$is{$_}" } grep { defined $is{$_} }
                     qw(login_hint prompt max_age acr_values);
}


is(asked('client_id=x&auth_after=1700000000'), 'prompt=login max_age=0', 'a new sign-in');
is(asked('client_id=x&prompt=login&max_age=60'), 'prompt=login max_age=0', 'or as it was asked');
is(asked('client_id=x&prompt=consent&max_age=60'), 'max_age=60', 'one of the last minute');
is(asked('client_id=x&acr_values=phr+urn:x&login_hint=leo%40acme.test'),
   'login_hint=leo%40acme.test acr_values=phr%20urn%3Ax', 'classes, and who it is');
is(asked('client_id=x&login_hint=leo', email => 'mia@acme.test'), 'login_hint=mia%40acme.test',
   'whom the page names comes first');
is(asked($_), '', $_)
    for 'client_id=x', 'max_age=-1', 'max_age=1e3', 'max_age=6&max_age=7', 'acr_values=%00',
        'login_hint=a%0d%0ab', 'login_hint=a%7f', 'max_age=1234567890', '%zz&prompt=login';
is($idp->start(browser(), 'oidc-one', returnTo => '/account?prompt=login')->json->{redirectTo}
   =~ /prompt/, '', 'an address that is no application\'s');

sub policy_mfa {
    $acme->admin(PUT => '/access-policy', { rules => [], defaultAction => $_[0] })->status == 200
        or die "no policy\n";
}

my $both = 'https%3A%2F%2Frefeds.org%2Fprofile%2Fmfa%20phr';

$s->sql("UPDATE svc.social SET mfa_contexts = '{https://refeds.org/profile/mfa,phr}',"
        . " trust_mfa = true WHERE provider = 'oidc-one'");
is(asked('client_id=x'), '', 'no second factor is needed');
policy_mfa('mfa');
is(asked('client_id=x'), "acr_values=$both", 'it is');
is(asked('client_id=x&acr_values=urn:x'), "acr_values=urn%3Ax%20$both", 'beside what is asked');
$s->sql("UPDATE svc.social SET trust_mfa = false WHERE provider = 'oidc-one'");
is(asked('client_id=x'), '', 'but is not believed');
policy_mfa('allow');


# What it says is held against that, if it says so.

sub dated {
    my ($query, $name, $time, $why) = @_;
    my $b = browser();
    my $to = "/oauth/authorize?$query";

    claims('leo', defined $time ? (auth_time => time - $time) : ());

    my $r = $b->get(begun($b, 'oidc-one', returnTo => $to));

    return is($r->header('Location'), $to, $name) if !defined $why;

    refused($r, 'federation_failed', $name);
    is(why(), "the ID token has $why", 'why');
}

my $before = "an 'auth_time' before that which was asked for";

dated('auth_after=1', 'a sign-in of now', 0);
dated('auth_after=1', 'one of an hour ago', 3600, $before);
dated('max_age=7200', 'where one of two hours will do', 3600);
dated('max_age=1800', 'where it will not', 3600, $before);
dated('auth_after=1', 'of a provider that does not date them');
$s->sql('UPDATE svc.federation_meta SET document = document'
        . ' || \'{"claims_supported":["auth_time"]}\'');
dated('auth_after=1', 'of one that says that it does', undef, "no 'auth_time'");
dated('client_id=x', 'where nobody asks for it');


# --- attributes ------------------------------------------------------------------------------------------

sub person {
    my ($name) = @_;
    my ($row) = $s->sql('SELECT first_name, last_name, title, department, external_id, user_name'
                        . " FROM svc.user_account WHERE user_name = '$name\@acme.test'");

    return join ' ', map { $_ // '-' } @$row;
}


sub maps { $s->sql("UPDATE svc.social SET $_[0] WHERE provider = 'oidc-one'") }


sub asks_users {
    my ($name, $n, $asked, $is) = @_;
    my $before = $idp->ask->{users};

    comes('oidc-one', $name);
    is($idp->ask->{users} - $before, $asked, "userinfo is asked $asked times");
    is(person($n), $is, 'what is kept');
}

maps(q(attribute_mapping = '{"firstName":"fn","title":"job","email":"mail","department":"unit",)
     . q("externalId":"number"}'));

my %zoe = (auth_time => time, given_name => 'G', family_name => 'F', fn => 'Zoe', job => 'Chef',
           unit => 'Kitchen', number => '7', mail => 'boss@acme.test');

claims('zoe', %zoe);
asks_users('somebody new', 'zoe', 0, 'Zoe F Chef Kitchen 7 zoe@acme.test');
claims('zoe', %zoe, family_name => 'Other', job => 'x' x 1025, unit => "a\x{202e}b");
$idp->ask(userinfo => { sub => 'zoe', job => 'Cook', unit => "a\nb", fn => 'No' });
asks_users('what is not in the token', 'zoe', 1, 'Zoe F Cook Kitchen 7 zoe@acme.test');
is_deeply(($acme->events_where("action = 'user.updated'", 'details'))[-1][0],
          { changed => [ 'title' ] }, 'is in the audit log');
claims('zoe', %zoe, job => 1);

for my $other ({ sub => 'boss', job => 'Boss' }, { job => 'Boss' }, { sub => 1, job => 'Boss' }) {
    my $b = browser();

    $idp->ask(userinfo => $other);
    refused($b->get(begun($b, 'oidc-one')), 'federation_failed', 'userinfo of somebody else');
    is(why(), "the userinfo endpoint: another 'sub'", 'why');
}

is(person('zoe'), 'Zoe F Cook Kitchen 7 zoe@acme.test', 'nothing is kept');

for my $source (qw(local scim)) {
    user($source);
    $s->sql("UPDATE svc.user_account SET source = '$source', email_verified = true"
            . " WHERE user_name = '$source\@acme.test'");
    claims($source, %zoe);
    asks_users("a user of $source", $source, 0, "- - - - - $source\@acme.test");
}

claims('ann', %zoe);
asks_users('a key that another one has', 'ann', 0, 'Zoe F Chef Kitchen - ann@acme.test');
asks_users('nor later', 'ann', 0, 'Zoe F Chef Kitchen - ann@acme.test');
maps("attribute_mapping = '{}'");


# --- groups -----------------------------------------------------------------------------------------------

my $grouper = $acme->token_for('groups:manage');
my %group = map { $_ => $acme->admin(POST => '/groups', { name => $_ }, [], $grouper)->json->{id} }
                qw(red blue);

maps("group_mapping = '[{\"external\":\"r\",\"groupId\":\"$group{red}\"},"
     . "{\"external\":\"b\",\"groupId\":\"$group{blue}\"}]'");
$idp->ask(userinfo => { sub => 'kim' });


# Tests in which groups a journey leaves kim.

sub grouped {
    my ($name, $is, %claims) = @_;

    claims('kim', auth_time => time, %claims);
    comes('oidc-one', $name);
    is(join(' ', map { $_->[0] } $s->sql(<<'EOT')), $is, "is in '$is'");
SELECT name FROM svc.group_member JOIN svc.user_group ON group_id = user_group.id
 JOIN svc.user_account ON user_id = user_account.id
 WHERE user_name = 'kim@acme.test' ORDER BY name
EOT
}


sub changes {
    return [ map { "$_->[0]{count} $_->[1] " . @{ $_->[0]{userIds} } }
             $acme->events_where("action = 'group.member_$_[0]'", 'details', 'target_name') ];
}

grouped('somebody new with groups', 'red', groups => [ 'r', 'x', 1, undef ]);
is_deeply(changes('added'), [ '1 red 1' ], 'in the audit log');
grouped('in another one', 'blue', groups => [ 'b' ]);
is_deeply(changes('removed'), [ '1 red 1' ], 'in the audit log');
is($s->sql("SELECT string_agg(name || member_count, ' ' ORDER BY name) FROM svc.user_group"),
   'blue1 red0', 'which are counted');
grouped('too many to say', 'blue', _claim_names => { groups => 'src1' });
$idp->ask(userinfo => { sub => 'kim', groups => [ 'b', 'r' ] });
grouped('whose userinfo says them', 'blue red');
$idp->ask(userinfo => { sub => 'kim' });
$s->sql("UPDATE svc.group_member SET origin = NULL WHERE group_id = '$group{red}'");
grouped('in none, but for one by hand', 'red');
grouped('which stays so', 'red', groups => [ 'r' ]);
grouped('also without it', 'red', groups => []);
grouped('in both', 'blue red', groups => [ 'b' ]);

# Who has not to do with groups puts nobody into one, and takes nobody out.

my $fewer = $ALL =~ s/groups:manage,//r;

for my $less ("social SET vouched = $fewer", "federated_identity SET vouched = $fewer") {
    $s->sql("UPDATE svc.$less");
    grouped('of a connection that does not vouch for groups', 'blue red', groups => []);
    $s->sql("DELETE FROM svc.group_member WHERE origin IS NOT NULL");
    grouped('neither way', 'red', groups => [ 'b' ]);
    $s->sql('UPDATE svc.' . $less =~ s/= .*/= $ALL/r);
    grouped('and one that does', 'blue red', groups => [ 'b' ]);
}

maps("group_mapping = '[]'");
grouped('where nothing is mapped any more', 'red', groups => [ 'b' ]);
maps("group_mapping = '[{\"external\":\"b\",\"groupId\":\"$group{blue}\"}]'");
grouped('where it is again', 'blue red', groups => [ 'b' ]);
$s->sql("DELETE FROM svc.federated_identity WHERE user_id = (SELECT id FROM svc.user_account"
        . " WHERE user_name = 'kim\@acme.test')");
is($s->sql("SELECT string_agg(name || member_count, ' ' ORDER BY name) FROM svc.user_group"),
   'blue0 red1', 'with the link its groups go, and the one by hand stays');


# --- a connection that is gone -------------------------------------------------------------------------

my $off = comes('oidc-one', 'somebody who has come by a connection');

$acme->admin(PATCH => '/social/connections/oidc-one', { label => 'One' });
is($off->get('/v1/auth/session')->status, 200, 'stays when its label changes');
$acme->admin(PATCH => '/social/connections/oidc-one', { enabled => $FALSE });
is($off->get('/v1/auth/session')->status, 401, 'not when it is switched off');
$acme->admin(PATCH => '/social/connections/oidc-one', { enabled => $TRUE });
$off = comes('oidc-one', 'who comes again');
is($acme->admin(DELETE => '/social/connections/oidc-one')->status, 204, 'when it is deleted');
is($off->get('/v1/auth/session')->status, 401, 'the session ends, too');


$s->done;
done_testing;
