/*
 * The path of a PATCH operation (RFC 7644, 3.5.2) and other attribute names.
 */

#include "ngx_svc_scim_path.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_filter_tree.h"
#include "ngx_svc_scim_grammar.h"


typedef struct {
    ngx_str_t         urn;
    ngx_str_t         name;
    ngx_str_t         sub;
    ngx_uint_t        bits;
    ngx_uint_t        any_sub;      /* stands for all of its sub-attributes */
} ngx_svc_scim_path_name_t;


static ngx_uint_t ngx_svc_scim_path_list(ngx_str_t *names,
    ngx_uint_t excluded);
static ngx_uint_t ngx_svc_scim_path_part(const u_char *text, size_t len);
static ngx_uint_t ngx_svc_scim_path_bits(ngx_svc_scim_attr_path_t *path);


#define ngx_svc_scim_core(name, sub, bits)                                    \
    { ngx_string(NGX_SVC_SCIM_CORE_URN), ngx_string(name), ngx_string(sub),   \
      bits, 0 }
#define ngx_svc_scim_whole(name, bits)                                        \
    { ngx_string(NGX_SVC_SCIM_CORE_URN), ngx_string(name), ngx_null_string,   \
      bits, 1 }


static const ngx_svc_scim_path_name_t  ngx_svc_scim_path_names[] = {
    ngx_svc_scim_core("schemas", "", NGX_SVC_SCIM_SCHEMAS),
    ngx_svc_scim_core("id", "", NGX_SVC_SCIM_ID),
    ngx_svc_scim_core("externalId", "", NGX_SVC_SCIM_EXTERNAL_ID),
    ngx_svc_scim_whole("meta", NGX_SVC_SCIM_META),
    ngx_svc_scim_core("userName", "", NGX_SVC_SCIM_USER_NAME),
    ngx_svc_scim_core("name", "", NGX_SVC_SCIM_NAME),
    ngx_svc_scim_core("name", "givenName", NGX_SVC_SCIM_GIVEN_NAME),
    ngx_svc_scim_core("name", "familyName", NGX_SVC_SCIM_FAMILY_NAME),
    ngx_svc_scim_core("name", "formatted", NGX_SVC_SCIM_FORMATTED),
    ngx_svc_scim_core("displayName", "", NGX_SVC_SCIM_DISPLAY_NAME),
    ngx_svc_scim_core("title", "", NGX_SVC_SCIM_TITLE),
    ngx_svc_scim_core("locale", "", NGX_SVC_SCIM_LOCALE),
    ngx_svc_scim_core("active", "", NGX_SVC_SCIM_ACTIVE),
    ngx_svc_scim_whole("emails", NGX_SVC_SCIM_EMAILS),
    { ngx_string(NGX_SVC_SCIM_ENTERPRISE_URN), ngx_string("department"),
      ngx_null_string, NGX_SVC_SCIM_DEPARTMENT, 0 },
    { ngx_null_string, ngx_null_string, ngx_null_string, 0, 0 }
};


static const ngx_str_t  ngx_svc_scim_core_urn =
                                           ngx_string(NGX_SVC_SCIM_CORE_URN);
static const ngx_str_t  ngx_svc_scim_enterprise_urn =
                                     ngx_string(NGX_SVC_SCIM_ENTERPRISE_URN);


ngx_int_t
ngx_svc_scim_path_parse(const u_char *text, size_t len, ngx_uint_t *bits)
{
    ngx_str_t                  whole;
    const u_char              *end, *bracket;
    ngx_svc_scim_attr_path_t   path;

    *bits = 0;

    whole.data = (u_char *) text;
    whole.len = len;

    if (ngx_svc_scim_name_is(&ngx_svc_scim_enterprise_urn, &whole)) {
        *bits = NGX_SVC_SCIM_ENTERPRISE;
        return NGX_OK;
    }

    if (ngx_svc_scim_name_is(&ngx_svc_scim_core_urn, &whole)) {
        *bits = NGX_SVC_SCIM_CORE;
        return NGX_OK;
    }

    end = text + len;
    bracket = len ? memchr(text, '[', len) : NULL;

    if (ngx_svc_scim_attr_path(text, bracket ? bracket : end, &path)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (bracket) {
        return (ngx_svc_scim_value_filter(bracket + 1, end) == NGX_OK)
               ? NGX_DECLINED : NGX_ERROR;
    }

    *bits = ngx_svc_scim_path_bits(&path);

    return *bits ? NGX_OK : NGX_DECLINED;
}


ngx_uint_t
ngx_svc_scim_path_member(ngx_uint_t parent, const u_char *name, size_t len)
{
    ngx_str_t                  member;
    ngx_svc_scim_attr_path_t   path;

    ngx_memzero(&path, sizeof(ngx_svc_scim_attr_path_t));

    member.data = (u_char *) name;
    member.len = len;

    if (len == 0) {
        return 0;
    }

    if (parent == NGX_SVC_SCIM_ENTERPRISE) {
        path.urn = ngx_svc_scim_enterprise_urn;
        path.name = member;

    } else {
        ngx_str_set(&path.name, "name");
        path.sub = member;
    }

    return ngx_svc_scim_path_bits(&path);
}


ngx_uint_t
ngx_svc_scim_projection(ngx_str_t *attributes, ngx_str_t *excluded)
{
    ngx_uint_t  mask;

    mask = NGX_SVC_SCIM_ALL;

    if (attributes && attributes->len) {
        mask = ngx_svc_scim_path_list(attributes, 0);
    }

    if (excluded) {
        mask &= ~ngx_svc_scim_path_list(excluded, 1);
    }

    return (mask & NGX_SVC_SCIM_ALL) | NGX_SVC_SCIM_ALWAYS;
}


static ngx_uint_t
ngx_svc_scim_path_list(ngx_str_t *names, ngx_uint_t excluded)
{
    ngx_uint_t     mask, bits;
    const u_char  *p, *start, *last, *end;

    mask = 0;
    p = names->data;
    end = p + names->len;

    for ( /* void */ ; p < end; p = last + 1) {

        for (last = p; last < end && *last != ','; last++) { /* void */ }

        for (start = p; start < last && *start == ' '; start++) { /* void */ }

        for (p = last; p > start && p[-1] == ' '; p--) { /* void */ }

        if (ngx_svc_scim_path_parse(start, p - start, &bits) != NGX_OK) {
            continue;
        }

        if (excluded
            && (bits == NGX_SVC_SCIM_META || bits == NGX_SVC_SCIM_EMAILS)
            && ngx_svc_scim_path_part(start, p - start))
        {
            continue;
        }

        mask |= bits;
    }

    return mask;
}


/* Whether a path names a sub-attribute; an URN has dots of its own. */

static ngx_uint_t
ngx_svc_scim_path_part(const u_char *text, size_t len)
{
    const u_char  *p;

    for (p = text + len; p > text && p[-1] != ':'; p--) {
        if (p[-1] == '.') {
            return 1;
        }
    }

    return 0;
}


static ngx_uint_t
ngx_svc_scim_path_bits(ngx_svc_scim_attr_path_t *path)
{
    const ngx_str_t                 *urn;
    const ngx_svc_scim_path_name_t  *row;

    urn = path->urn.len ? &path->urn : &ngx_svc_scim_core_urn;

    for (row = ngx_svc_scim_path_names; row->name.len; row++) {

        if (ngx_svc_scim_name_is(&row->name, &path->name)
            && (row->any_sub || ngx_svc_scim_name_is(&row->sub, &path->sub))
            && ngx_svc_scim_name_is(&row->urn, urn))
        {
            return row->bits;
        }
    }

    return 0;
}
