#!/usr/bin/perl

# Deliveries of webhooks: what is sent, which answers acknowledge it, when it is
# sent again, and what a tenant can see of it.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256_hex);
use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use Test::More;

use SvcTest;
use SvcTest::Npm;
use SvcTest::Process qw(slow wait_for);
use SvcTest::Receiver;


my $s = SvcTest->new(workers => 2);
my $receiver = SvcTest::Receiver->new($s);

$s->start;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');


sub failures {
    my ($hook) = @_;

    return map { JSON::PP::decode_json($_->[0]) } $s->sql(<<"EOT");
SELECT details FROM svc.audit_event
WHERE action = 'webhook.delivery_failed' AND outcome = 'failure'
  AND tenant_id = '$hook->{tenant}{id}' AND target_id = '$hook->{id}'
ORDER BY id
EOT
}


sub lines {
    my ($hook) = @_;

    return grep { /\Qto endpoint $hook->{id}\E/ && /\[error\]/ }
           $s->nginx->log_lines;
}


# --- the bytes of a request --------------------------------------------------

my $hook = $receiver->hook($acme, '/ok?a=b%2Fc',
                           events => [ 'user.created', 'user.deleted' ]);
my $user = $acme->new_user;
my ($got) = $receiver->wait($hook, 1);

is("$got->{method} $got->{url} $got->{version}", 'POST /ok?a=b%2Fc 1.1',
   'the request line');

my %header = %{ $got->{header} };

is_deeply($got->{headers},
          [ 'Host', "127.0.0.1:$receiver->{port}{good}",
            'User-Agent', 'Svc-Webhooks/1',
            'Content-Type', 'application/json',
            'X-Svc-Event', 'user.created',
            'X-Svc-Delivery', $header{'x-svc-delivery'},
            'X-Svc-Signature', $header{'x-svc-signature'},
            'Content-Length', length $got->{body} ],
          'all the headers there are');
like($header{'x-svc-delivery'}, qr/^[0-9a-f]{32}$/, 'the id of the delivery');
is($header{'x-svc-signature'},
   'sha256=' . hmac_sha256_hex($got->{body}, $hook->{secret}),
   'the signature, keyed with the text of the secret');
like($got->{tls}, qr/^TLSv1\.[23]$/, 'over TLS');

my $body = JSON::PP::decode_json($got->{body});

is_deeply($body->{data},
          { userId => $user->{id}, email => $user->{userName} }, 'the data');

my @list = $receiver->deliveries($hook, 1);

is_deeply([ map { delete @$_{qw(createdAt durationMs)}; $_ } @list ],
          [ { id => $header{'x-svc-delivery'}, eventId => $body->{id},
              event => 'user.created', attempt => 1,
              outcome => 'acknowledged', status => 200, error => undef } ],
          'the delivery log');

# the endpoints are in the cache now: a new one must still be found

my $second = $receiver->hook($acme, '/ok/second');

$acme->new_user;
my ($other) = $receiver->wait($second, 1);
($got) = ($receiver->wait($hook, 2))[1];

is($other->{body}, $got->{body}, 'two endpoints get the same body');
isnt($other->{header}{'x-svc-delivery'}, $got->{header}{'x-svc-delivery'},
     'with ids of their own');
is($other->{header}{'x-svc-signature'},
   'sha256=' . hmac_sha256_hex($other->{body}, $second->{secret}),
   'and keys of their own');

my $members = $acme->token(kind => 'api', permissions => 'members:manage');

$acme->admin(DELETE => "/users/$user->{id}", undef, undef, $members->{token});
($got) = ($receiver->wait($hook, 3))[2];
is($got->{header}{'x-svc-event'}, 'user.deleted', 'another event');
is_deeply(JSON::PP::decode_json($got->{body})->{data},
          { userId => $user->{id} }, 'with its data');
is($receiver->at($second), 1, 'is not for those who do not take it');

# --- connections -------------------------------------------------------------

my $alone = $receiver->hook($globex, '/ok/alone');

