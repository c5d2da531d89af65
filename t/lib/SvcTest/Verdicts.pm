package SvcTest::Verdicts;

# Sends one case to two builds of the modules on the same database, and returns
# what each answers and stores, without what is random or depends on the time.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);

use SvcTest;
use SvcTest::Grants qw(digest $REDIRECT $VERIFIER);
use SvcTest::Lines;
use SvcTest::OAuth qw(application basic claims consent form user_token $ACCESS_TOKEN $EXCHANGE);
use SvcTest::Process qw(wait_for);
use SvcTest::Skip;

needs(python => 'cryptography');


my $API = 'https://api.test/';

# Anomalies that requests raise; others are raised by sweeps, at their own
# times.

my $RAISED = "'scope_denied', 'audience_denied', 'disabled_use', 'expired_use', 'secret_reuse'";

my $JSON = JSON::PP->new->canonical->utf8;


# s: a server that has been started; old and new are its nodes, by their ports.

sub new {
    my ($class, $s) = @_;

    my $acme = $s->tenant('acme');
    my $beta = $s->tenant('beta');
    my $self = bless { s => $s, acme => $acme, n => 0,
                       lines => SvcTest::Lines->new($s->root . '/t/lib/dpop') }, $class;
    my @web = (redirectUris => [ $REDIRECT ], scopes => [ qw(openid read) ]);

    $self->{apps} = {
        web => application($acme, name => 'Web', type => 'web', @web),
        spa => application($acme, name => 'Page', type => 'spa', @web),
        agent => application($acme, name => 'Agent', type => 'agent', resourceUri => $API,
                             grantTypes => [ 'client_credentials', $EXCHANGE,
                                             'authorization_code', 'refresh_token' ], @web),
        m2m => application($acme, name => 'Service', resourceUri => 'https://m2m.test/',
                           grantTypes => [ 'client_credentials', $EXCHANGE ]),
    };

    $self->{other} = application($acme, name => 'Another');
    $self->{user} = $acme->create(userName => 'ada@acme.test');
    $self->{issuer} = 'http://127.0.0.1:' . $s->port . '/oauth/t/acme';
    $self->{foreign} = user_token($beta, client => application($beta, name => 'Theirs'),
                                  user => $beta->create(userName => 'bob@beta.test')->{id},
                                  scopes => [ 'read' ]);

    $s->sql("UPDATE svc.oauth_tenant SET orphan_action = 'disable'");

    # both builds then have the tenant's key

    form($s, token => { grant_type => 'client_credentials' }, client => $self->{other})
        ->status == 200 or die "no token\n";

    return $self;
}


# Sets the state that a case needs; both builds find the same.

sub state {
    my ($self, $case) = @_;

    my ($s, $client) = ($self->{s}, $self->{apps}{$case->{client}});
    my ($good, $set) = map { my $app = $_; join ', ', map { "$_ = $app->{$_}" } sort keys %$app }
                           @$case{qw(good app)};

    $s->sql("DELETE FROM svc.agent_anomaly WHERE type IN ($RAISED);"
            . " UPDATE svc.oauth_tenant SET tokens_valid_after = NULL, max_delegation_depth = 3;"
            . " UPDATE svc.tenant SET suspended_at = NULL WHERE suspended_at IS NOT NULL;"
            . " UPDATE svc.user_account SET status = 'active', valid_after = NULL"
            . " WHERE id = '$self->{user}{id}';"
            . " UPDATE svc.application SET $good WHERE client_id IN ("
            . join(', ', map { "'$_->{clientId}'" } values %{ $self->{apps} }) . ');'
            . " UPDATE svc.application SET $set WHERE client_id = '$client->{clientId}'");
}


# Returns the answer and the rows of one build.  What it presents has rows of
# its own.

