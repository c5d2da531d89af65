/*
 * Host names: an accepted one consists of A-labels, and is its own normal form.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_domain.h"


static void fuzz_name(const u_char *name, size_t len);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char       name[NGX_SVC_DOMAIN_MAX], again[NGX_SVC_DOMAIN_MAX];
    size_t       len, again_len;
    ngx_int_t    rc;
    ngx_str_t    text;
    const char  *why;

    text.data = (u_char *) data;
    text.len = size;

    rc = ngx_svc_domain_parse(&text, name, &len, &why);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED && why != NULL);
        return 0;
    }

    fuzz_name(name, len);

    text.data = name;
    text.len = len;

    fuzz_assert(ngx_svc_domain_parse(&text, again, &again_len, &why)
                == NGX_OK);
    fuzz_assert(again_len == len && memcmp(name, again, len) == 0);

    return 0;
}


static void
fuzz_name(const u_char *name, size_t len)
{
    size_t      i;
    ngx_uint_t  dots, last;

    fuzz_assert(len >= 3 && len <= NGX_SVC_DOMAIN_MAX);

    dots = 0;
    last = '.';

    for (i = 0; i < len; i++) {

        if (name[i] == '.') {
            fuzz_assert(last != '.' && last != '-');
            dots++;

        } else {
            fuzz_assert((name[i] >= 'a' && name[i] <= 'z')
                        || (name[i] >= '0' && name[i] <= '9')
                        || (name[i] == '-' && last != '.'));
        }

        last = name[i];
    }

    fuzz_assert(dots && last != '.' && last != '-');
}
