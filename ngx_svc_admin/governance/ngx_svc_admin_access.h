/*
 * What the routes of the access policy share.
 */

#ifndef _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_
#define _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_


#include "ngx_svc_admin_governance.h"
#include "ngx_svc_access.h"


#define NGX_SVC_ADMIN_ACCESS_VERSIONS  50   /* kept; in SQL too */

/* Others may change it between a read and the write that follows. */
#define NGX_SVC_ADMIN_ACCESS_TRIES     100


/* SQL: what ngx_svc_admin_access_version_write() reads, in this order. */

#define NGX_SVC_ADMIN_ACCESS_VERSION_COLUMNS_BUT_SNAPSHOT                     \
    "id, number, source, restored_from, created_at, created_by_type,"         \
    " created_by_id, created_by_name"

#define NGX_SVC_ADMIN_ACCESS_VERSION_COLUMNS                                  \
    NGX_SVC_ADMIN_ACCESS_VERSION_COLUMNS_BUT_SNAPSHOT ", snapshot"

/* The members of a version, from a column on; current: it is in force. */
void ngx_svc_admin_access_version_write(ngx_svc_json_writer_t *w,
    PGresult *res, int row, int column, ngx_uint_t current);


/* What is stored of a policy, of the request's pool.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_admin_access_json(ngx_svc_request_t *sr,
    const ngx_svc_access_policy_t *policy, ngx_str_t *json);

/*
 * A new version: adds the governance lock and the statement that writes it,
 * unless the latest version is another than "number" by now: then its result is
 * empty.  Else it has the columns of a version, and then those of a policy.
 * restored_from: text, or NULL.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_access_store(ngx_svc_request_t *sr,
    const ngx_str_t *json, const ngx_str_t *number, const char *source,
    const ngx_str_t *restored_from);

/* Of sr->results, the one that says what has been stored. */
#define NGX_SVC_ADMIN_ACCESS_STORED  1

/* A copy of a column, of the request's pool; no data: memory has run out. */
ngx_str_t ngx_svc_admin_access_copy(ngx_svc_request_t *sr, PGresult *res,
    int column);

/* 503: the policy has changed under each of the attempts. */
ngx_int_t ngx_svc_admin_access_busy(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_ADMIN_ACCESS_H_INCLUDED_ */
