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
    ngx_uint_t        any_sub;      /* 1: stands for all sub-attributes */
} ngx_svc_scim_path_name_t;


static ngx_uint_t ngx_svc_scim_path_list(ngx_str_t *names);
static ngx_uint_t ngx_svc_scim_path_shown(const u_char *text, size_t len);
static ngx_uint_t ngx_svc_scim_path_parts(const ngx_str_t *sub,
    ngx_uint_t bits);
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


/*
 * The bits of a projection for attributes that have one bit as a whole in a
 * path.
 */

static const struct {
    ngx_uint_t                    whole;
    ngx_str_t                     sub;
    ngx_uint_t                    bits;
} ngx_svc_scim_path_shows[] = {
    { NGX_SVC_SCIM_EMAILS, ngx_null_string, NGX_SVC_SCIM_EMAIL_PARTS },
    { NGX_SVC_SCIM_EMAILS, ngx_string("value"), NGX_SVC_SCIM_EMAIL_VALUE },
    { NGX_SVC_SCIM_EMAILS, ngx_string("type"), NGX_SVC_SCIM_EMAIL_TYPE },
    { NGX_SVC_SCIM_EMAILS, ngx_string("primary"),
      NGX_SVC_SCIM_EMAIL_PRIMARY },
    { NGX_SVC_SCIM_META, ngx_null_string, NGX_SVC_SCIM_META_PARTS },
    { NGX_SVC_SCIM_META, ngx_string("resourceType"), NGX_SVC_SCIM_META_TYPE },
    { NGX_SVC_SCIM_META, ngx_string("created"), NGX_SVC_SCIM_META_CREATED },
    { NGX_SVC_SCIM_META, ngx_string("lastModified"),
      NGX_SVC_SCIM_META_MODIFIED },
    { NGX_SVC_SCIM_META, ngx_string("location"), NGX_SVC_SCIM_META_LOCATION },
    { NGX_SVC_SCIM_META, ngx_string("version"), NGX_SVC_SCIM_META_VERSION }
};

#define NGX_SVC_SCIM_PATH_SHOWS                                               \
    (sizeof(ngx_svc_scim_path_shows) / sizeof(ngx_svc_scim_path_shows[0]))


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

    mask = NGX_SVC_SCIM_SHOWN;

    if (attributes && attributes->len) {
        mask = ngx_svc_scim_path_list(attributes);
    }

    if (excluded) {
        mask &= ~ngx_svc_scim_path_list(excluded);
    }

    return (mask & NGX_SVC_SCIM_SHOWN) | NGX_SVC_SCIM_ALWAYS;
}


static ngx_uint_t
ngx_svc_scim_path_list(ngx_str_t *names)
{
    ngx_uint_t     mask;
    const u_char  *p, *start, *last, *end;

    mask = 0;
    p = names->data;
    end = p + names->len;

    for ( /* void */ ; p < end; p = last + 1) {

        for (last = p; last < end && *last != ','; last++) { /* void */ }

        for (start = p; start < last && *start == ' '; start++) { /* void */ }

        for (p = last; p > start && p[-1] == ' '; p--) { /* void */ }

        mask |= ngx_svc_scim_path_shown(start, p - start);
    }

    return mask;
}


/* Returns the bits that a projection has for a path, or 0. */

static ngx_uint_t
ngx_svc_scim_path_shown(const u_char *text, size_t len)
{
    ngx_uint_t                 bits;
    ngx_svc_scim_attr_path_t   path;

    if (ngx_svc_scim_path_parse(text, len, &bits) != NGX_OK) {
        return 0;
    }

    if (bits != NGX_SVC_SCIM_EMAILS && bits != NGX_SVC_SCIM_META) {
        return (bits & NGX_SVC_SCIM_CORE) == NGX_SVC_SCIM_CORE
               ? NGX_SVC_SCIM_SHOWN : bits;
    }

    if (ngx_svc_scim_attr_path(text, text + len, &path) != NGX_OK) {
        return 0;
    }

    return ngx_svc_scim_path_parts(&path.sub, bits);
}


static ngx_uint_t
ngx_svc_scim_path_parts(const ngx_str_t *sub, ngx_uint_t bits)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_SCIM_PATH_SHOWS; i++) {

        if (ngx_svc_scim_path_shows[i].whole == bits
            && ngx_svc_scim_name_is(&ngx_svc_scim_path_shows[i].sub, sub))
        {
            return ngx_svc_scim_path_shows[i].bits;
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
