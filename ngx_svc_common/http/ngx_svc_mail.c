/*
 * Mails to users, for the module that sends them.
 */

#include "ngx_svc_mail.h"


static const ngx_str_t  ngx_svc_mail_kinds[NGX_SVC_MAIL_KINDS] = {
    ngx_string("sign_in"),
    ngx_string("verify"),
    ngx_string("signup"),
    ngx_string("exists"),
    ngx_string("reset"),
    ngx_string("invite"),
    ngx_string("mfa"),
    ngx_string("changed"),
    ngx_string("new_device"),
    ngx_string("locked")
};

static const ngx_svc_mail_sender_t  *ngx_svc_mail_sender;


const ngx_str_t *
ngx_svc_mail_kind(ngx_svc_mail_kind_e kind)
{
    return &ngx_svc_mail_kinds[kind];
}


ngx_uint_t
ngx_svc_mail_ready(void)
{
    return ngx_svc_mail_sender && ngx_svc_mail_sender->ready();
}


ngx_int_t
ngx_svc_mail_send(const ngx_svc_mail_t *mail)
{
    return ngx_svc_mail_sender ? ngx_svc_mail_sender->send(mail)
                               : NGX_DECLINED;
}


void
ngx_svc_mail_tell(const ngx_svc_mail_t *mail)
{
    const ngx_svc_mail_sender_t  *sender;

    sender = ngx_svc_mail_sender;

    if (sender == NULL) {
        return;
    }

    if (sender->ready()) {
        (void) sender->send(mail);

    } else if (!mail->nobody) {
        sender->drop("Redis is not connected");
    }
}


void
ngx_svc_mail_listen(const ngx_svc_mail_sender_t *sender)
{
    ngx_svc_mail_sender = sender;
}
