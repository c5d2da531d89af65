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
 * Reads an array of one dimension without NULLs; a text without data is an
 * empty array.  The elements are copies, of the pool.  Returns NGX_OK;
 * NGX_DECLINED when the text is no such array; or NGX_ERROR when memory runs
 * out.
 */
NGX_SVC_API ngx_int_t ngx_svc_pg_array_read(ngx_pool_t *pool,
    const ngx_str_t *text, ngx_svc_pg_array_t *array);

/* Returns 1 if one of the elements is this value. */
NGX_SVC_API ngx_uint_t ngx_svc_pg_array_has(const ngx_svc_pg_array_t *array,
    const ngx_str_t *value);

/*
 * Joins the elements by spaces in *text, which is of the pool; an empty array
 * gives "".  Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_pg_array_join(ngx_pool_t *pool,
    const ngx_svc_pg_array_t *array, ngx_str_t *text);

/*
 * Writes the next element after a "{" or another element; a value without data
 * is NULL.  p has room for ngx_svc_pg_array_len() bytes.  Returns what follows
 * the element.
 */
#define ngx_svc_pg_array_len(value)  (2 * (value)->len + sizeof(",NULL"))

NGX_SVC_API u_char *ngx_svc_pg_array_add(u_char *p, const ngx_str_t *value);


#endif /* _NGX_SVC_PG_ARRAY_H_INCLUDED_ */
