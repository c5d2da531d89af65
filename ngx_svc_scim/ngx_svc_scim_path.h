/*
 * The path of a PATCH operation (RFC 7644, 3.5.2) and other attribute names.
 */

#ifndef _NGX_SVC_SCIM_PATH_H_INCLUDED_
#define _NGX_SVC_SCIM_PATH_H_INCLUDED_


#include "ngx_svc_common.h"


/* A bit for each attribute that a User has; also a projection's mask. */

#define NGX_SVC_SCIM_SCHEMAS       0x00001
#define NGX_SVC_SCIM_ID            0x00002
#define NGX_SVC_SCIM_EXTERNAL_ID   0x00004
#define NGX_SVC_SCIM_META          0x00008
#define NGX_SVC_SCIM_USER_NAME     0x00010
#define NGX_SVC_SCIM_GIVEN_NAME    0x00020
#define NGX_SVC_SCIM_FAMILY_NAME   0x00040
#define NGX_SVC_SCIM_FORMATTED     0x00080
#define NGX_SVC_SCIM_NAME          (NGX_SVC_SCIM_GIVEN_NAME                   \
                                    |NGX_SVC_SCIM_FAMILY_NAME                 \
                                    |NGX_SVC_SCIM_FORMATTED)
#define NGX_SVC_SCIM_DISPLAY_NAME  0x00100
#define NGX_SVC_SCIM_TITLE         0x00200
#define NGX_SVC_SCIM_LOCALE        0x00400
#define NGX_SVC_SCIM_ACTIVE        0x00800
#define NGX_SVC_SCIM_EMAILS        0x01000
#define NGX_SVC_SCIM_DEPARTMENT    0x02000

/* The bare extension URN has one bit more than its only attribute. */
#define NGX_SVC_SCIM_ENTERPRISE    (NGX_SVC_SCIM_DEPARTMENT|0x04000)

#define NGX_SVC_SCIM_ALL           0x03fff

/* The bare core URN stands for all attributes that have no URN. */
#define NGX_SVC_SCIM_CORE          (NGX_SVC_SCIM_ALL|0x08000)

/* For projections alone: parts of attributes, none of which a path sets. */
#define NGX_SVC_SCIM_EMAIL_VALUE    0x0010000
#define NGX_SVC_SCIM_EMAIL_TYPE     0x0020000
#define NGX_SVC_SCIM_EMAIL_PRIMARY  0x0040000
#define NGX_SVC_SCIM_EMAIL_PARTS    (NGX_SVC_SCIM_EMAIL_VALUE                 \
                                     |NGX_SVC_SCIM_EMAIL_TYPE                 \
                                     |NGX_SVC_SCIM_EMAIL_PRIMARY)
#define NGX_SVC_SCIM_META_TYPE      0x0080000
#define NGX_SVC_SCIM_META_CREATED   0x0100000
#define NGX_SVC_SCIM_META_MODIFIED  0x0200000
#define NGX_SVC_SCIM_META_LOCATION  0x0400000
#define NGX_SVC_SCIM_META_VERSION   0x0800000
#define NGX_SVC_SCIM_META_PARTS     (NGX_SVC_SCIM_META_TYPE                   \
                                     |NGX_SVC_SCIM_META_CREATED               \
                                     |NGX_SVC_SCIM_META_MODIFIED              \
                                     |NGX_SVC_SCIM_META_LOCATION              \
                                     |NGX_SVC_SCIM_META_VERSION)
/* All attributes to be shown: parts instead of "emails" and "meta". */
#define NGX_SVC_SCIM_SHOWN                                                    \
    ((NGX_SVC_SCIM_ALL & ~(NGX_SVC_SCIM_EMAILS|NGX_SVC_SCIM_META))            \
     |NGX_SVC_SCIM_EMAIL_PARTS|NGX_SVC_SCIM_META_PARTS)

#define NGX_SVC_SCIM_ALWAYS        (NGX_SVC_SCIM_SCHEMAS|NGX_SVC_SCIM_ID)


/*
 * Parses attrPath ["[" filter "]" ["." subAttr]], with or without a schema URN
 * in front; names are case-insensitive.
 *
 * Returns NGX_OK with *bits for an attribute of ours without a value filter
 * (NAME for "name", META for "meta" and its sub-attributes, EMAILS for "emails"
 * and its own, CORE and ENTERPRISE for the bare URNs); NGX_DECLINED for any
 * other well-formed path, a value filter included; NGX_ERROR when the path does
 * not follow the grammar.
 */
ngx_int_t ngx_svc_scim_path_parse(const u_char *text, size_t len,
    ngx_uint_t *bits);

/*
 * Returns the bits of a member of the object that parent, NAME or ENTERPRISE,
 * stands for, such as "givenName" in NAME; 0 when it has no such member.
 */
ngx_uint_t ngx_svc_scim_path_member(ngx_uint_t parent, const u_char *name,
    size_t len);

/*
 * Returns the mask of attributes to be shown for the decoded values of the
 * query's attributes= and excludedAttributes= (comma-separated; NULL when
 * absent), with the parts of "emails" and "meta".  Names that are not known, or
 * not well-formed, count for nothing.
 */
ngx_uint_t ngx_svc_scim_projection(ngx_str_t *attributes,
    ngx_str_t *excluded);


#endif /* _NGX_SVC_SCIM_PATH_H_INCLUDED_ */
