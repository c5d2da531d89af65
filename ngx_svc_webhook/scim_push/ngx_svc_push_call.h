/*
 * Outbound SCIM: a user's requests, one after the other.
 */

#ifndef _NGX_SVC_PUSH_CALL_H_INCLUDED_
#define _NGX_SVC_PUSH_CALL_H_INCLUDED_


#include "ngx_svc_push_http.h"
#include "ngx_svc_push_write.h"

#include "ngx_svc_crypto.h"


typedef struct ngx_svc_push_call_s  ngx_svc_push_call_t;

/*
 * Reads an answer: NGX_OK, the next request is under way; NGX_DONE, the outcome
 * is the last request's; NGX_ERROR, memory.
 */
typedef ngx_int_t (*ngx_svc_push_call_pt)(ngx_svc_push_call_t *call);

struct ngx_svc_push_call_s {
    ngx_svc_push_http_t    http;
    ngx_svc_push_t        *push;
    ngx_svc_push_call_pt   next;
    ngx_event_t            end;         /* posted: there is nothing to ask */
    ngx_svc_push_by_e      by;          /* of the look-up under way */
    ngx_uint_t             shown;       /* what it has answered to the change
                                           of which it shows what came; or 0 */
    const cJSON           *resource;    /* of the last answer: its owner is
                                           asked for */
    u_char                 hash[NGX_SVC_SHA256_LEN];
    unsigned               put:1;       /* the target does not take PATCH */
    unsigned               read:1;      /* the resource was asked for */
    unsigned               conflict:1;  /* it says that the user is there */
    unsigned               created:1;   /* it has, without an id */
    unsigned               forgotten:1; /* its id is of nobody any more */
    unsigned               listed:1;    /* the target does answer look-ups */
    unsigned               asking:1;    /* push->owner() */
};


/*
 * A call in the push's pool, which is its state.  NGX_ERROR: memory.  begin: as
 * of ngx_svc_push_call_pt.
 */
ngx_int_t ngx_svc_push_call(ngx_svc_push_t *push, ngx_svc_push_call_pt begin);

/* Breaks off what is under way. */
void ngx_svc_push_call_cancel(ngx_svc_push_t *push);

/*
 * Each makes a request, whose answer next reads: NGX_OK or NGX_ERROR.  The
 * filter is for the user; the others are for him by the id that he has there.
 */
ngx_int_t ngx_svc_push_call_look(ngx_svc_push_call_t *call,
    ngx_svc_push_by_e by, ngx_svc_push_call_pt next);
ngx_int_t ngx_svc_push_call_create(ngx_svc_push_call_t *call,
    ngx_svc_push_call_pt next);
ngx_int_t ngx_svc_push_call_get(ngx_svc_push_call_t *call,
    ngx_svc_push_call_pt next);
ngx_int_t ngx_svc_push_call_change(ngx_svc_push_call_t *call,
    const char *method, const ngx_str_t *body, ngx_svc_push_call_pt next);

/* Likewise, of what the target can do. */
ngx_int_t ngx_svc_push_call_config(ngx_svc_push_call_t *call,
    ngx_svc_push_call_pt next);

/*
 * Goes on with what came of something else than a request: rc as of
 * ngx_svc_push_call_pt.  The call may be gone behind it.
 */
void ngx_svc_push_call_go_on(ngx_svc_push_call_t *call, ngx_int_t rc);

/*
 * Keeps the id of a resource.  NGX_DECLINED: it has none, or there is no
 * resource; NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_push_call_id(ngx_svc_push_call_t *call,
    const cJSON *resource);

/* What the target has is not known any more. */
void ngx_svc_push_call_forget(ngx_svc_push_call_t *call);

/* The target has what is wanted; NGX_DONE. */
ngx_int_t ngx_svc_push_call_good(ngx_svc_push_call_t *call);


#endif /* _NGX_SVC_PUSH_CALL_H_INCLUDED_ */
