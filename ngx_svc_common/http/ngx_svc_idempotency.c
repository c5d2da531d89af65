/*
 * Idempotency-Key: a create that is sent again is not carried out again.
 *
 * The key is claimed in the transaction of the create.  When another request
 * has the key, the claim unsets the tenant, and the statements after it find
 * nothing to do.  The answer is kept by a second transaction, before it is
 * sent.  If that fails, the key stays taken, and its answer is unknown.  A
 * request that is refused gives its key back: it may succeed later.
 */

#include "ngx_svc_idempotency.h"
#include "ngx_svc_idempotency.row.h"
#include "ngx_svc_column.h"
#include "ngx_svc_header.h"
#include "ngx_svc_send.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_IDEMPOTENCY_MAX  255    /* bytes of a key */


static ngx_int_t ngx_svc_idempotency_header(ngx_svc_request_t *sr,
    ngx_str_t *key);
static ngx_int_t ngx_svc_idempotency_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);
static ngx_int_t ngx_svc_idempotency_refuse(ngx_svc_request_t *sr,
    const char *detail);
static ngx_int_t ngx_svc_idempotency_replay(ngx_svc_request_t *sr,
    const ngx_svc_row_idempotency_claim_t *row);
static ngx_int_t ngx_svc_idempotency_keep(ngx_svc_request_t *sr,
    ngx_uint_t status, u_char *start, u_char *last);
static ngx_int_t ngx_svc_idempotency_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_idempotency_text(ngx_svc_request_t *sr,
    ngx_str_t *text);


#include "ngx_svc_idempotency.sql.h"


ngx_int_t
ngx_svc_idempotency_claim(ngx_svc_request_t *sr)
{
    u_char             *hash;
    ngx_int_t           rc;
    ngx_str_t           key;
    ngx_svc_pg_call_t  *call;

    rc = ngx_svc_idempotency_header(sr, &key);
    if (rc != NGX_OK || key.data == NULL) {
        return rc;
    }

    hash = ngx_pnalloc(sr->request->pool, NGX_SVC_SHA256_LEN);
    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_idempotency_claim);

    if (hash == NULL || call == NULL
        || ngx_svc_sha256(sr->body.data, sr->body.len, hash) != NGX_OK)
    {
        return NGX_ERROR;
    }

    sr->idempotency_key = key;
    sr->idempotency_hash = hash;

    return ngx_svc_idempotency_bind(sr, call);
}


/* key->data is NULL when there is no such header. */

