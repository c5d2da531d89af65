/*
 * The headers of this folder that surfaces include.
 */

#ifndef _NGX_SVC_HTTP_H_INCLUDED_
#define _NGX_SVC_HTTP_H_INCLUDED_


#include "ngx_svc_access_caller.h"
#include "ngx_svc_args.h"
#include "ngx_svc_auth.h"
#include "ngx_svc_base_url.h"
#include "ngx_svc_bind.h"
#include "ngx_svc_body.h"
#include "ngx_svc_column.h"
#include "ngx_svc_etag.h"
#include "ngx_svc_event.h"
#include "ngx_svc_header.h"
#include "ngx_svc_language.h"
#include "ngx_svc_page.h"
#include "ngx_svc_profile.h"
#include "ngx_svc_router.h"
#include "ngx_svc_row.h"
#include "ngx_svc_send.h"
#include "ngx_svc_stream.h"
#include "ngx_svc_submit.h"


#endif /* _NGX_SVC_HTTP_H_INCLUDED_ */
