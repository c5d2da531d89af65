# shellcheck shell=bash disable=SC2154
#
# The fence in Redis: the highest timeline of each cluster, within a generation.

fence_generation() {
    local system key new
    local -a redis

    command -v redis-cli > /dev/null \
        || die "there is no redis-cli: install the package redis-tools"

    case ${opt[redis]} in
        unix:/*) redis=(-s "${opt[redis]#unix:}") ;;
        /*)      redis=(-s "${opt[redis]}") ;;
        *:*)     redis=(-h "${opt[redis]%:*}" -p "${opt[redis]##*:}") ;;
        *)       redis=(-h "${opt[redis]}") ;;
    esac

    ask '[0-9]{1,20}' <<< 'SELECT system_identifier FROM pg_control_system()'
    system=$reply
    key=svc.timeline.$system

    # in one step, because a node may report its timeline at the same time

    new=$(redis-cli --no-auth-warning "${redis[@]}" EVAL \
        "local g = tonumber(redis.call('HGET', KEYS[1], 'generation') or 1) + 1
         redis.call('HSET', KEYS[1], 'generation', g, 'timeline', 0)
         return g" 1 "$key" 2>&1) || :

    [[ $new =~ ^[0-9]{1,9}$ ]] || die "Redis: $new"

    echo "generation $new of the cluster $system"
}
