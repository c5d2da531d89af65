#!/usr/bin/perl

# Outbound SCIM: a sync reads the target's own list, and asks only for the users
# who differ; a target without a list is asked for each user.  Also: which
# account belongs to which user, the shares of tenants, large groups, and a log
# that is too old.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Governance qw($ALL);
use SvcTest::Process qw(slow wait_for);
use SvcTest::Push;
use SvcTest::Receiver;


my $N = 300;
my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s, svc_webhooks => 'off',
                                      svc_scim_targets => 'on', svc_scim_rate => 'off');
my $there = SvcTest::Push->server($s->root, $receiver->{dir});

$s->start;

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $app = 0;

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");


sub add_users {
    my ($tenant, $name, $n) = @_;

    $s->sql('INSERT INTO svc.user_account (tenant_id, id, user_name, title)'
            . " SELECT '$tenant->{id}', gen_random_uuid(), '$name' || i || '\@x.test',"
            . " 'Cook' FROM generate_series(1, $n) i");
}


sub target {
    my ($tenant, $url, $type) = @_;
    my $client = sprintf 'app_%032d', ++$app;

    $tenant->add_applications($type // 'web', $client);

    my $r = $tenant->admin(POST => '/scim-targets',
                           { clientId => $client, name => $url, token => 'x',
                             baseUrl => $there->url($url) });

    is($r->status, 201, "a target: $url") or diag($r->body);

    return { id => $r->json->{id}, client => $client };
}


sub items {
    my ($t, $what) = @_;

    return $s->sql("SELECT count(*) FROM svc.scim_item WHERE target_id = '$t->{id}'"
                   . " AND $what");
}


sub soon {
    my ($t, $what, $n, $name) = @_;

    ok((wait_for { items($t, $what) == $n }), $name)
        or diag(items($t, $what) . " of $n: "
                . $s->sql("SELECT row_to_json(t) FROM svc.scim_target t"
                          . " WHERE id = '$t->{id}'")
                . ($s->sql("SELECT json_agg(i) FROM svc.scim_item i WHERE error"
                           . " IS NOT NULL") // ''));
}


sub status {
    return $s->sql("SELECT coalesce(sync_status, '') FROM svc.scim_target"
                   . " WHERE id = '$_[0]{id}'");
}


sub sync {
    my ($t, $name) = @_;

    is($acme->admin(POST => "/scim-targets/$t->{id}/sync")->status, 202, 'a sync');
    ok((wait_for { status($t) eq 'success' }), $name) or diag(status($t));
}


# Returns the requests to a store since the last call: pages, and the number of
# each other kind.

sub asked {
    my %n;

    for ($there->requests($_[0])) {
        next if $_->{path} eq '/ServiceProviderConfig';
        $n{ $_->{url} =~ /startIndex/ ? 'page' : $_->{url} =~ /filter/ ? 'look'
            : $_->{method} }++;
    }

    return \%n;
}


# Changes one user of a store, and removes one.

sub drift {
    my ($store) = @_;
    my @users = $there->users($store);

    $users[7]{title} = 'Thief';
    $users[9]{active} = JSON::PP::false();
    splice @users, 8, 1;
    $there->users($store, @users,
                  { id => 'stranger', userName => 'who@x.test', active => JSON::PP::true() });
    $there->requests($store);

    return @users;
}


sub repaired {
    my ($store, $name) = @_;
    my @users = $there->users($store);

    is(scalar(grep { ($_->{title} // '') eq 'Cook' && $_->{active} } @users), $N,
       "$name: all are as they are to be");
    is(scalar(@users), $N + 1, "$name: the stranger stays");
}


# --- a list --------------------------------------------------------------------------

add_users($acme, 'u', $N);

my $t = target($acme, 'list/none');

soon($t, "state = 'synced'", $N, 'all are there');
drift('list');
sync($t, 'a sync by pages');
repaired('list', 'by pages');
is_deeply(asked('list'), { page => 3, GET => 3, PATCH => 2, look => 2, POST => 1 },
          'who differs is asked for, nobody else') or diag(explain(asked('list')));
sync($t, 'once more');
is_deeply(asked('list'), { page => 4 }, 'nobody differs');

# users who are already there are matched by pages

$there->users('again', $there->users('list'));

my $again = target($acme, 'again/none');

soon($again, "state = 'synced'", $N, 'all are known');
is_deeply(asked('again'), { page => 4 }, 'by four requests');
is($s->sql("SELECT count(DISTINCT remote_id) FROM svc.scim_item"
           . " WHERE target_id = '$again->{id}'"), $N, 'each by his id');
is($acme->admin(DELETE => "/scim-targets/$again->{id}")->status, 204, 'it goes');


# --- targets without a list -------------------------------------------------------------

for my $mode ([ nolist => 1, $N ], [ nopage => 2, $N - 100 + 2 ]) {
    my ($name, $pages, $gets) = @$mode;
    my $other = target($acme, "$name/$name");

    soon($other, "state = 'synced'", $N, "$name: all are there");
    drift($name);
    sync($other, "$name: a sync");
    repaired($name, $name);

    my $n = asked($name);

    is($n->{page}, $pages, "$name: the list is asked for");
    cmp_ok($n->{GET}, '>=', $gets - 3, "$name: then each of the others");
    is($acme->admin(DELETE => "/scim-targets/$other->{id}")->status, 204, 'it goes');
}


# --- whose account it is there ------------------------------------------------------------

my $one = $acme->create(userName => 'one@x.test', title => 'Cook');

soon($t, "user_id = '$one->{id}' AND state = 'synced'", 1, 'one more');

$there->users('list', $there->users('list'),
    { id => 'taken', userName => 'two@x.test', externalId => $one->{id},
      active => JSON::PP::true() },
    { id => 'free', userName => 'three@x.test',
      externalId => '99999999-2222-4333-8444-555555555555' });

my ($two, $three) = map { $acme->create(userName => "$_\@x.test") } qw(two three);

soon($t, "user_id = '$three->{id}' AND state = 'synced' AND remote_id = 'free'", 1,
     'who has an id of nobody here is taken over');
soon($t, "user_id = '$two->{id}' AND state = 'error' AND remote_id IS NULL"
     . " AND error LIKE '%another user of this tenant%'", 1,
     'who has the id of another user is not');
is((grep { $_->{id} eq 'taken' } $there->users('list'))[0]{externalId}, $one->{id},
   'and stays who he is');


# --- a group of many, and a log that is too old ---------------------------------------------

my $group = $acme->admin(POST => '/groups', { name => 'All' })->json->{id};

is($acme->admin(PUT => "/groups/$group/members", { userIds => [ $one->{id} ] })->status,
   200, 'a group');

# an event about many users names only the first ones

$s->sql("INSERT INTO svc.group_member (tenant_id, group_id, user_id)"
        . " SELECT tenant_id, '$group', id FROM svc.user_account"
        . " WHERE tenant_id = '$acme->{id}' AND id NOT IN ('$one->{id}', '$three->{id}')");
is($acme->admin(POST => "/groups/$group/apps", { clientId => $t->{client} })->status,
   200, 'it is assigned');
soon($t, "user_id = '$three->{id}' AND NOT remote_active", 1, 'who is not in it goes');

$s->sql("INSERT INTO svc.group_member (tenant_id, group_id, user_id)"
        . " VALUES ('$acme->{id}', '$group', '$three->{id}')");
$s->sql("INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)"
        . " VALUES ('$acme->{id}', 'group.member_added', 'group', '$group',"
        . " jsonb_build_object('count', 1500, 'userIds', jsonb_build_array('$one->{id}')))");
soon($t, "user_id = '$three->{id}' AND remote_active", 1,
     'who is in it, and not named by the event');

# no event in the log is about this change

$s->sql("UPDATE svc.user_account SET title = 'Chef' WHERE id = '$one->{id}'");
$s->sql("UPDATE svc.scim_target SET event_at = now() - interval '21 days'"
        . " WHERE id = '$t->{id}'");
ok((wait_for { (grep { ($_->{title} // '') eq 'Chef' } $there->users('list')) == 1 }),
   'behind a log that is too old all users are looked at');


# --- an agent's switch --------------------------------------------------------------------

my $agent = target($globex, 'agent/none', 'agent');
my $gus = $globex->create(userName => 'gus@x.test');

soon($agent, 'remote_active', 1, 'a user of an agent');
is($globex->admin(PUT => "/agents/$agent->{client}/policy",
                  { enabled => JSON::PP::false() })->status, 200, 'it is turned off');
soon($agent, 'remote_active', 0, 'he goes');
is($globex->admin(DELETE => "/agents/$agent->{client}/policy")->status, 200,
   'its policy is reset');
soon($agent, 'remote_active', 1, 'he is back');


# --- shares ------------------------------------------------------------------------------

my $slow = slow(20) * 1000;
my @slow = map { target($acme, "slow$_/slow=GET:$slow") } 1 .. 3;

ok((wait_for {
    my %n = map { $_ => 1 } map { $_->{connection} }
            map { my $store = $_; delete $there->{seen}{$store};
                  $there->requests($store) } map { "slow$_" } 1 .. 3;

    keys %n >= 2;
}), 'targets of a tenant hang');

my $quick = $globex->create(userName => 'quick@x.test');

soon($agent, "user_id = '$quick->{id}' AND state = 'synced'", 1,
     "another tenant's are served");
is($s->sql("SELECT count(*) FROM svc.scim_item WHERE state = 'synced' AND target_id IN ("
           . join(', ', map { "'$_->{id}'" } @slow) . ')'), 0, 'while they hang');

is($acme->admin(DELETE => "/scim-targets/$_->{id}")->status, 204, 'they go') for @slow;

$s->done;
done_testing();
