package SvcTest::Dns;

# A DNS server for the nginx under test: t/lib/dns-server.
#
#     my $dns = SvcTest::Dns->new($s);        # before $s->start
#     $dns->set('_svc-challenge.a.example' => { txt => [ [ 'text' ] ] });

use strict;
use warnings;

use JSON::PP ();

use SvcTest::Process qw(wait_for spawn slurp write_file);
use SvcTest::Skip;

needs(python => 'dnslib');


sub new {
    my ($class, $s) = @_;

    my $self = bless { zone => "$s->{dir}/zone", log => "$s->{dir}/queries",
                       names => {} }, $class;
    my $out = "$s->{dir}/dns";

    write_file($self->{log}, '');
    $self->set;

    $self->{pid} = spawn([ '/usr/bin/python3', "$s->{root}/t/lib/dns-server",
                           $self->{zone}, $self->{log} ], out => $out);

    wait_for { (slurp($out) // '') =~ /^port (\d+)$/m }
        or die 'no DNS server: ' . slurp($out) . "\n";

    ($self->{port}) = slurp($out) =~ /^port (\d+)$/m;
    $s->{nginx}{svc} = { %{ $s->{nginx}{svc} // {} },
                         svc_resolver => "127.0.0.1:$self->{port}" };

    return $self;
}


# Sets the answers for names; see the server for their form.

sub set {
    my ($self, %names) = @_;

    %{ $self->{names} } = (%{ $self->{names} }, %names);

    write_file("$self->{zone}.new",
               JSON::PP->new->utf8->encode($self->{names}));
    rename "$self->{zone}.new", $self->{zone} or die "$self->{zone}: $!\n";
}


# Returns the queries for a name, each "udp" or "tcp", in order.

sub queries {
    my ($self, $name) = @_;

    return map { /^(\w+) \Q$name\E$/ ? $1 : () } split /\n/, slurp($self->{log});
}


1;
