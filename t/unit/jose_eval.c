/*
 * Keys and signatures, for comparison with other programs: a JSON object with
 * one member on each line of the input, an answer on each line of the output.
 *
 *   {"generate":{}}                    {"der":"<base64url>","kid","jwk":{}}
 *   {"generate":{"rsa":1}}             the same for RSA
 *   {"sign":{"der","header":"","payload":""}}    a JWS of exactly these texts
 *   {"verify":{"jwk":{},"jws":""}}     {"payload":{},"alg":n}, or an error
 *   {"thumbprint":{}}                  of a public JWK; null: it is refused
 *   {"dpop":{"proof","method","htu","token":""|null,"now":0}}
 *                      {"jkt","once" (base64url),"iat","stale","nonce"}, or an
 *                      error
 *
 * An error: {"error":"..."}.
 */

#include "ngx_env.h"
#include "ngx_svc_dpop.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_jwk_rsa.h"
#include "ngx_svc_jws_rsa.h"


#define EVAL_LINE  (64 * 1024)


typedef struct {
    const char  *name;
    void       (*handler)(cJSON *json);
} eval_command_t;


static ngx_pool_t             *pool;
static ngx_svc_json_writer_t   out;


static void
eval_die(const char *what)
{
    fprintf(stderr, "jose_eval: %s\n", what);
    exit(1);
}


static cJSON *
eval_get(cJSON *json, const char *name)
{
    cJSON  *item;

    item = cJSON_GetObjectItemCaseSensitive(json, name);
    if (item == NULL) {
        eval_die(name);
    }

    return item;
}


/* Without data it is null. */

static void
eval_text(cJSON *json, const char *name, ngx_str_t *text)
{
    ngx_str_null(text);

    json = eval_get(json, name);

    if (cJSON_IsNull(json)) {
        return;
    }

    text->data = (u_char *) cJSON_GetStringValue(json);
    if (text->data == NULL) {
        eval_die(name);
    }

    text->len = strlen((char *) text->data);
}


static void
eval_put_bytes(const char *name, const u_char *data, size_t len)
{
    u_char  *text;

    text = ngx_pnalloc(pool, ngx_svc_base64url_len(len) + 1);
    if (text == NULL) {
        eval_die("no memory");
    }

    ngx_svc_json_plain(&out, name, text,
                       ngx_svc_base64url(text, data, len) - text);
}


static void
eval_put_error(const char *what, size_t len)
{
    ngx_svc_json_open(&out, NULL, '{');
    ngx_svc_json_string(&out, "error", (u_char *) what, len);
    ngx_svc_json_close(&out, '}');
}


static void
eval_generate(cJSON *json)
{
    ngx_svc_jwk_new_t  new;

    if ((cJSON_GetObjectItem(json, "rsa") ? ngx_svc_jwk_rsa_generate(&new)
                                          : ngx_svc_jwk_generate(&new))
        != NGX_OK)
    {
        eval_die("generate");
    }

    ngx_svc_json_open(&out, NULL, '{');
    eval_put_bytes("der", new.der, new.der_len);
    ngx_svc_json_plain(&out, "kid", new.kid, sizeof(new.kid));
    ngx_svc_json_raw(&out, "jwk", new.jwk, new.jwk_len);
    ngx_svc_json_close(&out, '}');
}


static void
eval_sign_rsa(const u_char *der, size_t len, const ngx_str_t *header,
    const ngx_str_t *payload)
{
    u_char    *text, *last;
    EVP_PKEY  *key;

    text = ngx_pnalloc(pool, ngx_svc_jws_rsa_len(header->len, payload->len));
    key = ngx_svc_jwk_rsa_private(der, len);

    if (text == NULL || key == NULL) {
        eval_die("no key");
    }

    last = ngx_svc_jws_rsa_sign(key, header, payload, text);
    if (last == NULL) {
        eval_die("sign");
    }

    ngx_svc_json_plain(&out, NULL, text, last - text);

    EVP_PKEY_free(key);
}


static void
eval_sign(cJSON *json)
{
    size_t         len;
    u_char         der[EVAL_LINE], *text, *last;
    EVP_PKEY      *key;
    ngx_str_t      str, header, payload;
    EVP_PKEY_CTX  *signer;

    eval_text(json, "der", &str);
    eval_text(json, "header", &header);
    eval_text(json, "payload", &payload);

    if (ngx_svc_base64url_decode(str.data, str.len, der, &len) != NGX_OK) {
        eval_die("der");
    }

    if (len != NGX_SVC_JWK_DER) {
        eval_sign_rsa(der, len, &header, &payload);
        return;
    }

    text = ngx_pnalloc(pool, ngx_svc_jws_len(header.len, payload.len));
    key = ngx_svc_jwk_private(der, len);
    signer = key ? ngx_svc_jws_signer(key) : NULL;

    if (text == NULL || signer == NULL) {
        eval_die("no key");
    }

    last = ngx_svc_jws_sign(signer, &header, &payload, text);
    if (last == NULL) {
        eval_die("sign");
    }

    ngx_svc_json_plain(&out, NULL, text, last - text);

    EVP_PKEY_CTX_free(signer);
    EVP_PKEY_free(key);
}


