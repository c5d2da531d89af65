/*
 * Second factors, for comparison with other programs: a JSON object with one
 * member on each line of the input, an answer on each line of the output.
 *
 *   {"totp":{"secret":"<hex>","code":"123456","now":0,"last":0}}
 *                                        the step, or null
 *   {"uri":{"issuer":"","account":"","secret":"<hex>"}}
 *   {"qr":{"text":""}}                   SVG
 *   {"recovery":{"n":10}}                as many new codes
 *   {"creation":{"ceremony":C,"user":{"site","handle","name","displayName"},
 *                "passkeys":[P]}}        options
 *   {"request":{"ceremony":C,"passkeys":[P]}}
 *   {"register":{"ceremony":C,"credential":{}}}      P, or an error
 *   {"verify":{"ceremony":C,"credential":{},"passkey":P,"rounds":1}}
 *
 * C: {"purpose":"signin"|"register"|"stepup","rpId","origin","key":"<hex>",
 * "session":"<hex>"|null,"now":0}.  P: {"id","key","aaguid" (hex),"alg",
 * "signCount","transports" (a mask),"be","bs"}.  An error: {"error":"..."}.
 * The signature is verified "rounds" times; "usec" is the time of one of them.
 */

#include "ngx_env.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_qr.h"
#include "ngx_svc_recovery.h"
#include "ngx_svc_totp.h"
#include "ngx_svc_webauthn.h"
#include "ngx_svc_webauthn_options.h"


#define EVAL_LINE      (256 * 1024)
#define EVAL_PASSKEYS  32

#define eval_has(json, name)  cJSON_GetObjectItemCaseSensitive(json, name)


typedef struct {
    const char  *name;
    void       (*handler)(cJSON *json);
} eval_command_t;


static ngx_pool_t             *pool;
static ngx_svc_json_writer_t   out;


static void
eval_die(const char *what)
{
    fprintf(stderr, "factor_eval: %s\n", what);
    exit(1);
}


static cJSON *
eval_get(cJSON *json, const char *name)
{
    cJSON  *item;

    item = eval_has(json, name);
    if (item == NULL) {
        eval_die(name);
    }

    return item;
}


static void
eval_text(cJSON *json, const char *name, ngx_str_t *text)
{
    text->data = (u_char *) cJSON_GetStringValue(eval_get(json, name));
    if (text->data == NULL) {
        eval_die(name);
    }

    text->len = strlen((char *) text->data);
}


/* Reads bytes from hex digits. */

static void
eval_bytes(cJSON *json, const char *name, ngx_str_t *bytes)
{
    ngx_str_t  text;

    eval_text(json, name, &text);

    bytes->len = text.len / 2;
    bytes->data = ngx_pnalloc(pool, bytes->len + 1);

    if (bytes->data == NULL
        || text.len % 2
        || ngx_svc_hex(text.data, bytes->len, bytes->data) != NGX_OK)
    {
        eval_die(name);
    }
}


static double
eval_number(cJSON *json, const char *name)
{
    return cJSON_GetNumberValue(eval_get(json, name));
}


static void
eval_put_bytes(const char *name, const u_char *data, size_t len)
{
    u_char  *hex;

    hex = ngx_pnalloc(pool, 2 * len + 1);
    if (hex == NULL) {
        eval_die("no memory");
    }

    (void) ngx_hex_dump(hex, (u_char *) data, len);
    ngx_svc_json_plain(&out, name, hex, 2 * len);
}


static void
eval_error(ngx_int_t rc, const ngx_svc_error_t *err)
{
    ngx_svc_json_open(&out, NULL, '{');

    if (rc == NGX_DONE) {
        ngx_svc_json_plain(&out, "error", (u_char *) "expired", 7);

    } else if (rc == NGX_DECLINED) {
        ngx_svc_json_string(&out, "error", err->detail, err->len);

    } else {
        ngx_svc_json_plain(&out, "error", (u_char *) "failed", 6);
    }

    ngx_svc_json_close(&out, '}');
}


static void
eval_totp(cJSON *json)
{
    int64_t    step;
    ngx_str_t  secret, code;

    eval_bytes(json, "secret", &secret);
    eval_text(json, "code", &code);

    if (ngx_svc_totp_verify(secret.data, &code,
                            (time_t) eval_number(json, "now"),
                            (int64_t) eval_number(json, "last"), &step)
        == NGX_OK)
    {
        ngx_svc_json_integer(&out, NULL, step);

    } else {
        ngx_svc_json_null(&out, NULL);
    }
}


static void
eval_uri(cJSON *json)
{
    ngx_str_t  secret, issuer, account, uri;

    eval_bytes(json, "secret", &secret);
    eval_text(json, "issuer", &issuer);
    eval_text(json, "account", &account);

    if (ngx_svc_totp_uri(pool, &issuer, &account, secret.data, &uri)
        != NGX_OK)
    {
        eval_die("no memory");
    }

    ngx_svc_json_string(&out, NULL, uri.data, uri.len);
}


