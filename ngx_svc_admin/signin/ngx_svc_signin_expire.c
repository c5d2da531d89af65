/*
 * What sign-ins leave behind, and nobody needs any more.
 */

#include "ngx_svc_signin_expire.h"


static const ngx_svc_pg_statement_t  ngx_svc_sql_signin_expire = {
    .name = "signin_expire",
    .text = "SELECT svc.sign_in_expire(1000)"
};

ngx_svc_pg_statements_t  ngx_svc_signin_expire_statements[] = {
    &ngx_svc_sql_signin_expire,
    NULL
};


ngx_svc_pg_task_t  ngx_svc_signin_expire = {
    .statement = &ngx_svc_sql_signin_expire,
    .period = 60000,
    .full = 1000,
    .failed = "sessions that have ended cannot be deleted"
};
