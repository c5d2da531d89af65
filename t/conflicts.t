#!/usr/bin/perl

# Shows that a refusal is a verdict, not an error of PostgreSQL: it leaves nothing in
# PostgreSQL's log, however often the request is sent.
#
# Environment: SVC_TEST_DUPLICATES, how often (2,000 for each request).

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Governance;
use SvcTest::Load;
use SvcTest::Process qw(repeated slurp);
use SvcTest::Scim;


my $N = repeated(SVC_TEST_DUPLICATES => 400, 2_000);

# PostgreSQL logs as it does by default, but for what depends on time.

my $s = SvcTest->new(pg_conf => "log_min_messages = warning\n"
                                . "log_min_error_statement = error\n"
                                . "log_checkpoints = off\n",
                     http => "    keepalive_requests 1000000000;\n")->start;

my $acme = $s->tenant('acme');
my $api = $acme->token_for($ALL);
my ($ada, $bob) = map { $acme->create(userName => "$_\@acme.test",
                                      externalId => $_) } qw(ada bob);
my ($first, $second) = map {
    my $r = $acme->admin(POST => '/groups', { name => $_ }, undef, $api);
    $r->status == 201 or die $r->body;
    $r->json;
} qw(First Second);

$acme->admin(POST => '/roles', { key => 'made', name => 'Made',
                                 permissions => [] }, undef, $api);
$acme->admin(POST => '/password-policy/groups',
             { groupId => $first->{id}, minLength => 20 }, undef, $api);

my $hook = 'https://hooks.example.com/';
my $none = '00000000-0000-4000-8000-000000000000';
my $huge = '9' x 30;


sub log_size { return -s $s->pg->{log} }


# Sends one request many times: each is answered with the status, nothing is stored,
# and the log does not grow.

sub many {
    my ($name, $n, $status, $method, $path, $body, @headers) = @_;

    my $scim = $path =~ m{^/scim/};
    my $before = $acme->stored;
    my $size = log_size();

    my $seen = SvcTest::Load::flood($s, $n, $method, $path,
        [ Authorization => 'Bearer ' . ($scim ? $acme->{scim_token} : $api),
          'Content-Type' => $scim ? 'application/scim+json'
                                  : 'application/json', @headers ],
        $body);

    is_deeply($seen->{status}, { $status => $n }, "$name: $status");
    is($acme->stored, $before, "$name: nothing is stored");
    is(log_size() - $size, 0, "$name: PostgreSQL's log has not grown");
    note(sprintf '%s: %d a second', $name, $n / $seen->{seconds});
}


# --- conflicts ---------------------------------------------------------------

many('the same userName', $N, 409, POST => '/scim/v2/Users',
     { userName => 'ADA@acme.test' });
many('the same externalId', $N, 409, POST => '/scim/v2/Users',
     { userName => 'new@acme.test', externalId => 'ada' });
many('PUT of an externalId', $N, 409, PUT => "/scim/v2/Users/$bob->{id}",
     { userName => 'bob@acme.test', externalId => 'ada', active => \0 });
many('PATCH of an externalId', $N, 409, PATCH => "/scim/v2/Users/$bob->{id}",
     patch_op({ op => 'replace', value => { externalId => 'ada',
                                            active => \0 } }));
many('an e-mail address', $N, 409, PUT => "/v1/admin/users/$bob->{id}",
     { email => 'ADA@acme.test', title => 'T' });
many('a group', $N, 409, POST => '/v1/admin/groups', { name => 'FIRST' });
many('a rename', $N, 409, PUT => "/v1/admin/groups/$second->{id}",
     { name => 'first', description => 'x' });
many('a role', $N, 409, POST => '/v1/admin/roles',
     { key => 'made', name => 'Again', permissions => [] });
many('an override', $N, 409, POST => '/v1/admin/password-policy/groups',
     { groupId => $first->{id}, minLength => 20 });
many('a group with a key', $N / 10, 409, POST => '/v1/admin/groups',
     { name => 'FIRST' }, 'Idempotency-Key' => 'k');

