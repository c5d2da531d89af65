#!/usr/bin/perl

# The password policy of a tenant, and those of its groups.

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
my $NOBODY = '00000000-0000-4000-8000-000000000000';

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;
my $all = $acme->token_for($ALL);

*ask = $acme->asks('/password-policy', { all => $all });

my ($true, $false) = (JSON::PP::true, JSON::PP::false);

my %default = (minLength => 12, rejectBreached => $true,
               rejectContextual => $true, requireLower => $false,
               requireUpper => $false, requireDigit => $false,
               requireSymbol => $false, historyCount => 5, maxAgeDays => 0);
my %range = (minLength => [ 8, 128 ], historyCount => [ 0, 24 ],
             maxAgeDays => [ 0, 3650 ]);
my @switches = qw(rejectBreached rejectContextual requireLower requireUpper
                  requireDigit requireSymbol);
my @fields = ('minLength', @switches, 'historyCount', 'maxAgeDays');


# --- the tenant's -------------------------------------------------------------------

my $r = ask(GET => '');
is($r->status, 200, 'a policy that nobody has set') or diag($r->body);
is_deeply($r->json, \%default, 'its values');
is(join(' ', $r->body =~ /"(\w+)":/g), "@fields", 'in this order');

my $etag = $r->header('etag');
my $revision = $acme->revision;

unchanged($s, $acme, 'put back', sub {
    my $again = ask(PUT => '', $r->json);

    is($again->status, 200, 'what was read can be put back');
    is($again->header('etag'), $etag, 'with the same tag');
});
unchanged($s, $acme, $_, sub { is(ask(PUT => '', $_)->status, 200, $_) })
    for '{}';
unchanged($s, $acme, 'unknown members', sub {
    like(admin_error(ask(PUT => '', { minLength => 20, $_ => 1 }), 400, 'invalid_request', $_)
         ->{message}, qr/^"$_" is not a known member/, 'which is named')
        for qw(minlength requireSymbols groupId createdAt);
});

my %stored = %default;

for my $field (@fields) {
    $stored{$field} = $range{$field} ? $range{$field}[1]
                    : $stored{$field} ? $false : $true;
    $r = ask(PUT => '', { $field => $stored{$field} });
    is_deeply($r->json, \%stored, "$field alone") or diag($r->body);
    is_deeply([ $acme->new_events ], [ [ 'password_policy.updated',
        'passwordPolicy', undef, undef, { changed => [ $field ] } ] ],
        'its event');
}

is($acme->revision, $revision + @fields, 'each moves the revision');
is_deeply(ask(GET => '')->json, \%stored, 'stored');
isnt(ask(GET => '')->header('etag'), $etag, 'another tag');

ask(PUT => '', \%default);
is_deeply(($acme->new_events)[0][4],
          { changed => \@fields },
          'all at once');
is_deeply($globex->admin(GET => '/password-policy')->json, \%default,
          "another tenant's is as it was");


# --- bounds, the same for a group ------------------------------------------------------

my ($group, $second, $third) = map {
    $acme->admin(POST => '/groups', { name => $_ }, undef, $all)->json->{id}
} "Financé \x{1F4B0}", 'Sales', 'Support';
my $theirs = $s->sql('INSERT INTO svc.user_group (tenant_id, id, name) VALUES'
                     . " ('$globex->{id}', gen_random_uuid(), 'Staff')"
                     . ' RETURNING id');

$acme->new_events;

sub none { $s->sql('DELETE FROM svc.group_password_policy') }

for my $field (sort keys %range) {
    for my $n (@{ $range{$field} }) {
        none();
        is(ask(@$_, { $field => $n, $_->[1] eq '/groups' ? (groupId => $group) : () })
           ->json->{$field}, $n, "@$_ $field: $n")
            for [ PUT => '' ], [ POST => '/groups' ],
                [ PUT => "/groups/$second" ];
    }
}

none();

my @bad = ((map { my $n = $_; map { [ $n => $_ ] }
                  $range{$n}[0] - 1, $range{$n}[1] + 1, 12.5, '12', $true, [],
                  {}, -1e300 } sort keys %range),
           (map { my $n = $_; map { [ $n => $_ ] } 0, 1, 'true', '', [] }
                @switches));

for my $row (@bad, map { [ $_ => undef ] } @fields) {
    my ($field, $value) = @$row;

    for my $route ([ PUT => '' ], [ POST => '/groups' ],
                   [ PUT => "/groups/$second" ])
    {
        next if !defined $value && $route->[1] ne '';

        refused($s, $acme, $field, "@$route " . SvcTest::encode({ @$row }),
                sub { ask(@$route, { $route->[1] eq '/groups' ? (groupId => $group) : (),
                                       @$row }) });
    }
}


