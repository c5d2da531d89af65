#!/usr/bin/perl

# Shows mails as a real mail server gets them: each kind in each language, what is in
# the header, and that nobody can put anything else there.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Mail;
use SvcTest::Metrics;
use SvcTest::Process qw(slow wait_for slurp write_file);


binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);

my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION);
my $mail = SvcTest::Mail->new($s);

$s->start;

my $acme = $s->tenant('acme');
my @LOCALES = qw(en fr de);
my $CODE = '493817';
my $LINK = 'https://login.acme.test/reset#token=Zm9vYmFyYmF6';

$s->secret($CODE, 'Zm9vYmFyYmF6');


sub mail {
    my (%set) = @_;

    return { kind => 'reset', to => 'ada@acme.test', tenant => $acme->{id},
             tenantName => 'Acme & Söhne <GmbH>', locale => 'en',
             code => $CODE, link => $LINK, primary => '#8a1f6b',
             ip => '192.0.2.7', country => 'FR', %set };
}


sub headers {
    my ($got, $name) = @_;

    return map { $_->[1] } grep { lc $_->[0] eq lc $name } @{ $got->{headers} };
}


sub total {
    return SvcTest::Metrics->get($s)->value('svc_mail_total',
                                            outcome => $_[0]) // 0;
}


sub empty { return wait_for { $mail->pending == 0 } }


ok($s->nginx->wait_helper, 'there is a helper without webhooks');


# --- each kind, in each language ---------------------------------------------------

my @sent;

for my $kind (@SvcTest::Mail::KINDS) {
    push @sent, map { mail(kind => $kind, locale => $_,
                           to => "$kind.$_\@acme.test") } @LOCALES;
}

$mail->push_all(map { { %$_ } } @sent);

my %got = map { $_->{to}[0] => $_ } $mail->wait(scalar @sent, 60);
my (%subjects, @wrong);

is(scalar keys %got, @sent, 'each has come');

