/*
 * Outbound SCIM, in the helper: users are pushed to a target.
 *
 * ngx_svc_push_lane.c holds the targets by a lease and decides which user is
 * next; ngx_svc_push_user.c makes the requests for one user,
 * ngx_svc_push_probe.c asks what a target can do, and ngx_svc_push_page.c
 * lists the users that it has.
 */

#ifndef _NGX_SVC_PUSH_H_INCLUDED_
#define _NGX_SVC_PUSH_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_event.h>
#include <cjson/cJSON.h>


#define NGX_SVC_PUSH_ERROR  500         /* bytes of an error's text, at most */
#define NGX_SVC_PUSH_SENT   0x7fff      /* any attribute may have been sent */


/* A target, as its row has it.  Texts are NUL-terminated.  The lane owns it. */

typedef struct {
    ngx_str_t      tenant;              /* UUID, as text */
    ngx_str_t      id;
    ngx_str_t      base_url;            /* without a slash at its end */
    ngx_str_t      token;               /* never in a log or an error */
    unsigned       patch:1;             /* the target takes PATCH */
} ngx_svc_push_target_t;


/* What a user is to look like at the target.  An empty text: not set. */

typedef struct {
    ngx_str_t      id;                  /* the externalId at the target */
    ngx_str_t      user_name;           /* the user's e-mail address */
    ngx_str_t      display_name;
    ngx_str_t      given_name;
    ngx_str_t      family_name;
    ngx_str_t      title;
    ngx_str_t      locale;
    ngx_str_t      department;
    ngx_uint_t     sent;                /* attributes that the target got from
                                           here: bits of ngx_svc_push_bit() */
    unsigned       active:1;            /* the user is in scope, and active
                                           here */
    unsigned       gone:1;              /* the user was erased: only the id is
                                           left */
} ngx_svc_push_want_t;


typedef enum {
    NGX_SVC_PUSH_DONE = 0,              /* the target has the user as wanted */
    NGX_SVC_PUSH_RETRY,                 /* 5xx, timeout, I/O: this user again */
    NGX_SVC_PUSH_PAUSE,                 /* 429, 503: all users wait for delay */
    NGX_SVC_PUSH_FAILING,               /* 401, 403: the target fails */
    NGX_SVC_PUSH_REFUSED,               /* the target's address or
                                           certificate */
    NGX_SVC_PUSH_USER                   /* other 4xx, conflict, ambiguous */
} ngx_svc_push_outcome_e;


/* The outcome of the last request. */

typedef struct {
    ngx_svc_push_outcome_e        outcome;
    ngx_uint_t                    status;   /* 0: no answer came */
    ngx_msec_t                    delay;    /* ms, from Retry-After; 0: none */
    ngx_str_t                     error;    /* unless DONE: printable, of the
                                               pool, without a body, a token or
                                               anything about other networks */
    unsigned                      nowhere:1;    /* REFUSED: the name leads to no
                                                   public address */
} ngx_svc_push_answer_t;


/* Whether the target has shown the user. */

typedef enum {
    NGX_SVC_PUSH_UNSEEN = 0,            /* the target has not said */
    NGX_SVC_PUSH_SEEN,
    NGX_SVC_PUSH_ABSENT                 /* the target says that he is not
                                           there */
} ngx_svc_push_seen_e;


/* Who the externalId of a resource belongs to, if not to the user himself. */

typedef enum {
    NGX_SVC_PUSH_OWNER_NONE = 0,
    NGX_SVC_PUSH_OWNER_OTHER,           /* another user of the tenant */
    NGX_SVC_PUSH_OWNER_PENDING,         /* another user, who is to be pushed */
    NGX_SVC_PUSH_OWNER_UNKNOWN          /* PostgreSQL could not be asked */
} ngx_svc_push_owner_e;


/* One push, in a pool that its caller destroys after the handler was called. */

typedef struct ngx_svc_push_s  ngx_svc_push_t;

struct ngx_svc_push_s {
    ngx_pool_t                   *pool;
    const ngx_svc_push_target_t  *target;   /* lives as long as the push */
    ngx_svc_push_want_t           want;
    ngx_str_t                     remote_id;    /* empty: to be looked up; the
                                                   requests set and clear it */
    ngx_str_t                     remote_hash;  /* SHA-256, or empty; the
                                                   requests set and clear it */
    unsigned                      remote_active:1;  /* active there; without an
                                                       id: maybe made, by a
                                                       request whose outcome is
                                                       unknown */
    unsigned                      compare:1;    /* read the resource, and repair
                                                   it */
    unsigned                      absent:1;     /* a look-up just now did not
                                                   find him */
    ngx_uint_t                    absent_for;   /* s since the target first did
                                                   not show a leaving user, at
                                                   least 1; 0: it did */

    void                        (*handler)(ngx_svc_push_t *push);
    void                         *data;

    /*
     * Asks which user has this UUID; ngx_svc_push_user_owned() is called
     * later, once, unless this is cancelled.  NGX_ERROR: no memory.  NULL:
     * nobody is asked.
     */
    ngx_int_t                   (*owner)(ngx_svc_push_t *push,
                                         const ngx_str_t *id);
    void                        (*owner_cancel)(ngx_svc_push_t *push);

    unsigned                      stop:1;   /* no further request is made */

    /* the result */

    ngx_svc_push_answer_t         answer;
    ngx_uint_t                    requests; /* number of requests made */
    ngx_svc_push_seen_e           seen;
    unsigned                      no_patch:1;   /* PATCH got 405 or 501, or 404
                                                   though the user is there */
    void                         *state;        /* the ngx_svc_push_call_t */
};


/* A GET of ServiceProviderConfig and its answer; a test is one, too. */

typedef struct ngx_svc_push_probe_s  ngx_svc_push_probe_t;

struct ngx_svc_push_probe_s {
    ngx_pool_t                   *pool;
    const ngx_svc_push_target_t  *target;
    void                        (*handler)(ngx_svc_push_probe_t *probe);
    void                         *data;

    ngx_svc_push_answer_t         answer;
    unsigned                      patch:1;      /* PATCH works, unless the
                                                   target denies it */
    void                         *state;
};


/*
 * A page of the target's users, from start (1 is the first), at most 100.
 * seen() is called for each user; its arguments live until the page is closed.
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
    ngx_uint_t                    total;    /* totalResults, as the target
                                               says */
    void                         *state;
};


#endif /* _NGX_SVC_PUSH_H_INCLUDED_ */
