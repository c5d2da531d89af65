/*
 * POST /v1/admin/domains/{domain}/verify: reads the domain's row, counts the
 * request, looks up the TXT record, and writes, with another look at the row.
 */

#include "ngx_svc_admin_domain.h"
#include "ngx_svc_admin_domain_verify.row.h"
#include "ngx_svc_admin_domains.row.h"
#include "ngx_svc_admin_limit.h"
#include "ngx_svc_admin_tenant.h"
#include "ngx_svc_dns.h"
#include "ngx_svc_domain.h"
#include "ngx_svc_row.h"
#include "ngx_svc_send.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_VERIFY_SHOWN  3         /* values in a message */
#define NGX_SVC_VERIFY_CUT    48        /* bytes of each value */


/* Allocated from the request's pool. */

typedef struct {
    ngx_svc_request_t  *sr;
    ngx_str_t           domain;
    ngx_str_t           token;
    u_char              tenant[NGX_SVC_UUID_LEN];
    ngx_svc_dns_t       dns;
} ngx_svc_verify_t;


static ngx_int_t ngx_svc_verify_read(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_verify_take(ngx_svc_verify_t *verify,
    const ngx_svc_row_admin_domain_read_t *row);
static ngx_int_t ngx_svc_verify_copy(ngx_svc_verify_t *verify, ngx_str_t *dst,
    ngx_str_t src);
static ngx_int_t ngx_svc_verify_look(ngx_svc_request_t *sr);
static void ngx_svc_verify_looked(ngx_svc_dns_t *dns);
static void ngx_svc_verify_end(ngx_svc_verify_t *verify,
    ngx_int_t (*next)(ngx_svc_verify_t *verify));
static ngx_int_t ngx_svc_verify_answer(ngx_svc_verify_t *verify);
static ngx_uint_t ngx_svc_verify_matches(ngx_svc_verify_t *verify);
static ngx_int_t ngx_svc_verify_other(ngx_svc_verify_t *verify);
static u_char *ngx_svc_verify_show(u_char *p, const ngx_str_t *value);
static ngx_int_t ngx_svc_verify_fail(ngx_svc_verify_t *verify,
    const char *what);
static ngx_int_t ngx_svc_verify_unknown(ngx_svc_verify_t *verify);
static ngx_int_t ngx_svc_verify_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_verify_written(ngx_svc_request_t *sr);


#include "ngx_svc_admin_domain_verify.sql.h"


const ngx_svc_route_t  ngx_svc_admin_domain_verify[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/domains/*/verify"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_domain_read },
      .reply = ngx_svc_verify_read },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_verify_read(ngx_svc_request_t *sr)
{
    PGresult                         *res;
    ngx_svc_verify_t                 *verify;
    ngx_svc_row_admin_domain_read_t   row;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_domain_read);
    ngx_svc_row_admin_domain_read(&row, res, 0);

    if (row.verified) {
        return ngx_svc_route_row(sr, res);
    }

    verify = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_verify_t));
    if (verify == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    verify->sr = sr;
    sr->data = verify;

    if (ngx_svc_verify_take(verify, &row) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_admin_limit(sr, NGX_SVC_LIMIT_DOMAIN, verify->tenant,
                               "has domains verified", ngx_svc_verify_look);
}


/* Copies the result, which will be gone when DNS answers. */

static ngx_int_t
ngx_svc_verify_take(ngx_svc_verify_t *verify,
    const ngx_svc_row_admin_domain_read_t *row)
{
    if (ngx_svc_uuid_parse(row->tenant.data, row->tenant.len, verify->tenant)
           != NGX_OK
        || ngx_svc_verify_copy(verify, &verify->domain, row->domain) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_verify_copy(verify, &verify->token, row->token);
}


static ngx_int_t
ngx_svc_verify_copy(ngx_svc_verify_t *verify, ngx_str_t *dst, ngx_str_t src)
{
    dst->len = src.len;
    dst->data = ngx_pstrdup(verify->sr->request->pool, &src);

    return dst->data ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_verify_look(ngx_svc_request_t *sr)
{
    u_char               name[sizeof(NGX_SVC_ADMIN_DOMAIN_RECORD)
                              + NGX_SVC_DOMAIN_MAX];
    ngx_svc_verify_t    *verify;
    ngx_http_request_t  *r;

    verify = sr->data;
    r = sr->request;

    ngx_sprintf(name, NGX_SVC_ADMIN_DOMAIN_RECORD "%V%Z", &verify->domain);

    verify->dns.handler = ngx_svc_verify_looked;
    verify->dns.data = verify;

    switch (ngx_svc_dns_txt(&verify->dns, (char *) name, r->pool)) {

    case NGX_AGAIN:
        r->main->count++;
        return NGX_DONE;

    case NGX_BUSY:
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "Too many domains are being verified.");
        return ngx_svc_send_error(sr);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


static void
ngx_svc_verify_looked(ngx_svc_dns_t *dns)
{
    ngx_svc_verify_end(dns->data, ngx_svc_verify_answer);
}


/* Called from an event, which holds a reference to the request. */

static void
ngx_svc_verify_end(ngx_svc_verify_t *verify,
    ngx_int_t (*next)(ngx_svc_verify_t *verify))
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = verify->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, next(verify));

    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_svc_verify_answer(ngx_svc_verify_t *verify)
{
    switch (verify->dns.status) {

    case NGX_SVC_DNS_FOUND:

        if (ngx_svc_verify_matches(verify)) {
            return ngx_svc_request_again(verify->sr, NGX_SVC_PG_WRITE,
                                         ngx_svc_verify_write,
                                         ngx_svc_verify_written);
        }

        return ngx_svc_verify_other(verify);

    case NGX_SVC_DNS_NONE:
        return ngx_svc_verify_fail(verify, "has no TXT record yet");

    case NGX_SVC_DNS_NAME:
        return ngx_svc_verify_fail(verify, "is longer than a name may be");

    default:
        return ngx_svc_verify_unknown(verify);
    }
}


static ngx_uint_t
ngx_svc_verify_matches(ngx_svc_verify_t *verify)
{
    ngx_uint_t  i;
    ngx_str_t  *record;

    static const ngx_str_t  prefix = ngx_string(NGX_SVC_ADMIN_DOMAIN_VALUE);

    for (i = 0; i < verify->dns.nrecords; i++) {
        record = &verify->dns.records[i];

        if (record->len == prefix.len + verify->token.len
            && ngx_memcmp(record->data, prefix.data, prefix.len) == 0
            && ngx_memcmp(record->data + prefix.len, verify->token.data,
                          verify->token.len)
               == 0)
        {
            return 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_svc_verify_other(ngx_svc_verify_t *verify)
{
    u_char      *p, text[NGX_SVC_VERIFY_SHOWN
                         * (NGX_SVC_VERIFY_CUT + sizeof(", \"...\""))
                         + sizeof("has other TXT records:  and  more")
                         + NGX_INT_T_LEN];
    ngx_uint_t   i, n;

    n = ngx_min(verify->dns.nrecords, NGX_SVC_VERIFY_SHOWN);

    p = ngx_sprintf(text, "has other TXT records: ");

    for (i = 0; i < n; i++) {

        if (i) {
            *p++ = ',';
            *p++ = ' ';
        }

        p = ngx_svc_verify_show(p, &verify->dns.records[i]);
    }

    if (verify->dns.nrecords > n) {
        p = ngx_sprintf(p, " and %ui more", verify->dns.nrecords - n);
    }

    *p = '\0';

    return ngx_svc_verify_fail(verify, (char *) text);
}


/* Writes a value, which anybody may have put into DNS, as ASCII. */

static u_char *
ngx_svc_verify_show(u_char *p, const ngx_str_t *value)
{
    u_char  c;
    size_t  i, n;

    n = ngx_min(value->len, NGX_SVC_VERIFY_CUT);

    *p++ = '"';

    for (i = 0; i < n; i++) {
        c = value->data[i];
        *p++ = (c < ' ' || c > '~' || c == '"') ? '?' : c;
    }

    if (value->len > n) {
        p = ngx_cpymem(p, "...", 3);
    }

    *p++ = '"';

    return p;
}


static ngx_int_t
ngx_svc_verify_fail(ngx_svc_verify_t *verify, const char *what)
{
    (void) ngx_svc_fail(&verify->sr->error, NGX_SVC_E_DOMAIN,
                        NGX_SVC_ADMIN_DOMAIN_RECORD "%V %s.", &verify->domain,
                        what);

    return ngx_svc_send_error(verify->sr);
}


static ngx_int_t
ngx_svc_verify_unknown(ngx_svc_verify_t *verify)
{
    ngx_log_error(NGX_LOG_WARN, verify->sr->request->connection->log, 0,
                  "DNS does not tell the TXT records of \""
                  NGX_SVC_ADMIN_DOMAIN_RECORD "%V\": %s", &verify->domain,
                  verify->dns.why);

    (void) ngx_svc_fail(&verify->sr->error, NGX_SVC_E_UNAVAILABLE,
                        "DNS does not tell the records of "
                        NGX_SVC_ADMIN_DOMAIN_RECORD "%V: %s.",
                        &verify->domain, verify->dns.why);

    return ngx_svc_send_error(verify->sr);
}


static ngx_int_t
ngx_svc_verify_write(ngx_svc_request_t *sr)
{
    sr->op->committed = ngx_svc_admin_tenant_committed;

    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_domain_verify, NULL);
}


static ngx_int_t
ngx_svc_verify_written(ngx_svc_request_t *sr)
{
    PGresult                           *res;
    ngx_svc_verify_t                   *verify;
    ngx_svc_row_admin_domain_verify_t   row;

    verify = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_admin_domain_verify);
    ngx_svc_row_admin_domain_verify(&row, res, 0);

    if (PQntuples(res) == 0) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                            NGX_SVC_ADMIN_NO_DOMAIN);
        return ngx_svc_send_error(sr);
    }

    if (row.verdict.data == NULL) {
        return ngx_svc_route_row(sr, res);
    }

    return row.verdict.data[0] == 'c'
           ? ngx_svc_verify_fail(verify, "has the value of a domain that was "
                                 "deleted meanwhile, and added again")
           : ngx_svc_send_conflict(sr, (char *) row.verdict.data);
}
