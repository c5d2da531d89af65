#!/usr/bin/perl

# Shows that the URLs in answers, and in mails that a request causes, begin with the
# verified domain of the tenant that the request came to, or else with svc_base_url.

use strict;
use warnings;

use JSON::PP;
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Mail;
use SvcTest::Process qw(wait_for);

my $s = SvcTest->new(workers => 1);
my $mail = SvcTest::Mail->new($s, svc_sign_in => 'on',
    svc_base_url => 'https://login.example.com:8443/id/',
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 1000', 'RATE_LIMIT_SIGNUP_IP_MAX 1000',
                 'RATE_LIMIT_SIGNUP_EMAIL_MAX 100' ]);

$s->start;

my $OWN = 'https://login.example.com:8443/id';
my $THEIRS = 'https://sso.acme.test:8443/id';
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $all = $acme->token_for('tenant:manage,members:manage,groups:manage,'
                           . 'users:view');
my $mails = 0;

$s->secret($PASSWORD, $all);
$s->sql('INSERT INTO svc.domain (tenant_id, domain, token, verified_at) VALUES'
        . " ('$acme->{id}', 'sso.acme.test', repeat('x', 43), now()),"
        . " ('$acme->{id}', 'new.acme.test', repeat('y', 43), NULL),"
        . " ('$globex->{id}', 'sso.globex.test', repeat('z', 43), now())");

my $ada = with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');

# The beginning of URLs for each Host, for acme's users and tokens.

my %base = ('sso.acme.test' => $THEIRS, 'SSO.Acme.test.:443' => $THEIRS,
            'sso.acme.test:9' => $THEIRS, 'new.acme.test' => $OWN,
            'sso.globex.test' => $OWN, 'evil.test' => $OWN, '127.0.0.1' => $OWN,
            'login.example.com' => $OWN, 'x' => $OWN, 'sso.acme.test.evil' => $OWN);


sub ask {
    my ($method, $path, $host, $token, $body, %headers) = @_;

    return $s->http($method => $path, { Host => $host, %headers,
                    $token ? (Authorization => "Bearer $token") : () }, $body);
}


sub next_mail {
    my @got = $mail->wait(++$mails);

    return $got[-1]{plain};
}


# --- requests with tokens ---------------------------------------------------------

my $n = 0;

for my $host (sort keys %base) {
    my $base = $base{$host};
    my $r = ask(POST => '/scim/v2/Users', $host, $acme->{scim_token},
                { userName => 'u' . ++$n . '@acme.test' });

    is($r->status, 201, "$host: a user") or diag($r->body);

    my $at = "$base/scim/v2/Users/" . $r->json->{id};

    is($r->header('Location'), $at, "$host: Location");
    is($r->json->{meta}{location}, $at, "$host: meta.location");
    is(ask(GET => '/scim/v2/Users/' . $r->json->{id}, $host, $acme->{scim_token})
       ->json->{meta}{location}, $at, "$host: read");
    like(ask(GET => '/scim/v2/Users?count=1', $host, $acme->{scim_token})
         ->json->{Resources}[0]{meta}{location}, qr{\A\Q$base\E/scim/v2/Users/},
         "$host: in a list");
    is(ask(GET => '/scim/v2/ServiceProviderConfig', $host, $acme->{scim_token})
       ->json->{meta}{location}, "$base/scim/v2/ServiceProviderConfig",
       "$host: discovery");

    $r = ask(POST => '/v1/admin/invitations', $host, $all,
             { email => "i$n\@acme.test", role => 'member' });
    is($r->status, 201, "$host: an invitation") or diag($r->body);
    like($r->json->{inviteUrl},
         qr{\A\Q$base\E/invite\?tenant=acme#token=[\w-]{43}\z}, "$host: its link");
    $s->secret($1) if $r->json->{inviteUrl} =~ /=([\w-]{43})\z/;
    like(next_mail(), qr{^\Q$base\E/invite\?tenant=acme#token=[\w-]{43}\r?$}m,
         "$host: its mail");

    $r = ask(POST => '/v1/admin/scim/tokens', $host, $all, {});
    is($r->json->{baseUrl}, "$base/scim/v2", "$host: where SCIM is")
        or diag($r->body);
    $s->secret(grep { defined && length > 40 } values %{ $r->json });
}

is(ask(GET => '/scim/v2/Users', 'sso.acme.test', $globex->{scim_token})
   ->status, 200, "at another tenant's domain");
is(ask(POST => '/scim/v2/Users', 'sso.acme.test', $globex->{scim_token},
       { userName => 'x@globex.test' })->json->{meta}{location} =~ s/Users.*//r,
   "$OWN/scim/v2/", "is no domain of one's own");

is(ask(GET => '/scim/v2/Users', 'sso.acme.test', 'x' x 43)->status, 401,
   'who is refused');
is(ask(GET => '/v1/admin/password-policy', 'sso.acme.test', $acme->token_for('users:view'))
   ->status, 403, 'is refused there, too');


# --- sign-in and sessions ------------------------------------------------------------

$s->sql("UPDATE svc.tenant SET logo_etag = 'e' WHERE id = '$acme->{id}'");

for my $host (sort keys %base) {
    my $base = $base{$host};
    my $own = $base eq $OWN;
    my @tenant = $host eq 'sso.globex.test' ? next : $own ? (tenant => 'acme') : ();
    my $r = ask(POST => '/v1/auth/password/forgot', $host, undef,
                { email => 'ada@acme.test', @tenant });

    is($r->status, 202, "$host: forgotten") or diag($r->body);
    my $text = next_mail();
    like($text, qr{^\Q$base\E/reset\?tenant=acme#token=[\w-]{43}\r?$}m,
         "$host: the link that is mailed");
    $s->secret($1) if $text =~ /#token=([\w-]{43})/;

    is(ask(GET => '/v1/auth/options' . (@tenant ? '?tenant=acme' : ''), $host)
       ->json->{branding}{logoUrl}, "$base/v1/tenants/acme/logo?v=e",
       "$host: what the page shows");
    $s->sql('DELETE FROM svc.password_reset');
}

is(ask(GET => '/v1/tenants/sso.acme.test/branding', 'sso.acme.test')->json
   ->{branding}{logoUrl}, "$THEIRS/v1/tenants/acme/logo?v=e",
   'a branding, by its own domain');
is(ask(GET => '/v1/tenants/sso.acme.test/branding', '127.0.0.1')->json
   ->{branding}{logoUrl}, "$OWN/v1/tenants/acme/logo?v=e",
   'by that, elsewhere');

$mail->stop;
$s->done;
done_testing();
