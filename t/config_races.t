#!/usr/bin/perl

# Shows that config bundles applied at the same time, and beside other changes, are
# there as a whole or not at all, and that the audit log tells what happened.

use strict;
use warnings;

use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Bundle;
use SvcTest::Process qw(slow wait_for);

my $SEED = $ENV{SVC_TEST_SEED} // int rand 2**31;
my $MANY = 50;

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my @workers = $s->workers;
my ($all, @groups) = SvcTest::Bundle::tenant($s, $acme, 5);

srand $SEED;
note("seed $SEED");


# Starts a request; finish() returns its answer.

sub begin {
    my ($method, $path, $body, @headers) = @_;

    return $s->begin($method, "/v1/admin$path",
                     [ Authorization => "Bearer $all", @headers ], $body,
                     timeout => slow(30));
}


sub finish {
    my ($c) = @_;

    my $r = $c->read or die 'no answer: ' . $c->error . "\n";
    $c->close;

    return $r;
}


sub export {
    return finish(begin(GET => '/config'))->body;
}


# Sends all requests while a lock lets nobody write, and then releases it.

sub together {
    my (@requests) = @_;

    my $db = $s->connect_as('postgres');

    $db->query('BEGIN');
    $db->query("SELECT FROM svc.governance WHERE tenant_id = '$acme->{id}'"
               . ' FOR UPDATE');

    my @c = map { begin(@$_) } @requests;

    # A worker may have accepted all of them, and gives a tenant only its share of
    # places.

    my $waiting = wait_for { $s->waiting >= 2 };

    $db->query('COMMIT');

    my @answers = map { finish($_) } @c;

    $waiting or die "they did not wait, and were answered: "
                    . join(', ', map { "$_->{status} $_->{body}" } @answers) . "\n";

    return @answers;
}


# --- fifty at once ---------------------------------------------------------------

for my $round (1 .. 4) {
    my @bundles = map {
        my $b = SvcTest::Bundle::random(groups => \@groups);
        push @{ $b->{roles} }, SvcTest::Bundle::role("only$round-$_");
        $b;
    } 1 .. $MANY;
    my @texts = map { SvcTest::Bundle::canonical($_) } @bundles;

    $acme->new_events('id');
    my $before = $acme->revision;
    my @answers = together(map { [ POST => '/config/apply?prune=true', $_ ] }
                           @texts);

    is_deeply([ grep { $_->status != 200 } @answers ], [],
              "round $round: every answer is 200")
        or diag(map { "$_->{status} $_->{body}\n" }
                grep { $_->status != 200 } @answers);

    my $left = export();
    my @which = grep { $texts[$_] eq $left } 0 .. $#texts;

    is(scalar @which, 1, 'one of them is left, whole') or diag($left);

    my @events = $acme->new_events(qw(action target_id),
                                   "details ->> 'revision'");
    my @applied = grep { $_->[0] eq 'config.applied' } @events;
    my ($last) = map { $_->[1] } grep { $_->[0] eq 'role.created'
                                        && $_->[1] =~ /^only/ } reverse @events;

    is(scalar @applied, $MANY, 'as many were applied as were answered so');
    is_deeply([ map { $_->[2] } @applied ],
              [ $before + 1 .. $before + $MANY ], 'one after the other');
    is($last, 'only' . $round . '-' . ($which[0] + 1),
       'the log ends with the one that is left');
    is($acme->revision, $before + $MANY, 'and so does the revision');
}


# --- If-Match: the first one wins --------------------------------------------------

{
    my $tag = '"' . $acme->revision . '"';
    my @answers = together(map {
        [ POST => '/config/apply', SvcTest::Bundle::canonical(
              SvcTest::Bundle::random(groups => \@groups)),
          'If-Match' => $tag ]
    } 1 .. 20);
    my %n;

    $n{$_->status}++ for @answers;
    is_deeply(\%n, { 200 => 1, 412 => 19 }, 'with If-Match one of twenty');
}


# --- beside other changes ------------------------------------------------------------

{
    my @c;

    for my $n (1 .. 40) {
        push @c, begin(POST => '/config/apply', SvcTest::Bundle::canonical(
            { roles => [ map { SvcTest::Bundle::role("both$_") } 1 .. 3 ] })),
            begin(POST => '/roles', "{\"key\":\"made$n\",\"name\":\"Made\","
                                    . '"permissions":[]}');
    }

    my %n;

    $n{$_}++ for map { finish($_)->status } @c;
    is_deeply(\%n, { 200 => 40, 201 => 40 }, 'applied beside new roles');

    my %keys = map { $_ => 1 } export() =~ /"key":"(.*?)"/g;

    is_deeply([ grep { !$keys{$_} } (map { "made$_" } 1 .. 40),
                                    map { "both$_" } 1 .. 3 ], [],
              'without prune none of them is lost');
}

# Roles are given to users while they are pruned.

