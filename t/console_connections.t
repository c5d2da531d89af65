#!/usr/bin/perl

# Connections in the console: one with a provider, which is oidc-provider, made without a
# mouse, tested in steps, changed and deleted; the settings of SAML, which two change at a
# time; and a directory, Debian's slapd, tested and imported.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Console;
use SvcTest::Idp;
use SvcTest::Process qw(run wait_for);
use SvcTest::Realm qw(verified force);
use SvcTest::Receiver;
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $TRUE = JSON::PP::true();
my $MARKUP = '<img src=x onerror=alert(1)>';
my $HOSTILE = "$MARKUP\x{202e}";
my $BYTES = $HOSTILE;
my $SHOWN = '<img src=x onerror=alert(1)>⟨U+202E⟩';
my $SECRET = 's:e/c r+e%t';

utf8::encode($BYTES);

my ($idp, $slapd);
my $s = SvcTest->new(workers => 1);
my $c = SvcTest::Console->new($s, open => { ignoreHTTPSErrors => $TRUE }, before => sub {
    $idp = SvcTest::Idp->new($s, SvcTest::Receiver->new($s), n => 1, keys => [ 'oidc-one' ],
                             svc => { svc_federation_allow => '127.0.0.0/8' });
    $slapd = SvcTest::Slapd->new($s);
    $slapd->launch;
});
my ($acme, $page) = @$c{qw(acme page)};

$s->secret($SECRET);
$idp->ready;
verified($s, $acme, 'acme.test');
verified($s, $acme, 'example.test');
$idp->asks({ ada => { sub => 'ada', email => 'ada@acme.test', email_verified => $TRUE,
                      name => "Ada $MARKUP" } });


sub opens {
    $page->do(run => 'document.querySelectorAll("main details")'
                     . '.forEach(one => { one.open = true })');
}

sub check {
    my ($label) = @_;

    opens();
    $page->do(run => qq{[...document.querySelectorAll("main label")]
                        .find(one => one.textContent.trim() === "$label").click()});
}

sub confirms { $page->do(click => 'dialog[open] .danger') }

sub social { return $c->admin(GET => '/social/connections')->{connections} }


# --- a provider, without a mouse --------------------------------------------------------------

$c->opens('connections', 'Connections');
$c->says(qr/There is no connection yet/, 'there is none yet');
$page->do(reach => 'New connection');
$page->do(key => 'Enter');
$c->shows('New connection');
$page->do(run => 'document.querySelector("a[href\$=\"kind=ldap\"]").focus()');
$page->do(key => ('Shift+Tab') x 2, 'Enter');
$c->shows('OpenID Connect');

sub redirect_uri {
    return $page->do(run => 'document.querySelector("main .form .id code").textContent');
}

is(redirect_uri(), "$c->{origin}/v1/tenants/acme/federation/oidc/callback",
   'where it leads back to');
$page->do(reach => 'Key');
$page->do(write => 'On');
$page->do(reach => 'Issuer');
$page->do(write => $idp->{issuers}[0]);
$page->do(key => 'Enter');
$c->says(qr/Small letters and digits only.*This is required/s, 'what everybody can see is wrong');
is($page->do('focus'), 'field-key', '... first');
$page->do(key => 'Control+a');
$page->do(write => 'one');
ok(wait_for(sub { redirect_uri() =~ m{/oidc-one/callback$} }),
   'which follows the key');
$page->do(reach => 'Client ID');
$page->do(write => 'svc');
$page->do(reach => 'Client secret');
$page->do(write => $SECRET);
$page->do(key => 'Enter');
$c->saying(qr/OpenID Connect is connected/, 'it is made');
$c->shows('OpenID Connect', 'one of them');
$c->says(qr/A test does that at once/, 'nothing is asked of it yet');

my ($one) = @{ social() };

is_deeply([ @$one{qw(provider issuer clientId)}, map { $_ ? 1 : 0 } @$one{qw(secretSet enabled)} ],
          [ 'oidc-one', $idp->{issuers}[0], 'svc', 1, 0 ], '... there, and off');
