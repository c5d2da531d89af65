#!/usr/bin/perl

# What lists read in svc_scim_mode rfc, in a tenant most of whose users are
# deleted: statements that are generated for a filter or an order, and prepared
# ones, planned with statistics and without.
#
# Environment: SVC_TEST_PLANS=1 shows the plans of the statements that read too
# much.

use strict;
use warnings;

use File::Basename qw(dirname);
use List::Util qw(max);
use Test::More;

use lib dirname(__FILE__) . '/bench';

use SvcBench::Statements;
use SvcTest;
use SvcTest::Process qw(slurp wait_for);
use SvcTest::Scim;


my $LIVE = 2_000;
my $INACTIVE = 400;             # the newest of $LIVE
my $DELETED = 18_000;           # older than all others

my $s = SvcTest->new(workers => 1,
                     pg_conf => "log_min_duration_statement = 0\n");
$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->start;

my $acme = $s->tenant('acme');


# --- what is written for a request -------------------------------------------------------

# The bounds: pages of 8 kB; removed, rows that are read in vain; rows, of one
# node of the plan.  By a key one or two users are read, by a prefix or a time
# those that match it, whatever else is compared, and otherwise no more than
# all.

my %KEY = (pages => 60, removed => 10);
my %FEW = (pages => 1_500, removed => 200);
my %PAGE = (pages => 1_200, removed => 10, rows => 1_200);
my %ALL = (pages => 40_000, removed => $LIVE + $DELETED);

my $id = sprintf '01a00000-0000-7000-8000-%012d', 100;

my @lists = (
    [ { filter => 'userName eq "USER100@few.test" and active eq true' }, \%KEY ],
    [ { filter => 'emails[value eq "user100@few.test"].value pr and title pr' }, \%KEY ],
    [ { filter => 'externalId eq "ext-100" or userName eq "user7@few.test"' }, \%KEY ],
    [ { filter => "id eq \"$id\" and not (title pr)" }, \%KEY ],
    [ { filter => 'userName eq "user9@few.test" and title co "T"',
        sortBy => 'meta.lastModified' }, \%KEY ],
    [ { filter => 'userName sw "user100"' }, \%FEW ],
    [ { filter => 'emails sw "user100" and displayName pr' }, \%FEW ],
    [ { filter => 'externalId sw "ext-100" and active eq true' }, \%FEW ],
    [ { filter => 'meta.created gt "2026-02-01T00:19:00Z"' }, \%FEW ],
    [ { filter => 'meta.created lt "2026-02-01T00:01:40Z" and title pr' }, \%FEW ],
    [ { filter => 'title co "t"' }, \%ALL ],
    [ { filter => 'displayName eq "User 7"' }, \%ALL ],
    [ { filter => 'not (userName eq "user7@few.test")' }, \%ALL ],
    [ { filter => 'active eq false or title pr' }, \%ALL ],
    [ { filter => 'userName ge "user5"' }, \%ALL ],
    [ { filter => 'meta.lastModified ge "2026-02-01T00:00:00Z"' }, \%ALL ],
    [ { sortBy => 'meta.created', sortOrder => 'descending' }, \%PAGE ],
    [ { sortBy => 'meta.lastModified' }, \%ALL ],
);

sub name { return join ' ', map { "$_=$_[0]{$_}" } sort keys %{ $_[0] } }

for my $list (@lists) {
    my ($query) = @$list;

    scim_ok($acme->scim(POST => '/.search',
                        { schemas => [ 'urn:ietf:params:scim:api:messages:2.0:SearchRequest' ],
                          %$query }), 200, name($query));
}

# Returns these statements from PostgreSQL's log: the text, and the values from
# the line after it.

