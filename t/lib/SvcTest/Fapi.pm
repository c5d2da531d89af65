package SvcTest::Fapi;

# A client of FAPI 2.0: it authenticates by signed assertions, pushes its
# authorization requests, and its tokens are bound to one of its keys.
#
#     my $bank = SvcTest::Fapi->new($acme, name => 'Bank');
#     my $uri = $bank->pushed;
#     my $to = $bank->comes($browser, $uri);          # signs in, consents
#     my $t = $bank->redeem($to->{code})->json;
#
# Every part of what it signs can be replaced: see t/lib/assertion and
# t/lib/dpop.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use Exporter qw(import);
use MIME::Base64 qw(encode_base64url);

use SvcTest::Browser;
use SvcTest::Lines;
use SvcTest::OAuth qw(application form escape unescape);
use SvcTest::Party qw(visit);
use SvcTest::Skip;

needs(python => 'cryptography');

our @EXPORT_OK = qw($CB $VERIFIER $TYPE);

our $CB = 'https://bank.test/cb';
our $VERIFIER = 'v' x 43;
our $TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

my $N = 0;


# Makes a client of a tenant.  Options: alg of its key, and members of its
# application.

sub new {
    my ($class, $tenant, %app) = @_;

    my $s = $tenant->{system};
    my $self = bless { s => $s, tenant => $tenant, alg => delete $app{alg} // 'ES256',
                       key => 'key' . ++$N, base => 'http://127.0.0.1:' . $s->port,
                       lines => $tenant->{fapi} //= {
                           map { $_ => SvcTest::Lines->new($s->root . "/t/lib/$_") }
                           qw(assertion dpop) } }, $class;

    $self->{issuer} = "$self->{base}/oauth/t/$tenant->{slug}";
    $self->{app} = application($tenant, type => 'web', redirectUris => [ $CB ],
                               scopes => [ qw(openid profile email) ],
                               securityProfile => 'fapi2',
                               jwks => { keys => [ $self->jwk ] }, %app);

    return $self;
}


sub id { return $_[0]{app}{clientId} }


sub jwk {
    my ($self) = @_;

    return $self->{lines}{assertion}->ask({ key => $self->{key}, alg => $self->{alg} })->{jwk};
}


# --- what it signs --------------------------------------------------------------------

sub assertion {
    my ($self, %opt) = @_;

    my $text = $self->{lines}{assertion}->ask({ key => $self->{key}, alg => $self->{alg},
                   client => $self->id, aud => $self->{issuer}, %opt })->{assertion};

    $self->{s}->secret($text);

    return $text;
}


# Makes a proof for a request.  Options: token, the access token that is
# presented with it; and key, claims, header, settings.

sub proof {
    my ($self, $method, $endpoint, %opt) = @_;

    my %claims = (htm => $method, htu => "$self->{issuer}/$endpoint",
                  defined $opt{token} ? (ath => encode_base64url(sha256($opt{token}))) : (),
                  %{ $opt{claims} // {} });

    return $self->{lines}{dpop}->ask({ key => $opt{key} // "$self->{key}-dpop",
                                       claims => \%claims, header => $opt{header} // {},
                                       settings => $opt{settings} // {} });
}


sub jkt { return $_[0]->proof('POST', 'token', %{ $_[1] // {} })->{jkt} }


# --- what it sends --------------------------------------------------------------------

# Sends a form to an endpoint.  Options: assertion and proof, the options of
# those, or undef for none; headers.

sub form_to {
    my ($self, $endpoint, $fields, %opt) = @_;

    my %proved;

    if (!exists $opt{assertion} || $opt{assertion}) {
        %proved = (client_assertion_type => $TYPE,
                   client_assertion => $self->assertion(%{ $opt{assertion} // {} }));
    }

    my @proof = !exists $opt{proof} || $opt{proof}
                ? (DPoP => $self->proof('POST', $endpoint, %{ $opt{proof} // {} })->{proof})
                : ();
    my $r = form($self->{s}, $endpoint, { %proved, %$fields },
                 headers => [ @proof, @{ $opt{headers} // [] } ]);

    if ($r->status == 200) {
        my $json = eval { $r->json } // {};

        $self->{s}->secret($_)
            for map { $json->{$_} // () } qw(access_token refresh_token id_token);
    }

    return $r;
}


# Pushes an authorization request, without a proof.  A parameter that is undef
# is left out, and a name that begins with "-" is an option of form_to().

sub push_request {
    my ($self, %more) = @_;

    my %opt = map { s/^-//r => delete $more{$_} } grep { /^-/ } keys %more;

    return $self->form_to(par => {
        response_type => 'code', redirect_uri => $CB, scope => 'openid',
        state => 'St4te!~', nonce => 'n0nce', code_challenge_method => 'S256',
        code_challenge => encode_base64url(sha256($VERIFIER)), %more }, proof => undef, %opt);
}


# Pushes a request, and returns its request_uri.

sub pushed {
    my ($self, %more) = @_;

    my $r = $self->push_request(%more);

    $r->status == 201 or die 'POST /oauth/par: ' . $r->status . ' ' . $r->body . "\n";

    return $r->json->{request_uri};
}


# Returns the path that a browser is sent to.  more: additional parameters.

sub path {
    my ($self, $uri, %more) = @_;

    my %all = (client_id => $self->id, request_uri => $uri, %more);

    return '/oauth/authorize?' . join '&', map { "$_=" . escape($all{$_}) } sort keys %all;
}


# Takes a user's browser through the request, and returns the parameters that
# the client's redirect URI gets.

sub comes {
    my ($self, $b, $uri, $email, %opt) = @_;

    my $to = visit($b, $self->{base} . $self->path($uri, %{ $opt{more} // {} }), $email,
                   $opt{decision});
    my ($query) = $to =~ /\A\Q$CB\E\?(.*)\z/s or die "no answer: $to\n";

    return { map { unescape($_) } map { split /=/, $_, 2 } split /&/, $query };
}


sub redeem {
    my ($self, $code, %more) = @_;

    my %opt = map { s/^-//r => delete $more{$_} } grep { /^-/ } keys %more;

    $self->{s}->secret($code) if defined $code;

    return $self->form_to(token => { grant_type => 'authorization_code', code => $code,
                                     redirect_uri => $CB, code_verifier => $VERIFIER,
                                     %more }, %opt);
}


sub refresh {
    my ($self, $token, %more) = @_;

    my %opt = map { s/^-//r => delete $more{$_} } grep { /^-/ } keys %more;

    return $self->form_to(token => { grant_type => 'refresh_token', refresh_token => $token,
                                     %more }, %opt);
}


# Asks for the user's claims, with a proof.  Options: those of the proof, and
# scheme, name (of the header) and headers.

sub userinfo {
    my ($self, $token, %opt) = @_;

    my ($scheme, $name, $headers) = map { delete $opt{$_} } qw(scheme name headers);
    my @proof = map { ($name // 'DPoP') => $_ } $headers ? @$headers
                : $self->proof('GET', 'userinfo', token => $token, %opt)->{proof};

    return $self->{s}->http(GET => "/oauth/t/$self->{tenant}{slug}/userinfo",
                            [ Authorization => ($scheme // 'DPoP') . " $token", @proof ]);
}


1;
