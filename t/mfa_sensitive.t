#!/usr/bin/perl

# Shows which routes need a fresh session: each that is marked as sensitive, and no
# other one.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(totp enrolled);
use SvcTest::Governance qw($ALL);
use SvcTest::Mail qw(nowhere);
use SvcTest::Process qw(wait_for);
use SvcTest::Routes;

my $s = SvcTest->new(svc => { svc_sign_in => 'on', svc_webhooks => 'on',
                              svc_scim_targets => 'on', svc_federation => 'on',
                              nowhere(), svc_set => [
    'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_LOGIN_EMAIL_MAX 1000' ] })->start;
my $acme = $s->tenant('acme');
my $token = $acme->token_for($ALL);
my $ID = '00000000-0000-7000-8000-000000000000';

$s->secret($PASSWORD);
with_password($s, $acme, userName => "$_\@acme.test", role => 'owner') for qw(ada bob);


sub signed_in {
    my ($email) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    is($b->login($email)->status, 200, "$email signs in");

    return $b;
}


# Sets how many seconds ago the factor and the password were presented; undef: never.

sub shown {
    my ($factor, $password) = @_;

    my @at = map { defined $_ ? "now() - interval '$_ s'" : 'NULL' } $factor, $password;

    $s->sql("UPDATE svc.session SET mfa_at = $at[0], reauth_at = $at[1]");
}


sub code_of {
    my ($r) = @_;

    return $r->status >= 400 && $r->body ? $r->json->{error}{code} : '';
}


# --- which routes -----------------------------------------------------------------

my @routes = grep { $_->{path} ne '/admin/audit/stream' } admin_routes($s->root);
my @sensitive = grep { $_->{sensitive} } @routes;

is_deeply([ sort map { "$_->{method} $_->{path}" } @sensitive ], [ sort
    'POST /admin/api-tokens', 'POST /admin/roles', 'PUT /admin/roles/*',
    'DELETE /admin/roles/*', 'DELETE /admin/users/*',
    'POST /admin/users/*/reset-mfa', 'POST /admin/users/*/reset-link',
    'DELETE /admin/users/*/links/*',
    'DELETE /auth/identities/*', 'PUT /admin/members/*',
    'DELETE /admin/members/*', 'POST /admin/invitations',
    'POST /admin/invitations/*/resend', 'PUT /admin/access-policy',
    'POST /admin/access-policy/versions/*/restore', 'PUT /admin/risk-policy',
    'PUT /admin/password-policy', 'POST /admin/config/apply', 'POST /admin/webhooks',
    ( map { "$_ /admin/password-policy/groups/*" } qw(PUT DELETE) ),
    'POST /admin/password-policy/groups',
    'POST /admin/domains', 'DELETE /admin/domains/*', 'PUT /admin/domains/*/sign-in',
    'POST /admin/scim/tokens', 'PUT /admin/ldap', 'DELETE /admin/ldap',
    'POST /admin/ldap/sync',
    'POST /admin/social/connections', 'PATCH /admin/social/connections/*',
    'PUT /admin/saml', 'POST /admin/federation/*/test',
    'POST /admin/scim-targets', 'PUT /admin/scim-targets/*',
    'POST /auth/email/change', 'POST /auth/password', 'POST /mfa/passkeys',
    'POST /applications', 'POST /applications/*/secret',
    'POST /admin/agents/*/secret', 'PUT /admin/agents/*/identity',
    'PUT /admin/agents/settings', 'PUT /admin/oauth/settings',
    'POST /admin/groups/*/apps', 'PUT /admin/groups/*/apps',
    'DELETE /admin/groups/*/apps/*',
    'POST /mfa/passkeys/options', 'POST /mfa/totp', 'POST /mfa/totp/*/confirm',
    'POST /mfa/email', 'POST /mfa/email/*/confirm',
    'PATCH /mfa/factors/*', 'DELETE /mfa/factors/*', 'POST /mfa/recovery-codes' ],
    'the routes');

my $b = signed_in('ada@acme.test');

shown(undef, 601);

for my $route (@routes) {
    my $name = "$route->{method} $route->{path}";
    my $path = '/v1' . $route->{path} =~ s/\*/$ID/gr;

    if ($route->{sensitive}) {
        admin_error($b->ask($route->{method}, $path, {}), 403, 'step_up_required',
                    "$name: of a session that is not fresh");

        next if $route->{session};

        isnt(code_of($s->http($route->{method} => $path,
                                 { Authorization => "Bearer $token" }, {})),
             'step_up_required', "$name: not of a token");

    } elsif ($route->{path} =~ m{^/admin/}) {
        isnt(code_of($b->ask($route->{method}, $path, $route->{method} eq 'GET' ? undef
                                                                               : {})),
             'step_up_required', "$name: of any session");
    }
}