sub ask {
    my ($self, $case, $port) = @_;

    my $s = $self->{s};
    my $client = $self->{apps}{$case->{client}};
    $self->{grants} = [];

    my $fields = $self->fields($case, $client, $port);
    my $since = $s->sql('SELECT clock_timestamp()');

    # rows from presenting an actor token must not have the same millisecond

    wait_for { $s->sql("SELECT clock_timestamp() > '$since'::timestamptz + interval '2 ms'") eq 't' };
    $since = $s->sql('SELECT clock_timestamp()');

    # a cut-off must be later than the tokens that are presented

    $s->sql("$_ WHERE " . (/svc\.tenant / ? 'id' : 'tenant_id') . " = '$self->{acme}{id}'")
        for @{ $case->{tenant} };
    $s->sql("UPDATE svc.user_account SET $_ WHERE id = '$self->{user}{id}'")
        for @{ $case->{user} };
    $s->sql("UPDATE svc.application SET tokens_valid_after = $case->{app}{tokens_valid_after}"
            . " WHERE client_id = '$client->{clientId}'");

    my $r = $self->request($case, $client, $fields, $port);

    if ($case->{twice}) {
        my $next = eval { $r->json->{refresh_token} };

        $self->request({ %$case, proof => $case->{proof} && 'new' }, $client,
                       { %$fields, refresh_token => $next }, $port)
            if $next && $case->{twice} eq 'next';
        $r = $self->request($case, $client, $fields, $port);
    }

    my %is = (status => $r->status, authenticate => $r->header('www-authenticate'),
              cache => $r->header('cache-control'),
              answer => $self->answer($r->json, $client, $case, $port));

    $self->settle($r, $case, $since);
    $is{rows} = $self->rows($since, $case);

    return (\%is, $JSON->encode(\%is));
}


sub request {
    my ($self, $case, $client, $fields, $port) = @_;

    my %who = %$client;
    my @headers;

    $who{clientSecret} = $case->{secret} if $case->{secret};

    if ($case->{proof}) {
        my $proof = $self->{lines}->ask({ key => 'one', header => {}, settings => {},
            claims => { htu => "http://127.0.0.1:" . $self->{s}->port . '/oauth/token' } })
            ->{proof};

        @headers = (DPoP => $proof);
        form($self->{s}, token => { grant_type => 'client_credentials' },
             client => $self->{other}, headers => \@headers, http => { port => $port })
            if $case->{proof} eq 'seen';
    }

    return form($self->{s}, token => $who{clientSecret} && !$case->{public}
                    ? $fields : { client_id => $who{clientId}, %$fields },
                $who{clientSecret} && !$case->{public} ? (client => \%who) : (),
                headers => \@headers, http => { port => $port });
}


# Returns the form, with new rows of what it presents.

sub fields {
    my ($self, $case, $client, $port) = @_;

    my %form = (grant_type => $case->{type},
                map { $_ => defined $case->{form}{$_}
                            ? $case->{form}{$_} =~ s/\AISSUER\z/$self->{issuer}/r : undef }
                    keys %{ $case->{form} });

    if ($case->{type} eq 'authorization_code') {
        %form = (%form, code => $self->shown($case, $client, 'oauth_code'),
                 code_verifier => $VERIFIER, redirect_uri => $REDIRECT);

    } elsif ($case->{type} eq 'refresh_token') {
        $form{refresh_token} = $self->shown($case, $client, 'oauth_refresh');

    } elsif ($case->{type} eq $EXCHANGE) {
        %form = (%form, subject_token => $self->subject($case, $client, $port),
                 subject_token_type => $ACCESS_TOKEN);
        @form{qw(actor_token actor_token_type)}
            = ($self->actor($case, $client, $port), $ACCESS_TOKEN) if $case->{actor};
        $form{audience} = $case->{audience} eq 'other' ? $self->{other}{clientId}
                          : $self->{apps}{ $case->{audience} }{clientId} if $case->{audience};
    }

    return \%form;
}


sub grant {
    my ($self, $case, $client) = @_;

    my $id = $self->{s}->sql('SELECT gen_random_uuid()');

    $self->insert(oauth_grant => {
        id => "'$id'", client_id => "'$client->{clientId}'", user_id => "'$self->{user}{id}'",
        scopes => "'{openid,read,write}'", resources => "'{}'", resource_keys => "'{}'",
        session_id => 'gen_random_uuid()', session_at => "now() - interval '1 s'",
        created_at => "now() - interval '1 s'", auth_time => "'2026-01-02 03:04:05Z'",
        methods => "'{password}'", consented => 'true', expires_at => "now() + interval '9 days'",
        map { $_ => $case->{grant}{$_} =~ s/ISSUER/$self->{issuer}/r } keys %{ $case->{grant} } });

    push @{ $self->{grants} }, $id;

    return $id;
}


