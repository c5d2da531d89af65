#!/usr/bin/perl

# Shows that /oauth/userinfo with DPoP is fair: all made-up keys together have one
# place in the queue of writes, and a token of ours with its key has another one: a
# JWT, or an opaque one that the worker has seen before.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use MIME::Base64 qw(decode_base64url encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Grants qw(code redeem $REDIRECT $VERIFIER);
use SvcTest::Lines;
use SvcTest::Metrics;
use SvcTest::OAuth qw(oauth_server application form);
use SvcTest::Process qw(wait_for);
use SvcTest::Skip;

needs(python => 'cryptography');

my $N = 8;
my $s = oauth_server(
    workers => 1,
    locations => $SvcTest::Metrics::LOCATION,
    svc => { svc_postgres_pool => [ 'read connections=2 depth=16',
                                    'write connections=2 depth=1',
                                    'slow connections=1 depth=1' ],
             svc_postgres_timeout => '20s', svc_postgres_queue_timeout => '15s' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $base = 'http://127.0.0.1:' . $s->port;
my $PATH = '/oauth/userinfo';
my %WEB = (type => 'web', redirectUris => [ $REDIRECT ], scopes => [ 'openid' ]);
my $web = application($acme, %WEB);
my $opaque = application($globex, %WEB, accessTokenFormat => 'opaque');
my $ada = $acme->create(userName => 'ada@acme.test');
my $eve = $globex->create(userName => 'eve@globex.test');
my $client = SvcTest::Lines->new($s->root . '/t/lib/dpop');
my $operator = $s->connect_as('postgres');

# A lock of the test's holds up reads of one tenant's tokens.

$s->sql(<<'EOS');
CREATE POLICY held ON svc.oauth_token AS RESTRICTIVE FOR SELECT TO svc_app
    USING ((SELECT pg_advisory_xact_lock_shared(
                hashtext(current_setting('svc.tenant', true))) IS NOT NULL))
EOS

sub proof {
    my ($path, $key, %claims) = @_;

    return $client->ask({ key => $key, header => {}, settings => {},
                          claims => { htu => "$base$path", %claims } })->{proof};
}


sub shown {
    my ($token, $key) = @_;

    return [ Authorization => "DPoP $token", Connection => 'close',
             DPoP => proof($PATH, $key, htm => 'GET', ath => encode_base64url(sha256($token))) ];
}


sub gauge {
    return SvcTest::Metrics->get($s)->value('svc_postgres_requests', process => 'worker',
                                            pool => 'write', state => $_[0]);
}


my $token = form($s, token => { grant_type => 'authorization_code',
                                code => code($acme, $web, $ada)->{code},
                                code_verifier => $VERIFIER, redirect_uri => $REDIRECT },
                 client => $web, headers => [ DPoP => proof('/oauth/token', 'hers') ])
            ->json->{access_token};
my $theirs = redeem($s, $opaque, code($globex, $opaque, $eve))->json->{access_token};

# The opaque token is of another tenant, which nobody holds up.

my $tenant = $s->tenant('initech');
my $bound = application($tenant, %WEB, accessTokenFormat => 'opaque');
my $joe = $tenant->create(userName => 'joe@initech.test');

sub opaque {
    my $token = form($s, token => { grant_type => 'authorization_code',
                                    code => code($tenant, $bound, $joe)->{code},
                                    code_verifier => $VERIFIER, redirect_uri => $REDIRECT },
                     client => $bound, headers => [ DPoP => proof('/oauth/token', 'his') ])
                ->json->{access_token};

    $s->secret($token);

    return $token;
}

my ($his, $new, $ended) = map { opaque() } 1 .. 3;

for ($his, $ended) {
    is($s->http(GET => $PATH, shown($_, 'his'))->status, 200, 'an opaque one, with its key');
}

form($s, revoke => { token => $ended }, client => $bound);
is($s->http(GET => $PATH, shown($ended, 'his'))->status, 401, 'one has ended');

$s->secret($token);
is($s->http(GET => $PATH, shown($token, 'hers'))->status, 200, 'a token of ours, with its key');

# Requests with a token that is none, each with another key, and then with the good
# token.

my $none = 'sat_' . encode_base64url(substr(decode_base64url(substr $theirs, 4), 0, 32)
                                     . 'x' x 32);

$operator->query("SELECT pg_advisory_lock(hashtext('$globex->{id}'))");

my @c = map { $s->begin(GET => $PATH, shown($none, "made up $_")) } 1 .. $N;

ok((wait_for { $s->waiting == 1 && gauge('waiting') == $N - 1 }),
   "of $N made-up keys one is looked at, and the others wait") or diag($s->waiting);
is($s->http(GET => $PATH, shown($token, 'hers'))->status, 200, 'who shows hers does not');
is(gauge('waiting'), $N - 1, 'all of them still wait');

push @c, map { $s->begin(GET => $PATH, shown($token, "made up $_")) } 1 .. $N;

ok((wait_for { gauge('waiting') == 2 * $N - 1 }),
   'a good token with another key is one of them');
is($s->waiting, 1, 'and not looked at either');
is($s->http(GET => $PATH, shown($token, 'hers'))->status, 200, 'nor in her way');

# Opaque tokens that have been good are not held up.

is($s->http(GET => $PATH, shown($his, 'his'))->status, 200, 'nor in that of an opaque one');

push @c, map { $s->begin(GET => $PATH, @$_) }
         [ shown($new, 'his') ], [ shown($ended, 'his') ], [ shown($his, 'made up') ];

ok((wait_for { gauge('waiting') == 2 * $N + 2 }),
   'one that was not seen before, one that has ended, one with another key: they wait');
is($s->http(GET => $PATH, shown($his, 'his'))->status, 200, 'the good one does not');

# A token that we have not signed is not looked up.

my ($head, $payload) = split /\./, $token;
my $forged = "$head.$payload." . 'A' x 86;

is($s->http(GET => $PATH, shown($forged, 'hers'))->status, 401, 'a forged one is refused');
is(gauge('waiting'), 2 * $N + 2, 'and takes no place');

$operator->query("SELECT pg_advisory_unlock(hashtext('$globex->{id}'))");
is_deeply([ map { $_->read->status } @c ], [ (401) x (2 * $N), 200, 401, 401 ],
          'each gets its answer');

$client->end;
$s->done;
done_testing();