for my $i (1 .. 5) {
    $globex->new_user;
    $receiver->wait($alone, $i);
}

my %used = map { $_->{connection} => 1 } $receiver->at($alone);
is(keys %used, 1, 'a connection is used again');

# --- what counts as an answer, and retries -----------------------------------

my $initech = $s->tenant('initech');

my %hook = map { $_ => $receiver->hook($initech, "/$_") }
           qw(status/204 status/299 status/304 status/404 status/500
              status/503 hints/5 large/200000 fail/1 fail/2 fail/3);

$hook{redirect} = $receiver->hook($initech,
                                  "/redirect/$receiver->{port}{good}");

$initech->new_user;

for my $ok ('status/204', 'status/299', 'hints/5', 'large/200000') {
    my @log = $receiver->deliveries($hook{$ok}, 1);

    is_deeply([ map { $_->{outcome} } @log ], [ 'acknowledged' ],
              "$ok is an answer");
}

my %said = ('status/304' => 'the answer was 304; redirects are not followed',
            'redirect' => 'the answer was 302; redirects are not followed',
            'status/404' => 'the answer was 404',
            'status/500' => 'the answer was 500',
            'status/503' => 'the answer was 503');

for my $bad (sort keys %said) {
    my @log = $receiver->deliveries($hook{$bad}, 3);
    my ($id) = map { $_->{id} } @log;

    is_deeply([ map { "$_->{id} $_->{attempt} $_->{outcome} $_->{error}" }
                @log ],
              [ map { "$id $_" } "1 retried $said{$bad}",
                "2 retried $said{$bad}", "3 abandoned $said{$bad}" ],
              "$bad: three attempts");

    my @audit = failures($hook{$bad});

    is_deeply([ map { @$_{qw(deliveryId attempts error)} } @audit ],
              [ $id, 3, $said{$bad} ], "$bad: in the audit log");

    my @lines = lines($hook{$bad});

    ok(@lines == 1 && $lines[0] =~ /delivery $id of tenant $initech->{id} /
       && $lines[0] =~ /abandoned, attempts: 3, the last one: \Q$said{$bad}/,
       "$bad: in the error log") or diag(@lines);
}

is($receiver->at('/visited'), 0, 'no redirect was followed');

for my $times (1, 2) {
    my $fail = $hook{"fail/$times"};
    my @at = $receiver->wait($fail, $times + 1);
    my %same = map { join(' ', @{ $_->{headers} }, $_->{body}) => 1 } @at;

    is(@at, $times + 1, "the attempts when $times fail");
    is(keys %same, 1, 'are the same to the byte');

    my @log = $receiver->deliveries($fail, $times + 1);
    is($log[-1]{outcome}, 'acknowledged', 'and the last one is acknowledged');
    is(scalar failures($fail), 0, 'which is no failure');

    my @pauses = map { $at[$_]{time} - $at[$_ - 1]{time} } 1 .. $#at;
    my @want = ([ 790, 3000 ], [ 3990, 9000 ]);

    for my $i (0 .. $#pauses) {
        my ($least, $most) = @{ $want[$i] };

        ok($pauses[$i] >= $least && $pauses[$i] <= slow($most),
           "a pause of $least to $most ms") or diag($pauses[$i]);
    }
}

# --- once more ------------------------------------------------------------------

sub again {
    my ($hook, $id, $token) = @_;

    return $hook->{tenant}->admin(POST => "/webhooks/$hook->{id}/deliveries/$id/redeliver",
                                  undef, undef, $token);
}

# What was delivered was so two minutes ago, and nobody in Redis knows it.

sub aged {
    my ($hook, $id) = @_;

    $s->sql("UPDATE svc.$_ SET created_at = created_at - interval '2 minutes'"
            . " WHERE tenant_id = '$hook->{tenant}{id}'")
        for qw(webhook_attempt audit_event);
    $s->redis->command("ZREM svc.webhook2.known $id");
}

sub refused {
    my ($hook, $id, $status, $name, $token) = @_;
    my $r = again($hook, $id, $token);

    is($r->status, $status, $name) or diag($r->body);

    return $r->json->{error}{message};
}

