/*
 * The time windows of a rule.
 */

#include "ngx_svc_access_window.h"


#define NGX_SVC_ACCESS_TIME_LEN  (sizeof("00:00") - 1)
#define NGX_SVC_ACCESS_ALL_DAYS  0x7f


typedef struct {
    ngx_svc_value_t  days;
    ngx_svc_value_t  start;
    ngx_svc_value_t  end;
    ngx_svc_value_t  timezone;
} ngx_svc_access_window_values_t;


static ngx_int_t ngx_svc_access_window(const ngx_svc_access_parse_t *parse,
    const char *path, cJSON *json, ngx_svc_access_window_t *window);
static ngx_int_t ngx_svc_access_take_days(const ngx_svc_access_parse_t *parse,
    const char *path, cJSON *array, ngx_svc_access_window_t *window);
static ngx_int_t ngx_svc_access_take_zone(const ngx_svc_access_parse_t *parse,
    const char *path, const ngx_svc_value_t *value,
    ngx_svc_access_window_t *window);
static ngx_int_t ngx_svc_access_check_start(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_access_check_end(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_access_minutes(const ngx_str_t *text);


#define ngx_svc_access_window_row(field, name, type, flags, min, max, check)  \
    { ngx_string(name), type, flags, min, max, check, NULL, NULL,             \
      offsetof(ngx_svc_access_window_values_t, field) }

static const ngx_svc_member_t  ngx_svc_access_window_members[] = {

    ngx_svc_access_window_row(days, "days", NGX_SVC_T_ARRAY, 0,
                              1, NGX_SVC_ACCESS_DAYS, NULL),

    ngx_svc_access_window_row(start, "start", NGX_SVC_T_STRING,
                              NGX_SVC_M_REQUIRED,
                              0, 0, ngx_svc_access_check_start),

    ngx_svc_access_window_row(end, "end", NGX_SVC_T_STRING, NGX_SVC_M_REQUIRED,
                              0, 0, ngx_svc_access_check_end),

    ngx_svc_access_window_row(timezone, "timezone", NGX_SVC_T_STRING, 0,
                              0, 0, NULL),

    ngx_svc_null_member
};


const ngx_str_t  ngx_svc_access_days[NGX_SVC_ACCESS_DAYS] = {
    ngx_string("mon"),
    ngx_string("tue"),
    ngx_string("wed"),
    ngx_string("thu"),
    ngx_string("fri"),
    ngx_string("sat"),
    ngx_string("sun")
};


ngx_int_t
ngx_svc_access_windows(const ngx_svc_access_parse_t *parse, ngx_uint_t n,
    cJSON *array, ngx_svc_access_rule_t *rule)
{
    char                      path[NGX_SVC_ACCESS_PATH];
    cJSON                    *json;
    ngx_int_t                 rc;
    ngx_svc_access_window_t  *window;

    rc = ngx_svc_access_limit(parse, array, NGX_SVC_ACCESS_WINDOWS,
              ngx_svc_access_path(parse, path, "rules[%ui].timeWindows", n));
    if (rc != NGX_OK) {
        return rc;
    }

    window = ngx_svc_access_alloc(parse->pool, parse->policy,
                                  cJSON_GetArraySize(array)
                                  * sizeof(ngx_svc_access_window_t));
    if (window == NULL) {
        return NGX_ERROR;
    }

    rule->windows = window;

    for (json = array->child; json; json = json->next) {
        (void) ngx_svc_access_path(parse, path, "rules[%ui].timeWindows[%ui]",
                                   n, rule->nwindows);

        rc = ngx_svc_access_window(parse, path, json, window);
        if (rc != NGX_OK) {
            return rc;
        }

        window++;
        rule->nwindows++;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_access_window(const ngx_svc_access_parse_t *parse, const char *path,
    cJSON *json, ngx_svc_access_window_t *window)
{
    ngx_int_t                       rc;
    ngx_svc_access_window_values_t  values;

    if (!cJSON_IsObject(json)) {
        return ngx_svc_fail(parse->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must be an object.", path);
    }

    ngx_memzero(&values, sizeof(ngx_svc_access_window_values_t));
    ngx_memzero(window, sizeof(ngx_svc_access_window_t));

    rc = ngx_svc_schema_nested_flags(ngx_svc_access_window_members,
                                     parse->flags, path, json, &values,
                                     parse->err);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_access_take_days(parse, path, values.days.json, window);
    if (rc != NGX_OK) {
        return rc;
    }

    window->start = ngx_svc_access_minutes(&values.start.str);
    window->end = ngx_svc_access_minutes(&values.end.str);

    if (window->start == window->end) {
        return ngx_svc_fail(parse->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s.end\" must not be the same as \"start\"; a "
                            "whole day is from \"00:00\" to \"24:00\".", path);
    }

    return ngx_svc_access_take_zone(parse, path, &values.timezone, window);
}


static ngx_int_t
ngx_svc_access_take_days(const ngx_svc_access_parse_t *parse,
    const char *path, cJSON *array, ngx_svc_access_window_t *window)
{
    cJSON       *json;
    ngx_uint_t   i, n;

    if (array == NULL) {

        for (i = 0; i < NGX_SVC_ACCESS_DAYS; i++) {
            window->days[i] = (u_char) i;
        }

        window->ndays = NGX_SVC_ACCESS_DAYS;
        window->mask = NGX_SVC_ACCESS_ALL_DAYS;

        return NGX_OK;
    }

    for (json = array->child, n = 0; json; json = json->next, n++) {

        for (i = 0; i < NGX_SVC_ACCESS_DAYS; i++) {
            if (cJSON_IsString(json)
                && ngx_strcmp(json->valuestring, ngx_svc_access_days[i].data)
                   == 0)
            {
                break;
            }
        }

        if (i == NGX_SVC_ACCESS_DAYS) {
            return ngx_svc_fail(parse->err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s.days[%ui]\" must be \"mon\", \"tue\", "
                                "\"wed\", \"thu\", \"fri\", \"sat\" or "
                                "\"sun\".", path, n);
        }

        if (!(window->mask & ((ngx_uint_t) 1 << i))) {
            window->mask |= (ngx_uint_t) 1 << i;
            window->days[window->ndays++] = (u_char) i;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_access_take_zone(const ngx_svc_access_parse_t *parse,
    const char *path, const ngx_svc_value_t *value,
    ngx_svc_access_window_t *window)
{
    static const ngx_str_t  utc = ngx_string("UTC");

    const ngx_str_t  *name;

    name = value->set ? &value->str : &utc;

    window->zone = ngx_svc_zone_find(parse->zones, name->data, name->len);

    if (window->zone == NULL) {
        return ngx_svc_fail(parse->err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s.timezone\" must be a time zone of the IANA "
                            "database, such as \"Europe/Paris\".", path);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_access_check_start(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    ngx_int_t  n;

    n = ngx_svc_access_minutes(&value->str);

    if (n >= 0 && n < 1440) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a time from \"00:00\" to \"23:59\".",
                        path);
}


static ngx_int_t
ngx_svc_access_check_end(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_access_minutes(&value->str) > 0) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a time from \"00:01\" to \"24:00\".",
                        path);
}


/* Returns the minutes of "HH:MM", which is at most "24:00"; or -1. */

static ngx_int_t
ngx_svc_access_minutes(const ngx_str_t *text)
{
    ngx_int_t  hours, minutes;

    if (text->len != NGX_SVC_ACCESS_TIME_LEN || text->data[2] != ':') {
        return -1;
    }

    hours = ngx_atoi(text->data, 2);
    minutes = ngx_atoi(text->data + 3, 2);

    if (hours < 0 || minutes < 0 || minutes > 59) {
        return -1;
    }

    hours = hours * 60 + minutes;

    return hours <= 1440 ? hours : -1;
}
