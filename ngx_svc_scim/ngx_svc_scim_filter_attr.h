/*
 * The attributes that a filter may compare, and that a list is sorted by: the
 * table of what they are in SQL.
 */

#ifndef _NGX_SVC_SCIM_FILTER_ATTR_H_INCLUDED_
#define _NGX_SVC_SCIM_FILTER_ATTR_H_INCLUDED_


#include "ngx_svc_scim_grammar.h"


typedef enum {
    NGX_SVC_SCIM_ATTR_TEXT = 0,     /* a string, in any case */
    NGX_SVC_SCIM_ATTR_ADDRESS,      /* an e-mail address, by its key */
    NGX_SVC_SCIM_ATTR_EXACT,        /* a string, as it is */
    NGX_SVC_SCIM_ATTR_ID,           /* the same; stored as an uuid */
    NGX_SVC_SCIM_ATTR_LOCATION,     /* the same; behind the URL of users */
    NGX_SVC_SCIM_ATTR_TIME,
    NGX_SVC_SCIM_ATTR_ACTIVE,       /* a boolean */
    NGX_SVC_SCIM_ATTR_TRUE,         /* a boolean that is always true */
    NGX_SVC_SCIM_ATTR_WORD,         /* a string, in any case: the same one of
                                       all users */
    NGX_SVC_SCIM_ATTR_EXACT_WORD,
    NGX_SVC_SCIM_ATTR_SCHEMAS,
    NGX_SVC_SCIM_ATTR_COMPLEX       /* has nothing but "pr" */
} ngx_svc_scim_attr_type_e;


/*
 * sql: of the row "u" of svc.user_account what is compared, texts in the order
 * of their bytes; of a complex attribute whether it is there, NULL when it
 * always is; or the word.
 *
 * index: an index has sql behind the tenant, so that a comparison reads only
 * what it asks for; sort: what a list is sorted by, NULL if by nothing.
 */

typedef struct {
    ngx_str_t                  urn;
    ngx_str_t                  name;
    ngx_str_t                  sub;
    ngx_svc_scim_attr_type_e   type;
    const char                *sql;
    unsigned                   required:1;      /* is never absent */
    unsigned                   index:1;
    unsigned                   unique:1;        /* in its tenant */
    const char                *sort;
} ngx_svc_scim_attr_t;


/* NULL: there is no such attribute. */
const ngx_svc_scim_attr_t *ngx_svc_scim_attr(
    const ngx_svc_scim_attr_path_t *path);


#endif /* _NGX_SVC_SCIM_FILTER_ATTR_H_INCLUDED_ */
