/*
 * What a sign-in page may offer, and where it is kept.
 */

#ifndef _NGX_SVC_SIGNIN_OPTIONS_H_INCLUDED_
#define _NGX_SVC_SIGNIN_OPTIONS_H_INCLUDED_


#include "ngx_svc_admin_reader.h"
#include "ngx_svc_login.h"


/* sr->data, of the request's pool, with keys of the cache; no data: none. */

typedef struct {
    ngx_svc_login_t          login;     /* first */
    ngx_svc_admin_reader_t   reader;
    ngx_str_t                domain;    /* of an address, if it counts */
    ngx_str_t                by_host;
    ngx_str_t                by_name;   /* or by being the only tenant */
} ngx_svc_options_t;


/*
 * Makes the keys of login->asked and of the domain; none where nothing may be
 * kept.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_signin_options_keys(ngx_svc_options_t *options);

/* Looks for the answer.  Returns what ngx_svc_cache_get() returns. */
ngx_int_t ngx_svc_signin_options_get(ngx_svc_options_t *options,
    ngx_svc_cache_answer_t *answer);

/*
 * Keeps an answer that is found, and which of the keys lead nowhere; res begins
 * with :login_tenant.
 */
void ngx_svc_signin_options_put(ngx_svc_options_t *options, PGresult *res,
    ngx_svc_cache_answer_t *answer);

/* Tells whether a text is the name of a domain, in A-labels. */
ngx_uint_t ngx_svc_signin_options_domain(const ngx_str_t *host);

/*
 * Writes the members of "methods" that both have, by a row that has the columns
 * "_signup", "_passwordless" and "_by_domain" of ngx_svc_sql_signin_options.
 */
void ngx_svc_signin_options_methods(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_json_writer_t *w);


#endif /* _NGX_SVC_SIGNIN_OPTIONS_H_INCLUDED_ */
