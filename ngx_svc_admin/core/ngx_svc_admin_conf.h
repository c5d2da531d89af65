/*
 * The configuration of the admin module.
 */

#ifndef _NGX_SVC_ADMIN_CONF_H_INCLUDED_
#define _NGX_SVC_ADMIN_CONF_H_INCLUDED_


#include "ngx_svc_conf.h"
#include "ngx_svc_setting.h"

#include <ngx_thread_pool.h>


/* The values of svc_password_hash. */

typedef struct {
    ngx_uint_t                 memory;      /* KiB per hash */
    ngx_uint_t                 iterations;
    ngx_uint_t                 concurrency; /* jobs in threads per worker */
    ngx_uint_t                 queue;       /* hashes that wait per worker */
    ngx_uint_t                 timeout;     /* ms, of a wait */
    ngx_uint_t                 floor;       /* ms, of a failed sign-in */
    ngx_uint_t                 set;         /* 1: the directive is there */
} ngx_svc_admin_hash_conf_t;


/* The values of svc_federation_jobs. */

typedef struct {
    ngx_uint_t                 ldap;        /* that ask directories, in threads
                                               per worker */
    ngx_uint_t                 queue;       /* that wait per worker */
    ngx_uint_t                 set;         /* 1: the directive is there */
} ngx_svc_admin_jobs_conf_t;


/* A location of OAuth, whose sign-in page is at url. */

typedef struct {
    ngx_str_t                  url;
    ngx_svc_loc_conf_t        *conf;
} ngx_svc_login_location_t;


typedef struct {
    size_t                     cache_size;
    ngx_shm_zone_t            *cache;       /* NULL: no location has the API */
    ngx_thread_pool_t         *threads;     /* for images, hashes, RSA, and
                                               directories */
    ngx_svc_admin_hash_conf_t  hash;
    ngx_flag_t                 on;
    ngx_flag_t                 sign_in;
    ngx_flag_t                 organization_signup;
    ngx_uint_t                 oauth;       /* 1: some location has svc_oauth */
    ngx_array_t                login_locations; /* ngx_svc_login_location_t */
    ngx_svc_settings_t         settings;    /* svc_set's or the environment's */
    size_t                     rate_size;   /* for ngx_svc_limit_zone() */
    ngx_shm_zone_t            *limits;      /* NULL: no location has the API */
    ngx_str_t                  resolver;    /* svc_resolver; or empty */
    ngx_str_t                  ldap_ca_file;
    ngx_svc_admin_jobs_conf_t  jobs;

    /* NULL: svc_breached_passwords is not set */
    struct ngx_svc_breached_s  *breached;

    /* NULL: no password goes to a directory */
    const struct ngx_svc_login_directory_s  *directory;
} ngx_svc_admin_main_conf_t;

/* 1: users can sign in: some location has the API, and sign-in is on. */
#define ngx_svc_admin_has_sign_in(amcf)  ((amcf)->on && (amcf)->sign_in == 1)


typedef struct {
    ngx_http_complex_value_t  *tenant;      /* of a sign-in; or NULL */
    ngx_http_complex_value_t  *latitude;    /* of the client; or NULL */
    ngx_http_complex_value_t  *longitude;   /* set with latitude; or NULL */
    ngx_str_t                  login_url;   /* svc_login_url; or empty */
} ngx_svc_admin_loc_conf_t;


extern ngx_module_t  ngx_http_svc_admin_module;


#endif /* _NGX_SVC_ADMIN_CONF_H_INCLUDED_ */
