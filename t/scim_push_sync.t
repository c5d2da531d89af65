#!/usr/bin/perl

# Outbound SCIM: changes here soon arrive at another tenant of the same
# installation: users, and who enters or leaves the scope; and a target that
# would lose most of its users is held.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Governance qw($ALL);
use SvcTest::Metrics;
use SvcTest::Process qw(slow wait_for signal_pid);
use SvcTest::Receiver;
use SvcTest::Scim qw(patch_op);


my $FALSE = JSON::PP::false();
my $APP = 'app_' . '1' x 32;
my $port = SvcTest::Nginx::free_port();
my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION);
my $receiver = SvcTest::Receiver->new($s, svc_scim_targets => 'on',
                                      svc_scim_rate => 'off');

$s->nginx->{http} = <<"EOT";
    server {
        listen 127.0.0.1:$port ssl;
        ssl_certificate $receiver->{dir}/good.pem;
        ssl_certificate_key $receiver->{dir}/good.key;
        location /scim/v2 { svc_scim on; }
    }
EOT

$s->start;

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");
$acme->add_applications(web => $APP);


# Returns a user of the other tenant, or undef.

sub there {
    my ($name) = @_;
    my ($row) = $s->sql("SELECT id, status, display_name, external_id, title"
                        . " FROM svc.user_account WHERE tenant_id = '$globex->{id}'"
                        . " AND user_name = '$name'");

    return $row && { id => $row->[0], status => $row->[1], name => $row->[2],
                     external => $row->[3], title => $row->[4] };
}


sub count_there {
    my ($what) = @_;

    return $s->sql("SELECT count(*) FROM svc.user_account"
                   . " WHERE tenant_id = '$globex->{id}' AND $what");
}


sub wait_there {
    my ($what, $n, $name) = @_;

    my $ok = wait_for { count_there($what) == $n };

    ok($ok, $name) or diag(count_there($what) . ' instead');

    return $ok;
}


sub target {
    my ($method, $path, $body, $status) = @_;
    my $r = $acme->admin($method, "/scim-targets$path", $body);

    is($r->status, $status, "$method $path") or diag($r->body);

    return $r->body ? $r->json : undef;
}


# --- all users, and then each change -----------------------------------------------

my $ada = $acme->create(userName => 'ada@acme.test', displayName => 'Ada');
my $off = $acme->create(userName => 'off@acme.test', active => $FALSE);

my $t = target(POST => '', { clientId => $APP, name => 'Globex',
                             baseUrl => "https://127.0.0.1:$port/scim/v2",
                             token => $globex->{scim_token} }, 201);

wait_there("user_name = 'ada\@acme.test'", 1, 'who was there before is there');
is(there('ada@acme.test')->{external}, $ada->{id}, 'by our id');
is(there('off@acme.test'), undef, 'who is not active is not');

my $bob = $acme->create(userName => 'bob@acme.test', title => 'Cook');

wait_there("user_name = 'bob\@acme.test' AND title = 'Cook'", 1, 'a new user');

$acme->scim(PATCH => "/Users/$bob->{id}",
            patch_op({ op => 'replace', path => 'title', value => 'Chef' }));
wait_there("title = 'Chef'", 1, 'a change');

$acme->scim(PATCH => "/Users/$bob->{id}",
            patch_op({ op => 'replace', path => 'active', value => $FALSE }));
wait_there("user_name = 'bob\@acme.test' AND status = 'deactivated'", 1,
           'who is deactivated');

$acme->scim(PATCH => "/Users/$bob->{id}",
            patch_op({ op => 'replace', path => 'active', value => JSON::PP::true() }));
wait_there("user_name = 'bob\@acme.test' AND status = 'active'", 1,
           'and active again');

is($acme->admin(DELETE => "/users/$bob->{id}")->status, 204, 'a user is erased');
wait_there("user_name = 'bob\@acme.test' AND status = 'deactivated'", 1,
           'which deactivates');
ok((wait_for { !$s->sql("SELECT count(*) FROM svc.scim_item"
                        . " WHERE user_id = '$bob->{id}'") }),
   'and then nothing of him is left');


