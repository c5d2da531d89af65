#!/usr/bin/perl

# Shows the keys that clients publish (jwksUri): when they are fetched, what is kept of
# them, and that a key that was taken away is good nowhere once that is known.

use strict;
use warnings;

use Test::More;

use SvcTest::OAuth qw(application form oauth_error);
use SvcTest::Process qw(slow wait_for);
use SvcTest::Published;


# --- configuration ----------------------------------------------------------------------

publish(acme => key('one'));

my $app = published($acme, 'acme');

is_deeply([ @$app{qw(jwks jwksUri clientSecret)} ], [ undef, url('acme'), undef ],
          'an application that publishes its keys');
like($app->{jwksStatus}{state}, qr/^(pending|ready)$/, 'the answer waits for nothing');

my $status = becomes($app, 'ready', 'the first fetch');

is_deeply([ sort keys %$status ], [ qw(error fetchedAt state) ], 'jwksStatus');
like($status->{fetchedAt}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'when that was');
is($status->{error}, undef, 'no error');
is(read_app($app)->{jwks}, undef, 'what was fetched is not answered');
is(asked('acme'), 1, 'it was asked for once');

my ($request) = $receiver->at('/file/acme');

is($request->{header}{accept}, 'application/jwk-set+json, application/json', 'Accept');
is(tokens($app, 'one'), '200 200', 'and is good on both nodes');
is(logins($app), 't', 'it is found by its keys alone');
is($s->sql("SELECT jwks_due_at - jwks_fetched_at FROM svc.application"
           . " WHERE client_id = '$app->{clientId}'"), '02:00:00', 'due as the server says');

my $read = read_app($app);

is_deeply(patched($app, %$read), $read, 'put back as it was read');
is(asked('acme'), 1, 'which fetches nothing');

for my $bad ([ 'both', { jwks => { keys => [ key('one') ] } }, qr/^"jwks", or "jwksUri" in its place/ ],
             [ 'none', { jwksUri => undef }, qr/^"jwks", or "jwksUri" in its place/ ],
             [ 'a secret', { tokenEndpointAuthMethod => 'client_secret_basic' },
               qr/^"jwks", or "jwksUri" in its place/ ],
             ( map { [ $_, { jwksUri => $_ }, qr/^"jwksUri" must / ] }
               'http://example.com/', 'https://127.0.0.2/', 'https://localhost/',
               'https://u@a.example/', 'ftp://a.example/', 'https://[::1]/', '', 'x' ),
             [ 'a number', { jwksUri => 1 }, qr/"jwksUri"/ ],
             [ 'long', { jwksUri => 'https://a.example/' . 'x' x 2048 }, qr/"jwksUri"/ ])
{
    my ($name, $body, $text) = @$bad;
    my $r = admin($acme, PATCH => "/$app->{clientId}", $body);

    is($r->status, 400, "refused: $name") or diag($r->body);
    like($r->json->{error}{message}, $text, 'says so');
}

is(admin($acme, POST => '', { name => 'x', type => $_->[0], jwksUri => url('acme'),
                              tokenEndpointAuthMethod => $_->[1] })->status, 400,
   "$_->[0] with $_->[1]")
    for [ web => 'client_secret_basic' ], [ spa => 'private_key_jwt' ], [ spa => 'none' ];


# --- rotation ---------------------------------------------------------------------------

publish(acme => key('two'), key('one'));
minute($app);

is(tokens($app, 'two'), '200 200', 'a kid that is unknown is fetched');
is(asked('acme'), 2, 'once');
is(tokens($app, 'one'), '200 200', 'the other one stays');

publish(acme => key('three'));
is(tokens($app, 'three'), '400 400', 'again in the same minute: nothing is fetched');
is(asked('acme'), 2, 'nothing was asked');
is(tokens($app, 'two'), '200 200', 'what is there is good');

minute($app);
is(tokens($app, 'nobody'), '400 400', 'a kid that nobody has');
is(asked('acme'), 3, 'is asked for once');
is(tokens($app, 'three'), '200 200', 'what came by it is good');
is(tokens($app, $_), '400 400', "$_ has left the set: it is good nowhere") for qw(one two);
is(asked('acme'), 3, 'and it asks for nothing');
is(logins($app), 't', 'one digest finds it');

