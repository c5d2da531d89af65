#!/usr/bin/perl

# make run and make stop, and the documents' examples on what they start.

use strict;
use warnings;

use Cwd ();
use File::Path qw(remove_tree);
use File::Temp ();
use IO::Socket::INET;
use Test::More;

use SvcTest::Documents qw(document section examples);
use SvcTest::Nginx ();
use SvcTest::Process qw(run on_exit wait_for slurp spawn wait_exit signal_pid
    write_file);
use SvcTest::Skip;

needs(program => 'curl make python3 redis-cli', python => 'aiosmtpd');

skip_built_in();

my $dir = File::Temp::tempdir('/tmp/svcrun.XXXXXX');
chmod 0755, $dir;

my $run = "$dir/run";
my $port = SvcTest::Nginx::free_port();

$ENV{RUN_DIR} = $run;
delete @ENV{qw(SVC_PG PERL5LIB MAKEFLAGS MAKELEVEL MFLAGS)};

on_exit(sub {
    qx(conf/demo.sh stop 2>&1);
    remove_tree($dir);
});


sub sh {
    my ($command) = @_;
    my $text = qx(( $command ) 2>&1);

    return ($text, $? >> 8);
}


# the port that the receiver of webhooks would use is taken

my $other = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1,
                                  LocalPort => $port + 363);

my ($text, $rc) = sh("make --no-print-directory run PORT=$port");
is($rc, 0, 'make run') or diag($text);
like($text, qr/^==> starting PostgreSQL$/m, 'shows its steps');
like($text, qr/^==> moving the webhook endpoint to port \d+$/m,
     'does not need one port');
