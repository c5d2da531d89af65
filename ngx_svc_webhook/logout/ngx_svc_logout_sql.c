/*
 * Logout tokens: the helper's statements.
 */

#include "ngx_svc_logout_sql.h"

#include "ngx_svc_sql.h"


#define NGX_SVC_LOGOUT_ROW                                                    \
    " WHERE tenant_id = " NGX_SVC_TENANT                                      \
        " AND (client_id, root_id) = ($1, $2::text::uuid)"


const ngx_svc_pg_statement_t  ngx_svc_sql_logout_take = {
    .name = "logout_take",
    .text =
        "SELECT * FROM svc.oauth_logout_take($1::int4, $2::text::text[],"
            " $3::text::uuid[])",
    .nparams = 3
};

const ngx_svc_pg_statement_t  ngx_svc_sql_logout_done = {
    .name = "logout_done",
    .text = "DELETE FROM svc.oauth_logout" NGX_SVC_LOGOUT_ROW,
    .nparams = 2
};

/* A second after the first attempt, and five after the next. */

const ngx_svc_pg_statement_t  ngx_svc_sql_logout_again = {
    .name = "logout_again",
    .text =
        "UPDATE svc.oauth_logout SET"
            " attempts = attempts - CASE WHEN $3::bool THEN 0 ELSE 1 END,"
            " due_at = clock_timestamp() + CASE WHEN $3::bool"
                " AND attempts > 1 THEN interval '5 s' ELSE interval '1 s' END"
        NGX_SVC_LOGOUT_ROW,
    .nparams = 3
};
