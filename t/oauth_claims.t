#!/usr/bin/perl

# Shows claims about users, in ID tokens and at userinfo: those of the scopes "groups"
# and "roles", and those that an application has in its ID tokens.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Grants qw(code redeem refresh $REDIRECT);
use SvcTest::OAuth qw(oauth_server application claims form oauth_error exchange);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = oauth_server()->start;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my @ALL = qw(email groups openid profile roles);
my %WEB = (type => 'web', redirectUris => [ $REDIRECT ], signingAlg => 'ES256',
           scopes => [ @ALL, 'invoices:read' ]);

my $plain = application($acme, %WEB, name => 'Plain');
my $full = application($acme, %WEB, name => 'Full',
                       idTokenClaims => [ qw(email groups profile roles) ]);
my $opaque = application($acme, %WEB, name => 'Opaque', accessTokenFormat => 'opaque',
                         idTokenClaims => [ qw(email roles) ]);
my $few = application($acme, %WEB, name => 'Few', groupsClaim => 'assigned',
                      idTokenClaims => [ 'groups' ]);
my $foreign = application($globex, %WEB, idTokenClaims => [ 'groups' ]);
my $ada = $acme->create(userName => 'ada@acme.test', displayName => "Ada \x{263a}",
                        name => { givenName => 'Ada', familyName => 'Lovelace' },
                        locale => 'en-GB');
my $bare = $acme->create(userName => 'bare@acme.test');
my $eve = $globex->create(userName => 'eve@globex.test');

# Makes a group of a tenant, with members.

sub group {
    my ($tenant, $name, @members) = @_;

    utf8::encode($name);

    my $id = $s->sql('INSERT INTO svc.user_group (tenant_id, id, name) VALUES'
                     . " ('$tenant->{id}', gen_random_uuid(), '$name') RETURNING id");

    $s->sql('INSERT INTO svc.group_member (tenant_id, group_id, user_id) VALUES'
            . " ('$tenant->{id}', '$id', '$_->{id}')") for @members;

    return $id;
}


# Returns the claims of the ID token, and what userinfo answers, for a user and
# scopes.

sub told {
    my ($app, $user, @scopes) = @_;

    my $tenant = $app == $foreign ? $globex : $acme;
    my $t = redeem($s, $app, code($tenant, $app, $user, scopes => [ 'openid', @scopes ]))->json;

    return ((claims($t->{id_token}))[1], userinfo($t->{access_token})->json);
}


sub userinfo { return $s->http(GET => '/oauth/userinfo', [ Authorization => "Bearer $_[0]" ]) }


# Returns the claims without those of each ID token.

sub about {
    my ($claims) = @_;

    my %is = %$claims;

    delete @is{qw(iss sub aud exp iat auth_time acr amr sid nonce at_hash updated_at)};

    return \%is;
}


my $staff = group($acme, 'Staff', $ada);
my $admins = group($acme, "Ad\x{e4}mins \"x\"", $ada);

group($acme, 'Empty');
group($globex, 'Evil', $eve);


# --- scopes ---------------------------------------------------------------------------

my @GROUPS = ("Ad\x{e4}mins \"x\"", 'Staff');
my %PROFILE = (name => "Ada \x{263a}", given_name => 'Ada', family_name => 'Lovelace',
               locale => 'en-GB');
my %EMAIL = (email => 'ada@acme.test', email_verified => $TRUE);

my ($id, $info) = told($plain, $ada, @ALL);

is_deeply(about($id), {}, 'an ID token says nothing of a user');
is_deeply(about($info), { %PROFILE, %EMAIL, groups => \@GROUPS, roles => [ 'member' ] },
          'userinfo all');
like($info->{updated_at}, qr/\A1[0-9]{9}\z/, 'with a time');

($id, $info) = told($full, $ada, @ALL);
is_deeply(about($id), { %PROFILE, %EMAIL, groups => \@GROUPS, roles => [ 'member' ] },
          'an ID token that says all');
is($id->{updated_at}, $info->{updated_at}, 'and when');
is_deeply(about($info), about($id), 'as userinfo still does');

for my $scope (qw(profile email groups roles)) {
    my %is = (profile => \%PROFILE, email => \%EMAIL, groups => { groups => \@GROUPS },
              roles => { roles => [ 'member' ] });

    is_deeply([ map { about($_) } told($full, $ada, $scope) ], [ ($is{$scope}) x 2 ],
              "$scope alone");
}

is_deeply([ map { about($_) } told($full, $ada) ], [ {}, {} ], 'none of them');
is_deeply(about((told($opaque, $ada, @ALL))[0]), { %EMAIL, roles => [ 'member' ] },
          'some of them, beside an opaque token');
is_deeply(about((told($opaque, $ada, 'profile', 'roles'))[0]), { roles => [ 'member' ] },
          'and of those what was granted');
