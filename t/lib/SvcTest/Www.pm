package SvcTest::Www;

# A server that has the pages of conf/www, and the console.
#
#     my $origin = with_pages($s);
#     my $text = pages_here($s, $include);

use strict;
use warnings;

use Exporter qw(import);

use SvcTest::Process qw(slurp);

our @EXPORT_OK = qw(with_pages pages_here @LEADS @ASTRAY);

# paths that a sign-in leads to, by a password and through another server

our @LEADS = (
    '/oauth/authorize?', '/oauth/authorize?a=b&c=%2F//evil.test#d',
    '/console', '/console/', '/console?tenant=acme', '/console/users?q=a%40b&offset=50',
    '/console/users/1#x', '/console/.a', '/console/...', '/console//evil.test',
    '/account', '/account?back', '/console/' . 'a' x 2039,
);

# and others that it does not lead to

our @ASTRAY = (
    '', '/', '//evil.test', '/\\evil.test', "/\t/evil.test", "/\n/evil:99999", '\\evil.test',
    'https://evil.test', 'javascript:alert(1)', 'evil.test', ' //evil.test', '/alive',
    '/oauth/authorize', '/oauth/authorize@evil.test', '/oauth/authorize/?a',
    '/oauth/authorize/../x?', '/OAUTH/authorize?', '//evil.test/oauth/authorize?',
    '/consoles', '/console@evil.test', '/console:1', '/console.evil.test', '/console%2fusers',
    '//console', '//evil.test/console', '/Console', ' /console', '/console\\',
    '/console/..', '/console/../oauth/authorize?', '/console/%2e%2E/alive', '/console/./x',
    '/console/x/.%2e/../../alive', '/console/\\..\\alive', "/console/\tx", "/console?\n",
    '/accountx', '/account/', '/account/x', '/account/../oauth', '/account/../console',
    '/account#x', "/account?\x7f", '/console/' . 'a' x 2040,
);


# Has a server that is not started yet serve the pages, and an empty page at
# /nothing, where a client's /callback redirects.  Returns the origin.  The
# empty page has the opener policy of the others: without it the browser would
# use another process.

sub with_pages {
    my ($s) = @_;

    my $nginx = $s->{nginx};
    my $origin = "http://localhost:$nginx->{port}";

    system('cp', '-r', $s->root . '/conf/www', "$s->{dir}/www") == 0
        or die "cp: $?\n";

    $nginx->{fixed_port} = 1;
    $nginx->{svc_default}{svc_base_url} = $origin;
    $nginx->{locations} .= pages_here($s, map { "include /usr/share/ngx_svc/svc-$_.conf;\n" }
                                              qw(www console))
                           . <<'EOT';
        location = /nothing {
            default_type text/html;
            add_header Cross-Origin-Opener-Policy same-origin;
            return 200 '<!doctype html><link rel="icon" href="data:,">';
        }
        location = /callback {
            return 303 $scheme://$http_host/nothing;
        }
EOT

    return $origin;
}


# Returns configuration in which what it includes of the installed files is that
# of the checkout, with the pages of the server.

sub pages_here {
    my ($s, @text) = @_;

    my $text = join '', @text;

    1 while $text =~ s{include /usr/share/ngx_svc/(svc-\w+\.conf);}{
        slurp($s->root . "/conf/$1")}ge;

    return $text =~ s{/usr/share/ngx_svc/www}{$s->{dir}/www}gr;
}


1;
