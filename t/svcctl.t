#!/usr/bin/perl

# svcctl: migrations, tenants and tokens without a running nginx.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Test::More;

use SvcTest;
use SvcTest::Process qw(wait_for);

my $s = SvcTest->new(redis => 0);
$s->start;

my $ctl = $s->root . '/conf/svcctl';
my $pg = $s->pg->conninfo('postgres');


# Runs svcctl; its output, both streams, and its exit status.

sub svcctl {
    my ($base, @args) = @_;

    open my $out, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', $ctl, '--pg',
         $base, @args or die "sh: $!";
    my $text = do { local $/; <$out> };
    close $out;

    return ($text // '', $? >> 8);
}


sub fails {
    my ($args, $message, $name) = @_;
    my ($text, $rc) = svcctl($pg, @$args);

    isnt($rc, 0, "$name fails");
    like($text, $message, "$name says why");
    unlike($text, qr/\b(?:svc|scim)_[\w-]{43}/, "$name shows no token");
}


# --- migrations --------------------------------------------------------------

my ($text, $rc) = svcctl($pg, 'migrate');
is($rc, 0, 'migrate again');
is($text, '', 'and nothing is done');

$s->sql('CREATE DATABASE fresh');
(my $fresh = $pg) =~ s/dbname=\S+/dbname=fresh/;

my @pids = map {
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>', "$s->{dir}/migrate.$_";
        open STDERR, '>&', \*STDOUT;
        exec $ctl, '--pg', $fresh, 'migrate' or exit 127;
    }
    $pid;
} 1 .. 4;

for my $pid (@pids) {
    waitpid $pid, 0;
    is($?, 0, 'one of four migrations at once');
}

my $applied = join '', map {
    open my $f, '<', "$s->{dir}/migrate.$_" or die $!;
    <$f>;
} 1 .. 4;

my @files = glob $s->root . '/sql/[0-9]*.sql';
my ($newest) = $files[-1] =~ m{/0*(\d+)_};
is(scalar(() = $applied =~ /^applied /mg), scalar @files,
   'each migration was applied once');

($text, $rc) = svcctl($fresh, 'status');
like($text, qr/^schema version $newest$/m, 'the version');

is(system('psql', '-Xqd', $fresh, '-c',
          "INSERT INTO svc.schema_migration VALUES (9999, 'later')"), 0,
   'a migration that is newer than the files');
($text, $rc) = svcctl($fresh, 'migrate');
isnt($rc, 0, 'is refused');
like($text, qr/9999.*newer/s, 'with a reason');

$s->sql('CREATE DATABASE nothing');
(my $nothing = $pg) =~ s/dbname=\S+/dbname=nothing/;
($text, $rc) = svcctl($nothing, 'status');
isnt($rc, 0, 'status without a schema fails');
like($text, qr/migrate/, 'and says what to do');

($text, $rc) = svcctl("host=$s->{dir}/nowhere dbname=svc", 'status');
isnt($rc, 0, 'no connection');
like($text, qr/nowhere/, 'which is said');

# from every version, with data in it, to the newest

my $known_tenants = "SELECT count(*) FROM pg_stats WHERE schemaname = 'svc'"
                    . " AND attname = 'tenant_id'";

