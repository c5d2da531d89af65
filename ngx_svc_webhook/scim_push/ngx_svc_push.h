/*
 * Outbound SCIM, in the helper: a user is pushed to a target.
 *
 * ngx_svc_push_lane.c has the targets, by leases, and says which user is next;
 * ngx_svc_push_user.c makes the requests of one user, ngx_svc_push_probe.c asks
 * what a target can do, and ngx_svc_push_page.c whom it has.
 */

#ifndef _NGX_SVC_PUSH_H_INCLUDED_
#define _NGX_SVC_PUSH_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_event.h>
#include <cjson/cJSON.h>


#define NGX_SVC_PUSH_ERROR  500         /* bytes of a text, at most */
#define NGX_SVC_PUSH_SENT   0x7fff      /* all attributes, or any of them */


/* A target, as the row; all text is NUL-terminated.  The lane's. */

typedef struct {
    ngx_str_t      tenant;              /* UUIDs, as text */
    ngx_str_t      id;
    ngx_str_t      base_url;            /* without a slash at its end */
    ngx_str_t      token;               /* not in a log, nor in an error */
    unsigned       patch:1;             /* it takes PATCH */
} ngx_svc_push_target_t;


/* What a user is to look like; an empty text: not set. */

typedef struct {
    ngx_str_t      id;                  /* externalId there */
    ngx_str_t      user_name;           /* the e-mail address */
    ngx_str_t      display_name;
    ngx_str_t      given_name;
    ngx_str_t      family_name;
    ngx_str_t      title;
    ngx_str_t      locale;
    ngx_str_t      department;
    ngx_uint_t     sent;                /* the attributes that the target has
                                           had from here, by the bits of
                                           ngx_svc_push_bit() */
    unsigned       active:1;            /* in scope, and active here */
    unsigned       gone:1;              /* erased: there is the id alone */
} ngx_svc_push_want_t;


typedef enum {
    NGX_SVC_PUSH_DONE = 0,              /* the target has it */
    NGX_SVC_PUSH_RETRY,                 /* 5xx, timeout, I/O: of this user */
    NGX_SVC_PUSH_PAUSE,                 /* 429, 503: of the target; delay */
    NGX_SVC_PUSH_FAILING,               /* 401, 403: of the target */
    NGX_SVC_PUSH_REFUSED,               /* its address, or its certificate */
    NGX_SVC_PUSH_USER                   /* other 4xx, conflict, ambiguous */
} ngx_svc_push_outcome_e;


/* What came of the last request. */

typedef struct {
    ngx_svc_push_outcome_e        outcome;
    ngx_uint_t                    status;   /* 0: no answer came */
    ngx_msec_t                    delay;    /* Retry-After; 0: none was named */
    ngx_str_t                     error;    /* of an outcome but DONE, of the
                                               pool: printable, without body,
                                               token, what tells of other
                                               networks */
    unsigned                      nowhere:1;    /* REFUSED: the name led to no
                                                   public address */
} ngx_svc_push_answer_t;


/* Whether the target has shown the user. */

typedef enum {
    NGX_SVC_PUSH_UNSEEN = 0,            /* it has not said */
    NGX_SVC_PUSH_SEEN,
    NGX_SVC_PUSH_ABSENT                 /* it has him not, as it says */
} ngx_svc_push_seen_e;


/* Whose the externalId of a resource is, other than the user's own. */

typedef enum {
    NGX_SVC_PUSH_OWNER_NONE = 0,
    NGX_SVC_PUSH_OWNER_OTHER,           /* another user of the tenant */
    NGX_SVC_PUSH_OWNER_PENDING,         /* one that is to be pushed, too */
    NGX_SVC_PUSH_OWNER_UNKNOWN          /* nobody could be asked */
} ngx_svc_push_owner_e;


/* One push; in one pool, which its maker destroys behind the handler. */

typedef struct ngx_svc_push_s  ngx_svc_push_t;

struct ngx_svc_push_s {
    ngx_pool_t                   *pool;
    const ngx_svc_push_target_t  *target;   /* lives as long as the push */
    ngx_svc_push_want_t           want;
    ngx_str_t                     remote_id;    /* empty: look it up; the
                                               requests set and clear it */
    ngx_str_t                     remote_hash;  /* of SHA-256, or empty; the
                                               same */
    unsigned                      remote_active:1;  /* likewise; without an id:
                                               maybe it is there, of a request
                                               whose outcome is not known */
    unsigned                      compare:1;    /* read it there, and repair */
    unsigned                      absent:1;     /* it was looked up just now,
                                               and is not there */
    ngx_uint_t                    absent_for;   /* s, 1 at least, since it did
                                                   not show him who is to be
                                                   inactive; 0: it did */

    void                        (*handler)(ngx_svc_push_t *push);
    void                         *data;

    /*
     * Asks whose this UUID is, and calls ngx_svc_push_user_owned() later, once,
     * unless it is cancelled; NGX_ERROR: memory.  NULL: nobody is asked.
     */
    ngx_int_t                   (*owner)(ngx_svc_push_t *push,
                                         const ngx_str_t *id);
    void                        (*owner_cancel)(ngx_svc_push_t *push);

    unsigned                      stop:1;   /* no further request is made */

    /* what came of it */

    ngx_svc_push_answer_t         answer;
    ngx_uint_t                    requests; /* that were made */
    ngx_svc_push_seen_e           seen;
    unsigned                      no_patch:1;   /* PATCH was refused with 405
                                               or 501, or with 404 though the
                                               user is there */
    void                         *state;        /* of the requests */
};


/* The answer to GET ServiceProviderConfig; the same struct for a test. */

typedef struct ngx_svc_push_probe_s  ngx_svc_push_probe_t;

struct ngx_svc_push_probe_s {
    ngx_pool_t                   *pool;
    const ngx_svc_push_target_t  *target;
    void                        (*handler)(ngx_svc_push_probe_t *probe);
    void                         *data;

    ngx_svc_push_answer_t         answer;
    unsigned                      patch:1;      /* unless it says otherwise */
    void                         *state;
};


/*
 * A page of the target's users, from start (1 is the first), at most 100: for
 * each, seen is called, with what stays until the page is closed.
 */

typedef struct ngx_svc_push_page_s  ngx_svc_push_page_t;

struct ngx_svc_push_page_s {
    ngx_pool_t                   *pool;
    const ngx_svc_push_target_t  *target;
    ngx_uint_t                    start;
    void                        (*seen)(ngx_svc_push_page_t *page,
                                        const ngx_str_t *remote_id,
                                        const cJSON *resource);
    void                        (*handler)(ngx_svc_push_page_t *page);
    void                         *data;

    ngx_svc_push_answer_t         answer;
    ngx_uint_t                    n;        /* resources of this page */
    ngx_uint_t                    total;    /* as the target says */
    void                         *state;
};


#endif /* _NGX_SVC_PUSH_H_INCLUDED_ */
