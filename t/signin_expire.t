#!/usr/bin/perl

# What sign-ins leave behind is deleted when it is not needed any more: sign-ins
# after ninety days, failures for unknown addresses with their window and their
# lock.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(slow wait_for);
use SvcTest::Session qw(add_addresses);


my $WINDOW = 120;

my %SVC = (svc_sign_in => 'on', svc_set => "LOGIN_LOCKOUT_WINDOW $WINDOW");

my $s = SvcTest->new(workers => 1, svc => { %SVC })->start;
my $acme = $s->tenant('acme');
my $ada = with_password($s, $acme, userName => 'ada@acme.test');

$s->secret($PASSWORD);


# --- what there is ---------------------------------------------------------------

my %AGE = (89 => 'stays', 91 => 'goes', 200 => 'goes');

$s->sql('INSERT INTO svc.sign_in (tenant_id, at, user_id, ip, outcome) SELECT'
        . " '$acme->{id}', now() - make_interval(days => d), '$ada->{id}',"
        . " ('192.0.2.' || d)::inet, o FROM unnest('{89,91,200}'::int[]) d,"
        . " unnest('{success,failure}'::text[]) o");
add_addresses($s);

# name => [ seconds since the first failure, seconds until the lock ends ]

my %PHANTOM = ('in its window' => [ $WINDOW - 60, undef ],
               'locked' => [ $WINDOW + 60, 600 ],
               'locked in its window' => [ $WINDOW - 60, 600 ],
               'over' => [ $WINDOW + 60, undef ],
               'and so its lock' => [ $WINDOW + 60, -1 ]);

for my $name (sort keys %PHANTOM) {
    my ($since, $left) = @{ $PHANTOM{$name} };

    $s->sql('INSERT INTO svc.login_phantom (tenant_id, email_mac, failed,'
            . ' failed_since, locked_until) VALUES'
            . " ('$acme->{id}', '$name', 9, now() - interval '$since s', "
            . (defined $left ? "now() + interval '$left s'" : 'NULL') . ')');
}

sub phantoms {
    return join ', ', map { $_->[0] } $s->sql(
        "SELECT convert_from(email_mac, 'UTF8') FROM svc.login_phantom ORDER BY 1");
}

sub sign_ins {
    return join ' ', map { $_->[0] } $s->sql(
        'SELECT host(ip) FROM svc.sign_in ORDER BY 1');
}


# --- what a worker leaves that has looked --------------------------------------------

# each worker looks once a minute; of several one soon does

my @nodes = map { $s->node(workers => 1, svc => { %SVC }) } 1 .. 5;

ok((wait_for { phantoms() eq 'in its window, locked, locked in its window' }
        slow(90)), 'what is over has gone') or diag(phantoms());
is(sign_ins(), '192.0.2.89 192.0.2.89', 'sign-ins of ninety days');
is($s->sql("SELECT string_agg(host(ip), ' ') FROM svc.sign_in_address"),
   '192.0.2.89', 'with their addresses');
is($_->quit, 0, 'a node ends') for @nodes;


# --- in batches ---------------------------------------------------------------------

$s->sql('INSERT INTO svc.sign_in (tenant_id, at, ip) SELECT'
        . " '$acme->{id}', now() - interval '100 days' - i * interval '1 s',"
        . " '192.0.2.1' FROM generate_series(1, 5) i");
is($s->sql("SELECT svc.sign_in_expire(2, $WINDOW)"), 2, 'a round');
is($s->sql("SELECT svc.sign_in_expire(2, $WINDOW)"), 2, 'and another one');
is($s->sql("SELECT svc.sign_in_expire(2, $WINDOW)"), 1, 'and the rest');


# --- where sign-ins come from ------------------------------------------------------

# the addresses that POST /v1/admin/access-policy/simulate uses

sub last_from {
    my ($ip) = @_;

    return $s->sql('SELECT extract(epoch FROM last_at)::float8 FROM'
                   . " svc.sign_in_address WHERE ip = '$ip'");
}

sub swept {
    ok($s->sweep, 'it is swept up');
}

my $first = SvcTest::Browser->new($s, tenant => 'acme');
my $again = SvcTest::Browser->new($s, tenant => 'acme');

is($first->login('ada@acme.test', 'wrong')->status, 401, 'a failure');
is(last_from('127.0.0.1'), undef, 'is from nowhere');
is($first->login('ada@acme.test')->status, 200, 'a sign-in');
swept();

my $at = last_from('127.0.0.1');

ok($at, 'has its address');
is($again->login('ada@acme.test')->status, 200, 'another one');
swept();
cmp_ok(last_from('127.0.0.1'), '>', $at, 'a later time');
$s->sql("UPDATE svc.sign_in_address SET last_at = now() + interval '1 s'"
        . " WHERE ip = '127.0.0.1'");
$at = last_from('127.0.0.1');
is($again->login('ada@acme.test')->status, 200, 'one that was quicker');
swept();
cmp_ok(last_from('127.0.0.1'), '>=', $at, 'takes none back');
is_deeply([ map { $_->{ip} } @{ $acme->admin(POST => '/access-policy/simulate',
                  { rules => [], defaultAction => 'allow' })->json->{results} } ],
          [ '127.0.0.1' ], 'it is what a simulation looks at');
is($s->sql(q{SELECT string_agg(tgname, ' ') FROM pg_trigger WHERE NOT tgisinternal}
           . q{ AND tgrelid = 'svc.sign_in'::regclass}), 'sign_in_removed',
   'nothing else runs with a sign-in');


is_deeply([ $s->pg->errors ], [], 'nothing in the log of PostgreSQL');

$s->done;
done_testing();
