/*
 * Time zones of the IANA database, from the system's TZif files (RFC 8536).
 *
 * Each sign-in evaluates a policy, which needs the offset of a zone: here that
 * takes no round trip.  PostgreSQL cannot be used to check names, either: it
 * also takes abbreviations and POSIX strings as zones, and it reads its list of
 * names from the files anew each time.
 */

#ifndef _NGX_SVC_ZONE_H_INCLUDED_
#define _NGX_SVC_ZONE_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_ZONE_NAME_MAX  64       /* bytes */


typedef struct ngx_svc_zone_s   ngx_svc_zone_t;
typedef struct ngx_svc_zones_s  ngx_svc_zones_t;


/* Sorts a set by name, which ngx_svc_zone_find() needs. */
void ngx_svc_zones_sort(ngx_svc_zones_t *zones);

/* Returns the zone with exactly that name; NULL: there is none. */
NGX_SVC_API const ngx_svc_zone_t *ngx_svc_zone_find(
    const ngx_svc_zones_t *zones, const u_char *name, size_t len);

/*
 * Parses the bytes of a TZif file.  Returns NULL when it is no such file, or
 * memory runs out.
 */
NGX_SVC_API ngx_svc_zone_t *ngx_svc_zone_parse(ngx_pool_t *pool,
    const ngx_str_t *name, const u_char *data, size_t len);

/* Returns the zone's name. */
NGX_SVC_API const ngx_str_t *ngx_svc_zone_name(const ngx_svc_zone_t *zone);

/*
 * Returns the seconds east of UTC at a time, which is in seconds since the
 * epoch.  They are found by the file's transitions, and after the last one by
 * the rule in its footer.
 */
NGX_SVC_API int32_t ngx_svc_zone_offset(const ngx_svc_zone_t *zone,
    int64_t at);


#endif /* _NGX_SVC_ZONE_H_INCLUDED_ */
