package SvcTest::Senders;

# Processes that create users over kept connections, as fast as they can or at a
# rate; and a count of which of these users' events came, and how often.
#
#     my $senders = SvcTest::Senders->new($s, $acme, $receiver);
#     $senders->start(800, rate => 150);
#     ... a fault ...
#     my $sent = $senders->finish($hook);
#     my ($lost, $doubled) = $senders->compare($sent, $hook);

use strict;
use warnings;

use POSIX ();
use SvcTest::Json qw(json);
use SvcTest::Process qw(wait_for);
use Time::HiRes qw(time sleep);

my $JSON = json();


sub new {
    my ($class, $s, $tenant, $receiver) = @_;

    return bless { s => $s, tenant => $tenant, receiver => $receiver,
                   senders => 4, run => 0, pids => [] }, $class;
}


# Creates users, and writes a line to the file for each one: its id, and when.

sub create {
    my ($self, $file, $name, $n, $rate) = @_;

    open my $out, '>', $file or POSIX::_exit(1);
    $out->autoflush;

    my ($c, $begin) = (undef, time);

    for my $i (1 .. $n) {
        my $early = $rate ? $begin + $i / $rate - time : 0;

        sleep $early if $early > 0;

        $c = undef if $c && $c->error;
        $c //= eval { $self->{s}->connection } // next;

        my $r = eval {
            $c->request(POST => '/scim/v2/Users', [
                @{ $self->{tenant}->headers },
                'Content-Type', 'application/scim+json'
            ], SvcTest::encode({ userName => "$name-$i\@load.test" }));
        };

        if (!$r) {
            $c = undef;
            next;
        }

        print $out $r->json->{id} . ' ' . 1000 * time . "\n"
            if $r->status == 201;

        $c = undef if ($r->header('connection') // '') eq 'close';
    }
}


# Starts the senders.  rate: users per second, of all senders together.

sub start {
    my ($self, $n, %opt) = @_;

    my ($run, $of) = (++$self->{run}, $self->{senders});

    for my $i (1 .. $of) {
        my $pid = fork // die "fork: $!\n";

        if ($pid == 0) {
            $self->create($self->file($i), "u$run-$i", $n / $of,
                          ($opt{rate} // 0) / $of);
            POSIX::_exit(0);
        }

        push @{ $self->{pids} }, $pid;
    }
}


sub file {
    my ($self, $i) = @_;

    return "$self->{s}{dir}/sent$self->{run}.$i";
}


# Returns the users that have been created so far: when, by id.

sub sent {
    my ($self) = @_;

    my %sent;

    for my $file (map { $self->file($_) } 1 .. $self->{senders}) {
        open my $fh, '<', $file or next;
        /^(\S+) (\S+)\n/ and $sent{$1} = $2 while <$fh>;
    }

    return \%sent;
}


# Waits until $n users have been created.

sub wait {
    my ($self, $n) = @_;

    return wait_for { keys %{ $self->sent } >= $n };
}


# Waits until the senders have ended.  Returns the users.

sub join {
    my ($self) = @_;

    waitpid $_, 0 for splice @{ $self->{pids} };

    return $self->sent;
}


# Kills the senders.  Each has written down what was answered; a user whose
# answer it did not get is not counted.

sub stop {
    my ($self) = @_;

    kill 'KILL', @{ $self->{pids} };

    return $self->join;
}


# Does what join() does, and waits until all events of the users have come, or
# the time for it is over.

sub finish {
    my ($self, $hook) = @_;

    my $sent = $self->join;
    my $seen = -1;

    # what has come is compared when there is more of it

    wait_for {
        my $before = $seen;

        ($seen = $self->{receiver}->at($hook)) > $before
            && !@{ ($self->compare($sent, $hook))[0] };
    };
    wait_for { $self->{receiver}->pending == 0 } 40;

    return $sent;
}


# Returns the ids of the users whose event is lost, and how many deliveries came
# twice.

sub compare {
    my ($self, $sent, $hook) = @_;

    my (%user, %delivery);

    for my $got ($self->{receiver}->at($hook)) {
        my $id = $got->{user} //= $JSON->decode($got->{body})->{data}{userId};

        next if !exists $sent->{$id};
        $user{$id}++;
        $delivery{ $got->{header}{'x-svc-delivery'} }++;
    }

    my @lost = grep { !$user{$_} } sort keys %$sent;

    return (\@lost, scalar grep { $_ > 1 } values %delivery);
}


1;
