#!/usr/bin/perl

# What everybody may do in the database, and which functions svc_app may call.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(run);


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $user = $acme->create(userName => 'ada@acme.test');

sub list {
    return [ map { join ' ', @$_ } $s->sql($_[0]) ];
}


# --- everybody ---------------------------------------------------------------

# an object without an ACL has PostgreSQL's default rights; row types have the
# rights of their tables

is_deeply(list(<<'EOT'), [ 'database CONNECT' ], 'all that everybody may do');
SELECT o.what, a.privilege_type FROM (
    SELECT 'database', coalesce(datacl, acldefault('d', datdba))
      FROM pg_database WHERE datname = current_database()
    UNION ALL
    SELECT 'schema ' || nspname, coalesce(nspacl, acldefault('n', nspowner))
      FROM pg_namespace WHERE nspname = 'svc'
    UNION ALL
    SELECT 'relation ' || relname,
           coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char",
                                       relowner))
      FROM pg_class WHERE relnamespace = 'svc'::regnamespace
    UNION ALL
    SELECT 'column ' || attname, attacl
      FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
     WHERE relnamespace = 'svc'::regnamespace
    UNION ALL
    SELECT 'function ' || proname, coalesce(proacl, acldefault('f', proowner))
      FROM pg_proc WHERE pronamespace = 'svc'::regnamespace
    UNION ALL
    SELECT 'type ' || typname, coalesce(typacl, acldefault('T', typowner))
      FROM pg_type t WHERE typnamespace = 'svc'::regnamespace AND typtype <> 'c'
       AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
) o (what, acl), aclexplode(o.acl) a
WHERE a.grantee = 0 ORDER BY 1, 2
EOT

is($s->sql(<<'EOT'), 0, 'nor create anything in "public"');
SELECT count(*) FROM pg_namespace n,
       aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
WHERE n.nspname = 'public' AND a.grantee = 0 AND a.privilege_type = 'CREATE'
EOT


# --- svc_app -----------------------------------------------------------------

is_deeply(list(<<'EOT'), [ qw(address_key address_key_double address_key_unicode
SELECT proname FROM pg_proc WHERE pronamespace = 'svc'::regnamespace
AND has_function_privilege('svc_app', oid, 'EXECUTE') ORDER BY 1
EOT
                              agent_sweep application_jwks_take audit_stream_close
                              break_glass break_glass_keep connection_key connection_named
                              connection_of covers delegation_chain
                              directory_account directory_ambiguous
                              domain_path domain_slug domain_taken email_challenge_tenant
                              federation_due federation_tenant invitation_tenant
                              json_merge ldap_sync_due ldap_sync_forget ldap_sync_hold member_page
                              oauth_expire oauth_jwks oauth_key_tenant oauth_key_turn oauth_key_turns
                              oauth_logout_take oauth_token_keep oauth_user_lets
                              organization_create organization_open
                              organization_taken organization_try public_logo
                              public_tenant punycode role_grants scim_claim scim_hold scim_release
                              sealed_by sealed_keys search_text
                              sign_in_by sign_in_directory sign_in_expire sign_in_locked
                              sign_in_place sign_in_realm
                              sign_in_sweep sign_in_tenant sign_in_way signed_out_there token_acts
                              user_added user_conflict user_find user_index user_page user_search
                              way_in_last webhook_attempt_delete
                              webhook_attempt_expire webhook_done_expire
                              webhook_note webhook_outbox_rest webhook_outbox_take) ],
          'the functions that svc_app may call');

is_deeply(list(<<'EOT'), [], 'those with their owner\'s rights have their path');
SELECT proname FROM pg_proc WHERE pronamespace = 'svc'::regnamespace
AND prosecdef
AND NOT coalesce(proconfig @> '{"search_path=pg_catalog, pg_temp"}', false)
EOT

my $app = $s->connect_as('svc_app');

sub denied {
    my ($what, @query) = @_;

    ok(!eval { $app->query($_) for @query; 1 }, $what);
    like($@, qr/42501 permission denied/, "$what: denied");
}

denied('a temporary table', 'CREATE TEMPORARY TABLE t (i int)');
denied('a table', 'CREATE TABLE public.t (i int)');
denied('a schema', 'CREATE SCHEMA s');


# --- a trigger function that writes as its owner ------------------------------

# in case somebody grants svc_app temporary tables

$s->sql('GRANT TEMPORARY ON DATABASE svc TO svc_app');

my ($functions) = scalar $s->sql(<<'EOT');
SELECT string_agg(proname, ' ') FROM pg_proc
WHERE pronamespace = 'svc'::regnamespace AND prorettype = 'trigger'::regtype
EOT

$app->query('CREATE TEMPORARY TABLE t (tenant_id uuid, role text, id uuid,'
            . ' group_id uuid, ip inet, at timestamptz, outcome text,'
            . ' status text)');

for my $function (split / /, $functions) {
    denied("a trigger of one's own: $function",
           'CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW'
           . " EXECUTE FUNCTION svc.$function()");
}

cmp_ok(scalar(split / /, $functions), '>=', 6, 'which are some');


# --- functions made later -----------------------------------------------------

