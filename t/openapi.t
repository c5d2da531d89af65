#!/usr/bin/perl

# The published contract: valid by an independent validator, exactly the stable
# operations of the route table, and true of what is answered.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Npm;
use SvcTest::Process;
use SvcTest::Routes;

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $JSON = JSON::PP->new->utf8->canonical;

$s->sql("UPDATE svc.credential SET permissions = permissions || '{audit:view}'"
        . " WHERE id = '$acme->{api_id}'");

# what is stable, of all that there is

my $STABLE = qr{\A/admin/(?:api-tokens(?:/\*)?|users|identities
                |agents(?!/delegations)(?:/.*)?
                |access-policy/(?:versions|versions/\*/restore|simulate)
                |risk-policy|config(?:/.*)?)\z}x;


my $r = $s->http(GET => '/v1/openapi.json');
is($r->status, 200, 'the document, without a credential');
is($r->header('content-type'), 'application/json', 'its type');
is($r->header('cache-control'), 'public, max-age=300', 'for five minutes');
is($r->header('access-control-allow-origin'), '*', 'for pages of any origin');
is($s->http(GET => '/v1/openapi.json',
            [ 'If-None-Match' => $r->header('etag') ])->status, 304,
   'If-None-Match');
is($s->http(HEAD => '/v1/openapi.json')->header('content-length'),
   length $r->body, 'HEAD');

my $document = $r->json;
is($document->{openapi}, '3.1.0', 'OpenAPI 3.1');
is_deeply($document->{servers}, [ { url => $s->base_url } ], 'its server');


# --- the operations --------------------------------------------------------------

my %operation;

