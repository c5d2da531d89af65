#!/usr/bin/perl

# Password hashes made here and verified by other software, and the other way
# round: argon2-cffi for argon2id and argon2i, PHP for bcrypt, Python's hashlib
# for PBKDF2 as passlib writes it, and Python's unicodedata for the
# normalization before hashing.

use strict;
use warnings;

use FindBin;
use IPC::Open2 qw(open2);
use Test::More;

use SvcTest::Process qw(repeated);
use SvcTest::Skip;

needs(program => 'make php', python => 'argon2');

my $ROOT = "$FindBin::Bin/..";

# Debian's Python, which has the package python3-argon2
my $PYTHON = '/usr/bin/python3';


is(system('make', '-s', '-C', $ROOT, 'unit'), 0, 'make unit');


# Starts a program that answers each line with a line.

sub start {
    my @command = @_;

    my $pid = open2(my $out, my $in, @command);
    $in->autoflush(1);

    return sub {
        my ($line) = @_;

        if (!defined $line) {
            close $in;
            waitpid $pid, 0;
            return $?;
        }

        print {$in} "$line\n";
        my $answer = <$out> // die "no answer to $line\n";
        chomp $answer;

        return $answer;
    };
}

my $ours = start("$ROOT/build/unit/password_tool");
my $python = start($PYTHON, "$ROOT/t/oracle/password_oracle.py");
my $php = start('php', "$ROOT/t/oracle/password_oracle.php");


# in hexadecimal digits: passwords that are allowed, and some that are not
my @passwords = map { unpack 'H*', $_ } (
    'correct horse battery staple',
    "p\xC3\xA4ssw\xC3\xB6rd",
    'a',
    ' spaces at both ends ',
    "\xF0\x9F\x94\x91" x 10,
    'x' x 71,
    '$argon2id$v=19$',
    "quote'\"\\percent%s",
);


sub ours {
    my ($password, $string) = @_;

    return $ours->("verify $password $string");
}


# --- we verify argon2-cffi's -----------------------------------------------------

# type, memory, iterations, lanes, length of the salt and of the tag
my @costs = (
    [ 'id', 19456, 2, 1, 16, 32 ],
    [ 'id', 64, 3, 4, 16, 32 ],
    [ 'id', 102400, 2, 4, 16, 16 ],     # PasswordHasher() of 20.1
    [ 'id', 65536, 3, 4, 16, 32 ],      # RFC 9106's second recommendation
    [ 'id', 8, 1, 1, 8, 64 ],
    [ 'id', 33, 16, 3, 64, 24 ],
    [ 'i', 4096, 3, 1, 16, 32 ],
    [ 'i', 64, 1, 2, 32, 32 ],
);

for my $cost (@costs) {
    for my $password ($cost->[1] > 1000 ? @passwords[0, 1] : @passwords) {
        my $string = $python->("argon2 @$cost $password");

        is(ours($password, $string), 'match', "argon2-cffi's: $string");
        is(ours("${password}20", $string), 'no match', 'with a space more');
    }
}

is(ours($passwords[0], $python->("argon2 id 262145 1 1 16 32 $passwords[0]")),
   'refused', 'a KiB above 256 MiB');
is(ours($passwords[0], $python->("argon2 id 64 17 1 16 32 $passwords[0]")),
   'refused', '17 iterations');
is(ours($passwords[0], $python->("argon2 id 64 1 5 16 32 $passwords[0]")),
   'refused', 'five lanes');
is(ours($passwords[0], $python->("argon2 d 64 1 1 16 32 $passwords[0]")),
   'refused', 'argon2d');


# --- argon2-cffi verifies ours -------------------------------------------------------

for my $cost ([ 19456, 2 ], [ 7168, 5 ], [ 47104, 1 ], [ 64, 3 ]) {
    for my $password (@passwords) {
        my $string = $ours->("make @$cost $password");

        like($string, qr/\A\$argon2id\$v=19\$m=$cost->[0],t=$cost->[1],p=1\$
                         [A-Za-z0-9+\/]{22}\$[A-Za-z0-9+\/]{43}\z/x,
             "made: $string");
        is($python->("verify $password $string"), 'match', 'and is verified');
        is($python->("verify ${password}20 $string"), 'no match',
           'and not with a space more');
        is($ours->("outdated @$cost $string"), 'current', 'it is current');

        my $iterations = $cost->[1] + 1;

        is($ours->("outdated $cost->[0] $iterations $string"), 'outdated',
           'until there are to be more iterations');
    }
}


# --- bcrypt's, PBKDF2's ----------------------------------------------------------------

for my $password (@passwords) {
    for my $cost (4, 10) {
        my $string = $php->("$cost $password");

        like($string, qr/\A\$2y\$/, "PHP's: $string");
        is(ours($password, $string), 'match', 'is verified');
        is(ours("${password}20", $string), 'no match', 'with a space more');

        # the same under other names, as other software writes it
        is(ours($password, $string =~ s/\A\$2y/\$$_/r), 'match', "\$$_\$")
            for qw(2a 2b);
        is($ours->("outdated 19456 2 $string"), 'outdated', 'it is outdated');
    }

    for my $digest (qw(sha256 sha512)) {
        for my $rounds (1, 1000, 29_000) {
            my $string = $python->("pbkdf2 $digest $rounds $password");

            is(ours($password, $string), 'match', "hashlib's: $string");
            is(ours("${password}20", $string), 'no match',
               'with a space more');
        }
    }
}


# --- normalization -------------------------------------------------------------------------

# Compares what both make of each line of code points.  The oracle leaves out
# code points that the Unicode version of one of the two has not assigned.

my $n = repeated(SVC_TEST_CASES => 3_000, 20_000);
my $seed = $ENV{SVC_TEST_SEED} // 20261122;
my ($same, $refused, @differ) = (0, 0);

srand $seed;

sub code_point {
    my $kind = rand;

    return int rand 0x80 if $kind < 0.1;
    return 0xA0 + int rand 0x500 if $kind < 0.3;
    return 0x300 + int rand 0x70 if $kind < 0.45;
    return 0x900 + int rand 0x700 if $kind < 0.6;
    return 0x1100 + int rand 0x100 if $kind < 0.7;
    return 0x2000 + int rand 0x100 if $kind < 0.8;
    return 0xAC00 + int rand 0x2BA4 if $kind < 0.9;

    my $point = int rand 0x10FFFE;

    return $point >= 0xD800 && $point < 0xE000 ? 0x20 : $point;
}

for (1 .. $n) {
    my $text = join '', map { chr code_point() } 1 .. 1 + rand 8;

    utf8::encode($text);
    my $hex = unpack 'H*', $text;
    my $theirs = $python->("text $hex");

    next if $theirs eq 'unassigned';

    my $our = $ours->("text $hex");

    if ($our eq $theirs) {
        $our eq 'refused' ? $refused++ : $same++;

    } else {
        push @differ, "$hex: $our, not $theirs";
    }
}

is_deeply(\@differ, [], "$n texts are normalized alike, seed $seed");
cmp_ok($same, '>', $n / 10, 'many of them were taken');
cmp_ok($refused, '>', $n / 100, 'and some were refused');


is($ours->(undef), 0, 'nothing went wrong here');
is($python->(undef), 0, 'nor in Python');
is($php->(undef), 0, 'nor in PHP');

done_testing();
