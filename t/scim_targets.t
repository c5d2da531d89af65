#!/usr/bin/perl

# /v1/admin/scim-targets: where users are pushed, and what is refused.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Governance qw($ALL);
use SvcTest::Monitor;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Urls qw(@REFUSED_URLS);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $NONE = '00000000-0000-4000-8000-000000000000';
my $TOKEN = 'xoxp-a-token-of-this-test';
my $NEW = 'xoxp-another-token';

my $s = SvcTest->new(svc => { svc_webhooks => 'on', svc_scim_targets => 'on',
                              svc_webhook_allow => '10.9.0.0/16' });

$s->start;

# each target has an owner, so no helper takes it: the test does the helper's
# work

$s->sql("ALTER TABLE svc.scim_target ALTER lease_by SET DEFAULT 'somebody'");

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my @workers = $s->workers;
my $monitor = SvcTest::Monitor->new($s->redis);

$acme->add_applications(web => map { "app_$_" } 1 .. 9);
$globex->add_applications(web => 'app_1', 'app_theirs');
$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");
$s->secret($TOKEN, $NEW);

my %GOOD = (clientId => 'app_1', name => 'Slack', token => $TOKEN,
            baseUrl => 'https://api.slack.test/scim/v2');
my @answers;


sub ask {
    my ($method, $path, $body, %opt) = @_;

    my $r = ($opt{tenant} // $acme)->admin($method, "/scim-targets$path", $body,
                                           $opt{headers}, $opt{token});

    push @answers, $r->body;

    return $r;
}


sub refused {
    my ($r, $text, $name) = @_;

    is(admin_error($r, 400, 'invalid_request', $name)->{message} // '', $text,
       "$name: says why");
}


# Returns columns of a target, as SQL expressions.

sub row {
    my ($id, @columns) = @_;

    return ($s->sql('SELECT ' . join(', ', @columns)
                    . " FROM svc.scim_target WHERE id = '$id'"))[0];
}

sub set {
    my ($id, $what) = @_;

    $s->sql("UPDATE svc.scim_target SET $what WHERE id = '$id'");
}

sub count_of {
    my ($tenant) = @_;

    return $s->sql('SELECT count(*) FROM svc.scim_target'
                   . " WHERE tenant_id = '$tenant->{id}'");
}

sub shown {
    return substr $_[0] =~ s/([^ -~])/sprintf '\\x{%x}', ord $1/ger, 0, 60;
}


# --- permissions ------------------------------------------------------------------

my $weak = $acme->token_for('audit:view,groups:manage,members:manage,roles:manage,'
                            . 'tenant:manage,users:view');

for my $route ([ GET => '' ], [ POST => '', \%GOOD ], [ GET => "/$NONE" ],
               [ PUT => "/$NONE", {} ], [ DELETE => "/$NONE" ],
               [ GET => "/$NONE/users" ], [ POST => "/$NONE/sync" ],
               [ GET => "/$NONE/users/$acme->{id}" ], [ POST => "/$NONE/users/$acme->{id}/sync" ],
               [ POST => "/$NONE/test" ])
{
    my ($method, $path, $body) = @$route;

    admin_error(ask($method, $path, $body, token => $weak), 403, 'forbidden',
                "$method $path without apps:manage");
    admin_error(ask($method, $path, $body, token => 'svc_' . 'x' x 43), 401,
                'unauthorized', "$method $path with no token of ours");

    next if $path eq '';

    is(admin_error(ask($method, $path, $body), 404, 'not_found',
                   "$method $path: none")->{message},
       'There is no SCIM target with this id.', 'it says so');
    admin_error(ask($method, $path =~ s/$NONE/$_/r, $body), 404, 'not_found',
                "$method $path: no id: $_") for 'x', uc($NONE) =~ s/0/A/r, '%FF';
}

admin_error(ask(PATCH => "/$NONE", {}), 405, undef, 'no PATCH');
is(count_of($acme), 0, 'there is none');


# --- the life of a target -----------------------------------------------------------

$acme->new_events;

my $r = ask(POST => '', { %GOOD, extra => 1, id => $NONE, tokenSet => $FALSE });
is($r->status, 201, 'a target') or diag($r->body);

my $target = $r->json;
my $id = $target->{id};

