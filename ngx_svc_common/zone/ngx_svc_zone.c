/*
 * Time zones: parses TZif files, and finds zones in a set.
 */

#include "ngx_svc_zone.h"
#include "ngx_svc_zone_set.h"
#include "ngx_svc_zone_rule.h"


#define NGX_SVC_ZONE_HEADER  44         /* bytes */
#define NGX_SVC_ZONE_COUNTS  20
#define NGX_SVC_ZONE_TYPE    6

/* Offsets are within these limits (RFC 8536, 3.2). */

#define NGX_SVC_ZONE_WEST    (-25 * 3600)
#define NGX_SVC_ZONE_EAST    (26 * 3600)

/* Times are limited to this, either way, so that nothing overflows. */

#define NGX_SVC_ZONE_TIME    ((int64_t) 1 << 55)


struct ngx_svc_zone_s {
    ngx_str_t             name;
    int64_t              *changes;      /* ascending */
    u_char               *types;        /* the type from each change on */
    int32_t              *offsets;      /* of each type */
    ngx_uint_t            nchanges;
    ngx_svc_zone_rule_t   rule;         /* after the last change */
    unsigned              ruled:1;      /* there is a rule */
};


/* A block of a TZif file: the counts of its header, and its parts. */

typedef struct {
    ngx_uint_t            version;      /* '\0', '2', '3', ... */
    ngx_uint_t            nut;
    ngx_uint_t            nstandard;
    ngx_uint_t            nleaps;
    ngx_uint_t            nchanges;
    ngx_uint_t            ntypes;
    ngx_uint_t            nchars;
    size_t                width;        /* of a time: 4 or 8 bytes */
    const u_char         *changes;
    const u_char         *indices;
    const u_char         *types;
    const u_char         *last;         /* the end of the block */
} ngx_svc_zone_block_t;


static ngx_int_t ngx_svc_zone_block(ngx_svc_zone_block_t *block,
    const u_char *data, size_t len, size_t width);
static ngx_int_t ngx_svc_zone_check(const ngx_svc_zone_block_t *block);
static ngx_int_t ngx_svc_zone_fill(ngx_pool_t *pool, ngx_svc_zone_t *zone,
    const ngx_svc_zone_block_t *block);
static ngx_int_t ngx_svc_zone_footer(ngx_svc_zone_t *zone, const u_char *p,
    const u_char *last);
static int64_t ngx_svc_zone_read(const u_char *p, size_t width);
static int ngx_libc_cdecl ngx_svc_zone_cmp(const void *one, const void *two);
static ngx_int_t ngx_svc_zone_cmp_name(const u_char *name, size_t len,
    const ngx_svc_zone_t *zone);


ngx_svc_zone_t *
ngx_svc_zone_parse(ngx_pool_t *pool, const ngx_str_t *name,
    const u_char *data, size_t len)
{
    const u_char          *last;
    ngx_svc_zone_t        *zone;
    ngx_svc_zone_block_t   block;

    last = data + len;

    if (ngx_svc_zone_block(&block, data, len, 4) != NGX_OK) {
        return NULL;
    }

    if (block.version >= '2'
        && ngx_svc_zone_block(&block, block.last, last - block.last, 8)
           != NGX_OK)
    {
        return NULL;
    }

    if (ngx_svc_zone_check(&block) != NGX_OK) {
        return NULL;
    }

    zone = ngx_pcalloc(pool, sizeof(ngx_svc_zone_t));
    if (zone == NULL) {
        return NULL;
    }

    if (block.width == 8
        && ngx_svc_zone_footer(zone, block.last, last) != NGX_OK)
    {
        return NULL;
    }

    zone->name.len = name->len;
    zone->name.data = ngx_pnalloc(pool, name->len);
    if (zone->name.data == NULL) {
        return NULL;
    }

    ngx_memcpy(zone->name.data, name->data, name->len);

    if (ngx_svc_zone_fill(pool, zone, &block) != NGX_OK) {
        return NULL;
    }

    return zone;
}


const ngx_str_t *
ngx_svc_zone_name(const ngx_svc_zone_t *zone)
{
    return &zone->name;
}


int32_t
ngx_svc_zone_offset(const ngx_svc_zone_t *zone, int64_t at)
{
    ngx_uint_t  low, high, middle;

    at = ngx_max(at, -NGX_SVC_ZONE_TIME);
    at = ngx_min(at, NGX_SVC_ZONE_TIME);

    if (zone->ruled
        && (zone->nchanges == 0 || at >= zone->changes[zone->nchanges - 1]))
    {
        return ngx_svc_zone_rule_offset(&zone->rule, at);
    }

    low = 0;
    high = zone->nchanges;

    while (low < high) {
        middle = (low + high) / 2;

        if (zone->changes[middle] <= at) {
            low = middle + 1;

        } else {
            high = middle;
        }
    }

    /* the first type is that of times before the first change */

    return zone->offsets[low ? zone->types[low - 1] : 0];
}


void
ngx_svc_zones_sort(ngx_svc_zones_t *zones)
{
    ngx_qsort(zones->zones, zones->n, sizeof(ngx_svc_zone_t *),
              ngx_svc_zone_cmp);
}