# Makes a code or a refresh token, of a new grant of the client, or of another
# one.

sub shown {
    my ($self, $case, $client, $table) = @_;

    my $grant = $self->grant($case, $case->{not_it} ? $self->{other} : $client);
    my $bytes = SvcTest::random_bytes(32);
    my $text = encode_base64url($bytes);
    my $row = { digest => "'" . digest($table eq 'oauth_code' ? $text : $bytes) . "'",
                grant_id => "'$grant'",
                expires_at => "now() + interval '60 s'" };

    $text = "srt_$text" if $table eq 'oauth_refresh';
    $self->{s}->secret($text);
    @$row{qw(client_id redirect_uri challenge)}
        = ("'$client->{clientId}'", "'$REDIRECT'", "'\\x" . sha256_hex($VERIFIER) . "'")
        if $table eq 'oauth_code';

    $self->insert($table => { %$row, %{ $case->{shown} } });

    return $text;
}


# Returns the actor token: the client's own, another client's, or a user's.

sub actor {
    my ($self, $case, $client, $port) = @_;

    return $self->own($client, $port) if $case->{actor} eq 'own';
    return $self->own($self->{other}, $port) if $case->{actor} eq 'other';
    return user_token($self->{acme}, client => $client, user => $self->{user}{id},
                      scopes => [ 'read' ], ago => 1) if $case->{actor} eq 'user';
    return 'none';
}


# Returns a client's own token, or 'none' when it is refused.

sub own {
    my ($self, $client, $port, %fields) = @_;

    my $r = form($self->{s}, token => { grant_type => 'client_credentials', %fields },
                 client => $client, http => { port => $port });

    return $r->status == 200 ? $r->json->{access_token} : 'none';
}


# Returns the subject token: a user's that is for the client's resource, or a
# wrong one.

sub subject {
    my ($self, $case, $client, $port) = @_;

    my %t = (client => $self->{apps}{web}, user => $self->{user}{id}, scopes => [ qw(read write) ],
             ago => 1,
             audience => $case->{client} eq 'agent' ? $API : 'https://m2m.test/');
    my %as = %{ $case->{subject} };

    return $self->{foreign} if $case->{not_it};

    if ($as{own}) {
        my $whose = $self->{apps}{ $case->{client} eq 'm2m' ? 'agent' : 'm2m' };

        $self->{s}->sql("UPDATE svc.application SET access_token_format = '"
                        . ($as{jwt} ? 'jwt' : 'opaque')
                        . "' WHERE client_id = '$whose->{clientId}'");

        return $self->own($whose, $port, resource => $t{audience});
    }

    $t{$_} = $as{$_} for grep { exists $as{$_} } qw(ttl ago audience);
    $t{chain} = [ $as{chain} eq 'self' ? ($self->{apps}{m2m}{clientId}, $client->{clientId})
                                       : $self->{apps}{m2m}{clientId} ] if $as{chain};
    $t{scopes} = [ 'openid' ] if $as{scopes};
    $t{grant} = $self->grant($case, $self->{apps}{web}) if $as{grant} || %{ $case->{grant} };

    my $token = user_token($self->{acme}, %t);

    $self->{s}->sql("UPDATE svc.oauth_token SET revoked_at = now() WHERE jti ="
                    . " (SELECT jti FROM svc.oauth_token ORDER BY issued_at DESC LIMIT 1)")
        if $as{revoked_at};

    return $token;
}


sub insert {
    my ($self, $table, $row) = @_;

    my @names = sort keys %$row;

    $self->{s}->sql("INSERT INTO svc.$table (tenant_id, " . join(', ', @names) . ")"
                    . " VALUES ('$self->{acme}{id}', " . join(', ', @$row{@names}) . ')');
}


# Returns what a client sees, without what is random.  For a token it is what
# introspection says.

