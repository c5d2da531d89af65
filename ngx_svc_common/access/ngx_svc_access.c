/*
 * Parses access policies from JSON.
 */

#include "ngx_svc_access_policy.h"
#include "ngx_svc_access_compile.h"
#include "ngx_svc_access_window.h"


typedef struct {
    ngx_svc_value_t  rules;
    ngx_svc_value_t  action;
} ngx_svc_access_values_t;

typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  enabled;
    ngx_svc_value_t  action;
    ngx_svc_value_t  networks;
    ngx_svc_value_t  countries;
    ngx_svc_value_t  windows;
} ngx_svc_access_rule_values_t;


static ngx_int_t ngx_svc_access_rules(const ngx_svc_access_parse_t *parse,
    cJSON *array);
static ngx_int_t ngx_svc_access_rule(const ngx_svc_access_parse_t *parse,
    ngx_uint_t n, cJSON *json, ngx_svc_access_rule_t *rule);
static ngx_int_t ngx_svc_access_networks(const ngx_svc_access_parse_t *parse,
    ngx_uint_t n, cJSON *array, ngx_svc_access_rule_t *rule);
static ngx_int_t ngx_svc_access_countries(const ngx_svc_access_parse_t *parse,
    ngx_uint_t n, cJSON *array, ngx_svc_access_rule_t *rule);
static ngx_int_t ngx_svc_access_copy(const ngx_svc_access_parse_t *parse,
    ngx_str_t *dst, const ngx_str_t *src);
