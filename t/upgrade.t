#!/usr/bin/perl

# An upgrade from the first version that could be installed to this one, by the
# documented commands, on a machine with Debian's services, while a client
# writes; and the way back.

use strict;
use warnings;

use Cwd ();
use JSON::PP ();
use Test::More;

use SvcTest::Machine;
use SvcTest::Process qw(wait_for wait_exit run slurp);
use SvcTest::Skip;

needs(program => 'curl python3');

skip_built_in();

if (my $why = SvcTest::Machine::missing()) {
    skip_file($why);
}

# a clone has the history, an archive does not

skip_file('there is no git history here') if !-e '.git';


sub git {
    my ($status, $text) = run([ 'git', '-c', 'safe.directory=*', @_ ],
                              cwd => Cwd::getcwd());

    die "git @_: $text" if $status != 0;

    return $text;
}

skip_file('the clone is shallow: "git fetch --unshallow" brings the history')
    if git('rev-parse', '--is-shallow-repository') ne "false\n";

# the first version that make install could install; it had one migration

my @first = split /\n/, git('log', '--diff-filter=A', '--format=%H', '--',
                            'conf/mod-http-svc.conf');
my $first = $first[-1];

is(git('ls-tree', '--name-only', $first, 'sql/'), "sql/0001_init.sql\n",
   "the first version, $first");

my $m = SvcTest::Machine->new;
my $share = $m->{share};

$m->services;
$m->editor;
$m->checkout('new');
mkdir "$share/old" or die $!;
git('archive', '-o', "$share/old.tar", $first);


sub version {
    return $m->passes('cd / && runuser -u postgres -- psql -XAtd svc -c'
                  . ' "SELECT max(version) FROM svc.schema_migration"',
                  'the schema');
}


# --- the first version -------------------------------------------------------------

$m->passes('tar xf /mnt/old.tar -C /mnt/old && cd /mnt/old && make install',
       'the first version is built and installed', timeout => 300);

my (undef, $setup) = SvcTest::Machine::documented('Installing');

# that version's example connected over the socket

$setup =~ s{^ *editor (\S+)$}{sed -i 's|^svc_postgres .*|svc_postgres "host=127.0.0.1 dbname=svc user=svc_app passfile=/etc/nginx/svc.pgpass";|' $1; editor $1}m
    or die;

my $text = $m->passes("set -eo pipefail\n$setup", 'it is set up');
like($text, qr/"status":"ok"/, 'and is well');

my ($token) = $text =~ /(scim_[\w-]{43})\b/ or die 'no token';
my $curl = "curl -sk -m 10 -H 'Authorization: Bearer $token'";
my $users = 'https://localhost/scim/v2/Users';


# Returns what clients would miss.

sub stored {
    my %user;

    for (1 .. 3) {
        my $json = $m->passes("$curl -G $users --data-urlencode"
                          . " 'filter=userName eq \"kept$_\@acme.example\"'",
                          "user $_");
        my $found = JSON::PP::decode_json($json)->{Resources}[0];

        $user{$_} = { map { $_ => $found->{$_} }
                      qw(id userName externalId active name title) };
    }

    return \%user;
}


for (1 .. 3) {
    $m->passes("$curl $users -f -d '{\"userName\":\"kept$_\@acme.example\","
           . "\"externalId\":\"e-$_\",\"title\":\"T\","
           . '"name":{"givenName":"Zoë","familyName":"O\'\\\'\'Hara"},'
           . "\"active\":" . ($_ == 3 ? 'false' : 'true') . "}'", "user $_");
}

my $kept = stored();
is($kept->{3}{active}, JSON::PP::false, 'one is deactivated');
is(version(), "1\n", 'is of version 1');


# --- a client that goes on ----------------------------------------------------------

# in one process, because curl takes longer to start than all else does

my $client = $m->start(<<"EOT", "$share/client");
exec /usr/bin/python3 -u -c '
import http.client, json, os, ssl, time
i = 0
while not os.path.exists("/mnt/end"):
    i += 1
    try:
        c = http.client.HTTPSConnection("localhost", timeout=10,
                                        context=ssl._create_unverified_context())
        c.request("POST", "/scim/v2/Users",
                  json.dumps({"userName": f"w{i}\@acme.example"}),
                  {"Authorization": "Bearer $token"})
        code = c.getresponse().status
        c.close()
    except (OSError, http.client.HTTPException):
        code = "000"
    print(i, code)
    time.sleep(0.02)
'
EOT

