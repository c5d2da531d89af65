/*
 * Outbound SCIM without nginx around it: a JSON object on each line of the
 * input asks for something, and a line of the output has the outcome.
 *
 *   push_eval ca.pem timeout-ms allow proxy     "-": none
 *
 *   {"id":1,"op":"user","url","token","patch":true,"want":{"id",...,"active"},
 *    "remoteId","remoteHash":"hex","remoteActive","compare","allocs":n,
 *    "absentFor":s, "sent":bits
 *    "owners":{"uuid":n}}          n: ngx_svc_push_owner_e; -1: no answer, and
 *                                  "outcome":"asked" says so
 *   {"id":2,"op":"probe","url","token"}
 *   {"id":3,"op":"page","url","token","start":1}
 *   {"id":1,"op":"cancel"}           cancels it; it has no outcome then
 *
 * allocs: how many allocations of nginx succeed until the answer.  The program
 * ends at the end of the input; nothing may be under way then.
 */

#include "ngx_env.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_push_http.h"
#include "ngx_svc_push_page.h"
#include "ngx_svc_push_probe.h"
#include "ngx_svc_push_read.h"
#include "ngx_svc_push_user.h"
#include "push_loop.h"


#define EVAL_LINE   (256 * 1024)
#define EVAL_JOBS   1024


typedef struct {
    ngx_pool_t             *pool;
    ngx_int_t               id;
    ngx_svc_push_target_t   target;
    ngx_svc_push_t          user;
    ngx_svc_push_probe_t    probe;
    ngx_svc_push_page_t     page;
    ngx_event_t             owned;      /* posted to tell the owner */
    ngx_svc_push_owner_e    owner;
    cJSON                  *owners;     /* UUID to what is told, or NULL */
    ngx_svc_json_writer_t   seen;
    const char             *op;
} eval_job_t;


static ngx_svc_webhook_conf_t  conf;
static eval_job_t             *jobs[EVAL_JOBS];
static ngx_uint_t              njobs;


ngx_svc_webhook_conf_t *
ngx_svc_webhook_conf(void)
{
    return &conf;
}


/* --- what is asked -------------------------------------------------------- */


static void
eval_string(eval_job_t *job, cJSON *json, const char *name, ngx_str_t *text)
{
    ngx_str_t  value;

    ngx_str_null(text);

    value.data = (u_char *)
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));

    if (value.data && value.data[0]) {
        value.len = strlen((char *) value.data);

        text->data = ngx_pcalloc(job->pool, value.len + 1);
        ngx_memcpy(text->data, value.data, value.len);
        text->len = value.len;
    }
}


static ngx_uint_t
eval_flag(cJSON *json, const char *name)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, name));
}


static ngx_int_t
eval_number(cJSON *json, const char *name, ngx_int_t none)
{
    cJSON  *item;

    item = cJSON_GetObjectItemCaseSensitive(json, name);

    return item ? (ngx_int_t) item->valuedouble : none;
}


static void
eval_free(eval_job_t *job)
{
    ngx_uint_t  i;

    for (i = 0; i < EVAL_JOBS; i++) {
        if (jobs[i] == job) {
            jobs[i] = NULL;
        }
    }

    njobs--;
    cJSON_Delete(job->owners);
    ngx_destroy_pool(job->pool);
}


static void
eval_begin(ngx_svc_json_writer_t *w, eval_job_t *job,
    const ngx_svc_push_answer_t *answer)
{
    const char  *name;

    static const char  *outcomes[] = {
        "done", "retry", "pause", "failing", "refused", "user"
    };

    ngx_env_alloc_limit(-1);

    ngx_svc_json_writer_init(w, job->pool, 1024);
    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_integer(w, "id", job->id);

    name = outcomes[answer->outcome];
    ngx_svc_json_string(w, "outcome", (u_char *) name, strlen(name));
    ngx_svc_json_integer(w, "status", answer->status);
    ngx_svc_json_integer(w, "delay", answer->delay);
    ngx_svc_json_string(w, "error", answer->error.data,
                        answer->error.len);
    ngx_svc_json_boolean(w, "nowhere", answer->nowhere);
}


