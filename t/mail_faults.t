#!/usr/bin/perl

# Shows that failing mail servers and killed helpers lose no mail, that no mail is
# sent again that the server has taken and Redis knows of, and that no webhook waits.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Mail;
use SvcTest::Metrics;
use SvcTest::Process qw(repeated slow wait_for signal_pid slurp);
use SvcTest::Receiver;


my $N = repeated(SVC_TEST_MAILS => 200, 400);

my $s = SvcTest->new(workers => 1,
                     locations => $SvcTest::Metrics::LOCATION);

$s->redis->{persistent} = 1;

my $mail = SvcTest::Mail->new($s, svc_mail_retry => '300ms 900ms 2s',
                              svc_mail_timeout => '2s');
my $receiver = SvcTest::Receiver->new($s);

# Both certificates are trusted.

sub append { open my $fh, '>>', $_[0] or die "$_[0]: $!\n"; print $fh $_[1] }

append("$receiver->{dir}/ca.pem", slurp("$mail->{dir}/cert.pem"));
$s->nginx->{svc}{svc_webhook_ca_file} = "$receiver->{dir}/ca.pem";
$s->start;

my $acme = $s->tenant('acme');
my $hook = $receiver->hook($acme, '/ok');


sub total {
    my ($outcome) = @_;

    return SvcTest::Metrics->get($s)->value('svc_mail_total',
                                            outcome => $outcome) // 0;
}


sub tries {
    my ($to) = @_;

    return map { $_->{at} } grep { $_->{to} eq $to } $mail->events('try');
}


sub arrived {
    my ($to) = @_;

    return grep { $_->{to}[0] eq $to } $mail->events('mail');
}


sub failures {
    return $acme->events_where("action = 'mail.failed'",
                               'target_name', 'details');
}


