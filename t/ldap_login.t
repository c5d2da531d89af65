#!/usr/bin/perl

# Sign-in with a password that the tenant's directory has, Debian's slapd: whose goes there,
# what comes of it, and what of accounts that come from it.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Connection qw(verified);
use SvcTest::Factor qw(enrolled policy totp);
use SvcTest::Mail;
use SvcTest::Process qw(wait_for);
use SvcTest::Realm qw(force);
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND $NAME);

my $TRUE = JSON::PP::true();
my $THERE = 'the password in the directory';

my $s = SvcTest->new(workers => 1);
my $mail = SvcTest::Mail->new($s,
    svc_sign_in => 'on', svc_federation => 'on', svc_federation_allow => '127.0.0.0/8',
    svc_password_hash => 'memory=7m iterations=1',
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0', 'RATE_LIMIT_LOGIN_EMAIL_MAX 0',
                 'LOGIN_LOCKOUT_MAX 4' ]);
my $slapd = SvcTest::Slapd->new($s);

$slapd->launch;
$s->start;
$s->secret($_) for $PASSWORD, $THERE;

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $manager = $acme->token_for('tenant:manage,groups:manage');

verified($s, $acme, qw(example.test acme.test));


sub configure {
    my (%change) = @_;
    my $sets = delete $change{sets} // '';
    my %body = (url => $slapd->urls, bindDn => $SERVICE, bindPassword => $BIND,
                baseDn => $SUFFIX, userFilter => '(mail={email})', enabled => $TRUE,
                jitProvisioning => $TRUE, caCertificates => $slapd->ca,
                attributeMapping => { email => 'mail', displayName => 'cn',
                                      firstName => 'givenName', lastName => 'sn' },
                domains => [ 'example.test' ], %change);

    delete @body{ grep { !defined $body{$_} } keys %body };

    my $r = $acme->admin(PUT => '/ldap', \%body, [], $manager);

    is($r->status, 200, 'configured') or diag($r->body);
    $s->sql("UPDATE svc.ldap SET vouched_owner = true, vouched = '{apps:manage,audit:view,"
            . "groups:manage,members:manage,roles:manage,tenant:manage,users:view}'$sets");
}

sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }

