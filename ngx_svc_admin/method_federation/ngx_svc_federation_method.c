/*
 * A tenant's connection to an identity provider, as a method: what tokens say
 * of it.  How a session begins with it is said where its flows are, on the
 * floor of federation, which needs the other methods.
 */

#include "ngx_svc_federation_method.h"


const ngx_svc_method_t  ngx_svc_federation_method = {
    .name = ngx_string(NGX_SVC_FEDERATION_METHOD),
    .proof = NGX_SVC_METHOD_PASSWORD,
    .amr = "fed"
};


const ngx_svc_method_t  ngx_svc_directory_method = {
    .name = ngx_string(NGX_SVC_DIRECTORY_METHOD),
    .proof = NGX_SVC_METHOD_PASSWORD,
    .amr = "pwd"
};
