#!/usr/bin/perl

# Shows what the service and its log do when an operator changes the database, and
# that the service recovers by itself.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Process qw(slurp wait_for);
use SvcTest::Scim;


my $s = SvcTest->new(
    pg_conf => "superuser_reserved_connections = 3\n",
    svc => { svc_postgres_queue_timeout => '300ms',
             svc_postgres_pool => [ 'read connections=1 depth=16',
                                    'write connections=2 depth=2',
                                    'slow connections=1 depth=1' ] },
)->start;

my $acme = $s->tenant('acme');
my $user = $acme->create(userName => 'ada@acme.test', displayName => 'Ada');
my @workers = $s->workers;
my $seen = length slurp($s->nginx->{log});


# Returns what the error log has said since the last call, at the level error or
# above.

sub said {
    my $log = slurp($s->nginx->{log});
    my $new = substr $log, $seen;

    return grep { /\[(?:error|crit|alert|emerg)\]/ } split /^/, $new;
}


# Changes the database, and has all connections made anew.

sub cut {
    my ($break) = @_;

    $seen = length slurp($s->nginx->{log});

    ref $break ? $break->() : $s->sql($break);
    $s->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            . " WHERE usename = 'svc_app'");
}


sub comes_back {
    my ($name) = @_;

    ok($s->wait_healthy, "$name: health turns to 200 again");
    ok((wait_for { $acme->scim(PUT => "/Users/$user->{id}",
                               { displayName => "Ada $name" })->status == 200 }),
                               "$name: writes work again");
}


# Makes a mistake that keeps connections from being made. $state is what the health
# location calls it; only the log says what is to be done.

sub outage {
    my ($name, $state, $break, $pattern, $mend) = @_;

    cut($break);

    my $health;

    ok((wait_for { $health = $s->health;
                   $health->status == 503
                   && $health->json->{postgres} eq $state }),
       "$name: health is 503, $state")
        or diag($health->body);
    is($health->json->{status}, 'unavailable', "$name: unavailable");
    like($health->json->{message} // '', qr/^[A-Z][^"]*\.$/,
         "$name: a message");
    unlike($health->body, qr/svc_app|\bsvc\b|password|\Q$s->{dir}\E/,
           "$name: which tells strangers nothing");
    scim_error($acme->scim(GET => '/Users'), 503, undef, "$name: a read");
    scim_error($acme->scim(POST => '/Users', { userName => 'x@acme.test' }),
               503, undef, "$name: a write");

    ok((wait_for { grep { $_ =~ $pattern } said() }), "$name: the log tells");

    # Every connection tries again twice a second, and the log says so once for each
    # pool.

    my $before = said();
    $s->health for 1 .. 20;
    select undef, undef, undef, 1.2;
    cmp_ok(said() - $before, '<=', 2, "$name: and does not repeat it")
        or diag(said());

    ref $mend ? $mend->() : $s->sql($mend);
    comes_back($name);
}


outage('no schema', 'schema-missing', 'ALTER SCHEMA svc RENAME TO away',
       qr/PostgreSQL: .*no schema "svc".*svcctl migrate/,
       'ALTER SCHEMA away RENAME TO svc');

outage('an old schema', 'schema-old',
       'UPDATE svc.schema_migration SET version = -version',
       qr/PostgreSQL: .*schema is too old.*svcctl migrate/,
       'UPDATE svc.schema_migration SET version = -version');

outage('a schema that does not serve them', 'schema-ahead',
       "INSERT INTO svc.schema_migration VALUES (1000, 'later', now(), 999)",
       qr/PostgreSQL: .*does not serve .*svcctl check/,
       'DELETE FROM svc.schema_migration WHERE version = 1000');

outage('a role that sees all', 'role-unsafe', 'ALTER ROLE svc_app BYPASSRLS',
       qr/PostgreSQL: .*bypasses row-level security.*svc_app/,
       'ALTER ROLE svc_app NOBYPASSRLS');

outage('a role that may not log in', 'login-refused',
       'ALTER ROLE svc_app NOLOGIN',
       qr/PostgreSQL: connecting failed: .*not permitted to log in; check user/,
       'ALTER ROLE svc_app LOGIN');

outage('a right that is missing', 'role-denied',
       'REVOKE USAGE ON SCHEMA svc FROM svc_app',
       qr/PostgreSQL: .*permission denied for schema svc; .*svcctl migrate/,
       'GRANT USAGE ON SCHEMA svc TO svc_app');

