/*
 * Argon2 in the thread of its caller.
 *
 * Its memory is mapped for each hash.  malloc() would keep one such block in
 * the arena of each thread that ever made a hash, which is more than a worker
 * is said to take; and without huge pages the faults cost a third of the time.
 */

#include "ngx_svc_argon2.h"

#include <sys/mman.h>


static int ngx_svc_argon2_map(uint8_t **memory, size_t size);
static void ngx_svc_argon2_unmap(uint8_t *memory, size_t size);


ngx_int_t
ngx_svc_argon2(const ngx_svc_argon2_t *params, const u_char *password,
    size_t len, u_char *tag, size_t tag_len)
{
    argon2_context  ctx;

    ngx_memzero(&ctx, sizeof(argon2_context));

    /* of these two it only reads, without ARGON2_FLAG_CLEAR_PASSWORD */

    ctx.pwd = (uint8_t *) password;
    ctx.pwdlen = len;
    ctx.salt = (uint8_t *) params->salt;
    ctx.saltlen = params->salt_len;

    ctx.out = tag;
    ctx.outlen = tag_len;
    ctx.m_cost = params->memory;
    ctx.t_cost = params->iterations;
    ctx.lanes = params->lanes;
    ctx.threads = 1;
    ctx.version = ARGON2_VERSION_13;
    ctx.allocate_cbk = ngx_svc_argon2_map;
    ctx.free_cbk = ngx_svc_argon2_unmap;
    ctx.flags = ARGON2_DEFAULT_FLAGS;

    if (argon2_ctx(&ctx, params->type) != ARGON2_OK) {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static int
ngx_svc_argon2_map(uint8_t **memory, size_t size)
{
    void  *p;

    p = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1,
             0);

    if (p == MAP_FAILED) {
        return ARGON2_MEMORY_ALLOCATION_ERROR;
    }

    /* an advice: a system without them does with small ones */

    (void) madvise(p, size, MADV_HUGEPAGE);

    *memory = p;

    return ARGON2_OK;
}


/* libargon2 has wiped it. */

static void
ngx_svc_argon2_unmap(uint8_t *memory, size_t size)
{
    (void) munmap(memory, size);
}