for my $version (1 .. $#files) {
    my $dir = "$s->{dir}/sql$version";

    mkdir $dir or die $!;
    symlink $_, "$dir/" . s{.*/}{}r or die $! for @files[0 .. $version - 1];

    $s->sql("CREATE DATABASE old$version");
    (my $old = $pg) =~ s/dbname=\S+/dbname=old$version/;

    ($text, $rc) = svcctl($old, 'migrate', '--sql', $dir);
    is($rc, 0, "version $version") or diag($text);
    ($text, $rc) = svcctl($old, qw(tenant create --slug kept --name Kept
                                   --owner ada@kept.test));
    is($rc, 0, 'with a tenant') or diag($text);
    $s->secret($text =~ /\b((?:svc|scim)_[\w-]{43})/g);

    # a role that only its users' rows know, before there were roles

    my $user = 'INSERT INTO svc.user_account (tenant_id, id, user_name, role)'
               . " SELECT id, gen_random_uuid(), i || '\@kept.test',"
               . " 'auditor' FROM svc.tenant, generate_series(1, 2) i";
    my $known = $version >= 7;

    qx(psql -XAtqd '$old' -c "$user") if !$known;

    my $rows = "SELECT t.slug, u.user_name, c.kind, c.permissions"
               . ' FROM svc.tenant t JOIN svc.user_account u ON u.tenant_id ='
               . ' t.id JOIN svc.credential c ON c.tenant_id = t.id ORDER BY 3, 2;'
               . ' SELECT id, created_at, action, actor_type, target_type,'
               . ' target_id, details FROM svc.audit_event ORDER BY id';
    my $before = qx(psql -XAtd '$old' -c '$rows');

    qx(psql -XAtqd '$old' -c ANALYZE);

    ($text, $rc) = svcctl($old, 'migrate');
    is($rc, 0, 'is brought up to date') or diag($text);
    is(qx(psql -XAtd '$old' -c '$rows'), $before, 'and nothing is lost');
    like($before, qr/^kept\|ada\@kept\.test\|api/m, 'of what there was');
    is(qx(psql -XAtd '$old' -c 'SELECT count(*) FROM svc.governance'), "1\n",
       'the tenant has its governance');
    is(qx(psql -XAtd '$old' -c 'SELECT key, name, permissions, member_count FROM svc.role'),
       $known ? '' : "auditor|auditor|{}|2\n", 'and the role that users have');

    is(qx(psql -XAtd '$old' -c "$known_tenants"), "0\n",
       'the planner knows no tenant any more');

    ($text) = svcctl($old, 'status');
    like($text, qr/^schema version $newest$/m, 'the version');
}

# a migration that fails leaves nothing behind

mkdir "$s->{dir}/sql" or die $!;
open my $bad, '>', "$s->{dir}/sql/0001_bad.sql" or die $!;
print $bad "CREATE TABLE svc.half (i int);\nSELECT 1/0;\n";
close $bad;
($text, $rc) = svcctl($nothing, 'migrate', '--sql', "$s->{dir}/sql");
isnt($rc, 0, 'a migration with an error fails');
like($text, qr/division by zero/, 'and says which');
is(qx(psql -XAtd '$nothing' -c "SELECT to_regclass('svc.half') IS NULL"),
   "t\n", 'its transaction is rolled back');


# --- tenants -----------------------------------------------------------------