outage('a right on a table that is missing', 'role-denied',
       'REVOKE SELECT ON svc.tenant FROM svc_app',
       qr/PostgreSQL: .*may not read and write .*svcctl migrate/,
       'GRANT SELECT ON svc.tenant TO svc_app');

outage('a superuser', 'role-unsafe', 'ALTER ROLE svc_app SUPERUSER',
       qr/PostgreSQL: .*bypasses row-level security.*svc_app/,
       'ALTER ROLE svc_app NOSUPERUSER');

outage('an owner of tables', 'role-unsafe',
       'ALTER TABLE svc.domain OWNER TO svc_app',
       qr/PostgreSQL: .*owns tables.*svc_app/,
       'ALTER TABLE svc.domain OWNER TO postgres');

outage('no connections for the role', 'full',
       'ALTER ROLE svc_app CONNECTION LIMIT 0',
       qr/PostgreSQL: .*too many connections.*max_connections/,
       'ALTER ROLE svc_app CONNECTION LIMIT -1');


# --- a password ---------------------------------------------------------------

my $hba = $s->sql('SHOW hba_file');
my $trust = slurp($hba);

sub hba {
    my ($text) = @_;

    open my $fh, '>', $hba or die "$hba: $!\n";
    print $fh $text;
    close $fh;
    $s->sql('SELECT pg_reload_conf()');
}

my $password = unpack 'H*', SvcTest::random_bytes(8);
$s->secret($password);

for my $row ([ 'no password', '' ],
             [ 'a wrong password', " password=x$password" ])
{
    my ($name, $more) = @$row;

    $s->nginx->{svc}{svc_postgres} =
        '"' . $s->pg->conninfo('svc_app') . $more . '"';
    $s->sql("ALTER ROLE svc_app PASSWORD 'y$password'");
    outage($name, 'login-refused',
           sub { hba("local all svc_app scram-sha-256\n$trust"); $s->reload },
           qr/PostgreSQL: .*check user/, sub { hba($trust) });
}

$s->sql('ALTER ROLE svc_app PASSWORD NULL');

$s->nginx->{svc}{svc_postgres} = '"' . ($s->pg->conninfo('svc_app')
                                        =~ s/dbname=svc/dbname=nowhere/r) . '"';
$s->reload;
ok((wait_for { $s->health->json->{postgres} eq 'database-missing' }),
   'no database: health tells');
delete $s->nginx->{svc}{svc_postgres};
$s->reload;
comes_back('no database');
@workers = $s->workers;


# --- a schema that is newer -----------------------------------------------------

# The newer schema still serves these modules, as the oldest ones.

$s->sql('INSERT INTO svc.schema_migration (version, name, serves)'
        . " SELECT 1000, 'later', max(version) FROM svc.schema_migration");
cut('SELECT');

my $newer;

ok((wait_for { $newer = $s->health->json;
               $newer->{postgres} eq 'schema-new' }),
   'a schema of later modules: health tells');
is($newer->{status}, 'ok', 'and it works');
is($acme->scim(GET => '/Users')->status, 200, 'as before');
ok((grep { /\[notice\].*schema is newer.*install the modules/ }
    $s->nginx->log_lines), 'the log says what to do');
cut('DELETE FROM svc.schema_migration WHERE version = 1000');
ok((wait_for { $s->health->json->{postgres} eq 'up' }),
   'the one that belongs to them');


# --- read-only -------------------------------------------------------------------

cut('ALTER ROLE svc_app SET default_transaction_read_only = on');
ok((wait_for { my $r = $s->health;
               $r->status == 200
               && $r->body =~ /"degraded","postgres":"read-only"/ }),
   'read-only: health tells, with 200, since reads work');
ok((wait_for { $acme->scim(GET => '/Users')->status == 200 }),
   'read-only: connected again');
scim_ok($acme->scim(GET => "/Users/$user->{id}"), 200, 'read-only: a read');
scim_error($acme->scim(POST => '/Users', { userName => 'ro@acme.test' }), 503,
           undef, 'read-only: a write');
ok((wait_for { grep { /PostgreSQL: 25006: .*read-only/ } said() }),
   'read-only: the log tells');

$acme->scim(POST => '/Users', { userName => 'ro@acme.test' }) for 1 .. 20;
cmp_ok(scalar(grep { /25006/ } said()), '<=', 4, 'and not each time');
cut('ALTER ROLE svc_app RESET default_transaction_read_only');
comes_back('read-only');


