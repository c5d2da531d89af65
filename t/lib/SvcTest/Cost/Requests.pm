package SvcTest::Cost::Requests;

# The requests whose cost t/cost.t measures: SCIM, administration, sign-in,
# OAuth, policies.

use strict;
use warnings;

use Digest::SHA qw(sha256);
use Exporter qw(import);
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);

use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance qw($ALL);
use SvcTest::Grants qw(code redeem refresh $REDIRECT $VERIFIER);
use SvcTest::Lines;
use SvcTest::OAuth qw(application escape exchange form user_token);
use SvcTest::Process qw(wait_for);
use SvcTest::Scim qw(patch_op);
use SvcTest::Session qw(add_addresses);

our @EXPORT_OK = qw(operation @DEAREST);

# The operations with the most instructions, or nearly.
our @DEAREST = qw(admin_users_search audit admin_users simulate groups sign_in
                  refresh code exchange config_apply);

my $USERS = 3000;
my $API = 'https://api.test/';
my $BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';


# The directives that these requests need.

sub directives {
    return (svc_sign_in => 'on',
            svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 1000000" } qw(IP EMAIL) ]);
}


sub locations {
    return "        location /oauth { svc_oauth on; }\n";
}


# Returns all operations on what world() has made.  The dearest come first, so
# that these find the same data when they run alone as when all run.  Reads come
# before the writes of what they read.

sub operations {
    my ($w) = @_;

    my %op = map { $_->{name} => $_ }
             my @all = (admin($w), scim($w), sign_in($w), oauth($w), policies($w),
                        authorizations($w), claims($w));

    return (delete @op{@DEAREST}, grep { $op{ $_->{name} } } @all);
}


# Makes enough data that the planner uses indexes, of one tenant among others.

sub world {
    my ($s) = @_;

    my ($acme, @others) = map { $s->tenant($_) } qw(acme globex initech);
    my @users = add_users($acme, $USERS);

    add_users($_, $USERS / 6) for @others;
    $s->sql('INSERT INTO svc.user_group (tenant_id, id, name)'
            . " SELECT id, md5(slug || 'group' || i)::uuid, 'group' || i"
            . ' FROM svc.tenant, generate_series(1, 200) i');
    $s->sql('INSERT INTO svc.sign_in (tenant_id, at, ip, country, user_id)'
            . " SELECT '$acme->{id}', now() - i * interval '1 minute',"
            . " '10.0.0.0'::inet + i % 100, 'FR', NULL"
            . ' FROM generate_series(1, 1000) i');
    add_addresses($s);
    $s->sql('INSERT INTO svc.audit_event (tenant_id, action, actor_type,'
            . ' target_type, target_id, details, created_at)'
            . " SELECT '$acme->{id}', 'user.updated', 'apiToken', 'user',"
            . " gen_random_uuid(), '{}', now() - i * interval '1 ms'"
            . ' FROM generate_series(1, 2000) i');
    $s->sql("INSERT INTO svc.tenant (slug, name) SELECT 'fresh' || i, 'Fresh'"
            . ' FROM generate_series(1, 2000) i');

    my $ada = with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');

    $s->sql("UPDATE svc.credential SET permissions = '{$ALL}' WHERE kind = 'api'");

    my $keys = SvcTest::Lines->new($s->root . '/t/lib/assertion');
    my %app = applications($acme, $keys);

    $s->sql(<<"EOT");
INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources, allowed)
VALUES ('$acme->{id}', '$ada->{id}', '$app{agent}{clientId}', '{read}', '{}', '{" "," read"}')
EOT
    1 while $s->sql('SELECT svc.user_index(1000)');
    tidy($s);

    return { s => $s, acme => $acme, ada => $ada, app => \%app, users => \@users,
             keys => $keys };
}


# Prevents writes about the use of tokens, which otherwise happen once a minute.

sub tidy {
    my ($s) = @_;

    $s->sql("UPDATE svc.credential SET last_used_at = now() + interval '1 day'");
    $s->sql($_) for 'REINDEX SCHEMA svc', 'VACUUM ANALYZE', 'CHECKPOINT';
}


# Returns the ids of new users, which are the same in each run, so that the
# pages of indexes are, too.

