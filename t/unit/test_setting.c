/*
 * The operator's settings: the table, the accepted values, and the
 * combinations.
 */

#include "ngx_unit.h"
#include "ngx_svc_setting.h"


#define find(name)  ngx_svc_setting_find(&(ngx_str_t) ngx_string(name))


static ngx_int_t
parse(ngx_svc_setting_e setting, const char *text, ngx_uint_t *value)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return ngx_svc_setting_parse(setting, &s, value);
}


static void
test_table(void **state)
{
    ngx_uint_t                    i;
    const ngx_svc_setting_row_t  *row;

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        row = &ngx_svc_setting_rows[i];

        assert_int_not_equal(row->name.len, 0);
        assert_int_equal(ngx_svc_setting_find(&row->name), i);
        assert_true(row->min >= 1 && row->min <= row->max);
        assert_true(row->value >= row->min && row->value <= row->max);
        assert_int_equal(ngx_svc_setting(i), row->value);
    }

    assert_int_equal(find("SESSION_IDL"), NGX_SVC_SETTINGS);
    assert_int_equal(find("SESSION_IDLE2"), NGX_SVC_SETTINGS);
    assert_int_equal(find("session_idle"), NGX_SVC_SETTINGS);
    assert_int_equal(find(""), NGX_SVC_SETTINGS);
}


static void
test_defaults(void **state)
{
    ngx_uint_t  i;

    static const struct {
        ngx_str_t   name;
        ngx_uint_t  value;
    } rows[] = {
        { ngx_string("RATE_LIMIT_LOGIN_WINDOW"), 300 },
        { ngx_string("RATE_LIMIT_LOGIN_EMAIL_MAX"), 10 },
        { ngx_string("RATE_LIMIT_LOGIN_IP_MAX"), 50 },
        { ngx_string("RATE_LIMIT_SIGNUP_WINDOW"), 3600 },
        { ngx_string("RATE_LIMIT_SIGNUP_EMAIL_MAX"), 5 },
        { ngx_string("RATE_LIMIT_SIGNUP_IP_MAX"), 20 },
        { ngx_string("LOGIN_LOCKOUT_MAX"), 10 },
        { ngx_string("LOGIN_LOCKOUT_WINDOW"), 900 },
        { ngx_string("LOGIN_LOCKOUT_DURATION"), 900 },
        { ngx_string("EMAIL_CODE_ATTEMPTS"), 5 },
        { ngx_string("EMAIL_CODE_TTL"), 600 },
        { ngx_string("MFA_CHALLENGE_ATTEMPTS"), 5 },
        { ngx_string("MFA_CHALLENGE_TTL"), 300 },
        { ngx_string("MFA_STEP_UP_WINDOW"), 600 },
        { ngx_string("SESSION_IDLE"), 1800 },
        { ngx_string("SESSION_ABSOLUTE"), 43200 },
        { ngx_string("SESSION_PENDING"), 600 }
    };

    assert_int_equal(ngx_unit_len(rows), NGX_SVC_SETTINGS);

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(ngx_svc_setting(ngx_svc_setting_find(&rows[i].name)),
                         rows[i].value);
    }
}


static void
test_parse(void **state)
{
    char                          text[NGX_INT_T_LEN + 1];
    ngx_uint_t                    i, value;
    const char                  *const *bad;
    const ngx_svc_setting_row_t  *row;

    static const char  *const wrong[] = {
        "", " ", "x", "5m", "300s", "-1", "+300", " 300", "300 ", "3e2",
        "300.0", "0x12c", "99999999999999999999", "18446744073709551617", NULL
    };

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        row = &ngx_svc_setting_rows[i];

        for (bad = wrong; *bad; bad++) {
            assert_int_equal(parse(i, *bad, &value), NGX_DECLINED);
        }

        snprintf(text, sizeof(text), "%lu", (unsigned long) row->min);
        assert_int_equal(parse(i, text, &value), NGX_OK);
        assert_int_equal(value, row->min);

        snprintf(text, sizeof(text), "%lu", (unsigned long) row->max);
        assert_int_equal(parse(i, text, &value), NGX_OK);
        assert_int_equal(value, row->max);

        snprintf(text, sizeof(text), "%lu", (unsigned long) row->max + 1);
        assert_int_equal(parse(i, text, &value), NGX_DECLINED);

        if (row->min > 1) {
            snprintf(text, sizeof(text), "%lu", (unsigned long) row->min - 1);
            assert_int_equal(parse(i, text, &value), NGX_DECLINED);
        }

        value = 77;
        assert_int_equal(parse(i, "0", &value),
                         row->off ? NGX_OK : NGX_DECLINED);
        assert_int_equal(value, row->off ? 0 : 77);
    }
}


/*
 * Settings that guard against guesses, or end sessions, cannot be switched off.
 */

static void
test_off(void **state)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        assert_int_equal(ngx_svc_setting_rows[i].off,
                         i <= NGX_SVC_SET_LOGIN_LOCKOUT_DURATION);
    }
}


static void
test_range(void **state)
{
    u_char      text[128], *p;
    ngx_uint_t  i;

    static const struct {
        ngx_svc_setting_e  setting;
        const char        *text;
    } rows[] = {
        { NGX_SVC_SET_SESSION_PENDING,
          "a whole number of seconds from 60 to 3600" },
        { NGX_SVC_SET_EMAIL_CODE_ATTEMPTS, "a whole number from 1 to 10" },
        { NGX_SVC_SET_LOGIN_LOCKOUT_MAX,
          "0, which switches it off, or a whole number from 1 to 1000" }
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        p = ngx_svc_setting_range(text, text + sizeof(text), rows[i].setting);
        assert_int_equal(p - text, strlen(rows[i].text));
        assert_memory_equal(text, rows[i].text, p - text);
    }
}


static void
test_conflict(void **state)
{
    ngx_uint_t          i;
    ngx_svc_setting_e   other;
    ngx_svc_settings_t  settings;

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        settings.values[i] = ngx_svc_setting_rows[i].value;
    }

    assert_int_equal(ngx_svc_settings_conflict(&settings, &other),
                     NGX_SVC_SETTINGS);

    settings.values[NGX_SVC_SET_SESSION_ABSOLUTE] = 1800;
    assert_int_equal(ngx_svc_settings_conflict(&settings, &other),
                     NGX_SVC_SETTINGS);

    settings.values[NGX_SVC_SET_SESSION_ABSOLUTE] = 1799;
    assert_int_equal(ngx_svc_settings_conflict(&settings, &other),
                     NGX_SVC_SET_SESSION_IDLE);
    assert_int_equal(other, NGX_SVC_SET_SESSION_ABSOLUTE);

    settings.values[NGX_SVC_SET_SESSION_ABSOLUTE] = 599;
    settings.values[NGX_SVC_SET_SESSION_IDLE] = 60;
    assert_int_equal(ngx_svc_settings_conflict(&settings, &other),
                     NGX_SVC_SET_SESSION_PENDING);
    assert_int_equal(other, NGX_SVC_SET_SESSION_ABSOLUTE);
}


/* The worker's own copy, which does not depend on the configuration. */

static void
test_worker(void **state)
{
    ngx_uint_t          i;
    ngx_svc_settings_t  settings;

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        settings.values[i] = 1000 + i;
    }

    ngx_svc_settings_init_worker(&settings);
    ngx_memzero(&settings, sizeof(settings));

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        assert_int_equal(ngx_svc_setting(i), 1000 + i);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_conflict),
        cmocka_unit_test(test_worker)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
