/*
 * Outbound SCIM: what PostgreSQL has of a target, and is told.
 *
 * Of a target one op at a time is under way.
 */

#ifndef _NGX_SVC_PUSH_STORE_H_INCLUDED_
#define _NGX_SVC_PUSH_STORE_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_pg.h"
#include "ngx_svc_push.h"


#define NGX_SVC_PUSH_TAKE   64          /* users of a target in memory, ready */
#define NGX_SVC_PUSH_TEXT   40          /* bytes of a number, or a time */
#define NGX_SVC_PUSH_KNOWN  100         /* bytes of a name that is looked up
                                           with others */

/* Whether that time has come. */
#define ngx_svc_push_due(at)                                                  \
    ((ngx_msec_int_t) (ngx_current_msec - (at)) >= 0)


typedef struct ngx_svc_push_work_s  ngx_svc_push_work_t;


/* The works of a tenant. */

typedef struct {
    ngx_str_node_t           node;
    ngx_queue_t              works;
    ngx_uint_t               nworks;
    ngx_uint_t               nflying;   /* pushes */
    u_char                   id[NGX_SVC_UUID_TEXT_LEN];
} ngx_svc_push_tenant_t;


/* A text that is kept, with room for it. */

typedef struct {
    ngx_str_t                str;
    u_char                   text[NGX_SVC_PUSH_TEXT];
} ngx_svc_push_text_t;


/* A user on the way; of the push's pool. */

typedef struct {
    ngx_svc_push_t           push;
    ngx_queue_t              queue;
    ngx_svc_push_work_t     *work;
    ngx_str_t                rev;
    ngx_str_t                hash;      /* hexadecimal; empty: gone */
    ngx_uint_t               attempts;
    ngx_svc_pg_op_t         *op;        /* who is asked for an owner, or NULL */
    ngx_msec_t               asked;     /* when the target did not show him */
    unsigned                 same:1;    /* as the target has it */
    unsigned                 looking:1; /* he is looked up with others */
    unsigned                 shown:1;   /* the target has shown him */
} ngx_svc_push_item_t;


/* A user whom the target has; its name is empty: nobody. */

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
    ngx_uint_t               turn;      /* of the one who is replaced */
} ngx_svc_push_conf_row_t;


/* In one block of ngx_calloc(). */

struct ngx_svc_push_work_s {
    ngx_queue_t              all;
    ngx_queue_t              queue;     /* of the tenant */
    ngx_queue_t              waiting;   /* for a place; or by itself */
    ngx_svc_push_tenant_t   *tenant;
    ngx_svc_push_text_t      id;
    ngx_event_t              timer;

    ngx_svc_pg_op_t         *op;        /* under way, or NULL */
    void                   (*stored)(ngx_svc_push_work_t *work, ngx_int_t rc);
    ngx_svc_push_conf_row_t *conf;      /* NULL: nothing is pushed */
    ngx_svc_push_probe_t    *probe;     /* under way, or NULL */
    ngx_int_t                probed;    /* the version that it is of */
    ngx_svc_push_text_t      probing;   /* the test that it is for */
    ngx_pool_t              *answer;    /* of one that is being stored */
    void                    *page;      /* of its list, under way, or NULL */
    void                    *lookup;    /* of several users, likewise */

    ngx_queue_t              ready;     /* ngx_svc_push_item_t */
    ngx_queue_t              flying;
    ngx_queue_t              results;
    ngx_queue_t              recording;
    ngx_uint_t               nready;
    ngx_uint_t               nflying;
    ngx_uint_t               nresults;

    /* as of the last poll */

    ngx_int_t                version;
    ngx_uint_t               failures;
    ngx_msec_t               not_before;
    ngx_msec_t               due;       /* when somebody is to be pushed */
    ngx_uint_t               list;      /* its next user; 0: it is not read */
    ngx_svc_push_text_t      test;      /* its id; empty: none */
    ngx_svc_push_text_t      xid;       /* empty: not known */
    ngx_svc_push_text_t      event;
    ngx_svc_push_text_t      since;

    /* the machine's */

    ngx_msec_t               polled;
    ngx_msec_t               poll;      /* when the next one is due */
    ngx_msec_t               backoff;
    ngx_msec_t               later;     /* behind a failure */
    ngx_msec_t               first;     /* result that is not recorded */
    ngx_msec_t               counted;
    ngx_msec_t               kept;      /* how far the log was passed over */
    ngx_msec_t               filled;    /* the bucket of the rate */
    ngx_int_t                tokens;    /* thousandths of a request */
    ngx_msec_t               alone;     /* until then users are looked up one
                                           by one */
    ngx_uint_t               refused;   /* such look-ups, for now, in a row */
    ngx_msec_t               relist;    /* when the list is asked for again */
    ngx_int_t                sealed;    /* the version whose token could not be
                                           opened, or 0 */
    ngx_msec_t               reopen;    /* when that is tried again */
    ngx_uint_t               lost;      /* answers of it, in a row */
    uint32_t                 page_crc;  /* of its first user's id */
    ngx_uint_t               ended;     /* of a brake */
    ngx_uint_t               users;

