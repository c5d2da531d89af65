#!/usr/bin/perl

# Sessions that end because their identity provider says so (OpenID Connect Back-Channel
# Logout 1.0).

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser;
use SvcTest::Idp;
use SvcTest::Process qw(wait_for);
use SvcTest::Receiver;


my $EVENT = 'http://schemas.openid.net/event/backchannel-logout';
my $TRUE = JSON::PP::true();

my $s = SvcTest->new(workers => 2, svc => { svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 100',
                                                         'RATE_LIMIT_LOGIN_EMAIL_MAX 1000' ] });
my $receiver = SvcTest::Receiver->new($s);
my $idp = SvcTest::Idp->new($s, $receiver, n => 1, keys => [ 'oidc-real' ],
                            logout => '/v1/tenants/acme/federation/oidc-real/backchannel-logout');
my $told = SvcTest::Idp->new($s, $receiver, lies => 1);

$s->start;
$idp->ready;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my %jit = (jit_provisioning => 'true', domains => "'{acme.test}'");

for my $tenant ($acme, $globex) {
    $s->sql("INSERT INTO svc.domain (tenant_id, domain, token, verified_at) VALUES"
            . " ('$tenant->{id}', '"
            . ($tenant == $acme ? 'acme.test' : 'globex.test') . "', '" . 'x' x 43 . "', now())");
}

$idp->connect($acme, 'oidc-real', %jit);
$told->connect($acme, 'oidc-one', %jit);
$told->connect($acme, 'oidc-two', %jit, client => 'second');
$told->connect($globex, 'oidc-one', jit_provisioning => 'true', domains => "'{globex.test}'");


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }


# A browser that has come in by a provider that says what it is told to.

