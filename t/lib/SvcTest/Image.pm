package SvcTest::Image;

# Images to upload, and files that only look like images.  PNGs are made by
# hand, so that they can be wrong; JPEG and WebP are fixed images of 9 x 7
# pixels.

use strict;
use warnings;

use Compress::Zlib qw(compress crc32);
use Exporter qw(import);
use MIME::Base64 qw(decode_base64);

our @EXPORT_OK = qw(png png_chunk png_with_words png_words png_of_size png_bomb png_text_bomb jpeg
    jpeg_progressive webp webp_lossless webp_alpha webp_animated gif svg
    truncated polyglot);

my $MAGIC = "\x89PNG\r\n\x1a\n";

# samples of a pixel, by color type
my %SAMPLES = (0 => 1, 2 => 3, 3 => 1, 4 => 2, 6 => 4);

# Adam7: first column and row, and the steps
my @PASSES = ([0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4],
    [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]);


sub png_chunk {
    my ($type, $data) = @_;

    return pack('N', length $data) . $type . $data
        . pack('N', crc32($type . $data));
}


# Puts words into a PNG, in a chunk before its end; png_words returns them.

sub png_with_words {
    my ($png, $words) = @_;
    my $end = png_chunk('IEND', '');

    utf8::encode($words);

    return substr($png, 0, -length $end) . png_chunk('iTXt', "words\0\0\0\0\0$words") . $end;
}


sub png_words {
    my ($png) = @_;
    my $at = index $png, "iTXtwords\0\0\0\0\0";

    return if $at < 0;

    my $words = substr $png, $at + 14, unpack('N', substr $png, $at - 4, 4) - 10;

    utf8::decode($words);

    return $words;
}


# Makes a PNG.  %with: color (0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6
# RGBA; default 2), depth (default 8), interlaced, noise (pixels that do not
# compress), chunks (put before IDAT), idat (replaces the compressed pixels),
# behind (raw bytes after the rows, compressed with them).

