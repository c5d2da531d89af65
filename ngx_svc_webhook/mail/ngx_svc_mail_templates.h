/*
 * A folder of templates: files "kind.subject", "kind.txt" and "kind.html"; in
 * another language "kind.de.subject", and so on.
 */

#ifndef _NGX_SVC_MAIL_TEMPLATES_H_INCLUDED_
#define _NGX_SVC_MAIL_TEMPLATES_H_INCLUDED_


#include "ngx_svc_mail.h"
#include "ngx_svc_mail_conf.h"
#include "ngx_svc_mail_template.h"

#include <ngx_http.h>


/*
 * Reads all templates of a folder, whose name is NUL-terminated, when the
 * configuration is read; they are in its pool.  NULL: failed, and logged.
 */
ngx_svc_mail_templates_t *ngx_svc_mail_templates(ngx_conf_t *cf,
    ngx_str_t *folder);

/*
 * Returns the NGX_SVC_MAIL_FORMATS templates of a kind in the nearest
 * language: for "de-AT" that one, else "de", else "en", else those without a
 * language.
 */
const ngx_svc_mail_template_t *ngx_svc_mail_templates_find(
    const ngx_svc_mail_templates_t *templates, ngx_svc_mail_kind_e kind,
    const ngx_str_t *locale);


#endif /* _NGX_SVC_MAIL_TEMPLATES_H_INCLUDED_ */
