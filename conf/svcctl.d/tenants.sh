# shellcheck shell=bash disable=SC2154
#
# Tenants and their tokens.

# Names may be older than the rule that they have no control characters.

tenant_list() {
    ask_rows "[a-z0-9-]+  $uuid  .*  $count users" -F '  ' <<'SQL'
SELECT t.slug, t.id, regexp_replace(t.name, '[\u0001-\u001f\u007f-\u009f]', '?', 'g'),
       (SELECT count(*) FROM svc.user_account u WHERE u.tenant_id = t.id) || ' users'
  FROM svc.tenant t ORDER BY t.slug;
SQL

    show
}


tenant_create() {
    local api scim api_hash scim_hash tenant owner

    check_email "${opt[owner]}" owner
    check_part given
    check_part family

    api=$(new_token svc_)
    scim=$(new_token scim_)
    api_hash=$(digest "$api")
    scim_hash=$(digest "$scim")

    ask "$uuid $uuid" -1 -F ' ' -v slug="${opt[slug]}" -v name="${opt[name]}" \
        -v owner="${opt[owner]}" -v given="${opt[given]:-}" \
        -v family="${opt[family]:-}" -v permissions="$permissions" \
        -v api_hash="$api_hash" -v api_prefix="${api:0:8}" \
        -v scim_hash="$scim_hash" -v scim_prefix="${scim:0:9}" <<'SQL'
INSERT INTO svc.tenant (slug, name) VALUES (:'slug', :'name')
    RETURNING id AS tenant \gset
INSERT INTO svc.user_account (tenant_id, id, user_name, role, email_verified, first_name,
                              last_name)
    VALUES (:'tenant', gen_random_uuid(), :'owner', 'owner', true, nullif(:'given', ''),
            nullif(:'family', ''))
    RETURNING id AS owner_id \gset
INSERT INTO svc.credential (token_hash, tenant_id, kind, name, prefix, permissions)
    VALUES (decode(:'api_hash', 'hex'), :'tenant', 'api', 'owner', :'api_prefix',
            string_to_array(:'permissions', ',')),
           (decode(:'scim_hash', 'hex'), :'tenant', 'scim', 'first', :'scim_prefix',
            ARRAY['scim']);
INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
    SELECT :'tenant', 'user.created', 'user', :'owner_id', '{"source": "svcctl"}'::jsonb
    UNION ALL
    SELECT tenant_id,
           CASE kind WHEN 'api' THEN 'api_token.created' ELSE 'scim.token_created' END,
           CASE kind WHEN 'api' THEN 'apiToken' ELSE 'scimToken' END, id::text,
           '{"source": "svcctl"}'::jsonb
      FROM svc.credential WHERE tenant_id = :'tenant';
SELECT :'tenant', :'owner_id';
SQL

    read -r tenant owner <<< "$reply"

    # none of these values needs quotes

    if [ -n "${opt[env]:-}" ]; then
        printf 'SVC_TENANT_SLUG=%s\nSVC_TENANT_ID=%s\nSVC_OWNER_ID=%s\n' \
               "${opt[slug]}" "$tenant" "$owner"
        printf 'SVC_ADMIN_TOKEN=%s\nSVC_SCIM_TOKEN=%s\n' "$api" "$scim"
    else
        printf 'tenant      %s  %s\n' "${opt[slug]}" "$tenant"
        printf 'owner       %s  %s\n' "${opt[owner]}" "$owner"
        printf 'API token   %s\nSCIM token  %s\n' "$api" "$scim"
        echo "The tokens are not shown again."
    fi
}


# $@: kind, prefix of the token, its visible part, permissions, expiry or
# nothing

credential_create() {
    local token hash

    token=$(new_token "$2")
    hash=$(digest "$token")

    ask "$uuid|none" -1 -v slug="${opt[tenant]}" -v name="${opt[name]}" \
        -v kind="$1" -v hash="$hash" -v prefix="${token:0:$3}" \
        -v permissions="$4" -v expires="${5:-}" <<'SQL'
WITH c AS (
    INSERT INTO svc.credential (token_hash, tenant_id, kind, name, prefix,
                                permissions, expires_at)
    SELECT decode(:'hash', 'hex'), id, :'kind', :'name', :'prefix',
           ARRAY(SELECT DISTINCT unnest(string_to_array(:'permissions', ',')) ORDER BY 1),
           to_timestamp(nullif(:'expires', '')::float8 / 1000)
      FROM svc.tenant WHERE slug = :'slug'
    RETURNING *
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id,
                                 target_name, details)
    SELECT tenant_id,
           CASE kind WHEN 'api' THEN 'api_token.created' ELSE 'scim.token_created' END,
           CASE kind WHEN 'api' THEN 'apiToken' ELSE 'scimToken' END,
           id::text, name, '{"source": "svcctl"}'::jsonb
      FROM c
)
SELECT coalesce((SELECT id::text FROM c), 'none');
SQL

    has_tenant

    printf 'id     %s\ntoken  %s\nThe token is not shown again.\n' "$reply" "$token"
}


scim_token_create() {
    credential_create scim scim_ 9 scim
}


token_create() {
    local expires=

    check_permissions "${opt[permissions]}"
    [ -z "${opt[expires]:-}" ] || expires=$(expiry "${opt[expires]}")

    credential_create api svc_ 8 "${opt[permissions]}" "$expires"
}


token_list() {
    ask_rows "$uuid  (api|scim)  .*|none" -F '  ' -v slug="${opt[tenant]}" <<'SQL'
SELECT EXISTS (SELECT FROM svc.tenant WHERE slug = :'slug') AS there \gset
\if :there
    SELECT c.id, c.kind, c.prefix || '...',
           regexp_replace(c.name, '[\u0001-\u001f\u007f-\u009f]', '?', 'g'),
           CASE WHEN c.revoked_at IS NOT NULL THEN 'revoked'
                WHEN c.expires_at <= now() THEN 'expired' ELSE 'active' END,
           array_to_string(c.permissions, ','),
           coalesce('last used ' || c.last_used_at, 'never used')
      FROM svc.credential c JOIN svc.tenant t ON t.id = c.tenant_id
     WHERE t.slug = :'slug' ORDER BY c.created_at, c.id;
\else
    \echo none
\endif
SQL

    has_tenant
    show
}


token_revoke() {
    ask '[01]' -1 -v slug="${opt[tenant]}" -v id="${opt[id]}" <<'SQL'
WITH f AS (
    SELECT c.* FROM svc.credential c JOIN svc.tenant t ON t.id = c.tenant_id
     WHERE t.slug = :'slug' AND c.id::text = lower(:'id')
), c AS (
    UPDATE svc.credential c SET revoked_at = now() FROM f
     WHERE c.token_hash = f.token_hash AND c.revoked_at IS NULL
    RETURNING c.*
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id,
                                 target_name, details)
    SELECT tenant_id,
           CASE kind WHEN 'api' THEN 'api_token.revoked' ELSE 'scim.token_revoked' END,
           CASE kind WHEN 'api' THEN 'apiToken' ELSE 'scimToken' END,
           id::text, name, '{"source": "svcctl"}'::jsonb
      FROM c
)
SELECT count(*) FROM f;
SQL

    [ "$reply" = 1 ] \
        || die "tenant \"${opt[tenant]}\" has no token \"${opt[id]}\"; see" \
               "$me token list --tenant ${opt[tenant]}"

    echo "revoked ${opt[id]}"
}
