#!/usr/bin/perl

# Users, groups and roles in the console: people find, change, suspend and erase users,
# make groups and roles, and lose nothing of what they have typed.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Console;
use SvcTest::Process qw(wait_for);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = SvcTest->new;
my $c = SvcTest::Console->new($s);
my $page = $c->{page};

my $HOSTILE = '<img src=x onerror=alert(1)>';

$s->sql(<<"EOT");
INSERT INTO svc.user_account (tenant_id, id, user_name, status, role, source, display_name)
SELECT '$c->{acme}{id}', md5(i::text)::uuid, 'user' || i || '\@acme.test', 'active', 'member',
       'local', CASE i WHEN 3 THEN '$HOSTILE' WHEN 4 THEN 'Zero' || chr(8203) || 'width'
                       WHEN 5 THEN repeat('Long', 50) ELSE 'User ' || i END
  FROM generate_series(1, 160) i;
EOT

my $of_one = $s->sql("SELECT md5('1')::uuid");


sub rows {
    my ($n, $name) = @_;

    ok(wait_for(sub { $page->do(count => 'main tbody tr') == $n
                      && $page->do(count => '.stale') == 0 }), $name)
        or diag($page->do(text => 'main'));
}


# Waits for requests like one that the page has made since they were last looked at.

sub called {
    my ($like, $n, $name) = @_;

    my @calls;

    ok(wait_for(sub {
        push @calls, grep { $_ =~ $like } @{ $page->do('calls') };

        return @calls >= $n;
    }), $name);
    is(scalar @calls, $n, '... in as many requests as there may be') or diag(join "\n", @calls);
}

# Chooses a role for the user that is looked at, once there are roles to choose from.

sub chooses {
    my ($role) = @_;

    ok(wait_for(sub { $page->do(count => "[name=role] option[value=$role]") == 1 }),
       "$role can be chosen");
    $page->do(run => <<"EOT");
(() => {
  const role = document.querySelector("[name=role]");

  role.value = "$role";
  role.dispatchEvent(new Event("change"));
})()
EOT
}

sub gives {
    chooses(@_);
    $page->do(press => 'Give this role');
}

sub user_of {
    my ($id, $column) = @_;

    return scalar $s->sql("SELECT $column FROM svc.user_account WHERE id = '$id'");
}


# --- a list: its state is the address ---------------------------------------------------

$c->opens('users', 'Users');
rows(50, 'a page of users');
$page->do(type => 'Find', 'user1');
ok(wait_for(sub { $page->do('url') =~ /\?q=user1\z/ }), 'a search is in the address');
rows(50, '... of all that fit');
$page->do(follow => 'Next');
rows(22, 'the rest of them');
like($page->do('url'), qr/\?q=user1&offset=50\z/, '... at an address');
$page->do(run => 'scrollTo(0, 400)');

my $y = $page->do(run => 'scrollY');

cmp_ok($y, '>', 0, 'further down');
$page->do(click => 'tbody tr:last-child a');
ok(wait_for(sub { $page->do(count => 'main form') >= 1 }), 'one of them');
$page->do(run => 'setTimeout(() => history.back())');
rows(22, 'back at the same rows');
is($page->do(run => 'document.querySelector("[type=search]").value'), 'user1',
   '... of the same search');
ok(wait_for(sub { $page->do(run => 'scrollY') == $y }), '... at the same place')
    or diag($page->do(run => 'scrollY'));

$c->opens("users?q=$HOSTILE", 'Users');
rows(1, 'a hostile name is found');
is($page->do(text => 'tbody td a'), $HOSTILE, '... and is text');
is($page->do(count => 'main img'), 0, '... and nothing else');
$c->opens('users?q=zero', 'Users');
rows(1, 'a name with a sign that nobody sees');
is($page->do(text => 'tbody td a'), "Zero\x{27e8}U+200B\x{27e9}width", '... which is shown');
$c->opens('users?q=nobodyatall', 'Users');
ok(eval { $page->do(follow => 'Show all'); 1 }, 'where nothing fits, all is one click away');
rows(50, '... and there');


