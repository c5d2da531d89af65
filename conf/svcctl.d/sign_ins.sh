# shellcheck shell=bash disable=SC2154
#
# Imports sign-ins from files.

# Prints statements, with the file among them.  A time is checked as text,
# because PostgreSQL also accepts words, and years before the first one.

import_script() {
    import_tenant

    cat <<'SQL'
CREATE DOMAIN pg_temp.sign_in_time AS text CHECK (
    CASE WHEN VALUE ~ ('^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?'
                       ' ?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)?$')
         THEN VALUE::timestamptz BETWEEN '0001-01-01Z' AND '9999-12-31 23:59:59.999Z'
         ELSE false END);
CREATE TEMP TABLE sign_in_import (at pg_temp.sign_in_time, ip inet, country text, email text)
    ON COMMIT DROP;
COPY sign_in_import FROM STDIN WITH (FORMAT csv, HEADER MATCH);
SQL

    import_lines || echo "the file cannot be read to its end"
    printf '\\.\n'

    cat <<'SQL'
ALTER TABLE sign_in_import ALTER at TYPE timestamptz(3) USING at::timestamptz(3);
DELETE FROM sign_in_import WHERE at IS NULL AND ip IS NULL;
SELECT count(*) FILTER (WHERE at IS NULL OR ip IS NULL) > 0 AS missing,
       max(at) FILTER (WHERE at > now()) AS future,
       min(country) FILTER (WHERE country !~ '^([A-Za-z]{2})?$') AS country
  FROM sign_in_import \gset
\if :missing
    \echo missing
    \quit
\endif
\if :{?future}
    \echo future :future
    \quit
\endif
\if :{?country}
    \echo country :country
    \quit
\endif
ANALYZE sign_in_import;
WITH n AS (
    SELECT i.at, CASE WHEN i.ip << '::ffff:0:0/96' AND masklen(i.ip) = 128
                      THEN substr(host(i.ip), 8)::inet ELSE i.ip END AS ip,
           nullif(upper(i.country), '') AS country, i.email, u.id AS user_id
      FROM sign_in_import i
      LEFT JOIN svc.user_account u
        ON u.tenant_id = :'tenant' AND u.user_name_key = lower(i.email)
), s AS (
    INSERT INTO svc.sign_in (tenant_id, at, ip, country, user_id)
    SELECT :'tenant', n.at, n.ip, n.country, n.user_id FROM n
     WHERE NOT EXISTS (SELECT FROM svc.sign_in s
                        WHERE s.tenant_id = :'tenant' AND s.at = n.at AND s.ip = n.ip
                          AND s.user_id IS NOT DISTINCT FROM n.user_id)
     ORDER BY n.at
    RETURNING ip, at
), a AS (
    INSERT INTO svc.sign_in_address AS a (tenant_id, ip, last_at)
    SELECT :'tenant', s.ip, max(s.at) FROM s GROUP BY s.ip ORDER BY s.ip
    ON CONFLICT (tenant_id, ip) DO UPDATE
       SET last_at = greatest(a.last_at, EXCLUDED.last_at)
)
SELECT (SELECT count(*) FROM s), (SELECT count(DISTINCT ip) FROM s),
       (SELECT count(*) FROM n) - (SELECT count(*) FROM s),
       (SELECT count(DISTINCT email) FROM n WHERE email <> '' AND user_id IS NULL);
SQL
}


# Sign-ins that are there already are not stored again: a file can be imported
# twice.

sign_ins_import() {
    local file=${opt[file]}
    local -a n

    ask "none|missing|future .*|country .*|($count ){3}$count" -1 -F ' ' \
        -v VERBOSITY=default -v slug="${opt[tenant]}" < <(import_script <&"$input")

    case $reply in
        missing)    die "$file: a line has no time, or no address" ;;
        future*)    die "$file: a sign-in is in the future, at ${reply#future }" ;;
        country*)   die "$file: \"${reply#country }\" is no country:" \
                        "two letters, or nothing" ;;
    esac

    has_tenant

    read -r -a n <<< "$reply"

    echo "imported ${n[0]} sign-ins from ${n[1]} addresses; ${n[2]} were there" \
         "already; ${n[3]} e-mail addresses are not in the directory"
}


# Deletes a few at a time, so that nobody waits for it.  They are found by their
# places, because a join by their keys would read the whole table each time.

sign_ins_retain() {
    local total=0

    check_number days 0 99999

    while :; do
        ask "$count" -1 -v days="${opt[days]}" <<'SQL'
WITH d AS (
    DELETE FROM svc.sign_in WHERE ctid = ANY (ARRAY(
        SELECT s.ctid FROM svc.tenant t, LATERAL (
            SELECT s.ctid FROM svc.sign_in s
             WHERE s.tenant_id = t.id AND s.at < now() - make_interval(days => :days)
             ORDER BY s.at LIMIT 10000) s
         LIMIT 10000))
    RETURNING 1
)
SELECT count(*) FROM d;
SQL

        total=$((total + reply))
        [ "$reply" = 10000 ] || break
    done

    echo "deleted $total"
}


# Prints PostgreSQL's message, and the line of the file.

explain_copy() {
    sed -n -e 's/^.*ERROR: *value for domain sign_in_time .*/no time such as'\
' 2026-11-20T08:15:00Z/p' -e 's/^.*ERROR: *//p' \
        -e 's/^CONTEXT: *COPY sign_in_import, / in /p' <<< "$1" | paste -sd '' -
}
