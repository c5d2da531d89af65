/*
 * The session id that a client gets.
 */

#include "ngx_unit.h"
#include "ngx_svc_oauth_sid.h"


/* The values were made by Python's hashlib and base64. */

static void
test_sid(void **state)
{
    u_char      tenant[NGX_SVC_UUID_LEN], root[NGX_SVC_UUID_LEN];
    u_char      sid[NGX_SVC_OAUTH_SID + 1];
    ngx_uint_t  i;

    static const struct {
        const char  *tenant;
        const char  *root;
        ngx_str_t    client;
        const char  *sid;
    } rows[] = {
        { "00000000-0000-0000-0000-000000000000",
          "00000000-0000-0000-0000-000000000000",
          ngx_string(""), "Zmh6rfhivXdsj8GLjp-OIA" },
        { "0190f3a2-7c4d-7e8f-9a0b-1c2d3e4f5061",
          "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
          ngx_string("app_0123456789abcdef0123456789abcdef"), "_HAxWYzdsw1dKIaMkghcaw" },
        { "0190f3a2-7c4d-7e8f-9a0b-1c2d3e4f5061",
          "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
          ngx_string("app_0123456789abcdef0123456789abcdee"), "s0lSFofvCyXewhE_Z-ZBxg" },
        { "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
          "0190f3a2-7c4d-7e8f-9a0b-1c2d3e4f5061",
          ngx_string("app_0123456789abcdef0123456789abcdef"), "bwH_STv3foanVHQ3xqVvjg" }
    };

    sid[NGX_SVC_OAUTH_SID] = '\0';

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(ngx_svc_uuid_parse((u_char *) rows[i].tenant,
                                            NGX_SVC_UUID_TEXT_LEN, tenant),
                         NGX_OK);
        assert_int_equal(ngx_svc_uuid_parse((u_char *) rows[i].root,
                                            NGX_SVC_UUID_TEXT_LEN, root),
                         NGX_OK);
        assert_int_equal(ngx_svc_oauth_sid(tenant, root, &rows[i].client,
                                           sid),
                         NGX_OK);
        assert_string_equal(sid, rows[i].sid);
    }
}


static void
test_sid_long(void **state)
{
    u_char     id[NGX_SVC_UUID_LEN], name[65], sid[NGX_SVC_OAUTH_SID];
    ngx_str_t  client;

    ngx_memzero(id, sizeof(id));
    ngx_memset(name, 'a', sizeof(name));

    client.data = name;
    client.len = 64;
    assert_int_equal(ngx_svc_oauth_sid(id, id, &client, sid), NGX_OK);

    client.len = 65;
    assert_int_equal(ngx_svc_oauth_sid(id, id, &client, sid), NGX_ERROR);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_sid),
        ngx_unit_test(test_sid_long)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
