/*
 * What all handles of libcurl have in common: protocols, TLS, proxy and times.
 */

#include "ngx_svc_curl_options.h"


#define NGX_SVC_CURL_DNS       5L           /* s that a name is kept */
#define NGX_SVC_CURL_LIFETIME  300L         /* s that a connection may live */
#define NGX_SVC_CURL_UPLOAD    16384L       /* bytes of libcurl's buffer in each
                                               handle: the smallest it allows */

#define NGX_SVC_CURL_CIPHERS   "DEFAULT:!kDHE:!kRSA:!PSK:!SRP"
#define NGX_SVC_CURL_CURVES    "P-256:P-384:P-521"


static CURLcode ngx_svc_curl_tls(CURL *curl, void *ctx, void *data);


/*
 * With a CApath libcurl would read a whole folder for each connection.
 * Without QUICK_EXIT a resolver that hangs would hold up the process.  An
 * empty proxy, and an empty list of exceptions, make libcurl ignore the
 * environment's.
 */

ngx_int_t
ngx_svc_curl_options(CURL *curl)
{
    long                     rc;
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_svc_webhook_conf();

#define ngx_svc_curl_set(option, value)                                       \
    rc |= (long) curl_easy_setopt(curl, option, value)

    rc = 0;

    ngx_svc_curl_set(CURLOPT_NOSIGNAL, 1L);
    ngx_svc_curl_set(CURLOPT_QUICK_EXIT, 1L);
    ngx_svc_curl_set(CURLOPT_PROTOCOLS_STR, "https");
    ngx_svc_curl_set(CURLOPT_REDIR_PROTOCOLS_STR, "https");
    ngx_svc_curl_set(CURLOPT_FOLLOWLOCATION, 0L);
    ngx_svc_curl_set(CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);

    ngx_svc_curl_set(CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
    ngx_svc_curl_set(CURLOPT_SSL_CIPHER_LIST, NGX_SVC_CURL_CIPHERS);
    ngx_svc_curl_set(CURLOPT_SSL_VERIFYPEER, 1L);
    ngx_svc_curl_set(CURLOPT_SSL_VERIFYHOST, 2L);
    ngx_svc_curl_set(CURLOPT_CAPATH, NULL);
    ngx_svc_curl_set(CURLOPT_CAINFO, (char *) wcf->ca_file.data);

    ngx_svc_curl_set(CURLOPT_PROXY, wcf->proxy.len
                                    ? (char *) wcf->proxy.data : "");
    ngx_svc_curl_set(CURLOPT_NOPROXY, "");
    ngx_svc_curl_set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);

    ngx_svc_curl_set(CURLOPT_CONNECTTIMEOUT_MS, (long) wcf->connect_timeout);
    ngx_svc_curl_set(CURLOPT_TIMEOUT_MS, (long) wcf->timeout);
    ngx_svc_curl_set(CURLOPT_TCP_NODELAY, 1L);
    ngx_svc_curl_set(CURLOPT_UPLOAD_BUFFERSIZE, NGX_SVC_CURL_UPLOAD);
    ngx_svc_curl_set(CURLOPT_DNS_CACHE_TIMEOUT, NGX_SVC_CURL_DNS);
    ngx_svc_curl_set(CURLOPT_MAXAGE_CONN, NGX_SVC_CURL_IDLE);
    ngx_svc_curl_set(CURLOPT_MAXLIFETIME_CONN, NGX_SVC_CURL_LIFETIME);

#undef ngx_svc_curl_set

    return rc == CURLE_OK ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_curl_reader(CURL *curl, ngx_svc_curl_reader_t *reader)
{
    long  rc;

    ngx_queue_init(&reader->sockets);

    rc = (long) curl_easy_setopt(curl, CURLOPT_PRIVATE, reader);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION,
                                  ngx_svc_curl_tls);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_SSL_CTX_DATA, reader);

    return rc == CURLE_OK ? NGX_OK : NGX_ERROR;
}


/*
 * Allows elliptic curves only: the receiver chooses the group, and with one of
 * 8192 bits a handshake takes the time of dozens.  A FIPS module has no
 * X25519.
 */

static CURLcode
ngx_svc_curl_tls(CURL *curl, void *ctx, void *data)
{
    if (SSL_CTX_set1_groups_list(ctx, "X25519:" NGX_SVC_CURL_CURVES) != 1
        && SSL_CTX_set1_groups_list(ctx, NGX_SVC_CURL_CURVES) != 1)
    {
        return CURLE_SSL_CIPHER;
    }

    return ngx_svc_curl_wire_context(ctx, data) == NGX_OK
           ? CURLE_OK : CURLE_OUT_OF_MEMORY;
}
