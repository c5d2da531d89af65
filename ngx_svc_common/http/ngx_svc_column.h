/*
 * Columns of results as JSON.
 */

#ifndef _NGX_SVC_COLUMN_H_INCLUDED_
#define _NGX_SVC_COLUMN_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * A column as a member, null when it is NULL: a text, a time, a piece of JSON,
 * and a boolean.
 */
NGX_SVC_API void ngx_svc_column_text(ngx_svc_json_writer_t *w,
    const char *key, PGresult *res, int row, int column);
NGX_SVC_API void ngx_svc_column_time(ngx_svc_json_writer_t *w,
    const char *key, PGresult *res, int row, int column);
NGX_SVC_API void ngx_svc_column_raw(ngx_svc_json_writer_t *w,
    const char *key, PGresult *res, int row, int column);
NGX_SVC_API void ngx_svc_column_boolean(ngx_svc_json_writer_t *w,
    const char *key, PGresult *res, int row, int column);


#endif /* _NGX_SVC_COLUMN_H_INCLUDED_ */
