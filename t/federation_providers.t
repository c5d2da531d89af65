#!/usr/bin/perl

# Sign-in through the providers that are known by name, at their own addresses.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Idp;
use SvcTest::Mail;
use SvcTest::Process qw(run wait_for);
use SvcTest::Receiver;
use SvcTest::Resolver;


my %ROOMY = (svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 1000" } qw(IP EMAIL) ]);
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my ($APPLE, $GOOGLE) = map { SvcTest::Idp::callback($_) } qw(apple google);
my $FINISH = '/v1/auth/federation/finish';
my ($TID, $FOREIGN, $EVIL) = map { "$_-1111-4111-8111-111111111111" } qw(11111111 22222222 33333333);
my @NAMES = qw(accounts.google.com login.microsoftonline.com appleid.apple.com gitlab.com
               www.linkedin.com github.com api.github.com www.facebook.com graph.facebook.com);
my @KEYS = qw(google microsoft apple gitlab linkedin github facebook);

my $s = SvcTest->new(workers => 2, svc => { %ROOMY });
my $receiver = SvcTest::Receiver->new($s);
my $resolver = SvcTest::Resolver->new($s, quiet => 1);

$receiver->certificate(named => 'subjectAltName=' . join ',', map { "DNS:$_" } @NAMES);

my $idp = SvcTest::Idp->new($s, $receiver, named => 1, keys => \@KEYS,
                            svc => { svc_federation_allow => '127.0.0.0/8' });

my $mail = SvcTest::Mail->new($s, port => 'plain');

$resolver->set((map { $_ => '127.0.1.1' } @NAMES), ':127.0.1.1' => $idp->{port});
$s->start;
$idp->ready;
$s->secret($PASSWORD);

my $acme = $s->tenant('acme');

for my $domain (qw(acme.test relay.test)) {
    $s->sql("INSERT INTO svc.domain (tenant_id, domain, token, verified_at) VALUES"
            . " ('$acme->{id}', '$domain', '" . 'x' x 43 . "', now())");
}

sub openssl {
    my ($status, $text) = run([ 'openssl', @_ ]);

    return $status == 0 ? $text : die "openssl: $text\n";
}


my $p8 = openssl(qw(genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256));

$idp->ask(set => { appleKey => $p8 });
$s->secret($p8);

my %apple = (teamId => 'TEAM123456', keyId => 'KEY1234567', clientSecret => $p8);

for my $key (@KEYS) {
    my $r = $acme->admin(POST => '/social/connections',
                         { provider => $key, clientId => 'svc', clientSecret => 'secret',
                           jitProvisioning => $TRUE, domains => [ 'acme.test' ],
                           $key eq 'apple' ? %apple : (),
                           $key eq 'microsoft' ? (tenantId => $TID) : () });

    is($r->status, 201, "a connection with $key") or diag($r->body);
}


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }


is_deeply([ map { $_->{connection} }
                @{ browser()->get('/v1/auth/options?tenant=acme')
                            ->json->{methods}{connections} } ], [ sort @KEYS ],
          'the page has a button for each');
is_deeply([ map { $_->{connection} }
                @{ browser()->post('/v1/auth/discover', { email => 'x@acme.test',
                                                          tenant => 'acme' })
                            ->json->{connections} } ], [ sort @KEYS ],
          'and so have people of the domain');


sub claims {
    my ($sub, %more) = @_;

    return { sub => $sub, email => "$sub\@acme.test", email_verified => $TRUE, tid => $TID,
             oid => "o-$sub", %more };
}


# Where a browser comes back, and with which form.

sub begun {
    my ($b, $key, $account) = @_;
    my $r = $idp->start($b, $key);

    is($r->status, 200, "start with $key") or diag($r->body);

    return $idp->away($r->json->{redirectTo}, $account);
}


