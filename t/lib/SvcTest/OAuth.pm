package SvcTest::OAuth;

# OAuth clients: a server with /oauth, applications, forms, and the claims of
# JWTs.

use strict;
use warnings;

use Exporter qw(import);
use JSON::PP ();
use MIME::Base64 qw(decode_base64url encode_base64 encode_base64url);
use Test::More;

use SvcTest;

our @EXPORT_OK = qw(oauth_server oauth_node application form oauth_error basic claims
    escape unescape $EXCHANGE);

our $EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

my $LOCATIONS = <<'EOT';
        location /oauth {
            svc_oauth on;
        }
EOT


# Returns a server that is not started yet.  Options: those of SvcTest;
# locations: in addition to /oauth.

sub oauth_server {
    my (%arg) = @_;

    my $more = delete $arg{locations} // '';

    return SvcTest->new(%arg, svc => { svc_sign_in => 'on', %{ $arg{svc} // {} } },
                        locations => $LOCATIONS . $more);
}


# Starts another node, behind the same balancer.

sub oauth_node {
    my ($s, %svc) = @_;

    return $s->node(locations => $s->{nginx}{locations},
                    svc => { svc_sign_in => 'on',
                             svc_base_url => 'http://127.0.0.1:' . $s->port, %svc });
}


# Creates an application of a tenant.  Returns the answer of POST
# /v1/applications.

sub application {
    my ($tenant, %body) = @_;

    $tenant->{apps_token} //= $tenant->token_for('apps:manage,users:view,groups:manage');

    my $r = $tenant->{system}->http(POST => '/v1/applications',
        [ Authorization => "Bearer $tenant->{apps_token}" ],
        { name => 'An app', type => 'm2m', %body });

    $r->status == 201 or die 'POST /v1/applications: ' . $r->body . "\n";
    $tenant->{system}->secret($r->json->{clientSecret}) if $r->json->{clientSecret};

    return $r->json;
}


# Sends a form to a path below /oauth.  client: an application, which
# authenticates by Basic; headers.  fields: a hash, or pairs; one that is undef
# is left out.

sub form {
    my ($s, $path, $fields, %opt) = @_;

    my @pairs = ref $fields eq 'HASH' ? map { $_ => $fields->{$_} } sort keys %$fields
                                      : @$fields;
    my @text;

    while (my ($name, $value) = splice @pairs, 0, 2) {
        push @text, join '=', map { escape($_) } $name, $value if defined $value;
    }

    return $s->http(POST => "/oauth/$path",
                    [ 'Content-Type' => 'application/x-www-form-urlencoded',
                      $opt{client} ? (Authorization => basic($opt{client})) : (),
                      @{ $opt{headers} // [] } ],
                    join('&', @text), %{ $opt{http} // {} });
}


sub escape {
    my ($text) = @_;

    utf8::encode($text) if utf8::is_utf8($text);

    return $text =~ s/([^A-Za-z0-9_.~-])/sprintf '%%%02X', ord $1/ger;
}


sub unescape {
    my ($text) = @_;

    return $text =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger;
}


sub basic {
    my ($client) = @_;

    return 'Basic ' . encode_base64("$client->{clientId}:$client->{clientSecret}", '');
}


# Tests that an answer is an error of RFC 6749, 5.2.

sub oauth_error {
    my ($r, $status, $code, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $json = eval { $r->json } // {};

    my $ok = $r->status == $status && ($json->{error} // '') eq $code
             && ($json->{error_description} // '') =~ /\A[\x20\x21\x23-\x5b\x5d-\x7e]+\z/
             && ($r->header('content-type') // '') eq 'application/json'
             && ($r->header('x-request-id') // '') =~ /\A[0-9a-f]{32}\z/
             && ($status == 405 || ($r->header('cache-control') // '') eq 'no-store');

    ok($ok, "$name: $status $code") or diag($r->status, ' ', $r->body // '');

    return $json->{error_description};
}


# Returns the header and the payload of a JWT, without verifying it.

sub claims {
    my ($jwt) = @_;

    return map { JSON::PP->new->utf8->decode(decode_base64url($_)) }
           (split /\./, $jwt)[0, 1];
}


# --- exchanges --------------------------------------------------------------------

push @EXPORT_OK, qw(user_token consent exchange delegations $ACCESS_TOKEN);

our $ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';


# Makes an opaque token of a user, without a sign-in.  client, user, scopes; and
# audience, chain, grant, ttl, and "ago", its age in seconds.

sub user_token {
    my ($tenant, %t) = @_;

    my $s = $tenant->{system};
    my $ms = $s->sql("SELECT floor(date_part('epoch', now()) * 1000)::bigint")
             - 1000 * ($t{ago} // 0);
    my $jti = sprintf '%012x7%sa%s', $ms, unpack('H3', SvcTest::random_bytes(2)),
                      unpack 'H15', SvcTest::random_bytes(8);
    my $secret = SvcTest::random_bytes(32);
    my $array = sub { @_ ? "'{" . join(',', @_) . "}'" : 'NULL' };
    my $text = sub { defined $_[0] ? "'$_[0]'" : 'NULL' };

    $s->sql('INSERT INTO svc.oauth_token (tenant_id, jti, issued_at, client_id, user_id,'
            . ' grant_id, chain, principals, grant_type, scopes, audience, audience_key,'
            . ' secret_hash, ttl)'
            . " SELECT '$tenant->{id}', '$jti', to_timestamp($ms\::float8 / 1000),"
            . " '$t{client}{clientId}', '$t{user}', " . $text->($t{grant}) . ', '
            . $array->(@{ $t{chain} // [] }) . ', '
            . $array->(@{ $t{chain} // [ $t{client}{clientId} ] })
            . ", 'authorization_code', " . $array->(sort @{ $t{scopes} }) . ', '
            . $text->($t{audience}) . ', ' . $text->($t{audience}) . ", sha256('\\x"
            . unpack('H*', $secret) . "'), " . ($t{ttl} // 3600));

    my $token = 'sat_' . encode_base64url(pack('H*', $tenant->{id} =~ tr/-//dr)
                                          . pack('H*', $jti) . $secret);
    $s->secret($token);

    return $token;
}


# Makes what a user has allowed an application, and no grant: each scope at each
# resource, by the resource's key; '' is the issuer.

sub consent {
    my ($tenant, $user, $app, $scopes, @keys) = @_;

    my $list = sub { return '{' . join(',', map { "\"$_\"" } sort @_) . '}' };

    @keys = ('') if !@keys;

    my $allowed = $list->(map { my $key = $_; map { "$key $_" } '', @$scopes } @keys);
    my ($all, $at) = ($list->(@$scopes), $list->(grep { $_ ne '' } @keys));

    $tenant->{system}->sql('INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes,'
        . " resources, allowed) VALUES ('$tenant->{id}', '$user', '$app->{clientId}', '$all',"
        . " '$at', '$allowed') ON CONFLICT (tenant_id, user_id, client_id) DO UPDATE"
        . ' SET scopes = excluded.scopes, resources = excluded.resources,'
        . ' allowed = excluded.allowed');

    return;
}


# Has a client exchange an access token.  fields: fields of the form to add or
# to replace.

sub exchange {
    my ($s, $client, $token, %fields) = @_;

    my $r = form($s, token => { grant_type => $EXCHANGE, subject_token => $token,
                                subject_token_type => $ACCESS_TOKEN, %fields },
                 client => $client);

    if ($r->status == 200 && $r->json->{access_token} =~ /\Asat_/) {
        $s->secret($r->json->{access_token});
    }

    return $r;
}


# Returns a client's rows of the delegation journal, the latest first, as hashes
# of the given columns.

sub delegations {
    my ($s, $client, @columns) = @_;

    return map { my $row = $_; +{ map { $columns[$_] => $row->[$_ + 1] } 0 .. $#columns } }
           $s->sql('SELECT ' . join(', ', 'id', @columns) . ' FROM svc.delegation'
                   . " WHERE client_id = '$client->{clientId}'"
                   . ' ORDER BY created_at DESC, id DESC');
}


1;
