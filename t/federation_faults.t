#!/usr/bin/perl

# Sign-ins through other servers while something goes, or is not as it should be: what the
# other server answers, the browser, Redis, PostgreSQL, and what an administrator changes.
# Nobody is half signed in; and two nodes are as one.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser;
use SvcTest::Connection qw(verified);
use SvcTest::Idp;
use SvcTest::Process qw(wait_for);
use SvcTest::Receiver;
use SvcTest::Resolver;


my $TRUE = JSON::PP::true();

my $s = SvcTest->new(workers => 1, svc => {
    svc_set => [ map { "RATE_LIMIT_LOGIN_${_}_MAX 1000" } qw(IP EMAIL) ] });
my $receiver = SvcTest::Receiver->new($s);
my $resolver = SvcTest::Resolver->new($s);
my $idp = SvcTest::Idp->new($s, $receiver, lies => 1);

$s->start;
$idp->ready;

my $acme = $s->tenant('acme');
my @workers = $s->workers;
my %port;

verified($s, $acme, 'acme.test');
$idp->connect($acme, 'oidc-one', domains => "'{acme.test}'", jit_provisioning => 'true');
$idp->connect($acme, 'oidc-two', issuer => 1);


sub browser { return SvcTest::Browser->new($s, tenant => 'acme', %port, @_) }


# Begins a flow of somebody.  Returns the browser, and where it comes back.

