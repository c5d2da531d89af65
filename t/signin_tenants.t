#!/usr/bin/perl

# A session is of one tenant: whatever route, with whatever id of another one.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Routes;


my $s = SvcTest->new(svc => { svc_sign_in => 'on', svc_webhooks => 'on',
                              svc_scim_targets => 'on' },
                     locations => 'location /oauth { svc_oauth on; }')->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($PASSWORD);

with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');

my $eve = with_password($s, $globex, userName => 'eve@globex.test',
                        role => 'owner');
my $b = SvcTest::Browser->new($s, tenant => 'acme');
my $theirs = SvcTest::Browser->new($s, tenant => 'globex');

is($b->login('ada@acme.test')->status, 200, 'an owner');
is($theirs->login('eve@globex.test')->status, 200, 'and one of another tenant');
admin_error(SvcTest::Browser->new($s, tenant => 'acme')->login('eve@globex.test'),
            401, 'invalid_credentials', 'an address of another tenant');


sub insert {
    my ($table, $columns, $values, $returning) = @_;

    return scalar $s->sql("INSERT INTO svc.$table (tenant_id, $columns) VALUES"
                          . " ('$globex->{id}', $values) RETURNING $returning");
}

my $group = insert('user_group', 'id, name', "gen_random_uuid(), 'Staff'", 'id');

insert('role', 'key, name, permissions', "'theirs', 'R', '{}'", 'key');
insert('group_member', 'group_id, user_id', "'$group', '$eve->{id}'", 'user_id');
insert('group_password_policy', 'group_id, min_length', "'$group', 9", 'group_id');
insert('ip_block', 'ip, created_by_type', "'192.0.2.66', 'user'", 'ip');

my $app = insert('application', 'client_id, name, type, enabled, assignment,'
                 . ' redirect_uris, scopes, grant_types, auth_method,'
                 . ' access_token_format, access_token_ttl, require_consent,'
                 . ' require_dpop', "'app_' || md5('x'), 'x', 'm2m', true, 'everyone',"
                 . " '{}', '{}', '{client_credentials}', 'client_secret_basic', 'jwt', 60,"
                 . ' false, false', 'client_id');

insert('group_app', 'client_id, group_id', "'$app', '$group'", 'client_id');

my $agent = insert('application', 'client_id, name, type, enabled, assignment,'
                   . ' redirect_uris, scopes, grant_types, auth_method,'
                   . ' access_token_format, access_token_ttl, require_consent,'
                   . ' require_dpop', "'agt_' || md5('x'), 'x', 'agent', true, 'everyone',"
                   . " '{}', '{}', '{client_credentials}', 'client_secret_basic', 'jwt',"
                   . ' 60, false, false', 'client_id');

# what there is of the other tenant, by the last fixed part before an id

my %ID = (
    'api-tokens' => $globex->{api_id}, tokens => $globex->{scim_id},
    connections => 'not-there', email => $eve->{id}, integrations => 'not-there', users => $eve->{id},
    groups => $group,
    members => $eve->{id}, roles => 'theirs', 'ip-blocks' => '192.0.2.66',
    sessions => $theirs->get('/v1/auth/sessions')->json->{sessions}[0]{id},
    versions => insert('access_policy_version', 'number, source, snapshot',
                       q{0, 'api', '{"rules":[],"defaultAction":"mfa"}'}, 'id'),
    webhooks => insert('webhook_endpoint', 'id, url, events, secret',
                       "gen_random_uuid(), 'https://x.test/', '{user.login}',"
                       . q{ '\x00'}, 'id'),
    applications => $app, 'groups/*/apps' => $app, agents => $agent,
    anomalies => insert('agent_anomaly', 'client_id, type, key, severity, details',
                        "'$agent', 'new_ip', 'x', 'low', '{}'", 'id'),
    applications => $app, consents => $app, 'groups/*/apps' => $app,
    apps => insert('saml_app', 'id, name, sp_entity_id, acs_url',
                   "gen_random_uuid(), 'x', 'https://x.test', 'https://x.test'", 'id'),
    'scim-targets' => insert('scim_target', 'client_id, name, base_url, token, lease_by',
                             "'$app', 'x', 'https://x.test', '\\x00', 'somebody'", 'id'),
    domains => insert('domain', 'domain', "'theirs.example'", 'domain'),
    'security-incidents' => insert('incident', 'id, type, subject, severity, title,'
                                   . ' details, count, last_seen_at', 'gen_random_uuid(),'
                                   . " 'account_lockouts', '', 'medium', 'x', '{}', 1,"
                                   . ' now()', 'id'),
    invitations => insert('invitation', 'id, email, email_key, role, group_ids, days,'
                          . ' token_hash, expires_at', "gen_random_uuid(), 'x', 'x',"
                          . " 'member', '{}', 7, sha256('x'), 'infinity'", 'id'),
    factors => insert('factor', 'user_id, id, type, name, confirmed_at',
                      "'$eve->{id}', gen_random_uuid(), 'passkey', 'x', now()", 'id'),
    totp => insert('factor', 'user_id, id, type, name, secret',
                   "'$eve->{id}', gen_random_uuid(), 'totp', 'x', '\\x00'", 'id'),
);

