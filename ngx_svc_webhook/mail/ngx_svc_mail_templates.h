/*
 * The folder of the templates: files "kind.subject", "kind.txt" and
 * "kind.html", and of other languages "kind.de.subject", and so on.
 */

#ifndef _NGX_SVC_MAIL_TEMPLATES_H_INCLUDED_
#define _NGX_SVC_MAIL_TEMPLATES_H_INCLUDED_


#include "ngx_svc_mail.h"
#include "ngx_svc_mail_conf.h"
#include "ngx_svc_mail_template.h"

#include <ngx_http.h>


/*
 * While the configuration is read: all templates of a folder, whose name is
 * NUL-terminated, of the configuration's pool; or NULL, which is logged.
 */
ngx_svc_mail_templates_t *ngx_svc_mail_templates(ngx_conf_t *cf,
    ngx_str_t *folder);

/*
 * NGX_SVC_MAIL_FORMATS of them, in the language that comes nearest: of "de-AT"
 * that, else "de", else "en", else that without one.
 */
const ngx_svc_mail_template_t *ngx_svc_mail_templates_find(
    const ngx_svc_mail_templates_t *templates, ngx_svc_mail_kind_e kind,
    const ngx_str_t *locale);


#endif /* _NGX_SVC_MAIL_TEMPLATES_H_INCLUDED_ */
