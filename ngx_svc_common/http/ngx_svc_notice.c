/*
 * Mails that tell a user of a change of the account.
 */

#include "ngx_svc_notice.h"


#define NGX_SVC_NOTICE_LIFE    3600     /* seconds */
#define NGX_SVC_NOTICE_NOBODY  "nobody@invalid.invalid"


typedef struct {
    const char  *column;
    size_t       offset;
} ngx_svc_notice_column_t;

#define ngx_svc_notice_column(name, field)                                    \
    { name, offsetof(ngx_svc_mail_t, field) }

static const ngx_svc_notice_column_t  ngx_svc_notice_columns[] = {
    ngx_svc_notice_column("_notice", tenant),
    ngx_svc_notice_column("_tenant_name", tenant_name),
    ngx_svc_notice_column("_color", primary),
    ngx_svc_notice_column("_logo", logo_url),
    ngx_svc_notice_column("_link", link),
    ngx_svc_notice_column("_to", to),
    ngx_svc_notice_column("_name", name),
    ngx_svc_notice_column("_locale", locale),
    ngx_svc_notice_column("_ip", ip),
    ngx_svc_notice_column("_country", country),
    { NULL, 0 }
};


ngx_int_t
ngx_svc_notice_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_loc_conf_t   *slcf;
    ngx_svc_main_conf_t  *smcf;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);
    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    if (smcf->mail && slcf->base_url.len) {
        ngx_svc_pg_bind_str(call, ngx_svc_base_url(sr));

    } else {
        ngx_svc_pg_bind(call, NULL, 0);
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_notice_read(ngx_svc_mail_t *mail, PGresult *res)
{
    int                             n;
    ngx_str_t                      *value;
    const ngx_svc_notice_column_t  *column;

    ngx_memzero(mail, sizeof(ngx_svc_mail_t));

    if (PQntuples(res) == 0) {
        return NGX_DECLINED;
    }

    for (column = ngx_svc_notice_columns; column->column; column++) {
        n = ngx_svc_row_find(res, column->column);

        if (n != -1) {
            value = (ngx_str_t *) ((u_char *) mail + column->offset);
            *value = ngx_svc_pg_value(res, 0, n);
        }
    }

    return mail->tenant.len ? NGX_OK : NGX_DECLINED;
}


/* Without a recipient the mail is not sent, and takes as long to make. */

void
ngx_svc_notice(ngx_svc_mail_kind_e kind, PGresult *res)
{
    ngx_svc_mail_t  mail;

    if (ngx_svc_notice_read(&mail, res) != NGX_OK) {
        return;
    }

    mail.kind = kind;
    mail.not_after = ngx_time() + NGX_SVC_NOTICE_LIFE;

    if (mail.to.len == 0) {
        mail.nobody = 1;
        ngx_str_set(&mail.to, NGX_SVC_NOTICE_NOBODY);
    }

    ngx_svc_mail_tell(&mail);
}


void
ngx_svc_notice_changed(const ngx_svc_pg_results_t *results, PGresult *res)
{
    ngx_svc_request_committed(results);
    ngx_svc_notice(NGX_SVC_MAIL_CHANGED, res);
}
