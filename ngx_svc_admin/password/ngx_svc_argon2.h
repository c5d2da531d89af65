/*
 * Argon2 (RFC 9106), in the caller's thread.
 */

#ifndef _NGX_SVC_ARGON2_H_INCLUDED_
#define _NGX_SVC_ARGON2_H_INCLUDED_


#include "ngx_svc_common.h"

#include <argon2.h>


/* The parameters, of version 0x13, without secret and associated data. */

typedef struct {
    argon2_type    type;        /* Argon2_id, Argon2_i */
    uint32_t       memory;      /* KiB */
    uint32_t       iterations;
    uint32_t       lanes;
    const u_char  *salt;
    size_t         salt_len;    /* at least 8 */
} ngx_svc_argon2_t;


/*
 * Computes a hash: writes tag_len bytes.  Returns NGX_OK; NGX_ERROR when there
 * is no memory, or the parameters are beyond Argon2's limits.  Its memory is
 * given back to the system before it returns, unless it is kept.  May be called
 * in a thread.
 */
ngx_int_t ngx_svc_argon2(const ngx_svc_argon2_t *params,
    const u_char *password, size_t len, u_char *tag, size_t tag_len);

/* Lets up to n blocks of memory be kept for the next hashes from now on. */
void ngx_svc_argon2_keep(ngx_uint_t n);

/* Gives the blocks that are kept back to the system. */
void ngx_svc_argon2_drop(void);


#endif /* _NGX_SVC_ARGON2_H_INCLUDED_ */
