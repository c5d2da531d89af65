package SvcTest::Walk::Bodies;

# Bodies that are not a JSON object, too large, of another length than they
# claim, or late; and members with any value.
#
# The bodies of all routes have one reader (ngx_svc_body.c, then
# ngx_svc_request_json()), which runs before any code of a route.  What it
# refuses depends on the surface, on the credential, and on the flags of the
# route that it looks at.  The first of the routes that are alike in these gets
# all inputs, and each other one gets some.

use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest::Process qw(slow);

use constant LIMIT => 1048576;
use constant RAW_LIMIT => 524288;
use constant SMALL_LIMIT => 16384;
use constant AT_ONCE => 100;             # routes whose bodies are late

my $JSON = JSON::PP->new->utf8->canonical;


# Bodies that are not a JSON object, or are an object that is refused.

my @BODIES = (
    [ 'empty',                    '' ],
    [ 'white space',              " \r\n\t " ],
    [ 'not JSON',                 'userName=x' ],
    [ 'XML',                      '<?xml version="1.0"?><a/>' ],
    [ 'an array',                 '[]' ],
    [ 'an array with an object',  '[{"userName":"x@bad.test"}]' ],
    [ 'a string',                 '"userName"' ],
    [ 'a number',                 '5' ],
    [ 'true',                     'true' ],
    [ 'null',                     'null' ],
    [ 'cut short',                '{"userName":"x@bad.test"' ],
    [ 'cut in a string',          '{"userName":"x@ba' ],
    [ 'cut in an escape',         '{"userName":"x\\u00' ],
    [ 'something after it',       '{} x' ],
    [ 'two objects',              '{}{}' ],
    [ 'a NUL after it',           "{}\0" ],
    [ 'a NUL in it',              "{\"userName\":\"x\@bad.test\",\0\"a\":1}" ],
    [ 'UTF-16',                   "{\0}\0" ],
    [ 'a comma too many',         '{"a":1,}' ],
    [ 'a comment',                '{"a":1/*x*/}' ],
    [ 'single quotes',            "{'a':1}" ],
    [ 'a name without quotes',    '{a:1}' ],
    [ 'no value',                 '{"a":}' ],
    [ 'no colon',                 '{"a" 1}' ],
    [ 'a leading zero',           '{"a":01}' ],
    [ 'a plus sign',              '{"a":+1}' ],
    [ 'a point without digits',   '{"a":1.}' ],
    [ 'hexadecimal',              '{"a":0x1}' ],
    [ 'NaN',                      '{"a":NaN}' ],
    [ 'Infinity',                 '{"a":Infinity}' ],
    [ 'TRUE',                     '{"a":TRUE}' ],
    [ 'a raw newline in a string', "{\"a\":\"x\ny\"}" ],
    [ 'a raw control in a string', "{\"a\":\"x\x01y\"}" ],
    [ 'an unknown escape',        '{"a":"\\x41"}' ],
    [ '1,000 arrays deep',        '{"a":' . '[' x 1000 . ']' x 1000 . '}' ],
    [ '1,000 objects deep',       '{"a":' x 1000 . '1' . '}' x 1000 ],
    [ '100,000 arrays deep, open', '[' x 100000 ],
    [ '100,000 objects deep, open', '{"a":' x 100000 ],
    [ 'duplicate keys',           '{"title":"a","title":"b"}' ],
    [ 'duplicate keys, deep',     '{"x":[{"a":1,"b":2,"a":3}]}' ],
    [ 'duplicate keys by escape', '{"title":"a","t\\u0069tle":"b"}' ],
    [ 'duplicate unknown keys',   '{"zzz":1,"zzz":1}' ],
    [ 'invalid UTF-8',            "{\"a\":\"\xff\"}" ],
    [ 'invalid UTF-8 in a key',   "{\"\xfe\":1}" ],
    [ 'overlong UTF-8',           "{\"a\":\"\xc0\xaf\"}" ],
    [ 'cut UTF-8',                "{\"a\":\"\xe2\x82\"}" ],
    [ 'a surrogate in UTF-8',     "{\"a\":\"\xed\xa0\x80\"}" ],
    [ 'beyond Unicode',           "{\"a\":\"\xf4\x90\x80\x80\"}" ],
    [ '\u0000',                   '{"a":"x\\u0000y"}' ],
    [ '\u0000 in a key',          '{"a\\u0000b":1}' ],
    [ 'a lone high surrogate',    '{"a":"\\ud800"}' ],
    [ 'a lone low surrogate',     '{"a":"\\udc00"}' ],
    [ 'surrogates turned round',  '{"a":"\\udc00\\ud800"}' ],
    [ 'a high surrogate, a letter', '{"a":"\\ud83dx"}' ],
    [ '1e999',                    '{"a":1e999}' ],
    [ '-1e999',                   '{"a":[-1e999]}' ],
    [ '400 digits',               '{"a":' . '9' x 400 . '}' ],
);

