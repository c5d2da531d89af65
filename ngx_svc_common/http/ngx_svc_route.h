/*
 * Routes, as data: an object describes what a method does with a path.
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
#define NGX_SVC_ROUTE_WRITE_POOL   0x02     /* writes, and is audited */
#define NGX_SVC_ROUTE_SLOW_POOL    0x04
#define NGX_SVC_ROUTE_RAW          0x08     /* takes bytes, in sr->body */
#define NGX_SVC_ROUTE_PUBLIC       0x10     /* needs no credential */
#define NGX_SVC_ROUTE_CREATE       0x20     /* takes Idempotency-Key; there is
                                               no "*" in the path */
#define NGX_SVC_ROUTE_NO_STORE     0x40     /* no cache may keep an answer */
#define NGX_SVC_ROUTE_CALLER       0x80     /* uses :caller_permissions */
#define NGX_SVC_ROUTE_SESSION      0x100    /* takes a session, and no token */
#define NGX_SVC_ROUTE_SENSITIVE    0x200    /* a session must be fresh */
#define NGX_SVC_ROUTE_SMALL        0x400    /* a body of at most 16 KiB */
#define NGX_SVC_ROUTE_ORIGIN       0x800    /* a public route that checks the
                                               request's origin */
#define NGX_SVC_ROUTE_FORGET       0x10000  /* deletes the cookies of a session
                                               that is over */
#define NGX_SVC_ROUTE_FORM         0x20000  /* takes a form, in sr->body */
#define NGX_SVC_ROUTE_ANY_ORIGIN   0x40000  /* pages of any origin may read the
                                               answer */
#define NGX_SVC_ROUTE_EMPTY        0x80000  /* no body is the same as "{}" */
#define NGX_SVC_ROUTE_STRICT       0x100000 /* an unknown member is an error */
#define NGX_SVC_ROUTE_PAGE         0x200000 /* links lead here: an error may
                                               be a page */
#define NGX_SVC_ROUTE_AUDITS       0x400000 /* its statements write the audit
                                               log by the setting svc.token;
                                               takes a token, and no session */

/* The stages of sessions that the route takes, beside "full". */

#define NGX_SVC_ROUTE_PENDING_MFA       0x1000
#define NGX_SVC_ROUTE_PENDING_ENROLL    0x2000
#define NGX_SVC_ROUTE_PENDING_PASSWORD  0x4000
#define NGX_SVC_ROUTE_PENDING_PROOF     0x8000  /* as _ENROLL, if svc_mail is
                                                   on */


typedef struct ngx_svc_request_s  ngx_svc_request_t;
typedef struct ngx_svc_route_s    ngx_svc_route_t;
typedef struct ngx_svc_param_s    ngx_svc_param_t;
typedef struct ngx_svc_verdict_s  ngx_svc_verdict_t;
typedef struct ngx_svc_credential_s  ngx_svc_credential_t;


/*
 * Where a parameter of a statement comes from: one row for each, in the order
 * of $1, $2, ...; see ngx_svc_bind.h.  bind adds one value to the call, and
 * returns NGX_OK, NGX_DECLINED with sr->error set, or NGX_ERROR.  body: the
 * values of the route's members.
 */

struct ngx_svc_param_s {
    ngx_int_t                (*bind)(ngx_svc_request_t *sr,
                                     ngx_svc_pg_call_t *call,
                                     const ngx_svc_param_t *param,
                                     void *body);
    size_t                     offset;      /* of an ngx_svc_value_t in body */
    ngx_uint_t                 n;           /* a path parameter's index, or a
                                               limit */
    const char                *text;        /* a query parameter's name, or the
                                               detail of a 404 */
    const char *const         *words;       /* of a query parameter */
};

#define NGX_SVC_PARAMS(...)                                                   \
    .params = (const ngx_svc_param_t[]) { __VA_ARGS__ },                      \
    .nparams = sizeof((const ngx_svc_param_t[]) { __VA_ARGS__ })              \
               / sizeof(ngx_svc_param_t)


