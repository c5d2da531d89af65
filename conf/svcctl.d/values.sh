# shellcheck shell=bash disable=SC2154
#
# Checks of options' values, and tokens.

new_token() {
    local secret

    secret=$(head -c 32 /dev/urandom | basenc --base64url | tr -d '=\n') || :

    [[ $secret =~ ^[A-Za-z0-9_-]{43}$ ]] || die "no token could be made"

    printf '%s\n' "$1$secret"
}


digest() {
    local hash

    hash=$(printf '%s' "$1" | sha256sum | cut -d' ' -f1) || :

    [[ $hash =~ ^[0-9a-f]{64}$ ]] || die "no SHA-256 of a token could be made"

    printf '%s\n' "$hash"
}


# $1: option, $2: minimum, $3: maximum

check_number() {
    local value=${opt[$1]}

    [[ $value =~ ^[0-9]{1,${#3}}$ ]] && [ "$((10#$value))" -ge "$2" ] \
        || die "--$1 is a number from $2 to $3, not \"$value\""
}


# E-mail addresses as the API accepts them: without Unicode's control characters
# and white space, here as bytes of UTF-8.

# $1: an address, $2: the option that it was given by

check_email() {
    local blank=$'@([\x01-\x20\x7f]|\xc2[\x80-\xa0]|\xe1\x9a\x80'
    blank+=$'|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)'

    [[ $1 =~ ^[^@]+@[^@]+$ && ${#1} -le 254 && $1 != *$blank* ]] \
        || die "--$2 is an e-mail address, not \"$1\""
}


# Checks an option with a part of a name, if it is given.

check_part() {
    local value=${opt[$1]:-}

    [ "${#value}" -le 1024 ] || die "--$1 has at most 1024 bytes"
}


check_permissions() {
    local p
    local -a list

    IFS=, read -r -a list <<< "$1,"

    for p in "${list[@]}"; do
        [[ ,$permissions, == *,"$p",* ]] \
            || die "unknown permission \"$p\"; known: ${permissions//,/, }"
    done
}


# Prints a time in the future, read by the API's rules for RFC 3339, as
# milliseconds since the epoch.  Its year has four digits in UTC, too.

expiry() {
    local day seconds msec
    local time='^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([01][0-9]|2[0-3]):([0-5][0-9])'
    time+=':([0-5][0-9]|60)(\.([0-9]+))?([Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))$'

    [[ $1 =~ $time ]] && day=$(date -u -d "${BASH_REMATCH[1]}" +%s 2> /dev/null) \
        || die "--expires is a time such as 2030-01-31T00:00:00Z, not \"$1\""

    set -- "$1" "${BASH_REMATCH[@]:2}"
    seconds=$((day + 10#$2 * 3600 + 10#$3 * 60 + 10#$4))
    [ -z "$8" ] || seconds=$((seconds - ${8}1 * (10#$9 * 60 + 10#${10}) * 60))
    msec=${6}000
    msec=$((seconds * 1000 + 10#${msec:0:3}))

    [ "$msec" -gt "$((${EPOCHREALTIME/./} / 1000))" ] \
        || die "--expires is a time in the future, and \"$1\" has passed"
    [ "$msec" -lt 253402300800000 ] \
        || die "--expires is a time until the year 9999 in UTC, not \"$1\""

    printf '%s\n' "$msec"
}
