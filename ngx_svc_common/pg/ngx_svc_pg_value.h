/*
 * Values of results.
 */

#ifndef _NGX_SVC_PG_VALUE_H_INCLUDED_
#define _NGX_SVC_PG_VALUE_H_INCLUDED_


#include "ngx_svc_common.h"

#include <libpq-fe.h>


/* A column of a result as it is, and NULL as { 0, NULL }. */
NGX_SVC_API ngx_str_t ngx_svc_pg_value(PGresult *res, int row, int column);


#endif /* _NGX_SVC_PG_VALUE_H_INCLUDED_ */
