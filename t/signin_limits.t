#!/usr/bin/perl

# How often sign-ins may be tried: by a client, for an address, until it is
# locked; with Redis and without.

use strict;
use warnings;
use feature qw(unicode_strings);

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Monitor;
use SvcTest::Process qw(wait_for);


# Clients have the address that X-Test-Address says, as behind a proxy.

# The queue is so long that nobody is refused on a slow machine, and hashes are
# as cheap as possible.

my %SVC = (svc_sign_in => 'on',
           svc_password_hash => 'memory=7m iterations=1 queue=1024'
                                . ' timeout=60s');
my %HTTP = (http => '    set_real_ip_from 127.0.0.1;'
                    . ' real_ip_header X-Test-Address;');

my $s = SvcTest->new(svc => { %SVC }, %HTTP)->start;
my $node = $s->node(svc => { %SVC }, %HTTP);
my $plain = $s->node(svc => { %SVC });
my $acme = $s->tenant('acme');
my $admin = $acme->token_for('members:manage,users:view');
my $n = 0;

$s->secret($PASSWORD);


# Returns a new client address each time, unless one is given.

sub from {
    my (%opt) = @_;

    return $opt{from} // sprintf '10.%d.%d.1', ++$n / 250, $n % 250;
}


sub body {
    my ($email, $password) = @_;

    return { email => $email, password => $password // 'wrong',
             tenant => 'acme' };
}


sub login {
    my ($email, $password, %opt) = @_;

    return $s->http(POST => '/v1/auth/login',
                    [ 'X-Test-Address' => from(%opt) ],
                    body($email, $password),
                    $opt{port} ? (port => $opt{port}) : ());
}


# Sends $count sign-ins at once.  Returns how many answers had each status and
# code.

sub burst {
    my ($count, $email, $password, %opt) = @_;

    my @c = map {
        $s->begin(POST => '/v1/auth/login', [ 'X-Test-Address' => from(%opt) ],
                  body(ref $email ? $email->($_) : $email, $password),
                  $opt{ports} ? (port => $opt{ports}[$_ % @{ $opt{ports} }]) : ())
    } 1 .. $count;
    my (%seen, @answers);

    for my $c (@c) {
        my $r = $c->read or die 'no answer: ' . $c->error . "\n";

        push @answers, $r;
        $seen{ join ' ', $r->status, ($r->json->{error} // {})->{code} // () }++;
        $c->close;
    }

    return wantarray ? (\%seen, @answers) : \%seen;
}


sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}


sub locks { return substr $s->redis->command('KEYS svc.lock.*'), 1 }


sub forget { $s->redis->command('FLUSHALL') }


sub user { return with_password($s, $acme, userName => "$_[0]\@acme.test") }


# --- an account is locked --------------------------------------------------------

my $ada = user('ada');
my $live = SvcTest::Browser->new($s, tenant => 'acme');

is($live->login('ada@acme.test')->status, 200, 'a session');

# once an account is answered as locked, no worker gives another answer

my @known = map { login('ADA@acme.test') } 1 .. 12;
my @unknown = map { login('nobody@acme.test') } 1 .. 12;
my $last = events('user.login_failed');

is(join(' ', map { $_->status } @known), join(' ', (401) x 9, (429) x 3),
   'nine are wrong, and the tenth locks');
admin_error($known[$_], 401, 'invalid_credentials', "attempt $_") for 0 .. 8;
admin_error($known[$_], 429, 'account_locked', "attempt $_") for 9 .. 11;

for my $r (@known[9 .. 11]) {
    cmp_ok($r->header('Retry-After'), '>=', 1, 'for how long');
    cmp_ok($r->header('Retry-After'), '<=', 900, 'at most');
}

# an unknown address gets the same answers, byte by byte

sub as_bytes {
    my ($r) = @_;

    my %h = %{ $r->{headers} };

    delete $h{$_} for qw(date x-request-id);
    $h{'retry-after'} =~ s/\d+/n/ if $h{'retry-after'};
    $h{'content-length'} = 'n' if $h{'retry-after'};

    return join "\n", $r->status, (map { "$_: $h{$_}" } sort keys %h),
                      $r->body =~ s/\d+ seconds/n seconds/r;
}

is(as_bytes($unknown[$_]), as_bytes($known[$_]), "attempt $_ tells nothing")
    for 0 .. 11;

is_deeply([ map { $_->{reason} } events('user.login_failed') ],
          [ ('wrong') x 10, ('unknown') x 10 ], 'why, in the audit log');
is(scalar(() = events('user.locked')), 1, 'locked once');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE details::text LIKE"
           . " '%nobody\@%' OR coalesce(target_name, '') LIKE '%nobody\@%'"),
   0, 'an address of nobody is not written');

