# shellcheck shell=bash disable=SC2154
#
# The schema's version.

migrate() {
    local dir=${opt[sql]:-$migrations} file version there i newest=0
    local -a files numbers new=()

    files=("$dir"/[0-9][0-9][0-9][0-9]_*.sql)
    [ -e "${files[0]}" ] \
        || die "no migrations in $dir: name their directory with --sql"

    for file in "${files[@]}"; do
        [ -f "$file" ] && [ -r "$file" ] || die "cannot read $file"
        version_of "$file"
        [ "$version" -gt "$newest" ] \
            || die "$dir has more than one migration of the number $version"
        newest=$version
        numbers+=("$version")
    done

    make_role

    ask_rows "$count" <<'SQL'
SELECT pg_advisory_lock(hashtext('svc.schema_migration')) \g /dev/null
CREATE SCHEMA IF NOT EXISTS svc;
CREATE TABLE IF NOT EXISTS svc.schema_migration (
    version     integer      NOT NULL PRIMARY KEY,
    name        text         NOT NULL,
    applied_at  timestamptz  NOT NULL DEFAULT now()
);
SELECT version FROM svc.schema_migration ORDER BY version;
SQL

    version=${reply##*$'\n'}
    there=$'\n'$reply$'\n'

    if [ "${version:-0}" -gt "$newest" ]; then
        die "the database is of version $version, and the newest migration" \
            "here is $newest: use the newer $me"
    fi

    warn_of "${version:-0}"

    for i in "${!numbers[@]}"; do
        [[ $there == *$'\n'"${numbers[i]}"$'\n'* ]] || new+=("${files[i]}")
    done

    [ ${#new[@]} -eq 0 ] || apply "${new[@]}"

    give_rights "$dir/rights.sql"
    repair
}


# Warns of modules that are not served any more when all of $files are applied.
#  The running modules may be as old as the schema, version $1.

warn_of() {
    local file serves oldest=0

    for file in "${files[@]}"; do
        version_of "$file"
        [ "$version" -gt "$1" ] || continue

        serves_of "$file"
        [ "${serves:-0}" -le "$oldest" ] || oldest=$serves
    done

    [ "$1" -eq 0 ] || [ "$oldest" -le "$1" ] \
        || echo "$me: modules older than version $oldest are not served from here on:" \
                "restart NGINX with the new ones at once" >&2
}


# Sets $serves to the oldest modules that a migration says it serves, or to
# nothing.

serves_of() {
    local line=

    serves=
    IFS= read -r line < "$1" || :
    [[ ! $line =~ ^'-- serves: '([0-9]{1,9})$ ]] || serves=${BASH_REMATCH[1]}
}


# Makes the role, which belongs to a cluster: a dump or another cluster does not
# have it.

make_role() {
    ask 'there|made' <<'SQL'
SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'svc_app') AS there \gset
\if :there
    \echo there
\else
    CREATE ROLE svc_app LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT;
    \echo made
\endif
SQL

    [ "$reply" = there ] || echo "made the role svc_app"
}


# Grants rights that are missing after a restore; those of older versions are
# not known.

give_rights() {
    [ -e "$1" ] || return 0

    ask "$count" -1 -v file="$1" <<< '\i :file'
    [ "$reply" = 0 ] || echo "set $reply rights of svc_app, and of everybody"
}


# Sets $version.

version_of() {
    local name=${1##*/}

    version=$((10#${name%%_*}))
}


schema_version() {
    ask "$count" <<< 'SELECT coalesce(max(version), 0) FROM svc.schema_migration'
}


# Applies the migrations in order, all on one connection, because the catalogs
# that a connection reads first take longer than most migrations.  Each is
# reported at once.

apply() {
    local answers asked file version serves name rc=0
    local in_use="a table is in use, as by pg_dump"
    local -a values=() names=()

    for file; do
        version_of "$file"
        serves_of "$file"
        name=${file##*/}
        name=${name%.sql}
        names[version]=${name#*_}
        values+=(-v "file_$version=$file" -v "name_$version=${names[version]}"
                 ${serves:+-v "serves_$version=$serves"})
    done

    exec {answers}< <(query_apart "${values[@]}" < <(apply_script "${!names[@]}"))
    asked=$!

    while IFS= read -r reply; do
        check "$reply" "applied $count"
        echo "$reply ${names[${reply#* }]}"
    done <&"$answers"

    exec {answers}<&-
    wait "$asked" || rc=$?
    heed "$rc"
}


# Prints the migrations, each in one transaction, under a lock that makes a
# second svcctl wait.  Before the first change all tables are locked, at once or
# not at all: while somebody, like pg_dump, holds one of them for long, other
# requests must not queue up behind our locks on the rest.

apply_script() {
    local version

    for version; do
        cat <<SQL
\\set version $version
\\set name :name_$version
\\set file :file_$version
\\unset serves
\\if :{?serves_$version}
    \\set serves :serves_$version
\\endif
SQL
        cat <<'SQL'
BEGIN;
SELECT pg_advisory_xact_lock(hashtext('svc.schema_migration')) \g /dev/null
SELECT EXISTS (SELECT FROM svc.schema_migration WHERE version = :version) AS there \gset
\if :there
    COMMIT;
\else
    DO $$
    DECLARE
        tables  text;
    BEGIN
        SELECT string_agg(c.oid::regclass::text, ', ' ORDER BY c.relname) INTO tables
          FROM pg_class c
         WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind IN ('r', 'p')
           AND NOT c.relispartition AND c.relname <> 'schema_migration';

        FOR i IN 1 .. CASE WHEN tables IS NULL THEN 0 ELSE 60 END LOOP
            BEGIN
                SET LOCAL lock_timeout = '800ms';
                EXECUTE 'LOCK TABLE ' || tables;
                SET LOCAL lock_timeout = 0;
                EXIT;
            EXCEPTION WHEN lock_not_available THEN
                IF i = 60 THEN
                    RAISE;
                END IF;
            END;

            PERFORM pg_sleep(1);
        END LOOP;
    END
    $$;
    \o /dev/null
    \i :file
    \o
    INSERT INTO svc.schema_migration (version, name) VALUES (:version, :'name');
    \if :{?serves}
        UPDATE svc.schema_migration SET serves = :serves WHERE version = :version;
    \endif
    COMMIT;
    SELECT 'applied ' || :version;
\endif
SQL
    done
}


# After a restore into another cluster the audit log has xids of the old one.

repair() {
    ask "$count" <<'SQL'
SELECT to_regprocedure('svc.audit_repair()') IS NOT NULL AS there \gset
\if :there
    SELECT svc.audit_repair();
\else
    \echo 0
\endif
SQL

    [ "$reply" = 0 ] || echo "repaired the order of $reply audit events"
}


status() {
    schema_version
    echo "schema version $reply"
    tenant_list
}


# Tells whether modules whose newest migration is $wanted work on the schema, in
# the same way as they do when they connect.

check_modules() {
    local wanted=${opt[modules]:-} version serves file

    if [ -z "$wanted" ]; then
        for file in "$migrations"/[0-9][0-9][0-9][0-9]_*.sql; do
            version_of "$file"
            wanted=$version
        done
    else
        check_number modules 1 9999
        wanted=$((10#$wanted))
    fi

    # a schema without "serves" serves all older modules

    ask "$count $count" -F ' ' <<'SQL'
SELECT coalesce(max(version), 0), coalesce(max((to_jsonb(m) ->> 'serves')::integer), 0)
  FROM svc.schema_migration m
SQL

    read -r version serves <<< "$reply"

    [ "$version" -ge "$wanted" ] \
        || die "the schema is of version $version, and modules of version $wanted need" \
               "that: run \"$me migrate\" first"
    [ "$wanted" -ge "$serves" ] \
        || die "the schema is of version $version, which serves modules of version" \
               "$serves and newer: those of version $wanted would answer 503; keep the" \
               "newer ones, or restore a backup of then"

    echo "modules of version $wanted work on the schema, which is of version $version"
}
