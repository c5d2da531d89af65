#!/usr/bin/perl

# No user is left without a tenant, although users have no foreign key to it:
# neither of a tenant that never existed, nor of one that is deleted while users
# are created and changed.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Derived qw(derived_ok);
use SvcTest::Process qw(wait_for);


my $s = SvcTest->new(redis => 0, pg_conf => "deadlock_timeout = 100ms\n");
my $NOBODY = '99999999-9999-4999-8999-999999999999';
my $number = 0;

$s->start;

sub tenant { return $s->tenant('tenant' . ++$number) }

sub session { return $s->connect_as('postgres') }


# Returns the SQL that creates a user of a tenant.  Users with the same last
# digit in their id are counted in the same row.

sub insert {
    my ($tenant, $name, $digit) = @_;

    return 'INSERT INTO svc.user_account (tenant_id, id, user_name) VALUES'
           . " ('$tenant', overlay(gen_random_uuid()::text placing"
           . " '@{[ $digit // 0 ]}' from 36)::uuid, '$name\@x.test')";
}

sub change {
    my ($name, $column) = @_;

    return "UPDATE svc.user_account SET $column = 'suspended'"
           . " WHERE user_name = '$name\@x.test'";
}

sub delete_sql { return "DELETE FROM svc.tenant WHERE id = '$_[0]{id}'" }


# Starts a statement that waits for a lock; outcome() then returns "", or its
# error.

sub waits {
    my ($db, $sql, $name) = @_;
    my $before = $s->waiting('postgres');

    $db->begin($sql);
    ok((wait_for { $s->waiting('postgres') > $before }), "$name: waits");
}

sub outcome {
    my ($db) = @_;

    return eval { $db->until_ready; 1 } ? '' : $@;
}

sub attempt {
    my ($db, $sql) = @_;

    return eval { $db->query($sql); 1 } ? '' : $@;
}

my $REFUSED = qr/23503 .*"user_count" .*"user_count_tenant_id_fkey"/s;


