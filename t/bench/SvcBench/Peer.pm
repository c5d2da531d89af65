package SvcBench::Peer;

# The peer: the same SCIM users by fastify and pg, of t/bench/peer, in a
# database of its own in the PostgreSQL of a system, with the same token and
# users.  When it is measured it replaces a SvcBench::System.

use strict;
use warnings;

use JSON::PP ();

use SvcTest::Http;
use SvcTest::Nginx;
use SvcTest::Npm qw(npm_install);
use SvcTest::Process qw(alive children run_apart slurp spawn wait_for);


my $WORKERS = 2;
my $NODE = 20;
my $JSON = JSON::PP->new->utf8->canonical;


# Starts beside a system with one seeded tenant; installs the packages when they
# are missing.

sub new {
    my ($class, $system) = @_;

    my $self = bless {
        system => $system, dir => $system->{dir}, here => $system->{here},
        users => $system->{users}, tokens => $system->{tokens},
        port => SvcTest::Nginx::free_port(), log => "$system->{dir}/peer.log",
        code => npm_install($system->{s}->root, 't/bench/peer', 'build/peer'),
    }, $class;

    $self->make_database;
    $self->start;

    return $self;
}


# Returns the version of Node.js; dies when there is none on which fastify runs.

sub node_version {
    my ($status, $text) = run_apart([ 'node', '--version' ]);
    my ($npm) = run_apart([ 'npm', '--version' ]);

    die "the peer needs Node.js, and npm for its packages: install them, as"
        . " \"make deps-test\" does\n" if $status != 0 || $npm != 0;

    my ($version, $major) = $text =~ /^v((\d+)\S*)$/m
        or die "node --version: $text\n";

    die "the peer needs Node.js $NODE or newer: this is $version\n"
        if $major < $NODE;

    return $version;
}


sub make_database {
    my ($self) = @_;

    my $system = $self->{system};
    my $pg = $system->{s}->pg;

    $pg->connect('postgres', 'postgres')->query('CREATE DATABASE peer');
    $self->{client} = $pg->connect('postgres', 'peer');

    $self->psql('-f', "$self->{code}/schema.sql");
    $self->psql('-f', "$self->{code}/seed.sql", '-v', "users=$self->{users}",
                '-v', "tenant=$system->{tenants}[0]{id}",
                '-v', 'hash=' . $system->hash(0));
    $self->{client}->query('CHECKPOINT');
}


sub psql {
    my ($self, @arg) = @_;

    $self->{system}->psql('postgres', @arg, '-d',
                          "host=$self->{system}{s}{pg}{dir} port=5432"
                          . ' dbname=peer user=postgres');
}


# Starts it.  Its answers have the same URLs as the system's, so that they can
# be compared.

sub start {
    my ($self) = @_;

    $self->{pid} = spawn([ 'node', "$self->{code}/server.js" ],
        out => $self->{log}, env => {
            PEER_PORT => $self->{port}, PEER_WORKERS => $WORKERS,
            PEER_BASE => $self->{system}->base_url,
            PEER_PG => $self->{system}{s}->pg->{dir},
            NODE_ENV => 'production',
        });

    wait_for { $self->workers == $WORKERS && eval { $self->get(0) }
               || !alive($self->{pid}) } 20;

    die 'the peer does not start: ' . slurp($self->{log}) . "\n"
        if !alive($self->{pid});
}


# --- as a system --------------------------------------------------------------

sub base_url {
    my ($self) = @_;

    return "http://127.0.0.1:$self->{port}";
}


sub workers {
    my ($self) = @_;

    my @pids = children($self->{pid});

    return @pids;
}


sub processes {
    my ($self) = @_;

    my %ours = $self->{system}->processes;

    return (postgres => $ours{postgres}, server => { root => $self->{pid} });
}


sub value {
    my ($self, $query) = @_;

    return $self->{client}->query($query)->[0][0];
}


sub events {
    my ($self) = @_;

    return $self->value('SELECT count(*) FROM audit_event');
}


sub created {
    my ($self) = @_;

    return $self->value("SELECT count(*) FROM user_account"
                        . " WHERE source = 'scim'");
}


sub inactive {
    my ($self) = @_;

    return map { $_->[0] } @{ $self->{client}->query(
        'SELECT right(id::text, 12)::bigint FROM user_account'
        . " WHERE status <> 'active'") };
}


sub reset {
    my ($self) = @_;

    $self->psql('-f', "$self->{code}/reset.sql");
}


sub complaints {
    my ($self) = @_;

    return split /^/, slurp($self->{log}) // '';
}


# --- its answers --------------------------------------------------------------

