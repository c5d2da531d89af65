/*
 * Attestation objects and authenticator data, valid and invalid ones.
 */

#include "ngx_unit_webauthn_call.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_webauthn_authdata.h"


/*
 * Makes an attestation object of parts; "@" stands for the authenticator data.
 */

static ngx_int_t
object(ngx_pool_t *pool, const char *hex)
{
    size_t      len, n;
    u_char      bytes[BYTES_MAX], original[BYTES_MAX], *p;
    ngx_str_t   data, str;

    str.len = bytes_of(ES256->object, original);
    str.data = original;
    err.kind = NGX_SVC_E_NONE;
    assert_int_equal(ngx_svc_webauthn_attestation(&str, &data, &err), NGX_OK);

    p = bytes;

    while (*hex) {
        if (*hex == '@') {
            p = ngx_cpymem(p, data.data, data.len);
            hex++;
            continue;
        }

        n = strcspn(hex, "@") / 2;
        assert_int_equal(ngx_svc_hex((u_char *) hex, n, p), NGX_OK);
        p += n;
        hex += 2 * n;
    }

    len = p - bytes;

    return create(pool, ES256, ES256->create, base64_of(bytes, len));
}


#define FMT       "63666d74" "646e6f6e65"
#define STMT      "6761747453746d74" "a0"
#define DATA      "686175746844617461" "58a4@"
#define STMT_NAME   "6761747453746d74"
#define DATA_NAME   "686175746844617461"

static void
test_objects(void **state)
{
    ngx_uint_t  i;

    static const char  *good[] = {
        "a3" FMT STMT DATA,
        "a3" DATA STMT FMT,
        "b803" FMT STMT DATA,
        "b90003" FMT STMT DATA,
        "a3" FMT STMT_NAME "80" DATA,
        "a3" FMT STMT_NAME "81a2" FMT STMT DATA,
        "a3" FMT STMT_NAME "a161616162" DATA,
        "a3" FMT STMT_NAME "a2000000f6" DATA,
        "a3" FMT STMT DATA_NAME "5900a4@",
        "a3" "63666d74" "60" STMT DATA,
    };

    static const char  *bad[] = {
        "00", "40", "60", "80", "a0", "f6", "ff",
        "a2" FMT DATA, "a1" DATA, "a2" STMT DATA,
        "a0" FMT STMT DATA, "a2" FMT STMT DATA, "a4" FMT STMT DATA,
        "a3" FMT DATA DATA, "a3" FMT FMT DATA, "a3" FMT STMT STMT,
        "a3" DATA DATA DATA, "a4" FMT STMT DATA DATA,
        "a4" FMT STMT DATA "6178" "00",
        "a3" FMT "6178" "00" DATA,
        "a3" FMT "00" "00" DATA,
        "a3" "43666d74" "646e6f6e65" STMT DATA,
        "83" FMT STMT DATA,
        "a3" "63666d74" "00" STMT DATA,
        "a3" "63666d74" "446e6f6e65" STMT DATA,
        "a3" FMT STMT_NAME "00" DATA,
        "a3" FMT STMT_NAME "f6" DATA,
        "a3" FMT STMT DATA_NAME "78a4@",
        "a3" FMT STMT DATA_NAME "8158a4@",
        "a3" FMT STMT DATA_NAME "40",

        /* of indefinite length: the whole, and its members */
        "bf" FMT STMT DATA "ff",
        "a3" FMT STMT_NAME "bfff" DATA,
        "a3" FMT STMT_NAME "a161619fff" DATA,
        "a3" FMT STMT DATA_NAME "5f58a4@ff",
        "a3" "63666d74" "7f646e6f6e65ff" STMT DATA,

        /* a tag, too deep, longer than the memory */
        "c0a3" FMT STMT DATA,
        "a3" FMT STMT_NAME "c0a0" DATA,
        "a3" FMT STMT_NAME "81818181818181818180" DATA,
        "a3" FMT STMT_NAME "9a10000001" DATA,
        "a3" FMT STMT_NAME "bb7fffffffffffffff" DATA,
        "bbffffffffffffffff" FMT STMT DATA,
        "a3" FMT STMT DATA_NAME "5bffffffffffffffff@",
    };

    for (i = 0; i < ngx_unit_len(good); i++) {
        if (object(*state, good[i]) != NGX_OK) {
            fail_msg("good %d: %.*s", (int) i, (int) err.len, err.detail);
        }
    }

    for (i = 0; i < ngx_unit_len(bad); i++) {
        if (object(*state, bad[i]) != NGX_DECLINED || err.len == 0) {
            fail_msg("bad %d", (int) i);
        }
    }
}


