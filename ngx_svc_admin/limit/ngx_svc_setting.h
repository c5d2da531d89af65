/*
 * The operator's settings of sign-in: limits, lockout, lifetimes.
 */

#ifndef _NGX_SVC_SETTING_H_INCLUDED_
#define _NGX_SVC_SETTING_H_INCLUDED_


#include "ngx_svc_common.h"


typedef enum {
    NGX_SVC_SET_RATE_LIMIT_LOGIN_WINDOW = 0,
    NGX_SVC_SET_RATE_LIMIT_LOGIN_EMAIL_MAX,
    NGX_SVC_SET_RATE_LIMIT_LOGIN_IP_MAX,
    NGX_SVC_SET_RATE_LIMIT_SIGNUP_WINDOW,
    NGX_SVC_SET_RATE_LIMIT_SIGNUP_EMAIL_MAX,
    NGX_SVC_SET_RATE_LIMIT_SIGNUP_IP_MAX,
    NGX_SVC_SET_LOGIN_LOCKOUT_MAX,
    NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW,
    NGX_SVC_SET_LOGIN_LOCKOUT_DURATION,
    NGX_SVC_SET_EMAIL_CODE_ATTEMPTS,
    NGX_SVC_SET_EMAIL_CODE_TTL,
    NGX_SVC_SET_MFA_CHALLENGE_ATTEMPTS,
    NGX_SVC_SET_MFA_CHALLENGE_TTL,
    NGX_SVC_SET_MFA_STEP_UP_WINDOW,
    NGX_SVC_SET_SESSION_IDLE,
    NGX_SVC_SET_SESSION_ABSOLUTE,
    NGX_SVC_SET_SESSION_PENDING,
    NGX_SVC_SETTINGS
} ngx_svc_setting_e;


/* A row of the table. */

typedef struct {
    ngx_str_t    name;
    const char  *unit;              /* "seconds"; NULL: a count */
    ngx_uint_t   value;             /* the default */
    ngx_uint_t   min;
    ngx_uint_t   max;
    ngx_uint_t   off;               /* 1: 0 is allowed, too, and switches it
                                       off */
} ngx_svc_setting_row_t;


typedef struct {
    ngx_uint_t   values[NGX_SVC_SETTINGS];  /* NGX_CONF_UNSET_UINT: not set */
} ngx_svc_settings_t;


extern const ngx_svc_setting_row_t  ngx_svc_setting_rows[NGX_SVC_SETTINGS];


/*
 * Returns a setting, in its unit: in a worker, and in a process that it has
 * forked, the configured one; in the master and in a cache manager the default.
 */
ngx_uint_t ngx_svc_setting(ngx_svc_setting_e setting);

/* Called at a worker's start: copies the settings. */
void ngx_svc_settings_init_worker(const ngx_svc_settings_t *settings);

/* Returns NGX_SVC_SETTINGS when no setting has this name. */
ngx_svc_setting_e ngx_svc_setting_find(const ngx_str_t *name);

/*
 * Parses decimal digits alone, within the range.  Returns NGX_OK or
 * NGX_DECLINED.
 */
ngx_int_t ngx_svc_setting_parse(ngx_svc_setting_e setting,
    const ngx_str_t *text, ngx_uint_t *value);

/*
 * Writes a range for a message: "a whole number of seconds from 60 to 3600";
 * returns its end.
 */
u_char *ngx_svc_setting_range(u_char *p, u_char *last,
    ngx_svc_setting_e setting);

/*
 * Returns the first of the complete settings that must not be larger than
 * another one, *other, and is; NGX_SVC_SETTINGS if there is none.
 */
ngx_svc_setting_e ngx_svc_settings_conflict(const ngx_svc_settings_t *settings,
    ngx_svc_setting_e *other);


#endif /* _NGX_SVC_SETTING_H_INCLUDED_ */
