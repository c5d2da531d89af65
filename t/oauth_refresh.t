#!/usr/bin/perl

# Shows POST /oauth/token with refresh tokens: each has a successor, a client that has
# lost an answer gets the same one, and a thief gets none.

use strict;
use warnings;

use MIME::Base64 qw(decode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser;
use SvcTest::Grants qw(grant code redeem refresh $REDIRECT $VERIFIER digest);
use SvcTest::Lines;
use SvcTest::OAuth qw(oauth_server application form oauth_error claims);
use SvcTest::Process qw(slurp);
use SvcTest::Skip;

needs(python => 'cryptography');

my $s = oauth_server()->start;
my $node = $s->node(svc => { svc_sign_in => 'on' }, locations => $s->nginx->{locations});
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @ALL = qw(openid profile offline_access invoices:read);
my %WEB = (type => 'web', redirectUris => [ $REDIRECT ],
           scopes => [ qw(openid profile invoices:read) ]);

my $web = application($acme, %WEB, name => 'Web');
my $other = application($acme, %WEB, name => 'Other');
my $spa = application($acme, %WEB, name => 'SPA', type => 'spa');
my $foreign = application($globex, %WEB, name => 'Foreign');
my $ada = $acme->create(userName => 'ada@acme.test');

sub bad {
    my ($r, $code, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    return oauth_error($r, 400, $code, $name);
}

# Returns what a code was exchanged for, with the grant's id.

sub first {
    my ($app, %opt) = @_;

    my $code = code($acme, $app, $ada, scopes => \@ALL, %opt);

    return { %{ redeem($s, $app, $code)->json }, grant => $code->{grant} };
}

sub stored {
    my ($token) = @_;

    return 'digest = ' . "sha256('\\x" . unpack('H*', decode_base64url(substr $token, 4))
           . "')";
}

sub age {
    my ($token, $seconds) = @_;

    $s->sql("UPDATE svc.oauth_refresh SET used_at = used_at - interval '$seconds s' WHERE "
            . stored($token));
}

sub revoked {
    my ($t) = @_;

    return $s->sql("SELECT reason FROM svc.oauth_grant WHERE id = '$t->{grant}'");
}

sub set {
    my ($app, $set) = @_;

    $s->sql("UPDATE svc.application SET $set WHERE client_id = '$app->{clientId}'");
}


# --- successors ------------------------------------------------------------------

my $t = first($web);
my $r = refresh($s, $web, $t->{refresh_token});

is($r->status, 200, 'a refresh') or diag($r->body);

my $next = $r->json;

is_deeply([ sort keys %$next ],
          [ qw(access_token expires_in id_token refresh_token scope token_type) ],
          'the members');
isnt($next->{refresh_token}, $t->{refresh_token}, 'another refresh token');
is($next->{scope}, $t->{scope}, 'the scopes that were granted');

my ($head, $claims) = claims($next->{access_token});

is($claims->{sub}, $ada->{id}, 'of the user');
is($claims->{auth_time}, 1767323045, 'who signed in then');

my (undef, $id) = claims($next->{id_token});

is($id->{sub}, $ada->{id}, 'with an ID token');
ok(!exists $id->{nonce}, 'without a nonce');
is($id->{sid}, (claims($t->{id_token}))[1]{sid}, 'of the same session');
is($id->{auth_time}, 1767323045, 'which is as old');
is($id->{acr}, 'urn:svc:2', 'and as good');
is_deeply([ $s->sql('SELECT grant_type, grant_id FROM svc.oauth_token WHERE jti ='
                    . " '$claims->{jti}'") ],
          [ [ 'refresh_token', $t->{grant} ] ], 'the row');

my @seen = ($t->{refresh_token}, $next->{refresh_token});

for (1 .. 3) {
    $next = refresh($s, $web, $next->{refresh_token})->json;
    push @seen, $next->{refresh_token};
}

is(keys %{{ map { $_ => 1 } @seen }}, 5, 'each use has another one');
is($s->sql("SELECT count(*) FROM svc.oauth_refresh WHERE grant_id = '$t->{grant}'"
           . ' AND used_at IS NULL'), 1, 'and one is good');

# An answer was lost.

$t = first($web);
$next = refresh($s, $web, $t->{refresh_token})->json;

for my $port ($s->port, $node->{port}) {
    my $again = form($s, token => { grant_type => 'refresh_token',
                                    refresh_token => $t->{refresh_token} },
                     client => $web, http => { port => $port })->json;

    is($again->{refresh_token}, $next->{refresh_token}, 'the same successor') or diag(explain($again));
    isnt($again->{access_token}, $next->{access_token}, 'and another access token');
}

age($t->{refresh_token}, 29);
is(refresh($s, $web, $t->{refresh_token})->json->{refresh_token}, $next->{refresh_token},
   'for half a minute');

my $live = refresh($s, $web, $next->{refresh_token})->json;

bad(refresh($s, $web, $t->{refresh_token}), 'invalid_grant', 'until that has been used');
is(revoked($t), 'refresh_reused', 'which ends the grant');
bad(refresh($s, $web, $live->{refresh_token}), 'invalid_grant', 'with the last one');
bad(refresh($s, $web, $t->{refresh_token}), 'invalid_grant', 'and again');

is_deeply([ $s->sql('SELECT actor_type, actor_id, target_type, target_id, details'
                    . " FROM svc.audit_event WHERE action = 'oauth.grant_revoked'") ],
          [ [ 'application', $web->{clientId}, 'grant', $t->{grant},
              qq({"reason": "refresh_reused", "userId": "$ada->{id}",)
              . qq( "clientId": "$web->{clientId}"}) ] ], 'which is on record, once');

$t = first($web);
$next = refresh($s, $web, $t->{refresh_token})->json;
age($t->{refresh_token}, 31);
bad(refresh($s, $web, $t->{refresh_token}), 'invalid_grant', 'later');
is(revoked($t), 'refresh_reused', 'the grant ends');
bad(refresh($s, $web, $next->{refresh_token}), 'invalid_grant', 'and its successor');


# --- keys of the file -------------------------------------------------------------

# A new key is put before the one by which successors were derived, and then that one
# is removed.

$t = first($web);
$next = refresh($s, $web, $t->{refresh_token})->json;

my $key = slurp($s->{key_file});
my $new = 'next:' . 'ab' x 32 . "\n";

sub keys_are {
    my ($text) = @_;

    open my $file, '>', $s->{key_file} or die "key file: $!\n";
    print $file $text;
    close $file;
    $s->reload;
}

keys_are($new . $key);
is(refresh($s, $web, $t->{refresh_token})->json->{refresh_token}, $next->{refresh_token},
   'the same successor under an older key');

my $after = refresh($s, $web, $next->{refresh_token})->json;

is(refresh($s, $web, $next->{refresh_token})->json->{refresh_token}, $after->{refresh_token},
   'and under the new one');

keys_are($key);
bad(refresh($s, $web, $next->{refresh_token}), 'invalid_grant', 'a key that is gone');
is(revoked($t), undef, 'is no reuse');
is(refresh($s, $web, $after->{refresh_token})->status, 200, 'and the chain goes on');


# --- whose a refresh token is -----------------------------------------------------

$t = first($web);

for my $token (undef, 'x' x 513) {
    bad(refresh($s, $web, $token), 'invalid_request', 'of ' . length($token // ''));
}

for my $token ('x', 'srt_', 'x' x 512, "$t->{refresh_token}=", substr($t->{refresh_token}, 4),
               substr($t->{refresh_token}, 0, -1), "sat_" . substr($t->{refresh_token}, 4),
               "\x{263a}", 'srt_' . 'A' x 43)
{
    bad(refresh($s, $web, $token), 'invalid_grant', 'a text of ' . length $token);
}

bad(refresh($s, $other, $t->{refresh_token}), 'invalid_grant', 'of another client');
bad(refresh($s, $spa, $t->{refresh_token}), 'invalid_grant', 'of one without a secret');
bad(refresh($s, $foreign, $t->{refresh_token}), 'invalid_grant', 'of another tenant');
bad(refresh($s, $web, $t->{refresh_token}, scope => 'openid email'), 'invalid_scope',
    'a scope beyond the grant');
bad(refresh($s, $web, $t->{refresh_token}, resource => 'urn:a'), 'invalid_target',
    'a resource beyond it');
is(refresh($s, $web, $t->{refresh_token})->status, 200, 'none of them uses it');

set($web, "grant_types = '{authorization_code}'");
bad(refresh($s, $web, first($spa)->{refresh_token}), 'unauthorized_client',
    'a client without the grant type');
set($web, "grant_types = '{authorization_code,refresh_token}'");

# A narrower scope counts for this access token only.

$t = first($web);
$next = refresh($s, $web, $t->{refresh_token}, scope => 'invoices:read')->json;
is($next->{scope}, 'invoices:read', 'a narrower one');
ok(!exists $next->{id_token}, 'without openid');
is(refresh($s, $web, $next->{refresh_token})->json->{scope}, $t->{scope}, 'and all again');

my $two = redeem($s, $web, code($acme, $web, $ada, scopes => \@ALL,
                                resources => [ 'urn:a', 'urn:b' ]), resource => 'urn:a')
          ->json;

bad(refresh($s, $web, $two->{refresh_token}), 'invalid_target', 'one of two must be named');
$next = refresh($s, $web, $two->{refresh_token}, resource => 'urn:b')->json;
is((claims($next->{access_token}))[1]{aud}, 'urn:b', 'each token for one of them');

set($web, "scopes = '{openid}'");
$t = first($web);
is(refresh($s, $web, $t->{refresh_token})->json->{scope}, 'offline_access openid',
   'what the client has today');
set($web, "scopes = '{invoices:read,openid,profile}'");


# --- what ends a refresh token ----------------------------------------------------

my %END = (
    'idle for 30 days' => sub { "oauth_refresh SET expires_at = now() - interval '1 ms' WHERE "
                                . stored($_[0]{refresh_token}) },
    'a grant of 90 days' => sub { "oauth_grant SET expires_at = now() - interval '1 ms' WHERE id = "
                                  . "'$_[0]{grant}'" },
    'a grant that was revoked' => sub { "oauth_grant SET revoked_at = now() WHERE id = "
                                        . "'$_[0]{grant}'" },
    'a user who is suspended' => sub { "user_account SET status = 'suspended' WHERE id ="
                                       . " '$ada->{id}'" },
    'a new password' => sub { 'user_account SET valid_after = clock_timestamp()'
                              . " WHERE id = '$ada->{id}'" },
    'a client that was cut off' => sub { 'application SET tokens_valid_after ='
                                         . ' clock_timestamp() WHERE client_id ='
                                         . " '$web->{clientId}'" },
    'a tenant that was' => sub { 'oauth_tenant SET tokens_valid_after = clock_timestamp()'
                                 . " WHERE tenant_id = '$acme->{id}'" },
    'a client for groups' => sub { "application SET assignment = 'groups' WHERE client_id ="
                                   . " '$web->{clientId}'" },
    'a client that is off' => sub { 'application SET enabled = false WHERE client_id ='
                                    . " '$web->{clientId}'" },
    'a suspended tenant' => sub { 'tenant SET suspended_at = now() WHERE id ='
                                  . " '$acme->{id}'" },
);

for my $name (sort keys %END) {
    my $t = first($web, created_at => "now() - interval '5 s'");

    is(ref $t->{access_token}, '', "$name: a token") or next;
    $s->sql('UPDATE svc.' . $END{$name}->($t));
    bad(refresh($s, $web, $t->{refresh_token}), 'invalid_grant', $name);

    my $lasts = $name =~ /suspended\z|password|cut|tenant that/;

    $s->sql("UPDATE svc.user_account SET status = 'active'");
    bad(refresh($s, $web, $t->{refresh_token}), 'invalid_grant', "$name: and later") if $lasts;

    $s->sql('UPDATE svc.user_account SET valid_after = NULL');
    $s->sql('UPDATE svc.oauth_tenant SET tokens_valid_after = NULL');
    $s->sql('UPDATE svc.tenant SET suspended_at = NULL');
    set($web, "tokens_valid_after = NULL, assignment = 'everyone', enabled = true");
}

# A user sets a new password: the tokens of all his applications end, and nobody
# else's.

{
    my $bob = $acme->create(userName => 'bob@acme.test');
    my $code = code($acme, $web, $bob, scopes => \@ALL, created_at => "now() - interval '5 s'");
    my $his = redeem($s, $web, $code)->json;
    my @hers = map { [ $_, first($_, created_at => "now() - interval '5 s'") ] } $web, $spa;
    my $userinfo = sub {
        $s->http(GET => '/oauth/userinfo', [ Authorization => "Bearer $_[0]" ])->status;
    };

    is($userinfo->($_->{access_token}), 200, 'a token before') for $his, map { $_->[1] } @hers;

    my $password = 'a passphrase of her own';
    my ($link) = $s->svcctl('user', 'reset-link', '--tenant', 'acme', '--email', 'ada@acme.test')
                 =~ /^token  ([\w-]{43})$/m;

    $s->secret($_) for $link, $password;

    my $r = SvcTest::Browser->new($s, tenant => 'acme')
                ->post('/v1/auth/password/reset', { tenant => 'acme', token => $link,
                                                    password => $password });

    is($r->status, 204, 'a new password by the route') or diag($r->body);

    for my $case (@hers) {
        my ($app, $t) = @$case;

        bad(refresh($s, $app, $t->{refresh_token}), 'invalid_grant',
            "$app->{name}: ends what refreshes");
        is($userinfo->($t->{access_token}), 401, "$app->{name}: and the token");
    }

    is($userinfo->($his->{access_token}), 200, 'his is good');
    is(refresh($s, $web, $his->{refresh_token})->status, 200, 'and refreshes');

    my $later = first($web);

    is(refresh($s, $web, $later->{refresh_token})->status, 200, 'hers of afterwards does, too');
}

is($s->sql("SELECT max(expires_at) - now() <= interval '30 days' FROM svc.oauth_refresh"),
   't', 'idle for 30 days');
$t = first($web, expires_at => "now() + interval '1 h'");
is($s->sql("SELECT expires_at = (SELECT expires_at FROM svc.oauth_grant WHERE id ="
           . " '$t->{grant}') FROM svc.oauth_refresh WHERE " . stored($t->{refresh_token})),
   't', 'and no longer than the grant');


# --- clients' keys, and agents ----------------------------------------------------

$t = first($spa);
$s->sql("UPDATE svc.oauth_refresh SET jkt = '\\x" . 'ab' x 32 . "' WHERE "
        . stored($t->{refresh_token}));
bad(refresh($s, $spa, $t->{refresh_token}), 'invalid_grant', 'a key, and no proof of it');

# A public client's refresh token is bound to the key of its proof.

{
    my $lines = SvcTest::Lines->new($s->root . '/t/lib/dpop');
    my $ask = sub {
        my ($key, %fields) = @_;
        my $proof = $key && $lines->ask({ key => $key, header => {}, settings => {},
            claims => { htu => 'http://127.0.0.1:' . $s->port . '/oauth/token' } })->{proof};

        return form($s, token => { client_id => $spa->{clientId}, %fields },
                    headers => [ $key ? (DPoP => $proof) : () ]);
    };
    my $bound = $ask->('one', grant_type => 'authorization_code', code_verifier => $VERIFIER,
                       code => code($acme, $spa, $ada, scopes => \@ALL)->{code})->json;
    my @refresh = (grant_type => 'refresh_token', refresh_token => $bound->{refresh_token});

    is($bound->{token_type}, 'DPoP', 'by a proof');
    bad($ask->('two', @refresh), 'invalid_grant', 'the proof of another key');
    bad($ask->(undef, @refresh), 'invalid_grant', 'and none');
    is($ask->('one', @refresh)->status, 200, 'its own does');
    $lines->end;
}

my $agent = application($acme, %WEB, name => 'Agent', type => 'agent',
                        grantTypes => [ qw(authorization_code refresh_token) ]);

$t = first($agent);
$next = refresh($s, $agent, $t->{refresh_token})->json;
is_deeply((claims($next->{access_token}))[1]{act}, { sub => $agent->{clientId} },
          'an agent is an actor');
is($s->sql("SELECT string_agg(grant_type, ' ' ORDER BY grant_type) FROM svc.delegation"
           . " WHERE client_id = '$agent->{clientId}'"), 'authorization_code refresh_token',
   'and each token is in the journal');
set($agent, "allowed_scopes = '{profile}'");
is(refresh($s, $agent, $next->{refresh_token})->json->{scope}, 'offline_access profile',
   'a ceiling');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
