/*
 * DPoP proofs of requests under /oauth.
 */

#include "ngx_svc_oauth_proof.h"
#include "ngx_svc_dpop.h"
#include "ngx_svc_dpop_nonce.h"


#define NGX_SVC_OAUTH_PROOF_KNOWN  4096     /* opaque tokens that are known */

#define ngx_svc_oauth_proof_header(r, behind)                                 \
    ngx_svc_header_in(r, "DPoP", sizeof("DPoP") - 1, behind)


static ngx_int_t ngx_svc_oauth_proof_check(ngx_svc_oauth_t *o,
    const ngx_str_t *proof, ngx_svc_dpop_expect_t *expect,
    ngx_svc_dpop_t *dpop);
static ngx_int_t ngx_svc_oauth_proof_htu(ngx_svc_request_t *sr,
    ngx_svc_dpop_expect_t *expect);
static ngx_int_t ngx_svc_oauth_proof_fresh(ngx_svc_oauth_t *o,
    const ngx_svc_dpop_t *dpop);
static u_char *ngx_svc_oauth_proof_place(ngx_svc_oauth_t *o,
    u_char digest[NGX_SVC_SHA256_LEN]);


/*
 * How many seconds a spent proof is remembered: longer than it would be
 * accepted, which is twice NGX_SVC_DPOP_DRIFT, or two slots of its nonce.
 */

static const ngx_str_t  ngx_svc_oauth_proof_short = ngx_string("190");
static const ngx_str_t  ngx_svc_oauth_proof_long = ngx_string("730");

#include "ngx_svc_oauth_proof.sql.h"


static ngx_svc_macs_t  ngx_svc_oauth_proof_macs;
static u_char          ngx_svc_oauth_proof_live[NGX_SVC_OAUTH_PROOF_KNOWN]
                                               [NGX_SVC_SHA256_LEN];


ngx_int_t
ngx_svc_oauth_proof_init_worker(const ngx_svc_keys_t *keys)
{
    return ngx_svc_mac_init(&ngx_svc_oauth_proof_macs, keys,
                            NGX_SVC_DPOP_NONCE_LABEL);
}


void
ngx_svc_oauth_proof_exit_worker(void)
{
    ngx_svc_mac_free(&ngx_svc_oauth_proof_macs);
}


ngx_int_t
ngx_svc_oauth_proof_nonce(ngx_svc_request_t *sr)
{
    ngx_str_t  nonce;

    if (!ngx_svc_oauth_proof_presented(sr)) {
        return NGX_OK;
    }

    nonce.len = NGX_SVC_DPOP_NONCE;
    nonce.data = ngx_pnalloc(sr->request->pool, nonce.len);

    if (nonce.data == NULL
        || ngx_svc_dpop_nonce(&ngx_svc_oauth_proof_macs, ngx_time(),
                              nonce.data)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_add_header(sr->request, "DPoP-Nonce", &nonce);
}


ngx_uint_t
ngx_svc_oauth_proof_presented(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_proof_header(sr->request, NULL) != NULL;
}


ngx_int_t
ngx_svc_oauth_proof(ngx_svc_oauth_t *o, const ngx_str_t *token)
{
    ngx_int_t               rc;
    ngx_svc_dpop_t          dpop;
    ngx_table_elt_t        *header;
    ngx_svc_dpop_expect_t   expect;

    header = ngx_svc_oauth_proof_header(o->sr->request, NULL);
    if (header == NULL) {
        return NGX_OK;
    }

    if (ngx_svc_oauth_proof_header(o->sr->request, header)) {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_DPOP_PROOF,
                            "There is more than one DPoP header.");
    }

    ngx_memzero(&expect, sizeof(ngx_svc_dpop_expect_t));

    if (token) {
        expect.token = *token;
    }

    rc = ngx_svc_oauth_proof_check(o, &header->value, &expect, &dpop);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_proof_fresh(o, &dpop);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_bytes(o->sr, &o->jkt, dpop.jkt, sizeof(dpop.jkt));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_bytes(o->sr, &o->once, dpop.once,
                                 sizeof(dpop.once));
    }

    return rc;
}


static ngx_int_t
ngx_svc_oauth_proof_check(ngx_svc_oauth_t *o, const ngx_str_t *proof,
    ngx_svc_dpop_expect_t *expect, ngx_svc_dpop_t *dpop)
{
    ngx_int_t  rc;

    if (ngx_svc_oauth_proof_htu(o->sr, expect) != NGX_OK) {
        return NGX_ERROR;
    }

    expect->method = o->sr->request->method_name;
    expect->now = ngx_time();

    rc = ngx_svc_dpop_check(o->sr->request->pool, proof, expect, dpop,
                            &o->sr->error);

    if (rc == NGX_DECLINED) {
        o->sr->error.kind = NGX_SVC_E_DPOP_PROOF;
    }

    return rc;
}


/*
 * Sets the URL that the proof must name.  Metadata has it below the issuer, and
 * clients that know the path of all tenants may go on using that: a proof is
 * good for either, whichever the request has used.
 */

