/*
 * Files of the configuration with secrets.
 */

#include "ngx_svc_secret_file.h"


static ngx_fd_t ngx_svc_secret_file_open(ngx_conf_t *cf,
    const ngx_svc_secret_file_t *file, ngx_str_t *name);


ssize_t
ngx_svc_secret_file(ngx_conf_t *cf, const ngx_svc_secret_file_t *file,
    ngx_str_t *name, u_char *text, size_t max)
{
    ssize_t          n;
    ngx_fd_t         fd;
    ngx_err_t        err;
    ngx_file_info_t  fi;

    fd = ngx_svc_secret_file_open(cf, file, name);
    if (fd == NGX_INVALID_FILE) {
        return NGX_ERROR;
    }

    if (ngx_fd_info(fd, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the %s \"%V\" is not a regular file", file->what,
                           name);
        (void) ngx_close_file(fd);
        return NGX_ERROR;
    }

    if (ngx_file_access(&fi) & 0027) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "the %s \"%V\" can be read by others, or "
                           "written by its group: chmod 600 %V", file->what,
                           name, name);
    }

    n = ngx_read_fd(fd, text, max);
    err = ngx_errno;

    (void) ngx_close_file(fd);

    if (n < 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, err,
                           "the %s \"%V\" cannot be read", file->what, name);
        return NGX_ERROR;
    }

    return n;
}


/* The open does not block: nginx would wait for the other end of a FIFO. */

static ngx_fd_t
ngx_svc_secret_file_open(ngx_conf_t *cf, const ngx_svc_secret_file_t *file,
    ngx_str_t *name)
{
    ngx_fd_t   fd;
    ngx_err_t  err;

    fd = ngx_open_file(name->data, NGX_FILE_RDONLY|NGX_FILE_NONBLOCK,
                       NGX_FILE_OPEN, 0);

    if (fd != NGX_INVALID_FILE) {
        return fd;
    }

    err = ngx_errno;

    if (err == NGX_ENOENT) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, err,
                           "there is no %s \"%V\"; make one with: (umask 077; "
                           "echo \"%s\" > %V)", file->what, name,
                           file->content, name);
    } else {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, err,
                           "the %s \"%V\" cannot be opened; let the user that "
                           "starts nginx read it", file->what, name);
    }

    return fd;
}
