#!/usr/bin/perl

# SCIM, in both modes: sub-attributes in attributes and excludedAttributes (RFC
# 7644, 3.9), in every answer with a user; and a value filter in the path of a
# single-valued attribute, which is ignored, so that it cannot stop a
# deactivation.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Scim;


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $n = 0;


# Returns a user, projected, from each request that answers with one.

sub answers {
    my ($query) = @_;

    my $name = 'user' . ++$n . '@acme.test';
    my %user = (schemas => [ U ], userName => $name, title => 'T',
                name => { givenName => 'Gia', familyName => 'Fam' });
    my $post = $acme->scim(POST => "/Users?$query", \%user);

    scim_ok($post, 201, "POST, $query");

    my $path = '/Users/' . $post->json->{id};
    my $filter = "filter=userName%20eq%20%22$name%22";

    return (
        POST => $post->json,
        GET => $acme->scim(GET => "$path?$query")->json,
        list => $acme->scim(GET => "/Users?$filter&$query")->json->{Resources}[0],
        PUT => $acme->scim(PUT => "$path?$query", { %user, title => 'U' })->json,
        PATCH => $acme->scim(PATCH => "$path?$query",
            patch_op({ op => 'replace', path => 'title', value => 'V' }))->json,
    );
}


for my $mode ('spec', 'rfc') {
    $s->nginx->{scim}{svc_scim_mode} = $mode;
    $s->reload;

    my @meta = (qw(created lastModified location resourceType),
                $mode eq 'rfc' ? 'version' : ());

    for my $row (
        [ 'attributes=emails.value', 'emails value' ],
        [ 'attributes=emails.TYPE,emails.primary', 'emails primary type' ],
        [ 'attributes=emails', 'emails primary type value' ],
        [ 'attributes=meta.location', 'meta location' ],
        [ 'attributes=' . U . ':meta.created', 'meta created' ],
        [ 'attributes=meta.version', $mode eq 'rfc' ? 'meta version' : '' ],
        [ 'attributes=emails.display,meta.x', '' ],
        [ 'attributes=name.familyName', 'name familyName' ],
        [ 'attributes=name.familyName,emails.value,userName',
          'emails value|name familyName|userName' ],
        [ 'excludedAttributes=emails.type,meta.created,name.givenName,active,title',
          'emails primary value|meta ' . join(' ', grep { $_ ne 'created' } @meta)
          . '|name familyName|userName' ],
        [ 'excludedAttributes=emails.value,emails.type,emails.primary,meta,active,title',
          'name familyName givenName|userName' ],
        [ 'attributes=emails&excludedAttributes=emails.type', 'emails primary value' ])
    {
        my ($query, $expected) = @$row;
        my %got = answers($query);

        for my $how (sort keys %got) {
            my $user = $got{$how};
            my @is = map {
                my $value = ref $user->{$_} eq 'ARRAY' ? $user->{$_}[0] : $user->{$_};

                join ' ', $_, ref $value eq 'HASH' ? sort keys %$value : ();
            } grep { !/^(?:id|schemas)$/ } sort keys %$user;

            is(join('|', @is), $expected, "$mode: $how, $query");
            ok($user->{id} && $user->{schemas}, 'with the id and the schemas');
        }
    }

    for my $path ('userName[type eq "x"]', 'active[type eq "work"]', 'title[primary eq true]',
                  'displayName[value eq "x"]', 'name[familyName eq "x"]',
                  'nickName[type eq "x"]', E . ':department[type eq "x"]')
    {
        my $user = $acme->create(userName => 'off' . ++$n . '@acme.test', title => 'T');

        for my $op ('replace', 'remove') {
            my $r = $acme->scim(PATCH => "/Users/$user->{id}", patch_op(
                { op => $op, path => $path, $op eq 'remove' ? () : (value => 'x') },
                { op => 'replace', path => 'active', value => false }));

            scim_ok($r, 200, "$mode: $op of $path");
            ok(!$r->json->{active}, 'the user is inactive');
            is_deeply([ @{ $r->json }{qw(userName title)} ], [ @$user{qw(userName title)} ],
                      'and nothing is set');
        }
    }

    my $user = $acme->create(userName => 'bad' . ++$n . '@acme.test');

    scim_error($acme->scim(PATCH => "/Users/$user->{id}", patch_op(
        { op => 'replace', path => 'title[type eq', value => 'x' })), 400, 'invalidPath',
        "$mode: what is no filter is still told");
}

$s->done;
done_testing();
