/*
 * Rows of NGX_SVC_PARAMS(): each says where a parameter of a route's statement
 * comes from.
 */

#ifndef _NGX_SVC_BIND_H_INCLUDED_
#define _NGX_SVC_BIND_H_INCLUDED_


#include "ngx_svc_page.h"


/*
 * The n-th "*" of the path: as an id, as an address, or as it is.  What is no
 * id, or no address, is answered by 404 with that text.  Addresses are bound as
 * RFC 5952 writes them.
 */

#define ngx_svc_param_path_id(i, missing)                                     \
    { .bind = ngx_svc_bind_path_id, .n = i, .text = missing }
#define ngx_svc_param_path_addr(i, missing)                                   \
    { .bind = ngx_svc_bind_path_addr, .n = i, .text = missing }
#define ngx_svc_param_path(i)                                                 \
    { .bind = ngx_svc_bind_path, .n = i }

/*
 * A member of the body, by its place in the struct.  It is bound as the macro
 * says, a time as milliseconds since the epoch; NULL when it is absent or null.
 * A check must have found that it is an id, an address or a time.  "given" is
 * true when the member is there at all.
 */

#define ngx_svc_param_text(type, field)                                       \
    { .bind = ngx_svc_bind_text, .offset = offsetof(type, field) }
#define ngx_svc_param_integer(type, field)                                    \
    { .bind = ngx_svc_bind_integer, .offset = offsetof(type, field) }
#define ngx_svc_param_boolean(type, field)                                    \
    { .bind = ngx_svc_bind_boolean, .offset = offsetof(type, field) }
#define ngx_svc_param_id(type, field)                                         \
    { .bind = ngx_svc_bind_id, .offset = offsetof(type, field) }
#define ngx_svc_param_addr(type, field)                                       \
    { .bind = ngx_svc_bind_addr, .offset = offsetof(type, field) }
#define ngx_svc_param_time(type, field)                                       \
    { .bind = ngx_svc_bind_time, .offset = offsetof(type, field) }
#define ngx_svc_param_permissions(type, field)                                \
    { .bind = ngx_svc_bind_permissions, .offset = offsetof(type, field) }
#define ngx_svc_param_given(type, field)                                      \
    { .bind = ngx_svc_bind_given, .offset = offsetof(type, field) }

/* The whole body: the text of valid JSON, or bytes. */
#define ngx_svc_param_body()                                                  \
    { .bind = ngx_svc_bind_body }

/* A query's text of at most max characters, NULL when it is empty. */
#define ngx_svc_param_query(name, max)                                        \
    { .bind = ngx_svc_bind_query, .text = name, .n = max }

/* A query's word, which must be in the list; NULL when it is absent. */
#define ngx_svc_param_query_word(name, list)                                  \
    { .bind = ngx_svc_bind_query_word, .text = name, .words = list }

/* The page of a list: its limit, and its offset. */
#define ngx_svc_param_limit()                                                 \
    { .bind = ngx_svc_bind_page, .offset = offsetof(ngx_svc_page_t, limit) }
#define ngx_svc_param_offset()                                                \
    { .bind = ngx_svc_bind_page, .offset = offsetof(ngx_svc_page_t, offset) }

/* A new id, the same one for all statements of a request. */
#define ngx_svc_param_new_id()                                                \
    { .bind = ngx_svc_bind_new_id }

/* The versions of If-Match, see ngx_svc_etag.h. */
#define ngx_svc_param_if_match()                                              \
    { .bind = ngx_svc_bind_if_match }

/* A constant number, such as a limit. */
#define ngx_svc_param_constant(number)                                        \
    { .bind = ngx_svc_bind_constant, .n = number }

/* The URL that ngx_svc_base_url() returns. */
#define ngx_svc_param_base_url()                                              \
    { .bind = ngx_svc_bind_base_url }

/* The base URL that a verified domain in the Host would give, or NULL. */
#define ngx_svc_param_domain_url()                                            \
    { .bind = ngx_svc_bind_domain_url }

/* An ngx_str_t in the struct at sr->data: NULL when its data is NULL. */
#define ngx_svc_param_data(type, field)                                       \
    { .bind = ngx_svc_bind_data, .offset = offsetof(type, field) }

/*
 * The client's address, its User-Agent and the id of the request, as the audit
 * log has them; NULL when there is none.
 */
#define ngx_svc_param_client_ip()                                             \
    { .bind = ngx_svc_bind_client_ip }
#define ngx_svc_param_client_agent()                                          \
    { .bind = ngx_svc_bind_client_agent }
#define ngx_svc_param_request_id()                                            \
    { .bind = ngx_svc_bind_request_id }

/* Any other value: the resource has a function that binds it. */
#define ngx_svc_param_call(function)                                          \
    { .bind = function }


#define ngx_svc_bind_function(name)                                           \
    NGX_SVC_API ngx_int_t name(ngx_svc_request_t *sr,                         \
        ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)

ngx_svc_bind_function(ngx_svc_bind_path_id);
ngx_svc_bind_function(ngx_svc_bind_path);
ngx_svc_bind_function(ngx_svc_bind_text);
ngx_svc_bind_function(ngx_svc_bind_integer);
ngx_svc_bind_function(ngx_svc_bind_boolean);
ngx_svc_bind_function(ngx_svc_bind_id);
ngx_svc_bind_function(ngx_svc_bind_addr);
ngx_svc_bind_function(ngx_svc_bind_path_addr);
ngx_svc_bind_function(ngx_svc_bind_time);
ngx_svc_bind_function(ngx_svc_bind_permissions);
ngx_svc_bind_function(ngx_svc_bind_given);
ngx_svc_bind_function(ngx_svc_bind_body);
ngx_svc_bind_function(ngx_svc_bind_query);
ngx_svc_bind_function(ngx_svc_bind_query_word);
ngx_svc_bind_function(ngx_svc_bind_page);
ngx_svc_bind_function(ngx_svc_bind_new_id);
ngx_svc_bind_function(ngx_svc_bind_if_match);
ngx_svc_bind_function(ngx_svc_bind_constant);
ngx_svc_bind_function(ngx_svc_bind_base_url);
ngx_svc_bind_function(ngx_svc_bind_domain_url);
ngx_svc_bind_function(ngx_svc_bind_data);
ngx_svc_bind_function(ngx_svc_bind_client_ip);
ngx_svc_bind_function(ngx_svc_bind_client_agent);
ngx_svc_bind_function(ngx_svc_bind_request_id);


#endif /* _NGX_SVC_BIND_H_INCLUDED_ */
