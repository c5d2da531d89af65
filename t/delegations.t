#!/usr/bin/perl

# Shows /v1/admin/agents/delegations, the journal of who acted for whom. Its rows are
# stored here as the OAuth surface stores them.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my %token = map { $_->{slug} => $_->token_for('apps:manage') } $acme, $globex;
my ($ada, $bob) = map { $acme->create(userName => "$_\@acme.test")->{id} } qw(ada bob);
my @agent = map { sprintf 'agt_%032x', $_ } 1 .. 4;
my $n = 0;


# Stores a row, an hour older than the next one; returns its id.

sub row {
    my (%row) = @_;
    my $tenant = delete $row{tenant} // $acme;
    my $hours = delete $row{hours} // 100 - $n++;
    my %value = (client_id => "'$agent[0]'", client_name => "'Bot'", grant_type => "'$EXCHANGE'",
                 chain => "'{$agent[0]}'", scopes => "'{a,b}'", outcome => "'granted'",
                 created_at => "now() - interval '$hours hours'", id => 'gen_random_uuid()',
                 tenant_id => "'$tenant->{id}'", %row);
    my @columns = sort keys %value;

    return scalar $s->sql('INSERT INTO svc.delegation (' . join(', ', @columns)
                          . ') VALUES (' . join(', ', @value{@columns}) . ') RETURNING id');
}