# --- a user's address ---------------------------------------------------------------

# Only a change of the address needs a fresh session.

my $carol = $acme->create(userName => 'Carol@acme.test');
my $user = "/v1/admin/users/$carol->{id}";


sub put {
    my (%body) = @_;

    return $b->ask(PUT => $user, \%body);
}


sub state_of {
    return [ map { $s->sql($_) }
             "SELECT to_jsonb(u) FROM svc.user_account u WHERE id = '$carol->{id}'",
             'SELECT count(*) FROM svc.audit_event' ];
}


my $before = state_of();

admin_error(put(email => 'x@acme.test'), 403, 'step_up_required', 'another address');
admin_error(put(email => 'x@acme.test', title => 'Dr'), 403, 'step_up_required',
            'with something else');
admin_error(put(email => 'bob@acme.test'), 403, 'step_up_required',
            'that another user has');
is_deeply(state_of(), $before, 'changes nothing');

is(put(email => 'Carol@acme.test')->status, 200, 'the same address');
is_deeply(state_of(), $before, 'is no change');
is(put(email => 'Carol@acme.test', title => 'Dr')->json->{title}, 'Dr',
   'with something else');
is(put(email => 'carol@ACME.test')->json->{email}, 'carol@ACME.test', 'in another case');
admin_error($b->ask(PUT => "/v1/admin/users/$ID", { $_ => 'x@acme.test' }), 404,
            'not_found', "$_: of nobody") for qw(email title);

# The address is compared with the one that the user has once the lock is held.

my $db = $s->connect_as('postgres');

$db->query($_) for 'BEGIN', "UPDATE svc.user_account SET user_name = 'moved\@acme.test',"
    . " user_name_key = 'moved\@acme.test' WHERE id = '$carol->{id}'";

my $waiting = $s->begin(PUT => $user, [ Cookie => $b->cookie, 'X-CSRF-Token' => $b->{csrf} ],
                        { email => 'carol@acme.test' });

ok((wait_for { $s->sql('SELECT count(*) FROM pg_locks WHERE NOT granted') > 0 }),
   'a change that waits for another one');
$db->query('COMMIT');
admin_error($waiting->read, 403, 'step_up_required', 'changes it back');
is($s->sql("SELECT user_name FROM svc.user_account WHERE id = '$carol->{id}'"),
   'moved@acme.test', 'for which it is not fresh');

shown(undef, 1);
is(put(email => 'x@acme.test')->json->{email}, 'x@acme.test', 'fresh: another address');
shown(undef, 601);
is($s->http(PUT => $user, { Authorization => "Bearer $token" }, { email => 'y@acme.test' })
   ->json->{email}, 'y@acme.test', 'as by a token');


# --- how fresh ----------------------------------------------------------------------

sub is_fresh {
    my ($b, $fresh, $name) = @_;

    is(code_of($b->ask(DELETE => "/v1/admin/users/$ID")),
       $fresh ? 'not_found' : 'step_up_required', $name);
}


for my $case ([ undef, undef, 0 ], [ undef, 590, 1 ], [ undef, 601, 0 ], [ 590, 601, 1 ],
              [ 601, 601, 0 ])
{
    my ($factor, $password, $fresh) = @$case;

    shown($factor, $password);
    is_fresh($b, $fresh, 'without a factor: ' . join ', ', map { $_ // '-' } @$case[0, 1]);
}

my $bob = signed_in('bob@acme.test');
my $factor = enrolled($bob);

is_fresh($bob, 1, 'who adds a factor has shown it');

for my $case ([ undef, 1, 0 ], [ 590, undef, 1 ], [ 601, 1, 0 ]) {
    my ($at, $password, $fresh) = @$case;

    shown($at, $password);
    is_fresh($bob, $fresh, 'with a factor: ' . join ', ', map { $_ // '-' } @$case[0, 1]);
}

is($bob->post('/v1/mfa/step-up', { code => totp($factor->{secret}) })->status, 200,
   'the factor is shown');
is_fresh($bob, 1, 'and that is fresh');

# The checks have an order.

shown(undef, undef);
admin_error($b->ask(DELETE => "/v1/admin/users/$ID", undef, 'X-CSRF-Token' => 'x' x 22),
            403, 'csrf_failed', 'a forged request first');
$s->sql("UPDATE svc.user_account SET role = 'member' WHERE user_name = 'ada\@acme.test'");
admin_error($b->ask(DELETE => "/v1/admin/users/$ID"), 403, 'forbidden',
            'then what the role may not');

$s->done;
done_testing();
