#!/usr/bin/perl

# Shows what an application sets for itself: how long what users grant it lives, when
# it gets a refresh token, and where its tokens are good when the request does not
# say.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Grants qw(code redeem refresh $VERIFIER $REDIRECT digest);
use SvcTest::OAuth qw(oauth_server application form oauth_error claims);

my $s = oauth_server(svc => { svc_login_url => '/signin/' })->start;
my $acme = $s->tenant('acme');
my $iss = $s->base_url . '/oauth/t/acme';
my $DAY = 86400;

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');
my $b = SvcTest::Browser->new($s, tenant => 'acme');

$b->login('ada@acme.test')->status == 200 or die "no session\n";


sub web {
    my ($name, %more) = @_;

    return application($acme, type => 'web', name => $name, redirectUris => [ $REDIRECT ],
                       requireConsent => JSON::PP::false,
                       scopes => [ qw(openid profile read) ], %more);
}

sub patch {
    my ($app, %members) = @_;

    my $r = $s->http(PATCH => "/v1/applications/$app->{clientId}",
                     [ Authorization => "Bearer $acme->{apps_token}" ], \%members);

    $r->status == 200 or die $r->body;

    return $r->json;
}

sub authorize {
    my ($app, %more) = @_;

    my %query = (client_id => $app->{clientId}, redirect_uri => $REDIRECT,
                 response_type => 'code', code_challenge_method => 'S256',
                 code_challenge => encode_base64url(sha256($VERIFIER)), scope => 'openid read',
                 %more);

    return $b->get('/oauth/authorize?' . join '&',
                   map { "$_=" . SvcTest::OAuth::escape($query{$_}) } sort keys %query);
}

