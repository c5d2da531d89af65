#!/usr/bin/perl

# Shows POST /v1/admin/ldap/test with Debian's slapd: what each step says when it
# works, and when it does not.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Connection qw(verified);
use SvcTest::Admin;
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND $NAME);

my $PASSWORD = 'a password of this test';

my $s = SvcTest->new(workers => 1, svc => { svc_federation => 'on', svc_sign_in => 'on',
                                        svc_federation_allow => '127.0.0.0/8' });
my $slapd = SvcTest::Slapd->new($s);

$slapd->launch;
$s->start;
$s->secret($PASSWORD);

my $acme = $s->tenant('acme');
my %LDAP = (url => $slapd->urls, bindDn => $SERVICE, bindPassword => $BIND,
            baseDn => $SUFFIX, userFilter => '(mail={email})',
            attributeMapping => { displayName => 'cn' }, domains => [ 'acme.test' ]);

verified($s, $acme, 'acme.test');


sub configure {
    my (%change) = @_;
    my $ca = exists $change{ca} ? delete $change{ca} : $slapd->ca;
    my $unique = delete $change{unique};
    my %body = (%LDAP, caCertificates => $ca, uniqueIdAttribute => $unique, %change);

    delete @body{ grep { !defined $body{$_} } keys %body };

    my $r = $acme->admin(PUT => '/ldap', \%body);

    is($r->status, 200, 'configured') or diag($r->body);
}

