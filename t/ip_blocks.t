#!/usr/bin/perl

# Shows /v1/admin/ip-blocks: addresses from which nobody signs in.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Admin;

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');


sub ask {
    my ($method, $path, $body, %opt) = @_;

    return ($opt{tenant} // $acme)->admin($method, "/ip-blocks$path", $body,
                                          $opt{headers}, $opt{token});
}


# Returns the blocked addresses, the newest first.

sub blocked {
    my $r = ask(GET => '', undef, @_);

    return map { $_->{ip} } @{ $r->json->{ipBlocks} };
}


# --- permissions ------------------------------------------------------------------

my $viewer = $acme->token(kind => 'api', permissions => 'users:view');

for ([ GET => '' ], [ POST => '', { ip => '192.0.2.1' } ],
     [ DELETE => '/192.0.2.1' ])
{
    admin_error(ask(@$_[0, 1, 2], token => $viewer->{token}), 403, undef,
                "$_->[0] without the permission");
}


# --- create, list, delete -----------------------------------------------------------

my $r = ask(POST => '', { ip => '198.51.100.9', reason => ' stuffing ',
                          expiresAt => undef });

is($r->status, 201, 'created');

my $block = $r->json;

like(delete $block->{createdAt}, $TIME, 'when');
is_deeply($block, { ip => '198.51.100.9', reason => 'stuffing',
                    createdBy => { type => 'apiToken', id => $acme->{api_id},
                                   name => $acme->{api_name} },
                    expiresAt => undef }, 'what was made');
