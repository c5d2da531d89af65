#!/usr/bin/perl

# The pages of conf/www in a real browser: people sign in, accept invitations,
# reset forgotten passwords, and add the factor that is missing.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Documents qw(section examples);
use SvcTest::Factor qw(totp enrolled policy);
use SvcTest::Governance;
use SvcTest::Image qw(png);
use SvcTest::Mail;
use SvcTest::Nginx ();
use SvcTest::Page qw(with_pages);
use SvcTest::Process qw(wait_for slurp write_file);
use SvcTest::Www qw(pages_here @LEADS @ASTRAY);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $NEW = 'a quiet harbour before seven';
my $WRONG = 'Address or password is wrong, or the passkey is not known.';

my $s = SvcTest->new;
my $mail = SvcTest::Mail->new($s, svc_sign_in => 'on',
    svc_organization_signup => 'on', svc_set => [
    'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_SIGNUP_IP_MAX 1000' ]);
my $origin = with_pages($s);
my $www = "$s->{dir}/www";

# These stand for the console, which has tests of its own.  Compressed files lie beside
# all, as "make install" writes them.

mkdir "$www/svc/console";
write_file("$www/console.html", '<!doctype html><title>x</title>');
write_file("$www/svc/console/shell.js", 'export {};');
system("find '$www' -type f -exec gzip -9kn {} +") == 0 or die "gzip: $?\n";

# Another application is on the same server.  A second one has the console for some
# addresses alone, as the document says, and a third one has none.

my $OTHERS = 'the application';
my ($some, $none) = map { SvcTest::Nginx::free_port() } 1, 2;
my ($only) = grep { /allow/ } examples('nginx', section('conf/www/README.md', 'The console'));

$only =~ s{192\.0\.2\.0/24}{127.0.0.2} or die 'no address in the example';
$s->{nginx}{locations} .= qq{location / { return 200 "$OTHERS"; }\n};
$s->{nginx}{http} .= pages_here($s, <<"EOT");
    server { listen 127.0.0.1:$some;
$only }
    server { listen 127.0.0.1:$none;
        include /usr/share/ngx_svc/svc-www.conf;
        location / { return 200 "$OTHERS"; } }
EOT

$s->start;

my ($acme) = map { $s->tenant($_) } qw(acme globex);
my $all = $acme->token_for($ALL);

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");
$s->secret($PASSWORD, $NEW);
with_password($s, $acme, userName => 'ada@acme.test',
              displayName => '<img src=x onerror=alert(1)>');

my $page = SvcTest::Page->new($s->root);


sub admin { return $acme->admin(@_[0 .. 2], undef, $all) }
sub at { return "$origin/$_[0]" }


# Tests that the page has this heading, and that the browser reports no error.

my %seen;

