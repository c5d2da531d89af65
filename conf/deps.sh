#!/bin/sh
#
# Installs the Debian packages that are missing.  "deps.sh build": to build the
# modules; "deps.sh run": also for the demo; "deps.sh federation": also for its
# directory; "deps.sh test": also for the tests, with PostgreSQL's newest minor
# release; "deps.sh ha": also for the test of
# several hosts; "deps.sh debian": to make roots of Debian.  It is quiet and
# quick when nothing is missing.

set -eu

build="nginx nginx-dev gcc libc6-dev make libpq-dev libhiredis-dev libcjson-dev
       libssl-dev libcurl4-openssl-dev libpng-dev libjpeg-dev libwebp-dev
       libargon2-dev libunistring-dev libcrypt-dev libfido2-dev libqrencode-dev
       libc-ares-dev libidn2-dev libldap-dev
       libpcre2-dev libxml2-dev libxslt1-dev zlib1g-dev"
run="postgresql postgresql-client redis-server redis-tools openssl curl
     ca-certificates coreutils procps tzdata python3 python3-aiosmtpd"
federation="slapd"
test="perl libcmocka-dev clang libclang-rt-dev dpkg-dev xz-utils wrk php-cli
      cppcheck clang-tools valgrind jq iproute2 man-db mandoc
      python3-argon2 python3-authlib python3-cryptography python3-dnslib
      python3-fido2 python3-jwcrypto python3-jwt python3-requests oathtool
      libcryptx-perl chromium exim4-daemon-light apache2-bin
      libapache2-mod-auth-openidc libapache2-mod-oauth2 oidc-agent-cli
      ldap-utils samba-ad-dc samba-ad-provision python3-samba 389-ds-base libnss3-tools
      python3-jose python3-requests-oauthlib python3-social-auth-core
      ruby ruby-omniauth-openid-connect
      golang-go golang-github-coreos-go-oidc-dev golang-golang-x-oauth2-dev"
debian="debootstrap"
ha="patroni etcd-server etcd-client haproxy pgbouncer"

# JSON in C, and a chromium without a window: without them the tests take longer,
# which they do where they are not available
quicker="libjson-xs-perl chromium-headless-shell"

# Node.js from any source; Debian's when there is none

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    test="$test nodejs npm"
fi

case ${1:-} in
    build) packages=$build ;;
    run)   packages="$build $run" ;;
    federation) packages="$build $run $federation" ;;
    test)  packages="$build $run $federation $test" ;;
    ha)    packages="$build $run $federation $test $ha" ;;
    debian) packages=$debian ;;
    *)     echo "usage: deps.sh build | run | federation | test | ha | debian" >&2; exit 2 ;;
esac

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

missing_of() {
    # shellcheck disable=SC2016,SC2086
    installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' $1 \
                2>/dev/null | sed -n 's/^.i *//p' | tr '\n' ' ')

    for p in $1; do
        case " $installed" in
            *" $p "*) ;;
            *)        printf ' %s' "$p" ;;
        esac
    done
}

update() {
    [ -n "${updated:-}" ] || $sudo apt-get update -q >/dev/null
    updated=1
}

# PostgreSQL's minor releases plan and log differently, and the tests expect the
# newest one.  apt's lists may be a day old.

old_postgres() {
    # shellcheck disable=SC2016,SC2046
    apt-cache policy $(dpkg-query -W -f \
            '${db:Status-Abbrev} ${source:Package} ${binary:Package}\n' \
            | sed -n 's/^ii  *postgresql-[0-9]* //p') \
        | awk '/^[a-z]/ { name = substr($1, 1, length($1) - 1) }
               $1 == "Installed:" { installed = $2 }
               $1 == "Candidate:" && $2 != installed { printf " %s", name }'
}

day_old() {
    [ -z "$(find /var/lib/apt/lists/partial -maxdepth 0 -mmin -1440 \
            2>/dev/null)" ]
}

missing=$(missing_of "$packages")

if [ "$1" = test ] && $sudo ${sudo:+-n} true 2>/dev/null; then
    { [ -z "$missing" ] && ! day_old; } || update \
        || echo "==> going on with apt's lists as they are"
    missing="$missing$(old_postgres)"

    for p in $(missing_of "$quicker"); do
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
            --no-install-recommends "$p" >/dev/null 2>&1 \
            || echo "==> the tests go on without $p"
    done
fi

[ -n "$missing" ] || exit 0

echo "==> installing:$missing"

# Debian's packages start their services and make a database cluster.  Both are
# prevented here, where all servers are private.

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

update
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -q --no-install-recommends \
      -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
      $missing >/dev/null