like($r->body, qr/\A\{"ip":.*"reason":.*"createdAt":.*"createdBy":\{"type":
                  .*"id":.*"name":.*\},"expiresAt":/x, 'in order');

$r = ask(POST => '', { ip => '192.0.2.7',
                       expiresAt => '2999-01-31T01:00:00+01:00' });
is($r->json->{expiresAt}, '2999-01-31T00:00:00.000Z', 'that expires');
is($r->json->{reason}, undef, 'without a reason');

for my $blank ('', ' ', " \t\r\n ") {
    $r = ask(POST => '', { ip => '192.0.2.8', reason => $blank });
    is($r->status, 201, 'a reason that says nothing');
    is($r->json->{reason}, undef, 'is none');
    ask(DELETE => '/192.0.2.8');
}

# RFC 5952: an address has one text.
my %canonical = ('2001:DB8::0:0:1' => '2001:db8::1',
                 '2001:db8:0:1:1:1:1:1' => '2001:db8:0:1:1:1:1:1',
                 '1:0:0:2:0:0:0:3' => '1:0:0:2::3',
                 '::ffff:203.0.113.5' => '203.0.113.5',
                 '::' => '::');

for my $ip (sort keys %canonical) {
    is(ask(POST => '', { ip => $ip })->json->{ip}, $canonical{$ip}, $ip);
    admin_error(ask(POST => '', { ip => $canonical{$ip} }), 409, undef,
                "$ip once more");
}

is_deeply([ sort(blocked()) ],
          [ sort(values %canonical, '198.51.100.9', '192.0.2.7') ], 'all');
is_deeply([ blocked(tenant => $globex) ], [], 'of one tenant');

admin_finds($acme, '/ip-blocks', needs => 'tenant:manage', of => 'ipBlocks', by => 'ip', finds => {
    STUFF => [ '198.51.100.9' ], '192.0.2.' => [ '192.0.2.7' ],
    '198.51.0.0/16' => [ '198.51.100.9' ], '198.51.100.9/32' => [ '198.51.100.9' ],
    '2001:DB8::/32' => [ '2001:db8::1', '2001:db8:0:1:1:1:1:1' ],
    '2001:DB8:0::0:1' => [ '2001:db8::1' ], '::ffff:203.0.113.5' => [ '203.0.113.5' ],
    '0.0.0.0/0' => [ '198.51.100.9', '192.0.2.7', '203.0.113.5' ],
    '192.0.2.7/33' => [], '%' => [], _ => [] });

$r = $acme->admin(GET => '/ip-blocks?limit=2&offset=1');
is_deeply([ @{ $r->json }{qw(total limit offset)} ], [ 7, 2, 1 ], 'a page');
is_deeply([ map { $_->{ip} } @{ $r->json->{ipBlocks} } ], [ (blocked())[1, 2] ],
          'has what it should');

admin_one($acme, '/ip-blocks', $_, needs => 'tenant:manage', other => $globex,
          none => [ qw(192.0.2.200 192.0.2.0%2F24 x) ])
    for qw(192.0.2.7 2001:db8::1 2001%3ADB8::0:1);
admin_error(ask(DELETE => '/192.0.2.7', undef, tenant => $globex), 404, undef,
            'another tenant deletes nothing');
is(ask(DELETE => '/2001%3Adb8%3A%3A1')->status, 204, 'deleted');
is(ask(DELETE => '/2001:DB8:0:1:1:1:1:1')->status, 204, 'in another notation');
admin_error(ask(DELETE => '/2001:db8::1'), 404, undef, 'it is gone');
admin_error(ask(DELETE => "/$_"), 404, undef, "no address: $_")
    for 'x', '192.0.2.0%2F24', '192.0.2.07';


# --- bad input -----------------------------------------------------------------------

for ([ 'a network', { ip => '192.0.2.0/24' } ], [ 'a zone', { ip => 'fe80::1%eth0' } ],
     [ 'a port', { ip => '192.0.2.1:80' } ], [ 'octal', { ip => '192.0.2.010' } ],
     [ 'short', { ip => '192.0.2' } ], [ 'no ip', { reason => 'x' } ],
     [ 'a number', { ip => 1 } ], [ 'empty', { ip => '' } ],
     [ 'an array', { ip => [ '192.0.2.1' ] } ],
     [ 'a reason too long', { ip => '192.0.2.1', reason => 'x' x 201 } ],
     [ 'a time that is past', { ip => '192.0.2.1',
                                expiresAt => '2001-01-01T00:00:00Z' } ],
     [ 'no time', { ip => '192.0.2.1', expiresAt => 'tomorrow' } ])
{
    my ($name, $body) = @$_;

    admin_error(ask(POST => '', $body), 400, 'invalid_request', $name);
}

is(ask(POST => '', { ip => '192.0.2.1', reason => 'ü' x 200 })->status, 201,
   'a reason of 200 characters');


# --- nobody locks themselves out -----------------------------------------------------

admin_error(ask(POST => '', { ip => $_ }), 400, 'anti_lockout', "own: $_")
    for '127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1';


# --- a block that has expired is none ------------------------------------------------

$s->sql("UPDATE svc.ip_block SET expires_at = now() - interval '1 minute'"
        . " WHERE ip = '198.51.100.9'");

ok(!(grep { $_ eq '198.51.100.9' } blocked()), 'not listed');
admin_error(ask($_ => '/198.51.100.9'), 404, undef, 'not there') for qw(GET DELETE);
is(ask(POST => '', { ip => '198.51.100.9', reason => 'again' })->status, 201,
   'in nobody\'s way');

$s->sql("INSERT INTO svc.ip_block (tenant_id, ip, created_by_type, expires_at)"
        . " SELECT '$acme->{id}', '10.0.0.0'::inet + n, 'system',"
        . " now() - interval '1 day' * n FROM generate_series(1, 250) n");

my $old = "SELECT count(*) FROM svc.ip_block WHERE expires_at <= now()";

ask(POST => '', { ip => '192.0.2.50' });
is($s->sql($old), 150, 'of expired ones 100 are deleted by the next');
is($s->sql("$old AND ip > '10.0.0.150'"), 0, 'the oldest ones');


# --- the limit -----------------------------------------------------------------------

$s->sql("INSERT INTO svc.ip_block (tenant_id, ip, created_by_type)"
        . " SELECT '$acme->{id}', '10.9.0.0'::inet + n, 'system'"
        . " FROM generate_series(1, 10000 - (SELECT count(*)::int"
        . " FROM svc.ip_block WHERE expires_at IS NULL OR expires_at > now()))"
        . " n");

admin_error(ask(POST => '', { ip => '192.0.2.99' }), 400, 'limit_exceeded',
            'one too many');
is(ask(DELETE => '/10.9.0.1')->status, 204, 'one less');
is(ask(POST => '', { ip => '192.0.2.99' })->status, 201, 'there is room');


# --- the audit log --------------------------------------------------------------------

is_deeply([ $s->sql("SELECT action, target_type, target_id, details->>'reason'"
                    . " FROM svc.audit_event WHERE target_id = '198.51.100.9'"
                    . ' ORDER BY id') ],
          [ [ 'ip_block.created', 'ipBlock', '198.51.100.9', 'stuffing' ],
            [ 'ip_block.created', 'ipBlock', '198.51.100.9', 'again' ] ],
          'audited');
is($s->sql("SELECT count(*) FROM svc.audit_event"
           . " WHERE action = 'ip_block.deleted'"), 6, 'so is each end');

$s->done;

done_testing();
