#!/usr/bin/perl

# Shows what a worker's threads do with connections to a directory that are kept, and
# with a directory that does not answer: build/unit/ldap_eval asks as they do.

use strict;
use warnings;

use IO::Socket::INET;
use IPC::Open2 qw(open2);
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Process qw(on_exit repeated run slow wait_for);
use SvcTest::Skip;
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND);

needs(program => 'ldapwhoami');

my $TIMES = repeated('SVC_TEST_BINDS', 100, 1000);
my $PASSWORD = 'a-password-of-this-test';
my ($FOUND, $NONE, $WRONG, $FAILED, $LATE) = (0, 1, 3, 6, 7);

my $s = SvcTest->new(pg => 0, redis => 0);
my $slapd = SvcTest::Slapd->new($s);

$slapd->launch;

my $ada = $slapd->person(ada => (userPassword => $PASSWORD));
my %eval;


# Starts the tool, for one of the URLs, or for a port.

sub start {
    my ($name, $url, $port) = @_;
    my ($in, $out);

    my $pid = open2($out, $in, "$s->{root}/build/unit/ldap_eval", $url, '127.0.0.1', $port,
                    $slapd->ca_file, $SERVICE, $BIND, $SUFFIX, '(mail={email})');

    $in->autoflush;
    $eval{$name} = { in => $in, out => $out, pid => $pid };
}

sub order {
    my ($name, $line) = @_;
    my ($in, $out) = @{ $eval{$name} }{qw(in out)};

    print $in "$line\n";

    return scalar(<$out>) =~ s/\n//r;
}

sub ask { return order($_[0], 'ask ' . join ' ', @_[1 .. $#_]) }
sub connections { return scalar $slapd->lines('ACCEPT from') }
sub closed { return scalar $slapd->lines('fd=\d+ closed') }


for my $name (qw(ldap ldaps)) {
    my @kept = (0, 'kept');

    start($name, $name eq 'ldap' ? ($slapd->url, $slapd->{port})
                                 : ($slapd->urls, $slapd->{ports}));

    my $before = connections();

    like(ask($name, 'ada@example.test', $PASSWORD), qr/^$FOUND new \Q$ada\E [0-9a-f-]{36}$/,
         "$name: a user");
    like(ask($name, 'ada@example.test', $PASSWORD), qr/^$FOUND kept /, 'once more');
    like(ask($name, 'ada@example.test', 'wrong'), qr/^$WRONG kept /, 'a wrong password');
    like(ask($name, 'ada@example.test'), qr/^$FOUND kept /, 'it is still the service');
    like(ask($name, 'nobody@example.test', $PASSWORD), qr/^$NONE kept /, 'nobody');
    like(ask($name, 'ada@example.test', $PASSWORD), qr/^$FOUND kept /, 'and somebody again');
    is(connections() - $before, 1, 'all by one connection');

    order($name, 'clock 59999');
    like(ask($name, 'ada@example.test'), qr/^$FOUND kept /, 'it is kept for a minute');

    my $shut = closed();

    order($name, 'clock 60000');
    order($name, 'clock 5000');
    ok((wait_for { closed() > $shut }), 'and then closed');
    like(ask($name, 'ada@example.test'), qr/^$FOUND new /, 'so that there is a new one');

    for (1 .. 10) {
        order($name, 'clock 59000');
        ask($name, 'ada@example.test');
    }

    order($name, 'clock 10000');
    like(ask($name, 'ada@example.test'), qr/^$FOUND new /, 'none lives longer than ten minutes');

    $shut = closed();
    order($name, 'version 2');
    like(ask($name, 'ada@example.test'), qr/^$FOUND new /, 'nor than its configuration');
    ok((wait_for { closed() > $shut }), 'which closes it');
}

$slapd->stop;
$slapd->launch;
like(ask(ldaps => 'ada@example.test', $PASSWORD), qr/^$FOUND kept /,
     'what the directory has closed is made again');
$slapd->stop;
like(ask(ldaps => 'ada@example.test'), qr/^$FAILED kept .*refuses the connection/,
     'if it is there');
like(ask(ldaps => 'ada@example.test'), qr/^$FAILED new /, 'and nothing is kept then');
$slapd->launch;
like(ask(ldaps => 'ada@example.test'), qr/^$FOUND new /, 'until it is there again');


# --- a directory that does not answer ---------------------------------------------------

my $hung = IO::Socket::INET->new(Listen => 16, LocalAddr => '127.0.0.1');

start(hung => 'ldaps://127.0.0.1', $hung->sockport);
order(hung => 'deadline 100');
like(ask(hung => 'ada@example.test'), qr/^$LATE new .*nothing came in time/, 'late') for 1 .. 3;
is(ask(hung => 'ada@example.test'), 'rests', 'after the third time it is left alone');
order(hung => 'clock 9999');
is(ask(hung => 'ada@example.test'), 'rests', 'for ten seconds');
order(hung => 'clock 2');
like(ask(hung => 'ada@example.test'), qr/^$LATE /, 'then it is asked');
is(ask(hung => 'ada@example.test'), 'rests', 'once');


# --- how long it takes ------------------------------------------------------------------

# Beside ldapwhoami, which does a bind, and no search, by a connection for each.

my ($right, $us) = split ' ', order(ldaps => "repeat $TIMES ada\@example.test $PASSWORD");

is($right, $TIMES, 'all are right');

my $began = time;

for (1 .. $TIMES) {
    my ($status) = run([ 'ldapwhoami', '-x', '-H', $slapd->urls, '-D', $ada, '-w', $PASSWORD ],
                       env => { LDAPTLS_CACERT => $slapd->ca_file });

    fail('ldapwhoami') if $status != 0;
}

my $theirs = (time - $began) * 1e6 / $TIMES;
my $ours = $us / $TIMES;

note(sprintf 'a search and two binds %.0f us, ldapwhoami %.0f us: %.1f times', $ours, $theirs,
     $theirs / $ours);
cmp_ok($theirs / $ours, '>=', 5, 'a kept connection is five times as fast at least');

close $_->{in} for values %eval;

for (sort keys %eval) {
    waitpid $eval{$_}{pid}, 0;
    is($?, 0, "$_: nothing leaks");
}

$slapd->stop;

done_testing();