# --- groups -----------------------------------------------------------------------

my $group = $acme->admin(POST => '/groups', { name => 'Staff' })->json->{id};
my @ids = map { $acme->create(userName => "u$_\@acme.test")->{id} } 1 .. 30;

wait_there("status = 'active'", 31, 'thirty more');

is($acme->admin(PUT => "/groups/$group/members", { userIds => \@ids })->status, 200,
   'they are a group');
is($acme->admin(POST => "/groups/$group/apps", { clientId => $APP })->status, 200,
   'which is assigned');
wait_there("user_name = 'ada\@acme.test' AND status = 'deactivated'", 1,
           'who is not in it goes');
is($acme->admin(DELETE => "/groups/$group/members/$ids[0]")->status, 204,
   'one leaves it');
wait_there("status = 'active'", 29, 'and there');


# --- the brake ---------------------------------------------------------------------

is($acme->admin(DELETE => "/groups/$group/apps/$APP")->status, 204,
   'the group is un-assigned');

ok((wait_for { target_status() eq 'held' }), 'the target is held');
is(count_there("status = 'active'"), 29, 'and nobody is deactivated');
is($s->sql("SELECT count(*) FROM svc.incident WHERE type = 'scim_target_held'"
           . " AND subject = '$t->{id}'"), 1, 'an incident');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'scim.target_held'"), 1,
   'an audit event');

is($acme->admin(POST => "/groups/$group/apps", { clientId => $APP })->status, 200,
   'it is assigned again');
ok((wait_for { target_status() eq 'success' }), 'which is the end of it')
    or diag(target_status());
is(count_there("status = 'active'"), 29, 'they are as they were');
is($acme->admin(DELETE => "/groups/$group/apps/$APP")->status, 204, 'and not again');
ok((wait_for { target_status() eq 'held' }), 'held again');

sub target_status {
    return $acme->admin(GET => "/scim-targets/$t->{id}")->json->{lastSyncStatus} // '';
}

target(POST => "/$t->{id}/sync", undef, 409);
target(POST => "/$t->{id}/sync?confirm=true", undef, 202);
wait_there("status = 'active'", 0, 'confirmed, all go');
ok((wait_for { target_status() eq 'success' }), 'the sync succeeds')
    or diag(target_status());


# --- drift -------------------------------------------------------------------------

is($acme->admin(POST => "/groups/$group/apps", { clientId => $APP })->status, 200,
   'assigned again');
wait_there("status = 'active'", 29, 'they are back');

my $u2 = there('u2@acme.test');

$globex->scim(PATCH => "/Users/$u2->{id}",
              patch_op({ op => 'replace', path => 'active', value => $FALSE }));
$globex->admin(DELETE => '/users/' . there('u3@acme.test')->{id});
is(count_there("status = 'active'"), 27, 'somebody changes them there');

target(POST => "/$t->{id}/sync", undef, 202);
wait_there("status = 'active'", 29, 'a sync repairs that');
ok((wait_for { target_status() eq 'success' }), 'and succeeds');


# --- a test, and the counts ----------------------------------------------------------

my $r = target(POST => "/$t->{id}/test", undef, 200);

ok($r->{ok} && $r->{patch}, 'a test of the target');

ok((wait_for {
    my $stats = $acme->admin(GET => "/scim-targets/$t->{id}")->json->{stats};

    $stats->{users} == 29 && !$stats->{pending} && !$stats->{errors};
}), 'counts');

my $metrics = SvcTest::Metrics->get($s);

cmp_ok($metrics->value('svc_scim_pushes_total', outcome => 'done'), '>', 60, 'metrics');
ok((wait_for { SvcTest::Metrics->get($s)->value('svc_scim_targets') == 1 }),
   'one target');


# --- off, on --------------------------------------------------------------------------

target(PUT => "/$t->{id}", { enabled => $FALSE }, 200);
$acme->admin(DELETE => "/groups/$group/members/$ids[5]");
target(PUT => "/$t->{id}", { enabled => JSON::PP::true() }, 200);
wait_there("status = 'active'", 28, 'what happened while it was off is made up for');

$s->done;
done_testing();
