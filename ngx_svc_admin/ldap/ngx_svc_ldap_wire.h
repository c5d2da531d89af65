/*
 * A layer below libldap's TLS that bounds what a server can make a thread do:
 * libldap's own limits end no handshake that hangs, and no answer that comes
 * byte by byte.
 */

#ifndef _NGX_SVC_LDAP_WIRE_H_INCLUDED_
#define _NGX_SVC_LDAP_WIRE_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ldap.h>


/* A connection's; it is the thread's that has the connection. */

typedef struct {
    int         fd;
    uint64_t    deadline;           /* ms of ngx_svc_ldap_clock() */
    size_t      left;               /* bytes that may still be read */
    unsigned    late:1;             /* 1: the deadline has passed */
    unsigned    much:1;             /* 1: there was more to read */
} ngx_svc_ldap_wire_t;


/* Returns ms of a clock that goes on while the event loop does not. */
uint64_t ngx_svc_ldap_clock(void);

/*
 * Waits until the socket can be read or written (POLLIN, POLLOUT), at most
 * until the deadline.  Returns NGX_OK, or NGX_ERROR with errno set.
 */
ngx_int_t ngx_svc_ldap_wire_wait(ngx_svc_ldap_wire_t *wire, int event);

/*
 * Puts the layer into a handle that has a connected socket, wire->fd.  wire
 * must live as long as the handle.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_ldap_wire_add(ngx_svc_ldap_wire_t *wire, LDAP *ld);


#endif /* _NGX_SVC_LDAP_WIRE_H_INCLUDED_ */
