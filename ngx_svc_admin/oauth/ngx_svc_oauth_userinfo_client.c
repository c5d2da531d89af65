/*
 * A client's own token at /oauth/userinfo.
 */

#include "ngx_svc_oauth_userinfo_client.h"
#include "ngx_svc_oauth_client.h"
#include "ngx_svc_oauth_own_live.h"
#include "ngx_svc_oauth_userinfo_refusal.h"


static ngx_int_t ngx_svc_oauth_userinfo_client_reply(ngx_svc_request_t *sr);


ngx_int_t
ngx_svc_oauth_userinfo_client(ngx_svc_oauth_t *o)
{
    static const ngx_str_t  no = { 1, (u_char *) "\0" };

    o->client.id = o->token.own->client_id;
    o->client.public = no;
    o->sr->reply = ngx_svc_oauth_userinfo_client_reply;

    return ngx_svc_oauth_own_live_call(o);
}


static ngx_int_t
ngx_svc_oauth_userinfo_client_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_str_t                   slug;
    PGresult                   *res;
    ngx_svc_oauth_t            *o;
    ngx_svc_oauth_own_t        *own;
    ngx_svc_oauth_own_today_t   today;

    o = sr->data;
    own = o->token.own;
    res = ngx_svc_result(sr, o->statement);

    rc = PQntuples(res) && own->audience.data == NULL
         && own->jkt.len == o->jkt.len
         && (own->jkt.len == 0
             || ngx_memcmp(own->jkt.data, o->jkt.data, own->jkt.len) == 0)
         ? ngx_svc_oauth_own_live(o, res, &today) : NGX_DECLINED;

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_client_pinned(sr, &slug);
    }

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (rc == NGX_OK
        && (slug.len == 0
            || (slug.len == today.slug.len
                && ngx_memcmp(slug.data, today.slug.data, slug.len) == 0)))
    {
        return ngx_svc_oauth_userinfo_scope(sr);
    }

    return ngx_svc_oauth_userinfo_refuse(sr) == NGX_ERROR
           ? NGX_HTTP_INTERNAL_SERVER_ERROR : ngx_svc_send_error(sr);
}
