#!/usr/bin/perl

# What each view of the console looks like, with names that are hostile and long: for
# everybody (axe), in its language, without an error, and without anything that goes out
# at the sides, on a screen of 320 px, too.  The views are those of nav.js; they are seen
# with one of everything, with nothing, and while PostgreSQL is away.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Console;
use SvcTest::OAuth qw(oauth_server);
use SvcTest::Process qw(slurp wait_for);

my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $LONG = '<img src=x onerror=alert(1)> ' . 'W' x 40;

# Light and dark, wide and narrow, in three languages: each view is seen in one of them.

my @LOOKS = (
    { locale => 'en', colorScheme => 'light', viewport => { width => 1280, height => 900 } },
    { locale => 'de', colorScheme => 'dark', viewport => { width => 360, height => 740 } },
    { locale => 'fr', colorScheme => 'light', viewport => { width => 360, height => 740 } },
    { locale => 'en', colorScheme => 'dark', viewport => { width => 1280, height => 900 } },
);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = oauth_server();
my $c = SvcTest::Console->new($s, svc => { svc_webhooks => 'on', svc_scim_targets => 'on',
                                           svc_federation => 'on' });
my $page = $c->{page};


sub api {
    my ($path, $body) = @_;
    my $r = $s->http(POST => "/v1$path", [ Authorization => "Bearer $c->{all}" ], $body);

    die "$path: " . $r->status . ' ' . $r->body . "\n" if $r->status >= 300;
    $s->secret(grep { defined } @{ $r->json }{qw(clientSecret token secret)});

    return $r->json;
}


# --- one of everything --------------------------------------------------------------------

my $user = $c->user('bob', displayName => $LONG);
my $group = api('/admin/groups', { name => $LONG, description => $LONG });
my $app = api('/applications', { name => $LONG, type => 'web',
                                 redirectUris => [ 'https://a.test/' . 'x' x 90 ] });
my $agent = api('/applications', { name => $LONG, type => 'agent', ownerId => $user->{id},
                                   scopes => [ 'a' ] });

api("/admin/groups/$group->{id}/members", { userIds => [ $user->{id} ] });
api("/admin/groups/$group->{id}/apps", { clientIds => [ $app->{clientId} ] });
api('/admin/invitations', { email => 'w' x 60 . '@' . 'w' x 60 . '.test', role => 'member' });
api('/admin/roles', { key => 'auditor2', name => $LONG, permissions => [ 'audit:view' ] });
api('/admin/saml-idp/apps', { name => $LONG, spEntityId => 'https://wiki.test/saml',
                              acsUrl => 'https://wiki.test/' . 'x' x 90 });
api('/admin/scim-targets', { clientId => $app->{clientId}, name => $LONG, token => 'x' x 20,
                             baseUrl => 'https://a.example.com/' . 'x' x 90,
                             enabled => $FALSE });
api('/admin/ip-blocks', { ip => '2001:db8:1234:5678:9abc:def0:1234:5678', reason => $LONG });
api('/admin/domains', { domain => join '.', ('w' x 60) x 3, 'test' });
api('/admin/api-tokens', { name => $LONG, scopes => [ 'users:view' ], expiresInDays => 1 });
api('/admin/scim/tokens', { name => $LONG });
api('/admin/webhooks', { url => 'https://hooks.example.com/' . 'x' x 90, enabled => $TRUE,
                         events => [ 'user.created' ] });
$c->admin(PUT => '/access-policy', {
    rules => [ { name => $LONG, action => 'mfa', networks => [ '203.0.113.0/24' ] } ],
    defaultAction => 'allow' });
$s->sql(<<"EOT");
INSERT INTO svc.agent_anomaly (tenant_id, client_id, type, key, severity, details)
VALUES ('$c->{acme}{id}', '$agent->{clientId}', 'new_ip', '1', 'high', '{"ip": "203.0.113.7"}');
INSERT INTO svc.delegation (tenant_id, id, client_id, client_name, chain, grant_type, scopes,
                            outcome, root_jti, token_jti, subject_type, subject_id, audience)
VALUES ('$c->{acme}{id}', gen_random_uuid(), '$agent->{clientId}', '$LONG',
        '{$agent->{clientId}}', 'urn:ietf:params:oauth:grant-type:token-exchange',
        '{@{[ 'w' x 80 ]}}', 'granted', '019b0000-0000-7000-8000-000000000001',
        '019b0000-0000-7000-8000-000000000001', 'user', '$user->{id}', 'https://a.test/');
