/*
 * Validation tables: a row describes what a member of a JSON object may be, and
 * where its value is stored.
 */

#ifndef _NGX_SVC_SCHEMA_H_INCLUDED_
#define _NGX_SVC_SCHEMA_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_error.h"
#include "ngx_svc_json.h"


#define NGX_SVC_T_STRING     0x01
#define NGX_SVC_T_BOOLEAN    0x02
#define NGX_SVC_T_INTEGER    0x04
#define NGX_SVC_T_OBJECT     0x08
#define NGX_SVC_T_ARRAY      0x10
#define NGX_SVC_T_NULL       0x20
#define NGX_SVC_T_TEXT       0x40       /* a line for people: see below */
#define NGX_SVC_T_NUMBER     0x80       /* is in value->json->valuedouble */

#define NGX_SVC_M_REQUIRED   0x01
#define NGX_SVC_M_NOCASE     0x02       /* the name matches in any case */
#define NGX_SVC_M_BOOL_TEXT  0x04       /* "true", "False" are booleans, too */
#define NGX_SVC_M_CLEARS     0x08       /* null, "" and [] store a NULL */
#define NGX_SVC_M_READ_ONLY  0x10       /* may be there, and is ignored */

#define NGX_SVC_S_STRICT     0x01       /* an unknown member is an error */
#define NGX_SVC_S_READ_BACK  0x02       /* read-only members are known, too */


/*
 * NGX_SVC_T_TEXT is a string without control characters.  White space at its
 * ends is cut off, and its limits are in characters.
 */

/*
 * A validated value.  str points into the cJSON tree, and lives as long as that
 * does.
 */

typedef struct {
    ngx_str_t          str;             /* NGX_SVC_T_STRING, _TEXT */
    int64_t            integer;         /* _INTEGER; 0 or 1 for _BOOLEAN */
    cJSON             *json;            /* the value itself, of any type */
    unsigned           set:1;           /* the member was there */
    unsigned           null:1;          /* it was null, or is cleared */
} ngx_svc_value_t;


typedef struct ngx_svc_member_s  ngx_svc_member_t;

/*
 * Checks a value beyond its type and limits.  Returns NGX_OK, or NGX_DECLINED
 * with err set by ngx_svc_fail().  path names the value for the message.
 */
typedef ngx_int_t (*ngx_svc_check_pt)(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);

struct ngx_svc_member_s {
    ngx_str_t                name;      /* empty: the end of the table */
    ngx_uint_t               type;      /* NGX_SVC_T_... allowed, a mask */
    ngx_uint_t               flags;     /* NGX_SVC_M_... */
    int64_t                  min;       /* of bytes, characters, elements, or
                                           the number itself */
    int64_t                  max;       /* both 0: there are no limits;
                                           INT64_MAX: no upper limit */
    ngx_svc_check_pt         check;     /* or NULL */
    const ngx_svc_member_t  *members;   /* of an object, or of each object in
                                           an array; NULL: not checked */
    const ngx_svc_member_t  *element;   /* one row for each element of an array
                                           (its offset is not used); or NULL */
    size_t                   offset;    /* of an ngx_svc_value_t in dst */
};

/*
 * A member that only a GET has; NGX_SVC_S_READ_BACK: a client may send it back.
 */

#define ngx_svc_read_only_member(text)                                        \
    { .name = ngx_string(text), .flags = NGX_SVC_M_READ_ONLY }

#define ngx_svc_null_member                                                   \
    { ngx_null_string, 0, 0, 0, 0, NULL, NULL, NULL, 0 }


/*
 * Validates a JSON object against a table, and stores its values in dst, whose
 * values the caller has zeroed.  Members of nested objects are stored in dst,
 * too; of an array only the array itself is stored (value.json).
 *
 * A required member must be there; with NGX_SVC_M_CLEARS it must also not be
 * null, "" or [].  A value that is null is not given to its check.
 *
 * Returns NGX_OK, or NGX_DECLINED with err set (NGX_SVC_E_INVALID_VALUE).  The
 * message has the member's path as in "rules[2].networks[0]", and says what
 * would be right.
 */
NGX_SVC_API ngx_int_t ngx_svc_schema_object(const ngx_svc_member_t *table,
    ngx_uint_t flags, cJSON *object, void *dst, ngx_svc_error_t *err);

/* Does the same for an object that is a member; path is its name. */
NGX_SVC_API ngx_int_t ngx_svc_schema_nested_flags(
    const ngx_svc_member_t *table, ngx_uint_t flags, const char *path,
    cJSON *object, void *dst, ngx_svc_error_t *err);

/* Does the same for one value of one row; path is its name in messages. */
NGX_SVC_API ngx_int_t ngx_svc_schema_value(const ngx_svc_member_t *member,
    cJSON *json, const char *path, void *dst, ngx_svc_error_t *err);


#endif /* _NGX_SVC_SCHEMA_H_INCLUDED_ */