for my $path (keys %{ $document->{paths} }) {
    my $item = $document->{paths}{$path};

    for my $method (grep { $_ ne 'parameters' } keys %$item) {
        (my $pattern = $path =~ s{\A/v1}{}r) =~ s/\{\w+\}/*/g;

        $operation{ uc($method) . " $pattern" } = $item->{$method};
    }
}

my @stable = grep { $_->{path} =~ $STABLE } admin_routes($s->root);

is_deeply([ sort keys %operation ],
          [ sort map { "$_->{method} $_->{path}" } @stable ],
          'exactly the stable routes');
is_deeply({ map { $_ => $operation{$_}{'x-permission'} } keys %operation },
          { map { ("$_->{method} $_->{path}" => $_->{permission}) } @stable },
          'with their permissions');


# the README tells of every route

my $readme = SvcTest::Process::slurp($s->root . '/README.md');

for my $route (admin_routes($s->root)) {
    my $path = $route->{path} =~ s{/tenants/\*}{/tenants/{slug}}r
               =~ s{\*}{{id}}gr;
    my $permission = $route->{public} ? 'public'
                   : $route->{permission} eq '' ? 'any'
                   : "`$route->{permission}`";

    like($readme, qr/^\| `\Q$route->{method} \/v1$path\E` \| \Q$permission\E \| /m,
         "the README has $route->{method} $path");
}


# --- what is answered ---------------------------------------------------------------

my @answers;

sub ask {
    my ($id, $method, $path, $body, $token) = @_;

    my $r = $acme->admin($method, $path, $body, undef, $token);
    my $json = length $r->body ? $r->json : undef;

    $s->secret($json->{secret}) if ref $json eq 'HASH' && $json->{secret};
    push @answers, { operationId => $id, status => $r->status, body => $json };

    return $r;
}

$acme->create(userName => 'full@acme.test', externalId => 'e1', title => 't',
              name => { givenName => 'A', familyName => 'B' },
              displayName => 'A B', locale => 'fr',
              'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
                  => { department => 'd' });
$acme->create(userName => 'bare@acme.test');

my $examples = $operation{'POST /admin/api-tokens'}{requestBody}{content}
                         {'application/json'}{examples};

for my $name (sort keys %$examples) {
    my $r = ask(createApiToken => POST => '/api-tokens',
                $examples->{$name}{value});

    is($r->status, 201, "the example \"$name\" is accepted")
        or diag($r->body);
}

$examples = $operation{'PUT /admin/risk-policy'}{requestBody}{content}
                      {'application/json'}{examples};

for my $name (sort keys %$examples) {
    my $r = ask(putRiskPolicy => PUT => '/risk-policy',
                $examples->{$name}{value});

    is($r->status, 200, "the example \"$name\" is accepted")
        or diag($r->body);
}

ask(getRiskPolicy => GET => '/risk-policy');
ask(putRiskPolicy => PUT => '/risk-policy', { mfaThreshold => 80 });
push @answers, { operationId => 'putRiskPolicy', status => $_->status,
                 body => $_->json }
    for $acme->admin(PUT => '/risk-policy', {}, [ 'If-Match' => '"0"' ]);

for my $way (qw(plan apply)) {
    $examples = $operation{"POST /admin/config/$way"}{requestBody}{content}
                          {'application/json'}{examples};

    for my $name (sort keys %$examples) {
        my $value = $examples->{$name}{value};

        for my $detail ('true', 'false') {
            my $r = ask("${way}Config" => POST => "/config/$way?detail=$detail",
                        $value);

            is($r->status, 200, "the example \"$name\" is taken by $way")
                or diag($r->body);
        }
    }
}

my $group = $acme->admin(POST => '/groups', { name => 'Staff' }, [],
    $acme->token(kind => 'api', permissions => 'groups:manage')->{token})
    ->json->{id};
my $user = $acme->create(userName => 'auditor@acme.test')->{id};
my $roles = $acme->token(kind => 'api', permissions => 'tenant:manage')->{token};

ask(applyConfig => POST => '/config/apply?detail=1',
    { version => 1, groupPasswordPolicies => [ { groupId => $group,
                                                 maxAgeDays => 90 } ] });
ask(getConfig => GET => '/config');
$s->sql("UPDATE svc.user_account SET role = 'auditor' WHERE id = '$user'");
ask(planConfig => POST => '/config/plan?detail=1',
    { version => 1, roles => [], groupPasswordPolicies => [] });
ask(planConfig => POST => '/config/plan?detail=1', { version => 1, roles =>
    [ { key => 'new', name => 'New', permissions => [ 'apps:manage' ] } ] });
ask(applyConfig => POST => '/config/apply?prune=1', { version => 1,
                                                      roles => [] });
ask(applyConfig => POST => '/config/apply', { version => 1, roles => [
    { key => 'new', name => 'New', permissions => [ 'audit:view' ] } ] },
    $roles);
push @answers, { operationId => 'applyConfig', status => $_->status,
                 body => $_->json }
    for $acme->admin(POST => '/config/apply', { version => 1 },
                     [ 'If-Match' => '"0"' ]);

my $viewer = $acme->token(kind => 'api', permissions => 'apps:manage');

for my $id (sort map { $_->{operationId} } values %operation) {
    my ($name) = grep { $operation{$_}{operationId} eq $id } keys %operation;
    my ($method, $pattern) = split / /, $name;
    my $path = $pattern =~ s{\A/admin}{}r
               =~ s{\*}{00000000-0000-4000-8000-000000000000}gr;

    ask($id, $method, $path, $method eq 'POST' ? '{' : undef, 'svc_unknown');
    ask($id, $method, $path, $method eq 'POST' ? '{' : undef,
        $viewer->{token});
    ask($id, $method, $path, $method eq 'POST' ? '{' : undef);
    ask($id, $method, "$path?limit=0") if $method eq 'GET';
}

my $gone = ask(createApiToken => POST => '/api-tokens',
               { name => 'gone', scopes => [ 'users:view' ] })->json->{id};
ask(revokeApiToken => DELETE => "/api-tokens/$gone");
ask(listApiTokens => GET => '/api-tokens');

cmp_ok(scalar @answers, '>=', 15, 'answers of many kinds');
is(npm_run($s->root, 'openapi.mjs',
           $JSON->encode({ document => $document, answers => \@answers })),
   "\n", 'the document is valid, and so are its examples and all answers');

$s->done;
done_testing();
