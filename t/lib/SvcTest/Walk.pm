package SvcTest::Walk;

# What the walks over all routes share: a server with everything switched on, a
# list of routes, two tenants with one of each thing that an id may name, and
# the two things that each walk does: it sends requests, and reports what was
# wrong.
#
#     my $w = SvcTest::Walk->new;
#     for my $route ($w->routes) {
#         my @wrong = map { ... } ...;            # "input: what came"
#
#         $w->told("$route->{name}: bad ids", @wrong);
#     }

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use Test::More;

use SvcTest;
use SvcTest::Admin ();
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance qw($ALL);
use SvcTest::Mail qw(nowhere);
use SvcTest::Nginx;
use SvcTest::Routes qw(all_routes parameters path_of);
use SvcTest::Scim ();
use SvcTest::Valid qw(bodies body_of);

our $NONE = '00000000-0000-4000-8000-000000000000';

# Tables that are written without a request.
my %VOLATILE = map { $_ => 1 } qw(agent_sweep scim_helper webhook_outbox);

# Columns that any request with a valid credential may write now and then.
my %SEEN = (credential => 'last_used_at', session => 'last_seen_at');


# Sign-ins are not limited, and hashing is cheap.  A second port serves the same
# with a timeout of one second for bodies.

sub new {
    my ($class) = @_;

    my $self = bless { late => SvcTest::Nginx::free_port() }, $class;
    my $s = $self->{s} = SvcTest->new(
        workers => 1, connections => 2048,
        svc => {
            svc_postgres_pool => [ 'read connections=1 depth=16',
                                   'write connections=1 depth=8',
                                   'slow connections=1 depth=1' ],
            svc_sign_in => 'on', svc_organization_signup => 'on', nowhere(),
            svc_webhooks => 'on', svc_scim_targets => 'on', svc_federation => 'on',
            svc_password_hash => 'memory=7m iterations=1',
            svc_set => [ 'RATE_LIMIT_LOGIN_WINDOW 0', 'LOGIN_LOCKOUT_MAX 0',
                         'RATE_LIMIT_SIGNUP_WINDOW 0' ],
        },
        locations => 'location /oauth { svc_oauth on; }',

        # with several tenants, requests that name none mean this one

        server => "        svc_tenant acme;\n", http => <<"EOT")->start;
    gzip on;
    gzip_types application/json;
    gzip_min_length 1;
    server {
        listen 127.0.0.1:$self->{late};
        svc_body_timeout 1s;
        location /scim/v2 { svc_scim on; }
        location /v1 { svc_admin on; }
    }
EOT

    # no helper can take the targets: it would write to them

    $s->sql("ALTER TABLE svc.scim_target ALTER lease_by SET DEFAULT 'somebody'");
    $s->secret($PASSWORD);

    $self->{routes} = [ all_routes($s->root) ];
    $self->{workers} = [ $s->workers ];
    $self->{$_} = $self->tenant($_) for qw(acme globex);
    $self->{body} = { bodies($self->named('acme')) };
    $s->sweep or die "sign-ins are not counted\n";
    $self->changed;

    return $self;
}


sub routes { return @{ $_[0]{routes} } }
sub body { return body_of($_[1], $_[0]{body}) }
sub late { return $_[0]{late} }


# --- two tenants ---------------------------------------------------------------

# Makes a tenant with an owner who has signed in, and with one of each thing, by
# the fixed part of the path before its id.

