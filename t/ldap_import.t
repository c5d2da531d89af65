#!/usr/bin/perl

# The import of a tenant's directory, Debian's slapd: who becomes a user, stays as the directory
# says, and leaves with it; what is refused; and what becomes of an import that is cut off.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw(with_password);
use SvcTest::Connection qw(verified);
use SvcTest::Metrics ();
use SvcTest::Process qw(alive signal_pid slurp spawn wait_for write_file);
use SvcTest::Scim qw(U patch_op);
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND);

my $TRUE = JSON::PP::true();
my $FALSE = JSON::PP::false();
my $THERE = 'the password in the directory';
my $MANY = 1200;
my $rfc = SvcTest::Nginx::free_port();

my $s = SvcTest->new(workers => 1, locations => $SvcTest::Metrics::LOCATION, svc => {
    svc_sign_in => 'on', svc_federation => 'on', svc_federation_allow => '127.0.0.0/8',
    svc_resolver => '127.0.0.1:' . SvcTest::Nginx::free_port(),
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0', 'RATE_LIMIT_LOGIN_EMAIL_MAX 0' ] },
    http => "    server { listen 127.0.0.1:$rfc; location /scim/v2 { svc_scim on; svc_scim_mode"
            . " rfc; } }\n");
my $slapd = SvcTest::Slapd->new($s, conf => "limits dn.exact=\"$SERVICE\" size=unlimited\n");

$slapd->launch(join '', map { <<"EOT" } 1 .. $MANY);
dn: uid=many$_,ou=groups,$SUFFIX
objectClass: inetOrgPerson
uid: many$_
cn: Many $_
sn: $_
mail: many$_\@example.test

EOT
$s->start;
$s->secret($THERE);

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);

verified($s, $acme, qw(example.test other.test));
verified($s, $globex, 'globex.test');


# The directory; who configures it: an owner vouches for it.

sub directory {
    my (%change) = @_;

    return {
        url => $slapd->urls, bindDn => $SERVICE, bindPassword => $BIND,
        baseDn => "ou=people,$SUFFIX", userFilter => '(mail={email})', enabled => $TRUE,
        jitProvisioning => $TRUE, caCertificates => $slapd->ca, domains => [ 'example.test' ],
        attributeMapping => { email => 'mail', displayName => 'cn', firstName => 'givenName',
                              lastName => 'sn' },
        syncEnabled => $TRUE, syncDeactivate => $TRUE, %change };
}

sub configure {
    my (%change) = @_;
    my $sets = delete $change{sets} // '';
    my $r = $acme->admin(PUT => '/ldap', directory(%change));

    is($r->status, 200, 'configured') or diag($r->body);
    $s->sql("UPDATE svc.ldap SET vouched_owner = true$sets WHERE NOT vouched_owner;"
            . " UPDATE svc.ldap_sync SET due_at = now() + interval '1 hour'"
            . ' WHERE due_at IS NOT NULL');
}

sub state {
    my $r = $acme->admin(GET => '/ldap/sync');

    return $r->json;
}

sub over {
    ok((wait_for { !$s->sql("SELECT count(*) FROM svc.ldap_sync WHERE status IN ('waiting',"
                            . " 'running') OR due_at <= now()") }), 'an import has ended');

    return state();
}

# Begins an import, and returns what has become of it.

sub import_now {
    my (@body) = @_;

    $s->redis->command('FLUSHDB');

    my $r = $acme->admin(POST => '/ldap/sync', @body);

    is($r->status, 202, 'an import begins') or diag($r->body);

    return over();
}

sub counts {
    my ($state) = @_;

    return join ' ', map { $state->{$_} } qw(status seen created updated deactivated
                                              reactivated conflictCount);
}

sub account {
    my ($email, $columns) = @_;

    my ($row) = $s->sql("SELECT $columns FROM svc.user_account WHERE user_name = '$email'"
                        . " AND tenant_id = '$acme->{id}'");

    return join ' ', map { $_ // '-' } @{ $row // [] };
}

sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}

