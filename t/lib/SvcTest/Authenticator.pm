package SvcTest::Authenticator;

# A browser with passkeys: t/lib/authenticator.
#
#     my $browser = SvcTest::Authenticator->new($root, 'https://acme.test');
#     my $credential = $browser->answer($r->json->{publicKey});
#     my $bad = $browser->answer($options, uv => 0);

use strict;
use warnings;

use parent -norequire, 'SvcTest::Lines';

use SvcTest::Lines;
use SvcTest::Skip;

needs(python => 'cryptography fido2');


# file: where the passkeys are kept; without it they are lost with this browser.

sub new {
    my ($class, $root, $origin, $file) = @_;

    my $self = $class->SUPER::new("$root/t/lib/authenticator", $file // ());

    $self->{origin} = $origin;

    return $self;
}


# Returns what navigator.credentials.create() or get() gives for these options.
#  The settings are those of the script, and "origin" for the page of another
# site.  Dies when there is no answer.

sub answer {
    my ($self, $options, %settings) = @_;

    my $origin = delete $settings{origin} // $self->{origin};
    my $answer = $self->ask({ origin => $origin, options => $options,
                              settings => \%settings });

    die "no passkey: $answer->{error}\n" if $answer->{error};

    return $answer;
}


1;
