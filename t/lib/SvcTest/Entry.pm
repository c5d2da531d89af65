package SvcTest::Entry;

# A delivery as it is in Redis: text behind a MAC under the key file.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256 hmac_sha256_hex);
use Exporter qw(import);

use SvcTest::Process qw(slurp);

our @EXPORT_OK = qw(signed);


# RFC 5869, without a salt; one block is as much as is needed.

sub derived {
    my ($key) = @_;

    return hmac_sha256("svc.webhook.entry\x01",
                       hmac_sha256($key, "\0" x 32));
}


# The text with its MAC before it, under the n-th key of a key file.

sub signed {
    my ($file, $text, $n) = @_;

    my @keys = slurp($file) =~ /^([\w-]+):([0-9a-fA-F]{64})$/mg;
    my ($id, $key) = @keys[2 * ($n // 0), 2 * ($n // 0) + 1];

    return "$id:" . substr(hmac_sha256_hex($text, derived(pack 'H*', $key)),
                           0, 32) . " $text";
}


1;
