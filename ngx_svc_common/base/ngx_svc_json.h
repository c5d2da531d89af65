/*
 * JSON in: a guard that admits only what every reader reads the same way,
 * and cJSON behind it.
 */

#ifndef _NGX_SVC_JSON_H_INCLUDED_
#define _NGX_SVC_JSON_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_error.h"

#include <cjson/cJSON.h>


#define NGX_SVC_JSON_MAX_MEMBERS   1024     /* in one object */


/*
 * Checks as ngx_svc_json_check(), parses, and refuses a top level that is not
 * an object, duplicate members in any object (compared after unescaping,
 * case-sensitive) and objects over NGX_SVC_JSON_MAX_MEMBERS.
 *
 * NGX_OK with *json set: the tree is allocated from the pool, goes with it,
 * and must not be given to cJSON_Delete().  NGX_DECLINED with err set.
 * NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_json_parse(ngx_pool_t *pool, ngx_str_t *text,
    cJSON **json, ngx_svc_error_t *err);

/* To be called once in each process before the first parse. */
NGX_SVC_API void ngx_svc_json_init(void);


#endif /* _NGX_SVC_JSON_H_INCLUDED_ */
