#!/usr/bin/perl

# Policies in the console: rules are made, moved and tried, what a change would do is
# shown before it is made, and of two who change the same nobody is overlooked.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Console;
use SvcTest::Documents qw(examples);
use SvcTest::Process qw(slurp wait_for);
use SvcTest::Session qw(add_addresses);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $JSON = JSON::PP->new->canonical->allow_nonref;
my $s = SvcTest->new;
my $c = SvcTest::Console->new($s);
my $page = $c->{page};


# Goes to a control as Tab does, and presses keys there.

sub keys_at {
    my ($selector, @keys) = @_;

    wait_for(sub { $page->do(count => $selector) > 0 });
    $page->do(run => "document.querySelector('$selector').focus()");
    $page->do(key => @keys);
}

# Presses a button without a mouse: that of the dialog above all others, if there is one.

sub presses {
    my ($name) = @_;

    my $button = '[...document.querySelectorAll("button:enabled")]'
                 . ".filter(b => (b.ariaLabel ?? b.innerText.trim()) === \"$name\").at(-1)";

    wait_for(sub { $page->do(run => "Boolean($button)") }) or die "no button: $name\n";
    $page->do(run => "$button.focus()");
    $page->do(key => 'Enter');
}

sub rules {
    return join ' ', map { $_->{name} } @{ $c->admin(GET => '/access-policy')->{rules} };
}


# --- what is worked out in the page -----------------------------------------------------

$c->opens('access', 'Access');
$c->sees('.list.empty', qr/There is no rule/, 'a policy without a rule');

sub in_page {
    my ($module, $expression) = @_;

    return $page->do(run => "import('/svc/$module.js').then(m => $expression)");
}

sub differs {
    my ($before, $after) = map { $JSON->encode($_) } @_;

    return in_page('ui/diff', "m.differences($before, $after).map(d => [d.kind,"
                   . 'd.path.join("."), d.before ?? null, d.after ?? null])');
}

my ($true, $false) = (JSON::PP::true, JSON::PP::false);
my ($a, $b, $x) = map { { name => $_, n => [ 1, 2 ] } } qw(a b x);

is_deeply(differs({ a => 1, b => [] }, { a => 1, b => [] }), [], 'nothing differs');
is_deeply(differs({ a => 1, b => 2 }, { a => $true, c => 3, d => undef }),
          [ [ 'changed', 'a', 1, $true ], [ 'removed', 'b', 2, undef ],
            [ 'added', 'c', undef, 3 ] ], 'members');
is_deeply(differs({ l => [ 1, 2, 3 ] }, { l => [ 4, 3, 2 ] }), [ [ 'changed', 'l', [1], [4] ] ],
          'a set');
is_deeply(differs([ $a, $b ], [ $x, $a, $b ]), [ [ 'added', 'x', undef, $x ] ],
          'what comes first moves nothing');
is_deeply(differs([ $a, $b, $x ], [ $x, $a, { %$b, n => [ 1, 3 ] } ]),
          [ [ 'moved', 'x', 3, 1 ], [ 'changed', 'b.n', [2], [3] ] ],
          'what is moved, and what is changed where it is');
is_deeply(differs({ constructor => 1 }, { toString => 1 }),
          [ [ 'removed', 'constructor', 1, undef ], [ 'added', 'toString', undef, 1 ] ],
          'members that all objects seem to have');
is_deeply(in_page('ui/diff', 'm.differences({ rules: [] }, JSON.parse(`{ "__proto__": 1,'
                  . ' "rules": [{ "name": "defaultAction", "__proto__": 1 }] }`))'
                  . '.map(d => [d.path.join("."), d.entries.join()])'),
          [ [ 'rules.defaultAction', '1' ], [ '__proto__', '' ] ], '... and what is a name');
is_deeply(differs([ $a, $b ], [ $b, $a ]), [ [ 'moved', 'a', 1, 2 ] ], 'two that change places');

sub decides {
    my ($rule, %sign_in) = @_;

    my ($policy, $of) = map { $JSON->encode($_) }
        { rules => [ { name => 'x', action => 'deny', %$rule } ], defaultAction => 'allow' },
        { address => '192.0.2.1', country => '', %sign_in };

    return in_page('console/rules', "(({ at, ...of }) => m.decide($policy,"
                   . "{ ...of, at: new Date(at) }).action)($of)");
}

my $night = { timeWindows => [ { days => ['sat'], start => '22:00', end => '06:00',
                                 timezone => 'Europe/Paris' } ] };

