/*
 * Passwords as PostgreSQL has them: PHC strings, sealed under svc_key_file.
 */

#ifndef _NGX_SVC_STORED_H_INCLUDED_
#define _NGX_SVC_STORED_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_phc.h"
#include "ngx_svc_request.h"


/* Of which row: the ids of the tenant and of the user. */

typedef struct {
    u_char  tenant[NGX_SVC_UUID_LEN];
    u_char  user[NGX_SVC_UUID_LEN];
} ngx_svc_stored_row_t;


/*
 * From PostgreSQL's text of a bytea the PHC string, of the pool; one that was
 * imported is not sealed.  NGX_OK; NGX_DECLINED: its key is not there, or it is
 * another row's, and the log says so: nobody knows whether a password is right;
 * NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_stored_open(ngx_svc_request_t *sr,
    const ngx_svc_stored_row_t *row, ngx_str_t *hex, ngx_str_t *phc);

/* The other way round.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_stored_seal(ngx_svc_request_t *sr,
    const ngx_svc_stored_row_t *row, u_char *phc, size_t len,
    ngx_str_t *sealed);


#endif /* _NGX_SVC_STORED_H_INCLUDED_ */
