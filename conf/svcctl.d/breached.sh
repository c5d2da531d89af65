# shellcheck shell=bash disable=SC2154
#
# Files of breached passwords, in Perl: a billion lines are too many for bash.

breached() {
    perl "$parts/breached.pl" "$me" "$@"
}


breached_build() {
    [ -z "${opt[min-count]+given}" ] || check_number min-count 1 999999999
    [ ! -t 0 ] || die "the list is expected on standard input: < LIST"

    breached build "${opt[out]}" "$((10#${opt[min-count]:-1}))"
}


# The password is only in this variable and in a pipe.

breached_check() {
    local password='' hash=''

    if [ -n "${opt[password-stdin]+given}" ]; then
        IFS= read -r password || :
        [ -n "$password" ] || die "there is no password on standard input"

        hash=$(printf '%s' "$password" | sha1sum | cut -d' ' -f1) || :
        [[ $hash =~ ^[0-9a-f]{40}$ ]] || die "no SHA-1 of the password could be made"
    fi

    breached check "${opt[file]}" 3<&"$input" <<< "$hash"
}
