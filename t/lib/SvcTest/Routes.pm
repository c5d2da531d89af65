package SvcTest::Routes;

# The route tables of the admin API, and of the modules that add to it, read
# from their sources: so a test of every route also covers routes that are added
# later.

use strict;
use warnings;

use Exporter qw(import);

use SvcTest::Json qw(json);
use SvcTest::Process qw(slurp);

our @EXPORT = qw(admin_routes);
our @EXPORT_OK = qw(all_routes parameters path_of);

# The table of SCIM is made of macros, so its routes are listed here.

my @SCIM = (
    [ GET    => '/ServiceProviderConfig', 'getScimConfig' ],
    [ GET    => '/Users', 'listScimUsers' ],
    [ POST   => '/Users', 'createScimUser', 'json', 'write_pool' ],
    [ GET    => '/Users/*', 'getScimUser' ],
    [ PUT    => '/Users/*', 'replaceScimUser', 'json', 'write_pool' ],
    [ PATCH  => '/Users/*', 'patchScimUser', 'json', 'write_pool' ],
    [ DELETE => '/Users/*', 'deleteScimUser', 'write_pool' ],
);


# Returns a list of hashes: method, path (below /v1; a parameter is "*"),
# permission, statements (the names of those in the table, or in a macro that
# it uses), and one member for each flag, as in { json => 1, write_pool => 1 }.

sub admin_routes {
    my ($root) = @_;

    my $header = slurp("$root/ngx_svc_common/base/ngx_svc_permission.h")
        // die "no table of permissions\n";
    my %permission = $header =~ /_\((\w+), "([^"]+)"\)/g;

    my @routes = map { routes_of($_, \%permission) }
                 grep { !m{/oauth/ngx_svc_oauth_} }     # the routes of /oauth
                 map { glob "$root/ngx_svc_$_/{,*/}*.c" } qw(admin webhook);

    die "no routes\n" if !@routes;

    return @routes;
}


sub routes_of {
    my ($file, $permission) = @_;

    my $text = slurp($file) // die "$file: $!\n";
    my %macro = $text =~ /^#define (\w+)[ ]+\\\n((?:.*\\\n)*.*)/mg;
    my @routes;

    while ($text =~ /\.method\s=\sNGX_HTTP_(\w+),\s*
                     \.path\s=\sngx_string\("([^"]+)"\)
                     (?:,\s*\.permission\s=\sNGX_SVC_P_(\w+))?
                     (?:,\s*\.flags\s=\s([\w|\s]+))?/gx)
    {
        my ($method, $path, $name, $flags) = ($1, $2, $3, $4 // '');
        my ($rest) = substr($text, pos $text) =~ /\A(.*?)(?:\.method\s=|\};)/s;

        die "$file: no permission $name\n"
            if defined $name && !$permission->{$name};

        push @routes, { method => $method, path => $path,
                        permission => defined $name ? $permission->{$name}
                                                    : '',
                        statements => [
                            $rest =~ s/\b(\w+)\b/$macro{$1} || $1/ger
                            =~ /&ngx_svc_sql_(\w+)/g ],
                        map { lc $_ => 1 }
                            $flags =~ /NGX_SVC_ROUTE_(\w+)/g };
    }

    my $methods = () = $text =~ /\.method = NGX_HTTP_/g;

    die "$file has $methods routes, " . @routes . " are read\n"
        if $methods != @routes;

    return @routes;
}


# Returns the routes of both surfaces, joined with the contract.  They also have
# a surface ("scim" or "admin"), an id (the contract's operationId, or one like
# it for SCIM), url (the whole path; a parameter is "*") and a name for tests;
# and "unmodified", if it may answer 304.

sub all_routes {
    my ($root) = @_;

    my $document = json()->decode(slurp("$root/conf/openapi.json"));
    my (%id, %unmodified, @routes);

    for my $path (keys %{ $document->{paths} }) {
        my $item = $document->{paths}{$path};

        for my $method (keys %$item) {
            my $name = uc($method) . ' ' . $path =~ s/\{\w+\}/*/gr;

            $id{$name} = $item->{$method}{operationId};
            $unmodified{$name} = exists $item->{$method}{responses}{304};
        }
    }

    for my $row (@SCIM) {
        my ($method, $path, $id, @flags) = @$row;

        push @routes, { method => $method, path => $path, permission => 'scim',
                        surface => 'scim', id => $id, url => "/scim/v2$path",
                        map { $_ => 1 } @flags };
    }

    for my $route (admin_routes($root)) {
        my $name = "$route->{method} /v1$route->{path}";

        push @routes, { %$route, surface => 'admin', url => "/v1$route->{path}",
                        unmodified => $unmodified{$name},
                        id => $id{$name} // die "$name is not in the contract\n" };
    }

    $_->{name} = "$_->{method} $_->{url}" for @routes;

    return @routes;
}


# Returns the kind of each parameter of a path: the fixed part before it, except
# where this is an application's.

sub parameters {
    my ($route) = @_;

    my $path = $route->{url} =~ s{/groups/\*/apps/\*}{/groups/*/applications/*}r;

    return $path =~ m{([^/]+)/\*}g;
}


# Returns the path of a route with these values.

sub path_of {
    my ($route, @values) = @_;

    return $route->{url} =~ s/\*/shift @values/ger;
}


1;
