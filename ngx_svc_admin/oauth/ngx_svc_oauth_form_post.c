/*
 * A page that posts.
 *
 * The state may be chosen by anybody.  In an attribute, all of ASCII but
 * letters and digits becomes character references: no byte of it can end the
 * attribute, whatever HTML says about that.
 */

#include "ngx_svc_oauth_form_post.h"


#define NGX_SVC_OAUTH_FORM_POST_REFERENCE  (sizeof("&#127;") - 1)

#define NGX_SVC_OAUTH_FORM_POST_SCRIPT  "document.forms[0].submit()"


static u_char *ngx_svc_oauth_form_post_escape(u_char *p,
    const ngx_str_t *text);


/*
 * The hash is the script's.  There is no form-action: Chromium applies it to
 * where the client redirects, as well.
 */

ngx_str_t  ngx_svc_oauth_form_post_policy = ngx_string(
    "default-src 'none'; script-src "
    "'sha256-ePniVEkSivX/c7XWBGafqh8tSpiRrKiqYeqbG7N1TOE='; "
    "base-uri 'none'; frame-ancestors 'none'");

static const char  ngx_svc_oauth_form_post_head[] =
    "<!doctype html>\n"
    "<html lang=\"en\">\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>One moment</title>\n"
    "<form method=\"post\" action=\"";

static const char  ngx_svc_oauth_form_post_tail[] =
    "<noscript>\n"
    "<p>Go on to the application that has sent you here:</p>\n"
    "<button>Continue</button>\n"
    "</noscript>\n"
    "</form>\n"
    "<script>" NGX_SVC_OAUTH_FORM_POST_SCRIPT "</script>\n";

static const char  ngx_svc_oauth_form_post_input[] =
    "<input type=\"hidden\" name=\"%s\" value=\"";

static const char  ngx_svc_oauth_form_post_end[] = "\">\n";


ngx_int_t
ngx_svc_oauth_form_post(ngx_pool_t *pool, const ngx_str_t *uri,
    const ngx_svc_oauth_field_t *fields, ngx_str_t *page)
{
    u_char      *p;
    size_t       size;
    ngx_uint_t   i;

    size = sizeof(ngx_svc_oauth_form_post_head)
           + sizeof(ngx_svc_oauth_form_post_end)
           + sizeof(ngx_svc_oauth_form_post_tail)
           + NGX_SVC_OAUTH_FORM_POST_REFERENCE * uri->len;

    for (i = 0; fields[i].name; i++) {
        size += sizeof(ngx_svc_oauth_form_post_input)
                + sizeof(ngx_svc_oauth_form_post_end)
                + ngx_strlen(fields[i].name)
                + NGX_SVC_OAUTH_FORM_POST_REFERENCE * fields[i].value.len;
    }

    p = ngx_pnalloc(pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    page->data = p;

    p = ngx_sprintf(p, "%s", ngx_svc_oauth_form_post_head);
    p = ngx_svc_oauth_form_post_escape(p, uri);
    p = ngx_sprintf(p, "%s", ngx_svc_oauth_form_post_end);

    for (i = 0; fields[i].name; i++) {
        if (fields[i].value.data) {
            p = ngx_sprintf(p, ngx_svc_oauth_form_post_input, fields[i].name);
            p = ngx_svc_oauth_form_post_escape(p, &fields[i].value);
            p = ngx_sprintf(p, "%s", ngx_svc_oauth_form_post_end);
        }
    }

    p = ngx_sprintf(p, "%s", ngx_svc_oauth_form_post_tail);

    page->len = p - page->data;

    return NGX_OK;
}


static u_char *
ngx_svc_oauth_form_post_escape(u_char *p, const ngx_str_t *text)
{
    u_char  c;
    size_t  i;

    for (i = 0; i < text->len; i++) {
        c = text->data[i];

        if (c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')
            || (c >= 'a' && c <= 'z'))
        {
            *p++ = c;

        } else {
            p = ngx_sprintf(p, "&#%d;", (int) c);
        }
    }

    return p;
}
