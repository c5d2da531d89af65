/*
 * In the helper: the threads that send mails.
 */

#include "ngx_svc_mail_send.h"
#include "ngx_svc_mail_smtp.h"
#include "ngx_svc_socket.h"
#include "ngx_svc_webhook.h"

#include <pthread.h>


#define NGX_SVC_MAIL_END  200           /* ms for the threads to end */


typedef struct {
    pthread_mutex_t          mutex;
    pthread_cond_t           cond;
    ngx_svc_mail_letter_t   *first;     /* to be sent; under the mutex */
    ngx_svc_mail_letter_t  **last;
    ngx_svc_mail_letter_t   *done;      /* sent or failed; under the mutex */
    ngx_uint_t               running;   /* threads; under the mutex */
    ngx_uint_t               n;         /* threads that were started */
    pthread_t                ids[NGX_SVC_MAIL_CONCURRENCY_MAX];
    int                      pipe[2];   /* a byte says that letters are done */
    ngx_connection_t        *connection;
    ngx_svc_mail_sent_pt     sent;
    const ngx_svc_webhook_conf_t  *conf;
    ngx_log_t               *log;
    volatile ngx_uint_t      ending;
} ngx_svc_mail_threads_t;


static ngx_int_t ngx_svc_mail_send_pipe(ngx_cycle_t *cycle);
static ngx_int_t ngx_svc_mail_send_start(ngx_uint_t n);
static void *ngx_svc_mail_send_thread(void *data);
static ngx_svc_mail_letter_t *ngx_svc_mail_send_next(void);
static void ngx_svc_mail_send_done(ngx_svc_mail_letter_t *letter);
static void ngx_svc_mail_send_read(ngx_event_t *ev);


static ngx_svc_mail_threads_t  ngx_svc_mail_threads = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .cond = PTHREAD_COND_INITIALIZER,
    .pipe = { -1, -1 }
};


ngx_int_t
ngx_svc_mail_send_init(ngx_cycle_t *cycle, ngx_svc_mail_sent_pt sent)
{
    ngx_svc_mail_threads_t  *threads;

    threads = &ngx_svc_mail_threads;

    threads->last = &threads->first;
    threads->sent = sent;
    threads->conf = ngx_svc_webhook_conf();
    threads->log = cycle->log;

    if (ngx_svc_mail_smtp_init(cycle->log) != NGX_OK
        || ngx_svc_mail_send_pipe(cycle) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_mail_send_start(threads->conf->mail.concurrency);
}


static ngx_int_t
ngx_svc_mail_send_pipe(ngx_cycle_t *cycle)
{
    ngx_connection_t        *c;
    ngx_svc_mail_threads_t  *threads;

    threads = &ngx_svc_mail_threads;

    if (pipe(threads->pipe) == -1
        || ngx_nonblocking(threads->pipe[0]) == -1
        || ngx_nonblocking(threads->pipe[1]) == -1)
    {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno,
                      "pipe() of the mail threads failed");
        return NGX_ERROR;
    }

    c = ngx_svc_socket_borrow(threads->pipe[0], threads,
                              ngx_svc_mail_send_read, cycle->log);
    if (c == NULL) {
        return NGX_ERROR;
    }

    threads->connection = c;

    return ngx_add_event(c->read, NGX_READ_EVENT, 0);
}


/* Threads block all signals: the main thread handles them. */

static ngx_int_t
ngx_svc_mail_send_start(ngx_uint_t n)
{
    int                      err;
    sigset_t                 all, before;
    ngx_uint_t               i;
    ngx_svc_mail_threads_t  *threads;

    threads = &ngx_svc_mail_threads;

    sigfillset(&all);
    (void) pthread_sigmask(SIG_BLOCK, &all, &before);

    err = 0;

    for (i = 0; i < n && err == 0; i++) {
        err = pthread_create(&threads->ids[i], NULL, ngx_svc_mail_send_thread,
                             threads);

        if (err == 0) {
            threads->n++;

            (void) pthread_mutex_lock(&threads->mutex);
            threads->running++;
            (void) pthread_mutex_unlock(&threads->mutex);
        }
    }

    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (err) {
        ngx_log_error(NGX_LOG_ALERT, threads->log, err,
                      "pthread_create() of a mail thread failed");
        return NGX_ERROR;
    }

    return NGX_OK;
}


