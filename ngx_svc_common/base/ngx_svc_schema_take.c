/*
 * The values of members, for ngx_svc_schema.c.
 */

#include "ngx_svc_schema_take.h"


/*
 * Beyond this several integers are the same double, so what is read may be
 * another number than what was sent (RFC 8259, 6).
 */

#define NGX_SVC_SCHEMA_INTEGER  9007199254740991.0

#define ngx_svc_schema_text_is(str, text)                                     \
    ((str)->len == sizeof(text) - 1                                           \
     && ngx_strncasecmp((str)->data, (u_char *) text, sizeof(text) - 1) == 0)

#define ngx_svc_schema_space(c)                                               \
    ((c) == ' ' || (c) == '\t' || (c) == CR || (c) == LF)


static ngx_uint_t ngx_svc_schema_take_string(const ngx_svc_member_t *member,
    ngx_svc_value_t *value);
static ngx_uint_t ngx_svc_schema_take_text(const ngx_svc_member_t *member,
    ngx_str_t *str);
static ngx_uint_t ngx_svc_schema_take_number(const ngx_svc_member_t *member,
    ngx_svc_value_t *value);
static ngx_uint_t ngx_svc_schema_within(const ngx_svc_member_t *member,
    int64_t n);


ngx_uint_t
ngx_svc_schema_take(const ngx_svc_member_t *member, ngx_svc_value_t *value)
{
    cJSON  *json;

    json = value->json;

    switch (json->type & 0xff) {

    case cJSON_False:
    case cJSON_True:
        value->integer = cJSON_IsTrue(json) ? 1 : 0;
        return (member->type & NGX_SVC_T_BOOLEAN) != 0;

    case cJSON_Number:
        return ngx_svc_schema_take_number(member, value);

    case cJSON_String:
        return ngx_svc_schema_take_string(member, value);

    case cJSON_Object:
        return (member->type & NGX_SVC_T_OBJECT) != 0;

    case cJSON_Array:
        return (member->type & NGX_SVC_T_ARRAY)
               && ngx_svc_schema_within(member, cJSON_GetArraySize(json));

    default: /* cJSON_NULL */
        return 0;
    }
}


ngx_uint_t
ngx_svc_schema_blank(const ngx_svc_member_t *member, const u_char *string)
{
    if (member->type & NGX_SVC_T_TEXT) {
        while (ngx_svc_schema_space(*string)) {
            string++;
        }
    }

    return *string == '\0';
}


static ngx_uint_t
ngx_svc_schema_take_string(const ngx_svc_member_t *member,
    ngx_svc_value_t *value)
{
    ngx_str_t  *str;

    str = &value->str;

    str->data = (u_char *) value->json->valuestring;
    str->len = ngx_strlen(str->data);

    if ((member->type & NGX_SVC_T_BOOLEAN)
        && (member->flags & NGX_SVC_M_BOOL_TEXT))
    {
        if (ngx_svc_schema_text_is(str, "true")) {
            value->integer = 1;
            return 1;
        }

        if (ngx_svc_schema_text_is(str, "false")) {
            return 1;
        }
    }

    if (member->type & NGX_SVC_T_TEXT) {
        return ngx_svc_schema_take_text(member, str);
    }

    return (member->type & NGX_SVC_T_STRING)
           && ngx_svc_schema_within(member, (int64_t) str->len);
}


static ngx_uint_t
ngx_svc_schema_take_text(const ngx_svc_member_t *member, ngx_str_t *str)
{
    u_char   *p, *end;
    int64_t   n;

    p = str->data;
    end = p + str->len;

    while (p < end && ngx_svc_schema_space(*p)) {
        p++;
    }

    while (p < end && ngx_svc_schema_space(end[-1])) {
        end--;
    }

    str->data = p;
    str->len = end - p;

    for (n = 0; p < end; p++) {

        if (*p < 0x20 || *p == 0x7f) {
            return 0;
        }

        /* U+0080 to U+009F are control characters too */

        if (*p == 0xc2 && end - p > 1 && p[1] < 0xa0) {
            return 0;
        }

        n += (*p & 0xc0) != 0x80;
    }

    return ngx_svc_schema_within(member, n);
}


static ngx_uint_t
ngx_svc_schema_take_number(const ngx_svc_member_t *member,
    ngx_svc_value_t *value)
{
    double  d;

    d = value->json->valuedouble;

    if (member->type & NGX_SVC_T_NUMBER) {
        return d >= (double) member->min && d <= (double) member->max;
    }

    if (!(member->type & NGX_SVC_T_INTEGER)
        || d < -NGX_SVC_SCHEMA_INTEGER
        || d > NGX_SVC_SCHEMA_INTEGER)
    {
        return 0;
    }

    value->integer = (int64_t) d;

    return (double) value->integer == d
           && ngx_svc_schema_within(member, value->integer);
}


static ngx_uint_t
ngx_svc_schema_within(const ngx_svc_member_t *member, int64_t n)
{
    if (member->min == 0 && member->max == 0) {
        return 1;
    }

    return n >= member->min && n <= member->max;
}
