package SvcTest::Hosts;

# Machines (see Machine.pm) that share a private network, 10.1.0.0/24: a bridge
# in the first one, and an interface in each of the others.
#
#     my $hosts = SvcTest::Hosts->new(balancer => 10, pg1 => 11, pg2 => 12);
#     $hosts->{pg1}->passes('ip addr', 'a command');
#     $hosts->power_off('pg1'); ... $hosts->power_on('pg1');
#     $hosts->freeze('pg1'); ... $hosts->thaw('pg1');
#
# Everything ends with the machines' processes.  SvcTest::Hosts::missing() says
# why no machines can be made.

use strict;
use warnings;

use SvcTest::Machine;
use SvcTest::Process qw(run signal_pid children descendants wait_for wait_exit
    slurp);


# What Debian does when it boots.

my $BOOT = <<'EOT';
set -e
find /run /tmp -mindepth 1 -delete
install -d -o postgres -g postgres -m 2775 /run/postgresql
install -d /run/haproxy
EOT

# A new Debian: the packages are those of this machine.  Their services are
# started by init scripts; Patroni's, which finds no Python on Debian, does what
# its unit for systemd says.

my $NEW = <<'EOT';
set -e
rm -rf /etc/postgresql/* /var/lib/postgresql/* /var/lib/redis/* /var/lib/etcd/*
rm -f /etc/nginx/modules-enabled/*svc* /etc/nginx/conf.d/* /var/log/nginx/*
rm -f /usr/sbin/policy-rc.d
cat > /usr/bin/apt-get.new <<'SH'
#!/bin/sh -e
[ "$1" = install ] || exit 0
shift
dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@"
SH
cat > /etc/init.d/patroni.new <<'SH'
#!/bin/sh -e
run=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/patroni.service)
case $1 in
    start)  start-stop-daemon --start --background --make-pidfile \
                --pidfile /run/patroni.pid --chuid postgres:postgres \
                --chdir / --output /var/log/postgresql/patroni.log \
                --startas /bin/sh -- -c "exec $run" ;;
    stop)   start-stop-daemon --stop --retry TERM/30 --remove-pidfile \
                --pidfile /run/patroni.pid ;;
    reload) kill -HUP "$(cat /run/patroni.pid)" ;;
esac
SH
chmod 755 /usr/bin/apt-get.new /etc/init.d/patroni.new
mv /usr/bin/apt-get.new /usr/bin/apt-get
mv /etc/init.d/patroni.new /etc/init.d/patroni
EOT


# Returns why no machines can be made; undef when they can.

sub missing {
    my $why = SvcTest::Machine::missing();

    return $why if $why;

    my ($status, $text) = run([ 'unshare', '--net', 'sh', '-ec',
                                'ip link add br0 type bridge
                                 ip link add v0 type veth peer name v1' ]);

    return $status == 0 ? undef : "hosts need a network of their own: $text";
}


sub new {
    my ($class, @names) = @_;

    my $self = bless { names => [], address => {} }, $class;

    while (my ($name, $number) = splice @names, 0, 2) {
        push @{ $self->{names} }, $name;
        $self->{address}{$name} = "10.1.0.$number";
        $self->{$name} = SvcTest::Machine->new;
        $self->{hub} //= $self->{$name};
        $self->plug($name, $number);
    }

    $self->all($BOOT . $NEW, @{ $self->{names} });

    return $self;
}


# Runs a script on some of them at the same time.  Returns the output of each.

sub all {
    my ($self, $script, @names) = @_;

    my %run;

    for my $name (@names) {
        my $out = "$self->{$name}{dir}/out";

        unlink $out;
        $run{$name} = [ $self->{$name}->start($script, $out), $out ];
    }

    my (@bad, %said);

    for my $name (@names) {
        my ($pid, $out) = @{ $run{$name} };
        my $status = wait_exit($pid, 120);

        $said{$name} = slurp($out) // '';
        push @bad, "$name: $said{$name}\n" if ($status // 1) != 0;
    }

    die @bad, $script if @bad;

    return \%said;
}


# Runs a command in the network of the hub only: process ids are those outside.

sub net {
    my ($self, @command) = @_;

    my ($status, $text) = run([ 'nsenter', '--net=/proc/' . $self->{hub}{init}
                                           . '/ns/net', @command ]);

    die "@command: $text\n" if $status != 0;
}


sub plug {
    my ($self, $name, $number) = @_;

    my $m = $self->{$name};
    my $device = 'eth0';

    if ($m == $self->{hub}) {
        $self->net(qw(ip link add eth0 type bridge));

    } else {
        $self->net(qw(ip link add), "v$number",
                   qw(type veth peer name eth0 netns), $m->{init});
        $self->net(qw(ip link set), "v$number", qw(master eth0 up));
        $self->{port}{$name} = "v$number";
    }

    my ($status, $text) = $m->sh("set -e
        hostname $name
        ip addr add $self->{address}{$name}/24 dev $device
        ip link set $device up");

    die "$name: $text\n" if $status != 0;

    wait_for { $self->{keep}{$name} = { map { $_ => 1 } children($m->{init}) };
               %{ $self->{keep}{$name} } } or die "$name has no process\n";
}


# Unplugs a machine's cable; plugging it in again is below.

sub cut {
    my ($self, $name) = @_;

    $self->net(qw(ip link set), $self->{port}{$name}, 'down');
}


sub join {
    my ($self, $name) = @_;

    $self->net(qw(ip link set), $self->{port}{$name}, 'up');
}


# Returns all processes of a machine, except those that keep it alive.

sub processes {
    my ($self, $name) = @_;

    return grep { !$self->{keep}{$name}{$_} }
           descendants($self->{$name}{init});
}


# Cuts the power: the machine answers nothing more, and its processes are gone
# at once; the disk stays as it was.

sub power_off {
    my ($self, $name) = @_;

    $self->cut($name);

    wait_for {
        my @left = $self->processes($name);

        signal_pid('KILL', @left);
        return !@left;
    } or die "$name does not end\n";
}


sub power_on {
    my ($self, $name) = @_;

    my ($status, $text) = $self->{$name}->sh($BOOT);

    die "$name: $text\n" if $status != 0;

    $self->join($name);
}


# Stops all processes of a machine, as when a virtual machine is moved, and lets
# them go on.

sub freeze {
    my ($self, $name) = @_;

    $self->cut($name);
    signal_pid('STOP', $self->processes($name)) for 1 .. 3;
}


sub thaw {
    my ($self, $name) = @_;

    $self->join($name);
    signal_pid('CONT', $self->processes($name));
}


1;
