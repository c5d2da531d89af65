/*
 * JSON out: a writer that appends to one growing buffer of a pool.
 */

#ifndef _NGX_SVC_JSON_WRITE_H_INCLUDED_
#define _NGX_SVC_JSON_WRITE_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * The writer puts commas itself: "comma" says that a member or an element has
 * been written at the present level, and a key or an opening bracket clears it.
 * An allocation that fails sets "failed"; all later calls then do nothing, and
 * only the end needs to look.
 */

typedef struct {
    ngx_pool_t  *pool;          /* owns the buffer */
    u_char      *start;
    u_char      *last;
    u_char      *end;
    size_t       secret_at;     /* of ngx_svc_json_secret(), from the start */
    size_t       secret_len;
    unsigned     comma:1;
    unsigned     failed:1;
} ngx_svc_json_writer_t;


/* NGX_OK, or NGX_ERROR when memory runs out.  size: first guess, in bytes. */
NGX_SVC_API ngx_int_t ngx_svc_json_writer_init(ngx_svc_json_writer_t *w,
    ngx_pool_t *pool, size_t size);

/*
 * key: "" or NULL in an array and at the top; else a literal that needs no
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

/* A string known to need no escaping, and a piece of JSON as it is. */
NGX_SVC_API void ngx_svc_json_plain(ngx_svc_json_writer_t *w, const char *key,
    const u_char *data, size_t len);
NGX_SVC_API void ngx_svc_json_raw(ngx_svc_json_writer_t *w, const char *key,
    const u_char *data, size_t len);

/*
 * A member that is shown this once: like ngx_svc_json_plain(), but the writer
 * remembers where it is, with the comma before it.  Not the first member of its
 * object.
 */
NGX_SVC_API void ngx_svc_json_secret(ngx_svc_json_writer_t *w,
    const char *key, const u_char *data, size_t len);

/*
 * A string made of several parts: begin, append any number of times (escaped),
 * end.
 */
NGX_SVC_API void ngx_svc_json_string_begin(ngx_svc_json_writer_t *w,
    const char *key);
NGX_SVC_API void ngx_svc_json_string_append(ngx_svc_json_writer_t *w,
    const u_char *data, size_t len);
NGX_SVC_API void ngx_svc_json_string_end(ngx_svc_json_writer_t *w);


#endif /* _NGX_SVC_JSON_WRITE_H_INCLUDED_ */
