/*
 * The operations of a PATCH (RFC 7644, 3.5.2), folded into one change.
 */

#include "ngx_svc_scim_user.h"
#include "ngx_svc_scim_path.h"


#define NGX_SVC_SCIM_OPERATIONS_MAX  1000


typedef struct {
    cJSON       *op;
    cJSON       *path;
    cJSON       *value;
} ngx_svc_scim_operation_t;


static ngx_int_t ngx_svc_scim_patch_member(cJSON *object, const char *name,
    cJSON **member, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_scim_patch_operation(ngx_svc_scim_change_t *change,
    cJSON *json);
static ngx_int_t ngx_svc_scim_patch_read(cJSON *json,
    ngx_svc_scim_operation_t *operation, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_scim_patch_bits(cJSON *path, ngx_uint_t *bits,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_scim_patch_set(ngx_svc_scim_change_t *change,
    ngx_svc_scim_operation_t *operation, ngx_uint_t bits);
static ngx_int_t ngx_svc_scim_patch_remove(ngx_svc_scim_change_t *change,
    ngx_uint_t bits);
static ngx_uint_t ngx_svc_scim_patch_is(cJSON *op, const char *name);


ngx_int_t
ngx_svc_scim_user_patch(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err)
{
    cJSON                  *operations, *json;
    ngx_svc_scim_change_t   change;

    if (ngx_svc_scim_patch_member(body, "Operations", &operations, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (operations == NULL || !cJSON_IsArray(operations)
        || operations->child == NULL
        || cJSON_GetArraySize(operations) > NGX_SVC_SCIM_OPERATIONS_MAX)
    {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_SYNTAX,
                            "\"Operations\" must be an array of 1 to %d"
                            " operations.", NGX_SVC_SCIM_OPERATIONS_MAX);
    }

    ngx_memzero(&change, sizeof(ngx_svc_scim_change_t));

    change.user = user;
    change.err = err;
    change.writable = NGX_SVC_SCIM_WRITABLE;

    for (json = operations->child; json; json = json->next) {
        if (ngx_svc_scim_patch_operation(&change, json) != NGX_OK) {
            return NGX_DECLINED;
        }
    }

    ngx_svc_scim_user_fallback(user);

    return NGX_OK;
}


/* *member is NULL when there is none; attribute names are of any case. */

static ngx_int_t
ngx_svc_scim_patch_member(cJSON *object, const char *name, cJSON **member,
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


static ngx_int_t
ngx_svc_scim_patch_operation(ngx_svc_scim_change_t *change, cJSON *json)
{
    ngx_int_t                  rc;
    ngx_uint_t                 bits;
    ngx_svc_scim_operation_t   operation;

    ngx_memzero(&operation, sizeof(ngx_svc_scim_operation_t));

    rc = ngx_svc_scim_patch_read(json, &operation, change->err);
    if (rc != NGX_OK) {
        return rc;
    }

    change->mentioned = 0;
    bits = 0;

    if (operation.path) {
        rc = ngx_svc_scim_patch_bits(operation.path, &bits, change->err);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (!ngx_svc_scim_patch_is(operation.op, "remove")) {
        return ngx_svc_scim_patch_set(change, &operation, bits);
    }

    if (operation.path == NULL) {
        return ngx_svc_fail(change->err, NGX_SVC_E_NO_TARGET,
                            "\"remove\" needs a path.");
    }

    return ngx_svc_scim_patch_remove(change, bits);
}


static ngx_int_t
ngx_svc_scim_patch_read(cJSON *json, ngx_svc_scim_operation_t *operation,
    ngx_svc_error_t *err)
{
    if (!cJSON_IsObject(json)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_SYNTAX,
                            "An element of \"Operations\" must be an object.");
    }

    if (ngx_svc_scim_patch_member(json, "op", &operation->op, err) != NGX_OK
        || ngx_svc_scim_patch_member(json, "path", &operation->path, err)
           != NGX_OK
        || ngx_svc_scim_patch_member(json, "value", &operation->value, err)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (!ngx_svc_scim_patch_is(operation->op, "add")
        && !ngx_svc_scim_patch_is(operation->op, "replace")
        && !ngx_svc_scim_patch_is(operation->op, "remove"))
    {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_SYNTAX,
                            "\"op\" must be \"add\", \"replace\" or"
                            " \"remove\".");
    }

    /* null is as good as absent (RFC 7643, 2.5) */

    if (cJSON_IsNull(operation->path)) {
        operation->path = NULL;
    }

    return NGX_OK;
}


/* *bits is 0 for what is well-formed and not ours. */

static ngx_int_t
ngx_svc_scim_patch_bits(cJSON *path, ngx_uint_t *bits, ngx_svc_error_t *err)
{
    u_char  *text;

    if (!cJSON_IsString(path)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_PATH,
                            "\"path\" must be a string.");
    }

    text = (u_char *) path->valuestring;

    if (ngx_svc_scim_path_parse(text, ngx_strlen(text), bits) == NGX_ERROR) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_PATH,
                            "The path \"%s\" is not valid.", text);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_scim_patch_set(ngx_svc_scim_change_t *change,
    ngx_svc_scim_operation_t *operation, ngx_uint_t bits)
{
    if (operation->path == NULL) {

        if (!cJSON_IsObject(operation->value)) {
            return ngx_svc_fail(change->err, NGX_SVC_E_INVALID_VALUE,
                                "An operation without a path needs an object"
                                " as its \"value\".");
        }

        return ngx_svc_scim_user_object(change, operation->value);
    }

    if (!(bits & change->writable)) {
        return NGX_OK;
    }

    if (operation->value == NULL) {
        return ngx_svc_fail(change->err, NGX_SVC_E_INVALID_VALUE,
                            "The operation on \"%s\" needs a \"value\".",
                            operation->path->valuestring);
    }

    return ngx_svc_scim_user_set(change, bits, operation->value);
}


static ngx_int_t
ngx_svc_scim_patch_remove(ngx_svc_scim_change_t *change, ngx_uint_t bits)
{
    if (bits == NGX_SVC_SCIM_ACTIVE) {
        return ngx_svc_fail(change->err, NGX_SVC_E_MUTABILITY,
                            "\"active\" cannot be removed; replace it with"
                            " false to deactivate the user.");
    }

    /* a whole schema is not an attribute */

    if (bits == NGX_SVC_SCIM_CORE) {
        return NGX_OK;
    }

    return ngx_svc_scim_user_clear(change, bits);
}


static ngx_uint_t
ngx_svc_scim_patch_is(cJSON *op, const char *name)
{
    return op != NULL && cJSON_IsString(op)
           && ngx_strcasecmp((u_char *) op->valuestring, (u_char *) name) == 0;
}
