#!/usr/bin/perl

# The statements that find a session set the tenant only when the session may
# use the route: in every other case the statements after them see no rows.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__) . '/bench';

use SvcBench::Statements;
use SvcTest;
use SvcTest::Process qw(wait_for);


my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $text = SvcBench::Statements::read_all($s->root);
my $hash = '\x' . sha256_hex('secret');
my $user = $s->sql(<<"EOT");
INSERT INTO svc.user_account (tenant_id, id, user_name, source, role)
VALUES ('$acme->{id}', gen_random_uuid(), 'ada\@acme.test', 'local', 'owner')
RETURNING id
EOT

$s->sql(<<"EOT");
INSERT INTO svc.session (tenant_id, user_id, token_hash, expires_at)
VALUES ('$acme->{id}', '$user', '$hash', now() + interval '1 h')
EOT
$s->sql(<<"EOT");
INSERT INTO svc.role (tenant_id, key, name, permissions)
VALUES ('$acme->{id}', 'viewer', 'Viewer', '{users:view}'),
       ('$acme->{id}', 'idler', 'Idler', '{}')
EOT

my $db = $s->connect_as('postgres');


# Returns the verdict, and then the tenant and the number of users that are
# visible.

sub found {
    my ($name, $kind, $change, %opt) = @_;

    my @values = ("'$hash'", "'" . ($opt{tenant} // $acme->{id}) . "'", 1800,
                  "'" . ($opt{stages} // '{full}') . "'",
                  exists $opt{permission} && !defined $opt{permission} ? 'NULL'
                      : "'" . ($opt{permission} // 'users:view') . "'",
                  $opt{sensitive} // 'false', 900, (q{'x'}) x 3);
    my $n = $name =~ /^session_read/ ? 5 : 10;
    my @domain = $name =~ /_domain$/ ? (q{'login.acme.test'}, q{'https://login.acme.test'})
                                     : ();

    $db->query($_)
        for 'BEGIN', $change || 'SELECT', 'SET LOCAL ROLE svc_app',
            "SET LOCAL plan_cache_mode = force_${kind}_plan",
            "PREPARE x AS $text->{$name}{text}";

    my $row = $db->query('EXECUTE x (' . join(', ', @values[0 .. $n - 1], @domain) . ')')
              ->[0];
    my $seen = $db->query("SELECT current_setting('svc.tenant'),"
                          . ' (SELECT count(*) FROM svc.user_account)')->[0];

    $db->query($_) for 'ROLLBACK', 'DEALLOCATE x';

    return [ $row->[0] // '', $row->[2] // '', @$seen ];
}


my $session = "UPDATE svc.session SET %s WHERE user_id = '$user'";
my $account = "UPDATE svc.user_account SET %s WHERE id = '$user'";

for my $case (
    [ 'an owner', 'go' ],
    [ "another tenant's id", '', '', tenant => $globex->{id} ],
    [ 'ended', '', sprintf($session, 'ended_at = now()') ],
    [ 'expired', '',
      sprintf($session, "expires_at = now() - interval '1 s'") ],
    [ 'idle', '', sprintf($session, "last_seen_at = now() - interval '1 h'") ],
    [ 'a suspended user', '', sprintf($account, q{status = 'suspended'}) ],
    [ 'before valid_after', '',
      sprintf($account, "valid_after = now() + interval '1 h'") ],
    [ 'a suspended tenant', '', 'UPDATE svc.tenant SET suspended_at = now()' ],
    [ 'pending', 'mfa', sprintf($session, q{stage = 'mfa'}) ],
    [ 'pending, for its route', 'go', sprintf($session, q{stage = 'mfa'}),
      stages => '{full,mfa}', sensitive => 'true' ],
    [ 'no fresh factor', 'stale', '', sensitive => 'true' ],
    [ 'a fresh password', 'go', sprintf($session, 'reauth_at = now()'),
      sensitive => 'true' ],
    [ 'a member', 'forbidden', sprintf($account, q{role = 'member'}) ],
    [ 'a member, any permission', 'forbidden',
      sprintf($account, q{role = 'member'}), permission => '' ],
    [ 'a member, none', 'go', sprintf($account, q{role = 'member'}),
      permission => undef ],
    [ 'a role', 'go', sprintf($account, q{role = 'viewer'}) ],
    [ 'a role, any permission', 'go', sprintf($account, q{role = 'viewer'}),
      permission => '' ],
    [ 'a role without it', 'forbidden', sprintf($account, q{role = 'viewer'}),
      permission => 'apps:manage' ],
    [ 'a role without any', 'forbidden', sprintf($account, q{role = 'idler'}),
      permission => '' ])
{
    my ($what, $verdict, $change, %opt) = @$case;
    my $go = $verdict eq 'go';
    my $id = $go ? $acme->{id} : '';

    # what needs a fresh factor is requested as a write

    for my $name (map { ($_, "${_}_domain") }
                      $opt{sensitive} ? () : 'session_read',
                      qw(session_write session_caller)) {
        for my $kind (qw(generic custom)) {
            is_deeply(found($name, $kind, $change, %opt),
                      [ $id, $verdict, $id, $go ? 1 : 0 ],
                      "$what: $name, $kind");
        }
    }
}


# A session is made while its tenant is suspended.

my $live = <<"EOT";
SELECT tenant.suspended_at IS NOT DISTINCT FROM session.tenant_suspended_at
FROM svc.session JOIN svc.tenant ON tenant.id = session.tenant_id
WHERE token_hash = sha256('%s')
EOT

for my $set ('now()', 'NULL') {
    my ($one, $two) = map { $s->connect_as('postgres') } 1 .. 2;
    my $tenant = "UPDATE svc.tenant SET suspended_at = $set WHERE id = '$acme->{id}'";
    my $session = sub {
        return 'INSERT INTO svc.session (tenant_id, user_id, token_hash, expires_at)'
            . " VALUES ('$acme->{id}', '$user', sha256('$_[0] $set'), now() + interval '1 h')";
    };

    $one->query('BEGIN');
    $one->query($session->('first'));
    $two->begin($tenant);
    wait_for { $s->sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                       . ' AND NOT granted') > 0 };
    $one->query('COMMIT');
    $two->until_ready;
    is($s->sql(sprintf $live, "first $set"), 't', "a change waits for a session, with $set");

    $one->query('BEGIN');
    $one->query($tenant);
    eval { $two->query($session->('none')) };
    like($@, qr/55P03/, "no session is made in the midst of a change, with $set");
    $one->query('COMMIT');
    $two->query($session->('second'));
    is($s->sql(sprintf $live, "second $set"), 't', "it is made behind it, with $set");
}

is($s->sql('SELECT count(*) FROM svc.session WHERE tenant_suspended_at IS NULL'), 5,
   'all go on with their tenant');

done_testing();
