#!/usr/bin/perl

# The maker of a token: with one that an admin has made nobody acts on owners,
# or on the admin, in any way; and what is said when its maker loses the
# permissions that it uses.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance;
use SvcTest::Scim;


my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;
my ($TRUE, $FALSE) = (JSON::PP::true, JSON::PP::false);

my $s = SvcTest->new(svc => { svc_sign_in => 'on' },
                     scim => { svc_scim_mode => 'rfc' })->start;
my $acme = $s->tenant('acme');
my $all = $acme->token_for($ALL);
my $n = 0;

$s->secret($PASSWORD);
$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
        . " ('$acme->{id}', 'lead', 'Lead',"
        . " '{audit:view,members:manage,roles:manage,tenant:manage}')");


# Makes a user with a role, and with a second factor that can be removed.

sub user {
    my ($role) = @_;

    my $user = with_password($s, $acme, userName => $role . ++$n . '@acme.test',
                             role => $role);

    $s->sql('INSERT INTO svc.factor (tenant_id, user_id, id, type, name) VALUES'
            . " ('$acme->{id}', '$user->{id}', gen_random_uuid(), 'email', 'mail')");

    return $user->{id};
}


sub of {
    my ($id, $what) = @_;

    return scalar $s->sql("SELECT $what FROM svc.user_account WHERE id = '$id'");
}


sub session {
    my ($id) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    $s->sql("UPDATE svc.user_account SET mfa_enrolled = false WHERE id = '$id'");
    $s->sql("DELETE FROM svc.factor WHERE user_id = '$id'");
    is($b->login(of($id, 'user_name'))->status, 200, 'signs in');

    return $b;
}


# Makes a token, with a session or another token.  Returns the whole answer.

sub new_token {
    my ($by, $scopes, $path) = @_;

    my $body = { name => 'made' . ++$n, $path ? () : (scopes => [ split /,/, $scopes ]) };

    $path //= '/api-tokens';

    my $r = ref $by ? $by->post("/v1/admin$path", $body)
                    : $acme->admin(POST => $path, $body, undef, $by);

    is($r->status, 201, 'a token is made') or diag($r->body);
    $s->secret($r->json->{secret});

    return $r->json;
}


# All requests that change a user, and their answers.

my @WAYS = (
    [ PUT => '/users/%s', sub { { email => 'moved' . ++$n . '@acme.test' } }, 200 ],
    [ POST => '/users/%s/logout', sub { undef }, 200 ],
    [ POST => '/users/%s/reset-mfa', sub { undef }, 200 ],
    [ POST => '/users/unlock', sub { { userId => $_[0] } }, 200 ],
    [ POST => '/users/%s/suspend', sub { undef }, 200 ],
    [ POST => '/users/%s/reactivate', sub { undef }, 200 ],
    [ PUT => '/members/%s', sub { { role => 'member' } }, 200 ],
    [ PUT => '/members/%s', sub { { role => 'owner' } }, 200 ],
    [ DELETE => '/members/%s', sub { undef }, 204 ],
    [ DELETE => '/users/%s', sub { undef }, 204 ],
);

sub way {
    my ($way, $id, $token) = @_;

    my ($method, $path, $body) = @$way;

    return $acme->admin($method, $path =~ s/%s/$id/r, $body->($id), undef, $token);
}


# Tests that all of them are refused, for a suspended user, too.

sub refused_of {
    my ($name, $id, $token) = @_;

    for my $status ('active', 'suspended') {
        $s->sql("UPDATE svc.user_account SET status = '$status',"
                . " locked_until = now() + interval '1 hour' WHERE id = '$id'");

        for my $way (@WAYS) {
            my $what = "$name, $status: $way->[0] $way->[1]";
            my $before = $acme->stored;
            my $error = admin_error(way($way, $id, $token), 403, 'forbidden', $what);

            like($error->{message}, qr/\bowner has made it\b.*\buse a session\b/,
                 "$what: it says why");
            is($acme->stored, $before, "$what: nothing is changed or said");
        }
    }

    $s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$id'");
}


sub allowed_of {
    my ($name, $role, $token) = @_;

    for my $way (@WAYS) {
        is(way($way, user($role), $token)->status, $way->[3],
           "$name: $way->[0] $way->[1] of one who is $role");
    }
}


