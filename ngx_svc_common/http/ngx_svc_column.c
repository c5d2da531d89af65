/*
 * Columns as JSON.
 */

#include "ngx_svc_column.h"
#include "ngx_svc_time.h"


void
ngx_svc_column_text(ngx_svc_json_writer_t *w, const char *key, PGresult *res,
    int row, int column)
{
    ngx_str_t  value;

    value = ngx_svc_pg_value(res, row, column);

    if (value.data) {
        ngx_svc_json_string(w, key, value.data, value.len);

    } else {
        ngx_svc_json_null(w, key);
    }
}


void
ngx_svc_column_time(ngx_svc_json_writer_t *w, const char *key, PGresult *res,
    int row, int column)
{
    u_char     text[NGX_SVC_TIME_LEN];
    ngx_str_t  value;

    value = ngx_svc_pg_value(res, row, column);

    if (value.data == NULL) {
        ngx_svc_json_null(w, key);
        return;
    }

    ngx_svc_time_text(text, &value);
    ngx_svc_json_plain(w, key, text, NGX_SVC_TIME_LEN);
}


void
ngx_svc_column_raw(ngx_svc_json_writer_t *w, const char *key, PGresult *res,
    int row, int column)
{
    ngx_str_t  value;

    value = ngx_svc_pg_value(res, row, column);

    if (value.data) {
        ngx_svc_json_raw(w, key, value.data, value.len);

    } else {
        ngx_svc_json_null(w, key);
    }
}


void
ngx_svc_column_boolean(ngx_svc_json_writer_t *w, const char *key,
    PGresult *res, int row, int column)
{
    char  *value;

    value = PQgetvalue(res, row, column);

    if (*value == '\0') {
        ngx_svc_json_null(w, key);

    } else {
        ngx_svc_json_boolean(w, key, *value == 't');
    }
}
