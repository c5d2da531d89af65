/*
 * The security profile of applications: the tokens that end when it begins.
 */

#include "ngx_svc_application_profile.h"
#include "ngx_svc_admin_application_patch.row.h"


static ngx_int_t ngx_svc_application_profile_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_application_profile_send(ngx_svc_request_t *sr);


#include "ngx_svc_application_profile.sql.h"


/* Makes the PATCH go on although its client may leave: the tokens must end. */

ngx_int_t
ngx_svc_application_profile_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_application_t  *app = body;

    sr->goes_on = app->profile.set && !app->profile.null;

    return ngx_svc_application_check(sr, body);
}


ngx_int_t
ngx_svc_application_profile_reply(ngx_svc_request_t *sr)
{
    PGresult                                *res;
    ngx_svc_row_admin_applications_patch_t   row;

    res = ngx_svc_route_final(sr);
    ngx_svc_row_admin_applications_patch(&row, res, 0);

    return row.profiled
           ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                   ngx_svc_application_profile_calls,
                                   ngx_svc_application_profile_send)
           : ngx_svc_route_row(sr, res);
}


static ngx_int_t
ngx_svc_application_profile_calls(ngx_svc_request_t *sr)
{
    /* the op writes no event to the audit log */

    sr->op->committed = NULL;

    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_applications_cut, NULL);
}


static ngx_int_t
ngx_svc_application_profile_send(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_applications_cut);

    if (PQntuples(res)) {
        return ngx_svc_route_row(sr, res);
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                        NGX_SVC_NO_APPLICATION);

    return ngx_svc_send_error(sr);
}