my $name = q{O'Hara; \q $(id) `id` "x" :name %s};
($text, $rc) = svcctl($pg, 'tenant', 'create', '--slug', 'globex', '--name',
                      $name, '--owner', "o'hara\@globex.test");
is($rc, 0, 'tenant create');

my ($api) = $text =~ /(svc_[\w-]{43})\b/;
my ($scim) = $text =~ /(scim_[\w-]{43})\b/;
ok($api && $scim, 'shows both tokens');

is($s->sql("SELECT name FROM svc.tenant WHERE slug = 'globex'"), $name,
   'the name is stored as it is');
is($s->sql("SELECT user_name || ' ' || role || ' ' || email_verified"
           . " FROM svc.user_account JOIN svc.tenant t ON t.id = tenant_id"
           . " WHERE slug = 'globex'"),
   "o'hara\@globex.test owner true", 'the owner');

for ([ $api, 'api', 7, 8 ], [ $scim, 'scim', 1, 9 ]) {
    my ($token, $kind, $grants, $shown) = @$_;

    is($s->sql("SELECT kind || ' ' || cardinality(permissions) || ' ' || prefix"
               . " FROM svc.credential WHERE encode(token_hash, 'hex') = '"
               . sha256_hex($token) . "'"),
       "$kind $grants " . substr($token, 0, $shown), "the $kind token's digest");
}

is($s->http(GET => '/scim/v2/Users', [ Authorization => "Bearer $scim" ])
   ->json->{totalResults}, 1, 'the SCIM token works');

is($s->sql("SELECT string_agg(action || ' ' || actor_type, ', ' ORDER BY e.id)"
           . " FROM svc.audit_event e JOIN svc.tenant t ON t.id = tenant_id"
           . " WHERE slug = 'globex'"),
   'user.created system, api_token.created system, scim.token_created system',
   'audit events');

fails([ qw(tenant create --slug globex --name x --owner a@b) ],
      qr/taken/, 'a slug that is taken');
fails([ qw(tenant create --slug -x- --name x --owner a@b) ],
      qr/slug is/, 'a slug that is none');
fails([ qw(tenant create --slug a --name), 'x' x 121, qw(--owner a@b) ],
      qr/120/, 'a name that is too long');
fails([ qw(tenant create --slug a --name x --owner nobody) ],
      qr/e-mail/, 'an owner that is no address');
fails([ qw(tenant create --slug a --name x) ], qr/--owner/, 'no owner');
fails([ qw(tenant) ], qr/unknown command/, 'half a command');
fails([ qw(--wrong) ], qr/unknown option/, 'an unknown option');
fails([ qw(tenant create --slug) ], qr/needs a value/, 'an option alone');
is($s->sql("SELECT count(*) FROM svc.tenant WHERE slug = 'a'"), 0,
   'nothing of it was stored');

($text, $rc) = svcctl($pg, qw(tenant create --slug env --name e --owner a@b
                              --env));
like($text, qr/^SVC_SCIM_TOKEN=scim_[\w-]{43}$/m, '--env');

($text, $rc) = svcctl($pg, qw(tenant list));
like($text, qr/^globex /m, 'tenant list');


# --- tokens ------------------------------------------------------------------

($text, $rc) = svcctl($pg, qw(scim-token create --tenant globex --name), "it's");
is($rc, 0, 'one more SCIM token');
my ($second) = $text =~ /(scim_[\w-]{43})\b/;
my ($id) = $text =~ /^id +(\S+)/m;

sub status {
    return $s->http(GET => '/scim/v2/ServiceProviderConfig',
                    [ Authorization => "Bearer $_[0]" ])->status;
}

is(status($second), 200, 'it works');
is(status($scim), 200, 'beside the first one');

($text, $rc) = svcctl($pg, qw(token list --tenant globex));
like($text, qr/^$id .*it's.*active/m, 'token list');
unlike($text, qr/\b(?:svc|scim)_[\w-]{10}/, 'shows no token');

for my $time (qw(first second)) {
    ($text, $rc) = svcctl($pg, qw(token revoke --tenant globex --id), $id);
    is($rc, 0, "token revoke, the $time time");
}

is(status($second), 401, 'it counts from the next request');
is(status($scim), 200, 'for that one alone');

fails([ qw(token revoke --tenant env --id), $id ], qr/no token/,
      'revoke of another tenant\'s token');
fails([ qw(token revoke --tenant globex --id), q{x' OR true --} ],
      qr/no token/, 'revoke of nothing');
fails([ qw(scim-token create --tenant nobody --name x) ],
      qr/no tenant "nobody"/, 'an unknown tenant');
fails([ qw(token create --tenant globex --name x --permissions users:fly) ],
      qr/unknown permission "users:fly"/, 'an unknown permission');

($text, $rc) = svcctl($pg, qw(token create --tenant globex --name ci),
                      '--permissions', 'audit:view,tenant:manage',
                      '--expires', '2020-01-01T00:00:00Z');
is($rc, 0, 'token create');
($text, $rc) = svcctl($pg, qw(token list --tenant globex));
like($text, qr/ ci  expired  audit:view,tenant:manage/, 'with an expiry');

($text, $rc) = svcctl($pg, '--help');
is($rc, 0, '--help');
like($text, qr/^usage: svcctl/, 'shows how');

$s->done;
done_testing();
