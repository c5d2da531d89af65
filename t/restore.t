#!/usr/bin/perl

# Backups and their use: the documents' commands restore one into a new cluster,
# with everything of users, applications and tenants, and bring the same cluster
# back to the state between two moments.

use strict;
use warnings;

use File::Path qw(make_path);
use File::Temp ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD);
use SvcTest::Documents qw(blocks);
use SvcTest::Factor qw(totp enrolled);
use SvcTest::OAuth qw(application form);
use SvcTest::Postgres;
use SvcTest::Process qw(on_exit run run_user slurp wait_for write_file);
use SvcTest::Receiver;
use SvcTest::Sse;

my $archive = File::Temp->newdir('/tmp/svcwal.XXXXXX');
chown((getpwnam run_user())[2, 3], $archive) if $> == 0;

my $s = SvcTest->new(
    locations => "        location /oauth {\n            svc_oauth on;\n        }\n",
    pg_conf => settings('archive_mode') . "wal_level = replica\n");
my $receiver = SvcTest::Receiver->new($s, svc_sign_in => 'on',
                                      svc_webhook_outbox => '700ms');

$s->start;
$s->secret($PASSWORD);

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $backups = "$s->{dir}/backups";
my $keys = slurp($s->{key_file});


# Returns the lines of postgresql.conf in the documents, with the folders of
# this test.

sub settings {
    my ($first) = @_;
    my ($text) = grep { /^\Q$first\E / } chapter('To a point in time');

    return $text =~ s{/var/backups/wal}{$archive}gr;
}


