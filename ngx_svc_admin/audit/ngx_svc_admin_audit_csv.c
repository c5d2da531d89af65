/*
 * Events as CSV (RFC 4180).
 */

#include "ngx_svc_admin_audit.h"
#include "ngx_svc_time.h"


#define NGX_SVC_ADMIN_CSV_CELL  (sizeof("'\"\",") - 1)


static u_char *ngx_svc_admin_csv_line(u_char *p, PGresult *res, int row,
    int created);
static u_char *ngx_svc_admin_csv_cell(u_char *p, ngx_str_t *cell);


#define NGX_SVC_ADMIN_CSV_FIRST(sql, json, csv)  csv
#define NGX_SVC_ADMIN_CSV_NEXT(sql, json, csv)   "," csv

const ngx_str_t  ngx_svc_admin_audit_csv_header = ngx_string(
    NGX_SVC_ADMIN_AUDIT_EVENT(NGX_SVC_ADMIN_CSV_FIRST, NGX_SVC_ADMIN_CSV_NEXT)
    CRLF);


/* Every character may be a quote, which is doubled. */

size_t
ngx_svc_admin_audit_csv_size(PGresult *res)
{
    int     i, row, columns, rows;
    size_t  size;

    rows = PQntuples(res);
    columns = PQnfields(res);

    size = rows * (NGX_SVC_TIME_LEN + sizeof(CRLF) - 1
                   + columns * NGX_SVC_ADMIN_CSV_CELL);

    for (row = 0; row < rows; row++) {
        for (i = 0; i < columns; i++) {
            size += 2 * PQgetlength(res, row, i);
        }
    }

    return size;
}


u_char *
ngx_svc_admin_audit_csv(u_char *p, PGresult *res)
{
    int  row, rows, created;

    rows = PQntuples(res);
    created = ngx_svc_row_find(res, "createdAt");

    for (row = 0; row < rows; row++) {
        p = ngx_svc_admin_csv_line(p, res, row, created);
    }

    return p;
}


/* created: the column that is a time. */

static u_char *
ngx_svc_admin_csv_line(u_char *p, PGresult *res, int row, int created)
{
    int        i, n;
    u_char     text[NGX_SVC_TIME_LEN];
    ngx_str_t  cell;

    n = PQnfields(res);

    for (i = 0; i < n; i++) {

        cell = ngx_svc_pg_value(res, row, i);

        if (i == created) {
            ngx_svc_time_text(text, &cell);
            cell.data = text;
            cell.len = NGX_SVC_TIME_LEN;
        }

        if (i) {
            *p++ = ',';
        }

        p = ngx_svc_admin_csv_cell(p, &cell);
    }

    *p++ = CR;
    *p++ = LF;

    return p;
}


/*
 * Some cells would be formulas to a spreadsheet: an apostrophe in front
 * prevents that.
 */

static u_char *
ngx_svc_admin_csv_cell(u_char *p, ngx_str_t *cell)
{
    size_t      i;
    u_char      c;
    ngx_uint_t  quote;

    if (cell->len == 0) {
        return p;
    }

    quote = 0;

    for (i = 0; i < cell->len; i++) {
        c = cell->data[i];

        if (c == '"' || c == ',' || c == CR || c == LF) {
            quote = 1;
            break;
        }
    }

    if (quote) {
        *p++ = '"';
    }

    c = cell->data[0];

    if (c == '=' || c == '+' || c == '-' || c == '@' || c == '|' || c == '%'
        || c == '\t' || c == CR)
    {
        *p++ = '\'';
    }

    if (!quote) {
        return ngx_cpymem(p, cell->data, cell->len);
    }

    for (i = 0; i < cell->len; i++) {

        if (cell->data[i] == '"') {
            *p++ = '"';
        }

        *p++ = cell->data[i];
    }

    *p++ = '"';

    return p;
}
