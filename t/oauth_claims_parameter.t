#!/usr/bin/perl

# Shows the parameter "claims" of authorization requests (OpenID Connect Core, 5.5):
# what it asks for is given in that place, if the user has consented to it, and which
# values are wrong.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Authorize qw(asked to tokens query);
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Grants qw(redeem refresh $REDIRECT);
use SvcTest::OAuth qw(oauth_server application claims);

my $s = oauth_server()->start;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my %WEB = (type => 'web', redirectUris => [ $REDIRECT ], requireConsent => $FALSE,
           signingAlg => 'ES256', scopes => [ qw(openid profile email groups roles) ]);
my $PATH = '/v1/oauth/authorization';

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada');
my $bob = with_password($s, $acme, userName => 'bob@acme.test');
my $web = application($acme, %WEB);
my $opaque = application($acme, %WEB, accessTokenFormat => 'opaque');
my $less = application($acme, %WEB, scopes => [ qw(openid email) ]);
my $asks = application($acme, %WEB, requireConsent => $TRUE);


sub browser {
    my ($email, $tenant) = @_;

    my $b = SvcTest::Browser->new($s, tenant => $tenant // 'acme');

    $b->login($email)->status == 200 or die "no session of $email\n";

    return $b;
}


sub json { return JSON::PP->new->canonical->encode($_[0]) }


# Returns the claims of the ID token beside those that each has, and of userinfo
# beside sub.

sub told {
    my ($t) = @_;

    my %id = %{ (claims($t->{id_token}))[1] };
    my %info = %{ userinfo($t)->json };

    delete @id{qw(iss sub aud exp iat auth_time acr amr sid nonce at_hash)};
    delete @info{qw(sub)};

    return { id_token => \%id, userinfo => \%info };
}


sub userinfo {
    return $s->http(GET => '/oauth/userinfo',
                    [ Authorization => "Bearer $_[0]{access_token}" ]);
}


my $in = browser('ada@acme.test');
my $auth_time = $s->sql("SELECT floor(date_part('epoch', auth_time))::bigint FROM svc.session"
                        . " WHERE user_id = '$ada->{id}'");

sub got {
    my ($app, $claims, %more) = @_;

    return told(tokens($s, $in, $app, claims => json($claims), %more));
}


# --- each claim in both places --------------------------------------------------------

$s->sql("UPDATE svc.user_account SET locale = 'en-GB', first_name = 'Ada', last_name = 'L'"
        . " WHERE id = '$ada->{id}'");

my %IS = (name => 'Ada', given_name => 'Ada', family_name => 'L', locale => 'en-GB',
          email => 'ada@acme.test', email_verified => $TRUE, groups => [], roles => [ 'member' ]);

for my $claim (sort keys %IS) {
    is_deeply(got($web, { id_token => { $claim => undef } }),
              { id_token => { $claim => $IS{$claim} }, userinfo => {} }, "$claim, ID token");
    is_deeply(got($web, { userinfo => { $claim => { essential => $TRUE } } }),
              { id_token => {}, userinfo => { $claim => $IS{$claim} } }, "$claim, userinfo");
}

like(got($web, { userinfo => { updated_at => undef } })->{userinfo}{updated_at},
     qr/\A1[0-9]{9}\z/, 'updated_at, userinfo');
is_deeply(got($web, { userinfo => { auth_time => undef, acr => undef } })->{userinfo},
          { auth_time => $auth_time, acr => 'urn:svc:1' }, 'auth_time and acr, userinfo');
is_deeply(got($web, { id_token => { auth_time => { essential => $TRUE }, acr => undef } }),
          { id_token => {}, userinfo => {} }, 'which each ID token has');
is_deeply(got($opaque, { userinfo => \%{ { map { $_ => undef } keys %IS } } })->{userinfo}, \%IS,
          'all of them, by an opaque token');

# Claims that are asked for are added to those of scopes.

is_deeply(got($web, { id_token => { email => undef }, userinfo => { roles => undef } },
              scope => 'openid email'),
          { id_token => { email => 'ada@acme.test' },
            userinfo => { %IS{qw(email email_verified roles)} } }, 'beside scopes');

# What is ignored.

is_deeply(got($web, $_), { id_token => {}, userinfo => {} }, 'ignored: ' . json($_))
    for {}, { id_token => {} }, { id_token => undef, userinfo => undef },
        { id_token => { phone_number => { essential => $TRUE }, 'Email' => undef, x => 1 } },
        { verified_claims => [ 1 ] }, { userinfo => { sub => undef } };
is_deeply(got($less, { id_token => { email => undef, name => undef, groups => undef } }),
          { id_token => { email => 'ada@acme.test' }, userinfo => {} },
          'what is of a scope that the application does not have');

my $t = tokens($s, $in, $web, claims => json({ id_token => { email => undef } }),
               scope => 'profile');

ok(!$t->{id_token}, 'without openid there is no ID token');
is($s->sql('SELECT count(*) FROM svc.oauth_grant WHERE claims IS NOT NULL'
           . " AND scopes = '{profile}'"), 0, 'and nothing is kept');

# A refresh, with an application that loses a scope, or gets one.

my $claims = json({ id_token => { email => undef, roles => undef },
                    userinfo => { email => undef, name => undef, acr => undef } });

$t = tokens($s, $in, $less, claims => $claims, scope => 'openid offline_access');
is_deeply(told($t), { id_token => { email => 'ada@acme.test' },
                      userinfo => { email => 'ada@acme.test', acr => 'urn:svc:1' } }, 'at first');
$s->sql("UPDATE svc.application SET scopes = '{email,openid,profile,roles}'"
        . " WHERE client_id = '$less->{clientId}'");
$t = refresh($s, $less, $t->{refresh_token})->json;
is_deeply(told($t), { id_token => { email => 'ada@acme.test' },
                      userinfo => { email => 'ada@acme.test', acr => 'urn:svc:1' } },
          'a refresh has the same, and nothing that nobody was asked for');
$s->sql("UPDATE svc.application SET scopes = '{openid}' WHERE client_id = '$less->{clientId}'");
is_deeply(userinfo($t)->json, { sub => $ada->{id}, acr => 'urn:svc:1' },
          'a scope that is lost is not told');
is_deeply(told(refresh($s, $less, $t->{refresh_token})->json),
          { id_token => {}, userinfo => { acr => 'urn:svc:1' } }, 'nor in ID tokens');


# --- consent --------------------------------------------------------------------------

$claims = json({ id_token => { email => undef }, userinfo => { groups => undef } });

my $look = $in->get("$PATH?" . query($asks, claims => $claims))->json;

is_deeply($look->{scopes}, [ map { { name => $_, granted => $FALSE } } qw(email groups openid) ],
          'the page shows the scopes of the claims') or diag(explain($look));

sub decide {
    my (@scopes) = @_;

    return $in->ask(POST => $PATH, { request => query($asks, claims => $claims),
                                     decision => 'approve', userId => $ada->{id},
                                     scopes => \@scopes, resources => [] });
}

is(decide('openid')->status, 409, 'what was not shown is not approved');

my $r = decide(qw(email groups openid));

is($r->status, 200, 'what was, is') or diag($r->body);

my ($code) = ($r->json->{redirectTo} // '') =~ /[?&]code=([\w-]+)/;

$s->secret($code);
is_deeply(told(redeem($s, $asks, { code => $code })->json),
          { id_token => { email => 'ada@acme.test' }, userinfo => { groups => [] } },
          'and given');
is($s->sql("SELECT scopes FROM svc.oauth_consent WHERE client_id = '$asks->{clientId}'"),
          '{email,groups,openid}', 'the consent');
is($s->sql("SELECT scopes FROM svc.oauth_grant WHERE client_id = '$asks->{clientId}'"),
          '{openid}', 'the scopes of the tokens');
ok(asked($in, $asks, claims => $claims)->{code}, 'nobody is asked again');
is(asked($in, $asks, claims => json({ userinfo => { name => undef } }))->{consent}, 1,
   'but for more');
is(asked($in, $asks, claims => json({ userinfo => { name => undef } }), prompt => 'none')->{error},
   'consent_required', '... or it is an error');


# --- "sub" with a value ---------------------------------------------------------------

my $of = sub { return json({ $_[0] => { sub => { value => $_[1] } } }) };

ok(asked($in, $web, claims => $of->(id_token => $ada->{id}))->{code}, 'of this user');

for ([ id_token => $bob->{id} ], [ userinfo => $bob->{id} ], [ id_token => 'ada' ]) {
    my $other = $of->(@$_);

    ok(asked($in, $web, claims => $other)->{page}, "of another one: $other");
    is(asked($in, $web, claims => $other, prompt => 'none')->{error}, 'login_required',
       '... with prompt=none');
}

ok(asked(browser('bob@acme.test'), $web, claims => $of->(id_token => $bob->{id}))->{code},
   'who has signed in then');

my $acr = sub { return json({ id_token => { acr => { @_ } } }) };
my $UNMET = 'unmet_authentication_requirements';
my @NONE = (prompt => 'none');

is(asked($in, $web, @NONE, claims => $acr->(essential => $TRUE, values => [ 'urn:svc:2' ]))->{error},
   $UNMET, 'an essential acr must be reached');
is(asked($in, $web, @NONE, claims => $acr->(essential => $TRUE, value => 'phr'),
         acr_values => 'urn:svc:1')->{error}, $UNMET, '... whatever acr_values say');
is(asked($in, $web, claims => $acr->(essential => $TRUE, values => [ 'x' ]))->{error},
   $UNMET, '... which one that nobody knows cannot be');
ok(asked($in, $web, claims => $acr->(essential => $TRUE, values => [ 'phr' ]))->{page},
   '... by a new sign-in');
ok(asked($in, $web, @NONE, claims => $acr->(@$_))->{code}, 'not: ' . $acr->(@$_))
    for [ essential => $TRUE, values => [ 'phr', 'urn:svc:1' ] ], [ essential => $TRUE ],
        [ essential => $FALSE, values => [ 'urn:svc:2' ] ], [ values => [ 'urn:svc:2' ] ];

$s->sql("UPDATE svc.session SET methods = '{passkey}' WHERE user_id = '$ada->{id}'");
is((claims(tokens($s, $in, $web, claims => $acr->(values => [ 'x', 'urn:svc:2', 'phr' ]))->{id_token}))
       [1]{acr}, 'urn:svc:2', 'the first one that is reached is told');
is(got($web, { userinfo => { acr => { values => [ 'urn:svc:2' ] } } })->{userinfo}{acr},
   'urn:svc:2', 'at userinfo, too');


# --- wrong values ---------------------------------------------------------------------

my $JSON = "'claims' is no JSON object, or one that has a member twice.";
my $ONE = "'%s' of 'claims' is neither null nor an object whose 'essential' is true or false.";

my @BAD = (
    (map { [ $_, $JSON ] } 'x', '{', '[]', '[{"id_token":{}}]', '"x"', 'null', '1', '{}x',
         '{"id_token":{},"id_token":{}}', '{"id_token":{"email":null,"email":null}}',
         '{"id_token":{"email":null,"\u0065mail":null}}', '{"id_token":{"email":"\ud800"}}',
         '{"a":' . '[' x 65 . ']' x 65 . '}'),
    [ '{"a":"' . 'x' x 4089 . '"}', "'claims' has more than 4096 bytes." ],
    (map { [ "{\"$_\":[]}", "'$_' of 'claims' is no object." ] } qw(id_token userinfo)),
    [ '{"id_token":"email"}', "'id_token' of 'claims' is no object." ],
    (map { [ "{\"userinfo\":{\"email\":$_}}", sprintf $ONE, 'email' ] }
         'true', '[]', '"x"', '1', '{"essential":1}', '{"essential":null}'),
    [ '{"id_token":{"sub":{"value":1}}}', "The value of 'sub' of 'claims' is no string." ],
    [ '{"id_token":{"sub":{"value":"a"}},"userinfo":{"sub":{"value":"b"}}}',
      "'claims' has two values of 'sub'." ],
    [ '{"id_token":{"acr":{"value":null}}}', "The value of 'acr' of 'claims' is no string." ],
    (map { [ "{\"id_token\":{\"acr\":{\"values\":$_}}}",
             "The values of 'acr' of 'claims' are no array of strings." ] }
         '"phr"', '[1]', '["phr",null]', '{}'),
);

for (@BAD) {
    my ($text, $why) = @$_;
    my $to = asked($in, $web, claims => $text);

    is_deeply([ @$to{qw(error error_description state)} ], [ 'invalid_request', $why, 'xyz' ],
              'claims=' . substr($text, 0, 60));
}

ok(asked($in, $web, claims => '{"a":"' . 'x' x 4088 . '"}')->{code}, '4,096 bytes are taken');

# Tenants are apart: another tenant's user cannot be asked for.

with_password($s, $globex, userName => 'eve@globex.test');

my $foreign = application($globex, %WEB);
my $eve = browser('eve@globex.test', 'globex');

ok(asked($eve, $foreign, claims => $of->(id_token => $ada->{id}))->{page},
   'a user of another tenant is another one');
is_deeply(told(tokens($s, $eve, $foreign, claims => json({ id_token => { email => undef } }))),
          { id_token => { email => 'eve@globex.test' }, userinfo => {} }, 'each has its own');

is($s->http(GET => '/oauth/t/acme/.well-known/openid-configuration')
     ->json->{claims_parameter_supported}, $TRUE, 'metadata');

$s->done;
done_testing();
