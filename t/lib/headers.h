/*
 * What nearly every source file includes.  Lint and the tests' builds compile
 * it once, and read it so.
 */

#ifndef _NGX_SVC_HEADERS_H_INCLUDED_
#define _NGX_SVC_HEADERS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>
#include <ngx_event.h>
#include <libpq-fe.h>


#endif /* _NGX_SVC_HEADERS_H_INCLUDED_ */