# --- entity tags --------------------------------------------------------------------------

$etag = ask(GET => '')->header('etag');
is(ask(GET => '', undef, 'all', 'If-None-Match' => $etag)->status, 304,
   'If-None-Match');
is(ask(PUT => '', { minLength => 13 }, 'all', 'If-Match' => $etag)->status, 200,
   'If-Match');

unchanged($s, $acme, 'stale', sub {
    admin_error(ask(PUT => '', { minLength => $_ }, 'all',
                    'If-Match' => $etag), 412,
                'precondition_failed', "stale: $_") for 13, 14;
});

for my $round (1 .. 5) {
    my $etag = ask(GET => '')->header('etag');
    my %n;

    $n{$_->status}++ for at_once($s, $all, map {
        [ PUT => '/password-policy', { minLength => 20 * $round + $_ },
          'If-Match' => $etag ]
    } 0 .. 7);

    is_deeply(\%n, { 200 => 1, 412 => 7 }, 'of eight with one tag one wins');
}

ask(PUT => '', \%default);
$acme->new_events;


# --- a group's ---------------------------------------------------------------------------

my %null = map { $_ => undef } @fields;

is_deeply(ask(GET => '/groups')->json,
          { groups => [], total => 0, limit => 100, offset => 0 }, 'none');

$revision = $acme->revision;
$r = ask(POST => '/groups', { groupId => $group, minLength => 16,
                              requireDigit => $false, maxAgeDays => undef });
is($r->status, 201, 'a group has one') or diag($r->body);

my $override = $r->json;

like($override->{$_}, $TIME, $_) for qw(createdAt updatedAt);
is_deeply($override, { %null, groupId => $group, minLength => 16,
                       groupName => "Financé \x{1F4B0}",
                       requireDigit => $false,
                       createdAt => $override->{createdAt},
                       updatedAt => $override->{createdAt} }, 'all of it');
is(join(' ', $r->body =~ /"(\w+)":/g),
   "groupId groupName @fields createdAt updatedAt", 'in this order');
is_deeply(ask(GET => '/groups')->json, { groups => [ $override ], total => 1,
                                         limit => 100, offset => 0 }, 'listed');
is($acme->revision, $revision + 1, 'the revision has moved by one');

unchanged($s, $acme, 'once more', sub {
    admin_error(ask(POST => '/groups', { groupId => $group, minLength => 9 }),
                409, 'conflict', 'once more');
});
unchanged($s, $acme, 'put back', sub {
    my $again = ask(PUT => "/groups/$group", $override);

    is($again->status, 200, 'what was read can be put back');
    is_deeply($again->json, $override, 'and is as it was');
});

$r = ask(PUT => "/groups/$group", { maxAgeDays => 90, requireDigit => $true });
is($r->status, 200, 'replaced') or diag($r->body);
is_deeply($r->json, { %$override, minLength => undef, maxAgeDays => 90,
                      requireDigit => $true,
                      updatedAt => $r->json->{updatedAt} },
          'what is absent is inherited');
cmp_ok($r->json->{updatedAt}, 'gt', $override->{updatedAt}, 'later');

$r = ask(PUT => "/groups/$second", { rejectBreached => $false });
is($r->status, 201, 'a PUT makes one');
is_deeply([ @{ $r->json }{qw(groupId groupName rejectBreached)} ],
          [ $second, 'Sales', $false ], 'of its group');

is(ask(DELETE => "/groups/$group")->status, 204, 'removed');
unchanged($s, $acme, 'again', sub {
    admin_error(ask(DELETE => "/groups/$group"), 404, 'not_found', 'again');
});
is($acme->revision, $revision + 4, 'each has moved the revision');

my @target = ('groupPasswordPolicy', $group, encode_utf8("Financé \x{1F4B0}"));

is_deeply([ $acme->new_events ], [
    [ 'group_password_policy.created', @target, {} ],
    [ 'group_password_policy.updated', @target,
      { changed => [ 'minLength', 'requireDigit', 'maxAgeDays' ] } ],
    [ 'group_password_policy.created', 'groupPasswordPolicy', $second, 'Sales',
      {} ],
    [ 'group_password_policy.deleted', @target, {} ] ], 'the events');

