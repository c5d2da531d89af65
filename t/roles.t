#!/usr/bin/perl

# Roles: their keys, who may grant what, and who has them.

use strict;
use warnings;
use utf8;

use Encode qw(encode_utf8);
use JSON::PP ();
use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Governance;
use SvcTest::Process qw(wait_for);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;

my %token = (
    all => $acme->token_for($ALL),
    few => $acme->token_for('roles:manage,audit:view'),
    other => $globex->token_for($ALL),
);

*ask = $acme->asks('/roles', \%token);


sub role {
    my ($key, @permissions) = @_;

    return ask(POST => '', { key => $key, name => 'Role',
                             permissions => \@permissions });
}


sub members {
    return $s->sql("SELECT member_count FROM svc.role WHERE key = '$_[0]'"
                   . " AND tenant_id = '$acme->{id}'");
}


sub system_role {
    my ($key, $name, $permissions, $members) = @_;

    return { key => $key, name => $name, permissions => $permissions,
             memberCount => $members, createdAt => undef, updatedAt => undef };
}


# --- a role's life -----------------------------------------------------------------

is_deeply(ask(GET => '')->json, {
    roles => [], total => 0, limit => 100, offset => 0,
    permissions => \@PERMISSIONS,
    systemRoles => [ system_role('owner', 'Owner', \@PERMISSIONS, 0),
                     system_role('admin', 'Administrator', \@PERMISSIONS, 0),
                     system_role('member', 'Member', [], 0) ] },
    'none but those of the system');

my $revision = $acme->revision;
my $r = ask(POST => '', { key => 'auditor', name => " Audité \x{1F4B0} ",
                          extra => 1, memberCount => 7, permissions => [
                              'users:view', 'audit:view', 'users:view' ] });
is($r->status, 201, 'a role') or diag($r->body);

my $role = $r->json;

like($role->{$_}, $TIME, $_) for qw(createdAt updatedAt);
is_deeply($role, { key => 'auditor', name => "Audité \x{1F4B0}",
                   permissions => [ 'audit:view', 'users:view' ],
                   memberCount => 0, createdAt => $role->{createdAt},
                   updatedAt => $role->{createdAt} }, 'all of it');
is(join(' ', $r->body =~ /"(\w+)":/g),
   'key name permissions memberCount createdAt updatedAt', 'in this order');
is_deeply(ask(GET => '')->json->{roles}, [ $role ], 'listed');
admin_one($acme, '/roles', 'auditor', needs => 'roles:manage', other => $globex,
          none => [ qw(nobody AUDITOR Owner x) ]);
admin_one($acme, '/roles', $_, needs => 'roles:manage') for qw(owner admin member);
is($acme->revision, $revision + 1, 'the revision has moved by one');

for my $body ($role, {}, { extra => 1 }, { key => 'other', memberCount => 5 },
              { permissions => [ 'users:view', 'audit:view', 'audit:view' ] },
              { name => " Audité \x{1F4B0}" })
{
    my $name = encode_utf8('PUT ' . SvcTest::encode($body));

    unchanged($s, $acme, $name, sub {
        my $again = ask(PUT => '/auditor', $body);

        is($again->status, 200, $name);
        is_deeply($again->json, $role, 'is as it was');
    });
}

$r = ask(PUT => '/auditor', { permissions => [] });
is_deeply($r->json, { %$role, permissions => [],
                      updatedAt => $r->json->{updatedAt} }, 'without any');
cmp_ok($r->json->{updatedAt}, 'gt', $role->{updatedAt}, 'later');
is(ask(PUT => '/auditor', { name => 'Auditor' })->json->{name}, 'Auditor',
   'another name');
is_deeply(ask(PUT => '/auditor', { name => 'All', permissions => \@PERMISSIONS })
          ->json->{permissions}, \@PERMISSIONS, 'with all');
is(ask(DELETE => '/auditor')->status, 204, 'gone');
admin_error(ask(DELETE => '/auditor'), 404, 'not_found', 'once');
is($acme->revision, $revision + 5, 'each has moved the revision');

is_deeply([ $acme->new_events ], [
    [ 'role.created', 'role', 'auditor', encode_utf8("Audité \x{1F4B0}"),
      { permissions => [ 'audit:view', 'users:view' ] } ],
    [ 'role.updated', 'role', 'auditor', encode_utf8("Audité \x{1F4B0}"),
      { changed => [ 'permissions' ] } ],
    [ 'role.updated', 'role', 'auditor', 'Auditor', { changed => [ 'name' ] } ],
    [ 'role.updated', 'role', 'auditor', 'All',
      { changed => [ 'name', 'permissions' ] } ],
    [ 'role.deleted', 'role', 'auditor', 'All', {} ] ], 'the events');


