/*
 * The JWTs of an answer.
 *
 * A signature by RSA takes 0.3 ms, and the event loop does not wait for it.
 * One trip to a thread makes all signatures of an answer.  The thread has
 * copies of what it signs, and its own reference to the key.
 */

#include "ngx_svc_oauth_sign.h"
#include "ngx_svc_jwk_rsa.h"
#include "ngx_svc_jws_rsa.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_work.h"


#define NGX_SVC_OAUTH_SIGN_HEADER   128     /* bytes of a JWT's header */
#define NGX_SVC_OAUTH_SIGN_WAITING  8192    /* answers, in a worker */
#define NGX_SVC_OAUTH_SIGN_TIME     20000   /* ms */


typedef struct {
    ngx_str_t  header;
    ngx_str_t  payload;
    u_char    *hash;
    ngx_str_t  text;
} ngx_svc_oauth_signed_t;

typedef struct {
    ngx_svc_work_t                work;
    ngx_svc_oauth_t              *oauth;
    ngx_svc_oauth_private_t       private;
    ngx_uint_t                    opens;    /* 1: the worker lacks the key, and
                                               the thread opens it */
    ngx_int_t                     rc;
    ngx_uint_t                    n;
    ngx_svc_oauth_signed_t        jwts[NGX_SVC_OAUTH_JWTS];
} ngx_svc_oauth_sign_job_t;


static ngx_int_t ngx_svc_oauth_sign_now(ngx_svc_oauth_t *o,
    EVP_PKEY_CTX *signer);
static ngx_int_t ngx_svc_oauth_sign_one(ngx_svc_oauth_t *o,
    EVP_PKEY_CTX *signer, const ngx_svc_oauth_jwt_t *jwt);
static ngx_str_t ngx_svc_oauth_sign_header(const char *alg, const char *typ,
    const ngx_str_t *kid, u_char header[NGX_SVC_OAUTH_SIGN_HEADER]);
static ngx_int_t ngx_svc_oauth_sign_later(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_private_t *private);
static ngx_int_t ngx_svc_oauth_sign_copy(ngx_svc_oauth_sign_job_t *job,
    const ngx_svc_oauth_jwts_t *jwts, ngx_uint_t i);
static void ngx_svc_oauth_sign_run(ngx_svc_work_t *work);
static ngx_int_t ngx_svc_oauth_sign_open(ngx_svc_oauth_sign_job_t *job);
static ngx_int_t ngx_svc_oauth_sign_all(ngx_svc_oauth_sign_job_t *job);
static void ngx_svc_oauth_sign_done(ngx_svc_work_t *work);
static ngx_int_t ngx_svc_oauth_sign_take(ngx_svc_oauth_sign_job_t *job);
static void ngx_svc_oauth_sign_wipe(ngx_svc_work_t *work);


static ngx_svc_work_queue_t  ngx_svc_oauth_sign_queue =
    ngx_svc_work_queue(ngx_svc_oauth_sign_queue, 0, NGX_SVC_OAUTH_SIGN_WAITING,
                       NGX_SVC_OAUTH_SIGN_TIME);


ngx_svc_oauth_jwt_t *
ngx_svc_oauth_jwt(ngx_svc_oauth_t *o, const char *typ, ngx_str_t *text)
{
    ngx_svc_oauth_jwt_t  *jwt;

    jwt = &o->jwts->jwts[o->jwts->n++];

    jwt->typ = typ;
    jwt->text = text;

    return jwt;
}


