/*
 * The operator's settings of sign-in: the table.
 */

#include "ngx_svc_setting.h"


#define NGX_SVC_SETTING_TIMES   1000000     /* the most of a count */
#define NGX_SVC_SETTING_DAY     86400       /* s */


typedef struct {
    ngx_svc_setting_e  setting;             /* must not be larger than other */
    ngx_svc_setting_e  other;
} ngx_svc_setting_pair_t;


/*
 * A window of more than a day would keep out an address for longer than its
 * user has it.  Where a time must be at least a minute, minutes given for
 * seconds are mostly refused.
 */

const ngx_svc_setting_row_t  ngx_svc_setting_rows[NGX_SVC_SETTINGS] = {

    [NGX_SVC_SET_RATE_LIMIT_LOGIN_WINDOW] = {
        ngx_string("RATE_LIMIT_LOGIN_WINDOW"), "seconds",
        300, 1, NGX_SVC_SETTING_DAY, 1 },

    [NGX_SVC_SET_RATE_LIMIT_LOGIN_EMAIL_MAX] = {
        ngx_string("RATE_LIMIT_LOGIN_EMAIL_MAX"), NULL,
        10, 1, NGX_SVC_SETTING_TIMES, 1 },

    [NGX_SVC_SET_RATE_LIMIT_LOGIN_IP_MAX] = {
        ngx_string("RATE_LIMIT_LOGIN_IP_MAX"), NULL,
        50, 1, NGX_SVC_SETTING_TIMES, 1 },

    [NGX_SVC_SET_RATE_LIMIT_SIGNUP_WINDOW] = {
        ngx_string("RATE_LIMIT_SIGNUP_WINDOW"), "seconds",
        3600, 1, NGX_SVC_SETTING_DAY, 1 },

    [NGX_SVC_SET_RATE_LIMIT_SIGNUP_EMAIL_MAX] = {
        ngx_string("RATE_LIMIT_SIGNUP_EMAIL_MAX"), NULL,
        5, 1, NGX_SVC_SETTING_TIMES, 1 },

    [NGX_SVC_SET_RATE_LIMIT_SIGNUP_IP_MAX] = {
        ngx_string("RATE_LIMIT_SIGNUP_IP_MAX"), NULL,
        20, 1, NGX_SVC_SETTING_TIMES, 1 },

    [NGX_SVC_SET_LOGIN_LOCKOUT_MAX] = {
        ngx_string("LOGIN_LOCKOUT_MAX"), NULL,
        10, 1, 1000, 1 },

    [NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW] = {
        ngx_string("LOGIN_LOCKOUT_WINDOW"), "seconds",
        900, 1, NGX_SVC_SETTING_DAY, 1 },

    [NGX_SVC_SET_LOGIN_LOCKOUT_DURATION] = {
        ngx_string("LOGIN_LOCKOUT_DURATION"), "seconds",
        900, 1, 7 * NGX_SVC_SETTING_DAY, 1 },

    [NGX_SVC_SET_EMAIL_CODE_ATTEMPTS] = {
        ngx_string("EMAIL_CODE_ATTEMPTS"), NULL,
        5, 1, 10, 0 },

    [NGX_SVC_SET_EMAIL_CODE_TTL] = {
        ngx_string("EMAIL_CODE_TTL"), "seconds",
        600, 60, 3600, 0 },

    [NGX_SVC_SET_MFA_CHALLENGE_ATTEMPTS] = {
        ngx_string("MFA_CHALLENGE_ATTEMPTS"), NULL,
        5, 1, 10, 0 },

    [NGX_SVC_SET_MFA_CHALLENGE_TTL] = {
        ngx_string("MFA_CHALLENGE_TTL"), "seconds",
        300, 60, 3600, 0 },

    [NGX_SVC_SET_MFA_STEP_UP_WINDOW] = {
        ngx_string("MFA_STEP_UP_WINDOW"), "seconds",
        600, 60, NGX_SVC_SETTING_DAY, 0 },

    [NGX_SVC_SET_SESSION_IDLE] = {
        ngx_string("SESSION_IDLE"), "seconds",
        1800, 60, 30 * NGX_SVC_SETTING_DAY, 0 },

    [NGX_SVC_SET_SESSION_ABSOLUTE] = {
        ngx_string("SESSION_ABSOLUTE"), "seconds",
        43200, 60, 30 * NGX_SVC_SETTING_DAY, 0 },

    [NGX_SVC_SET_SESSION_PENDING] = {
        ngx_string("SESSION_PENDING"), "seconds",
        600, 60, 3600, 0 }
};


static const ngx_svc_setting_pair_t  ngx_svc_setting_pairs[] = {
    { NGX_SVC_SET_SESSION_IDLE, NGX_SVC_SET_SESSION_ABSOLUTE },
    { NGX_SVC_SET_SESSION_PENDING, NGX_SVC_SET_SESSION_ABSOLUTE },
    { NGX_SVC_SETTINGS, NGX_SVC_SETTINGS }
};


/* A copy: the configuration's pool may go before the process does. */

static ngx_svc_settings_t  ngx_svc_settings;
static ngx_uint_t          ngx_svc_settings_known;


ngx_uint_t
ngx_svc_setting(ngx_svc_setting_e setting)
{
    return ngx_svc_settings_known ? ngx_svc_settings.values[setting]
                                  : ngx_svc_setting_rows[setting].value;
}


void
ngx_svc_settings_init_worker(const ngx_svc_settings_t *settings)
{
    ngx_svc_settings = *settings;
    ngx_svc_settings_known = 1;
}


ngx_svc_setting_e
ngx_svc_setting_find(const ngx_str_t *name)
{
    ngx_uint_t        i;
    const ngx_str_t  *row;

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        row = &ngx_svc_setting_rows[i].name;

        if (row->len == name->len
            && ngx_memcmp(row->data, name->data, name->len) == 0)
        {
            break;
        }
    }

    return i;
}


ngx_int_t
ngx_svc_setting_parse(ngx_svc_setting_e setting, const ngx_str_t *text,
    ngx_uint_t *value)
{
    ngx_int_t                     n;
    const ngx_svc_setting_row_t  *row;

    row = &ngx_svc_setting_rows[setting];
    n = ngx_atoi(text->data, text->len);

    if (n == 0 ? !row->off : n < (ngx_int_t) row->min
                             || n > (ngx_int_t) row->max)
    {
        return NGX_DECLINED;
    }

    *value = n;

    return NGX_OK;
}


u_char *
ngx_svc_setting_range(u_char *p, u_char *last, ngx_svc_setting_e setting)
{
    const ngx_svc_setting_row_t  *row;

    row = &ngx_svc_setting_rows[setting];

    return ngx_slprintf(p, last, "%sa whole number%s%s from %ui to %ui",
                        row->off ? "0, which switches it off, or " : "",
                        row->unit ? " of " : "", row->unit ? row->unit : "",
                        row->min, row->max);
}


ngx_svc_setting_e
ngx_svc_settings_conflict(const ngx_svc_settings_t *settings,
    ngx_svc_setting_e *other)
{
    const ngx_svc_setting_pair_t  *pair;

    for (pair = ngx_svc_setting_pairs; pair->setting != NGX_SVC_SETTINGS;
         pair++)
    {
        if (settings->values[pair->setting] > settings->values[pair->other]) {
            *other = pair->other;
            break;
        }
    }

    return pair->setting;
}
