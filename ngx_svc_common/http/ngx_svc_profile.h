/*
 * The profile of a user: the values that both an administrator and an identity
 * provider may set.
 */

#ifndef _NGX_SVC_PROFILE_H_INCLUDED_
#define _NGX_SVC_PROFILE_H_INCLUDED_


#include "ngx_svc_bidi.h"


#define NGX_SVC_PROFILE_MAX  1024   /* bytes of a value */


/*
 * A row for each column: a name for enumerators; the column, which is also the
 * name of the value's field in a body's struct; and the member of JSON.
 */

#define NGX_SVC_PROFILE(_)                                                    \
    _(FIRST_NAME, first_name, "firstName")                                    \
    _(LAST_NAME, last_name, "lastName")                                       \
    _(DISPLAY_NAME, display_name, "displayName")                              \
    _(TITLE, title, "title")                                                  \
    _(DEPARTMENT, department, "department")                                   \
    _(LOCALE, locale, "locale")


/* C: the check of each value in a body; NULL: the value is not checked. */

#define ngx_svc_profile_check_FIRST_NAME    ngx_svc_check_name
#define ngx_svc_profile_check_LAST_NAME     ngx_svc_check_name
#define ngx_svc_profile_check_DISPLAY_NAME  ngx_svc_check_name
#define ngx_svc_profile_check_TITLE         NULL
#define ngx_svc_profile_check_DEPARTMENT    NULL
#define ngx_svc_profile_check_LOCALE        NULL

/* C: the fields of a body's struct. */

#define ngx_svc_profile_value(id, column, ...)                                \
    ngx_svc_value_t  column;


#endif /* _NGX_SVC_PROFILE_H_INCLUDED_ */
