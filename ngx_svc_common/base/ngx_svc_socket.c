/*
 * Sockets that a library owns, in nginx's event loop.
 */

#include "ngx_svc_socket.h"


ngx_connection_t *
ngx_svc_socket_borrow(ngx_socket_t fd, void *data,
    ngx_event_handler_pt handler, ngx_log_t *log)
{
    ngx_connection_t  *c;

    if (fd < 0) {
        return NULL;
    }

    c = ngx_get_connection(fd, log);
    if (c == NULL) {
        return NULL;
    }

    c->data = data;
    c->read->handler = handler;
    c->write->handler = handler;
    c->read->log = log;
    c->write->log = log;

    return c;
}


void
ngx_svc_socket_return(ngx_connection_t *c, ngx_uint_t closed)
{
    ngx_uint_t  flags;

    flags = closed ? NGX_CLOSE_EVENT : 0;

    if (c->read->active) {
        (void) ngx_del_event(c->read, NGX_READ_EVENT, flags);
    }

    if (c->write->active) {
        (void) ngx_del_event(c->write, NGX_WRITE_EVENT, flags);
    }

    if (c->read->posted) {
        ngx_delete_posted_event(c->read);
    }

    if (c->write->posted) {
        ngx_delete_posted_event(c->write);
    }

    ngx_free_connection(c);

    c->fd = (ngx_socket_t) -1;
}
