/*
 * What the public sees of a tenant, from rows to answers.
 */

#ifndef _NGX_SVC_ADMIN_PUBLIC_ANSWER_H_INCLUDED_
#define _NGX_SVC_ADMIN_PUBLIC_ANSWER_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_admin_reader.h"


/* Makes an answer of a result that has a row. */
typedef ngx_int_t (*ngx_svc_admin_answer_pt)(ngx_svc_request_t *sr,
    PGresult *res, ngx_svc_cache_answer_t *answer);

/*
 * A row as an object, or a logo's.  Results are gone when the answer is still
 * being sent: all is copied to the request's pool.  Without a logo nothing is
 * found.  NGX_ERROR: memory, or a column that is not what it must be.
 */
ngx_int_t ngx_svc_admin_json_answer(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer);
ngx_int_t ngx_svc_admin_logo_answer(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer);

/* What has been written, of the request's pool.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_admin_written_answer(ngx_svc_request_t *sr,
    const ngx_svc_json_writer_t *w, ngx_svc_cache_answer_t *answer);

/*
 * What the reader has read, with the tenant's id in "_tenant", becomes the
 * answer; without a row nothing is found.  It is kept for those who wait for
 * it, and who come later.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_public_keep(ngx_svc_admin_reader_t *reader,
    ngx_svc_admin_answer_pt handler, ngx_svc_cache_answer_t *answer);


#endif /* _NGX_SVC_ADMIN_PUBLIC_ANSWER_H_INCLUDED_ */