static void
eval_verify(cJSON *json)
{
    char           *payload;
    u_char          thumbprint[NGX_SVC_JWK_THUMBPRINT];
    EVP_PKEY       *key;
    ngx_int_t       rc;
    ngx_str_t       text;
    ngx_svc_jwa_e   alg;
    ngx_svc_jws_t   jws;

    eval_text(json, "jws", &text);

    if (ngx_svc_jws_parse_signed(pool, &text, &jws) != NGX_OK) {
        eval_put_error(jws.why, strlen(jws.why));
        return;
    }

    if (ngx_svc_jwk_signing(eval_get(json, "jwk"), &key, &alg, thumbprint)
        != NGX_OK)
    {
        eval_put_error("jwk", 3);
        return;
    }

    rc = ngx_svc_jws_verify(&jws, key, alg);

    EVP_PKEY_free(key);

    if (rc != NGX_OK) {
        eval_put_error("signature", 9);
        return;
    }

    payload = cJSON_PrintUnformatted(jws.payload);
    if (payload == NULL) {
        eval_die("no memory");
    }

    ngx_svc_json_open(&out, NULL, '{');
    ngx_svc_json_raw(&out, "payload", (u_char *) payload, strlen(payload));
    ngx_svc_json_integer(&out, "alg", alg);
    ngx_svc_json_close(&out, '}');

    cJSON_free(payload);
}


static void
eval_thumbprint(cJSON *json)
{
    u_char          thumbprint[NGX_SVC_JWK_THUMBPRINT];
    EVP_PKEY       *key;
    ngx_svc_jwa_e   alg;

    if (ngx_svc_jwk_signing(json, &key, &alg, thumbprint) != NGX_OK) {
        ngx_svc_json_null(&out, NULL);
        return;
    }

    EVP_PKEY_free(key);

    eval_put_bytes(NULL, thumbprint, sizeof(thumbprint));
}


static void
eval_dpop(cJSON *json)
{
    ngx_str_t              proof, htu;
    ngx_svc_dpop_t         dpop;
    ngx_svc_error_t        err;
    ngx_svc_dpop_expect_t  expect;

    ngx_memzero(&expect, sizeof(expect));

    eval_text(json, "proof", &proof);
    eval_text(json, "method", &expect.method);
    eval_text(json, "htu", &htu);
    eval_text(json, "token", &expect.token);
    expect.now = (time_t) cJSON_GetNumberValue(eval_get(json, "now"));

    expect.htu.data = ngx_pnalloc(pool, htu.len + 1);

    if (expect.htu.data == NULL
        || ngx_svc_dpop_htu(&htu, &expect.htu) != NGX_OK)
    {
        eval_die("htu");
    }

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_dpop_check(pool, &proof, &expect, &dpop, &err) != NGX_OK) {
        eval_put_error((char *) err.detail, err.len);
        return;
    }

    ngx_svc_json_open(&out, NULL, '{');
    eval_put_bytes("jkt", dpop.jkt, sizeof(dpop.jkt));
    eval_put_bytes("once", dpop.once, sizeof(dpop.once));
    ngx_svc_json_integer(&out, "iat", dpop.iat);
    ngx_svc_json_boolean(&out, "stale", dpop.stale);

    if (dpop.nonce.data) {
        ngx_svc_json_string(&out, "nonce", dpop.nonce.data, dpop.nonce.len);

    } else {
        ngx_svc_json_null(&out, "nonce");
    }

    ngx_svc_json_close(&out, '}');
}


static const eval_command_t  commands[] = {
    { "generate", eval_generate },
    { "sign", eval_sign },
    { "verify", eval_verify },
    { "thumbprint", eval_thumbprint },
    { "dpop", eval_dpop },
    { NULL, NULL }
};


static void
eval_line(ngx_str_t *text)
{
    cJSON                 *json;
    ngx_svc_error_t        err;
    const eval_command_t  *command;

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, text, &json, &err) != NGX_OK
        || json->child == NULL
        || ngx_svc_json_writer_init(&out, pool, 1024) != NGX_OK)
    {
        eval_die("no JSON");
    }

    json = json->child;

    for (command = commands; command->name; command++) {
        if (strcmp(command->name, json->string) == 0) {
            command->handler(json);

            printf("%.*s\n", (int) (out.last - out.start), out.start);
            fflush(stdout);

            return;
        }
    }

    eval_die("unknown command");
}


int
main(void)
{
    ngx_str_t    text;
    static char  line[EVAL_LINE];

    ngx_env_init();
    ngx_svc_json_init();

    while (fgets(line, sizeof(line), stdin) != NULL) {
        pool = ngx_create_pool(16384, ngx_env_log());
        if (pool == NULL) {
            eval_die("no memory");
        }

        text.data = (u_char *) line;
        text.len = strlen(line);

        eval_line(&text);

        ngx_destroy_pool(pool);
    }

    return 0;
}
