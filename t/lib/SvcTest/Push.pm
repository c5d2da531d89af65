package SvcTest::Push;

# Outbound SCIM without nginx: build/unit/push_eval, which makes the requests, and
# t/lib/scim-receiver.mjs, which answers them well or badly.
#
#     my $push = SvcTest::Push->new($root, timeout => 2000);
#     my $got = $push->user('store/none', { userName => ..., active => true });
#     my @requests = $push->requests('store');

use strict;
use warnings;

use File::Temp ();
use HTTP::Tiny;
use IO::Handle;
use IPC::Open3;

use JSON::PP ();
use SvcTest::Process qw(spawn wait_for slurp);
use SvcTest::Receiver;
use SvcTest::Skip;

needs(program => 'node');


my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;

our $TOKEN = 'secret-token-of-the-target';
our $USER = '11111111-2222-4333-8444-555555555555';


# timeout: ms; allow: addresses, or '-'; proxy.

sub new {
    my ($class, $root, %opt) = @_;

    my $dir = File::Temp::tempdir('/tmp/svc.XXXXXX', CLEANUP => 1);

    (bless { dir => $dir }, 'SvcTest::Receiver')->certificates;

    my $self = $class->server($root, $dir);

    $self->{errors} = "$dir/errors";
    @$self{qw(pid in out)} = $self->program(%opt);

    return $self;
}


# Starts the server only, with the certificates of that folder.

sub server {
    my ($class, $root, $dir) = @_;
    my $self = bless { root => $root, dir => $dir, log => "$dir/pushed", id => 0 },
                     $class;
    my $out = "$dir/scim-server";

    open my $fh, '>', $self->{log} or die "$self->{log}: $!\n";

    spawn([ 'node', "$root/t/lib/scim-receiver.mjs", $dir, $self->{log} ],
          out => $out);

    wait_for { (slurp($out) // '') =~ /^ready$/m }
        or die 'no SCIM server: ' . slurp($out) . "\n";

    @$self{qw(port control)} = slurp($out) =~ /^(?:port|control) (\d+)$/mg;

    return $self;
}


# Starts another process of the program that pushes.

sub program {
    my ($self, %opt) = @_;

    open my $err, '>>', $self->{errors} or die "$self->{errors}: $!\n";

    local $ENV{ASAN_OPTIONS} = join ':', $ENV{ASAN_OPTIONS} // (), 'detect_leaks=1';
    delete local @ENV{qw(http_proxy https_proxy HTTPS_PROXY)};

    my $pid = open3(my $in, my $out, '>&' . fileno $err,
                    "$self->{root}/build/unit/push_eval",
                    $opt{ca} // "$self->{dir}/ca.pem", $opt{timeout} // 10000,
                    $opt{allow} // '127.0.0.0/8', $opt{proxy} // '-');

    binmode $_ for $in, $out;
    $in->autoflush;

    return ($pid, $in, $out);
}


sub url {
    my ($self, $path) = @_;

    return $path =~ /^https:/ ? $path : "https://127.0.0.1:$self->{port}/$path";
}


# Begins an operation; returns its id.

sub begin {
    my ($self, $op, $path, %arg) = @_;

    my $id = ++$self->{id};

    print { $self->{in} } $JSON->encode({ id => $id, op => $op,
        url => $self->url($path), token => $TOKEN, patch => JSON::PP::true,
        %arg }), "\n";

    return $id;
}


sub cancel {
    my ($self, $id) = @_;

    print { $self->{in} } $JSON->encode({ id => $id, op => 'cancel' }), "\n";
}


# Waits for the next operation that ends, and returns its outcome.

sub next {
    my ($self) = @_;

    my $line = readline $self->{out};

    die 'push_eval: ' . slurp($self->{errors}) . "\n" if !defined $line;

    my $got = $JSON->decode($line);

    $_ = $_ ? 1 : 0 for grep { JSON::PP::is_bool($_) } values %$got;

    return $got;
}


sub do {
    my ($self, @arg) = @_;

    $self->begin(@arg);

    return $self->next;
}


# Pushes one user.  want: the user; without an id it gets $USER.

sub user {
    my ($self, $path, $want, %arg) = @_;

    return $self->do(user => $path, want => { id => $USER, %$want }, %arg);
}


# Pushes the same user again, with the record that the last push has left.

sub again {
    my ($self, $path, $want, $got, %arg) = @_;

    return $self->user($path, $want, map({ $_ => $got->{$_} }
                                         grep { defined $got->{$_} }
                                         qw(remoteId remoteHash sent)),
                       remoteActive => $got->{remoteActive} ? JSON::PP::true
                                                            : JSON::PP::false,
                       %arg);
}


# Returns the requests that came to a store since the last call: "GET
# /Users?filter=..." by method and url, with body and headers.  The last line
# may not be complete yet.

sub requests {
    my ($self, $store) = @_;

    open my $fh, '<:raw', $self->{log} or die "$self->{log}: $!\n";
    my @all = map { $JSON->decode($_) } grep { /\n\z/ } readline $fh;

    my $from = $self->{seen}{$store} // 0;
    my @mine = grep { $_->{store} eq $store } @all;

    $self->{seen}{$store} = @mine;

    for (@mine) {
        $_->{json} = eval { $JSON->decode($_->{body}) };
        $_->{line} = "$_->{method} $_->{url}";
    }

    splice @mine, 0, $from;

    return @mine;
}


# Returns the users of a store, and sets them first when there are @users.

sub users {
    my ($self, $store, @users) = @_;

    my $url = "http://127.0.0.1:$self->{control}/$store";
    my $http = HTTP::Tiny->new(timeout => 10);
    my $r = @users ? $http->put($url, { content => $JSON->encode(\@users) })
                   : $http->get($url);

    die "$url: $r->{status} $r->{content}\n" if !$r->{success};

    return @{ $JSON->decode($r->{content}) };
}


# Makes a store answer all requests with this status, until it is set to 0.

sub away {
    my ($self, $store, $status) = @_;

    my $url = "http://127.0.0.1:$self->{control}/$store";
    my $r = HTTP::Tiny->new(timeout => 10)->patch($url, { content => $status });

    die "$url: $r->{status} $r->{content}\n" if !$r->{success};
}


# Opens the gate of a store: the waiting requests and all later ones are
# answered.

sub open_gate {
    my ($self, $store) = @_;

    my $url = "http://127.0.0.1:$self->{control}/$store";
    my $r = HTTP::Tiny->new(timeout => 10)->post($url);

    die "$url: $r->{status} $r->{content}\n" if !$r->{success};
}


# Ends the program.  Returns its status, and what it and the sanitizers wrote.

sub end {
    my ($self) = @_;

    close $self->{in};
    waitpid $self->{pid}, 0;

    return ($?, slurp($self->{errors}) // '');
}


1;
