-- What agents usually do, and what is unusual of them: a sweep over the tokens that were
-- issued; and an end for what OAuth leaves behind.
--
-- Nothing of it is on the path of who asks for a token: that leaves one row, whatever is
-- looked for.  The sweep takes the rows by the time in them, some seconds late, when none
-- comes in between any more; and no round takes those of two hours, so that what is
-- compared with "90 days" or "7 days" is the same for all of them: days before the hour.


-- Up to when tokens have been looked at.

CREATE TABLE svc.agent_sweep (
    one       boolean         NOT NULL DEFAULT true,
    swept_to  timestamptz(3)  NOT NULL,
    CONSTRAINT agent_sweep_pkey PRIMARY KEY (one),
    CONSTRAINT agent_sweep_one_check CHECK (one)
);

INSERT INTO svc.agent_sweep (swept_to) VALUES (now());

ALTER TABLE svc.agent_sweep ENABLE ROW LEVEL SECURITY;
CREATE POLICY nobody ON svc.agent_sweep USING (false);


-- The hours of an agent, besides its minutes.

CREATE TABLE svc.agent_hour (
    tenant_id  uuid            NOT NULL,
    client_id  text COLLATE "C" NOT NULL,
    hour       timestamptz(0)  NOT NULL,
    tokens     integer         NOT NULL,
    minutes    integer         NOT NULL,                      -- that had some
    subjects   integer         NOT NULL,                      -- that were new
    unusual    boolean         NOT NULL,                      -- to the weeks before
    CONSTRAINT agent_hour_pkey PRIMARY KEY (tenant_id, client_id, hour),
    CONSTRAINT agent_hour_application_fkey FOREIGN KEY (tenant_id, client_id)
        REFERENCES svc.application (tenant_id, client_id) ON DELETE CASCADE
) WITH (fillfactor = 80);

CREATE INDEX agent_hour_expires_idx ON svc.agent_hour (hour);

-- Since when there is anything to compare with, and how much.

CREATE TABLE svc.agent_use (
    tenant_id     uuid            NOT NULL,
    client_id     text COLLATE "C" NOT NULL,
    tokens        bigint          NOT NULL,
    first_at      timestamptz(3)  NOT NULL,
    delegations   bigint          NOT NULL,                   -- of the tokens
    delegated_at  timestamptz(3),                             -- the first of them
    CONSTRAINT agent_use_pkey PRIMARY KEY (tenant_id, client_id),
    CONSTRAINT agent_use_application_fkey FOREIGN KEY (tenant_id, client_id)
        REFERENCES svc.application (tenant_id, client_id) ON DELETE CASCADE
) WITH (fillfactor = 80);

ALTER TABLE svc.agent_minute SET (fillfactor = 80);

DO $$
DECLARE
    t  text;
