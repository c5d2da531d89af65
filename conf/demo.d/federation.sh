# shellcheck shell=bash disable=SC2154
#
# With FEDERATION=1: a second tenant, at an NGINX of its own, is an identity
# provider of the first one, and a slapd is its directory.  It stays so until
# FEDERATION=0.

corp=corp
corp_owner=margaret@acme.test
fed=$run/federation

federated() {
    case ${FEDERATION:-} in
        '') [ -e "$fed/on" ] ;;
        0)  return 1 ;;
        *)  return 0 ;;
    esac
}

federation_conf() {
    ! federated || cat <<TXT

    svc_federation on;
    svc_federation_allow 127.0.0.0/8;
TXT
}


# Takes ports once: the issuer has one of them in its name.

start_federation() {
    if ! federated; then
        stop_federation
        rm -f "$fed/on"
        return
    fi

    command -v slapd > /dev/null || die "slapd is not installed: run" \
                                        "\"make deps-federation\""
    mkdir -p "$fed/db" "$fed/tmp"
    chown "$user" "$fed" "$fed/db" "$fed/tmp"
    chmod 700 "$fed" "$fed/db"

    [ -s "$fed/port" ] || free_port 365 > "$fed/port"
    [ -s "$fed/ldap" ] || free_port 366 > "$fed/ldap"
    [ -s "$fed/password" ] \
        || (umask 077; openssl rand -hex 12 > "$fed/password")

    provider=http://127.0.0.1:$(< "$fed/port")
    start_directory
    start_provider
    touch "$fed/on"
}

# $1: what is added to PORT, for the first that is tried

free_port() {
    local port=$((port < 60000 ? port + $1 : port - $1))

    while answers; do
        port=$((port + 10))
    done

    echo "$port"
}


start_directory() {
    alive "$fed/slapd.pid" slapd && return

    cat > "$fed/slapd.conf" <<TXT
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile "$fed/slapd.pid"
TLSCertificateFile "$hook/cert.pem"
TLSCertificateKeyFile "$hook/key.pem"
database mdb
suffix "dc=lab,dc=test"
directory "$fed/db"
access to attrs=userPassword by anonymous auth by * none
access to * by * read
TXT

    if [ ! -e "$fed/people" ]; then
        step "making a directory of three people"
        people | as slapadd -q -f "$fed/slapd.conf" \
            || die "slapadd failed"
        touch "$fed/people"
    fi

    step "starting the directory"
    as slapd -f "$fed/slapd.conf" -h "ldaps://127.0.0.1:$(< "$fed/ldap")/" \
        || die "slapd did not start"
    wait_for "the directory" 10 alive "$fed/slapd.pid" slapd \
        || die "slapd did not start"
}

