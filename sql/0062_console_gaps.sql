-- serves: 1
--
-- What the console asks for: a link to set a password that an administrator has sent.


-- Links that administrators have sent are counted apart from those that people ask for
-- themselves, which are limited by address: nobody keeps an administrator from sending one.

ALTER TABLE svc.password_reset ADD COLUMN by_administrator boolean NOT NULL DEFAULT false;
