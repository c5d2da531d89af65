/*
 * CBOR (RFC 8949): a guard that admits only what libcbor reads safely.
 *
 * libcbor allocates what a head declares before it looks for it: six bytes cost
 * two gigabytes.  So what comes from outside is walked over here first.
 */

#ifndef _NGX_SVC_CBOR_H_INCLUDED_
#define _NGX_SVC_CBOR_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_CBOR_DEPTH   8          /* nested arrays and maps */

#define NGX_SVC_CBOR_BYTES   2          /* major types: RFC 8949, 3.1 */
#define NGX_SVC_CBOR_TEXT    3
#define NGX_SVC_CBOR_ARRAY   4
#define NGX_SVC_CBOR_MAP     5


typedef struct {
    ngx_uint_t     type;        /* major type */
    uint64_t       value;       /* length, number of elements or pairs, ... */
    const u_char  *data;        /* of bytes and text, else NULL */
} ngx_svc_cbor_t;


/*
 * Reads the head of an item at *p and, of bytes and text, what is in it; *p is
 * then behind that.  Of arrays and maps, whose elements need a byte each, as
 * many must fit before end as the head says.  NGX_OK, or NGX_DECLINED: cut off,
 * of indefinite length, a tag, or of a form that is reserved.
 */
ngx_int_t ngx_svc_cbor_head(const u_char **p, const u_char *end,
    ngx_svc_cbor_t *item);

/*
 * Walks over one whole item at *p.  NGX_OK with *p behind it, or NGX_DECLINED
 * as above, or when it is deeper than NGX_SVC_CBOR_DEPTH.
 */
ngx_int_t ngx_svc_cbor_skip(const u_char **p, const u_char *end);


#endif /* _NGX_SVC_CBOR_H_INCLUDED_ */