void
ngx_svc_mail_send_letter(ngx_svc_mail_letter_t *letter)
{
    ngx_svc_mail_threads_t  *threads;

    threads = &ngx_svc_mail_threads;

    letter->next = NULL;

    (void) pthread_mutex_lock(&threads->mutex);

    *threads->last = letter;
    threads->last = &letter->next;

    (void) pthread_cond_signal(&threads->cond);
    (void) pthread_mutex_unlock(&threads->mutex);
}


static void *
ngx_svc_mail_send_thread(void *data)
{
    ngx_svc_mail_smtp_t     *smtp;
    ngx_svc_mail_letter_t   *letter;
    ngx_svc_mail_threads_t  *threads;

    threads = data;

    smtp = ngx_svc_mail_smtp_create(&threads->conf->mail,
                                    &threads->conf->ca_file,
                                    &threads->ending);

    while ((letter = ngx_svc_mail_send_next()) != NULL) {
        ngx_svc_mail_smtp_send(smtp, letter);
        ngx_svc_mail_send_done(letter);
    }

    ngx_svc_mail_smtp_free(smtp);

    (void) pthread_mutex_lock(&threads->mutex);
    threads->running--;
    (void) pthread_mutex_unlock(&threads->mutex);

    return NULL;
}


/* Returns the next letter.  NULL: the process ends. */

static ngx_svc_mail_letter_t *
ngx_svc_mail_send_next(void)
{
    ngx_svc_mail_letter_t   *letter;
    ngx_svc_mail_threads_t  *threads;

    threads = &ngx_svc_mail_threads;

    (void) pthread_mutex_lock(&threads->mutex);

    while (threads->first == NULL && !threads->ending) {
        (void) pthread_cond_wait(&threads->cond, &threads->mutex);
    }

    letter = threads->ending ? NULL : threads->first;

    if (letter) {
        threads->first = letter->next;

        if (threads->first == NULL) {
            threads->last = &threads->first;
        }
    }

    (void) pthread_mutex_unlock(&threads->mutex);

    return letter;
}


/* If the pipe is full, the other end will read anyway. */

static void
ngx_svc_mail_send_done(ngx_svc_mail_letter_t *letter)
{
    ngx_svc_mail_threads_t  *threads;

    threads = &ngx_svc_mail_threads;

    (void) pthread_mutex_lock(&threads->mutex);

    letter->next = threads->done;
    threads->done = letter;

    (void) pthread_mutex_unlock(&threads->mutex);

    if (write(threads->pipe[1], "", 1) == -1) {
        return;
    }
}


static void
ngx_svc_mail_send_read(ngx_event_t *ev)
{
    char                     buf[64];
    ssize_t                  n;
    ngx_svc_mail_letter_t   *letter, *next;
    ngx_svc_mail_threads_t  *threads;

    threads = &ngx_svc_mail_threads;

    do {
        n = read(threads->pipe[0], buf, sizeof(buf));
    } while (n == (ssize_t) sizeof(buf));

    (void) pthread_mutex_lock(&threads->mutex);

    letter = threads->done;
    threads->done = NULL;

    (void) pthread_mutex_unlock(&threads->mutex);

    for ( /* void */ ; letter; letter = next) {
        next = letter->next;
        threads->sent(letter);
    }
}


ngx_uint_t
ngx_svc_mail_send_exit(void)
{
    ngx_uint_t               i, running;
    ngx_svc_mail_threads_t  *threads;

    threads = &ngx_svc_mail_threads;

    if (threads->connection == NULL) {
        return 1;
    }

    (void) pthread_mutex_lock(&threads->mutex);

    threads->ending = 1;

    (void) pthread_cond_broadcast(&threads->cond);
    (void) pthread_mutex_unlock(&threads->mutex);

    for (i = 0; /* void */ ; i++) {
        (void) pthread_mutex_lock(&threads->mutex);
        running = threads->running;
        (void) pthread_mutex_unlock(&threads->mutex);

        if (running == 0 || i == NGX_SVC_MAIL_END / 10) {
            break;
        }

        ngx_msleep(10);
    }

    /* OpenSSL's destructors run after the thread's function has returned */

    for (i = 0; i < threads->n && running == 0; i++) {
        (void) pthread_join(threads->ids[i], NULL);
    }

    ngx_svc_socket_return(threads->connection, 0);
    threads->connection = NULL;

    return running == 0;
}
