-- Lists of svc_scim_mode rfc, where who was deleted is a user still, and no resource. Where a
-- key finds the user, "scim_deleted" is compared in other words than those of its partial
-- indexes: while these are empty, they are better than any key to the planner.


-- statement: scim_page
-- A page of all, and how many there are, which counters tell. One row at least, whose id is
-- NULL behind the last user. The page is found by ids alone, from the index; offset and limit
-- are SELECTs, since a planner without statistics takes a parameter for more than there are.
--
-- parameters
--   page_offset    int4
--   page_limit     int4
-- columns
--   :scim_listed
SELECT :scim_user, counted.total, counted.over
  FROM (SELECT coalesce(sum(user_count.active + user_count.suspended
                            + user_count.deactivated - user_count.scim_deleted), 0)::bigint
               AS total,
               false AS over
          FROM svc.user_count user_count
         WHERE user_count.tenant_id = :tenant) counted
  LEFT JOIN (unnest(ARRAY(
                 SELECT account.id
                   FROM svc.user_account account
                  WHERE account.tenant_id = :tenant AND NOT account.scim_deleted
                  ORDER BY account.created_at, account.id
                 OFFSET (SELECT :page_offset::int4) LIMIT (SELECT :page_limit::int4)
             )) WITH ORDINALITY listed (user_id, place)
       CROSS JOIN LATERAL (
            SELECT :scim_user
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant
               AND account.id BETWEEN listed.user_id AND listed.user_id
             ORDER BY account.id
             LIMIT 1) account) ON true
 ORDER BY listed.place;


-- statement: scim_page_active
-- The same of who is active, in words of which the planner does not think that few are so.
--
-- parameters
--   page_offset    int4
--   page_limit     int4
-- columns
--   :scim_listed
SELECT :scim_user, counted.total, counted.over
  FROM (SELECT coalesce(sum(user_count.active), 0)::bigint AS total, false AS over
          FROM svc.user_count user_count
         WHERE user_count.tenant_id = :tenant) counted
  LEFT JOIN (unnest(ARRAY(
                 SELECT account.id
                   FROM svc.user_account account
                  WHERE account.tenant_id = :tenant
                    AND NOT account.scim_deleted
                    AND (account.status = 'active')::int4 <> 0
                  ORDER BY account.created_at, account.id
                 OFFSET (SELECT :page_offset::int4) LIMIT (SELECT :page_limit::int4)
             )) WITH ORDINALITY listed (user_id, place)
       CROSS JOIN LATERAL (
            SELECT :scim_user
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant
               AND account.id BETWEEN listed.user_id AND listed.user_id
             ORDER BY account.id
             LIMIT 1) account) ON true
 ORDER BY listed.place;


-- statement: scim_page_inactive
-- The same of who is not: few, of whom svc.user_inactive keeps a list.
--
-- parameters
--   page_offset    int4
--   page_limit     int4
-- columns
--   :scim_listed
SELECT :scim_user, counted.total, counted.over
  FROM (SELECT coalesce(sum(user_count.suspended + user_count.deactivated
                            - user_count.scim_deleted), 0)::bigint
               AS total,
               false AS over
          FROM svc.user_count user_count
         WHERE user_count.tenant_id = :tenant) counted
  LEFT JOIN (unnest(ARRAY(
                 SELECT inactive.id
                   FROM svc.user_inactive inactive
                  WHERE inactive.tenant_id = :tenant AND NOT inactive.scim_deleted
                  ORDER BY inactive.created_at, inactive.id
                 OFFSET (SELECT :page_offset::int4) LIMIT (SELECT :page_limit::int4)
             )) WITH ORDINALITY listed (user_id, place)
       CROSS JOIN LATERAL (
            SELECT :scim_user
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant
               AND account.id BETWEEN listed.user_id AND listed.user_id
             ORDER BY account.id
             LIMIT 1) account) ON true
 ORDER BY listed.place;


