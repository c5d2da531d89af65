#!/usr/bin/perl

# Shows that the schema can be hash-distributed by tenant: keys begin with the tenant,
# references stay within one tenant, and each statement names the tenant of what it
# reads and writes. Statements for all tenants are on a list, with the reason.

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__) . '/bench';

use SvcBench::Statements;
use SvcTest;
use SvcTest::Distribution;
use SvcTest::Documents qw(section);
use SvcTest::Plpgsql;

my $CONF = 'conf/distributing.md';

my $s = SvcTest->new;

$s->pg->create;

my $db = $s->connect_as('postgres');


sub list {
    return [ sort map { join ' ', @$_ } @{ $db->query($_[0]) } ];
}


# --- keys ----------------------------------------------------------------------

is_deeply(list(<<'SQL'), [], 'each table has a primary key');
SELECT c.relname FROM pg_class c
 WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind IN ('r', 'p')
   AND NOT c.relispartition
   AND NOT EXISTS (SELECT FROM pg_index x WHERE x.indrelid = c.oid AND x.indisprimary)
SQL

# Columns that identify a row among those of all tenants, by table.

my $global = list(<<'SQL');
SELECT c.relname, string_agg(coalesce(a.attname, 'expression'), ', ' ORDER BY o)
  FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid
  CROSS JOIN unnest(x.indkey::int2[]) WITH ORDINALITY k (n, o)
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.n
 WHERE c.relnamespace = 'svc'::regnamespace AND NOT c.relispartition
   AND k.o <= x.indnkeyatts AND (x.indisunique OR x.indisexclusion)
 GROUP BY c.relname, x.indexrelid
HAVING (array_agg(a.attname ORDER BY o))[1] IS DISTINCT FROM 'tenant_id'
SQL

my $text = section($CONF, 'Distributing by tenant');

is_deeply($global, [ sort map { s/` \| `/ /r }
                     $text =~ /^\| `svc\.(\w+` \| `[\w, ]+)` \| \S/mg ],
          'what is unique among all tenants is in the document, with its reason')
    or diag(explain($global));


# --- references ------------------------------------------------------------------

is_deeply(list(<<'SQL'), [], 'what refers to a row of a tenant does so within it');
SELECT f.conrelid::regclass, f.conname
  FROM pg_constraint f
  JOIN pg_attribute t ON t.attrelid = f.confrelid
   AND t.attname = CASE f.confrelid WHEN 'svc.tenant'::regclass THEN 'id' ELSE 'tenant_id' END
  LEFT JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attname = 'tenant_id'
 WHERE f.contype = 'f' AND f.connamespace = 'svc'::regnamespace
   AND (a.attnum, t.attnum) IS DISTINCT FROM (f.conkey[1], f.confkey[1])
SQL

# References from a table that is not distributed to one that is.

my $crossing = list(<<"SQL");
SELECT conname FROM pg_constraint
 WHERE contype = 'f' AND connamespace = 'svc'::regnamespace
   AND conrelid IN (@{[ globals() ]}) AND confrelid NOT IN (@{[ globals() ]})
SQL

sub globals {
    my %table = map { (split)[0] => 1 } @$global;

    return join ', ', map { "'svc.$_'::regclass" } sort keys %table;
}

is_deeply([ grep { $text !~ /`$_`/ } @$crossing ], [],
          'references that would have to go are in the document')
    or diag(explain($crossing));


# --- what a plan shows -----------------------------------------------------------

my $plans = SvcTest::Distribution->new($db);

for my $row ([ 'SELECT name FROM svc.user_group WHERE id = $1', 'user_group' ],
             [ 'SELECT name FROM svc.user_group WHERE tenant_id = $1 OR id = $2', 'user_group' ],
             [ 'SELECT name FROM svc.user_group WHERE tenant_id <> $1', 'user_group' ],
             [ 'DELETE FROM svc.user_group', 'user_group' ],
             [ 'SELECT id FROM svc.audit_event WHERE created_at > $1', 'audit_event' ],
             [ 'UPDATE svc.tenant SET name = $1 WHERE slug = $2', 'tenant' ],
             [ 'SELECT FROM svc.role r, svc.user_account u WHERE r.tenant_id = $1'
               . ' AND u.role = r.key', 'user_account' ],
             [ 'SELECT (SELECT count(*) FROM svc.role) FROM svc.user_account'
               . ' WHERE tenant_id = $1', 'role' ],
             [ "INSERT INTO svc.role (tenant_id, key, name, permissions)"
               . " VALUES (gen_random_uuid(), 'a', 'b', '{}')", 'role' ],
             [ 'SELECT FROM svc.role r JOIN svc.user_account u USING (tenant_id)'
               . ' WHERE u.tenant_id = $1' ],
             [ 'SELECT FROM svc.user_account u CROSS JOIN LATERAL (SELECT FROM svc.role r'
               . ' WHERE r.tenant_id = u.tenant_id LIMIT 1) r WHERE u.tenant_id = $1' ],
             [ 'INSERT INTO svc.role (tenant_id, key, name, permissions)'
               . " SELECT id, 'a', 'b', '{}' FROM svc.tenant WHERE id = \$1" ])
{
    my ($sql, @tables) = @$row;

    is_deeply([ $plans->unnamed($sql) ], \@tables,
              (@tables ? 'found: ' : 'taken: ') . $sql =~ s/\s+/ /gr);
}


# --- the statements ----------------------------------------------------------------

my $TELLS = 'a token tells the tenant: it is looked up by its digest';

