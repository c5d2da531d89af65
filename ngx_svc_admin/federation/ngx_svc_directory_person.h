/*
 * What an entry of a directory says of a person, as an account has it.
 */

#ifndef _NGX_SVC_DIRECTORY_PERSON_H_INCLUDED_
#define _NGX_SVC_DIRECTORY_PERSON_H_INCLUDED_


#include "ngx_svc_json_write.h"
#include "ngx_svc_ldap.h"


/* Returns 1 if a value of an entry is an address that a mailbox can have. */
ngx_uint_t ngx_svc_directory_mailbox(const ngx_str_t *email);

/*
 * Writes a person of a page as ngx_svc_directory_page.sql reads it: its id, new
 * ones for a user and a link, the address with its key, and the attributes.
 * What we would not store is left out.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_directory_person_write(ngx_svc_json_writer_t *w,
    ngx_pool_t *pool, const u_char connection[NGX_SVC_UUID_LEN],
    const ngx_svc_ldap_person_t *person);


#endif /* _NGX_SVC_DIRECTORY_PERSON_H_INCLUDED_ */