sub change {
    my ($uid, $attribute, $value) = @_;

    $slapd->add("dn: uid=$uid,ou=people,$SUFFIX\nchangetype: modify\n"
                . (defined $value ? "replace: $attribute\n$attribute: $value\n"
                                  : "delete: $attribute\n"));
}

# Starts an import, which has to wait for a row that "locks" locks elsewhere; returns its state
# when that has done what "does" does, and has ended.

sub meanwhile {
    my ($locks, $does) = @_;
    my $other = $s->{pg}->connect('postgres');

    $s->redis->command('FLUSHDB');
    $other->query("BEGIN; SET LOCAL statement_timeout = '20s'; $locks");
    is($acme->admin(POST => '/ldap/sync')->status, 202, 'an import begins');
    ok((wait_for { $s->waiting }), 'and waits for a row');
    $does->($other);
    $other->query('COMMIT');

    return over();
}

sub gone { $slapd->add("dn: uid=$_,ou=people,$SUFFIX\nchangetype: delete\n\n") for @_ }


# --- before ------------------------------------------------------------------------------------

is(counts(state()), 'never 0 0 0 0 0 0', 'without a directory');
admin_error($acme->admin(POST => '/ldap/sync'), 404, 'not_found', 'nothing is imported');

configure(syncEnabled => $FALSE);
is(counts(state()), 'never 0 0 0 0 0 0', 'never');
is(state()->{nextAt}, undef, 'nor later');
admin_error($acme->admin(POST => '/ldap/sync'), 409, 'conflict', 'which is off');


# --- the first one -----------------------------------------------------------------------------

my $ada_dn = $slapd->person(ada => (givenName => 'Ada', cn => 'Ada Lovelace',
                                    userPassword => $THERE));

$slapd->person($_) for qw(bob carl);
configure();

is(counts(import_now()), 'ok 3 3 0 0 0 0', 'everybody comes');
is(account('ada@example.test', 'source, email_verified, role, first_name, last_name,'
           . ' display_name, status'), 'ldap t member Ada ada Ada Lovelace active', 'a user');
is_deeply([ events('user.created') ], [ ({ source => 'ldap', connection => 'ldap' }) x 3 ],
          'which is audited');
is(scalar(events('federation.linked')), 3, 'with the links');
is_deeply([ events('ldap.sync_requested') ], [ { force => $FALSE } ], 'the request');
is_deeply([ events('ldap.synced') ],
          [ { status => 'ok', seen => 3, created => 3, updated => 0, deactivated => 0,
              reactivated => 0, conflicts => 0 } ], 'and the import');
is(scalar($s->sql('SELECT count(*) FROM svc.password')), 0, 'nobody has a password');
is(SvcTest::Browser->new($s, tenant => 'acme')->login('ada@example.test', $THERE)->status, 200,
   'a sign-in finds the link');
is(counts(import_now()), 'ok 3 0 0 0 0 0', 'once more');
is(scalar(events('ldap.synced')), 1, 'without a change, of which nothing is audited');

my $state = state();

is_deeply([ grep { $state->{$_} !~ /^2\d{3}-\d\d-\d\dT/ } qw(startedAt finishedAt nextAt) ], [],
          'the times');
is_deeply([ @$state{qw(error conflicts)} ], [ undef, [] ], 'and no error');
cmp_ok($state->{nextAt}, 'gt', $state->{startedAt}, 'the next one is later');


# --- what changes there ------------------------------------------------------------------------

$s->sql("UPDATE svc.user_account SET source = 'scim' WHERE user_name = 'carl\@example.test'");
change(ada => (givenName => 'Augusta'));
change(bob => (mail => 'robert@example.test'));
change(carl => (cn => 'Charles'));
$slapd->add("dn: uid=ada,ou=people,$SUFFIX\nchangetype: modrdn\nnewrdn: uid=ada2\n"
            . "deleteoldrdn: 0\n");

