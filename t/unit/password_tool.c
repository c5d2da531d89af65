/*
 * Verifies and makes stored passwords, for comparison with other programs:
 * lines in, lines of results out; passwords are in hexadecimal digits, "-" is
 * empty.
 *
 *   verify <password> <string>                  "match", "no match" or
 *                                               "refused"
 *   make <memory in KiB> <iterations> <password>  the string
 *   outdated <memory in KiB> <iterations> <string>  "outdated", "current" or
 *                                               "refused"
 *   text <password>                             "<code points> <password>",
 *                                               or "refused"
 *   time <memory in KiB> <iterations> <n>       ms a hash, of n: the median
 *
 * Any other line ends the program, with a message.
 */

#include "ngx_env.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_password_text.h"
#include "ngx_svc_phc.h"

#include <time.h>


#define TOOL_WORDS   4
#define TOOL_HASHES  1000


static void tool_verify(char **words);
static void tool_make(char **words);
static void tool_outdated(char **words);
static void tool_text(char **words);
static void tool_time(char **words);
static double tool_now(void);
static int tool_compare(const void *one, const void *two);
static ngx_svc_phc_cost_t tool_cost(char **words);
static void tool_password(const char *digits);
static void tool_fail(const char *what);


static const struct {
    const char  *name;
    ngx_uint_t   nwords;
    void       (*run)(char **words);
} tool_commands[] = {
    { "verify", 3, tool_verify },
    { "make", 4, tool_make },
    { "outdated", 4, tool_outdated },
    { "text", 2, tool_text },
    { "time", 4, tool_time },
};

static u_char     password[4 * NGX_SVC_PASSWORD_LEN];
static size_t     password_len;
static ngx_uint_t  nline;


int
main(void)
{
    char        *word, *rest, *words[TOOL_WORDS], line[16384];
    ngx_uint_t   i, n;

    ngx_env_init();

    while (fgets(line, sizeof(line), stdin) != NULL) {
        nline++;
        n = 0;

        for (word = strtok_r(line, " \n", &rest);
             word && n < TOOL_WORDS;
             word = strtok_r(NULL, " \n", &rest))
        {
            words[n++] = word;
        }

        for (i = 0; i < sizeof(tool_commands) / sizeof(tool_commands[0]); i++)
        {
            if (n == tool_commands[i].nwords
                && strcmp(words[0], tool_commands[i].name) == 0)
            {
                tool_commands[i].run(words);
                break;
            }
        }

        if (i == sizeof(tool_commands) / sizeof(tool_commands[0])) {
            tool_fail("no such command");
        }

        fflush(stdout);
    }

    return ferror(stdout) ? 1 : 0;
}


static void
tool_verify(char **words)
{
    ngx_int_t      rc;
    ngx_svc_phc_t  phc;

    tool_password(words[1]);

    if (ngx_svc_phc_parse((u_char *) words[2], strlen(words[2]), NULL, &phc)
        != NGX_OK)
    {
        puts("refused");
        return;
    }

    rc = ngx_svc_phc_verify(&phc, password, password_len);

    if (rc == NGX_ERROR) {
        tool_fail("not verified");
    }

    puts(rc == NGX_OK ? "match" : "no match");
}


static void
tool_make(char **words)
{
    size_t              len;
    u_char              out[NGX_SVC_PHC_LEN];
    ngx_svc_phc_cost_t  cost;

    cost = tool_cost(words);
    tool_password(words[3]);

    if (ngx_svc_phc_make(&cost, password, password_len, out, &len) != NGX_OK) {
        tool_fail("not made");
    }

    printf("%.*s\n", (int) len, out);
}


static void
tool_outdated(char **words)
{
    ngx_svc_phc_t       phc;
    ngx_svc_phc_cost_t  cost;

    cost = tool_cost(words);

    if (ngx_svc_phc_parse((u_char *) words[3], strlen(words[3]), &cost, &phc)
        != NGX_OK)
    {
        puts("refused");
        return;
    }

    puts(ngx_svc_phc_outdated(&phc, &cost) ? "outdated" : "current");
}


static void
tool_text(char **words)
{
    size_t   i, len, points;
    u_char  text[NGX_SVC_PASSWORD_TEXT];

    tool_password(words[1]);

    if (ngx_svc_password_text(password, password_len, text, &len, &points)
        != NULL)
    {
        puts("refused");
        return;
    }

    printf("%u ", (unsigned) points);

    for (i = 0; i < len; i++) {
        printf("%02x", text[i]);
    }

    puts("");
}


static void
tool_time(char **words)
{
    int                  i, n;
    double               since;
    ngx_svc_phc_cost_t   cost;

    static double        times[TOOL_HASHES];

    cost = tool_cost(words);
    n = atoi(words[3]);

    if (n < 1 || n > TOOL_HASHES) {
        tool_fail("no number of hashes");
    }

    for (i = 0; i < n; i++) {
        since = tool_now();

        if (ngx_svc_phc_dummy(&cost, (u_char *) "password", 8) == NGX_ERROR) {
            tool_fail("no hash");
        }

        times[i] = tool_now() - since;
    }

    qsort(times, n, sizeof(double), tool_compare);

    printf("%.2f\n", times[n / 2]);
}


static double
tool_now(void)
{
    struct timespec  now;

    clock_gettime(CLOCK_MONOTONIC, &now);

    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}


static int
tool_compare(const void *one, const void *two)
{
    double  a = *(const double *) one;
    double  b = *(const double *) two;

    return (a > b) - (a < b);
}


static ngx_svc_phc_cost_t
tool_cost(char **words)
{
    ngx_svc_phc_cost_t  cost;

    cost.memory = (uint32_t) atoi(words[1]);
    cost.iterations = (uint32_t) atoi(words[2]);

    return cost;
}


static void
tool_password(const char *digits)
{
    password_len = strcmp(digits, "-") == 0 ? 0 : strlen(digits) / 2;

    if (password_len > sizeof(password)
        || (password_len
            && ngx_svc_hex((u_char *) digits, password_len, password)
               != NGX_OK))
    {
        tool_fail("no password");
    }
}


static void
tool_fail(const char *what)
{
    fprintf(stderr, "line %u: %s\n", (unsigned) nline, what);
    exit(1);
}
