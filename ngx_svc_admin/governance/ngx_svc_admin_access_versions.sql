-- statement: admin_access_versions
-- At least one snapshot, and those that fit with it: the others are NULL.
--
-- parameters
--   page_limit     int4 ngx_svc_param_limit()
--   page_offset    int4 ngx_svc_param_offset()
--   before         text ngx_svc_param_data(ngx_svc_admin_versions_t, before)
--   bytes_max      int4 ngx_svc_param_constant(NGX_SVC_ADMIN_VERSIONS_PIECE)
-- columns
--   id             uuid         answer
--   version        int8         as text
--   current        bool         answer
--   source         text         answer
--   restoredFrom   uuid         answer
--   createdAt      timestamptz  answer
--   createdBy.type text         answer
--   createdBy.id   text         answer
--   createdBy.name text         answer
--   snapshot       json         NULL: it comes in a later round trip
SELECT version.id, version.number AS version,
       version.id = (SELECT governance.access_version_id
                       FROM svc.governance governance
                      WHERE governance.tenant_id = :tenant) AS current,
       version.source, version.restored_from AS "restoredFrom",
       version.created_at AS "createdAt", version.created_by_type AS "createdBy.type",
       version.created_by_id AS "createdBy.id", version.created_by_name AS "createdBy.name",
       CASE
           WHEN row_number() OVER newest = 1
                OR sum(octet_length(version.snapshot::text)) OVER newest <= :bytes_max::int4
               THEN version.snapshot
       END AS snapshot
  FROM (SELECT kept.*
          FROM svc.access_policy_version kept
         WHERE kept.tenant_id = :tenant
           AND (:before::text IS NULL OR kept.number < :before::text::bigint)
         ORDER BY kept.number DESC
         LIMIT :page_limit::int4 OFFSET :page_offset::int4) version
WINDOW newest AS (ORDER BY version.number DESC)
 ORDER BY version.number DESC;


-- statement: admin_access_version_get
--
-- missing: NGX_SVC_ADMIN_NO_VERSION
-- parameters
--   version_id     uuid ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_VERSION)
SELECT version.id, version.number AS version,
       version.id = (SELECT governance.access_version_id
                       FROM svc.governance governance
                      WHERE governance.tenant_id = :tenant) AS current,
       version.source, version.restored_from AS "restoredFrom",
       version.created_at AS "createdAt", version.created_by_type AS "createdBy.type",
       version.created_by_id AS "createdBy.id", version.created_by_name AS "createdBy.name",
       version.snapshot
  FROM svc.access_policy_version version
 WHERE version.tenant_id = :tenant AND version.id = :version_id;


-- statement: admin_access_versions_total
--
-- columns
--   count          int8
SELECT count(*) FROM svc.access_policy_version version WHERE version.tenant_id = :tenant;