# --- several at once --------------------------------------------------------------------

# One of those that are picked is not there any more.

sub confirmed {
    ok(wait_for(sub { $page->do(count => 'dialog .danger') == 1 }), 'somebody is asked');
    $page->do(click => 'dialog .danger');
}

sub suspended {
    return scalar $s->sql("SELECT count(*) FROM svc.user_account WHERE status = 'suspended'");
}

$s->sql("UPDATE svc.user_account SET display_name = '<b>User</b> ' || chr(8238) || '159'"
        . " WHERE user_name = 'user159\@acme.test'");
$c->opens('users?q=user15', 'Users', 'eleven users');
rows(11, '... that are found');
$page->do(click => 'thead input');
$s->sql("DELETE FROM svc.user_account WHERE user_name = 'user159\@acme.test'");
$page->do(press => 'Suspend');
is($page->do(text => 'dialog h2'), 'Suspend 11 users?', 'it is asked first');
is_deeply($page->do('axe'), [], '... for everybody');
confirmed();
ok(wait_for(sub { $page->do(count => 'main .panel [role=alert]') == 1 }), 'what failed is said');
is($page->do(run => 'document.activeElement.innerText.trim()'), 'Again for these',
   '... where the focus is then');
is(suspended(), 10, '... and the others are suspended');
like($page->do(text => 'main .panel'),
     qr/ not work for 1\..*<b>User<\/b> \x{27e8}U\+202E\x{27e9}159.*It is not there/s,
     '... with the reason, and as text');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do('calls');
$page->do(press => 'Again for these');
called(qr{^POST /v1/admin/users/[^/]+/suspend$}, 1, '... which is tried again');
ok(wait_for(sub { $page->do(count => 'main .panel [role=alert]') == 1 }), '... to no other end');
is($c->said(qr/10 users/), '10 users are suspended.', 'it is said, with a way back');

# What somebody else has done since is not undone.

my $changed = $s->sql("SELECT md5('150')::uuid");

$c->admin(POST => "/users/$changed/$_", {}) for qw(reactivate suspend);
$page->do(press => 'Undo');
is($c->said(qr/Undone/), 'Undone for 9. 1 stays as it is: it has changed since.',
   '... which was taken, and no more than that');
is(suspended(), 1, '... of whoever was suspended once more');
$c->admin(POST => "/users/$changed/reactivate", {});

$s->sql("UPDATE svc.user_account SET locked_until = now() + interval '1 hour'"
        . " WHERE user_name = 'user21\@acme.test'");
$c->opens('users?locked=true', 'Users', 'who is locked');
rows(1, '... is one');
$c->opens('users?locked=true&factor=with', 'Users', '... with a second factor');
is($page->do(text => '.list.empty p >> nth=0'), 'Nothing matches.', '... is nobody');

$c->admin(POST => '/groups', { name => 'Night shift' });
$c->opens('users?q=user2', 'Users', 'other users');
rows(11, '... that are found');
$page->do(run => 'document.querySelectorAll("tbody input").forEach(box => box.click())');
$page->do(press => "Into a group \x{2026}");
$page->do(type => 'Group', 'night');
ok(wait_for(sub { $page->do(count => 'dialog [role=option]') == 1 }), 'into a group');
$page->do(key => 'Enter');
is($c->said(qr/Night shift/), '11 users are added to Night shift.', '... in one request');
$page->do(press => 'Undo');
ok(wait_for(sub { $s->sql('SELECT sum(member_count) FROM svc.user_group') == 0 }),
   '... and out of it again');

$c->admin(POST => '/invitations', { email => "$_\@acme.test", role => 'member' })
    for qw(vera wim xenia);
