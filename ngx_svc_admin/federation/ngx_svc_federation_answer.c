/*
 * How a browser that has come back from another site is answered.
 */

#include "ngx_svc_federation_answer.h"
#include "ngx_svc_header.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_url.h"
#include "ngx_svc_login_write.h"


#define NGX_SVC_FEDERATION_WHY  256     /* bytes */


static u_char *ngx_svc_federation_pair(u_char *p, const ngx_str_t *url,
    const char *name, const ngx_str_t *value);
static ngx_int_t ngx_svc_federation_note(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_bind_denied(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_federation_answer.sql.h"


ngx_int_t
ngx_svc_federation_refuse(ngx_svc_request_t *sr)
{
    u_char                     *p;
    ngx_str_t                   id, fragment;
    const ngx_str_t            *code;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;
    id = ngx_svc_request_id(sr->request);
    code = &ngx_svc_error_row(sr->error.kind)->code;

    p = ngx_pnalloc(sr->request->pool,
                    sizeof("error=&id=&flow=") + code->len + id.len
                    + NGX_SVC_FEDERATION_TEXT);
    if (p == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    fragment.data = p;
    p = ngx_sprintf(p, "error=%V&id=%V", code, &id);

    if (sr->error.kind == NGX_SVC_E_LINK && flow->keeps) {
        p = ngx_sprintf(p, "&flow=%V", &flow->state);
    }

    fragment.len = p - fragment.data;

    return ngx_svc_federation_page(sr, &fragment);
}


ngx_int_t
ngx_svc_federation_page(ngx_svc_request_t *sr, const ngx_str_t *fragment)
{
    u_char                     *p;
    ngx_str_t                   url, slug, to, location;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;
    url = ngx_svc_login_url(sr->request);

    ngx_str_null(&slug);
    ngx_str_null(&to);

    if (flow) {
        slug = flow->login.asked.slug;
        to = flow->return_to;
    }

    p = ngx_pnalloc(sr->request->pool,
                    url.len + sizeof("?tenant=&return_to=#")
                    + 3 * (slug.len + to.len) + fragment->len);
    if (p == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    location.data = p;

    p = ngx_cpymem(p, url.data, url.len);
    p = ngx_svc_federation_pair(p, &url, "tenant", &slug);
    url.data = location.data;
    url.len = p - location.data;
    p = ngx_svc_federation_pair(p, &url, "return_to", &to);
    p = ngx_sprintf(p, "#%V", fragment);

    location.len = p - location.data;

    return ngx_svc_send_see_other(sr, &location);
}


static u_char *
ngx_svc_federation_pair(u_char *p, const ngx_str_t *url, const char *name,
    const ngx_str_t *value)
{
    if (value->len == 0) {
        return p;
    }

    p = ngx_sprintf(p, "%c%s=",
                    ngx_strlchr(url->data, url->data + url->len, '?') ? '&'
                                                                      : '?',
                    name);

    return (u_char *) ngx_escape_uri(p, value->data, value->len,
                                     NGX_ESCAPE_URI_COMPONENT);
}


ngx_int_t
ngx_svc_federation_lead(ngx_svc_login_t *login)
{
    ngx_svc_federation_flow_t  *flow;

    static ngx_str_t  account = ngx_string("/account");

    flow = login->sr->data;

    return ngx_svc_send_see_other(login->sr, flow->return_to.len
                                             ? &flow->return_to : &account);
}


ngx_int_t
ngx_svc_federation_declined(ngx_svc_request_t *sr, ngx_int_t rc)
{
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    if (rc != NGX_DECLINED) {
        ngx_log_error(NGX_LOG_ERR, sr->request->connection->log, 0,
                      "svc: what the connection \"%V\" is asked for cannot be "
                      "handled", &flow->connection.key);

        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (flow->ended && (flow->id.data || flow->why.data)) {
        return flow->ended(flow);
    }

    /* sr->error is sent when that is written */

    return flow->why.data
           ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                   ngx_svc_federation_note, ngx_svc_send_error)
           : ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_federation_note(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;

    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_again,
        &ngx_svc_sql_federation_failed,
        NULL
    };

    flow = sr->data;
    rc = ngx_svc_login_calls(sr, sr->session ? list + 1 : list);

    return rc == NGX_OK && flow->keeps
           ? ngx_svc_route_call(sr, flow->keeps, NULL) : rc;
}


static ngx_int_t
ngx_svc_federation_bind_denied(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_bool(call, sr->error.kind != NGX_SVC_E_FEDERATION
                               && sr->error.kind != NGX_SVC_E_INVALID_REQUEST);

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_away(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "Identity providers cannot be asked just now: try "
                        "again.");
}


ngx_int_t
ngx_svc_federation_over(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_FLOW,
                        "The sign-in has taken too long, or went on elsewhere: "
                        "begin it again.");
}


ngx_int_t
ngx_svc_federation_fail(ngx_svc_federation_flow_t *flow, const char *fmt, ...)
{
    size_t              i;
    va_list             args;
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;
    flow->why.data = ngx_pnalloc(sr->request->pool, NGX_SVC_FEDERATION_WHY);

    if (flow->why.data == NULL) {
        return NGX_ERROR;
    }

    va_start(args, fmt);
    flow->why.len = ngx_vslprintf(flow->why.data,
                                  flow->why.data + NGX_SVC_FEDERATION_WHY, fmt,
                                  args)
                    - flow->why.data;
    va_end(args);

    /* the provider may have written some of it */

    for (i = 0; i < flow->why.len; i++) {
        if (flow->why.data[i] < 0x20 || flow->why.data[i] > 0x7e) {
            flow->why.data[i] = '?';
        }
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_FEDERATION, "%s",
                        "The identity provider's answer is not good.");
}


ngx_int_t
ngx_svc_federation_stop(ngx_svc_federation_flow_t *flow)
{
    ngx_svc_request_t  *sr;

    static const struct {
        ngx_svc_error_e  kind;
        ngx_str_t        why;
        const char      *detail;
    } stops[] = {
        [NGX_SVC_FEDERATION_OTHER] =
            { NGX_SVC_E_FLOW, ngx_null_string,
              "The sign-in has been overtaken: begin it again." },
        [NGX_SVC_FEDERATION_INACTIVE] =
            { NGX_SVC_E_ACCESS_DENIED, ngx_string("inactive"),
              "Signing in is not allowed from here and now." },
        [NGX_SVC_FEDERATION_UNCOVERED] =
            { NGX_SVC_E_ACCESS_DENIED, ngx_string("uncovered"),
              "Signing in is not allowed from here and now." },
        [NGX_SVC_FEDERATION_UNVERIFIED] =
            { NGX_SVC_E_EMAIL_UNVERIFIED, ngx_string("email_unverified"),
              "The identity provider vouches for no address." },
        [NGX_SVC_FEDERATION_FORCED] =
            { NGX_SVC_E_SSO_REQUIRED, ngx_string("sso_required"),
              "People of that domain come in by another connection." },
        [NGX_SVC_FEDERATION_HELD] =
            { NGX_SVC_E_LINK, ngx_string("link_required"),
              "Sign in first, and then link the identity." },
        [NGX_SVC_FEDERATION_NOBODY] =
            { NGX_SVC_E_NO_ACCOUNT, ngx_string("no_account"),
              "Nobody has an account by that identity." },
        [NGX_SVC_FEDERATION_CONFLICT] =
            { NGX_SVC_E_CONFLICT, ngx_string("conflict"),
              "The identity is another user's, or the user has another one." },
        [NGX_SVC_FEDERATION_STRANGER] =
            { NGX_SVC_E_ACCESS_DENIED, ngx_string("stranger"),
              "The identity is not the user's." },
        [NGX_SVC_FEDERATION_MISMATCH] =
            { NGX_SVC_E_INVITATION, ngx_string("invitation_mismatch"),
              "The invitation is for another address." },
        [NGX_SVC_FEDERATION_UNINVITED] =
            { NGX_SVC_E_INVALID_INVITE, ngx_string("invalid_invite"),
              "The invitation is expired or revoked, or has been accepted." }
    };

    sr = flow->login.sr;

    if (flow->match == NGX_SVC_FEDERATION_OTHER && !sr->session) {
        return ngx_svc_login_lost(sr, 0);
    }

    flow->why = stops[flow->match].why;

    return ngx_svc_federation_declined(sr,
                                ngx_svc_fail(&sr->error,
                                             stops[flow->match].kind, "%s",
                                             stops[flow->match].detail));
}
