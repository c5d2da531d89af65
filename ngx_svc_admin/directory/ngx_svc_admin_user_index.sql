-- statement: admin_user_index
-- It indexes at most 1000 users in a round.
SELECT svc.user_index(1000);
