#!/usr/bin/perl

# Shows that a tenant gets no more of a kind than it may have, when many are made at
# the same time.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Governance;


my $s = SvcTest->new(svc => { svc_webhooks => 'on' },
                     locations => '')->start;

my $acme = $s->tenant('acme');
my $api = $acme->token_for($ALL);


# A kind: its greatest number, how its rows are counted, how $n of them are made in
# the database, and what makes one more.

my %KIND = (
    'API tokens' => {
        max => 1000,
        of => "svc.credential WHERE kind = 'api' AND revoked_at IS NULL AND",
        fill => 'INSERT INTO svc.credential (token_hash, tenant_id, kind, name,'
                . " prefix, permissions) SELECT sha256(i::text::bytea), '%s',"
                . " 'api', 'token' || i, 'svc_', '{}'",
        one => sub { (POST => '/api-tokens',
                      { name => "new$_[0]", scopes => [ 'users:view' ] }) },
    },
    groups => {
        max => 10_000,
        of => 'svc.user_group WHERE',
        fill => 'INSERT INTO svc.user_group (tenant_id, id, name)'
                . " SELECT '%s', gen_random_uuid(), 'group' || i",
        one => sub { (POST => '/groups', { name => "new$_[0]" }) },
    },
    roles => {
        max => 1000,
        of => 'svc.role WHERE',
        fill => 'INSERT INTO svc.role (tenant_id, key, name, permissions)'
                . " SELECT '%s', 'role' || i, 'Role', '{}'",
        one => sub { (POST => '/roles', { key => "new$_[0]", name => 'New',
                                          permissions => [] }) },
    },
    webhooks => {
        max => 100,
        of => 'svc.webhook_endpoint WHERE',
        fill => 'INSERT INTO svc.webhook_endpoint (tenant_id, id, url, events,'
                . " secret) SELECT '%s', gen_random_uuid(), 'https://x.test/',"
                . " '{user.created}', '\\x00'",
        one => sub { (POST => '/webhooks', { url => 'https://x.test/',
                                             events => [ 'user.created' ] }) },
    },
);


sub count {
    my ($kind) = @_;

    return $s->sql("SELECT count(*) FROM $KIND{$kind}{of}"
                   . " tenant_id = '$acme->{id}'");
}


for my $kind (sort keys %KIND) {
    my ($max, $fill, $one) = @{ $KIND{$kind} }{qw(max fill one)};
    my $n = $max - 5 - count($kind);

    $s->sql(sprintf($fill, $acme->{id}) . " FROM generate_series(1, $n) i");

    my %seen;
    my @said = at_once($s, $api, map { [ $one->($_) ] } 1 .. 64);

    for my $r (@said) {
        my $error = ($r->json // {})->{error} // {};

        $seen{ join ' ', $r->status, $error->{code} // () }++;
    }

    is_deeply(\%seen, { 201 => 5, '400 limit_exceeded' => 59 },
              "$kind: five at the same time, and no more")
        or diag(explain(\%seen));
    is(count($kind), $max, "$kind: exactly as many as there may be");
}

is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action IN"
           . " ('api_token.created', 'group.created', 'role.created',"
           . " 'webhook.created')"), 20, 'an event for each that was made');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
