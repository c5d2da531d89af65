/*
 * URLs of other servers, as they are configured.
 */

#ifndef _NGX_SVC_URL_H_INCLUDED_
#define _NGX_SVC_URL_H_INCLUDED_


#include "ngx_svc_schema.h"


#define NGX_SVC_URL_MAX  2048       /* bytes */


/* Parts of a text, which they point into. */

typedef struct {
    ngx_str_t  scheme;
    ngx_str_t  host;                /* of IPv6 without brackets */
    ngx_str_t  port;                /* empty: there is none */
    ngx_str_t  rest;                /* "/path?query", or empty */
} ngx_svc_url_t;


/*
 * scheme "://" host [ ":" port ] [ path ] [ "?" query ], of RFC 3986: no user,
 * no fragment.  NGX_OK, or NGX_DECLINED.
 */
ngx_int_t ngx_svc_url_split(const ngx_str_t *text, ngx_svc_url_t *url);

/* 1: the scheme is that, in any case; what: in lower case. */
ngx_uint_t ngx_svc_url_scheme(const ngx_svc_url_t *url, const char *what);

/* 1: the host is 127.0.0.1, ::1 or localhost, in lower case. */
ngx_uint_t ngx_svc_url_local(const ngx_svc_url_t *url);

/* The check of a member that is such a URL, of "https". */
ngx_int_t ngx_svc_url_https(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#endif /* _NGX_SVC_URL_H_INCLUDED_ */