{
    my $r = form($s, token => fields($app, key => 'one', header => { kid => 'three' }));

    oauth_error($r, 400, 'invalid_client', 'a signature of another key');
    minute($app);
    form($s, token => fields($app, key => 'one', header => { kid => 'three' }));
    is(asked('acme'), 3, 'fetches nothing');
}

# The sweep takes a key away that nobody asks for.

publish(acme => key('four'));
ago($app, due => '1 s', asked => '2 h');
ok((wait_for { asked('acme') == 4 } slow(20)), 'the sweep fetches what is due');
ok((wait_for { tokens($app, 'three') eq '400 400' }), 'and a key that is gone is gone');
is(tokens($app, 'four'), '200 200', 'its successor is good');
is($s->sql("SELECT details::text FROM svc.audit_event WHERE target_id = '$app->{clientId}'"
           . " AND action = 'application.updated'"), undef, 'no event tells of fetches');


# --- the server is away -----------------------------------------------------------------

unlink "$receiver->{dir}/acme";
ago($app, due => '1 s', asked => '2 h');

$status = becomes($app, 'failed', 'the server has no keys');
is($status->{error}, 'the answer was 404', 'says why');
like($status->{fetchedAt}, qr/^\d{4}-/, 'the old ones are told of');
is(tokens($app, 'four'), '200 200', 'they are good meanwhile');
is($s->sql("SELECT round(extract(epoch FROM jwks_due_at - jwks_asked_at)) FROM svc.application"
           . " WHERE client_id = '$app->{clientId}'"), 300, 'tried again in five minutes');

# Seven days pass.

ago($app, fetched => '7 d', asked => '1 s');
$s->sql("UPDATE svc.oauth_login SET retired_at = now() WHERE client_id = '$app->{clientId}'"
        . " AND kind = 'keys'");
is(tokens($app, 'four'), '400 400', 'they are good for seven days');

my $before = asked('acme');

minute($app);
is(tokens($app, 'four'), '400 400', 'the server is asked');
is(asked('acme'), $before + 1, 'once');
minute($app);
publish(acme => key('four'));
is(tokens($app, 'four'), '200 200', 'and when it is back, they are good at once');
becomes($app, 'ready', 'it is back');

# What a fetch may bring.

my %BAD = (
    html => [ '<html></html>', 'the answer is no JSON with an array of keys' ],
    list => [ '[]', 'the answer is no JSON with an array of keys' ],
    object => [ '{"keys": {}}', 'the answer is no JSON with an array of keys' ],
    empty => [ '{"keys": []}', 'the answer has no key that can be used' ],
    strange => [ '{"keys": [1, "x", null, {}, {"kid": "a"}, []]}',
                 'the answer has no key that can be used' ],
    long => [ '{"keys": [], "x": "' . 'x' x 262144 . '"}', 'the answer is longer than 256 KiB' ],
    many => [ $JSON->encode({ keys => [ ({}) x 101 ] }), 'the answer has more than 100 keys' ],
    unusable => [ $JSON->encode({ keys => [
        { %{ key('four') }, kid => 'x' x 65 }, { %{ key('four') }, kid => '' },
        { %{ key('four') }, kid => 1 }, { %{ key('four') }, use => 'enc', kid => 'a' },
        { %{ key('four') }, alg => 'ES384', kid => 'b' }, { %{ key('four') }, d => 'x', kid => 'c' },
        { kty => 'oct', k => 'x', kid => 'd' }, { %{ key('small', 'PS256', bits => 1024) } } ] }),
        'the answer has no key that can be used' ],
);

for my $name (sort keys %BAD) {
    my ($text, $why) = @{ $BAD{$name} };

    publish(acme => $text);
    minute($app);
    is(tokens($app, 'nobody'), '400 400', "$name: no keys");
    is(read_app($app)->{jwksStatus}{error}, $why, 'says why');
    is(tokens($app, 'four'), '200 200', 'the old ones are good');
}

# Whatever else is in a set, what can be used is.

publish(acme => $JSON->encode({ more => 1e300, keys => [
    1, { kty => 'oct', k => 'x', kid => 'five' }, { %{ key('five') }, x5c => [ 'x' ] },
    { %{ key('six') }, kid => 'five' }, key('rsa', 'PS256'), map { key("n$_") } 1 .. 60 ] }));
