/*
 * The differences between the governance of a tenant and a candidate.
 */

#ifndef _NGX_SVC_ADMIN_PLAN_H_INCLUDED_
#define _NGX_SVC_ADMIN_PLAN_H_INCLUDED_


#include "ngx_svc_admin_bundle.h"
#include "ngx_svc_access_lockout.h"


typedef enum {
    NGX_SVC_ADMIN_CREATE = 0,
    NGX_SVC_ADMIN_UPDATE,
    NGX_SVC_ADMIN_DELETE
} ngx_svc_admin_action_e;


/* before, after: what the section's write() takes; NULL: there is none. */

typedef struct {
    ngx_svc_admin_section_e                 section;
    ngx_svc_admin_action_e                  action;
    const void                             *before;
    const void                             *after;
} ngx_svc_admin_change_t;


typedef struct {
    const ngx_svc_admin_bundle_t           *live;
    const ngx_svc_admin_bundle_t           *candidate;
    ngx_svc_access_caller_t                 caller;
    ngx_uint_t                              prune;  /* 1: deletes are done */
    ngx_array_t                             changes;
    ngx_uint_t                              counts[NGX_SVC_ADMIN_DELETE + 1];
} ngx_svc_admin_plan_t;


/*
 * Fills changes and counts from the members before them.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_plan_make(ngx_pool_t *pool,
    ngx_svc_admin_plan_t *plan);

/* Returns how many of the changes are done. */
ngx_uint_t ngx_svc_admin_plan_done(const ngx_svc_admin_plan_t *plan);

/* Tells whether a change is done: deletes are done only with prune. */
#define ngx_svc_admin_change_done(plan, change)                               \
    ((plan)->prune || (change)->action != NGX_SVC_ADMIN_DELETE)

/*
 * Returns the set of the section's fields that differ in an update; 1 for the
 * access policy.
 */
ngx_uint_t ngx_svc_admin_plan_differ(const ngx_svc_admin_change_t *change);

/* Returns the key of a section's element; NULL if it is no array. */
const ngx_str_t *ngx_svc_admin_change_key(
    const ngx_svc_admin_change_t *change);

/* Returns 1 when the access policy is among the changes. */
ngx_uint_t ngx_svc_admin_plan_access(const ngx_svc_admin_plan_t *plan);

/*
 * Returns how many groups have a looser password policy than the tenant, if a
 * change has to do with that; *first points to the id of one of them.
 */
ngx_uint_t ngx_svc_admin_plan_looser(const ngx_svc_admin_plan_t *plan,
    const ngx_str_t **first);


/*
 * ngx_svc_admin_plan_write.c.  Writes the answer of plan and apply; detail: 1:
 * with the changed members of each change, the warnings, and this revision as
 * an entity tag.
 */
void ngx_svc_admin_plan_write(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_plan_t *plan, ngx_uint_t detail,
    const ngx_str_t *revision);

/*
 * Writes the paths of what an update changes, as an array; members: 1: only the
 * resource's own members, without what is inside of them.
 */
void ngx_svc_admin_plan_paths(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_admin_change_t *change, ngx_uint_t members);


/*
 * ngx_svc_admin_plan_check.c.  Finds the next reason why a plan would not be
 * applied, with the reasons that prune brings only if prune is set; *state is 0
 * at first.  Returns NGX_OK when there is no further reason; NGX_DECLINED with
 * err, whose kind must be NGX_SVC_E_NONE before.
 */
ngx_int_t ngx_svc_admin_plan_check(const ngx_svc_admin_plan_t *plan,
    ngx_uint_t prune, ngx_uint_t *state, ngx_svc_error_t *err);

ngx_int_t ngx_svc_admin_plan_role_in_use(const ngx_str_t *key,
    ngx_svc_error_t *err);

/* Refuses a candidate with a group that the tenant does not have. */
ngx_int_t ngx_svc_admin_plan_groups(const ngx_svc_admin_plan_t *plan,
    ngx_svc_error_t *err);


#endif /* _NGX_SVC_ADMIN_PLAN_H_INCLUDED_ */