like($id, $UUID, 'its id');
like($target->{createdAt}, $TIME, 'its time');
is_deeply($target, {
    id => $id, clientId => 'app_1', name => 'Slack', baseUrl => $GOOD{baseUrl},
    enabled => $TRUE, tokenSet => $TRUE, lastSyncAt => undef, lastSyncStatus => undef,
    lastError => undef, stats => { users => 0, pending => 0, errors => 0 },
    createdAt => $target->{createdAt}, updatedAt => $target->{createdAt},
}, 'all of it');
is_deeply([ $acme->new_events ],
          [ [ 'scim.target_created', 'scimTarget', $id, 'Slack',
              { clientId => 'app_1', host => 'api.slack.test', enabled => $TRUE } ] ],
          'is audited');
ok(scalar $monitor->wait(1, 'PUBLISH', 'svc.audit', $acme->{id}), 'who has it is told');

is_deeply(ask(GET => "/$id")->json, $target, 'it is there');
is(ask(HEAD => "/$id")->body, '', 'HEAD');

my $second = ask(POST => '', { %GOOD, clientId => ' app_2 ', name => ' Zoe ',
                               baseUrl => 'HTTPS://Api.slack.test:8443///',
                               enabled => $FALSE })->json;

is_deeply([ @$second{qw(clientId name baseUrl enabled)} ],
          [ 'app_2', 'Zoe', 'https://Api.slack.test:8443', $FALSE ],
          'another one, as it is kept');
is_deeply(ask(GET => '')->json,
          { scimTargets => [ $second, $target ], total => 2, limit => 100, offset => 0 },
          'the list, the newest first');
is_deeply(ask(GET => '?limit=1&offset=1')->json->{scimTargets}, [ $target ],
          'a page of it');
admin_error(ask(GET => "?$_"), 400, undef, $_) for 'limit=0', 'offset=-1', 'limit=x';
admin_finds($acme, '/scim-targets', needs => 'apps:manage', of => 'scimTargets', by => 'id', finds => {
    ZO => [ $second->{id} ], 'API.SLACK' => [ $id, $second->{id} ], ':8443' => [ $second->{id} ],
    app_1 => [ $id ], $id => [ $id ], '%' => [], APP_1 => [] });

is(admin_error(ask(POST => '', { %GOOD, name => 'Again' }), 409, 'conflict',
               'one more of the application')->{message},
   'The application has a SCIM target already: change that one.', 'it says so');
is(ask(POST => '', \%GOOD, tenant => $globex)->status, 201, 'another tenant\'s');

# with an idempotency key it is created once

my @key = ('Idempotency-Key' => 'k');
my $keyed = ask(POST => '', { %GOOD, clientId => 'app_3' }, headers => \@key)->json;

$r = ask(POST => '', { %GOOD, clientId => 'app_3' }, headers => \@key);
is_deeply($r->json, $keyed, 'a create that is sent again');
is($r->header('idempotency-replayed'), 'true', 'it is the same');
is(ask(DELETE => "/$keyed->{id}")->status, 204, 'deleted');
is(ask(DELETE => "/$second->{id}")->status, 204, 'and the other one');
admin_error(ask(DELETE => "/$second->{id}"), 404, undef, 'once');
is_deeply(($acme->new_events)[-1],
          [ 'scim.target_deleted', 'scimTarget', $second->{id}, 'Zoe',
            { clientId => 'app_2' } ], 'is audited');


# --- a test that no helper makes, during all the rest -------------------------------------

