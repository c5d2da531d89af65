-- serves: 1
--
-- PostgreSQL reads the text of a CHECK anew in each statement that stores a row, and its
-- words most slowly.  One says of a row in the journal what two said: who is granted has no
-- reason, who is refused has one, and there is no third outcome.


ALTER TABLE svc.delegation
    DROP CONSTRAINT delegation_outcome_check,
    DROP CONSTRAINT delegation_reason_check,
    ADD CONSTRAINT delegation_outcome_check CHECK (
        outcome = CASE WHEN reason IS NULL THEN 'granted' ELSE 'refused' END);
