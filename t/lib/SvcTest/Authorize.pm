package SvcTest::Authorize;

# Authorization requests of a client that uses PKCE, and where they lead the
# browser.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use Exporter qw(import);
use MIME::Base64 qw(encode_base64url);

use SvcTest::Grants qw(redeem $VERIFIER $REDIRECT);
use SvcTest::OAuth qw(escape unescape);

our @EXPORT_OK = qw(query asked to tokens);


# Returns the query of a request for an application.  more: parameters to add or
# replace; undef leaves one out.

sub query {
    my ($app, %more) = @_;

    my %all = (client_id => $app->{clientId}, redirect_uri => $REDIRECT,
               response_type => 'code', code_challenge => encode_base64url(sha256($VERIFIER)),
               code_challenge_method => 'S256', state => 'xyz', scope => 'openid', %more);

    return join '&', map { "$_=" . escape($all{$_}) } grep { defined $all{$_} } sort keys %all;
}


# Sends a request.  Returns the parameters of the address to which the browser
# is redirected, and "page" when this is the sign-in page and not the client.

sub asked {
    my ($b, $app, %more) = @_;

    return to($b->get('/oauth/authorize?' . query($app, %more)));
}


sub to {
    my ($r) = @_;

    my ($url, $query) = split /\?/, $r->header('Location') // '', 2;
    my %to = map { unescape($_) } map { split /=/, $_, 2 } split /&/, $query // '';

    $to{page} = 1 if index($url // '', $REDIRECT) != 0;

    return \%to;
}


# Returns the tokens that a client gets for the code of a request.

sub tokens {
    my ($s, $b, $app, %more) = @_;

    my $to = asked($b, $app, %more);

    $to->{code} or die 'no code: ', join(' ', %$to), "\n";
    $s->secret($to->{code});

    return redeem($s, $app, $to)->json;
}


1;
