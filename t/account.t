#!/usr/bin/perl

# The account page in a real browser, without a mouse: who somebody is, what proves it,
# where they are signed in, and what may act for them.

use strict;
use utf8;
use warnings;

use Compress::Zlib ();
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Factor qw(totp policy);
use SvcTest::Governance;
use SvcTest::Mail;
use SvcTest::Npm;
use SvcTest::OAuth qw(oauth_server application unescape);
use SvcTest::Page qw(with_pages);
use SvcTest::Process qw(wait_for slurp);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $NEW = 'a quiet harbour before seven';
my $EVIL = '<img src=x onerror=alert(1)>';

my $s = oauth_server();
my $mail = SvcTest::Mail->new($s, port => 'plain', svc_federation => 'on', svc_set => [
    map { "RATE_LIMIT_${_}_MAX 1000" } qw(LOGIN_IP LOGIN_EMAIL SIGNUP_IP SIGNUP_EMAIL) ]);
my $origin = with_pages($s);

$s->{nginx}{locations} .= 'location = /console { default_type text/html; return 200 ""; }';
$s->start;

my $acme = $s->tenant('acme');
my $all = $acme->token_for($ALL);

$s->secret($PASSWORD, $NEW);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada',
                        role => 'owner');

with_password($s, $acme, userName => 'bob@acme.test', displayName => $EVIL . 'x' x 36);
$s->sql("UPDATE svc.user_account SET source = 'local', email_verified = false"
        . " WHERE id = '$ada->{id}'");
$s->sql("UPDATE svc.user_account SET display_name = display_name || chr(8238)"
        . " WHERE user_name = 'bob\@acme.test'");

# what others have written of Ada's

my $app = application($acme, name => "<b>Billing " . 'y' x 80, type => 'web',
                      redirectUris => [ "$origin/reset" ],
                      scopes => [ qw(openid invoices:read) ]);

$acme->admin(POST => '/social/connections',
             { provider => 'github', clientId => 'x', clientSecret => 'y', label => $EVIL },
             undef, $all);
$s->sql('INSERT INTO svc.federated_identity (tenant_id, connection_id, subject_hash, id, user_id,'
        . " subject, email_seen) SELECT tenant_id, connection_id, sha256('a'),"
        . " gen_random_uuid(), '$ada->{id}', 'x', 'ada\@elsewhere.test' FROM svc.social");

my $page = SvcTest::Page->new($s->root);
my %seen;