$c->opens('invitations', 'Invitations');
rows(3, 'who is invited');
$page->do(click => 'thead input');
ok(wait_for(sub { $page->do(count => '.picks button') > 0 }), '... is picked');
$page->do(click => '.picks button');
is($page->do(text => 'dialog h2'), 'Send 3 invitations again?', 'to all of them');
confirmed();
ok(wait_for(sub { $page->do(count => 'main .panel tbody .id') == 3 }),
   'all get another link, which is shown once');
ok(wait_for(sub { $page->do(count => '.stale') == 0 }), '... beside the list');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(run => '[...document.querySelectorAll("main .panel .actions button")].at(-1).click()');
$page->do(run => '[...document.querySelectorAll("tbody input")].slice(1)'
                 . '.forEach(box => box.click())');
$page->do(run => 'document.querySelectorAll(".picks button")[1].click()');
confirmed();
ok(wait_for(sub { $s->sql('SELECT count(*) FROM svc.invitation'
                          . ' WHERE revoked_at IS NOT NULL') == 2 }),
   'two are revoked');


# --- one user ---------------------------------------------------------------------------

$c->opens("users/$of_one", 'User 1');
$page->do(type => 'Department', 'Ships');
$page->do(press => 'Save');
is($c->said, 'Saved.', 'a change is saved');
is(user_of($of_one, 'department'), 'Ships', '... and is there');
ok(wait_for(sub { $page->do(count => 'main form .primary') == 0 }),
   'there is nothing to save any more');

$page->do(press => 'Suspend');
ok(wait_for(sub { user_of($of_one, 'status') eq 'suspended' }), 'suspended at once');
ok(eval { $page->do(press => 'Undo'); 1 }, 'there is a way back');
ok(wait_for(sub { user_of($of_one, 'status') eq 'active' }), '... which was taken');
$page->do(press => 'Suspend');
$c->said(qr/suspended/);
$page->do(click => '.tabs a[href$=access]');
ok(wait_for(sub { $page->do(count => 'main .part') > 0 }), 'another tab of one thing');
is($page->do(count => '.toast button:not(.plain)'), 1, '... has the way back, too');
$c->to(users => 'Users');
is($page->do(count => '.toast button:not(.plain)'), 0,
   '... has no way back of what is not seen there');
$c->leads('Invite people');
$c->opens("users/$of_one", 'User 1');
$page->do(press => 'Reactivate');
ok(wait_for(sub { user_of($of_one, 'status') eq 'active' }), '... which is in its place');

$page->do(type => 'Title', 'Admiral');
$page->do(follow => 'Groups');
$page->do(press => 'Cancel');
is($page->do(run => 'document.querySelector("[name=title]").value'), 'Admiral',
   'what was typed stays when one stays');

$page->do(press => 'Discard');
$page->do(follow => 'Activity');
wait_for(sub { $page->do(count => 'tbody tr') > 0 });
$page->do(follow => 'Profile');
$page->do(type => 'Title', 'Admiral');

my $here = $page->do('url');

$page->do(run => 'setTimeout(() => history.back())');
$page->do(press => 'Cancel');
ok(wait_for(sub { $page->do('url') eq $here && $page->do(count => 'dialog') == 0 }),
   'Back asks, and once');
is($page->do(run => 'document.querySelector("[name=title]").value'), 'Admiral',
   '... and loses nothing');
$page->do(press => 'Discard');

$c->opens("users/$of_one", 'User 1');
$page->do(type => 'E-mail address', 'nothing at all');
$page->do(press => 'Save');
ok(wait_for(sub { $page->do(count => '[name=email][aria-invalid=true]') == 1 }),
   'what the server refuses is said at its field');
is($page->do('focus'), 'field-email', '... which has the focus');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(press => 'Discard');

# who is locked out of everything

$s->sql(<<"EOT");
UPDATE svc.user_account SET locked_until = now() + interval '1 hour', valid_after = NULL
 WHERE id = '$of_one';
INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at)
SELECT tenant_id, id, id, 'email', 'E-mail', now() FROM svc.user_account WHERE id = '$of_one';
EOT


