/*
 * AI agents, which are applications of the type "agent": what the routes of
 * theirs share.
 */

#ifndef _NGX_SVC_AGENT_H_INCLUDED_
#define _NGX_SVC_AGENT_H_INCLUDED_


#include "ngx_svc_agent_state.h"
#include "ngx_svc_application.h"
#include "ngx_svc_audit.h"
#include "ngx_svc_bind.h"


#define NGX_SVC_AGENT_AUDIENCES  100    /* of a policy */

#define NGX_SVC_NO_AGENT  "There is no agent with this clientId."


/*
 * SQL.  Of a row "a" of svc.application what its answer needs besides: "o", its
 * owner, "v", who reviewed it last, and "g", the tenant's settings; and the
 * members.  The identity may be of nothing but nulls.
 */

#define NGX_SVC_AGENT_OWNER                                                   \
    " LEFT JOIN LATERAL ("                                                    \
        NGX_SVC_ROW("k.id, k.user_name, k.display_name, k.status",            \
                    "svc.user_account", "a.owner_id") ") o ON true"

#define NGX_SVC_AGENT_JOINS                                                   \
    NGX_SVC_AGENT_OWNER                                                       \
    " LEFT JOIN LATERAL ("                                                    \
        NGX_SVC_ROW("k.id, k.user_name", "svc.user_account",                  \
                    "a.reviewed_by") ") v ON true"                            \
    " CROSS JOIN (SELECT review_interval_days * interval '24 hours' AS every" \
        " FROM svc.oauth_tenant WHERE tenant_id = " NGX_SVC_TENANT ") g"

#define NGX_SVC_AGENT_COLUMNS                                                 \
    "a.client_id AS \"clientId\", a.name, "                                   \
    NGX_SVC_AGENT_STATE("a", "o.status") " AS status,"                        \
    " a.enabled AS \"policy.enabled\","                                       \
    " a.max_token_ttl AS \"policy.maxTokenTtlSeconds\","                      \
    " array_to_json(a.allowed_scopes) AS \"policy.allowedScopes\","           \
    " array_to_json(a.allowed_audiences) AS \"policy.allowedAudiences\","     \
    " a.policy_set_at IS NULL AS \"policy.isDefault\","                       \
    " json_build_object('ownerId', o.id,"                                     \
        " 'owner', CASE WHEN o.id IS NOT NULL THEN json_build_object("        \
            "'id', o.id, 'email', o.user_name,"                               \
            " 'displayName', o.display_name) END,"                            \
        " 'expiresAt', " NGX_SVC_TIME_TEXT("a.expires_at") ") AS identity,"   \
    " CASE WHEN a.reviewed_at IS NULL THEN 'never'"                           \
        " WHEN a.reviewed_at + g.every <= now() THEN 'due'"                   \
        " ELSE 'current' END AS \"review.status\","                           \
    " a.reviewed_at AS \"review.lastReviewedAt\","                            \
    " CASE WHEN v.id IS NOT NULL THEN json_build_object('id', v.id,"          \
        " 'email', v.user_name) END AS \"review.reviewedBy\","                \
    " a.reviewed_at + g.every AS \"review.dueAt\", "                          \
    NGX_SVC_AGENT_ANOMALIES("a.client_id") " AS anomalies,"                   \
    " a.last_used_at AS \"lastUsedAt\","                                      \
    " a.secret_rotated_at AS \"secretRotatedAt\","                            \
    " a.created_at AS \"createdAt\", a.updated_at AS \"updatedAt\""

/* A CTE's body: the agent that $1 names. */

#define NGX_SVC_AGENT_NAMED                                                   \
    "SELECT a.* FROM svc.application a WHERE a.tenant_id = " NGX_SVC_TENANT   \
    " AND a.client_id = $1 AND a.type = 'agent'"

/* The user who asks; NULL of a token. */

#define NGX_SVC_AGENT_CALLER                                                  \
    "CASE WHEN current_setting('svc.actor_type', true) = 'user'"              \
    " THEN nullif(current_setting('svc.actor_id', true), '')::uuid END"


/* Answers of an agent that the path names, also behind what changes it. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agent_get;


/*
 * The body of a policy, of which all may be absent, and its check; keys: those
 * of allowedAudiences, in their order, of the request's pool.
 */

typedef struct {
    ngx_svc_value_t  enabled;
    ngx_svc_value_t  max_ttl;
    ngx_svc_value_t  scopes;
    ngx_svc_value_t  audiences;
    ngx_str_t        keys;          /* an array of SQL; no data: none */
} ngx_svc_agent_policy_t;

extern const ngx_svc_member_t  ngx_svc_agent_policy_members[];

ngx_int_t ngx_svc_agent_policy_check(ngx_svc_request_t *sr, void *body);
ngx_int_t ngx_svc_agent_bind_keys(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/*
 * SQL: two CTEs and their $1 to $9.  "o" is the agent, "n" its policy as it
 * would be: absent keeps, null clears.
 */

#define NGX_SVC_AGENT_POLICY                                                  \
    "o AS ("                                                                  \
        NGX_SVC_AGENT_NAMED                                                   \
    "), n AS ("                                                               \
        "SELECT coalesce($2::bool, o.enabled) AS enabled,"                    \
            " CASE WHEN $3 THEN $4::int4 ELSE o.max_token_ttl END"            \
                " AS max_token_ttl,"                                          \
            " CASE WHEN NOT $5 THEN o.allowed_scopes"                         \
                " WHEN $6::text IS NOT NULL THEN "                            \
                NGX_SVC_APPLICATION_SORTED("$6") " END AS allowed_scopes,"    \
            " CASE WHEN $7 THEN $8::text::text[]"                             \
                " ELSE o.allowed_audiences END AS allowed_audiences,"         \
            " CASE WHEN $7 THEN $9::text::text[]"                             \
                " ELSE o.allowed_audience_keys END AS allowed_audience_keys"  \
        " FROM o"                                                             \
    ")"

#define ngx_svc_agent_policy_params                                           \
    ngx_svc_param_application(0),                                             \
    ngx_svc_param_boolean(ngx_svc_agent_policy_t, enabled),                   \
    ngx_svc_param_given(ngx_svc_agent_policy_t, max_ttl),                     \
    ngx_svc_param_integer(ngx_svc_agent_policy_t, max_ttl),                   \
    ngx_svc_param_given(ngx_svc_agent_policy_t, scopes),                      \
    ngx_svc_param_strings(ngx_svc_agent_policy_t, scopes),                    \
    ngx_svc_param_given(ngx_svc_agent_policy_t, audiences),                   \
    ngx_svc_param_strings(ngx_svc_agent_policy_t, audiences),                 \
    ngx_svc_param_call(ngx_svc_agent_bind_keys)


#endif /* _NGX_SVC_AGENT_H_INCLUDED_ */
