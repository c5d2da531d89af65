/*
 * Passwords in the form in which they are compared: an accepted one is UTF-8
 * without control characters and other spaces, within its length, and stays
 * unchanged when it is converted again.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_password_text.h"

#include <unictype.h>
#include <unistr.h>


static void fuzz_characters(const u_char *text, size_t len, size_t points);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char       text[NGX_SVC_PASSWORD_TEXT], again[NGX_SVC_PASSWORD_TEXT];
    size_t       len, again_len, points, again_points;
    const char  *why;

    why = ngx_svc_password_text(data, size, text, &len, &points);

    if (why) {
        fuzz_assert(why != ngx_svc_password_text_no_memory);
        return 0;
    }

    fuzz_assert(size >= 1 && size <= NGX_SVC_PASSWORD_LEN);
    fuzz_assert(len >= 1 && len <= 3 * size);

    fuzz_characters(text, len, points);

    if (len <= NGX_SVC_PASSWORD_LEN) {
        why = ngx_svc_password_text(text, len, again, &again_len,
                                    &again_points);

        fuzz_assert(why == NULL);
        fuzz_assert(again_len == len && memcmp(text, again, len) == 0);
        fuzz_assert(again_points == points);
    }

    return 0;
}


static void
fuzz_characters(const u_char *text, size_t len, size_t points)
{
    int     n;
    size_t  i, count;
    ucs4_t  c;

    fuzz_assert(u8_check(text, len) == NULL);

    count = 0;

    for (i = 0; i < len; i += n) {
        n = u8_mbtouc(&c, text + i, len - i);
        count++;

        fuzz_assert(c >= 0x20 && c != 0x7F && !(c >= 0x80 && c < 0xA0));
        fuzz_assert(c == ' '
                    || !uc_is_general_category(c, UC_SPACE_SEPARATOR));
    }

    fuzz_assert(count == points);
}
