package SvcTest::Derived;

# Compares what the database derives from users with what it is derived from.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

our @EXPORT_OK = qw(derived_ok);

my $WRONG = <<'EOT';
SELECT 'count ' || t.slug FROM svc.tenant t
 CROSS JOIN LATERAL (SELECT coalesce(sum(active), 0), coalesce(sum(suspended), 0),
                            coalesce(sum(deactivated), 0), coalesce(sum(scim_deleted), 0)
                       FROM svc.user_count c WHERE c.tenant_id = t.id) c (a, s, d, g)
 CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE status = 'active'),
                            count(*) FILTER (WHERE status = 'suspended'),
                            count(*) FILTER (WHERE status = 'deactivated'),
                            count(*) FILTER (WHERE scim_deleted)
                       FROM svc.user_account u WHERE u.tenant_id = t.id) u (a, s, d, g)
 WHERE (c.a, c.s, c.d, c.g) <> (u.a, u.s, u.d, u.g)
UNION ALL
SELECT 'deleted ' || id FROM svc.user_account WHERE scim_deleted AND status = 'active'
UNION ALL
SELECT 'factors ' || t.slug FROM svc.tenant t
 WHERE coalesce((SELECT sum(c.mfa) FROM svc.user_count c WHERE c.tenant_id = t.id), 0)
       <> (SELECT count(*) FROM svc.user_account u
            WHERE u.tenant_id = t.id AND u.mfa_enrolled)
UNION ALL
SELECT 'inactive ' || coalesce(i.id, u.id) FROM svc.user_inactive i
  FULL JOIN (SELECT * FROM svc.user_account WHERE status <> 'active') u
       USING (tenant_id, status, created_at, id, scim_deleted)
 WHERE i.id IS NULL OR u.id IS NULL
UNION ALL
SELECT 'names ' || id FROM svc.user_account
 WHERE user_name_key <> lower(user_name)
    OR search <> svc.user_search(user_name, display_name, first_name, last_name)
UNION ALL
SELECT 'session ' || x.id FROM svc.session x JOIN svc.user_account u
       ON u.tenant_id = x.tenant_id AND u.id = x.user_id
 WHERE u.status <> 'active' AND x.ended_at IS NULL
   AND x.created_at >= coalesce(u.valid_after, '-infinity')
EOT


# Tests that nothing differs.

sub derived_ok {
    my ($s, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is_deeply([ map { $_->[0] } $s->sql($WRONG) ], [], $name);
}


1;
