#!/usr/bin/perl

# Shows what POST /v1/admin/domains/{domain}/verify does with all that DNS may answer,
# and with clients that leave meanwhile.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Dns;
use SvcTest::Process qw(slow wait_for signal_pid);

my $BROKEN = $ENV{SVC_TEST_BROKEN} // 120;      # malformed packets
my $TXT = '_svc-challenge';
my $SILENT = { silence => 30 };

my $s = SvcTest->new(workers => 1, svc => { svc_sign_in => 'on' });
my $dns = SvcTest::Dns->new($s);

$s->start;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;


# Sets or deletes the counters of attempts: a test may verify more often than is
# allowed.

sub limits {
    my ($text) = @_;

    $s->redis->command($text =~ s/KEY/svc.rate.d.t.$_/r)
        for map { $_->{id} =~ tr/-//dr } $acme, $globex;
}

limits('SET KEY -1000000 EX 3600');


sub add {
    my ($name, $tenant) = @_;
    my $r = ($tenant // $acme)->admin(POST => '/domains', { domain => $name });

    is($r->status, 201, "$name is added") or diag($r->body);

    return $r->json->{verification}{value};
}

sub verify {
    my ($name, $tenant) = @_;

    return ($tenant // $acme)->admin(POST => "/domains/$name/verify");
}


# begin() starts to verify a domain; begin_to_ask() also waits until DNS has the query.

sub begin {
    my ($name, $tenant) = @_;

    return $s->begin(POST => "/v1/admin/domains/$name/verify",
                     [ Authorization => 'Bearer '
                                        . ($tenant // $acme)->{api_token},
                       Connection => 'close' ]);
}

sub begin_to_ask {
    my ($name, $tenant) = @_;

    my $n = () = $dns->queries("$TXT.$name");
    my $c = begin($name, $tenant);

    ok((wait_for { $dns->queries("$TXT.$name") > $n }), "DNS is asked for $name");

    return $c;
}

sub verified {
    my ($name) = @_;

    return scalar $s->sql('SELECT count(*) FROM svc.domain WHERE domain ='
                          . " '$name' AND verified_at IS NOT NULL");
}


# --- what DNS says ---------------------------------------------------------------

my $value = add('a.example');

my $other = join '', reverse split //, $value;
my @short = $value =~ /\A(.{20})(.*)\z/;

for ([ 'no such name', { rcode => 'NXDOMAIN' }, qr/has no TXT record yet\./ ],
     [ 'nothing', {}, qr/no TXT/ ],
     [ 'an alias of nothing', { cname => [ 'b.example' ] }, qr/no TXT/ ],
     [ 'a loop of aliases', { cname => [ 'b.example', 'c.example', 'b.example' ] },
       qr/no TXT/ ],
     [ 'another text', { txt => [ [ 'v=spf1 -all' ] ] },
       qr/^\Q$TXT.a.example has other TXT records: "v=spf1 -all".\E$/ ],
     [ 'an empty text', { txt => [ [ '' ] ] }, qr/other TXT records: ""\./ ],
     [ 'the value with a blank', { txt => [ [ "$value " ] ] }, qr/"svc-verify=/ ],
     [ 'in another case', { txt => [ [ uc $value ] ] }, qr/"SVC-VERIFY=/ ],
     [ 'the value in two records', { txt => [ map { [ $_ ] } @short ] },
       qr/: "svc-verify=\S+", "\S+"\.$/ ],
     [ 'five', { txt => [ map { [ "t$_" ] } 1 .. 5 ] },
       qr/records: "t1", "t2", "t3" and 2 more\./ ],
     [ 'what nobody should see', { txt => [ [ "<b>\e[2J\0\xff\"\\" ] ] },
       qr/records: "<b>\?\[2J\?\?\?\\"\./ ],
     [ 'a long one', { txt => [ [ ('x' x 255) x 8 ] ] }, qr/: "x{48}\.\.\."\.$/ ],
     [ '500 records', { txt => [ map { [ "t$_" ] } 1 .. 500 ] },
       qr/"t3" and 97 more/ ],
     [ 'the value behind 100 others', { txt => [ (map { [ "t$_" ] } 1 .. 100),
                                                 [ $value ] ] }, qr/and 97 more/ ],
     [ '64 KB', { txt => [ map { [ ('y' x 255) x 4 ] } 1 .. 62 ] },
       qr/and 59 more/ ])
{
    my ($name, $what, $message) = @$_;

    $dns->set("$TXT.a.example" => $what);

    my $r = verify('a.example');

    admin_error($r, 400, 'domain_verification_failed', $name);
    like($r->json->{error}{message}, $message, 'and says what it found');
    cmp_ok(length $r->json->{error}{message}, '<', 500, 'shortly');
}

for my $rcode (qw(SERVFAIL REFUSED NOTIMP FORMERR)) {
    $dns->set("$TXT.a.example" => { rcode => $rcode });
    admin_error(verify('a.example'), 503, 'unavailable', $rcode);
}

is(verified('a.example'), 0, 'none of it verifies');
$dns->set("$TXT.a.example" => { txt => [ [ $value ] ] });
admin_error(verify('a.example', $globex), 404, undef, 'another tenant\'s');

my $r = verify('A.EXAMPLE');

is($r->status, 200, 'the value') or diag($r->body);
is_deeply([ @{ $r->json }{qw(domain status verified)} ],
          [ 'a.example', 'verified', JSON::PP::true ], 'verifies it');
like($r->json->{verifiedAt}, qr/\A\d{4}-/, 'now');
is_deeply([ $s->sql('SELECT action, target_type, outcome FROM svc.audit_event'
                    . " WHERE target_id = 'a.example' ORDER BY id") ],
          [ map { [ "domain.$_", 'domain', 'success' ] } qw(added verified) ],
          'which is audited');

my $asked = () = $dns->queries("$TXT.a.example");

is(verify('a.example')->body, $r->body, 'once more is the same');
is(scalar(() = $dns->queries("$TXT.a.example")), $asked, 'and asks nobody');

for ([ 'several strings', sub { { txt => [ [ $_[0] =~ /(.{1,7})/g ] ] } } ],
     [ 'a chain of aliases', sub { { cname => [ map { "c$_.example" } 1 .. 8 ],
                                     txt => [ [ $_[0] ] ] } } ],
     [ 'one of many', sub { { txt => [ (map { [ "t$_" ] } 1 .. 99), [ $_[0] ] ] } } ],
     [ 'by TCP', sub { { truncate => 1, txt => [ [ $_[0] ] ] } }, 'udp tcp' ],
     [ 'by TCP in pieces', sub { { truncate => 1, piece => 1,
                                   txt => [ [ $_[0] ] ] } }, 'udp tcp' ],
     [ 'a slow server', sub { { silence => 0.3, txt => [ [ $_[0] ] ] } } ])
{
    my ($name, $what, $transports) = @$_;
    my $domain = ($name =~ tr/a-zA-Z//cdr) . '.example';

    $dns->set(lc "$TXT.$domain" => $what->(add($domain)));
    is(verify($domain)->status, 200, "$name verifies");
    is(join(' ', $dns->queries(lc "$TXT.$domain")), $transports, 'asked so')
        if $transports;
}

my $long = 'l.' x 124 . 'example';

$long = substr $long, 2 while length $long > 253;

add($long);
$r = verify($long);
admin_error($r, 400, 'domain_verification_failed',
            'a name that leaves no room for the record\'s');
like($r->json->{error}{message}, qr/longer/, 'which it says');


# --- answers to another query, and none ------------------------------------------

my %nobody = (id => { other_id => 1 }, port => { other_port => 1 },
              question => { other_question => 1 }, nobody => $SILENT);

for my $name (keys %nobody) {
    my $text = add("$name.example");

    $dns->set("$TXT.$name.example" => { %{ $nobody{$name} },
                                        txt => [ [ $text ] ] });
}

my %waits = map { $_ => begin("$_.example") } keys %nobody;

for my $name (sort keys %waits) {
    admin_error($waits{$name}->read, 503, 'unavailable', "of another $name");
    is(verified("$name.example"), 0, 'it verifies nothing');
}

ok($s->nginx->said(qr/\[warn\].*TXT records of "$TXT\.nobody\.example"/),
   'the error log tells');


# --- beside a server that is silent ---------------------------------------------

my $c = begin_to_ask('nobody.example');
my $gets = $s->connection;
my $meanwhile = 0;

while ($meanwhile < 50) {
    my $answer = $gets->request(GET => '/v1/admin/domains?limit=1',
        [ Authorization => "Bearer $acme->{api_token}" ]);

    $answer && $answer->status == 200 or fail("a GET: " . $gets->error);
    last if !$c->silent(0);
    $meanwhile++;
}

cmp_ok($meanwhile, '>=', 10, 'others are answered while the verify waits');
is($c->read->status, 503, 'and then is answered');


# --- malformed packets -----------------------------------------------------------

my $broken = add('broken.example');
my %status;

$dns->set("$TXT.broken.example" => { broken => 1, txt => [ [ "x$broken" ],
                                                           [ 'two', 'strings' ] ] });

while ($BROKEN > 0) {
    my @c = map { begin('broken.example') } 1 .. ($BROKEN < 60 ? $BROKEN : 60);

    $status{ $_->read->status }++ for @c;
    $BROKEN -= @c;
}

note(join ', ', map { "$_: $status{$_}" } sort keys %status);
ok(!(grep { !/^(400|503)$/ } keys %status), 'malformed packets');
is(verified('broken.example'), 0, 'verify nothing');
$s->unharmed(\@workers, 'malformed packets');


# --- clients that leave ------------------------------------------------------------

# A place is free again when c-ares has given up.

add('quick.example');
$dns->set("$TXT.quick.example" => {});

sub wait_places {
    ok((wait_for { verify('quick.example')->status == 400 }), 'places are free');
}

my $before = () = $dns->queries("$TXT.nobody.example");
my @leave = map { begin('nobody.example') } 1 .. 64;

ok((wait_for { $dns->queries("$TXT.nobody.example") >= $before + 64 }),
   'many wait');
$_->abort for splice @leave, 0, 60;
admin_error(verify('quick.example'), 503, 'unavailable', 'one too many');
is($s->health->{status}, 200, 'others go on');
is($_->read->status, 503, 'who has stayed is answered') for @leave;
wait_places();
$s->unharmed(\@workers, 'clients that leave');

my $slow = add('slow.example');

# Runs code when DNS has been asked, and before it answers.

sub meanwhile {
    my ($code) = @_;

    $dns->set("$TXT.slow.example" => { held => 1 });

    my $c = begin_to_ask('slow.example');

    $code->();
    $dns->set("$TXT.slow.example" => { txt => [ [ $slow ] ] });

    return $c;
}

$c = meanwhile(sub { $s->sql("DELETE FROM svc.domain WHERE domain = 'slow.example'") });
is($c->read->status, 404, 'deleted while it was looked for');

$slow = add('slow.example');
$c = meanwhile(sub {
    $s->sql("UPDATE svc.domain SET token = DEFAULT WHERE domain = 'slow.example'");
});
admin_error($c->read, 400, 'domain_verification_failed', 'its value has changed');
is(verified('slow.example'), 0, 'so it is not verified');

$s->sql("UPDATE svc.domain SET token = '@{[ $slow =~ s/.*=//r ]}'"
        . " WHERE domain = 'slow.example'");
$c = meanwhile(sub { $s->pg->stop('QUIT') });
is($c->read->status, 503, 'PostgreSQL goes while it was looked for');
$s->pg->launch;
$s->wait_healthy;
is(verified('slow.example'), 0, 'nothing is written');

$c = meanwhile(sub { $s->reload(linger => 1) });
is($c->read->status, 200, 'a reload lets it be answered');
is(verified('slow.example'), 1, 'and verified');


# --- two tenants ---------------------------------------------------------------------

my %both = map { $_->{slug} => add('both.example', $_) } $acme, $globex;

$dns->set("$TXT.both.example" => { txt => [ map { [ $_ ] } values %both ] });
is(verify('both.example')->status, 200, 'the first of two tenants');
admin_error(verify('both.example', $globex), 409, 'conflict', 'the other one');
admin_error($globex->admin(POST => '/domains', { domain => 'a.example' }), 409,
            'conflict', 'one that another tenant has verified');
is($acme->admin(DELETE => '/domains/both.example')->status, 204,
   'when the first one gives it up');
is(verify('both.example', $globex)->status, 200, 'the other one gets it');
is(scalar @{ $globex->admin(GET => '/domains')->json->{domains} }, 1, 'its own');

for my $round (1 .. 5) {
    my $name = "race$round.example";
    my @value = map { add($name, $_) } $acme, $globex;

    $dns->set("$TXT.$name" => { silence => 0.3, txt => [ map { [ $_ ] } @value ] });
    my @c = map { $s->begin(POST => "/v1/admin/domains/$name/verify",
                            [ Authorization => "Bearer $_->{api_token}" ]) }
            $acme, $globex;

    my @got = map { $_->read } @c;
    is_deeply([ sort map { $_->status } @got ], [ 200, 409 ], 'two at the same time')
        or diag(map { $_->body . "\n" } @got);
}


# --- what a verified domain changes ------------------------------------------------

sub options {
    my ($host) = @_;

    return $s->http(GET => '/v1/auth/options', [ Host => $host ]);
}

sub passkey_site {
    return $s->http(POST => '/v1/auth/passkey/options', [ Host => 'A.example' ],
                    {})->json->{publicKey}{rpId};
}

is(options('a.example')->json->{tenant}{slug}, 'acme', 'sign-in at its Host');
is(passkey_site(), 'a.example', 'with passkeys of its own');
is(options('A.example:443')->status, 200, 'in any case, with a port');
is($s->http(GET => '/v1/tenants/a.example/branding')->json->{slug}, 'acme',
   'branding by its name');
is($acme->admin(DELETE => '/domains/a.example')->status, 204, 'removed');
is(options('a.example')->status, 400, 'no sign-in there');
is($s->http(GET => '/v1/tenants/a.example/branding')->status, 404, 'no branding');


# --- by a session --------------------------------------------------------------------

my @people = map { SvcTest::Browser->new($s, tenant => 'acme') } 1, 2;
my ($ada, $eve) = @people;

$s->secret($PASSWORD);
with_password($s, $acme, userName => "$_->[0]\@acme.test", role => $_->[1])
    for [ ada => 'owner' ], [ eve => 'member' ];
is($ada->login('ada@acme.test')->status, 200, 'an owner signs in');
is($eve->login('eve@acme.test')->status, 200, 'a member does');

admin_error($eve->post('/v1/admin/domains', { domain => 'eve.example' }), 403,
            'forbidden', 'a member adds none');
$r = $ada->post('/v1/admin/domains', { domain => 'ada.example' });
is($r->status, 201, 'an owner does');
admin_error($eve->post('/v1/admin/domains/ada.example/verify'), 403, 'forbidden',
            'a member verifies none');
admin_error($ada->post('/v1/admin/domains/ada.example/verify', undef,
                       'X-CSRF-Token' => undef), 403, 'csrf_failed',
            'nobody without the CSRF token');

$dns->set("$TXT.ada.example" => { silence => 1,
                                  txt => [ [ $r->json->{verification}{value} ] ] });
$s->sql('UPDATE svc.session SET reauth_at = NULL');
admin_error($ada->post('/v1/admin/domains', { domain => 'x.example' }), 403,
            'step_up_required', 'to add one takes a fresh factor');
admin_error($ada->ask(DELETE => '/v1/admin/domains/ada.example'), 403,
            'step_up_required', 'so does to remove one');
is($ada->post('/v1/admin/domains/ada.example/verify')->status, 200,
   'but not to verify one');
is($s->sql("SELECT u.user_name FROM svc.audit_event e JOIN svc.user_account u"
           . " ON u.id::text = e.actor_id WHERE e.action = 'domain.verified'"
           . " AND e.target_id = 'ada.example' AND e.actor_type = 'user'"),
   'ada@acme.test', 'in the user\'s name');


# --- how often a domain is verified ------------------------------------------------

limits('DEL KEY');

my $audited = 0;

for my $store ('Redis', 'memory') {
    my @status = map { $acme->admin(POST => '/domains/quick.example/verify') }
                 1 .. 11;

    is_deeply([ map { $_->status } @status ], [ (400) x 10, 429 ],
              "ten a minute, by $store");
    admin_error($status[-1], 429, 'rate_limited', 'then wait');
    cmp_ok($status[-1]->header('Retry-After'), '<=', 60, 'so long');
    is($acme->admin(POST => '/domains/quick.example/verify')->status, 429, 'still');
    is_deeply([ $acme->events_where("action = 'rate_limit.exceeded'"
                                    . " AND outcome = 'failure' AND actor_type = 'apiToken'"
                                    . ' AND actor_id IS NOT NULL AND target_type IS NULL',
                                    'details') ],
              [ ([ { family => 'domain', key => 'tenant', limit => 10, window => 60 } ])
                x ++$audited ],
              'audited, once in a window');
    is($globex->admin(POST => '/domains/both.example/verify')->status, 200,
       'another tenant need not');

    $s->redis->stop if $store eq 'Redis';
}

$s->redis->launch;


# --- the worker quits --------------------------------------------------------------

add('end.example', $globex);
$dns->set("$TXT.end.example" => $SILENT);

my $node = $s->node(svc => { svc_resolver => "127.0.0.1:$dns->{port}" });
my @as = ([ Authorization => "Bearer $globex->{api_token}" ], undef,
          port => $node->{port});
my $asked_end = () = $dns->queries("$TXT.end.example");

$c = $s->begin(POST => '/v1/admin/domains/end.example/verify', @as);
ok((wait_for { $dns->queries("$TXT.end.example") > $asked_end }), 'at a node');
$node->stop;
is($c->read, undef, 'which ends at once: no answer');

$c = begin_to_ask('end.example', $globex);
signal_pid('QUIT', $s->nginx->pid);
is($c->read->status, 503, 'a worker that quits answers who waits');

$s->done(allow => [ qr/Redis/ ]);

done_testing();
