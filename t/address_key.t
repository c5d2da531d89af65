#!/usr/bin/perl

# Shows when two e-mail addresses are the same one, by a key that is made in C and in
# SQL, and that addresses made to look like somebody else's are refused.

use strict;
use warnings;
use utf8;

use Test::More;

use Encode qw(encode_utf8 decode_utf8);
use File::Temp;
use JSON::PP ();
use Unicode::Normalize qw(NFC NFD);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Mail;
use SvcTest::Process qw(run wait_for);
use SvcTest::Scim;
use SvcTest::Session qw(session_of live_sessions);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = SvcTest->new(workers => 1);
my $mail = SvcTest::Mail->new($s, svc_sign_in => 'on',
    svc_password_hash => 'memory=7m iterations=1',
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_LOGIN_EMAIL_MAX 3' ]);

$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->start;

my $acme = $s->tenant('acme');
my $api = $acme->token_for('members:manage,users:view');

$s->secret($PASSWORD);


sub keys_in_c {
    my (@addresses) = @_;
    my $file = File::Temp->new;

    binmode $file, ':encoding(UTF-8)';
    print $file map { "$_\n" } @addresses;
    close $file;

    my ($status, $text) = run([ 'sh', '-c', 'exec "$1" < "$2"', 'sh',
                                $s->root . '/build/unit/email_eval', "$file" ]);

    $status == 0 or die "email_eval: $text";

    return map { [ split / /, $_, 2 ] } split /\n/, decode_utf8($text);
}


sub keys_in_sql {
    my (@addresses) = @_;
    my $json = encode_utf8(JSON::PP->new->encode(\@addresses));

    return map { decode_utf8($_->[0]) }
        $s->sql("SELECT svc.address_key(a.v) FROM json_array_elements_text("
                . "\$json\$$json\$json\$) WITH ORDINALITY AS a (v, n) ORDER BY a.n");
}


# --- the key ----------------------------------------------------------------------

my @known = (
    [ 'Vic@Mail.TEST', 'vic@mail.test' ],
    [ "VIC\@M\x{dc}NCHEN.test", 'vic@xn--mnchen-3ya.test', 'upper case' ],
    [ NFD('vic@münchen.test'), 'vic@xn--mnchen-3ya.test', 'NFD, the domain' ],
    [ 'vic@XN--MNCHEN-3YA.test', 'vic@xn--mnchen-3ya.test', 'an A-label' ],
    [ NFD('Zoë@x.test'), 'zoë@x.test', 'NFD, the local part' ],
    [ 'ÉMIL@x.test', 'Émil@x.test', 'ASCII alone is folded' ],
    [ "vic\@ma\x{130}l.test", 'vic@xn--mail-swc.test', 'a dotted capital I' ],
    [ "\x{212a}im\@x.test", 'kim@x.test', 'the sign of Kelvin is K' ],
    [ 'vic@faß.test', 'vic@xn--fa-hia.test', 'a sharp s' ],
    [ 'vic@bücher.例え.test', 'vic@xn--bcher-kva.xn--r8jz45g.test', 'of many labels' ],
    [ 'a_b+c@mail_1.x.test', 'a_b+c@mail_1.x.test', 'an underscore' ] );

my @c = keys_in_c(map { $_->[0] } @known);
my @sql = keys_in_sql(map { $_->[0] } @known);

for my $i (0 .. $#known) {
    my ($address, $key, $name) = @{ $known[$i] };

    $name //= 'ASCII';
    is($c[$i][0], 1, "$name: is an address");
    is($c[$i][1], $key, "$name: in C");
    is($sql[$i], $key, "$name: in SQL");
}

# All characters of the first planes that have letters with case, and some beyond.

my @points = grep { chr($_) !~ /[\@\s\x00-\x1f\x7f-\x9f]/ && !($_ >= 0xfdd0 && $_ <= 0xfdef) }
             0x21 .. 0x2fff, 0xa000 .. 0xabff, 0xf900 .. 0xffdc, 0x10400 .. 0x104ff,
             0x10c80 .. 0x10cff, 0x118a0 .. 0x118ff, 0x1e900 .. 0x1e94f;
my @addresses = map { my $c = chr;
    ("a${c}b\@x.test", "a\@${c}b.x.test", "a\@b${c}\x{301}b.test", "a\@ab${c}.x.test") } @points;

srand 31;

my @pool = ('a' .. 'z', 'A' .. 'Z', 0 .. 9, '-', qw(ä Ö ß ς Σ И й ё İ ı ﬁ 例 え), "\x{301}",
            "\x{308}", "\x{327}", "\x{323}", "\x{212a}", "\x{1e9e}", "\x{130}");

for (1 .. 10_000) {
    push @addresses, join('', map { $pool[rand @pool] } 1 .. 1 + rand 6) . '@'
        . join('', map { $pool[rand @pool] } 1 .. 1 + rand 12) . '.test';
}

my ($taken, $differ) = (0, 0);

while (my @some = splice @addresses, 0, 5000) {
    my @c = keys_in_c(@some);
    my @sql = keys_in_sql(@some);

    for my $i (0 .. $#some) {
        next if !$c[$i][0] || $c[$i][0] eq '-';
        $taken++;
        next if $c[$i][1] eq $sql[$i];
        diag("$some[$i]: $c[$i][1] in C, $sql[$i] in SQL") if $differ++ < 10;
    }
}

cmp_ok($taken, '>', 20_000, 'many of all addresses are taken');
is($differ, 0, 'and have one key in C and in SQL');


# --- what is no address -----------------------------------------------------------

for my $none ([ "vic\@mail\x{200b}.test", 'an invisible character in the domain' ],
              [ "v\x{200b}ic\@mail.test", 'an invisible character' ],
              [ "v\x{202e}ic\@mail.test", 'a character that turns the text' ],
              [ "v\x{e000}ic\@mail.test", 'a private character' ],
              [ 'vic@mail..test', 'an empty label' ],
              [ 'vic@-mail.test', 'a hyphen at the beginning' ],
              [ 'vic@[127.0.0.1]', 'an address of a host' ],
              [ 'vic@mail.te/st', 'a slash' ],
              [ '"vic"@mail.test', 'quotes' ],
              [ 'vic@' . 'a' x 64 . '.test', 'a long label' ],
              [ 'vic@xn--a-ecp.test', 'no A-label' ],
              [ "vic\@ma\x{2100}l.test", 'a character that IDNA has not' ])
{
    my ($address, $name) = @$none;

    admin_error($acme->admin(POST => '/invitations',
                             { email => $address, role => 'member' }, undef, $api),
                400, undef, "$name: an invitation");
    scim_error($acme->scim(POST => '/Users', { schemas => [ U ], userName => $address }),
               400, 'invalidValue', "$name: SCIM");
}


# --- the same address in another spelling -----------------------------------------

sub row {
    my ($id) = @_;

    return decode_utf8(join '|', @{ ($s->sql('SELECT user_name, user_name_key,'
        . " email_verified FROM svc.user_account WHERE id = '$id'"))[0] });
}

sub put {
    my ($id, $address) = @_;

    return $acme->admin(PUT => "/users/$id", { email => $address }, undef, $api);
}

my $owner = with_password($s, $acme, userName => 'vic@mail.test');
my $id = $owner->{id};

$s->sql("UPDATE svc.user_account SET source = 'local' WHERE id = '$id'");
$s->sql(session_of($id));

for my $other ("vic\@ma\x{130}l.test", "v\x{130}c\@mail.test") {
    my $guest = SvcTest::Browser->new($s, tenant => 'acme')->login($other);

    is($guest->status, 401, "$other: nobody signs in with it");
    is($acme->create(userName => $other)->{userName}, $other, 'it is free: a user of its own');
}

$s->sql("UPDATE svc.user_account SET email_verified = true WHERE id = '$id'");
is(put($id, 'VIC@Mail.Test')->status, 200, 'the same one in another case');
is(row($id), 'VIC@Mail.Test|vic@mail.test|t', 'is as verified');
is(live_sessions($s, $id), 1, 'and nobody is signed out');

$s->sql("DELETE FROM svc.user_account WHERE user_name LIKE '%İ%'");
is(put($id, "vic\@ma\x{130}l.test")->status, 200, 'one that looks like it');
like(row($id), qr/\|f\z/, 'is another one: not verified');
is(live_sessions($s, $id), 0, 'and everybody is signed out');

my @told = $mail->wait(1);

is_deeply($told[-1]{to}, [ 'VIC@Mail.Test' ], 'the old one is told');

my $zoe = with_password($s, $acme, userName => 'Zoë@münchen.test')->{id};

$s->sql("UPDATE svc.user_account SET source = 'local', email_verified = true"
        . " WHERE id = '$zoe'");

for my $same ('zoë@xn--mnchen-3ya.test', NFD('zoë@münchen.test'), 'Zoë@MÜNCHEN.test') {
    scim_error($acme->scim(POST => '/Users', { schemas => [ U ], userName => $same }),
               409, 'uniqueness', "$same: SCIM");
    admin_error($acme->admin(POST => '/invitations',
                             { email => $same, role => 'member' }, undef, $api),
                409, 'email_taken', 'an invitation');
    is(SvcTest::Browser->new($s, tenant => 'acme')->login($same)->status, 200,
       'a sign-in');
    is(scalar @{ $acme->scim(GET => '/Users?filter='
           . join '', map { sprintf '%%%02X', ord } split //,
             encode_utf8("userName eq \"$same\""))->json->{Resources} }, 1, 'found');
    is(put($zoe, $same)->status, 200, 'as an address of hers');
    is(row($zoe), "$same|zoë\@xn--mnchen-3ya.test|t", 'it is verified');
}

# The limits of sign-ins count all spellings of an address together.

$s->sql("DELETE FROM svc.sign_in");

my $browser = SvcTest::Browser->new($s, tenant => 'acme');
my @status = map { $browser->login($_, 'wrong and long enough')->status }
             ('liz@münchen.test', 'LIZ@xn--mnchen-3ya.test', NFD('liz@münchen.test'),
              'Liz@MÜNCHEN.test');

is_deeply(\@status, [ 401, 401, 401, 429 ], 'one count of all spellings');

$s->done;
done_testing();
