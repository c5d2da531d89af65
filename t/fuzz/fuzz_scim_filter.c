/*
 * The filter of GET /Users.
 */

#include "ngx_fuzz_scim.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_text.h"


static void fuzz_again(ngx_svc_scim_filter_t *filter);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char                 *buf;
    ngx_int_t               rc;
    const u_char           *p, *end;
    ngx_svc_scim_filter_t   filter;

    buf = malloc(size);
    fuzz_assert(buf != NULL || size == 0);

    rc = ngx_svc_scim_filter_parse(data, size, buf, &filter);

    if (rc == NGX_OK) {

        fuzz_assert(filter.attribute != NGX_SVC_SCIM_FILTER_NONE);
        fuzz_assert(filter.value.len + sizeof("userName eq \"\"") - 1
                    <= size);

        p = filter.value.data;
        end = p + filter.value.len;

        while (p < end) {
            fuzz_assert(ngx_svc_scim_decode(&p, end) != 0);
        }

        fuzz_again(&filter);

    } else {
        fuzz_assert(rc == NGX_DECLINED);
        fuzz_assert(filter.attribute == NGX_SVC_SCIM_FILTER_NONE);
        fuzz_assert(filter.value.len == 0);
    }

    free(buf);

    return 0;
}


/* The same value in its simplest spelling is read as the same. */

static void
fuzz_again(ngx_svc_scim_filter_t *filter)
{
    size_t                  i;
    u_char                 *text, *buf, *p, c;
    ngx_svc_scim_filter_t   again;

    text = malloc(32 + filter->value.len * 6);
    fuzz_assert(text != NULL);

    p = ngx_sprintf(text, "externalID EQ \"");

    for (i = 0; i < filter->value.len; i++) {

        c = filter->value.data[i];

        if (c < 0x20 || c == '"' || c == '\\') {
            p = ngx_sprintf(p, "\\u%04xd", c);

        } else {
            *p++ = c;
        }
    }

    *p++ = '"';

    buf = malloc(p - text);
    fuzz_assert(buf != NULL);

    fuzz_assert(ngx_svc_scim_filter_parse(text, p - text, buf, &again)
                == NGX_OK);
    fuzz_assert(again.attribute == NGX_SVC_SCIM_FILTER_EXTERNAL_ID);
    fuzz_assert(again.value.len == filter->value.len);
    fuzz_assert(memcmp(again.value.data, filter->value.data,
                       again.value.len) == 0);

    free(buf);
    free(text);
}
