#!/usr/bin/perl

# Does what the conformance suite of the OpenID Foundation asks of an OpenID provider:
# each of its modules of the profiles Basic OP, Config OP, Form Post OP, RP-Initiated
# Logout and Back-Channel Logout, by its name there.
# ngx_svc_admin/oauth/certification.md lists them.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use JSON::PP ();
use MIME::Base64 qw(encode_base64url decode_base64url);
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Certification;
use SvcTest::Grants qw(refresh $VERIFIER);
use SvcTest::OAuth qw(oauth_server application form escape unescape claims basic);
use SvcTest::Party;
use SvcTest::Process qw(run);
use SvcTest::Receiver;
use SvcTest::Skip;

needs(python => 'jwt');

my $s = oauth_server(svc => { svc_login_url => '/signin/' });
my $receiver = SvcTest::Receiver->new($s, svc_webhooks => 'off',
                                      svc_backchannel_logout => 'on');

$s->start;

my $acme = $s->tenant('acme');
my $base = $s->base_url;
my $issuer = "$base/oauth/t/acme";
my $CB = 'https://suite.test/cb';
my $OUT = 'https://suite.test/out';
my $EMAIL = 'ada@acme.test';
my $JSON = JSON::PP->new->utf8;

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => $EMAIL, displayName => 'Ada Lovelace',
                        name => { givenName => 'Ada', familyName => 'Lovelace' });

# The suite's client as its documents describe it: it has a secret and no PKCE.

our $rp = application($acme, name => 'Suite', type => 'web', redirectUris => [ $CB ],
                     scopes => [ qw(openid profile email) ],
                     postLogoutRedirectUris => [ $OUT ], requirePkce => JSON::PP::false);
my $metadata = $s->http(GET => '/oauth/t/acme/.well-known/openid-configuration')->json;
my %path = map { $_ => $metadata->{$_} =~ s/\A\Q$base\E//r }
           grep { /(?:_endpoint|jwks_uri)\z/ } keys %$metadata;
my ($mode, $b, @TRIED);


# --- the suite's own functions ----------------------------------------------------

sub somebody { return $b = SvcTest::Browser->new($s, tenant => 'acme') }

sub query {
    my (%more) = @_;

    my %all = (client_id => $rp->{clientId}, redirect_uri => $CB, response_type => 'code',
               scope => 'openid', state => 'St4te!~', nonce => 'n0nce',
               $mode eq 'query' ? () : (response_mode => $mode), %more);

    return join '&', map { "$_=" . escape($all{$_}) }
                     grep { defined $all{$_} } reverse sort keys %all;
}

sub fields {
    my ($text) = @_;

    return { map { unescape($_) } map { split /=/, $_, 2 } split /&/, $text };
}

# Returns the parameters that a page posts to the client.

sub posted {
    my ($r) = @_;

    my %fields;
    my $page = $r->body // '';
    my $text = sub { $_[0] =~ s/&#(\d+);/chr $1/ger };

    return { } if $page !~ /<form method="post" action="([^"]*)"/ || $text->($1) ne $CB;

    $fields{$1} = $text->($2) while $page =~ /name="(\w+)" value="([^"]*)"/g;

    return \%fields;
}

# Follows a request to its end. Returns the parameters that the client gets, the pages
# that the user has seen on the way as "seen", and "status" where nothing leads on.

