#!/usr/bin/perl

# Shows what a config bundle exports, plans, applies and refuses.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Bundle;

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;

my ($true, $false) = (JSON::PP::true, JSON::PP::false);
my $NONE = '{"changes":[],"hasChanges":false}';
my ($all, @groups) = SvcTest::Bundle::tenant($s, $acme, 4);
my ($theirs, $foreign) = SvcTest::Bundle::tenant($s, $globex, 1);
my %name = map { @$_ } $s->sql('SELECT id, name FROM svc.user_group');
my $fresh = SvcTest::Bundle::canonical(SvcTest::Bundle::fresh());


sub config {
    my ($method, $path, $body, %opt) = @_;

    return $acme->admin($method, "/config$path", $body, $opt{headers} // [],
                        $opt{token} // $all);
}


sub export {
    my $r = config(GET => '');

    is($r->status, 200, 'an export') or diag($r->body);

    return $r->json;
}


sub apply {
    my ($body, $path, %opt) = @_;

    return config(POST => '/apply' . ($path // ''), $body, %opt);
}


sub planned {
    my ($body, $path, %opt) = @_;

    return config(POST => '/plan' . ($path // ''), $body, %opt);
}


# Returns "resource action" of each change.

sub changes {
    my ($r) = @_;

    return [ map { "$_->{resource} $_->{action}" }
             @{ ($r->json // {})->{changes} // [ "no plan: $r->{body}" ] } ];
}


sub role {
    my ($key, @permissions) = @_;

    return { key => $key, name => ucfirst $key, permissions => \@permissions };
}


# --- the export of a new tenant -------------------------------------------------

my $r = config(GET => '');
is($r->body, $fresh, 'the export of a new tenant, byte for byte');
is($r->header('content-type'), 'application/json', 'its type');
is($r->header('etag'), '"1"', 'its entity tag');
is(config(GET => '', undef, headers => [ 'If-None-Match' => '"1"' ])->status,
   304, 'If-None-Match');
is(config(GET => '', undef, headers => [ 'If-None-Match' => '"2"' ])->status,
   200, 'another tag');
is(config(HEAD => '')->header('content-length'), length $fresh, 'HEAD');
is(planned($r->body)->body, $NONE, 'a plan of it');
is(apply($r->body)->body, $NONE, 'it applied');
is(apply($r->body, '?prune=true')->body, $NONE, 'with prune');
is(planned({ version => 1 })->body, $NONE, 'nothing is managed');
is_deeply([ $acme->new_events ], [], 'nothing of that is an event');
is(config(GET => '')->header('etag'), '"1"', 'nor moves the tag');


# --- what is refused -------------------------------------------------------------

my %password = %{ export()->{passwordPolicy} };
my %risk = (enabled => $true, mfaThreshold => 10, denyThreshold => 20);
my %rule = (name => 'r', action => 'mfa');
my ($g, $h) = @groups;
my $stored = $acme->stored . config(GET => '')->body;

sub access {
    return { accessPolicy => { rules => [ @_ ], defaultAction => 'allow' } };
}


sub without {
    my ($hash, $key) = @_;

    my %copy = %$hash;
    delete $copy{$key};

    return \%copy;
}


# Expects plan and apply to refuse a body; the message names the path.

sub refused {
    my ($body, $path, $name, $code) = @_;

    $body = { version => 1, %$body } if ref $body;

    for my $way ('/plan', '/apply', '/plan?detail=true') {
        my $e = admin_error(config(POST => $way, $body), 400,
                            $code // 'invalid_request',
                            "$way: " . ($name // $path));

        like($e->{message}, qr/"\Q$path\E"/, "names $path");
    }
}

refused('{}', 'version', 'no version');
refused({ version => $_ }, 'version', 'version ' . ($_ // 'null'))
    for 0, 2, '1', 1.5, undef, $true, [];
refused({ Version => 1 }, 'Version');
refused({ accesspolicy => {} }, 'accesspolicy', 'a section misspelt');
refused({ 'x' x 300 => 1 }, 'x' x 256, 'a long name');

refused({ $_ => undef }, $_, "$_ null")
    for qw(accessPolicy riskPolicy passwordPolicy groupPasswordPolicies roles);
refused({ $_ => [] }, $_, "$_ an array")
    for qw(accessPolicy riskPolicy passwordPolicy);
refused({ $_ => {} }, $_, "$_ an object") for qw(groupPasswordPolicies roles);

refused({ accessPolicy => {} }, 'accessPolicy.rules');
refused({ accessPolicy => { rules => [] } }, 'accessPolicy.defaultAction');
refused({ accessPolicy => { rules => [], defaultAction => 'block' } },
        'accessPolicy.defaultAction');
refused({ accessPolicy => { rules => [], defaultAction => 'allow', x => 1 } },
        'accessPolicy.x');
refused(access(\%rule, 5), 'accessPolicy.rules[1]');
refused(access(\%rule, { action => 'mfa' }), 'accessPolicy.rules[1].name');
refused(access({ name => 'x' }), 'accessPolicy.rules[0].action');
refused(access({ %rule, action => 'block' }), 'accessPolicy.rules[0].action');
refused(access({ %rule, enabled => 1 }), 'accessPolicy.rules[0].enabled');
refused(access({ %rule, network => [] }), 'accessPolicy.rules[0].network');
refused(access(\%rule, \%rule, { %rule, networks => [ '10.0.0.0/8', '10.0.0/8' ] }),
        'accessPolicy.rules[2].networks[1]');
refused(access({ %rule, countries => [ 'FR', 'FRA' ] }),
        'accessPolicy.rules[0].countries[1]');

my %window = (days => [ 'mon' ], start => '09:00', end => '17:00',
              timezone => 'Europe/Paris');

refused(access({ %rule, timeWindows => [ { %window, @$_ } ] }),
        "accessPolicy.rules[0].timeWindows[0].$_->[0]")
    for [ start => '9:00' ], [ end => '25:00' ], [ timezone => 'Europe/Pariss' ],
        [ days => [] ], [ zone => 'UTC' ];
refused(access({ %rule, timeWindows => [ { %window, days => [ 'mon', 'Monday' ] } ] }),
        'accessPolicy.rules[0].timeWindows[0].days[1]');

for my $field (sort keys %risk) {
    refused({ riskPolicy => without(\%risk, $field) }, "riskPolicy.$field");
    refused({ riskPolicy => { %risk, $field => undef } }, "riskPolicy.$field");
}

refused({ riskPolicy => { %risk, @$_ } }, "riskPolicy.$_->[0]")
    for [ mfaThreshold => -1 ], [ mfaThreshold => 20 ], [ mfaThreshold => 101 ],
        [ mfaThreshold => 10.5 ], [ mfaThreshold => '10' ],
        [ denyThreshold => 0 ], [ denyThreshold => 101 ],
        [ denyThreshold => 10 ], [ enabled => 1 ], [ x => 1 ];

for my $field (sort keys %password) {
    refused({ passwordPolicy => without(\%password, $field) },
            "passwordPolicy.$field");
    refused({ passwordPolicy => { %password, $field => undef } },
            "passwordPolicy.$field");
    refused({ groupPasswordPolicies => [ { groupId => $g, $field => undef } ] },
            "groupPasswordPolicies[0].$field");
}

my %range = (minLength => [ 8, 128 ], historyCount => [ 0, 24 ],
             maxAgeDays => [ 0, 3650 ]);

for my $field (sort keys %range) {
    my ($min, $max) = @{ $range{$field} };

    for my $n ($min - 1, $max + 1) {
        refused({ passwordPolicy => { %password, $field => $n } },
                "passwordPolicy.$field", "$field $n");
        refused({ groupPasswordPolicies => [ { groupId => $g, $field => $n } ] },
                "groupPasswordPolicies[0].$field", "$field $n of a group");
    }

    is_deeply(changes(planned({ version => 1,
                             passwordPolicy => { %password, $field => $_ } })),
              [ ('passwordPolicy update') x ($_ != $password{$field}) ],
              "$field $_") for $min, $max;
    is_deeply(changes(planned({ version => 1, groupPasswordPolicies =>
                             [ { groupId => $g, $field => $_ } ] })),
              [ "groupPasswordPolicy:$g create" ], "$field $_ of a group")
        for $min, $max;
}

refused({ passwordPolicy => { %password, minlength => 8 } },
        'passwordPolicy.minlength');
refused({ groupPasswordPolicies => [ { minLength => 8 } ] },
        'groupPasswordPolicies[0].groupId');
refused({ groupPasswordPolicies => [ { groupId => $g } ] },
        'groupPasswordPolicies[0]', 'an override of nothing');
refused({ groupPasswordPolicies => [ { groupId => $_, minLength => 8 } ] },
        'groupPasswordPolicies[0].groupId', 'group ' . ($_ // 'null'))
    for 'x', uc $g =~ s/\d/A/r, undef, 5, $foreign, substr($g, 1), "{$g}",
        '00000000-0000-4000-8000-000000000000';
refused({ groupPasswordPolicies => [ map { { groupId => $_, minLength => 8 } }
                                     $h, $foreign, $g,
                                     '00000000-0000-4000-8000-000000000000' ] },
        'groupPasswordPolicies[1].groupId', 'the first unknown one is named');
refused({ groupPasswordPolicies => [ map { { groupId => $_, minLength => 8 } }
                                     $h, $g, $groups[2], $g, $h ] },
        'groupPasswordPolicies[3].groupId', 'a group twice');
like(planned({ version => 1, groupPasswordPolicies => [
            map { { groupId => $_, minLength => 8 } } $h, $g, $g ] })
     ->json->{error}{message}, qr/"groupPasswordPolicies\[1\]\.groupId"/,
     'and its first place');
refused({ groupPasswordPolicies => [ { groupId => $g, minLength => 8, min => 1 } ] },
        'groupPasswordPolicies[0].min');
refused({ groupPasswordPolicies => [ undef ] }, 'groupPasswordPolicies[0]');

for my $field (qw(key name permissions)) {
    refused({ roles => [ role('ok'), without(role('x1'), $field) ] },
            "roles[1].$field");
    refused({ roles => [ { %{ role('x1') }, $field => undef } ] },
            "roles[0].$field", "$field null");
}

refused({ roles => [ { %{ role('ok') }, key => $_ } ] }, 'roles[0].key',
        "key \"$_\"")
    for '', 'a', 'A1', '1a', '-a', 'a b', 'a' x 64, 'é1', "a\n", 'owner',
        'admin', 'member', 'ab:';
refused({ roles => [ { %{ role('ok') }, name => $_ } ] }, 'roles[0].name')
    for '', '  ', 'x' x 101, "a\nb";
refused({ roles => [ { %{ role('ok') }, description => '' } ] },
        'roles[0].description');
refused({ roles => [ role('ok', 'users:view', $_) ] }, 'roles[0].permissions[1]',
        "permission \"$_\"")
    for 'users:manage', 'USERS:VIEW', '', ' users:view';
refused({ roles => [ role('ok', 'users:view', 5) ] }, 'roles[0].permissions[1]');
refused({ roles => [ { %{ role('ok') }, permissions => 'users:view' } ] },
        'roles[0].permissions');
refused({ roles => [ role('b1'), role('c1'), role('a1'), role('c1') ] },
        'roles[3].key', 'a key twice');
like(planned({ version => 1, roles => [ role('b1'), role('c1'), role('a1'),
                                     role('c1') ] })->json->{error}{message},
     qr/"roles\[1\]\.key"/, 'and its first place');
refused({ roles => [ map { role("r$_") } 1 .. 1001 ] }, 'roles',
        'more roles than there may be', 'limit_exceeded');
refused({ roles => [ 5 ] }, 'roles[0]');

admin_error(config(POST => "$_->[0]?$_->[1]=$_->[2]", { version => 1 }), 400,
            undef, "$_->[0] $_->[1]=$_->[2]")
    for map { my $way = $_; map { my $flag = $_; map { [ $way, $flag, $_ ] }
                                  'yes', '', 'TRUE', '2', 'true%20' }
              qw(prune detail) } '/plan', '/apply';
is(config(POST => "/$_->[0]?$_->[1]", { version => 1 })->status, 200,
   "$_->[0] $_->[1]")
    for map { my $way = $_; map { [ $way, $_ ] }
              'prune=true', 'prune=false', 'prune=0', 'prune=1', 'detail=0',
              'detail=false', 'other=yes' } 'plan', 'apply';

admin_error(config(POST => $_, '{"version":1,"version":1}'), 400, undef,
            "$_: a member twice") for '/plan', '/apply';
admin_error(config(POST => $_, '{"version":1,"roles":[],"x":"'
                               . 'x' x 1048576 . '"}'), 413, undef,
            "$_: over 1 MiB") for '/plan', '/apply';
admin_error(config(POST => $_, '{"version":1,"roles":' . '[' x 100 . ']' x 100
                               . '}'), 400, undef, "$_: too deep")
    for '/plan', '/apply';

my $viewer = $acme->token(kind => 'api', permissions => 'audit:view,roles:manage');

admin_error($acme->admin(@$_, [], $viewer->{token}), 403, undef,
            "without tenant:manage: $_->[1]")
    for [ GET => '/config', undef ], [ POST => '/config/plan', {} ],
        [ POST => '/config/apply', {} ];
admin_error(config(@$_), 405, undef, "$_->[0] $_->[1]")
    for [ POST => '', {} ], [ PUT => '', {} ], [ GET => '/plan' ],
        [ GET => '/apply' ], [ DELETE => '/apply' ];

is($acme->stored . config(GET => '')->body, $stored,
   'nothing of all that has changed anything');


# --- apply ---------------------------------------------------------------------

my $bundle = {
    version => 1,
    accessPolicy => {
        rules => [ { name => ' Büro "7" ', action => 'mfa',
                     networks => [ '203.0.113.9/24', '2001:DB8::/32' ],
                     countries => [ 'fr', 'DE' ] },
                   { name => 'night', action => 'deny', enabled => $false,
                     timeWindows => [ \%window ] } ],
        defaultAction => 'allow' },
    riskPolicy => \%risk,
    passwordPolicy => { %password, minLength => 14, requireDigit => $true },
    groupPasswordPolicies => [ { groupId => $h, maxAgeDays => 90, minLength => 16 },
                               { groupId => $g, requireLower => $false } ],
    roles => [ role('zeta', 'users:view', 'apps:manage', 'users:view'),
               role('alpha'), role('null', 'audit:view') ],
};

my @expected = ('accessPolicy update', 'riskPolicy update',
                'passwordPolicy update', "groupPasswordPolicy:$g create",
                "groupPasswordPolicy:$h create", 'role:alpha create',
                'role:null create', 'role:zeta create');

$r = planned($bundle);
is_deeply(changes($r), \@expected, 'a plan, in its order');
is($r->header('etag'), undef, 'has no entity tag');
is_deeply([ sort keys %{ $r->json } ], [ 'changes', 'hasChanges' ],
          'has no other members');
is_deeply([ sort keys %{ $r->json->{changes}[0] } ], [ 'action', 'resource' ],
          'nor has a change');
is(config(GET => '')->body, $fresh, 'a plan changes nothing');

my $planned = $r->body;
$r = apply($bundle);
is($r->status, 200, 'it is applied');
is($r->body, $planned, 'as it was planned, byte for byte');

is(config(GET => '')->body,
   "{\"version\":1,\"accessPolicy\":{\"rules\":[{\"name\":"
   . "\"B\xc3\xbcro \\\"7\\\"\","
   . '"enabled":true,"action":"mfa","networks":["203.0.113.9/24",'
   . '"2001:DB8::/32"],"countries":["FR","DE"],"timeWindows":[]},'
   . '{"name":"night","enabled":false,"action":"deny","networks":[],'
   . '"countries":[],"timeWindows":[{"days":["mon"],"start":"09:00",'
   . '"end":"17:00","timezone":"Europe/Paris"}]}],"defaultAction":"allow"},'
   . '"riskPolicy":{"enabled":true,"mfaThreshold":10,"denyThreshold":20},'
   . '"passwordPolicy":{"minLength":14,"rejectBreached":true,'
   . '"rejectContextual":true,"requireLower":false,"requireUpper":false,'
   . '"requireDigit":true,"requireSymbol":false,"historyCount":5,'
   . '"maxAgeDays":0},"groupPasswordPolicies":['
   . "{\"groupId\":\"$g\",\"requireLower\":false},"
   . "{\"groupId\":\"$h\",\"minLength\":16,\"maxAgeDays\":90}],"
   . '"roles":[{"key":"alpha","name":"Alpha","permissions":[]},'
   . '{"key":"null","name":"Null","permissions":["audit:view"]},'
   . '{"key":"zeta","name":"Zeta","permissions":["apps:manage",'
   . '"users:view"]}]}', 'the canonical form');
is(config(GET => '')->header('etag'), '"2"', 'the tag has moved by one');

my $version = $s->sql('SELECT access_version_id FROM svc.governance'
                      . " WHERE tenant_id = '$acme->{id}'");

is_deeply([ $acme->new_events ],
    [ [ 'access_policy.updated', 'accessPolicy', $version, undef,
        { changed => [ 'rules' ], version => 1, source => 'config' } ],
      [ 'risk_policy.updated', 'riskPolicy', undef, undef,
        { changed => [ 'enabled', 'mfaThreshold', 'denyThreshold' ] } ],
      [ 'password_policy.updated', 'passwordPolicy', undef, undef,
        { changed => [ 'minLength', 'requireDigit' ] } ],
      [ 'group_password_policy.created', 'groupPasswordPolicy', $g, $name{$g}, {} ],
      [ 'group_password_policy.created', 'groupPasswordPolicy', $h, $name{$h}, {} ],
      [ 'role.created', 'role', 'alpha', 'Alpha', { permissions => [] } ],
      [ 'role.created', 'role', 'null', 'Null',
        { permissions => [ 'audit:view' ] } ],
      [ 'role.created', 'role', 'zeta', 'Zeta',
        { permissions => [ 'apps:manage', 'users:view' ] } ],
      [ 'config.applied', 'config', undef, undef,
        { created => 5, updated => 3, deleted => 0, prune => $false,
          revision => 2 } ] ],
    'an event for each change, in the order of the plan, and one for all');

is(apply($bundle)->body, $NONE, 'again there is nothing to do');
is_deeply([ $acme->new_events ], [], 'and nothing to tell');

is_deeply([ map { [ @$_ ] } $s->sql(
    "SELECT number, source, restored_from, created_by_type, created_by_name,"
    . " snapshot::text = g.access_policy::text, v.id = g.access_version_id"
    . ' FROM svc.access_policy_version v JOIN svc.governance g'
    . " USING (tenant_id) WHERE tenant_id = '$acme->{id}'") ],
    [ [ 1, 'config', undef, 'apiToken', 'all', 't', 't' ] ],
    'a version of the access policy');

# A bundle that means the same has no changes.

is(planned(SvcTest::encode({ version => 1, accessPolicy => {
        defaultAction => 'allow',
        rules => [ { name => 'Büro "7"', enabled => $true, action => 'mfa',
                     countries => [ 'DE', 'FR', 'de' ], timeWindows => [],
                     networks => [ '2001:db8:0::7/32', '203.0.113.0/24' ] },
                   { %{ $bundle->{accessPolicy}{rules}[1] },
                     networks => [] } ] },
    roles => [ reverse @{ $bundle->{roles} } ] }))->body, $NONE,
   'another spelling is no change');

my @rules = @{ $bundle->{accessPolicy}{rules} };

$r = planned({ %$bundle, accessPolicy => { rules => [ reverse @rules ],
                                        defaultAction => 'allow' } });
is_deeply(changes($r), [ 'accessPolicy update' ], 'another order of rules is');


# --- details -------------------------------------------------------------------

$r = planned({ version => 1,
            accessPolicy => { rules => [ { %{ $rules[0] }, action => 'allow',
                                           countries => [ 'FR' ] } ],
                              defaultAction => 'mfa' },
            riskPolicy => { %risk, mfaThreshold => 11 },
            groupPasswordPolicies => [ { groupId => $h, minLength => 16,
                                         historyCount => 3 },
                                       { groupId => $groups[2], minLength => 8 } ],
            roles => [ role('null'), role('new'),
                       { %{ role('zeta', 'users:view') }, name => 'Z' } ] },
          '?detail=true');

my $json = $r->json;
is_deeply([ sort keys %$json ], [ 'changes', 'etag', 'hasChanges', 'warnings' ],
          'the members of a plan with details');
is($json->{etag}, '"2"', 'the tag, as If-Match takes it');

my %change = map { $_->{resource} => $_ } @{ $json->{changes} };
my $live = export();

is_deeply($change{accessPolicy}{paths},
          [ 'rules[0].action', 'rules[0].countries', 'rules[1]',
            'defaultAction' ], 'paths of the access policy');
is_deeply($change{accessPolicy}{before}, $live->{accessPolicy}, 'as it was');
is($change{accessPolicy}{after}{rules}[0]{action}, 'allow', 'as it is to be');
is_deeply($change{riskPolicy}{paths}, [ 'mfaThreshold' ], 'of the risk policy');
is_deeply($change{riskPolicy}{after}, { %risk, mfaThreshold => 11 }, 'after');
is_deeply($change{"groupPasswordPolicy:$h"},
          { resource => "groupPasswordPolicy:$h", action => 'update',
            before => { groupId => $h, minLength => 16, maxAgeDays => 90 },
            after => { groupId => $h, minLength => 16, historyCount => 3 },
            paths => [ 'historyCount', 'maxAgeDays' ] }, 'of an override');
is_deeply($change{"groupPasswordPolicy:$g"},
          { resource => "groupPasswordPolicy:$g", action => 'delete',
            before => { groupId => $g, requireLower => $false },
            after => undef, paths => [] }, 'a delete');
is_deeply($change{"groupPasswordPolicy:$groups[2]"},
          { resource => "groupPasswordPolicy:$groups[2]", action => 'create',
            before => undef, after => { groupId => $groups[2], minLength => 8 },
            paths => [] }, 'a create');
is_deeply($change{'role:zeta'}{paths}, [ 'name', 'permissions' ], 'of a role');
is_deeply($change{'role:null'}{paths}, [ 'permissions' ], 'its permissions');
is_deeply([ map { $_->{code} } @{ $json->{warnings} } ],
          [ 'looser_group_password_policy', 'deletes_skipped' ],
          'warnings: groups may do less, deletes would be skipped');
is($json->{warnings}[0]{message},
   "2 of the groups' password policies ask less than the tenant's in a member,"
   . ' and count: the first is of the group '
   . (sort $h, $groups[2])[0] . '.', 'how many, and one of them');

sub looser {
    my (%sections) = @_;

    return scalar grep { $_->{code} eq 'looser_group_password_policy' }
           @{ planned({ version => 1, %sections }, '?detail=1')->json->{warnings} };
}

for my $case ([ 0, { minLength => 14 } ], [ 1, { minLength => 13 } ],
              [ 0, { historyCount => 5 } ], [ 1, { historyCount => 0 } ],
              [ 0, { maxAgeDays => 0 } ], [ 0, { maxAgeDays => 30 } ],
              [ 1, { requireDigit => $false } ],
              [ 0, { requireLower => $false } ], [ 0, { requireLower => $true } ])
{
    is(looser(groupPasswordPolicies => [ { groupId => $h, %{ $case->[1] } } ]),
       $case->[0], 'looser: ' . SvcTest::encode($case->[1]));
}

for my $case ([ 1, 30, 31 ], [ 0, 30, 30 ], [ 0, 30, 29 ], [ 1, 30, 0 ]) {
    my ($is, $days, $group) = @$case;

    is(looser(passwordPolicy => { %password, maxAgeDays => $days },
              groupPasswordPolicies => [ { groupId => $h, maxAgeDays => $group } ]),
       $is, "of $days days and $group");
}

is(looser(passwordPolicy => { %password, minLength => 17 }), 1,
   'the groups that there are, when the tenant asks for more');
is(looser(riskPolicy => { %risk, mfaThreshold => 11 }), 0,
   'what has nothing to do with it says nothing of it');
is_deeply(planned($bundle, '?detail=1')->json,
          { changes => [], hasChanges => $false, warnings => [],
            etag => '"2"' }, 'details of nothing');


# --- prune ---------------------------------------------------------------------

my $less = { version => 1, groupPasswordPolicies => [],
             roles => [ role('alpha'), role('beta') ] };
my @deletes = ("groupPasswordPolicy:$g delete", "groupPasswordPolicy:$h delete",
               'role:beta create', 'role:null delete', 'role:zeta delete');

$acme->new_events;
$r = apply($less);
is_deeply(changes($r), \@deletes, 'deletes are listed without prune');
is_deeply([ map { $_->{key} } @{ export()->{roles} } ],
          [ qw(alpha beta null zeta) ], 'and not done');
is_deeply([ map { $_->[0] } $acme->new_events ],
          [ 'role.created', 'config.applied' ],
          'nor told');

$r = apply($less, '?detail=true');
is_deeply(changes($r), [ grep { !/beta/ } @deletes ], 'nothing but deletes');
is($r->json->{etag}, '"3"', 'which move nothing');
is($r->json->{hasChanges}, $true, 'are changes nevertheless');
is_deeply([ $acme->new_events ], [], 'and no event');

$r = apply($less, '?prune=false');
is($r->status, 200, 'prune=false');
is(scalar @{ export()->{roles} }, 4, 'keeps');

is_deeply(changes(apply({ version => 1, riskPolicy => \%risk }, '?prune=true')),
          [], 'an absent section is not pruned');

$r = apply($less, '?prune=1&detail=1');
is_deeply(changes($r), [ grep { !/beta/ } @deletes ], 'prune=1');
is_deeply($r->json->{warnings}, [], 'no warning');
is($r->json->{etag}, '"4"', 'the tag that it makes');
is(config(GET => '')->header('etag'), '"4"', 'is the tag from then on');
is_deeply(export()->{roles}, [ role('alpha'), role('beta') ], 'the roles left');
is_deeply(export()->{groupPasswordPolicies}, [], 'no override is');
is_deeply([ $acme->new_events ],
    [ [ 'group_password_policy.deleted', 'groupPasswordPolicy', $g, $name{$g}, {} ],
      [ 'group_password_policy.deleted', 'groupPasswordPolicy', $h, $name{$h}, {} ],
      [ 'role.deleted', 'role', 'null', 'Null', {} ],
      [ 'role.deleted', 'role', 'zeta', 'Zeta', {} ],
      [ 'config.applied', 'config', undef, undef,
        { created => 0, updated => 0, deleted => 4, prune => $true,
          revision => 4 } ] ], 'their events');


# --- a role in use ----------------------------------------------------------------

my ($ada) = $acme->add_users(1);
$s->sql("UPDATE svc.user_account SET role = 'beta' WHERE id = '$ada'");

my $prune = { version => 1, riskPolicy => { %risk, mfaThreshold => 19 },
              roles => [ role('new') ] };
my $before = config(GET => '')->body;
my $e = admin_error(apply($prune, '?prune=true'), 409, 'role_in_use',
                    'a role that a user has');
like($e->{message}, qr/"beta"/, 'is named');
is(config(GET => '')->body, $before, 'nothing of it is done');
is_deeply([ map { $_->{code} } @{ planned($prune, '?detail=true&prune=true')
                                  ->json->{warnings} } ],
          [ 'role_in_use' ], 'a plan warns of it');
is(apply($prune)->status, 200, 'without prune it stays');
is(apply({ version => 1, roles => [ role('beta', 'users:view'), role('new') ] },
         '?prune=true')->status, 200, 'others go, and it may change');
$s->sql("UPDATE svc.user_account SET role = 'member' WHERE id = '$ada'");
is(apply({ version => 1, roles => [ role('new') ] }, '?prune=true')->status, 200,
   'when nobody has it any more it goes');


# --- permissions that the caller lacks ----------------------------------------------

my $weak = $acme->token(kind => 'api',
                        permissions => 'tenant:manage,users:view')->{token};
my $strong = { version => 1, roles => [ role('new'), role('strong', 'audit:view',
                                                          'users:view') ] };

$before = config(GET => '')->body;
$e = admin_error(apply($strong, '', token => $weak), 403, undef,
                 'a role that grants more than the caller has');
like($e->{message}, qr/"strong".*"audit:view"/, 'role and permission are named');
is(config(GET => '')->body, $before, 'nothing of it is done');
is_deeply([ map { $_->{code} } @{ planned($strong, '?detail=1', token => $weak)
                                  ->json->{warnings} } ],
          [ 'forbidden' ], 'a plan warns of it');
is(planned($strong, '', token => $weak)->status, 200, 'and is made');
is(apply($strong)->status, 200, 'who has it may');
admin_error(apply($strong, '', token => $weak), 403, undef,
            'also when nothing would change');
is(apply({ version => 1, roles => [ role('new', 'users:view') ] }, '',
         token => $weak)->status, 200, 'what the bundle does not have does not count');
is(apply({ version => 1, roles => [ role('new', 'users:view') ] }, '?prune=1',
         token => $weak)->status, 200, 'nor does what goes');


# --- lockout -------------------------------------------------------------------

my $deny = { version => 1, riskPolicy => { %risk, mfaThreshold => 3 },
             accessPolicy => { defaultAction => 'deny', rules => [] } };

$before = config(GET => '')->body;
admin_error(apply($deny), 400, 'anti_lockout', 'an access policy that denies all');
$deny->{accessPolicy} = { defaultAction => 'allow', rules => [
    { name => 'Home', action => 'deny', networks => [ '127.0.0.0/8' ] } ] };
$e = admin_error(apply($deny), 400, 'anti_lockout', 'one that denies the caller');
like($e->{message}, qr/Home.*127\.0\.0\.1|127\.0\.0\.1.*Home/s,
     'rule and address are named');
is(config(GET => '')->body, $before, 'nothing of it is done');
is_deeply([ map { $_->{code} } @{ planned($deny, '?detail=1')->json->{warnings} } ],
          [ 'anti_lockout' ], 'a plan warns of it');
$deny->{accessPolicy}{rules} = [
    { name => 'Home', action => 'deny', networks => [ '127.0.0.0/8' ],
      timeWindows => [ { %window, days => [ (qw(sun mon tue wed thu fri sat))
                                            [ (gmtime(time + 2 * 86400))[6] ] ],
                         start => '03:00', end => '12:00' } ] } ];
is_deeply([ map { $_->{code} } @{ planned($deny, '?detail=1')->json->{warnings} } ],
          [ 'admission_time_limited' ], 'a plan warns of hours');

# A policy that denies the caller, stored by other means, does not matter while the
# bundle does not change it.

$s->sql("UPDATE svc.governance SET access_number = access_number + 1,"
        . " access_policy = '{\"rules\":[],\"defaultAction\":\"deny\"}'"
        . " WHERE tenant_id = '$acme->{id}'");
is(apply({ version => 1, riskPolicy => { %risk, mfaThreshold => 4 },
           accessPolicy => { rules => [], defaultAction => 'deny' } })->status,
   200, 'an access policy that does not change is not looked at');
is(apply({ version => 1, accessPolicy => { rules => [],
                                           defaultAction => 'allow' } })->status,
   200, 'and it can be mended');

# The stored policy cannot be read any more.

$s->sql("UPDATE svc.governance SET access_number = access_number + 1,"
        . " access_policy = '{\"rules\":[{\"name\":\"x\",\"action\":\"mfa\","
        . "\"timeWindows\":[{\"days\":[\"mon\"],\"start\":\"01:00\",\"end\":"
        . "\"02:00\",\"timezone\":\"Gone/Away\"}]}],\"defaultAction\":\"allow\"}'"
        . " WHERE tenant_id = '$acme->{id}'");
is(config(GET => '')->status, 200, 'what is no policy any more is exported');
is_deeply(changes(planned({ version => 1, accessPolicy =>
                         { rules => [], defaultAction => 'allow' } },
                       '?detail=true')),
          [ 'accessPolicy update' ], 'is planned');
is_deeply(changes(apply({ version => 1, accessPolicy =>
                          { rules => [], defaultAction => 'allow' } })),
          [ 'accessPolicy update' ], 'and is replaced');


# Members that only an answer has are not allowed in a bundle.

like(admin_error(apply({ version => 1, accessPolicy => {
    rules => [], defaultAction => 'allow', $_ => 'x' } }), 400, 'invalid_request', $_)->{message},
     qr/^"accessPolicy\.$_" is not a known member/, 'which is named') for qw(versionId updatedAt);


# --- If-Match ------------------------------------------------------------------

my $tag = config(GET => '')->header('etag');
my ($revision) = $tag =~ /(\d+)/;
my $next = { version => 1, riskPolicy => { %risk, mfaThreshold => 5 } };

$before = config(GET => '')->body;
admin_error(apply($next, '', headers => [ 'If-Match' => $_ ]), 412, undef,
            "If-Match: $_")
    for '"1"', "w/$tag", 'W/"1"', '"x"', $revision, '""', "\"0$revision\"", '"99999999999"';
admin_error(apply({ version => 1 }, '', headers => [ 'If-Match' => '"1"' ]), 412,
            undef, 'also when there is nothing to do');
is(config(GET => '')->body, $before, 'nothing is done');
is(apply({ version => 1 }, '', headers => [ 'If-Match' => '*' ])->status, 200,
   'any tag');
is(apply({ version => 1 }, '', headers => [ 'If-Match' => "W/$tag" ])->status, 200,
   'one that was compressed on its way');
is(apply($next, '', headers => [ 'If-Match' => "\"1\", $tag" ])->status, 200,
   'one of several');
admin_error(apply($next, '', headers => [ 'If-Match' => $tag ]), 412, undef,
            'is not the tag any more');
is(planned($next, '', headers => [ 'If-Match' => '"1"' ])->status, 200,
   'a plan does not heed it');

# A deleted group's override is deleted with it.

apply({ version => 1, groupPasswordPolicies => [ { groupId => $h,
                                                   minLength => 20 } ] });
$tag = config(GET => '')->header('etag');
$acme->new_events;
is($acme->admin(DELETE => "/groups/$h", undef, [], $all)->status, 204,
   'a group is deleted');
isnt(config(GET => '')->header('etag'), $tag, 'which moves the tag');
is_deeply(export()->{groupPasswordPolicies}, [], 'since its override went');
is_deeply([ map { $_->[0] } $acme->new_events ],
          [ 'group_password_policy.deleted', 'group.deleted' ], 'with an event');
$tag = config(GET => '')->header('etag');
is($acme->admin(DELETE => "/groups/$groups[3]", undef, [], $all)->status, 204,
   'one without');
is(config(GET => '')->header('etag'), $tag, 'moves nothing');


# --- the greatest number of everything -----------------------------------------------

apply({ version => 1, roles => [] }, '?prune=true');

my @many = map { role(sprintf('role%04d', $_), 'users:view') } 1 .. 1000;
$r = apply({ version => 1, roles => \@many });
is($r->status, 200, 'a thousand roles');
is(scalar @{ $r->json->{changes} }, 1000, 'each of them is a change');
is(apply(config(GET => '')->body, '?prune=1')->body, $NONE, 'exported, applied');
admin_error(apply({ version => 1, roles => [ role('one-more') ] }), 400,
            'limit_exceeded', 'one more');
is_deeply([ map { $_->{code} } @{ planned({ version => 1,
                                         roles => [ role('one-more') ] },
                                       '?detail=1')->json->{warnings} } ],
          [ 'limit_exceeded', 'deletes_skipped' ], 'a plan warns of it');
is(apply({ version => 1, roles => [ @many[1 .. 999], role('one-more') ] },
         '?prune=true')->status, 200, 'another one in its place');
is(scalar @{ export()->{roles} }, 1000, 'is as many');

my @crowd = map { $_->[0] } $s->sql(<<"EOT");
INSERT INTO svc.user_group (tenant_id, id, name)
SELECT '$acme->{id}', gen_random_uuid(), 'crowd ' || i
FROM generate_series(1, 10000) i RETURNING id
EOT

my $body = SvcTest::encode({ version => 1, roles => \@many,
    groupPasswordPolicies => [ map { { groupId => $_, minLength => 12 } }
                               @crowd ] });
cmp_ok(length $body, '<', 1048576, 'ten thousand overrides fit');
$r = apply($body, '?prune=true');
is($r->status, 200, 'and are applied') or diag($r->body);
is(scalar @{ $r->json->{changes} }, 10002, 'all of them');
$r = config(GET => '');
is(apply($r->body, '?prune=true')->body, $NONE, 'exported, applied');
is_deeply([ map { $_->{groupId} } @{ $r->json->{groupPasswordPolicies} } ],
          [ sort @crowd ], 'in their order');
is(apply({ version => 1, groupPasswordPolicies => [] }, '?prune=true')->status,
   200, 'and go again');

# Old versions are trimmed.

for my $n (1 .. 52) {
    apply({ version => 1, accessPolicy => {
        rules => [ { name => "v$n", action => 'allow' } ],
        defaultAction => 'allow' } });
}

my ($versions, $oldest, $newest) = @{ ($s->sql(
    'SELECT count(*), min(number), max(number) FROM svc.access_policy_version'
    . " WHERE tenant_id = '$acme->{id}'"))[0] };
is($versions, 50, 'fifty versions of the access policy are kept');
is($newest - $oldest, 49, 'the newest ones');


# The clock of the server may have been set back.

$s->sql("UPDATE svc.governance SET access_updated_at = now() + interval '1 hour'"
        . " WHERE tenant_id = '$acme->{id}'");

my $later = $s->sql('SELECT access_updated_at FROM svc.governance'
                    . " WHERE tenant_id = '$acme->{id}'");

apply({ version => 1, accessPolicy => { rules => [], defaultAction => $_ } })
    for 'mfa', 'allow';
is_deeply([ map { [ @$_ ] } $s->sql(
    "SELECT created_at - '$later', g.access_updated_at - '$later'"
    . ' FROM svc.access_policy_version v JOIN svc.governance g USING (tenant_id)'
    . " WHERE tenant_id = '$acme->{id}' AND created_at > '$later'"
    . ' ORDER BY number') ],
    [ [ '00:00:00.001', '00:00:00.002' ], [ '00:00:00.002', '00:00:00.002' ] ],
    'times of versions ascend nevertheless');


# --- another tenant --------------------------------------------------------------

is($globex->admin(GET => '/config', undef, [], $theirs)->body, $fresh,
   'another tenant has nothing of all that');

$s->unharmed(\@workers, 'bundles');
$s->done(allow => [ qr/Gone\/Away|access policy/ ]);
done_testing();