{
    my @users = $acme->add_users(10);
    my $with = SvcTest::Bundle::canonical(
        { roles => [ map { SvcTest::Bundle::role("r$_") } 1 .. 5 ] });
    my $without = SvcTest::Bundle::canonical({ roles => [] });
    my (%n, @c);

    finish(begin(POST => '/config/apply?prune=true', $with));

    for my $n (1 .. 60) {
        push @c, begin(POST => '/config/apply?prune=true',
                       $n % 2 ? $without : $with);

        eval {
            $s->sql("UPDATE svc.user_account SET role = 'r" . (1 + $n % 5)
                    . "' WHERE id = '$users[$n % 10]'");
            1;
        } or $n{none}++;

        $s->sql("UPDATE svc.user_account SET role = 'member'"
                . " WHERE id = '$users[($n + 5) % 10]'");
    }

    $n{$_}++ for map { finish($_)->status } @c;
    note(join ', ', map { "$_: $n{$_}" } sort keys %n);

    is_deeply([ grep { !/^(?:200|409|none)$/ } keys %n ], [],
              'pruned while users get them: 200 or 409');
    is($s->sql('SELECT count(*) FROM svc.user_account u WHERE role LIKE \'r%\''
               . ' AND NOT EXISTS (SELECT FROM svc.role r WHERE r.key = u.role'
               . ' AND r.tenant_id = u.tenant_id)'), 0,
       'nobody has a role that there is not');
    is($s->sql('SELECT count(*) FROM svc.role r WHERE member_count <>'
               . ' (SELECT count(*) FROM svc.user_account u'
               . ' WHERE u.tenant_id = r.tenant_id AND u.role = r.key)'), 0,
       'and all are counted');
}

# A role is given to a user between the two round trips.

{
    $s->sql("UPDATE svc.user_account SET role = 'member'");

    finish(begin(POST => '/config/apply?prune=true', SvcTest::Bundle::canonical(
        { roles => [ SvcTest::Bundle::role('held') ] })));

    my ($user) = map { $_->[0] } $s->sql('SELECT id FROM svc.user_account'
                                         . " WHERE tenant_id = '$acme->{id}'");
    my $db = $s->connect_as('postgres');
    my $before = export();

    $db->query('BEGIN');
    $db->query("UPDATE svc.user_account SET role = 'held' WHERE id = '$user'");

    my $c = begin(POST => '/config/apply?prune=true', SvcTest::Bundle::canonical(
        { riskPolicy => SvcTest::Bundle::risk(), roles => [] }));

    ok((wait_for { $s->waiting }), 'the role is waited for');
    $db->query('COMMIT');

    my $r = finish($c);
    is($r->status, 409, 'a role that gets a user meanwhile: 409');
    like($r->body, qr/role_in_use.*held/, 'role_in_use');
    is(export(), $before, 'nothing of it is done');
}

# Roles are locked in the order in which a change of a user's role locks them.

{
    finish(begin(POST => '/config/apply', SvcTest::Bundle::canonical(
        { roles => [ map { SvcTest::Bundle::role($_) } 'first', 'last' ] })));

    $s->sql("UPDATE svc.user_account SET role = 'member'");

    my @users = map { $_->[0] } $s->sql('SELECT id FROM svc.user_account'
                                        . " WHERE tenant_id = '$acme->{id}'");
    my $db = $s->connect_as('postgres');
    my $set = sub {
        $db->query("UPDATE svc.user_account SET role = '$_[0]'"
                   . " WHERE id = '$_[1]'");
    };

    $db->query('BEGIN');
    $set->('first', $users[0]);

    my $c = begin(POST => '/config/apply?prune=true', SvcTest::Bundle::canonical(
        { roles => [ SvcTest::Bundle::role('first') ] }));

    wait_for { $s->waiting } or die "nobody waits\n";

    $db->query("SET LOCAL lock_timeout = '100ms'");
    ok(eval { $set->('last', $users[1]); 1 }, 'the last role is not locked yet')
        or diag($@);
    eval { $db->query('COMMIT') };

    my $r = finish($c);
    is($r->status, 409, 'the other one waits, and then sees it in use');
    like($r->body, qr/role_in_use.*\blast\b/, 'as it says');
}

# A group is deleted between the two round trips.

{
    my $db = $s->connect_as('postgres');
    my $before = export();
    my ($gone) = map { $_->[0] } $s->sql(
        "INSERT INTO svc.user_group (tenant_id, id, name) VALUES"
        . " ('$acme->{id}', gen_random_uuid(), 'gone') RETURNING id");

    $db->query('BEGIN');
    $db->query("DELETE FROM svc.user_group WHERE id = '$gone'");

    my $c = begin(POST => '/config/apply', SvcTest::Bundle::canonical(
        { riskPolicy => SvcTest::Bundle::risk(),
          groupPasswordPolicies => [ SvcTest::Bundle::override($gone) ] }));

    wait_for { $s->waiting } or die "nobody waits\n";
    $db->query('COMMIT');

    my $r = finish($c);
    is($r->status, 400, 'a group that goes meanwhile: 400');
    like($r->body, qr/groupPasswordPolicies\[0\]\.groupId/, 'is named');
    is(export(), $before, 'nothing of it is done');
}

