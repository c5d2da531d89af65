/*
 * A layer below libldap's TLS.
 */

#include "ngx_svc_ldap_wire.h"

#include <ngx_event.h>
#include <ngx_process_cycle.h>
#include <poll.h>


#define NGX_SVC_LDAP_WIRE_LEVEL  (LBER_SBIOD_LEVEL_PROVIDER + 5)
#define NGX_SVC_LDAP_WIRE_PDU    (1024 * 1024)  /* bytes of one message */
#define NGX_SVC_LDAP_WIRE_SLICE  100            /* ms */


static int ngx_svc_ldap_wire_setup(Sockbuf_IO_Desc *io, void *arg);
static int ngx_svc_ldap_wire_remove(Sockbuf_IO_Desc *io);
static int ngx_svc_ldap_wire_ctrl(Sockbuf_IO_Desc *io, int opt, void *arg);
static ber_slen_t ngx_svc_ldap_wire_read(Sockbuf_IO_Desc *io, void *buf,
    ber_len_t len);
static ber_slen_t ngx_svc_ldap_wire_write(Sockbuf_IO_Desc *io, void *buf,
    ber_len_t len);
static int ngx_svc_ldap_wire_close(Sockbuf_IO_Desc *io);


static Sockbuf_IO  ngx_svc_ldap_wire_io = {
    ngx_svc_ldap_wire_setup,
    ngx_svc_ldap_wire_remove,
    ngx_svc_ldap_wire_ctrl,
    ngx_svc_ldap_wire_read,
    ngx_svc_ldap_wire_write,
    ngx_svc_ldap_wire_close
};


uint64_t
ngx_svc_ldap_clock(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (uint64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


/* A worker that is to end at once waits for its threads. */

ngx_int_t
ngx_svc_ldap_wire_wait(ngx_svc_ldap_wire_t *wire, int event)
{
    int            n;
    uint64_t       now, left;
    struct pollfd  pfd;

    pfd.fd = wire->fd;
    pfd.events = event;

    do {
        now = ngx_svc_ldap_clock();
        left = now < wire->deadline ? wire->deadline - now : 0;
        n = poll(&pfd, 1, ngx_min(left, NGX_SVC_LDAP_WIRE_SLICE));

    } while ((n == 0 && left && !ngx_terminate)
             || (n == -1 && errno == EINTR));

    if (n == 0) {
        wire->late = 1;
        errno = ETIMEDOUT;
    }

    return n > 0 ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_ldap_wire_add(ngx_svc_ldap_wire_t *wire, LDAP *ld)
{
    Sockbuf    *sb;
    ber_len_t   max;

    max = NGX_SVC_LDAP_WIRE_PDU;

    if (ldap_get_option(ld, LDAP_OPT_SOCKBUF, &sb) != LDAP_OPT_SUCCESS
        || ber_sockbuf_ctrl(sb, LBER_SB_OPT_SET_MAX_INCOMING, &max) != 1
        || ber_sockbuf_add_io(sb, &ngx_svc_ldap_wire_io,
                              NGX_SVC_LDAP_WIRE_LEVEL, wire)
           != 0)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static int
ngx_svc_ldap_wire_setup(Sockbuf_IO_Desc *io, void *arg)
{
    io->sbiod_pvt = arg;

    return 0;
}


static int
ngx_svc_ldap_wire_remove(Sockbuf_IO_Desc *io)
{
    io->sbiod_pvt = NULL;

    return 0;
}


/* libldap waits by itself for what is not there; it is to wait here. */

static int
ngx_svc_ldap_wire_ctrl(Sockbuf_IO_Desc *io, int opt, void *arg)
{
    if (opt == LBER_SB_OPT_DATA_READY) {
        return 1;
    }

    return io->sbiod_next->sbiod_io->sbi_ctrl(io->sbiod_next, opt, arg);
}


/* libldap goes on for ever with EAGAIN, and never gets it. */

static ber_slen_t
ngx_svc_ldap_wire_read(Sockbuf_IO_Desc *io, void *buf, ber_len_t len)
{
    ber_slen_t            n;
    ngx_svc_ldap_wire_t  *wire;

    wire = io->sbiod_pvt;

    if (wire->left == 0) {
        wire->much = 1;
        errno = EMSGSIZE;
        return -1;
    }

    if (ngx_svc_ldap_wire_wait(wire, POLLIN) != NGX_OK) {
        return -1;
    }

    n = io->sbiod_next->sbiod_io->sbi_read(io->sbiod_next, buf,
                                           ngx_min(len, wire->left));

    if (n > 0) {
        wire->left -= n;
    }

    return n;
}


static ber_slen_t
ngx_svc_ldap_wire_write(Sockbuf_IO_Desc *io, void *buf, ber_len_t len)
{
    if (ngx_svc_ldap_wire_wait(io->sbiod_pvt, POLLOUT) != NGX_OK) {
        return -1;
    }

    return io->sbiod_next->sbiod_io->sbi_write(io->sbiod_next, buf, len);
}


static int
ngx_svc_ldap_wire_close(Sockbuf_IO_Desc *io)
{
    return 0;
}
