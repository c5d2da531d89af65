/*
 * Reads JSON.
 */

#include "ngx_svc_json.h"
#include "ngx_svc_json_check.h"


static ngx_int_t ngx_svc_json_unique(cJSON *json, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_json_names(cJSON *object, ngx_svc_error_t *err);
static int ngx_libc_cdecl ngx_svc_json_cmp_names(const void *one,
    const void *two);
static void *ngx_svc_json_alloc(size_t size);
static void *ngx_svc_json_take(size_t size);
static void ngx_svc_json_free(void *p);


/*
 * The pool of the parse that is running.  libcjson has one set of hooks for the
 * process, and other modules may use the library, too: when no parse of ours is
 * running the hooks are malloc() and free().
 */

static ngx_pool_t  *ngx_svc_json_pool;
static ngx_uint_t   ngx_svc_json_no_memory;

/*
 * A tree has many small pieces, which are cut from chunks of the pool: nginx's
 * own allocation would take longer.  The tree is about five times as large as
 * the text.
 */

#define NGX_SVC_JSON_CHUNK_MIN   512
#define NGX_SVC_JSON_CHUNK_MAX   32768
#define NGX_SVC_JSON_CHUNK_TEXT  5

static u_char      *ngx_svc_json_last;
static u_char      *ngx_svc_json_end;
static size_t       ngx_svc_json_chunk;


void
ngx_svc_json_init(void)
{
    cJSON_Hooks  hooks;

    hooks.malloc_fn = ngx_svc_json_alloc;
    hooks.free_fn = ngx_svc_json_free;

    cJSON_InitHooks(&hooks);
}


ngx_int_t
ngx_svc_json_parse(ngx_pool_t *pool, ngx_str_t *text, cJSON **json,
    ngx_svc_error_t *err)
{
    cJSON  *root;

    if (ngx_svc_json_check(text->data, text->len, err) != NGX_OK) {
        return NGX_DECLINED;
    }

    ngx_svc_json_pool = pool;
    ngx_svc_json_no_memory = 0;

    ngx_svc_json_last = NULL;
    ngx_svc_json_end = NULL;
    ngx_svc_json_chunk = ngx_min(ngx_max(text->len * NGX_SVC_JSON_CHUNK_TEXT,
                                         NGX_SVC_JSON_CHUNK_MIN),
                                 NGX_SVC_JSON_CHUNK_MAX);

    root = cJSON_ParseWithLengthOpts((char *) text->data, text->len, NULL, 0);

    ngx_svc_json_pool = NULL;

    if (root == NULL) {

        if (ngx_svc_json_no_memory) {
            return NGX_ERROR;
        }

        return ngx_svc_fail(err, NGX_SVC_E_INVALID_SYNTAX,
                            "The body is not valid JSON.");
    }

    if (!cJSON_IsObject(root)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_SYNTAX,
                            "The body must be a JSON object.");
    }

    if (ngx_svc_json_unique(root, err) != NGX_OK) {
        return NGX_DECLINED;
    }

    *json = root;

    return NGX_OK;
}


/* The recursion is as deep as the text, at most NGX_SVC_JSON_MAX_DEPTH. */

static ngx_int_t
ngx_svc_json_unique(cJSON *json, ngx_svc_error_t *err)
{
    cJSON  *child;

    if (cJSON_IsObject(json) && ngx_svc_json_names(json, err) != NGX_OK) {
        return NGX_DECLINED;
    }

    for (child = json->child; child; child = child->next) {
        if (child->child && ngx_svc_json_unique(child, err) != NGX_OK) {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


/* The names are sorted: comparing all pairs would take too long. */

static ngx_int_t
ngx_svc_json_names(cJSON *object, ngx_svc_error_t *err)
{
    cJSON       *child;
    ngx_uint_t   i, n;

    static char  *names[NGX_SVC_JSON_MAX_MEMBERS];

    n = 0;

    for (child = object->child; child; child = child->next) {

        if (n == NGX_SVC_JSON_MAX_MEMBERS) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_SYNTAX,
                                "An object has more than %d members.",
                                NGX_SVC_JSON_MAX_MEMBERS);
        }

        names[n++] = child->string;
    }

    ngx_qsort(names, n, sizeof(char *), ngx_svc_json_cmp_names);

    for (i = 1; i < n; i++) {
        if (ngx_strcmp(names[i - 1], names[i]) == 0) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_SYNTAX,
                                "An object has two members named \"%s\".",
                                names[i]);
        }
    }

    return NGX_OK;
}


static int ngx_libc_cdecl
ngx_svc_json_cmp_names(const void *one, const void *two)
{
    char *const *first = one;
    char *const *second = two;

    return ngx_strcmp(*first, *second);
}


static void *
ngx_svc_json_alloc(size_t size)
{
    void  *p;

    if (ngx_svc_json_pool == NULL) {
        return malloc(size);
    }

    p = ngx_svc_json_take(size);
    if (p == NULL) {
        ngx_svc_json_no_memory = 1;
    }

    return p;
}


static void *
ngx_svc_json_take(size_t size)
{
#if !(NGX_DEBUG_PALLOC)

    u_char  *p;

    size = ngx_align(size, NGX_ALIGNMENT);

    if (size <= ngx_svc_json_chunk / 4) {

        if ((size_t) (ngx_svc_json_end - ngx_svc_json_last) < size) {

            p = ngx_palloc(ngx_svc_json_pool, ngx_svc_json_chunk);
            if (p == NULL) {
                return NULL;
            }

            ngx_svc_json_last = p;
            ngx_svc_json_end = p + ngx_svc_json_chunk;
        }

        p = ngx_svc_json_last;
        ngx_svc_json_last += size;

        return p;
    }

#endif

    return ngx_palloc(ngx_svc_json_pool, size);
}


static void
ngx_svc_json_free(void *p)
{
    if (ngx_svc_json_pool == NULL) {
        free(p);
    }
}
