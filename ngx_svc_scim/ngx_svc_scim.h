/*
 * The SCIM surface's own declarations.
 */

#ifndef _NGX_SVC_SCIM_H_INCLUDED_
#define _NGX_SVC_SCIM_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_mode.h"
#include "ngx_svc_scim_path.h"
#include "ngx_svc_scim_user.h"
#include "ngx_svc_scim_version.h"
#include "ngx_svc_scim_fragments.row.h"


#define NGX_SVC_SCIM_LIST_MAX  200


#define NGX_SVC_SCIM_USERS      ngx_string("/Users")
#define NGX_SVC_SCIM_USER       ngx_string("/Users/*")
#define NGX_SVC_SCIM_NO_USER    "There is no user with this id."
#define NGX_SVC_SCIM_USER_SIZE  1024    /* first guess, in bytes */


/*
 * A user's fields that are read, after its id: a name for enumerators and the
 * column.
 */

#define NGX_SVC_SCIM_TABLE(_)                                                 \
    _(USER_NAME, user_name)                                                   \
    _(EXTERNAL_ID, external_id)                                               \
    _(STATUS, status)                                                         \
    NGX_SVC_PROFILE(_)                                                        \
    _(CREATED_AT, created_at)                                                 \
    _(UPDATED_AT, updated_at)

#define NGX_SVC_SCIM_NUMBER(id, ...)  NGX_SVC_SCIM_COL_##id,

enum {
    NGX_SVC_SCIM_COL_ID = 0,
    NGX_SVC_SCIM_TABLE(NGX_SVC_SCIM_NUMBER)
    NGX_SVC_SCIM_COLS
};


/* The routes of each resource, in the file of its name. */

extern const ngx_svc_route_t  ngx_svc_scim_list[];
extern const ngx_svc_route_t  ngx_svc_scim_users[];
extern const ngx_svc_route_t  ngx_svc_scim_discovery[];

/* The routes of svc_scim_mode rfc. */

extern const ngx_svc_route_t  ngx_svc_scim_rfc_list[];
extern const ngx_svc_route_t  ngx_svc_scim_rfc_users[];
extern const ngx_svc_route_t  ngx_svc_scim_rfc_discovery[];
extern const ngx_svc_route_t  ngx_svc_scim_schemas[];


/*
 * ngx_svc_scim_discovery.c.  The prepare hook of a discovery route: it refuses
 * a filter.
 */
ngx_int_t ngx_svc_scim_discovery_prepare(ngx_svc_request_t *sr);


/*
 * ngx_svc_scim_list.c.  The check hook of a route that answers with a user, or
 * a part of one: puts the mask of the attributes to be shown into sr->data.
 */
ngx_int_t ngx_svc_scim_mask(ngx_svc_request_t *sr, void *body);

/*
 * ngx_svc_scim_list.c.  Opens a list (RFC 7644, 3.4.2) with n of the resources,
 * of which the first has the number "start"; the caller writes them, and "]}".
 */
void ngx_svc_scim_list_open(ngx_svc_json_writer_t *w, int64_t total,
    int64_t start, int64_t n);

/*
 * Sends a list of the n users in a result with the columns above, with the
 * attributes of the mask.
 */
ngx_int_t ngx_svc_scim_list_send(ngx_svc_request_t *sr, PGresult *res, int n,
    int64_t total, int64_t start, ngx_uint_t mask);


/*
 * ngx_svc_scim_users.c.  The reply hook of a route that answers with the user
 * in the row of its last statement.
 */
ngx_int_t ngx_svc_scim_user_reply(ngx_svc_request_t *sr);

/*
 * The function of a parameter: the status that "active" stands for; NULL when
 * it is absent.
 */
ngx_int_t ngx_svc_scim_status(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body);

/*
 * Called by the committed hook of a statement that creates a user: in its
 * result a NULL id means that there is no user, and the last column has the
 * subscribers of the event.
 */
void ngx_svc_scim_created(const ngx_svc_pg_results_t *results, PGresult *user);

/*
 * ngx_svc_scim_resource.c.  Writes the user in a row of a result, with the
 * attributes of the mask.
 */
void ngx_svc_scim_user_write(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr,
    const ngx_svc_row_scim_user_t *user, ngx_uint_t mask);

/*
 * Allocates the user's meta.location from the request's pool.  Returns NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_scim_location(ngx_svc_request_t *sr,
    const ngx_svc_row_scim_user_t *user, ngx_str_t *location);

/*
 * Allocates the URL of a path behind the surface's prefix, and of an id behind
 * that.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_scim_url(ngx_svc_request_t *sr, const char *path,
    const char *id, ngx_str_t *url);

/* The surface's error writer. */
void ngx_svc_scim_error(ngx_svc_json_writer_t *w,
    const ngx_svc_error_row_t *row, const ngx_str_t *detail,
    const ngx_str_t *member);


#endif /* _NGX_SVC_SCIM_H_INCLUDED_ */