# --- no connections left -----------------------------------------------------------

cut('ALTER ROLE svc_app CONNECTION LIMIT 3');

ok((wait_for { grep { /too many connections/ } said() }),
   'too few connections: the log tells');
cmp_ok(said(), '<', 40, 'and not forever');
$s->sql('ALTER ROLE svc_app CONNECTION LIMIT -1');
comes_back('too few connections');


# --- another reason during an outage --------------------------------------------------

$seen = length slurp($s->nginx->{log});
$s->sql('ALTER ROLE svc_app NOLOGIN');
$s->pg->stop;
ok((wait_for { $s->health->status == 503 }), 'an outage');
$s->pg->launch;
ok((wait_for { grep { /not permitted to log in/ } said() }),
   'of which the reason changes: the log tells');
$s->sql('ALTER ROLE svc_app LOGIN');
comes_back('another reason');

is_deeply([ grep { !m{^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[\w+\] } }
            $s->nginx->log_lines ], [],
          'whatever libpq says is a line of the log, with its time');


# --- connections that are open meanwhile ---------------------------------------------

$s->sql('ALTER SCHEMA svc RENAME TO away');
scim_error($acme->scim(GET => '/Users'), 503, undef,
           'the schema goes away: a read')
    for 1 .. 3;
ok((wait_for { $s->health->status == 503 }), 'then health is 503');
$s->sql('ALTER SCHEMA away RENAME TO svc');
comes_back('the schema');

$s->sql('ALTER TABLE svc.user_account ALTER COLUMN title TYPE varchar(2000)');
ok((wait_for { $acme->scim(GET => "/Users/$user->{id}")->status == 200 }),
   'a column of another type: it goes on');
$s->sql('ALTER TABLE svc.user_account ALTER COLUMN title TYPE text');
ok((wait_for { $acme->scim(GET => "/Users/$user->{id}")->status == 200 }),
   'and back');
comes_back('types');


# --- a row that is locked ----------------------------------------------------------------

my $locker = $s->connect_as('postgres');
$locker->query('BEGIN');
$locker->query("SELECT FROM svc.user_account WHERE id = '$user->{id}'"
               . ' FOR UPDATE');

scim_error($acme->scim(DELETE => "/Users/$user->{id}"), 503, undef,
           'a locked row is not waited for for ever');
$locker->query('ROLLBACK');
comes_back('a locked row');


# --- too many requests --------------------------------------------------------------------

$seen = length slurp($s->nginx->{log});
$locker->query('BEGIN');
$locker->query('LOCK svc.user_account IN EXCLUSIVE MODE');

my @c = map { $s->connection } 1 .. 60;
$_->send($_->format(POST => '/scim/v2/Users',
                    [ @{ $acme->headers }, Connection => 'close' ],
                    '{"userName":"busy@acme.test"}')) for @c;
my %detail;
$detail{ $_->read->json->{detail} }++ for @c;
$locker->query('ROLLBACK');

ok($detail{'Too many requests wait for the database: nothing was done, try'
           . ' again.'}, 'too many requests: the client is told so')
    or diag(explain(\%detail));
ok((grep { /\[warn\].*"svc_postgres_pool".*: write/ }
    split /^/, substr slurp($s->nginx->{log}), $seen), 'and the operator');
comes_back('too many requests');


# --- an unexpected error -----------------------------------------------------------

$s->sql(<<'EOT2');
CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'full: %', NEW.user_name; END $$
EOT2
$s->sql('CREATE TRIGGER fail BEFORE INSERT ON svc.user_account'
        . ' FOR EACH ROW EXECUTE FUNCTION public.fail()');

$seen = length slurp($s->nginx->{log});

my $r = $acme->scim(POST => '/Users', { userName => 'trigger@acme.test' });
scim_error($r, 500, undef, 'an exception');
my ($id) = $r->json->{detail} =~ /as (\w{32})/;
ok(defined $id, 'the client is told the request id');
ok((grep { /P0001 .*tenant: \Q$acme->{id}\E, request id: \Q$id\E/ } said()),
   'with which the log tells');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'user.created'"
           . " AND created_at > now() - interval '1 second'"
           . " AND target_id <> '$user->{id}'"), 0, 'nothing is stored');
$s->sql('DROP TRIGGER fail ON svc.user_account');
comes_back('an exception');

is("@{[ $s->workers ]}", "@workers", 'the workers are the same');

$s->done;
done_testing();
