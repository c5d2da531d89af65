/*
 * Audit events, in the transaction of the change that they tell of.
 */

#ifndef _NGX_SVC_AUDIT_H_INCLUDED_
#define _NGX_SVC_AUDIT_H_INCLUDED_


/*
 * The actions, and the type of what each is done to, sorted; what svcctl alone
 * writes is here too.
 */

#define NGX_SVC_A_ACCESS_POLICY_RESTORED(_)                                   \
    _("access_policy.restored", "accessPolicy")
#define NGX_SVC_A_ACCESS_POLICY_UPDATED(_)                                    \
    _("access_policy.updated", "accessPolicy")

#define NGX_SVC_A_AGENT_ANOMALY_ACKNOWLEDGED(_)                               \
    _("agent.anomaly_acknowledged", "agent")
#define NGX_SVC_A_AGENT_ANOMALY_RAISED(_)  _("agent.anomaly_raised", "agent")
#define NGX_SVC_A_AGENT_IDENTITY_UPDATED(_)                                   \
    _("agent.identity_updated", "agent")
#define NGX_SVC_A_AGENT_POLICY_RESET(_)  _("agent.policy_reset", "agent")
#define NGX_SVC_A_AGENT_POLICY_UPDATED(_)  _("agent.policy_updated", "agent")
#define NGX_SVC_A_AGENT_REVIEWED(_)  _("agent.reviewed", "agent")
#define NGX_SVC_A_AGENT_SECRET_ROTATED(_)  _("agent.secret_rotated", "agent")
#define NGX_SVC_A_AGENT_SETTINGS_UPDATED(_)                                   \
    _("agent.settings_updated", "agentSettings")

#define NGX_SVC_A_API_TOKEN_CREATED(_)  _("api_token.created", "apiToken")
#define NGX_SVC_A_API_TOKEN_REVOKED(_)  _("api_token.revoked", "apiToken")

#define NGX_SVC_A_APPLICATION_CREATED(_)                                      \
    _("application.created", "application")
#define NGX_SVC_A_APPLICATION_DELETED(_)                                      \
    _("application.deleted", "application")
#define NGX_SVC_A_APPLICATION_SECRET_ROTATED(_)                               \
    _("application.secret_rotated", "application")
#define NGX_SVC_A_APPLICATION_UPDATED(_)                                      \
    _("application.updated", "application")

#define NGX_SVC_A_AUDIT_EXPORTED(_)  _("audit.exported", "")

#define NGX_SVC_A_CONFIG_APPLIED(_)  _("config.applied", "config")

#define NGX_SVC_A_CONSENT_GRANTED(_)  _("consent.granted", "application")
#define NGX_SVC_A_CONSENT_REVOKED(_)  _("consent.revoked", "application")

#define NGX_SVC_A_DOMAIN_ADDED(_)  _("domain.added", "domain")
#define NGX_SVC_A_DOMAIN_REMOVED(_)  _("domain.removed", "domain")
#define NGX_SVC_A_DOMAIN_VERIFIED(_)  _("domain.verified", "domain")

#define NGX_SVC_A_EMAIL_CHANGED(_)  _("email.changed", "user")
#define NGX_SVC_A_EMAIL_VERIFIED(_)  _("email.verified", "user")

#define NGX_SVC_A_GROUP_APP_ADDED(_)  _("group.app_added", "group")
#define NGX_SVC_A_GROUP_APP_REMOVED(_)  _("group.app_removed", "group")
#define NGX_SVC_A_GROUP_CREATED(_)  _("group.created", "group")
#define NGX_SVC_A_GROUP_DELETED(_)  _("group.deleted", "group")
#define NGX_SVC_A_MEMBER_ADDED(_)  _("group.member_added", "group")
#define NGX_SVC_A_MEMBER_REMOVED(_)  _("group.member_removed", "group")
#define NGX_SVC_A_GROUP_UPDATED(_)  _("group.updated", "group")

#define NGX_SVC_A_GROUP_PASSWORD_CREATED(_)                                   \
    _("group_password_policy.created", "groupPasswordPolicy")
#define NGX_SVC_A_GROUP_PASSWORD_DELETED(_)                                   \
    _("group_password_policy.deleted", "groupPasswordPolicy")
#define NGX_SVC_A_GROUP_PASSWORD_UPDATED(_)                                   \
    _("group_password_policy.updated", "groupPasswordPolicy")

#define NGX_SVC_A_INCIDENT_ACKNOWLEDGED(_)                                    \
    _("incident.acknowledged", "incident")
#define NGX_SVC_A_INCIDENT_CREATED(_)  _("incident.created", "incident")
#define NGX_SVC_A_INVITATION_ACCEPTED(_)  _("invitation.accepted", "invitation")
#define NGX_SVC_A_INVITATION_CREATED(_)  _("invitation.created", "invitation")
#define NGX_SVC_A_INVITATION_RESENT(_)  _("invitation.resent", "invitation")
#define NGX_SVC_A_INVITATION_REVOKED(_)  _("invitation.revoked", "invitation")