undef $other;
is(scalar(() = $text =~ /^curl /mg), 12, 'ends with a curl line for each thing');
like($text, qr{^base URL +http://localhost:$port$}m, 'where passkeys work');
like($text, qr{^sign-in +http://localhost:$port/login\?tenant=acme,}m, 'and where to sign in');
like($text, qr{^console +http://localhost:$port/console$}m, 'and where to administer');

for my $line ($text =~ /^(curl .*)$/mg) {
    my ($answer, $status) = sh("$line -sS -w '\\n%{http_code}\\n'");
    like($answer, qr/^20[012]$/m, 'a curl line') or diag("$line\n$answer");
}

my ($password) = slurp("$run/env")
                 =~ /^export SVC_OWNER_PASSWORD=([0-9a-f]{24})$/m;

like($text, qr/^password +\Q$password\E$/m, 'shows the password');
is((stat "$run/password")[2] & 07777, 0600, 'which is kept');
unlike(join('', map { slurp("$run/$_") } qw(error.log access.log pg/log)),
       qr/\Q$password\E/, 'and is in no log');

like($text, qr/^verified [0-9a-f]{32} \{"id":.*"email":"radia\@acme\.test"/m,
     'shows a webhook that the receiver has verified');
ok((wait_for {
        slurp("$run/webhook/log") =~ /^verified .*"grace\@acme\.test"/m
    }), 'and the receiver goes on');
unlike(slurp("$run/webhook/log"), qr/^(?:forged|again|failed|no TLS)/m,
       'with nothing else');
is((stat "$run/webhook")[2] & 07777, 0700, 'run/webhook is the servers\'');
like((sh("curl -sS http://127.0.0.1:$port/metrics"))[0],
     qr/^svc_webhook_deliveries_total\{outcome="acknowledged"\} 2$/m, 'metrics');

ok((wait_for {
        grep { slurp($_) =~ m{^http://localhost:$port/reset\?tenant=acme#token=[\w-]{43}$}m }
             glob "$run/mail/*.txt"
    }), 'a mail to who forgot a password, with a link that can be copied');
ok(-e "$run/mail/0001.eml", 'as it was sent, too');
like((sh("curl -sS http://127.0.0.1:$port/login"))[0], qr/^<!doctype html>/,
     'the page of sign-in');
is((sh("curl -sS --compressed -D - http://127.0.0.1:$port/$_"))[0] =~ /^Content-Encoding: gzip/m, 1,
   "/$_, compressed")
    for qw(login svc/page.js);

is((stat "$run/env")[2] & 07777, 0600, 'run/env is its owner\'s');

my $env = slurp("$run/env");
like($env, qr/^export $_=\S/m, $_)
    for qw(SVC_BASE_URL SVC_ADMIN_TOKEN SVC_SCIM_TOKEN SVC_TENANT_SLUG
           SVC_OWNER_PASSWORD SVC_PG SVC_REDIS);

is((sh(". $run/env; psql -XAtd \"\$SVC_PG\" -c 'SELECT slug FROM svc.tenant'"))[0],
   "acme\n", 'SVC_PG');
is((sh(". $run/env; redis-cli -s \${SVC_REDIS#unix:} ping"))[0], "PONG\n",
   'SVC_REDIS');
like((sh("curl -sS http://127.0.0.1:$port/healthz"))[0],
     qr/"status":"ok","postgres":"up","redis":"up"/, 'healthy');


# --- the documents' shell examples -----------------------------------------------

my $documents = document();
my @examples = examples('sh', $documents);
ok(@examples >= 13, 'the documents have examples');

for my $example (@examples) {
    s{\brun/}{$run/}g, s{^curl }{curl -sS -f }mg for $example;
    my ($answer, $status) = sh("set -e\n$example");
    is($status, 0, 'an example of the documents') or diag("$example\n$answer");
    like($answer, qr/"schemas":|"secret":"(?:svc|scim)_|"memberCount":|"events":
                   |"maxAgeDays":|"tenant":\{|"sample":\{|"knownEvents":
                   |"deliveries":\[\{|"action":"webhook\.|"period":
                   |"bindPasswordSet":true|"spEntityId":|"secretSet":true
                   |"tokenSet":true|"integrations":\[\{|"verification":\{|"applications":\[\{|"agents":\[\{
                   |"names":\[\{|"features":\{|imported\ (?:2\ sign-ins|1\ passwords)/x,
         'is answered');
}

# the examples of sign-in, in the order of the document

# The examples use an app's code and the next one, for which a step of 30
# seconds must have begun lately.

wait_for { time % 30 < 15 };

my $sign_in = join "\n", examples('bash', document('ngx_svc_admin/signin/README.md'));

$sign_in =~ s/\bcurl (--no-fail )?/q(curl -sS ) . ($1 ? '' : '-f ')/ge;

my ($failed, $said) = run([ 'bash', '-euo', 'pipefail', '-c', ". $run/env\n$sign_in" ],
                          cwd => Cwd::getcwd());

is($failed, 0, 'the examples of sign-in, in their order') or diag("$sign_in\n$said");
like($said, qr/"code":"step_up_required".*"csrfToken":/s, '... to the last one');

# one more receiver, on a free port

my ($receiver) = grep { /^\. run\/env\n/ } examples('bash', $documents);
my $mine = SvcTest::Nginx::free_port();

$receiver =~ s/9443/$mine/g;
$receiver =~ s{\brun/}{$run/}g;
$receiver =~ s{\n\z}{ --pid-file $dir/receiver.pid\n};

my $pid = spawn([ 'bash', '-euc', $receiver ], out => "$dir/receiver.log",
                cwd => Cwd::getcwd());
ok((wait_for { -s "$dir/receiver.pid" }), 'a receiver of the documents')
    or diag($receiver, slurp("$dir/receiver.log"));

is((sh(". $run/env; curl -sS -o /dev/null -w '%{http_code}'"
       . " -H \"Authorization: Bearer \$SVC_SCIM_TOKEN\""
       . " -d '{\"userName\":\"ida\@acme.test\"}'"
       . " \"\$SVC_BASE_URL/scim/v2/Users\""))[0], 201, 'a user');
ok((wait_for {
        slurp("$dir/receiver.log") =~ /^verified .*"ida\@acme\.test"/m
    }), 'gets and verifies what its webhook is for')
    or diag(slurp("$dir/receiver.log"));

signal_pid('TERM', slurp("$dir/receiver.pid") =~ /(\d+)/);
ok(defined wait_exit($pid), 'and ends');

# what the document says of variables, commands and targets is true

like($env, qr/^export $_=/m, "documented: $_")
    for $documents =~ /^\| `(SVC_[A-Z_]+)` \|/mg;

my ($commands) = sh('conf/svcctl commands');
my %command = map { $_ => 1 }
              $documents =~ /^\| `svcctl ([a-z -]+?)(?: --.*?)?` \|/mg;
is_deeply([ sort keys %command ], [ sort $commands =~ /^(.*?) --/mg ],
          'documented: all commands of svcctl, and no others');

my ($targets) = sh('make help');

for my $target ($documents =~ /^\| `make ([a-z-]+)` \|/mg) {
    like($targets, qr/^$target\b/m, "documented: make $target");
}

my %directive;

for my $file (glob 'ngx_svc_*/*_module.c') {
    $directive{$_}++ for slurp($file) =~ /\{ ngx_string\("(svc_\w+)"\)/g;
}

my %told = map { $_ => 1 }
           section('conf/directives.md', 'Directives') =~ /^\| `(svc_\w+)/mg;
is_deeply([ sort keys %told ], [ sort keys %directive ],
          'documented: all directives, and no others');


# --- again, elsewhere, and the end -----------------------------------------------

my $before = slurp("$run/env");
truncate "$run/webhook/log", 0 or die "$!\n";
($text, $rc) = sh("make --no-print-directory run PORT=$port");
is($rc, 0, 'make run again');
unlike($text,
       qr/^==> (?:starting|making|setting|moving|reloading|provisioning)/m,
       'changes nothing');
is(slurp("$run/env"), $before, 'the tokens neither');

# files that the operator adds stay; generated files that he edits are written
# anew

sub mine {
    return (sh("curl -sS -o /dev/null -w '%{http_code}' http://localhost:$port/mine"))[0];
}

write_file("$run/server.d/mine.conf", "location = /mine { return 418; }\n");
write_file("$run/http.d/mine.conf", "server_tokens off;\n");
($text, $rc) = sh("make --no-print-directory run PORT=$port");
is($rc, 0, 'make run with files of one\'s own') or diag($text);
like($text, qr/^==> reloading NGINX$/m, 'reads them');
ok((wait_for { mine() == 418 }), 'and heeds them');
unlike((sh("make --no-print-directory run PORT=$port"))[0], qr/^==> reloading/m, 'once');
is(mine(), 418, 'and they stay');

write_file("$run/nginx.conf", slurp("$run/nginx.conf") . "# mine\n");
($text, $rc) = sh("make --no-print-directory run PORT=$port");
is($rc, 0, 'make run after an edit');
like($text, qr{^==> run/nginx\.conf was edited: it is kept as run/nginx\.conf\.edited\.1, }m,
     'says where it is');
like(slurp("$run/nginx.conf.edited.1"), qr/^# mine$/m, 'and there it is');
unlike(slurp("$run/nginx.conf"), qr/^# mine$/m, 'the file is as it was made');
unlink "$run/server.d/mine.conf";
sh("make --no-print-directory run PORT=$port");
ok((wait_for { mine() == 404 }), 'what is taken away is gone');

my $second = SvcTest::Nginx::free_port();
($text, $rc) = sh("make --no-print-directory run PORT=$second");
is($rc, 0, 'make run with another PORT');
like($text, qr{^base URL +http://localhost:$second$}m, 'moves');

($text, $rc) = sh('make --no-print-directory stop');
is($rc, 0, 'make stop');

for my $pidfile ("$run/nginx.pid", "$run/redis/pid", "$run/webhook/pid",
                 "$run/pg/data/postmaster.pid")
{
    ok(!-e $pidfile, "$pidfile is gone");
}

($text, $rc) = sh('make --no-print-directory stop');
is($rc, 0, 'make stop again');

my $taken = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
my $takenport = $taken->sockport;
($text, $rc) = sh("make --no-print-directory run PORT=$takenport");
isnt($rc, 0, 'a port that is taken');
like($text, qr/port $takenport/, 'is named');
close $taken;

($text, $rc) = sh("make --no-print-directory run PORT=$port");
is($rc, 0, 'and once more');
is((sh(". $run/env; curl -sS -G -H \"Authorization: Bearer \$SVC_SCIM_TOKEN\""
       . " \"\$SVC_BASE_URL/scim/v2/Users\" --data-urlencode"
       . " 'filter=userName eq \"grace\@acme.test\"'"))[0] =~ /"totalResults":1/,
   1, 'the data is still there');

($text, $rc) = sh('make --no-print-directory run PORT=x');
isnt($rc, 0, 'a port that is no number');

($text, $rc) = sh('conf/demo.sh stop');
is($rc, 0, 'stopped');


# --- a checkout that only root can enter, as those below /root are ---------------

SKIP: {
    skip_part('the servers run as another user only when root starts them', 6)
        if $> != 0;

    my $private = "$dir/private";
    my $demo = "env -u RUN_DIR $private/conf/demo.sh";

    sh("mkdir -m 700 $private && cp -r conf sql $private"
       . " && ln -s \$PWD/build $private/build");

    my $elsewhere;
    on_exit(sub {
        qx($demo stop 2>&1);
        remove_tree($elsewhere) if defined $elsewhere;
    });

    ($text, $rc) = sh("$demo start $port");
    is($rc, 0, 'it runs there') or diag($text);

    $elsewhere = readlink "$private/run";
    like($elsewhere, qr{^/var/lib/ngx_svc\.\w+$}, 'run is a link');
    like($text, qr/run is a link to \Q$elsewhere\E$/m, 'it says so');

    ($text, $rc) = sh("$demo start $port");
    is($rc, 0, 'and again') or diag($text);
    is(readlink "$private/run", $elsewhere, 'in the same place');

    ($text, $rc) = sh("$demo stop");
    is($rc, 0, 'and stops');
}

done_testing();
