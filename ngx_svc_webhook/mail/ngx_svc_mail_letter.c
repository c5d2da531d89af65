/*
 * A mail as it is sent.
 */

#include "ngx_svc_mail_letter.h"
#include "ngx_svc_mail_templates.h"


#define NGX_SVC_MAIL_WORD     45        /* bytes of an encoded word (RFC
                                           2047) */
#define NGX_SVC_MAIL_BEHIND   3         /* bytes after the first, in UTF-8 */
#define NGX_SVC_MAIL_PRIMARY_DEFAULT  "#1f4fbf"
#define NGX_SVC_MAIL_HEADER_MAX       4096
#define NGX_SVC_MAIL_HTTPS            "https://"
#define NGX_SVC_MAIL_HTTPS_LEN        (sizeof(NGX_SVC_MAIL_HTTPS) - 1)


static ngx_int_t ngx_svc_mail_values(ngx_svc_mail_letter_t *letter,
    const ngx_svc_mail_t *mail, ngx_str_t values[NGX_SVC_MAIL_VALUES]);
static ngx_uint_t ngx_svc_mail_color(const ngx_str_t *color);
static ngx_int_t ngx_svc_mail_rendered(ngx_pool_t *pool,
    const ngx_svc_mail_template_t *t, const ngx_str_t *values,
    ngx_str_t *text);
static ngx_int_t ngx_svc_mail_head(ngx_svc_mail_letter_t *letter,
    const ngx_svc_mail_conf_t *conf, const ngx_svc_mail_t *mail,
    const ngx_str_t *id, const ngx_str_t *subject);
static ngx_int_t ngx_svc_mail_people(ngx_svc_mail_letter_t *letter,
    const ngx_svc_mail_conf_t *conf, const ngx_svc_mail_t *mail, u_char *buf);
static ngx_int_t ngx_svc_mail_facts(ngx_svc_mail_letter_t *letter,
    const ngx_svc_mail_conf_t *conf, const ngx_str_t *id,
    const ngx_str_t *subject, u_char *buf);
static ngx_int_t ngx_svc_mail_header(ngx_svc_mail_letter_t *letter,
    ngx_svc_mail_header_e header, u_char *p, u_char *end);
static u_char *ngx_svc_mail_mailbox(u_char *p, const ngx_str_t *name,
    const ngx_str_t *address);
static u_char *ngx_svc_mail_words(u_char *p, const ngx_str_t *text);
static ngx_uint_t ngx_svc_mail_plain(const ngx_str_t *text);
static u_char *ngx_svc_mail_date(u_char *p);


ngx_svc_mail_letter_t *
ngx_svc_mail_letter(const ngx_svc_mail_conf_t *conf,
    const ngx_svc_mail_t *mail, const ngx_str_t *id)
{
    ngx_str_t                       subject, values[NGX_SVC_MAIL_VALUES];
    ngx_pool_t                     *pool;
    ngx_svc_mail_letter_t          *letter;
    const ngx_svc_mail_template_t  *formats;

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    letter = ngx_pcalloc(pool, sizeof(ngx_svc_mail_letter_t));
    if (letter == NULL) {
        goto failed;
    }

    letter->pool = pool;
    formats = ngx_svc_mail_templates_find(conf->templates, mail->kind,
                                          &mail->locale);

    if (ngx_svc_mail_values(letter, mail, values) != NGX_OK
        || ngx_svc_mail_rendered(pool, &formats[NGX_SVC_MAIL_SUBJECT], values,
                                 &subject)
           != NGX_OK
        || ngx_svc_mail_rendered(pool, &formats[NGX_SVC_MAIL_TXT], values,
                                 &letter->text)
           != NGX_OK
        || ngx_svc_mail_rendered(pool, &formats[NGX_SVC_MAIL_HTML], values,
                                 &letter->html)
           != NGX_OK
        || ngx_svc_mail_head(letter, conf, mail, id, &subject) != NGX_OK)
    {
        goto failed;
    }

    return letter;

failed:

    ngx_destroy_pool(pool);

    return NULL;
}


/* Sets the values.  The minutes are those left, rounded up. */

