/*
 * SQL: tables of what somebody should look at, and acknowledges: incidents, and
 * anomalies.  Rows are "i".
 */

#ifndef _NGX_SVC_ALERT_H_INCLUDED_
#define _NGX_SVC_ALERT_H_INCLUDED_


#include "ngx_svc_sql.h"


/*
 * all: whether those that are acknowledged come too, of a parameter.  Each half
 * has an index, and one of them is not executed.  page: ORDER BY, and LIMIT.
 */

#define NGX_SVC_ALERTS(table, all, columns, page)                             \
    "(SELECT " columns " FROM " table " i"                                    \
        " WHERE i.tenant_id = " NGX_SVC_TENANT                                \
            " AND i.acknowledged_at IS NULL AND NOT " all page ")"            \
    " UNION ALL "                                                             \
    "(SELECT " columns " FROM " table " i"                                    \
        " WHERE i.tenant_id = " NGX_SVC_TENANT " AND " all page ")"

/* Texts: the total; and behind the columns of a page, $2 and $3, its rows. */

#define NGX_SVC_ALERTS_TOTAL(table, all)                                      \
    "SELECT count(*) FROM ("                                                  \
        NGX_SVC_ALERTS(table, all, "", " LIMIT 10000") ") i"

#define NGX_SVC_ALERTS_PAGE(table, all, joins)                                \
    " FROM (" NGX_SVC_ALERTS(table, all, "i.*",                               \
        " ORDER BY i.created_at DESC, i.id DESC"                              \
        " LIMIT $2::int4 OFFSET $3::int4")                                    \
    ") i" joins " ORDER BY i.created_at DESC, i.id DESC"

/* The row $1, before it is acknowledged. */

#define NGX_SVC_ALERT_LOCK(table)                                             \
    "SELECT i.id FROM " table " i"                                            \
    " WHERE i.tenant_id = " NGX_SVC_TENANT " AND i.id = $1"                   \
    " FOR NO KEY UPDATE"

/*
 * Behind FROM: that row, which a CTE "u" has acknowledged, or somebody before,
 * which changes nothing.
 */

#define NGX_SVC_ALERT_ACKNOWLEDGED(table)                                     \
    "(SELECT * FROM u UNION ALL "                                             \
    "SELECT * FROM " table " i"                                               \
    " WHERE i.tenant_id = " NGX_SVC_TENANT " AND i.id = $1"                   \
        " AND i.acknowledged_at IS NOT NULL) i"


#endif /* _NGX_SVC_ALERT_H_INCLUDED_ */
