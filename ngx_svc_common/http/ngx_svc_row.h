/*
 * Rows of results as JSON objects.
 */

#ifndef _NGX_SVC_ROW_H_INCLUDED_
#define _NGX_SVC_ROW_H_INCLUDED_


#include "ngx_svc_column.h"


#define NGX_SVC_ROW_COLUMNS  48     /* of one result, at most */
#define NGX_SVC_ROW_OBJECT   32     /* bytes of an object's key */


typedef void (*ngx_svc_row_write_pt)(ngx_svc_json_writer_t *w,
    const char *key, PGresult *res, int row, int column);


/* A column of a result, from PostgreSQL's description of the result. */

typedef struct {
    const char           *name;
    size_t                object;   /* bytes of the name before a "." */
    int                   span;     /* columns of the object that begins here */
    u_char                key[NGX_SVC_ROW_OBJECT];      /* of that object */
    ngx_svc_row_write_pt  write;    /* NULL: the column is no member */
} ngx_svc_row_column_t;


/* The columns of a result whose rows are written; the result must live on. */

typedef struct {
    PGresult              *res;
    int                    first;       /* the first one that is a member */
    int                    n;
    int                    version;     /* "_version" or "_edition"; -1: none */
    ngx_uint_t             edition;     /* the version is an "_edition" */
    int                    created;     /* "_created"; -1: there is none */
    ngx_svc_row_column_t   columns[NGX_SVC_ROW_COLUMNS];
} ngx_svc_row_t;


/*
 * Looks at the columns.  Each is a member with its name and of its type; "a.b"
 * is the member "b" of an object "a", which is null when its first column is
 * NULL.  A column whose name begins with "_" is no member.
 */
NGX_SVC_API void ngx_svc_row_init(ngx_svc_row_t *columns, PGresult *res);

/* Writes the members of a row, without the brackets. */
NGX_SVC_API void ngx_svc_row_write(ngx_svc_json_writer_t *w,
    const ngx_svc_row_t *columns, int row);

/* Writes a row as an object in an array, with its brackets. */
NGX_SVC_API void ngx_svc_row_object(ngx_svc_json_writer_t *w,
    const ngx_svc_row_t *columns, int row);

/* Returns about how many bytes of JSON the row takes. */
NGX_SVC_API size_t ngx_svc_row_size(const ngx_svc_row_t *columns, int row);

/* Returns the index of the column with that name; -1: there is none. */
NGX_SVC_API int ngx_svc_row_find(PGresult *res, const char *name);

/*
 * Returns a value of a row by its column's name, as ngx_svc_pg_value() does.  A
 * column or a row that is not there counts as NULL, here and below.
 */
NGX_SVC_API ngx_str_t ngx_svc_row_value(PGresult *res, int row,
    const char *name);

/* Returns 1 if the value is true. */
NGX_SVC_API ngx_uint_t ngx_svc_row_true(PGresult *res, int row,
    const char *name);

/* Copies a value into text, cut at size bytes. */
NGX_SVC_API void ngx_svc_row_copy(ngx_str_t *dst, u_char *text, size_t size,
    const ngx_str_t *value);


#endif /* _NGX_SVC_ROW_H_INCLUDED_ */
