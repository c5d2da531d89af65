/*
 * Access policies as JSON.
 */

#ifndef _NGX_SVC_ACCESS_WRITE_H_INCLUDED_
#define _NGX_SVC_ACCESS_WRITE_H_INCLUDED_


#include "ngx_svc_access.h"
#include "ngx_svc_json_write.h"


/*
 * The members "rules" and "defaultAction" in their canonical form: all members
 * of a rule, in one order, defaults filled in, countries in capitals; rules,
 * and what is in their lists, in the order given, but a day of a window once.
 */
NGX_SVC_API void ngx_svc_access_write(ngx_svc_json_writer_t *w,
    const ngx_svc_access_policy_t *policy);


#endif /* _NGX_SVC_ACCESS_WRITE_H_INCLUDED_ */
