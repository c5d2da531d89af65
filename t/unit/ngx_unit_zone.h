/*
 * TZif files, made by hand.
 */

#ifndef _NGX_UNIT_ZONE_H_INCLUDED_
#define _NGX_UNIT_ZONE_H_INCLUDED_


#include "ngx_unit.h"
#include "ngx_svc_zone.h"


typedef struct {
    u_char        version;
    ngx_uint_t    nchanges;
    int64_t       changes[4];
    u_char        types[4];
    ngx_uint_t    ntypes;
    int32_t       offsets[4];
    ngx_uint_t    nleaps;
    const char   *footer;           /* with its line feeds; or NULL */
} ngx_unit_zone_t;


static inline u_char *
ngx_unit_zone_number(u_char *p, int64_t n, size_t width)
{
    while (width--) {
        *p++ = (u_char) (n >> (8 * width));
    }

    return p;
}


static inline u_char *
ngx_unit_zone_block(u_char *p, const ngx_unit_zone_t *file, size_t width)
{
    ngx_uint_t  i;

    p = ngx_cpymem(p, "TZif", 4);
    *p++ = file->version;
    memset(p, 0, 15);
    p += 15;

    p = ngx_unit_zone_number(p, 0, 4);
    p = ngx_unit_zone_number(p, 0, 4);
    p = ngx_unit_zone_number(p, file->nleaps, 4);
    p = ngx_unit_zone_number(p, file->nchanges, 4);
    p = ngx_unit_zone_number(p, file->ntypes, 4);
    p = ngx_unit_zone_number(p, 4, 4);

    for (i = 0; i < file->nchanges; i++) {
        p = ngx_unit_zone_number(p, file->changes[i], width);
    }

    p = ngx_cpymem(p, file->types, file->nchanges);

    for (i = 0; i < file->ntypes; i++) {
        p = ngx_unit_zone_number(p, file->offsets[i], 4);
        *p++ = 0;
        *p++ = 0;
    }

    p = ngx_cpymem(p, "ABC", 4);

    memset(p, 0, file->nleaps * (width + 4));

    return p + file->nleaps * (width + 4);
}


/* Returns the end of the file, of at most 512 bytes. */

static inline u_char *
ngx_unit_zone_file(u_char *p, const ngx_unit_zone_t *file)
{
    p = ngx_unit_zone_block(p, file, 4);

    if (file->version == 0) {
        return p;
    }

    p = ngx_unit_zone_block(p, file, 8);

    return file->footer ? ngx_cpymem(p, file->footer, strlen(file->footer))
                        : p;
}


#endif /* _NGX_UNIT_ZONE_H_INCLUDED_ */
