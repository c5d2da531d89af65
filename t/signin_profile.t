#!/usr/bin/perl

# /v1/auth/profile: what users see of themselves, and may change.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw(with_password);

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');

my %user = map { $_ => with_password($s, $acme, userName => "$_\@acme.test",
                                     displayName => $_) } qw(ada bob);

$s->sql("UPDATE svc.user_account SET source = 'local' WHERE id = '$user{ada}{id}'");

my %browser = map { $_ => SvcTest::Browser->new($s, tenant => 'acme') } keys %user;

is($browser{$_}->login("$_\@acme.test")->status, 200, "$_ signs in") for sort keys %user;

sub change { return $browser{ $_[0] }->ask(PATCH => '/v1/auth/profile', $_[1]) }

my $r = $browser{ada}->get('/v1/auth/profile');

is($r->status, 200, 'a profile') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'not stored');
is_deeply([ sort keys %{ $r->json } ],
          [ sort qw(id email emailVerified displayName firstName lastName title department
                    locale role source mfaEnrolled lastLoginAt createdAt updatedAt) ],
          'its members');
is($r->json->{id}, $user{ada}{id}, "one's own");

$r = change(ada => { displayName => ' Ada B ', firstName => 'Ada', locale => 'en',
                     role => 'owner', email => 'x@y.test' });
is($r->status, 200, 'changed') or diag($r->body);
is_deeply([ @{ $r->json }{qw(displayName firstName lastName locale role email)} ],
          [ 'Ada B', 'Ada', undef, 'en', 'member', 'ada@acme.test' ],
          'what may be');
is($browser{ada}->get('/v1/auth/session')->json->{user}{locale}, 'en', 'the session tells it');
is(change(ada => { firstName => undef })->json->{firstName}, undef, 'cleared');
is($s->sql("SELECT search FROM svc.user_account WHERE id = '$user{ada}{id}'") =~ /ada b/, 1,
   'and is found by it');
is(change(ada => {})->status, 200, 'nothing');
is($s->sql("SELECT count(*) FROM svc.audit_event WHERE action = 'user.updated'"
           . " AND actor_id = '$user{ada}{id}'"), 2, 'an event for each change');

admin_error(change(ada => { displayName => 'x' x 65 }), 400, undef, 'too long');
admin_error(change(ada => { displayName => 7 }), 400, undef, 'a number');
admin_error(change(bob => { displayName => 'Bob' }), 403, undef, 'of an identity provider');
is($browser{bob}->get('/v1/auth/profile')->json->{displayName}, 'bob', 'stays');
is($browser{ada}->ask(PATCH => '/v1/auth/profile', {}, 'X-CSRF-Token' => undef)->status, 403,
   'without the token of the page');
is(SvcTest::Browser->new($s)->get('/v1/auth/profile')->status, 401, 'without a session');

$s->done;

done_testing();
