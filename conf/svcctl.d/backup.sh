# shellcheck shell=bash disable=SC2154
#
# Backups: a dump of the database, and a MANIFEST beside it, one fact on each
# line.

# Prints queries for lines "id table": the keys in use in what secrets.tsv
# lists.  An older schema has fewer tables.

backup_keys_in_use() {
    local table column condition

    while IFS=$'\t' read -r table column _ _ condition _; do
        [[ $table != "#"* ]] || continue
        cat <<SQL
SELECT \$\$SELECT DISTINCT encode(substr($column, 2, get_byte($column, 0)), 'escape') || ' $table'
            FROM svc.$table
           WHERE CASE WHEN octet_length($column) > 1
                      THEN get_byte($column, 0) BETWEEN 1 AND 32 END AND $condition\$\$
 WHERE to_regclass('svc.$table') IS NOT NULL \gexec
SQL
    done < "$parts/secrets.tsv"
}


# Reads the file into $backup_key_file, and its keys' ids, one on each line,
# into $backup_keys.

backup_read_keys() {
    local line

    backup_keys=$'\n' backup_key_file=$(cat <&"$keys")

    while IFS= read -r line; do
        [[ $line =~ ^([^:#]+):[0-9A-Fa-f]{64}$ ]] || continue
        backup_keys+=${BASH_REMATCH[1]}$'\n'
    done <<< "$backup_key_file"

    [ "$backup_keys" != $'\n' ] || die "${opt[keys]} has no keys: its lines are like id:64 hex digits"
}


# Checks lines "id table": each key must be in the file.

backup_check_keys() {
    local id table

    while read -r id table; do
        [ -z "$id" ] || [[ $backup_keys == *$'\n'"$id"$'\n'* ]] \
            || die "${opt[keys]} lacks the key $id, by which rows of $table are sealed:" \
                   "without it they are lost"
    done <<< "$1"
}


# Prints a query for the number of rows of each table, as lines "table number".

backup_count_rows() {
    cat <<'SQL'
SELECT format('SELECT %L, count(*) FROM svc.%I', relname, relname)
  FROM pg_class
 WHERE relnamespace = 'svc'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
 ORDER BY relname \gexec
SQL
}


# psql holds the snapshot that pg_dump reads, and counts the rows in it.

backup() {
    local dir=${opt[out]} dumped

    command -v pg_dump > /dev/null \
        || die "there is no pg_dump: install the package postgresql-client"
    backup_read_keys
    umask 077
    mkdir -p "$dir" || die "cannot make $dir"
    [ -z "$(ls -A "$dir")" ] || die "$dir is not empty"

    # before the work starts, too

    query <<< "$(backup_keys_in_use)"
    backup_check_keys "$reply"

    # shellcheck disable=SC2016
    export SVC_DUMP_DIR=$dir/dump SVC_DUMP_PG=$pg \
           SVC_DUMP='pg_dump -Fd -f "$SVC_DUMP_DIR" --snapshot="$SVC_DUMP_SNAPSHOT" \
                             ${SVC_DUMP_PG:+-d "$SVC_DUMP_PG"}'

    query -F ' ' <<SQL
SELECT set_config(name, '0', false) FROM pg_settings
 WHERE name IN ('statement_timeout', 'transaction_timeout',
                'idle_in_transaction_session_timeout') \\g /dev/null
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT pg_export_snapshot() AS snapshot \\gset
\\setenv SVC_DUMP_SNAPSHOT :snapshot
\\! eval "\$SVC_DUMP" < /dev/null >&2 && echo dumped
\\echo schema
SELECT max(version) FROM svc.schema_migration;
\\echo keys
$(backup_keys_in_use)
\\echo rows
$(backup_count_rows)
COMMIT;
SQL

    dumped=$reply
    [[ $dumped == dumped$'\n'* ]] || die "pg_dump has failed; $dir is no backup"
    backup_check_keys "$(backup_part keys "$dumped")"
    backup_manifest "$dir" "$dumped"
    echo "backup in $dir: keep it apart from the keys, and rehearse it with \"$me restore\""
}


# Prints the lines between one word and the next.

backup_part() {
    awk -v part="$1" '/^(schema|keys|rows)$/ { now = $0; next } now == part' <<< "$2"
}


# The manifest is written last, in one step: a folder without it is not a
# backup.

backup_manifest() {
    local dir=$1 dumped=$2

    {
        echo "ngx_svc $version"
        echo "at $(date -u +%Y-%m-%dT%H:%M:%SZ)"
        backup_part schema "$dumped" | sed 's/^/schema /'
        backup_part keys "$dumped" | sed 's/^/key /'
        backup_part rows "$dumped" | sed 's/^/rows /'
        (cd "$dir" && find dump -type f -exec sha256sum {} + | sort -k 2) \
            | sed 's/^/sha256 /'
    } > "$dir/MANIFEST.new" || die "cannot write $dir/MANIFEST"

    sync "$dir/MANIFEST.new" "$dir" "$dir/dump"
    mv "$dir/MANIFEST.new" "$dir/MANIFEST"
}


restore() {
    local dir=${opt[from]} manifest

    command -v pg_restore > /dev/null \
        || die "there is no pg_restore: install the package postgresql-client"
    backup_read_keys
    backup_check "$dir"

    if [ -z "${opt[rehearse]:-}" ]; then
        restore_into "$dir"
        cat <<TXT
What is left to do:
- the password of svc_app: ALTER ROLE svc_app PASSWORD '...', and the passfile of svc_postgres
- the file of svc_key_file on each node
- rights of roles of your own
- start NGINX, and look at its health
TXT
        return
    fi

    scratch=svc_rehearsal_$$_$RANDOM
    server=$pg
    ask made <<< "CREATE DATABASE $scratch TEMPLATE template0;
\\echo made"
    trap restore_drop EXIT
    pg=$(restore_conninfo "$scratch")
    restore_into "$dir"
    date -u +%Y-%m-%dT%H:%M:%SZ > "$dir/backup.ok" || die "cannot write $dir/backup.ok"
    echo "rehearsed: $dir can be restored"
}


# Checks that the folder is complete, and that its version and its keys are
# known here.

backup_check() {
    local dir=$1 newest file version there

    [ -r "$dir/MANIFEST" ] || die "$dir has no MANIFEST: it is no backup, or not a whole one"
    manifest=$(< "$dir/MANIFEST")

    [ "$(sed -n 's/^sha256 [0-9a-f]*  //p' <<< "$manifest")" = \
      "$(cd "$dir" && find dump -type f | sort)" ] \
        || die "$dir has other files than its MANIFEST says"
    (cd "$dir" && sed -n 's/^sha256 //p' <<< "$manifest" | sha256sum -c --quiet >&2) \
        || die "$dir has files that are damaged"

    there=$(sed -n 's/^schema //p' <<< "$manifest")

    for file in "$migrations"/[0-9][0-9][0-9][0-9]_*.sql; do
        version_of "$file"
        newest=$version
    done

    [[ $there =~ ^[0-9]+$ ]] || die "$dir/MANIFEST has no schema"
    [ "$there" -le "$newest" ] \
        || die "the backup is of version $there, and the newest migration here is" \
               "$newest: use the newer $me"
    backup_check_keys "$(sed -n 's/^key //p' <<< "$manifest")"
}


# Rights are not restored: they name roles that this cluster may not have, and
# "migrate" grants what the modules need.

restore_into() {
    local dir=$1

    ask 'empty|full' <<'SQL'
SELECT CASE WHEN to_regnamespace('svc') IS NULL THEN 'empty' ELSE 'full' END
SQL

    [ "$reply" = empty ] \
        || die "the database has a schema \"svc\": restore into a new one, by createdb"

    make_role
    pg_restore --exit-on-error --no-owner --no-privileges -d "${pg:-$(restore_conninfo)}" \
               "$dir/dump" >&2 \
        || die "pg_restore has failed: drop the database, and begin anew"

    query -F ' ' <<< "\\echo keys
$(backup_keys_in_use)
\\echo rows
$(backup_count_rows)"

    [ "$(backup_part rows "$reply")" = "$(sed -n 's/^rows //p' <<< "$manifest")" ] \
        || die "the database has other numbers of rows than $dir/MANIFEST says"
    backup_check_keys "$(backup_part keys "$reply")"

    query <<'SQL'
SELECT 'ANALYZE svc.' || relname FROM pg_class
 WHERE relnamespace = 'svc'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
\gexec
SQL
    migrate
    restore_open
    echo "restored $(grep -c '^rows ' <<< "$manifest") tables from $dir"
}


# A key's id proves little: each kind of secret must be readable with it.

restore_open() {
    if ! perl -MCrypt::AuthEnc::GCM -e 1 2> /dev/null; then
        echo "whether the keys open what is sealed was not tried: install the package libcryptx-perl" >&2
        return
    fi

    exec {keys}<<< "$backup_key_file"
    secrets open || exit 1
}


# Prints the conninfo with database $1; without $1 with the database of libpq's
# variables.

restore_conninfo() {
    local name=${1:-${PGDATABASE:-${PGUSER:-$(id -un)}}}

    case $pg in
        postgres://*\?* | postgresql://*\?*) echo "$pg&dbname=$name" ;;
        postgres://* | postgresql://*)       echo "$pg?dbname=$name" ;;
        *=*)                                 echo "$pg dbname=$name" ;;
        *)                                   echo "dbname=$name" ;;
    esac
}


# Drops the scratch database, which a rehearsal does last, however it ends.

restore_drop() {
    psql -X -q ${server:+-d "$server"} -c "DROP DATABASE IF EXISTS $scratch" > /dev/null \
        || echo "$me: the database $scratch is left: drop it" >&2
    rm -f "${messages:-}"
}
