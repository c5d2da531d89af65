-- statement: admin_access_version
--
-- missing: NGX_SVC_ADMIN_NO_VERSION
-- parameters
--   version_id     uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_VERSION)
--   if_match       text ngx_svc_param_if_match()
-- verdicts
--   ngx_svc_verdict_precondition
-- columns
--   _verdict       text
--   _id            uuid
--   _snapshot      json
--   _version       int8         as text
SELECT CASE
           WHEN NOT (:if_match::text IS NULL
                     OR governance.access_number::text = ANY (:if_match::text::text[]))
               THEN 'precondition'
       END AS _verdict,
       version.id AS _id, version.snapshot AS _snapshot, governance.access_number AS _version
  FROM svc.access_policy_version version
  JOIN svc.governance governance USING (tenant_id)
 WHERE version.tenant_id = :tenant AND version.id = :version_id;


-- statement: admin_access_restore
-- A policy that was judged is stored as a new version, unless there is another number by now:
-- then there is no row. Of versions the newest are kept.
--
-- parameters
--   policy         text ngx_svc_param_data(ngx_svc_admin_access_t, json)
--   number         text ngx_svc_param_data(ngx_svc_admin_access_t, number)
--   versions_max   int4 ngx_svc_param_constant(NGX_SVC_ADMIN_ACCESS_VERSIONS)
--   restored       text ngx_svc_param_data(ngx_svc_admin_access_t, restored)
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
    SELECT updated.tenant_id, updated.access_version_id, updated.access_number, 'restore',
           :restored::text::uuid, updated.access_policy, updated.access_updated_at
      FROM updated
    RETURNING *
), deleted AS (
    DELETE FROM svc.access_policy_version old
     USING updated
     WHERE old.tenant_id = updated.tenant_id
       AND old.number <= updated.access_number - :versions_max::int4
), event AS (
    INSERT INTO svc.audit_event (action, target_type, target_id, target_name, details)
    SELECT 'access_policy.restored', 'accessPolicy', version.id::text, NULL,
           jsonb_strip_nulls(jsonb_build_object('version', version.number,
                                                'source', version.source,
                                                'restoredFrom', version.restored_from))
      FROM version
)
SELECT version.id, version.number AS version, true AS current, version.source,
       version.restored_from AS "restoredFrom", version.created_at AS "createdAt",
       version.created_by_type AS "createdBy.type", version.created_by_id AS "createdBy.id",
       version.created_by_name AS "createdBy.name", version.snapshot
  FROM version;
