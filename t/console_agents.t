#!/usr/bin/perl

# Agents in the console: one is killed by two keys, its ceilings are tried before they
# apply, and what is unusual and who acted for whom is found.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Console;
use SvcTest::OAuth qw(oauth_server form $EXCHANGE);
use SvcTest::Process qw(wait_for);

my $HOSTILE = '<img src=x onerror=alert(1)>';

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = oauth_server();
my $c = SvcTest::Console->new($s);
my $page = $c->{page};


sub api {
    my ($method, $path, $body) = @_;

    my $r = $s->http($method => "/v1$path", [ Authorization => "Bearer $c->{all}" ], $body);

    $r->status < 300 or die "$method $path: " . $r->status . ' ' . $r->body . "\n";
    $s->secret($r->json->{clientSecret}) if $r->json->{clientSecret};

    return $r->json;
}

sub agent {
    my ($name, %member) = @_;

    return api(POST => '/applications', {
        name => $name, type => 'agent', ownerId => $c->{ada}{id}, scopes => [ 'in', 'out' ],
        accessTokenFormat => 'opaque', %member });
}

sub token {
    my ($client, $scope) = @_;

    my $token = form($s, token => { grant_type => 'client_credentials', scope => $scope },
                     client => $client)->json->{access_token};

    $s->secret($token);

    return $token;
}

sub policy { return api(GET => "/admin/agents?q=$_[0]{clientId}")->{agents}[0]{policy} }


# --- none, and the settings of all ------------------------------------------------------

$c->opens('agents', 'Agents', 'there is no agent');
$c->has('.empty', 'There is no agent yet.', '... and what one is is said');
$page->do(follow => 'Settings of all agents');
$c->shows('Settings of all agents');
$page->do(type => 'A review is due after', '30');
$page->do(press => 'Save');
is($c->said, 'Saved.', 'reviews are due earlier');
is(api(GET => '/admin/agents/settings')->{reviewIntervalDays}, 30, '... says the server');


# --- killed by two keys -----------------------------------------------------------------

my $bot = agent('Invoice bot', resourceUri => 'https://bot.test/');
my $other = agent($HOSTILE);
my $rs = api(POST => '/applications', { name => 'API', type => 'm2m',
                                        resourceUri => 'https://api.test/' });
my $token = token($bot, 'in');

token($bot, 'out') for 1 .. 2;


sub lives { return form($s, introspect => { token => $token }, client => $bot)->json->{active} }


ok(lives(), 'a token lives');
$c->opens('agents', 'Agents');
$c->tabs_to('Invoice bot');
$page->do(run => 'localStorage.setItem("svc-keys", "off")');
$page->do(key => 'k');
is($page->do(count => 'dialog'), 0, 'keys may be off');
$page->do(run => 'localStorage.setItem("svc-keys", "on")');
$page->do(key => 'k');
$c->has('dialog', 'All its tokens end, and none comes back.', 'a key asks');
$page->do(run => 'window.fetched = fetch; fetch = () => Promise.reject(new Error("away")); 1');
$page->do(key => 'Enter');
$c->has('dialog', 'The server cannot be reached.', 'what could not be done is said');
$page->do(run => 'fetch = fetched; 1');
$page->do(key => 'Enter');
like($c->said, qr/\AInvoice bot is off\. All its tokens have ended/, 'another one kills');
ok(!lives(), '... and introspection refuses the token');
$c->has('tbody tr:has-text("Invoice bot") .badge.bad', 'off', '... and the list has it');
ok(wait_for(sub { $page->do(run => 'document.activeElement.innerText') eq 'Invoice bot' }),
   '... with the focus where it was');
$page->do(key => 'k');
ok(wait_for(sub { $page->do(text => '.toasts') =~ /off already/ }), 'it does not toggle');
is($page->do(count => 'dialog'), 0, '... nor ask');
ok(!policy($bot)->{enabled}, '... and it is off');


# --- a ceiling: tried, applied, and two at a time ---------------------------------------

api(PATCH => "/applications/$bot->{clientId}", { enabled => JSON::PP::true() });
$token = token($bot, 'in');
$c->opens("agents/$bot->{clientId}", 'Invoice bot', 'one agent');
$c->has('table:has-text("Scope")', qr/in\s+2.*out\s+2/s, 'what it has used stands beside');

$page->do(click => '[name=limitScopes]');
$page->do(click => '[name=allowedScopes][value=in]');
$page->do(type => 'A token lives at most', '5');
$page->do(press => 'Review …');
$c->has('dialog .review', qr/refused\s+2 tokens.*would die at once/si, 'what would be refused');
$c->has('dialog tbody', qr/scope\s+out/, '... and why');
is_deeply($page->do('axe'), [], '... for everybody');
ok(!defined policy($bot)->{allowedScopes}, '... before anything applies');
$page->do(press => 'Apply');
is($c->said, 'Invoice bot has other ceilings.', 'then it applies');
is_deeply([ @{ policy($bot) }{qw(allowedScopes maxTokenTtlSeconds)} ], [ [ 'in' ], 300 ],
          '... as it was typed');

api(PUT => "/admin/agents/$bot->{clientId}/policy", { maxTokenTtlSeconds => 120 });
$page->do(type => 'A token lives at most', '7');
$page->do(press => 'Review …');
$page->do(press => 'Apply');
$c->has('dialog .beside', qr/5 minutes.*2 minutes.*7 minutes/s, 'theirs stands beside mine');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(press => 'Send mine again');
ok(wait_for(sub { policy($bot)->{maxTokenTtlSeconds} == 420 }), '... and mine is sent again');
is_deeply(policy($bot)->{allowedScopes}, [ 'in' ], '... and nothing else');