INSERT INTO svc.incident (tenant_id, id, type, subject, severity, title, details, count,
                          last_seen_at)
VALUES ('$c->{acme}{id}', gen_random_uuid(), 'account_lockouts', '203.0.113.7', 'high',
        '$LONG', '{}', 7, now())
EOT


# --- each view ----------------------------------------------------------------------------

my $nav = slurp($s->root . '/conf/www/svc/console/nav.js');
my @views = $nav =~ /^  "?([a-z-]+)"?: \{ area: /mg;
my $look;

cmp_ok(scalar @views, '>', 20, 'views');


# What a screen reader is told: where the parts are, one heading above all, and a name for
# everything that can be used.

sub is_told {
    my $tree = $page->do('tree');
    my $used = qr/button|link|textbox|searchbox|combobox|checkbox|radio|spinbutton|switch|table/;

    is_deeply([ $tree =~ /^ *- ($used)(?=:|$| \[)/mg ], [], '... all has a name');
    is($page->do(run => 'document.querySelectorAll("h1").length'), 1,
       '... one heading is above all');
    like($tree, qr/^ *- banner.*^ *- main\b/ms, '... and the parts are where they belong');
}


# Tests what is shown now.  What is missing shows as a word of JavaScript.

sub looks {
    my ($name) = @_;

    ok(wait_for(sub {
        $page->do(run => 'document.querySelectorAll("main h1").length') == 1
            && $page->do(count => '[aria-busy=true], main .loading') == 0
    }), "$name is whole") or return diag($page->do(text => 'body'));

    is_deeply($page->do('axe'), [], '... for everybody');
    is_deeply($page->do('faults'), [], '... with no error');
    unlike($page->do(text => 'body'), qr/\bundefined\b|\bNaN\b|\[object |Invalid Date/,
           '... nothing is missing');
    is($page->do(count => 'main img[src=x]'), 0, '... names are text');
    is_told();
    $c->fits('... within its width');

    my ($width, $height) = @{ $look->{viewport} }{qw(width height)};

    $page->do(resize => 320, $height);
    $c->fits('... of 320 px, too');
    $page->do(resize => $width, $height);
}


# The first link of a list leads to an object, and that above it to a new one.

sub follows {
    my ($name, $selector) = @_;
    my $href = $page->do(run => "document.querySelector('$selector')?.getAttribute('href')");

    return if ($href // '') !~ m{^/console/};

    $page->do(click => $selector);
    looks($name);
    $page->do('back');
    wait_for(sub { $page->do(count => $selector) > 0 }) or fail("Back from $name");
}


for my $n (0 .. $#LOOKS) {
    $look = $LOOKS[$n];
    $page->do(open => { map { $_ => $look->{$_} } qw(colorScheme viewport) });
    $c->sign_in;
    $s->sql("UPDATE svc.user_account SET locale = '$look->{locale}' WHERE id = '$c->{ada}{id}'");

    for my $view (@views[grep { $_ % @LOOKS == $n } 0 .. $#views]) {
        $page->do(go => "$c->{origin}/console/$view");
        looks($view);
        follows("one of $view", 'main tbody a');
        follows("a new one of $view", 'main a[href$="/new"]');
    }
}


# --- nothing is there, and what there is cannot be read -------------------------------------

with_password($s, $c->{globex}, userName => 'eve@globex.test', role => 'owner');
$page->do('forget');
$page->do(go => "$c->{origin}/login?tenant=globex&return_to=/console/users");
$page->do(type => 'E-mail address', 'eve@globex.test');
$page->do(type => 'Password', $PASSWORD);
$page->do(press => 'Sign in');
$page->do(arrives => "$c->{origin}/console/users");
looks('users');


for my $view (grep { $_ ne 'users' } @views) {
    $c->to($view);
    $page->do(arrives => "$c->{origin}/console/$view");
    looks("$view with nothing");
}

$s->pg->stop;
$c->to('groups');
ok(wait_for(sub { $page->do(count => 'main [role=alert]') == 1 }), 'the database is away');
looks('groups that cannot be read');
$s->pg->launch;
$page->do(press => 'Try again');
ok(wait_for(sub { $page->do(count => 'main .empty') == 1 }), 'it is back');

done_testing;