my %ALL_TENANTS = (
    ( map { $_ => $TELLS } map { ($_, "${_}_domain") } qw(auth_read auth_token auth_write
                                                           auth_caller) ),
    ( map { $_ => "$TELLS, as that of a client of OAuth" }
      qw(oauth_login oauth_login_any oauth_login_async oauth_login_async_pinned
         oauth_login_pinned) ),
);

my $statements = SvcBench::Statements::read_all($s->root);
my %unnamed;

for my $name (keys %$statements) {
    my @tables = $plans->unnamed($statements->{$name}{text});

    $unnamed{$name} = "@tables" if @tables;
}

is_deeply([ map { "$_: $unnamed{$_}" } grep { !$ALL_TENANTS{$_} }
            sort keys %unnamed ], [], 'each statement names the tenant of each table');
is_deeply([ grep { !$unnamed{$_} } sort keys %ALL_TENANTS ], [],
          'and none that does is excused');

# --- functions ---------------------------------------------------------------------

my $ASKS = 'before the tenant is known, it tells which one it is';
my $SWEEP = 'a task of all tenants, a bounded number of rows at a time';
my $EVENTS = 'part of a task of all tenants: of the events that it has read';
my $OPERATOR = 'an operator calls it, for all tenants';

my %ALL_TENANTS_FUNCTION = (
    ( map { $_ => $ASKS } qw(sign_in_tenant sign_in_place domain_slug
                             email_challenge_tenant invitation_tenant federation_tenant
                             public_tenant oauth_jwks oauth_key_tenant) ),
    ( map { $_ => 'whether another tenant has it already' } qw(domain_taken
                                                              organization_taken) ),
    ( map { $_ => $SWEEP } qw(sign_in_expire sign_in_sweep oauth_expire oauth_key_turns
                              oauth_key_retiring agent_sweep webhook_attempt_expire
                              webhook_attempt_delete webhook_done_expire webhook_outbox_rest
                              webhook_outbox_take user_index
                              scim_claim scim_release oauth_logout_take federation_due
                              application_jwks_take ldap_sync_due) ),
    agent_count => $EVENTS,
    oauth_token_keep => 'rows of the tenants whose tokens a worker has given',
    ( map { $_ => $OPERATOR } qw(audit_partitions audit_repair audit_retain oauth_partitions
                                 oauth_retain user_recount) ),
    sealed_keys => 'a look into indexes of all tenants: which keys their secrets are under',
    tenant_users_delete => 'TRUNCATE of the tenants, by their owner alone',
    delegation_chain => 'an index of chains, which no tenant begins: it adds the tenant'
                        . ' to what it finds',
);

# The text of these functions' statements is made when they are called, so the test
# reads the functions.

my %MADE = (
    tenant_delete_rows => qr/DELETE\ FROM\ %s\ .*FROM\ %s\ WHERE\ tenant_id\ =\ \$1\b/xs,
    member_page => qr/svc\.user_inactive\ u\ WHERE\ u\.tenant_id\ =\ \$1\b .*
                      \ba\.tenant_id\ =\ u\.tenant_id\b .*
                      svc\.user_account\ u\ WHERE\ u\.tenant_id\ =\ \$1\b/xs,
    user_find => qr/svc\.user_account\ u\ WHERE\ u\.tenant_id\ =\ \$1\b .*
                    svc\.group_member\ m\ WHERE\ m\.tenant_id\ =\ \$1\b .*
                    svc\.user_inactive\ u'\s+'\ WHERE\ u\.tenant_id\ =\ \$1\b/xs,
    user_page => qr/'svc\.user_account'\ END\s+\|\|\ '\ u\ WHERE\ u\.tenant_id\ =\ \$1\b .*
                    \ba\.tenant_id\ =\ u\.tenant_id\b/xs,
);

for my $name (sort keys %MADE) {
    like(scalar $s->sql("SELECT prosrc FROM pg_proc WHERE proname = '$name'"), $MADE{$name},
         "$name: its text names the tenant");
}


# Returns the tables that a statement of a function uses without a tenant, or other
# faults.

sub wrong {
    my ($f) = @_;

    return $MADE{ $f->{function} } ? () : 'a text that is made' if defined $f->{made};

    my @tables = eval { $plans->unnamed($f->{text}, @{ $f->{types} }) };

    return $@ ? $@ : @tables;
}


$db->query(<<'SQL');
CREATE FUNCTION svc.forgetful(wanted text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    n integer;
BEGIN
    IF EXISTS (SELECT FROM svc.user_account u WHERE u.role = wanted) THEN
        RETURN 0;
    END IF;

    DELETE FROM svc.role WHERE key = wanted;
    GET DIAGNOSTICS n = ROW_COUNT;

    RETURN n;
END
$$
SQL

my (%found, %seen);

for my $f (SvcTest::Plpgsql->new($db, $s->pg->{log})->statements) {
    $seen{ $f->{function} }++;
    $found{ $f->{function} }{$_} = 1 for wrong($f);
}

cmp_ok(scalar keys %seen, '>=', 45, 'functions use tables');
is_deeply([ map { "$_: @{[ sort keys %{ $found{$_} } ]}" }
            grep { !$ALL_TENANTS_FUNCTION{$_} } sort keys %found ],
          [ 'forgetful: role user_account' ],
          'each of their statements but those of one here names the tenant of each table');
is_deeply([ grep { !$found{$_} } sort keys %ALL_TENANTS_FUNCTION ], [],
          'and none that does is excused');

$s->done;
done_testing();