sub empty { return wait_for { $mail->pending == 0 } $_[0] // 20 }


sub push_one {
    my ($to, %set) = @_;

    push_to([ $to ], %set);
}


sub push_to {
    my ($to, %set) = @_;

    $mail->push_all(map { { to => $_, tenant => $acme->{id},
                            link => 'https://x.test/', %set } } @$to);
}


ok($s->nginx->wait_helper, 'a helper');


# --- a passing fault at each step --------------------------------------------------------

# A connection that is used again is past these steps: the next connection meets the
# fault.

for my $step (qw(mail rcpt data end)) {
    for my $what (451, 'drop') {
        my $to = "$step.$what\@acme.test";

        $mail->mode("$step $what 1");
        push_one($to);

        ok((wait_for { arrived($to) && $mail->pending == 0 }),
           "$step: $what once");
    }
}

for my $row ([ connect => 'drop' ], [ connect => 421 ], [ ehlo => 'drop' ],
             [ ehlo => 421 ], [ starttls => 'drop' ], [ starttls => 454 ],
             [ auth => 454 ], [ auth => 535 ])
{
    my ($step, $what) = @$row;
    my $to = "$step.$what\@acme.test";

    # The open connections end first.

    $mail->mode('mail drop 4', "$step $what 1");
    push_one($to);

    ok((wait_for { arrived($to) && $mail->pending == 0 }),
       "$step: $what once");
}

$mail->mode;


# --- retries -----------------------------------------------------------------------------

$mail->mode('rcpt 451 9 later@');

my $pushed = time;

push_one('later@acme.test');
ok(empty(), 'a mail that the server takes never');

my @at = tries('later@acme.test');

is(scalar @at, 4, 'four attempts');

cmp_ok($at[1] - $pushed, '>=', 0.3, 'the second one in its time');
cmp_ok($at[2] - $pushed, '>=', 0.9, 'the third one');
cmp_ok($at[3] - $pushed, '>=', 2, 'the fourth one');
is(total('failed'), 1, 'the metric');

$mail->mode('rcpt 550 9 gone@');
push_one('gone@acme.test');
ok(empty(), 'a mail that is rejected');
is(scalar(tries('gone@acme.test')), 1, 'is not tried again');
is(total('rejected'), 1, 'the metric');

$mail->mode('rcpt 451 9 short@');
push_one('short@acme.test', notAfter => 1);
ok(empty(), 'one that is of no use later');
cmp_ok(scalar(tries('short@acme.test')), '<', 4, 'is given up before');
is(total('expired'), 1, 'the metric');

push_one('past@acme.test', notAfter => -1);
ok(empty(), 'one that is of no use already');
is(scalar(tries('past@acme.test')), 0, 'is not tried');


# --- the tenant's audit log -----------------------------------------------------------------

ok((wait_for { failures() == 4 }), 'each failure is in the audit log');

$mail->mode('rcpt 550 9');
push_to([ ('gone@acme.test') x 3, 'GONE@acme.test' ]);
push_one('gone2@acme.test', kind => 'mfa', code => '123456');
ok(empty(), 'more of them');
ok((wait_for { failures() == 5 }), 'once in an hour of an address');

my %failed = map { @$_ } failures();

is_deeply($failed{'gone@acme.test'},
          { kind => 'reset', reason => 'rejected', status => 550,
            attempts => 1 }, 'what of it');
unlike(slurp($s->nginx->{log}), qr/\@acme\.test/, 'no address is in the log');
$mail->mode;


# --- a server that stalls delays no webhook, nor webhooks mail ---------------------------------

sub webhooks {
    my ($step) = @_;

    my $got = () = $receiver->received($hook);

    $acme->scim(POST => '/Users', { schemas => [
        'urn:ietf:params:scim:schemas:core:2.0:User' ],
        userName => "$step$_\@acme.test" }) for 1 .. 5;

    ok((wait_for { (() = $receiver->received($hook)) >= $got + 5 }),
       "webhooks while the mail server stalls at $step");
    is($mail->pending, 4, 'before any mail goes') if $step ne 'quit';
}

for my $step (qw(connect mail rcpt data end quit)) {
    $mail->mode('mail drop 4', "$step stall");
    push_to([ map { "stall.$step.$_\@acme.test" } 1 .. 4 ]);

    ok((wait_for { grep { $_->{event} eq 'fault' && $_->{what} eq 'stall'
                          && $_->{step} eq $step } $mail->events }),
       "it stalls at $step") if $step ne 'quit';

    webhooks($step);
    $mail->mode;
    ok(empty(30), 'and then they go');
}


# --- a helper that is killed -------------------------------------------------------------------

my @to = map { "many$_\@acme.test" } 1 .. $N;
my $kills = 0;

push_to(\@to);

for my $part (map { $_ * $N / 5 } 1 .. 4) {
    wait_for { grep({ $_->{to}[0] =~ /^many/ } $mail->events('mail')) >= $part }
        60;

    my ($pid) = $s->nginx->helper_pids;

    signal_pid('KILL', $pid) if $pid;
    $kills++;
    ok($s->nginx->wait_helper($pid), 'another helper');
}

ok(empty(90), 'all have gone');

my (%seen, %ids);

for my $m (grep { $_->{to}[0] =~ /^many/ } $mail->events('mail')) {
    my ($id) = map { $_->[1] } grep { $_->[0] eq 'Message-ID' }
               @{ $m->{headers} };

    $seen{ $m->{to}[0] }++;
    $ids{ $m->{to}[0] }{$id}++;
}

is(scalar keys %seen, $N, 'none is lost');

# The server had taken these mails, and Redis had not been told yet when the helper
# was killed: at most one for each thread.

my @twice = grep { $seen{$_} > 1 } keys %seen;

cmp_ok(scalar @twice, '<=', 4 * $kills,
       'only what was under way comes again, ' . @twice . ' of them');
is(scalar(grep { keys %{ $ids{$_} } > 1 } @twice), 0,
   'as the same message');


# --- Redis is restarted ----------------------------------------------------------------------

$mail->mode('rcpt stall 4');
push_to([ map { "redis$_\@acme.test" } 1 .. 20 ]);
ok((wait_for { tries('redis1@acme.test') }), 'four are under way');
$s->redis->stop;
$s->redis->launch;
$mail->mode;
ok(empty(30), 'mails outlive Redis');
is(scalar(grep { ($mail->counts->{"redis$_\@acme.test"} // 0) == 1 } 1 .. 20),
   20, 'each comes once');


# --- a reload ------------------------------------------------------------------------------------

push_to([ map { "reload$_\@acme.test" } 1 .. 50 ]);
$s->reload;
ok(empty(30), 'mails outlive a reload');
is(scalar(grep { ($mail->counts->{"reload$_\@acme.test"} // 0) == 1 } 1 .. 50),
   50, 'each comes once');

$mail->stop;
$s->done(allow => [ qr/exited on signal 9/ ]);
done_testing();
