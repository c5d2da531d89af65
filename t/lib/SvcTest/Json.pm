package SvcTest::Json;

# Decodes JSON that other programs wrote: in C where a package for it is
# installed, which takes a hundredth of the time, and in Perl otherwise.  A test
# encodes what it sends with JSON::PP, which tells a number that has been
# printed from a string.

use strict;
use warnings;

use Exporter qw(import);
use JSON::PP ();

our @EXPORT_OK = qw(json);

my $CLASS = eval { require JSON::XS; 'JSON::XS' } || 'JSON::PP';


# Returns a coder of UTF-8 bytes, with sorted keys, for any value.

sub json {
    return $CLASS->new->utf8->canonical->allow_nonref;
}


1;