for my $body ({}, { minLength => undef }, { groupName => 'x' },
              { map { $_ => undef } @fields })
{
    refused($s, $acme, $_, 'nothing is set: ' . SvcTest::encode($body), sub {
        ask(PUT => "/groups/$group", $body)
    }) for 'minLength', 'maxAgeDays';
    refused($s, $acme, 'requireSymbol', 'nor in a new one', sub {
        ask(POST => '/groups', { %$body, groupId => $group })
    });
}

refused($s, $acme, 'groupId', 'of no group: ' . SvcTest::encode([ $_ ]), sub {
    ask(POST => '/groups', { groupId => $_, minLength => 9 })
}) for $NOBODY, $theirs, uc $group, 'x', '', 5, undef, [];
refused($s, $acme, 'groupId', 'of none at all', sub {
    ask(POST => '/groups', { minLength => 9 })
});

for my $id ($NOBODY, $theirs, uc $group, 'x') {
    unchanged($s, $acme, $id, sub {
        admin_error(ask(PUT => "/groups/$id", { minLength => 9 }), 404,
                    'not_found', "PUT of $id");
        admin_error(ask(DELETE => "/groups/$id"), 404, 'not_found',
                    "DELETE of $id");
    });
}

is($s->sql("SELECT count(*) FROM svc.group_password_policy"
           . " WHERE tenant_id = '$globex->{id}'"), 0,
   'another tenant has nothing of it');

$r = ask(POST => '/groups', { groupId => $group, minLength => 9 },
         'all', 'Idempotency-Key' => 'k');
is($r->status, 201, 'with a key');
my $again = ask(POST => '/groups', { groupId => $group, minLength => 9 },
                'all', 'Idempotency-Key' => 'k');
is_deeply([ $again->status, $again->header('idempotency-replayed'),
            $again->body ], [ 201, 'true', $r->body ], 'sent again');


# --- lists ---------------------------------------------------------------------------------

none();
$s->sql("INSERT INTO svc.user_group (tenant_id, id, name) SELECT '$acme->{id}',"
        . " gen_random_uuid(), 'g' || i FROM generate_series(1, 9997) i");
$s->sql('INSERT INTO svc.group_password_policy (tenant_id, group_id, min_length,'
        . " created_at) SELECT tenant_id, id, 9, date_trunc('hour', now())"
        . " - interval '1 hour' * (abs(hashtext(name)) % 10)"
        . " FROM svc.user_group WHERE tenant_id = '$acme->{id}'");

my @order = map { $_->[0] } $s->sql(
    "SELECT group_id FROM svc.group_password_policy WHERE tenant_id ="
    . " '$acme->{id}' ORDER BY created_at DESC, group_id DESC");
my @listed;

for my $offset (map { $_ * 500 } 0 .. 20) {
    my $page = ask(GET => "/groups?limit=501&offset=$offset")->json;

    is_deeply([ @$page{qw(total limit offset)} ], [ 10000, 500, $offset ],
              "from $offset") if $offset % 5000 == 0;
    push @listed, map { $_->{groupId} } @{ $page->{groups} };
}

is(scalar @listed, 10000, 'all that there may be');
is("@listed", "@order", 'the newest first');
is(@{ ask(GET => '/groups')->json->{groups} }, 100, '100, unless it is said');
admin_error(ask(GET => "/groups?$_"), 400, 'invalid_request', $_)
    for 'limit=0', 'offset=-1', 'limit=x';


# --- a group that goes -------------------------------------------------------------------

$s->sql("DELETE FROM svc.user_group WHERE name ~ '^g\\d'");
none();
ask(PUT => "/groups/$group", { minLength => 9 });
$acme->new_events;
$revision = $acme->revision;

is($acme->admin(DELETE => "/groups/$group", undef, undef, $all)->status, 204,
   'a group goes');
is_deeply([ $acme->new_events ], [
    [ 'group_password_policy.deleted', @target, {} ],
    [ 'group.deleted', 'group', @target[1, 2], {} ] ],
    'with its password policy, and both are told');
is($acme->revision, $revision + 1, 'the revision has moved');
is(ask(GET => '/groups')->json->{total}, 0, 'there is none');

is($acme->admin(DELETE => "/groups/$second", undef, undef, $all)->status, 204,
   'one without');
is($acme->revision, $revision + 1, 'moves nothing');
is_deeply([ $acme->new_events ],
          [ [ 'group.deleted', 'group', $second, 'Sales', {} ] ],
          'and has its own event alone');
admin_error($acme->admin(DELETE => "/groups/$second", undef, undef, $all), 404,
            'not_found', 'once');


