#!/usr/bin/perl

# svc_scim_mode rfc: what identity providers send still works, in its literal
# form.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Scim;


my $s = SvcTest->new;
$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->start;

my $acme = $s->tenant('acme');
my $base = $s->base_url;

# Sends a body literally.

sub sent {
    my ($method, $path, $body, @headers) = @_;

    utf8::encode($body) if defined $body;

    return $s->http($method, "/scim/v2$path", [ @{ $acme->headers }, @headers ], $body);
}


# --- Microsoft Entra ID ----------------------------------------------------------------

my @entra = ('Content-Type' => 'application/scim+json; charset=utf-8');

my $r = sent(POST => '/Users', <<'EOT', @entra);
{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User",
            "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
 "externalId":"0a21f0f2","userName":"Zoe@contoso.test","active":true,
 "addresses":[{"type":"work","country":null,"formatted":null,"primary":null}],
 "displayName":"Zoë Müller","meta":{"resourceType":"User"},"roles":[],"title":null,
 "emails":[{"primary":true,"type":"work","value":"zoe.else@contoso.test"}],
 "name":{"formatted":"Zoë M","familyName":"Müller","givenName":"Zoë"},
 "phoneNumbers":[{"type":"mobile","value":null}],
 "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User":{
    "employeeNumber":"4711","department":"bob","manager":"7b0ce4a5"}}
EOT

my %is = (userName => 'Zoe@contoso.test', externalId => '0a21f0f2', displayName => 'Zoë Müller',
          name => { givenName => 'Zoë', familyName => 'Müller' }, department => 'bob');

scim_ok($r, 201, 'Entra: create');
scim_user($r, $base, \%is, 'Entra: the values come back');

my $id = $r->json->{id};

$r = sent(PATCH => "/Users/$id", <<'EOT', @entra);
{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[
 {"op":"Replace","path":"displayName","value":"Renée"},
 {"op":"Replace","path":"emails[type eq \"work\"].value","value":"up@contoso.test"},
 {"op":"Replace","path":"name.givenName","value":"updated"},
 {"op":"Replace","path":
  "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department","value":"Räume"},
 {"op":"Add","path":"nickName","value":"Babs"},
 {"op":"Add","path":"phoneNumbers[type eq \"mobile\"].value","value":"555-0199"},
 {"op":"Add","path":"addresses[type eq \"work\"].country","value":"FR"},
 {"op":"Replace","path":"roles[primary eq \"True\"].value","value":"x"},
 {"op":"Add","path":"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager",
  "value":"7b0ce4a5"}]}
EOT
@is{qw(displayName department)} = ('Renée', 'Räume');
$is{name}{givenName} = 'updated';
scim_user($r, $base, \%is, 'Entra: update, classic');

$r = sent(PATCH => "/Users/$id", <<'EOT', @entra);
{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[
 {"op":"replace","value":{"displayName":"Third","name.givenName":"Given",
  "nickName":"Babs","emails[type eq \"work\"].value":"x@contoso.test",
  "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber":"4712",
  "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department":"Lab"}}]}
EOT
@is{qw(displayName department)} = qw(Third Lab);
$is{name}{givenName} = 'Given';
scim_user($r, $base, \%is, 'Entra: update, one operation without a path');

for my $value (qw("False" "True" false true)) {
    $r = sent(PATCH => "/Users/$id",
              '{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":'
              . "[{\"op\":\"Replace\",\"path\":\"active\",\"value\":$value}]}", @entra);
    scim_user($r, $base, { %is, active => $value =~ /true/i ? true : false },
              "Entra: active $value");
}

$r = sent(PATCH => "/Users/$id", <<'EOT', @entra);
{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[
 {"op":"Replace","path":"userName","value":"left@contoso.test"},
 {"op":"Replace","path":"emails[type eq \"work\"].value","value":null},
 {"op":"Replace","path":"addresses[type eq \"work\"].country","value":"FR"},
 {"op":"Remove","path":"roles"},
 {"op":"Remove","path":"phoneNumbers[type eq \"mobile\"].value"},
 {"op":"Replace","path":"active","value":"False"}]}
EOT
$is{userName} = 'left@contoso.test';
scim_user($r, $base, { %is, active => false }, 'Entra: a leaver, with another name');