sub factors { return scalar $s->sql("SELECT count(*) FROM svc.factor WHERE user_id = '$of_one'") }


$c->opens("users/$of_one", 'User 1');

for ([ 'Unlock', sub { (user_of($of_one, 'locked_until > now()') // 'f') ne 't' } ],
     [ 'Sign out', sub { defined user_of($of_one, 'valid_after') } ],
     [ 'Reset factors', sub { !factors() } ])
{
    my ($verb, $done) = @$_;

    ok(!$done->(), "not yet: $verb");
    $page->do(run => '[...document.querySelectorAll(".head button")]'
                     . ".find(({ innerText }) => innerText.trim() === '$verb').click()");
    ok(wait_for(sub { $page->do(count => 'dialog') == 1 }), '... it asks');
    $page->do(click => 'dialog .danger');
    ok(wait_for(sub { $done->() }), '... and does it');
    ok(wait_for(sub { $page->do(count => 'dialog') == 0 }), '... and is away');
}

$page->do(press => 'Erase');
like($page->do(text => 'dialog h2'), qr/User 1 \(user1\@acme\.test\)/, 'it is said who that is');
$page->do(type => 'Type this to confirm:', 'User 1');
is($page->do(attribute => 'dialog .danger', 'disabled'), '', 'a name, which others may have, does not do');
is_deeply($page->do('axe'), [], 'a dialog is for everybody');
$page->do(type => 'Type this to confirm:', 'user1@acme.test');
confirmed();
$c->shows('Users', 'erased by the address');
is(user_of($of_one, 'count(*)'), 0, '... for ever');


# --- groups -----------------------------------------------------------------------------

$c->opens('groups', 'Groups');
$page->do(follow => 'New group');
$page->do(heading => 'New group');
$page->do(press => 'Create');
is($page->do(text => '.wrong'), 'This is required.', 'a name is needed');
$page->do(type => 'Name', $HOSTILE);
$page->do(broken => "$c->{origin}/v1/admin/groups");
$page->do(press => 'Create');
ok(wait_for(sub { $page->do(text => 'main') =~ /cannot be reached/ }),
   'the connection breaks before the answer');
$page->do('faults');
$page->do(press => 'Create');
$c->shows($HOSTILE, 'a group is made');
is(scalar $s->sql("SELECT count(*) FROM svc.user_group WHERE name = '$HOSTILE'"), 1,
   '... and once');
$page->do(follow => 'Activity');
ok(wait_for(sub { $page->do(count => 'tbody tr') == 1 }), 'its making is in the log');
is($page->do(text => 'tbody td:nth-child(3)'), 'Ada Lovelace ada@acme.test',
   '... with the name of whoever made it');
is($page->do(attribute => 'tbody span[title]', 'title'),
   scalar $s->sql("SELECT id FROM svc.user_account WHERE user_name = 'ada\@acme.test'"),
   '... and the id');
is_deeply($page->do('axe'), [], '... for everybody');

my $shared = $s->sql("SELECT id FROM svc.user_group WHERE name = '$HOSTILE'");

$page->do(follow => 'Group');
$c->shows($HOSTILE);
$page->do(type => 'Name', 'Mine');
$c->admin(PUT => "/groups/$shared", { description => 'Theirs' });
$page->do(press => 'Save');
ok(wait_for(sub { $page->do(count => 'dialog .beside') == 1 }), 'two change it at a time');
like($page->do(text => 'dialog'), qr/Changed: Description.*Theirs.*Changed: Name.*Mine/s,
     '... and both are shown');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(press => 'Keep editing');
is(scalar $s->sql("SELECT name FROM svc.user_group WHERE id = '$shared'"), $HOSTILE,
   '... nothing is sent');
$page->do(press => 'Save');
$page->do(press => 'Send mine again');
$c->shows('Mine', '... and then mine is');
is(scalar $s->sql("SELECT name || ' ' || description FROM svc.user_group WHERE id = '$shared'"),
   'Mine Theirs', '... so that both are kept');
is_deeply([ grep { !/412/ } @{ $page->do('faults') } ], [], '... with no other error');
$page->do(press => 'Delete');
confirmed();
$c->shows('Groups', 'deleted again');


# --- roles ------------------------------------------------------------------------------

$c->opens('roles/new', 'New role');
$page->do(type => 'Name', 'Helpdesk');
$page->do(click => '[value="users:view"]');
$page->do(press => 'Create');
$c->shows('Helpdesk', 'a role is made');
is(scalar $s->sql("SELECT permissions::text FROM svc.role WHERE key = 'helpdesk'"),
   '{users:view}', '... with its permission');

my $two = $s->sql("SELECT md5('2')::uuid");

$c->opens("users/$two", 'User 2');
chooses('helpdesk');
$c->admin(PUT => "/members/$two", { role => 'admin' });
$page->do(press => 'Give this role');
ok(wait_for(sub { $page->do(count => 'dialog .beside') == 1 }), 'somebody gives another one');
like($page->do(text => 'dialog'), qr/Role.*admin.*Role.*helpdesk/is, '... which is shown');
$page->do(press => 'Send mine again');
ok(wait_for(sub { user_of($two, 'role') eq 'helpdesk' }), 'a role is given');

$c->opens('roles/member', 'Member', 'a role of the system by itself');
is($page->do(count => 'main form'), 0, '... stays as it is');
$c->opens("roles/helpdesk/$two", 'User 2', 'who has a role, for who may not see users');
is($page->do(run => 'document.querySelector("[name=role]").value'), 'helpdesk', '... with it');
$c->opens('roles/nobody', 'Role', 'no role');
like($page->do(text => 'main'), qr/no such role/, '... is said');
$c->opens('roles/helpdesk', 'Helpdesk');
rows(1, 'who has it');
$page->do(type => 'Name', 'Desk');
$s->sql("UPDATE svc.role SET name = 'Theirs', updated_at = now() WHERE key = 'helpdesk'");
$page->do(press => 'Save');
ok(wait_for(sub { $page->do(count => 'dialog .beside') == 1 }), 'two change it at a time');
$page->do(press => 'Load theirs');
$c->shows('Theirs', '... and theirs is loaded');
$s->sql("UPDATE svc.role SET name = 'Helpdesk' WHERE key = 'helpdesk'");
$c->opens('roles/helpdesk', 'Helpdesk');
$page->do(press => 'Delete');
confirmed();
ok(wait_for(sub { $page->do(count => '.head .problem') == 1 }),
   'a role that somebody has stays, and it is said why');
is(scalar $s->sql("SELECT count(*) FROM svc.role WHERE key = 'helpdesk'"), 1, '... as it is');

$c->opens("users/$two", 'User 2', 'who has it');
$page->do(press => 'Take the role away');
like($page->do(text => 'dialog'), qr/away from User 2.*User 2 is helpdesk now.*All sessions end/s,
     'what ends by taking it away');
confirmed();
ok(wait_for(sub { user_of($two, 'role') eq 'member' }), '... which is done');
ok(wait_for(sub { $page->do(count => '.head .danger') == 1 }), '... and then there is none');
like($page->do(attribute => '.head [aria-disabled=true]', 'title'), qr/^No mail goes out/,
     'without mail no link is sent, and it is said why');


# --- the last owner ---------------------------------------------------------------------

my $ada = $c->{ada}{id};

sub refused {
    my ($name) = @_;

    ok(wait_for(sub { $page->do(count => 'main .problem') == 1 }), "$name: refused");
    like($page->do(text => 'main .problem'), qr/left without an active owner\. Make somebody/,
         '... in words');
    is(user_of($ada, "role || ' ' || status"), 'owner active', '... and nothing is done');
    $c->opens("users/$ada", 'Ada Lovelace', '... so it is tried otherwise');
}

$c->opens("users/$ada", 'Ada Lovelace');
$page->do(press => 'Suspend');
refused('suspended');
$page->do(press => 'Take the role away');
confirmed();
refused('without the role');
gives('admin');
refused('with another role');
$page->do(press => 'Erase');
$page->do(type => 'Type this to confirm:', 'ada@acme.test');
confirmed();
refused('erased');


# --- 100,000 users ----------------------------------------------------------------------

my $N = 100_000;
my $acme = "tenant_id = '$c->{acme}{id}'";

$s->sql(<<"EOT");
SET session_replication_role = replica;
INSERT INTO svc.user_account (tenant_id, id, user_name, display_name, created_at)
SELECT '$c->{acme}{id}', md5('crowd' || i)::uuid, 'crowd' || i || '\@acme.test', 'Crowd ' || i,
       now() - i * interval '1 second'
  FROM generate_series(1, $N) i;
UPDATE svc.user_count SET active = active + $N
 WHERE $acme AND shard = (SELECT min(shard) FROM svc.user_count WHERE $acme);
ANALYZE svc.user_account;
EOT

my $total = $s->sql("SELECT count(*) FROM svc.user_account WHERE $acme");
my $last = 50 * int(($total - 1) / 50);

sub grouped { return scalar reverse((reverse $_[0]) =~ s/(\d{3})(?=\d)/$1,/gr) }

# Goes to another page; returns how many milliseconds it takes to draw it once it is there.

sub turns {
    my ($name) = @_;

    return $page->do(run => <<"EOT");
(async () => {
  const said = () => document.querySelector(".pager span").textContent;
  const before = said();

  [...document.querySelectorAll(".pager a")].find(a => a.textContent === "$name").click();

  while (said() === before || document.querySelector(".stale")) {
    await new Promise(next => requestAnimationFrame(next));
  }

  const { responseEnd } = performance.getEntriesByType("resource")
    .filter(entry => entry.name.includes("/v1/admin/users")).at(-1);

  return Math.round(performance.now() - responseEnd);
})()
EOT
}

# The requests since the last time, without that for the logo, which comes at any time.

sub calls { return [ grep { $_ ne 'GET /v1/admin/tenant' } @{ $page->do('calls') } ] }


calls();
$c->opens("users?offset=$last", 'Users', 'the last page of all');
rows($total - $last, '... has the rest');
is($page->do(text => '.pager span'),
   grouped($last + 1) . "\x{2013}" . grouped($total) . ' of ' . grouped($total), '... and says so');
is_deeply(calls(), [ map { "GET /v1/$_" } qw(auth/session admin/console admin/users) ],
          '... by three requests');
diag('a page of ', grouped($total), ' users is drawn ', turns('Previous'), ' ms after it has come');
rows(50, 'the page before it');
is_deeply(calls(), [ 'GET /v1/admin/users' ], '... by one');

$c->opens('users?q=crowd', 'Users', 'a search that finds nearly all');
is($page->do(text => '.pager span'), "1\x{2013}50 of 10,000 or more",
   'they are not counted to the end');
diag('one of a search ', turns('Next'), ' ms after it has come');
$c->opens('users?q=crowd&offset=9950', 'Users', 'where it ends');
like($page->do(text => '.pager span'), qr/Narrow it down with a search\./, 'it is said what helps');
is($page->do(count => '.pager a'), 1, '... and there is no next page');


# --- a group from addresses -------------------------------------------------------------

my $hands = $c->admin(POST => '/groups', { name => 'All hands' })->{id};
my @there = map { "crowd$_\@acme.test" } 1 .. 1197;
my @none = map { "nobody$_\@acme.test" } 1 .. 3;

sub in_dialog {
    my ($like, $name) = @_;

    ok(wait_for(sub { $page->do(count => 'dialog') > 0
                      && $page->do(text => 'dialog >> nth=0') =~ $like }), $name)
        or diag($page->do(text => 'body'));
}

# All at once: to type so many takes a browser longer than anybody waits.

sub pastes {
    my $text = JSON::PP->new->allow_nonref->encode($_[0]);

    $page->do(run => <<"EOT");
(field => {
  field.value = $text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertFromPaste" }));
})(document.querySelector("#paste-emails"))
EOT
}

sub of_hands {
    return scalar $s->sql("SELECT member_count FROM svc.user_group WHERE id = '$hands'");
}

$c->opens("groups/$hands/members", 'All hands');
$page->do('calls');
$page->do(press => "Paste addresses \x{2026}");
ok(wait_for(sub { $page->do('focus') eq 'paste-emails' }), 'a place to paste to');
pastes(join "\n", "Crowd 1 <$there[0]>; \"Two, Crowd\" <\U$there[1]\E>",
            "\"mallory\@evil.test\" <$there[0]>, <eve\@evil.test> <$there[1]>",
            join(', ', @there[2 .. 600]), @none, @there[601 .. 1196], 'the others');
in_dialog(qr/^1,200 addresses \x{b7} 1 part is no address\.$/m, 'they are counted');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(reach => 'Add');
$page->do(key => 'Enter');
in_dialog(qr/^1,197 people are added\.$/m, 'those that are there are added');
called(qr{^POST }, 2, '... by two requests');
is($page->do(run => 'document.querySelector("dialog pre").innerText'), join("\n", @none),
   'who is not there can be copied');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(reach => 'Close');
$page->do(key => 'Enter');
rows(50, 'they are in the group');
is(of_hands(), 1197, '... all of them');

$page->do(press => "Paste addresses \x{2026}");
$page->do(type => 'Addresses', "$there[5] $none[0]");
$page->do(click => 'dialog [type=checkbox]');
$page->do(press => 'Add');
$page->do(press => 'Replace');
in_dialog(qr/nobody1\@acme\.test/, 'an address of nobody');
is(of_hands(), 1197, '... takes nobody away');
$page->do(type => 'Addresses', "$there[5], bob@");
$page->do(press => 'Add');
in_dialog(qr/1 part is no address\.\s*$/m, 'nor does what is no address');
is(of_hands(), 1197, '... before it is asked');
$page->do(type => 'Addresses', $there[5]);
$page->do(press => 'Add');
$page->do(press => 'Replace');
in_dialog(qr/has this one member now/, 'one is left');
is(of_hands(), 1, '... and nobody else');
$page->do(press => 'Close');

my %app = map {
    my $r = $s->http(POST => '/v1/applications', [ Authorization => "Bearer $c->{all}" ],
                     { name => $_, type => 'spa', redirectUris => [ 'https://x.example.com/' ] });

    ($_ => $r->json->{clientId});
} qw(Ledger Payroll);

$c->admin(POST => "/groups/$hands/apps", { clientId => $app{Ledger} });
$c->opens("groups/$hands/apps", 'All hands', 'the applications of a group');
$page->do(press => "Choose all \x{2026}");
$page->do(press => 'Remove: Ledger');
$page->do(type => 'Applications', 'payroll');
ok(wait_for(sub { $page->do(count => 'dialog [role=option]') == 1 }), 'another one is found');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(key => 'Enter');
$page->do(press => 'Save');
is($c->said(qr/Saved/), 'Saved.', 'all of them are others');
is($s->sql("SELECT string_agg(client_id, ' ') FROM svc.group_app WHERE group_id = '$hands'"),
   $app{Payroll}, '... at once');
$page->do(press => 'Remove');
ok(wait_for(sub { $page->do(count => '.list.empty') == 1 }), 'the last one is taken away');
is($page->do(run => 'document.activeElement.tagName'), 'H1', '... and the focus is not lost');


# --- a small screen ---------------------------------------------------------------------

$page->do(resize => 320, 700);
for (qw(users groups roles), "users/$two") {
    $page->do(go => "$c->{origin}/console/$_");
    ok(wait_for(sub { $page->do(count => 'h1') == 1
                      && $page->do(count => '.loading') == 0 }), "/console/$_ at 320 pixels");
    $c->fits;
}

done_testing;
