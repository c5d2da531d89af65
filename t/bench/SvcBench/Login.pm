package SvcBench::Login;

# Sign-ins compared with bare hashes, requests during a flood of sign-ins, the
# cost of sessions, and whether the time tells that a user exists.

use strict;
use warnings;

use Time::HiRes qw(time);

use SvcBench::Load;
use SvcBench::Scim;
use SvcTest::Browser qw($PASSWORD $HASH);
use SvcTest::Process qw(run wait_for);


my $MEMORY = 19_456;                    # KiB, of svc_password_hash
my $ITERATIONS = 2;
my $CONCURRENCY = 1;                    # hashes of a worker at once
my $WORKERS = 2;
my $USERS = 1_000;                      # as in lua/login.lua
my $CROWD = 32;                         # connections
my $FLOOD = 64;                         # connections
my $EMAIL = 'user0@bench0.test';
my $MAX = 1_000_000;                    # the highest value of a limit
my $PATH = '/v1/admin/tenant';


# Returns the directives of nginx.  Limits are counted, and never reached.

sub directives {
    return (
        svc_sign_in => 'on',
        svc_password_hash => "memory=${MEMORY}k iterations=$ITERATIONS"
                             . " concurrency=$CONCURRENCY timeout=30s",
        svc_set => [ "RATE_LIMIT_LOGIN_IP_MAX $MAX",
                     "RATE_LIMIT_LOGIN_EMAIL_MAX $MAX",
                     'LOGIN_LOCKOUT_MAX 0' ],
    );
}


# Returns in KB a worker's hashes, and 8 MiB.

sub bound { return $CONCURRENCY * $MEMORY + 8 * 1024 }


# Gives the first users a password; the very first one is an owner.

sub prepare {
    my ($system) = @_;

    $system->{s}->sql(<<"EOT");
INSERT INTO svc.password (tenant_id, user_id, hash)
SELECT tenant_id, id, '$HASH' FROM svc.user_account
WHERE source = 'ldap' AND right(id::text, 12)::bigint < $USERS
ON CONFLICT DO NOTHING
EOT
    $system->{s}->sql("UPDATE svc.user_account SET role = 'owner'"
                      . " WHERE user_name = '$EMAIL'");
}


# Deletes what sign-ins have left, and resets the counts.

sub clean {
    my ($system) = @_;

    $system->{s}->sql("TRUNCATE svc.$_")
        for qw(session sign_in sign_in_address user_device user_seen
               login_phantom);
    limits($system);
    $system->reset;
}


sub limits {
    my ($system) = @_;

    my $redis = $system->{s}->redis;

    $redis->lines('DEL', $_) for $redis->lines('KEYS', 'svc.rate.*');
}


sub signed_in {
    my ($system) = @_;

    return scalar $system->{s}->sql(
        "SELECT count(*) FROM svc.sign_in WHERE outcome = 'success'");
}


# --- sign-ins -----------------------------------------------------------------

# Measures sign-ins: each answer of 200 has stored one.

sub logins {
    my ($system, $seconds) = @_;

    my $before = signed_in($system);
    my $n = SvcBench::Load::wrk($system, 'login', seconds => $seconds,
                                connections => $CROWD, threads => 1,
                                password => $PASSWORD);

    SvcBench::Scim::check($n, signed_in($system) - $before,
                          'sign-ins are stored');
    clean($system);

    return $n;
}


sub hashes {
    my ($root, $seconds) = @_;

    my ($status, $out) = run([ "$root/build/bench/argon2",
                               $WORKERS * $CONCURRENCY, $seconds, $MEMORY,
                               $ITERATIONS ], timeout => $seconds + 30);

    die "build/bench/argon2: $out\n" if $status || $out !~ /^[\d.]+$/;

    return { rate => $out + 0, requests => $out * $seconds, faults => [] };
}


# --- beside a flood -------------------------------------------------------------

sub flood {
    my ($system, $seconds) = @_;

    my $run = SvcBench::Load::wrk_start(
        $system, 'login', seconds => $seconds, connections => $FLOOD,
        threads => 1, password => $PASSWORD);

    wait_for { signed_in($system) > 0 } 60 or die "nobody signs in\n";

    return $run;
}


sub flood_end {
    my ($system, $run, $n) = @_;

    my $f = SvcBench::Load::wrk_end($run);

    SvcBench::Scim::check($f, signed_in($system), 'sign-ins are stored');
    push @{ $n->{faults} }, @{ $f->{faults} };
    clean($system);

    return $f;
}


sub gets_beside {
    my ($system, $seconds) = @_;

    my $run = flood($system, $seconds + 60);
    my $n = token_get($system, $seconds);

    die "the flood ended before the reads\n" if SvcBench::Load::ended($run);

    SvcBench::Load::stop($run);
    flood_end($system, $run, $n);

    return $n;
}


