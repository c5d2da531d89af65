/*
 * Rows of results as JSON objects.
 */

#include "ngx_svc_row.h"


#define NGX_SVC_ROW_OBJECT  32      /* bytes of a key */
#define NGX_SVC_ROW_MEMBER  32      /* and of what is around a value */

/* PostgreSQL's pg_type.dat: the types whose text is not that of a string */

#define NGX_SVC_PG_BOOL         16
#define NGX_SVC_PG_INT8         20
#define NGX_SVC_PG_INT2         21
#define NGX_SVC_PG_INT4         23
#define NGX_SVC_PG_JSON         114
#define NGX_SVC_PG_FLOAT8       701
#define NGX_SVC_PG_TIMESTAMPTZ  1184
#define NGX_SVC_PG_NUMERIC      1700
#define NGX_SVC_PG_JSONB        3802


static void ngx_svc_row_nested(ngx_svc_json_writer_t *w,
    const ngx_svc_row_t *columns, int row, int *i);


void
ngx_svc_row_init(ngx_svc_row_t *columns, PGresult *res)
{
    int                    i;
    const char            *dot;
    ngx_svc_row_column_t  *column;

    columns->res = res;
    columns->n = ngx_min(PQnfields(res), NGX_SVC_ROW_COLUMNS);
    columns->first = columns->n;

    for (i = 0; i < columns->n; i++) {
        column = &columns->columns[i];

        column->name = PQfname(res, i);
        column->write = NULL;

        if (column->name[0] == '_') {
            continue;
        }

        columns->first = ngx_min(columns->first, i);

        dot = ngx_strchr(column->name, '.');
        column->object = dot ? (size_t) (dot - column->name) : 0;

        switch (PQftype(res, i)) {

        case NGX_SVC_PG_BOOL:
            column->write = ngx_svc_column_boolean;
            break;

        case NGX_SVC_PG_INT2:
        case NGX_SVC_PG_INT4:
        case NGX_SVC_PG_INT8:
        case NGX_SVC_PG_FLOAT8:
        case NGX_SVC_PG_NUMERIC:
        case NGX_SVC_PG_JSON:
        case NGX_SVC_PG_JSONB:
            column->write = ngx_svc_column_raw;
            break;

        case NGX_SVC_PG_TIMESTAMPTZ:
            column->write = ngx_svc_column_time;
            break;

        default:
            column->write = ngx_svc_column_text;
        }
    }
}


void
ngx_svc_row_write(ngx_svc_json_writer_t *w, const ngx_svc_row_t *columns,
    int row)
{
    int                          i;
    const ngx_svc_row_column_t  *column;

    for (i = 0; i < columns->n; i++) {
        column = &columns->columns[i];

        if (column->write == NULL) {
            continue;
        }

        if (column->object) {
            ngx_svc_row_nested(w, columns, row, &i);
            continue;
        }

        column->write(w, column->name, columns->res, row, i);
    }
}


/* From the column *i on, which it moves to the object's last one. */

static void
ngx_svc_row_nested(ngx_svc_json_writer_t *w, const ngx_svc_row_t *columns,
    int row, int *i)
{
    int                          n;
    char                         key[NGX_SVC_ROW_OBJECT];
    ngx_uint_t                   null;
    const ngx_svc_row_column_t  *first, *column;

    first = &columns->columns[*i];
    null = PQgetisnull(columns->res, row, *i);

    ngx_cpystrn((u_char *) key, (u_char *) first->name,
                ngx_min(first->object + 1, sizeof(key)));

    if (null) {
        ngx_svc_json_null(w, key);

    } else {
        ngx_svc_json_open(w, key, '{');
    }

    for (n = *i; n < columns->n; n++) {
        column = &columns->columns[n];

        if (column->write == NULL || column->object != first->object
            || ngx_strncmp(column->name, first->name, first->object) != 0)
        {
            break;
        }

        if (!null) {
            column->write(w, column->name + column->object + 1, columns->res,
                          row, n);
        }
    }

    if (!null) {
        ngx_svc_json_close(w, '}');
    }

    *i = n - 1;
}


void
ngx_svc_row_object(ngx_svc_json_writer_t *w, const ngx_svc_row_t *columns,
    int row)
{
    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_row_write(w, columns, row);
    ngx_svc_json_close(w, '}');
}


size_t
ngx_svc_row_size(const ngx_svc_row_t *columns, int row)
{
    int     i;
    size_t  size;

    size = columns->n * NGX_SVC_ROW_MEMBER;

    for (i = 0; i < columns->n; i++) {
        size += PQgetlength(columns->res, row, i);
    }

    return size;
}


int
ngx_svc_row_find(PGresult *res, const char *name)
{
    int  i, n;

    n = PQnfields(res);

    for (i = 0; i < n; i++) {
        if (ngx_strcmp(PQfname(res, i), name) == 0) {
            return i;
        }
    }

    return -1;
}


ngx_str_t
ngx_svc_row_value(PGresult *res, int row, const char *name)
{
    return ngx_svc_pg_value(res, row, ngx_svc_row_find(res, name));
}


ngx_uint_t
ngx_svc_row_true(PGresult *res, int row, const char *name)
{
    return ngx_svc_column_true(res, row, ngx_svc_row_find(res, name));
}


void
ngx_svc_row_copy(ngx_str_t *dst, u_char *text, size_t size, PGresult *res,
    int row, const char *name)
{
    ngx_str_t  value;

    value = ngx_svc_row_value(res, row, name);

    dst->data = text;
    dst->len = ngx_min(value.len, size);

    if (dst->len) {
        ngx_memcpy(text, value.data, dst->len);
    }
}
