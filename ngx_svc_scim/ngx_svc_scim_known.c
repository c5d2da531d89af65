/*
 * All attributes of a User (RFC 7643, 4.1, 4.3 and 8.7.1).
 */

#include "ngx_svc_scim_known.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_grammar.h"


typedef struct {
    ngx_str_t    name;
    ngx_uint_t   flags;
    const char  *subs;          /* sub-attributes, with spaces around each */
} ngx_svc_scim_known_t;


static const ngx_svc_scim_known_t *ngx_svc_scim_known_find(
    const ngx_svc_scim_attr_path_t *path);
static ngx_uint_t ngx_svc_scim_known_sub(const ngx_svc_scim_known_t *known,
    const u_char *p, size_t len);
static ngx_uint_t ngx_svc_scim_known_misses(const u_char *p,
    const u_char *end);
static const u_char *ngx_svc_scim_known_word(const u_char *p,
    const u_char *end, ngx_str_t *word);


#define NGX_SVC_SCIM_VALUES  " value display type primary $ref "


static const ngx_svc_scim_known_t  ngx_svc_scim_known_core[] = {
    { ngx_string("schemas"), 0, "" },
    { ngx_string("id"), NGX_SVC_SCIM_K_READ_ONLY, "" },
    { ngx_string("externalId"), 0, "" },
    { ngx_string("meta"), NGX_SVC_SCIM_K_READ_ONLY,
      " resourceType created lastModified location version " },
    { ngx_string("userName"), NGX_SVC_SCIM_K_REQUIRED, "" },
    { ngx_string("name"), 0,
      " formatted familyName givenName middleName honorificPrefix"
      " honorificSuffix " },
    { ngx_string("displayName"), 0, "" },
    { ngx_string("nickName"), 0, "" },
    { ngx_string("profileUrl"), 0, "" },
    { ngx_string("title"), 0, "" },
    { ngx_string("userType"), 0, "" },
    { ngx_string("preferredLanguage"), 0, "" },
    { ngx_string("locale"), 0, "" },
    { ngx_string("timezone"), 0, "" },
    { ngx_string("active"), NGX_SVC_SCIM_K_REQUIRED, "" },
    { ngx_string("password"), 0, "" },
    { ngx_string("emails"), NGX_SVC_SCIM_K_MULTI|NGX_SVC_SCIM_K_READ_ONLY
                            |NGX_SVC_SCIM_K_IGNORED, NGX_SVC_SCIM_VALUES },
    { ngx_string("phoneNumbers"), NGX_SVC_SCIM_K_MULTI, NGX_SVC_SCIM_VALUES },
    { ngx_string("ims"), NGX_SVC_SCIM_K_MULTI, NGX_SVC_SCIM_VALUES },
    { ngx_string("photos"), NGX_SVC_SCIM_K_MULTI, NGX_SVC_SCIM_VALUES },
    { ngx_string("addresses"), NGX_SVC_SCIM_K_MULTI,
      " formatted streetAddress locality region postalCode country type"
      " primary " },
    { ngx_string("groups"), NGX_SVC_SCIM_K_MULTI|NGX_SVC_SCIM_K_READ_ONLY,
      NGX_SVC_SCIM_VALUES },
    { ngx_string("entitlements"), NGX_SVC_SCIM_K_MULTI, NGX_SVC_SCIM_VALUES },
    { ngx_string("roles"), NGX_SVC_SCIM_K_MULTI, NGX_SVC_SCIM_VALUES },
    { ngx_string("x509Certificates"), NGX_SVC_SCIM_K_MULTI,
      NGX_SVC_SCIM_VALUES },
    { ngx_null_string, 0, NULL }
};

static const ngx_svc_scim_known_t  ngx_svc_scim_known_enterprise[] = {
    { ngx_string("employeeNumber"), 0, "" },
    { ngx_string("costCenter"), 0, "" },
    { ngx_string("organization"), 0, "" },
    { ngx_string("division"), 0, "" },
    { ngx_string("department"), 0, "" },
    { ngx_string("manager"), 0, " value $ref displayName " },
    { ngx_null_string, 0, NULL }
};


