#!/usr/bin/perl

# /v1/admin/social/connections: a tenant's connections with social providers, and with
# any others that speak OpenID Connect.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Connection qw(%SHARED verified link_to links common_members whose_people);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $SECRET = 'a client secret of this test';
my @PROVIDERS = qw(google github microsoft apple gitlab linkedin facebook oidc);
my $UUID = '0d1c7e59-91b7-4f7c-8f4e-9d0b3c7a1e22';

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($SECRET, $PASSWORD);

my %NEW = (provider => 'google', clientId => ' one.apps ', clientSecret => $SECRET);
my %APPLE = (provider => 'apple', clientId => 'com.acme', clientSecret => $SECRET,
             teamId => 'ABCDE12345', keyId => '12345ABCDE');
my %OIDC = (provider => 'oidc', clientId => 'svc', clientSecret => $SECRET,
            issuer => 'https://idp.test/');
my @answers;


sub ask {
    my ($method, $path, $body, %opt) = @_;

    my $r = $opt{by} ? $opt{by}->ask($method => "/v1/admin/social/connections$path", $body)
                     : ($opt{tenant} // $acme)->admin($method, "/social/connections$path", $body,
                                                      $opt{headers}, $opt{token});

    push @answers, $r->body;

    return $r;
}


# Tests that a request is refused, and that the error names the member.