sub tenant {
    my ($self, $slug) = @_;

    my $s = $self->{s};
    my $tenant = $s->tenant($slug);
    my $owner = with_password($s, $tenant, userName => "owner\@$slug.test",
                              role => 'owner');
    my $user = $tenant->create(userName => "user\@$slug.test");
    my $browser = SvcTest::Browser->new($s, tenant => $slug);

    $s->sql("UPDATE svc.credential SET permissions = '{$ALL}'"
            . " WHERE id = '$tenant->{api_id}'");

    my $of = { %{ $self->things($tenant, $user->{id}, $owner->{id}) },
               Users => $user->{id}, users => $user->{id}, members => $user->{id},
               'api-tokens' => $tenant->{api_id}, tokens => $tenant->{scim_id},
               tenants => $slug };

    $of->{webhooks} = $tenant->admin(POST => '/webhooks', {
        url => 'https://hooks.example.com/in', events => [ 'user.deleted' ] })
        ->json->{id};
    $of->{deliveries} = $self->add_row($tenant, 'webhook_attempt', 'endpoint_id, created_at,'
        . ' delivery_id, attempt, event_id, event, outcome, duration_ms',
        "'$of->{webhooks}', now(), '" . md5_hex("$slug delivery") . "', 1, 'x', 'user.deleted',"
        . " 'acknowledged', 1", 'delivery_id');
    $browser->login("owner\@$slug.test")->status == 200
        or die "owner\@$slug.test does not sign in\n";
    $of->{sessions} = $browser->get('/v1/auth/sessions')->json->{sessions}[0]{id};

    @$tenant{qw(of browser owner)} = ($of, $browser, $owner->{id});

    return $tenant;
}


# Returns what the bodies of SvcTest::Valid refer to in one tenant.

sub named {
    my ($self, $slug) = @_;

    my $tenant = $self->{$slug};
    my $of = $tenant->{of};
    my (undef, undef, $target, $other) = client_ids($slug);

    return (slug => $slug, self => "owner\@$slug.test", self_id => $tenant->{owner},
            password => $PASSWORD, user => $of->{users}, email => "user\@$slug.test",
            group => $of->{groups}, role => $of->{roles}, agent => $of->{agents},
            application => $of->{applications}, target => $target,
            other => $other, domain => "of-$slug.test");
}


# Returns the ids of an agent, of an application, of one that is a target, and
# of one more.

sub client_ids {
    my ($slug) = @_;

    return 'agt_' . md5_hex($slug), map { 'app_' . md5_hex("$slug $_") } 1 .. 3;
}


sub things {
    my ($self, $tenant, $user, $owner) = @_;

    my $slug = $tenant->{slug};
    my ($agent, @web) = client_ids($slug);
    my $add = sub { $self->add_row($tenant, @_) };

    $add->('domain', 'domain, verified_at', "'of-$slug.test', now()", 'domain');
    $self->applications($tenant);

    my $group = $self->group($tenant, $user, $web[0]);

    return {
        groups => $group, applications => $web[0], agents => $agent,
        roles => $add->('role', 'key, name, permissions', "'of-$slug', 'R', '{}'",
                        'key'),
        versions => $add->('access_policy_version', 'number, source, snapshot',
            q{0, 'api', '{"rules":[],"defaultAction":"allow"}'}, 'id'),
        audit => $add->('audit_event', 'id, action',
            ($slug eq 'acme' ? 8765432109876 : 7654321098765) . ", 'user.created'", 'id'),
        invitations => $add->('invitation', 'id, email, email_key, role, group_ids,'
            . ' days, token_hash, expires_at', "gen_random_uuid(), 'old\@x.test',"
            . " 'old\@x.test', 'member', '{}', 7, sha256('$slug'), 'infinity'",
            'id'),
        apps => $add->('saml_app', 'id, name, sp_entity_id, acs_url',
            "gen_random_uuid(), 'x', 'https://x.test', 'https://x.test'", 'id'),
        anomalies => $add->('agent_anomaly',
            'client_id, type, key, severity, details',
            "'$agent', 'new_ip', 'x', 'low', '{}'", 'id'),

        # a target that is already synchronized and tested

        'scim-targets' => $add->('scim_target', 'client_id, name, base_url, token,'
            . ' sync_status, test_id, test_at', "'$web[1]', 'x',"
            . " 'https://x.test', '\\x00', 'running', gen_random_uuid(), 'infinity'",
            'id'),
        domains => $add->('domain', 'domain', "'$slug.example'", 'domain'),
        'ip-blocks' => $add->('ip_block', 'ip, created_by_type',
            ($slug eq 'acme' ? "'192.0.2.1'" : "'2001:db8::9'") . ", 'user'",
            'host(ip)'),
        'security-incidents' => $add->('incident', 'id, type, subject, severity,'
            . ' title, details, count, last_seen_at', 'gen_random_uuid(),'
            . " 'account_lockouts', '', 'medium', 'x', '{}', 1, now()", 'id'),
        consents => $add->('oauth_consent', 'user_id, client_id, scopes, resources,'
            . ' allowed', "'$owner', '$web[0]', '{a}', '{}', '{\" \",\" a\"}'", 'client_id'),
        identities => $add->('federated_identity', 'connection_id, subject_hash, id, user_id,'
            . ' subject', "gen_random_uuid(), sha256('$owner'), gen_random_uuid(), '$owner',"
            . " '\\x00'", 'id'),
        links => $add->('federated_identity', 'connection_id, subject_hash, id, user_id,'
            . ' subject', "gen_random_uuid(), sha256('$user'), gen_random_uuid(), '$user',"
            . " '\\x00'", 'id'),
        factors => $add->('factor', 'user_id, id, type, name, confirmed_at',
            "'$user', gen_random_uuid(), 'passkey', 'x', now()", 'id'),
        totp => $add->('factor', 'user_id, id, type, name, secret',
            "'$user', gen_random_uuid(), 'totp', 'x', '\\x00'", 'id'),
        email => $add->('factor', 'user_id, id, type, name',
            "'$user', gen_random_uuid(), 'email', 'x'", 'id'),

        tests => $add->('federation_flow', 'id, token_hash, connection_id,'
            . ' connection_version, purpose, binding_hash, host, user_id, used_at, tested_at,'
            . ' expires_at', "gen_random_uuid(), sha256('$slug test'), gen_random_uuid(), now(),"
            . " 'test', sha256(''), 'x.test', '$owner', now(), 'infinity', 'infinity'", 'id'),

        # from our fixed lists

        connections => $slug eq 'acme' ? 'google' : 'apple',
        federation => $slug eq 'acme' ? 'google' : 'apple',
        integrations => $slug eq 'acme' ? 'azure-devops' : 'none',
    };
}


