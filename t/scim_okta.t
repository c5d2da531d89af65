#!/usr/bin/perl

# Okta's requests, and the peculiarities of other clients.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Scim;


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $base = $s->base_url;
my ($r, $id, $user);

$s->secret('Okta-pa55-marker');


sub okta {
    my ($method, $path, $body, $type) = @_;

    my @headers = (
        'User-Agent' => 'Okta SCIM Client 1.0.0',
        Authorization => "Bearer $acme->{scim_token}",
        Accept => 'application/scim+json', 'Accept-Charset' => 'utf-8',
        'Content-Type' => $type // 'application/scim+json; charset=utf-8',
    );

    utf8::encode($body) if defined $body && !ref $body;

    return $s->http($method, "/scim/v2$path", \@headers, $body);
}


# --- connect ----------------------------------------------------------------

scim_list(okta(GET => '/Users?startIndex=1&count=2'), $base, 0, 'connects');

$acme->add_users(3);
$r = okta(GET => '/Users?startIndex=1&count=2');
scim_list($r, $base, 2, 'two of them');

my $lookup = '/Users?filter=userName%20eq%20%22isaac.brock%40example.test%22'
             . '&startIndex=1&count=100';

scim_list(okta(GET => $lookup), $base, 0, 'looks up, nobody');


# --- create -----------------------------------------------------------------

my $create = <<'EOT';
{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],
 "userName":"isaac.brock@example.test",
 "name":{"givenName":"Isaac","familyName":"Brock"},
 "emails":[{"primary":true,"value":"isaac.brock@example.test","type":"work",
            "display":"isaac.brock@example.test"}],
 "displayName":"Isaac Brock","locale":"en-US","externalId":"00ujl29u0le5T6Aj10h7",
 "groups":[],"password":"Okta-pa55-marker","active":true}
EOT

my %is = (
    userName => 'isaac.brock@example.test',
    name => { givenName => 'Isaac', familyName => 'Brock' },
    displayName => 'Isaac Brock', locale => 'en-US',
    externalId => '00ujl29u0le5T6Aj10h7',
);

$r = okta(POST => '/Users', $create);
scim_ok($r, 201, 'creates; the 201 has a body');
scim_user($r, $base, \%is, 'the user');
unlike($r->body, qr/password|Okta-pa55/, 'no password comes back');
$id = $r->json->{id};

is($s->sql('SELECT count(*) FROM svc.user_account u'
           . " WHERE u::text LIKE '%Okta-pa55%'")
   + $s->sql('SELECT count(*) FROM svc.audit_event a'
             . " WHERE a::text LIKE '%Okta-pa55%'"), 0, 'nor is it stored');

scim_error(okta(POST => '/Users', $create), 409, 'uniqueness',
           'creates again');
scim_list($r = okta(GET => $lookup), $base, 1, 'looks up, finds');
is($r->json->{Resources}[0]{id}, $id, 'the user');


# --- update: GET, modify, PUT everything back -------------------------------

$user = okta(GET => "/Users/$id")->json;
$user->{name}{familyName} = 'Brück';
$user->{displayName} = 'Isaac Brück';
$user->{groups} = [];
$user->{emails}[0]{display} = 'x';
$user->{password} = 'Okta-pa55-marker';

$r = okta(PUT => "/Users/$id", $user);
$is{name}{familyName} = 'Brück';
$is{displayName} = 'Isaac Brück';
scim_ok($r, 200, 'PUT everything back');
scim_user($r, $base, \%is, 'updated');

$user = $r->json;
$r = okta(PUT => "/Users/$id", $user);
is_deeply($r->json, $user, 'PUT what was read is no change, meta included');

$user->{active} = false;
$r = okta(PUT => "/Users/$id", $user);
scim_user($r, $base, { %is, active => false }, 'deactivated by PUT');

$r = okta(PATCH => "/Users/$id", '{"schemas":["urn:ietf:params:scim:api:'
          . 'messages:2.0:PatchOp"],"Operations":[{"op":"replace","value":'
          . '{"active":true}}]}');
scim_user($r, $base, \%is, 'reactivated by PATCH');

