#!/usr/bin/perl

# What a sign-in page may offer.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;

my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my %SVC = (svc_sign_in => 'on', svc_base_url => 'https://login.acme.test');

my $s = SvcTest->new(svc => { %SVC })->start;
my $acme = $s->tenant('acme');


sub options {
    my ($query, %headers) = @_;

    return $s->http(GET => '/v1/auth/options' . ($query // ''), [ %headers ]);
}


my $r = options();

is($r->status, 200, 'of the only tenant') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'not stored');

my $json = $r->json;
my $policy = delete $json->{passwordPolicy};

is_deeply($json, {
    tenant => { slug => 'acme', name => 'Acme' }, branding => {},
    methods => { password => $TRUE, passkey => $TRUE, passwordless => $FALSE,
                 signup => $FALSE, organizations => $FALSE } }, 'what it says');
is_deeply([ sort keys %$policy ],
          [ qw(minLength rejectBreached rejectContextual requireDigit requireLower
               requireSymbol requireUpper) ], 'of the password policy');

my $token = $acme->token_for('tenant:manage');

is($acme->admin(PATCH => '/tenant', { branding => { primary => '#336699',
                                                    allowSelfSignup => $TRUE,
                                                    secret => 'x' } }, [], $token)
   ->status, 200, 'branding');
is($acme->admin(PUT => '/password-policy', { %$policy, minLength => 14,
                                             historyCount => 3, maxAgeDays => 0 },
                [], $token)->status, 200, 'a policy');

$json = options('?tenant=acme')->json;
is_deeply($json->{branding}, { primary => '#336699' }, 'what is public of it');
is($json->{passwordPolicy}{minLength}, 14, 'the new one');
is($json->{methods}{signup}, $FALSE, 'nobody signs up yet');

$s->tenant('globex');
admin_error(options(), 400, 'invalid_request', 'of two tenants');
admin_error(options('?tenant=nobody'), 404, 'not_found', 'of none');
admin_error(options('?tenant=A/B'), 400, 'invalid_request', 'no slug');
admin_error(options('?tenant='), 400, 'invalid_request', 'an empty one');
admin_error(options('?tenant=' . 'a' x 64), 400, 'invalid_request', 'a long one');
admin_error(options('?tenant=acme&tenant=globex'), 400, 'invalid_request', 'two');

$s->sql("INSERT INTO svc.domain (tenant_id, domain, verified_at) VALUES"
        . " ('$acme->{id}', 'id.acme.test', now())");
is(options('', Host => 'id.acme.test')->json->{tenant}{slug}, 'acme', 'by its domain');
admin_error(options('?tenant=globex', Host => 'id.acme.test'), 400,
            'invalid_request', 'and no other');

$s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE id = '$acme->{id}'");
admin_error(options('?tenant=acme'), 403, 'access_denied', 'suspended');

my $node = $s->node(svc => { %SVC, svc_base_url => 'http://login.acme.test' });

is($s->http(GET => '/v1/auth/options?tenant=globex', [], undef,
            port => $node->{port})->json->{methods}{passkey}, $FALSE,
   'no passkeys over plain http');

done_testing();
