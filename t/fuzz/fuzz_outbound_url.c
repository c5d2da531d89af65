/*
 * The URL of a webhook: libcurl connects to the host of each accepted one, and
 * this is not an address that is refused.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_outbound_target.h"

#include <arpa/inet.h>
#include <curl/curl.h>


static void fuzz_curl(const char *url);
static void fuzz_host(char *host);


static const ngx_array_t  fuzz_nothing;


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char             *text;
    ngx_int_t         rc;
    ngx_str_t         url;
    ngx_svc_error_t   err;

    url.len = size;
    url.data = malloc(size + 1);
    fuzz_assert(url.data != NULL);

    ngx_memcpy(url.data, data, size);
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    rc = ngx_svc_outbound_url(&url, &fuzz_nothing, 0, "url", &err);

    fuzz_assert(err.len <= NGX_SVC_ERROR_DETAIL);

    if (rc == NGX_OK) {
        fuzz_assert(err.kind == NGX_SVC_E_NONE);

        text = (char *) url.data;
        text[size] = '\0';
        fuzz_assert(strlen(text) == size);

        fuzz_curl(text);

    } else {
        fuzz_assert(rc == NGX_DECLINED);
        fuzz_assert(err.kind == NGX_SVC_E_INVALID_VALUE);
        fuzz_assert(err.len > 0);
    }

    free(url.data);

    return 0;
}


static void
fuzz_curl(const char *url)
{
    char   *part;
    size_t  len;
    CURLU  *u;

    u = curl_url();
    fuzz_assert(u != NULL);

    fuzz_assert(curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK);

    fuzz_assert(curl_url_get(u, CURLUPART_SCHEME, &part, 0) == CURLUE_OK);
    fuzz_assert(strcmp(part, "https") == 0);
    curl_free(part);

    fuzz_assert(curl_url_get(u, CURLUPART_USER, &part, 0) == CURLUE_NO_USER);
    fuzz_assert(curl_url_get(u, CURLUPART_FRAGMENT, &part, 0)
                == CURLUE_NO_FRAGMENT);

    fuzz_assert(curl_url_get(u, CURLUPART_HOST, &part, 0) == CURLUE_OK);

    len = strlen(part);
    fuzz_assert(len > 0);

    /* libcurl writes IPv6 addresses in its own form */

    if (part[0] != '[') {
        fuzz_assert(strncasecmp(part, url + strlen("https://"), len) == 0);
    }

    fuzz_host(part);

    curl_free(part);
    curl_url_cleanup(u);
}


static void
fuzz_host(char *host)
{
    size_t              len;
    struct in_addr      in;
    ngx_svc_addr_t      addr;
    struct sockaddr_in  sin;

    len = strlen(host);

    if (host[0] == '[') {
        fuzz_assert(host[len - 1] == ']');
        fuzz_assert(ngx_svc_addr_parse((u_char *) host + 1, len - 2, &addr)
                    == NGX_OK);

    } else if (inet_aton(host, &in)) {
        ngx_memzero(&sin, sizeof(struct sockaddr_in));
        sin.sin_family = AF_INET;
        sin.sin_addr = in;

        fuzz_assert(ngx_svc_addr_from_sockaddr((struct sockaddr *) &sin, &addr)
                    == NGX_OK);

    } else {
        fuzz_assert(host[len - 1] != '.');
        fuzz_assert(strcasecmp(host, "localhost") != 0);
        fuzz_assert(len < 6 || strcasecmp(host + len - 6, ".local") != 0);
        fuzz_assert(len < 10 || strcasecmp(host + len - 10, ".localhost") != 0);
        return;
    }

    fuzz_assert(ngx_svc_outbound_address(&addr, &fuzz_nothing) == NULL);
}
