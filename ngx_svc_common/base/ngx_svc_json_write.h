/*
 * A writer of JSON, which appends to one growing buffer of a pool.
 */

#ifndef _NGX_SVC_JSON_WRITE_H_INCLUDED_
#define _NGX_SVC_JSON_WRITE_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * The writer writes the commas: "comma" is set when a member or an element has
 * been written at the present level, and a key or an opening bracket clears it.
 * When an allocation fails, "failed" is set, and all later calls do nothing, so
 * the caller needs to check it only at the end.
 */

typedef struct {
    ngx_pool_t  *pool;          /* owns the buffer */
    u_char      *start;
    u_char      *last;
    u_char      *end;
    size_t       secret_at;     /* where ngx_svc_json_secret() has written,
                                   from the start */
    size_t       secret_len;
    unsigned     comma:1;
    unsigned     failed:1;
} ngx_svc_json_writer_t;


/*
 * Initializes a writer.  size: a first guess, in bytes.  Returns NGX_OK, or
 * NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_json_writer_init(ngx_svc_json_writer_t *w,
    ngx_pool_t *pool, size_t size);

/*
 * key: "" or NULL in an array and at the top; otherwise a literal that needs no
 * escaping.
 */
NGX_SVC_API void ngx_svc_json_open(ngx_svc_json_writer_t *w, const char *key,
    u_char bracket);                                     /* '{' or '[' */
NGX_SVC_API void ngx_svc_json_close(ngx_svc_json_writer_t *w,
    u_char bracket);                                     /* '}' or ']' */
NGX_SVC_API void ngx_svc_json_string(ngx_svc_json_writer_t *w,
    const char *key, const u_char *data, size_t len);    /* valid UTF-8 */
NGX_SVC_API void ngx_svc_json_integer(ngx_svc_json_writer_t *w,
    const char *key, int64_t n);
NGX_SVC_API void ngx_svc_json_boolean(ngx_svc_json_writer_t *w,
    const char *key, ngx_uint_t b);
NGX_SVC_API void ngx_svc_json_null(ngx_svc_json_writer_t *w, const char *key);

/* Writes a string that needs no escaping. */
NGX_SVC_API void ngx_svc_json_plain(ngx_svc_json_writer_t *w, const char *key,
    const u_char *data, size_t len);

/* Writes a piece of JSON as it is. */
NGX_SVC_API void ngx_svc_json_raw(ngx_svc_json_writer_t *w, const char *key,
    const u_char *data, size_t len);

/*
 * Writes a secret that only this answer shows, as ngx_svc_json_plain() does.
 * The writer remembers where the member is, with the comma before it, so it
 * must not be the first member of its object.
 */
NGX_SVC_API void ngx_svc_json_secret(ngx_svc_json_writer_t *w,
    const char *key, const u_char *data, size_t len);

/*
 * These write a string in parts: begin it, append any number of parts, which
 * are escaped, and end it.
 */
NGX_SVC_API void ngx_svc_json_string_begin(ngx_svc_json_writer_t *w,
    const char *key);
NGX_SVC_API void ngx_svc_json_string_append(ngx_svc_json_writer_t *w,
    const u_char *data, size_t len);
NGX_SVC_API void ngx_svc_json_string_end(ngx_svc_json_writer_t *w);


#endif /* _NGX_SVC_JSON_WRITE_H_INCLUDED_ */
