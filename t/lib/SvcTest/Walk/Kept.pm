package SvcTest::Walk::Kept;

# No answer of /v1 that needs a credential may be stored in a cache, whatever it
# says: after a sign-out somebody else could see it.  None has a weak ETag, though
# nginx compresses where it may: If-Match takes strong ones (RFC 9110, 13.1.1).  It is
# 304 where the contract says so.  Each has an id of its own.

use strict;
use warnings;

use Test::More;


my %ids;


sub walk {
    my ($class, $w) = @_;

    for my $route (grep { $_->{surface} eq 'admin' && !$_->{public} } $w->routes) {
        $w->told("$route->{name}: nobody may keep an answer",
                 map { kept(@$_) } refusals($w, $route), reads($w, $route));
    }

    $w->told('nor that of a write', map { kept(@$_) } writes($w));
    $w->changed;
}


# Returns what is wrong with an answer of this name.

sub kept {
    my ($name, $r, $status) = @_;

    return "$name: no answer" if !$r;
    return "$name: it is $r->{status} $r->{body}" if $status && $r->status != $status;

    my $said = $r->header('Cache-Control') // 'none';
    my $etag = $r->header('ETag') // '""';
    my $id = $r->header('X-Request-Id') // 'none';

    return $said eq 'no-store' ? () : "$name: Cache-Control: $said",
           $etag =~ /\A"/ ? () : "$name: ETag: $etag",
           $id =~ /\A[0-9a-f]{32}\z/ && !$ids{$id}++ ? () : "$name: X-Request-Id: $id";
}


sub refusals {
    my ($w, $route) = @_;

    my $path = $w->path($route);
    my %good = $w->headers($route);
    my $body = $w->body($route);
    my @refused = (
        [ 'no credential', $w->ask($route->{method}, $path, [], $body), 401 ],
        [ 'one that is none', $w->ask($route->{method}, $path, [
              $route->{session} ? (Cookie => 'svc_session=' . 'A' x 64)
                                : (Authorization => 'Bearer svc_x') ], $body), 401 ]);

    return @refused if !defined $body;

    return @refused,
           [ 'a body that is none', $w->ask($route->{method}, $path, [ %good ], '{'),
             400 ],
           map {
               my ($length, $status) = @$_;

               [ "a length of $length",
                 scalar $w->{s}->raw("$route->{method} $path HTTP/1.1\r\nHost: a\r\n"
                     . join('', map { "$_: $good{$_}\r\n" } sort keys %good)
                     . "Content-Length: $length\r\n\r\n"), $status ]
           } [ '99999999999', 413 ], [ 'x', 400 ];
}


sub reads {
    my ($w, $route) = @_;

    return if $route->{method} ne 'GET' || $route->{path} =~ m{/(?:stream|export)\z};

    my $path = $w->path($route);
    my @headers = ($w->headers($route), 'Accept-Encoding' => 'gzip');
    my $get = $w->ask(GET => $path, [ @headers ]);
    my $etag = $get && $get->header('ETag');
    my @read = ([ 'GET', $get ], [ 'HEAD', $w->ask(HEAD => $path, [ @headers ]) ]);

    return @read if !$etag;

    my $again = $w->ask(GET => $path, [ @headers, 'If-None-Match' => $etag ]);

    return @read, [ 'If-None-Match', $again, $route->{unmodified} ? 304 : 200 ];
}


# Sends a request that creates, its replay, one that changes, and one that
# deletes.

sub writes {
    my ($w) = @_;

    my @token = (Authorization => "Bearer $w->{acme}{api_token}");
    my @once = (@token, 'Idempotency-Key' => 'kept');
    my $path = '/v1/admin/groups';
    my $group = { name => 'Kept' };
    my $made = $w->ask(POST => $path, [ @once ], $group);
    my $one = "$path/" . ($made->json->{id} // '');

    return [ '201', $made, 201 ],
           [ 'a replay', $w->ask(POST => $path, [ @once ], $group), 201 ],
           [ '200', $w->ask(PUT => $one, [ @token ], { name => 'kept' }), 200 ],
           [ '409', $w->ask(POST => $path, [ @token ], $group), 409 ],
           [ '204', $w->ask(DELETE => $one, [ @token ]), 204 ],
           [ '404', $w->ask(DELETE => $one, [ @token ]), 404 ];
}


1;
