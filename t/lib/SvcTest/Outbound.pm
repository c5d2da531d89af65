package SvcTest::Outbound;

# Outbound SCIM: a tenant's targets at t/lib/scim-receiver.mjs.
#
#     my $out = SvcTest::Outbound->new($s, svc_webhook_timeout => '60s');
#     my $acme = $out->start;                         # $s, too
#     my $t = $out->target('store/none');             # its id
#     $out->synced($t, $acme->create(userName => 'ada@x.test'), 'a user');
#
# Other arguments of new() are directives.

use strict;
use warnings;

use Test::More ();

use SvcTest::Governance qw($ALL);
use SvcTest::Process qw(wait_for);
use SvcTest::Push;
use SvcTest::Receiver;


my $WAIT = 30;      # seconds


sub new {
    my ($class, $s, %svc) = @_;
    my $receiver = SvcTest::Receiver->new($s, svc_webhooks => 'off',
                                          svc_scim_targets => 'on',
                                          svc_scim_rate => 'off', %svc);

    return bless { s => $s, n => 0, receiver => $receiver,
                   there => SvcTest::Push->server($s->root, $receiver->{dir}) }, $class;
}


sub there {
    my ($self) = @_;

    return $self->{there};
}


# Returns the receiver of webhooks.

sub receiver {
    my ($self) = @_;

    return $self->{receiver};
}


# Starts the server, and makes the tenant whose targets these are; tenant()
# makes others.  Their API tokens have all permissions.

sub start {
    my ($self) = @_;

    $self->{s}->start;

    return $self->{tenant} = $self->tenant('acme');
}


sub tenant {
    my ($self, $name) = @_;
    my $tenant = $self->{s}->tenant($name);

    $self->{s}->sql("UPDATE svc.credential SET permissions = '{$ALL}'"
                    . " WHERE kind = 'api'");

    return $tenant;
}


# Creates a target, with an application of its own, in $member{tenant} or the
# first tenant.

sub target {
    my ($self, $url, %member) = @_;
    my $tenant = delete $member{tenant} // $self->{tenant};
    my $client = sprintf 'app_%032d', ++$self->{n};

    $tenant->add_applications(web => $client);

    my $r = $tenant->admin(POST => '/scim-targets',
                           { clientId => $client, name => 'There', token => 'x',
                             baseUrl => $self->{there}->url($url), %member });

    Test::More::is($r->status, 201, "a target: $url") or Test::More::diag($r->body);

    my $id = $r->json->{id};

    $self->{client}{$id} = $client;

    return $id;
}


sub client {
    my ($self, $id) = @_;

    return $self->{client}{$id};
}


sub put {
    my ($self, $id, %member) = @_;
    my $r = $self->{tenant}->admin(PUT => "/scim-targets/$id", \%member);

    Test::More::is($r->status, 200, 'PUT ' . join ' ', sort keys %member)
        or Test::More::diag($r->body);
}


# Deletes a target while its requests hang.

sub forget {
    my ($self, $id) = @_;

    Test::More::is($self->{tenant}->admin(DELETE => "/scim-targets/$id")->status, 204,
                   'it goes');
}


# Returns an SQL expression's value for the row of a target.

sub row {
    my ($self, $id, $what) = @_;

    return scalar $self->{s}->sql("SELECT $what FROM svc.scim_target WHERE id = '$id'");
}


# Tests that a condition of a target becomes true.

sub soon {
    my ($self, $id, $what, $name) = @_;

    Test::More::ok((wait_for { ($self->row($id, $what) // '') eq 't' } $WAIT), $name)
        or Test::More::diag($self->row($id, 'row_to_json(scim_target)'));
}


# Returns how many of a target's users satisfy a condition.

sub items {
    my ($self, $id, $what) = @_;

    return scalar $self->{s}->sql('SELECT count(*) FROM svc.scim_item'
                                  . " WHERE target_id = '$id' AND $what");
}


sub synced {
    my ($self, $id, $user, $name) = @_;

    Test::More::ok((wait_for {
        $self->items($id, "user_id = '$user->{id}' AND state = 'synced'")
    } $WAIT), $name) or Test::More::diag($self->row($id, 'row_to_json(scim_target)'));
}


# Returns all requests to a store, also those that were read before, that have a
# text in their method or in their URL after the base URL.

sub asked {
    my ($self, $store, $text) = @_;

    delete $self->{there}{seen}{$store};

    return grep { index("$_->{method} $_->{url}", $text) >= 0 }
           $self->{there}->requests($store);
}


sub wait_asked {
    my ($self, $store, $text, $name) = @_;

    Test::More::ok((wait_for { scalar $self->asked($store, $text) } $WAIT), $name);
}


# Wakes the helper.

sub wake {
    my ($self, $tenant) = @_;

    $self->{s}->redis->command(PUBLISH => 'svc.audit', ($tenant // $self->{tenant})->{id});
}


1;