for ([ {}, 'deny' ], [ { enabled => $false }, 'allow' ],
     [ { networks => ['192.0.2.0/25'] }, 'deny' ], [ { networks => ['192.0.2.128/25'] }, 'allow' ],
     [ { networks => ['::ffff:192.0.2.0/120'] }, 'deny' ], [ { networks => ['::/0'] }, 'allow' ],
     [ { networks => ['2001:db8::/33'] }, 'deny', address => '2001:DB8:7::1' ],
     [ { networks => ['2001:db8::/33'] }, 'allow', address => '2001:db8:8000::' ],
     [ { countries => ['fr'] }, 'deny', country => 'FR' ], [ { countries => ['FR'] }, 'allow' ],
     [ { countries => ['ZZ'] }, 'deny' ],
     [ $night, 'deny', at => '2026-11-28T21:00Z' ], [ $night, 'deny', at => '2026-11-29T04:59Z' ],
     [ $night, 'allow', at => '2026-11-29T05:00Z' ], [ $night, 'allow', at => '2026-11-29T21:00Z' ])
{
    my ($rule, $action, %sign_in) = @$_;

    is(decides($rule, at => '2026-11-30T12:00:00Z', %sign_in), $action,
       'decides: ' . $JSON->encode([ $rule, \%sign_in ]));
}

is_deeply([ map { $page->do(run => 'import("/svc/console/rules.js").then(m => m.marksOf('
                                   . $JSON->encode($_) . ').map(r => r.all + " " + r.above))') }
              [ { networks => ['10.0.0.0/8'] }, { networks => [ '10.1.0.0/16', '10.2.0.0/16' ] },
                {}, { countries => ['FR'] } ],
              [ { networks => [ '0.0.0.0/1', '128.0.0.0/1', '::/0' ] }, { countries => ['FR'] } ],
              [ { enabled => $false }, {} ],
              [ { countries => [ 'FR', 'DE' ] }, { countries => ['FR'] }, { countries => ['IT'] } ],
              [ { timeWindows => $night->{timeWindows} }, { networks => ['::1'] } ] ],
          [ [ 'false null', 'false 0', 'true null', 'false 2' ], [ 'true null', 'false 0' ],
            [ 'false null', 'true null' ], [ 'false null', 'false 0', 'false null' ],
            [ 'false null', 'false null' ] ],
          'rules that fit everybody, and that never decide');

is_deeply([ map { $page->do(run => <<"EOT") }
Promise.all(["sentence", "access.en"].map(n => import(`/svc/console/\${n}.js`)))
  .then(([m, w]) => m.sentence($_, w.default.access.say, Date.parse("2026-11-30T13:05:00Z")))
EOT
              '{ action: "mfa" }',
              '{ action: "deny", networks: ["a", "b", "c", "d", "e", "f"],'
              . ' countries: ["FR", "ZZ"] }',
              '{ action: "allow", timeWindows: [{ days: ["sun", "sat"], start: "22:00",'
              . ' end: "06:00", timezone: "Europe/Paris" }] }' ],
          [ 'Ask everybody for a second factor.',
            'Deny sign-ins from a, b, c, d, or 2 more, in France or an unknown country.',
            'Allow sign-ins on Saturday and Sunday from 22:00 to 06:00 of the next day'
            . ' in Europe/Paris (now 14:05).' ],
          'rules in words');

is_deeply(in_page('console/snippets', 'Object.values(m.PIPELINES)'),
          [ map { s/\s+\z/\n/r } examples('yaml', slurp('ngx_svc_admin/policy-as-code.md')) ],
          'the pipelines are those of the document');


# --- rules, by keys alone ---------------------------------------------------------------

