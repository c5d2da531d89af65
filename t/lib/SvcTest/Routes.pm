package SvcTest::Routes;

# The route tables of the admin API, and of what other modules add to it, read
# from their sources: what a test says of every route is then said of those that
# are added later, too.

use strict;
use warnings;

use Exporter qw(import);

use SvcTest::Process qw(slurp);

our @EXPORT = qw(admin_routes);


# A list of hashes: method, path (below /v1, a parameter is "*"), permission,
# and one member for each flag, as in { json => 1, write_pool => 1 }.

sub admin_routes {
    my ($root) = @_;

    my $header = slurp("$root/ngx_svc_common/base/ngx_svc_permission.h")
        // die "no table of permissions\n";
    my %permission = $header =~ /_\((\w+), "([^"]+)"\)/g;

    my @routes = map { routes_of($_, \%permission) }
                 grep { !m{/oauth/ngx_svc_oauth_} }     # those of /oauth
                 map { glob "$root/ngx_svc_$_/{,*/}*.c" } qw(admin webhook);

    die "no routes\n" if !@routes;

    return @routes;
}


sub routes_of {
    my ($file, $permission) = @_;

    my $text = slurp($file) // die "$file: $!\n";
    my @routes;

    while ($text =~ /\.method\s=\sNGX_HTTP_(\w+),\s*
                     \.path\s=\sngx_string\("([^"]+)"\)
                     (?:,\s*\.permission\s=\sNGX_SVC_P_(\w+))?
                     (?:,\s*\.flags\s=\s([\w|\s]+))?/gx)
    {
        my ($method, $path, $name, $flags) = ($1, $2, $3, $4 // '');

        die "$file: no permission $name\n"
            if defined $name && !$permission->{$name};

        push @routes, { method => $method, path => $path,
                        permission => defined $name ? $permission->{$name}
                                                    : '',
                        map { lc $_ => 1 }
                            $flags =~ /NGX_SVC_ROUTE_(\w+)/g };
    }

    my $methods = () = $text =~ /\.method = NGX_HTTP_/g;

    die "$file has $methods routes, " . @routes . " are read\n"
        if $methods != @routes;

    return @routes;
}


1;
