/*
 * Outbound SCIM: the attributes of a user that are pushed.
 */

#include "ngx_svc_push_attribute.h"


#define ngx_svc_push_core(name, member)                                       \
    { NULL, name, name, offsetof(ngx_svc_push_want_t, member) }

const ngx_svc_push_attribute_t  ngx_svc_push_attributes[] = {
    ngx_svc_push_core("displayName", display_name),
    { "name", "givenName", "name.givenName",
      offsetof(ngx_svc_push_want_t, given_name) },
    { "name", "familyName", "name.familyName",
      offsetof(ngx_svc_push_want_t, family_name) },
    ngx_svc_push_core("title", title),
    ngx_svc_push_core("locale", locale),
    { NGX_SVC_PUSH_ENTERPRISE, "department",
      NGX_SVC_PUSH_ENTERPRISE ":department",
      offsetof(ngx_svc_push_want_t, department) },
    { NULL, NULL, NULL, 0 }
};


/* A user without a name is displayed by the e-mail address. */

const ngx_str_t *
ngx_svc_push_value(const ngx_svc_push_want_t *want,
    const ngx_svc_push_attribute_t *attribute)
{
    const ngx_str_t  *value;

    value = (const ngx_str_t *) ((const u_char *) want + attribute->offset);

    return value->len || value != &want->display_name ? value
                                                      : &want->user_name;
}


ngx_uint_t
ngx_svc_push_bits(const ngx_svc_push_want_t *want)
{
    ngx_uint_t                       bits;
    const ngx_svc_push_attribute_t  *attribute;

    bits = 0;

    for (attribute = ngx_svc_push_attributes; attribute->name; attribute++) {
        if (ngx_svc_push_value(want, attribute)->len) {
            bits |= ngx_svc_push_bit(attribute);
        }
    }

    return bits;
}


ngx_uint_t
ngx_svc_push_ours(const ngx_svc_push_want_t *want,
    const ngx_svc_push_attribute_t *attribute)
{
    return ngx_svc_push_value(want, attribute)->len
           || (want->sent & ngx_svc_push_bit(attribute));
}


ngx_uint_t
ngx_svc_push_same(const char *one, const char *two)
{
    return ngx_strcasecmp((u_char *) one, (u_char *) two) == 0;
}


ngx_int_t
ngx_svc_push_attribute_end(ngx_svc_json_writer_t *w, ngx_str_t *body)
{
    if (w->failed) {
        return NGX_ERROR;
    }

    body->data = w->start;
    body->len = w->last - w->start;

    return NGX_OK;
}


void
ngx_svc_push_attribute_formatted(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_push_want_t *want)
{
    const ngx_str_t  *given, *family;

    given = &want->given_name;
    family = &want->family_name;

    if (given->len + family->len == 0) {
        return;
    }

    ngx_svc_json_string_begin(w, key);
    ngx_svc_json_string_append(w, given->data, given->len);

    if (given->len && family->len) {
        ngx_svc_json_string_append(w, (u_char *) " ", 1);
    }

    ngx_svc_json_string_append(w, family->data, family->len);
    ngx_svc_json_string_end(w);
}


void
ngx_svc_push_attribute_email(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want)
{
    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_string(w, "value", want->user_name.data, want->user_name.len);
    ngx_svc_push_plain(w, "type", "work");
    ngx_svc_json_boolean(w, "primary", 1);
    ngx_svc_json_close(w, '}');
}