is($page->do(run => 'document.body.innerHTML.includes("s:e/c")'), 0, 'the secret is gone');
$c->says(qr/\Q$one->{redirectUri}\E.*backchannel-logout/s, 'with what to register');


# --- its test, in another tab -----------------------------------------------------------------

$c->leads('Test', 'OpenID Connect');
$page->do(press => 'Test');
ok(wait_for(sub { $page->do(count => 'main .notice a') == 1 }), 'the test has somewhere to go');

my $there = $page->do(attribute => 'main .notice a', 'href');

$page->do(tab => 1);
$page->do(go => $there);
$page->do(heading => 'Provider');
$page->do(type => 'Name', 'ada');
$page->do(press => 'Enter');
$page->do(heading => 'Test of oidc-one');
$page->do(tab => 0);
ok(wait_for(sub { $page->do(count => 'main .steps > li') == 8 }), 'and shows its steps here');
$c->says(qr/Metadata.*ID token.*Second factor/s, '... each by its name');
$c->says(qr/name\s+Ada \Q$MARKUP\E/, '... and what has come as text');
is_deeply($page->do('axe'), [], '... for everybody');
is_deeply($page->do('faults'), [], '... with no error');


# --- changes, alone ---------------------------------------------------------------------------

$page->do(follow => 'Connection');
$c->shows('OpenID Connect');
$page->do(type => 'Client secret', $SECRET);
$page->do(press => 'Save');
$c->saying(qr/^Saved/, 'a secret alone is rotated');
ok(wait_for(sub { $page->do(count => 'main form .primary') == 0 }), '... nothing is left to save');
is($page->do(run => '[...document.querySelectorAll("input, textarea")]'
                    . '.filter(({ value }) => value.includes("s:e/c")).length'), 0,
   '... and the page has it no more');
$page->do(type => 'Client ID', 'other');
$page->do(press => 'Save');
$c->says(qr/Type the secret again/, 'the secret is for the client that it was given for');
$page->do(press => 'Discard');
$page->do(type => 'Name', $HOSTILE);
check('On');
$page->do(type => 'Domains', 'acme.test');
$page->do(key => 'Enter');
$page->do(press => 'Save');
like($page->do('said'), qr/change the direction of text/, 'what the server says is at its field');
$page->do(type => 'Name', $MARKUP);
$page->do(press => 'Save');
ok(wait_for(sub { $page->do(count => 'main h1') == 1
                  && $page->do(text => 'main h1') eq $MARKUP }), 'a name, and a domain');

my ($two) = @{ social() };

is_deeply($two, { %$one, map { $_ => $two->{$_} } qw(label enabled domains status updatedAt) },
          'nothing else is changed');
is_deeply($two->{domains}, [ 'acme.test' ], '... but these');
is_deeply($page->do('axe'), [], '... for everybody');

$page->do(type => 'Issuer', 'https://elsewhere.example');
opens();
$page->do(type => 'Client secret', 'next');
$page->do(press => 'Save');
like($page->do(text => 'dialog'), qr/another connection.*All links/s, 'another place has no links');
$page->do(press => 'Cancel');

$s->sql("UPDATE svc.social SET vouched_owner = false, vouched = '{}', label = '$BYTES'");
$page->do(press => 'Discard');
$page->do(click => '#nav a[href="/console/connections"]');
$c->shows('Connections');
$c->says(qr/\Q$SHOWN\E.*ready.*acme\.test.*Members only/s, 'the list has it');
$page->do(follow => $SHOWN);
$c->shows($SHOWN);
$c->admin(PATCH => '/social/connections/oidc-one', { linkByEmail => 'verified' });
$page->do(press => 'Vouch for it');
confirms();
ok(wait_for(sub { $page->do(text => 'body') =~ /Somebody else has changed this/ }),
   'it is not any more what was looked at');
