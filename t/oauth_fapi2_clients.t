#!/usr/bin/perl

# Runs clients of others as FAPI 2.0 wants them, none of them changed: users sign in
# to oauth4webapi and openid-client.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Npm;
use SvcTest::OAuth qw(oauth_server application);
use SvcTest::Party qw(party visit);

my $s = oauth_server(svc => { svc_login_url => '/signin/' }, locations => <<'EOC')->start;
        location /.well-known/openid-configuration {
            svc_oauth_metadata on;
        }
        location /.well-known/oauth-authorization-server {
            svc_oauth_metadata on;
        }
EOC

my $acme = $s->tenant('acme');
my $email = 'ada@acme.test';
my $redirect = 'https://bank.test/cb';

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => $email);
my $b = SvcTest::Browser->new($s, tenant => 'acme');

my $n = party([ 'node', npm_install($s->root) . '/fapi2.mjs' ],
              { issuer => $s->base_url . '/oauth/t/acme', redirect => $redirect,
                email => $email, sub => $ada->{id} },
              register => sub {
                  return application($acme, type => 'web', redirectUris => [ $redirect ],
                                     scopes => [ qw(openid email) ], jwks => $_[0],
                                     securityProfile => 'fapi2')->{clientId};
              },
              visit => sub {
                  my $to = visit($b, $_[0], $email);

                  $s->secret($1) if $to =~ /[?&]code=([\w-]+)/;

                  return $to;
              });

cmp_ok($n, '>=', 21, 'all was tried');

$s->done;
done_testing;
