/*
 * Ceremonies of WebAuthn: the site where one takes place, and the keys of its
 * challenge; and passkeys as PostgreSQL has them.
 */

#include "ngx_svc_ceremony.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_time.h"
#include "ngx_svc_uri.h"


static ngx_int_t ngx_svc_ceremony_site(ngx_svc_request_t *sr,
    ngx_uint_t by_domain, ngx_svc_webauthn_ceremony_t *ceremony);
static ngx_uint_t ngx_svc_ceremony_host(ngx_uint_t secure,
    const ngx_str_t *host);
static ngx_int_t ngx_svc_ceremony_bytes(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_str_t *bytes);


#include "ngx_svc_ceremony.sql.h"


static ngx_svc_factor_keys_t  ngx_svc_ceremony_keys;


ngx_int_t
ngx_svc_ceremony_init_worker(const ngx_svc_keys_t *keys)
{
    return ngx_svc_factor_derive(&ngx_svc_ceremony_keys, keys, "challenge");
}


void
ngx_svc_ceremony_exit_worker(void)
{
    ngx_explicit_memzero(&ngx_svc_ceremony_keys,
                         sizeof(ngx_svc_ceremony_keys));
}


ngx_int_t
ngx_svc_ceremony(ngx_svc_request_t *sr, ngx_svc_webauthn_purpose_e purpose,
    ngx_uint_t by_domain, ngx_svc_webauthn_ceremony_t *ceremony)
{
    ngx_int_t    rc;
    ngx_time_t  *tp;

    tp = ngx_timeofday();

    ngx_memzero(ceremony, sizeof(ngx_svc_webauthn_ceremony_t));

    ceremony->purpose = purpose;
    ceremony->keys = (const u_char (*)[NGX_SVC_KEY_LEN])
                     ngx_svc_ceremony_keys.keys;
    ceremony->nkeys = ngx_svc_ceremony_keys.n;
    ceremony->now = (uint64_t) tp->sec * 1000 + tp->msec;

    rc = ngx_svc_ceremony_site(sr, by_domain, ceremony);

    if (rc == NGX_DECLINED) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                            "There are no passkeys at this address: they are "
                            "of a name with https, or of http://localhost.");
    }

    return rc;
}


