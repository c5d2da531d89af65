-- fragment: login_tenant
-- The first columns of the statements that find the tenant of a sign-in.
-- columns
--   id             text
--   slug           text
--   suspended      bool
--   by_domain      bool
--   forced         bool


-- fragment: login_bars
-- What keeps a proof from being taken, whosever it is: the tenant's policy, and whether the
-- address is blocked.
-- columns
--   _policy        json
--   _version       int8
--   _tenant        uuid
--   blocked        bool


-- fragment: login_governance
-- needs: governance
-- What of a tenant is the same whoever signs in, and whether the address is blocked from
-- which somebody does, the parameter client_ip.
-- columns
--   :login_bars
--   risk_enabled        bool
--   risk_mfa_threshold  int4
--   risk_deny_threshold int4
governance.access_policy AS _policy, governance.access_number AS _version,
governance.tenant_id AS _tenant,
EXISTS (SELECT
          FROM svc.ip_block block
         WHERE block.tenant_id = governance.tenant_id
           AND block.ip = :client_ip::text::inet
           AND coalesce(block.expires_at > now(), true)) AS blocked,
governance.risk_enabled, governance.risk_mfa_threshold, governance.risk_deny_threshold


-- fragment: login_denied
-- The first columns of the statements that tell whether somebody may sign in; "locked" is how
-- many seconds are left of a lock.
-- columns
--   :login_governance
--   locked         int8


-- fragment: login_user
-- The first columns of the statements that find the user of a sign-in, or that there is none.
-- columns
--   :login_denied
--   id             uuid
--   status         text
--   mfa_enrolled   bool


-- fragment: login_begun
-- Where from, and how many ms ago, a sign-in of several requests has begun.
-- columns
--   _ip            text
--   _age           int8         as text: none: it is not known


-- fragment: login_session
-- The user of a session that goes on, and how its sign-in began.
-- columns
--   :login_bars
--   _user          uuid
--   _email         text
--   _password      int8         as text: its version
--   risk           int2
--   signals        text[]
--   :login_begun


-- fragment: login_checked
-- What the statements say that look, under the user's lock, whether all is still as it was
-- read.
-- columns
--   verdict        text
--   ?column?       bool         unread
--   locked         int8


-- fragment: login_done
-- The event of a complete sign-in, and who subscribes to such.
-- columns
--   _user          text
--   _number        int8         as text
--   _at            timestamptz
--   _subscribers   text


-- fragment: challenge_mailed
-- The first columns of the statements that make a challenge to be mailed. The first of all
-- is NULL in organization_open, for ngx_svc_committed_tenant().
-- columns
--   user_id        uuid
--   challengeId    uuid         answer
--   expiresAt      timestamptz  answer
--   voided         bool
--   user_name      text
--   display_name   text
--   locale         text
--   tenant_name    text
--   color          text
--   logo           text
--   slug           text


-- fragment: challenge_tried
-- The columns of the statements that find the challenge of a mail that is presented. The first
-- is NULL in organization_try, for ngx_svc_committed_tenant().
-- columns
--   user_id        uuid
--   id             uuid
--   code_mac       bytea
--   data           bytea
--   voided         bool
--   bound          bool


-- fragment: stepup_tried
-- The columns of the statements that open, or try, the challenge of a session.
-- columns
--   challengeId    uuid
--   attempts       int4
--   expiresAt      timestamptz  answer
--   own            bool


-- fragment: password_expired
-- needs: governance, account, password
-- Whether the password is too old: for the strictest of the user's groups, or without
-- one for the tenant. An age of 0 is that of a password that never expires, and the least
-- strict one. It is NULL without a password.
password.set_at + make_interval(days => nullif((
    SELECT coalesce(min(nullif(group_policy.max_age_days, 0)), max(group_policy.max_age_days),
                    governance.max_age_days)
      FROM svc.group_member member
      JOIN svc.group_password_policy group_policy
           ON group_policy.tenant_id = member.tenant_id AND group_policy.group_id = member.group_id
     WHERE member.tenant_id = governance.tenant_id AND member.user_id = account.id), 0)) < now()


