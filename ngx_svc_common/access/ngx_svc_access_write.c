/*
 * Access policies as JSON.
 */

#include "ngx_svc_access_write.h"
#include "ngx_svc_access_window.h"


static void ngx_svc_access_write_rule(ngx_svc_json_writer_t *w,
    const ngx_svc_access_rule_t *rule);
static void ngx_svc_access_write_window(ngx_svc_json_writer_t *w,
    const ngx_svc_access_window_t *window);
static void ngx_svc_access_write_time(ngx_svc_json_writer_t *w,
    const char *key, ngx_uint_t minutes);


#define ngx_svc_access_write_str(w, key, str)                                 \
    ngx_svc_json_plain(w, key, (str)->data, (str)->len)


void
ngx_svc_access_write(ngx_svc_json_writer_t *w,
    const ngx_svc_access_policy_t *policy)
{
    ngx_uint_t  i;

    ngx_svc_json_open(w, "rules", '[');

    for (i = 0; i < policy->nrules; i++) {
        ngx_svc_access_write_rule(w, &policy->rules[i]);
    }

    ngx_svc_json_close(w, ']');

    ngx_svc_access_write_str(w, "defaultAction",
                             ngx_svc_access_action(policy->action));
}


static void
ngx_svc_access_write_rule(ngx_svc_json_writer_t *w,
    const ngx_svc_access_rule_t *rule)
{
    ngx_uint_t  i;

    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_json_string(w, "name", rule->name.data, rule->name.len);
    ngx_svc_json_boolean(w, "enabled", rule->enabled);
    ngx_svc_access_write_str(w, "action", ngx_svc_access_action(rule->action));

    ngx_svc_json_open(w, "networks", '[');

    for (i = 0; i < rule->nnetworks; i++) {
        ngx_svc_access_write_str(w, NULL, &rule->networks[i].text);
    }

    ngx_svc_json_close(w, ']');
    ngx_svc_json_open(w, "countries", '[');

    for (i = 0; i < rule->ncountries; i++) {
        ngx_svc_json_plain(w, NULL, &rule->countries[2 * i], 2);
    }

    ngx_svc_json_close(w, ']');
    ngx_svc_json_open(w, "timeWindows", '[');

    for (i = 0; i < rule->nwindows; i++) {
        ngx_svc_access_write_window(w, &rule->windows[i]);
    }

    ngx_svc_json_close(w, ']');
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_access_write_window(ngx_svc_json_writer_t *w,
    const ngx_svc_access_window_t *window)
{
    ngx_uint_t  i;

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_open(w, "days", '[');

    for (i = 0; i < window->ndays; i++) {
        ngx_svc_access_write_str(w, NULL,
                                 &ngx_svc_access_days[window->days[i]]);
    }

    ngx_svc_json_close(w, ']');

    ngx_svc_access_write_time(w, "start", window->start);
    ngx_svc_access_write_time(w, "end", window->end);
    ngx_svc_access_write_str(w, "timezone", ngx_svc_zone_name(window->zone));

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_access_write_time(ngx_svc_json_writer_t *w, const char *key,
    ngx_uint_t minutes)
{
    u_char  *p, text[sizeof("00:00") - 1];

    p = ngx_snprintf(text, sizeof(text), "%02ui:%02ui", minutes / 60,
                     minutes % 60);

    ngx_svc_json_plain(w, key, text, p - text);
}
