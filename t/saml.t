#!/usr/bin/perl

# /v1/admin/saml: a tenant's identity provider.

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

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($PASSWORD);


# Makes a certificate for a new key.  more: options of openssl req.

sub certificate {
    my ($key, @more) = @_;

    my $path = $s->dir . '/cert.pem';
    my ($status, $text) = run([ qw(openssl req -x509 -nodes -subj /CN=idp -days 1 -newkey),
                                split(/ /, $key), '-keyout', $s->dir . '/cert.key',
                                '-out', $path, @more ]);

    die "openssl: $text\n" if $status;

    return slurp($path);
}


my $RSA = certificate('rsa:2048');
my $EC = certificate('ec -pkeyopt ec_paramgen_curve:P-256');
my $KEY = slurp($s->dir . '/cert.key');

$s->secret(grep { !/-----/ } split /\n/, $KEY);

my %NEW = (enabled => $TRUE, idpEntityId => 'urn:idp', idpSsoUrl => 'https://idp.test/sso',
           idpCertificates => [ $RSA ], nameIdFormat => 'persistent',
           jitProvisioning => $TRUE,
           attributeMapping => { email => 'urn:oid:0.9.2342.19200300.100.1.3' });


sub ask {
    my ($method, $body, %opt) = @_;

    return $opt{by}->ask($method => '/v1/admin/saml', $body) if $opt{by};
    return ($opt{tenant} // $acme)->admin($method, '/saml', $body, undef, $opt{token});
}


# Tests that a change is refused, and that the error names the member.

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
                            . " 'saml.updated' AND id > $last") ],
              [ @changed ? \@changed : () ], 'which is in the audit log');

    return $r->json;
}


# --- permissions ------------------------------------------------------------------

my $weak = $acme->token_for('apps:manage,audit:view,groups:manage,members:manage,'
                            . 'roles:manage,users:view');

admin_error(ask(@$_, token => $weak), 403, undef, "$_->[0] without the permission")
    for [ GET => undef ], [ PUT => \%NEW ];


# --- get, put, put back ---------------------------------------------------------------

my $base = $s->base_url . '/v1/tenants/acme/saml';
my %given = (spEntityId => "$base/metadata", acsUrl => "$base/acs");
my %default = (enabled => $FALSE, idpEntityId => undef, idpSsoUrl => undef,
               idpCertificates => [], nameIdFormat => 'emailAddress',
               attributeMapping => { email => 'email' }, jitProvisioning => $FALSE,
               connection => 'saml', %SHARED);
my @COMMON = qw(showOnPage linkByEmail trustMfa groupMapping);

is_deeply(ask(GET => undef)->json, { %default, %given, updatedAt => undef },
          'nothing is configured');

my $got = changed(\%NEW, qw(enabled idpEntityId idpSsoUrl idpCertificates nameIdFormat
                            attributeMapping jitProvisioning), @COMMON);

like($got->{updatedAt}, $TIME, 'when');
is_deeply($got, { %NEW, %given, %SHARED, connection => 'saml', updatedAt => $got->{updatedAt} }, 'it is there');
is_deeply(ask(GET => undef)->json, $got, 'and read');
is_deeply(ask(GET => undef, tenant => $globex)->json->{idpCertificates}, [],
          'not by others');
is_deeply(changed($got), $got, 'what was read can be sent back, and changes nothing');
is_deeply(changed({ %$got, acsUrl => 'https://evil.test/', spEntityId => 1 }), $got,
          'what is not to be set is ignored');

is_deeply(changed({ %$got, idpCertificates => [ " \r\n$RSA ", $EC =~ s/\n/\r\n/gr ] },
                  'idpCertificates')->{idpCertificates}, [ $RSA, $EC ],
          'certificates come as OpenSSL writes them');

my $reset = changed({ idpEntityId => 'urn:idp' },
                    qw(enabled idpSsoUrl idpCertificates nameIdFormat
                       attributeMapping jitProvisioning));

delete $reset->{updatedAt};
is_deeply($reset, { %default, %given, idpEntityId => 'urn:idp' },
          'what is absent is the default');
is(ask(PUT => \%NEW, tenant => $globex)->json->{acsUrl},
   $s->base_url . '/v1/tenants/globex/saml/acs', 'another tenant has its own');
is(ask(GET => undef)->json->{idpSsoUrl}, undef, 'which is not ours');


# --- what is refused ------------------------------------------------------------------

refused(idpSsoUrl => { idpSsoUrl => $_ }, "idpSsoUrl: $_")
    for 'http://idp.test/', 'https:idp.test', 'https://', 'https://u@idp.test/',
        'https://idp.test/#a', 'https://idp test/', "https://idp.test/\n",
        'https://idp.test:0/', 'https://idp.test:65536/', 'https://[::1/', '//idp.test/',
        'https://bücher.example/', 'https://idp.test/' . 'x' x 2032, '', 'javascript:x';