-- fragment: signin_end
-- Ends the session of the cookie, the parameter session. Of those that do so at the same
-- time one gets a row; a session that is locked has ended before.
UPDATE svc.session
   SET ended_at = now()
 WHERE tenant_id = :tenant
   AND (user_id, id) = (SELECT session.user_id, session.id
                          FROM (SELECT session.user_id, session.id, session.ended_at, session.stage
                                  FROM svc.session session
                                 WHERE session.tenant_id = :tenant
                                   AND session.token_hash BETWEEN :session AND :session
                                 ORDER BY session.token_hash
                                 LIMIT 1
                                 FOR UPDATE) session
                         WHERE session.ended_at IS NULL AND session.stage <> 'locked')


-- fragment: failure_counted
-- The first CTEs of what counts a failure: "failure" has one row, with the
-- time until which this failure has locked, or NULL. A failure counts for the user, or
-- for the address that is nobody's, so that a lock does not tell who there is: so many in
-- a window that begins with the first one lock it. While it is locked nothing counts, and
-- there is no row. A lock ends what waits for a second factor, but tells a step-up of it:
-- whoever unlocks the user lets nobody guess on without the password. It is of the
-- parameters user, email_mac, client_ip, client_country, and those of the lockout.
counted_user AS (
    UPDATE svc.user_account account
       SET failed_logins
           = CASE
                 WHEN account.failed_since > now() - make_interval(secs => :lockout_window::int4)
                      AND account.locked_until IS NULL THEN account.failed_logins + 1
                 ELSE 1
             END,
           failed_since
           = CASE
                 WHEN account.failed_since > now() - make_interval(secs => :lockout_window::int4)
                      AND account.locked_until IS NULL THEN account.failed_since
                 ELSE now()
             END,
           locked_until
           = CASE
                 WHEN :lockout_max::int4 > 0
                      AND CASE
                              WHEN account.failed_since
                                   > now() - make_interval(secs => :lockout_window::int4)
                                   AND account.locked_until IS NULL
                                   THEN account.failed_logins + 1
                              ELSE 1
                          END >= :lockout_max::int4
                      THEN now() + make_interval(secs => :lockout_duration::int4)
             END
     WHERE account.tenant_id = :tenant
       AND account.id = :user
       AND coalesce(account.locked_until <= now(), true)
    RETURNING account.locked_until
), counted_phantom AS (
    INSERT INTO svc.login_phantom AS phantom
        (tenant_id, email_mac, failed, failed_since, locked_until)
    SELECT tenant.id, :email_mac::bytea, 1, now(),
           CASE
               WHEN :lockout_max::int4 > 0 AND 1 >= :lockout_max::int4
                    THEN now() + make_interval(secs => :lockout_duration::int4)
           END
      FROM svc.tenant tenant
     WHERE tenant.id = :tenant AND :user::uuid IS NULL
    ON CONFLICT (tenant_id, email_mac) DO UPDATE
       SET failed
           = CASE
                 WHEN phantom.failed_since > now() - make_interval(secs => :lockout_window::int4)
                      AND phantom.locked_until IS NULL THEN phantom.failed + 1
                 ELSE 1
             END,
           failed_since
           = CASE
                 WHEN phantom.failed_since > now() - make_interval(secs => :lockout_window::int4)
                      AND phantom.locked_until IS NULL THEN phantom.failed_since
                 ELSE now()
             END,
           locked_until
           = CASE
                 WHEN :lockout_max::int4 > 0
                      AND CASE
                              WHEN phantom.failed_since
                                   > now() - make_interval(secs => :lockout_window::int4)
                                   AND phantom.locked_until IS NULL
                                   THEN phantom.failed + 1
                              ELSE 1
                          END >= :lockout_max::int4
                      THEN now() + make_interval(secs => :lockout_duration::int4)
             END
     WHERE coalesce(phantom.locked_until <= now(), true)
    RETURNING phantom.locked_until
), failure AS (
    SELECT locked_until FROM counted_user UNION ALL SELECT locked_until FROM counted_phantom
), locked_session AS (
    UPDATE svc.session session
       SET stage = 'locked'
     WHERE session.tenant_id = :tenant
       AND session.user_id = :user
       AND session.id = ANY (ARRAY(
               SELECT pending.id
                 FROM svc.session pending
                WHERE pending.tenant_id = :tenant
                  AND pending.user_id = :user
                  AND pending.stage <> 'full'
                  AND pending.ended_at IS NULL
                  AND EXISTS (SELECT FROM failure WHERE failure.locked_until IS NOT NULL)))
), sign_in AS (
    INSERT INTO svc.sign_in (tenant_id, at, user_id, ip, country, outcome, email_mac, locked)
    SELECT tenant.id, now(), :user, :client_ip::text::inet, :client_country, 'failure', :email_mac,
           nullif(failure.locked_until IS NOT NULL AND :user::uuid IS NOT NULL, false)
      FROM svc.tenant tenant, failure
     WHERE tenant.id = :tenant AND :client_ip IS NOT NULL
)


