#!/usr/bin/perl

# A provisioning cycle of Microsoft Entra ID, with its literal requests.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Scim;


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $base = $s->base_url;
my $c = $s->connection;
my ($r, $id);


# one keepalive connection, no User-Agent; bodies as they are on the wire

sub entra {
    my ($method, $path, $body) = @_;

    my @headers = (Authorization => "Bearer $acme->{scim_token}");

    push @headers, 'Content-Type' => 'application/scim+json; charset=utf-8'
        if defined $body;

    my $answer = $c->request($method, "/scim/v2$path", \@headers,
                             defined $body ? do { utf8::encode($body); $body }
                                           : undef);

    BAIL_OUT("no answer to $method $path: " . $c->error) if !$answer;

    return $answer;
}


# --- Test connection --------------------------------------------------------

$r = entra(GET => '/Users?filter=userName+eq+%22'
                  . '7a1f0c55-5f0a-4f5e-9a0c-cb3f5a4e7f11%22');
scim_list($r, $base, 0, 'test connection');

$r = entra(GET => '/Users?filter=externalId+eq+%220a21f0f2-8d2a-4f8e-bf98'
                  . '-7363c4aed4ef%22');
scim_list($r, $base, 0, 'nobody with that externalId');


# --- Create -----------------------------------------------------------------

