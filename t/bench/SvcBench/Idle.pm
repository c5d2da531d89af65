package SvcBench::Idle;

# An instance that gets no requests, and one with many connected clients that
# send nothing.

use strict;
use warnings;

use IO::Socket::INET;
use List::Util qw(min sum);
use Time::HiRes qw(sleep time);

use SvcBench::Cpu;
use SvcTest::Process qw(resident run slurp);


my $WINDOW = 2;                         # seconds
my $WINDOWS = 15;                       # at most, until it has settled
my $PER_ADDRESS = 2_500;                # clients of one address in 127.0.0.0/8
my $SPARE = 4_096;                      # connections for others


# Returns what nginx needs for so many clients, even if all of them are at one
# worker; this process opens as many files.

sub options {
    my ($clients) = @_;

    my $files = $clients + $SPARE + 1_024;
    my ($soft, $hard) = (slurp("/proc/$$/limits") // '')
                        =~ /^Max open files\s+(\d+)\s+(\d+)/m;

    if ($soft < $files) {
        my ($status, $text) = run([ 'prlimit', "--pid=$$", "--nofile=$files:"
                                    . ($hard < $files ? $files : '') ]);

        die "$files files cannot be open, but $hard: $text\n" if $status != 0;
    }

    return (connections => $clients + $SPARE, main => "worker_rlimit_nofile $files;\n");
}


# Measures new processes that have settled: CPU per second, and memory of the
# bigger worker.

sub instance {
    my ($system, $seconds) = @_;

    fresh($system);

    my $taken = at_rest($system, $seconds);

    return { %$taken, kilobytes => (SvcBench::System::rss($system->workers))[0] };
}


# Measures the same with idle clients, and how much memory each of them adds to
# the workers.

sub crowd {
    my ($system, $seconds, $clients, $warm_up) = @_;

    fresh($system);
    $warm_up->();

    my $before = resident($system->workers);
    my @clients = clients($system, $clients);
    my $grown = resident($system->workers) - $before;
    my $taken = at_rest($system, $seconds);

    return { %$taken, bytes => 1_024 * $grown / @clients, faults => [ gone(@clients) ] };
}


# Measures something with as many idle clients.

sub beside {
    my ($system, $clients, $measure) = @_;

    my @clients = clients($system, $clients);
    my $n = $measure->();

    push @{ $n->{faults} }, gone(@clients);

    return $n;
}


sub fresh {
    my ($system) = @_;

    my $nginx = $system->{s}->nginx;
    my @helpers = $nginx->helper_pids;

    $nginx->reload;
    $nginx->wait_helper(@helpers) or die "no helper\n";
    $system->{s}->wait_healthy or die "nginx is not healthy\n";
}


# --- clients ----------------------------------------------------------------------

# Connects clients.  Each has got the answer to one request, and may send
# another one.

sub clients {
    my ($system, $n) = @_;

    my $request = "GET /scim/v2/Users/" . SvcBench::System::user_id(0)
                  . " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer"
                  . " $system->{tenants}[0]{scim_token}\r\n\r\n";

    return map { client($system, $request, '127.0.1.' . (1 + int $_ / $PER_ADDRESS)) }
           0 .. $n - 1;
}


sub client {
    my ($system, $request, $address) = @_;

    my $sock = IO::Socket::INET->new(LocalAddr => $address, PeerAddr => '127.0.0.1',
                                     PeerPort => $system->{s}->port, Timeout => 10)
        or die "no connection from $address: $@\n";
    my $answer = '';

    syswrite $sock, $request or die "a request: $!\n";
    sysread $sock, $answer, 65_536, length $answer or die "a connection is closed\n"
        until whole($answer);

    die "an answer to an idle client: $answer\n" if $answer !~ m{\AHTTP/1\.1 200 };

    return $sock;
}


sub whole {
    my ($answer) = @_;

    my ($head, $body) = split /\r\n\r\n/, $answer, 2;
    my ($length) = ($head // '') =~ /^Content-Length: (\d+)\r?$/m;

    return defined $length && length $body >= $length;
}


# Returns a fault when clients were closed meanwhile.

sub gone {
    my (@clients) = @_;

    $_->blocking(0) for @clients;

    my $gone = grep { defined sysread $_, my $end, 1 } @clients;

    return $gone ? "$gone of " . @clients . ' idle connections were closed' : ();
}


# --- the processes ----------------------------------------------------------------

sub at_rest {
    my ($system, $seconds) = @_;

    settle($system, min($seconds, $WINDOW));

    my %n = window($system, $seconds);

    return { rate => 1, requests => $seconds, faults => [], %n, cpu => sum(values %n) };
}


# Waits until the processes use no less CPU than just before.

sub settle {
    my ($system, $seconds) = @_;

    my $before;

    for (1 .. $WINDOWS) {
        my %n = window($system, $seconds);
        my $now = sum(values %n);

        return if defined $before && $now >= 0.9 * $before;

        $before = $now;
    }
}


# Returns the microseconds of CPU per second.

sub window {
    my ($system, $seconds) = @_;

    my $cpu = SvcBench::Cpu->new($system->processes);
    my $begin = time;

    sleep $seconds;

    return $cpu->per_request(time - $begin);
}


1;
