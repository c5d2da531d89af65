/*
 * Templates of mails: compiled when the configuration is read, then rendered.
 *
 * "{{name}}" is a value; "{{#name}}...{{/name}}" is left out when the value is
 * empty.
 */

#ifndef _NGX_SVC_MAIL_TEMPLATE_H_INCLUDED_
#define _NGX_SVC_MAIL_TEMPLATE_H_INCLUDED_


#include "ngx_svc_common.h"


typedef enum {
    NGX_SVC_MAIL_CODE = 0,
    NGX_SVC_MAIL_LINK,
    NGX_SVC_MAIL_TENANT,
    NGX_SVC_MAIL_MINUTES,
    NGX_SVC_MAIL_IP,
    NGX_SVC_MAIL_COUNTRY,
    NGX_SVC_MAIL_PRIMARY,
    NGX_SVC_MAIL_LOGO,
    NGX_SVC_MAIL_VALUES
} ngx_svc_mail_value_e;

typedef enum {
    NGX_SVC_MAIL_SUBJECT = 0,
    NGX_SVC_MAIL_TXT,
    NGX_SVC_MAIL_HTML,
    NGX_SVC_MAIL_FORMATS
} ngx_svc_mail_format_e;


/* A compiled template: an array of private parts; all zeros: none. */

typedef struct {
    ngx_array_t              parts;
    ngx_svc_mail_format_e    format;
} ngx_svc_mail_template_t;


/*
 * Compiles a text, whose lines end with CRLF and which lives as long as the
 * template.  NGX_OK; NGX_DECLINED: *why, without a full stop, and *line say
 * what is wrong; NGX_ERROR: no memory.
 */
ngx_int_t ngx_svc_mail_template(ngx_pool_t *pool, ngx_str_t *text,
    ngx_svc_mail_format_e format, ngx_svc_mail_template_t *t,
    const char **why, ngx_uint_t *line);

/*
 * Renders a template, and returns the length of its text; p == NULL: only the
 * length.  Values must not have control characters; in HTML they are escaped.
 */
size_t ngx_svc_mail_render(const ngx_svc_mail_template_t *t,
    const ngx_str_t values[NGX_SVC_MAIL_VALUES], u_char *p);


#endif /* _NGX_SVC_MAIL_TEMPLATE_H_INCLUDED_ */
