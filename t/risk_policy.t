#!/usr/bin/perl

# The risk policy: its thresholds, entity tags, and changes at the same time.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Governance;

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;

my ($true, $false) = (JSON::PP::true, JSON::PP::false);


sub risk { return $acme->admin(GET => '/risk-policy') }


sub put {
    my ($body, @headers) = @_;

    return $acme->admin(PUT => '/risk-policy', $body, \@headers);
}


# --- reading and changing -----------------------------------------------------------

my $r = risk();
is($r->status, 200, 'a policy that nobody has set') or diag($r->body);
is_deeply($r->json, { enabled => $false, mfaThreshold => 40,
                      denyThreshold => 80 }, 'its values');
like($r->body, qr/\A\{"enabled":false,"mfaThreshold":40,"denyThreshold":80\}\z/,
     'nothing else, and in this order');
like($r->header('etag'), qr/\A"[^"]+"\z/, 'a strong entity tag');

my $revision = $acme->revision;

unchanged($s, $acme, 'put back', sub {
    my $again = put($r->json);

    is($again->status, 200, 'what was read can be put back');
    is($again->header('etag'), $r->header('etag'), 'with the same tag');
});
unchanged($s, $acme, $_, sub { is(put($_)->status, 200, $_) })
    for '{}', '{"mfaThreshold":40.0}';
unchanged($s, $acme, 'an unknown member', sub {
    like(admin_error(put({ enabled => $true, $_ => 90 }), 400, 'invalid_request', $_)->{message},
         qr/^"$_" is not a known member/, 'which is named') for qw(denyTreshold enabled_ Enabled);
});

my $etag = $r->header('etag');
$r = put({ enabled => $true });
is_deeply($r->json, { enabled => $true, mfaThreshold => 40,
                      denyThreshold => 80 }, 'one member');
isnt($r->header('etag'), $etag, 'another tag');
is_deeply(risk()->json, $r->json, 'it is stored');
is(risk()->header('etag'), $r->header('etag'), 'with its tag');
is($acme->revision, $revision + 1, 'the revision has moved by one');

$r = put({ mfaThreshold => 50, denyThreshold => 90 });
is_deeply($r->json, { enabled => $true, mfaThreshold => 50,
                      denyThreshold => 90 }, 'two');
put({ enabled => $false, mfaThreshold => 50, denyThreshold => 91 });

is_deeply([ $acme->new_events ], [
    map { [ 'risk_policy.updated', 'riskPolicy', undef, undef,
            { changed => $_ } ] }
        [ 'enabled' ], [ 'mfaThreshold', 'denyThreshold' ],
        [ 'enabled', 'denyThreshold' ] ],
    'an event of each, with what changed');
is_deeply([ $globex->new_events ], [], 'none of another tenant');
is($globex->admin(GET => '/risk-policy')->json->{mfaThreshold}, 40,
   'whose policy is as it was');


# --- bounds --------------------------------------------------------------------------

put({ mfaThreshold => 40, denyThreshold => 80 });

for my $body ({ mfaThreshold => 0 }, { mfaThreshold => 79 },
              { mfaThreshold => 99, denyThreshold => 100 },
              { mfaThreshold => 0, denyThreshold => 1 },
              { mfaThreshold => 40, denyThreshold => 41 })
{
    my $r = put($body);

    is($r->status, 200, SvcTest::encode($body)) or diag($r->body);
    is_deeply({ map { $_ => $r->json->{$_} } keys %$body }, $body,
              'as it was sent');
    put({ mfaThreshold => 40, denyThreshold => 80 });
}

for my $row ([ enabled => 1 ], [ enabled => 'true' ], [ enabled => undef ],
             map({ my $n = $_; map { [ $n => $_ ] }
                   -1, 101, 40.5, '40', undef, [], {}, $true, 1e300 }
                 'mfaThreshold', 'denyThreshold'),
             [ denyThreshold => 0 ])
{
    my ($member, $value) = @$row;

    refused($s, $acme, $member, SvcTest::encode({ $member => $value }), sub {
        put({ $member => $value })
    });
}

for my $enabled ($true, $false) {
    put({ enabled => $enabled });

    for my $body ({ mfaThreshold => 80 }, { denyThreshold => 40 },
                  { mfaThreshold => 100 }, { denyThreshold => 1 },
                  { mfaThreshold => 50, denyThreshold => 50 },
                  { mfaThreshold => 100, denyThreshold => 100 },
                  { mfaThreshold => 60, denyThreshold => 50,
                    enabled => $false })
    {
        my $name = 'out of order' . ($enabled ? '' : ', disabled') . ': '
                   . SvcTest::encode($body);

        refused($s, $acme, $_, $name, sub { put($body) })
            for 'mfaThreshold', 'denyThreshold';
    }
}

# --- entity tags ------------------------------------------------------------------------

$r = risk();
$etag = $r->header('etag');
is($acme->admin(GET => '/risk-policy', undef,
                [ 'If-None-Match' => $etag ])->status, 304, 'If-None-Match');

is(put({ mfaThreshold => 41 }, 'If-Match' => $etag)->status, 200, 'If-Match');

for my $stale ($etag, "W/$etag", '"x"', '"{}"', '""') {
    unchanged($s, $acme, "If-Match: $stale", sub {
        admin_error(put({ mfaThreshold => 42 }, 'If-Match' => $stale), 412,
                    'precondition_failed', "If-Match: $stale");
    });
}

admin_error(put({ mfaThreshold => 41 }, 'If-Match' => $etag), 412,
            'precondition_failed', 'also when nothing is to be changed');
admin_error(put({ mfaThreshold => 80 }, 'If-Match' => $etag), 412,
            'precondition_failed', 'and when it no longer fits');
is(put({ mfaThreshold => 42 }, 'If-Match' => "\"0\", "
       . risk()->header('etag'))->status, 200, 'one of several');
is(put({ mfaThreshold => 43 }, 'If-Match' => '*')->status, 200, 'any');
is(put({ mfaThreshold => 44 }, 'If-Match' => 'W/' . risk()->header('etag'))->status, 200,
   'one that was compressed on its way');

$etag = risk()->header('etag');
$acme->admin(PUT => '/password-policy', { minLength => 20 });
is(risk()->header('etag'), $etag, 'another policy moves another tag');


# --- at the same time ---------------------------------------------------------------------

for my $round (1 .. 5) {
    my $etag = risk()->header('etag');
    my %n;

    $n{$_->status}++ for at_once($s, $acme->{api_token}, map {
        [ PUT => '/risk-policy', { mfaThreshold => 10 * $round + $_ % 2,
                                   denyThreshold => 90 + $_ },
          'If-Match' => $etag ]
    } 0 .. 7);

    is_deeply(\%n, { 200 => 1, 412 => 7 }, 'of eight with one tag one wins');
}

# thresholds that are valid by themselves, and not together

put({ mfaThreshold => 40, denyThreshold => 80 });

for my $round (1 .. 5) {
    my %n;

    $n{$_->status}++ for at_once($s, $acme->{api_token},
        [ PUT => '/risk-policy', { mfaThreshold => 70 } ],
        [ PUT => '/risk-policy', { denyThreshold => 60 } ]);

    is_deeply(\%n, { 200 => 1, 400 => 1 }, 'one of two that do not go together');
    put({ mfaThreshold => 40, denyThreshold => 80 });
}


only_with($s, $acme, 'tenant:manage', [ GET => '/risk-policy' ],
          [ PUT => '/risk-policy', {} ]);

accounted($s, $acme);
is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
