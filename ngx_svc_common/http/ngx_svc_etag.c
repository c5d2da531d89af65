/*
 * Entity tags (RFC 9110, 8.8.3); all of them are strong, but for SCIM's.  The
 * tag of what an administrator changes is the time of the last change, which
 * each change moves.  The tag of what the public reads is a digest.
 */

#include "ngx_svc_etag.h"
#include "ngx_svc_send.h"


#define NGX_SVC_ETAG_LEN  16      /* hex digits of a digest */


static u_char *ngx_svc_etag_next(u_char *p, u_char *end, ngx_str_t *version);


/* Keeps the versions of those tags that may be ours. */

ngx_int_t
ngx_svc_if_match(ngx_svc_request_t *sr, ngx_str_t *versions)
{
    u_char           *p, *end, *dst;
    ngx_str_t         version;
    ngx_table_elt_t  *h;

    ngx_str_null(versions);

    h = sr->request->headers_in.if_match;

    if (h == NULL || (h->value.len == 1 && h->value.data[0] == '*')) {
        return NGX_OK;
    }

    dst = ngx_pnalloc(sr->request->pool, h->value.len + sizeof("{}"));
    if (dst == NULL) {
        return NGX_ERROR;
    }

    versions->data = dst;
    *dst++ = '{';

    p = h->value.data;
    end = p + h->value.len;

    while (p < end) {
        p = ngx_svc_etag_next(p, end, &version);

        if (version.len == 0) {
            continue;
        }

        if (dst[-1] != '{') {
            *dst++ = ',';
        }

        dst = ngx_cpymem(dst, version.data, version.len);
    }

    *dst++ = '}';
    versions->len = dst - versions->data;

    return NGX_OK;
}


/*
 * Reads the next tag; version is empty when the tag is none of ours.  Returns
 * what follows it.
 */

static u_char *
ngx_svc_etag_next(u_char *p, u_char *end, ngx_str_t *version)
{
    u_char      *start;
    ngx_uint_t   ours;

    version->len = 0;

    while (p < end && (*p == ' ' || *p == '\t' || *p == ',')) {
        p++;
    }

    if (end - p > 2 && p[0] == 'W' && p[1] == '/') {
        p += 2;
    }

    ours = (p < end && *p == '"');

    while (p < end && *p != '"') {
        p++;
    }

    start = ++p;

    for ( /* void */ ; p < end && *p != '"'; p++) {
        if (*p < '0' || *p > '9') {
            ours = 0;
        }
    }

    if (p < end && ours) {
        version->data = start;
        version->len = p - start;
    }

    return p + 1;
}


ngx_int_t
ngx_svc_etag(ngx_svc_request_t *sr, PGresult *res, int row, int column)
{
    u_char     *p;
    ngx_str_t   version, value;

    version = ngx_svc_pg_value(res, row, column);

    p = ngx_pnalloc(sr->request->pool, version.len + 2);
    if (p == NULL) {
        return NGX_ERROR;
    }

    value.data = p;
    value.len = ngx_sprintf(p, "\"%V\"", &version) - p;

#if (NGX_HTTP_GZIP)

    /* nginx weakens the tag of what it compresses */

    sr->request->gzip_tested = 1;
    sr->request->gzip_ok = 0;
#endif

    return ngx_svc_send_etag(sr, &value);
}


ngx_int_t
ngx_svc_etag_digest(ngx_svc_request_t *sr, ngx_str_t *body,
    ngx_str_t *etag)
{
    u_char  *p, hash[NGX_SVC_SHA256_LEN];

    p = ngx_pnalloc(sr->request->pool, NGX_SVC_ETAG_LEN + 2);

    if (p == NULL
        || ngx_svc_sha256(body->data, body->len, hash) != NGX_OK)
    {
        return NGX_ERROR;
    }

    etag->data = p;
    etag->len = NGX_SVC_ETAG_LEN + 2;

    *p++ = '"';
    p = ngx_hex_dump(p, hash, NGX_SVC_ETAG_LEN / 2);
    *p = '"';

    return NGX_OK;
}
