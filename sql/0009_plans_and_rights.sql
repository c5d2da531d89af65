-- Plans that do not depend on whether a tenant is known, and rights that nobody
-- needs.
--
-- With statistics of tenant_id the planner takes a tenant that they do not name
-- for one without rows: then any index that begins with the tenant is as good
-- as the right one, and whatever is joined is joined row by row.  Without them
-- each tenant is taken for a moderate one.
--
-- Old statistics are deleted where the role may do that.  For another one they go
-- with a change of the column's type to what it is.  That would build partial
-- indexes anew, and all those of the audit log: it is done only to tables that
-- have statistics.  A policy's conditions are in its way.  They alone are taken
-- away meanwhile: whom it is for, and whether it restricts, stays as it is.

DO $$
DECLARE
    super     boolean := (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
    t         record;
    p         record;
    policies  text[];
BEGIN
    FOR t IN
        SELECT c.oid, c.oid::regclass AS name FROM pg_class c
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
         WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind IN ('r', 'p')
           AND NOT c.relispartition
         ORDER BY c.relname
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN tenant_id SET STATISTICS 0', t.name);

        IF super OR NOT EXISTS (
            SELECT FROM pg_stats s
             WHERE s.schemaname = 'svc' AND s.attname = 'tenant_id'
               AND (s.schemaname || '.' || s.tablename)::regclass IN (
                       SELECT t.name UNION ALL SELECT relid FROM pg_partition_tree(t.oid)))
        THEN
            CONTINUE;
        END IF;

        policies := '{}';

        FOR p IN
            SELECT format('ALTER POLICY %I ON %s', l.polname, t.name) AS command,
                   pg_get_expr(l.polqual, l.polrelid) AS qual,
                   pg_get_expr(l.polwithcheck, l.polrelid) AS with_check
              FROM pg_policy l WHERE l.polrelid = t.oid
        LOOP
            policies := policies || concat(p.command, ' USING (' || p.qual || ')',
                                           ' WITH CHECK (' || p.with_check || ')');
            EXECUTE concat(p.command,
                           CASE WHEN p.qual IS NOT NULL THEN ' USING (false)' END,
                           CASE WHEN p.with_check IS NOT NULL
                                THEN ' WITH CHECK (false)' END);
        END LOOP;

        EXECUTE format('ALTER TABLE %s ALTER COLUMN tenant_id TYPE uuid', t.name);

        FOR i IN 1 .. cardinality(policies) LOOP
            EXECUTE policies[i];
        END LOOP;
    END LOOP;

    IF super THEN
        DELETE FROM pg_statistic s USING pg_attribute a, pg_class c
         WHERE c.relnamespace = 'svc'::regnamespace AND a.attrelid = c.oid
           AND a.attname = 'tenant_id' AND s.starelid = a.attrelid
           AND s.staattnum = a.attnum;
    END IF;
END
$$;


-- As before, and without those statistics.

CREATE OR REPLACE FUNCTION svc.audit_partitions(ahead integer DEFAULT 12)
    RETURNS TABLE (made text, moved bigint)
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    this_month  timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
    month       timestamp;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('svc.audit_partitions'));

    -- an array: a query under way would be in the way of ALTER TABLE

    FOREACH month IN ARRAY ARRAY(
        SELECT m FROM (
            SELECT this_month + i * interval '1 month' AS m
              FROM generate_series(0, greatest(ahead, 0)) i
            UNION
            SELECT DISTINCT date_trunc('month', created_at AT TIME ZONE 'UTC')
              FROM svc.audit_event_default
        ) s
         WHERE m <= this_month + greatest(ahead, 0) * interval '1 month'
           AND to_regclass('svc.audit_event_' || to_char(m, 'YYYY_MM')) IS NULL
         ORDER BY m)
    LOOP
        made := 'audit_event_' || to_char(month, 'YYYY_MM');

        EXECUTE format('CREATE TABLE svc.%I (LIKE svc.audit_event'
                       ' INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', made);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY,'
                       ' ALTER COLUMN tenant_id SET STATISTICS 0', made);

        LOCK TABLE svc.audit_event_default IN ACCESS EXCLUSIVE MODE;

        EXECUTE format(
            'WITH d AS (DELETE FROM svc.audit_event_default'
            ' WHERE created_at >= $1 AND created_at < $2 RETURNING *)'
            ' INSERT INTO svc.%I SELECT * FROM d', made)
            USING month AT TIME ZONE 'UTC',
                  (month + interval '1 month') AT TIME ZONE 'UTC';
        GET DIAGNOSTICS moved = ROW_COUNT;

        EXECUTE format(
            'ALTER TABLE svc.audit_event ATTACH PARTITION svc.%I'
            ' FOR VALUES FROM (%L) TO (%L)', made,
            to_char(month, 'YYYY-MM-DD') || ' 00:00:00+00',
            to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00');

        RETURN NEXT;
    END LOOP;
END
$$;


-- The constraint that a user of this name or external id would violate, or NULL.
-- It sees what was stored while its caller waited: it is volatile.

CREATE FUNCTION svc.user_conflict(name text, external text) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tenant  uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
BEGIN
    IF EXISTS (SELECT FROM svc.user_account u
                WHERE u.tenant_id = tenant AND u.user_name_key = lower(name)) THEN
        RETURN 'user_account_user_name_key';
    END IF;

    IF EXISTS (SELECT FROM svc.user_account u
                WHERE u.tenant_id = tenant AND u.external_id = external) THEN
        RETURN 'user_account_external_id_key';
    END IF;

    RETURN NULL;
END
$$;


-- Rights that PostgreSQL gives to everybody.  With a temporary table svc_app
-- could have called a trigger function that writes as the schema's owner.

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA svc FROM PUBLIC;

-- a column of users is made with it

GRANT EXECUTE ON FUNCTION svc.search_text(text) TO svc_app;
GRANT EXECUTE ON FUNCTION svc.user_conflict(text, text) TO svc_app;

-- for all schemas: what is given by default cannot be taken back for one alone

ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

DO $$
BEGIN
    EXECUTE format('REVOKE TEMPORARY, CREATE ON DATABASE %I FROM PUBLIC', current_database());
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
EXCEPTION
    WHEN insufficient_privilege OR invalid_schema_name THEN
        RAISE WARNING 'as another role than the owner: "REVOKE TEMPORARY, CREATE ON'
            ' DATABASE" and "REVOKE CREATE ON SCHEMA public" FROM PUBLIC remain to be done';
END
$$;