-- fragment: risk_row
-- columns
--   :risk_signals
--   failures       int8
--   accounts       int8


-- fragment: risk_signals
-- needs: governance, account, device, last, habit
-- What is unusual about a sign-in of the account, but for the failures that came before:
-- each column is a signal of ngx_svc_risk.c. "last" is the last success, and "habit"
-- tells how many of the last 50 were in this hour of the day.
-- columns
--   successes      bool
--   device         bool
--   trusted        bool
--   few_devices    bool
--   agent          bool
--   network        bool
--   country        bool
--   travel         bool
--   absent         bool
--   hours          int8
--   hour           int8
coalesce(last.at, account.last_login_at) IS NOT NULL AS successes,
device.hash IS NOT NULL AS device,
coalesce(device.trusted_until > now(), false) AS trusted,
device.hash IS NOT NULL
OR NOT EXISTS (SELECT
                 FROM svc.user_device known
                WHERE known.tenant_id = governance.tenant_id
                  AND known.user_id BETWEEN account.id AND account.id
                ORDER BY known.user_id OFFSET 49) AS few_devices,
EXISTS (SELECT
          FROM svc.user_seen seen
         WHERE seen.tenant_id = governance.tenant_id
           AND seen.user_id = account.id
           AND seen.kind = 'agent'
           AND seen.value = :client_agent
           AND seen.last_at > now() - interval '400 days') AS agent,
:client_network::text IS NULL
OR coalesce(last.ip <<= :client_network::text::inet, false)
OR EXISTS (SELECT
             FROM svc.user_seen seen
            WHERE seen.tenant_id = governance.tenant_id
              AND seen.user_id = account.id
              AND seen.kind = 'network'
              AND seen.value = :client_network
              AND seen.last_at > now() - interval '90 days') AS network,
:client_country::text IS NULL
OR coalesce(last.country = :client_country::text, false)
OR EXISTS (SELECT
             FROM svc.user_seen seen
            WHERE seen.tenant_id = governance.tenant_id
              AND seen.user_id = account.id
              AND seen.kind = 'country'
              AND seen.value = :client_country
              AND seen.last_at > now() - interval '180 days') AS country,
-- The great circle from the last success, in km, less the 100 that a place may be wrong by:
-- nobody goes 900 km/h. At least a minute is taken to have passed.
last.latitude IS NOT NULL
AND :client_latitude::text IS NOT NULL
AND 12742 * asin(sqrt(least(
        1,
        sind((last.latitude - :client_latitude::text::float8) / 2) ^ 2
        + cosd(last.latitude) * cosd(:client_latitude::text::float8)
          * sind((last.longitude - :client_longitude::text::float8) / 2) ^ 2))) - 100
    > greatest(300, 900 / 3600.0 * greatest(60, extract(epoch FROM now() - last.at))) AS travel,
coalesce(coalesce(last.at, account.last_login_at) < now() - interval '30 days', false) AS absent,
habit.successes AS hours, habit.this_hour AS hour


