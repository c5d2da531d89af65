# shellcheck shell=bash disable=SC2154
#
# Something to look at in the console: people, roles, groups, applications,
# agents, a webhook that nobody receives, versions of the access policy, and 90
# days of statistics.

# $1: method, $2: path, $3: body.  Prints the answer.  A start that follows an
# interrupted one makes nothing twice.

api() {
    local key

    key=$(printf '%s %s %s' "$@" | cksum | tr -d ' ')

    curl -fsS -X "$1" "$url/v1$2" -H "Authorization: Bearer $SVC_ADMIN_TOKEN" \
         -H "Idempotency-Key: demo-$key" -d "$3" \
        || die "$1 $2 failed, see $run/error.log"
}

# $1: a member.  Prints the first one of that name in an answer.

first() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

# $1: a file of demo.d, then options of psql

sql() {
    local file=$top/conf/demo.d/$1

    shift
    as psql -XAqt -v ON_ERROR_STOP=1 -d "$pg" -v slug="$slug" "$@" < "$file"
}


make_roles() {
    api POST /admin/roles '{"key":"helpdesk","name":"Help desk",
        "permissions":["members:manage","users:view"]}'
    api POST /admin/roles '{"key":"internal-audit","name":"Internal audit",
        "permissions":["audit:view","users:view"]}'
}

# $1: name, $2: description, then who is in it

make_group() {
    local group members

    group=$(api POST /admin/groups "{\"name\":\"$1\",\"description\":\"$2\"}" \
            | first id)
    shift 2
    members=$(printf '"%s@acme.test",' "$@")
    api POST "/admin/groups/$group/members" "{\"emails\":[${members%,}]}"
}

make_groups() {
    make_group Engineering 'Builds and runs the product' ada alan barbara \
        bjorn daichi elif giulia jakub kavya mei oksana vera xavier yara
    make_group Support 'Answers customers' amara hana noah
    make_group Sales 'Sells, and keeps promises' chloe liam pedro umar
    make_group Contractors 'Here until the end of the quarter' qamar sefa
}


# $1: name, $2: other members of the body.  Prints the clientId.

make_application() {
    api POST /applications "{\"name\":\"$1\",$2}" | first clientId
}

make_agents() {
    local api=https://trips.example.com/ owner assistant researcher

    owner=$(as psql -XAqt -v ON_ERROR_STOP=1 -d "$pg" -c \
        "SELECT id FROM svc.user_account WHERE user_name = 'mei@acme.test'")
    make_application Payroll '"type":"web",
        "redirectUris":["https://payroll.example.com/callback"]'
    make_application 'Trips API' "\"type\":\"m2m\",\"resourceUri\":\"$api\",
        \"scopes\":[\"invoices:read\",\"trips:write\"]"
    assistant=$(make_application 'Travel assistant' "\"type\":\"agent\",
        \"scopes\":[\"invoices:read\",\"trips:write\"],\"ownerId\":\"$owner\"")
    researcher=$(make_application 'Price researcher' '"type":"agent",
        "scopes":["invoices:read"]')

    api PUT "/admin/agents/$assistant/policy" "{\"maxTokenTtlSeconds\":900,
        \"allowedAudiences\":[\"$api\"]}"
    sql delegations.sql -v assistant="$assistant" \
        -v researcher="$researcher" -v api="$api"
}


make_policies() {
    local rules

    rules='{"name":"Offices","action":"allow","networks":["192.0.2.0/24"]}'

    api PUT /admin/access-policy \
        "{\"rules\":[$rules],\"defaultAction\":\"allow\"}"

    rules='{"name":"No office there","action":"deny","countries":["KP"]},'$rules
    api PUT /admin/access-policy \
        "{\"rules\":[$rules],\"defaultAction\":\"allow\"}"

    rules+=',{"name":"Abroad","action":"mfa","countries":["BR","SG","ZA"]}'
    api PUT /admin/access-policy \
        "{\"rules\":[$rules],\"defaultAction\":\"allow\"}"
}

# Nobody listens at that port: the delivery is tried again for hours.

make_silent_webhook() {
    local webhook

    webhook=$(api POST /admin/webhooks '{"url":"https://127.0.0.1:9/hooks",
        "events":["user.login"]}' | first id)
    api POST "/admin/webhooks/$webhook/test" '{}'
}


make_sample() {
    [ -e "$run/sample" ] && return

    step "making people, groups, applications and 90 days of statistics"

    {
        make_roles
        sql people.sql
        make_groups
        make_agents
        make_policies
        make_silent_webhook
    } > /dev/null

    : > "$run/sample"
}
