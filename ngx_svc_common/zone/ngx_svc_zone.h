/*
 * Time zones of the IANA database, from the system's TZif files (RFC 8536).
 *
 * Each sign-in evaluates a policy, and needs an offset within it: here that
 * takes no round trip.  PostgreSQL would not do to check a name either: it takes
 * abbreviations and POSIX strings for zones, too, and its list of names is read
 * from the files anew each time.
 */

#ifndef _NGX_SVC_ZONE_H_INCLUDED_
#define _NGX_SVC_ZONE_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_ZONE_NAME_MAX  64       /* bytes */


typedef struct ngx_svc_zone_s   ngx_svc_zone_t;
typedef struct ngx_svc_zones_s  ngx_svc_zones_t;


/* By name, as ngx_svc_zone_find() needs it: for who fills a set. */
void ngx_svc_zones_sort(ngx_svc_zones_t *zones);

/* By its name, case-exact; NULL: there is none. */
NGX_SVC_API const ngx_svc_zone_t *ngx_svc_zone_find(
    const ngx_svc_zones_t *zones, const u_char *name, size_t len);

/* One zone from the bytes of a TZif file; NULL: it is none. */
NGX_SVC_API ngx_svc_zone_t *ngx_svc_zone_parse(ngx_pool_t *pool,
    const ngx_str_t *name, const u_char *data, size_t len);

NGX_SVC_API const ngx_str_t *ngx_svc_zone_name(const ngx_svc_zone_t *zone);

/*
 * Seconds east of UTC at a time, in seconds since the epoch: of the
 * transitions, and behind the last one of the rule in the file's footer.
 */
NGX_SVC_API int32_t ngx_svc_zone_offset(const ngx_svc_zone_t *zone,
    int64_t at);


#endif /* _NGX_SVC_ZONE_H_INCLUDED_ */
