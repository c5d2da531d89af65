-- fragment: access_in_force
-- columns
--   _policy        json
--   _version       int8         as text
--   _tenant        uuid


-- statement: admin_access_get
SELECT governance.access_policy -> 'rules' AS rules,
       governance.access_policy ->> 'defaultAction' AS "defaultAction",
       governance.access_version_id AS "versionId",
       governance.access_updated_at AS "updatedAt", governance.access_number AS _version
  FROM svc.governance governance
 WHERE governance.tenant_id = :tenant;


-- statement: admin_access_read
--
-- parameters
--   if_match       text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
-- columns
--   _verdict       text
--   rules          json         answer
--   defaultAction  text         answer
--   versionId      uuid         answer
--   updatedAt      timestamptz  answer
--   :access_in_force
SELECT CASE
           WHEN NOT (:if_match::text IS NULL
                     OR governance.access_number::text = ANY (:if_match::text::text[]))
               THEN 'precondition'
       END AS _verdict,
       governance.access_policy -> 'rules' AS rules,
       governance.access_policy ->> 'defaultAction' AS "defaultAction",
       governance.access_version_id AS "versionId",
       governance.access_updated_at AS "updatedAt", governance.access_policy AS _policy,
       governance.access_number AS _version, governance.tenant_id AS _tenant
  FROM svc.governance governance
 WHERE governance.tenant_id = :tenant;


-- statement: admin_access_store
-- A policy that was judged is stored as a new version, unless there is another number by now:
-- then there is no row. Of versions the newest are kept.
--
-- parameters
--   policy         text ngx_svc_param_data(ngx_svc_admin_access_t, json)
--   number         text ngx_svc_param_data(ngx_svc_admin_access_t, number)
--   versions_max   int4 ngx_svc_param_constant(NGX_SVC_ADMIN_ACCESS_VERSIONS)
WITH updated AS (
    UPDATE svc.governance governance
       SET revision = governance.revision + 1, access_policy = :policy::text::json,
           access_number = governance.access_number + 1, access_version_id = gen_random_uuid(),
           access_updated_at = greatest(now(), governance.access_updated_at
                                               + interval '1 millisecond')
     WHERE governance.tenant_id = :tenant AND governance.access_number = :number::text::bigint
    RETURNING governance.*
), version AS (
    INSERT INTO svc.access_policy_version
        (tenant_id, id, number, source, restored_from, snapshot, created_at)
    SELECT updated.tenant_id, updated.access_version_id, updated.access_number, 'api', NULL,
           updated.access_policy, updated.access_updated_at
      FROM updated
    RETURNING *
), deleted AS (
    DELETE FROM svc.access_policy_version old
     USING updated
     WHERE old.tenant_id = updated.tenant_id
       AND old.number <= updated.access_number - :versions_max::int4
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'access_policy.updated', 'accessPolicy', version.id::text, NULL,
           jsonb_strip_nulls(jsonb_build_object('version', version.number,
                                                'source', version.source,
                                                'restoredFrom', version.restored_from))
      FROM version
)
SELECT updated.access_policy -> 'rules' AS rules,
       updated.access_policy ->> 'defaultAction' AS "defaultAction",
       updated.access_version_id AS "versionId", updated.access_updated_at AS "updatedAt",
       updated.access_number AS _version
  FROM updated;
