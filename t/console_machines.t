#!/usr/bin/perl

# Invitations, tokens, webhooks, blocked addresses and domains in the console: each secret
# is shown once, what the server refuses has its reason, and what a page says was done the
# server has.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD);
use SvcTest::Console;
use SvcTest::Dns;
use SvcTest::Process qw(wait_for);
use SvcTest::Receiver;

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $HOSTILE = '<img src=x onerror=alert(1)>';
my $NARROW = { width => 360, height => 800 };

my $s = SvcTest->new;
my $receiver = SvcTest::Receiver->new($s);
my $dns = SvcTest::Dns->new($s);
my $c = SvcTest::Console->new($s, svc => { svc_federation => 'on' });
my $acme = $c->{acme};
my $page = $c->{page};


# Sends samples until one is seen to have come so far within the seconds that the page
# waits, which it may not on a machine with more to do.

sub sample {
    my ($text, $name) = @_;

    for (1 .. 5) {
        $page->do(press => 'Send a sample');
        wait_for(sub { $page->do(text => 'main') =~ $text
                       || $page->do(text => 'main') =~ /five seconds|on its way/ });
        last if $page->do(text => 'main') =~ $text;
    }

    $c->says($text, $name);
}


# Clicks at the label of a box, or chooses the option of a field.

sub check {
    my ($label) = @_;

    $page->do(run => qq{[...document.querySelectorAll("label")]
                        .find(one => one.textContent.includes("$label")).click()});
}

sub choose {
    my ($name, $value) = @_;

    $page->do(run => qq{(select => { select.value = "$value";
                        select.dispatchEvent(new Event("change")); })
                        (document.querySelector("select[name=$name]"))});
}


# Returns the secret that is shown, which the log must not have.

