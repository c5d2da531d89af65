/*
 * CBOR (RFC 8949): a guard that admits only data that libcbor reads safely.
 *
 * libcbor allocates the length that a head declares before it looks whether the
 * bytes are there: six bytes cost two gigabytes.  So data from outside is
 * walked through here first.
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
    const u_char  *data;        /* of bytes and text; else NULL */
} ngx_svc_cbor_t;


/*
 * Reads the head of an item at *p and, for bytes and text, the content; *p is
 * then behind these.  The elements of arrays and maps need a byte each: as many
 * as the head says must fit before end.  Returns NGX_OK; NGX_DECLINED when the
 * item is cut off, of indefinite length, a tag, or of a reserved form.
 */
ngx_int_t ngx_svc_cbor_head(const u_char **p, const u_char *end,
    ngx_svc_cbor_t *item);

/*
 * Walks over one whole item at *p.  Returns NGX_OK, with *p behind it;
 * NGX_DECLINED as above, or when it is deeper than NGX_SVC_CBOR_DEPTH.
 */
ngx_int_t ngx_svc_cbor_skip(const u_char **p, const u_char *end);


#endif /* _NGX_SVC_CBOR_H_INCLUDED_ */
