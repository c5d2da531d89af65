package SvcBench::Config;

# Measurements of policy as code.

use strict;
use warnings;

use SvcBench::Load;


my $ROLES = 200;


# Makes two hundred roles in each tenant, and the bundle that exports them.

sub prepare {
    my ($system) = @_;

    my $s = $system->{s};

    return if $system->{bundle};

    $s->sql(<<"EOT");
INSERT INTO svc.role (tenant_id, key, name, permissions)
SELECT id, 'role-' || to_char(i, 'FM000'), 'Role number ' || i,
       '{audit:view,users:view}'
FROM svc.tenant, generate_series(1, $ROLES) i
EOT
    $s->sql("UPDATE svc.governance SET access_policy = '"
            . access_policy() . "', access_number = 1");
    $s->sql('VACUUM (ANALYZE) svc.role');

    my $r = $system->{tenants}[0]->admin(GET => '/config');

    die "GET config: $r->{status} $r->{body}\n" if $r->status != 200;

    $system->{bundle} = "$system->{dir}/bundle.json";

    open my $fh, '>', $system->{bundle} or die "$!\n";
    print $fh $r->body;
    close $fh;
}


sub access_policy {
    my @rules = map {
        "{\"name\":\"Rule $_\",\"enabled\":true,\"action\":\"mfa\",\"networks\":"
        . "[\"203.0.$_.0/24\",\"2001:db8:$_\::/48\"],\"countries\":[\"FR\"],"
        . '"timeWindows":[]}'
    } 1 .. 10;

    return '{"rules":[' . join(',', @rules) . '],"defaultAction":"allow"}';
}


# Measures a plan of the present state, with nothing to do.

sub plan {
    my ($system, $seconds) = @_;

    prepare($system);

    return SvcBench::Load::wrk($system, 'config_plan', connections => 32,
                               seconds => $seconds);
}


sub selects {
    my ($system, $seconds, $statements) = @_;

    prepare($system);

    return SvcBench::Load::pgbench($system, $statements, 'config_plan',
                                   clients => 8, seconds => $seconds);
}


# Measures requests that each change one role.  No two at a time are for the
# same tenant, and each answer of 200 has moved the revision.

sub apply {
    my ($system, $seconds) = @_;

    prepare($system);

    my $before = revisions($system);
    my $n = SvcBench::Load::wrk($system, 'config_apply', connections => 8,
                                threads => 8, seconds => $seconds);
    my $moved = revisions($system) - $before;

    die "$n->{requests} bundles were applied, $moved revisions made\n"
        if !@{ $n->{faults} }
           && ($moved < $n->{requests} || $moved > $n->{requests} + 8);

    $system->reset;

    return $n;
}


sub apply_pgbench {
    my ($system, $seconds, $statements) = @_;

    prepare($system);

    my $before = revisions($system);
    my $n = SvcBench::Load::pgbench($system, $statements, 'config_apply',
                                    clients => 8, seconds => $seconds);
    my $moved = revisions($system) - $before;

    die "$n->{requests} transactions, $moved revisions made\n"
        if $moved != $n->{requests};

    $system->reset;

    return $n;
}


sub revisions {
    my ($system) = @_;

    return $system->{s}->sql('SELECT sum(revision) FROM svc.governance');
}


1;
