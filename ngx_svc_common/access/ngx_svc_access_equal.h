/*
 * The comparison of access policies.
 */

#ifndef _NGX_SVC_ACCESS_EQUAL_H_INCLUDED_
#define _NGX_SVC_ACCESS_EQUAL_H_INCLUDED_


#include "ngx_svc_access.h"


/*
 * Returns 1 if two policies mean the same: they have the same rules in the same
 * order, whatever the order and the spelling of networks, countries, days and
 * windows are, and however often each is there.  Two names of one time zone are
 * different.
 */
NGX_SVC_API ngx_uint_t ngx_svc_access_equal(const ngx_svc_access_policy_t *a,
    const ngx_svc_access_policy_t *b);

/*
 * Calls the handler with the path of each member that differs:
 * "rules[0].action", "rules[2]" for a rule that only one policy has, or
 * "defaultAction".  members: only "rules" and "defaultAction" are told.
 */
typedef void (*ngx_svc_access_path_pt)(void *data, const u_char *path,
    size_t len);

NGX_SVC_API void ngx_svc_access_differences(const ngx_svc_access_policy_t *a,
    const ngx_svc_access_policy_t *b, ngx_uint_t members,
    ngx_svc_access_path_pt handler, void *data);


#endif /* _NGX_SVC_ACCESS_EQUAL_H_INCLUDED_ */
