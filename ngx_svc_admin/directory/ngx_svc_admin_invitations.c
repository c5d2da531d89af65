/*
 * /v1/admin/invitations: who is to become a member; it is accepted in
 * ngx_svc_admin_invitation_accept.c.
 */

#include "ngx_svc_admin_revision.h"
#include "ngx_svc_admin_secret.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_email.h"
#include "ngx_svc_notice.h"


#define NGX_SVC_ADMIN_INVITATIONS        1000   /* pending ones of a tenant */
#define NGX_SVC_ADMIN_INVITATION_GROUPS  100
#define NGX_SVC_ADMIN_INVITATION_DAYS    30
#define NGX_SVC_ADMIN_INVITATION_KEPT    "90 days"  /* when it is over */
#define NGX_SVC_ADMIN_INVITATION_PATH    "/invite"
#define NGX_SVC_ADMIN_NO_INVITATION      "There is no invitation with this id."


typedef struct {
    ngx_svc_value_t  email;
    ngx_svc_value_t  role;
    ngx_svc_value_t  group_ids;
    ngx_svc_value_t  days;
} ngx_svc_admin_invitation_t;


static ngx_int_t ngx_svc_admin_invitation_group(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_invitation_bind_groups(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_invitation_bind_hash(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static void ngx_svc_admin_invitation_url(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);
static void ngx_svc_admin_invitation_mail(ngx_svc_request_t *sr,
    PGresult *res, const ngx_str_t *url);


static const char *const  ngx_svc_admin_invitation_statuses[] = {
    "pending", "accepted", "expired", "revoked", NULL
};

static const ngx_svc_member_t  ngx_svc_admin_invitation_element = {
    .name = ngx_string("groupId"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_admin_invitation_group
};

static const ngx_svc_member_t  ngx_svc_admin_invitation_members[] = {

    { .name = ngx_string("email"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .check = ngx_svc_email_check,
      .offset = offsetof(ngx_svc_admin_invitation_t, email) },

    { .name = ngx_string("role"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_ROLE_MAX,
      .offset = offsetof(ngx_svc_admin_invitation_t, role) },

    { .name = ngx_string("groupIds"),
      .type = NGX_SVC_T_ARRAY,
      .max = NGX_SVC_ADMIN_INVITATION_GROUPS,
      .element = &ngx_svc_admin_invitation_element,
      .offset = offsetof(ngx_svc_admin_invitation_t, group_ids) },

    { .name = ngx_string("expiresInDays"),
      .type = NGX_SVC_T_INTEGER,
      .min = 1,
      .max = NGX_SVC_ADMIN_INVITATION_DAYS,
      .offset = offsetof(ngx_svc_admin_invitation_t, days) },

    ngx_svc_null_member
};


#define NGX_SVC_ADMIN_INVITATION_OPEN                                         \
    "i.accepted_at IS NULL AND i.revoked_at IS NULL"

#define NGX_SVC_ADMIN_INVITATION_STATUS                                       \
    "CASE WHEN i.accepted_at IS NOT NULL THEN 'accepted'"                     \
    " WHEN i.revoked_at IS NOT NULL THEN 'revoked'"                           \
    " WHEN i.expires_at <= now() THEN 'expired' ELSE 'pending' END"

#define NGX_SVC_ADMIN_INVITATION_COLUMNS                                      \
    "i.id, i.email, i.role, array_to_json(i.group_ids) AS \"groupIds\", "     \
    NGX_SVC_ADMIN_INVITATION_STATUS " AS status,"                             \
    " i.invited_by_type AS \"invitedBy.type\","                               \
    " i.invited_by_id AS \"invitedBy.id\","                                   \
    " i.invited_by_name AS \"invitedBy.name\","                               \
    " i.created_at AS \"createdAt\", i.expires_at AS \"expiresAt\""

/* Of one that has been made, or renewed: what its mail has. */

#define NGX_SVC_ADMIN_INVITATION_MAILED                                       \
    ", i.email AS _to,"                                                       \
    " ceil(extract(epoch FROM i.expires_at))::bigint AS _until,"              \
    " (SELECT k.slug FROM svc.tenant k WHERE k.id = " NGX_SVC_TENANT ")"      \
        " AS _of, m.*"

#define NGX_SVC_ADMIN_INVITATION_MAIL(base)                                   \
    " LEFT JOIN LATERAL (SELECT " NGX_SVC_NOTICE_TENANT(base)                 \
        " FROM svc.tenant t WHERE t.id = " NGX_SVC_TENANT                     \
        " AND " base "::text IS NOT NULL) m ON i.id IS NOT NULL"

#define NGX_SVC_ADMIN_INVITATION_LISTED                                       \
    " FROM svc.invitation i WHERE i.tenant_id = " NGX_SVC_TENANT              \
    " AND coalesce(" NGX_SVC_ADMIN_INVITATION_STATUS " = $1, true)"

/* A verdict: whoever is invited into groups is in them as if he were added. */

#define NGX_SVC_ADMIN_INVITATION_GROUPED(groups)                              \
    " WHEN " groups " <> '{}' AND 'groups:manage'"                            \
        " <> ALL (" NGX_SVC_CALLER_PERMISSIONS ") THEN 'grouped'"

/* Whether there is no place for one more. */

#define NGX_SVC_ADMIN_INVITATION_FULL                                         \
    "(SELECT count(*) FROM svc.invitation i"                                  \
        " WHERE i.tenant_id = " NGX_SVC_TENANT                                \
        " AND " NGX_SVC_ADMIN_INVITATION_OPEN " AND i.expires_at > now())"    \
    " >= " ngx_value(NGX_SVC_ADMIN_INVITATIONS)

/*
 * Of the key of an address: whose it is, and the invitation that is open, by
 * their keys, as NGX_SVC_ROW() has them.
 */

#define NGX_SVC_ADMIN_INVITATION_USER(key)                                    \
    "(SELECT a.id FROM svc.user_account a"                                    \
        " WHERE a.tenant_id = " NGX_SVC_TENANT                                \
        " AND a.user_name_key BETWEEN " key " AND " key                       \
        " ORDER BY a.user_name_key LIMIT 1)"

#define NGX_SVC_ADMIN_INVITATION_FOR(key, more)                               \
    "(SELECT i.id FROM svc.invitation i"                                      \
        " WHERE i.tenant_id = " NGX_SVC_TENANT                                \
        " AND i.email_key BETWEEN " key " AND " key                           \
        " AND " NGX_SVC_ADMIN_INVITATION_OPEN more                            \
        " ORDER BY i.email_key LIMIT 1)"

#define NGX_SVC_ADMIN_INVITATION_VERDICTS                                     \
    NGX_SVC_ADMIN_ROLE_VERDICTS,                                              \
    NGX_SVC_ADMIN_TOKEN_VERDICT,                                              \
    { "grouped", NGX_SVC_E_FORBIDDEN,                                         \
      "An invitation into groups needs the permission \"groups:manage\", as" \
      " adding a member to them does." },                                     \
    { "email", NGX_SVC_E_EMAIL_TAKEN,                                         \
      "A user with this e-mail address exists already." },                    \
    { "full", NGX_SVC_E_LIMIT_EXCEEDED,                                       \
      "The tenant has " ngx_value(NGX_SVC_ADMIN_INVITATIONS)                  \
      " pending invitations: revoke one." }


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_invitations_total = {
    .name = "admin_invitations_total",
    .text = "SELECT count(*)" NGX_SVC_ADMIN_INVITATION_LISTED,
    NGX_SVC_PARAMS(ngx_svc_param_query_word("status",
                                        ngx_svc_admin_invitation_statuses))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_invitations_list = {
    .name = "admin_invitations_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_INVITATION_COLUMNS
        NGX_SVC_ADMIN_INVITATION_LISTED
        " ORDER BY i.created_at DESC, i.id DESC"
        " LIMIT $2::int4 OFFSET $3::int4",
    NGX_SVC_PARAMS(ngx_svc_param_query_word("status",
                                        ngx_svc_admin_invitation_statuses),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

/*
 * Of those that are over some of the oldest; and of this address one that has
 * expired, which is in the way.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_invitations_expire = {
    .name = "admin_invitations_expire",
    .text =
        "DELETE FROM svc.invitation d WHERE d.tenant_id = " NGX_SVC_TENANT
        " AND d.id = ANY (ARRAY("
            "SELECT i.id FROM svc.invitation i"
            " WHERE i.tenant_id = " NGX_SVC_TENANT
                " AND i.created_at < now() - interval '"
                    NGX_SVC_ADMIN_INVITATION_KEPT "'"
                " AND " NGX_SVC_ADMIN_INVITATION_STATUS " <> 'pending'"
            " ORDER BY i.created_at LIMIT 100"
        ") || ARRAY(SELECT "
            NGX_SVC_ADMIN_INVITATION_FOR("(SELECT svc.address_key($1))",
                                         " AND i.expires_at <= now()") "))",
    NGX_SVC_PARAMS(ngx_svc_param_text(ngx_svc_admin_invitation_t, email))
};

/* Roles, and invitations, stay as they are while svc.governance is locked. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_invitations_create = {
    .name = "admin_invitations_create",
    .text =
        "WITH n AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS tenant,"
                " CASE WHEN NOT " NGX_SVC_ADMIN_ROLE_KNOWN("$4")
                    " THEN 'unknown ' || $4"
                NGX_SVC_ADMIN_ROLE_REFUSED("$4")
                NGX_SVC_ADMIN_INVITATION_GROUPED("$5::text")
                " WHEN x.id IS NOT NULL THEN 'group ' || x.id"
                " WHEN " NGX_SVC_ADMIN_INVITATION_USER(
                    "(SELECT svc.address_key($3))") " IS NOT NULL THEN 'email'"
                " WHEN " NGX_SVC_ADMIN_INVITATION_FOR(
                    "(SELECT svc.address_key($3))", "")
                    " IS NOT NULL THEN 'pending'"
                " WHEN " NGX_SVC_ADMIN_INVITATION_FULL " THEN 'full'"
                " END AS verdict"
            " FROM (VALUES (1)) o LEFT JOIN ("
                "SELECT g.id FROM unnest($5::text::uuid[]) g (id) WHERE ("
                    NGX_SVC_ROW("true", "svc.user_group", "g.id")
                    ") IS NULL LIMIT 1) x ON true"
        "), i AS ("
            "INSERT INTO svc.invitation AS i (tenant_id, id, token_hash, email,"
                " email_key, role, group_ids, days, expires_at)"
            " SELECT n.tenant, $1::uuid, $2::bytea, $3,"
                " svc.address_key($3), $4,"
                " ARRAY(SELECT DISTINCT g.id"
                    " FROM unnest($5::text::uuid[]) g (id)),"
                " coalesce($6::int4, 7),"
                " now() + coalesce($6::int4, 7) * interval '24 hours'"
            " FROM n WHERE n.tenant IS NOT NULL AND n.verdict IS NULL"
            " RETURNING i.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_INVITATION_CREATED, "i.id::text", "NULL",
                "jsonb_build_object('role', i.role, 'groupIds',"
                    " to_jsonb(i.group_ids))", "FROM i")
        ")"
        " SELECT n.verdict AS _verdict, " NGX_SVC_ADMIN_INVITATION_COLUMNS
            NGX_SVC_ADMIN_INVITATION_MAILED
        " FROM n LEFT JOIN i ON true" NGX_SVC_ADMIN_INVITATION_MAIL("$7"),
    NGX_SVC_PARAMS(ngx_svc_param_new_id(),
                   ngx_svc_param_call(ngx_svc_admin_invitation_bind_hash),
                   ngx_svc_param_text(ngx_svc_admin_invitation_t, email),
                   ngx_svc_param_text(ngx_svc_admin_invitation_t, role),
                   ngx_svc_param_call(ngx_svc_admin_invitation_bind_groups),
                   ngx_svc_param_integer(ngx_svc_admin_invitation_t, days),
                   ngx_svc_param_notice()),
    NGX_SVC_VERDICTS(
        NGX_SVC_ADMIN_INVITATION_VERDICTS,
        { "group", NGX_SVC_E_INVALID_VALUE,
          "\"groupIds\" must be ids of groups: there is no group %V." },
        { "pending", NGX_SVC_E_CONFLICT,
          "This address has been invited already: send that invitation again,"
          " or revoke it." })
};

/* Whoever gets a new link to give away might as well have invited. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_invitations_resend = {
    .name = "admin_invitations_resend",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.invitation WHERE tenant_id = " NGX_SVC_TENANT
                " AND id = $1 FOR UPDATE"
        "), c AS ("
            "SELECT CASE" NGX_SVC_ADMIN_ROLE_REFUSED("o.role")
                NGX_SVC_ADMIN_INVITATION_GROUPED("o.group_ids")
                " WHEN o.accepted_at IS NOT NULL THEN 'over accepted'"
                " WHEN o.revoked_at IS NOT NULL THEN 'over revoked'"
                " WHEN " NGX_SVC_ADMIN_INVITATION_USER("o.email_key")
                    " IS NOT NULL THEN 'email'"
                " WHEN o.expires_at <= now() AND "
                    NGX_SVC_ADMIN_INVITATION_FULL " THEN 'full'"
                " END AS verdict FROM o"
        "), i AS ("
            "UPDATE svc.invitation i SET token_hash = $2::bytea,"
                " expires_at = now() + i.days * interval '24 hours'"
            " FROM c WHERE i.tenant_id = " NGX_SVC_TENANT
                " AND i.id = $1 AND c.verdict IS NULL RETURNING i.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_INVITATION_RESENT, "i.id::text", "NULL",
                          "'{}'", "FROM i")
        ")"
        " SELECT c.verdict AS _verdict, " NGX_SVC_ADMIN_INVITATION_COLUMNS
            NGX_SVC_ADMIN_INVITATION_MAILED
        " FROM c LEFT JOIN i ON true" NGX_SVC_ADMIN_INVITATION_MAIL("$3"),
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_INVITATION),
                   ngx_svc_param_call(ngx_svc_admin_invitation_bind_hash),
                   ngx_svc_param_notice()),
    NGX_SVC_VERDICTS(
        NGX_SVC_ADMIN_INVITATION_VERDICTS,
        { "over", NGX_SVC_E_CONFLICT,
          "The invitation has been %V: make another one." }),
    .missing = NGX_SVC_ADMIN_NO_INVITATION
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_invitations_revoke = {
    .name = "admin_invitations_revoke",
    .text =
        "WITH o AS ("
            "SELECT id, accepted_at FROM svc.invitation"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1 FOR UPDATE"
        "), i AS ("
            "UPDATE svc.invitation i SET revoked_at = now()"
            " WHERE i.tenant_id = " NGX_SVC_TENANT
                " AND i.id = (SELECT o.id FROM o WHERE o.accepted_at IS NULL)"
                " AND i.revoked_at IS NULL RETURNING i.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_INVITATION_REVOKED, "i.id::text", "NULL",
                          "'{}'", "FROM i")
        ")"
        " SELECT CASE WHEN o.accepted_at IS NOT NULL THEN 'over' END"
            " AS _verdict FROM o",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_INVITATION)),
    NGX_SVC_VERDICTS(
        { "over", NGX_SVC_E_CONFLICT,
          "The invitation has been accepted: the account is a member's." }),
    .missing = NGX_SVC_ADMIN_NO_INVITATION
};


const ngx_svc_route_t  ngx_svc_admin_invitations[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/invitations"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .statements = { &ngx_svc_sql_admin_invitations_total,
                      &ngx_svc_sql_admin_invitations_list },
      .list = "invitations",
      .total = &ngx_svc_sql_admin_invitations_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/invitations"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_invitation_members,
      .body_size = sizeof(ngx_svc_admin_invitation_t),
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_invitations_expire,
                      &ngx_svc_sql_admin_invitations_create },
      .status = NGX_HTTP_CREATED,
      .more = ngx_svc_admin_invitation_url },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/invitations/*/resend"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_invitations_resend },
      .more = ngx_svc_admin_invitation_url },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/invitations/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_invitations_revoke },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_invitation_group(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_admin_id_exact(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" is no group's id.", path);
}


static ngx_int_t
ngx_svc_admin_invitation_bind_groups(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    cJSON                       *json;
    ngx_svc_admin_invitation_t  *invitation = body;

    json = invitation->group_ids.json;

    return ngx_svc_admin_bind_ids(sr, call, json ? json->child : NULL,
                                  json ? cJSON_GetArraySize(json) : 0);
}


/* Makes the token, which is sr->data until the answer. */

static ngx_int_t
ngx_svc_admin_invitation_bind_hash(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_secret_t  *secret;

    secret = ngx_svc_admin_secret_new(sr, "");
    if (secret == NULL) {
        return NGX_ERROR;
    }

    sr->data = secret;

    ngx_svc_pg_bind(call, secret->hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


/* The link, of an invitation that is committed; and its mail. */

static void
ngx_svc_admin_invitation_url(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    PGresult                *res;
    ngx_str_t                url, tenant;
    ngx_svc_admin_secret_t  *secret;

    secret = sr->data;
    res = ngx_svc_route_final(sr);
    tenant = ngx_svc_row_value(res, 0, "_of");

    if (ngx_svc_base_url_page(sr, NGX_SVC_ADMIN_INVITATION_PATH, &tenant,
                              "#token=", &secret->text, &url)
        != NGX_OK)
    {
        w->failed = 1;
        return;
    }

    ngx_svc_json_secret(w, "inviteUrl", url.data, url.len);

    ngx_svc_admin_invitation_mail(sr, res, &url);
}


/*
 * Whoever invites has the link, too: nothing waits for a mail, or needs it.  Of
 * who is invited no language is known: it is that of who invites.
 */

static void
ngx_svc_admin_invitation_mail(ngx_svc_request_t *sr, PGresult *res,
    const ngx_str_t *url)
{
    ngx_str_t       until;
    ngx_svc_mail_t  mail;

    if (ngx_svc_notice_read(&mail, res) != NGX_OK
        || ngx_svc_language(sr, &mail.locale) != NGX_OK)
    {
        return;
    }

    until = ngx_svc_row_value(res, 0, "_until");

    mail.kind = NGX_SVC_MAIL_INVITE;
    mail.not_after = ngx_atotm(until.data, until.len);
    mail.link = *url;

    ngx_svc_mail_tell(&mail);
}
