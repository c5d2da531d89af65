package SvcTest::Cost::Helper;

# The requests whose cost t/cost.t measures together with the work of the helper
# after them: webhooks, and outbound SCIM.
#
# The helper looks for work at any time, and how often depends on how long
# things take.  So each of its statements counts once, and a look counts as a
# statement with its plan, but without the pages that it reads (SvcTest::Cost).

use strict;
use warnings;

use SvcTest::Cost;
use SvcTest::Cost::Requests qw(operation);
use SvcTest::Outbound;
use SvcTest::Process qw(signal_pid wait_for);
use SvcTest::Scim qw(patch_op);

# Connections of the worker and of the helper.
my $SESSIONS = 5;

# How many things are made for each operation, a new one for each request, also
# for those before the measured ones.
my $EACH = 16;

# Texts of the statements that come last.
my $RECORD = 'INSERT INTO svc.webhook_attempt (';
my $NOTE = 'svc.webhook_note(';
my $LOOK = 'FROM svc.webhook_outbox outbox CROSS JOIN LATERAL';
my @PUSHED = ('AS result (id uuid, rev int8',
              'FILTER (WHERE item.remote_active) AS users');


# Sets up what a server needs for these requests, before it starts.

sub prepare {
    my ($s) = @_;

    return SvcTest::Outbound->new($s, svc_webhooks => 'on',
                                  svc_webhook_outbox => 'off');
}


# Measures all of these operations, by name: with the outbox off, and then on.

sub measure {
    my ($s, $out) = @_;

    my $w = world($s, $out);
    my %is = measured($s, endpoint_post($w), webhook($w, 'webhook', $RECORD),
                      push_user($w));

    signal_pid('CONT', $s->workers);
    $s->nginx->{svc}{svc_webhook_outbox} = '1s';
    $s->reload;

    return { %is, measured($s, webhook($w, 'webhook_outbox',
                                       $RECORD, $NOTE, $LOOK)) };
}


sub measured {
    my ($s, @operations) = @_;

    SvcTest::Cost::alone($s, sessions => $SESSIONS);

    my $meter = SvcTest::Cost->new($s);

    return map { $_->{name} => SvcTest::Cost::measure($_, $meter) } @operations;
}


# Makes, besides what the other requests need, a tenant whose users are pushed
# to a target, and tenants that will get endpoints.

sub world {
    my ($s, $out) = @_;

    SvcTest::Cost::Requests::world($s);

    my $pushed = $out->tenant('pushed');
    my @users = map { $pushed->new_user->{id} } 1 .. $EACH;
    my $target = $out->target('store/none', tenant => $pushed);
    my @tenants = map { $out->tenant("hooks$_") } 1 .. $EACH;

    wait_for { $out->items($target, "state = 'synced'") == @users }
        or die "not all are pushed\n";
    SvcTest::Cost::Requests::tidy($s);

    return { s => $s, pushed => $pushed, users => \@users, tenants => \@tenants,
             receiver => $out->receiver };
}


sub endpoint_post {
    my ($w) = @_;

    my $hook = { url => $w->{receiver}->url('/ok'), events => [ 'user.created' ] };

    return operation('webhook_post', 201, sub {
        $_[0]->admin(POST => '/webhooks', $hook)
    }, each_of($w->{tenants}));
}


# Returns a function that gives the elements of a list, one after the other.

sub each_of {
    my ($list) = @_;

    my @left = @$list;

    return sub { shift @left // die "too few\n" };
}


# Creates a user in a tenant that has just got its endpoint: there the outcome
# of a delivery is written at once, and not with earlier ones, three seconds
# later.  The outbox does not wait for the tenant's turn either.

sub webhook {
    my ($w, $name, @until) = @_;

    my $op = operation($name, 201, sub {
        my ($tenant) = @_;

        my $r = $tenant->scim(POST => '/Users', {
            schemas => [ 'urn:ietf:params:scim:schemas:core:2.0:User' ],
            userName => "$name\@acme.test" });

        $w->{s}->sql('UPDATE svc.webhook_outbox SET due_at = now()'
                     . " WHERE tenant_id = '$tenant->{id}'");

        return $r;
    }, each_of($w->{tenants}));

    return { %$op, until => \@until };
}


sub push_user {
    my ($w) = @_;

    my $op = operation('scim_push', 200, sub {
        $w->{pushed}->scim(PATCH => "/Users/$_[0]", patch_op(
            { op => 'replace', path => 'displayName', value => 'Somebody' }))
    }, each_of($w->{users}));

    return { %$op, until => \@PUSHED };
}


1;
