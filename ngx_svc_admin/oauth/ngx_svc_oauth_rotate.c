/*
 * The rotation of tenants' signing keys.
 *
 * A round tells which tenants need a new key; the next round brings keys for
 * these tenants.  The database takes a key if it is still needed: if two nodes
 * bring one, the first.  RSA keys come one at a time, as a thread makes them.
 */

#include "ngx_svc_oauth_rotate.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_make.h"
#include "ngx_svc_pg_task.h"


#define NGX_SVC_OAUTH_ROTATE  32        /* tenants in a round */


static ngx_int_t ngx_svc_oauth_rotate_bind(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call);
static ngx_int_t ngx_svc_oauth_rotate_key(ngx_svc_json_writer_t *w,
    const ngx_str_t *tenant);
static ngx_int_t ngx_svc_oauth_rotate_add(ngx_svc_json_writer_t *w,
    const ngx_str_t *tenant, const char *alg, const ngx_svc_jwk_new_t *new);
static void ngx_svc_oauth_rotate_write(ngx_svc_json_writer_t *w,
    const ngx_str_t *tenant, const char *alg, const ngx_svc_jwk_new_t *new,
    const ngx_str_t *sealed);
static void ngx_svc_oauth_rotate_done(ngx_svc_pg_op_t *op);
static void ngx_svc_oauth_rotate_need(const u_char *tenant);
static void ngx_svc_oauth_rotate_need_rsa(const u_char *tenant);
static void ngx_svc_oauth_rotate_made(ngx_svc_work_t *work);
static void ngx_svc_oauth_rotate_forget(void);


#include "ngx_svc_oauth_rotate.sql.h"


static ngx_svc_pg_task_t  ngx_svc_oauth_rotate = {
    .statement = &ngx_svc_sql_oauth_rotate_keys,
    .bind = ngx_svc_oauth_rotate_bind,
    .done = ngx_svc_oauth_rotate_done,
    .pool = NGX_SVC_PG_SLOW,
    .period = 2000,
    .pause = 100,
    .full = 1,
    .failed = "keys that sign tokens cannot take turns"
};


/* The tenants that need a key of P-256, as the last round has told. */

static u_char                 ngx_svc_oauth_rotate_tenants
                                  [NGX_SVC_OAUTH_ROTATE][NGX_SVC_UUID_LEN];
static ngx_uint_t             ngx_svc_oauth_rotate_n;

/*
 * The tenant that gets an RSA key, and the key.  _makes: a thread makes one;
 * _has: the key is there.
 */

static ngx_uint_t             ngx_svc_oauth_rotate_makes;
static ngx_uint_t             ngx_svc_oauth_rotate_has;
static u_char                 ngx_svc_oauth_rotate_tenant[NGX_SVC_UUID_LEN];
static ngx_svc_jwk_new_t      ngx_svc_oauth_rotate_new;

static const ngx_svc_keys_t  *ngx_svc_oauth_rotate_keys;


void
ngx_svc_oauth_rotate_init_worker(ngx_cycle_t *cycle, const ngx_svc_keys_t *keys)
{
    if (ngx_worker != 0) {
        return;
    }

    ngx_svc_oauth_rotate_n = 0;
    ngx_svc_oauth_rotate_keys = keys;

    ngx_svc_pg_task_init(&ngx_svc_oauth_rotate, cycle);
}


void
ngx_svc_oauth_rotate_exit_worker(void)
{
    ngx_svc_pg_task_exit(&ngx_svc_oauth_rotate);

    ngx_svc_oauth_rotate_forget();
}


