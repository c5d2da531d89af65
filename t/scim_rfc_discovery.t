#!/usr/bin/perl

# svc_scim_mode rfc: what the provider says of itself (RFC 7643, 5 to 7; RFC
# 7644, 4), and what it does not support.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Scim;


my $s = SvcTest->new;
$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->start;

my $acme = $s->tenant('acme');
my $base = $s->base_url . '/scim/v2';


# --- ServiceProviderConfig -------------------------------------------------------

my $config = $acme->scim(GET => '/ServiceProviderConfig')->json;

for my $row (
    [ patch          => { supported => true } ],
    [ bulk           => { supported => false, maxOperations => 0, maxPayloadSize => 0 } ],
    [ filter         => { supported => true, maxResults => 200 } ],
    [ changePassword => { supported => false } ],
    [ sort           => { supported => true } ],
    [ etag           => { supported => true } ])
{
    is_deeply($config->{ $row->[0] }, $row->[1], "capability $row->[0]");
}


# --- /Schemas and /ResourceTypes ---------------------------------------------------

my $r = $acme->scim(GET => '/Schemas');

scim_ok($r, 200, '/Schemas');

my $list = $r->json;

is_deeply($list->{schemas}, [ LIST ], 'is a list');
is_deeply([ @$list{qw(totalResults startIndex itemsPerPage)} ], [ 2, 1, 2 ], 'of two');
is_deeply([ map { $_->{id} } @{ $list->{Resources} } ], [ U, E ], 'which are the mapped ones');
is($r->header('content-location'), "$base/Schemas", 'Content-Location');

for my $schema (@{ $list->{Resources} }) {
    my $id = $schema->{id};

    is_deeply($schema->{schemas}, [ 'urn:ietf:params:scim:schemas:core:2.0:Schema' ],
              "$id: its schema");
    is_deeply($schema->{meta}, { resourceType => 'Schema', location => "$base/Schemas/$id" },
              "$id: meta");
    ok(length $schema->{name} && length $schema->{description}, "$id: name and description");

    for my $spelling ($id, uc $id) {
        $r = $acme->scim(GET => "/Schemas/$spelling");
        scim_ok($r, 200, "/Schemas/$spelling");
        is_deeply($r->json, $schema, "$spelling: the same one");
        is($r->header('content-location'), "$base/Schemas/$id", "$spelling: its location");
    }
}

my %attribute;

