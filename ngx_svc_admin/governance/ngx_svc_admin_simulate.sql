-- statement: admin_simulate_policy
-- The policy in force, against which another one is simulated, and of which days.
--
-- parameters
--   days_max       int4 ngx_svc_param_constant(NGX_SVC_ADMIN_SIMULATE_DAYS)
-- columns
--   :access_in_force
--   from           timestamptz  answer
--   to             timestamptz  answer
SELECT governance.access_policy AS _policy, governance.access_number AS _version,
       governance.tenant_id AS _tenant,
       now() - make_interval(days => :days_max::int4) AS "from", now() AS "to"
  FROM svc.governance governance
 WHERE governance.tenant_id = :tenant;


-- statement: admin_simulate_sign_ins
-- The addresses are the newest ones, and one more, which tells that there are more.
--
-- parameters
--   days_max       int4 ngx_svc_param_constant(NGX_SVC_ADMIN_SIMULATE_DAYS)
--   addresses_max  int4 ngx_svc_param_constant(NGX_SVC_ADMIN_SIMULATE_IPS)
-- columns
--   ip             text
--   country        text
--   signIns        int8
--   users          int8         answer
--   lastSignInAt   timestamptz  answer
--   _epoch         int8
SELECT host(address.ip) AS ip, counted.country, counted.sign_ins AS "signIns", counted.users,
       address.last_at AS "lastSignInAt",
       floor(extract(epoch FROM address.last_at))::bigint AS _epoch
  FROM (SELECT seen.ip, seen.last_at
          FROM svc.sign_in_address seen
         WHERE seen.tenant_id = :tenant
           AND seen.last_at > now() - make_interval(days => :days_max::int4)
         ORDER BY seen.last_at DESC, seen.ip
         LIMIT :addresses_max::int4 + 1) address,
       LATERAL (
            SELECT count(*) AS sign_ins, count(DISTINCT success.user_id) AS users,
                   (array_agg(success.country ORDER BY success.at DESC))[1] AS country
              FROM (SELECT sign_in.user_id, sign_in.country, sign_in.at
                      FROM svc.sign_in sign_in
                     WHERE sign_in.tenant_id = :tenant
                       AND sign_in.ip BETWEEN address.ip AND address.ip
                       AND sign_in.at > now() - make_interval(days => :days_max::int4)
                       AND sign_in.outcome = 'success'
                     ORDER BY sign_in.ip OFFSET 0) success) counted
 ORDER BY address.last_at DESC, address.ip;
