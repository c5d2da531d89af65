/*
 * One connection to the mail server.
 */

#include "ngx_svc_mail_smtp.h"

#include <curl/curl.h>
#include <stdlib.h>


#define NGX_SVC_MAIL_IDLE      20L      /* s that a connection may be idle */
#define NGX_SVC_MAIL_LIFETIME  300L     /* s that a connection may live */
#define NGX_SVC_MAIL_CONNECT   10000L   /* ms, for the name and TLS, too */


struct ngx_svc_mail_smtp_s {
    CURL                       *curl;
    const ngx_svc_mail_conf_t  *conf;
    const char                 *ca_file;
    volatile ngx_uint_t        *ending;
    struct curl_slist          *headers;    /* headers, to and mime: of a
                                               letter */
    struct curl_slist          *to;
    curl_mime                  *mime;
};


static ngx_uint_t ngx_svc_mail_smtp_refused(CURLcode code, long status);
static CURLcode ngx_svc_mail_smtp_perform(ngx_svc_mail_smtp_t *smtp,
    const ngx_svc_mail_letter_t *letter, ngx_uint_t fresh);
static long ngx_svc_mail_smtp_options(ngx_svc_mail_smtp_t *smtp);
static long ngx_svc_mail_smtp_security(ngx_svc_mail_smtp_t *smtp);
static long ngx_svc_mail_smtp_letter(ngx_svc_mail_smtp_t *smtp,
    const ngx_svc_mail_letter_t *letter);
static long ngx_svc_mail_smtp_part(curl_mime *mime, const ngx_str_t *text,
    const char *type);
static int ngx_svc_mail_smtp_progress(void *data, curl_off_t dltotal,
    curl_off_t dlnow, curl_off_t ultotal, curl_off_t ulnow);


#define ngx_svc_mail_set(option, value)                                       \
    rc |= (long) curl_easy_setopt(smtp->curl, option, value)


ngx_int_t
ngx_svc_mail_smtp_init(ngx_log_t *log)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        ngx_log_error(NGX_LOG_EMERG, log, 0, "curl_global_init() failed");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_svc_mail_smtp_t *
ngx_svc_mail_smtp_create(const ngx_svc_mail_conf_t *conf,
    const ngx_str_t *ca_file, volatile ngx_uint_t *ending)
{
    ngx_svc_mail_smtp_t  *smtp;

    smtp = calloc(1, sizeof(ngx_svc_mail_smtp_t));
    if (smtp == NULL) {
        return NULL;
    }

    smtp->curl = curl_easy_init();
    if (smtp->curl == NULL) {
        free(smtp);
        return NULL;
    }

    smtp->conf = conf;
    smtp->ca_file = (const char *) ca_file->data;
    smtp->ending = ending;

    return smtp;
}


void
ngx_svc_mail_smtp_free(ngx_svc_mail_smtp_t *smtp)
{
    if (smtp) {
        curl_easy_cleanup(smtp->curl);
        free(smtp);
    }
}


/*
 * A kept connection that the server has closed, or closes now (421), does not
 * count as an attempt: the mail is sent again at once.  It is not after any
 * other reply, since it may have arrived.
 */

