#!/usr/bin/perl

# Shows that no token without a key is good once the PATCH that sets the profile fapi2
# is answered, even when a client gets tokens meanwhile.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Fapi qw($TYPE);
use SvcTest::OAuth qw(oauth_server escape);

my $ROUNDS = 170;
my $FALSE = JSON::PP::false;

my $s = oauth_server(workers => 2)->start;
my $acme = $s->tenant('acme');
my $robot = SvcTest::Fapi->new($acme, name => 'Robot', type => 'm2m', redirectUris => [],
                               scopes => [ 'read' ], securityProfile => undef,
                               tokenEndpointAuthMethod => 'private_key_jwt');
my @patch = ("/v1/applications/" . $robot->id, [ Authorization => "Bearer $acme->{apps_token}" ]);

sub form_of {
    my %field = (grant_type => 'client_credentials', client_assertion_type => $TYPE,
                 client_assertion => $robot->assertion);

    return join '&', map { "$_=" . escape($field{$_}) } sort keys %field;
}

my (%token_type, @alive);

for my $round (1 .. $ROUNDS) {
    my @form = map { form_of() } 1 .. 6;
    my $asked = sub {
        return $s->begin(POST => '/oauth/token',
                         [ 'Content-Type' => 'application/x-www-form-urlencoded' ], $_[0]);
    };
    my @before = map { $asked->($_) } @form[0 .. 2];
    my $patched = $s->begin(PATCH => @patch, { securityProfile => 'fapi2' });
    my @answers = map { $_->read } @before, map { $asked->($_) } @form[3 .. 5];

    $patched->read->status == 200 or die "no profile in round $round\n";

    for my $t (map { $_->json } grep { $_->status == 200 } @answers) {
        $s->secret($t->{access_token});
        $token_type{$t->{token_type}}++;

        my $told = $robot->form_to(introspect => { token => $t->{access_token} },
                                   proof => undef)->json;

        push @alive, "round $round" if $told->{active};
    }

    my $r = $s->http(PATCH => @patch, { securityProfile => undef, requireDpop => $FALSE });

    $r->status == 200 or die $r->body . "\n";
}

cmp_ok($token_type{Bearer} // 0, '>', 0, 'tokens were given');
is_deeply(\@alive, [], 'none of them is good');

$s->done;
done_testing;