ngx_int_t
ngx_svc_scim_known(const u_char *text, size_t len, ngx_uint_t *flags)
{
    const u_char                *end, *bracket, *sub;
    ngx_svc_scim_attr_path_t     path;
    const ngx_svc_scim_known_t  *known;

    end = text + len;
    bracket = len ? memchr(text, '[', len) : NULL;

    if (ngx_svc_scim_attr_path(text, bracket ? bracket : end, &path)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    known = ngx_svc_scim_known_find(&path);

    if (known == NULL
        || !ngx_svc_scim_known_sub(known, path.sub.data, path.sub.len))
    {
        return NGX_DECLINED;
    }

    *flags = known->flags;

    if (bracket == NULL) {
        return NGX_OK;
    }

    if (path.sub.len) {
        return NGX_DECLINED;
    }

    /* a filter matches no single-valued attribute, so that nothing is set */

    if (!(known->flags & NGX_SVC_SCIM_K_MULTI)) {
        *flags = 0;
    }

    /* a name has no bracket: a dot, or nothing, stands behind the last one */

    for (sub = end; sub[-1] != ']'; sub--) { /* void */ }

    if (known->flags & NGX_SVC_SCIM_K_IGNORED
        && ngx_svc_scim_known_misses(bracket + 1, sub - 1))
    {
        *flags |= NGX_SVC_SCIM_K_NO_TARGET;
    }

    return sub == end || ngx_svc_scim_known_sub(known, sub + 1, end - sub - 1)
           ? NGX_OK : NGX_DECLINED;
}


static const ngx_svc_scim_known_t *
ngx_svc_scim_known_find(const ngx_svc_scim_attr_path_t *path)
{
    const ngx_svc_scim_known_t  *known;

    static const ngx_str_t  core = ngx_string(NGX_SVC_SCIM_CORE_URN);
    static const ngx_str_t  enterprise =
                                     ngx_string(NGX_SVC_SCIM_ENTERPRISE_URN);

    if (path->urn.len == 0 || ngx_svc_scim_name_is(&core, &path->urn)) {
        known = ngx_svc_scim_known_core;

    } else if (ngx_svc_scim_name_is(&enterprise, &path->urn)) {
        known = ngx_svc_scim_known_enterprise;

    } else {
        return NULL;
    }

    for ( /* void */ ; known->name.len; known++) {
        if (ngx_svc_scim_name_is(&known->name, &path->name)) {
            return known;
        }
    }

    return NULL;
}


/* Returns whether the sub-attribute is known; 1 also for no name. */

static ngx_uint_t
ngx_svc_scim_known_sub(const ngx_svc_scim_known_t *known, const u_char *p,
    size_t len)
{
    const char  *s;

    if (len == 0) {
        return 1;
    }

    for (s = known->subs; *s; s++) {
        if (s[0] == ' ' && ngx_strncasecmp((u_char *) s + 1, (u_char *) p, len)
                           == 0
            && s[len + 1] == ' ')
        {
            return 1;
        }
    }

    return 0;
}


/*
 * The one address is {type: "work", primary: true}.  Only the filters that
 * clients send are evaluated: one of these two attributes, "eq" and a value.
 * Others count as a match.
 */

static ngx_uint_t
ngx_svc_scim_known_misses(const u_char *p, const u_char *end)
{
    ngx_str_t  name, op, value;

    static const ngx_str_t  type = ngx_string("type");
    static const ngx_str_t  primary = ngx_string("primary");
    static const ngx_str_t  eq = ngx_string("eq");
    static const ngx_str_t  work = ngx_string("\"work\"");
    static const ngx_str_t  yes = ngx_string("true");
    static const ngx_str_t  yes_text = ngx_string("\"true\"");

    p = ngx_svc_scim_known_word(p, end, &name);
    p = ngx_svc_scim_known_word(p, end, &op);
    p = ngx_svc_scim_known_word(p, end, &value);

    if (p != end || value.len == 0 || !ngx_svc_scim_name_is(&eq, &op)) {
        return 0;
    }

    if (ngx_svc_scim_name_is(&type, &name)) {
        return !ngx_svc_scim_name_is(&work, &value);
    }

    return ngx_svc_scim_name_is(&primary, &name)
           && !ngx_svc_scim_name_is(&yes, &value)
           && !ngx_svc_scim_name_is(&yes_text, &value);
}


/*
 * Reads a word up to a space.  Returns the position behind the spaces that
 * follow.
 */

static const u_char *
ngx_svc_scim_known_word(const u_char *p, const u_char *end, ngx_str_t *word)
{
    while (p < end && *p == ' ') {
        p++;
    }

    word->data = (u_char *) p;

    while (p < end && *p != ' ') {
        p++;
    }

    word->len = p - word->data;

    while (p < end && *p == ' ') {
        p++;
    }

    return p;
}
