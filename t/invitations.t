#!/usr/bin/perl

# Shows /v1/admin/invitations: inviting people, listing and revoking invitations.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance;
use SvcTest::Mail;
use SvcTest::Process qw(wait_for slurp);

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $MANAGE = 'members:manage';
my $NOBODY = '00000000-0000-4000-8000-000000000000';
my @TOLD = qw(action target_type target_id details);

my $s = SvcTest->new;
my $mail = SvcTest::Mail->new($s, svc_sign_in => 'on');

$s->start;

my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
my %token = (all => $acme->token_for($ALL), manage => $acme->token_for($MANAGE),
             auditing => $acme->token_for("$MANAGE,audit:view"),
             other => $globex->token_for($ALL));

$s->secret($PASSWORD);

my $asks = $acme->asks('/invitations', \%token);

sub ask {
    my $r = $asks->(@_);

    $s->secret($1) if $r->body =~ /#token=([^"]+)/;

    return $r;
}


my %GRANTS = (owner => $ALL, admin => $ALL, member => '', manager => $MANAGE,
              viewer => 'users:view', auditor => "audit:view,$MANAGE");

$s->sql('INSERT INTO svc.role (tenant_id, key, name, permissions) VALUES'
        . " ('$acme->{id}', '$_', '$_', '{$GRANTS{$_}}')")
    for qw(manager viewer auditor);

my ($staff, $board) = map {
    $acme->admin(POST => '/groups', { name => $_ }, undef, $token{all})->json->{id}
} qw(Staff Board);
my $theirs = $globex->admin(POST => '/groups', { name => 'Staff' }, undef,
                            $token{other})->json->{id};
my $n = 0;

sub address { return 'new' . ++$n . '@acme.test' }


# Makes an invitation, and returns it.

sub invited {
    my (%body) = @_;

    my $r = ask(POST => '', { email => address(), role => 'member', %body });

    is($r->status, 201, 'invited') or diag($r->body);

    return $r->json;
}


