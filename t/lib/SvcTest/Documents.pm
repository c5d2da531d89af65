package SvcTest::Documents;

# Lists and reads the project's documents.

use strict;
use warnings;

use Cwd ();
use Exporter qw(import);
use File::Basename qw(dirname);

use SvcTest::Process qw(slurp);

our @EXPORT_OK = qw(documents document section examples blocks);

my $ROOT = Cwd::realpath(dirname(__FILE__) . '/../../..');


# Returns their paths from the top of the tree: the documents for users come
# first, and the README is the first of its folder.

sub documents {
    my @paths;

    for my $folder ('', map { "$_/" } qw(ngx_svc_scim ngx_svc_admin
                                         ngx_svc_admin/signin
                                         ngx_svc_admin/federation
                                         ngx_svc_admin/console
                                         ngx_svc_admin/oauth ngx_svc_webhook
                                         ngx_svc_webhook/mail
                                         ngx_svc_webhook/scim_push conf conf/ha conf/www
                                         ngx_svc_common ngx_svc_common/sql
                                         t .github))
    {
        push @paths, (grep { -e "$ROOT/$_" } "${folder}README.md"),
             grep { !m{README\.md\z} } map { s{^\Q$ROOT/}{}r }
             sort { $a cmp $b } glob("\Q$ROOT\E/$folder*.md");
    }

    return @paths;
}


# Returns the text of one document, or of all.

sub document {
    my @paths = @_ ? @_ : documents();

    return join '', map { slurp("$ROOT/$_") // die "there is no $_\n" } @paths;
}


# Returns the text below a heading, down to the next one.

sub section {
    my ($path, $heading) = @_;

    my ($code, $in, $text) = (0, 0, undef);

    for my $line (split /^/, document($path)) {
        $code = !$code if $line =~ /^```/;

        if (!$code && $line =~ /^#+ (.*)$/) {
            last if $in;
            $in = $1 eq $heading;
            $text = '' if $in;
            next;
        }

        $text .= $line if $in;
    }

    return $text // die "$path: no \"$heading\"\n";
}


# Returns the code blocks of a language in a text.

sub examples {
    my ($language, $text) = @_;

    return $text =~ /^```\Q$language\E\n(.*?)^```$/msg;
}


# Returns the indented blocks below a heading of a document, unchanged.

sub blocks {
    return section(@_) =~ /^\n((?:(?:    .*)?\n)+?)(?=\n*^\S|\z)/mg;
}


1;
