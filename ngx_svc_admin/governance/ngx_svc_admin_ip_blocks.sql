-- Addresses from which nobody signs in.


-- statement: admin_ip_blocks_total
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   network        text ngx_svc_param_call(ngx_svc_admin_ip_block_network)
SELECT count(*)
  FROM svc.ip_block block
 WHERE block.tenant_id = :tenant
   AND (block.expires_at IS NULL OR block.expires_at > now())
   AND (:q::text IS NULL
        OR strpos(host(block.ip), lower(:q)) > 0
        OR block.ip <<= :network::text::inet
        OR strpos(lower(block.reason), lower(:q)) > 0);


-- statement: admin_ip_blocks_list
-- A search finds a part of an address or of a reason, an address in any notation, and what is
-- in a network.
--
-- parameters
--   q              text ngx_svc_param_query("q", NGX_SVC_PAGE_QUERY)
--   network        text ngx_svc_param_call(ngx_svc_admin_ip_block_network)
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
SELECT host(block.ip) AS ip, block.reason, block.created_at AS "createdAt",
       block.created_by_type AS "createdBy.type", block.created_by_id AS "createdBy.id",
       block.created_by_name AS "createdBy.name", block.expires_at AS "expiresAt"
  FROM svc.ip_block block
 WHERE block.tenant_id = :tenant
   AND (block.expires_at IS NULL OR block.expires_at > now())
   AND (:q::text IS NULL
        OR strpos(host(block.ip), lower(:q)) > 0
        OR block.ip <<= :network::text::inet
        OR strpos(lower(block.reason), lower(:q)) > 0)
 ORDER BY block.created_at DESC, block.ip DESC
 LIMIT :page_limit::int4 OFFSET :page_offset::int4;


-- statement: admin_ip_blocks_get
--
-- missing: NGX_SVC_ADMIN_NO_BLOCK
-- parameters
--   ip             text ngx_svc_param_path_addr(0, NGX_SVC_ADMIN_NO_BLOCK)
SELECT host(block.ip) AS ip, block.reason, block.created_at AS "createdAt",
       block.created_by_type AS "createdBy.type", block.created_by_id AS "createdBy.id",
       block.created_by_name AS "createdBy.name", block.expires_at AS "expiresAt"
  FROM svc.ip_block block
 WHERE block.tenant_id = :tenant
   AND (block.expires_at IS NULL OR block.expires_at > now())
   AND block.ip = :ip::text::inet;


-- statement: admin_ip_blocks_lock
-- Who adds one waits here for who adds another: each counts what is committed.
SELECT pg_advisory_xact_lock(hashtext('svc.ip_block'),
                             hashtext(current_setting('svc.tenant', true)))
 WHERE :tenant_or_null IS NOT NULL;


-- statement: admin_ip_blocks_expire
-- Of expired ones the oldest, and that of this address, which is in the way.
--
-- parameters
--   ip             text ngx_svc_param_addr(ngx_svc_admin_ip_block_t, ip)
DELETE FROM svc.ip_block block
 WHERE block.tenant_id = :tenant
   AND block.expires_at <= now()
   AND block.ip = ANY (array_append(ARRAY(SELECT expired.ip
                                            FROM svc.ip_block expired
                                           WHERE expired.tenant_id = :tenant
                                             AND expired.expires_at <= now()
                                           ORDER BY expired.expires_at
                                           LIMIT 100), :ip::text::inet));


-- statement: admin_ip_blocks_create
--
-- parameters
--   ip             text ngx_svc_param_addr(ngx_svc_admin_ip_block_t, ip)
--   reason         text ngx_svc_param_text(ngx_svc_admin_ip_block_t, reason)
--   expires_at     text ngx_svc_param_time(ngx_svc_admin_ip_block_t, expires_at)
--   blocks_max     int4 ngx_svc_param_constant(NGX_SVC_ADMIN_IP_BLOCKS)
-- verdicts
--   own            anti_lockout    "ip" is the address of this request: whoever made it
--                                  could not sign in any more.
--   full           limit_exceeded  The tenant blocks %(NGX_SVC_ADMIN_IP_BLOCKS) addresses:
--                                  delete one.
--   taken          conflict        This address is blocked already.
WITH wanted AS (
    SELECT :tenant_or_null AS id,
           (SELECT count(*)
              FROM svc.ip_block block
             WHERE block.tenant_id = :tenant
               AND (block.expires_at IS NULL OR block.expires_at > now()))
           < :blocks_max::int4 AS room,
           :ip::text = current_setting('svc.ip', true) AS own
), block AS (
    INSERT INTO svc.ip_block (tenant_id, ip, reason, expires_at)
    SELECT wanted.id, :ip::text::inet, :reason, to_timestamp(:expires_at::text::float8 / 1000)
      FROM wanted
     WHERE wanted.id IS NOT NULL AND wanted.room AND NOT wanted.own
    ON CONFLICT DO NOTHING
    RETURNING *
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'ip_block.created', 'ipBlock', host(block.ip), NULL,
           jsonb_build_object('reason', block.reason)
      FROM block
)
SELECT CASE
           WHEN wanted.own THEN 'own'
           WHEN NOT wanted.room THEN 'full'
           WHEN block.ip IS NULL THEN 'taken'
       END AS _verdict,
       host(block.ip) AS ip, block.reason, block.created_at AS "createdAt",
       block.created_by_type AS "createdBy.type", block.created_by_id AS "createdBy.id",
       block.created_by_name AS "createdBy.name", block.expires_at AS "expiresAt"
  FROM wanted
  LEFT JOIN block ON true;


-- statement: admin_ip_blocks_delete
--
-- missing: NGX_SVC_ADMIN_NO_BLOCK
-- parameters
--   ip             text ngx_svc_param_path_addr(0, NGX_SVC_ADMIN_NO_BLOCK)
WITH deleted AS (
    DELETE FROM svc.ip_block block
     WHERE block.tenant_id = :tenant
       AND (block.expires_at IS NULL OR block.expires_at > now())
       AND block.ip = :ip::text::inet
    RETURNING block.ip
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'ip_block.deleted', 'ipBlock', host(deleted.ip), NULL, '{}'
      FROM deleted
)
SELECT deleted.ip
  FROM deleted;
