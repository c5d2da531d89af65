#!/usr/bin/perl

# Shows that POST /v1/admin/agents/{clientId}/policy/simulate counts as the rules
# written here do, for random tokens and policies.
#
# Environment: SVC_TEST_SEED=n, SVC_TEST_POLICIES=n.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;

my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $seed = $ENV{SVC_TEST_SEED} // 20261123;
my $CASES = $ENV{SVC_TEST_POLICIES} // 60;

srand($seed);
note("SVC_TEST_SEED=$seed");

my $BASE = 'http://localhost';
my $s = SvcTest->new(svc => { svc_base_url => $BASE })->start;
my $acme = $s->tenant('acme');
my $token = $acme->token_for('apps:manage,members:manage');
my $ISSUER = "$BASE/oauth/t/acme";
my @SCOPES = qw(a b c d);
my @AUDIENCES = ('https://one.test/', 'https://two.test/x', 'urn:three', $ISSUER);


sub ask {
    my ($method, $path, $body) = @_;
    my $r = $s->http($method, "/v1$path", [ Authorization => "Bearer $token" ], $body);

    $s->secret($1) if ($r->body // '') =~ /"clientSecret":"([^"]*)"/;

    return $r;
}


my $owner = $acme->create(userName => 'ada@acme.test')->{id};
my $agent = ask(POST => '/applications', { name => 'Bot', type => 'agent', accessTokenTtlSeconds => 86400,
                ownerId => $owner, scopes => \@SCOPES })->json->{clientId};


sub simulate {
    my ($policy) = @_;
    my $r = ask(POST => "/admin/agents/$agent/policy/simulate", $policy);

    is($r->status, 200, 'simulated') or diag($r->body);

    return $r->json;
}


sub quoted { return defined $_[0] ? "'$_[0]'" : 'NULL' }


sub array { return "'{" . join(',', @_) . "}'" }


# Stores a token that was issued "ago" seconds ago; a value that is not given is NULL.

sub store {
    my (%t) = @_;

    $s->sql('INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, user_id,'
            . ' chain, principals, grant_type, scopes, audience, audience_key, ttl,'
            . " revoked_at) VALUES ('$acme->{id}', gen_random_uuid(), now() - $t{ago} *"
            . " interval '1 second', " . quoted($t{client} // $agent) . ', '
            . quoted($t{user}) . ', NULL, ' . array($agent, @{ $t{with} // [] })
            . ", 'client_credentials', " . array(@{ $t{scopes} }) . ', '
            . quoted($t{audience}) . ', ' . quoted($t{audience}) . ", $t{ttl}, "
            . ($t{revoked} ? 'now()' : 'NULL') . ')');

    return \%t;
}


# --- the rules -----------------------------------------------------------------------

sub within { my ($x, $list) = @_; return !$list || grep { $_ eq $x } @$list }


sub causes {
    my ($t, $p) = @_;
    my @beyond = grep { $_ ne 'offline_access' && !within($_, $p->{allowedScopes}) }
                 @{ $t->{scopes} };
    my $only = !defined $t->{audience} && $p->{allowedAudiences}
               && @{ $p->{allowedAudiences} } == 1;
    my @causes;

    push @causes, 'disabled ' if !$p->{enabled};
    push @causes, 'audience ' . ($t->{audience} // '')
        if !$only && !within($t->{audience} // $ISSUER, $p->{allowedAudiences});
    push @causes, map { "scope $_" } @beyond;
    push @causes, 'scope ' if $p->{allowedScopes} && !@{ $p->{allowedScopes} } && !@beyond;

    return @causes;
}


sub ttl {
    my ($t, $p) = @_;
    my $max = $p->{maxTokenTtlSeconds};

    return defined $max && $max < $t->{ttl} ? $max : $t->{ttl};
}


# Returns the scopes that a token keeps under a policy; undef: the token is dead.

sub lives {
    my ($t, $p) = @_;
    my @has = grep { $_ ne 'offline_access' } @{ $t->{scopes} };
    my @kept = grep { within($_, $p->{allowedScopes}) } @has;

    return if !$p->{enabled} || $t->{revoked} || $t->{ago} >= ttl($t, $p)
              || !within($t->{audience} // $ISSUER, $p->{allowedAudiences})
              || @has && !@kept;

    return \@kept;
}


sub expected {
    my ($tokens, $now, $then) = @_;
    my %sum = map { $_ => 0 } qw(unchanged shortened refused);
    my %live = map { $_ => 0 } qw(tokens wouldDie wouldNarrow);
    my %cause;

    for my $t (@$tokens) {
        my @causes = causes($t, $then);

        $sum{ @causes ? 'refused' : ttl($t, $then) < $t->{ttl} ? 'shortened'
                                                               : 'unchanged' }++;
        $cause{$_}++ for @causes;

        my $has = lives($t, $now) // next;
        my $kept = lives($t, $then);

        $live{tokens}++;
        $live{ $kept ? 'wouldNarrow' : 'wouldDie' }++
            if !$kept || ttl($t, $then) < ttl($t, $now)
               || grep { !within($_, $then->{allowedScopes}) } @$has;
    }

    return { summary => \%sum, live => \%live, refused => \%cause,
             tokens => scalar @$tokens };
}


sub got {
    my ($json) = @_;

    return { %$json{qw(summary live)}, tokens => $json->{sample}{tokens},
             refused => { map { ("$_->{reason} " . ($_->{value} // '') => $_->{tokens}) }
                          @{ $json->{refused} } } };
}


# --- no tokens ------------------------------------------------------------------------

my $none = simulate({});

is_deeply(got($none), expected([], {}, {}), 'no tokens');
is_deeply($none->{sample}{truncated}, $FALSE, 'all of them');
is($s->sql("SELECT '$none->{sample}{to}'::timestamptz - '$none->{sample}{from}'"), '30 days',
   'of thirty days');


# --- random tokens and policies --------------------------------------------------------

sub some { my ($odds, @from) = @_; return grep { rand() < $odds } @from }


sub policy {
    my %p = (enabled => rand() < 0.9 ? $TRUE : $FALSE,
             maxTokenTtlSeconds => rand() < 0.4 ? undef : 60 * (1 + int rand 20),
             allowedScopes => rand() < 0.3 ? undef : [ some(0.7, @SCOPES) ],
             allowedAudiences => rand() < 0.3 ? undef : [ some(0.6, @AUDIENCES) ]);

    return \%p;
}


my %DEFAULT = (enabled => $TRUE, maxTokenTtlSeconds => undef, allowedScopes => undef,
               allowedAudiences => undef);

# No age is within half a minute of a token's end, so that a slow machine does not
# matter.

my @tokens = map {
    my $ttl = 60 * (1 + int rand 20);

    store(ttl => $ttl, ago => rand() < 0.5 ? 30 + 60 * int rand 22
                                           : 86400 * (1 + int rand 29),
          scopes => [ some(0.5, @SCOPES), some(0.1, 'offline_access') ],
          revoked => rand() < 0.1,
          audience => $AUDIENCES[rand 4] eq $ISSUER ? undef : $AUDIENCES[rand 3]);
} 1 .. 150;

store(ttl => 600, ago => 31 * 86400, scopes => [ 'a' ]);    # too old
store(ttl => 600, ago => 60, scopes => [ 'a' ], client => "agt_" . 'f' x 32);

for my $case (1 .. $CASES) {
    my $now = rand() < 0.4 ? { %DEFAULT } : policy();
    my $then = policy();
    my @given = some(0.8, sort keys %$then);

    $now->{enabled} = $TRUE;

    my $r = ask(PUT => "/admin/agents/$agent/policy", $now);

    is($r->status, 200, "case $case") or diag($r->body);

    my $json = simulate({ map { $_ => $then->{$_} } @given });
    my %whole = (%$now, map { $_ => $then->{$_} } @given);

    is_deeply(got($json), expected(\@tokens, $now, \%whole), 'as the rules say')
        or diag(JSON::PP->new->canonical->encode([ $now, \%whole ]));
}

my $stored = "SELECT md5(string_agg(t::text, ' ' ORDER BY jti)) || (SELECT a::text FROM"
             . " svc.application a WHERE client_id = '$agent') || (SELECT count(*) FROM"
             . ' svc.audit_event) FROM svc.oauth_token t';
my $before = $s->sql($stored);

simulate({ enabled => $FALSE, allowedScopes => [] });
is($s->sql($stored), $before, 'nothing has changed');


# --- what else ends a token ------------------------------------------------------------

ask(DELETE => "/admin/agents/$agent/policy");
$s->sql('DELETE FROM svc.oauth_token');

my $other = ask(POST => '/applications', { name => 'Other', type => 'm2m', scopes => [ 'a' ] })
            ->json->{clientId};
my $user = $acme->create(userName => 'bob@acme.test')->{id};

$s->sql('UPDATE svc.application SET tokens_valid_after = NULL, require_consent = false');
store(ttl => 3600, ago => 60, scopes => [ 'a' ], with => [ $other ], user => $user);
is(simulate({})->{live}{tokens}, 1, 'one lives');

my $APP = 'UPDATE svc.application SET';
my $AGO = "interval '1 second'";    # a time may be rounded up

# All columns but generated ones.

my %columns = map { $_ => scalar $s->sql("SELECT string_agg(attname, ', ') FROM pg_attribute"
    . " WHERE attrelid = 'svc.$_'::regclass AND attnum > 0 AND NOT attisdropped"
    . " AND attgenerated = ''") } qw(oauth_tenant application oauth_token);

for my $end (
    [ "$APP tokens_valid_after = now() WHERE client_id = '$agent'", 'a cut-off' ],
    [ "$APP tokens_valid_after = now() WHERE client_id = '$other'", 'of another actor' ],
    [ "$APP enabled = false WHERE client_id = '$other'", 'another actor is off' ],
    [ "$APP enabled = false WHERE client_id = '$agent'", 'it is off' ],
    [ "$APP expires_at = now() - $AGO WHERE client_id = '$agent'", 'its end' ],
    [ "DELETE FROM svc.application WHERE client_id = '$other'", 'another actor is gone' ],
    [ 'UPDATE svc.oauth_tenant SET tokens_valid_after = now()', 'all are cut off' ],
    [ "UPDATE svc.user_account SET status = 'suspended' WHERE id = '$user'", 'its user' ],
    [ "UPDATE svc.oauth_token SET grant_id = gen_random_uuid()", 'its grant' ],
    [ 'UPDATE svc.oauth_token SET revoked_at = now()', 'itself' ],
    ( map { [ "UPDATE svc.oauth_token SET $_ = gen_random_uuid();"
              . " INSERT INTO svc.oauth_revoked SELECT tenant_id, $_, now() + interval '1 hour'"
              . ' FROM svc.oauth_token', "what it was exchanged from, $_" ] }
          qw(parent_jti root_jti) ),
    [ "UPDATE svc.oauth_tenant SET orphan_action = 'disable', orphan_grace_hours = 0;"
      . " $APP owner_id = NULL, owner_lost_at = now() - $AGO"
      . " WHERE client_id = '$agent'", 'its owner, for too long' ],
    [ "$APP scopes = '{b}' WHERE client_id = '$agent'", 'its scopes' ],
)
{
    my ($change, $name) = @$end;

    # Keeps the token, its clients and its tenant, to put them back.

    $s->sql('CREATE TABLE public.kept_' . (split /\./)[1] . " AS TABLE $_")
        for qw(svc.application svc.oauth_token svc.oauth_tenant);
    $s->sql($_) for split /;/, $change;
    is(simulate({})->{live}{tokens}, 0, "dead: $name");
    is(simulate({})->{sample}{tokens}, 1, 'it was given nevertheless');
    $s->sql($_) for
        "UPDATE svc.user_account SET status = 'active', valid_after = NULL",
        'DELETE FROM svc.oauth_token', 'DELETE FROM svc.application',
        'DELETE FROM svc.oauth_tenant', 'DELETE FROM svc.oauth_revoked',
        map { "INSERT INTO svc.$_ ($columns{$_}) SELECT $columns{$_} FROM public.kept_$_;"
              . " DROP TABLE public.kept_$_" } qw(oauth_tenant application oauth_token);
    is(simulate({})->{live}{tokens}, 1, 'and back');
}


# --- many tokens -------------------------------------------------------------------------

$s->sql('DELETE FROM svc.oauth_token');
$s->sql('INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, principals,'
        . " grant_type, scopes, audience, audience_key, ttl) SELECT '$acme->{id}',"
        . " gen_random_uuid(), now() - i * interval '1 second', '$agent', '{$agent}', 'x',"
        . " '{a}', 'urn:' || i % 200, 'urn:' || i % 200, 60"
        . " FROM generate_series($_ * 1000 + 1, $_ * 1000 + 1000) i") for 0 .. 10;

my $many = simulate({ allowedAudiences => [] });

is_deeply([ @{ $many->{sample} }{qw(tokens truncated)}, $many->{summary}{refused} ],
          [ 10000, $TRUE, 10000 ], 'the newest 10,000');
is(scalar @{ $many->{refused} }, 100, 'and the 100 values that most had');
is($s->sql("SELECT extract(epoch from '$many->{sample}{to}'::timestamptz"
           . " - '$many->{sample}{from}')::int > 9990"), 't', 'since the first of them');
is(ask(POST => "/admin/agents/$other/policy/simulate", {})->status, 404, 'no agent');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