sub begun {
    my ($sub, %opt) = @_;
    my $b = browser(%opt);

    $idp->ask(claims => { sub => $sub, email => "$sub\@acme.test", email_verified => $TRUE });

    my $r = $idp->start($b, 'oidc-one');

    is($r->status, 200, "$sub begins") or diag($r->body);

    return ($b, $idp->ask(walk => $r->json->{redirectTo})->{location}
                    =~ s{^https?://[^/]*}{}r);
}


# Comes back.  Returns the connection, from which the answer has not been read.

sub back {
    my ($b, $to, %opt) = @_;

    return $s->begin(GET => $to, [ Cookie => $b->cookie, Connection => 'close' ], undef, %port,
                     %opt);
}


# Comes back, and waits until the provider is asked, which holds its answer back.

sub held {
    my ($b, $to) = @_;
    my $n = $idp->ask(hold => $TRUE)->{got}{ $idp->{issuers}[0] };
    my $c = back($b, $to);

    ok((wait_for { $idp->ask->{got}{ $idp->{issuers}[0] } > $n }), 'the provider is asked');

    return $c;
}


sub leads {
    my ($r, $to, $name) = @_;

    is($r && $r->header('Location') =~ s/&id=.*//r,
       $to =~ /^\w/ ? "/login?tenant=acme#error=$to" : $to, $name) or diag($r && $r->body);
}


sub here { return $_[0]->get('/v1/auth/session')->status == 200 }

sub nobody {
    my ($sub, $b) = @_;

    ok(!here($b), "$sub has no session");
    is($s->sql("SELECT count(*) FROM svc.user_account WHERE user_name = '$sub\@acme.test'"), 0,
       'and no account');
}


# --- what the token endpoint answers (6) ------------------------------------------------

$resolver->set('in.hooks.example.com' => '127.0.0.2');

my %answers = (
    '65 KiB' => [ $receiver->url('/large/66560'), 'the answer is longer than 64 KiB' ],
    'a redirect' => [ $receiver->url("/redirect/$receiver->{port}{good}"),
                      'the answer was 302; redirects are not followed' ],
    'HTML' => [ $receiver->url('/html'), 'is not JSON' ],
    '80 MB, compressed' => [ $receiver->url('/gzip/80000000'),
                             'the answer is longer than 64 KiB' ],
    'what is compressed' => [ $receiver->url('/gzip/100'), 'is not JSON' ],
    'an address of ours' => [ $receiver->url('/in', undef, 'in.hooks.example.com'),
                              'the name leads to no public address' ],
    "another's certificate" => [ $receiver->url('/ok', 'other'),
                                 'the certificate is for another name' ],
);

sub asks_at {
    my ($url) = @_;

    $s->sql("UPDATE svc.federation_meta meta SET document = document || '{\"token_endpoint\":\"$url\"}'"
            . " FROM svc.social social WHERE social.provider = 'oidc-one'"
            . ' AND meta.connection_id = social.connection_id');
}

for my $what (sort keys %answers) {
    my ($b, $to) = begun('bad');

    asks_at($answers{$what}[0]);
    leads($b->get($to), 'federation_failed', $what);
    is(($acme->events_where("action = 'federation.failed'", 'details'))[-1][0]{why},
       "the token endpoint: $answers{$what}[1]", 'why');
    leads($b->get($to), 'flow_expired', 'the flow is spent');
    nobody(bad => $b);
}

asks_at("$idp->{issuers}[0]/token");
is(scalar($receiver->at('/visited')), 0, 'no redirect was followed');
is($resolver->calls(connect => '127.0.0.2'), 0, 'the address was not connected to');


# --- a browser that goes ------------------------------------------------------------------

my ($b, $to) = begun('gone');
my $c = held($b, $to);

$c->abort;
$idp->ask(hold => 0);

my ($ada, $her) = begun('ada');

leads($ada->get($her), '/account', 'others go on');
$s->unharmed(\@workers, 'a browser that leaves');
nobody(gone => $b);
leads($b->get($to), 'flow_expired', 'the flow is spent');


# --- what changes while the session is written ----------------------------------------------

my $db = $s->connect_as('postgres');

sub meanwhile {
    my ($change, $undo, $name) = @_;
    my ($b, $to) = begun('ada');

    $db->query($_)
        for 'BEGIN', "SELECT FROM svc.user_account WHERE user_name = 'ada\@acme.test' FOR UPDATE";

    my $c = back($b, $to);

    ok((wait_for { $s->waiting == 1 }), 'her lock is waited for');
    $s->sql($change);
    $db->query('COMMIT');
    leads($c->read, 'flow_expired', $name);
    ok(!here($b), 'there is no session');
    $s->sql($undo);
}

my $domain = "UPDATE svc.domain SET sign_in = %s WHERE domain = 'acme.test'";
my $social = "UPDATE svc.social SET enabled = %s WHERE provider = 'oidc-one'";

meanwhile(sprintf($domain, "(SELECT connection_id FROM svc.social WHERE provider = 'oidc-two'),"
                           . " rp_id = 'acme.test'"),
          sprintf($domain, 'NULL, rp_id = NULL'), 'a domain that is forced to another connection');
meanwhile(sprintf($social, 'false'), sprintf($social, 'true'), 'a connection that is switched off');


# --- two nodes ------------------------------------------------------------------------------

my $node = $s->node(workers => 1, svc => { %{ $s->nginx->{svc} } }, env => $s->nginx->{env});
my ($here, $there) = ($s->port, $node->{port});

($b, $to) = begun('ada');
$b->{port} = $there;
leads($b->get($to), '/account', 'begun at one node, and ended at the other');
ok(here($b), 'where there is a session');
$b->{port} = $here;
ok(here($b), 'as there is at the first');

($b, $to) = begun('ada');

my @both = map { back($b, $to, port => $_) } $here, $there;

is_deeply([ sort map { $_->read->header('Location') =~ s/&id=.*//r } @both ],
          [ '/account', '/login?tenant=acme#error=flow_expired' ], 'one of two gets it');


# --- Redis goes -------------------------------------------------------------------------------

# one that the provider is asked for, one that comes back, one that is to begin

my ($late, $back) = begun('bea');

($b, $to) = begun('ada');
$c = held($b, $to);
$s->redis->stop;
ok((wait_for { $idp->start(browser(), 'oidc-one')->status == 503 }), 'no flow begins');
leads($late->get($back), 'unavailable', 'who comes back is told');
$s->redis->launch;
$idp->ask(hold => 0);
leads($c->read, '/account', 'who waits for the provider waits for Redis, too');
leads($late->get($back), 'flow_expired', 'the other one begins again');
nobody(bea => $late);


# --- PostgreSQL goes ----------------------------------------------------------------------------

ok((wait_for { $idp->start(browser(), 'oidc-one')->status == 200 }), 'flows begin again');
$idp->ready;
($late, $back) = begun('bea');
($b, $to) = begun('cid');
$c = held($b, $to);
$s->pg->stop('QUIT');
is($idp->start(browser(), 'oidc-one')->status, 503, 'no flow begins');
is(SvcTest::Idp::refusal($late->get($back)), 'unavailable', 'who comes back is told');
$idp->ask(hold => 0);
is(SvcTest::Idp::refusal($c->read), 'unavailable', 'as is whom the provider knows');
$s->pg->launch;
$s->wait_healthy;
leads($late->get($back), '/account', 'a flow that was not taken is as good as it was');
leads($b->get($to), 'flow_expired', 'one that was begins again');
nobody(cid => $b);


$s->done;
done_testing;
