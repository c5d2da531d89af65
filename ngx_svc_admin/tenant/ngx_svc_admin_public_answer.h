/*
 * A tenant's public data, from rows to answers.
 */

#ifndef _NGX_SVC_ADMIN_PUBLIC_ANSWER_H_INCLUDED_
#define _NGX_SVC_ADMIN_PUBLIC_ANSWER_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_admin_reader.h"


/* Makes an answer from a result that has a row. */
typedef ngx_int_t (*ngx_svc_admin_answer_pt)(ngx_svc_request_t *sr,
    PGresult *res, ngx_svc_cache_answer_t *answer);

/*
 * Makes an answer, an object, of a row.  All is copied to the request's pool,
 * as results are gone while the answer is still being sent.  Returns NGX_ERROR
 * when there is no memory, or a column is not what it must be.
 */
ngx_int_t ngx_svc_admin_json_answer(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer);

/* Does the same with a logo; without a logo the answer says "not found". */
ngx_int_t ngx_svc_admin_logo_answer(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer);

/*
 * Makes an answer of the text that has been written, in the request's pool.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_written_answer(ngx_svc_request_t *sr,
    const ngx_svc_json_writer_t *w, ngx_svc_cache_answer_t *answer);

/*
 * Makes an answer of the row that the reader has read, with the tenant's id in
 * "_tenant"; without a row nothing is found.  Keeps it in the cache for
 * requests that wait for it, and for later ones.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_public_keep(ngx_svc_admin_reader_t *reader,
    ngx_svc_admin_answer_pt handler, ngx_svc_cache_answer_t *answer);


#endif /* _NGX_SVC_ADMIN_PUBLIC_ANSWER_H_INCLUDED_ */
