#!/usr/bin/perl

# Shows acr_values of authorization requests: the ID token tells the class that the
# session reaches, and a class that it does not reach is an error where the
# application needs it.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Authorize qw(asked to tokens query);
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Grants qw(refresh $REDIRECT);
use SvcTest::OAuth qw(oauth_server application claims form);

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $TRUE = JSON::PP::true();
my %WEB = (type => 'web', redirectUris => [ $REDIRECT ], requireConsent => JSON::PP::false(),
           signingAlg => 'ES256', scopes => [ 'openid' ]);

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');
my $lax = application($acme, %WEB, name => 'Lax');
my $strict = application($acme, %WEB, name => 'Strict', requireAcr => $TRUE);


sub browser {
    my ($methods) = @_;

    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    $b->login('ada@acme.test')->status == 200 or die "no session\n";
    methods($methods) if $methods;

    return $b;
}


# Sets the methods of the latest session.

sub methods {
    my ($methods) = @_;

    $s->sql("UPDATE svc.session SET methods = '{$methods}' WHERE id ="
            . ' (SELECT id FROM svc.session ORDER BY created_at DESC LIMIT 1)');
}


sub acr { return (claims($_[0]{id_token}))[1]{acr} }


# --- the class in the ID token --------------------------------------------------------

my %TOLD = (
    'password' => { '' => '1', 'urn:svc:1' => '1', 'urn:svc:2' => '1', 'phr urn:svc:2' => '1',
                    'urn:mace:x' => '1' },
    'password,totp' => { '' => '2', 'urn:svc:1' => '1', 'urn:svc:2' => '2', 'phr' => '2',
                         'phr urn:svc:1 urn:svc:2' => '1', '  urn:svc:2   phr ' => '2' },
    'passkey' => { '' => 'phr', 'urn:svc:2' => '2', 'urn:svc:1' => '1', 'phr' => 'phr',
                   'x urn:svc:2 phr urn:svc:2' => '2' },
    'email,totp' => { 'urn:svc:2' => '1' },
    'password,recovery' => { 'phr urn:svc:2' => '2' },
);

for my $methods (sort keys %TOLD) {
    my $in = browser($methods);

    for my $asks (sort keys %{ $TOLD{$methods} }) {
        my $is = $TOLD{$methods}{$asks} =~ s/\A(?=\d)/urn:svc:/r;

        is(acr(tokens($s, $in, $lax, acr_values => $asks eq '' ? undef : $asks)), $is,
           "{$methods}, who wants '$asks'");
    }
}

# The class that was asked for stays with the grant.

my $t = tokens($s, browser('passkey,hwk'), $lax, acr_values => 'urn:svc:2',
               scope => 'openid offline_access');
my (undef, $id) = claims(refresh($s, $lax, $t->{refresh_token})->json->{id_token});

is($id->{acr}, 'urn:svc:2', 'a refresh tells it');
is_deeply($id->{amr}, [ qw(hwk user mfa) ], 'and amr as it was');
is((claims($t->{access_token}))[1]{acr}, 'urn:svc:2', 'as does the access token');
is(form($s, introspect => { token => $t->{access_token} }, client => $lax)->json->{acr},
   'urn:svc:2', 'and introspection');


# --- required classes -----------------------------------------------------------------

my $UNMET = 'unmet_authentication_requirements';
my $in = browser('password');

sub returns {
    my ($to, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    ok($to->{page}, "$name: a new sign-in");
    like($to->{return_to} // '', qr/&auth_after=\d/, '... after now');

    return $to->{return_to};
}

ok(asked($in, $strict)->{code}, 'nothing, when nothing is asked for');
ok(asked($in, $strict, acr_values => 'urn:svc:1')->{code}, 'what is reached');

my $back = returns(asked($in, $strict, acr_values => 'urn:svc:2'), 'two factors');

ok(to($in->get($back))->{page}, 'which is to be done');

my $again = browser('password');
my $to = to($again->get($back));

is($to->{error}, $UNMET, 'once: then it is an error');
is($to->{error_description}, 'The user has not signed in as well as the client wants.',
   'which says so');
is_deeply([ @$to{qw(state iss)} ], [ 'xyz', 'http://127.0.0.1:' . $s->port . '/oauth/t/acme' ],
          'as all errors');
ok(to(browser('password,totp')->get($back))->{code}, 'a better one does');

my $nobody = SvcTest::Browser->new($s, tenant => 'acme');

$back = returns(asked($nobody, $strict, acr_values => 'phr'), 'of nobody');
is(to(browser('password')->get($back))->{error}, $UNMET, 'who signs in is not asked twice');
ok(to(browser('passkey')->get($back))->{code}, 'a passkey');

$back = returns(asked($in, $strict, acr_values => 'phr', prompt => 'login'), 'prompt=login');
is(to(browser('password')->get($back))->{error}, $UNMET, 'nor then');

is(asked($in, $strict, acr_values => 'urn:svc:2', prompt => 'none')->{error}, $UNMET,
   'prompt=none: at once');
is(asked($nobody, $strict, acr_values => 'urn:svc:2', prompt => 'none')->{error},
   'login_required', '... but of nobody');
is(asked($in, $strict, acr_values => 'urn:mace:x')->{error}, $UNMET,
   'what nobody can reach is an error at once');
ok(asked($in, $strict, acr_values => 'urn:mace:x urn:svc:1')->{code}, 'not beside what is');

# The page asks for it, too.

my $look = $in->get('/v1/oauth/authorization?' . query($strict, acr_values => 'phr'))->json;

is_deeply([ @$look{qw(login user)} ], [ 'required', undef ], 'the page asks for a sign-in');

my $r = $in->ask(POST => '/v1/oauth/authorization',
                 { request => query($strict, acr_values => 'phr'), decision => 'approve',
                   userId => $ada->{id}, scopes => [ 'openid' ], resources => [] });

is($r->status, 400, 'and approves nothing') or diag($r->body);

# A user who may not use the application is refused as such.

$s->sql("UPDATE svc.application SET assignment = 'groups' WHERE client_id ="
        . " '$strict->{clientId}'");
is(asked($in, $strict, acr_values => 'urn:svc:1')->{error}, 'access_denied', 'of no group');

is_deeply($s->http(GET => '/oauth/t/acme/.well-known/openid-configuration')
            ->json->{acr_values_supported}, [ qw(urn:svc:1 urn:svc:2 phr) ], 'metadata');

$s->done;
done_testing();
