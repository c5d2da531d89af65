#!/usr/bin/perl

# Shows which error POST /oauth/token answers when several things are wrong, and what
# the request leaves behind: spent codes, rows of the journal, anomalies.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Grants qw(code redeem digest $VERIFIER $REDIRECT);
use SvcTest::Lines;
use SvcTest::OAuth qw(oauth_server application form user_token consent $ACCESS_TOKEN $EXCHANGE);
use SvcTest::Skip;

needs(python => 'cryptography');

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $htu = 'http://127.0.0.1:' . $s->port . '/oauth/token';
my @GRANTS = ('client_credentials', 'authorization_code', 'refresh_token', $EXCHANGE);

my $agent = application($acme, name => 'Agent', type => 'agent', grantTypes => \@GRANTS,
                        scopes => [ qw(openid read) ], redirectUris => [ $REDIRECT ],
                        resourceUri => 'https://agent.test/');
my $web = application($acme, name => 'Web', type => 'web', redirectUris => [ $REDIRECT ],
                      scopes => [ qw(openid read) ]);
my $other = application($acme, name => 'Other');
my $ada = $acme->create(userName => 'ada@acme.test');
my $lines = SvcTest::Lines->new($s->root . '/t/lib/dpop');

consent($acme, $ada->{id}, $agent, [ 'read' ]);

my $subject = user_token($acme, client => $web, user => $ada->{id}, scopes => [ 'read' ],
                         audience => 'https://agent.test/');


# --- what can be wrong --------------------------------------------------------------

# What can be wrong with the application, as SQL, and with the request, as a function
# that changes it.

sub fields {
    my %more = @_;

    return sub { $_[0]{fields} = { %{ $_[0]{fields} }, %more } };
}

sub proof {
    return $lines->ask({ key => 'one', header => {}, settings => {},
                         claims => { htu => $htu } })->{proof};
}

my %APP = (
    disabled => 'enabled = false',
    expired => "expires_at = now() - interval '1 s'",
    orphaned => "owner_lost_at = now() - interval '1 year'",
    no_grant => "grant_types = '{}'",
    proof_needed => 'require_dpop = true',
    group => "assignment = 'groups'",
    ceiling => "allowed_audiences = '{urn:ok}', allowed_audience_keys = '{urn:ok}'",
    scopes => "scopes = '{openid}'",
);

# The application when nothing is wrong.

my $AGENT = " WHERE client_id = '$agent->{clientId}'";
my $GOOD = "enabled = true, expires_at = NULL, owner_lost_at = now(), require_dpop = false,"
           . " grant_types = '{" . join(',', @GRANTS) . "}', assignment = 'everyone',"
           . " allowed_audiences = NULL, allowed_audience_keys = NULL, scopes = '{openid,read}'";

my %FORM = (
    query => sub { $_[0]{path} = 'token?x=y' },
    unknown => fields(grant_type => 'password'),
    two => sub { @{ $_[0]{fields} }{qw(client_id client_secret)}
                     = @$agent{qw(clientId clientSecret)} },
    nobody => sub { $_[0]{nobody} = 1 },
    parameter => sub { fields(%{ $_[0]{parameter} })->($_[0]) },
    no_proof => sub { $_[0]{proof} = 'x' },
    secret => sub { $_[0]{secret} = 'x' x 43 },
    seen => sub { $_[0]{proof} = proof();
                  form($s, token => { grant_type => 'client_credentials' }, client => $other,
                       headers => [ DPoP => $_[0]{proof} ])->status == 200 or die },
    grant => sub { fields(%{ $_[0]{wrong} })->($_[0]) },
    target => fields(resource => 'api'),
    scope => fields(scope => 'a"b'),
    ceiling => fields(resource => 'urn:not-ok'),
);

# The steps in order; the errors of one step exclude each other.

