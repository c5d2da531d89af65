/*
 * Outbound SCIM: a page of the users that a target has (RFC 7644, 3.4.2.4).
 */

#include "ngx_svc_push_page.h"
#include "ngx_svc_push_http.h"
#include "ngx_svc_push_read.h"


#define NGX_SVC_PUSH_PAGE_LONG   100    /* users of a page */
#define NGX_SVC_PUSH_PAGE_SHORT  20     /* if the answer was too long */

#define NGX_SVC_PUSH_PAGE_TOTAL  1000000000


typedef struct {
    ngx_svc_push_http_t    http;
    ngx_svc_push_page_t   *page;
    ngx_uint_t             count;
    u_char                 path[64];
} ngx_svc_push_pages_t;


static ngx_int_t ngx_svc_push_page_ask(ngx_svc_push_pages_t *pages,
    ngx_uint_t count);
static void ngx_svc_push_page_answer(ngx_svc_push_http_t *http);
static void ngx_svc_push_page_read(ngx_svc_push_page_t *page,
    const cJSON *json);


ngx_int_t
ngx_svc_push_page(ngx_svc_push_page_t *page)
{
    ngx_svc_push_pages_t  *pages;

    pages = ngx_pcalloc(page->pool, sizeof(ngx_svc_push_pages_t));
    if (pages == NULL) {
        return NGX_ERROR;
    }

    pages->page = page;
    pages->http.target = page->target;
    pages->http.handler = ngx_svc_push_page_answer;
    pages->http.data = pages;

    page->state = pages;

    return ngx_svc_push_page_ask(pages, NGX_SVC_PUSH_PAGE_LONG);
}


void
ngx_svc_push_page_close(ngx_svc_push_page_t *page)
{
    ngx_svc_push_pages_t *pages = page->state;

    ngx_svc_push_http_close(&pages->http);
}


static ngx_int_t
ngx_svc_push_page_ask(ngx_svc_push_pages_t *pages, ngx_uint_t count)
{
    ngx_svc_push_ask_t  ask;

    ngx_memzero(&ask, sizeof(ngx_svc_push_ask_t));

    pages->count = count;

    ngx_sprintf(pages->path, "/Users?startIndex=%ui&count=%ui%Z",
                pages->page->start, count);

    ask.method = "GET";
    ask.path = (char *) pages->path;
    ask.read = 1;

    return ngx_svc_push_http(&pages->http, &ask);
}


static void
ngx_svc_push_page_answer(ngx_svc_push_http_t *http)
{
    ngx_svc_push_page_t   *page;
    ngx_svc_push_pages_t  *pages;

    pages = http->data;
    page = pages->page;

    if (http->overlong && pages->count == NGX_SVC_PUSH_PAGE_LONG) {

        if (ngx_svc_push_page_ask(pages, NGX_SVC_PUSH_PAGE_SHORT) == NGX_OK) {
            return;
        }

        ngx_svc_push_http_fail(http, NGX_SVC_PUSH_RETRY, "memory ran out");
    }

    page->n = 0;
    page->total = 0;

    if (http->answer.outcome == NGX_SVC_PUSH_DONE) {

        if (ngx_svc_push_read_list(http->json)) {
            ngx_svc_push_page_read(page, http->json);

        } else if (!cJSON_IsNumber(ngx_svc_push_read_member(http->json,
                                                            "totalResults")))
        {
            ngx_svc_push_http_fail(http, NGX_SVC_PUSH_USER,
                                   "the answer is not a list");
        }
    }

    page->answer = http->answer;
    page->handler(page);
}


/*
 * Resources without an id that can be in a URL are counted, but not shown.
 * Some targets repeat the first page after the last one.
 */

static void
ngx_svc_push_page_read(ngx_svc_push_page_t *page, const cJSON *json)
{
    ngx_str_t     id;
    const cJSON  *item, *start, *total;

    total = ngx_svc_push_read_member(json, "totalResults");

    if (cJSON_IsNumber(total) && total->valuedouble > 0) {
        page->total = (ngx_uint_t) ngx_min(total->valuedouble,
                                           NGX_SVC_PUSH_PAGE_TOTAL);
    }

    start = ngx_svc_push_read_member(json, "startIndex");

    if (page->start > 1
        && ((cJSON_IsNumber(start) && start->valuedouble != page->start)
            || (cJSON_IsNumber(total) && page->start > page->total)))
    {
        return;
    }

    item = ngx_svc_push_read_list(json)->child;

    for ( /* void */ ; item; item = item->next) {
        page->n++;

        if (ngx_svc_push_read_id(item, &id) == NGX_OK) {
            page->seen(page, &id, item);
        }
    }

    page->total = ngx_max(page->total, page->n);
}
