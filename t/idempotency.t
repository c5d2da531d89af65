#!/usr/bin/perl

# Shows that a create that is sent again with its Idempotency-Key is not carried out
# again.

use strict;
use warnings;

use JSON::PP ();
use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Process qw(wait_for);

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;

my %token = (name => 'ci', scopes => [ 'users:view' ]);


sub create {
    my ($key, $body, %opt) = @_;

    my $r = ($opt{tenant} // $acme)->admin(
        POST => '/api-tokens', $body, [ 'Idempotency-Key' => $key ],
        $opt{token});
    my $secret = eval { $r->json->{secret} };

    $s->secret($secret) if defined $secret;

    return $r;
}


sub tokens {
    return $s->sql("SELECT count(*) FROM svc.credential WHERE name = 'ci'");
}


my $r = create('k1', \%token);
is($r->status, 201, 'created') or diag($r->body);
like($r->json->{secret}, qr/\Asvc_/, 'with its secret');
is($r->header('idempotency-replayed'), undef, 'the first time');

my %first = %{ $r->json };
delete $first{secret};

for (1 .. 3) {
    my $again = create('k1', \%token);

    is($again->status, 201, 'again');
    is($again->header('idempotency-replayed'), 'true', 'it is said so');
    is($again->header('content-type'), 'application/json', 'its type');
    is_deeply($again->json, \%first, 'the same answer, without the secret');
}

is(tokens(), 1, 'there is one token');
is($s->sql("SELECT count(*) FROM svc.audit_event"
           . " WHERE action = 'api_token.created'"), 1, 'and one event');
unlike($s->sql('SELECT reply FROM svc.idempotency'), qr/svc_[A-Za-z0-9_-]{8}/,
       'no secret is kept');

admin_error(create('k1', { %token, name => 'other' }), 409,
            'idempotency_conflict', 'another body');
admin_error(create($_, \%token), 400, 'invalid_request', 'a bad key')
    for '', 'x' x 256, "\x{e9}", "a\tb";
is(create('x' x 255, \%token)->status, 201, '255 characters');
is(create('k2', \%token)->status, 201, 'another key');
is(create('k1', \%token, tenant => $globex)->status, 201, 'of another tenant');

my $other = $acme->token(kind => 'api', permissions => 'tenant:manage,users:view');
is(create('k1', { %token, name => 'mine' }, token => $other->{token})->status,
   201, 'of another credential');
is(tokens(), 4, 'as many as were made');

admin_error($acme->admin(POST => '/api-tokens', \%token,
                         [ map { ('Idempotency-Key' => $_) } 'a', 'b' ]), 400,
            'invalid_request', 'two keys');

admin_error(create('k3', { %token, scopes => [ 'roles:manage' ] }), 403,
            'forbidden', 'a refusal');
is(create('k3', \%token)->status, 201, 'takes no key');
admin_error(create('k4', { name => 5 }), 400, 'invalid_request',
            'what is not valid');
is(create('k4', \%token)->status, 201, 'takes no key');
admin_error(create('k5', \%token, token => 'svc_nonsense'), 401,
            'unauthorized', 'who has no credential');

$s->sql("UPDATE svc.idempotency SET created_at = now() - interval '25 hours'");
$r = create('k1', \%token);
is($r->status, 201, 'after a day');
is($r->header('idempotency-replayed'), undef, 'it is a new one');
create("new-$_", \%token) for 1 .. 3;
is($s->sql("SELECT count(*) FROM svc.idempotency WHERE created_at <"
           . " now() - interval '24 hours' AND tenant_id = '$acme->{id}'"), 0,
   'old keys go');


# --- the same key at the same time -----------------------------------------------

my $before = tokens();
my @pids = map {
    my $pid = fork // die "fork: $!";

    if (!$pid) {
        my $r = $acme->admin(POST => '/api-tokens', \%token,
                             [ 'Idempotency-Key' => 'race' ]);
        POSIX::_exit($r->status == 201
                     ? $r->header('idempotency-replayed') ? 2 : 1
                     : $r->status == 409 ? 3 : 4);
    }

    $pid;
} 1 .. 20;

my %seen;
$seen{ (waitpid($_, 0), $? >> 8)[1] }++ for @pids;
is($seen{1}, 1, 'of twenty at once one creates');
is($seen{4} // 0, 0, 'the others are told so') or diag(explain(\%seen));
is(tokens(), $before + 1, 'there is one more');
is(create('race', \%token)->header('idempotency-replayed'), 'true',
   'and then its answer is known');


# --- a connection that breaks ----------------------------------------------------------

{
    my $lock = $s->connect_as('postgres');

    $lock->query('BEGIN');
    $lock->query('LOCK TABLE svc.credential IN EXCLUSIVE MODE');

    my $c = $s->begin(POST => '/v1/admin/api-tokens',
                      { Authorization => "Bearer $acme->{api_token}",
                        'Idempotency-Key' => 'broken' }, \%token);

    wait_for { $s->waiting };
    $c->close;
    $lock->query('COMMIT');

    my $r;
    wait_for { $r = create('broken', \%token); $r->status == 201 };
    is($r->header('idempotency-replayed'), 'true',
       'who has lost the answer gets it');
}


# --- an answer that could not be kept -------------------------------------------------

$s->sql("UPDATE svc.idempotency SET status = NULL, reply = NULL"
        . " WHERE key = 'race'");
admin_error(create('race', \%token), 409, 'idempotency_conflict',
            'an answer that is lost');

is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
