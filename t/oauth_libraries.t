#!/usr/bin/perl

# Runs libraries of others for Python and Ruby, none of them changed: users sign in by
# social-auth-core, requests-oauthlib, Authlib and omniauth_openid_connect.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Clients qw(clients_server play);
use SvcTest::Skip;

needs(program => 'ruby', python => 'authlib jose requests requests_oauthlib social_core',
      ruby => 'omniauth_openid_connect');

my $s = clients_server()->start;

# By default all of them send no challenge.

my %WEB = (redirect => 'https://app.acme.test/auth/openid_connect/callback',
           requirePkce => JSON::PP::false);

is(play($s, [ $s->root . '/t/lib/oauth_clients_python' ],
        { map { $_ => \%WEB } qw(social-auth-core requests-oauthlib authlib) }), 3,
   'Python: all was tried');
is(play($s, [ $s->root . '/t/lib/oauth_clients_ruby' ],
        { omniauth => \%WEB }), 1,
   'Ruby: all was tried');

$s->done;
done_testing;
