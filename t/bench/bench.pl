#!/usr/bin/perl

# Measures how fast the modules are, compared with the same PostgreSQL and the
# same nginx without them.
#
#     perl t/bench/bench.pl
#
# Each round measures every row and its reference one after the other, so that
# the load of the machine affects both; the table has the medians of the rounds.
#  A row that misses its bound says MISS.  A row whose answers were wrong says
# FAIL; one that could not be measured is named at the end.  For FAIL and for
# these the exit status is 1.
#
# With --smoke everything is done for a moment, on few of everything, to see
# that it can be done; no figure is judged.
#
# Environment: ROUNDS (3), SECONDS of one measurement (4), USERS (100000), BIG (1000000)
# users in the end, READ_RATE (10000) reads a second beside the writes, WRITE_RATE
# (5000), LOGINS (400) of known and of unknown addresses in a round; PASSKEYS (8000),
# the most sign-ins with a passkey in a round; FLOWS (8000), the most through OpenID
# Connect; CODES (50000), the most codes that are redeemed in one; INTROSPECT_RATE
# (10000), half of what there can be; TOKENS (10000000)
# stored and TENANTS (10000) in the end; TARGETS (10000) of outbound SCIM; CROWD (10000)
# clients that are idle; IDLE (30) seconds in which nothing happens; ONLY, some
# measurements by name (see %measure, and get_small and get_big, login_small and
# login_big, outbound_users and outbound_targets), like "get get_pipeline", or "signin",
# "oauth", "idle" or "outbound", without those, or "outbound_sizes"; BENCH_READ,
# BENCH_WRITE, BENCH_SLOW, parameters of svc_postgres_pool, like "connections=2
# depth=16"; SVC_TEST_NGINX and SVC_TEST_MODULES as for the tests.

use strict;
use warnings;

use Cwd ();
use File::Basename qw(dirname);

my $ROOT;

BEGIN {
    $ROOT = Cwd::realpath(dirname(__FILE__) . '/../..');
    unshift @INC, "$ROOT/t/bench", "$ROOT/t/lib";
}

use SvcBench::Access;
use SvcBench::Admin;
use SvcBench::Config;
use SvcBench::Course qw(smoke size);
use SvcBench::Directory;
use SvcBench::Explain;
use SvcBench::Federation;
use SvcBench::Idle;
use SvcBench::Load;
use SvcBench::Login;
use SvcBench::OAuth;
use SvcBench::Outbound;
use SvcBench::OutboundSize;
use SvcBench::Passkeys;
use SvcBench::Report qw(say_step);
use SvcBench::Scim;
use SvcBench::SignIns;
use SvcBench::Statements;
use SvcBench::System;
use SvcBench::Webhook;


# the size of a benchmark, and of a smoke test

my $ROUNDS = size('ROUNDS', 3, 1);
my $SECONDS = size('SECONDS', 4, 0.3);
my $USERS = size('USERS', 100_000, 1_000);
my $BIG = size('BIG', 1_000_000, 2_000);
my $SMALL = 1_000;                      # users who sign in, as in lua/login.lua
my $READ_RATE = size('READ_RATE', 10_000, 500);
my $WRITE_RATE = size('WRITE_RATE', 5_000, 200);
my $LOGINS = size('LOGINS', 400, 5);
my $PASSKEYS = size('PASSKEYS', 8_000, 200);
my $PEOPLE = size('PEOPLE', 10_000, 200);
my $FLOWS = size('FLOWS', 8_000, 200);
my $CODES = size('CODES', 50_000, 1_000);
my $TOKENS = size('TOKENS', 10_000_000, 1_000);
my $TENANTS = size('TENANTS', 10_000, 20);
my $TARGETS = size('TARGETS', 10_000, 20);
my $INTROSPECT_RATE = size('INTROSPECT_RATE', 10_000, 500);
my $CROWD = size('CROWD', 10_000, 100);
my $IDLE = size('IDLE', 30, 0.5);

