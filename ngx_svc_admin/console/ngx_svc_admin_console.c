/*
 * GET /v1/admin/console: what the operator has switched on, and the numbers
 * that a page depends on.  All of it is in the configuration.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_body.h"
#include "ngx_svc_ceremony.h"
#include "ngx_svc_signup.h"
#include "ngx_svc_version.h"                /* generated from conf/version */


#define NGX_SVC_ADMIN_ISSUER  "/oauth/t/"   /* and then the tenant's slug */


static ngx_int_t ngx_svc_admin_console_reply(ngx_svc_request_t *sr);
static void ngx_svc_admin_console_urls(ngx_svc_request_t *sr,
    ngx_svc_json_writer_t *w);
static const ngx_svc_loc_conf_t *ngx_svc_admin_console_oauth(
    ngx_svc_request_t *sr);
static void ngx_svc_admin_console_features(ngx_svc_request_t *sr,
    ngx_svc_json_writer_t *w);
static void ngx_svc_admin_console_times(ngx_svc_json_writer_t *w);
static void ngx_svc_admin_console_limits(ngx_svc_request_t *sr,
    ngx_svc_json_writer_t *w);


const ngx_svc_route_t  ngx_svc_admin_console[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/console"),
      .reply = ngx_svc_admin_console_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_console_reply(ngx_svc_request_t *sr)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_plain(&w, "version", (u_char *) NGX_SVC_VERSION,
                       sizeof(NGX_SVC_VERSION) - 1);

    ngx_svc_admin_console_urls(sr, &w);
    ngx_svc_admin_console_features(sr, &w);
    ngx_svc_admin_console_times(&w);
    ngx_svc_admin_console_limits(sr, &w);

    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static void
ngx_svc_admin_console_urls(ngx_svc_request_t *sr, ngx_svc_json_writer_t *w)
{
    const ngx_svc_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);

    if (slcf->base_url.len) {
        ngx_svc_json_string(w, "baseUrl", slcf->base_url.data,
                            slcf->base_url.len);

    } else {
        ngx_svc_json_null(w, "baseUrl");
    }

    slcf = ngx_svc_admin_console_oauth(sr);

    if (slcf == NULL) {
        ngx_svc_json_null(w, "issuerPrefix");
        return;
    }

    ngx_svc_json_string_begin(w, "issuerPrefix");
    ngx_svc_json_string_append(w, slcf->base_key.data, slcf->base_key.len);
    ngx_svc_json_string_append(w, (u_char *) NGX_SVC_ADMIN_ISSUER,
                               sizeof(NGX_SVC_ADMIN_ISSUER) - 1);
    ngx_svc_json_string_end(w);
}


/*
 * Returns the location with svc_oauth that has the svc_base_url of this one, or
 * else the first; NULL: there is none.
 */

static const ngx_svc_loc_conf_t *
ngx_svc_admin_console_oauth(ngx_svc_request_t *sr)
{
    ngx_uint_t                 i;
    ngx_svc_location_t        *location;
    ngx_svc_loc_conf_t        *slcf;
    ngx_svc_main_conf_t       *smcf;
    const ngx_svc_loc_conf_t  *first;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);
    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    first = ngx_svc_conf_surface(smcf, "/oauth");

    if (first == NULL) {
        return NULL;
    }

    location = smcf->locations.elts;

    for (i = 0; i < smcf->locations.nelts; i++) {

        if (location[i].conf->surface == first->surface
            && ngx_svc_same(&location[i].conf->base_key, &slcf->base_key))
        {
            return location[i].conf;
        }
    }

    return first;
}


