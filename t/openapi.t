#!/usr/bin/perl

# Shows that the published contract is served as it is in conf/, that two validators
# take it, and that it has exactly the routes, permissions, flags and error codes of
# the server.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Documents qw(document);
use SvcTest::Json qw(json);
use SvcTest::Npm;
use SvcTest::Process qw(slurp);
use SvcTest::Routes;

my $s = SvcTest->new(workers => 1, svc => { svc_sign_in => 'on', svc_postgres_pool => [
    map { "$_ connections=1 depth=4" } qw(read write slow) ] })->start;

# These paths are promised to stay; the others serve a console.

my $STABLE = qr{\A/(?:openapi\.json|tenants/.*|admin/(?:api-tokens(?:/\*)?|users
                |agents(?:/\*)?|agents/anomalies(?:/\*/ack)?
                |agents/\*/(?:policy|identity|review|secret)
                |identities|access-policy/(?:versions(?:/\*(?:/restore)?)?
                |simulate)|risk-policy|config(?:/.*)?|webhooks(?:/.*)?))\z}x;


# --- how it is served ---------------------------------------------------------------

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
my $file = slurp($s->root . '/conf/openapi.json');
my ($version) = slurp($s->root . '/conf/version') =~ /^(\S+)$/;

is($file =~ s/\@base_url\@/$s->base_url/ge, 1, 'one place for the server');
is($file =~ s/\@version\@/$version/g, 1, 'and for the version');
is_deeply($document, json()->decode($file), 'as it is in conf/');
is($document->{openapi}, '3.1.0', 'OpenAPI 3.1');
is($document->{servers}[0]{url}, $s->base_url, 'its server');
is($document->{components}{securitySchemes}{adminToken}{scheme}, 'bearer',
   'its credentials: a token');
is($document->{components}{securitySchemes}{session}{name},
   '__Host-svc_session', 'and a session');


# --- the routes ---------------------------------------------------------------------

my (%operation, %route);

for my $path (keys %{ $document->{paths} }) {
    my $item = $document->{paths}{$path};
    my $pattern = $path =~ s{\A/v1}{}r =~ s/\{\w+\}/*/gr;

    $operation{ uc . " $pattern" } = $item->{$_} for keys %$item;
}

$route{"$_->{method} $_->{path}"} = $_ for admin_routes($s->root);

is_deeply([ sort keys %operation ], [ sort keys %route ],
          'each route is an operation, and each operation a route');


# Compares what $of makes of each operation with what $like makes of its route.

sub all_like {
    my ($name, $of, $like) = @_;

    is_deeply({ map { $_ => $of->($operation{$_}) } keys %operation },
              { map { $_ => $like->($route{$_}) } keys %operation }, $name);
}


sub has_parameter {
    my ($operation, $name) = @_;

    my $ref = "#/components/parameters/$name";

    return scalar grep { ($_->{'$ref'} // '') eq $ref }
                       @{ $operation->{parameters} // [] };
}


# Returns the ways to authenticate at a route: each is a list of schemes, all of which
# are needed.

sub ways {
    my ($route) = @_;

    my @changes = $route->{method} eq 'GET' ? () : ('csrfToken');
    my @session = ([ @changes, 'session' ]);

    return $route->{public} ? [ $route->{session} ? (@session, []) : () ]
         : $route->{session} ? \@session : [ [ 'adminToken' ], @session ];
}


all_like('permissions', sub { $_[0]{'x-permission'} },
         sub { $_[0]{public} ? undef
               : $_[0]{permission} || ($_[0]{session} ? 'session' : 'any') });
all_like('credentials',
         sub { [ map { [ sort keys %$_ ] }
                     @{ $_[0]{security} // $document->{security} } ] }, \&ways);
all_like('what has a body', sub { $_[0]{requestBody} ? 1 : 0 },
         sub { $_[0]{json} // $_[0]{raw} // $_[0]{form} // 0 });
all_like('what heeds Idempotency-Key',
         sub { has_parameter($_[0], 'idempotencyKey') },
         sub { $_[0]{create} // 0 });
all_like('what may be refused', sub { $_[0]{responses}{403} ? 1 : 0 },
         sub { $_[0]{public} ? ($operation{"$_[0]{method} $_[0]{path}"}{responses}{403} ? 1 : 0)
                             : 1 });
all_like('what stays', sub { $_[0]{'x-stability'} },
         sub { $_[0]{path} =~ $STABLE ? 'stable' : 'console' });

# --- what needs a fresh session -------------------------------------------------------

# A statement asks for it by what it finds.  The members of PATCH that may need it are
# those whose columns its verdict compares.

my %stale = map { map { /\A(\w+)\n.*:caller_stale/s ? ($1 => 1) : () }
                  split /^-- statement: /m, slurp($_) }
            glob $s->root . '/ngx_svc_{common,admin,scim,webhook}/{,*/}*.sql';
