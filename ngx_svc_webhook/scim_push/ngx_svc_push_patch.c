/*
 * Outbound SCIM: the PATCH that changes a target's resource to what is wanted.
 */

#include "ngx_svc_push_patch.h"
#include "ngx_svc_push_attribute.h"
#include "ngx_svc_push_read.h"


#define NGX_SVC_PUSH_PATCH                                                    \
    "urn:ietf:params:scim:api:messages:2.0:PatchOp"


static void ngx_svc_push_patch_operation(ngx_svc_json_writer_t *w,
    const char *op, const char *path);
static ngx_uint_t ngx_svc_push_patch_identity(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there);
static ngx_uint_t ngx_svc_push_patch_has_email(const cJSON *there,
    const ngx_str_t *address);
static ngx_uint_t ngx_svc_push_patch_changes(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there);
static ngx_uint_t ngx_svc_push_patch_change(ngx_svc_json_writer_t *w,
    const ngx_svc_push_attribute_t *attribute, const ngx_str_t *value,
    const cJSON *there);


ngx_int_t
ngx_svc_push_patch(ngx_pool_t *pool, const ngx_svc_push_want_t *want,
    const cJSON *there, ngx_str_t *body)
{
    ngx_uint_t             n;
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, pool, NGX_SVC_PUSH_BODY) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    ngx_svc_json_open(&w, "schemas", '[');
    ngx_svc_push_plain(&w, NULL, NGX_SVC_PUSH_PATCH);
    ngx_svc_json_close(&w, ']');

    ngx_svc_json_open(&w, "Operations", '[');
    n = 0;

    if (there == NULL || ngx_svc_push_read_active(there) != want->active) {
        ngx_svc_push_patch_operation(&w, "replace", "active");
        ngx_svc_json_boolean(&w, "value", want->active);
        ngx_svc_json_close(&w, '}');
        n++;
    }

    if (want->active) {
        n += ngx_svc_push_patch_identity(&w, want, there);
        n += ngx_svc_push_patch_changes(&w, want, there);
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_json_close(&w, '}');

    if (n == 0) {
        return NGX_DECLINED;
    }

    return ngx_svc_push_attribute_end(&w, body);
}


/* Begins an operation; its object stays open. */

static void
ngx_svc_push_patch_operation(ngx_svc_json_writer_t *w, const char *op,
    const char *path)
{
    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_plain(w, "op", (u_char *) op, ngx_strlen(op));
    ngx_svc_json_plain(w, "path", (u_char *) path, ngx_strlen(path));
}


/* Writes our id as externalId, where the target does not have it. */

static ngx_uint_t
ngx_svc_push_patch_identity(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there)
{
    ngx_uint_t  n;

    n = 0;

    if (there && !ngx_svc_push_read_is(there, "externalId", &want->id, 1)) {
        ngx_svc_push_patch_operation(w, "replace", "externalId");
        ngx_svc_json_string(w, "value", want->id.data, want->id.len);
        ngx_svc_json_close(w, '}');
        n++;
    }

    if (there == NULL
        || !ngx_svc_push_read_is(there, "userName", &want->user_name, 0))
    {
        ngx_svc_push_patch_operation(w, "replace", "userName");
        ngx_svc_json_string(w, "value", want->user_name.data,
                            want->user_name.len);
        ngx_svc_json_close(w, '}');
        n++;
    }

    if (there == NULL
        || !ngx_svc_push_patch_has_email(there, &want->user_name))
    {
        ngx_svc_push_patch_operation(w, "replace", "emails");
        ngx_svc_json_open(w, "value", '[');
        ngx_svc_push_attribute_email(w, want);
        ngx_svc_json_close(w, ']');
        ngx_svc_json_close(w, '}');
        n++;
    }

    return n;
}


static ngx_uint_t
ngx_svc_push_patch_has_email(const cJSON *there, const ngx_str_t *address)
{
    const cJSON  *item;

    item = ngx_svc_push_read_member(there, "emails");

    for (item = (item && cJSON_IsArray(item)) ? item->child : NULL; item;
         item = item->next)
    {
        if (ngx_svc_push_read_is(item, "value", address, 0)) {
            return 1;
        }
    }

    return 0;
}


/*
 * name.formatted never counts as a difference: the target may build it itself.
 */

static ngx_uint_t
ngx_svc_push_patch_changes(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there)
{
    ngx_uint_t                       n, name;
    const ngx_svc_push_attribute_t  *attribute;

    n = 0;
    name = 0;

    for (attribute = ngx_svc_push_attributes; attribute->name; attribute++) {

        if (ngx_svc_push_ours(want, attribute)
            && ngx_svc_push_patch_change(w, attribute,
                                         ngx_svc_push_value(want, attribute),
                                         there))
        {
            name |= (attribute->parent && attribute->parent[0] == 'n');
            n++;
        }
    }

    if (name && want->given_name.len + want->family_name.len) {
        ngx_svc_push_patch_operation(w, "replace", "name.formatted");
        ngx_svc_push_attribute_formatted(w, "value", want);
        ngx_svc_json_close(w, '}');
    }

    return n;
}


static ngx_uint_t
ngx_svc_push_patch_change(ngx_svc_json_writer_t *w,
    const ngx_svc_push_attribute_t *attribute, const ngx_str_t *value,
    const cJSON *there)
{
    const cJSON  *object;

    if (there) {
        object = attribute->parent
                 ? ngx_svc_push_read_member(there, attribute->parent) : there;

        if (ngx_svc_push_read_is(object, attribute->name, value, 1)) {
            return 0;
        }
    }

    if (value->len == 0) {
        ngx_svc_push_patch_operation(w, "remove", attribute->path);

    } else {
        ngx_svc_push_patch_operation(w, "replace", attribute->path);
        ngx_svc_json_string(w, "value", value->data, value->len);
    }

    ngx_svc_json_close(w, '}');

    return 1;
}