for my $m (@sent) {
    my $got = $got{ $m->{to} } // {};
    my ($subject) = headers($got, 'Subject');
    my $body = join "\n", $got->{plain} // '', $got->{html} // '';

    $subjects{$subject // ''}++;

    push @wrong, $m->{to}
        if ($got->{type} // '') ne 'multipart/alternative'
           || ($subject // '') eq '' || $body =~ /\{\{/
           || ($got->{html} // '') !~ /<html lang="$m->{locale}">/
           || @{ $got->{defects} // [ 'none' ] }
           || $body =~ m{(?:src|href)="(?!https://login)}
           || !$got->{tls} || ($got->{user} // '') ne 'user';
}

is_deeply(\@wrong, [], 'as text and as HTML, over TLS, by who may send');
is(scalar keys %subjects, @sent, 'each has a subject of its own');
ok(empty(), 'nothing stays in Redis');
is(total('sent'), @sent, 'the metric');

my $connects = () = $mail->events('connect');
cmp_ok($connects, '<=', 4, 'connections are used again');


# --- the parts of one mail ---------------------------------------------------------

my $got = $got{'reset.de@acme.test'};

is((headers($got, 'Subject'))[0], 'Neues Passwort für Acme & Söhne <GmbH>',
   'the subject');
is((headers($got, 'From'))[0], 'Acmé sign-in <no-reply@login.acme.test>',
   'who sends it');
is($got->{sender}, 'no-reply@login.acme.test', 'and where it goes back to');
is_deeply($got->{to}, [ 'reset.de@acme.test' ], 'one recipient');
is((headers($got, 'Auto-Submitted'))[0], 'auto-generated', 'nobody answers it');
like((headers($got, 'Message-ID'))[0], qr/^<[0-9a-f]{32}\@login\.acme\.test>$/,
     'an id');
like((headers($got, 'Date'))[0], qr/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000$/,
     'a date');
like($got->{plain}, qr/^\Q$LINK\E\r?$/m, 'the link on a line of its own');
like($got->{plain}, qr/Acme & Söhne <GmbH>/, 'a name as it is in the text');
like($got->{html}, qr/Acme &amp; Söhne &lt;GmbH&gt;/, 'escaped in HTML');
like($got->{html}, qr/href="\Q$LINK\E"/, 'the link in HTML');
like($got->{html}, qr/#8a1f6b/, 'the colour');
like($got->{plain}, qr/Der Link gilt 10 Minuten/, 'how long it is good for');
like($got->{plain}, qr/Von 192\.0\.2\.7\r?\nLand: FR/, 'from where');
unlike($got->{html}, qr/<img/, 'no logo without one');

sub one {
    my (%set) = @_;

    my $n = $mail->events('mail');
    $mail->push(%{ mail(%set) });

    return (($mail->wait($n + 1))[$n]) // {};
}

$got = one(logoUrl => 'https://login.acme.test/logo.png', ip => '',
           country => '');
like($got->{html}, qr{<img src="https://login\.acme\.test/logo\.png" alt="Acme},
     'a logo');
unlike($got->{plain}, qr/From|Country/, 'what is not known is left out');

my %LANGUAGE = ('de-AT' => 'de', 'FR' => 'fr', 'fr-CA-x' => 'fr', 'ja' => 'en',
                '' => 'en', 'de_AT' => 'en', '../../etc' => 'en');

like(one(locale => $_)->{html}, qr/lang="$LANGUAGE{$_}"/,
     "the language of \"$_\"") for sort keys %LANGUAGE;


# --- the recipient, and no other header field ---------------------------------------

my @NAMES = ("Ada\r\nBcc: eve\@evil.test", "Ada\nBcc: eve\@evil.test\n\nHi",
             'Ada" <eve@evil.test>, "x', '=?UTF-8?Q?=0ABcc:_eve?=',
             'Ada, eve@evil.test', "Ad\xe4 " . 'x' x 300, "A\tB\0C");

for my $name (@NAMES) {
    (my $said = $name) =~ s/[^ -~]/./g;
    $said = substr $said, 0, 40;
    my $got = one(name => $name, tenantName => $name);

    is_deeply($got->{to}, [ 'ada@acme.test' ], "$said: one recipient");
    is_deeply([ sort map { lc $_->[0] } @{ $got->{headers} } ],
              [ sort qw(from to subject date message-id auto-submitted
                        content-type mime-version) ], 'the header has no more');
    my ($to) = headers($got, 'To');
    like($to, qr/<ada\@acme\.test>$/, 'to whom it says');
    unlike($got->{text} =~ /^(.*?)\r\n\r\n/s ? $1 : 'x', qr/^Bcc/mi,
           'nor as bytes');
}

# These bytes begin no character.

{
    no warnings 'surrogate';
    my $got = one(name => "\x{dc80}" x 512, tenantName => "\x{dc80}" x 2000);

    is_deeply($got->{to}, [ 'ada@acme.test' ], 'what is not UTF-8 is mailed');
    cmp_ok(length +(headers($got, 'To'))[0], '<', 2 * 512, 'in long words');
}

my $before = $mail->events('mail');
my @BAD = ("ada\@acme.test\r\nRCPT TO:<eve\@evil.test>", 'ada@acme.test>',
           '<ada@acme.test', "ada\@acme.test\n", 'ada@acme.test,eve@evil.test',
           'ada', '@acme.test', 'ada@', 'a b@acme.test', 'a@b@c', '',
           "ada\@acme.test\0", 'x' x 300 . '@acme.test');
my $rejected = total('rejected');

$mail->push_all(map { mail(to => $_) } @BAD);
ok(empty(), 'addresses that are none');
is($mail->events('mail'), $before, 'nothing is sent to them');
is(total('rejected') - $rejected, @BAD, 'as the metric says');


# --- other entries in Redis ------------------------------------------------------------

my @entries = map { unpack 'H*', $_ }
              'nonsense', "\0", 'x' x 20000,
              ('0' x 32) . " $acme->{id}\n" . 'x' x 100,
              ('0' x 31) . "1 $acme->{id}\n",
              ('0' x 32) . ' ' . 'z' x 36 . "\n" . 'x' x 100;

$mail->push_all(map { { entry => $_, tenant => $acme->{id} } } @entries);
ok((wait_for { total('damaged') == @entries }),
   'what is not ours is dropped, and counted');
is(one()->{to}[0], 'ada@acme.test', 'and mails go on');



# --- without a trace -----------------------------------------------------------------

my $log = slurp($s->nginx->{log});

unlike($log, qr/ada\@acme\.test|$CODE|Zm9vYmFyYmF6/,
       'the error log names no address, code or link');

$mail->stop;
$s->done;
done_testing();
