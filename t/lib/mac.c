/*
 * Preloaded into nginx: no MAC can be made while the file SVC_TEST_NO_MAC is
 * there, as when memory runs out.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <unistd.h>


int
EVP_MAC_final(EVP_MAC_CTX *ctx, unsigned char *out, size_t *len, size_t size)
{
    static int  (*next)(EVP_MAC_CTX *, unsigned char *, size_t *, size_t);

    const char  *file;

    if (next == NULL) {
        *(void **) &next = dlsym(RTLD_NEXT, "EVP_MAC_final");
    }

    file = getenv("SVC_TEST_NO_MAC");

    if (file && access(file, F_OK) == 0) {
        return 0;
    }

    return next(ctx, out, len, size);
}