is(counts(import_now()), 'ok 3 0 1 0 0 0', 'a name');
is(account('ada@example.test', 'first_name, display_name'), 'Augusta Ada Lovelace',
   'follows, under another one of the entry');
is_deeply((events('user.updated'))[-1], { source => 'ldap', changed => [ 'firstName' ] },
          'which is audited');
is(account('bob@example.test', 'status'), 'active', 'an address does not');
is(account('carl@example.test', 'display_name, source'), 'carl scim', 'nor what SCIM has made');
$s->sql("UPDATE svc.user_account SET source = 'ldap' WHERE user_name = 'carl\@example.test'");


# a sign-in locks its user before its identity

change(ada2 => (givenName => 'Ada'));
$state = meanwhile("SELECT FROM svc.user_account WHERE user_name = 'ada\@example.test' FOR UPDATE",
                   sub {
    is_deeply([ eval { $_[0]->query('SELECT id FROM svc.federated_identity FOR UPDATE NOWAIT');
                       1 } ], [ 1 ], 'users are locked before identities') or diag($@);
});
is(counts($state), 'ok 3 0 2 0 0 0', 'and both go on');


# --- who leaves --------------------------------------------------------------------------------

my $browser = SvcTest::Browser->new($s, tenant => 'acme');

is($browser->login('ada@example.test', $THERE)->status, 200, 'Ada is signed in');
$slapd->add("dn: uid=ada2,ou=people,$SUFFIX\nchangetype: modify\nadd: objectClass\n"
            . "objectClass: otherAccount\n-\nadd: nsAccountLock\nnsAccountLock: true\n");
gone(qw(bob carl));
$s->sql("UPDATE svc.user_account SET role = 'owner' WHERE user_name = 'carl\@example.test'");

is(counts(import_now()), 'ok 1 0 0 2 0 0', 'who is disabled, or has gone, leaves');
is_deeply([ map { account("$_\@example.test", 'status') } qw(ada bob carl) ],
          [ qw(deactivated deactivated active) ], 'but an owner stays');
is($browser->get('/v1/auth/session')->status, 401, 'a session ends');
is_deeply([ events('user.deactivated') ], [ ({ source => 'ldap', changed => [ 'status' ] }) x 2 ],
          'which is audited');
is(counts(import_now()), 'ok 1 0 0 0 0 0', 'once');

$slapd->add("dn: uid=ada2,ou=people,$SUFFIX\nchangetype: modify\nreplace: nsAccountLock\n"
            . "nsAccountLock: false\n");
is(counts(import_now()), 'ok 1 0 0 0 1 0', 'who returns');
is(account('ada@example.test', 'status'), 'active', 'is let in');
is_deeply([ events('user.reactivated') ], [ { source => 'ldap', changed => [ 'status' ] } ],
          'which is audited');

# somebody else's deactivation

$s->sql("UPDATE svc.user_account SET status = 'deactivated', valid_after = clock_timestamp()"
        . " WHERE user_name = 'ada\@example.test'");
is(counts(import_now()), 'ok 1 0 0 0 0 0', 'whom somebody else has deactivated');
is(account('ada@example.test', 'status'), 'deactivated', 'is not');

# and of those whom an import has deactivated before, too

my @out = qw(patched put deleted revised erased revived suspended);

$slapd->person($_) for @out, 'back';
is(counts(import_now()), 'ok 9 8 0 0 0 0', 'more people');
configure(syncFilter => '(uid=ada2)');
is(counts(import_now()), 'ok 1 0 0 8 0 0', 'leave');

my %id = map { $_ => account("$_\@example.test", 'id') } @out;
my %body = map { $_ => { schemas => [ U ], userName => "$_\@example.test", active => $FALSE } }
               @out;
my $off = patch_op({ op => 'replace', path => 'active', value => $FALSE });

is($acme->admin(POST => "/users/$id{suspended}/suspend", undef, undef,
                $acme->token_for('members:manage'))->status, 200, 'one is suspended');

