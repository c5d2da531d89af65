/*
 * The governance of a tenant as one value: the live one, or a candidate.
 */

#ifndef _NGX_SVC_ADMIN_BUNDLE_H_INCLUDED_
#define _NGX_SVC_ADMIN_BUNDLE_H_INCLUDED_


#include "ngx_svc_admin_governance.h"
#include "ngx_svc_access.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_ADMIN_BUNDLE_VERSION    1


/* The sections, in their order in the bundle. */

typedef enum {
    NGX_SVC_ADMIN_ACCESS = 0,
    NGX_SVC_ADMIN_RISK,
    NGX_SVC_ADMIN_PASSWORD,
    NGX_SVC_ADMIN_OVERRIDE,
    NGX_SVC_ADMIN_ROLE,
    NGX_SVC_ADMIN_NSECTIONS
} ngx_svc_admin_section_e;

#define NGX_SVC_ADMIN_BUNDLE_ALL        ((1 << NGX_SVC_ADMIN_NSECTIONS) - 1)

typedef struct {
    const char                     *member;     /* in the bundle */
    const char                     *name;       /* a change's section */
    const ngx_svc_member_t         *fields;     /* members of its values;
                                                   NULL: the access policy's */
    size_t                          offset;     /* of the section's value */
    size_t                          size;       /* of an element; 0: no array */

    /* writes a value as a member, or as an element */
    void                          (*write)(ngx_svc_json_writer_t *w,
                                           const char *key, const void *value);
} ngx_svc_admin_section_t;

/* ngx_svc_admin_bundle_write.c.  The sections by their numbers. */
extern const ngx_svc_admin_section_t
    ngx_svc_admin_sections[NGX_SVC_ADMIN_NSECTIONS];


/*
 * The values of a policy, in the order of its fields; those that are not set
 * are 0.  Functions that work on one take its table, which is
 * ngx_svc_admin_risk_members or ngx_svc_admin_password_members.
 */

typedef struct {
    ngx_uint_t                      set;    /* bit i: fields[i] is set */
    int32_t                         fields[NGX_SVC_ADMIN_POLICY_FIELDS];
} ngx_svc_admin_bundle_policy_t;


/* The first members of both arrays' elements; index: the place in a body. */

typedef struct {
    ngx_str_t                       key;
    ngx_uint_t                      index;
} ngx_svc_admin_bundle_key_t;

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
    ngx_uint_t                      members;    /* 1: users have this role */
} ngx_svc_admin_bundle_role_t;


/*
 * A section that is absent is not managed.  Strings point to where they were
 * read.  The members from access_json on are set in a live bundle only.  Its
 * access policy may be NULL, when the stored one is not valid any more, and is
 * then in access_json alone.  The value of the section of the access policy is
 * the bundle itself.
 */

typedef struct {
    ngx_uint_t                      sections;   /* 1 << each that is there */
    const ngx_svc_access_policy_t  *access;
    ngx_svc_admin_bundle_policy_t   risk;
    ngx_svc_admin_bundle_policy_t   password;
    ngx_array_t                     overrides;  /* sorted by group */
    ngx_array_t                     roles;      /* sorted by key */

    ngx_str_t                       access_json;
    ngx_str_t                       revision;
    ngx_str_t                       access_number;
    ngx_uint_t                      held;       /* the caller's permissions */
    ngx_int_t                       unknown;    /* index of the override
                                                   whose group does not
                                                   exist, or -1 */
} ngx_svc_admin_bundle_t;


/*
 * Reads a bundle from a body; its strings point into the body.  Returns NGX_OK;
 * NGX_DECLINED with err, which names the member; NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_bundle_parse(ngx_pool_t *pool,
    const ngx_svc_zones_t *zones, cJSON *json, ngx_svc_admin_bundle_t *bundle,
    ngx_svc_error_t *err);

/* Sorts an array whose elements begin with the key and the index. */
void ngx_svc_admin_bundle_sort(ngx_array_t *array);

/* Compares two keys as bytes, as memcmp(). */
ngx_int_t ngx_svc_admin_bundle_compare(const ngx_str_t *a,
    const ngx_str_t *b);


/* ngx_svc_admin_bundle_write.c.  Writes the canonical form. */
void ngx_svc_admin_bundle_write(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_bundle_t *bundle);


/*
 * ngx_svc_admin_bundle_live.c.  Reads the whole governance as it was at one
 * time.  Looks for the groups of the bundle that sr->data begins with, unless
 * sr->data is NULL.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_bundle;

/*
 * Makes a bundle of the result, into which its strings point.  Returns NGX_OK;
 * NGX_DECLINED when there is no tenant; NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_bundle_live(ngx_pool_t *pool, PGresult *res,
    ngx_svc_admin_bundle_t *bundle);


#endif /* _NGX_SVC_ADMIN_BUNDLE_H_INCLUDED_ */
