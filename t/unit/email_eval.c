/*
 * Keys of e-mail addresses, for comparison with another program: an address on
 * each line of the input; on each line of the output "1 <key>" if a mailbox can
 * have the address, "0 <key>" if it only has the right form, or "-".
 */

#include "ngx_env.h"
#include "ngx_svc_email.h"


#define EVAL_LINE  4096


int
main(void)
{
    u_char            key[NGX_SVC_EMAIL_KEY];
    size_t            len;
    static u_char     line[EVAL_LINE];
    ngx_svc_error_t   err;
    ngx_svc_value_t   value;

    ngx_env_init();
    ngx_memzero(&value, sizeof(value));

    while (fgets((char *) line, sizeof(line), stdin) != NULL) {
        value.str.data = line;
        value.str.len = strcspn((char *) line, "\n");

        err.kind = NGX_SVC_E_NONE;

        if (ngx_svc_email_form_check(NULL, &value, "email", &err) != NGX_OK) {
            printf("-\n");
            continue;
        }

        if (ngx_svc_email_key(key, &len, &value.str) != NGX_OK) {
            fprintf(stderr, "no key: %s", line);
            return 1;
        }

        err.kind = NGX_SVC_E_NONE;

        printf("%d %.*s\n",
               ngx_svc_email_check(NULL, &value, "email", &err) == NGX_OK,
               (int) len, key);
    }

    return fflush(stdout) == 0 ? 0 : 1;
}
