#!/usr/bin/perl

# Shows what an access policy may contain, how its versions are kept and restored, and
# that an administrator cannot lock himself out.

use strict;
use warnings;
use utf8;

use IO::Select ();
use JSON::PP ();
use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Process qw(slow wait_for resident);

my $s = SvcTest->new(
    http => '    set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;',
    svc => { svc_country => '$http_x_test_country' })->start;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my ($true, $false) = (JSON::PP::true, JSON::PP::false);
my $JSON = JSON::PP->new->canonical;


sub get {
    return $acme->admin(GET => '/access-policy')->json;
}


sub put {
    my ($body, @headers) = @_;

    return $acme->admin(PUT => '/access-policy', $body, \@headers);
}


sub versions {
    my ($query) = @_;

    return $acme->admin(GET => '/access-policy/versions' . ($query // ''))->json;
}


sub restore {
    my ($id, @headers) = @_;

    return $acme->admin(POST => "/access-policy/versions/$id/restore", undef,
                        \@headers);
}


sub rule {
    my (%members) = @_;

    return { name => 'Office', action => 'allow', %members };
}


sub stored_rule {
    my (%members) = @_;

    return { name => 'Office', enabled => $true, action => 'allow',
             networks => [], countries => [], timeWindows => [], %members };
}


# --- a tenant that has set nothing ------------------------------------------------

my $r = $acme->admin(GET => '/access-policy');
is($r->status, 200, 'the policy of a new tenant');
is_deeply($r->json, { rules => [], defaultAction => 'allow', versionId => undef,
                      updatedAt => undef }, 'admits everybody');
is($r->header('etag'), '"0"', 'its entity tag');
is_deeply(versions(), { versions => [], total => 0, limit => 100, offset => 0 },
          'it has no versions');
is(put(get())->status, 200, 'what was read can be sent back');
is(versions()->{total}, 0, 'which makes no version');
is_deeply([ $acme->events('id') ], [], 'and no event');


# --- a policy ----------------------------------------------------------------------

my $policy = {
    rules => [
        rule(name => "  B\x{fc}ro \x{1F680} ",
             networks => [ '203.0.113.7/24', '2001:DB8::1', '127.0.0.1' ]),
        { name => 'Night', action => 'mfa', enabled => $false,
          countries => [ 'fr', 'De', 'ZZ', 'fr' ],
          timeWindows => [ { days => [ 'fri', 'mon' ], start => '22:00',
                             end => '06:00', timezone => 'Europe/Paris' },
                           { start => '00:00', end => '24:00' } ] },
        { name => 'Rest', action => 'deny', networks => [],
          countries => [ 'XK' ] },
    ],
    defaultAction => 'mfa',
};

my $rules = [
    stored_rule(name => "B\x{fc}ro \x{1F680}",
                networks => [ '203.0.113.7/24', '2001:DB8::1', '127.0.0.1' ]),
    { name => 'Night', action => 'mfa', enabled => $false, networks => [],
      countries => [ 'FR', 'DE', 'ZZ', 'FR' ],
      timeWindows => [ { days => [ 'fri', 'mon' ], start => '22:00',
                         end => '06:00', timezone => 'Europe/Paris' },
                       { days => [ qw(mon tue wed thu fri sat sun) ],
                         start => '00:00', end => '24:00', timezone => 'UTC' } ] },
    stored_rule(name => 'Rest', action => 'deny', countries => [ 'XK' ]),
];

$r = put($policy);
is($r->status, 200, 'a policy') or diag($r->body);

my $first = $r->json;
is_deeply($first->{rules}, $rules, 'its rules, with what was left out');
is($first->{defaultAction}, 'mfa', 'its default action');
like($first->{versionId}, qr/\A[0-9a-f-]{36}\z/, 'its version');
is($r->header('etag'), '"1"', 'its entity tag');
is_deeply(get(), $first, 'and so it is stored');
is_deeply($globex->admin(GET => '/access-policy')->json->{rules}, [],
          'another tenant has nothing of it');

my $list = versions();
is($list->{total}, 1, 'one version');
my $version = $list->{versions}[0];
is_deeply({ %$version, createdAt => undef },
          { id => $first->{versionId}, version => 1, current => $true,
            source => 'api', restoredFrom => undef, createdAt => undef,
            createdBy => { type => 'apiToken', id => $acme->{api_id},
                           name => $acme->{api_name} },
            snapshot => { rules => $rules, defaultAction => 'mfa' } },
          'with who made it, and all of it');
is($version->{createdAt}, $first->{updatedAt}, 'and when');
admin_one($acme, '/access-policy/versions', $version->{id}, needs => 'tenant:manage',
          other => $globex, none => [ '00000000-0000-4000-8000-000000000000', 'x', '1' ]);
is_deeply([ $acme->events(qw(action details)) ],
          [ [ 'access_policy.updated', { version => 1, source => 'api' } ] ],
          'its event');
is_deeply([ $s->sql('SELECT target_type, target_id FROM svc.audit_event'
                    . " WHERE tenant_id = '$acme->{id}'") ],
          [ [ 'accessPolicy', $first->{versionId} ] ], 'which names it');


# A body that means the same changes nothing.

sub unchanged {
    my ($change, $name) = @_;
    my $same = $JSON->decode($JSON->encode($policy));

    $change->($same);
    my $r = put($same);
    is($r->status, 200, $name) or diag($r->body);
    is_deeply($r->json, $first, 'changes nothing');
}

unchanged(sub { }, 'the same again');
unchanged(sub { $_[0]{rules} = $rules }, 'in its canonical form');
unchanged(sub { @{ $_[0]{rules}[0]{networks} } =
                    ('127.0.0.1/32', '2001:db8:0::1/128', '203.0.113.0/24',
                     '::ffff:203.0.113.0/120', '127.0.0.1') },
          'networks in another order, and spelled otherwise');
unchanged(sub { $_[0]{rules}[1]{countries} = [ 'ZZ', 'FR', 'DE' ] },
          'countries in another order, and once');
unchanged(sub { $_[0]{rules}[1]{timeWindows}[0]{days} = [ 'mon', 'fri', 'mon' ] },
          'days in another order');
unchanged(sub { @{ $_[0]{rules}[1]{timeWindows} } =
                    reverse @{ $_[0]{rules}[1]{timeWindows} } },
          'windows in another order');
is(versions()->{total}, 1, 'no version of all that');

for my $change (
    [ sub { $_[0]{defaultAction} = 'allow' }, 'the default action' ],
    [ sub { @{ $_[0]{rules} }[0, 1] = @{ $_[0]{rules} }[1, 0] }, 'the order of rules' ],
    [ sub { $_[0]{rules}[0]{name} = 'Other' }, 'a name' ],
    [ sub { $_[0]{rules}[0]{enabled} = $false }, 'a rule that is off' ],
    [ sub { $_[0]{rules}[1]{timeWindows}[0]{end} = '06:01' }, 'a minute' ],
    [ sub { pop @{ $_[0]{rules} } }, 'a rule less' ],
    [ sub { push @{ $_[0]{rules}[0]{networks} }, '10.0.0.0/8' }, 'a network' ],
) {
    my $before = versions()->{total};
    my $other = $JSON->decode($JSON->encode($policy));

    $change->[0]->($other);
    is(put($other)->status, 200, $change->[1]);
    is(versions()->{total}, $before + 1, 'is a change');
}


# --- what is refused -----------------------------------------------------------------

my $stored = $acme->stored . get()->{versionId};

sub refused {
    my ($body, $member, $code, $name) = @_;

    my $e = admin_error(put($body), 400, $code // 'invalid_request',
                        $name // substr(SvcTest::encode($body), 0, 100));
    like($e->{message}, qr/"\Q$member\E"/, "it names $member");
}

sub refused_rule {
    my ($members, $member, $code) = @_;

    refused({ rules => [ rule(), rule(), rule(%$members) ],
              defaultAction => 'allow' }, "rules[2].$member", $code);
}

sub refused_window {
    my ($members, $member) = @_;

    refused_rule({ timeWindows => [ { start => '08:00', end => '18:00' },
                                    { start => '08:00', end => '18:00',
                                      %$members } ] },
                 "timeWindows[1]" . ($member eq '' ? '' : ".$member"));
}

refused({ rules => [], defaultAction => 'allow', comment => 'x' }, 'comment');
refused({ rules => [], defaultAction => 'allow', default_action => 'deny' }, 'default_action');
refused_rule({ $_ => [ '10.0.0.0/8' ] }, $_) for qw(network Networks time_windows);
refused_window({ day => [ 'mon' ] }, 'day');
admin_error($acme->admin(POST => '/access-policy/simulate', $_), 400, 'invalid_request',
            'a trial of one') for { rules => [], defaultAction => 'allow', comment => 1 },
    { policy => { rules => [ rule(network => [ '10.0.0.0/8' ]) ], defaultAction => 'allow' } };
refused({ rules => [] }, 'defaultAction');
refused({ defaultAction => 'allow' }, 'rules');
refused({ rules => [], defaultAction => $_ }, 'defaultAction')
    for undef, '', 'block', 'Allow', 5, [];
refused({ rules => $_, defaultAction => 'allow' }, 'rules')
    for undef, {}, 'x', 1;
refused({ rules => [ $_ ], defaultAction => 'allow' }, 'rules[0]')
    for undef, [], 'x', 1;
refused({ rules => [ { action => 'allow' } ], defaultAction => 'allow' },
        'rules[0].name');
refused({ rules => [ { name => 'x' } ], defaultAction => 'allow' },
        'rules[0].action');
refused_rule({ name => $_ }, 'name') for undef, '', '  ', 'x' x 101, "a\nb", 5;
refused_rule({ action => $_ }, 'action') for undef, 'block', 'DENY', 1;
refused_rule({ enabled => $_ }, 'enabled') for undef, 'true', 1;

refused_rule({ networks => $_ }, 'networks') for undef, {}, '10.0.0.0/8';
refused_rule({ networks => [ '10.0.0.0/8', $_ ] }, 'networks[1]')
    for undef, '', 'x', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/08', '1.2.3',
        '010.0.0.1', '10.0.0.0/', '10.0.0.0/8 ', '::1/129', 'fe80::1%eth0',
        '[::1]', '1.2.3.4:80', '256.1.1.1', 5, '10.0.0.0/8/8', '::g',
        "10.0.0.1\x{661}";

refused_rule({ countries => $_ }, 'countries') for undef, 'FR', {};
refused_rule({ countries => [ 'FR', $_ ] }, 'countries[1]')
    for undef, '', 'F', 'FRA', 'F1', "F\x{c9}", 5, '--';
refused_rule({ countries => [ ('FR') x 251 ] }, 'countries');

refused_rule({ timeWindows => $_ }, 'timeWindows') for undef, {}, 'x';
refused_rule({ timeWindows => [ $_ ] }, 'timeWindows[0]') for undef, [], 'x';
refused_window({ days => $_ }, 'days') for undef, [], 'mon';
refused_window({ days => [ 'mon', $_ ] }, 'days[1]')
    for undef, 'Mon', 'monday', 1, '';
refused_window({ start => $_ }, 'start')
    for undef, '', '8:00', '24:00', '08:60', '08:00:00', 800, '-1:00', '08-00';
refused_window({ end => $_ }, 'end')
    for undef, '', '00:00', '24:01', '25:00', '8:00', 24;
refused_window({ timezone => $_ }, 'timezone')
    for undef, '', 'Mars/Base', 'europe/paris', '../../etc/passwd', 'CEST+1',
        'x' x 300, 5, 'Europe/Paris ', 'posixrules/x';
refused_window({ start => '08:00', end => '08:00' }, 'end');

refused({ rules => [ map { rule() } 1 .. 101 ], defaultAction => 'allow' },
        'rules', 'limit_exceeded', '101 rules');
refused_rule({ networks => [ map { "10.0.0.$_" } 1 .. 101 ] }, 'networks',
             'limit_exceeded');
refused_rule({ timeWindows => [ map { { start => '08:00', end => '18:00' } }
                                1 .. 21 ] }, 'timeWindows', 'limit_exceeded');

is($acme->stored . get()->{versionId}, $stored, 'nothing of that was stored');

# The largest policy is accepted.

$r = put({ rules => [
    (map { rule(name => "Rule $_") } 1 .. 98),
    rule(name => 'x' x 100, networks => [ map { "10.0.$_.0/24" } 1 .. 100 ],
         countries => [ ('QQ') x 250 ]),
    rule(timeWindows => [
        map { { start => '00:00', end => sprintf('00:%02d', $_),
                timezone => 'Pacific/Apia' } } 1 .. 20 ]) ],
    defaultAction => 'deny' });
is($r->status, 200, 'as much as there may be') or diag($r->body);
is(scalar @{ $r->json->{rules} }, 100, 'a hundred rules');


# --- anti-lockout -----------------------------------------------------------------------

$stored = $acme->stored . get()->{versionId};

sub locked_out {
    my ($body, $match, $name, @headers) = @_;

    my $e = admin_error(put($body, @headers), 400, 'anti_lockout', $name);
    like($e->{message}, $match, 'it says what denies whom');
}

locked_out({ rules => [], defaultAction => 'deny' }, qr/default/i,
           'nothing but deny');
locked_out({ rules => [ rule(enabled => $false) ], defaultAction => 'deny' },
           qr/default/i, 'with a rule that is off');
locked_out({ rules => [ { name => 'All out', action => 'deny' }, rule() ],
             defaultAction => 'allow' }, qr/"All out"/, 'deny without a condition');
locked_out({ rules => [ { name => 'All out', action => 'deny',
                          networks => [ '0.0.0.0/0', '::/0' ] }, rule() ],
             defaultAction => 'allow' }, qr/"All out"/, 'deny of all networks');
locked_out({ rules => [ { name => 'Here', action => 'deny',
                          networks => [ '127.0.0.0/8' ] } ],
             defaultAction => 'allow' }, qr/"Here".*127\.0\.0\.1/s,
           'deny of the caller');
locked_out({ rules => [ { name => 'Abroad', action => 'deny',
                          countries => [ 'RO' ] } ], defaultAction => 'allow' },
           qr/"Abroad".*198\.51\.100\.9/s, "deny of the caller's country",
           'X-Test-Address' => '198.51.100.9', 'X-Test-Country' => 'ro');
locked_out({ rules => [ { name => 'Nowhere', action => 'deny',
                          countries => [ 'ZZ' ] } ], defaultAction => 'allow' },
           qr/"Nowhere"/, 'deny of an unknown country',
           'X-Test-Country' => 'Romania');
locked_out({ rules => [ rule(networks => [ '2001:db8::/32' ]) ],
             defaultAction => 'deny' }, qr/default.*2001:db9::1/is,
           'not in the network that is admitted',
           'X-Test-Address' => '2001:db9::1');

is($acme->stored . get()->{versionId}, $stored, 'nothing of that was stored');

is(put({ rules => [ rule(networks => [ '198.51.100.0/24' ], action => 'mfa') ],
         defaultAction => 'deny' }, 'X-Test-Address' => '198.51.100.9')->status,
   200, 'who is asked for a second factor is not locked out');


# --- restore -----------------------------------------------------------------------------

my $count = versions()->{total};
$r = restore($first->{versionId});
is($r->status, 200, 'restore') or diag($r->body);

my $restored = $r->json;
is_deeply([ @$restored{qw(source restoredFrom current)} ],
          [ 'restore', $first->{versionId}, $true ], 'makes a new version');
is_deeply($restored->{snapshot}, $version->{snapshot}, 'of what was');
is($restored->{version}, $count + 1, 'with the next number');
is(get()->{versionId}, $restored->{id}, 'which is in force');
is_deeply(versions()->{versions}[0], $restored, 'and is the first of the list');
is(scalar(grep { $_->{current} } @{ versions()->{versions} }), 1,
   'one version is the current one');
is_deeply(($acme->events(qw(action details)))[-1],
          [ 'access_policy.restored', { version => $count + 1, source => 'restore',
                                        restoredFrom => $first->{versionId} } ],
          'its event');
is(restore($restored->{id})->json->{version}, $count + 2,
   'the current one can be restored too');

admin_error(restore($_), 404, 'not_found', "restore of $_")
    for '00000000-0000-4000-8000-000000000000', 'x', uc $first->{versionId};
is($globex->admin(POST => "/access-policy/versions/$first->{versionId}/restore")
   ->status, 404, "another tenant's version");

my ($deny) = map { $_->{id} } grep { $_->{snapshot}{defaultAction} eq 'deny'
                                     && @{ $_->{snapshot}{rules} } == 1 }
             @{ versions()->{versions} };
my $e = admin_error(restore($deny), 400, 'anti_lockout',
                    'a version that denies the caller');
like($e->{message}, qr/127\.0\.0\.1/, 'which is said');


# --- only 50 versions are kept --------------------------------------------------------------

my $last;

for my $i (1 .. 50) {
    $last = put({ rules => [ rule(name => "Number $i") ],
                  defaultAction => 'allow' })->json;
}

$list = versions();
is($list->{total}, 50, 'fifty versions are kept');
is_deeply([ map { $_->{version} } @{ $list->{versions} } ],
          [ reverse $count + 3 .. $count + 52 ], 'the newest ones, in order');
admin_error(restore($first->{versionId}), 404, 'not_found',
            'one that is no longer kept');
is_deeply([ map { $_->{version} } @{ versions('?limit=2&offset=48')->{versions} } ],
          [ $count + 4, $count + 3 ], 'a page');
is(put({ rules => [], defaultAction => 'allow' })->status, 200, 'one more');
is(versions()->{total}, 50, 'and one less');


# --- the database is changed by hand, or set back ----------------------------------------------

my $hand = { rules => [ rule() ], defaultAction => 'mfa' };

put($hand) for 1 .. 8;

$s->sql(q(UPDATE svc.governance SET access_policy =)
        . q( '{"rules":[],"defaultAction":"allow"}')
        . " WHERE tenant_id = '$acme->{id}'");

is(put($hand)->status, 200, 'what was there before it was changed by hand');
is($acme->admin(GET => '/access-policy')->json->{defaultAction}, 'mfa',
   'is put in place again');
put({ rules => [], defaultAction => 'allow' });


# --- entity tags, and changes at the same time -------------------------------------------------

my $etag = $acme->admin(GET => '/access-policy')->header('etag');
is($acme->admin(GET => '/access-policy', undef, [ 'If-None-Match' => $etag ])
   ->status, 304, 'If-None-Match');
is(put({ rules => [ rule() ], defaultAction => 'mfa' }, 'If-Match' => $etag)
   ->status, 200, 'If-Match');
admin_error(put({ rules => [], defaultAction => 'mfa' }, 'If-Match' => $etag),
            412, 'precondition_failed', 'If-Match of what was');
admin_error(put({ rules => [ rule() ], defaultAction => 'mfa' },
                'If-Match' => '"1"'), 412, 'precondition_failed',
            'also when it would change nothing');
admin_error(put({ rules => [], defaultAction => 'mfa' },
                'If-Match' => '"' . '9' x 40 . '"'), 412, 'precondition_failed',
            'If-Match of a number that is no version\'s');

my $before = versions()->{versions}[0];
admin_error(restore($before->{id}, 'If-Match' => $etag), 412,
            'precondition_failed', 'a restore over what was not seen');
is(versions()->{versions}[0]{id}, $before->{id}, 'makes no version');
is(restore($before->{id}, 'If-Match' => $acme->admin(GET => '/access-policy')
           ->header('etag'))->status, 200, 'and one over what was');

my $number = versions()->{versions}[0]{version};
my @pids = map {
    my $pid = fork // die "fork: $!";

    if (!$pid) {
        my $r = put({ rules => [ rule(name => "Racer $_") ],
                      defaultAction => 'allow' });
        POSIX::_exit($r->status == 200 ? 0 : 1);
    }

    $pid;
} 1 .. 20;

is_deeply([ map { waitpid $_, 0; $? } @pids ], [ (0) x 20 ],
          'twenty at the same time all succeed');
is(versions()->{versions}[0]{version}, $number + 20,
   'one after the other, each a version');


# --- changes between the read and the write ------------------------------------------------------

my @workers = $s->workers;
my %left = (rules => [ rule(name => 'Left') ], defaultAction => 'mfa');

sub locked {
    my ($do) = @_;
    my $lock = $s->connect_as('postgres');

    $lock->query('BEGIN');
    $lock->query('SELECT FROM svc.governance FOR UPDATE');
    $do->();
    $lock->query('COMMIT');
}

locked(sub {
    my $c = $s->begin(PUT => '/v1/admin/access-policy',
                      { Authorization => "Bearer $acme->{api_token}" }, \%left);

    ok((wait_for { $s->waiting }), 'a PUT that waits for the lock');
    $c->close;
});
ok((wait_for { get()->{defaultAction} eq 'mfa' }),
   'what was sent is done, though the client has left');
is_deeply(($acme->events('details'))[-1][0]{version},
          versions()->{versions}[0]{version},
          'with its event');

my $current = get()->{versionId};
locked(sub {
    admin_error(put({ rules => [], defaultAction => 'allow' }), 503, 'unavailable',
                'a lock that lasts');
});
is(get()->{versionId}, $current, 'and nothing was done');

locked(sub {
    my $c = $s->begin(
        POST => "/v1/admin/access-policy/versions/$current/restore",
        { Authorization => "Bearer $acme->{api_token}" });

    ok((wait_for { $s->waiting }), 'a restore that waits');
    $s->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
            . " wait_event_type = 'Lock' AND usename = 'svc_app'");
    my $r = $c->read;
    admin_error($r, 503, 'unavailable', 'and its connection is lost');
    like($r->json->{error}{message}, qr/not known/, 'which is said');
});
is(get()->{versionId}, $current, 'nothing was restored');
is("@{[ $s->workers ]}", "@workers", 'the workers are the same');


# --- a database set back ---------------------------------------------------------------------

# A standby that had not received the latest version takes over: the version's number
# is used again.

my %later = (rules => [], defaultAction => 'allow');

is(put(\%later)->status, 200, 'a policy that each worker knows') for 1 .. 20;
$s->sql("UPDATE svc.governance SET access_version_id = gen_random_uuid(),"
        . " access_policy = json_build_object('rules', '[]'::json,"
        . " 'defaultAction', 'mfa') WHERE tenant_id = '$acme->{id}'");
is(put(\%later)->json->{defaultAction}, 'allow',
   'is put again after another one took its number');
is(get()->{defaultAction}, 'allow', 'and stored');


# --- large versions ---------------------------------------------------------------------------------

my $large = $s->tenant('large');
my @sent;

for my $i (1 .. 4) {
    my $body = { rules => [ map { rule(name => "Rule $_",
                                       networks => [ map { "2001:db8:$i:$_\::/64" }
                                                     1 .. 100 ]) } 1 .. 40 ],
                 defaultAction => 'mfa' };

    is($large->admin(PUT => '/access-policy', $body)->status, 200, "version $i");
    unshift @sent, $body->{rules}[39]{networks};
}

$r = $large->admin(GET => '/access-policy/versions');
is($r->header('content-length'), undef, 'a large list comes in pieces');
cmp_ok(length $r->body, '>', 350_000, 'of which there are several');
$list = $r->json;
is_deeply([ map { $_->{version} } @{ $list->{versions} } ], [ 4, 3, 2, 1 ],
          'and is whole');
is_deeply([ map { $_->{snapshot}{rules}[39]{networks} } @{ $list->{versions} } ],
          \@sent, 'with all that was sent');
is_deeply([ map { $_->{current} } @{ $list->{versions} } ],
          [ $true, $false, $false, $false ], 'one of them current');
is_deeply([ @$list{qw(total limit offset)} ], [ 4, 100, 0 ], 'the page behind it');
is($s->http(HEAD => '/v1/admin/access-policy/versions',
            [ Authorization => "Bearer $large->{api_token}" ])->status, 200, 'HEAD');
$list = $large->admin(GET => '/access-policy/versions?offset=1&limit=3')->json;
is_deeply([ map { $_->{version} } @{ $list->{versions} } ], [ 3, 2, 1 ], 'a page');
is_deeply([ @$list{qw(total limit offset)} ], [ 4, 3, 1 ], 'as was asked for');

$s->sql('INSERT INTO svc.access_policy_version (tenant_id, number, source, snapshot)'
        . " SELECT v.tenant_id, -i, 'api', v.snapshot FROM"
        . ' svc.access_policy_version v, generate_series(1, 46) i'
        . " WHERE v.tenant_id = '$large->{id}' AND v.number = 4");

is(scalar @{ $large->admin(GET => '/access-policy/versions')->json->{versions} },
   50, 'fifty large ones');

my $kept = resident($s->workers);
my @lazy = map {
    $s->begin(GET => '/v1/admin/access-policy/versions',
              { Authorization => "Bearer $large->{api_token}" });
} 1 .. 30;

my $select = IO::Select->new(map { $_->sock } @lazy);

ok((wait_for { (() = $select->can_read(0)) == @lazy }), 'thirty who do not read');
cmp_ok(resident($s->workers) - $kept, '<', slow(60_000),
       'of 150 MB keep but a piece each');
$_->close for @lazy;


# --- permissions ----------------------------------------------------------------------------------

my $viewer = $acme->token(kind => 'api', permissions => 'users:view,roles:manage');

for my $route ([ GET => '' ], [ PUT => '', $policy ], [ GET => '/versions' ],
               [ POST => "/versions/$last->{versionId}/restore" ])
{
    admin_error($acme->admin($route->[0], "/access-policy$route->[1]",
                             $route->[2], undef, $viewer->{token}),
                403, 'forbidden', "$route->[0] $route->[1] without permission");
}

$s->done;
done_testing();
