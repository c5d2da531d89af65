#!/usr/bin/perl

# Sessions that end while one of their requests is under way.

use strict;
use warnings;

use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(slow wait_for);
use SvcTest::Skip;
use SvcTest::Session qw(session_of);
use SvcTest::Sse;


my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');
my $ADA = "id = '$ada->{id}'";


sub signed_in {
    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    is($b->login('ada@acme.test')->status, 200, 'she signs in');

    return $b;
}


# Returns her password hash, and how many live sessions she has.

sub stored {
    return $s->sql(<<"EOT");
SELECT encode(p.hash, 'hex') || ' ' || (SELECT count(*) FROM svc.session s
    WHERE s.user_id = u.id AND s.ended_at IS NULL AND s.created_at >= u.valid_after)
FROM svc.user_account u JOIN svc.password p ON p.user_id = u.id WHERE u.$ADA
EOT
}


sub waiting {
    return $s->sql("SELECT count(*) FROM pg_stat_activity"
                   . " WHERE wait_event_type = 'Lock'");
}


# --- an administrator is faster ----------------------------------------------------

for my $what ([ '/v1/auth/sessions/revoke-others' ],
              [ '/v1/auth/password', { currentPassword => $PASSWORD,
                                       newPassword => 'of nobody any more' } ])
{
    my ($path, $body) = @$what;
    my $b = signed_in();
    my $holder = $s->connect_as('postgres');

    $holder->query('BEGIN');
    $holder->query('UPDATE svc.user_account SET valid_after = clock_timestamp()'
                   . " WHERE $ADA");

    my $c = $s->begin(POST => $path, [ Cookie => $b->cookie,
                                       'X-CSRF-Token' => $b->{csrf} ], $body);

    ok((wait_for { waiting() }), "$path waits for the user");
    $holder->query('COMMIT');

    my $before = stored();

    is($c->read->status, 401, 'and is told that the session has ended');
    is(stored(), $before, 'no session comes of it, and no password');
    like($before, qr/ 0\z/, 'none is alive');
    admin_error($b->get('/v1/auth/session'), 401, 'unauthenticated', 'it has ended');
}


# --- twice at once -------------------------------------------------------------------

my $page = signed_in();
my $holder = $s->connect_as('postgres');

$holder->query('BEGIN');
$holder->query("SELECT FROM svc.user_account WHERE $ADA FOR UPDATE");

my @twice = map {
    my $n = $_;
    my $c = $s->begin(POST => '/v1/auth/sessions/revoke-others',
                      [ Cookie => $page->cookie, 'X-CSRF-Token' => $page->{csrf} ]);

    ok((wait_for { waiting() == $n }), 'a click');
    $c;
} 1, 2;

$holder->query('COMMIT');

my @r = sort { $a->status <=> $b->status } map { $_->read } @twice;

is_deeply([ map { $_->status } @r ], [ 200, 401 ], 'one of them goes on');
$page->keep($r[0]);
is($page->get('/v1/auth/session')->status, 200, 'and is not ended by the other');


# --- a user who goes meanwhile ---------------------------------------------------------

my $eve = with_password($s, $acme, userName => 'eve@acme.test');

$holder->query('BEGIN');
$holder->query("DELETE FROM svc.user_account WHERE id = '$eve->{id}'");

my $late = $s->begin(POST => '/v1/auth/login', [],
                     { email => 'eve@acme.test', password => 'wrong', tenant => 'acme' });

ok((wait_for { waiting() }), 'a failure waits for the user');
$holder->query('COMMIT');

is($late->read->status, 429, 'and is refused');
is($s->redis->command('KEYS svc.lock.*'), '*0', 'but nothing locks the address');


# --- a stream ---------------------------------------------------------------------------

my $e = SvcTest::Sse->new($s, undef, '/v1/admin/audit/stream', undef,
                          cookie => $page->cookie);

ok($e->open && $e->{answer}->status == 200, 'a stream');
$s->sql("UPDATE svc.session SET last_seen_at = now() - interval '5 min'"
        . " WHERE user_id = '$ada->{id}'");

for my $n (1 .. 3) {
    $acme->create(userName => "user$n\@acme.test");
    ok($e->wait_for($n), "event $n");
}

my $SEEN = "SELECT count(*) FROM svc.session WHERE user_id = '$ada->{id}'"
           . " AND last_seen_at > now() - interval '4 min'";

is($s->sql($SEEN), 0, 'nobody is seen for it');

