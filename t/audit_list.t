#!/usr/bin/perl

# Shows GET /v1/admin/audit, and how its tables are partitioned and repaired.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Process qw(run slow wait_for);


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $viewer = $acme->token(kind => 'api', name => 'viewer',
                          permissions => 'audit:view');
my $manager = $acme->token(kind => 'api', name => 'manager',
                           permissions => 'tenant:manage,users:view');


sub audit {
    my ($query, $token) = @_;

    return $acme->admin(GET => '/audit' . ($query // ''), undef, undef,
                        $token // $viewer->{token});
}


sub ids {
    my ($query) = @_;

    my $r = audit($query);

    diag("$query: $r->{status} $r->{body}") if $r->status != 200;

    return [ map { $_->{details}{n} } @{ $r->json->{events} // [] } ];
}


# Stores an event of a tenant; columns are SQL expressions.

sub event {
    my ($tenant, %column) = @_;

    %column = (tenant_id => "'$tenant->{id}'", action => "'user.created'",
               %column);

    my @names = sort keys %column;

    utf8::upgrade($_) for values %column;

    return $s->sql('INSERT INTO svc.audit_event (' . join(', ', @names)
                   . ') VALUES (' . join(', ', @column{@names})
                   . ') RETURNING id');
}


# --- permissions -------------------------------------------------------------

admin_error(audit('', $manager->{token}), 403, undef, 'without audit:view');
is(audit()->status, 200, 'with it');
is_deeply(audit()->json, { events => [], total => 0, limit => 100,
                           offset => 0 }, 'nothing yet');


# --- an event ----------------------------------------------------------------

my $r = $acme->admin(POST => '/api-tokens',
                     { name => "\x{e9}t\x{e9} \"1\"", scopes => [ 'users:view' ] },
                     [ 'User-Agent' => 'audit/1' ], $manager->{token});
is($r->status, 201, 'a change');
$s->secret($r->json->{secret});

my ($e) = @{ audit()->json->{events} };
my $id = $s->sql('SELECT max(id) FROM svc.audit_event');

like(delete $e->{createdAt}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
     'createdAt');
like(delete $e->{requestId}, qr/^[0-9a-f]{32}$/, 'requestId');
is_deeply($e, { id => $id, action => 'api_token.created',
                outcome => 'success',
                actor => { type => 'apiToken', id => $manager->{id},
                           name => 'manager' },
                target => { type => 'apiToken', id => $r->json->{id},
                            name => "\x{e9}t\x{e9} \"1\"" },
                ip => '127.0.0.1', country => undef,
                userAgent => 'audit/1',
                details => { scopes => [ 'users:view' ] } },
          'an event');
like(audit()->body, qr/"id":"$id"/, 'the id is a text');
admin_one($acme, '/audit', $id, needs => 'audit:view', other => $globex,
          none => [ $id + 1000, "0$id", "+$id", "-$id", "$id.0", "${id}x", 'x', '0',
                    '9223372036854775807', '9223372036854775808', '9' x 500 ]);

event($acme, action => "'config.applied'");
($e) = @{ audit()->json->{events} };
is_deeply([ @$e{qw(target actor ip userAgent requestId details)} ],
          [ undef, { type => 'system', id => undef, name => undef },
            undef, undef, undef, {} ], 'what is not known is null');

$s->sql('TRUNCATE svc.audit_event');


# --- filters -----------------------------------------------------------------

my $REQUEST = '0123456789abcdef' x 2;
my $n = 0;

sub numbered {
    my ($tenant, %column) = @_;

    $n++;
    event($tenant, details => "jsonb_build_object('n', $n)",
          created_at => "'2026-01-01 00:00:00+00'::timestamptz"
                        . " + $n * interval '1 hour'", %column);
    return $n;
}

my $plain = numbered($acme);
my $failed = numbered($acme, action => "'user.login_failed'",
                      outcome => "'failure'");
my $by = numbered($acme, actor_type => "'user'", actor_id => "'u-1'",
                  actor_name => "'Zo\x{eb} O''Hara'");
my $on = numbered($acme, target_type => "'role'", target_id => "'aud_itor'",
                  target_name => "'100% \\ Auditor'");
my $ip = numbered($acme, ip => "'203.0.113.77'");
my $v6 = numbered($acme, ip => "'2001:db8::7'");
my $of = numbered($acme, details => "jsonb_build_object('n', @{[ $n + 1 ]},"
                                    . " 'where', 'STRA\x{df}E \x{c9}t\x{e9}')");
my $asked = numbered($acme, request_id => "'$REQUEST'");
numbered($globex, action => "'user.login_failed'", outcome => "'failure'",
         request_id => "'$REQUEST'");

is_deeply(ids(''), [ $asked, $of, $v6, $ip, $on, $by, $failed, $plain ],
          'newest first, and our own alone');
is_deeply(ids('?outcome=failure'), [ $failed ], 'outcome=failure');
is(scalar @{ ids('?outcome=success') }, 7, 'outcome=success');
is_deeply(ids('?action=user.login_failed'), [ $failed ], 'action');
is_deeply(ids('?action=user.login'), [], 'the whole of it');
is_deeply(ids('?actorId=u-1'), [ $by ], 'actorId');
is_deeply(ids('?actorId=u-1&outcome=failure'), [], 'both count');
is_deeply(ids('?targetId=aud_itor'), [ $on ], 'targetId');
is_deeply(ids("?targetId=$_"), [], "the whole of it: $_") for qw(aud_ito AUD_ITOR aud%25itor u-1);
is_deeply(ids("?requestId=$REQUEST"), [ $asked ], 'requestId');
is_deeply(ids("?requestId=$REQUEST&outcome=failure"), [], '... and that');
is_deeply(ids('?requestId=' . 'a' x 32), [], '... of nobody');
is_deeply(ids("?q=$REQUEST"), [], 'a text does not find it');
is(scalar @{ ids('?targetId=&requestId=') }, 8, 'what is empty is no filter');

for my $row (
    [ 'LOGIN_F' => $failed ], [ 'o%27hara' => $by ], [ 'U-1' => $by ],
    [ 'zo%C3%AB' => $by ], [ 'ZO%C3%8B' => $by ], [ 'd_i' => $on ],
    [ '100%25' => $on ], [ '%25+%5C' => $on ], [ '203.0.113.7' => $ip ],
    [ '2001:DB8' => $v6 ], [ '%C3%A9T%C3%89' => $of ],
    [ '%22where%22' => $of ])
{
    is_deeply(ids("?q=$row->[0]"), [ $row->[1] ], "q=$row->[0]");
}

is_deeply(ids("?q=$_"), [], "q=$_: nothing")
    for '%25_%25', 'user%25created', 'user_created', 'u-1zo', '%5C%5C',
        '%27%3B--', 'Z'  x 200, '%C3%A9' x 200;

is(scalar @{ ids('?q=') }, 8, 'an empty q');

# Events in the default partition are found, too.

sub hour { sprintf '2026-01-01T%02d:00:00', $_[0] }

is_deeply(ids('?from=' . hour($by) . 'Z&to=' . hour($ip) . 'Z'), [ $on, $by ],
          'from is in, to is out');
is_deeply(ids('?from=' . hour($of + 1) . '%2B01:00'), [ $asked, $of ],
          'another offset');
is_deeply(ids('?to=2026-01-01T01:00:00.001Z'), [ $plain ], 'milliseconds');
is_deeply(ids('?from=2030-01-01T00:00:00Z'), [], 'later');
is_deeply(ids('?from=0001-01-01T00:00:00Z&to=9999-12-31T00:00:00Z&limit=1'),
          [ $asked ], 'far ends');

$r = audit('?limit=2&offset=1&q=user')->json;
is_deeply([ map { $_->{details}{n} } @{ $r->{events} } ], [ $of, $v6 ],
          'a page');
is_deeply([ @$r{qw(total limit offset)} ], [ 8, 2, 1 ], 'of how many');
$r = audit('?offset=100')->json;
is_deeply($r, { events => [], total => 8, limit => 100, offset => 100 },
          'past the end');

for my $query ('q=' . 'x' x 201, 'q=' . '%C3%A9' x 201, 'q=%FF', 'q=%00',
               'outcome=maybe', 'outcome=', 'outcome=SUCCESS',
               'action=' . 'x' x 201, 'actorId=%00', 'targetId=' . 'x' x 256, 'targetId=%FF',
               'requestId=' . 'a' x 31, 'requestId=' . 'a' x 33, 'requestId=' . 'A' x 32,
               'requestId=' . 'g' x 32, 'requestId=' . '%C3%A9' x 16, "requestId=$REQUEST%00",
               "requestId=$REQUEST&requestId=$REQUEST", 'from=yesterday', 'from=',
               'to=2026-01-01', 'to=2026-13-01T00:00:00Z',
               'from=2026-01-01T00:00:00%2B0100',
               'to=9999-12-31T23:59:59-01:00', 'from=0000-12-31T00:00:00Z',
               'from=0001-01-01T00:00:00%2B00:01', 'limit=0', 'limit=x',
               'offset=-1')
{
    admin_error(audit("?$query"), 400, undef, substr $query, 0, 40);
}


# --- many events -------------------------------------------------------------

$s->sql(<<"EOT");
INSERT INTO svc.audit_event (tenant_id, created_at, action, outcome, actor_name,
                             details)
SELECT '$acme->{id}', now() - i * interval '1 minute', 'user.created',
       CASE i % 1000 WHEN 0 THEN 'failure' ELSE 'success' END, 'many',
       jsonb_build_object('n', i)
FROM generate_series(1, 30000) i
EOT

is(audit()->json->{total}, 10000, 'total counts up to 10,000');
is(audit('?outcome=failure')->json->{total}, 31, 'and is exact below');
is_deeply(ids('?limit=2&offset=20000'), [ 20001, 20002 ], 'a page beyond');
is(scalar @{ ids('?limit=1000') }, 500, 'at most 500');

# A search that takes too long is told so; here another transaction has locked the
# table.

$s->nginx->{workers} = 1;
$s->nginx->{svc}{svc_postgres_timeout} = slow(1) . 's';
$s->nginx->{svc}{svc_postgres_queue_timeout} = slow(10) . 's';
$s->reload;
ok((wait_for { audit('?q=nowh%C3%A9re')->status == 200 }), 'a search');

my $lock = $s->connect_as('postgres');

$lock->query('BEGIN');
$lock->query('LOCK TABLE svc.audit_event');

my $slow = audit('?q=nowh%C3%A9re');
my $error = admin_error($slow, 503, undef, 'a search that takes too long');
like($error->{message} // '', qr/"from" and "to"/, 'says what to do');

$lock->query('ROLLBACK');
delete @{ $s->nginx->{svc} }{qw(svc_postgres_timeout svc_postgres_queue_timeout)};
$s->reload;
$s->wait_healthy;


# --- partitions --------------------------------------------------------------

my $default = 'SELECT count(*) FROM svc.audit_event_default';
my $stored = 'SELECT count(*), sum(id), min(created_at) FROM svc.audit_event';
my $before = join ' ', @{ ($s->sql($stored))[0] };

isnt($s->sql($default), 0, 'old events are in the default partition');
like($s->svcctl(qw(audit partitions)), qr/^made audit_event_2026_01, moved /m,
     'they get partitions');
is($s->sql($default), 0, 'and are moved');
is(join(' ', @{ ($s->sql($stored))[0] }), $before, 'all of them');
is($s->svcctl(qw(audit partitions)), '', 'again: nothing');
is(() = $s->svcctl(qw(audit partitions --months 14)) =~ /^made /mg, 2,
   'two months more');
is_deeply(ids('?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&q=u-1'),
          [ $by ], 'they are found where they are');

for my $args ([ qw(audit retain) ], [ qw(audit retain --months 0) ],
              [ qw(audit retain --months x) ],
              [ qw(audit partitions --months -1) ],
              [ qw(audit retain --months), '1; DROP TABLE svc.tenant' ])
{
    isnt(($s->svcctl(@$args))[1], 0, "svcctl @$args");
}

event($acme, created_at => "'2020-05-05'");
my ($text, $rc) = $s->svcctl(qw(audit retain --months 1));
is($rc, 0, 'audit retain') or diag($text);
like($text, qr/^dropped audit_event_2026_01$/m, 'drops');
like($text, qr/^deleted 1 events of audit_event_default$/m, 'deletes');
is($s->sql(<<'EOT'), 't', 'what is left is of this month and the last one');
SELECT min(created_at) >= date_trunc('month', now()) - interval '1 month'
FROM svc.audit_event
EOT
is($s->svcctl(qw(audit retain --months 1)), '', 'again: nothing');
is($s->sql('SELECT to_char(created_at, $$YYYY$$) FROM svc.audit_event'
           . ' GROUP BY 1 LIMIT 1'), 1900 + (gmtime)[5], 'and the rest stays');


# --- a restored dump ---------------------------------------------------------

is($s->svcctl('migrate'), '', 'migrate has nothing to repair');
$s->sql("UPDATE svc.audit_event SET xid = '9000000000000' WHERE id ="
        . ' (SELECT max(id) FROM svc.audit_event)');
like($s->svcctl('migrate'), qr/^repaired the order of \d+ audit events$/,
     'xids of another cluster are repaired');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE xid >="
           . ' pg_snapshot_xmin(pg_current_snapshot())'), 0, 'all of them');
is($s->svcctl('migrate'), '', 'once');


# Events are written even in a month without a partition.

$s->sql('DROP TABLE svc.audit_event_' . sprintf '%d_%02d', 1900 + (gmtime)[5],
        1 + (gmtime)[4]);
is($acme->admin(POST => '/api-tokens',
                { name => 'x', scopes => [ 'users:view' ] })->status, 201,
   'a change in a month without a partition');
is($s->sql($default), 1, 'its event is kept');
$s->svcctl(qw(audit partitions));
is($s->sql($default), 0, 'and moved');

$s->done;
done_testing();