people() {
    local name

    printf '%s\n' "dn: dc=lab,dc=test" "objectClass: dcObject" \
           "objectClass: organization" "dc: lab" "o: Lab"

    for name in "Hedy Lamarr" "Mary Jackson" "Dorothy Vaughan"; do
        cat <<TXT

dn: cn=$name,dc=lab,dc=test
objectClass: inetOrgPerson
cn: $name
givenName: ${name% *}
sn: ${name#* }
mail: $(tr '[:upper:]' '[:lower:]' <<< "${name% *}")@lab.test
userPassword: $(< "$fed/password")
TXT
    done
}


# Two tenants of one host share a cookie: the provider is at another one.

start_provider() {
    local conf=$fed/nginx.conf

    cat > "$conf.new" <<TXT
$(modules common admin)

$(main_conf "$fed")

http {
$(http_conf "$fed" "$provider")

    server {
        listen 127.0.0.1:$(< "$fed/port");

$(locations)
    }
}
TXT

    if alive "$fed/nginx.pid" nginx && { ! cmp -s "$conf.new" "$conf" \
                                         || outdated "$fed/nginx.pid"; }
    then
        end "the identity provider" "$fed/nginx.pid" nginx QUIT TERM KILL
    fi

    mv "$conf.new" "$conf"
    alive "$fed/nginx.pid" nginx && return

    step "starting the identity provider"
    nginx -c "$conf" -e "$fed/error.log" 9>&- \
        || die "the identity provider did not start, see $fed/error.log"
    wait_for "the identity provider" 20 curl -fsS -m 2 "$provider/healthz" \
        || die "the identity provider does not answer, see $fed/error.log"
}


stop_federation() {
    end "the identity provider" "$fed/nginx.pid" nginx QUIT TERM KILL
    end "the directory" "$fed/slapd.pid" slapd INT TERM KILL
}


# The tenant that is the provider, its owner, and the first one's application
# there.

connect_federation() {
    federated || return 0
    # shellcheck disable=SC1091
    . "$run/env"

    if [ ! -e "$fed/tokens" ]; then
        step "making the tenant $corp"
        (umask 077
         make_tenant $corp "Acme Corporation" $corp_owner Margaret Hamilton \
             > "$fed/tokens.new")
        has_tokens "$fed/tokens.new" \
            || die "svcctl has shown no tokens, see $fed/tokens.new"
        mv "$fed/tokens.new" "$fed/tokens"
    fi

    [ -e "$fed/owner" ] \
        || { set_password $corp $corp_owner "$(< "$fed/password")"
             touch "$fed/owner"; }

    [ -e "$fed/connected" ] || connect
    [ "$(< "$fed/connected")" = "$url" ] || move_application
}

# $1: method, $2: path, standard input: body.  The owner says what is connected:
# a token could not bring in owners.

owner_calls() {
    local csrf

    csrf=$(awk '$6 ~ /svc_csrf$/ { print $7 }' "$fed/jar")
    curl -fsS -b "$fed/jar" -X "$1" "$url/v1/$2" -H "X-CSRF-Token: $csrf" -d @-
}

# $1: name, $2: JSON

member() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' <<< "$2"; }

# The provider makes a key for its first token, which should be there when its
# keys are read.

sign_once() {
    local client id

    client=$(corp_calls POST /v1/applications '{"name":"First","type":"m2m",
        "signingAlg":"ES256","scopes":["none"]}')
    id=$(member clientId "$client")
    curl -fsS -o /dev/null "$provider/oauth/t/$corp/token" \
         -u "$id:$(member clientSecret "$client")" \
         -d grant_type=client_credentials
    corp_calls DELETE "/v1/applications/$id"
}

connect() {
    step "connecting $slug with the identity provider and the directory"

    # DNS has no records of these domains to prove them by

    as psql -X -q -v ON_ERROR_STOP=1 -d "$pg" <<SQL
INSERT INTO svc.domain (tenant_id, domain, token, verified_at)
SELECT tenant.id, owned.domain, repeat('x', 43), now()
  FROM svc.tenant tenant, (VALUES ('acme.test'), ('lab.test')) owned (domain)
 WHERE tenant.slug = '$slug'
    ON CONFLICT DO NOTHING;
SQL

    printf '{"email":"%s","password":"%s","tenant":"%s"}' $owner \
           "$SVC_OWNER_PASSWORD" $slug \
        | (umask 077
           curl -fsS -o /dev/null -c "$fed/jar" -d @- "$url/v1/auth/login") \
        || die "$owner could not sign in with the password of $run/password"

    [ -s "$fed/application" ] || connect_provider
    connect_directory

    rm -f "$fed/jar"
    echo "$url" > "$fed/connected"
}

connect_provider() {
    local client id

    sign_once
    client=$(application POST /v1/applications '"name":"Acme","type":"web",
        "signingAlg":"ES256","scopes":["openid","email","profile"],
        "idTokenClaims":["email","profile"],"requireConsent":false,')
    id=$(member clientId "$client")
    [ -n "$id" ] || die "no application was made: $client"

    owner_calls POST admin/social/connections > /dev/null <<TXT
{"provider":"oidc-$corp","label":"Acme Corporation",
 "issuer":"$provider/oauth/t/$corp",
 "clientId":"$id","clientSecret":"$(member clientSecret "$client")",
 "domains":["acme.test"],"jitProvisioning":true}
TXT

    echo "$id" > "$fed/application"
}

connect_directory() {
    local pem

    pem=$(awk '{ printf "%s\\n", $0 }' "$hook/cert.pem")

    owner_calls PUT admin/ldap > /dev/null <<TXT
{"url":"ldaps://127.0.0.1:$(< "$fed/ldap")","caCertificates":"$pem",
 "baseDn":"dc=lab,dc=test",
 "userFilter":"(&(objectClass=inetOrgPerson)(mail={email}))",
 "attributeMapping":{"email":"mail","firstName":"givenName","lastName":"sn",
                     "displayName":"cn"},
 "domains":["lab.test"],"jitProvisioning":true}
TXT
}

# $1: method, $2: path, $3: body, if any

corp_calls() {
    curl -fsS -X "$1" "$url$2" ${3:+-d "$3"} \
        -H "Authorization: Bearer $(sed -n 's/^SVC_ADMIN_TOKEN=//p' \
                                       "$fed/tokens")"
}

# $1: method, $2: path, $3: members that come first.  Prints the answer.

application() {
    corp_calls "$1" "$2" "{$3\"redirectUris\":
        [\"$url/v1/tenants/$slug/federation/oidc-$corp/callback\"]}"
}

move_application() {
    application PATCH "/v1/applications/$(< "$fed/application")" '' > /dev/null
    echo "$url" > "$fed/connected"
}


show_federation() {
    ! federated || cat <<TXT

provider     $provider/login?tenant=$corp, to sign in with at $slug: "Acme Corporation"
  who        $corp_owner
directory    ldaps://127.0.0.1:$(< "$fed/ldap")
  who        hedy@lab.test, mary@lab.test, dorothy@lab.test
  password   $(< "$fed/password"), of all four

curl $SVC_BASE_URL/v1/auth/discover -d '{"email":"$corp_owner","tenant":"$slug"}'
curl $SVC_BASE_URL/v1/auth/login -d '{"email":"hedy@lab.test","password":"$(< "$fed/password")","tenant":"$slug"}'
curl -H 'Authorization: Bearer $SVC_ADMIN_TOKEN' $SVC_BASE_URL/v1/admin/ldap/test -d '{"email":"mary@lab.test"}'
TXT
}
