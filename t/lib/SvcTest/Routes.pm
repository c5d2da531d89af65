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
# and one member for each flag, as in { json => 1, write => 1 }.

sub admin_routes {
    my ($root) = @_;

    return map { routes_of($root, $_) } qw(admin webhook);
}


sub routes_of {
    my ($root, $module) = @_;

    my ($file) = grep { -e } glob "$root/ngx_svc_$module/{,*/}ngx_svc_${module}_routes.c";
    my $text = slurp($file // '') // die "no ngx_svc_${module}_routes.c\n";
    my %define = $text =~ /^#define (\w+)\s+ngx_string\("([^"]*)"\)/mg;

    $text =~ /ngx_svc_${module}_routes\[\] = \{(.*?)\n\};/s
        or die "no route table\n";
    my $table = $1;
    my @routes;

    while ($table =~ /\{\s*NGX_HTTP_(\w+),\s*ngx_string\("([^"]+)"\),\s*
                      (?:ngx_string\("([^"]*)"\)|(\w+)),\s*([^,]+?),/gx)
    {
        my ($method, $path, $permission, $name, $flags) = ($1, $2, $3, $4, $5);

        $permission //= $define{$name}
            // die "$method $path: no permission $name\n";

        push @routes, { method => $method, path => $path,
                        permission => $permission,
                        map { lc $_ => 1 }
                            $flags =~ /NGX_SVC_ROUTE_(\w+)/g };
    }

    my $rows = () = $table =~ /\{\s*NGX_HTTP_/g;

    die "the route table has $rows rows, " . @routes . " are read\n"
        if $rows != @routes || !$rows;

    return @routes;
}


1;