sub add_users {
    my ($tenant, $n) = @_;

    my @rows = $tenant->{system}->sql(<<"EOT");
INSERT INTO svc.user_account (tenant_id, id, user_name, external_id, created_at,
                              display_name)
SELECT '$tenant->{id}', md5('$tenant->{slug}' || i)::uuid,
       'user' || i || '\@$tenant->{slug}.test', 'ext-' || i,
       now() - i * interval '1 s', 'User ' || i
FROM generate_series(1, $n) i
RETURNING id
EOT

    return map { $_->[0] } @rows;
}


sub applications {
    my ($tenant, $keys) = @_;

    my %opaque = (accessTokenFormat => 'opaque');
    my %app = (
        jwt => { scopes => [ 'read' ] },
        key => { scopes => [ 'read' ], tokenEndpointAuthMethod => 'private_key_jwt',
                 jwks => { keys => [ $keys->ask({ key => 'cost' })->{jwk} ] } },
        opaque => { scopes => [ 'read' ], %opaque },
        web => { type => 'web', redirectUris => [ $REDIRECT ], %opaque,
                 scopes => [ qw(openid profile email read) ] },
        site => { type => 'web', redirectUris => [ $REDIRECT ], scopes => [ 'openid' ],
                  requireConsent => JSON::PP::false() },
        agent => { type => 'agent', scopes => [ 'read' ], resourceUri => $API,
                   %opaque },
    );

    return map { $_ => application($tenant, name => $_, %{ $app{$_} }) }
           sort keys %app;
}


# Returns an application like "web" that also has claims in its ID tokens.  It
# is made when it is first needed, because its row makes the others' dearer to
# find.

sub telling {
    my ($w) = @_;

    return $w->{app}{telling} //= application(
        $w->{acme}, name => 'telling', type => 'web', redirectUris => [ $REDIRECT ],
        accessTokenFormat => 'opaque', scopes => [ qw(openid profile email read) ],
        idTokenClaims => [ qw(profile email) ]);
}


# Returns a user whom no request has changed yet.

sub user {
    my ($w) = @_;

    return shift @{ $w->{users} } // die "too few users\n";
}


# Returns a tenant that no request has been for yet, of which nothing is kept in
# memory.

sub fresh {
    my ($w) = @_;

    return 'fresh' . ++$w->{fresh};
}


# Returns a name that is as long as the others of its kind.

sub name {
    my ($w, $kind) = @_;

    return sprintf '%s%06d', $kind, ++$w->{names};
}


sub operation {
    my ($name, $status, $ask, $before) = @_;

    return { name => $name, status => $status, ask => $ask, before => $before };
}


sub scim {
    my ($w) = @_;

    my $acme = $w->{acme};
    my $any = sub { user($w) };
    my $core = [ 'urn:ietf:params:scim:schemas:core:2.0:User' ];
    my $off = patch_op({ op => 'replace', path => 'active',
                         value => JSON::PP::false() });
    my $user1500 = 'userName%20eq%20%22user1500%40acme.test%22';

    return (
        operation('scim_get', 200, sub { $acme->scim(GET => "/Users/$_[0]") }, $any),
        operation('scim_filter', 200, sub {
            $acme->scim(GET => "/Users?filter=$user1500")
        }),
        operation('scim_list', 200, sub { $acme->scim(GET => '/Users?count=50') }),
        operation('scim_post', 201, sub {
            $acme->scim(POST => '/Users', {
                schemas => $core, userName => name($w, 'new') . '@acme.test',
                externalId => name($w, 'ext'), displayName => 'New User',
                name => { givenName => 'New', familyName => 'User' } })
        }),
        operation('scim_patch_active', 200, sub {
            $acme->scim(PATCH => "/Users/$_[0]", $off)
        }, $any),
        operation('scim_put', 200, sub {
            $acme->scim(PUT => "/Users/$_[0]", {
                schemas => $core, userName => name($w, 'put') . '@acme.test',
                displayName => 'Put User', title => 'Engineer',
                name => { givenName => 'Put', familyName => 'User' } })
        }, $any),
        operation('scim_delete', 204, sub {
            $acme->scim(DELETE => "/Users/$_[0]")
        }, $any),
    );
}


# Reads come first, when no request has changed anything.

