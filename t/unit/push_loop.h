/*
 * What of nginx is behind an event loop, of the connections of libcurl.
 */

#ifndef _PUSH_LOOP_H_INCLUDED_
#define _PUSH_LOOP_H_INCLUDED_


#include "ngx_env.h"

#include <ngx_event.h>


/* At the program's start, and at its end. */
void loop_init(void);
void loop_exit(void);

/* Says what, and ends the program. */
void loop_die(const char *what) __attribute__((noreturn));

/* A turn; 1: there is something to read on the standard input. */
ngx_uint_t loop_turn(ngx_uint_t input);


#endif /* _PUSH_LOOP_H_INCLUDED_ */
