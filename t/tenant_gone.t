#!/usr/bin/perl

# svcctl tenant delete: when it is allowed, that it continues where it was
# killed, that other tenants work meanwhile, and that the slug is reserved for
# 30 days.  migrations.t, which has rows in all tables, tests that nothing is
# left in any of them.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Mail;
use SvcTest::Process qw(signal_pid spawn wait_exit wait_for);
use SvcTest::Signup;

use constant EVENTS => 60_000;

my $s = SvcTest->new;
my $mail = SvcTest::Mail->new($s, port => 'plain', SvcTest::Signup::svc(),
                              svc_organization_signup => 'on');

$s->start;
$s->secret($PASSWORD);

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');


sub svcctl {
    my (@args) = @_;
    my ($out, $status, $err) = $s->svcctl(@args);

    return ($out, $status >> 8, $err);
}

sub deletes {
    my ($slug, @more) = @_;

    return svcctl(qw(tenant delete --tenant), $slug, '--confirm', $slug, @more);
}

sub refused {
    my ($name, $why, @args) = @_;
    my ($out, $rc, $err) = svcctl(qw(tenant delete), @args);

    is("$rc $out", '1 ', "$name: refused");
    like($err, $why, "$name: why");
}

sub there {
    return scalar $s->sql("SELECT count(*) FROM svc.tenant WHERE slug = '$_[0]'");
}

sub events {
    return scalar $s->sql("SELECT count(*) FROM svc.audit_event WHERE tenant_id = '$_[0]{id}'");
}

# Returns the number of rows of a tenant, by table.

sub rows {
    my ($id) = @_;
    my %rows;

    for my $table (map { $_->[0] } $s->sql(<<'SQL')) {
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind IN ('r', 'p')
   AND NOT c.relispartition AND a.attname = 'tenant_id'
SQL
        my ($row) = $s->sql("SELECT count(*), md5(string_agg(t::text, ',' ORDER BY t::text))"
                            . " FROM svc.$table t WHERE tenant_id = '$id'");

        $rows{$table} = $row->[1] if $row->[0];
    }

    return \%rows;
}


# --- when it is allowed ---------------------------------------------------------------

refused('without the slug once more', qr/--confirm is the slug once more, "acme"/,
        qw(--tenant acme --confirm globex));
refused('no tenant', qr/there is no tenant "nobody"/, qw(--tenant nobody --confirm nobody));
refused('one that is not suspended', qr/has not been suspended for 24 hours/,
        qw(--tenant acme --confirm acme));
$s->svcctl(qw(tenant suspend --tenant acme));
refused('one that was just suspended', qr/has not been suspended for 24 hours/,
        qw(--tenant acme --confirm acme));
$s->sql("UPDATE svc.tenant SET suspended_at = now() - interval '23 h 59 min'"
        . " WHERE slug = 'acme'");
refused('not long enough', qr/has not been suspended for 24 hours/,
        qw(--tenant acme --confirm acme));
is($acme->scim(GET => '/Users')->status, 200, 'a refusal changes nothing');


# --- it is killed, and run again --------------------------------------------------------

with_password($s, $acme, userName => 'ada@acme.test', role => 'owner');
with_password($s, $globex, userName => 'eve@globex.test', role => 'owner');
$_->add_users(100) for $acme, $globex;
$s->sql('INSERT INTO svc.audit_event (tenant_id, action, created_at)'
        . " SELECT '$acme->{id}', 'user.updated', now() - i * interval '1 min'"
        . ' FROM generate_series(1, ' . EVENTS . ') i');
$s->sql('INSERT INTO svc.delegation (tenant_id, id, client_id, client_name, chain,'
        . ' grant_type, scopes, outcome)'
        . " SELECT id, gen_random_uuid(), 'x', 'x', '{}', 'x', '{}', 'granted'"
        . ' FROM svc.tenant');

my $before = rows($globex->{id});

$s->sql("UPDATE svc.tenant SET suspended_at = now() - interval '24 h' WHERE slug = 'acme'");

my $pid = spawn([ $s->root . '/conf/svcctl', qw(tenant delete --tenant acme --confirm acme) ],
                env => { SVC_PG => $s->pg->conninfo('postgres') });

ok((wait_for { events($acme) < EVENTS }), 'it begins');
signal_pid('KILL', $pid);
wait_exit($pid);
ok((wait_for { !$s->sessions("query LIKE '%tenant_delete_rows%' AND pid <> pg_backend_pid()"
                             . " AND state = 'active'", 'postgres') }), 'and is killed');
cmp_ok(events($acme), '>', 0, 'in between');
is(there('acme'), 1, 'the tenant is there');
is($acme->scim(GET => '/Users')->status, 401, 'its tokens are not');
is($globex->scim(GET => '/Users')->status, 200, 'those of others are');

# it does not check again how long the tenant has been suspended

$s->svcctl(qw(tenant resume --tenant acme));

my ($out, $rc, $err) = deletes('acme');

is($rc, 0, 'it is run again') or diag($err);
like($out, qr/\Aacme is gone, and \d+ rows of it\n\z/, 'and says so');
is_deeply([ there('acme'), rows($acme->{id}) ], [ 0, {} ], 'nothing is left');
is_deeply(rows($globex->{id}), $before, 'and of another tenant all is as it was');
is($s->sql("SELECT string_agg(slug, ' ') FROM svc.tenant_gone WHERE gone_at IS NOT NULL"
           . " AND id = '$acme->{id}'"), 'acme', 'it is noted');

($out, $rc, $err) = deletes('acme');
is("$rc $out", "0 acme is gone, and 0 rows of it\n", 'once more: nothing is left to do');


# --- the slug -------------------------------------------------------------------------

my $up = SvcTest::Signup->new($s, $mail, undef, path => '/v1/auth/organizations',
                              link => 'organization');
my $in = $up->begin('first@later.test', slug => 'later', name => 'Later');

$s->svcctl(qw(tenant create --slug later --name Later --owner ada@later.test));
is((deletes('later', '--now'))[1], 0, 'one that was not suspended, with --now');
admin_error($up->verify($in), 409, 'slug_taken', 'a sign-up that was begun before');
admin_error($up->start('other@acme.test', slug => 'acme', name => 'Acme'), 409,
            'slug_taken', 'a new one');

sub created {
    return svcctl(qw(tenant create --slug acme --name Acme --owner ada@acme.test --env));
}

($out, $rc, $err) = created();
is("$rc $err", "1 svcctl: the slug is taken: choose another one\n", 'svcctl, too');
ok(!eval { $s->sql("UPDATE svc.tenant SET slug = 'acme' WHERE slug = 'globex'"); 1 },
   'nor does another tenant get it');
like($@, qr/23505 .*"tenant_slug_key"/, 'as if it were taken');

$s->sql("UPDATE svc.tenant_gone SET gone_at = now() - interval '30 days'");
($out, $rc, $err) = created();
is($rc, 0, 'after 30 days it is free') or diag($err);
$s->secret($out =~ /\b((?:svc|scim)_[\w-]{43})/g);

($out, $rc, $err) = deletes('acme');
is("$rc $out", '1 ', 'and the new tenant is not the old one') or diag($err);

ok(!eval { $s->sql('DELETE FROM svc.delegation'); 1 },
   'the journal of delegations is kept from all else');

$s->done;
done_testing();