$last = login('ada@acme.test', $PASSWORD);
admin_error($last, 429, 'account_locked', 'the right password does not help');
is($last->header('Set-Cookie'), undef, 'and makes no session');
is($live->get('/v1/auth/session')->status, 200, 'a session that lives goes on');
ok($acme->admin(GET => "/users/$ada->{id}", undef, [], $admin)->json->{locked},
   'the administrator sees it');

admin_error(login('ada@acme.test', $PASSWORD, port => $node->{port}), 429,
            'account_locked', 'on another node too');

# when Redis has forgotten the lock, PostgreSQL still has it

forget();
admin_error(login('ada@acme.test', $PASSWORD), 429, 'account_locked',
            'without what Redis knows');
admin_error(login('nobody@acme.test', $PASSWORD), 429, 'account_locked',
            'nor of nobody');

# unlocking resets what PostgreSQL and Redis count

login('ada@acme.test') for 1 .. 12;

my $r = $acme->admin(POST => '/users/unlock', { email => 'Ada@ACME.test' }, [],
                     $admin);

is($r->status, 200, 'unlocked') or diag($r->body);
is_deeply($r->json, { unlocked => JSON::PP::true }, 'it was locked');
is(login('ada@acme.test', $PASSWORD)->status, 200, 'and in at once');
is(scalar(() = events('user.unlocked')), 1, 'audited');
my %home = (from => '192.0.2.70');

is(login('ada@acme.test', 'wrong', %home)->status, 401, 'a failure after it');
is($s->sql("SELECT failed_logins FROM svc.user_account WHERE id = '$ada->{id}'"),
   1, 'is the first one');

# a success resets the failures

login('ada@acme.test', 'wrong', %home) for 1 .. 5;
is(login('ada@acme.test', $PASSWORD, %home)->status, 200, 'the right one');
is($s->sql("SELECT failed_logins FROM svc.user_account WHERE id = '$ada->{id}'"),
   0, 'after which none has failed');

# from the same address only.  A guesser elsewhere does not notice the success:
# his tenth failure locks, as it does for an unknown address.

for my $email ('ada@acme.test', 'ghost@acme.test') {
    forget();

    my $known = $email =~ /^ada/;
    my @guesses = map { login($email, 'wrong', from => '192.0.2.77') } 1 .. 8;

    if ($known) {
        is(login($email, $PASSWORD, from => '192.0.2.78')->status, 200,
           'somebody signs in meanwhile');
        is($s->sql("SELECT failed_logins FROM svc.user_account WHERE id = '$ada->{id}'"),
           8, 'what failed elsewhere still counts');
        is($s->sql('SELECT failed_since <= (SELECT min(at) + interval \'1 ms\''
                   . " FROM svc.sign_in WHERE user_id = '$ada->{id}' AND outcome ="
                   . " 'failure' AND ip = '192.0.2.77') FROM svc.user_account"
                   . " WHERE id = '$ada->{id}'"), 't', 'in the same window');
    }

    push @guesses, map { login($email, 'wrong', from => '192.0.2.77') } 9, 10;

    is_deeply([ map { $_->status } @guesses ], [ (401) x 9, 429 ], "of $email");
    is($guesses[9]->json->{error}{code}, 'account_locked', 'the tenth locks');
}

# a window and a lock that are over

forget();
$acme->admin(POST => '/users/unlock', { email => 'ada@acme.test' }, [], $admin);
login('ada@acme.test') for 1 .. 9;
$s->sql('UPDATE svc.user_account SET failed_since = now()'
        . " - interval '901 s' WHERE id = '$ada->{id}'");
forget();
admin_error(login('ada@acme.test'), 401, 'invalid_credentials',
            'the tenth, after the window');
forget();
login('ada@acme.test') for 1 .. 9;
$s->sql('UPDATE svc.user_account SET locked_until = now()'
        . " WHERE id = '$ada->{id}'");
forget();
is(login('ada@acme.test', $PASSWORD)->status, 200, 'when the lock is over');


# --- all at once ----------------------------------------------------------------------

