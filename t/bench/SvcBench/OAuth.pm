package SvcBench::OAuth;

# Tokens that clients get, and introspections of them, beside the same statements
# in pgbench.

use strict;
use warnings;

use SvcBench::Load;
use SvcTest::OAuth qw(application basic form);
use SvcTest::Process qw(wait_for);


my $CONNECTIONS = 64;
my $HEADER = 'Content-Type: application/x-www-form-urlencoded';

my (%client, %token, %variable);


# A location, a client for each format, and a token of each.

sub prepare {
    my ($system) = @_;

    my $s = $system->{s};
    my $tenant = $system->{tenants}[0];

    $s->nginx->{locations} .= "        location /oauth { svc_oauth on; }\n";
    $s->reload;
    $s->wait_healthy or die "nginx is not healthy\n";

    for my $format (qw(jwt opaque)) {
        my $app = $client{$format}
            = application($tenant, name => $format, scopes => [ 'invoices:read' ],
                          accessTokenFormat => $format);

        $token{$format} = form($s, token => { grant_type => 'client_credentials' },
                               client => $app)->json->{access_token};
    }

    my ($token) = $s->sql(<<"EOT");
SELECT jti, (extract(epoch FROM issued_at) * 1000)::bigint, secret_hash
FROM svc.oauth_token WHERE client_id = '$client{opaque}{clientId}'
EOT
    my $digest = $s->sql(<<"EOT");
SELECT digest FROM svc.oauth_login
WHERE client_id = '$client{opaque}{clientId}' AND kind = 'secret'
EOT

    %variable = (client => $client{opaque}{clientId}, digest => $digest, issuer => 'http://127.0.0.1/oauth/t/');
    @variable{qw(jti ms secret)} = @$token;
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


sub pgbench {
    my ($system, $seconds, $statements, $script) = @_;

    return SvcBench::Load::pgbench($system, $statements, $script, clients => 8,
                                   seconds => $seconds, variables => \%variable);
}


1;
