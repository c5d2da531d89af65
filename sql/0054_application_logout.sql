-- serves: 1
--
-- Where a browser may be sent once its user has signed out, and who wants to hear of it.


ALTER TABLE svc.application
    ADD COLUMN post_logout_redirect_uris  text[] NOT NULL DEFAULT '{}',
    ADD COLUMN backchannel_logout_uri     text,                 -- NULL: nobody wants to
    ADD COLUMN backchannel_session        boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT application_backchannel_check
        CHECK (backchannel_logout_uri ~* '^https://' AND length(backchannel_logout_uri) <= 2048);

GRANT UPDATE (post_logout_redirect_uris, backchannel_logout_uri, backchannel_session)
    ON svc.application TO svc_app;