# Measures in KB the worker that grows the most.

sub memory {
    my ($system, $seconds) = @_;

    token_get($system, $seconds < 1 ? $seconds : 1);

    my @workers = $system->workers;
    my %idle = map { $_ => (SvcBench::System::rss($_))[0] } @workers;
    my $run = flood($system, $seconds + 60);
    my $grown = 0;
    my $end = time + $seconds;

    while (time < $end) {
        for (@workers) {
            my $more = (SvcBench::System::rss($_))[0] - $idle{$_};

            $grown = $more if $more > $grown;
        }

        select undef, undef, undef, 0.005;
    }

    SvcBench::Load::stop($run);

    my $n = { faults => [] };
    my $f = flood_end($system, $run, $n);

    return { %$n, rate => $f->{rate}, requests => $f->{requests},
             kilobytes => $grown };
}


# --- sessions -------------------------------------------------------------------

sub token_headers {
    my ($system) = @_;

    return "Authorization: Bearer $system->{tenants}[0]{api_token}\n";
}


# Returns the headers of a new session.

sub session_headers {
    my ($system) = @_;

    my $b = SvcTest::Browser->new($system->{s}, tenant => 'bench0');
    my $r = $b->login($EMAIL, $PASSWORD);

    die 'a sign-in: ' . $r->body . "\n" if $r->status != 200;

    return 'Cookie: ' . $b->cookie . "\nX-CSRF-Token: $b->{csrf}\n";
}


sub gets {
    my ($system, $seconds, $headers) = @_;

    return SvcBench::Load::wrk($system, 'send', seconds => $seconds,
                               connections => 64, method => 'GET',
                               path => $PATH, headers => $headers);
}


sub token_get {
    my ($system, $seconds) = @_;

    return gets($system, $seconds, token_headers($system));
}


sub session_get {
    my ($system, $seconds) = @_;

    my $n = gets($system, $seconds, session_headers($system));

    clean($system);

    return $n;
}


sub writes {
    my ($system, $seconds, $headers) = @_;

    my $n = SvcBench::Scim::change($system, 'put_one', $seconds,
                                   headers => $headers);

    clean($system);

    return $n;
}


sub token_write {
    my ($system, $seconds) = @_;

    return writes($system, $seconds, token_headers($system));
}


sub session_write {
    my ($system, $seconds) = @_;

    return writes($system, $seconds, session_headers($system));
}


# Measures refusals of an address that has long been over its limit.

sub limited {
    my ($system, $seconds) = @_;

    session_headers($system);

    my $redis = $system->{s}->redis;
    my ($key) = $redis->lines('KEYS', 'svc.rate.l.e.*')
        or die "no limit was counted\n";

    $redis->lines('SET', $key, 2 * $MAX, 'KEEPTTL');

    my $n = SvcBench::Load::wrk(
        $system, 'send', seconds => $seconds, connections => 64,
        method => 'POST', path => '/v1/auth/login', headers => '',
        body => qq({"email":"$EMAIL","password":"$PASSWORD",)
                . '"tenant":"bench0"}',
        refused => 429);

    clean($system);

    return $n;
}


# --- the time ---------------------------------------------------------------------

# Signs in to known and unknown addresses in turn, with a wrong password.  0.5:
# the time tells nothing.

sub told_by_time {
    my ($system, $times) = @_;

    my %time = (known => [], nobody => []);
    my $begin = time;

    for my $i (1 .. $times) {
        for my $kind ($i % 2 ? qw(known nobody) : qw(nobody known)) {
            my $email = $kind eq 'known' ? 'user10@bench0.test'
                                         : 'none10@bench0.test';
            my $since = time;
            my $r = $system->{s}->http(
                POST => '/v1/auth/login', [],
                { email => $email, password => 'wrong', tenant => 'bench0' });

            push @{ $time{$kind} }, time - $since;
            die 'a wrong password: ' . $r->body . "\n" if $r->status != 401;
        }
    }

    my $seconds = time - $begin;

    clean($system);

    return { rate => 2 * $times / $seconds, requests => 2 * $times,
             faults => [], auc => auc(@time{qw(known nobody)}) };
}


# Returns the probability that one of the first takes longer than one of the
# others.

sub auc {
    my ($first, $others) = @_;

    my @all = sort { $a->[0] <=> $b->[0] } (map { [ $_, 1 ] } @$first),
                                           (map { [ $_, 0 ] } @$others);
    my $ranks = 0;

    $all[$_][1] and $ranks += $_ + 1 for 0 .. $#all;

    return ($ranks - @$first * (@$first + 1) / 2) / (@$first * @$others);
}


1;
