/*
 * What a thread does for one question, and what it finds.
 */

#ifndef _NGX_SVC_LDAP_JOB_H_INCLUDED_
#define _NGX_SVC_LDAP_JOB_H_INCLUDED_


#include "ngx_svc_ldap.h"
#include "ngx_svc_ldap_text.h"
#include "ngx_svc_ldap_wire.h"
#include "ngx_svc_work.h"


#define NGX_SVC_LDAP_DEADLINE   7500    /* ms until a thread gives up */
#define NGX_SVC_LDAP_PAGE_DEADLINE  15000   /* ms, for a page */
#define NGX_SVC_LDAP_ADDRESSES  3       /* of a name that are tried */
#define NGX_SVC_LDAP_DETAIL     400     /* bytes of a step's, at most */
#define NGX_SVC_LDAP_DN         300     /* bytes of a DN in such a sentence */


/* A connection, allocated from the heap; of a job, or kept. */

struct ngx_svc_ldap_conn_s {
    LDAP                      *ld;      /* NULL: not connected */
    ngx_svc_ldap_wire_t        wire;
    ngx_svc_addr_t             addr;
    ngx_msec_t                 made;    /* ngx_current_msec, when the addresses
                                           were looked up */
    ngx_msec_t                 used;    /* the last time that it was */
    ngx_queue_t                queue;   /* while it is kept */
};


/* The question.  Strings are the job's, and end with a zero. */

typedef struct {
    uint64_t                   deadline;    /* ngx_svc_ldap_clock() */
    char                      *url;
    char                      *host;    /* IPv6 without brackets */
    in_port_t                  port;
    ngx_uint_t                 start_tls;
    ngx_svc_addr_t             addrs[NGX_SVC_LDAP_ADDRESSES];
    ngx_uint_t                 naddrs;
    char                      *ca_file;
    ngx_str_t                  ca_certificates; /* no data: the file's */
    char                      *bind_dn; /* NULL: as nobody */
    struct berval              bind_password;
    char                      *base_dn;
    char                      *filter;  /* NULL: nobody is looked for */
    struct berval              password;    /* no bv_val: no bind as the user */
    ngx_uint_t                 groups;
    ngx_uint_t                 page;    /* 1: a page of all that fit */
    struct berval              cookie;  /* of the page before */
    ngx_uint_t                 explain; /* 1: failures are looked into */
    char                      *unique_id;   /* NULL: the directory's own */
    char                      *attributes[NGX_SVC_ATTRIBUTES];  /* NULL: none */
} ngx_svc_ldap_in_t;


/* The answer; strings are the job's. */

typedef struct {
    ngx_svc_ldap_outcome_e     outcome;
    ngx_uint_t                 code;
    ngx_uint_t                 disabled;
    ngx_str_t                  dn;
    ngx_str_t                  subject;
    ngx_str_t                  values[NGX_SVC_ATTRIBUTES];
    ngx_array_t                groups;  /* ngx_str_t */
    ngx_uint_t                 cut;     /* 1: there are more of them */
    ngx_svc_ldap_person_t     *people;
    ngx_uint_t                 npeople;
    ngx_str_t                  cookie;  /* of the next page */
    ngx_uint_t                 range;   /* where a cut list of them goes on; 0:
                                           it is whole */
    ngx_str_t                  sid;     /* objectSid; or empty */
    ngx_str_t                  primary; /* primaryGroupID; or empty */
    ngx_svc_ldap_step_t        steps[NGX_SVC_LDAP_STEPS];
} ngx_svc_ldap_out_t;


typedef struct {
    ngx_svc_work_t             work;    /* first */
    ngx_svc_ldap_t            *ldap;    /* the event loop's */
    ngx_svc_ldap_conn_t       *conn;
    ngx_uint_t                 kept;    /* 1: it was connected before */
    ngx_uint_t                 lost;    /* 1: the directory has closed it
                                           meanwhile */
    ngx_uint_t                 gone;    /* 1: it cannot be used any more */
    ngx_svc_ldap_in_t          in;
    ngx_svc_ldap_out_t         out;
    ngx_svc_ldap_step_e        step;    /* the present one */
    uint64_t                   began;   /* of the step */
} ngx_svc_ldap_job_t;


/* Begins a step. */
void ngx_svc_ldap_begin(ngx_svc_ldap_job_t *job, ngx_svc_ldap_step_e step);

/* Ends the step, with a sentence. */
void ngx_svc_ldap_did(ngx_svc_ldap_job_t *job, const char *fmt, ...);

/*
 * Ends the step and the job, with the outcome and a sentence.  Returns
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_ldap_fail(ngx_svc_ldap_job_t *job,
    ngx_svc_ldap_outcome_e outcome, const char *fmt, ...);

/*
 * Does the same for what libldap returned, which makes the connection useless:
 * with NGX_SVC_LDAP_LATE when the time is over, else NGX_SVC_LDAP_FAILED.
 * what: "The directory does not ...", for the sentence.
 */
ngx_int_t ngx_svc_ldap_broken(ngx_svc_ldap_job_t *job, int rc,
    const char *what);

/* Returns a copy, of the job's pool, with a zero behind it; or NULL. */
char *ngx_svc_ldap_copy(ngx_pool_t *pool, const ngx_str_t *text);

/* Closes a connection, without waiting for anything, and frees it. */
void ngx_svc_ldap_close(ngx_svc_ldap_conn_t *conn);


#endif /* _NGX_SVC_LDAP_JOB_H_INCLUDED_ */
