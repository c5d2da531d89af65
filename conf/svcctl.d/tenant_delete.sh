# shellcheck shell=bash disable=SC2154
#
# Deletes a tenant with everything that belongs to it, in many short
# transactions; the command may be interrupted after any of them.

tenant_delete() {
    local id state total=0

    [ "${opt[confirm]}" = "${opt[tenant]}" ] \
        || die "--confirm is the slug once more, \"${opt[tenant]}\""

    tenant_going
    read -r state id <<< "$reply"

    case $state in
        none) reply=none
              has_tenant ;;
        soon) die "${opt[tenant]} has not been suspended for 24 hours: run \"$me tenant" \
                  "suspend --tenant ${opt[tenant]}\", and come back then, or give --now" ;;
    esac

    tenant_rows

    ask gone -1 -v id="$id" <<'SQL'
DELETE FROM svc.tenant WHERE id = :'id';
UPDATE svc.tenant_gone SET gone_at = now() WHERE id = :'id' AND gone_at IS NULL;
\echo gone
SQL

    # rows of statements that began while the tenant still existed

    tenant_rows
    echo "${opt[tenant]} is gone, and $total rows of it"
}


# Prints "none", "soon", or "going" with the id.  From here on nothing is
# written for the tenant: it is suspended, and its tokens are revoked.

tenant_going() {
    ask "none|soon|going $uuid" -1 -v slug="${opt[tenant]}" -v now="${opt[now]:-}" <<'SQL'
SELECT coalesce((SELECT id FROM svc.tenant WHERE slug = :'slug'),
                (SELECT id FROM svc.tenant_gone WHERE slug = :'slug'
                  ORDER BY began_at DESC LIMIT 1))::text AS id,
       NOT EXISTS (SELECT FROM svc.tenant WHERE slug = :'slug')
       AND NOT EXISTS (SELECT FROM svc.tenant_gone WHERE slug = :'slug') AS none,
       EXISTS (SELECT FROM svc.tenant t
                WHERE t.slug = :'slug' AND :'now' = ''
                  AND NOT coalesce(t.suspended_at <= now() - interval '24 hours', false)
                  AND NOT EXISTS (SELECT FROM svc.tenant_gone g WHERE g.id = t.id)) AS soon
\gset
\if :none
    \echo none
    \quit
\endif
\if :soon
    \echo soon
    \quit
\endif
UPDATE svc.tenant SET suspended_at = now() WHERE id = :'id' AND suspended_at IS NULL;
UPDATE svc.credential SET revoked_at = now() WHERE tenant_id = :'id' AND revoked_at IS NULL;
INSERT INTO svc.tenant_gone (id, slug)
    SELECT id, slug FROM svc.tenant WHERE id = :'id' ON CONFLICT DO NOTHING;
SELECT 'going ' || :'id';
SQL
}


# Deletes until nothing is left; adds to $total.

tenant_rows() {
    while :; do
        ask "$count" -v id="$id" <<< "SELECT svc.tenant_delete_rows(:'id', 5000)"
        [ "$reply" -gt 0 ] || break
        total=$((total + reply))
    done
}
