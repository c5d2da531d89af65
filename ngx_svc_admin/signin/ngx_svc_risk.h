/*
 * The risk of a sign-in: signals of a browser, a place and a time that a user
 * has not been seen with, and of failures before it.
 */

#ifndef _NGX_SVC_RISK_H_INCLUDED_
#define _NGX_SVC_RISK_H_INCLUDED_


#include "ngx_svc_http.h"


#define NGX_SVC_RISK_AGENT    32        /* bytes of a family's name */
#define NGX_SVC_RISK_NETWORK  (NGX_SVC_ADDR_TEXT_LEN + 3)
#define NGX_SVC_RISK_TEXT     256       /* bytes of an array's text */


/* The signals, with their names in the audit log and their points. */

#define NGX_SVC_RISK_SIGNALS(_)                                               \
    _(NEW_DEVICE, "new_device", 20)                                           \
    _(NEW_NETWORK, "new_network", 10)                                         \
    _(NEW_COUNTRY, "new_country", 25)                                         \
    _(IMPOSSIBLE_TRAVEL, "impossible_travel", 40)                             \
    _(FEW_FAILURES, "recent_failures", 10)                                    \
    _(SOME_FAILURES, "recent_failures", 20)                                   \
    _(MANY_FAILURES, "recent_failures", 30)                                   \
    _(FAILING_ADDRESS, "failing_address", 30)                                 \
    _(LONG_ABSENT, "long_absent", 10)                                         \
    _(UNUSUAL_HOUR, "unusual_hour", 5)                                        \
    _(TRUSTED, "trusted_device", -15)

#define NGX_SVC_RISK_ENUM(id, name, points)  NGX_SVC_RISK_##id,

typedef enum {
    NGX_SVC_RISK_SIGNALS(NGX_SVC_RISK_ENUM)
    NGX_SVC_RISK_NSIGNALS
} ngx_svc_risk_signal_e;


/* Where a sign-in comes from, in the request's pool. */

typedef struct {
    ngx_str_t        ip;                /* no data: a unix socket */
    ngx_str_t        network;           /* /24 or /48 of the ip; or none */
    ngx_str_t        country;           /* no data: unknown */
    ngx_str_t        latitude;          /* tenths of a degree, as text */
    ngx_str_t        longitude;         /* no data in both: unknown */
    ngx_str_t        agent;             /* a family's name, as "chrome linux" */
    ngx_str_t        user_agent;        /* printable ASCII */
    ngx_str_t        device;            /* digest of its cookie; or none */
} ngx_svc_risk_client_t;


typedef struct {
    ngx_uint_t       signals;           /* a bit for each signal */
    ngx_uint_t       score;             /* 0 to 100 */
} ngx_svc_risk_t;


/*
 * Reads the client of a request, but not the device.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_risk_client(ngx_svc_request_t *sr,
    ngx_svc_risk_client_t *client);

/*
 * Writes the family of a User-Agent, a browser and a system.  Returns its
 * length.
 */
size_t ngx_svc_risk_agent(const ngx_str_t *agent,
    u_char family[NGX_SVC_RISK_AGENT]);

/* Computes signals and score from a result of ngx_svc_sql_signin_risk. */
void ngx_svc_risk_score(ngx_svc_risk_t *risk, PGresult *res);

/* Writes the signals' names as text of a PostgreSQL array; returns its end. */
u_char *ngx_svc_risk_text(u_char *p, const ngx_svc_risk_t *risk);


#endif /* _NGX_SVC_RISK_H_INCLUDED_ */
