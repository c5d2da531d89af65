#!/usr/bin/perl

# Nothing happens without exactly one live SCIM token.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Test::More;

use SvcTest;
use SvcTest::Process qw(wait_for);
use SvcTest::Scim;


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $user = $acme->create(userName => 'ada@acme.test', externalId => 'x');
my @workers = $s->workers;

my $token = $acme->{scim_token};
my $revoked = $acme->token(revoked => 'now()')->{token};
my $expired = $acme->token(expires => "now() - interval '1 s'")->{token};
my $unknown = 'scim_' . 'A' x 43;
my $other = $globex->{scim_token};

my @routes = (
    [ GET => '/ServiceProviderConfig' ],
    [ GET => '/Users' ],
    [ GET => '/Users?filter=userName%20eq%20%22ada%40acme.test%22' ],
    [ GET => "/Users/$user->{id}" ],
    [ POST => '/Users', { userName => 'new@acme.test' } ],
    [ PUT => "/Users/$user->{id}", { active => false } ],
    [ PATCH => "/Users/$user->{id}",
      patch_op({ op => 'replace', path => 'active', value => false }) ],
    [ DELETE => "/Users/$user->{id}" ],
);

my @refused = (
    [ 'no Authorization',            [] ],
    [ 'an empty one',                [ Authorization => '' ] ],
    [ 'white space',                 [ Authorization => '  ' ] ],
    [ 'Bearer alone',                [ Authorization => 'Bearer' ] ],
    [ 'Bearer and a space',          [ Authorization => 'Bearer ' ] ],
    [ 'the token alone',             [ Authorization => $token ] ],
    [ 'Basic',                       [ Authorization => 'Basic YTpi' ] ],
    [ 'Basic with the token',        [ Authorization => "Basic $token" ] ],
    [ 'Token',                       [ Authorization => "Token $token" ] ],
    [ 'BearerX',                     [ Authorization => "BearerX $token" ] ],
    [ 'Bearer without a space',      [ Authorization => "Bearer$token" ] ],
    [ 'Bearer:',                     [ Authorization => "Bearer: $token" ] ],
    [ 'an unknown token',            [ Authorization => "Bearer $unknown" ] ],
    [ 'a revoked token',             [ Authorization => "Bearer $revoked" ] ],
    [ 'an expired token',            [ Authorization => "Bearer $expired" ] ],
    [ 'an API token',
      [ Authorization => "Bearer $acme->{api_token}" ] ],
    [ 'the token cut by one',
      [ Authorization => 'Bearer ' . substr $token, 0, -1 ] ],
    [ 'the token and one more',      [ Authorization => "Bearer ${token}A" ] ],
    [ 'the token in upper case',     [ Authorization => 'Bearer '
                                                       . uc $token ] ],
    [ 'its prefix',
      [ Authorization => 'Bearer ' . substr $token, 0, 9 ] ],
    [ 'its digest',
      [ Authorization => 'Bearer ' . sha256_hex($token) ] ],
    [ 'its id',                      [ Authorization => "Bearer "
                                                       . $acme->{scim_id} ] ],
    [ 'quoted',                      [ Authorization => "Bearer \"$token\"" ] ],
    [ 'two words',                   [ Authorization => "Bearer $token x" ] ],
    [ 'two tokens',                  [ Authorization => "Bearer $token "
                                                       . $token ] ],
    [ 'a list',                      [ Authorization => "Bearer $token, "
                                                       . "Bearer $other" ] ],
    [ 'a quote',                     [ Authorization => "Bearer ' OR 1=1--" ] ],
    [ 'bytes that are no UTF-8',     [ Authorization => "Bearer \xff\xfe" ] ],
    [ 'a token of 5 kB',             [ Authorization => 'Bearer '
                                                       . 'A' x 5000 ] ],
    [ 'another header',              [ 'X-Authorization' => "Bearer $token" ] ],
    [ 'Proxy-Authorization',
      [ 'Proxy-Authorization' => "Bearer $token" ] ],
    [ 'a cookie',                    [ Cookie => "svc_session=$token" ] ],
);