is_deeply([ map { about($_) } told($full, $bare, @ALL) ],
          [ ({ email => 'bare@acme.test', email_verified => $TRUE, groups => [],
               roles => [ 'member' ] }) x 2 ], 'who has no name, and no group');

$s->sql("UPDATE svc.user_account SET role = 'owner', email_verified = false"
        . " WHERE id = '$ada->{id}'");
is_deeply(about((told($full, $ada, 'roles', 'email'))[0]),
          { %EMAIL, email_verified => $FALSE, roles => [ 'owner' ] }, 'as it is now');

# A refresh tells the user's groups of now.

my $t = redeem($s, $full, code($acme, $full, $ada,
                               scopes => [ qw(openid groups offline_access) ]))->json;

$s->sql("DELETE FROM svc.group_member WHERE group_id = '$admins'");
my $next = refresh($s, $full, $t->{refresh_token})->json;
is_deeply(about((claims($next->{id_token}))[1]), { groups => [ 'Staff' ] }, 'of a refresh');

for (1, 2) {
    my $again = refresh($s, $full, $t->{refresh_token})->json;

    is_deeply(about((claims($again->{id_token}))[1]), { groups => [ 'Staff' ] },
              'of one that is asked for again');
}

# An application that loses a scope no longer gets its claims.

$s->sql("UPDATE svc.application SET scopes = '{openid,roles}'"
        . " WHERE client_id = '$full->{clientId}'");
$next = refresh($s, $full, $next->{refresh_token})->json;
is_deeply(about((claims($next->{id_token}))[1]), {}, 'a scope that is lost');
is_deeply(about(userinfo($next->{access_token})->json), {}, '... at userinfo, too');


# --- which groups ---------------------------------------------------------------------

is_deeply([ map { about($_) } told($few, $ada, 'groups') ], [ ({ groups => [] }) x 2 ],
          'assigned ones alone');
$s->sql("INSERT INTO svc.group_app (tenant_id, client_id, group_id) VALUES"
        . " ('$acme->{id}', '$few->{clientId}', '$_')") for $staff, $admins;
is_deeply([ map { about($_) } told($few, $ada, 'groups') ], [ ({ groups => [ 'Staff' ] }) x 2 ],
          'of which the user is in one');
is_deeply([ map { about($_) } told($foreign, $eve, 'groups') ], [ ({ groups => [ 'Evil' ] }) x 2 ],
          'of another tenant');

# 200 groups, and one more.

$s->sql("INSERT INTO svc.user_group (tenant_id, id, name) SELECT '$acme->{id}',"
        . " gen_random_uuid(), 'g' || i FROM generate_series(1, 201) i");
$s->sql('INSERT INTO svc.group_member (tenant_id, group_id, user_id)'
        . " SELECT tenant_id, id, '$bare->{id}' FROM svc.user_group WHERE tenant_id ="
        . " '$acme->{id}' AND name LIKE 'g%' AND name <> 'g201'");

($id, $info) = told($plain, $bare, 'groups');
is_deeply($info->{groups}, [ sort map { "g$_" } 1 .. 200 ], '200 groups');
ok(!exists $info->{groups_overage}, 'are not too many');

$s->sql("INSERT INTO svc.group_member (tenant_id, group_id, user_id) SELECT tenant_id, id,"
        . " '$bare->{id}' FROM svc.user_group WHERE tenant_id = '$acme->{id}' AND name = 'g201'");
$s->sql("UPDATE svc.application SET id_token_claims = '{groups}'"
        . " WHERE client_id = '$plain->{clientId}'");
is_deeply([ map { about($_) } told($plain, $bare, 'groups') ], [ ({ groups_overage => $TRUE }) x 2 ],
          '201 are');
is_deeply([ map { about($_) } told($few, $bare, 'groups') ], [ ({ groups => [] }) x 2 ],
          'of which none is assigned');


# --- clients, and suspended users -----------------------------------------------------

my $api = application($acme, name => 'API', scopes => [ 'groups', 'a' ]);

oauth_error(form($s, token => { grant_type => 'client_credentials', scope => 'groups' },
                 client => $api), 400, 'invalid_scope', 'a client is in no group');
is(form($s, token => { grant_type => 'client_credentials' }, client => $api)->json->{scope}, 'a',
   'nor is that given to it');

$t = redeem($s, $plain, code($acme, $plain, $ada, scopes => [ qw(openid groups) ]))->json;
$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$ada->{id}'");
is(userinfo($t->{access_token})->status, 401, 'of who is suspended nothing is told');
oauth_error(redeem($s, $plain, code($acme, $plain, $ada, scopes => [ qw(openid groups) ])),
            400, 'access_denied', 'nor given');

my $metadata = $s->http(GET => '/oauth/t/acme/.well-known/openid-configuration')->json;

is_deeply([ grep { /\A(?:groups|roles)\z/ } @{ $metadata->{$_} } ], [ qw(groups roles) ], $_)
    for qw(scopes_supported claims_supported);

$s->done;
done_testing();
