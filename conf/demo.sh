#!/bin/bash
#
# demo.sh start [PORT] | stop: a private PostgreSQL, a private Redis, NGINX, and
# receivers of webhooks and of mails under run/, with the tenant "acme"; with
# FEDERATION=1 also an identity provider and a directory of it.  Without PORT it
# takes the port of the last time, or 8080.  RUN_DIR names another directory.  In
# a checkout that the servers cannot read, as below /root, run is a link.

set -euo pipefail

# NGINX is in one of these folders, which an ordinary user's PATH does not have

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

top=$(cd "$(dirname "$0")/.." && pwd)
run=$(readlink -m "${RUN_DIR:-$top/run}")
hook=$run/webhook
port=${2:-}
slug=acme
owner=ada@acme.test
interrupted=
standing=                   # set: NGINX ran before, and a failed start stops nothing

# As root, the servers run as the user that Debian's postgresql package makes.

if [ "$(id -u)" = 0 ]; then
    user=postgres
    as() {
        (cd / && exec setpriv --reuid=$user --regid=$user --init-groups -- "$@") \
            9>&-
    }
else
    user=$(id -un)
    as() { "$@" 9>&-; }
fi

pgbin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)

# the real psql: Debian's is a wrapper in Perl that takes five times as long

PATH=${pgbin:+$pgbin:}$PATH


for part in webhooks mail pages sample federation; do
    # shellcheck source=/dev/null
    . "$top/conf/demo.d/$part.sh"
done


step() { printf '==> %s\n' "$*"; }

die() {
    echo "demo: $*" >&2
    exit 1
}

# $1: PID file, $2: name.  Returns whether the process of that name is alive,
# and the demo's.  After a restart of the machine the number may be another
# process's.

alive() {
    local pid

    pid=$(head -n 1 "$1" 2>/dev/null) || return 1
    [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ] \
        && ! gone "$pid" && grep -qsF "$run/" "/proc/$pid/cmdline"
}

# a zombie counts as gone; it stays until its parent waits for it

gone() { [ ! -e "/proc/$1" ] || grep -qs '^State:.Z' "/proc/$1/status"; }

# $1: what, $2: seconds, then a command: polls until the command succeeds