my $before = $acme->stored;

for my $route (@routes) {
    my ($method, $path, $body) = @$route;

    for my $case (@refused) {
        my ($name, $headers) = @$case;

        scim_error($s->http($method, "/scim/v2$path", $headers, $body), 401,
                   undef, "$method $path: $name");
    }
}


# more than one token is never accepted, whichever of them is valid

for my $pair ([ $token, $token ], [ $token, $unknown ], [ $unknown, $token ],
              [ $token, $other ], [ $other, $token ])
{
    for my $route (@routes) {
        my ($method, $path, $body) = @$route;
        my $r = $s->http($method, "/scim/v2$path",
                         [ map { (Authorization => "Bearer $_") } @$pair ],
                         $body);
        my $status = $r->status == 400 ? 400 : 401;

        scim_error($r, $status, undef,
                   "$method $path: two Authorization headers");
    }
}

for my $first ('', 'Basic YTpi', 'Bearer') {
    for my $headers ([ Authorization => $first,
                       Authorization => "Bearer $token" ],
                     [ Authorization => "Bearer $token",
                       authorization => $first ])
    {
        my $r = $s->http(GET => '/scim/v2/Users', $headers);

        scim_error($r, $r->status == 400 ? 400 : 401, undef,
                   "two Authorization headers, one of them '$first'");
    }
}


# a token of 100 kB: longer than nginx takes

my $r = $s->http(GET => '/scim/v2/Users',
                 [ Authorization => 'Bearer ' . 'A' x 102400 ]);
scim_error($r, $r->status == 401 ? 401 : 400, undef, 'a token of 100 kB');


# a token in the query does not count

for my $name (qw(access_token token authorization)) {
    scim_error($s->http(GET => "/scim/v2/Users?$name=$token"), 401, undef,
               "$name in the query");
}

is($acme->stored, $before, 'nothing was stored by any of these');
is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(scalar $s->pg->errors, 0, 'and PostgreSQL logged no error')
    or diag($s->pg->errors);


# 401 comes before what is wrong with the rest of the request

for my $headers ([], [ Authorization => "Bearer $unknown" ]) {
    my $what = @$headers ? 'an unknown token' : 'no token';
    my $none = '/scim/v2/Users/00000000-0000-4000-8000-000000000000';

    scim_error($s->http(POST => '/scim/v2/Users', $headers, 'no JSON'), 401,
               undef, "$what and no JSON");
    scim_error($s->http(POST => '/scim/v2/Users', $headers, {}), 401, undef,
               "$what and no userName");
    scim_error($s->http(GET => $none, $headers), 401, undef,
               "$what and an unknown id");
    scim_error($s->http(GET => '/scim/v2/Users/x', $headers), 401, undef,
               "$what and a malformed id");
    scim_error($s->http(GET => '/scim/v2/Users?count=x', $headers), 401,
               undef, "$what and a bad count");
    scim_error($s->http(POST => '/scim/v2/Users', $headers, 'x' x 1048577),
               401, undef, "$what and a body that is too large");
}


# --- what is accepted -------------------------------------------------------

for my $scheme (qw(Bearer bearer BEARER bEaReR)) {
    scim_ok($s->http(GET => '/scim/v2/Users',
                     [ Authorization => "$scheme $token" ]),
            200, "the scheme $scheme");
}

scim_ok($s->http(GET => '/scim/v2/Users', [ authorization => "Bearer $token",
                                            Cookie => 'svc_session=x' ]),
        200, 'a cookie does not matter');
scim_ok($s->http(GET => "/scim/v2/Users?access_token=$unknown",
                 [ Authorization => "Bearer $token" ]),
        200, 'a token in the query does not matter');


# --- several tokens; revocation and expiry ----------------------------------

my $second = $acme->token(name => 'second');
my $c = $s->connection;

sub status_with {
    my ($text) = @_;

    my $answer = $c->request(GET => '/scim/v2/Users',
                             [ Authorization => "Bearer $text" ]);

    return $answer ? $answer->status : $c->error;
}