sub come {
    my ($r) = @_;

    my @seen;

    for (1 .. 8) {
        my $to = $r->header('Location') // '';

        return { %{ posted($r) }, seen => \@seen, status => $r->status } if $r->status == 200;
        return { seen => \@seen, status => $r->status } if $r->status != 303;
        return { %{ fields($1) }, seen => \@seen }
            if $to =~ /\A\Q$CB\E[?#](.*)\z/s && $mode ne 'form_post';

        if (my ($back, $more) = $to =~ m{\A/signin/\?return_to=([^&]+)(.*)\z}s) {
            $back = unescape($back);

            if ($more =~ /&consent=1/) {
                push @seen, 'consent';
                $to = SvcTest::Party::decide($b, $back =~ s/.*?\?//sr, 'approve');
                return { %{ fields($1) }, seen => \@seen }
                    if $to =~ /\A\Q$CB\E[?#](.*)\z/s;

            } else {
                push @seen, 'sign-in';
                $b->login($EMAIL)->status == 200 or die "no session\n";
                $to = $back;
            }
        }

        $r = $b->get($to =~ s/\A\Q$base\E//r);
    }

    die "it does not end\n";
}

sub authorized { return come($b->get("$path{authorization_endpoint}?" . query(@_))) }

sub redeemed {
    my ($to, %more) = @_;

    $s->secret($to->{code}) if defined $to->{code};

    return form($s, token => { grant_type => 'authorization_code', code => $to->{code},
                               redirect_uri => $CB, %more }, client => $rp);
}

sub userinfo {
    my ($token, $method, $headers, $body) = @_;

    return $s->http($method // 'GET', $path{userinfo_endpoint},
                    $headers // [ Authorization => "Bearer $token" ], $body);
}

# Verifies a token by another library; returns its payload, or undef.

sub verified {
    my ($token) = @_;

    my $python = <<'EOT';
import json, jwt, sys
keys = json.loads(sys.argv[1])["keys"]
header = jwt.get_unverified_header(sys.argv[2])
key = [k for k in keys if k["kid"] == header["kid"]][0]
print(json.dumps([header, jwt.decode(sys.argv[2], jwt.PyJWK(key, key["alg"]).key, [key["alg"]],
                                     audience=sys.argv[3], issuer=sys.argv[4])]))
EOT

    my $keys = $s->http(GET => $path{jwks_uri})->body;

    my ($status, $text) = run([ '/usr/bin/python3', '-c', $python, $keys, $token,
                                $rp->{clientId}, $issuer ]);

    return $status == 0 ? $JSON->decode($text) : undef;
}

# Does a whole sign-in; returns the answers.

sub flow {
    my (%more) = @_;

    my $to = authorized(%more);

    is($to->{error} // '', '', 'no error') or diag(explain($to));
    is($to->{state}, exists $more{state} ? $more{state} : 'St4te!~', 'its state');
    is($to->{iss}, $issuer, 'the issuer');
    cmp_ok(length($to->{code} // ''), '>=', 22, 'a code of 128 bits at least');

    my $r = redeemed($to);

    is($r->status, 200, 'tokens') or diag($r->body);

    my $t = $r->json;
    my ($header, $id) = claims($t->{id_token});

    is($t->{token_type}, 'Bearer', 'a bearer token');
    cmp_ok($t->{expires_in}, '>', 0, 'that says how long it is good');
    is($id->{iss}, $issuer, 'an ID token of the issuer');
    is(ref $id->{aud} ? "@{ $id->{aud} }" : $id->{aud}, $rp->{clientId}, 'for the client');
    is($id->{nonce}, exists $more{nonce} ? $more{nonce} : 'n0nce', 'its nonce');
    is($id->{sub}, $ada->{id}, 'of the user');
    ok($id->{exp} > $id->{iat} && $id->{iat} <= time + 5, 'its times');
    is($id->{at_hash}, encode_base64url(substr sha256($t->{access_token}), 0, 16),
       'that goes with the access token');
    is_deeply([ grep { exists $id->{$_} } qw(name given_name family_name email) ], [],
              'and has no claim that was not asked for');

    return { %$to, %$t, header => $header, id => $id };
}

sub told {
    my ($t) = @_;

    my $r = userinfo($t->{access_token});

    is($r->status, 200, 'userinfo');
    is($r->json->{sub}, $t->{id}{sub}, 'of the same user');

    return $r->json;
}

sub refused_at_redirect {
    my ($r, $name) = @_;

    is($r->status, 400, "$name: 400");
    ok(!defined $r->header('Location'), "$name: nobody is sent anywhere");
}


# --- Basic OP, Form Post OP -----------------------------------------------------------

my @PROFILE = qw(name given_name family_name);
my @BASIC = (
    'oidcc-server' => sub { told(flow()) },

    'oidcc-response-type-missing' => sub {
        my $to = authorized(response_type => undef);

        like($to->{error}, qr/\A(?:invalid_request|unsupported_response_type)\z/, 'an error');
        is($to->{state}, 'St4te!~', 'with the state');
    },

    'oidcc-idtoken-signature' => sub {
        my $t = flow();
        my $verified = verified($t->{id_token});

        ok($verified, 'the signature is good');
        is($t->{header}{alg}, 'RS256', 'of the algorithm that all have');
        like($t->{header}{kid}, qr/\S/, 'by a key that is named');

        my ($head, $payload, $signature) = split /\./, $t->{id_token};

        is(verified(join '.', $head, $payload, scalar reverse $signature), undef,
           'and another one is not');
    },

    'oidcc-idtoken-unsigned' => sub {
        ok(!grep({ $_ eq 'none' } @{ $metadata->{id_token_signing_alg_values_supported} }),
           'there is no unsigned one');
    },

    'oidcc-userinfo-get' => sub { told(flow()) },

    'oidcc-userinfo-post-header' => sub {
        my $t = flow();

        is(userinfo($t->{access_token}, 'POST')->json->{sub}, $ada->{id}, 'by POST');
    },

    'oidcc-userinfo-post-body' => sub {
        my $t = flow();

        is(userinfo(undef, 'POST', [ 'Content-Type' => 'application/x-www-form-urlencoded' ],
                    'access_token=' . escape($t->{access_token}))->json->{sub}, $ada->{id},
           'in the body');
    },

    'oidcc-ensure-request-without-nonce-succeeds-for-code-flow' => sub {
        flow(nonce => undef);
    },

    'oidcc-scope-profile' => sub {
        my $info = told(flow(scope => 'openid profile'));

        is_deeply([ grep { !defined $info->{$_} } @PROFILE ], [], 'the profile');
    },

    'oidcc-scope-email' => sub {
        my $info = told(flow(scope => 'openid email'));

        is($info->{email}, $EMAIL, 'the address');
        ok(exists $info->{email_verified}, 'and whether it is known to be hers');
    },

    'oidcc-scope-address' => sub { told(flow(scope => 'openid address')) },
    'oidcc-scope-phone' => sub { told(flow(scope => 'openid phone')) },

    'oidcc-scope-all' => sub {
        my $info = told(flow(scope => 'openid profile email address phone'));

        is_deeply([ grep { !defined $info->{$_} } @PROFILE, 'email' ], [], 'what there is');
    },

    'oidcc-alternate-happy-flow' => sub {
        my $to = come($b->get("$path{authorization_endpoint}?"
                              . join '&', sort split /&/, query(scope => 'email openid')));

        is(redeemed($to)->status, 200, 'in any order');
    },

    'oidcc-display-page' => sub {
        somebody();
        is_deeply(flow(display => 'page')->{seen}, [ 'sign-in' ], 'the page');
    },

    'oidcc-display-popup' => sub {
        somebody();
        is_deeply(flow(display => 'popup')->{seen}, [ 'sign-in' ], 'the page');
    },

    'oidcc-prompt-login' => sub {
        my $first = flow();

        aged();

        my $t = flow(prompt => 'login');

        is_deeply($t->{seen}, [ 'sign-in' ], 'she signs in again');
        is($t->{id}{sub}, $first->{id}{sub}, 'the same user');
        cmp_ok($t->{id}{auth_time}, '>', auth_time($first), 'later');
    },

    'oidcc-prompt-none-not-logged-in' => sub {
        somebody();

        my $to = authorized(prompt => 'none');

        is($to->{error}, 'login_required', 'an error');
        ok(!exists $to->{code}, 'and no code');
        is_deeply($to->{seen}, [], 'nobody is shown anything');
    },

    'oidcc-prompt-none-logged-in' => sub {
        my $first = flow();
        my $t = flow(prompt => 'none');

        is_deeply($t->{seen}, [], 'nobody is shown anything');
        is($t->{id}{auth_time}, $first->{id}{auth_time}, 'the same sign-in');
    },

    'oidcc-max-age-1' => sub {
        my $first = flow();

        aged();

        my $t = flow(max_age => 1);

        is_deeply($t->{seen}, [ 'sign-in' ], 'she signs in again');
        cmp_ok($t->{id}{auth_time}, '>', auth_time($first), 'later');
    },

    'oidcc-max-age-10000' => sub {
        my $first = flow(max_age => 15000);
        my $t = flow(max_age => 10000);

        is_deeply($t->{seen}, [], 'she does not sign in again');
        is($t->{id}{auth_time}, $first->{id}{auth_time}, 'the same sign-in');
    },

    'oidcc-ensure-request-with-unknown-parameter-succeeds' => sub { flow(extra => 'foobar') },

    'oidcc-id-token-hint' => sub {
        my $first = flow();
        my $t = flow(prompt => 'none', id_token_hint => $first->{id_token});

        is($t->{id}{sub}, $first->{id}{sub}, 'the same user');
        is_deeply($t->{seen}, [], 'nobody is shown anything');
    },

    'oidcc-login-hint' => sub { flow(login_hint => 'ada') },
    'oidcc-ui-locales' => sub { flow(ui_locales => 'se') },
    'oidcc-claims-locales' => sub { flow(claims_locales => 'se') },

    'oidcc-ensure-request-with-acr-values-succeeds' => sub {
        like(flow(acr_values => '1 urn:svc:1')->{id}{acr}, qr/\S/, 'and one is told');
    },

    'oidcc-codereuse' => sub { reused(authorized()) },

    'oidcc-codereuse-30seconds' => sub {
        reused(authorized(), sub {
            $s->sql("UPDATE svc.oauth_code SET used_at = used_at - interval '30 s',"
                    . " expires_at = expires_at - interval '30 s' WHERE used_at IS NOT NULL");
        });
    },

    'oidcc-ensure-registered-redirect-uri' => sub {
        refused_at_redirect($b->get("$path{authorization_endpoint}?"
                                    . query(redirect_uri => "$CB/x")), 'another URI');
    },

    'oidcc-ensure-post-request-succeeds' => sub {
        my $to = come($b->ask(POST => $path{authorization_endpoint}, query(),
                              'Content-Type' => 'application/x-www-form-urlencoded'));

        is(redeemed($to)->status, 200, 'by POST');
    },

    'oidcc-server-client-secret-post' => sub {
        my $r = form($s, token => { grant_type => 'authorization_code',
                                    code => authorized()->{code}, redirect_uri => $CB,
                                    client_id => $rp->{clientId},
                                    client_secret => $rp->{clientSecret} });

        is($r->status, 200, 'the secret in the form') or diag($r->body);
    },

    'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported' => sub {
        is(authorized(request_uri => 'https://suite.test/r')->{error},
           'request_uri_not_supported', 'rejected as unsupported');
    },

    'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported' => sub {
        is(authorized(request => unsigned({ state => 'x' }))->{error},
           'request_not_supported', 'rejected as unsupported');
    },

    'oidcc-claims-essential' => sub {
        my $t = flow(claims => '{"userinfo":{"name":{"essential":true}}}');

        is(told($t)->{name}, 'Ada Lovelace', 'the name');
    },

    'oidcc-ensure-request-object-with-redirect-uri' => sub {
        is(authorized(request => unsigned({ redirect_uri => "$CB/x" }))->{error},
           'request_not_supported', 'rejected as unsupported');
    },

    'oidcc-refresh-token' => sub {
        my $t = flow(scope => 'openid offline_access', prompt => 'consent',
                     nonce => 'n' x 43);
        my $next = refresh($s, $rp, $t->{refresh_token})->json;
        my $id = (claims($next->{id_token}))[1];

        is($next->{token_type}, 'Bearer', 'another token');
        isnt($next->{access_token}, $t->{access_token}, 'which is new');
        is_deeply([ @$id{qw(iss sub auth_time)}, "@{ $id->{aud} }" ],
                  [ @{ $t->{id} }{qw(iss sub auth_time)}, $rp->{clientId} ],
                  'and an ID token of the same sign-in');
        cmp_ok($id->{iat}, '>=', $t->{id}{iat}, 'made since');
        is(told({ %$next, id => $id })->{sub}, $ada->{id}, 'it is good');
    },

    'oidcc-ensure-request-with-valid-pkce-succeeds' => sub {
        my $to = authorized(code_challenge => encode_base64url(sha256($VERIFIER)),
                            code_challenge_method => 'S256');

        is(redeemed($to)->json->{error}, 'invalid_grant', 'it is looked at');
        $to = authorized(code_challenge => encode_base64url(sha256($VERIFIER)),
                         code_challenge_method => 'S256');
        is(redeemed($to, code_verifier => $VERIFIER)->status, 200, 'and good');
    },
);


# Makes the session ten seconds older.

sub aged {
    $s->sql("UPDATE svc.session SET auth_time = auth_time - interval '10 s',"
            . " created_at = created_at - interval '10 s' WHERE ended_at IS NULL");
}

sub auth_time { return $_[0]{id}{auth_time} - 10 }

sub unsigned {
    my ($payload) = @_;

    return join '.', map({ encode_base64url($JSON->encode($_)) }
                         { alg => 'none' }, { client_id => $rp->{clientId}, %$payload }), '';
}

sub reused {
    my ($to, $meanwhile) = @_;

    my $t = redeemed($to)->json;

    is(userinfo($t->{access_token})->status, 200, 'its token is good');
    $meanwhile->() if $meanwhile;

    my $r = redeemed($to);

    is($r->status, 400, 'the second time');
    is($r->json->{error}, 'invalid_grant', 'is an error');
    is(userinfo($t->{access_token})->status, 401, 'and ends the token of the first one');
}


for my $profile ([ basic => 'query' ], [ 'form-post' => 'form_post' ]) {
    (my $name, $mode) = @$profile;

    my @modules = @BASIC;

    while (my ($module, $test) = splice @modules, 0, 2) {
        subtest "$name: $module" => sub {
            somebody();
            $b->login($EMAIL)->status == 200 or die "no session\n";
            authorized();
            $test->();
        };
        push @TRIED, "$name $module";
    }
}


# --- Config OP ------------------------------------------------------------------------

sub has {
    my ($metadata, $name, @values) = @_;

    my %there = map { $_ => 1 } @{ $metadata->{$name} // [] };

    is_deeply([ grep { !$there{$_} } @values ], [], "$name has @values");
}

subtest 'config: oidcc-discovery-endpoint-verification' => sub {
    is($metadata->{issuer}, $issuer, 'the issuer is where the document is');
    has($metadata, response_types_supported => 'code');
    has($metadata, subject_types_supported => 'public');
    has($metadata, id_token_signing_alg_values_supported => qw(RS256 ES256));
    has($metadata, scopes_supported => 'openid');
    has($metadata, grant_types_supported => 'authorization_code');
    has($metadata, code_challenge_methods_supported => 'S256');
    has($metadata, response_modes_supported => qw(query form_post));
    has($metadata, claims_supported => qw(sub iss auth_time acr name email));
    ok($metadata->{claims_parameter_supported}, 'the claims parameter');
    ok(!$metadata->{request_parameter_supported}, 'no request objects');
    ok(defined $metadata->{request_uri_parameter_supported}
       && !$metadata->{request_uri_parameter_supported}, 'nor by reference');
    like($metadata->{$_}, qr{\A\Q$issuer\E/}, "$_ is below the issuer")
        for qw(authorization_endpoint token_endpoint userinfo_endpoint jwks_uri);

    my $keys = $s->http(GET => $path{jwks_uri})->json->{keys};
    my %kid;

    is_deeply([ grep { !defined $_->{kid} || $kid{ $_->{kid} }++ } @$keys ], [],
              'each key has a kid of its own');
    is_deeply([ grep { exists $_->{d} } @$keys ], [], 'none is private');
};
push @TRIED, 'config oidcc-discovery-endpoint-verification';


# --- RP-Initiated Logout --------------------------------------------------------------

$mode = 'query';

sub logout {
    my (%query) = @_;

    return $b->get("$path{end_session_endpoint}?"
                   . join '&', map { "$_=" . escape($query{$_}) } sort keys %query);
}

# Returns whether the user is still signed in.

sub signed_in { return exists authorized(prompt => 'none')->{code} }

# Expects that no client is told anything: a page asks or tells the user.

sub by_page {
    my ($r, $name) = @_;

    my $to = $r->header('Location') // '';

    ok($r->status == 303 && index($to, '/signin/') == 0 || $r->status == 400,
       "$name: a page") or diag($r->status, " $to");
    unlike($to, qr{\A\Q$OUT\E}, "$name: nobody is sent to the client");
    ok(signed_in(), "$name: and nobody is signed out unasked");
}

my @LOGOUT = (
    'oidcc-rp-initiated-logout-discovery-endpoint-verification' => sub {
        is($metadata->{end_session_endpoint}, "$issuer/logout", 'it is announced');
    },
    'oidcc-rp-initiated-logout' => sub {
        my $r = logout(id_token_hint => $_[0], post_logout_redirect_uri => $OUT,
                       state => 'a b');

        is($r->header('Location'), "$OUT?state=a%20b", 'back, with the state');
        ok(!signed_in(), 'and signed out');
    },
    'oidcc-rp-initiated-logout-no-state' => sub {
        is(logout(id_token_hint => $_[0], post_logout_redirect_uri => $OUT)
           ->header('Location'), $OUT, 'back');
        ok(!signed_in(), 'and signed out');
    },
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri' => sub {
        by_page(logout(id_token_hint => $_[0], post_logout_redirect_uri => "$OUT/x",
                       state => 'x'), 'another URI');
    },
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri' => sub {
        by_page(logout(id_token_hint => $_[0], post_logout_redirect_uri => "$OUT?x=y",
                       state => 'x'), 'a query more');
    },
    'oidcc-rp-initiated-logout-modified-id-token-hint' => sub {
        my ($head, $payload, $signature) = split /\./, $_[0];
        my $other = encode_base64url($JSON->encode({ %{ $JSON->decode(decode_base64url(
                        $payload)) }, sub => 'x' }));

        by_page(logout(id_token_hint => join('.', $head, $other, $signature),
                       post_logout_redirect_uri => $OUT, state => 'x'), 'another payload');
    },
    'oidcc-rp-initiated-logout-bad-id-token-hint' => sub {
        by_page(logout(id_token_hint => 'x', post_logout_redirect_uri => $OUT, state => 'x'),
                'no ID token');
    },
    'oidcc-rp-initiated-logout-no-id-token-hint' => sub {
        by_page(logout(post_logout_redirect_uri => $OUT, state => 'x'), 'none');
    },
    'oidcc-rp-initiated-logout-no-params' => sub { by_page(logout(), 'nothing') },
    'oidcc-rp-initiated-logout-only-state' => sub { by_page(logout(state => 'x'), 'a state') },
    'oidcc-rp-initiated-logout-no-post-logout-redirect-uri' => sub {
        my $r = logout(id_token_hint => $_[0], state => 'x');

        unlike($r->header('Location') // '', qr{\A\Q$OUT\E}, 'nobody is sent to the client');
        ok(!signed_in(), 'and signed out');
    },
);

while (my ($module, $test) = splice @LOGOUT, 0, 2) {
    subtest "logout: $module" => sub {
        somebody();
        $b->login($EMAIL)->status == 200 or die "no session\n";
        $test->(flow()->{id_token});
    };
    push @TRIED, "logout $module";
}


# --- Back-Channel Logout --------------------------------------------------------------

subtest 'backchannel: oidcc-backchannel-logout-discovery-endpoint-verification' => sub {
    ok($metadata->{$_}, $_) for qw(backchannel_logout_supported
                                   backchannel_logout_session_supported);
    is($metadata->{end_session_endpoint}, "$issuer/logout", 'and where one signs out');
};
push @TRIED, 'backchannel oidcc-backchannel-logout-discovery-endpoint-verification';

subtest 'backchannel: oidcc-backchannel-rp-initiated-logout' => sub {
    local $rp = application($acme, name => 'Told', type => 'web', redirectUris => [ $CB ],
                            scopes => [ 'openid' ], postLogoutRedirectUris => [ $OUT ],
                            backchannelLogoutUri => $receiver->url('/ok/out'),
                            backchannelLogoutSessionRequired => JSON::PP::true,
                            requirePkce => JSON::PP::false);

    somebody();
    $b->login($EMAIL)->status == 200 or die "no session\n";

    my $t = flow();

    is(logout(id_token_hint => $t->{id_token}, post_logout_redirect_uri => $OUT,
              state => 'St4te')->header('Location'), "$OUT?state=St4te",
       'back, with the state and nothing else');

    my ($got) = $receiver->wait('/ok/out', 1, 10);
    my ($token) = ($got->{body} // '') =~ /\Alogout_token=([\w.-]+)\z/;

    ok(defined $token, 'a logout token, and nothing else') or return;

    my ($header, $claims) = @{ verified($token) };

    is($header->{alg}, 'RS256', 'by the algorithm of its ID tokens');
    is($claims->{$_}, $t->{id}{$_}, "$_ is that of the ID token") for qw(sub sid);
    is_deeply($claims->{events}, { 'http://schemas.openid.net/event/backchannel-logout' => {} },
              'the event');
    ok(!exists $claims->{nonce}, 'no nonce');
    like($claims->{jti}, qr/\S/, 'an id');
    ok($claims->{iat} <= time + 5 && $claims->{exp} > time, 'its times');
    is(authorized(prompt => 'none')->{error}, 'login_required', 'and she is signed out');
};
push @TRIED, 'backchannel oidcc-backchannel-rp-initiated-logout';


# --- the table --------------------------------------------------------------------------

tried($s, qr/\Aoidcc-/,
      map { s/^form-post /basic /r } grep { !/^form-post / } @TRIED);

$s->done;
done_testing;