sub testing {
    my ($id) = @_;

    my $asked = $s->begin(POST => "/v1/admin/scim-targets/$id/test",
                          [ Authorization => "Bearer $acme->{api_token}" ]);

    ok((wait_for { (row($id, 'test_id IS NOT NULL AND test_id IS DISTINCT FROM test_done')
                    // [ '' ])->[0] eq 't' }), 'a test is asked for');

    return $asked;
}


my $idle = ask(POST => '', { %GOOD, clientId => 'app_4' })->json->{id};
my $nobody = testing($idle);

$acme->new_events;


# --- the token at rest -----------------------------------------------------------------

my ($sealed) = row($id, "encode(token, 'hex')")->[0];

like($sealed, qr/\A0131/, 'sealed with the key "1"');
is(length $sealed, 2 * (1 + 1 + 12 + length($TOKEN) + 16), 'nonce, text and tag');
is(index(pack('H*', $sealed), $TOKEN), -1, 'and not as it is');
isnt($s->sql("SELECT encode(token, 'hex') FROM svc.scim_target"
             . " WHERE tenant_id = '$globex->{id}'"), $sealed, 'each on its own');


# --- changes -------------------------------------------------------------------------------

my $users = join ', ', map { "('$acme->{id}', '$id', '$_')" } my @users = sort $acme->add_users(3);

$s->sql("INSERT INTO svc.scim_item (tenant_id, target_id, user_id) VALUES $users");

# all members that may change, and those that do not

for my $row ([ { name => 'Chat' }, [ 'name' ] ], [ { token => $NEW }, [ 'token' ] ],
             [ { enabled => $FALSE }, [ 'enabled' ] ],
             [ { enabled => $TRUE, name => 'Slack' }, [ 'name', 'enabled' ] ],
             [ { %$target, token => $TOKEN }, [ 'token' ] ],
             [ { baseUrl => "$GOOD{baseUrl}//" } ], [ {} ], [ { clientId => 'app_1' } ],
             [ $target ])
{
    my ($body, $changed) = @$row;
    my $name = 'PUT ' . join ' ', sort keys %$body;
    my ($version) = @{ row($id, 'version') };

    $r = ask(PUT => "/$id", $body);
    is($r->status, 200, $name) or diag($r->body);
    is_deeply([ map { $_->[4] } $acme->new_events ],
              [ $changed ? { changed => $changed } : () ], 'is audited, if it changes it');
    is(row($id, 'version')->[0], $version + ($changed ? 1 : 0), 'its version');

    my $now = $r->json;

    is($now->{updatedAt} gt $target->{updatedAt} ? 1 : 0, $changed ? 1 : 0,
       'it says when') if !$changed || $body != $target;
    $target = $now;
}

is_deeply({ %$target, updatedAt => 0 }, { %{ ask(GET => "/$id")->json }, updatedAt => 0 },
          'as it was');
is($s->sql('SELECT count(*) FROM svc.scim_item'), 3, 'what is known of users stays');

# after a changed token a target that refused the old one is tried again; a
# pause that the target asked for stays

set($id, "failures = 3, next_at = 'infinity'");
is(ask(PUT => "/$id", {})->status, 200, 'nothing but a PUT');
is_deeply(row($id, 'failures', 'next_at IS NULL'), [ 0, 't' ], 'ends a quarantine');
set($id, "next_at = 'infinity'");
is(ask(PUT => "/$id", { name => 'Slack' })->status, 200, 'without one');
is(row($id, 'next_at')->[0], 'infinity', 'the pause stays');

# another address

set($id, "xid = '5', event_id = 7, event_at = now(), patch = true, config_at = now(),"
         . " sync_next = '$NONE', users = 3, pending = 2, errors = 1,"
         . " sync_status = 'held', sync_at = now(), last_error = 'x'");
refused(ask(PUT => "/$id", { baseUrl => 'https://evil.test' }),
        '"token" is required with another "baseUrl".', 'another address alone');
is(row($id, 'xid')->[0], 5, 'changes nothing');
is_deeply(ask(GET => "/$id")->json->{stats}, { users => 3, pending => 2, errors => 1 },
          'the counts');
$acme->new_events;
$r = ask(PUT => "/$id", { baseUrl => 'https://new.slack.test/v2/', token => $TOKEN })->json;
is($r->{baseUrl}, 'https://new.slack.test/v2', 'with the token');
is_deeply($r->{stats}, { users => 0, pending => 0, errors => 0 }, 'nobody is known there');
is_deeply([ map { $_->[4] } $acme->new_events ], [ { changed => [ 'baseUrl', 'token' ] } ],
          'is audited');
is_deeply(row($id, qw(xid event_id event_at patch config_at sync_next sync_at sync_status
                      last_error)), [ (undef) x 9 ],
          'all is looked at anew');
is($s->sql('SELECT count(*) FROM svc.scim_item'), 0, 'no id of the old place is used');

refused(ask(PUT => "/$id", { clientId => 'app_2' }), '"clientId" cannot be changed: make a'
        . ' SCIM target of the other application.', 'another application');


# --- what is refused ----------------------------------------------------------------------------

for my $url (@REFUSED_URLS) {
    for my $r (ask(POST => '', { %GOOD, clientId => 'app_9', baseUrl => $url }),
               ask(PUT => "/$id", { baseUrl => $url, token => $TOKEN }))
    {
        like(admin_error($r, 400, 'invalid_request', 'refused: ' . shown($url))->{message},
             qr/\A"baseUrl" /, 'it says what is wrong');
    }
}

for my $url ('https://example.com/?x=1', 'https://example.com?', 'https://example.com/a?') {
    refused(ask(POST => '', { %GOOD, clientId => 'app_9', baseUrl => $url }),
            '"baseUrl" must not have a query ("?"): "/Users" is put behind it.', $url);
    refused(ask(PUT => "/$id", { token => $TOKEN, baseUrl => $url }),
            '"baseUrl" must not have a query ("?"): "/Users" is put behind it.', $url);
}

for my $row (
    [ name => '', '"name" ' ], [ name => '  ', '"name" ' ], [ name => 'x' x 101, '"name" ' ],
    [ name => "a\nb", '"name" ' ], [ name => 5, '"name" ' ], [ name => undef, '"name" ' ],
    [ name => "a\0b", '' ],
    [ clientId => '', '"clientId" ' ], [ clientId => 5, '"clientId" ' ],
    [ clientId => undef, '"clientId" ' ], [ clientId => 'x' x 65, '"clientId" ' ],
    [ clientId => "app_1\0", '' ],
    [ token => '', '"token" ' ], [ token => undef, '"token" ' ], [ token => 5, '"token" ' ],
    [ token => 'x' x 4097, '"token" ' ],
    (map { [ token => $_, '"token" must have nothing but ASCII without spaces and'
                          . ' control characters.' ] }
         'a b', "a\r\nX: y", "a\t", ' a', "a\x7f", 'é'),
    [ baseUrl => '', '"baseUrl" ' ], [ baseUrl => undef, '"baseUrl" ' ],
    [ baseUrl => [ $GOOD{baseUrl} ], '"baseUrl" ' ],
    [ enabled => 'true', '"enabled" ' ], [ enabled => 1, '"enabled" ' ],
    [ enabled => undef, '"enabled" ' ])
{
    my ($member, $value, $text) = @$row;
    my $name = "$member: " . shown(JSON::PP->new->allow_nonref->encode($value));

    for my $r (ask(POST => '', { %GOOD, clientId => 'app_9', $member => $value }),
               ask(PUT => "/$id", { $member => $value }))
    {
        my $error = admin_error($r, 400, 'invalid_request', $name);

        is(index($error->{message} // '', $text), 0, 'it says what is wrong')
            or diag($error->{message});
    }
}

for my $absent (qw(clientId name baseUrl token)) {
    my %body = (%GOOD, clientId => 'app_9');

    delete $body{$absent};
    like(admin_error(ask(POST => '', \%body), 400, undef, "no $absent")->{message},
         qr/^"$absent" /, 'it says so');
}

refused(ask(POST => '', { %GOOD, clientId => $_ }),
        '"clientId" must be that of an application of the tenant.', "clientId $_")
    for 'app_none', 'app_theirs', 'APP_1', 'x', "app_1'";

admin_error(ask($_->[0], $_->[1], '{"name":'), 400, undef, "@$_: no JSON")
    for [ POST => '' ], [ PUT => "/$id" ];
is(count_of($acme), 2, 'nothing was made');
is_deeply([ $acme->new_events ], [], 'or audited');

# URLs that are accepted

for my $url ('https://10.9.255.1', 'https://8.8.8.8/scim', 'https://[2606:4700::1111]/v2',
             'https://xn--bcher-kva.example:8443/a%20b;c=d@e', 'https://intranet',
             'https://example.com/' . 'x' x 2028)
{
    $r = ask(POST => '', { %GOOD, clientId => 'app_9', baseUrl => $url });
    is($r->status, 201, 'taken: ' . shown($url)) or diag($r->body);
    is($r->json->{baseUrl}, $url, 'as it is');
    is(ask(DELETE => '/' . $r->json->{id})->status, 204, 'deleted');
}

$r = ask(POST => '', { %GOOD, clientId => 'app_9', token => '~' x 4096, name => 'é' x 100 });
is($r->status, 201, 'a long token') or diag($r->body);
is(ask(DELETE => '/' . $r->json->{id})->status, 204, 'deleted');


# --- as many as there may be ----------------------------------------------------------------------

$globex->add_applications(web => map { "app_more$_" } 1 .. 60);
$s->sql('INSERT INTO svc.scim_target (tenant_id, client_id, name, base_url, token)'
        . " SELECT '$globex->{id}', 'app_more' || i, 'x', 'https://x.test', '\\x00'"
        . ' FROM generate_series(1, 46) i');

my @connections = map { $s->connection } 1 .. 8;

$connections[$_]->send($connections[$_]->format(POST => '/v1/admin/scim-targets',
    [ Authorization => "Bearer $globex->{api_token}" ],
    SvcTest::encode({ %GOOD, clientId => 'app_more' . (50 + $_) }))) for 0 .. 7;

my %status;

for my $r (map { $_->read } @connections) {
    $status{$r->status}++;
    is(admin_error($r, 400, 'limit_exceeded', 'one too many')->{message},
       'The tenant has 50 SCIM targets: delete one.', 'it says so') if $r->status != 201;
}

is_deeply(\%status, { 201 => 3, 400 => 5 }, 'of 8 at once 3 had room');
is(count_of($globex), 50, 'there are 50');


# --- what an operator sees ----------------------------------------------------------------------------

my ($shown, $rc) = $s->svcctl(qw(scim-target list --tenant acme));

is($rc, 0, 'svcctl scim-target list');
ok((grep { $_ eq "acme  $idle  enabled  never synchronized  0 users, 0 pending, 0 in error"
                 . '  api.slack.test  app_4  Slack' } split /\n/, $shown),
   'a line of each') or diag($shown);
is(scalar(() = $shown =~ /^acme  /mg), 2, 'those of one tenant');
is(scalar(() = $s->svcctl(qw(scim-target list)) =~ /^(?:acme|globex)  /mg), 52,
   'those of all');
unlike($shown, qr{/scim/v2|\Q$TOKEN\E}, 'with no path, and no token');
like(($s->svcctl(qw(scim-target list --tenant nobody)))[2],
     qr/there is no tenant "nobody"/, 'of no tenant');


# --- the application of a target ---------------------------------------------------------------------

sub delete_application {
    return $s->http(DELETE => "/v1/applications/$_[0]",
                    { Authorization => "Bearer $acme->{api_token}" });
}

my $app = $s->http(POST => '/v1/applications',
                   { Authorization => "Bearer $acme->{api_token}" },
                   { name => 'x', type => 'm2m' })->json->{clientId};
my $of = ask(POST => '', { %GOOD, clientId => $app })->json->{id};

$acme->new_events;
is(admin_error(delete_application($app), 409, 'conflict', 'an application with a target')
   ->{message}, 'The application has a SCIM target: delete that one first.', 'it says so');
is_deeply([ $acme->new_events ], [], 'and nothing is audited');
is(ask(DELETE => "/$of")->status, 204, 'without it');
is(delete_application($app)->status, 204, 'it goes');
is(admin_error(delete_application($app), 404, undef, 'and is gone')->{message},
   'There is no application with this clientId.', 'it says so');

# each of the two requests sees the other one if that comes first

$app = $s->http(POST => '/v1/applications', { Authorization => "Bearer $acme->{api_token}" },
                { name => 'x', type => 'm2m' })->json->{clientId};

my $db = $s->connect_as('postgres');

$db->query($_) for 'BEGIN', "SELECT pg_advisory_xact_lock(hashtext('svc.scim_target'),"
                            . " hashtext('$acme->{id}'))";

my $making = $s->begin(POST => '/v1/admin/scim-targets',
                       [ Authorization => "Bearer $acme->{api_token}" ],
                       { %GOOD, clientId => $app });

ok((wait_for { $s->waiting('svc_app') == 1 }), 'a target waits');

my $ending = $s->begin(DELETE => "/v1/applications/$app",
                       [ Authorization => "Bearer $acme->{api_token}" ]);

ok((wait_for { $s->waiting('svc_app') == 2 }), 'the end of its application, too');
$db->query('COMMIT');
is_deeply([ map { $_->read->status } $making, $ending ], [ 201, 409 ],
          'the target is there, and the application stays');
$of = $s->sql("DELETE FROM svc.scim_target WHERE client_id = '$app' RETURNING id");


# --- users --------------------------------------------------------------------------------------------

is_deeply(ask(GET => "/$id/users")->json,
          { users => [], total => 0, limit => 100, offset => 0 }, 'no users');

$s->sql("INSERT INTO svc.scim_item (tenant_id, target_id, user_id) VALUES $users,"
        . " ('$acme->{id}', '$id', 'ffffffff-ffff-4fff-8fff-ffffffffffff')");
$s->sql(<<"EOT");
UPDATE svc.scim_item SET state = 'error', remote_id = 'r1', attempts = 2, error = 'POST: 400',
       next_at = '2026-11-21T09:15:30Z' WHERE user_id = '$users[0]';
EOT
$s->sql(<<"EOT");
UPDATE svc.scim_item SET state = 'synced', remote_id = 'r2', done_rev = wanted_rev,
       synced_at = '2026-11-21T09:15:30.5Z' WHERE user_id = '$users[1]';
EOT

my %email = map { @$_ } $s->sql('SELECT id, user_name FROM svc.user_account');
my $list = ask(GET => "/$id/users")->json;

is($list->{total}, 4, 'all users');
is_deeply([ map { $_->{userId} } @{ $list->{users} } ],
          [ @users, 'ffffffff-ffff-4fff-8fff-ffffffffffff' ], 'by id');
is_deeply([ @{ $list->{users} }[0, 1] ], [
    { userId => $users[0], email => $email{ $users[0] }, remoteId => 'r1', state => 'error',
      attempts => 2, error => 'POST: 400', nextAttemptAt => '2026-11-21T09:15:30.000Z',
      syncedAt => undef },
    { userId => $users[1], email => $email{ $users[1] }, remoteId => 'r2', state => 'synced',
      attempts => 0, error => undef, nextAttemptAt => undef,
      syncedAt => '2026-11-21T09:15:30.500Z' } ], 'each of them');
like($list->{users}[2]{nextAttemptAt}, $TIME, 'when one is next');
is($list->{users}[3]{email}, undef, 'one that is erased has no address');

for my $row ([ error => 0 ], [ synced => 1 ], [ pending => 2, 3 ]) {
    my ($state, @n) = @$row;
    my $found = ask(GET => "/$id/users?state=$state")->json;

    is_deeply([ $found->{total}, @{ $found->{users} } ],
              [ scalar @n, @{ $list->{users} }[@n] ], "those in $state");
}

is_deeply(ask(GET => "/$id/users?limit=1&offset=1")->json->{users}, [ $list->{users}[1] ],
          'a page');
admin_error(ask(GET => "/$id/users?$_"), 400, undef, $_)
    for 'state=x', 'state=', 'state=error&state=synced', 'limit=0', 'offset=x';


# --- one user -----------------------------------------------------------------------------------------

my $erased = 'ffffffff-ffff-4fff-8fff-ffffffffffff';
my $unknown = 'The SCIM target has no user with this id, and there is none who may use its'
             . ' application.';

is_deeply(ask(GET => "/$id/users/$_->{userId}")->json, $_, "$_->{userId} as in the list")
    for @{ $list->{users} };
is(admin_error(ask(GET => "/$id/users/$_"), 404, 'not_found', "no user: $_")->{message}, $unknown,
   'it says so') for $NONE, 'x';
admin_error(ask(GET => "/$id/users/$users[0]", undef, tenant => $globex), 404, undef,
            'another tenant has none of them');

$acme->new_events;
$s->sql("UPDATE svc.scim_item SET next_at = 'infinity', attempts = 3 WHERE user_id = '$users[0]'");

for my $n (0, 1, 3) {
    my $user = $list->{users}[$n];
    my $r = ask(POST => "/$id/users/$user->{userId}/sync");
    my $now = $r->json;

    is($r->status, 202, "$user->{state}: is next") or diag($r->body);
    like($now->{nextAttemptAt}, $TIME, 'at once');
    is_deeply($now, { %$user, state => 'pending', attempts => 0,
                      nextAttemptAt => $now->{nextAttemptAt} }, 'all else as it was');
    is_deeply(ask(GET => "/$id/users/$user->{userId}")->json, $now, 'stored');
    is_deeply([ $acme->new_events ], [ [ 'scim.synced', 'scimTarget', $id, 'Slack',
                                         { userId => $user->{userId} } ] ], 'and audited');
}

is_deeply([ $s->sql("SELECT priority, compare, wanted_rev FROM svc.scim_item"
                    . " WHERE user_id IN ('$users[0]', '$erased') ORDER BY user_id") ],
          [ [ 1, 't', 2 ], [ 0, 't', 2 ] ], 'is to be compared; who is gone is to go there');
is(ask(POST => "/$id/users/$users[0]/sync")->status, 202, 'once more');
is_deeply([ $acme->new_events, scalar $s->sql("SELECT wanted_rev FROM svc.scim_item"
                                       . " WHERE user_id = '$users[0]'") ], [ 2 ],
          'changes nothing while it is due');

my $stranger = $s->sql('INSERT INTO svc.user_account (tenant_id, id, user_name) VALUES'
                       . " ('$acme->{id}', gen_random_uuid(), 'new\@acme.test') RETURNING id");
my ($theirs) = $globex->add_users(1);

is(ask(POST => "/$id/users/$stranger/sync")->json->{state}, 'pending', 'whom it does not know');
$s->sql("DELETE FROM svc.scim_item WHERE user_id = '$stranger'");
$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$stranger'");
is(admin_error(ask(POST => "/$id/users/$_/sync"), 404, 'not_found', "nobody: $_")->{message},
   $unknown, 'it says so') for $stranger, $theirs, $NONE, 'x';
$s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$stranger'");
$s->sql("UPDATE svc.application SET assignment = 'groups' WHERE client_id = "
        . "(SELECT client_id FROM svc.scim_target WHERE id = '$id')");
admin_error(ask(POST => "/$id/users/$stranger/sync"), 404, undef, 'who may not use it');
$s->sql("UPDATE svc.application SET assignment = 'everyone' WHERE client_id = "
        . "(SELECT client_id FROM svc.scim_target WHERE id = '$id')");
admin_error(ask(POST => "/$id/users/$users[0]/sync", undef, tenant => $globex), 404, undef,
            'another tenant\'s target');

for my $held ("sync_status = 'held'", "sync_status = 'failing', sync_was = 'held'") {
    set($id, $held);
    like(admin_error(ask(POST => "/$id/users/$users[1]/sync"), 409, 'conflict', $held)->{message},
         qr/^The SCIM target is held: /, 'it says so');
}

set($id, "sync_status = NULL, sync_was = NULL, enabled = false");
refused(ask(POST => "/$id/users/$users[1]/sync"),
        'The SCIM target is disabled: enable it first, with PUT and {"enabled":true}.',
        'one that is disabled');
set($id, 'enabled = true');
is_deeply([ $acme->new_events ], [ [ 'scim.synced', 'scimTarget', $id, 'Slack',
                                     { userId => $stranger } ] ], 'none of these is audited');


# --- synchronize --------------------------------------------------------------------------------------

$acme->new_events;
set($id, "failures = 2, next_at = 'infinity', last_error = 'x', sync_next = '$NONE',"
         . ' sync_again = true');
$r = ask(POST => "/$id/sync");
is($r->status, 202, 'synchronize') or diag($r->body);

my $sync = $r->json;

like($sync->{syncId}, $UUID, 'its id');
is_deeply($sync, { syncId => $sync->{syncId}, status => 'queued' }, 'all of it');
is_deeply([ $acme->new_events ], [ [ 'scim.synced', 'scimTarget', $id, 'Slack',
    { syncId => $sync->{syncId}, confirm => $FALSE } ] ], 'is audited');
is_deeply(row($id, qw(sync_id sync_status sync_confirm sync_next sync_again last_error
                      failures next_at)),
          [ $sync->{syncId}, 'queued', 'f', undef, 'f', undef, 0, undef ],
          'is written for who does it');
is(ask(GET => "/$id")->json->{lastSyncStatus}, 'queued', 'and shown');

for my $status (qw(queued running)) {
    set($id, "sync_status = '$status'");
    is(admin_error(ask(POST => "/$id/sync$_"), 409, 'conflict', "while $status$_")->{message},
       'The SCIM target is being synchronized: wait for the end of it.', 'it says so')
        for '', '?confirm=true';
}

set($id, "sync_status = 'held', sync_at = '2026-11-21T09:15:30Z', last_error = 'y'");
is_deeply([ @{ ask(GET => "/$id")->json }{qw(lastSyncStatus lastSyncAt lastError)} ],
          [ 'held', '2026-11-21T09:15:30.000Z', 'y' ], 'what is shown of one that is held');
like(admin_error(ask(POST => "/$id/sync$_"), 409, 'conflict', "held$_")->{message},
     qr/^The last synchronization was held, .*"\?confirm=true"\.$/, 'it says what to do')
    for '', '?confirm=false';
admin_error(ask(POST => "/$id/sync?confirm=$_"), 400, undef, "confirm=$_")
    for 'yes', '', '1', 'TRUE', 'true&confirm=true';
$acme->new_events;
is(ask(POST => "/$id/sync?confirm=true")->status, 202, 'confirmed');
is(row($id, 'sync_confirm')->[0], 't', 'is written');
is(($acme->new_events)[0][4]{confirm}, $TRUE, 'and audited');

for my $status (qw(success partial failing)) {
    set($id, "sync_status = '$status'");
    is(ask(POST => "/$id/sync")->status, 202, "behind $status");
}

set($id, 'enabled = false');
refused(ask(POST => "/$id/sync"), 'The SCIM target is disabled: enable it first, with PUT'
        . ' and {"enabled":true}.', 'one that is disabled');


# --- test ------------------------------------------------------------------------------------------------

# a disabled target, too

$monitor->take(1000, 'PUBLISH', 'svc.audit');

for my $case (
    [ 'test_status = 200, test_patch = true, test_error = NULL',
      { ok => $TRUE, status => 200, patch => $TRUE, error => undef } ],
    [ 'test_status = 200, test_patch = NULL',
      { ok => $TRUE, status => 200, patch => undef, error => undef } ],
    [ "test_status = 401, test_error = 'no'",
      { ok => $FALSE, status => 401, patch => undef, error => 'no' } ],
    [ "test_status = NULL, test_error = 'the name could not be resolved'",
      { ok => $FALSE, status => undef, patch => undef,
        error => 'the name could not be resolved' } ])
{
    my ($found, $shown) = @$case;
    my $asked = testing($id);

    ok(scalar $monitor->wait(1, 'PUBLISH', 'svc.audit', $acme->{id}), 'who does it is told');
    is(admin_error(ask(POST => "/$id/test"), 409, 'conflict', 'one more')->{message},
       'The SCIM target is being tested: wait for the end of it.', 'it says so');
    set($id, "test_done = test_id, $found");

    my $r = $asked->read;

    is($r->status, 200, "tested: $found") or diag($r->body);
    is_deeply($r->json, $shown, 'what came of it');
}

# no connection to PostgreSQL is held meanwhile, and a client may leave

my $gone = testing($id);

is($s->sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'svc_app'"
           . " AND state <> 'idle' AND xact_start < now() - interval '2 s'"), 0,
   'nobody holds a connection');
undef $gone;
set($id, "test_at = now() - interval '16 s'");
$gone = testing($id);
is(ask(DELETE => "/$id", undef)->status, 204, 'deleted meanwhile');
is(admin_error($gone->read, 404, undef, 'a test of it')->{message},
   'There is no SCIM target with this id.', 'it says so');

# a test whose API token is revoked meanwhile

my $short = $acme->token(kind => 'api', permissions => 'apps:manage');
my $other = ask(POST => '', { %GOOD, clientId => 'app_5' })->json->{id};

$gone = $s->begin(POST => "/v1/admin/scim-targets/$other/test",
                  [ Authorization => "Bearer $short->{token}" ]);
ok((wait_for { row($other, 'test_id IS NOT NULL')->[0] eq 't' }),
   'a test by another token');
$s->sql("UPDATE svc.credential SET revoked_at = now() WHERE id = '$short->{id}'");
admin_error($gone->read, 401, 'unauthorized', 'which is revoked');

is(admin_error($nobody->read, 503, 'unavailable', 'nobody does it')->{message},
   'Nobody has tested the SCIM target within 15 seconds: try again.', 'it says so');

is(scalar(grep { index($_, $TOKEN) >= 0 || index($_, $NEW) >= 0 } @answers), 0,
   'no answer has a token');
is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;


# --- without svc_scim_targets --------------------------------------------------------------------------

$s = SvcTest->new(svc => { svc_webhooks => 'on' })->start;
$acme = $s->tenant('acme');
admin_error(ask(@$_), 404, 'not_found', "$_->[0] without svc_scim_targets")
    for [ 'GET', '' ], [ POST => '', \%GOOD ], [ GET => "/$NONE" ], [ POST => "/$NONE/sync" ];
is($acme->admin(GET => '/webhooks')->status, 200, 'webhooks are there');
$s->done;

done_testing();
