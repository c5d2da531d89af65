# shellcheck shell=bash disable=SC2154
#
# The help of svcctl, none of which needs PostgreSQL.

usage() {
    local name

    cat <<TXT
usage: $me [--pg CONNINFO] COMMAND [OPTION ...]
       $me COMMAND --help

TXT

    for name in "${order[@]}"; do
        printf '  %-24s%s\n' "$name" "${summary[$name]}"
    done

    cat <<TXT

CONNINFO is libpq's, of the role that owns the database; without --pg it is
taken from SVC_PG, or from PGHOST, PGDATABASE and the like.  A value that begins
with "--" is written --name=VALUE.  See also: man $me.
TXT
}


# Prints a command's options as its usage shows them.

synopsis() {
    local name allowed

    read -r _ allowed <<< "${commands[$1]} "

    for name in $allowed; do
        case $name in
            *!) printf ' --%s %s' "${name%!}" "${value_of[${name%!}]}" ;;
            *)  printf ' [--%s]' "$name${value_of[$name]:+ ${value_of[$name]}}" ;;
        esac
    done
}


command_help() {
    local name allowed

    read -r _ allowed <<< "${commands[$1]} "

    printf 'usage: %s %s%s\n\n' "$me" "$1" "$(synopsis "$1")"
    printf '%s %s.\n%s' "$me $1" "${summary[$1]}" "${details[$1]}" | fmt -w 79

    echo

    for name in ${allowed//!/} pg; do
        printf '  %-21s%s\n' "--$name${value_of[$name]:+ ${value_of[$name]}}" \
               "${meaning[$name]}"
    done

    printf '\nExample:\n\n    %s %s\n' "$me" "${example[$1]}"
}


# Prints help about a command, about those that begin with the words, or about
# all.

help_of() {
    local name found=

    if [ -z "$*" ]; then
        usage
        return
    fi

    if [ -n "${commands[$*]:-}" ]; then
        command_help "$*"
        return
    fi

    for name in "${order[@]}"; do
        [[ $name == "$* "* ]] || continue

        printf '%s%s %s%s\n' "${found:-usage: }" "$me" "$name" "$(synopsis "$name")"
        found="       "
    done

    [ -n "$found" ] || die "unknown command \"$*\"; see $me --help"
}


show_version() {
    echo "$me $version"
}


show_commands() {
    local name option allowed

    for name in "${order[@]}"; do
        read -r _ allowed <<< "${commands[$name]} "
        printf '%s' "$name"

        for option in ${allowed//!/} pg; do
            printf ' --%s%s' "$option" "${value_of[$option]:+=}"
        done

        printf '\n'
    done
}