sub comes {
    my ($key, $sub, %more) = @_;
    my $tenant = delete $more{tenant} // 'acme';
    my $b = delete $more{browser} // browser(tenant => $tenant);
    my $purpose = delete $more{purpose} // 'sign_in';

    $told->ask(claims => { sub => $sub, email => "$sub\@$tenant.test", email_verified => $TRUE,
                           %more });

    my $to = $told->start($b, $key, purpose => $purpose)->json->{redirectTo};
    my $r = $b->get($told->ask(walk => $to)->{location} =~ s{^https?://[^/]*}{}r);

    is($r->header('Location'), '/account', "$sub comes by $key") or diag($r->body);

    return $b;
}


# Tests who of these has a session still: names of browsers.

sub alive {
    my ($browsers, $expected, $name) = @_;

    is(join(' ', grep { $browsers->{$_}->get('/v1/auth/session')->status == 200 }
                 sort keys %$browsers),
       $expected, $name);
}


my $jti = 0;

# A logout token: what differs from a good one.  undef: it is not there.

sub token {
    my (%more) = @_;
    my %sign = map { exists $more{$_} ? ($_ => delete $more{$_}) : () } qw(by kid);
    my %claims = (aud => 'svc', iat => time, exp => time + 120, jti => 'j' . ++$jti,
                  events => { $EVENT => {} }, %more);

    delete $claims{$_} for grep { !defined $claims{$_} } keys %claims;

    return $told->ask(sign => \%claims, %sign)->{token};
}


sub sends {
    my ($token, %opt) = @_;
    my ($tenant, $key) = ($opt{tenant} // 'acme', $opt{key} // 'oidc-one');

    return $s->http(POST => "/v1/tenants/$tenant/federation/$key/backchannel-logout",
                    [ 'Content-Type' => 'application/x-www-form-urlencoded',
                      ($opt{host} ? (Host => $opt{host}) : ()) ],
                    $opt{body} // "logout_token=$token");
}


sub good {
    my ($r, $name) = @_;

    is($r->status, 200, $name) or diag($r->body);
    is($r->header('Cache-Control'), 'no-store', 'is not stored');
    is($r->body, '', 'has no body');
}


sub events { return map { $_->[0] } $acme->events_where("action = '$_[0]'", 'details') }


# --- a provider as it is ------------------------------------------------------------------

my $real = browser();

is($idp->journey($real, 'oidc-real', { sub => 'ada', email => 'ada@acme.test',
                                       email_verified => $TRUE })->header('Location'),
   '/account', 'somebody signs in');
alive({ ada => $real }, 'ada', 'and is there');
is($idp->ask(leave => 0)->{left}, 303, 'and signs out at the provider');
ok((wait_for { $real->get('/v1/auth/session')->status == 401 }), 'the session here is over');
is_deeply([ events('session.revoked') ], [ { connection => 'oidc-real' } ], 'session.revoked');
is_deeply([ events('federation.failed') ], [], 'nothing was wrong');


# --- whose sessions end -----------------------------------------------------------------------

my %b = (a => comes('oidc-one', 'ann', sid => 's1'), b => comes('oidc-one', 'ann', sid => 's2'),
         c => comes('oidc-one', 'ann'), d => comes('oidc-one', 'bea', sid => 's3'),
         e => comes('oidc-two', 'cid', sid => 's1', aud => 'second'),
         f => comes('oidc-one', 'ann', sid => 's1', tenant => 'globex'));

good(sends(token(sid => 'sx')), 'a sid of nobody');
good(sends(token(sub => 'bea', sid => 's1')), 'a sid of somebody else');
alive(\%b, 'a b c d e f', 'ends nothing');

my $one = token(sid => 's1');

good(sends($one), 'a sid');
alive(\%b, 'b c d e f', 'ends its session, of that connection and tenant');
$b{a} = comes('oidc-one', 'ann', sid => 's1');
good(sends($one), 'the token once more');
alive(\%b, 'a b c d e f', 'ends nothing');
is($s->sql('SELECT count(*) FROM svc.federation_seen WHERE digest ='
           . " '\\x" . sha256_hex("j$jti") . "'"), 1, 'its jti is known');
good(sends(token(sub => 'ann', sid => 's2')), 'a sub and a sid');
alive(\%b, 'a d e f', 'end the session, and those without a sid');
$b{b} = comes('oidc-one', 'ann', sid => 's2');
good(sends(token(sub => 'ann')), 'a sub');
alive(\%b, 'd e f', 'ends all sessions of its user');

# Who waits for a second factor has no session yet, and gets none.

my $pending = comes('oidc-one', 'dan', sid => 's9');

$s->sql("UPDATE svc.session SET stage = 'mfa' WHERE upstream_sid = '\\x" . sha256_hex('s9') . "'");
good(sends(token(sid => 's9')), 'one that waits');
is($s->sql("SELECT count(*) FROM svc.session WHERE upstream_sid = '\\x" . sha256_hex('s9')
           . "' AND ended_at IS NULL"), 0, 'waits no more');


# --- whoever signs in meanwhile ---------------------------------------------------------------

my $db = $s->connect_as('postgres');

# Begins a sign-in of bea's, which waits for a lock, her own if it is none other, when the
# provider has answered.

sub waits {
    my (%claims) = @_;
    my $lock = delete $claims{lock}
        // "SELECT FROM svc.user_account WHERE user_name = 'bea\@acme.test' FOR UPDATE";
    my $b = browser();

    $told->ask(claims => { sub => 'bea', %claims });

    my $to = $told->start($b, 'oidc-one')->json->{redirectTo};
    my $back = $told->ask(walk => $to)->{location} =~ s{^https?://[^/]*}{}r;

    $db->query($_) for 'BEGIN', $lock;

    my $c = $s->begin(GET => $back, [ Cookie => $b->cookie, Connection => 'close' ]);

    ok((wait_for { $s->waiting == 1 }), 'bea signs in');

    return $c;
}


sub ends {
    my ($c, $to, $name) = @_;

    $db->query('COMMIT');
    is($c->read->header('Location') =~ s/&id=.*//r, $to, $name);
}

my $OVER = '/login?tenant=acme#error=flow_expired';
my $c = waits(sid => 's4');

good(sends(token(sid => 's4')), 'a sid meanwhile');
ends($c, $OVER, 'nobody is signed in by it');
good(sends(token(sid => 's4')), 'once more');
$c = waits(sid => 's4');
good(sends(token(sid => 's5')), 'another sid');
ends($c, '/account', 'ends no other sign-in, nor does what was before');
$c = waits(sid => 's4');

my $second = $s->begin(POST => '/v1/tenants/acme/federation/oidc-one/backchannel-logout',
                       [ 'Content-Type' => 'application/x-www-form-urlencoded',
                         Connection => 'close' ], 'logout_token=' . token(sub => 'bea'));

ok((wait_for { $s->waiting == 2 }), 'a sub waits for the sign-in');
ends($c, '/account', 'which is made');
is($second->read->status, 200, 'and then the sub');
is($s->sql("SELECT count(*) FROM svc.session WHERE ended_at IS NULL AND upstream_sid = '\\x"
           . sha256_hex('s4') . "'"), 0, 'ends it');
$b{d} = comes('oidc-one', 'bea', sid => 's3');

# One by a sid alone and a sign-in with it wait for each other.

my $lock = "(hashtext('svc.upstream_sid'), hashtext('" . sha256_hex('s6') . "'))";

$db->query($_) for 'BEGIN', "SELECT pg_advisory_xact_lock_shared$lock";

my $third = $s->begin(POST => '/v1/tenants/acme/federation/oidc-one/backchannel-logout',
                      [ 'Content-Type' => 'application/x-www-form-urlencoded',
                        Connection => 'close' ], 'logout_token=' . token(sid => 's6'));

ok((wait_for { $s->waiting == 1 }), 'a sid waits for a sign-in');
$db->query('COMMIT');
is($third->read->status, 200, 'and comes then');
ends(waits(sid => 's6', lock => "SELECT pg_advisory_xact_lock$lock"), '/account',
     'a sign-in waits for a sid, and is made then');


# --- what is no logout token ------------------------------------------------------------------

my $failed = 0;

sub refused {
    my ($r, $why, $name) = @_;

    admin_error($r, 400, 'invalid_request', $name);
    is($r->header('Cache-Control'), 'no-store', 'is not stored');

    my @failed = events('federation.failed');

    is(scalar @failed, ++$failed, 'is in the audit log');
    is($failed[-1]{why}, $why, "$name: why");
}

my %who = (sid => 's3');

refused(sends(token(%who, nonce => 'n')), "the logout token has a 'nonce'", 'a nonce');
refused(sends(token(%who, aud => 'other')), "the logout token has an 'aud' that is not the clientId",
        'another audience');
refused(sends(token(%who, aud => [ 'svc', 'other' ])),
        "the logout token has an 'aud' of several clients, and an 'azp' that is not the clientId",
        'two audiences');
refused(sends(token(%who, iss => $told->{issuers}[1])),
        "the logout token has an 'iss' that is not the provider's", 'another issuer');
refused(sends(token(%who, by => 1, iss => $told->{issuers}[0])),
        'the logout token has a signature that is not of its key', "another issuer's key");
refused(sends(token(%who), key => 'oidc-two'),
        "the logout token has an 'aud' that is not the clientId", "another connection's");
refused(sends(token(%who, events => $_->[0])),
        "the logout token has no 'events' with that of a logout", "events: $_->[1]")
    for [ undef, 'none' ], [ {}, 'empty' ], [ { $EVENT => $TRUE }, 'no object' ],
        [ { "$EVENT/" => {} }, 'another' ], [ $EVENT, 'a string' ];
refused(sends(token(%who, exp => time - 61)), "the logout token is over by its 'exp'", 'too old');
refused(sends(token(%who, iat => time - 700)),
        "the logout token has an 'iat' that is more than 600 seconds ago", 'kept back');
refused(sends(token(%who, jti => undef)), "the logout token has no 'jti' of 1 to 255 bytes",
        'no jti');
refused(sends(token()), "the logout token has neither a 'sub' nor a 'sid'", 'nobody');
refused(sends(token(sid => 's3', sub => { a => 1 })),
        "the logout token has a 'sub' or a 'sid' that is no string of 1 to 255 bytes",
        'a sub that is none');
refused(sends(token(%who, kid => '<b>')), "the logout token has a 'kid' that no key has",
        'a key that is none');

my $html = sends('%3Cscript%3Ealert(1)%3C/script%3E');

refused($html, 'the logout token is not a JWS of three parts', 'HTML');
is($html->header('Content-Type'), 'application/json', 'is answered by JSON');
unlike($html->body, qr/script/, 'that says nothing of it');

admin_error(sends('', body => $_->[0]), 400, 'invalid_request', $_->[1])
    for [ '', 'no token' ], [ 'logout_token=', 'an empty one' ],
        [ 'logout_token=a&logout_token=b', 'two' ], [ 'logout_token=%zz', 'no form' ];
admin_error(sends(token(%who), tenant => $_->[0], key => $_->[1]), 404, undef, "$_->[0]/$_->[1]")
    for [ 'acme', 'oidc-none' ], [ 'nobody', 'oidc-one' ], [ 'ACME', 'oidc-one' ],
        [ 'acme', '%ff' ], [ '%ff', 'oidc-one' ], [ 'acme', 'x' x 36 ];
admin_error($s->http(GET => '/v1/tenants/acme/federation/oidc-one/backchannel-logout'), 405, undef,
            'GET');
admin_error(sends('', body => 'logout_token=' . 'x' x 65536), 413, undef, 'one that is too large');

# Another tenant's domain.

$s->sql("UPDATE svc.domain SET domain = 'login.globex.test' WHERE tenant_id = '$globex->{id}'");
admin_error(sends(token(%who), host => 'login.globex.test'), 404, undef,
            "at the domain of another tenant");
admin_error(sends(token(%who), tenant => 'globex', host => 'login.globex.test',
                 body => 'logout_token=x'), 400, undef, 'and at its own');

alive(\%b, 'd e f', 'nothing of this has ended a session');

$s->sql("UPDATE svc.social SET updated_at = clock_timestamp(), enabled = false"
        . " WHERE provider = 'oidc-two'");
admin_error(sends(token(%who), key => 'oidc-two'), 404, undef, 'a connection that is off');


# --- a tenant that is suspended ----------------------------------------------------------------

$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE id = '$acme->{id}'");
good(sends(token(%who)), 'while the tenant is suspended');
$s->sql('UPDATE svc.federation_meta SET due_at = now(), asked_at = NULL');
is_deeply([ $s->sql("SELECT name FROM svc.federation_due(16) WHERE tenant = '$acme->{id}'"
                    . ' AND name IS NOT NULL') ], [], 'when nothing is fetched for it');
$s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE id = '$acme->{id}'");
alive({ d => $b{d} }, '', 'the session ends for good');


# A step-up is another sign-in there: it is that one which ends the session.

my $again = comes('oidc-one', 'ann', sid => 'before');

comes('oidc-one', 'ann', sid => 'after', auth_time => time + 5, purpose => 'step_up',
      browser => $again);
good(sends(token(sid => 'before')), 'the sign-in of before a step-up');
alive({ g => $again }, 'g', 'ends nothing');
good(sends(token(sid => 'after')), 'the one of the step-up');
alive({ g => $again }, '', 'ends the session');


# --- from another site ------------------------------------------------------------------------

my $flows = $s->sql('SELECT count(*) FROM svc.federation_flow');

sub initiates {
    my ($query, $to, $name, %opt) = @_;
    my ($tenant, $key) = ($opt{tenant} // 'acme', $opt{key} // 'oidc-one');
    my $path = "/v1/tenants/$tenant/federation/$key/initiate";
    my $host = [ $opt{host} ? (Host => $opt{host}) : () ];
    my $r = $opt{post} ? $s->http(POST => $path, $host, $query)
                       : $s->http(GET => "$path?$query", $host);

    is($r->status, 303, $name) or diag($r->body);
    like($r->header('Location'), qr{\A$to\z}, 'leads to the page');
    is($r->header('Set-Cookie'), undef, 'sets no cookie');
}

my $iss = "iss=$told->{issuers}[0]";
my $page = '/login\?tenant=acme';

initiates($iss, "$page#connection=oidc-one", 'GET');
initiates($iss, "$page#connection=oidc-one", 'POST', post => 1);
initiates("$iss&login_hint=a%40b%22%3E%3Cb%3E&target_link_uri=/account",
          "$page&return_to=%2Faccount#connection=oidc-one&login_hint=a%40b%22%3E%3Cb%3E",
          'with more');
initiates("$iss&target_link_uri=" . $s->base_url . '/console/x',
          "$page&return_to=%2Fconsole%2Fx#connection=oidc-one", 'a URL of this server');
initiates("$iss&target_link_uri=" . $s->base_url =~ s{//[^:/]+}{//login.acme.test}r . '/account',
          "$page&return_to=%2Faccount#connection=oidc-one", 'one of the host',
          host => 'login.acme.test');
initiates("$iss&target_link_uri=" . $s->base_url =~ s{//[^:/]+}{//login.acme.test}r . '/account',
          "$page#connection=oidc-one", 'another host');
initiates("$iss&target_link_uri=$_", "$page#connection=oidc-one", "not $_")
    for '//evil', 'https://evil.test/account', $s->base_url . '.evil.test/account',
        $s->base_url . '//evil', '/elsewhere';
initiates("$iss&login_hint=" . 'x' x 255, "$page#connection=oidc-one", 'a long hint');
initiates($_->[0], "$page#error=federation_failed&id=\\w+", $_->[1])
    for [ '', 'no iss' ], [ "iss=$told->{issuers}[1]", 'another one' ],
        [ "$iss/", 'one that is longer' ];
initiates("$iss&$iss", "$page#error=invalid_request&id=\\w+", 'two');
initiates($iss, "$page#error=not_found&id=\\w+", 'no connection', key => 'oidc-none');
initiates($iss, '/login#error=not_found&id=\w+', 'no slug', tenant => '%0d%0aX');
is($s->sql('SELECT count(*) FROM svc.federation_flow'), $flows, 'nothing has begun');


# --- keys, and limits ------------------------------------------------------------------------

$b{g} = comes('oidc-one', 'eve', sid => 's8');
$s->sql("UPDATE svc.federation_meta SET asked_at = now() - interval '1 minute', jwks ="
        . q( '{"keys":[]}'));
good(sends(token(sid => 's8')), 'a key that was not known');
alive({ g => $b{g} }, '', 'is fetched');

good(sends(token(sid => 'sx')), "good ones are not limited") for 1 .. 60;

my $status;

for (1 .. 110) {
    $status = sends('x')->status;
    last if $status != 400;
}

is($status, 429, 'others are');


$s->done;
done_testing;
