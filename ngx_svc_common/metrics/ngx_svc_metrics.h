/*
 * Counters and gauges over all processes of an nginx, for Prometheus.
 */

#ifndef _NGX_SVC_METRICS_H_INCLUDED_
#define _NGX_SVC_METRICS_H_INCLUDED_


#include "ngx_svc_common.h"


/* The counters. */

typedef enum {
    NGX_SVC_M_EVENTS = 0,               /* that had at least one subscriber */
    NGX_SVC_M_QUEUED,                   /* deliveries, here and below */
    NGX_SVC_M_DROPPED_FULL,             /* the queue was full */
    NGX_SVC_M_DROPPED_TENANT,           /* the tenant's share was full */
    NGX_SVC_M_DROPPED_REDIS,            /* Redis did not take them */
    NGX_SVC_M_DROPPED_ENDPOINT,         /* too many waited for the endpoint */
    NGX_SVC_M_DROPPED_DAMAGED,          /* what Redis had was no entry */
    NGX_SVC_M_DROPPED_FORGED,           /* the entry was not authentic */
    NGX_SVC_M_DROPPED_EXPIRED,          /* the outbox had them for a day */
    NGX_SVC_M_REPLAYED,                 /* queued from the outbox */
    NGX_SVC_M_ACKNOWLEDGED,
    NGX_SVC_M_RETRIED,                  /* attempts that a retry follows */
    NGX_SVC_M_ABANDONED,
    NGX_SVC_M_REFUSED,                  /* the address check forbids it */
    NGX_SVC_M_CANCELLED,                /* the endpoint is gone, or disabled */
    NGX_SVC_M_UNSIGNED,                 /* outcomes without a MAC */
    NGX_SVC_M_TAKEN_OVER,               /* from a helper that had died */
    NGX_SVC_M_HELPER_STARTS,            /* starts of helper processes */
    NGX_SVC_M_MAIL_QUEUED,              /* mails, here and below */
    NGX_SVC_M_MAIL_SENT,
    NGX_SVC_M_MAIL_REJECTED,            /* the server answered 5xx */
    NGX_SVC_M_MAIL_FAILED,              /* the attempts are used up */
    NGX_SVC_M_MAIL_EXPIRED,             /* of no use any more */
    NGX_SVC_M_MAIL_DROPPED,             /* no place, or Redis was down */
    NGX_SVC_M_MAIL_DAMAGED,             /* what Redis had was no entry, or was
                                           not authentic */
    NGX_SVC_M_MAIL_RETRIED,             /* attempts that a retry follows */
    NGX_SVC_M_SCIM_DONE,                /* users pushed to SCIM targets */
    NGX_SVC_M_SCIM_RETRIED,             /* 5xx, or no answer */
    NGX_SVC_M_SCIM_PAUSED,              /* the target asked us to wait */
    NGX_SVC_M_SCIM_FAILING,             /* the target refused our token */
    NGX_SVC_M_SCIM_REFUSED,             /* we refused the target's address */
    NGX_SVC_M_SCIM_USER,                /* the target refused the user */
    NGX_SVC_M_LOGOUT_DELIVERED,         /* logout tokens */
    NGX_SVC_M_LOGOUT_RETRIED,           /* attempts that a retry follows */
    NGX_SVC_M_LOGOUT_ABANDONED,         /* the attempts are used up */
    NGX_SVC_M_LOGOUT_REFUSED,           /* we refused the address */
    NGX_SVC_M_FETCH_ANSWERED,           /* fetches, in the order of
                                           ngx_svc_fetch_outcome_e */
    NGX_SVC_M_FETCH_FAILED,
    NGX_SVC_M_FETCH_LATE,
    NGX_SVC_M_FETCH_UNAVAILABLE,
    NGX_SVC_M_IMPORT_OK,                /* imports of directories */
    NGX_SVC_M_IMPORT_HELD,              /* too many would be deactivated */
    NGX_SVC_M_IMPORT_FAILED,
    NGX_SVC_M_REDIS_MOVES,              /* moves to another master */
    NGX_SVC_M_RATE_REDIS,               /* checks of limits, in Redis */
    NGX_SVC_M_RATE_MEMORY,              /* checks of limits, in our memory */
    NGX_SVC_M_RATE_LOGIN_IP,            /* requests over a limit, here and
                                           below */
    NGX_SVC_M_RATE_LOGIN_EMAIL,
    NGX_SVC_M_RATE_SIGNUP_IP,
    NGX_SVC_M_RATE_SIGNUP_EMAIL,
    NGX_SVC_M_RATE_LINK_EMAIL,
    NGX_SVC_M_RATE_DOMAIN_TENANT,
    NGX_SVC_M_RATE_DIRECTORY_TENANT,
    NGX_SVC_M_RATE_CONNECTION_TENANT,
    NGX_SVC_M_TOKEN_CLIENT,             /* issued tokens, by grant type */
    NGX_SVC_M_TOKEN_CLIENT_REFUSED,     /* refused requests for tokens, by grant
                                           type */
    NGX_SVC_M_TOKEN_CODE,
    NGX_SVC_M_TOKEN_CODE_REFUSED,
    NGX_SVC_M_TOKEN_REFRESH,
    NGX_SVC_M_TOKEN_REFRESH_REFUSED,
    NGX_SVC_M_TOKEN_EXCHANGE,
    NGX_SVC_M_TOKEN_EXCHANGE_REFUSED,
    NGX_SVC_M_INTROSPECT_ACTIVE,
    NGX_SVC_M_INTROSPECT_DEAD,
    NGX_SVC_M_TOKEN_ROWS_LOST,          /* rows not stored of live tokens */
    NGX_SVC_M_ANOMALY_TOKEN_BURST,      /* anomalies of agents, here and
                                           below */
    NGX_SVC_M_ANOMALY_NEW_IP,
    NGX_SVC_M_ANOMALY_NEW_COUNTRY,
    NGX_SVC_M_ANOMALY_SCOPE_DENIED,
    NGX_SVC_M_ANOMALY_AUDIENCE_DENIED,
    NGX_SVC_M_ANOMALY_OFF_HOURS,
    NGX_SVC_M_ANOMALY_DISABLED_USE,
    NGX_SVC_M_ANOMALY_EXPIRED_USE,
    NGX_SVC_M_ANOMALY_NEW_SUBJECT,
    NGX_SVC_M_ANOMALY_SECRET_REUSE,
    NGX_SVC_M_COUNTERS
} ngx_svc_metric_e;


