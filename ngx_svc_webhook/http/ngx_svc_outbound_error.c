/*
 * The errors of requests, in words for operators and tenants.
 */

#include "ngx_svc_outbound_error.h"

#include <openssl/x509_vfy.h>


/* CURLE_TOO_LARGE of libcurl 8.6, which older headers lack. */

#define NGX_SVC_OUTBOUND_TOO_LARGE  ((CURLcode) 100)


typedef struct {
    CURLcode      code;
    unsigned      unreachable;
    const char   *text;
} ngx_svc_outbound_error_t;


static ngx_int_t ngx_svc_outbound_error_local(ngx_svc_outbound_t *r);
static void ngx_svc_outbound_error_excess(ngx_svc_outbound_t *r);
static void ngx_svc_outbound_error_status(ngx_svc_outbound_result_t *result);
static ngx_int_t ngx_svc_outbound_error_name(ngx_svc_outbound_t *r,
    CURLcode code);
static ngx_int_t ngx_svc_outbound_error_proxy(ngx_svc_outbound_t *r);
static void ngx_svc_outbound_error_timeout(ngx_svc_outbound_t *r);
static void ngx_svc_outbound_error_connect(ngx_svc_outbound_t *r);
static void ngx_svc_outbound_error_certificate(ngx_svc_outbound_t *r);


static const ngx_svc_outbound_error_t  ngx_svc_outbound_errors[] = {

    { CURLE_COULDNT_RESOLVE_PROXY, 1,
      "the name of the proxy could not be resolved" },
    { CURLE_SSL_CONNECT_ERROR, 1, "the TLS handshake failed" },
    { CURLE_SSL_CACERT_BADFILE, 1,
      "the file of svc_webhook_ca_file cannot be read" },
    { CURLE_OK, 0, "the connection was closed without an answer" },
    { CURLE_GOT_NOTHING, 0, "the connection was closed without an answer" },
    { CURLE_RECV_ERROR, 0, "the connection broke before an answer" },
    { CURLE_SEND_ERROR, 0, "the connection broke while sending" },
    { CURLE_WEIRD_SERVER_REPLY, 0, "the answer is not HTTP" },
    { CURLE_UNSUPPORTED_PROTOCOL, 0, "the answer is not HTTP" },
    { CURLE_URL_MALFORMAT, 0, "the URL is not valid" },
    { CURLE_OUT_OF_MEMORY, 0, "a header of the answer is too long" },
    { NGX_SVC_OUTBOUND_TOO_LARGE, 0, "a header of the answer is too long" },
    { CURLE_OK, 0, NULL }
};


void
ngx_svc_outbound_failed(ngx_svc_outbound_t *r,
    CURLcode code)
{
    ngx_svc_outbound_result_t       *result;
    const ngx_svc_outbound_error_t  *error;

    result = &r->result;
    result->outcome = NGX_SVC_OUTBOUND_FAILED;

    if (ngx_svc_outbound_error_local(r) == NGX_OK
        || ngx_svc_outbound_error_name(r, code) == NGX_OK
        || ngx_svc_outbound_error_proxy(r) == NGX_OK)
    {
        return;
    }

    switch (code) {

    case CURLE_OPERATION_TIMEDOUT:
        ngx_svc_outbound_error_timeout(r);
        return;

    case CURLE_COULDNT_CONNECT:
        ngx_svc_outbound_error_connect(r);
        return;

    case CURLE_PEER_FAILED_VERIFICATION:
        ngx_svc_outbound_error_certificate(r);
        return;

    default:
        break;
    }

    for (error = ngx_svc_outbound_errors; error->text; error++) {
        if (error->code == code) {
            result->unreachable = error->unreachable;
            ngx_svc_outbound_reason(result, "%s", error->text);
            return;
        }
    }

    ngx_svc_outbound_reason(result, "%s", curl_easy_strerror(code));
}


/* Handles errors that are known without libcurl's code. */

static ngx_int_t
ngx_svc_outbound_error_local(ngx_svc_outbound_t *r)
{
    ngx_svc_outbound_result_t  *result;

    result = &r->result;

    if (r->answered) {
        ngx_svc_outbound_error_status(result);
        return NGX_OK;
    }

    if (r->lack) {
        result->outcome = NGX_SVC_OUTBOUND_POSTPONED;
        return NGX_OK;
    }

    if (r->reader.excess) {
        ngx_svc_outbound_error_excess(r);
        return NGX_OK;
    }

    if (r->flood) {
        ngx_svc_outbound_reason(result, "the headers of the answer are longer "
                                "than %uz KiB", r->limit / 1024);
        return NGX_OK;
    }

    return NGX_DECLINED;
}


static void
ngx_svc_outbound_error_excess(ngx_svc_outbound_t *r)
{
    switch (r->reader.excess) {

    case NGX_SVC_CURL_LONG_HANDSHAKE:
        ngx_svc_outbound_reason(&r->result, "the TLS handshake is longer than "
                                "128 KiB");
        return;

    case NGX_SVC_CURL_LONG_ANSWER:
        ngx_svc_outbound_reason(&r->result,
                                "the answer is longer than %uz KiB",
                                r->reader.limit / 1024);
        return;

    default:
        ngx_svc_outbound_reason(&r->result, "the receiver sends TLS messages "
                                "without an end");
    }
}


