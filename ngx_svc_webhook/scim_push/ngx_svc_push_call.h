/*
 * Outbound SCIM: the requests for one user, one after the other.
 */

#ifndef _NGX_SVC_PUSH_CALL_H_INCLUDED_
#define _NGX_SVC_PUSH_CALL_H_INCLUDED_


#include "ngx_svc_push_http.h"
#include "ngx_svc_push_write.h"

#include "ngx_svc_crypto.h"


typedef struct ngx_svc_push_call_s  ngx_svc_push_call_t;

/*
 * Reads an answer.  NGX_OK: the next request is under way; NGX_DONE: the
 * outcome is the last request's; NGX_ERROR: no memory.
 */
typedef ngx_int_t (*ngx_svc_push_call_pt)(ngx_svc_push_call_t *call);

struct ngx_svc_push_call_s {
    ngx_svc_push_http_t    http;
    ngx_svc_push_t        *push;
    ngx_svc_push_call_pt   next;
    ngx_event_t            end;         /* posted when no request is needed */
    ngx_svc_push_by_e      by;          /* what the look-up under way
                                           compares */
    ngx_uint_t             shown;       /* status of the change whose effect is
                                           now read; 0: none is */
    const cJSON           *resource;    /* in the last answer, while
                                           push->owner() looks for its owner */
    u_char                 hash[NGX_SVC_SHA256_LEN];
    unsigned               put:1;       /* the target does not take PATCH */
    unsigned               read:1;      /* the resource was read by its id */
    unsigned               conflict:1;  /* the target says that the user
                                           exists */
    unsigned               created:1;   /* the target made the user without an
                                           id */
    unsigned               forgotten:1; /* the id that we knew is void */
    unsigned               listed:1;    /* the target answers look-ups */
    unsigned               asking:1;    /* push->owner() is under way */
};


/*
 * Makes a call in the push's pool, as push->state, and begins with begin().
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_svc_push_call(ngx_svc_push_t *push, ngx_svc_push_call_pt begin);

/* Breaks off what is under way. */
void ngx_svc_push_call_cancel(ngx_svc_push_t *push);

/*
 * The functions below make one request each, whose answer next() reads.  They
 * return NGX_OK or NGX_ERROR.
 *
 * Looks the user up by a filter.
 */
ngx_int_t ngx_svc_push_call_look(ngx_svc_push_call_t *call,
    ngx_svc_push_by_e by, ngx_svc_push_call_pt next);

/* Creates the user. */
ngx_int_t ngx_svc_push_call_create(ngx_svc_push_call_t *call,
    ngx_svc_push_call_pt next);

/* Reads the user by the id that he has at the target. */
ngx_int_t ngx_svc_push_call_get(ngx_svc_push_call_t *call,
    ngx_svc_push_call_pt next);

/* Changes the user by the id that he has at the target. */
ngx_int_t ngx_svc_push_call_change(ngx_svc_push_call_t *call,
    const char *method, const ngx_str_t *body, ngx_svc_push_call_pt next);

/* Asks what the target can do. */
ngx_int_t ngx_svc_push_call_config(ngx_svc_push_call_t *call,
    ngx_svc_push_call_pt next);

/*
 * Goes on after something else than a request; rc is as of
 * ngx_svc_push_call_pt.  The call may be freed when this returns.
 */
void ngx_svc_push_call_go_on(ngx_svc_push_call_t *call, ngx_int_t rc);

/*
 * Keeps the id of a resource.  NGX_DECLINED: there is no id, or no resource;
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_svc_push_call_id(ngx_svc_push_call_t *call,
    const cJSON *resource);

/* Forgets what was known of the user at the target. */
void ngx_svc_push_call_forget(ngx_svc_push_call_t *call);

/* Notes that the target has what is wanted; returns NGX_DONE. */
ngx_int_t ngx_svc_push_call_good(ngx_svc_push_call_t *call);


#endif /* _NGX_SVC_PUSH_CALL_H_INCLUDED_ */
