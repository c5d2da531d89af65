#!/usr/bin/perl

# The console and sessions: a second factor that is asked for in the middle of an edit, a
# session that ends, somebody else who signs in in another tab, the network that is away,
# and the keyboard.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Console;
use SvcTest::Process qw(wait_for);

my $s = SvcTest->new;
my $c = SvcTest::Console->new($s);
my ($page, $globex) = @$c{qw(page globex)};

$c->user($_) for qw(bob carol);
with_password($s, $globex, userName => 'eve@globex.test', role => 'owner');

my %id = map { $_ => scalar $s->sql("SELECT id FROM svc.user_account WHERE user_name = '$_\@acme.test'") }
         qw(ada bob carol);


sub stale { $s->sql("UPDATE svc.session SET mfa_at = NULL, reauth_at = now() - interval '1 hour'") }
sub ended { $s->sql("UPDATE svc.session SET ended_at = now() WHERE user_id = '$id{ada}'") }
sub user_of { return scalar $s->sql("SELECT $_[1] FROM svc.user_account WHERE id = '$id{$_[0]}'") }
sub asked { return wait_for(sub { $page->do(count => 'dialog') == 1 }) }
sub gone { return wait_for(sub { $page->do(count => 'dialog') == 0 }) }


# --- without a mouse: to a user by a few letters, and back ------------------------------

$c->opens('groups', 'Groups');
$page->do(key => 'Control+k');
ok(asked(), 'the palette');
$page->do(write => 'bob');
ok(wait_for(sub { $page->do(count => '[role=option]') == 1 }), 'finds a user by a name');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(key => 'Enter');
$c->shows('Bob', 'and leads there');
$page->do(key => 'Control+k');
asked();
$page->do(write => $id{carol});
ok(wait_for(sub { $page->do(count => '[role=option]') >= 1 }), '... or by an id');
$page->do(key => 'Enter');
$c->shows('Carol', 'which is of somebody else');
$page->do(reach => 'Suspend');
$page->do(key => 'Enter');
ok(wait_for(sub { user_of('carol', 'status') eq 'suspended' }), 'suspended');
$page->do(reach => 'Undo');
$page->do(key => 'Enter');
ok(wait_for(sub { user_of('carol', 'status') eq 'active' }), '... and not any more');


# --- what has to be proved once more, in the middle of an edit ---------------------------

$c->opens("users/$id{bob}", 'Bob');
stale();
$page->do(type => 'E-mail address', 'robert@acme.test');
$page->do(press => 'Save');
ok(asked(), 'another address wants a fresh proof');
ok(wait_for(sub { $page->do(count => 'dialog [type=password]') == 1 }), '... the password');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(key => 'Escape');
ok(gone(), 'not now');
is($page->do(run => 'document.querySelector("[name=email]").value'), 'robert@acme.test',
   'what was typed is there');
is(user_of('bob', 'user_name'), 'bob@acme.test', 'and nothing has changed');
$page->do(press => 'Save');
asked();
$page->do(type => 'Password', $PASSWORD);
$page->do(key => 'Enter');
ok(gone(), 'proved');
ok(wait_for(sub { user_of('bob', 'user_name') eq 'robert@acme.test' }), 'and saved');
is(scalar $s->sql("SELECT count(*) FROM svc.audit_event WHERE target_id = '$id{bob}'"
                  . " AND action = 'user.updated'"), 1, '... once');
is_deeply($page->do('faults'), [], 'without a word of the browser');


# --- a session that has ended, under a form ----------------------------------------------