ngx_int_t
ngx_svc_ceremony_own(ngx_svc_request_t *sr, ngx_svc_webauthn_purpose_e purpose,
    PGresult *res, ngx_svc_ceremony_own_t *own)
{
    int                          n;
    ngx_int_t                    rc;
    ngx_str_t                   *rp_id;
    ngx_svc_passkey_t           *passkey;
    ngx_svc_row_ceremony_own_t   row;

    rp_id = &row.passkey_stored.rp_id;
    ngx_svc_row_ceremony_own(&row, res, 0);

    if (ngx_svc_uuid_parse(row.session.data, row.session.len, own->session)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_ceremony(sr, purpose, row.by_domain, &own->ceremony);
    if (rc != NGX_OK) {
        return rc;
    }

    own->ceremony.session = own->session;
    own->display_name = row.display_name;
    own->n = 0;

    for (n = 0; n < PQntuples(res) && own->n < NGX_SVC_FACTORS; n++) {
        ngx_svc_row_ceremony_own(&row, res, n);

        if (rp_id->len != own->ceremony.rp_id.len
            || ngx_memcmp(rp_id->data, own->ceremony.rp_id.data, rp_id->len)
               != 0)
        {
            continue;
        }

        passkey = &own->passkeys[own->n++];

        if (ngx_svc_ceremony_passkey(sr->request->pool, &row.passkey_stored,
                                     passkey)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_uint_t
ngx_svc_ceremony_offered(ngx_svc_request_t *sr, PGresult *res)
{
    return ngx_svc_ceremony_possible(sr,
                                     ngx_svc_row_true(res, 0, "_by_domain"));
}


ngx_uint_t
ngx_svc_ceremony_possible(ngx_svc_request_t *sr, ngx_uint_t by_domain)
{
    ngx_svc_webauthn_ceremony_t  ceremony;

    return by_domain || ngx_svc_ceremony_site(sr, 0, &ceremony) == NGX_OK;
}


/*
 * Sets origin and rpId as a browser writes them, while nginx has the Host as it
 * came.
 */

static ngx_int_t
ngx_svc_ceremony_site(ngx_svc_request_t *sr, ngx_uint_t by_domain,
    ngx_svc_webauthn_ceremony_t *ceremony)
{
    u_char              *p, *end;
    ngx_str_t           *origin, *rp_id, host;
    ngx_uint_t           secure;
    ngx_svc_loc_conf_t  *slcf;

    origin = &ceremony->origin;
    rp_id = &ceremony->rp_id;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);

    if (by_domain && sr->request->headers_in.host) {
        host = sr->request->headers_in.host->value;

        p = ngx_pnalloc(sr->request->pool, sizeof("https://") - 1 + host.len);
        if (p == NULL) {
            return NGX_ERROR;
        }

        origin->data = p;

        p = ngx_cpymem(p, "https://", sizeof("https://") - 1);
        p = ngx_cpymem(p, host.data, host.len);

        origin->len = ngx_svc_uri_origin(origin->data, origin->data, p)
                      - origin->data;

    } else {
        *origin = slcf->base_origin;
    }

    secure = ngx_strncmp(origin->data, "https:", sizeof("https:") - 1) == 0;
    end = origin->data + origin->len;

    rp_id->data = origin->data + (secure ? sizeof("https://")
                                         : sizeof("http://")) - 1;
    p = ngx_strlchr(rp_id->data, end, ':');
    rp_id->len = (p ? p : end) - rp_id->data;

    return ngx_svc_ceremony_host(secure, rp_id) ? NGX_OK : NGX_DECLINED;
}


/*
 * Tells whether passkeys can be of that host: it must be a name, and not an
 * address (WebAuthn Level 3, 5.1.3), with https unless it is "localhost".
 */

static ngx_uint_t
ngx_svc_ceremony_host(ngx_uint_t secure, const ngx_str_t *host)
{
    ngx_uint_t  letters;
    size_t      i;

    static const ngx_str_t  local = ngx_string("localhost");

    letters = 0;

    for (i = 0; i < host->len; i++) {
        if (host->data[i] >= 'a' && host->data[i] <= 'z') {
            letters = 1;

        } else if ((host->data[i] < '0' || host->data[i] > '9')
                   && host->data[i] != '-' && host->data[i] != '.')
        {
            return 0;
        }
    }

    if (!letters || host->len > NGX_SVC_WEBAUTHN_RP_ID_MAX) {
        return 0;
    }

    return secure
           || (host->len == local.len
               && ngx_strncmp(host->data, local.data, local.len) == 0);
}


ngx_int_t
ngx_svc_ceremony_passkey(ngx_pool_t *pool,
    const ngx_svc_row_passkey_stored_t *row, ngx_svc_passkey_t *passkey)
{
    ngx_memzero(passkey, sizeof(ngx_svc_passkey_t));

    if (row->credential_id.data == NULL) {
        return NGX_OK;
    }

    if (ngx_svc_ceremony_bytes(pool, &row->credential_id, &passkey->id)
        != NGX_OK
        || ngx_svc_ceremony_bytes(pool, &row->public_key, &passkey->public_key)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    passkey->be = row->be & 1;
    passkey->bs = row->bs & 1;
    passkey->alg = row->alg;
    passkey->sign_count = (uint32_t) row->sign_count;
    passkey->transports = row->transports;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_ceremony_bytes(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_str_t *bytes)
{
    bytes->len = text->len / 2;
    bytes->data = ngx_pnalloc(pool, bytes->len + 1);

    if (bytes->data == NULL) {
        return NGX_ERROR;
    }

    return ngx_svc_hex_bytea(text, bytes->data, &bytes->len) == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_ceremony_bind_number(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    uint64_t n)
{
    u_char  *p;

    p = ngx_pnalloc(sr->op->pool, NGX_INT64_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, p, ngx_sprintf(p, "%uL", n) - p);

    return NGX_OK;
}


ngx_int_t
ngx_svc_ceremony_presented(ngx_svc_ceremony_presented_t *presented)
{
    u_char                        *p;
    ngx_svc_webauthn_assertion_t  *assertion;

    static ngx_str_t  words[] = {
        ngx_string("false"),
        ngx_string("true")
    };

    assertion = &presented->assertion;
    p = presented->text;

    presented->id.data = presented->digest;
    presented->id.len = NGX_SVC_SHA256_LEN;
    presented->used.data = assertion->used.hash;
    presented->used.len = NGX_SVC_SHA256_LEN;
    presented->bs = words[assertion->bs];

    presented->expires.data = p;
    p = ngx_sprintf(p, "%uL", assertion->used.expires);
    presented->expires.len = p - presented->expires.data;

    presented->count.data = p;
    p = ngx_sprintf(p, "%uL", (uint64_t) assertion->sign_count);
    presented->count.len = p - presented->count.data;

    return ngx_svc_sha256(assertion->id.data, assertion->id.len,
                          presented->digest);
}


void
ngx_svc_ceremony_expires(ngx_svc_json_writer_t *w,
    const ngx_svc_webauthn_ceremony_t *ceremony)
{
    u_char    *p, text[NGX_SVC_TIME_LEN + 1];
    uint64_t   at;
    ngx_tm_t   tm;

    at = ceremony->now + NGX_SVC_WEBAUTHN_TIMEOUT;

    ngx_gmtime((time_t) (at / 1000), &tm);

    p = ngx_sprintf(text, "%04d-%02d-%02dT%02d:%02d:%02d.%03uLZ",
                    tm.ngx_tm_year, tm.ngx_tm_mon, tm.ngx_tm_mday,
                    tm.ngx_tm_hour, tm.ngx_tm_min, tm.ngx_tm_sec, at % 1000);

    ngx_svc_json_plain(w, "expiresAt", text, p - text);
}
