/*
 * Outbound SCIM: which users a look-up of many has shown.
 */

#include "ngx_svc_push_shown.h"
#include "ngx_svc_push_read.h"


/*
 * Users; no target's pages are shorter.  Where totalResults is the number on
 * the page, an answer that fills the page may hide users.
 */
#define NGX_SVC_PUSH_SHOWN_PAGE  10


static ngx_uint_t ngx_svc_push_shown_asked(ngx_svc_push_shown_t *s,
    const cJSON *resource);
static ngx_uint_t ngx_svc_push_shown_twice(const cJSON *first,
    const cJSON *resource);


ngx_int_t
ngx_svc_push_shown_add(ngx_svc_push_shown_t *s, const ngx_str_t *name,
    const ngx_str_t *id)
{
    ngx_svc_push_shown_user_t  *user;

    user = &s->users[s->n++];

    user->name.len = name->len;
    user->name.data = ngx_pnalloc(s->pool, name->len + id->len);

    if (user->name.data == NULL) {
        return NGX_ERROR;
    }

    user->id.len = id->len;
    user->id.data = ngx_cpymem(user->name.data, name->data, name->len);
    ngx_memcpy(user->id.data, id->data, id->len);

    return NGX_OK;
}


ngx_uint_t
ngx_svc_push_shown_read(ngx_svc_push_shown_t *s, const cJSON *json)
{
    ngx_int_t     n;
    const cJSON  *list, *total, *item;

    list = ngx_svc_push_read_list(json);
    total = ngx_svc_push_read_member(json, "totalResults");

    if (list == NULL || !cJSON_IsNumber(total)) {
        return 0;
    }

    n = cJSON_GetArraySize(list);

    if (total->valuedouble != n || n >= NGX_SVC_PUSH_SHOWN_PAGE) {
        return 0;
    }

    for (item = list->child; item; item = item->next) {
        if (!ngx_svc_push_shown_asked(s, item)
            || ngx_svc_push_shown_twice(list->child, item))
        {
            return 0;
        }
    }

    return s->users[0].shown == 1 && s->users[s->n - 1].shown == 1;
}


/* Returns whether a resource is one of the users asked for. */

static ngx_uint_t
ngx_svc_push_shown_asked(ngx_svc_push_shown_t *s, const cJSON *resource)
{
    ngx_uint_t                  i, asked;
    ngx_svc_push_shown_user_t  *user;

    asked = 0;

    for (i = 0; i < s->n; i++) {
        user = &s->users[i];

        if (ngx_svc_push_read_is(resource, "userName", &user->name, 0)
            || (user->id.len
                && ngx_svc_push_read_is(resource, "externalId", &user->id, 1)))
        {
            user->shown++;
            asked = 1;
        }
    }

    return asked;
}


static ngx_uint_t
ngx_svc_push_shown_twice(const cJSON *first, const cJSON *resource)
{
    ngx_str_t     id, other;
    const cJSON  *item;

    if (ngx_svc_push_read_id(resource, &id) != NGX_OK) {
        return 1;
    }

    for (item = first; item != resource; item = item->next) {
        (void) ngx_svc_push_read_id(item, &other);

        if (other.len == id.len
            && ngx_memcmp(other.data, id.data, id.len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


ngx_uint_t
ngx_svc_push_shown(const ngx_svc_push_shown_t *s, const ngx_str_t *id)
{
    ngx_uint_t                        i;
    const ngx_svc_push_shown_user_t  *user;

    for (i = 0; i < s->n; i++) {
        user = &s->users[i];

        if (user->id.len == id->len
            && ngx_memcmp(user->id.data, id->data, id->len) == 0)
        {
            return user->shown > 0;
        }
    }

    return 1;
}