-- fragment: email_code_limits
-- Two CTEs, of the parameters kind and email_mac, behind the lock of the address, see
-- ngx_svc_sql_email_challenge_lock. "limits" has whether a new challenge is void: a mail
-- in 30 seconds for a purpose, and ten in an hour, are enough for an address.
-- "superseded" ends the older ones: three are good, and a void one ends nothing.
limits AS MATERIALIZED (
    SELECT count(*) FILTER (WHERE (recent.kind IN ('sign_in', 'signup', 'link'))
                                  = (:kind IN ('sign_in', 'signup', 'link'))) >= 10
           OR coalesce(max(recent.created_at) FILTER (WHERE recent.kind = :kind)
                       > now() - interval '30 seconds',
                       false) AS void
      FROM (SELECT challenge.kind, challenge.created_at
              FROM svc.email_challenge challenge
             WHERE challenge.tenant_id = :tenant
               AND challenge.email_mac BETWEEN :email_mac AND :email_mac
               AND challenge.created_at > now() - interval '1 hour'
               AND NOT challenge.void
             ORDER BY challenge.email_mac, challenge.created_at OFFSET 0) recent
), superseded AS (
    UPDATE svc.email_challenge challenge
       SET expires_at = now()
     WHERE challenge.tenant_id = :tenant
       AND challenge.email_mac BETWEEN :email_mac AND :email_mac
       AND challenge.id = ANY (ARRAY(
               SELECT older.id
                 FROM limits,
                      (SELECT good.id
                         FROM svc.email_challenge good
                        WHERE good.tenant_id = :tenant
                          AND good.email_mac BETWEEN :email_mac AND :email_mac
                          AND good.kind = :kind
                          AND good.created_at > now() - interval '1 day'
                          AND good.used_at IS NULL
                          AND coalesce(good.expires_at > now(), false)
                        ORDER BY good.email_mac DESC, good.created_at DESC OFFSET 2) older
                WHERE NOT limits.void))
)


-- fragment: unconfirmed_since
-- A factor that nobody has confirmed counts for 15 minutes: one that is older is none any more.
-- The condition has both parts also where only unconfirmed ones are looked for: by the time
-- alone the planner takes the sweep's index, which has those of all tenants.
(now() - interval '15 minutes')


-- fragment: password_stored
-- CTEs of the parameters user, password_hash and password_version. The new password takes the
-- place of the one that was read, and "password" has a row if it does; the former one stays for
-- the rules of history, with 23 others. All that began before is over, and so are the lock and
-- other links to set a password.
old AS (
    SELECT account.tenant_id, account.id, password.version, password.hash
      FROM svc.user_account account
      LEFT JOIN svc.password password
           ON password.tenant_id = account.tenant_id AND password.user_id = account.id
     WHERE account.tenant_id = :tenant
       AND account.id = :user
       AND password.version IS NOT DISTINCT FROM :password_version::text::bigint
), former AS (
    INSERT INTO svc.password_history (tenant_id, user_id, version, hash)
    SELECT old.tenant_id, old.id, old.version, old.hash
      FROM old
     WHERE old.version IS NOT NULL
), forgotten AS (
    DELETE FROM svc.password_history forgotten
     USING old
     WHERE forgotten.tenant_id = :tenant
       AND forgotten.user_id = :user
       AND forgotten.version <= old.version - 24
), password AS (
    INSERT INTO svc.password AS password (tenant_id, user_id, hash)
    SELECT old.tenant_id, old.id, :password_hash::bytea
      FROM old
    ON CONFLICT (tenant_id, user_id) DO UPDATE
       SET hash = excluded.hash, set_at = now(), version = password.version + 1
    RETURNING password.user_id
), account AS (
    UPDATE svc.user_account account
       SET valid_after = clock_timestamp(), failed_logins = 0, failed_since = NULL,
           locked_until = NULL
      FROM password
     WHERE account.tenant_id = :tenant AND account.id = password.user_id
), reset AS (
    DELETE FROM svc.password_reset reset
     USING password
     WHERE reset.tenant_id = :tenant AND reset.user_id = password.user_id
)
