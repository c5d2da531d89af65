/*
 * What is wrong with a certificate.
 */

#include "ngx_svc_ldap_explain.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>


#define NGX_SVC_LDAP_NAMES  5           /* names of a certificate */


static ngx_uint_t ngx_svc_ldap_names_match(X509 *cert, const char *host);
static u_char *ngx_svc_ldap_names(u_char *p, u_char *last, X509 *cert);


void
ngx_svc_ldap_certificate_fault(const struct berval *der, const char *host,
    u_char *fault)
{
    char                  issuer[128];
    X509                 *cert;
    u_char               *p, *last;
    const unsigned char  *data;

    data = (const unsigned char *) der->bv_val;
    last = fault + NGX_SVC_LDAP_FAULT - 1;

    cert = d2i_X509(NULL, &data, der->bv_len);

    if (cert == NULL) {
        p = ngx_slprintf(fault, last, "The directory's certificate cannot be "
                         "read.");

    } else if (!ngx_svc_ldap_names_match(cert, host)) {
        p = ngx_slprintf(fault, last, "The directory's certificate is not for "
                         "\"%s\", as \"url\" says, but for ", host);
        p = ngx_svc_ldap_names(p, last, cert);
        p = ngx_slprintf(p, last, ".");

    } else if (X509_cmp_current_time(X509_get0_notAfter(cert)) < 0) {
        p = ngx_slprintf(fault, last, "The directory's certificate has "
                         "expired.");

    } else if (X509_cmp_current_time(X509_get0_notBefore(cert)) > 0) {
        p = ngx_slprintf(fault, last, "The directory's certificate is not "
                         "valid yet.");

    } else {
        (void) X509_NAME_oneline(X509_get_issuer_name(cert), issuer,
                                 sizeof(issuer));
        p = ngx_slprintf(fault, last, "Nobody that is trusted here has issued "
                         "the directory's certificate: put the CA's, \"%s\", "
                         "into \"caCertificates\", and any in between.",
                         issuer);
    }

    *p = '\0';

    X509_free(cert);
    ERR_clear_error();
}


static ngx_uint_t
ngx_svc_ldap_names_match(X509 *cert, const char *host)
{
    return X509_check_ip_asc(cert, host, 0) == 1
           || X509_check_host(cert, host, 0, 0, NULL) == 1;
}


static u_char *
ngx_svc_ldap_names(u_char *p, u_char *last, X509 *cert)
{
    int                   i, n;
    GENERAL_NAME         *name;
    GENERAL_NAMES        *names;
    const ngx_str_t       none = ngx_string("no name at all");
    const unsigned char  *data;

    n = 0;
    names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);

    for (i = 0; i < sk_GENERAL_NAME_num(names) && n < NGX_SVC_LDAP_NAMES; i++) {
        name = sk_GENERAL_NAME_value(names, i);

        if (name->type == GEN_DNS) {
            data = ASN1_STRING_get0_data(name->d.dNSName);
            p = ngx_slprintf(p, last, "%s\"%*s\"", n++ ? ", " : "",
                             (size_t) ASN1_STRING_length(name->d.dNSName),
                             data);

        } else if (name->type == GEN_IPADD
                   && ASN1_STRING_length(name->d.iPAddress) == 4)
        {
            data = ASN1_STRING_get0_data(name->d.iPAddress);
            p = ngx_slprintf(p, last, "%s%d.%d.%d.%d", n++ ? ", " : "",
                             (int) data[0], (int) data[1], (int) data[2],
                             (int) data[3]);
        }
    }

    GENERAL_NAMES_free(names);

    return n ? p : ngx_slprintf(p, last, "%V", &none);
}