# --- whose they are ------------------------------------------------------------------

my ($ada, $owen) = map { user('owner') } 1 .. 2;
my $adam = user('admin');
my ($owner, $admin) = map { session($_) } $ada, $adam;

my %token = (
    admin => new_token($admin, $ALL),
    owner => new_token($owner, $ALL),
);

$token{of_admin} = new_token($token{admin}{secret}, $ALL);
$token{of_owner} = new_token($token{owner}{secret}, $ALL);
$token{of_operator} = new_token($all, $ALL);

my $scim = new_token($admin, '', '/scim/tokens');
my $scim_owner = new_token($owner, '', '/scim/tokens');

my %is = map { $_->{id} => $_ } @{ $acme->admin(GET => '/api-tokens?limit=500', undef,
                                                undef, $all)->json->{apiTokens} };
my %maker = (ada => { id => $ada, email => of($ada, 'user_name'), active => $TRUE },
             adam => { id => $adam, email => of($adam, 'user_name'), active => $TRUE },
             nobody => undef);

for my $row ([ admin => adam => $FALSE ], [ owner => ada => $TRUE ],
             [ of_admin => adam => $FALSE ], [ of_owner => ada => $FALSE ],
             [ of_operator => nobody => $FALSE ])
{
    my ($name, $maker, $acts) = @$row;

    for my $told ($token{$name}, $is{ $token{$name}{id} }) {
        is_deeply($told->{maker}, $maker{$maker}, "$name: whose it is");
        is($told->{actsOnOwners}, $acts, 'and whether it acts on owners');
    }
}

my ($operators) = grep { $_->{name} eq $acme->{api_name} } values %is;

is($operators->{maker}, undef, 'that of an operator is nobody\'s');
is($operators->{actsOnOwners}, $TRUE, 'and acts on owners');


# --- what they may -------------------------------------------------------------------

refused_of("a token of an admin, and $_->[0]", $_->[1], $token{admin}{secret})
    for [ 'an owner' => $owen ], [ 'its maker' => $adam ];
refused_of("$_->[0], and an owner", $owen, $token{ $_->[1] }{secret})
    for [ 'a token that it made' => 'of_admin' ], [ 'one of an owner\'s' => 'of_owner' ],
        [ 'one of an operator\'s' => 'of_operator' ];
refused_of('a token that it made, and its maker', $adam, $token{of_admin}{secret});
refused_of('a token of an owner, and its maker', $ada, $token{owner}{secret});

allowed_of('a token of an owner', $_, $token{owner}{secret}) for qw(owner admin member);
allowed_of('that of an operator', 'owner', $all);