static ngx_int_t
ngx_svc_mail_values(ngx_svc_mail_letter_t *letter, const ngx_svc_mail_t *mail,
    ngx_str_t values[NGX_SVC_MAIL_VALUES])
{
    time_t      left;
    ngx_str_t  *minutes;

    values[NGX_SVC_MAIL_CODE] = mail->code;
    values[NGX_SVC_MAIL_LINK] = mail->link;
    values[NGX_SVC_MAIL_TENANT] = mail->tenant_name;
    values[NGX_SVC_MAIL_IP] = mail->ip;
    values[NGX_SVC_MAIL_COUNTRY] = mail->country;
    values[NGX_SVC_MAIL_PRIMARY] = mail->primary;
    values[NGX_SVC_MAIL_LOGO] = mail->logo_url;

    if (!ngx_svc_mail_color(&mail->primary)) {
        ngx_str_set(&values[NGX_SVC_MAIL_PRIMARY],
                    NGX_SVC_MAIL_PRIMARY_DEFAULT);
    }

    /* readers of mails load nothing without TLS */

    if (mail->logo_url.len <= NGX_SVC_MAIL_HTTPS_LEN
        || ngx_strncmp(mail->logo_url.data, NGX_SVC_MAIL_HTTPS,
                       NGX_SVC_MAIL_HTTPS_LEN)
           != 0)
    {
        ngx_str_null(&values[NGX_SVC_MAIL_LOGO]);
    }

    minutes = &values[NGX_SVC_MAIL_MINUTES];
    left = mail->not_after - ngx_time();

    minutes->data = ngx_pnalloc(letter->pool, NGX_TIME_T_LEN);
    if (minutes->data == NULL) {
        return NGX_ERROR;
    }

    minutes->len = ngx_sprintf(minutes->data, "%T", (left + 59) / 60)
                   - minutes->data;

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_mail_color(const ngx_str_t *color)
{
    u_char  ch;
    size_t  i;

    if (color->len != 7 || color->data[0] != '#') {
        return 0;
    }

    for (i = 1; i < color->len; i++) {
        ch = color->data[i] | 0x20;

        if ((ch < 'a' || ch > 'f')
            && (color->data[i] < '0' || color->data[i] > '9'))
        {
            return 0;
        }
    }

    return 1;
}


static ngx_int_t
ngx_svc_mail_rendered(ngx_pool_t *pool, const ngx_svc_mail_template_t *t,
    const ngx_str_t *values, ngx_str_t *text)
{
    text->len = ngx_svc_mail_render(t, values, NULL);
    text->data = ngx_pnalloc(pool, text->len + 1);

    if (text->data == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_svc_mail_render(t, values, text->data);
    text->data[text->len] = '\0';

    return NGX_OK;
}


static ngx_int_t
ngx_svc_mail_head(ngx_svc_mail_letter_t *letter,
    const ngx_svc_mail_conf_t *conf, const ngx_svc_mail_t *mail,
    const ngx_str_t *id, const ngx_str_t *subject)
{
    u_char  *buf;

    buf = ngx_pnalloc(letter->pool, NGX_SVC_MAIL_HEADER_MAX
                                    + 2 * subject->len);
    letter->to.data = ngx_pnalloc(letter->pool, mail->to.len + 3);

    if (buf == NULL || letter->to.data == NULL) {
        return NGX_ERROR;
    }

    letter->to.len = ngx_sprintf(letter->to.data, "<%V>%Z", &mail->to)
                     - letter->to.data - 1;

    if (ngx_svc_mail_people(letter, conf, mail, buf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_mail_facts(letter, conf, id, subject, buf);
}


/* Adds a header by ngx_svc_mail_header(), of the bytes from buf to p. */

#define ngx_svc_mail_header_is(header, p)                                     \
    if (ngx_svc_mail_header(letter, header, buf, p) != NGX_OK) {              \
        return NGX_ERROR;                                                     \
    }


static ngx_int_t
ngx_svc_mail_people(ngx_svc_mail_letter_t *letter,
    const ngx_svc_mail_conf_t *conf, const ngx_svc_mail_t *mail, u_char *buf)
{
    u_char  *p;

    static const ngx_str_t  nobody = ngx_null_string;

    p = ngx_sprintf(buf, "From: ");
    p = ngx_svc_mail_mailbox(p, &conf->from_name, &conf->from);
    ngx_svc_mail_header_is(NGX_SVC_MAIL_H_FROM, p);

    p = ngx_sprintf(buf, "To: ");
    p = ngx_svc_mail_mailbox(p, mail->name.len <= NGX_SVC_MAIL_HEADER_MAX / 8
                                ? &mail->name : &nobody, &mail->to);
    ngx_svc_mail_header_is(NGX_SVC_MAIL_H_TO, p);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_mail_facts(ngx_svc_mail_letter_t *letter,
    const ngx_svc_mail_conf_t *conf, const ngx_str_t *id,
    const ngx_str_t *subject, u_char *buf)
{
    u_char     *p;
    ngx_str_t   domain;

    domain.data = ngx_strlchr(conf->from.data,
                              conf->from.data + conf->from.len, '@');
    domain.len = conf->from.data + conf->from.len - domain.data;

    p = ngx_sprintf(buf, "Subject: ");
    p = ngx_svc_mail_plain(subject) ? ngx_sprintf(p, "%V", subject)
                                    : ngx_svc_mail_words(p, subject);
    ngx_svc_mail_header_is(NGX_SVC_MAIL_H_SUBJECT, p);

    p = ngx_svc_mail_date(ngx_sprintf(buf, "Date: "));
    ngx_svc_mail_header_is(NGX_SVC_MAIL_H_DATE, p);

    p = ngx_sprintf(buf, "Message-ID: <%V%V>", id, &domain);
    ngx_svc_mail_header_is(NGX_SVC_MAIL_H_ID, p);

    p = ngx_sprintf(buf, "Auto-Submitted: auto-generated");
    ngx_svc_mail_header_is(NGX_SVC_MAIL_H_AUTO, p);

    p = ngx_sprintf(buf, "Content-Type: multipart/alternative");
    ngx_svc_mail_header_is(NGX_SVC_MAIL_H_TYPE, p);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_mail_header(ngx_svc_mail_letter_t *letter,
    ngx_svc_mail_header_e header, u_char *p, u_char *end)
{
    ngx_str_t  *line;

    line = &letter->headers[header];
    line->len = end - p;
    line->data = ngx_pnalloc(letter->pool, line->len + 1);

    if (line->data == NULL) {
        return NGX_ERROR;
    }

    *ngx_cpymem(line->data, p, line->len) = '\0';

    return NGX_OK;
}


static u_char *
ngx_svc_mail_mailbox(u_char *p, const ngx_str_t *name,
    const ngx_str_t *address)
{
    if (name->len) {
        p = ngx_svc_mail_words(p, name);
        *p++ = ' ';
    }

    return ngx_sprintf(p, "<%V>", address);
}


/*
 * Writes encoded words, each on a line: no byte of the text can be taken for
 * syntax of the header.  A character is not split.  Where the text is no UTF-8
 * the words are no shorter, so twice the text has room.
 */

static u_char *
ngx_svc_mail_words(u_char *p, const ngx_str_t *text)
{
    size_t     at;
    ngx_str_t  word, base64;

    for (at = 0; at < text->len; at += word.len) {

        word.data = text->data + at;
        word.len = ngx_min(text->len - at, NGX_SVC_MAIL_WORD);

        while (at + word.len < text->len
               && word.len > NGX_SVC_MAIL_WORD - NGX_SVC_MAIL_BEHIND
               && (word.data[word.len] & 0xc0) == 0x80)
        {
            word.len--;
        }

        if (at) {
            p = ngx_cpymem(p, "\r\n ", 3);
        }

        p = ngx_cpymem(p, "=?UTF-8?B?", sizeof("=?UTF-8?B?") - 1);

        base64.data = p;
        ngx_encode_base64(&base64, &word);

        p = ngx_cpymem(p + base64.len, "?=", 2);
    }

    return p;
}


/*
 * Returns whether a text is printable ASCII that does not look like an encoded
 * word.
 */

static ngx_uint_t
ngx_svc_mail_plain(const ngx_str_t *text)
{
    size_t  i;

    for (i = 0; i < text->len; i++) {
        if (text->data[i] < 0x20 || text->data[i] > 0x7e
            || (text->data[i] == '=' && i + 1 < text->len
                && text->data[i + 1] == '?'))
        {
            return 0;
        }
    }

    return text->len <= 200;
}


/* Writes the date (RFC 5322, 3.3). */

static u_char *
ngx_svc_mail_date(u_char *p)
{
    ngx_tm_t     tm;

    static const char  *week[] = {
        "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"
    };
    static const char  *months[] = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun",
        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
    };

    ngx_gmtime(ngx_time(), &tm);

    return ngx_sprintf(p, "%s, %02d %s %4d %02d:%02d:%02d +0000",
                       week[tm.ngx_tm_wday], tm.ngx_tm_mday,
                       months[tm.ngx_tm_mon - 1], tm.ngx_tm_year,
                       tm.ngx_tm_hour, tm.ngx_tm_min, tm.ngx_tm_sec);
}
