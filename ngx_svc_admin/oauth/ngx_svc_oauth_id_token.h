/*
 * ID tokens (OpenID Connect Core 1.0, 2).
 */

#ifndef _NGX_SVC_OAUTH_ID_TOKEN_H_INCLUDED_
#define _NGX_SVC_OAUTH_ID_TOKEN_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * Writes the member "id_token" beside o->access_token, of a row of
 * NGX_SVC_OAUTH_ROW() with more columns: id_kid, of the key that signs,
 * methods, with spaces between, and nonce, or NULL.  NGX_OK; NGX_ERROR:
 * memory, or the key cannot be opened.
 */
ngx_int_t ngx_svc_oauth_id_token_write(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_json_writer_t *w);


#endif /* _NGX_SVC_OAUTH_ID_TOKEN_H_INCLUDED_ */
