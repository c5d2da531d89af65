package SvcTest::Walk::Ids;

# Puts into each parameter of a path what is not an id, or not one of this
# tenant, while the other parameters are right: the route answers 404, and
# nothing is done.

use strict;
use warnings;

use Test::More;

use SvcTest::Routes qw(parameters path_of);
use SvcTest::Walk;

# Values that reach the code of a route; $own stands for an existing id.

my @CASES = (
    [ 'no UUID',               'x' ],
    [ 'a number',              '1' ],
    [ 'a dash',                '-' ],
    [ 'cut by one',            sub { substr $_[0], 0, -1 } ],
    [ 'one more',              sub { "$_[0]0" } ],
    [ 'upper case',            sub { uc $_[0] } ],
    [ 'without hyphens',       sub { $_[0] =~ /-/ ? $_[0] =~ tr/-//dr : () } ],
    [ 'braces',                sub { "%7B$_[0]%7D" } ],
    [ 'a space before',        sub { "%20$_[0]" } ],
    [ 'a space behind',        sub { "$_[0]%20" } ],
    [ 'a newline behind',      sub { "$_[0]%0a" } ],
    [ 'a quote',               "'" ],
    [ 'a double quote',        '%22' ],
    [ 'an injection',          sub { "$_[0]'%20OR%20'1'%3D'1" } ],
    [ 'a semicolon',           sub { "$_[0];DROP%20TABLE%20x" } ],
    [ 'a percent sign',        '%25' ],
    [ 'UTF-8',                 '%c3%a9' ],
    [ 'a full-width digit',    '%ef%bc%91' ],
    [ 'a control character',   '%01' ],
    [ '5 kB',                  'a' x 5000 ],
    [ '5 kB of a UUID',        sub { "$_[0]-" x 135 } ],
);

# Values that nginx refuses, or the router before it finds a route: tried on the
# first route with a parameter of each surface.

my @BEFORE = (
    [ 404, 'invalid UTF-8',         '%ff%fe' ],
    [ 404, 'ASCII, then not UTF-8', 'a%ff' ],
    [ 404, 'two bytes that begin one', 'ab%c3%c3' ],
    [ 404, 'half a character',      'a%e2%82' ],
    [ 404, 'a surrogate',           '%ed%a0%80' ],
    [ 404, 'an overlong character', '%c0%af' ],
    [ 400, 'a NUL',                 '%00' ],
    [ 400, 'a NUL behind',          sub { "$_[0]%00" } ],
    [ 400, 'a broken escape',       '%zz' ],
    [ 400, 'dots beyond the root',  '%2e%2e/' x 12 . 'x' ],
    [ 414, '10 kB',                 'a' x 10240 ],
);

# Dots make another path, whose route may not have this method (405).  They are
# tried in the first parameter only.

my @DOTS = ([ 'dots', '%2e%2e' ], [ 'dots, and back', '%2e%2e/Users/x' ],
            [ 'one dot, encoded', '%2e%2fx' ],
            [ 'an encoded slash', sub { "$_[0]%2fx" } ]);

# what is an id of these parameters all the same

my %IS_ID = (domains => qr/\Aupper case\z/, 'ip-blocks' => qr/\Aupper case\z/,
             audit => qr/\A(?:upper case|a number)\z/);

# routes where dots in place of the id lead to a route with the same method

my %SAME = map { $_ => 1 } 'PUT /v1/admin/password-policy/groups/*',
                           'GET /v1/admin/access-policy/versions/*',
                           'GET /v1/admin/password-policy/groups/*',
                           'GET /v1/admin/saml-idp/apps/*',
                           'GET /v1/admin/scim-targets/*/users',
                           'GET /v1/admin/scim-targets/*/users/*',
                           'GET /v1/admin/groups/*/members',
                           'GET /v1/admin/users/*/groups',
                           'DELETE /v1/admin/groups/*/members/*',
                           'GET /v1/admin/groups/*/apps',
                           'DELETE /v1/admin/groups/*/apps/*';


sub walk {
    my ($class, $w) = @_;

    my %seen;

    for my $route (grep { !$_->{public} } $w->routes) {
        my @own = $w->ids($route, $w->{acme});
        my @foreign = $w->ids($route, $w->{globex});
        my @kind = parameters($route);

        for my $n (0 .. $#own) {
            my $case = sub {
                my ($id) = @_;
                my @ids = @own;

                $ids[$n] = $id;

                return path_of($route, @ids);
            };
            my @wrong = map { wrong($w, $route, $case, $own[$n], @$_) }
                [ 404, 'unknown', $kind[$n] =~ /\A(?:roles|tenants)\z/ ? 'nobody'
                                                        : $SvcTest::Walk::NONE ],
                [ 404, "another tenant's", $foreign[$n] ],
                ( map { [ 404, @$_ ] } grep { $_->[0] !~ ($IS_ID{ $kind[$n] } // qr/\A\z/) }
                                       @CASES ),
                ( $seen{ $route->{surface} }++ ? () : @BEFORE ),
                ( $n > 0 || $SAME{ $route->{name} } ? ()
                  : map { [ '404 405', @$_ ] } @DOTS );

            $w->told("$route->{name}: what is no id in $kind[$n]", @wrong,
                     grep { length } $w->unharmed("$route->{name}: $kind[$n]"));
        }
    }
}


sub wrong {
    my ($w, $route, $case, $own, $status, $name, $id) = @_;

    ($id) = $id->($own) if ref $id;

    return if !defined $id;

    my $r = $w->ask($route->{method}, $case->($id), [ $w->headers($route) ],
                    $w->body($route));

    $status = $r && $r->status == 405 ? 405 : 404 if $status eq '404 405';

    my $wrong = $w->faults($route, $r, $status);

    return $wrong ? "$name: $wrong" : ();
}


1;
