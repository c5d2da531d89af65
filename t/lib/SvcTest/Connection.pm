package SvcTest::Connection;

# Tests of what all connections have in common, whichever way people come in: by a
# provider of OpenID Connect, by SAML, from a directory.

use strict;
use warnings;
use utf8;

use Exporter qw(import);
use JSON::PP ();
use Test::More;

use SvcTest::Admin;

our @EXPORT_OK = qw(%SHARED verified link_to links common_members whose_people links_die);

my ($TRUE, $FALSE) = (JSON::PP::true(), JSON::PP::false());

# What an answer has of a connection that nothing was said of; what shows buttons differs.

our %SHARED = (covers => 'members', label => undef, domains => undef, jitRole => 'member',
               linkByEmail => 'owned', trustMfa => $FALSE, mfaContexts => undef,
               showOnPage => $FALSE, groupMapping => []);


# Makes domains of a tenant, which has verified them.

sub verified {
    my ($s, $tenant, @names) = @_;

    $s->sql('INSERT INTO svc.domain (tenant_id, domain, verified_at) VALUES'
            . " ('$tenant->{id}', '$_', now())") for @names;
}


# Links a user with an identity of a connection, a row of the table; returns the
# connection's id.

sub link_to {
    my ($s, $tenant, $from, $user) = @_;

    return $s->sql('INSERT INTO svc.federated_identity (tenant_id, connection_id, subject_hash,'
                   . " id, user_id, subject) SELECT tenant_id, connection_id, sha256('x'),"
                   . " gen_random_uuid(), '$user', '\\x00' FROM svc.$from"
                   . " AND tenant_id = '$tenant->{id}' RETURNING connection_id");
}


sub links {
    my ($s, $id) = @_;

    return $s->sql("SELECT count(*) FROM svc.federated_identity WHERE connection_id = '$id'");
}


# Tests each common member.  write: a function that writes a connection with these
# members, and returns the answer; of: the tenant's group, and one of another tenant's,
# and a token for groups.  The tenant has verified acme.test and xn--bcher-kva.test, and
# not pending.test.