static void
ngx_svc_admin_console_features(ngx_svc_request_t *sr, ngx_svc_json_writer_t *w)
{
    ngx_uint_t                  sign_in;
    ngx_svc_loc_conf_t         *slcf;
    ngx_svc_main_conf_t        *smcf;
    ngx_svc_admin_loc_conf_t   *alcf;
    ngx_svc_admin_main_conf_t  *amcf;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);
    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);
    alcf = ngx_http_get_module_loc_conf(sr->request, ngx_http_svc_admin_module);
    amcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_admin_module);

    sign_in = ngx_svc_admin_has_sign_in(amcf);

    ngx_svc_json_open(w, "features", '{');

    ngx_svc_json_boolean(w, "signIn", sign_in);
    ngx_svc_json_boolean(w, "passwordReset", sign_in && smcf->mail);
    ngx_svc_json_boolean(w, "passkey", sign_in
                                       && ngx_svc_ceremony_possible(sr,
                                                            sr->by_domain));
    ngx_svc_json_boolean(w, "organizationSignup",
                         sign_in && ngx_svc_signup_organizations(amcf, smcf));
    ngx_svc_json_boolean(w, "mail", smcf->mail);
    ngx_svc_json_boolean(w, "oauth",
                         ngx_svc_conf_surface(smcf, "/oauth") != NULL);
    ngx_svc_json_boolean(w, "backchannelLogout", smcf->logout);
    ngx_svc_json_boolean(w, "federation", smcf->federation == 1);
    ngx_svc_json_boolean(w, "ldap", amcf->directory != NULL);
    ngx_svc_json_boolean(w, "scim",
                         ngx_svc_conf_surface(smcf, "/scim/v2") != NULL);
    ngx_svc_json_boolean(w, "scimTargets", smcf->targets);
    ngx_svc_json_boolean(w, "webhooks", smcf->webhooks);
    ngx_svc_json_boolean(w, "breachedPasswords", amcf->breached != NULL);
    ngx_svc_json_boolean(w, "country", slcf->country != NULL);
    ngx_svc_json_boolean(w, "coordinates", alcf->latitude != NULL);

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_console_times(ngx_svc_json_writer_t *w)
{
    ngx_uint_t  attempts, window, duration;

    attempts = ngx_svc_setting(NGX_SVC_SET_LOGIN_LOCKOUT_MAX);
    window = ngx_svc_setting(NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW);
    duration = ngx_svc_setting(NGX_SVC_SET_LOGIN_LOCKOUT_DURATION);

    ngx_svc_json_open(w, "session", '{');
    ngx_svc_json_integer(w, "idleSeconds",
                         ngx_svc_setting(NGX_SVC_SET_SESSION_IDLE));
    ngx_svc_json_integer(w, "absoluteSeconds",
                         ngx_svc_setting(NGX_SVC_SET_SESSION_ABSOLUTE));
    ngx_svc_json_integer(w, "stepUpSeconds",
                         ngx_svc_setting(NGX_SVC_SET_MFA_STEP_UP_WINDOW));
    ngx_svc_json_close(w, '}');

    if (attempts == 0 || window == 0 || duration == 0) {
        ngx_svc_json_null(w, "lockout");
        return;
    }

    ngx_svc_json_open(w, "lockout", '{');
    ngx_svc_json_integer(w, "attempts", attempts);
    ngx_svc_json_integer(w, "windowSeconds", window);
    ngx_svc_json_integer(w, "durationSeconds", duration);
    ngx_svc_json_close(w, '}');
}


/* A client_max_body_size of 0 is no limit of nginx's. */

static void
ngx_svc_admin_console_limits(ngx_svc_request_t *sr, ngx_svc_json_writer_t *w)
{
    off_t                      max;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_get_module_loc_conf(sr->request, ngx_http_core_module);

    max = clcf->client_max_body_size ? clcf->client_max_body_size
                                     : NGX_SVC_BODY_MAX;

    ngx_svc_json_open(w, "limits", '{');
    ngx_svc_json_integer(w, "pageSize", NGX_SVC_PAGE_LIMIT_MAX);
    ngx_svc_json_integer(w, "bodyBytes", ngx_min(max, NGX_SVC_BODY_MAX));
    ngx_svc_json_integer(w, "imageBytes", ngx_min(max, NGX_SVC_RAW_MAX));
    ngx_svc_json_close(w, '}');
}
