package SvcTest::Walk::Named;

# Tests that each route that the specification names exists.

use strict;
use warnings;

use Test::More;

use SvcTest::Process qw(slurp);
use SvcTest::Skip;


sub walk {
    my ($class, $w) = @_;

    my $spec = $w->{s}->root . '/../shared/spec.md';

    SKIP: {
        -e $spec or skip_part('../shared/spec.md is not beside the clone', 2);

        compare($w, named(slurp($spec)));
    }
}


sub compare {
    my ($w, @routes) = @_;
    my (%allowed, @missing);

    cmp_ok(scalar @routes, '>', 100, 'the specification names routes');

    for my $route (@routes) {
        my ($method, $path) = split / /, $route;

        $allowed{$path} //= allowed($w, $path);

        push @missing, $route if !$allowed{$path}{$method};
    }

    $w->told('and each is there', map { "there is no $_" } @missing);
}


# Returns the routes of the specification's tables and of its list of console
# routes; those below these, which it names in words, are added here.

sub named {
    my ($text) = @_;
    my ($console) = $text =~ /^### 4\.9 (.*?)^### /ms;
    my %route;

    $route{"$1 $2"} = 1
        while $text =~ /^\| (GET|POST|PUT|PATCH|DELETE) \| (\/\S+) \|/mg;

    while ($console =~ m{`([A-Z|]+) (/\S+)`}g) {
        $route{"$_ $2"} = 1 for split /\|/, $1;
    }

    my $user = 'POST /v1/admin/users/{userId}';
    my $group = '/v1/admin/groups/{id}';

    $route{$_} = 1
        for (map { "$user/$_" } qw(suspend reactivate logout)),
            (map { ("$_ $group/members", "$_ $group/apps") } qw(GET POST)),
            'GET /v1/admin/password-policy/groups', 'GET /v1/integrations',
            map { "GET /oauth/$_" } qw(authorize userinfo);

    return sort keys %route;
}


# Returns the methods of a path: a path that exists names them when it refuses
# one, or when it answers a page of another origin.

sub allowed {
    my ($w, $path) = @_;

    my $url = $path =~ s/\{\w*id\}/01a00000-0000-7000-8000-000000000000/gir
                    =~ s/\{\w+\}/x/gr;
    my $token = $w->{acme}{ $path =~ m{\A/scim} ? 'scim_token' : 'api_token' };
    my $r = $w->ask(OPTIONS => $url, [ Authorization => "Bearer $token" ]);

    my $methods = !$r ? '' : $r->header('Allow')
                  // $r->header('Access-Control-Allow-Methods') // '';

    return { map { $_ => 1 } split /, */, $methods };
}


1;
