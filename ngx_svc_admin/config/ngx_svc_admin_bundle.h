/*
 * The governance of a tenant as one value: as it is, or as it is to be.
 */

#ifndef _NGX_SVC_ADMIN_BUNDLE_H_INCLUDED_
#define _NGX_SVC_ADMIN_BUNDLE_H_INCLUDED_


#include "ngx_svc_admin_governance.h"
#include "ngx_svc_access.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_ADMIN_BUNDLE_VERSION    1

#define NGX_SVC_ADMIN_BUNDLE_ACCESS     0x01
#define NGX_SVC_ADMIN_BUNDLE_RISK       0x02
#define NGX_SVC_ADMIN_BUNDLE_PASSWORD   0x04
#define NGX_SVC_ADMIN_BUNDLE_OVERRIDES  0x08
#define NGX_SVC_ADMIN_BUNDLE_ROLES      0x10
#define NGX_SVC_ADMIN_BUNDLE_ALL        0x1f


/*
 * The values of a policy, in the order of its fields; those that are not set
 * are 0.  What goes with one takes its table, which is
 * ngx_svc_admin_risk_members or ngx_svc_admin_password_members.
 */

typedef struct {
    ngx_uint_t                      set;    /* bit i: fields[i] is */
    int32_t                         fields[NGX_SVC_ADMIN_POLICY_FIELDS];
} ngx_svc_admin_bundle_policy_t;


/* index: where it is in a body. */

typedef struct {
    ngx_str_t                       group_id;
    ngx_uint_t                      index;
    ngx_svc_admin_bundle_policy_t   password;
} ngx_svc_admin_bundle_override_t;

typedef struct {
    ngx_str_t                       key;
    ngx_uint_t                      index;
    ngx_str_t                       name;
    ngx_uint_t                      permissions;
    ngx_uint_t                      members;    /* 1: a live one has some */
} ngx_svc_admin_bundle_role_t;


/*
 * A section that is absent is not managed.  Strings point to where they were
 * read.  The rest is of a live one: its access policy may be NULL, when what is
 * stored is none any more, and is then in access_json alone.
 */

typedef struct {
    ngx_uint_t                      sections;   /* those that are there */
    const ngx_svc_access_policy_t  *access;
    ngx_svc_admin_bundle_policy_t   risk;
    ngx_svc_admin_bundle_policy_t   password;
    ngx_array_t                     overrides;  /* sorted by group */
    ngx_array_t                     roles;      /* sorted by key */

    ngx_str_t                       access_json;
    ngx_str_t                       revision;
    ngx_str_t                       access_number;
    ngx_uint_t                      held;       /* permissions of the caller */
    ngx_int_t                       unknown;    /* index of the override whose
                                                   group does not exist, or
                                                   -1 */
} ngx_svc_admin_bundle_t;


/*
 * From a body, whose strings it goes on to point into.  NGX_OK; NGX_DECLINED
 * with err, which names the member; NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_bundle_parse(ngx_pool_t *pool,
    const ngx_svc_zones_t *zones, cJSON *json, ngx_svc_admin_bundle_t *bundle,
    ngx_svc_error_t *err);

/* Sorts an array whose elements begin with the key and the index. */
void ngx_svc_admin_bundle_sort(ngx_array_t *array);

/* Of their keys, as bytes. */
ngx_int_t ngx_svc_admin_bundle_compare(const ngx_str_t *a,
    const ngx_str_t *b);


/*
 * ngx_svc_admin_bundle_write.c: the canonical form, and its parts, as a member
 * or as an element.
 */
void ngx_svc_admin_bundle_write(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_bundle_t *bundle);
void ngx_svc_admin_bundle_write_access(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_admin_bundle_t *bundle);
void ngx_svc_admin_bundle_write_policy(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_member_t *fields,
    const ngx_svc_admin_bundle_policy_t *policy);
void ngx_svc_admin_bundle_write_override(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_admin_bundle_override_t *override);
void ngx_svc_admin_bundle_write_role(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_admin_bundle_role_t *role);


/*
 * ngx_svc_admin_bundle_live.c: adds the statement that reads all of it, as it
 * was at one time; candidate: whose groups are looked for, or NULL.  And makes
 * a bundle of the result, into which its strings point.  NGX_OK; NGX_DECLINED:
 * there is no tenant; NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_bundle_call(ngx_svc_request_t *sr,
    const ngx_svc_admin_bundle_t *candidate);
ngx_int_t ngx_svc_admin_bundle_live(ngx_pool_t *pool, PGresult *res,
    ngx_svc_admin_bundle_t *bundle);
extern ngx_svc_pg_statements_t  ngx_svc_admin_bundle_statements[];


#endif /* _NGX_SVC_ADMIN_BUNDLE_H_INCLUDED_ */