# --- at the same time ------------------------------------------------------------------------

{
    my %n;

    $n{$_->status}++ for at_once($s, $all, map {
        [ POST => '/password-policy/groups', { groupId => $third,
                                               minLength => 10 + $_ } ]
    } 0 .. 7);
    is_deeply(\%n, { 201 => 1, 409 => 7 }, 'of eight that make one, one does');

    none();
    %n = ();
    $n{$_->status}++ for at_once($s, $all, map {
        [ PUT => "/password-policy/groups/$third", { minLength => 10 + $_ } ]
    } 0 .. 7);
    is_deeply(\%n, { 201 => 1, 200 => 7 }, 'and of eight that put one');

    %n = ();
    $n{$_->status}++ for at_once($s, $all, map {
        [ DELETE => "/password-policy/groups/$third" ]
    } 0 .. 7);
    is_deeply(\%n, { 204 => 1, 404 => 7 }, 'and that remove it');
}

# everything that locks governance, groups and overrides, in any order; a
# deadlock would be in PostgreSQL's log

{
    my @work = (
        sub { ask(PUT => "/groups/$_[0]", { minLength => 8 + $_[1] % 99 }) },
        sub { ask(POST => '/groups', { groupId => $_[0], minLength => 9 }) },
        sub { ask(DELETE => "/groups/$_[0]") },
        sub { ask(PUT => '', { minLength => 8 + $_[1] }) },
        sub { $acme->admin(PUT => "/groups/$_[0]", { name => "n$$-$_[1]" },
                           undef, $all) },
        sub { $acme->admin(DELETE => "/groups/$_[0]", undef, undef, $all) },
    );
    my @groups = map { $_->[0] } $s->sql(
        'INSERT INTO svc.user_group (tenant_id, id, name) SELECT'
        . " '$acme->{id}', gen_random_uuid(), 'w' || i"
        . ' FROM generate_series(1, 30) i RETURNING id');
    my @pids = map {
        my $do = $_;
        my $pid = fork // die "fork: $!";

        if (!$pid) {
            my $n = 0;

            POSIX::_exit((grep { $do->($_, $n++)->status >= 500 } @groups)
                         ? 1 : 0);
        }

        $pid;
    } @work;

    is_deeply([ map { waitpid $_, 0; $? } @pids ], [ (0) x @pids ],
              'none is in the way of another');
    is($s->sql("SELECT count(*) FROM svc.user_group WHERE name ~ '^[wn]\\d'"), 0,
       'all groups are gone');
    is(ask(GET => '/groups')->json->{total}, 0, 'and their policies');
    is($s->sql('SELECT sum(CASE action WHEN'
               . " 'group_password_policy.created' THEN 1 WHEN"
               . " 'group_password_policy.deleted' THEN -1 END) FROM"
               . " svc.audit_event WHERE target_id = ANY ('{"
               . join(',', @groups) . "}')") // 0, 0,
       'as many have gone as have come, says the log');
}


# a transaction that holds governance may still write for a group that is being
# deleted

{
    my $holder = $s->connect_as('postgres');
    my ($gone) = map { $_->[0] } $s->sql(
        'INSERT INTO svc.user_group (tenant_id, id, name) VALUES'
        . " ('$acme->{id}', gen_random_uuid(), 'Gone') RETURNING id");

    $acme->new_events;
    $holder->query('BEGIN');
    $holder->query('SELECT FROM svc.governance WHERE tenant_id ='
                   . " '$acme->{id}' FOR NO KEY UPDATE");

    my $c = $s->begin(DELETE => "/v1/admin/groups/$gone",
                      [ Authorization => "Bearer $all" ]);

    wait_for { $s->waiting };
    $holder->query('INSERT INTO svc.group_password_policy (tenant_id, group_id,'
                   . " min_length) VALUES ('$acme->{id}', '$gone', 9)");
    $holder->query('COMMIT');

    is($c->read->status, 204, 'a group goes after that');
    is(join(' ', map { $_->[0] } $acme->new_events),
       'group_password_policy.deleted group.deleted',
       'and with what came meanwhile, which is told');
}


only_with($s, $acme, 'tenant:manage', [ GET => '/password-policy' ],
          [ PUT => '/password-policy', {} ],
          [ GET => '/password-policy/groups' ],
          [ POST => '/password-policy/groups', {} ],
          [ PUT => "/password-policy/groups/$third", {} ],
          [ DELETE => "/password-policy/groups/$third" ]);

accounted($s, $acme);
is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
