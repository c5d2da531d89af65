/*
 * Passwords as PostgreSQL has them: PHC strings, sealed by a key of
 * svc_key_file.
 */

#ifndef _NGX_SVC_STORED_H_INCLUDED_
#define _NGX_SVC_STORED_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_phc.h"
#include "ngx_svc_request.h"


/* The identity of a row: the ids of its tenant and of its user. */

typedef struct {
    u_char  tenant[NGX_SVC_UUID_LEN];
    u_char  user[NGX_SVC_UUID_LEN];
} ngx_svc_stored_row_t;


/*
 * Opens the PHC string in PostgreSQL's text of a bytea, into the request's
 * pool, with which it is wiped; an imported one is not sealed.  Returns NGX_OK;
 * NGX_DECLINED when its key is missing or it is another row's, so that nobody
 * can tell whether a password is right, and logs this; NGX_ERROR when memory
 * runs out.
 */
ngx_int_t ngx_svc_stored_open(ngx_svc_request_t *sr,
    const ngx_svc_stored_row_t *row, ngx_str_t *hex, ngx_str_t *phc);

/*
 * Seals a PHC string, for that row alone, into the request's pool.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_stored_seal(ngx_svc_request_t *sr,
    const ngx_svc_stored_row_t *row, u_char *phc, size_t len,
    ngx_str_t *sealed);


#endif /* _NGX_SVC_STORED_H_INCLUDED_ */
