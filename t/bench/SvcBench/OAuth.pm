package SvcBench::OAuth;

# Tokens of clients, and introspections of them, compared with the same
# statements in pgbench, and with oidc-provider.

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use Digest::SHA qw(sha256_hex);
use MIME::Base64 qw(encode_base64url);
use POSIX qw(ceil);

use SvcBench::Load;
use SvcBench::OidcPeer;
use SvcBench::Scim;
use SvcTest::Grants qw(code redeem $VERIFIER $REDIRECT);
use SvcTest::Lines;
use SvcTest::OAuth qw(application basic form user_token $ACCESS_TOKEN $EXCHANGE);
use SvcTest::Process qw(wait_for write_file);


my $CONNECTIONS = 64;
my $HEADER = 'Content-Type: application/x-www-form-urlencoded';
my $KEYS = 16_000;                      # assertions: more than a second needs
my $BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
my $REFRESHES = 256;                    # chains: more than connections
my $API = 'https://agent.bench.test/';

my (%client, %token, %variable, %peer);


# Returns nginx's location, needed before it starts.

sub location { return "        location /oauth { svc_oauth on; }\n" }


# Makes a client for each format, and a token of each.

sub prepare {
    my ($system) = @_;

    my $s = $system->{s};
    my $tenant = $system->{tenants}[0];

    for my $format (qw(jwt opaque rs256)) {
        my $app = $client{$format}
            = application($tenant, name => $format, scopes => [ 'invoices:read' ],
                          $format eq 'rs256' ? (signingAlg => 'RS256')
                                             : (accessTokenFormat => $format));

        $token{$format} = form($s, token => { grant_type => 'client_credentials' },
                               client => $app)->json->{access_token};
    }

    prepare_users($system, $tenant);

    my $token = wait_for {
        ($s->sql(<<"EOT"))[0];
SELECT jti, (extract(epoch FROM issued_at) * 1000)::bigint
FROM svc.oauth_token WHERE client_id = '$client{opaque}{clientId}'
EOT
    } or die "the row of a token is not stored\n";

    my $digest = $s->sql(<<"EOT");
SELECT digest FROM svc.oauth_login
WHERE client_id = '$client{opaque}{clientId}' AND kind = 'secret'
EOT

    %variable = (client => $client{opaque}{clientId}, digest => $digest);
    @variable{qw(jti ms)} = @$token;

    $system->reset;
}


# Makes an application that users have signed in to, and an agent that acts for
# them.

sub prepare_users {
    my ($system, $tenant) = @_;

    my $user = SvcBench::System::user_id(0);
    my $web = $client{web} = application(
        $tenant, name => 'web', type => 'web', redirectUris => [ $REDIRECT ],
        scopes => [ qw(openid profile invoices:read) ],
        accessTokenFormat => 'opaque');

    for my $name (qw(id_token id_token_claims)) {
        $client{$name} = application(
            $tenant, name => $name, type => 'web', redirectUris => [ $REDIRECT ],
            scopes => [ qw(openid profile email) ], signingAlg => 'ES256',
            $name eq 'id_token' ? () : (idTokenClaims => [ qw(profile email) ]));
    }

    $client{agent} = application($tenant, name => 'agent', type => 'agent',
                                 scopes => [ 'invoices:read' ], resourceUri => $API,
                                 accessTokenFormat => 'opaque');

    $tenant->{system}->sql(<<"EOT");
INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources, allowed)
VALUES ('$tenant->{id}', '$user', '$client{agent}{clientId}', '{invoices:read}', '{}',
        '{" "," invoices:read"}')
EOT
    $token{user} = user_token($tenant, client => $web, user => $user, ttl => 86_400,
                              scopes => [ 'invoices:read' ], audience => $API);
}


# Returns the peer of a kind; it starts when it is first needed.

sub peer {
    my ($system, $kind) = @_;

    return $peer{$kind} //= SvcBench::OidcPeer->new($system,
                                                    stored => $kind eq 'stored');
}


