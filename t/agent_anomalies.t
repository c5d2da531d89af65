#!/usr/bin/perl

# Shows /v1/admin/agents/anomalies: the list, the text of each type, and
# acknowledging.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my %token = map { $_->{slug} => $_->token_for('apps:manage') } $acme, $globex;

$s->secret($PASSWORD);


sub made {
    my ($tenant, $name) = @_;
    my $r = $s->http(POST => '/v1/applications',
                     { Authorization => "Bearer $token{ $tenant->{slug} }" },
                     { name => $name, type => 'agent' });

    $s->secret($1) if $r->body =~ /"clientSecret":"([^"]*)"/;

    return $r->json->{clientId};
}


sub raised {
    my ($tenant, $id, $type, $severity, $details, $ago) = @_;

    return scalar $s->sql('INSERT INTO svc.agent_anomaly (tenant_id, client_id, type, key,'
        . ' severity, details, occurrences, created_at, last_seen_at) VALUES'
        . " ('$tenant->{id}', '$id', '$type', gen_random_uuid()::text, '$severity', '"
        . JSON::PP->new->canonical->encode($details) . "', 3,"
        . " now() - $ago * interval '1 hour', now()) RETURNING id");
}


sub list {
    my ($query, $of) = @_;
    my $tenant = $of // $acme;

    return $tenant->admin(GET => '/agents/anomalies' . ($query // ''), undef, [],
                          $token{ $tenant->{slug} });
}


sub ids { return [ map { $_->{id} } @{ list(@_)->json->{anomalies} } ] }


sub ack {
    my ($id, $of) = @_;
    my $tenant = $of // $acme;

    return $tenant->admin(POST => "/agents/anomalies/$id/ack", undef, [],
                          $token{ $tenant->{slug} });
}


my $bot = made($acme, 'Invoice bot');
my $theirs = made($globex, 'Theirs');


# --- the list --------------------------------------------------------------------

is_deeply(list()->json, { anomalies => [], total => 0, limit => 100, offset => 0 }, 'none');

my $first = raised($acme, $bot, new_country => 'medium',
                   { country => 'BR', ip => '203.0.113.7' }, 5);
my $r = list();
my ($got) = @{ $r->json->{anomalies} };

like($got->{createdAt}, $TIME, 'createdAt');
like($got->{details}{lastSeenAt}, $TIME, 'when it was seen last');
is_deeply($got, {
    id => $first, clientId => $bot, agentName => 'Invoice bot', type => 'new_country',
    severity => 'medium', description => 'First token request from BR',
    details => { country => 'BR', ip => '203.0.113.7', occurrences => 3,
                 lastSeenAt => $got->{details}{lastSeenAt} },
    createdAt => $got->{createdAt}, acknowledged => JSON::PP::false(),
    acknowledgedAt => undef, acknowledgedBy => undef,
}, 'all of it');

# Each type, with and without the details that its text names.

my @TOLD = (
    [ token_burst => { tokens => 400 },
      '400 token requests in a minute, many more than usual',
      'Many more token requests in a minute than usual' ],
    [ new_ip => { ip => '2001:db8::7' }, 'First token request from 2001:db8::7',
      'First token request from another network' ],
    [ new_country => { country => 'FR' }, 'First token request from FR',
      'First token request from another country' ],
    [ scope_denied => { scopes => [ 'a:x', 'b' ] },
      'Asked for a:x, b, which its policy does not allow',
      'Asked for scopes that its policy does not allow' ],
    [ audience_denied => { resource => 'https://api.test/?a=%25' },
      'Asked for a token for https://api.test/?a=%25, which its policy does not allow',
      'Asked for a token for an audience that its policy does not allow' ],
    [ off_hours => { hour => 3 }, 'Token requests at 3 h UTC, when it has almost none',
      'Token requests at an hour when it has almost none' ],
    [ disabled_use => { ip => '203.0.113.7' },
      'Good credentials from 203.0.113.7 while it is disabled',
      'Good credentials while it is disabled' ],
    [ expired_use => { ip => '203.0.113.7' },
      'Good credentials from 203.0.113.7 after it expired',
      'Good credentials after it expired' ],
    [ new_subject => { newSubjects => 25 },
      '25 subjects in an hour for whom it had not acted before',
      'Acts for somebody for whom it had not acted before' ],
    [ secret_reuse => { ip => '203.0.113.7' },
      'A secret that has been replaced was used from 203.0.113.7',
      'A secret that has been replaced was used' ],
);

for my $row (@TOLD) {
    my ($type, $details, @told) = @$row;
    my @new = map { raised($acme, $bot, $type, 'low', $_, 1) } $details, {};
    my %is = map { $_->{id} => $_ } @{ list()->json->{anomalies} };

    is_deeply([ map { $is{$_}{description} } @new ], \@told, "$type: what it says");
    $s->sql("DELETE FROM svc.agent_anomaly WHERE id = '$_'") for @new;
}

is($s->sql("SELECT count(*) FROM unnest(ARRAY['" . join("', '", map { $_->[0] } @TOLD)
           . "']) t WHERE position(quote_literal(t) in (SELECT"
           . ' pg_get_constraintdef(oid) FROM pg_constraint WHERE conname ='
           . " 'agent_anomaly_type_check')) > 0"), 10, 'there are ten types');

my @more = map { raised($acme, $bot, new_ip => 'low', {}, $_) } 3, 1, 2;

raised($globex, $theirs, new_ip => 'low', {}, 1);
is_deeply(ids(), [ @more[1, 2, 0], $first ], 'the newest first');
is_deeply(ids('?limit=2&offset=1'), [ @more[2, 0] ], 'a page');
is(list('?limit=2&offset=1')->json->{total}, 4, 'of four');
is_deeply(ids('?offset=9'), [], 'an empty one');
my %unusual = (needs => 'apps:manage', of => 'anomalies', by => 'id');
my $cook = made($acme, 'Cook');
my $hot = raised($acme, $cook, new_ip => 'high', { ip => '2001:DB8::7' }, 6);

admin_finds($acme, '/agents/anomalies', %unusual, finds => {
    'INVOICE' => [ @more, $first ], $bot => [ @more, $first ], $cook => [ $hot ],
    '203.0.113.7' => [ $first ], '2001:db8::7' => [ $hot ], $hot => [ $hot ],
    '%' => [], theirs => [], $theirs => [] });
admin_finds($acme, '/agents/anomalies', %unusual, query => 'severity=medium', finds => {
    invoice => [ $first ], cook => [] });
is_deeply(ids('?severity=high'), [ $hot ], 'by severity');
is(list('?severity=low')->json->{total}, 3, '... which counts');
admin_error(list("?severity=$_"), 400, undef, "no severity: $_") for '', 'HIGH';
$s->sql("DELETE FROM svc.agent_anomaly WHERE id = '$hot'");
is(list('?offset=9')->json->{total}, 4, 'of as many');
is(scalar @{ ids('', $globex) }, 1, 'another tenant has its own');
admin_error(list("?$_"), 400, undef, $_)
    for 'all=yes', 'all=TRUE', 'all=', 'all=1&all=1', 'limit=0', 'offset=x';


# --- acknowledging ------------------------------------------------------------------

$r = ack($first);
is($r->status, 200, 'acknowledged') or diag($r->body);

my $acked = $r->json;

like($acked->{acknowledgedAt}, $TIME, 'when');
is_deeply($acked, { %$got, acknowledged => JSON::PP::true(), acknowledgedBy => undef,
                    acknowledgedAt => $acked->{acknowledgedAt} },
          'by a token, which is nobody; else as it was');
is_deeply([ $acme->events_where("action = 'agent.anomaly_acknowledged'",
                                qw(target_type target_id target_name details)) ],
          [ [ 'agent', $bot, 'Invoice bot', { anomalyId => $first, type => 'new_country' } ] ],
          'audited, as of its agent');
is_deeply(ids(), [ @more[1, 2, 0] ], 'it is not there');
is_deeply(ids("?all=$_"), [ @more[1, 2, 0] ], "nor with all=$_") for qw(false 0);
is_deeply(ids("?all=$_"), [ @more[1, 2, 0], $first ], "but with all=$_") for qw(true 1);
is(list('?all=1')->json->{total}, 4, 'counted, too');
admin_finds($acme, '/agents/anomalies', %unusual, finds => { '203.0.113.7' => [] });
admin_finds($acme, '/agents/anomalies', %unusual, query => 'all=1',
            finds => { '203.0.113.7' => [ $first ], $first => [ $first ] });

my $b = SvcTest::Browser->new($s, tenant => 'acme');
my $ada = with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');

is($b->login('ada@acme.test')->status, 200, 'ada signs in');
$s->sql('UPDATE svc.session SET mfa_at = NULL, reauth_at = NULL');
is_deeply($b->post("/v1/admin/agents/anomalies/$first/ack")->json, $acked,
          'who comes later is told who was first');
$r = $b->post("/v1/admin/agents/anomalies/$more[0]/ack");
is_deeply($r->json->{acknowledgedBy}, { id => $ada->{id}, email => 'ada@acme.test' },
          'by a user, who need not be fresh');
is(scalar(() = $acme->events_where("action = 'agent.anomaly_acknowledged'", 'id')), 2,
   'each is told once');

my $path = "/v1/admin/agents/anomalies/$more[1]/ack";
my @both = map { $s->begin(POST => $path, { Authorization => "Bearer $token{acme}" }) } 1 .. 8;
my %at;

$at{ $_->read->json->{acknowledgedAt} }++ for @both;
is(scalar keys %at, 1, 'of eight at once one is first');
is(scalar(() = $acme->events_where("action = 'agent.anomaly_acknowledged'", 'id')), 3,
   'and told');

# An anomaly that occurs again under the same key stays acknowledged.

$s->sql('UPDATE svc.agent_anomaly SET occurrences = occurrences + 1, last_seen_at = now()'
        . " WHERE id = '$first'");
is_deeply(ids(), [ $more[2] ], 'one that is seen again stays acknowledged');
is((grep { $_->{id} eq $first } @{ list('?all=1')->json->{anomalies} })[0]{details}
   {occurrences}, 4, 'and counts');


# --- another tenant's anomalies, and unknown ones -------------------------------------

my $before = $s->sql("SELECT string_agg(a::text, ' ' ORDER BY id) FROM svc.agent_anomaly a");

admin_error(ack($more[2], $globex), 404, undef, "another tenant's");
admin_error(ack($_), 404, undef, "there is no $_")
    for '00000000-0000-4000-8000-000000000000', 'x', uc $more[2], '%FF';
is($s->sql("SELECT string_agg(a::text, ' ' ORDER BY id) FROM svc.agent_anomaly a"), $before,
   'nothing has changed');

my $weak = $acme->token_for('audit:view,tenant:manage,users:view');

admin_error($acme->admin(GET => '/agents/anomalies', undef, [], $weak), 403, undef,
            'a list without the permission');
admin_error($acme->admin(POST => "/agents/anomalies/$more[2]/ack", undef, [], $weak), 403,
            undef, 'likewise');

$s->sql("DELETE FROM svc.user_account WHERE id = '$ada->{id}'");
is((grep { $_->{id} eq $more[0] } @{ list('?all=1')->json->{anomalies} })[0]
   {acknowledgedBy}, undef, 'who is erased is not known');
is(scalar(grep { $_->{acknowledged} } @{ list('?all=1')->json->{anomalies} }), 3,
   'it stays acknowledged');


# --- each type, to whoever acknowledges it ----------------------------------------------

for my $row (@TOLD) {
    my ($type, $details, @told) = @$row;
    my @new = map { raised($acme, $bot, $type, 'low', $_, 1) } $details, {};

    is_deeply([ map { ack($_)->json->{description} } @new ], \@told,
              "$type: it says the same as in the list");
}

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
