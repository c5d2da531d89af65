/*
 * The directives of mail, checked while nginx reads its configuration.
 */

#include "ngx_svc_mail_conf.h"
#include "ngx_svc_conf.h"
#include "ngx_svc_mail_address.h"
#include "ngx_svc_secret_file.h"


#define NGX_SVC_MAIL_FOLDER           "/usr/share/ngx_svc/mail"
#define NGX_SVC_MAIL_CONCURRENCY      4
#define NGX_SVC_MAIL_TIMEOUT          30000     /* ms */
#define NGX_SVC_MAIL_CREDENTIALS_MAX  1024      /* bytes */
#define NGX_SVC_MAIL_RETRY_MAX        3600000   /* ms */
#define NGX_SVC_MAIL_NAME_MAX         128       /* bytes */

#define ngx_svc_mail_conf_of(cmd, conf)                                       \
    ((ngx_svc_mail_conf_t *) ((u_char *) (conf) + (cmd)->offset))


static ngx_int_t ngx_svc_mail_conf_copy(ngx_conf_t *cf, ngx_str_t *dst,
    const u_char *data, size_t len);
static ngx_uint_t ngx_svc_mail_conf_loopback(const ngx_str_t *host);
static ngx_uint_t ngx_svc_mail_conf_host(const ngx_str_t *host);
static ngx_int_t ngx_svc_mail_conf_account(ngx_conf_t *cf,
    ngx_svc_mail_conf_t *mail, u_char *text, size_t len);


void
ngx_svc_mail_conf_create(ngx_svc_mail_conf_t *mail)
{
    mail->tls = NGX_CONF_UNSET_UINT;
    mail->concurrency = NGX_CONF_UNSET_UINT;
    mail->timeout = NGX_CONF_UNSET_MSEC;
}


void
ngx_svc_mail_conf_init(ngx_svc_mail_conf_t *mail)
{
    static const ngx_msec_t  retries[] = { 5000, 30000, 120000 };

    ngx_conf_init_uint_value(mail->tls, NGX_SVC_MAIL_TLS_REQUIRED);
    ngx_conf_init_uint_value(mail->concurrency, NGX_SVC_MAIL_CONCURRENCY);
    ngx_conf_init_msec_value(mail->timeout, NGX_SVC_MAIL_TIMEOUT);

    if (mail->nretries == 0) {
        mail->nretries = sizeof(retries) / sizeof(retries[0]);
        ngx_memcpy(mail->retries, retries, sizeof(retries));
    }

    if (mail->folder.len == 0) {
        ngx_str_set(&mail->folder, NGX_SVC_MAIL_FOLDER);
    }
}


char *
ngx_svc_mail_conf_server(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    size_t                len;
    ngx_url_t             url;
    ngx_str_t            *value;
    ngx_svc_main_conf_t  *smcf;
    ngx_svc_mail_conf_t  *mail;

    mail = ngx_svc_mail_conf_of(cmd, conf);

    if (mail->url.len) {
        return "is duplicate";
    }

    value = cf->args->elts;

    ngx_memzero(&url, sizeof(ngx_url_t));
    url.no_resolve = 1;

    if (ngx_strncmp(value[1].data, "smtp://", 7) == 0) {
        len = 7;
        url.default_port = 25;

    } else if (ngx_strncmp(value[1].data, "smtps://", 8) == 0) {
        len = 8;
        url.default_port = 465;

    } else {
        goto invalid;
    }

    url.url.data = value[1].data + len;
    url.url.len = value[1].len - len;

    if (url.url.len == 0 || url.url.data[0] == ':'
        || ngx_strlchr(url.url.data, url.url.data + url.url.len, '@')
        || ngx_parse_url(cf->pool, &url) != NGX_OK
        || url.uri.len || !ngx_svc_mail_conf_host(&url.host))
    {
        goto invalid;
    }

    mail->loopback = ngx_svc_mail_conf_loopback(&url.host);

    smcf = ngx_svc_main_conf(cf);
    smcf->mail = 1;

    return ngx_svc_mail_conf_copy(cf, &mail->url, value[1].data, value[1].len)
           == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;

invalid:

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" takes a server such as "
                       "smtp://mail.example.com:587 or "
                       "smtps://mail.example.com, without a user or a path, "
                       "not \"%V\"", &value[0], &value[1]);

    return NGX_CONF_ERROR;
}


