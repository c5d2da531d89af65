/*
 * Asks a tenant's directory who somebody is, and whether a password is theirs.
 *
 *     ldap->pool = r->pool;
 *     ldap->directory = &directory;
 *     ldap->email = email;
 *     ldap->password = password;
 *     ldap->handler = handler;
 *
 *     if (ngx_svc_ldap(ldap) == NGX_OK) {
 *         r->main->count++;
 *         return NGX_DONE;
 *     }
 *
 * The directory's name is looked up in the event loop, and its addresses are
 * checked there; the rest is libldap's, which blocks, in a thread.  Connections
 * are kept and used again, bound as the directory's service.
 */

#ifndef _NGX_SVC_LDAP_H_INCLUDED_
#define _NGX_SVC_LDAP_H_INCLUDED_


#include "ngx_svc_attribute_map.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_http.h"
#include "ngx_svc_pg_array.h"


#define NGX_SVC_LDAP_TIMEOUT   8000     /* ms in all */
#define NGX_SVC_LDAP_PAGE_TIMEOUT  16000    /* ms in all, for a page */
#define NGX_SVC_LDAP_PAGE      500      /* entries of a page, at most */
#define NGX_SVC_LDAP_PASSWORD  1024     /* bytes, at most */
#define NGX_SVC_LDAP_GROUPS    1000     /* of a user, at most */
#define NGX_SVC_LDAP_SUBJECT   255      /* bytes, at most */
#define NGX_SVC_LDAP_VALUE     1024     /* bytes of an attribute, at most */


typedef struct ngx_svc_ldap_s        ngx_svc_ldap_t;
typedef struct ngx_svc_ldap_asked_s  ngx_svc_ldap_asked_t;
typedef struct ngx_svc_ldap_conn_s   ngx_svc_ldap_conn_t;

typedef void (*ngx_svc_ldap_pt)(ngx_svc_ldap_t *ldap);


typedef enum {
    NGX_SVC_LDAP_FOUND = 0,             /* one entry, whose password it is if
                                           one was given */
    NGX_SVC_LDAP_NONE,                  /* no entry */
    NGX_SVC_LDAP_MANY,                  /* more than one */
    NGX_SVC_LDAP_WRONG,                 /* the bind is refused; code: why */
    NGX_SVC_LDAP_EXPIRED,               /* the password has to be changed */
    NGX_SVC_LDAP_DISABLED,              /* the entry says so */
    NGX_SVC_LDAP_FAILED,                /* the directory, or its
                                           configuration, is at fault */
    NGX_SVC_LDAP_LATE,                  /* nothing came in time */
    NGX_SVC_LDAP_BUSY                   /* nothing was asked: too many ask, or
                                           nothing came of late */
} ngx_svc_ldap_outcome_e;

typedef enum {
    NGX_SVC_LDAP_RESOLVE = 0,
    NGX_SVC_LDAP_CONNECT,
    NGX_SVC_LDAP_TLS,
    NGX_SVC_LDAP_BIND,
    NGX_SVC_LDAP_SEARCH,
    NGX_SVC_LDAP_USER_BIND,
    NGX_SVC_LDAP_USER_GROUPS,
    NGX_SVC_LDAP_STEPS
} ngx_svc_ldap_step_e;


typedef struct {
    ngx_uint_t                 tried;
    ngx_uint_t                 ok;
    ngx_msec_t                 ms;
    ngx_str_t                  detail;  /* a sentence; no secret is in it */
} ngx_svc_ldap_step_t;


/* A row of svc.ldap.  Strings without data are NULL in the row. */