# bodies that every route gets

my %EACH = map { $_ => 1 } 'empty', 'an array', 'cut short', 'duplicate keys, deep',
                           '100,000 arrays deep, open', 'a lone high surrogate';


sub walk {
    my ($class, $w) = @_;

    my (%seen, @late);

    for my $route (grep { defined $w->body($_) } $w->routes) {
        my $kind = join ' ', $route->{surface}, grep { $route->{$_} }
                   qw(public session raw small empty);
        my $self = bless {
            w => $w, route => $route, first => !$seen{$kind}++,
            body => $w->body($route), path => $w->path($route), n => 0,
            headers => [ $w->headers($route) ], wrong => [],
            type => $route->{surface} eq 'scim' ? 'invalidSyntax' : undef,
            limit => $route->{raw} ? RAW_LIMIT
                     : $route->{small} ? SMALL_LIMIT : LIMIT,
        }, $class;

        $self->bad_bodies if !$route->{raw};
        $self->large_bodies;
        $self->lying_lengths;
        $self->tell('bad bodies', $w->unharmed($route->{name}));
        push @late, $self;
    }

    while (my @some = splice @late, 0, AT_ONCE) {
        late_bodies(@some);
        is($w->unharmed('late bodies'), '', 'late bodies store nothing');
    }

    cmp_ok(scalar keys %seen, '>=', 7,
           'kinds of routes: ' . join ', ', sort keys %seen);
    passes($w);
}


sub tell {
    my ($self, $what, @more) = @_;

    $self->{w}->told("$self->{route}{name}: $self->{n} $what", @{ $self->{wrong} },
                     grep { length } @more);
    @$self{qw(wrong n)} = ([], 0);
}


# --- asking ----------------------------------------------------------------------

# Checks that an answer is an error; name says which input it is for.

sub expect {
    my ($self, $r, $status, $type, $name) = @_;

    my $wrong = $self->{w}->faults($self->{route}, $r, $status, $type);

    push @{ $self->{wrong} }, "$name: $wrong" if $wrong;
    $self->{n}++;
}


# Sends a request on a kept connection.

sub ask {
    my ($self, $text, @headers) = @_;

    return $self->{w}->ask($self->{route}{method}, $self->{path},
                           [ @{ $self->{headers} }, @headers ], $text);
}


# Sends a request on a connection of its own; what comes after the answer is
# ignored.

