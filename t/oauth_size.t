#!/usr/bin/perl

# Shows forms to /oauth that are as large as allowed, and larger: with many
# parameters, with one that is repeated, with one that is long. Answers that are sent
# before a form is read have the headers of other answers.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::OAuth qw(oauth_server application oauth_error basic);

my $MAX = 65536;                # bytes of a form

# A path with a slash at its end is the same endpoint, with other settings here.

my $s = oauth_server(locations => join '', map { <<"EOT" }
        location = /oauth/$_/ {
            svc_oauth on;
            svc_body_timeout 1s;
            client_max_body_size 1k;

            if (\$http_x_refused) {
                return 403;
            }
        }
EOT
    qw(token revoke introspect userinfo t/acme/jwks))->start;
my $acme = $s->tenant('acme');
my $app = application($acme, scopes => [ 'read' ]);
my @workers = $s->workers;


sub post {
    my ($path, $body) = @_;

    return $s->http(POST => "/oauth/$path",
                    [ 'Content-Type' => 'application/x-www-form-urlencoded',
                      Authorization => basic($app) ], $body);
}


# Returns a form with $n more parameters.

sub many {
    my ($form, $n, $text) = @_;

    return join '&', $form, map { ref $text ? $text->($_) : $text } 1 .. $n;
}


sub fill {
    my ($form, $length) = @_;

    return $form . 'x' x ($length - length $form);
}


my %FORM = (token => 'grant_type=client_credentials', introspect => 'token=x',
            revoke => 'token=x');

for my $path (sort keys %FORM) {
    my $form = $FORM{$path};

    my $fits = post($path, fill("$form&a=", $MAX));

    is($fits->status, 200, "$path: as large as may be") or diag($fits->body);
    oauth_error(post($path, fill("$form&a=", $MAX + 1)), 413, 'invalid_request',
                "$path: a byte more");
    oauth_error(post($path, fill("$form&scope=", $MAX + 1)), 413, 'invalid_request',
                "$path: a scope of 64 KiB");
    oauth_error(post($path, many($form, 100_000, 'a=b')), 413, 'invalid_request',
                "$path: 100,000 parameters");
    oauth_error(post($path, many($form, 100_000, sub { "a$_[0]=b" })), 413, 'invalid_request',
                "$path: 100,000 of a name each");
    oauth_error(post($path, many($form, 10_000, 'resource=urn:a')), 413, 'invalid_request',
                "$path: 10,000 resources");

    # These forms are small enough.

    oauth_error(post($path, many($form, 16_000, 'a=b')), 400, 'invalid_request',
                "$path: 16,000 parameters");
    oauth_error(post($path, many($form, 6000, sub { "a$_[0]=b" })), 400, 'invalid_request',
                "$path: 6,000 of a name each");
    oauth_error(post($path, many($form, 4000, 'resource=urn:a')), 400, 'invalid_request',
                "$path: 4,000 resources");
    is(post($path, many($form, 16_000, 'a='))->status, 200, "$path: 16,000 that are empty");
    is(post($path, '&' x 30_000 . $form)->status, 200, "$path: 30,000 that are none");
}

# These forms fit, but have too much of a known parameter.

oauth_error(post('token', many($FORM{token}, 1000, 'resource=urn:a')), 400, 'invalid_target',
            '1,000 resources');
oauth_error(post('token', many($FORM{token}, 1000, sub { "resource=urn:$_[0]" })), 400,
            'invalid_target', '1,000 resources, each another one');
oauth_error(post('token', "$FORM{token}&resource=urn:" . 'x' x 65_000), 400, 'invalid_target',
            'one of 65,000 bytes');
oauth_error(post('token', "$FORM{token}&scope=" . 'x' x 65_000), 400, 'invalid_scope',
            'a scope of 65,000 bytes');
oauth_error(post('token', "$FORM{token}&scope=" . join '+', ('read') x 13_000), 400,
            'invalid_scope', '13,000 scopes');
oauth_error(post('token', "$FORM{token}&scope=" . join '+', map { "s$_" } 1 .. 9_000), 400,
            'invalid_scope', '9,000 scopes, each another one');
is(post('token', "$FORM{token}&scope=" . '+' x 65_000 . 'read')->json->{scope}, 'read',
   '65,000 spaces');

for my $case ([ 100, 401 ], [ $MAX, 401 ], [ $MAX + 1, 413 ]) {
    my ($length, $status) = @$case;
    my $r = $s->http(POST => '/oauth/userinfo',
                     [ 'Content-Type' => 'application/x-www-form-urlencoded' ], 'x' x $length);

    is($r->status, $status, "a form of $length bytes at userinfo");
}


# --- before the form ----------------------------------------------------------------

# For each path: the headers against caching, and which origins may read the answer.

my %HEADERS = (token => [ 'no-store', 'no-cache', '*' ],
               revoke => [ 'no-store', 'no-cache', '*' ],
               introspect => [ 'no-store', 'no-cache', undef ],
               userinfo => [ 'no-store', undef, '*' ],
               't/acme/jwks' => [ undef, undef, '*' ]);

sub same_headers {
    my ($r, $path, $status, $name) = @_;

    is($r && $r->status, $status, "$path: $name");
    is_deeply([ map { $r && $r->header($_) }
                qw(Cache-Control Pragma Access-Control-Allow-Origin) ],
              $HEADERS{$path}, "$path: $name: with the headers of its errors");
}


# Returns the head of a request; its body is not sent.

sub head {
    my ($method, $path, @lines) = @_;

    return join "\r\n", "$method /oauth/$path HTTP/1.1", 'Host: localhost', 'Connection: close',
                        'Content-Type: application/x-www-form-urlencoded', @lines, '', '';
}

for my $path (qw(token introspect revoke)) {
    same_headers(post($path, fill('a=', $MAX + 1)), $path, 413, 'a form that is too large');
    same_headers($s->raw(head(POST => $path, 'Transfer-Encoding: chunked')
                         . sprintf("%x\r\n", $MAX + 1) . fill('a=', $MAX + 1) . "\r\n0\r\n\r\n"),
                 $path, 413, 'the same in chunks');
    same_headers($s->raw(head(POST => $path, 'Transfer-Encoding: chunked') . "x\r\n"),
                 $path, 400, 'no chunk');
}

for my $path (sort keys %HEADERS) {
    my $method = ($path =~ /jwks/) ? 'GET' : 'POST';

    same_headers($s->raw(head($method => "$path/", 'Content-Length: 1025')),
                 $path, 413, 'a body that is too large for nginx');
    same_headers($s->raw(head($method => $path, 'X: ' . 'x' x 40_000)),
                 $path, 400, 'headers that are');
    same_headers($s->raw(head($method => "$path/", 'X-Refused: 1')),
                 $path, 403, 'what is refused');
    same_headers($s->raw(head($method => "$path/", 'Content-Length: 10') . 'a=b'),
                 $path, 408, 'a body that does not come')
        if $path =~ /^(?:token|introspect|revoke)$/;
}

# Two tokens are refused before the body is read.

for my $length (0, 1025) {
    same_headers($s->raw(head(POST => 'userinfo/', ('Authorization: Bearer x') x 2,
                              "Content-Length: $length")),
                 'userinfo', 401, "two tokens, and a body of $length bytes");
}

ok($s->unharmed(\@workers, 'forms'), 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
