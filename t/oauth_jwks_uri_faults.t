#!/usr/bin/perl

# Shows the fetches of keys that clients publish (jwksUri) when they meet other requests
# and changes, and when what they need goes away: who waits is answered in time, and what
# is stored is the client's.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest::OAuth qw(form);
use SvcTest::Process qw(signal_pid slow wait_for);
use SvcTest::Published;


# --- at the same time -------------------------------------------------------------------

publish(busy => key('b1'));

my $busy = published($acme, 'busy');

becomes($busy, 'ready', 'busy');
publish(busy => key('b2'));
hold('busy');
minute($busy);

{
    my @waiting = map { begun($busy, 'b2') } 1 .. 20;

    is_asked(busy => 2);
    is(form($s, token => fields($busy, key => 'b1'))->status, 200, 'others go on');
    is(form($s, token => fields($busy, key => 'b2'), http => { @{ $NODES[1] } })->status, 400,
       'another node refuses what it does not know yet');
    let_go('busy');

    my @r = map { $_->read } @waiting;

    is(join(' ', map { $_->status } @r), join(' ', (200) x 20), 'twenty wait for one fetch');
    $s->secret($_->json->{access_token}) for @r;
    is(asked('busy'), 2, 'which is one');
    is(tokens($busy, 'b1'), '400 400', 'the old key is gone');
}

# Clients leave; what was begun is stored all the same.

publish(busy => key('b3'));
hold('busy');
minute($busy);

{
    my @waiting = map { begun($busy, 'b3') } 1 .. 3;

    is_asked(busy => 3);
    $_->close for @waiting[0, 1];
    let_go('busy');
    is($waiting[2]->read->status, 200, 'who stays is answered');
}

publish(busy => key('b4'));
hold('busy');
minute($busy);

{
    my $c = begun($busy, 'b4');

    is_asked(busy => 4);
    $c->close;
    let_go('busy');
    ok((wait_for { tokens($busy, 'b3') eq '400 400' }), 'nobody waits: it is stored');
    is(tokens($busy, 'b4'), '200 200', 'and is good');
}

# A PATCH comes first.

publish(busy => key('b5'));
hold('busy');
minute($busy);

{
    my $c = begun($busy, 'b5');

    is_asked(busy => 5);
    patched($busy, jwksUri => undef, jwks => { keys => [ key('own') ] });
    let_go('busy');
    is($c->read->status, 400, 'keys of its own meanwhile');
    is(tokens($busy, 'b5'), '400 400', 'what comes later is not stored');
    is(tokens($busy, 'own'), '200 200', 'its own are good');
    is(logins($busy), 't', 'and one digest finds it');
}

patched($busy, jwksUri => url('busy'), jwks => undef);
becomes($busy, 'ready', 'again');
publish(busy => key('b6'));
hold('busy');
minute($busy);

{
    my $n = asked('busy');
    my $c = begun($busy, 'b6');

    is_asked(busy => $n + 1);
    patched($busy, securityProfile => 'fapi2');
    patched($busy, securityProfile => undef, requireDpop => JSON::PP::false);
    let_go('busy');
    is($c->read->status, 200, 'what else is patched changes nothing');
    is(logins($busy), 't', 'one digest finds it');
}

# It is deleted.

publish(gone => key('g1'));

my $gone = published($acme, 'gone');

becomes($gone, 'ready', 'gone');
hold('gone');
minute($gone);

{
    my $c = begun($gone, 'g2');

    is_asked(gone => 2);
    is(admin($acme, DELETE => "/$gone->{clientId}")->status, 204, 'deleted');
    let_go('gone');
    is($c->read->status, 400, 'who waits is refused');
}


# --- what is down -----------------------------------------------------------------------

# Publishes a key, and begins a request by it that waits for its fetch.

sub waiting {
    my ($key) = @_;
    my $n = asked('busy');
    my $c;

    publish(busy => key($key));
    hold('busy');

    ok((wait_for {
        minute($busy);
        $c = begun($busy, $key);
        wait_for { asked('busy') > $n } 2;
    } slow(30)), "$key is asked for");

    return $c;
}

sub back {
    my ($key) = @_;

    ok((wait_for {
        minute($busy);
        tokens($busy, $key) eq '200 200';
    } slow(30)), "$key is good when it is back");
}

{
    my $c = waiting('b7');

    $s->redis->stop;
    let_go('busy');

    my $r = $c->read(slow(20));

    is($r && $r->status, 400, 'Redis goes: who waits is refused in time');
    is(form($s, token => fields($busy, key => 'b6'))->status, 200, 'who is known goes on');
    is(form($s, token => fields($busy, key => 'b7'))->status, 400, 'and nobody waits');
    $s->redis->launch;
    back('b7');
}

{
    my $c = waiting('b8');

    signal_pid('KILL', $_) for $s->nginx->helper_pids;
    let_go('busy');

    my $r = $c->read(slow(20));

    like($r && $r->status, qr/^[24]00$/, 'a helper is killed: an answer in time');
    back('b8');
}

{
    my $c = waiting('b9');

    $s->pg->stop;
    let_go('busy');
    is($c->read(slow(20))->status, 503, 'PostgreSQL goes');
    $s->pg->launch;
    back('b9');
}

# nginx reloads: the old worker ends what it has begun.

{
    my $c = waiting('b10');

    $s->nginx->reload;
    let_go('busy');

    my $r = $c->read(slow(20));

    like($r && $r->status, qr/^[24]00$/, 'nginx reloads: an answer');
    back('b10');
}

# So does one that is told to quit, with nobody who waits.

{
    my $c = waiting('b11');

    $c->close;
    $s->nginx->reload;
    let_go('busy');
    back('b11');
}

$lines->end;
$s->done(allow => [ qr/exited on signal 9$/ ]);
done_testing;
