#!/usr/bin/perl

# Shows which images the logo may be, who sees it, and how long it is cached.

use strict;
use warnings;

use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Image qw(png png_of_size png_bomb png_text_bomb jpeg
    jpeg_progressive webp webp_lossless webp_alpha webp_animated gif svg
    truncated polyglot);
use SvcTest::Process qw(slow wait_for);

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;


sub put {
    my ($bytes, @headers) = @_;

    return $acme->admin(PUT => '/tenant/logo', $bytes, \@headers);
}


sub logo {
    my ($headers, $query) = @_;

    return $s->http(GET => '/v1/tenants/acme/logo' . ($query // ''), $headers);
}


# --- no logo ---------------------------------------------------------------------

admin_error(logo(), 404, 'not_found', 'no logo');
is($acme->admin(DELETE => '/tenant/logo')->status, 200, 'none to delete');
is_deeply([ $acme->events('id') ], [], 'is no event');


# --- each format, by its bytes -------------------------------------------------------

my $url;

for my $case ([ 'a PNG', png(40, 20), 'image/png' ],
              [ 'an interlaced PNG', png(9, 9, interlaced => 1), 'image/png' ],
              [ 'a palette', png(9, 9, color => 3, depth => 1), 'image/png' ],
              [ 'a PNG of 2000 x 1', png(2000, 1), 'image/png' ],
              [ 'a PNG of 1 x 2000', png(1, 2000), 'image/png' ],
              [ 'a JPEG', jpeg(), 'image/jpeg' ],
              [ 'a progressive JPEG', jpeg_progressive(), 'image/jpeg' ],
              [ 'a WebP', webp(), 'image/webp' ],
              [ 'a lossless WebP', webp_lossless(), 'image/webp' ],
              [ 'a WebP with alpha', webp_alpha(), 'image/webp' ],
              [ 'exactly 512 KB', png_of_size(524288), 'image/png' ])
{
    my ($name, $bytes, $type) = @$case;
    my $r = put($bytes, 'Content-Type' => 'text/plain');

    is($r->status, 200, $name) or diag($r->body);

    my $now = $r->json->{tenant}{branding}{logoUrl};
    like($now, qr{\A\Q@{[ $s->base_url ]}\E/v1/tenants/acme/logo\?v=[0-9a-f]{12}\z},
         'its URL');
    isnt($now, $url, 'changes');
    $url = $now;

    my $got = logo();
    is($got->status, 200, 'it is served');
    ok($got->body eq $bytes, 'byte for byte');
    is($got->header('content-type'), $type, "as $type");
}

is($s->http(GET => '/v1/tenants/acme/branding')->json->{branding}{logoUrl}, $url,
   'the URL is published');
is(scalar @{ [ $acme->events('id') ] }, 11, 'an event each');
is_deeply(($acme->events('details'))[-1],
          [ { size => 524288, contentType => 'image/png' } ],
          'with its type and size');

my $r = put(png_of_size(524288));
isnt($r->json->{tenant}{branding}{logoUrl}, $url, 'the same bytes, another URL');
is($s->sql("SELECT count(*) FROM svc.logo"), 1, 'there is one logo');


# --- headers of the answer -------------------------------------------------------------

put(my $small = png(40, 20));
$r = logo();

my %headers = ('cache-control' => 'public, max-age=31536000, immutable',
               'x-content-type-options' => 'nosniff', 'accept-ranges' => 'bytes',
               'content-security-policy' => "default-src 'none'; sandbox",
               'content-length' => length $small);
is($r->header($_), $headers{$_}, $_) for sort keys %headers;

my $etag = $r->header('etag');
like($etag, qr/\A"[0-9a-f]{12}"\z/, 'its entity tag');
is(logo([ 'If-None-Match' => $etag ])->status, 304, 'If-None-Match');
is(logo([ 'If-None-Match' => '"x"' ])->status, 200, 'another one');
is(logo(undef, '?v=old')->status, 200, 'whatever version is asked for');

my $head = $s->http(HEAD => '/v1/tenants/acme/logo');
is($head->status . ' ' . $head->header('content-length') . $head->body,
   '200 ' . length $small, 'HEAD');

my $part = logo([ Range => 'bytes=1-3' ]);
is($part->status . $part->body, '206PNG', 'a range');
is($part->header('content-range'), 'bytes 1-3/' . length $small, 'said to be one');
is(logo([ Range => 'bytes=0-0', 'If-Range' => '"x"' ])->status, 200,
   'a range of another version');
is(logo([ Range => 'bytes=-4' ])->body, substr($small, -4), 'its end');

my $many = logo([ Range => 'bytes=0-1,4-5' ]);
is($many->status, 206, 'two ranges');
like($many->header('content-type'), qr/\Amultipart\/byteranges/, 'in parts');
admin_error(logo([ Range => 'bytes=100000-' ]), 416, undef, 'no such range');


# --- what is refused -----------------------------------------------------------------------

my $before = $s->sql('SELECT md5(t::text) FROM svc.tenant t'
                     . " WHERE slug = 'acme'");

sub refused {
    my ($code, $name, $bytes) = @_;

    admin_error(put($bytes, 'Content-Type' => 'image/png'),
                $code eq 'payload_too_large' ? 413 : 400, $code, $name);
}

refused(unsupported_image => @$_)
    for [ 'nothing', '' ], [ 'SVG', svg() ], [ 'GIF', gif() ],
        [ 'XML', "<?xml version=\"1.0\"?>" . svg() ],
        [ 'SVG behind a BOM', "\xef\xbb\xbf" . svg() ],
        [ 'HTML', '<html><body>' ], [ 'text', 'x' x 100 ],
        [ 'BMP', 'BM' . "\0" x 60 ], [ 'RIFF that is sound', 'RIFF' . pack('V', 4)
        . 'WAVE' ], [ 'multipart', "--x\r\nContent-Disposition: form-data;"
        . " name=\"f\"\r\n\r\n" . png(4, 4) . "\r\n--x--\r\n" ],
        [ 'a PNG behind a blank', ' ' . png(4, 4) ];

for my $row ([ PNG => png(20, 20) ], [ JPEG => jpeg() ], [ WebP => webp() ],
             [ 'lossless WebP', webp_lossless() ])
{
    my ($name, $bytes) = @$row;

    refused(invalid_image => "a truncated $name", truncated($bytes, $_))
        for 1, 5, int(length($bytes) / 2);
    refused(invalid_image => "a $name that is a ZIP, too", polyglot($bytes));
    refused(invalid_image => "a $name with a script",
            polyglot($bytes, '<script>alert(1)</script>'));
}

refused(invalid_image => "a WebP whose alpha is damaged: $_->[0]", do {
    my $bytes = webp_alpha();
    my $alpha = index $bytes, 'ALPH';

    substr $bytes, $alpha + $_->[1], 1, $_->[2];
    $bytes;
}) for [ 'its header', 8, "\xff" ], [ 'its compression', 8, "\x03" ],
       [ 'too short to be plain', 8, "\x00" ], [ 'its codes', 9, "\xff" ];
refused(invalid_image => 'the magic of a PNG alone', "\x89PNG\r\n\x1a\n");
refused(invalid_image => 'a PNG of no pixels', png(0, 5, idat => ''));
refused(invalid_image => 'a wrong checksum', do {
    my $p = png(9, 9);
    substr($p, 30, 1) ^= "\1";
    $p;
});
refused(invalid_image_dimensions => @$_)
    for [ 'a PNG of 2001 px', png(2001, 1) ], [ 'high', png(1, 2001) ],
        [ 'a JPEG of 2001 px', jpeg(2001, 7) ],
        [ 'huge', png(2**31 - 1, 2**31 - 1, idat => '') ];
refused(payload_too_large => 'a byte too many', png_of_size(524289));
like(put(png(2001, 40))->json->{error}{message}, qr/2001 x 40/,
     'the message says what it is');

is($s->sql("SELECT md5(t::text) FROM svc.tenant t WHERE slug = 'acme'"), $before,
   'nothing of that is stored');
ok(logo()->body eq $small, 'the old one is served');


# --- bombs do not stop other requests ----------------------------------------------------------

# The bomb is made once: to compress it takes longer than all the rest.

my $bomb = png_bomb();
my @bombs = ($bomb, png_text_bomb(200_000_000), $bomb);

my @bombers = map {
    my $pid = fork // die "fork: $!";

    if (!$pid) {
        my $ok = grep { put($_)->status == 200 } @bombs;

        POSIX::_exit($ok == 3 ? 0 : 1);
    }

    $pid;
} 1 .. 4;

my $asked = 0;
my %left = map { $_ => 1 } @bombers;
my $failed = 0;

while (%left) {
    $asked++ if $s->http(GET => '/alive')->status == 200;

    for my $pid (keys %left) {
        next if waitpid($pid, POSIX::WNOHANG()) != $pid;

        delete $left{$pid};
        $failed++ if $?;
    }
}

is($failed, 0, 'bombs that are valid are taken');

cmp_ok($asked, '>', 4 * @bombs * @bombers,
       'while bombs are looked at, others are answered, without waiting for them');
note("$asked answers");

is($s->sql("SELECT octet_length(data) < 100000 FROM svc.logo"), 't',
   'a valid one is a logo');


# --- permissions, and clients that leave ---------------------------------------------------------

my $viewer = $acme->token(kind => 'api', permissions => 'users:view');
admin_error($acme->admin(PUT => '/tenant/logo', $bomb, undef,
                         $viewer->{token}), 403, 'forbidden',
            'without the permission');
admin_error($acme->admin(PUT => '/tenant/logo', 'x', undef, 'svc_x'), 401,
            'unauthorized', 'without a token');
admin_error($acme->admin(DELETE => '/tenant/logo', undef, undef,
                         $viewer->{token}), 403, 'forbidden', 'nor delete it');

my $sockets = $s->nginx->sockets;

for my $i (1 .. 20) {
    my $bytes = $i % 2 ? $bomb : png_of_size(500_000);
    my $c = $s->begin(PUT => '/v1/admin/tenant/logo',
                      { Authorization => "Bearer $acme->{api_token}" }, $bytes);

    $i % 3 ? $c->abort : $c->close;
}

# An upload that was sent as a whole is done, even where the client has left; a new
# connection is accepted after those.

is($s->http(GET => '/alive')->status, 200, 'others are served');
ok((wait_for { $s->nginx->sockets <= $sockets
               && $s->sessions("state <> 'idle'") == 0 }),
   'all have gone');
is(put(my $last = png(30, 30))->status, 200, 'clients that go leave no trace');
ok(logo()->body eq $last, 'the last one is served');

$etag = $acme->admin(GET => '/tenant')->header('etag');
is(put(png(5, 5), 'If-Match' => $etag)->status, 200, 'If-Match');
admin_error(put(png(6, 6), 'If-Match' => $etag), 412, 'precondition_failed',
            'a stale one');
admin_error($acme->admin(DELETE => '/tenant/logo', undef,
                         [ 'If-Match' => $etag ]), 412,
            'precondition_failed', 'also to delete');


# --- a slow reader holds what it reads --------------------------------------------------------------

put(my $large = png_of_size(524288));
logo();

my $slow = $s->connection;
$slow->send($slow->format(GET => '/v1/tenants/acme/logo', {}, undef));
ok($slow->answered, 'who is slow has its first bytes');

put(png(7, 7));
logo();
put(png_of_size(500_000));
ok(logo()->body eq png_of_size(500_000), 'a newer one is served');
ok($slow->read->body eq $large, 'who began with the old one gets all of it');


# --- a worker that is killed while it sends -----------------------------------------------------------

for my $pid (@workers) {
    my @c = map { $s->begin(GET => '/v1/tenants/acme/logo') } 1 .. 8;

    kill 'KILL', $pid;
    ok((wait_for { my @now = $s->workers;
                   @now == @workers && !grep { $_ == $pid } @now }),
       'a killed worker is replaced');
}

$s->wait_healthy;
put(png(8, 8));
ok(logo()->body eq png(8, 8), 'the new ones serve the new one');


# --- a reload waits for logos that are being checked ----------------------------------------------------

{
    my @c = map {
        $s->begin(PUT => '/v1/admin/tenant/logo',
                  { Authorization => "Bearer $acme->{api_token}" }, $bomb);
    } 1 .. 6;

    wait_for { $s->sql("SELECT count(*) FROM svc.audit_event WHERE action ="
                       . " 'logo.uploaded' AND created_at > now()"
                       . " - interval '1 s'") > 0 };
    $s->reload;

    my %seen;
    $seen{ ($_->read // { status => 'none' })->{status} }++ for @c;
    is_deeply([ sort keys %seen ], [ 200 ], 'a reload loses no upload');
}


# --- another node, which is not told of a change ---------------------------------------------------------

{
    my $redis = $s->nginx->{svc}{svc_redis};
    $s->nginx->{svc}{svc_redis} = undef;
    $s->reload;
    $s->wait_healthy;

    my $node = $s->node(svc => { svc_redis => undef });
    my @there = (port => $node->{port});
    my $get = sub {
        return $s->http(GET => $_[0], undef, undef, @there);
    };

    put(my $old = png(11, 11));
    ok($get->('/v1/tenants/acme/logo')->body eq $old, 'it knows the old one');

    my $url = put(my $new = png(12, 12))->json->{tenant}{branding}{logoUrl};
    my $path = $url =~ s{\Ahttp://[^/]+}{}r;
    my $r;

    wait_for { $r = $get->($path); $r->body eq $new };
    is($r->header('cache-control'), $headers{'cache-control'},
       'the new URL gives the new one, for a year');

    $r = $get->($path . '0');
    is($r->header('cache-control'), 'public, max-age=60',
       'of another version, for a minute');
}


# --- the logo is deleted -------------------------------------------------------------------------------

$r = $acme->admin(DELETE => '/tenant/logo');
is($r->status, 200, 'deleted');
is($r->json->{tenant}{branding}{logoUrl}, undef, 'its URL goes');
admin_error(logo(), 404, 'not_found', 'at once');
is(($acme->events('action'))[-1][0], 'logo.deleted', 'with an event');
is($s->sql('SELECT count(*) FROM svc.logo'), 0, 'nothing is left');
is($s->http(GET => '/v1/tenants/globex/logo')->status, 404,
   'another tenant never had one');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done(allow => [ qr/exited on signal 9/ ]);
done_testing();