ngx_int_t
ngx_svc_oauth_sign(ngx_svc_oauth_t *o)
{
    ngx_int_t                rc;
    ngx_svc_oauth_private_t  private;

    if (o->jwts->n == 0) {
        return NGX_OK;
    }

    if (ngx_svc_oauth_key_private(o, &o->jwts->kid, &o->jwts->sealed, &private)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (private.signer) {
        return ngx_svc_oauth_sign_now(o, private.signer);
    }

    rc = ngx_svc_oauth_sign_later(o, &private);

    ngx_explicit_memzero(private.der, private.der_len);

    return rc;
}


static ngx_int_t
ngx_svc_oauth_sign_now(ngx_svc_oauth_t *o, EVP_PKEY_CTX *signer)
{
    ngx_uint_t                  i;
    const ngx_svc_oauth_jwt_t  *jwt;

    for (i = 0; i < o->jwts->n; i++) {
        jwt = &o->jwts->jwts[i];

        if (jwt->hash
            && ngx_svc_oauth_sign_hash(jwt[-1].text, jwt->hash) != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (ngx_svc_oauth_sign_one(o, signer, jwt) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_sign_one(ngx_svc_oauth_t *o, EVP_PKEY_CTX *signer,
    const ngx_svc_oauth_jwt_t *jwt)
{
    u_char     *last, header[NGX_SVC_OAUTH_SIGN_HEADER];
    ngx_str_t   head, *text;

    text = jwt->text;
    head = ngx_svc_oauth_sign_header("ES256", jwt->typ, &o->jwts->kid, header);

    text->data = ngx_pnalloc(o->sr->request->pool,
                             ngx_svc_jws_len(head.len, jwt->payload.len));
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    last = ngx_svc_jws_sign(signer, &head, &jwt->payload, text->data);
    if (last == NULL) {
        return NGX_ERROR;
    }

    text->len = last - text->data;

    return NGX_OK;
}


static ngx_str_t
ngx_svc_oauth_sign_header(const char *alg, const char *typ,
    const ngx_str_t *kid, u_char header[NGX_SVC_OAUTH_SIGN_HEADER])
{
    ngx_str_t  text;

    text.data = header;
    text.len = ngx_snprintf(header, NGX_SVC_OAUTH_SIGN_HEADER,
                            "{\"alg\":\"%s\",\"kid\":\"%V\",\"typ\":\"%s\"}",
                            alg, kid, typ)
               - header;

    return text;
}


ngx_int_t
ngx_svc_oauth_sign_hash(const ngx_str_t *token, u_char *hash)
{
    u_char  digest[NGX_SVC_SHA256_LEN];

    if (ngx_svc_sha256(token->data, token->len, digest) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(hash, digest, sizeof(digest) / 2);

    return NGX_OK;
}


/* Posts a job, by which a thread signs all JWTs by RSA. */

static ngx_int_t
ngx_svc_oauth_sign_later(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_private_t *private)
{
    ngx_int_t                  rc;
    ngx_uint_t                 i;
    ngx_svc_oauth_sign_job_t  *job;

    job = ngx_svc_work_create(&ngx_svc_oauth_sign_queue, o->sr->request->pool,
                              sizeof(ngx_svc_oauth_sign_job_t));
    if (job == NULL) {
        EVP_PKEY_free(private->rsa);
        return NGX_ERROR;
    }

    job->work.run = ngx_svc_oauth_sign_run;
    job->work.handler = ngx_svc_oauth_sign_done;
    job->work.wipe = ngx_svc_oauth_sign_wipe;

    job->oauth = o;
    job->private = *private;
    job->opens = (private->rsa == NULL);
    job->n = o->jwts->n;

    for (i = 0; i < job->n; i++) {
        if (ngx_svc_oauth_sign_copy(job, o->jwts, i) != NGX_OK) {
            ngx_svc_work_cancel(&job->work);
            return NGX_ERROR;
        }
    }

    rc = ngx_svc_work_post(&job->work);

    return rc == NGX_OK ? NGX_AGAIN : rc;
}


static ngx_int_t
ngx_svc_oauth_sign_copy(ngx_svc_oauth_sign_job_t *job,
    const ngx_svc_oauth_jwts_t *jwts, ngx_uint_t i)
{
    u_char                     *p;
    ngx_svc_oauth_signed_t     *to;
    const ngx_svc_oauth_jwt_t  *jwt;

    jwt = &jwts->jwts[i];
    to = &job->jwts[i];

    p = ngx_pnalloc(job->work.pool,
                    NGX_SVC_OAUTH_SIGN_HEADER + jwt->payload.len
                    + ngx_svc_jws_rsa_len(NGX_SVC_OAUTH_SIGN_HEADER,
                                          jwt->payload.len));
    if (p == NULL) {
        return NGX_ERROR;
    }

    to->header = ngx_svc_oauth_sign_header("RS256", jwt->typ, &jwts->kid, p);

    to->payload.data = p + NGX_SVC_OAUTH_SIGN_HEADER;
    to->payload.len = jwt->payload.len;
    to->text.data = ngx_cpymem(to->payload.data, jwt->payload.data,
                               jwt->payload.len);

    if (jwt->hash) {
        to->hash = to->payload.data + (jwt->hash - jwt->payload.data);
    }

    return NGX_OK;
}


static void
ngx_svc_oauth_sign_run(ngx_svc_work_t *work)
{
    ngx_svc_oauth_sign_job_t  *job;

    job = (ngx_svc_oauth_sign_job_t *) work;

    job->rc = job->opens ? ngx_svc_oauth_sign_open(job) : NGX_OK;

    if (job->rc == NGX_OK) {
        job->rc = ngx_svc_oauth_sign_all(job);
    }
}


static ngx_int_t
ngx_svc_oauth_sign_open(ngx_svc_oauth_sign_job_t *job)
{
    job->private.rsa = ngx_svc_jwk_rsa_private(job->private.der,
                                               job->private.der_len);

    return job->private.rsa ? NGX_OK : NGX_DECLINED;
}


/* A thread cannot call ngx_svc_sha256(), whose context is the event loop's. */

static ngx_int_t
ngx_svc_oauth_sign_all(ngx_svc_oauth_sign_job_t *job)
{
    u_char                  *last, digest[NGX_SVC_SHA256_LEN];
    ngx_uint_t               i;
    ngx_svc_oauth_signed_t  *jwt;

    for (i = 0; i < job->n; i++) {
        jwt = &job->jwts[i];

        if (jwt->hash) {
            if (EVP_Digest(jwt[-1].text.data, jwt[-1].text.len, digest, NULL,
                           EVP_sha256(), NULL)
                != 1)
            {
                return NGX_ERROR;
            }

            (void) ngx_svc_base64url(jwt->hash, digest, sizeof(digest) / 2);
        }

        last = ngx_svc_jws_rsa_sign(job->private.rsa, &jwt->header,
                                    &jwt->payload, jwt->text.data);
        if (last == NULL) {
            return NGX_ERROR;
        }

        jwt->text.len = last - jwt->text.data;
    }

    return NGX_OK;
}


static void
ngx_svc_oauth_sign_done(ngx_svc_work_t *work)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_t           *o;
    ngx_http_request_t        *r;
    ngx_svc_oauth_sign_job_t  *job;

    job = (ngx_svc_oauth_sign_job_t *) work;
    o = job->oauth;
    r = o->sr->request;

    ngx_http_set_log_request(r->connection->log, r);

    rc = work->rc == NGX_OK ? ngx_svc_oauth_sign_take(job) : work->rc;

    ngx_svc_work_finalize(r, o->signed_by(o, rc));
}


static ngx_int_t
ngx_svc_oauth_sign_take(ngx_svc_oauth_sign_job_t *job)
{
    ngx_uint_t              i;
    ngx_svc_oauth_t        *o;
    ngx_svc_oauth_jwts_t   *jwts;

    o = job->oauth;
    jwts = o->jwts;

    if (job->rc == NGX_DECLINED) {
        ngx_log_error(NGX_LOG_ALERT, o->sr->request->connection->log, 0,
                      "svc: the signing key \"%V\" is no RSA key", &jwts->kid);
        return NGX_ERROR;
    }

    if (job->opens && job->private.rsa) {
        ngx_svc_oauth_key_learn(&jwts->kid, job->private.rsa);
    }

    if (job->rc != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < job->n; i++) {
        if (ngx_svc_oauth_bytes(o->sr, jwts->jwts[i].text,
                                job->jwts[i].text.data, job->jwts[i].text.len)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static void
ngx_svc_oauth_sign_wipe(ngx_svc_work_t *work)
{
    ngx_svc_oauth_sign_job_t  *job;

    job = (ngx_svc_oauth_sign_job_t *) work;

    EVP_PKEY_free(job->private.rsa);

    ngx_explicit_memzero(job->private.der, job->private.der_len);
}
