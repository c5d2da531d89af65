/*
 * The scripts that count in Redis, and their arguments.
 */

#ifndef _NGX_SVC_LIMIT_SCRIPT_H_INCLUDED_
#define _NGX_SVC_LIMIT_SCRIPT_H_INCLUDED_


#include "ngx_svc_limit_key.h"
#include "ngx_svc_redis_script.h"


#define NGX_SVC_LIMIT_ANSWER  5         /* elements of check's answer */
#define NGX_SVC_LIMIT_ARGS    6         /* at most: check's, with a lock */


/* The arguments of a script, and the texts that they are made of. */

typedef struct {
    ngx_uint_t             n;
    ngx_str_t              list[NGX_SVC_LIMIT_ARGS];
    u_char                 texts[NGX_SVC_LIMIT_ARGS][NGX_SVC_LIMIT_KEY_TEXT];
} ngx_svc_limit_args_t;


/*
 * Keys: one or two counters, and behind an e-mail address's the account's lock.
 * Arguments: the window in ms, the most hits of each counter.  Returns { the
 * number of the counter that is over, from 1, or 0; its hits; ms until the
 * window of the first one ends, and of the second one, 0 if it was not counted;
 * ms of the lock if the e-mail address is over, 0: none }.  Counters behind one
 * that is over are not counted.
 */
extern ngx_svc_redis_script_t  ngx_svc_limit_check_script;

/*
 * Keys: counters.  Arguments: for each the ms that its window had when it was
 * counted.  Takes a hit back, unless another window has begun since.
 */
extern ngx_svc_redis_script_t  ngx_svc_limit_give_back_script;

/* Key: a lock.  Argument: ms. */
extern ngx_svc_redis_script_t  ngx_svc_limit_lock_script;

/*
 * Keys: lock, counter.  Arguments: the most hits of the counter, how many of
 * them are taken back.  Removes the lock, and the hits over the limit, which
 * were refused.
 */
extern ngx_svc_redis_script_t  ngx_svc_limit_clear_script;


/* Both add an argument; there must be room for it. */
void ngx_svc_limit_arg_key(ngx_svc_limit_args_t *args,
    const ngx_svc_limit_key_t *key);
void ngx_svc_limit_arg_number(ngx_svc_limit_args_t *args, ngx_uint_t n);


#endif /* _NGX_SVC_LIMIT_SCRIPT_H_INCLUDED_ */
