/*
 * Outbound SCIM: a target in memory, and the ops that read and write it.
 *
 * A target has one op under way at a time.
 */

#ifndef _NGX_SVC_PUSH_STORE_H_INCLUDED_
#define _NGX_SVC_PUSH_STORE_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_pg.h"
#include "ngx_svc_push.h"
#include "ngx_svc_scim_push_fragments.row.h"


#define NGX_SVC_PUSH_TAKE   64          /* users of a target ready in memory */
#define NGX_SVC_PUSH_TEXT   40          /* bytes of a number or a time, as
                                           text */
#define NGX_SVC_PUSH_KNOWN  100         /* bytes of a name that can be looked up
                                           together with others */

/* Whether the time has come. */
#define ngx_svc_push_due(at)                                                  \
    ((ngx_msec_int_t) (ngx_current_msec - (at)) >= 0)


typedef struct ngx_svc_push_work_s  ngx_svc_push_work_t;


/* The targets (works) of a tenant. */

typedef struct {
    ngx_str_node_t           node;
    ngx_queue_t              works;
    ngx_uint_t               nworks;
    ngx_uint_t               ninflight; /* pushes under way */
    u_char                   id[NGX_SVC_UUID_TEXT_LEN];
} ngx_svc_push_tenant_t;


/* A text with its own memory. */

typedef struct {
    ngx_str_t                str;
    u_char                   text[NGX_SVC_PUSH_TEXT];
} ngx_svc_push_text_t;


/* A user who is being pushed; in the pool of the push. */

typedef struct {
    ngx_svc_push_t           push;
    ngx_queue_t              queue;
    ngx_svc_push_work_t     *work;
    ngx_str_t                rev;
    ngx_str_t                hash;      /* hexadecimal; empty: the user is
                                           gone */
    ngx_uint_t               attempts;
    ngx_svc_pg_op_t         *op;        /* looks for an owner; or NULL */
    ngx_msec_t               asked;     /* when a look-up did not show him */
    unsigned                 same:1;    /* the target has him as wanted */
    unsigned                 looking:1; /* a look-up of many asks for him */
    unsigned                 shown:1;   /* a look-up of many has shown him */
} ngx_svc_push_item_t;


/* A user whom the target has; an empty name: none. */

typedef struct {
    ngx_str_t                name;
    u_char                   id[NGX_SVC_UUID_TEXT_LEN];
    u_char                   text[NGX_SVC_PUSH_KNOWN];
} ngx_svc_push_known_t;


/* One version of a target, while users are pushed to it. */

typedef struct {
    ngx_pool_t              *pool;
    ngx_svc_push_target_t    target;
    ngx_int_t                version;
    ngx_svc_push_known_t     known[2];
    ngx_uint_t               oldest;    /* index of the known user to be
                                           replaced next */
} ngx_svc_push_conf_row_t;


/* A target that this helper holds; one block of ngx_calloc(). */

struct ngx_svc_push_work_s {
    ngx_queue_t              all;
    ngx_queue_t              queue;     /* in the tenant's works */
    ngx_queue_t              waiting;   /* in the queue for a place; or empty */
    ngx_svc_push_tenant_t   *tenant;
    ngx_svc_push_text_t      id;
    ngx_event_t              timer;

    ngx_svc_pg_op_t         *op;        /* under way, or NULL */
    void                   (*stored)(ngx_svc_push_work_t *work, ngx_int_t rc);
    ngx_svc_push_conf_row_t *conf;      /* NULL: nothing is pushed */
    ngx_svc_push_probe_t    *probe;     /* under way, or NULL */
    ngx_int_t                probed;    /* version of the target that is
                                           probed */
    ngx_svc_push_text_t      probing;   /* id of the test under way */
    ngx_pool_t              *answer;    /* pool of a probe being stored */
    void                    *page;      /* page of the list, under way; or
                                           NULL */
    void                    *lookup;    /* look-up of many, under way; or
                                           NULL */

    ngx_queue_t              ready;     /* ngx_svc_push_item_t */
    ngx_queue_t              inflight;
    ngx_queue_t              results;
    ngx_queue_t              recording;
    ngx_uint_t               nready;
    ngx_uint_t               ninflight;
    ngx_uint_t               nresults;

    /* as of the last poll */

    ngx_int_t                version;
    ngx_uint_t               failures;
    ngx_msec_t               not_before;
    ngx_msec_t               due;       /* when a user is to be pushed */
    ngx_uint_t               list;      /* next user of the list to read; 0: the
                                           list is not read */
    ngx_svc_push_text_t      test;      /* id of a requested test; empty:
                                           none */
    ngx_svc_push_text_t      xid;       /* the log's position; empty: unknown */
    ngx_svc_push_text_t      event;
    ngx_svc_push_text_t      since;

    /* times of this machine */

    ngx_msec_t               polled;
    ngx_msec_t               poll;      /* when the next poll is due */
    ngx_msec_t               backoff;
    ngx_msec_t               later;     /* end of the wait after a failure */
    ngx_msec_t               first;     /* oldest result not yet recorded */
    ngx_msec_t               counted;
    ngx_msec_t               kept;      /* when to note the log's position */
    ngx_msec_t               filled;    /* when tokens were last added */
    ngx_int_t                tokens;    /* the rate's tokens, in 1/1000
                                           request */
    ngx_msec_t               alone;     /* until then users are looked up one by
                                           one */
    ngx_uint_t               refused;   /* look-ups of many in a row that the
                                           target asked to wait */
    ngx_msec_t               relist;    /* when the list is asked for again */
    ngx_int_t                sealed;    /* the version whose token could not be
                                           opened, or 0 */
    ngx_msec_t               reopen;    /* when to open it again */
    ngx_uint_t               lost;      /* lost answers of the list, in a row */
    uint32_t                 page_crc;  /* CRC of the first id of the page */
    ngx_uint_t               ended;     /* users the brake counted */
    ngx_uint_t               users;

