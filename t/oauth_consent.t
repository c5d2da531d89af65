#!/usr/bin/perl

# Shows /v1/oauth/authorization and /v1/oauth/consents: what the page is told, what
# its user decides, and what a decision does.

use strict;
use utf8;
use warnings;

use Digest::SHA qw(sha256 sha256_hex);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::OAuth qw(oauth_server application form oauth_error);
use SvcTest::Process qw(wait_for);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = oauth_server()->start;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $base = 'http://127.0.0.1:' . $s->port;
my $CB = 'https://app.acme.test/cb';
my $CHALLENGE = encode_base64url(sha256('v' x 43));
my $PATH = '/v1/oauth/authorization';

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada <b>');
my $bob = with_password($s, $acme, userName => 'bob@acme.test');

with_password($s, $globex, userName => 'eve@globex.test');

my $web = application($acme, name => 'Billing', type => 'web', redirectUris => [ $CB ],
                      scopes => [ qw(openid profile email invoices:read) ]);
my $native = application($acme, name => 'Native', type => 'native',
                         redirectUris => [ 'http://127.0.0.1/cb', $CB ]);


sub browser {
    my ($email, $tenant) = @_;

    my $b = SvcTest::Browser->new($s, tenant => $tenant // 'acme');

    $b->login($email)->status == 200 or die "no session of $email\n";

    return $b;
}


sub query {
    my (%more) = @_;

    my %all = (client_id => $web->{clientId}, redirect_uri => $CB, response_type => 'code',
               code_challenge => $CHALLENGE, code_challenge_method => 'S256', state => 'xyz',
               %more);

    return join '&', map { "$_=" . SvcTest::OAuth::escape($all{$_}) }
                     grep { defined $all{$_} } sort keys %all;
}


my $nobody = SvcTest::Browser->new($s, tenant => 'acme');
my $in = browser('ada@acme.test');
my @openid = (scope => 'openid invoices:read');

sub look {
    my ($b, %more) = @_;

    return $b->get("$PATH?" . query(%more));
}


sub decide {
    my ($b, $decision, $more, %headers) = @_;

    return $b->ask(POST => $PATH, { request => query(%{ $more // {} }), decision => $decision,
                                    userId => $ada->{id}, shown(look($b, %{ $more // {} })) },
                   %headers);
}


# Returns what a page shows: an approval has to name it.

sub shown {
    my $asked = eval { $_[0]->json } // {};

    return (scopes => [ map { $_->{name} } @{ $asked->{scopes} // [] } ],
            resources => $asked->{resources} // []);
}


sub redirect_of {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($r->status, 200, $name) or diag($r->body);

    my $to = eval { $r->json->{redirectTo} } // '';

    $s->secret($1) if $to =~ /[?&]code=([\w-]+)/;

    return $to;
}


sub authorized {
    my ($b, %more) = @_;

    my $r = $b->get('/oauth/authorize?' . query(%more));
    my $to = $r->header('Location') // '';

    $s->secret($1) if $to =~ /[?&]code=([\w-]+)/;

    return $to =~ /[?&]code=/ ? 'code' : $to =~ /[?&]error=(\w+)/ ? $1
           : $to =~ /&consent=1\z/ ? 'consent' : 'login';
}


# --- the page's answer --------------------------------------------------------------

my $r = look($nobody, @openid);

is($r->status, 200, 'nobody may look') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'for this time');
is_deeply($r->json, {
    tenant => { slug => 'acme', name => 'Acme' },
    client => { clientId => $web->{clientId}, name => 'Billing', type => 'web' },
    login => 'required', consent => 'required', user => undef,
    scopes => [ map { { name => $_, granted => JSON::PP::false() } } qw(invoices:read openid) ],
    resources => [], redirectHost => 'app.acme.test',
}, 'what is asked for') or diag($r->body);

$r = look($in, @openid, resource => 'HTTPS://api.test')->json;
is($r->{login}, 'ok', 'whoever is signed in');
is($r->{consent}, 'required', 'has not consented');
is_deeply($r->{user}, { id => $ada->{id}, email => 'ada@acme.test', displayName => 'Ada <b>' },
          'who that is');
is_deeply($r->{resources}, [ 'HTTPS://api.test' ], 'and for what');

$r = look(browser('eve@globex.test', 'globex'));
is($r->json->{login}, 'required', 'a session of another tenant is none');
unlike($r->body, qr/eve|globex/i, 'and nothing is said of it');
is(look($in, prompt => 'login')->json->{login}, 'required', 'a new sign-in');
is(look($in, prompt => 'login')->json->{user}, undef, '... of whom is not said');
is(look($in, client_id => $native->{clientId}, redirect_uri => 'http://127.0.0.1:99/cb')
       ->json->{redirectHost}, '127.0.0.1', 'a loopback address');

my %BAD = (
    invalid_client => [ client_id => 'app_' . '0' x 32 ],
    invalid_request => [ redirect_uri => "$CB/" ],
    invalid_scope => [ scope => 'x' ],
    invalid_target => [ resource => 'x' ],
    unsupported_response_type => [ response_type => 'token' ],
);

for (sort keys %BAD) {
    admin_error(look($in, @{ $BAD{$_} }), 400, $_, 'a look');
    admin_error(decide($in, 'approve', { @{ $BAD{$_} } }), 400, $_, 'a decision');
}

admin_error($nobody->get($PATH), 400, 'invalid_request', 'no query');
is($s->sql('SELECT count(*) FROM svc.oauth_grant'), 0, 'nothing was granted');


# --- what the user decides ----------------------------------------------------------

is(authorized($in, @openid), 'consent', 'the user is asked');
is(authorized($in, @openid, prompt => 'none'), 'consent_required', 'or the client is told');

my $to = redirect_of(decide($in, 'deny', { @openid }), 'no');

like($to, qr{\A\Q$CB\E\?error=access_denied&error_description=[\w%.]+&state=xyz&iss=http%3A[^&]+\z},
     'goes back');
is($s->sql('SELECT count(*) FROM svc.oauth_grant'), 0, 'with nothing');
is(authorized($in, @openid), 'consent', 'and is asked again');

$to = redirect_of(decide($in, 'approve', { @openid, nonce => 'n' }), 'yes');
like($to, qr{\A\Q$CB\E\?code=[\w-]{43}&state=xyz&iss=http%3A[^&]+\z}, 'goes back with a code');

my ($code) = $to =~ /code=([\w-]+)/;

is($s->sql("SELECT scopes FROM svc.oauth_grant g JOIN svc.oauth_code c ON c.grant_id = g.id"
           . " WHERE c.digest = '\\x" . sha256_hex($code) . "' AND nonce = 'n'"
           . " AND g.user_id = '$ada->{id}'"),
   '{invoices:read,openid}', 'which is good');
is($s->sql('SELECT scopes FROM svc.oauth_consent'), '{invoices:read,openid}', 'it is kept');
is(authorized($in, @openid), 'code', 'nobody is asked again');
is(authorized($in, scope => 'openid'), 'code', 'nor for less');
is(authorized($in, scope => 'openid email'), 'consent', 'but for more');
is(authorized($in, @openid, resource => 'https://api.test/'), 'consent', 'and for an API');
is(authorized($in, @openid, prompt => 'consent'), 'consent', 'and when the client wants it');
is(look($in, @openid)->json->{consent}, 'given', 'the page knows');
is_deeply([ map { $_->{name} . ($_->{granted} ? '+' : '') }
            @{ look($in, scope => 'openid email')->json->{scopes} } ],
          [ 'email', 'openid+' ], 'what is new');

redirect_of(decide($in, 'approve', { scope => 'email', resource => 'https://api.test/' }),
            'another one');
is(authorized($in, scope => 'email', resource => 'HTTPS://api.test'), 'code', 'is added to it');

# The consent is for that resource alone.

is(authorized($in, scope => 'email'), 'consent', 'it is not for the issuer');
is(authorized($in, scope => 'openid email', resource => 'https://api.test/'), 'consent',
   'nor is what the issuer may have for the resource');
is_deeply([ map { $_->{name} . ($_->{granted} ? '+' : '') }
            @{ look($in, scope => 'openid email', resource => 'https://api.test/')
               ->json->{scopes} } ], [ 'email+', 'openid' ], 'the page says what is new there');
is(authorized($in, scope => 'email', resource => 'https://other.test/'), 'consent',
   'nor is it for another one');

my $audit = sub {
    return JSON::PP->new->decode(scalar $s->sql("SELECT coalesce(json_agg(json_build_array(action,"
        . ' actor_id, target_type, target_id, target_name, details) ORDER BY id), \'[]\') FROM'
        . " svc.audit_event WHERE action LIKE 'consent.%'"));
};

is_deeply($audit->()->[0], [ 'consent.granted', $ada->{id}, 'application', $web->{clientId},
    'Billing', { scopes => [ qw(invoices:read openid) ], resources => [] } ], 'it is on record');
is(scalar @{ $audit->() }, 2, 'each time');

# Who may decide, and from where.

admin_error(decide($nobody, 'approve'), 401, 'unauthenticated', 'nobody');
admin_error(decide(browser('eve@globex.test', 'globex'), 'approve'), 401, 'unauthenticated',
            'somebody of another tenant');
admin_error(decide(browser('bob@acme.test'), 'approve'), 409, 'conflict', 'somebody else');
admin_error(decide(browser('bob@acme.test'), 'deny'), 409, 'conflict', 'nor does one refuse');
admin_error(decide($in, 'approve', {}, 'X-CSRF-Token' => undef), 403, 'csrf_failed', 'no token');
admin_error(decide($in, 'approve', {}, 'X-CSRF-Token' => 'x' x 22), 403, 'csrf_failed',
            'another token');
admin_error(decide($in, 'approve', {}, Origin => 'https://evil.test'), 403, 'csrf_failed',
            'another origin');
admin_error(decide($in, 'approve', {}, 'Sec-Fetch-Site' => 'cross-site'), 403, 'csrf_failed',
            'another site');
admin_error($in->post($PATH, $_), 400, 'invalid_request', 'a bad body')
    for {}, { request => query(), decision => 'yes', userId => $ada->{id} },
        { request => query(), decision => 'deny', userId => 'x' },
        { request => 1, decision => 'deny', userId => $ada->{id} },
        { decision => 'deny', userId => $ada->{id} };
admin_error(decide($in, 'approve', { prompt => 'login' }), 400, 'login_required',
            'a session that is too old');
admin_error($s->http(POST => $PATH, [ Authorization => 'Bearer x' ], '{}'), 403, 'forbidden',
            'a token');
is(scalar @{ $audit->() }, 2, 'nothing was consented to');

# Only what the page has shown can be approved.

my @shown = shown(look($in, @openid));
my $approve = sub {
    return $in->post($PATH, { request => query(@openid), decision => 'approve',
                              userId => $ada->{id}, @_ });
};

admin_error($approve->(), 400, 'invalid_request', 'nothing was shown');
admin_error($approve->(scopes => [ 'openid' ]), 400, 'invalid_request', 'no resources were');
admin_error($approve->(@shown, scopes => $_), 409, 'conflict', "not @$_")
    for [], [ 'openid' ], [ qw(openid invoices:read email) ];
admin_error($approve->(@shown, resources => [ 'https://api.test/' ]), 409, 'conflict',
            'not at another resource');
admin_error($approve->(@shown, $_->[0] => [ $_->[1] ]), 400, 'invalid_request', "no $_->[0]")
    for [ scopes => 'a b' ], [ scopes => 'a"' ], [ resources => 'a\\b' ], [ scopes => 1 ];

my @all = shown(look($in));

$s->sql("UPDATE svc.application SET scopes = '{invoices:read,openid}' WHERE client_id ="
        . " '$web->{clientId}'");
admin_error($in->post($PATH, { request => query(), decision => 'approve', userId => $ada->{id},
                               @all }), 409, 'conflict', 'an application that has changed since');
$s->sql("UPDATE svc.application SET scopes = '{email,invoices:read,openid,profile}' WHERE"
        . " client_id = '$web->{clientId}'");
is(scalar @{ $audit->() }, 2, 'nothing was consented to by that');

# Loopback addresses.

my %loop = (client_id => $native->{clientId}, redirect_uri => 'http://127.0.0.1:4711/cb',
            scope => 'openid');

is(authorized($in, %loop), 'consent', 'a native application asks');
like(redirect_of(decide($in, 'approve', \%loop), 'yes'),
     qr{\Ahttp://127\.0\.0\.1:4711/cb\?code=}, 'goes back to its port');
is(authorized($in, %loop), 'consent', 'and asks again');
is($s->sql("SELECT count(*) FROM svc.oauth_consent WHERE client_id = '$native->{clientId}'"), 0,
   'since nothing is kept');
redirect_of(decide($in, 'approve', { %loop, redirect_uri => $CB }), 'another URI of it');
is(authorized($in, %loop, redirect_uri => $CB), 'code', 'is kept');
is(authorized($in, %loop), 'consent', 'which does not do for the other');

# A host that browsers take for loopback is one, however it is written.

my @LOOPS = map { "https://$_/cb" } qw(127.1 127.0.0.2 0x7f.1 0177.0.0.1 2130706433 0
    0.0.0.0 LOCALHOST app.localhost [::1] [0:0::0:1] [::ffff:127.0.0.1] [::FFFF:7f00:1] [::]);
my @OTHERS = map { "https://$_/cb" } qw(128.0.0.1 localhost.test notlocalhost 127.1.test
    [::2] 2147483648);
my $many = application($acme, name => 'Many', type => 'web', scopes => [ 'openid' ],
                       redirectUris => [ @LOOPS, @OTHERS ]);
my @many = (client_id => $many->{clientId}, scope => 'openid');

redirect_of(decide($in, 'approve', { @many, redirect_uri => $_ }), "$_ is allowed")
    for @LOOPS, @OTHERS;
is(authorized($in, @many, redirect_uri => $_), 'consent', "$_ is asked for again") for @LOOPS;
is(authorized($in, @many, redirect_uri => $_), 'code', "$_ is not") for @OTHERS;
$s->sql("DELETE FROM svc.application WHERE client_id = '$many->{clientId}'");


# --- the list of consents -----------------------------------------------------------

$r = $in->get('/v1/oauth/consents');
is($r->status, 200, 'the list') or diag($r->body);
is($r->json->{total}, 2, 'of two');
is_deeply([ map { "$_->{name} $_->{type} @{ $_->{scopes} } @{ $_->{resources} }" }
            @{ $r->json->{consents} } ],
          [ 'Native native openid ', 'Billing web email invoices:read openid https://api.test/' ],
          'the latest first');
is_deeply($r->json->{consents}[1]{access},
          [ { resource => undef, scopes => [ qw(invoices:read openid) ] },
            { resource => 'https://api.test/', scopes => [ 'email' ] } ], 'and what it may where');
is(scalar @{ $in->get('/v1/oauth/consents?limit=1&offset=1')->json->{consents} }, 1, 'a page');
is(browser('bob@acme.test')->get('/v1/oauth/consents')->json->{total}, 0, 'of oneself');


# --- for who administers an application ---------------------------------------------

my $apps = $acme->token_for('apps:manage');

sub given {
    my ($client, $query, $token) = @_;

    return $s->http(GET => "/v1/applications/$client->{clientId}/consents" . ($query // ''),
                    [ Authorization => 'Bearer ' . ($token // $apps) ]);
}

$r = given($web);
is($r->status, 200, 'who has allowed an application something') or diag($r->body);

my ($consent) = @{ $r->json->{consents} };

is_deeply($r->json, { consents => [ {
              userId => $ada->{id}, email => 'ada@acme.test', displayName => 'Ada <b>',
              scopes => [ qw(email invoices:read openid) ], resources => [ 'https://api.test/' ],
              map { $_ => $consent->{$_} } qw(createdAt updatedAt) } ],
          total => 1, limit => 100, offset => 0 }, 'one user, and what');
like($consent->{$_}, qr/\A\d{4}-\d\d-\d\dT[\d:.]{12}Z\z/, $_) for qw(createdAt updatedAt);

$s->sql("INSERT INTO svc.user_account (tenant_id, id, user_name) SELECT '$acme->{id}',"
        . " md5('given' || i)::uuid, 'given' || i || '\@acme.test' FROM generate_series(1, 3) i");
$s->sql("INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources, allowed,"
        . " created_at) SELECT '$acme->{id}', md5('given' || i)::uuid, '$web->{clientId}', '{openid}',"
        . " '{}', '{\" \",\" openid\"}', now() + i * interval '1 minute' FROM generate_series(1, 3) i");
is_deeply([ map { $_->{email} } @{ given($web)->json->{consents} } ],
          [ (map { "given$_\@acme.test" } 3, 2, 1), 'ada@acme.test' ], 'who was last is first');
is_deeply([ map { $_->{email} } @{ given($web, '?limit=2&offset=1')->json->{consents} } ],
          [ map { "given$_\@acme.test" } 2, 1 ], 'a page');
is(given($web)->json->{total}, 4, 'of all');
$s->sql("DELETE FROM svc.user_account WHERE user_name LIKE 'given%'");
is(given($web)->json->{total}, 1, 'who is gone is gone there');
is(given($native)->json->{total}, 1, 'another application');
admin_error(given({ clientId => $_ }), 404, 'not_found', "of no application: $_")
    for 'x', 'app_' . '0' x 32;
admin_error(given($web, undef, $globex->token_for('apps:manage')), 404, 'not_found',
            'nor another tenant\'s');
admin_error(given($web, undef, $acme->token_for('users:view,audit:view,members:manage')), 403,
            undef, 'without the permission');
admin_error(given($web, '?offset=-1'), 400, undef, 'a page that is none');


# --- taken back ---------------------------------------------------------------------

my $delete = '/v1/oauth/consents/';

admin_error($in->ask(DELETE => "$delete$_"), 404, 'not_found', "no $_")
    for 'app_' . '0' x 32, 'x';
admin_error(browser('bob@acme.test')->ask(DELETE => "$delete$web->{clientId}"), 404, 'not_found',
            'nobody else\'s');
admin_error($in->ask(DELETE => "$delete$web->{clientId}", undef, 'X-CSRF-Token' => undef), 403,
            'csrf_failed', 'without a CSRF token');
is($in->ask(DELETE => "$delete$web->{clientId}")->status, 204, 'it is taken back');
is($s->sql("SELECT string_agg(DISTINCT reason, ' ') || count(*) FROM svc.oauth_grant"
           . " WHERE client_id = '$web->{clientId}' AND revoked_at <= now()"),
   'consent_revoked' . $s->sql('SELECT count(*) FROM svc.oauth_grant WHERE client_id ='
                               . " '$web->{clientId}'"), 'with all grants');
is($s->sql("SELECT count(*) FROM svc.oauth_grant WHERE client_id = '$native->{clientId}'"
           . ' AND revoked_at IS NOT NULL'), 0, 'and none of others');
is(authorized($in, @openid), 'consent', 'the user is asked again');
is($audit->()->[-1][0], 'consent.revoked', 'it is on record');
is($audit->()->[-1][3], $web->{clientId}, 'whose');
admin_error($in->ask(DELETE => "$delete$web->{clientId}"), 404, 'not_found', 'and then there is none');

# A grant for a loopback URI has no consent, and can be ended, too.

$s->sql("DELETE FROM svc.oauth_consent");
is($in->ask(DELETE => "$delete$native->{clientId}")->status, 204, 'grants without a consent');
is($s->sql('SELECT count(*) FROM svc.oauth_grant WHERE revoked_at IS NULL'), 0, 'end, too');

# A grant without asking is in the list, too, and ends when users have to be asked.

my $open = application($acme, name => 'Open', type => 'web', redirectUris => [ $CB ],
                       scopes => [ qw(openid notes) ], requireConsent => JSON::PP::false());
my %open = (client_id => $open->{clientId}, scope => 'notes offline_access',
            resource => 'https://notes.test/');

sub code_of {
    my $to = $in->get('/oauth/authorize?' . query(@_))->header('Location');

    $to =~ /[?&]code=([\w-]+)/ or die "no code: $to\n";
    $s->secret($1);

    return $1;
}

sub tokens {
    my $r = form($s, token => { @_ }, client => $open);

    $s->secret($_) for grep { defined } @{ $r->json }{qw(access_token refresh_token)};

    return $r;
}

my $refresh = tokens(grant_type => 'authorization_code', code => code_of(%open),
                     code_verifier => 'v' x 43)->json->{refresh_token};

is_deeply([ map { [ @$_{qw(clientId scopes resources access)} ] }
            @{ $in->get('/v1/oauth/consents')->json->{consents} } ],
          [ [ $open->{clientId}, [ qw(notes offline_access) ], [ 'https://notes.test/' ],
              [ { resource => 'https://notes.test/', scopes => [ qw(notes offline_access) ] } ] ] ],
          'a grant that nobody was asked for is listed');

$r = tokens(grant_type => 'refresh_token', refresh_token => $refresh);
is($r->status, 200, 'it is refreshed');
$refresh = $r->json->{refresh_token};
$s->sql("UPDATE svc.application SET require_consent = true WHERE client_id = '$open->{clientId}'");
oauth_error(tokens(grant_type => 'refresh_token', refresh_token => $refresh), 400,
            'invalid_grant', 'not when users have to be asked');
is(form($s, introspect => { token => $refresh }, client => $open)->json->{active},
   JSON::PP::false(), '... as introspection says');
is(authorized($in, %open), 'consent', 'they are');

my $early = do {
    $s->sql("UPDATE svc.application SET require_consent = false WHERE client_id ="
            . " '$open->{clientId}'");
    code_of(%open);
};

$s->sql("UPDATE svc.application SET require_consent = true WHERE client_id = '$open->{clientId}'");
oauth_error(tokens(grant_type => 'authorization_code', code => $early,
                   code_verifier => 'v' x 43), 400, 'invalid_grant', 'a code of before');
redirect_of(decide($in, 'approve', \%open), 'who is asked');
$refresh = tokens(grant_type => 'authorization_code', code => code_of(%open),
                  code_verifier => 'v' x 43)->json->{refresh_token};
is(tokens(grant_type => 'refresh_token', refresh_token => $refresh)->status, 200,
   '... has consented');
is($in->ask(DELETE => "$delete$open->{clientId}")->status, 204, 'and takes it back');
is($in->get('/v1/oauth/consents')->json->{total}, 0, 'nothing is left');
oauth_error(tokens(grant_type => 'refresh_token', refresh_token => $refresh), 400,
            'invalid_grant', 'nor of its grants');

# The user is asked for the only audience that the agent would get.

my $bot = application($acme, name => 'Bot', type => 'agent', redirectUris => [ $CB ],
                      grantTypes => [ qw(authorization_code) ], scopes => [ 'notes' ]);
my %bot = (client_id => $bot->{clientId}, scope => 'notes');

$s->sql("UPDATE svc.application SET allowed_audiences = '{https://Notes.test}',"
        . " allowed_audience_keys = '{https://notes.test/}' WHERE client_id = '$bot->{clientId}'");
is_deeply(look($in, %bot)->json->{resources}, [ 'https://Notes.test' ], 'the only audience');
redirect_of(decide($in, 'approve', \%bot), 'is allowed');
is(authorized($in, %bot), 'code', '... and not asked for again');
is(authorized($in, %bot, resource => 'https://notes.test/'), 'code', '... also by its name');
is($s->sql("SELECT DISTINCT resource_keys FROM svc.oauth_grant WHERE client_id ="
           . " '$bot->{clientId}'"), '{https://notes.test/}', 'the grant is for that');
$s->sql("DELETE FROM svc.application WHERE client_id IN ('$bot->{clientId}', '$open->{clientId}')");

# A consent is withdrawn while a code is granted by it: the grant ends with it.

redirect_of(decide($in, 'approve', { @openid }), 'once more');

my $db = $s->connect_as('postgres');

$db->query('BEGIN');
$db->query('SELECT FROM svc.oauth_consent FOR KEY SHARE');

my $late = fork // die "fork: $!";

if ($late == 0) {
    my $ok = $in->ask(DELETE => "$delete$web->{clientId}")->status == 204;

    require POSIX;
    POSIX::_exit($ok ? 0 : 1);
}

ok((wait_for { $s->sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") }),
   'the one waits');
$db->query("INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes, resources,"
           . ' resource_keys, session_id, auth_time, methods, expires_at) VALUES'
           . " ('$acme->{id}', gen_random_uuid(), '$web->{clientId}', '$ada->{id}', '{openid}',"
           . " '{}', '{}', gen_random_uuid(), now(), '{}', now() + '1 day')");
$db->query('COMMIT');
waitpid $late, 0;
is($?, 0, 'and then goes on');
is($s->sql('SELECT count(*) FROM svc.oauth_grant WHERE revoked_at IS NULL'), 0,
   'nothing is left of it');


# --- faults -------------------------------------------------------------------------

$s->pg->stop;
admin_error(look($in), 503, 'unavailable', 'a look without PostgreSQL');
admin_error(decide($in, 'approve'), 503, 'unavailable', 'a decision without it');
$s->pg->launch;
ok((wait_for { look($in)->status == 200 }), 'and then again');

$s->done;
done_testing();