sub secret {
    wait_for(sub { $page->do(count => '.secret') > 0 }) or return '';

    my $secret = $page->do(text => '.secret code');

    $s->secret($secret =~ /#token=(.*)/ ? $1 : $secret);

    return $secret;
}


# Tests that a secret is not in the page any more, whatever one does to see it again.

sub gone {
    my ($secret, $name) = @_;

    my $there = sub { index($page->do(run => 'document.documentElement.outerHTML'), $secret) };

    is($there->(), -1, "$name is not in the page any more");
    $page->do(run => 'history.back()');
    wait_for(sub { $page->do(count => 'main form') > 0 });
    is($there->(), -1, '... nor when one goes back');
}


sub of { return $c->admin(GET => "$_[0]?limit=500") }

sub token { return $_[0] =~ /#token=([^"\s]+)/ ? $1 : die "no link: $_[0]\n" }

sub lookup {
    return $s->http(POST => '/v1/auth/invitations/lookup', {}, { token => $_[0] })->status;
}


# --- invitations: many at once, each with its result -----------------------------------------

$c->admin(POST => '/groups', { name => $_ }) for 'Staff', 'Board';
$c->admin(POST => '/invitations', { email => 'eve@acme.test', role => 'member' });

$c->opens('invitations', 'Invitations');
$c->leads('Invite people');
$page->do(type => 'E-mail addresses',
          "carol\@acme.test\nDan <dan\@acme.test>, erin\@acme.test; eve\@acme.test\n"
          . "ada\@acme.test\n$HOSTILE\ncarol\@acme.test");
$page->do(run => 'document.getElementById("field-groupIds").focus()');
$page->do(key => 's', 't', 'a');
ok(wait_for(sub { $page->do(count => '[role=option]') == 1 }), 'finds a group by its name');
$page->do(key => 'Enter');
$page->do(press => 'Invite');
$c->says(qr/3 of 6 are invited/, 'who can be invited is, each once');
$c->shows('Who was invited');

my $results = $page->do(text => 'main table');
my @links = @{ $page->do(run => '[...document.querySelectorAll("main td .id code")]
                                 .map(one => one.textContent)') };

$s->secret(map { token($_) } @links);
like($results, qr/eve\@acme\.test\s+refused.*invited already/s, 'one that was invited before');
like($results, qr/ada\@acme\.test\s+refused\s.*Somebody here has this address/s,
     'a user is not invited');
like($results, qr/img src=x|onerror/, 'what is no address is a text');
is(scalar @links, 3, 'each invitation has its link');

for ([ cancelled => 'a b c d e' ], [ conflict => 'a b c d e f g h' ]) {
    my ($code, $begun) = @$_;

    is($page->do(run => <<"EOT"), $begun, "those that are tried where one fails: $code");
(async () => {
  const { forEach } = await import("/svc/ui/many.js");
  const begun = [];

  await forEach([..."abcdefgh"], async one => {
    begun.push(one);

    return one === "b" && { code: "$code" };
  });

  return begun.join(" ");
})()
EOT
}

my %invited = map { $_->{email} => $_ } @{ of('/invitations')->{invitations} };
my ($staff) = grep { $_->{name} eq 'Staff' } @{ of('/groups')->{groups} };

is_deeply([ sort keys %invited ], [ map { "$_\@acme.test" } qw(carol dan erin eve) ],
          'the server has them');
is_deeply($invited{'dan@acme.test'}{groupIds}, [ $staff->{id} ], '... in the group');

$c->leads('To the list', 'Invitations');
is($page->do(count => '.id'), 0, 'the links are not in the page any more');
$page->do(run => 'history.back()');
$c->shows('Invite people');
is($page->do(run => 'document.body.innerHTML.includes("#token=")'), 0, '... nor in its form');


# --- one takes it; another link; a link that is revoked --------------------------------------

my %link = map { $_ => token($links[$_]) } 0 .. 2;
my $taken = $s->http(POST => '/v1/auth/invitations/accept', {},
                     { token => $link{0}, password => $PASSWORD });

is($taken->status, 201, 'carol makes her account by the link');
$c->to('invitations', 'Invitations');
$c->says(qr/carol\@acme\.test\s+member\s+1\s+accepted/, 'which the list shows');
$c->finds('invitations', 'Invitations', 'Carol', qr/carol/, qr/dan/);
$c->opens("invitations/$invited{'carol@acme.test'}{id}", 'carol@acme.test');
$c->says(qr/Status\s+accepted/, 'one by itself');
$c->to('invitations', 'Invitations');

$page->do(press => 'Send again: dan@acme.test');
$page->do(press => 'Send again');

my $again = secret();

is(lookup($link{1}), 400, 'the link from before is dead');
is(lookup(token($again)), 200, '... and the new one is good');
is_deeply($page->do('axe'), [], 'a secret in a dialog is for everybody');
$page->do(press => 'I have kept it');
ok(wait_for(sub { $page->do(count => '.secret') == 0 }), '... and is gone with it');

$page->do(press => 'Revoke: erin@acme.test');
like($page->do(text => 'dialog'), qr/Its link no longer works/, 'says what it ends');
$page->do(press => 'Revoke');
$c->saying(qr/erin\@acme\.test is revoked/, 'an invitation is revoked');
is(lookup($link{2}), 400, '... for the server, too');
choose_filter('revoked');
$c->says(qr/erin\@acme\.test/, 'the list of those that are revoked has it');


sub choose_filter {
    my ($value) = @_;

    $page->do(run => qq{(select => { select.value = "$value";
                        select.dispatchEvent(new Event("change")); })
                        (document.querySelector("search select"))});
    wait_for(sub { $page->do('url') =~ /status=$value/
                   && $page->do(count => '.stale, .loading') == 0 });
}


# --- identities ------------------------------------------------------------------------------

$c->to('identities', 'Identities');
$c->says(qr/Ada Lovelace\s+Person/, 'people are among them');
$c->says(qr/acme deploy\s+Service.*never/, '... and tokens');


# --- API tokens: what may be given, once, until when -----------------------------------------

$c->to('tokens', 'API tokens');
$c->leads('New token');
$page->do(press => 'Create');
is($page->do(count => '.wrong'), 2, 'what is missing is said at the fields');
$page->do(type => 'Name', "ci $HOSTILE");
check('Look at the directory');
choose(expiresInDays => 30);
$page->do(press => 'Create');

my $secret = secret();
my ($ci) = grep { $_->{name} =~ /^ci/ } @{ of('/api-tokens')->{apiTokens} };

$c->shows("ci $HOSTILE is made");
is($acme->admin(GET => '/users', undef, undef, $secret)->status, 200, 'the token is good');
is_deeply($ci->{scopes}, [ 'users:view' ], '... for what was chosen');
ok($ci->{expiresAt}, '... and has an end');
$page->do(follow => 'I have kept it');
$c->shows("ci $HOSTILE");
gone($secret, 'the token');

$s->sql("UPDATE svc.credential SET created_at = created_at - interval '91 days',"
        . " last_used_at = NULL WHERE id = '$ci->{id}'");
$c->to('tokens', 'API tokens');
$c->says(qr/ci <img.*unused for 90 days/s, 'a token that nobody uses is marked');
$c->finds('tokens', 'API tokens', $ci->{prefix}, qr/ci <img/, qr/acme deploy/);
$c->leads("ci $HOSTILE");
$page->do(press => 'Revoke');
like($page->do(text => 'dialog'), qr/\Q$ci->{prefix}\E….*Last used: never/s, 'says what it ends');
$page->do(click => 'dialog .danger');
$c->saying(qr/^ci .* is revoked/, 'a token is revoked');
is($acme->admin(GET => '/users', undef, undef, $secret)->status, 401, '... at once');
$c->says(qr/Status\s+revoked/, '... which its view says');


# --- SCIM tokens -----------------------------------------------------------------------------

$c->to('scim', 'SCIM tokens');
$c->leads('New token');
$page->do(type => 'Name', 'Entra');
$page->do(press => 'Create');
$secret = secret();
$c->shows('Entra is made');

my ($base) = $page->do(text => 'main .id code') =~ m{^http://[^/]+(/scim/v2)$};

is($s->http(GET => "$base/Users", { Authorization => "Bearer $secret" })->status, 200,
   'the token is good at the address beside it');
$c->says(qr/Tenant URL is http.*Okta/s, 'and two directories have their steps');
$page->do(follow => 'I have kept it');
$c->shows('Entra');
gone($secret, 'the SCIM token');
$c->finds('scim', 'SCIM tokens', 'entra', qr/Entra/, qr/deploy|directory|extra/);


# --- webhooks: made, tested, with a receiver that is down ------------------------------------

$c->to('webhooks', 'Webhooks');
$c->leads('New webhook');
$page->do(type => 'Address', 'http://hooks.acme.test/');
check('user.created');
$page->do(press => 'Create');
like($page->do('said'), qr/must begin with "https/, 'the server says which address it takes');
$page->do(type => 'Address', $receiver->url('/ok'));
$page->do(press => 'Create');
$secret = secret();
$c->shows('The webhook is made');
$c->says(qr/compare_digest.*timingSafeEqual/s, 'with what verifies deliveries');
$page->do(follow => 'I have kept it');
$c->shows($receiver->url('/ok'));

sample(qr/It was acknowledged/, 'a sample is followed until it has arrived');
is_deeply($page->do('axe'), [], '... for everybody');

my ($hook) = @{ of('/webhooks')->{webhooks} };

$page->do(type => 'Address', $receiver->url('/status/500'));
check('user.login');
$page->do(press => 'Save');
$c->saying(qr/^Saved/, 'a webhook is changed');
is_deeply($c->admin(GET => "/webhooks/$hook->{id}"),
          { %$hook, url => $receiver->url('/status/500'),
            events => [ 'user.created', 'user.login' ] }, '... by what was changed');
$c->shows($receiver->url('/status/500'));
sample(qr/failed, comes again.*500/s, 'a receiver that is down is seen');

$c->leads('Deliveries', $receiver->url('/status/500'));
$c->says(qr/acknowledged\s+200\s+\d+ ms/, 'the deliveries have status and time');
$page->do(press => 'Refresh');
$c->says(qr/the answer was 500/, '... and the error');

# one that was delivered a while ago, and comes again

# What is pending is dropped while it is off, and comes to no other address.

$c->admin(PATCH => "/webhooks/$hook->{id}", $_)
    for { enabled => JSON::PP::false() },
        { enabled => JSON::PP::true(), url => $receiver->url('/ok/again') };

my $more = $acme->new_user;

$receiver->wait('/ok/again', 1);
ok(wait_for(sub { $s->sql("SELECT count(*) FROM svc.webhook_attempt WHERE outcome = 'acknowledged'"
                          . " AND created_at > (SELECT created_at FROM svc.user_account"
                          . " WHERE id = '$more->{id}')") }), 'somebody is told');
$s->sql("UPDATE svc.$_ SET created_at = created_at - interval '2 minutes'")
    for qw(webhook_attempt audit_event);
$s->redis->command('DEL svc.webhook2.known');
$page->do(press => 'Refresh');
ok(wait_for(sub { $page->do(count => '.stale') == 0
                  && $page->do(count => 'main tbody tr:first-child button.plain') == 1 }),
   'what was delivered');
$page->do(run => '[...document.querySelectorAll("main tbody tr")][0].querySelector("button.plain")'
                 . '.click()');
$c->saying(qr/^It is on its way/, '... can come again');
is(scalar(my @came = $receiver->wait('/ok/again', 2)), 2, '... and does');
$c->admin(PATCH => "/webhooks/$hook->{id}", { url => $receiver->url('/status/500') });

$c->leads('New secret', $receiver->url('/status/500'));
$page->do(press => 'Make it');
isnt(secret(), $secret, 'a second webhook has another secret');
$page->do(click => '.steps .danger');
$page->do(click => 'dialog .danger');
$c->saying(qr/^The webhook is deleted/, '... and takes the place of the first');
isnt((map { $_->{id} } @{ of('/webhooks')->{webhooks} })[0], $hook->{id}, '... there, too');
$c->finds('webhooks', 'Webhooks', 'STATUS', qr{/status/500}, qr{/ok});
is(scalar @{ of('/webhooks')->{webhooks} }, 1, '... alone');


# --- addresses -------------------------------------------------------------------------------

$c->to('blocks', 'IP blocks');
$c->leads('Block an address');
$c->says(qr/you have signed in from 127\.0\.0\.1/, 'one\'s own address is named');
$page->do(type => 'Address', '127.0.0.1');
$page->do(press => 'Create');
like($page->do('said'), qr/shut people out.*address of this request/s, '... and refused');
$page->do(type => 'Address', '2001:DB8::0:1');
$page->do(type => 'Why', "guessing $HOSTILE");
choose(lasts => 24);
$page->do(press => 'Create');
$c->saying(qr/^2001:db8::1 is blocked/, 'another one is blocked');

my ($block) = @{ of('/ip-blocks')->{ipBlocks} };

is($block->{reason}, "guessing $HOSTILE", '... with the reason');
ok($block->{expiresAt}, '... and an end');

$c->finds('blocks', 'IP blocks', '2001:DB8::%2F32', qr/2001:db8::1/, qr/203/);
$c->leads('2001:db8::1');
$c->says(qr/guessing <img/, 'one by itself');
$c->to('blocks', 'IP blocks');
$page->do(press => 'Unblock: 2001:db8::1');
ok(wait_for(sub { of('/ip-blocks')->{total} == 0 }), 'it is unblocked');
$page->do(press => 'Undo');
ok(wait_for(sub { of('/ip-blocks')->{total} == 1 }), '... and blocked again');
is_deeply([ @{ of('/ip-blocks')->{ipBlocks}[0] }{qw(reason expiresAt)} ],
          [ @$block{qw(reason expiresAt)} ], '... as it was');


# --- domains ---------------------------------------------------------------------------------

$c->to('domains', 'Domains');
$c->leads('Add a domain');
$page->do(type => 'Domain', 'Login.Acme.example');
$page->do(press => 'Create');
$c->shows('login.acme.example');

my ($domain) = @{ of('/domains')->{domains} };
my $record = $domain->{verification};
my $limit = 'svc.rate.d.t.' . $acme->{id} =~ tr/-//dr;

$c->says(qr/\Q$record->{name}\E.*\Q$record->{value}\E.*dig \+short TXT/s, 'the record is there');
$page->do(press => 'Verify');
like($page->do('said'), qr/not there, or not yet/, 'it is not published yet');
$s->redis->command("SET $limit 1000 EX 100");
$page->do(press => 'Verify');
$c->says(qr/Again in \d\d+ seconds/, 'too many tries are counted down');
is($page->do(count => '.steps .primary:disabled'), 1, '... while nothing can be tried');
$dns->set($record->{name} => { txt => [ [ $record->{value} ] ] });
$s->redis->command("DEL $limit");
$c->finds('domains', 'Domains', 'Login.', qr/login\.acme\.example/, qr/globex/);
$c->leads('login.acme.example');
$page->do(press => 'Verify');
$c->saying(qr/^login\.acme\.example is verified/, 'then it is verified');
$c->says(qr/Status\s+verified/, '... which the page says');
is((@{ of('/domains')->{domains} })[0]{status}, 'verified', '... and the server');

$c->leads('One way in', 'login.acme.example');
$c->says(qr/no connection that is on/, 'what one way in lacks is said');
$c->admin(POST => '/social/connections', { provider => 'google', clientId => 'acme',
                                           clientSecret => 'quiet' });
$c->leads('Domain', 'login.acme.example');
$c->leads('One way in', 'login.acme.example');
choose(connection => 'google');
$page->do(press => 'Save');
like($page->do(text => 'dialog'), qr/by google alone\?.*are refused/s, 'says what it closes');
$page->do(press => 'Close the other ways');
like($page->do('said'), qr/shut people out.*passkey/s, 'and what stands against it');
is((@{ of('/domains')->{domains} })[0]{signIn}, undef, '... so that all ways stay open');
$page->do(press => 'Discard');
$page->do(click => '.head .danger');
like($page->do(text => 'dialog'), qr/all passkeys that were made there are of no use/,
     'removal names the passkeys');
$page->do(click => 'dialog .danger');
$c->shows('Domains');
is(of('/domains')->{total}, 0, 'it is removed');


# --- who may do less, on a telephone ---------------------------------------------------------

$c->admin(POST => '/roles', { key => 'machinist', name => 'Machinist',
                              permissions => [ 'members:manage', 'tenant:manage' ] });
$c->user('bob', role => 'machinist');
$page->do(open => { viewport => $NARROW, colorScheme => 'dark' });
$c->{seen}{'Invite people'} = 0;
$c->sign_in('bob');
$c->shows('Overview', 'begins with what one may see');
$c->fits;
$c->to('invitations', 'Invitations');
$c->fits;
$c->leads('Invite people');
$c->says(qr/takes the permission groups:manage/, 'what one may not is named');
$page->do(type => 'E-mail addresses', 'frank@acme.test');
$page->do(type => 'Role', 'admin');
$page->do(press => 'Invite');
$c->says(qr/0 of 1 are invited.*You may not do this/s, 'and what the server refuses');
$c->fits;

for my $view ([ 'tokens', 'API tokens' ], [ 'tokens/new', 'New token' ], [ 'webhooks', 'Webhooks' ],
              [ 'blocks', 'IP blocks' ], [ 'domains', 'Domains' ], [ 'scim', 'SCIM tokens' ])
{
    my ($path, $heading) = @$view;

    $path =~ m{/} ? $c->leads($heading) : $c->to($path, $heading);
    $c->fits("... $path has place");
    $c->says(qr/Look at the directory – your own role does not have it/,
         'a token gets no more than one has') if $path eq 'tokens/new';
}

is($s->log_tail =~ /\Q$secret\E/, '', 'no secret is in the log');

done_testing;
