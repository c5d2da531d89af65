/*
 * The SCIM user: its attribute table, what a request says of it, and how it is
 * written.
 */

#ifndef _NGX_SVC_SCIM_USER_H_INCLUDED_
#define _NGX_SVC_SCIM_USER_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_error.h"
#include "ngx_svc_profile.h"
#include "ngx_svc_schema.h"


/*
 * What a request wants of each mapped attribute: "set" says that it was
 * mentioned, "null" that it is to be cleared.  Strings point into the body's
 * cJSON tree.  A new user has all; but for svc_scim_mode rfc PUT and PATCH leave
 * user_name unset.
 */

typedef struct {
    ngx_svc_value_t  user_name;
    ngx_svc_value_t  external_id;
    ngx_svc_value_t  active;
    ngx_svc_value_t  formatted;
    NGX_SVC_PROFILE(ngx_svc_profile_value)
} ngx_svc_scim_user_t;


/*
 * Each takes the parsed body, and fills *user, which the caller has zeroed.
 * NGX_OK, or NGX_DECLINED with err set.  Afterwards display_name already holds
 * what name.formatted stands for when the request has no displayName, and
 * formatted is of no further interest.
 *
 * create: userName is required and must be an e-mail address; attributes that
 * are absent are unset.
 * replace: profile attributes and externalId that are absent come back as
 * set and null; active stays unset when absent.
 * patch: the operations folded into one change, in their order.
 */
ngx_int_t ngx_svc_scim_user_create(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);
ngx_int_t ngx_svc_scim_user_replace(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);
ngx_int_t ngx_svc_scim_user_patch(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);

/*
 * Likewise for svc_scim_mode rfc: "schemas" must be right if it is there, PUT
 * and PATCH may change userName, PUT must have it, and the path of an operation
 * must be one of RFC 7643, of which those that are not stored are still passed
 * over.
 *
 * RFC 7643, 3 has a client send "schemas".  What comes without can be nothing
 * but a user here, and may deactivate one: it is not refused for that.
 */
ngx_int_t ngx_svc_scim_user_rfc_create(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);
ngx_int_t ngx_svc_scim_user_rfc_replace(cJSON *body,
    ngx_svc_scim_user_t *user, ngx_svc_error_t *err);
ngx_int_t ngx_svc_scim_user_rfc_patch(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);


/*
 * What the three share.  A change collects into user what is mentioned of the
 * attributes in "writable"; others are passed over, whatever their value.
 * Those in "optional" are unset rather than cleared by null.
 * "mentioned" has those that the present object has already had: the same one
 * again, in another case or notation, is NGX_SVC_E_INVALID_SYNTAX.
 */

#define NGX_SVC_SCIM_WRITABLE                                                 \
    (NGX_SVC_SCIM_EXTERNAL_ID|NGX_SVC_SCIM_NAME|NGX_SVC_SCIM_DISPLAY_NAME     \
     |NGX_SVC_SCIM_TITLE|NGX_SVC_SCIM_LOCALE|NGX_SVC_SCIM_ACTIVE              \
     |NGX_SVC_SCIM_DEPARTMENT)

typedef struct {
    ngx_svc_scim_user_t  *user;
    ngx_svc_error_t      *err;
    ngx_uint_t            writable;     /* NGX_SVC_SCIM_..., a mask */
    ngx_uint_t            optional;
    ngx_uint_t            mentioned;
    ngx_uint_t            rfc;          /* 1: of svc_scim_mode rfc */
    ngx_uint_t            new;          /* 1: there is no such user yet */
} ngx_svc_scim_change_t;

/* Begins one, in which that is writable, too. */
void ngx_svc_scim_user_change(ngx_svc_scim_change_t *change,
    ngx_svc_scim_user_t *user, ngx_svc_error_t *err, ngx_uint_t writable);

/*
 * Take the members of an object of attributes; one value, for bits as of
 * ngx_svc_scim_path_parse(); and clear what bits stand for.  NGX_OK, or
 * NGX_DECLINED with the error set.
 */
ngx_int_t ngx_svc_scim_user_object(ngx_svc_scim_change_t *change,
    cJSON *object);
ngx_int_t ngx_svc_scim_user_set(ngx_svc_scim_change_t *change,
    ngx_uint_t bits, cJSON *json);
ngx_int_t ngx_svc_scim_user_clear(ngx_svc_scim_change_t *change,
    ngx_uint_t bits);

/*
 * When all is collected: name.formatted becomes the display name of a request
 * that has none, and names have no characters of ngx_svc_bidi.h.  Of one that
 * deactivates they are taken out: nobody stays active for the sake of his name.
 * NGX_OK, or NGX_DECLINED with the error set.
 */
ngx_int_t ngx_svc_scim_user_end(ngx_svc_scim_change_t *change);

/*
 * A member of an object, whatever the case of its name: NGX_OK, with NULL when
 * there is none; NGX_DECLINED with err set when there are several.
 */
ngx_int_t ngx_svc_scim_user_member(cJSON *object, const char *name,
    cJSON **member, ngx_svc_error_t *err);

/*
 * Whether the "schemas" of a body, if it is there, has an URN.  NGX_OK;
 * NGX_DECLINED with err set: it is no array of strings, or of the kind given,
 * it has not.
 */
ngx_int_t ngx_svc_scim_user_schemas(cJSON *body, const char *urn,
    ngx_svc_error_e kind, ngx_svc_error_t *err);


#endif /* _NGX_SVC_SCIM_USER_H_INCLUDED_ */