sub free { $s->redis->command('DEL svc.rate.t.t.' . $acme->{id} =~ tr/-//dr) }


# Tests the directory.  Returns the steps, each as [ step, ok, detail ].

sub steps {
    my ($body, $name) = @_;

    free();

    my $r = $acme->admin(POST => '/ldap/test', $body);

    is($r->status, 200, $name) or diag($r->body);

    return map { [ $_->{step}, $_->{ok} ? 1 : 0, $_->{detail} ] } @{ $r->json->{steps} };
}


# Expects that all steps work but the last one, whose sentence matches.

sub fails {
    my ($step, $detail, $body, $name) = @_;
    my @steps = steps($body, $name);
    my $last = pop @steps;

    is_deeply([ grep { !$_->[1] } @steps ], [], "$name: only the last step fails");
    is($last->[0], $step, "$name: it is $step") or diag(explain($last));
    is($last->[1], 0, "$name: which fails");
    like($last->[2], $detail, "$name: and says why");
    like($last->[2], qr/[.?]\z/, "$name: in a sentence");
}


my $ada = $slapd->person(ada => (userPassword => $PASSWORD, cn => 'Ada Lovelace'));

$slapd->group(staff => $ada);


# --- what works ----------------------------------------------------------------------

admin_error($acme->admin(POST => '/ldap/test', {}), 404, undef, 'there is none');

my $off = $s->node;

like(admin_error($s->http(POST => '/v1/admin/ldap/test',
                          [ Authorization => "Bearer $acme->{api_token}" ], {},
                          port => $off->{port}), 404, 'not_found', 'without svc_federation')
     ->{message}, qr/path|route|resource/, 'there is no such route');
$off->stop;

my %user = (email => 'ada@example.test', password => $PASSWORD);

for my $url ($slapd->urls, $slapd->url) {
    configure(url => $url, startTls => $url =~ /^ldap:/ ? JSON::PP::true() : undef);

    my @steps = steps(\%user, $url);

    is_deeply([ map { "$_->[0] $_->[1]" } @steps ],
              [ map { "$_ 1" } qw(resolve connect tls bind search user_bind groups) ],
              'all steps work') or diag(explain(\@steps));
    like($steps[2][2], qr/TLS1\.[23].* "127\.0\.0\.1"/, 'encrypted');
    is($steps[3][2], "As \"$SERVICE\".", 'as the service');
    is($steps[4][2], "\"$ada\".", 'whose entry it is');
    is($steps[6][2], "1 group: \"cn=staff,ou=groups,$SUFFIX\".", 'of which group');
}

is_deeply([ map { "$_->[0] $_->[1]" } steps({}, 'without a user') ],
          [ map { "$_ 1" } qw(resolve connect tls bind search) ], 'the server alone');
is((steps({ email => 'ada@example.test' }, 'without a password'))[-1][0], 'groups',
   'nobody is bound');
is($acme->admin(POST => '/ldap/test', undef)->status, 200, 'without a body');

# An escaped address is one value, whatever it has; the domain is that of a mail.

$slapd->person(eve => (mail => 'O(x)*\\@example.test', userPassword => $PASSWORD));
is((steps({ email => 'O(x)*\\@example.test', password => $PASSWORD }, 'odd'))[4][1], 1,
   'an address with all that a filter has');

$s->sql("UPDATE svc.ldap SET user_filter = '(uid={local})'");
is((steps(\%user, 'by what is before the @'))[4][2], "\"$ada\".", 'is found');


# --- what a user can have wrong -----------------------------------------------------------

configure();
fails(search => qr/\(mail=nobody\@example\.test\)/, { email => 'nobody@example.test' }, 'nobody');
fails(search => qr/mail=\\2a\\29\\28uid=\\2a\@x\.test/, { email => '*)(uid=*@x.test' }, 'a filter');
fails(search => qr/mail=\\2a\@example/, { email => '*@example.test' }, 'a star');
fails(search => qr/mail=\\c3\\bc\@x/, { email => "\x{fc}\@x.test" }, 'not ASCII');
fails(user_bind => qr/refuses the password: it is wrong/,
      { email => 'ada@example.test', password => 'wrong' }, 'a wrong password');

admin_error($acme->admin(POST => '/ldap/test', $_->[0]), 400, undef, $_->[1])
    for [ { password => 'x' }, 'a password of nobody' ],
        [ { email => 'ada@example.test', password => '' }, 'an empty password' ],
        [ { email => 'ada@example.test', password => 'x' x 1025 }, 'a long one' ],
        [ { email => "a\0\@example.test" }, 'an address with a zero' ];
free();

$slapd->person(twin => (mail => 'ada@example.test'));
fails(search => qr/More than one entry fits \(mail=ada\@example\.test\): "userFilter"/,
      \%user, 'two');
$slapd->add("dn: uid=twin,ou=people,$SUFFIX\nchangetype: delete\n");

for (qw(nsAccountLock:TRUE loginDisabled:TRUE userAccountControl:514 accountExpires:1
        pwdAccountLockedTime:000001010000Z))
{
    my ($name, $value) = split /:/;
    my $locks = $name =~ /^pwd/;

    $slapd->add("dn: $ada\nchangetype: modify\n"
                . ($locks ? '' : "add: objectClass\nobjectClass: otherAccount\n-\n")
                . "add: $name\n$name: $value\n");

    my @steps = steps({ email => 'ada@example.test' }, $name);

    is($steps[4][2], "\"$ada\", which is disabled.", "$name says so");
    $slapd->add("dn: $ada\nchangetype: modify\ndelete: $name\n"
                . ($locks ? '' : "-\ndelete: objectClass\nobjectClass: otherAccount\n"));
}


# --- what an administrator can have wrong -----------------------------------------------

configure(bindPassword => 'wrong');
fails(bind => qr/refuses "bindDn" with "bindPassword".* set both again/, {}, 'its password');
configure(bindDn => "cn=nobody,$SUFFIX");
fails(bind => qr/refuses "bindDn"/, {}, 'its name');
configure(bindDn => 'service');
fails(bind => qr/as a DN such as/, {}, 'no DN');
configure(baseDn => "ou=none,$SUFFIX");
fails(search => qr/no "baseDn" "ou=none,/, {}, 'a base that is not there');
fails(search => qr/no "baseDn" "ou=none,/, \%user, 'nor for a user');
configure(unique => 'employeeNumber');
fails(search => qr/has no employeeNumber .* "uniqueIdAttribute"/, \%user, 'no such attribute');
configure(unique => 'uid');
is((steps(\%user, 'another attribute'))[4][1], 1, 'one that is there');
configure(bindDn => undef, bindPassword => undef);
fails(search => qr/./, \%user, 'as nobody');

configure(ca => undef);
fails(tls => qr{Nobody that is trusted here .* "/CN=CA", into "caCertificates"}, {}, 'no CA');
$s->sql("UPDATE svc.ldap SET ca_certificates = 'no certificate'");
fails(tls => qr/Nobody that is trusted here/, {}, 'none at all');

my $named = SvcTest::Slapd->new($s, dir => 'named', names => "DNS:$NAME,DNS:x.test");

$named->launch;
configure(url => $named->urls, ca => $named->ca);
fails(tls => qr/not for "127\.0\.0\.1", as "url" says, but for "\Q$NAME\E", "x\.test"\./,
      {}, 'a certificate of another name');

for my $url ("ldaps://127.0.0.1:$slapd->{port}", "ldap://127.0.0.1:$slapd->{ports}") {
    configure(url => $url, startTls => $url =~ /^ldap:/ ? JSON::PP::true() : undef);
    fails(tls => $url =~ /^ldap:/ ? qr/does not take "startTls"/
                                  : qr/certificate is not accepted, or TLS fails/, {},
          "the other port, $url");
}

configure(url => 'ldaps://127.0.0.1:' . SvcTest::Nginx::free_port());
fails(connect => qr/refuses the connection.*port of "url" right/, {}, 'nobody there');

for (qw(169.254.169.254:link-local 10.0.0.1:private 0.0.0.0:unspecified [::1]:loopback
        [fe80::1]:link-local [::ffff:10.1.2.3]:private))
{
    my ($host, $kind) = /(.*):([a-z-]+)/;

    configure(url => "ldaps://$host");
    fails(resolve => qr/which is $kind: .* "svc_federation_allow"/, {}, "to $host");
}


# --- referrals ---------------------------------------------------------------------------

$slapd->add("dn: dc=far,$SUFFIX\nobjectClass: referral\nobjectClass: dcObject\ndc: far\n"
            . "ref: ldap://127.0.0.1:1/dc=far,$SUFFIX\n");
configure();
is((steps(\%user, 'a reference among the results'))[4][1], 1, 'does not matter');
configure(baseDn => "dc=far,$SUFFIX");
fails(search => qr/refers to another one .* "url" must name/, \%user, 'a referral');


# --- limits --------------------------------------------------------------------------------

configure();
free();

my @status = map { $acme->admin(POST => '/ldap/test', {})->status } 1 .. 11;

is_deeply(\@status, [ (200) x 10, 429 ], 'ten a minute');
is_deeply([ $acme->events_where("action = 'rate_limit.exceeded'", 'details') ],
          [ [ { family => 'directory', key => 'tenant', limit => 10, window => 60 } ] ],
          'which is audited');
admin_error($acme->admin(POST => '/ldap/test', {}, undef,
                         $acme->token_for('apps:manage,users:view')), 403, undef,
            'without the permission');

$s->done;


# --- directives ------------------------------------------------------------------------------

my $nginx = SvcTest->new(pg => 0, redis => 0)->nginx;
my %svc = %{ $nginx->{svc} // {} };

sub check {
    my ($name, $value) = @_;

    $nginx->{svc} = { %svc, $name => $value };
    $nginx->write_configuration;

    return $nginx->test_configuration;
}

for ([ svc_federation_jobs => 'ldap=1' ], [ svc_federation_jobs => 'queue=0 ldap=64' ],
     [ svc_ldap_ca_file => '/etc/ssl/certs/ca-certificates.crt' ])
{
    my ($status, $said) = check(@$_);

    is($status, 0, "@$_") or diag($said);
}

for ((map { [ svc_federation_jobs => $_, qr/it takes ldap= from 1 to 64/ ] }
         qw(ldap=0 ldap=65 ldap= ldap=x queue=65537 saml=1 ldap), 'ldap=1 ldap=2'),
     [ svc_federation_jobs => [ 'ldap=1', 'ldap=1' ], qr/duplicate/ ],
     (map { [ svc_ldap_ca_file => $_, qr/no certificates can be read/ ] }
         '/nonexistent', '/etc/hostname'))
{
    my ($name, $value, $pattern) = @$_;
    my ($status, $said) = check($name, $value);

    isnt($status, 0, "$name " . (ref $value ? 'twice' : $value));
    like($said, qr/\[emerg\].*$pattern/, 'which nginx -t tells');
}

done_testing();
