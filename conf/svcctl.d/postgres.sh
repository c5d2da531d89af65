# shellcheck shell=bash disable=SC2154
#
# What psql is asked, and what it says.

# What PostgreSQL may answer: extended regular expressions.

uuid='[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
count='[0-9]{1,15}'
partition='(audit_event|oauth_token|delegation)_([0-9]{4,}(_[0-9]{2}){1,2}|default)'

# Of each session: English messages, where the role may ask for them.

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


# Runs the statements on stdin, with psql's arguments $@: PostgreSQL's answer is
# $reply.  Its warnings are the operator's, and no answer.  Values reach SQL as
# psql variables, quoted by psql; tokens never do.

query() {
    local rc=0

    [ -n "${messages:-}" ] || keep_messages

    reply=$(query_apart "$@") || rc=$?
    heed "$rc"
}


# The same with the answer on stdout; what else psql says is for heed().

query_apart() {
    psql -X -q -A -t -v ON_ERROR_STOP=1 -v VERBOSITY=terse "$@" ${pg:+-d "$pg"} \
         -c "$session" -f - 2> "$messages"
}


# What psql has said, which has ended with the status $1.

heed() {
    local text

    text=$(< "$messages")

    if [ "$1" -ne 0 ]; then
        explain "${text:-psql ended with the status $1}"
    fi

    # each session has the same to say about its database

    [ -z "$text" ] || [ "$text" = "${warned:-}" ] || printf '%s\n' "$text" >&2
    warned=$text
}


keep_messages() {
    command -v psql > /dev/null \
        || die "there is no psql: install the package postgresql-client"

    messages=$(mktemp) || die "no temporary file is to be had"
    trap 'rm -f "$messages"' EXIT
}


# The same; the answer is one line of this shape.

ask() {
    local shape=$1

    shift
    query "$@"
    check "$reply" "$shape"
}


# The same; the answer is any number of such lines.

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


# Lines as COPY takes them, in one pass: the file may be a pipe.  What could end
# the data is not let through, as psql would take what follows for commands: a
# line that begins with "\.", and a zero byte, at which psql cuts a line.

import_lines() {
    local bad='begins with \\. or has a zero byte or a carriage return'

    sed -e '1s/^\xef\xbb\xbf//' -e 's/\r$//' \
        -e '/^\\\.\|[\x00\r]/c '"$bad" -e "\$a\\"
}


# The tenant, in psql's variable "tenant"; without one psql says "none" and ends.

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


# What psql has said when it failed; warnings come before the error.

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
