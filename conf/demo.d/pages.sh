# shellcheck shell=bash disable=SC2154
#
# The pages of sign-in, and the console: copies, because the workers may not be
# able to read the checkout.

copy_pages() {
    local new=$run/www.new

    rm -rf "$new"
    cp -r "$top/conf/www" "$new"
    rm "$new/README.md"
    chmod -R u=rwX,go=rX "$new"
    find "$new" -type f -exec gzip -9kn {} +

    rm -rf "$run/www"
    mv "$new" "$run/www"
}

# $1: www or console.  Prints what the server block needs for it.

pages_conf() {
    local conf headers

    conf=$(sed '1,/^$/d' "$top/conf/svc-$1.conf")
    headers=$(sed '1,/^$/d; s/^./    &/' "$top/conf/svc-headers.conf")
    conf=${conf/'    include /usr/share/ngx_svc/svc-headers.conf;'/"$headers"}
    printf '%s\n' "${conf/'/usr/share/ngx_svc/www'/"\"$run/www\""}"
}
