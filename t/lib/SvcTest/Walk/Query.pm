package SvcTest::Walk::Query;

# Tests that a query parameter that a route knows is refused when it comes
# twice, and that nothing is done.

use strict;
use warnings;

use Test::More;

use SvcTest::Json qw(json);
use SvcTest::Process qw(slurp);
use SvcTest::Scim qw(patch_op);
use SvcTest::Walk;


sub walk {
    my ($class, $w) = @_;

    my $document = json()->decode(slurp($w->{s}->root . '/conf/openapi.json'));
    my $n = 0;

    for my $route (grep { $_->{surface} eq 'admin' } $w->routes) {
        my @names = named($document, $route) or next;
        my $path = $w->path($route);

        $n += @names;
        $w->told("$route->{name}: twice: @names", map {
            twice($w, $route, "$path?$_=1&$_=1", $_)
        } @names);
    }

    cmp_ok($n, '>=', 25, "$n parameters");
    is($w->unharmed('parameters that come twice'), '', 'nothing was done');

    spelled($w);
    scim($w);
    is($w->unharmed('and those of SCIM'), '', 'nothing was done');
}


# Returns a route's query parameters in the contract.

sub named {
    my ($document, $route) = @_;

    my ($path) = grep { $_ =~ s/\{\w+\}/*/gr eq $route->{url} }
                 keys %{ $document->{paths} };
    my $item = $document->{paths}{$path};

    return map { $_->{name} } grep { $_->{in} eq 'query' }
           map { resolve($document, $_) }
               @{ $item->{ lc $route->{method} }{parameters} // [] };
}


sub resolve {
    my ($node, $parameter) = @_;

    my $ref = $parameter->{'$ref'} // return $parameter;

    $node = $node->{$_} for grep { $_ ne '#' } split '/', $ref;

    return $node;
}


sub twice {
    my ($w, $route, $path, $name) = @_;

    my $r = $w->ask($route->{method}, $path, [ $w->headers($route) ],
                    $w->body($route));
    my $wrong = $w->faults($route, $r, 400);

    return "$path: $wrong" if $wrong;
    return "$path: \"$name\" is not named: " . $r->body
        if $r->json->{error}{message} !~ /"\Q$name\E"/;
    return;
}


# Tests the ways in which a repeated parameter can be written.

sub spelled {
    my ($w) = @_;

    my ($users) = grep { $_->{id} eq 'listUsers' } $w->routes;
    my @token = $w->headers($users);

    $w->told('q twice, however it is written', map {
        twice($w, $users, "/v1/admin/users?$_", 'q')
    } 'q=a&q=a', 'q=a&limit=5&q=b', 'q&q=', '%71=a&q=b', 'q=a&%71', '&q=&&q=');

    $w->told('what is not twice', map {
        my $r = $w->ask(GET => "/v1/admin/users?$_", \@token);

        $r && $r->status == 200 ? () : "$_: " . ($r ? $r->body : 'no answer');
    } 'x=1&x=2', 'Q=a&q=b&Q=c', 'q=q&limit=5', 'q=a%26q=b', 'qq=1&q=2');

    my ($logo) = grep { $_->{id} eq 'getPublicLogo' } $w->routes;
    my $path = $w->path($logo);

    $w->told('v of a public route twice', twice($w, $logo, "$path?v=1&v=2", 'v'));
    is($w->ask(GET => "$path?v=1", {})->status, 404, 'v of a public route once');
    is($w->ask(GET => '/v1/admin/users?q=a&q=b', {})->json->{error}{code},
       'unauthorized', 'q twice: who has no token hears of that first');
    is($w->ask(GET => '/v1/admin/audit/stream?lastEventId=1&lastEventId=2',
               [ @token, 'Last-Event-ID' => '5' ])->json->{error}{code},
       'invalid_request', 'lastEventId twice, where a header goes before it');
}


sub scim {
    my ($w) = @_;

    my $acme = $w->{acme};
    my $one = "/Users/$acme->{of}{Users}";

    $w->told('SCIM: a parameter twice', map {
        my ($method, $path, $name, $type, $body) = @$_;
        my $r = $acme->scim($method, "$path?$name=id&$name=id", $body);
        my @wrong = SvcTest::Scim::error_faults($r, 400, $type);

        push @wrong, 'it is not named'
            if ($r->json->{detail} // '') !~ /"\Q$name\E"/;
        @wrong ? "$method $path: $name: @wrong: " . $r->body : ();
    } [ GET => '/Users', 'count', 'invalidValue' ],
      [ GET => '/Users', 'filter', 'invalidFilter' ],
      [ GET => '/Users', 'attributes', 'invalidValue' ],
      [ GET => '/Users', 'excludedAttributes', 'invalidValue' ],
      [ GET => $one, 'attributes', 'invalidValue' ],
      [ GET => $one, 'excludedAttributes', 'invalidValue' ],
      [ POST => '/Users', 'attributes', 'invalidValue',
        { userName => 'new@acme.test' } ],
      [ PUT => $one, 'excludedAttributes', 'invalidValue',
        { userName => 'user@acme.test', title => 'T' } ],
      [ PATCH => $one, 'attributes', 'invalidValue',
        patch_op({ op => 'replace', path => 'title', value => 'T' }) ]);

    is($acme->scim(GET => '/Users?sortBy=a&sortBy=b')->status, 200,
       'SCIM: one that is not known twice');
}


1;
