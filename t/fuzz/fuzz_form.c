/*
 * Forms: the parameters are those that a second reader finds, in the same order
 * for each name.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_form.h"
#include "ngx_svc_utf8.h"


#define FUZZ_PAIRS  256


typedef struct {
    char    name[1024];
    char    value[1024];
} fuzz_pair_t;


static fuzz_pair_t  fuzz_pairs[FUZZ_PAIRS];


static int fuzz_read(const uint8_t *data, size_t size);
static int fuzz_part(const uint8_t *data, size_t size, char *out);
static void fuzz_compare(const ngx_svc_form_t *form, int n);
static void fuzz_twice(const ngx_svc_form_t *form, int n);
static void fuzz_detail(const ngx_svc_error_t *err);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int               n;
    ngx_int_t         rc;
    ngx_str_t         text;
    ngx_pool_t       *pool;
    ngx_svc_form_t    form;
    ngx_svc_error_t   err;

    if (size >= 1024) {
        return 0;
    }

    pool = fuzz_pool(1024);

    text.data = malloc(size ? size : 1);
    fuzz_assert(text.data != NULL);

    memcpy(text.data, data, size);
    text.len = size;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_form_parse(pool, &text, &form, &err);

    fuzz_assert(memcmp(text.data, data, size) == 0);
    free(text.data);

    n = fuzz_read(data, size);

    if (n < 0) {
        fuzz_assert(rc == NGX_DECLINED);
        fuzz_detail(&err);

    } else if (n <= FUZZ_PAIRS) {
        fuzz_assert(rc == NGX_OK);
        fuzz_assert(form.n == (ngx_uint_t) n);

        fuzz_compare(&form, n);
        fuzz_twice(&form, n);
    }

    ngx_destroy_pool(pool);

    return 0;
}


/*
 * Returns the number of parameters; more than FUZZ_PAIRS: too many; -1: one is
 * invalid.
 */

static int
fuzz_read(const uint8_t *data, size_t size)
{
    int          n, bad;
    size_t       i, start, equals;
    fuzz_pair_t  pair;

    n = 0;
    bad = 0;
    start = 0;
    equals = SIZE_MAX;

    for (i = 0; i <= size; i++) {

        if (i < size && data[i] != '&') {
            if (data[i] == '=' && equals == SIZE_MAX) {
                equals = i;
            }

            continue;
        }

        if (equals == SIZE_MAX) {
            equals = i;
        }

        pair.value[0] = '\0';

        bad |= fuzz_part(data + start, equals - start, pair.name);

        if (equals < i) {
            bad |= fuzz_part(data + equals + 1, i - equals - 1, pair.value);
        }

        if (pair.value[0]) {
            if (n < FUZZ_PAIRS) {
                fuzz_pairs[n] = pair;
            }

            n++;
        }

        start = i + 1;
        equals = SIZE_MAX;
    }

    return bad ? -1 : n;
}


static int
fuzz_part(const uint8_t *data, size_t size, char *out)
{
    char          digits[3];
    size_t        i, n;
    unsigned int  c;

    for (i = 0, n = 0; i < size; i++, n++) {

        c = data[i] == '+' ? ' ' : data[i];

        if (data[i] == '%') {
            if (i + 2 >= size || !isxdigit(data[i + 1])
                || !isxdigit(data[i + 2]))
            {
                return 1;
            }

            digits[0] = (char) data[i + 1];
            digits[1] = (char) data[i + 2];
            digits[2] = '\0';

            c = (unsigned int) strtoul(digits, NULL, 16);
            i += 2;
        }

        if (c == 0) {
            return 1;
        }

        out[n] = (char) c;
    }

    out[n] = '\0';

    return ngx_svc_utf8((u_char *) out, n) != NGX_OK;
}


static void
fuzz_compare(const ngx_svc_form_t *form, int n)
{
    int          i, j;
    ngx_str_t    value;
    ngx_uint_t   nth;

    for (i = 0; i < n; i++) {

        for (j = 0, nth = 0; j < i; j++) {
            nth += strcmp(fuzz_pairs[j].name, fuzz_pairs[i].name) == 0;
        }

        fuzz_assert(ngx_svc_form_nth(form, fuzz_pairs[i].name, nth, &value)
                    == NGX_OK);
        fuzz_assert(value.len == strlen(fuzz_pairs[i].value));
        fuzz_assert(strcmp((char *) value.data, fuzz_pairs[i].value) == 0);
    }
}


static void
fuzz_twice(const ngx_svc_form_t *form, int n)
{
    int              i, j, same, some;
    ngx_str_t        value;
    ngx_svc_error_t  err;

    static const char *const  repeatable[] = { "audience", "resource", NULL };

    for (i = 0, some = 0; i < n; i++) {

        for (j = 0, same = 0; j < n; j++) {
            same += strcmp(fuzz_pairs[j].name, fuzz_pairs[i].name) == 0;
        }

        if (strcmp(fuzz_pairs[i].name, "audience") != 0
            && strcmp(fuzz_pairs[i].name, "resource") != 0)
        {
            some |= same > 1;
        }

        err.kind = NGX_SVC_E_NONE;

        fuzz_assert(ngx_svc_form_value(form, fuzz_pairs[i].name, &value, &err)
                    == (same > 1 ? NGX_DECLINED : NGX_OK));
        fuzz_assert((value.data == NULL) == (same > 1));

        if (same > 1) {
            fuzz_detail(&err);
        }
    }

    err.kind = NGX_SVC_E_NONE;

    fuzz_assert(ngx_svc_form_unique(form, repeatable, &err)
                == (some ? NGX_DECLINED : NGX_OK));

    if (some) {
        fuzz_detail(&err);
    }
}


/* RFC 6749, 5.2 */

static void
fuzz_detail(const ngx_svc_error_t *err)
{
    size_t  i;

    fuzz_assert(err->kind == NGX_SVC_E_INVALID_REQUEST && err->len > 0);

    for (i = 0; i < err->len; i++) {
        fuzz_assert(err->detail[i] >= ' ' && err->detail[i] < 0x7f
                    && err->detail[i] != '"' && err->detail[i] != '\\');
    }
}
