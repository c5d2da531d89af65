#!/usr/bin/perl

# Shows the page in a real browser to people who sign in through another server, which is
# oidc-provider: with buttons, by their address, and with what came of it; and with a
# password of a directory, Debian's slapd.

use strict;
use utf8;
use warnings;

use Digest::SHA qw(sha256);
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance;
use SvcTest::Idp;
use SvcTest::Mail;
use SvcTest::OAuth qw(oauth_server application);
use SvcTest::Page qw(with_pages);
use SvcTest::Process qw(wait_for);
use SvcTest::Realm qw(verified force);
use SvcTest::Receiver;
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $TRUE = JSON::PP::true();

my $s = oauth_server();
my $origin = with_pages($s);
my $receiver = SvcTest::Receiver->new($s);
my $mail = SvcTest::Mail->new($s, port => 'plain', svc_set => [
    map { "RATE_LIMIT_${_}_MAX 1000" } qw(LOGIN_IP LOGIN_EMAIL SIGNUP_IP SIGNUP_EMAIL) ]);
my $idp = SvcTest::Idp->new($s, $receiver, keys => [ qw(oidc-one oidc-own google) ],
                            slugs => [ qw(acme globex initech) ]);

$s->start;
$idp->ready;
$s->secret($PASSWORD);

my ($acme, $globex, $initech) = map { $s->tenant($_) } qw(acme globex initech);

verified($s, @$_) for [ $acme, 'acme.test' ], [ $globex, 'globex.test' ],
                      [ $initech, 'initech.test' ];

$idp->connect($acme, 'oidc-one', label => q{'<b>One'}, domains => "'{acme.test}'",
              jit_provisioning => 'true');
$idp->connect($acme, 'google', issuer => 1);

# people of Globex, and later of Initech, come in by a connection alone, which has no button

my %forced;

for ([ $globex, 'globex' ], [ $initech, 'initech' ]) {
    my ($tenant, $name) = @$_;

    $idp->connect($tenant, 'oidc-own', issuer => 1, domains => "'{$name.test}'",
                  show_on_page => 'false', jit_provisioning => 'true', label => "'Own'");
    $forced{$name} = $s->sql('SELECT connection_id FROM svc.social'
                             . " WHERE tenant_id = '$tenant->{id}'");
    $s->sql("UPDATE svc.tenant SET branding = branding ||"
            . q( '{"allowSelfSignup":true,"allowPasswordless":true}')
            . " WHERE id = '$tenant->{id}'");
}

force($s, $globex, 'globex.test', $forced{globex});
with_password($s, $initech, userName => 'eve@initech.test', displayName => 'Eve');
with_password($s, $acme, userName => 'bob@acme.test', displayName => 'Bob');

$idp->asks({ map { my ($name, $at) = split /@/;
                   $name => { sub => $name, email => $_, email_verified => $TRUE,
                              name => ucfirst $name } }
             qw(ada@acme.test bob@acme.test zoe@elsewhere.test gil@globex.test
                ivo@initech.test) });

my $page = SvcTest::Page->new($s->root);
my %seen;


