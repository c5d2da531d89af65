# shellcheck shell=bash disable=SC2154
#
# OAuth: keys, and partitions.
#
# A key is made where the keys are that seal it: by NGINX.  What is written here of
# those that there are is for its workers to act on:
#
#   rotate   retired_at of the keys that sign is a day ahead.  A worker makes the next
#            ones, whose active_from is that time, and makes each active_kid then, or
#            active_rsa_kid; both are published until 25 hours after it.
#   revoke   revoked_at is now: it is not published any more, and no token by it is
#            good.  Of the key that signs active_kid, or active_rsa_kid, becomes the
#            next one's, or NULL: the tenant's next token makes one.

kid='[A-Za-z0-9_-]{1,64}'


oauth_key_list() {
    ask_rows "$kid  [A-Z0-9]+  [a-z]+  .*|none" -F '  ' -v slug="${opt[tenant]}" <<'SQL'
SELECT EXISTS (SELECT FROM svc.tenant WHERE slug = :'slug') AS there \gset
\if :there
    SELECT k.kid, k.alg,
           CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'
                WHEN k.kid IN (o.active_kid, o.active_rsa_kid) THEN 'active'
                WHEN k.retired_at IS NOT NULL THEN 'retired' ELSE 'next' END,
           'made ' || k.created_at
           || CASE WHEN k.revoked_at IS NOT NULL THEN ', revoked ' || k.revoked_at
                   WHEN k.retired_at > now() THEN ', signs until ' || k.retired_at
                   WHEN k.retired_at IS NOT NULL THEN ', retired ' || k.retired_at
                   WHEN k.active_from > now() THEN ', signs from ' || k.active_from
                   ELSE '' END
      FROM svc.tenant t JOIN svc.oauth_tenant o ON o.tenant_id = t.id
      JOIN svc.oauth_key k ON k.tenant_id = t.id
     WHERE t.slug = :'slug' ORDER BY k.created_at, k.kid;
\else
    \echo none
\endif
SQL

    has_tenant
    show
}


oauth_key_rotate() {
    local line

    ask_rows "none|nothing|(marked|already) $kid" -1 -F ' ' -v slug="${opt[tenant]}" <<'SQL'
WITH o AS (
    SELECT o.* FROM svc.oauth_tenant o JOIN svc.tenant t ON t.id = o.tenant_id
     WHERE t.slug = :'slug' FOR UPDATE OF o
), k AS (
    UPDATE svc.oauth_key k SET retired_at = now() + interval '1 day' FROM o
     WHERE k.tenant_id = o.tenant_id AND k.kid IN (o.active_kid, o.active_rsa_kid)
       AND k.retired_at IS NULL
    RETURNING k.*
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
    SELECT k.tenant_id, 'oauth.key_rotated', 'oauthKey', k.kid, '{"source": "svcctl"}'::jsonb
      FROM k
)
SELECT CASE WHEN EXISTS (SELECT FROM k WHERE k.kid = a.kid) THEN 'marked ' || a.kid
            ELSE 'already ' || a.kid END
  FROM o, unnest(ARRAY[o.active_kid, o.active_rsa_kid]) a (kid) WHERE a.kid IS NOT NULL
UNION ALL
SELECT 'nothing' FROM o WHERE coalesce(o.active_kid, o.active_rsa_kid) IS NULL
UNION ALL
SELECT 'none' WHERE NOT EXISTS (SELECT FROM o);
SQL

    has_tenant

    while IFS= read -r line; do
        case $line in
            nothing)    echo "${opt[tenant]} has no key: its first token makes one" ;;
            already*)   echo "${line#* } is being replaced already" ;;
            *)          echo "${line#* } signs for a day more, and is replaced then" ;;
        esac
    done <<< "$reply"
}


# Revokes the keys that sign, unless a key is named.