# in a smoke test: each row opens new connections, and ends before many are of
# use

my %FEW = (read => 'connections=1 depth=16', write => 'connections=1 depth=8',
           slow => 'connections=1 depth=1');

my ($sys, $statements, $size, $course);


# --- what is measured -------------------------------------------------------

# name => code that measures for so many seconds.  All but psql return a hash
# with rate, in requests a second, or p99, in microseconds.

my %measure = (
    get => sub { get(@_) },
    static => sub { wrk('get', @_, size => $size->{get},
                        prefix => '/static') },
    filter => sub { wrk('filter', @_, size => $size->{filter}) },

    get_transaction => sub { pgbench('get_transaction', 32, @_) },
    get_pipeline => sub { pgbench('get_pipeline', 8, @_) },

    list => sub { wrk('list', @_, connections => 1, threads => 1,
                      size => $size->{list}) },
    list_psql => \&list_psql,

    create => sub { SvcBench::Scim::create($sys, @_) },
    create_pgbench => \&create_pgbench,

    reads_paced => sub { reads(@_, paced()) },
    reads_paced_mixed => sub { reads_beside_writes(@_, paced()) },
    reads_full => sub { reads(@_, connections => 64) },
    reads_full_mixed => sub { reads_beside_writes(@_, connections => 64) },

    branding => sub { plain(SvcBench::Admin::branding(), @_) },
    branding_static => sub { plain($sys->{same}, @_) },
    options => sub { plain(SvcBench::Admin::options(), @_) },
    logo => sub { plain(SvcBench::Admin::logo(), @_) },
    logo_static => sub { plain('/same/logo', @_) },
    users => sub { wrk('users', @_, connections => 32) },
    users_pgbench => sub { pgbench('users', 8, @_) },
    put_user => sub { SvcBench::Admin::put($sys, @_) },
    put_user_pgbench => \&put_user_pgbench,
    evaluate => sub { SvcBench::Access::evaluate($ROOT, 'usual', @_) },
    evaluate_worst => sub { SvcBench::Access::evaluate($ROOT, 'worst', @_) },
    config_plan => sub { SvcBench::Config::plan($sys, @_) },
    config_selects => sub { SvcBench::Config::selects($sys, @_, $statements) },
    config_apply => sub { SvcBench::Config::apply($sys, @_) },
    config_apply_pgbench => sub {
        SvcBench::Config::apply_pgbench($sys, @_, $statements)
    },
    stream => sub { SvcBench::Admin::stream($sys, @_) },
    webhook => sub { SvcBench::Webhook::deliveries($sys, @_) },
    webhook_wrk => sub { SvcBench::Webhook::reference($sys, @_) },
    webhook_tls => sub { SvcBench::Webhook::connections($sys, @_) },
    webhook_delay => sub { SvcBench::Webhook::delay($sys, @_) },
    webhook_post => sub { SvcBench::Webhook::posts($sys, @_, 1) },
    webhook_post_none => sub { SvcBench::Webhook::posts($sys, @_, 0) },
    outbox_on => sub { SvcBench::Webhook::outbox($sys, @_, 1) },
    outbox_off => sub { SvcBench::Webhook::outbox($sys, @_, 0) },
    webhook_beside => sub { SvcBench::Webhook::beside($sys, @_) },
    webhook_drip => sub { SvcBench::Webhook::drip($sys, @_) },
    webhook_hang => sub { SvcBench::Webhook::hang($sys, @_) },
    export => sub { SvcBench::Admin::export($sys, @_) },
    export_copy => sub { SvcBench::Admin::copy($sys, @_, $statements) },
    simulate => sub { SvcBench::SignIns::simulate($sys, @_) },
    simulate_psql => sub { SvcBench::SignIns::select_only($sys, @_,
                                                          $statements) },
    oauth_token_opaque => sub { SvcBench::OAuth::tokens($sys, @_, 'opaque') },
    oauth_token_jwt => sub { SvcBench::OAuth::tokens($sys, @_, 'jwt') },
    oauth_token_rs256 => sub { SvcBench::OAuth::tokens($sys, @_, 'rs256') },
    oauth_token_key => sub { SvcBench::OAuth::by_key($sys, @_) },
    oauth_token_pgbench => sub {
        SvcBench::OAuth::pgbench($sys, @_, $statements, 'oauth_token')
    },
    oauth_introspect_opaque => sub {
        SvcBench::OAuth::introspections($sys, @_, 'opaque')
    },
    oauth_introspect_jwt => sub { SvcBench::OAuth::introspections($sys, @_, 'jwt') },
    oauth_introspect_unseen => sub { SvcBench::OAuth::unseen($sys, @_) },
    oauth_introspect_pgbench => sub {
        SvcBench::OAuth::pgbench($sys, @_, $statements, 'oauth_introspect')
    },
    oauth_introspect_p99 => sub {
        SvcBench::OAuth::paced($sys, @_, $INTROSPECT_RATE)
    },
    oauth_token_no_sweep => sub { SvcBench::OAuth::without_sweep($sys, @_) },
    oauth_exchange => sub { SvcBench::OAuth::exchanges($sys, @_) },
    oauth_refresh => sub { SvcBench::OAuth::refreshes($sys, @_) },
    (map {
        my $client = $_;

        ("oauth_$client" => sub {
            SvcBench::OAuth::refreshes($sys, @_, $client, qw(openid profile email))
        })
    } qw(id_token id_token_claims)),
    oauth_code => sub {
        SvcBench::OAuth::codes($sys, @_, warm($CODES, $CODES / 10))
    },
    oauth_token_tenants => sub { SvcBench::OAuth::tenants($sys, @_) },
    oidc_jwt => sub { SvcBench::OAuth::peer($sys, 'memory')->jwts(@_) },
    oidc_rs256 => sub { SvcBench::OAuth::peer($sys, 'memory')->jwts(@_, '/rs256') },
    oidc_token_stored => sub {
        SvcBench::OAuth::peer($sys, 'stored')->tokens(@_)
    },
    oidc_introspect_stored => sub {
        SvcBench::OAuth::peer($sys, 'stored')->introspections(@_)
    },
    (map {
        my ($name, $path) = @$_;

        ("outbound_push$name" => sub { SvcBench::Outbound::pushes($sys, @_, $path) },
         "outbound_curl$name" => sub { SvcBench::Outbound::parallel($sys, @_, $path) })
    } [ '', $SvcBench::Outbound::OURS ], [ '_far', $SvcBench::Outbound::FAR ],
      [ '_at_once', $SvcBench::Outbound::AT_ONCE ]),
    outbound_push_plain => sub {
        SvcBench::Outbound::pushes($sys, @_, $SvcBench::Outbound::PLAIN)
    },
    outbound_single => sub {
        SvcBench::Outbound::one_by_one($sys, @_, $SvcBench::Outbound::OURS)
    },
    outbound_single_far => sub {
        SvcBench::Outbound::one_by_one($sys, @_, $SvcBench::Outbound::FAR)
    },
    outbound_delay => sub { SvcBench::Outbound::delay($sys, @_) },
    outbound_post_off => sub { SvcBench::Outbound::posts($sys, @_) },
    outbound_post_none => sub { SvcBench::Outbound::posts($sys, @_, 0) },
    outbound_post_one => sub { SvcBench::Outbound::posts($sys, @_, 1) },
    login => sub { SvcBench::Login::logins($sys, @_) },
    passkey => sub {
        SvcBench::Passkeys::sign_ins($sys, @_, warm($PASSKEYS, $PASSKEYS / 4))
    },
    federation => sub {
        SvcBench::Federation::sign_ins($sys, @_, warm($FLOWS, $FLOWS / 4))
    },
    discover => sub { SvcBench::Federation::discover($sys, @_) },
    directory => sub { SvcBench::Directory::sign_ins($sys, @_) },
    directory_import => sub { SvcBench::Directory::imports($sys, $PEOPLE) },
    directory_whoami => sub { SvcBench::Directory::whoami($sys, @_) },
    groups => sub { SvcBench::Admin::groups($sys, @_) },
    login_hashes => sub { SvcBench::Login::hashes($ROOT, @_) },
    token_get => sub { SvcBench::Login::token_get($sys, @_) },
    token_get_flood => sub { SvcBench::Login::gets_beside($sys, @_) },
    flood_memory => sub { SvcBench::Login::memory($sys, @_) },
    session_get => sub { SvcBench::Login::session_get($sys, @_) },
    token_write => sub { SvcBench::Login::token_write($sys, @_) },
    session_write => sub { SvcBench::Login::session_write($sys, @_) },
    login_limited => sub { SvcBench::Login::limited($sys, @_) },
    login_time => sub {
        SvcBench::Login::told_by_time($sys, warm($LOGINS, 5))
    },
    idle => sub { SvcBench::Idle::instance($sys, warm($IDLE, 1)) },
    idle_crowd => sub {
        SvcBench::Idle::crowd($sys, warm($IDLE, 1), warm($CROWD, $CROWD / 10),
                              sub { get($SECONDS) })
    },
    get_alone => sub { get(@_) },
    get_crowd => sub {
        my ($seconds) = @_;

        SvcBench::Idle::beside($sys, warm($CROWD, $CROWD / 10),
                               sub { get($seconds) });
    },
);