for ([ PATCH => 'patched', $off ], [ PUT => 'put', $body{put} ], [ DELETE => 'deleted' ],
     [ PATCH => 'suspended', $off ], [ PUT => 'revised', $body{revised}, $rfc ],
     [ DELETE => 'erased', undef, $rfc ], [ DELETE => 'revived', undef, $rfc ],
     [ POST => 'revived', $body{revived}, $rfc ])
{
    my ($method, $who, $body, $port) = @$_;
    my $r = $s->http($method, '/scim/v2/Users' . ($method eq 'POST' ? '' : "/$id{$who}"),
                     [ @{ $acme->headers }, 'Content-Type', 'application/scim+json' ],
                     $body, $port ? (port => $port) : ());

    like($r->status, qr/^20/, "$method: $who") or diag($r->body);
}

# who signs in at the moment of leaving

configure(syncFilter => '(|(uid=ada2)(uid=back))');
is(counts(import_now()), 'ok 2 0 0 0 1 0', 'one is back');
configure(syncFilter => '(uid=ada2)');
$state = meanwhile("SELECT FROM svc.user_account WHERE user_name = 'back\@example.test' FOR UPDATE",
                   sub {
    $_[0]->query("UPDATE svc.federated_identity SET last_at = clock_timestamp()"
                 . " FROM svc.user_account u WHERE u.id = user_id"
                 . " AND u.user_name = 'back\@example.test'");
});
is(counts($state), 'ok 1 0 0 0 0 0', 'is there');
is(counts(import_now()), 'ok 1 0 0 1 0 0', 'until the next one');

configure();
is(counts(import_now()), 'ok 9 0 3 0 1 0', 'one returns, and the names are as there');
is_deeply([ map { account("$_\@example.test", 'status') } @out ], [ ('deactivated') x @out ],
          'all others are out');
gone(@out, 'back');

configure(syncDeactivate => $FALSE);
$s->sql("UPDATE svc.user_account SET status = 'active' WHERE user_name = 'ada\@example.test'");
gone('ada2');
is(counts(import_now()), 'ok 0 0 0 0 0 0', 'without "syncDeactivate"');
is(account('ada@example.test', 'status'), 'active', 'nobody leaves');


# --- conflicts ---------------------------------------------------------------------------------

configure(attributeMapping => { email => 'mail' }, uniqueIdAttribute => 'employeeNumber',
          sets => ", updated_at = now()");

my $local = $s->sql('INSERT INTO svc.user_account (tenant_id, id, user_name) VALUES'
                    . " ('$acme->{id}', gen_random_uuid(), 'Local\@example.test') RETURNING id");

$slapd->person(local => (employeeNumber => 1));
$slapd->person(one => (employeeNumber => 2));
$slapd->person(two => (employeeNumber => 2, mail => 'two@example.test'));
$slapd->person(three => (employeeNumber => 3, mail => 'one@example.test'));
$slapd->person(none => ());
$slapd->person(mute => (employeeNumber => 4, mail => 'no address'));
$slapd->person(other => (employeeNumber => 5, mail => 'other@other.test'));
$slapd->person(globex => (employeeNumber => 6, mail => 'x@globex.test'));
$slapd->person(forced => (employeeNumber => 8, mail => 'forced@forced.test'));
verified($s, $acme, 'forced.test');
$s->sql("UPDATE svc.ldap SET domains = domains || '{forced.test}';"
        . " UPDATE svc.domain SET sign_in = gen_random_uuid(), rp_id = 'x'"
        . " WHERE domain = 'forced.test'");
$slapd->person(odd => (employeeNumber => 7, cn => [],
                       'cn:' => encode_base64("a\xe2\x80\xaeb", '')));

