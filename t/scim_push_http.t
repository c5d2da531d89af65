#!/usr/bin/perl

# Outbound SCIM: the requests for one user, to targets that behave well and
# badly.  There is no nginx: build/unit/push_eval makes the requests, with
# sanitizers.

use strict;
use warnings;

use FindBin;
use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest::Process qw(slow slurp);
use SvcTest::Push;
use SvcTest::Scim qw(U E PATCH_OP);
use SvcTest::Skip;

needs(program => 'make');


my $ROOT = "$FindBin::Bin/..";
my ($true, $false) = (JSON::PP::true, JSON::PP::false);
my $ID = $SvcTest::Push::USER;

is(system('make', '-s', '-C', $ROOT, 'unit'), 0, 'make unit');

my $push = SvcTest::Push->new($ROOT);
my $n = 0;

my %ann = (userName => 'ann@acme.test', displayName => 'Ann Lee',
           givenName => 'Ann', familyName => 'Lee', title => 'Engineer',
           locale => 'en-GB', department => 'R&D', active => $true);
my %off = (userName => 'ann@acme.test', active => $false);


sub store { return 's' . ++$n }

sub lines { return join ', ', map { $_->{line} =~ s/\?filter=.*?%20/?/r
                                               =~ s/%20.*//r } $push->requests(@_) }

# Tests the outcome and the error.

sub outcome {
    my ($got, $outcome, $error, $name) = @_;

    my $well = $got->{outcome} eq $outcome
               && (ref $error ? $got->{error} =~ $error : $got->{error} eq $error);

    ok($well, $name) or diag("$got->{outcome}: $got->{error}");
    ok($got->{error} =~ /\A[ -~]{0,500}\z/
       && index($got->{error}, $SvcTest::Push::TOKEN) < 0,
       "$name: a text for tenants");
}

sub done { outcome($_[0], 'done', '', $_[1]) }


# --- a life --------------------------------------------------------------------

{
    my $s = store();
    my $got = $push->user("$s/none", \%ann);
    done($got, 'created');

    my @r = $push->requests($s);
    is_deeply([ map { $_->{line} } @r ],
              [ 'GET /Users?filter=userName%20eq%20%22ann%40acme.test%22',
                "GET /Users?filter=externalId%20eq%20%22$ID%22", 'POST /Users' ],
              'looked up by both, then created');

    my ($post) = $r[2];
    is_deeply($post->{json}, {
        schemas => [ U, E ], externalId => $ID, userName => 'ann@acme.test',
        active => $true, displayName => 'Ann Lee', title => 'Engineer',
        locale => 'en-GB',
        name => { givenName => 'Ann', familyName => 'Lee', formatted => 'Ann Lee' },
        emails => [ { value => 'ann@acme.test', type => 'work',
                      primary => $true } ],
        E, { department => 'R&D' },
    }, 'the body') or diag($post->{body});

    is($post->{headers}{authorization}, "Bearer $SvcTest::Push::TOKEN", 'token');
    is($post->{headers}{'content-type'}, 'application/scim+json', 'type');
    is($post->{headers}{'user-agent'}, 'Svc-SCIM/1', 'agent');
    is(scalar(keys %{{ map { $_->{connection} => 1 } @r }}), 1, 'one connection');

    my ($there) = $push->users($s);
    is($got->{remoteId}, $there->{id}, 'the id is kept');
    is($got->{remoteActive}, 1, 'as is that he is active');
    like($got->{remoteHash}, qr/\A[0-9a-f]{64}\z/, 'and the hash');
    is($got->{requests}, 3, 'three requests');

    my $same = $push->again("$s/none", \%ann, $got);
    done($same, 'nothing new');
    is_deeply([ $same->{requests}, scalar $push->requests($s) ], [ 0, 0 ],
              'no request');

    # one operation for each attribute, each with a path

    my %new = (%ann, title => 'Head', locale => '', displayName => "Ann \"L\"");
    $got = $push->again("$s/none", \%new, $got);
    done($got, 'updated');
    @r = $push->requests($s);
    is_deeply([ map { $_->{line} } @r ], [ "PATCH /Users/$there->{id}" ],
              'by PATCH, without a look');
    is_deeply($r[0]{json}{schemas}, [ PATCH_OP ], 'a PatchOp');
    my %op = map { $_->{path} => $_ } @{ $r[0]{json}{Operations} };
    is_deeply([ sort keys %op ], [ sort qw(active userName emails displayName
        name.givenName name.familyName name.formatted title locale),
        E . ':department' ], 'all that is pushed');
    is_deeply($op{locale}, { op => 'remove', path => 'locale' }, 'what is not set');
    is_deeply($op{active}, { op => 'replace', path => 'active', value => $true },
              'a boolean');
    ($there) = $push->users($s);
    is_deeply([ @$there{qw(title locale displayName)}, $there->{name}{formatted} ],
              [ 'Head', undef, 'Ann "L"', 'Ann Lee' ], 'so it is there');

    $got = $push->again("$s/none", \%off, $got);
    done($got, 'deactivated');
    @r = $push->requests($s);
    is_deeply($r[0]{json}{Operations},
              [ { op => 'replace', path => 'active', value => $false } ],
              'nothing else is pushed of who is inactive');
    is($got->{remoteActive}, 0, 'inactive there');
    is(($push->users($s))[0]{title}, 'Head', 'the rest stays');

    is($push->again("$s/none", { %off, userName => 'other@acme.test' },
                    $got)->{requests}, 0, 'nor is a new name of who is inactive');

    $got = $push->again("$s/none", \%ann, $got);
    done($got, 'active again');
    is(($push->users($s))[0]{active}, $true, 'there, too');

    $got = $push->again("$s/none", { active => $false, gone => $true }, $got);
    done($got, 'erased: inactive there');
    is(scalar($push->users($s)), 1, 'nobody is deleted');
}


# --- look-ups --------------------------------------------------------------------

sub theirs {
    my (%user) = @_;

    return { id => 'their-1', userName => 'Ann@ACME.test', active => $true,
             nickName => 'annie', emails => [ { value => 'ann@acme.test' } ],
             %user };
}

{
    my $s = store();
    $push->users($s, theirs());
    my $got = $push->user("$s/none", \%ann);
    done($got, 'found by name, in another case');
    is($got->{remoteId}, 'their-1', 'taken over');
    my @r = $push->requests($s);
    is_deeply([ map { $_->{method} } @r ], [ qw(GET PATCH) ], 'and changed');
    my @paths = map { $_->{path} } @{ $r[1]{json}{Operations} };
    is_deeply([ sort @paths ], [ sort qw(externalId displayName title locale
        name.givenName name.familyName name.formatted), E . ':department' ],
        'the difference alone');
    is(($push->users($s))[0]{nickName}, 'annie', 'the rest stays');

    $got = $push->user("$s/none", \%ann);
    done($got, 'found, and the same');
    is(lines($s), 'GET /Users?eq', 'nothing is sent');
}

{
    my $s = store();
    $push->users($s, theirs(userName => 'old@acme.test', externalId => $ID));
    my $got = $push->user("$s/none", \%ann);
    done($got, 'found by our id');
    is(($push->users($s))[0]{userName}, 'ann@acme.test', 'with his new name');
}

{
    my $s = store();
    $push->users($s, map { theirs(id => "x$_", userName => "u$_\@acme.test") }
                         1 .. 30);
    my $got = $push->user("$s/all", \%ann);
    done($got, 'filters are ignored: strangers are not taken');
    is(scalar($push->users($s)), 31, 'one is created');
    is(scalar(grep { $_->{externalId} // '' eq $ID } $push->users($s)), 1, 'ours');
    $got = $push->user("$s/all", \%ann);
    done($got, 'and found among all');
    is(scalar($push->users($s)), 31, 'once');
}

{
    my $s = store();
    $push->users($s, theirs());
    outcome($push->user("$s/double", \%ann), 'user', qr/^ambiguous: 2 users/,
            'two of that name');
    is(lines($s), 'GET /Users?eq', 'nobody is touched');
}

for my $mode (qw(empty404 nofilter upper)) {
    my $s = store();
    my $got = $push->user("$s/$mode", \%ann);
    done($got, "$mode: created");
    $got = $push->again("$s/$mode", { %ann, title => 'x' }, $got);
    done($got, "$mode: updated");
    is(scalar($push->users($s)), 1, "$mode: once");
}

{
    my $s = store();
    my $name = 'a"b\\c d+é&=#%@acme.test';
    utf8::decode($name);
    my $got = $push->user("$s/none", { %ann, userName => $name });
    done($got, 'a name with all that is special');
    $got = $push->user("$s/none", { %ann, userName => $name });
    done($got, 'is found');
    is(scalar($push->users($s)), 1, 'once');
}


# --- an id that belongs to another user of ours -------------------------------------

{
    my $other = '22222222-2222-4333-8444-555555555555';
    my ($s, $got);

    for my $row ([ 1, 'user', qr/is another user of this tenant, by its externalId$/ ],
                 [ 2, 'retry', qr/who is about to be changed/ ],
                 [ 3, 'retry', qr/not known yet/ ])
    {
        my ($told, $outcome, $error) = @$row;

        $s = store();
        $push->users($s, theirs(externalId => $other));
        $got = $push->user("$s/none", \%ann, owners => { $other => $told });
        outcome($got, $outcome, $error, "the id of another user ($told)");
        is($got->{remoteId}, '', 'he is not taken over');
        is(lines($s), 'GET /Users?eq', 'nor touched');
    }

    $got = $push->user("$s/none", \%ann);
    done($got, 'an id that is none of ours is taken over');
    is(($push->users($s))[0]{externalId}, $ID, 'with our id');

    $push->users($s, theirs(externalId => $other));
    $push->requests($s);
    outcome($push->again("$s/none", \%ann, $got, compare => $true,
                         owners => { $other => 1 }), 'user', qr/another user/,
            'who was ours, and is somebody else now');
    is(lines($s), 'GET /Users/their-1', 'is not touched');
    $got = $push->again("$s/none", \%off, $got, compare => $true,
                        owners => { $other => 1 });
    outcome($got, 'user', qr/does not show the user/, 'nor deactivated');
    is($got->{remoteId}, '', 'the id is forgotten');
    is(($push->users($s))[0]{active}, $true, 'he is as he was');

    my $id = $push->begin(user => "$s/none", want => { id => $ID, %ann },
                          owners => { $other => -1 });

    is($push->next->{outcome}, 'asked', 'whose he is is asked for');
    $push->cancel($id);
    is($push->next->{outcome}, 'cancelled', 'and cancelled');
}


# --- inactive users ----------------------------------------------------------------

{
    my $s = store();
    $push->users($s, theirs());
    my $got = $push->user("$s/none", \%off);
    done($got, 'inactive, and of the same name there');
    is(lines($s), 'GET /Users?eq, GET /Users?eq', 'is not taken over');
    is(($push->users($s))[0]{active}, $true, 'nor touched');

    $got = $push->user("$s/none", { active => $false, gone => $true });
    done($got, 'erased, and not there');
    is(lines($s), 'GET /Users?eq', 'asked for by the id alone');

    $push->users($s, theirs(externalId => $ID));
    $got = $push->user("$s/none", \%off);
    done($got, 'inactive, made by us, the id is not known');
    is(($push->users($s))[0]{active}, $false, 'is deactivated');

}


# --- inactive users who are not found ----------------------------------------------------

# Pushes again after the hour, and compares what the target has been asked then.

for my $row ([ none => 'GET /Users?eq, GET /Users?eq' ],
             [ nofilter => 'GET /Users?eq, GET /Users?eq' ],
             [ empty404 => 'GET /Users?eq, GET /Users?eq, GET /ServiceProviderConfig' ],
             [ nopatch => 'GET /Users?eq, GET /Users?eq' ])
{
    my ($mode, $looks) = @$row;
    my $s = store();
    my $asked = 'PATCH /Users/nobody, GET /Users/nobody, ' . $looks;

    $push->users($s, theirs(externalId => 'other', active => $true));
    $push->users($s, theirs(userName => 'bob@acme.test', externalId => 'other'))
        if $mode eq 'empty404';

    my $got = $push->user("$s/$mode", \%off, remoteId => 'nobody',
                          remoteActive => $true);

    outcome($got, 'user', qr/does not show the user.*asked again in an hour/,
            "$mode: inactive, and not there any more");
    is_deeply([ @$got{qw(absent remoteId remoteActive)} ], [ 1, 'nobody', 0 ],
              "$mode: the id is kept");
    is(lines($s), $asked, "$mode: by whatever he is looked up");

    $got = $push->again("$s/$mode", \%off, $got, absentFor => 3599);
    outcome($got, 'user', qr/does not show the user/, "$mode: within the hour");
    is(lines($s), $asked, "$mode: the same");

    $got = $push->again("$s/$mode", \%off, $got, absentFor => 3600);
    done($got, "$mode: not there after an hour");
    is_deeply([ @$got{qw(absent remoteId)} ], [ 1, '' ], "$mode: the id is forgotten");
    is(($push->users($s))[0]{active}, $true, "$mode: a stranger is left alone");
    $push->requests($s);
}

for my $status (404, 410) {
    my $s = store();
    my $got = $push->user("$s/none", \%ann);

    $push->away($s, $status);

    for my $for (0, 3600, 86400) {
        my $away = $push->again("$s/none", \%off, $got, absentFor => $for);

        outcome($away, 'retry', qr/^the target answers $status to all/,
                "$status to all, for $for s: nothing is known");
        is_deeply([ @$away{qw(absent remoteId)} ], [ 0, $got->{remoteId} ],
                  'nor is he absent');
    }

    $push->away($s, 0);
    done($push->again("$s/none", \%off, $got), "$status: when it is back it is");
    is(($push->users($s))[0]{active}, $false, 'he is inactive there');
}

{
    my $s = store();

    $push->users($s, theirs(id => 'new', externalId => $ID));
    my $got = $push->user("$s/none", \%off, remoteId => 'old', remoteActive => $true);
    done($got, 'who has another id there');
    is($got->{remoteId}, 'new', 'is found by ours');
    is(($push->users($s))[0]{active}, $false, 'and deactivated');

    $push->users($s, theirs(id => 'new'));
    done($push->user("$s/none", \%off, remoteId => 'old', remoteActive => $true),
         'who has no externalId there');
    is(($push->users($s))[0]{active}, $false, 'is found by the name');

    $push->users($s, theirs(id => 'new', externalId => $ID, active => $false));
    $push->requests($s);
    done($push->user("$s/none", \%off, remoteId => 'old', remoteActive => $true),
         'who is shown as inactive');
    is(lines($s), 'PATCH /Users/old, GET /Users/old, GET /Users?eq',
       'needs nothing else');

    outcome($push->user(store() . '/none', \%off, remoteActive => $true), 'user',
            qr/does not show/, 'whom a request may have made, and nobody sees');
    done($push->user(store() . '/none', \%off), 'whom none has made');
    outcome($push->user(store() . '/none', { active => $false, gone => $true },
                        remoteId => 'x', remoteActive => $true), 'user',
            qr/does not show/, 'who was erased here, and is not there');
}


# --- a target's answers about users who were made inactive ---------------------------------

for my $row ([ 'patch204', 'done', 'PATCH /Users/their-1, GET /Users/their-1' ],
             [ 'mute', 'done', 'PATCH /Users/their-1, GET /Users/their-1' ],
             [ 'none', 'done', 'PATCH /Users/their-1' ],
             [ 'keeps', 'user', 'PATCH /Users/their-1' ],
             [ 'patch204;keeps', 'user', 'PATCH /Users/their-1, GET /Users/their-1' ],
             [ 'patch204;status=GET:501', 'done',
               'PATCH /Users/their-1, GET /Users/their-1' ],
             [ 'patch204;status=GET:500', 'retry',
               'PATCH /Users/their-1, GET /Users/their-1' ])
{
    my ($mode, $outcome, $asked) = @$row;
    my $s = store();

    $push->users($s, theirs(externalId => $ID));
    outcome($push->user("$s/$mode", \%off, remoteId => 'their-1'), $outcome,
            $outcome eq 'done' ? '' : $outcome eq 'user' ? qr/stays active/ : qr/./,
            "$mode: deactivated");
    is(lines($s), $asked, "$mode: which is asked for unless it is said");
}


# --- attributes that were never sent ---------------------------------------------------------

# An attribute that the target has and we do not is left alone, until it was set
# here once.

for my $patch ($true, $false) {
    my $how = $patch ? 'PATCH' : 'PUT';
    my %bare = (userName => 'ann@acme.test', active => $true);
    my $s = store();
    my $got = $push->user("$s/strict", \%bare, patch => $patch);

    done($got, "$how: created with a name alone");
    $push->requests($s);
    $got = $push->again("$s/strict", { %bare, title => 'x' }, $got, patch => $patch);
    done($got, "$how: the first change");
    is(lines($s), $patch ? "PATCH /Users/$got->{remoteId}"
                         : "GET /Users/$got->{remoteId}, PUT /Users/$got->{remoteId}",
       "$how: takes nothing away, and so is not refused");

    my ($there) = $push->users($s);
    $push->users($s, { %$there, locale => 'de', name => { formatted => 'A', givenName => 'A' },
                       E, { department => 'Theirs' } });
    $got = $push->again("$s/strict", { %bare, title => '', familyName => 'Lee' }, $got,
                        patch => $patch);
    done($got, "$how: the next one");
    ($there) = $push->users($s);
    ok(!exists $there->{title}, "$how: what was set here goes");
    is_deeply([ $there->{locale}, $there->{name}{givenName}, $there->{name}{familyName},
                $there->{E()}{department} ], [ 'de', 'A', 'Lee', 'Theirs' ],
              "$how: and what the target has of itself stays");
    done($push->again("$s/strict", { %bare, familyName => 'Lee' }, $got, patch => $patch,
                      compare => $true), "$how: compared");
    is(lines($s), ($patch ? "PATCH /Users/$got->{remoteId}"
                   : "GET /Users/$got->{remoteId}, PUT /Users/$got->{remoteId}")
                  . ", GET /Users/$got->{remoteId}", "$how: it is the same");

    $s = store();
    $push->users($s, theirs(title => 'Theirs', name => { familyName => 'Lee',
                                                         formatted => 'Ann Lee' }));
    done($push->user("$s/none", \%bare, patch => $patch), "$how: one who was there before");
    ($there) = $push->users($s);
    is_deeply([ $there->{title}, @{ $there->{name} }{qw(familyName formatted)},
                $there->{externalId} ], [ 'Theirs', 'Lee', 'Ann Lee', $ID ],
              "$how: is taken over, and nothing is taken away");
}


# --- PATCH that has no route -----------------------------------------------------------------

for my $want (\%ann, \%off) {
    my $s = store();
    my $what = $want->{active} ? 'changed' : 'deactivated';

    $push->users($s, theirs(externalId => $ID));
    my $got = $push->user("$s/nopatch=404", $want, remoteId => 'their-1');
    done($got, "404 to PATCH: $what");
    is(lines($s), 'PATCH /Users/their-1, GET /Users/their-1, PUT /Users/their-1',
       'by PUT');
    is($got->{noPatch}, 1, 'which is remembered');
    is(($push->users($s))[0]{active}, $want->{active}, 'so he is there');
    is(($push->users($s))[0]{nickName}, 'annie', 'and the rest stays');

    $push->users($s, theirs(externalId => $ID));
    $push->requests($s);
    outcome($push->user("$s/nopatch=404;status=PUT:404", $want, remoteId => 'their-1'),
            'retry', qr/has the user, and has him not/, "404 to PUT, too: not $what");
    cmp_ok(scalar($push->requests($s)), '<', 12, 'and it does not go in circles');
}


# --- conflicts, and creations without an id ---------------------------------------------

for my $mode ('blind', 'blind;conflict400') {
    my $s = store();
    $push->users($s, theirs());
    outcome($push->user("$s/$mode", \%ann), 'user', qr/^conflict: /,
            "$mode: a conflict with nobody to see");
    is(lines($s), 'GET /Users?eq, GET /Users?eq, POST /Users, GET /Users?eq, '
                  . 'GET /Users?eq', "$mode: looked up again");
}

for my $mode (qw(noid post204)) {
    my $s = store();
    my $got = $push->user("$s/$mode", \%ann);
    done($got, "$mode: created");
    is($got->{remoteId}, ($push->users($s))[0]{id}, "$mode: looked up");

    outcome($push->user(store() . "/blind;$mode", \%ann), 'user',
            qr/without an id/, "$mode: and not shown");
}

for my $id (17, 0, -1, '9007199254740993', '12345678901234567890', '1.0e3') {
    my $s = store();
    my $got = $push->user("$s/numeric=$id", \%ann);

    done($got, "an id that is the number $id");
    is($got->{remoteId}, $id, 'is its text');
    done($push->again("$s/numeric=$id", { %ann, title => 'x' }, $got), 'and he is');
    is(($push->users($s))[0]{title}, 'x', 'updated');
    $got = $push->user("$s/numeric=$id", \%ann);
    is($got->{remoteId}, $id, 'and found by it');
    done($push->again("$s/numeric=$id", \%off, $got), 'and deactivated');
    $got = $push->do(page => "$s/numeric=$id", start => 1);
    is($got->{seen}[0]{id}, $id, 'in a list, too');
}

for my $ids ('a/b?c#d', 'ü%2F"<>', '.a', '..a', 'x' x 1024, ' ') {
    my $s = store();
    my $url = "$s/ids=" . join '', map { sprintf '%%%02X', ord } split //, $ids;
    my $short = substr $ids, 0, 10;
    my $got = $push->user($url, \%ann);
    done($got, "id $short: created");
    $got = $push->again($url, { %ann, title => 'x' }, $got);
    done($got, "id $short: updated");
    is(($push->users($s))[0]{title}, 'x', "id $short: the right one");
}

for my $ids ("a\r\nX-Evil: 1", "a\tb", '.', '..', 'x' x 1025, "\x7f", '') {
    my $url = store() . '/ids=' . join '', map { sprintf '%%%02X', ord }
                                           split //, $ids;
    outcome($push->user($url, \%ann), 'user', qr/no id that can be in a URL/,
            'an id that cannot be: ' . (substr($ids, 0, 6) =~ s/[^!-~]/?/gr));
}

# an id that came from elsewhere

{
    my $s = store();
    my $got = $push->user("$s/none", \%ann, remoteId => '../../x?y');
    done($got, 'an id with a path in it');
    is(($push->requests($s))[0]{line}, 'PATCH /Users/..%2F..%2Fx%3Fy', 'is quoted');
}


# --- updates --------------------------------------------------------------------

for my $mode (qw(nopatch nopatch=501 patch204 strict patch204;nopatch)) {
    my $s = store();
    $push->users($s, theirs(externalId => $ID, 'x:y' => { deep => [ 1, 2.5, 'é' ] },
        name => { honorificPrefix => 'Dr' }, groups => [ { value => 'g' } ],
        emails => [ { value => 'home@x.test', type => 'home' },
                    { value => 'old@x.test', type => 'work', primary => $true } ],
        title => 'old'));

    my $got = $push->user("$s/$mode", \%ann, remoteId => 'their-1');
    done($got, "$mode: updated");
    is($got->{noPatch}, $mode =~ /nopatch/ ? 1 : 0, "$mode: is remembered");

    my ($there) = $push->users($s);
    is_deeply([ @$there{qw(title nickName)}, $there->{name}{honorificPrefix},
                $there->{E()}{department}, $there->{'x:y'}{deep}[1] ],
              [ 'Engineer', 'annie', 'Dr', 'R&D', 2.5 ], "$mode: all is there");

    if ($mode =~ /nopatch/) {
        is_deeply([ map { $_->{value} } @{ $there->{emails} } ],
                  [ 'ann@acme.test', 'home@x.test' ], "$mode: other addresses");
        is(lines($s), 'PATCH /Users/their-1, GET /Users/their-1, '
                      . 'PUT /Users/their-1', "$mode: PUT");
    } else {
        $push->requests($s);
    }

    $got = $push->again("$s/$mode", \%off, $got,
                        patch => $mode =~ /nopatch/ ? $false : $true);
    done($got, "$mode: deactivated");
    ($there) = $push->users($s);
    is_deeply([ @$there{qw(active title nickName)} ], [ $false, 'Engineer', 'annie' ],
              "$mode: that alone");
    is(lines($s), 'GET /Users/their-1, PUT /Users/their-1'
                  . ($mode =~ /204/ ? ', GET /Users/their-1' : ''), "$mode: at once")
        if $mode =~ /nopatch/;

    $got = $push->again("$s/$mode", { %ann, title => '' }, $got);
    done($got, "$mode: active, without a title");
    ok(!($push->users($s))[0]{title}, "$mode: it is gone");
}

{
    my $s = store();
    $push->users($s, theirs(title => 'old'));
    my $got = $push->user("$s/strict", { userName => 'ann@acme.test',
                                         active => $true }, remoteId => 'their-1');
    done($got, 'nothing is taken away that is not there');
    is(lines($s), 'PATCH /Users/their-1, GET /Users/their-1, '
                  . 'PATCH /Users/their-1', 'after a look');
    is_deeply([ @{ ($push->users($s))[0] }{qw(displayName title)} ],
              [ 'ann@acme.test', undef ], 'and the rest is as it should be');
}

{
    my $s = store();
    $push->users($s, theirs());
    outcome($push->user("$s/keeps", \%off, remoteId => 'their-1'), 'user',
            qr/stays active/, 'a target that says it did not do it');
}

# the user does not exist there any more

{
    my $s = store();
    my $got = $push->user("$s/none", \%ann, remoteId => 'lost');
    done($got, 'not there any more: created again');
    is(lines($s), 'PATCH /Users/lost, GET /Users/lost, GET /Users?eq, GET /Users?eq, '
                  . 'POST /Users', 'after a look');
    is($got->{remoteId}, ($push->users($s))[0]{id}, 'with a new id');

    outcome($push->user("$s/nopatch=404;status=PUT:404", { %ann, title => 'y' },
                        remoteId => 'lost'), 'retry', qr/has him not/,
            'there in the list, and not there');
    $push->requests($s);
    outcome($push->user("$s/status=PATCH:410", \%off, remoteId => 'lost'), 'retry',
            qr/has him not/, 'inactive, and 410 though he is there');
}


# --- comparison -----------------------------------------------------------------

{
    my $s = store();
    my $got = $push->user("$s/none", \%ann);
    $push->requests($s);

    my $same = $push->again("$s/none", \%ann, $got, compare => $true);
    done($same, 'compared, and the same');
    is(lines($s), "GET /Users/$got->{remoteId}", 'read there');

    my ($there) = $push->users($s);
    $push->users($s, { %$there, title => 'changed', active => $false });
    $same = $push->again("$s/none", \%ann, $got, compare => $true);
    done($same, 'compared, and another');
    my @r = $push->requests($s);
    is_deeply([ map { $_->{path} } @{ $r[1]{json}{Operations} } ],
              [ qw(active title) ], 'the difference is repaired');

    $got = $push->again("$s/none", \%off, $got);
    ($there) = $push->users($s);
    $push->users($s, { %$there, active => $true });
    done($push->again("$s/none", \%off, $got, compare => $true),
         'made active by others');
    is(($push->users($s))[0]{active}, $false, 'is deactivated again');

    $push->users($s, { id => 'else' });
    $got = $push->again("$s/none", \%ann, $got, compare => $true);
    done($got, 'compared, and deleted');
    is($got->{remoteId}, ($push->users($s))[1]{id}, 'is created again');
}


# --- failures ---------------------------------------------------------------------

my %status = (400 => 'user', 401 => 'failing', 403 => 'failing', 404 => undef,
              406 => 'user', 408 => 'retry', 429 => 'pause', 500 => 'retry',
              502 => 'retry', 503 => 'pause', 302 => 'user', 418 => 'user');

for my $status (sort keys %status) {
    my $outcome = $status{$status} or next;
    my $got = $push->user(store() . "/status=GET:$status;echo", \%ann);

    outcome($got, $outcome, qr/^the answer was $status/, "$status of a look-up");
    is($got->{status}, $status, "$status: is said");
    is($got->{delay}, 0, "$status: no time was named");

    my $s = store();
    $got = $push->user("$s/status=POST:$status;echo", \%ann);
    outcome($got, $outcome, qr/^the answer was $status/, "$status of a creation");
    is($got->{remoteActive}, $status >= 500 ? 1 : 0,
       "$status: whether he may be there");

    next if $status == 400;
    $push->users($s, theirs());
    $got = $push->user("$s/status=PATCH:$status;echo", \%ann, remoteId => 'their-1',
                       remoteHash => '00' x 32);
    outcome($got, $outcome, qr/^the answer was $status/, "$status of an update");
    is_deeply([ @$got{qw(remoteId remoteHash)} ], [ 'their-1', '' ],
              "$status: what is there is not known");
}

{
    my $date = sub {
        my @t = gmtime(time + $_[0]);
        return sprintf '%s, %02d %s %d %02d:%02d:%02d GMT',
            (qw(Sun Mon Tue Wed Thu Fri Sat))[$t[6]], $t[3],
            (qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec))[$t[4]],
            $t[5] + 1900, @t[2, 1, 0];
    };

    my @rows = ([ '7', 7000, 7000 ], [ '99999999', 3600000, 3600000 ],
                [ $date->(120), 60000, 120000 ], [ $date->(-120), 0, 0 ],
                [ $date->(1e6), 3600000, 3600000 ], [ '-5', 0, 0 ],
                [ 'soon', 0, 0 ], [ '0', 0, 0 ], [ '9' x 40, 0, 3600000 ]);

    for my $row (@rows) {
        my ($after, $min, $max) = @$row;

        for my $status (429, 503) {
            my $got = $push->user(store() . "/status=GET:$status;after="
                . ($after =~ s/([^0-9A-Za-z])/sprintf '%%%02X', ord $1/ger),
                \%ann);

            ok($got->{outcome} eq 'pause' && $got->{delay} >= $min
               && $got->{delay} <= $max, "$status, Retry-After: $after")
                or diag("$got->{outcome} $got->{delay}");
        }
    }
}

{
    my $s = store();
    my $got = $push->user("$s/redirect", \%ann);
    outcome($got, 'user', qr/302; redirects are not followed/, 'a redirect');
    is(scalar($push->requests('visited')), 0, 'is not followed');
}

# a POST whose outcome is unknown is not sent again before a look-up

for my $what (qw(reset drop)) {
    my $s = store();
    my $got = $push->user("$s/$what=POST", \%ann);
    outcome($got, 'retry', qr/./, "$what behind the POST");
    is_deeply([ @$got{qw(remoteId remoteActive)} ], [ '', 1 ],
              "$what: he may be there");
    is(scalar(grep { $_->{method} eq 'POST' } $push->requests($s)), 1,
       "$what: sent once, though its connection had been kept");

    $got = $push->again("$s/none", \%ann, $got);
    done($got, "$what: the next time");
    is(scalar($push->users($s)), 1, "$what: there is one");

    my $later = $push->again("$s/none", \%off, { %$got, remoteId => '',
                                                 remoteActive => 1 });
    done($later, "$what: or he is inactive by then");
    is(($push->users($s))[0]{active}, $false, "$what: there, too");
}

{
    my $s = store();
    $push->users($s, theirs());
    my $got = $push->user("$s/reset=PATCH", \%ann, remoteId => 'their-1');
    outcome($got, 'retry', qr/./, 'a reset behind a PATCH');
    is($got->{remoteId}, 'their-1', 'the id stays');

    done($push->user("$s/close", \%ann, remoteId => 'their-1'),
         'connections that are closed each time');
}

# malformed answers

for my $mode (qw(text array deep twice)) {
    my $s = store();
    my $got = $push->user("$s/$mode", \%ann);
    outcome($got, 'user', qr/not a JSON object/, "$mode: not read");
    is(lines($s), 'GET /Users?eq', "$mode: nothing is sent");

    $push->users($s, theirs());
    done($push->user("$s/$mode", \%ann, remoteId => 'their-1'),
         "$mode: an update does not need to be read");
    outcome($push->user("$s/$mode", \%ann, remoteId => 'their-1',
                        compare => $true), 'user', qr/not a JSON object/,
            "$mode: a comparison does");
}

outcome($push->user(store() . '/huge=GET:10000000', \%ann), 'user',
        qr/longer than 256 KiB/, 'ten megabytes');
outcome($push->user(store() . '/huge=GET:300000', \%ann), 'user',
        qr/longer than 256 KiB/, 'a bit more than is read');
done($push->user(store() . '/huge=GET:250000', \%ann), 'nearly what is read');
outcome($push->user(store() . '/cut', \%ann), 'retry', qr/broke off/,
        'an answer that breaks off');

{
    my $s = store();
    my $got = $push->user("$s/huge=POST:10000000", \%ann);
    done($got, 'ten megabytes in answer to a POST');
    is($got->{remoteId}, ($push->users($s))[0]{id}, 'is looked up');
    done($push->again("$s/huge=PATCH:10000000", { %ann, title => 'x' }, $got),
         'or to a PATCH');
}

{
    my $s = store();
    $push->users($s, { id => { a => 1 }, userName => 'ann@acme.test' });
    outcome($push->user("$s/none", \%ann), 'user', qr/no id/, 'an id of another type');
    $push->users($s, theirs(active => 'false', name => [ 1 ], emails => 'x',
                            displayName => 7, title => undef, externalId => {}));
    done($push->user("$s/none", \%ann), 'members of other types are replaced');
    is(($push->users($s))[0]{displayName}, 'Ann Lee', 'by what they should be');
    done($push->user("$s/nopatch", { %ann, title => 'q' }), 'the same with PUT');
}


# --- a target's abilities, and its users -------------------------------------------------

{
    my $got = $push->do(probe => store() . '/none');
    done($got, 'a probe');
    is_deeply([ @$got{qw(status patch)} ], [ 200, 1 ], 'PATCH');
    $got = $push->do(probe => store() . '/nopatch');
    is_deeply([ @$got{qw(outcome patch)} ], [ 'done', 0 ], 'no PATCH');

    $got = $push->do(probe => store() . '/status=GET:404');
    outcome($got, 'user', 'the answer was 404', 'a probe of what is not there');
    is($got->{patch}, 1, 'PATCH is tried');
    outcome($push->do(probe => store() . '/status=GET:401;echo'), 'failing',
            'the answer was 401', 'a probe with a bad token');
    outcome($push->do(probe => store() . '/text'), 'user', qr/JSON/,
            'a probe of a website');
    outcome($push->do(probe => 'https://127.0.0.1:1/'), 'retry',
            'the connection was refused', 'a probe of nothing');
}

{
    my $s = store();
    $push->users($s, map { theirs(id => "x$_", userName => "u$_\@acme.test",
                                  active => $_ % 2 ? $true : $false) } 1 .. 130);
    my $got = $push->do(page => "$s/none", start => 1);
    done($got, 'a page');
    is_deeply([ @$got{qw(n total)}, scalar @{ $got->{seen} } ], [ 100, 130, 100 ],
              'of a hundred');
    is_deeply($got->{seen}[1], { id => 'x2', userName => 'u2@acme.test',
                                 active => $false }, 'who is shown');
    $got = $push->do(page => "$s/none", start => 101);
    is_deeply([ @$got{qw(n total)} ], [ 30, 130 ], 'the next one');
    is($got->{seen}[0]{id}, 'x101', 'goes on behind it');
    $got = $push->do(page => "$s/none", start => 131);
    is_deeply([ @$got{qw(outcome n total)} ], [ 'done', 0, 130 ], 'the end');

    $push->users($s, map { theirs(id => "x$_", note => 'x' x 4000) } 1 .. 130);
    $got = $push->do(page => "$s/none", start => 1);
    is_deeply([ @$got{qw(outcome n total)} ], [ 'done', 20, 130 ],
              'of large users there are fewer in one');

    $push->users($s, { userName => 'a@x.test', id => [] }, { id => "a\nb" },
                 theirs());
    $got = $push->do(page => "$s/none", start => 1);
    is_deeply([ map { $_->{id} } @{ $got->{seen} } ], [ 'their-1' ],
              'who has no id is not shown');
    outcome($push->do(page => store() . '/text', start => 1), 'user', qr/JSON/,
            'a page that is none');
}


# --- many at once, and cancelling --------------------------------------------------------

{
    my $s = store();
    my %id;

    $id{ $push->begin(user => "$s/none", want => { %ann,
        id => sprintf('%08d-0000-4000-8000-000000000000', $_),
        userName => "many$_\@acme.test" }) } = 1 for 1 .. 40;

    my %outcome;
    $outcome{ $push->next->{outcome} }++ for 1 .. 40;
    is_deeply(\%outcome, { done => 40 }, 'forty at once');
    is(scalar($push->users($s)), 40, 'are all there');
}

for my $op (qw(user probe page)) {
    my $s = store();
    my $id = $push->begin($op => "$s/slow=GET:60000", want => \%ann);

    $push->cancel($id);
    is($push->next->{outcome}, 'cancelled', "$op: called off before it began");

    $id = $push->begin($op => "$s/slow=GET:60000", want => \%ann);
    SvcTest::Process::wait_for { $push->requests($s) };
    $push->cancel($id);
    is($push->next->{outcome}, 'cancelled', "$op: called off on its way");
}

{
    my $id = $push->begin(user => 'x/none', want => { %off, id => $ID },
        remoteId => 'x', remoteActive => $false,
        remoteHash => $push->again(store() . '/none', \%off,
                                   { remoteId => '', remoteHash => '' })
                            ->{remoteHash});
    is($push->next->{requests}, 0, 'nothing to do');
}


# --- memory ---------------------------------------------------------------------------

for my $mode ('none', 'nopatch', 'noid') {
    my ($s, %outcome, $got) = store();
    my $allocs = 0;

    do {
        my $store = "$s-" . $allocs;
        $push->users($store, theirs()) if $mode eq 'nopatch';
        $got = $push->user("$store/$mode", \%ann, allocs => $allocs++);
        $outcome{ $got->{outcome} }++;
    } while (($got->{outcome} ne 'done') && $allocs < 500);

    ok($allocs > 10 && $allocs < 500, "$mode: memory runs out at $allocs places");
    is(join(' ', grep { !/^(?:memory|retry|done|user)$/ } sort keys %outcome), '',
       "$mode: and nothing worse comes of it") or diag(explain(\%outcome));
}


my ($status, $errors) = $push->end;

is($status, 0, 'the program ends');
unlike($errors, qr/ERROR|runtime error|Sanitizer/, 'the sanitizers say nothing')
    or diag($errors);
unlike($errors, qr/\Q$SvcTest::Push::TOKEN/, 'no token in a log');


# --- addresses and timeouts ------------------------------------------------------------

my $name = 'the name leads to no public address';

for my $row ([ 'an address that is refused', 'refused', $name, allow => '-' ],
             [ 'another CA', 'refused', qr/^the certificate/,
               ca => '/etc/ssl/certs/ca-certificates.crt' ],
             [ 'a proxy that is not there', 'retry', qr/./,
               proxy => 'http://127.0.0.1:1' ])
{
    my ($what, $outcome, $error, @opt) = @$row;

    @$push{qw(pid in out)} = $push->program(@opt);
    my $got = $push->user('where/none', \%ann);
    outcome($got, $outcome, $error, $what);
    is($got->{remoteActive}, 0, "$what: he is not there") if $outcome eq 'refused';
    ($status) = $push->end;
    is($status, 0, "$what: the program ends");
}

is(scalar($push->requests('where')), 0, 'none of them was received');

@$push{qw(pid in out)} = $push->program(timeout => slow(1) * 1000);
outcome($push->user("https://none.invalid/x", \%ann), 'refused', $name,
        'a name that does not exist');
outcome($push->user('time/slow=GET:60000', \%ann), 'retry', qr/^no answer within/,
        'no answer');
outcome($push->user('time/slowbody=60000', \%ann), 'retry', qr/broke off/,
        'no end of an answer');

{
    my $got = $push->user('late/slow=POST:60000', \%ann);
    outcome($got, 'retry', qr/^no answer within/, 'no answer to a POST');
    done($push->again('late/none', \%ann, $got), 'looked up');
    is(scalar($push->users('late')), 1, 'there is one');
}

($status, $errors) = $push->end;
is($status, 0, 'the program ends');
unlike($errors, qr/ERROR|runtime error|Sanitizer/, 'the sanitizers say nothing')
    or diag($errors);

done_testing();
