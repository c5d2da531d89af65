/*
 * The import of tenants' directories: all people are read, page by page, and
 * each page is written by one transaction.
 */

#ifndef _NGX_SVC_DIRECTORY_IMPORT_H_INCLUDED_
#define _NGX_SVC_DIRECTORY_IMPORT_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * Call these at the start of the worker that imports, one directory at a time,
 * and at the end of any worker.
 */
void ngx_svc_directory_import_init_worker(ngx_cycle_t *cycle);
void ngx_svc_directory_import_exit_worker(void);

/* Has this worker look at once whether one is due, if it imports. */
void ngx_svc_directory_import_wake(void);


#endif /* _NGX_SVC_DIRECTORY_IMPORT_H_INCLUDED_ */
