#!/usr/bin/perl

# Shows that each change writes one audit event, in its transaction, that nothing else
# writes one, and that deactivating a user ends his sessions.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest::Session qw(session_of live_sessions);
use SvcTest;
use SvcTest::Scim;


# The answer carries nginx's id of the request twice: in our header, and in one that is
# configured.

my $s = SvcTest->new(
    server => "        add_header X-Id \$request_id always;\n"
)->start;

my $acme = $s->tenant('acme');
my $second = $acme->token(name => 'second directory');
my @COLUMNS = qw(action outcome actor_type actor_id actor_name target_type
                 target_id target_name ip user_agent request_id details
                 tenant_id created_at);


# Returns the events since the last call, oldest first, as hashes.

sub events {
    return map { my %e; @e{@COLUMNS} = @$_; \%e } $acme->new_events(@COLUMNS);
}


sub ask {
    my ($method, $path, $body, %header) = @_;

    return $s->http($method, "/scim/v2$path",
                    { 'Authorization' => "Bearer $acme->{scim_token}",
                      'User-Agent' => 'audit-test/1.0', %header },
                    $body, local => '127.0.0.9');
}


# Expects exactly one event, with all that is known of its request.

sub event_is {
    my ($r, $id, $action, $name) = @_;

    my @events = events();

    is(scalar @events, 1, "$name: one event") or return;

    my %e = %{ $events[0] };

    is($e{action}, $action, "$name: action");
    is_deeply([ @e{qw(outcome actor_type actor_id actor_name tenant_id)} ],
              [ 'success', 'scim', @$acme{qw(scim_id scim_name id)} ],
              "$name: by the token");
    is_deeply([ @e{qw(target_type target_id)} ], [ 'user', $id ],
              "$name: on the user");
    is_deeply([ @e{qw(ip user_agent)} ], [ '127.0.0.9', 'audit-test/1.0' ],
              "$name: from where");
    like($e{request_id}, qr/^[0-9a-f]{32}$/, "$name: request id");
    is($e{request_id}, $r->header('x-request-id'), "$name: it is that of the answer");
    is($e{request_id}, $r->header('x-id'), "$name: and nginx's own");
    is($s->sql("SELECT abs(extract(epoch FROM now() - '$e{created_at}'"
               . '::timestamptz)) < 60'), 't', "$name: now");
    unlike(SvcTest::encode($e{details}) . ' ' . ($e{target_name} // ''),
           qr/Ada|acme\.test|Engines|ext-ada/,
           "$name: no personal data");
    is(ref $e{details}, 'HASH', "$name: details");
}


# --- changes ----------------------------------------------------------------

my $r = ask(POST => '/Users',
            { userName => 'ada@acme.test', externalId => 'ext-ada',
              displayName => 'Ada', E() => { department => 'Engines' } });
scim_ok($r, 201, 'create');

my $id = $r->json->{id};
event_is($r, $id, 'user.created', 'create');

sub operation {
    return patch_op({ op => 'replace', value => $_[0] });
}

for my $row (
    [ 'user.updated',     PATCH  => operation({ displayName => 'Ada 2' }) ],
    [ 'user.updated',     PATCH  => operation({ externalId => 'ext-ada2' }) ],
    [ 'user.updated',     PUT    => { displayName => 'Ada 3' } ],
    [ 'user.deactivated', PATCH  => operation({ active => false }) ],
    [ 'user.updated',     PATCH  => operation({ title => 'away' }) ],
    [ 'user.reactivated', PATCH  => operation({ active => 'True' }) ],
    [ 'user.deactivated', DELETE => undef ],
    [ 'user.reactivated', PUT    => { active => true } ],
    [ 'user.deactivated', PUT    => { active => false,
                                      displayName => 'Ada 4' } ],
    [ 'user.reactivated', PATCH  => operation({ active => true,
                                                title => 'back' }) ])
{
    my ($action, $method, $body) = @$row;
    my $name = "$method " . (SvcTest::encode($body) // '');

    $r = ask($method => "/Users/$id", $body);
    ok($r->status == 200 || $r->status == 204, $name) or diag($r->body);
    event_is($r, $id, $action, $name);
}

$r = ask(POST => '/Users', { userName => 'late@acme.test',
                             active => false });
scim_ok($r, 201, 'create, not active');
event_is($r, $r->json->{id}, 'user.created', 'create, not active');


# --- no change, no event ----------------------------------------------------

my $none = '00000000-0000-4000-8000-000000000000';

ask(PUT => "/Users/$id", { displayName => 'D', title => 'T' });
is(scalar events(), 1, 'one change');

for my $row (
    [ 200, GET    => '/ServiceProviderConfig' ],
    [ 200, GET    => '/Users' ],
    [ 200, GET    => "/Users/$id" ],
    [ 200, PUT    => "/Users/$id", { displayName => 'D', title => 'T' } ],
    [ 200, PUT    => "/Users/$id", { displayName => 'D', title => 'T',
                                     active => true } ],
    [ 200, PATCH  => "/Users/$id", operation({ displayName => 'D' }) ],
    [ 200, PATCH  => "/Users/$id", operation({ active => 'True' }) ],
    [ 200, PATCH  => "/Users/$id", operation({ nickName => 'N' }) ],
    [ 200, PATCH  => "/Users/$id", operation({ userName => 'x@y' }) ],
    [ 400, PATCH  => "/Users/$id", patch_op() ],
    [ 400, POST   => '/Users', {} ],
    [ 400, POST   => '/Users', '{' ],
    [ 409, POST   => '/Users', { userName => 'ada@acme.test' } ],
    [ 400, PATCH  => "/Users/$id", operation({ active => 'maybe' }) ],
    [ 404, PATCH  => "/Users/$none", operation({ active => false }) ],
    [ 404, PUT    => "/Users/$none", { active => false } ],
    [ 404, DELETE => "/Users/$none" ],
    [ 405, POST   => "/Users/$id", {} ],
    [ 404, GET    => '/Groups' ])
{
    my ($status, $method, $path, $body) = @$row;

    is(ask($method => $path, $body)->status, $status, "$method $path");
    is(scalar events(), 0, 'no event');
}

is(ask(DELETE => "/Users/$id")->status, 204, 'DELETE');
is(scalar events(), 1, 'an event');
is(ask(DELETE => "/Users/$id")->status, 204, 'DELETE again');
is(ask(PATCH => "/Users/$id", operation({ active => false }))->status, 200,
   'deactivate again');
is(scalar events(), 0, 'no event');

ask(PATCH => "/Users/$id", operation({ externalId => 'kept' }));
ask(POST => '/Users', { userName => 'other@acme.test',
                        externalId => 'other' });
events();
is(ask(PATCH => "/Users/$id", operation({ externalId => 'other',
                                          title => 'x' }))->status, 409,
   'a change that conflicts');
is(scalar events(), 0, 'no event');

is($s->http(DELETE => "/scim/v2/Users/$id")->status, 401, 'no token');
is(scalar events(), 0, 'no event');


# --- the actor and the address ----------------------------------------------

$r = $s->http(POST => '/scim/v2/Users',
              [ Authorization => "Bearer $second->{token}" ],
              { userName => 'who@acme.test' });

my ($event) = events();
is_deeply([ @$event{qw(actor_id actor_name user_agent ip)} ],
          [ $second->{id}, 'second directory', undef, '127.0.0.1' ],
          'another token, and no User-Agent');

my $n = 0;
my %request_id;

for my $row (
    [ 'empty',            '', undef ],
    [ 'latin-1',          "caf\xe9", undef ],
    [ 'cut UTF-8',        "caf\xc3", undef ],
    [ 'no UTF-8',         "\xff\xfe\x80", undef ],
    [ 'UTF-8',            "caf\xc3\xa9", undef ],
    [ 'quotes',           q{x'); DROP TABLE svc.session; --"\\},
                          q{x'); DROP TABLE svc.session; --"\\} ],
    [ '6 kB',             'u' x 6000, undef ],
    [ '6 kB of UTF-8',    "\xc3\xa9" x 3000, undef ])
{
    my ($name, $agent, $expected) = @$row;

    $n++;
    $r = ask(POST => '/Users', { userName => "ua$n\@acme.test" },
             'User-Agent' => $agent);

    scim_ok($r, 201, "User-Agent: $name");

    my @one = events();
    is(scalar @one, 1, 'audited');

    my $agent_is = $one[0]{user_agent};

    is($agent_is, $expected, 'as it is') if defined $expected;
    is($agent_is, undef, 'as none') if $agent eq '';
    ok(utf8::decode(my $copy = $agent_is // ''), 'valid UTF-8');
    cmp_ok(length($agent_is // ''), '<=', 1024, 'and bounded');

    $request_id{ $one[0]{request_id} }++;
}

is(scalar keys %request_id, $n, 'every request has an id of its own');

$r = ask(PATCH => "/Users/$id", operation({ title => 'forged' }),
         'X-Request-Id' => 'f' x 32, 'X-Forwarded-For' => '198.51.100.1');
($event) = events();
is_deeply([ $r->header('x-request-id'), @$event{qw(request_id ip)} ],
          [ ($r->header('x-id')) x 2, '127.0.0.9' ],
          'what a client says of id and address is not believed');

$r = $acme->admin(PATCH => '/tenant', { name => 'Acme Two' }, [ 'X-Request-Id' => 'f' x 32 ]);
($event) = events();
is_deeply([ $event->{action}, $event->{request_id} ],
          [ 'tenant.updated', $r->header('x-request-id') ], 'so it is with the admin API');


# --- the same transaction ---------------------------------------------------

# A change whose event cannot be written is not made.

$s->sql('REVOKE INSERT ON svc.audit_event FROM svc_app');

my $before = $acme->stored;

for my $row ([ POST => '/Users', { userName => 'lost@acme.test' } ],
             [ PATCH => "/Users/$id", operation({ active => true,
                                                  title => 'lost' }) ],
             [ PUT => "/Users/$id", { title => 'lost' } ])
{
    scim_error(ask(@$row), 500, undef, "$row->[0] without its audit event");
}

is($acme->stored, $before, 'nothing was stored');
$s->sql('GRANT INSERT ON svc.audit_event TO svc_app');
scim_ok(ask(POST => '/Users', { userName => 'found@acme.test' }), 201,
        'and it works again');
events();


# --- deactivation ends sessions ---------------------------------------------

my %user = map { $_ => $acme->create(userName => "$_\@sessions.test")->{id} }
           qw(put patch delete stay);

sub log_in {
    for my $name (keys %user) {
        $s->sql(session_of($user{$name})) for 1 .. 3;
    }
}

sub live {
    my ($name) = @_;

    return live_sessions($s, $user{$name});
}

log_in();
$s->sql("UPDATE svc.session SET ended_at = '2026-01-01T00:00:00Z' WHERE id ="
        . ' (SELECT id FROM svc.session WHERE user_id = '
        . "'$user{put}' LIMIT 1)");

is(ask(PATCH => "/Users/$user{patch}", operation({ title => 'T' }))->status,
   200, 'a change that is no deactivation');
is(live('patch'), 3, 'leaves the sessions');

is(ask(PUT => "/Users/$user{put}", { active => false })->status, 200, 'PUT');
is(ask(PATCH => "/Users/$user{patch}", operation({ active => 'False' }))
   ->status, 200, 'PATCH');
is(ask(DELETE => "/Users/$user{delete}")->status, 204, 'DELETE');

is(live($_), 0, "$_ ends them all") for qw(put patch delete);
is(live('stay'), 3, 'those of another user go on');
is($s->sql('SELECT count(*) FROM svc.session WHERE ended_at ='
           . " '2026-01-01T00:00:00Z'"), 1,
   'one that had ended keeps its time');

is(ask(PATCH => "/Users/$user{patch}", operation({ active => true }))
   ->status, 200, 'reactivated');
is(live('patch'), 0, 'they do not come back');

log_in();
is(live('patch'), 3, 'and signs in again');
is(ask(DELETE => "/Users/$user{patch}")->status, 204, 'deactivated');
is(ask(DELETE => "/Users/$user{patch}")->status, 204, 'and again');
is(live('patch'), 0, 'nobody is left in');

$s->done;
done_testing();
