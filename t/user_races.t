#!/usr/bin/perl

# Several clients change the same users at once, and an administrator erases
# some of them: each answer shows what its request did, each change has one
# event, and what is derived from users is exact afterwards.

use strict;
use warnings;

use JSON::PP ();
use POSIX ();
use Test::More;

use SvcTest::Session qw(session_of);
use SvcTest;
use SvcTest::Derived qw(derived_ok);
use SvcTest::Process qw(slurp wait_for);


my $CLIENTS = 8;
my $REQUESTS = 100;             # requests of each client

my $s = SvcTest->new(pg_conf => "deadlock_timeout = 100ms\n")->start;
my $acme = $s->tenant('acme');
my $api = $acme->token_for('members:manage,users:view');
my $bool = [ JSON::PP::false, JSON::PP::true ];

*ask = $acme->asks('/users', { all => $api });


sub user { return $acme->create(userName => "$_[0]\@acme.test")->{id} }

sub active { return { Operations => [ { op => 'replace', path => 'active',
                                        value => $bool->[$_[0]] } ] } }


# Runs the clients, each a process that calls $one with its own number and that
# of the request.  Returns what they report as wrong.

sub clients {
    my ($one) = @_;

    my @pids = map {
        my $n = $_;
        my $pid = fork // die "fork: $!";

        if (!$pid) {
            srand $n;
            open my $out, '>', "$s->{dir}/client$n" or POSIX::_exit(1);
            print $out map { eval { $one->($n, $_) } // "died: $@" } 1 .. $REQUESTS;
            POSIX::_exit(!close $out);
        }

        $pid;
    } 1 .. $CLIENTS;

    my $failed = grep { waitpid($_, 0); $? } @pids;

    is($failed, 0, 'the clients end');

    return join '', map { slurp("$s->{dir}/client$_") } 1 .. $CLIENTS;
}


# Returns "", or what is wrong with an answer: not one of the statuses, or a
# member of a 200 that is not as requested.

sub wrong {
    my ($r, $want, %member) = @_;

    return 'status ' . $r->status . ' ' . $r->body . "\n"
        if !grep { $_ == $r->status } @$want;

    my $user = $r->status == 200 ? $r->json : {};
    my ($name) = grep { $r->status == 200 && $user->{$_} ne $member{$_} }
                 sort keys %member;

    return $name ? "$name is not $member{$name}: " . $r->body . "\n" : '';
}


# --- one user, on and off ---------------------------------------------------

my $one = user('one');

is(clients(sub {
    my ($n, $i) = @_;
    my $on = int rand 2;

    return wrong($acme->scim(PATCH => "/Users/$one", active($on)), [ 200 ],
                 active => $bool->[$on]);
}), '', 'each answer is as the request left the user');

sub events {
    my ($id, $action) = @_;

    return scalar $s->sql("SELECT count(*) FROM svc.audit_event"
                          . " WHERE target_id = '$id' AND action = '$action'");
}

is(events($one, 'user.deactivated') - events($one, 'user.reactivated'),
   $s->sql("SELECT (status = 'deactivated')::int FROM svc.user_account"
           . " WHERE id = '$one'"), 'an event for each change, and no other');
cmp_ok(events($one, 'user.deactivated'), '>', 0, 'of which there were some');


# --- three users, in all ways -----------------------------------------------

my @users = map { user("all$_") } 1 .. 3;
my $ANY = [ 200, 404 ];         # 404: erased by another client

my @ways = (
    sub { wrong($acme->scim(PATCH => "/Users/$_[0]", active(0)), $ANY,
                active => $bool->[0]) },

    # a suspended user stays suspended
    sub { wrong($acme->scim(PATCH => "/Users/$_[0]", active(1)), $ANY) },

    sub { wrong($acme->scim(PUT => "/Users/$_[0]",
                            { userName => 'all@acme.test', title => $_[1],
                              active => $bool->[0] }), $ANY,
                title => $_[1], active => $bool->[0]) },
    sub { wrong($acme->scim(PUT => "/Users/$_[0]",
                            { userName => 'all@acme.test', title => $_[1] }),
                $ANY, title => $_[1]) },
    sub { wrong($acme->scim(DELETE => "/Users/$_[0]"), [ 204, 404 ]) },
    sub { wrong(ask(POST => "/$_[0]/suspend"), $ANY, status => 'suspended') },
    sub { wrong(ask(POST => "/$_[0]/reactivate"), $ANY, status => 'active') },
    sub { wrong(ask(PUT => "/$_[0]", { firstName => $_[1],
                                       email => "$_[1]\@acme.test" }), $ANY,
                firstName => $_[1], email => "$_[1]\@acme.test") },
    sub { $s->sql(session_of($_[0])); '' },
);

is(clients(sub {
    my ($n, $i) = @_;

    # a connection of its own to PostgreSQL
    $s->{client} = $s->connect_as('postgres') if $i == 1;

    return wrong(ask(DELETE => "/$users[0]"), [ 204 ]) if $n == 1 && $i == 50;
    return $ways[rand @ways]->($users[rand @users], "t$n-$i");
}), '', 'each answer is as the request left the user');

derived_ok($s, 'counts, lists, names and sessions are exact');
is(events($users[0], 'user.deleted'), 1, 'one was erased');


# --- a locked user ---------------------------------------------------------

my $held = user('held');
my $holder = $s->connect_as('postgres');

# Two requests wait for the transaction that suspends the user, and are answered
# afterwards.

sub held {
    my ($on) = @_;

    $holder->query('BEGIN');
    $holder->query("UPDATE svc.user_account SET status = 'suspended'"
                   . " WHERE id = '$held'");

    my @wait = map { $s->begin(PATCH => "/scim/v2/Users/$held",
                               [ @{ $acme->headers }, 'Content-Type',
                                 'application/scim+json' ], active($on)) } 1, 2;

    ok((wait_for { $s->waiting == 2 }), 'both wait');
    $holder->query('COMMIT');

    is(wrong($_->read, [ 200 ], active => $bool->[0]), '', 'and are answered')
        for @wait;

    return $s->sql("SELECT status FROM svc.user_account WHERE id = '$held'");
}

is(held(1), 'suspended', '"active": true does not revive who was suspended then');
is(events($held, 'user.reactivated'), 0, 'and nothing says so');
is(held(0), 'deactivated', '"active": false deactivates');
is(events($held, 'user.deactivated'), 1, 'once');
derived_ok($s, 'and all is exact');


is_deeply([ $s->pg->errors ], [], 'nothing in the log of PostgreSQL');

$s->done;
done_testing();
