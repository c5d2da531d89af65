/*
 * A set of zones, for the code that fills it.
 */

#ifndef _NGX_SVC_ZONE_SET_H_INCLUDED_
#define _NGX_SVC_ZONE_SET_H_INCLUDED_


#include "ngx_svc_zone.h"


struct ngx_svc_zones_s {
    ngx_svc_zone_t  **zones;            /* sorted by name */
    ngx_uint_t        n;
    ngx_uint_t        generation;       /* each set has another one */
};


#endif /* _NGX_SVC_ZONE_SET_H_INCLUDED_ */