sub admin {
    my ($w) = @_;

    my $acme = $w->{acme};
    my $any = sub { user($w) };
    my $get = sub { my ($path) = @_; sub { $acme->admin(GET => $path) } };
    my @groups = map { $_->[0] } $w->{s}->sql(
        "SELECT id FROM svc.user_group WHERE tenant_id = '$acme->{id}'"
        . ' ORDER BY name');

    return (
        operation('admin_user', 200, sub {
            $acme->admin(GET => "/users/$_[0]")
        }, $any),
        operation('admin_users', 200, $get->('/users?limit=50')),
        operation('admin_users_search', 200, $get->('/users?q=user15&limit=50')),
        operation('groups', 200, $get->('/groups?limit=50')),
        operation('audit', 200, $get->('/audit?limit=50')),
        operation('admin_user_put', 200, sub {
            $acme->admin(PUT => "/users/$_[0]", { title => name($w, 'title') })
        }, $any),
        operation('role_post', 201, sub {
            $acme->admin(POST => '/roles', { key => name($w, 'role'),
                                             name => name($w, 'R'),
                                             permissions => [ 'users:view' ] })
        }),
        operation('group_post', 201, sub {
            $acme->admin(POST => '/groups', { name => name($w, 'new group') })
        }),
        operation('members_post', 200, sub {
            $acme->admin(POST => "/groups/$_[0]/members",
                         { userIds => [ user($w) ] })
        }, sub { shift @groups }),
    );
}


sub sign_in {
    my ($w) = @_;

    my $s = $w->{s};
    my $b = SvcTest::Browser->new($s, tenant => 'acme');
    my $any = sub { user($w) };

    $s->secret($PASSWORD);

    return (
        operation('sign_in', 200, sub { $b->login('ada@acme.test', $PASSWORD) }),
        operation('session', 200, sub { $b->get('/v1/auth/session') }),
        operation('session_user', 200, sub {
            $b->get("/v1/admin/users/$_[0]")
        }, $any),
        operation('session_user_put', 200, sub {
            $b->ask(PUT => "/v1/admin/users/$_[0]", { title => name($w, 'title') })
        }, $any),
        operation('auth_options', 200, sub {
            $s->http(GET => '/v1/auth/options?tenant=' . fresh($w))
        }),
        operation('branding', 200, sub {
            $s->http(GET => '/v1/tenants/' . fresh($w) . '/branding')
        }),
    );
}


sub oauth {
    my ($w) = @_;

    my ($s, $acme, $app, $ada) = @$w{qw(s acme app ada)};
    my $any = sub { '/oauth/t/' . fresh($w) };
    my $code = sub {
        code($acme, $app->{web}, $ada,
             scopes => [ qw(openid offline_access profile read) ])
    };
    my $redeemed = sub { redeem($s, $app->{web}, $code->())->json };
    my $of_user = sub {
        user_token($acme, client => $app->{web}, user => $ada->{id},
                   scopes => [ 'read' ], audience => $API)
    };

    return (
        tokens($w),
        operation('code', 200, sub { redeem($s, $app->{web}, $_[0]) }, $code),
        operation('refresh', 200, sub {
            refresh($s, $app->{web}, $_[0]{refresh_token})
        }, $redeemed),
        operation('exchange', 200, sub {
            exchange($s, $app->{agent}, $_[0], scope => 'read')
        }, $of_user),
        operation('userinfo', 200, sub {
            $s->http(GET => '/oauth/userinfo',
                     [ Authorization => "Bearer $_[0]{access_token}" ])
        }, $redeemed),
        operation('introspect_user', 200, sub { active($s, $app->{web}, $_[0]) },
                  sub { $redeemed->()->{access_token} }),
        operation('introspect_chain', 200, sub { active($s, $app->{agent}, $_[0]) },
                  sub { exchange($s, $app->{agent}, $of_user->(), scope => 'read')
                            ->json->{access_token} }),
        operation('oauth_metadata', 200, sub {
            $s->http(GET => "$_[0]/.well-known/openid-configuration")
        }, $any),
        operation('jwks', 200, sub { $s->http(GET => "$_[0]/jwks") }, $any),
    );
}


# A user who is signed in returns to the client at once: by a request from the
# browser, or by a pushed one, which takes a round trip more.

