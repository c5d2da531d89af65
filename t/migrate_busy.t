#!/usr/bin/perl

# Shows that migrations run while the tables are in use: requests go on, and what is
# large is not built anew meanwhile.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Documents qw(document);
use SvcTest::Process qw(alive run slurp spawn wait_exit wait_for);

my $s = SvcTest->new(redis => 0);
$s->pg->create;

my $root = $s->root;
my $sql = "$s->{dir}/sql";

mkdir $sql or die "$sql: $!\n";
symlink $_, "$sql/" . s{.*/}{}r or die "$_: $!\n" for glob "$root/sql/[0-9]*.sql";

open my $fh, '>', "$sql/9998_late.sql" or die "$!\n";
print $fh "ALTER TABLE svc.audit_event ADD COLUMN late integer;\n"
        . "ALTER TABLE svc.user_account ADD COLUMN late integer;\n";
close $fh;


# This transaction reads a table for long, as pg_dump does; migrations change the
# table after others.

my $dump = $s->pg->connect('postgres');
$dump->query('BEGIN; SELECT count(*) FROM svc.user_account');

my $user = $s->pg->connect('postgres');
$user->query("SET lock_timeout = '4s'");

my $out = "$s->{dir}/migrate.out";
my $pid = spawn([ "$root/conf/svcctl", 'migrate', '--sql', $sql ], out => $out,
                env => { SVC_PG => $s->pg->conninfo('postgres') });