sub refused {
    my ($member, $body, $name) = @_;

    my %body = %$body;

    delete @body{ grep { ref $body{$_} eq 'SCALAR' } keys %body };

    like(admin_error(ask(POST => '', \%body), 400, 'invalid_request', $name)
         ->{message} // '', qr/^"\Q$member\E"/, "$name: says \"$member\"");
}


sub connections {
    return map { $_->{provider} } @{ ask(GET => '', undef, @_)->json->{connections} };
}


# --- permissions ------------------------------------------------------------------

my $weak = $acme->token_for('apps:manage,audit:view,groups:manage,members:manage,'
                            . 'roles:manage,users:view');

admin_error(ask(@$_[0 .. 2], token => $weak), 403, undef,
            "$_->[0] without the permission")
    for [ GET => '' ], [ POST => '', \%NEW ], [ DELETE => '/google' ];


# --- add, list, remove --------------------------------------------------------------

my $r = ask(POST => '', \%NEW);

is($r->status, 201, 'added') or diag($r->body);

my $google = $r->json;

like($google->{createdAt}, $TIME, 'when');
is_deeply($google, { provider => 'google', clientId => 'one.apps', secretSet => $TRUE,
                     teamId => undef, keyId => undef, enabled => $TRUE,
                     createdAt => $google->{createdAt}, updatedAt => $google->{createdAt},
                     %SHARED, showOnPage => $TRUE, jitProvisioning => $FALSE,
                     connection => 'google', issuer => undef, tenantId => undef,
                     allowedTenants => undef, trustEmail => $FALSE, attributeMapping => {},
                     status => 'pending', statusError => undef,
                     redirectUri => $s->base_url . '/v1/tenants/acme/federation/google/callback' },
          'what was made');
like($r->body, qr/\A\{"provider":"google","clientId":"one\.apps","secretSet":true,"teamId":null,"keyId":null,"enabled":true,"createdAt":"[^"]+","updatedAt"/,
     'what there always was comes first');
admin_error(ask(POST => '', { %NEW, clientId => 'two' }), 409, undef, 'once more');
is(ask(POST => '', \%NEW, tenant => $globex)->status, 201, 'another tenant\'s');

$r = ask(POST => '', { %APPLE, enabled => $FALSE });
is($r->status, 201, 'Apple') or diag($r->body);
is_deeply([ @{ $r->json }{qw(teamId keyId enabled)} ],
          [ 'ABCDE12345', '12345ABCDE', $FALSE ], 'with what it needs');

$r = ask(GET => '')->json;
is_deeply([ map { $_->{provider} } @{ $r->{connections} } ], [ qw(apple google) ],
          'the newest is the first');
is_deeply($r->{connections}[1], $google, 'as it was made');
is_deeply($r->{knownProviders}, \@PROVIDERS, 'and all that there could be');
is_deeply([ @$r{qw(total limit offset)} ], [ 2, 100, 0 ], 'the page');
is_deeply([ map { $_->{provider} }
                @{ ask(GET => '?limit=1&offset=1')->json->{connections} } ],
          [ 'google' ], 'another page');
admin_error(ask(GET => "?$_"), 400, undef, $_) for 'limit=0', 'offset=-1', 'limit=x';

admin_error(ask(DELETE => '/apple', undef, tenant => $globex), 404, undef,
            'another tenant has none');
is(ask(DELETE => '/apple')->status, 204, 'removed');
admin_error(ask(DELETE => "/$_"), 404, undef, "none: $_")
    for 'apple', 'github', 'Google', 'x', '%FF';
is(ask(DELETE => '/google')->status, 204, 'that of one tenant');
is_deeply([ connections(tenant => $globex) ], [ 'google' ], 'and not another\'s');

for my $provider (grep { !/apple|oidc/ } @PROVIDERS) {
    is(ask(POST => '', { %NEW, provider => $provider, teamId => undef,
                         keyId => undef })->status, 201, $provider);
}

my @key = ('Idempotency-Key' => 'k');

is(ask(POST => '', \%APPLE, headers => \@key)->status, 201, 'with a key');
$r = ask(POST => '', \%APPLE, headers => \@key);
is($r->status, 201, 'sent again');
is($r->header('idempotency-replayed'), 'true', 'it is the first answer');
is(scalar(connections()), 7, 'one of each');


# --- what is refused ------------------------------------------------------------------

refused(provider => { %NEW, provider => $_ }, 'provider')
    for 'Google', 'twitter', '', 'google ', \0, undef, 1, [ 'google' ];
refused(clientId => { %NEW, clientId => $_ }, 'clientId')
    for '', ' ', 'x' x 256, "a\nb", \0, undef, 1, {};
refused(clientSecret => { %NEW, clientSecret => $_ }, 'clientSecret')
    for '', 'x' x 4097, \0, undef, 1, [];
refused(enabled => { %NEW, enabled => $_ }, 'enabled') for 1, 'true', undef;
refused($_ => { %APPLE, $_ => \0 }, "Apple without $_") for qw(teamId keyId);
refused($_ => { %APPLE, $_ => undef }, "Apple with $_ null") for qw(teamId keyId);
refused($_ => { %NEW, $_ => 'ABCDE12345' }, "Google with $_") for qw(teamId keyId);

for my $member (qw(teamId keyId)) {
    refused($member => { %APPLE, $member => $_ }, $member)
        for '', 'ABCDE1234', 'ABCDE123456', 'abcde12345', 'ABCDE1234-', 1, [];
}


# --- any others that speak OpenID Connect ------------------------------------------------

# Tests that a body is refused with a text.

sub wrong {
    my ($method, $path, $body, $text) = @_;

    is(admin_error(ask($method => $path, $body), 400, 'invalid_request', "$method is refused")
       ->{message}, $text, $text);
}


my $PROVIDER = '"provider" must be one of "google", "github", "microsoft", "apple", "gitlab",'
               . ' "linkedin", "facebook" and "oidc", or "oidc-" with 1 to 30 of a-z and 0-9'
               . ' behind it.';
my $ISSUER = '"issuer" must be a URL such as "https://idp.example.com", without a user, a query'
             . ' and a fragment.';

wrong(POST => '', { %OIDC, provider => $_ }, $PROVIDER)
    for 'oidc-', 'oidc-A', 'oidc-a_b', 'oidc-' . 'a' x 31, 'oidcx', 'oidc_x', 'OIDC', "oidc-a\n";
wrong(POST => '', { %OIDC, issuer => $_ }, $ISSUER)
    for 'http://idp.test', 'idp.test', 'https://', 'https://u@idp.test', 'https://idp.test/?x',
        'https://idp.test/#x', 'https://idp test', 'http://127.0.0.2/', 'ftp://127.0.0.1/';
wrong(POST => '', { %OIDC, issuer => $_ }, '"issuer" must be a string of 1 to 2048 bytes or null.')
    for '', 1, [], 'https://idp.test/' . 'x' x 2032;
wrong(POST => '', { %OIDC, issuer => undef }, '"issuer" is required with "oidc".');
wrong(POST => '', { map { $_ => $OIDC{$_} } qw(provider clientId clientSecret) },
      '"issuer" is required with "oidc".');
wrong(POST => '', { %NEW, issuer => 'https://idp.test' },
      '"issuer" is for "oidc" and "gitlab" alone.');
wrong(POST => '', { %NEW, trustEmail => $TRUE }, '"trustEmail" is for "oidc" alone.');
wrong(POST => '', { %OIDC, tenantId => 'common' }, '"tenantId" is for "microsoft" alone.');
wrong(POST => '', { %OIDC, allowedTenants => [ $UUID ] },
      '"allowedTenants" is for "microsoft" alone.');
wrong(POST => '', { %NEW, clientSecret => undef },
      '"clientSecret" must be a string of 1 to 4096 bytes.');
wrong(POST => '', { %OIDC, trustEmail => $_ }, '"trustEmail" must be true or false.') for 1, undef;
refused(attributeMapping => { %OIDC, attributeMapping => $_ }, 'a mapping')
    for [], 1, { mail => 'email' };

my $oidc = ask(POST => '', { %OIDC, trustEmail => $TRUE,
                             attributeMapping => { displayName => 'name' } })->json;

is_deeply([ @$oidc{qw(connection issuer trustEmail attributeMapping status secretSet)} ],
          [ 'oidc', 'https://idp.test/', $TRUE, { displayName => 'name' }, 'pending', $TRUE ],
          'one of its own issuer');

$r = ask(POST => '', { %OIDC, provider => 'oidc-' . 'a' x 30, clientSecret => undef });
is($r->status, 201, 'a public client') or diag($r->body);
is_deeply([ @{ $r->json }{qw(connection secretSet)} ], [ 'oidc-' . 'a' x 30, $FALSE ],
          'which has no secret');
is(ask(DELETE => '/oidc-' . 'a' x 30)->status, 204, 'it goes');

for my $issuer ('http://127.0.0.1:1/x', 'http://localhost', 'http://[::1]/', 'HTTPS://IdP.test') {
    is(ask(POST => '', { %OIDC, provider => 'oidc-x', issuer => $issuer })->json->{issuer},
       $issuer, "$issuer, as it is");
    is(ask(DELETE => '/oidc-x')->status, 204, 'which goes');
}

$r = ask(PATCH => '/gitlab', { issuer => 'https://git.test', clientSecret => $SECRET });
is($r->json->{issuer}, 'https://git.test', 'a GitLab of their own');

for my $n (1 .. 19) {
    my $r = ask(POST => '', { %OIDC, provider => "oidc-$n" });

    is($r->status, 201, "oidc-$n") if $n % 9 == 1;
}

is(admin_error(ask(POST => '', { %OIDC, provider => 'oidc-20' }), 400, 'limit_exceeded',
               'one more than twenty')->{message},
   'The tenant has 20 connections by OpenID Connect: delete one.', 'which says so');
is(ask(POST => '', \%OIDC, tenant => $globex)->status, 201, 'of one tenant');
is($s->sql("DELETE FROM svc.social WHERE tenant_id = '$acme->{id}' AND provider LIKE 'oidc-%'"
           . ' RETURNING 1'), 1, 'they go');

my @racing = map { $s->begin(POST => '/v1/admin/social/connections',
                             { Authorization => "Bearer $acme->{api_token}" },
                             { %OIDC, provider => 'oidc-race' }) } 1 .. 6;
my %got;

$got{ $_->read->status }++ for @racing;
is_deeply(\%got, { 201 => 1, 409 => 5 }, 'of six at once one is made');
is(ask(DELETE => '/oidc-race')->status, 204, 'it goes');


# --- Microsoft's directories ---------------------------------------------------------------

my $COMMON = '"allowedTenants" is required while "tenantId" is "common".';

wrong(PATCH => '/microsoft', { clientSecret => 'x', tenantId => 'common' }, $COMMON);
wrong(PATCH => '/microsoft', { clientSecret => 'x', tenantId => $_ },
      '"tenantId" must be the UUID of a directory, or "organizations" or "common".')
    for 'consumers', 'Common', '', 'acme.test', "x$UUID";
wrong(PATCH => '/microsoft', { allowedTenants => [ $_ ] },
      '"allowedTenants[0]" must be a UUID.') for 'x', '', 'common';
wrong(PATCH => '/microsoft', { allowedTenants => $_ },
      '"allowedTenants" must be an array of 1 to 100 elements or null.')
    for [], [ ($UUID) x 101 ], 'x';
wrong(PATCH => '/microsoft', { tenantId => 'organizations' },
      '"clientSecret" is required when "issuer", "tenantId" or "clientId" changes.');

$r = ask(PATCH => '/microsoft', { tenantId => 'common', allowedTenants => [ uc $UUID ],
                                  clientSecret => $SECRET })->json;
is_deeply([ @$r{qw(tenantId allowedTenants)} ], [ 'common', [ $UUID ] ],
          'anybody\'s, of a list');
wrong(PATCH => '/microsoft', { allowedTenants => undef }, $COMMON);
$r = ask(PATCH => '/microsoft', { tenantId => uc $UUID, allowedTenants => undef,
                                  clientSecret => $SECRET })->json;
is_deeply([ @$r{qw(tenantId allowedTenants)} ], [ $UUID, undef ], 'one directory');


# --- change ----------------------------------------------------------------------------------

sub changed {
    my ($path, $body, @changed) = @_;

    my $last = $s->sql('SELECT coalesce(max(id), 0) FROM svc.audit_event');
    my $r = ask(PATCH => $path, $body);

    is($r->status, 200, "changes @changed") or diag($r->body);
    is_deeply([ map { JSON::PP::decode_json($_->[0]) }
                    $s->sql('SELECT details FROM svc.audit_event WHERE action ='
                            . " 'social.updated' AND id > $last AND target_id ="
                            . " '" . substr($path, 1) . "'") ],
              [ @changed ? { changed => \@changed } : () ], 'which is in the audit log');

    return $r->json;
}


admin_error(ask(PATCH => '/google', {}, token => $weak), 403, undef,
            'PATCH without the permission');
admin_error(ask(PATCH => "/$_", { label => 'x' }), 404, undef, "none: $_")
    for 'oidc-x', 'Google', 'x', '%FF';
admin_error(ask(PATCH => '/google', { label => 'x' }, tenant => $s->tenant('initech')), 404,
            undef, 'another tenant has none');

is_deeply(changed('/oidc', {}), $oidc, 'what is absent stays');
is_deeply(changed('/oidc', { %$oidc, provider => 'google' }), $oidc,
          'what was read can be sent back, and changes nothing');

my $sealed = $s->sql("SELECT client_secret FROM svc.social WHERE provider = 'oidc'"
                     . " AND tenant_id = '$acme->{id}'");
my $now = changed('/oidc', { label => 'Ours', enabled => $FALSE }, qw(enabled label));

is_deeply($now, { %$oidc, label => 'Ours', enabled => $FALSE, updatedAt => $now->{updatedAt} },
          'one thing at a time');
cmp_ok($now->{updatedAt}, 'gt', $oidc->{updatedAt}, 'later');
$s->sql("UPDATE svc.social SET updated_at = '2100-01-01' WHERE provider = 'oidc'");
is(changed('/oidc', { label => undef }, 'label')->{updatedAt}, '2100-01-01T00:00:00.001Z',
   'and later even when the clock goes back');
is($s->sql("SELECT client_secret FROM svc.social WHERE provider = 'oidc' AND tenant_id ="
           . " '$acme->{id}'"), $sealed, 'the secret stays');
changed('/oidc', { clientSecret => $SECRET }, 'clientSecret');
changed('/oidc', { trustEmail => $FALSE, attributeMapping => undef },
        qw(trustEmail attributeMapping));

wrong(PATCH => '/oidc', $_,
      '"clientSecret" is required when "issuer", "tenantId" or "clientId" changes.')
    for { clientId => 'other' }, { issuer => 'https://other.test' };
wrong(PATCH => '/oidc', { issuer => undef }, '"issuer" is required with "oidc".');
wrong(PATCH => '/google', { clientSecret => undef },
      '"clientSecret" must be a string of 1 to 4096 bytes.');
wrong(PATCH => '/google', { issuer => 'https://x.test' },
      '"issuer" is for "oidc" and "gitlab" alone.');
wrong(PATCH => '/apple', { teamId => undef }, '"teamId" is required with "apple".');
wrong(PATCH => '/google', { keyId => 'ABCDE12345' }, '"keyId" is for "apple" alone.');
is(changed('/apple', { keyId => 'ABCDE12345' }, 'keyId')->{keyId}, 'ABCDE12345',
   'Apple\'s other key');
is(changed('/oidc', { clientSecret => undef, clientId => 'public' },
           qw(clientId clientSecret))->{secretSet}, $FALSE, 'a public client now');
is(changed('/oidc', { clientId => 'svc' }, 'clientId')->{clientId}, 'svc',
   'which needs no secret for another name');

@racing = map { $s->begin(PATCH => '/v1/admin/social/connections/oidc',
                          { Authorization => "Bearer $acme->{api_token}" },
                          { $_ % 2 ? (label => "l$_") : (clientId => "c$_") }) } 1 .. 8;
%got = ();
$got{ $_->read->status }++ for @racing;
$now = (grep { $_->{provider} eq 'oidc' } @{ ask(GET => '')->json->{connections} })[0];
is_deeply(\%got, { 200 => 8 }, 'of eight at once all are made');
like("@$now{qw(label clientId)}", qr/\Al\d c\d\z/, 'and none undoes another');


# --- what all connections have ---------------------------------------------------------------

verified($s, $acme, 'acme.test', 'xn--bcher-kva.test');
verified($s, $globex, 'globex.test');
$s->sql('INSERT INTO svc.domain (tenant_id, domain) VALUES'
        . " ('$acme->{id}', 'pending.test'), ('$acme->{id}', 'globex.test')");

my ($group, $other) = map {
    $_->admin(POST => '/groups', { name => 'G' }, undef, $_->token_for('groups:manage'))
      ->json->{id}
} $acme, $globex;
my $good = common_members(sub { ask(PATCH => '/oidc', @_) }, group => $group, other => $other,
                          token => $acme->token_for('tenant:manage,groups:manage'));

is_deeply([ map { changed('/oidc', { $_ => $good->{$_} })->{$_} } sort keys %$good ],
          [ map { $good->{$_} } sort keys %$good ], 'each is as it was');
changed('/oidc', { jitProvisioning => $FALSE, linkByEmail => 'owned', domains => undef },
        qw(jitProvisioning domains linkByEmail));
$r = ask(POST => '', { %OIDC, provider => 'oidc-y', %$good },
         token => $acme->token_for('tenant:manage,groups:manage'));
is($r->status, 201, 'all of them with a new one') or diag($r->body);
is_deeply({ map { $_ => $r->json->{$_} } keys %$good }, $good, 'as they are kept');
is(ask(POST => '', { %OIDC, provider => 'oidc-z', groupMapping => $good->{groupMapping} })
   ->status, 403, 'but not for who may not add to groups');


# --- whose people come -------------------------------------------------------------------------

with_password($s, $acme, userName => "$_->[0]\@acme.test", role => $_->[1])
    for [ 'boss', 'owner' ], [ 'admin', 'admin' ];

my %by = map { my $b = SvcTest::Browser->new($s, tenant => 'acme');
               $b->login("$_->[0]\@acme.test")->status == 200 or die "$_->[0]\n";
               ($_->[1] => $b) } [ 'boss', 'owner' ], [ 'admin', 'admin' ];

ask(PATCH => '/oidc', { enabled => $TRUE });
whose_people(sub { my ($change, %who) = @_; ask(PATCH => '/oidc', $change, %who) }, \%by,
             vouch => { vouch => $TRUE },
             other => { showOnPage => $FALSE, clientSecret => $SECRET, enabled => $TRUE,
                        attributeMapping => { email => 'mail', title => 'x' } },
             people => { domains => [ undef, [ 'acme.test' ] ],
                         linkByEmail => [ 'owned', 'verified' ], trustMfa => [ $FALSE, $TRUE ],
                         mfaContexts => [ [ 'phr' ], [ 'x' ] ], trustEmail => [ $FALSE, $TRUE ],
                         attributeMapping => [ { email => 'mail' }, { email => 'upn' } ] });
is(ask(PATCH => '/oidc', { $_->[0] => $_->[1], clientSecret => $SECRET, vouch => $TRUE },
       by => $by{owner})
   ->json->{covers}, 'owners', "$_->[0]: an owner's")
   && is(ask(PATCH => '/oidc', { $_->[0] => $_->[2], clientSecret => $SECRET })
         ->json->{covers}, 'members', 'a token\'s')
    for [ clientId => 'a', 'b' ], [ issuer => 'https://a.test', 'https://b.test' ];
is(ask(PATCH => '/microsoft', { $_->[0] => $_->[1], clientSecret => $SECRET, vouch => $TRUE },
       by => $by{owner})
   ->json->{covers}, 'owners', "$_->[0]: an owner's")
   && is(ask(PATCH => '/microsoft', { $_->[0] => $_->[2], clientSecret => $SECRET })
         ->json->{covers}, 'members', 'a token\'s')
    for [ tenantId => 'organizations', $UUID ], [ allowedTenants => [ $UUID ], undef ];
is($s->sql("SELECT vouched @> '{users:view,tenant:manage}' AND array_length(vouched, 1) = 2"
           . " FROM svc.social WHERE provider = 'microsoft' AND tenant_id = '$acme->{id}'"), 't',
   'what the token may do');

for ([ {}, 'members', 'a change of an owner vouches for no other member' ],
     [ { vouch => $TRUE }, 'owners', 'unless he says so' ]) {
    my ($more, $covers, $name) = @$_;

    ask(PATCH => '/oidc', { trustEmail => $TRUE });
    is(ask(PATCH => '/oidc', { trustEmail => $FALSE, %$more }, by => $by{owner})->json->{covers},
       $covers, $name);
}

ask(PATCH => '/oidc', { enabled => $FALSE });
is(ask(PATCH => '/oidc', { enabled => $TRUE })->json->{covers}, 'members', 'on, by a token');
is(ask(PATCH => '/oidc', { vouch => $TRUE }, by => $by{admin})->json->{covers}, 'admins',
   'a word alone');
is(ask(POST => '', { %OIDC, provider => 'oidc-w' }, by => $by{admin})->json->{covers},
   'admins', 'a new one, of an admin');
is(ask(POST => '', { %OIDC, provider => 'oidc-v' }, by => $by{owner})->json->{covers},
   'owners', 'of an owner');


# --- links --------------------------------------------------------------------------------------

my $user = $acme->create(userName => 'linked@acme.test')->{id};
my $meta = sub {
    return $s->sql("SELECT connection_id || ' ' || (document IS NULL)::text || ' '"
                   . " || (due_at <= now())::text FROM svc.federation_meta WHERE"
                   . " tenant_id = '$acme->{id}' AND connection_id IN (SELECT connection_id"
                   . " FROM svc.social WHERE provider = '$_[0]')");
};
my $fetched = sub {
    my ($provider) = @_;

    $s->sql('UPDATE svc.federation_meta SET document = \'{}\', jwks = \'{}\', fetched_at = now(),'
            . " due_at = 'infinity' WHERE connection_id = (SELECT connection_id FROM svc.social"
            . " WHERE tenant_id = '$acme->{id}' AND provider = '$provider')");
};

for my $case ([ 'oidc', issuer => 'https://c.test', 'https://d.test' ],
              [ 'microsoft', tenantId => 'organizations', $UUID ]) {
    my ($provider, $member, @values) = @$case;
    my $id = link_to($s, $acme, "social WHERE provider = '$provider'", $user);

    $fetched->($provider);

    my $now = ask(PATCH => "/$provider", { clientId => 'new', label => 'new',
                                           clientSecret => $SECRET })->json;

    is($now->{status}, 'ready', "$provider: what it publishes was fetched");
    is(links($s, $id), 1, 'its links are there');
    like($meta->($provider), qr/\A$id false false\z/, 'and what was fetched');
    is(ask(PATCH => "/$provider", { $member => $values[0], clientSecret => $SECRET })
       ->json->{status}, 'pending', "with another $member it is to be fetched");
    is(links($s, $id), 0, 'its links are gone');
    like($meta->($provider), qr/\A(?!$id)\S+ true true\z/, 'and what was fetched');

    $id = link_to($s, $acme, "social WHERE provider = '$provider'", $user);
    $fetched->($provider);
    admin_error(ask(PATCH => "/$provider", { $member => $values[1], clientSecret => $SECRET,
                                             keepLinks => $TRUE }, @$_), 403, 'forbidden',
                'links are kept by owners alone')
        for [], [ by => $by{admin} ];
    is(links($s, $id), 1, 'then nothing changes');
    is(ask(PATCH => "/$provider", { $member => $values[1], clientSecret => $SECRET,
                                    keepLinks => $TRUE }, by => $by{owner})->json->{status},
       'pending', 'an owner keeps them');
    is(links($s, $id), 1, 'they are there');
    like($meta->($provider), qr/\A$id true true\z/, 'and it is to be fetched');
    is(ask(DELETE => "/$provider")->status, 204, 'it is deleted');
    is(links($s, $id), 0, 'with its links');
    is($meta->($provider), undef, 'and what was fetched');
}

is($meta->('github'), undef, 'GitHub publishes nothing');
is($s->sql("SELECT count(*) FROM svc.social social WHERE provider <> 'github' AND NOT EXISTS"
           . ' (SELECT FROM svc.federation_meta meta WHERE meta.connection_id ='
           . ' social.connection_id)'), 0, 'all others do');
is((grep { $_->{provider} eq 'github' } @{ ask(GET => '')->json->{connections} })[0]{status},
   'ready', 'which is enough');

$s->sql("UPDATE svc.federation_meta SET failed_at = now(), error = 'no TLS'");
is_deeply([ map { @$_{qw(status statusError)} } grep { $_->{provider} eq 'google' }
                @{ ask(GET => '')->json->{connections} } ], [ 'failed', 'no TLS' ],
          'what failed is told');


# --- rows from before there was all this ---------------------------------------------------

my $old = $s->tenant('umbrella');

$s->sql('INSERT INTO svc.social (tenant_id, provider, client_id, client_secret,'
        . " client_secret_id, enabled) VALUES ('$old->{id}', 'microsoft', 'x', '\\x00',"
        . ' gen_random_uuid(), true)');

my ($row) = @{ ask(GET => '', undef, tenant => $old)->json->{connections} };

is_deeply({ map { $_ => $row->{$_} } keys %SHARED, qw(tenantId status jitProvisioning) },
          { %SHARED, showOnPage => $TRUE, tenantId => undef, status => 'pending',
            jitProvisioning => $FALSE }, 'have the defaults, and cover members');
$r = ask(PATCH => '/microsoft', { label => 'x' }, tenant => $old);
is($r->status, 200, 'and can be changed') or diag($r->body);
is($r->json->{covers}, 'members', 'which says nothing of the people');


# --- of a session -----------------------------------------------------------------------

with_password($s, $acme, userName => "$_\@acme.test", role => $_) for qw(owner member);

my ($b, $member) = map { SvcTest::Browser->new($s, tenant => 'acme') } 1, 2;
my $path = '/v1/admin/social/connections';

is($b->login('owner@acme.test')->status, 200, 'an owner signs in');
is($member->login('member@acme.test')->status, 200, 'and a member');
admin_error($member->get($path), 403, 'forbidden', 'a member may not');
is($b->ask(DELETE => "$path/google")->status, 204, 'an owner may remove');
is($b->post($path, \%NEW)->status, 201, 'and add');

$s->sql('UPDATE svc.session SET reauth_at = NULL, mfa_at = NULL');
admin_error($b->post($path, \%NEW), 403, 'step_up_required',
            'one that is not fresh may not add');
is($b->ask(DELETE => "$path/github")->status, 204, 'but remove');

my $options = $s->http(GET => '/v1/auth/options?tenant=acme');

is($options->status, 200, 'what a page may offer');
unlike($options->body, qr/social|google|apple/i, 'is none of them');


# --- the secret ---------------------------------------------------------------------------

is(scalar(grep { /\Q$SECRET\E/ } @answers), 0, 'is in no answer');
is($s->sql("SELECT (SELECT count(*) FROM svc.social c WHERE"
           . " position('$SECRET'::bytea IN c.client_secret) > 0"
           . " OR c::text LIKE '%$SECRET%')"
           . " + (SELECT count(*) FROM svc.audit_event e"
           . " WHERE e::text LIKE '%$SECRET%')"
           . " + (SELECT count(*) FROM svc.idempotency i"
           . " WHERE i::text LIKE '%$SECRET%')"), 0, 'nor in the database as it is');
is($s->sql('SELECT count(*) - count(DISTINCT client_secret_id) FROM svc.social'), 0,
   'each is sealed for an id of its own');
is_deeply([ $s->sql('SELECT action, actor_id, target_type, target_id,'
                    . " details->>'clientId', details->>'enabled'"
                    . ' FROM svc.audit_event WHERE'
                    . " tenant_id = '$acme->{id}' AND action LIKE 'social.%'"
                    . ' ORDER BY id LIMIT 3') ],
          [ [ 'social.created', $acme->{api_id}, 'social', 'google', 'one.apps',
              'true' ],
            [ 'social.created', $acme->{api_id}, 'social', 'apple', 'com.acme',
              'false' ],
            [ 'social.deleted', $acme->{api_id}, 'social', 'apple', undef, undef ] ],
          'each change is in the audit log');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;

done_testing();
