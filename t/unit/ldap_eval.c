/*
 * Asks a directory as a worker's threads do, one question after the other, for
 * t/ldap_kept.t.
 *
 *     ldap_eval URL ADDRESS PORT CA BIND_DN BIND_PASSWORD BASE FILTER
 *
 * reads lines, and answers each with one:
 *
 *     ask EMAIL [PASSWORD]    the outcome's number, "kept" or "new", and DN and
 *                             subject, or what is wrong; "rests" without asking
 *     repeat N EMAIL PASSWORD the number of right ones, and the microseconds
 *     clock MS                the time of the event loop goes on
 *     version TEXT            of the directory
 *     deadline MS             of a question
 */

#include "ngx_env.h"
#include "ngx_svc_ldap_kept.h"
#include "ngx_svc_ldap_user.h"

#include <ngx_event.h>
#include <stdio.h>


#define EVAL_LINE  4096


ngx_uint_t    ngx_exiting;
sig_atomic_t  ngx_terminate;

static ngx_svc_ldap_directory_t  directory;
static ngx_svc_ldap_in_t         in;
static ngx_str_t                 filter;
static uint64_t                  now, deadline = NGX_SVC_LDAP_DEADLINE;


static void
eval_answer(const ngx_svc_ldap_job_t *job)
{
    ngx_uint_t                  i;
    const ngx_svc_ldap_step_t  *step;

    printf("%d %s ", (int) job->out.outcome, job->kept ? "kept" : "new");

    for (i = 0; i < NGX_SVC_LDAP_STEPS; i++) {
        step = &job->out.steps[i];

        if (step->tried && !step->ok) {
            printf("%.*s\n", (int) step->detail.len, step->detail.data);
            return;
        }
    }

    printf("%.*s %.*s\n", (int) job->out.dn.len, job->out.dn.data,
           (int) job->out.subject.len, job->out.subject.data);
}


/* What ngx_svc_ldap.c does around a question. */

static ngx_svc_ldap_outcome_e
eval_ask(char *email, char *password, ngx_uint_t silent)
{
    ngx_str_t              address;
    ngx_pool_t            *pool;
    ngx_svc_ldap_job_t     job;
    ngx_svc_ldap_known_t  *known;

    known = ngx_svc_ldap_hold(&directory);

    if (ngx_svc_ldap_resting(known)) {
        ngx_svc_ldap_let(known);
        puts("rests");
        return NGX_SVC_LDAP_BUSY;
    }

    pool = ngx_create_pool(4096, ngx_env_log());
    ngx_memzero(&job, sizeof(job));

    address.data = (u_char *) email;
    address.len = strlen(email);

    job.work.pool = pool;
    job.in = in;
    job.in.deadline = ngx_svc_ldap_clock() + deadline;
    job.in.filter = ngx_svc_ldap_filter_fill(pool, &filter, &address);
    job.in.password.bv_val = password;
    job.in.password.bv_len = password ? strlen(password) : 0;

    job.conn = ngx_svc_ldap_take_kept(known);
    job.kept = job.conn != NULL;

    if (job.conn == NULL) {
        job.conn = ngx_calloc(sizeof(ngx_svc_ldap_conn_t), ngx_env_log());
        job.conn->made = ngx_current_msec;
    }

    ngx_svc_ldap_user(&job);

    if (job.gone || job.conn->ld == NULL) {
        ngx_svc_ldap_close(job.conn);

    } else {
        ngx_svc_ldap_keep(known, job.conn);
    }

    ngx_svc_ldap_note(known, job.out.outcome == NGX_SVC_LDAP_LATE);
    ngx_svc_ldap_let(known);

    if (!silent) {
        eval_answer(&job);
    }

    ngx_destroy_pool(pool);

    return job.out.outcome;
}


static void
eval_repeat(int n, char *email, char *password)
{
    int              i, right;
    struct timespec  start, end;

    right = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);

    for (i = 0; i < n; i++) {
        right += eval_ask(email, password, 1) == NGX_SVC_LDAP_FOUND;
    }

    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%d %ld\n", right, (long) (end.tv_sec - start.tv_sec) * 1000000
                              + (end.tv_nsec - start.tv_nsec) / 1000);
}


static void
eval_line(char *line)
{
    char         *word[4];
    int           n;
    static char   version[EVAL_LINE];

    for (n = 0; n < 4; n++) {
        word[n] = strtok(n ? NULL : line, n == 3 ? "\n" : " \n");
    }

    if (strcmp(word[0], "ask") == 0) {
        (void) eval_ask(word[1], word[2], 0);

    } else if (strcmp(word[0], "repeat") == 0) {
        eval_repeat(atoi(word[1]), word[2], word[3]);

    } else if (strcmp(word[0], "clock") == 0) {
        now += atoi(word[1]);
        ngx_env_time(now);
        ngx_event_expire_timers();
        puts("ok");

    } else if (strcmp(word[0], "version") == 0) {
        strcpy(version, word[1]);
        directory.version.data = (u_char *) version;
        directory.version.len = strlen(version);
        puts("ok");

    } else {
        deadline = atoi(word[1]);
        puts("ok");
    }

    fflush(stdout);
}


int
main(int argc, char **argv)
{
    char  line[EVAL_LINE];

    if (argc != 9) {
        return 2;
    }

    ngx_env_init();
    ngx_event_timer_init(ngx_env_log());
    now = 1000000;
    ngx_env_time(now);

    in.url = argv[1];
    in.host = argv[2];
    in.start_tls = strncmp(argv[1], "ldap:", 5) == 0;
    in.port = atoi(argv[3]);
    in.ca_file = argv[4];
    in.bind_dn = argv[5];
    in.bind_password.bv_val = argv[6];
    in.bind_password.bv_len = strlen(argv[6]);
    in.base_dn = argv[7];
    filter.data = (u_char *) argv[8];
    filter.len = strlen(argv[8]);

    if (ngx_svc_addr_parse((u_char *) argv[2], strlen(argv[2]), &in.addrs[0])
        != NGX_OK)
    {
        return 2;
    }

    in.naddrs = 1;
    ngx_str_set(&directory.version, "1");

    while (fgets(line, sizeof(line), stdin)) {
        eval_line(line);
    }

    ngx_svc_ldap_drop_all();

    return 0;
}
