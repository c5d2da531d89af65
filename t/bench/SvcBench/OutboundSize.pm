package SvcBench::OutboundSize;

# Outbound SCIM with many users, and with many targets, compared with few: the
# time that it takes, and the memory of the helper.

use strict;
use warnings;

use Time::HiRes qw(sleep time);

use SvcBench::Outbound;
use SvcBench::Report qw(say_step);
use SvcTest::Process qw(slurp wait_for);


my $OURS = $SvcBench::Outbound::OURS;
my $AT_ONCE = $SvcBench::Outbound::AT_ONCE;
my $OF_TENANT = 50;                     # targets of each tenant

my (@tenants, $of_tenant);


# --- users -----------------------------------------------------------------------------

# Pushes so many users to a target, and then syncs it when all of them are
# there.  Returns the results of both.

sub syncs {
    my ($system, $n) = @_;

    SvcBench::Outbound::serve($system, 'on', 'off', 'fresh');
    SvcBench::Outbound::users($system, $n);

    my $w = SvcBench::Outbound::watch();
    my $id = SvcBench::Outbound::target($system, $OURS);
    my $first = first($system, $id, $n, $w);

    SvcBench::Outbound::serve($system, 'on', 'off', 'fresh');

    my $sync = again($system, $id, $n);

    SvcBench::Outbound::clean($system);

    return ($first, $sync);
}


sub first {
    my ($system, $id, $n, $w) = @_;

    SvcBench::Outbound::wait_requests($w, 'POST', $n);
    wait_for { sleep 0.2; SvcBench::Outbound::synced($system, $id) == $n } 60;

    my $synced = SvcBench::Outbound::synced($system, $id);
    my $there = SvcBench::Outbound::stored_there($system);

    return result($n, SvcBench::Outbound::taken($w), $w,
                  $synced == $n && $there == $n && $w->{of}{POST} == $n ? ()
                  : "$there of $n users are there, $synced known to be");
}


sub again {
    my ($system, $id, $n) = @_;

    my $w = SvcBench::Outbound::watch();
    my $begin = time;
    my $r = SvcBench::Outbound::admin($system, POST => "/scim-targets/$id/sync");

    die 'POST sync: ' . $r->status . "\n" if $r->status != 202;

    my $state;

    wait_for {
        sleep 0.1;
        $state = SvcBench::Outbound::sync_status($system, $id);
        $state !~ /queued|running/;
    } 300;

    my $took = time - $begin;

    SvcBench::Outbound::pump($w);

    return result($n, $took, $w, $state eq 'success' && !$w->{requests} ? ()
                  : "the sync is \"$state\", $w->{requests} requests were for one user");
}


sub result {
    my ($n, $seconds, $w, @faults) = @_;

    return { rate => $n / $seconds, seconds => $seconds,
             requests => $w->{requests} + $w->{pages},
             kilobytes => SvcBench::Outbound::helper_peak(), faults => \@faults };
}


# --- targets --------------------------------------------------------------------------

# Makes so many targets in all, with one user each.  Measures their cost in
# seconds in which nothing happens, and the time until a change in each tenant
# has come to all of its targets.  Targets are added to earlier ones by a
# multiple.

sub targets {
    my ($system, $n, $seconds) = @_;

    add_targets($system, $n);

    my $begin = time;

    SvcBench::Outbound::serve($system, 'on', 'off', 'fresh');
    settle($system, $n);

    my $begun = time - $begin;
    my $statements = idle($system, $seconds);
    my $changed = changed($system, $n);

    return { %$changed, statements => $statements, begun => $begun,
             kilobytes => SvcBench::Outbound::helper_peak() };
}


sub add_targets {
    my ($system, $n) = @_;

    my $s = $system->{s};
    my $had = @tenants;

    $of_tenant = $n < $OF_TENANT ? $n : $OF_TENANT if !$had;

    SvcBench::Outbound::serve($system, 'on', 'off');

    while (@tenants < $n / $of_tenant) {
        push @tenants, $s->tenant('targets' . @tenants);
    }

    SvcBench::Outbound::may($system);

    my $c = $s->connection;

    SvcBench::Outbound::users($system, 1, @tenants[$had .. $#tenants]);

    for my $tenant (@tenants[$had .. $#tenants]) {
        SvcBench::Outbound::target($system, $AT_ONCE, $tenant, $c) for 1 .. $of_tenant;
    }

    settle($system, $n);
    $s->sql("VACUUM (ANALYZE) svc.$_") for qw(scim_target scim_item credential);
}


# Waits until a helper has all of them, and they have their users.

sub settle {
    my ($system, $n) = @_;

    my $s = $system->{s};

    wait_for {
        sleep 0.2;
        SvcBench::Outbound::synced($system) == $n
            && $s->sql('SELECT count(lease_by) FROM svc.scim_target') == $n;
    } 300 or die SvcBench::Outbound::synced($system) . " of $n targets have their user\n";
}


# Returns the statements per second of all connections.

sub idle {
    my ($system, $seconds) = @_;

    my $s = $system->{s};
    my $log = $s->pg->{log};

    $s->sql(q(ALTER SYSTEM SET log_statement = 'all'));
    $s->sql('SELECT pg_reload_conf()');

    # a new connection has the setting once the others have been told to reload

    wait_for {
        $s->pg->connect('postgres', 'svc')->query('SHOW log_statement')->[0][0] eq 'all'
    } 10 or die "statements are not logged\n";

    my $from = -s $log;
    my $begin = time;

    sleep $seconds;
    $seconds = time - $begin;

    my $n = () = substr(slurp($log), $from)
                 =~ /^\d+ svc_app LOG:  (?:execute|statement)/mg;

    $s->sql('ALTER SYSTEM RESET log_statement');
    $s->sql('SELECT pg_reload_conf()');

    return $n / $seconds;
}


sub changed {
    my ($system, $n) = @_;

    my $s = $system->{s};
    my $c = $s->connection;
    my %id = map { @$_ } $s->sql('SELECT tenant_id, min(id::text) FROM svc.user_account'
                                 . " WHERE source = 'scim' GROUP BY 1");
    my $w = SvcBench::Outbound::watch();
    my $begin = time;

    SvcBench::Outbound::change($c, $_, $id{ $_->{id} }, "Admiral $begin") for @tenants;
    SvcBench::Outbound::wait_requests($w, 'PATCH', $n);

    my $seconds = $w->{last} - $begin;

    settle($system, $n);
    SvcBench::Outbound::pump($w);

    return { rate => $n / $seconds, seconds => $seconds, requests => $w->{requests},
             faults => $w->{requests} == $n ? []
                       : [ "$w->{requests} requests for $n changes" ] };
}


# Deletes their tenants.

sub clean {
    my ($system) = @_;

    SvcBench::Outbound::clean($system);
    $system->psql('postgres', '-c', "DELETE FROM svc.tenant WHERE slug ~ '^targets'");
    @tenants = ();
}


1;
