package SvcBench::Report;

# Prints the benchmark's results.

use strict;
use warnings;

use Exporter qw(import);
use Time::HiRes qw(time);

use SvcTest::Process qw(run slurp);

our @EXPORT_OK = qw(elapsed number say_step);


my $BEGIN = time;


sub say_step {
    my ($text) = @_;

    printf "%5.0f s  %s\n", time - $BEGIN, $text;
}


sub elapsed { return time - $BEGIN }


sub median {
    my (@n) = sort { $a <=> $b } @_;

    my $half = int(@n / 2);

    return @n % 2 ? $n[$half] : ($n[$half - 1] + $n[$half]) / 2;
}


# Formats 12345 as 12,345.

sub number {
    my ($n) = @_;

    my $text = sprintf $n < 100 ? '%.1f' : '%.0f', $n;

    1 while $text =~ s/^(\d+)(\d{3})/$1,$2/;

    return $text;
}


sub of {
    my ($results, $name, $key) = @_;

    return median(map { $_->{$key} // 0 } @{ $results->{$name} });
}


sub machine {
    my ($system, $rounds, $seconds) = @_;

    my $cpu = slurp('/proc/cpuinfo') // '';
    my @cores = $cpu =~ /^processor/mg;
    my ($model) = $cpu =~ /^model name\s*:\s*(.*)$/m;
    my ($memory) = (slurp('/proc/meminfo') // '') =~ /^MemTotal:\s+(\d+)/m;
    my ($pg) = $system->{s}->sql('SHOW server_version');
    my (undef, $nginx) = run(['/usr/sbin/nginx', '-v']);
    my (undef, $fs) = run(['stat', '-f', '-c', '%T', $system->{dir}]);

    chomp($nginx, $fs);

    printf "%d x %s, %.0f GB; PostgreSQL %s on %s, fsync and"
           . " synchronous_commit on; %s, 2 workers;\n"
           . "%d rounds of %s s a measurement\n\n",
           scalar @cores, $model // 'processor', $memory / 1048576,
           $pg->[0], $fs, $nginx, $rounds, $seconds;
}


# Rows: a title, our result, the reference's title, its result, the figure to
# compare, and the bound on the quotient: a minimum, or, when negative, a
# maximum.

sub rows {
    my (%n) = @_;

    my $writes = number($n{write_rate}) . ' POST/s';
    my $reads = number($n{read_rate}) . ' reads/s';
    my $crowd = number($n{crowd}) . ' idle';

    return (
        [ 'GET user by id, 64 connections', 'get',
          'pgbench, one transaction, -c 32', 'get_transaction', 'rate', 1.8 ],
        [ 'GET user by id, 64 connections', 'get',
          'pgbench, one pipeline, -c 8', 'get_pipeline', 'rate', 0.75 ],
        [ 'GET user by id, 64 connections', 'get',
          'return 200 of as many bytes', 'static', 'rate', 0.33 ],
        [ 'filter userName eq', 'filter', 'GET user by id', 'get', 'rate',
          0.85 ],
        [ 'POST user, audit event included', 'create',
          'pgbench, one transaction, -c 32', 'create_pgbench', 'rate', 1.2 ],
        [ "p99 of $reads beside $writes", 'reads_paced_mixed',
          'the reads alone', 'reads_paced', 'p99', -3 ],
        [ "p99 of 64 busy connections beside $writes", 'reads_full_mixed',
          'the reads alone', 'reads_full', 'p99', -3 ],
        [ 'list of 200 users, one by one', 'list',
          'psql, as JSON rows to /dev/null', 'list_psql', 'rate', 1 ],
        [ 'GET with ' . number($n{big}) . ' users', 'get_big',
          'GET with ' . number($n{small}) . ' users', 'get_small', 'rate',
          1 / 1.3 ],
        [ 'public branding', 'branding', 'return 200 of as many bytes',
          'branding_static', 'rate', 0.85 ],
        [ 'options of sign-in', 'options', 'public branding', 'branding',
          'rate', 0.9 ],
        [ 'logo of 100 KB', 'logo', 'a file of the same bytes, sendfile',
          'logo_static', 'rate', 0.8 ],
        [ 'list of 100 users, admin API', 'users',
          'pgbench, one pipeline, -c 8', 'users_pgbench', 'rate', 0.9 ],
        [ 'PUT user, audit event included', 'put_user',
          'pgbench, one transaction, -c 32', 'put_user_pgbench', 'rate',
          1.2 ],
        [ 'evaluate, 100 rules x 20 CIDRs, one core', 'evaluate',
          '1,000,000 a second', 1_000_000, 'rate', 1 ],
        [ 'plan of a bundle with 200 roles', 'config_plan',
          'pgbench, its SELECTs, -c 8', 'config_selects', 'rate',
          0.8 ],
        [ 'apply of one changed role, of 200', 'config_apply',
          'pgbench, one transaction, -c 8', 'config_apply_pgbench', 'rate',
          0.8 ],
        [ 'a change until its event is on a stream, p99', 'stream',
          '100 ms', 100_000, 'p99', -1 ],
        [ 'webhooks delivered to one receiver', 'webhook',
          'wrk, POST of the same, 64 connections', 'webhook_wrk', 'rate',
          0.35 ],
        [ 'webhooks, each over a new TLS connection', 'webhook_tls',
          '300 a second', 300, 'rate', 1 ],
        [ 'a user created until the webhook is there, p99', 'webhook_delay',
          '20 ms', 20_000, 'p99', -1 ],
        [ 'the same beside two receivers that hang', 'webhook_beside',
          'without them', 'webhook_delay', 'p99', -1.3 ],
        [ 'the same beside 32 receivers that never end', 'webhook_drip',
          'without them', 'webhook_delay', 'p99', -1.3 ],
        [ 'the same beside 594 receivers that hang', 'webhook_hang',
          'without them', 'webhook_delay', 'p99', -1.3 ],
        [ 'p99 of 1,000 POST/s, with a webhook', 'webhook_post',
          'without', 'webhook_post_none', 'p99', -1.2 ],
        [ 'POST user with a webhook, and the outbox', 'outbox_on',
          'without the outbox', 'outbox_off', 'rate', 0.95 ],
        [ 'POST user, no target', 'outbound_post_none',
          'without svc_scim_targets', 'outbound_post_off', 'rate', 0.97 ],
        [ 'POST user, one target of each tenant', 'outbound_post_one',
          'without svc_scim_targets', 'outbound_post_off', 'rate', 0.85 ],
        [ 'requests of users pushed, to ourselves', 'outbound_push',
          'curl, the same, 4 in parallel', 'outbound_curl', 'rate', 0.8 ],
        [ 'requests of users pushed, 20 ms far', 'outbound_push_far',
          'curl, the same, 4 in parallel', 'outbound_curl_far', 'rate', 0.8 ],
        [ 'requests of users pushed, answered at once', 'outbound_push_at_once',
          'curl, the same, 4 in parallel', 'outbound_curl_at_once', 'rate', 0.8 ],
        [ 'users pushed to ourselves, looked up first', 'outbound_push',
          'curl, POST one by one', 'outbound_single', 'users', 1.5 ],
        [ 'users pushed 20 ms far, looked up first', 'outbound_push_far',
          'curl, POST one by one', 'outbound_single_far', 'users', 1.5 ],
        [ 'the same, looked up one by one', 'outbound_push_plain',
          'curl, POST one by one', 'outbound_single_far', 'users', 1 ],
        [ 'a change until the target has it, p99', 'outbound_delay',
          '300 ms', 300_000, 'p99', -1 ],
        [ 'first push of ' . number($n{users}) . ' users', 'outbound_first',
          'of ' . number($n{small}), 'outbound_first_few', 'rate', 0.7 ],
        [ 'memory of the helper in it, KB', 'outbound_first',
          'of ' . number($n{small}), 'outbound_first_few', 'kilobytes', -1.2 ],
        [ 'requests of it', 'outbound_first', '3 a user',
          3 * $n{users}, 'requests', -1.01 ],
        [ 'sync of ' . number($n{users}) . ' users, all there', 'outbound_sync',
          'of ' . number($n{small}), 'outbound_sync_few', 'rate', 0.7 ],
        [ 'memory of the helper in it, KB', 'outbound_sync',
          'of ' . number($n{small}), 'outbound_sync_few', 'kilobytes', -1.2 ],
        [ 'requests of it', 'outbound_sync', '1 for 100 users, and 1',
          $n{users} / 100 + 1, 'requests', -1 ],
        [ 'pushes of a change to ' . number($n{targets}) . ' targets',
          'outbound_targets', 'to ' . number($n{targets} / 10),
          'outbound_targets_few', 'rate', 0.7 ],
        [ 'statements a second while they are idle', 'outbound_targets',
          '300', 300, 'statements', -1 ],
        [ 'memory of the helper with them, KB', 'outbound_targets',
          '32 MiB, and 8 KiB a target', 32_768 + 8 * $n{targets}, 'kilobytes', -1 ],
        [ 'export of 10,000 events', 'export', 'psql, COPY of the same rows',
          'export_copy', 'rate', 0.5 ],
        [ 'simulation over 1,000 addresses', 'simulate',
          'its SELECT by psql', 'simulate_psql', 'rate', 0.8 ],
        [ 'tokens of clients, opaque', 'oauth_token_opaque',
          'pgbench, one pipeline, -c 8', 'oauth_token_pgbench', 'rate', 0.75 ],
        [ 'tokens of clients, JWT', 'oauth_token_jwt',
          'pgbench, one pipeline, -c 8', 'oauth_token_pgbench', 'rate', 0.55 ],
        [ 'introspections, opaque', 'oauth_introspect_opaque',
          'pgbench, one pipeline, -c 8', 'oauth_introspect_pgbench', 'rate',
          0.75 ],
        [ 'introspections, JWT', 'oauth_introspect_jwt',
          'pgbench, one pipeline, -c 8', 'oauth_introspect_pgbench', 'rate',
          0.75 ],
        [ 'introspections, JWT that was not seen', 'oauth_introspect_unseen',
          'pgbench, one pipeline, -c 8', 'oauth_introspect_pgbench', 'rate',
          0.45 ],
        [ 'tokens of clients, opaque', 'oauth_token_opaque',
          'without the look for anomalies', 'oauth_token_no_sweep', 'rate', 0.95 ],
        [ 'tokens of clients, JWT', 'oauth_token_jwt',
          'oidc-provider, 2 processes', 'oidc_jwt', 'rate', 3.5 ],
        [ 'tokens of clients, JWT by RS256', 'oauth_token_rs256',
          'oidc-provider, RS256', 'oidc_rs256', 'rate', 1.3 ],
        [ 'tokens of clients, JWT by RS256', 'oauth_token_rs256',
          'by ES256', 'oauth_token_jwt', 'rate', 0.1 ],
        [ 'tokens of clients, JWT, by private_key_jwt', 'oauth_token_key',
          'by a secret', 'oauth_token_jwt', 'rate', 0.3 ],
        [ 'tokens of clients, opaque', 'oauth_token_opaque',
          'oidc-provider, in PostgreSQL', 'oidc_token_stored', 'rate', 8 ],
        [ 'introspections, opaque', 'oauth_introspect_opaque',
          'oidc-provider, in PostgreSQL', 'oidc_introspect_stored', 'rate', 6 ],
        [ 'p99 of ' . number($n{introspect_rate}) . ' introspections/s',
          'oauth_introspect_p99', '5 ms', 5_000, 'p99', -1 ],
        [ 'tokens of clients, with ' . number($n{tokens}) . ' stored',
          'oauth_token_opaque_many', 'with few', 'oauth_token_opaque', 'rate', 0.9 ],
        [ 'introspections, with ' . number($n{tokens}) . ' stored',
          'oauth_introspect_opaque_many', 'with few', 'oauth_introspect_opaque', 'rate',
          0.9 ],
        [ 'JWTs of ' . number($n{tenants}) . ' tenants', 'oauth_token_tenants',
          'of one', 'oauth_token_jwt', 'rate', 0.8 ],
        [ 'exchanges of tokens', 'oauth_exchange',
          'POST user', 'create', 'rate', 0.8 ],
        [ 'refreshed tokens', 'oauth_refresh', 'POST user', 'create', 'rate', 0.8 ],
        [ 'ID tokens with claims, refreshed', 'oauth_id_token_claims',
          'without claims', 'oauth_id_token', 'rate', 1 / 1.05 ],
        [ 'codes redeemed', 'oauth_code', 'POST user', 'create', 'rate', 0.8 ],
        [ 'sign-ins with a password', 'login', 'argon2id, as many threads',
          'login_hashes', 'rate', 0.85 ],
        [ 'sign-ins with a passkey', 'passkey', 'POST group by token',
          'groups', 'rate', 0.25 ],
        [ 'sign-ins with a passkey', 'passkey', 'with a password', 'login',
          'rate', 15 ],
        [ 'sign-ins through OpenID Connect', 'federation', 'with a passkey',
          'passkey', 'rate', 0.5 ],
        [ 'what the domain of an address has', 'discover', 'public branding',
          'branding', 'rate', 0.7 ],
        [ 'sign-ins with a password of a directory', 'directory',
          'ldapwhoami, one by one', 'directory_whoami', 'rate', 5 ],
        [ 'people imported from a directory', 'directory_import',
          '10,000 in a minute', 10_000 / 60, 'rate', 1 ],
        [ 'GET by token beside a flood of sign-ins', 'token_get_flood',
          'without it', 'token_get', 'rate', 0.6 ],
        [ 'p99 of it', 'token_get_flood', 'without it', 'token_get', 'p99',
          -2 ],
        [ 'what a flood adds to a worker, KB', 'flood_memory',
          'its hashes, and 8 MiB', $n{flood}, 'kilobytes', -1 ],
        [ 'GET by session', 'session_get', 'by token', 'token_get', 'rate',
          0.75 ],
        [ 'PUT user by session', 'session_write', 'by token', 'token_write',
          'rate', 0.85 ],
        [ '429 of a sign-in, from Redis alone', 'login_limited',
          'GET by token', 'token_get', 'rate', 0.8 ],
        [ 'chance that a known address takes longer', 'login_time',
          'at least', 1, 'auc', 0.45 ],
        [ 'the same', 'login_time', 'at most', 1, 'auc', -0.55 ],
        [ 'sign-ins with ' . number($n{big}) . ' users', 'login_big',
          'with ' . number($n{small}) . ' users', 'login_small', 'rate',
          1 / 1.3 ],
        [ 'an idle instance, CPU us a second', 'idle', '5 ms', 5_000, 'cpu',
          -1 ],
        [ 'memory of its worker, KB', 'idle', '32 MiB', 32_768, 'kilobytes', -1 ],
        [ "with $crowd clients, CPU us a second", 'idle_crowd',
          'without them', 'idle', 'cpu', -1.2 ],
        [ 'memory of an idle client, bytes', 'idle_crowd', '1 KiB', 1_024, 'bytes',
          -1 ],
        [ "GET user by id beside $crowd", 'get_crowd',
          'without them', 'get_alone', 'rate', 0.9 ],
        [ 'p99 of it', 'get_crowd', 'without them', 'get_alone', 'p99', -1.5 ],
    );
}


# Prints the rows whose sides were both measured: a title for all of them, and
# the rows.

sub table {
    my ($results, $title, @rows) = @_;

    my $format = "%-49s %9s  %-37s %9s %7s %9s  %-4s  %-19s  %s\n";

    print "\nMedians; requests a second, or what the row says, in microseconds"
          . " unless it says in what else."
          . " $title\nCPU: microseconds a request, of all processes of"
          . " PostgreSQL + the server's workers + its helper.\n\n";
    printf $format, 'what', 'ours', 'against', 'its', 'ratio', 'required', '',
           'our CPU', 'its CPU';

    for my $row (grep { $results->{$_->[1]} && is_there($results, $_->[3]) }
                 @rows)
    {
        my ($what, $ours, $against, $its, $key, $bound) = @$row;

        my $a = of($results, $ours, $key);
        my $b = $results->{$its} ? of($results, $its, $key) : $its;

        printf $format, $what, number($a), $against, number($b),
               sprintf('%.2f', ratio($a, $b)),
               sprintf($bound < 0 ? '<= %.2f' : '>= %.2f', abs $bound),
               verdict($results, $ours, $its, ratio($a, $b), $bound),
               cpu($results, $ours), cpu($results, $its);
    }

    print "\n";
    rounds_line($results, $_) for sort keys %$results;
    print "  $_\n" for faults($results, sort keys %$results);
}


# A measurement that took no tick of the clock counts as no time.

sub ratio {
    my ($a, $b) = @_;

    return $b ? $a / $b : $a ? 9**9**9 : 1;
}


sub verdict {
    my ($results, $ours, $its, $ratio, $bound) = @_;

    return 'FAIL' if faults($results, grep { $results->{$_} } $ours, $its);

    # too few requests prove nothing, and neither do reads beside too few writes

    return 'MISS' if of($results, $ours, 'rate')
                     < 0.95 * of($results, $ours, 'wanted')
                     || of($results, $ours, 'write_rate')
                        < 0.95 * of($results, $ours, 'write_wanted');

    return ($bound < 0 ? $ratio <= -$bound : $ratio >= $bound) ? 'ok' : 'MISS';
}


# Formats PostgreSQL + workers + helper, where a measurement has them.

sub cpu {
    my ($results, $name) = @_;

    my $first = $results->{$name} && $results->{$name}[0] // {};

    return join(' + ', map { number(of($results, $name, "cpu_$_")) }
                       grep { defined $first->{"cpu_$_"} }
                       qw(postgres server helper)) || '-';
}


# A reference is a measurement, or a number.

sub is_there {
    my ($results, $its) = @_;

    return $results->{$its} || $its =~ /^\d/;
}


sub faults {
    my ($results, @names) = @_;

    return map { my $name = $_; map { "$name: $_" }
                                map { @{ $_->{faults} } } @{ $results->{$name} }
               } @names;
}


# Formats the single rounds behind a median.

sub rounds_line {
    my ($results, $name) = @_;

    my @rounds = @{ $results->{$name} };

    printf "  %-18s %s\n", $name, join '  ', map {
        my $text = sprintf '%9s/s', number($_->{rate});

        $text .= sprintf ' p99 %s us', number($_->{p99}) if $_->{p99};
        $text .= sprintf ' beside %s POST/s', number($_->{write_rate})
            if $_->{write_rate};
        $text .= sprintf ' %.1f s, %s requests, helper %s MB', $_->{seconds},
                         number($_->{requests}), megabytes($_->{kilobytes})
            if $_->{seconds} && $_->{kilobytes};
        $text .= sprintf ', begun in %.1f s', $_->{begun} if $_->{begun};

        my $cpu = cpu({ $name => [ $_ ] }, $name);
        $text . ($cpu ne '-' && " cpu $cpu us");
    } @rounds;
}


sub details {
    my ($results, %memory) = @_;

    my @names = ([ get => 'GET by id' ], [ get_small => 'GET, fewest users' ],
                 [ get_big => 'GET, most users' ], [ filter => 'filter' ],
                 [ list => 'list of 200' ], [ create => 'POST' ],
                 [ branding => 'public branding' ], [ options => 'options' ],
                 [ logo => 'logo' ],
                 [ users => 'list of 100, admin' ], [ put_user => 'PUT user' ],
                 [ reads_paced => 'reads alone, paced' ],
                 [ reads_paced_mixed => 'reads beside writes, paced' ],
                 [ reads_full => 'reads alone, busy' ],
                 [ reads_full_mixed => 'reads beside writes, busy' ],
                 [ static => 'return 200' ]);

    my $format = "%-28s %9s %8s %8s %8s %14s\n";

    print "\n";
    printf $format, '', 'req/s', 'p50 us', 'p99 us', 'max us',
           'worker RSS MB';

    for (grep { $results->{$_->[0]} } @names) {
        my ($name, $title) = @$_;

        printf $format, $title,
               (map { number(of($results, $name, $_)) } qw(rate p50 p99 max)),
               megabytes(median(map { $_->{rss}[0] } @{ $results->{$name} }));
    }

    printf "\nworker at rest: %s MB, %s MB of it its own;"
           . " after all load: %s MB, %s MB\n",
           map { megabytes($_) } @{ $memory{rest} }, @{ $memory{after} };
}


sub megabytes {
    my ($kilobytes) = @_;

    return sprintf '%.1f', $kilobytes / 1024;
}


sub plans {
    my ($plans) = @_;

    print "\nPlans with the most users, and the pages they read:\n";

    for my $p (@$plans) {
        printf "  %-20s %-8s %5d  %s\n", $p->{name}, $p->{kind}, $p->{pages},
               join(', ', @{ $p->{nodes} }) || 'no scan';
    }

    my @bad = grep { $_->{bad} } @$plans;

    print "$_->{name}, $_->{kind} plan:\n$_->{text}\n" for @bad;
    printf "no statement scans user_account or a tenant of it: %s\n",
           @bad ? 'MISS' : 'ok';
}


1;
