package SvcTest::Machine;

# A machine as an operator has it: it has all that is installed here, an overlay
# that takes the changes, and processes, a network and services that are
# invisible outside.  It ends with the test.
#
#     my $m = SvcTest::Machine->new;
#     my ($status, $text) = $m->sh('service nginx start');
#
# $m->{share} is a folder outside, and /mnt inside.  Only root can make a
# machine, and only where it may mount: SvcTest::Machine::missing() says why it
# cannot.

use strict;
use warnings;

use Cwd ();
use File::Path qw(remove_tree);
use File::Temp ();
use Test::More;

use SvcTest::Documents qw(blocks);
use SvcTest::Process qw(wait_for spawn wait_exit signal_pid children run slurp
    on_exit);


my $MAKE = <<'EOT';
set -e
mount -t tmpfs -o mode=755 tmpfs "$0/mount"
cd "$0/mount"
mkdir upper work root
mount -t overlay -o "lowerdir=/,upperdir=upper,workdir=work" overlay root
mount --bind "$0/share" root/mnt
mount -t proc proc root/proc
mount --rbind /dev root/dev
mount -t tmpfs -o mode=1777 tmpfs root/dev/shm
mount -t tmpfs -o mode=1777 tmpfs root/tmp
mount -t tmpfs -o mode=755 tmpfs root/run
ip link set lo up
echo ready
exec chroot root bash -c 'sleep infinity & wait'
EOT

my @UNSHARE = ('unshare', '--mount', '--pid', '--net', '--uts', '--ipc', '--fork',
               '--kill-child');


# Returns why no machine can be made; undef when one can.

sub missing {
    return 'a machine of its own needs root' if $> != 0;

    my ($status, $text) = run([ @UNSHARE, 'mount', '-t', 'tmpfs', 'tmpfs',
                                '/mnt' ]);

    return $status == 0 ? undef : "a machine of its own needs mounts: $text";
}


sub new {
    my ($class) = @_;

    my $dir = File::Temp::tempdir('/tmp/svcmachine.XXXXXX');
    my $self = bless { dir => $dir, share => "$dir/share" }, $class;

    chmod 0755, $dir;
    mkdir "$dir/$_" or die "$dir/$_: $!\n" for qw(mount share);

    on_exit(sub { $self->stop });

    $self->{pid} = spawn([ @UNSHARE, 'sh', '-c', $MAKE, $dir ],
                         out => "$dir/log");

    wait_for { (slurp("$dir/log") // '') =~ /^ready$/m }
        or die 'no machine: ' . slurp("$dir/log") . "\n";

    ($self->{init}) = children($self->{pid});

    return $self;
}


sub command {
    my ($self, $text) = @_;

    return [ 'nsenter', '--target', $self->{init}, '--mount', '--pid', '--net',
             '--uts', '--ipc', '--root', '--wd', '--', 'env', '-i', 'HOME=/root',
             'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'LANG=C.UTF-8', 'bash', '-c',
             $text ];
}


# Runs a script to its end.  Returns its exit status and all its output.

sub sh {
    my ($self, $text, %opt) = @_;

    return run($self->command($text), timeout => 120, %opt);
}


# Runs a script and tests that it succeeds.  Returns its output.

sub passes {
    my ($self, $text, $name, %opt) = @_;

    my ($status, $said) = $self->sh($text, %opt);

    is($status, 0, $name) or diag("$text\n$said");

    return $said;
}


# Starts a script, with its output in a file outside.  Returns its pid.

sub start {
    my ($self, $text, $out) = @_;

    return spawn($self->command($text), out => $out);
}


# Starts a cluster as Debian makes it, and Redis; nothing is shared with this
# machine.

sub services {
    my ($self) = @_;

    my ($status, $text) = $self->sh(<<'EOT');
set -e
rm -rf /etc/postgresql/* /var/lib/postgresql/* /var/lib/redis/*
rm -f /etc/nginx/modules-enabled/*svc* /etc/nginx/conf.d/* /var/log/nginx/*
version=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
pg_createcluster "$version" main
service postgresql start
service redis-server start
EOT

    die "no services: $text\n" if $status != 0;
}


# The operator's documents: the command blocks below a heading are one script
# each.

my %DOCUMENT = (Installing => 'install', Removing => 'install',
                Upgrading => 'upgrade', 'Going back' => 'upgrade');

sub documented {
    my ($heading) = @_;

    return blocks("conf/$DOCUMENT{$heading}.md", $heading);
}


# Does what the documents leave to an editor: the server's name, and its
# certificate.

sub editor {
    my ($self) = @_;

    my ($status, $text) = $self->sh(<<'EOT');
cat > /usr/bin/editor.new <<'SH'
#!/bin/sh -e
cd /etc/nginx
sed -i 's/login\.example\.com/localhost/g' "$1"
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost \
        -keyout localhost.key -out localhost.pem 2>/dev/null
SH
chmod 755 /usr/bin/editor.new
mv /usr/bin/editor.new /usr/bin/editor
EOT

    die "no editor: $text\n" if $status != 0;
}


# Copies this checkout, with what is built, to /mnt/$name.

sub checkout {
    my ($self, $name) = @_;

    my $folder = "$self->{share}/$name";
    my ($status, $text) = run([ 'sh', '-ec', 'mkdir -p "$1/build"
        cp -a --parents Makefile README.md config conf sql ngx_svc_* \
            t/README.md "$1"
        cp -a build/modules build/nginx-dev-cc "$1/build"', 'sh', $folder ],
        cwd => Cwd::getcwd());

    die "no checkout: $text\n" if $status != 0;
}


sub stop {
    my ($self) = @_;

    my $pid = delete $self->{pid} or return;

    signal_pid('KILL', $self->{init}, $pid) if $self->{init};
    wait_exit($pid);

    # what was mounted disappears with the last process

    wait_for { rmdir("$self->{dir}/mount") || !-e "$self->{dir}/mount" };
    remove_tree($self->{dir});
}


1;
