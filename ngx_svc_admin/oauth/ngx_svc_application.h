/*
 * Applications: what their routes share.
 */

#ifndef _NGX_SVC_APPLICATION_H_INCLUDED_
#define _NGX_SVC_APPLICATION_H_INCLUDED_


#include "ngx_svc_admin.h"


#define NGX_SVC_APPLICATIONS             1000   /* of a tenant, at most */
#define NGX_SVC_APPLICATION_NAME         100    /* characters */
#define NGX_SVC_APPLICATION_REDIRECTS    20
#define NGX_SVC_APPLICATION_SCOPES       100
#define NGX_SVC_APPLICATION_PREFIX       4      /* first bytes of a clientId */
#define NGX_SVC_APPLICATION_RANDOM       16     /* random bytes, as hex */
#define NGX_SVC_APPLICATION_ID                                                \
    (NGX_SVC_APPLICATION_PREFIX + 2 * NGX_SVC_APPLICATION_RANDOM)

/* The authentication method of applications with keys in place of a secret. */
#define NGX_SVC_APPLICATION_BY_KEYS  "private_key_jwt"

#define NGX_SVC_NO_APPLICATION                                                \
    "There is no application with this clientId."


/*
 * A bit for each grant type, in the order of ngx_svc_application_grant_names.
 */

#define NGX_SVC_GRANT_CODE      0x01
#define NGX_SVC_GRANT_REFRESH   0x02
#define NGX_SVC_GRANT_CLIENT    0x04
#define NGX_SVC_GRANT_EXCHANGE  0x08

#define NGX_SVC_GRANT_USER  (NGX_SVC_GRANT_CODE|NGX_SVC_GRANT_REFRESH)
#define NGX_SVC_GRANT_OWN   (NGX_SVC_GRANT_CLIENT|NGX_SVC_GRANT_EXCHANGE)

#define NGX_SVC_GRANT_EXCHANGE_NAME                                           \
    "urn:ietf:params:oauth:grant-type:token-exchange"

/*
 * The types of applications: the name; what a clientId begins with; the grant
 * types that it may have; the defaults as SQL has them: grant types, scopes,
 * an access token's life in seconds, whether users are asked for consent; and
 * the authentication method.
 */

#define NGX_SVC_APPLICATION_TYPES(_)                                          \
    _("web", "app_", NGX_SVC_GRANT_USER,                                      \
      "{authorization_code,refresh_token}", "{email,openid,profile}",         \
      "3600", "true", "client_secret_basic")                                  \
    _("spa", "app_", NGX_SVC_GRANT_USER,                                      \
      "{authorization_code,refresh_token}", "{email,openid,profile}",         \
      "3600", "true", "none")                                                 \
    _("native", "app_", NGX_SVC_GRANT_USER,                                   \
      "{authorization_code,refresh_token}", "{email,openid,profile}",         \
      "3600", "true", "none")                                                 \
    _("m2m", "app_", NGX_SVC_GRANT_OWN,                                       \
      "{client_credentials}", "{}", "3600", "false", "client_secret_basic")   \
    _("agent", "agt_", NGX_SVC_GRANT_USER|NGX_SVC_GRANT_OWN,                  \
      "{client_credentials," NGX_SVC_GRANT_EXCHANGE_NAME "}", "{}",           \
      "900", "true", "client_secret_basic")

typedef struct {
    const char       *name;
    const char       *prefix;
    ngx_uint_t        grants;       /* NGX_SVC_GRANT_... */
    const char       *method;
} ngx_svc_application_type_t;


/* The body of a POST or a PATCH. */

typedef struct {
    ngx_svc_value_t   name;
    ngx_svc_value_t   type;
    ngx_svc_value_t   redirect_uris;
    ngx_svc_value_t   scopes;
    ngx_svc_value_t   grant_types;
    ngx_svc_value_t   enabled;
    ngx_svc_value_t   method;
    ngx_svc_value_t   assignment;
    ngx_svc_value_t   resource_uri;
    ngx_svc_value_t   format;
    ngx_svc_value_t   ttl;
    ngx_svc_value_t   require_consent;
    ngx_svc_value_t   require_dpop;
    ngx_svc_value_t   signing_alg;
    ngx_svc_value_t   require_pkce;
    ngx_svc_value_t   require_acr;
    ngx_svc_value_t   unknown_scopes;
    ngx_svc_value_t   refresh_tokens;
    ngx_svc_value_t   id_token_claims;
    ngx_svc_value_t   groups_claim;
    ngx_svc_value_t   id_token_ttl;
    ngx_svc_value_t   refresh_idle_days;
    ngx_svc_value_t   grant_days;
    ngx_svc_value_t   default_resource_uri;
    ngx_svc_value_t   post_logout_redirect_uris;
    ngx_svc_value_t   backchannel_logout_uri;
    ngx_svc_value_t   backchannel_session;
    ngx_svc_value_t   jwks;
    ngx_svc_value_t   jwks_uri;
    ngx_svc_value_t   require_par;
    ngx_svc_value_t   profile;
    ngx_svc_value_t   owner_id;         /* in a POST alone */
} ngx_svc_application_t;

