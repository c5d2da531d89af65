#!/usr/bin/perl

# The document's steps for a new key, literally: a secret of each kind is made
# under the old key, which is then removed, and each of them still works.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256_hex);
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Connection qw(verified);
use SvcTest::Documents qw(section);
use SvcTest::Factor qw(enrolled totp);
use SvcTest::Idp;
use SvcTest::Mail;
use SvcTest::Metrics;
use SvcTest::OAuth qw(application form claims);
use SvcTest::Outbound;
use SvcTest::Process qw(run run_apart slurp wait_for write_file);
use SvcTest::Signup;
use SvcTest::Skip;

needs(program => 'oathtool', perl => 'Crypt::AuthEnc::GCM');

require Crypt::AuthEnc::GCM;

my $OTHER = 'rowing past nine lanterns';
my $TOKEN = 'the-token-of-a-scim-target';
my $SECRET = 'a-secret-of-a-connection';
my $s = SvcTest->new(workers => 1, locations => $SvcTest::Metrics::LOCATION
    . "location /oauth { svc_oauth on; }\n");
my $outbound = SvcTest::Outbound->new($s, svc_webhooks => 'on');
my $mail = SvcTest::Mail->new($s, port => 'plain', SvcTest::Signup::svc(),
                              svc_organization_signup => 'on');
my $receiver = $outbound->receiver;
my $idp = SvcTest::Idp->new($s, $receiver);

$s->secret($PASSWORD, $OTHER, $TOKEN, $SECRET);

# the file as the document's steps have made it

my $keys = $s->{key_file};
write_file($keys, slurp($keys) =~ s/^1:/k1:/r);

my $acme = $outbound->start;

$idp->ready;

$acme->{api_token} = $acme->token_for('tenant:manage');
$s->sql("UPDATE svc.credential SET permissions = (SELECT permissions FROM svc.credential"
        . " WHERE kind = 'api' ORDER BY cardinality(permissions) DESC LIMIT 1)"
        . " WHERE kind = 'api'");


# --- one of each kind -----------------------------------------------------------------

sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }

sub user {
    my ($name) = @_;

    my $user = with_password($s, $acme, userName => "$name\@acme.test");

    $s->sql("UPDATE svc.user_account SET source = 'local' WHERE id = '$user->{id}'");

    my $b = browser();

    is($b->login("$name\@acme.test")->status, 200, "$name signs in");

    return $b;
}

sub ok_is {
    my ($r, $status, $name) = @_;

    is($r->status, $status, $name) or diag($r->body);

    return $r->body ? $r->json : undef;
}

# a password, an older one, a factor, and recovery codes

my $ada = user('ada');

ok_is($ada->post('/v1/auth/password', { currentPassword => $PASSWORD,
                                        newPassword => $OTHER }), 200, 'a new password');
my $factor = enrolled($ada);

my $eve = user('eve');
ok_is($eve->post('/v1/auth/email/change', { email => 'eve@new.test' }), 202,
                   'a change of address');
my $mailed = SvcTest::Signup->new($s, $mail, $acme, link => 'change')->mail_to('eve@new.test');
my ($link) = $mailed->{plain} =~ /#change=([\w-]{43})\r?$/m;

$s->secret($link);

my $up = SvcTest::Signup->new($s, $mail, $acme);
$up->allow;
my $signup = $up->begin('new@acme.test');

my $org = SvcTest::Signup->new($s, $mail, undef, path => '/v1/auth/organizations',
                               link => 'organization');
my $organization = $org->begin('owner@new.test', slug => 'initech', name => 'Initech');

my $hook = $receiver->hook($acme, '/ok', events => [ 'user.created' ]);
my $target = $outbound->target('rotate', token => $TOKEN);
my $client = application($acme, scopes => [ 'things:read' ]);
my %CC = (grant_type => 'client_credentials');

my $jwt = ok_is(form($s, token => { %CC }, client => $client), 200, 'a token');

verified($s, $acme, 'acme.test');
ok_is($acme->admin(PUT => '/ldap',
    { url => 'ldaps://ldap.example.com', bindDn => 'cn=svc', bindPassword => $SECRET,
      baseDn => 'dc=example', userFilter => '(mail={email})', domains => [ 'acme.test' ],
      attributeMapping => { email => 'mail', displayName => 'cn' } }), 200, 'LDAP');
# somebody comes by another server, and a journey is under way

verified($s, $acme, 'elsewhere.test');
$idp->connect($acme, 'oidc-one', domains => "'{elsewhere.test}'", jit_provisioning => 'true');

my %FAR = (sub => 'far', email => 'far@elsewhere.test', email_verified => JSON::PP::true());

