/*
 * The SCIM surface's own declarations.
 */

#ifndef _NGX_SVC_SCIM_H_INCLUDED_
#define _NGX_SVC_SCIM_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_path.h"
#include "ngx_svc_scim_user.h"


#define NGX_SVC_SCIM_LIST_MAX  200


/* The columns that ngx_svc_scim_user_write() reads, in this order. */

#define NGX_SVC_SCIM_COLUMNS                                                  \
    "id, user_name, external_id, status, first_name, last_name,"              \
    " display_name, title, department, locale, created_at, updated_at"

#define NGX_SVC_SCIM_NO_USER                                                  \
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"

#define NGX_SVC_SCIM_NCOLUMNS  12


#define NGX_SVC_SCIM_USER_SIZE  1024    /* first guess, in bytes */


/* ngx_svc_scim_list.c: see ngx_svc_route_t. */

ngx_int_t ngx_svc_scim_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_scim_list_reply(ngx_svc_request_t *sr);

/*
 * For the prepare of each route that answers with users: which attributes are
 * to be shown, into sr->data.  Returns as prepare does.
 */
ngx_int_t ngx_svc_scim_mask(ngx_svc_request_t *sr);

extern ngx_svc_pg_statements_t  ngx_svc_scim_list_statements[];


/* ngx_svc_scim_users.c: see ngx_svc_route_t. */

ngx_int_t ngx_svc_scim_create_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_scim_create_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_scim_get_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_scim_replace_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_scim_patch_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_scim_user_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_scim_change_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_scim_delete_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_scim_delete_reply(ngx_svc_request_t *sr);

extern ngx_svc_pg_statements_t  ngx_svc_scim_statements[];


/*
 * ngx_svc_scim_resource.c.  The first writes the user in a row of a result
 * with the columns above, attributes as of the mask.  The second allocates its
 * meta.location from the request's pool; NGX_OK or NGX_ERROR.  The third is
 * the surface's error writer.
 */
void ngx_svc_scim_user_write(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr,
    PGresult *res, int row, ngx_uint_t mask);
ngx_int_t ngx_svc_scim_location(ngx_svc_request_t *sr, PGresult *res, int row,
    ngx_str_t *location);
void ngx_svc_scim_error(ngx_svc_json_writer_t *w,
    const ngx_svc_error_row_t *row, ngx_str_t *detail);


/* ngx_svc_scim_discovery.c */
ngx_int_t ngx_svc_scim_config_reply(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_SCIM_H_INCLUDED_ */
