/*
 * The SCIM user: its attributes, and what a request says of them.
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
 * cJSON tree.  A new user can have all attributes; PUT and PATCH leave
 * user_name unset, except in svc_scim_mode rfc.
 */

typedef struct {
    ngx_svc_value_t  user_name;
    ngx_svc_value_t  external_id;
    ngx_svc_value_t  active;
    ngx_svc_value_t  formatted;
    NGX_SVC_PROFILE(ngx_svc_profile_value)
} ngx_svc_scim_user_t;


/*
 * Each function takes the parsed body, and fills *user, which the caller has
 * zeroed.  It returns NGX_OK, or NGX_DECLINED with err set.  Afterwards
 * display_name already holds name.formatted when the request has no
 * displayName, and formatted is of no further interest.
 *
 * create: userName is required and must be an e-mail address; attributes that
 * are absent are unset.
 * replace: profile attributes and externalId that are absent come back as set
 * and null; active stays unset when absent.
 * patch: the operations are folded into one change, in their order.
 */
ngx_int_t ngx_svc_scim_user_create(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);
ngx_int_t ngx_svc_scim_user_replace(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);
ngx_int_t ngx_svc_scim_user_patch(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);

/*
 * The same for svc_scim_mode rfc: "schemas" must be right if it is there, PUT
 * and PATCH may change userName, PUT must have it, and the path of an operation
 * must be one of RFC 7643; paths that are not stored are still passed over.
 *
 * RFC 7643, 3 has a client send "schemas".  A body without it can be nothing
 * but a user here, and may deactivate one: it is not refused for that.
 */
ngx_int_t ngx_svc_scim_user_rfc_create(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);
ngx_int_t ngx_svc_scim_user_rfc_replace(cJSON *body,
    ngx_svc_scim_user_t *user, ngx_svc_error_t *err);
ngx_int_t ngx_svc_scim_user_rfc_patch(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);


/*
 * A change, which create, replace and patch share: it collects into user the
 * attributes in "writable" that are mentioned; others are passed over, whatever
 * their value.  Those in "optional" are unset rather than cleared by null.
 * "mentioned" has the attributes that the present object has already had: the
 * same one again, in another case or notation, is NGX_SVC_E_INVALID_SYNTAX.
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
    ngx_uint_t            rfc;          /* 1: svc_scim_mode rfc */
    ngx_uint_t            new;          /* 1: the user does not exist yet */
} ngx_svc_scim_change_t;

/* Begins a change that may write the attributes in writable, too. */
void ngx_svc_scim_user_change(ngx_svc_scim_change_t *change,
    ngx_svc_scim_user_t *user, ngx_svc_error_t *err, ngx_uint_t writable);

/*
 * Takes the members of an object of attributes.  Returns NGX_OK, or
 * NGX_DECLINED with the error set, as the next two functions do.
 */
ngx_int_t ngx_svc_scim_user_object(ngx_svc_scim_change_t *change,
    cJSON *object);

/* Takes one value, for bits as of ngx_svc_scim_path_parse(). */
ngx_int_t ngx_svc_scim_user_set(ngx_svc_scim_change_t *change,
    ngx_uint_t bits, cJSON *json);

/* Clears the attributes that bits stand for. */
ngx_int_t ngx_svc_scim_user_clear(ngx_svc_scim_change_t *change,
    ngx_uint_t bits);

/*
 * Ends a change: name.formatted becomes the display name if the request has
 * none, and names must have no characters of ngx_svc_bidi.h.  A request that
 * deactivates a user is not refused for them, they are taken out: no user stays
 * active because of a name.  Returns NGX_OK, or NGX_DECLINED with the error
 * set.
 */
ngx_int_t ngx_svc_scim_user_end(ngx_svc_scim_change_t *change);

/*
 * Finds a member of an object, whatever the case of its name.  Returns NGX_OK,
 * with *member NULL when there is none; NGX_DECLINED with err set when there
 * are several.
 */
ngx_int_t ngx_svc_scim_user_member(cJSON *object, const char *name,
    cJSON **member, ngx_svc_error_t *err);

/*
 * Checks that the "schemas" of a body, if it is there, has a URN.  Returns
 * NGX_OK; NGX_DECLINED with err set when it is no array of strings, or, with
 * the given kind, when it lacks the URN.
 */
ngx_int_t ngx_svc_scim_user_schemas(cJSON *body, const char *urn,
    ngx_svc_error_e kind, ngx_svc_error_t *err);


#endif /* _NGX_SVC_SCIM_USER_H_INCLUDED_ */
