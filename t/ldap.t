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
           attributeMapping => { email => 'mail', displayName => 'cn' });
my @answers;


sub ask {
    my ($method, $body, %opt) = @_;

    my $r = ($opt{tenant} // $acme)->admin($method, '/ldap', $body, undef,
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
              baseDn => 'ou=people,dc=example,dc=com');

delete $stored{bindPassword};

my $got = changed(\%NEW, qw(enabled url bindDn bindPassword baseDn userFilter
                            attributeMapping startTls));

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
is(ask(PUT => { %NEW, url => 'ldaps://globex.test' }, tenant => $globex)->status, 200,
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
        '(|(mail={email})(uid={email}))', '({email}=x)', '(mail={email}\\2)', '',
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
is($s->sql("SELECT count(*) FROM svc.ldap WHERE tenant_id = '$acme->{id}'"), 0,
   'nothing was stored');


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
                    . " WHERE action = 'ldap.deleted'") ], [ [ '{}', undef ] ],
          'that one was deleted is in the audit log');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;


# --- without a key ---------------------------------------------------------------------

$s = SvcTest->new(svc => { svc_key_file => undef })->start;
$acme = $s->tenant('acme');
$s->secret($SECRET);

is(ask(PUT => \%nobody)->status, 200, 'without a secret no key is needed');
admin_error(ask(PUT => \%NEW), 503, undef, 'with one it is');
like($s->log_tail, qr/a secret that a tenant configures cannot be sealed/,
     'which the error log tells');

$s->done;

done_testing();
