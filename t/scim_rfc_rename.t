#!/usr/bin/perl

# svc_scim_mode rfc: another userName is another address, with all consequences
# of one that an administrator sets.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Mail;
use SvcTest::Process qw(wait_for);
use SvcTest::Scim;
use SvcTest::Session qw(session_of live_sessions);


my $s = SvcTest->new(workers => 1);
my $mail = SvcTest::Mail->new($s, svc_sign_in => 'on');

$s->nginx->{scim} = { svc_scim_mode => 'rfc' };
$s->start;

my $acme = $s->tenant('acme');
my $api = $acme->token_for('members:manage,users:view');
my $seen = 0;

sub put { return { schemas => [ U ], @_ } }

sub rename { return patch_op({ op => 'replace', path => 'userName', value => $_[0] }) }

sub row {
    my ($id, $columns) = @_;

    return join '|', map { $_ // '' } @{ ($s->sql("SELECT $columns FROM svc.user_account"
                                                  . " WHERE id = '$id'"))[0] };
}

# Tests to whom mails have come since the last call.

sub mailed {
    my ($want, $name) = @_;

    wait_for { $mail->pending == 0 && $mail->events('mail') >= $seen + @$want };

    my @all = $mail->events('mail');
    my @new = @all[ $seen .. $#all ];

    $seen = @all;
    is_deeply([ map { "@{ $_->{to} }" } @new ], $want, $name);
}


# --- what follows ------------------------------------------------------------------

my $n = 0;

for my $how (qw(admin PUT PATCH object)) {
    my ($old, $new) = map { $_ . ++$n . '@acme.test' } qw(old new);
    my $user = $acme->create(userName => $old, externalId => "e$n", title => 'T');
    my $id = $user->{id};

    $s->sql(session_of($id));
    $s->sql('INSERT INTO svc.password_reset (tenant_id, token_hash, user_id, expires_at)'
            . " VALUES ('$acme->{id}', sha256('$id'), '$id', now() + interval '1 hour')");
    $acme->new_events;

    my $r = $how eq 'admin'
            ? $acme->admin(PUT => "/users/$id", { email => $new }, undef, $api)
            : $how eq 'PUT'
            ? $acme->scim(PUT => "/Users/$id", put(userName => $new, externalId => "e$n",
                                                   title => 'T'))
            : $acme->scim(PATCH => "/Users/$id", $how eq 'PATCH' ? &rename($new)
                          : patch_op({ op => 'Replace', value => { userName => $new } }));

    is($r->status, 200, "$how: 200");
    is(row($id, 'user_name, user_name_key, email_verified, source, status, title'),
       "$new|$new|f|scim|active|T", "$how: is stored, and not verified");
    is(row($id, 'search'), $s->sql("SELECT svc.user_search('$new', NULL, NULL, NULL)"),
       "$how: is found");
    is(live_sessions($s, $id), 0, "$how: no session is left");
    is($s->sql('SELECT count(*) FROM svc.password_reset r JOIN svc.user_account u'
               . " ON u.id = r.user_id WHERE u.id = '$id' AND r.created_at >= u.valid_after"), 0,
       "$how: nor a token that resets the password");
    is_deeply([ map { [ $_->[0], $_->[1]{changed} ] } $acme->new_events(qw(action details)) ],
              [ [ 'user.updated', [ 'email' ] ] ], "$how: the event");
    mailed([ $old ], "$how: the old address is told");

    scim_user($acme->scim(GET => "/Users/$id"), $s->base_url,
              { userName => $new, externalId => $user->{externalId}, title => 'T' },
              "$how: GET");
}

# the same address in another case

my $id = $acme->create(userName => 'ada@acme.test')->{id};

$s->sql(session_of($id));
scim_ok($acme->scim(PATCH => "/Users/$id", &rename('Ada@ACME.test')), 200, 'in another case');
is(row($id, 'user_name, user_name_key, email_verified'), 'Ada@ACME.test|ada@acme.test|t',
   'is stored, and as verified');
is(live_sessions($s, $id), 1, 'the session stays');
mailed([], 'nobody is told');

my $before = row($id, 'updated_at');

scim_ok($acme->scim(PUT => "/Users/$id", put(userName => 'Ada@ACME.test')), 200, 'the same');
is(row($id, 'updated_at'), $before, 'changes nothing');

# with a deactivation: an inactive user gets no notice later

scim_ok($acme->scim(PATCH => "/Users/$id",
    patch_op({ op => 'replace', value => { active => 'False' } },
             { op => 'replace', path => 'userName', value => 'x@acme.test' })), 200,
        'a new name, and the end');
is(row($id, 'user_name, status'), 'x@acme.test|deactivated', 'both');
mailed([ 'Ada@ACME.test' ], 'the old address is told');
$acme->scim(PATCH => "/Users/$id", &rename('ada@acme.test'));
mailed([], 'who is not active is not');


# --- refused -----------------------------------------------------------------------

$acme->create(userName => 'bob@acme.test', externalId => 'bob');

my $gone = $acme->create(userName => 'gone@acme.test')->{id};

$acme->scim(DELETE => "/Users/$gone");

my $stored = $acme->stored;

for my $taken (qw(bob@acme.test BOB@Acme.test gone@acme.test)) {
    scim_error($acme->scim(PATCH => "/Users/$id", &rename($taken)), 409, 'uniqueness',
               "PATCH to $taken");
    scim_error($acme->scim(PUT => "/Users/$id", put(userName => $taken)), 409, 'uniqueness',
               "PUT to $taken");
}

scim_error($acme->scim(PATCH => "/Users/$id",
    patch_op({ op => 'replace', value => { userName => 'free@acme.test',
                                           externalId => 'bob' } })), 409, 'uniqueness',
    'a free name, and an externalId that is not');

for my $bad ('', 'ada', 'a b@acme.test', undef, 7, [ 'a@acme.test' ], 'x' x 250 . '@a.test') {
    my $name = $bad // 'null';

    scim_error($acme->scim(PATCH => "/Users/$id", &rename($bad)), 400, 'invalidValue',
               "PATCH to $name");
    scim_error($acme->scim(PUT => "/Users/$id", put(userName => $bad)), 400, 'invalidValue',
               "PUT to $name");
}

is($acme->stored, $stored, 'nothing has changed');


# --- roles -------------------------------------------------------------------------

for my $row ([ qw(member local 200) ], [ qw(owner scim 200) ], [ qw(owner local 400) ],
             [ qw(admin invitation 400) ])
{
    my ($role, $source, $status) = @$row;
    my $name = "$role-$source";
    my $user = $s->sql(<<"EOT");
INSERT INTO svc.user_account (tenant_id, id, user_name, role, source, status)
VALUES ('$acme->{id}', gen_random_uuid(), '$name\@acme.test', '$role', '$source', 'active')
RETURNING id
EOT

    for my $request ([ PATCH => &rename("$name\@evil.test") ],
                     [ PUT => put(userName => "$name\@evil2.test", active => false) ])
    {
        my ($method, $body) = @$request;
        my $r = $acme->scim($method => "/Users/$user", $body);

        $status == 200 ? scim_ok($r, 200, "$method of a $role, $source")
                       : scim_error($r, 400, 'mutability', "$method of a $role, $source");
    }

    is(row($user, 'user_name, status'),
       $status == 200 ? "$name\@evil2.test|deactivated" : "$name\@acme.test|active",
       "$role, $source: all or nothing");

    scim_ok($acme->scim(PUT => "/Users/$user",
                        put(userName => uc row($user, 'user_name'), title => 'x')), 200,
            "$role, $source: the same name does");
}

$s->done;
done_testing();
