#!/usr/bin/perl

# Shows that a real mail server takes the mails, in each way to encrypt them, that
# none is sent unencrypted where that is not allowed, and that Redis gets no more
# mails than it has room for.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Exim;
use SvcTest::Mail;
use SvcTest::Metrics;
use SvcTest::Process qw(wait_for slurp);


my $s = SvcTest->new(workers => 1,
                     http => '    set_real_ip_from 127.0.0.1;'
                             . ' real_ip_header X-Test-Address;',
                     locations => $SvcTest::Metrics::LOCATION);
my $mail = SvcTest::Mail->new($s, svc_sign_in => 'on',
                              svc_set => 'RATE_LIMIT_SIGNUP_EMAIL_MAX 0',
                              svc_mail_retry => '100ms 200ms');
my $exim = SvcTest::Exim->new($s, $mail);
my $n = 0;

$s->nginx->{svc} = { %{ $s->nginx->{svc} }, $exim->directives('smtp') };
$s->start;

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);

$s->secret($PASSWORD);
with_password($s, $_, userName => "ada\@acme.test") for $acme, $globex;


sub post {
    my ($path, $body) = @_;

    return $s->http(POST => "/v1/auth/password/$path",
                    [ 'X-Test-Address' => '10.7.0.' . ++$n ], $body)->status;
}


sub forgot {
    return post(forgot => { email => 'ada@acme.test', tenant => $_[0] // 'acme' });
}


# Changes directives, and waits for the next helper.

sub set {
    my (%svc) = @_;

    my ($old) = $s->nginx->helper_pids;

    $s->nginx->{svc} = { %{ $s->nginx->{svc} }, %svc };
    $s->reload;
    $s->nginx->wait_helper($old) or die "no other helper\n";
}


sub total {
    return SvcTest::Metrics->get($s)->value('svc_mail_total', outcome => $_[0]) // 0;
}


# Queues a mail in Redis, and returns what t/lib/mail-receiver gets.

sub received {
    my ($to, %svc) = @_;

    my $before = $mail->events('mail');

    set(%svc);
    $mail->push(to => $to, tenant => $acme->{id}, link => 'https://x.test/');

    return (($mail->wait($before + 1))[$before]) // {};
}


# --- a real mail server ------------------------------------------------------------

is(forgot(), 202, 'a password is forgotten');

my ($text) = $exim->wait(1);

like($text, qr/^Envelope-to: ada\@acme\.test$/m, 'Exim has the mail');
like($text, qr/^Return-path: <no-reply\@login\.acme\.test>$/m, 'with its sender');
like($text, qr/\bwith esmtpsa\b/, 'over TLS, of who has signed in');

my ($token) = $text =~ s/=\r?\n//gr =~ /\/reset\?tenant=3Dacme#token=3D([\w-]{43})/;

$s->secret($token // '');
is(post(reset => { token => $token, password => 'rowing past nine lanterns',
                   tenant => 'acme' }), 204, 'whose link is good');
is(scalar(() = $exim->wait(2)), 2, 'which is told by another one');

set($exim->directives('smtps'));
is(forgot('globex'), 202, 'by smtps://');
is(scalar(() = $exim->wait(3)), 3, 'one more comes');
is(scalar(() = slurp("$exim->{dir}/mainlog") =~ / <= no-reply\S+ .* P=esmtpsa /g), 3,
   'as well encrypted');
ok((wait_for { total('sent') == 3 && $mail->pending == 0 }), 'all are sent');


# --- TLS where the server has it ------------------------------------------------------

my %may = (svc_mail_tls => 'opportunistic', svc_mail_credentials => undef);

ok(received('ada@acme.test', $mail->directives('tls'), %may)->{tls},
   'opportunistic: with STARTTLS it is used');

my $got = received('eve@acme.test', $mail->directives('plain'), %may);

is_deeply([ @$got{qw(to tls)} ], [ [ 'eve@acme.test' ], JSON::PP::false ],
          'without it the mail goes all the same');


# --- TLS only -----------------------------------------------------------------------

my ($mails, $connects) = map { scalar(() = $mail->events($_)) } qw(mail connect);
my $failed = total('failed');

set($mail->directives('plain'), svc_mail_tls => 'required',
    svc_mail_credentials => "$mail->{dir}/credentials");
$mail->push(to => 'clear@acme.test', tenant => $acme->{id}, link => 'https://x.test/');

ok((wait_for { $mail->pending == 0 }), 'required: without STARTTLS');
is(total('failed') - $failed, 1, 'the mail fails');
is(scalar(() = $mail->events('connect')) - $connects, 3, 'after all attempts');
is(scalar(() = $mail->events('mail')), $mails, 'nothing is sent');
is(scalar(grep { $_->{to} eq 'clear@acme.test' } $mail->events('try')), 0,
   'nor is it said to whom');
is(scalar(() = $mail->events('auth')), 0, 'or by whom');
ok((wait_for { $acme->events_where("action = 'mail.failed'", 'id') }),
   'which the tenant can see');

my ($event) = $acme->events_where("action = 'mail.failed'", 'target_name', 'details');

is_deeply([ $event->[0], @{ $event->[1] }{qw(kind reason attempts)} ],
          [ 'clear@acme.test', 'reset', 'failed', 3 ], 'with what became of it');


# --- a full queue -------------------------------------------------------------------

sub pending {
    my ($field, $count) = @_;

    $s->redis->command("HINCRBY svc.mail.pending $field $count");
}

set($mail->directives('tls'), svc_mail_credentials => "$mail->{dir}/credentials");

for my $case ([ $acme->{id}, 2500, "the tenant's share" ], [ total => 10_000, 'all' ]) {
    my ($field, $room, $name) = @$case;
    my $dropped = total('dropped');

    $mails = () = $mail->events('mail');
    pending($field, $room - 1);
    is(forgot(), 202, "$name: the last one that there is room for");
    is(scalar($mail->wait($mails + 1)), $mails + 1, 'is sent');
    ok((wait_for { $mail->pending == ($field eq 'total' ? $room - 1 : 0) }), 'and gone');

    pending($field, 1);
    is(forgot(), 202, "$name: one too many");
    ok((wait_for { total('dropped') == $dropped + 1 }), 'is dropped, and counted');
    ok($s->nginx->said(qr/a mail is dropped: the \w.* full, of $room\b/),
       'and in the error log');

    if ($field ne 'total') {
        is(forgot('globex'), 202, 'another tenant');
        is(scalar($mail->wait($mails + 2)), $mails + 2, 'has room');
    }

    is(scalar(() = $mail->events('mail')), $mails + ($field eq 'total' ? 1 : 2),
       'nothing else is sent');
    pending($field, -$room);
}

ok((wait_for { $mail->pending == 0 }), 'nothing is left');
ok(scalar($mail->events('auth')), 'the password is for who encrypts');

$exim->stop;
$mail->stop;
$s->done;
done_testing();