sub shows {
    my ($heading, $name) = @_;

    my $there = eval { $page->do(heading => $heading); 1 };

    ok($there, $name // $heading) or diag($@, $page->do(text => 'body'));
    is_deeply($page->do('axe'), [], '... for everybody') if !$seen{$heading}++;
    is_deeply($page->do('faults'), [], '... with no error');
}


# The title of the dialog above all others.

sub title {
    return $page->do(run => '[...document.querySelectorAll("dialog h2")].at(-1)?.textContent')
           // '';
}


sub asks {
    my ($title, $name) = @_;

    ok((wait_for { title() eq $title }), $name // $title) or diag($page->do(text => 'body'));
    is_deeply($page->do('axe'), [], '... for everybody') if !$seen{$title}++;
    is_deeply($page->do('faults'), [], '... with no error');
}


# By keys alone; what is not the first is in a dialog.


sub hit {
    my (@names) = @_;

    for my $n (0 .. $#names) {
        wait_for { length title() } if $n > 0;
        return fail($names[$n]) || diag($@) if !eval { $page->do(reach => $names[$n]); 1 };
        $page->do(key => 'Enter');
    }
}


sub fill {
    my (%values) = @_;

    for (sort keys %values) {
        return fail($_) || diag($@) if !eval { $page->do(reach => $_); 1 };
        $page->do(key => 'Control+a');
        $page->do(write => "$values{$_}");
    }

    $page->do(key => 'Enter');
}


# What is said at the edge, or in a row.

sub has {
    my ($like, $name) = @_;

    my $text;

    ok((wait_for { $text = $page->do(text => 'body'); $text =~ $like }), $name // "$like")
        or diag($text);
}


sub part { return $page->do(text => "#part-$_[0]") }


sub says {
    my ($like, $name) = @_;

    like(eval { $page->do('said') } // "$@", $like, $name);
}


sub sign_in {
    my ($email) = @_;

    $page->do(fresh => "$origin/nothing");
    $page->do(go => "$origin/account?tenant=acme");
    $page->do(heading => 'Sign in – Acme');
    $page->do(type => 'E-mail address', $email);
    $page->do(type => 'Password', $PASSWORD);
    $page->do(press => 'Sign in');
}


sub mails_to { return grep { $_->{to}[0] eq $_[0] } $mail->events('mail') }


# The newest code; each is taken once.

my %taken;

sub code_to {
    my ($email) = @_;

    return wait_for {
        (grep { !$taken{$_}++ } map { $_->{plain} =~ /^\s*(\d{6})\r?$/m } mails_to($email))[-1]
    };
}


# Nothing was shown within the last ten minutes.

sub stale {
    $s->sql("UPDATE svc.session SET mfa_at = NULL, reauth_at = now() - interval '20 minutes',"
            . " auth_time = auth_time - interval '20 minutes'");
}


# --- what the page is made of ---------------------------------------------------------

# Adds to $seen the files that one needs before it runs, and the file.

sub needs {
    my ($path, $seen) = @_;

    return if $seen->{$path}++;

    my $text = slurp($s->root . "/conf/www$path");

    for ($text =~ /^(?:import|\} from|import .* from) "(\.[^"]+)";$/mg) {
        my $file = "$path/../$_";

        1 while $file =~ s{[^/]+/\.\./|/\.(?=/)}{};
        needs($file, $seen);
    }
}

{
    my (%first, %all);
    my @told = slurp($s->root . '/conf/www/account.html') =~ /modulepreload" href="([^"]+)"/g;

    needs('/svc/login.js', \%first);
    %all = %first;
    needs("/svc/account/$_.js", \%all) for qw(start account);
    is_deeply([ sort @told ], [ sort grep { !$first{$_} } keys %all ],
              'the browser is told at once what it needs');

    for my $l (qw(en fr de)) {
        my $bytes = 0;

        $bytes += length Compress::Zlib::memGzip(slurp($s->root . "/conf/www$_"))
            for keys %all, qw(/account.html /svc/page.css /svc/ui/ui.css /svc/account/account.css),
                map { "$_.$l.js" } qw(/svc/text /svc/ui/text /svc/account/account);
        cmp_ok($bytes, '<=', 33_900, "$l: all that a first view takes is small");
    }
}


# --- what is read, and how much it is -------------------------------------------------

sign_in('ada@acme.test');
shows('Your account');
has(qr/Console/, 'whoever has a permission is led to the console');
$page->do('calls');
$page->do('reload');
$page->do(heading => 'Your account');
cmp_ok(scalar @{ $page->do('calls') }, '<=', 6, 'six requests at most');
is($page->do(count => '#part-identities .row'), 0, 'what is far below is not read');


# --- who it is ------------------------------------------------------------------------

hit('Edit: Profile');
asks('Edit the profile');
fill('First name' => 'Augusta');
has(qr/Augusta\s+Language: As in the browser\s+Role: Owner/, 'the name is changed');
hit('Confirm: E-mail address');
asks('Confirm the address');

my $code = code_to('ada@acme.test');

fill('Code of six digits' => sprintf '%06d', ($code + 1) % 1_000_000);
says(qr/^That is not the code\.$/, 'a wrong code is said');
fill('Code of six digits' => $code);
has(qr/ada\@acme\.test\s+confirmed/, 'the address is confirmed');

# a proof that is asked for within a save

stale();
hit('Change: E-mail address');
asks('Change the address');
fill('New address' => 'ada@new.test');
asks('Show that it is you', 'a proof is wanted');
$page->do(key => 'Escape');
says(qr/^Nothing has been changed/, 'who thinks better of it is told so');
is($page->do(run => 'document.querySelector("dialog input").value'), 'ada@new.test',
   'what was typed stays');
is(scalar mails_to('ada@new.test'), 0, 'and nothing is sent');
hit('Send a code');
asks('Show that it is you');
fill(Password => $PASSWORD);
has(qr/We have sent a code to ada\@new\.test/, 'with a proof it goes on');
fill('Code of six digits' => code_to('ada@new.test'));
has(qr/Your address is ada\@new\.test now/, 'the address is another one');
is(scalar mails_to('ada@new.test'), 1, 'which was sent once');

hit('Change: Password');
asks('Change the password');
like($page->do(text => '#password-newPassword-help'), qr/^At least 12 characters · /,
     'the rules are told');
fill('Current password' => 'wrong', 'New password' => $NEW);
says(qr/^That is not your current password\.$/, 'a wrong one is said');
fill('Current password' => $PASSWORD, 'New password' => 'short');
says(qr/^This password will not do\. minLength: /, 'so is one that is refused');
fill('Current password' => $PASSWORD, 'New password' => $NEW);
has(qr/The password is changed/, 'the password is another one');


# --- what proves it -------------------------------------------------------------------

hit('Add an app');
asks('Authenticator app');

my $secret = $page->do(text => '.fours');
my $svg = unescape($page->do(attribute => '.qr', 'src') =~ s{^data:image/svg\+xml,}{}r);
my ($read) = npm_run($s->root, 'qr.mjs', JSON::PP->new->encode([ $svg ]));

like($secret, qr/^(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}\z/, 'the secret is in fours');
$secret =~ s/ //g;
$s->secret($secret);
like($read, qr/secret=$secret\b/, 'and a phone reads it');
fill('Code of six digits' => totp($secret));
asks('Your recovery codes');

my @codes = split ' ', $page->do(text => '.codes');

is(scalar @codes, 10, 'ten of them');
is($page->do(download => 'Download'), join("\n", @codes, ''), 'as a file, too');
hit('I have kept them');

$page->do('authenticator');
hit('Add a passkey');
asks('Add a passkey');
fill(Name => $EVIL);
has(qr/The passkey is added/);
like(part('passkeys'), qr/\Q$EVIL\E\s+on one device\s+Added now · never used/, 'a passkey');
hit("Rename: $EVIL");
asks('Rename');
fill(Name => 'Key');
has(qr/Key\s+on one device/, 'which has another name now');

hit('Use codes by mail');
asks('Codes by mail');
fill('Code of six digits' => code_to('ada@new.test'));
has(qr/Codes by mail\s+ada\@new\.test\s+Added now/, 'codes by mail');

stale();
hit('New codes');
asks('New codes');
hit('New codes');
asks('Show that it is you', 'a proof is wanted, of a factor');
hit('Use a passkey');
asks('Your recovery codes');
unlike($page->do(text => '.codes'), qr/$codes[0]/, 'other recovery codes');
hit('I have kept them');

hit('Remove: Authenticator app');
has(qr/Remove “Authenticator app”\?\s.*\b2 other second factors stay\./s, 'what stays is said');
hit('Remove');
has(qr/“Authenticator app” is removed\./, 'one factor less');
hit('Remove: ada@new.test', 'Remove');
wait_for { part('factors') =~ /Use codes by mail/ };
policy($acme, 'mfa');
hit('Remove: Key');
has(qr/It is your last second factor/, 'that it is the last is said before');
is_deeply($page->do('axe'), [], 'to everybody');
hit('Remove');
says(qr/^It is the last one: add another one first\./, 'it stays, where one is wanted');
policy($acme, 'allow');


# --- where, by whom, and what ---------------------------------------------------------

$s->sql('INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources, allowed)'
        . " VALUES ('$acme->{id}', '$ada->{id}', '$app->{clientId}',"
        . " '{openid,invoices:read}', '{}', ARRAY[' ', ' openid', ' invoices:read'])");
SvcTest::Browser->new($s, tenant => 'acme', agent => $_)->login('ada@new.test', $NEW)
    for 'x' x 200, $EVIL, 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1';
$s->sql("UPDATE svc.session SET stage = 'full' WHERE stage <> 'full'");
$page->do('reload');
shows('Your account', 'as seen anew');
like(part('sessions'), qr/^.*\s+.*\s+Chrome · Linux\s+this one\s.*Safari · iPhone/s,
     'this session is the first');
hit('End: Safari · iPhone');
has(qr/One session has ended/, 'one is ended');
unlike(part('sessions'), qr/iPhone/, 'and gone');
hit('End all others', 'End all others');
has(qr/\d sessions have ended/, 'all others');
is($page->do(count => '#part-sessions .row'), 1, 'this one stays');

like(part('consents'), qr/<b>Billing y+\s+invoices:read · Know that it is you/,
     'what an application may do, in words');
hit('Take back: <b>Billing ' . 'y' x 80, 'Take back');
has(qr/None has access/, 'is taken back');

hit('Linked accounts');
has(qr/\Q$EVIL\E\s+ada\@elsewhere\.test/, 'an identity that is linked');
hit("Remove: $EVIL");
has(qr/If it is the only way in that is left/, 'what may stand against it is said before');
hit('Remove');
has(qr/None is linked/, 'is removed');
is($page->do(count => 'main img'), 0, 'names are text, and nothing else');
is_deeply($page->do('faults'), [], 'no error');


# --- other languages, and a narrow window ---------------------------------------------

hit('Edit: Profile');
asks('Edit the profile');
$page->do(reach => 'Language');
$page->do(key => 'd');
hit('Save');
shows('Ihr Konto', 'in German');
$s->sql("UPDATE svc.user_account SET locale = 'fr' WHERE id = '$ada->{id}'");
$page->do(resize => 360, 740);
$page->do('reload');
shows('Votre compte', 'in French');
is($page->do(run => 'document.documentElement.scrollWidth'), 360, 'nothing scrolls sideways');

my $texts = JSON::PP->new->decode($page->do(run => <<'EOT'));
(async () => {
  const keys = (o, at) => Object.entries(o).flatMap(([k, v]) =>
    typeof v === "string" ? [at + k + " " + (v.match(/\{\w+\}/g) ?? []).sort()]
      : v.other ? [at + k] : keys(v, at + k + "."));

  return JSON.stringify(await Promise.all(["en", "fr", "de"].map(async l =>
    (await Promise.all(["account/account", "account/dialogs", "ui/text"].map(async file =>
      keys((await import(`/svc/${file}.${l}.js`)).default, file)))).flat())));
})()
EOT

is_deeply($texts->[$_], $texts->[0], 'all languages say the same') for 1, 2;


# --- several tabs ---------------------------------------------------------------------

$page->do(authenticator => 'off');
is($page->do(run => <<'EOT'), 'signed_in', 'a tab that was opened for a sign-in says so');
new Promise(said => {
  new BroadcastChannel("svc").onmessage = e => said(e.data);
  open("/account?back");
})
EOT
$page->do(tab => 1);
$page->do(go => "$origin/account");
$page->do(heading => 'Votre compte');
$page->do(tab => 0);
hit('Se déconnecter');
shows('Sign in – Acme', 'signed out');
$page->do('back');
$page->do(heading => 'Sign in – Acme');
is($page->do(count => '.account'), 0, 'signed out, the way back shows nothing');
$page->do(tab => 1);
ok(eval { $page->do(heading => 'Sign in – Acme'); 1 }, 'the other tab is signed out, too');
is($page->do(count => '.account'), 0, 'and shows nothing');


# --- somebody else --------------------------------------------------------------------

$page->do(tab => 0);
$page->do(resize => 1280, 800);
sign_in('bob@acme.test');
shows('Your account', 'a member');
like(part('profile'), qr/come from your organisation's directory.*\Q$EVIL\Ex+⟨U\+202E⟩/s,
     'of whom a directory has the profile');
unlike($page->do(text => '.account'), qr/Edit|Console/, 'changes none, and has no console');

$page->end;
$mail->stop;
$s->done;
done_testing();
