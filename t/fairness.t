#!/usr/bin/perl

# Shows that tenants take turns at slow work and at writes: whatever holds up one
# tenant's statements, those of the others go on.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Metrics;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Scim;


my $QUEUE = 64;
my $SEARCH = '/v1/admin/audit?q=nowhere';

my $s = SvcTest->new(
    workers => 1, locations => $SvcTest::Metrics::LOCATION,
    svc => { svc_postgres_pool => [ 'read connections=2 depth=16',
                                    'write connections=4 depth=2',
                                    'slow connections=2 depth=1' ],
             svc_postgres_timeout => '60s', svc_postgres_queue => $QUEUE,
             svc_postgres_queue_timeout => '60s' },
)->start;

# A search of a tenant takes for as long as the test holds a lock.

$s->sql(<<'EOT');
CREATE POLICY held ON svc.audit_event AS RESTRICTIVE FOR SELECT TO svc_app
    USING ((SELECT pg_advisory_xact_lock_shared(
                hashtext(current_setting('svc.tenant', true))) IS NOT NULL))
EOT

my %tenant;

for my $slug (qw(acme globex initech)) {
    my $tenant = $tenant{$slug} = $s->tenant($slug);

    $tenant->{audit} = $tenant->token(kind => 'api',
                                      permissions => 'audit:view')->{token};
    $s->sql("INSERT INTO svc.audit_event (tenant_id, action)"
            . " VALUES ('$tenant->{id}', 'user.created')");
}

my ($acme, $globex, $initech) = @tenant{qw(acme globex initech)};
my @workers = $s->workers;
my $operator = $s->connect_as('postgres');


# --- how a tenant is held up --------------------------------------------------

sub hold {
    my ($tenant) = @_;

    $operator->query('SELECT pg_advisory_lock(hashtext('
                     . "'$tenant->{id}'))");
}


sub release {
    my ($tenant) = @_;

    $operator->query('SELECT pg_advisory_unlock(hashtext('
                     . "'$tenant->{id}'))");
}


sub gauge {
    my ($pool, $state) = @_;

    return SvcTest::Metrics->get($s)->value('svc_postgres_requests',
        process => 'worker', pool => $pool, state => $state);
}


# Begins searches, one on each connection, and waits for none.

sub search {
    my ($n, @tokens) = @_;

    return map {
        $s->begin(GET => $SEARCH,
                  [ Authorization => "Bearer $tokens[$_ % @tokens]",
                    Connection => 'close' ]);
    } 0 .. $n - 1;
}


