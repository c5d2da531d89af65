#!/usr/bin/perl

# What the database derives from a user's row, whoever writes it: the keys and
# the text for searches from the names; counts, lists and the end of sessions
# from the status.  And the cost of a change of the status: no index of users is
# touched.

use strict;
use warnings;

use Test::More;

use SvcTest::Session qw(session_of live_sessions);
use SvcTest;
use SvcTest::Derived qw(derived_ok);
use SvcTest::Process qw(wait_for);

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

*ask = $acme->asks('', { all => $acme->token_for('members:manage,users:view') });


sub error_of {
    my ($query) = @_;

    return eval { $s->sql($query); 1 } ? '' : $@;
}


sub total {
    my ($query) = @_;

    return $acme->admin(GET => "/users?$query")->json->{total};
}


sub set_active {
    my ($id, $active) = @_;

    return $acme->scim(PATCH => "/Users/$id", { Operations => [
        { op => 'replace', path => 'active',
          value => $active ? JSON::PP::true : JSON::PP::false } ] });
}


sub nothing_wrong {
    my ($name) = @_;

    derived_ok($s, $name);
}


# --- what it costs ----------------------------------------------------------

my @many = map { $globex->create(userName => "g$_\@globex.test")->{id} } 1 .. 40;

$s->sql('VACUUM FULL svc.user_account');

sub updates {
    my ($n, $hot) = @{ ($s->sql("SELECT n_tup_upd, n_tup_hot_upd FROM"
        . " pg_stat_user_tables WHERE relid = 'svc.user_account'::regclass"))[0] };

    return ($n, $hot);
}

# a transaction that sees an older state keeps row versions, whose room the next
# ones need

ok((wait_for { !$s->sql('SELECT count(*) FROM pg_stat_activity'
                        . ' WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()') }),
   'nobody looks at older states');

for my $active (0, 1, 0, 1) {
    for my $id (@many) {
        $globex->scim(PATCH => "/Users/$id", { Operations => [
            { op => 'replace', path => 'active',
              value => $active ? JSON::PP::true : JSON::PP::false } ] });
    }
}

# before anything else: a backend reports its counts when it has been idle

ok((wait_for { (updates())[0] >= 160 }), "the updates are known");

my ($all, $hot) = updates();

is($all, 160, 'one of each change');
cmp_ok($hot, '>=', 144, 'nine of ten touch no index')
    or diag("$hot of $all");

# --- plans that were made while the tables were empty ------------------------

{
    my $toggle = sub {
        my ($db) = @_;

        for my $status (qw(deactivated active)) {
            $db->query("UPDATE svc.user_account SET status = '$status'"
                       . " WHERE id = '$many[0]'");
        }
    };

    # plans as of the first changes after an installation and a vacuum

    $s->sql('DELETE FROM svc.user_inactive');
    $s->sql('VACUUM (ANALYZE) svc.user_inactive');
    $s->sql('VACUUM (ANALYZE) svc.session');

    my $app = $s->connect_as('svc_app');

    $app->query("SET svc.tenant = '$globex->{id}'");

    for my $round (1 .. 10) {
        $app->query('BEGIN');
        $toggle->($app);

        is_deeply($app->query('SELECT relname FROM pg_stat_xact_user_tables'
                              . ' WHERE seq_scan > 0 AND relname IN'
                              . " ('user_inactive', 'session')"), [],
                  'no table is read as a whole') if $round == 10;
        $app->query('ROLLBACK');
    }
}


# --- names ------------------------------------------------------------------

my $ann = $acme->create(userName => 'Ann@Acme.test',
                        name => { givenName => 'Ann', familyName => 'Lee' })->{id};
my $bob = $acme->create(userName => 'bob@acme.test')->{id};

nothing_wrong('of new users');

$s->sql("UPDATE svc.user_account SET display_name = 'Miss Marple' WHERE id = '$ann'");
is(total('q=marple'), 1, 'who writes a name alone has it found');
$s->sql("UPDATE svc.user_account SET user_name = 'Jane\@Acme.test' WHERE id = '$ann'");
is($acme->scim(GET => '/Users?filter=userName%20eq%20%22JANE@acme.test%22')
       ->json->{totalResults}, 1, 'and an address');
nothing_wrong('of users whom another program renames');

like(error_of("UPDATE svc.user_account SET user_name = 'BOB\@acme.test'"
              . " WHERE id = '$ann'"),
     qr/user_account_user_name_key/, 'which still has to be unique');

ask(PUT => "/users/$ann", { email => 'Ann@Acme.test', lastName => 'Poirot' });
is(total('q=poirot'), 1, 'an administrator renames');
is(total('q=marple'), 1, 'what stays is found');
$acme->scim(PUT => "/Users/$ann", { userName => 'ann@acme.test',
                                    displayName => 'Hercule' });
is(total('q=hercule'), 1, 'an identity provider renames');
is(total('q=poirot'), 0, 'what has gone is not found');
nothing_wrong('of users who were renamed');

for my $column (qw(user_name_key search)) {
    $s->sql("INSERT INTO svc.user_account (tenant_id, id, user_name, $column) VALUES"
            . " ('$acme->{id}', gen_random_uuid(), 'x-$column\@acme.test', 'forged')");
}

nothing_wrong('what a new row says of itself does not count');

for my $column (qw(user_name_key search)) {
    $s->sql("UPDATE svc.user_account SET $column = 'forged' WHERE id = '$ann'");
    nothing_wrong("nor what an update says of $column");
}

