#!/usr/bin/perl

# Plans that need no statistics: each statement that the modules prepare does as
# little for a tenant that PostgreSQL has no statistics of as for one that it
# has, with custom and generic plans, also with those made for a request that
# was refused, or when the tables were empty.
#
# Environment: SVC_TEST_PLANS=1 shows the plans of the statements that do more.

use strict;
use warnings;

use File::Basename qw(dirname);
use List::Util qw(max min uniq);
use Test::More;

use lib dirname(__FILE__) . '/bench';

use SvcBench::Explain;
use SvcBench::Load;
use SvcBench::Statements;
use SvcTest;
use SvcTest::Mail qw(nowhere);
use SvcTest::Plans;
use SvcTest::Process qw(slurp wait_for);


my $TIMES = 10;                 # at most this times the work with statistics
my $MANY = 3;                   # the same, above a tenant's number of rows

# Below these bounds a figure is good in any case: a node may read a tenant's
# rows once, but not once for each of other rows.  The bounds grow with the
# number of rows, so a scan of all rows to find one always exceeds them.
my $N = $SvcTest::Plans::N;
my $TWICE = 2 * $N / $TIMES;
my %FLOOR = (rows => $TWICE, pages => $N / 100, removed => $N / 100);

# A plan made while the tables were empty may read a tenant's rows twice: then
# every index that begins with the tenant looks equally good.
my %EARLY = (%FLOOR, removed => $TWICE);

# Only these statements read half a table in vain even with statistics: no key
# finds what they need, or they need most of it.
my %VAIN = map { $_ => 1 } qw(
    admin_agents_list admin_anomalies_list admin_anomalies_total
    admin_applications_list admin_applications_total admin_bundle
    admin_group_apps_change admin_groups_list admin_groups_total
    admin_names_groups
    admin_identities_list admin_invitations_expire admin_invitations_list
    admin_invitations_total
    admin_ip_blocks_create admin_ip_blocks_expire admin_ip_blocks_list
    admin_ip_blocks_total admin_oauth_settings_put admin_security_stats
    admin_tokens_create admin_tokens_list admin_tokens_total
    admin_user_delete idempotency_claim push_match push_users_total
    webhook_outbox_look webhook_record webhook_trim
);

my $s = SvcTest->new(workers => 1, svc => { svc_webhooks => 'on',
                                           svc_scim_targets => 'on',
                                           svc_sign_in => 'on', nowhere(),
                                           svc_organization_signup => 'on',
                                           svc_federation => 'on' },
                     locations => 'location /oauth { svc_oauth on; }',
                     pg_conf => "jit = off\nshared_buffers = 256MB\n")->start;

my $sources = SvcBench::Statements::read_all($s->root);
my $text = { map { $_ => $sources->{$_}{text} } keys %$sources };

# the server's own tasks would delete what is to be deleted here

wait_for {
    !$s->sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'svc_app'"
             . " AND state <> 'idle'");
} or die "some connections are never idle\n";

$s->nginx->quit;
$s->nginx->stop;


# Measures each statement with each kind of plan.

