#!/usr/bin/perl

# Shows which users a search finds, in which order, and how many.

use strict;
use warnings;
use utf8;

use Encode qw(encode_utf8);
use Test::More;

use SvcTest;
use SvcTest::Process qw(wait_for);

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');


sub add {
    my ($tenant, $email, $display, $first, $last, $status) = @_;
    my @values = map { defined $_ ? "'" . s/'/''/gr . "'" : 'NULL' }
                 map { defined $_ ? encode_utf8($_) : undef }
                 $email, $display, $first, $last, $status // 'active';

    $s->sql("INSERT INTO svc.user_account (tenant_id, id, user_name, display_name,"
            . ' first_name, last_name, status) VALUES ('
            . join(', ', "'$tenant->{id}'", 'gen_random_uuid()', @values) . ')');
}


# Returns the addresses that a search finds, and the total.

sub found {
    my ($q, $more, $tenant) = @_;
    my $query = join '', map { sprintf '%%%02X', ord } split //, encode_utf8($q);
    my $list = ($tenant // $acme)->admin(GET => "/users?q=$query"
                                                . ($more // ''))->json;

    return ([ map { $_->{email} } @{ $list->{users} } ], $list->{total});
}


sub finds {
    my ($q, $emails, $name) = @_;
    my ($list, $total) = found($q);

    is_deeply([ sort @$list ], [ sort @$emails ],
              encode_utf8("\"$q\": " . ($name // "@$emails")));
    is($total, @$emails, 'all of them');
}


add($acme, 'Ada.Lovelace@acme.test', 'Ada Lovelace', 'Ada', 'King-Noel');
add($acme, 'zoe@acme.test', "Zoë O'Brien", 'ZOË', "O'BRIEN");
add($acme, '100%_sure\\yes@acme.test', 'Percent %', '_', '\\');
add($acme, '100x-sure/yes@acme.test', 'Not Percent');
add($acme, 'ivan@acme.test', 'Иван Грозный', undef, undef, 'suspended');
add($acme, 'wei@acme.test', '王伟', '伟', '王');
add($acme, 'jürgen@acme.test', undef, 'Jürgen', 'Łukasz');
add($globex, 'ada@globex.test', 'Ada Globex');

my ($ada, $zoe, $sure, $not, $ivan, $wei, $jurgen) =
    qw(Ada.Lovelace@acme.test zoe@acme.test 100%_sure\\yes@acme.test
       100x-sure/yes@acme.test ivan@acme.test wei@acme.test);
$sure = '100%_sure\\yes@acme.test';
$jurgen = 'jürgen@acme.test';
my @all = ($ada, $zoe, $sure, $not, $ivan, $wei, $jurgen);

# A search looks at users one by one where they are few, and uses the index otherwise.
# Both must find the same: the limits are lowered to a test's number of users.

my $function = $s->sql("SELECT pg_get_functiondef('svc.user_page'::regproc)");

for my $row ([ 100000 => 2000 ], [ 60000 => 600 ], [ 30000 => 3000 ],
             [ 10000 => 1000 ])
{
    is($function =~ s/\b$row->[0]\b/$row->[1]/g, $row->[0] == 100000 ? 2 : 1,
       "$row->[1] instead of $row->[0]");
}

$s->sql($function);

for my $round ('a few users', 'many users') {
    note($round);

    finds('lovelace', [ $ada ]);
    finds('LOVELACE', [ $ada ], 'in any case');
    finds('velac', [ $ada ], 'anywhere in a word');
    finds('ada lovelace', [ $ada ], 'two words');
    finds('  ada  ', [ $ada ], 'blanks around do not count');
    finds('ada.love', [ $ada ], 'with a point');
    finds('g-noel', [ $ada ], 'a part of the last name');
    finds('a@acme', [], 'nobody');
    finds('e@acme.t', [ $ada, $zoe ], 'over the at sign');
    finds('test.acme', [], 'parts of an address in another order');
    finds("o'br", [ $zoe ]);
    finds('zoë', [ $zoe ], 'an umlaut');
    finds('ZOË', [ $zoe ], 'a great one');
    finds('грозн', [ $ivan ], 'Cyrillic');
    finds('ИВАН', [ $ivan ], 'in any case');
    finds('王伟', [ $wei ], 'two characters');
    finds('伟', [ $wei ], 'one');
    finds('łu', [ $jurgen ], 'the beginning of a word');
    finds('uk', [], 'but not in the middle of it');
    finds('lo', [ $ada ], 'of two characters');
    finds('k', [ $ada ], 'of one');
    finds('100%', [ $sure ], 'a percent sign');
    finds('%', [ $sure ], 'alone');
    finds('_', [ $sure ], 'an underscore');
    finds('%_s', [ $sure ], 'both');
    finds('\\', [ $sure ], 'a backslash');
    finds('e\\y', [ $sure ], 'in a word');
    finds('e/y', [ $not ], 'a slash');
    finds('%%%', [], 'three of them');
    finds('___', [], 'three others');
    finds('...', [], 'three points');
    finds('>>>', [], 'three that are in no index');
    finds('a~~', [], 'a letter that does not help');
    finds('A', [ $ada ], 'what stands for an at sign') if $round eq 'a few users';
    finds("x' OR true --", [], 'SQL');
    finds('cme.tes', \@all, 'all') if $round eq 'a few users';

    is_deeply([ found('ada', undef, $globex) ], [ [ 'ada@globex.test' ], 1 ],
              'another tenant finds its own');

    last if $round eq 'many users';

    # These users are made older, so that the index has to find those above.

    $s->sql('SET session_replication_role = replica');
    $s->sql("UPDATE svc.user_account SET created_at = timestamptz '2020-01-01' +"
            . " id_order * interval '1 min' FROM (SELECT id AS i, row_number() OVER ()"
            . ' AS id_order FROM svc.user_account) o WHERE i = id');
    $s->sql("INSERT INTO svc.user_account (tenant_id, id, user_name,"
            . " display_name, created_at, status) SELECT '$acme->{id}',"
            . " gen_random_uuid(), 'bulk' || i || '\@bulk.example', CASE WHEN i %"
            . " 4 = 0 THEN 'Quartus ' ELSE 'Bulk ' END || i, timestamptz"
            . " '2024-01-01' + i * interval '1 s', CASE WHEN i % 10 = 0 THEN"
            . " 'deactivated' ELSE 'active' END"
            . ' FROM generate_series(1, 4500) i ORDER BY i');
    $s->sql('SELECT svc.user_recount()');
    $s->sql('SET session_replication_role = origin');
    $s->sql('ANALYZE svc.user_account');
}

my ($list, $total) = found('bulk', '&limit=3&offset=5');
is_deeply($list, [ map { "bulk$_\@bulk.example" } 4495, 4494, 4493 ],
          'the newest first');
is($total, 1000, 'no more than that are counted');
is_deeply([ found('bulk', '&limit=500&offset=998') ],
          [ [ map { "bulk$_\@bulk.example" } 3502, 3501 ], 1000 ],
          'or listed');
is_deeply([ found('bulk', "&offset=$_") ], [ [], 1000 ], "none beyond: $_")
    for 1000, 2147483647;

# The index has all users, some of them, or none.

# The test calls a function of its own. The worker's task, which runs every minute,
# finds no tenant that is big.

my $index = $s->sql("SELECT pg_get_functiondef('svc.user_index'::regproc)");

is($index =~ s/\b100000\b/2000/, 1, 'a smaller tenant is a big one');
is($index =~ s/\b20000\b/200/, 1, 'and fewer stay out');
$s->sql($index =~ s/svc\.user_index\b/svc.index_now/r);

for my $round ('none', 'some', 'all', 'others') {

    if ($round eq 'some') {
        my $load = $s->connect_as('postgres');

        $load->query('BEGIN');
        $load->query('LOCK TABLE svc.user_account IN SHARE MODE');
        is($s->sql('SELECT svc.index_now(1500)'), 0, 'behind a load nobody waits');
        $load->query('ROLLBACK');

        is($s->sql('SELECT svc.index_now(1500)'), 1500, 'some');

    } elsif ($round eq 'all') {
        $s->sql('SELECT svc.index_now(1000)') for 1 .. 4;
        is($s->sql('SELECT svc.index_now(1000)'), 0, 'then there are no more');
        is($s->sql('SELECT count(*) FROM svc.user_account WHERE NOT indexed'
                   . " AND tenant_id = '$acme->{id}'"), 200,
           'but the newest ones');

    } elsif ($round eq 'others') {
        $s->sql('UPDATE svc.user_account SET indexed = NOT indexed');
    }

    note("indexed: $round");

    ($list, $total) = found('quartus', '&limit=2&offset=749');
    is($list->[0], 'bulk1504@bulk.example', 'on from the newest');

    # The next user comes in any order that the index has.

    my ($next) = $list->[1] =~ /^bulk(\d+)@/;

    ok($next <= 1500 && $next % 4 == 0, 'into what the index finds, or is to have')
        or diag($list->[1]);
    is($total, 1000, 'more than that');
    is_deeply([ found('quartus', '&status=active&limit=1') ],
              [ [ 'bulk4496@bulk.example' ], 900 ], 'of a state, exactly');
    is_deeply([ found('quartus', '&status=deactivated&limit=1') ],
              [ [ 'bulk4500@bulk.example' ], 225 ], 'of another one');
    is_deeply([ found('ivan', '&status=suspended') ], [ [ $ivan ], 1 ], 'a few');
    is_deeply([ found('ivan', '&status=active') ], [ [], 0 ], 'or none');
    is((found('bulk123'))[1], 11, 'exactly when they are fewer');
}

# A changed user is found by its new name only.

my $id = $acme->create(userName => 'new@acme.test',
                       displayName => 'Before')->{id};

is_deeply([ found('befor') ], [ [ 'new@acme.test' ], 1 ], 'a new user');
$acme->scim(PATCH => "/Users/$id", { Operations => [
    { op => 'replace', path => 'displayName', value => 'After' } ] });
is_deeply([ found('befor'), found('after') ],
          [ [], 0, [ 'new@acme.test' ], 1 ], 'under its new name');

# A worker indexes users without being asked.

$s->sql($index);
$s->sql('UPDATE svc.user_account SET indexed = false');
ok((wait_for { $s->sql('SELECT count(*) FROM svc.user_account WHERE NOT indexed'
                       . " AND tenant_id = '$acme->{id}'") == 200 } 90),
   'a worker has them indexed within a minute');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
