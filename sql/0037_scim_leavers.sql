-- Outbound SCIM: who has left has left a target when it shows so, or has not shown the
-- user twice, with an hour between: a 404 alone may be anything.  And what a target has
-- of a user from elsewhere is not taken away.

ALTER TABLE svc.scim_item
    ADD COLUMN absent_at  timestamptz(3),       -- when it did not for the first time
    ADD COLUMN sent       smallint;             -- attributes that it has had from here,
                                                -- a bit for each; NULL: not known


-- Of whom a 404 has been taken for that before is looked up once more, and deactivated
-- where the target has the user all the same.

UPDATE svc.scim_item item
   SET wanted_rev = item.wanted_rev + 1, priority = 0, next_at = now(), attempts = 0,
       state = 'pending'
 WHERE item.state = 'synced' AND item.remote_id IS NULL AND NOT item.remote_active;
