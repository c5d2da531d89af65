package SvcTest::Passkey;

# Passkeys as a page uses them: registered in a session, and used to sign in;
# and challenges that are older than a test can wait for.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256);
use Exporter qw(import);
use MIME::Base64 qw(encode_base64url);

our @EXPORT_OK = qw(register sign_in options challenge);


# Returns the options that a route gives.

sub options {
    my ($b, $path, $body) = @_;

    my $r = $b->post($path, $body // {});
    $r->status == 200 or die $r->body;

    return $r->json->{publicKey};
}


# Registers a passkey in the browser's session.  settings: those of
# SvcTest::Authenticator.

sub register {
    my ($b, $authenticator, %settings) = @_;

    my $more = delete $settings{more} // {};
    my $options = options($b, '/v1/mfa/passkeys/options');

    return $b->post('/v1/mfa/passkeys',
                    { credential => $authenticator->answer($options, %settings),
                      %$more });
}


sub sign_in {
    my ($b, $authenticator, %settings) = @_;

    my $more = delete $settings{more} // {};
    my $options = options($b, '/v1/auth/passkey/options');

    return $b->post('/v1/auth/passkey/verify',
                    { credential => $authenticator->answer($options, %settings),
                      %$more });
}


# Makes a challenge as the installation does, $ago seconds old.

sub challenge {
    my ($s, $purpose, $rp_id, $ago, $session) = @_;

    open my $fh, '<', $s->{key_file} or die "$s->{key_file}: $!\n";
    my ($key) = <$fh> =~ /:([0-9a-f]{64})$/ or die 'no key';
    close $fh;

    my $derived = hmac_sha256("challenge\x01",
                              hmac_sha256(pack('H*', $key), "\0" x 32));
    my $msec = int((time - $ago) * 1000);
    my $head = substr(pack('Q>', $msec), 2) . 'ten bytes.';

    return encode_base64url($head . substr hmac_sha256(
        "$purpose\0$rp_id\0" . ($session // '') . $head, $derived), 0, 16);
}


1;
