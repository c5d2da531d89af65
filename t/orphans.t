#!/usr/bin/perl

# Shows that changes of a user who is not active do not move the time since when he is
# not, and so the end of an agent's grace.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Governance qw($ALL);
use SvcTest::OAuth qw(oauth_server application form oauth_error);

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my $token = $acme->token_for($ALL);
my $FALSE = JSON::PP::false();
my $n = 0;

$s->sql("UPDATE svc.oauth_tenant SET orphan_action = 'disable', orphan_grace_hours = 72");


sub admin {
    my ($method, $path, $body) = @_;

    return $acme->admin($method, $path, $body, [], $token);
}

sub since { return scalar $s->sql("SELECT valid_after FROM svc.user_account WHERE id = '$_[0]'") }

sub grant {
    return form($s, token => { grant_type => 'client_credentials' }, client => $_[0]);
}

# Changes of a user, by his id; all but one of them end the sessions.

my %DONE = (
    'a logout' => sub { admin(POST => "/users/$_[0]/logout") },
    'another address' => sub { admin(PUT => "/users/$_[0]",
                                     { email => "moved$n\@acme.test" }) },
    'another name' => sub { admin(PUT => "/users/$_[0]", { displayName => 'Another' }) },
    'a lost factor' => sub { admin(POST => "/users/$_[0]/reset-mfa") },
    'no role any more' => sub { admin(DELETE => "/members/$_[0]") },
    'a suspension' => sub { admin(POST => "/users/$_[0]/suspend") },
    'SCIM: not active' => sub {
        $acme->scim(PATCH => "/Users/$_[0]",
                    { Operations => [ { op => 'replace', path => 'active',
                                        value => $FALSE } ] });
    },
);

my %ENDS = map { $_ => 1 } grep { $_ ne 'another name' } keys %DONE;

sub owner {
    my $id = $acme->create(userName => 'u' . ++$n . '@acme.test')->{id};

    $s->sql("UPDATE svc.user_account SET role = 'admin', source = 'local' WHERE id = '$id'");

    return $id;
}

my %OFF = (suspended => 'a suspension', deactivated => 'SCIM: not active');

for my $status (sort keys %OFF) {
    for my $what (sort keys %DONE) {
        my $name = "$status, $what";
        my $id = owner();
        my $agent = application($acme, name => $name, type => 'agent');

        $s->sql("UPDATE svc.application SET owner_id = '$id' WHERE client_id ="
                . " '$agent->{clientId}'");
        is($DONE{ $OFF{$status} }->($id)->status, 200, "$name: $status");
        is($s->sql("SELECT status FROM svc.user_account WHERE id = '$id'"), $status,
           'this one is not active');
        isnt(since($id), undef, 'since now');
        is(grant($agent)->status, 200, 'the agent may act, for a while');

        # 73 hours pass.

        $s->sql('ALTER TABLE svc.user_account DISABLE TRIGGER user_inactive_since');
        $s->sql("UPDATE svc.user_account SET valid_after = now() - interval '73 h'"
                . " WHERE id = '$id'");
        $s->sql('ALTER TABLE svc.user_account ENABLE TRIGGER user_inactive_since');
        oauth_error(grant($agent), 400, 'invalid_grant', "$name: not for longer");

        my $before = since($id);
        my $r = $DONE{$what}->($id);

        like($r->status, qr/\A20[04]\z/, "$name: done") or diag($r->body);
        is(since($id), $before, "$name: since when is as it was");
        oauth_error(grant($agent), 400, 'invalid_grant', "$name: nor does it act again");
    }
}

# Changes that end an active user's sessions move that time; others do not.

for my $what (sort keys %DONE) {
    my $id = owner();

    $s->sql("UPDATE svc.user_account SET valid_after = now() - interval '1 h' WHERE id = '$id'");

    my $before = since($id);

    like($DONE{$what}->($id)->status, qr/\A20[04]\z/, "active, $what");

    if ($ENDS{$what}) {
        isnt(since($id), $before, "active, $what: the sessions end");

    } else {
        is(since($id), $before, "active, $what: the sessions go on");
    }
}

my $id = owner();
my @since;

for (1, 2) {
    is(admin(POST => "/users/$id/suspend")->status, 200, 'suspended');
    push @since, since($id);
    is(admin(POST => "/users/$id/reactivate")->status, 200, 'reactivated');
    is(since($id), $since[-1], 'since then');
}

isnt($since[1], $since[0], 'once more is later');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