sub granted {
    my ($app, %more) = @_;

    my ($code) = (authorize($app, %more)->header('Location') // '') =~ /[?&]code=([\w-]{43})/;

    $s->secret($code // die "no code\n");

    return redeem($s, $app, { code => $code })->json;
}

sub days {
    my ($table, $where, $from) = @_;

    return $s->sql("SELECT round(extract(epoch FROM expires_at - $from) / $DAY, 3)::float8"
                   . " FROM svc.$table WHERE $where");
}

sub stored {
    return 'digest = ' . "sha256('\\x"
           . unpack('H*', MIME::Base64::decode_base64url(substr $_[0], 4)) . "')";
}


# --- lifetimes ----------------------------------------------------------------------

my $usual = web('Usual');
my $brief = web('Brief', idTokenTtlSeconds => 60, refreshIdleDays => 2, grantDays => 5);
my $t;

for my $case ([ $usual, 3600, 30, 90 ], [ $brief, 60, 2, 5 ]) {
    my ($app, $ttl, $idle, $grant) = @$case;
    my $name = $app->{name};

    $t = granted($app, scope => 'openid offline_access');

    my $id = (claims($t->{id_token}))[1];

    is($id->{exp} - $id->{iat}, $ttl, "$name: an ID token's life");
    is(days(oauth_refresh => stored($t->{refresh_token}), 'now()'), $idle,
       "$name: a refresh token's");
    is(days(oauth_grant => "client_id = '$app->{clientId}'", 'created_at'), $grant,
       "$name: a grant's");

    $t = refresh($s, $app, $t->{refresh_token})->json;
    $id = (claims($t->{id_token}))[1];
    is($id->{exp} - $id->{iat}, $ttl, "$name: the same when it is refreshed");
    is(days(oauth_refresh => stored($t->{refresh_token}), 'now()'), $idle,
       "$name: and of its refresh token");
}

$t = granted($brief, scope => 'openid offline_access');
patch($brief, refreshIdleDays => 30);
$t = refresh($s, $brief, $t->{refresh_token})->json;
is(days(oauth_refresh => stored($t->{refresh_token}), 'now()'), 5,
   'a refresh token ends with its grant');
patch($brief, idTokenTtlSeconds => 86400);
$t = refresh($s, $brief, $t->{refresh_token})->json;

my $id = (claims($t->{id_token}))[1];

is($id->{exp} - $id->{iat}, $DAY, 'what is changed counts from the next token on');


# --- the tenant's limits ------------------------------------------------------------

sub settings {
    my ($method, $body, @headers) = @_;

    return $s->http($method => '/v1/admin/oauth/settings',
                    [ Authorization => "Bearer $acme->{apps_token}", @headers ], $body);
}

my %MAX = (maxIdTokenTtlSeconds => undef, maxRefreshIdleDays => undef, maxGrantDays => undef);
my $r = settings('GET');
my $etag = $r->header('etag');

is_deeply($r->json, \%MAX, 'there is no maximum');
like($etag, qr/\A"\d+"\z/, 'of a version');
is($s->http(PUT => '/v1/admin/oauth/settings',
            [ Authorization => 'Bearer ' . $acme->token_for('users:view') ], {})->status, 403,
   'not everybody sets one');

for my $bad ([ maxIdTokenTtlSeconds => 59 ], [ maxIdTokenTtlSeconds => 86401 ],
             [ maxRefreshIdleDays => 0 ], [ maxRefreshIdleDays => 366 ], [ maxGrantDays => 0 ],
             [ maxGrantDays => 3651 ], [ maxGrantDays => '90' ], [ maxGrantDays => 1.5 ],
             [ grantDays => 1 ]) {
    $r = settings(PUT => { $bad->[0] => $bad->[1] });
    is($r->status, 400, "$bad->[0] $bad->[1]: refused");
    like($r->json->{error}{message}, qr/$bad->[0]/, "$bad->[0] $bad->[1]: named");
}

my $long = web('Long', idTokenTtlSeconds => 7200, refreshIdleDays => 60, grantDays => 400);

sub lives {
    my ($app) = @_;

    return [ @{ patch($app) }{qw(idTokenTtlSeconds refreshIdleDays grantDays)} ];
}

is_deeply(settings(PUT => { maxGrantDays => 365 })->json, { %MAX, maxGrantDays => 365 },
          'a maximum');
is_deeply(lives($long), [ 7200, 60, 365 ], 'what is above it becomes that');
is_deeply(lives($usual), [ 3600, 30, 90 ], 'what is not stays');
is(settings(PUT => {}, 'If-Match' => $etag)->status, 412, 'of another version');
is_deeply(settings(PUT => { maxIdTokenTtlSeconds => 1800, maxRefreshIdleDays => 20 })->json,
          { maxIdTokenTtlSeconds => 1800, maxRefreshIdleDays => 20, maxGrantDays => 365 },
          'and two more');
is_deeply(lives($long), [ 1800, 20, 365 ], 'of what it was');
is_deeply(lives($usual), [ 1800, 20, 90 ], 'and of the usual ones');
is_deeply([ $acme->events_where("target_id = '$long->{clientId}'", qw(action details)) ],
          [ [ 'application.created', { type => 'web' } ],
            [ 'application.updated', { changed => [ 'grantDays' ] } ],
            [ 'application.updated', { changed => [ qw(idTokenTtlSeconds refreshIdleDays) ] } ] ],
          'which is audited of each');
is_deeply([ $acme->events_where("action = 'oauth.settings_updated'", qw(target_type details)) ],
          [ [ 'oauthSettings', { changed => [ 'maxGrantDays' ] } ],
            [ 'oauthSettings', { changed => [ qw(maxIdTokenTtlSeconds maxRefreshIdleDays) ] } ] ],
          'and of the settings');

for my $member ([ idTokenTtlSeconds => 1801 ], [ refreshIdleDays => 21 ], [ grantDays => 366 ]) {
    $r = $s->http(PATCH => "/v1/applications/$long->{clientId}",
                  [ Authorization => "Bearer $acme->{apps_token}" ], { @$member });
    is($r->status, 400, "$member->[0] above it is refused");
    like($r->json->{error}{message}, qr/$member->[0]/, "$member->[0]: named");
}

is_deeply(lives(web('New')), [ 1800, 20, 90 ], 'a new one has no more');
is_deeply(settings(PUT => { %MAX })->json, \%MAX, 'null is none');
is_deeply(lives(patch($long, idTokenTtlSeconds => 86400)), [ 86400, 20, 365 ], 'again');


# --- refresh tokens -----------------------------------------------------------------

my $always = web('Always', refreshTokens => 'always');
my $once = web('Once', refreshTokens => 'always', grantTypes => [ 'authorization_code' ]);

ok(!exists granted($usual)->{refresh_token}, 'without offline_access there is none');
ok(!exists granted($once)->{refresh_token}, 'nor without the grant type');

$t = granted($always);
is($t->{scope}, 'openid read', 'always: no scope that was not asked for');
like($t->{refresh_token}, qr/\Asrt_/, 'and a refresh token');

my $next = refresh($s, $always, $t->{refresh_token})->json;

is($next->{scope}, 'openid read', 'which refreshes');

# Introspection by its own client tells what a refresh would give.

my $seen = sub { form($s, introspect => { token => $_[0]{refresh_token} }, client => $always)->json };
my %SEEN = (active => JSON::PP::true, client_id => $always->{clientId}, scope => 'openid read',
            sub => (claims($next->{id_token}))[1]{sub});
my $told = $seen->($next);

is_deeply($told, { %SEEN, exp => $told->{exp} }, 'introspection: it lives');
cmp_ok(abs($told->{exp} - time - 30 * 86_400), '<', 60, '... for as long as nobody uses it');
is_deeply($seen->($t), { active => JSON::PP::false }, '... and the one before not');
patch($always, scopes => [ 'openid' ]);
is($seen->($next)->{scope}, 'openid', '... with the scopes that its client still has');
patch($always, scopes => [ qw(openid read) ]);
patch($always, grantTypes => [ 'authorization_code' ]);
is_deeply($seen->($next), { active => JSON::PP::false }, '... while it may refresh');
patch($always, grantTypes => [ qw(authorization_code refresh_token) ]);
is_deeply($seen->($next), $told, '... or may again');

patch($always, refreshTokens => 'offline_access');
oauth_error(refresh($s, $always, $next->{refresh_token}), 400, 'invalid_grant',
            'until it is not given any more');
is_deeply($seen->($next), { active => JSON::PP::false }, '... as introspection says');
patch($always, refreshTokens => 'always');
is(refresh($s, $always, $next->{refresh_token})->status, 200, 'or is again');


# --- audiences --------------------------------------------------------------------------

my $api = web('API', resourceUri => 'https://API.test');
my $mute = web('Mute', defaultResourceUri => 'https://api.test/', requireConsent => JSON::PP::true);
my $aud = sub { (claims($_[0]{access_token}))[1]{aud} };

like(authorize($mute)->header('Location'), qr{^/signin/\?return_to=}, 'somebody is asked');

my $shown = $b->get('/v1/oauth/authorization?' . join '&', map { "$_->[0]=$_->[1]" }
                    [ client_id => $mute->{clientId} ], [ response_type => 'code' ],
                    [ redirect_uri => SvcTest::OAuth::escape($REDIRECT) ],
                    [ scope => 'openid' ], [ code_challenge_method => 'S256' ],
                    [ code_challenge => encode_base64url(sha256($VERIFIER)) ])->json;

is_deeply($shown->{resources}, [ 'https://api.test/' ], 'and is told where it is for')
    or diag(explain($shown));

patch($mute, requireConsent => JSON::PP::false);
is($aud->($t = granted($mute, scope => 'openid read offline_access')), 'https://API.test',
   'a token is for that, as it was registered');
is($aud->(refresh($s, $mute, $t->{refresh_token})->json), 'https://API.test',
   'and the next one');
is($aud->(granted($mute, resource => 'urn:other')), 'urn:other', 'what it says counts');
is($aud->(granted($usual)), $iss, 'of another one it is the issuer');

my $robot = application($acme, name => 'Robot', scopes => [ 'read' ],
                        defaultResourceUri => 'https://api.test/');
my $opaque = application($acme, name => 'Opaque', scopes => [ 'read' ],
                         accessTokenFormat => 'opaque', defaultResourceUri => 'urn:default');
my $agent = application($acme, name => 'Agent', type => 'agent', scopes => [ 'read' ],
                        defaultResourceUri => 'https://api.test/');
my $own = sub {
    my ($app, @more) = @_;

    return form($s, token => { grant_type => 'client_credentials', @more }, client => $app);
};

for my $app ($robot, $agent) {
    is($aud->($own->($app)->json), 'https://API.test', "$app->{name}: a token of its own");
    is($aud->($own->($app, resource => 'urn:other')->json), 'urn:other',
       "$app->{name}: what it says counts");
    oauth_error($own->($app, resource => 'x'), 400, 'invalid_target',
                "$app->{name}: also when it is no resource");
}

is(form($s, introspect => { token => $own->($opaque)->json->{access_token} },
        client => $opaque)->json->{aud}, 'urn:default', 'an opaque one');

my $policy = sub {
    my $r = $s->http(PUT => "/v1/admin/agents/$agent->{clientId}/policy",
                     [ Authorization => "Bearer $acme->{apps_token}" ],
                     { allowedAudiences => \@_ });

    is($r->status, 200, 'a ceiling') or diag($r->body);
};

$policy->('https://api.test', 'urn:b');
is($aud->($own->($agent)->json), 'https://API.test', 'within a ceiling');
$policy->('urn:b');
oauth_error($own->($agent), 400, 'invalid_target', 'above it: the ceiling refuses it');
is($aud->($own->($agent, resource => 'urn:b')->json), 'urn:b', 'what is below is asked for');

patch($robot, defaultResourceUri => undef);
is($aud->($own->($robot)->json), $iss, 'none: the issuer');

done_testing();
