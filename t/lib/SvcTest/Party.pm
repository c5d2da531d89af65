package SvcTest::Party;

# Programs with libraries of others, which say what they have tried and ask for
# what they cannot do themselves, each in a line of JSON:
#
#     { "name", "ok", "why" }             something was tried
#     { "ask": "visit", "what": "..." }   is answered with a line
#
#     party([ 'node', "$dir/code.mjs" ], { issuer => ... }, visit => sub { ... });
#
# And a user, who goes where an authorization request leads.

use strict;
use warnings;

use Exporter qw(import);
use IPC::Open2;
use JSON::PP ();
use Test::More;

use SvcTest::OAuth qw(escape unescape);

our @EXPORT_OK = qw(party visit arrive);

my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;


# The first line that it reads is $input; all that it has tried is a test.  How
# many there were.

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


# A user's browser at an authorization request: where it comes to in the end,
# which is the client's address.  It signs in as a page at svc_login_url does,
# and consents, or decides otherwise.

sub visit {
    my ($to) = arrive(@_);

    return $to;
}


# The same, and what a page posts there: a hash, or undef of a redirect.

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


# The form of a page that posts itself.

sub posted {
    my ($page) = @_;

    my $text = sub { $_[0] =~ s/&#(\d+);/chr $1/ger };
    my ($action) = $page =~ /<form method="post" action="([^"]*)">/ or die "$page\n";
    my %field = $page =~ /<input type="hidden" name="([^"]*)" value="([^"]*)">/g;

    return ($text->($action), { map { $_ => $text->($field{$_}) } keys %field });
}


# What the page of consent asks, and tells.

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
