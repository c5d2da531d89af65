#!/usr/bin/perl

# Shows the demo that make run starts: refused, killed halfway, started twice at once,
# among other processes, and by a user whose PATH has no sbin, in a folder with a
# blank.

use strict;
use warnings;

use Cwd ();
use File::Path qw(remove_tree);
use File::Temp ();
use IO::Socket::INET;
use Test::More;

use SvcTest::Nginx ();
use SvcTest::Process qw(on_exit wait_for slurp spawn wait_exit signal_pid
    write_file);
use SvcTest::Skip;

needs(program => 'curl make python3', python => 'aiosmtpd');

skip_built_in();

my $dir = File::Temp::tempdir('/tmp/svcdemo.XXXXXX');
chmod 0755, $dir;

my $run = "$dir/run";
my $top = Cwd::getcwd();
my $port = SvcTest::Nginx::free_port();

$ENV{RUN_DIR} = $run;
delete @ENV{qw(SVC_PG PERL5LIB MAKEFLAGS MAKELEVEL MFLAGS PORT)};

on_exit(sub {
    qx(conf/demo.sh stop 2>&1);
    remove_tree($dir);
});


sub demo {
    my (@args) = @_;

    open my $out, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', 'conf/demo.sh',
         @args or die "sh: $!";
    my $text = do { local $/; <$out> };
    close $out;

    return ($text // '', $? >> 8);
}


# Returns the demo's processes, whatever its pid files say.

sub running {
    my ($folder) = @_;

    return grep { / \Q$folder\E\/ | :\Q$folder\E\/ /x }
           map { my $text = slurp($_) // ''; $text =~ tr/\0/ /; $text }
           glob '/proc/[0-9]*/cmdline';
}


sub is_well {
    my ($at, $name) = @_;

    like(qx(curl -sS -m 5 http://127.0.0.1:$at/healthz 2>&1), qr/"status":"ok"/,
         $name);
}


# Returns the status of a sign-in with the password that run/env has.

sub signs_in {
    my $script = <<'EOT';
. "$1"
printf '{"email":"ada@acme.test","password":"%s"}' "$SVC_OWNER_PASSWORD" |
curl -sS -m 20 -o /dev/null -d @- -w '%{http_code}' "$SVC_BASE_URL/v1/auth/login"
EOT

    open my $out, '-|', 'sh', '-c', $script, 'sh', "$run/env" or die "sh: $!";

    return scalar <$out>;
}


sub holds {
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
        or die "socket: $!";

    return ($socket, $socket->sockport);
}


# --- killed at each of its steps ------------------------------------------------

for my $step ('making a PostgreSQL cluster', 'starting PostgreSQL',
              'making the tenant', 'starting NGINX',
              "setting the owner's password", 'making a webhook endpoint',
              'making people, groups')
{
    my $log = "$dir/killed";

    unlink $log;
    my $pid = spawn([ 'conf/demo.sh', 'start', $port ], cwd => $top,
                    out => $log);

    ok((wait_for { (slurp($log) // '') =~ /^==> \Q$step\E/m } 60), $step)
        or diag(slurp($log));

    # The script is killed together with the command that it waits for.

    kill 'KILL', -$pid;
    wait_exit($pid);
}

my ($text, $rc) = demo('start', $port);
is($rc, 0, 'killed at its steps, it starts in the end') or diag($text);
is_well($port, 'and works');
like(slurp("$run/env"), qr/^export SVC_$_=\S{40}/m, "the tenant's $_")
    for qw(ADMIN_TOKEN SCIM_TOKEN);
is(signs_in(), 200, 'and its owner signs in');


# --- something to look at ---------------------------------------------------------

# Returns how many there are of each kind.

sub counted {
    my $script = <<'EOT';
. "$1"

ask() { curl -sS -H "Authorization: Bearer $SVC_ADMIN_TOKEN" "$SVC_BASE_URL/v1/admin/$1"; }

for list in users groups roles agents access-policy/versions agents/delegations
do
    echo "$list $(ask "$list?limit=1" | grep -o '"total":[0-9]*')"
done

ask webhooks | grep -o '"url":"[^"]*:9/hooks"'

# today is yet to come

test "$(ask 'security-stats?days=90' | grep -o '"success":[1-9]' | wc -l)" -ge 90 &&
    echo '90 days'
EOT

    open my $out, '-|', 'sh', '-c', $script, 'sh', "$run/env" or die "sh: $!";

    return do { local $/; <$out> };
}

my $counted = counted();

like($counted, qr{\Ausers\ "total":30\ngroups\ "total":4\nroles\ "total":2\nagents\ "total":2\n
                  access-policy/versions\ "total":3\nagents/delegations\ "total":15\n
                  "url":"https://127\.0\.0\.1:9/hooks"\n90\ days\n\z}x,
     'people, and what they have');


# --- two at once ------------------------------------------------------------------

my @both = map { spawn([ 'conf/demo.sh', $_, $port ], cwd => $top,
                       out => "$dir/both") } qw(start start);
is((wait_exit($_, 60) // -1), 0, 'one of two at once') for @both;
is_well($port, 'both of them leave it well');
is(counted(), $counted, 'and nothing is made twice');


# --- refused while it runs --------------------------------------------------------

my $env = slurp("$run/env");
my ($taken, $other) = holds();

($text, $rc) = demo('start', $other);
isnt($rc, 0, 'a port that is taken');
like($text, qr/port $other is taken/, 'is named');
is_well($port, 'what ran goes on');
is(slurp("$run/env"), $env, 'where it was');

my $keys = slurp("$run/svc.keys");

write_file("$run/svc.keys", "k1:none\n");
($text, $rc) = demo('start', SvcTest::Nginx::free_port());
isnt($rc, 0, 'a configuration that nginx -t refuses');
like($text, qr/svc\.keys.*refused/s, 'is explained');
is_well($port, 'what ran goes on');

write_file("$run/svc.keys", $keys);
my $second = SvcTest::Nginx::free_port();
($text, $rc) = demo('start', $second);
is($rc, 0, 'another port') or diag($text);

($text, $rc) = demo('start');
is($rc, 0, 'without PORT') or diag($text);
like($text, qr{^base URL +http://localhost:$second$}m, 'it stays there');
unlike($text, qr/^==> (?:starting|making|moving|reloading)/m, 'as it is');


# --- a rebuild ---------------------------------------------------------------------

my ($master) = slurp("$run/nginx.pid") =~ /(\d+)/;

# The modules are made newer than the NGINX that has loaded them.

utime 1, 1, "$run/nginx.pid";
($text, $rc) = demo('start');
is($rc, 0, 'after a build') or diag($text);
like($text, qr/^==> starting NGINX$/m, 'NGINX starts anew');
unlike(slurp("/proc/$master/status") // '', qr/^State:\t[^Z]/m,
       'and its forerunner is gone');


# --- stopping, and failed starts ---------------------------------------------------

is((demo('stop'))[1], 0, 'stop') for 1 .. 2;
is_deeply([ running($run) ], [], 'nothing is left');

($text, $rc) = demo('start', $other);
isnt($rc, 0, 'a port that is taken');
is_deeply([ running($run) ], [], 'nothing is started');

# Only NGINX notices that somebody listens there.

my $deaf = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'tcp',
                                 ReuseAddr => 0) or die $!;
($text, $rc) = demo('start', $deaf->sockport);
isnt($rc, 0, 'a port that is taken, and not answered');
like($text, qr/port @{[ $deaf->sockport ]} taken/, 'is named');
is_deeply([ running($run) ], [], 'what was started is stopped');

write_file("$run/svc.keys", "k1:none\n");
($text, $rc) = demo('start');
isnt($rc, 0, 'a configuration that is refused');
is_deeply([ running($run) ], [], 'what was started is stopped');
write_file("$run/svc.keys", $keys);

my $pid = spawn([ 'conf/demo.sh', 'start' ], cwd => $top, out => "$dir/ended");
ok((wait_for { (slurp("$dir/ended") // '') =~ /^==> starting Redis/m } 60), 'begun');
signal_pid('TERM', $pid);
isnt((wait_exit($pid, 60) // 0), 0, 'and ended');
is_deeply([ running($run) ], [], 'nothing is left');


# --- among other processes ----------------------------------------------------------

# One process is called nginx and belongs to somebody else; another one has exited,
# and its parent has not waited for it.

system('cp', '/bin/sleep', "$dir/nginx") == 0 or die;
system('cp', '/bin/true', "$dir/redis-server") == 0 or die;

my $stranger = spawn([ "$dir/nginx", '600' ]);
my $zombie = spawn([ "$dir/redis-server" ]);

wait_for { slurp("/proc/$stranger/comm") eq "nginx\n" } or die;
wait_for { slurp("/proc/$zombie/status") =~ /^State:\tZ/m } or die;
is(slurp("/proc/$zombie/comm"), "redis-server\n", 'a zombie');

write_file("$run/nginx.pid", "$stranger\n");
write_file("$run/redis/pid", "$zombie\n");

is((demo('stop'))[1], 0, 'stop');
is(kill(0, $stranger), 1, 'leaves an nginx of others alone');

($text, $rc) = demo('start');
is($rc, 0, 'it starts') or diag($text);
like($text, qr/^==> starting $_$/m, "$_ too") for qw(Redis NGINX);
is(kill(0, $stranger), 1, 'and leaves it alone');
is((demo('stop'))[1], 0, 'stop');
is_deeply([ running($run) ], [], 'nothing is left');
signal_pid('TERM', $stranger);


# --- make run, by an ordinary user ---------------------------------------------------

my $copy = "$dir/a copy";
my @as = $> ? () : ('setpriv', '--reuid=nobody', '--regid=nogroup',
                    '--clear-groups', '--');
my @make = (@as, 'env', '-u', 'RUN_DIR', 'PATH=/usr/bin:/bin', 'HOME=/nonexistent',
            'make', '--no-print-directory', '-C', $copy);

mkdir $copy or die "$copy: $!";
system("cp -a Makefile config conf sql ngx_svc_* '$copy' && mkdir '$copy/build'"
       . " && cp -a build/modules build/nginx-dev-* '$copy/build'") == 0 or die;
system('chown', '-R', 'nobody:', $copy) == 0 or die if $> == 0;

on_exit(sub { system(@make, 'stop') });

sub make {
    my (@args) = @_;

    my $made = spawn([ @make, @args ], out => "$dir/made.@args", cwd => $copy);
    my $status = wait_exit($made, 300);

    return (slurp("$dir/made.@args"), $status);
}

my $third = SvcTest::Nginx::free_port();

($text, $rc) = make('run', "PORT=$third");
is($rc, 0, 'make run, by a user without sbin, in a folder with a blank')
    or diag($text);
is_well($third, 'works');
is(qx(. '$copy/run/env'; psql -XAtd "\$SVC_PG" -c 'SELECT slug FROM svc.tenant'),
   "acme\n", 'so does run/env');

($text, $rc) = make('stop');
is($rc, 0, 'make stop') or diag($text);
is_deeply([ running("$copy/run") ], [], 'nothing is left');

done_testing();
