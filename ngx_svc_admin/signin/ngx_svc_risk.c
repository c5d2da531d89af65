/*
 * The risk of a sign-in.
 */

#include "ngx_svc_risk.h"
#include "ngx_svc_signin_fragments.row.h"
#include "ngx_svc_coordinates.h"


#define NGX_SVC_RISK_HOURS  20          /* sign-ins that show a habit */


typedef struct {
    const char  *word;                  /* in the User-Agent */
    const char  *name;
} ngx_svc_risk_word_t;


static const char *ngx_svc_risk_find(const ngx_svc_risk_word_t *words,
    const ngx_str_t *agent);
static ngx_int_t ngx_svc_risk_place(ngx_svc_request_t *sr,
    ngx_svc_risk_client_t *client);
static void ngx_svc_risk_seen(ngx_svc_risk_t *risk,
    const ngx_svc_row_risk_signals_t *seen);


/* The first word found counts: Edge names Chrome, too, and Chrome Safari. */

static const ngx_svc_risk_word_t  ngx_svc_risk_browsers[] = {
    { "Edg", "edge" },
    { "OPR/", "opera" },
    { "SamsungBrowser", "samsung" },
    { "Vivaldi", "vivaldi" },
    { "YaBrowser", "yandex" },
    { "Firefox/", "firefox" },
    { "FxiOS", "firefox" },
    { "CriOS", "chrome" },
    { "Chrome/", "chrome" },
    { "Safari/", "safari" },
    { "curl/", "curl" },
    { "okhttp", "okhttp" },
    { NULL, "other" }
};

static const ngx_svc_risk_word_t  ngx_svc_risk_systems[] = {
    { "Android", "android" },
    { "iPhone", "ios" },
    { "iPad", "ios" },
    { "Windows", "windows" },
    { "Mac OS X", "macos" },
    { "CrOS", "chromeos" },
    { "Linux", "linux" },
    { NULL, "other" }
};


#define NGX_SVC_RISK_NAME(id, name, points)    name,
#define NGX_SVC_RISK_POINTS(id, name, points)  points,

static const char *const  ngx_svc_risk_names[] = {
    NGX_SVC_RISK_SIGNALS(NGX_SVC_RISK_NAME)
};

static const ngx_int_t  ngx_svc_risk_points[] = {
    NGX_SVC_RISK_SIGNALS(NGX_SVC_RISK_POINTS)
};


