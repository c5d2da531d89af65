#!/usr/bin/perl

# Runs sites with libraries of others for Node.js, none of them changed, where a user
# signs in: openid-client 4, 5 and 6, passport-openidconnect, express-openid-connect,
# next-auth 4 and @auth/core. Does what lua-resty-openidc does, too.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Clients qw(clients_server play);
use SvcTest::Npm;

my $s = clients_server()->start;
my $npm = npm_install($s->root, 't/npm/clients', 'build/npm-clients');

# The table of ngx_svc_admin/oauth/clients.md has what an application needs.

my @NO_PKCE = (requirePkce => JSON::PP::false);
my @CLAIMS = (idTokenClaims => [ qw(email profile) ]);

is(play($s, [ 'node', "$npm/servers.mjs" ], {
    'openid-client4' => { path => '/cb' },
    'openid-client5' => { path => '/cb' },
    'openid-client6' => { path => '/cb' },
    passport => { path => '/cb', @NO_PKCE, @CLAIMS },
    express => { path => '/callback', goodbye => '', @CLAIMS },
    expressPar => { path => '/callback', goodbye => '', @CLAIMS,
                    requirePar => JSON::PP::true },
    next => { path => '/api/auth/callback/svc', @CLAIMS },
    core => { path => '/auth/callback/svc', @CLAIMS },
    'lua-resty-openidc' => { path => '/redirect_uri', @NO_PKCE },
}), 25, 'all was tried');

$s->done;
done_testing;
