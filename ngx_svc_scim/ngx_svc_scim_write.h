/*
 * What the statements and routes that write a user have in common in both
 * modes.
 */

#ifndef _NGX_SVC_SCIM_WRITE_H_INCLUDED_
#define _NGX_SVC_SCIM_WRITE_H_INCLUDED_


#include "ngx_svc_scim.h"


/*
 * The columns of a user that a SCIM client sets: those of NGX_SVC_PROFILE, and
 * externalId.
 */

#define NGX_SVC_SCIM_PROFILE(_)                                               \
    _(EXTERNAL_ID, external_id, "externalId")                                 \
    NGX_SVC_PROFILE(_)


/* The first members of a route that writes a user; c: its check hook. */

#define ngx_svc_scim_route(m, p, f, c)                                        \
    .method = m,                                                              \
    .path = p,                                                                \
    .permission = NGX_SVC_P_SCIM,                                             \
    .flags = f|NGX_SVC_ROUTE_WRITE_POOL,                                      \
    .body_size = sizeof(ngx_svc_scim_user_t),                                 \
    .check = c


#endif /* _NGX_SVC_SCIM_WRITE_H_INCLUDED_ */