# --- keys ------------------------------------------------------------------------------

for my $key ('aa', 'a-', 'a_', 'a0', 'a' x 63, 'a-b_c-9', 'owners') {
    is(role($key)->status, 201, "the key $key");
    is(ask(PUT => "/$key", { name => 'x' })->json->{key}, $key, 'in a path');
    is(ask(DELETE => "/$key")->status, 204, 'in another');
}

for my $key ('', 'a', 'a' x 64, 'A1', 'aB', '1a', '-a', '_a', 'a b', 'a.b',
             "a\x{e9}", "aa\n", 5, undef, [], JSON::PP::true)
{
    my $name = encode_utf8('the key ' . SvcTest::encode([ $key ]));

    refused($s, $acme, 'key', $name, sub { role($key) });
}

for my $row ([ 'Night shift, Plant B' => 'night-shift-plant-b' ],
             [ '  --Ops  &&  SRE--  ' => 'ops-sre' ], [ 'a_b' => 'a_b' ],
             [ "Caf\x{e9} \x{1F680} cr\x{e8}me" => 'caf-cr-me' ],
             [ 'IT' => 'it' ], [ 'Level 2' => 'level-2' ],
             [ 'x' x 100 => 'x' x 63 ], [ 'x' x 62 . ' y' => 'x' x 62 ],
             [ 'x' x 61 . ' yz' => 'x' x 61 . '-y' ])
{
    my ($name, $key) = @$row;
    my $r = ask(POST => '', { name => $name, permissions => [] });

    is_deeply([ $r->status, $r->json->{key} ], [ 201, $key ],
              encode_utf8("from the name $name")) or diag($r->body);
    like(admin_error(ask(POST => '', { name => $name, permissions => [] }), 409,
                     'conflict', 'once')->{message}, qr/"\Q$key\E"/,
         'the message has the key');
    ask(DELETE => "/$key");
}

for my $name ('2nd line', 'A', '-', "\x{65E5}\x{672C}", '_x', "\x{e9}t\x{e9}") {
    refused($s, $acme, 'key', encode_utf8("no key from the name $name"), sub {
        ask(POST => '', { name => $name, permissions => [] })
    });
}

is(role('taken')->status, 201, 'a key');
unchanged($s, $acme, "the key $_ again", sub {
    admin_error(role($_), 409, 'conflict', "the key $_ again")
}) for 'taken', 'owner', 'admin', 'member';
unchanged($s, $acme, "from the name $_", sub {
    admin_error(ask(POST => '', { name => $_, permissions => [] }), 409,
                'conflict', "from the name $_")
}) for 'Owner', ' ADMIN ', 'Member!', 'TAKEN';
is($globex->admin(POST => '/roles', { key => 'taken', name => 'T',
                                      permissions => [] }, undef, $token{other})
   ->status, 201, "another tenant's may");


# --- names and permissions ------------------------------------------------------------------

