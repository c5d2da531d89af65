#!/usr/bin/perl

# Plans that need no statistics: each statement that the modules prepare takes as
# long for a tenant of which PostgreSQL knows nothing yet as for one that it
# knows, with the plan made for the values and with the one made for all, be it
# for a request that was refused, or when the tables were empty.
#
# Environment: SVC_TEST_PLANS=1 shows the plans of those that do not.

use strict;
use warnings;

use File::Basename qw(dirname);
use List::Util qw(max);
use Test::More;

use lib dirname(__FILE__) . '/bench';

use SvcBench::Explain;
use SvcBench::Statements;
use SvcTest;
use SvcTest::Mail qw(nowhere);
use SvcTest::Plans;
use SvcTest::Process qw(slow wait_for);


my $TIMES = 10;                 # as much, at most
my %FLOOR = (ms => 1, pages => 100, removed => 100);    # less is as good

# A plan made while the tables were empty may read a tenant's rows twice, within
# its time: an index that begins with the tenant is as good as another one then.
my %EARLY = (%FLOOR, removed => 2 * $SvcTest::Plans::N / $TIMES);

my $TRIES = 5;                  # the best one counts
my $SLOW = 2000;                # ms; too much, whatever is known

my $s = SvcTest->new(workers => 1, svc => { svc_webhooks => 'on',
                                           svc_scim_targets => 'on',
                                           svc_sign_in => 'on', nowhere(),
                                           svc_organization_signup => 'on' },
                     locations => 'location /oauth { svc_oauth on; }',
                     pg_conf => $SvcTest::Plans::LOG_ALL)->start;

my $text = SvcTest::Plans::prepared($s);

# its own tasks would delete what is to be deleted here; no connection is cut while
# it prepares

wait_for {
    !$s->sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'svc_app'"
             . " AND state <> 'idle'");
} or die "some connections are never idle\n";

$s->nginx->quit;
$s->nginx->stop;


# What each statement takes at best with each kind of plan.  limits: of what is
# not tried again.

sub measure {
    my ($tenant, $limits, @kinds) = @_;

    @kinds = qw(generic custom) if !@kinds;

    my $values = $tenant->values;
    my %best;

    for my $name (grep { $values->{$_} } sort keys %$text) {
        for my $kind (@kinds) {
            my $best = \$best{"$name ($kind)"};
            my $enough = $limits ? $limits->{"$name ($kind)"} : \%FLOOR;

            for (1 .. $TRIES) {
                my $w = $tenant->execute($name, $text->{$name}, $kind,
                                         $values->{$name});

                $$best = $w if !$$best || $w->{ms} < $$best->{ms};
                last if $$best->{ms} <= $enough->{ms} || $$best->{ms} > $SLOW;
            }
        }
    }

    return \%best;
}


sub over {
    my ($work, $limits) = @_;

    return grep { $work->{$_} > $limits->{$_} } sort keys %FLOOR;
}


sub compare {
    my ($name, $found, $limits) = @_;

    my @bad = grep { over($found->{$_}, $limits->{$_}) } sort keys %$found;

    is(scalar @bad, 0, "$name: each as good as with statistics");

    for my $key (@bad) {
        my $w = $found->{$key};

        diag("$key: ", join ', ', map { "$_ $w->{$_} over $limits->{$key}{$_}" }
                                  over($w, $limits->{$key}));
        diag($w->{plan}) if $ENV{SVC_TEST_PLANS};
    }
}


my $sources = SvcBench::Statements::read_all($s->root);

is_deeply($text, { map { $_ => $sources->{$_}{text} } keys %$sources },
          'a connection has prepared the statements of all sources');
is_deeply([ SvcBench::Explain::strays($sources) ], [],
          'the benchmark has the values that they take');

my $first = SvcTest::Plans->new($s, 'first', 1, $text);

is_deeply([ grep { !$first->values->{$_} } sort keys %$text ], [],
          'each of them has values here');
is_deeply([ grep { !$text->{$_} } sort keys %{ $first->values } ], [],
          'and none of those that have is gone');

my $early = measure($first, undef, 'early');
my $unknown = measure($first, undef, qw(generic custom refused));

$s->sql('ANALYZE');

my $known = measure($first);
my %limits;


sub limit {
    my ($name, $kind, $of, $floor) = @_;

    my $w = $known->{"$name ($of)"} or return;
    my $limit = $limits{"$name ($kind)"} = {};

    $limit->{$_} = $TIMES * max($w->{$_}, $floor->{$_}) for keys %$floor;
    $limit->{ms} = slow($limit->{ms});
}


for my $name (keys %$text) {
    limit($name, $_, $_, \%FLOOR) for qw(generic custom);
    limit($name, 'refused', 'generic', \%FLOOR);
    limit($name, 'early', 'generic', \%EARLY);
}

my $refused = measure($first, \%limits, 'refused');

is_deeply([ grep { $known->{$_}{ms} > slow($SLOW) } sort keys %$known ], [],
          'none is slow when all is known');

note(map { sprintf "%-44s %8.2f ms %7d pages %7d removed\n", $_,
                   @{ $known->{$_} }{qw(ms pages removed)} }
     sort { $known->{$b}{ms} <=> $known->{$a}{ms} } keys %$known);

compare('planned while the tables were empty', $early, \%limits);
compare('no statistics at all', $unknown, \%limits);
compare('planned for a request that was refused', $refused, \%limits);

my $second = SvcTest::Plans->new($s, 'second', 2);

compare('statistics of others', measure($second, \%limits), \%limits);

$s->sql('ANALYZE');
compare('statistics of all', measure($second, \%limits), \%limits);


# Statistics by which all that lives for minutes has expired, as they are of most of
# it soon: what is in use is looked up by its key, and not by when it expires.

sub expired {
    my $db = $s->connect_as('postgres');
    my @indexes = @{ $db->query(<<'SQL') };
SELECT i.relname, x.indrelid::regclass FROM pg_index x
  JOIN pg_class i ON i.oid = x.indexrelid
  JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0]
 WHERE i.relnamespace = 'svc'::regnamespace AND a.attname = 'expires_at'
SQL

    $db->query('SET session_replication_role = replica');
    $db->query("UPDATE $_->[1] SET expires_at = expires_at - interval '300 days'")
        for @indexes;
    $db->query('ANALYZE');

    return map { $_->[0] } @indexes;
}


my $found = join '|', expired();
my $values = $first->values;
my $db = $first->connect;

$db->query('SET plan_cache_mode = force_generic_plan');

sub looks {
    my ($name) = @_;

    my $arguments = SvcTest::Planned::arguments($values->{$name});

    $db->query('DEALLOCATE ALL');
    $db->query("PREPARE s AS $text->{$name}");

    return map { $_->[0] =~ /\b($found)\b/ ? "$name: $1" : () }
           @{ $db->query("EXPLAIN EXECUTE s$arguments") };
}

like($found, qr/\bsession_expiry_idx\b/, 'indexes of when something expires');
is_deeply([ map { looks($_) } sort keys %$text ], [], 'what expires is found by its key');

is(join('', $s->pg->errors), '', 'no error in the database');

$s->done;
done_testing();
