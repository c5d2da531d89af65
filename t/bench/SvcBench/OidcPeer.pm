package SvcBench::OidcPeer;

# The peer of OAuth: oidc-provider on Node.js, of t/bench/peer, with its records
# in memory, or in a database of its own in the PostgreSQL of a system.

use strict;
use warnings;

use MIME::Base64 qw(encode_base64);

use SvcBench::Load;
use SvcBench::Peer;
use SvcTest::Http;
use SvcTest::Nginx;
use SvcTest::Npm qw(npm_install);
use SvcTest::Process qw(alive children slurp spawn wait_for);


my $WORKERS = 2;
my $CONNECTIONS = 64;
my $RESOURCE = 'https://api.bench.test';
my $BASIC = 'Basic ' . encode_base64('bench:bench-secret-of-32-characters-xx', '');
my $FORM = 'application/x-www-form-urlencoded';
my $GRANT = 'grant_type=client_credentials&scope=invoices:read';


# stored: in PostgreSQL.  Installs the packages when they are missing.

sub new {
    my ($class, $system, %opt) = @_;

    SvcBench::Peer::node_version();

    my $self = bless {
        system => $system, stored => $opt{stored},
        port => SvcTest::Nginx::free_port(),
        log => "$system->{dir}/oidc." . ($opt{stored} ? 'pg' : 'memory') . '.log',
        code => npm_install($system->{s}->root, 't/bench/peer', 'build/peer'),
    }, $class;

    $self->make_database if $opt{stored};
    $self->start;

    $self->{token} = $self->token;

    return $self;
}


sub make_database {
    my ($self) = @_;

    my $pg = $self->{system}{s}->pg;

    $pg->connect('postgres', 'postgres')->query('CREATE DATABASE oidc');
    $self->{system}->psql('postgres', '-f', "$self->{code}/oidc.sql", '-d',
                          "host=$pg->{dir} port=5432 dbname=oidc user=postgres");
}


sub start {
    my ($self) = @_;

    $self->{pid} = spawn([ 'node', "$self->{code}/oidc.mjs" ],
        out => $self->{log}, env => {
            PEER_PORT => $self->{port}, PEER_WORKERS => $WORKERS,
            PEER_RESOURCE => $RESOURCE, NODE_ENV => 'production',
            $self->{stored} ? (PEER_PG => $self->{system}{s}->pg->{dir}) : (),
        });

    wait_for {
        my @workers = children($self->{pid});

        @workers == $WORKERS && eval { $self->token } || !alive($self->{pid});
    } 30;

    die 'oidc-provider does not start: ' . slurp($self->{log}) . "\n"
        if !alive($self->{pid});
}


# Returns an opaque token.

sub token {
    my ($self) = @_;

    my $c = SvcTest::Http->new(host => '127.0.0.1', port => $self->{port});
    my $r = $c->request(POST => '/token',
                        [ Authorization => $BASIC, 'Content-Type' => $FORM,
                          Connection => 'close' ], $GRANT);

    return $r->json->{access_token}
           // die "oidc-provider answers $r->{status} $r->{body}\n";
}


# Measures JWTs, which it does not store, and opaque tokens.

sub jwts {
    my ($self, $seconds, $below) = @_;

    return $self->post($seconds, '/token',
                       "$GRANT&resource=$RESOURCE" . ($below // ''));
}


sub tokens {
    my ($self, $seconds) = @_;

    return $self->post($seconds, '/token', $GRANT);
}


sub introspections {
    my ($self, $seconds) = @_;

    return $self->post($seconds, '/token/introspection', "token=$self->{token}");
}


sub post {
    my ($self, $seconds, $path, $body) = @_;

    my %ours = $self->{system}->processes;

    return SvcBench::Load::wrk(
        $self->{system}, 'send', seconds => $seconds, connections => $CONNECTIONS,
        method => 'POST', path => $path, body => $body,
        url => "http://127.0.0.1:$self->{port}",
        processes => { postgres => $ours{postgres}, server => { root => $self->{pid} } },
        headers => "Content-Type: $FORM\nAuthorization: $BASIC");
}


1;
