/*
 * Time zones from a directory of TZif files.
 */

#ifndef _NGX_SVC_ZONE_LOAD_H_INCLUDED_
#define _NGX_SVC_ZONE_LOAD_H_INCLUDED_


#include "ngx_svc_zone.h"


/*
 * Reads all zones under a directory.  This blocks, so it is done while the
 * configuration is read.  The zones are of the pool, which is the cycle's, and
 * workers share them.  A file that is no TZif is skipped.  Returns NULL when
 * there is no directory, or no zone in it, which is logged.
 */
NGX_SVC_API ngx_svc_zones_t *ngx_svc_zones_load(ngx_pool_t *pool,
    ngx_str_t *directory, ngx_log_t *log);


#endif /* _NGX_SVC_ZONE_LOAD_H_INCLUDED_ */
