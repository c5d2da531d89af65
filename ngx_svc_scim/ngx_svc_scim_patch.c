/*
 * The operations of a PATCH (RFC 7644, 3.5.2), folded into one change.
 */

#include "ngx_svc_scim_user.h"
#include "ngx_svc_scim_known.h"
#include "ngx_svc_scim_path.h"


#define NGX_SVC_SCIM_OPERATIONS_MAX  1000
#define NGX_SVC_SCIM_PATCH_URN                                                \
    "urn:ietf:params:scim:api:messages:2.0:PatchOp"


typedef struct {
    cJSON       *op;
    cJSON       *path;
    cJSON       *value;
} ngx_svc_scim_operation_t;


static ngx_int_t ngx_svc_scim_patch_fold(ngx_svc_scim_change_t *change,
    cJSON *body);
static ngx_int_t ngx_svc_scim_patch_operation(ngx_svc_scim_change_t *change,
    cJSON *json);
static ngx_int_t ngx_svc_scim_patch_read(cJSON *json,
    ngx_svc_scim_operation_t *operation, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_scim_patch_bits(cJSON *path, ngx_uint_t *bits,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_scim_patch_allowed(
    ngx_svc_scim_operation_t *operation, ngx_uint_t bits,
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
    ngx_svc_scim_change_t  change;

    ngx_svc_scim_user_change(&change, user, err, 0);

    return ngx_svc_scim_patch_fold(&change, body);
}


ngx_int_t
ngx_svc_scim_user_rfc_patch(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err)
{
    ngx_svc_scim_change_t  change;

    if (ngx_svc_scim_user_schemas(body, NGX_SVC_SCIM_PATCH_URN,
                                  NGX_SVC_E_INVALID_SYNTAX, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    ngx_svc_scim_user_change(&change, user, err, NGX_SVC_SCIM_USER_NAME);

    change.rfc = 1;

    return ngx_svc_scim_patch_fold(&change, body);
}


static ngx_int_t
ngx_svc_scim_patch_fold(ngx_svc_scim_change_t *change, cJSON *body)
{
    cJSON            *operations, *json;
    ngx_svc_error_t  *err;

    err = change->err;

    if (ngx_svc_scim_user_member(body, "Operations", &operations, err)
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

    for (json = operations->child; json; json = json->next) {
        if (ngx_svc_scim_patch_operation(change, json) != NGX_OK) {
            return NGX_DECLINED;
        }
    }

    return ngx_svc_scim_user_end(change);
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

        if (rc == NGX_OK && change->rfc) {
            rc = ngx_svc_scim_patch_allowed(&operation, bits, change->err);
        }

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

    if (ngx_svc_scim_user_member(json, "op", &operation->op, err) != NGX_OK
        || ngx_svc_scim_user_member(json, "path", &operation->path, err)
           != NGX_OK
        || ngx_svc_scim_user_member(json, "value", &operation->value, err)
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

    /* null is as good as absence (RFC 7643, 2.5) */

    if (cJSON_IsNull(operation->path)) {
        operation->path = NULL;
    }

    return NGX_OK;
}


/* Sets *bits to 0 for a well-formed path that is none of our attributes. */

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


/*
 * Used in svc_scim_mode rfc.  Setting "emails" is not refused: the address
 * comes from userName, and the same request may deactivate the user.
 */

static ngx_int_t
ngx_svc_scim_patch_allowed(ngx_svc_scim_operation_t *operation,
    ngx_uint_t bits, ngx_svc_error_t *err)
{
    u_char      *path;
    ngx_uint_t   flags, removes;

    path = (u_char *) operation->path->valuestring;
    removes = ngx_svc_scim_patch_is(operation->op, "remove");

    if (bits == NGX_SVC_SCIM_CORE) {
        flags = NGX_SVC_SCIM_K_REQUIRED;

    } else if (bits == NGX_SVC_SCIM_ENTERPRISE) {
        flags = 0;

    } else if (ngx_svc_scim_known(path, ngx_strlen(path), &flags) != NGX_OK) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_PATH,
                            "A user has no attribute \"%s\".", path);
    }

    if (flags & NGX_SVC_SCIM_K_NO_TARGET
        && !ngx_svc_scim_patch_is(operation->op, "add"))
    {
        return ngx_svc_fail(err, NGX_SVC_E_NO_TARGET,
                            "\"%s\" matches nothing.", path);
    }

    if (removes && flags & (NGX_SVC_SCIM_K_REQUIRED|NGX_SVC_SCIM_K_READ_ONLY)) {
        return ngx_svc_fail(err, NGX_SVC_E_MUTABILITY,
                            "\"%s\" cannot be removed%s.", path,
                            bits == NGX_SVC_SCIM_ACTIVE
                            ? "; replace it with false to deactivate the user"
                            : "");
    }

    if (flags & NGX_SVC_SCIM_K_READ_ONLY && !(flags & NGX_SVC_SCIM_K_IGNORED))
    {
        return ngx_svc_fail(err, NGX_SVC_E_MUTABILITY,
                            "\"%s\" cannot be changed.", path);
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