like($page->do(text => 'dialog[open]'), qr/Users who exist|verified/, '... which is shown');
is_deeply($page->do('axe'), [], '... for everybody');
is(social()->[0]{covers}, 'members', '... and nobody vouches for that');
$page->do(press => 'Load theirs');
ok(wait_for(sub { $page->do(count => 'dialog[open]') == 0 }), '... until it was looked at');
$page->do(press => 'Vouch for it');
confirms();
$c->saying(qr/You vouch/, 'an owner vouches for it');
is(social()->[0]{covers}, 'owners', '... there, too');

force($s, $acme, 'acme.test', scalar $s->sql('SELECT connection_id FROM svc.social'));
$c->opens('connections/oidc-one', $SHOWN);
$page->do(press => 'Delete');
like($page->do(text => 'dialog'), qr/All links.*People of acme\.test come in any way/s,
     'what falls with it is said');
confirms();
$c->saying(qr/ is deleted/, 'it is deleted');
is(scalar @{ social() }, 0, '... there, too');


# --- SAML, which two change -------------------------------------------------------------------

my $pem = (run([ qw(openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes
                    -keyout /dev/null -days 30 -subj /CN=idp.example.test) ]))[1]
          =~ s/\A.*?(?=-----BEGIN CERT)//sr;

$c->opens('connections/new?kind=saml', 'SAML', 'SAML');
$c->says(qr{nobody signs in by SAML yet.*/v1/tenants/acme/saml/acs}s, 'it is kept, and no more');
$page->do(type => 'Entity ID of the identity provider', 'https://idp.test/');
$page->do(type => 'URL of sign-in', 'https://idp.test/sso');
$page->do(type => 'Certificates', $pem);
$c->says(qr/idp\.example\.test · EC, 256 bits · until/, 'what a certificate says');
$page->do(press => 'Save');
$c->saying(qr/^Saved/, 'is configured');

my $was = $c->admin(GET => '/saml');

$c->admin(PUT => '/saml', { (map { $_ => $was->{$_} } qw(idpEntityId idpCertificates)),
                            idpSsoUrl => 'https://idp.test/login', label => 'Staff' });
$page->do(type => 'Entity ID of the identity provider', 'https://idp.test/2');
check('On');
$page->do(press => 'Save');
ok(wait_for(sub { $page->do(count => 'dialog[open]') > 0 }), 'another identity provider');
confirms();
ok(wait_for(sub { $page->do(text => 'dialog[open]') =~ /Somebody else/ }), 'two at a time');
like($page->do(text => 'dialog[open]'), qr{Staff.*idp\.test/2}s, '... both are shown');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(press => 'Send mine again');
ok(wait_for(sub { $c->admin(GET => '/saml')->{idpEntityId} eq 'https://idp.test/2' }),
   'mine is sent again');
is_deeply({ %{ $c->admin(GET => '/saml') }, updatedAt => 0, covers => 0 },
          { %$was, label => 'Staff', idpSsoUrl => 'https://idp.test/login', enabled => $TRUE,
            idpEntityId => 'https://idp.test/2', updatedAt => 0, covers => 0 }, '... over theirs');


# --- a directory ------------------------------------------------------------------------------

my $ada = $slapd->person(ada => (userPassword => 'the password of ada', cn => "Ada $MARKUP"));

$slapd->person(bob => (mail => 'bob@elsewhere.test'));
$s->secret('the password of ada');
$c->opens('connections/new?kind=ldap', 'Directory (LDAP)', 'a directory');
$page->do(type => 'URL', $slapd->urls);
$page->do(type => 'Bind as', $SERVICE);
$page->do(type => 'Password of that entry', $BIND);
$page->do(type => 'Base DN', "ou=people,$SUFFIX");
$page->do(type => 'Filter of a user', '(mail={email})');
$page->do(type => 'Domains', 'example.test');
$page->do(key => 'Enter');
opens();
$page->do(type => 'Whom to believe who the directory is', $slapd->ca);
$page->do(type => 'E-mail address', 'mail');
$page->do(press => 'Create');
$c->saying(qr/is connected/, 'is configured');
$c->shows('Directory (LDAP)');