static ngx_int_t
ngx_svc_idempotency_header(ngx_svc_request_t *sr, ngx_str_t *key)
{
    size_t            i;
    ngx_table_elt_t  *h;

    ngx_str_null(key);

    h = ngx_svc_header_in(sr->request, "Idempotency-Key",
                          sizeof("Idempotency-Key") - 1, NULL);
    if (h == NULL) {
        return NGX_OK;
    }

    for (i = 0; i < h->value.len; i++) {
        if (h->value.data[i] < 0x20 || h->value.data[i] > 0x7e) {
            break;
        }
    }

    if (h->value.len == 0 || h->value.len > NGX_SVC_IDEMPOTENCY_MAX
        || i < h->value.len
        || ngx_svc_header_in(sr->request, "Idempotency-Key",
                             sizeof("Idempotency-Key") - 1, h))
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "\"Idempotency-Key\" must be one header of 1 to "
                            "%d characters of ASCII.",
                            NGX_SVC_IDEMPOTENCY_MAX);
    }

    *key = h->value;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_idempotency_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    ngx_svc_pg_bind_str(call, &sr->route->path);
    ngx_svc_pg_bind_str(call, &sr->idempotency_key);
    ngx_svc_pg_bind(call, sr->idempotency_hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_idempotency_reply(ngx_svc_request_t *sr)
{
    PGresult                         *res;
    ngx_svc_row_idempotency_claim_t   row;

    res = ngx_svc_result(sr, &ngx_svc_sql_idempotency_claim);

    if (PQntuples(res) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_row_idempotency_claim(&row, res, 0);

    if (row.claimed) {
        sr->keep = ngx_svc_idempotency_keep;
        return NGX_DECLINED;
    }

    if (row.same.len && row.same.data[0] == 'f') {
        return ngx_svc_idempotency_refuse(sr,
                       "This \"Idempotency-Key\" came with another body "
                       "before: use a new one.");
    }

    if (row.status.data == NULL) {
        return ngx_svc_idempotency_refuse(sr,
                       "A request with this \"Idempotency-Key\" is being "
                       "carried out, or its answer is lost: look whether it "
                       "has been.");
    }

    return ngx_svc_idempotency_replay(sr, &row);
}


static ngx_int_t
ngx_svc_idempotency_refuse(ngx_svc_request_t *sr, const char *detail)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_IDEMPOTENCY, "%s", detail);

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_idempotency_replay(ngx_svc_request_t *sr,
    const ngx_svc_row_idempotency_claim_t *row)
{
    u_char            *p;
    ngx_int_t          status;

    static ngx_str_t   replayed = ngx_string("true");
    static ngx_str_t   no_store = ngx_string("no-store");

    status = ngx_atoi(row->status.data, row->status.len);
    p = ngx_pstrdup(sr->request->pool, (ngx_str_t *) &row->reply);

    if (p == NULL
        || ngx_svc_add_header(sr->request, "Idempotency-Replayed", &replayed)
           != NGX_OK
        || ngx_svc_add_header(sr->request, "Cache-Control", &no_store)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_body(sr, status, &sr->surface->content_type, p,
                             p + row->reply.len);
}


/* Called when the answer is ready: it is kept first, and sent then. */

static ngx_int_t
ngx_svc_idempotency_keep(ngx_svc_request_t *sr, ngx_uint_t status,
    u_char *start, u_char *last)
{
    sr->keep = NULL;
    sr->held = 1;
    sr->held_status = status;
    sr->held_body.data = start;
    sr->held_body.len = last - start;

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_idempotency_prepare,
                                 ngx_svc_idempotency_kept);
}


static ngx_int_t
ngx_svc_idempotency_prepare(ngx_svc_request_t *sr)
{
    ngx_str_t          *text;
    ngx_svc_pg_call_t  *call;

    sr->op->committed = NULL;

    if (sr->held_status >= NGX_HTTP_BAD_REQUEST) {
        call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_idempotency_release);

        return call ? ngx_svc_idempotency_bind(sr, call) : NGX_ERROR;
    }

    text = ngx_palloc(sr->request->pool, sizeof(ngx_str_t));
    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_idempotency_keep);

    if (text == NULL || call == NULL
        || ngx_svc_idempotency_bind(sr, call) != NGX_OK
        || ngx_svc_pg_bind_int(sr->op, call, (int32_t) sr->held_status)
           != NGX_OK
        || ngx_svc_idempotency_text(sr, text) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, text);

    return NGX_OK;
}


/* Makes a copy of the body without the secret in it. */

static ngx_int_t
ngx_svc_idempotency_text(ngx_svc_request_t *sr, ngx_str_t *text)
{
    u_char  *p;
    size_t   end;

    end = sr->secret_at + sr->secret_len;

    p = ngx_pnalloc(sr->request->pool, sr->held_body.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;
    p = ngx_cpymem(p, sr->held_body.data, sr->secret_at);
    p = ngx_cpymem(p, sr->held_body.data + end, sr->held_body.len - end);
    text->len = p - text->data;

    return NGX_OK;
}


/* The client is told what has been done, whether the answer is kept or not. */

ngx_int_t
ngx_svc_idempotency_kept(ngx_svc_request_t *sr)
{
    sr->held = 0;

    return ngx_svc_send_body(sr, sr->held_status, &sr->surface->content_type,
                             sr->held_body.data,
                             sr->held_body.data + sr->held_body.len);
}
