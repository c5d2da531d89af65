/*
 * What the directory's resources share.
 */

#ifndef _NGX_SVC_ADMIN_USER_H_INCLUDED_
#define _NGX_SVC_ADMIN_USER_H_INCLUDED_


#include "ngx_svc_admin.h"


#define NGX_SVC_ADMIN_QUERY      200      /* characters of q */
#define NGX_SVC_ADMIN_NO_USER    "There is no user with this id."
#define NGX_SVC_ADMIN_NO_GROUP   "There is no group with this id."
#define NGX_SVC_ADMIN_NO_MEMBER  "The group has no member with this id."


/* What ngx_svc_admin_user_write() reads, in this order; t: the table's name. */

#define NGX_SVC_ADMIN_USER_COLUMNS(t)                                         \
    t ".id, " t ".user_name, " t ".email_verified, " t ".display_name, "      \
    t ".first_name, " t ".last_name, " t ".title, " t ".department, "         \
    t ".locale, " t ".external_id, " t ".status, " t ".role, "                \
    "coalesce(" t ".locked_until > now(), false), " t ".mfa_enrolled, "       \
    t ".source, " t ".last_login_at, " t ".created_at, " t ".updated_at"

/*
 * Two CTEs of a statement that may take an owner away, whose id is $1.  "w":
 * all owners, when $1 is one of them, locked in the same order by all who do
 * this, so that they are not the last ones of each other; with what they are
 * once the locks are held.  "o": the user, locked after them.
 */

#define NGX_SVC_ADMIN_OWNERS                                                  \
    "w AS ("                                                                  \
        "SELECT id, status FROM svc.user_account WHERE role = 'owner'"        \
        " AND EXISTS (SELECT FROM svc.user_account"                           \
            " WHERE id = $1 AND role = 'owner')"                              \
        " ORDER BY id FOR UPDATE"                                             \
    "), o AS ("                                                               \
        "SELECT * FROM svc.user_account WHERE id = $1"                        \
        " AND (SELECT count(*) FROM w) >= 0 FOR UPDATE"                       \
    ")"

/* Of a row o: no other owner is active. */

#define NGX_SVC_ADMIN_LAST_OWNER                                              \
    "(o.role = 'owner' AND NOT EXISTS (SELECT FROM w"                         \
        " WHERE w.id <> o.id AND w.status = 'active'))"


typedef struct {
    ngx_str_t             q;            /* empty: none */
    ngx_str_t             status;
    ngx_svc_page_t  page;
} ngx_svc_admin_find_t;


extern const char *const  ngx_svc_admin_user_statuses[];


/*
 * q, status and page of a list, from the query; *status: an index of statuses,
 * or -1.  NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.  Bound are q, status,
 * limit and offset.
 */
ngx_int_t ngx_svc_admin_find(ngx_svc_request_t *sr,
    const char *const *statuses, ngx_svc_admin_find_t *find,
    ngx_int_t *status);
ngx_int_t ngx_svc_admin_find_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, ngx_svc_admin_find_t *find);

/* Bind the id in the path: as ngx_svc_param_uuid(). */
ngx_int_t ngx_svc_admin_user_id(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);

ngx_int_t ngx_svc_admin_group_id(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);

/*
 * column: where those of NGX_SVC_ADMIN_USER_COLUMNS begin.  Sends the user in
 * the first row of the op's own statement, or 404.
 */
ngx_int_t ngx_svc_admin_user_send(ngx_svc_request_t *sr, int column);
void ngx_svc_admin_user_write(ngx_svc_json_writer_t *w, PGresult *res,
    int row, int column);


#endif /* _NGX_SVC_ADMIN_USER_H_INCLUDED_ */
