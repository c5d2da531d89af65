/*
 * An LDAP search filter: an accepted one has its brackets in pairs, and all its
 * marks are found.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_ldap_filter.h"


static void fuzz_pairs(const u_char *p, const u_char *end);
static ngx_uint_t fuzz_marks(const u_char *p, const u_char *end);


static const ngx_str_t  fuzz_mark = ngx_string("{email}");


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t       at;
    u_char      *text;
    ngx_int_t    rc;
    ngx_str_t    filter;
    ngx_uint_t   marks;

    text = malloc(size + 1);
    fuzz_assert(text != NULL);

    ngx_memcpy(text, data, size);

    filter.data = text;
    filter.len = size;

    rc = ngx_svc_ldap_filter_parse(&filter, &fuzz_mark, &marks, &at);

    fuzz_assert(at <= size);

    if (rc == NGX_OK) {
        fuzz_assert(at == size);
        fuzz_assert(marks == fuzz_marks(text, text + size));
        fuzz_pairs(text, text + size);

    } else {
        fuzz_assert(rc == NGX_DECLINED);
    }

    free(text);

    return 0;
}


static void
fuzz_pairs(const u_char *p, const u_char *end)
{
    ngx_uint_t  depth;

    fuzz_assert(*p == '(' && end[-1] == ')');

    for (depth = 0; p < end; p++) {
        fuzz_assert(*p != '\0');

        if (*p == '(') {
            depth++;
            fuzz_assert(depth <= NGX_SVC_LDAP_FILTER_DEPTH);

        } else if (*p == ')') {
            fuzz_assert(depth > 0);
            depth--;
            fuzz_assert(depth > 0 || p + 1 == end);
        }
    }

    fuzz_assert(depth == 0);
}


static ngx_uint_t
fuzz_marks(const u_char *p, const u_char *end)
{
    ngx_uint_t  n;

    for (n = 0; (size_t) (end - p) >= fuzz_mark.len; p++) {
        n += ngx_memcmp(p, fuzz_mark.data, fuzz_mark.len) == 0;
    }

    return n;
}
