/*
 * The directives about directories.
 */

#include "ngx_svc_ldap_conf.h"

#include <openssl/err.h>
#include <openssl/x509.h>


#define NGX_SVC_LDAP_CA_FILE  "/etc/ssl/certs/ca-certificates.crt"
#define NGX_SVC_LDAP_JOBS     8
#define NGX_SVC_LDAP_QUEUE    64


typedef struct {
    ngx_str_t   name;
    size_t      offset;
    ngx_int_t   min;
    ngx_int_t   max;
} ngx_svc_ldap_parameter_t;


static ngx_int_t ngx_svc_ldap_parameter(ngx_svc_admin_jobs_conf_t *jobs,
    const ngx_str_t *value);


static const ngx_svc_ldap_parameter_t  ngx_svc_ldap_parameters[] = {

    { ngx_string("ldap="),
      offsetof(ngx_svc_admin_jobs_conf_t, ldap), 1, 64 },

    { ngx_string("queue="),
      offsetof(ngx_svc_admin_jobs_conf_t, queue), 0, 65536 },

    { ngx_null_string, 0, 0, 0 }
};


char *
ngx_svc_conf_ldap_ca_file(ngx_conf_t *cf, void *post, void *data)
{
    ngx_str_t *file = data;

    X509_STORE  *store;
    ngx_uint_t   readable;

    if (ngx_conf_full_name(cf->cycle, file, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    store = X509_STORE_new();
    readable = store && X509_STORE_load_locations(store, (char *) file->data,
                                                  NULL)
                        == 1;
    X509_STORE_free(store);
    ERR_clear_error();

    if (readable) {
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"svc_ldap_ca_file\": no certificates can be read "
                       "from \"%V\": it is to be a file in PEM format", file);

    return NGX_CONF_ERROR;
}


char *
ngx_svc_conf_jobs(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t                  *value;
    ngx_uint_t                  i;
    ngx_svc_admin_jobs_conf_t  *jobs;

    jobs = (ngx_svc_admin_jobs_conf_t *) ((u_char *) conf + cmd->offset);

    if (jobs->set) {
        return "is duplicate";
    }

    jobs->set = 1;
    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_svc_ldap_parameter(jobs, &value[i]) != NGX_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" of \"svc_federation_jobs\": it takes "
                               "ldap= from 1 to 64, and queue= from 0 to "
                               "65536, each once", &value[i]);
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_svc_ldap_parameter(ngx_svc_admin_jobs_conf_t *jobs, const ngx_str_t *value)
{
    ngx_int_t                        n;
    ngx_uint_t                      *slot;
    const ngx_svc_ldap_parameter_t  *p;

    for (p = ngx_svc_ldap_parameters; p->name.len; p++) {

        if (value->len <= p->name.len
            || ngx_strncmp(value->data, p->name.data, p->name.len) != 0)
        {
            continue;
        }

        n = ngx_atoi(value->data + p->name.len, value->len - p->name.len);
        slot = (ngx_uint_t *) ((u_char *) jobs + p->offset);

        if (n < p->min || n > p->max || *slot != NGX_CONF_UNSET_UINT) {
            return NGX_DECLINED;
        }

        *slot = n;

        return NGX_OK;
    }

    return NGX_DECLINED;
}


void
ngx_svc_ldap_conf_done(ngx_svc_admin_main_conf_t *amcf)
{
    ngx_conf_init_uint_value(amcf->jobs.ldap, NGX_SVC_LDAP_JOBS);
    ngx_conf_init_uint_value(amcf->jobs.queue, NGX_SVC_LDAP_QUEUE);

    if (amcf->ldap_ca_file.len == 0) {
        ngx_str_set(&amcf->ldap_ca_file, NGX_SVC_LDAP_CA_FILE);
    }
}
