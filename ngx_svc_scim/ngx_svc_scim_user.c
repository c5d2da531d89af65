/*
 * What a request says of a SCIM user (RFC 7643, 4.1 and 4.3).
 */

#include "ngx_svc_scim_user.h"
#include "ngx_svc_email.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_path.h"


typedef struct {
    ngx_svc_member_t  member;
    ngx_uint_t        bit;
} ngx_svc_scim_attribute_t;


static ngx_int_t ngx_svc_scim_user_whole(ngx_svc_scim_change_t *change,
    cJSON *body);
static ngx_int_t ngx_svc_scim_user_name(ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_scim_user_names(ngx_svc_scim_change_t *change);
static void ngx_svc_scim_user_strip(ngx_svc_value_t *value);
static ngx_int_t ngx_svc_scim_user_members(ngx_svc_scim_change_t *change,
    ngx_uint_t parent, cJSON *object);
static ngx_int_t ngx_svc_scim_user_complex(ngx_svc_scim_change_t *change,
    ngx_uint_t bits, cJSON *json);
static ngx_int_t ngx_svc_scim_user_value(ngx_svc_scim_change_t *change,
    const ngx_svc_scim_attribute_t *attribute, cJSON *json);
static ngx_int_t ngx_svc_scim_user_mention(ngx_svc_scim_change_t *change,
    const ngx_svc_scim_attribute_t *attribute);
static const ngx_svc_scim_attribute_t *ngx_svc_scim_user_attribute(
    ngx_uint_t bit);
static ngx_svc_value_t *ngx_svc_scim_user_slot(ngx_svc_scim_user_t *user,
    const ngx_svc_scim_attribute_t *attribute);
static void ngx_svc_scim_user_null(ngx_svc_value_t *value);
static ngx_uint_t ngx_svc_scim_user_empty(cJSON *json);


#define ngx_svc_scim_string_row(key, field, attribute)                        \
    { .member = { .name = ngx_string(key),                                    \
                  .type = NGX_SVC_T_STRING,                                   \
                  .flags = NGX_SVC_M_NOCASE|NGX_SVC_M_CLEARS,                 \
                  .max = NGX_SVC_PROFILE_MAX,                                 \
                  .offset = offsetof(ngx_svc_scim_user_t, field) },           \
      .bit = attribute }


static const ngx_svc_scim_attribute_t  ngx_svc_scim_attributes[] = {

    { .member = { .name = ngx_string("userName"),
                  .type = NGX_SVC_T_STRING,
                  .flags = NGX_SVC_M_NOCASE|NGX_SVC_M_CLEARS
                           |NGX_SVC_M_REQUIRED,
                  .check = ngx_svc_email_check,
                  .offset = offsetof(ngx_svc_scim_user_t, user_name) },
      .bit = NGX_SVC_SCIM_USER_NAME },

    { .member = { .name = ngx_string("active"),
                  .type = NGX_SVC_T_BOOLEAN,
                  .flags = NGX_SVC_M_NOCASE|NGX_SVC_M_BOOL_TEXT,
                  .offset = offsetof(ngx_svc_scim_user_t, active) },
      .bit = NGX_SVC_SCIM_ACTIVE },

    ngx_svc_scim_string_row("externalId", external_id,
                            NGX_SVC_SCIM_EXTERNAL_ID),
    ngx_svc_scim_string_row("name.givenName", first_name,
                            NGX_SVC_SCIM_GIVEN_NAME),
    ngx_svc_scim_string_row("name.familyName", last_name,
                            NGX_SVC_SCIM_FAMILY_NAME),
    ngx_svc_scim_string_row("name.formatted", formatted,
                            NGX_SVC_SCIM_FORMATTED),
    ngx_svc_scim_string_row("displayName", display_name,
                            NGX_SVC_SCIM_DISPLAY_NAME),
    ngx_svc_scim_string_row("title", title, NGX_SVC_SCIM_TITLE),
    ngx_svc_scim_string_row("locale", locale, NGX_SVC_SCIM_LOCALE),
    ngx_svc_scim_string_row(NGX_SVC_SCIM_ENTERPRISE_URN ":department",
                            department, NGX_SVC_SCIM_DEPARTMENT),

    { .bit = 0 }
};


ngx_int_t
ngx_svc_scim_user_create(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err)
{
    ngx_svc_scim_change_t  change;

    ngx_svc_scim_user_change(&change, user, err, NGX_SVC_SCIM_USER_NAME);

    change.optional = NGX_SVC_SCIM_ACTIVE;

    change.new = 1;

    if (ngx_svc_scim_user_object(&change, body) != NGX_OK
        || ngx_svc_scim_user_name(user, err) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    return ngx_svc_scim_user_end(&change);
}


ngx_int_t
ngx_svc_scim_user_rfc_create(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err)
{
    if (ngx_svc_scim_user_schemas(body, NGX_SVC_SCIM_CORE_URN,
                                  NGX_SVC_E_INVALID_VALUE, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    return ngx_svc_scim_user_create(body, user, err);
}


static ngx_int_t
ngx_svc_scim_user_name(ngx_svc_scim_user_t *user, ngx_svc_error_t *err)
{
    return user->user_name.set ? NGX_OK
                               : ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                              "\"userName\" is required.");
}


ngx_int_t
ngx_svc_scim_user_replace(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err)
{
    ngx_svc_scim_change_t  change;

    ngx_svc_scim_user_change(&change, user, err, 0);

    return ngx_svc_scim_user_whole(&change, body);
}


ngx_int_t
ngx_svc_scim_user_rfc_replace(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err)
{
    ngx_svc_scim_change_t  change;

    if (ngx_svc_scim_user_schemas(body, NGX_SVC_SCIM_CORE_URN,
                                  NGX_SVC_E_INVALID_VALUE, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    ngx_svc_scim_user_change(&change, user, err, NGX_SVC_SCIM_USER_NAME);

    if (ngx_svc_scim_user_whole(&change, body) != NGX_OK) {
        return NGX_DECLINED;
    }

    return ngx_svc_scim_user_name(user, err);
}


static ngx_int_t
ngx_svc_scim_user_whole(ngx_svc_scim_change_t *change, cJSON *body)
{
    ngx_svc_value_t                 *value;
    const ngx_svc_scim_attribute_t  *attribute;

    change->optional = NGX_SVC_SCIM_ACTIVE;

    if (ngx_svc_scim_user_object(change, body) != NGX_OK
        || ngx_svc_scim_user_end(change) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    for (attribute = ngx_svc_scim_attributes; attribute->bit; attribute++) {

        value = ngx_svc_scim_user_slot(change->user, attribute);

        if ((attribute->bit & NGX_SVC_SCIM_WRITABLE & ~NGX_SVC_SCIM_ACTIVE)
            && !value->set)
        {
            ngx_svc_scim_user_null(value);
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_scim_user_member(cJSON *object, const char *name, cJSON **member,
    ngx_svc_error_t *err)
{
    cJSON  *child;

    *member = NULL;

    for (child = object->child; child; child = child->next) {

        if (ngx_strcasecmp((u_char *) child->string, (u_char *) name) != 0) {
            continue;
        }

        if (*member) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_SYNTAX,
                                "\"%s\" is given more than once.", name);
        }

        *member = child;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_scim_user_schemas(cJSON *body, const char *urn, ngx_svc_error_e kind,
    ngx_svc_error_t *err)
{
    cJSON       *schemas, *child;
    ngx_uint_t   found;

    if (ngx_svc_scim_user_member(body, "schemas", &schemas, err) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (schemas == NULL || cJSON_IsNull(schemas)) {
        return NGX_OK;
    }

    found = 0;

    if (!cJSON_IsArray(schemas)) {
        goto invalid;
    }

    for (child = schemas->child; child; child = child->next) {

        if (!cJSON_IsString(child)) {
            goto invalid;
        }

        found |= ngx_strcasecmp((u_char *) child->valuestring, (u_char *) urn)
                 == 0;
    }

    return found ? NGX_OK
                 : ngx_svc_fail(err, kind, "\"schemas\" must have \"%s\".",
                                urn);

invalid:

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_SYNTAX,
                        "\"schemas\" must be an array of strings.");
}


void
ngx_svc_scim_user_change(ngx_svc_scim_change_t *change,
    ngx_svc_scim_user_t *user, ngx_svc_error_t *err, ngx_uint_t writable)
{
    ngx_memzero(change, sizeof(ngx_svc_scim_change_t));

    change->user = user;
    change->err = err;
    change->writable = NGX_SVC_SCIM_WRITABLE|writable;
}


ngx_int_t
ngx_svc_scim_user_object(ngx_svc_scim_change_t *change, cJSON *object)
{
    change->mentioned = 0;

    return ngx_svc_scim_user_members(change, 0, object);
}


ngx_int_t
ngx_svc_scim_user_set(ngx_svc_scim_change_t *change, ngx_uint_t bits,
    cJSON *json)
{
    const ngx_svc_scim_attribute_t  *attribute;

    if (bits == NGX_SVC_SCIM_CORE) {
        return cJSON_IsObject(json) ? ngx_svc_scim_user_members(change, 0, json)
                                    : NGX_OK;
    }

    if (bits == NGX_SVC_SCIM_NAME || bits == NGX_SVC_SCIM_ENTERPRISE) {
        return ngx_svc_scim_user_complex(change, bits, json);
    }

    attribute = ngx_svc_scim_user_attribute(bits & change->writable);

    return attribute ? ngx_svc_scim_user_value(change, attribute, json)
                     : NGX_OK;
}


ngx_int_t
ngx_svc_scim_user_clear(ngx_svc_scim_change_t *change, ngx_uint_t bits)
{
    ngx_uint_t                       whole;
    ngx_svc_value_t                 *value;
    const ngx_svc_scim_attribute_t  *attribute;

    whole = (bits == NGX_SVC_SCIM_NAME);
    bits &= change->writable;

    for (attribute = ngx_svc_scim_attributes; attribute->bit; attribute++) {

        if (!(attribute->bit & bits)) {
            continue;
        }

        if (ngx_svc_scim_user_mention(change, attribute) != NGX_OK) {
            return NGX_DECLINED;
        }

        value = ngx_svc_scim_user_slot(change->user, attribute);

        if (whole && attribute->bit == NGX_SVC_SCIM_FORMATTED) {

            /* the display name is not a part of the name */

            ngx_memzero(value, sizeof(ngx_svc_value_t));
            continue;
        }

        ngx_svc_scim_user_null(value);
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_scim_user_end(ngx_svc_scim_change_t *change)
{
    ngx_svc_scim_user_t  *user;

    user = change->user;

    if (ngx_svc_scim_user_names(change) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (user->formatted.set && !user->display_name.set) {
        user->display_name = user->formatted;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_scim_user_names(ngx_svc_scim_change_t *change)
{
    ngx_uint_t                       leaves;
    ngx_svc_value_t                 *value;
    const ngx_svc_scim_attribute_t  *attribute;

    value = &change->user->active;
    leaves = !change->new && value->set && !value->null && !value->integer;

    for (attribute = ngx_svc_scim_attributes; attribute->bit; attribute++) {

        value = ngx_svc_scim_user_slot(change->user, attribute);

        if (!(attribute->bit & (NGX_SVC_SCIM_NAME|NGX_SVC_SCIM_DISPLAY_NAME))
            || !value->set || value->null)
        {
            continue;
        }

        if (leaves) {
            ngx_svc_scim_user_strip(value);

        } else if (ngx_svc_check_name(&attribute->member, value,
                                      (char *) attribute->member.name.data,
                                      change->err)
                   != NGX_OK)
        {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


static void
ngx_svc_scim_user_strip(ngx_svc_value_t *value)
{
    ngx_svc_bidi_strip(&value->str);

    if (value->str.len == 0) {
        ngx_svc_scim_user_null(value);
    }
}


static ngx_int_t
ngx_svc_scim_user_members(ngx_svc_scim_change_t *change, ngx_uint_t parent,
    cJSON *object)
{
    cJSON       *child;
    u_char      *name;
    size_t       len;
    ngx_uint_t   bits;

    for (child = object->child; child; child = child->next) {

        name = (u_char *) child->string;
        len = ngx_strlen(name);

        if (parent) {
            bits = ngx_svc_scim_path_member(parent, name, len);

        } else if (ngx_svc_scim_path_parse(name, len, &bits) != NGX_OK) {
            continue;
        }

        if (ngx_svc_scim_user_set(change, bits, child) != NGX_OK) {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


/*
 * Takes "name" or the extension: an object, or an empty value, which clears all
 * of its members.
 */

static ngx_int_t
ngx_svc_scim_user_complex(ngx_svc_scim_change_t *change, ngx_uint_t bits,
    cJSON *json)
{
    if (cJSON_IsObject(json)) {
        return ngx_svc_scim_user_members(change, bits, json);
    }

    if (cJSON_IsNull(json) || ngx_svc_scim_user_empty(json)) {
        return ngx_svc_scim_user_clear(change, bits);
    }

    return ngx_svc_fail(change->err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be an object or null.",
                        bits == NGX_SVC_SCIM_NAME
                            ? "name" : NGX_SVC_SCIM_ENTERPRISE_URN);
}


static ngx_int_t
ngx_svc_scim_user_value(ngx_svc_scim_change_t *change,
    const ngx_svc_scim_attribute_t *attribute, cJSON *json)
{
    const ngx_svc_member_t  *member;

    if (ngx_svc_scim_user_mention(change, attribute) != NGX_OK) {
        return NGX_DECLINED;
    }

    if ((attribute->bit & change->optional) && cJSON_IsNull(json)) {
        return NGX_OK;
    }

    member = &attribute->member;

    return ngx_svc_schema_value(member, json, (char *) member->name.data,
                                change->user, change->err);
}


/*
 * The JSON reader has refused members of the same name; here they are the same
 * attribute in another case or notation, and nobody knows which one counts.
 */

static ngx_int_t
ngx_svc_scim_user_mention(ngx_svc_scim_change_t *change,
    const ngx_svc_scim_attribute_t *attribute)
{
    if (change->mentioned & attribute->bit) {
        return ngx_svc_fail(change->err, NGX_SVC_E_INVALID_SYNTAX,
                            "\"%V\" is given more than once.",
                            &attribute->member.name);
    }

    change->mentioned |= attribute->bit;

    return NGX_OK;
}


static const ngx_svc_scim_attribute_t *
ngx_svc_scim_user_attribute(ngx_uint_t bit)
{
    const ngx_svc_scim_attribute_t  *attribute;

    for (attribute = ngx_svc_scim_attributes; attribute->bit; attribute++) {
        if (attribute->bit == bit) {
            return attribute;
        }
    }

    return NULL;
}


static ngx_svc_value_t *
ngx_svc_scim_user_slot(ngx_svc_scim_user_t *user,
    const ngx_svc_scim_attribute_t *attribute)
{
    return (ngx_svc_value_t *) ((u_char *) user + attribute->member.offset);
}


static void
ngx_svc_scim_user_null(ngx_svc_value_t *value)
{
    ngx_memzero(value, sizeof(ngx_svc_value_t));

    value->set = 1;
    value->null = 1;
}


/* Returns whether the value is "" or []. */

static ngx_uint_t
ngx_svc_scim_user_empty(cJSON *json)
{
    return (cJSON_IsString(json) && json->valuestring[0] == '\0')
           || (cJSON_IsArray(json) && json->child == NULL);
}
