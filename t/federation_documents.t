#!/usr/bin/perl

# Executes the examples of how a tenant's administrator sets up connections.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Connection qw(verified);
use SvcTest::Dns;
use SvcTest::Documents qw(document section examples);
use SvcTest::Process qw(run write_file);
use SvcTest::Skip;

needs(program => 'curl openssl');

my $JSON = JSON::PP->new->utf8;

my $s = SvcTest->new(svc => { svc_sign_in => 'on', svc_federation => 'on' });

SvcTest::Dns->new($s);
$s->start;

my $acme = $s->tenant('acme');

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test', displayName => 'Ada', role => 'owner');
verified($s, $acme, 'example.com');

my $token = $acme->token_for('audit:view,groups:manage,tenant:manage');

mkdir "$s->{dir}/run" or die "$s->{dir}/run: $!\n";
write_file("$s->{dir}/run/env", '');


# Returns the answers to the examples of some documents.

sub answers {
    my ($name, @paths) = @_;

    my ($sign_in) = examples('bash', section('ngx_svc_admin/signin/README.md', 'From a shell'));
    my $script = join "\n", $sign_in,
                      map { document($_) =~ /^```(?:sh|bash)\n(.*?)^```$/msg } @paths;

    $script =~ s/\bcurl /curl -sS -f -w '\\n' /g;

    my ($status, $text) = run([ 'bash', '-euo', 'pipefail', '-c', $script ],
                              cwd => $s->{dir},
                              env => { SVC_BASE_URL => $s->base_url,
                                       SVC_OWNER_PASSWORD => $PASSWORD,
                                       SVC_ADMIN_TOKEN => $token });

    is($status, 0, "$name: all of them go well") or diag("$script\n$text");

    return map { $JSON->decode($_) } grep { /^\{/ } split /\n/, $text;
}


my ($directory, $tested) = (answers('directory', 'ngx_svc_admin/federation-directory.md'))[1, 2];

is($directory->{covers}, 'owners', 'a directory that an owner has configured');
is($tested->{steps}[0]{step}, 'resolve', 'and that is tested');

# nobody is to look for the providers of the examples

delete $s->{nginx}{svc}{svc_federation};
$s->reload;

my (undef, @connections) = answers('providers', 'ngx_svc_admin/federation-providers.md');
my %connection = map { $_->{provider} // 'none' => $_ } @connections;
my $known = $acme->admin(GET => '/social/connections')->json;

is_deeply([ sort map { s/-.*//r } keys %connection ], [ sort @{ $known->{knownProviders} },
                                                        qw(oidc oidc oidc) ],
          'each provider has an example');
is($_->{redirectUri}, $s->base_url . "/v1/tenants/acme/federation/$_->{provider}/callback",
   "$_->{provider}: its redirect URI") for @connections;

my @answers = answers('connections', 'ngx_svc_admin/federation.md',
                      'ngx_svc_admin/federation-errors.md');
my ($vouched) = grep { ($_->{provider} // '') eq 'oidc-acme' } @answers;

is($vouched->{covers}, 'owners', 'an owner vouches');
is($answers[-2]{groupMapping}[0]{external}, 'Engineering', 'a group is mapped');
is_deeply($answers[-1]{events}, [], 'and nobody has failed');

# the answer in the document has the members of a real one

my ($shown) = map { $JSON->decode($_) }
              examples('json', section('ngx_svc_admin/federation-directory.md',
                                       'Testing the directory'));

is_deeply([ sort keys %{ $_->{steps}[0] } ], [ qw(detail ms ok step) ], 'a step')
    for $shown, $tested;

$s->done;
done_testing();
