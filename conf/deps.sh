#!/bin/sh
#
# Installs the Debian packages that are missing: "deps.sh run" what it takes to
# build and run, "deps.sh test" what the tests take on top.  Quiet and quick when
# nothing is missing.

set -eu

run="nginx nginx-dev gcc libc6-dev make postgresql postgresql-client
     redis-server redis-tools libpq-dev libhiredis-dev libcjson-dev libssl-dev
     libcurl4-openssl-dev
     libpng-dev libjpeg-dev libwebp-dev libpcre2-dev libxml2-dev
     libxslt1-dev zlib1g-dev openssl curl ca-certificates coreutils procps
     tzdata python3"
test="perl libcmocka-dev clang libclang-rt-14-dev dpkg-dev xz-utils wrk php-cli
      cppcheck clang-tools valgrind jq"

# Node.js of whatever source: Debian's when there is none

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    test="$test nodejs npm"
fi

packages=$run
[ "${1:-run}" = run ] || packages="$run $test"

missing=
for p in $packages; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' \
        || missing="$missing $p"
done

[ -n "$missing" ] || exit 0

echo "==> installing:$missing"

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

# Debian's packages start their services and make a database cluster: not here,
# where the servers are private ones.

policy=/usr/sbin/policy-rc.d
cluster=/etc/postgresql-common/createcluster.d/ngx-svc.conf
made=

undo() {
    [ -z "$made" ] || $sudo rm -f $made
}
trap undo EXIT INT TERM

if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' | $sudo tee $policy >/dev/null
    $sudo chmod 755 $policy
    made="$made $policy"
fi

if [ ! -e $cluster ]; then
    $sudo mkdir -p "$(dirname $cluster)"
    echo 'create_main_cluster = false' | $sudo tee $cluster >/dev/null
    made="$made $cluster"
fi

export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -q >/dev/null
# shellcheck disable=SC2086
$sudo apt-get install -y -q --no-install-recommends \
      -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
      $missing >/dev/null