sub apart {
    my ($self, $text, @headers) = @_;

    my $c = $self->{w}{s}->connection;

    $c->send($self->head($c, @headers) . ($text // ''));

    return scalar $c->read;
}


sub head {
    my ($self, $c, @headers) = @_;

    return $c->format($self->{route}{method}, $self->{path},
                      [ @{ $self->{headers} }, @headers ]);
}


sub chunked {
    my ($text, $size) = @_;

    my $out = '';

    while (length $text) {
        my $chunk = substr $text, 0, $size, '';

        $out .= sprintf "%x\r\n%s\r\n", length $chunk, $chunk;
    }

    return "${out}0\r\n\r\n";
}


# Returns a valid body with white space up to exactly this length.

sub padded {
    my ($body, $length) = @_;

    my $text = ref $body ? $JSON->encode($body) : $body;

    return $text . ' ' x ($length - length $text);
}


# --- what is no object -----------------------------------------------------------

sub bad_bodies {
    my ($self) = @_;

    for my $case (@BODIES) {
        my ($name, $text) = @$case;
        my $over = length $text > $self->{limit};

        next if !$self->{first} && !$EACH{$name}
                || $text eq '' && $self->{route}{empty};

        $self->expect($self->ask($text), $over ? 413 : 400,
                      $over ? undef : $self->{type}, $name);
    }

    # without a Content-Length there is no body

    $self->expect($self->ask, 400, $self->{type}, 'no body')
        if !$self->{route}{empty};
}


# --- what is too large -----------------------------------------------------------

my @CHUNKED = ('Transfer-Encoding' => 'chunked');

sub large_bodies {
    my ($self) = @_;

    my $limit = $self->{limit};

    # the refusal does not wait for the body

    $self->expect($self->apart('', 'Content-Length' => $_), 413, undef,
                  "a Content-Length of $_ alone")
        for $limit + 1, $self->{first} ? '99999999999' : ();

    return if !$self->{first};

    my $over = padded($self->{body}, $limit + 1);

    $self->expect($self->apart($over, 'Content-Length' => length $over), 413, undef,
                  'one byte over the limit');
    $self->expect($self->apart(chunked($over, $_), @CHUNKED), 413, undef,
                  "one byte over the limit, in chunks of $_") for 65536, 1000;

    # the client goes on sending as long as it can

    my $c = $self->{w}{s}->connection;
    my $chunk = sprintf "%x\r\n%s\r\n", 65536, ' ' x 65536;

    $c->send($self->head($c, @CHUNKED));

    for (1 .. 400) {
        last if !$c->send($chunk) || length $c->{in};
    }

    $self->expect(scalar $c->read, 413, undef, 'a body without end');
    $c->close;
}


# --- what is of another length ---------------------------------------------------

sub lying_lengths {
    my ($self) = @_;

    my $text = SvcTest::encode($self->{body});
    my $length = length $text;

    # shorter than the body: the body is cut, and the rest is not taken for
    # another request

    $self->expect($self->apart($text, 'Content-Length' => $length - 1), 400,
                  $self->{route}{raw} ? 'invalid_image' : $self->{type},
                  'a Content-Length too short');

    return if !$self->{first};

    $self->expect($self->apart($text, 'Content-Length' => $_), 400, undef,
                  "a Content-Length of '$_'")
        for '-1', '+5', '5x', '0x5', '', '1e1', '5, 5', '18446744073709551617';
    $self->expect($self->apart($text, 'Content-Length' => $length,
                               'Content-Length' => 3), 400, undef,
                  'two Content-Length headers');
    $self->expect($self->apart(chunked($text, 5), 'Content-Length' => $length,
                               @CHUNKED), 400, undef,
                  'Content-Length and Transfer-Encoding');

    for my $coding ('gzip', 'identity, x', 'chunked, chunked') {
        my $r = $self->apart(chunked($text, 5), 'Transfer-Encoding' => $coding);

        $self->expect($r, $r && $r->status == 400 ? 400 : 501, undef,
                      "a Transfer-Encoding of $coding");
    }

    $self->broken_chunk($_) for "5\r\n{}\r\n0\r\n\r\n", "zz\r\n{}\r\n0\r\n\r\n",
                                "-1\r\n{}\r\n0\r\n\r\n",
                                "ffffffffffffffff1\r\n{}\r\n0\r\n\r\n";
}


sub broken_chunk {
    my ($self, $bytes) = @_;

    my $r = $self->apart($bytes, @CHUNKED);
    my $status = $r ? $r->status : 0;

    $self->expect($r, $status == 408 || $status == 413 ? $status : 400,
                  $r && $status == 400 && $r->body =~ /invalidSyntax/
                  ? $self->{type} : undef,
                  'a chunk that is broken: ' . $bytes =~ s/\r\n/ /gr);
}


# --- what is late ----------------------------------------------------------------

# Sends the bodies of many routes at once, because each takes as long as a body
# may.

sub late_bodies {
    my (@late) = @_;

    $_->begin_late for @late;

    my $since = time();
    my @dripping = @late;

    # the bytes so far are far from enough when the time is up

    while (@dripping && time() - $since < slow(30)) {
        $dripping[-1]{c}[0]->silent(slow(0.2));
        @dripping = grep { $_->drip } @dripping;
    }

    $_->end_late($since) for @late;
}


# Each route gets a byte now and then; the first of its kind also gets half a
# body, and none.

my @LATE = ('byte by byte', 'by half', 'never');

sub begin_late {
    my ($self) = @_;

    my $text = $self->{text} = SvcTest::encode($self->{body});
    my @sent = ('', substr($text, 0, length($text) / 2), '');
    my @c = map { $self->{w}{s}->connection(port => $self->{w}->late) }
            0 .. ($self->{first} ? 2 : 0);

    $c[$_]->send($self->late_head($c[$_]) . $sent[$_]) for 0 .. $#c;

    @$self{qw(c sent)} = (\@c, 0);
}


sub late_head {
    my ($self, $c) = @_;

    return $self->head($c, 'Content-Length' => length $self->{text});
}


# Sends one more byte, unless there is an answer, or only one byte left.

sub drip {
    my ($self) = @_;

    my $c = $self->{c}[0];

    return 1 if $self->{sent} < length($self->{text}) - 1 && $c->silent(0)
                && $c->send(substr $self->{text}, $self->{sent}++, 1);

    $self->{took} = time();

    return 0;
}


sub end_late {
    my ($self, $since) = @_;

    my @c = @{ $self->{c} };

    for my $i (0 .. $#c) {
        my $name = "a body that comes $LATE[$i]";

        $self->expect(scalar $c[$i]->read, 408, undef, $name);
        push @{ $self->{wrong} }, "$name: the connection stays"
            if !$c[$i]->closed;
    }

    push @{ $self->{wrong} }, 'a body a byte at a time does not end'
        if ($self->{took} // time()) - $since > slow(20);

    $self->leave if $self->{first};
    $self->tell('late bodies');
}


# Closes the connection with part of the body sent, as clients do.

sub leave {
    my ($self) = @_;

    for my $part (0, 1, length($self->{text}) - 1) {
        for my $how (qw(close abort)) {
            my $c = $self->{w}{s}->connection(port => $self->{w}->late);

            $c->send($self->late_head($c) . substr $self->{text}, 0, $part);
            $c->$how;
        }
    }
}


# --- what passes -----------------------------------------------------------------

# Tests that the limit itself, and what is merely odd, is accepted.

sub passes {
    my ($w) = @_;

    my $acme = $w->{acme};
    my ($n, @wrong) = (0);
    my $post = sub {
        my ($name, $body, @headers) = @_;

        my $r = $w->{s}->http(POST => '/scim/v2/Users',
                              [ @{ $acme->headers }, @headers ], $body);

        push @wrong, "$name: " . $r->status . ' ' . $r->body if $r->status != 201;
    };

    for my $chunked (0, 1) {
        my $text = padded({ userName => "large$chunked\@acme.test" }, LIMIT);

        $post->('exactly 1 MiB' . ($chunked ? ', chunked' : ''),
                $chunked ? chunked($text, 4096) : $text, $chunked ? @CHUNKED : ());
    }

    for my $value ('{"deep":' x 15 . '1' . '}' x 15, '1e308', '-0', '1E-7',
                   '12345678901234567890', '[' x 15 . ']' x 15)
    {
        $n++;
        $post->("an unknown attribute: $value",
                "{\"userName\":\"odd$n\@acme.test\",\"unknown\":$value}");
    }

    $post->('white space around',
            "\r\n\t {\"userName\":\"space\@acme.test\"}\r\n ");
    $w->told('what is large, or only odd, is taken', @wrong);
    $w->changed;
}


1;
