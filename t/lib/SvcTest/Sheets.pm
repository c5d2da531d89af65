package SvcTest::Sheets;

# Holds the sheets of the pages, of which lists and forms are made, to the contract.
#
#     my $c = SvcTest::Sheets->new($document, sensitive => { 'PUT /v1/x/{}' => 1 });
#     my @faults = $c->faults($sheets);       # sheets by their names
#     my @faults = $c->declares($operations); # what views call besides
#     my @left = $c->left;                    # operations that nothing uses

use strict;
use warnings;

use JSON::PP ();
use List::Util qw(any);

# which schemas a kind of a column or of a field goes with

my %TEXT = map { $_ => 'string' } qw(text code link word badge email url password color
                                    lines choice);
my %KIND = (
    column => { %TEXT, copy => 'string', number => 'integer number', ms => 'integer',
                time => 'date-time', used => 'date-time', end => 'date-time',
                yes => 'boolean', on => 'boolean', list => 'array', count => 'array',
                tags => 'array', node => 'object',
                some => 'integer', actor => 'object', person => 'object' },
    field => { %TEXT, choice => 'string integer', number => 'integer number', time => 'date-time', switch => 'boolean',
               checks => 'array', list => 'array', rows => 'array', duration => 'integer', json => 'object',
               pick => 'string' },
);


