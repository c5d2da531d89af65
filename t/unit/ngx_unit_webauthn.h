/*
 * A passkey of each algorithm, with one signature: of a ceremony at
 * https://acme.test, in a session whose id is 16 times "s", at
 * NGX_UNIT_WEBAUTHN_NOW, with challenges under a key of 32 times "k".  They
 * were made by t/lib/authenticator, and verified by python3-fido2.
 */

#ifndef _NGX_UNIT_WEBAUTHN_H_INCLUDED_
#define _NGX_UNIT_WEBAUTHN_H_INCLUDED_


#include "ngx_svc_webauthn.h"


#define NGX_UNIT_WEBAUTHN_NOW  1767225600000


/* All are base64url, except the key, which is in hex, as it is stored. */

typedef struct {
    const char  *name;
    ngx_int_t    alg;
    const char  *id;
    const char  *key;
    const char  *create;            /* client data, attestation object */
    const char  *object;
    const char  *get;               /* client data, authenticator data */
    const char  *data;
    const char  *signature;
} ngx_unit_webauthn_t;


static const ngx_unit_webauthn_t  ngx_unit_webauthn[] = {

    { "ES256", -7,
      "eX-rWpjIUtlN9zOvWHhPy5ZT_9d3UHobvmJHVwylUq8",
      "2998ffc5e97154cf1b96395a5b09e7208b192fb2fa0489b9beea32e2111c8689af4e"
      "ae025918438d979cb4e2d2e5e868faa075bd7573665777d018625c293cb0",
      "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiQVp0MjJxZ0E3OWIw"
      "RzJvV1FtNkh5S2o1SWwtdDgwbjlLSjJGaTVaeFY3dyIsIm9yaWdpbiI6Imh0dHBzOi8v"
      "YWNtZS50ZXN0IiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ",
      "o2NmbXRmcGFja2VkZ2F0dFN0bXSiY2FsZyZjc2lnWEYwRAIgQIl_AVa4gbXl0eqPBCMN"
      "9EpowdCUIa10xQQYAff-jgQCIF15c1A_RnHA2padWIhAosP2x2JIo4pPfl9IyPggu5gL"
      "aGF1dGhEYXRhWKSGsxg5j9_XjejKUlv9PqvRIDzeL82MchkAay-0MEG6UV0AAAABYWFh"
      "YWFhYWFhYWFhYWFhYQAgeX-rWpjIUtlN9zOvWHhPy5ZT_9d3UHobvmJHVwylUq-lAQID"
      "JiABIVggKZj_xelxVM8bljlaWwnnIIsZL7L6BIm5vuoy4hEchokiWCCvTq4CWRhDjZec"
      "tOLS5eho-qB1vXVzZld30BhiXCk8sA",
      "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiQVp0MjJxZ0FaeGdURjBo"
      "LW5CNE9LcFV5RUs4c29VVWFucHFvMGw2LU1qUSIsIm9yaWdpbiI6Imh0dHBzOi8vYWNt"
      "ZS50ZXN0IiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ",
      "hrMYOY_f143oylJb_T6r0SA83i_NjHIZAGsvtDBBulEdAAAAAg",
      "MEQCICYuZIzm0RFs21eCW0Qy-rocVQ9UTynpl4zW6eGs64LZAiBAsf4YMxDHeBybj6A5"
      "RtWMW-45ZiveME_63e4f754Xeg" },

    { "EDDSA", -8,
      "_9HcIFCVC55DRUWWqRLQT_h4FKAGu6UdfP97BxNoUtk",
      "8df25b79758d07941c934c3e3876fbfd8660afaebd60be400a001e956689f421",
      "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiQVp0MjJxZ0FCa19v"
      "RW1fcml6RjRvYm84eTRPejl6WHpvMWVsa0lrZkNpcyIsIm9yaWdpbiI6Imh0dHBzOi8v"
      "YWNtZS50ZXN0IiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ",
      "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViBhrMYOY_f143oylJb_T6r0SA83i_N"
      "jHIZAGsvtDBBulFdAAAAAWFhYWFhYWFhYWFhYWFhYWEAIP_R3CBQlQueQ0VFlqkS0E_4"
      "eBSgBrulHXz_ewcTaFLZpAEBAycgBiFYII3yW3l1jQeUHJNMPjh2-_2GYK-uvWC-QAoA"
      "HpVmifQh",
      "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiQVp0MjJxZ0F0cHUzb0c4"
      "Y1JUUUhwV01ocF9RNWZPbVVFcE81WEQ2aXdJSSIsIm9yaWdpbiI6Imh0dHBzOi8vYWNt"
      "ZS50ZXN0IiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ",
      "hrMYOY_f143oylJb_T6r0SA83i_NjHIZAGsvtDBBulEdAAAAAg",
      "2I2Ti9sT-nytDSoYzqhMYIS4HM3o8VoznWBJdzITQLzlk4Rihx8tJoAaVa4AeR-vxjxT"
      "yHEIJ4Z5fL7y4sU8DA" },

    { "ES384", -35,
      "l2ESdHGhxGXdTamVupoaE4TKmkCJk84MMnbSvz9xFPE",
      "ae75c7b23f485dcd87bc8be2852f3a82fbd8ea52981dcec36f37be57297115bcb855"
      "9fe3ec18f0c061894d5cea5435b0d905749c64d318468ccc6fc09dc302bac9a8b582"
      "7e8880feb81265656662cbc33d1d78f57784732b4cf329a80169a2ab",
      "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiQVp0MjJxZ0FtcHhq"
      "dVVoZWNpNS1ZVFRBYm1FdlhMRU9wUXJYRTNJZjJKQSIsIm9yaWdpbiI6Imh0dHBzOi8v"
      "YWNtZS50ZXN0IiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ",
      "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVjFhrMYOY_f143oylJb_T6r0SA83i_N"
      "jHIZAGsvtDBBulFdAAAAAWFhYWFhYWFhYWFhYWFhYWEAIJdhEnRxocRl3U2plbqaGhOE"
      "yppAiZPODDJ20r8_cRTxpQECAzgiIAIhWDCudceyP0hdzYe8i-KFLzqC-9jqUpgdzsNv"
      "N75XKXEVvLhVn-PsGPDAYYlNXOpUNbAiWDDZBXScZNMYRozMb8CdwwK6yai1gn6IgP64"
      "EmVlZmLLwz0dePV3hHMrTPMpqAFpoqs",
      "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiQVp0MjJxZ0FyUVpsUGpG"
      "M0dYbHNFRTZnOF9WcG1HdzJxRVNfM2VPRVg4dyIsIm9yaWdpbiI6Imh0dHBzOi8vYWNt"
      "ZS50ZXN0IiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ",
      "hrMYOY_f143oylJb_T6r0SA83i_NjHIZAGsvtDBBulEdAAAAAg",
      "MGUCMQDUBXf3kokvRoh2MgeW5NkKVfX19jtNVb6gts4ILQo9e7qCLQ_qZKXVbeu2daI3"
      "bUICMDwMJ8CzL2bcALGgthknZd9GNfrp01XVkTBOjehkOnY56HgXwrQ6efX9R5CAtZSr"
      "ng" },

    { "RS256", -257,
      "8Dro5DYKcsn9MNSJnCxwdnvflQO40XCFt3hX2Pt0gA0",
      "ebe95b3b5aeddf807a58cfdd02b4c5f38bdddfd1ff534bec19219959e7491776dcf4"
      "5fb1009d57c6d30d774c05fb4a492a584eeb618a3bfc326d198a8e8a141f699866d8"
      "db72ff4900e52383b04e35a654a7c0bb0214cd9837a5229eff6cea6e408bb3ca3c7c"
      "7eff6bd3a82abf95b045dce1977d6364b3dee8a0b54260603e99b24e5dbfb61fdba1"
      "50b80bb4855b7c0e5f86be75dcb5273a69f6c5512ce5db3e3b1c65daa952bc635987"
      "c930b365322aa5785214a3db2e3af1c5cd0a5d85e4bf468f00e24e218da6f1586842"
      "78fe22756f660f50a2e737a8f9fb56658812499de104bfd83c5130cd2c1f9c9057ee"
      "416f43b2d8a54903442f022d19ba48d24015010001",
      "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiQVp0MjJxZ0FvZ0pl"
      "MnJodWlCWWRrcFhJTjFHRnNBV2F4Z1FEaFZBQ082byIsIm9yaWdpbiI6Imh0dHBzOi8v"
      "YWNtZS50ZXN0IiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ",
      "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVkBZ4azGDmP39eN6MpSW_0-q9EgPN4v"
      "zYxyGQBrL7QwQbpRXQAAAAFhYWFhYWFhYWFhYWFhYWFhACDwOujkNgpyyf0w1ImcLHB2"
      "e9-VA7jRcIW3eFfY-3SADaQBAwM5AQAgWQEA6-lbO1rt34B6WM_dArTF84vd39H_U0vs"
      "GSGZWedJF3bc9F-xAJ1XxtMNd0wF-0pJKlhO62GKO_wybRmKjooUH2mYZtjbcv9JAOUj"
      "g7BONaZUp8C7AhTNmDelIp7_bOpuQIuzyjx8fv9r06gqv5WwRdzhl31jZLPe6KC1QmBg"
      "PpmyTl2_th_boVC4C7SFW3wOX4a-ddy1Jzpp9sVRLOXbPjscZdqpUrxjWYfJMLNlMiql"
      "eFIUo9suOvHFzQpdheS_Ro8A4k4hjabxWGhCeP4idW9mD1Ci5zeo-ftWZYgSSZ3hBL_Y"
      "PFEwzSwfnJBX7kFvQ7LYpUkDRC8CLRm6SNJAFSFDAQAB",
      "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiQVp0MjJxZ0FIWmV1R1ZF"
      "NmxsdTF2U0lCVDlGaU5XOGdtbk1EczlVSjVTVSIsIm9yaWdpbiI6Imh0dHBzOi8vYWNt"
      "ZS50ZXN0IiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ",
      "hrMYOY_f143oylJb_T6r0SA83i_NjHIZAGsvtDBBulEdAAAAAg",
      "bqn8DxE2FTLKIa-Eqqppil9DQ3cjShq3GjbOUH4Kiv62Eh2cScs5QO07KQ_nL6EEVZ0m"
      "VXZf3NdG7nFPSsSr9foU-zEX4jLcese7fslp3XNQc75g1dimUSP9vt39jdFgK5D-aJVh"
      "sNeog1MYysAFtZfSZ2aeT_S4gTyabn023Tcdc3Vnagt-OC1Dy-ab85h2lYBEHN9VizlE"
      "1TB-K2Tp_ZH6komHBru47TEAR-bxfqeFjUe-xc3IjTkCTeW0IcMFZRE-oGbplLQZby39"
      "hvjcubrZ83kmXtBxdjyr6yQHAWaMYDmCRIUrctQ5XYUWZaUN6v3oEYH5LdcbyaPXCARA"
      "9Q" },

    { NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL }
};


static inline void
ngx_unit_webauthn_ceremony(ngx_svc_webauthn_ceremony_t *c,
    ngx_svc_webauthn_purpose_e purpose)
{
    static u_char  keys[2][NGX_SVC_KEY_LEN], session[NGX_SVC_UUID_LEN];

    ngx_memset(keys[0], 'K', sizeof(keys[0]));
    ngx_memset(keys[1], 'k', sizeof(keys[1]));
    ngx_memset(session, 's', sizeof(session));

    c->purpose = purpose;
    ngx_str_set(&c->rp_id, "acme.test");
    ngx_str_set(&c->origin, "https://acme.test");
    c->session = session;
    c->keys = (const u_char (*)[NGX_SVC_KEY_LEN]) keys;
    c->nkeys = 2;
    c->now = NGX_UNIT_WEBAUTHN_NOW;
}


#endif /* _NGX_UNIT_WEBAUTHN_H_INCLUDED_ */
