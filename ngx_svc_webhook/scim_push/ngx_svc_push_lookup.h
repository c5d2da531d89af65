/*
 * Outbound SCIM: one look-up of many users.
 *
 * New users are looked up before they are created.  When many are new, one
 * request asks for several of them, by their names and their ids.  Users whom
 * the target does not show are created; those whom it shows are looked up once
 * more, each by himself.
 */

#ifndef _NGX_SVC_PUSH_LOOKUP_H_INCLUDED_
#define _NGX_SVC_PUSH_LOOKUP_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* Sets ended(), which is called when work->lookup has ended and was freed. */
void ngx_svc_push_lookup_init(void (*ended)(ngx_svc_push_work_t *work));

/* Returns whether a look-up is to be begun for users who are ready. */
ngx_uint_t ngx_svc_push_lookup_due(ngx_svc_push_work_t *work);

/* Begins work->lookup.  NGX_ERROR: no memory, or no user fits into the URL. */
ngx_int_t ngx_svc_push_lookup(ngx_svc_push_work_t *work);

/* Returns whether a user who is ready has to wait for a look-up. */
ngx_uint_t ngx_svc_push_lookup_waits(ngx_svc_push_work_t *work,
    ngx_svc_push_item_t *item);

/*
 * Called when a user's requests begin: what the target has of him may change.
 */
void ngx_svc_push_lookup_forget(ngx_svc_push_work_t *work,
    const ngx_svc_push_t *push);

/* Called when a user's requests have ended: the target may have him now. */
void ngx_svc_push_lookup_known(ngx_svc_push_work_t *work,
    const ngx_svc_push_t *push);

/* Breaks off the look-up under way. */
void ngx_svc_push_lookup_cancel(ngx_svc_push_work_t *work);


#endif /* _NGX_SVC_PUSH_LOOKUP_H_INCLUDED_ */