sub post {
    my ($system, $seconds, $format, $path, $body) = @_;

    return SvcBench::Load::wrk($system, 'send', seconds => $seconds,
                               connections => $CONNECTIONS, method => 'POST',
                               path => "/oauth/$path", body => $body,
                               headers => "$HEADER\nAuthorization: "
                                          . basic($client{$format}));
}


sub tokens {
    my ($system, $seconds, $format) = @_;

    return post($system, $seconds, $format, token => 'grant_type=client_credentials');
}


sub introspections {
    my ($system, $seconds, $format) = @_;

    return post($system, $seconds, $format, introspect => "token=$token{$format}");
}


# Measures introspections of JWTs that no worker has seen.  Each is sent once,
# and is active if its answer is as long as that for an active one.

sub unseen {
    my ($system, $seconds) = @_;

    my %form = (connections => $CONNECTIONS, threads => 1, lines => "$system->{dir}/unseen",
                headers => form_headers('jwt'));

    SvcBench::Load::wrk($system, 'collect', %form, seconds => 2 * $seconds,
                        path => '/oauth/token', body => 'grant_type=client_credentials');

    my $seen = introspections($system, $seconds < 1 ? $seconds : 1, 'jwt');

    return SvcBench::Load::wrk($system, 'lines', %form, method => 'POST', seconds => $seconds,
                               path => '/oauth/introspect',
                               size => $seen->{bytes} / $seen->{requests});
}


# Measures private_key_jwt.  Each assertion is presented once, and got a token
# if the answer is as long as one with a token.

sub by_key {
    my ($system, $seconds) = @_;

    my $s = $system->{s};
    my $lines = $client{keys} //= SvcTest::Lines->new($s->root . '/t/lib/assertion');
    my %made = (key => 'bench', aud => "http://127.0.0.1:" . $s->port . '/oauth/token');

    $client{key} //= application($system->{tenants}[0], name => 'key',
                                 scopes => [ 'invoices:read' ],
                                 tokenEndpointAuthMethod => 'private_key_jwt',
                                 jwks => { keys => [ $lines->ask(\%made)->{jwk} ] });
    $made{client} = $client{key}{clientId};

    my $text = $lines->ask({ %made, claims => { exp => 280 },
                             more => ceil($KEYS * $seconds) });

    $s->secret($text->{assertion});

    write_file("$system->{dir}/assertions", join '', map {
        '127.0.0.1:' . $s->port . " grant_type=client_credentials&client_assertion=$_"
        . "&client_assertion_type=$BEARER\n"
    } @{ $text->{more} });

    my $known = tokens($system, $seconds < 1 ? $seconds : 1, 'jwt');

    return SvcBench::Load::wrk($system, 'lines', method => 'POST', seconds => $seconds,
                               threads => 1, connections => $CONNECTIONS, headers => $HEADER,
                               lines => "$system->{dir}/assertions",
                               path => '/oauth/token',
                               size => $known->{bytes} / $known->{requests});
}


# Measures at this rate, which should be about half of the possible one.

sub paced {
    my ($system, $seconds, $rate) = @_;

    return SvcBench::Load::wrk($system, 'send', seconds => $seconds, connections => 16,
                               threads => 1, rate => $rate, method => 'POST',
                               path => '/oauth/introspect',
                               body => "token=$token{opaque}",
                               headers => "$HEADER\nAuthorization: "
                                          . basic($client{opaque}));
}


# Measures exchanges: every answer of 200 has stored a token.

sub exchanges {
    my ($system, $seconds) = @_;

    my $before = stored($system, 'oauth_token');
    my $n = post($system, $seconds, agent => token =>
                 "grant_type=$EXCHANGE&subject_token=$token{user}"
                 . "&subject_token_type=$ACCESS_TOKEN&scope=invoices:read");

    SvcBench::Scim::check($n, stored($system, 'oauth_token') - $before,
                          'tokens are stored');

    return $n;
}