$page->do(key => ('Tab') x 4, 'Enter');
$page->do(heading => 'Add a rule');
is_deeply($page->do('axe'), [], 'the dialog of a rule is for everybody');
$page->do(key => split //, 'Office');
$page->do(key => 'Enter');
$c->sees('.rules', qr/Office.*Allow everybody/s, 'a rule is made');

keys_at('#rule-add', 'Enter');
$page->do(type => 'Name', 'Home');
keys_at('#rule-action', 's');
$page->do(type => 'Networks', "127.0.0.0/8\n300.1.1.1");
$page->do(type => 'Countries', 'Atlantis');
keys_at('#rule-name', 'Enter');
$c->sees('dialog .wrong', qr/\A"networks\[1\]" must/, 'what the server refuses is said at its field');
$page->do(type => 'Networks', '127.0.0.0/8');
keys_at('#rule-name', 'Enter');
$c->sees('dialog .wrong', qr/"countries\[0\]" must/, '... of what is no option, too');
$page->do(type => 'Countries', '');
keys_at('#rule-name', 'Enter');
$c->sees('.mark.bad', qr/never decides: rule 1, Office/, 'a rule that never decides is marked');

is($page->do('focus'), 'rule-add', 'the focus is where it was');
$page->do(key => ('Shift+Tab') x 5, 'Alt+ArrowUp');
$c->sees('[role=status].unseen', qr/Home is rule 1 of 2/, 'a rule is moved by keys, which is said');
like($page->do('focus'), qr/\Aname-/, '... and keeps the focus');
$page->do(type => 'Place of Home', '2');
$page->do(key => 'Enter');
$c->sees('[role=status].unseen', qr/Home is rule 2 of 2/, '... or to a place');
$page->do(type => 'Place of Home', '0');
$page->do(key => 'Tab');
is($page->do(count => '.mark.bad'), 0, 'now it decides');

$s->sql('INSERT INTO svc.sign_in (tenant_id, at, ip, country)'
        . " VALUES ('$c->{acme}{id}', now(), '127.0.0.9', 'FR')");
add_addresses($s);

keys_at('.bar .primary', 'Enter');
$c->sees('dialog', qr/Added: Rules › Home.*You: a second factor has to be added.*You have none.*Another outcome: [12]\./s,
     'what changes, what one would have to do, and whose outcome it is');
$c->sees('dialog tbody', qr/127\.0\.0\.9.*France.*Allow.*Second factor/s, '... and how');
like($page->do(text => 'dialog tbody'), qr/\b20\d\d, \d+:\d\d/, '... with the time by the clock');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(key => 'Tab', 'Enter');
is($c->said, 'The policy is in force.', 'it is applied');
is(rules(), 'Home Office', '... as the server has it');


# --- nobody locks oneself out -----------------------------------------------------------

presses("Turn off: $_") for qw(Home Office);
keys_at('#default-action', 'End');
presses('Review …');
$c->sees('dialog [role=alert]', qr/would deny everybody/, 'a lockout is said');
$c->sees('dialog .wrong', qr/the server would refuse it/, '... and that it cannot be applied');
is($page->do(count => 'dialog .primary:disabled'), 1, '... nor is there a way');
presses('Cancel');

$page->do(follow => 'What if');
$page->do(type => 'Address', '203.0.113.7');
$c->sees('main', qr/not applied yet.*Deny No rule fits.*Home – is off/s, 'the draft is tried');
presses('Look at them');
presses('Try 127.0.0.9');
$c->sees('main', qr/Deny No rule fits.*127\.0\.0\.9\s+France/s, '... with a sign-in that there was');
is($page->do(run => 'document.querySelector("#try-address").value'), '127.0.0.9', '... too');
$page->do(run => 'document.querySelector("details:not(.who)").open = true');
$page->do(type => 'An entry, as JSON', $JSON->encode({
    ip => '127.0.0.7', country => 'DE', createdAt => '2026-11-30T10:00:00.123Z', id => '1' }));
is($page->do(run => 'document.querySelector("#try-country").value'), 'DE',
   '... or with an entry of the audit log');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(follow => 'Rules');
presses('Discard');
is($page->do(count => '.bar'), 0, 'what is discarded is as it was');


# --- two at a time ----------------------------------------------------------------------

my $policy = $c->admin(GET => '/access-policy');

presses('Move down: Home');
$c->admin(PUT => '/access-policy', { %$policy, rules => [
    @{ $policy->{rules} }, { name => 'Grace', action => 'allow', countries => ['FR'] } ] });
presses('Review …');
presses('Apply');
$page->do(heading => 'Somebody else has changed this');
$c->sees('dialog .beside', qr/Added: Rules › Grace.*Moved: .*Removed: Rules › Grace/s,
     'theirs is beside, and what mine would make of it');
is_deeply($page->do('axe'), [], '... for everybody');
presses('Keep editing');
is(rules(), 'Home Office Grace', 'nothing was sent');
presses('Apply');
presses('Send mine again');
ok(wait_for(sub { rules() eq 'Office Home' }), 'mine is sent again');

$page->do(follow => 'History');
$c->sees('main .diff', qr/Moved: Rules.*Removed: Rules › Grace/s, 'what two versions differ in');
is_deeply($page->do('axe'), [], '... for everybody');
presses('Restore version 2');
$page->do(heading => 'Restore version 2');
presses('Apply');
ok(wait_for(sub { rules() eq 'Home Office Grace' }), 'a version is restored');
is_deeply($page->do('faults'), [], 'with no error');


# --- risk and passwords -----------------------------------------------------------------

$c->opens('risk', 'Risk');
$page->do(type => 'A second factor from', '90');
$page->do(press => 'Review …');
$c->sees('.field .wrong', qr/"mfaThreshold" must/, 'a threshold that is too high is said at its field');
$page->do(type => 'A second factor from', '30');
$page->do(press => 'Review …');
$c->sees('dialog .diff', qr/A second factor from\s+before:\s*40\s+after:\s*30/, 'what changes');
$c->admin(PUT => '/risk-policy', { denyThreshold => 95 });
$page->do(press => 'Apply');
$c->sees('.beside',
     qr/Denied from.*95\s+What yours would change now\s+Changed: A second\D+40\D+30\s*\z/s,
     'of what another has changed mine would change nothing');
$page->do(press => 'Send mine again');
ok(wait_for(sub { $c->admin(GET => '/risk-policy')->{mfaThreshold} == 30 }), 'it is applied');
is($c->admin(GET => '/risk-policy')->{denyThreshold}, 95, '... and what another has changed stays');

my $staff = $c->admin(POST => '/groups', { name => 'Staff' })->{id};

$c->admin(PUT => "/password-policy/groups/$staff", { minLength => 20, requireDigit => $true });
$c->opens('passwords', 'Passwords');
$page->do(type => 'A sample, not a password of yours', 'Ünsafe');
$c->sees('.checked', qr/\Ano at least 12 characters\z/, 'a sample is judged');
$c->sees('main table', qr/Staff.*at least 20 characters.*has a digit/s, 'a group has its own');
$page->do(press => 'Change the policy of Staff');
$c->sees('dialog', qr/As the tenant's: no.*Empty: as the tenant's, 5/s, '... beside the tenant\'s');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(key => 'Control+a', '1', '0', 'Enter');
$c->sees('dialog:last-of-type', qr/looser|may do less|less than/, 'a looser one is said');
$page->do(press => 'Apply');
ok(wait_for(sub { $c->admin(GET => '/password-policy/groups')->{groups}[0]{minLength} == 10 }),
   'a group has another policy');
$page->do(press => 'Remove the policy of Staff');
keys_at('dialog .danger', 'Enter');
ok(wait_for(sub { $c->admin(GET => '/password-policy/groups')->{total} == 0 }), 'and has none');
is_deeply($page->do('faults'), [], 'with no error');


# --- policy as code, by keys ------------------------------------------------------------

$c->admin(POST => '/roles', { name => 'Old', key => 'old', permissions => ['audit:view'] });
$c->opens('configuration', 'Configuration');
cmp_ok($page->do(run => 'document.querySelector("#nav [aria-current]").getBoundingClientRect()'
                        . '.bottom - innerHeight'),
       '<=', 0, 'the last view of the navigation is seen there');
presses('Download');
presses('Edit below');
ok(wait_for(sub { $page->do(run => 'document.querySelector("#bundle").value') =~ /"old"/ }),
   'what is in force');
keys_at('form .primary', 'Enter');
$c->sees('.plan', qr/No drift/, '... differs in nothing');

$page->do(type => 'Or its text', '{"version":1,}');
keys_at('form .primary', 'Enter');
$c->sees('form .wrong', qr/This is no JSON/, 'what is no JSON is not sent');
$page->do(run => <<'EOT');
(() => {
  const files = new DataTransfer();

  files.items.add(new File(['{"version":1,"roles":[{"key":"new","name":"New","permissions":[]}]}'],
                           "acme.json"));
  document.querySelector("#upload").files = files.files;
  document.querySelector("#upload").dispatchEvent(new Event("change"));
})()
EOT
presses('Discard');             # what was typed before
ok(wait_for(sub { $page->do(run => 'document.querySelector("#bundle").value') =~ /"new"/ }),
   'a file is read');
is($page->do(run => <<'EOT'), 'true', 'nothing can be typed while it is planned');
(async () => {
  document.querySelector("form .primary").click();
  await null;
  await null;

  return String(document.querySelector("#bundle").readOnly);
})()
EOT
$c->sees('.plan',
     qr/1 to create, 0 to change; 1 in force.*create Role new.*These stay.*stays Role old/s,
     'the plan, with what stays apart');
is_deeply($page->do('axe'), [], '... for everybody');
keys_at('.plan input[type=checkbox]', 'Space');
$c->sees('.plan', qr/1 to create, 0 to change, 1 to delete/, 'it is planned again, with deletes');
$c->admin(PUT => '/risk-policy', { mfaThreshold => 20 });

for my $what ('a plan that is stale', 'a new plan') {
    keys_at('.plan .danger', 'Enter');
    $page->do(type => 'Type this to confirm:', 'acme');
    keys_at('dialog .danger', 'Enter');
    $c->sees('.plan', qr/This is a new plan/, "$what is not applied") if $what =~ /stale/;
}

$c->sees('.plan', qr/No drift/, 'the new plan is applied');
is(join(' ', map { $_->{key} } @{ $c->admin(GET => '/roles')->{roles} }), 'new',
   '... as the server has it');
is_deeply($page->do('faults'), [], 'with no error');

done_testing;