is($idp->journey(browser(), 'oidc-one', \%FAR)->header('Location'), '/account',
   'by another server');
is($idp->start(browser(), 'oidc-one')->status, 200, 'a journey begins');

ok_is($acme->admin(POST => '/social/connections',
    { provider => 'google', clientId => 'one', clientSecret => $SECRET }), 201, 'social');
ok_is($acme->admin(POST => '/social/connections',
    { provider => 'oidc', issuer => 'https://idp.test', clientId => 'public' }), 201,
      'and one without a secret');
ok_is($acme->admin(POST => '/saml-idp/apps',
    { name => 'Wiki', spEntityId => 'https://wiki.test/saml',
      acsUrl => 'https://wiki.test/acs' }), 201, 'SAML');

wait_for { $s->sql('SELECT count(*) FROM svc.sealed_keys()') == 1 };

my @places = map { [ split /\t/ ] } grep { !/^#/ } split /\n/,
             slurp($s->root . '/conf/svcctl.d/secrets.tsv');
my @kinds = map { $_->[2] } @places;

sub status_of {
    my ($out, $rc) = $s->svcctl({}, qw(secrets status --keys), $keys);

    return { rc => $rc >> 8, lines => [ split /\n/, $out ] };
}

my $got = status_of();

is($got->{rc}, 0, 'no key is missing');

for my $kind (@kinds) {
    ok((grep { /^k1 seals [1-9]\d* \Q$kind\E$/ } @{ $got->{lines} }),
       "$kind: there is one") or diag(join "\n", @{ $got->{lines} });
}

is($got->{lines}[-1],
   'k1 seals 10 recovery codes of 1 users, who need new ones when it goes',
   'and recovery codes');


# --- as the document says -------------------------------------------------------------

my @commands = map { s/^ +//mgr } section('conf/keys.md', 'Another key')
                                 =~ /((?:^ {4,}\S.*\n)+)/mg;

is(scalar @commands, 7, 'the steps') or diag(join "---\n", @commands);

# Runs a block of commands with the paths of this test; it reloads nginx as this
# test does.

sub follow {
    my ($text) = @_;

    my $dir = $s->dir;
    my $reload = $text =~ s/^nginx -t && systemctl reload nginx\n//m;

    $text =~ s{/etc/nginx/}{$dir/}g;
    $text =~ s{^runuser -u postgres -- }{}mg;
    $text =~ s{\bsvcctl }{@{[ $s->root ]}/conf/svcctl }g;

    my ($status, $out, $err) = run_apart([ 'bash', '-euo', 'pipefail', '-c', $text ],
        env => { SVC_PG => $s->pg->conninfo('postgres') });

    is($status, 0, "followed: $text" =~ s{\n}{; }gr) or diag("$out$err");
    $s->reload if $reload;

    return $out;
}

sub ids { return join ' ', map { /^(\w+):/ ? $1 : () } split /\n/, slurp($keys) }

follow(shift @commands);
my ($new) = slurp($s->dir . '/svc.key.new') =~ /^k2:(\w{64})$/m;
$s->secret($new);
is(sprintf('%o', (stat $s->dir . '/svc.key.new')[2] & 0777), '600', 'for nobody else');

follow(shift @commands);
is(ids(), 'k1 k2', 'it opens');

follow(shift @commands);
is(ids(), 'k2 k1', 'it seals');
is(sprintf('%o', (stat $keys)[2] & 0777), '600', 'for nobody else');

is(browser()->login('eve@acme.test')->status, 200, 'sign-in works with both');

my $out = follow(shift @commands);

for my $kind (@kinds) {
    like($out, qr/^\Q$kind\E: \d+ sealed under k2$/m, "$kind: sealed anew");
}

like($out, qr/^recovery codes of 1 users need k1, and cannot be made anew$/m,
     'codes are told of');

$out = follow(shift @commands);
like($out, qr/^k1 opens 10 recovery codes of 1 users, who need new ones when it goes$/m,
     'they need it still');
is(scalar(() = $out =~ /^k1 /mg), 1, 'and nothing else does');

# the user makes new recovery codes

my $codes = ok_is($ada->post('/v1/mfa/recovery-codes', {}), 201, 'new codes');
$s->secret(@{ $codes->{recoveryCodes} });

is((grep { /^k1 / } @{ status_of()->{lines} })[0], 'k1 opens nothing', 'it may go');

follow(shift @commands);
is(ids(), 'k2', 'it is gone');
ok(!-e $s->dir . '/svc.key.new', 'and nothing is left');

like(follow(shift @commands), qr/^k2 seals \d+ passwords$/m, 'from standard input, too');


# --- everything works -----------------------------------------------------------------

wait_for { ($s->health->json->{keys} // '') ne 'unknown' };
is_deeply([ @{ $s->health->json }{qw(status keys)} ], [ 'ok', 'ok' ], 'no key is missing');
is(SvcTest::Metrics->get($s)->value('svc_keys_missing'), 0, 'nor in the metrics');

my $b = browser();

is($b->login('ada@acme.test', 'wrong horse battery staple')->status, 401, 'wrong is wrong');
is($b->login('ada@acme.test', $OTHER)->json->{error}{code}, 'step_up_required',
   'the password');
ok_is($b->post('/v1/mfa/step-up', { code => totp($factor->{secret}, 1) }), 200,
      'and the factor');
is($b->get('/v1/auth/session')->status, 200, 'signed in');
is($b->post('/v1/auth/password', { currentPassword => $OTHER, newPassword => $PASSWORD })
   ->status, 400, 'the earlier password is known')
    or diag($b->post('/v1/auth/password',
                     { currentPassword => $OTHER, newPassword => $PASSWORD })->body);

$b = browser();
$b->login('ada@acme.test', $OTHER);
ok_is($b->post('/v1/mfa/step-up', { code => $codes->{recoveryCodes}[0] }), 200,
      'a recovery code');

# a page that is loaded again gets a new CSRF token, and a new cookie for it

my $stale = $eve->{cookies}{svc_csrf};
my $session = $eve->get('/v1/auth/session');

isnt($eve->{cookies}{svc_csrf}, $stale, 'another CSRF token');
is($eve->{csrf}, $session->json->{csrfToken}, 'as the answer says');
is($eve->get('/v1/auth/session')->header('set-cookie'), undef, 'once');
ok_is($eve->post('/v1/auth/email/change/verify',
                 { token => $link }), 200,
      'the change of address');

my $r = $up->verify($signup, token => 1);
cmp_ok($r->status, '<', 300, 'the sign-up') or diag($r->body);
$r = $org->verify($organization, token => 1);
cmp_ok($r->status, '<', 300, 'that of an organization') or diag($r->body);

my $again = ok_is(form($s, token => { %CC }, client => $client), 200, 'a token');
my ($kid) = $s->sql("SELECT kid FROM svc.oauth_key WHERE tenant_id = '$acme->{id}'");

ok($again->{access_token}, 'is signed');
is($s->sql("SELECT count(*) FROM svc.oauth_key WHERE tenant_id = '$acme->{id}'"), 1,
   'by the same key');

my $before = () = $receiver->at($hook);
my $user = $acme->create(userName => 'late@acme.test');

my $delivered = ($receiver->wait($hook, $before + 1))[-1];
is($delivered->{header}{'x-svc-signature'},
   'sha256=' . hmac_sha256_hex($delivered->{body}, $hook->{secret}),
   'a webhook has its signature');

$outbound->there->requests('rotate');
$acme->admin(POST => '/scim-targets/' . $target . '/sync');

my @pushed;

ok((wait_for { push @pushed, $outbound->there->requests('rotate'); scalar @pushed }),
   'a SCIM target is asked');
is_deeply([ grep { $_ ne "Bearer $TOKEN" } map { $_->{headers}{authorization} // '' } @pushed ],
          [], 'with its token');

is($idp->journey(browser(), 'oidc-one', \%FAR)->header('Location'), '/account',
   'somebody comes by another server again');

# nothing here uses these secrets: they must still have the same content

for my $place (grep { $_->[0] =~ /^(?:ldap|social|saml_idp)$/ } @places) {
    my ($table, $column, $kind, undef, undef, $aad) = @$place;
    my ($row) = $s->sql("SELECT encode($column, 'hex'), encode($aad, 'hex')"
                        . " FROM svc.$table WHERE tenant_id = '$acme->{id}'"
                        . " AND $column IS NOT NULL"
                        . ($table eq 'social' ? " AND provider = 'google'" : ''));
    my ($id, $sealed) = unpack 'C/a a*', pack 'H*', $row->[0];
    my $n = length($sealed) - 28;
    my ($nonce, $cipher, $tag) = unpack "a12 a$n a16", $sealed;
    my $text = Crypt::AuthEnc::GCM::gcm_decrypt_verify('AES', pack('H*', $new), $nonce,
        pack('H*', $row->[1]), $cipher, $tag);

    is($id, 'k2', "$kind: under the new key");
    $kind eq 'SAML keys' ? ok(length $text > 100 && $text =~ /\A\x30/, 'a key')
                         : is($text, $SECRET, 'the secret');
}

$s->done;
done_testing();
