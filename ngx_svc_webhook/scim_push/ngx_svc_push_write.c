/*
 * Outbound SCIM: writes the bodies of requests.
 */

#include "ngx_svc_push_write.h"
#include "ngx_svc_push_attribute.h"


static void ngx_svc_push_write_texts(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const char *parent);
static void ngx_svc_push_write_whole(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there);
static void ngx_svc_push_write_object(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there, const char *parent);
static void ngx_svc_push_write_emails(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there);
static void ngx_svc_push_write_schemas(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there);
static ngx_uint_t ngx_svc_push_write_ours(const ngx_svc_push_want_t *want,
    const char *name, const char *parent);
static ngx_uint_t ngx_svc_push_write_formatted(
    const ngx_svc_push_want_t *want);
static void ngx_svc_push_write_copy(ngx_svc_json_writer_t *w,
    const cJSON *item, ngx_uint_t named);


/* Members that a merge does not copy: we write them, or the target does. */

static const char  *ngx_svc_push_written[] = {
    "schemas", "externalId", "userName", "active", "emails", "name",
    NGX_SVC_PUSH_ENTERPRISE, "meta", "groups", NULL
};


ngx_int_t
ngx_svc_push_write_user(ngx_pool_t *pool, const ngx_svc_push_want_t *want,
    ngx_str_t *body)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, pool, NGX_SVC_PUSH_BODY) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_push_write_whole(&w, want, NULL);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_push_attribute_end(&w, body);
}


ngx_int_t
ngx_svc_push_write_merged(ngx_pool_t *pool, const ngx_svc_push_want_t *want,
    const cJSON *there, ngx_str_t *body)
{
    const cJSON            *item;
    ngx_svc_json_writer_t   w;

    if (ngx_svc_json_writer_init(&w, pool, NGX_SVC_PUSH_BODY) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    if (want->active) {
        ngx_svc_push_write_whole(&w, want, there);

        for (item = there->child; item; item = item->next) {
            if (!ngx_svc_push_write_ours(want, item->string, NULL)) {
                ngx_svc_push_write_copy(&w, item, 1);
            }
        }

    } else {
        for (item = there->child; item; item = item->next) {
            if (!ngx_svc_push_same(item->string, "active")
                && !ngx_svc_push_same(item->string, "meta")
                && !ngx_svc_push_same(item->string, "groups"))
            {
                ngx_svc_push_write_copy(&w, item, 1);
            }
        }

        ngx_svc_json_boolean(&w, "active", 0);
    }

    ngx_svc_json_close(&w, '}');

    return ngx_svc_push_attribute_end(&w, body);
}


/* Writes an active user; there: resource whose other members stay, or NULL. */

static void
ngx_svc_push_write_whole(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there)
{
    ngx_svc_push_write_schemas(w, want, there);

    ngx_svc_json_string(w, "externalId", want->id.data, want->id.len);
    ngx_svc_json_string(w, "userName", want->user_name.data,
                        want->user_name.len);
    ngx_svc_json_boolean(w, "active", want->active);

    ngx_svc_push_write_texts(w, want, NULL);
    ngx_svc_push_write_object(w, want, there, "name");
    ngx_svc_push_write_emails(w, want, there);
    ngx_svc_push_write_object(w, want, there, NGX_SVC_PUSH_ENTERPRISE);
}


static void
ngx_svc_push_write_schemas(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there)
{
    const cJSON  *item;

    ngx_svc_json_open(w, "schemas", '[');
    ngx_svc_push_plain(w, NULL, NGX_SVC_PUSH_CORE);

    if (want->department.len) {
        ngx_svc_push_plain(w, NULL, NGX_SVC_PUSH_ENTERPRISE);
    }

    item = there ? ngx_svc_push_read_member(there, "schemas") : NULL;

    for (item = (item && cJSON_IsArray(item)) ? item->child : NULL; item;
         item = item->next)
    {
        if (cJSON_IsString(item)
            && !ngx_svc_push_same(item->valuestring, NGX_SVC_PUSH_CORE)
            && !(want->department.len
                 && ngx_svc_push_same(item->valuestring,
                                      NGX_SVC_PUSH_ENTERPRISE)))
        {
            ngx_svc_push_write_copy(w, item, 0);
        }
    }

    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_push_write_texts(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const char *parent)
{
    const ngx_str_t                 *value;
    const ngx_svc_push_attribute_t  *attribute;

    for (attribute = ngx_svc_push_attributes; attribute->name; attribute++) {

        if (attribute->parent != parent
            && (attribute->parent == NULL || parent == NULL
                || !ngx_svc_push_same(attribute->parent, parent)))
        {
            continue;
        }

        value = ngx_svc_push_value(want, attribute);

        if (value->len) {
            ngx_svc_json_string(w, attribute->name, value->data, value->len);
        }
    }
}


/* Writes the members of "name", or of the extension. */

static void
ngx_svc_push_write_object(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there, const char *parent)
{
    const cJSON  *item;
    ngx_uint_t    name;

    name = (parent[0] == 'n');
    item = there ? ngx_svc_push_read_member(there, parent) : NULL;

    if (!cJSON_IsObject(item)
        && (name ? want->given_name.len + want->family_name.len
                 : want->department.len) == 0)
    {
        return;
    }

    ngx_svc_json_open(w, parent, '{');
    ngx_svc_push_write_texts(w, want, parent);

    if (name) {
        ngx_svc_push_attribute_formatted(w, "formatted", want);
    }

    for (item = (item && cJSON_IsObject(item)) ? item->child : NULL; item;
         item = item->next)
    {
        if (!ngx_svc_push_write_ours(want, item->string, parent)) {
            ngx_svc_push_write_copy(w, item, 1);
        }
    }

    ngx_svc_json_close(w, '}');
}


/*
 * Writes "emails".  Addresses there stay if they are of another type than
 * ours, and not the primary one.
 */

static void
ngx_svc_push_write_emails(ngx_svc_json_writer_t *w,
    const ngx_svc_push_want_t *want, const cJSON *there)
{
    ngx_str_t     type;
    const cJSON  *item;

    ngx_svc_json_open(w, "emails", '[');
    ngx_svc_push_attribute_email(w, want);

    item = there ? ngx_svc_push_read_member(there, "emails") : NULL;

    for (item = (item && cJSON_IsArray(item)) ? item->child : NULL; item;
         item = item->next)
    {
        if (ngx_svc_push_read_text(item, "type", &type) == NGX_OK
            && !ngx_svc_push_same((char *) type.data, "work")
            && !cJSON_IsTrue(ngx_svc_push_read_member(item, "primary"))
            && !ngx_svc_push_read_is(item, "value", &want->user_name, 0))
        {
            ngx_svc_push_write_copy(w, item, 0);
        }
    }

    ngx_svc_json_close(w, ']');
}


ngx_int_t
ngx_svc_push_write_filter(ngx_pool_t *pool, const ngx_svc_push_want_t *want,
    ngx_svc_push_by_e by, ngx_str_t *filter)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, pool, NGX_SVC_PUSH_BODY) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_push_write_term(&w, by, by == NGX_SVC_PUSH_BY_NAME
                                    ? &want->user_name : &want->id);

    return ngx_svc_push_attribute_end(&w, filter);
}


