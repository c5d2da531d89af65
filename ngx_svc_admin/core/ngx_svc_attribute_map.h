/*
 * Maps from the members of a user to attributes of a directory or of an
 * identity provider.
 */

#ifndef _NGX_SVC_ATTRIBUTE_MAP_H_INCLUDED_
#define _NGX_SVC_ATTRIBUTE_MAP_H_INCLUDED_


#include "ngx_svc_http.h"


/* Members of users that have one. */

typedef enum {
    NGX_SVC_ATTRIBUTE_EMAIL = 0,
    NGX_SVC_ATTRIBUTE_FIRST_NAME,
    NGX_SVC_ATTRIBUTE_LAST_NAME,
    NGX_SVC_ATTRIBUTE_DISPLAY_NAME,
    NGX_SVC_ATTRIBUTE_TITLE,
    NGX_SVC_ATTRIBUTE_DEPARTMENT,
    NGX_SVC_ATTRIBUTE_LOCALE,
    NGX_SVC_ATTRIBUTE_EXTERNAL_ID,
    NGX_SVC_ATTRIBUTES
} ngx_svc_attribute_e;


/* Their names, and NULL behind them. */
extern const char *const  ngx_svc_attribute_keys[NGX_SVC_ATTRIBUTES + 1];


/* Checks an object that gives members of users the names of attributes. */
ngx_int_t ngx_svc_attribute_map_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);

/*
 * Reads a stored map: names[i] is the attribute of ngx_svc_attribute_keys[i],
 * of the pool, and has no data where there is none.  A map without data is
 * empty.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_attribute_map_read(ngx_pool_t *pool, ngx_str_t *map,
    ngx_str_t names[NGX_SVC_ATTRIBUTES]);

/* Binds the map of a body as JSON; NULL when it is absent or null. */

#define ngx_svc_param_attribute_map(type, field)                              \
    { .bind = ngx_svc_attribute_map_bind, .offset = offsetof(type, field) }

ngx_int_t ngx_svc_attribute_map_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#endif /* _NGX_SVC_ATTRIBUTE_MAP_H_INCLUDED_ */
