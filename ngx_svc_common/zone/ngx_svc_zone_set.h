/*
 * A set of zones, for those who fill it.
 */

#ifndef _NGX_SVC_ZONE_SET_H_INCLUDED_
#define _NGX_SVC_ZONE_SET_H_INCLUDED_


#include "ngx_svc_zone.h"


struct ngx_svc_zones_s {
    ngx_svc_zone_t  **zones;            /* sorted by name */
    ngx_uint_t        n;
    ngx_uint_t        generation;       /* of each set another one */
};


#endif /* _NGX_SVC_ZONE_SET_H_INCLUDED_ */
