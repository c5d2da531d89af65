/*
 * Stored passwords: Argon2's strings, and those of other schemes, which are
 * imported.
 *
 * All functions may be called in a thread: they use no pool, no log, no locale.
 */

#ifndef _NGX_SVC_PHC_H_INCLUDED_
#define _NGX_SVC_PHC_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_PHC_LEN         256     /* bytes, at most, of any string */
#define NGX_SVC_PHC_SALT        64      /* bytes, at most, as the next one */
#define NGX_SVC_PHC_TAG         64
#define NGX_SVC_PHC_SALT_MIN    8
#define NGX_SVC_PHC_TAG_MIN     16
#define NGX_SVC_PHC_BCRYPT_LEN  60

/* What a stored string may ask for: a hash of it takes seconds at the most. */

#define NGX_SVC_PHC_MEMORY      (256 * 1024)    /* KiB */
#define NGX_SVC_PHC_ITERATIONS  16
#define NGX_SVC_PHC_LANES       4
#define NGX_SVC_PHC_BCRYPT      14              /* 2^14 rounds */
#define NGX_SVC_PHC_PBKDF2      2000000         /* rounds */


/* The cost of new hashes: argon2id, with one lane. */

typedef struct {
    uint32_t               memory;      /* KiB, at least 8 */
    uint32_t               iterations;
} ngx_svc_phc_cost_t;


typedef enum {
    NGX_SVC_PHC_S_ARGON2ID = 0,
    NGX_SVC_PHC_S_ARGON2I,
    NGX_SVC_PHC_S_BCRYPT,
    NGX_SVC_PHC_S_PBKDF2_SHA256,
    NGX_SVC_PHC_S_PBKDF2_SHA512
} ngx_svc_phc_scheme_e;


/* A string that has been read; it owns no memory. */

typedef struct {
    ngx_svc_phc_scheme_e   scheme;
    uint32_t               memory;      /* KiB; for Argon2 alone, as lanes */
    uint32_t               lanes;
    uint32_t               iterations;  /* PBKDF2: rounds; bcrypt: log2 */
    size_t                 salt_len;
    size_t                 tag_len;
    u_char                 salt[NGX_SVC_PHC_SALT];
    u_char                 tag[NGX_SVC_PHC_TAG];
    char                   bcrypt[NGX_SVC_PHC_BCRYPT_LEN + 1];  /* the string */
} ngx_svc_phc_t;


/*
 * Reads
 *
 *   $argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>    and $argon2i$
 *   $2b$12$<53 characters>                         and $2a$, $2y$
 *   $pbkdf2-sha256$29000$<salt>$<tag>              and -sha512, as passlib's
 *
 * within the limits above, except that Argon2 may take the memory of cost, if
 * that is more; cost may be NULL.  Returns NGX_OK; NGX_DECLINED when it is
 * something else, or beyond the limits.  Nothing is allocated or computed.
 */
ngx_int_t ngx_svc_phc_parse(const u_char *text, size_t len,
    const ngx_svc_phc_cost_t *cost, ngx_svc_phc_t *phc);

/*
 * Verifies a string that ngx_svc_phc_parse() has read.  Returns NGX_OK: it is
 * this password; NGX_DECLINED: it is not; NGX_ERROR: there was no memory, or a
 * library failed.
 */
ngx_int_t ngx_svc_phc_verify(const ngx_svc_phc_t *phc, const u_char *password,
    size_t len);

/*
 * Makes a string of argon2id with a new salt of 16 bytes and a tag of 32; it
 * has *out_len bytes.  Returns NGX_OK, or NGX_ERROR as above.
 */
ngx_int_t ngx_svc_phc_make(const ngx_svc_phc_cost_t *cost,
    const u_char *password, size_t len, u_char out[NGX_SVC_PHC_LEN],
    size_t *out_len);

/*
 * Takes as long as the verification of a string that ngx_svc_phc_make() has
 * made.  Returns NGX_DECLINED always, or NGX_ERROR as above.
 */
ngx_int_t ngx_svc_phc_dummy(const ngx_svc_phc_cost_t *cost,
    const u_char *password, size_t len);

/* Returns 1 when ngx_svc_phc_make() would not make one like it. */
ngx_uint_t ngx_svc_phc_outdated(const ngx_svc_phc_t *phc,
    const ngx_svc_phc_cost_t *cost);


#endif /* _NGX_SVC_PHC_H_INCLUDED_ */