static void
eval_end(ngx_svc_json_writer_t *w, eval_job_t *job)
{
    ngx_svc_json_close(w, '}');

    printf("%.*s\n", (int) (w->last - w->start), (char *) w->start);
    fflush(stdout);

    eval_free(job);
}


static void
eval_user_done(ngx_svc_push_t *push)
{
    u_char                  hex[2 * NGX_SVC_SHA256_LEN];
    ngx_svc_json_writer_t   w;

    eval_begin(&w, push->data, &push->answer);

    ngx_svc_json_integer(&w, "requests", push->requests);
    ngx_svc_json_string(&w, "remoteId", push->remote_id.data,
                        push->remote_id.len);

    if (push->remote_hash.len) {
        ngx_hex_dump(hex, push->remote_hash.data, push->remote_hash.len);
    }

    ngx_svc_json_plain(&w, "remoteHash", hex, 2 * push->remote_hash.len);
    ngx_svc_json_boolean(&w, "remoteActive", push->remote_active);
    ngx_svc_json_boolean(&w, "noPatch", push->no_patch);
    ngx_svc_json_integer(&w, "sent", push->want.sent);
    ngx_svc_json_boolean(&w, "absent", push->seen == NGX_SVC_PUSH_ABSENT);

    eval_end(&w, push->data);
}


static void
eval_probe_done(ngx_svc_push_probe_t *probe)
{
    ngx_svc_json_writer_t  w;

    eval_begin(&w, probe->data, &probe->answer);
    ngx_svc_json_boolean(&w, "patch", probe->patch);
    eval_end(&w, probe->data);
}


static void
eval_seen(ngx_svc_push_page_t *page, const ngx_str_t *id,
    const cJSON *resource)
{
    ngx_str_t               name;
    eval_job_t             *job = page->data;
    ngx_svc_json_writer_t  *w = &job->seen;

    (void) ngx_svc_push_read_text(resource, "userName", &name);

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_string(w, "id", id->data, id->len);
    ngx_svc_json_string(w, "userName", name.data, name.len);
    ngx_svc_json_boolean(w, "active", ngx_svc_push_read_active(resource) != 0);
    ngx_svc_json_close(w, '}');
}


static void
eval_page_done(ngx_svc_push_page_t *page)
{
    eval_job_t             *job = page->data;
    ngx_svc_json_writer_t   w;

    eval_begin(&w, job, &page->answer);

    ngx_svc_json_integer(&w, "n", page->n);
    ngx_svc_json_integer(&w, "total", page->total);
    ngx_svc_json_close(&job->seen, ']');
    ngx_svc_json_raw(&w, "seen", job->seen.start,
                     job->seen.last - job->seen.start);

    ngx_svc_push_page_close(page);
    eval_end(&w, job);
}


static void
eval_owned(ngx_event_t *ev)
{
    eval_job_t  *job = ev->data;

    ngx_svc_push_user_owned(&job->user, job->owner);
}


static ngx_int_t
eval_owner(ngx_svc_push_t *push, const ngx_str_t *id)
{
    cJSON       *told;
    eval_job_t  *job = push->data;

    told = cJSON_GetObjectItemCaseSensitive(job->owners, (char *) id->data);

    if (told && told->valuedouble < 0) {
        printf("{\"id\":%ld,\"outcome\":\"asked\"}\n", (long) job->id);
        fflush(stdout);
        return NGX_OK;
    }

    job->owner = told ? (ngx_svc_push_owner_e) told->valuedouble
                      : NGX_SVC_PUSH_OWNER_NONE;
    job->owned.handler = eval_owned;
    job->owned.data = job;
    job->owned.log = ngx_env_log();

    ngx_post_event(&job->owned, &ngx_posted_events);

    return NGX_OK;
}


