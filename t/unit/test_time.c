/*
 * Times as text, and back.
 */

#include "ngx_unit.h"
#include "ngx_svc_time.h"


typedef struct {
    const char  *text;
    int64_t      msec;
} parsed_t;


static const parsed_t  parsed[] = {
    { "1970-01-01T00:00:00Z", 0 },
    { "1970-01-01t00:00:00.001z", 1 },
    { "1970-01-01 00:00:00.5Z", 500 },
    { "1970-01-01T00:00:00.123999999Z", 123 },
    { "1969-12-31T23:59:59Z", -1000 },
    { "2026-11-21T09:15:30.123Z", 1795252530123 },
    { "2026-11-21T10:15:30.123+01:00", 1795252530123 },
    { "2026-11-21T03:45:30.123-05:30", 1795252530123 },
    { "2000-02-29T00:00:00Z", 951782400000 },
    { "2000-03-01T00:00:00Z", 951868800000 },
    { "2024-12-31T23:59:60Z", 1735689600000 },
    { "9999-12-31T23:59:59.999Z", 253402300799999 },
    { "9999-12-31T22:59:59.999-01:00", 253402300799999 },
    { "0001-01-01T00:00:00Z", -62135596800000 },
    { "0001-01-01T01:00:00+01:00", -62135596800000 },
};


static const char  *refused[] = {
    "", "2026", "2026-11-21", "2026-11-21T09:15Z", "2026-11-21T09:15:30",
    "2026-11-21T09:15:30.Z", "2026-11-21T09:15:30,1Z",
    "2026-11-21T09:15:30Z ", "2026-11-21T09:15:30+01",
    "2026-11-21T09:15:30+0100", "2026-11-21T09:15:30+24:00",
    "2026-11-21T09:15:30+01:60", "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
    "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
    "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
    "-026-01-01T00:00:00Z", "2026-01-01TT0:00:00Z", "+2026-01-01T00:00:00Z",
    "9999-12-31T23:59:59-01:00", "9999-12-31T23:59:59.999-00:01",
    "9999-12-31T23:59:60Z", "10000-01-01T00:00:00Z", "0000-01-01T00:00:00Z",
    "0000-12-31T23:59:59Z", "0001-01-01T00:59:59+01:00",
};


static void
test_parsed(void **state)
{
    int64_t      msec;
    ngx_str_t    text;
    ngx_uint_t   i;

    for (i = 0; i < sizeof(parsed) / sizeof(parsed[0]); i++) {
        text.data = (u_char *) parsed[i].text;
        text.len = ngx_strlen(text.data);

        if (ngx_svc_time_parse(&text, &msec) != NGX_OK
            || msec != parsed[i].msec)
        {
            print_error("%s: %ld\n", parsed[i].text, (long) msec);
            fail();
        }
    }
}


static void
test_refused(void **state)
{
    int64_t      msec;
    ngx_str_t    text;
    ngx_uint_t   i;

    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        text.data = (u_char *) refused[i];
        text.len = ngx_strlen(text.data);

        if (ngx_svc_time_parse(&text, &msec) != NGX_DECLINED) {
            print_error("%s is taken\n", refused[i]);
            fail();
        }
    }
}


static void
test_text(void **state)
{
    u_char     text[NGX_SVC_TIME_LEN + 1];
    ngx_str_t  pg = ngx_string("2026-11-21 09:15:30.12+00");
    ngx_str_t  far = ngx_string("10000-01-01 00:59:59+00");

    *ngx_svc_time_text(text, &pg) = '\0';
    assert_string_equal((char *) text, "2026-11-21T09:15:30.120Z");

    *ngx_svc_time_text(text, &far) = '\0';
    assert_string_equal((char *) text, "9999-12-31T23:59:59.999Z");
}


/*
 * Each day of two and a half eras, around year 0 and today, compared with libc.
 */

static void
test_days(void **state)
{
    int64_t    day, year;
    time_t     at;
    struct tm  tm;

    for (day = -800000; day < 100000; day++) {
        at = (time_t) day * 86400;
        assert_non_null(gmtime_r(&at, &tm));
        year = (int64_t) tm.tm_year + 1900;

        if (ngx_svc_time_days(year, tm.tm_mon + 1, tm.tm_mday) != day
            || ngx_svc_time_year(day) != year)
        {
            fail_msg("day %ld", (long) day);
        }

        if (tm.tm_yday == 365) {
            assert_true(ngx_svc_time_leap(year));
        }

        if (tm.tm_mon == 11 && tm.tm_mday == 31 && tm.tm_yday == 364) {
            assert_false(ngx_svc_time_leap(year));
        }
    }

    /* a day beyond the end of its month */

    assert_int_equal(ngx_svc_time_days(2023, 1, 366),
                     ngx_svc_time_days(2024, 1, 1));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_parsed),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_days),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
