package SvcTest::Signup;

# Self-service sign-up: its beginning, the mail, and the proof from it.
#
#     my $up = SvcTest::Signup->new($s, $mail, $acme);
#     my $in = $up->begin('ada@acme.test');
#     $up->verify($in);                   # by the code
#     $up->verify($in, token => 1);       # by the link

use strict;
use warnings;

use JSON::PP ();

use SvcTest::Browser qw($PASSWORD);
use SvcTest::Process qw(wait_for);


# Returns directives, with limits that the tests do not reach.

sub svc {
    return (svc_sign_in => 'on',
            svc_password_hash => 'memory=7m iterations=1 queue=64 timeout=30s',
            svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 1000',
                         'RATE_LIMIT_SIGNUP_IP_MAX 1000' ]);
}


# more: path, of the routes; link, the name in the link's fragment.

sub new {
    my ($class, $s, $mail, $tenant, %more) = @_;

    return bless { s => $s, mail => $mail, tenant => $tenant,
                   path => '/v1/auth/signup', link => 'signup', %more }, $class;
}


sub allow {
    my ($self, $on) = @_;

    my $value = $on // 1 ? JSON::PP::true() : JSON::PP::false();
    my $r = $self->{tenant}->admin(PATCH => '/tenant',
                                   { branding => { allowSelfSignup => $value } });

    die "$r->{status} $r->{body}\n" if $r->status != 200;
}


sub start {
    my ($self, $email, %more) = @_;

    my $b = delete $more{browser} // SvcTest::Browser->new($self->{s});

    return $b->post($self->{path},
                    { email => $email, password => $PASSWORD,
                      $self->{tenant} ? (tenant => $self->{tenant}{slug}) : (), %more });
}


# Returns the latest mail to an address.

sub mail_to {
    my ($self, $email) = @_;

    my @got;

    wait_for {
        @got = grep { $_->{to}[0] eq $email } $self->{mail}->events('mail');
        @got > ($self->{seen}{$email} // 0);
    };

    $self->{seen}{$email} = @got;

    my ($got) = grep { $_->{to}[0] eq $email } reverse $self->{mail}->wait(1);

    return $got // {};
}


# Returns the code and the link in a mail, with the id in the answer.

sub mailed {
    my ($self, $r, $email, $b) = @_;

    my $got = $self->mail_to($email);
    my ($code) = ($got->{plain} // '') =~ /^\s+(\d{6})\r?$/m;
    my ($link) = ($got->{plain} // '') =~ /^(\S+#$self->{link}=[\w-]{43})\r?$/m;
    my ($token) = ($link // '') =~ /=([\w-]+)$/;

    $self->{s}->secret($token) if $token;

    return { challengeId => $r->json->{challengeId}, code => $code, link => $link,
             token => $token, email => $email, mail => $got, browser => $b };
}


sub begin {
    my ($self, $email, %more) = @_;

    my $b = SvcTest::Browser->new($self->{s});
    my $r = $self->start($email, browser => $b, %more);

    die "$r->{status} $r->{body}\n" if $r->status != 202;

    return $self->mailed($r, $email, $b);
}


sub shown {
    my ($self, $in, %more) = @_;

    return { token => $in->{token} } if delete $more{token};
    return { challengeId => $in->{challengeId}, code => $in->{code}, %more };
}


sub verify {
    my ($self, $in, %more) = @_;

    my $b = delete $more{browser} // $in->{browser} // SvcTest::Browser->new($self->{s});

    return $b->post("$self->{path}/verify", $self->shown($in, %more));
}


sub users {
    my ($self, $email) = @_;

    return scalar $self->{s}->sql('SELECT count(*) FROM svc.user_account'
                                  . " WHERE user_name_key = lower('$email')");
}


1;