$slapd->person(invited => (employeeNumber => 9));
$slapd->person(late => (employeeNumber => 10));
$s->sql("INSERT INTO svc.invitation (tenant_id, id, email, email_key, role, group_ids, days,"
        . " token_hash, expires_at) SELECT '$acme->{id}', gen_random_uuid(), address, address,"
        . " 'admin', '{}', 1, sha256(address::bytea), now() + until FROM (VALUES"
        . " ('invited\@example.test', interval '1 hour'), ('late\@example.test', '-1 hour'))"
        . " invited (address, until)");

$state = import_now();
is(counts($state), 'ok 12 3 0 0 0 9', 'conflicts');
is_deeply([ sort map { "$_->{reason} " . ($_->{email} // '-') } @{ $state->{conflicts} } ],
          [ 'email_domain other@other.test', 'email_domain x@globex.test',
            'email_taken local@example.test', 'email_taken one@example.test',
            'id_twice two@example.test', 'invited invited@example.test', 'no_email -',
            'no_id none@example.test', 'sso_required forced@forced.test' ],
          'each with its reason');
is(account('Local@example.test', 'source'), 'local', 'an account that was there stays');
is($s->sql("SELECT count(*) FROM svc.federated_identity WHERE user_id = '$local'"), 0,
   'and is not linked');
is(account('odd@example.test', 'display_name'), '-', 'what is no name is none');

configure(jitProvisioning => $FALSE, uniqueIdAttribute => undef);
$state = import_now();
is(counts($state), 'ok 12 0 0 0 0 0', 'where nobody may come by the directory nobody does');


# --- the brake, and many pages -----------------------------------------------------------------

configure(baseDn => "ou=groups,$SUFFIX", syncFilter => '(uid=many*)');
$state = import_now();
is(counts($state), "ok $MANY $MANY 0 0 0 0", 'three pages');
is(scalar($slapd->lines(qr/SRCH base="ou=groups,.*many/)), 3, 'which were asked for');

configure(baseDn => "ou=groups,$SUFFIX", syncFilter => '(uid=many11*)');
$state = import_now();
is(counts($state), 'held 111 0 0 0 0 0', 'more than half would leave');
is($s->sql("SELECT count(*) FROM svc.user_account WHERE status <> 'active' AND user_name LIKE"
           . " 'many%'"), 0, 'nobody does');
is_deeply([ $s->sql('SELECT type, severity, count, details FROM svc.incident') ],
          [ [ 'ldap_sync_held', 'high', 1, '{"users": 1089, "activeUsers": 1200}' ] ],
          'an incident');
is(counts(import_now()), 'held 111 0 0 0 0 0', 'held again');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'ldap.synced'"
           . " AND details ->> 'status' = 'held'"), 1, 'audited once');
# sessions of an owner and of an administrator

my ($owner, $admin) = map {
    my $browser = SvcTest::Browser->new($s, tenant => 'acme');

    with_password($s, $acme, userName => "$_\@acme.test", role => $_);
    is($browser->login("$_\@acme.test")->status, 200, "an $_ signs in");
    $browser;
} qw(owner admin);

$s->redis->command('FLUSHDB');
admin_error($acme->admin(POST => '/ldap/sync', { force => $TRUE }), 403, 'forbidden',
            'until an owner says so: a token does not');
admin_error($admin->post('/v1/admin/ldap/sync', { force => $TRUE }), 403, 'forbidden',
            'nor does an administrator');
is($owner->post('/v1/admin/ldap/sync', { force => $TRUE })->status, 202, 'an owner does');
is(counts(over()), 'ok 111 0 0 1089 0 0', 'and they leave');
is($s->sql('SELECT forced FROM svc.ldap_sync'), 'f', 'for one import');
configure(baseDn => "ou=groups,$SUFFIX", syncFilter => '(uid=many*)');
is(counts(import_now()), "ok $MANY 0 0 0 1089 0", 'all return');

$s->sql("DELETE FROM svc.user_account WHERE user_name LIKE 'many%'"
        . " AND user_name !~ '^many[234][0-9]\@'");
configure(baseDn => "ou=groups,$SUFFIX", syncFilter => '(uid=many5*)');
is(counts(import_now()), 'held 111 111 0 0 0 0', 'who has just come is not counted');
configure(baseDn => "ou=groups,$SUFFIX", syncFilter => '(uid=many*)');
is(counts(import_now()), "ok $MANY 1059 0 0 0 0", 'all are there');


# --- leases ------------------------------------------------------------------------------------

sub sync { return $acme->admin(POST => '/ldap/sync') }

sub lease {
    my ($set) = @_;

    $s->sql("UPDATE svc.ldap_sync SET $set");
}

my $taken = "status = 'running', due_at = now(), lease_until = now() + interval '1 minute'";
my $lapsed = "lease_until = now() - interval '1 second', due_at = now() + interval '1 hour'";

lease($taken);
admin_error(sync(), 409, 'conflict', 'another node imports');
is(state()->{status}, 'running', 'which the state says');
is_deeply([ $s->sql('SELECT * FROM svc.ldap_sync_due(16)') ], [], 'it is nobody else\'s');
lease($lapsed);
is(state()->{status}, 'waiting', 'a node has died');
is(counts(import_now()), "ok $MANY 0 0 0 0 0", 'another one begins anew');
is_deeply([ $s->sql("SELECT count(*) FROM svc.ldap_sync_due(16)") ], [ [ 0 ] ], 'nothing is due');


# --- what goes meanwhile -----------------------------------------------------------------------

# Begins an import that waits for slapd, which is stopped.

sub waiting {
    $s->redis->command('FLUSHDB');
    ok((wait_for { !$slapd->queued }), 'nothing waits');
    $slapd->hold;
    is(sync()->status, 202, 'an import begins');
    ok((wait_for { $slapd->queued }), 'and waits');
}

waiting();
lease("run = run + 1, lease_until = now() + interval '1 hour'");
my $unbinds = $slapd->lines(qr/ UNBIND/);
$slapd->go_on;
ok((wait_for { $slapd->lines(qr/ UNBIND/) > $unbinds }), 'the worker closes');
is(counts(state()), 'running 0 0 0 0 0 0', 'whose lease is lost writes nothing');
lease($lapsed);
is(counts(import_now()), "ok $MANY 0 0 0 0 0", 'the next one is good');

waiting();
configure(syncDeactivate => $FALSE, baseDn => "ou=groups,$SUFFIX", syncFilter => '(uid=many111*)');
$slapd->go_on;
is(counts(over()), 'ok 11 0 0 0 0 0', 'a directory that is configured otherwise begins anew');

waiting();
my ($worker) = $s->workers;
signal_pid('TERM', $worker);
ok((wait_for { !alive($worker) && eval { state() } }), 'a worker ends');
$slapd->go_on;
lease($lapsed);
is(counts(import_now()), 'ok 11 0 0 0 0 0', 'when a worker has ended another one begins anew');

# PostgreSQL's connection is lost while a page is written

waiting();
{
    my $other = $s->{pg}->connect('postgres');

    $other->query('BEGIN; SELECT FROM svc.ldap_sync FOR UPDATE');
    $slapd->go_on;
    ok((wait_for { $s->sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                           . " WHERE wait_event_type = 'Lock'") }), 'a connection is cut');
    $other->query('ROLLBACK');
}
is(state()->{status}, 'running', 'nobody has been told');
lease($lapsed);
is(counts(import_now()), 'ok 11 0 0 0 0 0', 'the next import is good');

configure(baseDn => "ou=groups,$SUFFIX", syncFilter => '(uid=many*)');
$slapd->stop;
lease('forced = true');
configure(baseDn => "ou=groups,$SUFFIX", syncFilter => '(uid=many*)', syncIntervalMinutes => 90);
is($s->sql('SELECT forced FROM svc.ldap_sync'), 'f', 'another configuration is not forced');
is($owner->post('/v1/admin/ldap/sync', { force => $TRUE })->status, 202, 'a forced one');
$state = over();
is($s->sql('SELECT forced FROM svc.ldap_sync'), 'f', 'nor is what follows a failure');
is(counts($state), 'failed 0 0 0 0 0 0', 'a directory that is away');
like($state->{error}, qr/^127\.0\.0\.1, port \d+, refuses the connection/, 'as the state says');
is($s->sql("SELECT count(*) FROM svc.user_account WHERE status <> 'active' AND user_name LIKE"
           . " 'many%'"), 0, 'nobody leaves');
is_deeply([ map { $_->[0] } $acme->events_where("action = 'ldap.synced'", 'outcome') ]->[-1],
          'failure', 'which is audited');
is(counts(import_now()), 'failed 0 0 0 0 0 0', 'again');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'ldap.synced'"
           . " AND details ->> 'status' = 'failed' AND details ? 'error'"), 2, 'once in a row');


# --- what is no directory ----------------------------------------------------------------------

sub ber {
    my ($tag, @parts) = @_;
    my $text = join '', @parts;

    return chr($tag) . pack('Cn', 0x82, length $text) . $text;
}

# Answers that come whatever is asked: to the bind, and then the pages, each a list of the
# entries' numbers, or of letters, without an id, and the value of its control.

sub pages {
    my (@pages) = @_;
    my $answers = ber(0x30, ber(2, "\1"), ber(0x61, "\x0a\1\0\4\0\4\0"));
    my $id = 1;

    for my $page (@pages) {
        my ($numbers, $control) = @$page;
        my $message = ber(2, chr ++$id);

        $answers .= ber(0x30, $message, ber(0x64, ber(4, "uid=$_"), ber(0x30, map {
                        ber(0x30, ber(4, $_->[0]), ber(0x31, ber(4, $_->[1]))) }
                        /\d/ ? [ entryUUID => "id $_" ] : (),
                        [ mail => "no$_\@example.test" ]))) for @$numbers;
        $answers .= ber(0x30, $message, ber(0x65, "\x0a\1\0\4\0\4\0"),
                        ber(0xa0, ber(0x30, ber(4, '1.2.840.113556.1.4.319'), ber(4, $control))));
    }

    return $answers;
}

sub imported_of {
    my (@pages) = @_;
    my $port = SvcTest::Nginx::free_port();

    write_file("$s->{dir}/answers", pages(@pages));

    my $pid = spawn([ 'bash', '-c', "exec openssl s_server -quiet -accept 127.0.0.1:$port"
                      . " -cert $slapd->{dir}/server.pem -key $slapd->{dir}/server.key"
                      . " < <(cat $s->{dir}/answers; exec sleep 60)" ]);

    # whoever connects to look gets the answers

    my $listens = sprintf '^\s*\d+: 0100007F:%04X \S+ 0A', $port;

    ok((wait_for { slurp('/proc/net/tcp') =~ /$listens/m }), 'it listens');
    configure(url => "ldaps://127.0.0.1:$port");

    my $state = import_now();

    signal_pid('KILL', $pid);

    return $state;
}

my $more = ber(0x30, ber(2, "\0"), ber(4, 'more'));
my $last = ber(0x30, ber(2, "\0"), ber(4, ''));

for ([ 'entries without an end', 'failed 2', qr/goes on with the same entries/,
       [ [ 1, 2 ], $more ], [ [ 1, 2 ], $more ], [ [ 1, 2 ], $last ] ],
     [ 'too many in a page', 'failed 0', qr/what is no page/, [ [ 1 .. 501 ], $last ] ],
     [ 'a control that is none', 'failed 0', qr/what is no page/, [ [ 1 ], 'x' ] ],
     [ 'pages', 'ok 3', undef, [ [ 1, 2 ], $more ], [ [], $more ], [ [ 1 ], $last ] ])
{
    my ($name, $status, $error, @pages) = @$_;
    my $state = imported_of(@pages);

    is("$state->{status} $state->{seen}", $status, $name);
    like($state->{error} // '', $error // qr/^$/, 'as the state says');
}


# --- who says whom an import may deactivate ----------------------------------------------------

for my $change ([ 'label', label => 'another' ], [ 'syncFilter', syncFilter => '(uid=x)' ],
                [ 'syncDeactivate', syncDeactivate => $FALSE ])
{
    my ($name, %change) = @$change;

    configure(url => $slapd->urls, label => 'one');

    my $r = $acme->admin(PUT => '/ldap', directory(label => 'one', %change));

    is($r->json->{covers}, $name eq 'label' ? 'owners' : 'members', "a token's $name");
}


# --- imports that fail -------------------------------------------------------------------------

sub failures {
    return SvcTest::Metrics->get($s)->value('svc_directory_imports_total', outcome => 'failed');
}

$slapd->launch;

my $failures = failures();

configure(baseDn => "ou=none,$SUFFIX");
waiting();
lease('run = run + 1');
$slapd->go_on;
lease($lapsed);
is(import_now()->{status}, 'failed', 'an import fails, behind one whose lease was lost');
ok((wait_for { failures() > $failures }), 'which is counted');
is(failures(), $failures + 1, 'alone');

configure(syncIntervalMinutes => 1440);
waiting();
lease("started_at = now() - interval '61 minutes'");
$slapd->go_on;
$state = over();
is("$state->{status} $state->{error}", 'failed The import has taken more than an hour.',
   'an import that goes on and on is ended');

# PostgreSQL gives up a statement

configure();
waiting();
{
    my $other = $s->{pg}->connect('postgres');

    $other->query('BEGIN; SELECT FROM svc.ldap_sync FOR UPDATE');
    $slapd->go_on;
    ok((wait_for { $s->sql("SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity"
                           . " WHERE wait_event_type = 'Lock'") }), 'a statement is cancelled');
    $other->query('ROLLBACK');
}
$state = over();
is($state->{status}, 'failed', 'an import fails');
like($state->{error}, qr/could not be stored/, 'as the state says');
is($s->sql("SELECT due_at <= finished_at + interval '1 minute' FROM svc.ldap_sync"), 't',
   'and the next one is a minute later');

$state = imported_of([ [ 'a', 'b' ], $more ], [ [ 'a', 'b' ], $more ], [ [ 1, 'a' ], $last ]);
is("$state->{status} $state->{seen} $state->{conflictCount}", 'ok 6 6',
   'entries without ids are not the same ones');

# nothing is at the resolver's port

configure(url => 'ldaps://directory.example.test');
is_deeply([ map { import_now()->{error} =~ /^(DNS does not tell)/ } 1 .. 4 ],
          [ ('DNS does not tell') x 4 ], 'an import that is late is no reason to rest');


# --- whoever ends the links --------------------------------------------------------------------

# A page of an import has its import, and locks identities then.

for ([ 200, PUT => directory(baseDn => "ou=none,$SUFFIX") ], [ 204, 'DELETE' ]) {
    my ($status, $method, $body) = @$_;
    my $other = $s->{pg}->connect('postgres');

    $s->sql("INSERT INTO svc.federated_identity (tenant_id, connection_id, subject_hash, id,"
            . " user_id, subject) SELECT '$acme->{id}', ldap.connection_id, sha256('x'),"
            . " gen_random_uuid(), '$local', '\\x' FROM svc.ldap");
    $other->query('BEGIN; SELECT FROM svc.ldap_sync FOR UPDATE');

    my $c = $s->begin($method => '/v1/admin/ldap', { Authorization => "Bearer $acme->{api_token}",
                                                     'Content-Type' => 'application/json' }, $body);

    ok((wait_for { $s->waiting }), "$method waits");
    is_deeply([ eval { $other->query('SELECT id FROM svc.federated_identity FOR UPDATE NOWAIT');
                       1 } ], [ 1 ], 'before it has a link') or diag($@);
    $other->query('COMMIT');
    is($c->read->status, $status, 'and goes on');
}

done_testing();
