/*
 * Digests and secrets by which clients are found: rows of svc.oauth_login.
 */

#ifndef _NGX_SVC_APPLICATION_SECRET_H_INCLUDED_
#define _NGX_SVC_APPLICATION_SECRET_H_INCLUDED_


#include "ngx_svc_admin_secret.h"
#include "ngx_svc_application.h"


/*
 * What a digest is made of: a clientId alone, a clientId and a secret, or a
 * clientId and the SHA-256 of its keys, see NGX_SVC_APPLICATION_KEYS_DIGEST().
 */

typedef enum {
    NGX_SVC_APPLICATION_LOGIN_ID = 1,
    NGX_SVC_APPLICATION_LOGIN_SECRET,
    NGX_SVC_APPLICATION_LOGIN_KEYS
} ngx_svc_application_login_e;


/*
 * A clientId and a new secret, in the request's pool: sr->data of the routes
 * that make one.
 */

typedef struct {
    ngx_svc_admin_secret_t  *secret;        /* NULL: there is none */
    ngx_str_t                client_id;
    ngx_str_t                id_digest;
    ngx_str_t                secret_digest; /* no data: there is no secret */
} ngx_svc_application_secret_t;

#define ngx_svc_application_secret_param(field)                               \
    ngx_svc_param_data(ngx_svc_application_secret_t, field)


/*
 * Writes the digest, of 32 bytes, that is stored of a clientId, or of a
 * clientId with a secret.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_application_digest(ngx_svc_application_login_e kind,
    const ngx_str_t *client_id, const ngx_str_t *secret, u_char *digest);

/*
 * Makes a new secret for an application.  Returns NULL when memory runs out or
 * OpenSSL fails. client_id is not copied; with_secret: 0 makes only the digest
 * of the id.
 */
ngx_svc_application_secret_t *ngx_svc_application_secret_new(
    ngx_svc_request_t *sr, ngx_str_t *client_id, ngx_uint_t with_secret);

/* The "more" of a route: writes the secret, if there is one. */
void ngx_svc_application_secret_write(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


#endif /* _NGX_SVC_APPLICATION_SECRET_H_INCLUDED_ */