sub measure {
    my ($tenant, @kinds) = @_;

    @kinds = qw(generic custom) if !@kinds;

    my $values = $tenant->values;
    my %work;

    for my $name (grep { $values->{$_} } sort keys %$text) {
        $work{"$name ($_)"} = $tenant->execute($name, $text->{$name}, $_,
                                               $values->{$name})
            for @kinds;
    }

    return \%work;
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


my $modules = $s->nginx->modules;
my ($room) = slurp($s->root . '/ngx_svc_common/pg/ngx_svc_pg_prepared.h')
             =~ /NGX_SVC_PG_PREPARED +(\d+)/;

is(eval { SvcBench::Statements::check_modules($sources, $modules) if defined $modules; 1 },
   1, 'the modules hold the statements of all sources') or diag($@);
cmp_ok(2 * keys %$text, '<', $room, 'for which a session has room');
is_deeply([ SvcBench::Explain::strays($sources) ], [],
          'the benchmark has the values that they take');
is_deeply([ SvcBench::Load::strays($s->root, $sources) ], [],
          'and so have the scripts that it gives to pgbench');

SvcTest::Plans::widen($s);

my $first = SvcTest::Plans->new($s, 'first', 1, $text);

my $values = $first->values;

is_deeply([ grep { !$values->{$_} } sort keys %$text ], [],
          'each of them has values here');
is_deeply([ grep { !$text->{$_} } sort keys %$values ], [],
          'and none of those that have is gone');

my $early = measure($first, 'early');
my $unknown = measure($first, qw(generic custom refused));

$s->sql('ANALYZE');

my $known = measure($first, qw(generic custom refused));
my %limits;


sub limit {
    my ($name, $kind, $of, $floor) = @_;

    my $w = $known->{"$name ($of)"} or return;
    my $limit = $limits{"$name ($kind)"} = {};

    $limit->{$_} = $TIMES * max($w->{$_}, $floor->{$_}) for keys %$floor;
    $limit->{$_} = min($limit->{$_}, $MANY * max($w->{$_}, $N)) for qw(rows removed);
}


for my $name (keys %$text) {
    limit($name, $_, $_, \%FLOOR) for qw(generic custom);
    limit($name, 'refused', 'generic', \%FLOOR);
    limit($name, 'early', 'generic', \%EARLY);
}

is_deeply([ grep { $known->{$_}{plan} eq 'canceled' } sort keys %$known ], [],
          'each comes to its end when all is known');
is_deeply([ grep { $known->{$_}{removed} > $N / 2 && !$VAIN{s/ .*//r} }
            sort keys %$known ], [],
          'and reads few rows in vain');

note(map { sprintf "%-44s %7d rows %7d pages %7d removed\n", $_,
                   @{ $known->{$_} }{qw(rows pages removed)} }
     sort { $known->{$b}{rows} <=> $known->{$a}{rows} } keys %$known);

compare('planned while the tables were empty', $early, \%limits);
compare('no statistics at all', $unknown, \%limits);
compare('planned for a request that was refused',
        { map { $_ => $known->{$_} } grep { /refused/ } keys %$known }, \%limits);

my $second = SvcTest::Plans->new($s, 'second', 2);

compare('statistics of others', measure($second), \%limits);

$s->sql('ANALYZE');
compare('statistics of all', measure($second), \%limits);


# Makes statistics by which every short-lived row has expired, as most have
# soon.  A row in use must then still be found by its key, and not by its
# expiry.

sub expired {
    my $db = $s->connect_as('postgres');
    my @indexes = @{ $db->query(<<'SQL') };
SELECT i.relname, x.indrelid::regclass FROM pg_index x
  JOIN pg_class i ON i.oid = x.indexrelid
  JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0]
 WHERE i.relnamespace = 'svc'::regnamespace AND a.attname = 'expires_at'
SQL

    $db->query('SET session_replication_role = replica');

    for my $table (uniq map { $_->[1] } @indexes) {
        $db->query("UPDATE $table SET expires_at = expires_at - interval '300 days'");
        $db->query("ANALYZE $table (expires_at)");
    }

    return map { $_->[0] } @indexes;
}


my $found = join '|', expired();
my $db = $first->connect;

$values = $first->values;

sub looks {
    my ($name) = @_;

    SvcTest::Planned::prepare($db, $text->{$name}, 'generic');

    return map { /\b($found)\b/ ? "$name: $1" : () }
           split /^/, SvcTest::Planned::shape($db, $values->{$name});
}

like($found, qr/\bsession_expiry_idx\b/, 'indexes of when something expires');
is_deeply([ map { looks($_) } sort keys %$text ], [], 'what expires is found by its key');


# The functions that a helper's tasks call all the time disable some kinds of
# plans, so that they seem expensive to the planner, and JIT would compile them:
# that was most of the work of an idle instance.

my @calls = sort { $a cmp $b } uniq map { /\A(?:SELECT|SELECT \* FROM) svc\.(\w+)\(/ }
            values %$text;

cmp_ok(scalar @calls, '>', 5, 'statements that are calls');
is_deeply([ $s->sql("SELECT proname FROM pg_proc WHERE pronamespace = 'svc'::regnamespace"
                    . " AND proconfig @> '{enable_seqscan=off}' AND NOT proconfig @> '{jit=off}'"
                    . " AND proname = ANY ('{" . join(',', @calls) . "}') ORDER BY 1") ],
          [], 'none of them is compiled that avoids scans');

is(join('', $s->pg->errors), '', 'no error in the database');

$s->done;
done_testing();
