#!/usr/bin/perl

# Applications in the console: one is made without a mouse, its secret is shown once and
# replaced with some time for the old one, and two who change it lose nothing; and what a
# SCIM target is in, from a test that fails to many who would go.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Console;
use SvcTest::OAuth qw(oauth_server form);
use SvcTest::Outbound;
use SvcTest::Process qw(wait_for);

my $FALSE = JSON::PP::false();
my $N = 25;                     # users of the target, more than may go unasked

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = oauth_server(workers => 1);
my $out = SvcTest::Outbound->new($s);
my $c = SvcTest::Console->new($s);
my $page = $c->{page};
my $acme = $out->{tenant} = $c->{acme};


sub api {
    my ($method, $path, $body) = @_;

    my $r = $s->http($method => "/v1$path", [ Authorization => "Bearer $c->{all}" ], $body);

    $r->status < 300 or die "$method $path: " . $r->status . ' ' . $r->body . "\n";
    $s->secret($r->json->{clientSecret}) if $r->status != 204 && $r->json->{clientSecret};

    return $r->status == 204 ? undef : $r->json;
}

sub app {
    my ($name) = @_;

    return (grep { $_->{name} eq $name } @{ api(GET => '/applications')->{applications} })[0];
}

sub token {
    my ($client) = @_;

    return form($s, token => { grant_type => 'client_credentials' }, client => $client)->status;
}


# Returns the secret that is shown.

sub secret {
    my $secret = $page->do(text => '.secret code');

    like($secret, qr/\A[\w-]{43}\z/, 'a secret is shown');
    $s->secret($secret);

    return $secret;
}


# --- made without a mouse, with its secret this once --------------------------------------

$c->opens('applications', 'Applications', 'there is no application');
$c->has('.empty', 'There is no application yet.', '... and what one is is said');
$c->tabs_to('New application');
$page->do(key => 'Enter');
$c->shows('New application');
$c->tabs_to("Service\nA job, a back end or a script that calls an API with nobody at the screen.");
$page->do(key => 'Enter');
$c->shows('New service');
$c->tabs_to('Create');
$page->do(key => 'Enter');
$c->has('[data-field=name] .wrong', 'This is required.', 'what is missing is said');
$page->do(key => 'N', 'i', 'g', 'h', 't', 'l', 'y');
$c->tabs_to('Create');
$page->do(key => 'Enter');
$c->shows('Nightly is made');

my $app = app('Nightly');

$app->{clientSecret} = secret();
is(token($app), 200, '... with which it gets a token');
$c->has('.credentials', "$c->{origin}/oauth/t/acme", '... and the issuer stands beside');
unlike($page->do(text => '.credentials .code:last-child'), qr/\Q$app->{clientSecret}/,
       '... and no command has it');
$c->tabs_to('To the application');
$page->do(key => 'Enter');
$c->shows('Nightly');
unlike($page->do(run => 'document.documentElement.outerHTML'), qr/\Q$app->{clientSecret}/,
       'the secret is gone with the view');


# --- another secret, with some time for the old one ---------------------------------------

$page->do(press => 'New secret');
is($page->do(run => 'document.querySelector("dialog [name=graceSeconds]").value'), '86400',
   'the old one is good for a day, unless somebody says otherwise');
is($page->do(text => 'dialog .actions button:last-child') =~ /New secret/, 1,
   '... and what does it is the last button');
$page->do(run => q{(select => { select.value = "3600";
                    select.dispatchEvent(new Event("change", { bubbles: true })); })}
                 . q{(document.querySelector("dialog [name=graceSeconds]"))});
is_deeply($page->do('axe'), [], 'the dialog is for everybody');
$page->do(click => 'dialog form .primary');
$c->has('dialog h2', 'The new secret of Nightly', 'another secret');

my %new = (%$app, clientSecret => secret());

is_deeply([ token($app), token(\%new) ], [ 200, 200 ], '... and both are good');
$page->do(press => 'I have kept it');
is($page->do(count => '.secret'), 0, '... and it is gone');
$c->has('.object > .panel dl', qr/Old secret good until\s+in (?:1 hour|60 minutes)/, '... until when is said');


# --- two at a time ------------------------------------------------------------------------

sub rename_to {
    my ($name) = @_;

    $page->do(type => 'Name', $name);
    $page->do(press => 'Save');
}