my @SIGNIN = qw(login directory directory_whoami directory_import passkey federation discover
                groups login_hashes token_get token_get_flood session_get login_limited
                token_write session_write flood_memory login_time);

my @OAUTH = qw(oauth_token_opaque oauth_token_no_sweep oauth_token_jwt oauth_token_rs256
               oauth_token_key oauth_token_pgbench
               oauth_introspect_opaque oauth_introspect_jwt oauth_introspect_unseen
               oauth_introspect_pgbench oauth_introspect_p99 oauth_exchange
               oauth_refresh oauth_id_token oauth_id_token_claims oauth_code oidc_jwt oidc_rs256
               oidc_token_stored oidc_introspect_stored);

my @OUTBOX = qw(outbox_on outbox_off);

my @OUTBOUND = qw(outbound_post_off outbound_post_none outbound_post_one outbound_push
                  outbound_curl outbound_single outbound_push_far outbound_curl_far
                  outbound_single_far outbound_push_plain outbound_push_at_once
                  outbound_curl_at_once outbound_delay);

my @IDLE = qw(idle idle_crowd get_alone get_crowd);

my %GROUPS = (signin => \@SIGNIN, oauth => [ create => @OAUTH ],
              outbox => \@OUTBOX, idle => \@IDLE,
              outbound => \@OUTBOUND,
              outbound_sizes => [ qw(outbound_users outbound_targets) ]);

