# shellcheck shell=bash disable=SC2154
#
# Users: letting them in, and locking them out.

user_reset_link() {
    local token hash

    check_email "${opt[email]}" email

    token=$(new_token "")
    hash=$(digest "$token")

    ask 'ok|none|nobody' -1 -v slug="${opt[tenant]}" -v email="${opt[email]}" \
        -v hash="$hash" <<'SQL'
WITH u AS (
    SELECT u.tenant_id, u.id FROM svc.user_account u
      JOIN svc.tenant t ON t.id = u.tenant_id
     WHERE t.slug = :'slug' AND u.user_name_key = lower(:'email') AND u.status = 'active'
), r AS (
    INSERT INTO svc.password_reset (tenant_id, token_hash, user_id, expires_at)
    SELECT tenant_id, decode(:'hash', 'hex'), id, now() + interval '1 day' FROM u
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
    SELECT tenant_id, 'password.reset_requested', 'user', id::text,
           '{"source": "svcctl"}'::jsonb FROM u
)
SELECT CASE WHEN NOT EXISTS (SELECT FROM svc.tenant WHERE slug = :'slug') THEN 'none'
            WHEN NOT EXISTS (SELECT FROM u) THEN 'nobody' ELSE 'ok' END;
SQL

    has_tenant
    has_user

    if [ -n "${opt[base-url]:-}" ]; then
        printf '%s/reset?tenant=%s#token=%s\n' "${opt[base-url]%/}" "${opt[tenant]}" "$token"
    else
        printf 'token  %s\n' "$token"
    fi

    echo "It is good for a day, once, and is not shown again." >&2
}


user_unlock() {
    check_email "${opt[email]}" email

    ask 'ok|none|nobody' -1 -v slug="${opt[tenant]}" -v email="${opt[email]}" <<'SQL'
WITH u AS (
    UPDATE svc.user_account u
       SET failed_logins = 0, failed_since = NULL, locked_until = NULL
      FROM svc.tenant t
     WHERE t.id = u.tenant_id AND t.slug = :'slug' AND u.user_name_key = lower(:'email')
    RETURNING u.tenant_id, u.id
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
    SELECT tenant_id, 'user.unlocked', 'user', id::text, '{"source": "svcctl"}'::jsonb
      FROM u
)
SELECT CASE WHEN NOT EXISTS (SELECT FROM svc.tenant WHERE slug = :'slug') THEN 'none'
            WHEN NOT EXISTS (SELECT FROM u) THEN 'nobody' ELSE 'ok' END;
SQL

    has_tenant
    has_user
    echo "${opt[email]} is not locked."
}


# The trigger of the table factor unsets mfa_enrolled, and deletes recovery
# codes.

user_reset_mfa() {
    check_email "${opt[email]}" email

    ask "$count|none|nobody" -1 -v slug="${opt[tenant]}" -v email="${opt[email]}" <<'SQL'
WITH u AS (
    UPDATE svc.user_account u SET valid_after = clock_timestamp()
      FROM svc.tenant t
     WHERE t.id = u.tenant_id AND t.slug = :'slug' AND u.user_name_key = lower(:'email')
    RETURNING u.tenant_id, u.id
), f AS (
    DELETE FROM svc.factor f USING u WHERE f.tenant_id = u.tenant_id AND f.user_id = u.id
    RETURNING f.confirmed_at
), n AS (
    SELECT count(confirmed_at) AS n FROM f
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
    SELECT tenant_id, 'mfa.reset', 'user', id::text,
           jsonb_build_object('source', 'svcctl', 'factors', n) FROM u, n
)
SELECT CASE WHEN NOT EXISTS (SELECT FROM svc.tenant WHERE slug = :'slug') THEN 'none'
            WHEN NOT EXISTS (SELECT FROM u) THEN 'nobody'
            ELSE (SELECT n::text FROM n) END;
SQL

    has_tenant
    has_user
    echo "Second factors of ${opt[email]} that are gone: $reply. All sessions have ended."
}


has_user() {
    [ "$reply" != nobody ] \
        || die "tenant \"${opt[tenant]}\" has no such user: \"${opt[email]}\""
}


# Ends the sessions of a tenant: none that began before now goes on.  Users are
# locked in the order of their ids, as nginx does when it locks several.

sessions_end() {
    ask "$count|none" -1 -v slug="${opt[tenant]}" <<'SQL'
WITH l AS MATERIALIZED (
    SELECT u.tenant_id, u.id FROM svc.user_account u
      JOIN svc.tenant t ON t.id = u.tenant_id AND t.slug = :'slug'
     WHERE EXISTS (SELECT FROM svc.session s WHERE s.tenant_id = u.tenant_id
                      AND s.user_id = u.id AND s.ended_at IS NULL AND s.expires_at > now())
     ORDER BY u.id FOR NO KEY UPDATE OF u
), u AS (
    UPDATE svc.user_account u SET valid_after = clock_timestamp()
      FROM l WHERE u.tenant_id = l.tenant_id AND u.id = l.id
    RETURNING u.tenant_id, u.id
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
    SELECT tenant_id, 'user.logged_out', 'user', id::text, '{"source": "svcctl"}'::jsonb
      FROM u
)
SELECT CASE WHEN EXISTS (SELECT FROM svc.tenant WHERE slug = :'slug')
            THEN (SELECT count(*)::text FROM u) ELSE 'none' END;
SQL

    has_tenant
    echo "The sessions of $reply users have ended."
}


tenant_suspend() {
    tenant_suspended "now()" "is suspended: nobody signs in."
}


tenant_resume() {
    tenant_suspended NULL "is not suspended."
}


# $1: the time, $2: what is printed

tenant_suspended() {
    ask 'ok|none' -1 -v slug="${opt[tenant]}" <<SQL
WITH t AS (
    UPDATE svc.tenant SET suspended_at = $1 WHERE slug = :'slug'
       AND (suspended_at IS NULL) = ($1::timestamptz IS NOT NULL)
    RETURNING id
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
    SELECT id, 'tenant.updated', 'tenant', id::text, jsonb_build_object('source',
               'svcctl', 'changed', '["suspended"]'::jsonb, 'suspended',
               $1::timestamptz IS NOT NULL)
      FROM t
)
SELECT CASE WHEN EXISTS (SELECT FROM svc.tenant WHERE slug = :'slug') THEN 'ok'
            ELSE 'none' END;
SQL

    has_tenant
    echo "${opt[tenant]} $2"
}
