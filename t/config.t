#!/usr/bin/perl

# Shows that nginx -t finds mistakes in the configuration, with a message that says
# what to do.

use strict;
use warnings;

use POSIX qw(mkfifo);
use Test::More;

use SvcTest;
use SvcTest::Process qw(write_file);


my $s = SvcTest->new(pg => 0, redis => 0);
my $nginx = $s->nginx;
my $good = $nginx->configuration;
my $keys = $s->{key_file};


# Runs nginx -t on the good configuration after an edit in $_.

sub try_configuration {
    my ($edit) = @_;

    local $_ = $good;
    $edit->();
    $nginx->write_configuration($_);

    return $nginx->test_configuration;
}


sub passes {
    my ($name, $edit) = @_;

    my ($status, $text) = try_configuration($edit);

    is($status, 0, "passes: $name") or diag($text);
    unlike($text, qr/\[(?:emerg|alert|crit)\]/, "passes: $name: no complaint");
}


# Expects each pattern to match the only message of the level emerg.

sub fails {
    my ($name, $edit, @patterns) = @_;

    my ($status, $text) = try_configuration($edit);
    my @emerg = $text =~ /\[emerg\] (?:\d+#\d+: )?(.*)/g;

    isnt($status, 0, "fails: $name") or diag($_);
    isnt($status, -1, "fails: $name: ends");
    is($status & 127, 0, "fails: $name: by no signal");
    is(scalar @emerg, 1, "fails: $name: one message") or diag($text);
    like($emerg[0] // '', $_, "fails: $name: message") for @patterns;
}


# Replaces a directive's line; undef removes it.

sub set {
    my ($name, $value) = @_;

    my $line = defined $value ? "    $name $value;\n" : '';

    s/^\s+$name .*;\n/$line/m or die "no $name in the configuration\n";
}


# Adds locations: pairs of a path and its directives.

sub locations {
    my (@pairs) = @_;
    my $text = '';

    while (my ($path, $inside) = splice @pairs, 0, 2) {
        $text .= "location $path { $inside }\n";
    }

    s/(?=^\s+location \/v1 )/$text/m or die "no location /v1 in the configuration\n";
}


sub add {
    my ($text) = @_;

    s/^http \{\n/http {\n    $text\n/m;
}


passes('the good configuration', sub { });


# --- the modules ------------------------------------------------------------

if (defined $nginx->modules) {
    my ($common, $scim, $admin)
        = map { qr/^load_module \S*ngx_http_svc_${_}_module\.so;\n/m }
          qw(common scim admin);

    fails('the scim module without the common one',
          sub { s/$common//; },
          qr/ngx_http_svc_common_module/, qr/load_module/);
    my ($line) = $good =~ /($scim)/;

    fails('the scim module without the common one, and not used',
          sub { s/^.*svc_.*\n//mg; s/^/$line/; },
          qr/ngx_http_svc_common_module/, qr/load_module/);
    fails('the scim module before the common one',
          sub { s/($common)($scim)/$2$1/; },
          qr/ngx_http_svc_common_module/, qr/load_module|before/);
    passes('the common module alone',
           sub { s/$scim//; s/$admin//; s/^\s+svc_(?:scim|admin) .*\n//mg; });
    fails('the admin module before the common one',
          sub { s/($common)($scim)($admin)/$3$1$2/; },
          qr/ngx_http_svc_admin_module needs ngx_http_svc_common_module/);
    fails('svc_scim without its module', sub { s/$scim//; },
          qr/unknown directive "svc_scim"/);
    fails('svc_admin without its module', sub { s/$admin//; },
          qr/unknown directive "svc_admin"/);
}


# --- what a surface needs ---------------------------------------------------

fails('no svc_postgres', sub { set(svc_postgres => undef) },
      qr/svc_scim/, qr/svc_postgres "?host=/);
fails('no svc_base_url', sub { set(svc_base_url => undef) },
      qr/svc_scim/, qr/svc_base_url http/);
passes('neither, and the surfaces off',
       sub { set(svc_postgres => undef); set(svc_base_url => undef);
             set(svc_scim => 'off'); set(svc_admin => 'off'); s/svc_health;/return 204;/; });
fails('svc_health without svc_postgres',
      sub { set(svc_postgres => undef); set(svc_scim => 'off');
            set(svc_admin => 'off') },
      qr/svc_health/, qr/svc_postgres "?host=/);
passes('no directive at all', sub { s/^\s+svc_.*\n//mg });
passes('no key file', sub { set(svc_key_file => undef) });
passes('no Redis', sub { set(svc_redis => undef) });
fails('svc_admin without svc_postgres',
      sub { set(svc_postgres => undef); set(svc_scim => 'off') },
      qr/svc_admin/, qr/svc_postgres "?host=/);
fails('svc_admin in a location that it is not reached in',
      sub { s{location /v1 }{location /v2 } },
      qr{"svc_admin".*put it into location /v1});
fails('svc_oauth without a key file',
      sub { set(svc_key_file => undef); locations("/oauth", 'svc_oauth on;') },
      qr/"svc_oauth on" needs a "svc_key_file"/);
fails('svc_oauth with a URL that anybody can listen to',
      sub { set(svc_base_url => 'http://login.test'); locations("/oauth", 'svc_oauth on;') },
      qr{"svc_oauth on" needs a "svc_base_url" that begins with https://});
fails("svc_oauth with $_, which is no name of a host",
      do { my $host = $_;
           sub { set(svc_base_url => "https://$host"); locations("/oauth", 'svc_oauth on;') } },
      qr{"svc_oauth on" needs a "svc_base_url" that begins with https:// and the name of a host})
    for qw(login_test.example.com login.test. login.test:0443);

for my $path (qw(openid-configuration oauth-authorization-server)) {
    my $on = 'svc_oauth_metadata on;';
    my $location = "/.well-known/$path";

    passes("the document $path", sub { locations('/oauth', 'svc_oauth on;', $location, $on) });
    passes("the document $path, off", sub { locations($location, 'svc_oauth_metadata off;') });
    fails("$path without svc_oauth", sub { locations($location, $on) },
          qr/"svc_oauth_metadata on".*"svc_oauth on"/);
    fails("$path with a URL that anybody can listen to",
          sub { locations('/oauth', 'svc_oauth on;', $location,
                          "svc_base_url http://login.test; $on") },
          qr{"svc_oauth_metadata on" needs a "svc_base_url" that begins with https://});
}

for my $location ('/', '/.well-known', '/.well-known/openid', '/oauth/metadata') {
    fails("svc_oauth_metadata in $location",
          sub { locations('/oauth', 'svc_oauth on;', $location, 'svc_oauth_metadata on;') },
          qr{"svc_oauth_metadata".*put it into location /\.well-known/openid-configuration,});
}

fails('svc_scim maybe', sub { set(svc_scim => 'maybe') },
      qr/svc_scim/, qr/"on"/, qr/maybe/);
fails('svc_scim at the level of http', sub { add('svc_scim on;') },
      qr/svc_scim.* not allowed here/);

for my $mode (qw(RFC on rfc7644)) {
    fails("svc_scim_mode $mode", sub { s/(svc_scim on;)/$1 svc_scim_mode $mode;/ },
          qr/"svc_scim_mode" takes "spec" or "rfc", not "$mode"/);
}

fails('svc_scim_mode twice',
      sub { s/(svc_scim on;)/$1 svc_scim_mode rfc; svc_scim_mode rfc;/ },
      qr/"svc_scim_mode" directive is duplicate/);
fails('svc_scim_mode without an argument', sub { add('svc_scim_mode;') },
      qr/number of arguments.*svc_scim_mode/);

for my $mode (qw(spec rfc)) {
    passes("svc_scim_mode $mode", sub { s/(svc_scim on;)/$1 svc_scim_mode $mode;/ });
    passes("svc_scim_mode $mode in http", sub { add("svc_scim_mode $mode;") });
    passes("svc_scim_mode $mode in server",
           sub { s/(server \{)/$1 svc_scim_mode $mode;/ });
}

passes('svc_scim_mode without svc_scim',
       sub { add('svc_scim_mode rfc;'); set(svc_scim => 'off') });


# --- conninfo ---------------------------------------------------------------

for my $row (
    [ '"host"',                       qr/conninfo/ ],
    [ '"no such thing=1"',            qr/conninfo|such/ ],
    [ '"hostt=/tmp dbname=svc"',      qr/hostt/ ],
    [ '"host=\'/tmp dbname=svc"',     qr/conninfo|quote/ ],
    [ '"host=no-such-host.invalid dbname=svc user=svc_app"',
      qr/no-such-host\.invalid/ ],
    [ '""',                           qr/empty|conninfo/ ])
{
    my ($value, $pattern) = @$row;

    fails("svc_postgres $value", sub { set(svc_postgres => $value) },
          qr/svc_postgres/, $pattern);
}

passes('a URI as conninfo',
       sub { set(svc_postgres => '"postgresql://svc_app@127.0.0.1:1/svc"') });
passes('several hosts',
       sub { set(svc_postgres => '"host=127.0.0.1,127.0.0.2 port=1,2'
                                 . ' dbname=svc user=svc_app'
                                 . ' target_session_attrs=read-write"') });

# libpq would do without a passfile that cannot be read.

{
    my $passfile = "$nginx->{dir}/passfile";
    my $with = sub {
        my ($name, $more) = @_;

        set(svc_postgres => "\"host=/tmp dbname=svc user=svc_app passfile=$name"
                            . ($more // '') . '"');
    };

    fails('no passfile', sub { $with->($passfile) },
          qr/passfile "\Q$passfile\E".*cannot be found/);

    write_file($passfile, "*:*:*:svc_app:x\n");
    chmod 0640, $passfile;
    fails('a passfile that others may read', sub { $with->($passfile) },
          qr/passfile.*libpq ignores it: chmod 600 \Q$passfile\E/);
    passes('and is not needed', sub { $with->($passfile, ' password=y') });

    chmod 0600, $passfile;
    passes('a passfile', sub { s/^user .*;\n//m; $with->($passfile) });
    fails('a passfile that is none', sub { $with->($nginx->{dir}) },
          qr/passfile.*regular file/);

    if ($> == 0) {
        my $foreign = sub {
            s/^user .*;\n//m;
            s/^/user www-data;\n/;
            $with->($passfile);
        };

        fails('a passfile that the workers cannot read', $foreign,
              qr/passfile.*workers: chown www-data: \Q$passfile\E/);
        chown scalar(getpwnam 'www-data'), -1, $passfile;
        passes('one that they can', $foreign);
    }
}

# A password in the conninfo is a secret.

$s->secret('pg-pa55-marker');

my ($status, $text) = try_configuration(sub {
    set(svc_postgres => '"host=/tmp password=pg-pa55-marker hostt=x"')
});
isnt($status, 0, 'a bad conninfo with a password');
unlike($text, qr/pg-pa55-marker/, 'the message does not show it');

($status, $text) = try_configuration(sub {
    set(svc_postgres => '"host=/tmp password=pg-pa55-marker unquoted\'"')
});
isnt($status, 0, 'another one');
unlike($text, qr/pg-pa55-marker/, 'the message does not show it either');


# --- pools, sizes and times -------------------------------------------------

for my $row (
    [ 'reads connections=2 depth=16', qr/reads/, qr/"read"/ ],
    [ 'read connections=0 depth=1',   qr/connections=0/, qr/number/ ],
    [ 'read connections=-1',          qr/connections=-1/, qr/number/ ],
    [ 'read connections=x',           qr/connections=x/, qr/number/ ],
    [ 'read connections=',            qr/connections=/, qr/number/ ],
    [ 'read connections=100000',      qr/connections=100000/, qr/number/ ],
    [ 'read depth=0',                 qr/depth=0/, qr/number/ ],
    [ 'read depth=1000000',           qr/depth=1000000/, qr/number/ ],
    [ 'read size=5',                  qr/size=5/, qr/connections=/ ],
    [ 'read 5',                       qr/"5"/, qr/connections=/ ],
    [ 'read',                         qr/svc_postgres_pool/ ],
    [ 'read connections=1 connections=2', qr/duplicate/ ])
{
    my ($value, @patterns) = @$row;

    fails("svc_postgres_pool $value",
          sub { s/^(\s+svc_postgres_pool) read .*;/$1 $value;/m }, @patterns);
}

passes('a pool with one argument',
       sub { s/^(\s+svc_postgres_pool) read .*;/$1 read depth=8;/m });
passes('no pool', sub { s/^\s+svc_postgres_pool .*;\n//mg });

for my $name (qw(svc_postgres_timeout svc_postgres_connect_timeout
                 svc_postgres_queue_timeout svc_redis_timeout))
{
    for my $value ('x', '-1s', '""') {
        fails("$name $value", sub { set($name => $value) },
              qr/$name|invalid/);
    }

    for my $value ('0', '61m', '30d') {
        fails("$name $value", sub { set($name => $value) },
              qr/"$name" directive must be a time from 1ms to 1h/);
    }

    passes("$name 1h", sub { set($name => '1h') });
}

for my $row ([ 'port=99999', qr/port/ ], [ 'sslmode=bogus', qr/sslmode/ ],
             [ 'target_session_attrs=x', qr/target_session_attrs/ ],
             [ 'port=1,2', qr/port|host/ ])
{
    fails("svc_postgres $row->[0]",
          sub { s/^(\s+svc_postgres "[^"]*)"/$1 $row->[0]"/m },
          qr/svc_postgres/, $row->[1]);
}

for my $where ('/other', '= /scim/v2', '/scim/v1') {
    fails("svc_scim in location $where",
          sub { s{location /scim/v2 }{location $where } },
          qr{"svc_scim".*for /scim/v2.*put it into location /scim/v2});
}

for my $where ('/', '/scim', '/scim/v2/', '/scim/v2/Users', '= /scim/v2/Users',
               '~ /Users$', '^~ /scim/v2')
{
    passes("svc_scim in location $where",
           sub { s{location /scim/v2 }{location $where } });
}

fails('svc_postgres_queue x', sub { set(svc_postgres_queue => 'x') },
      qr/svc_postgres_queue|invalid/);

# --- access policies --------------------------------------------------------

my $zones = $s->{dir} . '/zones';
mkdir $zones or die "$zones: $!\n";

fails('svc_zoneinfo of no directory',
      sub { add("svc_zoneinfo $zones/none;") },
      qr{"$zones/none" cannot be read}, qr/package tzdata/, qr/svc_zoneinfo/);
fails('svc_zoneinfo of a directory without zones',
      sub { add("svc_zoneinfo $zones;") },
      qr/no time zone "UTC" in "$zones"/, qr/package tzdata/, qr/svc_zoneinfo/);
fails('svc_zoneinfo of a file', sub { add("svc_zoneinfo $keys;") },
      qr/"$keys" cannot be read/, qr/package tzdata/);
fails('svc_zoneinfo twice',
      sub { add("svc_zoneinfo /usr/share/zoneinfo;\n"
                . "svc_zoneinfo /usr/share/zoneinfo;") },
      qr/"svc_zoneinfo" directive is duplicate/);
fails('svc_zoneinfo ""', sub { add('svc_zoneinfo "";') },
      qr/"svc_zoneinfo" directive is empty/);
fails('svc_zoneinfo in a location',
      sub { s/(svc_scim on;)/$1 svc_zoneinfo $zones;/ },
      qr/"svc_zoneinfo" directive is not allowed here/);
passes('svc_zoneinfo that no surface needs',
       sub { add("svc_zoneinfo $zones/none;"); set(svc_scim => 'off');
             set(svc_admin => 'off') });
passes('svc_zoneinfo with a slash at its end',
       sub { add('svc_zoneinfo /usr/share/zoneinfo/;') });

symlink '/usr/share/zoneinfo/UTC', "$zones/UTC" or die "symlink: $!\n";
passes('svc_zoneinfo of one zone, a link',
       sub { add("svc_zoneinfo $zones;") });

my $map = 'map $remote_addr $office { ~^10\. FR; default ""; }';

fails('svc_country FR', sub { add('svc_country FR;') },
      qr/"svc_country" takes a variable such as \$geoip2/, qr/not "FR"/);
fails('svc_country ""', sub { add('svc_country "";') },
      qr/"svc_country" takes a variable/);
fails('svc_country of no such variable', sub { add('svc_country $nothing;') },
      qr/unknown "nothing" variable/);
fails('svc_country twice',
      sub { add("$map\nsvc_country \$office;\nsvc_country \$office;") },
      qr/"svc_country" directive is duplicate/);
passes('svc_country of a map', sub { add("$map\nsvc_country \$office;") });
passes('svc_country of a location',
       sub { add($map); s/(svc_admin on;)/$1 svc_country \$office;/ });

my $two = qr/"svc_coordinates" takes two variables such as \$geoip2_data_lat/;

fails('svc_coordinates with one', sub { add('svc_coordinates $arg_x;') },
      qr/invalid number of arguments in "svc_coordinates"/);
fails('svc_coordinates of a place',
      sub { add('svc_coordinates 48.9 $arg_x;') }, $two, qr/not "48\.9"/);
fails('svc_coordinates of half a place',
      sub { add('svc_coordinates $arg_x 2.3;') }, $two, qr/not "2\.3"/);
fails('svc_coordinates of no such variable',
      sub { add('svc_coordinates $arg_x $nothing;') },
      qr/unknown "nothing" variable/);
fails('svc_coordinates twice',
      sub { add(join "\n", ('svc_coordinates $arg_x $arg_y;') x 2) },
      qr/"svc_coordinates" directive is duplicate/);
passes('svc_coordinates', sub { add('svc_coordinates $arg_x $arg_y;') });
passes('svc_coordinates of a location',
       sub { s/(svc_admin on;)/$1 svc_coordinates \$arg_x \$arg_y;/ });


fails('svc_body_timeout x',
      sub { s/(svc_scim on;)/$1 svc_body_timeout x;/ },
      qr/svc_body_timeout|invalid/);
passes('svc_body_timeout 5s',
       sub { s/(svc_scim on;)/$1 svc_body_timeout 5s;/ });


for my $size ('512k', '0', 'x', '-1', '""') {
    fails("svc_cache_size $size", sub { add("svc_cache_size $size;") },
          qr/svc_cache_size/);
}

passes('svc_cache_size 1m', sub { add("svc_cache_size 1m;") });


# --- the hashing of passwords -----------------------------------------------

for my $row (
    [ memory => 'a size from 7m to 1g', '7167k', '1025m', '2g', '0', '-19m',
      '19x', '', '99999999999999999999' ],
    [ iterations => 'a number from 1 to 16', 0, 17, -1, 'two', '', '2m' ],
    [ concurrency => 'a number from 1 to 64', 0, 65, -1, 'x', '' ],
    [ queue => 'a number from 0 to 65536', 65537, -1, 'x', '' ],
    [ timeout => 'a time from 1ms to 1h', 0, '3601s', '2h', '-1s', 'x', '' ],
    [ floor => 'a time from 0 to 10s', '10001ms', '250', '-1ms', 'x', '' ])
{
    my ($name, $range, @values) = @$row;

    for my $value (@values) {
        fails("svc_password_hash $name=$value",
              sub { add("svc_password_hash $name=$value;") },
              qr/"\Q$name=$value\E" of "svc_password_hash" must be $range/);
    }

    my $value = $name eq 'memory' ? '19m' : $name =~ /timeout|floor/ ? '1s' : 2;

    fails("svc_password_hash with $name twice",
          sub { add("svc_password_hash $name=$value $name=$value;") },
          qr/"svc_password_hash" has "$name=" twice/);
}

for my $parameter ('argon2id', 'memory', 'parallelism=1', 'Memory=19m') {
    fails("svc_password_hash $parameter",
          sub { add("svc_password_hash $parameter;") },
          qr/unknown parameter "$parameter" of "svc_password_hash": it takes/,
          qr/memory=, iterations=, concurrency=, queue=, timeout= and floor=/);
}

fails('svc_password_hash of nothing', sub { add('svc_password_hash;') },
      qr/invalid number of arguments in "svc_password_hash"/);
fails('svc_password_hash twice',
      sub { add('svc_password_hash queue=1; svc_password_hash queue=2;') },
      qr/"svc_password_hash" directive is duplicate/);
fails('svc_password_hash of a server',
      sub { s/(server \{)/$1 svc_password_hash queue=1;/ },
      qr/"svc_password_hash" directive is not allowed here/);


# Checks what nginx -t says of a cost, and of the memory that it takes.

sub password_hash {
    my ($parameters, $workers, $weak, $memory) = @_;

    my ($status, $text) = try_configuration(sub {
        s/^worker_processes .*;\n//m;
        s/^/worker_processes $workers;\n/;
        add("svc_password_hash $parameters;");
    });

    is($status, 0, "svc_password_hash $parameters") or diag($text);

    my @weak = $text =~ /\[warn\].*svc_password_hash.* is weaker than OWASP/g;

    is(scalar @weak, $weak, $weak ? 'is weak' : 'is not weak') or diag($text);
    like($text, qr/^nginx: "svc_password_hash" lets .* take up to $memory MiB:/m,
         'and how much memory it takes');
}

password_hash('memory=19m iterations=2 concurrency=1 queue=64 timeout=1s'
              . ' floor=0', 1, 0, 19);
password_hash('memory=1g iterations=16 concurrency=64 queue=65536 timeout=1h'
              . ' floor=10s', 2, 0, 131072);
password_hash('queue=0', 4, 0, 76);
password_hash('memory=19456k concurrency=3', 4, 0, 228);
password_hash('memory=46m iterations=1 floor=250ms', 1, 0, 46);
password_hash('memory=12m iterations=3', 1, 0, 12);
password_hash('memory=9m iterations=4', 1, 0, 9);
password_hash('memory=7m iterations=5', 1, 0, 7);
password_hash('memory=47103k iterations=1', 1, 1, 46);
password_hash('memory=19455k', 1, 1, 19);
password_hash('memory=11m iterations=3', 1, 1, 11);
password_hash('memory=9215k iterations=4', 1, 1, 9);
password_hash('memory=7m iterations=4', 1, 1, 7);


# --- Redis ------------------------------------------------------------------

for my $row (
    [ 'unix:',                     qr/svc_redis|unix/ ],
    [ '127.0.0.1:99999',           qr/port/ ],
    [ '127.0.0.1:x',               qr/port/ ],
    [ '""',                        qr/svc_redis|empty|host/ ],
    [ 'no-such-host.invalid:6379', qr/no-such-host\.invalid/ ],
    [ 'unix:/' . 'x' x 200,        qr/long/ ])
{
    my ($value, $pattern) = @$row;

    fails('svc_redis ' . substr($value, 0, 40),
          sub { set(svc_redis => $value) }, qr/svc_redis/, $pattern);
}

for my $row (
    [ '127.0.0.1 127.0.0.2',        qr/sentinel=name/ ],
    [ 'sentinel=mymaster',          qr/addresses of sentinels/ ],
    [ 'sentinel= 127.0.0.1',        qr/name of a master/ ],
    [ '"sentinel=my master" 127.0.0.1', qr/name of a master/ ],
    [ 'sentinel=' . 'x' x 256 . ' 127.0.0.1', qr/name of a master/ ],
    [ 'sentinel=mymaster ""',       qr/host/ ],
    [ 'sentinel=mymaster 127.0.0.1:0', qr/port/ ],
    [ 'sentinel=mymaster no-such-host.invalid', qr/no-such-host\.invalid/ ],
    [ 'sentinel=mymaster 127.0.0.1 127.0.0.1:26379', qr/:26379 twice/ ],
    [ 'sentinel=mymaster ' . join(' ', map { "127.0.0.$_" } 1 .. 17),
      qr/too many/ ])
{
    my ($value, $pattern) = @$row;

    fails('svc_redis ' . substr($value, 0, 50),
          sub { set(svc_redis => $value) }, qr/svc_redis/, $pattern);
}

for my $value ('sentinel=mymaster 127.0.0.1',
               'sentinel=my-master.1_a 127.0.0.1:26379 127.0.0.1:26380 [::1]',
               'sentinel=m ' . join(' ', map { "127.0.0.$_" } 1 .. 16))
{
    passes('svc_redis ' . substr($value, 0, 60),
           sub { set(svc_redis => $value) });
}

passes('svc_redis with an address and a port',
       sub { set(svc_redis => '127.0.0.1:6379') });
passes('svc_redis with an IPv6 address',
       sub { set(svc_redis => '[::1]:6379') });
passes('svc_redis without a port', sub { set(svc_redis => '127.0.0.1') });
passes('svc_redis with an IPv6 address, and no port',
       sub { set(svc_redis => '[::1]') });


# --- the base URL -----------------------------------------------------------

for my $url ('login.acme.test', 'ftp://login.acme.test', 'http://', '""',
             'https:///x', 'https://a.test/x?y', 'https://a.test/#f',
             '"https://a b"', '/scim', 'https://a.test/x|y', '"https://a.test/{x}"',
             'https://a.test/x^', 'https://a.test/`x', 'https://a%2etest', 'https://a.test/%',
             'https://a.test/%7', 'https://a.test/%zz', 'https://a.test/%00', 'https://a.test/%7f')
{
    fails("svc_base_url $url", sub { set(svc_base_url => $url) },
          qr/svc_base_url/, qr{https?://});
}

passes("svc_base_url $_", do { my $url = $_;
                               sub { set(svc_base_url => $url) } })
    for 'https://login.acme.test', 'https://login.acme.test/',
        'http://127.0.0.1:8080', 'https://login.acme.test/idp',
        'https://[::1]:8443', 'https://login.acme.test/%7Eidp';


# --- the key file -----------------------------------------------------------

my $hex = unpack 'H*', SvcTest::random_bytes(32);
my $other = unpack 'H*', SvcTest::random_bytes(32);
my $file = "$s->{dir}/other.keys";

$s->secret($hex, $other);

sub key_file {
    my ($content) = @_;

    return sub {
        write_file($file, $content);
        set(svc_key_file => $file);
    };
}

fails('a key file that is not there',
      sub { set(svc_key_file => "$s->{dir}/none.keys") },
      qr/none\.keys/, qr/openssl rand/);
{
    my $fifo = "$s->{dir}/fifo.keys";
    mkfifo($fifo, 0600) or die $!;
    fails('a key file that is a FIFO', sub { set(svc_key_file => $fifo) },
          qr/not a regular file/);

    chmod 0644, $keys;
    $nginx->write_configuration($good);
    like(($nginx->test_configuration)[1],
         qr/\[warn\] .*key file .*chmod 600/, 'a key file for all to read');
    chmod 0600, $keys;
}

fails('a key file that is a folder',
      sub { set(svc_key_file => $s->{dir}) }, qr/key file|svc_key_file/);
fails('svc_key_file without a name', sub { set(svc_key_file => '""') },
      qr/key file/);

for my $row (
    [ 'empty',                    '', 'there is no key' ],
    [ 'white space',              "\n\n", 'there is no key' ],
    [ 'of 16 bytes',              '1:' . substr($hex, 0, 32) . "\n",
      'line 1: .*64 hex' ],
    [ 'of one digit less',        '1:' . substr($hex, 0, 63) . "\n",
      'line 1: .*64 hex' ],
    [ 'of one digit more',        "1:${hex}0\n", 'line 1: .*64 hex' ],
    [ 'not hexadecimal',          '1:' . 'g' x 64 . "\n",
      'line 1: .*64 hex' ],
    [ 'without an id',            "$hex\n", 'line 1: .*":"' ],
    [ 'with an empty id',         ":$hex\n", 'line 1: .*id must be' ],
    [ 'with two colons',          "1:2:$hex\n", 'line 1: .*64 hex' ],
    [ 'with the same id twice',   "1:$hex\n1:$other\n",
      'line 2: .*id is used' ],
    [ 'whose second line is bad', "1:$hex\n2:xyz\n", 'line 2: .*64 hex' ],
    [ 'that is binary',           "\0\xff" x 100, 'line 1: ' ],
    [ 'of 2 MB',                  "1:$hex\n" . 'x' x 2_000_000, 'line 2: ' ])
{
    my ($name, $content, $pattern) = @$row;

    fails("a key file $name", key_file($content),
          qr/\Q$file\E/, qr/$pattern/);
}

for my $row ([ 'one key', "1:$hex\n" ], [ 'two keys', "2:$hex\n1:$other\n" ],
             [ 'no newline at the end', "1:$hex" ],
             [ 'upper case', "1:\U$hex\E\n" ],
             [ 'an id that is a word', "2026-key:$hex\n" ])
{
    passes("a key file with $row->[0]", key_file($row->[1]));
}


# --- duplicates -------------------------------------------------------------

for my $name (qw(svc_postgres svc_postgres_timeout svc_postgres_connect_timeout
                 svc_postgres_queue svc_postgres_queue_timeout svc_redis
                 svc_redis_timeout svc_base_url svc_key_file svc_scim))
{
    fails("$name twice", sub { s/^(\s+$name .*;\n)/$1$1/m },
          qr/"$name" directive is duplicate|duplicate.*$name/);
}

fails('a pool twice', sub { s/^(\s+svc_postgres_pool read .*;\n)/$1$1/m },
      qr/svc_postgres_pool.*duplicate|duplicate.*pool/);
fails('svc_health twice', sub { s/svc_health;/svc_health; svc_health;/ },
      qr/svc_health/);
fails('svc_health and svc_scim in one location',
      sub { s/svc_health;/svc_health; svc_scim on;/ },
      qr/svc_(?:scim|health)/);
fails('svc_scim with an argument too many',
      sub { set(svc_scim => 'on on') }, qr/number of arguments.*svc_scim/);
fails('svc_health with an argument',
      sub { s/svc_health;/svc_health on;/ }, qr/svc_health/, qr/"writes"/);
fails('svc_health with two arguments',
      sub { s/svc_health;/svc_health writes reads;/ },
      qr/number of arguments.*svc_health/);
passes('svc_health writes', sub { s/svc_health;/svc_health writes;/ });


# --- a mistake on reload leaves the service as it was -----------------------

# None of this needs PostgreSQL.

$nginx->write_configuration($good);
$s->start;

my @workers = $s->workers;
my $before = () = $nginx->log_lines;

local $_ = $good;
set(svc_base_url => undef);
$nginx->write_configuration($_);
SvcTest::Process::signal_pid('HUP', $nginx->pid);

ok((SvcTest::Process::wait_for {
        my @new = $nginx->log_lines;
        splice @new, 0, $before;
        grep { /\[emerg\].*svc_base_url/ } @new
    }), 'a reload with a mistake is refused with its message');
is("@{[ $s->workers ]}", "@workers", 'and the workers go on');
is($s->http(GET => '/alive')->status, 200, 'and answer');

# The messages of nginx -t are in the same log.

unlink $nginx->{log};
SvcTest::Process::signal_pid('USR1', $nginx->pid);
ok((SvcTest::Process::wait_for { -e $nginx->{log} }), 'a new log');

$s->done;
done_testing();