my $failed = $hook{'fail/3'};
my ($abandoned) = ($receiver->deliveries($failed, 3))[-1];
my $id = $abandoned->{id};
my ($first) = $receiver->at($failed);
my $told = "SELECT details FROM svc.audit_event WHERE action = 'webhook.redelivered'";

is($abandoned->{outcome}, 'abandoned', 'one that all attempts have failed of');
like(refused($failed, $id, 409, 'it has just ended'), qr/less than a minute ago/, 'says so');

is(refused(@$_), 'The webhook has no delivery with this id.', 'which is said')
    for [ $failed, 'x', 404, 'no delivery' ], [ $failed, uc $id, 404, 'another case' ],
        [ $failed, 'f' x 32, 404, 'none with this id' ],
        [ $hook{'status/204'}, $id, 404, 'another webhook\'s' ];
is(refused({ %$failed, tenant => $acme }, $id, 404, 'another tenant\'s'),
   'There is no webhook with this id.', 'is not seen');
refused($failed, $id, 403, 'without the permission',
        $initech->token_for('apps:manage,audit:view,users:view'));

$s->sql("UPDATE svc.webhook_attempt SET created_at = created_at - interval '2 minutes'"
        . " WHERE endpoint_id = '$failed->{id}'");
like(refused($failed, $id, 409, 'without its event'), qr/not found in the audit log/, 'says so');
is($s->sql("SELECT count(*) FROM ($told) told"), 0, 'nothing of that is in the audit log');
$s->sql("UPDATE svc.webhook_attempt SET created_at = created_at + interval '2 minutes'"
        . " WHERE endpoint_id = '$failed->{id}'");

aged($failed, 'none');
refused($failed, $id, 409, 'Redis knows it yet');
$s->redis->command("ZREM svc.webhook2.known $id");

my @both = map {
    $s->begin(POST => "/v1/admin/webhooks/$failed->{id}/deliveries/$id/redeliver",
              { Authorization => "Bearer $initech->{api_token}" })
} 1, 2;
my @answers = sort { $a->status <=> $b->status } map { $_->read } @both;

is_deeply([ map { $_->status } @answers ], [ 202, 409 ], 'of two at once one is taken');
is_deeply($answers[0]->json, { id => $id, eventId => $abandoned->{eventId} },
          'with the ids that it had');

my ($last) = ($receiver->wait($failed, 4))[3];
my ($was, $is) = map { JSON::PP::decode_json($_->{body}) } $first, $last;

isnt(delete $was->{createdAt}, delete $is->{createdAt}, 'the time is that of the log');
is_deeply($is, $was, 'and all else as it was');
is($last->{header}{"x-svc-$_"}, $first->{header}{"x-svc-$_"}, "$_, too") for qw(delivery event);
is($last->{header}{'x-svc-signature'},
   'sha256=' . hmac_sha256_hex($last->{body}, $failed->{secret}), 'it is signed');
is_deeply([ map { "$_->{id} $_->{attempt} $_->{outcome}" }
            ($receiver->deliveries($failed, 4))[-1] ], [ "$id 1 acknowledged" ],
          'and among the deliveries');
is_deeply(JSON::PP::decode_json(scalar $s->sql("$told ORDER BY id LIMIT 1")),
          { deliveryId => $id, eventId => $abandoned->{eventId}, event => 'user.created' },
          'the audit log has it');

# what was acknowledged can come again; of who is gone without the address

my $wayne = $s->tenant('wayne');
my $twice = $receiver->hook($wayne, '/ok/twice', events => [ 'user.created', 'user.deleted' ]);
my $gone = $wayne->new_user;

$receiver->wait($twice, 1);
$wayne->admin(DELETE => "/users/$gone->{id}", undef, undef, $wayne->token_for('members:manage'));
$receiver->wait($twice, 2);
$wayne->admin(POST => "/webhooks/$twice->{id}/test");
$receiver->wait($twice, 3);