sub chapter {
    return map { s/^    //mgr } blocks('conf/backup.md', @_);
}


# Runs a block of commands as PostgreSQL's user.  Returns its output, or "status
# N: " and the output.

sub documented {
    my ($heading, $with, %replace) = @_;
    my ($text) = grep { /\Q$with\E/ } chapter($heading);

    $text or die "$heading: no \"$with\"\n";
    $text =~ s{/var/backups/svc}{$backups}g;
    $text =~ s{/etc/nginx/svc\.keys}{$s->{key_file}}g;
    $text =~ s{127\.0\.0\.1:6379}{$s->redis->{socket}}ge;
    $text =~ s{\Q$_\E}{$replace{$_}}g for keys %replace;

    my ($status, $said) = run([ 'bash', '-c', <<'SH' . $text ], timeout => 120,
set -e
runuser() { shift 3; "$@"; }
install() { mkdir -p "${@: -1}"; }
svcctl() { "$SVC_ROOT/conf/svcctl" "$@"; }
SH
        env => { SVC_ROOT => $s->root, PGHOST => $s->pg->{dir}, PGUSER => 'postgres' });

    return $status == 0 ? $said : 'status ' . ($status >> 8) . ": $said";
}

sub backup { return documented('Making a backup', 'backup --out', @_) }
sub rehearsed { return documented('Making a backup', '--rehearse', @_) }
sub restored { return documented('Restoring a backup', 'restore --from', @_) }

sub databases {
    return join ' ', map { $_->[0] } $s->sql(
        'SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1');
}

sub browser { return SvcTest::Browser->new($s, tenant => 'acme') }


# --- what there is ------------------------------------------------------------------

for my $name (qw(ada bob)) {
    $acme->create(userName => "$name\@acme.test");

    my ($token) = $s->svcctl(qw(user reset-link --tenant acme --email), "$name\@acme.test")
                  =~ /^token  ([\w-]{43})$/m;

    is(browser()->post('/v1/auth/password/reset', { tenant => 'acme', token => $token,
                                                    password => $PASSWORD })->status, 204,
       "$name has a password");
}

$globex->create(userName => 'eve@globex.test');

my $session = browser();

is($session->login('ada@acme.test')->status, 200, 'Ada signs in');
is(browser()->login('bob@acme.test')->status, 200, 'so does Bob');

my $factor = enrolled($session);
my $client = application($acme, name => 'Robot', scopes => [ 'read' ]);
my $jwt = form($s, token => { grant_type => 'client_credentials' }, client => $client)
          ->json->{access_token};
my $hook = $receiver->hook($acme, '/ok');
my $stream = SvcTest::Sse->new($s, $acme->token_for('audit:view'),
                               '/v1/admin/audit/stream');

$stream->open or die 'no stream';
$acme->create(userName => 'seen@acme.test');
ok($stream->wait_for(1), 'a stream');

my $last = $stream->last_id;

is(scalar $receiver->wait($hook, 1), 1, 'a webhook');
$stream->close;

# an event that no webhook and no stream has got yet

$s->redis->stop;
my $late = $acme->create(userName => 'late@acme.test');

my $users = $s->sql('SELECT count(*) FROM svc.user_account');


# --- the backup ---------------------------------------------------------------------

write_file($s->{key_file}, '2:' . 'ab' x 32 . "\n");
like(backup(), qr/^status 1: .*lacks the key 1, by which rows of \w+ are sealed/,
     'no backup with keys that are not those');
is_deeply([ glob "$backups/today/*" ], [], 'nothing that looks like one');

write_file($s->{key_file}, $keys);
like(backup(), qr{^backup in \Q$backups\E/today:}m, 'a backup');
like(backup(), qr/^status 1: .*today is not empty/, 'which is not written over');

my $manifest = slurp("$backups/today/MANIFEST");
my ($newest) = (glob $s->root . '/sql/[0-9]*.sql')[-1] =~ m{/0*(\d+)_};

like($manifest, qr/^schema $newest$/m, 'its schema');
like($manifest, qr/^rows user_account $users$/m, 'its rows');
like($manifest, qr/^key 1 $_$/m, "the key of $_")
    for qw(password factor oauth_key webhook_endpoint);
unlike($manifest . join('', map { slurp($_) } glob "$backups/today/dump/*"),
       qr/\Q@{[ substr $keys, 2, 64 ]}\E/, 'no key is in it');
is((stat "$backups/today/dump")[2] & 077, 0, 'nobody else reads it');

my $before = databases();

like(rehearsed(), qr/^rehearsed: /m, 'it is rehearsed');
like(slurp("$backups/today/backup.ok"), qr/^\d{4}-\d\d-\d\dT[\d:]+Z$/, 'which is noted');
is(databases(), $before, 'nothing of that is left');
unlink "$backups/today/backup.ok";

# by an owner who is not a superuser

{
    $s->sql('CREATE ROLE own LOGIN CREATEDB CREATEROLE');

    my ($out, $status, $err) = $s->svcctl('--pg', $s->pg->conninfo('own'), 'restore',
                                          '--from', "$backups/today", '--keys',
                                          $s->{key_file}, '--rehearse');

    is($status, 0, 'an owner of that alone restores it');
    is($err, '', 'without a warning');
    like($out, qr/^rehearsed: /m, 'and says so');
    is(databases(), $before, 'nothing of that is left');
    unlink "$backups/today/backup.ok";
}

# backups that must not be restored

sub refused {
    my ($name, $why) = @_;

    like(rehearsed(), qr/^status 1: (?s:.*)$why/, "$name: refused");
    ok(!-e "$backups/today/backup.ok", "$name: and not noted");
    is(databases(), $before, "$name: nothing is left");
}

write_file($s->{key_file}, '2:' . 'ab' x 32 . "\n");
refused('other keys', qr/lacks the key 1/);
write_file($s->{key_file}, '1:' . 'ab' x 32 . "\n");
refused('another key of that name',
        qr/a row of \w+ cannot be opened: the key 1 of the file is not the one/);
write_file($s->{key_file}, $keys);

my ($file) = glob "$backups/today/dump/*.dat.gz";
my $data = slurp($file);

write_file($file, "$data ");
refused('a damaged file', qr/today has files that are damaged/);
unlink $file;
refused('a file that is missing', qr/has other files than its MANIFEST says/);
write_file($file, $data);

for my $change ([ 'other rows', qr/^(rows user_account ).*/m, '7', qr/other numbers of rows/ ],
                [ 'a later schema', qr/^(schema ).*/m, '9999', qr/is of version 9999/ ])
{
    my ($name, $from, $to, $why) = @$change;

    write_file("$backups/today/MANIFEST", $manifest =~ s/$from/$1$to/r);
    refused($name, $why);
}

unlink "$backups/today/MANIFEST";
refused('no manifest', qr/has no MANIFEST/);
write_file("$backups/today/MANIFEST", $manifest);

like(documented('Restoring a backup', 'restore --from', 'runuser -u postgres -- createdb' => ':'),
     qr/^status 1: .*has a schema "svc": restore into a new one/m, 'what is there stays');


# --- a cluster that was just made ---------------------------------------------------

$s->nginx->quit;
$s->nginx->stop;

my $first = $s->pg;

delete $s->{client};
$s->{pg} = fresh("$s->{dir}/second");
point_at($s->pg);

like(restored(), qr/^made\ the\ role\ svc_app\n
                    set\ \d+\ rights\ of\ svc_app,\ and\ of\ everybody\n
                    (?s:.*)^What\ is\ left\ to\ do:/mx, 'it is restored');
is($s->sql('SELECT count(*) FROM svc.user_account'), $users, 'all users');

$s->redis->launch;
$s->nginx->launch;
ok($s->wait_healthy, 'it is served');

is($session->get('/v1/auth/session')->status, 200, 'a session goes on');
is(browser()->login('bob@acme.test')->status, 200, 'Bob signs in');

my $b = browser();

is($b->login('ada@acme.test')->status, 403, 'Ada is asked for her factor');

my $challenge = $b->post('/v1/mfa/challenge', {})->json->{challengeId};

is($b->post('/v1/mfa/step-up', { challengeId => $challenge,
                                code => totp($factor->{secret}) })->status, 200,
   'and has it') or diag($b->{last} // '');
is($acme->admin(GET => '/users')->status, 200, 'an API token');
is($acme->scim(GET => "/Users/$late->{id}")->status, 200, 'a SCIM token');

my $said = form($s, introspect => { token => $jwt }, client => $client)->json;

is($said->{scope}, 'read', 'a JWT of before');
is(form($s, token => { grant_type => 'client_credentials' }, client => $client)->status,
   200, 'a new one, by the same key');

my @got = $receiver->wait($hook, 2);

like($got[-1]{body}, qr/"userId":"\Q$late->{id}\E"/, 'what was not sent yet is sent');

$stream = SvcTest::Sse->new($s, $acme->token_for('audit:view'), '/v1/admin/audit/stream',
                            $last);
$stream->open or die 'no stream';
ok((wait_for { $stream->wait_for(1);
               grep { ($_->{data}{target}{id} // '') eq $late->{id} } @{ $stream->{events} } }),
   'a stream goes on behind what it had seen') or diag(explain($stream->{events}));
is(scalar(grep { ($_->{id} // '') eq $last } @{ $stream->{events} }), 0, 'and not before');
$stream->close;

my $app = $s->connect_as('svc_app');

is($app->query('SELECT count(*) FROM svc.user_account')->[0][0], 0,
   'without a tenant svc_app sees nobody');
$app->query("SELECT set_config('svc.tenant', '$globex->{id}', false)");
is($app->query('SELECT string_agg(user_name, $$ $$) FROM svc.user_account')->[0][0],
   'eve@globex.test', 'and with one nobody of others');

$s->nginx->quit;
$s->nginx->stop;
$s->pg->stop;


# --- an hour ago --------------------------------------------------------------------

$s->{pg} = $first;
delete $s->{client};
point_at($first);
$s->nginx->launch;
ok($s->wait_healthy, 'the first cluster');

my $base = "$s->{dir}/base";

unlike(documented('To a point in time', 'pg_basebackup', '/var/backups/base' => $base),
       qr/^status/, 'a copy of it');

my $one = $acme->create(userName => 'one@acme.test');
my $time = $s->sql('SELECT clock_timestamp()');
my $two = $acme->create(userName => 'two@acme.test');
my $wal = $s->sql('SELECT pg_walfile_name(pg_current_wal_lsn())');

$s->sql('SELECT pg_switch_wal()');
ok((wait_for { -e "$archive/$wal" }), 'the log is archived');

$s->nginx->quit;
$s->nginx->stop;
$first->stop;
delete $s->{client};

my $recovery = settings('restore_command');

like($recovery, qr/^recovery_target_time = '[^']*'$/m, 'the documents name a time');
$recovery =~ s/^(recovery_target_time = )'[^']*'$/$1'$time'/m;

my $past = bless { %$first, dir => $base, log => "$s->{dir}/past.log" }, ref $first;

delete @$past{qw(pid memory)};
unlink glob "$base/.s.PGSQL.*";
write_file("$base/postgresql.conf", slurp("$base/postgresql.conf") . $recovery);
write_file("$base/recovery.signal", '');
run([ 'chown', '-R', run_user(), $base ]) if $> == 0;
on_exit(sub { $past->stop('QUIT') });
$past->launch;
$s->{pg} = $past;
point_at($past);
ok((wait_for { !eval { $s->sql('SELECT pg_is_in_recovery()') eq 't' } }), 'it takes writes');

like(documented('To a point in time', 'fence generation'),
     qr/^generation 2 of the cluster \d+$/m, 'migrate, and a new generation');
$s->nginx->launch;
ok($s->wait_healthy, 'it is served');
is($acme->scim(GET => "/Users/$one->{id}")->status, 200, 'who was there at that time');
is($acme->scim(GET => "/Users/$two->{id}")->status, 404, 'and not who came later');
is($acme->scim(POST => '/Users', { userName => 'three@acme.test' })->status, 201,
   'life goes on');

$s->done;
done_testing();


# Makes and starts an empty cluster.

sub fresh {
    my ($dir) = @_;

    make_path($dir);
    chown((getpwnam run_user())[2, 3], $dir) if $> == 0;

    my $pg = SvcTest::Postgres->new(root => $s->root, dir => $dir);

    $pg->sh("$pg->{bin}/initdb", '-D', $pg->{dir}, '-U', 'postgres', '-N', '--auth=trust',
            '--encoding=UTF8', '--locale=C.UTF-8');
    write_file("$pg->{dir}/postgresql.conf",
               slurp("$pg->{dir}/postgresql.conf")
               . "listen_addresses = ''\nunix_socket_permissions = 0777\n");
    on_exit(sub { $pg->stop('QUIT') });
    $pg->launch;

    return $pg;
}


sub point_at {
    my ($pg) = @_;

    $s->{nginx}{svc_default}{svc_postgres} = '"' . $pg->conninfo('svc_app') . '"';
}
