package SvcBench::SignIns;

# A simulation over many addresses, and its SELECT in psql.

use strict;
use warnings;

use Time::HiRes qw(time);

use SvcBench::Cpu;
use SvcBench::Load;
use SvcTest::Session qw(add_addresses);


my $ADDRESSES = 1_000;
my $SIGN_INS = 20_000;

my $POLICY = {
    rules => [ { name => 'Home', action => 'allow', countries => [ 'FR', 'DE' ] },
               { name => 'Office', action => 'mfa',
                 networks => [ '10.0.1.0/24', '10.0.3.0/24' ] } ],
    defaultAction => 'deny' };


sub add {
    my ($system) = @_;

    $system->{s}->sql(<<"EOT");
INSERT INTO svc.sign_in (tenant_id, at, ip, country, user_id)
SELECT '$system->{tenants}[2]{id}', now() - i * interval '1 minute',
       '10.0.0.0'::inet + i % $ADDRESSES,
       (ARRAY['FR', 'DE', 'RO', NULL])[1 + i % 4], NULL
FROM generate_series(1, $SIGN_INS) i
EOT
    add_addresses($system->{s});
    $system->{s}->sql("VACUUM (ANALYZE) svc.$_")
        for 'sign_in', 'sign_in_address';
}


sub simulate {
    my ($system, $seconds) = @_;

    my $tenant = $system->{tenants}[2];
    my $c = $system->{s}->connection;
    my $body = SvcTest::encode($POLICY);
    my $cpu = SvcBench::Cpu->new($system->processes);
    my ($n, $begin) = (0, time);

    while (time < $begin + $seconds) {
        my $r = $c->request(
            POST => '/v1/admin/access-policy/simulate',
            { Authorization => "Bearer $tenant->{api_token}" }, $body);

        die 'simulate: ' . ($r ? $r->body : $c->error) . "\n"
            if !$r || $r->status != 200;
        die "a simulation of too few addresses\n"
            if $r->body !~ /"distinctIps":$ADDRESSES,/;
        $n++;
    }

    return { rate => $n / (time - $begin), requests => $n, faults => [],
             $cpu->per_request($n) };
}


sub select_only {
    my ($system, $seconds, $statements) = @_;

    my $text = $statements->{admin_simulate_sign_ins}{text};
    my @values = (30, $ADDRESSES);

    $text =~ s/\$(\d+)/'$values[$1 - 1]'/g;

    return SvcBench::Load::psql($system, 2, $text, 40 * $seconds);
}


1;
