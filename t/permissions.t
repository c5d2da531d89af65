#!/usr/bin/perl

# Permissions: there is one table of them, and nobody grants what he does not
# have.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__) . '/bench';

use SvcBench::Statements;
use SvcTest;
use SvcTest::Admin;
use SvcTest::Documents qw(document);
use SvcTest::Governance;
use SvcTest::Process qw(run slurp);


# one connection for all reads, and one for all writes

my $s = SvcTest->new(workers => 1, svc => {
    svc_postgres_pool => [ 'read connections=1 depth=8',
                           'write connections=1 depth=1',
                           'slow connections=1 depth=1' ] })->start;
my $statements = SvcBench::Statements::read_all($s->root);
my $acme = $s->tenant('acme');
my @workers = $s->workers;

my $WEAK = 'roles:manage,tenant:manage,users:view';
my %token = (all => $acme->token_for($ALL), weak => $acme->token_for($WEAK));


# --- one table ---------------------------------------------------------------

my $root = $s->root;
my @table = slurp("$root/ngx_svc_common/base/ngx_svc_permission.h")
            =~ /_\(\w+, "([^"]+)"\)/g;
my $schemas = $s->http(GET => '/v1/openapi.json')->json->{components}{schemas};
my $schema = $schemas->{Permission};

cmp_ok(scalar @table, '>=', 7, 'the permissions');
is("@table", join(' ', sort @table), 'sorted by name');
is("@PERMISSIONS", "@table", 'those of the tests');
is("@{ $schema->{enum} }", "@table", 'those of the contract');
is(join(' ', $schema->{description} =~ /^- `([^`]+)`: \S/mg), "@table",
   'with what each is');
is("@{ $acme->admin(GET => '/roles', undef, undef, $token{all})
       ->json->{permissions} }", "@table", 'those that a role may hold');
like((run([ "$root/conf/svcctl", qw(token create --help) ]))[1],
     qr/The\s+permissions\s+are\s+@{[ join ',\s+', @table ]}\./,
     'those of svcctl');

my %known = map { $_ => 1 } @table;
my %named = map { $_ => 1 } document() =~ /`(\w+:(?:manage|view))`/g;

is(join(' ', grep { !$known{$_} } sort keys %named), '',
   'the documents name no other');
cmp_ok(scalar keys %named, '>', 0, 'and some of these');


# --- the roles of the system ---------------------------------------------------

my ($rows) = slurp("$root/ngx_svc_admin/governance/ngx_svc_admin_governance.c")
             =~ /ngx_svc_admin_system_roles\[\] = \{(.*?)\n\};/s;
my @system = $rows =~ /\{ "(\w+)", "\w+", \w+ \}/g;
my $in = join ', ', map { "'$_'" } @system;

is(scalar @system, 3, 'the roles of the system');
is_deeply([ map { $_->{key} } @{ $acme->admin(GET => '/roles', undef, undef,
                                              $token{all})
                                 ->json->{systemRoles} } ], \@system, 'listed');
is_deeply($schemas->{ConfigRole}{properties}{key}{not}{enum}, \@system,
          'a bundle may not have them');

my @lists = map { $_->[0] } $s->sql(<<"EOT");
SELECT regexp_replace(m[1], '::text|[''\\s]', '', 'g') FROM (
    SELECT pg_get_constraintdef(oid) FROM pg_constraint
     WHERE connamespace = 'svc'::regnamespace AND contype = 'c'
    UNION ALL
    SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL
    SELECT prosrc FROM pg_proc WHERE pronamespace = 'svc'::regnamespace
) t (def), regexp_matches(def, '(?:ARRAY\\[|IN \\()(''owner''[^])]*)', 'g') m
EOT

cmp_ok(scalar @lists, '>=', 4, 'where the database names them');
is_deeply([ grep { $_ ne join ',', @system } @lists ], [], 'it names all');


# --- the setting of a transaction --------------------------------------------

my $app = $s->connect_as('svc_app');
my $other = $s->tenant('globex')->token_for($ALL);
my $dead = $acme->token(kind => 'api', permissions => $ALL, revoked => 'now()')
           ->{token};
my $late = $acme->token(kind => 'api', permissions => $ALL,
                        expires => "now() - interval '1 s'")->{token};

$app->query("PREPARE $_ AS $statements->{$_}{text}")
    for qw(auth_read auth_write auth_caller admin_roles_create
          admin_tokens_create);

sub setting {
    return $app->query("SELECT current_setting('svc.permissions', true)")
           ->[0][0] // '';
}


# Returns the permissions that are set after a credential's statement, and what
# $do returns then, in the same transaction.

sub behind {
    my ($statement, $token, $permission, $do) = @_;

    my $hash = "'\\x" . sha256_hex($token) . "'";
    my $wanted = defined $permission ? "'$permission'" : 'NULL';
    my $actor = $statement eq 'auth_read' ? '' : ", 'apiToken', '', '', 'x'";

    $app->query('BEGIN');
    $app->query("EXECUTE $statement($hash, 'api', $wanted$actor)");

    my @told = (setting(), $do ? $do->() : ());

    $app->query('COMMIT');

    return @told;
}


# Tries to make a role and a token.  Returns how many of each there are.

sub made {
    $app->query("EXECUTE $_") for
        "admin_roles_create('x', 'X', '{}', false, 1000)",
        "admin_tokens_create('\\x" . '00' x 32 . "', gen_random_uuid(), 'x',"
        . " 'svc_', '{users:view}', NULL, NULL, 1000)";

    return map { $app->query("SELECT count(*) FROM svc.$_")->[0][0] }
           qw(role credential);
}


my @stored = (0, scalar $s->sql('SELECT count(*) FROM svc.credential'));

for my $row ([ 'unknown', 'svc_' . 'x' x 43, 'tenant:manage' ],
             [ 'revoked', $dead, 'tenant:manage' ],
             [ 'expired', $late, 'tenant:manage' ],
             [ 'of the other kind', $acme->{scim_token}, 'tenant:manage' ],
             [ 'without the permission', $token{weak}, 'audit:view' ],
             [ 'without one that has no name', $token{all}, '' ])
{
    my ($name, $token, $permission) = @$row;

    is((behind('auth_caller', $token{all}, 'tenant:manage'))[0], "{$ALL}",
       'what the token grants');
    is(setting(), '', 'is for its transaction');
    is_deeply([ behind($_, $token{all}, 'tenant:manage', \&made) ],
              [ '', @stored ], 'a route that does not say so gives nothing')
        for qw(auth_read auth_write);
    is_deeply([ behind('auth_caller', $token, $permission, \&made) ],
              [ '', @stored ], "nor does a token that is $name");
}

is((behind('auth_caller', $token{weak}, undef))[0], "{$WEAK}", "another's");
is((behind('auth_caller', $other, undef))[0], "{$ALL}", 'and of another tenant');


# --- who grants what ---------------------------------------------------------

sub ask {
    my ($token, $method, $path, $body) = @_;

    return $acme->admin($method, $path, $body, undef, $token{$token} // $token);
}


# Returns the requests by which a permission can be granted; the key is a new
# role's.

sub ways {
    my ($permission, $key) = @_;

    return ([ POST => '/api-tokens', { name => 'n', scopes => [ $permission ] } ],
            [ POST => '/roles', { key => $key, name => 'R',
                                  permissions => [ $permission ] } ],
            [ PUT => '/roles/mine', { permissions => [ $permission ] } ],
            [ PUT => '/roles/theirs', { name => "N $key" } ],
            [ POST => '/config/apply', { version => 1, roles => [
                { key => $key, name => 'R', permissions => [ $permission ] }
            ] } ]);
}


is(ask(weak => POST => '/roles', { key => 'mine', name => 'M',
                                   permissions => [] })->status, 201, 'a role');
is(ask(all => POST => '/roles', { key => 'theirs', name => 'T',
                                  permissions => \@table })->status, 201,
   'and one that holds all');

for my $permission (grep { $WEAK !~ /\b$_\b/ } @table) {
    for my $way (ways($permission, 'one')) {
        my $name = "$permission by $way->[0] $way->[1]";

        # the request before on either connection had the permission

        is(ask(all => GET => '/api-tokens')->status, 200, 'who holds all reads');
        is(ask(all => PUT => '/roles/theirs', {})->status, 200, 'and writes');

        unchanged($s, $acme, $name, sub {
            admin_error(ask(weak => @$way), 403, 'forbidden', $name);
            admin_error(ask($dead => @$way), 401, 'unauthorized',
                        'a dead token gives nothing');
        });
    }
}

is_deeply(ask(weak => GET => '/api-tokens')->json->{assignableScopes},
          [ split /,/, $WEAK ], 'who lacks them is told what is left');
is_deeply(ask(all => GET => '/api-tokens')->json->{assignableScopes}, \@table,
          'who holds all may give all');

for my $way (grep { $_->[1] !~ /theirs/ } ways('users:view', 'two')) {
    my $r = ask(weak => @$way);

    like($r->status, qr/^20[01]$/, "what one holds, by $way->[0] $way->[1]");
    $s->secret($r->json->{secret}) if $r->json->{secret};
}

is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
