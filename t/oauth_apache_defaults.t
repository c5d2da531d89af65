#!/usr/bin/perl

# Runs Debian's Apache with its modules configured as their documents begin:
# mod_auth_openidc in front of pages, and mod_oauth2 in front of an API, with the keys
# and by introspection.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Apache;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Clients qw(clients_server certificate);
use SvcTest::OAuth qw(application form escape);
use SvcTest::Party qw(visit);
use SvcTest::Skip;

needs(apache => 'auth_openidc oauth2');

my $s = clients_server()->start;
my $acme = $s->tenant('acme');
my $as = $s->{nginx}{svc}{svc_base_url};
my $issuer = "$as/oauth/t/acme";
my $PAGE = join '', map { "$_=<!--#echo var=\"$_\" -->\n" }
           qw(REMOTE_USER OIDC_CLAIM_email OIDC_CLAIM_name OAUTH2_CLAIM_iss);
my $apache = SvcTest::Apache->new($s, map { $_ => $PAGE } qw(page.html keys.html asked.html));
my $rp = $apache->base_url;

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada Lovelace');
my $web = application($acme, name => 'Pages', type => 'web', redirectUris => [ "$rp/redirect" ],
                      postLogoutRedirectUris => [ "$rp/" ], requirePkce => JSON::PP::false);
my %api = map { $_ => application($acme, name => $_, resourceUri => "$rp/$_.html") }
          qw(keys asked);
my %service = map { $_ => application($acme, name => $_, scopes => [ 'read' ],
                                      signingAlg => $_) } qw(RS256 ES256);

# This server's certificate is self-signed; Apache's own modules have no setting for
# that.

my $trust = 'ssl_verify=false';

$apache->launch([ qw(authz_user include auth_openidc oauth2) ], <<"EOT");
OIDCProviderMetadataURL $issuer/.well-known/openid-configuration
OIDCClientID $web->{clientId}
OIDCClientSecret $web->{clientSecret}
OIDCRedirectURI $rp/redirect
OIDCCryptoPassphrase "of this test"
OIDCScope "openid email profile"
OIDCCABundlePath @{[ (certificate($s))[0] ]}

SetOutputFilter INCLUDES
Options +Includes

<LocationMatch ^/(page.html|redirect)>
    AuthType openid-connect
    Require valid-user
</LocationMatch>

<Location /keys.html>
    AuthType oauth2
    OAuth2TokenVerify jwks_uri $issuer/jwks jwks_uri.$trust
    Require oauth2_claim aud:$rp/keys.html
</Location>

<Location /asked.html>
    AuthType oauth2
    OAuth2TokenVerify introspect $as/oauth/introspect introspect.$trust&introspect.auth=client_secret_basic&client_id=$api{asked}{clientId}&client_secret=$api{asked}{clientSecret}
    Require valid-user
</Location>
EOT


my $b = SvcTest::Browser->new($s, tenant => 'acme');
my $pages = SvcTest::Browser->new($s, port => $apache->{port});


sub page {
    my ($path, %headers) = @_;

    return $pages->ask(GET => $path =~ s/\A\Q$rp\E//r, undef, Accept => 'text/html', %headers);
}


sub shown {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($r->status, 200, $name) or diag($r->body, $apache->said);

    return { $r->body =~ /^(\w+)=(.*)$/mg };
}


# --- mod_auth_openidc -----------------------------------------------------------------

my $to = visit($b, page('/page.html')->header('Location'), 'ada@acme.test');

$s->secret($1) if $to =~ /[?&]code=([\w-]+)/;
is(page($to)->header('Location'), "$rp/page.html", 'a user who has signed in comes back');

my $shown = shown(page('/page.html'), 'and sees the page');

is($shown->{REMOTE_USER}, "$ada->{id}\@$issuer" =~ s{https://}{}r, 'as who she is');
is($shown->{OIDC_CLAIM_name}, 'Ada Lovelace', 'by name');
is($shown->{OIDC_CLAIM_email}, 'ada@acme.test', 'and by address');

is(visit($b, page('/redirect?logout=' . escape("$rp/"))->header('Location'), 'ada@acme.test'),
   "$rp/", 'who signs out comes back');
is(page('/page.html')->status, 302, 'and is signed out');


# --- mod_oauth2 -------------------------------------------------------------------------

sub token {
    my ($name, $alg) = @_;

    my $token = form($s, token => { grant_type => 'client_credentials',
                                    resource => "$rp/$name.html" },
                     client => $service{$alg})->json->{access_token};

    $s->secret($token);

    return $token;
}


for my $name (qw(keys asked)) {
    for my $alg (sort keys %service) {
        my $token = token($name, $alg);

        is(shown(page("/$name.html", Authorization => "Bearer $token"), "by $name, $alg")
           ->{REMOTE_USER}, $service{$alg}{clientId}, 'knows whose the token is');
        is(page("/$name.html", Authorization => "Bearer x$token")->status, 401, 'and no other');
    }

    is(page("/$name.html")->status, 401, 'nor nobody');
}

isnt(page('/keys.html', Authorization => 'Bearer ' . token('other', 'RS256'))->status, 200,
     'a token for another API is none');

$apache->stop;
is(join('', $apache->said =~ /^.*\[(?:\w+:)?(?:crit|alert|emerg)\].*$/mg), '',
   'nothing is wrong with Apache');

$s->done;
done_testing;