is(ask(PUT => { %NEW, idpSsoUrl => $_ })->status, 200, $_)
    for 'https://idp.test/' . 'x' x 2031, 'HTTPS://idp.test:8443/sso?a=b',
        'https://[2001:db8::1]/', 'https://idp.test';
refused($_ => { $_ => \0 }, "enabled without $_")
    for qw(idpEntityId idpSsoUrl idpCertificates);
refused($_ => { $_ => undef }, "enabled with $_ null")
    for qw(idpEntityId idpSsoUrl idpCertificates);
refused(idpCertificates => { idpCertificates => [] }, 'enabled without certificates');
refused(enabled => { enabled => $_ }, 'enabled') for 1, 'true', undef;
refused(jitProvisioning => { jitProvisioning => $_ }, 'jitProvisioning') for 1, undef;
refused(idpEntityId => { idpEntityId => $_ }, 'idpEntityId')
    for '', ' ', 'x' x 1025, 1, "a\nb", [];
refused(idpSsoUrl => { idpSsoUrl => $_ }, 'idpSsoUrl') for 1, [], {};
refused(nameIdFormat => { nameIdFormat => $_ }, 'nameIdFormat')
    for '', 'email', 'PERSISTENT', undef, 1, [];
refused(attributeMapping => { attributeMapping => $_ }, 'attributeMapping')
    for [], 'x', { mail => 'email' };
refused('attributeMapping.email', { attributeMapping => { email => $_ } }, 'a name')
    for '', 'a b', 1, undef;

refused(idpCertificates => { idpCertificates => $_ }, 'idpCertificates')
    for $RSA, {}, 1, [ ($RSA) x 6 ];
refused('idpCertificates[1]' => { idpCertificates => [ $RSA, $_->[1] ] }, $_->[0])
    for [ 'no PEM', 'x' ], [ 'empty', '' ], [ 'a number', 1 ], [ 'null', undef ],
        [ 'a private key', $KEY ], [ 'two in one', $RSA . $EC ],
        [ 'with a key behind it', $RSA . $KEY ], [ 'text before it', "x\n$RSA" ],
        [ 'cut', substr $RSA, 0, -40 ], [ 'a byte less', $RSA =~ s/\nMII/\nMI/r ],
        [ 'encrypted', $RSA =~ s/-\n/-\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00000000000000000000000000000000\n\n/r ],
        [ 'RSA of 1024 bits', certificate('rsa:1024') ],
        [ 'Ed25519', certificate('ed25519') ];

my $large = certificate('rsa:2048', '-addext', 'nsComment=' . 'x' x 4000);

cmp_ok(length $large, '>', 16384 / 4, 'one that is large');
is(ask(PUT => { %NEW, idpCertificates => [ ($large) x 2 ] })->status, 200,
   'less than 16 KiB together');
refused(idpCertificates => { idpCertificates => [ ($large) x 4 ] }, 'more than that');
is(ask(PUT => { %NEW, idpCertificates => [ ($RSA) x 5 ] })->status, 200, 'five');


# --- what all connections have -----------------------------------------------------------

verified($s, $acme, 'acme.test', 'xn--bcher-kva.test');
verified($s, $globex, 'globex.test');
$s->sql('INSERT INTO svc.domain (tenant_id, domain) VALUES'
        . " ('$acme->{id}', 'pending.test'), ('$acme->{id}', 'globex.test')");

my ($group, $other) = map {
    $_->admin(POST => '/groups', { name => 'G' }, undef, $_->token_for('groups:manage'))
      ->json->{id}
} $acme, $globex;
my $groups = $acme->token_for('tenant:manage,groups:manage');
my $good = common_members(sub { my ($change, @opt) = @_; ask(PUT => { %NEW, %$change }, @opt) },
                          group => $group, other => $other, token => $groups);
my $whole = ask(GET => undef)->json;

is_deeply({ map { $_ => $whole->{$_} } keys %$good }, $good, 'they are read');
is_deeply(changed($whole), $whole, 'and what was read can be sent back');
admin_error(ask(PUT => \%NEW), 403, 'forbidden', 'nor are groups dropped without the right');
is(ask(PUT => \%NEW, token => $groups)->status, 200, 'with it they are');
is_deeply({ %{ ask(GET => undef)->json }, updatedAt => 0 },
          { %NEW, %given, %SHARED, connection => 'saml', updatedAt => 0 },
          'what is absent is the default');
is_deeply(changed({ %NEW, label => 'x', mfaContexts => [ 'x' ], domains => [ 'acme.test' ] },
                  qw(label domains mfaContexts))->{label}, 'x', 'three of them');

my @racing = map { $s->begin(PUT => '/v1/admin/saml',
                             { Authorization => "Bearer $acme->{api_token}" },
                             { %NEW, label => "l$_" }) } 1 .. 6;
my %got;

