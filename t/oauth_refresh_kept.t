#!/usr/bin/perl

# Shows refresh tokens that stay the same, of applications with the profile fapi2,
# those that had a successor before the profile was set, and those that get one when
# it is removed.
#
# The test sets the profile in SQL: how such clients authenticate does not matter
# here.

use strict;
use warnings;

use MIME::Base64 qw(decode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Grants qw(grant code redeem refresh refreshing $REDIRECT);
use SvcTest::OAuth qw(oauth_server application oauth_error claims delegations);

my $s = oauth_server(workers => 2)->start;
my $acme = $s->tenant('acme');
my @ALL = qw(openid profile offline_access);
my %WEB = (type => 'web', redirectUris => [ $REDIRECT ], scopes => [ qw(openid profile) ]);
my $ada = $acme->create(userName => 'ada@acme.test');

$s->sql('ALTER TABLE svc.application DROP CONSTRAINT application_fapi2_check');


sub profile {
    my ($app, $profile) = @_;

    $s->sql('UPDATE svc.application SET security_profile = '
            . ($profile ? "'$profile'" : 'NULL') . " WHERE client_id = '$app->{clientId}'");

    return $app;
}

sub fapi { return profile(application($acme, %WEB, @_), 'fapi2') }

# Returns what a code was exchanged for, with the grant's id.

sub first {
    my ($app, %opt) = @_;

    my $code = code($acme, $app, $ada, scopes => \@ALL, %opt);

    return { %{ redeem($s, $app, $code)->json }, grant => $code->{grant} };
}

sub stored {
    my ($token) = @_;

    return "digest = sha256('\\x" . unpack('H*', decode_base64url(substr $token, 4)) . "')";
}

sub of {
    my ($t, $column) = @_;

    return $s->sql("SELECT $column FROM svc.oauth_refresh WHERE " . stored($t->{refresh_token}));
}

sub rows { return $s->sql("SELECT count(*) FROM svc.oauth_refresh"
                          . " WHERE grant_id = '$_[0]{grant}'") }

sub reason { return $s->sql("SELECT reason FROM svc.oauth_grant WHERE id = '$_[0]{grant}'") }

sub bad {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    return oauth_error($r, 400, 'invalid_grant', $name);
}


# --- the refresh token stays --------------------------------------------------------

my $app = fapi(name => 'Bank');
my $t = first($app);
my $r = refresh($s, $app, $t->{refresh_token});

is($r->status, 200, 'a refresh') or diag($r->body);
is_deeply([ sort keys %{ $r->json } ],
          [ qw(access_token expires_in id_token scope token_type) ],
          'answers no refresh token (RFC 6749, 6)');
is((claims($r->json->{id_token}))[1]{sub}, $ada->{id}, 'and all else');

my %seen = map { $_ => 1 } map { refresh($s, $app, $t->{refresh_token})->json->{access_token} }
           1 .. 3;

is(keys %seen, 3, 'the same one is good again, for another access token');
is(rows($t), 1, 'it is the only one');
is(of($t, 'used_at IS NULL AND successor IS NULL'), 't', 'and has no successor');

$s->sql("UPDATE svc.oauth_refresh SET expires_at = now() + interval '1 s' WHERE "
        . stored($t->{refresh_token}));
is(refresh($s, $app, $t->{refresh_token})->status, 200, 'a moment before it is idle too long');
is(of($t, "expires_at BETWEEN now() + interval '29 days' AND now() + interval '31 days'"), 't',
   'it is idle from now on');

$s->sql("UPDATE svc.oauth_grant SET expires_at = now() + interval '1 h'"
        . " WHERE id = '$t->{grant}'");
is(refresh($s, $app, $t->{refresh_token})->status, 200, 'of a grant that ends');
is(of($t, "expires_at <= now() + interval '1 h'"), 't', 'it ends with that');


# --- many at once -------------------------------------------------------------------

$t = first($app);

my @at_once = map { $_->read } map { refreshing($s, $app, $t->{refresh_token}) } 1 .. 50;

is_deeply([ grep { $_->status != 200 } @at_once ], [], '50 at once are good');
is(keys %{{ map { $_->json->{access_token} => 1 } @at_once }}, 50, 'each has a token');
is_deeply([ grep { exists $_->json->{refresh_token} } @at_once ], [],
          'nobody another refresh token');
is(reason($t), undef, 'and nothing has ended');


# --- an agent, and a narrower scope -------------------------------------------------

my $agent = profile(application($acme, %WEB, type => 'agent',
                                grantTypes => [ qw(authorization_code refresh_token) ]),
                    'fapi2');
my $acted = first($agent);

for my $n (1, 2) {
    $r = refresh($s, $agent, $acted->{refresh_token});
    is($r->status, 200, "an agent, $n") or diag($r->body);
    ok(!exists $r->json->{refresh_token}, 'the same of it');
}

is_deeply([ map { $_->{grant_type} } delegations($s, $agent, 'grant_type') ],
          [ ('refresh_token') x 2, 'authorization_code' ], 'each token is in the journal');

$r = refresh($s, $app, $t->{refresh_token}, scope => 'openid');
is($r->json->{scope}, 'openid', 'fewer scopes');
is(refresh($s, $app, $t->{refresh_token})->json->{scope}, $t->{scope}, 'all again');
oauth_error(refresh($s, $app, $t->{refresh_token}, scope => 'email'), 400, 'invalid_scope',
            'one that was not granted');
is(refresh($s, $app, $t->{refresh_token})->status, 200, 'has spent nothing');


# --- other clients ------------------------------------------------------------------

my $other = fapi(name => 'Other');

bad(refresh($s, $other, $t->{refresh_token}), 'another client');
is(reason($t), undef, 'which ends nothing');
bad(refresh($s, $app, $t->{refresh_token} =~ s/.\z/_/r . 'x'), 'another token');

$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$ada->{id}'");
bad(refresh($s, $app, $t->{refresh_token}), 'a user who is suspended');
$s->sql("UPDATE svc.user_account SET status = 'active', valid_after = NULL"
        . " WHERE id = '$ada->{id}'");

my $over = first($app);

$s->sql("UPDATE svc.oauth_refresh SET expires_at = now() - interval '1 s' WHERE "
        . stored($over->{refresh_token}));
bad(refresh($s, $app, $over->{refresh_token}), 'idle too long');

my $ended = first($app);

$s->sql("UPDATE svc.oauth_grant SET revoked_at = now(), reason = 'revoked'"
        . " WHERE id = '$ended->{grant}'");
bad(refresh($s, $app, $ended->{refresh_token}), 'of a grant that has ended');


# --- the profile is set -------------------------------------------------------------

my $later = application($acme, %WEB, name => 'Later');
my ($lost, $stolen) = map { first($later) } 1, 2;
my ($next, $taken) = map { refresh($s, $later, $_->{refresh_token})->json } $lost, $stolen;

profile($later, 'fapi2');
is(refresh($s, $later, $lost->{refresh_token})->json->{refresh_token}, $next->{refresh_token},
   'who lost an answer gets the same successor');
ok(!exists refresh($s, $later, $next->{refresh_token})->json->{refresh_token},
   'which has none');
is(refresh($s, $later, $lost->{refresh_token})->json->{refresh_token}, $next->{refresh_token},
   'also when that was used: there is one chain');

$s->sql("UPDATE svc.oauth_refresh SET used_at = used_at - interval '31 s' WHERE "
        . stored($stolen->{refresh_token}));
bad(refresh($s, $later, $stolen->{refresh_token}), 'half a minute later one has been taken');
is(reason($stolen), 'refresh_reused', 'its grant has ended');
bad(refresh($s, $later, $taken->{refresh_token}), 'with its successor');


# --- the profile is removed ---------------------------------------------------------

profile($later, undef);
$r = refresh($s, $later, $next->{refresh_token});
isnt($r->json->{refresh_token}, $next->{refresh_token}, 'what stayed has a successor');
is(refresh($s, $later, $r->json->{refresh_token})->status, 200, 'which is good');
bad(refresh($s, $later, $next->{refresh_token}), 'then it is one that was taken');
is(reason($lost), 'refresh_reused', 'and its grant has ended');

# The profile is removed while a token is in use: all that get another refresh token
# get the same one.

for my $round (1 .. 50) {
    my $used = first(profile($later, 'fapi2'));
    my @all = map { refreshing($s, $later, $used->{refresh_token}) } 1 .. 10;

    profile($later, undef);
    push @all, map { refreshing($s, $later, $used->{refresh_token}) } 1 .. 10;

    my @answers = map { $_->read } @all;
    my %successor = map { $_ => 1 } map { $_->json->{refresh_token} // () } @answers;

    if (grep({ $_->status != 200 } @answers) || keys %successor != 1 || rows($used) != 2) {
        fail("round $round") or diag(map { $_->status . ' ' . $_->body . "\n" } @answers);
    }
}

pass('the profile goes while ten refresh and before ten more do, 50 times');

$s->done;
done_testing;
