/*
 * The allocator of ASan over a fork.  Whoever forks while another thread holds one
 * of its locks, which each thread does as it begins, leaves the child with a lock
 * that nobody lets go of.  As later compilers have it of themselves, the locks are
 * held over the fork.
 */

#include <pthread.h>


#if !defined(__clang__) && __GNUC__ < 14

/* the functions of its leak checker, which holds them in the same order */

void lock_threads(void) __asm__("_ZN6__lsan18LockThreadRegistryEv");
void lock_allocator(void) __asm__("_ZN6__lsan13LockAllocatorEv");
void unlock_allocator(void) __asm__("_ZN6__lsan15UnlockAllocatorEv");
void unlock_threads(void) __asm__("_ZN6__lsan20UnlockThreadRegistryEv");


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
