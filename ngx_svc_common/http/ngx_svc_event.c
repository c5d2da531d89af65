/*
 * Events of users, for the module that delivers them to subscribers.
 */

#include "ngx_svc_event.h"


static const ngx_str_t  ngx_svc_event_names[] = {
    ngx_string("user.created"),
    ngx_string("user.login"),
    ngx_string("user.deleted")
};

_Static_assert(sizeof(ngx_svc_event_names) / sizeof(ngx_svc_event_names[0])
               == NGX_SVC_EVENTS, "each kind of event has a name");

static ngx_svc_event_pt  ngx_svc_event_listener;


const ngx_str_t *
ngx_svc_event_name(ngx_svc_event_e kind)
{
    return &ngx_svc_event_names[kind];
}


void
ngx_svc_event_emit(const ngx_svc_event_t *event)
{
    if (ngx_svc_event_listener && event->subscribers.len) {
        ngx_svc_event_listener(event);
    }
}


ngx_uint_t
ngx_svc_event_listens(void)
{
    return ngx_svc_event_listener != NULL;
}


void
ngx_svc_event_listen(ngx_svc_event_pt handler)
{
    ngx_svc_event_listener = handler;
}
