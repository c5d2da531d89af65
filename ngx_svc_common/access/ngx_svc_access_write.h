/*
 * Access policies as JSON.
 */

#ifndef _NGX_SVC_ACCESS_WRITE_H_INCLUDED_
#define _NGX_SVC_ACCESS_WRITE_H_INCLUDED_


#include "ngx_svc_access.h"
#include "ngx_svc_json_write.h"


/*
 * Writes the members "rules" and "defaultAction" in their canonical form.  A
 * rule has all its members, always in the same order, with defaults filled in
 * and countries in capitals.  Rules, and the elements of their lists, are in
 * the order in which they were given; a day of a window is there once.
 */
NGX_SVC_API void ngx_svc_access_write(ngx_svc_json_writer_t *w,
    const ngx_svc_access_policy_t *policy);


#endif /* _NGX_SVC_ACCESS_WRITE_H_INCLUDED_ */
