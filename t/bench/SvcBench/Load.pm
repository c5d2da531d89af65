package SvcBench::Load;

# One run of wrk, pgbench or psql, and its result.  A rate of errors is not a
# result: "faults" of a run of wrk says what was wrong with its answers.
#
# A run may be shorter than a second; wrk then goes on until there was an
# answer.

use strict;
use warnings;

use POSIX qw(ceil);
use Time::HiRes qw(time);

use SvcBench::Cpu;
use SvcTest::Process qw(signal_pid slurp spawn wait_exit wait_for write_file);


my $RUNS = 0;
my $PREBUILT = 32_768;                  # at most, requests of a thread of wrk
my $LONGEST = 60;                       # seconds until there is an answer
my $TRANSACTIONS = 20;                  # per second, of a client of pgbench

my %going;                              # runs, by their pids


# Starts wrk with lua/$script.lua.  connections, seconds; optionally threads,
# rate, prefix, path, body, method, headers, password; tokens, inactive and
# lines, files for the script; url and processes of another server; size, of the
# expected answer; and refused: all answers are errors.

sub wrk_start {
    my ($system, $script, %opt) = @_;

    my $out = "$system->{dir}/run." . ++$RUNS;
    my $moment = $opt{seconds} < 1;
    my $lua = "$system->{here}/lua/$script.lua";
    my $threads = $opt{threads} // 2;

    my $pid = spawn(
        ['wrk', '--latency', '-t', $threads, '-c', $opt{connections},
         '-d', ($moment ? $LONGEST : ceil $opt{seconds}) . 's', '--timeout', '10s',
         '-s', $lua,
         $opt{url} // $system->base_url],
        out => $out, env => {
            BENCH_TOKENS => $opt{tokens}
                            // ($script =~ /user|group|config/
                                ? $system->{api_tokens} : $system->{tokens}),
            BENCH_THREADS => $threads,
            BENCH_INACTIVE => $opt{inactive} // '',
            BENCH_USERS => $system->{users},
            BENCH_SEED => int rand 1e6,
            BENCH_PREBUILT => $moment ? $PREBUILT / 8 : $PREBUILT,
            $moment ? (BENCH_ANSWERED => "$out.answered") : (),
            BENCH_PREFIX => $opt{prefix} // '',
            BENCH_PATH => $opt{path} // '/',
            BENCH_METHOD => $opt{method} // 'GET',
            BENCH_HEADERS => $opt{headers} // '',
            BENCH_LINES => $opt{lines} // '',
            BENCH_PASSWORD => $opt{password} // '',
            BENCH_BODY => $opt{body} // $system->{bundle} // '',
            $opt{rate} ? (BENCH_RATE => $opt{rate}) : (),
        }
    );

    return $going{$pid} = { %opt, script => $script, pid => $pid, out => $out };
}