is(status_with($token), 200, 'the first token');
is(status_with($second->{token}), 200, 'the second token');

for (1 .. 5) {
    $s->sql("UPDATE svc.credential SET revoked_at = now()"
            . " WHERE id = '$second->{id}'");
    is(status_with($second->{token}), 401,
       'revoked: refused by the next request, on the same connection');
    is(status_with($token), 200, 'the other one goes on');
    $s->sql("UPDATE svc.credential SET revoked_at = NULL"
            . " WHERE id = '$second->{id}'");
    is(status_with($second->{token}), 200, 'and back');
}

is($acme->create(userName => 'kept@acme.test')->{userName}, 'kept@acme.test',
   'the tenant is the same with every token');
is($s->http(GET => '/scim/v2/Users',
            [ Authorization => "Bearer $second->{token}" ])->body,
   $s->http(GET => '/scim/v2/Users',
            [ Authorization => "Bearer $token" ])->body,
   'the same users with every token');

my $brief = $acme->token(expires => "now() + interval '1 s'");
is(status_with($brief->{token}), 200, 'a token that expires soon');
ok((wait_for { status_with($brief->{token}) == 401 }),
   'is refused once it has');

$s->sql("DELETE FROM svc.credential WHERE id = '$second->{id}'");
is(status_with($second->{token}), 401, 'a token that was deleted');

my $bare = $acme->token(name => 'no permission');
$s->sql("UPDATE svc.credential SET permissions = '{}'"
        . " WHERE id = '$bare->{id}'");
$before = $acme->stored;

for my $route (@routes) {
    my ($method, $path, $body) = @$route;
    my $answer = $s->http($method, "/scim/v2$path",
                          [ Authorization => "Bearer $bare->{token}" ], $body);

    scim_error($answer, $answer->status == 401 ? 401 : 403, undef,
               "$method $path: a token without the permission");
}

is($acme->stored, $before, 'does nothing');


# --- lastUsedAt -------------------------------------------------------------

my $used = $acme->token(name => 'used');

sub last_used {
    my ($of) = (@_, $used);

    return $s->sql('SELECT last_used_at FROM svc.credential'
                   . " WHERE id = '$of->{id}'");
}

sub row_version {
    return $s->sql('SELECT xmin FROM svc.credential'
                   . " WHERE id = '$used->{id}'");
}

is(last_used(), undef, 'a new token was never used');
is(status_with($used->{token}), 200, 'its first use');
ok((wait_for { last_used() }), 'is noted');
is($s->sql("SELECT now() - last_used_at BETWEEN interval '-1 s' AND"
           . " interval '30 s' FROM svc.credential WHERE id = '$used->{id}'"),
   't', 'with the time');

my $version = row_version();

is(status_with($used->{token}), 200, "use $_") for 1 .. 30;

# the first use of another token is written after these uses would have been

my $mark = $acme->token(name => 'mark');
is(status_with($mark->{token}), 200, 'use of another token');
ok((wait_for { last_used($mark) }), 'is noted');
is(row_version(), $version, 'uses within a minute are not');

$s->sql("UPDATE svc.credential SET last_used_at = now() - interval '61 s'"
        . " WHERE id = '$used->{id}'");
my $old = last_used();

is(status_with($used->{token}), 200, 'a use after a minute');
ok((wait_for { last_used() ne $old }), 'is noted again');

$s->sql("UPDATE svc.credential SET revoked_at = now(),"
        . " last_used_at = now() - interval '1 h' WHERE id = '$used->{id}'");
$old = last_used();
is(status_with($used->{token}), 401, 'a use after revocation');

$mark = $acme->token(name => 'mark 2');
is(status_with($mark->{token}), 200, 'use of another token');
ok((wait_for { last_used($mark) }), 'is noted');
is(last_used(), $old, 'a refused use is not');

# nginx itself logs a repeated header, at the level info

$s->done(shown => [ qr/ \[info\] .* client sent duplicate header line: / ]);
done_testing();
