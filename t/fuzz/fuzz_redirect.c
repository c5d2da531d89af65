/*
 * Redirect URIs of applications, and resource URIs: what is accepted has what it
 * must not have in no spelling, and a key is its own key.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_application_redirect.h"
#include "ngx_svc_application_resource.h"
#include "ngx_svc_url.h"


static void fuzz_redirect(const ngx_str_t *uri);
static void fuzz_resource(const ngx_str_t *uri);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char     *text;
    ngx_str_t   uri;

    text = malloc(size + 1);
    fuzz_assert(text != NULL);

    ngx_memcpy(text, data, size);
    text[size] = '\0';

    uri.data = text;
    uri.len = size;

    if (ngx_svc_application_redirect(&uri)) {
        fuzz_redirect(&uri);
    }

    fuzz_resource(&uri);

    free(text);

    return 0;
}


static void
fuzz_redirect(const ngx_str_t *uri)
{
    size_t  i;

    fuzz_assert(uri->len <= NGX_SVC_URL_MAX);
    fuzz_assert(ngx_strncasecmp(uri->data, (u_char *) "https://", 8) == 0
                || ngx_strncasecmp(uri->data, (u_char *) "http://", 7) == 0);

    for (i = 0; i < uri->len; i++) {
        fuzz_assert(uri->data[i] > ' ' && uri->data[i] < 0x7f);
        fuzz_assert(ngx_strchr("\"#*<>\\^`{|}", uri->data[i]) == NULL);

        if (uri->data[i] == '?') {
            break;
        }

        fuzz_assert(uri->data[i] != '@' || i > sizeof("http://"));
        fuzz_assert(ngx_strncmp(uri->data + i, "/../", 4) != 0);
    }
}


static void
fuzz_resource(const ngx_str_t *uri)
{
    u_char     first[NGX_SVC_APPLICATION_RESOURCE + 1];
    u_char     second[NGX_SVC_APPLICATION_RESOURCE + 2];
    ngx_str_t  key, same;

    key.data = first;
    same.data = second;

    if (ngx_svc_application_resource(uri, &key) != NGX_OK) {
        return;
    }

    fuzz_assert(key.len <= uri->len + 1);

    if (key.len > NGX_SVC_APPLICATION_RESOURCE) {
        return;
    }

    fuzz_assert(ngx_svc_application_resource(&key, &same) == NGX_OK);
    fuzz_assert(same.len == key.len
                && ngx_memcmp(same.data, key.data, key.len) == 0);
}
