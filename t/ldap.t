#!/usr/bin/perl

# Shows /v1/admin/ldap, a tenant's LDAP directory.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Connection qw(%SHARED verified link_to links common_members whose_people);
use SvcTest::Process qw(run slurp);
use SvcTest::Skip;

needs(program => 'openssl');

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $SECRET = 'a bind password of this test';

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($SECRET, $PASSWORD);

my %NEW = (url => 'ldaps://LDAP.example.com:636', bindDn => 'cn=svc,dc=example,dc=com',
           bindPassword => $SECRET, baseDn => ' ou=people,dc=example,dc=com',
           userFilter => '(&(objectClass=person)(mail={email}))',
           attributeMapping => { email => 'mail', displayName => 'cn' },
           domains => [ 'acme.test' ]);
my @answers;

verified($s, $acme, 'acme.test', 'xn--bcher-kva.test');
verified($s, $globex, 'globex.test');


sub ask {
    my ($method, $body, %opt) = @_;

    my $r = $opt{by} ? $opt{by}->ask($method => '/v1/admin/ldap', $body)
                     : ($opt{tenant} // $acme)->admin($method, '/ldap', $body, undef,
                                                      $opt{token});

    push @answers, $r->body;

    return $r;
}


# Expects a refusal that names the member.

sub refused {
    my ($member, $change, $name) = @_;

    my %body = (%NEW, %$change);

    delete @body{ grep { ref $body{$_} eq 'SCALAR' } keys %body };

    like(admin_error(ask(PUT => \%body), 400, 'invalid_request', $name)
         ->{message} // '', qr/^"\Q$member\E"/, "$name: says \"$member\"");
}


sub changed {
    my ($body, @changed) = @_;

    my $last = $s->sql('SELECT coalesce(max(id), 0) FROM svc.audit_event');
    my $r = ask(PUT => $body);

    is($r->status, 200, "changes @changed") or diag($r->body);
    is_deeply([ map { JSON::PP::decode_json($_->[0])->{changed} }
                    $s->sql('SELECT details FROM svc.audit_event WHERE action ='
                            . " 'ldap.updated' AND id > $last") ],
              [ @changed ? \@changed : () ], 'which is in the audit log');

    return $r->json;
}


# --- permissions ------------------------------------------------------------------

my $weak = $acme->token_for('apps:manage,audit:view,groups:manage,members:manage,'
                            . 'roles:manage,users:view');

admin_error(ask(@$_, token => $weak), 403, undef, "$_->[0] without the permission")
    for [ GET => undef ], [ PUT => \%NEW ], [ DELETE => undef ];


# --- put, get, put again, delete -----------------------------------------------------

is(ask(GET => undef)->body, '{"configured":false}', 'there is none');
is(ask(DELETE => undef)->status, 204, 'nothing to delete');

my %stored = (%NEW, configured => $TRUE, enabled => $TRUE, bindPasswordSet => $TRUE,
              url => 'ldaps://ldap.example.com:636', startTls => $FALSE,
              baseDn => 'ou=people,dc=example,dc=com', %SHARED, domains => [ 'acme.test' ],
              connection => 'ldap', uniqueIdAttribute => undef, caCertificates => undef,
              syncEnabled => $FALSE, syncFilter => undef, syncIntervalMinutes => 60,
              syncDeactivate => $FALSE, jitProvisioning => $FALSE);
my @COMMON = qw(syncEnabled syncIntervalMinutes syncDeactivate jitProvisioning showOnPage
                domains linkByEmail trustMfa groupMapping);

delete $stored{bindPassword};

my $got = changed(\%NEW, qw(enabled url bindDn bindPassword baseDn userFilter
                            attributeMapping startTls), @COMMON);

like($got->{updatedAt}, $TIME, 'when');
is_deeply($got, { %stored, updatedAt => $got->{updatedAt} }, 'it is there');
is_deeply(ask(GET => undef)->json, $got, 'and read');
is(ask(GET => undef, tenant => $globex)->body, '{"configured":false}',
   'not by others');

is_deeply(changed($got), $got, 'what was read can be sent back, and changes nothing');
is(changed({ %$got, enabled => $FALSE }, 'enabled')->{bindPasswordSet}, $TRUE,
   'the password is kept');

my $sealed = $s->sql('SELECT bind_password FROM svc.ldap');

changed({ %$got, bindPassword => $SECRET }, 'enabled', 'bindPassword');
isnt($s->sql('SELECT bind_password FROM svc.ldap'), $sealed,
     'one that is sent is sealed anew');

changed({ %NEW, url => 'ldap://[2001:DB8::1]:389', startTls => $TRUE,
          userFilter => '(mail={email})' },
        qw(url bindPassword userFilter startTls));

# The password is sent to no other server, and by no other name.

refused(bindPassword => { url => 'ldaps://evil.example.com', bindPassword => \0 },
        'another server');
refused(bindPassword => { bindDn => 'cn=other', bindPassword => \0 }, 'another name');

my %nobody = %NEW;
delete @nobody{qw(bindDn bindPassword attributeMapping)};
$got = changed(\%nobody, qw(url bindDn bindPassword userFilter attributeMapping
                            startTls));
is_deeply([ @$got{qw(bindDn bindPasswordSet attributeMapping)} ],
          [ undef, $FALSE, {} ], 'as nobody, and without a mapping');
refused(bindPassword => { bindPassword => \0 }, 'a name without a password');

is($s->sql("SELECT count(*) FROM svc.ldap WHERE tenant_id = '$globex->{id}'"), 0,
   'others have none');
is(ask(PUT => { %NEW, url => 'ldaps://globex.test', domains => [ 'globex.test' ] },
       tenant => $globex)->status, 200,
   'of another tenant');
is(ask(DELETE => undef)->status, 204, 'deleted');
is(ask(GET => undef)->body, '{"configured":false}', 'it is gone');
is(ask(GET => undef, tenant => $globex)->json->{url}, 'ldaps://globex.test',
   'and not that of others');
refused(bindPassword => { bindPassword => \0 }, 'nor is the password there again');


# --- what is refused ------------------------------------------------------------------

refused(url => { url => $_ }, "url: $_")
    for 'ldap://ldap.example.com', 'LDAP://x', 'https://x', 'ldaps:x', 'ldaps://',
        'ldaps://x/', 'ldaps://x/dc=x', 'ldaps://x?y', 'ldaps://u@x', 'ldaps://u:p@x',
        'ldaps://x:0', 'ldaps://x:65536', 'ldaps://x:', 'ldaps://x:y', 'ldaps://x:0636',
        'ldaps://-x', 'ldaps://x-', 'ldaps://x..y', 'ldaps://x.', 'ldaps://.x',
        'ldaps://x y', "ldaps://x\n", 'ldaps://x#y', 'ldaps://[::1', 'ldaps://[x]',
        'ldaps://[127.0.0.1]', 'ldaps://::1', 'ldaps://bücher.example', 'ldapi://x',
        'ldaps://x\\y', 'ldaps://' . 'x' x 64, 'ldaps://' . 'x' x 2048, '';
refused(url => { url => $_ }, 'url') for \0, undef, 1, [], {};
refused(startTls => { startTls => $TRUE }, 'ldaps and STARTTLS');
refused(startTls => { startTls => $_ }, 'startTls') for 1, 'true', undef;
refused(enabled => { enabled => $_ }, 'enabled') for 1, 'true', undef;

refused(userFilter => { userFilter => $_ }, "userFilter: $_")
    for '(mail={email}', 'mail={email}', '(mail={email}))', '(mail=x)',
        '(|(mail={email})(uid={email}))', '(|(mail={email})(uid={local}))',
        '(|(uid={local})(cn={local}))', '(uid={LOCAL})', '({email}=x)', '(mail={email}\\2)', '',
        '(mail={email})' . '(' x 1011, "(mail={email}\n)";
refused(userFilter => { userFilter => $_ }, 'userFilter') for \0, undef, 1, [];
refused(baseDn => { baseDn => $_ }, 'baseDn')
    for '', ' ', 'people', '=x', 'ou people=x', 'ou=' . 'x' x 1022, \0, undef, 1;
refused(bindDn => { bindDn => $_ }, 'bindDn') for '', 'x' x 1025, 1, "a\nb", [];
refused(bindPassword => { bindPassword => $_ }, 'bindPassword')
    for '', 'x' x 1025, 1, undef, [];
refused(bindPassword => { bindDn => $_ }, 'a password without a name') for \0, undef;
refused(attributeMapping => { attributeMapping => $_ }, 'attributeMapping')
    for [], 'x', 1, { mail => 'email' };
refused('attributeMapping.email', { attributeMapping => { email => $_ } }, 'a name')
    for '', 'a b', 'a"b', 'a\\b', 'ü', "a\n", 'x' x 256, 1, undef, {};
refused(domains => { domains => $_ }, 'whose passwords it is asked for') for \0, undef;
is(admin_error(ask(PUT => { %NEW, domains => undef }), 400, 'invalid_request', 'not anybody\'s')
   ->{message}, '"domains" is required: whose passwords the directory is asked for.',
   'which says so');
refused(uniqueIdAttribute => { uniqueIdAttribute => $_ }, 'uniqueIdAttribute')
    for '', 'a b', '-a', 'ü', 'a=b', 'x' x 256, 'mail', 'MAIL', 'dn', 'entryDN',
        'distinguishedName', 1, [];
refused(syncFilter => { syncFilter => $_ }, 'syncFilter')
    for '', '(cn=x', 'cn=x', '(cn={email})', '(cn={x})', '(cn=' . 'x' x 1020 . ')', 1, {};
refused(syncIntervalMinutes => { syncIntervalMinutes => $_ }, 'syncIntervalMinutes')
    for 14, 1441, 0, -1, '60', 60.5, undef;
refused($_ => { $_ => undef }, $_), refused($_ => { $_ => 1 }, $_)
    for qw(syncEnabled syncDeactivate);
is($s->sql("SELECT count(*) FROM svc.ldap WHERE tenant_id = '$acme->{id}'"), 0,
   'nothing was stored');


# --- the directory's own members -----------------------------------------------------------

sub certificate {
    my ($key, $name) = @_;

    my $path = $s->dir . '/cert.pem';
    my ($status, $text) = run([ qw(openssl req -x509 -nodes -days 1 -subj), "/CN=$name", '-newkey',
                                split(/ /, $key), '-keyout', $s->dir . '/cert.key',
                                '-out', $path ]);

    die "openssl: $text\n" if $status;

    return slurp($path);
}


my ($one, $two) = map { certificate('ec -pkeyopt ec_paramgen_curve:P-256', $_) } 1, 2;
my $key = slurp($s->dir . '/cert.key');

$s->secret(grep { !/-----/ } split /\n/, $key);

is(admin_error(ask(PUT => { %NEW, caCertificates => $_ }), 400, 'invalid_request', 'no bundle')
   ->{message}, '"caCertificates" must be 1 to 20 X.509 certificates, as PEM, one behind the'
   . ' other.', 'which says what it must be')
    for 'x', $one . 'x', $one x 21, substr($one, 0, -40);
is(admin_error(ask(PUT => { %NEW, caCertificates => $_ }), 400, 'invalid_request', 'no bundle')
   ->{message}, '"caCertificates" must be one X.509 certificate, as PEM.',
   'which says what it must be') for "x\n$one", $one . $key . $two;
is(admin_error(ask(PUT => { %NEW, caCertificates => $_ }), 400, 'invalid_request', 'no bundle')
   ->{message}, '"caCertificates" must be a string of 1 to 65536 bytes or null.',
   'which says what it must be') for '', 1, [], 'x' x 65537;

my %more = (uniqueIdAttribute => 'entryUUID', caCertificates => $one . $two,
            syncEnabled => $TRUE, syncFilter => '(objectClass=person)',
            syncIntervalMinutes => 15, syncDeactivate => $TRUE);

is(ask(PUT => { %NEW, userFilter => '(uid={local})' })->json->{userFilter}, '(uid={local})',
   'what is before the "@" of the address');
$got = changed({ %NEW, %more, caCertificates => " \r\n$one\r\n" . ($two =~ s/\n/\r\n/gr) },
               qw(bindPassword userFilter uniqueIdAttribute caCertificates syncEnabled syncFilter
                  syncIntervalMinutes syncDeactivate));
is_deeply({ map { $_ => $got->{$_} } keys %more }, \%more, 'all of them');
is_deeply(changed($got), $got, 'what was read can be sent back, and changes nothing');
changed({ %NEW, syncIntervalMinutes => 1440 },
        qw(bindPassword uniqueIdAttribute caCertificates syncEnabled syncFilter
           syncIntervalMinutes syncDeactivate));


# --- what all connections have -----------------------------------------------------------

$s->sql('INSERT INTO svc.domain (tenant_id, domain) VALUES'
        . " ('$acme->{id}', 'pending.test'), ('$acme->{id}', 'globex.test')");

my ($group, $other) = map {
    $_->admin(POST => '/groups', { name => 'G' }, undef, $_->token_for('groups:manage'))
      ->json->{id}
} $acme, $globex;
my $groups = $acme->token_for('tenant:manage,groups:manage');
my $write = sub { my ($change, @opt) = @_; ask(PUT => { %NEW, %$change }, @opt) };
my $good = common_members($write, group => $group, other => $other, token => $groups);
my $whole = ask(GET => undef)->json;

is_deeply({ map { $_ => $whole->{$_} } keys %$good }, $good, 'they are read');
is_deeply(changed($whole), $whole, 'and what was read can be sent back');
admin_error(ask(PUT => \%NEW), 403, 'forbidden', 'nor are groups dropped without the right');
is(ask(PUT => \%NEW, token => $groups)->status, 200, 'with it they are');

my @racing = map { $s->begin(PUT => '/v1/admin/ldap',
                             { Authorization => "Bearer $acme->{api_token}" },
                             { %NEW, label => "l$_" }) } 1 .. 6;
my %got;

$got{ $_->read->status }++ for @racing;
is_deeply(\%got, { 200 => 6 }, 'of six at once all are made');


# --- whose people come, and their links ---------------------------------------------------

my %by = map { my ($role) = $_;
               with_password($s, $acme, userName => "a$role\@acme.test", role => $role);
               my $b = SvcTest::Browser->new($s, tenant => 'acme');
               $b->login("a$role\@acme.test")->status == 200 or die "$role\n";
               ($role => $b) } qw(owner admin);

whose_people($write, \%by,
             other => { showOnPage => $TRUE, label => 'x', jitProvisioning => $TRUE,
                        bindPassword => $SECRET, syncEnabled => $TRUE },
             people => { domains => [ [ 'xn--bcher-kva.test' ], [ 'acme.test' ] ],
                         linkByEmail => [ 'owned', 'verified' ], trustMfa => [ $FALSE, $TRUE ],
                         mfaContexts => [ [ 'phr' ], [ 'x' ] ],
                         url => [ 'ldaps://a.test', 'ldaps://b.test' ],
                         baseDn => [ 'dc=a', 'dc=b' ],
                         userFilter => [ '(a={local})', '(a={email})' ],
                         uniqueIdAttribute => [ undef, 'entryUUID' ],
                         caCertificates => [ $one, $two ],
                         attributeMapping => [ { email => 'a' }, { email => 'b' } ],
                         syncFilter => [ '(a=*)', undef ], syncDeactivate => [ $FALSE, $TRUE ] });

my $user = $acme->create(userName => 'linked@acme.test')->{id};

for my $change ({ url => 'ldaps://new.test' }, { baseDn => 'dc=new' },
                { uniqueIdAttribute => 'new' }) {
    my ($member) = keys %$change;

    $write->({});

    my $id = link_to($s, $acme, 'ldap WHERE true', $user);

    is($write->({ userFilter => '(x={local})', bindDn => 'cn=other' })->status, 200,
       'another filter');
    is(links($s, $id), 1, 'the links stay');
    admin_error($write->({ %$change, keepLinks => $TRUE }, @$_), 403, 'forbidden',
                "$member: links are kept by owners alone") for [], [ by => $by{admin} ];
    is($write->({ %$change, keepLinks => $TRUE }, by => $by{owner})->status, 200,
       'an owner keeps them');
    is(links($s, $id), 1, 'they are there');
    is($write->({})->status, 200, 'another directory');
    is(links($s, $id), 0, 'the links are gone');
}

my $id = link_to($s, $acme, 'ldap WHERE true', $user);

is(ask(DELETE => undef)->status, 204, 'deleted');
is(links($s, $id), 0, 'and its links');
is(ask(PUT => \%NEW)->status, 200, 'there again');
isnt($s->sql("SELECT connection_id FROM svc.ldap WHERE tenant_id = '$acme->{id}'"), $id,
     'as another connection');

my $old = $s->tenant('umbrella');

$s->sql('INSERT INTO svc.ldap (tenant_id, enabled, url, base_dn, user_filter, attribute_mapping,'
        . " start_tls) VALUES ('$old->{id}', true, 'ldaps://x', 'dc=x', '(mail={email})', '{}',"
        . ' false)');
$got = ask(GET => undef, tenant => $old)->json;
is_deeply({ map { $_ => $got->{$_} } keys %SHARED }, \%SHARED,
          'a row from before there was all this has the defaults');
is(ask(PUT => $got, tenant => $old)->status, 400, 'and needs domains');


# --- with a session ---------------------------------------------------------------------

with_password($s, $acme, userName => "$_\@acme.test", role => $_) for qw(owner member);

my ($b, $member) = map { SvcTest::Browser->new($s, tenant => 'acme') } 1, 2;

is($b->login('owner@acme.test')->status, 200, 'an owner signs in');
is($member->login('member@acme.test')->status, 200, 'and a member');
admin_error($member->ask(@$_), 403, 'forbidden', "$_->[0]: a member may not")
    for [ GET => '/v1/admin/ldap' ], [ PUT => '/v1/admin/ldap', \%NEW ];
is($b->ask(PUT => '/v1/admin/ldap', \%NEW)->status, 200, 'an owner may');

$s->sql('UPDATE svc.session SET reauth_at = NULL, mfa_at = NULL');
admin_error($b->ask(@$_), 403, 'step_up_required', "$_->[0]: of who is not fresh")
    for [ PUT => '/v1/admin/ldap', \%NEW ], [ DELETE => '/v1/admin/ldap' ];
is($b->get('/v1/admin/ldap')->status, 200, 'who may look');

my $options = $s->http(GET => '/v1/auth/options?tenant=acme');

is($options->status, 200, 'what a page may offer');
unlike($options->body, qr/ldap/i, 'is no directory');


# --- the secret ---------------------------------------------------------------------------

is(scalar(grep { /\Q$SECRET\E/ } @answers), 0, 'is in no answer');
is($s->sql("SELECT (SELECT count(*) FROM svc.ldap l WHERE position('$SECRET'::bytea"
           . " IN l.bind_password) > 0 OR l::text LIKE '%$SECRET%')"
           . " + (SELECT count(*) FROM svc.audit_event e"
           . " WHERE e::text LIKE '%$SECRET%')"), 0, 'nor in the database as it is');
is($s->sql('SELECT count(DISTINCT bind_password_id) FROM svc.ldap'), 2,
   'each is sealed for an id of its own');
is_deeply([ $s->sql("SELECT details, target_id FROM svc.audit_event"
                    . " WHERE action = 'ldap.deleted'") ], [ ([ '{}', undef ]) x 2 ],
          'that one was deleted is in the audit log');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;


# --- without a key ---------------------------------------------------------------------

$s = SvcTest->new(svc => { svc_key_file => undef })->start;
$acme = $s->tenant('acme');
verified($s, $acme, 'acme.test');
$s->secret($SECRET);

is(ask(PUT => \%nobody)->status, 200, 'without a secret no key is needed');
admin_error(ask(PUT => \%NEW), 503, undef, 'with one it is');
like($s->log_tail, qr/a secret that a tenant configures cannot be sealed/,
     'which the error log tells');

$s->done;

done_testing();
