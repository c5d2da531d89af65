package SvcTest::Metrics;

# Reads the metrics location as strictly as Prometheus' text format is defined.
#
#     my $m = SvcTest::Metrics->get($s);
#     $m->{errors};                      # [] when the text is well formed
#     $m->value('svc_processes', process => 'worker');

use strict;
use warnings;


# The location, for an nginx.conf.

our $LOCATION = "location = /metrics { svc_metrics; }\n";


my $NAME = qr/[a-zA-Z_:][a-zA-Z0-9_:]*/;
my $LABEL = qr/[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"/;
my $VALUE = qr/[0-9]+(?:\.[0-9]+)?/;


sub get {
    my ($class, $s, %arg) = @_;

    my $r = $s->http(GET => '/metrics', undef, undef, %arg);

    die "/metrics: $r->{status}\n" if $r->{status} != 200;

    return $class->parse($r->body);
}


sub parse {
    my ($class, $text) = @_;

    my $self = bless { text => $text, family => {}, sample => {}, order => [],
                       errors => [] }, $class;

    $self->error('the last line does not end') if $text !~ /\n\z/;
    $self->line($_) for split /\n/, $text, -1;
    $self->histograms;

    return $self;
}


sub error {
    my ($self, $text) = @_;

    push @{ $self->{errors} }, $text;
}


sub line {
    my ($self, $line) = @_;

    return if $line eq '';

    if ($line =~ /^# (HELP|TYPE) ($NAME) (\S.*)$/) {
        my ($what, $name, $text) = (lc $1, $2, $3);
        my $family = $self->{family}{$name} //= { name => $name };

        $self->error("$name: a second $what") if exists $family->{$what};
        $self->error("$name: $what behind its samples") if $family->{samples};
        $self->error("$name: type $text")
            if $what eq 'type' && $text !~ /^(?:counter|gauge|histogram)$/;
        $self->error("$name: escapes in the help")
            if $what eq 'help' && $text =~ /\\(?![\\n])/;

        $family->{$what} = $text;
        $self->{current} = $name;
        return;
    }

    if ($line !~ /^($NAME)(?:\{($LABEL(?:,$LABEL)*)\})? ($VALUE)$/) {
        $self->error("not a sample: $line");
        return;
    }

    $self->sample($1, $2 // '', $3);
}


sub sample {
    my ($self, $name, $labels, $value) = @_;

    my $base = $name;

    $base =~ s/_(?:bucket|sum|count)$//
        if ($self->{family}{ $self->{current} // '' }{type} // '')
           eq 'histogram';

    my $family = $self->{family}{$base};

    if (!$family || !defined $family->{help} || !defined $family->{type}) {
        $self->error("$name: no help, or no type");
        return;
    }

    $self->error("$name: among those of $self->{current}")
        if $self->{current} ne $base;
    $self->error("$name: a counter ends with _total")
        if ($family->{type} eq 'counter') != ($name =~ /_total$/);

    $family->{samples}++;

    my @pairs = $labels =~ /([a-zA-Z0-9_]+)="((?:[^"\\]|\\.)*)"/g;
    my %labels = @pairs;

    $self->error("$name: a label twice: $labels") if 2 * keys %labels != @pairs;

    my $key = key($name, %labels);

    $self->error("$key: twice") if exists $self->{sample}{$key};
    $self->{sample}{$key} = $value;
    push @{ $self->{order} }, { name => $name, labels => \%labels,
                                value => $value };
}


# Checks that buckets are in order and cumulative, and that the last one is +Inf
# and equals the count.

sub histograms {
    my ($self) = @_;

    my %series;

    for my $s (@{ $self->{order} }) {
        my ($base, $part) = $s->{name} =~ /^(.*)_(bucket|sum|count)$/ or next;

        next if ($self->{family}{$base}{type} // '') ne 'histogram';

        my %labels = %{ $s->{labels} };
        my $le = delete $labels{le};
        my $of = $series{ key($base, %labels) } //= { bucket => [] };

        if ($part eq 'bucket') {
            push @{ $of->{bucket} }, [ $le // 'none', $s->{value} ];

        } else {
            $of->{$part} = $s->{value};
        }
    }

    for my $name (sort keys %series) {
        my ($of, $limit, $n) = ($series{$name}, -1, 0);

        for my $b (@{ $of->{bucket} }) {
            my $le = $b->[0] eq '+Inf' ? 9**9**9 : $b->[0];

            $self->error("$name: le $b->[0]") if !($le > $limit);
            $self->error("$name: not cumulative") if $b->[1] < $n;
            ($limit, $n) = ($le, $b->[1]);
        }

        $self->error("$name: no +Inf") if $limit != 9**9**9;
        $self->error("$name: no sum") if !defined $of->{sum};
        $self->error("$name: +Inf is not the count")
            if ($of->{count} // -1) != $n;
    }
}


sub key {
    my ($name, %labels) = @_;

    return $name . '{' . join(',', map { "$_=$labels{$_}" } sort keys %labels)
           . '}';
}


# Returns the value of one sample; 0 when it does not exist.

sub value {
    my ($self, $name, %labels) = @_;

    return $self->{sample}{ key($name, %labels) } // 0;
}


# Returns the sum of all samples of that name that have these labels.

sub sum {
    my ($self, $name, %labels) = @_;

    my $sum = 0;

    for my $s (grep { $_->{name} eq $name } @{ $self->{order} }) {
        $sum += $s->{value}
            if !grep { ($s->{labels}{$_} // '') ne $labels{$_} } keys %labels;
    }

    return $sum;
}


1;
