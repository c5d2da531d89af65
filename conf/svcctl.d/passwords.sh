# shellcheck shell=bash disable=SC2154
#
# Imports passwords from files: hashes that other software has made.

# Prints the functions that say why a hash is refused, or NULL.  They accept
# what ngx_svc_phc_parse() accepts, with the same limits.

import_rules() {
    cat <<'SQL'
CREATE FUNCTION pg_temp.object_of(line text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN line::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END
$$;

-- of base64 as it is written without padding: -1 of anything else
CREATE FUNCTION pg_temp.bytes_of(text text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    bytes bytea;
BEGIN
    bytes := decode(rpad(text, (length(text) + 3) / 4 * 4, '='), 'base64');
    RETURN CASE WHEN rtrim(replace(encode(bytes, 'base64'), E'\n', ''), '=') = text
                THEN octet_length(bytes) ELSE -1 END;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN -1;
END
$$;

CREATE FUNCTION pg_temp.sizes_refused(salt text, tag text, low integer, high integer)
RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN pg_temp.bytes_of(salt) NOT BETWEEN 8 AND 64
                THEN 'the salt is not base64 of 8 to 64 bytes'
                WHEN pg_temp.bytes_of(tag) NOT BETWEEN low AND high
                THEN format('the hash is not base64 of %s bytes',
                            concat_ws(' to ', low, nullif(high, low))) END;
$$;

CREATE FUNCTION pg_temp.argon2_refused(h text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN a IS NULL THEN 'an argon2 string is $argon2id$ or $argon2i$,'
                     ' v=19$m=M,t=T,p=P$SALT$HASH'
                WHEN a[1]::bigint > 262144
                THEN format('m=%s: 262144 KiB is the most', a[1])
                WHEN a[2]::bigint > 16 THEN format('t=%s: 16 is the most', a[2])
                WHEN a[3]::bigint > 4 THEN format('p=%s: 4 is the most', a[3])
                WHEN a[1]::bigint < 8 * a[3]::bigint
                THEN format('m=%s: 8 for each of p is the least', a[1])
                ELSE pg_temp.sizes_refused(a[4], a[5], 16, 64) END
      FROM (VALUES (regexp_match(h, '^\$argon2id?\$v=19\$m=([1-9][0-9]{0,9}),'
                't=([1-9][0-9]{0,9}),p=([1-9][0-9]{0,9})'
                '\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$'))) r (a);
$$;

CREATE FUNCTION pg_temp.bcrypt_refused(h text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN a IS NULL THEN 'a bcrypt string is $2a$, $2b$ or $2y$, two digits,'
                     ' $ and 53 characters'
                WHEN a[1]::integer NOT BETWEEN 4 AND 14
                THEN format('the cost is %s: 4 to 14 are taken', a[1]) END
      FROM (VALUES (regexp_match(h, '^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}$'))) r (a);
$$;

CREATE FUNCTION pg_temp.pbkdf2_refused(h text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN a IS NULL THEN 'a PBKDF2 string is $pbkdf2-sha256$ or'
                     ' $pbkdf2-sha512$, ROUNDS$SALT$HASH, as passlib writes them'
                WHEN a[2]::bigint > 2000000
                THEN format('%s rounds: 2000000 are the most', a[2])
                ELSE pg_temp.sizes_refused(replace(a[3], '.', '+'),
                                           replace(a[4], '.', '+'),
                                           a[1]::integer / 8, a[1]::integer / 8) END
      FROM (VALUES (regexp_match(h, '^\$pbkdf2-sha(256|512)\$([1-9][0-9]{0,9})'
                                    '\$([A-Za-z0-9./]+)\$([A-Za-z0-9./]+)$'))) r (a);
$$;

CREATE FUNCTION pg_temp.hash_refused(h text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN octet_length(h) > 256 THEN 'the hash has more than 256 bytes'
                WHEN h ~ '^\$argon2id?\$' THEN pg_temp.argon2_refused(h)
                WHEN h ~ '^\$2[aby]\$' THEN pg_temp.bcrypt_refused(h)
                WHEN h ~ '^\$pbkdf2-sha(256|512)\$' THEN pg_temp.pbkdf2_refused(h)
                ELSE 'its scheme is not taken: argon2id, argon2i, bcrypt,'
                     ' pbkdf2-sha256 and pbkdf2-sha512 are' END;
$$;

-- how many ms one that is taken takes, of a processor that is not fast
CREATE FUNCTION pg_temp.hash_takes(h text) RETURNS numeric LANGUAGE sql AS $$
    SELECT CASE part[2]
           WHEN '2a' THEN 0.06 * 2 ^ part[3]::numeric
           WHEN '2b' THEN 0.06 * 2 ^ part[3]::numeric
           WHEN '2y' THEN 0.06 * 2 ^ part[3]::numeric
           WHEN 'pbkdf2-sha256' THEN 0.0004 * part[3]::numeric
           WHEN 'pbkdf2-sha512' THEN 0.0006 * part[3]::numeric
           ELSE 0.001 * substring(h FROM 'm=([0-9]+)')::numeric
                * substring(h FROM 't=([0-9]+)')::numeric END
      FROM (VALUES (string_to_array(h, '$'))) p (part);
$$;
SQL
}


# Prints statements, with the file among them.  Each line is one value, because
# a line of JSON does not contain these characters.

passwords_script() {
    import_tenant

    cat <<'SQL'
CREATE TEMP TABLE password_import (
    n bigint GENERATED ALWAYS AS IDENTITY, line text, key text, hash text, rule text
) ON COMMIT DROP;
COPY password_import (line) FROM STDIN
    WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02');
SQL

    import_lines || echo "the file cannot be read to its end"
    printf '\\.\n'
    import_rules

    cat <<'SQL'
DELETE FROM password_import WHERE line IS NULL OR line ~ '^\s*$';
UPDATE password_import i
   SET key = lower(o ->> 'email'), hash = o ->> 'passwordHash', line = NULL,
       rule = CASE WHEN line = 'the file cannot be read to its end' THEN line
                   WHEN o IS NULL OR jsonb_typeof(o) <> 'object'
                   THEN 'it is no JSON object'
                   WHEN jsonb_typeof(o -> 'email') IS DISTINCT FROM 'string'
                   THEN 'it has no string "email"'
                   WHEN jsonb_typeof(o -> 'passwordHash') IS DISTINCT FROM 'string'
                   THEN 'it has no string "passwordHash"'
                   ELSE pg_temp.hash_refused(o ->> 'passwordHash') END
  FROM (SELECT n, pg_temp.object_of(line) AS o FROM password_import OFFSET 0) k
 WHERE k.n = i.n;
ANALYZE password_import;
UPDATE password_import i SET rule = format('line %s has the same address', k.first)
  FROM (SELECT key, min(n) AS first FROM password_import
         GROUP BY key HAVING count(*) > 1) k
 WHERE k.key = i.key AND k.first < i.n AND i.rule IS NULL;
SELECT (SELECT format('line %s: %s', n, rule) FROM password_import
         WHERE rule IS NOT NULL ORDER BY n LIMIT 1) AS bad \gset
\if :{?bad}
    \echo :bad
    \quit
\endif
WITH i AS (
    SELECT u.tenant_id, u.id, convert_to(i.hash, 'UTF8') AS hash
      FROM password_import i
      JOIN svc.user_account u ON u.tenant_id = :'tenant' AND u.user_name_key = i.key
), p AS (
    INSERT INTO svc.password AS p (tenant_id, user_id, hash)
    SELECT i.tenant_id, i.id, i.hash FROM i ORDER BY i.id
        ON CONFLICT (tenant_id, user_id) DO UPDATE
       SET hash = excluded.hash, set_at = now(), version = p.version + 1
     WHERE substr(p.hash, 1, 1) = '$' AND p.hash <> excluded.hash
    RETURNING p.tenant_id, p.user_id
), e AS (
    INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, details)
    SELECT p.tenant_id, 'password.changed', 'user', p.user_id::text,
           '{"source": "svcctl"}'::jsonb FROM p
), f AS (
    SELECT max(pg_temp.hash_takes(hash)) AS ms FROM password_import
     WHERE hash !~ '^\$argon2id\$v=19\$m=19456,t=2,p=1\$'
)
SELECT (SELECT count(*) FROM p), (SELECT count(*) FROM i) - (SELECT count(*) FROM p),
       (SELECT count(*) FROM password_import) - (SELECT count(*) FROM i),
       CASE WHEN f.ms IS NULL THEN 0 ELSE 50 * ceil(greatest(f.ms, 40) * 1.5 / 50) END
  FROM f;
SQL
}


# A user who has chosen a password since keeps it: importing a file again
# changes nothing.

users_import() {
    local file=${opt[file]}
    local -a n

    ask "none|line [0-9]+: .*|($count ){3}$count" -1 -F ' ' -v VERBOSITY=default \
        -v slug="${opt[tenant]}" < <(passwords_script <&"$input")

    [[ $reply != line* ]] || die "$file: $reply"
    has_tenant

    read -r -a n <<< "$reply"

    echo "imported ${n[0]} passwords; ${n[1]} users have one already;" \
         "${n[2]} e-mail addresses are not in the directory"

    [ "${n[3]}" = 0 ] || cat <<TXT
These hashes take another time than those of NGINX do, by which users could be told
from addresses that are nobody's.  On each node: svc_password_hash floor=${n[3]}ms;
TXT
}


# Prints PostgreSQL's message, and the line of the file; its content may be a
# hash.

explain_line() {
    sed -n -e 's/^.*ERROR: *//p' \
        -e 's/^CONTEXT: *COPY password_import, \(line [0-9]*\).*/ in \1/p' <<< "$1" \
        | paste -sd '' -
}
