/*
 * For tests and fuzzers of breached passwords: files of these, in memory.
 */

#ifndef _NGX_UNIT_BREACHED_H_INCLUDED_
#define _NGX_UNIT_BREACHED_H_INCLUDED_


#include "ngx_svc_breached.h"


static inline void
ngx_unit_breached_number(u_char *p, uint64_t n, ngx_uint_t bytes)
{
    while (bytes) {
        p[--bytes] = (u_char) n;
        n >>= 8;
    }
}


/*
 * Returns the bytes of a file of n entries, to be filled, and freed by free().
 */

static inline u_char *
ngx_unit_breached_file(uint64_t n)
{
    u_char  *file;

    file = calloc(NGX_SVC_BREACHED_HEADER + n * NGX_SVC_BREACHED_ENTRY, 1);

    if (file != NULL) {
        ngx_memcpy(file, "svcsha1\n", 8);
        ngx_unit_breached_number(file + 8, 1, 4);
        ngx_unit_breached_number(file + 12, NGX_SVC_BREACHED_ENTRY, 4);
        ngx_unit_breached_number(file + 16, n, 8);
    }

    return file;
}


static inline void
ngx_unit_breached_entry(u_char *file, uint64_t i, uint64_t prefix)
{
    ngx_unit_breached_number(file + NGX_SVC_BREACHED_HEADER
                             + i * NGX_SVC_BREACHED_ENTRY, prefix, 8);
}


#endif /* _NGX_UNIT_BREACHED_H_INCLUDED_ */