sub new {
    my ($class, $document, %opt) = @_;

    my $self = bless { document => $document, sensitive => $opt{sensitive} // {} }, $class;

    for my $path (keys %{ $document->{paths} }) {
        my $item = $document->{paths}{$path};

        for my $method (grep { !/^parameters$/ } keys %$item) {
            $self->{operation}{ key(uc $method, $path) }
                = { %{ $item->{$method} }, name => uc($method) . " $path",
                    parameters => [ map { $self->plain($_) }
                                    @{ $item->{parameters} // [] },
                                    @{ $item->{$method}{parameters} // [] } ] };
        }
    }

    return $self;
}


# Returns the name of an operation whatever its parameters are called.

sub key {
    my ($method, $path) = @_;

    return "$method " . $path =~ s/\{\w+\}/{}/gr;
}


# Returns the names of the operations that nothing uses so far and that somebody needs
# some right for.

sub left {
    my ($self) = @_;

    return sort map { $_->{name} } grep { defined $_->{'x-permission'} && !$_->{used} }
           values %{ $self->{operation} };
}


# --- schemas ----------------------------------------------------------------------------

# Returns a schema, or a parameter, without references: with the members of all schemas
# that it is made of, or may be.

sub plain {
    my ($self, $schema) = @_;
    my %all = %{ $schema // {} };

    while (my $ref = delete $all{'$ref'}) {
        my $at = $self->{document};

        $at = $at->{$_} // die "no $ref\n" for grep { $_ ne '#' } split m{/}, $ref;
        %all = (%$at, %all);
    }

    for my $part (map { $self->plain($_) } @{ delete $all{allOf} // [] }) {
        my %required = map { $_ => 1 } map { @{ $_->{required} // [] } } \%all, $part;
        my %properties = map { %{ $_->{properties} // {} } } $part, \%all;

        %all = (%$part, %all, properties => \%properties, required => [ keys %required ]);
    }

    my @kinds = grep { ($_->{type} // '') ne 'null' } map { $self->plain($_) }
                @{ $all{oneOf} // [] };

    if (@kinds && !grep { !$_->{properties} } @kinds) {
        $all{properties} = { map { %{ $_->{properties} // {} } } @kinds, \%all };
        $all{required} //= $kinds[0]{required} if @kinds == 1;
    }

    return \%all;
}


# Returns the schema of a member; "a.b" is one of a member's.

sub member {
    my ($self, $schema, $name) = @_;

    for my $part (split /\./, $name) {
        my $property = $schema->{properties}{$part} // return;

        $schema = $self->plain($property);
    }

    return $schema;
}


sub answer {
    my ($self, $operation) = @_;

    my ($status) = grep { /^2/ } sort keys %{ $operation->{responses} };
    my $response = $self->plain($operation->{responses}{$status});

    return $self->plain($response->{content}{'application/json'}{schema});
}


sub body {
    my ($self, $operation) = @_;
    my $content = $self->plain($operation->{requestBody})->{content} // return;

    return $self->plain((map { $content->{$_}{schema} } sort keys %$content)[0]);
}


sub types {
    my ($schema) = @_;
    my $type = $schema->{type} // [];

    return ref $type ? @$type : $type;
}

sub is_nullable {
    my ($schema) = @_;

    return any { $_ eq 'null' } map { types($_) } $schema, @{ $schema->{oneOf} // [] };
}


# --- sheets -----------------------------------------------------------------------------

sub faults {
    my ($self, $sheets) = @_;

    local $self->{faults} = [];

    for my $name (sort keys %$sheets) {
        local $self->{at} = $name;

        $self->sheet($sheets->{$name});
    }

    return @{ $self->{faults} };
}


sub declares {
    my ($self, $operations) = @_;

    local $self->{faults} = [];
    local $self->{at} = 'operations';

    for my $name (@$operations) {
        my ($method, $path) = $name =~ m{^([A-Z]+) (/v1/\S+)$};

        $self->fault(qq{"$name" is no method and path}), next if !$path;
        $self->operation($method, $path =~ s{^/v1}{}r);
    }

    return @{ $self->{faults} };
}


sub fault {
    my ($self, $text) = @_;

    push @{ $self->{faults} }, "$self->{at}: $text";

    return;
}


# Returns an operation, which counts as used then.

sub operation {
    my ($self, $method, $path) = @_;

    my $operation = $self->{operation}{ key($method, "/v1$path") }
        // return $self->fault("there is no $method /v1$path");

    $operation->{used} = 1;

    return $operation;
}


sub allowed {
    my ($self, $operation, $needs) = @_;
    my $permission = $operation->{'x-permission'} // '';

    $permission = undef if $permission =~ /^(?:|any|session)$/;
    $self->fault("$operation->{name} needs " . ($permission // 'no permission') . ', not '
                 . ($needs // 'none'))
        if ($permission // '') ne ($needs // '');
}


sub sheet {
    my ($self, $sheet) = @_;

    my $path = $sheet->{path} // return $self->fault('no path');
    my $one = $sheet->{list} ? "$path/{}" : $path;
    my $changes = $sheet->{changes} // $sheet->{needs};
    my $item = {};

    if (my $get = $self->operation(GET => $path)) {
        $self->allowed($get, $sheet->{needs});
        $item = $self->answer($get);
        $item = $self->list($sheet, $get, $item) if $sheet->{list};
    }

    if ($sheet->{list} && $sheet->{one} and my $get = $self->operation(GET => $one)) {
        $self->allowed($get, $sheet->{needs});
        $item = { %$item, properties => { map { %{ $_->{properties} // {} } }
                                          $item, $self->answer($get) } };
    }

    $self->shows($sheet, $item);

    my @bodies;

    for (map { [ $_, $_ eq 'create' ? $path : $one ] } qw(create change remove)) {
        my ($act, $at) = @$_;
        my $method = $sheet->{$act} // next;
        my $operation = $self->operation($method, $at) // next;

        $self->allowed($operation, $changes);
        push @bodies, [ $operation->{name}, $act, $self->body($operation) ]
            if $act ne 'remove';
    }

    $self->form($sheet->{form}, [ keys %{ $sheet->{fixed} // {} },
                                  @{ $sheet->{leaves} // [] } ], @bodies)
        if $sheet->{form} || @bodies;

    $self->act($_, $sheet->{acts}{$_}, $item, $changes)
        for sort keys %{ $sheet->{acts} // {} };

    for my $name (sort keys %$sheet) {
        my $part = $sheet->{$name};

        next if ref $part ne 'HASH' || $name eq 'acts';

        local $self->{at} = "$self->{at}.$name";

        if ($name eq 'add' || $name eq 'takes') {
            $self->act($name, { path => $path, $part->{member}
                                ? (body => { $part->{member} => 1 }) : (), %$part }, {}, $changes);
        } elsif (defined $part->{path}) {
            $part->{method} ? $self->act($name, $part, {}, $changes) : $self->sheet($part);
        }
    }
}


# Holds what a sheet says of a list, and returns the schema of its items.

sub list {
    my ($self, $sheet, $get, $answer) = @_;

    my $list = $self->member($answer, $sheet->{list})
        // $self->fault("the answer has no \"$sheet->{list}\"") // {};
    my %query = map { $_->{name} => $self->plain($_->{schema}) }
                grep { $_->{in} eq 'query' } @{ $get->{parameters} };

    $self->fault("$get->{name} has no parameter \"$_\"")
        for grep { !$query{$_} } sort $sheet->{find} // (), keys %{ $sheet->{filters} // {} },
                                      keys %{ $sheet->{query} // {} };

    for my $name (sort grep { $query{$_} } keys %{ $sheet->{filters} // {} }) {
        $self->options($name, $sheet->{filters}{$name}, $query{$name});
    }

    return $self->plain($list->{items});
}


# Holds what a sheet names of an answer.

sub shows {
    my ($self, $sheet, $item) = @_;

    for my $part (qw(columns facts)) {
        for my $name (sort keys %{ $sheet->{$part} // {} }) {
            my $schema = $self->member($item, $name)
                // ($self->fault("$part: the answer has no \"$name\""), next);

            $self->fits("$part: $name", column => $sheet->{$part}{$name}, $schema);
        }
    }

    my @told = ($sheet->{tones}, map { @$_{qw(where unless)} } values %{ $sheet->{acts} // {} });
    my %named = (%{ $sheet->{instead} // {} }, map { %{ $_ // {} } } @told);

    for my $name (sort { $a cmp $b } keys %named, values %{ $sheet->{instead} // {} },
                  $sheet->{id} // (), $sheet->{typed} // (), @{ $sheet->{label} // [] })
    {
        $self->fault("the answer has no \"$name\"") if !$self->member($item, $name);
    }

    for my $values (@told) {
        for my $name (sort keys %{ $values // {} }) {
            my $schema = $self->member($item, $name) // next;
            my %value = map { $_ // '' => 1 } @{ $schema->{enum} // next };
            my $given = $values->{$name};

            $self->fault("\"$name\" is never \"$_\"")
                for grep { !$value{$_} } ref $given eq 'HASH' ? sort keys %$given : @$given;
        }
    }
}


sub fits {
    my ($self, $name, $what, $kind, $schema) = @_;

    my $types = $KIND{$what}{$kind} // return $self->fault("$name: \"$kind\" is no kind");
    my %type = map { $_ => 1 } types($schema), $schema->{format} // ();

    %type = (object => 1) if !%type && $schema->{properties};

    $self->fault("$name: a \"$kind\", which the contract has as " . join ' ', sort keys %type)
        if %type && !grep { $type{$_} } split / /, $types;
}


sub options {
    my ($self, $name, $options, $schema) = @_;

    my $enum = $schema->{enum};

    return if ref $options ne 'ARRAY' || !$enum;

    my ($ours, $theirs) = map { join ' ', sort grep { defined } @$_ } $options, $enum;

    $self->fault("$name: the options are \"$ours\", and \"$theirs\" in the contract")
        if $ours ne $theirs;
}


# --- forms ------------------------------------------------------------------------------

# Holds the fields to the bodies that they become: [ name, "create" or "change", schema ].

sub form {
    my ($self, $form, $leaves, @bodies) = @_;
    my %given = map { $_ => 1 } @$leaves, keys %{ $form // {} };

    for (@bodies) {
        my ($operation, undef, $schema) = @$_;

        $self->fault("$operation: neither a field nor left: \"$_\"")
            for $self->lacks($schema // {}, '', \%given);
    }

    for my $name (sort keys %{ $form // {} }) {
        my @found = map { [ $_->[1], $_->[2], $self->member($_->[2] // {}, $name) // () ] }
                    @bodies;

        @found = grep { @$_ == 3 } @found;
        $self->fault("form: no body has \"$name\"") if !@found;
        $self->field($name, $form->{$name}, @$_) for @found;
        $self->needed($name, $form->{$name}, $found[0]) if @found;
    }

    $self->fault("leaves: no body has \"$_\"")
        for grep { my $name = $_;
                   !grep { $self->member($_->[2] // {}, $name) } @bodies } sort @$leaves;
}


# Returns the members of a body that are not given.  Of several ways one is enough.

sub lacks {
    my ($self, $schema, $above, $given) = @_;
    my @ways = map { $self->plain($_)->{required} // () }
               @{ $schema->{oneOf} // $schema->{anyOf} // [] };
    my %other;

    if (my ($way) = grep { !grep { !$given->{"$above$_"} } @$_ } @ways) {
        %other = map { $_ => 1 } map { @$_ } @ways;
    }

    return map {
        my $name = "$above$_";
        my $part = $self->plain($schema->{properties}{$_});

        $given->{$name} || $other{$_} ? ()
            : (any { index($_, "$name.") == 0 } keys %$given)
              ? $self->lacks($part, "$name.", $given) : $name;
    } sort keys %{ $schema->{properties} // {} };
}


sub field {
    my ($self, $name, $field, undef, undef, $schema) = @_;

    my $kind = $field->{kind} // return $self->fault("form: $name has no kind");
    my $items = $schema->{items} ? $self->plain($schema->{items}) : $schema;

    $self->fits("form: $name", field => $kind, $schema);
    $self->options("form: $name", $field->{options}, $items);

    return if $kind eq 'choice' || $kind eq 'checks';

    for my $end (qw(max min)) {
        my ($is) = grep { defined } map { $schema->{"${end}$_"} } qw(Length imum Items);
        my $said = $field->{$end};

        # The first character is what "must" asks for.  A pattern has limits, too: the
        # server says what it takes.

        next if !defined $said && ($end eq 'min' && $kind ne 'number'
                                   && (($is // 0) <= 1 || $schema->{pattern})
                                   || $kind eq 'list')
                || defined $said && !defined $is && $schema->{pattern};

        $self->fault("form: $name has the $end " . ($said // 'none') . ', not ' . ($is // 'none'))
            if ($said // '') ne ($is // '');
    }
}


# Holds whether a field must be filled in: where something is made, because it is
# required; where something is changed, because it cannot be null.

sub needed {
    my ($self, $name, $field, $found) = @_;
    my ($act, $body, $schema) = @$found;

    return if any { $_ eq 'boolean' || $_ eq 'array' || $_ eq 'object' } types($schema);

    my ($above, $last) = $name =~ /^(?:(.*)\.)?([^.]+)$/;
    my $parent = defined $above ? $self->member($body, $above) : $body;
    my $required = any { $_ eq $last } @{ $parent->{required} // [] };

    my $must = $act eq 'create' ? $required : !is_nullable($schema);

    $self->fault("form: $name " . ($must ? 'must' : 'need not') . ' be filled in')
        if !$must != !$field->{must};
}


# --- acts -------------------------------------------------------------------------------

sub act {
    my ($self, $name, $act, $item, $changes) = @_;

    local $self->{at} = "$self->{at}.$name" if $self->{at} !~ /\.\Q$name\E$/;

    my $path = $act->{path} // return $self->fault('no path');
    my $method = $act->{method} // return $self->fault('no method');
    my $operation = $self->operation($method, $path) // return;
    my $sensitive = $self->{sensitive}{ key($method, "/v1$path") };

    $self->allowed($operation, $act->{needs} // $changes);

    $self->fault($sensitive ? 'asks for a fresh factor: "sensitive"' : 'is not sensitive')
        if $act->{kind} && !$sensitive != !$act->{sensitive};

    $self->fault("\"$act->{kind}\" is no kind")
        if defined $act->{kind} && $act->{kind} !~ /^(?:undo|confirm|type)$/;

    if (%$item) {
        $self->fault("the answer has no \"$_\"")
            for grep { $_ ne ($act->{above} // '') && !$self->member($item, $_) }
                $path =~ /\{(\w+)\}/g;
    }

    my $body = $self->body($operation) // {};
    my @fixed = sort map { keys %{ $act->{$_} // {} } } qw(body give);

    $self->fault("the body has no \"$_\"") for grep { !$self->member($body, $_) } @fixed;
    # What gives a member of what is there leaves the others as they are.

    return if $act->{give} && $method eq 'PATCH';

    $self->form($act->{form}, [ @fixed, @{ $act->{leaves} // [] } ],
                [ $operation->{name}, 'create', $body ])
        if $body->{properties};
}


1;