$c->leads('Test', 'Directory (LDAP)');
$page->do(type => 'E-mail address', 'ada@example.test');
$page->do(type => 'Password', 'the password of ada');
$page->do(press => 'Test');
ok(wait_for(sub { $page->do(count => 'main .steps > .done') == 7 }), 'all of its test is good')
    or diag($page->do(text => 'main'));
is_deeply($page->do('axe'), [], '... for everybody');

$c->leads('Connection', 'Directory (LDAP)');
$page->do(type => 'URL', $slapd->url);
opens();
$page->do(press => 'Save');
$c->says(qr/Type the password again/, 'another server asks for the password');
is($page->do('focus'), 'field-bindPassword', '... at its field');
$page->do(type => 'Password of that entry', $BIND);
check('The people are the same there: keep their links');
check('Import people');
check('Make an account for who has none');
$page->do(press => 'Save');
$c->saying(qr/^Saved/, '... and takes it');

my $ldap = $c->admin(GET => '/ldap');

is_deeply([ @$ldap{qw(url covers)}, map { $_ ? 1 : 0 } @$ldap{qw(startTls syncEnabled)} ],
          [ $slapd->url, 'owners', 1, 1 ], 'by STARTTLS, with an import');

$c->leads('Import', 'Directory (LDAP)');
ok(wait_for(sub { ($c->admin(GET => '/ldap/sync')->{status} // '') eq 'ok' }),
   'an import of its own ends');
$page->do('reload');
ok(wait_for(sub { $page->do(text => 'main') =~ /done.*Users made/s }), '... as the page says');

my $own = $c->admin(GET => '/ldap/sync')->{finishedAt};

$page->do(press => 'Import now');
like($page->do(text => 'dialog'), qr/more than 20 people and more than half/, 'the brake is told');
confirms();
ok(wait_for(sub { $page->do(text => 'main') =~ /done.*Users made/s
                  && $c->admin(GET => '/ldap/sync')->{status} eq 'ok'
                  && $c->admin(GET => '/ldap/sync')->{finishedAt} ne $own }), 'it is followed')
    or diag($page->do(text => 'main'));
$c->says(qr/bob\@elsewhere\.test\s+The domain of its address/, 'who became no user');
is_deeply($page->do('axe'), [], '... for everybody');

$s->sql("UPDATE svc.ldap_sync SET status = 'held'");
$page->do(press => 'Look again');
$c->says(qr/Too many would have been deactivated/, 'what is held is told');
$page->do(press => 'Deactivate them');
like($page->do(text => 'dialog'), qr/however many.*Type this.*ldap/s, '... and asks twice');
$page->do(press => 'Cancel');

$page->do(press => 'Delete');
confirms();
$c->saying(qr/is deleted/, 'a directory is forgotten');
is_deeply($c->admin(GET => '/ldap'), { configured => JSON::PP::false() }, '... there, too');


# --- in a narrow window, in another language --------------------------------------------------

$idp->connect($acme, 'oidc-one', label => "'" . 'A long name ' x 5 . "'",
              domains => "'{" . join(',', map { "a$_.acme.test" } 1 .. 20) . "}'");
$page->do(resize => 360, 800);
$c->opens('connections', 'Connections', 'the list at 360');
$c->fits;
$c->opens('connections/oidc-one', 'A long name', 'one at 360');
$c->fits;

is($page->do(run => <<'EOT'), 'true', 'and when it is turned off');
(async () => {
  const { server } = await import("/svc/console/server.js");

  server.features.federation = false;
  document.querySelector("main nav a[href$=test]").click();
  document.querySelector('#nav a[href="/console/connections"]').click();

  for (let n = 0; n < 50 && !/svc_federation on/.test(document.body.innerText); n++) {
    await new Promise(next => setTimeout(next, 100));
  }

  return String(/svc_federation on/.test(document.body.innerText));
})()
EOT

$page->end;
$slapd->stop;
$s->done;
done_testing();
