#!/usr/bin/perl

# A migration while the tables are in use: who uses them goes on.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(alive slurp spawn wait_exit wait_for);

my $s = SvcTest->new(redis => 0)->start;

my $root = $s->root;
my $sql = "$s->{dir}/sql";

mkdir $sql or die "$sql: $!\n";
symlink $_, "$sql/" . s{.*/}{}r or die "$_: $!\n" for glob "$root/sql/[0-9]*.sql";

open my $fh, '>', "$sql/9998_late.sql" or die "$!\n";
print $fh "ALTER TABLE svc.audit_event ADD COLUMN late integer;\n"
        . "ALTER TABLE svc.user_account ADD COLUMN late integer;\n";
close $fh;


# As pg_dump does for hours, of a table that is changed behind others.

my $dump = $s->pg->connect('postgres');
$dump->query('BEGIN; SELECT count(*) FROM svc.user_account');

my $user = $s->pg->connect('postgres');
$user->query("SET lock_timeout = '4s'");

my $out = "$s->{dir}/migrate.out";
my $pid = spawn([ "$root/conf/svcctl", 'migrate', '--sql', $sql ], out => $out,
                env => { SVC_PG => $s->pg->conninfo('postgres') });

sub waits {
    return $s->sql("SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                   . " AND wait_event_type = 'Lock'");
}

ok((wait_for { waits() || !alive($pid) }), 'a migration waits for a table');
ok(alive($pid), 'and does not give up') or diag(slurp($out));

for (1 .. 5) {
    ok(eval { $user->query('SELECT count(*) FROM svc.audit_event') },
       'others use what it is to change') or diag($@);
}

$dump->query('COMMIT');
is(wait_exit($pid, 60), 0, 'it goes on when it can') or diag(slurp($out));
like(slurp($out), qr/^applied 9998 late$/m, 'and is applied');
is($s->sql("SELECT count(*) FROM pg_attribute WHERE attname = 'late'"
           . " AND attrelid IN ('svc.audit_event'::regclass,"
           . " 'svc.user_account'::regclass)"), 2, 'as a whole');

$s->done;
done_testing();
