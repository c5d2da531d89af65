# shellcheck shell=bash disable=SC2154
#
# Runs psql, and reads its answers.

# Possible answers of PostgreSQL, as extended regular expressions.

uuid='[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
count='[0-9]{1,15}'
partition='(audit_event|oauth_token|delegation)_([0-9]{4,}(_[0-9]{2}){1,2}|default)'

# For each connection: English messages, where the role may set them.

session="SET client_min_messages = warning; SET TimeZone = 'UTC';
SET DateStyle = ISO, YMD;
DO \$\$
BEGIN
    PERFORM set_config('lc_messages', 'C', false);
EXCEPTION WHEN insufficient_privilege THEN
    NULL;
END
\$\$"

in_use="what it changes is in use"  # when a lock is not to be had


# Runs the statements on stdin, with psql's arguments $@, and sets $reply to
# PostgreSQL's answer.  Warnings go to the operator, and are not part of the
# answer.  Values reach SQL as psql variables, quoted by psql; tokens never do.

query() {
    local rc=0

    [ -n "${messages:-}" ] || keep_messages

    reply=$(query_apart "$@") || rc=$?
    heed "$rc"
}


# Does the same with the answer on stdout; the rest of psql's output is for
# heed().

query_apart() {
    psql -X -q -A -t -v ON_ERROR_STOP=1 -v VERBOSITY=terse "$@" ${pg:+-d "$pg"} \
         -c "$session" -f - 2> "$messages"
}


# Handles psql's messages; psql has ended with the status $1.

heed() {
    local text

    text=$(< "$messages")

    if [ "$1" -ne 0 ]; then
        explain "${text:-psql ended with the status $1}"
    fi

    # each connection has the same warnings about its database

    [ -z "$text" ] || [ "$text" = "${warned:-}" ] || printf '%s\n' "$text" >&2
    warned=$text
}


keep_messages() {
    command -v psql > /dev/null \
        || die "there is no psql: install the package postgresql-client"

    messages=$(mktemp) || die "no temporary file is to be had"
    trap 'rm -f "$messages"' EXIT
}


# Does the same, and checks that the answer is one line of this form.

ask() {
    local shape=$1

    shift
    query "$@"
    check "$reply" "$shape"
}


# Does the same, and checks that the answer consists of such lines.

ask_rows() {
    local shape=$1 row

    shift
    query "$@"

    [ -n "$reply" ] || return 0

    while IFS= read -r row; do
        check "$row" "$shape"
    done <<< "$reply"
}


check() {
    [[ $1 =~ ^($2)$ ]] || die "PostgreSQL's answer to \"$command\" is not" \
                              "understood: \"$1\""
}


show() {
    [ -z "$reply" ] || printf '%s\n' "$reply"
}


has_tenant() {
    [ "$reply" != none ] \
        || die "there is no tenant \"${opt[tenant]}\"; see $me tenant list"
}


# Prints lines as COPY takes them, in one pass, because the file may be a pipe.
#  What could end the data is refused, because psql would run what follows as
# commands: a line that begins with "\.", and a zero byte, at which psql cuts a
# line.

import_lines() {
    local bad='begins with \\. or has a zero byte or a carriage return'

    sed -e '1s/^\xef\xbb\xbf//' -e 's/\r$//' \
        -e '/^\\\.\|[\x00\r]/c '"$bad" -e "\$a\\"
}


# Sets the tenant as psql's variable "tenant"; without one psql prints "none"
# and ends.

import_tenant() {
    cat <<'SQL'
SELECT (SELECT id FROM svc.tenant WHERE slug = :'slug') AS tenant \gset
\if :{?tenant}
\else
    \echo none
    \quit
\endif
SQL
}


# Prints psql's error after it failed; warnings come before the error.

explain() {
    local error warnings

    error=$(sed -n -E '/(ERROR|FATAL|PANIC): |^psql: error: /,$p' <<< "$1")
    warnings=${1%"$error"}
    error=${error:-$1}

    [ -z "$warnings" ] || [ "$warnings" = "$1" ] || printf '%s' "$warnings" >&2

    case $error in
        *tenant_slug_key*)      die "the slug is taken: choose another one" ;;
        *tenant_slug_check*)    die "a slug is 1 to 63 of a-z, 0-9 and -," \
                                    "and does not begin or end with -" ;;
        *tenant_name_check*)    die "a tenant's name has 1 to 120 characters" ;;
        *credential_name_check*) die "a token's name has 1 to 100 characters" ;;
        *sign_in_ip_check*)     die "the file has a network where an address" \
                                    "belongs" ;;
        *"COPY sign_in_import, line"*)
                                die "${opt[file]}: $(explain_copy "$error")" ;;
        *"COPY password_import, line"*)
                                die "${opt[file]}: $(explain_line "$error")" ;;
        *"due to lock timeout"*) die "$in_use: nothing was done, try again" ;;
        *'schema "svc" does not exist'* | *'relation "svc.'*)
                                die "the database has no schema: run" \
                                    "\"$me migrate\" first" ;;
        *"Peer authentication failed"* | *'role "root" does not exist'*)
                                die "PostgreSQL: $error; over the unix socket" \
                                    "a role may be open to the system's user" \
                                    "of its name alone: try" \
                                    "\"sudo -u postgres $me ...\"" ;;
        *"server closed the connection"* | *"connection to server was lost"*)
                                die "the connection was lost; look whether" \
                                    "\"$command\" was done: $error" ;;
        *)                      die "PostgreSQL: $error" ;;
    esac
}
