/*
 * Routes, as data: an object says all there is to say of what a method does
 * with a path.
 */

#ifndef _NGX_SVC_ROUTE_H_INCLUDED_
#define _NGX_SVC_ROUTE_H_INCLUDED_


#include "ngx_svc_conf.h"
#include "ngx_svc_error.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_permission.h"
#include "ngx_svc_schema.h"


#define NGX_SVC_PATH_PARAMS  4      /* in one path */
#define NGX_SVC_BODY_VALUES  32     /* ngx_svc_value_t of a body's struct */

/* NGX_SVC_ROUTE_...: flags */

#define NGX_SVC_ROUTE_JSON         0x01     /* takes a JSON object */
#define NGX_SVC_ROUTE_WRITE_POOL   0x02     /* is audited, too */
#define NGX_SVC_ROUTE_SLOW_POOL    0x04
#define NGX_SVC_ROUTE_RAW          0x08     /* takes bytes: sr->body */
#define NGX_SVC_ROUTE_PUBLIC       0x10     /* needs no credential */
#define NGX_SVC_ROUTE_CREATE       0x20     /* heeds Idempotency-Key; no "*" */
#define NGX_SVC_ROUTE_NO_STORE     0x40     /* no answer may be kept */
#define NGX_SVC_ROUTE_CALLER       0x80     /* asks :caller_permissions */
#define NGX_SVC_ROUTE_SESSION      0x100    /* takes a session, and no token */
#define NGX_SVC_ROUTE_SENSITIVE    0x200    /* of a session: a fresh factor */
#define NGX_SVC_ROUTE_SMALL        0x400    /* the body is one: 16 KiB */
#define NGX_SVC_ROUTE_ORIGIN       0x800    /* is checked though public */
#define NGX_SVC_ROUTE_FORGET       0x10000  /* a dead session's cookies go */
#define NGX_SVC_ROUTE_FORM         0x20000  /* takes a form, in sr->body */
#define NGX_SVC_ROUTE_ANY_ORIGIN   0x40000  /* pages of any may read it */
#define NGX_SVC_ROUTE_EMPTY        0x80000  /* no body is that of no members */
#define NGX_SVC_ROUTE_STRICT       0x100000 /* an unknown member is an error */
#define NGX_SVC_ROUTE_PAGE         0x200000 /* links lead here: an error may
                                               be a page */
#define NGX_SVC_ROUTE_AUDITS       0x400000 /* its statements write the audit
                                               log by the setting svc.token;
                                               takes a token, and no session */

/* Of sessions that wait for something; without one of these: full ones only. */

#define NGX_SVC_ROUTE_PENDING_MFA       0x1000
#define NGX_SVC_ROUTE_PENDING_ENROLL    0x2000
#define NGX_SVC_ROUTE_PENDING_PASSWORD  0x4000
#define NGX_SVC_ROUTE_PENDING_PROOF     0x8000  /* _ENROLL, with svc_mail */


typedef struct ngx_svc_request_s  ngx_svc_request_t;
typedef struct ngx_svc_route_s    ngx_svc_route_t;
typedef struct ngx_svc_param_s    ngx_svc_param_t;
typedef struct ngx_svc_verdict_s  ngx_svc_verdict_t;
typedef struct ngx_svc_credential_s  ngx_svc_credential_t;


/*
 * Where a parameter of a statement comes from: one row for each, in the order
 * of $1, $2, ...; see ngx_svc_bind.h.  bind: adds one value to the call; body:
 * the values of the route's members.  NGX_OK; NGX_DECLINED with sr->error;
 * NGX_ERROR.
 */

struct ngx_svc_param_s {
    ngx_int_t                (*bind)(ngx_svc_request_t *sr,
                                     ngx_svc_pg_call_t *call,
                                     const ngx_svc_param_t *param,
                                     void *body);
    size_t                     offset;      /* of an ngx_svc_value_t in body */
    ngx_uint_t                 n;           /* of a path's parameter; a limit */
    const char                *text;        /* a query's name, or what is 404 */
    const char *const         *words;       /* that a query may have */
};

