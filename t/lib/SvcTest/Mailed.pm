package SvcTest::Mailed;

# Sign-in by the codes and links of mails.
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


# Switch passwordless sign-in on or off in tenants.

sub allow { my $self = shift; $self->switch('true', $_) for @_ }
sub forbid { my $self = shift; $self->switch('false', $_) for @_ }

sub switch {
    my ($self, $value, $tenant) = @_;

    my $r = $tenant->admin(PATCH => '/tenant', { branding => {
        allowPasswordless => $value eq 'true' ? JSON::PP::true()
                                              : JSON::PP::false() } });

    die $r->body if $r->status != 200;
}


# Makes the earlier challenges so old that no limit of mails counts them.

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


# Returns the code and the link in a mail, with the id in start()'s answer.

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


# Returns the mails with codes; the others are notices.

sub codes {
    my ($self) = @_;

    my @got = grep { ($_->{plain} // '') =~ /^\s+\d{6}\r?$/m }
              $self->{mail}->events('mail');

    return wantarray ? @got : scalar @got;
}


# Waits until no mail is on its way.  Returns how many have come.

sub settled {
    my ($self) = @_;

    wait_for { $self->{mail}->pending == 0 };

    return scalar(() = $self->{mail}->events('mail'));
}


# Presents the code or the token of a mail; without %shown the code.

sub verify {
    my ($self, $b, $in, %shown) = @_;

    %shown = (code => $in->{code}) if !%shown;

    return $b->post('/v1/auth/passwordless/verify',
                    { ($shown{code} ? (challengeId => $in->{challengeId}) : ()),
                      ($b->{tenant} ? (tenant => $b->{tenant}) : ()), %shown });
}


1;