sub invitations {
    my ($query) = @_;

    return map { $_->{id} } @{ ask(GET => $query // '')->json->{invitations} };
}


# Returns a text that changes with any invitation, or with the audit log.

sub stored {
    return scalar $s->sql("SELECT coalesce(md5(string_agg(i::text, ' ' ORDER BY id)), '')"
        . " || (SELECT count(*) FROM svc.audit_event) FROM svc.invitation i");
}


sub declined {
    my ($r, $status, $code, $name, $before) = @_;

    my $error = admin_error($r, $status, $code, $name);

    is(stored(), $before, "$name: nothing has changed");

    return $error;
}


# --- one invitation ----------------------------------------------------------------

$acme->new_events(@TOLD);

my $r = ask(POST => '', { email => 'Carol@acme.test', role => 'auditor',
                          groupIds => [ $staff, $board, $staff ] });
is($r->status, 201, 'made') or diag($r->body);
is($r->header('Cache-Control'), 'no-store', 'and kept by nobody');

my $made = $r->json;
my $base = $s->base_url;
my ($link) = delete($made->{inviteUrl}) =~ m{\A\Q$base\E/invite\?tenant=\w+\#token=([\w-]{43})\z};

ok($link, 'with a link');
is($s->sql("SELECT encode(token_hash, 'hex') FROM svc.invitation"),
   sha256_hex($link), 'of which the digest is stored');
like($made->{$_}, $TIME, $_) for qw(createdAt expiresAt);
is($s->sql("SELECT expires_at - created_at = interval '7 days' FROM svc.invitation"),
   't', 'for a week');
is_deeply([ sort @{ delete $made->{groupIds} } ], [ sort $staff, $board ],
          'groups, each once');

my ($id, $ends) = delete @$made{qw(id expiresAt)};

delete $made->{createdAt};
is_deeply($made, { email => 'Carol@acme.test', role => 'auditor', status => 'pending',
                   invitedBy => { type => 'apiToken', name => 'extra',
                                  id => scalar $s->sql('SELECT id FROM svc.credential'
                                      . " WHERE token_hash = '\\x"
                                      . sha256_hex($token{all}) . "'") } },
          'what was made');

my ($event) = $acme->new_events(@TOLD);

is_deeply([ @$event[0 .. 2] ], [ 'invitation.created', 'invitation', $id ], 'audited');
is($event->[3]{role}, 'auditor', 'with the role');

$r = ask(GET => '');
is($r->json->{total}, 1, 'listed');
unlike($r->body, qr/inviteUrl|token/, 'without the link');
is($r->json->{invitations}[0]{id}, $id, 'it is');
admin_one($acme, '/invitations', $id, needs => $MANAGE, other => $globex,
          none => [ $NOBODY, 'x', uc $id ]);
admin_finds($acme, '/invitations', needs => $MANAGE, of => 'invitations', by => 'id', finds => {
    CAROL => [ $id ], 'ol@Acme.T' => [ $id ], $id => [ $id ], uc $id => [ $id ],
    '%' => [], 'c_rol' => [], auditor => [] });
admin_finds($acme, '/invitations', needs => $MANAGE, of => 'invitations', by => 'id',
            query => "status=$_->[0]", finds => { carol => $_->[1] })
    for [ pending => [ $id ] ], [ accepted => [] ];

my $long = ask(POST => '', { email => address(), role => 'member',
                             expiresInDays => 30, groupIds => [] })->json;

is($s->sql("SELECT expires_at - created_at = interval '30 days' FROM svc.invitation"
           . " WHERE id = '$long->{id}'"), 't', 'for a month');
is(ask(POST => '', { email => address(), role => 'viewer', expiresInDays => 1 })
   ->status, 201, 'for a day');


# --- sent again with its key -------------------------------------------------------

my $key = [ 'Idempotency-Key' => 'one' ];
my $body = { email => address(), role => 'member' };
my $first = ask(POST => '', $body, 'all', @$key);
my $again = ask(POST => '', $body, 'all', @$key);

is($first->status, 201, 'with a key');
ok($first->json->{inviteUrl}, 'the link is there');
is($again->status, 201, 'again');
is($again->json->{id}, $first->json->{id}, 'is the same one');
ok(!exists $again->json->{inviteUrl}, 'without the link');


# --- bad input ---------------------------------------------------------------------

for my $case (
    [ 'no address', { email => undef } ], [ 'a number', { email => 1 } ],
    [ 'no @', { email => 'carol' } ], [ 'two', { email => 'a@b@acme.test' } ],
    [ 'a line', { email => "a\r\nBcc: b\@acme.test" } ],
    [ 'too long', { email => 'x' x 245 . '@acme.test' } ],
    [ 'no role', { role => undef } ], [ 'an empty role', { role => '' } ],
    [ 'no such role', { role => 'nobody' } ],
    [ 'groups that are none', { groupIds => 'x' } ],
    [ 'null', { groupIds => undef } ],
    [ 'no id', { groupIds => [ 'x' ] } ], [ 'a number', { groupIds => [ 7 ] } ],
    [ 'an id in another case', { groupIds => [ uc $staff ] } ],
    [ 'no such group', { groupIds => [ $staff, $NOBODY ] } ],
    [ 'the group of another tenant', { groupIds => [ $theirs ] } ],
    [ 'too many', { groupIds => [ ($staff) x 101 ] } ],
    [ 'no days', { expiresInDays => 0 } ], [ 'too many', { expiresInDays => 31 } ],
    [ 'half a day', { expiresInDays => 0.5 } ], [ 'null', { expiresInDays => undef } ],
    [ 'a text', { expiresInDays => '7' } ])
{
    my ($name, $wrong) = @$case;
    my ($member) = keys %$wrong;
    my $before = stored();
    my $error = declined(ask(POST => '', { email => address(), role => 'member',
                                          %$wrong }),
                        400, 'invalid_request', "$member: $name", $before);

    like($error->{message}, qr/"$member\b/, "$member: it is named");
}

for my $bad ('', '[]', '{"email":"x@acme.test"}', '{"role":"member"}',
             '{"email":"x@acme.test","role":"member","role":"member"}')
{
    declined(ask(POST => '', $bad), 400, 'invalid_request', "bad: $bad", stored());
}

admin_error(ask(GET => "?$_"), 400, undef, "?$_") for 'status=gone', 'limit=0';


# --- addresses of users, and of invitations -------------------------------------------

$acme->create(userName => 'Dave@acme.test');

for my $case ([ 'dAVE@acme.test', 'email_taken' ], [ 'CAROL@acme.test', 'conflict' ]) {
    my ($email, $code) = @$case;

    declined(ask(POST => '', { email => $email, role => 'member' }), 409, $code,
            "$email: $code", stored());
}

is($globex->admin(POST => '/invitations', { email => 'dave@acme.test',
                                            role => 'member' }, undef, $token{other})
   ->status, 201, 'another tenant may invite him');

# One of two invitations at the same time succeeds.

for my $round (1 .. 5) {
    my $email = address();
    my @codes = sort map { $_->status == 201 ? 'made' : $_->json->{error}{code} }
                at_once($s, $token{all}, map { [ POST => '/invitations',
                    { email => $email, role => 'member' } ] } 1 .. 3);

    is_deeply(\@codes, [ qw(conflict conflict made) ], "one of three ($round)");
}


# --- states ------------------------------------------------------------------------

my $gone = invited();
my $late = invited(role => 'viewer');
my $done = invited();

$acme->new_events(@TOLD);
is(ask(DELETE => "/$gone->{id}")->status, 204, 'revoked');
is_deeply([ $acme->new_events(@TOLD) ],
          [ [ 'invitation.revoked', 'invitation', $gone->{id}, {} ] ], 'audited');
is(ask(DELETE => "/$gone->{id}")->status, 204, 'again');
is_deeply([ $acme->new_events(@TOLD) ], [], 'is not said again');

$s->sql("UPDATE svc.invitation SET expires_at = now() - interval '1 ms' WHERE id = '$late->{id}'");
$s->sql("UPDATE svc.invitation SET accepted_at = now() WHERE id = '$done->{id}'");

my %status = map { $_->{id} => $_->{status} } @{ ask(GET => '')->json->{invitations} };

is_deeply([ @status{$gone->{id}, $late->{id}, $done->{id}} ],
          [ qw(revoked expired accepted) ], 'what they are');
is_deeply([ invitations("?status=$status{$_}") ], [ $_ ], "by status: $status{$_}")
    for $gone->{id}, $late->{id}, $done->{id};
is(ask(GET => '?status=pending')->json->{total},
   ask(GET => '')->json->{total} - 3, 'and those that are not over');
is_deeply([ invitations('?limit=2&offset=1') ], [ (invitations())[1, 2] ], 'a page');

my $before = stored();
admin_error(ask(DELETE => "/$done->{id}"), 409, 'conflict', 'an accepted one stays');
is(stored(), $before, 'as it is');

is(ask(POST => '', { email => $gone->{email}, role => 'member' })->status, 201,
   'who was revoked may be invited again');
is(ask(POST => '', { email => uc $late->{email}, role => 'member' })->status, 201,
   'and whose invitation has expired');
ok(!(grep { $_ eq $late->{id} } invitations()), 'in place of it');

for my $other ($NOBODY, 'x', $s->sql("SELECT id FROM svc.invitation WHERE"
                                     . " tenant_id = '$globex->{id}'"))
{
    my $which = ref $other ? $other->[0] : $other;

    admin_error(ask(DELETE => "/$which"), 404, undef, "DELETE of none: $which");
    admin_error(ask(POST => "/$which/resend"), 404, undef, "resend of none: $which");
}

is($globex->admin(GET => '/invitations', undef, undef, $token{other})->json->{total},
   1, 'another tenant has its own');


# --- resending ---------------------------------------------------------------------

sub hash_of {
    return scalar $s->sql("SELECT token_hash FROM svc.invitation WHERE id = '$_[0]'");
}

my $old = hash_of($long->{id});

$s->sql("UPDATE svc.invitation SET expires_at = now() - interval '1 day'"
        . " WHERE id = '$long->{id}'");
$acme->new_events(@TOLD);
$r = ask(POST => "/$long->{id}/resend");
is($r->status, 200, 'sent again') or diag($r->body);
is($r->json->{status}, 'pending', 'it is pending again');
is($s->sql("SELECT expires_at > now() + interval '29 days' FROM svc.invitation"
           . " WHERE id = '$long->{id}'"), 't', 'for as long as at first');
like($r->json->{inviteUrl}, qr/#token=[\w-]{43}\z/, 'with a link');
isnt(hash_of($long->{id}), $old, 'that is another one');
is_deeply([ $acme->new_events(@TOLD) ],
          [ [ 'invitation.resent', 'invitation', $long->{id}, {} ] ], 'audited');

for my $over ([ $gone->{id}, 'revoked' ], [ $done->{id}, 'accepted' ]) {
    my $error = declined(ask(POST => "/$over->[0]/resend"), 409, 'conflict',
                        "one that is $over->[1]", stored());

    like($error->{message}, qr/$over->[1]/, 'it says so');
}

my $joined = invited();

$acme->create(userName => uc $joined->{email});
declined(ask(POST => "/$joined->{id}/resend"), 409, 'email_taken',
        'of who has come another way', stored());


# --- permissions ------------------------------------------------------------------

only_with($s, $acme, $MANAGE, [ GET => '/invitations' ],
          [ POST => '/invitations', { email => address(), role => 'member' } ],
          [ DELETE => "/invitations/$gone->{id}" ],
          [ POST => "/invitations/$long->{id}/resend" ]);

sub by_session {
    my ($role) = @_;

    my $email = "by-$role\@acme.test";
    my $b = SvcTest::Browser->new($s, tenant => 'acme');

    with_password($s, $acme, userName => $email, role => $role);
    is($b->login($email)->status, 200, "one who is $role signs in");

    return { name => "the session of one who is $role", grants => $GRANTS{$role},
             owner => $role eq 'owner', browser => $b, ask => sub {
                 my ($method, $path, $body) = @_;
                 my $r = $b->ask($method, "/v1/admin/invitations$path", $body);

                 $s->secret($1) if $r->body =~ /#token=([^"]+)/;
                 return $r;
             } };
}

my @callers = ((map {
    my $name = $_;

    { name => "a token: $name", owner => 1, ask => sub { ask(@_[0 .. 2], $name) },
      grants => { all => $ALL, manage => $MANAGE,
                  auditing => $GRANTS{auditor} }->{$name} }
} qw(all manage auditing)), map { by_session($_) } qw(owner admin manager auditor));

for my $caller (@callers) {
    my %has = map { $_ => 1 } split /,/, $caller->{grants};

    for my $role (sort keys %GRANTS) {
        my $name = "$caller->{name}: $role";
        my $may = ($role ne 'owner' || $caller->{owner})
                  && !grep { !$has{$_} } split /,/, $GRANTS{$role};
        my $theirs = invited(role => $role);
        my $new = $caller->{ask}->(POST => '', { email => address(), role => $role });
        my $hash = hash_of($theirs->{id});
        my $resent = $caller->{ask}->(POST => "/$theirs->{id}/resend");

        if ($may) {
            is($new->status, 201, "$name: invites");
            is($resent->status, 200, "$name: invites again");

        } else {
            admin_error($new, 403, 'forbidden', "$name: invites nobody");
            admin_error($resent, 403, 'forbidden', "$name: gets no link");
            is(hash_of($theirs->{id}), $hash, "$name: that of somebody else stays");
        }
    }
}

$r = $callers[3]{ask}->(POST => '', { email => address(), role => 'member' });

my $by = $r->json->{invitedBy};

is_deeply([ @$by{qw(type name)} ], [ 'user', undef ],
          'who invites by a session, and has no name, is not told by the address');
is($s->sql('SELECT actor_name IS NULL FROM svc.audit_event WHERE action = \'invitation.created\''
           . ' ORDER BY id DESC LIMIT 1'), 't', 'nor in the audit log');

$s->sql("UPDATE svc.user_account SET display_name = 'Zoë' WHERE id = '$by->{id}'");
$r = $callers[3]{ask}->(POST => '', { email => address(), role => 'member' });
is($r->json->{invitedBy}{name}, "Zo\x{eb}", 'a name that is shown is');
is($s->sql('SELECT actor_name FROM svc.audit_event WHERE action = \'invitation.created\''
           . ' ORDER BY id DESC LIMIT 1'), 'Zoë', 'which the audit log keeps, too');


# --- a role that is deleted, or gets more permissions, meanwhile ------------------------

sub meanwhile {
    my ($name, $change, $status, $code) = @_;

    my $holder = $s->connect_as('postgres');

    $holder->query('BEGIN');
    $holder->query('SELECT FROM svc.governance WHERE tenant_id ='
                   . " '$acme->{id}' FOR UPDATE");

    my $c = $s->begin(POST => '/v1/admin/invitations',
                      [ Authorization => "Bearer $token{manage}" ],
                      { email => address(), role => 'manager' });

    ok((wait_for { $s->waiting == 1 }), "$name: it waits");
    $holder->query($_) for @$change, 'COMMIT';
    admin_error($c->read, $status, $code, $name);
}

meanwhile('a role that is raised',
          [ "UPDATE svc.role SET permissions = '{$ALL}' WHERE key = 'manager'" ],
          403, 'forbidden');
meanwhile('a role that goes',
          [ "UPDATE svc.user_account SET role = 'member' WHERE role = 'manager'",
            "DELETE FROM svc.role WHERE key = 'manager'" ], 400, 'invalid_request');


# --- the greatest number of invitations --------------------------------------------

$s->sql("DELETE FROM svc.invitation WHERE tenant_id = '$acme->{id}'");
$s->sql(<<"EOT");
INSERT INTO svc.invitation (tenant_id, id, email, email_key, role, group_ids, days,
                            token_hash, created_at, expires_at, revoked_at)
SELECT '$acme->{id}'::uuid, gen_random_uuid(), i || '\@x.test', i || '\@x.test', 'member',
       '{}'::uuid[], 7,
       sha256(i::text::bytea), now() - i * interval '1 h', now() + interval '1 day',
       CASE WHEN i > 3000 THEN now() END
FROM generate_series(1, 999) i
UNION ALL
SELECT '$acme->{id}'::uuid, gen_random_uuid(), i || '\@x.test', i || '\@x.test', 'member',
       '{}'::uuid[], 7,
       sha256(i::text::bytea), now() - i * interval '1 h', now() - interval '1 day',
       CASE WHEN i % 2 = 0 THEN now() END
FROM generate_series(3001, 3100) i
EOT

my $last = invited();

declined(ask(POST => '', { email => address(), role => 'member' }), 400,
        'limit_exceeded', 'one more than 1,000', stored());
is($s->sql("SELECT count(*) FROM svc.invitation WHERE tenant_id = '$acme->{id}'"),
   1000, 'those that were over long ago have gone');
is(ask(DELETE => "/$last->{id}")->status, 204, 'one less');
invited();


# --- by mail -----------------------------------------------------------------------

my $plain = $s->node(svc => { svc_sign_in => 'on' });

sub token_of { return $_[0] =~ /#token=([\w-]{43})/ }

my %to = map { $_ => address() } qw(told replayed refused plain away);

$s->sql("DELETE FROM svc.invitation WHERE tenant_id = '$acme->{id}'");

$r = ask(POST => '', { email => uc $to{told}, role => 'viewer', expiresInDays => 1 });

my $told = $r->json;

ok((wait_for { $mail->counts->{ uc $to{told} } }), 'a mail comes');

my ($got) = grep { $_->{to}[0] eq uc $to{told} } $mail->wait(1);

$s->secret(token_of($got->{plain}));
is(token_of($got->{plain}), token_of($told->{inviteUrl}), 'with the same link');
like($got->{plain}, qr{^\Q$base\E/invite\?tenant=\w+#token=}m, 'to here');
like($got->{plain}, qr/to join Acme/, 'of the tenant');
like($got->{html}, qr/lang="en"/, 'in English: nobody knows better');
unlike($got->{plain}, qr/^From /m, 'nor whence it was sent');

$r = ask(POST => "/$told->{id}/resend");
ok((wait_for { $mail->counts->{ uc $to{told} } == 2 }), 'sent again');
($got) = reverse grep { $_->{to}[0] eq uc $to{told} } $mail->wait(1);
$s->secret(token_of($got->{plain}));
is(token_of($got->{plain}), token_of($r->json->{inviteUrl}), 'with the new link');

$body = { email => $to{replayed}, role => 'member' };
is(ask(POST => '', $body, 'all', 'Idempotency-Key' => 'mail')->status, 201, 'one')
    for 1 .. 3;
is(ask(POST => '', { email => $to{refused}, role => 'nobody' })->status, 400,
   'one that is refused');
is(ask(POST => '', { email => uc $to{told}, role => 'member' })->status, 409,
   'one more of the same');
is($s->http(POST => '/v1/admin/invitations', [ Authorization => "Bearer $token{all}" ],
            { email => $to{plain}, role => 'member' }, port => $plain->{port})->status,
   201, 'without svc_mail');

invited(email => 'last@acme.test');
ok((wait_for { $mail->counts->{'last@acme.test'} && $mail->pending == 0 }),
   'all have come');
is_deeply([ map { $_ // 0 } @{ $mail->counts }{ uc $to{told},
                                                @to{qw(replayed refused plain)} } ],
          [ 2, 1, 0, 0 ], 'none comes twice, or of what was refused');

$s->redis->stop;
ok((wait_for { slurp($s->nginx->{log}) =~ /a mail is dropped/
               || ask(POST => '', { email => address(), role => 'member' })
                      ->status != 201 }), 'without Redis there is no mail');

my $away = ask(POST => '', { email => $to{away}, role => 'member' });

is($away->status, 201, 'but an invitation');
ok(token_of($away->json->{inviteUrl}), 'with its link');
$mail->stop;


is_deeply([ $s->pg->errors ], [], 'nothing in the log of PostgreSQL');

$s->done;
done_testing();
