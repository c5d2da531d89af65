/*
 * Arrays of texts, as PostgreSQL writes and reads them: "{a,"b c",NULL}".
 */

#ifndef _NGX_SVC_PG_ARRAY_H_INCLUDED_
#define _NGX_SVC_PG_ARRAY_H_INCLUDED_


#include "ngx_svc_common.h"


typedef struct {
    ngx_str_t   *elts;
    ngx_uint_t   n;
} ngx_svc_pg_array_t;


/*
 * Reads an array of one dimension, of which no element is NULL; no data is an
 * array without elements.  They are of the pool, and copies.  NGX_OK;
 * NGX_DECLINED: it is none; NGX_ERROR: memory.
 */
NGX_SVC_API ngx_int_t ngx_svc_pg_array_read(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_svc_pg_array_t *array);

/* 1: one of the elements is this. */
NGX_SVC_API ngx_uint_t ngx_svc_pg_array_has(const ngx_svc_pg_array_t *array,
    const ngx_str_t *value);

/*
 * Joins the elements by spaces, in *text, of the pool; of none it is "".
 * NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_pg_array_join(ngx_pool_t *pool,
    const ngx_svc_pg_array_t *array, ngx_str_t *text);

/*
 * Writes the next element, behind a "{" or another element: NULL when it has no
 * data.  p has room for ngx_svc_pg_array_len() bytes.  Returns what follows it.
 */
#define ngx_svc_pg_array_len(value)  (2 * (value)->len + sizeof(",NULL"))

NGX_SVC_API u_char *ngx_svc_pg_array_add(u_char *p, const ngx_str_t *value);


#endif /* _NGX_SVC_PG_ARRAY_H_INCLUDED_ */