static void
ngx_svc_outbound_error_status(ngx_svc_outbound_result_t *result)
{
    ngx_svc_outbound_reason(result, "the answer was %ui%s", result->status,
                            result->status / 100 == 3
                            ? "; redirects are not followed" : "");
}


/*
 * For a name that leads to a private address, a tenant sees the same error as
 * for a name that does not exist, and no duration: it must not learn which
 * names our name servers know.
 */

static ngx_int_t
ngx_svc_outbound_error_name(ngx_svc_outbound_t *r, CURLcode code)
{
    u_char                      text[NGX_SVC_ADDR_TEXT_LEN], *p;
    ngx_svc_outbound_result_t  *result;

    result = &r->result;

    if (r->kind && !r->allowed) {
        p = ngx_svc_addr_text(text, &r->address);

        result->refused = 1;
        ngx_svc_outbound_detail(result, "refused: the address is %*s (%s)",
                                (size_t) (p - text), text, r->kind);

    } else if (code == CURLE_COULDNT_RESOLVE_HOST) {
        ngx_svc_outbound_detail(result, "the name could not be resolved");

    } else {
        return NGX_DECLINED;
    }

    r->nowhere = 1;
    result->unreachable = 1;
    result->duration = 0;
    ngx_svc_outbound_reason(result, "the name leads to no public address");

    return NGX_OK;
}


static ngx_int_t
ngx_svc_outbound_error_proxy(ngx_svc_outbound_t *r)
{
    long  status;

    status = 0;
    curl_easy_getinfo(r->curl, CURLINFO_HTTP_CONNECTCODE, &status);

    if (status < 300) {
        return NGX_DECLINED;
    }

    r->result.unreachable = 1;
    ngx_svc_outbound_reason(&r->result, "the proxy did not connect");
    ngx_svc_outbound_detail(&r->result, "the proxy's answer was %l",
                            status);

    return NGX_OK;
}


static void
ngx_svc_outbound_error_timeout(ngx_svc_outbound_t *r)
{
    long                     sent;
    curl_off_t               resolved;
    const char              *what;
    ngx_msec_t               limit, timeout;
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_svc_webhook_conf();
    timeout = r->timeout ? r->timeout : wcf->timeout;

    sent = 0;
    resolved = 0;

    curl_easy_getinfo(r->curl, CURLINFO_REQUEST_SIZE, &sent);
    curl_easy_getinfo(r->curl, CURLINFO_NAMELOOKUP_TIME_T, &resolved);

    if (sent > 0) {
        what = "no answer";
        limit = timeout;

    } else {
        what = resolved ? "no TLS connection" : "the name was not resolved";
        limit = ngx_min(wcf->connect_timeout, timeout);
    }

    r->result.unreachable = 1;

    if (limit % 1000) {
        ngx_svc_outbound_reason(&r->result, "%s within %M ms", what,
                                limit);
    } else {
        ngx_svc_outbound_reason(&r->result, "%s within %M s", what,
                                limit / 1000);
    }
}


static void
ngx_svc_outbound_error_connect(ngx_svc_outbound_t *r)
{
    long  err;

    err = 0;
    curl_easy_getinfo(r->curl, CURLINFO_OS_ERRNO, &err);

    r->result.unreachable = 1;

    switch (err) {

    case NGX_ECONNREFUSED:
        ngx_svc_outbound_reason(&r->result, "the connection was refused");
        return;

    case NGX_ECONNRESET:
        ngx_svc_outbound_reason(&r->result,
                                "the connection broke before an answer");
        return;

    case NGX_EHOSTUNREACH:
    case NGX_ENETUNREACH:
        ngx_svc_outbound_reason(&r->result,
                                "there is no route to the host");
        return;

    default:
        ngx_svc_outbound_reason(&r->result, "no connection");
    }
}


static void
ngx_svc_outbound_error_certificate(ngx_svc_outbound_t *r)
{
    long         verify;
    const char  *text;

    verify = X509_V_OK;
    r->untrusted = 1;

    /* if OpenSSL found no fault, it was libcurl, which compares names */

    curl_easy_getinfo(r->curl, CURLINFO_SSL_VERIFYRESULT, &verify);

    switch (verify) {

    case X509_V_OK:
    case X509_V_ERR_UNSPECIFIED:
        text = "the certificate is for another name";
        break;

    case X509_V_ERR_CERT_HAS_EXPIRED:
        text = "the certificate has expired";
        break;

    case X509_V_ERR_CERT_NOT_YET_VALID:
        text = "the certificate is not yet valid";
        break;

    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        text = "the certificate is self-signed";
        break;

    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        text = "the certificate's issuer is not known";
        break;

    default:
        ngx_svc_outbound_reason(&r->result,
                                "the certificate is not good: %s",
                                X509_verify_cert_error_string(verify));
        return;
    }

    ngx_svc_outbound_reason(&r->result, "%s", text);
}