my $create = <<'EOT';
{
    "schemas": [
        "urn:ietf:params:scim:schemas:core:2.0:User",
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
    "externalId": "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
    "userName": "Test_User_ab6490ee-1e48-479e-a20b-2d77186b5dd1@contoso.test",
    "active": true,
    "addresses": [{"type": "work", "country": null, "formatted": null,
                   "locality": null, "postalCode": null, "region": null,
                   "streetAddress": null, "primary": null}],
    "displayName": "Zoë Müller",
    "emails": [{"primary": true, "type": "work",
                "value": "Test_User_fd0ea19b@contoso.test"}],
    "meta": {"resourceType": "User"},
    "name": {"formatted": "givenName familyName",
             "familyName": "familyName", "givenName": "givenName"},
    "phoneNumbers": [{"type": "work", "value": "555-0100"},
                     {"type": "mobile", "value": null}],
    "roles": [],
    "title": null,
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {
        "employeeNumber": "4711", "department": "bob",
        "manager": "7b0ce4a5-8ac0-4f0b-a2ad-9ae1a5a4a0f4"}
}
EOT

my $user_name = 'Test_User_ab6490ee-1e48-479e-a20b-2d77186b5dd1@contoso.test';

my %is = (
    userName => $user_name,
    externalId => '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    displayName => 'Zoë Müller',
    name => { givenName => 'givenName', familyName => 'familyName' },
    department => 'bob',
);

$r = entra(POST => '/Users', $create);
scim_ok($r, 201, 'create');
scim_user($r, $base, \%is, 'values come back unmodified');
$id = $r->json->{id};

scim_error(entra(POST => '/Users', $create), 409, 'uniqueness',
           'create again');

$r = entra(GET => "/Users?filter=userName+eq+%22$user_name%22");
scim_list($r, $base, 1, 'matched by userName');
is($r->json->{Resources}[0]{id}, $id, 'it is the one');

$r = entra(GET => '/Users?filter=userName+eq+%22' . lc($user_name) . '%22');
scim_list($r, $base, 1, 'matched in another case');

$r = entra(GET => "/Users?filter=externalId+eq+%22$is{externalId}%22");
scim_list($r, $base, 1, 'matched by externalId');

$r = entra(GET => "/Users/$id");
scim_user($r, $base, \%is, 'read');


# --- Update, classic --------------------------------------------------------

$r = entra(PATCH => "/Users/$id", <<'EOT');
{
    "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
    "Operations": [
        {"op": "Replace", "path": "displayName", "value": "Renée 李"},
        {"op": "Replace", "path": "emails[type eq \"work\"].value",
         "value": "updatedEmail@contoso.test"},
        {"op": "Replace", "path": "name.givenName", "value": "updated"},
        {"op": "Replace", "path":
         "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
         "value": "Räume"},
        {"op": "Add", "path": "nickName", "value": "Babs"},
        {"op": "Add", "path": "phoneNumbers[type eq \"mobile\"].value",
         "value": "555-0199"},
        {"op": "Add", "path":
         "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager",
         "value": "7b0ce4a5-8ac0-4f0b-a2ad-9ae1a5a4a0f4"}
    ]
}
EOT

$is{displayName} = 'Renée 李';
$is{name}{givenName} = 'updated';
$is{department} = 'Räume';

scim_ok($r, 200, 'update, classic');
scim_user($r, $base, \%is, 'what is mapped is updated, the rest ignored');


# --- Update, one operation without a path -----------------------------------

$r = entra(PATCH => "/Users/$id", <<'EOT');
{"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
 "Operations": [{"op": "replace", "value": {
     "displayName": "Third",
     "name.givenName": "Given",
     "name.familyName": "Family",
     "nickName": "Babs",
     "emails[type eq \"work\"].value": "x@contoso.test",
     "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber":
         "4712",
     "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department":
         "Lab"}}]}
EOT

$is{displayName} = 'Third';
$is{name} = { givenName => 'Given', familyName => 'Family' };
$is{department} = 'Lab';

scim_ok($r, 200, 'update in the manner of the RFC');
scim_user($r, $base, \%is, 'dotted and URN-prefixed keys');


# --- Disable, enable --------------------------------------------------------

for my $row ([ '"False"', 0 ], [ '"True"', 1 ], [ 'false', 0 ], [ 'true', 1 ])
{
    my ($value, $active) = @$row;

    $r = entra(PATCH => "/Users/$id", <<"EOT");
{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
 "Operations":[{"op":"Replace","path":"active","value":$value}]}
EOT

    scim_ok($r, 200, "active $value");
    scim_user($r, $base, { %is, active => $active ? true : false },
              'nothing else has changed');
}

# a user who leaves, with an unsupported change in the same request

$r = entra(PATCH => "/Users/$id", <<'EOT');
{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
 "Operations":[
  {"op":"Replace","path":"userName","value":"left@contoso.test"},
  {"op":"Replace","path":"emails[type eq \"work\"].value","value":null},
  {"op":"Replace","path":"addresses[type eq \"work\"].country","value":"FR"},
  {"op":"Remove","path":"roles"},
  {"op":"Replace","path":"active","value":"False"}]}
EOT

scim_ok($r, 200, 'a leaver');
scim_user($r, $base, { %is, active => false }, 'is deactivated all the same');


# --- Delete -----------------------------------------------------------------

scim_ok(entra(DELETE => "/Users/$id"), 204, 'delete');
$r = entra(GET => "/Users/$id");
scim_user($r, $base, { %is, active => false }, 'the user is kept');
scim_list(entra(GET => "/Users?filter=userName+eq+%22$user_name%22"), $base,
          1, 'and found');

# rehired: found by the filter, updated and activated

$r = entra(PATCH => "/Users/$id", <<'EOT');
{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
 "Operations":[{"op":"Add","path":"active","value":"True"},
               {"op":"Replace","path":"title","value":"Engineer"}]}
EOT
scim_user($r, $base, { %is, title => 'Engineer' }, 'rehired');


# --- a day's worth ----------------------------------------------------------

# one tenant sends 25 requests a second for a few seconds; here they come
# without a pause

my @ids;

for my $i (1 .. 50) {
    $r = entra(POST => '/Users', "{\"userName\":\"u$i\@contoso.test\","
                                 . "\"externalId\":\"guid-$i\","
                                 . "\"active\":true,\"roles\":[]}");
    push @ids, $r->json->{id} if $r->status == 201;
}

is(scalar @ids, 50, 'fifty users');
is(scalar(grep { entra(PATCH => "/Users/$_", '{"Operations":[{"op":"Replace",'
                       . '"path":"active","value":"False"}]}')->status == 200 }
          @ids), 50, 'all disabled');
is($s->sql("SELECT count(*) FROM svc.user_account WHERE status = 'deactivated'"
           . " AND tenant_id = '$acme->{id}'"), 50, 'and stored so');

$s->done;
done_testing();
