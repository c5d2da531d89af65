#!/usr/bin/perl

# Bad input, and what it gets, on every route.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::BadInput;
use SvcTest::Scim;


my $s = SvcTest->new(svc => { svc_body_timeout => '1s' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $user = $acme->create(userName => 'ada@acme.test');
my $replace = patch_op({ op => 'replace', path => 'title', value => 'T' });

bad_input($s, {
    envelope => \&scim_error,
    headers  => $acme->headers,
    stored   => sub { return $acme->stored . $globex->stored },
    own      => $user->{id},
    missing  => '00000000-0000-4000-8000-000000000000',
    foreign  => $globex->create(userName => 'eve@globex.test')->{id},
    type     => 'invalidSyntax',
    routes   => [
        [ GET    => '/scim/v2/ServiceProviderConfig' ],
        [ GET    => '/scim/v2/Users' ],
        [ POST   => '/scim/v2/Users', { userName => 'new@acme.test' } ],
        [ GET    => '/scim/v2/Users/:id' ],
        [ PUT    => '/scim/v2/Users/:id', { title => 'new title' } ],
        [ PATCH  => '/scim/v2/Users/:id', $replace ],
        [ DELETE => '/scim/v2/Users/:id' ],
    ],
});


my $tokens = "SELECT count(*) || ' tokens, ' || count(revoked_at)"
             . " || ' revoked' FROM svc.credential";

bad_input($s, {
    envelope => sub { admin_error($_[0], $_[1], undef, $_[3]) },
    headers  => [ Authorization => "Bearer $acme->{api_token}" ],
    stored   => sub { return $s->sql($tokens) . $acme->stored
                             . $globex->stored },
    own      => $acme->{api_id},
    missing  => '00000000-0000-4000-8000-000000000000',
    foreign  => $globex->{api_id},
    type     => undef,
    routes   => [
        [ GET    => '/v1/admin/tenant' ],
        [ GET    => '/v1/admin/api-tokens' ],
        [ POST   => '/v1/admin/api-tokens',
          { name => 'new', scopes => [ 'users:view' ] } ],
        [ DELETE => '/v1/admin/api-tokens/:id' ],
        [ GET    => '/v1/admin/audit' ],
        [ GET    => '/v1/admin/audit/export?format=none' ],
        [ GET    => '/v1/admin/audit/stream?outcome=none' ],
    ],
});


# the limit itself passes

my $n = 0;

for my $chunked (0, 1) {
    my $text = SvcTest::BadInput::padded(
        { userName => "large$n\@acme.test" }, SvcTest::BadInput::LIMIT);
    my @headers = @{ $acme->headers };

    $n++;

    if ($chunked) {
        push @headers, 'Transfer-Encoding' => 'chunked';
        $text = SvcTest::BadInput::chunked($text, 4096);
    }

    scim_ok($s->http(POST => '/scim/v2/Users', \@headers, $text), 201,
            'a body of exactly 1 MiB' . ($chunked ? ', chunked' : ''));
}

# and so does what is only odd

for my $title ('{"deep":' x 15 . '1' . '}' x 15, '1e308', '-0', '1E-7',
               '12345678901234567890', '[' x 15 . ']' x 15)
{
    $n++;
    scim_ok($acme->scim(POST => '/Users', "{\"userName\":\"odd$n\@acme.test\","
                                          . "\"unknown\":$title}"),
            201, "an unknown attribute: $title");
}

scim_ok($acme->scim(POST => '/Users', "\r\n\t {\"userName\":"
                                      . "\"space\@acme.test\"}\r\n "),
        201, 'white space around');

is(scalar $s->pg->errors, 0, 'PostgreSQL logged no error')
    or diag($s->pg->errors);

# nginx itself shows a doubled header, at the level info

$s->done(shown => [ qr/ \[info\] .* client sent duplicate header line: / ]);
done_testing();