/* The number of pools of PostgreSQL connections, and the gauges of each. */

#define NGX_SVC_G_PG_POOLS  3

typedef enum {
    NGX_SVC_G_PG_CLOSED = 0,            /* connections */
    NGX_SVC_G_PG_CONNECTING,
    NGX_SVC_G_PG_READY,
    NGX_SVC_G_PG_IN_FLIGHT,             /* ops */
    NGX_SVC_G_PG_WAITING,               /* ops */
    NGX_SVC_G_PG_EACH
} ngx_svc_gauge_pg_e;


/* The gauges.  Each process sets its own, which end with the process. */

typedef enum {
    NGX_SVC_G_QUEUE = 0,                /* deliveries in the shared queue */
    NGX_SVC_G_PENDING,                  /* deliveries that the helper has */
    NGX_SVC_G_IN_FLIGHT,                /* attempts under way */
    NGX_SVC_G_STREAMS,                  /* open streams of the audit log */
    NGX_SVC_G_SCIM_TARGETS,             /* that the helper pushes to */
    NGX_SVC_G_SCIM_INFLIGHT,            /* users that are being pushed */
    NGX_SVC_G_FETCHES,                  /* that the helper has */
    NGX_SVC_G_REDIS_DOWN,               /* 1 or 0 */
    NGX_SVC_G_REDIS_UP,                 /* 1 or 0 */
    NGX_SVC_G_READS_DOWN,               /* 1 or 0, as the health location last
                                           found, here and below */
    NGX_SVC_G_READS_UP,
    NGX_SVC_G_WRITES_DOWN,
    NGX_SVC_G_WRITES_UP,
    NGX_SVC_G_SCHEMA,                   /* the version of PostgreSQL's schema */
    NGX_SVC_G_KEYS_MISSING,             /* keys that rows need, as a worker
                                           last found */
    NGX_SVC_G_PG,                       /* ngx_svc_gauge_pg() */
    NGX_SVC_G_GAUGES = NGX_SVC_G_PG + NGX_SVC_G_PG_POOLS * NGX_SVC_G_PG_EACH
} ngx_svc_gauge_e;

#define ngx_svc_gauge_pg(pool, n)                                             \
    ((ngx_svc_gauge_e) (NGX_SVC_G_PG + (pool) * NGX_SVC_G_PG_EACH + (n)))


typedef enum {
    NGX_SVC_PROCESS_WORKER = 0,
    NGX_SVC_PROCESS_HELPER,
    NGX_SVC_PROCESSES
} ngx_svc_process_e;


/*
 * These do nothing in a process without the shared memory, when svc_metrics is
 * in no location.
 */
NGX_SVC_API void ngx_svc_metric_add(ngx_svc_metric_e metric, ngx_uint_t n);
NGX_SVC_API void ngx_svc_gauge_set(ngx_svc_gauge_e gauge, ngx_uint_t n);
NGX_SVC_API void ngx_svc_gauge_add(ngx_svc_gauge_e gauge, ngx_int_t n);

/*
 * Adds the shared memory while the configuration is read.  tag: an object of
 * the module that owns it.  Returns NULL when memory runs out.
 */
ngx_shm_zone_t *ngx_svc_metrics_zone(ngx_conf_t *cf, void *tag);

/* Takes the zone into use when nginx has allocated it; NULL: there is none. */
void ngx_svc_metrics_open(ngx_shm_zone_t *zone);

/*
 * Gives a process gauges of its own, which are 0.  Called when a process
 * starts, also one that was forked from a process with gauges.
 */
NGX_SVC_API void ngx_svc_metrics_join(ngx_svc_process_e kind, ngx_log_t *log);

/* Called when a process ends. */
NGX_SVC_API void ngx_svc_metrics_leave(void);


#endif /* _NGX_SVC_METRICS_H_INCLUDED_ */
