#!/usr/bin/perl

# Shows that other requests are served beside ten thousand idle connections.

use strict;
use warnings;

use IO::Socket::INET;
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Process qw(slow wait_for run resident);
use SvcTest::Scim;


use constant IDLE => 10000;

# Each worker may get nearly all connections; nginx inherits the limit.

my ($failed, $said) = run([ 'prlimit', '--pid', $$,
                            '--nofile=' . (IDLE + 5000) ]);

is($failed, 0, 'enough file descriptors') or BAIL_OUT($said);

my $s = SvcTest->new(
    connections => IDLE + 2000,
    main => 'worker_rlimit_nofile ' . (IDLE + 4000) . ";\n",
    http => "    client_header_timeout 300s;\n    keepalive_timeout 300s;\n",
    scim => { svc_body_timeout => '300s' },
)->start;

my $acme = $s->tenant('acme');
my $user = $acme->create(userName => 'ada@acme.test');
my @workers = $s->workers;
my $host = sockaddr_in($s->port, INADDR_LOOPBACK);
my (@idle, $refused, $in);


# Returns the median time of 25 reads and writes, in seconds.

sub median {
    my ($who) = @_;

    my @times;

    for my $i (1 .. 25) {
        my $since = time();

        scim_ok($acme->scim(GET => "/Users/$user->{id}"), 200, "$who read");
        scim_ok($acme->scim(POST => '/Users',
                            { userName => "$who$i\@acme.test" }),
                201, 'and write');
        push @times, time() - $since;
    }

    return (sort { $a <=> $b } @times)[12];
}


my $alone = median('first');
my $rss = resident($s->workers);

# Connections are left in each state in which one may idle.

my $get = "GET /scim/v2/Users/$user->{id} HTTP/1.1\r\nHost: a\r\n"
          . "Authorization: Bearer $acme->{scim_token}\r\n\r\n";
my @state = ('', "GET /scim/v2/Users HTTP/1.1\r\nHost: a\r\n",
             "POST /scim/v2/Users HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer"
             . " $acme->{scim_token}\r\nContent-Length: 100\r\n\r\n{", $get);

for my $i (1 .. IDLE) {
    socket my $sock, PF_INET, SOCK_STREAM, 0 or die "socket: $!\n";

    if (!connect $sock, $host) {
        $refused++;
        next;
    }

    syswrite $sock, $state[$i % @state];

    # The last kind has had its answer, and is kept alive.

    if ($i % @state == 3) {
        $refused++ if !sysread($sock, $in, 65536) || $in !~ /^HTTP\S+ 200/;
    }

    push @idle, $sock;
}

is($refused, undef, 'all are taken');
is(scalar @idle, IDLE, 'ten thousand connections');

cmp_ok(median('others'), '<', 4 * $alone + slow(1), 'without waiting');
is($s->health->status, 200, 'healthy');
is("@{[ $s->workers ]}", "@workers", 'the workers are the same');

my $each = (resident($s->workers) - $rss) / IDLE;
cmp_ok($each, '<', 16, sprintf 'an idle connection costs %.1f kB', $each)
    if !$ENV{SVC_TEST_SLOW} || $ENV{SVC_TEST_SLOW} == 1;

# The idle connections are still good.

my $late = $idle[3];
syswrite $late, $get;
ok(sysread($late, $in, 65536) && $in =~ /^HTTP\S+ 200/,
   'one that was idle is served');

close $_ for @idle;

ok((wait_for { $s->nginx->sockets < 200 }), 'the workers are rid of all of them');

scim_ok($acme->scim(GET => '/Users?count=5'), 200, 'and all is well');

$s->done;
done_testing();
