package SvcTest::BadInput;

# Bad input, and what it gets: a table of cases that runs over the routes of a
# surface.  After the cases nothing is stored and the workers are unharmed, which
# is looked at after some of them.
#
#     bad_input($s, {
#         envelope => sub { my ($r, $status, $type, $name) = @_; ... },
#         headers  => [ Authorization => "Bearer $token" ],
#         stored   => sub { ... },     # changes when anything was stored
#         own      => $id,             # one that exists
#         missing  => $id,             # one that does not
#         foreign  => $id,             # another tenant's
#         routes   => [
#             [ POST => '/scim/v2/Users', { userName => 'x@y' } ],
#             [ GET  => '/scim/v2/Users/:id' ],
#         ],
#         type     => 'invalidSyntax', # of a body that is no JSON object
#     });
#
# A route is a method, a path whose :id stands for an id, and, when it reads a
# body, a valid one; then perhaps a hash: own, missing and foreign ids of its
# own; public, when it asks for no credential; raw, when its body is not JSON;
# small, when its body is; lasting, when a good answer has an effect or no end.

use strict;
use warnings;

use Exporter qw(import);
use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest::Process qw(slow wait_for);

our @EXPORT = qw(bad_input);

use constant LIMIT => 1048576;
use constant RAW_LIMIT => 524288;
use constant SMALL_LIMIT => 16384;
use constant AT_ONCE => 12;              # routes whose bodies are late
use constant CASES => 40;                # between two looks

my $JSON = JSON::PP->new->utf8->canonical;


# --- bodies -----------------------------------------------------------------

# Bodies that are not a JSON object, or are one that is refused.

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


# A valid body with white space up to exactly this length.

