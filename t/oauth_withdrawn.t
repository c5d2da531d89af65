#!/usr/bin/perl

# Shows what ends a token, wherever in its chain it happens: to the application that
# the user has signed in to, to one that has exchanged that one's token, or to the
# last one. The tokens above live on. The token and all below it are dead at the next
# introspection, and cannot be exchanged.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::OAuth qw(oauth_server application form claims user_token consent exchange
                      oauth_error);

my $s = oauth_server()->start;
my $acme = $s->tenant('acme');
my @NAMES = qw(root middle last);
my @SCOPES = qw(read write);
my $n = 0;

$s->secret($PASSWORD);


# Makes a user, with a token of "root" that "middle" exchanges, and "last" exchanges
# that one. Each token but the last one is for the resource of the application that
# exchanges it. Each application is for a group of its own, with the user in it.

sub chain {
    my $email = 'u' . ++$n . '@acme.test';
    my $user = with_password($s, $acme, userName => $email)->{id};
    my %c = (user => $user, email => $email,
             app => { map { $_ => actor($_, $user) } @NAMES });

    consent($acme, $user, $c{app}{middle}, \@SCOPES, "https://last$n.test/");
    consent($acme, $user, $c{app}{last}, \@SCOPES);

    my $grant = $s->sql('INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes,'
        . ' resources, resource_keys, session_id, auth_time, methods, expires_at) VALUES'
        . " ('$acme->{id}', gen_random_uuid(), '$c{app}{root}{clientId}', '$user',"
        . " '{read,write}', '{}', '{}', gen_random_uuid(), now(), '{}', now() + '1 day')"
        . ' RETURNING id');

    $c{token}{root} = user_token($acme, client => $c{app}{root}, user => $user,
                                 scopes => \@SCOPES, audience => "https://middle$n.test/",
                                 grant => $grant);
    $c{token}{middle} = act(\%c, 'middle', 'root', resource => "https://last$n.test/");
    $c{token}{last} = act(\%c, 'last', 'middle');

    return \%c;
}

sub actor {
    my ($name, $user) = @_;

    my $app = application($acme, name => "$name $n", resourceUri => "https://$name$n.test/",
                          scopes => \@SCOPES, type => $name eq 'root' ? 'web' : 'agent',
                          $name eq 'root' ? (redirectUris => [ 'https://r.test/' ]) : ());
    my $group = $s->sql('INSERT INTO svc.user_group (tenant_id, id, name) VALUES'
                        . " ('$acme->{id}', gen_random_uuid(), '$name $n') RETURNING id");

    $s->sql("INSERT INTO svc.group_member (tenant_id, group_id, user_id)"
            . " VALUES ('$acme->{id}', '$group', '$user')");
    $s->sql("INSERT INTO svc.group_app (tenant_id, group_id, client_id)"
            . " VALUES ('$acme->{id}', '$group', '$app->{clientId}')");
    set($app, "assignment = 'groups'");

    return { %$app, group => $group };
}

sub act {
    my ($c, $name, $of, %more) = @_;
    my $r = exchange($s, $c->{app}{$name}, $c->{token}{$of}, %more);

    $r->status == 200 or die $r->body;

    return $r->json->{access_token};
}

sub set {
    my ($app, $set) = @_;

    $s->sql("UPDATE svc.application SET $set WHERE client_id = '$app->{clientId}'");
}


# Returns the scopes of a token, or '' if it is dead. Its client introspects it, or,
# if that is the application to which something has happened, the resource that it is
# for.

sub scopes_of {
    my ($c, $name, $not) = @_;

    my %for = (root => 'middle', middle => 'last', last => 'root');
    my $asks = $name eq $not ? $for{$name} : $name;
    my $told = form($s, introspect => { token => $c->{token}{$name} },
                    client => $c->{app}{$asks})->json;

    return $told->{active} ? $told->{scope} : '';
}

sub all_scopes {
    my ($c, $not) = @_;

    return join ', ', map { scopes_of($c, $_, $not) } @NAMES;
}


# --- each way, at each place in the chain --------------------------------------------

my %WAY = (
    'consent withdrawn' => sub {
        my ($c, $app) = @_;
        my $b = SvcTest::Browser->new($s, tenant => 'acme');

        $b->login($c->{email})->status == 200 or die 'no session';

        is($b->ask(DELETE => "/v1/oauth/consents/$app->{clientId}")->status, 204, 'withdrawn');
    },
    'assignment lost' => sub {
        $s->sql("DELETE FROM svc.group_app WHERE client_id = '$_[1]{clientId}'");
    },
    'group lost' => sub {
        $s->sql("DELETE FROM svc.group_member WHERE group_id = '$_[1]{group}'");
    },
    'scopes lost' => sub { set($_[1], "scopes = '{other}'") },
    'application disabled' => sub { set($_[1], 'enabled = false') },
    'application deleted' => sub {
        $s->sql("DELETE FROM svc.application WHERE client_id = '$_[1]{clientId}'");
    },
);

for my $way (sort keys %WAY) {
    for my $at (0 .. $#NAMES) {
        my $name = $NAMES[$at];
        my $c = chain();

        is(all_scopes($c, $name), 'read write, read write, read write', "$way, $name: before");
        $WAY{$way}->($c, $c->{app}{$name});
        is(all_scopes($c, $name), join(', ', map { $_ < $at ? 'read write' : '' } 0 .. 2),
           "$way, $name: it and what is below are dead");

        next if $name eq 'last' || $name eq 'middle';

        oauth_error(exchange($s, $c->{app}{middle}, $c->{token}{root}), 400, 'invalid_request',
                    "$way, $name: and not exchanged");
    }
}

my $c = chain();

$s->sql("UPDATE svc.user_account SET status = 'suspended' WHERE id = '$c->{user}'");
is(all_scopes($c, 'none'), ', , ', 'of a user who is suspended all are');


# --- a scope that is lost --------------------------------------------------------------

for my $at (0 .. $#NAMES) {
    $c = chain();
    set($c->{app}{$NAMES[$at]}, "scopes = '{read}'");
    is(all_scopes($c, 'none'), join(', ', map { $_ < $at ? 'read write' : 'read' } 0 .. 2),
       "$NAMES[$at] has lost a scope: so have those below");
}

# A new consent counts only for its own resource and scopes.

$c = chain();
$s->sql("DELETE FROM svc.oauth_consent WHERE client_id = '$c->{app}{middle}{clientId}'");
is(all_scopes($c, 'none'), 'read write, , ', 'no consent');
consent($acme, $c->{user}, $c->{app}{middle}, \@SCOPES, 'https://elsewhere.test/');
is(all_scopes($c, 'none'), 'read write, , read write',
   'one for somewhere else is not for this, though below it is not known where');
consent($acme, $c->{user}, $c->{app}{middle}, [ 'read' ], "https://last$n.test/");
is(all_scopes($c, 'none'), 'read write, , ', 'nor is one for less');
set($c->{app}{middle}, 'require_consent = false');
is(all_scopes($c, 'none'), 'read write, read write, read write', 'which need not be asked for');

$s->done;
done_testing();
