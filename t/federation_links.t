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
use SvcTest::Receiver;


my %ROOMY = (svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 1000" } qw(IP EMAIL) ]);
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $TIME = qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;

my $s = SvcTest->new(workers => 2, svc => { %ROOMY });
my $idp = SvcTest::Idp->new($s, SvcTest::Receiver->new($s), lies => 1);

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
is(unlink_of($id, $manager)->status, 204, 'the last way in of somebody');
$s->sql("DELETE FROM svc.password WHERE user_id = '$boss->{id}'");
admin_error($bosses->ask(DELETE => "/v1/admin/users/$boss->{id}/links/"
                         . links_of($boss->{id})->[0]{id}), 400, 'last_factor', 'but not the own');


$s->done;
done_testing;