is($s->sql('SELECT count(*) FROM svc.idempotency'), 0, 'the key is given back');

# The messages are those of the constraints.

my %MESSAGE = (
    'A user with this userName exists already.' => [ 'ada@acme.test', 'x' ],
    'A user with this externalId exists already.' => [ 'x@acme.test', 'ada' ],
);

for my $detail (sort keys %MESSAGE) {
    my ($name, $external) = @{ $MESSAGE{$detail} };
    my $r = $acme->scim(POST => '/Users', { userName => $name,
                                            externalId => $external });

    scim_error($r, 409, 'uniqueness', $detail);
    is($r->json->{detail}, $detail, 'as it says');
}

is(admin_error($acme->admin(PUT => "/users/$bob->{id}",
                            { email => 'ada@acme.test' }, undef, $api),
               409, 'email_taken', 'an e-mail address')->{message},
   'A user with this e-mail address exists already.', 'as it says');
is(admin_error($acme->admin(POST => '/groups', { name => 'first' }, undef,
                            $api), 409, 'conflict', 'a group')->{message},
   'A group with this name exists already.', 'as it says');

# A user's own value is no conflict.

scim_ok($acme->scim(PATCH => "/Users/$bob->{id}",
                    patch_op({ op => 'replace', path => 'externalId',
                               value => 'bob' })), 200, 'the same externalId');
is($acme->admin(PUT => "/users/$bob->{id}", { email => 'BOB@acme.test' }, undef,
                $api)->status, 200, 'the same address in another case');
is($acme->admin(PUT => "/groups/$first->{id}", { name => 'FIRST' }, undef,
                $api)->status, 200, 'the same name in another case');

# Of equal creates at the same time one succeeds.

for my $round (1 .. 5) {
    my @c = map { $s->connection } 1 .. 20;

    $_->send($_->format(POST => '/scim/v2/Users', $acme->headers,
        SvcTest::encode({ userName => "race$round\@acme.test",
                          externalId => "race$round" }))) for @c;

    my %n;
    $n{ $_->read->status }++ for @c;

    is_deeply(\%n, { 201 => 1, 409 => 19 }, 'at the same time: one is made');
}


# --- other requests that are refused -----------------------------------------

my $few = $N / 20;

$acme->admin(PUT => '/access-policy', { rules => [], defaultAction => 'mfa' },
             undef, $api);

my $version = $s->sql('SELECT id FROM svc.access_policy_version');

many('a version that is no number', $few, 412,
     POST => "/v1/admin/access-policy/versions/$version/restore", '{}',
     'If-Match' => qq{"$huge"});
many('the same of the tenant', $few, 412, PATCH => '/v1/admin/tenant',
     { name => 'X' }, 'If-Match' => qq{"$huge"});
many('the same of a policy', $few, 412, PUT => '/v1/admin/risk-policy',
     { enabled => \1 }, 'If-Match' => qq{"$huge"});
many('no such user', $few, 404, GET => '/v1/admin/users/' . 'x' x 50);
many('no such member', $few, 400,
     POST => "/v1/admin/groups/$first->{id}/members", { userId => $none });
many('no such group', $few, 400, POST => '/v1/admin/password-policy/groups',
     { groupId => $none, minLength => 20 });

my $owner = $s->sql('INSERT INTO svc.user_account (tenant_id, id, user_name,'
                    . " role) VALUES ('$acme->{id}', gen_random_uuid(),"
                    . " 'owner\@acme.test', 'owner') RETURNING id");
$s->sql("UPDATE svc.user_account SET role = 'made' WHERE id = '$ada->{id}'");

many('the last owner', $few, 400, DELETE => "/v1/admin/users/$owner");
many('a role in use', $few, 409, DELETE => '/v1/admin/roles/made');
many('thresholds', $few, 400, PUT => '/v1/admin/risk-policy',
     { mfaThreshold => 90, denyThreshold => 10 });

$s->done;
done_testing();