#define NGX_SVC_A_IP_BLOCK_CREATED(_)  _("ip_block.created", "ipBlock")
#define NGX_SVC_A_IP_BLOCK_DELETED(_)  _("ip_block.deleted", "ipBlock")

#define NGX_SVC_A_LDAP_DELETED(_)  _("ldap.deleted", "ldap")
#define NGX_SVC_A_LDAP_UPDATED(_)  _("ldap.updated", "ldap")

#define NGX_SVC_A_LOGO_DELETED(_)  _("logo.deleted", "tenant")
#define NGX_SVC_A_LOGO_UPLOADED(_)  _("logo.uploaded", "tenant")

#define NGX_SVC_A_MAIL_FAILED(_)  _("mail.failed", "mail")

#define NGX_SVC_A_TENANT_MEMBER_REMOVED(_)  _("member.removed", "user")
#define NGX_SVC_A_TENANT_MEMBER_UPDATED(_)  _("member.updated", "user")

#define NGX_SVC_A_MFA_CHALLENGE_FAILED(_)  _("mfa.challenge_failed", "user")
#define NGX_SVC_A_MFA_FACTOR_ADDED(_)  _("mfa.factor_added", "user")
#define NGX_SVC_A_MFA_FACTOR_REMOVED(_)  _("mfa.factor_removed", "user")
#define NGX_SVC_A_MFA_FACTOR_UPDATED(_)  _("mfa.factor_updated", "user")
#define NGX_SVC_A_MFA_CODES_CREATED(_)                                        \
    _("mfa.recovery_codes_created", "user")
#define NGX_SVC_A_MFA_RESET(_)  _("mfa.reset", "user")

#define NGX_SVC_A_OAUTH_GRANT_REVOKED(_)                                      \
    _("oauth.grant_revoked", "grant")
#define NGX_SVC_A_OAUTH_KEY_REVOKED(_)  _("oauth.key_revoked", "oauthKey")
#define NGX_SVC_A_OAUTH_KEY_ROTATED(_)  _("oauth.key_rotated", "oauthKey")
#define NGX_SVC_A_OAUTH_SETTINGS_UPDATED(_)                                   \
    _("oauth.settings_updated", "oauthSettings")

#define NGX_SVC_A_PASSWORD_CHANGED(_)  _("password.changed", "user")
#define NGX_SVC_A_PASSWORD_RESET(_)  _("password.reset", "user")
#define NGX_SVC_A_PASSWORD_RESET_REQUESTED(_)                                 \
    _("password.reset_requested", "user")

#define NGX_SVC_A_PASSWORD_UPDATED(_)                                         \
    _("password_policy.updated", "passwordPolicy")

#define NGX_SVC_A_RATE_LIMIT_EXCEEDED(_)  _("rate_limit.exceeded", "")

#define NGX_SVC_A_RISK_UPDATED(_)  _("risk_policy.updated", "riskPolicy")

#define NGX_SVC_A_ROLE_CREATED(_)  _("role.created", "role")
#define NGX_SVC_A_ROLE_DELETED(_)  _("role.deleted", "role")
#define NGX_SVC_A_ROLE_UPDATED(_)  _("role.updated", "role")

#define NGX_SVC_A_SAML_UPDATED(_)  _("saml.updated", "saml")

#define NGX_SVC_A_SCIM_SYNCED(_)  _("scim.synced", "scimTarget")
#define NGX_SVC_A_SCIM_TARGET_CREATED(_)                                      \
    _("scim.target_created", "scimTarget")
#define NGX_SVC_A_SCIM_TARGET_DELETED(_)                                      \
    _("scim.target_deleted", "scimTarget")
#define NGX_SVC_A_SCIM_TARGET_HELD(_)  _("scim.target_held", "scimTarget")
#define NGX_SVC_A_SCIM_TARGET_UPDATED(_)                                      \
    _("scim.target_updated", "scimTarget")
#define NGX_SVC_A_SCIM_TOKEN_CREATED(_)  _("scim.token_created", "scimToken")
#define NGX_SVC_A_SCIM_TOKEN_REVOKED(_)  _("scim.token_revoked", "scimToken")
#define NGX_SVC_A_SCIM_USER_FAILED(_)  _("scim.user_failed", "user")

#define NGX_SVC_A_SESSION_REVOKED(_)  _("session.revoked", "session")

#define NGX_SVC_A_SOCIAL_CREATED(_)  _("social.created", "social")
#define NGX_SVC_A_SOCIAL_DELETED(_)  _("social.deleted", "social")

#define NGX_SVC_A_TENANT_CREATED(_)  _("tenant.created", "tenant")
#define NGX_SVC_A_TENANT_UPDATED(_)  _("tenant.updated", "tenant")