static ngx_int_t
ngx_svc_mail_conf_copy(ngx_conf_t *cf, ngx_str_t *dst, const u_char *data,
    size_t len)
{
    dst->data = ngx_pnalloc(cf->pool, len + 1);
    if (dst->data == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_cpystrn(dst->data, (u_char *) data, len + 1);
    dst->len = len;

    return NGX_OK;
}


/*
 * Returns whether libcurl and nginx read a host's name or address the same
 * way.
 */

static ngx_uint_t
ngx_svc_mail_conf_host(const ngx_str_t *host)
{
    u_char  ch;
    size_t  i;

    for (i = 0; i < host->len; i++) {
        ch = host->data[i];

        if (!((ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z')
              || (ch >= 'A' && ch <= 'Z') || ch == '.' || ch == '-'
              || ch == '[' || ch == ']' || ch == ':'))
        {
            return 0;
        }
    }

    return host->len != 0;
}


static ngx_uint_t
ngx_svc_mail_conf_loopback(const ngx_str_t *host)
{
    in_addr_t  addr;

    if ((host->len == 9 && ngx_strncasecmp(host->data, (u_char *) "localhost",
                                           9) == 0)
        || (host->len == 5 && ngx_strncmp(host->data, "[::1]", 5) == 0))
    {
        return 1;
    }

    addr = ngx_inet_addr(host->data, host->len);

    return addr != INADDR_NONE && (ntohl(addr) >> 24) == 127;
}


char *
ngx_svc_mail_conf_from(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    u_char               *p, *end;
    ngx_str_t            *value, address, name;
    ngx_svc_mail_conf_t  *mail;

    mail = ngx_svc_mail_conf_of(cmd, conf);

    if (mail->from.len) {
        return "is duplicate";
    }

    value = cf->args->elts;
    address = value[1];
    ngx_str_null(&name);

    end = value[1].data + value[1].len;
    p = ngx_strlchr(value[1].data, end, '<');

    if (p) {
        if (end[-1] != '>') {
            goto invalid;
        }

        address.data = p + 1;
        address.len = end - 1 - address.data;

        name.data = value[1].data;
        name.len = p - value[1].data;

        while (name.len && name.data[name.len - 1] == ' ') {
            name.len--;
        }
    }

    if (ngx_svc_mail_address(&address) != NGX_OK
        || name.len > NGX_SVC_MAIL_NAME_MAX || !ngx_svc_mail_text(&name))
    {
        goto invalid;
    }

    return ngx_svc_mail_conf_copy(cf, &mail->from, address.data, address.len)
           == NGX_OK
           && ngx_svc_mail_conf_copy(cf, &mail->from_name, name.data, name.len)
              == NGX_OK
           ? NGX_CONF_OK : NGX_CONF_ERROR;

invalid:

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" takes an address such as "
                       "no-reply@example.com, or \"Acme sign-in "
                       "<no-reply@example.com>\" with a name of at most %d "
                       "bytes of UTF-8, not \"%V\"", &value[0],
                       NGX_SVC_MAIL_NAME_MAX, &value[1]);

    return NGX_CONF_ERROR;
}


char *
ngx_svc_mail_conf_credentials(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    u_char                text[NGX_SVC_MAIL_CREDENTIALS_MAX];
    ssize_t               n;
    ngx_int_t             rc;
    ngx_str_t            *value;
    ngx_svc_mail_conf_t  *mail;

    static const ngx_svc_secret_file_t  file = {
        "credentials file", "user:password"
    };

    mail = ngx_svc_mail_conf_of(cmd, conf);

    if (mail->credentials.len) {
        return "is duplicate";
    }

    value = cf->args->elts;
    mail->credentials = value[1];

    if (ngx_conf_full_name(cf->cycle, &mail->credentials, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    n = ngx_svc_secret_file(cf, &file, &mail->credentials, text, sizeof(text));

    if (n == NGX_ERROR) {
        return NGX_CONF_ERROR;
    }

    rc = ngx_svc_mail_conf_account(cf, mail, text, n);

    ngx_explicit_memzero(text, sizeof(text));

    if (rc == NGX_DECLINED) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the credentials file \"%V\" must be one line "
                           "\"user:password\", of less than %d bytes",
                           &mail->credentials,
                           NGX_SVC_MAIL_CREDENTIALS_MAX - 1);
    }

    return rc == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}


/* Reads one line, "user:password"; the password may have colons. */

static ngx_int_t
ngx_svc_mail_conf_account(ngx_conf_t *cf, ngx_svc_mail_conf_t *mail,
    u_char *text, size_t len)
{
    u_char  *colon, *end;

    if (len && text[len - 1] == '\n') {
        len--;
    }

    end = text + len;
    colon = ngx_strlchr(text, end, ':');

    if (colon == NULL || colon == text || colon + 1 == end
        || len >= NGX_SVC_MAIL_CREDENTIALS_MAX - 1
        || ngx_strlchr(text, end, '\n') || ngx_strlchr(text, end, '\r')
        || ngx_strlchr(text, end, '\0'))
    {
        return NGX_DECLINED;
    }

    if (ngx_svc_mail_conf_copy(cf, &mail->user, text, colon - text) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_mail_conf_copy(cf, &mail->password, colon + 1,
                                  end - colon - 1);
}


char *
ngx_svc_mail_conf_folder(ngx_conf_t *cf, void *post, void *data)
{
    ngx_str_t *folder = data;

    if (folder->len == 0) {
        return "takes a folder";
    }

    return ngx_conf_full_name(cf->cycle, folder, 1) == NGX_OK ? NGX_CONF_OK
                                                              : NGX_CONF_ERROR;
}


char *
ngx_svc_mail_conf_tls(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t            *value;
    ngx_uint_t            i;
    ngx_svc_mail_conf_t  *mail;

    static const ngx_str_t  words[] = {
        ngx_string("required"),
        ngx_string("opportunistic"),
        ngx_string("off")
    };

    mail = ngx_svc_mail_conf_of(cmd, conf);

    if (mail->tls != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (value[1].len == words[i].len
            && ngx_strcmp(value[1].data, words[i].data) == 0)
        {
            mail->tls = i;
            return NGX_CONF_OK;
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" takes \"required\", \"opportunistic\" or "
                       "\"off\", not \"%V\"", &value[0], &value[1]);

    return NGX_CONF_ERROR;
}


char *
ngx_svc_mail_conf_timeout(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_int_t             n;
    ngx_str_t            *value;
    ngx_svc_mail_conf_t  *mail;

    mail = ngx_svc_mail_conf_of(cmd, conf);

    if (mail->timeout != NGX_CONF_UNSET_MSEC) {
        return "is duplicate";
    }

    value = cf->args->elts;
    n = ngx_parse_time(&value[1], 0);

    if (n < 1000 || n > 600000) {
        return "must be a time from 1s to 10m";
    }

    mail->timeout = n;

    return NGX_CONF_OK;
}


char *
ngx_svc_mail_conf_retry(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_int_t             n;
    ngx_str_t            *value;
    ngx_uint_t            i;
    ngx_svc_mail_conf_t  *mail;

    mail = ngx_svc_mail_conf_of(cmd, conf);

    if (mail->nretries) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        n = ngx_parse_time(&value[i], 0);

        if (n < 1 || n > NGX_SVC_MAIL_RETRY_MAX || i > NGX_SVC_MAIL_RETRIES
            || (i > 1 && (ngx_msec_t) n <= mail->retries[i - 2]))
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" takes 1 to %d times since the first "
                               "attempt, each later than the one before, from "
                               "1ms to 1h, such as \"5s 30s 2m\"; \"%V\" is "
                               "not one", &value[0], NGX_SVC_MAIL_RETRIES,
                               &value[i]);
            return NGX_CONF_ERROR;
        }

        mail->retries[i - 1] = n;
    }

    mail->nretries = cf->args->nelts - 1;

    return NGX_CONF_OK;
}


ngx_int_t
ngx_svc_mail_conf_check(ngx_conf_t *cf, const ngx_svc_mail_conf_t *mail)
{
    if (mail->from.len == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_mail\" needs \"svc_mail_from "
                      "no-reply@example.com;\" in the http block");
        return NGX_ERROR;
    }

    if (mail->tls == NGX_SVC_MAIL_TLS_OFF && !mail->loopback) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_mail_tls off\" would send codes and links in the "
                      "clear to \"%V\": it is for localhost, 127.0.0.0/8 and "
                      "[::1] only; leave it out", &mail->url);
        return NGX_ERROR;
    }

    if (mail->tls == NGX_SVC_MAIL_TLS_OPPORTUNISTIC && mail->user.len
        && !mail->loopback)
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_mail_tls opportunistic\" would give the password "
                      "of \"svc_mail_credentials\" to whoever is between here "
                      "and \"%V\": use \"svc_mail_tls required;\"",
                      &mail->url);
        return NGX_ERROR;
    }

    return NGX_OK;
}
