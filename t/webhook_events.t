#!/usr/bin/perl

# Events of users: which endpoints get them, what is in them, and what happens
# when Redis does not take them.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Governance;
use SvcTest::Monitor;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Scim;

my $HEX = qr/[0-9a-f]{32}/;
my $TIME = qr/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

# nothing listens there

my $URL = 'https://127.0.0.1:1/in';

my $s = SvcTest->new(svc => {
    svc_webhooks => 'on', svc_webhook_allow => '127.0.0.1',
    svc_webhook_queue => '3 tenant=3', svc_webhook_outbox => '1h' },
    locations => '        location = /metrics { svc_metrics; }')->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $empty = $s->tenant('empty');
my @workers = $s->workers;

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");


sub webhook {
    my ($tenant, $events, %more) = @_;

    my $r = $tenant->admin(POST => '/webhooks',
                           { url => $URL, events => $events, %more });

    die "POST /webhooks: $r->{status} $r->{body}\n" if $r->status != 201;
    $s->secret($r->json->{secret});

    return $r->json->{id};
}


# Returns the next event that is queued: an array of hashes, in the order of the
# endpoints.

sub pushed {
    my ($monitor) = @_;

    my ($entries) = $monitor->wait(1, 'RPUSH', 'svc.webhook2.queue');
    my @deliveries;

    for my $entry (@{ $entries // [] }) {
        my %d;

        (my $head, $d{body}) = split /\n/, $entry, 2;
        @d{qw(mac attempts id event_id tenant endpoint event more)}
            = split / /, $head;

        push @deliveries, \%d;
    }

    return [ sort { $a->{endpoint} cmp $b->{endpoint} } @deliveries ];
}


# Empties the queue, so that no limit refuses the next deliveries.

sub make_room {
    $s->redis->command('DEL svc.webhook2.queue svc.webhook2.pending');
}


sub logged {
    my ($text) = @_;

    ok((wait_for { grep { /\[error\] .*$text/ } $s->nginx->log_lines }),
       'it is said in the log');
}


# Returns the metrics of events, of queued deliveries, and of those dropped for
# each reason.

my @METRICS = ('events_total', 'queued_total',
               map { "dropped_total{reason=\"$_\"}" }
                   qw(queue_full tenant_full redis));

sub counted {
    my $text = $s->http(GET => '/metrics')->body;

    return join ' ', map { $text =~ /^svc_webhook_\Q$_\E (\d+)$/m ? $1 : '-' }
                     @METRICS;
}


sub is_counted {
    my ($numbers) = @_;

    wait_for { counted() eq $numbers };
    is(counted(), $numbers, "counted: @METRICS");
}


my $created = webhook($acme, [ 'user.created' ]);
my $deleted = webhook($acme, [ 'user.deleted' ]);
my $both = webhook($acme, [ 'user.deleted', 'user.created', 'user.login' ]);
my $off = webhook($acme, [ 'user.created' ], enabled => JSON::PP::false());
my $theirs = webhook($globex, [ 'user.created' ]);

my $monitor = SvcTest::Monitor->new($s->redis);


# --- who gets what -----------------------------------------------------------------

my $ada = $acme->create(userName => 'ada@acme.test', displayName => 'Ada "A"');
my $d = pushed($monitor);

is_deeply([ map { $_->{endpoint} } @$d ], [ sort $created, $both ],
          'user.created reaches those who take it, and are enabled');
is_deeply([ map { @$_{qw(attempts tenant event more)} } @$d ],
          [ (0, $acme->{id}, 'user.created', undef) x 2 ], 'all of it');
like($d->[0]{event_id}, qr/\A$HEX\z/, 'the id of the event');
like($_->{id}, qr/\A$HEX\z/, 'the id of a delivery') for @$d;
is($d->[0]{event_id}, $d->[1]{event_id}, 'they are of one event');
isnt($d->[0]{id}, $d->[1]{id}, 'and two deliveries');
isnt($d->[0]{id}, $d->[0]{event_id}, 'neither is the id of the event');
is($d->[0]{body}, $d->[1]{body}, 'with the same body');
like($d->[0]{body}, qr/\A\{"id":"$d->[0]{event_id}","event":"user\.created",
                       "tenantId":"$acme->{id}","createdAt":"$TIME",
                       "data":\{"userId":"$ada->{id}",
                       "email":"ada\@acme\.test"\}\}\z/x, 'byte by byte');

my ($when) = $d->[0]{body} =~ /"createdAt":"($TIME)"/;
is($s->sql("SELECT abs(extract(epoch FROM now() - '$when'::timestamptz)) < 10"),
   't', 'the time is now');

my $eve = $globex->create(userName => 'eve@globex.test');

is_deeply([ map { @$_{qw(endpoint tenant)} } @{ pushed($monitor) } ],
          [ $theirs, $globex->{id} ], "another tenant's are its own");


# --- changes that are not events --------------------------------------------------

# the next event that is queued comes from the last line

make_room();
$s->sql("UPDATE svc.user_account SET role = 'owner' WHERE id = '$eve->{id}'");

scim_error($acme->scim(POST => '/Users', { userName => 'ADA@acme.test' }), 409,
           'uniqueness', 'one who is there already');
scim_error($acme->scim(POST => '/Users', { userName => 'no address' }), 400,
           'invalidValue', 'no address');
is($acme->scim(DELETE => "/Users/$ada->{id}")->status, 204,
   'deactivated by SCIM');
is($empty->scim(POST => '/Users', { userName => 'a@empty.test' })->status, 201,
   'a tenant without webhooks');
admin_error($globex->admin(DELETE => "/users/$eve->{id}"), 400, 'last_admin',
            'the last owner');
admin_error($acme->admin(DELETE => "/users/$eve->{id}"), 404, 'not_found',
            "another tenant's user");
is($acme->admin(DELETE => "/users/$ada->{id}")->status, 204, 'deleted');

$d = pushed($monitor);

is_deeply([ map { $_->{endpoint} } @$d ], [ sort $deleted, $both ],
          'user.deleted is the next event');
like($d->[0]{body}, qr/\A\{"id":"$d->[0]{event_id}","event":"user\.deleted",
                       "tenantId":"$acme->{id}","createdAt":"$TIME",
                       "data":\{"userId":"$ada->{id}"\}\}\z/x, 'byte by byte');
admin_error($acme->admin(DELETE => "/users/$ada->{id}"), 404, 'not_found',
            'it is gone');


# --- a test ----------------------------------------------------------------------

make_room();

my $r = $acme->admin(POST => "/webhooks/$deleted/test");
is($r->status, 202, 'a test') or diag($r->body);
is_deeply([ sort keys %{ $r->json } ], [ 'eventId', 'id' ], 'its answer');

$d = pushed($monitor);

is(scalar @$d, 1, 'one delivery');
is_deeply([ @{ $d->[0] }{qw(attempts id event_id tenant endpoint event)} ],
          [ 0, @{ $r->json }{qw(id eventId)}, $acme->{id}, $deleted,
            'user.created' ], 'also when that event is not subscribed to');
like($d->[0]{body}, qr/\A\{"id":"$d->[0]{event_id}","event":"user\.created",
                       "tenantId":"$acme->{id}","createdAt":"$TIME",
                       "data":\{"userId":"[0-9a-f-]{36}",
                       "email":"test\@example\.com","test":true\}\}\z/x,
     'byte by byte');
is($s->sql("SELECT details->>'deliveryId' FROM svc.audit_event"
           . " WHERE action = 'webhook.tested'"), $r->json->{id}, 'audited');


# --- a queue that is full -----------------------------------------------------------

make_room();

my @more = map { webhook($globex, [ 'user.created' ]) } 1 .. 3;
my $began = time;

is($globex->scim(POST => '/Users', { userName => 'more@globex.test' })->status,
   201, 'more deliveries than there is room for');
cmp_ok(time - $began, '<', slow(20), 'are not waited for');
is_counted('4 6 4 0 0');
logged("4 webhook deliveries dropped, .*$globex->{id}: the queue is full");
is($s->sql('SELECT count(*) FROM svc.user_account'
           . " WHERE user_name = 'more\@globex.test'"), 1, 'the user is there');

$globex->admin(DELETE => "/webhooks/$_") for @more;
$acme->create(userName => 'ben@acme.test');
is_deeply([ map { $_->{endpoint} } @{ pushed($monitor) } ],
          [ sort $created, $both ], 'none of it was pushed');
make_room();


# --- Redis is down ---------------------------------------------------------------------

$s->redis->stop;
ok((wait_for { $s->health->json->{redis} eq 'down' }), 'Redis is down');
$began = time;

is($acme->scim(POST => '/Users', { userName => 'cid@acme.test' })->status, 201,
   'users are made');
my $cid = $s->sql('SELECT id FROM svc.user_account'
                  . " WHERE user_name = 'cid\@acme.test'");
is($acme->admin(DELETE => "/users/$cid")->status, 204, 'and deleted');
cmp_ok(time - $began, '<', slow(20), 'without waiting');
is_counted('7 8 4 0 0');

my $tested = "SELECT count(*) FROM svc.audit_event"
             . " WHERE action = 'webhook.tested'";
my $error = admin_error($acme->admin(POST => "/webhooks/$created/test"), 503,
                        'unavailable', 'a test is refused');
like($error->{message}, qr/Redis/, 'and says why');
is($s->sql($tested), 1, 'nothing is audited');
is(webhook($acme, [ 'user.login' ]) ? 1 : 0, 1, 'webhooks are made');

$s->redis->launch;
ok((wait_for { $s->health->json->{redis} eq 'up' }), 'Redis is back');

# in each worker, whichever takes the next request, and in the helper

wait_for { $s->nginx->said(qr/Redis is back/) > @workers };

make_room();
$monitor = SvcTest::Monitor->new($s->redis);
$acme->create(userName => 'dan@acme.test');
is_deeply([ map { $_->{endpoint} } @{ pushed($monitor) } ],
          [ sort $created, $both ], 'so are events');


# --- PostgreSQL is down -----------------------------------------------------------------

$s->pg->stop('QUIT');
is($acme->scim(POST => '/Users', { userName => 'eva@acme.test' })->status, 503,
   'no database');
$s->pg->launch;
ok($s->wait_healthy, 'it is back');
make_room();
$acme->create(userName => 'fay@acme.test');
like(pushed($monitor)->[0]{body}, qr/"fay\@acme\.test"/,
     'what was not committed was no event');

is("@{[ $s->workers ]}", "@workers", 'the workers are the same');

$s->done;
done_testing();
