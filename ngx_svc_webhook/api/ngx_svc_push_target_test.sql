-- statement: push_test
-- The helper that has the target makes the test; the request asks for its end.
--
-- missing: NGX_SVC_PUSH_NONE
-- parameters
--   target_id        uuid ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)
--   test_id          uuid ngx_svc_param_new_id()
--   test_seconds_max int4 ngx_svc_param_constant(NGX_SVC_PUSH_TEST_LIMIT)
-- verdicts
--   busy           conflict        The SCIM target is being tested: wait for the end of it.
WITH old AS (
    SELECT target.test_id, target.test_done, target.test_at
      FROM svc.scim_target target
     WHERE target.tenant_id = :tenant AND target.id = :target_id
     FOR NO KEY UPDATE
), decided AS (
    SELECT CASE
               WHEN old.test_id IS DISTINCT FROM old.test_done
                    AND old.test_at > now() - :test_seconds_max::int4 * interval '1 second'
                    THEN 'busy'
           END AS verdict
      FROM old
), updated AS (
    UPDATE svc.scim_target target
       SET test_id = :test_id::uuid, test_at = now()
      FROM decided
     WHERE target.tenant_id = :tenant AND target.id = :target_id AND decided.verdict IS NULL
)
SELECT decided.verdict AS _verdict
  FROM decided;


-- statement: push_test_look
--
-- parameters
--   target_id      uuid ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)
--   test_id        uuid ngx_svc_param_new_id()
-- columns
--   _done          bool
--   ok             bool         answer
--   status         int2         answer
--   patch          bool         answer
--   error          text         answer
SELECT target.test_done IS NOT DISTINCT FROM :test_id::uuid AS _done,
       target.test_error IS NULL AS ok, target.test_status AS status, target.test_patch AS patch,
       target.test_error AS error
  FROM svc.scim_target target
 WHERE target.tenant_id = :tenant AND target.id = :target_id;
