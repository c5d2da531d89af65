#!/usr/bin/perl

# The documented code that verifies a delivery, unchanged, and the receiver for
# development: with genuine deliveries, forged ones, and repeated ones.

use strict;
use warnings;

use Cwd ();
use Digest::SHA qw(hmac_sha256_hex);
use File::Path qw(remove_tree);
use File::Temp ();
use IO::Socket::INET;
use IPC::Open2 qw(open2);
use JSON::PP ();
use Test::More;

use SvcTest::Documents qw(section examples);
use SvcTest::Http;
use SvcTest::Nginx ();
use SvcTest::Process qw(on_exit wait_for slurp spawn wait_exit signal_pid run
    write_file);
use SvcTest::Skip;

needs(program => 'curl node openssl php python3');


my $dir = File::Temp::tempdir('/tmp/svcsnip.XXXXXX');
my $secret = unpack 'H*', join '', map { chr int rand 256 } 1 .. 32;
my $RECEIVER = Cwd::getcwd() . '/conf/webhook-receiver';
my $JSON = JSON::PP->new->canonical;
my @pids;

on_exit(sub {
    signal_pid('TERM', @pids);
    wait_exit($_) for @pids;
    remove_tree($dir);
});

$ENV{SVC_WEBHOOK_SECRET} = $secret;


# Returns the block of a language below the heading.

my $section = section('ngx_svc_webhook/README.md', 'Verify a delivery');

sub snippet {
    my ($language) = @_;

    my @blocks = examples($language, $section);
    is(scalar @blocks, 1, "there is a block of $language");

    return $blocks[0];
}


sub file {
    my ($name, $text) = @_;

    write_file("$dir/$name", $text);

    return "$dir/$name";
}


# --- deliveries: name, status, whether it is handled, body, signature ---------

sub body {
    my ($id, $email) = @_;

    # with characters that JSON writers escape in different ways

    return qq({"id":"$id","event":"user.created","tenantId":"t",)
           . qq("createdAt":"2026-11-21T09:15:30.123Z","data":{"userId":"u",)
           . qq("email":"$email","a":1.0,"b":"\\u00e9\xc3\xa9\\/"}});
}

