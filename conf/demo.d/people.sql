-- People of the demo's tenant: who they are, what they may do, and 90 days of their
-- sign-ins.  psql runs it, with the variable "slug".

SELECT id AS tenant, (now() AT TIME ZONE 'UTC')::date AS today
  FROM svc.tenant WHERE slug = :'slug' \gset

SELECT EXISTS (SELECT FROM svc.user_account
                WHERE tenant_id = :'tenant' AND user_name = 'amara@acme.test') AS made \gset
\if :made
\quit
\endif

BEGIN;

-- "joined" and "seen" are days ago; no "seen": never signed in.

CREATE TEMPORARY TABLE person ON COMMIT DROP AS
SELECT gen_random_uuid() AS id, *
  FROM (VALUES
    ('amara', 'Amara', 'Okafor', 'Head of Support', 'Support', 'en', 'helpdesk', 88, 0, true),
    ('bjorn', 'Björn', 'Lindqvist', 'Engineer', 'Engineering', 'en', 'member', 86, 1, true),
    ('chloe', 'Chloé', 'Marchand', 'Account Manager', 'Sales', 'fr', 'member', 85, 2, false),
    ('daichi', 'Daichi', 'Tanaka', 'Engineer', 'Engineering', 'en', 'member', 83, 0, true),
    ('elif', 'Elif', 'Yıldız', 'Designer', 'Engineering', 'en', 'member', 80, 4, true),
    ('farid', 'Farid', 'Haddad', 'Auditor', 'Finance', 'fr', 'internal-audit', 77, 6, true),
    ('giulia', 'Giulia', 'Ferrari', 'Engineer', 'Engineering', 'en', 'member', 74, 0, false),
    ('hana', 'Hana', 'Nováková', 'Support Agent', 'Support', 'de', 'helpdesk', 71, 1, true),
    ('ines', 'Inês', 'Carvalho', 'Accountant', 'Finance', 'en', 'member', 66, 3, false),
    ('jakub', 'Jakub', 'Kowalski', 'Engineer', 'Engineering', 'en', 'member', 63, 9, true),
    ('kavya', 'Kavya', 'Iyer', 'Site Reliability', 'Engineering', 'en', 'admin', 60, 0, true),
    ('liam', 'Liam', 'Walsh', 'Sales', 'Sales', 'en', 'member', 58, 2, false),
    ('mei', 'Mei', 'Chen', 'Product Manager', 'Engineering', 'en', 'member', 52, 5, true),
    ('noah', 'Noah', 'Weber', 'Support Agent', 'Support', 'de', 'member', 47, 1, false),
    ('oksana', 'Oksana', 'Kovalenko', 'Engineer', 'Engineering', 'en', 'member', 44, 12, true),
    ('pedro', 'Pedro', 'Gutiérrez', 'Sales', 'Sales', 'en', 'member', 41, 20, false),
    ('qamar', 'Qamar', 'Siddiqui', 'Contractor', 'Contractors', 'en', 'member', 37, 33, false),
    ('rosa', 'Rosa', 'Jiménez', 'Office Manager', 'People', 'en', 'member', 34, 7, false),
    ('sefa', 'Sefa', 'Tuilagi', 'Contractor', 'Contractors', 'en', 'member', 30, 29, false),
    ('thandi', 'Thandiwe', 'Nkosi', 'Lawyer', 'People', 'en', 'member', 27, 3, true),
    ('umar', 'Umar', 'Diallo', 'Sales', 'Sales', 'fr', 'member', 21, 0, false),
    ('vera', 'Vera', 'Schneider', 'Engineer', 'Engineering', 'de', 'member', 15, 1, true),
    ('wanjiru', 'Wanjiru', 'Kamau', 'Data Analyst', 'Finance', 'en', 'member', 9, 0, false),
    ('xavier', 'Xavier', 'Dubois', 'Intern', 'Engineering', 'fr', 'member', 4, 2, false),
    ('yara', 'Yara', 'Al-Masri', 'Engineer', 'Engineering', 'en', 'member', 1, NULL, false)
  ) listed (name, first_name, last_name, title, department, locale, role, joined, seen, mfa);

INSERT INTO svc.user_account (tenant_id, id, user_name, first_name, last_name, display_name,
                              title, department, locale, role, status, email_verified, source,
                              created_at, last_login_at, last_active_day)
SELECT :'tenant', id, name || '@acme.test', first_name, last_name,
       first_name || ' ' || last_name, title, department, locale, role,
       CASE WHEN seen >= 29 THEN 'suspended' ELSE 'active' END, seen IS NOT NULL, 'local',
       now() - make_interval(days => joined, mins => 7 * joined),
       now() - make_interval(days => seen, mins => 11 * joined), :'today'::date - seen
  FROM person;

-- Codes by mail are a factor without a secret.

INSERT INTO svc.factor (tenant_id, user_id, id, type, name, created_at, confirmed_at, last_used_at)
SELECT :'tenant', id, gen_random_uuid(), 'email', 'E-mail', at, at,
       now() - make_interval(days => seen)
  FROM (SELECT *, now() - make_interval(days => joined) AS at FROM person) person
 WHERE mfa;

UPDATE svc.user_account account SET mfa_enrolled = true
  FROM person
 WHERE account.tenant_id = :'tenant' AND account.id = person.id AND person.mfa;

-- They are not new today, whatever the trigger has counted.

UPDATE svc.user_count SET added = 0 WHERE tenant_id = :'tenant';

INSERT INTO svc.active_day (tenant_id, day, users)
SELECT :'tenant', :'today'::date - seen, count(*)
  FROM person
 WHERE seen IS NOT NULL
 GROUP BY seen
    ON CONFLICT (tenant_id, day) DO UPDATE SET users = svc.active_day.users + EXCLUDED.users;

-- Fewer people come on weekends; there was a bad day four weeks ago.

INSERT INTO svc.stat_day (tenant_id, day, shard, success, failure, denied, lockouts,
                          rate_limited, active_users, new_users)
SELECT :'tenant', past.day, 0,
       past.people * 2 + past.n % 5, past.people / 6 + past.n % 3 + 41 * past.bad,
       past.n % 7 / 6 + 6 * past.bad, past.n % 13 / 12 + 2 * past.bad, 17 * past.bad,
       past.people, (SELECT count(*) FROM person WHERE person.joined = past.n)
  FROM (SELECT n, :'today'::date - n AS day, (n = 28)::integer AS bad,
               CASE WHEN extract(isodow FROM :'today'::date - n) > 5 THEN 2 ELSE 7 + n * 5 % 4 END
               + (SELECT count(*) FROM person WHERE person.joined > n) * 2 / 5 AS people
          FROM generate_series(1, 89) n) past
    ON CONFLICT DO NOTHING;

COMMIT;
