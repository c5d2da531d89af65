#!/usr/bin/perl

# Runs the documented commands that install and remove, as they are, on a machine with
# Debian's own PostgreSQL, Redis and NGINX.

use strict;
use warnings;

use Test::More;

use SvcTest::Documents qw(document);
use SvcTest::Machine;
use SvcTest::Process qw(wait_for wait_exit slurp);
use SvcTest::Skip;

needs(program => 'curl');

skip_built_in();

if (my $why = SvcTest::Machine::missing()) {
    skip_file($why);
}

my $m = SvcTest::Machine->new;

$m->services;
$m->editor;
$m->checkout('svc');


sub svc_files {
    return split /\n/, $m->passes('find /usr /etc/nginx -name "*svc*"',
                                  'files');
}


# --- installing -------------------------------------------------------------------

my (undef, $setup) = SvcTest::Machine::documented('Installing');

my %before = map { $_ => 1 } svc_files();

$m->passes('cd /mnt/svc && make install', 'make install');
my $text = $m->passes("set -eo pipefail\n$setup", 'the documented commands');

# The first answer may come before the connections for writes are made.

like($text, qr/"status":"(?:ok|degraded)"/, 'it answers');
ok((wait_for {
        ($m->sh('curl -sk https://localhost/healthz'))[1]
            =~ /"status":"ok","postgres":"up","redis":"up"/
    }), 'it is well');
unlike($text, qr/\[warn\]/, 'nginx -t warns of nothing');
unlike($text, qr/not change directory|Permission/, 'nor does another command');

my ($token) = $text =~ /(scim_[\w-]{43})\b/ or die 'no token';

is($m->passes("curl -sk -o /dev/null -w '%{http_code}'"
              . " -H 'Authorization: Bearer $token'"
              . ' -d \'{"userName":"grace@acme.example"}\''
              . ' https://localhost/scim/v2/Users', 'a request'), 201,
   'is answered');

is($m->passes('stat -c "%a %U" /etc/nginx/svc.pgpass /etc/nginx/svc.keys',
          'the secrets'), "600 www-data\n600 root\n", 'are for their readers');
like($m->passes('cat /etc/postgresql/*/main/pg_hba.conf', 'pg_hba.conf'),
     qr/^local +all +all +peer\n.*^host +all +all .*scram-sha-256\n/ms,
     'is Debian\'s');

is($m->passes('svcctl version', 'svcctl'), 'svcctl ' . slurp('conf/version'),
   'is of this version');
like($m->passes('man svcctl', 'man svcctl'), qr/^SVCCTL\(8\)/m, 'is its page');
like($m->passes('. /usr/share/bash-completion/completions/svcctl;'
            . ' complete -p svcctl', 'bash'),
     qr/-F _svcctl svcctl$/m, 'completes it');

# Debian's error_log has no level, which hides warnings.

like($m->passes('sed "s/worker_connections .*;/worker_connections 500;/"'
            . ' /etc/nginx/nginx.conf > /etc/nginx/few.conf'
            . ' && nginx -t -q -c /etc/nginx/few.conf 2>&1', 'nginx -t'),
     qr/\[warn\] .*"worker_connections" of 544 at least/,
     'warns of few worker_connections');


# --- stopping -----------------------------------------------------------------------

my $unit = slurp('conf/nginx-stop.conf');
my ($stop, $retry) = $unit =~ m{^ExecStop=-(\S+ .*QUIT/(\d+) .*)$}m;
my ($limit) = $unit =~ /^TimeoutStopSec=(\d+)$/m;
my ($shutdown) = document('conf/production.md') =~ /`worker_shutdown_timeout (\d+)s;`/;

ok(10 + 2 < $shutdown && $shutdown < $retry && $retry < $limit,
   'each bound is longer than the one before');

# A download takes longer than the five seconds of Debian's unit.

$m->passes(<<'EOT', 'a slow answer');
set -e
head -c 700000 /dev/zero > /var/www/html/slow
sed -i '/^events/i worker_shutdown_timeout 15s;' /etc/nginx/nginx.conf
sed -i '/location \/v1/i location = /slow { root /var/www/html; limit_rate 100k; }' \
    /etc/nginx/conf.d/svc.conf
nginx -t && service nginx restart
EOT

my $slow = $m->start("curl -sk -o /dev/null -w '%{size_download}'"
                     . ' https://localhost/slow', "$m->{dir}/slow");
ok((wait_for { $m->passes('ss -tnH state established "sport = :443"',
                          'ss') }),
   'is under way');
$m->passes($stop, 'the unit\'s ExecStop');
is(wait_exit($slow), 0, 'the answer');
is(slurp("$m->{dir}/slow"), 700000, 'is complete');
is($m->passes('pgrep -x nginx | wc -l', 'afterwards'), "0\n", 'NGINX is gone');


# --- removing -----------------------------------------------------------------------

my ($remove, $data) = SvcTest::Machine::documented('Removing');

$m->passes("set -e\ncd /mnt/svc\n$remove", 'the commands that remove');
is($m->passes('curl -sS -o /dev/null -w "%{http_code}" http://localhost/',
              'NGINX'),
   200, 'goes on');
$m->passes("set -e\n$data", 'the commands that remove the data');
is_deeply([ grep { !$before{$_} } svc_files() ], [], 'what is left is nothing');

$m->stop;
done_testing();
