#!/usr/bin/perl

# The audit log in the console: what was done to somebody and by whom, by the request, as a
# file, and live, whatever breaks off; and incidents.

use strict;
use utf8;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD);
use SvcTest::Console;
use SvcTest::Process qw(wait_for);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = SvcTest->new(workers => 1);
my $c = SvcTest::Console->new($s);
my ($page, $acme) = @$c{qw(page acme)};

my $HOSTILE = '<img src=x onerror=alert(1)>';
my $STATUS = '.live [role=status]';

my $ada = $s->sql("SELECT id FROM svc.user_account WHERE user_name = 'ada\@acme.test'");


sub group { return $c->admin(POST => '/groups', { name => $_[0] })->{id} }
sub rows { return $page->do(count => 'main tbody tr') }
sub text { return $page->do(text => 'main tbody') }
sub asked { return wait_for(sub { $page->do(count => 'dialog') == 1 }) }
sub gone { return wait_for(sub { $page->do(count => 'dialog') == 0 }) }
sub leases { return scalar $s->sql('SELECT count(*) FROM svc.audit_stream') }
sub turn { $page->do(click => '[role=switch]') }


sub comes {
    my ($name, $what) = @_;

    ok(wait_for(sub { rows() > 0 && index(text(), $name) >= 0 }), $what // "$name appears")
        or diag($page->do(text => 'main'));
}


sub says {
    my ($like, $name) = @_;

    ok(wait_for(sub { $page->do(count => $STATUS) == 1 && $page->do(text => $STATUS) =~ $like }),
       $name) or diag($page->do(text => 'main'));
}


sub live {
    my ($query) = @_;

    $c->opens("audit?live=on$query", 'Audit');
    says(qr/^Live: /, 'live');
}


# --- to whom and by whom ----------------------------------------------------------------

my $bob = $c->user('bob')->{id};
my $staff = group('Staff');

$c->admin(POST => "/groups/$staff/members", { userIds => [ $bob ] });
$c->admin(POST => "/users/$bob/suspend", {});
$s->sql("INSERT INTO svc.audit_event (tenant_id, action, actor_type, actor_id)"
        . " VALUES ('$acme->{id}', 'passkey.used', 'user', '$bob')");

my %shows = (about => [ qr/user\.suspended/, qr/passkey|member_added/ ],
             by => [ qr/passkey\.used/, qr/suspended|member_added/ ],
             named => [ qr/passkey.*suspended.*group\.member_added/s, qr/^nothing$/ ]);

$c->opens("users/$bob/activity", 'Bob', 'what was done to somebody');

for my $way (qw(about by named)) {
    my ($yes, $no) = @{ $shows{$way} };

    $page->do(run => <<"EOT");
(select => {
  select.focus();
  select.value = "$way";
  select.dispatchEvent(new Event("change"));
})(document.querySelector("main select"))
EOT
    ok(wait_for(sub { $page->do(count => '.stale') == 0 && rows() > 0 && text() =~ $yes }),
       "... $way") or diag($page->do(text => 'main'));
    unlike(text(), $no, '... and that alone');
}

is($page->do(run => 'document.activeElement.tagName'), 'SELECT', '... where the focus stays');

# Why a sign-in was refused, and by whom something was done, whom the log knows by the id.

$s->sql(<<"EOT");
INSERT INTO svc.audit_event (tenant_id, action, outcome, actor_type, actor_id, target_type,
                             target_id, details)
VALUES ('$acme->{id}', 'user.login_failed', 'failure', 'user', '$bob', 'user', '$bob',
        '{"reason": "risk", "score": 45, "signals": ["new_country"]}'),
       ('$acme->{id}', 'user.login_failed', 'failure', 'user', '$bob', 'user', '$bob',
        '{"reason": "of <b>tomorrow</b>"}'),
       ('$acme->{id}', 'mfa.challenge_failed', 'failure', 'user', '$bob', 'user', '$bob',
        '{"method": "totp"}')
EOT
$c->opens("users/$bob/activity?show=by", 'Bob', 'what was refused');
$c->sees('main tbody tr', qr/Authenticator app: what was presented was wrong/,
         '... is said in words');
like(text(), qr/The risk policy has denied it\. A country that is new/, '... with what was unusual');
like(text(), qr/of <b>tomorrow<\/b>/, '... or as it is');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do('calls');
$c->to(audit => 'Audit');
$c->sees('main tbody tr', qr/Bob bob\@acme\.test/, 'the log names who did it');
is_deeply([ grep { $_ ne 'GET /v1/admin/tenant' } @{ $page->do('calls') } ],       # of the logo
          [ 'GET /v1/admin/audit' ], '... and knows it by now');
$page->do('reload');
$c->sees('main tbody tr', qr/Bob bob\@acme\.test/, '... or asks');
is(scalar(grep { m{/admin/names} } @{ $page->do('calls') }), 1, '... once for all rows');
$page->do(run => '[...document.querySelectorAll("tbody tr")].find(row =>'
                 . ' row.innerText.includes("risk policy")).querySelector("button").click()');
asked();
$c->has('dialog', qr/Why\s+The risk policy has denied it.*risk\n/s, 'the details have it, and the code');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(press => 'Close');
gone();
$c->opens("groups/$staff/activity", 'Staff');
is($page->do(count => 'main option'), 2, 'a group does nothing itself');


# --- an entry, its request, and files ---------------------------------------------------

$c->opens('audit?action=group.created', 'Audit');
is(rows(), 1, 'one entry');
$page->do(press => 'Details');
ok(asked(), '... has details');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(press => 'All of the same request');
ok(gone(), '... and leads to its request');

my ($request) = $page->do('url') =~ /\?requestId=([0-9a-f]{32})\z/;

ok(wait_for(sub { $page->do(count => '.stale') == 0 && rows() == 1 }), '... which did that');
$page->do(key => 'Control+k');
asked();
$page->do(write => $request);
ok(wait_for(sub { $page->do(count => '[role=option]') == 1 }), "the palette knows a request's id");
$page->do(key => 'Enter');
ok(wait_for(sub { $page->do('url') =~ /\/audit\?requestId=$request\z/ && rows() == 1 }),
   '... and leads there');
$page->do(press => 'Details');
asked();
$page->do(press => 'All about the same');
ok(wait_for(sub { $page->do('url') =~ /\?targetId=$staff\z/ && rows() == 2 }),
   'all about the same is exact');
$c->opens('audit?action=group.created', 'Audit');
$page->do(press => 'Details');
asked();
$page->do(press => 'Open by itself');
$c->shows('group.created');
like($page->do('url'), qr{/audit/\d+\z}, 'an entry has an address of its own');
like($page->do(text => 'main'), qr/\Q$staff\E.*All about the same/s, '... where all of it is');
$c->opens('audit?requestId=none', 'Audit');
like($page->do(text => '.problem'), qr/"requestId" must be 32 digits/, 'no id of a request');
$c->opens('audit?live=on&q=staff&offset=50', 'Audit');
is_deeply([ map { $page->do(attribute => "main .head a:nth-of-type($_)", 'href') } 1, 2 ],
          [ map { "/v1/admin/audit/export?q=staff&format=$_" } qw(csv json) ],
          'a file has what the filters let through');
like($page->do(download => 'Export as CSV'), qr/,group\.created,success,/, '... and is one');


# --- live -------------------------------------------------------------------------------

live('&q=group.');
group($HOSTILE);
comes($HOSTILE, 'what another client does appears');
is($page->do(count => 'main img'), 0, '... as text');

# Names that the API would refuse are of other sources.

$s->sql(<<"EOT");
INSERT INTO svc.audit_event (tenant_id, action, actor_type, actor_id, actor_name, target_type,
                             target_id, target_name, details)
VALUES ('$acme->{id}', 'group.$HOSTILE', 'user', '$HOSTILE', 'Bi' || chr(8238) || 'di' || chr(7),
        'group', chr(8238) || repeat('id', 100), repeat('Long', 50),
        jsonb_build_object('$HOSTILE', chr(8238)))
EOT
group('Second');
comes("Bi\x{27e8}U+202E\x{27e9}di\x{27e8}U+0007\x{27e9}", 'signs that nobody sees are shown');
is($page->do(count => 'main img'), 0, '... and markup is text everywhere');
$page->do(run => 'document.querySelectorAll("main tbody .acts button")[1].click()');
asked();
like($page->do(text => 'dialog'), qr/^group\.\Q$HOSTILE\E.*\x{27e8}U\+202E\x{27e9}idid.*\\u202e/s,
     '... as in the details');
is($page->do(count => 'img'), 0, '... too');
$page->do(press => 'Close');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(resize => 320, 700);
$c->fits('... on a small screen');
$page->do(resize => 1280, 900);
$c->fits;
$c->admin(POST => '/roles', { name => 'Other', key => 'other', permissions => [ 'audit:view' ] });
group('Third');
comes('Third');
unlike(text(), qr/role\.created/, 'a filter holds for what comes');
is($page->do(text => 'main tbody tr:first-child td:nth-child(2)'), 'group.created',
   'the newest is first');

my $before = rows();

$page->do(press => 'Pause');
group('Fourth');
ok(wait_for(sub { $page->do(text => '.live button') eq 'Go on (1 new)' }),
   'a pause says how much has come');
is(rows(), $before, '... and shows nothing of it');
$page->do(press => 'Go on (1 new)');
comes('Fourth', 'it goes on');

# The page does not wait for seconds before it tries again, or says something.

sub hurries {
    my ($yes) = @_;

    $page->do(run => 'window.later ??= setTimeout; window.setTimeout = '
                     . ($yes ? '(action, ms, ...rest) =>'
                               . ' window.later(action, ms > 500 && ms < 20000 ? 10 : ms, ...rest)'
                             : 'window.later'));
}

hurries(1);

# A page that nobody sees has no stream, and loses nothing.

sub hidden {
    my ($is) = @_;

    $page->do(run => "Object.defineProperty(document, 'hidden', { value: $is, configurable: true })"
                     . " && document.dispatchEvent(new Event('visibilitychange'))");
}

hidden('true');
ok(wait_for(sub { leases() == 0 }), 'a hidden page has no stream');
group('Fifth');
hidden('false');
comes('Fifth', '... and gets what it has missed');
$s->reload;
group('Sixth');
comes('Sixth', 'a worker that ends loses nothing');
says(qr/^Live: /, '... and it goes on');

# The event that was seen last is not in the log any more.

$s->sql("DELETE FROM svc.audit_event WHERE target_name = 'Sixth'");
$s->reload;
ok(wait_for(sub { $page->do(count => 'td.between') == 1 }), 'a gap is shown')
    or diag($page->do(text => 'main'));
is_deeply($page->do('axe'), [], '... to everybody');

# A transaction holds up those that come after it.

my $open = $s->connect_as('postgres');

$open->query('BEGIN');
$open->query("INSERT INTO svc.audit_event (tenant_id, action) VALUES ('$acme->{id}', 'group.slow')");
group('Behind');
says(qr/^Waiting for the database/, 'what waits for the database is said');
$open->query('COMMIT');
group('After');
comes('group.slow', '... and comes');
says(qr/^Live: /, '... which is the end of it');

# Many at once.

$s->sql('INSERT INTO svc.audit_event (tenant_id, action, created_at)'
        . " SELECT '$acme->{id}', 'group.many', now() + i * interval '1 ms'"
        . ' FROM generate_series(1, 520) i');
group('Last');
comes('Last', 'many at once');
is(rows(), 500, '... of which the newest are kept');
like($page->do(text => 'main'), qr/newest 500 entries are kept/, '... as is said');


# --- one stream a browser ---------------------------------------------------------------

$page->do(tab => 1);
$c->opens('audit?live=on&q=group.', 'Audit');
says(qr/^Live in another tab/, 'another tab knows of the first one');
is_deeply($page->do('axe'), [], '... for everybody');
is(leases(), 1, '... and has no stream');
$page->do(press => 'Show it here');
says(qr/^Live: /, 'it takes over');
$page->do(tab => 0);
says(qr/^Live in another tab/, 'so that the first one waits');
group('Meanwhile');
$page->do(tab => 1);
comes('Meanwhile', 'the other one has it');
turn();
ok(wait_for(sub { $page->do('url') !~ /live/ }), 'not live any more');
$page->do(tab => 0);
comes('Meanwhile', 'the first one goes on where it was');

# A second factor that was shown in another tab ends the session's old cookie.

$page->do(tab => 1);
is($page->do(run => <<"EOT"), 'proved', 'a proof in another tab');
import("/svc/ui/call.js").then(({ call }) => call({
  method: "POST", path: "/mfa/step-up", body: { password: "$PASSWORD" },
})).then(() => "proved", e => e.code)
EOT
$page->do(tab => 0);
group('Proved');
comes('Proved', '... ends the stream, which goes on by itself');
is_deeply($page->do('faults'), [], 'without a word of the browser');

# A tenant may have ten streams.

hurries(0);
turn();
ok(wait_for(sub { leases() == 0 }), 'no stream');
$s->sql('INSERT INTO svc.audit_stream (tenant_id, id, expires_at)'
        . " SELECT '$acme->{id}', gen_random_uuid(), now() + interval '1 hour'"
        . ' FROM generate_series(1, 10)');
turn();
says(qr/^Ten pages or programs follow/, 'ten streams are as many as may be');
$s->sql('DELETE FROM svc.audit_stream');
$page->do(run => '[...document.querySelectorAll(".live button")]'
                 . '.find(({ innerText }) => /^Try now/.test(innerText))?.click()');
says(qr/^Live: /, '... until one is closed');


# --- the session ends -------------------------------------------------------------------

hurries(1);
$s->sql("UPDATE svc.session SET ended_at = now() WHERE user_id = '$ada'");
group('Unseen');
ok(asked(), 'the end of the session is said');
is_deeply($page->do('axe'), [], '... to everybody');
$page->do(tab => 1);
$c->sign_in('ada');
$page->do(tab => 0);
$page->do(press => 'I have signed in');
comes('Unseen', 'after another sign-in it goes on');
is_deeply($page->do('faults'), [], 'without a word of the browser');


# --- incidents --------------------------------------------------------------------------

$s->sql(<<"EOT");
INSERT INTO svc.incident (tenant_id, id, type, subject, severity, title, details, count,
                          last_seen_at)
VALUES ('$acme->{id}', gen_random_uuid(), 'credential_stuffing', '192.0.2.7', 'high',
        '<b>Many accounts</b>', '{"ip": "192.0.2.7"}', 1, now())
EOT
$s->sql("UPDATE svc.user_account SET role = 'other' WHERE id = '$ada'");
$c->opens('incidents', 'Incidents');
like($page->do(text => 'main tbody'), qr/<b>Many accounts.*tries many accounts/s,
     'an incident says what to do');
$c->fits;
like($page->do(text => 'main'), qr/takes the permission tenant:manage/,
     '... and who may acknowledge it');
is($page->do(count => 'main tbody .acts button'), 0, '... which is not everybody');
$s->sql("UPDATE svc.user_account SET role = 'owner' WHERE id = '$ada'");
$c->opens('incidents', 'Incidents', 'for an owner');
is($page->do(attribute => 'main tbody .acts a', 'href'), '/console/blocks/new?ip=192.0.2.7',
   'an address may be blocked');
$c->leads('Block this address', 'Block an address');
$page->do(press => 'Create');
$c->saying(qr/^192\.0\.2\.7 is blocked/, '... and is');
is(scalar $s->sql('SELECT host(ip) FROM svc.ip_block'), '192.0.2.7', '... that one');
$c->finds('incidents', 'Incidents', '192.0.2.7', qr/<b>Many/, qr/nothing/);
$c->leads('<b>Many accounts</b>');
like($page->do(text => 'main'), qr/tries many accounts.*192\.0\.2\.7.*Status\s+open/s,
     'one by itself');
$c->opens('incidents', 'Incidents', '... among the others');
$page->do(click => 'main tbody .acts button');
ok(asked(), 'it is asked');
$page->do(click => 'dialog .danger');
ok(wait_for(sub { $page->do(text => 'main') =~ /nothing to look after/ }), 'acknowledged');

done_testing;