$got{ $_->read->status }++ for @racing;
is_deeply(\%got, { 200 => 6 }, 'of six at once all are made');
is($s->sql("SELECT count(*) FROM svc.saml_sp WHERE tenant_id = '$acme->{id}'"), 1,
   'of the one row');


# --- whose people come, and their links ---------------------------------------------------

my %by = map { my ($role) = $_;
               with_password($s, $acme, userName => "a$role\@acme.test", role => $role);
               my $b = SvcTest::Browser->new($s, tenant => 'acme');
               $b->login("a$role\@acme.test")->status == 200 or die "$role\n";
               ($role => $b) } qw(owner admin);

whose_people(sub { my ($change, @opt) = @_; ask(PUT => { %NEW, %$change }, @opt) }, \%by,
             other => { showOnPage => $TRUE, label => 'x', jitProvisioning => $FALSE },
             people => { domains => [ undef, [ 'acme.test' ] ],
                         linkByEmail => [ 'owned', 'verified' ], trustMfa => [ $FALSE, $TRUE ],
                         mfaContexts => [ [ 'phr' ], [ 'x' ] ],
                         idpEntityId => [ 'urn:a', 'urn:b' ],
                         idpSsoUrl => [ 'https://a.test', 'https://b.test' ],
                         idpCertificates => [ [ $RSA ], [ $EC ] ],
                         nameIdFormat => [ 'persistent', 'unspecified' ],
                         attributeMapping => [ { email => 'a' }, { email => 'b' } ] });

my $user = $acme->create(userName => 'linked@acme.test')->{id};
my $id = link_to($s, $acme, 'saml_sp WHERE true', $user);

is(ask(PUT => { %NEW, idpSsoUrl => 'https://else.test', idpCertificates => [ $EC ] })->status,
   200, 'other URLs and keys');
is(links($s, $id), 1, 'the links stay');
admin_error(ask(PUT => { %NEW, idpEntityId => 'urn:new', keepLinks => $TRUE }, @$_), 403,
            'forbidden', 'links are kept by owners alone') for [], [ by => $by{admin} ];
is(ask(PUT => { %NEW, idpEntityId => 'urn:new', keepLinks => $TRUE }, by => $by{owner})->status,
   200, 'an owner keeps them');
is(links($s, $id), 1, 'they are there');
is($s->sql("SELECT connection_id FROM svc.saml_sp WHERE tenant_id = '$acme->{id}'"), $id,
   'it is the same connection');
is(ask(PUT => { %NEW, idpEntityId => 'urn:else' })->status, 200, 'another identity provider');
is(links($s, $id), 0, 'the links are gone');
isnt($s->sql("SELECT connection_id FROM svc.saml_sp WHERE tenant_id = '$acme->{id}'"), $id,
     'it is another connection');

my $old = $s->tenant('umbrella');

$s->sql('INSERT INTO svc.saml_sp (tenant_id, enabled, idp_certificates, name_id_format,'
        . " attribute_mapping, jit_provisioning) VALUES ('$old->{id}', false, '[]', 'persistent',"
        . " '{}', true)");
$got = ask(GET => undef, tenant => $old)->json;
is_deeply({ map { $_ => $got->{$_} } keys %SHARED }, \%SHARED,
          'a row from before there was all this has the defaults');
is_deeply(ask(PUT => $got, tenant => $old)->json, $got, 'and can be sent back');


# --- of a session -----------------------------------------------------------------------

with_password($s, $acme, userName => "$_\@acme.test", role => $_) for qw(owner member);

my ($b, $member) = map { SvcTest::Browser->new($s, tenant => 'acme') } 1, 2;

is($b->login('owner@acme.test')->status, 200, 'an owner signs in');
is($member->login('member@acme.test')->status, 200, 'and a member');
admin_error($member->ask(@$_), 403, 'forbidden', "$_->[0]: a member may not")
    for [ GET => '/v1/admin/saml' ], [ PUT => '/v1/admin/saml', \%NEW ];
is($b->ask(PUT => '/v1/admin/saml', \%NEW)->status, 200, 'an owner may');

$s->sql('UPDATE svc.session SET reauth_at = NULL, mfa_at = NULL');
admin_error($b->ask(PUT => '/v1/admin/saml', \%NEW), 403, 'step_up_required',
            'but not one who is not fresh');
is($b->get('/v1/admin/saml')->status, 200, 'who may look');

my $options = $s->http(GET => '/v1/auth/options?tenant=acme');

is($options->status, 200, 'what a page may offer');
unlike($options->body, qr/saml|idp/i, 'is not that');
is($s->http(GET => "/v1/tenants/acme/saml/$_")->status, 404, "$_: there is no flow yet")
    for qw(metadata acs);

is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'saml.updated'"
           . " AND details::text ~ 'idp.test|CERTIFICATE|urn:'"), 0,
   'the audit log has names of members, and no values');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;

done_testing();
