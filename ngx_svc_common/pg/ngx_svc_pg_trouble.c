/*
 * The reasons why there are no connections: their texts for the health location
 * and for the log, and the remedies.
 */

#include "ngx_svc_pg_trouble.h"
#include "ngx_svc_pg_error.h"


#define NGX_SVC_PG_STATE_LEN  5         /* bytes of an SQLSTATE */


typedef struct {
    const char             *state;      /* SQLSTATE, or its class */
    ngx_svc_pg_trouble_e    trouble;
} ngx_svc_pg_trouble_state_t;


static const char *ngx_svc_pg_trouble_sqlstate(const char *message);


/*
 * In the order of ngx_svc_pg_trouble_e.  The texts have no secrets: anybody may
 * read the health location.
 */

static const ngx_svc_pg_trouble_t  ngx_svc_pg_troubles[] = {

    { "up", NULL, NULL },

    { "down",
      "PostgreSQL cannot be reached, or does not answer.", NULL },

    { "full",
      "PostgreSQL has no connections left for the modules.",
      "raise \"max_connections\", or the role's limit, above what all nodes "
      "open, or lower \"svc_postgres_pool\"" },

    { "login-refused",
      "PostgreSQL refuses the login of the modules' role.",
      "check user and password in \"svc_postgres\", or the line of its "
      "passfile, that the role has LOGIN, and \"pg_hba.conf\"" },

    { "database-missing",
      "The database does not exist.",
      "check \"dbname\" in \"svc_postgres\"; make it with \"createdb\", then "
      "run \"svcctl migrate\"" },

    { "schema-missing",
      "The database has no schema of the modules.",
      "run \"svcctl migrate\" on it" },

    { "schema-old",
      "The schema is older than the modules.",
      "run \"svcctl migrate\"" },

    { "schema-new",
      "The schema is newer than the modules: it works, but they are due to be "
      "upgraded.",
      "install the modules that belong to it, and restart NGINX" },

    { "schema-ahead",
      "The schema is newer than the modules, and does not serve them.",
      "install the modules that belong to it, and restart NGINX, or restore a "
      "backup of the version before; \"svcctl check\" says so beforehand" },

    { "role-unsafe",
      "The modules' role could read all tenants.",
      "connect as svc_app, which owns nothing, is no superuser and has no "
      "BYPASSRLS" },

    { "role-denied",
      "The modules' role lacks privileges.",
      "connect as svc_app; run \"svcctl migrate\", which grants what it "
      "needs" },

    { "stale-primary",
      "PostgreSQL is a former primary: another server has taken its place.",
      "stop it, run pg_rewind on it and start it as a standby, and name all "
      "hosts in \"svc_postgres\"; after a restore see \"The fence\" in the "
      "documents" }
};


static const ngx_svc_pg_trouble_state_t  ngx_svc_pg_trouble_states[] = {
    { "28",    NGX_SVC_PG_LOGIN_REFUSED },
    { "3D000", NGX_SVC_PG_DATABASE_MISSING },
    { "3F000", NGX_SVC_PG_SCHEMA_MISSING },
    { "42501", NGX_SVC_PG_ROLE_DENIED },
    { "42P01", NGX_SVC_PG_SCHEMA_MISSING },
    { "53300", NGX_SVC_PG_FULL },
    { NULL,    NGX_SVC_PG_DOWN }
};


const ngx_svc_pg_trouble_t *
ngx_svc_pg_trouble_row(ngx_svc_pg_trouble_e trouble)
{
    return &ngx_svc_pg_troubles[trouble];
}


ngx_svc_pg_trouble_e
ngx_svc_pg_trouble_state(const char *state)
{
    const ngx_svc_pg_trouble_state_t  *row;

    for (row = ngx_svc_pg_trouble_states; row->state; row++) {
        if (state
            && ngx_strncmp(state, row->state, ngx_strlen(row->state)) == 0)
        {
            break;
        }
    }

    return row->trouble;
}


/*
 * libpq gives the SQLSTATE of a refused login only in its message, and only
 * when that is verbose (see ngx_svc_pg_conn_start()).  There is none when the
 * server asks for a password, and no password is configured.
 */

ngx_svc_pg_trouble_e
ngx_svc_pg_trouble_connecting(PGconn *pg)
{
    if (PQconnectionNeedsPassword(pg)) {
        return NGX_SVC_PG_LOGIN_REFUSED;
    }

    return ngx_svc_pg_trouble_state(
                        ngx_svc_pg_trouble_sqlstate(PQerrorMessage(pg)));
}


/*
 * Finds the SQLSTATE in "FATAL:  28P01: password ...", for the address that was
 * tried last; the word before it may be in any language.  Returns NULL when no
 * server has answered.
 */

static const char *
ngx_svc_pg_trouble_sqlstate(const char *message)
{
    size_t       i;
    const char  *p, *state;

    state = NULL;

    for (p = message; (p = strstr(p, ":  ")) != NULL; /* void */ ) {
        p += sizeof(":  ") - 1;

        for (i = 0; i < NGX_SVC_PG_STATE_LEN; i++) {
            if ((p[i] < '0' || p[i] > '9') && (p[i] < 'A' || p[i] > 'Z')) {
                break;
            }
        }

        if (i == NGX_SVC_PG_STATE_LEN && p[i] == ':') {
            state = p;
        }
    }

    return state;
}


ngx_str_t
ngx_svc_pg_trouble_text(ngx_svc_pg_trouble_e trouble, const char *message)
{
    u_char       *p, *last;
    size_t        len;
    ngx_str_t     text;
    const char   *location;

    static u_char  buf[NGX_SVC_PG_TROUBLE_TEXT];

    /* the line that tells the place in PostgreSQL's sources is left out */

    location = strstr(message, "\nLOCATION:");
    len = location ? (size_t) (location - message) : ngx_strlen(message);
    len = ngx_min(len, sizeof(buf) / 2);

    while (len && message[len - 1] == '\n') {
        len--;
    }

    last = buf + sizeof(buf) - 1;
    p = ngx_slprintf(buf, last, "%*s", len, message);

    if (ngx_svc_pg_troubles[trouble].remedy) {
        p = ngx_slprintf(p, last, "; %s", ngx_svc_pg_troubles[trouble].remedy);
    }

    *p = '\0';

    text = ngx_svc_pg_message((char *) buf);

    return text;
}