sub padded {
    my ($body, $length) = @_;

    my $text = ref $body ? $JSON->encode($body) : $body;

    return $text . ' ' x ($length - length $text);
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


# --- running ----------------------------------------------------------------

sub bad_input {
    my ($s, $surface) = @_;

    my $self = bless { %$surface, s => $s, workers => [ $s->workers ] },
                     __PACKAGE__;

    $self->{seen} = { before => scalar $self->{stored}->(), cases => [] };

    my @late;

    for my $route (@{ $self->{routes} }) {
        my ($method, $path, $body, $opt) = @$route;

        $self->{opt} = { (map { $_ => $self->{$_} } qw(own missing foreign)),
                         %{ $opt // {} } };
        ($self->{method}, $self->{body}) = ($method, $body);
        ($self->{path} = $path) =~ s/:id/$self->{opt}{missing}/;
        $self->{template} = $path;

        $self->bad_ids if $path =~ /:id/ && !$self->{opt}{public};
        $self->bad_credentials if !$self->{opt}{public};
        $self->odd_headers;

        if (defined $body) {
            $self->bad_bodies if !$self->{opt}{raw};
            $self->large_bodies;
            $self->lying_lengths;
            push @late, bless { %$self }, __PACKAGE__;
        }

        $self->look;
    }

    while (my @some = splice @late, 0, AT_ONCE) {
        late_bodies(@some);
        $self->look;
    }

    $self->bad_methods;
    $self->look;
}


# All must be well after the cases since the last time.

sub look {
    my ($self) = @_;

    my $seen = $self->{seen};
    my @cases = splice @{ $seen->{cases} } or return;
    my $name = join ' ... ', @cases[0, @cases > 1 ? -1 : ()];

    $self->{s}->unharmed($self->{workers}, $name);

    my $now = $self->{stored}->();

    is($now, $seen->{before}, "$name: nothing was stored")
        if $now ne $seen->{before};
    $seen->{before} = $now;
}


sub expect {
    my ($self, $r, $status, $type, $name) = @_;

    $name = "$self->{method} $self->{template}: $name";
    $self->{envelope}->($r, $status, $type, $name);

    push @{ $self->{seen}{cases} }, $name;
    $self->look if @{ $self->{seen}{cases} } >= CASES;
}


sub ask {
    my ($self, $path, $headers, $body, $method) = @_;

    return $self->{s}->http($method // $self->{method},
                            $path // $self->{path},
                            $headers // $self->{headers}, $body);
}


sub bad_bodies {
    my ($self) = @_;

    for my $case (@BODIES) {
        my ($name, $text) = @$case;

        next if $text eq '' && $self->{opt}{empty};

        my $over = length $text > $self->limit;

        $self->expect($self->ask(undef, undef, $text), $over ? 413 : 400,
                      $over ? undef : $self->{type}, "a body: $name");
    }

    return if $self->{opt}{empty};

    # no Content-Length at all: there is no body

    $self->expect($self->ask(undef, [ @{ $self->{headers} } ]), 400,
                  $self->{type}, 'no body');
}


sub limit {
    my ($self) = @_;

    return $self->{opt}{small} ? SMALL_LIMIT : $self->{opt}{raw} ? RAW_LIMIT : LIMIT;
}


sub large_bodies {
    my ($self) = @_;

    my $limit = $self->limit;
    my $over = padded($self->{body}, $limit + 1);
    my @headers = @{ $self->{headers} };

    $self->expect($self->ask(undef, undef, $over), 413, undef,
                  'one byte over the limit');

    $self->expect($self->ask(undef, [ @headers,
                                      'Transfer-Encoding' => 'chunked' ],
                             chunked($over, 65536)),
                  413, undef, 'one byte over the limit, chunked');

    $self->expect($self->ask(undef, [ @headers,
                                      'Transfer-Encoding' => 'chunked' ],
                             chunked($over, 1000)),
                  413, undef, 'one byte over the limit, in small chunks');

    # the refusal does not wait for the body

    for my $length ($limit + 1, '99999999999') {
        my $r = $self->ask(undef, [ @headers, 'Content-Length' => $length ]);
        $self->expect($r, 413, undef, "a Content-Length of $length alone");
    }

    # the client goes on for as long as it is let

    my $c = $self->{s}->connection;
    $c->send($c->format($self->{method}, $self->{path},
                        [ @headers, 'Transfer-Encoding' => 'chunked' ]));

    my $chunk = sprintf "%x\r\n%s\r\n", 65536, ' ' x 65536;

    for (1 .. 400) {
        last if !$c->send($chunk) || length $c->{in};
    }

    $self->expect(scalar $c->read, 413, undef, 'a body without end');
    $c->close;
}


# Of many routes at once: what takes long is the time that a body may take.

sub late_bodies {
    my (@late) = @_;

    $_->begin_late for @late;

    my $since = time();
    my @dripping = @late;

    # bytes that are far from enough when time is up

    while (@dripping && time() - $since < slow(30)) {
        $dripping[-1]{c}[2]->silent(slow(0.3));
        @dripping = grep { $_->drip } @dripping;
    }

    $_->end_late($since) for @late;
}


# Three at once: never, half of it, and a byte now and then.

sub begin_late {
    my ($self) = @_;

    my $text = $self->{text} = SvcTest::encode($self->{body});
    my @c = map { $self->{s}->connection } 1 .. 3;
    my $head = $self->late_head($c[0]);

    $c[0]->send($head);
    $c[1]->send($head . substr $text, 0, length($text) / 2);
    $c[2]->send($head);

    @$self{qw(c sent)} = (\@c, 0);
}


sub late_head {
    my ($self, $c) = @_;

    return $c->format(
        $self->{method}, $self->{path},
        [ @{ $self->{headers} }, 'Content-Length' => length $self->{text} ]);
}


# One more byte, unless there is an answer, or one byte left.

sub drip {
    my ($self) = @_;

    my $c = $self->{c}[2];

    return 1 if $self->{sent} < length($self->{text}) - 1 && $c->silent(0)
                && $c->send(substr $self->{text}, $self->{sent}++, 1);

    $self->{took} = time();

    return 0;
}


sub end_late {
    my ($self, $since) = @_;

    my @c = @{ $self->{c} };
    my @name = ('never arrives', 'arrives by half', 'arrives byte by byte');
    my @answer = map { scalar $_->read } @c;

    cmp_ok(($self->{took} // time()) - $since, '<', slow(5),
           "$self->{method} $self->{template}: a body a byte at a time ends");

    for my $i (0 .. 2) {
        $self->expect($answer[$i], 408, undef, "a body that $name[$i]");
        ok($c[$i]->closed, 'and the connection is closed');
    }

    # clients that leave

    for my $part (0, 1, length($self->{text}) - 1) {
        for my $how (qw(close abort)) {
            my $c = $self->{s}->connection;

            $c->send($self->late_head($c) . substr $self->{text}, 0, $part);
            $c->$how;
        }
    }
}


sub lying_lengths {
    my ($self) = @_;

    my $text = SvcTest::encode($self->{body});
    my @headers = @{ $self->{headers} };

    # shorter than the body: what is there is cut, and what follows it is not a
    # request

    my $c = $self->{s}->connection;
    my $r = $c->request($self->{method}, $self->{path},
                        [ @headers,
                          'Content-Length' => length($text) - 1 ], $text);

    $self->expect($r, 400, $self->{opt}{raw} // $self->{type},
                  'a Content-Length too short');

    for my $length ('-1', '+5', '5x', '0x5', '', '1e1', '5, 5',
                    '18446744073709551617')
    {
        $self->expect($self->ask(undef,
                                 [ @headers, 'Content-Length' => $length ],
                                 $text),
                      400, undef, "a Content-Length of '$length'");
    }

    $self->expect($self->ask(undef, [ @headers,
                                      'Content-Length' => length $text,
                                      'Content-Length' => 3 ], $text),
                  400, undef, 'two Content-Length headers');

    $self->expect($self->ask(undef, [ @headers,
                                      'Content-Length' => length $text,
                                      'Transfer-Encoding' => 'chunked' ],
                             chunked($text, 5)),
                  400, undef, 'Content-Length and Transfer-Encoding');

    for my $coding ('gzip', 'identity, x', 'chunked, chunked') {
        $r = $self->ask(undef, [ @headers, 'Transfer-Encoding' => $coding ],
                        chunked($text, 5));
        $self->expect($r, $r->status == 400 ? 400 : 501, undef,
                      "a Transfer-Encoding of $coding");
    }

    for my $bad ("5\r\n{}\r\n0\r\n\r\n", "zz\r\n{}\r\n0\r\n\r\n",
                 "-1\r\n{}\r\n0\r\n\r\n",
                 "ffffffffffffffff1\r\n{}\r\n0\r\n\r\n")
    {
        my $c = $self->{s}->connection;
        $c->send($c->format($self->{method}, $self->{path},
                            [ @headers, 'Transfer-Encoding' => 'chunked' ],
                            $bad));
        $r = $c->read;
        my $status = $r ? $r->status : 0;

        $self->expect($r, $status == 408 || $status == 413 ? $status : 400,
                      $r && $status == 400 && $r->body =~ /invalidSyntax/
                      ? $self->{type} : undef,
                      'a chunk that is broken: ' . $bad =~ s/\r\n/ /gr);
    }
}


# --- ids --------------------------------------------------------------------

sub bad_ids {
    my ($self) = @_;

    my ($missing, $foreign, $own) = @{ $self->{opt} }{qw(missing foreign own)};
    my @cases = (
        [ 404, 'unknown',               $missing ],
        [ 404, "another tenant's",      $foreign ],
        [ 404, 'no UUID',               'x' ],
        [ 404, 'a number',              '1' ],
        [ 404, 'a dash',                '-' ],
        [ 404, 'cut by one',            substr $own, 0, -1 ],
        [ 404, 'one more',              "${own}0" ],
        [ 404, 'upper case',            uc $own ],
        ( $own =~ /-/ ? [ 404, 'without hyphens', $own =~ tr/-//dr ] : () ),
        [ 404, 'braces',                "%7B$own%7D" ],
        [ 404, 'a space before',        "%20$own" ],
        [ 404, 'a space behind',        "$own%20" ],
        [ 404, 'a newline behind',      "$own%0a" ],
        [ 404, 'a quote',               "'" ],
        [ 404, 'a double quote',        '%22' ],
        [ 404, 'an injection',          "$own'%20OR%20'1'%3D'1" ],
        [ 404, 'a semicolon',           "$own;DROP%20TABLE%20x" ],
        [ 404, 'a percent sign',        '%25' ],
        [ 404, 'an encoded slash',      "$own%2f" . 'x' ],
        [ 404, 'dots',                  '%2e%2e' ],
        [ 404, 'dots, and back',        '%2e%2e/Users/x' ],
        [ 404, 'one dot, encoded',      '%2e%2fx' ],
        [ 404, 'invalid UTF-8',         '%ff%fe' ],
        [ 404, 'ASCII, then not UTF-8', 'a%ff' ],
        [ 404, 'two bytes that begin one', 'ab%c3%c3' ],
        [ 404, 'half a character',      'a%e2%82' ],
        [ 404, 'a surrogate',           '%ed%a0%80' ],
        [ 404, 'an overlong character', '%c0%af' ],
        [ 404, 'UTF-8',                 '%c3%a9' ],
        [ 404, 'a full-width digit',    '%ef%bc%91' ],
        [ 404, 'a control character',   '%01' ],
        [ 404, '5 kB',                  'a' x 5000 ],
        [ 404, '5 kB of a UUID',        "$own-" x 135 ],
        [ 400, 'a NUL',                 '%00' ],
        [ 400, 'a NUL behind',          "$own%00" ],
        [ 400, 'a broken escape',       '%zz' ],
        [ 400, 'dots beyond the root',  '%2e%2e/' x 12 . 'x' ],
        [ 414, '10 kB',                 'a' x 10240 ],
    );

    for my $case (@cases) {
        my ($status, $name, $id) = @$case;

        next if $self->{opt}{nested} && $name =~ /^dots|^one dot/;

        (my $path = $self->{template}) =~ s/:id/$id/;

        # dots lead to another route, which may not offer this method

        my $r = $self->ask($path, undef, SvcTest::encode($self->{body}));
        $status = 405 if $name =~ /^dots/ && $r->status == 405;

        $self->expect($r, $status, undef, "an id: $name");
    }
}


# --- credentials and headers ------------------------------------------------

sub bad_credentials {
    my ($self) = @_;

    my %headers = @{ $self->{headers} };
    my $good = $headers{Authorization};
    my $unknown = $good =~ s/[A-Za-z0-9_-]{10}\z/AAAAAAAAAA/r;
    my $body = SvcTest::encode($self->{body});

    for my $case (
        [ 'missing',             [] ],
        [ 'empty',               [ Authorization => '' ] ],
        [ 'unknown',             [ Authorization => $unknown ] ],
        [ 'Basic',               [ Authorization => 'Basic YTpi' ] ],
        [ 'doubled',             [ (Authorization => $good) x 2 ] ],
        [ 'doubled, one of them unknown',
          [ Authorization => $good, Authorization => $unknown ] ],
        [ 'a token of 100 kB',
          [ Authorization => 'Bearer ' . 'A' x 102400 ] ])
    {
        my ($name, $headers) = @$case;
        my $r = $self->ask(undef, $headers, $body);
        my $may = $name =~ /doubled|100 kB/ && $r->status == 400;

        $self->expect($r, $may ? 400 : 401, undef, "Authorization: $name");
    }

    # lower case is a good one: the answer is that for a live token

    return if defined $self->{body} || $self->{method} ne 'GET'
              || $self->{opt}{lasting};

    my $r = $self->ask(undef, [ Authorization => $good =~ s/^B/b/r ]);

    isnt($r->status, 401, "$self->{method} $self->{template}: bearer");
}


# Headers that are missing, doubled, empty or strange, and what they get.

sub odd_headers {
    my ($self) = @_;

    my $port = $self->{s}->port;
    my %headers = @{ $self->{headers} };
    my $auth = join '', map { "$_: $headers{$_}\r\n" } sort keys %headers;
    my $line = "$self->{method} $self->{path}";

    for my $case (
        [ 400, 'no Host',             "$line HTTP/1.1\r\n$auth\r\n" ],
        [ 400, 'two Hosts',           "$line HTTP/1.1\r\nHost: a\r\n"
                                      . "Host: b\r\n$auth\r\n" ],
        [ 400, 'an empty Host',       "$line HTTP/1.1\r\nHost:\r\n"
                                      . "$auth\r\n" ],
        [ 400, 'a Host with a slash', "$line HTTP/1.1\r\nHost: a/b\r\n"
                                      . "$auth\r\n" ],
        [ 400, 'a NUL in a header',   "$line HTTP/1.1\r\nHost: a\r\n"
                                      . "X: a\0b\r\n$auth\r\n" ],
        [ 400, 'a header of 100 kB',  "$line HTTP/1.1\r\nHost: a\r\nX: "
                                      . 'x' x 102400 . "\r\n$auth\r\n" ],
        [ 400, 'a line that is none', "$line HTTP/1.1\r\nHost: a\r\n"
                                      . "\0\0\0\r\n$auth\r\n" ],
        [ 414, 'a URI of 100 kB',     "$line?" . 'x' x 102400
                                      . " HTTP/1.1\r\nHost: a\r\n\r\n" ],
        [ 400, 'an odd version',      "$line HTTP/1.x\r\nHost: a\r\n\r\n" ],
        [ 505, 'HTTP/3.0',            "$line HTTP/3.0\r\nHost: a\r\n\r\n" ])
    {
        my ($status, $name, $bytes) = @$case;

        $self->expect(scalar $self->{s}->raw($bytes), $status, undef,
                      $name);
    }
}


# --- methods ----------------------------------------------------------------

sub bad_methods {
    my ($self) = @_;

    my (%offered, $last);

    $offered{ $_->[1] }{ $_->[0] } = 1 for @{ $self->{routes} };

    for my $template (sort keys %offered) {
        ($self->{path} = $template) =~ s/:id/$self->{missing}/;
        $self->{template} = $template;

        for my $method (grep { !$offered{$template}{$_} }
                        qw(POST PUT PATCH DELETE OPTIONS TRACE PROPFIND
                           FOO))
        {
            $self->{method} = $method;
            $self->expect($self->ask(undef, undef, undef, $method), 405,
                          undef, 'not offered');
        }

        for my $method ('get', 'G:T', 'G"T') {
            $self->{method} = $method;
            $self->expect($self->ask(undef, undef, undef, $method), 400,
                          undef, 'no method');
        }
    }
}


1;
