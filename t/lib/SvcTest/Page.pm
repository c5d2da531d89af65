package SvcTest::Page;

# The pages of conf/www in a real browser, by playwright: t/npm/browser.mjs
# lists the actions.
#
#     my $origin = with_pages($s);
#     my $page = SvcTest::Page->new($s->root);
#     $page->do(go => "$origin/login");
#     $page->do(type => 'Password', $password);
#     $page->do(press => 'Sign in');

use strict;
use warnings;

use Exporter qw(import);

use parent -norequire, 'SvcTest::Lines';

use SvcTest::Lines;
use SvcTest::Npm;
use SvcTest::Process qw(run slow slurp);
use SvcTest::Skip;

our @EXPORT_OK = qw(with_pages);

needs(program => 'chromium');

my ($NODE) = (run([ 'node', '--version' ]))[1] =~ /^v(\d+)/;

skip_file('playwright needs Node.js 20 or newer') if ($NODE // 0) < 20;


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
    $nginx->{locations} .= slurp($s->root . '/conf/svc-www.conf')
                           =~ s{/usr/share/ngx_svc/www}{$s->{dir}/www}r
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


sub new {
    my ($class, $root) = @_;

    my $self = $class->SUPER::new('node', npm_install($root) . '/browser.mjs',
                                  slow(30));

    $self->do('open');

    return $self;
}


# Does an action and returns its value.  Dies when it fails.

sub do {
    my ($self, @action) = @_;

    my $r = $self->ask(\@action);

    die "$r->{error}\n" if defined $r->{error};

    return $r->{value};
}


1;
