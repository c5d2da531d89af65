/*
 * Templates of mails.
 */

#include "ngx_svc_mail_template.h"


typedef enum {
    NGX_SVC_MAIL_LITERAL = 0,
    NGX_SVC_MAIL_PLACEHOLDER,
    NGX_SVC_MAIL_SECTION
} ngx_svc_mail_part_e;


typedef struct {
    ngx_svc_mail_part_e    type;
    ngx_str_t              text;        /* a literal's text */
    ngx_svc_mail_value_e   value;
    ngx_uint_t             end;         /* index of the part after a section */
} ngx_svc_mail_part_t;

typedef struct {
    ngx_svc_mail_template_t  *template;
    const char               *why;
    u_char                   *at;       /* where the fault is */
    ngx_uint_t                open;     /* number of the open section, from 1 */
} ngx_svc_mail_compile_t;


static ngx_int_t ngx_svc_mail_compile(ngx_svc_mail_compile_t *c,
    ngx_str_t *text);
static ngx_int_t ngx_svc_mail_check(ngx_svc_mail_compile_t *c,
    ngx_str_t *text);
static ngx_int_t ngx_svc_mail_check_subject(ngx_svc_mail_compile_t *c,
    ngx_str_t *text);
static ngx_int_t ngx_svc_mail_tag(ngx_svc_mail_compile_t *c, ngx_str_t *tag);
static ngx_int_t ngx_svc_mail_close(ngx_svc_mail_compile_t *c,
    ngx_svc_mail_value_e value);
static ngx_svc_mail_part_t *ngx_svc_mail_part(ngx_svc_mail_compile_t *c,
    ngx_svc_mail_part_e type);
static ngx_svc_mail_value_e ngx_svc_mail_value(const ngx_str_t *name);
static size_t ngx_svc_mail_write(const ngx_str_t *value,
    ngx_svc_mail_format_e format, u_char *p);


static const ngx_str_t  ngx_svc_mail_values[NGX_SVC_MAIL_VALUES] = {
    ngx_string("code"),
    ngx_string("link"),
    ngx_string("tenant"),
    ngx_string("minutes"),
    ngx_string("ip"),
    ngx_string("country"),
    ngx_string("primary"),
    ngx_string("logoUrl")
};


