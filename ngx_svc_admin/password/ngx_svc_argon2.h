/*
 * Argon2 (RFC 9106), in the thread of its caller.
 */

#ifndef _NGX_SVC_ARGON2_H_INCLUDED_
#define _NGX_SVC_ARGON2_H_INCLUDED_


#include "ngx_svc_common.h"

#include <argon2.h>


/* Version 0x13, without secret and associated data. */

typedef struct {
    argon2_type    type;        /* Argon2_id, Argon2_i */
    uint32_t       memory;      /* KiB */
    uint32_t       iterations;
    uint32_t       lanes;
    const u_char  *salt;
    size_t         salt_len;    /* at least 8 */
} ngx_svc_argon2_t;


/*
 * Writes tag_len bytes.  NGX_OK; or NGX_ERROR: there is no memory, or the
 * parameters are beyond what Argon2 has.  The memory is the system's again when
 * it returns, unless it is kept.  May be called in a thread.
 */
ngx_int_t ngx_svc_argon2(const ngx_svc_argon2_t *params,
    const u_char *password, size_t len, u_char *tag, size_t tag_len);

/* From now on so many blocks of memory may be kept for hashes that are next. */
void ngx_svc_argon2_keep(ngx_uint_t n);

/* All that is kept is the system's again. */
void ngx_svc_argon2_drop(void);


#endif /* _NGX_SVC_ARGON2_H_INCLUDED_ */
