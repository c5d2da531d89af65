/*
 * Rows of results as JSON objects.
 */

#ifndef _NGX_SVC_ROW_H_INCLUDED_
#define _NGX_SVC_ROW_H_INCLUDED_


#include "ngx_svc_column.h"


#define NGX_SVC_ROW_COLUMNS  40     /* of one result, at most */
#define NGX_SVC_ROW_OBJECT   32     /* bytes of an object's key */


typedef void (*ngx_svc_row_write_pt)(ngx_svc_json_writer_t *w,
    const char *key, PGresult *res, int row, int column);


/* A column of a result, as of PostgreSQL's description of it. */

typedef struct {
    const char           *name;
    size_t                object;   /* bytes of it before a "." */
    int                   span;     /* columns of the object that begins here */
    u_char                key[NGX_SVC_ROW_OBJECT];      /* of that */
    ngx_svc_row_write_pt  write;    /* NULL: it is no member */
} ngx_svc_row_column_t;


/* The columns of a result whose rows are written; lives as long as it. */

typedef struct {
    PGresult              *res;
    int                    first;       /* that is a member */
    int                    n;
    int                    version;     /* "_version"; -1: there is none */
    int                    created;     /* "_created" */
    ngx_svc_row_column_t   columns[NGX_SVC_ROW_COLUMNS];
} ngx_svc_row_t;


/*
 * Looks at the columns: each is a member of its name and of its type, "a.b" one
 * of an object, which is null when its first one is NULL; those whose name
 * begins with "_" are none.
 */
NGX_SVC_API void ngx_svc_row_init(ngx_svc_row_t *columns, PGresult *res);

/* Writes the members of a row, without the brackets. */
NGX_SVC_API void ngx_svc_row_write(ngx_svc_json_writer_t *w,
    const ngx_svc_row_t *columns, int row);

/* With them: an element of an array. */
NGX_SVC_API void ngx_svc_row_object(ngx_svc_json_writer_t *w,
    const ngx_svc_row_t *columns, int row);

/* About as many bytes as that takes; of what is not JSON a guess. */
NGX_SVC_API size_t ngx_svc_row_size(const ngx_svc_row_t *columns, int row);

/* The number of the column with this name; -1: there is none. */
NGX_SVC_API int ngx_svc_row_find(PGresult *res, const char *name);

/*
 * Its value, as of ngx_svc_pg_value(); what is not there, the column or the
 * row, is as NULL, here and below.
 */
NGX_SVC_API ngx_str_t ngx_svc_row_value(PGresult *res, int row,
    const char *name);

/* 1: it is true. */
NGX_SVC_API ngx_uint_t ngx_svc_row_true(PGresult *res, int row,
    const char *name);

/* A copy of it in text, cut at size. */
NGX_SVC_API void ngx_svc_row_copy(ngx_str_t *dst, u_char *text, size_t size,
    PGresult *res, int row, const char *name);


#endif /* _NGX_SVC_ROW_H_INCLUDED_ */
