# shellcheck shell=bash disable=SC2154
#
# The receiver of mails.

# The texts of mails are in files.  The receiver's port is known before NGINX
# reads its configuration.

start_mail() {
    local port=$port

    alive "$run/mail/pid" python3 && return

    step "starting the receiver of mails"
    install -m 755 "$top/conf/mail-receiver" "$run/mail/receiver"
    rm -f "$run/mail/pid"

    port=$((port < 60000 ? port + 364 : port - 364))
    receive_mail "$port" || receive_mail 0 \
        || die "the receiver of mails did not start, see $run/mail/log"

    sed -n 's/^ready, at port //p' "$run/mail/log" | tail -n 1 \
        > "$run/mail/port"
}

# $1: a port; 0: a free one

receive_mail() {
    as setsid python3 "$run/mail/receiver" "$run/mail" --port "$1" \
        --pid-file "$run/mail/pid" \
        < /dev/null >> "$run/mail/log" 2>&1 9>&- &

    wait_for "the receiver of mails" 10 settled_mail $! \
        && alive "$run/mail/pid" python3
}

# it prints its port last

settled_mail() {
    { alive "$run/mail/pid" python3 \
        && tail -n 1 "$run/mail/log" | grep -q '^ready'; } || ! kill -0 "$1"
}