void
ngx_svc_mail_smtp_send(ngx_svc_mail_smtp_t *smtp, ngx_svc_mail_letter_t *letter)
{
    long      status, connects;
    CURLcode  code;

    if (smtp == NULL) {
        letter->error = "no memory";
        return;
    }

    code = ngx_svc_mail_smtp_perform(smtp, letter, 0);

    status = 0;
    connects = 1;
    curl_easy_getinfo(smtp->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(smtp->curl, CURLINFO_NUM_CONNECTS, &connects);

    if (code != CURLE_OK && connects == 0 && (status == 0 || status == 421)
        && !*smtp->ending)
    {
        code = ngx_svc_mail_smtp_perform(smtp, letter, 1);
        status = 0;
        curl_easy_getinfo(smtp->curl, CURLINFO_RESPONSE_CODE, &status);
    }

    letter->sent = (code == CURLE_OK);
    letter->refused = ngx_svc_mail_smtp_refused(code, status);
    letter->status = status;
    letter->error = curl_easy_strerror(code);
}


/*
 * Returns whether the server refuses this mail.  Refusing us, the password or
 * TLS tells nothing about the mail.
 */

static ngx_uint_t
ngx_svc_mail_smtp_refused(CURLcode code, long status)
{
    switch (code) {

    case CURLE_OK:
    case CURLE_LOGIN_DENIED:
    case CURLE_REMOTE_ACCESS_DENIED:
    case CURLE_USE_SSL_FAILED:
        return 0;

    default:
        return status >= 500 && status < 600;
    }
}


static CURLcode
ngx_svc_mail_smtp_perform(ngx_svc_mail_smtp_t *smtp,
    const ngx_svc_mail_letter_t *letter, ngx_uint_t fresh)
{
    long      rc;
    CURLcode  code;

    curl_easy_reset(smtp->curl);

    rc = ngx_svc_mail_smtp_options(smtp);
    rc |= ngx_svc_mail_smtp_security(smtp);
    rc |= ngx_svc_mail_smtp_letter(smtp, letter);
    ngx_svc_mail_set(CURLOPT_FRESH_CONNECT, (long) fresh);

    code = (rc == CURLE_OK) ? curl_easy_perform(smtp->curl)
                            : CURLE_OUT_OF_MEMORY;

    curl_mime_free(smtp->mime);
    curl_slist_free_all(smtp->headers);
    curl_slist_free_all(smtp->to);

    smtp->mime = NULL;
    smtp->headers = NULL;
    smtp->to = NULL;

    return code;
}


/* An empty proxy makes libcurl ignore the environment's. */

static long
ngx_svc_mail_smtp_options(ngx_svc_mail_smtp_t *smtp)
{
    long                        rc;
    const ngx_svc_mail_conf_t  *conf;

    rc = 0;
    conf = smtp->conf;

    ngx_svc_mail_set(CURLOPT_URL, (char *) conf->url.data);
    ngx_svc_mail_set(CURLOPT_NOSIGNAL, 1L);
    ngx_svc_mail_set(CURLOPT_QUICK_EXIT, 1L);
    ngx_svc_mail_set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    ngx_svc_mail_set(CURLOPT_PROXY, "");
    ngx_svc_mail_set(CURLOPT_NOPROXY, "");
    ngx_svc_mail_set(CURLOPT_TCP_NODELAY, 1L);
    ngx_svc_mail_set(CURLOPT_CONNECTTIMEOUT_MS,
                     ngx_min(NGX_SVC_MAIL_CONNECT, (long) conf->timeout));
    ngx_svc_mail_set(CURLOPT_TIMEOUT_MS, (long) conf->timeout);
    ngx_svc_mail_set(CURLOPT_SERVER_RESPONSE_TIMEOUT,
                     (long) (conf->timeout + 999) / 1000);
    ngx_svc_mail_set(CURLOPT_MAXAGE_CONN, NGX_SVC_MAIL_IDLE);
    ngx_svc_mail_set(CURLOPT_MAXLIFETIME_CONN, NGX_SVC_MAIL_LIFETIME);
    ngx_svc_mail_set(CURLOPT_NOPROGRESS, 0L);
    ngx_svc_mail_set(CURLOPT_XFERINFOFUNCTION, ngx_svc_mail_smtp_progress);
    ngx_svc_mail_set(CURLOPT_XFERINFODATA, smtp);

    return rc;
}


/* With a CApath libcurl would read a whole folder for each connection. */

static long
ngx_svc_mail_smtp_security(ngx_svc_mail_smtp_t *smtp)
{
    long                        rc;
    const ngx_svc_mail_conf_t  *conf;

    static const long  use[] = { CURLUSESSL_ALL, CURLUSESSL_TRY,
                                 CURLUSESSL_NONE };

    rc = 0;
    conf = smtp->conf;

    ngx_svc_mail_set(CURLOPT_USE_SSL, use[conf->tls]);
    ngx_svc_mail_set(CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
    ngx_svc_mail_set(CURLOPT_SSL_VERIFYPEER, 1L);
    ngx_svc_mail_set(CURLOPT_SSL_VERIFYHOST, 2L);
    ngx_svc_mail_set(CURLOPT_CAPATH, NULL);
    ngx_svc_mail_set(CURLOPT_CAINFO, (char *) smtp->ca_file);

    if (conf->user.len) {
        ngx_svc_mail_set(CURLOPT_USERNAME, (char *) conf->user.data);
        ngx_svc_mail_set(CURLOPT_PASSWORD, (char *) conf->password.data);
    }

    return rc;
}


static long
ngx_svc_mail_smtp_letter(ngx_svc_mail_smtp_t *smtp,
    const ngx_svc_mail_letter_t *letter)
{
    long                rc;
    ngx_uint_t          i;
    struct curl_slist  *list;

    rc = 0;

    for (i = 0; i < NGX_SVC_MAIL_HEADERS; i++) {
        list = curl_slist_append(smtp->headers,
                                 (char *) letter->headers[i].data);
        if (list == NULL) {
            return CURLE_OUT_OF_MEMORY;
        }

        smtp->headers = list;
    }

    smtp->to = curl_slist_append(NULL, (char *) letter->to.data);
    smtp->mime = curl_mime_init(smtp->curl);

    if (smtp->to == NULL || smtp->mime == NULL) {
        return CURLE_OUT_OF_MEMORY;
    }

    rc |= ngx_svc_mail_smtp_part(smtp->mime, &letter->text,
                                 "text/plain; charset=utf-8");
    rc |= ngx_svc_mail_smtp_part(smtp->mime, &letter->html,
                                 "text/html; charset=utf-8");

    ngx_svc_mail_set(CURLOPT_MAIL_FROM, (char *) smtp->conf->from.data);
    ngx_svc_mail_set(CURLOPT_MAIL_RCPT, smtp->to);
    ngx_svc_mail_set(CURLOPT_HTTPHEADER, smtp->headers);
    ngx_svc_mail_set(CURLOPT_MIMEPOST, smtp->mime);

    return rc;
}


static long
ngx_svc_mail_smtp_part(curl_mime *mime, const ngx_str_t *text,
    const char *type)
{
    long            rc;
    curl_mimepart  *part;

    part = curl_mime_addpart(mime);
    if (part == NULL) {
        return CURLE_OUT_OF_MEMORY;
    }

    rc = (long) curl_mime_data(part, (char *) text->data, text->len);
    rc |= (long) curl_mime_type(part, type);
    rc |= (long) curl_mime_encoder(part, "quoted-printable");

    return rc;
}


static int
ngx_svc_mail_smtp_progress(void *data, curl_off_t dltotal, curl_off_t dlnow,
    curl_off_t ultotal, curl_off_t ulnow)
{
    ngx_svc_mail_smtp_t  *smtp;

    smtp = data;

    return *smtp->ending != 0;
}
