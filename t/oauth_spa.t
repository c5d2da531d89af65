#!/usr/bin/perl

# Runs pages with libraries of others in a real browser, none of them changed, where
# users sign in at the server's own pages: oidc-client-ts, keycloak-js as a generic
# client, angular-oauth2-oidc.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Clients qw(clients_server certificate);
use SvcTest::Nginx ();
use SvcTest::Npm;
use SvcTest::OAuth qw(application);
use SvcTest::Page qw(with_pages);
use SvcTest::Party qw(party);
use SvcTest::Process qw(slow);

# All is at one site, which frames with a cookie need; at localhost the user would be
# asked each time.

my $s = clients_server('login.acme.test');

with_pages($s);
$s->start;

my $acme = $s->tenant('acme');
my $email = 'ada@acme.test';

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => $email, displayName => 'Ada Lovelace');


# The table of ngx_svc_admin/oauth/clients.md has what an application needs besides
# its address; a short lifetime makes oidc-client-ts renew at once.

my $SCOPE = 'openid profile email';
my %CLIENT = (
    'oidc-client-ts' => { scope => $SCOPE, path => '/', idTokenClaims => [ qw(email profile) ],
                          accessTokenTtlSeconds => 61 },
    'oidc-client-ts-refresh' => { scope => "$SCOPE offline_access", path => '/',
                                  page => 'oidc-client-ts',
                                  idTokenClaims => [ qw(email profile) ] },
    'keycloak-js' => { scope => 'profile email', path => '/' },
    'angular-oauth2-oidc' => { scope => "$SCOPE offline_access", path => '/index.html' },
);


sub client {
    my ($name) = @_;

    my %app = %{ $CLIENT{$name} };
    my ($scope, $page, $path) = delete @app{qw(scope page path)};
    my $port = SvcTest::Nginx::free_port();
    my $base = "https://$name.acme.test:$port";
    my $home = [ "$base$path" ];
    my $app = application($acme, name => $name, type => 'spa', redirectUris => $home,
                          postLogoutRedirectUris => $home, %app);

    return { clientId => $app->{clientId}, port => $port, base => $base, scope => $scope,
             page => $page };
}


my $npm = npm_install($s->root);
my ($pem, $key) = certificate($s);
my $n = party([ 'node', "$npm/spa.mjs" ], {
    pages => npm_install($s->root, 't/npm/clients', 'build/npm-clients'),
    issuer => "$s->{nginx}{svc}{svc_base_url}/oauth/t/acme", certificate => $pem,
    key => $key, email => $email, password => $PASSWORD,
    sub => $ada->{id}, limit => 1000 * slow(30),
    clients => { map { $_ => client($_) } keys %CLIENT },
});

is($n, 17, 'all was tried');

$s->done;
done_testing;
