/*
 * Mails that tell a user what has happened to the account: the statement that
 * does it has what they need in its row, and they are sent behind its commit,
 * whatever has become of the request.
 */

#ifndef _NGX_SVC_NOTICE_H_INCLUDED_
#define _NGX_SVC_NOTICE_H_INCLUDED_


#include "ngx_svc_base_url.h"
#include "ngx_svc_http.h"
#include "ngx_svc_mail.h"


/*
 * SQL: columns of a tenant "t" that a mail has.  base: a parameter of
 * ngx_svc_param_notice().
 */

#define NGX_SVC_NOTICE_TENANT(base)                                           \
    "t.id AS _notice, t.name AS _tenant_name, t.slug AS _slug,"               \
    " t.branding ->> 'primary' AS _color, "                                   \
    NGX_SVC_BASE_URL(base) " || '/v1/tenants/' || t.slug || '/logo?v='"       \
        " || t.logo_etag AS _logo"

/*
 * SQL: the row of a notice: for LATERAL, or none.  user: whose it is, an id as
 * of NGX_SVC_ROW(), or NULL, then it is void; base: likewise; when: there is
 * one.  The address is that which the statement has found, not one that it
 * stores.
 */

#define NGX_SVC_NOTICE(user, base, when)                                      \
    "SELECT " NGX_SVC_NOTICE_TENANT(base) ", "                                \
        NGX_SVC_BASE_URL(base) " || '/login?tenant=' || t.slug AS _link,"     \
        " m.user_name AS _to, m.display_name AS _name, m.locale AS _locale"   \
    " FROM svc.tenant t LEFT JOIN LATERAL ("                                  \
        NGX_SVC_ROW("k.user_name, k.display_name, k.locale, k.status",        \
                    "svc.user_account", user)                                 \
    ") m ON m.status = 'active'"                                              \
    " WHERE t.id = " NGX_SVC_TENANT                                           \
        " AND " base "::text IS NOT NULL AND (" when ")"

/* SQL: where the request comes from: a column of what its own user has done. */

#define NGX_SVC_NOTICE_IP                                                     \
    "nullif(current_setting('svc.ip', true), '') AS _ip"


/* A parameter: svc_base_url, NULL: there is none, or no svc_mail. */
#define ngx_svc_param_notice()  { .bind = ngx_svc_notice_bind }


NGX_SVC_API ngx_int_t ngx_svc_notice_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/*
 * Zeroes a mail, and fills it in from the columns of the first row that it has.
 * NGX_OK; NGX_DECLINED: there is no row of one.
 */
NGX_SVC_API ngx_int_t ngx_svc_notice_read(ngx_svc_mail_t *mail,
    PGresult *res);

/* For a committed hook: sends the one of that result, if there is one. */
NGX_SVC_API void ngx_svc_notice(ngx_svc_mail_kind_e kind, PGresult *res);

/* Such a hook: the change is told, and its user, if res is a row of one. */
NGX_SVC_API void ngx_svc_notice_changed(const ngx_svc_pg_results_t *results,
    PGresult *res);


#endif /* _NGX_SVC_NOTICE_H_INCLUDED_ */
