/*
 * The risk policy and the password policy, which is also that of a group: SQL
 * of their fields.
 */

#ifndef _NGX_SVC_ADMIN_POLICY_H_INCLUDED_
#define _NGX_SVC_ADMIN_POLICY_H_INCLUDED_


#include "ngx_svc_admin_governance.h"
#include "ngx_svc_audit.h"
#include "ngx_svc_sql.h"


/*
 * For a table of fields.  SQL: the column; that of a table or a CTE, whose name
 * x is; as the answer's member; as a parameter, and with the old value in its
 * place; and of an array of integers.
 */

#define NGX_SVC_ADMIN_COLUMN(x, n, column, ...)  #column

#define NGX_SVC_ADMIN_COLUMN_OF(x, n, column, ...)  x "." #column

#define NGX_SVC_ADMIN_COLUMN_AS(x, n, column, name, ...)                      \
    x "." #column " AS \"" #name "\""

#define NGX_SVC_ADMIN_COLUMN_VALUE(x, n, column, name, type, ...)             \
    "$" #n "::" type(NGX_SVC_ADMIN_TYPE_SQL)

#define NGX_SVC_ADMIN_COLUMN_NEW(x, n, column, name, type, ...)               \
    "coalesce($" #n "::" type(NGX_SVC_ADMIN_TYPE_SQL) ", " x "." #column ")"  \
    " AS " #column

#define NGX_SVC_ADMIN_COLUMN_ELEMENT(x, n, column, name, type, ...)           \
    x "[" #n "]::" type(NGX_SVC_ADMIN_TYPE_SQL)

/* SQL: of NGX_SVC_AUDIT_CHANGED(). */
#define NGX_SVC_ADMIN_COLUMN_DIFFERS(x, n, column, name, ...)                 \
    NGX_SVC_DIFFERS(#column, #name)

/* The row of NGX_SVC_PARAMS() for $n; s: the struct of the body's values. */
#define ngx_svc_admin_field_param(s, n, column, name, type, ...)              \
    { .bind = type(NGX_SVC_ADMIN_TYPE_BIND), .offset = offsetof(s, column) },


/*
 * SQL: a policy of the tenant's; fields: its table; version: its column.  A
 * change is behind the lock of governance: $1 and so on are the fields, match
 * the parameter that is If-Match, other: WHENs of more verdicts, on "n".
 */

#define NGX_SVC_ADMIN_POLICY_GET(fields, version)                             \
    "SELECT " fields(NGX_SVC_ADMIN_COLUMN_AS, ", ", "g") ", "                 \
        "g." version " AS _version"                                           \
    " FROM svc.governance g WHERE g.tenant_id = " NGX_SVC_TENANT

#define NGX_SVC_ADMIN_POLICY_PUT(fields, version, match, other, action)       \
    "WITH o AS ("                                                             \
        "SELECT g.tenant_id, "                                                \
            fields(NGX_SVC_ADMIN_COLUMN_OF, ", ", "g") ", g." version         \
        " FROM svc.governance g WHERE g.tenant_id = " NGX_SVC_TENANT          \
    "), n AS ("                                                               \
        "SELECT o.tenant_id, "                                                \
            fields(NGX_SVC_ADMIN_COLUMN_NEW, ", ", "o") ", "                  \
            NGX_SVC_IF_MATCH(match, "o." version) " AS matches"               \
        " FROM o"                                                             \
    "), c AS ("                                                               \
        "SELECT CASE WHEN NOT n.matches THEN 'precondition'" other            \
            " END AS verdict FROM n"                                          \
    "), u AS ("                                                               \
        "UPDATE svc.governance g SET revision = g.revision + 1, "             \
            version " = g." version " + 1,"                                   \
            " (" fields(NGX_SVC_ADMIN_COLUMN, ", ", ) ")"                     \
            " = (" fields(NGX_SVC_ADMIN_COLUMN_OF, ", ", "n") ")"             \
        " FROM n, o, c WHERE g.tenant_id = n.tenant_id"                       \
            " AND c.verdict IS NULL"                                          \
            " AND (" fields(NGX_SVC_ADMIN_COLUMN_OF, ", ", "n") ")"           \
            " <> (" fields(NGX_SVC_ADMIN_COLUMN_OF, ", ", "o") ")"            \
        " RETURNING " fields(NGX_SVC_ADMIN_COLUMN_OF, ", ", "g")              \
            ", g." version                                                    \
    "), e AS ("                                                               \
        NGX_SVC_AUDIT(action, "NULL", "NULL",                                 \
            NGX_SVC_AUDIT_CHANGED(                                            \
                fields(NGX_SVC_ADMIN_COLUMN_DIFFERS, ", ", )),                \
            "FROM u, o")                                                      \
    "), r AS ("                                                               \
        "SELECT " fields(NGX_SVC_ADMIN_COLUMN_OF, ", ", "u")                  \
            ", u." version " FROM u"                                          \
        " UNION ALL"                                                          \
        " SELECT " fields(NGX_SVC_ADMIN_COLUMN_OF, ", ", "o")                 \
            ", o." version " FROM o WHERE NOT EXISTS (SELECT FROM u)"         \
    ")"                                                                       \
    " SELECT c.verdict AS _verdict, "                                         \
        fields(NGX_SVC_ADMIN_COLUMN_AS, ", ", "r")                            \
        ", r." version " AS _version FROM c, r"


#endif /* _NGX_SVC_ADMIN_POLICY_H_INCLUDED_ */
