#!/usr/bin/perl

# svcctl secrets reseal: under load, killed in the middle, with locked rows, and
# what it leaves alone.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD $HASH);
use SvcTest::Process qw(descendants slurp spawn wait_exit wait_for write_file signal_pid);
use SvcTest::Skip;

needs(perl => 'Crypt::AuthEnc::GCM');

require Crypt::AuthEnc::GCM;

my $USERS = 2500;
my $OTHER = 'rowing past nine lanterns';

my $s = SvcTest->new(workers => 1, svc => { svc_sign_in => 'on',
    svc_password_hash => 'memory=7m iterations=1 queue=64 timeout=30s',
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 100000', 'RATE_LIMIT_LOGIN_EMAIL_MAX 1000' ] });

my $keys = $s->{key_file};
my ($old) = slurp($keys) =~ /^1:(\w+)$/m;
my $new = 'cd' x 32;

$s->secret($PASSWORD, $OTHER, $new);
write_file($keys, "k1:$old\n");
$s->start;

my $acme = $s->tenant('acme');

$acme->add_users($USERS);

my @users = $s->sql('SELECT encode(uuid_send(tenant_id) || uuid_send(id), \'hex\'), id,'
                    . " user_name FROM svc.user_account WHERE tenant_id = '$acme->{id}'"
                    . ' ORDER BY id');


# Seals as the modules do; with another user the value is bound to another row.

sub sealed {
    my ($id, $key, $user) = @_;
    my $nonce = pack 'N3', map { int rand 2**32 } 1 .. 3;
    my $aad = pack('H*', $user->[0]) . 'password';
    my ($cipher, $tag) = Crypt::AuthEnc::GCM::gcm_encrypt_authenticate(
        'AES', pack('H*', $key), $nonce, $aad, $HASH);

    return unpack 'H*', pack('C/a', $id) . $nonce . $cipher . $tag;
}

sub seal_all {
    $s->sql('TRUNCATE svc.password');
    $s->sql('INSERT INTO svc.password (tenant_id, user_id, hash) VALUES '
            . join ', ', map { "('$acme->{id}', '$_->[1]', '\\x" . sealed('k1', $old, $_)
                               . "')" } @users);
}

sub under {
    my ($id) = @_;

    return $s->sql('SELECT count(*) FROM svc.password'
                   . " WHERE svc.sealed_by(hash) = '$id'");
}

sub reseal { return $s->svcctl({}, qw(secrets reseal --keys), $keys, @_) }

sub begin {
    return spawn([ $s->root . '/conf/svcctl', qw(secrets reseal --keys), $keys ],
                 env => { SVC_PG => $s->pg->conninfo('postgres') },
                 out => $s->dir . '/resealed');
}

sub signs_in {
    my ($user, $password) = @_;

    return SvcTest::Browser->new($s, tenant => 'acme')
           ->login($user->[2], $password // $PASSWORD)->status;
}

seal_all();
write_file($keys, "k2:$new\nk1:$old\n");
$s->reload;
is(under('k1'), @users, 'all are under the old key');
is(signs_in($users[0]), 200, 'which signs in');


# --- ended in the middle, and again under load ------------------------------------------

# each statement takes a while, so that it can be killed in the middle

$s->sql('CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS'
        . ' $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$');
$s->sql('CREATE TRIGGER slow BEFORE UPDATE ON svc.password FOR EACH STATEMENT'
        . ' EXECUTE FUNCTION public.slow()');

my $pid = begin();

ok((wait_for { my $n = under('k2'); $n > 0 && $n < @users }), 'it has begun');

my @all = ($pid, descendants($pid));

signal_pid('KILL', $_) for reverse @all;
wait_exit($pid);
ok((wait_for { !$s->sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE"
                        . " '%svc.password%' AND pid <> pg_backend_pid()"
                        . " AND state = 'active' AND usename <> 'svc_app'") }),
   'its last statement has ended');

my $done = under('k2');

cmp_ok($done, '>', 0, 'some are under the new key');
cmp_ok($done, '<', scalar @users, 'and some are not');
is($done + under('k1'), @users, 'each is under one');

# users of both kinds sign in and change their passwords meanwhile; it does not
# end before some have done so

my $SOME = 4;
my $owner = $s->pg->connect('postgres');

$s->sql('CREATE OR REPLACE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS'
        . " \$\$ BEGIN PERFORM pg_sleep(0.3); IF session_user <> 'svc_app' THEN"
        . ' PERFORM pg_advisory_xact_lock_shared(1); END IF; RETURN NULL; END $$');
$owner->query('SELECT pg_advisory_lock(1)');

$pid = begin();

my ($tries, $failed) = (0, 0);
my %changed;

my $status;

while (!defined($status = wait_exit($pid, 0))) {
    my $user = $users[ $tries * 37 % @users ];
    my $b = SvcTest::Browser->new($s, tenant => 'acme');
    my $in = $b->login($user->[2], $changed{ $user->[1] } // $PASSWORD)->status;

    $failed++ if $in != 200;

    if ($tries % 3 == 0 && !$changed{ $user->[1] } && $in == 200) {
        $failed++ if $b->post('/v1/auth/password', { currentPassword => $PASSWORD,
                                                     newPassword => $OTHER })->status != 200;
        $changed{ $user->[1] } = $OTHER;
    }

    $owner->query('SELECT pg_advisory_unlock(1)') if ++$tries == $SOME;
}

cmp_ok($tries, '>=', $SOME, "under load: $tries sign-ins");
cmp_ok(scalar keys %changed, '>', 0, 'and other passwords');
is($failed, 0, 'none of which has failed');
is($status, 0, 'it has ended well');
is(under('k1'), 0, 'nothing is left under the old key');
is($s->sql('SELECT count(*) FROM svc.password'), @users, 'nor lost');

my $text = slurp($s->dir . '/resealed');

like($text, qr/^passwords: \d+ of \d+$/m, 'it has told how far it was');
like($text, qr/^passwords: \d+ sealed under k2$/m, 'and what it did');
$s->sql('DROP TRIGGER slow ON svc.password');

# the old key is gone

write_file($keys, "k2:$new\n");
$s->reload;
is(signs_in($_, $changed{ $_->[1] }), 200, "$_->[2] signs in")
    for @users[0, 1, 37, 999, -1];

my ($out, $rc, $err) = reseal();
is("$rc$out$err", '0', 'again: there is nothing to do');


# --- locked rows ----------------------------------------------------------------------

seal_all();
write_file($keys, "k2:$new\nk1:$old\n");

$owner->query('BEGIN');
$owner->query("SELECT FROM svc.password WHERE user_id = '$users[3][1]' FOR UPDATE");
$pid = begin();
ok((wait_for { under('k1') == 1 }), 'all but the locked one are done');
is(wait_exit($pid, 0), undef, 'which it has not given up');
is($s->waiting('postgres'), 0, 'nor waits for');
$owner->query('COMMIT');
is(wait_exit($pid), 0, 'it ends');
is(under('k1'), 0, 'and has that one, too');


# --- what it leaves alone -------------------------------------------------------------

seal_all();
$s->sql("UPDATE svc.password SET hash = '\\x" . sealed('k1', $old, $users[0]) . "'"
        . " WHERE user_id = '$users[1][1]'");
$s->sql("UPDATE svc.password SET hash = '\\x" . sealed('k0', 'ef' x 32, $users[2]) . "'"
        . " WHERE user_id = '$users[2][1]'");
$s->sql("UPDATE svc.password SET hash = '$HASH' WHERE user_id = '$users[3][1]'");

($out, $rc, $err) = reseal();
is($rc >> 8, 3, 'something is left');
is($out =~ s/^passwords: \d+ of \d+\n//mgr, <<"EOT", 'it says what');
passwords: @{[ @users - 3 ]} sealed under k2
passwords: 1 left alone, their keys are not in the file: k0
passwords: 1 left alone, they are damaged
EOT
is($s->sql("SELECT encode(hash, 'escape') FROM svc.password"
           . " WHERE user_id = '$users[3][1]'"), $HASH, 'what was imported is not sealed');


# --- recovery codes -------------------------------------------------------------------

$s->sql('TRUNCATE svc.password, svc.password_history');
$s->sql("INSERT INTO svc.recovery_code (tenant_id, user_id, mac, key_id) SELECT tenant_id,"
        . " id, decode(md5(k), 'hex'), nullif(k, '') FROM svc.user_account,"
        . " unnest(ARRAY['k1', 'k2', '']) k WHERE tenant_id = '$acme->{id}'");

($out, $rc) = $s->svcctl({}, qw(secrets status --keys), $keys);
my $codes = 'recovery codes of ' . @users . ' users, who need new ones when it goes';
is($out, join('', map { "$_ $codes\n" } 'k2 seals ' . @users, 'k1 opens ' . @users,
              '- unknown ' . @users), 'whose codes need which key');
is($rc, 0, 'no key is missing');

($out, $rc) = reseal('--drop-codes');
is($out, 'recovery codes: ' . 2 * @users . " deleted\n", 'those of other keys go');
is($s->sql('SELECT count(*) FROM svc.recovery_code'), @users, 'and no other ones');


# --- its arguments --------------------------------------------------------------------

sub fails {
    my ($file, $message, $name, %env) = @_;

    write_file($keys, $file);
    ($out, $rc, $err) = $s->svcctl({ env => { SVC_PG => $s->pg->conninfo('postgres'),
                                              %env } },
                                   qw(secrets reseal --keys), $keys);
    is($rc >> 8, 1, "$name fails");
    is($out, '', "$name shows nothing");
    is($err, "svcctl: $message\n", "$name: why");
}

fails("# none\n\n", 'the key file has no key', 'an empty file');
fails("k1:ab\n", 'the key file\'s line 1 is not "id:64 hex digits"', 'a short key');
fails("k1:$old\n#\nk1:$new\n", 'the key file\'s line 3 has an id of an earlier line',
      'an id twice');
fails("k1:$old\n", 'PostgreSQL: psql: error: connection to server on socket'
      . ' "/nothing/.s.PGSQL.5432" failed: No such file or directory'
      . "\n\tIs the server running locally and accepting connections on that socket?",
      'no PostgreSQL', SVC_PG => 'host=/nothing port=5432');

mkdir $s->dir . "/$_" or die $! for qw(lib lib/Crypt lib/Crypt/AuthEnc);
write_file($s->dir . '/lib/Crypt/AuthEnc/GCM.pm', "die;\n");
fails("k1:$old\n",
      'Perl has no Crypt::AuthEnc::GCM: install the package libcryptx-perl',
      'without the package', PERL5LIB => $s->dir . '/lib');

$s->done;
done_testing();
