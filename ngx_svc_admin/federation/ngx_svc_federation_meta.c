/*
 * What an issuer publishes: its metadata, and its keys.
 */

#include "ngx_svc_federation_meta.h"
#include "ngx_svc_federation.h"
#include "ngx_svc_oidc_jwks.h"
#include "ngx_svc_oidc_metadata.h"
#include "ngx_svc_pg_task.h"
#include "ngx_svc_provider.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_FEDERATION_DOCUMENT  (128 * 1024)   /* bytes of an answer */
#define NGX_SVC_FEDERATION_JWKS      (256 * 1024)
#define NGX_SVC_FEDERATION_LATE      1000           /* ms */
#define NGX_SVC_FEDERATION_TAKEN     16             /* issuers in a round */


/* What a refresh needs beside its fetch. */

typedef struct {
    ngx_svc_provider_settings_t  settings;
    ngx_str_t                    document;  /* that is stored, or known; no
                                               data: it is to be fetched */
    ngx_uint_t                   renewed;   /* 1: it is not the stored one */
} ngx_svc_federation_meta_t;


static ngx_int_t ngx_svc_federation_meta_claimed(ngx_svc_published_t *meta,
    PGresult *res);
static ngx_int_t ngx_svc_federation_meta_set(ngx_svc_published_t *meta,
    const ngx_str_t *provider, const ngx_str_t *issuer,
    const ngx_str_t *directory, const ngx_str_t *asked_at);
static ngx_int_t ngx_svc_federation_meta_known(ngx_svc_published_t *meta);
static ngx_int_t ngx_svc_federation_meta_read(ngx_svc_published_t *meta,
    const ngx_str_t *text, ngx_svc_oidc_metadata_t *m);
static ngx_int_t ngx_svc_federation_meta_answered(ngx_svc_published_t *meta);
static ngx_int_t ngx_svc_federation_meta_document(ngx_svc_published_t *meta);
static ngx_int_t ngx_svc_federation_meta_urls(ngx_svc_published_t *meta,
    const ngx_svc_oidc_metadata_t *m);
static ngx_int_t ngx_svc_federation_meta_fail(ngx_svc_published_t *meta,
    const char *what, const char *why, size_t len);
