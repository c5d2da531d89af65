/*
 * Columns of results as JSON.
 */

#ifndef _NGX_SVC_COLUMN_H_INCLUDED_
#define _NGX_SVC_COLUMN_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Each function writes a column as a member, which is null when the column is
 * NULL: as a string, as a time, as the JSON that it is, or as a boolean.
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
