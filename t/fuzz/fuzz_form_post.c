/*
 * A page that posts a form: whatever is in it, it has the same tags, and a
 * second reader finds what has been written.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_oauth_form_post.h"


#define FUZZ_FIELDS  3


static const char *const  fuzz_names[] = { "code", "state", "iss" };


static void fuzz_page(ngx_pool_t *pool, const ngx_str_t *page,
    const ngx_str_t *uri, const ngx_svc_oauth_field_t *fields);
static const u_char *fuzz_attribute(const u_char *p, const u_char *end,
    const char *before, const ngx_str_t *value);
static size_t fuzz_count(const ngx_str_t *page, u_char c);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t                  part;
    u_char                 *copy;
    ngx_str_t               uri, page;
    ngx_pool_t             *pool;
    ngx_uint_t              i;
    ngx_svc_oauth_field_t   fields[FUZZ_FIELDS + 1];

    if (size > 4096) {
        return 0;
    }

    pool = fuzz_pool(1024);

    copy = malloc(size ? size : 1);
    fuzz_assert(copy != NULL);
    memcpy(copy, data, size);

    part = size / (FUZZ_FIELDS + 1);
    uri.data = copy;
    uri.len = part;
    ngx_memzero(fields, sizeof(fields));

    for (i = 0; i < FUZZ_FIELDS; i++) {
        fields[i].name = fuzz_names[i];
        fields[i].value.len = part;

        /* one of them is missing, sometimes */

        if (i || size % 3) {
            fields[i].value.data = copy + (i + 1) * part;
        }
    }

    fuzz_assert(ngx_svc_oauth_form_post(pool, &uri, fields, &page) == NGX_OK);
    fuzz_page(pool, &page, &uri, fields);

    free(copy);
    ngx_destroy_pool(pool);

    return 0;
}


/* A page has the tags and quotes of an empty one, and those of its inputs. */

static void
fuzz_page(ngx_pool_t *pool, const ngx_str_t *page, const ngx_str_t *uri,
    const ngx_svc_oauth_field_t *fields)
{
    char           before[64];
    size_t         inputs;
    ngx_str_t      empty;
    ngx_uint_t     i;
    const u_char  *p, *end;

    static const ngx_str_t              none = ngx_null_string;
    static const ngx_svc_oauth_field_t  nothing = { NULL, ngx_null_string };

    fuzz_assert(ngx_svc_oauth_form_post(pool, &none, &nothing, &empty)
                == NGX_OK);

    p = page->data;
    end = p + page->len;
    inputs = 0;

    p = fuzz_attribute(p, end, "<form method=\"post\" action=\"", uri);

    for (i = 0; fields[i].name; i++) {
        if (fields[i].value.data) {
            sprintf(before, "<input type=\"hidden\" name=\"%s\" value=\"",
                    fields[i].name);
            p = fuzz_attribute(p, end, before, &fields[i].value);
            inputs++;
        }
    }

    fuzz_assert(fuzz_count(page, '<') == fuzz_count(&empty, '<') + inputs);
    fuzz_assert(fuzz_count(page, '>') == fuzz_count(&empty, '>') + inputs);
    fuzz_assert(fuzz_count(page, '"') == fuzz_count(&empty, '"') + 6 * inputs);
    fuzz_assert(fuzz_count(page, 0x27) == fuzz_count(&empty, 0x27));
}


/* Returns the end of an attribute, which has that value. */

static const u_char *
fuzz_attribute(const u_char *p, const u_char *end, const char *before,
    const ngx_str_t *value)
{
    long           c;
    char          *digits;
    size_t         i;

    p = memmem(p, end - p, before, strlen(before));
    fuzz_assert(p != NULL);
    p += strlen(before);

    for (i = 0; i < value->len; i++) {

        if (*p != '&') {
            fuzz_assert(*p == value->data[i]);
            p++;
            continue;
        }

        fuzz_assert(p[1] == '#');
        c = strtol((const char *) p + 2, &digits, 10);
        fuzz_assert(*digits == ';' && c == value->data[i]);
        p = (const u_char *) digits + 1;
    }

    fuzz_assert(*p == '"');

    return p;
}


static size_t
fuzz_count(const ngx_str_t *page, u_char c)
{
    size_t  i, n;

    for (i = 0, n = 0; i < page->len; i++) {
        n += page->data[i] == c;
    }

    return n;
}
