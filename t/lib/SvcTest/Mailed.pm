package SvcTest::Mailed;

# Codes and links that came by mail to whoever signs in with them.
#
#     my $codes = SvcTest::Mailed->new($s, $mail);
#     my $in = $codes->asked($browser, 'ada@acme.test');
#     $codes->verify($browser, $in, code => $in->{code});

use strict;
use warnings;

use JSON::PP ();
use Test::More ();

use SvcTest::Process qw(wait_for);


sub new {
    my ($class, $s, $mail) = @_;

    return bless { s => $s, mail => $mail }, $class;
}


# Whether tenants have it.

sub allow { my $self = shift; $self->switch('true', $_) for @_ }
sub forbid { my $self = shift; $self->switch('false', $_) for @_ }

sub switch {
    my ($self, $value, $tenant) = @_;

    my $r = $tenant->admin(PATCH => '/tenant', { branding => {
        allowPasswordless => $value eq 'true' ? JSON::PP::true()
                                              : JSON::PP::false() } });

    die $r->body if $r->status != 200;
}


# As if nobody had asked for a mail of late.

sub rested {
    my ($self) = @_;

    $self->{s}->sql("UPDATE svc.email_challenge SET created_at = created_at"
                    . " - interval '2 hours'");
}


sub start {
    my ($self, $b, $email, %headers) = @_;

    return $b->post('/v1/auth/passwordless/start',
                    { email => $email, ($b->{tenant} ? (tenant => $b->{tenant}) : ()) },
                    %headers);
}


# What a mail says, of an answer of start().

sub mailed {
    my ($self, $got, $r) = @_;

    my ($code) = $got->{plain} =~ /^\s+(\d{6})\r?$/m;
    die "no code: $got->{plain}\n" if !$code;

    my ($base, $token) = $got->{plain} =~ m{(\S+)/login\?tenant=[\w-]+#token=([\w-]{43})\r?$}m;

    $self->{s}->secret($token);

    return { challengeId => $r->json->{challengeId}, code => $code, base => $base,
             token => $token };
}


sub asked {
    my ($self, $b, $email) = @_;

    $self->rested;

    my $n = scalar $self->codes;
    my $r = $self->start($b, $email);

    die $r->body if $r->status != 202;

    wait_for { scalar $self->codes > $n } or die "no mail to $email\n";

    return $self->mailed(($self->codes)[-1], $r);
}


# The mails with codes: others tell of what has happened.

sub codes {
    my ($self) = @_;

    my @got = grep { ($_->{plain} // '') =~ /^\s+\d{6}\r?$/m }
              $self->{mail}->events('mail');

    return wantarray ? @got : scalar @got;
}


# How many mails there are once no other one is on its way.

sub settled {
    my ($self) = @_;

    wait_for { $self->{mail}->pending == 0 };

    return scalar(() = $self->{mail}->events('mail'));
}


# Of what was asked for: code or token; all of it when neither is named.

sub verify {
    my ($self, $b, $in, %shown) = @_;

    %shown = (code => $in->{code}) if !%shown;

    return $b->post('/v1/auth/passwordless/verify',
                    { ($shown{code} ? (challengeId => $in->{challengeId}) : ()),
                      ($b->{tenant} ? (tenant => $b->{tenant}) : ()), %shown });
}


1;
