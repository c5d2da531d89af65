#!/usr/bin/perl

# Shows that svcctl makes and checks files of breached passwords, and that nginx takes
# only those that are whole.

use strict;
use warnings;

use Digest::SHA qw(sha1_hex sha256);
use Test::More;

use SvcTest;
use SvcTest::Documents qw(examples section);
use SvcTest::Process qw(run_apart slow slurp spawn wait_exit wait_for
                        write_file);

my $s = SvcTest->new(pg => 0, redis => 0);
my $dir = $s->dir . '/breached';
my $bin = "$dir/bin";

mkdir $_ or die "$_: $!\n" for $dir, $bin;
symlink $s->root . '/conf/svcctl', "$bin/svcctl" or die "svcctl: $!\n";


# --- what a file should contain --------------------------------------------------

sub header {
    my ($body, %said) = @_;

    return pack 'a8 N N Q> x8 a32', $said{magic} // "svcsha1\n",
                $said{version} // 1, $said{entry} // 8,
                $said{n} // length($body) / 8, $said{digest} // sha256($body);
}


# Returns the file that belongs to lines "SHA1:COUNT", in any order.

sub expected {
    my ($lines, $min) = @_;

    my %body = map { pack('H16', $_->[0]) => 1 } grep { $_->[1] >= ($min // 1) }
               map { [ split /[:\r]/ ] } @$lines;
    my $body = join '', sort keys %body;

    return header($body) . $body;
}


sub lines_of {
    my ($count, @passwords) = @_;

    return sort map { uc(sha1_hex($_)) . ":$count" } @passwords;
}


# --- svcctl breached build -------------------------------------------------------

our $out = "$dir/out";


sub build {
    my ($list, @args) = @_;

    write_file("$dir/list", $list);

    my ($status, $text, $err) = run_apart(
        [ $s->root . '/conf/svcctl', qw(breached build --out), $out, @args ],
        in => "$dir/list");

    return ($status >> 8 || $status, $text, $err);
}


sub builds {
    my ($name, $list, $expected, $said, @args) = @_;
    my ($rc, $text, $err) = build($list, @args);

    is($rc, 0, $name) or diag($err);
    is($err, '', "$name: no complaint");
    is($text, "$said\n", "$name: is told");
    is(unpack('H*', slurp($out) // ''), unpack('H*', $expected), "$name: the file");
}


# Expects a list to be refused: the previous file stays, and nothing is left beside
# it.

sub refuses {
    my ($name, $list, $why, @args) = @_;
    my $before = slurp($out);
    my ($rc, $text, $err) = build($list, @args);

    is($rc, 1, "$name: refused");
    is($text, '', "$name: shows nothing");
    like($err, qr/\Asvcctl: $why\n\z/, "$name: says why");
    is(slurp($out), $before, "$name: the file stays");
    is_deeply([ glob "$out.*" ], [], "$name: nothing is left");
}


my @few = lines_of(3, qw(password secret welcome), 'correct horse battery staple');

builds('a list', join("\n", @few, ''), expected(\@few),
       'wrote 4 hashes, and left out 0');
is((stat $out)[2] & 0777, 0666 & ~umask, 'as other files are');
builds('without a line break at the end', join("\n", @few), expected(\@few),
       'wrote 4 hashes, and left out 0');
builds('as from Windows', join("\r\n", @few, ''), expected(\@few),
       'wrote 4 hashes, and left out 0');
builds('in lower case', lc join("\n", @few, ''), expected(\@few),
       'wrote 4 hashes, and left out 0');
builds('each line twice', join("\n", map({ ($_, $_) } @few), ''), expected(\@few),
       'wrote 4 hashes, and left out 4');
builds('one line', "$few[0]\n", expected([ $few[0] ]),
       'wrote 1 hashes, and left out 0');
builds('the ends', "$_\n", expected([ split /\n/ ]), 'wrote 2 hashes, and left out 0')
    for join "\n", '0' x 40 . ':1', 'F' x 40 . ':' . '9' x 18;

# Several blocks of input, and numbers around each bound.

my @many = lines_of(1, 1 .. 30_000);
my @counts = (1, 2, 8 .. 12, 19 .. 21, 99 .. 101, 109 .. 111, 189 .. 191, 198 .. 201,
              989, 999 .. 1001, 12344 .. 12346, 99999, 100000, 123456789);

$many[$_] =~ s/:1$/":" . $counts[$_ % @counts]/e for 0 .. $#many;

for my $min (1, 2, 9, 10, 11, 20, 99, 100, 101, 110, 190, 199, 200, 990, 1000, 12345,
             99999, 100000)
{
    my $n = grep { /:(\d+)$/ && $1 >= $min } @many;
    my ($told, $left) = map { s/(\d)(?=\d{3}$)/$1,/r } $n, @many - $n;

    builds("--min-count $min", join("\n", @many, ''), expected(\@many, $min),
           "wrote $told hashes, and left out $left", '--min-count', $min);
}

builds('zeros before a number', "$few[0]\n" =~ s/:3/:003/r, expected([ $few[0] ]),
       'wrote 1 hashes, and left out 0', qw(--min-count 3));
builds('a list again', join("\n", @few, ''), expected(\@few),
       'wrote 4 hashes, and left out 0');

my $line = qr/is not "SHA1:COUNT", as in A{40}:3/;
my $order = qr/is out of order: sort the list, as LC_ALL=C sort does,.*/;

refuses('nothing', '', qr/there is no list on standard input/);
refuses('an empty line', "\n", qr/line 1 $line/);
refuses('one behind the list', join("\n", @few, '', ''), qr/line 5 $line/);
refuses('no count', join("\n", $few[0], substr($few[1], 0, 40), ''), qr/line 2 $line/);
refuses($_->[0], "$few[0]\n$_->[1]\n$few[1]\n", qr/line 2 $line/)
    for [ 'an empty count', 'A' x 40 . ':' ], [ 'a negative one', 'A' x 40 . ':-1' ],
        [ 'one with a blank', 'A' x 40 . ': 1' ], [ '39 digits', 'A' x 39 . ':1' ],
        [ '41 digits', 'A' x 41 . ':1' ], [ 'other letters', 'G' x 40 . ':1' ],
        [ 'a blank before', ' ' . 'A' x 40 . ':1' ], [ 'two counts', $few[1] . ':1' ],
        [ 'a count of 19 digits', 'A' x 40 . ':' . '1' x 19 ],
        [ 'a zero byte', "\0" . 'A' x 40 . ':1' ], [ 'text', "not\e[31m a hash" ];
refuses('out of order', join("\n", @few[0, 2, 1, 3], ''), qr/line 3 $order/);
refuses('at the end of a long list', join("\n", @many, $few[0], ''),
        qr/line 30001 $order/);
refuses('a mistake there', join("\n", @many, 'x', ''), qr/line 30001 $line/);
refuses('no line break in a megabyte', 'A' x 1_000_000, qr/line 1 $line/);
refuses('none that is seen often', join("\n", @few),
        qr/no line has a count of 4 or more/, qw(--min-count 4));
refuses("--min-count $_", join("\n", @few),
        qr/--min-count is a number from 1 to 999999999, not "$_"/, '--min-count', $_)
    for qw(0 x 1.5 -1 1000000000);

{
    local $out = "$dir/none/out";
    is((build("$few[0]\n"))[0], 1, 'a folder that is not there');
    ok(!-e $out, 'is not made');
}
{
    local $out = $dir;
    my ($rc, undef, $err) = build("$few[0]\n");
    is($rc, 1, 'a folder');
    like($err, qr/\Asvcctl: \Q$dir\E is no regular file\n\z/, 'is not replaced');
}

# The name is relative to the operator's folder.

my ($status) = run_apart([ $s->root . '/conf/svcctl', qw(breached build --out here) ],
                         in => "$dir/list", cwd => $dir);
is($status, 0, 'a relative name');
is(slurp("$dir/here"), expected([ $few[0] ]), 'is there');

# svcctl is stopped while it reads the list.

{
    my $before = slurp($out);

    system('mkfifo', "$dir/pipe") == 0 or die 'mkfifo';
    my $pid = spawn([ 'sh', '-c', 'exec "$0" breached build --out "$1" < "$2"',
                      $s->root . '/conf/svcctl', $out, "$dir/pipe" ],
                    out => "$dir/stopped");
    open my $pipe, '>', "$dir/pipe" or die "pipe: $!\n";
    syswrite $pipe, join("\n", @many[0 .. 20_000], '');
    ok((wait_for { glob "$out.*" }), 'a file that is being written');
    kill 'TERM', -$pid;
    close $pipe;
    ok(defined wait_exit($pid), 'stopped');
    ok((wait_for { !glob "$out.*" }), 'leaves nothing');
    is(slurp($out), $before, 'and the file as it was');
}


# --- svcctl breached check -------------------------------------------------------

sub check {
    my ($file, $password) = @_;
    my @args = defined $password ? '--password-stdin' : ();

    write_file("$dir/password", $password // '');

    my ($status, $text, $err) = run_apart(
        [ $s->root . '/conf/svcctl', qw(breached check --file), $file, @args ],
        in => "$dir/password");

    return [ $status >> 8 || $status, $text, $err ];
}


is_deeply(check($out), [ 0, "$out: 4 hashes, complete and in order\n", '' ], 'a file');
is_deeply(check($out, $_), [ 3, "breached\n", '' ], 'a password that is in it')
    for "password\n", 'secret', "welcome\nsecond line\n",
        "correct horse battery staple\n";
is_deeply(check($out, $_), [ 0, "not found\n", '' ], 'one that is not')
    for "Password\n", " secret\n", "secret \n", "-n\n", "\xc3\x9f\n", '$(id)';
is_deeply(check($out, $_),
          [ 1, '', "svcctl: there is no password on standard input\n" ], 'none')
    for '', "\n";

my $good = slurp($out);
my $body = substr $good, 64;
my ($first, $second) = map { substr $body, $_, 8 } 0, 8;
my $swapped = $second . $first . substr $body, 16;
my $twice = $first . $first . substr $body, 16;

my $no = qr/is no file of breached passwords/;
my $size = qr/has [\d,]+ bytes, and in its header it has [\d,]+ hashes/;
my $damaged = qr/is damaged: its SHA-256 is another one; build it again/;
my $disorder = qr/is not in order: build it again/;

# nginx -t says the same where it can see the fault.

my @bad = (
    [ 'that is empty', '', $no, qr/is empty; build one with/ ],
    [ 'of text', join("\n", @few), $no, $no ],
    [ 'of half a header', substr($good, 0, 40), $no, $no ],
    [ 'of another kind', header($body, magic => 'svcsha2' . "\n") . $body, $no, $no ],
    [ 'of the next version', header($body, version => 2) . $body,
      (qr/has a format of another version/) x 2 ],
    [ 'of other entries', header($body, entry => 20) . $body,
      (qr/has a format of another version/) x 2 ],
    [ 'that was cut off', substr($good, 0, -8), $size, qr/has been cut off/ ],
    [ 'that was cut off within an entry', substr($good, 0, -3), $size,
      qr/has been cut off/ ],
    [ 'of a header alone', substr($good, 0, 64), $size, qr/has been cut off/ ],
    [ 'that is too long', $good . 'x' x 8, $size, qr/has more in it/ ],
    [ 'of one byte too many', $good . 'x', $size, qr/has more in it/ ],
    [ 'of 2^63 entries', header($body, n => 2 ** 63) . $body, $size,
      qr/has been cut off/ ],
    [ 'with another bit', $good ^ ("\0" x 95 . "\1"), $damaged ],
    [ 'with another digest', header($body, digest => 'x' x 32) . $body, $damaged ],
    [ 'out of order', header($swapped) . $swapped, $disorder ],
    [ 'with an entry twice', header($twice) . $twice, $disorder ],
);

for my $row (@bad) {
    my ($name, $content, $why) = @$row;

    write_file("$dir/bad", $content);

    for my $password (undef, "password\n") {
        my ($rc, $text, $err) = @{ check("$dir/bad", $password) };

        is_deeply([ $rc, $text ], [ 1, '' ], "a file $name is refused");
        like($err, qr/\Asvcctl: \Q$dir\E\/bad $why\n\z/, 'and why');
    }
}

is_deeply(check("$dir/none"), [ 1, '', "svcctl: cannot read $dir/none\n" ],
          'a file that is not there');


# --- the documented commands -----------------------------------------------------

my ($example) = examples('bash', section('conf/commands.md', 'Breached passwords'));

mkdir "$dir/example" or die "$!\n";
write_file("$dir/example/pwnedpasswords.txt",
           join("\r\n", lines_of(7, 'P@ssw0rd', 'other'), ''));
my ($rc, $text, $err) = run_apart([ 'bash', '-uc', $example ], cwd => "$dir/example",
                                  env => { PATH => "$bin:$ENV{PATH}" });
is_deeply([ $rc >> 8, $err ], [ 3, '' ], 'the example');
is($text, "wrote 2 hashes, and left out 0\n"
          . "svc.breached: 2 hashes, complete and in order\nbreached\n",
   'does what it is documented to do');

# --- nginx -t --------------------------------------------------------------------

my $nginx = $s->nginx;


# Returns the exit status, the messages of the level emerg, and all output.

sub try_file {
    my ($file, $times) = @_;

    $nginx->{http} = "    svc_breached_passwords $file;\n" x ($times // 1);
    $nginx->write_configuration;

    my ($rc, $said) = $nginx->test_configuration;

    return ($rc, join('', $said =~ /\[emerg\] (?:\d+#\d+: )?(.*\n)/g), $said);
}


# Returns the seconds of CPU that ended child processes took.

sub cpu {
    my (undef, undef, $user, $system) = times;

    return $user + $system;
}


sub takes {
    my ($name, $file) = @_;
    my ($rc, $emerg, $said) = try_file($file);

    is($rc, 0, "nginx -t takes a file $name") or diag($said);
}


sub fails {
    my ($name, $file, $why, @times) = @_;
    my ($rc, $emerg, $said) = try_file($file, @times);

    isnt($rc, 0, "nginx -t fails with a file $name");
    is($rc & 127, 0, 'by no signal') or diag($said);
    like($emerg, qr/\A[^\n]*$why[^\n]* in \S+:\d+\n\z/, 'and says why');
}


takes('that svcctl made', $out);
takes('in quotes', "\"$out\"");

{
    local $out = $s->dir . '/in the prefix';
    is((build("$few[0]\n"))[0], 0, 'a file beside the configuration');
    takes('of the prefix', '"in the prefix"');
}

for my $row (grep { $_->[3] } @bad) {
    my ($name, $content, undef, $why) = @$row;

    write_file("$dir/bad", $content);
    fails($name, "$dir/bad",
          qr/"\Q$dir\E\/bad" $why.*svcctl breached build --out \Q$dir\E\/bad < LIST/);
}

fails('that is not there', "$dir/none",
      qr/no file of breached passwords "\Q$dir\E\/none".*svcctl breached build --out/);
fails('that is a folder', $dir, qr/"\Q$dir\E" is not a regular file/);
fails('that is a pipe', "$dir/pipe", qr/"\Q$dir\E\/pipe" is not a regular file/);
fails('without a name', '""', qr/"svc_breached_passwords" directive is empty/);
fails('twice', $out, qr/"svc_breached_passwords" directive is duplicate/, 2);
fails('in a folder that is a file', "$out/x",
      qr/"\Q$out\E\/x" cannot be opened; let the user/);

# A file of 10^9 entries, in a hole that takes no disk: nginx reads none of them.

{
    write_file("$dir/huge", header('', n => 1e9));
    truncate "$dir/huge", 64 + 8e9 or die "truncate: $!\n";

    my $before = cpu();

    takes('of 8 GB', "$dir/huge");
    cmp_ok(cpu() - $before, '<', slow(1), 'with little work');
    truncate "$dir/huge", 64 + 8e9 - 1 or die "truncate: $!\n";
    fails('of a byte less', "$dir/huge", qr/has been cut off/);
    unlink "$dir/huge";
}


# --- a file in use ---------------------------------------------------------------

# Returns the inodes that a worker has mapped of the file, and of its deleted
# predecessors.

sub mapped {
    my ($pid) = @_;

    return [ map { /(\d+)\s+\Q$out\E( \(deleted\))?$/ ? $1 . ($2 // '') : () }
             split /\n/, slurp("/proc/$pid/maps") ];
}


sub inode { return (stat $out)[1] }


$nginx->{http} = "    svc_breached_passwords $out;\n";
$s->start;

my @workers = $s->workers;
my $old = inode();

is_deeply(mapped($_), [ $old ], 'a worker has the file') for @workers;

builds('one with more', join("\n", @many, ''), expected(\@many),
       'wrote 30,000 hashes, and left out 0');
isnt(inode(), $old, 'is another file');
is_deeply(mapped($_), [ "$old (deleted)" ], 'the worker keeps the one before')
    for @workers;
is_deeply([ $s->workers ], \@workers, 'the workers go on');

$s->reload;
is_deeply(mapped($_), [ inode() ], 'a reload takes the new one alone')
    for $s->workers, $nginx->pid;

# These messages are nginx -t's.

$s->done(allow => [ qr/\[emerg\] .* in \S+nginx\.conf:\d+$/ ]);
done_testing();