#define NGX_SVC_PARAMS(...)                                                   \
    .params = (const ngx_svc_param_t[]) { __VA_ARGS__ },                      \
    .nparams = sizeof((const ngx_svc_param_t[]) { __VA_ARGS__ })              \
               / sizeof(ngx_svc_param_t)


/*
 * What the first column of a statement, or the one that it names, says when it
 * is not NULL: a name, and behind a space what stands for "%V" in the detail.
 * A name that is not in the table is a constraint's that the surface knows.
 */

struct ngx_svc_verdict_s {
    const char                *name;        /* NULL ends the table */
    ngx_svc_error_e            kind;
    const char                *detail;      /* "%V" at most once */
};

#define NGX_SVC_VERDICTS(...)                                                 \
    .verdicts = (const ngx_svc_verdict_t[]) {                                 \
        __VA_ARGS__, { NULL, NGX_SVC_E_NONE, NULL }                           \
    }


/* That column, when it is not NULL, is a constraint's name. */
#define NGX_SVC_CONSTRAINT_VERDICT                                            \
    .verdicts = (const ngx_svc_verdict_t[]) {                                 \
        { NULL, NGX_SVC_E_NONE, NULL }                                        \
    }


/*
 * A route.  An array of them is a resource; a zero method ends it.
 *
 * Without a prepare its statements run in their order, with parameters as they
 * say, behind the credential's, but for those that are left out: the values of
 * the body may say which of several a request needs.  Each is looked at: no row
 * may be 404, the first column may be an error.  Without a reply the last one's
 * row is the answer, each column a member of its name: of PostgreSQL's type,
 * "a.b" of an object, and none if its name begins with "_".  Of those
 *
 *     _version  is the ETag;
 *     _created  when it is true makes the status 201;
 *     _total    of a list without a total, comes first.
 */

struct ngx_svc_route_s {
    ngx_uint_t                 method;      /* NGX_HTTP_GET serves HEAD too */
    ngx_str_t                  path;        /* behind the surface's prefix; a
                                               segment "*" takes any text that
                                               is not empty, URL-decoded, into
                                               sr->params; what begins it in
                                               brackets may be missing: it has
                                               one segment "*", sr->params[0],
                                               which is empty then */
    ngx_svc_permission_e       permission;  /* 0: any live token's */
    ngx_uint_t                 flags;

    const ngx_svc_member_t    *members;     /* of the body; or NULL */
    size_t                     body_size;   /* of the struct of its values, at
                                               most NGX_SVC_BODY_VALUES; which
                                               without members is for the
                                               check to fill */

    /*
     * What a table cannot say of the body or the query; may choose another
     * pool.  NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.  Or NULL.
     */
    ngx_int_t                (*check)(ngx_svc_request_t *sr, void *body);

    const ngx_svc_pg_statement_t  *statements[NGX_SVC_PG_CALLS];

    const char                *list;        /* key of the rows; NULL: one row,
                                               the object itself */
    const ngx_svc_pg_statement_t  *total;   /* of the list; NULL: "_total" */
    const char                *object;      /* key of the row; or NULL */
    ngx_uint_t                 status;      /* 0: 200; 204 has no body */

    /* Adds members to the answer, behind the rows or the columns; or NULL. */
    void                     (*more)(ngx_svc_json_writer_t *w,
                                     ngx_svc_request_t *sr);

    /* In place of ngx_svc_request_committed(), see there; or NULL. */
    ngx_svc_pg_committed_pt    committed;

    /*
     * prepare: looks at sr->json, sr->params and the arguments, and adds its
     * statements to sr->op behind the credential's.  NGX_OK; NGX_DECLINED with
     * sr->error set by ngx_svc_fail(): the credential is still checked first;
     * NGX_ERROR: 500.  Of a public route it is called at once, with no
     * credential's statement before its own; when it adds none, it has sent
     * the answer, and returns what goes to ngx_http_finalize_request().
     *
     * reply: all went well; each statement has its ngx_svc_result(), which has
     * been looked at if there is no prepare.  Sends with ngx_svc_send(),
     * ngx_svc_send_empty() or ngx_svc_send_error(), and returns what they
     * return.
     */
    ngx_int_t                (*prepare)(ngx_svc_request_t *sr);
    ngx_int_t                (*reply)(ngx_svc_request_t *sr);
};

