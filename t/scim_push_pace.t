#!/usr/bin/perl

# Outbound SCIM: the pace.  However much is written, targets take turns in
# following the log, and the more targets there are, the less often each one
# does.

use strict;
use warnings;
use utf8;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Outbound;
use SvcTest::Process qw(wait_for);


my $TARGETS = 8;
my $USERS = 600;
my $A_SECOND = 25;      # turns of all targets together: see ngx_svc_push_when.c

my $s = SvcTest->new(workers => 1);
my $out = SvcTest::Outbound->new($s);
my @tenants = ($out->start, map { $out->tenant("tenant$_") } 2 .. $TARGETS);

$out->target('pace/none', tenant => $_) for @tenants;

ok((wait_for {
    !$s->sql('SELECT count(*) FROM svc.scim_target WHERE xid IS NULL'
             . ' OR sync_next IS NOT NULL')
}), 'all are followed');


# A trigger notes each time that a target has followed the log.

$s->sql('CREATE TABLE svc.followed (target_id uuid)');
$s->sql(<<'EOT');
CREATE FUNCTION svc.note_followed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO svc.followed VALUES (NEW.id);

    RETURN NULL;
END
$$
EOT
$s->sql('CREATE TRIGGER followed AFTER UPDATE OF event_id ON svc.scim_target'
        . ' FOR EACH ROW EXECUTE FUNCTION svc.note_followed()');


# Events whose target is not a valid id, though some look like one, stop
# nothing.

$s->sql("INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id)"
        . " SELECT '$tenants[0]{id}', 'user.updated', 'user', of"
        . ' FROM unnest(ARRAY['
        . join(', ', map { "'$_'" } 'x', '-' x 36, "é" . '-' x 35,
               '0000000g-0000-0000-0000-000000000000', '0000000A-0000-0000-0000-000000000000',
               '000-0000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-00000000000',
               "00000000-0000-0000-0000-000000000000\n")
        . ']) of');


my $begin = time;

$tenants[$_ % $TARGETS]->create(userName => "u$_\@x.test") for 1 .. $USERS;

# each may have had a turn right before, and another while they are counted

my $times = $s->sql('SELECT count(*) FROM svc.followed');
my $most = $A_SECOND * (time - $begin) + 2 * $TARGETS;

cmp_ok($times, '<=', $most, 'targets have followed the log in turn');

ok((wait_for {
    $s->sql("SELECT count(*) FROM svc.scim_item WHERE state = 'synced'") == $USERS
} 30), 'everybody is there');
is($s->sql('SELECT count(DISTINCT target_id) FROM svc.followed'), $TARGETS,
   'at all targets');

$s->done;
done_testing();
