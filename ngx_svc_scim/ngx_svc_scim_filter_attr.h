/*
 * The attributes that a filter may compare and that a list is sorted by, as a
 * table of their SQL.
 */

#ifndef _NGX_SVC_SCIM_FILTER_ATTR_H_INCLUDED_
#define _NGX_SVC_SCIM_FILTER_ATTR_H_INCLUDED_


#include "ngx_svc_scim_grammar.h"


typedef enum {
    NGX_SVC_SCIM_ATTR_TEXT = 0,     /* a string, in any case */
    NGX_SVC_SCIM_ATTR_ADDRESS,      /* an e-mail address, by its key */
    NGX_SVC_SCIM_ATTR_EXACT,        /* a string, as it is */
    NGX_SVC_SCIM_ATTR_ID,           /* an exact string, stored as a uuid */
    NGX_SVC_SCIM_ATTR_LOCATION,     /* an exact string: users' URL and an id */
    NGX_SVC_SCIM_ATTR_TIME,
    NGX_SVC_SCIM_ATTR_ACTIVE,       /* a boolean */
    NGX_SVC_SCIM_ATTR_TRUE,         /* a boolean that is always true */
    NGX_SVC_SCIM_ATTR_WORD,         /* a string, in any case: the same for
                                       all users */
    NGX_SVC_SCIM_ATTR_EXACT_WORD,
    NGX_SVC_SCIM_ATTR_SCHEMAS,
    NGX_SVC_SCIM_ATTR_COMPLEX       /* only "pr" compares it */
} ngx_svc_scim_attr_type_e;


/*
 * sql: the expression that is compared, of the row "account", texts in the
 * order of their bytes; for a complex attribute, whether it is there, or NULL
 * when it always is; for a word, the word itself.
 *
 * index: 1: an index has sql behind the tenant, so that a comparison reads only
 * the users that it asks for; sort: the expression that a list is sorted by;
 * NULL: there is none.
 */

typedef struct {
    ngx_str_t                  urn;
    ngx_str_t                  name;
    ngx_str_t                  sub;
    ngx_svc_scim_attr_type_e   type;
    const char                *sql;
    unsigned                   required:1;      /* 1: is never absent */
    unsigned                   index:1;
    unsigned                   unique:1;        /* 1: unique in a tenant */
    const char                *sort;
} ngx_svc_scim_attr_t;


/* Returns NULL when there is no such attribute. */
const ngx_svc_scim_attr_t *ngx_svc_scim_attr(
    const ngx_svc_scim_attr_path_t *path);


#endif /* _NGX_SVC_SCIM_FILTER_ATTR_H_INCLUDED_ */
