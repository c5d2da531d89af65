/*
 * Holds the locks of ASan's allocator over a fork, which the ASan of GCC 12 and 14
 * does not do itself.  Without it a child waits for ever for a lock that another
 * thread of its parent had at that moment: each thread takes one as it begins.
 */

#include <pthread.h>


#if !defined(__clang__) && __GNUC__ < 15

/* the functions of its leak checker, which holds them in the same order */

#if __GNUC__ < 14
#define LOCK_THREADS    "_ZN6__lsan18LockThreadRegistryEv"
#define UNLOCK_THREADS  "_ZN6__lsan20UnlockThreadRegistryEv"
#else
#define LOCK_THREADS    "_ZN6__lsan11LockThreadsEv"
#define UNLOCK_THREADS  "_ZN6__lsan13UnlockThreadsEv"
#endif

void lock_threads(void) __asm__(LOCK_THREADS);
void lock_allocator(void) __asm__("_ZN6__lsan13LockAllocatorEv");
void unlock_allocator(void) __asm__("_ZN6__lsan15UnlockAllocatorEv");
void unlock_threads(void) __asm__(UNLOCK_THREADS);


static void
before_fork(void)
{
    lock_threads();
    lock_allocator();
}


static void
after_fork(void)
{
    unlock_allocator();
    unlock_threads();
}


__attribute__((constructor)) static void
install(void)
{
    (void) pthread_atfork(before_fork, after_fork, after_fork);
}

#endif
