/*
 * Files of the configuration that nobody else may read.
 */

#ifndef _NGX_SVC_SECRET_FILE_H_INCLUDED_
#define _NGX_SVC_SECRET_FILE_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_http.h>


typedef struct {
    const char  *what;                  /* "key file" */
    const char  *content;               /* what one holds, for a shell */
} ngx_svc_secret_file_t;


/*
 * While the configuration is read: the bytes of the file, max of them at most,
 * or NGX_ERROR, which is logged.  name is NUL-terminated.  Of a file that
 * others may read it warns.
 */
NGX_SVC_API ssize_t ngx_svc_secret_file(ngx_conf_t *cf,
    const ngx_svc_secret_file_t *file, ngx_str_t *name, u_char *text,
    size_t max);


#endif /* _NGX_SVC_SECRET_FILE_H_INCLUDED_ */
