/*
 * The contents of a policy, for the files ngx_svc_access_*.c alone.
 */

#ifndef _NGX_SVC_ACCESS_POLICY_H_INCLUDED_
#define _NGX_SVC_ACCESS_POLICY_H_INCLUDED_


#include "ngx_svc_access.h"
#include "ngx_svc_schema.h"

#include <endian.h>


#define NGX_SVC_ACCESS_DAYS     7
#define NGX_SVC_ACCESS_LETTERS  26

/* A country is a pair of letters; the last, "ZZ", is the unknown country. */

#define NGX_SVC_ACCESS_CODES    (NGX_SVC_ACCESS_LETTERS                       \
                                 * NGX_SVC_ACCESS_LETTERS)
#define NGX_SVC_ACCESS_UNKNOWN  (NGX_SVC_ACCESS_CODES - 1)

/* A policy may have as many distinct zones as windows. */

#define NGX_SVC_ACCESS_ZONES    (NGX_SVC_ACCESS_RULES * NGX_SVC_ACCESS_WINDOWS)


/* A set of rules, with a bit for each; the first is the lowest of words[0]. */

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
    ngx_uint_t                  end;        /* minutes of the day */
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
 * The space of all addresses of a family is cut at the first address of each
 * network, and after its last one.  Part i begins at starts[i], and ends where
 * the next part begins.  There is always a part that begins at 0.
 */

typedef struct {
    uint64_t                    high;       /* IPv4: the address; low is 0 */
    uint64_t                    low;
} ngx_svc_access_point_t;

typedef struct {
    ngx_svc_access_point_t     *starts;     /* ascending */
    ngx_svc_access_set_t       *sets;       /* rules with a network there */
    ngx_uint_t                  n;
} ngx_svc_access_space_t;


/*
 * A policy takes less than 2M: 100 rules with 100 networks (48 bytes, and a
 * text of at most 49), 250 countries (2 bytes) and 20 windows (56 bytes) each;
 * at most 2 * 100 * 100 + 2 parts (32 bytes), and 11K for countries.
 */

struct ngx_svc_access_policy_s {
    ngx_svc_access_rule_t      *rules;
    ngx_uint_t                  nrules;
    ngx_svc_access_action_e     action;     /* when no rule matches */
    ngx_svc_access_set_t        enabled;
    ngx_svc_access_set_t        anywhere;   /* rules without networks */
    ngx_svc_access_space_t      v4;
    ngx_svc_access_space_t      v6;
    ngx_svc_access_set_t       *countries;  /* for each code the rules that
                                               have it, or have no countries;
                                               NULL: no rule has countries */
    const ngx_svc_zone_t      **zones;      /* distinct */
    ngx_uint_t                  nzones;
    size_t                      size;       /* bytes of the whole policy */
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
 * Writes the name of a member for messages, as in
 * "accessPolicy.rules[2].networks", and returns path, which has room for
 * NGX_SVC_ACCESS_PATH bytes.
 */

#define NGX_SVC_ACCESS_PATH  160

const char *ngx_svc_access_path(const ngx_svc_access_parse_t *parse,
    char *path, const char *fmt, ...);

/*
 * Allocates from the policy's pool, and adds to its size.  Returns NULL when
 * memory runs out.
 */
void *ngx_svc_access_alloc(ngx_pool_t *pool, ngx_svc_access_policy_t *policy,
    size_t size);

/*
 * Checks that an array has at most "limit" elements.  Returns NGX_OK, or
 * NGX_DECLINED with the error NGX_SVC_E_LIMIT_EXCEEDED.
 */
ngx_int_t ngx_svc_access_limit(const ngx_svc_access_parse_t *parse,
    cJSON *array, ngx_uint_t limit, const char *path);

/* The index of a country, from its two capital letters. */
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
