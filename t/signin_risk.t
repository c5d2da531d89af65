#!/usr/bin/perl

# The signals of an unusual sign-in, and what the policies make of them.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);


my $s = SvcTest->new(
    http => '    set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;',
    svc => { svc_sign_in => 'on', svc_country => '$http_x_test_country',
             svc_coordinates => '$http_x_test_latitude $http_x_test_longitude',
             svc_password_hash => 'queue=1024 timeout=60s',
             svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0',
                          'RATE_LIMIT_LOGIN_EMAIL_MAX 0',
                          'LOGIN_LOCKOUT_MAX 0' ] })->start;
my $acme = $s->tenant('acme');
my $admin = $acme->token_for('tenant:manage,users:view');

my %AGENT = (firefox => 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101'
                        . ' Firefox/140.0',
             newer => 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101'
                      . ' Firefox/151.0',
             edge => 'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML,'
                     . ' like Gecko) Chrome/140 Safari/537.36 Edg/140');
my $n = 0;

$s->secret($PASSWORD);


sub set {
    my ($path, $body) = @_;

    my $r = $acme->admin(PUT => "/$path", $body, [], $admin);

    is($r->status, 200, "PUT /$path") or diag($r->body);
}


sub policy {
    my ($default, @rules) = @_;

    set('access-policy', { rules => [ @rules ], defaultAction => $default });
}


# Makes a user who has signed in once, with Firefox on Linux from 192.0.2.1 in
# France.

sub user {
    my (%opt) = @_;
    my $email = 'user' . ++$n . '@acme.test';
    my $user = with_password($s, $acme, userName => $email);

    is(login($email, %opt)->status, 200, "$email has signed in");

    return $email;
}


# Signs in.  Options: agent, address, country, at, password, browser.