scim_ok(sent(DELETE => "/Users/$id"), 204, 'Entra: delete');
$r = sent(POST => '/Users', <<'EOT', @entra);
{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"externalId":"0a21f0f2",
 "userName":"left@contoso.test","active":true}
EOT
scim_ok($r, 201, 'Entra: created again');
is($r->json->{id}, $id, 'is the same user');


# --- Okta ------------------------------------------------------------------------------

my @okta = ('Content-Type' => 'application/scim+json; charset=utf-8',
            Accept => 'application/scim+json', 'Accept-Charset' => 'utf-8',
            'User-Agent' => 'Okta SCIM Client 1.0.0');

$r = sent(POST => '/Users', <<'EOT', @okta);
{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"ada@okta.test",
 "name":{"givenName":"Ada","familyName":"Lovelace"},"displayName":"Ada","locale":"en-US",
 "emails":[{"primary":true,"value":"ada@okta.test","type":"work","display":"x"}],
 "externalId":"00u1","groups":[],"password":"1mz050nq","active":true}
EOT
scim_ok($r, 201, 'Okta: create');

my $ada = $r->json;
my $path = "/Users/$ada->{id}";

ok(!exists $ada->{password}, 'Okta: no password');
$ada->{emails}[0]{display} = 'x';
@$ada{qw(title groups userName)} = ('Countess', [], 'countess@okta.test');
$r = $acme->scim(PUT => $path, $ada, [ @okta ]);
scim_ok($r, 200, 'Okta: PUT of all of it');
is_deeply([ @{ $r->json }{qw(userName title locale active)} ],
          [ 'countess@okta.test', 'Countess', 'en-US', true ], 'Okta: is so');
is($r->json->{emails}[0]{value}, 'countess@okta.test', 'Okta: the address too');

$r = sent(PATCH => $path, '{"Operations":[{"op":"replace","value":{"active":false}}]}', @okta);
scim_ok($r, 200, 'Okta: deactivates by PATCH');
ok(!$r->json->{active}, 'Okta: is so');
$r = $acme->scim(PUT => $path, { %$ada, active => true }, [ @okta ]);
ok($r->json->{active}, 'Okta: reactivates by PUT');


# --- others ------------------------------------------------------------------------------

my @json = ('Content-Type' => 'application/json');

$r = sent(POST => '/Users', <<'EOT', @json);
{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"g@acme.test",
 "emails":[{"value":"g@acme.test","primary":true}],"name":{"givenName":"G"}}
EOT
scim_ok($r, 201, 'Google: create');
$path = '/Users/' . $r->json->{id};
scim_ok($acme->scim(PATCH => $path, patch_op({ op => 'replace', path => 'active',
                                               value => false }), [ @json ]),
        200, 'Google: suspend');
scim_ok(sent(DELETE => $path), 204, 'Google: delete');

scim_error(sent(POST => '/Users', '{"schemas":["urn:scim:schemas:core:1.0"],'
                . '"userName":"one@acme.test"}', 'User-Agent' => ''),
           400, 'invalidValue', 'OneLogin: a template of SCIM 1.0 is refused');
scim_ok(sent(POST => '/Users', '{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],'
             . '"userName":"one@acme.test"}', 'User-Agent' => ''), 201, 'OneLogin: one of 2.0');
$r = sent(POST => '/Users', '{"userName":"old@acme.test","name":{"givenName":"O"}}',
          'User-Agent' => '');
scim_ok($r, 201, 'OneLogin: one without schemas');
scim_ok(sent(PUT => '/Users/' . $r->json->{id}, '{"userName":"old@acme.test","active":false}',
             'User-Agent' => ''), 200, 'OneLogin: which deactivates, too');

my @ids;

for (1 .. 3) {
    $r = $acme->scim(POST => '/Users', { schemas => [ U ], userName => 'jump@acme.test' });
    scim_ok($r, 201, 'JumpCloud: create');
    push @ids, $r->json->{id};
    scim_ok($acme->scim(DELETE => "/Users/$ids[-1]"), 204, 'JumpCloud: and delete');
}

is_deeply([ @ids ], [ ($ids[0]) x 3 ], 'JumpCloud: one user');

$s->done;
done_testing();
