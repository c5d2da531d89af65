/*
 * /Users/{id}, and creating one.
 */

#include "ngx_svc_scim.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_SCIM_CONFLICT   NGX_SVC_SCIM_NCOLUMNS   /* a verdict's column */


static ngx_int_t ngx_svc_scim_id(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);
static void ngx_svc_scim_create_committed(PGresult **results);
static ngx_int_t ngx_svc_scim_change(ngx_svc_request_t *sr,
    ngx_svc_scim_user_t *user);
static ngx_int_t ngx_svc_scim_not_found(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_send_changed(ngx_svc_request_t *sr,
    ngx_uint_t status);
static ngx_int_t ngx_svc_scim_send_user(ngx_svc_request_t *sr,
    ngx_uint_t status);


/*
 * A change comes as pairs: is the column to be set, and to what.  One
 * statement locks the row, writes it only if something differs, ends the
 * sessions of a user who may not have any, writes the audit event, and returns
 * the row as it now is.  What differs is told from the locked row: the UPDATE's
 * own WHERE sees the row of the statement's beginning first.  "active": true
 * does not revive a suspended user, whom an administrator has suspended.
 */

#define NGX_SVC_SCIM_SET(set, value, column)                                  \
    " CASE WHEN " set " THEN " value " ELSE " column " END AS " column

#define NGX_SVC_SCIM_CHANGED(column, name)                                    \
    " CASE WHEN u." column " IS DISTINCT FROM o." column                      \
    " THEN '" name "' END"

/*
 * A user who would not be unique is refused with the constraint's name in the
 * column behind the user's.  svc.user_conflict() is called for nobody else: two
 * sub-selects in its place would cost each create a tenth, and so would a join.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_get = {
    .name = "scim_get",
    .text =
        "SELECT " NGX_SVC_SCIM_COLUMNS
        " FROM svc.user_account WHERE id = $1",
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_create = {
    .name = "scim_create",
    .text =
        "WITH t AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS id"
        "), u AS ("
            "INSERT INTO svc.user_account (tenant_id, id, user_name,"
                " external_id, status, email_verified, source, first_name,"
                " last_name, display_name, title, department, locale)"
            " SELECT t.id, $1::uuid, $2, $3,"
                " CASE WHEN $4 THEN 'active' ELSE 'deactivated' END, true,"
                " 'scim', $5, $6, $7, $8, $9, $10"
            " FROM t WHERE t.id IS NOT NULL ON CONFLICT DO NOTHING RETURNING *"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " details)"
            " SELECT 'user.created', 'user', u.id::text, '{\"source\":\"scim\"}'"
            " FROM u"
        ")"
        " SELECT " NGX_SVC_SCIM_COLUMNS ", NULL, "
            NGX_SVC_EVENT_SUBSCRIBERS("user.created") " FROM u"
        " UNION ALL SELECT " NGX_SVC_SCIM_NO_USER ","
            " CASE WHEN current_setting('svc.tenant', true) <> '' THEN"
            " coalesce(svc.user_conflict($2, $3), 'user_account_user_name_key')"
            " END, NULL WHERE NOT EXISTS (SELECT FROM u)",
    .nparams = 10
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_scim_change = {
    .name = "scim_change",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.user_account WHERE id = $1 FOR UPDATE"
        "), n AS ("
            "SELECT id,"
            NGX_SVC_SCIM_SET("$2", "$3", "external_id") ","
            NGX_SVC_SCIM_SET("$4", "$5", "first_name") ","
            NGX_SVC_SCIM_SET("$6", "$7", "last_name") ","
            NGX_SVC_SCIM_SET("$8", "$9", "display_name") ","
            NGX_SVC_SCIM_SET("$10", "$11", "title") ","
            NGX_SVC_SCIM_SET("$12", "$13", "department") ","
            NGX_SVC_SCIM_SET("$14", "$15", "locale") ","
            " CASE WHEN $16 = 'deactivated'"
                " OR $16 = 'active' AND status = 'deactivated'"
                " THEN $16 ELSE status END AS status,"
            " CASE WHEN $2 AND $3 <> coalesce(external_id, '')"
                " THEN svc.user_conflict(NULL, $3) END AS taken"
            " FROM o"
        "), c AS ("
            "SELECT n.* FROM n, o WHERE n.taken IS NULL"
                " AND (n.external_id, n.first_name,"
                " n.last_name, n.display_name, n.title, n.department, n.locale,"
                " n.status) IS DISTINCT FROM (o.external_id, o.first_name,"
                " o.last_name, o.display_name, o.title, o.department, o.locale,"
                " o.status)"
        "), u AS ("
            "UPDATE svc.user_account a SET external_id = c.external_id,"
                " first_name = c.first_name, last_name = c.last_name,"
                " display_name = c.display_name, title = c.title,"
                " department = c.department, locale = c.locale,"
                " status = c.status, updated_at ="
                " greatest(now(), a.updated_at + interval '1 millisecond')"
            " FROM c WHERE a.id = $1 RETURNING a.*"
        "), s AS ("
            "UPDATE svc.session s SET ended_at = now()"
            " FROM n WHERE $16 = 'deactivated' AND n.taken IS NULL"
                " AND s.user_id = $1 AND s.ended_at IS NULL"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " details)"
            " SELECT CASE WHEN u.status = 'deactivated'"
                    " AND o.status <> 'deactivated'"
                    " THEN 'user.deactivated'"
                    " WHEN u.status = 'active' AND o.status = 'deactivated'"
                    " THEN 'user.reactivated' ELSE 'user.updated' END,"
                " 'user', u.id::text, jsonb_build_object('source', 'scim',"
                " 'changed', to_jsonb(array_remove(ARRAY["
                NGX_SVC_SCIM_CHANGED("external_id", "externalId") ","
                NGX_SVC_SCIM_CHANGED("first_name", "firstName") ","
                NGX_SVC_SCIM_CHANGED("last_name", "lastName") ","
                NGX_SVC_SCIM_CHANGED("display_name", "displayName") ","
                NGX_SVC_SCIM_CHANGED("title", "title") ","
                NGX_SVC_SCIM_CHANGED("department", "department") ","
                NGX_SVC_SCIM_CHANGED("locale", "locale") ","
                NGX_SVC_SCIM_CHANGED("status", "status")
                "], NULL)))"
            " FROM u JOIN o ON o.id = u.id"
        ")"
        " SELECT " NGX_SVC_SCIM_COLUMNS ", NULL FROM u"
        " UNION ALL SELECT " NGX_SVC_SCIM_COLUMNS ","
            " (SELECT taken FROM n)"
        " FROM o WHERE NOT EXISTS (SELECT FROM u)",
    .nparams = 16
};

ngx_svc_pg_statements_t  ngx_svc_scim_statements[] = {
    &ngx_svc_sql_scim_get,
    &ngx_svc_sql_scim_create,
    &ngx_svc_sql_scim_change,
    NULL
};


static ngx_int_t
ngx_svc_scim_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    return ngx_svc_param_uuid(sr, 0, call, "There is no user with this id.");
}


ngx_int_t
ngx_svc_scim_get_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_scim_mask(sr);

    return rc == NGX_OK
           ? ngx_svc_scim_id(sr, ngx_svc_pg_call(sr->op, &ngx_svc_sql_scim_get))
           : rc;
}


ngx_int_t
ngx_svc_scim_user_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_scim_send_user(sr, NGX_HTTP_OK);
}


ngx_int_t
ngx_svc_scim_create_prepare(ngx_svc_request_t *sr)
{
    u_char               *id;
    ngx_int_t             rc;
    ngx_svc_pg_call_t    *call;
    ngx_svc_scim_user_t   user;

    ngx_memzero(&user, sizeof(ngx_svc_scim_user_t));

    rc = ngx_svc_scim_mask(sr);

    if (rc == NGX_OK) {
        rc = ngx_svc_scim_user_create(sr->json, &user, &sr->error);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    id = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);
    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_scim_create);

    if (id == NULL || call == NULL
        || ngx_svc_uuid_new(id) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, id, NGX_SVC_UUID_LEN);
    ngx_svc_bind_value(call, &user.user_name);
    ngx_svc_bind_value(call, &user.external_id);
    ngx_svc_pg_bind_bool(call, !user.active.set || user.active.integer);
    ngx_svc_bind_value(call, &user.given_name);
    ngx_svc_bind_value(call, &user.family_name);
    ngx_svc_bind_value(call, &user.display_name);
    ngx_svc_bind_value(call, &user.title);
    ngx_svc_bind_value(call, &user.department);
    ngx_svc_bind_value(call, &user.locale);

    sr->op->committed = ngx_svc_scim_create_committed;

    return NGX_OK;
}


static void
ngx_svc_scim_create_committed(PGresult **results)
{
    PGresult         *res;
    ngx_svc_event_t   event;

    if (results == NULL) {
        ngx_svc_request_committed(NULL);
        return;
    }

    res = results[1];

    if (PQntuples(res) == 0 || PQgetisnull(res, 0, 0)) {
        return;
    }

    ngx_svc_request_committed(results);

    event.kind = NGX_SVC_EVENT_USER_CREATED;
    event.tenant = ngx_svc_pg_value(results[0], 0, 0);
    event.user = ngx_svc_pg_value(res, 0, 0);
    event.email = ngx_svc_pg_value(res, 0, 1);
    event.subscribers = ngx_svc_pg_value(res, 0, NGX_SVC_SCIM_CONFLICT + 1);

    ngx_svc_event_emit(&event);
}


ngx_int_t
ngx_svc_scim_create_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_scim_send_changed(sr, NGX_HTTP_CREATED);
}


ngx_int_t
ngx_svc_scim_replace_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t            rc;
    ngx_svc_scim_user_t  user;

    ngx_memzero(&user, sizeof(ngx_svc_scim_user_t));

    rc = ngx_svc_scim_mask(sr);

    if (rc == NGX_OK) {
        rc = ngx_svc_scim_user_replace(sr->json, &user, &sr->error);
    }

    return rc == NGX_OK ? ngx_svc_scim_change(sr, &user) : rc;
}


ngx_int_t
ngx_svc_scim_patch_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t            rc;
    ngx_svc_scim_user_t  user;

    ngx_memzero(&user, sizeof(ngx_svc_scim_user_t));

    rc = ngx_svc_scim_mask(sr);

    if (rc == NGX_OK) {
        rc = ngx_svc_scim_user_patch(sr->json, &user, &sr->error);
    }

    return rc == NGX_OK ? ngx_svc_scim_change(sr, &user) : rc;
}


ngx_int_t
ngx_svc_scim_delete_prepare(ngx_svc_request_t *sr)
{
    ngx_svc_scim_user_t  user;

    ngx_memzero(&user, sizeof(ngx_svc_scim_user_t));

    user.active.set = 1;

    return ngx_svc_scim_change(sr, &user);
}


static ngx_int_t
ngx_svc_scim_change(ngx_svc_request_t *sr, ngx_svc_scim_user_t *user)
{
    ngx_int_t           rc;
    ngx_uint_t          i;
    ngx_svc_value_t    *values[7];
    ngx_svc_pg_call_t  *call;

    static ngx_str_t    active = ngx_string("active");
    static ngx_str_t    deactivated = ngx_string("deactivated");

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_scim_change);

    rc = ngx_svc_scim_id(sr, call);
    if (rc != NGX_OK) {
        return rc;
    }

    /* in the order of the statement's parameters */

    values[0] = &user->external_id;
    values[1] = &user->given_name;
    values[2] = &user->family_name;
    values[3] = &user->display_name;
    values[4] = &user->title;
    values[5] = &user->department;
    values[6] = &user->locale;

    for (i = 0; i < 7; i++) {
        ngx_svc_pg_bind_bool(call, values[i]->set);
        ngx_svc_bind_value(call, values[i]);
    }

    if (user->active.set) {
        ngx_svc_pg_bind_str(call, user->active.integer ? &active
                                                       : &deactivated);
    } else {
        ngx_svc_pg_bind_str(call, NULL);
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_scim_change_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_scim_send_changed(sr, NGX_HTTP_OK);
}


ngx_int_t
ngx_svc_scim_delete_reply(ngx_svc_request_t *sr)
{
    if (PQntuples(sr->results[0]) == 0) {
        return ngx_svc_scim_not_found(sr);
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}


static ngx_int_t
ngx_svc_scim_not_found(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                        "There is no user with this id.");

    return ngx_svc_send_error(sr);
}


/* The user, or the verdict behind its columns. */

static ngx_int_t
ngx_svc_scim_send_changed(ngx_svc_request_t *sr, ngx_uint_t status)
{
    PGresult  *res;

    res = sr->results[0];

    if (PQntuples(res) && !PQgetisnull(res, 0, NGX_SVC_SCIM_CONFLICT)) {
        return ngx_svc_send_conflict(sr, PQgetvalue(res, 0,
                                                    NGX_SVC_SCIM_CONFLICT));
    }

    return ngx_svc_scim_send_user(sr, status);
}


/*
 * The user of the op's own statement, or 404.  Content-Location is what
 * meta.location is, also when that is left out (RFC 7643, 3.1), and so is the
 * Location of a new one (RFC 7644, 3.3).
 */

static ngx_int_t
ngx_svc_scim_send_user(ngx_svc_request_t *sr, ngx_uint_t status)
{
    PGresult               *res;
    ngx_str_t               location;
    ngx_svc_json_writer_t   w;

    res = sr->results[0];

    if (PQntuples(res) == 0) {
        return ngx_svc_scim_not_found(sr);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, NGX_SVC_SCIM_USER_SIZE)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_scim_user_write(&w, sr, res, 0, (uintptr_t) sr->data);

    if (ngx_svc_scim_location(sr, res, 0, &location) != NGX_OK
        || ngx_svc_add_header(sr->request, "Content-Location", &location)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send(sr, status, &w, status == NGX_HTTP_CREATED ? &location
                                                                   : NULL);
}