static void
eval_qr(cJSON *json)
{
    ngx_str_t  text, svg;

    eval_text(json, "text", &text);

    if (ngx_svc_qr_svg(pool, &text, &svg) == NGX_OK) {
        ngx_svc_json_string(&out, NULL, svg.data, svg.len);

    } else {
        ngx_svc_json_null(&out, NULL);
    }
}


static void
eval_recovery(cJSON *json)
{
    int     n;
    u_char  code[NGX_SVC_RECOVERY_LEN], text[NGX_SVC_RECOVERY_TEXT_LEN];

    ngx_svc_json_open(&out, NULL, '[');

    for (n = (int) eval_number(json, "n"); n > 0; n--) {
        if (ngx_svc_recovery_new(code) != NGX_OK) {
            eval_die("ngx_svc_recovery_new() failed");
        }

        (void) ngx_svc_recovery_text(text, code);
        ngx_svc_json_plain(&out, NULL, text, sizeof(text));
    }

    ngx_svc_json_close(&out, ']');
}


static void
eval_ceremony(cJSON *json, ngx_svc_webauthn_ceremony_t *c)
{
    ngx_str_t    purpose, key, session;
    ngx_uint_t   i;

    static const char  *purposes[] = { "signin", "register", "stepup" };

    json = eval_get(json, "ceremony");

    eval_text(json, "purpose", &purpose);
    eval_text(json, "rpId", &c->rp_id);
    eval_text(json, "origin", &c->origin);
    eval_bytes(json, "key", &key);

    for (i = 0; strcmp(purposes[i], (char *) purpose.data) != 0; i++) {
        if (i == 2) {
            eval_die("purpose");
        }
    }

    c->purpose = i;
    c->session = NULL;

    if (cJSON_IsString(eval_has(json, "session"))) {
        eval_bytes(json, "session", &session);
        c->session = session.data;
    }

    if (key.len != NGX_SVC_KEY_LEN
        || (c->session && session.len != NGX_SVC_UUID_LEN))
    {
        eval_die("key, session");
    }

    c->keys = (const u_char (*)[NGX_SVC_KEY_LEN]) key.data;
    c->nkeys = 1;
    c->now = (uint64_t) eval_number(json, "now");
}


static void
eval_passkey(cJSON *json, ngx_svc_passkey_t *passkey)
{
    eval_bytes(json, "id", &passkey->id);
    eval_bytes(json, "key", &passkey->public_key);

    passkey->alg = (ngx_int_t) eval_number(json, "alg");
    passkey->sign_count = (uint32_t) eval_number(json, "signCount");
    passkey->transports = (ngx_uint_t) eval_number(json, "transports");
    passkey->be = cJSON_IsTrue(eval_get(json, "be"));
    passkey->bs = cJSON_IsTrue(eval_get(json, "bs"));
}


static ngx_uint_t
eval_passkeys(cJSON *json, ngx_svc_passkey_t *passkeys)
{
    cJSON       *item;
    ngx_uint_t   n;

    n = 0;

    cJSON_ArrayForEach(item, eval_get(json, "passkeys")) {
        if (n == EVAL_PASSKEYS) {
            eval_die("passkeys");
        }

        eval_passkey(item, &passkeys[n++]);
    }

    return n;
}


static void
eval_challenge(const ngx_svc_webauthn_ceremony_t *c, u_char *challenge)
{
    if (ngx_svc_webauthn_challenge(c, challenge) != NGX_OK) {
        eval_die("ngx_svc_webauthn_challenge() failed");
    }
}


static void
eval_creation(cJSON *json)
{
    cJSON                        *item;
    u_char                        challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN];
    ngx_uint_t                    n;
    ngx_svc_passkey_t             passkeys[EVAL_PASSKEYS];
    ngx_svc_webauthn_user_t       user;
    ngx_svc_webauthn_ceremony_t   c;

    eval_ceremony(json, &c);
    eval_challenge(&c, challenge);
    n = eval_passkeys(json, passkeys);

    item = eval_get(json, "user");
    eval_text(item, "site", &user.site);
    eval_bytes(item, "handle", &user.handle);
    eval_text(item, "name", &user.name);
    eval_text(item, "displayName", &user.display_name);

    ngx_svc_webauthn_creation_options(&out, NULL, &c, challenge, &user,
                                      passkeys, n);
}


