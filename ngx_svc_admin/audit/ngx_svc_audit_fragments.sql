-- fragment: audit_match
-- needs: event
-- Whether an event is what the query asks for. Most queries ask for nothing of this: one
-- look at the parameters is cheaper, for each event, than one for each of them. A text of
-- ASCII alone needs no folding but ASCII's, which is many times as fast.
(coalesce(:filter_q::text, :filter_outcome::text, :filter_action::text, :filter_actor_id::text,
          :filter_target_id::text, :filter_request_id::text) IS NULL
 OR (:filter_outcome::text IS NULL OR event.outcome = :filter_outcome)
    AND (:filter_action::text IS NULL OR event.action = :filter_action)
    AND (:filter_actor_id::text IS NULL OR event.actor_id = :filter_actor_id)
    AND (:filter_target_id::text IS NULL OR event.target_id = :filter_target_id)
    AND (:filter_request_id::text IS NULL OR event.request_id = :filter_request_id)
    AND CASE
            WHEN :filter_q::text IS NULL THEN true
            WHEN octet_length(:filter_q) = char_length(:filter_q)
                THEN strpos(lower(concat_ws(E'\x01', event.action, event.actor_name,
                                            event.actor_id, event.target_name, event.target_id,
                                            host(event.ip),
                                            CASE WHEN event.details <> '{}'
                                                     THEN event.details::text END) COLLATE "C"),
                            lower(:filter_q COLLATE "C")) > 0
            ELSE strpos(lower(concat_ws(E'\x01', event.action, event.actor_name, event.actor_id,
                                        event.target_name, event.target_id, host(event.ip),
                                        CASE WHEN event.details <> '{}'
                                                 THEN event.details::text END)
                              COLLATE "default"),
                        lower(:filter_q COLLATE "default")) > 0
        END)