sub authorizations {
    my ($w) = @_;

    my ($s, $site) = ($w->{s}, $w->{app}{site});
    my %ask = (redirect_uri => $REDIRECT, response_type => 'code', scope => 'openid',
               state => 'x' x 43, nonce => 'x' x 43, code_challenge_method => 'S256',
               code_challenge => encode_base64url(sha256($VERIFIER)));
    my $push = sub { form($s, par => \%ask, client => $site) };
    my $come = sub {
        my (%query) = @_;

        $w->{browser}->get("/oauth/authorize?client_id=$site->{clientId}&"
                           . join '&', map { "$_=" . escape($query{$_}) } sort keys %query);
    };
    my $in = sub {
        $w->{browser} //= do {
            my $b = SvcTest::Browser->new($s, tenant => 'acme');

            $b->login('ada@acme.test')->status == 200 or die "nobody is signed in\n";
            $b;
        };
    };

    return (
        operation('authorize', 303, sub { $come->(%ask) }, $in),
        operation('authorize_pushed', 303, sub { $come->(request_uri => $_[0]) },
                  sub { $in->(); $push->()->json->{request_uri} }),
        operation('par', 201, $push),
    );
}


# Introspects a token that is active.

sub active {
    my ($s, $client, $token) = @_;

    my $r = form($s, introspect => { token => $token }, client => $client);

    die 'the token is dead: ' . $r->body . "\n" if !$r->json->{active};

    return $r;
}


# These come last: their rows would move those of the others further away.

sub claims {
    my ($w) = @_;

    my ($s, $acme, $ada) = @$w{qw(s acme ada)};
    my $told = sub {
        code($acme, telling($w), $ada, scopes => [ qw(openid offline_access profile read) ])
    };

    return (
        operation('code_claims', 200, sub { redeem($s, telling($w), $_[0]) }, $told),
        operation('refresh_claims', 200, sub {
            refresh($s, telling($w), $_[0]{refresh_token})
        }, sub { redeem($s, telling($w), $told->())->json }),
    );
}


# Requests for tokens of the client itself, whose rows are written after the
# answer.  Revoking one whose row is not written yet would store it.

sub tokens {
    my ($w) = @_;

    my ($s, $app) = @$w{qw(s app)};
    my $own = sub {
        form($s, token => { grant_type => 'client_credentials' },
             client => $app->{ $_[0] })
    };
    my $ask = sub {
        my ($path, $client) = @_;

        return (sub {
                    form($s, $path, { token => $_[0] }, client => $app->{$client})
                },
                sub {
                    my $token = $own->($client)->json->{access_token};

                    my $jti = form($s, introspect => { token => $token },
                                   client => $app->{$client})->json->{jti};

                    $s->secret($token);
                    wait_for { $s->sql("SELECT count(*) FROM svc.oauth_token"
                                       . " WHERE jti = '$jti'") } or die "no row of it\n";

                    return $token;
                });
    };

    return (
        operation('token_jwt', 200, sub { $own->('jwt') }),
        operation('token_opaque', 200, sub { $own->('opaque') }),
        operation('token_key', 200, sub {
            form($s, token => { grant_type => 'client_credentials', client_assertion => $_[0],
                                client_assertion_type => $BEARER })
        }, sub { assertion($w) }),
        operation('introspect_jwt', 200, $ask->(introspect => 'jwt')),
        operation('introspect_opaque', 200, $ask->(introspect => 'opaque')),
        operation('revoke', 200, $ask->(revoke => 'opaque')),
    );
}


# Returns a client assertion, presented once, whose client's keys are known.

sub assertion {
    my ($w) = @_;

    my $s = $w->{s};
    my $text = $w->{keys}->ask({ key => 'cost', client => $w->{app}{key}{clientId},
                                 aud => $s->base_url . '/oauth/token' })->{assertion};

    $s->secret($text);

    return $text;
}


sub policies {
    my ($w) = @_;

    my $acme = $w->{acme};
    my $home = { name => 'Home', action => 'allow', countries => [ 'FR' ] };
    my $policy = { rules => [ $home ], defaultAction => 'mfa' };
    my $post = sub { my ($path) = @_; sub { $acme->admin(POST => $path, $_[0]) } };
    my $bundle = sub {
        return { version => 1, roles => [ { key => 'kept', name => name($w, 'Kept'),
                                            permissions => [ 'users:view' ] } ] };
    };

    return (
        operation('simulate', 200, $post->('/access-policy/simulate'),
                  sub { $policy }),
        operation('config', 200, sub { $acme->admin(GET => '/config') }),
        operation('config_plan', 200, $post->('/config/plan'), $bundle),
        operation('config_apply', 200, $post->('/config/apply'), $bundle),
    );
}


1;
