/*
 * URLs of other servers, as they are configured.
 */

#ifndef _NGX_SVC_URL_H_INCLUDED_
#define _NGX_SVC_URL_H_INCLUDED_


#include "ngx_svc_schema.h"


#define NGX_SVC_URL_MAX  2048       /* bytes */


/* The parts of a URL; all point into its text. */

typedef struct {
    ngx_str_t  scheme;
    ngx_str_t  host;                /* IPv6 without brackets */
    ngx_str_t  port;                /* empty: there is none */
    ngx_str_t  rest;                /* "/path?query", or empty */
} ngx_svc_url_t;


/*
 * Splits scheme "://" host [ ":" port ] [ path ] [ "?" query ] of RFC 3986,
 * with no user and no fragment.  Returns NGX_OK or NGX_DECLINED.
 */
ngx_int_t ngx_svc_url_split(const ngx_str_t *text, ngx_svc_url_t *url);

/* Returns 1 when the scheme is what, which is in lower case. */
ngx_uint_t ngx_svc_url_scheme(const ngx_svc_url_t *url, const char *what);

/* Returns 1 when the host is 127.0.0.1, ::1 or localhost, in lower case. */
ngx_uint_t ngx_svc_url_local(const ngx_svc_url_t *url);

/* Checks a member that must be an "https" URL. */
ngx_int_t ngx_svc_url_https(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#endif /* _NGX_SVC_URL_H_INCLUDED_ */
