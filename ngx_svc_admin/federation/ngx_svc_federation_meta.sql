-- statement: federation_claim
-- Whoever sets the time may fetch: one for each connection, in each minute. With a document
-- that is good the keys alone are fetched. For a connection that is off tests alone ask, which
-- are counted, and what claims those that are due has not fetched.
--
-- parameters
--   connection_id  uuid
-- columns
--   provider       text
--   issuer         text
--   directory      text
--   asked_at       text
--   document       jsonb
UPDATE svc.federation_meta meta
   SET asked_at = now()
  FROM svc.social social
 WHERE meta.tenant_id = :tenant AND meta.connection_id = :connection_id
   AND social.tenant_id = :tenant AND social.connection_id = :connection_id
   AND (NOT social.enabled OR coalesce(meta.asked_at < now() - interval '1 minute', true))
RETURNING social.provider, social.issuer, social.directory, meta.asked_at::text AS asked_at,
          CASE WHEN meta.fetched_at > now() - interval '7 days' THEN meta.document END AS document;


-- statement: federation_due
-- Claims what is due, 16 connections at most. There is a row if there is none. One that is not
-- to be fetched, as it is off, or its tenant is suspended, has no provider.
--
-- columns
--   taken          int8         connections, in each row
--   tenant         uuid
--   connection     uuid
--   provider       text
--   issuer         text
--   directory      text
--   asked_at       text
SELECT count(due.connection) OVER () AS taken, due.tenant, due.connection,
       due.name AS provider, due.issuer, due.directory, due.asked::text AS asked_at
  FROM (SELECT) always
  LEFT JOIN svc.federation_due(16) due ON true;


-- statement: federation_meta_store
-- Stores what an issuer publishes, unless another fetch has begun. It is looked at again when
-- its answer says so: in an hour at the earliest, and within a day. A document that was not
-- fetched is as old as it was, and so are its keys.
--
-- parameters
--   connection_id  uuid
--   asked_at       text
--   document       text
--   jwks           text
--   max_age        int4
UPDATE svc.federation_meta meta
   SET document = coalesce(:document::text::jsonb, meta.document),
       jwks = :jwks::text::jsonb,
       fetched_at = CASE WHEN :document IS NOT NULL THEN now() ELSE meta.fetched_at END,
       due_at = CASE
                    WHEN :document IS NOT NULL THEN now() + make_interval(secs => :max_age::int4)
                    ELSE meta.due_at
                END,
       failed_at = NULL,
       error = NULL
 WHERE meta.tenant_id = :tenant AND meta.connection_id = :connection_id
   AND meta.asked_at = :asked_at::text::timestamptz;


-- statement: federation_meta_failed
-- What there is stays.
--
-- parameters
--   connection_id  uuid
--   asked_at       text
--   error          text
UPDATE svc.federation_meta meta
   SET failed_at = now(), error = :error
 WHERE meta.tenant_id = :tenant AND meta.connection_id = :connection_id
   AND meta.asked_at = :asked_at::text::timestamptz;