sub no_orphan {
    my ($name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    for my $table (qw(user_account user_count user_inactive session)) {
        is($s->sql("SELECT count(*) FROM svc.$table x WHERE NOT EXISTS"
                   . ' (SELECT FROM svc.tenant t WHERE t.id = x.tenant_id)'),
           0, "$name: none of $table is without a tenant");
    }

    derived_ok($s, "$name: the counts are exact");
}

sub there {
    return $s->sql("SELECT count(*) FROM svc.tenant WHERE id = '$_[0]{id}'");
}


# --- a tenant that does not exist -------------------------------------------

my $db = session();

is($s->sql("SELECT count(*) FROM pg_constraint WHERE contype = 'f'"
           . " AND conrelid = 'svc.user_account'::regclass"), 0,
   'users have no foreign key');
like(attempt($db, insert($NOBODY, 'a')), $REFUSED, 'the user of no tenant');

{
    my $app = $s->connect_as('svc_app');

    $app->query("SELECT set_config('svc.tenant', '$NOBODY', false)");
    like(attempt($app, insert($NOBODY, 'a')), $REFUSED, 'as the modules, too');
}

my $acme = tenant();

$db->query(insert($acme->{id}, 'stays'));
like(attempt($db, "UPDATE svc.user_account SET tenant_id = '$NOBODY'"),
     qr/23000 a user stays in its tenant/, 'a user that leaves its tenant');
like(attempt($db, "UPDATE svc.tenant SET id = '$NOBODY'"),
     qr/^PostgreSQL: 23503/, 'a tenant that leaves its users');
no_orphan('so far');


# --- a user comes first -------------------------------------------------------

for my $counted (0, 1) {
    my $name = $counted ? 'a user first' : 'the first user first';
    my $tenant = tenant();
    my ($creates, $deletes) = (session(), session());

    $creates->query(insert($tenant->{id}, 'before')) if $counted;

    $creates->query('BEGIN');
    $creates->query(insert($tenant->{id}, 'new'));
    waits($deletes, delete_sql($tenant), $name);
    $creates->query('COMMIT');

    is(outcome($deletes), '', "$name: the tenant goes");
    is(there($tenant), 0, "$name: it is gone");
    no_orphan($name);
}

{
    my $tenant = tenant();
    my $deletes = session();

    $deletes->query('INSERT INTO svc.role (tenant_id, key, name, permissions)'
                    . " VALUES ('$tenant->{id}', 'helper', 'Helper', '{}')");
    $deletes->query(insert($tenant->{id}, "of$_")) for 1 .. 3;
    $deletes->query("UPDATE svc.user_account SET role = 'helper'"
                    . " WHERE tenant_id = '$tenant->{id}'");
    is(attempt($deletes, delete_sql($tenant)), '',
       'a tenant whose users are counted together');
    no_orphan('counted together');
}

for my $level ('REPEATABLE READ', 'SERIALIZABLE') {
    my $tenant = tenant();
    my ($creates, $deletes) = (session(), session());

    for my $digit (0, 1) {
        $creates->query(insert($tenant->{id}, 'before'));
        $deletes->query("BEGIN ISOLATION LEVEL $level");
        $deletes->query('SELECT count(*) FROM svc.tenant');
        $creates->query(insert($tenant->{id}, 'new', $digit));

        like(attempt($deletes, delete_sql($tenant)),
             qr/40001 could not serialize access/,
             "$level: a user who is not seen, in a count that "
             . ('is', 'is not')[$digit]);
        $deletes->query('ROLLBACK');
        $creates->query('DELETE FROM svc.user_account'
                        . " WHERE tenant_id = '$tenant->{id}'");
    }

    no_orphan($level);
}


# --- the deletion comes first -------------------------------------------------

for my $counted (0, 1) {
    for my $end (qw(COMMIT ROLLBACK)) {
        my $name = ('an empty', 'the')[$counted] . " tenant first, $end";
        my $tenant = tenant();
        my ($creates, $deletes) = (session(), session());

        $creates->query(insert($tenant->{id}, 'before')) if $counted;

        $deletes->query('BEGIN');
        $deletes->query(delete_sql($tenant));
        waits($creates, insert($tenant->{id}, 'new'), $name);
        $deletes->query($end);

        if ($end eq 'COMMIT') {
            like(outcome($creates), $REFUSED, "$name: the user is refused");
        } else {
            is(outcome($creates), '', "$name: the user is there");
        }

        is(there($tenant), $end eq 'COMMIT' ? 0 : 1, "$name: the tenant");
        no_orphan($name);
    }
}

{
    my $tenant = tenant();
    my $deletes = session();

    $tenant->create(userName => 'before@x.test');
    $deletes->query('BEGIN');
    $deletes->query(delete_sql($tenant));

    my @c = map { $s->begin(POST => '/scim/v2/Users', $tenant->headers,
                            { userName => "new$_\@x.test" }) } 1 .. 4;

    ok((wait_for { $s->waiting > 0 }), 'POST waits for the one who deletes');
    $deletes->query('COMMIT');

    is(scalar(grep { $_->read->status == 201 } @c), 0, 'and creates nothing');
    no_orphan('POST');
}


# --- users that change ------------------------------------------------------

{
    my $tenant = tenant();
    my ($changes, $deletes) = (session(), session());

    $changes->query(insert($tenant->{id}, 'one'));
    $changes->query('BEGIN');
    $changes->query(change('one', 'title'));
    waits($deletes, delete_sql($tenant), 'a user that changes');
    is(attempt($changes, change('one', 'status')), '', 'also its count');
    $changes->query('COMMIT');

    is(outcome($deletes), '', 'then the tenant goes');
    no_orphan('a user that changes');
}

sub blocks {
    return $s->sessions("$_[0] = ANY (pg_blocking_pids(pid))", 'postgres');
}

# a user that is created while the tenant's others are deleted

{
    my $tenant = tenant();
    my ($old, $creates, $changes, $deletes) = map { session() } 1 .. 4;

    $old->query(insert($tenant->{id}, 'old'));
    $_->[1]->query(insert($tenant->{id}, "counted$_->[0]"))
        for [ 1, $creates ], [ 2, $changes ];

    $old->query('BEGIN');
    $old->query(change('old', 'title'));
    waits($deletes, delete_sql($tenant), 'the old users');

    $changes->query(insert($tenant->{id}, 'late'));
    $changes->query('BEGIN');
    $changes->query(change('late', 'title'));

    $creates->query('BEGIN');
    $creates->query(insert($tenant->{id}, 'later'));

    my $creator = $creates->query('SELECT pg_backend_pid()')->[0][0];
    my $changer = $changes->query('SELECT pg_backend_pid()')->[0][0];

    $old->query('COMMIT');

    # now it waits for the counts

    ok((wait_for { blocks($creator) }), 'then who creates a user');
    $creates->query('COMMIT');

    # and then for the transaction that changes the late user

    ok((wait_for { blocks($changer) }), 'then who changes another one');
    is(attempt($changes, change('late', 'status')), '',
       'whose count is not locked');
    $changes->query('COMMIT');

    is(outcome($deletes), '', 'the tenant goes');
    is(there($tenant), 0, 'it is gone');
    no_orphan('users that came late');
}

# lock_timeout applies, whichever transaction holds the lock

for my $what ('creates', 'changes') {
    my $tenant = tenant();
    my ($holds, $deletes) = (session(), session());

    $holds->query(insert($tenant->{id}, 'before'));
    $holds->query('BEGIN');
    $holds->query($what eq 'creates' ? insert($tenant->{id}, 'new')
                  : "UPDATE svc.user_account SET title = 'x'"
                    . " WHERE tenant_id = '$tenant->{id}'");
    $deletes->query('SET lock_timeout = 50');
    like(attempt($deletes, delete_sql($tenant)), qr/55P03 .*lock timeout/,
         "lock_timeout, while somebody $what a user");
    $holds->query('COMMIT');
    is(there($tenant), 1, 'the tenant is there');
    no_orphan('lock_timeout');
}


# --- all at once ------------------------------------------------------------

{
    my $tenant = tenant();
    my $deletes = session();
    my @c = map { $s->begin(POST => '/scim/v2/Users', $tenant->headers,
                            { userName => "all$_\@x.test" }) } 1 .. 40;

    $deletes->query(delete_sql($tenant));

    my %status;

    $status{ $_->read->status }++ for @c;
    note(join ', ', map { "$status{$_} of $_" } sort keys %status);
    no_orphan('all at once');
}

$db->query('TRUNCATE svc.tenant CASCADE');
is($s->sql('SELECT count(*) FROM svc.user_account'), 0,
   'tenants that are truncated take their users along');
no_orphan('truncated');

is(scalar(grep { !/_tenant_id_fkey"|stays[ ]in[ ]its[ ]tenant|lock[ ]timeout$
                  |could[ ]not[ ]serialize/x } $s->pg->errors), 0,
   'no other error in the log of PostgreSQL, and no deadlock')
    or diag($s->pg->errors);

$s->done;
done_testing();
