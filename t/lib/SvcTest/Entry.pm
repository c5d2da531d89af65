package SvcTest::Entry;

# A delivery as it is in Redis: a text after its MAC under the key file.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256 hmac_sha256_hex);
use Exporter qw(import);

use SvcTest::Process qw(slurp);

our @EXPORT_OK = qw(signed);


# Derives a key as RFC 5869 says, without a salt; one block is enough.

sub derived {
    my ($key) = @_;

    return hmac_sha256("svc.webhook.entry\x01",
                       hmac_sha256($key, "\0" x 32));
}


# Returns the text with its MAC before it, under the n-th key of a key file.

sub signed {
    my ($file, $text, $n) = @_;

    my @keys = slurp($file) =~ /^([\w-]+):([0-9a-fA-F]{64})$/mg;
    my ($id, $key) = @keys[2 * ($n // 0), 2 * ($n // 0) + 1];

    return "$id:" . substr(hmac_sha256_hex($text, derived(pack 'H*', $key)),
                           0, 32) . " $text";
}


1;