for my $way (grep { ref $_->[2]->() eq 'HASH' ? ($_->[2]->()->{role} // '') ne 'owner' : 1 }
                  @WAYS)
{
    is(way($way, user('admin'), $token{admin}{secret})->status, $way->[3],
       "a token of an admin: $way->[0] $way->[1] of another admin");
}

is($acme->admin(PUT => "/users/$owen", { title => 'X' }, undef, $token{admin}{secret})
   ->status, 200, 'the profile of an owner is anybody\'s');


# --- making owners -------------------------------------------------------------------

my $mia = user('member');

for my $name (qw(admin of_admin of_owner of_operator)) {
    admin_error($acme->admin(PUT => "/members/$mia", { role => 'owner' }, undef,
                             $token{$name}{secret}), 403, 'forbidden',
                "$name: it makes no owner");
    admin_error($acme->admin(POST => '/invitations',
                             { email => "$name\@else.test", role => 'owner' }, undef,
                             $token{$name}{secret}), 403, 'forbidden',
                "$name: nor invites one");
}

my $invited = $acme->admin(POST => '/invitations', { email => 'new@else.test',
                                                     role => 'owner' },
                           undef, $token{owner}{secret});

is($invited->status, 201, 'a token of an owner does');
$s->secret($invited->json->{inviteUrl});
admin_error($acme->admin(POST => '/invitations/' . $invited->json->{id} . '/resend', undef,
                         undef, $token{admin}{secret}), 403, 'forbidden',
            'and that of an admin has no link of it');


# --- over SCIM -----------------------------------------------------------------------

is_deeply([ @$scim{qw(maker actsOnOwners)} ], [ $maker{adam}, $FALSE ], 'a SCIM token, too');
is($scim_owner->{actsOnOwners}, $TRUE, 'and one of an owner');

sub scim {
    my ($token, @request) = @_;

    return $s->http($request[0], "/scim/v2$request[1]",
                    [ Authorization => "Bearer $token->{secret}",
                      'Content-Type' => 'application/scim+json' ], $request[2]);
}

sub active { return patch_op({ op => 'replace', path => 'active', value => $_[0] }) }
sub rename_to { return patch_op({ op => 'replace', path => 'userName', value => $_[0] }) }

$s->sql("UPDATE svc.user_account SET source = 'scim' WHERE id IN ('$owen', '$adam')");

for my $mode ('rfc', 'spec') {
    $s->nginx->{scim}{svc_scim_mode} = $mode;
    $s->reload;

    my @ways = ([ PATCH => "/Users/$owen", &active(false) ],
                [ DELETE => "/Users/$owen" ],
                [ PUT => "/Users/$owen", { userName => of($owen, 'user_name'), schemas => [ U ],
                                           title => 'Y', active => false } ],
                $mode eq 'rfc' ? [ PATCH => "/Users/$owen", rename_to('o@else.test') ] : ());

    for my $way (@ways) {
        my $before = $acme->stored;
        my $r = scim($scim, @$way);

        scim_error($r, 403, undef, "$mode: $way->[0] of an owner");
        like($r->json->{detail}, qr/\bhave an owner make another one\b/, 'it says why');
        is($acme->stored, $before, 'nothing has changed');
    }

    is(scim($scim, PATCH => "/Users/$owen",
            patch_op({ op => 'replace', path => 'title', value => "T$mode" }))->status, 200,
       "$mode: the profile of an owner");

    is(scim($scim, PATCH => "/Users/$adam", &active(false))->status, 200,
       "$mode: its maker leaves");
    is(of($adam, 'status'), 'deactivated', 'and is');
    scim_error(scim($scim, PATCH => "/Users/$adam", &active(true)), 403, undef,
               "$mode: and does not come back by it");

    if ($mode eq 'rfc') {
        is(scim($scim, DELETE => "/Users/$adam")->status, 204, 'once more');
        scim_error(scim($scim, POST => '/Users', {
            schemas => [ U ], userName => of($adam, 'user_name') }), 403, undef,
            'nor as a new one');
        is(scim($scim_owner, POST => '/Users', {
            schemas => [ U ], userName => of($adam, 'user_name') })->status, 201,
            'by one of an owner he does');
        scim_error(scim($scim, PATCH => "/Users/$adam", rename_to('a@else.test')), 403,
                   undef, 'it does not rename him');

    } else {
        is(scim($scim_owner, PATCH => "/Users/$adam", &active(true))->status, 200,
           'by one of an owner he does');
    }

    is(scim($scim_owner, PATCH => "/Users/$owen", &active($_))->status, 200,
       "$mode: one of an owner deactivates an owner, and activates: $_") for false, true;
}


# --- the role of its maker -----------------------------------------------------------

my $lea = user('lead');
my $lead = session($lea);
my $leads = new_token($lead, 'audit:view,members:manage,roles:manage,tenant:manage');
my @LESS = qw(members:manage roles:manage tenant:manage);

sub lead_may {
    my ($token, @permissions) = @_;

    return $acme->admin(PUT => '/roles/lead', { permissions => \@permissions }, undef,
                        $token);
}

sub apply {
    my ($token, @permissions) = @_;

    return $acme->admin(POST => '/config/apply', {
        version => 1, roles => [ { key => 'lead', name => 'Lead',
                                   permissions => \@permissions } ] }, undef, $token);
}

is(lead_may($all, @LESS)->status, 200, 'a role is reduced');

for my $way ([ 'PUT' => \&lead_may ], [ 'a bundle' => \&apply ]) {
    my ($name, $do) = @$way;
    my $before = governed($s, $acme);
    my $error = admin_error($do->($leads->{secret}, 'audit:view', @LESS), 403, 'forbidden',
                            "$name: the token does not have it grant more again");

    like($error->{message}, qr/\brole of the user who has made it\b/, "$name: it says why");
    is(governed($s, $acme), $before, "$name: nothing has changed");
}

is(lead_may($leads->{secret}, @LESS[0 .. 1])->status, 200, 'but less');
is(apply($token{owner}{secret}, 'audit:view', @LESS)->status, 200, 'and another one does');


# --- incidents -----------------------------------------------------------------------

sub lost {
    return map { [ @{ $_->{details} }{qw(userId reason tokens count)} ] }
           grep { $_->{type} eq 'token_maker_lost' }
           @{ $acme->admin(GET => '/security-incidents', undef, undef, $all)
              ->json->{securityIncidents} };
}

sub ack {
    $s->sql("UPDATE svc.incident SET acknowledged_at = now() WHERE acknowledged_at IS NULL");
}

ack();

my ($cara, $leo) = (user('admin'), user('lead'));
my ($of_cara, $of_leo) = map { session($_) } $cara, $leo;
my @made = map { new_token($of_cara, $_) } 'members:manage', 'roles:manage,users:view',
                                           'users:view', 'tenant:manage';
my $of_token = new_token($made[3]{secret}, 'tenant:manage');

$acme->admin(DELETE => "/api-tokens/$made[3]{id}", undef, undef, $all);
new_token($of_leo, 'members:manage');

is_deeply([ lost() ], [], 'nothing is lost');
$acme->new_events;

$acme->admin(POST => "/users/$cara/suspend", undef, undef, $all);
is_deeply([ lost() ], [ [ $cara, 'suspended', 3, 1 ] ],
          'whoever has made tokens that manage is suspended');
is_deeply([ grep { $_ eq 'incident.created' } map { $_->[0] } $acme->new_events ],
          [ 'incident.created' ], 'which is in the audit log');

my ($detail) = map { $_->{details} } grep { $_->{type} eq 'token_maker_lost' }
    @{ $acme->admin(GET => '/security-incidents', undef, undef, $all)
       ->json->{securityIncidents} };

is_deeply([ sort @{ $detail->{tokenIds} } ],
          [ sort $made[0]{id}, $made[1]{id}, $of_token->{id} ], 'with the tokens');
is_deeply([ map { $_->{maker}{active} }
            grep { $_->{id} eq $made[0]{id} }
            @{ $acme->admin(GET => '/api-tokens?limit=500', undef, undef, $all)
               ->json->{apiTokens} } ], [ $FALSE ], 'and in the list of them');

$acme->admin(POST => "/users/$cara/reactivate", undef, undef, $all);
is($acme->admin(DELETE => "/users/$cara", undef, undef, $all)->status, 204, 'erased');
is_deeply([ lost() ], [ [ $cara, 'erased', 3, 2 ] ], 'and once more, of the same incident');
is_deeply([ map { $_->{maker} }
            grep { $_->{id} eq $made[0]{id} }
            @{ $acme->admin(GET => '/api-tokens?limit=500', undef, undef, $all)
               ->json->{apiTokens} } ],
          [ { id => $cara, email => undef, active => $FALSE } ], 'whose name is gone');
ack();

is(lead_may($all, 'audit:view', 'members:manage')->status, 200, 'what a role loses');
is_deeply([ lost() ], [ [ $lea, 'role', 1, 1 ] ], 'is lost to who made a token with it');
is(lead_may($all, 'audit:view')->status, 200, 'more');
is_deeply([ sort map { "@$_" } lost() ], [ sort "$lea role 1 2", "$leo role 1 1" ],
          'and to others');
ack();

is(lead_may($all, 'audit:view', @LESS)->status, 200, 'all again');
is_deeply([ lost() ], [], 'is no loss');
is($acme->admin(PUT => "/members/$leo", { role => 'admin' }, undef, $all)->status, 200,
   'nor is a role that grants more');
is_deeply([ lost() ], [], 'for nobody');
is($acme->admin(PUT => "/members/$leo", { role => 'lead' }, undef, $all)->status, 200,
   'nor one that grants the same');
is_deeply([ lost() ], [], 'of what the token has');
is($acme->admin(DELETE => "/members/$leo", undef, undef, $all)->status, 204,
   'no role at all');
is_deeply([ lost() ], [ [ $leo, 'role', 1, 1 ] ], 'is one');

$s->sql("DELETE FROM svc.tenant WHERE id = '$acme->{id}'");
is($s->sql("SELECT count(*) FROM svc.incident"), 0, 'a tenant takes all along');

$s->done;
done_testing();
