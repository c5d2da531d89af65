#!/usr/bin/perl

# Shows /v1/admin/agents: their state, policies, owners, reviews, secrets and
# settings.

use strict;
use warnings;
use utf8;

use Digest::SHA qw(sha256_hex);
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $NONE = 'agt_' . '0' x 32;

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my %token = map { $_->{slug} => $_->token_for('apps:manage,users:view') } $acme, $globex;

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', role => 'owner',
                        displayName => 'Ada');
my $bob = $acme->create(userName => 'bob@acme.test');
my $eve = $globex->create(userName => 'eve@globex.test');


# Options: of (a tenant's slug), token, headers.

sub request {
    my ($method, $path, $body, %opt) = @_;

    my $token = $opt{token} // $token{ $opt{of} // 'acme' };
    my $r = $s->http($method, "/v1$path",
                     [ Authorization => "Bearer $token", @{ $opt{headers} // [] } ],
                     $body);

    $s->secret($1) if ($r->body // '') =~ /"clientSecret":"([^"]*)"/;

    return $r;
}


sub ask {
    my ($method, $path, @rest) = @_;

    return request($method, "/admin/agents$path", @rest);
}


sub made {
    my ($name, %member) = @_;
    my ($of) = delete @member{qw(of)};
    my $r = request(POST => '/applications', { name => $name, type => 'agent', %member },
                    of => $of);

    is($r->status, 201, "made: $name") or diag($r->body);

    return $r->json->{clientId};
}


# Sends a change that succeeds, and returns the agent.

sub changed {
    my ($method, $path, $body, $name, %opt) = @_;
    my $r = ask($method, $path, $body, %opt);

    is($r->status, 200, $name) or diag($r->body);

    return $r->json;
}


sub listed {
    my ($query) = @_;
    my $r = ask(GET => $query // '');

    is($r->status, 200, 'listed: ' . ($query // 'all')) or diag($r->body);

    return $r->json;
}


sub agent {
    my ($id) = @_;

    return (grep { $_->{clientId} eq $id } @{ listed()->{agents} })[0];
}


sub names {
    my ($query) = @_;
    my $json = listed($query);

    is($json->{total}, scalar @{ $json->{agents} }, "$query: the total");

    return [ map { $_->{name} } @{ $json->{agents} } ];
}


# Expects a body to be refused, with a message that begins with the member.

sub refused {
    my ($r, $member, $name) = @_;

    like(admin_error($r, 400, 'invalid_request', $name)->{message} // '',
         qr/^"\Q$member\E[\["]/, "$name: says so");
}


# Returns the events of an agent since the last call.

my %seen;

sub told {
    my ($id) = @_;
    my @rows = $acme->events_of($id, qw(action details));
    my $from = $seen{$id} // 0;

    $seen{$id} = @rows;

    return [ map { [ @$_ ] } @rows[$from .. $#rows] ];
}


sub cut_off {
    my ($id) = @_;

    return $s->sql("SELECT tokens_valid_after FROM svc.application WHERE client_id = '$id'")
           // 'never';
}


sub encoded {
    return substr JSON::PP->new->ascii->allow_nonref->canonical->encode($_[0]), 0, 60;
}


# --- permissions -----------------------------------------------------------------

my $weak = $acme->token_for('audit:view,groups:manage,members:manage,roles:manage,'
                            . 'tenant:manage,users:view');

my @ROUTES = ([ PUT => 'policy', {} ], [ DELETE => 'policy', undef ],
              [ PUT => 'identity', {} ], [ POST => 'review', {} ],
              [ POST => 'secret', {} ], [ POST => 'policy/simulate', {} ]);

admin_error(ask(@$_, token => $weak), 403, undef, "$_->[0] $_->[1]: no permission")
    for [ GET => '', undef ], [ GET => '/settings', undef ], [ PUT => '/settings', {} ],
        map { [ $_->[0], "/$NONE/$_->[1]", $_->[2] ] } @ROUTES;


# --- one agent ---------------------------------------------------------------------

is_deeply(listed(), { agents => [], total => 0, limit => 100, offset => 0 }, 'none');

my $id = made('Invoice bot', ownerId => $ada->{id});
my $agent = agent($id);

like(admin_one($acme, '/agents', $id, needs => 'apps:manage', other => $globex,
               none => [ $NONE, 'x', uc $id, 'app_' . '0' x 32 ])->header('etag'),
     qr/\A"\d+"\z/, 'its ETag');
like($agent->{$_}, $TIME, $_) for qw(secretRotatedAt createdAt updatedAt);
is_deeply($agent, {
    clientId => $id, name => 'Invoice bot', status => 'active',
    policy => { enabled => $TRUE, maxTokenTtlSeconds => undef, allowedScopes => undef,
                allowedAudiences => undef, isDefault => $TRUE },
    identity => { ownerId => $ada->{id}, expiresAt => undef,
                  owner => { id => $ada->{id}, email => 'ada@acme.test',
                             displayName => 'Ada' } },
    review => { status => 'never', lastReviewedAt => undef, reviewedBy => undef,
                dueAt => undef },
    anomalies => 0, lastUsedAt => undef,
    map { $_ => $agent->{$_} } qw(secretRotatedAt createdAt updatedAt),
}, 'all of it');
told($id);


# --- policies ------------------------------------------------------------------------

my %CHANGE = (enabled => $FALSE, maxTokenTtlSeconds => 60, allowedScopes => [ 'b', 'a' ],
              allowedAudiences => [ 'https://API.test', 'urn:x' ]);
my %now = %{ $agent->{policy} };
my $updated = $agent->{updatedAt};

is_deeply(changed(PUT => "/$id/policy", {}, 'nothing'), $agent, 'is as it was');
is_deeply(changed(PUT => "/$id/policy", { enabled => $TRUE }, 'the same'), $agent,
          'likewise');
is_deeply(changed(PUT => "/$id/policy", $agent->{policy}, 'put back'), $agent, 'likewise');
is_deeply(told($id), [], 'which is nothing to tell of');

for my $member (sort keys %CHANGE) {
    my $got = changed(PUT => "/$id/policy", { $member => $CHANGE{$member} }, $member);

    %now = (%now, $member => $CHANGE{$member}, isDefault => $FALSE);
    $now{allowedScopes} = [ sort @{ $now{allowedScopes} } ] if $now{allowedScopes};
    is_deeply($got->{policy}, \%now, "$member is changed, and nothing else");
    cmp_ok($got->{updatedAt}, 'gt', $updated, 'later');
    is_deeply($got, agent($id), 'as it is listed');
    is_deeply(told($id), [ [ 'agent.policy_updated', { changed => [ $member ] } ] ],
              'audited');
    $updated = $got->{updatedAt};
}

is($s->sql("SELECT array_to_string(allowed_audience_keys, ' ') FROM svc.application"
           . " WHERE client_id = '$id'"), 'https://api.test/ urn:x',
   'audiences are kept as they are compared, too');
is_deeply(request(GET => "/applications/$id")->json->{enabled}, $FALSE,
          'the switch is that of the application');
is_deeply(changed(PUT => "/$id/policy", { map { $_ => undef } grep { $_ ne 'enabled' }
                                          keys %CHANGE }, 'null')->{policy},
          { %now, map { $_ => undef } grep { $_ ne 'enabled' } keys %CHANGE },
          'null clears');
is_deeply(told($id), [ [ 'agent.policy_updated', { changed => [
    'maxTokenTtlSeconds', 'allowedScopes', 'allowedAudiences' ] } ] ], 'in one event');
is_deeply(changed(PUT => "/$id/policy", { allowedScopes => [], allowedAudiences => [] },
                  'nothing allowed')->{policy},
          { %now, maxTokenTtlSeconds => undef, allowedScopes => [],
            allowedAudiences => [] }, 'is not the same as all');
told($id);

my $reset = changed(DELETE => "/$id/policy", undef, 'reset');

is_deeply($reset->{policy}, $agent->{policy}, 'as at first');
is_deeply(told($id), [ [ 'agent.policy_reset', { changed => [
    'enabled', 'allowedScopes', 'allowedAudiences' ] } ] ], 'audited');
is_deeply(changed(DELETE => "/$id/policy", undef, 'reset again'), $reset, 'no change');
is_deeply(told($id), [], 'nor an event');

my %GOOD = (
    maxTokenTtlSeconds => [ 60, 86400, undef ],
    allowedScopes => [ [ 'x' x 64 ], [ '!#[]~' ], [ map { "s$_" } 1 .. 100 ], [] ],
    allowedAudiences => [ [ 'urn:x:y' ], [ 'https://a.test/' . 'x' x 497 ],
                          [ map { "https://$_.test/{x}" =~ s/[{}]//gr } 1 .. 100 ],
                          [ 'https://b.test/x?y', 'api://a', 'https://b.test/x' ] ],
);
my %BAD = (
    enabled => [ undef, 1, 'true' ],
    maxTokenTtlSeconds => [ 59, 86401, 60.5, '60', $TRUE, 1e10 ],
    allowedScopes => [ 'a', {}, [ undef ], [ 1 ], map { [ $_ ] } '', 'a b', 'a"b', 'a\\b',
                       'ü', 'x' x 65, 'offline_access' ],
    allowedAudiences => [ 'https://a.test', [ undef ], [ 1 ], map { [ $_ ] } '', 'x', '/x',
                          'https:x', 'https://', 'https://a.test/#', 'a b:c',
                          'https://u@a.test', 'urn:x#y', 'urn:%zz',
                          'https://a.test/' . 'x' x 498 ],
);

for my $member (sort keys %GOOD) {
    for my $value (@{ $GOOD{$member} }) {
        my $got = changed(PUT => "/$id/policy", { $member => $value },
                          "$member: " . encoded($value))->{policy}{$member};

        is_deeply($got, $member eq 'allowedScopes' ? [ sort @$value ] : $value,
                  'as it was given');
    }
}

my $before = agent($id);

told($id);

for my $member (sort keys %BAD) {
    for my $value (@{ $BAD{$member} }) {
        refused(ask(PUT => "/$id/policy", { $member => $value }), $member,
                "$member: " . encoded($value));
        refused(ask(POST => "/$id/policy/simulate", { $member => $value }), $member,
                "$member, as a trial: " . encoded($value));
    }
}

# A typo must not lose a ceiling, and what was read can be put back.

for my $path ('policy', 'policy/simulate') {
    refused(ask(($path eq 'policy' ? 'PUT' : 'POST') => "/$id/$path",
                { enabled => JSON::PP::true(), $_ => [ 'a' ] }), $_, "$path: $_")
        for qw(allowedScope allowed_scopes AllowedScopes maxTokenTtlSecond isdefault);
}

is(ask(PUT => "/$id/policy", $before->{policy})->status, 200, 'a policy as it was read');
is(ask(PUT => "/$id/identity", $before->{identity})->status, 200, 'an identity, too');
refused(ask(PUT => "/$id/identity", { expiresAT => '2099-01-01T00:00:00Z' }), 'expiresAT',
        'an identity: expiresAT');
refused(ask(PUT => '/settings', { orphanActions => 'disable' }), 'orphanActions',
        'settings: orphanActions');

for my $path ('policy', 'policy/simulate') {
    my $method = $path eq 'policy' ? 'PUT' : 'POST';

    admin_error(ask($method => "/$id/$path", { allowedScopes => [ map { "s$_" } 0 .. 100 ] }),
                400, 'limit_exceeded', "$path: 101 scopes");
    admin_error(ask($method => "/$id/$path",
                    { allowedAudiences => [ map { "urn:$_" } 0 .. 100 ] }),
                400, 'limit_exceeded', "$path: 101 audiences");
    refused(ask($method => "/$id/$path",
                { allowedAudiences => [ 'https://a.test', 'urn:x', 'https://A.test:443/' ] }),
            'allowedAudiences', "$path: the same twice");
}

is_deeply(changed(PUT => "/$id/policy", { allowedScopes => [ 'b', 'a', 'b' ] },
                  'scopes twice')->{policy}{allowedScopes}, [ 'a', 'b' ], 'are there once');
changed(PUT => "/$id/policy", { allowedScopes => [] }, 'back');
is_deeply({ %{ agent($id) }, updatedAt => 0 }, { %$before, updatedAt => 0 },
          'and nothing else has changed');
changed(DELETE => "/$id/policy", undef, 'as at first');


# --- the kill switch ----------------------------------------------------------------

# Switching an agent off or on ends all its tokens, by the policy as by the
# application.

my %SWITCH = (policy => sub { changed(PUT => "/$id/policy", { enabled => $_[0] },
                                      'by the policy') },
              application => sub { is(request(PATCH => "/applications/$id",
                                              { enabled => $_[0] })->status, 200,
                                      'by the application') });

told($id);

for my $by (sort keys %SWITCH) {
    for my $on ($FALSE, $TRUE) {
        my $last = cut_off($id);

        $SWITCH{$by}->($on);

        my $cut = cut_off($id);

        isnt($cut, $last, "by the $by: what was given is dead");
        is($s->sql("SELECT tokens_valid_after BETWEEN now() - interval '1 min' AND now()"
                   . " FROM svc.application WHERE client_id = '$id'"), 't', 'from now on');
        is(agent($id)->{status}, $on ? 'active' : 'disabled', 'its state');
        is_deeply([ grep { $_->[0] eq 'agent.policy_updated' } @{ told($id) } ],
                  [ [ 'agent.policy_updated', { changed => [ 'enabled' ] } ] ], 'audited');

        $SWITCH{$by}->($on);
        changed(PUT => "/$id/policy", { maxTokenTtlSeconds => $on ? 60 : 61 }, 'a ceiling');
        is(request(PATCH => "/applications/$id", { name => "$by $on" })->status, 200,
           'a name');
        is(cut_off($id), $cut, 'what changes nothing of it ends nothing');
        told($id);
    }
}

is_deeply(agent($id)->{policy}{isDefault}, $FALSE, 'none of it is the default any more');
changed(PUT => "/$id/policy", { enabled => $FALSE }, 'off');

my $last = cut_off($id);

is_deeply(changed(DELETE => "/$id/policy", undef, 'a reset')->{policy}{enabled}, $TRUE,
          'switches on');
isnt(cut_off($id), $last, 'and ends what was given');

$s->sql("UPDATE svc.application SET tokens_valid_after = now() + interval '1 hour'"
        . " WHERE client_id = '$id'");
$last = cut_off($id);
changed(PUT => "/$id/policy", { enabled => $_ }, 'a later end') for $FALSE, $TRUE;
is(cut_off($id), $last, 'an end that is later stays');

# An agent that is made disabled has a policy, in which it is disabled.

my $off = made('Off', enabled => $FALSE, ownerId => $ada->{id});

is_deeply(agent($off)->{policy}, { %{ $agent->{policy} }, enabled => $FALSE,
                                   isDefault => $FALSE }, 'made while off');

my $web = request(POST => '/applications', { name => 'web', type => 'web',
                  redirectUris => [ 'https://a.test/' ] })->json->{clientId};

request(PATCH => "/applications/$web", { enabled => $FALSE });
is($s->sql("SELECT tokens_valid_after IS NOT NULL AND policy_set_at IS NULL"
           . " FROM svc.application WHERE client_id = '$web'"), 't',
   'tokens of other applications end, too; they have no policy');


# --- owner and expiry --------------------------------------------------------------

my $FUTURE = '2099-01-01T00:00:00.000Z';

told($id);

my $got = changed(PUT => "/$id/identity", { expiresAt => '2099-01-01T01:00:00+01:00' },
                  'an end');

is_deeply($got->{identity}, { %{ $agent->{identity} }, expiresAt => $FUTURE },
          'the owner stays');
is_deeply(changed(PUT => "/$id/identity", $got->{identity}, 'put back'), $got,
          'no change');
is_deeply(changed(PUT => "/$id/identity", {}, 'nothing'), $got, 'likewise');
is_deeply(told($id), [ [ 'agent.identity_updated', { changed => [ 'expiresAt' ] } ] ],
          'audited once');
is_deeply(changed(PUT => "/$id/identity", { ownerId => $bob->{id} }, 'another owner')
          ->{identity}, { ownerId => $bob->{id}, expiresAt => $FUTURE,
          owner => { id => $bob->{id}, email => 'bob@acme.test', displayName => undef } },
          'the end stays');

$got = changed(PUT => "/$id/identity", { ownerId => undef, expiresAt => undef }, 'null');
is_deeply([ @$got{qw(identity status)} ],
          [ { ownerId => undef, owner => undef, expiresAt => undef }, 'orphaned' ],
          'clears: nobody\'s');
is_deeply(told($id), [ [ 'agent.identity_updated', { changed => [ 'ownerId' ] } ],
                       [ 'agent.identity_updated',
                         { changed => [ 'ownerId', 'expiresAt' ] } ] ], 'audited');
is($s->sql("SELECT owner_lost_at IS NOT NULL FROM svc.application WHERE client_id = '$id'"),
   't', 'since when is known');

$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$bob->{id}'");
refused(ask(PUT => "/$id/identity", { ownerId => $_ }), 'ownerId', 'ownerId: ' . encoded($_))
    for $bob->{id}, $eve->{id}, uc $ada->{id}, 'x', '', 1, $id,
        '00000000-0000-4000-8000-000000000000';
refused(ask(PUT => "/$id/identity", { expiresAt => $_ }), 'expiresAt',
        'expiresAt: ' . encoded($_))
    for '2020-01-01T00:00:00Z', '2099-01-01', '', 'x', 1, $TRUE, '9999-12-31T23:59:59-01:00',
        $s->sql("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')");
is_deeply(changed(PUT => "/$id/identity", {}, 'nothing'), $got, 'none of it is stored');

changed(PUT => "/$id/identity", { ownerId => $ada->{id}, expiresAt => $FUTURE }, 'both');


# --- states --------------------------------------------------------------------------

# Each state takes precedence over those that follow.

sub state_is {
    my ($expected, $name) = @_;
    my $got = agent($id);
    my $register = $acme->admin(GET => '/identities?type=agent&q=named', undef, [],
                                $token{acme})->json->{identities}[0];

    is($got->{status}, $expected, "$name: $expected");
    is_deeply([ @$register{qw(id status expiresAt)}, $register->{owner}{id} ],
              [ $id, $expected, $got->{identity}{expiresAt}, $got->{identity}{ownerId} ],
              'in the register of identities, too');

    for my $state (qw(active disabled expired orphaned)) {
        my $is = $state eq $expected;

        is(scalar(grep { $_ eq 'named' } @{ names("?status=$state&q=named") }), $is ? 1 : 0,
           "status=$state");
        is($acme->admin(GET => "/identities?type=agent&q=named&status=$state", undef, [],
                        $token{acme})->json->{total}, $is ? 1 : 0, 'likewise');
    }
}

sub with {
    my (%column) = @_;

    $s->sql('UPDATE svc.application SET '
            . join(', ', map { "$_ = $column{$_}" } sort keys %column)
            . " WHERE client_id = '$id'");
}

with(name => "'named'");
state_is('active', 'an owner who is active');
$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$ada->{id}'");
state_is('orphaned', 'an owner who is not');
with(expires_at => "now() - interval '1 s'");
state_is('expired', 'at its end');
with(enabled => 'false');
state_is('disabled', 'switched off');
$s->sql("UPDATE svc.user_account SET status = 'active' WHERE id = '$ada->{id}'");
with(enabled => 'true');
state_is('expired', 'switched on');
with(expires_at => "now() + interval '1 day'");
state_is('active', 'before its end');

my $gone = $acme->create(userName => 'gone@acme.test')->{id};

changed(PUT => "/$id/identity", { ownerId => $gone }, 'an owner who goes');
is($acme->admin(DELETE => "/users/$gone", undef, [],
                $acme->token_for('members:manage'))->status, 204, 'is erased');
state_is('orphaned', 'an owner who is gone');
is(agent($id)->{identity}{owner}, undef, 'and not shown');
changed(PUT => "/$id/identity", { ownerId => $ada->{id} }, 'and back');


# --- reviews --------------------------------------------------------------------------

told($id);

my $last_review = agent($id);

$got = changed(POST => "/$id/review", { note => ' Q4 review, "é" ' }, 'a review');
like($got->{review}{lastReviewedAt}, $TIME, 'of a time');
is_deeply([ @{ $got->{review} }{qw(status reviewedBy)} ], [ 'current', undef ],
          'by a token, which is nobody');
is($s->sql("SELECT '$got->{review}{dueAt}'::timestamptz"
           . " - '$got->{review}{lastReviewedAt}'"), '90 days', 'until the next one');
is_deeply(told($id), [ [ 'agent.reviewed', { note => 'Q4 review, "é"' } ] ],
          'the note is in its event');

my $b = SvcTest::Browser->new($s, tenant => 'acme');

is($b->login('ada@acme.test')->status, 200, 'ada signs in');

for my $body (undef, {}, { note => undef }, { note => '' }, { note => 'x' x 500 }) {
    my $r = $b->post("/v1/admin/agents/$id/review", $body);

    is($r->status, 200, 'a review: ' . encoded($body)) or diag($r->body);
    is_deeply($r->json->{review}{reviewedBy}, { id => $ada->{id}, email => 'ada@acme.test' },
              'by a user');
}

is_deeply(told($id), [ (map { [ 'agent.reviewed', {} ] } 1 .. 4),
                       [ 'agent.reviewed', { note => 'x' x 500 } ] ], 'each is an event');
refused(ask(POST => "/$id/review", { note => $_ }), 'note', 'note: ' . encoded($_))
    for 'x' x 501, "a\nb", 1, [], {};
admin_error(ask(POST => "/$id/review", $_), 400, undef, "a body: $_") for '[]', '{', 'x';

for my $case ([ 90, 89, 'current' ], [ 90, 90, 'due' ], [ 7, 6, 'current' ], [ 7, 8, 'due' ]) {
    my ($every, $ago, $expected) = @$case;

    changed(PUT => '/settings', { reviewIntervalDays => $every }, "every $every days");
    # The column has milliseconds, and the time would be rounded to one in the future.
    with(reviewed_at => "date_trunc('milliseconds', now())"
                        . " - $ago * interval '24 hours'");
    is(agent($id)->{review}{status}, $expected, "$ago days ago: $expected");
}

changed(PUT => '/settings', { reviewIntervalDays => 90 }, 'as at first');


# --- settings --------------------------------------------------------------------------

my %SETTINGS = (orphanAction => 'none', orphanGraceHours => 72, maxDelegationDepth => 3,
                reviewIntervalDays => 90);
my $r = ask(GET => '/settings');

is_deeply($r->json, \%SETTINGS, 'the settings');
like($r->header('etag'), qr/\A"\d+"\z/, 'of a version');

my $events = "action = 'agent.settings_updated'";
my $n = () = $acme->events_where($events, 'id');
my %to = (orphanAction => 'disable', orphanGraceHours => 0, maxDelegationDepth => 5,
          reviewIntervalDays => 1);
my %kept = %SETTINGS;

for my $member (sort keys %to) {
    $kept{$member} = $to{$member};
    is_deeply(changed(PUT => '/settings', { $member => $to{$member} }, $member), \%kept,
              'and nothing else');
}

is_deeply(changed(PUT => '/settings', \%kept, 'the same'), \%kept, 'no change');
is_deeply(changed(PUT => '/settings', {}, 'nothing'), \%kept, 'likewise');
my @told = $acme->events_where($events, qw(target_type details));

is_deeply([ @told[$n .. $#told] ],
          [ map { [ 'agentSettings', { changed => [ $_ ] } ] } sort keys %to ],
          'each is audited');
is_deeply(ask(GET => '/settings', undef, of => 'globex')->json, \%SETTINGS,
          'another tenant has its own');

my %SETTING_BAD = (
    orphanAction => [ 'delete', '', undef, 1 ],
    orphanGraceHours => [ -1, 8761, 1.5, '1', undef ],
    maxDelegationDepth => [ 0, 6, '3', undef ],
    reviewIntervalDays => [ 0, 731, undef ],
);

for my $member (sort keys %SETTING_BAD) {
    refused(ask(PUT => '/settings', { $member => $_ }), $member, "$member: " . encoded($_))
        for @{ $SETTING_BAD{$member} };
}

is_deeply(ask(GET => '/settings')->json, \%kept, 'none of it is stored');

$r = ask(GET => '/settings');
admin_error(ask(PUT => '/settings', \%SETTINGS, headers => [ 'If-Match' => '"1"' ]), 412,
            undef, 'another version');
$r = ask(PUT => '/settings', \%SETTINGS, headers => [ 'If-Match' => $r->header('etag') ]);
is($r->status, 200, 'this version');
is($r->header('etag'), ask(GET => '/settings')->header('etag'), 'which is another one then');
changed(PUT => '/settings', \%to, 'for what follows');
is(agent($id)->{status}, 'active', 'an owner');
changed(PUT => "/$id/identity", { ownerId => undef }, 'none');
is(agent($id)->{status}, 'orphaned', 'what becomes of orphans is not their state');
changed(PUT => '/settings', \%SETTINGS, 'as at first');
changed(PUT => "/$id/identity", { ownerId => $ada->{id} }, 'likewise');


# --- versions ----------------------------------------------------------------------------

my $etag = request(GET => "/applications/$id")->header('etag');

for my $route ([ PUT => 'policy', { maxTokenTtlSeconds => 77 } ],
               [ PUT => 'identity', { expiresAt => '2098-01-01T00:00:00Z' } ],
               [ DELETE => 'policy', undef ])
{
    my ($method, $path, $body) = @$route;
    my $was = agent($id);

    admin_error(ask($method => "/$id/$path", $body, headers => [ 'If-Match' => '"1"' ]),
                412, undef, "$method $path: another version");
    is_deeply(agent($id), $was, 'changes nothing');

    my $r = ask($method => "/$id/$path", $body, headers => [ 'If-Match' => $etag ]);

    is($r->status, 200, 'this version') or diag($r->body);
    isnt($r->header('etag'), $etag, 'becomes another one');
    $etag = $r->header('etag');
    is($etag, request(GET => "/applications/$id")->header('etag'),
       'that of the application');
}


# --- secrets -----------------------------------------------------------------------------

sub good {
    my ($id, $secret) = @_;

    return $s->sql('SELECT count(*) FROM svc.oauth_login WHERE digest ='
                   . " '\\x" . sha256_hex("\2$id\0$secret") . "'"
                   . ' AND (retired_at IS NULL OR retired_at > now())');
}

told($id);
$last = cut_off($id);
$r = ask(POST => "/$id/secret");
is($r->status, 200, 'a new secret, without a body') or diag($r->body);
is($r->header('cache-control'), 'no-store', 'not for caches');

my $first = $r->json;

is_deeply([ sort keys %$first ], [ qw(clientId clientSecret previousValidUntil rotatedAt) ],
          'what is answered');
is(good($id, $first->{clientSecret}), 1, 'it is good');
is(agent($id)->{secretRotatedAt}, $first->{rotatedAt}, 'as the agent says');

my $second = ask(POST => "/$id/secret", { graceSeconds => 60 })->json;

is(good($id, $_), 1, 'both are, within the grace')
    for map { $_->{clientSecret} } $first, $second;
is(cut_off($id), $last, 'tokens live on');
ask(POST => "/$id/secret", { revokeTokens => $FALSE });
is(cut_off($id), $last, 'likewise');
$s->sql("UPDATE svc.application SET tokens_valid_after = NULL WHERE client_id = '$id'");

for my $path ("/admin/agents/$id/secret", "/applications/$id/secret") {
    $last = cut_off($id);
    is(request(POST => $path, { revokeTokens => $TRUE })->status, 200, "$path: an end");
    isnt(cut_off($id), $last, 'of all tokens');
}

is_deeply(told($id), [ map { my ($g, $t) = @$_; map { [ $_, { graceSeconds => $g,
    revokeTokens => $t ? $TRUE : $FALSE } ] } qw(application.secret_rotated
    agent.secret_rotated) } [ 0, 0 ], [ 60, 0 ], [ 0, 0 ], [ 0, 1 ], [ 0, 1 ] ], 'audited');
is(request(POST => "/applications/$web/secret", { revokeTokens => $TRUE })->status, 200,
   'of another application');
refused(ask(POST => "/$id/secret", { revokeTokens => $_ }), 'revokeTokens',
        'revokeTokens: ' . encoded($_)) for undef, 1, 'true';
refused(ask(POST => "/$id/secret", { graceSeconds => $_ }), 'graceSeconds',
        'graceSeconds: ' . encoded($_)) for -1, 86401, 1.5, '60', undef;

refused(ask(POST => "/$id/secret", { revokeToken => JSON::PP::true() }), 'revokeToken',
        'revokeToken');

my $digests = "SELECT string_agg(l::text, ' ' ORDER BY digest) FROM svc.oauth_login l";
my $stored = $s->sql($digests);

admin_error(ask(POST => "/$web/secret", {}), 404, undef, 'one that is no agent');
is($s->sql($digests), $stored, 'keeps its secret');


# --- another tenant's agents, and unknown ones ----------------------------------------------

$before = agent($id);
my $count = $s->sql('SELECT count(*) FROM svc.audit_event');

for my $path ($id, $web, $NONE, uc $id, "$id ", 'x', '%FF', 'agt_' . 'g' x 32, 'settings',
              'anomalies', 'delegations')
{
    (my $name = $path) =~ s/ /%20/g;
    my $of = $path eq $id ? 'globex' : 'acme';

    admin_error(ask($_->[0] => "/$name/$_->[1]", $_->[2], of => $of), 404, undef,
                "$_->[0] $_->[1] of " . substr $name, 0, 40) for @ROUTES;
}

is_deeply(agent($id), $before, 'it is as it was');
is($s->sql('SELECT count(*) FROM svc.audit_event'), $count, 'and nothing is told');
is($s->sql($digests), $stored, 'of secrets, too');
is(ask(GET => '', undef, of => 'globex')->json->{total}, 0, 'of another tenant none');
admin_error(ask(PUT => "/$NONE/policy", { enabled => 1 }), 400, undef,
            'a bad body comes before what is not there');
admin_error(ask(PUT => "/$NONE/identity", { ownerId => $eve->{id} }), 404, undef,
            'what only an agent could have comes behind it');
is(ask(POST => "/$id", {})->header('allow'), 'GET, HEAD', 'methods of an agent');
is(ask(POST => '/settings', {})->header('allow'), 'GET, HEAD, PUT', 'methods of the settings');
is(ask(GET => "/$id/policy")->header('allow'), 'PUT, DELETE', 'and of a policy');


# --- lists ------------------------------------------------------------------------------

my $carl = $acme->create(userName => 'carl@acme.test')->{id};
my @many = map { made("Many $_", ownerId => $carl) } 1 .. 3;

is_deeply(names("?ownerId=$carl"), [ 'Many 3', 'Many 2', 'Many 1' ], 'of an owner');
is_deeply(names("?ownerId=$eve->{id}"), [], 'of nobody here');
is_deeply(names('?ownerId=x'), [], 'likewise');
is_deeply(names('?q=MANY%202'), [ 'Many 2' ], 'by name');
is_deeply(names("?q=$many[0]"), [ 'Many 1' ], 'by clientId');
is_deeply(names("?status=active&ownerId=$carl&q=ny%203"), [ 'Many 3' ], 'by all');
is_deeply([ map { $_->{name} } @{ listed("?ownerId=$carl&limit=1&offset=1")->{agents} } ],
          [ 'Many 2' ], 'a page');
is(listed("?ownerId=$carl&limit=1&offset=1")->{total}, 3, 'of three');
is(listed("?ownerId=$carl&offset=9")->{total}, 3, 'of which one may be empty');
is(scalar(grep { $_->{clientId} eq $web } @{ listed()->{agents} }), 0,
   'other applications are not there');
admin_error(ask(GET => "?$_"), 400, undef, $_)
    for 'status=x', 'status=revoked', 'limit=0', 'offset=-1', 'q=' . 'x' x 201,
        'ownerId=' . 'x' x 201, 'status=active&status=expired';

# Anomalies that nobody has acknowledged.

$s->sql('INSERT INTO svc.agent_anomaly (tenant_id, client_id, type, key, severity, details,'
        . " acknowledged_at) SELECT '$acme->{id}', '$many[1]', 'new_ip', i::text, 'low',"
        . " '{}', CASE WHEN i > 2 THEN now() END FROM generate_series(1, 5) i");
is(agent($many[1])->{anomalies}, 2, 'anomalies are counted');
is_deeply({ map { $_->{name} => $_->{anomalies} } @{ $acme->admin(
              GET => '/identities?q=many', undef, [], $token{acme})->json->{identities} } },
          { 'Many 1' => 0, 'Many 2' => 2, 'Many 3' => 0 }, 'of an identity, too');


# --- two changes at once -------------------------------------------------------------------

my %header = (Authorization => "Bearer $token{acme}");
my @both = map {
    $s->begin(PUT => "/v1/admin/agents/$id/policy", { %header },
              { $_ % 2 ? (maxTokenTtlSeconds => 100 + $_) : (allowedScopes => [ "s$_" ]) })
} 1 .. 12;

is_deeply([ grep { $_ != 200 } map { $_->read->status } @both ], [], 'twelve at once');
$got = agent($id)->{policy};
ok($got->{maxTokenTtlSeconds} && $got->{allowedScopes}, 'nobody undoes what another did');

$etag = request(GET => "/applications/$id")->header('etag');

my %status;

$status{ $_->read->status }++ for map {
    $s->begin(PUT => "/v1/admin/agents/$id/policy", { %header, 'If-Match' => $etag },
              { maxTokenTtlSeconds => 200 + $_ })
} 1 .. 12;
is_deeply(\%status, { 200 => 1, 412 => 11 }, 'of twelve with one version one succeeds');

%status = ();
told($id);
$status{ $_->read->status }++ for map {
    $s->begin(PUT => "/v1/admin/agents/$id/policy", { %header },
              { enabled => $_ % 2 ? $TRUE : $FALSE })
} 1 .. 12;
is_deeply(\%status, { 200 => 12 }, 'the switch, on and off');

my $events_now = told($id);
my $on = agent($id)->{policy}{enabled};

is(@$events_now % 2, $on ? 0 : 1, 'each change is told once');

$_->read for map {
    $s->begin(PUT => '/v1/admin/agents/settings', { %header },
              { $_ % 2 ? (orphanGraceHours => $_) : (maxDelegationDepth => 2) })
} 1 .. 8;
is(ask(GET => '/settings')->json->{maxDelegationDepth}, 2, 'settings likewise');
isnt(ask(GET => '/settings')->json->{orphanGraceHours}, 72, 'both');


# --- what a session must be fresh for ----------------------------------------------------

$s->sql('UPDATE svc.session SET mfa_at = NULL, reauth_at = NULL');
$before = agent($id);
admin_error($b->ask($_->[0] => "/v1/admin/agents/$_->[1]", $_->[2]), 403,
            'step_up_required', "not fresh: $_->[0] $_->[1]")
    for [ PUT => "$id/policy", { maxTokenTtlSeconds => undef } ],
        [ DELETE => "$id/policy" ],
        [ PUT => "$id/identity", {} ], [ POST => "$id/secret", {} ],
        [ PUT => 'settings', {} ];
is_deeply(agent($id), $before, 'nothing has changed');
is($b->post("/v1/admin/agents/$id/review")->status, 200, 'a review needs none');
is($b->post("/v1/admin/agents/$id/policy/simulate", {})->status, 200, 'nor does a trial');
is($b->ask(PATCH => "/v1/applications/$id", { enabled => $FALSE })->status, 200,
   'nor who switches it off where applications are');
$s->sql("UPDATE svc.session SET reauth_at = now() - interval '1 s'");
$r = $b->ask(PUT => "/v1/admin/agents/$id/policy", { enabled => $TRUE });
is($r->status, 200, 'fresh') or diag($r->body);
is_deeply([ map { $_->[1] } ($acme->events_of($id, qw(action actor_id)))[-1] ],
          [ $ada->{id} ], 'by whom is in the event');


# --- deleting an agent ----------------------------------------------------------------------

is(request(DELETE => "/applications/$many[1]")->status, 204, 'one is deleted');
is($s->sql("SELECT count(*) FROM svc.agent_anomaly WHERE client_id = '$many[1]'"), 0,
   'its anomalies go with it');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
