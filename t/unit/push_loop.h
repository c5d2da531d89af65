/*
 * The part of nginx below an event loop, for the connections of libcurl.
 */

#ifndef _PUSH_LOOP_H_INCLUDED_
#define _PUSH_LOOP_H_INCLUDED_


#include "ngx_env.h"

#include <ngx_event.h>


/* Called at the program's start and at its end. */
void loop_init(void);
void loop_exit(void);

/* Prints what, and ends the program. */
void loop_die(const char *what) __attribute__((noreturn));

/* One iteration; returns 1 when the standard input can be read. */
ngx_uint_t loop_iterate(ngx_uint_t input);


#endif /* _PUSH_LOOP_H_INCLUDED_ */
