# shellcheck shell=bash disable=SC2154
#
# The receiver of webhooks, and its endpoint.

# makes the receiver's certificate; NGINX trusts it, and public CAs

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
    [ -s "$hook/secret" ] || die "no secret of an endpoint in $hook/endpoint.new"
    chown "$user" "$hook/secret"
    mv "$hook/endpoint.new" "$hook/endpoint"
}


start_receiver() {
    local port now

    port=$(cat "$hook/port")

    if ! alive "$hook/pid" python3; then
        step "starting the receiver of webhooks"
        install -m 755 "$top/conf/webhook-receiver" "$hook/receiver"

        rm -f "$hook/pid"
        receive "$port" || { taken && receive 0; } \
            || die "the receiver of webhooks did not start, see $hook/log"
    fi

    # the log may have been emptied since

    now=$(listens)
    [ "${now:-$port}" = "$port" ] || move_endpoint "$now" \
        || die "the endpoint was not moved, see $run/error.log"
}

# $1: a port; 0: a free one

receive() {
    as setsid python3 "$hook/receiver" --port "$1" \
        --cert "$hook/cert.pem" --key "$hook/key.pem" \
        --secret-file "$hook/secret" --pid-file "$hook/pid" \
        < /dev/null >> "$hook/log" 2>&1 9>&- &

    wait_for "the receiver" 10 settled $! && alive "$hook/pid" python3
}

settled() { alive "$hook/pid" python3 || ! kill -0 "$1"; }

taken() { tail -n 1 "$hook/log" | grep -q 'Address already in use$'; }

listens() {
    sed -n 's/^listening on .*:\([0-9]*\)\/$/\1/p' "$hook/log" | tail -n 1
}

# $1: the port

move_endpoint() {
    local id

    step "moving the webhook endpoint to port $1"
    id=$(sed -n 's/.*"id":"\([0-9a-f-]*\)".*/\1/p' "$hook/endpoint")
    [ "${#id}" = 36 ] || die "no id of an endpoint in $hook/endpoint"
    curl -fsS -o /dev/null -X PATCH "$url/v1/admin/webhooks/$id" \
        -H "Authorization: Bearer $SVC_ADMIN_TOKEN" \
        -d "{\"url\":\"https://127.0.0.1:$1/\"}" \
        && echo "$1" > "$hook/port"
}


# Once creates a user, for whom the receiver gets a delivery.

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