sub signature { return 'sha256=' . hmac_sha256_hex($_[0], $_[1] // $secret) }

my ($one, $two) = map { body($_ x 32, "$_\@acme.test") } 'a', 'b';
my $good = signature($one);

my @deliveries = (
    [ 'genuine', 204, 'a', $one, $good ],
    [ 'the same again', 204, undef, $one, $good ],
    [ 'another one', 204, 'b', $two, signature($two) ],
    [ 'with the signature of another one', 401, undef, $two, $good ],
    [ 'one byte changed', 401, undef, $one =~ s/acme/acmf/r, $good ],
    [ 'one byte more', 401, undef, "$one ", $good ],
    [ 'written again', 401, undef, $one =~ s/\\u00e9/\xc3\xa9/r, $good ],
    [ 'the last digit changed', 401, undef, $one,
      $good =~ s/(.)$/$1 eq '0' ? '1' : '0'/er ],
    [ 'without "sha256="', 401, undef, $one, $good =~ s/^sha256=//r ],
    [ 'cut short', 401, undef, $one, substr($good, 0, 20) ],
    [ 'longer', 401, undef, $one, "${good}0" ],
    [ 'empty', 401, undef, $one, '' ],
    [ 'none', 401, undef, $one, undef ],
    [ 'not ASCII', 401, undef, $one, "sha256=\xc3\xa9" ],
    [ 'another key', 401, undef, $one, signature($one, 'x' x 64) ],
    [ 'the bytes of the key', 401, undef, $one,
      signature($one, pack 'H*', $secret) ],
    [ 'no JSON', 401, undef, '{', 'sha256=0' ],
    [ 'nothing', 401, undef, '', signature('', '') ],
);


# Sends all deliveries by a function that returns the status and the ids that
# were handled.

sub all_deliveries {
    my ($language, $deliver) = @_;

    for my $row (@deliveries) {
        my ($name, $status, $handled, $body, $signature) = @$row;
        my ($got, @ids) = $deliver->($body, $signature);

        is($got, $status, "$language, $name: $status");
        is("@ids", defined $handled ? $handled x 32 : '',
           defined $handled ? 'is handled' : 'is not handled');
    }
}


# --- Python, Node.js: a process that reads a delivery a line, and answers in a 

sub talker {
    my ($language, @command) = @_;

    my $pid = open2(my $from, my $to, @command);
    push @pids, $pid;

    all_deliveries($language, sub {
        my ($body, $signature) = @_;

        print $to $JSON->encode({ body => unpack('H*', $body),
                                  signature => $signature }), "\n";
        $to->flush;

        my $answer = $JSON->decode(readline($from) // '{}');

        return ($answer->{status}, @{ $answer->{handled} // [] });
    });

    close $to;
    is(wait_exit($pid), 0, "$language ends well");
    @pids = grep { $_ != $pid } @pids;
}

talker(Python => 'python3', file('receive.py', snippet('python') . <<'PY'));


import sys

handled = []


def handle(event):
    handled.append(event["id"])


for line in sys.stdin:
    d = json.loads(line)
    handled.clear()
    headers = {}
    if d["signature"] is not None:
        headers["X-Svc-Signature"] = d["signature"]
    status = receive(headers, bytes.fromhex(d["body"]))
    print(json.dumps({"status": status, "handled": handled}), flush=True)
PY

talker('Node.js' => 'node', file('receive.mjs', snippet('js') . <<'JS'));

import { createInterface } from "node:readline";

let handled;

function handle(event) {
  handled.push(event.id);
}

for await (const line of createInterface({ input: process.stdin })) {
  const d = JSON.parse(line);
  const headers = {};
  if (d.signature !== null) {
    headers["x-svc-signature"] = d.signature;
  }
  handled = [];
  const status = await receive(headers, Buffer.from(d.body, "hex"));
  console.log(JSON.stringify({ status, handled }));
}
JS


# --- PHP: in its own server ---------------------------------------------------

mkdir "$dir/tmp" or die $!;
file('handled', '');

my $port = SvcTest::Nginx::free_port();
file('index.php', snippet('php') . <<'PHP');


function handle($event)
{
    file_put_contents(__DIR__ . '/handled', $event['id'] . "\n", FILE_APPEND);
}
PHP

push @pids, spawn([ 'php', '-d', "sys_temp_dir=$dir/tmp", '-S',
                    "127.0.0.1:$port", '-t', $dir, "$dir/index.php" ],
                  out => "$dir/php.log");
ok((wait_for { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") }),
   'PHP listens') or diag(slurp("$dir/php.log"));

all_deliveries(PHP => sub {
    my ($body, $signature) = @_;

    my $c = SvcTest::Http->new(host => '127.0.0.1', port => $port);
    my $before = slurp("$dir/handled");
    my $r = $c->request(POST => '/in',
                        [ Connection => 'close',
                          'Content-Type' => 'application/json',
                          defined $signature
                          ? ('X-Svc-Signature' => $signature) : () ], $body);

    my $now = slurp("$dir/handled");

    return ($r && $r->status,
            split /\n/, substr $now, length $before);
});


# without a secret nothing is verified, and with an empty one neither

{
    local %ENV = %ENV;
    delete $ENV{SVC_WEBHOOK_SECRET};

    for my $command ([ 'python3', "$dir/receive.py" ],
                     [ 'php', "$dir/index.php" ])
    {
        my ($rc) = run($command);
        isnt($rc, 0, "$command->[0] does not go on without a secret");
    }
}


# --- a shell, by hand ---------------------------------------------------------

my $shell = snippet('bash');

for my $row (@deliveries) {
    my ($name, $status, undef, $body, $signature) = @$row;

    file('body', $body);
    local $ENV{signature} = $signature // '';

    my ($rc, $said) = run([ 'bash', '-euc', "cd $dir\n$shell" ]);
    is($said, $status == 204 ? "genuine\n" : "forged\n", "shell, $name");
    is($rc, 0, 'and no more is said');
}


# --- conf/webhook-receiver ----------------------------------------------------

system("openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=127.0.0.1"
       . " -addext subjectAltName=IP:127.0.0.1 -keyout $dir/key.pem"
       . " -out $dir/cert.pem 2>/dev/null") == 0 or die "openssl\n";
file('secret', "$secret\n");
$port = SvcTest::Nginx::free_port();

my $receiver = spawn([ $RECEIVER, '--port', $port,
                       '--cert', "$dir/cert.pem", '--key', "$dir/key.pem",
                       '--secret-file', "$dir/secret",
                       '--pid-file', "$dir/pid", '--fail', 1 ],
                     out => "$dir/receiver.log");
push @pids, $receiver;
ok((wait_for { (slurp("$dir/pid") // '') =~ /\n/ }), 'the receiver starts');
like(slurp("$dir/receiver.log"), qr{^listening on https://127\.0\.0\.1:$port/$},
     'says where');
is(slurp("$dir/pid"), "$receiver\n", 'its PID file');

# Returns an answer's status, and the lines that the receiver printed.

sub post {
    my ($body, $signature, @more) = @_;

    my $before = slurp("$dir/receiver.log");
    my $file = file('body', $body);
    my (undef, $status) = run([ qw(curl -sS -o /dev/null -m 10 -w %{http_code}
        --noproxy * --cacert), "$dir/cert.pem", '-H', 'Expect:',
        '-H', "X-Svc-Delivery: d1", @more,
        defined $signature ? ('-H', "X-Svc-Signature: $signature") : (),
        '--data-binary', "\@$file", "https://127.0.0.1:$port/in" ]);

    my $said = '';
    wait_for { $said = substr slurp("$dir/receiver.log"), length $before;
               $said =~ /\n\z/ };

    return ($status, $said);
}

my ($status, $said) = post($one, $good);
is($status, 500, '--fail 1');
like($said, qr/^failed d1 /, 'says so');

# a body that is not JSON is not parsed here, and curl does not send an empty
# header

@deliveries = grep { $_->[0] !~ /^empty/ } @deliveries;

for my $row (@deliveries) {
    my ($name, $expected, $handled, $body, $signature) = @$row;

    ($status, $said) = post($body, $signature);
    is($status, $expected, "the receiver, $name: $expected");
    like($said, $expected == 401 ? qr/^forged \d+ bytes\n\z/
              : $handled ? qr/^verified d1 \Q{"id":"\E$handled{32}"/
                         : qr/^again d1 /, 'it says so');
}

($status, $said) = post('x' x 1100000, $good);
is($status, 413, 'a large body');

my $plain = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port");
print $plain "GET / HTTP/1.1\r\n\r\n";
ok((wait_for { slurp("$dir/receiver.log") =~ /^no TLS /m }), 'no TLS');

my @idle = map { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") } 1 .. 20;
($status) = post($one, $good);
is($status, 204, 'who says nothing stops nobody');

unlike(slurp("$dir/receiver.log"), qr/$secret|Traceback/, 'no secret is shown');

my ($rc, $text) = run([ $RECEIVER, '--port', $port,
                        '--cert', "$dir/cert.pem", '--key', "$dir/key.pem",
                        '--secret-file', "$dir/secret" ]);
isnt($rc, 0, 'a port that is taken');
like($text, qr/^webhook-receiver: 127\.0\.0\.1:$port: /, 'is named');

done_testing();