sub list {
    my ($query, $of) = @_;
    my $tenant = $of // $acme;

    return $tenant->admin(GET => '/agents/delegations' . ($query // ''), undef, [],
                          $token{ $tenant->{slug} });
}


sub found {
    my ($query, $of) = @_;
    my $r = list("?$query", $of);

    is($r->status, 200, $query) or diag($r->body);
    is($r->json->{total}, scalar @{ $r->json->{delegations} }, "$query: the total");

    return [ map { $_->{id} } @{ $r->json->{delegations} } ];
}


# --- one delegation --------------------------------------------------------------

is_deeply(list()->json, { delegations => [], total => 0, limit => 100, offset => 0 }, 'none');

is_deeply(found('inChain=x'), [], 'nobody in a chain, either');

my ($jti, $parent, $root) = map { sprintf '019b0000-0000-7000-8000-%012x', $_ } 1 .. 3;
my $first = row(client_id => "'$agent[1]'", client_name => "'Second bot'",
                chain => "'{$agent[1],$agent[0]}'", subject_type => "'user'",
                subject_id => "'$ada'", audience => "'https://api.acme.test/'",
                token_jti => "'$jti'", parent_jti => "'$parent'", root_jti => "'$root'",
                expires_at => "now() + interval '1 hour'", ip => "'203.0.113.7'",
                country => "'FR'", bound => 'true', request_id => "'r1'");
my ($got) = @{ list()->json->{delegations} };

like($got->{$_}, $TIME, $_) for qw(createdAt expiresAt);
is_deeply($got, {
    id => $first, actor => { clientId => $agent[1], name => 'Second bot' },
    subject => { type => 'user', id => $ada, email => 'ada@acme.test' },
    chain => [ @agent[1, 0] ], grantType => $EXCHANGE,
    audience => 'https://api.acme.test/', scopes => [ 'a', 'b' ], outcome => 'granted',
    reason => undef, tokenId => $jti, parentTokenId => $parent, rootTokenId => $root,
    ip => '203.0.113.7', country => 'FR', map { $_ => $got->{$_} } qw(createdAt expiresAt),
}, 'all of it');

my $refused = row(outcome => "'refused'", reason => "'subject_invalid'", scopes => "'{}'");

($got) = @{ list()->json->{delegations} };
is_deeply([ @$got{qw(id subject outcome reason audience tokenId expiresAt scopes)} ],
          [ $refused, undef, 'refused', 'subject_invalid', undef, undef, undef, [] ],
          'one that was refused, of whom is not known');

my $by_agent = row(subject_type => "'agent'", subject_id => "'$agent[2]'");

($got) = @{ list()->json->{delegations} };
is_deeply($got->{subject}, { type => 'agent', id => $agent[2], email => undef },
          'for an agent');


# --- filters ---------------------------------------------------------------------------

my $by_code = row(subject_type => "'user'", subject_id => "'$bob'",
                  grant_type => "'authorization_code'", token_jti => "'$root'");
my $child = row(chain => "'{$agent[0],$agent[2]}'", subject_type => "'user'",
                subject_id => "'$ada'", root_jti => "'$root'",
                token_jti => "'019b0000-0000-7000-8000-00000000000f'");
my $theirs = row(tenant => $globex, chain => "'{$agent[3]}'", client_id => "'$agent[3]'",
                 subject_type => "'user'", subject_id => "'$ada'", root_jti => "'$root'",
                 token_jti => "'019b0000-0000-7000-8000-0000000000aa'");
my @all = ($child, $by_code, $by_agent, $refused, $first);

is_deeply(found(''), \@all, 'the newest first');
is_deeply(found('', $globex), [ $theirs ], 'another tenant has its own');
is_deeply(found("clientId=$agent[1]"), [ $first ], 'of an actor');
is_deeply(found("clientId=$agent[0]"), [ @all[0 .. 3] ], 'of another one');
is_deeply(found("userId=$ada"), [ $child, $first ], 'for a user');
is_deeply(found("userId=$agent[2]"), [], 'an agent is none');
is_deeply(found('outcome=granted'), [ @all[0 .. 2, 4] ], 'granted');
is_deeply(found('outcome=refused'), [ $refused ], 'refused');
is_deeply(found("inChain=$agent[0]"), \@all, 'by anybody in the chain');
is_deeply(found("inChain=$agent[2]"), [ $child ], 'likewise');
is_deeply(found("inChain=$agent[3]"), [], "another tenant's");
is_deeply(found("inChain=$agent[3]", $globex), [ $theirs ], 'there it is');
is_deeply(found("tokenId=$jti"), [ $first ], 'by a token');
is_deeply(found('tokenId=' . uc $jti), [ $first ], 'however it is written');
is_deeply(found('tokenId=019b0000-0000-7000-8000-0000000000aa'), [],
          "another tenant's token");
is_deeply(found("rootTokenId=$root"), [ $child, $first ], 'of a tree');
is_deeply(found("clientId=$agent[0]&userId=$ada"), [ $child ], 'of two');
is_deeply(found("clientId=$agent[0]&outcome=refused"), [ $refused ], 'and two');
is_deeply(found("inChain=$agent[0]&outcome=refused"), [ $refused ], 'and two');
is_deeply(found("inChain=$agent[2]&clientId=$agent[1]"), [], 'and two');
is_deeply(found("inChain=$agent[0]&clientId=$agent[1]"), [ $first ], 'and two');
is_deeply(found("inChain=$agent[0]&userId=$bob"), [ $by_code ], 'and two');
is_deeply(found("rootTokenId=$root&userId=$ada&clientId=$agent[1]&tokenId=$jti"
                . "&inChain=$agent[0]&outcome=granted"), [ $first ], 'and all');
is_deeply(found("rootTokenId=$root&tokenId=$root"), [], 'of which nothing may be both');
is_deeply(found("$_=x"), [], "$_ that is none") for qw(clientId userId inChain);
is_deeply(found("$_="), \@all, "$_ that is empty") for qw(clientId userId inChain tokenId);

my %at = map { $_->[0] => $_->[1] } $s->sql(
    "SELECT id, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
    . ' FROM svc.delegation');

for my $more ('', "&clientId=$agent[0]", "&inChain=$agent[0]", '&outcome=granted') {
    my @of = grep { my $id = $_; grep { $_ eq $id } @{ found($more =~ s/^&//r) } } @all;
    my $in = sub { my ($from, $to) = @_;
                   return [ grep { $at{$_} ge $from && $at{$_} lt $to } @of ] };

    is_deeply(found("from=$at{$by_agent}$more"), $in->($at{$by_agent}, '9'), 'from then on');
    is_deeply(found("to=$at{$by_agent}$more"), $in->('0', $at{$by_agent}), 'before then');
    is_deeply(found("from=$at{$refused}&to=$at{$by_code}$more"),
              $in->($at{$refused}, $at{$by_code}), 'between');
    is_deeply(found("from=$at{$by_code}&to=$at{$refused}$more"), [], 'never');
}

is_deeply([ map { $_->{id} } @{ list('?limit=2&offset=1')->json->{delegations} } ],
          [ @all[1, 2] ], 'a page');
is(list('?limit=2&offset=1')->json->{total}, 5, 'of five');
is(list('?offset=9')->json->{total}, 5, 'an empty one, too');
is(list("?inChain=$agent[0]&limit=1&offset=9")->json->{total}, 5, 'likewise');
admin_error(list("?$_"), 400, undef, $_)
    for 'outcome=x', 'outcome=', 'from=x', 'to=2026-01-01', 'tokenId=x', 'rootTokenId=x',
        "tokenId=$jti%20", 'clientId=' . 'x' x 201, 'userId=' . 'x' x 201,
        'inChain=' . 'x' x 201, 'inChain=%FF', 'limit=0', 'offset=-1',
        "clientId=$agent[0]&clientId=$agent[0]", "tokenId=$jti&tokenId=$jti";
admin_error($acme->admin(GET => '/agents/delegations', undef, [],
                         $acme->token_for('audit:view,users:view')), 403, undef,
            'without the permission');


# --- months -----------------------------------------------------------------------------

# Rows without a partition of their own are found, too.

my @old = map { row(hours => 24 * $_, chain => "'{$agent[2]}'", client_id => "'$agent[2]'") }
          40, 80, 400;

is_deeply(found("inChain=$agent[2]"), [ $child, @old ], 'in the chain, months ago');
is_deeply([ map { $_->{id} } @{ list("?inChain=$agent[2]&limit=2&offset=2")->json
            ->{delegations} } ], [ @old[1, 2] ], 'a page of them');
is_deeply(found("clientId=$agent[2]"), \@old, 'by one, months ago');
is_deeply([ @{ found('') }[5 .. 7] ], \@old, 'among all');
like(scalar $s->sql("SELECT made FROM svc.oauth_partitions('delegation', 1) LIMIT 1"),
     qr/^delegation_/, 'they get their partitions');
is_deeply(found("inChain=$agent[2]"), [ $child, @old ], 'and are found there');


# --- many rows --------------------------------------------------------------------------

$s->sql('INSERT INTO svc.delegation (tenant_id, id, created_at, client_id, client_name, chain,'
        . " grant_type, scopes, outcome) SELECT '$globex->{id}', gen_random_uuid(),"
        . " now() - i * interval '1 minute', '$agent[3]', 'x', '{$agent[3]}', 'x', '{}',"
        . " 'granted' FROM generate_series($_ * 1005 + 1, $_ * 1005 + 1005) i") for 0 .. 9;

for my $query ('', "clientId=$agent[3]", "inChain=$agent[3]", 'outcome=granted') {
    is(list("?$query", $globex)->json->{total}, 10000, "'$query': 10,000 are counted");

    my $page = list("?$query&limit=9&offset=10046", $globex)->json;

    is(scalar @{ $page->{delegations} }, 5, 'what is behind them is there');
}


# --- erased users, and deleted agents -----------------------------------------------------

is($acme->admin(DELETE => "/users/$ada", undef, [], $acme->token_for('members:manage'))
   ->status, 204, 'ada is erased');
is_deeply([ map { $_->{subject} } @{ list("?userId=$ada")->json->{delegations} } ],
          [ ({ type => 'user', id => $ada, email => undef }) x 2 ],
          'her id stays, and no address');


# --- rows are only added ---------------------------------------------------------------

my $before = $s->sql("SELECT md5(string_agg(d::text, ' ' ORDER BY id)) FROM svc.delegation d");
my ($month) = map { $_->[0] } $s->sql('SELECT inhrelid::regclass FROM pg_inherits WHERE'
                                      . " inhparent = 'svc.delegation'::regclass"
                                      . " AND inhrelid <> 'svc.delegation_default'::regclass"
                                      . ' LIMIT 1');
my $app = $s->connect_as('svc_app');

$app->query("SET svc.tenant = '$acme->{id}'");

for my $change ("UPDATE %s SET outcome = outcome", 'DELETE FROM %s', 'TRUNCATE %s') {
    for my $table ('svc.delegation', $month, 'svc.delegation_default') {
        my $query = sprintf $change, $table;

        ok(!eval { $app->query($query); 1 }, "svc_app: $query");
        like($@, qr/42501 permission denied/, 'permission denied');
        ok(!eval { $s->sql($query); 1 }, "the owner: $query");
        like($@, qr/42501 the journal of delegations is not changed/, 'raised');
    }
}

# A granted row has no reason, a refused one has one, and there is no other outcome.

for my $case ([ 'granted', "'agent_disabled'" ], [ 'refused', 'NULL' ],
              [ 'other', 'NULL' ], [ 'other', "'agent_disabled'" ])
{
    my ($outcome, $reason) = @$case;

    ok(!eval { row(outcome => "'$outcome'", reason => $reason); 1 },
       "$outcome, $reason: is no outcome");
    like($@, qr/"delegation_outcome_check"/, 'and the database says so');
}

ok(!eval { $app->query("INSERT INTO svc.delegation (tenant_id, id, client_id, client_name,"
                       . " chain, grant_type, scopes, outcome) VALUES ('$globex->{id}',"
                       . " gen_random_uuid(), 'x', 'x', '{}', 'x', '{}', 'granted')"); 1 },
   "another tenant's");
like($@, qr/row-level security/, 'is refused');
is($s->sql("SELECT md5(string_agg(d::text, ' ' ORDER BY id)) FROM svc.delegation d"), $before,
   'all is as it was');

# The function that looks through chains shows the rows of one tenant, or none.

my $call = "SELECT count(*) FROM svc.delegation_chain('$agent[0]', NULL, '-infinity',"
           . " 'infinity', 100)";

is($app->query($call)->[0][0], 5, 'the function');
$app->query("SET svc.tenant = '$globex->{id}'");
is($app->query($call)->[0][0], 0, 'of another tenant');
$app->query('RESET svc.tenant');
is($app->query($call)->[0][0], 0, 'and of none');

$s->done;
done_testing();