static ngx_int_t
ngx_svc_oauth_proof_htu(ngx_svc_request_t *sr, ngx_svc_dpop_expect_t *expect)
{
    u_char              *p, *end;
    ngx_str_t            url, path;
    ngx_svc_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);

    path = sr->route->path;
    end = path.data + path.len;
    path.data = ngx_strlchr(path.data, end, ']') + 1;
    path.len = end - path.data;

    url.len = slcf->base_key.len + sr->surface->prefix.len + path.len;

    p = ngx_pnalloc(sr->request->pool, 2 * url.len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    url.data = p;
    expect->htu.data = ngx_sprintf(p, "%V%V%V", &slcf->base_key,
                                   &sr->surface->prefix, &path);
    expect->below = url.len - path.len;
    expect->slug = ngx_svc_oauth_slug(sr);

    return ngx_svc_dpop_htu(&url, &expect->htu) == NGX_OK ? NGX_OK
                                                          : NGX_ERROR;
}


/*
 * Tells whether the proof is new enough.  A good nonce tells the time better
 * than the client's clock does.
 */

static ngx_int_t
ngx_svc_oauth_proof_fresh(ngx_svc_oauth_t *o, const ngx_svc_dpop_t *dpop)
{
    ngx_int_t  rc;

    rc = dpop->nonce.data
         ? ngx_svc_dpop_nonce_check(&ngx_svc_oauth_proof_macs, ngx_time(),
                                    &dpop->nonce)
         : NGX_DECLINED;

    o->once_seconds = (rc == NGX_OK) ? ngx_svc_oauth_proof_long
                                     : ngx_svc_oauth_proof_short;

    /*
     * A nonce of our length has expired, if it was ours: the proof may have
     * been spent with it, and forgotten.
     */

    if (rc != NGX_DECLINED
        || (!dpop->stale && dpop->nonce.len != NGX_SVC_DPOP_NONCE))
    {
        return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
    }

    return ngx_svc_fail(&o->sr->error, NGX_SVC_E_DPOP_NONCE,
                        "The DPoP proof has an 'iat' that is more than %d "
                        "seconds away, or a 'nonce' that has ended: take one "
                        "of 'DPoP-Nonce'.",
                        NGX_SVC_DPOP_DRIFT);
}


/*
 * The tenant of the token is not known yet, so the proof's key decides whose
 * turn it is.  Anybody can make keys: all that are not in a token of ours share
 * one backlog.  sr->tenant cannot be a tenant's id: no UUID has the version 15.
 */

ngx_int_t
ngx_svc_oauth_proof_call_token(ngx_svc_oauth_t *o, ngx_uint_t bound)
{
    ngx_svc_request_t  *sr;

    sr = o->sr;

    if (bound) {
        ngx_memcpy(sr->tenant, o->jkt.data, NGX_SVC_UUID_LEN);

    } else {
        ngx_memset(sr->tenant, 0xff, NGX_SVC_UUID_LEN);
    }

    sr->tenant[6] |= 0xf0;

    sr->op->kind = NGX_SVC_PG_WRITE;

    return ngx_svc_route_call(sr, &ngx_svc_sql_oauth_once_token, NULL);
}


ngx_int_t
ngx_svc_oauth_proof_fresh_token(ngx_svc_oauth_t *o)
{
    ngx_svc_row_oauth_once_token_t  row;

    ngx_svc_row_oauth_once_token(&row,
                   ngx_svc_result(o->sr, &ngx_svc_sql_oauth_once_token), 0);

    return row.fresh
           ? NGX_OK
           : ngx_svc_fail(&o->sr->error, NGX_SVC_E_DPOP_PROOF,
                          "The DPoP proof has been used.");
}


/*
 * An opaque token is not looked up before its turn: anybody could cause such
 * reads.  A token that a worker sees for the first time waits in the backlog
 * that unknown keys share.
 */

ngx_int_t
ngx_svc_oauth_proof_known(ngx_svc_oauth_t *o, ngx_uint_t *known)
{
    u_char  *place, digest[NGX_SVC_SHA256_LEN];

    place = ngx_svc_oauth_proof_place(o, digest);
    if (place == NULL) {
        return NGX_ERROR;
    }

    *known = (ngx_memcmp(place, digest, NGX_SVC_SHA256_LEN) == 0);

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_proof_keep(ngx_svc_oauth_t *o, ngx_uint_t lives)
{
    u_char  *place, digest[NGX_SVC_SHA256_LEN];

    place = ngx_svc_oauth_proof_place(o, digest);
    if (place == NULL) {
        return NGX_ERROR;
    }

    if (lives) {
        ngx_memcpy(place, digest, NGX_SVC_SHA256_LEN);

    } else if (ngx_memcmp(place, digest, NGX_SVC_SHA256_LEN) == 0) {
        ngx_memzero(place, NGX_SVC_SHA256_LEN);
    }

    return NGX_OK;
}


/*
 * Returns the place of a token with the proof's key, and their digest; NULL:
 * OpenSSL fails.  Nobody can choose the place.
 */

static u_char *
ngx_svc_oauth_proof_place(ngx_svc_oauth_t *o,
    u_char digest[NGX_SVC_SHA256_LEN])
{
    u_char  *p, both[2 * NGX_SVC_SHA256_LEN];

    p = ngx_cpymem(both, o->token.secret_hash.data, NGX_SVC_SHA256_LEN);
    ngx_memcpy(p, o->jkt.data, NGX_SVC_SHA256_LEN);

    if (ngx_svc_sha256(both, sizeof(both), digest) != NGX_OK) {
        return NULL;
    }

    return ngx_svc_oauth_proof_live[(digest[0] << 8 | digest[1])
                                    % NGX_SVC_OAUTH_PROOF_KNOWN];
}
