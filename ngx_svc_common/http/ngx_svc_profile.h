/*
 * The profile of a user: what both an administrator and an identity provider
 * may set.
 */

#ifndef _NGX_SVC_PROFILE_H_INCLUDED_
#define _NGX_SVC_PROFILE_H_INCLUDED_


#include "ngx_svc_audit.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_sql.h"


#define NGX_SVC_PROFILE_MAX  1024   /* bytes of a value */


/*
 * A row for each column: a name for enumerators; the column, which is the name
 * of the value's field in a body's struct, too; the member; and, of a statement
 * that changes a user, whether it is given, and its value.  A surface puts a
 * row for $2 and $3 of its own before these.
 */

#define NGX_SVC_PROFILE(_)                                                    \
    _(FIRST_NAME, first_name, "firstName", "$4", "$5")                        \
    _(LAST_NAME, last_name, "lastName", "$6", "$7")                           \
    _(DISPLAY_NAME, display_name, "displayName", "$8", "$9")                  \
    _(TITLE, title, "title", "$10", "$11")                                    \
    _(DEPARTMENT, department, "department", "$12", "$13")                     \
    _(LOCALE, locale, "locale", "$14", "$15")


/*
 * SQL, of such a table, each row with a comma before it: the columns; those of
 * the locked row "o" as they are to be; of two rows to be compared; for SET,
 * from the row "u"; and for NGX_SVC_AUDIT_CHANGED().
 */

#define NGX_SVC_PROFILE_COLUMN(id, column, ...)                               \
    ", " #column

#define NGX_SVC_PROFILE_WANTED(id, column, name, given, value)                \
    ", CASE WHEN " given " THEN " value " ELSE " #column " END AS " #column

#define NGX_SVC_PROFILE_NEW(id, column, ...)                                  \
    ", n." #column

#define NGX_SVC_PROFILE_OLD(id, column, ...)                                  \
    ", o." #column

#define NGX_SVC_PROFILE_SET(id, column, ...)                                  \
    ", " #column " = u." #column

#define NGX_SVC_PROFILE_DIFFERS(id, column, name, ...)                        \
    ", " NGX_SVC_DIFFERS(#column, name)


/*
 * Likewise of a row that has the new values alone: the name of what is given,
 * and is not what the column has, or NULL, for NGX_SVC_AUDIT_MEMBERS(); and for
 * SET, from the row "n".
 */

#define NGX_SVC_PROFILE_CHANGES(id, column, name, given, value)               \
    ", CASE WHEN " given " AND " value " IS DISTINCT FROM " #column           \
        " THEN '" name "' END"

#define NGX_SVC_PROFILE_TAKEN(id, column, ...)                                \
    ", " #column " = n." #column


/* SQL: what is searched, of a row with the names; SET with them. */

#define NGX_SVC_PROFILE_SEARCH(row)                                           \
    "svc.user_search(" row ".user_name, " row ".display_name, "               \
        row ".first_name, " row ".last_name)"


/*
 * SQL: whether the address of a row is to be another one, whoever had it; and
 * the key of the one that it is to have.  Two who had one address before there
 * were keys of today have keys of their own, which stay.
 */

#define NGX_SVC_PROFILE_MOVES(value, row)                                     \
    "svc.address_key(" value ") <> svc.address_key(" row ".user_name)"

#define NGX_SVC_PROFILE_KEY(moves, row)                                       \
    "CASE WHEN " moves " THEN svc.address_key(" row ".user_name)"             \
    " ELSE a.user_name_key END"


/* C: the check of each in a body: NULL of what is no name. */

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