my @ORDER = ([ 'query' ], [ 'unknown' ], [ 'two', 'nobody' ], [ 'parameter' ], [ 'no_proof' ],
             [ 'secret' ], [ 'suspended' ], [ 'disabled' ], [ 'expired' ], [ 'orphaned' ],
             [ 'no_grant' ], [ 'proof_needed', 'seen' ], [ 'grant' ], [ 'group' ],
             [ 'target', 'ceiling' ], [ 'scope', 'scopes' ]);

# Errors that cannot occur together.

my %WITHOUT = (nobody => [ 'secret' ], unknown => [ 'no_grant' ],
               no_proof => [ 'proof_needed', 'seen' ], parameter => [ 'grant' ]);

my %ANSWER = (
    query => [ 400, 'invalid_request' ], unknown => [ 400, 'unsupported_grant_type' ],
    two => [ 400, 'invalid_request' ], nobody => [ 400, 'invalid_client' ],
    parameter => [ 400, 'invalid_request' ], no_proof => [ 400, 'invalid_dpop_proof' ],
    secret => [ 401, 'invalid_client' ], suspended => [ 400, 'invalid_grant' ],
    disabled => [ 400, 'invalid_grant' ], expired => [ 400, 'invalid_grant' ],
    orphaned => [ 400, 'invalid_grant' ], no_grant => [ 400, 'unauthorized_client' ],
    proof_needed => [ 400, 'invalid_dpop_proof' ], seen => [ 400, 'invalid_dpop_proof' ],
    grant => [ 400, 'invalid_grant' ], group => [ 400, 'access_denied' ],
    target => [ 400, 'invalid_target' ], ceiling => [ 400, 'invalid_target' ],
    scope => [ 400, 'invalid_scope' ], scopes => [ 400, 'invalid_scope' ],
);


# --- each grant type ------------------------------------------------------------------

# fields: a good form; parameter, wrong: fields that are malformed, or no grant;
# lacks: what cannot be wrong; answer: where another answer is due; left: what the
# last request has left behind, which "leaves" has by error.

my ($code, $refresh);

my %TYPES = (
    client_credentials => {
        fields => sub { { grant_type => 'client_credentials', scope => 'read' } },
        lacks => [ qw(parameter grant group) ],
        left => \&anomalies,
        leaves => { disabled => 'disabled_use', orphaned => 'disabled_use',
                    expired => 'expired_use', ceiling => 'audience_denied' },
    },

    authorization_code => {
        fields => sub { $code = code($acme, $agent, $ada, scopes => [ 'read' ]);
                        return { grant_type => 'authorization_code', code => $code->{code},
                                 code_verifier => $VERIFIER } },
        parameter => { code_verifier => 'short' },
        wrong => { code_verifier => 'w' x 43 },
        lacks => [ 'scope' ],           # a code has no scope parameter
        left => sub { $s->sql('SELECT used_at IS NOT NULL FROM svc.oauth_code WHERE digest = '
                              . "'" . digest($code->{code}) . "'") eq 't' ? 'spent' : '' },
        leaves => { map { $_ => 'spent' } qw(grant group target ceiling scopes) },
    },

    refresh_token => {
        fields => sub { $refresh //= refresh_token();
                        return { grant_type => 'refresh_token', refresh_token => $refresh,
                                 scope => 'read' } },
        parameter => { refresh_token => 'x' x 513 },
        wrong => { refresh_token => 'srt_' . 'A' x 43 },
        answer => { group => [ 400, 'invalid_grant' ] },
        left => sub { $s->sql('SELECT count(*) FROM svc.oauth_refresh WHERE used_at IS NOT NULL')
                      ? 'used' : '' },
    },

    $EXCHANGE => {
        fields => sub { { grant_type => $EXCHANGE, subject_token => $subject,
                          subject_token_type => $ACCESS_TOKEN, scope => 'read' } },
        parameter => { subject_token_type => 'urn:x' },
        wrong => { subject_token => 'x' },
        answer => { grant => [ 400, 'invalid_request' ] },
        left => \&journaled,
        leaves => { disabled => 'agent_disabled', expired => 'agent_expired',
                    orphaned => 'owner_lost', grant => 'subject_invalid',
                    group => 'not_in_group', target => 'audience_denied',
                    ceiling => 'audience_denied', scope => 'scope_denied',
                    scopes => 'scope_denied' },
    },
);

