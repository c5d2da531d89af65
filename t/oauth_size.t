#!/usr/bin/perl

# Forms to /oauth that are as large as may be, and larger: of many parameters, of
# many of one, of one that is long.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::OAuth qw(oauth_server application oauth_error basic);

my $MAX = 65536;                # bytes of a form

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $app = application($acme, scopes => [ 'read' ]);
my @workers = $s->workers;


sub post {
    my ($path, $body) = @_;

    return $s->http(POST => "/oauth/$path",
                    [ 'Content-Type' => 'application/x-www-form-urlencoded',
                      Authorization => basic($app) ], $body);
}


# What $n times a text makes of a form, as often as it fits.

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

    # what is small enough

    oauth_error(post($path, many($form, 16_000, 'a=b')), 400, 'invalid_request',
                "$path: 16,000 parameters");
    oauth_error(post($path, many($form, 6000, sub { "a$_[0]=b" })), 400, 'invalid_request',
                "$path: 6,000 of a name each");
    oauth_error(post($path, many($form, 4000, 'resource=urn:a')), 400, 'invalid_request',
                "$path: 4,000 resources");
    is(post($path, many($form, 16_000, 'a='))->status, 200, "$path: 16,000 that are empty");
    is(post($path, '&' x 30_000 . $form)->status, 200, "$path: 30,000 that are none");
}

# what is one form too many of what is known

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

for my $length (100, $MAX + 1) {
    my $r = $s->http(POST => '/oauth/userinfo',
                     [ 'Content-Type' => 'application/x-www-form-urlencoded' ], 'x' x $length);

    is($r->status, 401, "a body of $length bytes at userinfo is not looked at");
}

ok($s->unharmed(\@workers, 'forms'), 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
