/*
 * Declarations that all files of ngx_svc use.
 */

#ifndef _NGX_SVC_COMMON_H_INCLUDED_
#define _NGX_SVC_COMMON_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/*
 * A surface (ngx_svc_scim_module, ...) is a shared object of its own that uses
 * the functions of ngx_svc_common_module.  nginx loads modules with RTLD_NOW,
 * so a strong reference would fail in dlopen() with the bare name of a symbol.
 * With a weak one the surface is loaded, looks for the common module, and tells
 * the operator which load_module line is missing.
 */

#define NGX_SVC_API  __attribute__((weak))

/* 1 if two ngx_str_t have the same bytes. */
#define ngx_svc_same(a, b)                                                    \
    ((a)->len == (b)->len                                                     \
     && ((a)->len == 0                                                        \
         || ngx_memcmp((a)->data, (b)->data, (a)->len) == 0))


#endif /* _NGX_SVC_COMMON_H_INCLUDED_ */