-- statement: scim_key_user_name
--
-- parameters
--   user_name      text
-- columns
--   :scim_user
SELECT :scim_user
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant
   AND account.user_name_key = svc.address_key(:user_name::text)
   AND account.scim_deleted::int4 = 0;


-- statement: scim_key_external_id
--
-- parameters
--   external_id    text
-- columns
--   :scim_user
SELECT :scim_user
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant
   AND account.external_id = :external_id::text
   AND account.scim_deleted::int4 = 0;


-- statement: scim_key_id
--
-- parameters
--   user_id        uuid
-- columns
--   :scim_user
SELECT :scim_user
  FROM svc.user_account account
 WHERE account.tenant_id = :tenant AND account.id = :user_id AND account.scim_deleted::int4 = 0;


-- statement: scim_sorted (composed)
-- A page of all in the order of an index: "direction" is DESC, or empty.
--
-- parameters
--   page_offset    int4
--   page_limit     int4
-- parts
--   sort           account.user_name_key
--   direction      DESC
-- columns
--   :scim_listed
SELECT :scim_user, counted.total, counted.over
  FROM (SELECT coalesce(sum(user_count.active + user_count.suspended
                            + user_count.deactivated - user_count.scim_deleted), 0)::bigint
               AS total,
               false AS over
          FROM svc.user_count user_count
         WHERE user_count.tenant_id = :tenant) counted
  LEFT JOIN (unnest(ARRAY(
                 SELECT account.id
                   FROM svc.user_account account
                  WHERE account.tenant_id = :tenant AND NOT account.scim_deleted
                  ORDER BY :sort :direction, account.id :direction
                 OFFSET (SELECT :page_offset::int4) LIMIT (SELECT :page_limit::int4)
             )) WITH ORDINALITY listed (user_id, place)
       CROSS JOIN LATERAL (
            SELECT :scim_user
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant
               AND account.id BETWEEN listed.user_id AND listed.user_id
             ORDER BY account.id
             LIMIT 1) account) ON true
 ORDER BY listed.place;


-- statement: scim_filtered (composed)
-- A page of those for whom "filter" is true, by "sort" and "direction" (DESC, or empty). An
-- index is asked for "first", which the filter implies. Of these users scan_max are looked at:
-- one more is a hit, whoever it is, so that it is known. Who lacks what is sorted by comes
-- last, and first when the order is turned round (RFC 7644, 3.4.2.3). The parameters of
-- "first" and "filter" follow the two of the page.
--
-- parameters
--   page_offset    int4
--   page_limit     int4
-- parts
--   sort           account.created_at
--   direction      DESC
--   first          account.user_name_key >= 'a'
--   filter         account.status = 'active'
--   scan_max       100000
-- columns
--   :scim_listed
WITH hit AS MATERIALIZED (
    SELECT account.id, account.created_at, account.place, :sort AS sorted_by
      FROM (SELECT *, row_number() OVER () AS place
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant AND NOT account.scim_deleted AND :first
             LIMIT :scan_max + 1) account
     WHERE :filter OR account.place > :scan_max
)
SELECT :scim_user, counted.total, counted.over
  FROM (SELECT count(*) AS total, coalesce(max(hit.place), 0) > :scan_max AS over
          FROM hit) counted
  LEFT JOIN (unnest(ARRAY(
                 SELECT hit.id
                   FROM hit
                  ORDER BY hit.sorted_by :direction, hit.created_at, hit.id
                 OFFSET (SELECT :page_offset::int4) LIMIT (SELECT :page_limit::int4)
             )) WITH ORDINALITY listed (user_id, place)
       CROSS JOIN LATERAL (
            SELECT :scim_user
              FROM svc.user_account account
             WHERE account.tenant_id = :tenant
               AND account.id BETWEEN listed.user_id AND listed.user_id
             ORDER BY account.id
             LIMIT 1) account) ON true
 ORDER BY listed.place;
