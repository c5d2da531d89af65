/*
 * What else an identity provider says of a person.
 */

#include "ngx_svc_federation_attributes.h"
#include "ngx_svc_federation_proof.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_profile.h"


#define NGX_SVC_FEDERATION_GROUPS  (64 * 1024)  /* bytes of their names */


static ngx_int_t ngx_svc_federation_attributes_groups(
    ngx_svc_federation_flow_t *flow, const cJSON *claims);


#include "ngx_svc_federation_attributes.sql.h"


/* An address is never mapped: it is another question whose it is. */

ngx_int_t
ngx_svc_federation_attributes(ngx_svc_federation_flow_t *flow,
    const cJSON *claims)
{
    ngx_int_t    rc;
    ngx_str_t   *attribute, names[NGX_SVC_ATTRIBUTES];
    ngx_uint_t   i;

    if (ngx_svc_attribute_map_read(flow->login.sr->request->pool,
                                   &flow->connection.mapping, names)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_federation_attributes_groups(flow, claims);

    for (i = 0; i < NGX_SVC_ATTRIBUTES && rc != NGX_ERROR; i++) {
        attribute = &flow->proof.attributes[i];

        if (names[i].len == 0 || attribute->data
            || i == NGX_SVC_ATTRIBUTE_EMAIL)
        {
            continue;
        }

        ngx_svc_federation_proof_text(claims, (char *) names[i].data,
                                      NGX_SVC_PROFILE_MAX, attribute);

        if (attribute->data == NULL) {
            rc = NGX_AGAIN;
        }
    }

    return rc;
}


/*
 * Who has so many that Entra leaves them out says so (overage): all stays then.
 * Whoever else says nothing has none, and so has everybody whose connection
 * maps none any more.
 */

static ngx_int_t
ngx_svc_federation_attributes_groups(ngx_svc_federation_flow_t *flow,
    const cJSON *claims)
{
    ngx_str_t    *text;
    const cJSON  *groups, *elsewhere;

    static const ngx_str_t  none = ngx_string("[]");

    text = &flow->proof.groups;

    if (!flow->connection.maps_groups && flow->connection.grouped) {
        *text = none;
    }

    if (!flow->connection.maps_groups || text->len > none.len) {
        return NGX_OK;
    }

    groups = cJSON_GetObjectItemCaseSensitive(claims, "groups");
    elsewhere = cJSON_GetObjectItemCaseSensitive(claims, "_claim_names");

    if (!cJSON_IsArray(groups)) {

        flow->proof.overage |= cJSON_HasObjectItem(elsewhere, "groups") != 0;

        if (!flow->proof.overage) {
            *text = none;
        }

        return NGX_AGAIN;
    }

    text->data = ngx_pnalloc(flow->login.sr->request->pool,
                             NGX_SVC_FEDERATION_GROUPS);

    if (text->data == NULL
        || !cJSON_PrintPreallocated((cJSON *) groups, (char *) text->data,
                                    NGX_SVC_FEDERATION_GROUPS, 0))
    {
        return NGX_ERROR;
    }

    text->len = ngx_strlen(text->data);

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_attributes_calls(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_uint_t                  i;
    ngx_svc_federation_flow_t  *flow;

    static const ngx_svc_pg_statement_t *const  groups[] = {
        &ngx_svc_sql_federation_groups_lock,
        &ngx_svc_sql_federation_groups,
        NULL
    };

    flow = sr->data;
    rc = NGX_OK;

    for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {
        if (flow->proof.attributes[i].data
            && flow->match != NGX_SVC_FEDERATION_NEW)
        {
            rc = ngx_svc_route_call(sr, &ngx_svc_sql_federation_attributes,
                                    NULL);
            break;
        }
    }

    return rc == NGX_OK && flow->proof.groups.data
           ? ngx_svc_login_calls(sr, groups) : rc;
}
