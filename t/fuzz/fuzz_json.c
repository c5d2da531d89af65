/*
 * A request's body: the check, the parser after it, and the writer.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_json_check.h"


static void fuzz_admitted(const uint8_t *data, size_t size);
static void fuzz_parsed(ngx_pool_t *pool, cJSON *json);
static void fuzz_write(ngx_svc_json_writer_t *w, cJSON *json);
static void fuzz_same(cJSON *json, cJSON **next);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON            *json;
    ngx_int_t         checked, parsed;
    ngx_str_t         body;
    ngx_pool_t       *pool;
    ngx_svc_error_t   err;

    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    checked = ngx_svc_json_check(data, size, &err);

    fuzz_assert(checked == (err.kind ? NGX_DECLINED : NGX_OK));
    fuzz_assert(err.len <= NGX_SVC_ERROR_DETAIL);

    if (checked == NGX_OK) {
        fuzz_admitted(data, size);
    }

    pool = fuzz_pool(1024);

    body.data = (u_char *) data;
    body.len = size;
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    parsed = ngx_svc_json_parse(pool, &body, &json, &err);

    fuzz_assert(parsed == (err.kind ? NGX_DECLINED : NGX_OK));
    fuzz_assert(parsed == NGX_DECLINED || checked == NGX_OK);

    if (parsed == NGX_OK) {
        fuzz_parsed(pool, json);
    }

    ngx_destroy_pool(pool);

    return 0;
}


/* cJSON reads what the check accepts, including texts that are not objects. */

static void
fuzz_admitted(const uint8_t *data, size_t size)
{
    cJSON  *json;

    json = cJSON_ParseWithLengthOpts((char *) data, size, NULL, 0);
    fuzz_assert(json != NULL);

    cJSON_Delete(json);
}


/* All strings and names that the writer writes are read as the same. */

static void
fuzz_parsed(ngx_pool_t *pool, cJSON *json)
{
    cJSON                  *again, *next;
    ngx_str_t               body;
    ngx_svc_error_t         err;
    ngx_svc_json_writer_t   w;

    fuzz_assert(cJSON_IsObject(json));
    fuzz_assert(ngx_svc_json_writer_init(&w, pool, 0) == NGX_OK);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "all", '[');
    fuzz_write(&w, json);
    ngx_svc_json_close(&w, ']');
    ngx_svc_json_close(&w, '}');

    fuzz_assert(!w.failed);

    body.data = w.start;
    body.len = w.last - w.start;
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    fuzz_assert(ngx_svc_json_parse(pool, &body, &again, &err) == NGX_OK);

    next = again->child->child;
    fuzz_same(json, &next);
    fuzz_assert(next == NULL);
}


static void
fuzz_write(ngx_svc_json_writer_t *w, cJSON *json)
{
    cJSON   *child;
    size_t   len, half;
    u_char  *text;

    for (child = json->child; child; child = child->next) {

        if (child->string) {
            ngx_svc_json_string(w, NULL, (u_char *) child->string,
                                strlen(child->string));
        }

        if (cJSON_IsString(child)) {
            text = (u_char *) child->valuestring;
            len = strlen(child->valuestring);

            /* in two parts, which may be halves of a character */

            half = len / 2;

            ngx_svc_json_string_begin(w, NULL);
            ngx_svc_json_string_append(w, text, half);
            ngx_svc_json_string_append(w, text + half, len - half);
            ngx_svc_json_string_end(w);

        } else if (cJSON_IsNumber(child)) {
            ngx_svc_json_integer(w, NULL, child->valueint);

        } else {
            fuzz_write(w, child);
        }
    }
}


static void
fuzz_same(cJSON *json, cJSON **next)
{
    cJSON  *child;

    for (child = json->child; child; child = child->next) {

        if (child->string) {
            fuzz_assert(cJSON_IsString(*next));
            fuzz_assert(strcmp(child->string, (*next)->valuestring) == 0);
            *next = (*next)->next;
        }

        if (cJSON_IsString(child)) {
            fuzz_assert(cJSON_IsString(*next));
            fuzz_assert(strcmp(child->valuestring, (*next)->valuestring)
                        == 0);
            *next = (*next)->next;

        } else if (cJSON_IsNumber(child)) {
            fuzz_assert(cJSON_IsNumber(*next));
            fuzz_assert(child->valueint == (*next)->valueint);
            *next = (*next)->next;

        } else {
            fuzz_same(child, next);
        }
    }
}