# Measures chains of refresh tokens, each of a grant of its own.  client:
# another one than "web", and its scopes.

sub refreshes {
    my ($system, $seconds, $client, @scopes) = @_;

    $client //= 'web';
    @scopes = 'invoices:read' if !@scopes;

    my $tenant = $system->{tenants}[0];
    my $file = "$system->{dir}/refreshes";

    write_file($file, join '', map {
        my $code = code($tenant, $client{$client}, { id => user_of($_) },
                        scopes => [ 'offline_access', @scopes ]);

        redeem($system->{s}, $client{$client}, $code)->json->{refresh_token} . "\n";
    } 1 .. $REFRESHES);

    my $before = stored($system, 'oauth_refresh');
    my $n = SvcBench::Load::wrk($system, 'refresh', seconds => $seconds,
                                connections => $CONNECTIONS, lines => $file,
                                path => '/oauth/token', headers => form_headers($client));

    SvcBench::Scim::check($n, stored($system, 'oauth_refresh') - $before,
                          'refresh tokens are stored');

    return $n;
}


# Measures at most so many codes, which are stored beforehand.

sub codes {
    my ($system, $seconds, $most) = @_;

    my $s = $system->{s};
    my $file = "$system->{dir}/codes";
    my @codes = map { encode_base64url(SvcTest::random_bytes(32)) } 1 .. $most;

    $s->sql('DELETE FROM svc.oauth_code');
    write_file("$system->{dir}/codes.csv",
               join '', map { user_of($_) . ',\x' . sha256_hex($codes[$_]) . "\n" }
                        0 .. $#codes);
    store_codes($system, "$system->{dir}/codes.csv");

    write_file($file, join '', map { '127.0.0.1:' . $s->port
        . " grant_type=authorization_code&code=$_&code_verifier=$VERIFIER"
        . '&redirect_uri=' . SvcTest::OAuth::escape($REDIRECT) . "\n" } @codes);

    my $n = SvcBench::Load::wrk($system, 'lines', method => 'POST', seconds => $seconds,
                                connections => $CONNECTIONS, threads => 1, lines => $file,
                                path => '/oauth/token', headers => form_headers('web'));

    my $used = $s->sql('SELECT count(*) FROM svc.oauth_code WHERE used_at IS NOT NULL');

    SvcBench::Scim::check($n, $used, 'codes are used');
    $s->sql('DELETE FROM svc.oauth_code');

    return $n;
}


# Stores the codes of a file, with a grant each: user, digest.

sub store_codes {
    my ($system, $file) = @_;

    my $tenant = $system->{tenants}[0];
    my $challenge = sha256_hex($VERIFIER);

    write_file("$system->{dir}/codes.sql", <<"EOT");
CREATE TEMPORARY TABLE given (user_id uuid, digest bytea, id uuid DEFAULT gen_random_uuid());
\\copy given (user_id, digest) FROM '$file' CSV
INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes, resources,
    resource_keys, session_id, auth_time, methods, expires_at)
SELECT '$tenant->{id}', id, '$client{web}{clientId}', user_id, '{invoices:read}', '{}', '{}',
       id, now(), '{password}', now() + interval '1 hour' FROM given;
INSERT INTO svc.oauth_code (tenant_id, digest, grant_id, client_id, redirect_uri, challenge,
    expires_at)
SELECT '$tenant->{id}', digest, id, '$client{web}{clientId}', '$REDIRECT',
       '\\x$challenge', now() + interval '1 hour' FROM given;
ANALYZE svc.oauth_grant, svc.oauth_code;
EOT
    $system->psql('postgres', '-f', "$system->{dir}/codes.sql");
}


sub user_of {
    my ($n) = @_;

    return SvcBench::System::user_id($n % 100 * 10);
}