static void
eval_owner_cancel(ngx_svc_push_t *push)
{
    eval_job_t  *job = push->data;

    if (job->owned.posted) {
        ngx_delete_posted_event(&job->owned);
    }
}


static ngx_int_t
eval_user(eval_job_t *job, cJSON *json)
{
    u_char          *hash;
    cJSON           *want;
    ngx_str_t        hex;
    ngx_svc_push_t  *push;

    push = &job->user;
    want = cJSON_GetObjectItemCaseSensitive(json, "want");

    eval_string(job, want, "id", &push->want.id);
    eval_string(job, want, "userName", &push->want.user_name);
    eval_string(job, want, "displayName", &push->want.display_name);
    eval_string(job, want, "givenName", &push->want.given_name);
    eval_string(job, want, "familyName", &push->want.family_name);
    eval_string(job, want, "title", &push->want.title);
    eval_string(job, want, "locale", &push->want.locale);
    eval_string(job, want, "department", &push->want.department);
    push->want.active = eval_flag(want, "active");
    push->want.gone = eval_flag(want, "gone");
    push->want.sent = eval_number(json, "sent", NGX_SVC_PUSH_SENT);

    eval_string(job, json, "remoteId", &push->remote_id);
    eval_string(job, json, "remoteHash", &hex);

    if (hex.len) {
        hash = ngx_palloc(job->pool, hex.len / 2);

        if (ngx_svc_hex(hex.data, hex.len / 2, hash) != NGX_OK) {
            loop_die("remoteHash");
        }

        push->remote_hash.data = hash;
        push->remote_hash.len = hex.len / 2;
    }

    push->remote_active = eval_flag(json, "remoteActive");
    push->compare = eval_flag(json, "compare");
    push->absent_for = eval_number(json, "absentFor", 0);
    job->owners = cJSON_DetachItemFromObjectCaseSensitive(json, "owners");

    push->pool = job->pool;
    push->target = &job->target;
    push->owner = eval_owner;
    push->owner_cancel = eval_owner_cancel;
    push->handler = eval_user_done;
    push->data = job;

    ngx_env_alloc_limit(eval_number(json, "allocs", -1));

    return ngx_svc_push_user(push);
}


static ngx_int_t
eval_probe(eval_job_t *job, cJSON *json)
{
    job->probe.pool = job->pool;
    job->probe.target = &job->target;
    job->probe.handler = eval_probe_done;
    job->probe.data = job;

    ngx_env_alloc_limit(eval_number(json, "allocs", -1));

    return ngx_svc_push_probe(&job->probe);
}


static ngx_int_t
eval_page(eval_job_t *job, cJSON *json)
{
    ngx_svc_json_writer_init(&job->seen, job->pool, 1024);
    ngx_svc_json_open(&job->seen, NULL, '[');

    job->page.pool = job->pool;
    job->page.target = &job->target;
    job->page.start = eval_number(json, "start", 1);
    job->page.seen = eval_seen;
    job->page.handler = eval_page_done;
    job->page.data = job;

    ngx_env_alloc_limit(eval_number(json, "allocs", -1));

    return ngx_svc_push_page(&job->page);
}


static void
eval_cancel(ngx_int_t id)
{
    ngx_uint_t  i;

    for (i = 0; i < EVAL_JOBS; i++) {

        if (jobs[i] == NULL || jobs[i]->id != id) {
            continue;
        }

        if (jobs[i]->op[0] == 'u') {
            ngx_svc_push_user_cancel(&jobs[i]->user);

        } else if (jobs[i]->op[1] == 'r') {
            ngx_svc_push_probe_cancel(&jobs[i]->probe);

        } else {
            ngx_svc_push_page_close(&jobs[i]->page);
        }

        eval_free(jobs[i]);
    }

    printf("{\"id\":%ld,\"outcome\":\"cancelled\"}\n", (long) id);
    fflush(stdout);
}


