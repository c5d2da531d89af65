/*
 * SQL that is composed for a request, as it depends on the client's filter and
 * order: what of it is the same in all.  All other SQL is in files of its own.
 */

#ifndef _NGX_SVC_SCIM_SQL_H_INCLUDED_
#define _NGX_SVC_SCIM_SQL_H_INCLUDED_


/*
 * SQL: what a tenant's id is compared with, in the words of the policies, so
 * that both are one condition.  Without a tenant it is nobody's id: with NULL
 * the planner would count on no rows, and the plan is for all.
 */

#define NGX_SVC_TENANT                                                        \
    "greatest(current_setting('svc.tenant', true),"                           \
        " '00000000-0000-0000-0000-000000000000')::uuid"

/*
 * SQL: of a tenant's table the row with an id, or none: for LATERAL, or as a
 * value.  columns: of k.  A range and an order have the primary key looked up
 * whatever the planner knows: while a table is empty each index that begins
 * with the tenant is as good to it, and a plan made then would read all rows of
 * the tenant for each id.
 */

#define NGX_SVC_ROW(columns, table, id)                                       \
    "SELECT " columns " FROM " table " k WHERE k.tenant_id = " NGX_SVC_TENANT \
    " AND k.id BETWEEN " id " AND " id " ORDER BY k.id LIMIT 1"

/* SQL: a time, of a parameter of ngx_svc_param_time(). */
#define NGX_SVC_TIME(msec)                                                    \
    "to_timestamp(" msec "::text::float8 / 1000)"


#endif /* _NGX_SVC_SCIM_SQL_H_INCLUDED_ */