#define NGX_SVC_A_USER_CREATED(_)  _("user.created", "user")
#define NGX_SVC_A_USER_DEACTIVATED(_)  _("user.deactivated", "user")
#define NGX_SVC_A_USER_DELETED(_)  _("user.deleted", "user")
#define NGX_SVC_A_USER_LOCKED(_)  _("user.locked", "user")
#define NGX_SVC_A_USER_LOGGED_OUT(_)  _("user.logged_out", "user")
#define NGX_SVC_A_USER_LOGIN(_)  _("user.login", "user")
#define NGX_SVC_A_USER_LOGIN_FAILED(_)  _("user.login_failed", "user")
#define NGX_SVC_A_USER_REACTIVATED(_)  _("user.reactivated", "user")
#define NGX_SVC_A_USER_SUSPENDED(_)  _("user.suspended", "user")
#define NGX_SVC_A_USER_UNLOCKED(_)  _("user.unlocked", "user")
#define NGX_SVC_A_USER_UPDATED(_)  _("user.updated", "user")

#define NGX_SVC_A_WEBHOOK_CREATED(_)  _("webhook.created", "webhook")
#define NGX_SVC_A_WEBHOOK_DELETED(_)  _("webhook.deleted", "webhook")
#define NGX_SVC_A_WEBHOOK_FAILED(_)  _("webhook.delivery_failed", "webhook")
#define NGX_SVC_A_WEBHOOK_TESTED(_)  _("webhook.tested", "webhook")
#define NGX_SVC_A_WEBHOOK_UPDATED(_)  _("webhook.updated", "webhook")


/*
 * SQL: an INSERT, most often a CTE's body.  action: one of those above; id,
 * name and details: expressions, a text, a text and a JSON object; from: all
 * that follows the list of a SELECT: an event for each row.
 */

#define NGX_SVC_AUDIT(action, id, name, details, from)                        \
    NGX_SVC_AUDIT_AS(action(NGX_SVC_AUDIT_BOTH), id, name, details, from)

/* Likewise, of what did not succeed. */

#define NGX_SVC_AUDIT_FAILURE(action, id, name, details, from)                \
    NGX_SVC_AUDIT_INTO("outcome, ")                                           \
    NGX_SVC_AUDIT_ROWS("'failure', " action(NGX_SVC_AUDIT_BOTH), id, name,    \
                       details, from)

/* Likewise; action: an expression, a comma, and the type. */

#define NGX_SVC_AUDIT_AS(action, id, name, details, from)                     \
    NGX_SVC_AUDIT_INTO("")                                                    \
    NGX_SVC_AUDIT_ROWS(action, id, name, details, from)

/*
 * Behind one of those: the events that follow, in this order, as that of two
 * INSERTs is not promised.  The details of one need a cast to jsonb.
 */

#define NGX_SVC_AUDIT_THEN(action, id, name, details, from)                   \
    " UNION ALL"                                                              \
    NGX_SVC_AUDIT_ROWS(action(NGX_SVC_AUDIT_BOTH), id, name, details, from)

#define NGX_SVC_AUDIT_INTO(more)                                              \
    "INSERT INTO svc.audit_event (" more "action, target_type, target_id,"    \
        " target_name, details)"

#define NGX_SVC_AUDIT_ROWS(action, id, name, details, from)                   \
    " SELECT " action ", " id ", " name ", " details " " from

#define NGX_SVC_AUDIT_BOTH(action, target)  "'" action "', '" target "'"

/* The same of an action that is done to nothing. */
#define NGX_SVC_AUDIT_ALONE(action, target)  "'" action "', NULL"

/* SQL: an action's name alone, as in NGX_SVC_A_ROLE_UPDATED(NGX_SVC_..). */
#define NGX_SVC_AUDIT_NAME(action, target)  "'" action "'"
/* Its target's type alone. */
#define NGX_SVC_AUDIT_TARGET(action, target)  "'" target "'"

/*
 * SQL: columns in front of the others, for NGX_SVC_AUDIT_INTO(), and what they
 * have, for NGX_SVC_AUDIT_ROWS(), of a route with NGX_SVC_ROUTE_AUDITS: whose
 * event it is, who did it, from where.  tenant: an expression; type: that of
 * the actor; ip, agent, id: the parameters of ngx_svc_bind.h of these names.
 * Else settings have all that, each of which is dearer than a value.
 */

#define NGX_SVC_AUDIT_TOKEN_COLUMNS                                           \
    "tenant_id, actor_type, actor_id, actor_name, ip, user_agent, request_id, "

#define NGX_SVC_AUDIT_TOKEN(tenant, type, ip, agent, id)                      \
    tenant ", '" type "', left(current_setting('svc.token', true), 36),"      \
    " substr(current_setting('svc.token', true), 38),"                        \
    " " ip "::text::inet, " agent "::text, " id "::text, "

/*
 * SQL: the details of a change: the names of the members that differ in the new
 * row "u" and the old one "o".  differ: NGX_SVC_DIFFERS() with commas between.
 */

#define NGX_SVC_AUDIT_CHANGED(differ)                                         \
    "jsonb_build_object('changed', to_jsonb("                                 \
        NGX_SVC_AUDIT_MEMBERS(differ) "))"

/* The array of the names. */
#define NGX_SVC_AUDIT_MEMBERS(differ)                                         \
    "array_remove(ARRAY[" differ "], NULL)"

#define NGX_SVC_DIFFERS(column, name)                                         \
    "CASE WHEN u." column " IS DISTINCT FROM o." column                       \
    " THEN '" name "' END"


#endif /* _NGX_SVC_AUDIT_H_INCLUDED_ */
