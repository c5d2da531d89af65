# shellcheck shell=bash disable=SC2154
#
# The pages of sign-in: copies, because the workers may not be able to read the
# checkout.

copy_pages() {
    local new=$run/www.new

    rm -rf "$new"
    mkdir -p "$new/svc"
    install -m 644 "$top"/conf/www/*.html "$new"
    install -m 644 "$top"/conf/www/svc/* "$new/svc"
    chmod 755 "$new" "$new/svc"

    rm -rf "$run/www"
    mv "$new" "$run/www"
}

# prints what the server block needs for them

pages_conf() {
    local conf

    conf=$(< "$top/conf/svc-www.conf")
    printf '%s\n' "${conf/'/usr/share/ngx_svc/www'/"\"$run/www\""}"
}