static ngx_int_t ngx_svc_access_check_action(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_svc_access_action_e ngx_svc_access_action_of(const ngx_str_t *text);


#define ngx_svc_access_row(row, field, name, type, flags, min, max, check)    \
    { ngx_string(name), type, flags, min, max, check, NULL, NULL,             \
      offsetof(row, field) }

static const ngx_svc_member_t  ngx_svc_access_members[] = {

    ngx_svc_access_row(ngx_svc_access_values_t, rules, "rules",
                       NGX_SVC_T_ARRAY, NGX_SVC_M_REQUIRED, 0, 0, NULL),

    ngx_svc_access_row(ngx_svc_access_values_t, action, "defaultAction",
                       NGX_SVC_T_STRING, NGX_SVC_M_REQUIRED, 0, 0,
                       ngx_svc_access_check_action),

    ngx_svc_read_only_member("versionId"),
    ngx_svc_read_only_member("updatedAt"),

    ngx_svc_null_member
};


static const ngx_svc_member_t  ngx_svc_access_rule_members[] = {

    ngx_svc_access_row(ngx_svc_access_rule_values_t, name, "name",
                       NGX_SVC_T_TEXT, NGX_SVC_M_REQUIRED,
                       1, NGX_SVC_ACCESS_NAME, NULL),

    ngx_svc_access_row(ngx_svc_access_rule_values_t, enabled, "enabled",
                       NGX_SVC_T_BOOLEAN, 0, 0, 0, NULL),

    ngx_svc_access_row(ngx_svc_access_rule_values_t, action, "action",
                       NGX_SVC_T_STRING, NGX_SVC_M_REQUIRED, 0, 0,
                       ngx_svc_access_check_action),

    ngx_svc_access_row(ngx_svc_access_rule_values_t, networks, "networks",
                       NGX_SVC_T_ARRAY, 0, 0, 0, NULL),

    ngx_svc_access_row(ngx_svc_access_rule_values_t, countries, "countries",
                       NGX_SVC_T_ARRAY, 0, 0, NGX_SVC_ACCESS_COUNTRIES, NULL),

    ngx_svc_access_row(ngx_svc_access_rule_values_t, windows, "timeWindows",
                       NGX_SVC_T_ARRAY, 0, 0, 0, NULL),

    ngx_svc_null_member
};


static const ngx_str_t  ngx_svc_access_actions[] = {
    ngx_string("allow"),
    ngx_string("mfa"),
    ngx_string("deny")
};


ngx_int_t
ngx_svc_access_parse(ngx_pool_t *pool, const ngx_svc_zones_t *zones,
    cJSON *json, const char *path, ngx_uint_t flags,
    ngx_svc_access_policy_t **policy, ngx_svc_error_t *err)
{
    ngx_int_t                 rc;
    ngx_svc_access_parse_t    parse;
    ngx_svc_access_values_t   values;

    ngx_memzero(&values, sizeof(ngx_svc_access_values_t));

    parse.pool = pool;
    parse.zones = zones;
    parse.path = path;
    parse.flags = flags;
    parse.err = err;

    if (!cJSON_IsObject(json)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must be an object.", path);
    }

    rc = ngx_svc_schema_nested_flags(ngx_svc_access_members, parse.flags, path,
                                     json, &values, err);
    if (rc != NGX_OK) {
        return rc;
    }

    parse.policy = ngx_pcalloc(pool, sizeof(ngx_svc_access_policy_t));
    if (parse.policy == NULL) {
        return NGX_ERROR;
    }

    parse.policy->size = sizeof(ngx_svc_access_policy_t);
    parse.policy->action = ngx_svc_access_action_of(&values.action.str);

    rc = ngx_svc_access_rules(&parse, values.rules.json);
    if (rc != NGX_OK) {
        return rc;
    }

    *policy = parse.policy;

    return ngx_svc_access_compile(pool, parse.policy);
}


const ngx_str_t *
ngx_svc_access_action(ngx_svc_access_action_e action)
{
    return &ngx_svc_access_actions[action];
}


const ngx_str_t *
ngx_svc_access_rule_name(const ngx_svc_access_policy_t *policy, ngx_int_t rule)
{
    return rule < 0 ? NULL : &policy->rules[rule].name;
}


static ngx_int_t
ngx_svc_access_rules(const ngx_svc_access_parse_t *parse, cJSON *array)
{
    char                    path[NGX_SVC_ACCESS_PATH];
    cJSON                  *json;
    ngx_int_t               rc;
    ngx_uint_t              n;
    ngx_svc_access_rule_t  *rules;

    rc = ngx_svc_access_limit(parse, array, NGX_SVC_ACCESS_RULES,
                              ngx_svc_access_path(parse, path, "rules"));
    if (rc != NGX_OK) {
        return rc;
    }

    n = cJSON_GetArraySize(array);

    rules = ngx_svc_access_alloc(parse->pool, parse->policy,
                                 n * sizeof(ngx_svc_access_rule_t));
    if (rules == NULL) {
        return NGX_ERROR;
    }

    n = 0;

    for (json = array->child; json; json = json->next) {
        ngx_memzero(&rules[n], sizeof(ngx_svc_access_rule_t));

        rc = ngx_svc_access_rule(parse, n, json, &rules[n]);
        if (rc != NGX_OK) {
            return rc;
        }

        n++;
    }

    parse->policy->rules = rules;
    parse->policy->nrules = n;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_access_rule(const ngx_svc_access_parse_t *parse, ngx_uint_t n,
    cJSON *json, ngx_svc_access_rule_t *rule)
{
    char                           path[NGX_SVC_ACCESS_PATH];
    ngx_int_t                      rc;
    ngx_svc_access_rule_values_t   values;

    ngx_memzero(&values, sizeof(ngx_svc_access_rule_values_t));
    (void) ngx_svc_access_path(parse, path, "rules[%ui]", n);

    if (!cJSON_IsObject(json)) {
        return ngx_svc_fail(parse->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must be an object.", path);
    }

    rc = ngx_svc_schema_nested_flags(ngx_svc_access_rule_members, parse->flags,
                                     path, json, &values, parse->err);
    if (rc != NGX_OK) {
        return rc;
    }

    rule->enabled = values.enabled.set ? values.enabled.integer : 1;
    rule->action = ngx_svc_access_action_of(&values.action.str);

    rc = ngx_svc_access_copy(parse, &rule->name, &values.name.str);

    if (rc == NGX_OK && values.networks.set) {
        rc = ngx_svc_access_networks(parse, n, values.networks.json, rule);
    }

    if (rc == NGX_OK && values.countries.set) {
        rc = ngx_svc_access_countries(parse, n, values.countries.json, rule);
    }

    if (rc == NGX_OK && values.windows.set) {
        rc = ngx_svc_access_windows(parse, n, values.windows.json, rule);
    }

    return rc;
}


static ngx_int_t
ngx_svc_access_networks(const ngx_svc_access_parse_t *parse, ngx_uint_t n,
    cJSON *array, ngx_svc_access_rule_t *rule)
{
    char                       path[NGX_SVC_ACCESS_PATH];
    cJSON                     *json;
    ngx_int_t                  rc;
    ngx_str_t                  text;
    ngx_svc_access_network_t  *network;

    rc = ngx_svc_access_limit(parse, array, NGX_SVC_ACCESS_NETWORKS,
                 ngx_svc_access_path(parse, path, "rules[%ui].networks", n));
    if (rc != NGX_OK) {
        return rc;
    }

    network = ngx_svc_access_alloc(parse->pool, parse->policy,
                                   cJSON_GetArraySize(array)
                                   * sizeof(ngx_svc_access_network_t));
    if (network == NULL) {
        return NGX_ERROR;
    }

    rule->networks = network;

    for (json = array->child; json; json = json->next) {
        text.data = (u_char *) json->valuestring;
        text.len = cJSON_IsString(json) ? ngx_strlen(text.data) : 0;

        if (ngx_svc_cidr_parse(text.data, text.len, &network->cidr) != NGX_OK) {
            (void) ngx_svc_access_path(parse, path, "rules[%ui].networks[%ui]",
                                       n, rule->nnetworks);

            return ngx_svc_fail(parse->err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must be a network such as "
                                "\"203.0.113.0/24\" or \"2001:db8::/32\", or "
                                "an address.", path);
        }

        if (ngx_svc_access_copy(parse, &network->text, &text) != NGX_OK) {
            return NGX_ERROR;
        }

        network++;
        rule->nnetworks++;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_access_countries(const ngx_svc_access_parse_t *parse, ngx_uint_t n,
    cJSON *array, ngx_svc_access_rule_t *rule)
{
    char     path[NGX_SVC_ACCESS_PATH];
    cJSON   *json;
    u_char  *p, *text;

    p = ngx_svc_access_alloc(parse->pool, parse->policy,
                             cJSON_GetArraySize(array) * 2);
    if (p == NULL) {
        return NGX_ERROR;
    }

    rule->countries = p;

    for (json = array->child; json; json = json->next) {
        text = cJSON_IsString(json) ? (u_char *) json->valuestring
                                    : (u_char *) "";

        p[0] = ngx_toupper(text[0]);
        p[1] = p[0] ? ngx_toupper(text[1]) : '\0';

        if (p[0] < 'A' || p[0] > 'Z' || p[1] < 'A' || p[1] > 'Z' || text[2]) {
            (void) ngx_svc_access_path(parse, path,
                                       "rules[%ui].countries[%ui]", n,
                                       rule->ncountries);

            return ngx_svc_fail(parse->err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must be a country's two letters such "
                                "as \"FR\", or \"ZZ\" for an unknown country.",
                                path);
        }

        p += 2;
        rule->ncountries++;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_access_copy(const ngx_svc_access_parse_t *parse, ngx_str_t *dst,
    const ngx_str_t *src)
{
    dst->len = src->len;
    dst->data = ngx_pnalloc(parse->pool, src->len);

    if (dst->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(dst->data, src->data, src->len);
    parse->policy->size += src->len;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_access_check_action(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    const ngx_str_t  *action;

    action = &ngx_svc_access_actions[ngx_svc_access_action_of(&value->str)];

    if (value->str.len == action->len
        && ngx_memcmp(value->str.data, action->data, action->len) == 0)
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be \"allow\", \"mfa\" or \"deny\".", path);
}


/* A text that is no action gives one, too: the check compares the texts. */

static ngx_svc_access_action_e
ngx_svc_access_action_of(const ngx_str_t *text)
{
    switch (text->len) {

    case sizeof("mfa") - 1:
        return NGX_SVC_ACCESS_MFA;

    case sizeof("deny") - 1:
        return NGX_SVC_ACCESS_DENY;

    default:
        return NGX_SVC_ACCESS_ALLOW;
    }
}