static ngx_int_t ngx_svc_federation_meta_store(ngx_svc_published_t *meta,
    ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_federation_meta_due_bind(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call);
static void ngx_svc_federation_meta_due(ngx_svc_pg_op_t *op);


#include "ngx_svc_federation_meta.sql.h"


static ngx_svc_pg_task_t  ngx_svc_federation_meta_task = {
    .statement = &ngx_svc_sql_federation_due,
    .bind = ngx_svc_federation_meta_due_bind,
    .done = ngx_svc_federation_meta_due,
    .pool = NGX_SVC_PG_SLOW,
    .period = 5000,
    .pause = 500,
    .full = NGX_SVC_FEDERATION_TAKEN,
    .failed = "what identity providers publish cannot be looked for"
};

const ngx_svc_published_kind_t  ngx_svc_federation_meta = {
    .claim = &ngx_svc_sql_federation_claim,
    .claimed = ngx_svc_federation_meta_claimed,
    .answered = ngx_svc_federation_meta_answered,
    .store = ngx_svc_federation_meta_store,
    .accept = ngx_string("Accept: application/json"),
    .time = NGX_SVC_FEDERATION_META_TIME,
    .late = NGX_SVC_FEDERATION_LATE,
    .failed = "what an identity provider publishes cannot be fetched"
};


void
ngx_svc_federation_meta_init_worker(ngx_cycle_t *cycle)
{
    ngx_svc_pg_task_init(&ngx_svc_federation_meta_task, cycle);
}


void
ngx_svc_federation_meta_exit_worker(void)
{
    ngx_svc_pg_task_exit(&ngx_svc_federation_meta_task);
}


/* With a document that is good the keys alone are fetched. */

static ngx_int_t
ngx_svc_federation_meta_claimed(ngx_svc_published_t *meta, PGresult *res)
{
    ngx_svc_oidc_metadata_t         m;
    ngx_svc_federation_meta_t      *own;
    ngx_svc_row_federation_claim_t  row;

    ngx_svc_row_federation_claim(&row, res, 0);

    if (ngx_svc_federation_meta_set(meta, &row.provider, &row.issuer,
                                    &row.directory, &row.asked_at)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    own = meta->data;

    if (own->document.data || row.document.len == 0) {
        return NGX_OK;
    }

    if (ngx_svc_published_copy(meta, &own->document, &row.document)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    meta->fetch.limit = NGX_SVC_FEDERATION_JWKS;

    return ngx_svc_federation_meta_read(meta, &own->document, &m) == NGX_OK
           ? ngx_svc_published_copy(meta, &meta->fetch.url, &m.jwks_uri)
           : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_meta_set(ngx_svc_published_t *meta,
    const ngx_str_t *provider, const ngx_str_t *issuer,
    const ngx_str_t *directory, const ngx_str_t *asked_at)
{
    ngx_int_t                   rc;
    ngx_str_t                   text;
    ngx_svc_federation_meta_t  *own;

    own = ngx_pcalloc(meta->pool, sizeof(ngx_svc_federation_meta_t));

    if (own == NULL
        || ngx_svc_published_copy(meta, &meta->asked_at, asked_at) != NGX_OK)
    {
        return NGX_ERROR;
    }

    own->settings.provider = ngx_svc_provider(provider);

    if (own->settings.provider == NULL
        || (issuer->data
            && ngx_svc_published_copy(meta, &own->settings.issuer, issuer)
               != NGX_OK)
        || (directory->data
            && ngx_svc_published_copy(meta, &own->settings.tenant_id,
                                      directory)
               != NGX_OK))
    {
        return NGX_ERROR;
    }

    meta->data = own;
    meta->fetch.limit = NGX_SVC_FEDERATION_DOCUMENT;

    rc = ngx_svc_provider_discovery(meta->pool, &own->settings,
                                    &meta->fetch.url, &text);

    return rc == NGX_DECLINED ? ngx_svc_federation_meta_known(meta) : rc;
}


/* A provider without metadata has keys, and they alone are fetched. */

static ngx_int_t
ngx_svc_federation_meta_known(ngx_svc_published_t *meta)
{
    ngx_svc_oidc_metadata_t     m;
    ngx_svc_federation_meta_t  *own;

    own = meta->data;

    (void) ngx_svc_provider_metadata(own->settings.provider, &m);

    own->renewed = 1;
    meta->fetch.url = m.jwks_uri;
    meta->fetch.limit = NGX_SVC_FEDERATION_JWKS;

    return m.jwks_uri.len
           ? ngx_svc_oidc_metadata_keep(meta->pool, &m, &own->document)
           : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_meta_read(ngx_svc_published_t *meta, const ngx_str_t *text,
    ngx_svc_oidc_metadata_t *m)
{
    ngx_str_t                   url, issuer;
    ngx_svc_federation_meta_t  *own;

    own = meta->data;

    return ngx_svc_provider_discovery(meta->pool, &own->settings, &url,
                                      &issuer)
           == NGX_ERROR
           ? NGX_ERROR
           : ngx_svc_oidc_metadata_read(meta->pool, text, &issuer,
                                        ngx_svc_federation_plain(), m);
}


/* The keys come after the document, which says where they are. */

static ngx_int_t
ngx_svc_federation_meta_answered(ngx_svc_published_t *meta)
{
    ngx_int_t                   rc;
    const char                 *why;
    ngx_svc_federation_meta_t  *own;

    own = meta->data;

    if (own->document.data == NULL) {
        return ngx_svc_federation_meta_document(meta);
    }

    rc = ngx_svc_oidc_jwks_keep(meta->pool, &meta->fetch.answer, &meta->text,
                                &why);

    if (rc == NGX_DECLINED) {
        ngx_str_null(&meta->text);
        return ngx_svc_federation_meta_fail(meta, "keys", why,
                                            ngx_strlen(why));
    }

    return rc;
}


static ngx_int_t
ngx_svc_federation_meta_document(ngx_svc_published_t *meta)
{
    ngx_int_t                   rc;
    ngx_svc_oidc_metadata_t     m;
    ngx_svc_federation_meta_t  *own;

    own = meta->data;
    m.why = "is none";

    rc = ngx_svc_federation_meta_read(meta, &meta->fetch.answer, &m);

    if (rc == NGX_DECLINED) {
        return ngx_svc_federation_meta_fail(meta, "metadata", m.why,
                                            ngx_strlen(m.why));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_meta_urls(meta, &m);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oidc_metadata_keep(meta->pool, &m, &own->document);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    own->renewed = 1;
    meta->fetch.url = m.jwks_uri;
    meta->fetch.limit = NGX_SVC_FEDERATION_JWKS;

    return NGX_AGAIN;
}


/* What is asked later must be where a tenant may send us. */

static ngx_int_t
ngx_svc_federation_meta_urls(ngx_svc_published_t *meta,
    const ngx_svc_oidc_metadata_t *m)
{
    ngx_uint_t       i;
    ngx_svc_error_t  err;

    const struct {
        const char       *name;
        const ngx_str_t  *url;
    } urls[] = {
        { "token_endpoint", &m->token_endpoint },
        { "jwks_uri", &m->jwks_uri },
        { "userinfo_endpoint", &m->userinfo_endpoint }
    };

    for (i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        err.kind = NGX_SVC_E_NONE;

        if (urls[i].url->len
            && ngx_svc_federation_url(urls[i].url, urls[i].name, &err)
               != NGX_OK)
        {
            return ngx_svc_federation_meta_fail(meta, "metadata",
                                                (const char *) err.detail,
                                                err.len);
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_federation_meta_fail(ngx_svc_published_t *meta, const char *what,
    const char *why, size_t len)
{
    u_char  *p;

    p = ngx_pnalloc(meta->pool, ngx_strlen(what) + sizeof(": ") + len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    meta->error.data = p;
    meta->error.len = ngx_sprintf(p, "%s: %*s", what, len, why) - p;

    return NGX_DECLINED;
}


/* A document that was there is as old as it was. */

static ngx_int_t
ngx_svc_federation_meta_store(ngx_svc_published_t *meta, ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_call_t          *call;
    ngx_svc_federation_meta_t  *own;

    own = meta->data;

    call = ngx_svc_pg_call(op, meta->text.data
                               ? &ngx_svc_sql_federation_meta_store
                               : &ngx_svc_sql_federation_meta_failed);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &meta->id);
    ngx_svc_pg_bind_str(call, &meta->asked_at);

    if (meta->text.data == NULL) {
        ngx_svc_pg_bind_str(call, &meta->error);
        return NGX_OK;
    }

    ngx_svc_pg_bind_str(call, own->renewed ? &own->document : NULL);
    ngx_svc_pg_bind_str(call, &meta->text);

    return ngx_svc_pg_bind_int(op, call, ngx_svc_published_age(meta));
}


/* A node that cannot fetch leaves them to others. */

static ngx_int_t
ngx_svc_federation_meta_due_bind(ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call)
{
    return ngx_svc_fetch_ready() ? NGX_OK : NGX_ERROR;
}


static void
ngx_svc_federation_meta_due(ngx_svc_pg_op_t *op)
{
    int                            i;
    u_char                         bytes[NGX_SVC_UUID_LEN];
    PGresult                      *res;
    ngx_str_t                      id;
    ngx_svc_published_t           *meta;
    ngx_svc_row_federation_due_t   row;

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_federation_due);
    id.data = bytes;
    id.len = NGX_SVC_UUID_LEN;

    for (i = 0; i < PQntuples(res); i++) {
        ngx_svc_row_federation_due(&row, res, i);

        if (row.provider.len == 0) {
            continue;
        }

        meta = ngx_svc_uuid_parse(row.connection.data, row.connection.len,
                                  bytes)
               == NGX_OK
               ? ngx_svc_published_create(&ngx_svc_federation_meta,
                                          &row.tenant, &id)
               : NULL;

        if (meta) {
            ngx_svc_published_fetch(meta,
                ngx_svc_federation_meta_set(meta, &row.provider, &row.issuer,
                                            &row.directory, &row.asked_at));
        }
    }
}