extern const ngx_svc_member_t  ngx_svc_application_create_members[];
extern const ngx_svc_member_t  ngx_svc_application_patch_members[];

/* Checks a body of a POST or a PATCH, beyond the checks of its members. */
ngx_int_t ngx_svc_application_check(ngx_svc_request_t *sr, void *body);

/*
 * Checks of members and elements, which other bodies use, too: a scope, a
 * resource URI, the id of an owner.
 */
ngx_int_t ngx_svc_application_check_scope(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
ngx_int_t ngx_svc_application_check_resource(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
ngx_int_t ngx_svc_application_check_owner(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);

/*
 * Returns NGX_OK, or NGX_DECLINED with sr->error set: the array with this name
 * has more than max elements.
 */
ngx_int_t ngx_svc_application_count(ngx_svc_request_t *sr,
    const ngx_svc_value_t *value, int max, const char *name);

/* A row of a table of verdicts. */
#define ngx_svc_application_verdict_owner                                     \
    { "owner", NGX_SVC_E_INVALID_VALUE,                                       \
      "\"ownerId\" must be the id of an active user." }

/*
 * The names of the grant types, the one of the lowest bit first; NULL ends
 * them.
 */
extern const char *const  ngx_svc_application_grant_names[];

/* Returns the bits of the grant types in an array; 0 if it is absent. */
ngx_uint_t ngx_svc_application_grants(const ngx_svc_value_t *value);

/*
 * Returns 1 if a body makes its application authenticate by keys: it names
 * that method, or names none and sets a security profile.
 */
ngx_uint_t ngx_svc_application_by_keys(const ngx_svc_application_t *app);

/* Returns the type with this name; NULL: there is none. */
const ngx_svc_application_type_t *ngx_svc_application_type(
    const ngx_str_t *name);

/* Returns 1 if a text has the form of a clientId. */
ngx_uint_t ngx_svc_application_id(const ngx_str_t *text);


/*
 * Parameters of statements: the clientId that is the n-th "*" of the path, or
 * 404; an array of strings in the body as the text of an array of SQL, NULL
 * when it is absent; and the key of a resource URI in the body.
 */

#define ngx_svc_param_application(i)                                          \
    { .bind = ngx_svc_application_bind_id, .n = i }
#define ngx_svc_param_strings(type, field)                                    \
    { .bind = ngx_svc_application_bind_strings,                               \
      .offset = offsetof(type, field) }
#define ngx_svc_param_application_key(field)                                  \
    { .bind = ngx_svc_application_bind_key,                                   \
      .offset = offsetof(ngx_svc_application_t, field) }

/*
 * Writes an array of strings as the text of an array of SQL, in the pool.  No
 * string has quotes or backslashes: the checks of the elements have seen to
 * that.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_application_strings(ngx_pool_t *pool, const cJSON *array,
    ngx_str_t *text);

ngx_int_t ngx_svc_application_bind_id(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_application_bind_strings(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/* Binds an array of the types that may have all grant types of the body. */
ngx_int_t ngx_svc_application_bind_grants(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/* Binds an array of the types that may authenticate by the body's method. */
ngx_int_t ngx_svc_application_bind_method(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_application_bind_key(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


/*
 * Requests that create or change an application of a tenant take this lock:
 * when two of them set the same "resourceUri", the second one sees what the
 * first one has stored.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_applications_lock;

/* Locks the application that the path names. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_application_lock;

/*
 * Requests that change which groups have which applications take this lock.
 * They lock groups first, and the deletion of an application locks its groups
 * last: without this lock they could deadlock.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_group_apps_serialize;


#endif /* _NGX_SVC_APPLICATION_H_INCLUDED_ */