for my $last ($e->last_id, undef) {
    my $next = SvcTest::Sse->new($s, undef, '/v1/admin/audit/stream', $last,
                                 cookie => $page->cookie);

    ok($next->open && $next->{answer}->status == 200, 'another one');

    if ($last) {
        $acme->create(userName => 'next@acme.test');
        ok($next->wait_for(1), '... that goes on behind an event');
        is($s->sql($SEEN), 0, '... for which nobody is seen');

    } else {
        ok((wait_for { $s->sql($SEEN) == 1 }), '... that begins: somebody is');
    }
}

$s->sql("UPDATE svc.session SET last_seen_at = now() - interval '5 min'"
        . " WHERE user_id = '$ada->{id}'");

$s->sql("UPDATE svc.user_account SET valid_after = clock_timestamp() WHERE $ADA");
$acme->create(userName => 'last@acme.test');
is($e->wait_end, 'end', 'it ends with the session, complete');
is(scalar @{ $e->{events} }, 4, 'and says nothing more');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

# --- a whole tenant's, while others lock several users ------------------------------

# the users with greater ids come first in the table

my $globex = $s->tenant('globex');
my @ids = map { "00000000-0000-4000-8000-00000000000$_" } 1 .. 3;

for my $id (reverse @ids) {
    $s->sql('INSERT INTO svc.user_account (tenant_id, id, user_name) VALUES'
            . " ('$globex->{id}', '$id', 'u$id\@globex.test')");
    $s->sql(session_of($id));
}

my $first = $s->connect_as('postgres');
my $lock = 'SELECT FROM svc.user_account WHERE id';

$first->query('BEGIN');
$first->query("$lock = '$ids[0]' FOR UPDATE");

my $pid = fork // die "fork: $!";

if (!$pid) {
    my $text = eval { $s->svcctl('sessions', 'end', '--tenant', 'globex') } // $@;

    POSIX::_exit($text =~ /^The sessions of 3 users/m ? 0 : 1);
}

ok((wait_for { waiting() }), 'svcctl waits for the first one');
ok(eval { $first->query("$lock = '$ids[2]' FOR UPDATE NOWAIT"); 1 },
   'and has locked none behind it') or diag($@);
$first->query('ROLLBACK');
waitpid $pid, 0;
is($?, 0, 'then it ends all sessions');


# --- what a sign-in leaves in memory ----------------------------------------------------

# Returns how often a text is in the workers' writable memory, except in the
# buffers in which the request came, which are nginx's.

sub in_memory {
    my ($what) = @_;
    my $found = 0;
    no warnings 'portable';     # for addresses of 64 bits

    for my $worker ($s->workers) {
        open my $maps, '<', "/proc/$worker/maps" or die "maps: $!";
        open my $memory, '<:raw', "/proc/$worker/mem" or die "mem: $!";

        for (grep { / rw-p / } <$maps>) {
            my ($from, $to) = map { hex } /^(\w+)-(\w+) /;

            sysseek $memory, $from, 0 or next;
            sysread $memory, my $bytes, $to - $from or next;
            $found++ while $bytes =~ /\Q$what\E/g;
        }
    }

    return $found;
}

my $ida = with_password($s, $acme, userName => 'ida@acme.test');
my $phc = $s->sql("SELECT convert_from(hash, 'UTF8') FROM svc.password"
                  . " WHERE user_id = '$ida->{id}'");

like($phc, qr/\A\$argon2id\$/, 'a password as it is imported');
is(SvcTest::Browser->new($s, tenant => 'acme')->login('ida@acme.test')->status, 200,
   'its user signs in');

# a password has no control character; in nginx's buffers every character is
# escaped

my $typed = 'the brown harbour cat of my late aunt Ottilie';
my $escaped = join '', map { sprintf '\\u%04x', ord } split //, "$typed\x01";

is(SvcTest::Browser->new($s, tenant => 'acme')->ask(POST => '/v1/auth/login',
       qq({"email":"ida\@acme.test","password":"$escaped"}))->status, 400,
   'what is no password');

SKIP: {
    skip_part('a sanitizer keeps freed memory, and maps terabytes', 3)
        if $ENV{SVC_TEST_SLOW};

    cmp_ok(in_memory($s->dir), '>', 0, 'workers know where they are');
    is(in_memory($phc), 0, 'no worker has it any more');
    is(in_memory($typed), 0, 'and none has what was refused');
}


$s->done;
done_testing();
