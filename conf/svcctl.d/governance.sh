# shellcheck shell=bash disable=SC2154
#
# The audit log and access policies.

# A partition is locked for a moment: requests must not queue up behind this
# lock.

audit_partitions() {
    local in_use="the audit log is in use"

    opt[months]=${opt[months]:-12}
    check_number months 0 9999

    ask_rows "made $partition(, moved $count events)?" -1 \
        -v months="${opt[months]}" <<'SQL'
SET LOCAL lock_timeout = '800ms';
SELECT 'made ' || made || CASE WHEN moved > 0 THEN ', moved ' || moved || ' events'
                               ELSE '' END
  FROM svc.audit_partitions(:months);
SQL

    show
}


audit_retain() {
    local in_use="the audit log is in use"

    check_number months 1 9999

    ask_rows "(dropped|deleted $count events of) $partition" -1 \
        -v months="${opt[months]}" <<'SQL'
SET LOCAL lock_timeout = '800ms';
SELECT CASE WHEN deleted IS NULL THEN 'dropped ' || dropped
            ELSE 'deleted ' || deleted || ' events of ' || dropped END
  FROM svc.audit_retain(:months);
SQL

    show
}


# The way in for an administrator who is locked out by the tenant's own access
# policy.

access_policy_reset() {
    local in_use="another session holds the tenant's policies"

    ask "$count|none" -1 -v slug="${opt[tenant]}" <<'SQL'
SET LOCAL lock_timeout = '3s';
WITH g AS (
    UPDATE svc.governance g
       SET revision = revision + 1, access_number = access_number + 1,
           access_policy = '{"rules":[],"defaultAction":"allow"}',
           access_version_id = gen_random_uuid(),
           access_updated_at = greatest(now(), access_updated_at + interval '1 millisecond')
      FROM svc.tenant t
     WHERE t.slug = :'slug' AND g.tenant_id = t.id
    RETURNING g.*
), v AS (
    INSERT INTO svc.access_policy_version (tenant_id, id, number, source, snapshot,
                                           created_at, created_by_name)
    SELECT tenant_id, access_version_id, access_number, 'api', access_policy,
           access_updated_at, 'svcctl'
      FROM g
    RETURNING *
), d AS (
    DELETE FROM svc.access_policy_version o USING g
     WHERE o.tenant_id = g.tenant_id AND o.number <= g.access_number - 50
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
    SELECT tenant_id, 'access_policy.updated', 'accessPolicy', id::text,
           jsonb_build_object('version', number, 'source', 'svcctl')
      FROM v
)
SELECT coalesce((SELECT number::text FROM v), 'none');
SQL

    has_tenant

    echo "version $reply admits everybody; the one before is kept"
}


# The way in for a tenant whose connection fails, when no owner has a passkey at hand.

federation_release() {
    local in_use="somebody else changes the tenant's domains"

    ask "released( [a-z0-9.-]+)*|none" -1 -v slug="${opt[tenant]}" <<'SQL'
SET LOCAL lock_timeout = '3s';
WITH t AS (
    SELECT id FROM svc.tenant WHERE slug = :'slug'
), d AS (
    UPDATE svc.domain d SET sign_in = NULL, rp_id = NULL
      FROM t
     WHERE d.tenant_id = t.id AND d.sign_in IS NOT NULL
    RETURNING d.domain
)
SELECT CASE
           WHEN EXISTS (SELECT FROM t)
               THEN concat_ws(' ', 'released', (SELECT string_agg(domain, ' ' ORDER BY domain)
                                                  FROM d))
           ELSE 'none'
       END;
SQL

    has_tenant

    [ "$reply" != released ] || reply="no domain of ${opt[tenant]} has to be released"

    show
}
