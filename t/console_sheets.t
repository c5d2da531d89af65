#!/usr/bin/perl

# Holds the sheets of the console and of the account page to the contract: each operation
# that somebody needs some right for is in a sheet, or in what a view declares; and what a
# sheet names is there, with the contract's limits.

use strict;
use warnings;

use Test::More;

use SvcTest::Json qw(json);
use SvcTest::Npm;
use SvcTest::Process qw(slurp);
use SvcTest::Routes;
use SvcTest::Sheets;

my @files = map { s{^conf/www/}{}r } glob 'conf/www/svc/{console,account}/*.sheet.js';
my %sensitive = map { ("$_->{method} /v1$_->{path}" =~ s/\*/{}/gr => 1) }
                grep { $_->{sensitive} } admin_routes('.');


# --- the sheets -------------------------------------------------------------------------

my $contract = SvcTest::Sheets->new(json()->decode(slurp('conf/openapi.json')),
                                    sensitive => \%sensitive);
my $found = json()->decode(npm_run('.', 'sheets.mjs',
                                   json()->encode({ root => '.', files => \@files })));

for my $file (@files) {
    my $one = $found->{$file};

    is($one->{error}, undef, "$file is data") or next;
    is_deeply([ $contract->faults($one->{sheets}) ], [], "$file: its sheets");
    is_deeply([ $contract->declares($one->{operations}) ], [], "$file: its views");
}

is_deeply([ $contract->left ], [], 'each operation is in a sheet, or a view declares it');


# --- what must be found -----------------------------------------------------------------

my %item = (
    id => { type => 'string', format => 'uuid' },
    name => { type => 'string', maxLength => 9, minLength => 1 },
    note => { type => [ 'string', 'null' ], maxLength => 20 },
    size => { type => 'integer', minimum => 2, maximum => 7 },
    on => { type => 'boolean' },
    state => { type => 'string', enum => [ 'up', 'down' ] },
    at => { type => [ 'string', 'null' ], format => 'date-time' },
    tags => { type => 'array', items => { type => 'string' } },
    deep => { oneOf => [ { '$ref' => '#/components/schemas/Deep' }, { type => 'null' } ] },
);
my %put = map { $_ => $item{$_} } qw(name note size on state deep);

sub of { return { content => { 'application/json' => { schema => $_[0] } } } }

