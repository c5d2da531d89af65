package SvcTest::Load;

# Constant load: processes that create users and read them back.  Each request
# has a connection of its own, so that a missing answer was lost, and not sent
# on a kept connection that was closed between two requests.
#
#     my $load = SvcTest::Load->start($s, $tenant, creates => 4, reads => 4);
#     ... a fault ...
#     my $seen = $load->stop;

use strict;
use warnings;

use JSON::PP ();
use POSIX ();
use Time::HiRes qw(time);

use SvcTest::Process qw(wait_for slow);

my $RUN = 0;


# Options: creates, reads, the number of processes of each.  A known user is
# created for the readers first.

sub start {
    my ($class, $s, $tenant, %opt) = @_;

    my $self = bless { s => $s, tenant => $tenant, run => ++$RUN,
                       pids => [] }, $class;

    $self->{known} = [ map {
        $tenant->create(userName => "known$self->{run}-$_\@load.test",
                        externalId => "known$self->{run}-$_")
    } 1 .. 5 ];

    $self->spawn(create => $_) for 1 .. $opt{creates} // 4;
    $self->spawn(read => $_) for 1 .. $opt{reads} // 4;

    $self->wait_going;

    return $self;
}


sub file {
    my ($self, $kind, $n) = @_;

    return "$self->{s}{dir}/load$self->{run}.$kind$n";
}


sub spawn {
    my ($self, $kind, $n) = @_;

    my $pid = fork // die "fork: $!";

    if ($pid) {
        push @{ $self->{pids} }, $pid;
        push @{ $self->{files}{$kind} }, $self->file($kind, $n);
        return;
    }

    my $go_on = 1;
    local $SIG{TERM} = sub { $go_on = 0 };

    open my $out, '>', $self->file($kind, $n) or POSIX::_exit(1);
    $out->autoflush;

    my $i = 0;

    while ($go_on) {
        my @said = $kind eq 'create' ? $self->one_create($n, $i++)
                                     : $self->one_read($i++);
        print $out join("\t", @said), "\n";

        # a fault is under test here, not the machine, which others use, too

        select undef, undef, undef, 0.02;
    }

    POSIX::_exit(0);
}


# Returns the status of one request, or why it has none.

sub ask {
    my ($self, $method, $path, $body) = @_;

    my $r = eval {
        $self->{tenant}->scim($method, $path, $body);
    };

    if (!$r) {
        (my $why = $@ || 'no answer') =~ s/\s+/ /g;
        return "lost: $why";
    }

    if ($r->status == 503 && !$r->header('retry-after')) {
        return '503 without Retry-After';
    }

    return ($r->status, $r);
}


# One in eight is to be refused, and its name says so.

sub one_create {
    my ($self, $n, $i) = @_;

    my $bad = $i % 8 == 7;
    my $name = ($bad ? 'bad' : 'u') . "$self->{run}-$n-$i\@load.test";
    my ($status, $r) = $self->ask(POST => '/Users',
        { userName => $name, $bad ? (active => 'maybe') : () });

    if ($r && $status == 201 && $r->json->{userName} ne $name) {
        $status = 'wrong answer ' . $r->body;
    }

    return ($name, $status);
}


sub one_read {
    my ($self, $i) = @_;

    my $user = $self->{known}[$i % @{ $self->{known} }];
    my ($status, $r) = $self->ask(GET => "/Users/$user->{id}");

    if ($r && $status == 200 && ($r->json->{userName} ne $user->{userName}
                                 || $r->json->{id} ne $user->{id}))
    {
        $status = 'wrong answer ' . $r->body;
    }

    return ($user->{userName}, $status);
}


sub records {
    my ($self, $kind) = @_;

    return map {
        open my $f, '<', $_ or die "$_: $!";
        map { chomp; [ split /\t/ ] } grep { /\n\z/ } <$f>;
    } @{ $self->{files}{$kind} // [] };
}


# Waits until each process has had $n more good answers.

sub wait_going {
    my ($self, $n) = @_;

    $n //= 5;

    for my $file (map { @$_ } values %{ $self->{files} }) {
        my $good = sub {
            open my $f, '<', $file or return 0;
            return scalar grep { /\t20\d$/ } <$f>;
        };

        my $want = $good->() + $n;

        wait_for { $good->() >= $want }
            or die "$file: no good answers any more\n";
    }
}


# Ends the load.  Returns creates and reads, each as pairs of user name and
# outcome.

sub stop {
    my ($self) = @_;

    kill 'TERM', @{ $self->{pids} };
    waitpid $_, 0 for splice @{ $self->{pids} };

    return { create => [ $self->records('create') ],
             read => [ $self->records('read') ] };
}


# --- the same request many times ---------------------------------------------

# Sends a request $n times, pipelined, over a few kept connections, and reads
# all answers.  Returns how many answers had each status, and the seconds it
# took.

sub flood {
    my ($s, $n, $method, $path, $headers, $body) = @_;

    my $began = time;
    my @c = map { $s->connection } 1 .. 8;
    my $one = $c[0]->format($method, $path, $headers,
                            defined $body ? SvcTest::encode($body) : undef);
    my %status;

    while ($n > 0) {
        my @to = map { [ $_, $n > 25 ? 25 : $n ] } @c;

        for my $to (@to) {
            $to->[1] = $n if $to->[1] > $n;
            $n -= $to->[1];
            $to->[0]->send($one x $to->[1]) if $to->[1];
        }

        for my $to (@to) {
            $status{ answer($to->[0]) }++ for 1 .. $to->[1];
        }
    }

    return { status => \%status, seconds => time() - $began };
}


sub answer {
    my ($c) = @_;

    my $r = $c->read;

    return $r ? $r->status : 'none: ' . $c->error;
}


1;