#define ngx_svc_null_route  { .method = 0 }

/* Of a list of resources that ends with NULL. */
typedef const ngx_svc_route_t *const  ngx_svc_resources_t;


/* A constraint's name, and what its violation means to a client. */

typedef struct {
    const char                *name;        /* NULL ends the table */
    ngx_svc_error_e            kind;
    const char                *detail;
} ngx_svc_constraint_t;


/*
 * How a request proves whose it is: by a bearer token, see ngx_svc_bearer.c, or
 * by what a surface has beside it.
 *
 * take: looks for it in the headers, and sets sr->token_hash.  NGX_OK;
 * NGX_DECLINED with sr->error; NGX_DONE: there is none; NGX_ERROR.
 *
 * call: adds to sr->op what finds it, and sets the tenant, and what the audit
 * log reads of an op that writes.  Of its last statement, which is the only one
 * that is not hidden, the first column is the tenant, NULL when the credential
 * does not do for the route; no row: it is not good at all.  The second column
 * says that it was last seen over a minute ago.
 *
 * find: adds to an op that may outlive the request what finds it, with the
 * digest as it lives in the op's pool; the first column likewise.
 *
 * refuse: sets sr->error of a result that does not do.
 */

struct ngx_svc_credential_s {
    ngx_int_t                (*take)(ngx_svc_request_t *sr);
    ngx_int_t                (*call)(ngx_svc_request_t *sr);
    ngx_int_t                (*find)(ngx_svc_request_t *sr,
                                     ngx_svc_pg_op_t *op, const u_char *hash);
    ngx_int_t                (*refuse)(ngx_svc_request_t *sr, PGresult *res);
    const ngx_svc_pg_statement_t  *touch;   /* $1: the digest */
};


struct ngx_svc_surface_s {
    ngx_str_t                  prefix;      /* "/scim/v2" */
    ngx_str_t                  content_type;
    ngx_str_t                  kind;        /* of its tokens */
    ngx_str_t                  actor_type;  /* of those in the audit log */
    ngx_svc_resources_t       *resources;
    const ngx_svc_constraint_t *constraints;

    /* Writes an error's body. */
    void                     (*error)(ngx_svc_json_writer_t *w,
                                      const ngx_svc_error_row_t *row,
                                      ngx_str_t *detail);

    /*
     * Of requests without an Authorization header, where the configuration's
     * sessions is this surface; or NULL.  Where there is one nobody may keep
     * an answer of a route that is not public: caches do not know of cookies.
     */
    const ngx_svc_credential_t  *session;

    /*
     * Of a request that is refused before its route's prepare, mostly by nginx
     * itself: headers; and of a 400 of nginx, where sr->error is none, what is
     * told in place of that, as sr->error.  NGX_OK or NGX_ERROR.  Or NULL.
     */
    ngx_int_t                (*rejected)(ngx_svc_request_t *sr);
};


/*
 * The prepare and the reply of a route that has none of its own, or a part of
 * one that has; and what looks at the results of a route that has only a reply,
 * and then calls that.
 */
NGX_SVC_API ngx_int_t ngx_svc_route_prepare(ngx_svc_request_t *sr);
NGX_SVC_API ngx_int_t ngx_svc_route_reply(ngx_svc_request_t *sr);
NGX_SVC_API ngx_int_t ngx_svc_route_results(ngx_svc_request_t *sr);

/*
 * For a reply: the result of the last one of the route's statements that was
 * called; NULL: none was.
 */
NGX_SVC_API PGresult *ngx_svc_route_final(ngx_svc_request_t *sr);

/* For a reply: sends what the route says; or a row, likewise. */
NGX_SVC_API ngx_int_t ngx_svc_route_answer(ngx_svc_request_t *sr);
NGX_SVC_API ngx_int_t ngx_svc_route_row(ngx_svc_request_t *sr, PGresult *res);

/*
 * For a prepare: adds a statement with its parameters; body: as of the route's
 * members, or NULL.  NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_route_call(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *s, void *body);

/* 1: the route has statements and no prepare. */
#define ngx_svc_route_runs(route)                                             \
    ((route)->prepare == NULL && (route)->statements[0])


#endif /* _NGX_SVC_ROUTE_H_INCLUDED_ */
