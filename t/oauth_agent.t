#!/usr/bin/perl

# Runs oidc-agent, which gets tokens for people at a terminal, with a native
# application.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Clients qw(clients_server certificate);
use SvcTest::Nginx ();
use SvcTest::OAuth qw(application);
use SvcTest::Party qw(visit);
use SvcTest::Process qw(run spawn slurp wait_for wait_exit signal_pid);
use SvcTest::Skip;

needs(program => 'oidc-agent oidc-gen');

my $s = clients_server()->start;
my $acme = $s->tenant('acme');
my $issuer = "$s->{nginx}{svc}{svc_base_url}/oauth/t/acme";
my $redirect = 'http://localhost:' . SvcTest::Nginx::free_port() . '/';
my $home = $s->dir . '/home';

mkdir $home or die "$home: $!\n";
mkdir "$home/.oidc-agent" or die "$home: $!\n";
$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada Lovelace');
my $app = application($acme, name => 'oidc-agent', type => 'native',
                      redirectUris => [ $redirect ]);
my %env = (HOME => $home, OIDC_ENCRYPTION_PW => 'of this test');


# --- the agent ------------------------------------------------------------------------

my $agent = spawn([ qw(oidc-agent --console --no-scheme -a), "$home/socket" ], env => \%env,
                  out => "$home/agent");

wait_for { -S "$home/socket" };
$env{OIDC_SOCK} = "$home/socket";


# --- a sign-in ------------------------------------------------------------------------

my $gen = spawn([ 'oidc-gen', 'svc', "--iss=$issuer", "--client-id=$app->{clientId}",
                  '--client-secret=', "--redirect-uri=$redirect",
                  '--scope=openid profile email offline_access', '--cp=' . (certificate($s))[0],
                  qw(--flow=code --no-url-call --no-scheme --pw-env --confirm-default
                     --prompt=none) ],
                env => \%env, out => "$home/out");
my $url;

wait_for { ($url) = (slurp("$home/out") // '') =~ m{^(https://\S+/authorize\?\S+)}m };
like($url // slurp("$home/out"), qr/[?&]code_challenge=/, 'asks for a code');

my $b = SvcTest::Browser->new($s, tenant => 'acme');
my $to = visit($b, $url, 'ada@acme.test');

$s->secret($1) if $to =~ /[?&]code=([\w-]+)/;

my ($port, $path) = $to =~ m{\Ahttp://localhost:(\d+)(/.*)\z} or die "$to\n";

SvcTest::Browser->new($s, port => $port)->get($path);
is(wait_exit($gen), 0, 'a user who comes back has an account at it')
    or diag(slurp("$home/out"));


# --- tokens ---------------------------------------------------------------------------

sub token {
    my ($status, $text) = run([ 'oidc-token', @_, 'svc' ], env => \%env);

    is($status, 0, "oidc-token @_") or diag($text);
    chomp $text;
    $s->secret($text);

    return $text;
}


my @tokens = (token(), token(), token('--force-new'));

is($tokens[1], $tokens[0], 'keeps a token');
isnt($tokens[2], $tokens[0], 'and gets another one by its refresh token');

my $r = $s->http(GET => '/oauth/userinfo', [ Authorization => "Bearer $tokens[2]" ]);

is($r->status, 200, 'which is good') or diag($r->body);
is($r->json->{email}, 'ada@acme.test', 'for who has signed in');

signal_pid('TERM', $agent);
wait_exit($agent);

$s->done;
done_testing;
