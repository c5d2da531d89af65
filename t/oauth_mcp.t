#!/usr/bin/perl

# Runs an MCP server behind /oauth, and MCP clients of its SDK: they discover the
# server, get tokens for a user and for an agent, and a kill ends them.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Nginx ();
use SvcTest::Npm;
use SvcTest::OAuth qw(oauth_server application);
use SvcTest::Party qw(party visit);
use SvcTest::Process qw(wait_for);

my $s = oauth_server(svc => { svc_login_url => '/signin/' }, locations => <<'EOT')->start;
        location /.well-known/openid-configuration {
            svc_oauth_metadata on;
        }
        location /.well-known/oauth-authorization-server {
            svc_oauth_metadata on;
        }
EOT

my $acme = $s->tenant('acme');
my $port = SvcTest::Nginx::free_port();
my $redirect = 'http://127.0.0.1:3334/oauth/callback';
my %CODE = (redirectUris => [ $redirect ], scopes => [ 'tools:call' ],
            grantTypes => [ qw(authorization_code refresh_token) ]);

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');
my $b = SvcTest::Browser->new($s, tenant => 'acme');


# Disables an agent by its policy, or an application.

sub disable {
    my ($id) = @_;

    my $r = $s->http($id =~ /^agt_/ ? (PUT => "/v1/admin/agents/$id/policy")
                                    : (PATCH => "/v1/applications/$id"),
                     [ Authorization => "Bearer $acme->{apps_token}" ],
                     { enabled => JSON::PP::false });

    is($r->status, 200, 'a kill') or diag($r->body);

    return $r->status;
}


my $n = party([ 'node', npm_install($s->root) . '/mcp.mjs' ], {
    issuer => $s->base_url . '/oauth/t/acme', port => $port, redirect => $redirect,
    sub => $ada->{id},
    api => application($acme, name => 'Tools', scopes => [ 'tools:call' ],
                       resourceUri => "http://127.0.0.1:$port/mcp"),
    agent => application($acme, %CODE, name => 'Agent', type => 'agent'),
    native => application($acme, %CODE, name => 'Native', type => 'native'),
    service => application($acme, name => 'Service', type => 'agent',
                           scopes => [ 'tools:call' ]),
}, kill => \&disable, visit => sub {
    my $to = visit($b, $_[0], 'ada@acme.test');

    $s->secret($1) if $to =~ /[?&]code=([\w-]+)/;

    return $to;
});

is($n, 10, 'all was tried');

# The row of a client's own token is stored after the answer.

my $stored = "SELECT count(*) FROM svc.oauth_token WHERE audience = 'http://127.0.0.1:$port/mcp'";

wait_for { $s->sql($stored) >= 5 };
is($s->sql($stored), 5, 'each token is for that server');

$s->done;
done_testing;