my $patch = slurp($s->root . '/ngx_svc_admin/oauth/ngx_svc_admin_application_patch.sql');
my ($loosens) = $patch =~ /decided AS \(.*?WHEN (.*?)THEN 'stale'/s;
my ($values) = $patch =~ /FROM \(VALUES\n(.*?)\) member/s;
my %loosened = map { $_ => 1 } $loosens =~ /\bbase\.(\w+)/g;
my %of_member = map { /\A(\w+)',(.*)/s ? ("$1" => [ $2 =~ /\bbase\.(\w+)/g ]) : () }
                split /\('/, $values;
my %members = (
    'PATCH /applications/*' => [ grep { grep { $loosened{$_} } @{ $of_member{$_} } }
                                 keys %of_member ],
    'PATCH /admin/webhooks/*' => [ qw(url events enabled) ],
    'PUT /admin/agents/*/policy' => [ qw(enabled maxTokenTtlSeconds allowedScopes
                                         allowedAudiences) ],
    'PUT /admin/users/*' => [ 'email' ],
    'POST /auth/federation/start' => [ 'purpose' ]);

is(scalar @{ $members{'PATCH /applications/*'} }, scalar keys %loosened,
   'what PATCH of an application compares');


sub sensitive {
    my ($route) = @_;

    my $members = $members{"$route->{method} $route->{path}"};

    return $route->{sensitive} ? 'always'
         : $members ? [ sort @$members ]
         : grep({ $stale{$_} } @{ $route->{statements} }) ? 'depends' : 'never';
}


all_like('what needs a fresh session', sub {
    my $said = $_[0]{'x-sensitive'} // return 'never';

    return ref $said eq 'ARRAY' ? [ sort @$said ] : JSON::PP::is_bool($said) ? 'always' : $said;
}, \&sensitive);
is_deeply([ grep { my $route = $route{$_};
                   !grep { $stale{$_} } @{ $route->{statements} } } sort keys %members ],
          [ 'POST /auth/federation/start' ],
          'those with members have such a statement, but for one that has routes of its own');

for my $operation (grep { ref $operation{$_}{'x-sensitive'} } sort keys %operation) {
    my $said = $operation{$operation}{'x-sensitive'};

    next if ref $said ne 'ARRAY';

    my $schema = $operation{$operation}{requestBody}{content}{'application/json'}{schema};
    my ($name) = ($schema->{'$ref'} // '') =~ m{([^/]+)\z};
    my $known = ($name ? $document->{components}{schemas}{$name} : $schema)->{properties};

    is(join(' ', grep { !$known->{$_} } @$said), '', "$operation: members of its body");
}


# --- queries, and ids -----------------------------------------------------------------

my %named = map { $_ => 1 }
            map { slurp($_) =~ /(?:(?:argument|number|flag|(?<!password_)text|time)\(sr,\s
                                   |param_query(?:_\w+)?\()"(\w+)"/gx }
            glob $s->root . '/ngx_svc_{common,admin,webhook}/{,*/}*.{c,sql}';
my %query = map { $_->{name} => 1 } grep { ($_->{in} // '') eq 'query' }
            values %{ $document->{components}{parameters} },
            map { @{ $_->{parameters} // [] } } values %operation;

is_deeply([ sort keys %query ], [ sort keys %named ],
          'the parameters of queries that the server looks at');

my %ids = map { $_->{operationId} => 1 } values %operation;

is(scalar keys %ids, scalar keys %operation, 'each has an id of its own');


# --- the error codes, but for those of OAuth alone (RFC 6749, 5.2) ------------------------------------------------------------------

my ($rows) = slurp($s->root . '/ngx_svc_common/base/ngx_svc_error.c')
             =~ /ngx_svc_errors\[NGX_SVC_E_LAST\] = \{(.*?)\n\};/s;
my %status = map { reverse @$_ } grep { @$_ }
             map { [ /\{ (\d+), ngx_string\("(\w+)"\)/ ] }
             grep { !/\{ (?:400|401), ngx_string\("(\w+)"\).*ngx_string\("\1"\) \}/s }
             split /\n\n/, $rows;
my $codes = $document->{components}{schemas}{ErrorCode};

is_deeply([ sort @{ $codes->{enum} } ], [ sort keys %status ],
          'the codes that the server has');
is_deeply({ $codes->{description} =~ /^- `(\w+)` \((\d+)\)/mg }, \%status,
          'with their statuses');

my %answered;

for my $operation (values %operation) {
    for my $status (keys %{ $operation->{responses} }) {
        my ($name) = ($operation->{responses}{$status}{'$ref'} // '')
                     =~ m{([^/]+)\z} or next;

        $answered{$name}{$status} = 1;
    }
}

delete $answered{AuthorizationRefused};

for my $name (sort keys %answered) {
    my $response = $document->{components}{responses}{$name};
    my $examples = $response->{content}{'application/json'}{examples} // {};
    my @wrong = grep {
        $name eq 'Other' ? $examples->{$_}{summary} ne $status{$_}
                         : join(' ', keys %{ $answered{$name} }) ne $status{$_}
    } keys %$examples;

    is("@wrong", '', "$name: its codes are of its status");
    ok(!grep({ $response->{description} !~ /`$_`/ } keys %$examples),
       "$name: tells of its codes");
}

my %shown = map { %{ $_->{content}{'application/json'}{examples} // {} } }
            @{ $document->{components}{responses} }{keys %answered};

is_deeply([ sort keys %shown ], [ sort keys %status ],
          'each code is in some answer');


# The types of actors in the audit log: what the code writes, and the types of
# surfaces.

my %actor = map { $_ => 1 }
            map { my $text = slurp($_);
                  ($text =~ /'svc\.actor_type', '(\w+)'/g,
                   $text =~ /THEN '(agent)' ELSE '(application)' END/g,
                   $text =~ /surface_t\s+\w+\s=\s\{(?:\s*ngx_string\([^)]*\),){3}
                             \s*ngx_string\("(\w+)"\)/gx) }
            glob $s->root . '/ngx_svc_{common,admin,scim,webhook}/{,*/}*.{c,h,sql}';

is_deeply([ grep { my $type = $_;
                   !grep { $_ eq $type } @{ $document->{components}{schemas}{Actor}
                                            {properties}{type}{enum} } } sort keys %actor ],
          [], 'each type of an actor is told');
ok($actor{$_}, "one is \"$_\"") for qw(user apiToken agent application scim anonymous);


# --- events, and what documents say of them -----------------------------------------

is_deeply([ sort keys %{ $document->{webhooks} } ],
          [ sort @{ $document->{components}{schemas}{WebhookEvent}{enum} } ],
          'each event has its delivery');

my $documents = document();

for my $route (values %route) {
    my $path = $route->{path} =~ s{/tenants/\*}{/tenants/{slug}}r
               =~ s{\*}{{id}}gr;
    my $permission = $route->{public} ? 'public'
                   : $route->{session} ? 'session'
                   : $route->{permission} eq '' ? 'any'
                   : "`$route->{permission}`";

    like($documents,
         qr/^\| `\Q$route->{method} \/v1$path\E` \| \Q$permission\E \| /m,
         "documented: $route->{method} $path");
}

is(npm_run($s->root, 'document.mjs', $r->body), "\n",
   'two validators, all descriptions, and all examples');

$s->done;
done_testing();