# Groups are created and deleted meanwhile.

{
    my %n;
    my @c;

    for my $n (1 .. 30) {
        my $id = $s->sql("INSERT INTO svc.user_group (tenant_id, id, name)"
                         . " VALUES ('$acme->{id}', gen_random_uuid(), 'g$n')"
                         . ' RETURNING id');

        push @c, begin(POST => '/config/apply', SvcTest::Bundle::canonical(
            { groupPasswordPolicies => [ SvcTest::Bundle::override($id) ] }));
        push @c, begin(DELETE => "/groups/$id");
    }

    $n{$_}++ for map { finish($_)->status } @c;
    note(join ', ', map { "$_: $n{$_}" } sort keys %n);

    is_deeply([ grep { !/^(?:200|204|400)$/ } keys %n ], [],
              'groups that go while they get an override: 200 or 400');
    is($s->sql('SELECT count(*) FROM svc.group_password_policy p'
               . ' WHERE NOT EXISTS (SELECT FROM svc.user_group g'
               . ' WHERE g.tenant_id = p.tenant_id AND g.id = p.group_id)'), 0,
       'no override without its group');
}

# Others change something all the time; users have no roles any more.

sub restless {
    my $pid = fork // die "fork: $!\n";

    return $pid if $pid;

    $SIG{TERM} = sub { POSIX::_exit(0) };

    eval {
        my $db = $s->connect_as('postgres');

        $db->query('UPDATE svc.governance SET revision = revision + 1'
                   . " WHERE tenant_id = '$acme->{id}'") while 1;
    };

    POSIX::_exit(1);
}


{
    $s->sql("UPDATE svc.user_account SET role = 'member'");

    my @pids = map { restless() } 1 .. 3;
    my (%n, @texts);

    for my $round (1 .. 4) {
        my @c = map {
            push @texts, SvcTest::Bundle::canonical(
                SvcTest::Bundle::random(groups => \@groups));
            begin(POST => '/config/apply?prune=true', $texts[-1]);
        } 1 .. 5;

        $c[0]->abort if $round == 2;
        $n{$_}++ for map { finish($_)->status } @c[1 .. 4];
        finish($c[0]) if $round != 2;
    }

    kill 'TERM', @pids;
    waitpid $_, 0 for @pids;

    note(join ', ', map { "$_: $n{$_}" } sort keys %n);
    is_deeply([ grep { !/^(?:200|503)$/ } keys %n ], [],
              'while others change it all the time: 200 or 503');
    is(finish(begin(POST => '/config/apply?prune=true', $texts[0]))->status, 200,
       'and then 200');
    is(export(), $texts[0], 'whole');
}

# Clients leave.

{
    $s->sql("UPDATE svc.user_account SET role = 'member'");

    my %texts = (export() => 1);

    for my $round (1 .. 10) {
        my @c = map {
            my $b = SvcTest::Bundle::random(groups => \@groups);
            my $text = SvcTest::Bundle::canonical($b);

            $texts{$text} = 1;
            begin(POST => '/config/apply?prune=true', $text);
        } 1 .. 5;

        $round % 2 ? $_->abort : $_->close for @c;
    }

    # Clients leave, too, whose requests make way for others and wait to be tried
    # again.

    my $db = $s->connect_as('postgres');

    $db->query('BEGIN');
    $db->query("SELECT FROM svc.governance WHERE tenant_id = '$acme->{id}'"
               . ' FOR UPDATE');

    my @c = map {
        my $text = SvcTest::Bundle::canonical(
            SvcTest::Bundle::random(groups => \@groups));

        $texts{$text} = 1;
        begin(POST => '/config/apply?prune=true', $text);
    } 1 .. $MANY;

    # A worker may have accepted all of them, and gives a tenant only its share of
    # places.

    wait_for { $s->waiting >= 2 } or die $s->waiting . " of them wait\n";
    $db->query('COMMIT');

    my @bad;

    while (@c) {
        my $r = finish(shift @c);

        push @bad, "$r->{status} $r->{body}" if $r->status != 200;
        (splice @c, int rand @c, 1)->abort if @c;
    }

    is_deeply(\@bad, [], 'one leaves after each that is answered');

    # Some requests may still be under way.

    my $last = SvcTest::Bundle::canonical(
        SvcTest::Bundle::random(groups => \@groups));

    $texts{$last} = 1;
    is(finish(begin(POST => '/config/apply?prune=true', $last))->status, 200,
       'clients that leave: who stays is answered');
    ok($texts{export()}, 'one is left, whole');

    my ($told, $revision) = @{ ($s->sql(
        "SELECT max((details ->> 'revision')::int8), (SELECT revision"
        . " FROM svc.governance WHERE tenant_id = '$acme->{id}')"
        . " FROM svc.audit_event WHERE action = 'config.applied'"
        . " AND tenant_id = '$acme->{id}'"))[0] };
    is($told, $revision, 'the log ends with the revision');
}

$s->unharmed(\@workers, 'races');
$s->done;
done_testing();
