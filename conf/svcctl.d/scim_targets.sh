# shellcheck shell=bash disable=SC2154
#
# Lists SCIM targets, of all tenants or of one.

# Only the host of a URL is printed: the rest may be as secret as a password.

scim_target_list() {
    ask_rows "[a-z0-9-]+  $uuid  (enabled|disabled)  .*|none" -F '  ' \
        -v slug="${opt[tenant]:-}" <<'SQL'
SELECT :'slug' = '' OR EXISTS (SELECT FROM svc.tenant WHERE slug = :'slug') AS there \gset
\if :there
    SELECT t.slug, s.id, CASE WHEN s.enabled THEN 'enabled' ELSE 'disabled' END,
           coalesce(s.sync_status, 'never synchronized'),
           s.users || ' users, ' || s.pending || ' pending, ' || s.errors || ' in error',
           substring(s.base_url FROM '^https://([^/?]*)'), s.client_id,
           regexp_replace(s.name, '[\u0001-\u001f\u007f-\u009f]', '?', 'g')
      FROM svc.scim_target s JOIN svc.tenant t ON t.id = s.tenant_id
     WHERE :'slug' IN ('', t.slug) ORDER BY t.slug, s.created_at, s.id;
\else
    \echo none
\endif
SQL

    has_tenant
    show
}
