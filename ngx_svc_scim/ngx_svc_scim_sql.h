/*
 * The common parts of the SQL that is composed for a request, as it depends on
 * the client's filter and order.  All other SQL is in files of its own.
 */

#ifndef _NGX_SVC_SCIM_SQL_H_INCLUDED_
#define _NGX_SVC_SCIM_SQL_H_INCLUDED_


/*
 * SQL: the tenant's id, in the words of the row policies, so that both are one
 * condition.  Without a tenant it is an id that no tenant has: with NULL the
 * planner would expect no rows, and the plan is used for all tenants.
 */

#define NGX_SVC_TENANT                                                        \
    "greatest(current_setting('svc.tenant', true),"                           \
        " '00000000-0000-0000-0000-000000000000')::uuid"

/*
 * SQL: the row of a tenant's table with an id, or none, for LATERAL or as a
 * value.  columns: expressions of k.  A range and an order make the planner use
 * the primary key whatever it knows: while a table is empty each index that
 * begins with the tenant looks as good, and a plan made then would read all
 * rows of the tenant for each id.
 */

#define NGX_SVC_ROW(columns, table, id)                                       \
    "SELECT " columns " FROM " table " k WHERE k.tenant_id = " NGX_SVC_TENANT \
    " AND k.id BETWEEN " id " AND " id " ORDER BY k.id LIMIT 1"

/* SQL: the time in a parameter of ngx_svc_param_time(). */
#define NGX_SVC_TIME(msec)                                                    \
    "to_timestamp(" msec "::text::float8 / 1000)"


#endif /* _NGX_SVC_SCIM_SQL_H_INCLUDED_ */