wait_for() {
    local what=$1 end=$((SECONDS + $2))

    shift 2

    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

healthy() { curl -fsS -m 2 "$url/healthz" | grep -F '"postgres":"up"'; }

# one run at a time; processes that stay behind do not keep file 9 open

lock() {
    exec 9> "$run/lock"
    flock -w 120 9 || die "another \"make run\" or \"make stop\" is under way"
}


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
    [ -n "$pgbin" ] || die "PostgreSQL is not installed: run \"make deps-run\""

    reachable || {
        [ -z "${RUN_DIR:-}" ] && rmdir "$run" 2>/dev/null && elsewhere
    } || die "the user $user cannot reach $run: set RUN_DIR to a directory" \
             "that it can, say RUN_DIR=/var/lib/ngx_svc"

    [[ $run != *[\"\'\\\$\`,]* ]] || die "the path $run has a character that" \
                                     "configuration files take for another:" \
                                     "move the checkout, or set RUN_DIR"

    [ ${#run} -le 80 ] || die "the path $run is too long for the sockets in" \
                              "it: move the checkout, or set RUN_DIR"

    mkdir -p "$run/pg" "$run/redis" "$run/tmp" "$run/webhook" \
             "$run/mail" "$run/http.d" "$run/server.d"
    chown "$user" "$run/pg" "$run/redis" "$run/tmp" "$run/webhook" "$run/mail"
    chmod 700 "$run/pg" "$run/redis" "$run/webhook" "$run/mail"
}

# PORT, or the port of the last time

choose_port() {
    [ -n "$port" ] || [ ! -e "$run/env" ] \
        || port=$(sed -n 's/^export SVC_BASE_URL=.*:\([0-9]*\)$/\1/p' "$run/env")

    port=${port:-8080}
    [[ $port =~ ^[0-9]{1,5}$ ]] && [ "$((10#$port))" -ge 1 ] \
        && [ "$((10#$port))" -le 65535 ] \
        || die "PORT is a number from 1 to 65535, not \"$port\""
    port=$((10#$port))

    [ "$port" = "$(listening)" ] || ! answers \
        || die "port $port is taken by another program: \"PORT=9090 make run\"" \
               "takes another"
}

# prints the port of the running NGINX

listening() {
    ! alive "$run/nginx.pid" nginx \
        || sed -n 's/^ *listen 127\.0\.0\.1:\([0-9]*\);$/\1/p' "$run/nginx.conf"
}

answers() { (: <> "/dev/tcp/127.0.0.1/$port") 2>/dev/null; }


start_postgres() {
    if [ ! -e "$run/pg/data/PG_VERSION" ]; then
        step "making a PostgreSQL cluster in $run/pg"
        as rm -rf "$run/pg/data" "$run/pg/data.new"
        as "$pgbin/initdb" -D "$run/pg/data.new" -U postgres -A trust -E UTF8 \
            --locale=C.UTF-8 > "$run/initdb.log" 2>&1 \
            || die "initdb failed, see $run/initdb.log"
        cat >> "$run/pg/data.new/postgresql.conf" <<TXT
listen_addresses = ''
unix_socket_directories = '"$run/pg"'
TXT
        mv "$run/pg/data.new" "$run/pg/data"
    fi

    if ! alive "$run/pg/data/postmaster.pid" postgres; then
        step "starting PostgreSQL"
        as "$pgbin/pg_ctl" -D "$run/pg/data" -l "$run/pg/log" -w -s start \
            || die "PostgreSQL did not start, see $run/pg/log"
    fi

    wait_for PostgreSQL 60 as "$pgbin/pg_isready" -q -h "$run/pg" \
        || die "PostgreSQL does not answer, see $run/pg/log"
}


# Signals wait until Redis answers: it writes its PID file after it has gone
# into the background, and before that nobody could stop it.  An old PID file
# that it may not be able to overwrite is removed.

start_redis() {
    trap 'interrupted=1' INT TERM HUP

    if ! alive "$run/redis/pid" redis-server; then
        step "starting Redis"
        rm -f "$run/redis/pid"
        as redis-server --port 0 --unixsocket "$run/redis/redis.sock" \
           --dir "$run/redis" --pidfile "$run/redis/pid" --daemonize yes \
           --logfile "$run/redis/log" --appendonly yes > /dev/null \
            || die "Redis did not start, see $run/redis/log"
    fi

    wait_for Redis 10 as redis-cli -s "$run/redis/redis.sock" ping \
        || die "Redis does not answer, see $run/redis/log"

    trap 'exit 1' INT TERM HUP
    [ -z "$interrupted" ] || exit 1
}


make_database() {
    if ! as psql -XAtd "$pg" -c '' 2>/dev/null
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
         make_tenant $slug Acme $owner Ada Lovelace > "$run/tokens.part")
        has_tokens "$run/tokens.part" \
            || die "svcctl has shown no tokens, see $run/tokens.part"
        mv "$run/tokens.part" "$run/tokens.new"
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


# $1: slug, $2: name, $3: owner, $4 and $5: the owner's names.  Prints the tenant's
# variables.  Nobody knows the tokens of a tenant that an interrupted run has
# made: it gets new ones.

make_tenant() {
    local permissions

    permissions=$(as psql -XAt -v ON_ERROR_STOP=1 -d "$pg" <<SQL
SELECT array_to_string(c.permissions, ',')
  FROM svc.tenant t JOIN svc.credential c ON c.tenant_id = t.id
 WHERE t.slug = '$1' AND c.kind = 'api' AND c.name = 'owner';
SQL
    )

    if [ -z "$permissions" ]; then
        "$top/conf/svcctl" --pg "$pg" tenant create --slug "$1" --name "$2" \
            --owner "$3" --given "$4" --family "$5" --env
        return
    fi

    echo "SVC_TENANT_SLUG=$1"
    "$top/conf/svcctl" --pg "$pg" token create --tenant "$1" --name demo \
        --permissions "$permissions" | sed -n 's/^token  /SVC_ADMIN_TOKEN=/p'
    "$top/conf/svcctl" --pg "$pg" scim-token create --tenant "$1" --name demo \
        | sed -n 's/^token  /SVC_SCIM_TOKEN=/p'
}


has_tokens() {
    [ "$(grep -cE '^SVC_(ADMIN_TOKEN=svc|SCIM_TOKEN=scim)_[A-Za-z0-9_-]{43}$' \
         "$1")" = 2 ]
}


# Sets the owner's password once.  An interrupted run may have set one that
# nobody knows: then another one is set.  It is in no command line.

make_password() {
    local password

    [ -e "$run/password" ] && return

    step "setting the owner's password"
    password=$(openssl rand -hex 12)
    [[ $password =~ ^[0-9a-f]{24}$ ]] || die "openssl has made no password"
    set_password $slug $owner "$password"

    (umask 077; echo "$password" > "$run/password.new")
    mv "$run/password.new" "$run/password"
}

# $1: slug of a tenant, $2: address of a user, $3: password

set_password() {
    local token answer

    token=$("$top/conf/svcctl" --pg "$pg" user reset-link --tenant "$1" \
                --email "$2" 2> "$run/tmp/svcctl" | sed -n 's/^token  //p') \
        || die "no token to set the password with: $(< "$run/tmp/svcctl")"

    answer=$(printf '{"token":"%s","password":"%s","tenant":"%s"}' "$token" \
                    "$3" "$1" \
             | curl -sS -w '%{http_code}' -d @- "$url/v1/auth/password/reset") \
        && [ "$answer" = 204 ] \
        || die "the password of $2 was not set: $answer"
}


write_env() {
    (umask 077
     {
         echo "export SVC_BASE_URL=$url"
         sed -nE 's/^SVC_(ADMIN_TOKEN|SCIM_TOKEN|TENANT_SLUG)=/export &/p' \
             "$run/tokens"
         echo "export SVC_OWNER_PASSWORD=$(< "$run/password")"
         printf 'export %s="%s"\n' SVC_PG "$pg" \
                SVC_REDIS "unix:$run/redis/redis.sock"
     } > "$run/env.new")

    mv "$run/env.new" "$run/env"
}


make_key() {
    local key

    [ -e "$run/svc.keys" ] && return

    key=$(openssl rand -hex 32)
    [[ $key =~ ^[0-9a-f]{64}$ ]] || die "openssl has made no key"
    (umask 077; echo "k1:$key" > "$run/svc.keys.new")
    mv "$run/svc.keys.new" "$run/svc.keys"
}


write_conf() {
    cat <<TXT
# "make run" writes this file anew.  What is yours goes into files of your own, which
# are included: run/http.d/*.conf in http, and run/server.d/*.conf in server.

$(modules common scim admin webhook)

worker_processes 2;
worker_shutdown_timeout 15s;
$(main_conf "$run")

http {
$(http_conf "$run" "$url")

    svc_webhooks on;
    svc_webhook_ca_file "$hook/ca.pem";
    svc_webhook_allow 127.0.0.0/8;

    svc_scim_targets on;

    svc_mail smtp://127.0.0.1:$(< "$run/mail/port");
    svc_mail_from "Demo <no-reply@acme.test>";
    svc_mail_tls off;
    svc_mail_templates "$top/conf/mail";
$(federation_conf)

    include "$run/http.d/*.conf";

    server {
        listen 127.0.0.1:$port;

        location /scim/v2 {
            svc_scim on;
        }

$(locations)

        location = /metrics {
            svc_metrics;
        }

        include "$run/server.d/*.conf";
    }
}
TXT
}

# $@: names of modules

modules() { printf "load_module \"$top/build/modules/ngx_http_svc_%s_module.so\";\n" "$@"; }

# $1: the folder of a server

main_conf() {
    cat <<TXT
$([ "$(id -u)" != 0 ] || echo "user $user;")
pid "$1/nginx.pid";
error_log "$1/error.log" notice;

events {
    worker_connections 4096;
}
TXT
}

# $1: the folder of a server, $2: where it is

http_conf() {
    cat <<TXT
    access_log "$1/access.log";

    client_body_temp_path "$1/tmp/body";
    proxy_temp_path "$1/tmp/proxy";
    fastcgi_temp_path "$1/tmp/fastcgi";
    uwsgi_temp_path "$1/tmp/uwsgi";
    scgi_temp_path "$1/tmp/scgi";

    svc_postgres "host='$run/pg' dbname=svc user=svc_app";
    svc_redis "unix:$run/redis/redis.sock";
    svc_key_file "$run/svc.keys";
    svc_base_url $2;

    svc_sign_in on;
TXT
}

# the locations for people, and for their applications

locations() {
    cat <<TXT
        location /v1 {
            svc_admin on;
        }

        location /oauth {
            svc_oauth on;
        }

        location /.well-known/openid-configuration {
            svc_oauth_metadata on;
        }

        location /.well-known/oauth-authorization-server {
            svc_oauth_metadata on;
        }

$(pages_conf www | sed 's/^./        &/')

$(pages_conf console | sed 's/^./        &/')

        location = /healthz {
            svc_health;
        }
TXT
}


# When somebody has edited a file that is written anew, his version is kept
# beside it.

keep_edited() {
    local number

    if [ -e "$run/nginx.conf.made" ] && [ -e "$run/nginx.conf" ] \
        && ! cmp -s "$run/nginx.conf" "$run/nginx.conf.made"
    then
        number=1
        while [ -e "$run/nginx.conf.edited.$number" ]; do
            number=$((number + 1))
        done

        cp -p "$run/nginx.conf" "$run/nginx.conf.edited.$number"
        step "run/nginx.conf was edited: it is kept as" \
             "run/nginx.conf.edited.$number, put such things into" \
             "run/http.d/*.conf or run/server.d/*.conf"
    fi
}

new_conf() {
    keep_edited
    mv "$run/nginx.conf.new" "$run/nginx.conf"
    cp -p "$run/nginx.conf" "$run/nginx.conf.made"
}


start_nginx() {
    make_key
    make_certificate
    start_mail
    copy_pages
    start_federation
    write_conf > "$run/nginx.conf.new"
    ulimit -S -n 8192 2>/dev/null || :

    nginx -q -t -c "$run/nginx.conf.new" -e "$run/error.log" \
        || die "the configuration is refused"

    if alive "$run/nginx.pid" nginx && outdated "$run/nginx.pid"; then
        standing=
        end "NGINX, whose modules are older" "$run/nginx.pid" nginx QUIT TERM KILL
    fi

    if alive "$run/nginx.pid" nginx; then
        reload_nginx
        return
    fi

    step "starting NGINX"
    new_conf
    nginx -c "$run/nginx.conf" -e "$run/error.log" 9>&- \
        || die "NGINX did not start, see $run/error.log; is port $port taken?"

    wait_for NGINX 20 healthy || die "$unwell"
}

# a reload keeps the modules that are already in memory

# $1: PID file

outdated() {
    [ -n "$(find "$top/build/modules/" -name '*.so' -newer "$1")" ]
}

# When NGINX refuses the new configuration it continues with the old one.

reload_nginx() {
    if ! cmp -s "$run/nginx.conf.new" "$run/nginx.conf" \
        || [ -n "$(find "$run/http.d/" "$run/server.d/" \
                        -newer "$run/nginx.conf")" ]
    then
        step "reloading NGINX"
        cp -p "$run/nginx.conf" "$run/nginx.conf.old"
        new_conf
        nginx -c "$run/nginx.conf" -e "$run/error.log" -s reload
    fi

    wait_for NGINX 20 healthy || {
        [ ! -e "$run/nginx.conf.old" ] \
            || mv "$run/nginx.conf.old" "$run/nginx.conf"
        die "$unwell"
    }

    rm -f "$run/nginx.conf.new" "$run/nginx.conf.old"
}


show() {
    local jar

    # shellcheck disable=SC1091
    . "$run/env"

    jar=$(printf %q "$run/cookies")

    cat <<TXT

base URL     $SVC_BASE_URL
SCIM         $SVC_BASE_URL/scim/v2
SCIM token   $SVC_SCIM_TOKEN
admin token  $SVC_ADMIN_TOKEN
owner        $owner
password     $SVC_OWNER_PASSWORD
all of it    . $(printf %q "$run/env")
metrics      $SVC_BASE_URL/metrics
webhooks     tail -f $(printf %q "$hook/log")
mails        $(printf %q "$run/mail")/*.eml, and in plain text *.txt
sign-in      $SVC_BASE_URL/login?tenant=$SVC_TENANT_SLUG, with passkeys, too
account      $SVC_BASE_URL/account?tenant=$SVC_TENANT_SLUG
console      $SVC_BASE_URL/console
NGINX        $(printf %q "$run/nginx.conf"); of your own: http.d/*.conf and server.d/*.conf beside it

curl -H 'Authorization: Bearer $SVC_SCIM_TOKEN' $SVC_BASE_URL/scim/v2/Users
curl -H 'Authorization: Bearer $SVC_SCIM_TOKEN' $SVC_BASE_URL/scim/v2/Users -d '{"userName":"grace@acme.test","displayName":"Grace Hopper"}'
curl -H 'Authorization: Bearer $SVC_SCIM_TOKEN' -G $SVC_BASE_URL/scim/v2/Users --data-urlencode 'filter=userName eq "grace@acme.test"'
curl -c $jar $SVC_BASE_URL/v1/auth/login -d '{"email":"$owner","password":"$SVC_OWNER_PASSWORD","tenant":"$SVC_TENANT_SLUG"}'
curl -b $jar $SVC_BASE_URL/v1/auth/session
curl $SVC_BASE_URL/v1/auth/password/forgot -d '{"email":"$owner","tenant":"$SVC_TENANT_SLUG"}'
curl $SVC_BASE_URL/.well-known/openid-configuration/oauth/t/$SVC_TENANT_SLUG
curl $SVC_BASE_URL/oauth/t/$SVC_TENANT_SLUG/jwks
curl -H 'Authorization: Bearer $SVC_ADMIN_TOKEN' $SVC_BASE_URL/v1/applications -d '{"name":"Nightly","type":"m2m","scopes":["invoices:read"]}'
curl -H 'Authorization: Bearer $SVC_ADMIN_TOKEN' $SVC_BASE_URL/v1/admin/config
curl -H 'Authorization: Bearer $SVC_ADMIN_TOKEN' '$SVC_BASE_URL/v1/admin/audit?limit=5'
curl $SVC_BASE_URL/v1/openapi.json
TXT
}


start() {
    check
    lock
    choose_port

    url=http://localhost:$port
    pg="host='$run/pg' user=postgres dbname=svc"
    unwell="$url/healthz does not say that all is well, see $run/error.log"

    ! alive "$run/nginx.pid" nginx || standing=1
    trap 'refused $?' EXIT
    trap 'exit 1' INT TERM HUP

    start_postgres
    start_redis
    make_database
    start_nginx
    make_password
    write_env
    connect_federation
    show_webhooks
    make_sample
    show
    show_federation
}

# $1: the exit status.  A failed start stops everything that did not run before.

refused() {
    trap - EXIT

    if [ "$1" != 0 ] && [ -z "$standing" ]; then
        step "the start failed: stopping what it has started"
        stop
    fi

    exit "$1"
}


# name, PID file, name of the process, signals: sends the next signal when the
# one before has not ended the process within half a minute

end() {
    local pid what=$1 file=$2 name=$3 signal

    alive "$file" "$name" || return 0

    step "stopping $what"
    pid=$(head -n 1 "$file")
    shift 3

    for signal; do
        kill -"$signal" "$pid" 2>/dev/null || :
        ! wait_for "$what" 30 gone "$pid" || return 0
    done

    die "$what, process $pid, does not end"
}


stop() {
    end NGINX "$run/nginx.pid" nginx QUIT TERM KILL
    stop_federation
    end "the receiver of webhooks" "$hook/pid" python3 TERM KILL
    end "the receiver of mails" "$run/mail/pid" python3 TERM KILL
    rm -f "$hook/pid" "$run/mail/pid"
    end Redis "$run/redis/pid" redis-server TERM KILL
    end PostgreSQL "$run/pg/data/postmaster.pid" postgres INT QUIT
}


case ${1:-} in
    start) start ;;
    stop)  [ ! -d "$run" ] || { lock; stop; } ;;
    *)     die "usage: demo.sh start [PORT] | stop" ;;
esac