$s->sql('SET session_replication_role = replica');
$s->sql("INSERT INTO svc.user_account (tenant_id, id, user_name, status) VALUES"
        . " ('$acme->{id}', gen_random_uuid(), 'bulk\@acme.test', 'suspended')");
$s->sql('SET session_replication_role = origin');
$s->sql('SELECT svc.user_recount()');
nothing_wrong('of users who were loaded without triggers, and counted');


# --- the status -------------------------------------------------------------

for my $column (qw(status source)) {
    like(error_of("UPDATE svc.user_account SET $column = 'x' WHERE id = '$bob'"),
         qr/23514.*there is no $column "x"/s, "no other $column, of a user");
    like(error_of("INSERT INTO svc.user_account (tenant_id, id, user_name, $column)"
                  . " VALUES ('$acme->{id}', gen_random_uuid(), 'y\@acme.test', 'x')"),
         qr/23514.*there is no $column "x"/s, 'of a new one');
}

for my $off ([ 'PATCH of active', sub { set_active($bob, 0) } ],
             [ 'DELETE', sub { $acme->scim(DELETE => "/Users/$bob") } ],
             [ 'PUT', sub { $acme->scim(PUT => "/Users/$bob",
                                { userName => 'bob@acme.test', title => 'T',
                                  active => JSON::PP::false }) } ],
             [ 'suspend', sub { ask(POST => "/users/$bob/suspend") } ],
             [ 'another program', sub { $s->sql("UPDATE svc.user_account SET"
                   . " status = 'deactivated' WHERE id = '$bob'") } ])
{
    my ($name, $do) = @$off;

    $s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$bob'");
    $s->sql(session_of($bob)) for 1 .. 2;
    is(live_sessions($s, $bob), 2, "$name: of two sessions");
    $do->();
    nothing_wrong("$name: counted, listed, without sessions");
    $s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$bob'");
    is(live_sessions($s, $bob), 0, 'which do not come back');
    $s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$bob'");
}

$s->sql("UPDATE svc.user_account SET created_at = created_at - interval '1 day'"
        . " WHERE id = '$bob'");
nothing_wrong('one that is older all at once');

for my $status (qw(active suspended)) {
    my $id = $s->sql('INSERT INTO svc.user_account (tenant_id, id, user_name, status)'
                     . " VALUES ('$acme->{id}', gen_random_uuid(),"
                     . " 'key-$status\@acme.test', '$status') RETURNING id");

    $s->sql("UPDATE svc.user_account SET id = gen_random_uuid() WHERE id = '$id'");
    nothing_wrong("$status, with another id");
    like(error_of("UPDATE svc.user_account SET tenant_id = '$globex->{id}'"
                  . " WHERE user_name = 'key-$status\@acme.test'"),
         qr/23000.*a user stays in its tenant/s, 'and never in another tenant');
}

nothing_wrong('of users who stay');


$s->sql(session_of($bob));
nothing_wrong('nobody signs in who is not active');

{
    $s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$bob'");

    my $db = $s->connect_as('postgres');
    $db->query('BEGIN');
    $db->query(session_of($bob));

    my $late = $s->begin(DELETE => "/scim/v2/Users/$bob", $acme->headers);

    ok((wait_for { $s->waiting }), 'a deactivation waits for a sign-in');
    $db->query('COMMIT');
    is($late->read->status, 204, 'and is made');
    nothing_wrong('the session has ended, too');
}


# --- all of it, in any order ------------------------------------------------

my @ids = map { $acme->create(userName => "walk$_\@acme.test")->{id} } 1 .. 12;

srand 12;

for my $step (1 .. 300) {
    my $id = $ids[rand @ids];
    my $way = int rand 7;

    $way == 0 ? set_active($id, 1)
        : $way == 1 ? set_active($id, 0)
        : $way == 2 ? $acme->scim(DELETE => "/Users/$id")
        : $way == 3 ? ask(POST => "/users/$id/suspend")
        : $way == 4 ? ask(POST => "/users/$id/reactivate")
        : $way == 5 ? $acme->scim(PUT => "/Users/$id", {
                          userName => 'ignored@acme.test', title => "t$step",
                          active => $step % 2 ? JSON::PP::true : JSON::PP::false })
        : $s->sql("UPDATE svc.user_account SET status ="
                  . " (ARRAY['active','suspended','deactivated'])[1 + $step % 3]"
                  . " WHERE id = '$id'");
}

nothing_wrong('after 300 changes');
is(ask(DELETE => "/users/$_")->status, 204, 'erased') for @ids[0 .. 5];
nothing_wrong('after some were erased');

for my $status (qw(active suspended deactivated)) {
    is(total("status=$status"),
       $s->sql("SELECT count(*) FROM svc.user_account WHERE status = '$status'"
               . " AND tenant_id = '$acme->{id}'"), "how many are $status");
}


# --- a tenant that goes -----------------------------------------------------

$globex->scim(DELETE => "/Users/$_") for @many[0 .. 4];
$s->sql("DELETE FROM svc.tenant WHERE id = '$globex->{id}'");

for my $table (qw(user_account user_inactive user_count)) {
    is($s->sql("SELECT count(*) FROM svc.$table WHERE tenant_id = '$globex->{id}'"),
       0, "a tenant takes its rows of $table along");
}


is(scalar(grep { !/there is no|user_account_user_name_key|stays in its tenant/ }
          $s->pg->errors), 0,
   'no other error in the log of PostgreSQL') or diag($s->pg->errors);

$s->done;
done_testing();