sub written {
    my @found;

    for (split /^/, slurp($s->pg->{log}) // '') {
        if (/ svc_app LOG:  duration: [\d.]+ ms  execute <unnamed>: (.* LIMIT \(SELECT \$2::int4\).*)\n/) {
            push @found, { text => $1 };

        } elsif (@found && !$found[-1]{values} && / DETAIL:  [Pp]arameters: (.*)\n/) {
            $found[-1]{values} = [ map { s/''/'/gr } $1 =~ /\$\d+ = '((?:[^']|'')*)'/g ];
        }
    }

    return grep { $_->{values} } @found;
}

my @written;

wait_for { (@written = written()) >= @lists } or die "some were not written\n";
is(scalar @written, scalar @lists, 'a statement for each');
$s->sql('ALTER SYSTEM SET log_min_duration_statement = -1');
$s->sql('SELECT pg_reload_conf()');


# --- a tenant ----------------------------------------------------------------------------

my $few = Few->new($s);
my $statements = SvcBench::Statements::read_all($s->root);
my @prepared = (
    [ scim_list => [ 200 ], \%PAGE ],
    [ scim_page => [ 0, 200 ], \%PAGE ],
    [ scim_page => [ 1000, 200 ], \%PAGE ],
    [ scim_page_active => [ 0, 200 ], \%PAGE ],
    [ scim_page_inactive => [ 0, 200 ], \%PAGE ],
    [ scim_page_inactive => [ 100, 200 ], \%PAGE ],
    [ scim_key_user_name => [ 'user100@few.test' ], \%KEY ],
    [ scim_key_external_id => [ 'ext-100' ], \%KEY ],
    [ scim_key_id => [ $id ], \%KEY ],
    [ scim_rfc_get => [ $id ], \%KEY ],
);

sub reads {
    my ($name, $text, $kind, $values, $limit) = @_;

    my $work = $few->execute('', $text, $kind, $values);

    $work->{rows} = max($work->{plan} =~ /\bactual rows=(\d+)/g);

    my @over = grep { $work->{$_} > $limit->{$_} } sort keys %$limit;

    is(join(', ', map { "$work->{$_} $_" } @over), '', $name);
    diag($work->{plan}) if @over && $ENV{SVC_TEST_PLANS};
}

for my $known ('without statistics', 'with statistics') {
    $s->sql('VACUUM ANALYZE') if $known =~ /^with /;

    for my $i (0 .. $#lists) {
        my ($query, $limit) = @{ $lists[$i] };

        reads("$known: " . name($query), $written[$i]{text}, 'custom', $written[$i]{values},
              $limit);
    }

    for (@prepared) {
        my ($name, $values, $limit) = @$_;

        reads("$known: $name @$values ($_)", $statements->{$name}{text}, $_, $values, $limit)
            for qw(custom generic);
    }
}

$s->done;
done_testing();


package Few;

use parent -norequire, 'SvcTest::Planned';

BEGIN { require SvcTest::Planned }

sub new {
    my ($class, $s) = @_;

    my $self = bless { s => $s }, $class;
    my $n = $LIVE + $DELETED;

    $self->{id} = $s->sql("INSERT INTO svc.tenant (slug, name) VALUES ('few', 'Few') RETURNING id");

    my $db = $s->connect_as('postgres');

    # users 1 .. $LIVE are the new ones, a second apart

    $db->query('SET session_replication_role = replica');
    $db->query(<<"EOT");
INSERT INTO svc.user_account (tenant_id, id, user_name, external_id, created_at, title,
                              display_name, status, scim_deleted)
SELECT '$self->{id}', ('01a00000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid,
       'user' || i || '\@few.test', 'ext-' || i,
       CASE WHEN i <= $LIVE THEN '2026-02-01'::timestamptz + i * interval '1 second'
            ELSE '2026-01-01'::timestamptz + i * interval '1 second' END,
       'T', 'User ' || i, CASE WHEN i > $LIVE THEN 'deactivated'
                               WHEN i > $LIVE - $INACTIVE THEN 'suspended'
                               ELSE 'active' END, i > $LIVE
FROM generate_series(1, $n) i
EOT
    $db->query('SELECT svc.user_recount()');

    return $self;
}

sub owner { return $id }