sub comes {
    my ($key, $account, $name) = @_;
    my $b = browser();
    my ($to) = begun($b, $key, $account);
    my $r = $b->get($to);

    is($r->header('Location'), '/account', $name);
    is(($b->get('/v1/auth/session')->json->{user} // {})->{email}, $account->{email},
       'with a session');

    return $b;
}


sub refused {
    my ($key, $account, $code, $why, $name) = @_;
    my $b = browser();
    my ($to) = begun($b, $key, $account);

    fails($b->get($to), $code, $why, $name);
    is($b->get('/v1/auth/session')->status, 401, 'no session');
}


sub fails {
    my ($r, $code, $why, $name) = @_;

    is(SvcTest::Idp::refusal($r), $code, $name) or diag($r->header('Location') // $r->body);
    is(($acme->events_where("action LIKE 'federation.%'", 'details'))[-1][0]{why}, $why, 'why')
        if defined $why;
}


# --- those with an ID token ---------------------------------------------------------------

my $r = $idp->start(browser(), 'google');

like($r->json->{redirectTo}, qr{^https://accounts\.google\.com/auth\?.*&nonce=[\w-]{43}&
                               .*&code_challenge=}x, 'where Google is');
comes('google', claims('g', hd => 'acme.test'), 'Google, by its hd');
refused('google', claims('g2'), 'email_unverified', 'email_unverified', 'not without');
refused('google', claims('g3', hd => 'other.test'), 'email_unverified', 'email_unverified',
        'nor by another one');
comes('gitlab', claims('gl'), 'GitLab');
refused('gitlab', claims('gl2', email_verified => $FALSE), 'email_unverified',
        'email_unverified', 'not without a verified address');

$r = $idp->start(browser(), 'linkedin');
unlike($r->json->{redirectTo}, qr/code_challenge/, 'LinkedIn takes no PKCE');
comes('linkedin', claims('li'), 'LinkedIn, whose ID token has no nonce');
$idp->ask(set => { linkedin => 'https://www.linkedin.com' });
comes('linkedin', claims('li'), 'with the other spelling of its issuer');
$idp->ask(set => { linkedin => 'https://linkedin.com' });
refused('linkedin', claims('li'), 'federation_failed',
        "the ID token has an 'iss' that is not the provider's", 'and no third one');

refused('facebook', claims('fb'), 'email_unverified', 'email_unverified',
        'Facebook vouches for nobody');

my $facebook = grep { $_ eq 'graph.facebook.com/oauth/access_token' }
               @{ $idp->ask->{asked} };

is($facebook, 1, 'where its token endpoint is');


# What makes each ask once more, where an application wants that.

for my $case ([ google => 'select_account' ], [ microsoft => 'login', 0 ], [ 'apple' ],
              [ gitlab => 'login', 0 ], [ 'linkedin' ], [ github => 'select_account' ],
              [ 'facebook' ])
{
    my ($key, @expected) = @$case;
    my $to = $idp->start(browser(), $key, returnTo => '/oauth/authorize?client_id=x&prompt=login')
                 ->json->{redirectTo};

    is_deeply([ map { $to =~ /[?&]$_=([^&]*)/ ? $1 : () } qw(prompt max_age) ], \@expected,
              "$key asks again");
}


# --- 7: Microsoft ---------------------------------------------------------------------------

with_password($s, $acme, userName => 'victim@acme.test');

my $victim = 'victim@acme.test';

comes('microsoft', claims('ms', email => 'ms@acme.test', email_verified => undef),
      'Microsoft, one directory and its domain');
is($acme->admin(PATCH => '/social/connections/microsoft',
                { tenantId => 'common', allowedTenants => [ $TID, $FOREIGN ],
                  clientSecret => 'secret' })->status, 200, 'all directories, of which two');
refused('microsoft', claims('evil', tid => $EVIL, oid => 'x', email => $victim),
        'federation_failed', "the ID token has a 'tid' that is not allowed",
        'a directory that is not one of them');
refused('microsoft', claims('foreign', tid => $FOREIGN, oid => 'x', email => $victim),
        'email_unverified', 'email_unverified', "another one's word for somebody's address");
refused('microsoft', claims('foreign', tid => $FOREIGN, oid => 'x', email => $victim,
                            xms_edov => $FALSE),
        'email_unverified', 'email_unverified', 'whose domain it has not');
is(scalar($s->sql('SELECT count(*) FROM svc.federated_identity identity JOIN svc.user_account'
                  . " account ON account.id = identity.user_id WHERE user_name = '$victim'")), 0,
   'nothing is linked');
comes('microsoft', claims('edov', tid => $FOREIGN, oid => 'y', email => $victim,
                          xms_edov => $TRUE), 'whose domain it has');


# --- 8: Google ---------------------------------------------------------------------------------

with_password($s, $acme, userName => 'early@acme.test');
$s->sql("UPDATE svc.user_account SET email_verified = false WHERE user_name = 'early\@acme.test'");

my $thief = browser();

is($thief->login('early@acme.test')->status, 200, 'who has signed up with the address of another');
comes('google', claims('early', hd => 'acme.test'), 'who comes by Google');
is($thief->get('/v1/auth/session')->status, 401, 'has no session');
is(browser()->login('early@acme.test')->status, 401, 'and no password');


# --- GitHub --------------------------------------------------------------------------------------

my @emails = ({ email => 'other@acme.test', primary => $FALSE, verified => $TRUE },
              { email => 'hub@acme.test', primary => $TRUE, verified => $TRUE });
my %hub = (sub => '583231', login => 'octocat', name => "Mona \x{202e}Lisa",
           email => 'hub@acme.test', emails => \@emails);

$r = $idp->start(browser(), 'github');
like($r->json->{redirectTo},
     qr{^https://github\.com/login/oauth/authorize\?.*&scope=read%3Auser%20user%3Aemail&}x,
     'where GitHub is');
unlike($r->json->{redirectTo}, qr/[?&]nonce=/, 'which has no nonce');
comes('github', \%hub, 'GitHub');
is($s->sql("SELECT display_name IS NULL FROM svc.user_account WHERE user_name = 'hub\@acme.test'"),
   't', 'a name that looks like another one is none');
comes('github', { %hub, emails => [] }, 'again, by its id');

$hub{sub} = '2';
refused('github', { %hub, emails => [ { %{ $emails[1] }, verified => $FALSE } ] },
        'email_unverified', 'email_unverified', 'an address that is not verified');
refused('github', { %hub, emails => [ $emails[0] ] }, 'email_unverified', 'email_unverified',
        'one that is not the primary one');
refused('github', { %hub, emails => { } }, 'federation_failed',
        "GitHub has an answer that is not GitHub's", 'no list');
refused('github', { %hub, sub => '0' }, 'federation_failed', "GitHub has no 'id'", 'no id');

for my $fails ([ '/user', 'the user: status 500' ], [ '/user/emails', 'the addresses: status 500' ]) {
    $idp->ask(set => { fails => $fails->[0] });
    refused('github', \%hub, 'federation_failed', $fails->[1], "$fails->[0] fails");
}

$idp->ask(set => { fails => '' });
$s->sql("UPDATE svc.social SET attribute_mapping = '{\"title\":\"job\"}'"
        . " WHERE provider = 'github'");
comes('github', { %hub, sub => '3', email => 'hub3@acme.test',
                  emails => [ { %{ $emails[1] }, email => 'hub3@acme.test' } ] },
      'who does not say all that is mapped');

my $b = browser();
my $to = (begun($b, 'github', \%hub))[0] =~ s/code=[^&]*/code=x/r;

fails($b->get($to), 'federation_failed', 'the token endpoint: status 200, invalid_grant',
      'a code that is none');


# --- Apple -------------------------------------------------------------------------------------------

sub form {
    my (%form) = @_;

    return join '&', map {
        my $value = $form{$_};

        utf8::encode($value) if utf8::is_utf8($value);
        "$_=" . ($value =~ s/([^\w.-])/sprintf '%%%02X', ord $1/ger)
    } sort keys %form;
}


sub counted { return $s->redis->lines(KEYS => 'svc.rate.l.*') }


# Sends the form as another site would: without cookies.

sub posts {
    my ($to, $form, %more) = @_;

    return $s->http(POST => $to, [ 'Content-Type' => 'application/x-www-form-urlencoded',
                                   Origin => 'https://appleid.apple.com' ],
                    form(%$form, %more));
}


my $name = '{"name":{"firstName":"Ada","lastName":"Love\u202elace"},"email":"evil@acme.test"}';

$b = browser();
($to, my $form) = begun($b, 'apple', claims('apple', email => 'a@acme.test',
                                            email_verified => 'true'));
is($to, $APPLE, 'Apple sends a form');
is($s->http(GET => "$to?" . form(%$form))->header('Location') =~ s/&id=.*//r,
   '/login#error=flow_expired', 'which is not taken as a GET without the cookie');
$r = posts($to, $form, user => $name);
is($r->status, 303, 'the form without a cookie');
like($r->header('Location'), qr{^\Q$FINISH\E\?flow=[\w-]{43}\z}, 'leads on');
is($r->header('Set-Cookie'), undef, 'without a session');
unlike($r->header('Location'), qr/\Q$form->{state}\E/, 'under another token');
is_deeply($idp->ask->{secret}{header}, { alg => 'ES256', kid => 'KEY1234567' }, 'its secret');

my $secret = $idp->ask->{secret}{payload};

is("$secret->{iss} $secret->{sub} " . ($secret->{exp} - $secret->{iat}), 'TEAM123456 svc 300',
   'is for this call');

my $finish = $r->header('Location');

fails(posts($to, $form), 'flow_expired', undef, 'the form once more');
fails($s->http(GET => $finish), 'flow_expired', undef, 'the token without the cookie');

my $other = browser();

begun($other, 'google', claims('g'));
fails($other->get($finish), 'flow_expired', undef, "with another browser's");
fails($b->get("$FINISH?flow=$form->{state}"), 'flow_expired', undef, "with Apple's state");
fails($b->get("$APPLE?state=" . ($finish =~ s/.*=//r) . '&code=x'), 'flow_expired',
      undef, 'where codes are taken');
fails(posts($to, { state => $finish =~ s/.*=//r, code => 'x' }), 'flow_expired', undef,
      'and in a form');
fails($b->ask(GET => $finish, undef, Host => 'login.acme.test'), 'flow_expired', undef,
      'at another host');
is($b->get($finish)->header('Location'), '/account', 'the browser that has begun');
is($b->get('/v1/auth/session')->json->{user}{email}, 'a@acme.test', 'with a session');
fails($b->get($finish), 'flow_expired', undef, 'a second time');
is(join('|', map { $_ // '' } @{ ($s->sql('SELECT first_name, last_name FROM svc.user_account'
                                          . " WHERE user_name = 'a\@acme.test'"))[0] }),
   'Ada|', 'its name, but for what looks like another one');


# What happens between the two.

sub meets {
    my ($change, $back, $code, $name) = @_;
    my $b = browser();
    my ($to, $form) = begun($b, 'apple', claims('apple', email => 'a@acme.test'));
    my $finish = posts($to, $form)->header('Location');

    $s->sql($change);
    fails($b->get($finish), $code, undef, $name);
    $s->sql($back);
    fails($b->get($finish), 'flow_expired', undef, 'the flow is spent');
}

my $user = "UPDATE svc.user_account SET status = '%s' WHERE user_name = 'a\@acme.test'";
my $flow = 'UPDATE svc.federation_flow SET expires_at = now() %s WHERE used_at IS NULL';

meets(sprintf($user, 'suspended'), sprintf($user, 'active'), 'flow_expired',
      'who is suspended meanwhile');
meets("DELETE FROM svc.federated_identity identity USING svc.social social WHERE"
      . ' social.connection_id = identity.connection_id AND provider = \'apple\'',
      'SELECT', 'flow_expired', 'whose link goes meanwhile');
meets("UPDATE svc.social SET updated_at = clock_timestamp() WHERE provider = 'apple'", 'SELECT',
      'flow_expired', 'a connection that changes');
meets(sprintf($flow, "- interval '1 s'"), 'SELECT', 'flow_expired', 'too late');
meets("UPDATE svc.federation_flow SET purpose = 'test' WHERE used_at IS NULL", 'SELECT',
      'flow_expired', 'one that tests writes nothing, whatever has kept its proof');

# A test ends where the form comes, without the cookie; GitHub's has no ID token.

with_password($s, $acme, userName => 'boss@acme.test', role => 'admin');

my $boss = browser();
my $sessions = sub { scalar $s->sql('SELECT count(*) FROM svc.session') };

$boss->login('boss@acme.test');

for ([ apple => 'a@acme.test', 'link' ], [ github => 'hub@acme.test', 'link_required' ]) {
    my ($key, $email, $outcome) = @$_;
    my $was = $sessions->();
    my ($to, $form) = $idp->away($boss->post("/v1/admin/federation/$key/test")->json->{redirectTo},
                                 $key eq 'github' ? \%hub
                                 : claims($key, email => $email, email_verified => 'true'));
    my $r = $form->{code} ? posts($to, $form) : $boss->get($to);
    my ($id) = ($r->header('Location') // '') =~ m{/account\?tenant=acme&test=([\w-]+)\z};
    my $found = $boss->get("/v1/admin/federation/tests/$id")->json;

    is($found->{outcome}, $outcome, "a test of $key") or diag(explain($found));
    is(join(' ', map { $_->{step} } @{ $found->{steps} }),
       'metadata authorization token ' . ($key eq 'apple' ? 'id_token ' : '')
       . 'claims mapping user second_factor', 'its steps');
    is($sessions->(), $was, 'no session begins');
    is($found->{user}, $email, 'who it is');
    unlike(join('', map { $_->{value} } @{ $found->{claims} }), qr/\x{202e}/,
           'nothing looks like another text');
}

# A code by mail proves an address of what has come as a form, too.

with_password($s, $acme, userName => 'held@elsewhere.test');
$b = browser();
($to, $form) = begun($b, 'apple', claims('held', email => 'held@elsewhere.test'));
$finish = posts($to, $form)->header('Location');
$r = $b->get($finish);
like($r->header('Location'), qr/#error=link_required&id=\w+&flow=[\w-]{43}\z/,
     'an address that is not owned');

my ($held) = $r->header('Location') =~ /&flow=(.*)/;
my $MAIL = '/v1/auth/federation/mail';

fails($b->get("$FINISH?flow=$held"), 'flow_expired', undef, 'ends nothing more');
admin_error($b->post("$MAIL/start", { flow => $finish =~ s/.*=//r }), 400, 'flow_expired',
            'the token before is good for nothing');
$r = $b->post("$MAIL/start", { flow => $held });
is($r->status, 202, 'a code is mailed') or diag($r->body);

my $code = wait_for { (($mail->events('mail'))[-1] // { plain => '' })->{plain}
                          =~ /^\s*(\d{6})\r?$/m ? $1 : undef };

$r = $b->post("$MAIL/verify", { flow => $held, challengeId => $r->json->{challengeId},
                                code => $code });
is($r->json->{user}{email}, 'held@elsewhere.test', 'which signs in') or diag($r->body);

# What the finish knows: a factor that is believed, and when there was one,

$s->sql("UPDATE svc.social SET trust_mfa = true WHERE provider = 'apple'");

$b = browser();
($to, $form) = begun($b, 'apple', claims('apple', email => 'a@acme.test', amr => [ 'mfa' ]));
$s->redis->lines(DEL => counted());
$r = posts($to, $form);
is_deeply([ counted() ], [], 'a form is not counted');
is($b->get($r->header('Location'))->header('Location'), '/account', 'with a second factor');
is_deeply([ $s->sql('SELECT methods, mfa_at = auth_time,'
                    . ' auth_time = date_trunc(\'second\', auth_time)'
                    . ' FROM svc.session ORDER BY created_at DESC LIMIT 1') ],
          [ [ '{social,mfa}', 't', 't' ] ], 'of when Apple says');

# ... and whether the address was somebody's own before, whose password then stays.

with_password($s, $acme, userName => 'kept@acme.test');
$b = browser();
($to, $form) = begun($b, 'apple', claims('kept'));
is($b->get(posts($to, $form)->header('Location'))->header('Location'), '/account', 'is linked');
is(browser()->login('kept@acme.test')->status, 200, 'and has a password still');

$b = browser();
$s->redis->lines(DEL => counted());
($to) = $idp->away($idp->start($b, 'google', email => 'g@acme.test')->json->{redirectTo},
                   claims('g', hd => 'acme.test'));
is_deeply([ map { $s->redis->lines(GET => $_) } counted() ], [ 1, 1 ],
          'a client and an address are counted');
$b->get($to);
is_deeply([ map { $s->redis->lines(GET => $_) } counted() ], [ 0, 0 ],
          'and not, once somebody has signed in');


# Who may not come.

$b = browser();
($to, $form) = begun($b, 'apple', claims('nobody', email => 'x@elsewhere.test'));
fails($b->get(posts($to, $form)->header('Location')), 'no_account', 'no_account',
      'who has no account');
$b = browser();
($to, $form) = begun($b, 'apple', claims('apple'));
delete $form->{code};
fails(posts($to, $form, error => 'user_cancelled_authorize'), 'federation_denied',
      'user_cancelled_authorize: ', 'who has changed his mind');
$acme->admin(PATCH => '/social/connections/apple', { clientSecret => 'no key' });
$b = browser();
($to, $form) = begun($b, 'apple', claims('apple'));
fails(posts($to, $form), 'federation_failed', "the client's secret is no key of Apple's",
      'a secret that is no key');

is_deeply($idp->ask->{sent}, { (map { $_ => 'header' } qw(google microsoft gitlab)),
                               (map { $_ => 'form' } qw(apple linkedin github facebook)) },
          'where each wants the secret');

# A form that was not asked for.

$b = browser();
($to) = begun($b, 'google', claims('g', hd => 'acme.test'));

my %code = map { /^(\w+)=(.*)/ } split /&/, $to =~ s/.*\?//r;

fails(posts($GOOGLE, { map { $_ => $code{$_} } qw(code state) }), 'federation_failed',
      'a form was not asked for', 'a form of another provider');
is((posts($APPLE, { state => 'x' x 70000 }))->status, 413, 'a long form');
fails(posts($APPLE, {}), 'flow_expired', undef, 'an empty one');


$s->done;
done_testing;
