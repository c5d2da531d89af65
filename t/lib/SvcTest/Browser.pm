package SvcTest::Browser;

# A browser as the sign-in API sees it: it keeps cookies, and sends the CSRF
# token as our own pages do.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw($PASSWORD $HASH with_password);

# made by python3-argon2: m=19456, t=2, p=1
our $PASSWORD = 'correct horse battery staple';
our $HASH = '$argon2id$v=19$m=19456,t=2,p=1$+YZPErEOvzXPRFCCtGcSeA$7G8qr4FAffyKRi9MQY5oEYIKYL9Q92XOjwvhSIvKpE4';


# Creates a user of a tenant with that password.  Options: those of
# SvcTest::Tenant's create, and role.

sub with_password {
    my ($s, $tenant, %user) = @_;

    my $role = delete $user{role};
    my $user = $tenant->create(%user);

    $s->sql("UPDATE svc.user_account SET role = '$role' WHERE id = '$user->{id}'")
        if $role;
    $s->sql('INSERT INTO svc.password (tenant_id, user_id, hash) VALUES'
            . " ('$tenant->{id}', '$user->{id}', '$HASH')");

    return $user;
}


# Options: tenant, a slug; agent, the User-Agent; local, the address to connect
# from; port.

sub new {
    my ($class, $s, %opt) = @_;

    return bless { s => $s, cookies => {}, agent => 'Mozilla/5.0 (X11; Linux'
                   . ' x86_64) Gecko/20100101 Firefox/140.0', %opt }, $class;
}


sub login {
    my ($self, $email, $password, %more) = @_;

    return $self->post('/v1/auth/login',
                       { email => $email, password => $password // $PASSWORD,
                         ($self->{tenant} ? (tenant => $self->{tenant}) : ()),
                         %more });
}


sub get { return shift->ask('GET', @_) }
sub post { return shift->ask('POST', @_) }


sub ask {
    my ($self, $method, $path, $body, %headers) = @_;

    my %all = (
        'User-Agent' => $self->{agent},
        (%{ $self->{cookies} } ? (Cookie => $self->cookie) : ()),
        ($self->{csrf} && $method ne 'GET' ? ('X-CSRF-Token' => $self->{csrf})
                                           : ()),
        %headers,
    );

    delete @all{ grep { !defined $all{$_} } keys %all };

    my $r = $self->{s}->http($method => $path, \%all, $body,
                             map { $self->{$_} ? ($_ => $self->{$_}) : () }
                                 qw(port local));

    $self->keep($r);

    return $r;
}


sub cookie {
    my ($self) = @_;

    return join '; ', map { "$_=$self->{cookies}{$_}" } sort keys %{ $self->{cookies} };
}


# Keeps cookies as RFC 6265 says; the CSRF token is what a page reads from its
# cookie.

sub keep {
    my ($self, $r) = @_;

    for my $header (split /, (?=[^\s;,=]+=)/, $r->header('Set-Cookie') // '') {
        my ($name, $value, $rest) = $header =~ /^([^=]+)=([^;]*)(.*)$/ or die $header;

        if ($rest =~ /; (?:Max-Age=0\b|expires=Thu, 01 Jan 1970)/i) {
            delete $self->{cookies}{$name};

        } else {
            $self->{cookies}{$name} = $value;
        }
    }

    $self->{csrf} = $self->{cookies}{svc_csrf}
                    // $self->{cookies}{'__Host-svc_csrf'};
}


1;
