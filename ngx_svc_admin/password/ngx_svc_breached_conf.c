/*
 * The directive svc_breached_passwords.
 */

#include "ngx_svc_admin_conf.h"
#include "ngx_svc_breached.h"
#include "ngx_svc_breached_conf.h"

#include <sys/mman.h>


#define NGX_SVC_BREACHED_BUILD                                                \
    "build one with: svcctl breached build --out %V < LIST, whose lines, in " \
    "order, are \"SHA1:COUNT\""


typedef struct {
    void    *addr;
    size_t   len;
} ngx_svc_breached_map_t;


static ngx_int_t ngx_svc_breached_open(ngx_conf_t *cf, ngx_str_t *name,
    ngx_svc_breached_map_t *map);
static ngx_int_t ngx_svc_breached_map(ngx_conf_t *cf, ngx_str_t *name,
    ngx_fd_t fd, ngx_svc_breached_map_t *map);
static void ngx_svc_breached_unmap(void *data);


char *
ngx_svc_breached_directive(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t               *value, name;
    const char              *why;
    ngx_pool_cleanup_t      *cln;
    ngx_svc_breached_t     **breached;
    ngx_svc_breached_map_t  *map;

    breached = (ngx_svc_breached_t **) ((u_char *) conf + cmd->offset);

    if (*breached) {
        return "is duplicate";
    }

    value = cf->args->elts;
    name = value[1];

    if (name.len == 0) {
        return "is empty";
    }

    *breached = ngx_palloc(cf->pool, sizeof(ngx_svc_breached_t));
    cln = ngx_pool_cleanup_add(cf->pool, sizeof(ngx_svc_breached_map_t));

    if (*breached == NULL || cln == NULL
        || ngx_conf_full_name(cf->cycle, &name, 1) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    map = cln->data;

    if (ngx_svc_breached_open(cf, &name, map) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    cln->handler = ngx_svc_breached_unmap;

    if (ngx_svc_breached_init(*breached, map->addr, map->len, &why) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" %s; " NGX_SVC_BREACHED_BUILD, &name, why,
                           &name);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_svc_breached_open(ngx_conf_t *cf, ngx_str_t *name,
    ngx_svc_breached_map_t *map)
{
    ngx_fd_t   fd;
    ngx_int_t  rc;

    /* opening a FIFO would wait */

    fd = ngx_open_file(name->data, NGX_FILE_RDONLY|NGX_FILE_NONBLOCK,
                       NGX_FILE_OPEN, 0);

    if (fd == NGX_INVALID_FILE) {

        if (ngx_errno == NGX_ENOENT) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                               "there is no file of breached passwords \"%V\"; "
                               NGX_SVC_BREACHED_BUILD, name, name);
        } else {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                               "the file of breached passwords \"%V\" cannot "
                               "be opened; let the user that starts nginx read "
                               "it", name);
        }

        return NGX_ERROR;
    }

    rc = ngx_svc_breached_map(cf, name, fd, map);

    (void) ngx_close_file(fd);

    return rc;
}


static ngx_int_t
ngx_svc_breached_map(ngx_conf_t *cf, ngx_str_t *name, ngx_fd_t fd,
    ngx_svc_breached_map_t *map)
{
    off_t            size;
    ngx_file_info_t  fi;

    if (ngx_fd_info(fd, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the file of breached passwords \"%V\" is not a "
                           "regular file", name);
        return NGX_ERROR;
    }

    size = ngx_file_size(&fi);

    if (size == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the file of breached passwords \"%V\" is empty; "
                           NGX_SVC_BREACHED_BUILD, name, name);
        return NGX_ERROR;
    }

    if (size > NGX_MAX_SIZE_T_VALUE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the file of breached passwords \"%V\" is larger "
                           "than memory can be here; build it with --min-count",
                           name);
        return NGX_ERROR;
    }

    map->len = (size_t) size;
    map->addr = mmap(NULL, map->len, PROT_READ, MAP_SHARED, fd, 0);

    if (map->addr == MAP_FAILED) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "mmap() of \"%V\" failed", name);
        return NGX_ERROR;
    }

    /* a look-up reads single pages, and none beside them */

    (void) madvise(map->addr, map->len, MADV_RANDOM);

    return NGX_OK;
}


static void
ngx_svc_breached_unmap(void *data)
{
    ngx_svc_breached_map_t  *map = data;

    (void) munmap(map->addr, map->len);
}


void
ngx_svc_breached_notice(ngx_conf_t *cf)
{
    ngx_svc_admin_main_conf_t  *amcf;

    amcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_svc_admin_module);

    if (amcf->breached) {
        return;
    }

    ngx_conf_log_error(NGX_LOG_NOTICE, cf, 0,
                       "without \"svc_breached_passwords\" \"rejectBreached\" "
                       "refuses common passwords, and none that are known from "
                       "data breaches");
}
