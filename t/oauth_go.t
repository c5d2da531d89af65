#!/usr/bin/perl

# Runs a client with go-oidc and x/oauth2, neither of them changed: a user signs in.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Clients qw(clients_server play);
use SvcTest::Process qw(run);
use SvcTest::Skip;

needs(program => 'go', go => 'github.com/coreos/go-oidc golang.org/x/oauth2');

my $s = clients_server();
my ($status, $text) = run([ 'go', 'build', '-o', $s->dir . '/client',
                            $s->root . '/t/lib/go/client.go' ],
                          env => { GO111MODULE => 'off', GOPATH => '/usr/share/gocode',
                                   GOCACHE => $s->dir . '/go', CGO_ENABLED => 0 });

is($status, 0, 'compiles') or diag($text);

$s->start;

is(play($s, [ $s->dir . '/client' ],
        { 'go-oidc' => { path => '/cb', requirePkce => JSON::PP::false } }), 1,
   'all was tried');

$s->done;
done_testing;