typedef struct {
    u_char                     tenant[NGX_SVC_UUID_LEN];
    u_char                     id[NGX_SVC_UUID_LEN];    /* connection_id */
    ngx_str_t                  version; /* updated_at: kept connections of
                                           another one are dropped */
    ngx_str_t                  url;
    ngx_uint_t                 start_tls;
    ngx_uint_t                 vouched;     /* 1: it is enabled, and an owner
                                               has said whose people it has */
    ngx_uint_t                 alone;   /* 1: its people have one domain */
    ngx_str_t                  bind_dn;
    ngx_str_t                  bind_password;
    ngx_str_t                  base_dn;
    ngx_str_t                  user_filter;
    ngx_str_t                  sync_filter; /* no data: all that user_filter
                                               could find */
    ngx_str_t                  unique_id;
    ngx_str_t                  ca_certificates;
    ngx_str_t                  attributes[NGX_SVC_ATTRIBUTES];
    ngx_svc_pg_array_t         mapped;  /* names of groups */
    ngx_uint_t                 grouped; /* 1: some are mapped, or have been */
    const ngx_array_t         *allow;   /* ngx_svc_cidr_t: addresses that are
                                           allowed though they are private */
} ngx_svc_ldap_directory_t;


/* A person among many; strings are of the question's pool. */

typedef struct {
    ngx_str_t                  subject; /* no data: it has none */
    ngx_str_t                  values[NGX_SVC_ATTRIBUTES];
    ngx_uint_t                 disabled;
} ngx_svc_ldap_person_t;


/* Everybody, page by page: zeroed before the first one. */

typedef struct {
    ngx_svc_ldap_conn_t       *conn;    /* between two pages: the caller's */
    ngx_str_t                  cookie;  /* where the next page begins, and the
                                           caller's copy of it; empty: this
                                           was the last one */
    ngx_svc_ldap_person_t     *people;
    ngx_uint_t                 npeople;
} ngx_svc_ldap_page_t;


/* Allocated from the pool, zeroed, alive until the handler or a cancel. */

struct ngx_svc_ldap_s {
    ngx_pool_t                *pool;    /* destroying it cancels */
    const ngx_svc_ldap_directory_t  *directory; /* not used after the call */
    ngx_str_t                  email;   /* no data: nobody is looked for */
    ngx_str_t                  password;    /* no data: no bind as the user */
    ngx_svc_ldap_page_t       *page;    /* NULL: one user is looked for */
    unsigned                   groups:1;    /* 1: those of the user, too */
    unsigned                   apart:1; /* 1: by a connection of its own, even
                                           if nothing came of late */
    ngx_svc_ldap_pt            handler;
    void                      *data;

    /* the answer, of the pool */

    ngx_svc_ldap_outcome_e     outcome;
    ngx_uint_t                 code;    /* of a refused bind: that of Active
                                           Directory, such as 0x52e; or 0 */
    ngx_str_t                  why;     /* unless it is found: a sentence */
    ngx_str_t                  dn;
    ngx_str_t                  subject; /* of the link */
    ngx_str_t                  values[NGX_SVC_ATTRIBUTES];  /* no data: none */
    ngx_str_t                 *member_of;   /* DNs */
    ngx_uint_t                 nmember_of;
    ngx_uint_t                 cut;     /* 1: there are more of them */
    ngx_msec_t                 usual;   /* ms that complete sign-ins have
                                           taken here, about; 0: not known */
    ngx_svc_ldap_step_t        steps[NGX_SVC_LDAP_STEPS];

    /* private */

    ngx_svc_ldap_asked_t      *asked;   /* NULL: answered */
};


/* Names of steps: "resolve", "connect" ... */
extern ngx_str_t  ngx_svc_ldap_steps[NGX_SVC_LDAP_STEPS];


/*
 * Asks the directory.  Returns NGX_OK: the handler will be called, once, not
 * from within the call, NGX_SVC_LDAP_TIMEOUT later at the latest, or
 * NGX_SVC_LDAP_PAGE_TIMEOUT for a page, of which a worker asks for one at a
 * time, and which takes no place of a sign-in; NGX_DECLINED: the answer is
 * there, and the handler will not be called; NGX_ERROR: there is no memory.
 *
 * An empty password is NGX_SVC_LDAP_WRONG without being sent: a bind with it is
 * one as nobody (RFC 4513, 5.1.2).  So is one with a zero byte, or too long.
 */
ngx_int_t ngx_svc_ldap(ngx_svc_ldap_t *ldap);

/* The handler will not be called any more. */
void ngx_svc_ldap_cancel(ngx_svc_ldap_t *ldap);

/* Called at a worker's end, when no thread runs any more. */
void ngx_svc_ldap_exit_worker(void);


#endif /* _NGX_SVC_LDAP_H_INCLUDED_ */
