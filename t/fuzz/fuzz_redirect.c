/*
 * Redirect URIs of applications, and resource URIs: an accepted one has no
 * forbidden part in any spelling, and a key is its own key.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_application_redirect.h"
#include "ngx_svc_application_resource.h"
#include "ngx_svc_url.h"


static void fuzz_redirect(const ngx_str_t *uri);
static void fuzz_loopback(const ngx_str_t *uri);
static void fuzz_known(const ngx_str_t *before);
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

    fuzz_loopback(&uri);
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


/* Tests that there is a port, or nothing, between the parts. */

static void
fuzz_loopback(const ngx_str_t *uri)
{
    size_t     i, port;
    ngx_str_t  before, behind;

    if (ngx_svc_application_redirect_loopback(uri, &before, &behind)
        != NGX_OK)
    {
        return;
    }

    fuzz_assert(before.data == uri->data);
    fuzz_assert(before.len <= uri->len);

    if (behind.data == NULL) {
        return;
    }

    fuzz_known(&before);

    fuzz_assert(behind.data + behind.len == uri->data + uri->len);
    fuzz_assert(behind.data >= before.data + before.len);
    fuzz_assert(behind.len == 0 || *behind.data == '/' || *behind.data == '?');

    port = behind.data - before.data - before.len;

    for (i = 0; i < port; i++) {
        fuzz_assert(i ? isdigit(before.data[before.len + i])
                      : before.data[before.len] == ':');
    }
}


/* Tests that a URI whose port is free ends in the right way. */

static void
fuzz_known(const ngx_str_t *before)
{
    size_t       len;
    ngx_uint_t   n, found;

    static const char *const  known[] = {
        "://127.0.0.1", "://[::1]", "://localhost"
    };

    found = 0;

    for (n = 0; n < sizeof(known) / sizeof(known[0]); n++) {
        len = ngx_strlen(known[n]);

        found += (before->len > len
                  && ngx_memcmp(before->data + before->len - len, known[n],
                                len)
                     == 0);
    }

    fuzz_assert(found == 1);
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
