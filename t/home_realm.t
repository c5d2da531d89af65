#!/usr/bin/perl

# Shows what POST /v1/auth/discover tells of an address's domain, and that its bytes tell
# nothing of the address; t/signin_time.t has its time.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep time);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(wait_for);
use SvcTest::Realm qw(verified saml oidc force);

my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());

my $s = SvcTest->new(workers => 1,
    svc => { svc_sign_in => 'on', svc_federation => 'on',
             svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0' ] })->start;
my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test');


sub ask { return $s->http(POST => '/v1/auth/discover', [], { @_ }) }

# What is kept is a second old at most.

sub changed {
    $_[0]->();
    sleep 1.1;
}


sub keys_of { return [ map { $_->{connection} } @{ $_[0]->json->{connections} } ] }


# --- who is meant ---------------------------------------------------------------------

my %nobody = (tenant => undef, methods => undef, connections => [], required => undef);
my $r = ask(email => 'ada@acme.test');

is($r->status, 200, 'a domain of nobody') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'is not stored');
is_deeply($r->json, \%nobody, 'is answered');
admin_error(ask(email => 'ada@acme.test', tenant => 'none'), 404, 'not_found',
            'a tenant that there is not');
admin_error(ask(email => $_), 400, 'invalid_request', "no address: $_")
    for '', 'ada', 'x' x 255;
admin_error(ask(tenant => 'acme'), 400, 'invalid_request', 'without an address');
admin_error($s->http(GET => '/v1/auth/discover'), 405, 'method_not_allowed', 'by GET');
admin_error($s->http(POST => '/v1/auth/discover', [ Origin => 'https://evil.test' ],
                     { email => 'ada@acme.test' }), 403, 'csrf_failed', "another site's page");

sub options { return $s->http(GET => '/v1/auth/options?tenant=acme')->json->{methods} }

my $methods = options();

is_deeply(delete $methods->{connections}, [], 'buttons are for whoever comes');
is(delete $methods->{discover}, $FALSE, 'of whom no address is needed first');

is_deeply(ask(email => 'ada@acme.test', tenant => 'acme')->json,
          { %nobody, tenant => { slug => 'acme', name => 'Acme' }, methods => $methods },
          'a tenant that is named, with what its options offer');

changed(sub {
    $s->sql("INSERT INTO svc.domain (tenant_id, domain) VALUES ('$acme->{id}', 'acme.test')");
});
is_deeply(ask(email => 'ada@acme.test')->json, \%nobody, 'a domain that is not verified');
changed(sub {
    $s->sql('DELETE FROM svc.domain');
    verified($s, $acme, 'acme.test');
    verified($s, $globex, 'eu.acme.test');
});

my %is = ('x@acme.test' => 'acme', 'X@ACME.TEST' => 'acme', 'x@sub.acme.test' => undef,
          'x@eu.acme.test' => 'globex', 'x@notacme.test' => undef, 'x@test' => undef,
          'bücher@acme.test' => 'acme');

is(ask(email => $_)->json->{tenant}{slug}, $is{$_}, $_) for sort keys %is;

changed(sub { $s->sql("UPDATE svc.domain SET include_subdomains = true WHERE domain = 'acme.test'") });
@is{qw(x@sub.acme.test x@a.b.acme.test)} = qw(acme acme);
is(ask(email => $_)->json->{tenant}{slug}, $is{$_}, "$_, with subdomains") for sort keys %is;

verified($s, $acme, 'xn--bcher-kva.test');
is(ask(email => 'x@bücher.test')->json->{tenant}{slug}, 'acme', 'as it is spoken');
is(ask(email => 'x@acme.test', tenant => 'globex')->json->{tenant}{slug}, 'globex',
   'who is named comes first');

changed(sub { $s->sql("UPDATE svc.tenant SET suspended_at = now() WHERE slug = 'globex'") });
admin_error(ask(email => 'x@eu.acme.test'), 403, 'access_denied', 'a suspended tenant');
changed(sub { $s->sql("UPDATE svc.tenant SET suspended_at = NULL WHERE slug = 'globex'") });


# --- connections -----------------------------------------------------------------------

my $saml;

changed(sub { $saml = saml($s, $acme) });

is_deeply(ask(email => 'x@acme.test')->json->{connections}, [], 'one of no domain');
changed(sub {
    $s->sql("UPDATE svc.saml_sp SET domains = '{acme.test}'");
    oidc($s, $acme, 'oidc-x', 'acme.test,other.test');
    oidc($s, $acme, 'google');
});
is_deeply(ask(email => 'x@acme.test')->json->{connections},
          [ { connection => 'oidc-x', kind => 'social', label => 'oidc-x' } ],
          'those that name the domain, and work');
is(options()->{discover}, $FALSE, 'which has a button');
changed(sub { $s->sql("UPDATE svc.social SET show_on_page = false WHERE provider = 'oidc-x'") });
is(options()->{discover}, $TRUE, 'or has none');
is_deeply(keys_of(ask(email => 'x@a.acme.test')), [ 'oidc-x' ], 'and below it');
changed(sub { $s->sql("UPDATE svc.social SET show_on_page = true WHERE provider = 'oidc-x'") });
is_deeply(keys_of(ask(email => 'x@other.test', tenant => 'acme')), [],
          'of one that is not verified');
is_deeply(keys_of(ask(email => 'x@acme.test', tenant => 'globex')), [], 'of another tenant');
changed(sub { $s->sql("UPDATE svc.domain SET verified_at = NULL WHERE domain = 'acme.test'") });
is_deeply(keys_of(ask(email => 'x@acme.test', tenant => 'acme')), [], 'not verified any more');
is(options()->{discover}, $FALSE, 'and no address matters');
changed(sub {
    $s->sql("UPDATE svc.domain SET verified_at = now() WHERE domain = 'acme.test'");
    $s->sql("UPDATE svc.saml_sp SET enabled = false");
});
is_deeply(keys_of(ask(email => 'x@acme.test')), [ 'oidc-x' ], 'one that is off');
is(options()->{discover}, $FALSE, 'the other one has a button');
changed(sub { $s->sql("UPDATE svc.saml_sp SET enabled = true, domains = NULL") });

is(ask(email => 'x@acme.test')->json->{required}, undef, 'nobody must');
changed(sub { force($s, $acme, 'acme.test', $saml) });
$r = ask(email => 'x@acme.test')->json;
is($r->{required}, 'saml', 'all must');
is(options()->{discover}, $TRUE, 'which only the address tells');
is_deeply([ map { $_->{connection} } @{ $r->{connections} } ], [ qw(oidc-x saml) ],
          'and are offered it');
is(ask(email => 'x@a.acme.test')->json->{required}, 'saml', 'also below');
is(ask(email => 'x@acme.test', tenant => 'globex')->json->{required}, undef,
   'of this tenant alone');


# --- what is kept ------------------------------------------------------------------------

sub named { return ask(email => $_[0], tenant => 'acme')->json->{tenant}{name} }

my @names = ('Acme', 'Acme Ltd');
my ($since, @got);

# once more where the machine is so busy that the second is over

do {
    $s->sql("UPDATE svc.tenant SET name = '$names[0]' WHERE slug = 'acme'");
    sleep 1.1;
    $since = time();
    named($_) for qw(x@acme.test x@other.test x@a.acme.test);
    $s->sql("UPDATE svc.tenant SET name = '$names[1]' WHERE slug = 'acme'");
    @got = map { named($_) } qw(x@acme.test x@other.test x@a.acme.test);
} until time() - $since < 0.9;

is_deeply(\@got, [ 'Acme', 'Acme Ltd', 'Acme Ltd' ],
          'the answer of a domain that the tenant has, and of none that anybody makes up');
changed(sub { });
is(named('x@acme.test'), 'Acme Ltd', 'for a second');


# --- the oracle --------------------------------------------------------------------------

sub as_bytes {
    my ($answer) = @_;

    my %h = %{ $answer->{headers} };

    delete $h{$_} for qw(date x-request-id);
    $h{'set-cookie'} =~ s/=[\w-]{43};/=x;/ if $h{'set-cookie'};

    return join "\n", $answer->status, (map { "$_: $h{$_}" } sort keys %h), $answer->body;
}


sub keys_in_redis { return scalar(() = $s->redis->lines('KEYS', '*')) }


my $bytes = as_bytes(ask(email => 'ada@acme.test'));
my $stored = $s->sql('SELECT count(*) FROM svc.sign_in') . keys_in_redis();
my $differs;

for my $email (map { ('ada@acme.test', "u$_\@acme.test", "ada+$_\@acme.test") } 1 .. 500) {
    $differs //= $email if as_bytes(ask(email => $email)) ne $bytes;
}

is($differs, undef, 'the answer is the same for 1,000 addresses, and the one that there is');
is($s->sql('SELECT count(*) FROM svc.sign_in') . keys_in_redis(), $stored,
   'nothing is stored, or counted by address');


# --- limits ------------------------------------------------------------------------------

$s->done;
$s = SvcTest->new(workers => 1,
    svc => { svc_sign_in => 'on', svc_federation => 'on',
             svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 3',
                          'RATE_LIMIT_LOGIN_EMAIL_MAX 1' ] })->start;
$acme = $s->tenant('acme');
is(ask(email => 'ada@acme.test')->status, 200, "try $_, of one address") for 1 .. 3;
admin_error(ask(email => "x$_\@acme.test"), 429, 'rate_limited', 'one too many') for 1, 2;
admin_error(ask(email => 'x@acme.test', tenant => 'acme'), 429, 'rate_limited',
            'whoever is meant');
ok(wait_for { $acme->events_where("action = 'rate_limit.exceeded'", 'id') == 1 },
   'which is audited once');

done_testing();
