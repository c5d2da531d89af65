#!/usr/bin/perl

# The test of a connection: a journey that explains each step, and makes nothing.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Idp;
use SvcTest::Realm qw(verified);
use SvcTest::Receiver;


my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my @STEPS = qw(metadata authorization token id_token claims mapping user second_factor);

my $s = SvcTest->new(workers => 1, svc => {
    svc_base_url => 'https://localhost',
    svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 1000" } qw(IP EMAIL) ] });
my $idp = SvcTest::Idp->new($s, SvcTest::Receiver->new($s), lies => 1,
                            base => 'https://localhost');

$s->start;
$idp->ready;
$s->secret($PASSWORD);

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);

verified($s, $_, "$_->{slug}.test") for $acme, $globex;

my $ALL = "'{apps:manage,audit:view,groups:manage,members:manage,roles:manage,tenant:manage,"
    . "users:view}'";

$idp->connect($acme, 'oidc-one', domains => "'{acme.test}'", jit_provisioning => 'true',
              vouched => $ALL);
$idp->connect($acme, 'oidc-two', issuer => 1);
$s->sql("UPDATE svc.social SET enabled = false WHERE provider = 'oidc-two'");


# --- who tests ---------------------------------------------------------------------------

sub signed_in {
    my ($name, %opt) = @_;
    my $tenant = delete $opt{tenant} // $acme;
    my $user = with_password($s, $tenant, userName => "$name\@$tenant->{slug}.test",
                             role => 'owner', %opt);
    my $b = SvcTest::Browser->new($s, tenant => $tenant->{slug});

    $b->login("$name\@$tenant->{slug}.test")->status == 200 or die;
    $b->{user} = $user;

    return $b;
}

sub free { $s->redis->command('DEL svc.rate.c.t.' . $acme->{id} =~ tr/-//dr) }

sub begin {
    my ($b, $key) = @_;

    return $b->post("/v1/admin/federation/$key/test", {});
}

my ($ada, $bob) = map { signed_in($_) } qw(ada bob);
my $eve = signed_in('eve', tenant => $globex);
my $member = signed_in('joe', role => 'member');

sub says {
    my (%claims) = @_;

    $idp->ask(claims => \%claims);
}

sub claims {
    my ($sub, %more) = @_;

    says(sub => $sub, email => "$sub\@acme.test", email_verified => $TRUE, %more);
}

# What there is of a tenant that a sign-in could make, or change.

sub made {
    return join ' ', map { scalar $s->sql("SELECT '$_ ' || count(*) FROM svc.$_") }
                     qw(user_account federated_identity session sign_in user_device
                        group_member email_challenge);
}

sub comes_back {
    my ($to) = @_;

    return ($idp->ask(walk => $to)->{location} // '') =~ s{^https?://[^/]*}{}r;
}

# Where a page shows the test.

sub id_of { return ($_[0] // '') =~ m{^https://localhost/account\?tenant=acme&test=([\w-]{36})\z} }

sub result {
    my ($b, $id) = @_;

    return $b->get("/v1/admin/federation/tests/$id");
}

# Tests a connection to its end.  Returns the result.

sub tested {
    my ($b, $key, $name) = @_;

    free();

    my $was = made();
    my $r = begin($b, $key);

    is($r->status, 200, $name) or diag($r->body);

    my $to = $r->json->{redirectTo};
    my ($id) = id_of($to);

    if (!$id) {
        $r = $b->get(comes_back($to));
        is($r->status, 303, 'comes back');
        ($id) = id_of($r->header('Location'));
        ok($id, 'to a page') or diag($r->header('Location'));
    }

    is(made(), $was, 'makes nothing');

    $r = result($b, $id);
    is($r->status, 200, 'has a result') or diag($r->body);

    return $r->json;
}

sub steps { return join ' ', map { ($_->{ok} ? '' : '!') . $_->{step} } @{ $_[0]{steps} } }
sub detail { return $_[0]{steps}[-1]{detail} }

sub fails {
    my ($result, $step, $outcome, $pattern) = @_;
    my $steps = join(' ', @STEPS) =~ s/\b$step\b.*/!$step/r;

    is($result->{outcome}, $outcome, "is $outcome");
    is(steps($result), $steps, "ends with $step") or diag(explain($result));
    like(detail($result), $pattern, 'and says why');
    like(detail($result), qr/[.]\z/, 'in a sentence');
}


# --- what works ---------------------------------------------------------------------------

claims('new', name => 'New', department => 'x' x 300, access_token => 'leak', sid => 'leak',
       looks => 'eyJhbGciOiJub25lIn0.leak');

my $result = tested($ada, 'oidc-one', 'somebody new');

is(steps($result), "@STEPS", 'all steps are good') or diag(explain($result));
is($result->{outcome}, 'new_user', 'a user would be made');
is($result->{connection}, 'oidc-one', 'by that connection');
is($result->{user}, undef, 'who is nobody yet');
like($result->{testedAt}, qr/^\d{4}-.*Z\z/, 'when it was');
is($result->{steps}[0]{detail}, qq(The issuer is "$idp->{issuers}[0]".), 'of which issuer');
like($result->{steps}[4]{detail}, qr/"new\@acme\.test", and the provider vouches/, 'what came');
like($result->{steps}[6]{detail}, qr/"new\@acme\.test" becomes a user/, 'who comes');

my %claim = map { $_->{name} => $_->{value} } @{ $result->{claims} };

is($claim{name}, 'New', 'a claim');
is($claim{email_verified}, 'true', 'one that is no text');
is(length $claim{department}, 203, 'a long one is cut');
is_deeply([ grep { exists $claim{$_} } qw(access_token sid nonce looks) ], [],
          'tokens are not shown');
is_deeply([ $acme->events_where("action = 'federation.tested'", 'actor_id', 'details') ],
          [ [ $ada->{user}{id}, { connection => 'oidc-one', outcome => 'new_user' } ] ],
          'is audited');

claims('bob');
$result = tested($ada, 'oidc-one', 'an owner');
is($result->{outcome}, 'access_denied', 'an owner is not covered');
is($result->{user}, 'bob@acme.test', 'who it is');
like($result->{steps}[6]{detail}, qr/does not cover.*An owner has to vouch.*"vouch":true/,
     'what would be right');

$s->sql("UPDATE svc.social SET vouched_owner = true WHERE provider = 'oidc-one'");
$result = tested($ada, 'oidc-one', 'once an owner has vouched');
is($result->{outcome}, 'link', 'the owner would be linked');
is(scalar $s->sql('SELECT count(*) FROM svc.federation_flow WHERE subject_hash IS NOT NULL'), 0,
   'which proves nothing of who tests');

says(sub => 'x', email => 'x@acme.test');
$result = tested($ada, 'oidc-one', 'an address that is not verified');
is($result->{outcome}, 'email_unverified', 'is email_unverified');
like($result->{steps}[6]{detail}, qr/"email_verified" is not true.*"trustEmail"/, 'and says so');

says(sub => 'x');
like(tested($ada, 'oidc-one', 'no address')->{steps}[6]{detail}, qr/send the claim "email"/,
     'says so');

says(sub => 'x', email => 'x@elsewhere.test', email_verified => $TRUE);
$result = tested($ada, 'oidc-one', 'a foreign domain');
is($result->{outcome}, 'no_account', 'is no_account');
like($result->{steps}[6]{detail}, qr/for the domains of "domains", which this is none of/,
     'and says why');

$acme->create(userName => 'far@elsewhere.test');
says(sub => 'x', email => 'far@elsewhere.test', email_verified => $TRUE);
$result = tested($ada, 'oidc-one', 'a user of a foreign domain');
is($result->{outcome}, 'link_required', 'is link_required');
like($result->{steps}[6]{detail}, qr/domain must be among "domains", or "linkByEmail"/,
     'and says why');

# attributes, groups and second factors

my $group = $acme->admin(POST => '/groups', { name => 'Engineers' }, [],
                         $acme->token_for('groups:manage'))->json->{id};

$s->sql("UPDATE svc.social SET attribute_mapping = '{\"title\":\"job\",\"department\":\"unit\"}',"
        . " group_mapping = '[{\"external\":\"eng\",\"groupId\":\"$group\"}]', trust_mfa = true"
        . " WHERE provider = 'oidc-one'");
$idp->ask(userinfo => { sub => 'new', job => 'Boss' });
claims('new', groups => [ 'eng', 'all' ], auth_time => time, amr => [ 'pwd' ]);
$result = tested($ada, 'oidc-one', 'with a mapping');
is(steps($result), 'metadata authorization token id_token claims !mapping user !second_factor',
   'what lacks is no obstacle');
is_deeply($result->{attributes},
          [ { attribute => 'title', claim => 'job', value => 'Boss' },
            { attribute => 'department', claim => 'unit', value => undef } ], 'attributes')
    or diag(explain($result->{attributes}));
is_deeply($result->{groups}, [ 'Engineers' ], 'groups');
like($result->{steps}[5]{detail}, qr/^No claim says department:/, 'what lacks');
like(detail($result), qr/"amr" has not two kinds/, 'why it is one factor');
ok((grep { $_->{name} eq 'job' } @{ $result->{claims} }), 'claims of userinfo are there');
claims('new', auth_time => time, amr => [ 'mfa' ]);
like(detail(tested($ada, 'oidc-one', 'by two factors')), qr/second factor counts/, 'counts');
claims('new', groups => []);
like(tested($ada, 'oidc-one', 'without groups')->{steps}[5]{detail}, qr/^No claim says/,
     'says what lacks first');
$s->sql("UPDATE svc.social SET attribute_mapping = '{}' WHERE provider = 'oidc-one'");
like(tested($ada, 'oidc-one', 'without groups')->{steps}[5]{detail}, qr/no group .* "groups"/,
     'says so');
$s->sql("UPDATE svc.social SET attribute_mapping = '{\"title\":\"job\"}'"
        . " WHERE provider = 'oidc-one'");
claims('new');
like(detail(tested($ada, 'oidc-one', 'without a time')), qr/"auth_time"/, 'says so');
$idp->ask(userinfo => { sub => 'another' });
claims('new');
fails(tested($ada, 'oidc-one', "another's userinfo"), 'claims', 'federation_failed',
      qr/^The userinfo endpoint: another 'sub'\. The provider must/);
$s->sql("UPDATE svc.social SET attribute_mapping = '{}', group_mapping = '[]', trust_mfa = false"
        . " WHERE provider = 'oidc-one'");


# --- what is wrong at the provider -------------------------------------------------------------

my ($issuer) = @{ $idp->{issuers} };

sub leads {
    my ($b, $query) = @_;

    free();

    my $to = begin($b, 'oidc-one')->json->{redirectTo};
    my ($state) = $to =~ /[?&]state=([\w-]{43})/;
    my $was = made();
    my $r = $b->get(SvcTest::Idp::callback('oidc-one') . "?state=$state&$query");
    my ($id) = id_of($r->header('Location'));

    is($r->status, 303, $query);
    ok($id, 'leads to the result') or diag($r->header('Location') // $r->body);
    is(made(), $was, 'makes nothing');

    return result($b, $id)->json;
}

fails(leads($ada, 'error=access_denied&error_description=Not%20you'), 'authorization',
      'federation_denied', qr/^Access_denied: Not you\. Whoever was there has cancelled/);
fails(leads($ada, 'error=invalid_scope'), 'authorization', 'federation_failed',
      qr/Allow the scopes/);
fails(leads($ada, 'code=x&iss=https%3A%2F%2Fevil.test'), 'authorization', 'federation_failed',
      qr/"iss" is not the issuer\. It must be the "issuer"/);
fails(leads($ada, ''), 'authorization', 'federation_failed', qr/no "code"/);
fails(leads($ada, 'code=x'), 'token', 'federation_failed',
      qr/^The token endpoint: status 400, invalid_grant\. Register the redirect URI/);

$idp->ask(token => { status => 401, json => { error => 'invalid_client' } });
fails(tested($ada, 'oidc-one', 'a wrong secret'), 'token', 'federation_failed',
      qr/status 401, invalid_client\. "clientId" or "clientSecret" is not what/);
$idp->ask(token => { json => { access_token => 'x' } });
fails(tested($ada, 'oidc-one', 'no ID token'), 'token', 'federation_failed', qr/scope openid/);
$idp->ask(token => undef);
claims('new', iss => 'https://evil.test');
fails(tested($ada, 'oidc-one', 'another issuer'), 'id_token', 'federation_failed',
      qr/'iss' that is not the provider's\. It must be the "issuer"/);
claims('new', aud => 'another');
fails(tested($ada, 'oidc-one', 'another client'), 'id_token', 'federation_failed',
      qr/'aud'.*"clientId"/);
claims('new', exp => time - 3600);
fails(tested($ada, 'oidc-one', 'an old one'), 'id_token', 'federation_failed', qr/The clocks/);
claims('new');
$s->sql('UPDATE svc.federation_meta SET asked_at = now(),'
        . " jwks = jsonb_set(jwks, '{keys,0,kid}', '\"other\"')");
fails(tested($ada, 'oidc-one', 'an unknown key'), 'id_token', 'federation_failed',
      qr/'kid'.* it does not publish/);
$s->sql('UPDATE svc.federation_meta SET asked_at = NULL');
is(tested($ada, 'oidc-one', 'once the keys are asked for')->{outcome}, 'new_user', 'works again');

$s->sql("UPDATE svc.federation_meta SET fetched_at = NULL, error = 'the metadata: status 404',"
        . ' asked_at = now()');
$result = tested($ada, 'oidc-one', 'no metadata');
fails($result, 'metadata', 'federation_failed', qr/^The metadata: status 404\./);
$s->sql('UPDATE svc.federation_meta SET asked_at = NULL, error = NULL');


# --- a connection that is off -------------------------------------------------------------------

# what looks for those that are due has not fetched anything

$s->sql('UPDATE svc.federation_meta meta SET asked_at = now() FROM svc.social social'
        . ' WHERE NOT social.enabled AND meta.connection_id = social.connection_id');
claims('new');
$result = tested($ada, 'oidc-two', 'one that is off');
is($result->{outcome}, 'no_account', 'is tested');
like($result->{steps}[6]{detail}, qr/"jitProvisioning"\. The connection is off: nobody comes in/,
     'and says that it is off');
admin_error($idp->start($bob, 'oidc-two'), 404, undef, 'nobody signs in by it');
admin_error($idp->start($bob, 'oidc-one', purpose => 'test'), 400, undef,
            'a sign-in is no test');


# --- who may ------------------------------------------------------------------------------------

admin_error($s->http(POST => '/v1/admin/federation/oidc-one/test',
                     [ Authorization => "Bearer $acme->{api_token}" ], {}), 403, undef, 'a token');
admin_error(begin($member, 'oidc-one'), 403, undef, 'without the permission');
admin_error($bob->post('/v1/admin/federation/oidc-one/test', {}, 'X-CSRF-Token' => undef), 403,
            'csrf_failed', 'without the CSRF token');
admin_error(begin($ada, 'oidc-none'), 404, undef, 'no such connection');
admin_error(begin($ada, "oidc-\xe9"), 404, undef, 'nor could it be one');
like(admin_error(begin($ada, 'ldap'), 400, undef, 'a directory')->{message},
     qr{POST /v1/admin/ldap/test}, 'has another route');
like(admin_error(begin($ada, 'saml'), 400, undef, 'SAML')->{message}, qr/nothing to test/,
     'has none');
$s->sql("UPDATE svc.session SET reauth_at = now() - interval '1 day',"
        . " mfa_at = now() - interval '1 day' WHERE user_id = '$bob->{user}{id}'");
admin_error(begin($bob, 'oidc-one'), 403, 'step_up_required', 'a stale session');

my $id = $result->{id};

is(result($bob, $id)->status, 200, 'another administrator sees the result');
admin_error(result($eve, $id), 404, undef, 'one of another tenant does not');
admin_error(result($member, $id), 403, undef, 'nor does a member');
admin_error($s->http(GET => "/v1/admin/federation/tests/$id",
                     [ Authorization => "Bearer $acme->{api_token}" ]), 403, undef,
            'nor a token');
admin_error(result($ada, $_), 404, undef, 'no such test')
    for 'x', '00000000-0000-0000-0000-000000000000';
$s->sql("UPDATE svc.federation_flow SET tested_at = tested_at - interval '10 minutes'"
        . " WHERE id = '$id'");
admin_error(result($ada, $id), 404, undef, 'after ten minutes it is over');

free();
is_deeply([ map { begin($ada, 'oidc-one')->status } 1 .. 11 ], [ (200) x 10, 429 ],
          'ten a minute');
is_deeply([ $acme->events_where("action = 'rate_limit.exceeded'", 'details') ],
          [ [ { family => 'connection', key => 'tenant', limit => 10, window => 60 } ] ],
          'which is audited');


# --- what else comes back -----------------------------------------------------------------------

free();

my $back = comes_back(begin($ada, 'oidc-one')->json->{redirectTo});
my $was = made();

is(SvcTest::Idp::refusal(SvcTest::Browser->new($s)->get($back)), 'flow_expired', 'nobody else');
is(SvcTest::Idp::refusal($eve->get($back)), 'flow_expired', 'nor another browser');
ok(id_of($ada->get($back)->header('Location')), 'the browser that has begun it');
is(SvcTest::Idp::refusal($ada->get($back)), 'flow_expired', 'once');
$back = comes_back(begin($ada, 'oidc-one')->json->{redirectTo});
$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE slug = 'acme'");
is(SvcTest::Idp::refusal($ada->get($back)), 'access_denied', 'a suspended tenant');
$s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE slug = 'acme'");
is(made(), $was, 'nothing is made');

# Whatever the program does: a flow that tests writes nothing.

claims('sneaky');
$back = comes_back($idp->start($bob, 'oidc-one')->json->{redirectTo});
$was = made();
$s->sql("UPDATE svc.federation_flow SET purpose = 'test' WHERE used_at IS NULL"
        . " AND purpose = 'sign_in'");
ok(id_of($bob->get($back)->header('Location')), 'a sign-in that has become a test ends as one');
is(made(), $was, 'and makes nothing');


# --- a domain is forced after a test --------------------------------------------------------------

sub force {
    my ($b) = @_;

    return $b->ask(PUT => '/v1/admin/domains/acme.test/sign-in', { connection => 'oidc-one' });
}

my $key = $s->sql('INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at)'
    . " VALUES ('$acme->{id}', '$ada->{user}{id}', gen_random_uuid(), 'passkey', 'x', now())"
    . ' RETURNING id');

$s->sql('INSERT INTO svc.passkey (tenant_id, credential_hash, user_id, factor_id, credential_id,'
        . ' public_key, alg, rp_id, sign_count, be, bs, transports, aaguid)'
        . " VALUES ('$acme->{id}', sha256('x'), '$ada->{user}{id}', '$key', 'x', 'x', -7,"
        . " 'localhost', 0, false, false, 0, '\\x" . '00' x 16 . "')");
$s->sql("UPDATE svc.session SET mfa_at = now() WHERE user_id = '$ada->{user}{id}'");

like(admin_error(force($ada), 400, 'anti_lockout', 'untried')->{message}, qr/or test it, first/,
     'says so');
claims('bob');
tested($ada, 'oidc-one', "by somebody else's identity");
admin_error(force($ada), 400, 'anti_lockout', 'that is no proof');
claims('ada');
is(tested($ada, 'oidc-one', 'by her own')->{outcome}, 'link', 'comes in');
admin_error(force($bob), 403, 'step_up_required', 'a stale session of another owner');
$s->sql("UPDATE svc.session SET reauth_at = now() WHERE user_id = '$bob->{user}{id}'");
admin_error(force($bob), 400, 'anti_lockout', 'it is proof for nobody else');
$s->sql("UPDATE svc.federation_flow SET tested_at = tested_at - interval '25 hours'");
admin_error(force($ada), 400, 'anti_lockout', 'nor a day later');
$s->sql("UPDATE svc.federation_flow SET tested_at = tested_at + interval '2 hours',"
        . " expires_at = expires_at - interval '23 hours'");
$s->sql('SELECT svc.sign_in_expire(1000, 900)');

# A test counts while its link is there, and the connection lets in those whom it did.

sub counting {
    return $s->sql("SELECT count(*) FROM svc.federation_flow WHERE subject_hash IS NOT NULL"
                   . " AND purpose = 'test'");
}

my $kept = $s->sql("SELECT string_agg(id || ' ' || subject_hash::text, ',')"
                   . " FROM svc.federation_flow WHERE purpose = 'test'"
                   . ' AND subject_hash IS NOT NULL');
my ($flow, $hash) = split / /, $kept;

$s->sql('INSERT INTO svc.federated_identity (tenant_id, connection_id, subject_hash, id, user_id,'
        . ' subject) SELECT tenant_id, connection_id, subject_hash, gen_random_uuid(), user_id,'
        . " 'x' FROM svc.federation_flow WHERE id = '$flow'");
is(counting(), 1, 'a test that counts');
$s->sql("DELETE FROM svc.federated_identity WHERE subject_hash = '$hash'");
is(counting(), 0, 'not without its link');
$s->sql("UPDATE svc.federation_flow SET subject_hash = '$hash' WHERE id = '$flow'");
$s->sql("UPDATE svc.social SET show_on_page = NOT show_on_page WHERE provider = 'oidc-one'");
is(counting(), 1, 'whatever else changes');
$s->sql("UPDATE svc.social SET link_by_email = 'verified' WHERE provider = 'oidc-one'");
is(counting(), 0, 'nor when others are let in');
$s->sql("UPDATE svc.social SET link_by_email = 'owned' WHERE provider = 'oidc-one'");
$s->sql("UPDATE svc.federation_flow SET subject_hash = '$hash' WHERE id = '$flow'");
is(force($ada)->status, 200, 'within a day the domain is forced');

$s->done;
done_testing();