sub form_headers {
    my ($name) = @_;

    return "$HEADER\nAuthorization: " . basic($client{$name});
}


sub stored {
    my ($system, $table) = @_;

    return scalar $system->{s}->sql("SELECT count(*) FROM svc.$table");
}


# Stores more tokens of one client.

sub add_tokens {
    my ($system, $tokens) = @_;

    $system->psql('postgres', '-f', "$system->{here}/sql/tokens_oauth.sql",
                  '-v', "tokens=$tokens", '-v', "client=$client{opaque}{clientId}");
    $system->{s}->sql('CHECKPOINT');
}


# Makes more tenants, each with a client.

sub add_tenants {
    my ($system, $tenants) = @_;

    $system->psql('postgres', '-f', "$system->{here}/sql/tenants_oauth.sql",
                  '-v', "tenants=$tenants");
    write_file("$system->{dir}/clients", join '', map {
        basic({ clientId => "app_$_", clientSecret => "secret-app_$_" }) . "\n"
    } map { md5_hex("oauth$_") } 0 .. $tenants - 1);
    $system->{s}->sql('CHECKPOINT');
}


# Measures JWTs of all of these tenants, each of which has a key already.

sub tenants {
    my ($system, $seconds) = @_;

    return SvcBench::Load::wrk($system, 'clients', seconds => $seconds,
                               connections => $CONNECTIONS, path => '/oauth/token',
                               body => 'grant_type=client_credentials',
                               lines => "$system->{dir}/clients", headers => $HEADER);
}


# Goes on until each of them has a key.

sub make_keys {
    my ($system, $tenants, $seconds) = @_;

    my ($made, $before) = (0, -1);

    while (($made = keys_made($system)) < $tenants) {
        die "$made keys of $tenants tenants are made, and no more\n" if $made == $before;

        $before = $made;
        tenants($system, $seconds);
    }
}


sub keys_made {
    my ($system) = @_;

    return scalar $system->{s}->sql('SELECT count(DISTINCT k.tenant_id) FROM svc.oauth_key k'
                                    . ' JOIN svc.tenant t ON t.id = k.tenant_id'
                                    . " WHERE t.slug LIKE 'oauth%'");
}


# Measures tokens while the sweep for anomalies is off, because another
# connection has its lock.

sub without_sweep {
    my ($system, $seconds) = @_;

    my $other = $system->{s}->pg->connect('postgres', 'svc');
    my $lock = "advisory_lock(hashtext('svc.agent_sweep'))";

    $other->query("SELECT pg_$lock");

    my $n = tokens($system, $seconds, 'opaque');

    $other->query("SELECT pg_" . $lock =~ s/_lock/_unlock/r);

    return $n;
}


# Runs transactions that read what the issuing of a token depends on, or that
# find an active token.

sub pgbench {
    my ($system, $seconds, $statements, $script) = @_;

    check_active($system, $statements) if $script eq 'oauth_introspect';

    return SvcBench::Load::pgbench($system, $statements, $script, clients => 8,
                                   seconds => $seconds, variables => \%variable);
}


sub check_active {
    my ($system, $statements) = @_;

    my $c = $system->{s}->connect_as('svc_app');
    my $text = SvcBench::Load::script("$system->{here}/pgbench/oauth_introspect.sql",
                                      $statements, 0);
    my %v = (%SvcBench::Load::VARIABLES, %variable);
    my ($login, $token) = grep { !/^(?:--|\\)/ } split /^/, $text;

    s/(?<!:):(\w+)/'$v{$1}'/g for $login, $token;
    $c->query('BEGIN');
    $c->query($login);

    my ($row) = @{ $c->query($token) };

    # the verdict on the caller, the state of the client, and whether it was
    # revoked

    die "pgbench is told of no token that is active\n" if defined $row->[0]
                                                          || defined $row->[3]
                                                          || $row->[10] ne 'f';
    $c->query('ROLLBACK');
}


1;