sub wrk_end {
    my ($run) = @_;

    my $text = end($run, "wrk $run->{script}");
    my ($error) = (slurp("$run->{out}.answered") // '') =~ /^(.{1,200})/;

    unlink "$run->{out}.answered";

    my ($line) = $text =~ /^bench (.*)$/m
        or die "wrk $run->{script}: $text\n";
    my %n = map { split /=/ } split ' ', $line;

    $n{requests} or die "wrk $run->{script}: no request: $text\n";

    $n{status} = $n{requests} - $n{status} if $run->{refused};

    my @faults = map { "$n{$_} of kind \"$_\"" }
                 grep { $n{$_} } qw(connect read write status timeout);

    $faults[-1] .= ", the first: $error" if $n{status} && $error;

    my $size = $n{bytes} / $n{requests};

    push @faults, "answers of $size bytes instead of $run->{size}"
        if $run->{size} && abs($size - $run->{size}) > 0.05 * $run->{size};

    $n{rate} = $n{requests} * 1e6 / $n{us};
    $n{faults} = \@faults;

    return \%n;
}


# Runs wrk on its own, and measures CPU and memory of the processes.

sub wrk {
    my ($system, $script, %opt) = @_;

    my @workers = $system->workers;
    my $cpu = SvcBench::Cpu->new(%{ $opt{processes}
                                    // { $system->processes } });
    my $run = wrk_start($system, $script, %opt);

    my ($looked, @rss) = (0, 0, 0);

    wait_for {
        if (time - $looked > 0.5) {
            my @now = SvcBench::System::rss(@workers);

            @rss = @now if $now[0] > $rss[0];
            $looked = time;
        }

        ended($run);
    } $opt{seconds} + $LONGEST;

    my $n = wrk_end($run);

    return { %$n, $cpu->per_request($n->{requests}), rss => \@rss,
             wanted => $opt{rate} };
}


sub ended {
    my ($run) = @_;

    stop($run) if $run->{script} && $run->{seconds} < 1 && due($run);

    $run->{status} //= wait_exit($run->{pid}, -1);

    return defined $run->{status};
}


# wrk takes whole seconds only; when it is interrupted it ends as if they were
# over.

sub stop {
    my ($run) = @_;

    signal_pid('INT', $run->{pid}) if listens($run) && !$run->{stopped}++;
}


sub due {
    my ($run) = @_;

    $run->{begun} //= time if listens($run);

    return $run->{begun} && time >= $run->{begun} + $run->{seconds}
           && -e "$run->{out}.answered";
}


# Returns whether it has begun, and catches the signal.

sub listens {
    my ($run) = @_;

    my $status = slurp("/proc/$run->{pid}/status") // return;
    my ($caught) = $status =~ /^SigCgt:\s+\w*(\w)$/m;

    return $status =~ /^Name:\s+wrk$/m && hex($caught // 0) & 2;
}


# Waits for the end of a run.  Returns all its output.

sub end {
    my ($run, $what) = @_;

    wait_for { ended($run) } ($run->{seconds} // 0) + $LONGEST;
    delete $going{ $run->{pid} } if defined $run->{status};

    my $text = slurp($run->{out}) // '';
    unlink $run->{out};

    defined $run->{status} or die "$what does not end: $text\n";
    $run->{status} == 0 or die "$what failed: $text\n";

    return $text;
}


# Kills the runs that are left when a measurement failed.

sub stop_all {
    for my $run (values %going) {
        signal_pid('KILL', $run->{pid});
        wait_exit($run->{pid}, 10);
    }

    %going = ();
}


# Writes the scripts of a template, one for each tenant.  "{tenant}" becomes the
# tenant's number, and "{name, argument, ...}" the statement of that name with
# the arguments instead of its parameters.

sub scripts {
    my ($system, $statements, $name) = @_;

    return map {
        my $file = "$system->{dir}/$name.$_.sql";

        write_file($file, script("$system->{here}/pgbench/$name.sql", $statements,
                                 $_));

        $file;
    } 0 .. $#{ $system->{tenants} };
}


sub script {
    my ($template, $statements, $tenant) = @_;

    my $text = slurp($template) // die "$template: $!\n";

    $text =~ s/\{tenant\}/$tenant/g;
    $text =~ s/\{(\w+),\s*([^{}]*)\}/
               filled($statements, $1, split m{,\s*}, $2)/ge;

    return $text;
}


# Returns what is wrong with templates, as far as the statements tell it.

sub strays {
    my ($root, $statements) = @_;

    return map { eval { script($_, $statements, 0); 1 } ? () : s{.*/}{}r . ": $@" }
           glob "$root/t/bench/pgbench/*.sql";
}


sub filled {
    my ($statements, $name, @arguments) = @_;

    my $s = $statements->{$name} // die "there is no statement \"$name\"\n";

    $s->{nparams} == @arguments
        or die "\"$name\" has $s->{nparams} parameters, not "
               . @arguments . "\n";

    return plain_strings($s->{text}) =~ s/\$(\d+)/$arguments[$1 - 1]/gr;
}


# pgbench takes a word after a colon for a variable, even within strings.

sub plain_strings {
    my ($text) = @_;

    return $text =~ s{(E?)'((?:[^']|'')*)'}{
        my ($escaped, $string) = ($1, $2);

        if ($string =~ /:\w/) {
            $string =~ s/\\/\\\\/g if !$escaped;
            $string =~ s/:/\\x3a/g;
            $escaped = 'E';
        }

        "$escaped'$string'";
    }ger;
}


# The variables of the scripts.

our %VARIABLES = (
    kind => 'scim', permission => 'scim', actor_type => 'scim',
    ip => '127.0.0.1', agent => 'bench', active => 'active',
    request_id => '0123456789abcdef0123456789abcdef',
    given => 'Grace', family => 'Hopper', display => 'Grace Hopper',
    title => 'Rear Admiral', department => 'Research', locale => 'en-US',
    k => 0, yes => 'true', no => 'false',
    api_kind => 'api', api_actor => 'apiToken', api_view => 'users:view',
    api_manage => 'members:manage', api_config => 'tenant:manage',
    apply_roles => '[{"key":"role-200","name":"Role 123456789",'
                   . '"permissions":["audit:view","users:view"]}]',
    apply_events => '[{"action":"role.updated","type":"role","id":"role-200",'
                    . '"name":"Role 123456789","details":{"changed":["name"]}},'
                    . '{"action":"config.applied","type":"config","details":'
                    . '{"created":0,"updated":1,"deleted":0,"prune":false,'
                    . '"revision":2}}]',
);


# Runs pgbench -M prepared with the scripts of that name.  clients; seconds or
# transactions; variables: more variables of the scripts.

sub pgbench {
    my ($system, $statements, $name, %opt) = @_;

    my %v = (%VARIABLES, %{ $opt{variables} // {} }, users => $system->{users},
             map { ("hash$_" => $system->hash($_),
                    "api_hash$_" => $system->hash($_, 'api')) }
             0 .. $#{ $system->{tenants} });

    $v{api_hashes} = '{' . join(',', map { '"\\\\' . substr($system->hash($_,
                     'api'), 1) . '"' } 0 .. $#{ $system->{tenants} }) . '}';

    my $run = { seconds => $opt{seconds} // 30,
                out => "$system->{dir}/run." . ++$RUNS };
    my @until = ($opt{seconds} // 0) >= 1 ? ('-T', $opt{seconds})
                : ('-t', $opt{transactions} // ceil($TRANSACTIONS * $opt{seconds}));
    my $cpu = SvcBench::Cpu->new($system->processes);

    $run->{pid} = spawn(
        ["$system->{bin}/pgbench", '-n', '-M', 'prepared',
         '-h', $system->{s}->pg->{dir}, '-p', '5432', '-U', 'svc_app',
         '-c', $opt{clients}, '-j', $opt{clients} > 1 ? 2 : 1,
         @until,
         map({ ('-D', "$_=$v{$_}") } sort keys %v),
         map({ ('-f', $_) } scripts($system, $statements, $name)),
         'svc'],
        out => $run->{out}
    );
    $going{ $run->{pid} } = $run;

    my $text = end($run, "pgbench $name");

    my ($rate) = $text =~ /^tps = ([\d.]+) \(without initial/m;
    my ($done) = $text =~ /^number of transactions actually.*: (\d+)/m;

    die "pgbench $name: $text\n"
        if !$rate || !$done || $text !~ /^number of failed transactions: 0 /m;

    return { rate => $rate, requests => $done, faults => [],
             $cpu->per_request($done) };
}


# Runs a query in psql, which writes the rows to /dev/null: the time of a
# session with many executions, minus that of one with none.

sub psql {
    my ($system, $tenant, $query, $times) = @_;

    my $id = $system->{tenants}[$tenant]{id};
    my $set = "SELECT set_config('svc.tenant', '$id', false);\n";
    my @took;

    $times = ceil($times);

    for my $n (0, $times) {
        my $file = "$system->{dir}/psql.sql";

        write_file($file, $set . "$query;\n" x $n);

        my $cpu = SvcBench::Cpu->new($system->processes);
        my $begin = time;
        my $cmd = $system->psql_command('svc_app', '-o', '/dev/null',
                                        '-f', $file);

        system(@$cmd) == 0 or die "psql failed\n";
        push @took, { seconds => time - $begin, $cpu->per_request($times) };
    }

    my ($none, $all) = @took;
    my %less = map { $_ => $all->{$_} - $none->{$_} } keys %$all;

    return { %less, rate => $times / $less{seconds}, requests => $times,
             faults => [] };
}


1;
