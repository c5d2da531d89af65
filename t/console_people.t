#!/usr/bin/perl

# Users, groups and roles in the console: people find, change, suspend and erase users,
# make groups and roles, and lose nothing of what they have typed.

use strict;
use utf8;
use warnings;

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
$page->do(run => 'document.querySelector("tbody tr:last-child a").click()');
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

$page->do(press => 'Erase');
like($page->do(text => 'dialog h2'), qr/User 1 \(user1\@acme\.test\)/, 'it is said who that is');
$page->do(type => 'Type this to confirm:', 'User 1');
is($page->do(attribute => 'dialog .danger', 'disabled'), '', 'a name, which others may have, does not do');
is_deeply($page->do('axe'), [], 'a dialog is for everybody');
$page->do(type => 'Type this to confirm:', 'user1@acme.test');
$page->do(run => 'document.querySelector("dialog .danger").click()');
$c->shows('Users', 'erased by the address');
is(user_of($of_one, 'count(*)'), 0, '... for ever');


# --- groups -----------------------------------------------------------------------------

$c->opens('groups', 'Groups');
$page->do(follow => 'New group');
$page->do(heading => 'New group');
$page->do(press => 'Create');
is($page->do(text => '.wrong'), 'This is required.', 'a name is needed');
$page->do(type => 'Name', $HOSTILE);
$page->do(press => 'Create');
$c->shows($HOSTILE, 'a group is made');
$page->do(follow => 'Activity');
ok(wait_for(sub { $page->do(count => 'tbody tr') == 1 }), 'its making is in the log');
is($page->do(attribute => 'tbody code[title]', 'title'),
   scalar $s->sql("SELECT id FROM svc.user_account WHERE user_name = 'ada\@acme.test'"),
   '... with the id of whoever made it');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(press => 'Delete');
$page->do(run => 'document.querySelector("dialog .danger").click()');
$c->shows('Groups', 'deleted again');


# --- roles ------------------------------------------------------------------------------

$c->opens('roles/new', 'New role');
$page->do(type => 'Name', 'Helpdesk');
$page->do(run => 'document.querySelector("[value=\"users:view\"]").click()');
$page->do(press => 'Create');
$c->shows('Helpdesk', 'a role is made');
is(scalar $s->sql("SELECT permissions::text FROM svc.role WHERE key = 'helpdesk'"),
   '{users:view}', '... with its permission');

my $two = $s->sql("SELECT md5('2')::uuid");

$c->opens("users/$two", 'User 2');
$page->do(run => <<'EOT');
(() => {
  const role = document.querySelector("[name=role]");

  role.value = "helpdesk";
  role.dispatchEvent(new Event("change"));
})()
EOT
$page->do(press => 'Give this role');
ok(wait_for(sub { user_of($two, 'role') eq 'helpdesk' }), 'a role is given');

$c->opens('roles/helpdesk', 'Helpdesk');
rows(1, 'who has it');
$page->do(press => 'Delete');
$page->do(run => 'document.querySelector("dialog .danger").click()');
ok(wait_for(sub { $page->do(count => '.head .problem') == 1 }),
   'a role that somebody has stays, and it is said why');
is(scalar $s->sql("SELECT count(*) FROM svc.role WHERE key = 'helpdesk'"), 1, '... as it is');


# --- a small screen ---------------------------------------------------------------------

$page->do(resize => 320, 700);
for (qw(users groups roles), "users/$two") {
    $page->do(go => "$c->{origin}/console/$_");
    ok(wait_for(sub { $page->do(count => 'h1') == 1
                      && $page->do(count => '.loading') == 0 }), "/console/$_ at 320 pixels");
    $c->fits;
}

done_testing;