/*
 * A verdict: what the first column of a statement, or the column that it names,
 * says when it is not NULL.  It is a name, and after a space the text for "%V"
 * in the detail.  A name that is not in the table is that of a constraint that
 * the surface knows.
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


/* The verdict is always the name of a constraint. */
#define NGX_SVC_CONSTRAINT_VERDICT                                            \
    .verdicts = (const ngx_svc_verdict_t[]) {                                 \
        { NULL, NGX_SVC_E_NONE, NULL }                                        \
    }


/*
 * A route.  An array of routes is a resource; a zero method ends it.
 *
 * A route without a prepare runs its statements in their order, after the
 * credential's, with the parameters that they describe.  A statement's "when"
 * may leave it out, by the values of the body.  Each result is looked at: no
 * row may mean 404, and the first column may be a verdict.
 *
 * A route without a reply answers with the row of its last statement.  A column
 * is a member with its name and a value of its type; "a.b" is the member "b" of
 * an object "a".  A column whose name begins with "_" is no member:
 *
 *     _version  is the ETag;
 *     _edition  is one, too, of which not all members are a part, as what the
 *               server itself keeps is not: so the answer is never 304;
 *     _created  makes the status 201 when it is true;
 *     _total    is the first column of a list that has no total statement.
 */

struct ngx_svc_route_s {
    ngx_uint_t                 method;      /* NGX_HTTP_GET serves HEAD too */
    ngx_str_t                  path;        /* after the surface's prefix; a
                                               segment "*" takes any text that
                                               is not empty, URL-decoded, into
                                               sr->params; a beginning in
                                               brackets may be missing: it has
                                               one segment "*", and then
                                               sr->params[0] is empty */
    ngx_svc_permission_e       permission;  /* 0: any good credential does */
    ngx_uint_t                 flags;

    const ngx_svc_member_t    *members;     /* of the body; or NULL */
    size_t                     body_size;   /* of the struct of the body's
                                               values, of which there are at
                                               most NGX_SVC_BODY_VALUES;
                                               without members the check fills
                                               the struct */

    /*
     * Checks what a table cannot describe of the body or the query; may choose
     * another pool.  Returns NGX_OK, NGX_DECLINED with sr->error set, or
     * NGX_ERROR.  Or NULL.
     */
    ngx_int_t                (*check)(ngx_svc_request_t *sr, void *body);

    const ngx_svc_pg_statement_t  *statements[NGX_SVC_PG_CALLS];

    const char                *list;        /* the key of a list of rows; NULL:
                                               the answer is one row */
    const ngx_svc_pg_statement_t  *total;   /* of the list; NULL: "_total" */
    const char                *object;      /* the key of the one row; NULL: the
                                               row is the answer's object */
    ngx_uint_t                 status;      /* 0: 200; 204 has no body */

    /* Adds members to the answer, after the rows or the columns; or NULL. */
    void                     (*more)(ngx_svc_json_writer_t *w,
                                     ngx_svc_request_t *sr);

    /*
     * Called after the commit in place of ngx_svc_request_committed(), which it
     * calls if there is a change; or NULL.
     */
    ngx_svc_pg_committed_pt    committed;

    /*
     * prepare looks at sr->json, sr->params and the arguments, and adds its
     * statements to sr->op after the credential's.  Returns NGX_OK;
     * NGX_DECLINED with sr->error set by ngx_svc_fail(), and the credential is
     * still checked first; or NGX_ERROR, which is answered by 500.  The prepare
     * of a public route is called at once, with no credential's statement
     * before its own; when it adds none, it has sent the answer, and returns
     * what goes to ngx_http_finalize_request().
     *
     * reply is called when all statements have succeeded.  Each has its
     * ngx_svc_result(), which has been looked at if there is no prepare.  Sends
     * the answer with ngx_svc_send(), ngx_svc_send_empty() or
     * ngx_svc_send_error(), and returns what they return.
     */
    ngx_int_t                (*prepare)(ngx_svc_request_t *sr);
    ngx_int_t                (*reply)(ngx_svc_request_t *sr);
};