$page->do(type => 'Note', 'Looked at.');
$page->do(press => 'I have looked: this is right');
ok(wait_for(sub {
    api(GET => "/admin/agents?q=$bot->{clientId}")->{agents}[0]{review}{status} eq 'current'
}), 'a review is attested');
$c->has('main', 'reviewed', '... and shown');


# --- what is unusual --------------------------------------------------------------------

my $n = 0;

for ([ $bot, 'low' ], [ $bot, 'high' ], [ $other, 'medium' ]) {
    my ($who, $severity) = @$_;

    $s->sql('INSERT INTO svc.agent_anomaly (tenant_id, client_id, type, key, severity, details)'
            . " VALUES ('$c->{acme}{id}', '$who->{clientId}', 'new_ip', '@{[ $n++ ]}',"
            . qq| '$severity', '{"ip": "203.0.113.7"}')|);
}

$c->opens('anomalies', 'Anomalies');
is($page->do(count => 'main tbody tr'), 3, 'what is unusual');
$c->opens('anomalies?severity=high', 'Anomalies');
is($page->do(count => 'main tbody tr'), 1, '... the worst alone');
$c->finds('anomalies', 'Anomalies', $other->{clientId}, qr/<img/, qr/Invoice bot/);
$c->leads('Another network', $HOSTILE);
$c->has('main', qr/First token request from 203\.0\.113\.7.*Severity\s+medium/s,
        'one of it by itself');
$c->opens('anomalies', 'Anomalies');
$page->do(run => q{[...document.querySelectorAll("tbody tr")].slice(0, 2)}
                 . q{.forEach(row => row.querySelector("input").click())});
$c->has('.picks', '2 picked', 'two are picked');
$page->do(click => '.picks .primary');
is($c->said, '2 are acknowledged.', '... and acknowledged');
ok(wait_for(sub { $page->do(count => 'main tbody tr') == 1 }), '... one is left');


# --- who acted for whom -----------------------------------------------------------------

my ($root, @jti) = map { sprintf '019b0000-0000-7000-8000-%012x', $_ } 1 .. 3;
my $minutes = 60;


sub acted {
    my ($who, $scopes, %row) = @_;

    my %value = (
        tenant_id => $c->{acme}{id}, client_id => $who->{clientId}, client_name => $who->{name},
        chain => "{$who->{clientId}}", grant_type => $EXCHANGE, scopes => "{$scopes}",
        outcome => 'granted', root_jti => $root, subject_type => 'user',
        subject_id => $c->{ada}{id}, audience => 'https://api.test/', %row);
    my @names = sort keys %value;

    $s->sql('INSERT INTO svc.delegation (id, created_at, ' . join(', ', @names) . ')'
            . " VALUES (gen_random_uuid(), now() - interval '@{[ $minutes-- ]} min', "
            . join(', ', map { "'$_'" } @value{@names}) . ')');
}


acted($bot, 'in,mail,out', token_jti => $jti[0], parent_jti => $root);
acted($other, 'in', token_jti => $jti[1], parent_jti => $jti[0]);
acted($other, 'admin', parent_jti => $jti[0], outcome => 'refused', reason => 'scope_denied');
acted($rs, 'in', root_jti => $jti[1]) for 1 .. 60;

$c->opens('delegations', 'Delegations');
is($page->do(count => 'main tbody tr'), 50, 'a page of the journal');
$page->do(type => 'Token (jti)', $jti[1]);
$page->do(key => 'Enter');
ok(wait_for(sub { $page->do(count => 'main tbody tr') == 1 }), 'a token that was pasted');
$page->do(click => 'tbody td a');
$c->shows('All that came of one token');
$c->has('.tree .tree .refused', qr/<img.*It may have none of the scopes/s,
    'a refusal in its place, with the reason');
$c->has('.tree .tree [aria-current=true]', qr/Lost on the way\s+mail\s*out/,
    'the token that was pasted, and what it has lost');
is($page->do(count => 'main img'), 0, 'names are text');

$c->opens('delegations', 'Delegations', 'of somebody');
$page->do(type => 'Who acts last', 'invoice');
ok(wait_for(sub { $page->do(count => '[role=option]') == 1 }), 'who acts is found by the name');
$page->do(key => 'Enter');
ok(wait_for(sub { $page->do('url') =~ /\?clientId=$bot->{clientId}\z/ }), '... and is in the address');
$c->has('.named', qr/Who acts last Invoice bot/, '... with the name');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do('reload');
$c->has('.named', qr/Who acts last Invoice bot/, '... for whoever gets the address, too');
$page->do(press => 'Remove Who acts last');
ok(wait_for(sub { $page->do('url') =~ /delegations\z/ && $page->do('focus') eq 'filter-clientId' }),
   'it can be another one');

$c->opens("agents/$bot->{clientId}/delegations", 'Invoice bot', 'those of an agent');

$page->do(open => { viewport => { width => 360, height => 740 }, colorScheme => 'dark' });
$c->sign_in;

for ([ agents => 'Agents' ], [ "delegations/$root", 'All that came of one token' ]) {
    $c->opens(@$_, "$_->[1] on a phone");
    $c->fits;
}

done_testing;