sub shows {
    my ($heading, $name) = @_;

    my $there = eval { $page->do(heading => $heading); 1 };

    ok($there, $name // $heading) or diag($@, $page->do(text => 'body'));
    is_deeply($page->do('axe'), [], '... for everybody') if !$seen{$heading}++;
    is_deeply($page->do('faults'), [], '... with no error');
}


sub opens {
    my ($path, $heading, %options) = @_;

    $page->do(open => \%options) if %options;
    $page->do(go => at($path));
    shows($heading, "/$path");
}


sub sign_in {
    my ($email, $password) = @_;

    $page->do(type => 'E-mail address', $email);
    $page->do(type => 'Password', $password // $PASSWORD);
    $page->do(press => 'Sign in');
}


sub says {
    my ($text, $name) = @_;

    is(eval { $page->do('said') }, $text, $name) or diag($@);
}


# Starts a browser without cookies, as another person has it.

sub fresh { $page->do(fresh => at('nothing')) }


sub user {
    my ($name, %opt) = @_;

    with_password($s, $acme, userName => "$name\@acme.test", displayName => ucfirst $name,
                  %opt);
}


# --- the files ----------------------------------------------------------------------

my %headers = (
    'Content-Security-Policy' => "default-src 'none'; script-src 'self';"
        . " style-src 'self'; img-src 'self' data:; connect-src 'self';"
        . " form-action 'self'; base-uri 'none'; frame-ancestors 'none';"
        . " require-trusted-types-for 'script'",
    'Referrer-Policy' => 'no-referrer',
    'X-Content-Type-Options' => 'nosniff',
    'Cross-Origin-Opener-Policy' => 'same-origin',
    'Cross-Origin-Resource-Policy' => 'same-origin',
    'Permissions-Policy' => 'publickey-credentials-get=(self),'
        . ' publickey-credentials-create=(self)',
    'Cache-Control' => 'no-cache',
    'Vary' => 'Accept-Encoding',
);

for (qw(/login:html /reset:html /invite:html /account:html /svc/page.js:javascript
        /svc/page.css:css /console?a:html:console /console/:html:console
        /console/users/x@y?a=b:html:console /svc/console/shell.js:javascript))
{
    my ($path, $type, $name) = split /:/;
    my $file = $name // $path =~ s{^/}{}r;

    $file .= '.html' if $type eq 'html';

    for my $zip ('', '.gz') {
        my $r = $s->http(GET => $path, $zip ? [ 'Accept-Encoding' => 'gzip' ] : ());

        is($r->status, 200, "$path$zip");
        is($r->body, slurp("$www/$file$zip"), '... is that file');
        is($r->header('Content-Encoding'), $zip ? 'gzip' : undef, '... as it is asked for');
        is($r->header('Content-Type'), "text/$type; charset=utf-8", '... its type');
        is_deeply({ map { $_ => $r->header($_) } keys %headers }, \%headers,
                  '... its headers');
    }
}

is($s->http(GET => $_)->body, $OTHERS, "$_: is another application's")
    for qw(/login.html /svc/ /login/x /svc/../login.html /loginx /invitees /accounts
           /accounts/api /account/x /consoles /consoles/x /console.html /svc/other/x.js
           /svc/ui/x/y.js /svc/ui/ /svc/page.js.gz/x /svc/page/);

for my $path (qw(/svc/none.js /svc/ui/none.js /svc/account/none.js /svc/console/none.js)) {
    my $r = $s->http(GET => $path);

    is($r->status, 404, "$path: none");
    is($r->header('Content-Security-Policy'), $headers{'Content-Security-Policy'},
       'that has the headers too');
}

for my $path (qw(/console /console/users /svc/console/shell.js /svc/page.js)) {
    my ($inside, $outside) = map { $s->http(GET => $path, [], undef, local => $_, port => $some) }
                                 qw(127.0.0.2 127.0.0.1);

    is($inside->status, 200, "$path: whoever may");
    is($inside->header('Content-Security-Policy'), $headers{'Content-Security-Policy'},
       '... with its headers');
    is($outside->status, $path =~ /console/ ? 403 : 200, '... and who may not');
}

is($s->http(GET => $_, [], undef, port => $none)->body, $OTHERS,
   "$_: whoever includes the pages of sign-in alone has none")
    for qw(/console /console/users /svc/console/shell.js);


# --- a password ---------------------------------------------------------------------

opens('login?tenant=acme', 'Sign in – Acme');
cmp_ok($page->do('size'), '<=', 25_000, 'a page is small');
is($page->do('focus'), 'email', 'the address has the focus');
is($page->do(attribute => '#email', 'autocomplete'), 'username webauthn',
   'which passkeys are offered for');

sign_in('ada@acme.test', 'no');
says($WRONG, 'a wrong password is said');
is($page->do('focus'), 'password', 'and it has the focus');
is_deeply($page->do('axe'), [], 'an error is for everybody');
sign_in('ada@acme.test');
shows('You are signed in');
is($page->do(text => '.note'), 'As <img src=x onerror=alert(1)>, at Acme.',
   'a name is text');
is($page->do(count => '#view img'), 0, 'and nothing else');

# returns the query that names the whole request of an application to return to

sub return_to {
    my (@paths) = @_;

    my $values = JSON::PP->new->ascii->encode(\@paths);
    my $to = $page->do(run => <<"EOT");
(async () => {
  const to = [];

  for (const path of $values) {
    to.push((await import("/svc/next.js")).returnTo(path));
  }

  return to;
})()
EOT

    return $to;
}

my @good = (@LEADS, '/oauth/authorize?' . 'a' x 4000);
my @bad = (@ASTRAY, "$origin/console", "$origin/oauth/authorize?");

is_deeply(return_to(@good), [ map { $origin . $_ } @good ], 'goes on there');
is_deeply(return_to(@bad), [ (undef) x @bad ], 'and nowhere else');
$page->do(go => at('login?tenant=acme&return_to=/alive'));
$page->do(heading => 'You are signed in');
is($page->do(count => '#view a'), 0, 'the page stays');
$page->do(go => at('login'));
ok(eval { $page->do(heading => 'You are signed in'); 1 },
   'whose session it is needs not be said');
$page->do(go => at('login?tenant=acme&return_to=/account?back'));
ok(eval { $page->do(arrives => at('account?back')); 1 }, 'whoever is signed in goes on');
$page->do(heading => 'You are signed in');
$page->do(go => at('login?tenant=acme'));
$page->do(heading => 'You are signed in');
$page->do(press => 'Sign out');
shows('Sign in – Acme', 'signed out');

sign_in('ada@acme.test');
shows('You are signed in');

fresh();
opens('login?tenant=acme&return_to=/console/users%3Fq%3Da', 'Sign in – Acme');
sign_in('ada@acme.test');
ok(eval { $page->do(arrives => at('console/users?q=a')); 1 }, 'a sign-in leads on');
$page->do('faults');


# --- which tenant, which language ---------------------------------------------------

fresh();
opens('login', 'Which organisation?');
$page->do(type => 'Short name of the organisation', 'nobody');
$page->do(press => 'Continue');
says('There is no such organisation.', 'nobody');
$page->do(type => 'Short name of the organisation', 'Globex ');
$page->do(press => 'Continue');
shows('Sign in – Globex', 'a tenant is asked for');

for ('fr:fr-CA:Se connecter', 'de:de-AT:Anmelden', 'en:es-ES:Sign in') {
    my ($language, $locale, $title) = split /:/;

    opens('login?tenant=acme', "$title – Acme", locale => $locale);
    is($page->do(attribute => 'html', 'lang'), $language, "$locale: its language");
    cmp_ok($page->do('size'), '<=', 25_000, '... is small');
}

my $texts = JSON::PP->new->decode($page->do(run => <<'EOT'));
(async () => {
  const keys = (o, at) => Object.entries(o).flatMap(([k, v]) =>
    typeof v === "string" ? [at + k + " " + (v.match(/\{\w+\}/g) ?? []).sort()]
                          : keys(v, at + k + "."));

  return JSON.stringify(await Promise.all(["en", "fr", "de"].map(async l =>
    keys((await import(`/svc/text.${l}.js`)).default, ""))));
})()
EOT

is_deeply($texts->[$_], $texts->[0], 'all languages say the same') for 1, 2;


# --- what it looks like -------------------------------------------------------------

admin(PATCH => '/tenant', { name => 'Acme "<b>"', branding => {
    primary => '#ffff00', primaryFg => 'white', surface => '#222', fg => '#333',
    muted => 'hsl(0, 0%, 20%)', danger => 'rgb(40, 0, 0)', radius => 12 } });
is($acme->admin(PUT => '/tenant/logo', png(8, 8), [ 'Content-Type' => 'image/png' ],
                $all)->status, 200, 'a logo');

opens('login?tenant=acme', 'Sign in – Acme "<b>"', reducedMotion => 'reduce',
      viewport => { width => 320, height => 640 });
is($page->do(attribute => '#brand img', 'alt'), 'Acme "<b>"', 'the logo has a name');
ok($page->do(run => 'document.querySelector("#brand img").decode().then(() => true)'),
   'and is seen');

sub css {
    return $page->do(run => "getComputedStyle(document.querySelector('$_[0]')).$_[1]");
}

is(css('main', 'backgroundColor'), 'rgb(34, 34, 34)', 'its colours are taken');
is(css('main', 'borderRadius'), '12px', 'and what is round');
is(css('[type=submit]', 'color'), 'rgb(0, 0, 0)', 'but for what nobody can read');
is(css('h1', 'color'), 'rgb(255, 255, 255)', 'as its text');
is(css('button', 'transitionDuration'), '0s', 'nothing moves for who wants it so');
ok($page->do(run => 'document.documentElement.scrollWidth <= 320'),
   'as narrow as at 400 %');
ok($page->do(run => 'document.documentElement.style.fontSize = "200%",'
                    . ' document.documentElement.scrollWidth <= 320'),
   'and with letters of twice the size');

admin(PATCH => '/tenant', { name => 'Acme', branding =>
    { map { $_ => undef } qw(primary primaryFg surface fg muted danger radius) } });


# --- a forgotten password -----------------------------------------------------------

# Returns the text of the newest mail to an address.

sub mail_to {
    my ($email) = @_;

    my $got = wait_for {
        (grep { $_->{to}[0] eq $email } $mail->events('mail'))[-1]
    };

    return $got->{plain} // die "no mail to $email\n";
}


sub link_to {
    my ($email, $path) = @_;

    my ($link) = mail_to($email) =~ m{^(http\S+/$path\S*=[\w-]{43})\r?$}m
        or die "no link to $email\n";

    $s->secret($link =~ /=([\w-]{43})\z/);

    return $link;
}


sub code_to {
    my ($email) = @_;

    my ($code) = mail_to($email) =~ /^\s*(\d{6})\r?$/m or die "no code to $email\n";

    return "$code";
}

opens('login?tenant=acme#forgot', 'Forgot your password?', locale => 'en');
$page->do(type => 'E-mail address', 'ada@acme.test');
$page->do(press => 'Send');
shows('Look into your mailbox');

my $link = link_to('ada@acme.test', 'reset');

$page->do(go => $link);
is($page->do('url'), at('reset?tenant=acme'), 'the token is in no address');
shows('New password');
$page->do(type => 'New password', 'short');
$page->do(press => 'Continue');
like(eval { $page->do('said') }, qr/^This password will not do\. minLength: /,
     'why it is rejected');
$page->do(type => 'New password', $NEW);
$page->do(press => 'Continue');
shows('Your password is set');
$page->do(follow => 'Sign in');
shows('Sign in – Acme');
sign_in('ada@acme.test', $NEW);
shows('You are signed in', 'signed in with it');

fresh();
$page->do(go => $link);
$page->do(heading => 'New password');
$page->do(type => 'New password', $NEW);
$page->do(press => 'Continue');
shows('This link is over');


# the mail is in the page's language, for a user who has set none

user('lea');
opens('login?tenant=acme#forgot', 'Passwort vergessen?', locale => 'de-AT');
$page->do(type => 'E-Mail-Adresse', 'lea@acme.test');
$page->do(press => 'Senden');
shows('Sehen Sie in Ihr Postfach');
like(mail_to('lea@acme.test'), qr/Passwort/, 'in German, as the page');
opens('login?tenant=acme', 'Sign in – Acme', locale => 'en');


# --- an invitation ------------------------------------------------------------------

fresh();
my $in = admin(POST => '/invitations', { email => 'carol@acme.test',
                                          role => 'member' })->json;

$link = link_to('carol@acme.test', 'invite');
is($in->{inviteUrl}, $link, 'whoever invites has the link of the mail');
$page->do(go => $link);
shows('Join Acme');
is($page->do('url'), at('invite?tenant=acme'), 'the token is in no address');
is($page->do(run => 'history.length'), 2, 'and no history');
is($page->do(run => 'document.querySelector("#email").value'), 'carol@acme.test',
   'who is invited');
$page->do(type => 'Name', 'Carol');
$page->do(type => 'New password', $NEW);
$page->do(press => 'Create the account');
shows('You are signed in');
is($page->do(text => '.note'), 'As Carol, at Acme.', 'with an account');

# comes from another page, because a change of the fragment only would load
# nothing

$page->do(go => at('nothing'));
$page->do(go => $link);
shows('This invitation is over');


# --- a code, or a link, by mail -----------------------------------------------------

user($_) for qw(frank gina hans);
admin(PATCH => '/tenant', { branding => {
    map { $_ => JSON::PP::true() } qw(allowPasswordless allowSelfSignup) } });

sub ask_code {
    my ($email) = @_;

    fresh();
    $page->do(go => at('login?tenant=acme'));
    $page->do(heading => 'Sign in – Acme');
    $page->do(press => 'Get a code by mail');
    shows('Get a code by mail');
    $page->do(type => 'E-mail address', $email);
    $page->do(press => 'Send');
    shows('Look into your mailbox');
}

ask_code('frank@acme.test');

my $code = code_to('frank@acme.test');

$page->do(type => 'Code of six digits', sprintf '%06d', ($code + 1) % 1_000_000);
$page->do(press => 'Continue');
says('That is not the code.', 'a wrong one is said');
$page->do(type => 'Code of six digits', "$code");
$page->do(press => 'Continue');
shows('You are signed in', 'the code of the mail');

ask_code('gina@acme.test');
$link = link_to('gina@acme.test', 'login');
$page->do(go => at('nothing'));
$page->do(go => $link);
shows('You are signed in', 'the link of the mail');
is($page->do('url'), at('login?tenant=acme'), 'the token is in no address');

ask_code('hans@acme.test');
$link = link_to('hans@acme.test', 'login');
fresh();
$page->do(go => $link);
$page->do(heading => 'Sign in – Acme');
says('This link is over, or was opened in another browser. Type the code of the mail,'
     . ' or start again.', 'in another browser it is none');


# --- a new user ---------------------------------------------------------------------

sub sign_up {
    my ($email) = @_;

    fresh();
    $page->do(go => at('login?tenant=acme'));
    $page->do(heading => 'Sign in – Acme');
    $page->do(press => 'Create an account');
    shows('Create an account');
    $page->do(type => 'E-mail address', $email);
    $page->do(type => 'Name', 'Hedy');
    $page->do(type => 'New password', $NEW);
    $page->do(press => 'Create an account');
    shows('Look into your mailbox');
}

sign_up('hedy@acme.test');
$page->do(type => 'Code of six digits', code_to('hedy@acme.test'));
$page->do(press => 'Continue');
shows('You are signed in', 'with an account');
is($page->do(text => '.note'), 'As Hedy, at Acme.', 'of that name');

sign_up('ida@acme.test');
$page->do(go => at('nothing'));
$page->do(go => link_to('ida@acme.test', 'login'));
shows('You are signed in', 'or by the link of the mail');


# --- an address of one's own --------------------------------------------------------

user('fay');
fresh();
$page->do(go => at('login?tenant=acme'));
$page->do(heading => 'Sign in – Acme');
sign_in('fay@acme.test');
$page->do(heading => 'You are signed in');
$page->do(run => 'import("/svc/page.js")'
                 . '.then(p => p.post("/auth/email/verify/start")).then(() => null)');
$link = link_to('fay@acme.test', 'account');
$page->do(go => $link);
shows('Your address is confirmed');
is($page->do(text => '.note'), 'It is fay@acme.test.', 'which');
is($page->do('url'), at('account?tenant=acme'), 'the token is in no address');
$page->do(go => at('account'));
shows('Your account');
is($page->do(text => 'nav') =~ s/\n+/, /gr,
   'Profile, Password, Passkeys, Second factor, Sessions', 'without what is not on here');

fresh();
$page->do(go => $link);
shows('Sign in – Acme', 'whoever has a link signs in');
sign_in('fay@acme.test');
$page->do(heading => 'You are signed in');
says('That took too long, or was wrong too often. Please start again.',
     'which is for one time');


# --- a second factor ----------------------------------------------------------------

user('bob');

my $bob = SvcTest::Browser->new($s, tenant => 'acme');

$bob->login('bob@acme.test');

my $factor = enrolled($bob);

fresh();
$page->do(go => at('login?tenant=acme'));
$page->do(heading => 'Sign in – Acme');
sign_in('bob@acme.test');
shows('Confirm that it is you');
is($page->do(attribute => '#code', 'autocomplete'), 'one-time-code', 'a code');
$page->do(type => 'Code of six digits',
          sprintf '%06d', (totp($factor->{secret}) + 333_333) % 1_000_000);
$page->do(press => 'Continue');
says('That is not the code.', 'a wrong one is said');
$page->do(press => 'Use a recovery code');
$page->do(type => 'Recovery code', "$factor->{codes}[0] ");
$page->do(press => 'Continue');
shows('You are signed in', 'a recovery code');
$page->do(press => 'Sign out');
$page->do(heading => 'Sign in – Acme');
sign_in('bob@acme.test');
$page->do(heading => 'Confirm that it is you');

# loaded again, the page knows which step it was at

$page->do(go => at('login?tenant=acme'));
$page->do(heading => 'Confirm that it is you');
$page->do(type => 'Code of six digits', totp($factor->{secret}));
$page->do(press => 'Continue');
shows('You are signed in', 'a code of the app');


# --- one's first factor, and passkeys -----------------------------------------------

sub expire {
    my ($email) = @_;

    $s->sql('UPDATE svc.governance SET max_age_days = 30'
            . " WHERE tenant_id = '$acme->{id}'");
    $s->sql("UPDATE svc.password SET set_at = now() - interval '31 days' FROM"
            . " svc.user_account u WHERE u.id = user_id AND u.user_name = '$email'");
}

# A thief with a stolen password cannot add a factor.

sub prove_address {
    my ($email, $then) = @_;

    shows('Confirm that it is you', 'the address comes first');
    $page->do(type => 'Code of six digits', code_to($email));
    $page->do(press => 'Continue');
    $page->do(heading => 'Add a second factor');
    $page->do(press => $then);
}

user($_) for qw(dora eve);
policy($acme, 'mfa');
expire('dora@acme.test');
fresh();
$page->do(go => at('login?tenant=acme'));
$page->do(heading => 'Sign in – Acme');
sign_in('dora@acme.test');
shows('Add a second factor');
$page->do(press => 'Authenticator app');
prove_address('dora@acme.test', 'Authenticator app');
shows('Authenticator app');
ok($page->do(run => 'document.querySelector(".qr").decode().then(() => true)'),
   'the QR code is seen');

my $secret = $page->do(text => 'code') =~ s/ //gr;

$s->secret($secret);
$page->do(type => 'Code of six digits', totp($secret));
$page->do(press => 'Continue');
shows('Your recovery codes');
is($page->do(count => '.codes li'), 10, 'ten of them');
$page->do(press => 'I have kept them');
shows('Choose a new password', 'and then the password is too old');
$page->do(type => 'New password', $NEW);
$page->do(press => 'Continue');
shows('You are signed in', 'with a new one');

fresh();
$page->do('authenticator');
$page->do(go => at('login?tenant=acme'));
$page->do(heading => 'Sign in – Acme');
sign_in('eve@acme.test');
$page->do(heading => 'Add a second factor');
$page->do(press => 'Passkey');
prove_address('eve@acme.test', 'Passkey');
shows('Your recovery codes', 'a passkey');
$page->do(press => 'I have kept them');
shows('You are signed in', 'which is a factor');

# after signing out the page is loaded anew, and until then it shows the same as
# before

my $loaded = $page->do(run => 'performance.timeOrigin');

$page->do(press => 'Sign out');
ok((wait_for { (eval { $page->do(run => 'performance.timeOrigin') } // $loaded)
               != $loaded }), 'signed out');
ok(eval { $page->do(heading => 'You are signed in'); 1 },
   'the passkey is offered with the addresses, and signs in');

# signs up an organisation, which has no tenant yet

fresh();
$page->do(go => at('login?tenant=acme'));
$page->do(heading => 'Sign in – Acme');
is($page->do(run => <<"EOT"), 202, 'an organisation is asked for');
fetch("/v1/auth/organizations", { method: "POST", body: JSON.stringify({
  slug: "initech", name: "Initech", email: "bill\@initech.test", password: "$NEW" }) })
.then(r => r.status)
EOT
$page->do(go => link_to('bill@initech.test', 'login'));
shows('You are signed in', 'the link of the mail makes it');
is($page->do(text => '.note'), 'As bill@initech.test, at Initech.', 'of which one is the owner');

$page->end;
$mail->stop;
$s->done;
done_testing();