static void
eval_start(cJSON *json, const char *op)
{
    ngx_int_t    rc;
    ngx_uint_t   i;
    ngx_pool_t  *pool;
    eval_job_t  *job;

    pool = ngx_create_pool(4096, ngx_env_log());
    job = ngx_pcalloc(pool, sizeof(eval_job_t));
    job->pool = pool;
    job->id = eval_number(json, "id", 0);

    eval_string(job, json, "url", &job->target.base_url);
    eval_string(job, json, "token", &job->target.token);
    ngx_str_set(&job->target.id, "target");
    ngx_str_set(&job->target.tenant, "tenant");
    job->target.patch = eval_flag(json, "patch");

    for (i = 0; jobs[i]; i++) {
        if (i == EVAL_JOBS - 1) {
            loop_die("too many jobs");
        }
    }

    jobs[i] = job;
    njobs++;

    if (strcmp(op, "user") == 0) {
        job->op = "user";
        rc = eval_user(job, json);

    } else if (strcmp(op, "probe") == 0) {
        job->op = "probe";
        rc = eval_probe(job, json);

    } else {
        job->op = "page";
        rc = eval_page(job, json);
    }

    if (rc == NGX_ERROR) {
        ngx_env_alloc_limit(-1);
        printf("{\"id\":%ld,\"outcome\":\"memory\"}\n", (long) job->id);
        fflush(stdout);
        eval_free(job);
    }
}


static void
eval_line(u_char *line, size_t len)
{
    cJSON       *json;
    const char  *op;

    json = cJSON_ParseWithLength((char *) line, len);
    op = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "op"));

    if (op == NULL) {
        loop_die("a line is not understood");
    }

    if (strcmp(op, "cancel") == 0) {
        eval_cancel(eval_number(json, "id", 0));

    } else {
        eval_start(json, op);
    }

    cJSON_Delete(json);
}


/* Returns 0 at the end of the input. */

static ngx_uint_t
eval_input(void)
{
    u_char   *end;
    ssize_t   n;

    static size_t  len;
    static u_char  text[EVAL_LINE];

    n = read(0, text + len, sizeof(text) - len);

    if (n <= 0) {
        return 0;
    }

    len += n;

    while ((end = memchr(text, '\n', len)) != NULL) {
        eval_line(text, end - text);
        len -= end + 1 - text;
        memmove(text, end + 1, len);
    }

    if (len == sizeof(text)) {
        loop_die("a line is too long");
    }

    return 1;
}


static void
eval_conf(char **argv)
{
    conf.concurrency = 64;
    conf.connect_timeout = strtoul(argv[2], NULL, 10);
    conf.timeout = conf.connect_timeout;
    conf.ca_file.data = (u_char *) argv[1];
    conf.ca_file.len = strlen(argv[1]);

    conf.allow.elts = calloc(1, sizeof(ngx_svc_cidr_t));

    if (strcmp(argv[3], "-") != 0) {
        conf.allow.nelts = 1;

        if (ngx_svc_cidr_parse((u_char *) argv[3], strlen(argv[3]),
                               conf.allow.elts) != NGX_OK)
        {
            loop_die("allow");
        }
    }

    if (strcmp(argv[4], "-") != 0) {
        conf.proxy.data = (u_char *) argv[4];
        conf.proxy.len = strlen(argv[4]);
    }
}


int
main(int argc, char **argv)
{
    ngx_uint_t  input;

    if (argc != 5) {
        loop_die("four arguments are needed");
    }

    loop_init();
    ngx_svc_json_init();
    eval_conf(argv);

    if (ngx_svc_push_http_init((ngx_cycle_t *) ngx_cycle) != NGX_OK) {
        loop_die("init");
    }

    input = 1;

    while (input || njobs) {
        if (loop_iterate(input)) {
            input = eval_input();
            ngx_env_events();
        }
    }

    ngx_svc_push_http_exit();
    loop_exit();
    free(conf.allow.elts);

    return 0;
}