const ngx_svc_zone_t *
ngx_svc_zone_find(const ngx_svc_zones_t *zones, const u_char *name, size_t len)
{
    ngx_int_t   rc;
    ngx_uint_t  low, high, middle;

    low = 0;
    high = zones->n;

    while (low < high) {
        middle = (low + high) / 2;
        rc = ngx_svc_zone_cmp_name(name, len, zones->zones[middle]);

        if (rc == 0) {
            return zones->zones[middle];
        }

        if (rc > 0) {
            low = middle + 1;

        } else {
            high = middle;
        }
    }

    return NULL;
}


static ngx_int_t
ngx_svc_zone_block(ngx_svc_zone_block_t *block, const u_char *data, size_t len,
    size_t width)
{
    size_t         size;
    ngx_uint_t     i;
    const u_char  *p;

    ngx_uint_t    *counts[] = {
        &block->nut, &block->nstandard, &block->nleaps, &block->nchanges,
        &block->ntypes, &block->nchars
    };

    if (len < NGX_SVC_ZONE_HEADER || ngx_memcmp(data, "TZif", 4) != 0) {
        return NGX_DECLINED;
    }

    block->version = data[4];
    block->width = width;

    p = data + NGX_SVC_ZONE_COUNTS;

    for (i = 0; i < 6; i++) {
        *counts[i] = (ngx_uint_t) (ngx_svc_zone_read(p, 4) & 0xffffffff);

        /* each element has at least one byte */

        if (*counts[i] > len) {
            return NGX_DECLINED;
        }

        p += 4;
    }

    size = block->nchanges * (width + 1)
           + block->ntypes * NGX_SVC_ZONE_TYPE
           + block->nchars
           + block->nleaps * (width + 4)
           + block->nstandard + block->nut;

    if (size > len - NGX_SVC_ZONE_HEADER) {
        return NGX_DECLINED;
    }

    block->changes = p;
    block->indices = block->changes + block->nchanges * width;
    block->types = block->indices + block->nchanges;
    block->last = p + size;

    return NGX_OK;
}


/* A file with leap seconds is declined: POSIX's time has none. */

static ngx_int_t
ngx_svc_zone_check(const ngx_svc_zone_block_t *block)
{
    int64_t     at, before, offset;
    ngx_uint_t  i;

    if (block->ntypes == 0 || block->ntypes > 256 || block->nleaps) {
        return NGX_DECLINED;
    }

    before = 0;

    for (i = 0; i < block->nchanges; i++) {
        at = ngx_svc_zone_read(block->changes + i * block->width,
                               block->width);

        if ((i && at <= before) || block->indices[i] >= block->ntypes) {
            return NGX_DECLINED;
        }

        before = at;
    }

    for (i = 0; i < block->ntypes; i++) {
        offset = ngx_svc_zone_read(block->types + i * NGX_SVC_ZONE_TYPE, 4);

        if (offset <= NGX_SVC_ZONE_WEST || offset >= NGX_SVC_ZONE_EAST) {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_zone_fill(ngx_pool_t *pool, ngx_svc_zone_t *zone,
    const ngx_svc_zone_block_t *block)
{
    ngx_uint_t  i, n;

    n = block->nchanges;

    zone->changes = ngx_palloc(pool, n * sizeof(int64_t));
    zone->offsets = ngx_palloc(pool, block->ntypes * sizeof(int32_t));
    zone->types = ngx_pnalloc(pool, n);

    if (zone->changes == NULL || zone->offsets == NULL || zone->types == NULL)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        zone->changes[i] = ngx_svc_zone_read(block->changes + i * block->width,
                                             block->width);
        zone->types[i] = block->indices[i];
    }

    for (i = 0; i < block->ntypes; i++) {
        zone->offsets[i] = (int32_t)
            ngx_svc_zone_read(block->types + i * NGX_SVC_ZONE_TYPE, 4);
    }

    zone->nchanges = n;

    return NGX_OK;
}


/* Reads the footer's rule, which is between line feeds, and may be empty. */

static ngx_int_t
ngx_svc_zone_footer(ngx_svc_zone_t *zone, const u_char *p, const u_char *last)
{
    const u_char  *end;

    if (p == last || *p++ != LF) {
        return NGX_DECLINED;
    }

    end = p < last ? memchr(p, LF, last - p) : NULL;

    if (end == NULL) {
        return NGX_DECLINED;
    }

    if (end == p) {
        return NGX_OK;
    }

    zone->ruled = 1;

    return ngx_svc_zone_rule_parse(&zone->rule, p, end - p);
}


static int64_t
ngx_svc_zone_read(const u_char *p, size_t width)
{
    size_t    i;
    uint64_t  n;

    n = (p[0] & 0x80) ? UINT64_MAX : 0;

    for (i = 0; i < width; i++) {
        n = n << 8 | p[i];
    }

    return (int64_t) n;
}


static int ngx_libc_cdecl
ngx_svc_zone_cmp(const void *one, const void *two)
{
    const ngx_svc_zone_t  *first;

    first = *(ngx_svc_zone_t *const *) one;

    return (int) ngx_svc_zone_cmp_name(first->name.data, first->name.len,
                                       *(ngx_svc_zone_t *const *) two);
}


static ngx_int_t
ngx_svc_zone_cmp_name(const u_char *name, size_t len,
    const ngx_svc_zone_t *zone)
{
    ngx_int_t  rc;

    rc = ngx_memcmp(name, zone->name.data, ngx_min(len, zone->name.len));

    return rc ? rc : (ngx_int_t) len - (ngx_int_t) zone->name.len;
}