api(PATCH => "/applications/$app->{clientId}", { name => 'Theirs' });
rename_to('Mine');
$c->has('dialog .beside', qr/Name.*Nightly.*Theirs.*Name.*Theirs.*Mine/s, 'theirs stands beside mine');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(press => 'Load theirs');
$c->shows('Theirs', 'theirs is there');
rename_to('Mine');
$c->shows('Mine', '... and mine is saved over it');
is(app('Mine')->{clientId}, $app->{clientId}, '... says the server');


# --- what somebody who looks after it should know; and the rest ---------------------------

my $spa = api(POST => '/applications', {
    name => 'Dashboard', type => 'spa', accessTokenTtlSeconds => 86_400,
    requireConsent => $FALSE, redirectUris => [ 'https://x.test/cb', 'http://localhost/' ] });

$c->opens("applications/$spa->{clientId}", 'Dashboard', 'a browser application');
$c->has('.warnings', qr/live long.*not bound.*not asked.*developer's machine/s, '... has warnings');
is($page->do(count => 'main a[href*="x.test"]'), 0, '... and redirect URIs are text');
$page->do(press => 'Disable');
$page->do(click => 'dialog .danger');
like($c->said, qr/Dashboard is off/, 'it is disabled');
ok(!app('Dashboard')->{enabled}, '... says the server');
$page->do(press => 'Delete');
$page->do(type => 'Type this to confirm:', 'Dashboard');
$page->do(click => 'dialog .danger');
$c->shows('Applications', 'it is deleted by its name');
is(app('Dashboard'), undef, '... says the server');

$page->do(follow => 'Limits of all applications');
$c->shows('Limits of all applications');
$page->do(type => 'Users sign in again after at most', '60');
$page->do(press => 'Save');
ok(wait_for(sub { api(GET => '/admin/oauth/settings')->{maxGrantDays} // 0 == 60 }),
   'a maximum for all');

$c->opens('catalogue/slack', 'Slack', 'the catalogue');
$page->do(run => 'document.querySelectorAll("a.card")[1].click()');
$c->shows('New web site');
is($page->do(run => 'document.querySelector("[name=name]").value'), 'Slack',
   '... begins an application');

$c->opens('saml-apps', 'SAML applications', 'SAML applications');
is($s->sql('SELECT count(*) FROM svc.saml_idp'), 0, '... ask for no key by themselves');
$page->do(follow => 'Show the applications and the certificate');
$c->has('main .code', 'BEGIN CERTIFICATE', '... but by a button');

my $saml = api(POST => '/admin/saml-idp/apps', { name => 'Wiki', spEntityId => 'https://wiki.test/',
                                                 acsUrl => 'https://wiki.test/acs' })->{id};

$c->opens('saml-apps?show=yes', 'SAML applications', '... with one of them');
$page->do(follow => 'Wiki');
$c->shows('Wiki');
$page->do(type => 'Its ACS URL', 'http://wiki.test/');
$page->do(press => 'Save');
$c->has('[data-field=acsUrl] .wrong', 'https', '... which the server takes with https alone');
api(PATCH => "/admin/saml-idp/apps/$saml", { name => 'Handbook' });
$page->do(type => 'Its ACS URL', 'https://wiki.test/2');
$page->do(press => 'Save');
$c->has('dialog .beside', qr/Name.*Wiki.*Handbook.*ACS URL.*acs.*wiki\.test\/2/s,
        '... and not over what another has changed');
$page->do(press => 'Send mine again');
$c->saying(qr/^Saved/, '... unseen');
$c->shows('Handbook', '... whose name stays');
is(api(GET => "/admin/saml-idp/apps/$saml")->{acsUrl}, 'https://wiki.test/2', '... says the server');


# --- a SCIM target ------------------------------------------------------------------------

$s->sql('INSERT INTO svc.user_account (tenant_id, id, user_name)'
        . " SELECT '$acme->{id}', md5(i::text)::uuid, 'u' || i || '\@x.test'"
        . " FROM generate_series(1, $N) i");

my $group = api(POST => '/admin/groups', { name => 'Staff' })->{id};

api(PUT => "/admin/groups/$group/apps", { clientIds => [ $app->{clientId} ] });
$s->sql("INSERT INTO svc.group_member (tenant_id, group_id, user_id) SELECT '$acme->{id}',"
        . " '$group', md5(i::text)::uuid FROM generate_series(1, $N) i");

$c->opens("applications/$app->{clientId}/groups", 'Mine', 'its groups');
$c->has('main tbody', qr/Staff\s+25/, '... with their members');
$page->do(follow => 'Staff');
$c->shows('Staff', '... lead to the group');

$s->sql("INSERT INTO svc.oauth_consent (tenant_id, user_id, client_id, scopes, resources, allowed)"
        . " VALUES ('$acme->{id}', '$c->{ada}{id}', '$app->{clientId}', '{openid}', '{}',"
        . " '{\" \",\" openid\"}')");
$c->opens("applications/$app->{clientId}/consents", 'Mine', 'its consents');
$c->has('main tbody', qr/Ada Lovelace\s+ada\@acme\.test\s+openid/, '... by whom, and of what');
$c->opens("applications/$app->{clientId}/usage", 'Mine', 'its tokens');
$c->says(qr/Issued: [1-9]/, '... are counted');
is($page->do(count => '.chart svg > g'), 30, '... by days');
$page->do(follow => '90 days');
ok(wait_for(sub { $page->do(count => '.chart .days tbody tr') == 90 }), '... of which there are more');
is_deeply($page->do('axe'), [], '... for everybody');

$c->opens('scim-targets/new', 'New SCIM target', 'a target');
$page->do(run => 'document.querySelector("[role=combobox]").focus()');
$page->do(key => split //, 'Mine');
ok(wait_for(sub { $page->do(count => '[role=option]') == 1 }), '... of an application by its name');
$page->do(key => 'Enter');
$page->do(type => 'Name', 'Chat');
$page->do(type => 'Base URL', $out->there->url('console/status=GET:401'));
$page->do(type => 'Token', 'wrong');
$page->do(click => '[name=enabled]');
$page->do(press => 'Create');
$c->shows('Chat');
$c->has('.object h2 .badge', 'It is off', 'its state is in words');

my $target = api(GET => '/admin/scim-targets')->{scimTargets}[0]{id};

$page->do(press => 'Test');
$c->has('main', qr/does not answer as it should.*Status: 401/s, 'a test fails');
$page->do(type => 'Base URL', $out->there->url('console/none'));
$page->do(press => 'Save');
$c->has('[data-field=token] .wrong', 'token', 'another address wants the token');
$page->do(type => 'Token', 'right');
$page->do(click => '[name=enabled]');
$page->do(press => 'Save');
ok(wait_for(sub { $out->items($target, "state = 'synced'") == $N }), 'it is mended');

$c->opens("scim-targets/$target/users?state=synced", 'Chat', 'its users');
is($page->do(count => 'main tbody tr'), $N, '... by their state');

my ($first) = $s->sql("SELECT user_id FROM svc.scim_item WHERE target_id = '$target'"
                      . ' ORDER BY user_id LIMIT 1');

$s->sql("UPDATE svc.scim_item SET state = 'error', error = 'x', wanted_rev = wanted_rev + 1,"
        . " next_at = now() + interval '1 hour' WHERE user_id = '$first->[0]'");
$c->opens("scim-targets/$target/users?state=error", 'Chat', 'one of them in error');
$page->do(click => 'main tbody button.plain');
$c->saying(qr/\@x\.test is there/, '... is pushed at once');
$c->has('main .empty', 'Nothing', '... and is in error no more');
ok(wait_for(sub { $out->items($target, "state = 'synced'") == $N }), '... says the server');

api(PUT => "/admin/groups/$group/members", { userIds => [] });
api(POST => "/admin/scim-targets/$target/sync", {});
$out->soon($target, "sync_status = 'held'", 'all of them would go');
$c->opens("scim-targets/$target", 'Chat', 'it is held');
$c->has('.object .panel strong', "$N users of $N would be deactivated there.", '... how many is said');
$page->do(press => 'Confirm, and go on');
$page->do(type => 'Type this to confirm:', '' . ($N - 1));
is($page->do(count => 'dialog .danger:disabled'), 1, '... another number does not');
$page->do(type => 'Type this to confirm:', "$N");
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(click => 'dialog .danger');
ok(wait_for(sub { !grep { $_->{active} } $out->there->users('console') }), '... and they go');

$page->do(open => { viewport => { width => 360, height => 740 }, colorScheme => 'dark' });
$c->sign_in;

for ([ applications => 'Applications' ], [ "applications/$app->{clientId}" => 'Mine' ],
     [ "applications/$app->{clientId}/usage" => 'Mine' ],
     [ "applications/$app->{clientId}/consents" => 'Mine' ],
     [ 'scim-targets' => 'SCIM targets' ])
{
    $c->opens(@$_, "$_->[1] on a phone");
    $c->fits;
}

done_testing;
