#!/usr/bin/perl

# Outbound SCIM: targets that refuse the token, ask to wait, or fail; users that
# a target refuses; and times without Redis or PostgreSQL.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Governance qw($ALL);
use SvcTest::Process qw(slow wait_for);
use SvcTest::Receiver;


my $port = SvcTest::Nginx::free_port();
my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s, svc_scim_targets => 'on',
                                      svc_scim_rate => 'off');
my ($n, $helper) = (0, 0);


# Makes nginx the target, with this text in its location from now on.

sub serve {
    my ($text) = @_;

    $s->nginx->{http} = <<"EOT";
    server {
        listen 127.0.0.1:$port ssl;
        ssl_certificate $receiver->{dir}/good.pem;
        ssl_certificate_key $receiver->{dir}/good.key;
        location /scim/v2 { $text }
    }
EOT

    return if !$s->nginx->pid;

    $s->reload;
    $helper = $s->nginx->wait_helper($helper) or die "no other helper\n";
}


my $GOOD = 'svc_scim on;';

serve($GOOD);
$s->start;
$helper = $s->nginx->wait_helper(0) or die "no helper\n";

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $APP = 'app_' . '1' x 32;

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");
$acme->add_applications(web => $APP);


# Returns how many users with this number the other tenant has: 0 or 1.

sub user {
    my ($row) = $s->sql("SELECT count(*) FROM svc.user_account"
                        . " WHERE tenant_id = '$globex->{id}'"
                        . " AND user_name = 'u$_[0]\@acme.test'");

    return $row->[0];
}


sub create {
    return $acme->create(userName => 'u' . ++$n . '@acme.test')->{id};
}


sub pushed {
    my ($name) = @_;

    create();
    ok((wait_for { user($n) }), $name);
}


sub row {
    return $s->sql("SELECT $_[0] FROM svc.scim_target");
}


sub soon {
    my ($what, $name) = @_;

    ok((wait_for { (row($what) // '') eq 't' }), $name)
        or diag("$what: " . row('row_to_json(scim_target)') . ' '
                . $s->sql('SELECT json_agg(i) FROM svc.scim_item i'));
}


sub ask {
    my ($method, $path, $body, $status) = @_;
    my $r = $acme->admin($method, "/scim-targets$path", $body);

    is($r->status, $status, "$method $path") or diag($r->body);

    return $r->json;
}


my $t = ask(POST => '', { clientId => $APP, name => 'Globex', token => $globex->{scim_token},
                          baseUrl => "https://127.0.0.1:$port/scim/v2" }, 201)->{id};

pushed('a target that is well');


# --- 401 -------------------------------------------------------------------------

serve('return 401;');
create();
soon("coalesce(sync_status, '') = 'failing'", 'a token that is refused');
soon("next_at BETWEEN now() + interval '10 min' AND now() + interval '15 min'",
     'it is tried again in a quarter of an hour');
is(row('failures'), 1, 'one failure, however many users there are');
like(row('last_error'), qr/\S/, 'with an error');
serve($GOOD);
is(user($n), 0, 'nobody is pushed');
ask(PUT => "/$t", { token => $globex->{scim_token} }, 200);
ok((wait_for { user($n) }), 'a PUT is a new start');
soon("failures = 0 AND last_error IS NULL AND sync_status <> 'failing'",
     'the failure is over');


# --- 429 -------------------------------------------------------------------------

serve('add_header Retry-After 3000 always; return 429;');
create();
soon("next_at > now() + interval '40 min'", 'it is given the time that it asks for');
is(row('failures'), 0, 'which is no failure');
serve($GOOD);
$s->sql('UPDATE svc.scim_target SET next_at = now()');
$s->redis->command(PUBLISH => 'svc.audit', $acme->{id});
ok((wait_for { user($n) }), 'when it is over it goes on');


# --- 500, and one user who is refused -----------------------------------------------

serve('return 500;');
create();
soon('EXISTS (SELECT FROM svc.scim_item WHERE attempts > 1 AND error IS NOT NULL'
     . " AND state = 'pending')", 'an error of the server is tried again');
is(row("coalesce(next_at < now(), true)"), 't', 'the target is not to blame');
serve($GOOD);
ok((wait_for { user($n) }), 'until it is over');

serve('if ($request_method != GET) { return 400; } default_type application/scim+json;'
      . q( return 200 '{"schemas":["urn:ietf:params:scim:api:messages:2.0:ListResponse"],)
      . q("totalResults":0,"Resources":[]}';));

my $bad = create();

soon("EXISTS (SELECT FROM svc.scim_item WHERE user_id = '$bad' AND state = 'error'"
     . " AND next_at > now() + interval '30 min')", 'a user who is refused waits');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'scim.user_failed'"
           . " AND target_id = '$bad' AND outcome = 'failure'"), 1, 'an audit event');
serve($GOOD);
$acme->scim(PUT => "/Users/$bad", { userName => "u$n\@acme.test", title => 'x' });
ok((wait_for { user($n) }), 'until he is changed');


# --- without Redis, and PostgreSQL ----------------------------------------------------

$s->redis->stop;
pushed('without Redis');
$s->redis->launch;

$s->pg->stop;
$s->pg->launch;
$s->wait_healthy;
pushed('behind a restart of PostgreSQL');

# a lease that has been lost: other helpers may have had the target

$s->sql('DELETE FROM svc.scim_helper');
$s->sql("UPDATE svc.scim_target SET lease_by = 'x'");
$s->sql('UPDATE svc.scim_target SET lease_by = NULL');
pushed('behind the loss of the lease');

$s->done;
done_testing();
