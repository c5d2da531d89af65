package SvcTest::Grants;

# What users have granted to applications: grants and codes as an authorization
# request leaves them, and what clients get for those.

use strict;
use warnings;

use Digest::SHA qw(sha256 sha256_hex);
use Exporter qw(import);
use MIME::Base64 qw(encode_base64url);
use Test::More;

use SvcTest::OAuth qw(form basic);

our @EXPORT_OK = qw(grant code redeem refresh redeeming refreshing $VERIFIER $REDIRECT digest);

our $VERIFIER = 'v' x 43;
our $REDIRECT = 'https://a.test/cb';

my $N = 0;


# Makes a grant of a user to an application.  Returns its id.  Options: scopes,
# resources, resource_keys; and in SQL created_at, expires_at.

sub grant {
    my ($tenant, $app, $user, %opt) = @_;

    my $scopes = join ',', map { "\"$_\"" } sort @{ $opt{scopes} // [ 'openid' ] };
    my ($resources, $keys) = map { join ',', map { "\"$_\"" } @{ $_ // [] } }
                             $opt{resources}, $opt{resource_keys} // $opt{resources};
    my $created = $opt{created_at} // 'now()';
    my $expires = $opt{expires_at} // "now() + interval '90 days'";

    return $tenant->{system}->sql(<<"EOT");
INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes, resources,
    resource_keys, session_id, auth_time, methods, created_at, expires_at)
VALUES ('$tenant->{id}', gen_random_uuid(), '$app->{clientId}', '$user->{id}',
        '{$scopes}', '{$resources}', '{$keys}', gen_random_uuid(),
        '2026-01-02 03:04:05Z', '{password,totp}', $created, $expires)
RETURNING id
EOT
}


# Makes a code of a grant, and the grant unless its id is given.  Returns {
# code, grant }.  Options: those of a grant; redirect_uri, nonce, jkt; and in
# SQL expires.

sub code {
    my ($tenant, $app, $user, %opt) = @_;

    my $grant = $opt{grant} // grant($tenant, $app, $user, %opt);
    my $code = encode_base64url(sha256('code' . ++$N . rand));
    my $redirect = $opt{redirect_uri} // $REDIRECT;
    my $nonce = defined $opt{nonce} ? "'$opt{nonce}'" : 'NULL';
    my $jkt = $opt{jkt} ? "'\\x$opt{jkt}'" : 'NULL';
    my $expires = $opt{expires} // "now() + interval '60 s'";
    my $challenge = sha256_hex($VERIFIER);

    $tenant->{system}->secret($code);
    $tenant->{system}->sql(<<"EOT");
INSERT INTO svc.oauth_code (tenant_id, digest, grant_id, client_id, redirect_uri,
    challenge, nonce, jkt, expires_at)
VALUES ('$tenant->{id}', '@{[ digest($code) ]}', '$grant', '$app->{clientId}',
        '$redirect', '\\x$challenge', $nonce, $jkt, $expires)
EOT

    return { code => $code, grant => $grant };
}


sub digest { return '\\x' . sha256_hex($_[0]) }


# Redeems a code, or refreshes, and returns the answer.  fields: fields to add
# or to replace; undef leaves one out.

sub redeem {
    my ($s, $app, $code, %fields) = @_;

    return send_form($s, $app, { grant_type => 'authorization_code',
                                 code => $code->{code}, code_verifier => $VERIFIER,
                                 redirect_uri => $REDIRECT, %fields });
}


sub refresh {
    my ($s, $app, $token, %fields) = @_;

    return send_form($s, $app, { grant_type => 'refresh_token', refresh_token => $token,
                                 %fields });
}


sub send_form {
    my ($s, $app, $fields) = @_;

    my $r = form($s, token => $app->{clientSecret} ? $fields
                              : { client_id => $app->{clientId}, %$fields },
                 $app->{clientSecret} ? (client => $app) : ());

    if ($r->status == 200) {
        my $json = $r->json;
        $s->secret($json->{$_})
            for grep { defined $json->{$_} } qw(access_token refresh_token id_token);
    }

    return $r;
}


# Does the same without waiting for the answer: returns what SvcTest's begin()
# returns.

sub redeeming {
    my ($s, $app, $code, %opt) = @_;

    return begin_form($s, $app, { grant_type => 'authorization_code', code => $code->{code},
                                  code_verifier => $VERIFIER }, %opt);
}


sub refreshing {
    my ($s, $app, $token, %opt) = @_;

    return begin_form($s, $app, { grant_type => 'refresh_token', refresh_token => $token },
                      %opt);
}


sub begin_form {
    my ($s, $app, $fields, %opt) = @_;

    return $s->begin(POST => '/oauth/token',
                     [ 'Content-Type' => 'application/x-www-form-urlencoded',
                       Authorization => basic($app) ],
                     join('&', map { "$_=" . SvcTest::OAuth::escape($fields->{$_}) }
                               sort keys %$fields), %opt);
}


1;
