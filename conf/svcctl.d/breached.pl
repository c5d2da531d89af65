#!/usr/bin/perl
#
# Makes and reads files of breached passwords, as ngx_svc_breached.h describes
# them, with Debian's perl-base only.
#
#     breached.pl ME build OUT MIN    makes one of the lines on standard input
#     breached.pl ME check NAME       reads the one that is on descriptor 3, and
#                                     from standard input a SHA-1, or nothing

use strict;
use warnings;

use Fcntl qw(O_CREAT O_EXCL O_RDWR SEEK_SET);
use IO::Handle ();

use constant { MAGIC => "svcsha1\n", VERSION => 1, HEADER => 64, ENTRY => 8,
               BLOCK => 1 << 18, BREACHED => 3 };

my $LINE = qr/[0-9A-Fa-f]{40}:[0-9]{1,18}\r?/;

my ($me, $command, @args) = @ARGV;
my $unfinished;


sub fail {
    my $text = join '', @_;

    $text =~ tr/\x00-\x1f\x7f/?/;
    print STDERR "$me: $text\n";
    exit 1;
}


END {
    my $status = $?;

    unlink $unfinished if defined $unfinished;
    $? = $status;
}


sub with_commas {
    my $n = reverse shift;

    $n =~ s/([0-9]{3})(?=[0-9])/$1,/g;

    return scalar reverse $n;
}


# Returns the SHA-256 of the bytes after the header; standard input is closed by
# this.

