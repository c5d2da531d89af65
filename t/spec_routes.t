#!/usr/bin/perl

# Each route that the specification names is there, but for those that are still
# to come.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(slurp);
use SvcTest::Skip;

my $SPEC = '../shared/spec.md';

# What is still to come: OAuth.

my $LATER = qr{\A\w+[ ]/oauth/.*\z}x;

-e $SPEC or skip_file("$SPEC is not beside the clone");


# Those of its tables, and of its list of console routes, whose sub-paths it names
# in words.

sub named {
    my ($text) = @_;
    my ($console) = $text =~ /^### 4\.9 (.*?)^### /ms;
    my %route;

    $route{"$1 $2"} = 1 while $text =~ /^\| (GET|POST|PUT|PATCH|DELETE) \| (\/\S+) \|/mg;

    while ($console =~ m{`([A-Z|]+) (/\S+)`}g) {
        $route{"$_ $2"} = 1 for split /\|/, $1;
    }

    my $user = 'POST /v1/admin/users/{userId}';
    my $group = '/v1/admin/groups/{id}';

    $route{$_} = 1 for (map { "$user/$_" } qw(suspend reactivate logout)),
                       (map { ("$_ $group/members", "$_ $group/apps") } qw(GET POST)),
                       'GET /v1/admin/password-policy/groups', 'GET /v1/integrations',
                       map { "GET /oauth/$_" } qw(authorize userinfo);

    return sort keys %route;
}


my $s = SvcTest->new(svc => { svc_sign_in => 'on', svc_base_url => 'https://a.test',
                              svc_webhooks => 'on', svc_scim_targets => 'on' })->start;
my $acme = $s->tenant('acme');
my @routes = named(slurp($SPEC));
my (%allowed, @missing, @later);

cmp_ok(scalar @routes, '>', 100, 'the specification names routes');

# a path that is there says which methods it has

sub allowed {
    my ($path) = @_;

    my $url = $path =~ s/\{\w*id\}/01a00000-0000-7000-8000-000000000000/gir
                    =~ s/\{\w+\}/x/gr;
    my $token = $acme->{ $path =~ m{\A/scim} ? 'scim_token' : 'api_token' };
    my $r = $s->http(OPTIONS => $url, [ Authorization => "Bearer $token" ]);

    return $r->status == 405 ? { map { $_ => 1 } split /, */, $r->header('Allow') // '' }
                             : {};
}

for my $route (@routes) {
    my ($method, $path) = split / /, $route;

    $allowed{$path} //= allowed($path);

    next if $allowed{$path}{$method};

    push @{ $route =~ $LATER ? \@later : \@missing }, $route;
}

is_deeply(\@missing, [], 'and each is there');
is(scalar(grep { $_ =~ $LATER } @routes), scalar @later,
   'what is to come is not there: take it out of the list when it is');
note("to come: $_") for @later;

$s->done;
done_testing();