sub png {
    my ($width, $height, %with) = @_;

    my $color = $with{color} // 2;
    my $depth = $with{depth} // 8;
    my $header = pack('NNCCCCC', $width, $height, $depth, $color, 0, 0,
        $with{interlaced} ? 1 : 0);

    return $MAGIC . png_chunk('IHDR', $header)
        . ($color == 3 ? png_chunk('PLTE', "\0\0\0\xff\xff\xff") : '')
        . ($with{chunks} // '')
        . png_chunk('IDAT', $with{idat} // compress(
            rows($width, $height, $SAMPLES{$color} * $depth, %with)
            . ($with{behind} // ''), 9))
        . png_chunk('IEND', '');
}


sub rows {
    my ($width, $height, $bits, %with) = @_;

    my @passes = $with{interlaced} ? @PASSES : [0, 0, 1, 1];
    my $rows = '';

    for my $pass (@passes) {
        my ($x, $y, $dx, $dy) = @$pass;
        my $columns = int(($width - $x + $dx - 1) / $dx);
        my $lines = int(($height - $y + $dy - 1) / $dy);

        next if $columns <= 0 || $lines <= 0;

        my $bytes = int(($columns * $bits + 7) / 8);

        $rows .= $with{noise}
            ? join('', map { "\0" . noise($bytes) } 1 .. $lines)
            : ("\0" x ($bytes + 1)) x $lines;
    }

    return $rows;
}


sub noise {
    my ($bytes) = @_;

    return pack('C*', map { int rand 256 } 1 .. $bytes);
}


# Makes a PNG of exactly $bytes bytes, most of which are a comment.

sub png_of_size {
    my ($bytes, %with) = @_;

    my $png = png(16, 16, %with);
    my $text = $bytes - length($png) - length png_chunk('tEXt', "Comment\0");

    die "no PNG is as small as $bytes bytes" if $text < 0;

    substr($png, -length png_chunk('IEND', ''), 0)
        = png_chunk('tEXt', "Comment\0" . 'x' x $text);

    return $png;
}


# Makes a valid PNG of few bytes and many pixels, 32 MB of them.

sub png_bomb {
    return png(2000, 2000, color => 6, depth => 16, interlaced => 1);
}


# Makes a valid, tiny picture with a text that would inflate to $bytes.

sub png_text_bomb {
    my ($bytes) = @_;

    return png(4, 4, chunks => png_chunk('zTXt',
        "Comment\0\0" . compress("\0" x $bytes, 9)));
}


# Makes a JPEG.  With other sides than 9 x 7 its header lies, to be refused for
# its sides.

sub jpeg {
    my ($width, $height) = @_;

    my $jpeg = fixed('jpeg');

    if (defined $width) {
        my $frame = index($jpeg, "\xff\xc0\0\x11\x08");
        substr($jpeg, $frame + 5, 4) = pack('nn', $height, $width);
    }

    return $jpeg;
}


# Makes a subsampled JPEG with Exif.

sub jpeg_progressive {
    return fixed('progressive');
}


sub webp {
    return fixed('webp');
}


sub webp_lossless {
    return fixed('lossless');
}


sub webp_alpha {
    return fixed('alpha');
}


# Makes an animation of one frame, the one of webp().

sub webp_animated {
    my $frame = substr(webp(), 12);
    my $chunks = riff('VP8X', pack('VvCvC', 2, 8, 0, 6, 0))
        . riff('ANIM', pack('Vv', 0, 0))
        . riff('ANMF', pack('x6 vCvCvCC', 8, 0, 6, 0, 100, 0, 0) . $frame);

    return riff('RIFF', 'WEBP' . $chunks);
}


sub riff {
    my ($type, $data) = @_;

    return $type . pack('V', length $data) . $data
        . (length($data) % 2 ? "\0" : '');
}


sub gif {
    return "GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0"
        . "\2\2D\1\0;";
}


sub svg {
    return '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8">'
        . '<script>alert(1)</script></svg>';
}


# Returns an image without its last bytes; the default is one byte.

sub truncated {
    my ($image, $bytes) = @_;

    return substr($image, 0, -($bytes // 1));
}


# Returns an image followed by something else; the default is the end of a ZIP
# archive.

sub polyglot {
    my ($image, $more) = @_;

    return $image . ($more // "PK\5\6" . "\0" x 18);
}


my %fixed;

sub fixed {
    my ($name) = @_;

    if (!%fixed) {
        my $text = join '', <DATA>;

        $fixed{$1} = decode_base64($2)
            while $text =~ /^(\w+):\n((?:[ ]+\S+\n)+)/mg;
    }

    return $fixed{$name};
}


1;

__DATA__
jpeg:
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEycc
    HhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4O
    DhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P
    T09PT09PT09PT09PT0//wAARCAAHAAkDAREAAhEBAxEB/8QAHwAAAQUBAQEBAQEA
    AAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIh
    MUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6
    Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZ
    mqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx
    8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREA
    AgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAV
    YnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hp
    anN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPE
    xcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDj
    9NtxxTEbP2cUAf/Z
progressive:
    /9j/4AAQSkZJRgABAQAAAQABAAD/4QAQRXhpZgAASUkqAAgAAAD/2wBDAA0JCgsK
    CA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNS
    Mj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09P
    T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wgARCAAHAAkDASIAAhEB
    AxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAQF/8QAFQEBAQAAAAAAAAAAAAAAAAAA
    AAH/2gAMAwEAAhADEAAAAcewT//EABcQAQADAAAAAAAAAAAAAAAAAAACAxL/2gAI
    AQEAAQUCriy//8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAwEBPwF//8QAFBEB
    AAAAAAAAAAAAAAAAAAAAAP/aAAgBAgEBPwF//8QAFBABAAAAAAAAAAAAAAAAAAAA
    EP/aAAgBAQAGPwI//8QAFBABAAAAAAAAAAAAAAAAAAAAEP/aAAgBAQABPyEn/9oA
    DAMBAAIAAwAAABB//8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAwEBPxB//8QA
    FBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAgEBPxB//8QAFxABAAMAAAAAAAAAAAAA
    AAAAAAERIf/aAAgBAQABPxCDFH//2Q==
webp:
    UklGRkgAAABXRUJQVlA4IDwAAABQAQCdASoJAAcABABoJagABHQAAP7nzoPyv/71
    lT//ve9KT5d/whPlUcMN4+f19IzH0UjP9SnglpW3AAA=
lossless:
    UklGRmYAAABXRUJQVlA4TFkAAAAvCIABEPchEG1q/hi3vcBKE0jabHvn5x+gZOY+
    GAYAWDS7bNu27SL6Hz+AYATFcIKkaIbleEGUZEXVdMO0bMf1/CCM4iTN8qKs6qbt
    +mGc5mXd9uO87uf9AAA=
alpha:
    UklGRnAAAABXRUJQVlA4WAoAAAAQAAAACAAABgAAQUxQSA0AAAABDzBAERFiAiL6
    HwEAAFZQOCA8AAAAUAEAnQEqCQAHAAQAaCWoAAR0AAD+586D8r/+9ZU//73vSk+X
    f8IT5VHDDePn9fSMx9FIz/Up4JaVtwAA
