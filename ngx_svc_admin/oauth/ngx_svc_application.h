/*
 * Applications: what the routes of theirs share.
 */

#ifndef _NGX_SVC_APPLICATION_H_INCLUDED_
#define _NGX_SVC_APPLICATION_H_INCLUDED_


#include "ngx_svc_admin.h"


#define NGX_SVC_APPLICATIONS             1000   /* of a tenant */
#define NGX_SVC_APPLICATION_NAME         100    /* characters */
#define NGX_SVC_APPLICATION_REDIRECTS    20
#define NGX_SVC_APPLICATION_SCOPES       100
#define NGX_SVC_APPLICATION_PREFIX       4      /* bytes of a clientId, */
#define NGX_SVC_APPLICATION_RANDOM       16     /* and behind it, in hex */
#define NGX_SVC_APPLICATION_ID                                                \
    (NGX_SVC_APPLICATION_PREFIX + 2 * NGX_SVC_APPLICATION_RANDOM)

/* How an application proves itself that has keys in place of a secret. */
#define NGX_SVC_APPLICATION_BY_KEYS  "private_key_jwt"

#define NGX_SVC_NO_APPLICATION                                                \
    "There is no application with this clientId."


/* NGX_SVC_GRANT_...: a bit for each, as of the names in the table of them */

#define NGX_SVC_GRANT_CODE      0x01
#define NGX_SVC_GRANT_REFRESH   0x02
#define NGX_SVC_GRANT_CLIENT    0x04
#define NGX_SVC_GRANT_EXCHANGE  0x08

#define NGX_SVC_GRANT_USER  (NGX_SVC_GRANT_CODE|NGX_SVC_GRANT_REFRESH)
#define NGX_SVC_GRANT_OWN   (NGX_SVC_GRANT_CLIENT|NGX_SVC_GRANT_EXCHANGE)

#define NGX_SVC_GRANT_EXCHANGE_NAME                                           \
    "urn:ietf:params:oauth:grant-type:token-exchange"

/*
 * The types: a name; what a clientId begins with; which grants it may have; and
 * what it gets when nothing is said, as SQL has it: grants, scopes, the life of
 * a token in seconds, whether users are asked; and how a client proves itself.
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
    ngx_svc_value_t   require_par;
    ngx_svc_value_t   profile;
    ngx_svc_value_t   owner_id;         /* of a POST */
} ngx_svc_application_t;

extern const ngx_svc_member_t  ngx_svc_application_create_members[];
extern const ngx_svc_member_t  ngx_svc_application_patch_members[];

/*
 * ngx_svc_application_body.c: the check of either; of elements and members, as
 * other bodies have them too; and of an array with more elements than max.
 */
ngx_int_t ngx_svc_application_check(ngx_svc_request_t *sr, void *body);
ngx_int_t ngx_svc_application_check_scope(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
ngx_int_t ngx_svc_application_check_resource(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
ngx_int_t ngx_svc_application_check_owner(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
ngx_int_t ngx_svc_application_count(ngx_svc_request_t *sr,
    const ngx_svc_value_t *value, int max, const char *name);

/* A row of NGX_SVC_VERDICTS(). */
#define ngx_svc_application_verdict_owner                                     \
    { "owner", NGX_SVC_E_INVALID_VALUE,                                       \
      "\"ownerId\" must be the id of an active user." }

/* The grants' names; and NGX_SVC_GRANT_... of those in an array, or absent. */
extern const char *const  ngx_svc_application_grant_names[];
ngx_uint_t ngx_svc_application_grants(const ngx_svc_value_t *value);

/* 1: a body says that it proves itself by keys, or has a profile that does. */
ngx_uint_t ngx_svc_application_by_keys(const ngx_svc_application_t *app);

/* The row with this name, which the check of a body has found to be one. */
const ngx_svc_application_type_t *ngx_svc_application_type(
    const ngx_str_t *name);

/* 1: a text is of the form of a clientId. */
ngx_uint_t ngx_svc_application_id(const ngx_str_t *text);


/*
 * Parameters.  Of the path the n-th "*": a clientId, or 404.  Of the body: an
 * array of strings as the text of one, NULL when there is none; the types that
 * may have all of its grants, and that prove themselves as it says, likewise;
 * and the key of a resource URI.
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
 * The text of an array of strings, in the pool.  None of them has quotes or
 * backslashes: the checks of all elements say so.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_application_strings(ngx_pool_t *pool, const cJSON *array,
    ngx_str_t *text);

ngx_int_t ngx_svc_application_bind_id(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_application_bind_strings(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_application_bind_grants(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_application_bind_method(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_application_bind_key(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


/*
 * Who makes and changes applications stands in line, by the tenant: of two that
 * are given the same "resourceUri" one sees the other.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_applications_lock;

/* Locks the application that the path names. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_application_lock;

/*
 * Those that change which groups have which applications stand in line: who
 * deletes an application comes to its groups last, the others first.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_group_apps_turn;


#endif /* _NGX_SVC_APPLICATION_H_INCLUDED_ */
