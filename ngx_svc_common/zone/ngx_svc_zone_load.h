/*
 * Time zones from a directory of TZif files.
 */

#ifndef _NGX_SVC_ZONE_LOAD_H_INCLUDED_
#define _NGX_SVC_ZONE_LOAD_H_INCLUDED_


#include "ngx_svc_zone.h"


/*
 * Reads all zones under a directory, which blocks: while the configuration is
 * read.  They are of the pool, the cycle's, and workers share them.  NULL: the
 * log says what is wrong (no directory, no zone in it); a file that is no TZif
 * is passed over.
 */
NGX_SVC_API ngx_svc_zones_t *ngx_svc_zones_load(ngx_pool_t *pool,
    ngx_str_t *directory, ngx_log_t *log);


#endif /* _NGX_SVC_ZONE_LOAD_H_INCLUDED_ */
