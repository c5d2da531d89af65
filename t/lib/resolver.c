/*
 * Preloaded by tests: names are resolved from a file, and addresses that are
 * connected to are written to another one.
 *
 * SVC_TEST_HOSTS: lines "name address[,address]" or "name hang".  Looked at for
 * each name; names that are not there do not exist, addresses are themselves.
 * A line ":address port" says where connections to port 443 of an IPv4 address
 * end.
 * SVC_TEST_CALLS, if it is set: gets lines "resolve name" and "connect
 * address".
 */

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>


typedef int (*getaddrinfo_pt)(const char *, const char *,
    const struct addrinfo *, struct addrinfo **);
typedef int (*connect_pt)(int, const struct sockaddr *, socklen_t);

static getaddrinfo_pt  real_getaddrinfo;
static connect_pt      real_connect;
static char            hosts[4096], calls[4096];


static void
keep(char *text, size_t size, const char *name)
{
    const char  *value;

    value = getenv(name);
    snprintf(text, size, "%s", value ? value : "");
}


/* nginx clears the environment. */

__attribute__((constructor))
static void
begin(void)
{
    real_getaddrinfo = (getaddrinfo_pt) dlsym(RTLD_NEXT, "getaddrinfo");
    real_connect = (connect_pt) dlsym(RTLD_NEXT, "connect");

    keep(hosts, sizeof(hosts), "SVC_TEST_HOSTS");
    keep(calls, sizeof(calls), "SVC_TEST_CALLS");
}


static void
say(const char *what, const char *name)
{
    int   fd, n;
    char  line[512];

    if (calls[0] == '\0') {
        return;
    }

    n = snprintf(line, sizeof(line), "%s %s\n", what, name);
    fd = open(calls, O_WRONLY|O_APPEND|O_CREAT|O_CLOEXEC, 0666);

    if (fd == -1 || write(fd, line, n) != n) {
        abort();
    }

    close(fd);
}


static int
lookup(const char *name, char *found, size_t size)
{
    FILE  *f;
    char   line[1024], known[512], what[512];

    f = fopen(hosts, "re");
    if (f == NULL) {
        abort();
    }

    found[0] = '\0';

    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "%511s %511s", known, what) == 2
            && strcmp(known, name) == 0)
        {
            snprintf(found, size, "%s", what);
            break;
        }
    }

    fclose(f);

    return found[0] != '\0';
}


int
getaddrinfo(const char *name, const char *service,
    const struct addrinfo *hints, struct addrinfo **res)
{
    int               rc;
    char              found[512], *address, *state;
    unsigned char     in[16];
    const char       *options;
    struct addrinfo   numeric, **last;

    if (name == NULL || inet_pton(AF_INET, name, in) == 1
        || inet_pton(AF_INET6, name, in) == 1)
    {
        return real_getaddrinfo(name, service, hints, res);
    }

    options = getenv("RES_OPTIONS");

    say("resolve", name);
    say("options", options ? options : "");

    if (!lookup(name, found, sizeof(found))) {
        return EAI_NONAME;
    }

    if (strcmp(found, "hang") == 0) {
        for ( ;; ) {
            pause();
        }
    }

    numeric = *hints;
    numeric.ai_family = AF_UNSPEC;
    numeric.ai_flags = AI_NUMERICHOST;
    *res = NULL;
    last = res;

    for (address = strtok_r(found, ",", &state);
         address;
         address = strtok_r(NULL, ",", &state))
    {
        rc = real_getaddrinfo(address, service, &numeric, last);
        if (rc != 0) {
            return rc;
        }

        while (*last) {
            last = &(*last)->ai_next;
        }
    }

    return 0;
}


/* Changes the port of a server that cannot have 443 on this machine. */

static const struct sockaddr *
elsewhere(const struct sockaddr *sa, const char *text,
    struct sockaddr_in *other)
{
    char  name[INET6_ADDRSTRLEN + 1], port[512];

    *other = *(struct sockaddr_in *) sa;
    snprintf(name, sizeof(name), ":%s", text);

    if (ntohs(other->sin_port) != 443 || !lookup(name, port, sizeof(port))) {
        return sa;
    }

    other->sin_port = htons((unsigned short) atoi(port));

    return (struct sockaddr *) other;
}


int
connect(int fd, const struct sockaddr *sa, socklen_t len)
{
    char                text[INET6_ADDRSTRLEN];
    struct sockaddr_in  other;

    if (sa->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((struct sockaddr_in *) sa)->sin_addr, text,
                  sizeof(text));
        say("connect", text);
        sa = elsewhere(sa, text, &other);

    } else if (sa->sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &((struct sockaddr_in6 *) sa)->sin6_addr, text,
                  sizeof(text));
        say("connect", text);
    }

    return real_connect(fd, sa, len);
}