sub flatten {
    my ($prefix, @attributes) = @_;

    for my $a (@attributes) {
        $attribute{"$prefix$a->{name}"} = $a;
        flatten("$prefix$a->{name}.", @{ $a->{subAttributes} // [] });

        is($a->{type} eq 'complex', exists $a->{subAttributes},
           "$prefix$a->{name}: parts of what is complex alone");
        is($a->{type} eq 'string', exists $a->{caseExact},
           "$prefix$a->{name}: caseExact of what is a string alone");

        ok(JSON::PP::is_bool($a->{$_}), "$prefix$a->{name}: $_") for qw(multiValued required);
        ok(length($a->{$_} // ''), "$prefix$a->{name}: $_")
            for qw(description mutability returned uniqueness);
    }
}

flatten('', @{ $list->{Resources}[0]{attributes} });
flatten("${\E}:", @{ $list->{Resources}[1]{attributes} });

is(join(' ', sort keys %attribute),
   join(' ', sort qw(userName name name.givenName name.familyName displayName title locale
                     active emails emails.value emails.type emails.primary),
             E . ':department'),
   'what is mapped, and nothing else');
is(join(' ', grep { $attribute{$_}{required} } sort keys %attribute), 'active userName',
   'what is required');
is(join(' ', grep { $attribute{$_}{mutability} eq 'readOnly' } sort keys %attribute),
   'emails emails.primary emails.type emails.value', 'what is read-only');
is(join(' ', grep { $attribute{$_}{uniqueness} ne 'none' } sort keys %attribute), 'userName',
   'what is unique');
is(join(' ', grep { $attribute{$_}{multiValued} } sort keys %attribute), 'emails',
   'what has several values');

# a user has the attributes of the schemas, and the common ones

my $user = $acme->create(
    userName => 'ada@acme.test', externalId => 'e1', displayName => 'Ada', title => 'Countess',
    locale => 'en', name => { givenName => 'Ada', familyName => 'Lovelace',
                              formatted => 'Ada Lovelace' },
    E() => { department => 'Engines' });
my %has;

for my $key (grep { !/^(?:schemas|id|externalId|meta)$/ } keys %$user) {
    my $value = ref $user->{$key} eq 'ARRAY' ? $user->{$key}[0] : $user->{$key};
    my $name = $key eq E ? "$key:" : "$key.";

    $has{$key} = 1 if $key ne E;

    if (ref $value eq 'HASH') {
        $has{"$name$_"} = 1 for keys %$value;
    }
}

is_deeply([ sort keys %has ], [ sort keys %attribute ], 'a user has what is published');

$r = $acme->scim(GET => '/ResourceTypes/User');
scim_ok($r, 200, '/ResourceTypes/User');
is_deeply($r->json, {
    schemas => [ 'urn:ietf:params:scim:schemas:core:2.0:ResourceType' ],
    id => 'User', name => 'User', endpoint => '/Users', description => 'User Account',
    schema => U, schemaExtensions => [ { schema => E, required => false } ],
    meta => { resourceType => 'ResourceType', location => "$base/ResourceTypes/User" },
}, 'as RFC 7643 has it');

is_deeply($acme->scim(GET => '/ResourceTypes')->json,
          { schemas => [ LIST ], totalResults => 1, startIndex => 1, itemsPerPage => 1,
            Resources => [ $r->json ] }, '/ResourceTypes: that one');


# --- what is not supported ---------------------------------------------------------

my @paths = ('/ServiceProviderConfig', '/Schemas', '/Schemas/' . U, '/ResourceTypes',
             '/ResourceTypes/User');

for my $path (@paths) {
    for my $method (qw(POST PUT PATCH DELETE OPTIONS)) {
        $r = $acme->scim($method => $path);
        scim_error($r, 405, undef, "$method $path");
        is($r->header('allow'), 'GET, HEAD', 'Allow');
    }

    scim_error($acme->scim(GET => "$path?filter=id%20eq%20%22User%22"), 403, undef,
               "a filter on $path");
    scim_error($acme->scim(GET => "$path?filter="), 403, undef, "an empty one");
    scim_error($s->http(GET => "/scim/v2$path"), 401, undef, "$path without a token");
    scim_ok($acme->scim(GET => "$path/?count=1"), 200, 'a slash, and what has no meaning here');
}

scim_error($acme->scim(GET => $_), 404, undef, "no $_")
    for '/Schemas/urn:ietf:params:scim:schemas:core:2.0:Group', '/Schemas/User',
        '/ResourceTypes/Group', '/ResourceTypes/user', '/ServiceProviderConfig/x',
        '/Schemas/' . U . '/x', '/Groups', '/Groups/x', '/Me/x', '/Bulk/x';

for my $path (qw(/Me /Bulk)) {
    for my $method (qw(GET POST PUT PATCH DELETE)) {
        scim_error($acme->scim($method => $path, $method =~ /^P/ ? {} : ()), 501, undef,
                   "$method $path");
        scim_error($s->http($method => "/scim/v2$path"), 401, undef, 'but not without a token');
    }
}


# --- the mode of a location ----------------------------------------------------------

sub mode {
    my ($http, $scim) = @_;

    $s->nginx->{http} = $http;
    $s->nginx->{scim} = $scim;
    $s->reload;

    return $acme->scim(GET => '/Schemas')->status;
}

is(mode('', {}), 404, 'spec is the default');
is(mode('svc_scim_mode rfc;', {}), 200, 'rfc of http');
is(mode('svc_scim_mode rfc;', { svc_scim_mode => 'spec' }), 404, 'but spec of the location');
is(mode('svc_scim_mode spec;', { svc_scim_mode => 'rfc' }), 200, 'and the other way round');

$s->done;
done_testing();
