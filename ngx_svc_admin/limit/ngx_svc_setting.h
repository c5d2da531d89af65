/*
 * The operator's numbers of sign-in: limits, lockout, lifetimes.
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
    const char  *unit;              /* "seconds", or NULL: a count */
    ngx_uint_t   value;             /* unless the operator says otherwise */
    ngx_uint_t   min;
    ngx_uint_t   max;
    ngx_uint_t   off;               /* 1: 0 is taken too, and switches it off */
} ngx_svc_setting_row_t;


typedef struct {
    ngx_uint_t   values[NGX_SVC_SETTINGS];  /* NGX_CONF_UNSET_UINT: not yet */
} ngx_svc_settings_t;


extern const ngx_svc_setting_row_t  ngx_svc_setting_rows[NGX_SVC_SETTINGS];


/*
 * In the unit of the setting; in a worker, and in what it has forked, as its
 * configuration says.  In the master, and in a cache manager: the default.
 */
ngx_uint_t ngx_svc_setting(ngx_svc_setting_e setting);

/* At a worker's start: copies what ngx_svc_setting() is to return. */
void ngx_svc_settings_init_worker(const ngx_svc_settings_t *settings);

/* NGX_SVC_SETTINGS: there is none of that name. */
ngx_svc_setting_e ngx_svc_setting_find(const ngx_str_t *name);

/* Decimal digits alone, within the range.  NGX_OK, or NGX_DECLINED. */
ngx_int_t ngx_svc_setting_parse(ngx_svc_setting_e setting,
    const ngx_str_t *text, ngx_uint_t *value);

/* For a message: "a whole number of seconds from 60 to 3600"; its end. */
u_char *ngx_svc_setting_range(u_char *p, u_char *last,
    ngx_svc_setting_e setting);

/*
 * Of settings that are complete: the first of two that make no sense together,
 * since it must not be larger than *other; or NGX_SVC_SETTINGS.
 */
ngx_svc_setting_e ngx_svc_settings_conflict(const ngx_svc_settings_t *settings,
    ngx_svc_setting_e *other);


#endif /* _NGX_SVC_SETTING_H_INCLUDED_ */
