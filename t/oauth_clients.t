#!/usr/bin/perl

# Runs clients and resource servers of others at /oauth, none of them changed:
# oauth4webapi, openid-client, jose and Authlib.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Grants qw(code $REDIRECT $VERIFIER);
use SvcTest::Lines;
use SvcTest::Npm;
use SvcTest::OAuth qw(oauth_server application);
use SvcTest::Skip;

needs(python => 'authlib cryptography requests');

my $s = oauth_server(locations => <<'EOT')->start;
        location /.well-known/openid-configuration {
            svc_oauth_metadata on;
        }
        location /.well-known/oauth-authorization-server {
            svc_oauth_metadata on;
        }
EOT

my $acme = $s->tenant('acme');
my $ada = $acme->create(userName => 'ada@acme.test');
my $web = application($acme, name => 'Web', type => 'web', redirectUris => [ $REDIRECT ]);
my $JSON = JSON::PP->new->utf8->canonical;

# Clients with a key of each kind; each library wants it in a form of its own.

my $keys = SvcTest::Lines->new($s->root . '/t/lib/assertion');

sub with_key {
    my ($alg) = @_;

    my $made = $keys->ask({ key => "key $alg", alg => $alg, pem => JSON::PP::true });

    $s->secret($made->{pem} =~ tr/\n//dr);

    return { %{ application($acme, name => $alg, scopes => [ qw(read write) ],
                            tokenEndpointAuthMethod => 'private_key_jwt',
                            jwks => { keys => [ $made->{jwk} ] }) },
             alg => $alg, kid => "key $alg", pem => $made->{pem} };
}

my $input = $JSON->encode({
    keys => [ map { with_key($_) } qw(ES256 Ed25519 PS256 RS256) ],
    issuer => 'http://127.0.0.1:' . $s->port . '/oauth/t/acme',
    client => application($acme, name => 'Client', scopes => [ qw(read write) ]),
    opaque => application($acme, name => 'Opaque', accessTokenFormat => 'opaque'),
    dpop => application($acme, name => 'DPoP', requireDpop => JSON::PP::true),
    resource => application($acme, name => 'API', resourceUri => 'https://api.test/'),
    web => $web,
    granted => { sub => $ada->{id}, verifier => $VERIFIER, redirect => $REDIRECT,
                 code => code($acme, $web, $ada)->{code} },
});


sub tried {
    my ($who, $text, $least) = @_;

    my @tried = map { $JSON->decode($_) } split /\n/, $text;

    ok($_->{ok}, $_->{name}) or diag($_->{why}) for @tried;
    cmp_ok(@tried, '>=', $least, "$who: all was tried");
}


tried('Node.js', npm_run($s->root, 'oauth.mjs', $input), 26);

open my $fh, '>', $s->dir . '/clients.json' or die "clients.json: $!\n";
print $fh $input;
close $fh or die "clients.json: $!\n";

tried('Authlib', scalar `'@{[ $s->root ]}/t/lib/oauth_authlib' <'@{[ $s->dir ]}/clients.json'`, 6);

$keys->end;
$s->done;
done_testing;
