package SvcTest::Contract;

# Sends requests by the operations of the OpenAPI document, and records the
# answers for t/npm/answers.mjs.
#
#     my $c = SvcTest::Contract->new($acme);
#     my $r = $c->call('getGroup', path => { id => $id });
#
# An operation that takes a session only is called by the browser that was
# passed to signs_in().

use strict;
use warnings;

use SvcTest::Json qw(json);


my $JSON = json();


sub new {
    my ($class, $tenant) = @_;

    my $self = bless { tenant => $tenant, s => $tenant->{system}, path => {},
                       answers => [], deliveries => [] }, $class;

    my $document = $self->{s}->http(GET => '/v1/openapi.json')->json;

    $self->{document} = $document;

    for my $path (keys %{ $document->{paths} }) {
        my $item = $document->{paths}{$path};

        $self->{operation}{ $item->{$_}{operationId} }
            = { %{ $item->{$_} }, method => uc, path => $path } for keys %$item;
    }

    return $self;
}


sub document { return $_[0]{document} }
sub operation { return $_[0]{operation}{ $_[1] } // die "no $_[1]\n" }
sub ids { return sort keys %{ $_[0]{operation} } }
sub signs_in { $_[0]{browser} = $_[1] }


# Returns the credential that an operation takes: "token" (a session may do,
# too), "session" (only that) or "nothing".

sub takes {
    my ($self, $id) = @_;
    my $operation = $self->operation($id);
    my $first = ($operation->{security} // $self->{document}{security})->[0]
        // return 'nothing';

    return $first->{adminToken} ? 'token' : 'session';
}


# Sets the default value of a parameter of a path below /v1, as in
# 'admin/groups/{id}' => $group.

sub stands {
    my ($self, %path) = @_;

    $self->{path} = { %{ $self->{path} }, %path };
}


# Calls an operation.  path: parameters by name; query: text; headers; body: a
# reference is sent as JSON; token: undef for none; session => 0: no cookies;
# port; record => 0: the answer is not to be judged.

sub call {
    my ($self, $id, %arg) = @_;

    my $operation = $self->operation($id);
    my $path = $operation->{path};

    while ($path =~ /\{(\w+)\}/) {
        my $name = $1;
        my ($pattern) = $operation->{path} =~ m{\A/v1/(.*?\{$name\})};
        my $value = $arg{path}{$name} // $self->{path}{$pattern}
            // die "$id: nothing stands for $pattern\n";

        $path =~ s/\{$name\}/$value/;
    }

    $path .= "?$arg{query}" if defined $arg{query};

    my $takes = $self->takes($id);
    my $browser = $takes eq 'session' && ($arg{session} // 1)
                  ? $self->{browser} // die "$id: nobody has signed in\n" : undef;
    my $token = exists $arg{token} ? $arg{token}
              : $takes eq 'token' ? $self->{tenant}{api_token} : undef;
    my $r = $self->{s}->http($operation->{method}, $path,
        [ defined $token ? (Authorization => "Bearer $token") : (),
          $browser ? (Cookie => $browser->cookie,
                      'X-CSRF-Token' => $browser->{csrf}) : (),
          @{ $arg{headers} // [] } ],
        $arg{body}, port => $arg{port} // $self->{s}->port);

    $browser->keep($r) if $browser;

    my $json = $r->body =~ /\A\{/ ? $r->json : undef;

    $self->{s}->secret($json->{secret})
        if ref $json eq 'HASH' && $json->{secret};
    $self->{s}->secret($1)
        if ref $json eq 'HASH' && ($json->{inviteUrl} // '') =~ /#token=(.*)/;

    $self->record($id, $r) if $arg{record} // 1;

    return $r;
}


sub record {
    my ($self, $id, $r) = @_;

    my $text = ($r->header('content-type') // '') =~ m{\Aimage/} ? 'an image'
             : $r->body;

    utf8::decode($text);

    push @{ $self->{answers} }, { operationId => $id, status => 0 + $r->status,
                                  headers => $r->{headers}, body => $text };
}


# Records a delivery of a webhook, as SvcTest::Receiver returns it.

sub delivery {
    my ($self, $got) = @_;

    push @{ $self->{deliveries} }, { headers => $got->{header},
                                     body => $got->{body} };
}


# Returns the input of answers.mjs.  unseen: patterns of what is in the
# document, but in no answer.

sub input {
    my ($self, @unseen) = @_;

    return $JSON->encode({ document => $self->{document}, unseen => \@unseen,
                           answers => $self->{answers},
                           deliveries => $self->{deliveries} });
}


1;