# Returns an answer of one of the two; undef when there is none.

sub answer {
    my ($self, $base, $method, $path, $body, $token) = @_;

    my ($port) = $base =~ /:(\d+)$/;
    my $c = SvcTest::Http->new(host => '127.0.0.1', port => $port);
    my $headers = [
        Authorization => 'Bearer '
                         . ($token // $self->{system}{tenants}[0]{scim_token}),
        'Content-Type' => 'application/scim+json', 'User-Agent' => 'bench',
        Connection => 'close' ];

    return $c->request($method, "/scim/v2$path", $headers,
                       $body && $JSON->encode($body));
}


sub get {
    my ($self, $user) = @_;

    return $self->answer($self->base_url, GET => '/Users/'
                         . SvcBench::System::user_id($user))->status == 200;
}


# Checks that both give the same answers to the same requests, except for ids
# and times, and that both have stored the same afterwards.

sub check {
    my ($self) = @_;

    my $id = SvcBench::System::user_id(7);
    my %new = (schemas => [ 'urn:ietf:params:scim:schemas:core:2.0:User' ],
               userName => 'New@Bench.test', externalId => 'new',
               displayName => 'N', title => "\"T\"", locale => 'en-US',
               name => { givenName => 'G', familyName => 'F' });
    my $patch = sub { { Operations => [ { op => 'replace', path => 'active',
                                          value => $_[0] } ] } };

    $self->same(401, GET => "/Users/$id", undef, 'nobody');
    $self->same(404, GET => '/Users/' . SvcBench::System::user_id(999_999_999));
    $self->same(200, GET => "/Users/$id");
    $self->same(200, GET => '/Users?filter=userName%20eq%20%22USER7%40'
                            . 'bench0.test%22');
    $self->same(200, GET => '/Users?filter=userName%20eq%20%22nobody%22');
    $self->same(201, POST => '/Users', { %new });
    $self->same(409, POST => '/Users', { %new, externalId => 'other' });
    $self->same(409, POST => '/Users', { %new, userName => 'o@bench.test' });
    $self->same(200, PATCH => "/Users/$id", $patch->(JSON::PP::false));
    $self->same(200, PATCH => "/Users/$id", $patch->(JSON::PP::false));
    $self->same(200, GET => "/Users/$id");
    $self->same(200, PATCH => "/Users/$id", $patch->(JSON::PP::true));
    $self->same(200, PUT => "/Users/$id", { %new, externalId => 'ext-7' });
    $self->same(409, PUT => "/Users/$id", { %new, externalId => 'new' });
    $self->same(200, GET => "/Users/$id");
    $self->same_events;
    $self->restore(7);
}


sub same {
    my ($self, $status, @request) = @_;

    my @replies = map { $self->answer($_, @request) }
                  $self->{system}->base_url, $self->base_url;

    for my $reply (@replies) {
        die "$request[0] $request[1]: $reply->{status} $reply->{body}\n"
            if $reply->status != $status;
    }

    my ($ours, $its) = map { comparable($_->body, @request) } @replies;

    die "$request[0] $request[1]: ours $ours, the peer's $its\n"
        if $status < 300 && $ours ne $its;
}


# Removes what is different at each change.

sub comparable {
    my ($body, $method) = @_;

    my $json = $JSON->decode($body);
    my @users = @{ $json->{Resources} // [ $json ] };

    for my $user (@users) {
        delete $user->{meta}{lastModified};
        delete @$user{qw(id meta)} if $method eq 'POST';
    }

    return $JSON->encode($json);
}


sub same_events {
    my ($self) = @_;

    my $query = 'SELECT action, actor_type, target_type, ip, user_agent,'
                . ' length(request_id), details FROM %s ORDER BY id';
    my ($ours, $its) = map { $JSON->encode($_) }
        [ $self->{system}{s}->sql(sprintf $query, 'svc.audit_event') ],
        $self->{client}->query(sprintf $query, 'audit_event');

    die "events: ours $ours, the peer's $its\n" if $ours ne $its;
}


# Takes back what check() has changed.

sub restore {
    my ($self, $user) = @_;

    my $set = "external_id = 'ext-$user', first_name = 'Grace', last_name ="
              . " 'Hopper $user', display_name = 'Grace Hopper $user', title ="
              . " 'Rear Admiral', department = 'Research' WHERE id = '"
              . SvcBench::System::user_id($user) . "'";

    $self->{system}{s}->sql("UPDATE svc.user_account SET $set");
    $self->{client}->query("UPDATE user_account SET $set");
    $self->{system}->reset;
    $self->reset;
}


1;