sub refresh_token {
    my $t = redeem($s, $agent, code($acme, $agent, $ada,
                                    scopes => [ qw(read offline_access) ]))->json;

    return $t->{refresh_token} // die 'no refresh token';
}


# Returns the reasons of all new rows of the journal.

my %seen;

sub journaled {
    return join ' ', map { $_->[1] }
           grep { !$seen{$_->[0]}++ }
           $s->sql("SELECT id, reason FROM svc.delegation WHERE outcome = 'refused'");
}


# Returns the types of anomalies that have been counted since the last call.

my %counted;

sub anomalies {
    my %now = map { $_->[0] => $_->[1] }
              $s->sql('SELECT type, sum(occurrences) FROM svc.agent_anomaly'
                      . " WHERE type LIKE '%_use' OR type LIKE '%_denied' GROUP BY type");
    my @more = grep { $now{$_} != ($counted{$_} // 0) } sort keys %now;

    %counted = %now;

    return join ' ', @more;
}


# Sends one request with all these errors, and undoes them.

sub ask {
    my ($type, @wrong) = @_;

    my %q = (%$type, path => 'token', fields => $type->{fields}());
    my @app = map { $APP{$_} // () } @wrong;

    $_->(\%q) for map { $FORM{$_} // () } @wrong;
    $s->sql("UPDATE svc.application SET " . join(', ', @app) . $AGENT) if @app;
    $s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE id = '$acme->{id}'")
        if grep { $_ eq 'suspended' } @wrong;

    my $r = form($s, $q{path}, $q{fields}, headers => [ $q{proof} ? (DPoP => $q{proof}) : () ],
                 $q{nobody} ? ()
                     : (client => { %$agent, $q{secret} ? (clientSecret => $q{secret}) : () }));

    $s->sql("UPDATE svc.application SET $GOOD $AGENT") if @app;
    $s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE id = '$acme->{id}'");

    return $r;
}


# Returns the answer as text, with what the request has left behind.

sub told {
    my ($type, $r) = @_;

    my $json = $r->json;

    return join ' | ', $r->status, $json->{error} // 'a token',
                       $json->{error_description} // '', $type->{left}();
}


sub together {
    my ($one, $two) = @_;

    return !grep { $_ eq $two } @{ $WITHOUT{$one} // [] };
}


$s->sql("UPDATE svc.oauth_tenant SET orphan_action = 'disable'");

for my $name (sort keys %TYPES) {
    my $type = $TYPES{$name};
    my %lacks = map { $_ => 1 } @{ $type->{lacks} // [] };
    my @steps = map { [ grep { !$lacks{$_} } @$_ ] } @ORDER;
    my (%alone, @bad);

    is(ask($type)->status, 200, "$name: good") unless $name =~ /refresh/;
    $type->{left}();

    for my $wrong (map { @$_ } @steps) {
        my ($status, $error) = @{ $type->{answer}{$wrong} // $ANSWER{$wrong} };

        $alone{$wrong} = told($type, ask($type, $wrong));
        like($alone{$wrong}, qr/\A$status \| $error \| /, "$name: $wrong");
        like($alone{$wrong}, qr/ \| \Q@{[ $type->{leaves}{$wrong} \/\/ '' ]}\E\z/,
             "$name: $wrong: and what it leaves");
    }

    for my $i (0 .. $#steps) {
        for my $first (@{ $steps[$i] }) {
            for my $second (grep { together($first, $_) } map { @$_ } @steps[$i + 1 .. $#steps]) {
                my $got = told($type, ask($type, $first, $second));

                push @bad, "$first before $second: $got, not $alone{$first}"
                    if $got ne $alone{$first};
            }
        }
    }

    is_deeply(\@bad, [], "$name: of two the first one is told, as if it were alone");
    is(ask($type)->status, 200, "$name: good again");
    $type->{left}();
}

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