    unsigned                 known:1;   /* there was a poll */
    unsigned                 failed:1;  /* nothing is begun before "later" */
    unsigned                 enabled:1;
    unsigned                 patch:1;
    unsigned                 begin:1;   /* all users are to be looked at */
    unsigned                 looking:1;
    unsigned                 relevant:1;    /* the log has something for us */
    unsigned                 more:1;    /* and more of it */
    unsigned                 final:1;
    unsigned                 config:1;  /* it is to be asked for its config */
    unsigned                 syncing:1;
    unsigned                 queued:1;
    unsigned                 held:1;
    unsigned                 hold:1;    /* it is to be */
    unsigned                 left:1;    /* the sync has not ended */
    unsigned                 trouble:1; /* there was some, or is */
    unsigned                 failing:1; /* so it says; to be stored */
    unsigned                 listed:1;  /* the page is to be compared */
    unsigned                 several:1; /* users wait to be looked up */
    unsigned                 paused:1;  /* until not_before */
    unsigned                 idle:1;    /* nobody is due */
    unsigned                 dirty:1;   /* not counted since */
    unsigned                 woken:1;   /* since the poll began */
    unsigned                 took:1;    /* the last op was a take */
    unsigned                 in_turn:1; /* what it did is in memory, but for
                                           what may wait for a poll's turn */
    unsigned                 state:1;   /* is to be stored */
    unsigned                 storing:1; /* is on its way */
    unsigned                 no_patch:1;    /* to be stored, too */
    unsigned                 needs:1;   /* a conf, from the next poll */
    unsigned                 answered:1;    /* the probe has ended */
    unsigned                 testing:1; /* it is one that was asked for */
    ngx_str_t                error;     /* of the state; of error_text */
    ngx_msec_t               delay;
    u_char                   error_text[NGX_SVC_PUSH_ERROR];
};


/* The helper's name in leases; 32 digits, which live as long as it. */
void ngx_svc_push_store_helper(const ngx_str_t *helper);

/*
 * Each begins an op; work->stored is called when it has ended: NGX_OK;
 * NGX_DECLINED: the helper has the target no more; NGX_ERROR: it failed, which
 * is in the log.  They return NGX_OK, or NGX_ERROR: it did not begin.
 */
ngx_int_t ngx_svc_push_store_begin(ngx_svc_push_work_t *work);
ngx_int_t ngx_svc_push_store_follow(ngx_svc_push_work_t *work);
ngx_int_t ngx_svc_push_store_look(ngx_svc_push_work_t *work);
ngx_int_t ngx_svc_push_store_hold(ngx_svc_push_work_t *work);

/* The handler of an op whose rows say nothing. */
void ngx_svc_push_stored(ngx_svc_pg_op_t *op);

/* How far the log has been passed over, where there was nothing in it. */
ngx_int_t ngx_svc_push_store_keep(ngx_svc_push_work_t *work);

/* ended: a sync has. */
ngx_int_t ngx_svc_push_store_count(ngx_svc_push_work_t *work,
    ngx_uint_t ended);

/*
 * Op and result of an exchange that another file binds and reads: statements,
 * of which $1 and $2 are bound; the third makes an op of one.  NULL: memory.
 */
ngx_svc_pg_op_t *ngx_svc_push_store_op(ngx_svc_push_work_t *work,
    ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler);
ngx_svc_pg_call_t *ngx_svc_push_store_call(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op, const ngx_svc_pg_statement_t *statement);
ngx_svc_pg_op_t *ngx_svc_push_store_make(ngx_svc_push_work_t *work,
    ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler,
    const ngx_svc_pg_statement_t *statement, ngx_svc_pg_call_t **call);

/*
 * Adds a statement about the log behind what has been followed of it.
 * NGX_ERROR: memory, and the op is gone.
 */
ngx_int_t ngx_svc_push_store_behind(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op, const ngx_svc_pg_statement_t *statement);

/* It is work->op, until it has ended; NGX_ERROR: it is gone. */
ngx_int_t ngx_svc_push_store_submit(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op);
void ngx_svc_push_store_end(ngx_svc_push_work_t *work, ngx_int_t rc);

/* Whether the op has failed, which is logged. */
ngx_uint_t ngx_svc_push_store_failed(ngx_svc_pg_op_t *op);

/* The rows of a statement of work->op; NULL: it has failed, and ended. */
PGresult *ngx_svc_push_store_answer(ngx_svc_pg_op_t *op,
    const ngx_svc_pg_statement_t *statement);

/* A decimal number of a pool, NUL-terminated; NULL: memory. */
u_char *ngx_svc_push_store_number(ngx_pool_t *pool, int64_t n, size_t *len);

/* A number, 0 for NULL; and a text of row 0, kept. */
ngx_int_t ngx_svc_push_number(PGresult *res, int row, int column);
void ngx_svc_push_keep(ngx_svc_push_text_t *text, PGresult *res, int column);


#endif /* _NGX_SVC_PUSH_STORE_H_INCLUDED_ */
