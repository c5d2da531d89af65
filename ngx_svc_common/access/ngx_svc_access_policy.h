/*
 * What is inside of a policy: for the files of ngx_svc_access_*.c alone.
 */

#ifndef _NGX_SVC_ACCESS_POLICY_H_INCLUDED_
#define _NGX_SVC_ACCESS_POLICY_H_INCLUDED_


#include "ngx_svc_access.h"
#include "ngx_svc_schema.h"

#include <endian.h>


#define NGX_SVC_ACCESS_DAYS     7
#define NGX_SVC_ACCESS_LETTERS  26

/* Pairs of letters; "ZZ" is the last one, and the unknown country. */

#define NGX_SVC_ACCESS_CODES    (NGX_SVC_ACCESS_LETTERS                       \
                                 * NGX_SVC_ACCESS_LETTERS)
#define NGX_SVC_ACCESS_UNKNOWN  (NGX_SVC_ACCESS_CODES - 1)

/* Distinct zones of a policy: as many as it may have windows. */

#define NGX_SVC_ACCESS_ZONES    (NGX_SVC_ACCESS_RULES * NGX_SVC_ACCESS_WINDOWS)


/* A set of rules: a bit for each, the first rule is the lowest of words[0]. */

typedef struct {
    uint64_t                    words[2];
} ngx_svc_access_set_t;

#define ngx_svc_access_set_add(set, i)                                        \
    ((set)->words[(i) / 64] |= (uint64_t) 1 << ((i) % 64))

#define ngx_svc_access_set_remove(set, i)                                     \
    ((set)->words[(i) / 64] &= ~((uint64_t) 1 << ((i) % 64)))

#define ngx_svc_access_set_has(set, i)                                        \
    (((set)->words[(i) / 64] >> ((i) % 64)) & 1)


typedef struct {
    ngx_str_t                   text;       /* as it was given */
    ngx_svc_cidr_t              cidr;
} ngx_svc_access_network_t;


typedef struct {
    const ngx_svc_zone_t       *zone;
    ngx_uint_t                  index;      /* in the policy's zones */
    ngx_uint_t                  start;      /* minutes of the day */
    ngx_uint_t                  end;
    ngx_uint_t                  mask;       /* of days; bit 0 is Monday */
    ngx_uint_t                  ndays;
    u_char                      days[NGX_SVC_ACCESS_DAYS];  /* as given */
} ngx_svc_access_window_t;


typedef struct {
    ngx_str_t                   name;
    ngx_svc_access_action_e     action;
    ngx_uint_t                  enabled;
    ngx_svc_access_network_t   *networks;
    ngx_uint_t                  nnetworks;
    u_char                     *countries;  /* two bytes each */
    ngx_uint_t                  ncountries;
    ngx_svc_access_window_t    *windows;
    ngx_uint_t                  nwindows;
} ngx_svc_access_rule_t;


/*
 * The space of addresses of a family, cut at the first and behind the last
 * address of each network: part i begins at the start of that index, and ends
 * where the next one begins.  There is always a part that begins at 0.
 */

typedef struct {
    uint64_t                    high;       /* IPv4: the address, and low 0 */
    uint64_t                    low;
} ngx_svc_access_point_t;

typedef struct {
    ngx_svc_access_point_t     *starts;     /* ascending */
    ngx_svc_access_set_t       *sets;       /* rules with a network there */
    ngx_uint_t                  n;
} ngx_svc_access_space_t;


/*
 * A policy holds less than 2M: 100 rules of 100 networks (48 bytes, and a text
 * of at most 49), of 250 countries (2 bytes) and of 20 windows (56 bytes); at
 * most 2 * 100 * 100 + 2 parts (32 bytes), and 11K of countries.
 */

struct ngx_svc_access_policy_s {
    ngx_svc_access_rule_t      *rules;
    ngx_uint_t                  nrules;
    ngx_svc_access_action_e     action;     /* when no rule matches */
    ngx_svc_access_set_t        enabled;
    ngx_svc_access_set_t        anywhere;   /* rules without networks */
    ngx_svc_access_space_t      v4;
    ngx_svc_access_space_t      v6;
    ngx_svc_access_set_t       *countries;  /* of each code, those without
                                               countries too; NULL: no rule
                                               has any */
    const ngx_svc_zone_t      **zones;      /* distinct */
    ngx_uint_t                  nzones;
    size_t                      size;       /* in bytes, all of it */
};


/* A parse that is running. */

typedef struct {
    ngx_pool_t                 *pool;
    const ngx_svc_zones_t      *zones;
    ngx_svc_access_policy_t    *policy;
    const char                 *path;       /* before a member's name */
    ngx_uint_t                  flags;      /* NGX_SVC_S_... */
    ngx_svc_error_t            *err;
} ngx_svc_access_parse_t;

/*
 * The name of a member in messages, as in "accessPolicy.rules[2].networks", in
 * NGX_SVC_ACCESS_PATH bytes; returns path.
 */

#define NGX_SVC_ACCESS_PATH  160

const char *ngx_svc_access_path(const ngx_svc_access_parse_t *parse,
    char *path, const char *fmt, ...);

/* From the policy's pool; adds to its size.  NULL when memory runs out. */
void *ngx_svc_access_alloc(ngx_pool_t *pool, ngx_svc_access_policy_t *policy,
    size_t size);

/* NGX_SVC_E_LIMIT_EXCEEDED for an array, of a rule or not, over a limit. */
ngx_int_t ngx_svc_access_limit(const ngx_svc_access_parse_t *parse,
    cJSON *array, ngx_uint_t limit, const char *path);

/* From a country's two capital letters. */
#define ngx_svc_access_code(code)                                             \
    ((ngx_uint_t) (((code)[0] - 'A') * NGX_SVC_ACCESS_LETTERS                 \
                   + (code)[1] - 'A'))

static ngx_inline ngx_svc_access_point_t
ngx_svc_access_point(const ngx_svc_addr_t *addr)
{
    uint32_t                v4;
    ngx_svc_access_point_t  point;

    if (addr->family == AF_INET) {
        ngx_memcpy(&v4, addr->bytes, 4);

        point.high = ntohl(v4);
        point.low = 0;

        return point;
    }

    ngx_memcpy(&point.high, addr->bytes, 8);
    ngx_memcpy(&point.low, addr->bytes + 8, 8);

    point.high = be64toh(point.high);
    point.low = be64toh(point.low);

    return point;
}


static ngx_inline ngx_int_t
ngx_svc_access_point_cmp(const ngx_svc_access_point_t *one,
    const ngx_svc_access_point_t *two)
{
    if (one->high != two->high) {
        return one->high < two->high ? -1 : 1;
    }

    return one->low == two->low ? 0 : one->low < two->low ? -1 : 1;
}


#endif /* _NGX_SVC_ACCESS_POLICY_H_INCLUDED_ */
