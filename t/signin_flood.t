#!/usr/bin/perl

# More sign-ins than passwords can be hashed, clients that leave meanwhile, and
# PostgreSQL stopping among them.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(slurp wait_for);


my $s = SvcTest->new(workers => 1, connections => 2048, svc => {
    svc_sign_in => 'on', svc_password_hash => 'queue=64 timeout=5s',
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0', 'RATE_LIMIT_LOGIN_EMAIL_MAX 0',
                 'LOGIN_LOCKOUT_MAX 0' ] })->start;
my $acme = $s->tenant('acme');
my @workers = $s->workers;

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');


sub body {
    my ($email, $password) = @_;

    return { email => $email, password => $password // $PASSWORD,
             tenant => 'acme' };
}


sub begin {
    my ($email, $password) = @_;

    return $s->begin(POST => '/v1/auth/login', [], body($email, $password));
}


sub login { return $s->http(POST => '/v1/auth/login', [], body(@_)) }


sub sessions {
    return scalar $s->sql('SELECT count(*) FROM svc.session');
}


# Returns the nice values of the worker: its main thread's, or all its other
# threads'.

sub nice {
    my ($thread) = @_;

    my ($rest) = (slurp("/proc/$workers[0]/task/$thread/stat") // '') =~ /\) (.*)/;

    return $rest ? (split ' ', $rest)[16] : ();
}


sub nices {
    my %seen = map { $_ => 1 }
               map { nice(m|(\d+)\z|) } glob "/proc/$workers[0]/task/*";

    return join ' ', sort { $a <=> $b } keys %seen;
}


# Returns how many answers have each status, and the answers.

sub answers {
    my (%seen, @answers);

    for my $c (@_) {
        my $r = $c->read;

        $seen{ $r ? $r->status : $c->error }++;
        push @answers, $r if $r;
        $c->close;
    }

    return (\%seen, @answers);
}


# --- 500 at once ----------------------------------------------------------------

my $nice = nice($workers[0]);

is(nices(), $nice, 'one priority, with no password to check');

my @c = map { begin('ada@acme.test') } 1 .. 500;
my %others;

ok((wait_for { nices() eq join ' ', $nice, $nice + 10 }),
   'hashes are behind what serves requests') or diag(nices());
is(nice($workers[0]), $nice, 'which is the loop');

$others{ $acme->admin(GET => '/tenant')->status }++ for 1 .. 5;

my $waiting = grep { $_->silent(0) } @c;
my ($seen, @answers) = answers(@c);

is_deeply(\%others, { 200 => 5 }, 'others are answered');
cmp_ok($waiting, '>', 0, 'while they still wait');
is(($seen->{200} // 0) + ($seen->{503} // 0), 500, '200 and 503 alone')
    or diag(explain($seen));
cmp_ok($seen->{200} // 0, '>=', 1, 'some have signed in');
cmp_ok($seen->{503} // 0, '>=', 300, 'most were too many');

my @busy = grep { $_->status == 503 } @answers;

admin_error($_, 503, 'unavailable', 'one too many') for $busy[0], $busy[-1];
is(scalar(grep { $_->header('Retry-After') ne '1' } @busy), 0,
   'each is to try again in a second');
is(scalar(grep { $_->header('Set-Cookie') } @busy), 0, 'without a cookie');
is($s->sql('SELECT count(*) FROM svc.sign_in'), $seen->{200},
   'a sign-in for each that was answered');
is(login('ada@acme.test')->status, 200, 'and it goes on');
ok((wait_for { nices() eq $nice }), 'threads of others have kept their priority');


# --- clients that leave -------------------------------------------------------------

my $before = $s->sql('SELECT count(*) FROM svc.sign_in');

for my $how (qw(close abort)) {
    my @gone = map { begin('ada@acme.test') } 1 .. 40;

    # some hashes are under way, most requests wait

    $gone[0]->read;
    $_->$how for @gone;
}

ok((wait_for { login('ada@acme.test')->status == 200 }),
   'who stays signs in');
cmp_ok($s->sql('SELECT count(*) FROM svc.sign_in') - $before, '<', 82,
       'not all of those who left have');
ok($s->unharmed(\@workers, 'clients that leave'), 'the worker is the same');


# --- PostgreSQL is gone -------------------------------------------------------------------

$before = sessions();
@c = map { begin('ada@acme.test') } 1 .. 30;
my ($seen_first, $first) = answers(shift @c);
$s->pg->stop('QUIT');
($seen, @answers) = answers(@c);

is(($seen->{200} // 0) + ($seen->{503} // 0), 29, '200 and 503 alone')
    or diag(explain($seen));
cmp_ok($seen->{503} // 0, '>=', 1, 'some came too late');
is(scalar(grep { $_->status == 503 && $_->header('Set-Cookie') } @answers), 0,
   'who was not told has no cookie');
admin_error(login('ada@acme.test'), 503, 'unavailable', 'and now nobody');

$s->pg->launch;
$s->wait_healthy;

my $told = ($seen->{200} // 0) + ($seen_first->{200} // 0);
my $made = sessions() - $before;

# a commit whose answer was lost leaves a session whose secret nobody has

cmp_ok($made, '>=', $told, 'a session for each that was told');
cmp_ok($made, '<=', 30, 'and for nobody who did not ask');
is($s->sql("SELECT count(*) FROM svc.session WHERE user_id <> '$ada->{id}'"), 0,
   'of nobody else');

for my $r (grep { $_ && $_->status == 200 } $first, @answers) {
    my ($cookie) = $r->header('Set-Cookie') =~ /(svc_session=[^;]+)/;

    is($s->http(GET => '/v1/auth/session', [ Cookie => $cookie ])->status, 200,
       'who was told has a session');
}

is(login('ada@acme.test')->status, 200, 'it goes on');
is($s->sql('SELECT count(*) FROM svc.audit_event'
           . " WHERE action = 'user.login'"),
   $s->sql('SELECT count(*) FROM svc.sign_in'), 'each with its event');


$s->done;
done_testing();
