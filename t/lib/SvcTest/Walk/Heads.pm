package SvcTest::Walk::Heads;

# What comes before a body: credentials, odd headers, methods, and the origin of
# a browser's request.
#
# One function reads the credential from the header (ngx_svc_auth_take()),
# before any code of a route, and nginx refuses a header that it cannot parse
# before there is a route, in the envelope of the path's surface.  So the first
# of the routes that are alike gets all inputs, and each other one gets some.

use strict;
use warnings;

use Test::More;


sub walk {
    my ($class, $w) = @_;

    my %seen;

    for my $route ($w->routes) {
        my $first = !$seen{ join ' ', $route->{surface}, grep { $route->{$_} }
                            qw(public session json raw caller write_pool
                               slow_pool) }++;
        my @wrong = (
            $seen{"headers of $route->{surface}"}++ ? () : odd_headers($w, $route),
            $route->{public} ? ()
            : $route->{session} ? no_session($w, $route)
                                : credentials($w, $route, $first),
            $route->{public} || $route->{method} eq 'GET'
            || $route->{surface} eq 'scim' ? () : origins($w, $route));

        $w->told("$route->{name}: credentials, headers and origins", @wrong,
                 grep { length } $w->unharmed($route->{name}));
    }

    methods($w, \%seen);
    is($w->unharmed('methods'), '', 'methods: nothing was stored');
}


# Returns a function that takes a name, headers, a status and perhaps a code,
# sends the route's body with these headers, and returns what is wrong.

sub asker {
    my ($w, $route) = @_;

    my $method = $route->{method};
    my ($path, $body) = ($w->path($route), $w->body($route));

    return sub {
        my ($name, $headers, $status, $code, $query) = @_;

        my $r = $w->ask($method, $path . ($query // ''), $headers, $body);

        $status = $status->($r) if ref $status;

        my $wrong = $w->faults($route, $r, $status, $code);

        return $wrong ? "$name: $wrong" : ();
    };
}


# --- credentials -----------------------------------------------------------------

sub credentials {
    my ($w, $route, $first) = @_;

    my $ask = asker($w, $route);
    my $good = { $w->headers($route) }->{Authorization};
    my $unknown = $good =~ s/[A-Za-z0-9_-]{10}\z/AAAAAAAAAA/r;
    my $may = sub { return $_[0] && $_[0]->status == 400 ? 400 : 401 };
    my @wrong = (
        $ask->('no Authorization', [], 401),
        $ask->('Authorization: unknown', [ Authorization => $unknown ], 401));

    return @wrong if !$first;

    push @wrong, map { $ask->("Authorization: $_->[0]", $_->[1], $_->[2] // 401) }
        [ 'empty', [ Authorization => '' ] ],
        [ 'Basic', [ Authorization => 'Basic YTpi' ] ],
        [ 'doubled', [ (Authorization => $good) x 2 ], $may ],
        [ 'doubled, one of them unknown',
          [ Authorization => $good, Authorization => $unknown ], $may ],
        [ 'of 100 kB', [ Authorization => 'Bearer ' . 'A' x 102400 ], $may ];

    # the scheme in lower case is valid: the answer is that for a live token

    return @wrong if $route->{method} ne 'GET'
                     || $route->{path} =~ m{/(?:stream|export)\z};

    my $r = $w->ask(GET => $w->path($route), [ Authorization => $good =~ s/^B/b/r ]);

    push @wrong, 'bearer: ' . ($r ? $r->body : 'no answer')
        if !$r || $r->status == 401;

    return @wrong;
}


sub no_session {
    my ($w, $route) = @_;

    my $ask = asker($w, $route);

    return ($ask->('nobody', [], 401, 'unauthenticated'),
            $ask->('a token', [ Authorization => "Bearer $w->{acme}{api_token}" ],
                   403));
}


# --- origins ---------------------------------------------------------------------

# Tests that only the server's own pages may send requests that change
# something.

sub origins {
    my ($w, $route) = @_;

    my $ask = asker($w, $route);
    my %good = $w->cookies;
    my $other = $w->{globex}{browser}{csrf};
    my $name = 'X-CSRF-Token';

    return map { $ask->($_->[0], { %good, %{ $_->[1] } }, 403, 'csrf_failed',
                        $_->[2]) }
           [ 'no CSRF token' => { $name => undef } ],
           [ 'a CSRF token in the query' => { $name => undef },
             "?csrfToken=$good{$name}" ],
           [ 'another one\'s CSRF token' => { $name => $other } ],
           [ 'another origin' => { Origin => 'https://evil.test' } ],
           [ 'another site' => { 'Sec-Fetch-Site' => 'cross-site' } ];
}


# --- headers ---------------------------------------------------------------------

# Tests headers that are missing, repeated, empty or strange.

sub odd_headers {
    my ($w, $route) = @_;

    my %headers = $w->headers($route);
    my $auth = join '', map { "$_: $headers{$_}\r\n" } sort keys %headers;
    my $line = "$route->{method} " . $w->path($route);

    return map {
        my ($status, $name, $bytes) = @$_;
        my $wrong = $w->faults($route, scalar $w->{s}->raw($bytes), $status);

        $wrong ? "$name: $wrong" : ();
    } [ 400, 'no Host',             "$line HTTP/1.1\r\n$auth\r\n" ],
      [ 400, 'two Hosts',           "$line HTTP/1.1\r\nHost: a\r\nHost: b\r\n"
                                    . "$auth\r\n" ],
      [ 400, 'an empty Host',       "$line HTTP/1.1\r\nHost:\r\n$auth\r\n" ],
      [ 400, 'a Host with a slash', "$line HTTP/1.1\r\nHost: a/b\r\n$auth\r\n" ],
      [ 400, 'a NUL in a header',   "$line HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n"
                                    . "$auth\r\n" ],
      [ 400, 'a header of 100 kB',  "$line HTTP/1.1\r\nHost: a\r\nX: "
                                    . 'x' x 102400 . "\r\n$auth\r\n" ],
      [ 400, 'a line that is none', "$line HTTP/1.1\r\nHost: a\r\n\0\0\0\r\n"
                                    . "$auth\r\n" ],
      [ 414, 'a URI of 100 kB',     "$line?" . 'x' x 102400
                                    . " HTTP/1.1\r\nHost: a\r\n\r\n" ],
      [ 400, 'an odd version',      "$line HTTP/1.x\r\nHost: a\r\n\r\n" ],
      [ 505, 'HTTP/3.0',            "$line HTTP/3.0\r\nHost: a\r\n\r\n" ];
}


# --- methods ---------------------------------------------------------------------

sub methods {
    my ($w, $seen) = @_;

    my %offered;

    $offered{ $w->path($_) }{ $_->{method} } = $_ for $w->routes;

    for my $path (sort keys %offered) {
        my ($route) = values %{ $offered{$path} };
        my @headers = $route->{session} ? $w->cookies : $w->headers($route);

        $w->told("$path: methods that are not offered", map {
            my $r = $w->ask($_->[0], $path, [ @headers ]);
            my $wrong = $w->faults($route, $r, $_->[1]);

            $wrong ? "$_->[0]: $wrong" : ();
        } ( map { [ $_, 405 ] } grep { !$offered{$path}{$_} }
            qw(GET POST PUT PATCH DELETE OPTIONS TRACE PROPFIND FOO) ),
          $seen->{"methods of $route->{surface}"}++ ? ()
          : map { [ $_, 400 ] } 'get', 'G:T', 'G"T');
    }
}


1;
