-- fragment: scim_created
-- columns
--   :scim_user
--   _verdict       text         a verdict, or the constraint that stands in the way
--   subscribers    text         ids of webhooks


-- fragment: scim_listed
-- A page of users and, in each row, how many users there are in all, and whether these are too
-- many to be counted. There is at least one row, which may have no user.
-- columns
--   :scim_user
--   total          int8
--   over           bool


-- fragment: scim_user
-- needs: account
-- What an answer of SCIM has of a user: the columns of ngx_svc_scim.h, in their order.
-- columns
--   id             uuid
--   user_name      text
--   external_id    text
--   status         text
--   first_name     text
--   last_name      text
--   display_name   text
--   title          text
--   department     text
--   locale         text
--   created_at     timestamptz
--   updated_at     timestamptz
account.id, account.user_name, account.external_id, account.status, account.first_name,
       account.last_name, account.display_name, account.title, account.department,
       account.locale, account.created_at, account.updated_at