sub waits {
    return $s->sql("SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                   . " AND wait_event_type = 'Lock'");
}

ok((wait_for { waits() || !alive($pid) }), 'a migration waits for a table');
ok(alive($pid), 'and does not give up') or diag(slurp($out));

for (1 .. 5) {
    ok(eval { $user->query('SELECT count(*) FROM svc.audit_event') },
       'others use what it is to change') or diag($@);
}

$dump->query('COMMIT');
is(wait_exit($pid, 60), 0, 'it goes on when it can') or diag(slurp($out));
like(slurp($out), qr/^applied 9998 late$/m, 'and is applied');
is($s->sql("SELECT count(*) FROM pg_attribute WHERE attname = 'late'"
           . " AND attrelid IN ('svc.audit_event'::regclass,"
           . " 'svc.user_account'::regclass)"), 2, 'as a whole');


# --- large tables ------------------------------------------------------------------

for my $version (8, 9, 10) {
    mkdir "$sql.$version" or die "$!\n";
    symlink $_, "$sql.$version/" . s{.*/}{}r or die "$_: $!\n"
        for (glob "$root/sql/[0-9]*.sql")[0 .. $version - 1];
}


sub migrated {
    my ($role, $database, $dir) = @_;
    my $pg = $s->pg->conninfo($role) =~ s/dbname=\S+/dbname=$database/r;
    my ($status, $text) = run([ "$root/conf/svcctl", '--pg', $pg, 'migrate', '--sql',
                                $dir ]);

    is($status, 0, "$database is migrated") or diag($text);
}


# Makes a database of the role, at version 8, with statistics of its tenants.

sub database {
    my ($role, $database) = @_;

    $s->sql("CREATE DATABASE $database OWNER $role");
    migrated($role, $database, "$sql.8");

    my $db = $s->pg->connect($role, $database);

    $db->query("INSERT INTO svc.tenant (slug, name) VALUES ('a', 'A'), ('b', 'B')");
    $db->query('INSERT INTO svc.user_account (tenant_id, id, user_name)'
               . " SELECT id, gen_random_uuid(), i || '\@a.test'"
               . ' FROM svc.tenant, generate_series(1, 100) i');
    $db->query("INSERT INTO svc.audit_event (tenant_id, action) SELECT id, 'group.created'"
               . ' FROM svc.tenant, generate_series(1, 100) i');
    $db->query('ANALYZE');

    # An operator's own policies: one lets a role see all rows, one restricts
    # everybody.

    $db->query('CREATE POLICY reports ON svc.user_account FOR SELECT TO reports'
               . ' USING (tenant_id IS NOT NULL)');
    $db->query('CREATE POLICY held ON svc.audit_event AS RESTRICTIVE FOR SELECT'
               . " TO svc_app USING (tenant_id::text <> 'held')");
    $db->query("COMMENT ON POLICY reports ON svc.user_account IS 'monthly'");

    return $db;
}

my $statistics = "SELECT tablename FROM pg_stats WHERE schemaname = 'svc'"
                 . " AND attname = 'tenant_id' ORDER BY 1";
my $policies = 'SELECT polrelid::regclass, polname, polcmd, polpermissive,'
               . ' polroles::regrole[], pg_get_expr(polqual, polrelid),'
               . ' pg_get_expr(polwithcheck, polrelid),'
               . " obj_description(oid, 'pg_policy') FROM pg_policy ORDER BY 1, 2";
my $files = 'SELECT relname, relfilenode FROM pg_class WHERE relfilenode <> 0'
            . " AND relnamespace = 'svc'::regnamespace ORDER BY 1";

# Returns the policy as version 10 leaves it: it changes only those that compare the
# tenant.

sub later {
    my (@policy) = @_;
    my $nobody = '00000000-0000-0000-0000-000000000000';
    my $text = qr/current_setting\('svc\.tenant'::text, true\)/;
    my $qual = $policy[5] // '';

    @policy[5, 6] = ($qual, $policy[5])
        if $qual =~ s/NULLIF\(($text), ''::text\)/GREATEST($1, '$nobody'::text)/;

    return \@policy;
}

$s->sql('CREATE ROLE boss LOGIN CREATEROLE');
$s->sql('CREATE ROLE reports');

for my $role (qw(postgres boss)) {
    my $db = database($role, "of_$role");
    my @before = map { $db->query($_) } $files, $policies;

    ok(scalar(grep { $_->[0] =~ /^audit_event_\d/ } @{ $db->query($statistics) }),
       'the planner knows the tenants');
    migrated($role, "of_$role", "$sql.9");
    is_deeply($db->query($statistics), [], 'and then none');
    is_deeply($db->query($policies), $before[1], 'the policies are as they were');

    migrated($role, "of_$role", "$sql.10");

    my @later = map { later(@$_) } @{ $before[1] };

    cmp_ok(scalar(grep { ($_->[5] // '') =~ /GREATEST/ } @later), '>=', 18,
           'version 10 has policies to change');
    is_deeply($db->query($policies), \@later, 'and leaves the others');

    my ($tenant) = map { $_->[0] }
                   @{ $db->query("SELECT id FROM svc.tenant WHERE slug = 'a'") };
    my $app = $s->pg->connect('svc_app', "of_$role");

    $app->query("SET svc.tenant = '$tenant'");
    is_deeply($app->query('SELECT count(*) FROM svc.user_account'), [ [ 100 ] ],
              'a tenant sees its own users');

    my %now = map { @$_ } @{ $db->query($files) };

    is_deeply([ map { [ $_->[0], $now{$_->[0]} ] } @{ $before[0] } ], $before[0],
              'no table and no index was built anew') if $role eq 'postgres';
}


# --- an index that was built before --------------------------------------------------

mkdir "$sql.31" or die "$!\n";
symlink $_, "$sql.31/" . s{.*/}{}r or die "$_: $!\n"
    for grep { m{/(\d+)_} && $1 <= 31 } glob "$root/sql/[0-9]*.sql";

my $index = "SELECT oid FROM pg_class WHERE relname = 'user_account_scim_idx'";
my $valid = 'SELECT indisvalid FROM pg_index'
            . " WHERE indexrelid = 'svc.user_account_scim_idx'::regclass";
my $users = "SELECT string_agg(concat_ws(' ', u.user_name_key, u.status, u.scim_deleted,"
            . " i.scim_deleted, u.updated_at <> '2026-01-01'), ', ' ORDER BY u.user_name_key)"
            . ' FROM svc.user_account u LEFT JOIN svc.user_inactive i USING (tenant_id, id)';
my ($concurrently) = document('conf/upgrade.md')
                     =~ /^( +CREATE INDEX CONCURRENTLY user_account_scim_idx [^;]+);/m
    or die "the document does not have it\n";

$s->sql('CREATE DATABASE built0');
migrated('postgres', 'built0', "$sql.31");
$s->sql('CREATE DATABASE built1 TEMPLATE built0');

for my $failed (0, 1) {
    my $name = "built$failed";
    my $db = $s->pg->connect('postgres', $name);

    $db->query("INSERT INTO svc.tenant (slug, name) VALUES ('a', 'A')");
    $db->query('INSERT INTO svc.user_account (tenant_id, id, user_name, status,'
               . ' scim_deleted, updated_at)'
               . " SELECT id, gen_random_uuid(), left(s, 1) || d::int || '\@a.test', s, d,"
               . " '2026-01-01'"
               . " FROM svc.tenant, unnest('{active,suspended,deactivated}'::text[]) s,"
               . " unnest('{t,f}'::bool[]) d");
    $db->query($concurrently);
    $db->query('UPDATE pg_index SET indisvalid = false'
               . " WHERE indexrelid = 'svc.user_account_scim_idx'::regclass") if $failed;

    my $built = $db->query($index)->[0][0];

    migrated('postgres', $name, "$root/sql");

    my $there = $db->query($index)->[0][0];

    $failed ? isnt($there, $built, 'an index that is none is built anew')
            : is($there, $built, 'an index that is there is left as it is');
    is($db->query($valid)->[0][0], 't', 'it is one');
    is($db->query($users)->[0][0], 'a0@a.test active f f, a1@a.test active f t,'
       . ' d0@a.test deactivated f f f, d1@a.test deactivated t t f,'
       . ' s0@a.test suspended f f f, s1@a.test suspended t t f',
       'who is active is not deleted any more');
    is($db->query('SELECT sum(scim_deleted) FROM svc.user_count')->[0][0], 2,
       'the others are counted');
}

$s->done;
done_testing();
