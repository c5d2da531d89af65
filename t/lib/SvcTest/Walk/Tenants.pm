package SvcTest::Walk::Tenants;

# Tests that a session is of one tenant, whatever the route and whatever id of
# another tenant.  SvcTest::Walk::Ids tests the same with tokens.

use strict;
use warnings;

use Test::More;

use SvcTest::Admin;
use SvcTest::Browser;
use SvcTest::Valid qw(bodies body_of);


sub walk {
    my ($class, $w) = @_;

    my ($acme, $globex) = @$w{qw(acme globex)};
    my $bodies = { bodies($w->named('globex')) };
    my $n = 0;

    for my $route (grep { !$_->{public} && $_->{path} =~ /\*/
                          && $_->{surface} eq 'admin' } $w->routes)
    {
        my $r = $w->ask($route->{method}, $w->path($route, $globex), [ $w->cookies ],
                        body_of($route, $bodies));

        $w->told("$route->{name}: of another tenant",
                 grep { defined } $w->faults($route, $r, 404));
        $n++;
    }

    cmp_ok($n, '>', 20, 'routes with ids');
    in_bodies($w);
    is($w->unharmed('ids of another tenant'), '',
       'ids of another tenant: nothing is stored');
    shown($w);

    is($globex->{browser}->get('/v1/auth/session')->status, 200,
       'the session of the other tenant lives');
    admin_error(SvcTest::Browser->new($w->{s}, tenant => 'acme')
                ->login('owner@globex.test'), 401, 'invalid_credentials',
                'an address of another tenant does not sign in');
    $w->changed;
}


sub in_bodies {
    my ($w) = @_;

    my $of = $w->{globex}{of};
    my %invited = (email => 'x@acme.test', role => 'member');

    for my $case (
        [ '/users/unlock', { userId => $of->{users} }, 404 ],
        [ '/users/unlock', { email => 'owner@globex.test' }, 404 ],
        [ '/password-policy/groups', { groupId => $of->{groups}, minLength => 20 },
          400 ],
        [ '/invitations', { %invited, groupIds => [ $of->{groups} ] }, 400 ],
        [ '/invitations', { %invited, role => $of->{roles} }, 400 ])
    {
        my ($path, $body, $status) = @$case;
        my $r = $w->{acme}{browser}->post("/v1/admin$path", $body);

        is($r->status, $status, "POST $path: " . join ' ', sort keys %$body)
            or diag($r->body);
    }
}


# Tests that all routes without ids show only the own tenant.

sub shown {
    my ($w) = @_;

    my $globex = $w->{globex};
    my $theirs = join '|', map { quotemeta } 'globex', $globex->{id},
                 grep { !/\A(?:apple|none)\z/ } values %{ $globex->{of} };

    for my $route (grep { $_->{method} eq 'GET' && !$_->{public}
                          && $_->{surface} eq 'admin' && $_->{path} !~ /\*|stream/ }
                   $w->routes)
    {
        my $query = $route->{id} eq 'getAuthorization'
                  ? '?' . $w->{body}{decideAuthorization}{request}
                  : $route->{id} eq 'listNames' ? '?type=user&q=us' : '';
        my $r = $w->ask(GET => "$route->{url}$query", [ $w->cookies ]);

        $w->told("$route->{name}: nothing of the other tenant",
                 $r && $r->status == 200 ? ()
                 : 'it is ' . ($r ? $r->body : 'no answer'),
                 $r && $r->body =~ /($theirs)/ ? "it has $1" : ());
    }
}


1;