for my $case ([ 'bob@acme.test', user('bob')->{id} ], [ 'none@acme.test' ]) {
    my ($email, $id) = @$case;

    my $locked = () = events('user.locked');
    my $failed = () = events('user.login_failed');
    my $seen = burst(200, $email, 'wrong', ports => [ $s->port, $node->{port} ]);
    my $wrong = $seen->{'401 invalid_credentials'} // 0;

    is($wrong + ($seen->{'429 account_locked'} // 0)
       + ($seen->{'429 rate_limited'} // 0), 200, "$email: 401 and 429 alone")
        or diag(explain($seen));
    cmp_ok($wrong, '<', 10, 'ten at the most were wrong');
    cmp_ok($seen->{'429 account_locked'} // 0, '>=', 1, 'and then locked');
    cmp_ok(events('user.login_failed') - $failed, '<=', 10,
           'no more were looked at');
    is(events('user.locked') - $locked, $id ? 1 : 0, 'locked once, if anybody');
    is($s->sql("SELECT failed_logins FROM svc.user_account WHERE id = '$id'"),
       10, 'ten are counted') if $id;
}

# the right password among wrong ones: never while the account is locked

my $carol = user('carol');
my $before = $s->sql('SELECT count(*) FROM svc.session');
my $locks = locks();

login('carol@acme.test') for 1 .. 9;

# the failure that locks is answered when all workers know of it, however late
# that is

my $held = $s->connect_as('postgres');

$held->query('BEGIN');
$held->query("SELECT FROM svc.user_account WHERE id = '$carol->{id}' FOR UPDATE");

my $tenth = $s->begin(POST => '/v1/auth/login', [ 'X-Test-Address' => from() ],
                      body('carol@acme.test'));

ok((wait_for { $s->waiting }), 'the tenth is about to lock');
$s->redis->command('CLIENT PAUSE 300 WRITE');
$held->query('COMMIT');
admin_error($tenth->read, 429, 'account_locked', 'the tenth');
is(locks(), $locks + 1, 'is known to Redis before it is answered');

my $seen = burst(40, 'carol@acme.test', $PASSWORD);

is_deeply($seen, { '429 account_locked' => 40 }, 'right ones behind a lock');
is($s->sql('SELECT count(*) FROM svc.session'), $before, 'make no session');
$acme->admin(POST => '/users/unlock', { userId => $carol->{id} }, [], $admin);
is(login('carol@acme.test', $PASSWORD)->status, 200, 'until it is unlocked');


# ASCII letters in any case are one address, as they are one user

with_password($s, $acme, userName => "jos\x{e9}\@acme.test");

for my $name ("jos\x{e9}", "ren\x{e9}e") {
    my @answers = map { login("$_\@acme.test") } ($name) x 5, ($name =~ tr/a-z/A-Z/r) x 5;

    is(join(' ', map { $_->status } @answers), join(' ', (401) x 9, 429),
       'in any case they are counted together');
    admin_error($answers[9], 429, 'account_locked', 'and locked');
}


# --- limits ------------------------------------------------------------------------------

forget();

sub exceeded { return events('rate_limit.exceeded') }


my @exceeded = exceeded();
my $monitor = SvcTest::Monitor->new($s->redis);
my @all = map { login("u$_\@acme.test", 'wrong', from => '192.0.2.7') } 1 .. 50;

is(scalar $monitor->wait(50, 'PUBLISH', 'svc.audit'), 50,
   'who follows the audit log is told of each');
push @all, map { login("u$_\@acme.test", 'wrong', from => '192.0.2.7') } 51 .. 53;
is_deeply([ map { $_->[-1] } $monitor->wait(1, 'PUBLISH', 'svc.audit') ],
          [ $acme->{id} ], 'and that it is too many');

is(join(' ', map { $_->status } @all), join(' ', (401) x 50, (429) x 3),
   'fifty from one client');
admin_error($all[$_], 429, 'rate_limited', "attempt $_") for 50 .. 52;
cmp_ok($all[50]->header('Retry-After'), '>=', 1, 'for how long');
cmp_ok($all[50]->header('Retry-After'), '<=', 300, 'at most');
is(login('u1@acme.test', 'wrong', from => '192.0.2.8')->status, 401,
   'another client goes on');
admin_error(login('ada@acme.test', $PASSWORD, from => '192.0.2.7',
                  port => $node->{port}),
            429, 'rate_limited', 'on another node, and with the right one');

ok((wait_for { exceeded() == @exceeded + 1 }), 'in the audit log');

my ($event) = (exceeded())[-1];

is_deeply($event, { family => 'login', key => 'ip', limit => 50, window => 300 },
          'with what was exceeded');
login('ada@acme.test', 'wrong', from => '192.0.2.7') for 1 .. 5;
is(scalar(() = exceeded()), @exceeded + 1, 'once a window');

# a client over its limit does not use up an address's limit

is(login('ada@acme.test', $PASSWORD)->status, 200,
   'an address is not counted by who is over the limit');

# IPv6 clients are counted by their /64

@all = map { login("v$_\@acme.test", 'wrong',
                   from => sprintf '2001:db8::%x:%x', $_, $_ * 7) } 1 .. 51;
is(join(' ', map { $_->status } @all), join(' ', (401) x 50, 429),
   'a /64 is one client');
admin_error($all[50], 429, 'rate_limited', 'as such');
is(login('v1@acme.test', 'wrong', from => '2001:db8:0:1::1')->status, 401,
   'the next one is another');

# a mapped IPv4 address is that IPv4 address

@all = map { login("w$_\@acme.test", 'wrong', from => $_ % 2
                   ? '198.51.100.3' : '::ffff:198.51.100.3') } 1 .. 51;
is($all[50]->status, 429, 'mapped or not');

# what a client says of itself is ignored where no proxy is trusted

$seen = {};

for (1 .. 51) {
    my $r = $s->http(POST => '/v1/auth/login', [
        'X-Forwarded-For' => "203.0.113.$_", 'X-Real-IP' => "203.0.113.$_",
        Forwarded => "for=203.0.113.$_", 'X-Test-Address' => "203.0.113.$_" ],
        body("x$_\@acme.test"), port => $plain->{port});

    $seen->{ $r->status }++;
}

is_deeply($seen, { 401 => 50, 429 => 1 }, 'is not believed');

# successful sign-ins are not counted

forget();
is(join(' ', map { login('ada@acme.test', $PASSWORD, from => '192.0.2.9')
                       ->status } 1 .. 55),
   join(' ', (200) x 55), 'who signs in is not limited');

# a malformed request counts for the client only

forget();
is(join(' ', map { login('ada@acme.test', '', from => '192.0.2.10')->status }
                 1 .. 51),
   join(' ', (400) x 50, 429), 'bad requests count');
is($s->sql("SELECT failed_logins FROM svc.user_account WHERE id = '$ada->{id}'"),
   0, 'but not as failures');

# requests from other origins are not counted

is($s->http(POST => '/v1/auth/login',
            [ 'X-Test-Address' => '192.0.2.11', Origin => 'https://evil.test' ],
            body('ada@acme.test'))->status, 403, 'of another origin')
    for 1 .. 12;
is($s->sql("SELECT failed_logins FROM svc.user_account WHERE id = '$ada->{id}'"),
   0, 'is no failure');
is(login('ada@acme.test', $PASSWORD, from => '192.0.2.11')->status, 200,
   'and counts for nobody');


# --- Redis is gone -----------------------------------------------------------------------

forget();

my %total;

for my $round (1 .. 4) {
    $s->redis->stop('KILL') if $round == 2;

    my $seen = burst(50, sub { "r$round-$_[0]\@acme.test" }, 'wrong',
                     from => '192.0.2.20');

    $total{$_} += $seen->{$_} for keys %$seen;
}

is(($total{'401 invalid_credentials'} // 0) + ($total{'429 rate_limited'} // 0),
   200, 'Redis goes: 401 and 429 alone') or diag(explain(\%total));
cmp_ok($total{'401 invalid_credentials'}, '<=', 100,
       'no more than Redis and the node admit');
cmp_ok($total{'401 invalid_credentials'}, '>=', 50, 'and no fewer');

is(login('ada@acme.test', $PASSWORD)->status, 200, 'others sign in');

my $dave = user('dave');

@all = map { login('dave@acme.test') } 1 .. 11;
is(join(' ', map { $_->status } @all), join(' ', (401) x 9, (429) x 2),
   'accounts are locked without it');
admin_error($_, 429, 'account_locked', 'as such') for @all[9, 10];
is($acme->admin(POST => '/users/unlock', { userId => $dave->{id} }, [],
                $admin)->status, 200, 'unlocked');
is(login('dave@acme.test', $PASSWORD)->status, 200, 'at once');

$s->redis->launch;
ok((wait_for { login('eve@acme.test', 'wrong', from => '192.0.2.30');
               $s->redis->command('EXISTS svc.rate.l.i.192.0.2.30') eq ':1' }),
   'it counts again when it is back');


is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