oauth_key_revoke() {
    local key next

    [ -z "${opt[kid]:-}" ] || [[ ${opt[kid]} =~ ^$kid$ ]] \
        || die "--kid is a key's, as \"oauth key list\" shows it, not \"${opt[kid]}\""

    ask_rows "none|nothing|unknown|(revoked|already) $kid( $kid|)" -1 -F ' ' \
        -v slug="${opt[tenant]}" -v kid="${opt[kid]:-}" <<'SQL'
WITH o AS (
    SELECT o.* FROM svc.oauth_tenant o JOIN svc.tenant t ON t.id = o.tenant_id
     WHERE t.slug = :'slug' FOR UPDATE OF o
), f AS (
    SELECT k.*, k.kid IN (o.active_kid, o.active_rsa_kid) AS signs
      FROM svc.oauth_key k JOIN o ON o.tenant_id = k.tenant_id
     WHERE CASE :'kid' WHEN '' THEN k.kid IN (o.active_kid, o.active_rsa_kid)
           ELSE k.kid = :'kid' END
), n AS (
    SELECT DISTINCT ON (k.alg) k.tenant_id, k.kid, k.alg
      FROM svc.oauth_key k JOIN f ON f.tenant_id = k.tenant_id AND f.alg = k.alg
     WHERE k.kid <> f.kid AND f.signs AND k.revoked_at IS NULL AND k.retired_at IS NULL
     ORDER BY k.alg, k.active_from, k.kid
), r AS (
    UPDATE svc.oauth_key k SET revoked_at = now() FROM f
     WHERE k.tenant_id = f.tenant_id AND k.kid = f.kid AND k.revoked_at IS NULL
    RETURNING k.*
), a AS (
    UPDATE svc.oauth_tenant t
       SET active_kid = CASE WHEN t.active_kid IN (SELECT r.kid FROM r)
                        THEN (SELECT n.kid FROM n WHERE n.alg = 'ES256')
                        ELSE t.active_kid END,
           active_rsa_kid = CASE WHEN t.active_rsa_kid IN (SELECT r.kid FROM r)
                            THEN (SELECT n.kid FROM n WHERE n.alg = 'RS256')
                            ELSE t.active_rsa_kid END
     WHERE t.tenant_id = (SELECT o.tenant_id FROM o)
       AND EXISTS (SELECT FROM r WHERE r.kid IN (t.active_kid, t.active_rsa_kid))
), u AS (
    UPDATE svc.oauth_key k SET active_from = now() FROM n
     WHERE k.tenant_id = n.tenant_id AND k.kid = n.kid AND k.active_from > now()
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
    SELECT r.tenant_id, 'oauth.key_revoked', 'oauthKey', r.kid, '{"source": "svcctl"}'::jsonb
      FROM r
)
SELECT CASE WHEN EXISTS (SELECT FROM r WHERE r.kid = f.kid)
            THEN concat_ws(' ', 'revoked', f.kid, (SELECT n.kid FROM n WHERE n.alg = f.alg))
            ELSE 'already ' || f.kid END
  FROM f
UNION ALL
SELECT CASE :'kid' WHEN '' THEN 'nothing' ELSE 'unknown' END
  FROM o WHERE NOT EXISTS (SELECT FROM f)
UNION ALL
SELECT 'none' WHERE NOT EXISTS (SELECT FROM o);
SQL

    has_tenant

    [ "$reply" != unknown ] || die "tenant \"${opt[tenant]}\" has no key \"${opt[kid]}\";" \
                                   "see $me oauth key list --tenant ${opt[tenant]}"

    if [ "$reply" = nothing ]; then
        echo "${opt[tenant]} has no key"
        return
    fi

    while read -r _ key next; do
        echo "revoked $key${next:+; $next signs from now on}"
    done <<< "$reply"
}


# $1: table, $2: how many periods ahead

oauth_ahead() {
    local in_use="$1 is in use"

    ask_rows "made $partition(, moved $count rows)?" -1 -v parent="$1" -v ahead="$2" <<'SQL'
SET LOCAL lock_timeout = '800ms';
SELECT 'made ' || made || CASE WHEN moved > 0 THEN ', moved ' || moved || ' rows' ELSE '' END
  FROM svc.oauth_partitions(:'parent', :ahead);
SQL

    show
}


# $1: table, $2: the interval for which rows are kept, and $3: what it is
# subtracted from

oauth_keep() {
    local in_use="$1 is in use"

    ask_rows "(dropped|deleted $count rows of) $partition" -1 -v parent="$1" \
        -v period="$2" -v unit="$3" <<'SQL'
SET LOCAL lock_timeout = '800ms';
SELECT CASE WHEN deleted IS NULL THEN 'dropped ' || dropped
            ELSE 'deleted ' || deleted || ' rows of ' || dropped END
  FROM svc.oauth_retain(:'parent', (date_trunc(:'unit', now() AT TIME ZONE 'UTC')
                                    - :'period'::interval) AT TIME ZONE 'UTC');
SQL

    show
}


oauth_partitions() {
    opt[weeks]=${opt[weeks]:-2}
    check_number weeks 0 999
    oauth_ahead oauth_token "${opt[weeks]}"
}


oauth_retain() {
    check_number days 1 9999
    oauth_keep oauth_token "${opt[days]} days" microseconds
}


delegations_partitions() {
    opt[months]=${opt[months]:-12}
    check_number months 0 9999
    oauth_ahead delegation "${opt[months]}"
}


delegations_retain() {
    check_number months 1 9999
    oauth_keep delegation "${opt[months]} months" month
}