sub answer {
    my ($self, $json, $client, $case, $port) = @_;

    my %is = %$json;

    if ($is{access_token}) {
        my ($jwt) = $is{access_token} =~ /\A(eyJ[^.]*\.[^.]*)/;

        $is{about} = plain((claims($is{access_token}))[1]) if $jwt;
        $is{alive} = plain(form($self->{s}, introspect => { token => $is{access_token} },
                                client => $self->{apps}{agent}, http => { port => $port })->json);
        $is{access_token} = $jwt ? 'a JWT' : 'an opaque one';
    }

    $is{id_token} = plain((claims($is{id_token}))[1]) if $is{id_token};
    $is{refresh_token} = 'one' if $is{refresh_token};
    $is{expires_in} = int(($is{expires_in} + 5) / 10) if $is{expires_in};

    return \%is;
}


# Replaces times by their distance from the first one, in units of ten seconds:
# a second makes no difference.

sub plain {
    my ($claims) = @_;

    my %is = %$claims;

    $is{exp} = int(($is{exp} - $is{iat} + 5) / 10) if $is{exp} && $is{iat};
    delete @is{qw(iat nbf jti at_hash sid acr)};

    return \%is;
}


# Waits for the row of a client's own token, which is written after the answer.

sub settle {
    my ($self, $r, $case, $since) = @_;

    return if $r->status != 200 || $case->{type} ne 'client_credentials';

    wait_for { $self->{s}->sql('SELECT count(*) FROM svc.oauth_token'
                               . $self->issued($since, $case)) >= 1 };
}


# Selects the tokens that were issued, without those of clients that only
# provide proofs, and without clients' own tokens that are presented.

sub issued {
    my ($self, $since, $case) = @_;

    return " WHERE issued_at >= date_trunc('milliseconds', '$since'::timestamptz)"
           . " AND client_id <> '$self->{other}{clientId}'"
           . ($case->{type} eq $EXCHANGE ? " AND grant_type = '$EXCHANGE'" : '');
}


# Returns all rows that are new since then, and those that were changed.

sub rows {
    my ($self, $since, $case) = @_;

    my %is;
    my $grants = "'{" . join(',', @{ $self->{grants} }) . "}'::uuid[]";
    my %sql = (
        oauth_token => "SELECT client_id, user_id, grant_id IS NOT NULL, root_jti IS NOT NULL,"
            . " parent_jti IS NOT NULL, chain, principals, grant_type, scopes, audience,"
            . " audience_key, secret_hash IS NOT NULL, kid, jkt, round(ttl / 10.0), revoked_at"
            . " IS NOT NULL, ip, country FROM svc.oauth_token" . $self->issued($since, $case),
        oauth_refresh => "SELECT jkt, used_at IS NOT NULL, successor IS NOT NULL,"
            . " round(date_part('epoch', expires_at - created_at) / 100)"
            . " FROM svc.oauth_refresh WHERE grant_id = ANY ($grants)",
        oauth_grant => "SELECT client_id, revoked_at IS NOT NULL, reason FROM svc.oauth_grant"
            . " WHERE id = ANY ($grants)",
        oauth_code => "SELECT used_at IS NOT NULL FROM svc.oauth_code"
            . " WHERE grant_id = ANY ($grants)",
        delegation => "SELECT client_id, client_name, subject_type, subject_id, chain,"
            . " grant_type, audience, scopes, outcome, reason, token_jti IS NOT NULL,"
            . " parent_jti IS NOT NULL, root_jti IS NOT NULL, bound, ip, country"
            . " FROM svc.delegation WHERE created_at >= '$since'::timestamptz"
            . " - interval '1 ms'",
        audit_event => "SELECT action, actor_type, actor_id, actor_name, ip, details"
            . " - '{requestId,anomalyId}'::text[] FROM svc.audit_event WHERE created_at >= '$since'::timestamptz"
            . " - interval '1 ms'"
            . " AND (action <> 'agent.anomaly_raised' OR details->>'type' IN ($RAISED))",
        agent_anomaly => "SELECT type, client_id, occurrences, details - 'requestId'"
            . " FROM svc.agent_anomaly WHERE type IN ($RAISED)",
    );

    for my $table (sort keys %sql) {
        $is{$table} = [ sort map { join '|', map { $_ // '' } ref $_ ? @$_ : $_ }
                        $self->{s}->sql($sql{$table}) ];
    }

    return \%is;
}


1;
