package SvcTest::Party;

# Runs programs that use other projects' libraries.  Each line that such a
# program writes is JSON: it says what was tried, or asks for what the program
# cannot do itself:
#
#     { "name", "ok", "why" }             something was tried
#     { "ask": "visit", "what": "..." }   is answered with a line
#
#     party([ 'node', "$dir/code.mjs" ], { issuer => ... }, visit => sub { ... });
#
# visit() is the browser of a user that follows an authorization request.

use strict;
use warnings;

use Exporter qw(import);
use IPC::Open2;
use JSON::PP ();
use Test::More;

use SvcTest::OAuth qw(escape unescape);

our @EXPORT_OK = qw(party visit arrive);

my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;


# Runs a program whose first line of input is $input; each thing that it tried
# is a test.  Returns how many there were.

sub party {
    my ($command, $input, %ask) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    local $SIG{PIPE} = 'IGNORE';

    my $pid = open2(my $out, my $in, @$command);
    my $n = 0;

    $in->autoflush(1);
    print $in $JSON->encode($input), "\n";

    while (defined(my $line = readline $out)) {
        my $said = $JSON->decode($line);

        if (!defined $said->{ask}) {
            ok($said->{ok}, $said->{name}) or diag($said->{why});
            $n++;
            next;
        }

        my $answer = eval { $ask{$said->{ask}}->($said->{what}) };

        diag("$said->{ask}: $@") if $@;
        print $in $JSON->encode($answer), "\n";
    }

    close $in;
    waitpid $pid, 0;
    is($?, 0, "@$command");

    return $n;
}


# Follows an authorization request in a user's browser.  It signs in as a page
# at svc_login_url does, and consents, or decides otherwise.  Returns the
# client's address at which it ends.

sub visit {
    my ($to) = arrive(@_);

    return $to;
}


# Does the same; returns also the form that a page posts there, as a hash, or
# undef when the browser is redirected.

sub arrive {
    my ($b, $url, $email, $decision) = @_;

    my $nginx = $b->{s}->nginx;
    my $base = $nginx->{svc}{svc_base_url} // $nginx->{svc_default}{svc_base_url};

    for (1 .. 5) {
        return $url if index($url, "$base/") != 0;

        my $r = $b->get(substr $url, length $base);

        return posted($r->body) if $r->status == 200;

        $r->status == 303 or die $r->status . ' ' . $r->body . "\n";
        $url = $r->header('Location');

        my ($back, $consent) = $url =~ m{/signin/\?return_to=([^&]+)(&consent=1)?\z}
            or next;

        $back = unescape($back);

        if ($consent) {
            return decide($b, $back =~ s/.*?\?//sr, $decision // 'approve');
        }

        $r = $b->login($email);
        $r->status == 200 or die $r->body . "\n";
        $url = $base . $back;
    }

    die "it does not end: $url\n";
}


# Returns the form of a page that posts itself.

sub posted {
    my ($page) = @_;

    my $text = sub { $_[0] =~ s/&#(\d+);/chr $1/ger };
    my ($action) = $page =~ /<form method="post" action="([^"]*)">/ or die "$page\n";
    my %field = $page =~ /<input type="hidden" name="([^"]*)" value="([^"]*)">/g;

    return ($text->($action), { map { $_ => $text->($field{$_}) } keys %field });
}


# Asks for the consent page's data, and sends the decision.

sub decide {
    my ($b, $request, $decision) = @_;

    my $asked = $b->get("/v1/oauth/authorization?$request")->json;
    my $r = $b->post('/v1/oauth/authorization',
                     { request => $request, decision => $decision,
                       userId => $asked->{user}{id},
                       scopes => [ map { $_->{name} } @{ $asked->{scopes} } ],
                       resources => $asked->{resources} });

    $r->status == 200 or die $r->body . "\n";

    return $r->json->{redirectTo};
}


1;