sub body_digest {
    my ($fh) = @_;

    sysseek $fh, HEADER, SEEK_SET or fail("it cannot be read: $!");
    open STDIN, '<&', $fh or fail("it cannot be read: $!");

    my ($digest) = (qx(sha256sum) // '') =~ /^([0-9a-f]{64}) /
        or fail('sha256sum made no SHA-256');

    return pack 'H64', $digest;
}


# --- build -------------------------------------------------------------------

# Returns a pattern of the numbers from $min on, without leading zeros.

sub at_least {
    my ($min) = @_;

    my @digits = split //, $min;
    my $more = @digits;
    my @ways = ("[1-9][0-9]{$more,}", $min);

    for my $i (0 .. $#digits) {
        my ($before, $next) = (substr($min, 0, $i), $digits[$i] + 1);
        my $rest = $#digits - $i;

        push @ways, "$before\[$next-9][0-9]{$rest}" if $next < 10;
    }

    my $any = join '|', @ways;

    return qr/0*(?:$any)/;
}


# Reads lines with a mistake or a repeated entry one by one.  Returns the
# entries.

sub carefully {
    my ($lines, $number, $last, $min) = @_;
    my @entries;
    my @lines = split /\n/, $lines, -1;

    pop @lines if $lines =~ /\n\z/;

    for my $line (@lines) {
        $number++;
        $line =~ /\A$LINE\z/
            or fail("line $number is not \"SHA1:COUNT\", as in ", 'A' x 40, ':3');

        my ($hash, $count) = split /:/, $line;
        my $entry = unpack 'Q>', pack 'H16', $hash;

        next if $count + 0 < $min;

        fail("line $number is out of order: sort the list, as LC_ALL=C sort does,",
             ' all of it in upper case or all in lower case') if $entry < $last;

        push @entries, $entry if $entry > $last;
        $last = $entry;
    }

    return @entries;
}


# Returns the entries of whole lines, sorted, each once, and all above the last
# one.  Regular expressions over many lines are three times as fast as one for
# each line.

sub entries_of {
    my ($lines, $number, $last, $min, $wanted) = @_;

    return carefully($lines, $number, $last, $min)
        if $lines !~ /\A(?:$LINE\n)*+\z/;

    my @entries = unpack 'Q>*',
                  pack '(H16)*', $lines =~ /^(.{16}).{24}:$wanted\r?$/mg;
    my $before = $last;

    for my $entry (@entries) {
        return carefully($lines, $number, $last, $min) if $entry <= $before;
        $before = $entry;
    }

    return @entries;
}


# Writes the entries after the header.  Returns how many entries and lines there
# were.

sub copy_entries {
    my ($fh, $min) = @_;

    my ($rest, $lines, $n, $last) = ('', 0, 0, -1);
    my $wanted = at_least($min);

    for (;;) {
        my $got = sysread STDIN, my $block, BLOCK;

        fail("the list cannot be read: $!") if !defined $got;

        $block = $rest . $block;
        $block .= "\n" if $got == 0 && $block ne '';
        last if $block eq '';

        my $whole = rindex($block, "\n") + 1 || length $block;
        my @entries = entries_of(substr($block, 0, $whole), $lines, $last, $min,
                                 $wanted);

        $rest = substr $block, $whole;
        $lines += substr($block, 0, $whole) =~ tr/\n//;
        next if !@entries;

        print $fh pack 'Q>*', @entries or fail("it cannot be written: $!");
        $n += @entries;
        $last = $entries[-1];
    }

    return ($n, $lines);
}


# Writes a new file beside the old one, and renames it: processes that have
# mapped the old file keep it.

sub build {
    my ($out, $min) = @_;
    my $new = "$out.$$.new";

    fail("$out is no regular file") if -e $out && !-f _;

    sysopen my $fh, $new, O_RDWR|O_CREAT|O_EXCL, 0666
        or fail("$new cannot be made: $!");
    binmode $fh;
    $unfinished = $new;
    $SIG{$_} = sub { exit 1 } for qw(HUP INT TERM PIPE);

    print $fh "\0" x HEADER or fail("$new cannot be written: $!");

    my ($n, $lines) = copy_entries($fh, $min);

    fail('there is no list on standard input') if $lines == 0;
    fail("no line has a count of $min or more") if $n == 0;

    $fh->flush or fail("$new cannot be written: $!");

    my $header = pack 'a8 N N Q> x8 a32', MAGIC, VERSION, ENTRY, $n,
                      body_digest($fh);

    sysseek $fh, 0, SEEK_SET or fail("$new cannot be written: $!");
    (syswrite($fh, $header) // 0) == HEADER && $fh->sync && close $fh
        or fail("$new cannot be written: $!");
    rename $new, $out or fail("$new cannot be renamed to $out: $!");
    undef $unfinished;

    print 'wrote ', with_commas($n), ' hashes, and left out ',
          with_commas($lines - $n), "\n";
}


# --- check -------------------------------------------------------------------

# Checks the header, and returns the number of entries in it.

sub entries_said {
    my ($fh, $name) = @_;

    -f $fh or fail("$name is no regular file");

    my $size = -s _;
    my $got = sysread $fh, my $header, HEADER;

    fail("$name cannot be read: $!") if !defined $got;

    my ($magic, $version, $entry, $n, $digest)
        = $got == HEADER ? unpack 'a8 N N Q> x8 a32', $header : '';

    fail("$name is no file of breached passwords") if $magic ne MAGIC;
    fail("$name has a format of another version")
        if $version != VERSION || $entry != ENTRY;
    fail("$name has ", with_commas($size), ' bytes, and in its header it has ',
         with_commas($n), ' hashes') if $size != HEADER + ENTRY * $n;

    return ($n, $digest);
}


# Reads the whole file.  Returns 1 when the entry is in it.

sub find_in_order {
    my ($fh, $name, $n, $wanted) = @_;

    my ($left, $last, $found) = ($n * ENTRY, -1, 0);

    while ($left > 0) {
        my $got = sysread $fh, my $block, $left < BLOCK ? $left : BLOCK;

        fail("$name cannot be read: ", $! || 'it has changed')
            if !$got || $got % ENTRY;
        $left -= $got;

        for my $entry (unpack 'Q>*', $block) {
            fail("$name is not in order: build it again") if $entry <= $last;
            $last = $entry;
            $found = 1 if $entry == $wanted;
        }
    }

    return $found;
}


sub check {
    my ($name) = @_;

    my ($hash) = (readline(STDIN) // '') =~ /^([0-9a-f]{40})$/;

    open my $fh, '<&=', 3 or fail("$name cannot be read: $!");

    my ($n, $digest) = entries_said($fh, $name);
    my $wanted = defined $hash ? unpack('Q>', pack 'H16', $hash) : -1;
    my $found = find_in_order($fh, $name, $n, $wanted);

    fail("$name is damaged: its SHA-256 is another one; build it again")
        if body_digest($fh) ne $digest;

    if (!defined $hash) {
        print "$name: ", with_commas($n), " hashes, complete and in order\n";
        return;
    }

    print $found ? "breached\n" : "not found\n";
    exit BREACHED if $found;
}


binmode STDIN;

my %commands = (build => \&build, check => \&check);

$commands{$command}->(@args);
STDOUT->flush or fail("the output cannot be written: $!");
