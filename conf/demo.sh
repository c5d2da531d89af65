#!/bin/bash
#
# demo.sh start PORT | stop: a private PostgreSQL, a private Redis, NGINX and a
# receiver of webhooks under run/, with the tenant "acme".  RUN_DIR names another
# directory.  In a checkout that the servers cannot reach, as below /root, run is
# a link.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
run=$(readlink -m "${RUN_DIR:-$top/run}")
hook=$run/webhook
port=${2:-8080}
slug=acme

# As root the servers run as the user that Debian's postgresql package makes.

if [ "$(id -u)" = 0 ]; then
    user=postgres
    as() { (cd / && setpriv --reuid=$user --regid=$user --init-groups -- "$@"); }
else
    user=$(id -un)
    as() { "$@"; }
fi

pgbin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)


step() { printf '==> %s\n' "$*"; }

die() {
    echo "demo: $*" >&2
    exit 1
}

# PID file, name: is the process of that name alive?

alive() {
    local pid

    pid=$(head -n 1 "$1" 2>/dev/null) || return 1
    [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ]
}

# what, seconds, command: polls until the command succeeds

wait_for() {
    local what=$1 end=$((SECONDS + $2))

    shift 2

    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

healthy() { curl -fsS -m 2 "$url/healthz"; }


reachable() {
    mkdir -p "$run"
    chmod 711 "$run"
    as test -x "$run"
}

elsewhere() {
    run=$(mktemp -d /var/lib/ngx_svc.XXXXXX)
    hook=$run/webhook
    step "the user $user cannot reach $top: run is a link to $run"
    ln -s "$run" "$top/run"
    reachable
}


check() {
    [ -n "$pgbin" ] || die "PostgreSQL is not installed: run \"make deps\""

    [[ $port =~ ^[0-9]+$ ]] || die "PORT is a number, not \"$port\""

    reachable || {
        [ -z "${RUN_DIR:-}" ] && rmdir "$run" 2>/dev/null && elsewhere
    } || die "the user $user cannot reach $run: set RUN_DIR to a directory" \
             "that it can, say RUN_DIR=/var/lib/ngx_svc"

    [ ${#run} -le 80 ] || die "the path $run is too long for the sockets in" \
                              "it: move the checkout, or set RUN_DIR"

    mkdir -p "$run/pg" "$run/redis" "$run/tmp" "$run/webhook"
    chown "$user" "$run/pg" "$run/redis" "$run/tmp" "$run/webhook"
    chmod 700 "$run/pg" "$run/redis" "$run/webhook"
}


start_postgres() {
    if [ ! -e "$run/pg/data/PG_VERSION" ]; then
        step "making a PostgreSQL cluster in $run/pg"
        as "$pgbin/initdb" -D "$run/pg/data" -U postgres -A trust -E UTF8 \
            --locale=C.UTF-8 > "$run/initdb.log" 2>&1 \
            || die "initdb failed, see $run/initdb.log"
        cat >> "$run/pg/data/postgresql.conf" <<TXT
listen_addresses = ''
unix_socket_directories = '$run/pg'
TXT
    fi

    alive "$run/pg/data/postmaster.pid" postgres && return

    step "starting PostgreSQL"
    as "$pgbin/pg_ctl" -D "$run/pg/data" -l "$run/pg/log" -w -s start \
        || die "PostgreSQL did not start, see $run/pg/log"
}


start_redis() {
    alive "$run/redis/pid" redis-server && return

    step "starting Redis"
    as redis-server --port 0 --unixsocket "$run/redis/redis.sock" \
       --dir "$run/redis" --pidfile "$run/redis/pid" --daemonize yes \
       --logfile "$run/redis/log" --appendonly yes > /dev/null \
        || die "Redis did not start, see $run/redis/log"

    wait_for Redis 10 as redis-cli -s "$run/redis/redis.sock" ping \
        || die "Redis does not answer, see $run/redis/log"
}


make_database() {
    if ! as psql -XAtd "host=$run/pg user=postgres dbname=svc" -c '' 2>/dev/null
    then
        step "making the database svc"
        as createdb -h "$run/pg" -U postgres svc
    fi

    step "applying sql/"
    "$top/conf/svcctl" --pg "$pg" migrate --sql "$top/sql"

    [ -e "$run/tokens" ] && return

    # what an interrupted run has done is not done again

    if [ ! -s "$run/tokens.new" ]; then
        step "making the tenant $slug"
        (umask 077
         "$top/conf/svcctl" --pg "$pg" tenant create --slug $slug --name Acme \
             --owner ada@acme.test --env > "$run/tokens.new")
    fi

    as psql -X -q -v ON_ERROR_STOP=1 -d "$pg" <<'SQL'
INSERT INTO svc.user_account (tenant_id, id, user_name, first_name, last_name,
                              display_name, title, email_verified, source)
SELECT t.id, gen_random_uuid(), u.user_name || '@acme.test', u.first_name,
       u.last_name, u.first_name || ' ' || u.last_name, u.title, true, 'local'
  FROM svc.tenant t,
       (VALUES ('alan', 'Alan', 'Turing', 'Researcher'),
               ('edsger', 'Edsger', 'Dijkstra', 'Professor'),
               ('barbara', 'Barbara', 'Liskov', 'Professor'))
       u (user_name, first_name, last_name, title)
 WHERE t.slug = 'acme'
   AND NOT EXISTS (SELECT FROM svc.user_account a
                    WHERE a.tenant_id = t.id
                      AND a.user_name = u.user_name || '@acme.test');
SQL

    mv "$run/tokens.new" "$run/tokens"
}


write_env() {
    local tenant

    tenant=$(sed -nE 's/^SVC_(ADMIN_TOKEN|SCIM_TOKEN|TENANT_SLUG)=/export &/p' \
             "$run/tokens")

    (umask 077
     cat > "$run/env" <<TXT
export SVC_BASE_URL=$url
$tenant
export SVC_PG='$pg'
export SVC_REDIS=unix:$run/redis/redis.sock
TXT
    )
}


# of the receiver; NGINX trusts it, and public CAs

make_certificate() {
    if [ ! -e "$hook/cert.pem" ]; then
        step "making a certificate for the receiver of webhooks"
        as openssl req -x509 -newkey rsa:2048 -nodes -days 3650 \
            -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
            -keyout "$hook/key.pem" -out "$hook/cert.new" \
            2> "$hook/openssl.log" \
            || die "openssl failed, see $hook/openssl.log"
        mv "$hook/cert.new" "$hook/cert.pem"
    fi

    cat "$hook/cert.pem" /etc/ssl/certs/ca-certificates.crt > "$hook/ca.new"
    mv "$hook/ca.new" "$hook/ca.pem"
}


write_conf() {
    if [ ! -e "$run/svc.keys" ]; then
        (umask 077; echo "k1:$(openssl rand -hex 32)" > "$run/svc.keys")
    fi

    cat > "$run/nginx.conf" <<TXT
load_module $top/build/modules/ngx_http_svc_common_module.so;
load_module $top/build/modules/ngx_http_svc_scim_module.so;
load_module $top/build/modules/ngx_http_svc_admin_module.so;
load_module $top/build/modules/ngx_http_svc_webhook_module.so;

$([ "$(id -u)" != 0 ] || echo "user $user;")
worker_processes 2;
pid $run/nginx.pid;
error_log $run/error.log notice;

events {
    worker_connections 4096;
}

http {
    access_log $run/access.log;

    client_body_temp_path $run/tmp/body;
    proxy_temp_path $run/tmp/proxy;
    fastcgi_temp_path $run/tmp/fastcgi;
    uwsgi_temp_path $run/tmp/uwsgi;
    scgi_temp_path $run/tmp/scgi;

    svc_postgres "host=$run/pg dbname=svc user=svc_app";
    svc_redis unix:$run/redis/redis.sock;
    svc_key_file $run/svc.keys;
    svc_base_url $url;

    svc_webhooks on;
    svc_webhook_ca_file $hook/ca.pem;
    svc_webhook_allow 127.0.0.0/8;

    server {
        listen 127.0.0.1:$port;

        location /scim/v2 {
            svc_scim on;
        }

        location /v1 {
            svc_admin on;
        }

        location = /healthz {
            svc_health;
        }

        location = /metrics {
            svc_metrics;
        }
    }
}
TXT
}


start_nginx() {
    local old=

    [ ! -e "$run/nginx.conf" ] || old=$(cat "$run/nginx.conf")

    make_certificate
    write_conf
    ulimit -S -n 8192 2>/dev/null || :

    if alive "$run/nginx.pid" nginx; then
        if [ "$old" != "$(cat "$run/nginx.conf")" ]; then
            step "reloading NGINX"
            nginx -c "$run/nginx.conf" -e "$run/error.log" -s reload
        fi
    else
        step "starting NGINX"
        nginx -q -t -c "$run/nginx.conf" -e "$run/error.log" \
            || die "the configuration is refused"
        nginx -c "$run/nginx.conf" -e "$run/error.log" \
            || die "NGINX did not start, see $run/error.log; is port $port" \
                   "taken by another program? PORT=9090 make run takes another"
    fi

    wait_for NGINX 20 healthy \
        || die "$url/healthz does not answer 200, see $run/error.log"
}


make_endpoint() {
    [ -e "$hook/endpoint" ] && return

    # what an interrupted run has done is not done again

    if [ ! -s "$hook/endpoint.new" ]; then
        step "making a webhook endpoint"
        echo "$((port < 60000 ? port + 363 : port - 363))" > "$hook/port"
        (umask 077
         curl -fsS -o "$hook/endpoint.new" "$url/v1/admin/webhooks" \
             -H "Authorization: Bearer $SVC_ADMIN_TOKEN" \
             -d "{\"url\":\"https://127.0.0.1:$(cat "$hook/port")/\",
                 \"events\":[\"user.created\",\"user.deleted\"]}") \
            || die "no endpoint was made, see $run/error.log"
    fi

    sed -n 's/.*"secret":"\([0-9a-f]*\)".*/\1/p' "$hook/endpoint.new" \
        > "$hook/secret"
    chown "$user" "$hook/secret"
    mv "$hook/endpoint.new" "$hook/endpoint"
}


start_receiver() {
    local port now

    port=$(cat "$hook/port")

    if ! alive "$hook/pid" python3; then
        step "starting the receiver of webhooks"
        install -m 755 "$top/conf/webhook-receiver" "$hook/receiver"

        receive "$port" || { taken && receive 0; } \
            || die "the receiver of webhooks did not start, see $hook/log"
    fi

    # the log may have been emptied since

    now=$(listens)
    [ "${now:-$port}" = "$port" ] || move_endpoint "$now" \
        || die "the endpoint was not moved, see $run/error.log"
}

# port; 0: one that is free

receive() {
    as setsid python3 "$hook/receiver" --port "$1" \
        --cert "$hook/cert.pem" --key "$hook/key.pem" \
        --secret-file "$hook/secret" --pid-file "$hook/pid" \
        < /dev/null >> "$hook/log" 2>&1 &

    wait_for "the receiver" 10 settled $! && alive "$hook/pid" python3
}

settled() { alive "$hook/pid" python3 || ! kill -0 "$1"; }

taken() { tail -n 1 "$hook/log" | grep -q 'Address already in use$'; }

listens() {
    sed -n 's/^listening on .*:\([0-9]*\)\/$/\1/p' "$hook/log" | tail -n 1
}

# port

move_endpoint() {
    local id

    step "moving the webhook endpoint to port $1"
    id=$(sed -n 's/.*"id":"\([0-9a-f-]*\)".*/\1/p' "$hook/endpoint")
    curl -fsS -o /dev/null -X PATCH "$url/v1/admin/webhooks/$id" \
        -H "Authorization: Bearer $SVC_ADMIN_TOKEN" \
        -d "{\"url\":\"https://127.0.0.1:$1/\"}" \
        && echo "$1" > "$hook/port"
}


# Once: a user, of whom the receiver hears.

show_delivery() {
    local status

    [ -e "$hook/first" ] && return

    step "provisioning radia@acme.test"
    status=$(curl -sS -o /dev/null -w '%{http_code}' "$url/scim/v2/Users" \
             -H "Authorization: Bearer $SVC_SCIM_TOKEN" \
             -d '{"userName":"radia@acme.test","displayName":"Radia Perlman"}')

    [ "$status" = 201 ] || [ "$status" = 409 ] \
        || die "POST $url/scim/v2/Users: $status, see $run/error.log"

    wait_for "a delivery" 20 grep '^verified ' "$hook/log" \
        || die "the receiver got no delivery, see $hook/log and $run/error.log"

    step "the receiver of webhooks has got this"
    grep -m 1 '^verified ' "$hook/log" | tee "$hook/first"
}


show_webhooks() {
    # shellcheck disable=SC1091
    . "$run/env"

    make_endpoint
    start_receiver
    show_delivery
}


show() {
    # shellcheck disable=SC1091
    . "$run/env"

    cat <<TXT

base URL     $SVC_BASE_URL
SCIM         $SVC_BASE_URL/scim/v2
SCIM token   $SVC_SCIM_TOKEN
admin token  $SVC_ADMIN_TOKEN
all of it    . $run/env
metrics      $SVC_BASE_URL/metrics
webhooks     tail -f $hook/log

curl -H 'Authorization: Bearer $SVC_SCIM_TOKEN' $SVC_BASE_URL/scim/v2/Users
curl -H 'Authorization: Bearer $SVC_SCIM_TOKEN' $SVC_BASE_URL/scim/v2/Users -d '{"userName":"grace@acme.test","displayName":"Grace Hopper"}'
curl -H 'Authorization: Bearer $SVC_SCIM_TOKEN' -G $SVC_BASE_URL/scim/v2/Users --data-urlencode 'filter=userName eq "grace@acme.test"'
TXT
}


start() {
    check

    url=http://127.0.0.1:$port
    pg="host=$run/pg user=postgres dbname=svc"

    start_postgres
    start_redis
    make_database
    start_nginx
    write_env
    show_webhooks
    show
}


# name, PID file, name of the process, signal

end() {
    local pid

    alive "$2" "$3" || return 0

    step "stopping $1"
    pid=$(head -n 1 "$2")
    kill -"$4" "$pid"
    wait_for "$1" 30 gone "$pid" || die "$1, process $pid, does not end"
}

gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }


stop() {
    end NGINX "$run/nginx.pid" nginx QUIT
    end "the receiver of webhooks" "$hook/pid" python3 TERM
    rm -f "$hook/pid"
    end Redis "$run/redis/pid" redis-server TERM
    end PostgreSQL "$run/pg/data/postmaster.pid" postgres INT
}


case ${1:-} in
    start) start ;;
    stop)  stop ;;
    *)     die "usage: demo.sh start PORT | stop" ;;
esac
