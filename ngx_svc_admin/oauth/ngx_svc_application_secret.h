/*
 * What applications prove themselves with: rows of svc.oauth_login.
 */

#ifndef _NGX_SVC_APPLICATION_SECRET_H_INCLUDED_
#define _NGX_SVC_APPLICATION_SECRET_H_INCLUDED_


#include "ngx_svc_admin_secret.h"
#include "ngx_svc_application.h"


/*
 * What a digest is of: of a clientId alone, or with a secret, or with the
 * SHA-256 of its keys, see NGX_SVC_APPLICATION_KEYS_DIGEST().
 */

typedef enum {
    NGX_SVC_APPLICATION_LOGIN_ID = 1,
    NGX_SVC_APPLICATION_LOGIN_SECRET,
    NGX_SVC_APPLICATION_LOGIN_KEYS
} ngx_svc_application_login_e;


/* A clientId and a secret, of the request's pool: sr->data of who makes it. */

typedef struct {
    ngx_svc_admin_secret_t  *secret;        /* NULL: it has none */
    ngx_str_t                client_id;
    ngx_str_t                id_digest;
    ngx_str_t                secret_digest; /* no data: it has none */
} ngx_svc_application_secret_t;

#define ngx_svc_application_secret_param(field)                               \
    ngx_svc_param_data(ngx_svc_application_secret_t, field)


/*
 * What is stored of a clientId, or of a secret with it, of 32 bytes.  NGX_OK,
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_application_digest(ngx_svc_application_login_e kind,
    const ngx_str_t *client_id, const ngx_str_t *secret, u_char *digest);

/*
 * A new secret of an application.  NULL: memory, or OpenSSL fails.  client_id
 * is not copied; with_secret: 0 makes only the digest of the id.
 */
ngx_svc_application_secret_t *ngx_svc_application_secret_new(
    ngx_svc_request_t *sr, ngx_str_t *client_id, ngx_uint_t with_secret);

/* The route's "more": the secret, when there is one. */
void ngx_svc_application_secret_write(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


#endif /* _NGX_SVC_APPLICATION_SECRET_H_INCLUDED_ */
