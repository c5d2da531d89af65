package SvcTest::Fetch;

# Fetches by the nginx under test, through the location of t/module.
#
#     my $fetch = SvcTest::Fetch->new($s);            # before $s->start
#     my $got = $fetch->get($url, limit => 1000);     # outcome, status, answer, ...
#     my $c = $fetch->begin($url);                    # ... $fetch->read($c)
#
# Arguments are those of the location, and tenant.

use strict;
use warnings;

use SvcTest::Metrics;
use SvcTest::Process qw(wait_for);


our $TENANT = '00000000-0000-7000-8000-000000000001';


# %svc: directives, over those that svc_federation needs.

sub new {
    my ($class, $s, %svc) = @_;
    my $nginx = $s->nginx;

    $nginx->{load} = [ map { "ngx_http_svc_${_}_module.so" }
                       qw(common scim admin webhook test) ];
    $nginx->{locations} .= "location = /fetch { svc_test_fetch; }\n"
                           . $SvcTest::Metrics::LOCATION;
    $nginx->{server} .= "large_client_header_buffers 4 64k;\n";
    $nginx->{svc} = { svc_federation => 'on', svc_sign_in => 'on',
                      svc_federation_allow => '127.0.0.1/32',
                      %{ $nginx->{svc} // {} }, %svc };

    return bless { s => $s }, $class;
}


sub path {
    my ($url, %arg) = @_;

    $arg{url} = $url;
    $arg{tenant} //= $TENANT;

    return '/fetch?' . join '&', map {
        "$_=" . ($arg{$_} =~ s/([^A-Za-z0-9])/sprintf '%%%02X', ord $1/ger)
    } sort keys %arg;
}


sub get {
    my ($self, $url, %arg) = @_;
    my %to = exists $arg{port} ? (port => delete $arg{port}) : ();

    return parsed($self->{s}->http(GET => path($url, %arg), undef, undef, %to));
}


# Begins a fetch, on a connection of its own.

sub begin {
    my ($self, $url, %arg) = @_;

    return $self->{s}->begin(GET => path($url, %arg), [ Connection => 'close' ]);
}


sub read {
    my ($self, $c) = @_;
    my $r = $c->read or die 'no answer: ' . $c->error . "\n";

    return parsed($r);
}


sub parsed {
    my ($r) = @_;
    my %got;

    die "/fetch: $r->{status}\n" if $r->{status} != 200;

    (@got{qw(outcome status max_age type etag why)}, my $empty, $got{answer})
        = split /\n/, $r->{body}, 8;

    return \%got;
}


# Returns whether fetches can be made, as the worker believes.

sub ready {
    my ($self) = @_;

    return $self->{s}->http(GET => '/fetch?ready=1')->{body};
}


# Waits until the helper is there, and returns its pid.

sub helper {
    my ($self, $other) = @_;
    my $pid;

    wait_for {
        ($pid) = grep { $_ != ($other // 0) } $self->{s}->nginx->helper_pids;
        $pid && $self->keys('svc.fetch.helpers');
    } or die "no helper\n";

    return $pid;
}


# Returns the names of Redis' keys.

sub keys {
    my ($self, $pattern) = @_;

    return grep { length } $self->{s}->redis->lines(KEYS => $pattern // 'svc.fetch*');
}


# Returns how many fetches are under way, as Redis has it.

sub pending {
    my ($self) = @_;

    return ($self->{s}->redis->lines(ZCARD => 'svc.fetch.pending'))[0];
}


sub count {
    my ($self, $outcome) = @_;

    return SvcTest::Metrics->get($self->{s})->value('svc_fetches_total',
                                                    outcome => $outcome);
}


1;