static ngx_int_t
ngx_svc_oauth_rotate_bind(ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call)
{
    ngx_str_t              tenant;
    ngx_uint_t             n;
    ngx_svc_json_writer_t  w;

    n = ngx_svc_oauth_rotate_n;
    ngx_svc_oauth_rotate_n = 0;

    if (ngx_svc_json_writer_init(&w, op->pool, 4096 + n * 1024) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '[');

    while (n--) {
        tenant.data = ngx_svc_oauth_rotate_tenants[n];
        tenant.len = NGX_SVC_UUID_LEN;

        if (ngx_svc_oauth_rotate_key(&w, &tenant) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (ngx_svc_oauth_rotate_has) {
        tenant.data = ngx_svc_oauth_rotate_tenant;
        tenant.len = NGX_SVC_UUID_LEN;

        if (ngx_svc_oauth_rotate_add(&w, &tenant, "RS256",
                                     &ngx_svc_oauth_rotate_new)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        ngx_svc_oauth_rotate_forget();
    }

    ngx_svc_json_close(&w, ']');

    ngx_svc_pg_bind(call, w.start, w.last - w.start);

    return w.failed ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_rotate_key(ngx_svc_json_writer_t *w, const ngx_str_t *tenant)
{
    ngx_int_t          rc;
    ngx_svc_jwk_new_t  new;

    rc = ngx_svc_jwk_generate(&new);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_rotate_add(w, tenant, "ES256", &new);
    }

    ngx_explicit_memzero(&new, sizeof(new));

    return rc;
}


static ngx_int_t
ngx_svc_oauth_rotate_add(ngx_svc_json_writer_t *w, const ngx_str_t *tenant,
    const char *alg, const ngx_svc_jwk_new_t *new)
{
    u_char     bytes[NGX_SVC_OAUTH_SEALED];
    ngx_int_t  rc;
    ngx_str_t  sealed;

    sealed.data = bytes;

    rc = ngx_svc_oauth_key_seal(ngx_svc_oauth_rotate_keys, tenant, new,
                                sealed.data, &sealed.len);

    if (rc == NGX_OK) {
        ngx_svc_oauth_rotate_write(w, tenant, alg, new, &sealed);
    }

    return rc;
}


static void
ngx_svc_oauth_rotate_write(ngx_svc_json_writer_t *w, const ngx_str_t *tenant,
    const char *alg, const ngx_svc_jwk_new_t *new, const ngx_str_t *sealed)
{
    u_char     id[NGX_SVC_UUID_TEXT_LEN];
    u_char     base64[ngx_base64_encoded_length(NGX_SVC_OAUTH_SEALED)];
    ngx_str_t  text, bytes;

    text.data = base64;
    bytes = *sealed;

    ngx_encode_base64(&text, &bytes);

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_plain(w, "tenant", id,
                       ngx_svc_uuid_text(id, tenant->data) - id);
    ngx_svc_json_plain(w, "kid", new->kid, NGX_SVC_JWK_KID);
    ngx_svc_json_plain(w, "alg", (u_char *) alg, ngx_strlen(alg));
    ngx_svc_json_raw(w, "public", new->jwk, new->jwk_len);
    ngx_svc_json_plain(w, "sealed", text.data, text.len);
    ngx_svc_json_close(w, '}');
}


/*
 * Reads the rows behind the first one: the tenants that need a key, and those
 * whose published keys have changed.
 */

static void
ngx_svc_oauth_rotate_done(ngx_svc_pg_op_t *op)
{
    int                              i;
    u_char                           bytes[NGX_SVC_UUID_LEN];
    PGresult                        *res;
    ngx_str_t                        tenant;
    ngx_svc_row_oauth_rotate_keys_t  row;

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_oauth_rotate_keys);
    tenant.data = bytes;
    tenant.len = NGX_SVC_UUID_LEN;

    for (i = 1; i < PQntuples(res); i++) {
        ngx_svc_row_oauth_rotate_keys(&row, res, i);

        if (ngx_svc_uuid_parse(row.tenant.data, row.tenant.len, bytes)
            != NGX_OK)
        {
            continue;
        }

        if (row.needs.data == NULL) {
            ngx_svc_oauth_key_changed(&tenant);

        } else if (*row.needs.data == 'R') {
            ngx_svc_oauth_rotate_need_rsa(bytes);

        } else {
            ngx_svc_oauth_rotate_need(bytes);
        }
    }
}


static void
ngx_svc_oauth_rotate_need(const u_char *tenant)
{
    if (ngx_svc_oauth_rotate_n < NGX_SVC_OAUTH_ROTATE) {
        ngx_memcpy(ngx_svc_oauth_rotate_tenants[ngx_svc_oauth_rotate_n++],
                   tenant, NGX_SVC_UUID_LEN);
    }
}


/*
 * Has an RSA key made.  While a thread makes one, rounds tell the same tenant
 * again, and nothing is done.
 */

static void
ngx_svc_oauth_rotate_need_rsa(const u_char *tenant)
{
    if (!ngx_svc_oauth_rotate_makes && !ngx_svc_oauth_rotate_has
        && ngx_svc_oauth_make_key(tenant, ngx_svc_oauth_rotate_made) == NGX_OK)
    {
        ngx_svc_oauth_rotate_makes = 1;
    }
}


static void
ngx_svc_oauth_rotate_made(ngx_svc_work_t *work)
{
    ngx_svc_oauth_make_t  *make;

    make = (ngx_svc_oauth_make_t *) work;

    ngx_svc_oauth_rotate_makes = 0;

    if (work->rc != NGX_OK || make->rc != NGX_OK) {
        return;
    }

    ngx_memcpy(ngx_svc_oauth_rotate_tenant, make->tenant, NGX_SVC_UUID_LEN);
    ngx_svc_oauth_rotate_new = make->new;
    ngx_svc_oauth_rotate_has = 1;
}


static void
ngx_svc_oauth_rotate_forget(void)
{
    ngx_svc_oauth_rotate_has = 0;

    ngx_explicit_memzero(&ngx_svc_oauth_rotate_new, sizeof(ngx_svc_jwk_new_t));
}