    unsigned                 known:1;   /* there was a poll */
    unsigned                 failed:1;  /* nothing is begun before "later" */
    unsigned                 enabled:1;
    unsigned                 patch:1;
    unsigned                 begin:1;   /* all users are to be looked at */
    unsigned                 looking:1;
    unsigned                 relevant:1;    /* the log has events that count */
    unsigned                 more:1;    /* more of the log is to be read */
    unsigned                 final:1;
    unsigned                 config:1;  /* the config is to be asked for */
    unsigned                 syncing:1;
    unsigned                 queued:1;
    unsigned                 held:1;
    unsigned                 hold:1;    /* the brake is to hold it */
    unsigned                 left:1;    /* the sync has not ended */
    unsigned                 trouble:1; /* the target failed, or fails */
    unsigned                 failing:1; /* the target fails; to be stored */
    unsigned                 listed:1;  /* a page is to be compared */
    unsigned                 several:1; /* users wait for a look-up of many */
    unsigned                 paused:1;  /* no push before not_before */
    unsigned                 idle:1;    /* no user is due */
    unsigned                 dirty:1;   /* counts are not yet stored */
    unsigned                 woken:1;   /* woken since the poll began */
    unsigned                 took:1;    /* the last op took users */
    unsigned                 paced:1;   /* the next poll can wait its turn */
    unsigned                 state:1;   /* the target's state is to be stored */
    unsigned                 storing:1; /* the state is being stored */
    unsigned                 no_patch:1;    /* to be stored: no PATCH */
    unsigned                 needs:1;   /* the next poll is to read conf */
    unsigned                 answered:1;    /* the probe has ended */
    unsigned                 testing:1; /* the probe is a requested test */
    ngx_str_t                error;     /* the state's error, in error_text */
    ngx_msec_t               delay;
    u_char                   error_text[NGX_SVC_PUSH_ERROR];
};


/*
 * Sets the helper's name in leases, 32 digits, which must live as long as the
 * helper does.
 */
void ngx_svc_push_store_helper(const ngx_str_t *helper);

/*
 * Each of the following begins an op; work->stored is called when it has
 * ended, with NGX_OK; NGX_DECLINED: the helper does not hold the target any
 * more; or NGX_ERROR: it failed, which was logged.  They return NGX_OK, or
 * NGX_ERROR: the op did not begin.
 */
ngx_int_t ngx_svc_push_store_begin(ngx_svc_push_work_t *work);
ngx_int_t ngx_svc_push_store_follow(ngx_svc_push_work_t *work);
ngx_int_t ngx_svc_push_store_look(ngx_svc_push_work_t *work);
ngx_int_t ngx_svc_push_store_hold(ngx_svc_push_work_t *work);

/* The handler of an op whose rows do not matter. */
void ngx_svc_push_stored(ngx_svc_pg_op_t *op);

/* Stores how far the log was passed over without an event that counts. */
ngx_int_t ngx_svc_push_store_keep(ngx_svc_push_work_t *work);

/* Stores the counts of users; ended: the sync has ended. */
ngx_int_t ngx_svc_push_store_count(ngx_svc_push_work_t *work,
    ngx_uint_t ended);

/*
 * Makes an op for statements that another file binds and reads.  NULL: no
 * memory.
 */
ngx_svc_pg_op_t *ngx_svc_push_store_op(ngx_svc_push_work_t *work,
    ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler);

/* Adds a statement to the op, with $1 and $2 bound.  NULL: no memory. */
ngx_svc_pg_call_t *ngx_svc_push_store_call(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op, const ngx_svc_pg_statement_t *statement);

/* Makes an op of one such statement.  NULL: no memory. */
ngx_svc_pg_op_t *ngx_svc_push_store_make(ngx_svc_push_work_t *work,
    ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler,
    const ngx_svc_pg_statement_t *statement, ngx_svc_pg_call_t **call);

/*
 * Adds a statement about the log after the position that has been followed.
 * NGX_ERROR: no memory, and the op was destroyed.
 */
ngx_int_t ngx_svc_push_store_behind(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op, const ngx_svc_pg_statement_t *statement);

/* Submits an op as work->op.  NGX_ERROR: it was destroyed. */
ngx_int_t ngx_svc_push_store_submit(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op);

/* Destroys work->op, and calls work->stored with rc. */
void ngx_svc_push_store_end(ngx_svc_push_work_t *work, ngx_int_t rc);

/* Returns whether the op has failed, which is logged. */
ngx_uint_t ngx_svc_push_store_failed(ngx_svc_pg_op_t *op);

/*
 * Returns the rows of a statement of work->op.  NULL: it failed, and was
 * ended.
 */
PGresult *ngx_svc_push_store_answer(ngx_svc_pg_op_t *op,
    const ngx_svc_pg_statement_t *statement);

/* Writes a decimal number into the pool, NUL-terminated.  NULL: no memory. */
u_char *ngx_svc_push_store_number(ngx_pool_t *pool, int64_t n, size_t *len);

/* Copies how far the log has been followed. */
void ngx_svc_push_position(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_position_t *row);

/* Copies a value. */
void ngx_svc_push_keep(ngx_svc_push_text_t *text, const ngx_str_t *value);


#endif /* _NGX_SVC_PUSH_STORE_H_INCLUDED_ */