$r = okta(PATCH => "/Users/$id", '{"Operations":[{"op":"replace","value":'
          . '{"active":false}}]}');
scim_user($r, $base, { %is, active => false }, 'deactivated by PATCH');


# --- its published test suite -----------------------------------------------

$r = okta(GET => '/Users?count=1&startIndex=1', undef, 'application/json');
scim_list($r, $base, 1, 'suite: required test');
ok(length $r->json->{Resources}[0]{$_}, "suite: $_ is not blank")
    for qw(id userName);
ok(exists $r->json->{Resources}[0]{active}, 'suite: active is there');

$r = okta(GET => "/Users/$id", undef, 'application/json');
scim_ok($r, 200, 'suite: get by id');
is($r->json->{id}, $id, 'suite: the id');

$r = okta(GET => '/Users?filter=userName%20eq%20%22abcdefgh%40atko.test%22',
          undef, 'application/json');
scim_list($r, $base, 0, 'suite: filter without a match');

$r = okta(GET => '/Users/010101001010101011001010101011', undef,
          'application/json');
scim_error($r, 404, undef, 'suite: an invalid id');
is($r->json->{status}, '404', 'suite: status');

my $runscope = '{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],'
               . '"userName":"Runscope300@atko.test","name":{"givenName":'
               . '"Runscope","familyName":"User"},"emails":[{"primary":true,'
               . '"value":"Runscope300@atko.test","type":"work"}],'
               . '"displayName":"Runscope User","active":true}';

$r = okta(POST => '/Users', $runscope, 'application/json');
scim_ok($r, 201, 'suite: create');
ok($r->json->{active}, 'suite: active');
scim_error(okta(POST => '/Users', $runscope, 'application/json'), 409,
           'uniqueness', 'suite: create again');
scim_error(okta(GET => '/Groups', undef, 'application/json'), 404, undef,
           'suite: groups are not there');


# --- Google Workspace: suspends, and deletes weeks later --------------------

$r = $acme->scim(POST => '/Users', { userName => 'g@acme.test',
                                     emails => [ { value => 'g@acme.test',
                                                   primary => true } ],
                                     name => { givenName => 'G' } },
                 { 'Content-Type' => 'application/json' });
scim_ok($r, 201, 'Google: create');
$id = $r->json->{id};
scim_ok($acme->scim(PATCH => "/Users/$id",
                    patch_op({ op => 'replace', path => 'active',
                               value => false }),
                    { 'Content-Type' => 'application/json' }),
        200, 'Google: suspend');
scim_ok($acme->scim(DELETE => "/Users/$id"), 204, 'Google: delete');


# --- OneLogin: SCIM 1 schemas, an empty User-Agent --------------------------

$r = $acme->scim(POST => '/Users',
                 { schemas => [ 'urn:scim:schemas:core:1.0' ],
                   userName => 'one@acme.test',
                   name => { givenName => 'One', familyName => 'Login' } },
                 { 'User-Agent' => '' });
scim_ok($r, 201, 'OneLogin: create');
is_deeply($r->json->{schemas}, [ U ], 'OneLogin: the schemas are ours');


# --- JumpCloud: creates, deletes, and repeats itself ------------------------

$id = $acme->create(userName => 'jump@acme.test')->{id};
scim_ok($acme->scim(DELETE => "/Users/$id"), 204, "JumpCloud: delete $_")
    for 1 .. 3;
scim_ok($acme->scim(PUT => "/Users/$id", { userName => 'jump@acme.test',
                                           active => true }),
        200, "JumpCloud: put $_") for 1 .. 2;


# --- PingFederate: an unquoted value ----------------------------------------

$r = $acme->scim(GET => '/Users?filter=userName%20eq%20one%40acme.test');
scim_ok($r, 200, 'PingFederate: not recognised, and no error');
cmp_ok(scalar @{ $r->json->{Resources} }, '>', 1, 'the plain list');
scim_ok($acme->scim(GET => '/Users?filter=emails%20eq%20%22one%40acme.test'
                           . '%22'), 200, 'PingFederate: emails eq');

$s->done;
done_testing();