sub common_members {
    my ($write, %of) = @_;

    my $map = sub { return { external => 'cn=x', groupId => $of{group}, @_ } };
    my $label = '"label" must be a string without control characters of 1 to 64 characters'
                . ' or null.';
    my $domains = '"domains" must be an array of 1 to 50 elements or null.';
    my $contexts = '"mfaContexts" must be an array of 1 to 20 elements or null.';
    my $groups = '"groupMapping" must be an array of 0 to 200 elements.';
    my $name = '"groupMapping[0].external" must be a string without control characters of 1'
               . ' to 1024 characters.';

    for ([ label => $label, '', ' ', 'x' x 65, "a\nb", 1, [] ],
         [ label => '"label" must not have characters that change the direction of text:'
                    . ' U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.',
           "a\x{202e}b" ],
         [ domains => $domains, [], [ map { "d$_.test" } 1 .. 51 ], 'acme.test', {}, 1 ],
         [ domains => '"domains[1]" must be a string of 1 to 1024 bytes.',
           map { [ 'acme.test', $_ ] } '', 1, undef, [] ],
         [ domains => '"domains[0]" must have two labels at least, as login.example.com has.',
           [ 'x' ] ],
         [ domains => '"domains[1]" is there already: "acme.test".', [ 'acme.test', 'ACME.test' ] ],
         [ domains => '"domains" must be domains that the tenant has verified, and pending.test'
                      . ' is none.', [ 'acme.test', 'Pending.test' ] ],
         [ domains => '"domains" must be domains that the tenant has verified, and globex.test'
                      . ' is none.', [ 'globex.test' ] ],
         ( map { [ $_ => "\"$_\" must be true or false.", 1, 'true', undef ] }
               qw(jitProvisioning trustMfa showOnPage keepLinks vouch) ),
         [ jitRole => '"jitRole" must be "member".', 'admin', 'owner', 'Member', '' ],
         ( map { [ $_ => "\"$_\" must be a string.", undef, 1, [] ] } qw(jitRole linkByEmail) ),
         [ linkByEmail => '"linkByEmail" must be one of "never", "verified" and "owned".',
           'always', 'OWNED', '' ],
         [ mfaContexts => $contexts, [], [ ('x') x 21 ], 'phr', 1 ],
         [ mfaContexts => '"mfaContexts[0]" must be a string of 1 to 255 bytes.',
           [ '' ], [ 'x' x 256 ], [ 1 ], [ undef ] ],
         [ mfaContexts => '"mfaContexts[0]" must be of visible ASCII characters.',
           [ 'a b' ], [ "a\n" ], [ 'ü' ] ],
         [ groupMapping => $groups, undef, {}, 'x', [ ($map->()) x 201 ] ],
         [ groupMapping => '"groupMapping[0]" must be an object.', [ 1 ], [ undef ], [ [] ] ],
         [ groupMapping => '"groupMapping[0].external" is required.', [ { groupId => 'x' } ] ],
         [ groupMapping => '"groupMapping[0].groupId" is required.', [ { external => 'x' } ] ],
         [ groupMapping => $name, map { [ $map->(external => $_) ] } '', ' ', 'x' x 1025, 1, undef ],
         [ groupMapping => '"groupMapping[0].groupId" must be the id of a group.',
           map { [ $map->(groupId => $_) ] } '', 'x', $of{group} . '0' ],
         [ groupMapping => '"groupMapping[0].groupId" must be a string.',
           map { [ $map->(groupId => $_) ] } 1, undef, [] ],
         [ groupMapping => '"groupMapping" must name groups of the tenant: there is no group'
                           . " $of{other}.", [ $map->(), $map->(groupId => $of{other}) ] ]) {
        my ($member, $text, @values) = @$_;

        is(admin_error($write->({ $member => $_ }, token => $of{token}), 400, 'invalid_request',
                       "$member is refused")->{message}, $text, 'which says why') for @values;
    }

    is(admin_error($write->({ groupMapping => [ $map->() ] }), 403, 'forbidden',
                   'groups, without the right to add people to them')->{message},
       '"groupMapping" needs the permission "groups:manage", as adding a member to a group does.',
       'which says so');
    is(admin_error($write->({ keepLinks => $TRUE }), 403, 'forbidden', 'links, of a token')
       ->{message}, '"keepLinks" takes the session of an owner.', 'which says whose they are');

    my %good = (label => 'Acme & Söhne', domains => [ 'acme.test', 'xn--bcher-kva.test' ],
                jitProvisioning => $TRUE, jitRole => 'member', linkByEmail => 'never',
                trustMfa => $TRUE, mfaContexts => [ 'phr', 'urn:x' ], showOnPage => $TRUE,
                groupMapping => [ $map->(), $map->(external => 'ü') ]);
    my $r = $write->({ %good, label => ' Acme & Söhne ', domains => [ 'ACME.test', 'bücher.test' ],
                       keepLinks => $FALSE,
                       groupMapping => [ $map->(external => ' cn=x ', groupId => uc $of{group},
                                                more => 1), $good{groupMapping}[1] ] },
                     token => $of{token});

    is($r->status, 200, 'all of them') or diag($r->body);
    is_deeply({ map { $_ => $r->json->{$_} } keys %good }, \%good, 'as they are kept');

    return \%good;
}


# Tests whom a connection covers: who has said last whose people come by it has to be one
# whose rights they may have.  write: as above, and by whom: a token's "by" is undefined;
# else a browser's.  by: browsers of an owner and of an admin; people: changes of whose
# people they are, other: other changes; vouch: what an owner says beside a change.

sub whose_people {
    my ($write, $by, %change) = @_;

    my $covers = sub {
        my ($change, $who, $expected, $name) = @_;
        my $r = $write->($change, by => $who ? $by->{$who} : undef);

        is($r->status, 200, $name) or diag($r->body);
        is($r->json->{covers}, $expected, "it covers $expected");
    };

    for my $member (sort keys %{ $change{people} }) {
        my ($one, $two) = @{ $change{people}{$member} };

        is($write->({ $member => $two })->status, 200, "$member, of a token");
        $covers->({ $member => $one, %{ $change{vouch} // {} } }, 'owner', 'owners',
                  'another one, of an owner');
        $covers->({ $member => $one }, undef, 'owners', 'the same, of a token');
        $covers->({ $member => $one, %{ $change{other} } }, undef, 'owners',
                  'and what does not matter');
        $covers->({ $member => $two }, 'admin', 'admins', 'another one, of an admin');
        $covers->({ $member => $one }, undef, 'members', 'and of a token');
    }

    my ($member) = sort keys %{ $change{people} };
    my $two = $change{people}{$member}[1];

    $covers->({ $member => $two, enabled => $TRUE, %{ $change{vouch} // {} } }, 'owner',
              'owners', 'on, of an owner');
    $covers->({ $member => $two, enabled => $FALSE }, undef, 'owners', 'off, of a token');
    $covers->({ $member => $two, enabled => $TRUE }, undef, 'members', 'and on again');
    $covers->({ $member => $two, enabled => $TRUE }, 'owner', 'members', 'the same, of an owner');
    $covers->({ $member => $two, enabled => $TRUE, vouch => $TRUE }, 'owner', 'owners',
              'who vouches for it');
}


1;
