/*
 * Argon2 in the caller's thread.
 *
 * Its memory is mapped: malloc() would keep one such block in the arena of each
 * thread that ever made a hash, which is more than a worker is said to take;
 * and without huge pages the page faults cost a third of the time.  With huge
 * pages they still cost a tenth, which a hash that has waited for another one
 * is spared.
 */

#include "ngx_svc_argon2.h"

#include <pthread.h>
#include <sys/mman.h>


/* In the first bytes of a block that is kept. */

typedef struct ngx_svc_argon2_block_s  ngx_svc_argon2_block_t;

struct ngx_svc_argon2_block_s {
    ngx_svc_argon2_block_t  *next;
    size_t                   size;
};


static int ngx_svc_argon2_map(uint8_t **memory, size_t size);
static void ngx_svc_argon2_unmap(uint8_t *memory, size_t size);
static ngx_svc_argon2_block_t *ngx_svc_argon2_take(void);


/* the worker's, for all of its threads */

static pthread_mutex_t  ngx_svc_argon2_mutex = PTHREAD_MUTEX_INITIALIZER;

static ngx_svc_argon2_block_t  *ngx_svc_argon2_kept;
static ngx_uint_t               ngx_svc_argon2_nkept;
static ngx_uint_t               ngx_svc_argon2_most;


ngx_int_t
ngx_svc_argon2(const ngx_svc_argon2_t *params, const u_char *password,
    size_t len, u_char *tag, size_t tag_len)
{
    argon2_context  ctx;

    ngx_memzero(&ctx, sizeof(argon2_context));

    /* Argon2 only reads these two without ARGON2_FLAG_CLEAR_PASSWORD */

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


void
ngx_svc_argon2_keep(ngx_uint_t n)
{
    pthread_mutex_lock(&ngx_svc_argon2_mutex);

    ngx_svc_argon2_most = n;

    pthread_mutex_unlock(&ngx_svc_argon2_mutex);
}


void
ngx_svc_argon2_drop(void)
{
    ngx_svc_argon2_block_t  *block;

    for ( ;; ) {
        block = ngx_svc_argon2_take();

        if (block == NULL) {
            return;
        }

        (void) munmap(block, block->size);
    }
}


static ngx_svc_argon2_block_t *
ngx_svc_argon2_take(void)
{
    ngx_svc_argon2_block_t  *block;

    pthread_mutex_lock(&ngx_svc_argon2_mutex);

    block = ngx_svc_argon2_kept;

    if (block) {
        ngx_svc_argon2_kept = block->next;
        ngx_svc_argon2_nkept--;
    }

    pthread_mutex_unlock(&ngx_svc_argon2_mutex);

    return block;
}


/* A block of another size, of an imported hash, is unmapped to make room. */

static int
ngx_svc_argon2_map(uint8_t **memory, size_t size)
{
    void                    *p;
    ngx_svc_argon2_block_t  *block;

    block = ngx_svc_argon2_take();

    if (block && block->size == size) {
        *memory = (uint8_t *) block;
        return ARGON2_OK;
    }

    if (block) {
        (void) munmap(block, block->size);
    }

    p = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1,
             0);

    if (p == MAP_FAILED) {
        return ARGON2_MEMORY_ALLOCATION_ERROR;
    }

    /* only an advice: a system without huge pages uses small ones */

    (void) madvise(p, size, MADV_HUGEPAGE);

    *memory = p;

    return ARGON2_OK;
}


/* libargon2 has wiped the memory. */

static void
ngx_svc_argon2_unmap(uint8_t *memory, size_t size)
{
    ngx_svc_argon2_block_t  *block;

    block = (ngx_svc_argon2_block_t *) memory;

    pthread_mutex_lock(&ngx_svc_argon2_mutex);

    if (ngx_svc_argon2_nkept < ngx_svc_argon2_most) {
        block->next = ngx_svc_argon2_kept;
        block->size = size;

        ngx_svc_argon2_kept = block;
        ngx_svc_argon2_nkept++;

        memory = NULL;
    }

    pthread_mutex_unlock(&ngx_svc_argon2_mutex);

    if (memory) {
        (void) munmap(memory, size);
    }
}