ngx_int_t
ngx_svc_risk_client(ngx_svc_request_t *sr, ngx_svc_risk_client_t *client)
{
    u_char              *p;
    size_t               i, len;
    ngx_http_request_t  *r;

    r = sr->request;
    ngx_memzero(client, sizeof(ngx_svc_risk_client_t));

    p = ngx_pnalloc(r->pool, NGX_SVC_RISK_AGENT);
    if (p == NULL
        || ngx_svc_risk_place(sr, client) != NGX_OK
        || ngx_svc_coordinates(r, &client->latitude, &client->longitude)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (r->headers_in.user_agent) {
        client->user_agent = r->headers_in.user_agent->value;
    }

    client->agent.data = p;
    client->agent.len = ngx_svc_risk_agent(&client->user_agent, p);

    /* a header may have any bytes */

    len = ngx_min(client->user_agent.len, 512);

    p = ngx_pnalloc(r->pool, len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < len; i++) {
        p[i] = client->user_agent.data[i];

        if (p[i] < 0x20 || p[i] > 0x7e) {
            p[i] = '?';
        }
    }

    client->user_agent.data = p;
    client->user_agent.len = len;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_risk_place(ngx_svc_request_t *sr, ngx_svc_risk_client_t *client)
{
    u_char                   *p;
    ngx_svc_cidr_t            cidr;
    ngx_svc_access_caller_t   caller;

    if (ngx_svc_access_caller(sr, &caller) != NGX_OK) {
        return NGX_ERROR;
    }

    p = ngx_pnalloc(sr->request->pool,
                    NGX_SVC_ADDR_TEXT_LEN + NGX_SVC_RISK_NETWORK + 2);
    if (p == NULL) {
        return NGX_ERROR;
    }

    if (caller.country.code[0]) {
        client->country.data = p;
        client->country.len = 2;
        p = ngx_cpymem(p, caller.country.code, 2);
    }

    if (caller.addr.family == AF_UNSPEC) {
        return NGX_OK;
    }

    client->ip.data = p;
    p = ngx_svc_addr_text(p, &caller.addr);
    client->ip.len = p - client->ip.data;

    cidr.addr = caller.addr;
    cidr.bits = (caller.addr.family == AF_INET) ? 24 : 48;

    ngx_memzero(cidr.addr.bytes + cidr.bits / 8,
                sizeof(cidr.addr.bytes) - cidr.bits / 8);

    client->network.data = p;
    p = ngx_svc_addr_text(p, &cidr.addr);
    p = ngx_sprintf(p, "/%ui", cidr.bits);
    client->network.len = p - client->network.data;

    return NGX_OK;
}


size_t
ngx_svc_risk_agent(const ngx_str_t *agent, u_char family[NGX_SVC_RISK_AGENT])
{
    return ngx_snprintf(family, NGX_SVC_RISK_AGENT, "%s %s",
                        ngx_svc_risk_find(ngx_svc_risk_browsers, agent),
                        ngx_svc_risk_find(ngx_svc_risk_systems, agent))
           - family;
}


static const char *
ngx_svc_risk_find(const ngx_svc_risk_word_t *words, const ngx_str_t *agent)
{
    for ( /* void */ ; words->word; words++) {
        if (ngx_strnstr(agent->data, (char *) words->word, agent->len)) {
            break;
        }
    }

    return words->name;
}


/* Nothing is unusual yet for a user who has never signed in. */

void
ngx_svc_risk_score(ngx_svc_risk_t *risk, PGresult *res)
{
    ngx_int_t               score;
    ngx_uint_t              i;
    ngx_svc_row_risk_row_t  row;

    risk->signals = 0;
    risk->score = 0;

    if (PQntuples(res) == 0) {
        return;
    }

    ngx_svc_row_risk_row(&row, res, 0, 0);

    if (row.risk_signals.successes) {
        ngx_svc_risk_seen(risk, &row.risk_signals);
    }

    if (row.failures >= 3) {
        risk->signals |= 1 << (row.failures >= 10 ? NGX_SVC_RISK_MANY_FAILURES
                               : row.failures >= 6
                                 ? NGX_SVC_RISK_SOME_FAILURES
                                 : NGX_SVC_RISK_FEW_FAILURES);
    }

    if (row.accounts >= 5) {
        risk->signals |= 1 << NGX_SVC_RISK_FAILING_ADDRESS;
    }

    score = 0;

    for (i = 0; i < NGX_SVC_RISK_NSIGNALS; i++) {
        if (risk->signals & 1 << i) {
            score += ngx_svc_risk_points[i];
        }
    }

    risk->score = ngx_min(ngx_max(score, 0), 100);
}


static void
ngx_svc_risk_seen(ngx_svc_risk_t *risk, const ngx_svc_row_risk_signals_t *seen)
{
    if (!seen->device && !seen->agent) {
        risk->signals |= 1 << NGX_SVC_RISK_NEW_DEVICE;
    }

    if (!seen->network) {
        risk->signals |= 1 << NGX_SVC_RISK_NEW_NETWORK;

    } else if (seen->trusted) {
        risk->signals |= 1 << NGX_SVC_RISK_TRUSTED;
    }

    if (!seen->country) {
        risk->signals |= 1 << NGX_SVC_RISK_NEW_COUNTRY;
    }

    if (seen->travel) {
        risk->signals |= 1 << NGX_SVC_RISK_IMPOSSIBLE_TRAVEL;
    }

    if (seen->absent) {
        risk->signals |= 1 << NGX_SVC_RISK_LONG_ABSENT;
    }

    if (seen->hours >= NGX_SVC_RISK_HOURS
        && ngx_max(seen->hour, 0) * 50 < seen->hours)
    {
        risk->signals |= 1 << NGX_SVC_RISK_UNUSUAL_HOUR;
    }
}


u_char *
ngx_svc_risk_text(u_char *p, const ngx_svc_risk_t *risk)
{
    u_char      *start;
    ngx_uint_t   i;

    start = p;
    *p++ = '{';

    for (i = 0; i < NGX_SVC_RISK_NSIGNALS; i++) {
        if (risk->signals & 1 << i) {
            p = ngx_sprintf(p, "%s%s", p - start > 1 ? "," : "",
                            ngx_svc_risk_names[i]);
        }
    }

    *p++ = '}';

    return p;
}