sub statuses {
    my %n;

    $n{ ($_->read // { status => $_->error })->{status} }++ for @_;

    return \%n;
}


# Sends one request after the other; returns how long each took, sorted.

sub timed {
    my ($n, $ask, $status, $name) = @_;

    my (@took, %seen);

    for (1 .. $n) {
        my $since = time();

        $seen{ $ask->()->status }++;
        push @took, time() - $since;
    }

    is_deeply(\%seen, { $status => $n }, $name);

    return sort { $a <=> $b } @took;
}


# Compares the median with the one without another tenant's load. A request that had
# to wait for the tenant held up would wait for ever.

sub quick {
    my ($took, $alone, $name) = @_;

    my ($median, $median_alone) = map { $_->[@$_ / 2] } $took, $alone;

    cmp_ok($median, '<', 10 * $median_alone + slow(0.2), $name);
    note(sprintf '%.1f ms, alone %.1f ms', 1e3 * $median, 1e3 * $median_alone);
}


sub audit {
    my ($tenant) = @_;

    return $s->http(GET => $SEARCH,
                    { Authorization => "Bearer $tenant->{audit}" });
}


# --- slow searches ------------------------------------------------------------

# The worker does not know any tenant yet.

hold($acme);

my @c = search(6, $acme->{audit});
ok((wait_for { $s->waiting == 1 && gauge(slow => 'waiting') == 5 }),
   'a tenant has one of two connections, and waits for it');

my @took = timed(100, sub { audit($globex) }, 200, 'another one searches');

ok((wait_for { $s->waiting == 1 }), 'while the first still waits');
ok((wait_for { gauge(slow => 'in_flight') == 1 }), 'which has had no more');

release($acme);
is_deeply(statuses(@c), { 200 => 6 }, 'then it gets its answers');

quick(\@took, [ timed(100, sub { audit($globex) }, 200, 'and alone') ],
      'as quick as alone');


# Many tokens of one tenant share its places.

hold($acme);

my @tokens = map { $acme->token(kind => 'api',
                                permissions => 'audit:view')->{token} } 1 .. 40;

@c = search(scalar @tokens, @tokens);
ok((wait_for { gauge(slow => 'waiting') == $QUEUE / 2 }), 'they wait');

quick([ timed(50, sub { audit($globex) }, 200, 'beside 40 tokens') ], \@took,
      'another one is as quick');
ok((wait_for { $s->waiting == 1 }), 'they share one connection');

release($acme);

my $seen = statuses(@c);
is(($seen->{200} // 0) + ($seen->{503} // 0), scalar @c,
   'each gets an answer');
cmp_ok($seen->{200} // 0, '>=', $QUEUE / 2, 'half of the queue is theirs');


# Tokens that nobody has issued are refused meanwhile.

hold($acme);
@c = search(4, $acme->{audit});
ok((wait_for { $s->waiting == 1 }), 'one is held up again');

my @garbage = search(60, map { "svc_garbage$_" } 1 .. 60);

quick([ timed(50, sub { audit($globex) }, 200, 'beside garbage') ], \@took,
      'another one is as quick');
is_deeply(statuses(@garbage), { 401 => 60 }, 'garbage gets 401');
ok((wait_for { gauge(slow => 'in_flight') == 1 }), 'and no place');

release($acme);
is_deeply(statuses(@c), { 200 => 4 }, 'the others get theirs');


# The tenant that has less under way comes next, not the one that came first. The
# worker's own tasks, every two seconds, wait as well.

hold($_) for $acme, $globex;

@c = map { [ search(8, $_->{audit}) ] } $acme, $globex;
ok((wait_for { $s->waiting == 2 && gauge(slow => 'waiting') >= 14 }),
   'two tenants have all connections');

my ($late) = search(1, $initech->{audit});
ok((wait_for { gauge(slow => 'waiting') >= 15 }), 'a third one waits');

release($acme);
is_deeply(statuses($late), { 200 => 1 }, 'it gets the first that is free');
is_deeply(statuses(@{ $c[0] }), { 200 => 8 }, 'with the one that is not held');
ok((wait_for { $s->waiting == 1 }), 'the other one keeps its own');
release($globex);
is_deeply(statuses(@{ $c[1] }), { 200 => 8 }, 'and goes on');


# --- refused requests take no place -------------------------------------------

hold($acme);

@c = search(2, $acme->{audit});
ok((wait_for { $s->waiting == 1 && gauge(slow => 'waiting') == 1 }),
   'a tenant is held up');

my $viewer = $acme->token(kind => 'api', permissions => 'users:view');

is($s->http(GET => '/v1/admin/users?q=' . 'x' x 201,
            { Authorization => "Bearer $viewer->{token}" })->status,
   400, 'a search that is too long is refused at once');

release($acme);
is_deeply(statuses(@c), { 200 => 2 }, 'the others get theirs');


# --- a full queue -------------------------------------------------------------

hold($acme);

# The first search gets a connection, which another tenant may have had just now.

@c = search(1, $acme->{audit});
ok((wait_for { $s->waiting == 1 }), 'one is at work');
push @c, search($QUEUE - 1, $acme->{audit});
ok((wait_for { gauge(slow => 'waiting') == $QUEUE / 2 }),
   'a tenant takes half of the queue');
quick([ timed(20, sub { audit($globex) }, 200, 'another one has places') ],
      \@took, 'and is as quick');
release($acme);
is_deeply(statuses(@c), { 200 => $QUEUE / 2 + 1, 503 => $QUEUE / 2 - 1 },
          'what was too much got 503');
ok((grep { /\[warn\].* of tenant \Q$acme->{id}\E wait .*: slow/ }
    $s->nginx->log_lines), 'the log says who');


# --- clients that leave while they wait ---------------------------------------

hold($acme);

@c = search(12, $acme->{audit});
ok((wait_for { gauge(slow => 'waiting') == 11 }), 'eleven wait');
$_->abort for @c[3 .. 11];
ok((wait_for { gauge(slow => 'waiting') <= 2 }), 'nine clients go away');
$_->abort for @c[0 .. 1];
ok((wait_for { gauge(slow => 'waiting') <= 1 }),
   'the one whose search is under way, and one more');
release($acme);
is_deeply(statuses($c[2]), { 200 => 1 }, 'the last one gets its answer');
ok((wait_for { gauge(slow => 'in_flight') == 0 }), 'nothing is left');


# --- one connection, many requests --------------------------------------------

hold($acme);

my $pipelined = $s->connection;
$pipelined->send(join '', map {
    $pipelined->format(GET => "$SEARCH&limit=$_",
                       { Authorization => "Bearer $acme->{audit}" })
} 1 .. 5);
ok((wait_for { $s->waiting == 1 }), 'pipelined requests');
quick([ timed(20, sub { audit($globex) }, 200, 'beside them') ], \@took,
      'another one is as quick');
release($acme);
is_deeply([ map { my $r = $pipelined->read; $r ? $r->json->{limit} : undef }
            1 .. 5 ],
          [ 1 .. 5 ], 'are answered in order');
$pipelined->close;


# --- writes -------------------------------------------------------------------

my $user = $acme->create(userName => 'ada@acme.test');
my $n = 0;

sub create {
    my ($tenant) = @_;

    return $tenant->scim(POST => '/Users',
                         { userName => 'u' . $n++ . '@x.test' });
}

my @alone = timed(100, sub { create($globex) }, 201, 'writes alone');

$operator->query('BEGIN');
$operator->query("SELECT FROM svc.user_account WHERE id = '$user->{id}'"
                 . ' FOR UPDATE');

@c = map {
    $s->begin(PATCH => "/scim/v2/Users/$user->{id}",
              [ @{ $acme->headers }, Connection => 'close' ],
              patch_op({ op => 'replace', path => 'title', value => "T$_" }));
} 1 .. 24;

ok((wait_for { $s->waiting >= 3 && gauge(write => 'waiting') > 0 }),
   'an operator has locked a row');

quick([ timed(100, sub { create($globex) }, 201, 'another one writes') ],
      \@alone, 'as quick as alone');
scim_ok(create($initech), 201, 'and one that is new');
ok((wait_for { my $n = $s->waiting; $n >= 2 && $n < 4 }),
   'while the row is locked');

$operator->query('ROLLBACK');
is_deeply(statuses(@c), { 200 => 24 }, 'then the row is written');


# --- how a wait ends ----------------------------------------------------------

# PostgreSQL stops: reads are sent again.

hold($acme);
@c = search(6, $acme->{audit});
ok((wait_for { $s->waiting == 1 && gauge(slow => 'waiting') == 5 }),
   'five wait for one');
$s->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        . " WHERE usename = 'svc_app' AND wait_event_type = 'Lock'");
ok((wait_for { $s->waiting == 1 }), 'the connection is cut');
release($acme);
is_deeply(statuses(@c), { 200 => 6 }, 'all are answered');
is_deeply([ map { audit($_)->status } $acme, $globex ], [ 200, 200 ],
          'and whoever comes');
ok((wait_for { gauge(slow => 'in_flight') + gauge(slow => 'waiting') == 0 }),
   'nothing is left over');

# The worker quits: waiting requests get an answer first.

hold($acme);
@c = search(6, $acme->{audit});
ok((wait_for { $s->waiting == 1 && gauge(slow => 'waiting') == 5 }),
   'six more');
is("@{[ $s->workers ]}", "@workers", 'of the same worker');
$s->reload(linger => 1);
release($acme);
is_deeply(statuses(@c), { 200 => 6 }, 'a reload: all are answered');

# A wait has a time limit.

$s->nginx->{svc}{svc_postgres_timeout} = '1s';
$s->nginx->{svc}{svc_postgres_queue_timeout} = '500ms';
$s->reload;
$s->wait_healthy;

hold($acme);
@c = search(8, $acme->{audit});

my @answers = map { $_->read } @c;

is_deeply([ map { $_->status } @answers ], [ (503) x 8 ],
          'a wait that is too long: 503');
is(scalar(grep { $_->header('retry-after') } @answers), 8,
   'with Retry-After');
is(audit($globex)->status, 200, 'another one searches');
release($acme);

$s->done;
done_testing();
