#!/usr/bin/perl

# Shows each rule of /v1/admin/security-incidents at its threshold and one below, and
# how incidents are acknowledged.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);


my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;

my $s = SvcTest->new(
    http => '    set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;',
    svc => { svc_sign_in => 'on',
             svc_coordinates => '$http_x_test_latitude $http_x_test_longitude',
             svc_password_hash => 'queue=1024 timeout=60s',
             svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0',
                          'RATE_LIMIT_LOGIN_EMAIL_MAX 0',
                          'LOGIN_LOCKOUT_MAX 2' ] })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $audit = $acme->token_for('audit:view');
my $manage = $acme->token_for('tenant:manage');

$s->secret($PASSWORD);


sub login {
    my ($who, $password, %headers) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    return $b->ask(POST => '/v1/auth/login', {
        email => "$who\@acme.test", tenant => 'acme',
        password => $password // $PASSWORD }, %headers)->status;
}


sub user { return with_password($s, $acme, userName => "$_[0]\@acme.test") }


sub swept {
    ok($s->sweep, 'all is swept up');
}


sub list {
    my ($query, $tenant) = @_;

    return ($tenant // $acme)->admin(GET => '/security-incidents' . ($query // ''), undef,
                                     [], $tenant ? $tenant->token_for('audit:view')
                                                 : $audit);
}


# Returns the open incidents of a type.

sub incidents {
    my ($type) = @_;

    swept();

    return grep { $_->{type} eq $type } @{ list()->json->{securityIncidents} };
}


sub ack { return $acme->admin(POST => "/security-incidents/$_[0]/ack", undef, [],
                              $_[1] // $manage) }


# --- sign-ins from one address ---------------------------------------------------------

my @from = ('X-Test-Address' => '198.51.100.9');

login("nobody$_", 'wrong', @from) for 1 .. 9, 9;
is(scalar(() = incidents('credential_stuffing')), 0, 'nine accounts');
login('nobody10', 'wrong', 'X-Test-Address' => '198.51.100.10');
is(scalar(() = incidents('credential_stuffing')), 0, 'one from elsewhere');
$s->sql("UPDATE svc.sign_in SET at = at - interval '10 min' WHERE email_mac ="
        . ' (SELECT email_mac FROM svc.sign_in ORDER BY id LIMIT 1)');
login('nobody10', 'wrong', @from);
is(scalar(() = incidents('credential_stuffing')), 0, 'one of ten minutes ago');
login('nobody11', 'wrong', @from);

my ($found) = incidents('credential_stuffing');

like($found->{$_}, $TIME, $_) for 'createdAt';
like($found->{details}{lastSeenAt}, $TIME, 'lastSeenAt');
is_deeply([ @$found{qw(severity status acknowledgedAt acknowledgedBy)} ],
          [ 'high', 'open', undef, undef ], 'ten accounts');
is_deeply([ @{ $found->{details} }{qw(ip accounts count)} ], [ '198.51.100.9', 10, 1 ],
          'of what');
is_deeply([ map { $_->[0] } $acme->events_where("action = 'incident.created'",
                                                'target_id') ],
          [ $found->{id} ], 'audited');
is(scalar(() = $acme->events_where("action = 'incident.created' AND actor_type ="
                                   . " 'system' AND target_type = 'incident'", 'id')), 1,
   'as the system\'s');

login('nobody12', 'wrong', @from);

my ($again) = incidents('credential_stuffing');

is_deeply([ $again->{id}, @{ $again->{details} }{qw(count accounts)} ],
          [ $found->{id}, 2, 11 ], 'once more: the same one');
cmp_ok($again->{details}{lastSeenAt}, 'gt', $found->{details}{lastSeenAt}, 'later');
is($again->{createdAt}, $found->{createdAt}, 'and as old');


# --- permissions, and acknowledging --------------------------------------------------------

admin_error($acme->admin(GET => '/security-incidents', undef, [], $manage), 403, 'forbidden',
            'a list without the permission');
admin_error(ack($found->{id}, $audit), 403, 'forbidden', 'ack without the permission');
is(list(undef, $globex)->json->{total}, 0, 'another tenant has none');
admin_error($globex->admin(POST => "/security-incidents/$found->{id}/ack", undef, [],
                           $globex->token_for('tenant:manage')), 404, 'not_found',
            'nor is it one of it');
admin_error(ack($_), 404, 'not_found', "there is no $_")
    for '00000000-0000-4000-8000-000000000000', 'x', uc $found->{id};
admin_error(list("?all=$_"), 400, 'invalid_request', "all=$_") for '1', 'TRUE';
admin_error(list('?all=true&all=true'), 400, 'invalid_request', 'all twice');

my $r = ack($found->{id});

is($r->status, 200, 'acknowledged') or diag($r->body);
is($r->json->{status}, 'acknowledged', 'it says so');
like($r->json->{acknowledgedAt}, $TIME, 'when');
is($r->json->{acknowledgedBy}{type}, 'apiToken', 'by whom');

my $owner = SvcTest::Browser->new($s, tenant => 'acme');

with_password($s, $acme, userName => 'olga@acme.test', role => 'owner');
is($owner->login('olga@acme.test')->status, 200, 'a session');
is_deeply($owner->post("/v1/admin/security-incidents/$found->{id}/ack")->json, $r->json,
          'again, by somebody else: as it was');
is(scalar(() = $acme->events_where("action = 'incident.acknowledged'", 'id')), 1,
   'audited once');
is(list()->json->{total}, 0, 'none is open');
is_deeply([ map { $_->{id} } @{ list('?all=true')->json->{securityIncidents} } ],
          [ $found->{id} ], 'it is there');
admin_one($acme, '/security-incidents', $found->{id}, needs => 'audit:view',
          query => '?all=true', other => $globex,
          none => [ '00000000-0000-4000-8000-000000000000', 'x', uc $found->{id} ]);

my %stuffing = (needs => 'audit:view', of => 'securityIncidents', by => 'id');

admin_finds($acme, '/security-incidents', %stuffing, query => 'all=true', finds => {
    'MANY ACCOUNTS' => [ $found->{id} ], '198.51.100.9' => [ $found->{id} ],
    credential_stuffing => [ $found->{id} ], $found->{id} => [ $found->{id} ],
    '198.51.100.99' => [], '%' => [] });
admin_finds($acme, '/security-incidents', %stuffing, finds => { accounts => [] });

login('nobody13', 'wrong', @from);
($again) = incidents('credential_stuffing');
isnt($again->{id}, $found->{id}, 'another one');
is($again->{details}{count}, 1, 'of its own');
is(list('?all=true')->json->{total}, 2, 'both');
is_deeply([ map { $_->{id} } @{ list('?all=true&limit=1&offset=1')->json
                                ->{securityIncidents} } ], [ $found->{id} ], 'a page');
is($acme->admin(GET => '/security-stats', undef, [], $audit)->json->{openIncidents}, 1,
   'one is open');


# --- locked accounts -------------------------------------------------------------------------

sub lock_out {
    my ($who) = @_;

    user($who);
    is(login($who, 'wrong'), 401, "$who fails");
    is(login($who, 'wrong'), 429, "$who is locked");
}

lock_out("lock$_") for 1 .. 4;
login('unknown', 'wrong') for 1, 2;
is(scalar(() = incidents('account_lockouts')), 0, 'four, and one that is nobody\'s');
$s->sql("UPDATE svc.sign_in SET at = at - interval '1 h' WHERE id ="
        . ' (SELECT min(id) FROM svc.sign_in WHERE locked)');
lock_out('lock5');
is(scalar(() = incidents('account_lockouts')), 0, 'five, one of an hour ago');
lock_out('lock6');
($found) = incidents('account_lockouts');
is_deeply([ $found->{severity}, @{ $found->{details} }{qw(lockouts count)} ],
          [ 'medium', 5, 1 ], 'five');


# --- incidents of one user -------------------------------------------------------------------

# Stores events like those of a sign-in.

sub event {
    my ($id, %event) = @_;

    $s->sql('INSERT INTO svc.sign_in_event (tenant_id, at, user_id, '
            . join(', ', sort keys %event) . ") VALUES ('$acme->{id}', now(), '$id', "
            . join(', ', map { "'$event{$_}'" } sort keys %event) . ')');
}

my $ada = user('ada')->{id};

event($ada, kind => 'failure', reason => 'mfa');
event($ada, kind => 'failure', reason => 'wrong', locked => 't');
is(scalar(() = incidents('mfa_guessing')), 0, 'second factors, and a password');
event($ada, kind => 'failure', reason => 'mfa', locked => 't');
is_deeply([ map { @$_{qw(severity)}, $_->{details}{userId} } incidents('mfa_guessing') ],
          [ 'high', $ada ], 'a lock by a second factor');

event($ada, kind => 'failure', reason => 'wrong');
is(scalar(() = incidents('passkey_cloned')), 0, 'a passkey that is wrong');
event($ada, kind => 'failure', reason => 'passkey_cloned');
is(scalar(() = incidents('passkey_cloned')), 1, 'and one that was copied');

# The same happens with real sign-ins.

my $bob = user('bob')->{id};
my @paris = ('X-Test-Address' => '203.0.113.5',
             'X-Test-Latitude' => '48.9', 'X-Test-Longitude' => '2.4');
my @berlin = ('X-Test-Address' => '203.0.113.5',
              'X-Test-Latitude' => '52.5', 'X-Test-Longitude' => '13.4');

$s->sql('UPDATE svc.governance SET risk_enabled = true, risk_mfa_threshold = 98,'
        . " risk_deny_threshold = 99 WHERE tenant_id = '$acme->{id}'");
is(login('bob', undef, @paris), 200, 'here');
is(login('bob', undef, @paris), 200, 'and here');
is(scalar(() = incidents('impossible_travel')), 0, 'nothing');
is(login('bob', undef, @berlin), 200, 'there');
is_deeply([ map { @$_{qw(severity)}, $_->{details}{userId}, $_->{details}{signals} }
                incidents('impossible_travel') ],
          [ 'medium', $bob, [ 'impossible_travel' ] ], 'too far');

$s->sql('UPDATE svc.governance SET risk_mfa_threshold = 30, risk_deny_threshold = 40');
is(login('bob', 'wrong', @paris), 401, 'a wrong password');
is(scalar(() = incidents('risk_denied')), 0, 'is none that the risk denies');
is(login('bob', undef, @paris), 403, 'the right one');
is_deeply([ map { @$_{qw(severity)}, $_->{details}{userId} } incidents('risk_denied') ],
          [ 'high', $bob ], 'is');
is(list(undef, $globex)->json->{total}, 0, 'of another tenant none');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