my %BODY = (
    'PUT /admin/users/*' => { title => 'Taken' },
    'PUT /admin/members/*' => { role => 'admin' },
    'PUT /admin/groups/*' => { name => 'Taken' },
    'POST /admin/groups/*/members' => { userIds => [ $eve->{id} ] },
    'PUT /admin/groups/*/members' => { userIds => [ $eve->{id} ] },
    'POST /admin/groups/*/apps' => { clientId => $app },
    'PUT /admin/groups/*/apps' => { clientIds => [ $app ] },
    'PATCH /applications/*' => { name => 'Taken' },
    'POST /applications/*/secret' => {},
    'PUT /admin/agents/*/policy' => { enabled => JSON::PP::false() },
    'POST /admin/agents/*/policy/simulate' => {},
    'PUT /admin/agents/*/identity' => { ownerId => undef },
    'POST /admin/agents/*/review' => {},
    'POST /admin/agents/*/secret' => {},
    'PUT /admin/roles/*' => { name => 'Taken' },
    'PUT /admin/password-policy/groups/*' => { minLength => 20 },
    'PUT /admin/scim-targets/*' => { name => 'Taken' },
    'PATCH /admin/webhooks/*' => { url => 'https://taken.test/' },
    'PATCH /mfa/factors/*' => { name => 'Taken' },
    'POST /mfa/totp/*/confirm' => { code => '123456' },
    'POST /mfa/email/*/confirm' => { code => '123456' },
);

my @TABLES = map { $_->[0] } $s->sql(<<"EOT");
SELECT c.table_name FROM information_schema.columns c
  JOIN information_schema.tables t USING (table_schema, table_name)
 WHERE table_schema = 'svc' AND column_name = 'tenant_id'
   AND table_type = 'BASE TABLE' ORDER BY 1
EOT

cmp_ok(scalar @TABLES, '>', 15, 'tables with a tenant');


sub stored {
    return $s->sql('SELECT ' . join " || ' ' || ", map {
        "(SELECT '$_ ' || coalesce(md5(string_agg(x::text, ' ' ORDER BY"
        . " x::text)), '') FROM svc.$_ x WHERE tenant_id = '$globex->{id}')"
    } @TABLES);
}


# what comes of its own sign-ins is there

ok($s->sweep, 'its sign-ins are counted');

my $before = stored();
my $n = 0;

for my $route (grep { !$_->{public} && $_->{path} =~ /\*/ }
               admin_routes($s->root))
{
    my $name = "$route->{method} $route->{path}";

    die "$name: no body\n" if $route->{json} && !$BODY{$name};

    my $path = "/v1$route->{path}";

    $path =~ s{(/groups/\*/apps/)\*}{$1$ID{'groups/*/apps'}};

    while ($path =~ m{([^/]+)/\*}) {
        my $id = $ID{$1} // die "$name: no id\n";

        $path =~ s/\*/$id/;
    }

    my $r = $b->ask($route->{method}, $path, $BODY{$name});

    # a set of addresses: what is not in it is gone as well

    if ($r->status == 204 && $name eq 'DELETE /admin/ip-blocks/*') {
        pass("$name: nothing to delete");

    } else {
        admin_error($r, 404, undef, $name);
    }

    $n++;
}

cmp_ok($n, '>', 20, 'routes with ids');

# ids in bodies

for my $case (
    [ POST => '/users/unlock', { userId => $eve->{id} }, 404 ],
    [ POST => '/users/unlock', { email => 'eve@globex.test' }, 404 ],
    [ POST => '/password-policy/groups', { groupId => $group, minLength => 20 },
      400 ],
    [ POST => '/invitations', { email => 'x@acme.test', role => 'member',
                                groupIds => [ $group ] }, 400 ],
    [ POST => '/invitations', { email => 'x@acme.test', role => 'theirs' }, 400 ])
{
    my ($method, $path, $body, $status) = @$case;
    my $r = $b->ask($method, "/v1/admin$path", $body);

    ok($r->status == 404 || $r->status == $status, "$path: " . $r->status)
        or diag($r->body);
}

# what all routes without ids show is of the own tenant

for my $route (grep { $_->{method} eq 'GET' && !$_->{public}
                      && $_->{path} !~ /\*|stream/ } admin_routes($s->root))
{
    my $r = $b->get("/v1$route->{path}");

    is($r->status, 200, "GET $route->{path}");
    unlike($r->body, qr/\Q$_\E/, 'nothing of the other tenant')
        for values %ID, 'globex', $globex->{id};
}

is(stored(), $before, 'the other tenant is as before');
is($theirs->get('/v1/auth/session')->status, 200, 'and its session lives');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
