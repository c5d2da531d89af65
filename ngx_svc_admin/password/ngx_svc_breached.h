/*
 * Passwords of data breaches, by their SHA-1, in a file that "svcctl breached
 * build" makes.
 *
 * A header of 64 bytes, all numbers big-endian:
 *
 *     0   8   "svcsha1\n"
 *     8   4   version, 1
 *    12   4   bytes of an entry, 8
 *    16   8   number of entries
 *    24   8   zero
 *    32  32   SHA-256 of the bytes behind the header
 *
 * and the entries: the first 8 bytes of each SHA-1, ascending, none twice.
 */

#ifndef _NGX_SVC_BREACHED_H_INCLUDED_
#define _NGX_SVC_BREACHED_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_BREACHED_HEADER  64     /* bytes */
#define NGX_SVC_BREACHED_ENTRY   8


/*
 * A mapped file.  It belongs to the cycle, whose end unmaps it; any thread may
 * read it, as nobody writes it.
 */

typedef struct ngx_svc_breached_s {
    const u_char  *entries;
    uint64_t       n;
} ngx_svc_breached_t;


/*
 * Sets *breached to the size bytes of a file, of which only the header is read:
 * the order of the entries and their SHA-256 are not checked.  The bytes stay
 * the caller's.  Returns NGX_OK; NGX_DECLINED when it is no such file, with
 * *why, a static text that ends a sentence which begins with the file's name.
 */
ngx_int_t ngx_svc_breached_init(ngx_svc_breached_t *breached,
    const u_char *file, uint64_t size, const char **why);

/*
 * Returns 1 when the password is in the file.  For a thread: it may wait for
 * the disk, for few pages, and neither allocates nor fails.  If the file is not
 * in order the answer may be wrong.
 */
ngx_uint_t ngx_svc_breached_password(const ngx_svc_breached_t *breached,
    const ngx_str_t *password);

/* Does the same for the first 8 bytes of a SHA-1, as a number. */
ngx_uint_t ngx_svc_breached_find(const ngx_svc_breached_t *breached,
    uint64_t prefix);


#endif /* _NGX_SVC_BREACHED_H_INCLUDED_ */
