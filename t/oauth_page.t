#!/usr/bin/perl

# Shows the page in a real browser, for people whom an application has sent: they sign
# in, are asked, and go back.

use strict;
use utf8;
use warnings;

use Digest::SHA qw(sha256);
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::OAuth qw(oauth_server application form);
use SvcTest::Page qw(with_pages);
use SvcTest::Process qw(wait_for);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = oauth_server();
my $origin = with_pages($s);

$s->start;

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test', displayName => '<b>Ada</b>');
with_password($s, $acme, userName => 'bob@acme.test', displayName => 'Bob');
with_password($s, $globex, userName => 'eve@globex.test', displayName => 'Eve');

# The application's address is a page of this server.

my $app = application($acme, name => '<i>Billing', type => 'web',
                      redirectUris => [ "$origin/reset" ],
                      postLogoutRedirectUris => [ "$origin/reset" ],
                      scopes => [ qw(openid profile email invoices:read) ]);
my $page = SvcTest::Page->new($s->root);


sub authorize {
    my (%more) = @_;

    my %all = (client_id => $app->{clientId}, redirect_uri => "$origin/reset", state => 'a b&c',
               response_type => 'code', code_challenge => encode_base64url(sha256('v' x 43)),
               code_challenge_method => 'S256', %more);

    $page->do(go => "$origin/oauth/authorize?"
                    . join '&', map { "$_=" . SvcTest::OAuth::escape($all{$_}) } sort keys %all);
}


# A state of 2 KB gets to the page with the shipped configuration.

{
    my %all = (client_id => $app->{clientId}, redirect_uri => "$origin/reset",
               response_type => 'code', code_challenge => encode_base64url(sha256('v' x 43)),
               code_challenge_method => 'S256');

    for my $state ('{"to":"/x"}' x 186, "\x{20ac}" x 682) {
        my $r = $s->http(GET => '/oauth/authorize?' . join '&',
                         map({ "$_=" . SvcTest::OAuth::escape($all{$_}) } sort keys %all),
                         'state=' . SvcTest::OAuth::escape($state));
        my ($to) = $r->header('Location') =~ m{\A(/login\?return_to=.*)};

        cmp_ok(length $to, '>', 8192, 'an address of more than 8 KB');
        $r = $s->http(GET => $to);
        is($r->status, 200, 'shows the page');
        like($r->body, qr/^<!doctype html>/, 'of sign-in');
    }
}


my %seen;