sub acknowledged {
    my @all = (slurp("$share/client") // '') =~ /^(\d+) 20\d$/mg;

    return @all;
}

sub goes_on {
    my ($name) = @_;
    my $least = 10 + acknowledged();

    ok((wait_for { $least <= acknowledged() } 60), "the client goes on: $name")
        or diag(slurp("$share/client") =~ /((?:.*\n){0,20})\z/);
}

sub nothing_lost {
    my ($name) = @_;
    my @acknowledged = acknowledged();
    my %there = map { $_ => 1 } $m->passes(
        'cd / && runuser -u postgres -- psql -XAtd'
        . ' svc -c "SELECT user_name FROM svc.user_account"', 'all users')
        =~ /^w(\d+)\@/mg;

    cmp_ok(scalar @acknowledged, '>=', 10, 'many were acknowledged');
    is_deeply([ grep { !$there{$_} } @acknowledged ], [], $name);
}

goes_on('as it was');


# --- the upgrade --------------------------------------------------------------------

my ($upgrade) = SvcTest::Machine::documented('Upgrading');
my @step = grep { /\S/ } split /\n/, $upgrade;

for my $step (@step) {
    $m->passes("cd /mnt/new && $step", "upgrade: $step");
    goes_on('after it');
}

my ($newest) = (glob 'sql/[0-9]*.sql')[-1] =~ m{/0*(\d+)_};
is(version(), "$newest\n", 'is the newest');
is_deeply(stored(), $kept, 'what there was is there');
nothing_lost('and all that was acknowledged');

my ($master) = $m->passes('cat /run/nginx.pid', 'NGINX') =~ /(\d+)/;
like($m->passes("cat /proc/$master/maps", 'has'), qr/svc_common_module\.so$/m,
     'the new modules');
unlike($m->passes('cat /var/log/nginx/error.log', 'the error log'),
       qr/\[(?:alert|emerg|crit)\]|exited on signal/, 'has no alert');


# --- back again ---------------------------------------------------------------------

my ($ask, $leave, $back, $restore) = SvcTest::Machine::documented('Going back');

like($m->passes("cd /mnt/old\n$ask", 'back: is it possible?'),
     qr/^modules of version 1 work on the schema, which is of version $newest$/m, 'yes');
my $psql = 'cd / && runuser -u postgres -- psql -XAtqd svc -c';
$m->passes("$psql \"INSERT INTO svc.schema_migration VALUES (9999, 'later', now(), 2)\"",
           'a schema that does not serve them');
isnt(($m->sh("cd /mnt/old\n$ask"))[0], 0, 'back: not to this version');
$m->passes("$psql 'DELETE FROM svc.schema_migration WHERE version = 9999'", 'as it was');

$m->passes("cd /mnt/new && $leave", 'back: the new modules leave');
goes_on('with what is in memory');
$m->passes("set -e\ncd /mnt/old\n$back", 'back: the old modules');
goes_on('on the new schema');
is(version(), "$newest\n", 'stays');
isnt(($m->sh('cd / && runuser -u postgres -- svcctl --pg dbname=svc migrate'))[0],
     0, 'the old svcctl refuses it');
is_deeply(stored(), $kept, 'what there was is there');

$m->passes('touch /mnt/end', 'the client');
is(wait_exit($client), 0, 'ends');
nothing_lost('all that was acknowledged is there');

$m->passes("set -e\n$restore", 'back: the old schema');
is(version(), "1\n", 'is of version 1 again');
$m->passes('curl -sfk --retry 5 https://localhost/healthz', 'it is well');
is_deeply(stored(), $kept, 'what there was is there');

# once more, now with all the new things in use

$m->passes("set -eo pipefail\ncd /mnt/new\n$upgrade", 'the upgrade again');
$m->passes('cp /usr/share/doc/ngx_svc/examples/svc.conf.example'
       . ' /etc/nginx/conf.d/svc.conf && editor /etc/nginx/conf.d/svc.conf'
       . ' && nginx -t && service nginx restart', 'the new example');
is_deeply(stored(), $kept, 'what there was is there');

$text = $m->passes('cd / && runuser -u postgres -- svcctl --pg dbname=svc'
                   . ' token create'
               . ' --tenant acme --name api --permissions users:view',
               'an API token');
my ($api) = $text =~ /(svc_[\w-]{43})\b/ or die 'no token';
$text = $m->passes("curl -sfk -H 'Authorization: Bearer $api' --retry 5"
               . ' "https://localhost/v1/admin/users?q=kept"', 'the admin API');
is(JSON::PP::decode_json($text)->{total}, 3, 'finds them');

$m->stop;
done_testing();
