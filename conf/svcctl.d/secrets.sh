# shellcheck shell=bash disable=SC2154
#
# The keys that secrets are sealed under.  Only perl reads them, from a
# descriptor.

secrets() {
    local rc=0 text

    [ -n "${messages:-}" ] || keep_messages

    # shellcheck disable=SC2016
    perl "$parts/secrets.pl" "$me" "$1" "$parts/secrets.tsv" \
         sh -c 'exec "$@" 2> "$0"' "$messages" \
         psql -X -q -A -t -F $'\t' -v ON_ERROR_STOP=1 -v VERBOSITY=terse \
              ${pg:+-d "$pg"} -c "$session" -f - 3<&"$keys" || rc=$?

    text=$(< "$messages")

    [ $rc -ne 4 ] || explain "${text:-psql has ended}"
    [ -z "$text" ] || printf '%s\n' "$text" >&2

    return $rc
}


secrets_status() {
    secrets status
}


secrets_reseal() {
    secrets "reseal${opt[drop-codes]:+-drop-codes}"
}
