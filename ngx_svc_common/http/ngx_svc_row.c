/*
 * Rows of results as JSON objects.
 */

#include "ngx_svc_row.h"


#define NGX_SVC_ROW_MEMBER  64      /* bytes of a member that is no JSON */

/* types of PostgreSQL's pg_type.dat whose values are not written as strings */

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
    const ngx_svc_row_t *columns, int row, int i);
static ngx_svc_row_write_pt ngx_svc_row_writer(Oid type);
static void ngx_svc_row_span(ngx_svc_row_t *columns, int i);
static int ngx_svc_row_at(PGresult *res, int row, const char *name);


void
ngx_svc_row_init(ngx_svc_row_t *columns, PGresult *res)
{
    int                    i;
    const char            *dot;
    ngx_svc_row_column_t  *column;

    columns->res = res;
    columns->n = ngx_min(PQnfields(res), NGX_SVC_ROW_COLUMNS);
    columns->first = columns->n;
    columns->version = -1;
    columns->created = -1;
    columns->edition = 0;

    for (i = 0; i < columns->n; i++) {
        column = &columns->columns[i];

        column->name = PQfname(res, i);
        column->write = NULL;
        column->span = 0;

        if (column->name[0] == '_') {

            if (ngx_strcmp(column->name, "_version") == 0) {
                columns->version = i;

            } else if (ngx_strcmp(column->name, "_edition") == 0) {
                columns->version = i;
                columns->edition = 1;

            } else if (ngx_strcmp(column->name, "_created") == 0) {
                columns->created = i;
            }

            continue;
        }

        columns->first = ngx_min(columns->first, i);

        dot = ngx_strchr(column->name, '.');

        if (dot) {
            column->object = dot - column->name;
            ngx_svc_row_span(columns, i);
        }

        column->write = ngx_svc_row_writer(PQftype(res, i));
    }
}


/* Returns the function that writes a member of a type. */

static ngx_svc_row_write_pt
ngx_svc_row_writer(Oid type)
{
    switch (type) {

    case NGX_SVC_PG_BOOL:
        return ngx_svc_column_boolean;

    case NGX_SVC_PG_INT2:
    case NGX_SVC_PG_INT4:
    case NGX_SVC_PG_INT8:
    case NGX_SVC_PG_FLOAT8:
    case NGX_SVC_PG_NUMERIC:
    case NGX_SVC_PG_JSON:
    case NGX_SVC_PG_JSONB:
        return ngx_svc_column_raw;

    case NGX_SVC_PG_TIMESTAMPTZ:
        return ngx_svc_column_time;

    default:
        return ngx_svc_column_text;
    }
}


/*
 * Column i is of an object: it is either one more column of the object before
 * it, or the first column of a new one.
 */

static void
ngx_svc_row_span(ngx_svc_row_t *columns, int i)
{
    ngx_svc_row_column_t  *first, *column;

    column = &columns->columns[i];

    for (first = column - 1; first >= columns->columns; first--) {
        if (first->span) {
            break;
        }
    }

    if (first >= columns->columns
        && first + first->span == column
        && first->object == column->object
        && ngx_strncmp(first->name, column->name, column->object) == 0)
    {
        first->span++;
        return;
    }

    column->span = 1;

    ngx_cpystrn(column->key, (u_char *) column->name,
                ngx_min(column->object + 1, NGX_SVC_ROW_OBJECT));
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

        if (column->span) {
            ngx_svc_row_nested(w, columns, row, i);
            i += column->span - 1;
            continue;
        }

        column->write(w, column->name, columns->res, row, i);
    }
}


/* Writes the object that begins with column i. */

static void
ngx_svc_row_nested(ngx_svc_json_writer_t *w, const ngx_svc_row_t *columns,
    int row, int i)
{
    int                          end;
    const ngx_svc_row_column_t  *column;

    column = &columns->columns[i];

    if (PQgetisnull(columns->res, row, i)) {
        ngx_svc_json_null(w, (char *) column->key);
        return;
    }

    ngx_svc_json_open(w, (char *) column->key, '{');

    for (end = i + column->span; i < end; i++, column++) {
        column->write(w, column->name + column->object + 1, columns->res, row,
                      i);
    }

    ngx_svc_json_close(w, '}');
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
        if (columns->columns[i].write == ngx_svc_column_raw) {
            size += PQgetlength(columns->res, row, i);
        }
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
    int        column;
    ngx_str_t  none = ngx_null_string;

    column = ngx_svc_row_at(res, row, name);

    return column == -1 ? none : ngx_svc_pg_value(res, row, column);
}


ngx_uint_t
ngx_svc_row_true(PGresult *res, int row, const char *name)
{
    int  column;

    column = ngx_svc_row_at(res, row, name);

    return column != -1 && ngx_svc_pg_true(res, row, column);
}


/* Returns the column's index; -1: the column or the row is not there. */

static int
ngx_svc_row_at(PGresult *res, int row, const char *name)
{
    return row < PQntuples(res) ? ngx_svc_row_find(res, name) : -1;
}


void
ngx_svc_row_copy(ngx_str_t *dst, u_char *text, size_t size,
    const ngx_str_t *value)
{
    dst->data = text;
    dst->len = ngx_min(value->len, size);

    if (dst->len) {
        ngx_memcpy(text, value->data, dst->len);
    }
}
