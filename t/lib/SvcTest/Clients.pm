package SvcTest::Clients;

# What OAuth clients of other projects need: a server with TLS, which they
# insist on, and a user who signs in for them.
#
#     my $s = clients_server()->start;
#     my $n = play($s, [ 'node', "$dir/clients.mjs" ], {
#                      site => { path => '/cb', requirePkce => $FALSE } });

use strict;
use warnings;

use Exporter qw(import);

use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Nginx ();
use SvcTest::OAuth qw(oauth_server application);
use SvcTest::Party qw(party arrive);
use SvcTest::Process qw(run);
use SvcTest::Skip;

our @EXPORT_OK = qw(clients_server certificate play);

needs(program => 'openssl');

my $METADATA = <<'EOT';
        location /.well-known/openid-configuration {
            svc_oauth_metadata on;
        }
        location /.well-known/oauth-authorization-server {
            svc_oauth_metadata on;
        }
EOT


# Returns a server that is not started yet, whose base URL is the one with TLS.
#  host: the name in the base URL, for a browser, which then gets the pages of
# conf/www.  Timeouts are long, so that no client is told to retry later because
# the machine is busy.

sub clients_server {
    my ($host) = @_;

    my $s = oauth_server(locations => $METADATA);
    my $tls = SvcTest::Nginx::free_port();
    my ($pem, $key) = certificate($s);
    my ($status, $text) = run([
        qw(openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1
           -subj /CN=as -addext), 'subjectAltName=IP:127.0.0.1,DNS:localhost',
        '-keyout', $key, '-out', $pem
    ]);

    die "openssl: $text\n" if $status;

    $s->nginx->{server} = <<"EOT";
        listen 127.0.0.1:$tls ssl;
        ssl_certificate $pem;
        ssl_certificate_key $key;
EOT
    $s->nginx->{svc} = { %{ $s->nginx->{svc} },
                         map({ ("svc_${_}_timeout" => '30s') }
                             qw(postgres postgres_connect postgres_queue redis)),
                         svc_password_hash => 'timeout=30s',
                         $host ? () : (svc_login_url => '/signin/'),
                         svc_base_url => 'https://' . ($host // '127.0.0.1') . ":$tls" };

    return $s;
}


# Returns the files of the certificate, which clients have to trust, and of its
# key.

sub certificate {
    my ($s) = @_;

    return map { $s->dir . "/as.$_" } qw(pem key);
}


# Has a program of SvcTest::Party try clients, with a user who signs in when
# they ask for a visit.  Returns how many tests there were.  clients: for each
# one the path of its redirect URI (on a port of its own) or the whole URI, the
# path after a logout, and members of its application.

sub play {
    my ($s, $command, $clients) = @_;

    my $acme = $s->tenant('acme');
    my $email = 'ada@acme.test';

    $s->secret($PASSWORD);

    my $ada = $s->{ada} //= with_password($s, $acme, userName => $email,
                                          displayName => 'Ada Lovelace');
    my $b = SvcTest::Browser->new($s, tenant => 'acme');
    my ($pem) = certificate($s);
    my @trust = map { "$_=$pem" }
                qw(NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE SSL_CERT_FILE);

    return party([ 'env', @trust, @$command ], {
        issuer => "$s->{nginx}{svc}{svc_base_url}/oauth/t/acme",
        email => $email, sub => $ada->{id},
        clients => { map { $_ => client($acme, $_, %{ $clients->{$_} }) } keys %$clients },
    }, visit => sub { visited($s, $b, $_[0], $email) });
}


sub client {
    my ($tenant, $name, %app) = @_;

    my $port = SvcTest::Nginx::free_port();
    my $redirect = delete $app{redirect} // "http://localhost:$port" . delete $app{path};

    my $goodbye = "http://localhost:$port" . (delete $app{goodbye} // '/bye');

    return { port => $port, redirect => $redirect, goodbye => $goodbye,
             %{ application($tenant, name => $name, type => 'web',
                            redirectUris => [ $redirect ],
                            postLogoutRedirectUris => [ $goodbye ], %app) } };
}


sub visited {
    my ($s, $b, $url, $email) = @_;

    my ($to, $form) = arrive($b, $url, $email);

    $s->secret($_) for grep { defined } $to =~ /[?&]code=([\w-]+)/, $form && $form->{code};

    return { url => $to, form => $form };
}


1;
