package SvcTest::Walk::Members;

# Sends any value in each member of a body: the database must not be what
# refuses it.

use strict;
use warnings;

use Test::More;

# Values besides those that SvcTest::Walk::Limits sends: null, true, an empty
# text, [1], ...
my @VALUES = ('-1', '9007199254740993', '1e308', '" \t "', '"%V %s"', '"\u0085"',
              '"' . 'x' x 300 . '"', '[]', '[null]', '[[]]', '{}');


sub walk {
    my ($class, $w) = @_;

    $w->stay_signed_in;

    for my $route (grep { ref $w->body($_) eq 'HASH' } $w->routes) {
        my $body = $w->body($route);
        my @wrong;

        for my $member (sort keys %$body) {
            push @wrong, map { with($w, $route, $member, $_) } @VALUES;
        }

        $w->told("$route->{name}: any value of "
                 . (join(', ', sort keys %$body) || 'no member'), @wrong);
    }

    # valid values have been stored

    $w->{s}->unharmed($w->{workers}, 'after any value');
    $w->changed;
}


sub with {
    my ($w, $route, $member, $value) = @_;

    my $text = SvcTest::encode({ %{ $w->body($route) }, $member => undef });

    $text =~ s/"\Q$member\E":null/"$member":$value/;

    my $r = $w->ask($route->{method}, $w->path($route), [ $w->headers($route) ],
                    $text);

    return $r && $r->status < 500 ? ()
         : "$member: $value: " . ($r ? $r->status . ' ' . $r->body : 'no answer');
}


1;
