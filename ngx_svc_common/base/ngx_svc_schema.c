/*
 * Validation tables.
 */

#include "ngx_svc_schema_take.h"


#define NGX_SVC_SCHEMA_PATH  256
#define NGX_SVC_SCHEMA_TEXT  192


typedef struct {
    ngx_uint_t        flags;        /* NGX_SVC_S_... */
    ngx_svc_error_t  *err;
    size_t            len;
    u_char            path[NGX_SVC_SCHEMA_PATH + 1];    /* NUL-terminated */
} ngx_svc_schema_t;

typedef struct {
    ngx_uint_t        type;
    const char       *text;
    const char       *limits;       /* the word before a range, or NULL */
    const char       *unit;
} ngx_svc_schema_type_t;


static void ngx_svc_schema_init(ngx_svc_schema_t *s, ngx_uint_t flags,
    const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_schema_members(ngx_svc_schema_t *s,
    const ngx_svc_member_t *table, cJSON *object, void *dst);
static ngx_int_t ngx_svc_schema_known(ngx_svc_schema_t *s,
    const ngx_svc_member_t *table, cJSON *object);
static ngx_int_t ngx_svc_schema_find(ngx_svc_schema_t *s,
    const ngx_svc_member_t *member, cJSON *object, cJSON **found);
static ngx_uint_t ngx_svc_schema_matches(const ngx_svc_member_t *member,
    const char *name);
static ngx_int_t ngx_svc_schema_member(ngx_svc_schema_t *s,
    const ngx_svc_member_t *member, cJSON *json, void *dst);
static ngx_int_t ngx_svc_schema_inside(ngx_svc_schema_t *s,
    const ngx_svc_member_t *member, cJSON *json, void *dst);
static ngx_int_t ngx_svc_schema_element(ngx_svc_schema_t *s,
    const ngx_svc_member_t *member, cJSON *json);
static ngx_uint_t ngx_svc_schema_null(const ngx_svc_member_t *member,
    cJSON *json);
static void ngx_svc_schema_push(ngx_svc_schema_t *s, const u_char *data,
    size_t len);
static void ngx_svc_schema_push_name(ngx_svc_schema_t *s, const u_char *name,
    size_t len);
static void ngx_svc_schema_push_index(ngx_svc_schema_t *s, ngx_uint_t i);
static void ngx_svc_schema_pop(ngx_svc_schema_t *s, size_t len);
static ngx_int_t ngx_svc_schema_required(ngx_svc_schema_t *s);
static ngx_int_t ngx_svc_schema_expected(ngx_svc_schema_t *s,
    const ngx_svc_member_t *member);
static u_char *ngx_svc_schema_limits(u_char *p, u_char *last,
    const ngx_svc_schema_type_t *type, const ngx_svc_member_t *member);


static const ngx_svc_schema_type_t  ngx_svc_schema_types[] = {
    { NGX_SVC_T_STRING, "a string", " of ", " byte" },
    { NGX_SVC_T_TEXT, "a string without control characters", " of ",
      " character" },
    { NGX_SVC_T_BOOLEAN, "true or false", NULL, NULL },
    { NGX_SVC_T_INTEGER, "an integer", " from ", NULL },
    { NGX_SVC_T_NUMBER, "a number", " from ", NULL },
    { NGX_SVC_T_OBJECT, "an object", NULL, NULL },
    { NGX_SVC_T_ARRAY, "an array", " of ", " element" },
    { NGX_SVC_T_NULL, "null", NULL, NULL },
    { 0, NULL, NULL, NULL }
};


ngx_int_t
ngx_svc_schema_object(const ngx_svc_member_t *table, ngx_uint_t flags,
    cJSON *object, void *dst, ngx_svc_error_t *err)
{
    return ngx_svc_schema_nested_flags(table, flags, "", object, dst, err);
}


ngx_int_t
ngx_svc_schema_nested_flags(const ngx_svc_member_t *table, ngx_uint_t flags,
    const char *path, cJSON *object, void *dst, ngx_svc_error_t *err)
{
    ngx_svc_schema_t  s;

    ngx_svc_schema_init(&s, flags, path, err);

    return ngx_svc_schema_members(&s, table, object, dst);
}


ngx_int_t
ngx_svc_schema_value(const ngx_svc_member_t *member, cJSON *json,
    const char *path, void *dst, ngx_svc_error_t *err)
{
    ngx_svc_schema_t  s;

    ngx_svc_schema_init(&s, 0, path, err);

    return ngx_svc_schema_member(&s, member, json, dst);
}


static void
ngx_svc_schema_init(ngx_svc_schema_t *s, ngx_uint_t flags, const char *path,
    ngx_svc_error_t *err)
{
    s->flags = flags;
    s->err = err;

    ngx_svc_schema_pop(s, 0);
    ngx_svc_schema_push(s, (u_char *) path, ngx_strlen(path));
}


static ngx_int_t
ngx_svc_schema_members(ngx_svc_schema_t *s, const ngx_svc_member_t *table,
    cJSON *object, void *dst)
{
    cJSON                   *json;
    size_t                   len;
    ngx_int_t                rc;
    const ngx_svc_member_t  *member;

    if ((s->flags & NGX_SVC_S_STRICT)
        && ngx_svc_schema_known(s, table, object) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    len = s->len;

    for (member = table; member->name.len; member++) {

        if (member->flags & NGX_SVC_M_READ_ONLY) {
            continue;
        }

        ngx_svc_schema_push_name(s, member->name.data, member->name.len);

        rc = ngx_svc_schema_find(s, member, object, &json);

        if (rc == NGX_OK && json != NULL) {
            rc = ngx_svc_schema_member(s, member, json, dst);

        } else if (rc == NGX_OK && (member->flags & NGX_SVC_M_REQUIRED)) {
            rc = ngx_svc_schema_required(s);
        }

        if (rc != NGX_OK) {
            return rc;
        }

        ngx_svc_schema_pop(s, len);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_schema_known(ngx_svc_schema_t *s, const ngx_svc_member_t *table,
    cJSON *object)
{
    cJSON                   *child;
    const ngx_svc_member_t  *member;

    for (child = object->child; child; child = child->next) {

        for (member = table; member->name.len; member++) {
            if ((!(member->flags & NGX_SVC_M_READ_ONLY)
                 || (s->flags & NGX_SVC_S_READ_BACK))
                && ngx_svc_schema_matches(member, child->string))
            {
                break;
            }
        }

        if (member->name.len == 0) {
            ngx_svc_schema_push_name(s, (u_char *) child->string,
                                     ngx_strlen(child->string));

            return ngx_svc_fail(s->err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" is not a known member.", s->path);
        }
    }

    return NGX_OK;
}


/* Finds a member; *found is NULL when it is absent. */

static ngx_int_t
ngx_svc_schema_find(ngx_svc_schema_t *s, const ngx_svc_member_t *member,
    cJSON *object, cJSON **found)
{
    cJSON  *child;

    *found = NULL;

    for (child = object->child; child; child = child->next) {

        if (!ngx_svc_schema_matches(member, child->string)) {
            continue;
        }

        /* names may differ in case alone, when the row takes any case */

        if (*found != NULL) {
            return ngx_svc_fail(s->err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" is given more than once.", s->path);
        }

        *found = child;
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_schema_matches(const ngx_svc_member_t *member, const char *name)
{
    size_t     len;
    ngx_int_t  rc;

    len = member->name.len;

    if (member->flags & NGX_SVC_M_NOCASE) {
        rc = ngx_strncasecmp(member->name.data, (u_char *) name, len);

    } else if (member->name.data[0] != (u_char) name[0]) {
        return 0;

    } else {
        rc = ngx_strncmp(member->name.data, name, len);
    }

    return rc == 0 && name[len] == '\0';
}


static ngx_int_t
ngx_svc_schema_member(ngx_svc_schema_t *s, const ngx_svc_member_t *member,
    cJSON *json, void *dst)
{
    ngx_int_t         rc;
    ngx_svc_value_t   value;

    ngx_memzero(&value, sizeof(ngx_svc_value_t));

    value.json = json;
    value.set = 1;

    if (ngx_svc_schema_null(member, json)) {
        value.null = 1;

        if ((member->flags & NGX_SVC_M_REQUIRED)
            && (member->flags & NGX_SVC_M_CLEARS))
        {
            return ngx_svc_schema_required(s);
        }

    } else {
        if (!ngx_svc_schema_take(member, &value)) {
            return ngx_svc_schema_expected(s, member);
        }

        rc = ngx_svc_schema_inside(s, member, json, dst);
        if (rc != NGX_OK) {
            return rc;
        }

        if (member->check) {
            rc = member->check(member, &value, (char *) s->path, s->err);
            if (rc != NGX_OK) {
                return rc;
            }
        }
    }

    if (dst) {
        *(ngx_svc_value_t *) ((u_char *) dst + member->offset) = value;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_schema_inside(ngx_svc_schema_t *s, const ngx_svc_member_t *member,
    cJSON *json, void *dst)
{
    cJSON       *child;
    size_t       len;
    ngx_int_t    rc;
    ngx_uint_t   i;

    if (cJSON_IsObject(json) && member->members) {
        return ngx_svc_schema_members(s, member->members, json, dst);
    }

    if (!cJSON_IsArray(json) || (!member->members && !member->element)) {
        return NGX_OK;
    }

    len = s->len;
    i = 0;

    for (child = json->child; child; child = child->next) {

        ngx_svc_schema_push_index(s, i++);

        rc = ngx_svc_schema_element(s, member, child);
        if (rc != NGX_OK) {
            return rc;
        }

        ngx_svc_schema_pop(s, len);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_schema_element(ngx_svc_schema_t *s, const ngx_svc_member_t *member,
    cJSON *json)
{
    static const ngx_svc_member_t  object = {
        ngx_null_string, NGX_SVC_T_OBJECT, 0, 0, 0, NULL, NULL, NULL, 0
    };

    if (member->element) {
        return ngx_svc_schema_member(s, member->element, json, NULL);
    }

    if (!cJSON_IsObject(json)) {
        return ngx_svc_schema_expected(s, &object);
    }

    return ngx_svc_schema_members(s, member->members, json, NULL);
}


static ngx_uint_t
ngx_svc_schema_null(const ngx_svc_member_t *member, cJSON *json)
{
    if (cJSON_IsNull(json)) {
        return (member->type & NGX_SVC_T_NULL)
               || (member->flags & NGX_SVC_M_CLEARS);
    }

    if (!(member->flags & NGX_SVC_M_CLEARS)) {
        return 0;
    }

    return (cJSON_IsString(json)
            && ngx_svc_schema_blank(member, (u_char *) json->valuestring))
           || (cJSON_IsArray(json) && json->child == NULL);
}


/* Appends to the path.  What does not fit is cut between two characters. */

static void
ngx_svc_schema_push(ngx_svc_schema_t *s, const u_char *data, size_t len)
{
    size_t  n;

    n = ngx_min(len, NGX_SVC_SCHEMA_PATH - s->len);

    if (n < len) {
        while (n > 0 && (data[n] & 0xc0) == 0x80) {
            n--;
        }
    }

    ngx_memcpy(s->path + s->len, data, n);

    ngx_svc_schema_pop(s, s->len + n);
}


static void
ngx_svc_schema_push_name(ngx_svc_schema_t *s, const u_char *name, size_t len)
{
    if (s->len) {
        ngx_svc_schema_push(s, (u_char *) ".", 1);
    }

    ngx_svc_schema_push(s, name, len);
}


static void
ngx_svc_schema_push_index(ngx_svc_schema_t *s, ngx_uint_t i)
{
    u_char  *p, text[NGX_INT_T_LEN + sizeof("[]") - 1];

    p = ngx_sprintf(text, "[%ui]", i);

    ngx_svc_schema_push(s, text, p - text);
}


static void
ngx_svc_schema_pop(ngx_svc_schema_t *s, size_t len)
{
    s->len = len;
    s->path[len] = '\0';
}


static ngx_int_t
ngx_svc_schema_required(ngx_svc_schema_t *s)
{
    return ngx_svc_fail(s->err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" is required.", s->path);
}


static ngx_int_t
ngx_svc_schema_expected(ngx_svc_schema_t *s, const ngx_svc_member_t *member)
{
    u_char                       *p, *last;
    u_char                        text[NGX_SVC_SCHEMA_TEXT];
    ngx_uint_t                    allowed;
    const ngx_svc_schema_type_t  *type;

    allowed = member->type;

    if (member->flags & NGX_SVC_M_CLEARS) {
        allowed |= NGX_SVC_T_NULL;
    }

    p = text;
    last = text + sizeof(text);

    for (type = ngx_svc_schema_types; type->type; type++) {

        if (!(allowed & type->type)) {
            continue;
        }

        p = ngx_slprintf(p, last, "%s%s", p == text ? "" : " or ",
                         type->text);

        if (type->limits && (member->min || member->max)) {
            p = ngx_svc_schema_limits(p, last, type, member);
        }
    }

    return ngx_svc_fail(s->err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be %*s.", s->path, (size_t) (p - text),
                        text);
}


static u_char *
ngx_svc_schema_limits(u_char *p, u_char *last,
    const ngx_svc_schema_type_t *type, const ngx_svc_member_t *member)
{
    int64_t  n;

    n = member->max;

    if (member->min == n) {
        p = ngx_slprintf(p, last, " of %L", n);

    } else if (n == INT64_MAX) {
        n = member->min;
        p = ngx_slprintf(p, last, " of at least %L", n);

    } else {
        p = ngx_slprintf(p, last, "%s%L to %L", type->limits, member->min, n);
    }

    if (type->unit) {
        p = ngx_slprintf(p, last, "%s%s", type->unit, n == 1 ? "" : "s");
    }

    return p;
}
