package SvcTest::OAuth;

# A client of /oauth: the server with it, applications, forms, and what is in a
# JWT.

use strict;
use warnings;

use Exporter qw(import);
use JSON::PP ();
use MIME::Base64 qw(decode_base64url encode_base64);
use Test::More;

use SvcTest;

our @EXPORT_OK = qw(oauth_server oauth_node application form oauth_error basic claims $EXCHANGE);

our $EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

my $LOCATIONS = <<'EOT';
        location /oauth {
            svc_oauth on;
        }
EOT


# Options: those of SvcTest; locations: beside that one.  Not started yet.

sub oauth_server {
    my (%arg) = @_;

    my $more = delete $arg{locations} // '';

    return SvcTest->new(%arg, svc => { svc_sign_in => 'on', %{ $arg{svc} // {} } },
                        locations => $LOCATIONS . $more);
}


# Another node, behind the same balancer.

sub oauth_node {
    my ($s, %svc) = @_;

    return $s->node(locations => $s->{nginx}{locations},
                    svc => { svc_sign_in => 'on',
                             svc_base_url => 'http://127.0.0.1:' . $s->port, %svc });
}


# A new application of a tenant: what POST /v1/applications has answered.

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


# A form to a path below /oauth.  client: an application, by Basic; headers.
# fields: a hash, or pairs; an undef is left out.

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


sub basic {
    my ($client) = @_;

    return 'Basic ' . encode_base64("$client->{clientId}:$client->{clientSecret}", '');
}


# An answer that is an error of RFC 6749, 5.2.

sub oauth_error {
    my ($r, $status, $code, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $json = eval { $r->json } // {};

    my $ok = $r->status == $status && ($json->{error} // '') eq $code
             && ($json->{error_description} // '') =~ /\A[\x20\x21\x23-\x5b\x5d-\x7e]+\z/
             && ($r->header('content-type') // '') eq 'application/json'
             && ($status == 405 || ($r->header('cache-control') // '') eq 'no-store');

    ok($ok, "$name: $status $code") or diag($r->status, ' ', $r->body // '');

    return $json->{error_description};
}


# Header and payload of a JWT, which nobody has verified.

sub claims {
    my ($jwt) = @_;

    return map { JSON::PP->new->utf8->decode(decode_base64url($_)) }
           (split /\./, $jwt)[0, 1];
}


1;
