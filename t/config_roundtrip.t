#!/usr/bin/perl

# Shows with random bundles that an export is what was applied, byte for byte, that
# applying an export changes nothing, that one edit is one change, and that another
# spelling is none.
#
# SVC_TEST_BUNDLES: how many bundles; SVC_TEST_SEED repeats a run.

use strict;
use warnings;

use List::Util qw(shuffle);
use Test::More;

use SvcTest;
use SvcTest::Bundle;
use SvcTest::Process qw(repeated slow);

my $N = repeated(SVC_TEST_BUNDLES => 300, 2_000);
my $SEED = $ENV{SVC_TEST_SEED} // int rand 2**31;
my $CHILDREN = 6;
my $NONE = '{"changes":[],"hasChanges":false}';

my $s = SvcTest->new(svc => {
    svc_postgres_pool => [ 'read connections=2 depth=16',
                           'write connections=4 depth=2',
                           'slow connections=1 depth=1' ] })->start;
my @workers = $s->workers;
my @tenants;

for my $i (1 .. $CHILDREN) {
    my $tenant = $s->tenant("t$i");
    my ($token, @groups) = SvcTest::Bundle::tenant($s, $tenant, 5);

    push @tenants, { token => $token, groups => \@groups };
}


# Runs one client, with its own connection and tenant. Dies with what is wrong.

sub client {
    my ($i) = @_;

    srand($SEED + $i);

    my $tenant = $tenants[$i];
    my $c;
    my $state = SvcTest::Bundle::fresh();
    my @groups = @{ $tenant->{groups} };

    my $ask = sub {
        my ($method, $path, $body) = @_;

        my $r = $c->request($method, "/v1/admin/config$path",
                            { Authorization => "Bearer $tenant->{token}" },
                            $body);

        die "$method $path: no answer: " . $c->error . "\n" if !$r;
        die "$method $path: $r->{status} $r->{body}\nof $body\n"
            if $r->{status} != 200;

        return $r->{body};
    };

    for my $n (1 .. $N / $CHILDREN) {

        # A connection may have a thousand requests.

        $c = $s->connection(timeout => slow(30)) if $n % 100 == 1;

        my $bundle = SvcTest::Bundle::random(groups => \@groups, partial => 1);
        my $text = rand() < 0.5 ? SvcTest::Bundle::canonical($bundle)
                                : random_order($bundle);

        $ask->(POST => '/apply?prune=true', $text);
        $state = { %$state, %$bundle };

        my $canonical = SvcTest::Bundle::canonical($state);
        my $export = $ask->(GET => '');

        die "exported:\n$export\napplied:\n$canonical\n"
            if $export ne $canonical;

        my $answer = $ask->(POST => '/apply?prune=true', $export);
        die "apply of an export: $answer\n$export\n" if $answer ne $NONE;

        $answer = $ask->(POST => '/plan', $export);
        die "plan of an export: $answer\n$export\n" if $answer ne $NONE;

        my $spelled = SvcTest::Bundle::spelled($state);

        $answer = $ask->(POST => '/plan', $spelled);
        die "plan of\n$spelled\n: $answer\n$export\n" if $answer ne $NONE;

        my ($edited, $change) = SvcTest::Bundle::edited($state, @groups);
        $answer = $ask->(POST => '/plan?detail=true',
                         SvcTest::Bundle::spelled($edited));
        my $expected = "{\"changes\":[$change],\"hasChanges\":true,"
                       . '"warnings":[';

        die "plan:\n$answer\nnot:\n$expected\n"
            if normal($answer, $expected) ne $expected;
    }
}


# Returns a bundle with its members in random order. The access policy is spelled
# canonically, since it is stored as it is spelled.

sub random_order {
    my ($bundle) = @_;

    return SvcTest::Bundle::object(version => 1, map {
        my $name = $_;

        $name => $name eq 'accessPolicy'
                 ? SvcTest::Bundle::section($name, $bundle->{$name})
                 : SvcTest::Bundle::spelled_section($name, $bundle->{$name})
    } keys %$bundle);
}


# An edited access policy is shown as it is spelled: its "after" is not compared.

sub normal {
    my ($answer, $expected) = @_;

    if ($answer =~ /^\{"changes":\[\{"resource":"accessPolicy"/) {
        my ($after) = $expected =~ /("after":.*),"paths"/s;

        $answer =~ s/"after":.*?\},"paths"/$after,"paths"/s;
    }

    return substr $answer, 0, length $expected;
}


my @children;

for my $i (0 .. $CHILDREN - 1) {
    pipe my $out, my $in or die "pipe: $!\n";

    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        my $ok = eval { client($i); 1 };

        print $in $ok ? "ok\n" : "$@";
        close $in;
        require POSIX;
        POSIX::_exit(0);
    }

    close $in;
    push @children, [ $pid, $out ];
}

for my $i (0 .. $#children) {
    my ($pid, $out) = @{ $children[$i] };
    my $said = do { local $/; <$out> };

    waitpid $pid, 0;

    is($said, "ok\n", "client $i: all of its bundles (seed $SEED)");
}

# Each change moves the revision once, and is told once.

my ($n) = map { $_->[0] } $s->sql(<<'EOT');
SELECT count(*) FROM (
    SELECT g.tenant_id FROM svc.governance g JOIN svc.audit_event e
        ON e.tenant_id = g.tenant_id AND e.action = 'config.applied'
    GROUP BY g.tenant_id, g.revision
    HAVING count(*) = g.revision - 1
       AND max((e.details ->> 'revision')::int8) = g.revision) t
EOT
is($n, $CHILDREN, 'the revision and the audit log agree');

is($s->sql('SELECT max(n) FROM (SELECT count(*) AS n'
           . ' FROM svc.access_policy_version GROUP BY tenant_id) t'), 50,
   'fifty versions of each access policy are kept') if $N >= 1000;

is($s->sql('SELECT count(*) FROM svc.governance g JOIN'
           . ' svc.access_policy_version v ON v.tenant_id = g.tenant_id'
           . ' AND v.id = g.access_version_id AND v.number = g.access_number'
           . ' WHERE v.snapshot::text = g.access_policy::text'), $CHILDREN,
   'the latest one is the current one');

$s->unharmed(\@workers, 'bundles');
$s->done;
done_testing();
