#!/usr/bin/perl

# Outbound SCIM: a user who leaves while the target answers 404 to everything,
# or is not found when he is to be deactivated, must not keep an account.  It is
# done when the target shows it, or when he was not found twice, an hour apart.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Outbound;
use SvcTest::Process qw(wait_for);


my $s = SvcTest->new(workers => 1);
my $out = SvcTest::Outbound->new($s);
my $acme = $out->start;
my $there = $out->there;
my $FALSE = JSON::PP::false();
my $n = 0;


# Pushes a new user to a new target.  Returns his id, the target and the store.

sub somebody {
    my ($mode) = @_;

    my $user = $acme->create(userName => 'user' . ++$n . '@x.test');
    my $store = "store$n";
    my $target = $out->target("$store/$mode");

    $out->synced($target, $user, "$store: a user");

    return ($user->{id}, $target, $store);
}


# Returns what the API says of him.

sub told {
    my ($id, $target) = @_;

    my ($user) = grep { $_->{userId} eq $id }
                 @{ $acme->admin(GET => "/scim-targets/$target/users?limit=500")
                    ->json->{users} };

    return $user;
}


sub soon {
    my ($id, $target, $state, $error, $name) = @_;

    my $user;
    my $so = sub {
        $user = told($id, $target);
        return $user->{state} eq $state && ($user->{error} // '') =~ $error;
    };

    ok((wait_for { $so->() } 30), $name) or diag(explain($user));

    return $user;
}


sub leaves { is($acme->admin(POST => "/users/$_[0]/suspend")->status, 200, 'he leaves') }

sub due {
    $s->sql("UPDATE svc.scim_item SET next_at = now() WHERE user_id = '$_[0]'");
    $out->wake;
}

sub his { return grep { $_->{externalId} eq $_[1] } $there->users($_[0]) }


# --- a target that fails for a moment --------------------------------------------------------

for my $status (404, 410) {
    my ($id, $target, $store) = somebody('none');

    $there->away($store, $status);
    leaves($id);
    soon($id, $target, 'pending', qr/answers $status to all/,
         "$status to all is an error");
    is(told($id, $target)->{remoteId}, (his($store, $id))[0]{id}, 'his id there is kept');
    $there->away($store, 0);
    is($acme->admin(POST => "/scim-targets/$target/sync")->status, 202, 'a sync');
    soon($id, $target, 'synced', qr/^$/, "$status: when it is back it is done");
    is((his($store, $id))[0]{active}, $FALSE, 'and he is inactive there');
    $out->forget($target);
}


# --- a user who is not found -----------------------------------------------------------------

{
    my ($id, $target, $store) = somebody('none');

    $there->users($store, { id => 'x', userName => 'x@x.test', externalId => 'x' });
    leaves($id);

    my $user = soon($id, $target, 'error', qr/does not show the user.*in an hour/,
                    'absent once is an error');

    ok($user->{remoteId}, 'with the id that he had');
    is($out->items($target, "user_id = '$id' AND absent_at BETWEEN now() - interval"
                   . " '1 min' AND now() AND next_at BETWEEN now() + interval '58 min'"
                   . " AND now() + interval '66 min' AND NOT remote_active"), 1,
       'looked for again in an hour');

    my $asked = scalar $out->asked($store, 'filter');

    due($id);
    ok((wait_for { $out->asked($store, 'filter') > $asked } 30), 'looked for at once');
    soon($id, $target, 'error', qr/does not show/, 'is the same absence');
    $s->sql("UPDATE svc.scim_item SET absent_at = now() - interval '61 min'"
            . " WHERE user_id = '$id'");
    due($id);
    $user = soon($id, $target, 'synced', qr/^$/, 'absent after an hour is done');
    is($user->{remoteId}, undef, 'and the id is forgotten');
    $out->forget($target);
}

{
    my ($id, $target, $store) = somebody('none');
    my ($there_he_is) = his($store, $id);

    $there->users($store, { id => 'x', userName => 'x@x.test', externalId => 'x' });
    leaves($id);
    soon($id, $target, 'error', qr/does not show/, 'absent once');
    $there->users($store, { %$there_he_is, id => 'another' });
    $s->sql("UPDATE svc.scim_item SET absent_at = now() - interval '61 min'"
            . " WHERE user_id = '$id'");
    due($id);
    soon($id, $target, 'synced', qr/^$/, 'there again');
    is((his($store, $id))[0]{active}, $FALSE, 'he is made inactive, under another id');
    is($out->items($target, "user_id = '$id' AND absent_at IS NULL"), 1,
       'and is absent no more');
    $out->forget($target);
}


# --- a user who is erased -----------------------------------------------------------------------

{
    my ($id, $target, $store) = somebody('none');
    my @there = $there->users($store);

    $there->users($store, { id => 'x', userName => 'x@x.test', externalId => 'x' });
    is($acme->admin(DELETE => "/users/$id")->status, 204, 'one is erased');
    ok((wait_for { $out->items($target, "user_id = '$id' AND absent_at IS NOT NULL") } 30),
       'absent once');
    $there->users($store, @there);
    due($id);
    ok((wait_for { !$out->items($target, "user_id = '$id'") } 30), 'there again it is done')
        or diag($s->sql("SELECT row_to_json(i) FROM svc.scim_item i WHERE user_id = '$id'"));
    is((his($store, $id))[0]{active}, $FALSE, 'inactive there');
    $out->forget($target);
}


# --- ids that are numbers -------------------------------------------------------------------------

{
    my ($id, $target, $store) = somebody('numeric=9007199254740993');

    is(told($id, $target)->{remoteId}, '9007199254740993', 'a number is taken as its text');
    leaves($id);
    ok((wait_for { !(his($store, $id))[0]{active} } 30), 'and he is inactive there');
    $out->forget($target);
}

$s->done;
done_testing();
