#!/usr/bin/perl

# Two people at a time: each object of the administration that can be changed has an ETag,
# and a change with If-Match is made only of what was read.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Connection qw(verified);
use SvcTest::Governance qw($ALL);
use SvcTest::Scim qw(patch_op);

my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $AT_ONCE = 8;
my $SECRET = 'a-secret-of-this-test';

my $s = SvcTest->new(svc => { svc_sign_in => 'on', svc_webhooks => 'on',
                              svc_scim_targets => 'on' })->start;

# a target has an owner, so no helper takes it

$s->sql("ALTER TABLE svc.scim_target ALTER lease_by SET DEFAULT 'somebody'");

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my $api = $acme->token_for($ALL);
my $theirs = $globex->token_for($ALL);
my $none = $acme->token_for('audit:view');

$s->secret($SECRET, $PASSWORD);
$acme->add_applications(web => 'app_1');
verified($s, $acme, 'acme.test');


sub ask {
    my ($method, $path, $body, %more) = @_;

    my $tag = $more{tag};

    return $acme->admin($method, $path, $body, [
        defined $tag ? ('If-Match' => $tag) : (), @{ $more{headers} // [] },
    ], $more{token} // $api);
}

sub tag { return ask(GET => $_[0])->header('etag') }


# Makes one, and returns its path; the answer has its ETag.

sub made {
    my ($path, $id, $body) = @_;

    my $r = ask(POST => $path, $body);

    is($r->status, 201, "POST $path") or diag($r->body);

    my $one = "$path/" . $r->json->{$id};

    is($r->header('etag'), tag($one), '... has the ETag of what it has made');

    return $one;
}


my $user = $acme->create(userName => 'ada@acme.test')->{id};
my $group = made('/groups', id => { name => 'Staff' });
my ($group_id) = $group =~ m{([^/]+)\z};
my %LDAP = (url => 'ldaps://ldap.acme.test', baseDn => 'dc=acme',
            userFilter => '(mail={email})', domains => [ 'acme.test' ]);

made('/roles', key => { key => $_, name => $_, permissions => [] }) for qw(clerk guard);

# What is read, what changes it, and two bodies of that; "none" is one of which there is
# nothing yet, and "kept" what has an answer that is never 304.

my @SURFACES = (
    { name => 'SAML', none => 1, kept => 1, path => '/saml', method => 'PUT',
      bodies => [ map { { label => $_ } } qw(One Two) ] },
    { name => 'a directory', none => 1, path => '/ldap', method => 'PUT',
      bodies => [ map { { %LDAP, label => $_ } } qw(One Two) ] },
    { name => 'a provider', kept => 1, method => 'PATCH',
      path => made('/social/connections', provider => { provider => 'google', clientId => 'a',
                                                        clientSecret => $SECRET }),
      bodies => [ map { { label => $_ } } qw(One Two) ] },
    { name => 'a group', kept => 1, path => $group, method => 'PUT',
      bodies => [ map { { description => $_ } } qw(One Two) ] },
    { name => 'a user', kept => 1, path => "/users/$user", method => 'PUT',
      bodies => [ map { { title => $_ } } qw(One Two) ] },
    { name => 'an address', kept => 1, path => "/users/$user", method => 'PUT',
      bodies => [ map { { email => "$_\@acme.test" } } qw(one two) ] },
    { name => 'a member', kept => 1, path => "/members/$user", method => 'PUT',
      bodies => [ map { { role => $_ } } qw(clerk guard) ] },
    { name => 'a role', kept => 1, path => '/roles/guard', method => 'PUT',
      bodies => [ map { { name => $_ } } qw(One Two) ] },
    { name => 'a webhook', method => 'PATCH',
      path => made('/webhooks', id => { url => 'https://hooks.acme.test/',
                                        events => [ 'user.created' ] }),
      bodies => [ map { { url => "https://hooks.acme.test/$_" } } 1, 2 ] },
    { name => 'a target', kept => 1, method => 'PUT',
      path => made('/scim-targets', id => { clientId => 'app_1', name => 'Wiki',
                                            token => $SECRET,
                                            baseUrl => 'https://wiki.acme.test/scim/v2' }),
      bodies => [ map { { name => $_ } } qw(One Two) ] },
    { name => 'an override', kept => 1, method => 'PUT',
      path => made('/password-policy/groups', groupId => { groupId => $group_id,
                                                           minLength => 16 }),
      bodies => [ map { { minLength => $_ } } 17, 18 ] },
);


# --- two at a time -----------------------------------------------------------------------

for my $surface (@SURFACES) {
    my ($name, $path, $method, $bodies) = @$surface{qw(name path method bodies)};
    my ($one, $two) = @$bodies;
    my $send = sub { ask($method => $path, @_) };

    my $first = tag($path);

    like($first, $surface->{none} ? qr/\A"0"\z/ : qr/\A"[1-9][0-9]{12,}"\z/,
         "$name has a strong ETag");

    is(ask(GET => $path, undef, tag => '"1"')->status, 200, '... of which GET heeds nothing');
    is(ask(GET => $path, undef, headers => [ 'If-None-Match' => $first ])->status,
       $surface->{kept} ? 200 : 304, '... or tells what the server keeps, besides');

    my $r = $send->($one, tag => $first);

    is($r->status, 200, '... what was read is changed') or diag($r->body);

    my $now = $r->header('etag');

    isnt($now, $first, '... and has another one');
    is(tag($path), $now, '... which the answer tells');

    my $stored = $acme->stored;

    for my $stale ($first, "W/$first", '"1"', '"x"', 'x', '""', '"' . '9' x 40 . '"') {
        admin_error($send->($two, tag => $stale), 412, 'precondition_failed',
                    "... of $stale it is refused");
    }

    is($acme->stored, $stored, '... and nothing is stored');
    is(tag($path), $now, '... nor another version');
    $r = $send->($one, tag => $now);
    is_deeply([ $r->status, $r->header('etag') ], [ 200, $now ], 'no change is no version');

    my %good = ('one of two' => sub { qq("1", $_[0]) }, 'a weak one' => sub { "W/$_[0]" },
                'any' => sub { '*' }, 'none' => sub { undef });

    for my $which (sort keys %good) {
        $r = $send->($two, tag => $good{$which}->(tag($path)));
        is($r->status, 200, "... $which will do") or diag($r->body);
        $send->($one);
    }

    $now = tag($path);

    my @c = map {
        $s->begin($method => "/v1/admin$path",
                  [ Authorization => "Bearer $api", 'If-Match' => $now ], $two)
    } 1 .. $AT_ONCE;
    my %n;

    $n{ $_->read->status }++ for @c;
    is_deeply(\%n, { 200 => 1, 412 => $AT_ONCE - 1 }, '... of many at once one is made');

    admin_error($send->($one, tag => '"1"', token => $none), 403, undef,
                '... who may not is told no version');
    admin_error($globex->admin($method, $path, $one, [ 'If-Match' => '"1"' ], $theirs), 404,
                undef, '... nor another tenant') if !$surface->{none};
}


# --- what else makes another version -----------------------------------------------------

sub moves {
    my ($path, $name, $change) = @_;

    my $before = tag($path);

    $change->();
    isnt(tag($path), $before, "$name: another version");
}

sub stays {
    my ($path, $name, $change) = @_;

    my $before = tag($path);

    $change->();
    is(tag($path), $before, "$name: the same version");
}

my $of_user = "/users/$user";

moves($of_user, 'SCIM', sub {
    $acme->scim(PATCH => "/Users/$user", patch_op({ op => 'replace', path => 'title',
                                                    value => 'Clerk' }));
});
moves($of_user, 'SCIM, active', sub {
    $acme->scim(PATCH => "/Users/$user", patch_op({ op => 'replace', path => 'active',
                                                    value => $FALSE }));
});
moves($of_user, 'reactivate', sub { ask(POST => "$of_user/reactivate") });
moves($of_user, 'suspend', sub { ask(POST => "$of_user/suspend") });
moves($of_user, 'reactivate', sub {
    my $r = ask(POST => "$of_user/reactivate");

    is($r->header('etag'), tag($of_user), 'the answer has it');
});
moves($of_user, 'a role that is taken away', sub { ask(DELETE => "/members/$user") });
stays($of_user, 'signing out', sub { ask(POST => "$of_user/logout") });

my $bob = with_password($s, $acme, userName => 'bob@acme.test');

stays("/users/$bob->{id}", 'a sign-in', sub {
    my $r = $s->http(POST => '/v1/auth/login', [ Origin => $s->base_url ],
                     { email => 'bob@acme.test', password => $PASSWORD, tenant => 'acme' });

    is($r->status, 200, 'somebody signs in') or diag($r->body);
});
ok(ask(GET => "/users/$bob->{id}")->json->{lastLoginAt}, '... which is seen');

stays($group, 'a member', sub { ask(POST => "$group/members", { userIds => [ $user ] }) });
is(ask(GET => $group)->json->{memberCount}, 1, '... who is counted');

# What the server keeps is told, whatever a client has: of these the contract has no 304.

my $agent = $s->http(POST => '/v1/applications', [ Authorization => "Bearer $api" ],
                     { name => 'Bot', type => 'agent' })->json;

$s->secret($agent->{clientSecret});

for my $path ("admin/agents/$agent->{clientId}", "applications/$agent->{clientId}") {
    my @token = (Authorization => "Bearer $api");
    my $tag = $s->http(GET => "/v1/$path", [ @token ])->header('etag');

    is($s->http(GET => "/v1/$path", [ @token, 'If-None-Match' => $tag ])->status, 200,
       "$path is never 304");
}

my $override = "/password-policy/groups/$group_id";

moves($override, 'policy as code', sub {
    ask(POST => '/config/apply', { version => 1, groupPasswordPolicies => [
        { groupId => $group_id, minLength => 19 } ] });
});

my $was = tag($override);

is(ask(DELETE => $override)->status, 204, 'an override is taken away');
admin_error(ask(GET => $override), 404, undef, '... is not there');
admin_error(ask(PUT => $override, { minLength => 20 }, tag => $was), 412,
            'precondition_failed', '... and is not what was read');
is(ask(PUT => $override, { minLength => 20 })->status, 201, '... but may be made');


# --- who vouches, vouches for what was seen ----------------------------------------------

sub covers { return ask(GET => $_[0])->json->{covers} }

for (grep { $_->{name} =~ /SAML|directory|provider/ } @SURFACES) {
    my ($name, $path, $method, $bodies) = @$_{qw(name path method bodies)};
    my $seen = tag($path);

    $s->sql("UPDATE svc.$_ SET vouched = '{}', vouched_owner = false") for qw(social saml_sp ldap);
    is(covers($path), 'members', "$name covers members");
    ask($method => $path, { %{ $bodies->[0] }, label => 'Something else' });
    admin_error(ask($method => $path, { %{ $bodies->[0] }, vouch => $TRUE }, tag => $seen), 412,
                'precondition_failed', '... nobody vouches for what it has become');
    is(covers($path), 'members', '... and it covers no more');
    is(ask($method => $path, { %{ $bodies->[0] }, vouch => $TRUE }, tag => tag($path))->status,
       200, '... but for what was seen');
    is(covers($path), 'admins', '... which counts');
}

$s->done;
done_testing();
