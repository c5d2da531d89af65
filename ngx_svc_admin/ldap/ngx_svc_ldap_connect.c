/*
 * In a thread: connects to a directory, encrypted, and binds as its service.
 */

#include "ngx_svc_ldap_connect.h"
#include "ngx_svc_ldap_explain.h"

#include <openldap.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>


#define NGX_SVC_LDAP_CONNECT_TIMEOUT  3000  /* ms, of an address */


static void ngx_svc_ldap_once(void);
static ngx_int_t ngx_svc_ldap_sockets(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_socket(ngx_svc_ldap_job_t *job,
    const ngx_svc_addr_t *addr);
static ngx_int_t ngx_svc_ldap_connected(ngx_svc_ldap_wire_t *wire,
    ngx_sockaddr_t *sa, socklen_t len);
static socklen_t ngx_svc_ldap_sockaddr(const ngx_svc_addr_t *addr,
    in_port_t port, ngx_sockaddr_t *sa);
static ngx_int_t ngx_svc_ldap_handle(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_options(LDAP *ld);
static ngx_int_t ngx_svc_ldap_tls(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_trust(ngx_svc_ldap_job_t *job, int require);
static int ngx_svc_ldap_handshake(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_untrusted(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_service(ngx_svc_ldap_job_t *job);


static pthread_once_t  ngx_svc_ldap_ready = PTHREAD_ONCE_INIT;


ngx_int_t
ngx_svc_ldap_connect(ngx_svc_ldap_job_t *job)
{
    (void) pthread_once(&ngx_svc_ldap_ready, ngx_svc_ldap_once);

    ngx_svc_ldap_begin(job, NGX_SVC_LDAP_CONNECT);

    if (ngx_svc_ldap_sockets(job) != NGX_OK
        || ngx_svc_ldap_handle(job) != NGX_OK
        || ngx_svc_ldap_tls(job) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_ldap_service(job);
}


/*
 * Lets libldap read its defaults, for which it asks for this machine's name:
 * that may take long, and so is done in a thread.  Its files and variables are
 * the operator's for other programs.
 */

static void
ngx_svc_ldap_once(void)
{
    int  version;

    (void) setenv("LDAPNOINIT", "1", 1);
    (void) ldap_get_option(NULL, LDAP_OPT_PROTOCOL_VERSION, &version);
}


static ngx_int_t
ngx_svc_ldap_sockets(ngx_svc_ldap_job_t *job)
{
    u_char      text[NGX_SVC_ADDR_TEXT_LEN], *p;
    ngx_uint_t  i;

    p = text;

    for (i = 0; i < job->in.naddrs; i++) {

        p = ngx_svc_addr_text(text, &job->in.addrs[i]);

        if (ngx_svc_ldap_socket(job, &job->in.addrs[i]) == NGX_OK) {
            job->conn->addr = job->in.addrs[i];
            ngx_svc_ldap_did(job, "%*s, port %d.", (size_t) (p - text), text,
                             (int) job->in.port);
            return NGX_OK;
        }
    }

    if (errno == ETIMEDOUT) {
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_LATE,
                                 "Nothing answers at %*s, port %d: is the port "
                                 "of \"url\" right, and does a firewall let "
                                 "this server through?", (size_t) (p - text),
                                 text, (int) job->in.port);
    }

    return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                             "%*s, port %d, refuses the connection (%s): is "
                             "the port of \"url\" right?",
                             (size_t) (p - text), text, (int) job->in.port,
                             strerror(errno));
}


/* On failure errno says why. */

static ngx_int_t
ngx_svc_ldap_socket(ngx_svc_ldap_job_t *job, const ngx_svc_addr_t *addr)
{
    int                   on, saved;
    socklen_t             len;
    uint64_t              deadline;
    ngx_sockaddr_t        sa;
    ngx_svc_ldap_wire_t  *wire;

    on = 1;
    wire = &job->conn->wire;
    len = ngx_svc_ldap_sockaddr(addr, job->in.port, &sa);

    wire->fd = socket(sa.sockaddr.sa_family,
                      SOCK_STREAM|SOCK_NONBLOCK|SOCK_CLOEXEC, 0);
    if (wire->fd == -1) {
        return NGX_ERROR;
    }

    deadline = wire->deadline;
    wire->deadline = ngx_min(deadline, ngx_svc_ldap_clock()
                                       + NGX_SVC_LDAP_CONNECT_TIMEOUT);

    if (ngx_svc_ldap_connected(wire, &sa, len) != NGX_OK
        || ngx_blocking(wire->fd) == -1
        || setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on))
           == -1)
    {
        saved = errno;
        (void) close(wire->fd);
        errno = saved;
    } else {
        saved = 0;
    }

    wire->deadline = deadline;
    wire->late = 0;

    return saved ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_ldap_connected(ngx_svc_ldap_wire_t *wire, ngx_sockaddr_t *sa,
    socklen_t len)
{
    int        err;
    socklen_t  size;

    if (connect(wire->fd, &sa->sockaddr, len) == 0) {
        return NGX_OK;
    }

    if (errno != EINPROGRESS
        || ngx_svc_ldap_wire_wait(wire, POLLOUT) != NGX_OK)
    {
        return NGX_ERROR;
    }

    size = sizeof(err);

    if (getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &err, &size) == -1) {
        return NGX_ERROR;
    }

    errno = err;

    return err ? NGX_ERROR : NGX_OK;
}


static socklen_t
ngx_svc_ldap_sockaddr(const ngx_svc_addr_t *addr, in_port_t port,
    ngx_sockaddr_t *sa)
{
    ngx_memzero(sa, sizeof(ngx_sockaddr_t));

    if (addr->family == AF_INET6) {
        sa->sockaddr_in6.sin6_family = AF_INET6;
        sa->sockaddr_in6.sin6_port = htons(port);
        ngx_memcpy(&sa->sockaddr_in6.sin6_addr, addr->bytes, 16);

        return sizeof(struct sockaddr_in6);
    }

    sa->sockaddr_in.sin_family = AF_INET;
    sa->sockaddr_in.sin_port = htons(port);
    ngx_memcpy(&sa->sockaddr_in.sin_addr, addr->bytes, 4);

    return sizeof(struct sockaddr_in);
}


/* From here on the socket is the handle's. */

static ngx_int_t
ngx_svc_ldap_handle(ngx_svc_ldap_job_t *job)
{
    ngx_svc_ldap_conn_t  *conn;

    conn = job->conn;

    if (ldap_init_fd(conn->wire.fd, LDAP_PROTO_TCP, job->in.url, &conn->ld)
        != LDAP_SUCCESS)
    {
        conn->ld = NULL;
        (void) close(conn->wire.fd);

        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "\"url\" is none that libldap takes.");
    }

    if (ngx_svc_ldap_wire_add(&conn->wire, conn->ld) != NGX_OK
        || ngx_svc_ldap_options(conn->ld) != NGX_OK)
    {
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "libldap does not take an option.");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_ldap_options(LDAP *ld)
{
    int             version, deref, limit;
    struct timeval  timeout;

    version = LDAP_VERSION3;
    deref = LDAP_DEREF_NEVER;
    limit = 2;
    timeout.tv_sec = 5;
    timeout.tv_usec = 0;

    if (ldap_set_option(ld, LDAP_OPT_PROTOCOL_VERSION, &version) != 0
        || ldap_set_option(ld, LDAP_OPT_REFERRALS, LDAP_OPT_OFF) != 0
        || ldap_set_option(ld, LDAP_OPT_DEREF, &deref) != 0
        || ldap_set_option(ld, LDAP_OPT_SIZELIMIT, &limit) != 0
        || ldap_set_option(ld, LDAP_OPT_TIMEOUT, &timeout) != 0)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_ldap_tls(ngx_svc_ldap_job_t *job)
{
    int    rc;
    char  *version;

    ngx_svc_ldap_begin(job, NGX_SVC_LDAP_TLS);

    if (ngx_svc_ldap_trust(job, LDAP_OPT_X_TLS_HARD) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_ldap_handshake(job);

    if (rc == LDAP_SUCCESS) {
        version = NULL;
        ldap_get_option(job->conn->ld, LDAP_OPT_X_TLS_VERSION, &version);
        ngx_svc_ldap_did(job, "%s, with a certificate for \"%s\".",
                         version ? version : "TLS", job->in.host);
        ldap_memfree(version);
        return NGX_OK;
    }

    if (rc != LDAP_CONNECT_ERROR || job->conn->wire.late) {
        return ngx_svc_ldap_broken(job, rc, job->in.start_tls
                   ? "The directory does not take \"startTls\""
                   : "There is no TLS at this port, as \"ldaps://\" wants");
    }

    return ngx_svc_ldap_untrusted(job);
}


/*
 * GnuTLS, which Debian's libldap has, reads certificates of a file alone, when
 * the context is made.
 */

static ngx_int_t
ngx_svc_ldap_trust(ngx_svc_ldap_job_t *job, int require)
{
    int    fd, min, client;
    char   memory[sizeof("/proc/self/fd/") + NGX_INT_T_LEN], *file;
    LDAP  *ld;

    fd = -1;
    ld = job->conn->ld;
    file = job->in.ca_file;

    if (job->in.ca_certificates.len) {
        fd = memfd_create("svc-ldap-ca", MFD_CLOEXEC);

        if (fd == -1 || write(fd, job->in.ca_certificates.data,
                              job->in.ca_certificates.len)
                        != (ssize_t) job->in.ca_certificates.len)
        {
            goto failed;
        }

        ngx_sprintf((u_char *) memory, "/proc/self/fd/%d%Z", fd);
        file = memory;
    }

    client = 0;
    min = LDAP_OPT_X_TLS_PROTOCOL_TLS1_2;

    if (ldap_set_option(ld, LDAP_OPT_X_TLS_REQUIRE_CERT, &require) != 0
        || ldap_set_option(ld, LDAP_OPT_X_TLS_CACERTFILE, file) != 0
        || ldap_set_option(ld, LDAP_OPT_X_TLS_PROTOCOL_MIN, &min) != 0
        || ldap_set_option(ld, LDAP_OPT_X_TLS_NEWCTX, &client) != 0)
    {
        goto failed;
    }

    if (fd != -1) {
        (void) close(fd);
    }

    return NGX_OK;

failed:

    if (fd != -1) {
        (void) close(fd);
    }

    return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                             "The certificates of %s cannot be read.",
                             job->in.ca_certificates.len ? "\"caCertificates\""
                                                         : job->in.ca_file);
}


/*
 * libldap would connect again by itself, to an address that nobody has checked,
 * if the handle were used after a failure.  It cannot with this URL, which has
 * no say in the handshake any more.
 */

static int
ngx_svc_ldap_handshake(ngx_svc_ldap_job_t *job)
{
    int    rc;
    LDAP  *ld;

    ld = job->conn->ld;

    rc = job->in.start_tls ? ldap_start_tls_s(ld, NULL, NULL)
                           : ldap_install_tls(ld);

    if (ldap_set_option(ld, LDAP_OPT_URI, "ldapi://%2Fnonexistent") != 0) {
        return LDAP_OTHER;
    }

    return rc;
}


/*
 * libldap does not say what is wrong with a certificate.  For a person who
 * asks, it is looked at once more, by a connection that nothing is sent on.
 */

static ngx_int_t
ngx_svc_ldap_untrusted(ngx_svc_ldap_job_t *job)
{
    u_char         fault[NGX_SVC_LDAP_FAULT];
    struct berval  der;

    job->gone = 1;
    der.bv_val = NULL;

    (void) ldap_unbind_ext(job->conn->ld, NULL, NULL);
    job->conn->ld = NULL;

    if (job->in.explain
        && ngx_svc_ldap_socket(job, &job->conn->addr) == NGX_OK
        && ngx_svc_ldap_handle(job) == NGX_OK
        && ngx_svc_ldap_trust(job, LDAP_OPT_X_TLS_NEVER) == NGX_OK
        && ngx_svc_ldap_handshake(job) == LDAP_SUCCESS)
    {
        (void) ldap_get_option(job->conn->ld, LDAP_OPT_X_TLS_PEERCERT, &der);
    }

    if (der.bv_val == NULL) {
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "The directory's certificate is not "
                                 "accepted, or TLS fails.");
    }

    ngx_svc_ldap_certificate_fault(&der, job->in.host, fault);
    ldap_memfree(der.bv_val);

    return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED, "%s", fault);
}


int
ngx_svc_ldap_bind(ngx_svc_ldap_job_t *job)
{
    return ldap_sasl_bind_s(job->conn->ld, job->in.bind_dn ? job->in.bind_dn
                                                           : "",
                            LDAP_SASL_SIMPLE, &job->in.bind_password, NULL,
                            NULL, NULL);
}


static ngx_int_t
ngx_svc_ldap_service(ngx_svc_ldap_job_t *job)
{
    int  rc;

    ngx_svc_ldap_begin(job, NGX_SVC_LDAP_BIND);

    rc = ngx_svc_ldap_bind(job);

    if (rc == LDAP_SUCCESS) {
        ngx_svc_ldap_did(job, job->in.bind_dn
                              ? "As \"%s\"."
                              : "As nobody: there is no \"bindDn\".",
                         job->in.bind_dn);
        return NGX_OK;
    }

    if (rc == LDAP_INVALID_CREDENTIALS || rc == LDAP_NO_SUCH_OBJECT
        || rc == LDAP_INVALID_DN_SYNTAX)
    {
        job->gone = 1;
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "The directory refuses \"bindDn\" with "
                                 "\"bindPassword\" (result code %d): set both "
                                 "again, the name as a DN such as "
                                 "\"cn=svc,dc=example,dc=com\".", rc);
    }

    return ngx_svc_ldap_broken(job, rc, "The directory does not bind "
                               "\"bindDn\"");
}
