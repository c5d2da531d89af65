package SvcTest::Cost::Helper;

# Of which requests t/cost.t knows the cost with what the helper does behind them:
# webhooks, and SCIM to others.
#
# The helper looks at any time, and how often depends on how long things take: of
# these each statement counts once, and a look as a statement with its plan, but not
# the pages that it touches (SvcTest::Cost).

use strict;
use warnings;

use SvcTest::Cost;
use SvcTest::Cost::Requests qw(operation);
use SvcTest::Outbound;
use SvcTest::Process qw(signal_pid wait_for);
use SvcTest::Scim qw(patch_op);

# Of the worker and of the helper.
my $SESSIONS = 5;

# For each request of an operation, those before it counts included.
my $EACH = 16;

# Texts of the statements that come last.
my $RECORD = 'INSERT INTO svc.webhook_attempt (';
my $NOTE = 'svc.webhook_note(';
my $LOOK = 'FROM svc.webhook_outbox outbox CROSS JOIN LATERAL';
my @PUSHED = ('AS result (id uuid, rev int8',
              'FILTER (WHERE item.remote_active) AS users');


# What a server needs for it, before it starts.

sub prepare {
    my ($s) = @_;

    return SvcTest::Outbound->new($s, svc_webhooks => 'on',
                                  svc_webhook_outbox => 'off');
}


# Measures all of it, by name: with the outbox off, and then on.

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


# Beside what the other requests are for: a tenant whose users are at another server,
# and tenants that get endpoints.

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


# One of a list after the other.

sub each_of {
    my ($list) = @_;

    my @left = @$list;

    return sub { shift @left // die "too few\n" };
}


# In tenants that have got their endpoint: what becomes of deliveries is written at
# once that way, and not with those before it, three seconds later.  Nor waits the
# outbox until it is its tenant's turn.

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
