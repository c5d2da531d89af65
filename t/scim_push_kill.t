#!/usr/bin/perl

# Outbound SCIM on two nodes: when helpers are killed in the middle of a
# thousand creates, no user is left out, and none is created twice; a node that
# ends gives up its targets at once.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Governance qw($ALL);
use SvcTest::Process qw(slow wait_for signal_pid);
use SvcTest::Receiver;


my $N = 1000;
my $APP = 'app_' . '1' x 32;
my $port = SvcTest::Nginx::free_port();
my $s = SvcTest->new(workers => 1);
my $receiver = SvcTest::Receiver->new($s, svc_scim_targets => 'on',
                                      svc_scim_rate => 'off');

$s->nginx->{http} = <<"EOT";
    server {
        listen 127.0.0.1:$port ssl;
        ssl_certificate $receiver->{dir}/good.pem;
        ssl_certificate_key $receiver->{dir}/good.key;
        location /scim/v2 { svc_scim on; svc_scim_mode rfc; }
    }
EOT

$s->start;

my $other = $s->node(workers => 1, svc => { %{ $s->nginx->{svc} } });
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");
$acme->add_applications(web => $APP);
$s->sql("INSERT INTO svc.user_account (tenant_id, id, user_name)"
        . " SELECT '$acme->{id}', gen_random_uuid(), 'u' || i || '\@acme.test'"
        . " FROM generate_series(1, $N) i");


sub created {
    return $s->sql("SELECT count(*) FROM svc.user_account"
                   . " WHERE tenant_id = '$globex->{id}'");
}


# Returns the helper that has the target; undef: none.

sub holder {
    return scalar $s->sql('SELECT lease_by FROM svc.scim_target');
}


my $r = $acme->admin(POST => '/scim-targets',
                     { clientId => $APP, name => 'Globex',
                       baseUrl => "https://127.0.0.1:$port/scim/v2",
                       token => $globex->{scim_token} });

is($r->status, 201, 'a target') or diag($r->body);

my $had = '';

for my $n (1 .. 3) {
    my $created = created();

    ok((wait_for { (holder() // $had) ne $had }), "a helper has it ($n)");
    $had = holder();
    ok((wait_for { created() >= $created + 100 }), 'some are created')
        or diag(created());
    cmp_ok(created(), '<', $N, 'not all');
    is(holder(), $had, 'by the one that has it');
    signal_pid('KILL', $_) for $s->nginx->helper_pids, $other->helper_pids;
}

ok((wait_for { created() == $N } slow(60)), 'all are created') or diag(created());
ok((wait_for {
    $s->sql("SELECT count(*) FROM svc.scim_item WHERE state = 'synced'") == $N;
}), 'and known to be');

is($s->sql("SELECT count(DISTINCT remote_id) FROM svc.scim_item"), $N,
   'each is another one');
is($s->sql('SELECT count(*) FROM svc.user_account a JOIN svc.user_account b'
           . ' ON b.external_id = a.id::text AND b.user_name = a.user_name'
           . " WHERE a.tenant_id = '$acme->{id}' AND b.tenant_id = '$globex->{id}'"),
   $N, 'and is who it is to be');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE tenant_id = '$globex->{id}'"
           . " AND action = 'user.created'"), $N, 'created once');


# --- a node that ends -----------------------------------------------------------------

my $id = $s->sql("SELECT id FROM svc.scim_helper WHERE targets = 1");

ok(holder(), 'one of the helpers has it');

$other->quit;

ok((wait_for { holder() && $s->sql('SELECT count(*) FROM svc.scim_helper') == 1 }),
   'the other node takes it when this one has left');

my $late = $acme->create(userName => 'late@acme.test');

ok((wait_for { created() == $N + 1 }), 'and goes on');

$s->done(allow => [ qr/exited on signal 9/ ]);
done_testing();
