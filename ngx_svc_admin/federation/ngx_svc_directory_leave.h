/*
 * The end of an import: who has left the directory is deactivated.
 */

#ifndef _NGX_SVC_DIRECTORY_LEAVE_H_INCLUDED_
#define _NGX_SVC_DIRECTORY_LEAVE_H_INCLUDED_


#include "ngx_svc_directory_run.h"


/*
 * Counts the users that are to be deactivated, deactivates them unless they are
 * too many for a mistake, and ends the run.
 */
void ngx_svc_directory_leave(ngx_svc_directory_run_t *run);


#endif /* _NGX_SVC_DIRECTORY_LEAVE_H_INCLUDED_ */
