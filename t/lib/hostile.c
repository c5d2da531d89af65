/*
 * A receiver of webhooks that keeps its sender busy.
 *
 *     hostile certificate key mode [TLS 1.2 cipher list]
 *
 * Listens on a port of 127.0.0.1, which it prints.  Each connection has a
 * process of its own, which reads a request, and then sends what the mode is
 * named for until the other side goes away.  With a cipher list it speaks
 * nothing but TLS 1.2.
 */

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>


typedef struct {
    const char  *name;
    int        (*more)(SSL *ssl);       /* 0: the other side is gone */
    const char  *head;                  /* before the first of it */
    const char  *text;                  /* for flood(), and in place of a
                                           handshake */
    size_t       len;                   /* 0: the length of the text */
} hostile_mode_t;


static int key_updates(SSL *ssl);
static int tickets(SSL *ssl);
static int renegotiations(SSL *ssl);
static int flood(SSL *ssl);

#define CHUNKED  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

static const hostile_mode_t  modes[] = {
    { "key-updates", key_updates, NULL, NULL, 0 },
    { "tickets", tickets, NULL, NULL, 0 },
    { "renegotiations", renegotiations, NULL, NULL, 0 },
    { "hello-requests", NULL, NULL, "\x16\3\3\0\4\0\0\0\0", 9 },
    { "extension", flood, CHUNKED "5;", "xxxxxxxx", 0 },
    { "trailers", flood, CHUNKED "0\r\n", "X-More: x\r\n", 0 },
    { "folding", flood, "HTTP/1.1 200 OK\r\nX-More: x\r\n", " \r\n", 0 },
    { "hints", flood, NULL, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n",
      0 },
    { "continue", flood, NULL, "HTTP/1.1 100 Continue\r\n\r\n", 0 },
    { "blank", flood, NULL, "\r\n", 0 },
    { "status", flood, "HTTP/1.1 200 ", "xxxxxxxx", 0 },
    { NULL, NULL, NULL, NULL, 0 }
};

static const hostile_mode_t  *mode;
static char                   text[16384];
static size_t                 text_len;


static int
key_updates(SSL *ssl)
{
    return SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1
           && SSL_do_handshake(ssl) == 1;
}


static int
tickets(SSL *ssl)
{
    return SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1;
}


static int
renegotiations(SSL *ssl)
{
    return SSL_renegotiate(ssl) == 1 && SSL_do_handshake(ssl) == 1;
}


static int
flood(SSL *ssl)
{
    return SSL_write(ssl, text, text_len) > 0;
}


static void
fill(void)
{
    size_t  len;

    len = mode->len ? mode->len : strlen(mode->text);

    while (text_len + len <= sizeof(text)) {
        memcpy(text + text_len, mode->text, len);
        text_len += len;
    }
}


static void
serve(SSL_CTX *ctx, int fd)
{
    SSL   *ssl;
    char   buf[65536];

    prctl(PR_SET_PDEATHSIG, SIGKILL);

    if (mode->more == NULL) {
        while (write(fd, text, text_len) > 0) { /* void */ }
        _exit(0);
    }

    ssl = SSL_new(ctx);
    SSL_set_fd(ssl, fd);

    if (SSL_accept(ssl) != 1 || SSL_read(ssl, buf, sizeof(buf)) <= 0
        || (mode->head && SSL_write(ssl, mode->head, strlen(mode->head)) <= 0))
    {
        _exit(0);
    }

    while (mode->more(ssl)) { /* void */ }

    /* what refuses to go on has to end the attempt by itself */

    while (SSL_read(ssl, buf, sizeof(buf)) > 0) { /* void */ }

    _exit(0);
}


static SSL_CTX *
context(char **argv)
{
    SSL_CTX  *ctx;

    ctx = SSL_CTX_new(TLS_server_method());

    if (SSL_CTX_use_certificate_chain_file(ctx, argv[1]) != 1
        || SSL_CTX_use_PrivateKey_file(ctx, argv[2], SSL_FILETYPE_PEM) != 1)
    {
        fprintf(stderr, "no certificate\n");
        exit(1);
    }

    if (argv[4]) {
        SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);

        if (SSL_CTX_set_cipher_list(ctx, argv[4]) != 1) {
            fprintf(stderr, "no cipher\n");
            exit(1);
        }
    }

    return ctx;
}


static int
listening(void)
{
    int                 fd;
    socklen_t           len;
    struct sockaddr_in  sin;

    memset(&sin, 0, sizeof(sin));
    sin.sin_family = AF_INET;
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    len = sizeof(sin);

    fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd == -1 || bind(fd, (struct sockaddr *) &sin, len) == -1
        || listen(fd, 1024) == -1
        || getsockname(fd, (struct sockaddr *) &sin, &len) == -1)
    {
        perror("hostile");
        exit(1);
    }

    printf("port %d\n", ntohs(sin.sin_port));
    fflush(stdout);

    return fd;
}


int
main(int argc, char **argv)
{
    int       fd, client;
    SSL_CTX  *ctx;

    if (argc < 4) {
        return 1;
    }

    for (mode = modes; mode->name && strcmp(mode->name, argv[3]); mode++) {
        /* void */
    }

    if (mode->name == NULL) {
        fprintf(stderr, "no such mode\n");
        return 1;
    }

    if (mode->text) {
        fill();
    }

    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);

    ctx = context(argv);
    fd = listening();

    for ( ;; ) {
        client = accept(fd, NULL, NULL);

        if (client != -1 && fork() == 0) {
            serve(ctx, client);
        }

        close(client);
    }
}
