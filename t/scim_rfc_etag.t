#!/usr/bin/perl

# svc_scim_mode rfc: versions (RFC 7644, 3.14).  ETag is meta.version in each
# answer, and each change makes another one.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(wait_for);
use SvcTest::Scim;


my $s = SvcTest->new;
$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->start;

my $acme = $s->tenant('acme');
my $api = $acme->token_for('members:manage,users:view');

sub put { return { schemas => [ U ], userName => 'ada@acme.test', @_ } }

sub title { return patch_op({ op => 'replace', path => 'title', value => $_[0] }) }

# Returns the version in an answer with a user.

sub version {
    my ($r, $name) = @_;
    my $version = ($r->json // {})->{meta}{version};

    like($version, qr{\AW/"[0-9]{17}"\z}, "$name: a weak tag");
    is($r->header('etag'), $version, "$name: ETag");

    return $version;
}


# --- in each answer ------------------------------------------------------------------

my $r = $acme->scim(POST => '/Users', put());
my $path = "/Users/" . $r->json->{id};
my $first = version($r, 'POST');

is(version($acme->scim(GET => $path), 'GET'), $first, 'GET: the same');
is($acme->scim(HEAD => $path)->header('etag'), $first, 'HEAD: the same');
is($acme->scim(GET => "$path?attributes=userName")->header('etag'), $first,
   'also of an answer without meta');
is(version($acme->scim(PUT => $path, put()), 'PUT'), $first, 'PUT that changes nothing');
is(version($acme->scim(PATCH => $path, patch_op({ op => 'remove', path => 'title' })), 'PATCH'),
   $first, 'PATCH that changes nothing');

my ($listed) = @{ $acme->scim(GET => '/Users?filter=userName%20eq%20%22ada@acme.test%22')
                  ->json->{Resources} };

is($listed->{meta}{version}, $first, 'a list has the version');

# each change, however soon after the last one

my %seen = ($first => 1);

for my $i (1 .. 30) {
    my $version = $acme->scim(PATCH => $path, title("t$i"))->json->{meta}{version};

    $seen{$version}++;
}

is(scalar keys %seen, 31, 'each change has a version of its own');
$s->sql("UPDATE svc.user_account SET updated_at = now() + interval '1 hour'"
        . " WHERE user_name = 'ada\@acme.test'");

my $future = version($acme->scim(GET => $path), 'from another clock');

cmp_ok(version($acme->scim(PATCH => $path, title('later')), 'a change'), 'gt', $future,
       'is a later version, also of a time to come');

for my $change ([ PUT => { email => 'lady@acme.test' } ], [ POST => {}, '/suspend' ],
                [ POST => {}, '/reactivate' ])
{
    my ($method, $body, $below) = @$change;
    my $before = version($acme->scim(GET => $path), 'before');

    is($acme->admin($method => lc($path =~ s{/U}{/u}r) . ($below // ''), $body, undef, $api)
       ->status, 200, 'an administrator changes the user');
    isnt(version($acme->scim(GET => $path), 'after'), $before, 'which is another version');
}


# --- If-None-Match -----------------------------------------------------------------

my $now = version($acme->scim(GET => $path), 'now');

sub asked { return $acme->scim(@_[0, 1], $_[2], [ @_[3 .. $#_] ]) }

for my $tags ($now, '*', "\"x\", $now", $now =~ s{^W/}{}r) {
    $r = asked(GET => $path, undef, 'If-None-Match' => $tags);
    is($r->status, 304, "If-None-Match: $tags: 304");
    is($r->body, '', 'without a body');
    is($r->header('etag'), $now, 'with the ETag');
}

for my $tags ($first, '"x"', "$first, W/\"x\"") {
    $r = asked(GET => $path, undef, 'If-None-Match' => $tags);
    scim_ok($r, 200, "If-None-Match: $tags: 200");
}

scim_ok(asked(GET => $path, undef, 'If-Match' => $first), 200, 'GET heeds no If-Match');


# --- If-Match ----------------------------------------------------------------------

my %write = (PUT => put(userName => 'lady@acme.test', title => 'PUT'), PATCH => title('PATCH'),
             DELETE => undef);

for my $method (sort keys %write) {
    for my $tags ($first, '"x"', 'W/"x"', "$first, \"7\"", '""', '"', 'x', ',', '*, ' . $first,
                  '"{}"', '"1,2"', "'", "x$now")
    {
        my $stored = $acme->stored;

        scim_error(asked($method => $path, $write{$method}, 'If-Match' => $tags), 412, undef,
                   "$method, If-Match: $tags");
        is($acme->stored, $stored, 'changes nothing');
    }

    scim_error(asked($method => $path, $write{$method}, 'If-None-Match' => '*'), 412, undef,
               "$method of what is not to be there");
    scim_error(asked($method => '/Users/01a00000-0000-7000-8000-000000000000', $write{$method},
                     'If-Match' => $now), 404, undef, "$method of nobody");
}

for my $tags (sub { $_[0] }, sub { '*' }, sub { "\"x\", $_[0]" }, sub { $_[0] =~ s{^W/}{}r }) {
    for my $method (qw(PUT PATCH)) {
        my $version = $acme->scim(GET => $path)->json->{meta}{version};

        $r = asked($method => $path, $write{$method}, 'If-Match' => $tags->($version));
        scim_ok($r, 200, "$method, If-Match: " . $tags->('...'));
        isnt(version($r, $method), $version, 'has changed it');
        scim_error(asked($method => $path, $write{$method}, 'If-Match' => $version), 412, undef,
                   'once');
    }
}

# of several clients with the same version one changes the user

my $version = $acme->scim(GET => $path)->json->{meta}{version};
my @c = map { $s->begin(PATCH => "/scim/v2$path", [ @{ $acme->headers }, 'If-Match' => $version ],
                        title("of $_")) } 1 .. 8;

is_deeply([ sort map { $_->read->status } @c ], [ 200, (412) x 7 ], 'of eight one does');

scim_ok(asked(DELETE => $path, undef, 'If-Match' => version($acme->scim(GET => $path), 'GET')),
        204, 'DELETE, If-Match');


# --- the default mode ----------------------------------------------------------------

$s->nginx->{scim} = {};
$s->reload;

$r = $acme->scim(GET => $path);
is($r->json->{meta}{version}, undef, 'the default mode has no version');
is($r->header('etag'), undef, 'nor ETag');
scim_ok(asked(GET => $path, undef, 'If-None-Match' => '*'), 200, 'nor heeds it');
scim_ok(asked(PATCH => $path, title('x'), 'If-Match' => $first), 200, 'nor If-Match');

$s->done;
done_testing();