my %delivered = map { $_->{eventId} => $_->{id} } $receiver->deliveries($twice, 3);
my @bodies = map { JSON::PP::decode_json($_->{body}) } $receiver->at($twice);

aged($twice, join ' ', values %delivered);

for my $n (0, 1) {
    is(again($twice, $delivered{ $bodies[$n]{id} })->status, 202, "$bodies[$n]{event} again");

    my ($got) = ($receiver->wait($twice, 4 + $n))[3 + $n];

    is_deeply(JSON::PP::decode_json($got->{body})->{data}, { userId => $gone->{id} },
              'with nothing of who is gone');
}

like(refused($twice, $delivered{ $bodies[2]{id} }, 409, 'a sample'), qr/was a sample/,
     'says so');
$receiver->deliveries($twice, 5);
aged($twice, join ' ', values %delivered);
$wayne->admin(PATCH => "/webhooks/$twice->{id}", { events => [ 'user.created' ] });
like(refused($twice, $delivered{ $bodies[1]{id} }, 400, 'what it does not take any more'),
     qr/does not take user\.deleted any more/, 'says so');
$wayne->admin(PATCH => "/webhooks/$twice->{id}", { enabled => \0 });
like(refused($twice, $delivered{ $bodies[0]{id} }, 400, 'a webhook that is off'),
     qr/is disabled/, 'says so');
is($receiver->at($twice), 5, 'none of these came');

# --- endpoints that change ---------------------------------------------------

my $umbrella = $s->tenant('umbrella');
my %away = map { $_ => $receiver->hook($umbrella, "/status/500/$_") }
           qw(deleted disabled);
my $moved = $receiver->hook($umbrella, '/ok/before');

$umbrella->new_user;
$receiver->wait($_, 1) for values %away, $moved;

$umbrella->admin(DELETE => "/webhooks/$away{deleted}{id}");
$umbrella->admin(PATCH => "/webhooks/$away{disabled}{id}", { enabled => \0 });
$umbrella->admin(PATCH => "/webhooks/$moved->{id}",
                 { url => $receiver->url('/ok/after') });

$umbrella->new_user;
$receiver->wait('/ok/after', 1);
is($receiver->at('/ok/after'), 1, 'a new URL is used at once');
is($receiver->at('/ok/before'), 1, 'and the old one no more');

ok((wait_for { $receiver->pending == 0 }),
   'nothing is left of the endpoints that are gone');
is($receiver->at($away{$_}), 1, "the one that is $_ got no second attempt")
    for sort keys %away;
is(scalar failures($away{$_}), 0, 'nor is that a failure') for sort keys %away;

# --- many failures -----------------------------------------------------------

my $stark = $s->tenant('stark');
my $bad = $receiver->hook($stark, '/status/500/stark');

$stark->new_user for 1 .. 14;
$receiver->deliveries($bad, 42);
is(lines($bad), 10, 'ten lines for fourteen failures');

$s->reload;
ok((wait_for { grep { /4 more webhook deliveries .* endpoint \Q$bad->{id}\E/ }
               $s->nginx->log_lines }), 'and one for the rest');
ok((wait_for { failures($bad) == 11 }), 'the same in the audit log');
is((failures($bad))[-1]{more}, 4, 'with their number');

# --- more tenants at once than are written at once ----------------------------

my @many = map { $receiver->hook($s->tenant("many$_"), "/ok/many$_") } 1 .. 9;

$_->{tenant}->new_user for @many;

ok((wait_for {
       my ($rows) = $s->sql('SELECT count(*) FROM svc.webhook_attempt WHERE '
                            . 'endpoint_id IN ('
                            . join(', ', map { "'$_->{id}'" } @many) . ')');
       $rows->[0] == @many
   }), 'the delivery logs of all of them are written');

# --- what is too much ---------------------------------------------------------

my $trimmed = $receiver->hook($acme, '/ok/trimmed');
my $of = "FROM svc.webhook_attempt WHERE endpoint_id = '$trimmed->{id}'";

