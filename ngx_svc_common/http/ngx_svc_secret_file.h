/*
 * Files of the configuration with secrets.
 */

#ifndef _NGX_SVC_SECRET_FILE_H_INCLUDED_
#define _NGX_SVC_SECRET_FILE_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_http.h>


typedef struct {
    const char  *what;                  /* "key file" */
    const char  *content;               /* what it holds, as an example for
                                           echo in a shell */
} ngx_svc_secret_file_t;


/*
 * Reads at most max bytes of the file into text, while the configuration is
 * read.  name is NUL-terminated.  Returns how many bytes were read, or
 * NGX_ERROR, which is logged.  Warns when others may read the file, or its
 * group may write it.
 */
NGX_SVC_API ssize_t ngx_svc_secret_file(ngx_conf_t *cf,
    const ngx_svc_secret_file_t *file, ngx_str_t *name, u_char *text,
    size_t max);


#endif /* _NGX_SVC_SECRET_FILE_H_INCLUDED_ */