# Adds a row of a tenant, given as SQL.  Returns the value of $returning.

sub add_row {
    my ($self, $tenant, $table, $columns, $values, $returning) = @_;

    return scalar $self->{s}->sql(
        "INSERT INTO svc.$table (tenant_id, $columns) VALUES"
        . " ('$tenant->{id}', $values) RETURNING $returning");
}


# Adds an agent, and applications that users sign in to.

sub applications {
    my ($self, $tenant) = @_;

    my ($agent, @web) = client_ids($tenant->{slug});

    $tenant->add_applications(agent => $agent);
    $tenant->add_applications(web => @web);
    $self->{s}->sql("UPDATE svc.application SET redirect_uris = '{https://a.test/}',"
                    . " grant_types = '{authorization_code}' WHERE type = 'web'");
}


# Adds a group with everything that a group can have.  Returns its id.

sub group {
    my ($self, $tenant, $user, $client) = @_;

    my $id = $self->add_row($tenant, 'user_group', 'id, name',
                            "gen_random_uuid(), 'Staff'", 'id');

    $self->add_row($tenant, 'group_member', 'group_id, user_id', "'$id', '$user'",
                   'user_id');
    $self->add_row($tenant, 'group_password_policy', 'group_id, min_length',
                   "'$id', 9", 'group_id');
    $self->add_row($tenant, 'group_app', 'client_id, group_id', "'$client', '$id'",
                   'client_id');

    return $id;
}


# Returns the values of a route's parameters in a tenant.