sub login { return browser()->login($_[0], $_[1] // $THERE, @_[2 .. $#_]) }

sub account {
    my ($email, $columns) = @_;

    my ($row) = $s->sql("SELECT $columns FROM svc.user_account WHERE user_name = '$email'"
                        . " AND tenant_id = '$acme->{id}'");

    return @{ $row // [] };
}

sub unlock {
    $s->sql('UPDATE svc.user_account SET failed_logins = 0, failed_since = NULL,'
            . ' locked_until = NULL; DELETE FROM svc.login_phantom; DELETE FROM svc.sign_in');
    $s->redis->command('FLUSHDB');
}

sub events {
    my ($action) = @_;

    return map { $_->[0] } $acme->events_where("action = '$action'", 'details');
}

sub reason { return (events('user.login_failed'))[-1]{reason} }

sub binds { return scalar $slapd->lines(qr/BIND dn="uid=/) }


# --- somebody new --------------------------------------------------------------------------

configure();

my $ada_dn = $slapd->person(ada => (userPassword => $THERE, cn => 'Ada Lovelace',
                                    givenName => 'Ada'));
my $b = browser();
my $r = $b->login('ADA@example.test', $THERE);

is($r->status, 200, 'a password of the directory') or diag($r->body);
is($r->json->{user}{email}, 'ada@example.test', 'of the address that the directory has');
is_deeply([ sort keys %{ $r->json } ],
          [ qw(csrfToken expiresAt mfa permissions role tenant user) ], 'the usual answer');
is_deeply([ account('ada@example.test', 'source, email_verified::text, role, first_name,'
                    . ' last_name, display_name') ],
          [ 'ldap', 'true', 'member', 'Ada', 'ada', 'Ada Lovelace' ], 'the account');
is_deeply([ events('user.created') ], [ { source => 'ldap', connection => 'ldap' } ], 'made');
is_deeply([ events('federation.linked') ], [ { connection => 'ldap' } ], 'and linked');
is_deeply([ events('user.login') ], [ { score => 0, signals => [], methods => [ 'ldap' ],
                                        connection => 'ldap' } ], 'signed in');
is_deeply($b->get('/v1/auth/sessions')->json->{sessions}[0]{methods}, [ 'ldap' ],
          'which the session says');
is(scalar($s->sql('SELECT count(*) FROM svc.session s JOIN svc.ldap l USING (connection_id)')), 1,
   'and whose connection');
is(scalar($s->sql('SELECT count(*) FROM svc.password')), 0, 'no password is stored');

my ($subject) = $s->sql('SELECT encode(subject_hash, \'hex\') FROM svc.federated_identity');

is(login('ada@example.test')->status, 200, 'once more');
is_deeply([ $s->sql('SELECT encode(subject_hash, \'hex\') FROM svc.federated_identity') ],
          [ $subject ], 'by the same link');

# the link is by what never changes

$slapd->add("dn: $ada_dn\nchangetype: modrdn\nnewrdn: uid=lovelace\ndeleteoldrdn: 1\n");
$slapd->add("dn: uid=lovelace,ou=people,$SUFFIX\nchangetype: modify\nreplace: mail\n"
            . "mail: lovelace\@example.test\n");
is(login('lovelace@example.test')->json->{user}{email}, 'ada@example.test', 'under other names');
$slapd->add("dn: uid=lovelace,ou=people,$SUFFIX\nchangetype: modify\nreplace: mail\n"
            . "mail: ada\@example.test\n");


# --- refused -------------------------------------------------------------------------------

my $wrong = login('ada@example.test', 'wrong');

admin_error($wrong, 401, 'invalid_credentials', 'a wrong password');
is(reason(), 'wrong', 'is written down');
unlock();

sub same_as_wrong {
    my ($r, $name) = @_;

    is($r->status, 401, $name);
    is_deeply($r->json->{error}{message}, $wrong->json->{error}{message}, 'in the same words');
}

same_as_wrong(login('nobody@example.test'), 'nobody');
is(reason(), 'unknown', 'which the audit log says');
same_as_wrong(login('nobody@acme.test'), 'nobody of another domain');

my $binds = binds();

same_as_wrong(login('ada@example.test', $_), 'a password of ' . length . ' bytes')
    for '', 'x' x 1025;
unlock();
is(binds(), $binds, 'is not sent');
same_as_wrong(login('ada@example.test', "a\x01b"), 'one with a control character');
is(binds(), $binds + 1, 'is one as others are');
admin_error(login('ada@example.test', "a\0b"), 400, undef, 'one with a zero is no JSON');
admin_error(login("a\0\@example.test"), 400, undef, 'as is such an address');
admin_error(login('ada@acme.test', $_), 400, 'invalid_request', 'elsewhere they are refused')
    for '', 'x' x 1025, "a\x01b";
admin_error(login('ada@example.test', '', connection => 'local'), 400, 'invalid_request',
            'as is what is to be stored here');
admin_error(login('ada@example.test', $THERE, connection => 'ldap'), 400, 'invalid_request',
            'nobody names a directory');

for my $email ('*)(uid=*@example.test', '*@example.test', 'a)(|(mail=*@example.test') {
    same_as_wrong(login($email), "what a filter has: $email");
}

unlock();
$slapd->person(twin => (mail => 'ada@example.test', userPassword => $THERE));
same_as_wrong(login('ada@example.test'), 'two entries');
login('ada@example.test');
is(reason(), 'directory_ambiguous', 'are audited');
is_deeply([ $s->sql('SELECT type, severity, count, details FROM svc.incident') ],
          [ [ 'ldap_ambiguous', 'medium', 2, '{"connection": "ldap"}' ] ], 'and an incident');
is(scalar(my @made = events('incident.created')), 1, 'which is told once');
$slapd->add("dn: uid=twin,ou=people,$SUFFIX\nchangetype: delete\n");

$slapd->add("dn: uid=lovelace,ou=people,$SUFFIX\nchangetype: modify\n"
            . "add: objectClass\nobjectClass: otherAccount\n-\nadd: loginDisabled\n"
            . "loginDisabled: TRUE\n");
same_as_wrong(login('ada@example.test'), 'a disabled entry');
is(reason(), 'directory_disabled', 'is audited so');
$slapd->add("dn: uid=lovelace,ou=people,$SUFFIX\nchangetype: modify\ndelete: loginDisabled\n-\n"
            . "delete: objectClass\nobjectClass: otherAccount\n");
unlock();

configure(baseDn => "ou=none,$SUFFIX");
admin_error(login('ada@example.test'), 503, 'unavailable', 'no base');
configure(bindPassword => 'wrong', bindDn => "cn=nobody,$SUFFIX");
admin_error(login('ada@example.test'), 503, 'unavailable', 'no service');
configure(url => 'ldaps://127.0.0.1:' . SvcTest::Nginx::free_port());
admin_error(login('ada@example.test'), 503, 'unavailable', 'no server');
configure();
$s->sql("UPDATE svc.ldap SET url = 'ldaps://169.254.169.254', updated_at = now()");
admin_error(login('ada@example.test'), 503, 'unavailable', 'an address that is not asked');
$s->sql("UPDATE svc.ldap SET bind_password = '\\x00', updated_at = now()");
admin_error(login('ada@example.test'), 503, 'unavailable', 'a password that is not unsealed');

my $named = SvcTest::Slapd->new($s, dir => 'named', names => "DNS:$NAME");

$named->launch;
configure(url => $named->urls, caCertificates => $named->ca);
admin_error(login('ada@example.test'), 503, 'unavailable', 'a certificate of another name');
$named->stop;

my $refers = SvcTest::Slapd->new($s, dir => 'refers', conf => "referral ldap://127.0.0.1/\n");

$refers->launch;
configure(url => $refers->urls, caCertificates => $refers->ca, baseDn => 'dc=elsewhere');
same_as_wrong(login('ada@example.test'), 'a referral is followed by nobody');
$refers->stop;
configure();
is(login('ada@example.test')->status, 200, 'and she comes in');


# --- a lock, and the limits ----------------------------------------------------------------

unlock();

for my $email (qw(ada@example.test nobody@example.test)) {
    login($email, 'wrong') for 1 .. 4;
    $binds = binds();
    admin_error(login($email), 429, 'account_locked', "$email is locked");
    is(binds(), $binds, 'and the directory is not asked');
}

$s->redis->command('FLUSHDB');
admin_error(login('ada@example.test'), 429, 'account_locked', 'also where Redis has forgotten');

# what is typed may be another address than that of the account: failures count for this one,
# too, and while it is locked nobody learns which password is right

sub counts {
    my ($of) = account('ada@example.test', 'failed_logins, locked_until IS NOT NULL');

    return join ' ', $of, map { $_->[0] } $s->sql('SELECT failed FROM svc.login_phantom'
                                                  . ' ORDER BY failed_since');
}

unlock();
$slapd->add("dn: uid=lovelace,ou=people,$SUFFIX\nchangetype: modify\nadd: mail\n"
            . join('', map { "mail: alias$_\@example.test\n" } 1 .. 3));
is(login('alias1@example.test')->json->{user}{email}, 'ada@example.test', 'an alias');
same_as_wrong(login('alias1@example.test', 'wrong'), 'a wrong password by it');
is(counts(), '1 1', 'counts for the account, too');
is(scalar($s->sql('SELECT count(*) FROM svc.sign_in WHERE user_id IS NOT NULL'
                  . " AND outcome = 'failure'")), 1, 'which is seen there');
same_as_wrong(login('alias2@example.test', 'wrong'), 'and by another');
$slapd->add("dn: uid=lovelace,ou=people,$SUFFIX\nchangetype: modify\n"
            . "add: objectClass\nobjectClass: otherAccount\n-\nadd: loginDisabled\n"
            . "loginDisabled: TRUE\n");
same_as_wrong(login('alias2@example.test'), 'disabled');
is(counts(), '3 1 2', 'as all of them do');
$slapd->add("dn: uid=lovelace,ou=people,$SUFFIX\nchangetype: modify\ndelete: loginDisabled\n-\n"
            . "delete: objectClass\nobjectClass: otherAccount\n");

sub locks_told {
    return scalar grep { $_->{to}[0] eq 'ada@example.test' && $_->{plain} =~ /too many failed/ }
                  $mail->events('mail');
}

my ($locked, $told) = (scalar(() = events('user.locked')), locks_told());

same_as_wrong(login('alias3@example.test', 'wrong'), 'the last one');
is(scalar(() = events('user.locked')), $locked + 1, 'locks the account');
is(scalar($s->sql('SELECT count(*) FROM svc.sign_in WHERE locked')), 1, 'which is counted');
ok((wait_for { $told < locks_told() }), 'and mailed');
same_as_wrong(login('alias1@example.test'), 'then the right one is wrong');
is(reason(), 'locked', 'which the audit log says');
is(counts(), '4 2 2 1', 'it counts as a wrong one of the address');
same_as_wrong(login('alias1@example.test', 'wrong'), 'as does a wrong one');
admin_error(login('alias1@example.test', $_), 429, 'account_locked', 'until it is locked itself')
    for $THERE, $THERE, 'wrong';
is(counts(), '4 4 2 1', 'and nothing counts');
$s->sql("UPDATE svc.user_account SET status = 'suspended'");
same_as_wrong(login('alias2@example.test'), 'nor is told what else is wrong with the account');
$s->sql("UPDATE svc.user_account SET status = 'active'");
admin_error(login('ada@example.test'), 429, 'account_locked', 'her own address is locked');

# a lock that comes while the directory is asked

$s->sql('CREATE SEQUENCE public.looks; GRANT USAGE ON public.looks TO svc_app');
with_function(sign_in_locked => 'tenant uuid, account uuid, mac bytea) RETURNS bigint',
              'SELECT CASE WHEN mac IS NULL THEN'
              . ' CASE WHEN nextval(\'\'public.looks\'\') > 1 THEN 60 END END', sub {
    unlock();
    same_as_wrong(login('alias1@example.test'), 'between the read and the write');
});
unlock();

# somebody whom nothing links yet is known by the address that the directory has

my $zoe = with_password($s, $acme, userName => 'zoe@example.test');

$slapd->person(zoe => (userPassword => $THERE, mail => [ 'zoe@example.test',
                                                         'zoe2@example.test' ]));
same_as_wrong(login('zoe2@example.test', 'wrong'), 'nobody is linked');
is_deeply([ account('zoe@example.test', 'failed_logins') ], [ 1 ], 'but it counts');
same_as_wrong(login('ada@example.test', 'wrong'), 'a wrong password of hers');
is_deeply([ account('zoe@example.test', 'failed_logins') ], [ 1 ], "is no one's else");
unlock();
is(login('ada@example.test', 'wrong')->status, 401, 'one failure');
is(login('ada@example.test')->status, 200, 'is taken back');
is_deeply([ account('ada@example.test', 'failed_logins') ], [ 0 ], 'by a success');


# --- whose password goes there -------------------------------------------------------------

my $bob = with_password($s, $acme, userName => 'bob@example.test');
my $eve = with_password($s, $acme, userName => 'eve@acme.test');

$slapd->person(bob => (userPassword => $THERE));
$slapd->person(eve => (userPassword => $THERE, mail => 'eve@acme.test'));
is(login('eve@acme.test', $PASSWORD)->status, 200, 'that of another domain does not');
same_as_wrong(login('bob@example.test', $PASSWORD), 'what is stored is nothing to a directory');
is(login('bob@example.test', $PASSWORD, connection => 'local')->status, 200,
   'but where one says so');
same_as_wrong(login('bob@example.test', $THERE, connection => 'local'), 'the other one not');
is(SvcTest::Browser->new($s, tenant => 'globex')->login('ada@example.test', $THERE)->status, 401,
   'nor in another tenant');

my $off = $s->node(svc => { svc_sign_in => 'on' });

$binds = binds();
is(browser(port => $off->{port})->login('bob@example.test', $PASSWORD)->status, 200,
   'nor without svc_federation');
is(browser(port => $off->{port})->login('ada@example.test', $THERE)->status, 401, 'where she');
is(binds(), $binds, 'is asked for nowhere');
$off->stop;

for my $case ([ 'nobody vouches for', 'svc.ldap SET vouched_owner = false',
                'svc.ldap SET vouched_owner = true' ],
              [ 'nobody vouches for, whatever its tenant says',
                'svc.ldap SET vouched_owner = false; UPDATE svc.tenant SET directory = true',
                'svc.ldap SET vouched_owner = true' ],
              [ 'is off', 'svc.ldap SET enabled = false', 'svc.ldap SET enabled = true' ],
              [ 'is off, whatever its tenant says',
                'svc.ldap SET enabled = false; UPDATE svc.tenant SET directory = true',
                'svc.ldap SET enabled = true' ],
              [ 'has a domain that is not verified',
                "svc.domain SET verified_at = NULL WHERE domain = 'example.test'",
                "svc.domain SET verified_at = now() WHERE domain = 'example.test'" ],
              [ 'has other domains', "svc.ldap SET domains = '{acme.test}'",
                "svc.ldap SET domains = '{example.test}'" ])
{
    my ($what, $change, $back) = @$case;

    $binds = binds();
    $s->sql("UPDATE $change");
    is(login('bob@example.test', $PASSWORD)->status, 200, "a directory that $what");
    is(login('bob@example.test', $THERE)->status, 401, 'is not asked');
    is(binds(), $binds, 'at all');
    $s->sql("UPDATE $back");
}

my $says = q(SELECT string_agg(slug, ',') FROM svc.tenant WHERE directory);

$s->sql('UPDATE svc.tenant SET directory = NULL; UPDATE svc.ldap SET enabled = true');
is(scalar($s->sql($says)), 'acme', 'which the tenant says');

for my $column (qw(enabled vouched_owner)) {
    $s->sql("UPDATE svc.ldap SET $column = false");
    is(scalar($s->sql($says)), undef, "while $column");
    $s->sql("UPDATE svc.ldap SET $column = true");
}

# what was read first may not be so any more when the directory's row is

sub with_function {
    my ($name, $of, $body, $do) = @_;
    my $old = $s->sql("SELECT pg_get_functiondef('svc.$name'::regproc)");

    $s->sql("CREATE OR REPLACE FUNCTION svc.$name($of LANGUAGE sql VOLATILE AS '$body'");
    $do->();
    $s->sql($old);
}

my $way = 'tenant uuid, takes boolean, address text) RETURNS uuid';

$binds = binds();
$s->sql('UPDATE svc.ldap SET vouched_owner = false; UPDATE svc.tenant SET directory = true');
with_function(sign_in_directory => $way,
              'SELECT connection_id FROM svc.ldap WHERE tenant_id = tenant', sub {
    admin_error(login('ada@example.test'), 503, 'unavailable', 'nobody vouches by now');
});
$s->sql('UPDATE svc.ldap SET vouched_owner = true');
with_function(sign_in_directory => $way, 'SELECT gen_random_uuid()', sub {
    admin_error(login('ada@example.test'), 503, 'unavailable', 'it is another one by now');
});
is(binds(), $binds, 'and no password is sent');
is(login('ada@example.test')->status, 200, 'but to the right one');
unlock();


# --- who has an account --------------------------------------------------------------------

sub linked {
    return scalar $s->sql('SELECT count(*) FROM svc.federated_identity'
                          . " WHERE user_id = '$_[0]{id}'");
}

# his address was never proved: nothing of before is his

$s->sql("UPDATE svc.user_account SET email_verified = false WHERE id = '$bob->{id}'");

my $old = browser();

$old->login('bob@example.test', $PASSWORD, connection => 'local');
configure(linkByEmail => 'never');
admin_error(login('bob@example.test'), 403, 'link_required', 'nobody is linked');
is((events('federation.denied'))[-1]{why}, 'link_required', 'which is audited');
configure();
is(login('bob@example.test')->status, 200, 'he is linked');
is(linked($bob), 1, 'once');
is($old->get('/v1/auth/session')->status, 401, 'sessions end');
same_as_wrong(login('bob@example.test', $PASSWORD, connection => 'local'),
              'and the password of whoever has made the account');

my $carol = with_password($s, $acme, userName => 'carol@example.test', role => 'owner');

$s->sql("UPDATE svc.user_account SET email_verified = true WHERE id = '$carol->{id}'");
$slapd->person(carol => (userPassword => $THERE));
is(login('carol@example.test')->status, 200, 'an owner, whom an owner has vouched for');
$s->sql("UPDATE svc.federated_identity SET vouched_owner = false WHERE user_id = '$carol->{id}'");
admin_error(login('carol@example.test'), 403, 'access_denied', 'not so when she was linked');
$s->sql("UPDATE svc.federated_identity SET vouched_owner = true WHERE user_id = '$carol->{id}'");
is(login('carol@example.test', $PASSWORD, connection => 'local')->status, 200,
   'her password stays');

$slapd->person(dan => (userPassword => $THERE));
configure(jitProvisioning => undef);
admin_error(login('dan@example.test'), 403, 'no_account', 'nobody new');
configure();
$s->sql("UPDATE svc.user_account SET status = 'suspended'"
        . " WHERE id = '$bob->{id}'");
admin_error(login('bob@example.test'), 403, 'access_denied', 'a suspended user');
$s->sql("UPDATE svc.user_account SET status = 'active'"
        . " WHERE id = '$bob->{id}'");

# an address of another domain, and one that is typed

$slapd->person(fred => (userPassword => $THERE, mail => [ 'fred@elsewhere.test',
                                                          'fred@example.test' ]));
admin_error(login('fred@example.test'), 403, 'email_unverified', 'an address of elsewhere');
configure(userFilter => '(uid={local})', attributeMapping => {});
is(login('dan@example.test')->json->{user}{email}, 'dan@example.test', 'as it is typed');
configure(userFilter => '(uid={local})', attributeMapping => {},
          domains => [ qw(example.test acme.test) ]);
admin_error(login('eve@acme.test'), 403, 'email_unverified',
            'not where it may be somebody else of another domain');
is(login('dan@acme.test')->json->{user}{email}, 'dan@example.test', 'who is linked is');
configure();


# --- attributes, and groups ----------------------------------------------------------------

my %mapped = (attributeMapping => { email => 'mail', firstName => 'givenName', title => 'title',
                                    department => 'ou', locale => 'preferredLanguage',
                                    externalId => 'employeeNumber' });

sub person {
    return join ' ', map { $_ // '-' }
           account("$_[0]\@example.test", 'first_name, last_name, title, department, locale,'
                                          . ' external_id');
}

my $ivy_dn = $slapd->person(ivy => (userPassword => $THERE, givenName => 'Ivy', title => 'Chef',
                                    ou => 'Kitchen', preferredLanguage => 'fr',
                                    employeeNumber => '7'));

configure(%mapped);
is(login('ivy@example.test')->status, 200, 'somebody new with attributes');
is(person('ivy'), 'Ivy - Chef Kitchen fr 7', 'has them');
$slapd->add("dn: $ivy_dn\nchangetype: modify\nreplace: title\ntitle: Cook\n-\n"
            . "delete: ou\n-\nreplace: givenName\ngivenName: a\xe2\x80\xaeb\n");
is(login('ivy@example.test')->status, 200, 'when they change');
is(person('ivy'), 'Ivy - Cook Kitchen fr 7', 'so they do here, if they are good');
is_deeply((events('user.updated'))[-1], { changed => [ 'title' ] }, 'in the audit log');
$slapd->add("dn: uid=bob,ou=people,$SUFFIX\nchangetype: modify\nadd: title\ntitle: Boss\n");
is(login('bob@example.test')->status, 200, 'somebody whom the directory has not made');
is(person('bob'), '- - - - - -', 'stays as he was');

my %group = map { $_ => $acme->admin(POST => '/groups', { name => $_ }, [], $manager)->json->{id} }
                qw(red blue);
my @map = map { { external => $_->[0], groupId => $group{ $_->[1] } } }
              [ "CN=Red\\2C and Others , OU=Groups,DC=EXAMPLE,dc=test", 'red' ],
              [ "cn=blue,ou=groups,$SUFFIX", 'blue' ],
              [ 'red', 'blue' ];

sub grouped {
    my ($name, $is, $who) = @_;
    my $email = ($who // 'ivy') . '@example.test';

    is(login($email)->status, 200, $name);
    is(join(' ', map { $_->[0] } $s->sql(<<"EOT")), $is, "is in '$is'");
SELECT name FROM svc.group_member JOIN svc.user_group ON group_id = user_group.id
 JOIN svc.user_account ON user_id = user_account.id WHERE user_name = '$email' ORDER BY name
EOT
}

sub leave { $slapd->add("dn: $_[0]\nchangetype: modify\ndelete: member\nmember: $_[1]\n") }

my $red = "cn=red\\, and others,ou=groups,$SUFFIX";

$slapd->add("dn: $red\nobjectClass: groupOfNames\ncn: red, and others\n"
            . "member: $ivy_dn\nmember: $ada_dn\n");

my $blue = $slapd->group(blue => $ada_dn);

grouped('where no group is mapped', '');
configure(%mapped, groupMapping => \@map);
grouped('in a group', 'red');
grouped('in none, which is looked for', '', 'bob');
is(scalar(() = $slapd->lines(qr/member=uid=/)), 1, 'where an entry has no memberOf');
$slapd->add("dn: $blue\nchangetype: modify\nadd: member\nmember: $ivy_dn\n");
leave($red, $ivy_dn);
grouped('in another one', 'blue');
is_deeply([ map { $_->[0] } $acme->events_where("action = 'group.member_removed'", 'target_name') ],
          [ 'red' ], 'in the audit log');
$s->sql("INSERT INTO svc.group_member (tenant_id, group_id, user_id) SELECT tenant_id,"
        . " '$group{red}', id FROM svc.user_account WHERE user_name = 'ivy\@example.test'");
leave($blue, $ivy_dn);
grouped('in none, but for one by hand', 'red');
$slapd->add("dn: $blue\nchangetype: modify\nadd: member\nmember: $ivy_dn\n");

for my $less (qw(ldap federated_identity)) {
    $s->sql("UPDATE svc.$less SET vouched = array_remove(vouched, 'groups:manage')");
    grouped('of a directory that does not vouch for groups', 'red');
    $s->sql("UPDATE svc.$less SET vouched = vouched || '{groups:manage}'");
}

grouped('of one that does', 'blue red');

configure(%mapped);
grouped('what is mapped no more goes', 'red');
configure();
grouped('in new ones of a directory', 'red');


# --- policies, factors ---------------------------------------------------------------------

policy($acme, 'mfa');
admin_error(login('dan@example.test'), 403, 'mfa_enrollment_required', 'a second factor');
$slapd->person(gina => (userPassword => $THERE));
admin_error(login('gina@example.test'), 403, 'mfa_enrollment_required', 'of somebody new');
policy($acme, 'allow');

my $hal = browser();

$slapd->person(hal => (userPassword => $THERE));
$hal->login('hal@example.test', $THERE);

my $factor = enrolled($hal);

$hal = browser();
admin_error($hal->login('hal@example.test', $THERE), 403, 'step_up_required', 'who has one');
is($hal->post('/v1/mfa/step-up', { code => totp($factor->{secret}) })->status, 200,
   'presents it');
is_deeply([ (events('user.login'))[-1]->@{qw(connection methods)} ],
          [ 'ldap', [ qw(ldap totp) ] ], 'and has come by the directory');

$binds = binds();
$s->sql("INSERT INTO svc.ip_block (tenant_id, ip) VALUES ('$acme->{id}', '127.0.0.1')");
admin_error(login('dan@example.test'), 403, 'access_denied', 'blocked');
is(binds(), $binds, 'before the directory is asked');
$s->sql('DELETE FROM svc.ip_block');


# --- no password of ours -------------------------------------------------------------------

$b = browser();
$b->login('ada@example.test', $THERE);
admin_error($b->post('/v1/auth/password', { currentPassword => $THERE,
                                            newPassword => 'a quiet harbour before seven' }),
            403, 'directory_account', 'the directory has her password');

admin_error($b->post('/v1/auth/password', { newPassword => 'a quiet harbour before seven' }),
            403, 'directory_account', 'whether or not she says one');

sub forgot { return browser()->post('/v1/auth/password/forgot', { email => $_[0],
                                                                  tenant => 'acme' }) }

sub reset_by { return browser()->post('/v1/auth/password/reset',
                                      { token => $_[0], tenant => 'acme',
                                        password => 'a quiet harbour before seven' }) }

$s->sql('DELETE FROM svc.password_reset');
is(forgot($_)->body, '{}', "a mail to $_") for qw(ada@example.test dan@example.test
                                                  eve@acme.test carol@example.test);

wait_for { 2 == grep { ($_->{plain} // '') =~ /#token=/ } $mail->events('mail') };

my %token = map { $_->{to}[0] => ($_->{plain} // '') =~ /#token=([\w-]{43})/ }
            grep { ($_->{plain} // '') =~ /#token=/ } $mail->events('mail');

is(join(' ', sort keys %token), 'carol@example.test eve@acme.test',
   'an owner with a password, and whom no directory knows, get one');
is(scalar($s->sql('SELECT count(*) FROM svc.password_reset')), 2, 'there are no others');

# between its two looks a directory may have come

$s->sql('ALTER SEQUENCE public.looks RESTART');
with_function(directory_account => 'tenant uuid, takes boolean, account uuid) RETURNS boolean',
              'SELECT nextval(\'\'public.looks\'\') > 1', sub {
    admin_error(reset_by($token{'eve@acme.test'}), 400, 'invalid_token', 'a directory that comes');
});

$s->sql("UPDATE svc.user_account SET source = 'ldap' WHERE id = '$eve->{id}'");
admin_error(reset_by($token{'eve@acme.test'}), 400, 'invalid_token', 'one that was sent before');
$s->sql('UPDATE svc.ldap SET enabled = false');
is(reset_by($token{'eve@acme.test'})->status, 204, 'is good where there is no directory');
$s->sql('UPDATE svc.ldap SET enabled = true');
is(reset_by($token{'carol@example.test'})->status, 204, "the owner's is");
$b = browser();
$b->login('carol@example.test', 'a quiet harbour before seven', connection => 'local');
is($b->post('/v1/auth/password', { currentPassword => 'a quiet harbour before seven',
                                   newPassword => 'rowing past nine lanterns' })->status, 200,
   'who may change it, too');
$s->sql("DELETE FROM svc.password WHERE user_id = '$carol->{id}'");
admin_error($b->post('/v1/auth/password', { newPassword => 'a quiet harbour before seven' }),
            403, 'directory_account', 'but makes none');
$s->sql("UPDATE svc.ldap SET domains = '{acme.test}'");
isnt($b->post('/v1/auth/password', { newPassword => 'a quiet harbour before seven' })
     ->json->{error}{code}, 'directory_account', 'unless her domain is not its own any more');
$s->sql("UPDATE svc.ldap SET domains = '{example.test}'");
$s->sql("DELETE FROM svc.federated_identity WHERE user_id = '$carol->{id}'");
isnt($b->post('/v1/auth/password', { newPassword => 'a quiet harbour before seven' })
     ->json->{error}{code}, 'directory_account', 'unless nothing links her to it');


# --- who is invited ------------------------------------------------------------------------

my $inviter = $acme->token_for('apps:manage,audit:view,groups:manage,members:manage,roles:manage,'
                               . 'tenant:manage,users:view');

sub invited {
    my ($name, %body) = @_;
    my $r = $acme->admin(POST => '/invitations', { email => "$name\@example.test",
                                                   role => 'member', %body }, [], $inviter);

    is($r->status, 201, "$name is invited") or diag($r->body);
}

configure(jitProvisioning => undef);
$slapd->person(jan => (userPassword => $THERE, cn => 'Jan', mail => [ 'jan@example.test',
                                                                      'j@example.test' ]));
admin_error(login('jan@example.test'), 403, 'no_account', 'somebody whom nobody has invited');
invited(jan => (groupIds => [ $group{blue} ]));
admin_error(login('jan@example.test', 'wrong'), 401, 'invalid_credentials', 'a wrong password');
is(login('j@example.test')->json->{user}{email}, 'jan@example.test', 'an invitation');
is_deeply([ account('jan@example.test', 'source, display_name') ], [ 'invitation', 'Jan' ],
          'is accepted by the directory');
is_deeply((events('invitation.accepted'))[-1]{groupIds}, [ $group{blue} ], 'with its groups');
is_deeply((events('federation.linked'))[-1], { connection => 'ldap' }, 'and linked');
is(login('jan@example.test')->status, 200, 'and signs in from then on');
$slapd->person(kim => (userPassword => $THERE));
invited(kim => (role => 'admin'));
$s->sql('UPDATE svc.ldap SET vouched = \'{}\'');
admin_error(login('kim@example.test'), 403, 'access_denied', 'one beyond what it covers is not');
is((events('federation.denied'))[-1]{why}, 'uncovered', 'as the audit log says');
$s->sql("UPDATE svc.invitation SET expires_at = now() WHERE email = 'kim\@example.test'");
admin_error(login('kim@example.test'), 403, 'no_account', 'nor one that has expired');
configure();


# --- forced --------------------------------------------------------------------------------

my $ldap = $s->sql('SELECT connection_id FROM svc.ldap');
my $discover = sub {
    return $s->http(POST => '/v1/auth/discover', [], { email => 'x@example.test' })->json;
};

force($s, $acme, 'example.test', $ldap);
wait_for { ($discover->()->{required} // '') eq 'ldap' };
is(login('ada@example.test')->status, 200, 'who must come in by the directory');
configure(jitProvisioning => undef);
$slapd->person(lea => (userPassword => $THERE));
invited('lea');
is(login('lea@example.test')->status, 200, 'and whoever is invited');
configure();
same_as_wrong(login('ada@example.test', 'wrong'), 'and a wrong password');
admin_error(login('carol@example.test', $PASSWORD, connection => 'local'), 403, 'sso_required',
            'no password of ours');
admin_error(login('ada@example.test', $THERE, connection => 'local'), 403, 'sso_required',
            'nor hers, called so');

my $saml = SvcTest::Realm::saml($s, $acme, 'example.test');

force($s, $acme, 'example.test', $saml);
$binds = binds();
admin_error(login('ada@example.test', $_), 403, 'sso_required', 'who must come in otherwise')
    for $THERE, 'wrong';
is(binds(), $binds, 'is not sent there');


# --- the server ----------------------------------------------------------------------------

$slapd->stop;
$mail->stop;
$s->done;
done_testing();