$s->sql('CREATE FUNCTION svc.later() RETURNS int LANGUAGE sql'
        . " AS 'SELECT 1'");
denied('a function made later', 'SELECT svc.later()');

is($acme->scim(GET => "/Users/$user->{id}")->status, 200, 'all is well');
$s->sql('DROP FUNCTION svc.later()');
$s->sql('REVOKE TEMPORARY ON DATABASE svc FROM svc_app');


# --- rights that are lost -----------------------------------------------------

# returns for each object what svc_app and everybody may do, from PostgreSQL's
# catalogs

my $ALL = <<'EOT';
SELECT o.what, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
       a.privilege_type
  FROM (
    SELECT 'database', coalesce(datacl, acldefault('d', datdba))
      FROM pg_database WHERE datname = current_database()
    UNION ALL
    SELECT 'schema ' || nspname, coalesce(nspacl, acldefault('n', nspowner))
      FROM pg_namespace WHERE nspname IN ('svc', 'public')
    UNION ALL
    SELECT 'relation ' || relname, relacl FROM pg_class
     WHERE relnamespace = 'svc'::regnamespace
    UNION ALL
    SELECT 'column ' || relname || '.' || attname, attacl
      FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
     WHERE relnamespace = 'svc'::regnamespace
    UNION ALL
    SELECT 'function ' || oid::regprocedure, coalesce(proacl, acldefault('f', proowner))
      FROM pg_proc WHERE pronamespace = 'svc'::regnamespace
    UNION ALL
    SELECT 'functions to come', defaclacl FROM pg_default_acl
) o (what, acl), aclexplode(o.acl) a
WHERE a.grantee IN (0, 'svc_app'::regrole, current_user::regrole)
  AND (a.grantee <> current_user::regrole OR o.what = 'functions to come')
ORDER BY 1, 2, 3
EOT

sub all_rights {
    my ($database) = @_;

    return join "\n", map { join ' ', @$_ }
           @{ $s->pg->connect('postgres', $database)->query($ALL) };
}

sub migrate {
    my ($database) = @_;

    return run([ $s->root . '/conf/svcctl', '--pg',
                 $s->pg->conninfo('postgres') =~ s/dbname=svc/dbname=$database/r,
                 'migrate' ]);
}

my $rights = all_rights('svc');
my $hint = 'what migrations give to svc_app is in sql/rights.sql, too';

cmp_ok(() = $rights =~ /svc_app/g, '>', 200, 'rights of svc_app');

# a dump of another cluster is restored by hand into this one, without the role

my $at = $s->pg->conninfo('postgres');
my $dump = "$s->{dir}/svc.dump";

is((run([ 'pg_dump', '-Fc', '-f', $dump, '-d', $at ]))[0], 0, 'a dump');
$s->nginx->stop;
$s->sql('DROP OWNED BY svc_app');
$s->sql('DROP ROLE svc_app');

my ($status, $text) = run([ 'createdb', '-T', 'template0', '--maintenance-db', $at,
                            'restored' ]);
is($status, 0, 'a new database') or diag($text);
($status, $text) = run([ 'pg_restore', '-d', $at =~ s/dbname=svc/dbname=restored/r,
                         $dump ]);
isnt($status, 0, 'pg_restore lacks the role');

($status, $text) = migrate('restored');
is($status, 0, 'svcctl migrate') or diag($text);
like($text, qr/^made the role svc_app\nset [1-9]\d* rights of svc_app/, 'says what it does');
is(all_rights('restored'), $rights, "all rights are there: $hint");
is_deeply([ migrate('restored') ], [ 0, '' ], 'again it does nothing');

# by an owner who is not a superuser, as with a managed PostgreSQL

$s->sql('CREATE ROLE own LOGIN');
$s->sql('CREATE DATABASE owned OWNER own TEMPLATE template0');
($status, $text) = run([ $s->root . '/conf/svcctl', '--pg',
                         $s->pg->conninfo('own') =~ s/dbname=svc/dbname=owned/r, 'migrate' ]);
is($status, 0, 'svcctl migrate, of an owner of that alone') or diag($text);
unlike($text, qr/WARNING|^set /m, 'lacks nothing');
is(all_rights('owned') =~ s/^functions to come .*\n//mgr,
   $rights =~ s/^functions to come .*\n//mgr, 'all rights are there');

# when the rights were lost in place

($status, $text) = migrate('svc');
is($status, 0, 'svcctl migrate, of the first one') or diag($text);
is(all_rights('svc'), $rights, 'all rights are there');

# when one right is missing, and one is too many

$s->sql('REVOKE UPDATE (last_used_at) ON svc.credential FROM svc_app');
$s->sql('GRANT EXECUTE ON FUNCTION svc.tenant_delete_rows TO PUBLIC');
is_deeply([ migrate('svc') ], [ 0, "set 2 rights of svc_app, and of everybody\n" ],
          'one that lacks, and one too many');
is(all_rights('svc'), $rights, 'all rights are there');

$s->nginx->launch;
ok($s->wait_healthy, 'and it is served');
is($acme->scim(GET => "/Users/$user->{id}")->status, 200, 'as before');

$s->done;
done_testing();
