/*
 * For unit tests of stored passwords: two valid ones, of the same password.
 */

#ifndef _NGX_UNIT_PHC_H_INCLUDED_
#define _NGX_UNIT_PHC_H_INCLUDED_


#include "ngx_unit.h"
#include "ngx_svc_phc.h"


#define TEXT(s)  (const u_char *) (s), strlen(s)

#define HORSE  "correct horse battery staple"

#define SALT_16  "MDEyMzQ1Njc4OWFiY2RlZg"
#define TAG_32   "gAwJW5vx5itn2V9KHlEUjyUCrpDYgKyQf0gMaHGx1h4"
#define BCRYPT   "abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG"

#define ARGON2ID(params)  "$argon2id$v=19$" params "$" SALT_16 "$" TAG_32

#define GOOD_ARGON2  ARGON2ID("m=64,t=2,p=1")
#define GOOD_BCRYPT  "$2b$04$" BCRYPT

static const ngx_svc_phc_cost_t  cheap = { 64, 2 };


#endif /* _NGX_UNIT_PHC_H_INCLUDED_ */
