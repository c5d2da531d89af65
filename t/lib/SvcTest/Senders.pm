package SvcTest::Senders;

# Processes that create users over connections that are kept, as fast as they
# can or at a rate; and which of the events of those users came, how often.
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


# A line in the file for each user that is there: its id, and when it was.

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


# rate: users a second, of all senders together.

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


# The users that were created up to now: when, by id.

sub sent {
    my ($self) = @_;

    my %sent;

    for my $file (map { $self->file($_) } 1 .. $self->{senders}) {
        open my $fh, '<', $file or next;
        /^(\S+) (\S+)\n/ and $sent{$1} = $2 while <$fh>;
    }

    return \%sent;
}


# Waits until there are $n of them.

sub wait {
    my ($self, $n) = @_;

    return wait_for { keys %{ $self->sent } >= $n };
}


# Lets the senders end.

sub join {
    my ($self) = @_;

    waitpid $_, 0 for splice @{ $self->{pids} };

    return $self->sent;
}


# The same at once: who is killed has written down what was answered, or nobody
# asks for it.

sub stop {
    my ($self) = @_;

    kill 'KILL', @{ $self->{pids} };

    return $self->join;
}


# The same as join; all of their events have come, or have had the time to.

sub finish {
    my ($self, $hook) = @_;

    my $sent = $self->join;

    wait_for { !@{ ($self->compare($sent, $hook))[0] } };
    wait_for { $self->{receiver}->pending == 0 } 40;

    return $sent;
}


# What is lost of them: the user ids; and how many deliveries came twice.

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