/* RFC 7644 quotes texts as JSON does. */

void
ngx_svc_push_write_term(ngx_svc_json_writer_t *w, ngx_svc_push_by_e by,
    const ngx_str_t *value)
{
    static const u_char  name[] = "userName eq ";
    static const u_char  id[] = "externalId eq ";

    if (by == NGX_SVC_PUSH_BY_NAME) {
        ngx_svc_json_raw(w, NULL, name, sizeof(name) - 1);

    } else {
        ngx_svc_json_raw(w, NULL, id, sizeof(id) - 1);
    }

    w->comma = 0;
    ngx_svc_json_string(w, NULL, value->data, value->len);
}


void
ngx_svc_push_write_or(ngx_svc_json_writer_t *w)
{
    static const u_char  text[] = " or ";

    w->comma = 0;
    ngx_svc_json_raw(w, NULL, text, sizeof(text) - 1);
    w->comma = 0;
}


/*
 * Returns whether a member there is not to be copied into the merged resource.
 */

static ngx_uint_t
ngx_svc_push_write_ours(const ngx_svc_push_want_t *want, const char *name,
    const char *parent)
{
    const char                      **written;
    const ngx_svc_push_attribute_t   *attribute;

    for (attribute = ngx_svc_push_attributes; attribute->name; attribute++) {

        if (ngx_svc_push_same(attribute->name, name)
            && (parent ? attribute->parent != NULL
                         && ngx_svc_push_same(attribute->parent, parent)
                       : attribute->parent == NULL))
        {
            return ngx_svc_push_ours(want, attribute);
        }
    }

    if (parent) {
        return parent[0] == 'n' && ngx_svc_push_same(name, "formatted")
               && ngx_svc_push_write_formatted(want);
    }

    for (written = ngx_svc_push_written; *written; written++) {
        if (ngx_svc_push_same(*written, name)) {
            return 1;
        }
    }

    return 0;
}


/* Returns whether one part of the name is ours, so that all of it is. */

static ngx_uint_t
ngx_svc_push_write_formatted(const ngx_svc_push_want_t *want)
{
    const ngx_svc_push_attribute_t  *attribute;

    for (attribute = ngx_svc_push_attributes; attribute->name; attribute++) {

        if (attribute->parent && attribute->parent[0] == 'n'
            && ngx_svc_push_ours(want, attribute))
        {
            return 1;
        }
    }

    return 0;
}


/* Copies a member, or an element, as it is. */

static void
ngx_svc_push_write_copy(ngx_svc_json_writer_t *w, const cJSON *item,
    ngx_uint_t named)
{
    char    *text;
    cJSON    name;

    if (named) {
        ngx_memzero(&name, sizeof(cJSON));
        name.type = cJSON_String;
        name.valuestring = item->string;

        text = cJSON_PrintUnformatted(&name);
        if (text == NULL) {
            w->failed = 1;
            return;
        }

        ngx_svc_json_raw(w, NULL, (u_char *) text, ngx_strlen(text));
        cJSON_free(text);

        w->comma = 0;
        ngx_svc_json_raw(w, NULL, (u_char *) ":", 1);
        w->comma = 0;
    }

    text = cJSON_PrintUnformatted(item);
    if (text == NULL) {
        w->failed = 1;
        return;
    }

    ngx_svc_json_raw(w, NULL, (u_char *) text, ngx_strlen(text));
    cJSON_free(text);
}
