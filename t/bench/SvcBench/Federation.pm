package SvcBench::Federation;

# Sign-ins through OpenID Connect, whose flows are begun beforehand, and the question what
# a domain has.
#
# Nginx itself answers as the identity providers, with an ID token each, so that a request
# for one costs next to nothing: all flows have the nonce of those.

use strict;
use warnings;

use JSON::PP ();

use SvcBench::Load;
use SvcBench::Login;
use SvcBench::Scim;
use SvcTest;
use SvcTest::Idp ();
use SvcTest::Lines;
use SvcTest::Process qw(wait_for write_file);


my $CONNECTIONS = 64;
my $EACH = 10;                          # connections of a tenant
my $NONCE = 'n' x 43;
my $COOKIE = 'c' x 43;


sub directives {
    return (svc_federation => 'on', svc_federation_allow => '127.0.0.0/8');
}


# POST of a file is not allowed: the file is the error.

sub location {
    return <<'EOT';
        location /upstream/ {
            default_type application/json;
            alias upstream/;
            error_page 405 =200 $uri;
        }
EOT
}


# Of a domain that the tenant has; requests are counted by the client's address.

sub discover {
    my ($system, $seconds) = @_;
    my $s = $system->{s};

    $s->sql('INSERT INTO svc.domain (tenant_id, domain, verified_at)'
            . " VALUES ('$system->{tenants}[0]{id}', 'bench0.test', now())");

    my $n = SvcBench::Load::wrk(
        $system, 'send', seconds => $seconds, connections => 64, method => 'POST',
        path => '/v1/auth/discover', headers => '',
        body => '{"email":"ada@bench0.test","tenant":"bench0"}');

    $s->sql('DELETE FROM svc.domain');
    SvcBench::Login::limits($system);

    return $n;
}


# Measures at most so many callbacks.  Each answer of 303 that leads to the account has
# stored a sign-in.

sub sign_ins {
    my ($system, $seconds, $most) = @_;

    my @connections = prepare($system);
    my $file = "$system->{dir}/callbacks";

    write_file($file, join '', map { "$_\n" } callbacks($system, $most, @connections));

    my $before = SvcBench::Login::signed_in($system);
    my $n = SvcBench::Load::wrk($system, 'lines', seconds => $seconds,
                                connections => $CONNECTIONS, threads => 1, lines => $file);

    SvcBench::Scim::check($n, SvcBench::Login::signed_in($system) - $before,
                          'sign-ins are stored');
    clean($system);

    return $n;
}


# Connects each tenant with some providers, of which each knows one user.  Returns the
# connections: slug and key.

sub prepare {
    my ($system) = @_;

    my $s = $system->{s};
    my $signer = $system->{signer} //= SvcTest::Lines->new($s->root . '/t/lib/assertion');
    my $base = $s->base_url;
    my @connections;

    mkdir "$system->{dir}/upstream";

    for my $tenant (0 .. $system->{count} - 1) {
        for my $n (1 .. $EACH) {
            my $user = $tenant + $n * $system->{count};
            my $issuer = "$base/upstream/$user";

            publish($signer, "$system->{dir}/upstream/$user", $issuer,
                    "user$user\@bench$tenant.test");
            push @connections, { slug => "bench$tenant", key => "oidc-$n",
                                 tenant => $system->{tenants}[$tenant], issuer => $issuer };
        }
    }

    connect_all($s, @connections);
    $s->sql("VACUUM (ANALYZE) svc.$_") for qw(social federation_meta);

    return @connections;
}


sub publish {
    my ($signer, $folder, $issuer, $email) = @_;

    my $signed = $signer->ask({ key => 'bench', client => 'bench', aud => 'bench',
        claims => { iss => $issuer, sub => $email, email => $email, nonce => $NONCE,
                    email_verified => JSON::PP::true(), exp => 3600, jti => undef } });
    my %file = (
        'openid-configuration' => {
            issuer => $issuer, authorization_endpoint => "$issuer/authorize",
            token_endpoint => "$issuer/token", jwks_uri => "$issuer/jwks",
            token_endpoint_auth_methods_supported => [ 'client_secret_basic' ],
            id_token_signing_alg_values_supported => [ 'ES256' ] },
        jwks => { keys => [ $signed->{jwk} ] },
        token => { access_token => 'x', token_type => 'Bearer',
                   id_token => $signed->{assertion} });

    mkdir $_ for $folder, "$folder/.well-known";

    write_file($folder . ($_ eq 'openid-configuration' ? '/.well-known' : '') . "/$_",
               SvcTest::encode($file{$_}))
        for keys %file;
}


# The clients are public ones, which have no secret to seal.

sub connect_all {
    my ($s, @connections) = @_;

    $s->sql('INSERT INTO svc.social (tenant_id, provider, client_id, client_secret_id, enabled,'
            . ' issuer, link_by_email) VALUES '
            . join(', ', map { "('$_->{tenant}{id}', '$_->{key}', 'bench',"
                               . " gen_random_uuid(), true, '$_->{issuer}', 'verified')" }
                        @connections));
    $s->sql('INSERT INTO svc.federation_meta (tenant_id, connection_id)'
            . ' SELECT tenant_id, connection_id FROM svc.social');
}


# Begins so many flows, in turn.  Returns lines of a path and a cookie.

sub callbacks {
    my ($system, $n, @connections) = @_;

    my $c = $system->{s}->connection;
    my @lines;

    for my $i (0 .. $n - 1) {
        my $to = $connections[$i % @connections];
        my $r = $c->request(POST => '/v1/auth/federation/start',
                            { Origin => $system->base_url, Cookie => "svc_fed=$COOKIE" },
                            SvcTest::encode({ connection => $to->{key},
                                              tenant => $to->{slug} }))
            // die 'no flow: ' . $c->error . "\n";
        my ($state) = ($r->status == 200 ? $r->json->{redirectTo} : '')
                      =~ /[?&]state=([\w-]{43})(?:&|\z)/
            or die 'no flow: ' . $r->body . "\n";

        # an address may have a hundred of them that are open

        $system->{s}->sql('UPDATE svc.federation_flow SET address = NULL') if $i % 90 == 89;
        push @lines, SvcTest::Idp::callback($to->{key}, $to->{slug})
                     . "?code=x&state=$state svc_fed=$COOKIE";
    }

    $system->{s}->sql("UPDATE svc.federation_flow SET nonce = '$NONCE', address = NULL");
    $system->{s}->sql('VACUUM (ANALYZE) svc.federation_flow');

    return @lines;
}


sub clean {
    my ($system) = @_;

    my $s = $system->{s};

    wait_for { $s->sessions("state <> 'idle'") == 0 } 10
        or die "sign-ins do not end\n";
    $s->sql("DELETE FROM svc.$_") for qw(federated_identity social);
    $s->sql('TRUNCATE svc.federation_flow');
    SvcBench::Login::clean($system);
}


1;