BEGIN
    FOREACH t IN ARRAY ARRAY['agent_hour', 'agent_use']
    LOOP
        EXECUTE format('ALTER TABLE svc.%I ALTER COLUMN tenant_id SET STATISTICS 0', t);
        EXECUTE format('ALTER TABLE svc.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant_isolation ON svc.%I USING (tenant_id ='
                       ' greatest(current_setting(''svc.tenant'', true),'
                       ' ''00000000-0000-0000-0000-000000000000'')::uuid)'
                       ' WITH CHECK (tenant_id ='
                       ' nullif(current_setting(''svc.tenant'', true), '''')::uuid)', t);
    END LOOP;
END
$$;


-- --- what a round goes on with -------------------------------------------------------------

CREATE TYPE svc.client_use AS (
    tenant_id    uuid,
    client_id    text COLLATE "C",
    tokens       bigint,
    at           timestamptz                                  -- the last of them
);

CREATE TYPE svc.agent_token AS (
    tenant_id    uuid,
    client_id    text COLLATE "C",
    jti          uuid,
    at           timestamptz,
    ip           inet,
    network      text COLLATE "C",
    country      text COLLATE "C",
    subject      text COLLATE "C"                             -- NULL: it is not delegated
);

-- A value that an agent has not had of late, by its first token in the round; and how
-- much there was before that.

CREATE TYPE svc.agent_new AS (
    kind          text COLLATE "C",
    value         text COLLATE "C",
    token         svc.agent_token,
    tokens        bigint,
    first_at      timestamptz,
    delegations   bigint,
    delegated_at  timestamptz,
    subjects      bigint                                      -- of 90 days; 6: or more
);

-- What svc.agent_anomaly is to say.

CREATE TYPE svc.agent_hit AS (
    tenant_id    uuid,
    client_id    text COLLATE "C",
    type         text COLLATE "C",
    key          text COLLATE "C",
    severity     text COLLATE "C",
    details      jsonb,
    occurrences  integer,                                     -- 0: as it was counted before
    at           timestamptz
);


CREATE FUNCTION svc.agent_unseen(taken svc.agent_token[], this timestamptz)
    RETURNS SETOF svc.agent_new
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    WITH t AS (
        SELECT k AS token, k.tenant_id, k.client_id, k.at, k.jti,
               k.network, k.country, k.subject,
               row_number() OVER w - 1 AS tokens,
               count(k.subject) OVER (w ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW)
                   AS delegations
          FROM unnest(taken) k
        WINDOW w AS (PARTITION BY k.tenant_id, k.client_id ORDER BY k.at, k.jti)
    ), v AS MATERIALIZED (
        SELECT DISTINCT ON (t.tenant_id, t.client_id, v.kind, v.value) t.*, v.kind, v.value
          FROM t CROSS JOIN LATERAL (VALUES ('network', t.network), ('country', t.country),
                                            ('subject', t.subject)) v (kind, value)
         WHERE v.value IS NOT NULL
         ORDER BY t.tenant_id, t.client_id, v.kind, v.value, t.at, t.jti
    )
    SELECT v.kind, v.value, v.token, coalesce(u.tokens, 0) + v.tokens, u.first_at,
           coalesce(u.delegations, 0) + v.delegations, u.delegated_at,
           CASE v.kind WHEN 'subject' THEN (
               SELECT count(*) FROM (
                   SELECT FROM svc.agent_seen s
                    WHERE s.tenant_id = v.tenant_id AND s.client_id = v.client_id
                      AND s.kind = 'subject' AND s.last_at >= this - interval '90 days'
                    LIMIT 6) s) END
      FROM v LEFT JOIN svc.agent_use u
             ON u.tenant_id = v.tenant_id AND u.client_id = v.client_id
     WHERE NOT EXISTS (
               SELECT FROM svc.agent_seen s
                WHERE s.tenant_id = v.tenant_id AND s.client_id = v.client_id
                  AND s.kind = v.kind AND s.value = v.value
                  AND s.last_at >= this - CASE v.kind WHEN 'country' THEN interval '180 days'
                                                      ELSE interval '90 days' END)
$$;


-- Counts a round.  An hour is unusual to an agent of 200 tokens on 14 of 28 days when not
-- one in a hundred was within an hour of that time of the day.

CREATE FUNCTION svc.agent_count(taken svc.agent_token[], unseen svc.agent_new[],
                                this timestamptz)
    RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO svc.agent_minute AS m (tenant_id, client_id, minute, tokens)
    SELECT k.tenant_id, k.client_id, date_trunc('minute', k.at), count(*)
      FROM unnest(taken) k GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (tenant_id, client_id, minute) DO UPDATE
       SET tokens = m.tokens + excluded.tokens;

    INSERT INTO svc.agent_hour AS h (tenant_id, client_id, hour, tokens, minutes, subjects,
                                     unusual)
    SELECT a.tenant_id, a.client_id, this, m.tokens, m.minutes, a.subjects,
           NOT EXISTS (SELECT FROM svc.agent_hour o WHERE o.tenant_id = a.tenant_id
                          AND o.client_id = a.client_id AND o.hour = this)
           AND (SELECT coalesce(sum(o.tokens) >= 200
                                AND count(DISTINCT date_trunc('day', o.hour)) >= 14
                                AND 100 * coalesce(sum(o.tokens) FILTER (
                                        WHERE (extract(hour FROM o.hour)
                                               - extract(hour FROM this) + 25) % 24 <= 2), 0)
                                    < sum(o.tokens), false)
                  FROM svc.agent_hour o
                 WHERE o.tenant_id = a.tenant_id AND o.client_id = a.client_id
                   AND o.hour >= this - interval '28 days' AND o.hour < this)
      FROM (SELECT k.tenant_id, k.client_id, sum(k.subjects) AS subjects FROM (
                SELECT k.tenant_id, k.client_id, 0 AS subjects FROM unnest(taken) k
                UNION ALL
                SELECT (f.token).tenant_id, (f.token).client_id, 1
                  FROM unnest(unseen) f WHERE f.kind = 'subject') k
             GROUP BY 1, 2 ORDER BY 1, 2 OFFSET 0) a
     CROSS JOIN LATERAL (
            SELECT sum(m.tokens) AS tokens, count(*) AS minutes FROM svc.agent_minute m
             WHERE m.tenant_id = a.tenant_id AND m.client_id = a.client_id
               AND m.minute >= this AND m.minute < this + interval '1 hour') m
    ON CONFLICT (tenant_id, client_id, hour) DO UPDATE
       SET tokens = excluded.tokens, minutes = excluded.minutes,
           subjects = h.subjects + excluded.subjects;

    -- once an hour: the time is in an index

    INSERT INTO svc.agent_seen AS s (tenant_id, client_id, kind, value, first_at, last_at)
    SELECT v.* FROM (
        SELECT k.tenant_id, k.client_id, v.kind, v.value, min(k.at), max(k.at)
          FROM unnest(taken) k
         CROSS JOIN LATERAL (VALUES ('network', k.network), ('country', k.country),
                                    ('subject', k.subject)) v (kind, value)
         WHERE v.value IS NOT NULL
         GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 OFFSET 0) v
     WHERE NOT EXISTS (
            SELECT FROM svc.agent_seen s
             WHERE s.tenant_id = v.tenant_id AND s.client_id = v.client_id
               AND s.kind = v.kind AND s.value = v.value AND s.last_at >= this)
    ON CONFLICT (tenant_id, client_id, kind, value) DO UPDATE SET last_at = excluded.last_at;

    INSERT INTO svc.agent_use AS u (tenant_id, client_id, tokens, first_at, delegations,
                                    delegated_at)
    SELECT k.tenant_id, k.client_id, count(*), min(k.at), count(k.subject),
           min(k.at) FILTER (WHERE k.subject IS NOT NULL)
      FROM unnest(taken) k GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (tenant_id, client_id) DO UPDATE
       SET tokens = u.tokens + excluded.tokens,
           delegations = u.delegations + excluded.delegations,
           delegated_at = coalesce(u.delegated_at, excluded.delegated_at)
$$;


-- --- what is unusual -------------------------------------------------------------------------

-- Ten times as many tokens in a minute as in the usual one of 7 days.  Whole hours of them
-- are in svc.agent_hour, the rest in svc.agent_minute.

CREATE FUNCTION svc.agent_bursts(taken svc.agent_token[], this timestamptz)
    RETURNS SETOF svc.agent_hit
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    WITH m AS MATERIALIZED (
        SELECT k.tenant_id, k.client_id, date_trunc('minute', k.at) AS minute, count(*) AS n,
               (array_agg(k ORDER BY k.at DESC, k.jti DESC))[1] AS token
          FROM unnest(taken) k GROUP BY 1, 2, 3
    ), b AS (
        SELECT m.*, s.tokens, m.minute - interval '7 days' AS since
          FROM m CROSS JOIN LATERAL (
                SELECT s.tokens FROM svc.agent_minute s
                 WHERE s.tenant_id = m.tenant_id AND s.client_id = m.client_id
                   AND s.minute = m.minute) s
         WHERE s.tokens >= 60
    ), t AS (
        SELECT b.*, CASE WHEN u.minutes < 60 THEN 300
                         ELSE greatest(60, (10 * u.tokens + u.minutes - 1) / u.minutes)
                    END AS threshold
          FROM b CROSS JOIN LATERAL (
                SELECT coalesce(sum(i.tokens), 0)::bigint AS tokens,
                       coalesce(sum(i.minutes), 0)::bigint AS minutes FROM (
                    SELECT h.tokens, h.minutes FROM svc.agent_hour h
                     WHERE h.tenant_id = b.tenant_id AND h.client_id = b.client_id
                       AND h.hour >= b.since AND h.hour < this
                    UNION ALL
                    SELECT i.tokens, 1 FROM svc.agent_minute i
                     WHERE i.tenant_id = b.tenant_id AND i.client_id = b.client_id
                       AND i.minute >= b.since
                       AND i.minute < date_trunc('hour', b.since + interval '59 minutes')
                    UNION ALL
                    SELECT i.tokens, 1 FROM svc.agent_minute i
                     WHERE i.tenant_id = b.tenant_id AND i.client_id = b.client_id
                       AND i.minute >= this AND i.minute < b.minute) i) u
    )
    SELECT t.tenant_id, t.client_id, 'token_burst', to_char(this, 'YYYY-MM-DD"T"HH24'),
           CASE WHEN t.tokens >= 600 THEN 'high' ELSE 'medium' END,
           jsonb_build_object('minute', to_char(t.minute, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                              'tokens', t.tokens, 'threshold', t.threshold,
                              'ip', host((t.token).ip), 'country', (t.token).country,
                              'tokenId', (t.token).jti),
           (t.tokens - t.n < t.threshold)::integer, (t.token).at
      FROM t WHERE t.tokens >= t.threshold
$$;


CREATE FUNCTION svc.agent_off_hours(taken svc.agent_token[], this timestamptz)
    RETURNS SETOF svc.agent_hit
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.tenant_id, k.client_id, 'off_hours', to_char(this, 'YYYY-MM-DD'), 'low',
           jsonb_build_object('hour', extract(hour FROM this), 'tokens', h.tokens,
                              'ip', host((k.token).ip), 'country', (k.token).country,
                              'tokenId', (k.token).jti),
           k.n, (k.token).at
      FROM (SELECT k.tenant_id, k.client_id, count(*)::integer AS n,
                   (array_agg(k ORDER BY k.at DESC, k.jti DESC))[1] AS token
              FROM unnest(taken) k GROUP BY 1, 2) k
     CROSS JOIN LATERAL (
            SELECT h.tokens FROM svc.agent_hour h
             WHERE h.tenant_id = k.tenant_id AND h.client_id = k.client_id
               AND h.hour = this AND h.unusual) h
$$;


-- Networks and countries, of an agent of 20 tokens and a day; of a day, which that of the
-- hour is, there are ten rows of networks, and what comes then is counted in the tenth.

CREATE FUNCTION svc.agent_places(unseen svc.agent_new[], this timestamptz)
    RETURNS SETOF svc.agent_hit
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    WITH f AS MATERIALIZED (
        SELECT f.kind, f.value, f.token, (f.token).tenant_id, (f.token).client_id,
               (f.token).at
          FROM unnest(unseen) f
         WHERE f.kind IN ('network', 'country') AND f.tokens >= 20
           AND f.first_at <= (f.token).at - interval '1 day'
    ), n AS (
        SELECT f.*, row_number() OVER (PARTITION BY f.tenant_id, f.client_id, k.there
                                           ORDER BY f.at, f.value) AS n, k.there
          FROM f CROSS JOIN LATERAL (
                SELECT EXISTS (
                    SELECT FROM svc.agent_anomaly a
                     WHERE a.tenant_id = f.tenant_id AND a.client_id = f.client_id
                       AND a.type = 'new_ip' AND a.key = f.value) AS there) k
         WHERE f.kind = 'network'
    ), d AS (
        SELECT n.*, n.n + max(d.made) OVER w AS nth, max(d.last) OVER w AS last
          FROM n CROSS JOIN LATERAL (
                SELECT count(*) AS made,
                       (array_agg(a.key ORDER BY a.created_at DESC, a.key DESC))[1] AS last
                  FROM svc.agent_anomaly a
                 WHERE n.n = 1 AND NOT n.there
                   AND a.tenant_id = n.tenant_id AND a.client_id = n.client_id
                   AND a.type = 'new_ip' AND a.created_at >= date_trunc('day', this)
                   AND a.created_at < date_trunc('day', this) + interval '1 day') d
        WINDOW w AS (PARTITION BY n.tenant_id, n.client_id, n.there)
    )
    SELECT d.tenant_id, d.client_id, 'new_ip',
           CASE WHEN d.there OR d.nth <= 10 THEN d.value
                ELSE coalesce(max(d.value) FILTER (WHERE NOT d.there AND d.nth = 10)
                                  OVER (PARTITION BY d.tenant_id, d.client_id), d.last) END,
           'low', jsonb_build_object('network', d.value, 'ip', host((d.token).ip),
                                     'country', (d.token).country,
                                     'tokenId', (d.token).jti), 1, d.at
      FROM d
    UNION ALL
    SELECT f.tenant_id, f.client_id, 'new_country', f.value, 'medium',
           jsonb_build_object('country', f.value, 'ip', host((f.token).ip),
                              'tokenId', (f.token).jti), 1, f.at
      FROM f WHERE f.kind = 'country'
$$;


-- One more for whom an agent of few acts, or many of them in an hour.

CREATE FUNCTION svc.agent_subjects(unseen svc.agent_new[], this timestamptz)
    RETURNS SETOF svc.agent_hit
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    WITH f AS MATERIALIZED (
        SELECT f.*, (f.token).tenant_id, (f.token).client_id, (f.token).at,
               f.subjects + row_number() OVER (PARTITION BY (f.token).tenant_id,
                                                            (f.token).client_id
                                                   ORDER BY (f.token).at, (f.token).jti) - 1
                   AS others
          FROM unnest(unseen) f WHERE f.kind = 'subject'
    )
    SELECT f.tenant_id, f.client_id, 'new_subject', f.value, 'medium',
           jsonb_build_object('subject', f.value, 'subjects', f.others,
                              'ip', host((f.token).ip), 'country', (f.token).country,
                              'tokenId', (f.token).jti), 1, f.at
      FROM f WHERE f.delegations >= 20 AND f.delegated_at <= f.at - interval '7 days'
               AND f.others <= 5
    UNION ALL
    SELECT k.tenant_id, k.client_id, 'new_subject',
           to_char(date_bin('6 hours', this, 'epoch'), 'YYYY-MM-DD"T"HH24/') || '6h', 'high',
           jsonb_build_object('newSubjects', h.subjects, 'threshold', u.threshold,
                              'ip', host((k.token).ip), 'country', (k.token).country,
                              'tokenId', (k.token).jti),
           (h.subjects - k.n < u.threshold)::integer, (k.token).at
      FROM (SELECT f.tenant_id, f.client_id, count(*) AS n,
                   (array_agg(f.token ORDER BY f.at DESC, (f.token).jti DESC))[1] AS token
              FROM f GROUP BY 1, 2) k
     CROSS JOIN LATERAL (
            SELECT h.subjects FROM svc.agent_hour h
             WHERE h.tenant_id = k.tenant_id AND h.client_id = k.client_id
               AND h.hour = this AND h.subjects >= 20) h
     CROSS JOIN LATERAL (
            SELECT greatest(20, 5 * coalesce(max(o.subjects), 0)) AS threshold
              FROM svc.agent_hour o
             WHERE o.tenant_id = k.tenant_id AND o.client_id = k.client_id
               AND o.hour >= this - interval '7 days' AND o.hour < this) u
     WHERE h.subjects >= u.threshold
$$;


-- Writes it down.  Nobody else writes rows of these types: one that is there is added to,
-- acknowledged or not.  Returns what is new, which goes to the audit log.

CREATE FUNCTION svc.agent_raise(hits svc.agent_hit[])
    RETURNS TABLE (tenant_id uuid, type text)
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    WITH h AS MATERIALIZED (
        SELECT h.tenant_id, h.client_id, h.type, h.key,
               max(array_position('{low,medium,high}', h.severity)) AS severity,
               (array_agg(jsonb_strip_nulls(h.details) ORDER BY h.at DESC))[1] AS details,
               sum(h.occurrences)::integer AS occurrences,
               min(h.at) AS created_at, max(h.at) AS last_seen_at
          FROM unnest(hits) h GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ), again AS (
        UPDATE svc.agent_anomaly a
           SET occurrences = a.occurrences + h.occurrences, details = h.details,
               last_seen_at = greatest(a.last_seen_at, h.last_seen_at),
               severity = ('{low,medium,high}'::text[])[
                   greatest(h.severity, array_position('{low,medium,high}', a.severity))]
          FROM h
         WHERE a.tenant_id = h.tenant_id AND a.client_id = h.client_id AND a.type = h.type
           AND a.key = h.key
    ), made AS (
        INSERT INTO svc.agent_anomaly AS a (tenant_id, client_id, type, key, severity,
                                            details, occurrences, created_at, last_seen_at)
        SELECT h.tenant_id, h.client_id, h.type, h.key,
               ('{low,medium,high}'::text[])[h.severity], h.details, h.occurrences,
               h.created_at, h.last_seen_at
          FROM h WHERE NOT EXISTS (
                SELECT FROM svc.agent_anomaly a
                 WHERE a.tenant_id = h.tenant_id AND a.client_id = h.client_id
                   AND a.type = h.type AND a.key = h.key)
        RETURNING a.*
    ), e AS (
        INSERT INTO svc.audit_event (tenant_id, action, target_type, target_id, target_name,
                                     details)
        SELECT m.tenant_id, 'agent.anomaly_raised', 'agent', m.client_id, p.name,
               m.details || jsonb_build_object('anomalyId', m.id, 'type', m.type,
                                               'severity', m.severity)
          FROM made m JOIN svc.application p
               ON p.tenant_id = m.tenant_id AND p.client_id = m.client_id
    )
    SELECT m.tenant_id, m.type FROM made m ORDER BY 1, 2
$$;


-- --- the sweep -------------------------------------------------------------------------------

-- Takes so many tokens, the oldest, of those that are older than so many milliseconds: one
-- at a time, over all nodes.  Who deletes a tenant or an agent is not waited for: theirs
-- are not looked at.  The first row says how many it took; the others what it has raised.

CREATE FUNCTION svc.agent_sweep(lag bigint, most integer)
    RETURNS TABLE (taken bigint, raised_for uuid, raised text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET TimeZone = 'UTC'
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    since    timestamptz;
    upto     timestamptz := date_trunc('milliseconds', now()) - lag * interval '1 ms';
    this     timestamptz;                                     -- the hour
    clients  svc.client_use[];
    tenants  uuid[];
    tokens   svc.agent_token[];                               -- of agents
    unseen   svc.agent_new[];
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('svc.agent_sweep')) THEN
        RETURN QUERY SELECT 0::bigint, NULL::uuid, NULL::text;
        RETURN;
    END IF;

    since := (SELECT s.swept_to FROM svc.agent_sweep s);

    this := date_trunc('hour', (
        SELECT t.issued_at FROM svc.oauth_token t
         WHERE t.issued_at > since AND t.issued_at <= upto ORDER BY t.issued_at LIMIT 1));

    IF this IS NULL THEN
        UPDATE svc.agent_sweep s SET swept_to = upto
         WHERE s.swept_to < upto - interval '1 hour';
        RETURN QUERY SELECT 0::bigint, NULL::uuid, NULL::text;
        RETURN;
    END IF;

    upto := least(upto, this + interval '1 hour' - interval '1 ms');
    upto := coalesce((
        SELECT t.issued_at FROM svc.oauth_token t
         WHERE t.issued_at > since AND t.issued_at <= upto
         ORDER BY t.issued_at OFFSET most - 1 LIMIT 1), upto);

    UPDATE svc.agent_sweep s SET swept_to = upto;

    clients := ARRAY(
        SELECT (t.tenant_id, t.client_id, count(*), max(t.issued_at))::svc.client_use
          FROM svc.oauth_token t WHERE t.issued_at > since AND t.issued_at <= upto
         GROUP BY t.tenant_id, t.client_id ORDER BY t.tenant_id, t.client_id);

    RETURN QUERY SELECT sum(c.tokens)::bigint, NULL::uuid, NULL::text FROM unnest(clients) c;

    tenants := ARRAY(
        SELECT t.id FROM svc.tenant t
         WHERE t.id = ANY (ARRAY(SELECT DISTINCT c.tenant_id FROM unnest(clients) c))
         ORDER BY t.id FOR KEY SHARE SKIP LOCKED);

    tokens := ARRAY(
        SELECT (t.tenant_id, t.client_id, t.jti, t.issued_at, t.ip,
                network(set_masklen(t.ip, CASE family(t.ip) WHEN 4 THEN 24 ELSE 48 END))::text,
                t.country,
                CASE WHEN t.chain <> '{}'
                     THEN coalesce(t.user_id::text, t.principals[cardinality(t.principals)])
                END)::svc.agent_token
          FROM (SELECT * FROM unnest(clients) c WHERE c.tenant_id = ANY (tenants) OFFSET 0) c
         CROSS JOIN LATERAL (
            SELECT FROM svc.application p
             WHERE p.tenant_id = c.tenant_id AND p.client_id = c.client_id
               AND p.type = 'agent' FOR KEY SHARE SKIP LOCKED) p
         CROSS JOIN LATERAL (
            SELECT * FROM svc.oauth_token t
             WHERE t.tenant_id = c.tenant_id AND t.client_id = c.client_id
               AND t.issued_at > since AND t.issued_at <= upto OFFSET 0) t);

    -- to the minute: a row that is changed often is in the way of who administers it

    UPDATE svc.application a SET last_used_at = u.at
      FROM (SELECT c.tenant_id, c.client_id, c.at
              FROM (SELECT * FROM unnest(clients) c WHERE c.tenant_id = ANY (tenants)
                     OFFSET 0) c
             CROSS JOIN LATERAL (
                SELECT FROM svc.application p
                 WHERE p.tenant_id = c.tenant_id AND p.client_id = c.client_id
                   AND coalesce(p.last_used_at < c.at - interval '1 minute', true)
                   FOR NO KEY UPDATE SKIP LOCKED) p) u
     WHERE a.tenant_id = u.tenant_id AND a.client_id = u.client_id;

    IF cardinality(tokens) = 0 THEN
        RETURN;
    END IF;

    unseen := ARRAY(SELECT f FROM svc.agent_unseen(tokens, this) f);

    PERFORM svc.agent_count(tokens, unseen, this);

    RETURN QUERY SELECT NULL::bigint, r.tenant_id, r.type FROM svc.agent_raise(ARRAY(
        SELECT h FROM svc.agent_bursts(tokens, this) h
        UNION ALL
        SELECT h FROM svc.agent_off_hours(tokens, this) h
        UNION ALL
        SELECT h FROM svc.agent_places(unseen, this) h
        UNION ALL
        SELECT h FROM svc.agent_subjects(unseen, this) h)) r;
END
$$;


-- --- what nobody needs any more ----------------------------------------------------------------

-- A round, as svc.sign_in_expire().  What agents did goes by the time up to which they are
-- looked at, and not by the clock.

CREATE FUNCTION svc.oauth_expire(most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET TimeZone = 'UTC'
SET enable_seqscan = off AS $$
DECLARE
    swept  timestamptz := (SELECT date_trunc('hour', s.swept_to) FROM svc.agent_sweep s);
    rule   record;
    n      bigint;
    done   bigint := 0;
BEGIN
    -- of a code that nobody has used the grant goes, and with it the code

    DELETE FROM svc.oauth_grant g USING (
        SELECT k.tenant_id, k.grant_id FROM svc.oauth_code k
         WHERE k.expires_at < now() - interval '1 day' AND k.used_at IS NULL
         ORDER BY k.expires_at LIMIT most FOR UPDATE SKIP LOCKED) c
     WHERE g.tenant_id = c.tenant_id AND g.id = c.grant_id;
    GET DIAGNOSTICS done = ROW_COUNT;

    FOR rule IN
        SELECT * FROM (VALUES
            ('oauth_once', 'expires_at', now()),
            ('oauth_code', 'expires_at', now() - interval '1 day'),
            ('oauth_refresh', 'expires_at', now() - interval '1 day'),
            ('oauth_grant', 'expires_at', now() - interval '1 day'),
            ('agent_minute', 'minute', swept - interval '28 days'),
            ('agent_hour', 'hour', swept - interval '28 days'),
            ('agent_seen', 'last_at', swept - interval '180 days')) v (tbl, col, until)
    LOOP
        EXECUTE format('DELETE FROM svc.%I WHERE ctid = ANY (ARRAY('
                       'SELECT k.ctid FROM svc.%1$I k WHERE k.%I < $1'
                       ' ORDER BY k.%2$I LIMIT $2 FOR UPDATE SKIP LOCKED))',
                       rule.tbl, rule.col) USING rule.until, most;
        GET DIAGNOSTICS n = ROW_COUNT;
        done := done + n;
    END LOOP;

    RETURN done;
END
$$;


REVOKE ALL ON FUNCTION svc.agent_unseen, svc.agent_count, svc.agent_bursts,
    svc.agent_off_hours, svc.agent_places, svc.agent_subjects, svc.agent_raise,
    svc.agent_sweep, svc.oauth_expire FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.agent_sweep, svc.oauth_expire TO svc_app;