sub ids {
    my ($self, $route, $tenant) = @_;

    return map { $tenant->{of}{$_} // die "$route->{name}: no id for \"$_\"\n" }
           parameters($route);
}


sub path {
    my ($self, $route, $tenant) = @_;

    return path_of($route, $self->ids($route, $tenant // $self->{acme}));
}


# --- asking, and telling ---------------------------------------------------------

# Returns the headers with a route's credential: a token, or the session where
# no token is accepted.

sub headers {
    my ($self, $route) = @_;

    return @{ $self->{acme}->headers } if $route->{surface} eq 'scim';
    return $self->cookies if $route->{session} || $route->{public};
    return (Authorization => "Bearer $self->{acme}{api_token}");
}


# From now on no request ends a session, because one of them may be a sign-out.

sub stay_signed_in {
    my ($self) = @_;

    $self->{s}->sql($_) for
        'CREATE OR REPLACE FUNCTION public.signed_in() RETURNS trigger LANGUAGE plpgsql AS $$'
        . ' BEGIN NEW.ended_at := OLD.ended_at; RETURN NEW; END $$',
        'CREATE OR REPLACE TRIGGER signed_in BEFORE UPDATE OF ended_at ON svc.session'
        . ' FOR EACH ROW EXECUTE FUNCTION public.signed_in()';
}


sub cookies {
    my ($self) = @_;

    my $browser = $self->{acme}{browser};

    return (Cookie => $browser->cookie, 'X-CSRF-Token' => $browser->{csrf});
}


# Sends a request on a connection that is kept as long as the server keeps it.
# Returns undef when there is no answer.

sub ask {
    my ($self, $method, $path, $headers, $body) = @_;

    my $c = $self->{c} //= $self->{s}->connection;
    my $r = $c->request($method, $path, $headers, SvcTest::encode($body));

    delete $self->{c} if !$r || ($r->header('connection') // '') eq 'close';

    return $r;
}


# Returns what is wrong with an answer that should be this error.  type: SCIM's
# scimType, or an error code that is not the status's default.

sub faults {
    my ($self, $route, $r, $status, $type) = @_;

    return 'no answer' if !$r;

    my @wrong = $route->{surface} eq 'scim'
              ? SvcTest::Scim::error_faults($r, $status, $type)
              : SvcTest::Admin::error_faults($r, $status, $type);

    return if !@wrong;
    return join '; ', @wrong, "it is $r->{status} " . substr $r->{body}, 0, 300;
}


# Makes one test.  wrong: what was wrong, each as "input: what came".

sub told {
    my ($self, $name, @wrong) = @_;

    return ok(!@wrong, $name) || diag(map { "$name: $_\n" } @wrong);
}


# --- what is stored --------------------------------------------------------------

# Returns a digest of all rows of each table, by table.

sub stored {
    my ($self) = @_;

    $self->{db} //= $self->prepared;

    return { map { @$_ } @{ $self->{db}->query('EXECUTE stored') } };
}


sub prepared {
    my ($self) = @_;

    my $db = $self->{s}->connect_as('postgres');
    my @tables = map { $_->[0] } $self->{s}->sql(<<'EOT');
SELECT relname FROM pg_class WHERE relnamespace = 'svc'::regnamespace
   AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1
EOT

    $db->query('SET plan_cache_mode = force_generic_plan');
    $db->query('PREPARE stored AS ' . join ' UNION ALL ', map {
        my $row = $SEEN{$_} ? "(to_jsonb(x) - '$SEEN{$_}')::text" : 'x::text';

        "SELECT '$_', md5(string_agg($row, ' ' ORDER BY $row)) FROM svc.$_ x"
    } grep { !$VOLATILE{$_} } @tables);

    return $db;
}


# Checks requests that must do nothing: the workers are unharmed, and nothing is
# stored.  Returns what was stored, or an empty text.  When no transaction has
# got a number since the last look, nobody has written anything.

sub unharmed {
    my ($self, $name) = @_;

    $self->{s}->unharmed($self->{workers}, $name);

    my $number = $self->transactions;

    return '' if ($self->{number} // '') eq $number;

    my $before = $self->{before};
    my $now = $self->changed;

    return join ' ', map { "$_ has changed" }
                     grep { ($now->{$_} // '') ne ($before->{$_} // '') }
                     sort keys %$now;
}


sub transactions {
    my ($self) = @_;

    $self->{db} //= $self->prepared;

    return $self->{db}->query(
        'SELECT pg_snapshot_xmax(pg_current_snapshot())')->[0][0];
}


# Accepts the changes so far as intended.

sub changed {
    my ($self) = @_;

    $self->{number} = $self->transactions;

    return $self->{before} = $self->stored;
}


1;