sub login {
    my ($email, %opt) = @_;

    my $b = $opt{browser} // SvcTest::Browser->new($s, tenant => 'acme');

    return $b->ask(POST => '/v1/auth/login', {
        email => $email, tenant => 'acme',
        password => $opt{password} // $PASSWORD },
        'User-Agent' => $AGENT{ $opt{agent} // 'firefox' },
        'X-Test-Address' => $opt{address} // '192.0.2.1',
        'X-Test-Country' => $opt{country} // 'FR',
        map({ ("X-Test-$_" => shift @{ $opt{at} }) }
            $opt{at} ? qw(Latitude Longitude) : ()));
}


# Returns the details of the last event of an action.

sub last_event {
    my ($action) = @_;

    return ($acme->events_where("action = '$action'", 'details'))[-1][0];
}


# Signs in, and tests the score and the signals in the event.

sub risk {
    my ($name, $email, $opt, $score, @signals) = @_;

    is(login($email, %$opt)->status, 200, $name);
    is_deeply(last_event('user.login'),
              { score => $score, signals => [ @signals ], methods => [ 'password' ] },
              "$name: $score");
}


sub of {
    my ($email) = @_;

    return "user_id = (SELECT id FROM svc.user_account"
           . " WHERE user_name = '$email')";
}


# Known networks and countries are updated after the answer, by the sweep; the
# place of the latest sign-in at once.

sub swept {
    ok($s->sweep, 'all sign-ins are swept up');
}


# Makes failures of the last hour.

sub failing {
    my ($times, $email, %opt) = @_;

    is(login($email, password => 'wrong', %opt)->status, 401, "$email fails")
        for 1 .. $times;
}


# --- signals ---------------------------------------------------------------------------

set('risk-policy', { enabled => JSON::PP::true(), mfaThreshold => 99,
                     denyThreshold => 100 });

my $ada = user();

risk('as before', $ada, {}, 0);
risk('a newer browser of the kind', $ada, { agent => 'newer' }, 0);
risk('another address of the network', $ada, { address => '192.0.2.77' }, 0);
risk('another kind of browser', $ada, { agent => 'edge' }, 20, 'new_device');
risk('which is known then', $ada, { agent => 'edge' }, 0);
risk('another network', $ada, { address => '198.51.100.1' }, 10, 'new_network');
risk('which is known then', $ada, { address => '198.51.100.9' }, 0);
swept();
risk('another country', $ada, { country => 'DE' }, 25, 'new_country');
risk('which is known then', $ada, { country => 'DE' }, 0);
risk('all of it', $ada, { agent => 'edge', address => '2001:db8::1',
                          country => 'XK' },
     35, 'new_network', 'new_country');
risk('another /64 of the /48', $ada, { address => '2001:db8:0:5::1' }, 0);
swept();
risk('no country', $ada, { country => '' }, 0);

# impossible travel: more than 300 km, and faster than 900 km/h, where 100 km
# may be an error of the location

my %AT = (paris => [ 48.8566, 2.3522 ], london => [ 51.5074, -0.1278 ],
          cologne => [ 50.9375, 6.9603 ], berlin => [ 52.52, 13.405 ],
          madrid => [ 40.4168, -3.7038 ], auckland => [ -36.85, 174.76 ],
          fiji => [ -16.6, 179.99 ], taveuni => [ -16.6, -179.9 ],
          north => [ 90, 0 ], south => [ -90, 0 ]);


sub at { return (at => [ ref $_[0] ? @{ $_[0] } : @{ $AT{ $_[0] } } ]) }


sub travels {
    my ($from, $minutes, $to, $score) = @_;
    my $email = user(at($from));

    $s->sql("UPDATE svc.sign_in SET at = now() - interval '$minutes min' WHERE "
            . of($email));
    risk("$from to $to in $minutes min", $email, { at($to) }, $score,
         $score ? 'impossible_travel' : ());
}

travels('paris', 0, 'paris', 0);
travels('paris', 0, 'london', 0);           # 344 km
travels('paris', 0, 'cologne', 0);          # 402 km, the least of what counts
travels('paris', 0, 'berlin', 40);          # 878 km
travels('paris', 51, 'berlin', 40);
travels('paris', 53, 'berlin', 0);
travels('paris', 62, 'madrid', 40);         # 1053 km
travels('paris', 65, 'madrid', 0);
travels('paris', 20 * 60, 'auckland', 40);  # 18530 km
travels('paris', 21 * 60, 'auckland', 0);
travels('fiji', 0, 'taveuni', 0);           # 12 km, over the antimeridian
travels('north', 22 * 60, 'south', 40);     # 20015 km
travels('north', 23 * 60, 'south', 0);

my $here = user();

risk('who has been nowhere', $here, { at('berlin') }, 0);
risk('to nowhere', $here, {}, 0);
risk('from there', $here, { at('madrid') }, 0);
risk('and back', $here, { at('berlin') }, 40, 'impossible_travel');

for my $case ([ '48.8566', '2.3522', 48.9, 2.4 ], [ '-0.04', '-179.95', 0, -180 ],
              [ '90', '-180', 90, -180 ], [ '7.', '1' ], [ '.5', '1' ],
              [ '90.1', '1' ], [ '1', '180.1' ], [ '', '' ], [ '1', '' ],
              [ 'NaN', '1' ], [ '1e1', '1' ], [ '+1', '1' ], [ '--1', '1' ],
              [ '0001', '1' ], [ '1.2.3', '1' ], [ '1.x', '1' ], [ '-', '1' ])
{
    my ($latitude, $longitude, @stored) = @$case;

    user(at([ $latitude, $longitude ]));

    my ($row) = $s->sql('SELECT latitude, longitude FROM svc.sign_in'
                        . ' ORDER BY id DESC LIMIT 1');

    is_deeply([ map { defined $_ ? $_ + 0 : () } @$row ], \@stored,
              "stored of '$latitude' and '$longitude'");
}

# a device is recognized by its cookie, whatever its User-Agent

my $browser = SvcTest::Browser->new($s, tenant => 'acme');
my $bea = user();

is(login($bea, browser => $browser)->status, 200, 'a browser');
risk('the same one, as another', $bea, { browser => $browser, agent => 'edge' },
     0);

my $carl = user();

risk('for somebody else it is new', $carl, { browser => $browser,
                                             agent => 'edge' },
     20, 'new_device');

# a user's first sign-in is not unusual

my $first = 'first@acme.test';

with_password($s, $acme, userName => $first);
risk('the very first one', $first, { agent => 'edge', address => '203.0.113.1',
                                     country => 'US' }, 0);

# signals of failures

for my $case ([ 2, 0 ], [ 3, 10 ], [ 6, 20 ], [ 10, 30 ]) {
    my ($times, $score) = @$case;
    my $email = user();

    failing($times, $email, address => '203.0.113.' . (10 + $times));
    risk("after $times failures", $email, {}, $score,
         $score ? 'recent_failures' : ());
}

my $dora = user();

failing(1, "none$_\@acme.test", address => '192.0.2.99') for 1 .. 5;
risk('from where five addresses have failed', $dora,
     { address => '192.0.2.99' }, 30, 'failing_address');
$s->sql("UPDATE svc.sign_in SET at = at - interval '61 min'"
        . " WHERE outcome = 'failure'");
risk('an hour later', $dora, { address => '192.0.2.99' }, 0);

# a sign-in long ago, and usual hours

my $egon = user();

$s->sql("UPDATE svc.sign_in SET at = now() - interval '31 days' WHERE "
        . of($egon));
risk('after 31 days', $egon, {}, 10, 'long_absent');

my $ines = user();

swept();
$s->sql('DELETE FROM svc.sign_in WHERE ' . of($ines));
$s->sql("UPDATE svc.user_account SET last_login_at = now() - interval '91 days'"
        . " WHERE user_name = '$ines'");
risk('after all sign-ins have gone', $ines, {}, 10, 'long_absent');

my $fritz = user();

swept();
$s->sql('INSERT INTO svc.sign_in (tenant_id, at, user_id, ip)'
        . " SELECT '$acme->{id}', now() - i * interval '1 day'"
        . " - interval '6 hours', id, '192.0.2.1' FROM svc.user_account,"
        . " generate_series(1, 60) i WHERE user_name = '$fritz'");
$s->sql("DELETE FROM svc.sign_in WHERE at > now() - interval '1 hour' AND "
        . of($fritz));
risk('at another hour than ever', $fritz, {}, 5, 'unusual_hour');

# known values are forgotten after their time

my $gina = user();

swept();
$s->sql('DELETE FROM svc.sign_in WHERE ' . of($gina));
$s->sql("UPDATE svc.user_seen SET last_at = now() - interval '181 days'"
        . ' WHERE ' . of($gina));
risk('what was seen half a year ago', $gina, {}, 35, 'new_network',
     'new_country');


# --- from a script ----------------------------------------------------------------

my $script = user();

$s->sql("INSERT INTO svc.user_device (tenant_id, user_id, hash, last_at)"
        . " SELECT tenant_id, id, sha256(n::text::bytea), now() - n * interval '1 h'"
        . " FROM svc.user_account, generate_series(1, 60) n"
        . " WHERE user_name = '$script'");
$s->sql("INSERT INTO svc.user_seen (tenant_id, user_id, kind, value, last_at)"
        . " SELECT tenant_id, id, 'network', '10.0.' || n || '.0/24',"
        . " now() - n * interval '1 h'"
        . " FROM svc.user_account, generate_series(1, 120) n"
        . " WHERE user_name = '$script'");

is(login($script)->status, 200, 'once more');
swept();
is($s->sql('SELECT count(*) FROM svc.user_device WHERE ' . of($script)), 50,
   'so many devices stay');
is($s->sql('SELECT count(*) FROM svc.user_seen WHERE ' . of($script)
           . " AND kind = 'network'"), 100, 'and so many networks');
is($s->sql('SELECT count(*) FROM svc.user_device WHERE ' . of($script)
           . " AND last_at < now() - interval '50 h'"), 0, 'the newest ones');


# --- thresholds --------------------------------------------------------------------------

my %there = (agent => 'edge', address => '203.0.113.200');      # 30

sub threshold {
    my ($mfa, $deny) = @_;

    set('risk-policy', { enabled => JSON::PP::true(), mfaThreshold => $mfa,
                         denyThreshold => $deny });
}

my $hans = user();
my $sessions = $s->sql('SELECT count(*) FROM svc.session');

threshold(20, 30);

my $r = login($hans, %there);

admin_error($r, 403, 'access_denied', 'the score is the threshold');
is($r->header('Set-Cookie'), undef, 'without a cookie');
is($r->header('Cache-Control'), 'no-store', 'not stored');
is_deeply(last_event('user.login_failed'),
          { reason => 'risk', score => 30,
            signals => [ 'new_device', 'new_network' ] }, 'audited, with why');
is($s->sql('SELECT count(*) FROM svc.session'), $sessions, 'no session');
admin_error(login($hans, %there, password => 'wrong'), 401,
            'invalid_credentials', 'a wrong password is a wrong password');
is(login($hans)->status, 200, 'from where he is known');

threshold(30, 31);
admin_error(login($hans, %there), 403, 'access_denied',
            'a second factor that there is not, because of a risk');
$s->sql("UPDATE svc.user_account SET mfa_enrolled = true WHERE user_name"
        . " = '$hans'");
admin_error(login($hans, %there), 403, 'step_up_required', 'one that there is');
$s->sql("UPDATE svc.user_account SET mfa_enrolled = false WHERE user_name"
        . " = '$hans'");

threshold(31, 32);
is(login($hans, %there)->status, 200, 'below both');

set('risk-policy', { enabled => JSON::PP::false(), mfaThreshold => 1,
                     denyThreshold => 2 });
risk('switched off', $hans, { agent => 'edge', address => '203.0.114.9',
                              country => 'NZ' }, 0);


# --- access policy and blocks ----------------------------------------------------------------

my $ivo = user();

sub denied {
    my ($reason, $address) = @_;

    my @bodies = map { $_->body } map {
        admin_error($_, 403, 'access_denied', "denied: $reason"); $_
    } login($ivo, address => $address),
      login($ivo, address => $address, password => 'wrong'),
      login('nobody@acme.test', address => $address);

    is($bodies[$_], $bodies[0], 'whoever it is, and with what') for 1, 2;
    is(last_event('user.login_failed')->{reason}, $reason, 'audited');
}

policy('allow', { name => 'Elsewhere', action => 'deny',
                  networks => [ '203.0.113.0/24' ] });
denied('policy', '203.0.113.9');
is(login($ivo)->status, 200, 'from elsewhere');
policy('allow', { name => 'Abroad', action => 'deny', countries => [ 'AQ' ] });
admin_error(login($ivo, country => 'AQ'), 403, 'access_denied', 'by country');

# it is denied before the hash, so that a damaged password is not noticed

sub damaged { return scalar(() = grep { /is damaged/ } $s->nginx->log_lines) }

my $damaged = user();

$s->sql("UPDATE svc.password SET hash = '\$argon2id\$v=19\$m=4294967295,t=2,p=1"
        . "\$AAAA\$AAAA' WHERE " . of($damaged));
admin_error(login($damaged, country => 'AQ'), 403, 'access_denied',
            'one with a damaged password');
is(damaged(), 0, 'which nobody looked at');
admin_error(login($damaged), 401, 'invalid_credentials',
            'a password of 4 GiB elsewhere');
is(damaged(), 1, 'and here it was');
is($s->sql('SELECT sum(failed_logins) FROM svc.user_account'
           . " WHERE user_name = '$ivo'"), 0, 'denied is not failed');

policy('mfa');
admin_error(login($ivo), 403, 'mfa_enrollment_required', 'mfa');
admin_error(login($ivo, password => 'wrong'), 401, 'invalid_credentials',
            'which only who knows the password is told');
policy('allow', { name => 'Office', action => 'mfa',
                  networks => [ '192.0.2.0/24' ] });
admin_error(login($ivo), 403, 'mfa_enrollment_required', 'mfa by a rule');
is(login($ivo, address => '198.51.100.1')->status, 200, 'and not elsewhere');
policy('allow');

$s->sql("INSERT INTO svc.ip_block (tenant_id, ip, created_by_type)"
        . " VALUES ('$acme->{id}', '198.51.100.66', 'user')");
denied('blocked', '198.51.100.66');
denied('blocked', '::ffff:198.51.100.66');
is(login($ivo, address => '198.51.100.67')->status, 200, 'the next address');
$s->sql("UPDATE svc.ip_block SET created_at = now() - interval '2 h',"
        . " expires_at = now() - interval '1 s'");
is(login($ivo, address => '198.51.100.66')->status, 200,
   'a block that is over');


is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done(allow => [ qr/\[alert\] .* stored password of a user is damaged/ ]);
done_testing();
