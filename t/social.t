#!/usr/bin/perl

# /v1/admin/social/connections: a tenant's connections to social providers.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $SECRET = 'a client secret of this test';
my @PROVIDERS = qw(google github microsoft apple gitlab linkedin facebook);

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');

$s->secret($SECRET, $PASSWORD);

my %NEW = (provider => 'google', clientId => ' one.apps ', clientSecret => $SECRET);
my %APPLE = (provider => 'apple', clientId => 'com.acme', clientSecret => $SECRET,
             teamId => 'ABCDE12345', keyId => '12345ABCDE');
my @answers;


sub ask {
    my ($method, $path, $body, %opt) = @_;

    my $r = ($opt{tenant} // $acme)->admin($method, "/social/connections$path", $body,
                                           $opt{headers}, $opt{token});

    push @answers, $r->body;

    return $r;
}


# Tests that a request is refused, and that the error names the member.

sub refused {
    my ($member, $body, $name) = @_;

    my %body = %$body;

    delete @body{ grep { ref $body{$_} eq 'SCALAR' } keys %body };

    like(admin_error(ask(POST => '', \%body), 400, 'invalid_request', $name)
         ->{message} // '', qr/^"\Q$member\E"/, "$name: says \"$member\"");
}


sub connections {
    return map { $_->{provider} } @{ ask(GET => '', undef, @_)->json->{connections} };
}


# --- permissions ------------------------------------------------------------------

my $weak = $acme->token_for('apps:manage,audit:view,groups:manage,members:manage,'
                            . 'roles:manage,users:view');

admin_error(ask(@$_[0 .. 2], token => $weak), 403, undef,
            "$_->[0] without the permission")
    for [ GET => '' ], [ POST => '', \%NEW ], [ DELETE => '/google' ];


# --- add, list, remove --------------------------------------------------------------

my $r = ask(POST => '', \%NEW);

is($r->status, 201, 'added') or diag($r->body);

my $google = $r->json;

like($google->{createdAt}, $TIME, 'when');
is_deeply($google, { provider => 'google', clientId => 'one.apps', secretSet => $TRUE,
                     teamId => undef, keyId => undef, enabled => $TRUE,
                     createdAt => $google->{createdAt} }, 'what was made');
admin_error(ask(POST => '', { %NEW, clientId => 'two' }), 409, undef, 'once more');
is(ask(POST => '', \%NEW, tenant => $globex)->status, 201, 'another tenant\'s');

$r = ask(POST => '', { %APPLE, enabled => $FALSE });
is($r->status, 201, 'Apple') or diag($r->body);
is_deeply([ @{ $r->json }{qw(teamId keyId enabled)} ],
          [ 'ABCDE12345', '12345ABCDE', $FALSE ], 'with what it needs');

$r = ask(GET => '')->json;
is_deeply([ map { $_->{provider} } @{ $r->{connections} } ], [ qw(apple google) ],
          'the newest is the first');
is_deeply($r->{connections}[1], $google, 'as it was made');
is_deeply($r->{knownProviders}, \@PROVIDERS, 'and all that there could be');
is_deeply([ @$r{qw(total limit offset)} ], [ 2, 100, 0 ], 'the page');
is_deeply([ map { $_->{provider} }
                @{ ask(GET => '?limit=1&offset=1')->json->{connections} } ],
          [ 'google' ], 'another page');
admin_error(ask(GET => "?$_"), 400, undef, $_) for 'limit=0', 'offset=-1', 'limit=x';

admin_error(ask(DELETE => '/apple', undef, tenant => $globex), 404, undef,
            'another tenant has none');
is(ask(DELETE => '/apple')->status, 204, 'removed');
admin_error(ask(DELETE => "/$_"), 404, undef, "none: $_")
    for 'apple', 'github', 'Google', 'x', '%FF';
is(ask(DELETE => '/google')->status, 204, 'that of one tenant');
is_deeply([ connections(tenant => $globex) ], [ 'google' ], 'and not another\'s');

for my $provider (grep { $_ ne 'apple' } @PROVIDERS) {
    is(ask(POST => '', { %NEW, provider => $provider, teamId => undef,
                         keyId => undef })->status, 201, $provider);
}

my @key = ('Idempotency-Key' => 'k');

is(ask(POST => '', \%APPLE, headers => \@key)->status, 201, 'with a key');
$r = ask(POST => '', \%APPLE, headers => \@key);
is($r->status, 201, 'sent again');
is($r->header('idempotency-replayed'), 'true', 'it is the first answer');
is(scalar(connections()), 7, 'one of each');


# --- what is refused ------------------------------------------------------------------

refused(provider => { %NEW, provider => $_ }, 'provider')
    for 'Google', 'twitter', '', 'google ', \0, undef, 1, [ 'google' ];
refused(clientId => { %NEW, clientId => $_ }, 'clientId')
    for '', ' ', 'x' x 256, "a\nb", \0, undef, 1, {};
refused(clientSecret => { %NEW, clientSecret => $_ }, 'clientSecret')
    for '', 'x' x 4097, \0, undef, 1, [];
refused(enabled => { %NEW, enabled => $_ }, 'enabled') for 1, 'true', undef;
refused($_ => { %APPLE, $_ => \0 }, "Apple without $_") for qw(teamId keyId);
refused($_ => { %APPLE, $_ => undef }, "Apple with $_ null") for qw(teamId keyId);
refused($_ => { %NEW, $_ => 'ABCDE12345' }, "Google with $_") for qw(teamId keyId);

for my $member (qw(teamId keyId)) {
    refused($member => { %APPLE, $member => $_ }, $member)
        for '', 'ABCDE1234', 'ABCDE123456', 'abcde12345', 'ABCDE1234-', 1, [];
}


# --- of a session -----------------------------------------------------------------------

with_password($s, $acme, userName => "$_\@acme.test", role => $_) for qw(owner member);

my ($b, $member) = map { SvcTest::Browser->new($s, tenant => 'acme') } 1, 2;
my $path = '/v1/admin/social/connections';

is($b->login('owner@acme.test')->status, 200, 'an owner signs in');
is($member->login('member@acme.test')->status, 200, 'and a member');
admin_error($member->get($path), 403, 'forbidden', 'a member may not');
is($b->ask(DELETE => "$path/google")->status, 204, 'an owner may remove');
is($b->post($path, \%NEW)->status, 201, 'and add');

$s->sql('UPDATE svc.session SET reauth_at = NULL, mfa_at = NULL');
admin_error($b->post($path, \%NEW), 403, 'step_up_required',
            'one that is not fresh may not add');
is($b->ask(DELETE => "$path/github")->status, 204, 'but remove');

my $options = $s->http(GET => '/v1/auth/options?tenant=acme');

is($options->status, 200, 'what a page may offer');
unlike($options->body, qr/social|google|apple/i, 'is none of them');


# --- the secret ---------------------------------------------------------------------------

is(scalar(grep { /\Q$SECRET\E/ } @answers), 0, 'is in no answer');
is($s->sql("SELECT (SELECT count(*) FROM svc.social c WHERE"
           . " position('$SECRET'::bytea IN c.client_secret) > 0"
           . " OR c::text LIKE '%$SECRET%')"
           . " + (SELECT count(*) FROM svc.audit_event e"
           . " WHERE e::text LIKE '%$SECRET%')"
           . " + (SELECT count(*) FROM svc.idempotency i"
           . " WHERE i::text LIKE '%$SECRET%')"), 0, 'nor in the database as it is');
is($s->sql('SELECT count(*) - count(DISTINCT client_secret_id) FROM svc.social'), 0,
   'each is sealed for an id of its own');
is_deeply([ $s->sql('SELECT action, actor_id, target_type, target_id,'
                    . " details->>'clientId', details->>'enabled'"
                    . ' FROM svc.audit_event WHERE'
                    . " tenant_id = '$acme->{id}' AND action LIKE 'social.%'"
                    . ' ORDER BY id LIMIT 3') ],
          [ [ 'social.created', $acme->{api_id}, 'social', 'google', 'one.apps',
              'true' ],
            [ 'social.created', $acme->{api_id}, 'social', 'apple', 'com.acme',
              'false' ],
            [ 'social.deleted', $acme->{api_id}, 'social', 'apple', undef, undef ] ],
          'each change is in the audit log');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;

done_testing();
