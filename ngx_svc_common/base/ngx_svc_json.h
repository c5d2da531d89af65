/*
 * Reads JSON: a check admits only what every reader reads the same way, and
 * then cJSON parses it.
 */

#ifndef _NGX_SVC_JSON_H_INCLUDED_
#define _NGX_SVC_JSON_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_error.h"

#include <cjson/cJSON.h>


#define NGX_SVC_JSON_MAX_MEMBERS   1024     /* in one object */


/*
 * Checks a text as ngx_svc_json_check() does, and parses it.  Also refuses a
 * top level that is not an object, a member that an object has twice (names are
 * compared after unescaping, and with their case), and an object with more than
 * NGX_SVC_JSON_MAX_MEMBERS.
 *
 * Returns NGX_OK with *json set: the tree is of the pool, ends with it, and
 * must not be given to cJSON_Delete().  Returns NGX_DECLINED with err set, or
 * NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_json_parse(ngx_pool_t *pool, ngx_str_t *text,
    cJSON **json, ngx_svc_error_t *err);

/* Each process calls this once, before the first parse. */
NGX_SVC_API void ngx_svc_json_init(void);


#endif /* _NGX_SVC_JSON_H_INCLUDED_ */