ngx_int_t
ngx_svc_mail_template(ngx_pool_t *pool, ngx_str_t *text,
    ngx_svc_mail_format_e format, ngx_svc_mail_template_t *t,
    const char **why, ngx_uint_t *line)
{
    u_char                  *p;
    ngx_int_t                rc;
    ngx_svc_mail_compile_t   c;

    t->format = format;

    if (ngx_array_init(&t->parts, pool, 16, sizeof(ngx_svc_mail_part_t))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_memzero(&c, sizeof(ngx_svc_mail_compile_t));
    c.template = t;

    rc = ngx_svc_mail_check(&c, text);

    if (rc == NGX_OK) {
        rc = ngx_svc_mail_compile(&c, text);
    }

    if (rc == NGX_DECLINED) {
        *why = c.why;
        *line = 1;

        for (p = text->data; p < c.at; p++) {
            *line += (*p == '\n');
        }
    }

    return rc;
}


static ngx_int_t
ngx_svc_mail_check(ngx_svc_mail_compile_t *c, ngx_str_t *text)
{
    u_char    *p, *end;
    uint32_t   ch;

    p = text->data;
    end = p + text->len;

    while (p < end) {
        c->at = p;
        ch = (*p < 0x80) ? *p++ : ngx_utf8_decode(&p, end - p);

        if (ch > 0x10ffff || ch == 0) {
            c->why = "is not valid UTF-8";
            return NGX_DECLINED;
        }
    }

    if (c->template->format == NGX_SVC_MAIL_SUBJECT) {
        return ngx_svc_mail_check_subject(c, text);
    }

    return NGX_OK;
}


/* Checks that a subject is one line; a line end after it is cut off. */

static ngx_int_t
ngx_svc_mail_check_subject(ngx_svc_mail_compile_t *c, ngx_str_t *text)
{
    size_t  i;

    if (text->len >= 2
        && ngx_strncmp(text->data + text->len - 2, CRLF, 2) == 0)
    {
        text->len -= 2;
    }

    for (i = 0; i < text->len; i++) {
        if (text->data[i] < 0x20 || text->data[i] == 0x7f) {
            c->at = text->data + i;
            c->why = "has a line break or a control character: a subject is "
                     "one line";
            return NGX_DECLINED;
        }
    }

    if (text->len == 0) {
        c->at = text->data;
        c->why = "is empty: it must be one line";
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_mail_compile(ngx_svc_mail_compile_t *c, ngx_str_t *text)
{
    u_char               *p, *end, *open, *close;
    ngx_int_t             rc;
    ngx_str_t             tag;
    ngx_svc_mail_part_t  *part;

    p = text->data;
    end = p + text->len;

    while (p < end) {
        open = ngx_strlcasestrn(p, end, (u_char *) "{{", 2 - 1);

        if (open == NULL || open != p) {
            part = ngx_svc_mail_part(c, NGX_SVC_MAIL_LITERAL);
            if (part == NULL) {
                return NGX_ERROR;
            }

            part->text.data = p;
            part->text.len = (open ? open : end) - p;
        }

        if (open == NULL) {
            break;
        }

        c->at = open;
        close = ngx_strlcasestrn(open, end, (u_char *) "}}", 2 - 1);

        if (close == NULL) {
            c->why = "has \"{{\" without \"}}\"";
            return NGX_DECLINED;
        }

        tag.data = open + 2;
        tag.len = close - tag.data;

        rc = ngx_svc_mail_tag(c, &tag);
        if (rc != NGX_OK) {
            return rc;
        }

        p = close + 2;
    }

    if (c->open) {
        c->why = "has \"{{#\" without \"{{/\"";
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_mail_tag(ngx_svc_mail_compile_t *c, ngx_str_t *tag)
{
    u_char                 first;
    ngx_str_t              name;
    ngx_svc_mail_part_t   *part;
    ngx_svc_mail_value_e   value;

    name = *tag;
    first = tag->len ? tag->data[0] : '\0';

    if (first == '#' || first == '/') {
        name.data++;
        name.len--;
    }

    value = ngx_svc_mail_value(&name);

    if (value == NGX_SVC_MAIL_VALUES) {
        c->why = "has an unknown placeholder: there are {{code}}, {{link}}, "
                 "{{tenant}}, {{minutes}}, {{ip}}, {{country}}, {{primary}} "
                 "and {{logoUrl}}, and {{#ip}}...{{/ip}} around what is left "
                 "out without one";
        return NGX_DECLINED;
    }

    if (first == '/') {
        return ngx_svc_mail_close(c, value);
    }

    if (first == '#' && c->open) {
        c->why = "has a \"{{#\" within another one";
        return NGX_DECLINED;
    }

    part = ngx_svc_mail_part(c, first == '#' ? NGX_SVC_MAIL_SECTION
                                             : NGX_SVC_MAIL_PLACEHOLDER);
    if (part == NULL) {
        return NGX_ERROR;
    }

    part->value = value;

    if (first == '#') {
        c->open = c->template->parts.nelts;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_mail_close(ngx_svc_mail_compile_t *c, ngx_svc_mail_value_e value)
{
    ngx_svc_mail_part_t  *part;

    part = c->template->parts.elts;

    if (c->open == 0 || part[c->open - 1].value != value) {
        c->why = "has \"{{/\" without \"{{#\" of the same name";
        return NGX_DECLINED;
    }

    part[c->open - 1].end = c->template->parts.nelts;
    c->open = 0;

    return NGX_OK;
}


static ngx_svc_mail_part_t *
ngx_svc_mail_part(ngx_svc_mail_compile_t *c, ngx_svc_mail_part_e type)
{
    ngx_svc_mail_part_t  *part;

    part = ngx_array_push(&c->template->parts);

    if (part) {
        ngx_memzero(part, sizeof(ngx_svc_mail_part_t));
        part->type = type;
    }

    return part;
}


static ngx_svc_mail_value_e
ngx_svc_mail_value(const ngx_str_t *name)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_MAIL_VALUES; i++) {
        if (name->len == ngx_svc_mail_values[i].len
            && ngx_strncmp(name->data, ngx_svc_mail_values[i].data, name->len)
               == 0)
        {
            break;
        }
    }

    return i;
}


size_t
ngx_svc_mail_render(const ngx_svc_mail_template_t *t,
    const ngx_str_t values[NGX_SVC_MAIL_VALUES], u_char *p)
{
    size_t                      len, n;
    ngx_uint_t                  i;
    const ngx_svc_mail_part_t  *part;

    len = 0;
    part = t->parts.elts;

    for (i = 0; i < t->parts.nelts; i++) {

        switch (part[i].type) {

        case NGX_SVC_MAIL_LITERAL:
            n = part[i].text.len;

            if (p) {
                ngx_memcpy(p, part[i].text.data, n);
            }

            break;

        case NGX_SVC_MAIL_PLACEHOLDER:
            n = ngx_svc_mail_write(&values[part[i].value], t->format, p);
            break;

        default:
            n = 0;

            if (values[part[i].value].len == 0) {
                i = part[i].end - 1;
            }
        }

        len += n;
        p = p ? p + n : NULL;
    }

    return len;
}


/* Writes a value.  ngx_escape_html() does not escape "'". */

static size_t
ngx_svc_mail_write(const ngx_str_t *value, ngx_svc_mail_format_e format,
    u_char *p)
{
    u_char   *q, *last, *end;
    size_t    len;

    if (format != NGX_SVC_MAIL_HTML) {
        if (p) {
            ngx_memcpy(p, value->data, value->len);
        }

        return value->len;
    }

    len = 0;
    last = value->data;
    end = last + value->len;

    for (q = last; q <= end; q++) {

        if (q < end && *q != '\'') {
            continue;
        }

        if (p) {
            p = (u_char *) ngx_escape_html(p, last, q - last);
        }

        len += q - last + ngx_escape_html(NULL, last, q - last);

        if (q < end) {
            p = p ? ngx_cpymem(p, "&#39;", 5) : NULL;
            len += 5;
        }

        last = q + 1;
    }

    return len;
}
