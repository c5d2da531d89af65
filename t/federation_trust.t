#!/usr/bin/perl

# How far a server that people sign in through is believed.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Idp;
use SvcTest::Receiver;


my %ROOMY = (svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 1000" } qw(IP EMAIL) ]);
my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());
my $CALLBACK = $SvcTest::Idp::CALLBACK;

my $s = SvcTest->new(workers => 2, svc => { %ROOMY });
my $idp = SvcTest::Idp->new($s, SvcTest::Receiver->new($s), lies => 1);
my ($honest, $evil) = @{ $idp->{issuers} };

$s->start;
$idp->ready;
$s->secret($PASSWORD);

my $acme = $s->tenant('acme');

$s->sql("INSERT INTO svc.domain (tenant_id, domain, token, verified_at) VALUES"
        . " ('$acme->{id}', 'acme.test', '" . 'x' x 43 . "', now())");

my $ALL = "'{apps:manage,audit:view,groups:manage,members:manage,roles:manage,tenant:manage,"
    . "users:view}'";

$idp->connect($acme, 'oidc-one', domains => "'{acme.test}'", vouched => $ALL,
              vouched_owner => 'true', jit_provisioning => 'true');
$idp->connect($acme, 'oidc-two', issuer => 1);


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', @_) }


sub user {
    my ($name, %more) = @_;

    return with_password($s, $acme, userName => "$name\@acme.test", %more);
}


# What the ID tokens say from now on.

sub claims {
    my ($sub, %more) = @_;

    $idp->ask(claims => { sub => $sub, email => "$sub\@acme.test", email_verified => $TRUE,
                          %more });
}


# Begins a flow.  Returns where the browser comes back.

sub begun {
    my ($b, $key) = @_;
    my $to = $idp->start($b, $key)->json->{redirectTo};

    return ($idp->ask(walk => $to)->{location} // '') =~ s{^https?://[^/]*}{}r;
}


sub refused {
    my ($r, $code, $name) = @_;

    is($r->status, 303, $name);
    is(SvcTest::Idp::refusal($r), $code, "says $code")
        or diag($r->header('Location') // $r->body);
}


# A journey that ends with a session.  Returns the browser.

sub comes {
    my ($key, $name) = @_;
    my $b = browser();

    is($b->get(begun($b, $key))->header('Location'), '/account', $name);

    return $b;
}


sub why { return ($acme->events_where("action = 'federation.failed'", 'details'))[-1][0]{why} }


# --- a provider that sends people on to another one, to get the code of that -----------------

user('boss', role => 'owner');
claims('boss');

my $thief = browser();
my $own = $idp->start($thief, 'oidc-one')->json->{redirectTo};
my $victim = browser();

$idp->ask(leads => { $evil => $own });

my $back = begun($victim, 'oidc-two');

like($back, qr{^\Q$CALLBACK\E/oidc-one\?code=[\w-]+&state=[\w-]{43}\z},
     'the victim comes back from the honest one');
refused($victim->get($back), 'federation_failed', 'with the code of another connection');
is(why(), 'the redirect URI is that of another connection', 'which is in the audit log');
refused($victim->get($back), 'flow_expired', 'the flow is spent');
is_deeply($idp->ask->{got}, { $honest => 0, $evil => 0 }, 'the code was sent nowhere');
$idp->ask(leads => {});
comes('oidc-one', 'without all that the honest one is fine');


# --- what any page can have browsers get --------------------------------------------------------

sub counted { return scalar(my @keys = $s->redis->lines(KEYS => 'svc.rate.l.*')) }

my $state = 'A' x 43;
my $known = browser();

begun($known, 'oidc-one');
$s->redis->lines('FLUSHDB');
$s->pg->freeze;

refused($_->[0]->get("$CALLBACK/oidc-one$_->[1]"), 'flow_expired', $_->[2])
    for [ browser(), '', 'neither state nor cookie' ],
        [ browser(), "?code=x&state=$state", 'a state and no cookie' ],
        [ $known, '?code=x', 'the cookie and no state' ],
        [ $known, '?code=x&state=' . '+' x 43, 'nor one that could be ours' ],
        [ $known, "?state=$state&state=$state", 'nor two' ];
$s->pg->thaw;
is(counted(), 0, 'nothing is counted, and PostgreSQL is not asked');
refused($known->get("$CALLBACK/oidc-one?code=x&state=$state"), 'flow_expired', 'with both');
isnt(counted(), 0, 'it is counted');


$s->done;
done_testing;
