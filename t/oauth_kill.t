#!/usr/bin/perl

# Shows that a kill switch, a disabled application and a revocation end tokens at
# once, while two nodes are asked as fast as they answer: none of the tokens is active
# in an answer to a request that began after the answer to that end.

use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Crowd;
use SvcTest::OAuth qw(oauth_server application form basic exchange);
use SvcTest::Process qw(repeated);

my $N = repeated(SVC_TEST_INTROSPECTIONS => 6_000, 100_000);
my $ROUNDS = 10;
my @FORMATS = qw(jwt opaque);
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());

# Connections are kept to the end, and a request may wait long.

my %node = (http => 'keepalive_requests 1000000;',
            svc => { svc_postgres_timeout => '60s', svc_postgres_queue_timeout => '60s' });
my $s = oauth_server(%node)->start;
my $acme = $s->tenant('acme');
my $node = $s->node(%node, locations => $s->{nginx}{locations},
                    svc => { %{ $node{svc} }, svc_sign_in => 'on',
                             svc_base_url => $s->base_url });
my @ports = ($s->port, $node->{port});

my $rs = application($acme, name => 'RS');
my ($from, $to) = map {
    application($acme, name => $_, type => 'agent', resourceUri => "https://$_.test/",
                scopes => [ 'a' ], accessTokenFormat => $_ eq 'from' ? 'jwt' : 'opaque')
} qw(from to);


sub change {
    my ($method, $path, $body) = @_;

    return ($method => "/v1/$path", [ Authorization => "Bearer $acme->{apps_token}",
                                      Connection => 'close' ], $body);
}

sub change_app {
    my ($app, $body) = @_;

    return change(PATCH => "applications/$app->{clientId}", $body);
}

sub token_of {
    my ($r) = @_;

    $r->status == 200 or die $r->body;
    $s->secret($r->json->{access_token}) if $r->json->{access_token} =~ /\Asat_/;

    return $r->json->{access_token};
}

sub token {
    my ($client, %fields) = @_;

    return token_of(form($s, token => { grant_type => 'client_credentials', %fields },
                         client => $client));
}


# Returns a token of each format.

sub tokens {
    my ($app) = @_;

    return map {
        $s->http(change_app($app, { accessTokenFormat => $_ }))->status == 200 or die;
        token($app);
    } @FORMATS;
}


# Returns a token with the request for it at each node, by a client that may
# introspect it. Answers are counted by node, by whether it was active, and by time:
# before the request that ends it was sent, after that was answered, or meanwhile.