/*
 * Makes authenticator data of a registration, with the length of what follows.
 */

static ngx_int_t
data_of(ngx_pool_t *pool, ngx_uint_t flags, const char *hex)
{
    size_t                        n;
    u_char                        bytes[BYTES_MAX];
    ngx_str_t                     str, rp_id = ngx_string("acme.test");
    ngx_int_t                     rc;
    ngx_svc_webauthn_authdata_t   data;

    assert_int_equal(ngx_svc_sha256(rp_id.data, rp_id.len, bytes), NGX_OK);

    bytes[32] = (u_char) flags;
    memset(bytes + 33, 0xff, 4);

    n = strlen(hex) / 2;
    assert_int_equal(ngx_svc_hex((u_char *) hex, n, bytes + 37), NGX_OK);

    str.data = ngx_pnalloc(pool, 37 + n);
    assert_non_null(str.data);
    memcpy(str.data, bytes, 37 + n);
    str.len = 37 + n;

    err.kind = NGX_SVC_E_NONE;
    rc = ngx_svc_webauthn_authdata(&str, &rp_id, (flags & 0x40) != 0, &data,
                                   &err);

    if (rc == NGX_OK) {
        assert_int_equal(data.sign_count, 0xffffffff);
    }

    return rc;
}


#define AAGUID  "00000000000000000000000000000000"

static void
test_data(void **state)
{
    ngx_uint_t  i;

    static const struct {
        ngx_uint_t   flags;
        const char  *hex;
        ngx_int_t    rc;
    } rows[] = {
        { 0x05, "", NGX_OK },
        { 0x0d, "", NGX_OK },
        { 0x1d, "", NGX_OK },
        { 0x27, "", NGX_OK },
        { 0x15, "", NGX_DECLINED },
        { 0x01, "", NGX_DECLINED },
        { 0x04, "", NGX_DECLINED },
        { 0x05, "00", NGX_DECLINED },
        { 0x05, "a0", NGX_DECLINED },
        { 0x85, "", NGX_DECLINED },
        { 0x85, "a0", NGX_OK },
        { 0x85, "a0a0", NGX_DECLINED },
        { 0x85, "80", NGX_DECLINED },
        { 0x85, "f6", NGX_DECLINED },
        { 0x85, "bfff", NGX_DECLINED },
        { 0x85, "a1", NGX_DECLINED },
        { 0x85, "ba10000001", NGX_DECLINED },
        { 0x45, "", NGX_DECLINED },
        { 0x45, AAGUID, NGX_DECLINED },
        { 0x45, AAGUID "00", NGX_DECLINED },
        { 0x45, AAGUID "0000" "a0", NGX_DECLINED },
        { 0x45, AAGUID "0001" "61" "a0", NGX_OK },
        { 0x45, AAGUID "0001" "61", NGX_DECLINED },
        { 0x45, AAGUID "0001" "61" "80", NGX_DECLINED },
        { 0x45, AAGUID "0001" "61" "a0" "a0", NGX_DECLINED },
        { 0x45, AAGUID "0002" "61" "a0", NGX_DECLINED },
        { 0x45, AAGUID "ffff" "61" "a0", NGX_DECLINED },
        { 0x45, AAGUID "0001" "61" "bfff", NGX_DECLINED },
        { 0xc5, AAGUID "0001" "61" "a0", NGX_DECLINED },
        { 0xc5, AAGUID "0001" "61" "a0" "a0", NGX_OK },
        { 0xc5, AAGUID "0001" "61" "a0" "a0" "a0", NGX_DECLINED },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        if (data_of(*state, rows[i].flags, rows[i].hex) != rows[i].rc) {
            fail_msg("row %d", (int) i);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_objects),
        ngx_unit_test(test_data),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("webauthn_data", tests, NULL, NULL);
}