static void
eval_request(cJSON *json)
{
    u_char                       challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN];
    ngx_uint_t                   n;
    ngx_svc_passkey_t            passkeys[EVAL_PASSKEYS];
    ngx_svc_webauthn_ceremony_t  c;

    eval_ceremony(json, &c);
    eval_challenge(&c, challenge);
    n = eval_passkeys(json, passkeys);

    ngx_svc_webauthn_request_options(&out, NULL, &c, challenge, passkeys, n);
}


static void
eval_register(cJSON *json)
{
    ngx_int_t                    rc;
    ngx_svc_error_t              err;
    ngx_svc_passkey_t            p;
    ngx_svc_webauthn_used_t      used;
    ngx_svc_webauthn_ceremony_t  c;

    err.kind = NGX_SVC_E_NONE;
    eval_ceremony(json, &c);

    rc = ngx_svc_webauthn_register(pool, eval_get(json, "credential"), &c, &p,
                                   &used, &err);
    if (rc != NGX_OK) {
        eval_error(rc, &err);
        return;
    }

    ngx_svc_json_open(&out, NULL, '{');
    eval_put_bytes("id", p.id.data, p.id.len);
    eval_put_bytes("key", p.public_key.data, p.public_key.len);
    eval_put_bytes("aaguid", p.aaguid, sizeof(p.aaguid));
    eval_put_bytes("used", used.hash, sizeof(used.hash));
    ngx_svc_json_integer(&out, "expires", (int64_t) used.expires);
    ngx_svc_json_integer(&out, "alg", p.alg);
    ngx_svc_json_integer(&out, "signCount", p.sign_count);
    ngx_svc_json_integer(&out, "transports", (int64_t) p.transports);
    ngx_svc_json_boolean(&out, "be", p.be);
    ngx_svc_json_boolean(&out, "bs", p.bs);
    ngx_svc_json_close(&out, '}');
}


/* Returns how long one verification takes, in microseconds. */

static int64_t
eval_time(ngx_svc_webauthn_assertion_t *a,
    const ngx_svc_webauthn_ceremony_t *c, const ngx_svc_passkey_t *passkey,
    int64_t rounds)
{
    int64_t          i;
    struct timespec  from, to;

    (void) clock_gettime(CLOCK_MONOTONIC, &from);

    for (i = 0; i < rounds; i++) {
        (void) ngx_svc_webauthn_verify(a, c, passkey);
    }

    (void) clock_gettime(CLOCK_MONOTONIC, &to);

    return ((to.tv_sec - from.tv_sec) * 1000000
            + (to.tv_nsec - from.tv_nsec) / 1000) / ngx_max(rounds, 1);
}


static void
eval_verify(cJSON *json)
{
    int64_t                        usec;
    ngx_int_t                      rc;
    ngx_svc_error_t                err;
    ngx_svc_passkey_t              passkey;
    ngx_svc_webauthn_ceremony_t    c;
    ngx_svc_webauthn_assertion_t   a;

    err.kind = NGX_SVC_E_NONE;
    eval_ceremony(json, &c);
    eval_passkey(eval_get(json, "passkey"), &passkey);

    rc = ngx_svc_webauthn_assertion(pool, eval_get(json, "credential"), &c,
                                    &a, &err);
    if (rc != NGX_OK) {
        eval_error(rc, &err);
        return;
    }

    usec = eval_has(json, "rounds")
           ? eval_time(&a, &c, &passkey, (int64_t) eval_number(json, "rounds"))
           : 0;

    rc = ngx_svc_webauthn_verify(&a, &c, &passkey);

    if (rc != NGX_OK) {
        err.len = ngx_sprintf(err.detail, a.cloned ? "cloned" : "refused")
                  - err.detail;
        eval_error(rc, &err);
        return;
    }

    ngx_svc_json_open(&out, NULL, '{');
    eval_put_bytes("id", a.id.data, a.id.len);
    eval_put_bytes("user", a.user.data, a.user.len);
    eval_put_bytes("used", a.used.hash, sizeof(a.used.hash));
    ngx_svc_json_integer(&out, "expires", (int64_t) a.used.expires);
    ngx_svc_json_integer(&out, "signCount", a.sign_count);
    ngx_svc_json_integer(&out, "usec", usec);
    ngx_svc_json_boolean(&out, "be", a.be);
    ngx_svc_json_boolean(&out, "bs", a.bs);
    ngx_svc_json_close(&out, '}');
}


static const eval_command_t  commands[] = {
    { "totp", eval_totp },
    { "uri", eval_uri },
    { "qr", eval_qr },
    { "recovery", eval_recovery },
    { "creation", eval_creation },
    { "request", eval_request },
    { "register", eval_register },
    { "verify", eval_verify },
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
    ngx_str_t      text;
    static char    line[EVAL_LINE];

    ngx_env_init();
    ngx_svc_json_init();

    while (fgets(line, sizeof(line), stdin) != NULL) {
        pool = ngx_create_pool(65536, ngx_env_log());
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
