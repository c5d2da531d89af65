/*
 * Paths of PATCH operations, and lists of attributes.
 */

#include "ngx_fuzz_scim.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_known.h"
#include "ngx_svc_scim_path.h"


static void fuzz_case(const uint8_t *data, size_t size, ngx_int_t rc,
    ngx_uint_t bits);
static void fuzz_urn(const uint8_t *data, size_t size, ngx_int_t rc,
    ngx_uint_t bits);
static void fuzz_projection(const uint8_t *data, size_t size, ngx_int_t rc,
    ngx_uint_t bits);

static void fuzz_known(const uint8_t *data, size_t size, ngx_int_t rc,
    ngx_uint_t bits);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_int_t   rc;
    ngx_uint_t  bits;

    rc = ngx_svc_scim_path_parse(data, size, &bits);

    fuzz_assert(rc == NGX_OK || rc == NGX_DECLINED || rc == NGX_ERROR);
    fuzz_assert((rc == NGX_OK) == (bits != 0));
    fuzz_assert((bits & ~(NGX_SVC_SCIM_CORE|NGX_SVC_SCIM_ENTERPRISE)) == 0);

    fuzz_case(data, size, rc, bits);
    fuzz_urn(data, size, rc, bits);
    fuzz_projection(data, size, rc, bits);
    fuzz_known(data, size, rc, bits);

    return 0;
}


/* Names are the same in any case; a quoted string may have escapes. */

static void
fuzz_case(const uint8_t *data, size_t size, ngx_int_t rc, ngx_uint_t bits)
{
    size_t       i;
    u_char      *text;
    ngx_uint_t   other;

    if (size == 0 || memchr(data, '"', size)) {
        return;
    }

    text = malloc(size);
    fuzz_assert(text != NULL);

    for (i = 0; i < size; i++) {
        text[i] = ngx_toupper(data[i]);
    }

    fuzz_assert(ngx_svc_scim_path_parse(text, size, &other) == rc);
    fuzz_assert(other == bits);

    free(text);
}


/* The core URN before a name without one changes nothing. */

static void
fuzz_urn(const uint8_t *data, size_t size, ngx_int_t rc, ngx_uint_t bits)
{
    u_char      *text, *p;
    ngx_uint_t   other;

    if (size == 0 || memchr(data, ':', size)) {
        return;
    }

    text = malloc(sizeof(NGX_SVC_SCIM_CORE_URN) + size);
    fuzz_assert(text != NULL);

    p = ngx_cpymem(text, NGX_SVC_SCIM_CORE_URN ":",
                   sizeof(NGX_SVC_SCIM_CORE_URN ":") - 1);
    p = ngx_cpymem(p, data, size);

    fuzz_assert(ngx_svc_scim_path_parse(text, p - text, &other) == rc);
    fuzz_assert(other == bits);

    free(text);
}


static void
fuzz_projection(const uint8_t *data, size_t size, ngx_int_t rc,
    ngx_uint_t bits)
{
    ngx_str_t   names;
    ngx_uint_t  mask, parts, rest;

    names.data = (u_char *) data;
    names.len = size;

    mask = ngx_svc_scim_projection(&names, NULL);
    rest = ngx_svc_scim_projection(NULL, &names);

    fuzz_assert((mask & NGX_SVC_SCIM_ALWAYS) == NGX_SVC_SCIM_ALWAYS);
    fuzz_assert((rest & NGX_SVC_SCIM_ALWAYS) == NGX_SVC_SCIM_ALWAYS);
    fuzz_assert((mask | rest) == NGX_SVC_SCIM_SHOWN);

    if (size) {
        fuzz_assert((mask & rest) == NGX_SVC_SCIM_ALWAYS);
    }

    if (rc != NGX_OK) {
        return;
    }

    if (bits == NGX_SVC_SCIM_EMAILS || bits == NGX_SVC_SCIM_META) {

        /* the path means the whole; a projection its parts, or some of them */

        parts = (bits == NGX_SVC_SCIM_META) ? NGX_SVC_SCIM_META_PARTS
                                            : NGX_SVC_SCIM_EMAIL_PARTS;

        fuzz_assert((mask & ~parts) == NGX_SVC_SCIM_ALWAYS);

    } else if (bits == NGX_SVC_SCIM_CORE) {
        fuzz_assert(mask == NGX_SVC_SCIM_SHOWN);

    } else {
        fuzz_assert(mask == ((bits & NGX_SVC_SCIM_SHOWN)
                             | NGX_SVC_SCIM_ALWAYS));
    }
}


/* What is stored is known, except "x.y" of an attribute without such a part. */

static void
fuzz_known(const uint8_t *data, size_t size, ngx_int_t rc, ngx_uint_t bits)
{
    ngx_uint_t  flags;

    if (rc == NGX_ERROR || bits & ~NGX_SVC_SCIM_ALL
        || bits == NGX_SVC_SCIM_META || bits == NGX_SVC_SCIM_EMAILS)
    {
        if (rc != NGX_ERROR) {
            (void) ngx_svc_scim_known(data, size, &flags);
        }

        return;
    }

    if (ngx_svc_scim_known(data, size, &flags) != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED);
    }
}
