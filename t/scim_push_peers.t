#!/usr/bin/perl

# Outbound SCIM to servers of other projects, and to our own: the requests that
# build/unit/push_eval makes.  saml-jackson is a quarter of a gigabyte: it is
# tested where build/npm-jackson exists already, or with SVC_TEST_ALL.

use strict;
use warnings;

use FindBin;
use HTTP::Tiny;
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Npm;
use SvcTest::Nginx;
use SvcTest::Process qw(spawn wait_for slurp);
use SvcTest::Push;
use SvcTest::Scim qw(E);
use SvcTest::Skip;

needs(program => 'make');


my $ROOT = "$FindBin::Bin/..";
my ($true, $false) = (JSON::PP::true, JSON::PP::false);

is(system('make', '-s', '-C', $ROOT, 'unit'), 0, 'make unit');

my $push = SvcTest::Push->new($ROOT);
my $s = SvcTest->new;
my $port = SvcTest::Nginx::free_port();

$s->{nginx}{server} = <<"EOT";
        listen 127.0.0.1:$port ssl;
        ssl_certificate $push->{dir}/good.pem;
        ssl_certificate_key $push->{dir}/good.key;
EOT

$s->start;

my $acme = $s->tenant('acme');

my %servers = (
    ours => [ "https://127.0.0.1:$port/scim/v2", $acme->{scim_token}, sub {
        return @{ $s->http(GET => '/scim/v2/Users?count=100',
                           [ Authorization => "Bearer $acme->{scim_token}" ])
                    ->json->{Resources} };
    } ],
);


# Starts a server for Node.js, from a folder of packages.

sub peer {
    my ($name, $folder) = @_;

    my $dir = npm_install($ROOT, "t/npm/$folder", "build/npm-$folder");
    my $out = "$push->{dir}/$name";

    spawn([ 'node', "$dir/$name.mjs", $push->{dir} ], out => $out);

    wait_for { (slurp($out) // '') =~ /^ready$/m } 60
        or die "no $name: " . slurp($out) . "\n";

    my %said = slurp($out) =~ /^(\w+) (\S+)$/mg;

    $servers{$name} = [ "https://127.0.0.1:$said{port}$said{path}", $said{secret},
                        sub {
        my $r = HTTP::Tiny->new(timeout => 10)
                          ->get("http://127.0.0.1:$said{control}/");

        return @{ JSON::PP->new->utf8->decode($r->{content}) };
    } ];
}

peer('scimmy', 'scim');

SKIP: {
    if (!-e "$ROOT/build/npm-jackson/installed" && !$ENV{SVC_TEST_ALL}) {
        skip_part('saml-jackson is not there: npm ci in build/npm-jackson', 1);
    }

    peer('jackson', 'jackson');
    pass('saml-jackson is there');
}


my %ANN = (userName => 'ann@acme.test', displayName => 'Ann Lee',
           givenName => 'Ann', familyName => 'Lee', title => 'Engineer',
           locale => 'en-GB', department => 'R&D', active => $true);

sub pick {
    my ($user) = @_;

    return { userName => $user->{userName}, displayName => $user->{displayName},
             givenName => $user->{name}{givenName},
             familyName => $user->{name}{familyName}, title => $user->{title},
             locale => $user->{locale}, department => $user->{E()}{department},
             active => $user->{active} };
}

for my $name (sort keys %servers) {
    my ($url, $token, $users) = @{ $servers{$name} };
    my @to = (token => $token);
    my $got;

    # saml-jackson does not know paths with an extension in them

    my %ann = %ANN;
    my $department = $name eq 'jackson' ? undef : 'IT';

    delete $ann{department} if !$department;

    my $done = sub {
        my ($what, $count) = @_;

        is("$got->{outcome} $got->{error}", 'done ', "$name: $what")
            or diag(explain($got));
        is(scalar($users->()), $count // 1, "$name: $what: how many there are");
    };

    my $there = sub {
        my ($what, %want) = @_;

        is_deeply(pick(($users->())[0]), { map({ $_ => undef } keys %ANN), %want },
                  "$name: $what");
    };

    is($push->do(probe => $url, @to)->{patch}, 1, "$name: a probe");
    is($push->do(probe => "$url/x", @to)->{outcome}, 'user',
       "$name: a probe of another place");
    is($push->user($url, \%ann, token => 'wrong')->{outcome}, 'failing',
       "$name: a bad token");

    $got = $push->user($url, \%ann, @to);
    $done->('created');
    $there->('all of him', %ann);

    my $id = $got->{remoteId};

    $got = $push->user($url, \%ann, @to);
    $done->('looked up');
    is($got->{requests}, 1, "$name: nothing is sent");

    $got = $push->again($url, { %ann, title => '', department => $department,
                                familyName => 'Lee-Ng', locale => '' }, $got, @to);
    $done->('updated');
    my %new = (%ann, department => $department, familyName => 'Lee-Ng');
    delete @new{qw(title locale)};
    $there->('as he is now', %new);

    $got = $push->again($url, \%new, $got, @to, compare => $true);
    $done->('compared');
    is($got->{requests}, 1, "$name: nothing differs");

    # ours does not accept a new userName from outside

    if ($name ne 'ours') {
        $new{userName} = 'ann.ng@acme.test';
        $got = $push->again($url, \%new, $got, @to);
        $done->('a new address');
        $there->('his address', %new);
    }

    $got = $push->again($url, { active => $false, userName => 'x' }, $got, @to);
    $done->('deactivated');
    $there->('inactive', %new, active => $false);

    $got = $push->again($url, \%ann, $got, @to);
    $done->('active again');
    $there->('all of him', %ann);
    is($got->{remoteId}, $id, "$name: he is still the same");

    $got = $push->again($url, { %ann, title => 'CTO' }, $got, @to,
                        patch => $false);
    $done->('updated with PUT');
    $there->('with PUT', %ann, title => 'CTO');

    $got = $push->again($url, { active => $false, gone => $true }, $got, @to,
                        patch => $false);
    $done->('deactivated with PUT');
    $there->('inactive with PUT', %ann, title => 'CTO', active => $false);

    $got = $push->user($url, \%ann, @to);
    $done->('taken over');
    $there->('active when he was taken over', %ann);

    $got = $push->user($url, { %ann, userName => 'bob@acme.test',
        id => '22222222-2222-4333-8444-555555555555' }, @to);
    $done->('another one', 2);

    my $page = $push->do(page => $url, @to, start => 1);
    is_deeply([ @$page{qw(outcome n total)},
                sort map { $_->{userName} } @{ $page->{seen} } ],
              [ 'done', 2, 2, 'ann@acme.test', 'bob@acme.test' ], "$name: a page");
    $page = $push->do(page => $url, @to, start => 3);
    is_deeply([ @$page{qw(outcome n)} ], [ 'done', 0 ], "$name: the end");
}

my ($status, $errors) = $push->end;

is($status, 0, 'the program ends');
unlike($errors, qr/ERROR|runtime error|Sanitizer/, 'the sanitizers say nothing')
    or diag($errors);

$s->done;

done_testing();