sub shows {
    my ($heading, $name) = @_;

    my $there = eval { $page->do(heading => $heading); 1 };

    ok($there, $name // $heading) or diag($@, $page->do(text => 'body'));
    is_deeply($page->do('axe'), [], '... for everybody') if !$seen{$heading}++;
    is_deeply($page->do('faults'), [], '... with no error');
}


# Is somebody else from here on, in a language.

sub somebody {
    my ($locale) = @_;

    $page->do(as => { locale => $locale, ignoreHTTPSErrors => $TRUE }, "$origin/nothing");
}


# As somebody else, in a language.

sub opens {
    my ($path, $heading, $locale) = @_;

    somebody($locale // 'en');
    $page->do(go => "$origin/$path");
    shows($heading, "/$path");
}


sub says {
    my ($like, $name) = @_;

    like(eval { $page->do('said') } // "$@", $like, $name);
}


sub focus_is {
    my ($id, $name) = @_;

    ok((wait_for { $page->do('focus') eq $id }), $name);
}


sub buttons {
    return $page->do(run => '[...document.querySelectorAll("#view button")]'
                            . '.map(b => b.textContent)');
}


# At the provider: with the hint, as whom.

sub comes {
    my ($hint, $as) = @_;

    ok(eval { $page->do(heading => 'Provider'); 1 }, 'the browser is at the provider')
        or diag($@, $page->do(text => 'body'));
    like($page->do('url'), qr{^https://}, 'which is elsewhere');
    is($page->do(run => 'document.querySelector("input").value'), $hint, 'with the address');
    $page->do('faults');

    return if !$as;

    $page->do(type => 'Name', $as);
    $page->do(press => 'Enter');
}


my %LANGUAGE = (
    en => { locale => 'en-GB', title => 'Sign in', in => 'You are signed in',
            account => 'Your account',
            with => 'Sign in with', email => 'E-mail address', on => 'Continue',
            denied => 'The other service did not sign you in, or you cancelled.',
            quote => 'If you ask your administrator, quote' },
    de => { locale => 'de-AT', title => 'Anmelden', in => 'Sie sind angemeldet',
            account => 'Ihr Konto',
            with => 'Mit .* anmelden', email => 'E-Mail-Adresse', on => 'Weiter',
            denied => 'Der andere Dienst hat Sie nicht angemeldet, oder Sie haben abgebrochen.',
            quote => 'Wenn Sie Ihre Administration fragen, nennen Sie' },
    fr => { locale => 'fr-CA', title => 'Se connecter', in => 'Vous êtes connecté',
            account => 'Votre compte',
            with => 'Se connecter avec', email => 'Adresse e-mail', on => 'Continuer',
            denied => "L'autre service ne vous a pas connecté, ou vous avez annulé.",
            quote => 'Si vous vous adressez à votre administrateur, indiquez' },
);


# --- a button ---------------------------------------------------------------------------

for my $language (qw(en de fr)) {
    my $l = $LANGUAGE{$language};
    my ($google, $one) = map { $l->{with} =~ /\.\*/ ? $l->{with} =~ s/\.\*/$_/r
                                                    : "$l->{with} $_" } 'Google', '<b>One';

    opens('login?tenant=acme', "$l->{title} – Acme", $l->{locale});
    cmp_ok($page->do('size'), '<=', 31_000, 'a page is small');
    is_deeply([ @{ buttons() }[0 .. 2] ], [ $l->{title}, $google, $one ],
              'the password, and the connections by name');
    is($page->do(count => '#view b, #view img'), 0, 'which is text');
    is($page->do(count => '[type=password]'), 1, 'no step comes first');
    $page->do(press => $one);
    comes('');
    $page->do(press => 'Cancel');
    shows("$l->{title} – Acme", 'who is not signed in there');
    says(qr/^\Q$l->{denied}\E\n\Q$l->{quote}\E \w{32}\z/, 'is told so');
    is_deeply($page->do('axe'), [], 'for everybody');
    is($page->do('url'), "$origin/login?tenant=acme", 'in no address');
    $page->do(press => $one);
    comes('', 'ada');
    shows($l->{account}, 'who is comes back');
    is($page->do('url'), "$origin/account", 'to the account');
    like($page->do(text => 'h1 + p'), qr/\bAda\b.*\bAcme\b/, 'as whom');
}

opens('login?tenant=acme', 'Sign in – Acme');
$page->do(press => 'Sign in with <b>One');
comes('', 'zoe');
shows('Sign in – Acme', 'a user of nobody');
says(qr/^You have no account here\. Ask your administrator for an invitation\.\n/, 'is told so');
$page->do(type => 'E-mail address', 'bob@acme.test');
$page->do(type => 'Password', $PASSWORD);
$page->do(press => 'Sign in');
shows('You are signed in', 'and signs in with a password');


# An address that the provider's word alone does not link, a code by mail does.

$s->sql("UPDATE svc.social SET domains = NULL WHERE provider = 'oidc-one'");
opens('login?tenant=acme', 'Sign in – Acme');
$page->do(press => 'Sign in with <b>One');
comes('', 'bob');
shows('Sign in – Acme', 'who has an account already');
says(qr/^There is an account of your address already\./, 'is told so');
$page->do(press => 'Get a code at that address');
shows('Look into your mailbox', 'and gets a mail');
$page->do(type => 'Code of six digits', (wait_for {
    (($mail->events('mail'))[-1] // { plain => '' })->{plain} =~ /^\s*(\d{6})\r?$/m
        ? $1 : undef }));
$page->do(press => 'Continue');
shows('You are signed in', 'whose code signs in');
is($s->sql("SELECT email_seen FROM svc.federated_identity WHERE email_seen LIKE 'bob\@%'"),
   'bob@acme.test', 'and links');
$s->sql("UPDATE svc.social SET domains = '{acme.test}' WHERE provider = 'oidc-one'");


# --- what came of it -----------------------------------------------------------------------

my $words = JSON::PP->new->decode($page->do(run => <<'EOT'));
(async () => JSON.stringify(Object.fromEntries(await Promise.all(["en", "de", "fr"].map(
  async l => [l, { ...(await import(`/svc/others.${l}.js`)).default,
                   text: (await import(`/svc/text.${l}.js`)).default }])))))()
EOT

for my $language (qw(de fr)) {
    is_deeply([ sort keys %{ $words->{$language} } ], [ sort keys %{ $words->{en} } ],
              "$language: the same words");
    is_deeply([ sort keys %{ $words->{$language}{errors} } ],
              [ sort keys %{ $words->{en}{errors} } ], '... and errors');
}

my @SAME = qw(access_denied rate_limited unavailable);

for my $language (qw(en de fr)) {
    my $l = $LANGUAGE{$language};
    my $w = $words->{$language};

    opens('login?tenant=acme', "$l->{title} – Acme", $l->{locale});

    for my $code (qw(federation_failed federation_denied email_unverified no_account
                     link_required invitation_mismatch sso_required directory_account
                     flow_expired conflict), @SAME)
    {
        my $sentence = ($w->{errors}{$code} // $w->{text}{errors}{$code} // '')
                       =~ s/\{minutes\}/1/r;

        $page->do(go => "$origin/nothing");
        $page->do(go => "$origin/login?tenant=acme#error=$code&id=0123abcd");
        says(qr/^\Q$sentence\E\n\Q$w->{quote} 0123abcd\E\z/, "$language: $code");
    }

    for my $code ('', 'constructor', '__proto__', 'invalid_credentials',
                  '%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E')
    {
        $page->do(go => "$origin/nothing");
        $page->do(go => "$origin/login?tenant=acme#error=$code&id=%3Cb%3Ecall%20us");
        says(qr/^\Q$w->{failed}\E\z/, "$language: '$code' and what is no number");
    }

    is($page->do(count => '#error *'), 0, 'as text');
    $page->do(go => "$origin/nothing");
    $page->do(go => "$origin/login?tenant=acme#error=link_required&flow=" . 'x' x 43);
    is($page->do(text => '#error button'), $w->{linkCode}, 'a code may be asked for');
    is_deeply($page->do('axe'), [], '... by everybody');
    $page->do(press => $w->{linkCode});
    says(qr/^\Q$w->{errors}{flow_expired}\E/, 'which a flow of nobody has none of');
    $page->do('faults');
    is($page->do('url'), "$origin/login?tenant=acme", 'and no address keeps it');
    is_deeply($page->do('faults'), [], 'with no error');
}


# Has a link mailed, and returns it.

sub reset_link {
    my ($email) = @_;

    opens('login?tenant=initech#forgot', 'Forgot your password?');
    $page->do(type => 'E-mail address', $email);
    $page->do(press => 'Send');
    shows('Look into your mailbox');

    my $got = wait_for { (grep { $_->{to}[0] eq $email } $mail->events('mail'))[-1] };
    my ($link) = $got->{plain} =~ m{^(http\S+/reset\S*=([\w-]{43}))\r?$}m
        or die "no link\n";

    $s->secret($2);

    return $link;
}


# --- the address comes first -----------------------------------------------------------------

for my $language (qw(en de fr)) {
    my $l = $LANGUAGE{$language};

    opens('login?tenant=globex', "$l->{title} – Globex", $l->{locale});
    focus_is('email', 'the address comes first');
    is($page->do(attribute => '#email', 'autocomplete'), 'username webauthn',
       'which passkeys are offered for');
    ok((wait_for { $page->do(run => 'performance.getEntriesByType("resource")'
                                    . '.filter(e => /passkey.options$/.test(e.name)).length') }),
       'and asked for');
    is($page->do(count => '[type=password]'), 0, 'without a password');
    is(buttons()->[0], $l->{on}, 'and goes on');
    $page->do(type => $l->{email}, 'gil@globex.test');
    $page->do(key => 'Enter');
    comes('gil@globex.test', 'gil');
    shows($l->{account}, 'who must come in so does');
}

opens('login?tenant=globex', 'Sign in – Globex');
$page->do(type => 'E-mail address', 'out@elsewhere.test');
$page->do(key => 'Enter');
ok(eval { $page->do(type => 'Password', 'no'); 1 }, 'of another domain a password') or diag($@);
is($page->do('focus'), 'password', 'has the focus');
is_deeply($page->do('axe'), [], 'for everybody');
is($page->do(run => 'document.querySelector("#email").value'), 'out@elsewhere.test',
   'of the address');
is($page->do(attribute => '#email', 'readonly'), '', 'which stays');
$page->do(key => 'Enter');
says(qr/^Address or password is wrong/, 'a wrong one is said');
$page->do('faults');
$page->do(press => 'Back');
focus_is('email', 'and back to the address');
is($page->do(count => '[type=password]'), 0, 'alone');


# whoever may come in by a connection that has no button, also has a password

opens('login?tenant=initech', 'Sign in – Initech');
is($page->do(count => '[type=password]'), 0, 'one may');
$page->do(type => 'E-mail address', 'eve@initech.test');
$page->do(press => 'Continue');
ok(eval { $page->do(type => 'Password', $PASSWORD); 1 }, 'but has a password') or diag($@);
is_deeply([ @{ buttons() }[0, 1] ], [ 'Sign in', 'Sign in with Own' ], 'and a button');
is_deeply($page->do('axe'), [], 'for everybody');
$page->do(press => 'Sign in with Own');
comes('eve@initech.test');

# meanwhile they must

my $reset = reset_link('eve@initech.test');
my $r = $initech->admin(POST => '/invitations', { email => 'ina@initech.test', role => 'member' },
                        undef, $initech->token_for($ALL));
my $invited = $r->json->{inviteUrl} // die $r->body;

opens('login?tenant=initech', 'Sign in – Initech');
$page->do(type => 'E-mail address', 'eve@initech.test');
$page->do(press => 'Continue');
$page->do(type => 'Password', $PASSWORD);
force($s, $initech, 'initech.test', $forced{initech});
select undef, undef, undef, 1.1;
$page->do(press => 'Sign in');
comes('eve@initech.test', 'ivo');
shows('Your account', 'who is refused a password is led there');

for my $form ([ 'Get a code by mail', 'Send' ], [ 'Create an account', 'Create an account' ],
              [ undef, 'Send' ])
{
    my ($first, $last) = @$form;

    opens('login?tenant=initech' . ($first ? '' : '#forgot'),
          $first ? 'Sign in – Initech' : 'Forgot your password?');
    $page->do(press => $first) if $first;
    shows($first // 'Forgot your password?', $first // 'forgot');
    $page->do(type => 'E-mail address', 'new@initech.test');

    if ($last eq 'Create an account') {
        $page->do(type => 'Name', 'New');
        $page->do(type => 'New password', 'a quiet harbour before seven');
    }

    $page->do(press => $last);
    comes('new@initech.test');
}


somebody('en');
$page->do(go => $invited);
shows('Join Initech', 'an invitation');
$page->do(type => 'Name', 'Ina');
$page->do(type => 'New password', 'a quiet harbour before seven');
$page->do(press => 'Create the account');
comes('ina@initech.test');

somebody('en');
$page->do(go => $reset);
shows('New password', 'a link of before');
$page->do(type => 'New password', 'a quiet harbour before seven');
$page->do(press => 'Continue');
says(qr/^Your organisation wants you to sign in with its own sign-in\./, 'does not do');
$page->do('faults');


# --- a password of a directory -----------------------------------------------------------

my $slapd = SvcTest::Slapd->new($s);
my $umbrella = $s->tenant('umbrella');

$slapd->launch;

$slapd->person($_ => (userPassword => $PASSWORD, cn => ucfirst)) for qw(dora olga);

# its overlay "retcode" says what Active Directory says of an expired password

$slapd->add("dn: uid=olga,ou=people,$SUFFIX\nchangetype: modrdn\nnewrdn: uid=olga\n"
            . "deleteoldrdn: 0\nnewsuperior: ou=groups,$SUFFIX\n");
$slapd->stop;
$slapd->{conf} = <<"END";
moduleload retcode
overlay retcode
retcode-parent "ou=groups,$SUFFIX"
retcode-item "uid=olga" 49 op=bind text="AcceptSecurityContext error, data 532"
END
$slapd->launch;
verified($s, $umbrella, 'example.test');
$r = $umbrella->admin(PUT => '/ldap', {
    url => $slapd->urls, bindDn => $SERVICE, bindPassword => $BIND, baseDn => $SUFFIX,
    userFilter => '(mail={email})', enabled => $TRUE, jitProvisioning => $TRUE,
    caCertificates => $slapd->ca, domains => [ 'example.test' ],
    attributeMapping => { displayName => 'cn' } });
is($r->status, 200, 'a directory') or diag($r->body);
$s->sql('UPDATE svc.ldap SET vouched_owner = true');

for my $language (qw(en de fr)) {
    my $l = $LANGUAGE{$language};
    my $w = $words->{$language};

    opens('login?tenant=umbrella', "$l->{title} – Umbrella", $l->{locale});

    for my $case ([ dora => 'wrong', $w->{text}{errors}{invalid_credentials} ],
                  [ olga => $PASSWORD, $w->{errors}{directory_password_expired} ],
                  [ dora => $PASSWORD ])
    {
        my ($who, $password, $sentence) = @$case;

        $page->do(type => $l->{email}, "$who\@example.test");
        $page->do(type => $w->{text}{password}, $password);
        $page->do(press => $l->{title});
        says(qr/^\Q$sentence\E$/, "$language: $who is told") if $sentence;
    }

    shows($l->{in}, 'with a password of the directory');
    like($page->do(text => '.note'), qr/\bDora\b.*\bUmbrella\b/, 'as whom');
}

$slapd->stop;


# --- with the keyboard -----------------------------------------------------------------------

sub tab_to {
    my ($label) = @_;

    for (1 .. 10) {
        $page->do(key => 'Tab');

        return 1 if $page->do(run => 'document.activeElement.textContent') eq $label;
    }

    return 0;
}

opens('login?tenant=acme', 'Sign in – Acme');
ok(tab_to('Sign in with Google') && tab_to('Sign in with <b>One'), 'by keys');
like($page->do(run => 'getComputedStyle(document.activeElement).outlineStyle'), qr/solid/,
     'the focus is seen');
$page->do(key => 'Enter');
comes('');
$page->do(key => 'Tab', 'a', 'd', 'a', 'Enter');
shows('Your account', 'and nothing else');
$idp->connect($acme, 'oidc-own', issuer => 1, label => "'Two'");
select undef, undef, undef, 1.1;
$page->do('reload');
$page->do(heading => 'Your account');
$page->do(follow => 'Linked accounts');
$page->do(press => 'Link Two');
comes('', 'ada');
shows('Your account', 'one more identity');
is($page->do('url'), "$origin/account", 'in no address');
$page->do(follow => 'Linked accounts');
ok((wait_for { $page->do(text => '#part-identities') =~ /Two.*<b>One/s }), 'is linked');

opens('login?tenant=globex', 'Sign in – Globex');
$page->do(key => split(//, 'x@globex.test'), 'Enter');
comes('x@globex.test');


# --- what comes from elsewhere ------------------------------------------------------------------

opens('login?tenant=globex#connection=oidc-own', 'Sign in – Globex');
is_deeply(buttons(), [ 'Sign in with oidc-own', 'Sign in in another way' ], 'waits for a click');
is($page->do('url'), "$origin/login?tenant=globex", 'in no address');
is_deeply($page->do('axe'), [], 'for everybody');
$page->do(press => 'Sign in in another way');
focus_is('email', 'or does not');
$page->do(go => "$origin/nothing");
$page->do(go => "$origin/login?tenant=globex#connection=oidc-own");
$page->do(press => 'Sign in with oidc-own');
comes('', 'gil');
shows('Your account', 'with one');

opens('login?tenant=acme#connection=%3Cb%3E', 'Sign in – Acme');
is($page->do(count => '[type=password]'), 1, 'what is no connection is nothing');
opens('login?tenant=acme#connection=oidc-none', 'Sign in – Acme');
$page->do(press => 'Sign in with oidc-none');
says(qr/^That is not offered here/, 'one that there is not');


# --- the test of a connection -------------------------------------------------------------------

with_password($s, $acme, userName => 'boss@acme.test', displayName => 'Boss', role => 'owner');

sub signs_in {
    my ($path, $name, $l) = @_;

    opens($path, "$l->{title} \x{2013} Acme", $l->{locale});
    $page->do(type => $l->{email}, "$name\@acme.test");
    $page->do(type => $l->{password}, $PASSWORD);
    $page->do(press => $l->{title});
}

my %TEST = (
    en => { password => 'Password', test => 'Test of oidc-one', good => 'User: good',
            outcome => 'A user would be signed in.', over => 'There is nothing to show' },
    de => { password => 'Passwort', test => 'Test von oidc-one', good => 'Benutzer: gut',
            outcome => 'Ein Benutzer würde angemeldet.' },
    fr => { password => 'Mot de passe', test => 'Test de oidc-one', good => 'Utilisateur: bon',
            outcome => 'Un utilisateur serait connecté.' },
);

$TEST{$_} = { %{ $LANGUAGE{$_} }, %{ $TEST{$_} } } for keys %TEST;

signs_in('login?tenant=acme', 'boss', $TEST{en});
shows('You are signed in', 'who tests');
$page->do(run => <<'EOT');
(async () => {
  const { call } = await import("/svc/page.js");
  const { redirectTo } = await call("POST", "/v1/admin/federation/oidc-one/test");

  location.assign(redirectTo);
})()
EOT
comes('', 'ada');
shows($TEST{en}{test}, 'what it has found');

my ($tested) = $page->do('url') =~ /&test=([\w-]+)\z/;

for my $language (qw(en de fr)) {
    my $l = $TEST{$language};

    if ($language ne 'en') {
        signs_in("account?tenant=acme&test=$tested", 'boss', $l);
        shows($l->{test}, "$language, for who signs in first");
    }

    my $text = $page->do(text => '#view');

    like($text, qr/\Q$l->{outcome}\E\s+ada\@acme\.test/, 'the outcome');
    like($text, qr/\Q$l->{good}\E\s+"ada\@acme\.test" signs in/, 'a step');
    like($text, qr/email_verified\s+true/, 'a claim');
    is($page->do(count => '#view li'), 8, 'all steps');
}

is($page->do(run => <<'EOT'), 1, 'all languages say the same');
(async () => new Set(await Promise.all(["en", "de", "fr"].map(async l => {
  const { step, outcomes, ...all } = (await import(`/svc/tested.${l}.js`)).default;

  return JSON.stringify([step, outcomes, all].map(words => Object.keys(words)));
}))).size)()
EOT

signs_in("account?tenant=acme&test=$tested", 'bob', $TEST{en});
shows($TEST{en}{over}, 'nothing for who does not administer the tenant');
$page->do('faults');


# --- for an application -------------------------------------------------------------------------

my $app = application($acme, name => 'Billing', type => 'web', redirectUris => [ "$origin/reset" ],
                      scopes => [ qw(openid profile) ]);
my %all = (client_id => $app->{clientId}, redirect_uri => "$origin/reset", state => 'a b&c',
           response_type => 'code', code_challenge => encode_base64url(sha256('v' x 43)),
           code_challenge_method => 'S256', scope => 'openid');
my $to = 'oauth/authorize?' . join '&', map { "$_=" . SvcTest::OAuth::escape($all{$_}) }
                                        sort keys %all;

opens($to, 'Sign in – Acme');
$page->do(press => 'Sign in with <b>One');
comes('');
$page->do(press => 'Cancel');
shows('Sign in – Acme', 'not signed in');
says(qr/^The other service did not sign you in/, 'is told so');
$page->do(press => 'Sign in with <b>One');
comes('', 'ada');
shows('Billing asks for access', 'goes on where the application waits');
$page->do(press => 'Allow');
shows('This link is over', 'to the application');
like($page->do('url'), qr{\A\Q$origin\E/reset\?code=[\w-]{43}&state=a%20b%26c&}, 'with a code');
$s->secret($page->do('url') =~ /[?&]code=([\w-]+)/);

$page->end;
$mail->stop;
$s->done;
done_testing();
