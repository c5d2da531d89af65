#!/usr/bin/perl

# A connection prepares a statement when it is first used there, and not before.
#  A statement that fails meanwhile fails one answer, and no other.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(slow slurp wait_for);


# one worker, and one connection of each kind, so that all requests share it

my $s = SvcTest->new(
    workers => 1,
    locations => $SvcTest::Metrics::LOCATION,
    pg_conf => "log_min_duration_statement = 0\n",
    svc => {
        svc_postgres_pool => [ 'read connections=1 depth=32',
                               'write connections=1 depth=32',
                               'slow connections=1 depth=1' ],
        svc_postgres_queue_timeout => slow(1) . 's',
    },
)->start;

my $acme = $s->tenant('acme');


# Returns what was prepared, from PostgreSQL's log: the connection and the
# statement.

sub parsed {
    my $log = slurp($s->pg->{log});
    my @parsed;

    push @parsed, [ $1, $2 ]
        while $log =~ /^(\d+) svc_app LOG:  duration: [\d.]+ ms  parse (\w+): /mg;

    return @parsed;
}


# Returns how often each statement was prepared.

sub prepared {
    my %n;

    $n{$_->[1]}++ for parsed();

    return \%n;
}


# Returns the statements that were prepared since.

sub since {
    my ($before) = @_;
    my $now = prepared();

    return [ sort map { ($_) x ($now->{$_} - ($before->{$_} // 0)) } keys %$now ];
}


# Returns the statements that a connection prepared more than once.  The use of
# a token is written later on another connection, which then also prepares the
# statements for it.

sub twice {
    my %n;

    $n{"@$_"}++ for parsed();

    return [ sort grep { $n{$_} > 1 } keys %n ];
}


my ($user, $other);

sub get {
    return $acme->scim(GET => "/Users/$user");
}


# --- a statement's first use --------------------------------------------------

cmp_ok(scalar keys %{ prepared() }, '<', 20, 'a new server prepares nearly nothing');

($user, $other) = map { $acme->create(userName => "$_\@acme.test")->{id} } qw(ada bob);

is(prepared()->{scim_get}, undef, 'not what nobody has asked for');
is(get()->status, 200, 'a read');
is(prepared()->{scim_get}, 1, 'prepares what it needs');

my $before = prepared();
is(get()->status, 200, 'another one');
is(prepared()->{scim_get}, 1, 'finds it');
is_deeply(twice(), [], 'and all else');

# the same by many requests at once: a statement that is being prepared is not
# sent again

my @asked = map { $s->begin(GET => '/scim/v2/Users?count=' . $_,
                            [ @{ $acme->headers }, Connection => 'close' ]) } 1 .. 20;

is(scalar(grep { $_->read->status != 200 } @asked), 0, '20 lists at once');

cmp_ok(scalar @{ since($before) }, '>', 0, 'of a kind that nobody has asked for');
is_deeply(twice(), [], 'prepare each statement once');

# a new connection begins with nothing prepared

$s->sql("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        . " WHERE usename = 'svc_app'");
ok((wait_for { get()->status == 200 }), 'a read in a new session');
is(prepared()->{scim_get}, 2, 'which prepares it, too');


# --- after one that fails -----------------------------------------------------

# a change waits for a row until its time is over; after it, on the same
# connection, comes a statement that was not prepared before

my $holds = $s->pg->connect('postgres');

$holds->query('BEGIN');
$holds->query("SELECT FROM svc.user_account WHERE id = '$user' FOR UPDATE");

my $change = { userName => 'ada@acme.test', displayName => 'Ada' };
my $waits = $s->begin(PUT => "/scim/v2/Users/$user", $acme->headers, $change);

ok((wait_for { $s->sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'svc_app'"
                       . " AND wait_event_type = 'Lock'") }), 'a change waits');

my $follows = $s->begin(DELETE => "/scim/v2/Users/$other", $acme->headers);

is($waits->read->status, 503, 'and is given up');
is($follows->read->status, 204, 'what is behind it prepares its statements, and is done');
$holds->query('ROLLBACK');
is($acme->scim(PUT => "/Users/$user", $change)->status, 200, 'the change, now');


# --- a statement that cannot be prepared --------------------------------------

# a table is missing, as while a backup is restored

my $admin = $acme->token_for('tenant:manage');

sub blocks {
    return $acme->admin(GET => '/ip-blocks', undef, undef, $admin);
}


# Returns how many writes have been sent to PostgreSQL.

sub writes {
    return SvcTest::Metrics->get($s)->value('svc_postgres_requests',
                                            process => 'worker', pool => 'write',
                                            state => 'in_flight');
}


sub block {
    return $s->begin(POST => '/v1/admin/ip-blocks',
                     [ Authorization => "Bearer $admin" ], { ip => $_[0] });
}


$s->sql('ALTER TABLE svc.ip_block RENAME TO away');

is(blocks()->status, 503, 'a table is not there');
like(join("", $s->nginx->log_lines), qr/\[error\] .*relation "svc\.ip_block" does not exist/,
     'as the error log says');
$s->sql('ALTER TABLE svc.away RENAME TO ip_block');
ok((wait_for { blocks()->status == 200 }), 'it is there again');
is(get()->status, 200, 'and so is all else');

# writes before and after it have already been sent to PostgreSQL

$s->nginx->{svc}{$_} = slow(20) . 's' for qw(svc_postgres_timeout
                                             svc_postgres_queue_timeout);
$s->reload;
$other = $acme->create(userName => 'eve@acme.test')->{id};
$s->sql('ALTER TABLE svc.ip_block RENAME TO away');

$holds->query('BEGIN');
$holds->query("SELECT FROM svc.user_account WHERE id = '$user' FOR UPDATE");

$waits = $s->begin(PUT => "/scim/v2/Users/$user", $acme->headers, $change);
ok((wait_for { writes() == 1 }), 'a change waits');

my $cannot = block('10.1.2.3');
ok((wait_for { writes() == 2 }), 'behind it one that cannot be prepared');

$follows = $s->begin(DELETE => "/scim/v2/Users/$other", $acme->headers);
ok((wait_for { writes() == 3 }), 'and one behind that');

$holds->query('ROLLBACK');
is($waits->read->status, 200, 'the first is done');
is($cannot->read->status, 503, 'the second is not');
is($follows->read->status, 204, 'the third is');

$s->sql('ALTER TABLE svc.away RENAME TO ip_block');
is(block('10.1.2.3')->read->status, 201, 'and then the second');

# a column, too, may be missing for a while

$s->sql('ALTER TABLE svc.ip_block RENAME ip TO away');
$s->sql("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        . " WHERE usename = 'svc_app'");
ok((wait_for { get()->status == 200 }), 'a new session');
is(blocks()->status, 503, 'a column is not there');
$s->sql('ALTER TABLE svc.ip_block RENAME away TO ip');
is(blocks()->status, 200, 'it is there again');

$s->done;
done_testing();
