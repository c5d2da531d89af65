/*
 * For unit tests of SCIM requests with a user.
 */

#ifndef _NGX_UNIT_SCIM_H_INCLUDED_
#define _NGX_UNIT_SCIM_H_INCLUDED_


#include "ngx_unit.h"
#include "ngx_svc_json.h"
#include "ngx_svc_scim_user.h"
#include "ngx_svc_scim_filter.h"


#define U   NGX_SVC_SCIM_CORE_URN
#define E   NGX_SVC_SCIM_ENTERPRISE_URN
#define P   "urn:ietf:params:scim:api:messages:2.0:PatchOp"


typedef ngx_int_t (*ngx_unit_scim_pt)(cJSON *body, ngx_svc_scim_user_t *user,
    ngx_svc_error_t *err);


/*
 * A body, and the user that is read from it, as text of ngx_unit_scim_text().
 */

typedef struct {
    const char       *body;
    const char       *user;
} ngx_unit_scim_row_t;


/* A body that is refused. */

typedef struct {
    const char       *body;
    ngx_svc_error_e   kind;
    const char       *detail;
} ngx_unit_scim_bad_t;


static inline ngx_int_t
ngx_unit_scim_read(ngx_pool_t *pool, ngx_unit_scim_pt read, const char *body,
    ngx_svc_scim_user_t *user, ngx_svc_error_t *err)
{
    cJSON      *json;
    ngx_int_t   rc;
    ngx_str_t   text;

    text.data = (u_char *) body;
    text.len = strlen(body);

    ngx_memzero(user, sizeof(ngx_svc_scim_user_t));
    ngx_memzero(err, sizeof(ngx_svc_error_t));

    rc = ngx_svc_json_parse(pool, &text, &json, err);
    if (rc != NGX_OK) {
        fail_msg("%s: %.*s", body, (int) err->len, err->detail);
    }

    return read(json, user, err);
}


static inline void
ngx_unit_scim_value(char *text, const char *name, ngx_svc_value_t *value)
{
    char  *p;

    if (!value->set) {
        assert_false(value->null);
        return;
    }

    p = text + strlen(text);
    p += sprintf(p, "%s%s", *text ? " " : "", name);

    if (value->null) {
        sprintf(p, "~");

    } else if (strcmp(name, "active") == 0) {
        sprintf(p, "=%d", (int) value->integer);

    } else {
        assert_int_equal(value->str.len, strlen((char *) value->str.data));
        sprintf(p, "=%s", value->str.data);
    }
}


/*
 * Writes a user as "userName=a@b active=0 title~": what is set, and what is
 * cleared.
 */

static inline void
ngx_unit_scim_text(ngx_svc_scim_user_t *user, char *text)
{
    *text = '\0';

    ngx_unit_scim_value(text, "userName", &user->user_name);
    ngx_unit_scim_value(text, "externalId", &user->external_id);
    ngx_unit_scim_value(text, "active", &user->active);
    ngx_unit_scim_value(text, "givenName", &user->first_name);
    ngx_unit_scim_value(text, "familyName", &user->last_name);
    ngx_unit_scim_value(text, "displayName", &user->display_name);
    ngx_unit_scim_value(text, "title", &user->title);
    ngx_unit_scim_value(text, "locale", &user->locale);
    ngx_unit_scim_value(text, "department", &user->department);
}


static inline void
ngx_unit_scim_good(ngx_pool_t *pool, ngx_unit_scim_pt read,
    const ngx_unit_scim_row_t *row, size_t n)
{
    char                  text[8192];
    ngx_int_t             rc;
    ngx_svc_error_t       err;
    ngx_svc_scim_user_t   user;

    for ( /* void */ ; n; n--, row++) {

        rc = ngx_unit_scim_read(pool, read, row->body, &user, &err);

        if (rc != NGX_OK || err.kind != NGX_SVC_E_NONE) {
            fail_msg("%s: %d %d \"%.*s\"", row->body, (int) rc,
                     (int) err.kind, (int) err.len, err.detail);
        }

        ngx_unit_scim_text(&user, text);

        if (strcmp(text, row->user) != 0) {
            fail_msg("%s: \"%s\", not \"%s\"", row->body, text, row->user);
        }
    }
}


static inline void
ngx_unit_scim_bad(ngx_pool_t *pool, ngx_unit_scim_pt read,
    const ngx_unit_scim_bad_t *row, size_t n)
{
    ngx_int_t             rc;
    ngx_svc_error_t       err;
    ngx_svc_scim_user_t   user;

    for ( /* void */ ; n; n--, row++) {

        rc = ngx_unit_scim_read(pool, read, row->body, &user, &err);

        if (rc != NGX_DECLINED) {
            fail_msg("%s: %d", row->body, (int) rc);
        }

        ngx_unit_error(&err, row->kind, row->detail, row->body);
    }
}


#endif /* _NGX_UNIT_SCIM_H_INCLUDED_ */
