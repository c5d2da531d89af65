/*
 * SQL: which password policy is that of a user: in each field what his groups
 * say, of several the strictest, and the tenant's where none says anything.
 */

#ifndef _NGX_SVC_PASSWORD_RULES_H_INCLUDED_
#define _NGX_SVC_PASSWORD_RULES_H_INCLUDED_


/* Of the tenant's row g, and the policies o of groups, which may be none. */

#define NGX_SVC_PASSWORD_RULE(strictest, column)                              \
    "coalesce(" strictest "(o." column "), g." column ")"

#define NGX_SVC_PASSWORD_RULE_AS(strictest, column)                           \
    NGX_SVC_PASSWORD_RULE(strictest, column) " AS " column

/* A password that never expires has the least strict of ages. */

#define NGX_SVC_PASSWORD_RULE_AGE                                             \
    "coalesce(min(nullif(o.max_age_days, 0)),"                                \
        " max(o.max_age_days), g.max_age_days)"


/* SQL: behind FROM, the policies of the groups of user u. */

#define NGX_SVC_PASSWORD_RULES_OF_USER                                        \
    "svc.group_member m"                                                      \
    " JOIN svc.group_password_policy o"                                       \
        " ON o.tenant_id = m.tenant_id AND o.group_id = m.group_id"           \
    " WHERE m.tenant_id = g.tenant_id AND m.user_id = u.id"

/* SQL: one row, of what a new password must be; from: the policies. */

#define NGX_SVC_PASSWORD_RULES(from)                                          \
    "(SELECT "                                                                \
        NGX_SVC_PASSWORD_RULE_AS("max", "min_length") ", "                    \
        NGX_SVC_PASSWORD_RULE_AS("max", "history_count") ", "                 \
        NGX_SVC_PASSWORD_RULE_AS("bool_or", "reject_breached") ", "           \
        NGX_SVC_PASSWORD_RULE_AS("bool_or", "reject_contextual") ", "         \
        NGX_SVC_PASSWORD_RULE_AS("bool_or", "require_lower") ", "             \
        NGX_SVC_PASSWORD_RULE_AS("bool_or", "require_upper") ", "             \
        NGX_SVC_PASSWORD_RULE_AS("bool_or", "require_digit") ", "             \
        NGX_SVC_PASSWORD_RULE_AS("bool_or", "require_symbol")                 \
        " FROM " from ")"

/* SQL: whether the password p of user u is too old. */

#define NGX_SVC_PASSWORD_EXPIRED                                              \
    "p.set_at + make_interval(days => nullif((SELECT "                        \
        NGX_SVC_PASSWORD_RULE_AGE " FROM " NGX_SVC_PASSWORD_RULES_OF_USER     \
        "), 0)) < now()"


#endif /* _NGX_SVC_PASSWORD_RULES_H_INCLUDED_ */