minute($app);
is(tokens($app, 'n60'), '200 200', 'of many keys the last one');
is(tokens($app, 'five'), '200 200', 'of two of one kid the first that can be used');
is(tokens($app, 'rsa', alg => $_), '200 200', $_) for qw(PS256 RS256);
is(tokens($app, 'six', header => { kid => 'five' }), '400 400', 'not the second');
unlike($s->sql("SELECT jwks::text FROM svc.application WHERE client_id = '$app->{clientId}'"),
       qr/x5c/, 'members that nothing needs are not kept');


# --- servers that are not let in --------------------------------------------------------

{
    my $other = published($acme, 'acme', jwksUri => $receiver->url('/file/acme', 'self'));
    my $told = becomes($other, 'failed', 'a certificate that nobody has signed');

    is($told->{error}, 'the certificate is self-signed', 'says why');
    is($told->{fetchedAt}, undef, 'there were none before');
    is(tokens($other, 'five'), '400 400', 'nothing is good');

    patched($other, jwksUri => 'https://no.such.host.example/');
    $told = becomes($other, 'failed', 'a name that leads nowhere');
    ok($told->{error}, 'says why');

    patched($other, jwksUri => $receiver->url("/redirect/$receiver->{port}{good}"));
    $told = becomes($other, 'failed', 'a redirect');
    is(scalar($receiver->at('/visited')), 0, 'is not followed');

    patched($other, jwksUri => url('acme'));
    becomes($other, 'ready', 'another URI');
    is(tokens($other, 'five'), '200 200', 'and all is well');
}


# --- changes ----------------------------------------------------------------------------

publish(second => key('second'));
patched($app, jwksUri => url('second'));
is(tokens($app, 'five'), '400 400', 'with another URI the old keys are good nowhere');
becomes($app, 'ready', 'the second one');
is(tokens($app, 'second'), '200 200', 'the new ones are');

is($s->sql("SELECT string_agg(details::text, ' ') FROM svc.audit_event"
           . " WHERE target_id = '$app->{clientId}' AND action = 'application.updated'"),
   '{"changed": ["jwksUri"]}', 'the audit log names it');

is(patched($app, jwksUri => undef, jwks => { keys => [ key('own') ] })->{jwksStatus}, undef,
   'keys of its own');
is(tokens($app, 'second'), '400 400', 'end those');
is(tokens($app, 'own'), '200 200', 'and are good');
is($s->sql("SELECT retired_at FROM svc.oauth_login WHERE client_id = '$app->{clientId}'"
           . " AND kind = 'keys'"), undef, 'for ever');
minute($app);
is(tokens($app, 'nobody'), '400 400', 'for those nothing is fetched');

patched($app, jwksUri => url('second'), jwks => undef);
is(tokens($app, 'own'), '400 400', 'back to what it publishes');
becomes($app, 'ready', 'the second one');
is(tokens($app, 'second'), '200 200', 'which is good');

patched($app, securityProfile => 'fapi2', type => 'm2m');
is(logins($app), 't', 'with a profile it is found by both');
ok($s->sql("SELECT retired_at BETWEEN now() + interval '6 d' AND now() + interval '8 d'"
           . " FROM svc.oauth_login WHERE client_id = '$app->{clientId}'"
           . " AND kind = 'keys'") eq 't', 'for seven days');
publish(second => key('bank', 'PS256'), { %{ key('only', 'RS256') }, alg => 'RS256' });
minute($app);

for my $alg (qw(RS256 PS256)) {
    my $text = form($s, token => fields($app, key => 'bank', alg => $alg))->json->{error};

    is($text, $alg eq 'RS256' ? 'invalid_client' : 'invalid_dpop_proof', "FAPI 2.0: $alg");
}

is(form($s, token => fields($app, key => 'only', alg => 'RS256'))->json->{error},
   'invalid_client', 'nor by a key for RS256');


# --- tenants apart ----------------------------------------------------------------------

{
    publish(theirs => key('theirs'));

    my $theirs = published($globex, 'theirs');

    ok((wait_for { admin($globex, GET => "/$theirs->{clientId}")
                       ->json->{jwksStatus}{state} eq 'ready' }), 'of another tenant');
    is(admin($acme, GET => "/$theirs->{clientId}")->status, 404, 'nobody else sees it');
    minute($theirs);

    my $n = asked('theirs');

    is(tokens($theirs, 'nobody'), '400 400', 'for the issuer of another tenant');
    is(asked('theirs'), $n, 'nothing is fetched');
}

$lines->end;
$s->done;
done_testing;