sub asked {
    my ($token, $caller) = @_;
    my $body = "token=$token";

    return { when => 'before', bytes => [ map {
        "POST /oauth/introspect HTTP/1.1\r\nHost: 127.0.0.1:$_\r\nAuthorization: "
        . basic($caller // $rs) . "\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        . 'Content-Length: ' . length($body) . "\r\n\r\n$body" } @ports ] };
}


# --- what ends in a round ----------------------------------------------------------

# Each round has three of these: the request that ends the tokens, the one that might
# revive them once the others have ended, and the tokens.

sub agent {
    my $agent = application($acme, name => 'Agent', type => 'agent');
    my @switch = map {
        [ change(PUT => "admin/agents/$agent->{clientId}/policy", { enabled => $_ }) ]
    } $FALSE, $TRUE;

    return { what => 'kill', end => $switch[0], again => $switch[1],
             tokens => [ map { asked($_) } tokens($agent) ] };
}

sub app {
    my $app = application($acme, name => 'App');
    my @switch = map { [ change_app($app, { enabled => $_ }) ] } $FALSE, $TRUE;

    return { what => 'disable', end => $switch[0], again => $switch[1],
             tokens => [ map { asked($_) } tokens($app) ] };
}

sub tree {
    my ($format) = @_;

    my $app = application($acme, name => 'Source', scopes => [ 'a' ],
                          accessTokenFormat => $format);
    my $root = token($app, resource => 'https://from.test/', scope => 'a');
    my $child = token_of(exchange($s, $from, $root, resource => 'https://to.test/'));
    my $last = token_of(exchange($s, $to, $child));

    return { what => 'revoke',
             end => [ POST => '/oauth/revoke',
                      [ Authorization => basic($app), Connection => 'close',
                        'Content-Type' => 'application/x-www-form-urlencoded' ],
                      "token=$root" ],
             tokens => [ asked($root, $from), asked($child, $to), asked($last, $to) ] };
}

my $control = asked(token(application($acme, name => 'Control')));
my @rounds = map { [ agent(), app(), tree($FORMATS[$_ % 2]) ] } 1 .. $ROUNDS;


# --- the load ----------------------------------------------------------------------

# A quarter of a round passes before, between and after its three ends. Requests are
# for the tokens of the round, one that has ended before, and one that does not end.

my ($sent, $answered, $done, $odd) = (0, 0, 0, 0);
my (@queue, @ended, @ends, @again, $crowd);

sub next_request {
    my ($at) = @_;

    return if $sent >= $N;

    @queue = ((map { @{ $_->{tokens} } } @{ $rounds[ $sent * $ROUNDS / $N ] }), $control,
              @ended ? $ended[ rand @ended ] : ()) if !@queue;

    my $token = shift @queue;

    end_one() if $sent++ > ($done + 1 + int($done / 3)) * $N / $ROUNDS / 4;

    return ($token->{bytes}[$at], [ $token, $token->{when} ]);
}

# The requests that end tokens go to the nodes in turn.

sub end_one {
    my $one = $rounds[ $done / 3 ][ $done % 3 ];
    my $at = $done++ % 2;

    $_->{when} = 'meanwhile' for @{ $one->{tokens} };
    $crowd->beside($s->begin(@{ $one->{end} }, port => $ports[$at]), sub {
        push @ends, $_[0]->status;
        $_->{when} = 'after' for @{ $one->{tokens} };
        push @ended, @{ $one->{tokens} };
        again($at) if @ends % 3 == 0;
    });
}

sub again {
    my ($at) = @_;

    for my $one (grep { $_->{again} } @{ $rounds[ @ends / 3 - 1 ] }) {
        $crowd->beside($s->begin(@{ $one->{again} }, port => $ports[$at]),
                       sub { push @again, $_[0]->status });
    }
}

sub told {
    my ($at, $name, $status, $body) = @_;
    my ($token, $when) = @$name;

    my $active = index($body, '"active":true') >= 0;

    $odd++ if $status != 200 || !$active && $body ne '{"active":false}';
    $when = $token->{when} eq 'before' ? 'before' : 'meanwhile' if $when ne 'after';
    $token->{$when}[$at][$active ? 1 : 0]++;
    $answered++;
}

$crowd = SvcTest::Crowd->new(ports => \@ports, next => \&next_request, told => \&told);

my $began = time;
$crowd->run;
my $seconds = time - $began;

is($answered, $N, 'all of them are answered');
is($odd, 0, 'as introspections are');
is_deeply(\@ends, [ (200) x (3 * $ROUNDS) ], 'each was ended');
is_deeply(\@again, [ (200) x (2 * $ROUNDS) ], 'and what can be was enabled again');
note(sprintf '%d introspections in %.1f s', $answered, $seconds);


# --- the answers ---------------------------------------------------------------------

sub count {
    my ($tokens, $when, $at, $active) = @_;
    my $n = 0;

    $n += $_->{$when}[$at][$active] // 0 for @$tokens;

    return $n;
}

for my $what (qw(kill disable revoke)) {
    my @tokens = map { @{ $_->{tokens} } } grep { $_->{what} eq $what } map { @$_ } @rounds;

    for my $at (0, 1) {
        my %n = map {
            my $when = $_;
            $when => [ map { count(\@tokens, $when, $at, $_) } 1, 0 ];
        } qw(before meanwhile after);

        note("$what, node $at: ", join ', ', map {
            "$_ $n{$_}[0] active and $n{$_}[1] not" } qw(before meanwhile after));

        cmp_ok($n{before}[0], '>', 0, "$what, node $at: active before");
        is($n{before}[1], 0, "$what, node $at: all of them");
        cmp_ok($n{after}[1], '>', 0, "$what, node $at: asked after");
        is($n{after}[0], 0, "$what, node $at: none is active that began after the answer");
    }
}

for my $at (0, 1) {
    cmp_ok(count([ $control ], 'before', $at, 1), '>', 0, "node $at: another one was active");
    is(count([ $control ], 'before', $at, 0), 0, "node $at: always");
}

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
