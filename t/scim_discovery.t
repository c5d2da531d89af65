#!/usr/bin/perl

# ServiceProviderConfig, and what is not supported.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Scim;


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');

my $r = $acme->scim(GET => '/ServiceProviderConfig');

scim_ok($r, 200, 'ServiceProviderConfig');

my $config = $r->json;

is_deeply($config->{schemas},
          [ 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig' ],
          'its schema');

for my $row (
    [ patch          => { supported => true } ],
    [ bulk           => { supported => false, maxOperations => 0,
                          maxPayloadSize => 0 } ],
    [ filter         => { supported => true, maxResults => 200 } ],
    [ changePassword => { supported => false } ],
    [ sort           => { supported => false } ],
    [ etag           => { supported => false } ])
{
    my ($name, $value) = @$row;

    is_deeply($config->{$name}, $value, "capability $name");
    ok(JSON::PP::is_bool($config->{$name}{supported}), "$name is a boolean");
}

my $schemes = $config->{authenticationSchemes};

is(ref $schemes eq 'ARRAY' && @$schemes, 1, 'one authentication scheme');
is($schemes->[0]{type}, 'oauthbearertoken', 'of the type oauthbearertoken');
ok(length($schemes->[0]{name} // ''), 'which has a name');
ok(length($schemes->[0]{description} // ''), 'and a description');
like($r->body, qr/"maxResults"\s*:\s*200\b/, 'numbers are integers');

is($config->{meta}{resourceType}, 'ServiceProviderConfig', 'meta.resourceType')
    if $config->{meta};
is($config->{meta}{location}, $s->base_url . '/scim/v2/ServiceProviderConfig',
   'meta.location');
is($r->header('content-location'), $config->{meta}{location},
   'and Content-Location');

scim_ok($acme->scim(GET => '/ServiceProviderConfig/'), 200,
        'with a trailing slash');

scim_error($s->http(GET => '/scim/v2/ServiceProviderConfig'), 401, undef,
           'it needs a token');


# only Users exists; the route is checked before the credential

for my $path ('/Groups', '/Groups/1', '/Bulk', '/Schemas', '/ResourceTypes',
              '/Me', '/users', '/Users2', '/ServiceProviderConfig2',
              '/ServiceProviderConfig/x', '', '/', '/.search',
              '/Users/.search/x', '/Users/x/y', '/v2/Users')
{
    scim_error($acme->scim(GET => $path), 404, undef, "no '$path'");
    scim_error($s->http(GET => "/scim/v2$path"), 404, undef,
               "no '$path', and no token");
}


# methods that are not supported

my %offered = (
    '/ServiceProviderConfig' => [ qw(GET) ],
    '/Users' => [ qw(GET POST) ],
    '/Users/00000000-0000-4000-8000-000000000000'
        => [ qw(DELETE GET PATCH PUT) ],
);

for my $path (sort keys %offered) {
    my %is = map { $_ => 1 } @{ $offered{$path} };

    for my $method (grep { !$is{$_} }
                    qw(GET POST PUT PATCH DELETE OPTIONS PURGE MKCOL LOCK))
    {
        $r = $acme->scim($method => $path);
        scim_error($r, 405, undef, "$method $path is not offered");

        is(join(' ', sort grep { $_ ne 'HEAD' }
                split /\s*,\s*/, $r->header('allow') // ''),
           "@{ $offered{$path} }", 'Allow says what is');

        scim_error($s->http($method => "/scim/v2$path"), 405, undef,
                   "$method $path without a token is not offered either");
    }
}


# a surface that is switched off does not exist

$s->nginx->{scim} = { svc_scim => 'off' };
$s->reload;

isnt($acme->scim(GET => '/ServiceProviderConfig')->status, 200,
     'svc_scim off: nothing is there');

$s->done;
done_testing();