#define ngx_svc_null_route  { .method = 0 }

/* An element of a list of resources; NULL ends the list. */
typedef const ngx_svc_route_t *const  ngx_svc_resources_t;


/* A constraint, and the error that a client gets when it is violated. */

typedef struct {
    const char                *name;        /* NULL ends the table */
    ngx_svc_error_e            kind;
    const char                *detail;
} ngx_svc_constraint_t;


/*
 * A kind of credential: a bearer token, see ngx_svc_bearer.c, or what a surface
 * takes beside it.
 *
 * take looks for the credential in the headers, and sets sr->token_hash.
 * Returns NGX_OK; NGX_DECLINED with sr->error set; NGX_DONE when there is none;
 * or NGX_ERROR.
 *
 * call adds to sr->op the statements that find the credential, and that set the
 * tenant and, if the op writes, what the audit log reads.  All but the last one
 * are hidden.  Its first column is the tenant, NULL when the credential does
 * not do for the route; no row: the credential is not good at all.  The second
 * column says that the credential was last used over a minute ago.
 *
 * find adds the statements that find the credential to an op that may outlive
 * the request, with the digest in the op's pool.  The first column is the
 * tenant as above.
 *
 * refuse sets sr->error for a result without a tenant.
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
    ngx_str_t                  actor_type;  /* of its tokens, in the audit
                                               log */
    ngx_svc_resources_t       *resources;
    const ngx_svc_constraint_t *constraints;

    /* Writes an error's body.  member: what is wrong; or empty. */
    void                     (*error)(ngx_svc_json_writer_t *w,
                                      const ngx_svc_error_row_t *row,
                                      const ngx_str_t *detail,
                                      const ngx_str_t *member);

    /*
     * The credential of requests without an Authorization header, where this
     * surface is the configuration's "sessions"; or NULL.  Where there is one,
     * no cache may keep an answer of a route that is not public: caches do not
     * look at cookies.
     */
    const ngx_svc_credential_t  *session;

    /*
     * Adds headers when a request is refused before its route's prepare, mostly
     * by nginx itself.  When nginx answers 400, and sr->error is none, it may
     * set sr->error to what the client is told instead.  Returns NGX_OK or
     * NGX_ERROR.  Or NULL.
     */
    ngx_int_t                (*rejected)(ngx_svc_request_t *sr);
};


/* The prepare of a route that has none; another prepare may call it, too. */
NGX_SVC_API ngx_int_t ngx_svc_route_prepare(ngx_svc_request_t *sr);

/* The reply of a route that has none; another reply may call it, too. */
NGX_SVC_API ngx_int_t ngx_svc_route_reply(ngx_svc_request_t *sr);

/* Looks at the results of a route without a prepare, then calls its reply. */
NGX_SVC_API ngx_int_t ngx_svc_route_results(ngx_svc_request_t *sr);

/*
 * Returns the result of the last one of the route's statements that was called;
 * NULL: none was.  For a reply.
 */
NGX_SVC_API PGresult *ngx_svc_route_final(ngx_svc_request_t *sr);

/* Sends the answer that the route describes.  For a reply. */
NGX_SVC_API ngx_int_t ngx_svc_route_answer(ngx_svc_request_t *sr);

/* Sends the first row of res as the route describes it.  For a reply. */
NGX_SVC_API ngx_int_t ngx_svc_route_row(ngx_svc_request_t *sr, PGresult *res);

/*
 * Adds a statement with its parameters.  For a prepare.  body: the values of
 * the route's members, or NULL.  Returns NGX_OK, NGX_DECLINED with sr->error
 * set, or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_route_call(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *s, void *body);

/* 1 if the route has statements and no prepare. */
#define ngx_svc_route_runs(route)                                             \
    ((route)->prepare == NULL && (route)->statements[0])


#endif /* _NGX_SVC_ROUTE_H_INCLUDED_ */