my %only = map { $_ => 1 }
           map { $GROUPS{$_} ? @{ $GROUPS{$_} } : $_ }
           split /[ ,]+/, $ENV{ONLY} // '';

my @ORDER = grep { !%only || $only{$_} }
            (qw(get get_transaction get_pipeline static filter list list_psql
               create create_pgbench reads_paced reads_paced_mixed
               reads_full reads_full_mixed branding branding_static options logo
               logo_static users users_pgbench put_user put_user_pgbench
               evaluate evaluate_worst config_plan config_selects
               config_apply config_apply_pgbench stream webhook webhook_wrk
               webhook_tls webhook_delay webhook_beside webhook_drip
               webhook_hang webhook_post webhook_post_none), @OUTBOUND, @OAUTH, @SIGNIN);
my @STORED = grep { !%only || $only{$_} }
             qw(export export_copy simulate simulate_psql);


sub wrk {
    my ($script, $seconds, %opt) = @_;

    return SvcBench::Load::wrk($sys, $script, connections => 64,
                               seconds => $seconds, %opt);
}


sub pgbench {
    my ($script, $clients, $seconds) = @_;

    return SvcBench::Load::pgbench($sys, $statements, $script,
                                   clients => $clients, seconds => $seconds);
}


sub get {
    my ($seconds) = @_;

    return wrk('get', $seconds, size => $size->{get});
}