$c->opens("users/$id{carol}", 'Carol');
$page->do(type => 'Title', 'Captain');
ended();
$page->do(press => 'Save');
ok(asked(), 'the session has ended');
is_deeply($page->do('axe'), [], '... which is said to everybody');
$page->do(tab => 1);
$c->sign_in('ada');
$page->do(tab => 0);
$page->do(press => 'I have signed in');
ok(wait_for(sub { (user_of('carol', 'title') // '') eq 'Captain' }),
   'what was typed is saved after a sign-in in another tab');
ok(gone(), '... and the dialog has gone');


# --- somebody else, in another tab -------------------------------------------------------

my %single = (
    'access-policy' => 'PUT', 'risk-policy' => 'PUT', 'password-policy' => 'PUT',
    tenant => 'PATCH', 'agents/settings' => 'PUT', 'oauth/settings' => 'PUT',
);

$c->opens("users/$id{carol}", 'Carol');
$page->do(type => 'Title', 'Admiral');
$page->do(tab => 1);
$page->do(go => "$c->{origin}/nothing");
$page->do('forget');
$page->do(go => "$c->{origin}/login?tenant=globex&return_to=/console");
$page->do(type => 'E-mail address', 'eve@globex.test');
$page->do(type => 'Password', $PASSWORD);
$page->do(press => 'Sign in');
$page->do(arrives => "$c->{origin}/console**");

my $before = $s->sql("SELECT md5(string_agg(g::text, '')) FROM svc.governance g")
             . $s->sql("SELECT md5(string_agg(t::text, '')) FROM svc.tenant t");

$page->do(tab => 0);

for my $path (sort keys %single) {
    is($page->do(run => <<"EOT"), 'session_changed', "$single{$path} $path is not sent for another tenant");
(async () => {
  const { call } = await import("/svc/ui/call.js");
  const path = "/admin/$path";

  return call({ method: "$single{$path}", path, body: { name: "Taken over" } })
    .then(() => "sent", e => e.code);
})()
EOT
}

is($page->do(run => 'import("/svc/ui/call.js").then(({ call }) =>'
                    . ' call({ path: "/admin/users" })).then(() => "read", e => e.code)'),
   'session_changed', 'nor is anything shown of it');
is($page->do(run => <<'EOT'), JSON::PP::false(), 'nor is a file fetched');
(async () => {
  const { ours } = await import("/svc/ui/call.js");
  const link = document.createElement("a");

  link.addEventListener("click", ours);

  return link.dispatchEvent(new Event("click", { cancelable: true }));
})()
EOT
is($s->sql("SELECT md5(string_agg(g::text, '')) FROM svc.governance g")
   . $s->sql("SELECT md5(string_agg(t::text, '')) FROM svc.tenant t"), $before,
   'nothing has changed in either');
$page->do(run => 'document.querySelector("main form").requestSubmit()');
ok(asked(), 'it is said that somebody else has signed in');
is(user_of('carol', 'title'), 'Captain', 'and nothing was saved');


# --- what the operator has off is said --------------------------------------------------

$page->do(tab => 1);
$page->do('forget');
$c->sign_in('ada');

my %off = (applications => 'svc_oauth', agents => 'svc_oauth', delegations => 'svc_oauth',
           webhooks => 'svc_webhooks', 'scim-targets' => 'svc_scim_targets');

for my $view (sort keys %off) {
    $page->do(go => "$c->{origin}/console/$view");
    ok(wait_for(sub { $page->do(text => 'main') =~ /turns it on with $off{$view} on/ }),
       "what $view need: $off{$view}");
}

$c->opens('groups', 'Groups');
unlike($page->do(text => 'main'), qr/turns it on/, '... and nothing of what is not');


# --- the network is away -----------------------------------------------------------------

$page->do(offline => JSON::PP::true());
$page->do(click => 'nav [href$=users]');
ok(wait_for(sub { $page->do(count => '.problem') == 1 }), 'the network is away');
like($page->do(text => '.problem'), qr/cannot be reached/, '... which is said');
is_deeply($page->do('axe'), [], '... to everybody');
$page->do(offline => JSON::PP::false());
$page->do('faults');
$page->do(press => 'Try again');
ok(wait_for(sub { $page->do(count => 'tbody tr') > 0 }), 'and it comes back');


# --- an upgrade under an open tab ----------------------------------------------------------

$page->do(without => "$c->{origin}/svc/console/access.js");
$page->do(click => '#nav a[href="/console/access"]');
ok(wait_for(sub { $page->do(text => 'main') =~ /has been updated/ }), 'a file has gone');
$page->do(without => "$c->{origin}/svc/console/access.js", 1);
$page->do('faults');
$page->do(press => 'Load again');
$c->shows('Access', 'the new ones are there');
$page->do(without => "$c->{origin}/svc/console/help.js");
$page->do(key => '?');
ok(wait_for(sub { $page->do(text => 'main .problem') =~ /has been updated.*Load again/s }),
   'a dialog that has gone');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(without => "$c->{origin}/svc/console/help.js", 1);
$page->do('faults');
$page->do(press => 'Load again');
$c->shows('Access', '... is there, too');


# --- what is typed before a dialog is there ---------------------------------------------------

$page->do(run => <<'EOT');
[..."/gra"].forEach(key => document.body.dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))
EOT
ok(wait_for(sub { $page->do(count => '#palette') == 1 }), 'the palette comes');
is($page->do(run => 'document.querySelector("#palette").value'), 'gra', 'with what was typed');
$page->do(key => 'Escape');


# --- rights that change under an open tab --------------------------------------------------

$c->admin(POST => '/roles', { key => 'desk', name => 'Desk', permissions => [ 'users:view' ] });
$c->user('dora');
$c->admin(PUT => '/members/' . $s->sql("SELECT id FROM svc.user_account WHERE user_name"
                                         . " = 'dora\@acme.test'"), { role => 'desk' });
$page->do(tab => 3);
$page->do('forget');
$page->do('clock');
$c->sign_in('dora');
$c->opens('users', 'Users');
is($page->do(count => '#nav a[href="/console/groups"]'), 0, 'who may see users sees no more');
$c->opens('groups', 'Groups', '... not by its address either');
like($page->do(text => 'main'), qr/groups:manage/, '... which names the permission');
$c->opens('users', 'Users');
$c->admin(PUT => '/roles/desk', { name => 'Desk', permissions => [ 'users:view', 'groups:manage' ] });
$page->do(run => 'import("/svc/ui/call.js").then(({ refresh }) => refresh())');
ok(wait_for(sub { $page->do(count => '#nav a[href="/console/groups"]') == 1 }),
   'a permission that is given comes to the tab');
$c->admin(PUT => '/roles/desk', { name => 'Desk', permissions => [ 'users:view' ] });
$page->do(click => '#nav a[href="/console/groups"]');
ok(wait_for(sub { $page->do(count => '#nav a[href="/console/groups"]') == 0 }),
   'one that is taken leaves it with the next request');


# --- a session that is about to end --------------------------------------------------------

my $idle = $page->do(run => 'fetch("/v1/admin/console").then(r => r.json())')
                ->{session}{idleSeconds};

$page->do(clock => 2);
ok(wait_for(sub { $page->do(run => 'import("/svc/console/server.js").then(({ sent }) =>'
                                   . ' sent.some(({ path }) => path.endsWith("/admin/tenant")))') }),
   'the logo is looked for last');
$page->do(clock => $idle - 200);
is($page->do(count => 'dialog'), 0, 'nobody is disturbed for long');
$page->do(clock => 90);
ok(asked(), 'a session that ends soon is told of');
is_deeply($page->do('axe'), [], '... to everybody');
$page->do('calls');
$page->do(press => 'Stay signed in');
ok(gone(), '... and goes on');
is_deeply($page->do('calls'), [ 'GET /v1/auth/session' ], '... by one request');


# --- out, in all tabs --------------------------------------------------------------------

$page->do(tab => 0);
$page->do('forget');
$c->sign_in('ada');
$page->do(tab => 2);
$c->opens('users', 'Users');
$page->do(click => '.who summary');
$page->do(press => 'Sign out');
ok(eval { $page->do(heading => 'Sign in'); 1 }, 'signed out');
$page->do(tab => 1);
ok(eval { $page->do(heading => 'Sign in'); 1 }, '... in the other tab, too');
$page->do(run => 'setTimeout(() => history.back())');
ok(eval { $page->do(heading => 'Sign in'); 1 }, 'and Back shows nothing');
unlike($page->do(text => 'body'), qr/\@acme\.test/, '... of anybody');

done_testing;
