#!/usr/bin/perl

# The overview of the console: a new tenant's first steps, without a mouse; what needs
# somebody; and what sign-ins and users come to, whatever part of it may be asked for.

use strict;
use utf8;
use warnings;

use Compress::Zlib ();
use Test::More;

use SvcTest;
use SvcTest::Console;
use SvcTest::OAuth qw(oauth_server application);
use SvcTest::Process qw(slurp wait_for);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $HOSTILE = '<img src=x onerror=alert(1)>' . "\x{202e}" . 'x' x 70;

my $s = oauth_server();
my $c = SvcTest::Console->new($s, svc => { svc_webhooks => 'on', svc_scim_targets => 'on' });
my ($page, $acme) = @$c{qw(page acme)};


sub has {
    my ($selector, $text, $name) = @_;

    ok(wait_for(sub { (eval { $page->do(text => $selector) } // '') =~ $text }), $name)
        or diag($page->do(text => 'body'));
}

sub lacks {
    my ($text, $name) = @_;

    unlike($page->do(text => 'main'), $text, $name);
}


# Returns how many requests of /v1 the page has made, and how many of them at once, without
# that for the logo, which comes at any time.

sub asked {
    return @{ $page->do(run => <<'EOT') };
(() => {
  const all = performance.getEntriesByType("resource")
    .filter(({ name }) => name.includes("/v1/") && !name.endsWith("/v1/admin/tenant"));

  return [all.length, Math.max(...all.map(a => all.filter(b =>
    b.startTime <= a.startTime && b.responseEnd > a.startTime).length))];
})()
EOT
}


# --- a new tenant, without a mouse ------------------------------------------------------

$c->shows('Overview', 'whoever has signed in sees how things are');
has('main', qr/Nothing needs your attention/, 'of a new tenant there is nothing to say');
has('.first', qr/1 of 9 are done.*done\s+Connect a directory/s,
    'and all is to be done, but for the SCIM token that it has');
has('.first', qr/to do\s+Add a second factor/, 'one thing is a factor of one\'s own');
cmp_ok((asked())[1], '<=', 8, 'eight requests at once, and no more');

$page->do('authenticator');
$page->do(reach => 'Add a second factor of your own');
$page->do(key => 'Enter');
$page->do(heading => 'Your account');
$page->do(reach => 'Add a passkey');
$page->do(key => 'Enter');
ok(wait_for(sub { $page->do(count => 'dialog input') == 1 }), 'one is added');
$page->do(reach => 'Name');
$page->do(write => 'Key');
$page->do(key => 'Enter');
$page->do(reach => 'I have kept them');     # recovery codes, which come with it
$page->do(key => 'Enter');
ok(wait_for(sub { $page->do(count => 'dialog') == 0 }), '... with a name');
$page->do(authenticator => 'off');
$page->do(reach => 'Console');
$page->do(key => 'Enter');
$page->do(arrives => "$c->{origin}/console");
$page->do(heading => 'Overview');
$c->shows('Overview', 'back again');
has('.first', qr/done\s+Add a second factor of your own/, '... it is done');

$page->do(reach => 'Hide');
$page->do(key => 'Enter');
ok(wait_for(sub { $page->do(count => '.first') == 0 }), 'it can be put away');
$page->do('reload');
$c->shows('Overview');
is($page->do(count => '.first'), 0, '... for good');
cmp_ok((asked())[0], '<=', 8, '... and then eight requests are all');
$page->do(press => 'First steps');
has('.first', qr/done\s+Add a second factor/, '... until somebody wants it back');
$page->do(key => 'g', 'u');
$c->shows('Users');
$page->do(key => '/');
ok(wait_for(sub { $page->do(count => 'dialog input') == 1 }), 'the palette');
$page->do(write => 'overv');
ok(wait_for(sub { $page->do(count => '[role=option]') == 1 }), '... knows it');
$page->do(key => 'Enter');
$c->shows('Overview');


# --- a tenant in which something was ----------------------------------------------------

# The owner has come by an invitation, which is none of somebody else.

$s->sql(<<"EOT");
INSERT INTO svc.invitation (tenant_id, id, email, email_key, role, group_ids, days, token_hash,
                            expires_at, accepted_at)
VALUES ('$acme->{id}', gen_random_uuid(), 'ada\@acme.test', 'ada\@acme.test', 'owner', '{}', 7,
        sha256('x'), now(), now())
EOT
$c->opens('', 'Overview');
$page->do(press => 'First steps') if $page->do(count => '.first') == 0;
has('.first', qr/to do\s+Invite somebody/, 'an invitation of oneself invites nobody');
$page->do(follow => 'Invite a second owner');
$c->shows('Invite people');
ok(wait_for(sub { $page->do(count => '[name=role] option[value=owner]') == 1 }), 'of a role');
is($page->do(run => 'document.querySelector("[name=role]").value'), 'owner', '... which is chosen');

my $webhook = $s->sql("SELECT gen_random_uuid()");
my $client = application($acme, name => 'Chat')->{clientId};

$s->sql(<<"EOT");
INSERT INTO svc.stat_day (tenant_id, day, shard, success, failure, denied, active_users, new_users)
SELECT '$acme->{id}', (now() AT TIME ZONE 'UTC')::date - i, 7, i % 7 * 40, i % 5, 1, i % 7 * 30,
       i % 3
  FROM generate_series(0, 89) i;
INSERT INTO svc.incident (tenant_id, id, type, subject, severity, title, details, count,
                          last_seen_at)
VALUES ('$acme->{id}', gen_random_uuid(), 'credential_stuffing', '192.0.2.7', 'high', 'Many',
        '{"ip": "192.0.2.7"}', 1, now());
INSERT INTO svc.scim_target (tenant_id, client_id, name, base_url, token, next_at, sync_status)
VALUES ('$acme->{id}', '$client', '$HOSTILE', 'https://x.test', '\\x00',
        now() + interval '1 year', 'failing');
INSERT INTO svc.audit_event (tenant_id, action, outcome, target_type, target_id, target_name)
SELECT '$acme->{id}', 'webhook.delivery_failed', 'failure', 'webhook',
       CASE WHEN i > 6 THEN '$webhook' ELSE gen_random_uuid()::text END, '$HOSTILE'
  FROM generate_series(1, 8) i;
EOT

$c->opens('', 'Overview', 'no view named is the overview');
has('.trouble', qr/open\s+1 incident that nobody has acknowledged/, 'an incident is first');
has('.trouble', qr/failing\s+<img.*⟨U\+202E⟩.*refuses/s,
    'a target that fails, whatever its name');
is($page->do(count => '.trouble li'), 8, 'a webhook is there once');
is($page->do(attribute => '.trouble li:nth-child(3) a', 'href'),
   "/console/webhooks/$webhook/deliveries", '... and leads to its deliveries');
has('.trouble li:last-child', qr/And 2 more/, '... with five at most');
has('.beside > :first-child', qr/Succeeded\s+[\d,]+\s+Failed\s+60/,
    'a month of sign-ins is summed up');

my $from = $s->sql("SELECT (now() AT TIME ZONE 'UTC')::date - 29");
my $log = "/console/audit?outcome=failure&action=user.login_failed";

is_deeply([ map { $page->do(attribute => ".figures > div:nth-child($_->[0]) a >> nth=$_->[1]", 'href') }
            [ 2, 0 ], [ 3, 0 ], [ 3, 2 ] ],
          [ ("$log&from=${from}T00%3A00%3A00.000Z") x 2,
            "$log&q=%22reason%22%3A+%22policy%22&from=${from}T00%3A00%3A00.000Z" ],
          '... and leads to what was refused');
is($page->do(count => '.chart:has(.failure) svg a'), 30, '... with a day each');
is_deeply($page->do('axe'), [], '... for everybody');
cmp_ok((asked())[1], '<=', 8, '... eight requests at once');

$page->do(follow => '7 days');
ok(wait_for(sub { $page->do(count => '.chart:has(.failure) svg a') == 7 }), 'or a week');
like($page->do('url'), qr/\?days=7\z/, '... which is in the address');
$page->do(run => 'document.querySelector(".chart svg a[tabindex=\"0\"]").focus()');
$page->do(key => 'ArrowLeft');
is($page->do(run => 'document.querySelector(".chart .told").innerText'),
   $page->do(run => 'document.activeElement.ariaLabel'), 'by arrows it goes from day to day');
$page->do(key => 'Enter');
$c->shows('Audit', 'a day leads to its log');
like($page->do('url'), qr/\?from=(\S+)T00%3A00%3A00\.000Z&to=(?!\1)\S+T00%3A00%3A00\.000Z\z/,
     '... of UTC');


# --- a part that fails ------------------------------------------------------------------

$page->do(run => <<'EOT');
(() => {
  const answer = { error: { code: "unavailable", message: "No." } };
  const before = fetch;

  window.fetch = (url, ...rest) => url.includes("growth-stats")
    ? Promise.resolve(new Response(JSON.stringify(answer), { status: 503 }))
    : before(url, ...rest);
})()
EOT
$page->do(key => 'g', 'o');
$c->shows('Overview', 'two keys lead there, and a part fails');
has('.beside .problem', qr/cannot answer just now/, '... says so in its place');
is($page->do(count => '.chart'), 1, '... and takes no other with it');
is_deeply($page->do('axe'), [], '... for everybody');

for my $width (320, 1280) {
    $page->do(resize => $width, 900);
    $c->opens('', 'Overview', "at $width pixels");
    $c->fits;
}


# --- whoever may do less ----------------------------------------------------------------

$c->admin(POST => '/roles', { name => 'Inviter', key => 'inviter',
                              permissions => [ 'members:manage' ] });
$c->user('bob', role => 'inviter');
$page->do(go => "$c->{origin}/nothing");
$page->do('forget');
$c->sign_in('bob');
$c->shows('Overview', 'somebody with one permission');
has('.beside', qr/No invitation is pending/, '... sees what it is for');
lacks(qr/Sign-ins|Needs attention/, '... and of the rest nothing');
has('.first', qr/of 3 are done/, '... nor of the first steps');
is_deeply($page->do('faults'), [], '... with no error');


# --- its size ---------------------------------------------------------------------------

my $bytes = 0;

$bytes += length Compress::Zlib::memGzip(slurp($s->root . "/conf/www/svc/$_"))
    for qw(ui/chart.js ui/style.js console/overview.js console/overview.sheet.js
           console/steps.js console/overview.de.js);
cmp_ok($bytes, '<=', 12_000, 'it is small');
diag("$bytes bytes") if $ENV{SVC_TEST_SHOW};

done_testing;
