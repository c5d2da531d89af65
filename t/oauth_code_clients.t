#!/usr/bin/perl

# Runs clients of others, none of them changed, from the authorization request to
# refresh tokens: users sign in to oauth4webapi, openid-client and Authlib.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Npm;
use SvcTest::OAuth qw(oauth_server application form);
use SvcTest::Party qw(party visit);
use SvcTest::Skip;

needs(python => 'authlib requests');

my $s = oauth_server(svc => { svc_login_url => '/signin/' }, locations => <<'EOT')->start;
        location /.well-known/openid-configuration {
            svc_oauth_metadata on;
        }
        location /.well-known/oauth-authorization-server {
            svc_oauth_metadata on;
        }
EOT

my $acme = $s->tenant('acme');
my $email = 'ada@acme.test';
my $redirect = 'https://app.acme.test/cb';
my %WEB = (redirectUris => [ $redirect ], scopes => [ qw(openid profile email) ]);

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => $email, displayName => 'Ada Lovelace');

# Keys of both kinds are published before a library fetches them: one does so at most
# once a minute, whatever a token's kid is.

form($s, token => { grant_type => 'client_credentials' },
     client => application($acme, signingAlg => $_)) for qw(ES256 RS256);


# Makes applications by their names, which begin with their kind.

sub input {
    my (@names) = @_;

    my %more = (web => [ type => 'web' ], spa => [ type => 'spa' ],
                dpop => [ type => 'web', requireDpop => JSON::PP::true ],
                par => [ type => 'web', requirePar => JSON::PP::true ]);

    return { issuer => $s->base_url . '/oauth/t/acme', redirect => $redirect,
             email => $email, sub => $ada->{id},
             map { $_ => application($acme, %WEB, name => $_, @{ $more{s/\d//r} }) }
                 @names };
}


# Each program has a user with a browser of its own, who is not signed in yet.

sub played {
    my ($command, $input, $least) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');
    my $come = sub {
        my $to = visit($b, $_[0], $email, $_[1]);

        $s->secret($1) if $to =~ /[?&]code=([\w-]+)/;

        return $to;
    };

    cmp_ok(party($command, $input, visit => $come, deny => sub { $come->($_[0], 'deny') }),
           '>=', $least, 'all was tried');
}


my $npm = npm_install($s->root);

played([ 'node', "$npm/code.mjs" ], input(qw(web spa dpop web2 spa2 dpop2 par par2 par3
                                               spa3)), 43);
played([ $s->root . '/t/lib/oauth_code_authlib' ], input(qw(web spa)), 10);

is($s->sql('SELECT count(*) FROM svc.oauth_consent'), 12, 'each was consented to');

$s->done;
done_testing;