# Returns the first of two, or, while warming up, the second one.

sub warm {
    my ($whole, $part) = @_;

    return $course->warming ? $part : $whole;
}


sub plain {
    my ($path, $seconds) = @_;

    return wrk('plain', $seconds, path => $path,
               size => $sys->plain($path)->{size});
}


sub put_user_pgbench {
    my ($seconds) = @_;

    my $n = pgbench('put_user', 32, $seconds);

    die "$n->{requests} users were changed, "
        . $sys->events . " events are stored\n"
        if $sys->events < 0.99 * $n->{requests};

    $sys->reset;

    return $n;
}


sub paced {
    return (connections => 32, rate => $READ_RATE);
}


sub list_psql {
    my ($seconds) = @_;

    my $query = $statements->{scim_list}{text} =~ s/\$1/200/r;

    return SvcBench::Load::psql(
        $sys, 0, "SELECT row_to_json(r) FROM ($query) r", 250 * $seconds);
}


sub create_pgbench {
    my ($seconds) = @_;

    $sys->reset;

    my $n = pgbench('create', 32, $seconds);

    die "$n->{requests} users were created, not that many are stored\n"
        if $sys->created != $n->{requests};

    $sys->reset;

    return $n;
}


sub reads {
    my ($seconds, %opt) = @_;

    return SvcBench::Scim::reads($sys, $seconds, size => $size->{get}, %opt);
}


sub reads_beside_writes {
    my ($seconds, %opt) = @_;

    return SvcBench::Scim::reads_beside_writes(
        $sys, $seconds, $WRITE_RATE, size => $size->{get}, %opt);
}


# --- the course of it -------------------------------------------------------