sub operation {
    my ($permission, $answer, $body, @parameters) = @_;

    return { 'x-permission' => $permission, parameters => \@parameters,
             responses => { 200 => of($answer // {}) }, $body ? (requestBody => of($body)) : () };
}

my %DOCUMENT = (
    paths => {
        '/v1/things' => {
            get => operation('things:view', { properties => { things =>
                       { type => 'array', items => { '$ref' => '#/components/schemas/Thing' } } } },
                       undef, { name => 'q', in => 'query', schema => { type => 'string' } },
                       { name => 'state', in => 'query', schema => $item{state} }),
            post => operation('things:manage', {}, { properties => \%put, required => [ 'name' ] }),
        },
        '/v1/things/{thingId}' => {
            get => operation('things:view', { '$ref' => '#/components/schemas/Thing' }),
            put => operation('things:manage', {}, { allOf => [ { properties => \%put } ] }),
            delete => operation('things:manage'),
        },
        '/v1/things/{thingId}/stop' => { post => operation('things:manage', {}, {
            oneOf => [ { required => [ 'name' ] }, { required => [ 'id' ] } ],
            properties => { map { $_ => $item{$_} } qw(name id) } }) },
        '/v1/open' => { get => operation(undef) },
        '/v1/own' => { get => operation('session', { properties => \%item }) },
    },
    components => { schemas => {
        Thing => { allOf => [ { properties => \%item }, { properties => {
                       more => { type => 'object', properties => {} } } } ] },
        Deep => { type => 'object', required => [ 'a' ],
                  properties => { a => { type => 'string' }, b => { type => 'string' } } },
    } },
);

my %STOP = (method => 'POST', path => '/things/{id}/stop', kind => 'confirm', sensitive => 1,
            body => { id => 'id' });

sub things {
    return {
        path => '/things', list => 'things', id => 'id', one => 1, needs => 'things:view',
        changes => 'things:manage', find => 'q', filters => { state => [ 'up', 'down' ] },
        label => [ 'name', 'id' ], instead => { name => 'id' },
        tones => { state => { up => 'good' } },
        columns => { name => 'link', size => 'number', at => 'time', on => 'yes',
                     tags => 'list', more => 'actor', 'deep.a' => 'text' },
        facts => { state => 'badge' },
        form => { name => { kind => 'text', max => 9, must => 1 },
                  note => { kind => 'lines', max => 20 },
                  size => { kind => 'number', min => 2, max => 7 },
                  state => { kind => 'choice', options => [ 'down', 'up' ] },
                  'deep.a' => { kind => 'text', must => 1 } },
        leaves => [ 'on', 'deep.b' ],
        create => 'POST', change => 'PUT', remove => 'DELETE',
        acts => { stop => { %STOP, where => { state => [ 'up' ] } } },
    };
}

sub faults_of {
    my ($change) = @_;
    my $c = SvcTest::Sheets->new(\%DOCUMENT,
                                 sensitive => { 'POST /v1/things/{}/stop' => 1 });
    my $sheet = things();

    $change->($sheet) if $change;

    return ($c, [ $c->faults({ t => $sheet }) ]);
}

my ($small, $none) = faults_of();

is_deeply($none, [], 'a sheet that is right');
is_deeply([ $small->left ], [ 'GET /v1/own' ], 'uses what it names');
is_deeply([ $small->declares([ 'GET /v1/own', 'GET /v1/open' ]) ], [], 'a view declares more');
is_deeply([ $small->left ], [], 'which leaves nothing');
is_deeply([ $small->declares([ 'GET /v1/none', 'GET /own', 'v1/own' ]) ],
          [ 'operations: there is no GET /v1/none', map { qq{operations: "$_" is no method and path} }
            'GET /own', 'v1/own' ], 'nor what there is not');
is_deeply([ SvcTest::Sheets->new(\%DOCUMENT)->faults({ own => {
                path => '/own', columns => { name => 'text' } } }) ], [],
          'what is one needs no list, and what is one\'s own no permission');

my @wrong = (
    [ sub { $_[0]{path} = '/thinks' }, 'there is no GET /v1/thinks' ],
    [ sub { $_[0]{needs} = 'things:manage' },
      'GET /v1/things needs things:view, not things:manage' ],
    [ sub { delete $_[0]{changes} }, 'PUT /v1/things/{thingId} needs things:manage, not things:view' ],
    [ sub { $_[0]{list} = 'thinks' }, 'the answer has no "thinks"' ],
    [ sub { $_[0]{id} = 'key' }, 'the answer has no "key"' ],
    [ sub { $_[0]{label} = [ 'title' ] }, 'the answer has no "title"' ],
    [ sub { $_[0]{instead} = { name => 'mail' } }, 'the answer has no "mail"' ],
    [ sub { $_[0]{typed} = 'mail' }, 'the answer has no "mail"' ],
    [ sub { $_[0]{find} = 'search' }, 'GET /v1/things has no parameter "search"' ],
    [ sub { $_[0]{filters}{locked} = 1 }, 'GET /v1/things has no parameter "locked"' ],
    [ sub { $_[0]{query}{x} = 1 }, 'GET /v1/things has no parameter "x"' ],
    [ sub { $_[0]{filters}{state} = [ 'up' ] },
      'state: the options are "up", and "down up" in the contract' ],
    [ sub { $_[0]{tones}{state}{off} = 'bad' }, '"state" is never "off"' ],
    [ sub { $_[0]{acts}{stop}{where}{state} = [ 'gone' ] }, '"state" is never "gone"' ],
    [ sub { $_[0]{acts}{stop}{where}{x} = [ 1 ] }, 'the answer has no "x"' ],
    [ sub { $_[0]{acts}{stop}{unless}{state} = [ 'gone' ] }, '"state" is never "gone"' ],
    [ sub { $_[0]{columns}{mail} = 'text' }, 'columns: the answer has no "mail"' ],
    [ sub { $_[0]{facts}{'deep.c'} = 'text' }, 'facts: the answer has no "deep.c"' ],
    [ sub { $_[0]{columns}{size} = 'text' },
      'columns: size: a "text", which the contract has as integer' ],
    [ sub { $_[0]{columns}{name} = 'time' },
      'columns: name: a "time", which the contract has as string' ],
    [ sub { $_[0]{columns}{name} = 'colour' }, 'columns: name: "colour" is no kind' ],
    [ sub { $_[0]{form}{mail} = { kind => 'text' } }, 'form: no body has "mail"' ],
    [ sub { delete $_[0]{form}{note} }, 'PUT /v1/things/{thingId}: neither a field nor left: "note"' ],
    [ sub { $_[0]{leaves} = [ 'on' ] }, 'POST /v1/things: neither a field nor left: "deep.b"' ],
    [ sub { push @{ $_[0]{leaves} }, 'gone' }, 'leaves: no body has "gone"' ],
    [ sub { $_[0]{form}{name}{max} = 10 }, 'form: name has the max 10, not 9' ],
    [ sub { delete $_[0]{form}{note}{max} }, 'form: note has the max none, not 20' ],
    [ sub { $_[0]{form}{size}{min} = 1 }, 'form: size has the min 1, not 2' ],
    [ sub { delete $_[0]{form}{size}{min} }, 'form: size has the min none, not 2' ],
    [ sub { delete $_[0]{form}{name}{must} }, 'form: name must be filled in' ],
    [ sub { $_[0]{form}{note}{must} = 1 }, 'form: note need not be filled in' ],
    [ sub { delete $_[0]{create} }, 'form: state must be filled in' ],
    [ sub { delete $_[0]{form}{'deep.a'}{must} }, 'form: deep.a must be filled in' ],
    [ sub { $_[0]{form}{state}{options} = [ 'up' ] },
      'form: state: the options are "up", and "down up" in the contract' ],
    [ sub { $_[0]{form}{size} = { kind => 'text' } },
      'form: size: a "text", which the contract has as integer' ],
    [ sub { delete $_[0]{form}{size}{kind} }, 'form: size has no kind' ],
    [ sub { $_[0]{change} = 'PATCH' }, 'there is no PATCH /v1/things/{}' ],
    [ sub { $_[0]{acts}{stop}{path} = '/things/{id}/halt' }, 'there is no POST /v1/things/{id}/halt',
      '.stop' ],
    [ sub { $_[0]{acts}{stop}{path} = '/things/{key}/stop' }, 'the answer has no "key"', '.stop' ],
    [ sub { $_[0]{acts}{stop}{kind} = 'ask' }, '"ask" is no kind', '.stop' ],
    [ sub { delete $_[0]{acts}{stop}{sensitive} }, 'asks for a fresh factor: "sensitive"',
      '.stop' ],
    [ sub { $_[0]{acts}{stop}{needs} = 'things:view' },
      'POST /v1/things/{thingId}/stop needs things:manage, not things:view', '.stop' ],
    [ sub { $_[0]{acts}{stop}{body} = { key => 'id', id => 'id' } }, 'the body has no "key"', '.stop' ],
    [ sub { $_[0]{acts}{stop}{body} = {} },
      'POST /v1/things/{thingId}/stop: neither a field nor left: "id"', '.stop' ],
    [ sub { $_[0]{acts}{end} = { method => 'DELETE', path => '/things/{id}', kind => 'type',
                                 sensitive => 1 } }, 'is not sensitive', '.end' ],
    [ sub { $_[0]{add} = { method => 'POST', member => 'names' } }, 'the body has no "names"',
      '.add' ],
    [ sub { $_[0]{acts}{stop}{give} = { gone => 1 } }, 'the body has no "gone"', '.stop' ],
    [ sub { $_[0]{halt} = { method => 'POST', path => '/things/{id}/halt' } },
      'there is no POST /v1/things/{id}/halt', '.halt' ],
    [ sub { $_[0]{part} = { path => '/part' } }, 'there is no GET /v1/part', '.part' ],
);

for my $case (@wrong) {
    my ($change, $fault, $below) = @$case;
    my $faults = (faults_of($change))[1];
    my $wanted = 't' . ($below // '') . ": $fault";

    ok((grep { $_ eq $wanted } @$faults), "found: $wanted") or diag(explain($faults));
}

done_testing();
