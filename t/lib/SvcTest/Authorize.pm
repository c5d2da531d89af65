package SvcTest::Authorize;

# Authorization requests of a client that has PKCE, and where they lead to.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use Exporter qw(import);
use MIME::Base64 qw(encode_base64url);

use SvcTest::Grants qw(redeem $VERIFIER $REDIRECT);
use SvcTest::OAuth qw(escape unescape);

our @EXPORT_OK = qw(query asked to tokens);


# Its query: of an application, with other parameters, or without those that are undef.

sub query {
    my ($app, %more) = @_;

    my %all = (client_id => $app->{clientId}, redirect_uri => $REDIRECT,
               response_type => 'code', code_challenge => encode_base64url(sha256($VERIFIER)),
               code_challenge_method => 'S256', state => 'xyz', scope => 'openid', %more);

    return join '&', map { "$_=" . escape($all{$_}) } grep { defined $all{$_} } sort keys %all;
}


# Where a browser is sent: the parameters of the address, and "page", if it is the one
# that signs people in.

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


# What a client gets for a code of such a request.

sub tokens {
    my ($s, $b, $app, %more) = @_;

    my $to = asked($b, $app, %more);

    $to->{code} or die 'no code: ', join(' ', %$to), "\n";
    $s->secret($to->{code});

    return redeem($s, $app, $to)->json;
}


1;