sub prepare {
    $statements = SvcBench::Statements::read_all($ROOT);

    my %pools = map { $_ => $ENV{'BENCH_' . uc} // (smoke() && $FEW{$_}) } keys %FEW;
    my @pools = map { "$_ $pools{$_}" } grep { $pools{$_} } sort keys %pools;

    say_step('starting PostgreSQL, Redis and nginx');
    $sys = SvcBench::System->new(
        pools => @pools ? \@pools : undef, quick => smoke(),
        svc => { SvcBench::Login::directives(), SvcBench::Federation::directives() },
        locations => SvcBench::OAuth::location() . SvcBench::Federation::location(),
        wanted(@IDLE) ? SvcBench::Idle::options($CROWD) : ());
    $course = SvcBench::Course->new(
        measure => \%measure, rounds => $ROUNDS, seconds => $SECONDS,
        mend => sub { $sys->mend }, complaints => sub { $sys->complaints });

    my $modules = $sys->{s}->nginx->modules;
    SvcBench::Statements::check_modules($statements, $modules)
        if defined $modules;

    SvcBench::Webhook::prepare($sys);
    $sys->start;
    SvcBench::Report::machine($sys, $ROUNDS, $SECONDS);
}


sub grow {
    my ($users) = @_;

    say_step("seeding $users users");
    $sys->seed($users);
    if (!$size) {
        $sys->add_static;
        SvcBench::Admin::prepare($sys);
        SvcBench::Login::prepare($sys);
        SvcBench::OAuth::prepare($sys);
    }

    $size = $sys->check_answers;
}


# Measures, and the processes' memory before and after.

sub measure {
    my @sizes = grep { wanted("${_}_small", "${_}_big") } qw(get login);

    grow($SMALL);
    my @rest = SvcBench::System::rss($sys->workers);

    $course->rounds('_small', @sizes);

    grow($USERS);
    $course->step('preparing targets', sub { SvcBench::Outbound::prepare($sys) })
        if !%only || grep { /^outbound/ } keys %only;
    $course->step('checking the statements of a GET', sub {
        SvcBench::Load::pgbench($sys, $statements, 'get_check', clients => 1,
                                transactions => smoke() ? 20 : 200);
    });
    $course->rounds('', @ORDER);

    if (@STORED) {
        SvcBench::Admin::add_events($sys);
        SvcBench::SignIns::add($sys);
        $course->rounds('', @STORED);
        $sys->reset;
    }

    outbound_users() if wanted('outbound_users');
    outbound_targets() if wanted('outbound_targets');

    my @after = SvcBench::System::rss($sys->workers);

    # these reload nginx, so they come when the workers' memory is known

    $course->rounds_in_turn(grep { wanted($_) } @OUTBOX);
    $course->rounds_in_turn(grep { wanted($_) } @IDLE);

    my $results = $course->results;

    if (my @tokens = grep { $results->{$_} } qw(oauth_token_opaque
                                                oauth_introspect_opaque))
    {
        $course->step("storing $TOKENS tokens",
                      sub { SvcBench::OAuth::add_tokens($sys, $TOKENS) });
        $course->rounds('_many', @tokens);
    }

    if ($results->{oauth_token_jwt}) {
        $course->step("adding $TENANTS tenants", sub {
            SvcBench::OAuth::add_tenants($sys, $TENANTS);
            SvcBench::OAuth::make_keys($sys, $TENANTS, $SECONDS);
        });
        $course->rounds('', 'oauth_token_tenants');
    }

    if (@sizes) {
        grow($BIG);
        $course->rounds('_big', @sizes);
    }

    return (rest => \@rest, after => \@after);
}


sub wanted {
    return !%only || grep { $only{$_} } @_;
}


# Measures each once: with few users, and with many.

sub outbound_users {
    for my $size (smoke() ? ([ '_few', 50 ], [ '', 100 ])
                          : ([ '_few', $SMALL ], [ '', $USERS ]))
    {
        my ($suffix, $users) = @$size;

        say_step("pushing $users users");
        $course->once([ "outbound_first$suffix", "outbound_sync$suffix" ],
                      sub { SvcBench::OutboundSize::syncs($sys, $users) });
    }
}


sub outbound_targets {
    for my $size ([ '_few', $TARGETS / 10 ], [ '', $TARGETS ]) {
        my ($suffix, $targets) = @$size;

        say_step("pushing to $targets targets");
        $course->once([ "outbound_targets$suffix" ], sub {
            SvcBench::OutboundSize::targets($sys, $targets, $IDLE);
        });
    }

    SvcBench::OutboundSize::clean($sys);
}


sub report {
    my ($rows, @memory) = @_;

    my $results = $course->results;

    SvcBench::Report::table($results,
                            SvcBench::Report::number($USERS) . ' users in 10 tenants.',
                            @$rows);
    SvcBench::Report::details($results, @memory);

    # the helper would use the rows that are stored for it, which no key opens

    $course->step('explaining each statement', sub {
        $sys->{s}->nginx->quit;
        $sys->{s}->nginx->stop;
        SvcBench::Report::plans(SvcBench::Explain::all($sys, $statements,
                                                       smoke() ? 100 : 1));
    });
}


sub main {
    prepare();

    my @memory = measure();
    my @rows = SvcBench::Report::rows(
        small => $SMALL, big => $BIG, read_rate => $READ_RATE,
        write_rate => $WRITE_RATE, introspect_rate => $INTROSPECT_RATE,
        tokens => $TOKENS, tenants => $TENANTS, users => $USERS, targets => $TARGETS,
        crowd => $CROWD, flood => SvcBench::Login::bound());

    $course->reported(sub { report(\@rows, @memory) });
    $course->missing(@rows) if !%only;
    $course->step('reading the logs', sub { $course->look });

    return $course->end('bench');
}


$| = 1;

my $status = eval { main() };

if (!defined $status) {
    my @lines = $sys ? $sys->complaints : ();

    splice @lines, 20 if @lines > 20;
    print STDERR "bench: $@", @lines;

    exit 1;
}

exit $status;