$s->sql("INSERT INTO svc.webhook_attempt SELECT '$acme->{id}', '$trimmed->{id}',"
        . " now() - i * interval '1 minute', 'old' || i, 1, 'e', 'user.created',"
        . " CASE WHEN i % 2 = 0 THEN 'acknowledged' ELSE 'retried' END, 200, 1"
        . ' FROM generate_series(1, 400) i');
$s->sql('CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS'
        . " 'BEGIN RAISE EXCEPTION ''no room''; END'");
$s->sql('CREATE TRIGGER fail BEFORE DELETE ON svc.webhook_attempt'
        . ' FOR EACH ROW EXECUTE FUNCTION public.fail()');

$acme->new_user;
ok((wait_for { grep { /\[error\].*cannot be trimmed.*no room/ }
               $s->nginx->log_lines }), 'the log cannot be trimmed');
is($s->sql("SELECT count(*) $of"), 401, 'the rows are there nevertheless');
$s->sql('DROP TRIGGER fail ON svc.webhook_attempt');

$acme->new_user;
ok((wait_for { $s->sql("SELECT count(*) $of") == 200 }), 'the next one can');
is($s->sql("SELECT string_agg(n::text, ' ') FROM (SELECT count(*) AS n $of"
           . ' GROUP BY outcome) s'), '100 100', 'of each kind a hundred');
is($s->sql("SELECT max(substr(delivery_id, 4)::int) $of"
           . " AND delivery_id LIKE 'old%'"), 199, 'the newest');

# --- signatures, as others see them ------------------------------------------

my %secret = map { $_->{path} => $_->{secret} }
             $hook, $second, $alone, values %hook;
my @signed = grep { $secret{ $_->{url} } } $receiver->received;
my @ask = map { {
    secret => $secret{ $_->{url} }, body => encode_base64($_->{body}, ''),
    signature => $_->{header}{'x-svc-signature'},
} } @signed;

push @ask, { %{ $ask[0] }, body => encode_base64($signed[0]{body} . ' ', '') };

my @verdict = split /\n/, npm_run($s->root, 'webhook.mjs',
                                  JSON::PP::encode_json(\@ask));

is(pop @verdict, 'false', 'a forged body is found out');
cmp_ok(@verdict, '>', 30, 'the others');
is(scalar(grep { $_ ne 'true' } @verdict), 0, 'are good');

# --- a key that is gone ------------------------------------------------------

open my $key, '>', $s->{key_file} or die "$!\n";
print $key '2:' . 'ab' x 32 . "\n";
close $key;

$s->reload;
my $before = $receiver->at($second);
my $known = () = $receiver->deliveries($second, 1);

$acme->new_user;
@list = $receiver->deliveries($second, $known + 1);
is("$list[-1]{outcome}: $list[-1]{error}",
   'abandoned: the secret cannot be opened', 'a secret that cannot be opened');
is($receiver->at($second), $before, 'nothing was sent');
is(scalar(grep { /\[alert\] .*secret of webhook \S+ of tenant $acme->{id}/ }
          $s->nginx->log_lines), 1, 'one alert for all of a tenant says so');

# --- odd e-mail addresses ----------------------------------------------------

# whatever an address holds, the body is JSON, and its bytes are signed

my $odd = $receiver->hook($acme, '/ok/odd');
my @odd = ("o'`b&/%00{|}\@acme.test", "j\x{f6}rg.\x{1f600}.\x{2030}\@acme.test",
           'x' x 244 . '@acme.test');

for my $address (@odd) {
    $acme->create(userName => $address);
}

my %sent = map { $_->{body} => $_ } $receiver->wait($odd, scalar @odd);

is_deeply([ sort map { JSON::PP::decode_json($_)->{data}{email} } keys %sent ],
          [ sort @odd ], 'odd e-mail addresses');
is(scalar(grep { $sent{$_}{header}{'x-svc-signature'}
           ne 'sha256=' . hmac_sha256_hex($_, $odd->{secret}) } keys %sent),
   0, 'with their signatures');

$s->done(allow => [ qr/\[alert\] .* the secret of webhook/ ]);

done_testing();