for my $row ([ name => undef ], [ name => '' ], [ name => ' ' ], [ name => 5 ],
             [ name => 'x' x 101 ], [ name => "a\nb" ], [ name => [] ],
             [ permissions => undef ], [ permissions => 'users:view' ],
             [ permissions => {} ], [ 'permissions' => [ ('users:view') x 101 ] ],
             [ 'permissions[1]' => [ 'users:view', 'users:edit' ] ],
             [ 'permissions[0]' => [ '' ] ], [ 'permissions[0]' => [ 5 ] ],
             [ 'permissions[0]' => [ 'Users:view' ] ],
             [ 'permissions[0]' => [ undef ] ], [ 'permissions[0]' => [ [] ] ],
             [ 'permissions[0]' => [ 'scim' ] ])
{
    my ($member, $value) = @$row;
    my $body = { key => 'bad', name => 'Bad', permissions => [],
                 $member =~ s/\[.*//r => $value };

    refused($s, $acme, $member, "@$_ " . substr(SvcTest::encode($body), 0, 80),
            sub { ask(@$_, $body) })
        for [ POST => '' ], [ PUT => '/taken' ];
}

for my $member ('name', 'permissions') {
    my %body = (key => 'bad', name => 'Bad', permissions => []);

    delete $body{$member};
    refused($s, $acme, $member, "no $member", sub { ask(POST => '', \%body) });
}

$r = ask(POST => '', { key => 'long', name => "\x{1F680}" x 100,
                       permissions => [ ('users:view') x 100 ] });
is($r->status, 201, '100 characters, 100 elements') or diag($r->body);
is_deeply($r->json->{permissions}, [ 'users:view' ], 'folded into one');
ask(DELETE => '/long');


# --- nobody grants what they do not have --------------------------------------------------------

role('wide', 'audit:view', 'users:view');
role('narrow', 'audit:view');

for my $permission (@PERMISSIONS) {
    my $held = $permission =~ /\A(?:roles:manage|audit:view)\z/;
    my $r = ask(POST => '', { key => 'given', name => 'G', permissions => [
                                  'audit:view', $permission ] }, 'few');

    is($r->status, $held ? 201 : 403, "$permission in a new role");
    is(ask(PUT => '/narrow', { permissions => [ $permission ] }, 'few')->status,
       $held ? 200 : 403, 'in an old one');
    ask(DELETE => '/given') if $held;
}

ask(PUT => '/narrow', { permissions => [ 'audit:view' ] });

for my $body ({}, { name => 'New' }, { permissions => [ 'users:view' ] },
              { name => 'New', permissions => [ 'audit:view', 'users:view' ] })
{
    my $name = 'a role that is wider: ' . SvcTest::encode($body);

    like(unchanged($s, $acme, $name, sub {
             admin_error(ask(PUT => '/wide', $body, 'few'), 403, 'forbidden',
                         $name)
         })->{message}, qr/"permissions"/, 'it is said why');
}

is(ask(PUT => '/narrow', { name => 'Named' }, 'few')->status, 200,
   'one that is not');
is(ask(PUT => '/wide', { permissions => [] }, 'few')->status, 200,
   'what a role will be is what counts');
admin_error(ask(POST => '', { key => 'taken', name => 'T',
                              permissions => [ 'users:view' ] }, 'few'), 403,
            'forbidden', 'before it is said that a key is taken');

for my $key ('owner', 'admin', 'member') {
    unchanged($s, $acme, $key, sub {
        admin_error(ask(PUT => "/$key", { name => 'x' }), 403, 'forbidden',
                    "PUT of $key");
        admin_error(ask(DELETE => "/$key"), 403, 'forbidden',
                    "DELETE of $key");
    });
}

$globex->admin(POST => '/roles', { key => 'theirs', name => 'T',
                                   permissions => [] }, undef, $token{other});

for my $key ('theirs', 'nobody', 'Owner', 'a', 'x' x 64, '%FF%FEa',
             'a%20b', 'a%27b')
{
    admin_error(ask(PUT => "/$key", { name => 'x' }), 404, 'not_found',
                "PUT of $key");
    admin_error(ask(DELETE => "/$key"), 404, 'not_found', "DELETE of $key");
}


# --- lists -----------------------------------------------------------------------------------

ask(DELETE => "/$_") for 'taken', 'wide', 'narrow';
role($_) for 'b-b', 'bb', 'b_b', 'a9', 'c';

sub keys_of { return map { $_->{key} } @{ ask(GET => $_[0])->json->{roles} } }

is(join(' ', keys_of('')), 'a9 b-b b_b bb', 'by key, byte by byte');
$r = ask(GET => '?limit=2&offset=1')->json;
is_deeply([ (map { $_->{key} } @{ $r->{roles} }), @$r{qw(total limit offset)},
            scalar @{ $r->{systemRoles} } ], [ 'b-b', 'b_b', 4, 2, 1, 3 ],
          'a page');
admin_error(ask(GET => "?$_"), 400, 'invalid_request', $_)
    for 'limit=0', 'offset=-1';
ask(DELETE => "/$_") for keys_of('');


# --- users with a role -----------------------------------------------------------------------

my @users = $acme->add_users(9);

sub give {
    my ($role, @ids) = @_;

    $s->sql("UPDATE svc.user_account SET role = '$role' WHERE id = ANY ('{"
            . join(',', @ids) . "}')");
}

role('team');
give('team', @users[0 .. 3]);
give('owner', @users[4, 5]);
give('admin', $users[6]);
$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id ="
        . " '$users[0]'");

$r = ask(GET => '')->json;
is_deeply([ map { "$_->{key} $_->{memberCount}" }
            @{ $r->{roles} }, @{ $r->{systemRoles} } ],
          [ 'team 4', 'owner 2', 'admin 1', 'member 2' ], 'how many have it');

unchanged($s, $acme, 'assigned', sub {
    like(admin_error(ask(DELETE => '/team'), 409, 'role_in_use',
                     'a role that users have')->{message},
         qr/\b4 members\b/, 'how many is said');
});
is(ask(PUT => '/team', { name => 'Crew' })->json->{memberCount}, 4,
   'it can be changed');

give('member', @users[0, 1]);
is($acme->admin(DELETE => "/users/$users[2]", undef, undef, $token{all})->status,
   204, 'a user is erased');
is(members('team'), 1, 'counted');
like(admin_error(ask(DELETE => '/team'), 409, 'role_in_use', 'of one')
     ->{message}, qr/\b1 member\b/, 'how many is said');

role('crew');
give('crew', $users[3]);
is(members('team') . members('crew'), '01', 'from one to another');
is(ask(DELETE => '/team')->status, 204, 'a role that nobody has');

for my $sql ("UPDATE svc.user_account SET role = 'team' WHERE id = '$users[0]'",
             'INSERT INTO svc.user_account (tenant_id, id, user_name, role)'
             . " VALUES ('$acme->{id}', gen_random_uuid(), 'x\@x', 'theirs')")
{
    ok(!eval { $s->sql($sql); 1 }, 'a role that there is not');
    like($@, qr/there is no role/, 'is not given');
}

$s->sql('INSERT INTO svc.user_account (tenant_id, id, user_name, role)'
        . " VALUES ('$acme->{id}', gen_random_uuid(), 'new\@x', 'crew')");
is(members('crew'), 2, 'a new user with a role');
$s->sql("UPDATE svc.user_account SET role = 'crew' WHERE user_name = 'new\@x'");
is(members('crew'), 2, 'the same again');


# users that are inserted without triggers

$s->sql($_) for 'BEGIN', 'SET LOCAL session_replication_role = replica',
    'INSERT INTO svc.user_account (tenant_id, id, user_name, role) SELECT'
    . " '$acme->{id}', gen_random_uuid(), i || '\@x', CASE WHEN i > 2 THEN"
    . " 'loaded' ELSE 'crew' END FROM generate_series(1, 5) i", 'COMMIT';
is(members('crew'), 2, 'are not counted');
$s->sql('SELECT svc.user_recount()');
is(members('crew') . members('loaded'), '43', 'before they are, by role too');
admin_error(ask(DELETE => '/loaded'), 409, 'role_in_use',
            'they have the role that they came with');


# --- a role that is deleted while it is given ----------------------------------------------------

for my $end ('COMMIT', 'ROLLBACK') {
    role('race');

    my $giver = $s->connect_as('postgres');
    $giver->query('BEGIN');
    $giver->query("UPDATE svc.user_account SET role = 'race'"
                  . " WHERE id = '$users[7]'");

    my $c = $s->begin(DELETE => '/v1/admin/roles/race',
                      [ Authorization => "Bearer $token{all}" ]);

    ok((wait_for { $s->waiting }), 'the delete waits for who gives it');
    $giver->query($end);

    my $r = $c->read;

    if ($end eq 'COMMIT') {
        like(admin_error($r, 409, 'role_in_use', 'given: it stays')->{message},
             qr/\b1 member\b/, 'with its member');
        is(members('race'), 1, 'counted');
        give('member', $users[7]);
        ask(DELETE => '/race');

    } else {
        is($r->status, 204, 'not given: it goes');
    }
}

{
    role('race');

    my $deleter = $s->connect_as('postgres');

    $deleter->query('BEGIN');
    $deleter->query("DELETE FROM svc.role WHERE key = 'race'");

    my $pid = fork // die "fork: $!";

    if (!$pid) {
        my $second = $s->connect_as('postgres');

        POSIX::_exit(eval { $second->query("UPDATE svc.user_account SET role ="
            . " 'race' WHERE id = '$users[7]'"); 1 } ? 0
            : $@ =~ /there is no role "race"/ ? 1 : 2);
    }

    wait_for { $s->waiting('postgres') };
    $deleter->query('COMMIT');
    waitpid $pid, 0;
    is($? >> 8, 1, 'who comes second is told that there is none');
}

# users that swap their roles: the roles are locked in one order

role($_) for 'left', 'right';

{
    my @pids = map {
        my $n = $_;
        my $pid = fork // die "fork: $!";

        if (!$pid) {
            my $c = $s->connect_as('postgres');
            my @roles = ('left', 'right');

            POSIX::_exit(eval {
                $c->query('UPDATE svc.user_account SET role = '
                          . "'$roles[($n + $_) % 2]' WHERE id = '$users[$n]'")
                    for 1 .. 200;
                1;
            } ? 0 : 1);
        }

        $pid;
    } 0, 1, 7, 8;

    is_deeply([ map { waitpid $_, 0; $? } @pids ], [ (0) x 4 ],
              'none is in the way of another');
    is(members('left') + members('right'), 4, 'and all are counted');
    is($s->sql('SELECT count(*) FROM svc.role r WHERE member_count <>'
               . ' (SELECT count(*) FROM svc.user_account u WHERE u.role ='
               . ' r.key AND u.tenant_id = r.tenant_id)'), 0, 'rightly');
}


# --- at the same time ----------------------------------------------------------------------------

for my $round (1 .. 5) {
    my %n;

    $n{$_->status}++ for at_once($s, $token{all}, map {
        [ POST => '/roles', { key => "once$round", name => "R $_",
                              permissions => [] } ]
    } 1 .. 8);
    is_deeply(\%n, { 201 => 1, 409 => 7 }, 'of eight with one key one is made');

    %n = ();
    $n{$_->status}++ for at_once($s, $token{all}, map {
        [ PUT => "/roles/once$round", { permissions => [ $PERMISSIONS[$_] ] } ]
    } 0 .. 6);
    is_deeply(\%n, { 200 => 7 }, 'all may change it');

    %n = ();
    $n{$_->status}++ for at_once($s, $token{all}, map {
        [ DELETE => "/roles/once$round" ]
    } 1 .. 8);
    is_deeply(\%n, { 204 => 1, 404 => 7 }, 'and one deletes it');
}

{
    my %n;

    $n{$_->status . ($_->header('idempotency-replayed') // '')}++
        for at_once($s, $token{all}, map {
            [ POST => '/roles', { key => 'keyed', name => 'K',
                                  permissions => [] },
              'Idempotency-Key' => 'k' ]
        } 1 .. 4);
    is($n{201}, 1, 'of four with one Idempotency-Key one makes it')
        or diag(explain(\%n));

    my $r = ask(POST => '', { key => 'keyed', name => 'K', permissions => [] },
                'all', 'Idempotency-Key' => 'k');
    is_deeply([ $r->status, $r->header('idempotency-replayed') ],
              [ 201, 'true' ], 'and is told so again');
}


# --- as many as there may be -----------------------------------------------------------------------

$s->sql("UPDATE svc.user_account SET role = 'member' WHERE tenant_id ="
        . " '$acme->{id}'");
$s->sql("DELETE FROM svc.role WHERE tenant_id = '$acme->{id}'");
$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) SELECT'
        . " '$acme->{id}', 'r' || i, 'R', '{}' FROM generate_series(1, 999) i");

{
    my %n;

    $n{$_->status}++ for at_once($s, $token{all}, map {
        [ POST => '/roles', { key => "last$_", name => 'L',
                              permissions => [] } ]
    } 1 .. 8);
    is_deeply(\%n, { 201 => 1, 400 => 7 }, 'the 1,000th, and no other');
}

unchanged($s, $acme, 'the 1,001st', sub {
    like(admin_error(role('more'), 400, 'limit_exceeded', 'the 1,001st')
         ->{message}, qr/\b1000 roles\b/, 'how many there are is said');
});
admin_error(role('r1'), 409, 'conflict', 'a key that is taken');

my @keys = map { keys_of("?limit=500&offset=$_") } 0, 500, 1000;

is(scalar @keys, 1000, 'all are listed');
is("@keys", join(' ', sort @keys), 'by key');
is(ask(GET => '')->json->{total}, 1000, 'counted');
is($globex->admin(POST => '/roles', { name => 'One', permissions => [] }, undef,
                  $token{other})->status, 201, 'another tenant has its own');


only_with($s, $acme, 'roles:manage', [ GET => '/roles' ], [ POST => '/roles', {} ],
          [ PUT => '/roles/nobody', {} ], [ DELETE => '/roles/nobody' ]);

accounted($s, $acme);
is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', grep { !/there is no role/ } $s->pg->errors), '',
   'no error in the log of PostgreSQL');

$s->done;
done_testing();
