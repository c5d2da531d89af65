#!/usr/bin/perl

# Shows /v1/integrations, the catalogue of applications.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Process qw(slurp);

my $s = SvcTest->new(svc => { svc_sign_in => 'on' })->start;
my $acme = $s->tenant('acme');
my $token = $acme->token_for('apps:manage');
my $weak = $acme->token_for('audit:view,groups:manage,members:manage,roles:manage,'
                            . 'tenant:manage,users:view');


sub ask {
    my ($path, $with) = @_;

    return $s->http(GET => "/v1/integrations$path",
                    [ Authorization => 'Bearer ' . ($with // $token) ]);
}


sub keys_of {
    my ($query) = @_;

    my $r = ask("?$query");

    is($r->status, 200, $query) or diag($r->body);

    return [ map { $_->{key} } @{ $r->json->{integrations} } ];
}


# --- the catalogue itself ------------------------------------------------------------

my $all = JSON::PP->new->utf8->decode(slurp($s->root . '/conf/integrations.json'))
          ->{integrations};
my @keys = map { $_->{key} } @$all;
my $schemas = $s->http(GET => '/v1/openapi.json')->json->{components}{schemas};

cmp_ok(scalar @keys, '>=', 40, 'applications');
is_deeply(\@keys, [ sort @keys ], 'sorted');
is(scalar keys %{ { map { $_ => 1 } @keys } }, scalar @keys, 'each of them once');
is_deeply([ grep { !/\A[a-z0-9]+(?:-[a-z0-9]+)*\z/ } @keys ], [], 'by a plain key');
is_deeply([ grep { $_->{docsUrl} !~ m{\Ahttps://[a-z0-9.-]+/} } @$all ], [],
          'described at some https://');
is_deeply([ sort keys %{ { map { $_->{category} => 1 } @$all } } ],
          $schemas->{IntegrationCategory}{enum}, 'of the categories there are');


# --- permissions ------------------------------------------------------------------

admin_error(ask($_, $weak), 403, undef, "'$_' without the permission")
    for '', '/slack', '/nothing';
admin_error($s->http(GET => '/v1/integrations'), 401, undef, 'without a token');
admin_error(ask('', $acme->{scim_token}), 401, undef, 'with a SCIM token');


# --- a list ------------------------------------------------------------------------------

my $r = ask('');

is($r->status, 200, 'the list');
is_deeply($r->json, { integrations => $all, total => scalar @keys, limit => 100,
                      offset => 0 }, 'is the catalogue');

$r = ask('?limit=2&offset=1')->json;
is_deeply($r, { integrations => [ @$all[1, 2] ], total => scalar @keys, limit => 2,
                offset => 1 }, 'a page');
is_deeply(keys_of('offset=2147483647'), [], 'behind the last');
is_deeply(keys_of('limit=2147483647&offset=1'), [ @keys[1 .. $#keys] ],
          'more than there are');
admin_error(ask("?$_"), 400, undef, $_)
    for 'limit=0', 'limit=x', 'offset=-1', 'category=x', 'category=', 'q=%FF',
        'q=%00', 'q=' . 'x' x 201, 'q=a&q=b';

is_deeply(keys_of('q=SLACK'), [ 'slack' ], 'a name in any case');
is_deeply(keys_of('q=git'), [ qw(github gitlab) ], 'a part of it');
is_deeply(keys_of('q=l'), [ map { $_->{key} } grep { $_->{name} =~ /l/i } @$all ],
          'a letter');
is_deeply(keys_of('q=slackk'), [], 'nothing');
is_deeply(keys_of('q='), \@keys, 'an empty one is none');
is_deeply(keys_of('category=data'),
          [ map { $_->{key} } grep { $_->{category} eq 'data' } @$all ], 'a category');
is_deeply(keys_of('category=development&q=hub'), [ 'github' ], 'both');
is(ask('?category=data&limit=1')->json->{total}, keys_of('category=data')->@*,
   'the total is of what was asked for');


# --- one integration -------------------------------------------------------------------

is_deeply(ask("/$_->{key}")->json, $_, $_->{key}) for @$all[0, 17, -1];
admin_error(ask("/$_"), 404, undef, "none: $_") for 'Slack', 'slac', 'slackk', 'x', '%FF';
admin_error($s->http(POST => '/v1/integrations',
                     [ Authorization => "Bearer $token" ], {}), 405, undef,
            'nothing is added');


# --- with a session ---------------------------------------------------------------------

$s->secret($PASSWORD);
with_password($s, $acme, userName => "$_\@acme.test", role => $_) for qw(owner member);

my ($owner, $member) = map { SvcTest::Browser->new($s, tenant => 'acme') } 1, 2;

is($owner->login('owner@acme.test')->status, 200, 'an owner signs in');
is($member->login('member@acme.test')->status, 200, 'and a member');
is($owner->get('/v1/integrations/slack')->status, 200, 'an owner may look');
admin_error($member->get('/v1/integrations'), 403, undef, 'a member may not');

$s->done;

done_testing();