sub shows {
    my ($heading, $name) = @_;

    my $there = eval { $page->do(heading => $heading); 1 };

    ok($there, $name // $heading) or diag($@, $page->do(text => 'body'));
    is_deeply($page->do('axe'), [], '... for everybody') if !$seen{$heading}++;
    is_deeply($page->do('faults'), [], '... with no error');
}


sub sign_in {
    my ($email) = @_;

    $page->do(type => 'E-mail address', $email);
    $page->do(type => 'Password', $PASSWORD);
    $page->do(press => 'Sign in');
}


sub arrives {
    my ($like, $name) = @_;

    shows('This link is over', "$name: goes back");

    my $url = $page->do('url');

    $s->secret($1) if $url =~ /[?&]code=([\w-]+)/;
    like($url, $like, $name);
}

my $CODE = qr{\A\Q$origin\E/reset\?code=[\w-]{43}&state=a%20b%26c&iss=[\w%.]+acme\z};
my $DENIED = qr{\A\Q$origin\E/reset\?error=access_denied&[^#]+&state=a%20b%26c&iss=[\w%.]+acme\z};
my $ASKS = '<i>Billing asks for access';


# --- a browser without a session ----------------------------------------------------

authorize(scope => 'openid invoices:read', resource => 'https://api.test/<x');
shows('This link is over', 'a request that is wrong goes back');
like($page->do('url'), qr/error=invalid_target/, 'and says why');

$page->do(fresh => "$origin/nothing");
authorize(scope => 'openid invoices:read offline_access', resource => 'https://api.test/x');
shows('Sign in – Acme', 'the tenant is the application\'s');
cmp_ok($page->do('size'), '<=', 30_000, 'a page is small');
sign_in('ada@acme.test');
shows($ASKS, 'and then the user is asked');
like($page->do(text => '#view'),
     qr/localhost.*invoices:read.*away.*Know that it is you.*https:\/\/api\.test\/x.*<b>Ada<\/b>/s,
     'who asks, for what, and whom: as text');
is($page->do(count => '#view b, #view i'), 0, 'and nothing else');
is($page->do(run => 'document.documentElement.scrollWidth <= innerWidth'), JSON::PP::true(),
   'all of it is seen');
$page->do(press => 'Refuse');
arrives($DENIED, 'no');

authorize(scope => 'openid');
shows($ASKS, 'asked again');
$page->do('reload');
shows($ASKS, 'and once more');
$page->do(press => 'Allow');
arrives($CODE, 'yes');


# --- which user ---------------------------------------------------------------------

authorize(prompt => 'login');
shows('Sign in – Acme', 'a new sign-in');
sign_in('ada@acme.test');
shows($ASKS, 'does once');
$page->do(press => 'Sign in as somebody else');
shows('Sign in – Acme', 'or as somebody else');
sign_in('bob@acme.test');
shows($ASKS, 'who is asked');
like($page->do(text => '#view'), qr/as Bob/, 'and named');

# Somebody else signs in in another window meanwhile.

$page->do(run => <<"EOT");
fetch("/v1/auth/login", { method: "POST", body: JSON.stringify({
  tenant: "acme", email: "ada\@acme.test", password: "$PASSWORD" }) }).then(r => r.status)
EOT
$page->do(press => 'Allow');
is(eval { $page->do('said') }, 'Somebody else has signed in here. Please load this page again.',
   'who has not been asked');
unlike($page->do('url'), qr/\?code=/, 'and gives nothing away');
$page->do('faults');

$page->do(fresh => "$origin/nothing");
$page->do(go => "$origin/login?tenant=globex");
$page->do(heading => 'Sign in – Globex');
sign_in('eve@globex.test');
$page->do(heading => 'You are signed in');
authorize();
shows('Sign in – Acme', 'a session of another tenant is none');
unlike($page->do(text => 'body'), qr/eve|globex/i, 'of which nothing is said');


# --- an answer that is posted -------------------------------------------------------

# The answer is posted, wherever the client redirects to then; the history has no
# code.

my $elsewhere = "http://127.0.0.1:$s->{nginx}{port}";
my $posts = application($acme, name => 'Posts', type => 'web',
                        redirectUris => [ "$elsewhere/callback", "$origin/callback" ],
                        scopes => [ qw(openid profile) ]);

sub arrives_by_post {
    my ($state, $to, $name) = @_;

    $page->do(arrives => "$to/nothing");

    my $form = $page->do('posted');
    my %field = map { s/\+/ /gr =~ s/%(..)/chr hex $1/ger } map { split /=/ }
                split /&/, $form->{text};

    utf8::encode(my $bytes = $state);

    $s->secret($field{code}) if $field{code};
    is($form->{url}, "$to/callback", "$name: posted");
    is($form->{origin}, $origin, "$name: from here");
    is($form->{referer}, "$origin/", "$name: and no more is told");
    is($field{state}, $bytes, "$name: with the state");
    is($field{iss}, "$origin/oauth/t/acme", "$name: and the issuer");
    is_deeply($page->do('faults'), [], "$name: with no error");

    return \%field;
}

for my $to ($elsewhere, $origin) {
    my $state = q{"><script>alert(1)</script>' & ü};
    my %posted = (client_id => $posts->{clientId}, redirect_uri => "$to/callback",
                  response_mode => 'form_post', state => $state);

    $page->do(fresh => "$origin/nothing");
    authorize(%posted);
    shows('Sign in – Acme', 'who is to be posted');
    sign_in('ada@acme.test');
    shows('Posts asks for access', 'is asked');
    $page->do(press => 'Refuse');
    is(arrives_by_post($state, $to, 'no')->{error}, 'access_denied', 'no: it is told');

    authorize(%posted);
    shows('Posts asks for access', 'is asked again');
    $page->do(press => 'Allow');
    like(arrives_by_post($state, $to, 'yes')->{code}, qr/\A[\w-]{43}\z/, 'yes: the code');
}


# --- a pushed request -----------------------------------------------------------------

# No address of the browser has the parameters.

sub pushed {
    my ($client, %more) = @_;

    my $r = form($s, par => { redirect_uri => "$origin/reset", state => 'a b&c',
                              response_type => 'code', code_challenge_method => 'S256',
                              code_challenge => encode_base64url(sha256('v' x 43)), %more },
                 client => $client);

    $r->status == 201 or die $r->status . ' ' . $r->body . "\n";

    return "$origin/oauth/authorize?client_id=$client->{clientId}&request_uri="
           . SvcTest::OAuth::escape($r->json->{request_uri});
}

{
    my $url = pushed($app, scope => 'openid invoices:read', login_hint => 'ada@acme.test');

    $page->do(fresh => "$origin/nothing");
    $page->do(go => $url);
    shows('Sign in – Acme', 'who is sent by one');
    is($page->do(run => 'document.querySelector("#email").value'), 'ada@acme.test',
       '... is meant by what it says');
    unlike($page->do('url'), qr/invoices|reset|acme\.test|state/, '... and the address does not');
    $page->do('reload');
    shows('Sign in – Acme', '... nor does a reload end it');
    $page->do(type => 'Password', $PASSWORD);
    $page->do(press => 'Sign in');
    shows($ASKS, '... is asked');
    like($page->do(text => '#view'), qr/invoices:read/, '... for what was pushed');
    $page->do('reload');
    shows($ASKS, '... also once more');
    $page->do(press => 'Allow');
    arrives($CODE, '... and goes back');
    $page->do(go => $url);
    unlike($page->do('url'), qr/reset/, 'which does it once');
    like($page->do(text => 'body'), qr/'request_uri' is unknown, has been used/, '... and says so');
    $page->do('faults');
}

{
    my $url = pushed($app, prompt => 'login consent');

    $page->do(go => $url);
    shows('Sign in – Acme', 'a new sign-in is wanted');
    sign_in('ada@acme.test');
    shows($ASKS, '... does, and asks');
    $page->do(press => 'Sign in as somebody else');
    shows('Sign in – Acme', 'or as somebody else');
    sign_in('bob@acme.test');
    shows($ASKS, '... is asked');
    $page->do(press => 'Refuse');
    arrives($DENIED, '... and refuses');
}

{
    my $url = pushed($posts, redirect_uri => "$elsewhere/callback", response_mode => 'form_post',
                     state => 'z', scope => 'openid', prompt => 'consent');

    $page->do(go => $url);
    shows('Posts asks for access', 'whose answer is posted');
    $page->do(press => 'Allow');
    like(arrives_by_post('z', $elsewhere, 'pushed')->{code}, qr/\A[\w-]{43}\z/,
         '... with a code');
}

{
    my $url = pushed($app, scope => 'openid invoices:read', prompt => 'consent');

    $page->do(go => $url);
    shows($ASKS, 'one that is open here');

    my $there = $page->do('url');

    $page->do(fresh => "$origin/nothing");
    $page->do(go => $there);
    shows('This application cannot sign you in', '... is nobody\'s in another browser');
}


# --- hints of an application ----------------------------------------------------------

sub field { return $page->do(run => 'document.querySelector("#email").value') }

for my $case ([ 'eva@acme.test', 'eva@acme.test' ], [ '"><img src=x onerror=alert(1)>' ],
              [ 'x' x 255, '' ], [ 'nobody', 'nobody' ])
{
    my ($hint, $want) = @$case;

    $page->do(fresh => "$origin/nothing");
    authorize(login_hint => $hint);
    shows('Sign in – Acme', 'a hint');
    is(field(), $want // $hint, '... is in the field: ' . substr $hint, 0, 20);
    is($page->do(count => '#view img'), 0, '... as text');
}

is($acme->admin(PATCH => '/tenant', { branding => { allowSelfSignup => JSON::PP::true } }, [],
                $acme->token_for('tenant:manage'))->status, 200, 'people sign up');
wait_for {
    $s->http(GET => '/v1/auth/options?tenant=acme')->json->{methods}{signup};
};

$page->do(fresh => "$origin/nothing");
authorize(prompt => 'create', login_hint => 'eva@acme.test');
shows('Create an account', 'prompt=create');
is(field(), 'eva@acme.test', '... with the hint');
unlike($page->do('url'), qr/#/, '... and an address without it');
$page->do(press => 'Back');
shows('Sign in – Acme', '... or sign in');
sign_in('ada@acme.test');
shows($ASKS, '... which does, too');


# --- requests that cannot be answered -----------------------------------------------

$page->do(fresh => "$origin/nothing");
$page->do(go => "$origin/login?return_to=" . SvcTest::OAuth::escape(
    '/oauth/authorize?client_id=app_' . '0' x 32 . '&redirect_uri=https://x.test/'));
shows('This application cannot sign you in');
like($page->do('said'), qr/what it may not have/, 'says so');


# --- logout ---------------------------------------------------------------------------

sub logout {
    my (%more) = @_;

    $page->do(go => "$origin/oauth/logout?" . join '&',
              map { "$_=" . SvcTest::OAuth::escape($more{$_}) } sort keys %more);
}

$page->do(fresh => "$origin/nothing");
$page->do(go => "$origin/login?tenant=acme");
$page->do(heading => 'Sign in – Acme');
sign_in('ada@acme.test');
$page->do(heading => 'You are signed in');
logout(client_id => $app->{clientId});
shows('Do you want to sign out?', 'whoever is asked to sign out');
$page->do(press => 'Stay signed in');
shows('You are signed in', 'may stay');
logout(client_id => $app->{clientId});
$page->do(press => 'Sign out');
shows('You are signed out', 'or go');
logout(client_id => $app->{clientId}, post_logout_redirect_uri => "$origin/reset", state => 'a b');
$page->do(press => 'Sign out');
shows('This link is over', 'where the application wants');
is($page->do('url'), "$origin/reset?state=a%20b", 'with its state');
$page->do(go => "$origin/login?tenant=acme");
shows('Sign in – Acme', 'and is gone');

for ('fr:fr-CA:Se connecter', 'de:de-AT:Anmelden') {
    my ($language, $locale, $title) = split /:/;

    $page->do(open => { locale => $locale });
    authorize();
    shows("$title – Acme", $locale);
}

$page->end;
$s->done;
done_testing();
