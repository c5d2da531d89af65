/*
 * Sockets that a library owns, in nginx's event loop.
 */

#ifndef _NGX_SVC_SOCKET_H_INCLUDED_
#define _NGX_SVC_SOCKET_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_event.h>


/*
 * Makes an nginx connection that borrows fd, which stays the library's, and
 * must never be closed through nginx.  handler gets its read and write events,
 * which must be added level-triggered (flags 0), since the libraries do not
 * read to the end.  Returns NULL when fd is negative, or worker_connections are
 * used up.
 */
NGX_SVC_API ngx_connection_t *ngx_svc_socket_borrow(ngx_socket_t fd, void *data,
    ngx_event_handler_pt handler, ngx_log_t *log);

/*
 * Frees the nginx connection.  closed: the library has closed fd, and epoll has
 * forgotten it.
 */
NGX_SVC_API void ngx_svc_socket_return(ngx_connection_t *c, ngx_uint_t closed);


#endif /* _NGX_SVC_SOCKET_H_INCLUDED_ */
