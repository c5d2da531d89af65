/*
 * Who a person is at an identity provider, and whether the address is his.
 */

#ifndef _NGX_SVC_PROVIDER_PERSON_H_INCLUDED_
#define _NGX_SVC_PROVIDER_PERSON_H_INCLUDED_


#include "ngx_svc_provider.h"


/* A person; the texts are in the pool. */

typedef struct {
    ngx_str_t       subject;        /* what an account is linked to */
    ngx_str_t       email;          /* no data: there is none */
    unsigned        verified:1;
    const char     *why;            /* with NGX_DECLINED: "has ..." */
} ngx_svc_provider_person_t;


/*
 * Says who a person is by the claims of a checked ID token.  An address that no
 * mailbox can have is none.  Returns NGX_OK; NGX_DECLINED with person->why;
 * NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_provider_person(ngx_pool_t *pool,
    const ngx_svc_provider_settings_t *settings, const cJSON *claims,
    ngx_svc_provider_person_t *person);

/*
 * Says the same by what GitHub answers at user_endpoint and emails_endpoint.
 */
ngx_int_t ngx_svc_provider_github(ngx_pool_t *pool, const ngx_str_t *user,
    const ngx_str_t *emails, ngx_svc_provider_person_t *person);


#endif /* _NGX_SVC_PROVIDER_PERSON_H_INCLUDED_ */
