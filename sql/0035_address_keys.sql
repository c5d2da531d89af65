-- When two e-mail addresses are the same one.
--
-- lower() makes "i" of U+0130 and "k" of U+212A, which are letters of other hosts'
-- names.  The key of an address has its local part in NFC (RFC 6532, 3.1) with ASCII
-- letters in lower case, and its domain in lower case as A-labels (RFC 5890).
-- ngx_svc_email_key() makes the same one.


-- A label of a domain, which has other characters than ASCII's (RFC 3492, 6.3).

CREATE FUNCTION svc.punycode(label text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    digits     CONSTANT text := 'abcdefghijklmnopqrstuvwxyz0123456789';
    points     integer[] := ARRAY(SELECT ascii(c) FROM regexp_split_to_table(label, '')
                                   WITH ORDINALITY AS s (c, n) ORDER BY n);
    basic      text := regexp_replace(label, '[^\u0001-\u007f]', '', 'g');
    result     text := CASE basic WHEN '' THEN '' ELSE basic || '-' END;
    done       integer := length(basic);
    next       integer := 128;
    bias       integer := 72;
    delta      bigint := 0;
    lowest     integer;
    point      integer;
    rest       bigint;
    step       integer;
    threshold  integer;
    digit      integer;
BEGIN
    WHILE done < cardinality(points) LOOP
        lowest := (SELECT min(p) FROM unnest(points) p WHERE p >= next);
        delta := delta + (lowest - next)::bigint * (done + 1);
        next := lowest;

        FOREACH point IN ARRAY points LOOP
            IF point < next THEN
                delta := delta + 1;

            ELSIF point = next THEN
                rest := delta;
                step := 36;

                LOOP
                    threshold := greatest(1, least(26, step - bias));
                    EXIT WHEN rest < threshold;
                    digit := threshold + (rest - threshold) % (36 - threshold);
                    result := result || substr(digits, digit + 1, 1);
                    rest := (rest - threshold) / (36 - threshold);
                    step := step + 36;
                END LOOP;

                result := result || substr(digits, rest::int + 1, 1);

                -- the bias of the next one (6.1)

                delta := CASE WHEN done = length(basic) THEN delta / 700
                              ELSE delta / 2 END;
                delta := delta + delta / (done + 1);
                bias := 0;

                WHILE delta > 455 LOOP
                    delta := delta / 35;
                    bias := bias + 36;
                END LOOP;

                bias := bias + (36 * delta / (delta + 38))::int;
                delta := 0;
                done := done + 1;
            END IF;
        END LOOP;

        delta := delta + 1;
        next := next + 1;
    END LOOP;

    RETURN 'xn--' || result;
END
$$;

CREATE FUNCTION svc.address_key_unicode(address text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT lower(normalize(split_part(address, '@', 1), NFC) COLLATE "C")
           || CASE strpos(address, '@') WHEN 0 THEN '' ELSE '@' || coalesce((
                  SELECT string_agg(CASE WHEN octet_length(l.label) = length(l.label)
                                    THEN l.label ELSE svc.punycode(l.label) END, '.'
                                    ORDER BY l.n)
                    FROM string_to_table(normalize(lower(normalize(
                             substr(address, strpos(address, '@') + 1), NFC)
                             COLLATE "und-x-icu"), NFC), '.')
                         WITH ORDINALITY AS l (label, n)), '') END
$$;

-- Most addresses have ASCII alone, of which little is to be done.  (A statement takes
-- the body in place of the call.)

CREATE FUNCTION svc.address_key(address text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN octet_length(address) = length(address)
                THEN lower(address COLLATE "C") ELSE svc.address_key_unicode(address) END
$$;

REVOKE ALL ON FUNCTION svc.punycode(text), svc.address_key_unicode(text),
    svc.address_key(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.punycode(text), svc.address_key_unicode(text),
    svc.address_key(text) TO svc_app;


-- Two who were told apart by lower(), and have one key, stay both: the second one has
-- a key that no address has, until the first one has gone.

CREATE FUNCTION svc.address_key_double(key text, id uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT key || ' ' || id
$$;

REVOKE ALL ON FUNCTION svc.address_key_double(text, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION svc.address_key_double(text, uuid) TO svc_app;

CREATE OR REPLACE FUNCTION svc.user_names() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    key    text := svc.address_key(NEW.user_name);
    words  text := svc.user_search(NEW.user_name, NEW.display_name, NEW.first_name,
                                   NEW.last_name);
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.user_name_key := key;
        NEW.search := words;

    ELSIF NEW.user_name_key <> key OR NEW.search <> words THEN

        IF NEW.user_name_key = svc.address_key_double(key, NEW.id)
           AND EXISTS (SELECT FROM svc.user_account u
                        WHERE u.tenant_id = NEW.tenant_id AND u.user_name_key = key)
        THEN
            key := NEW.user_name_key;
        END IF;

        IF NEW.user_name_key <> key OR NEW.search <> words THEN
            UPDATE svc.user_account u SET user_name_key = key, search = words
             WHERE u.tenant_id = NEW.tenant_id AND u.id = NEW.id;
        END IF;
    END IF;

    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION svc.user_conflict(name text, external text) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tenant  uuid := nullif(current_setting('svc.tenant', true), '')::uuid;
BEGIN
    IF EXISTS (SELECT FROM svc.user_account u
                WHERE u.tenant_id = tenant AND u.user_name_key = svc.address_key(name)) THEN
        RETURN 'user_account_user_name_key';
    END IF;

    IF EXISTS (SELECT FROM svc.user_account u
                WHERE u.tenant_id = tenant AND u.external_id = external) THEN
        RETURN 'user_account_external_id_key';
    END IF;

    RETURN NULL;
END
$$;


-- Whose key changes gets one that is nobody's, for which the trigger puts the true one
-- if that is free: the one whose key stays has it, or the older one of two others.

DO $$
DECLARE
    account  record;
BEGIN
    FOR account IN
        SELECT u.tenant_id, u.id, svc.address_key(u.user_name) AS key
          FROM svc.user_account u
         WHERE u.user_name_key <> svc.address_key(u.user_name)
         ORDER BY u.created_at, u.id
    LOOP
        UPDATE svc.user_account u
           SET user_name_key = svc.address_key_double(account.key, account.id)
         WHERE u.tenant_id = account.tenant_id AND u.id = account.id;
    END LOOP;

    FOR account IN
        SELECT t.slug, u.user_name, u.id, o.user_name AS other_name, o.id AS other
          FROM svc.user_account u
          JOIN svc.tenant t ON t.id = u.tenant_id
          JOIN svc.user_account o ON o.tenant_id = u.tenant_id
               AND o.user_name_key = svc.address_key(u.user_name)
         WHERE u.user_name_key <> svc.address_key(u.user_name)
         ORDER BY t.slug, u.user_name
    LOOP
        RAISE WARNING 'tenant %: the user % (%) has the same e-mail address as % (%), '
            'and is not found by it: give one of them another address',
            account.slug, account.id, account.user_name, account.other,
            account.other_name;
    END LOOP;
END
$$;


-- The same of invitations: of those that are open the older one has the key.

UPDATE svc.invitation i
   SET email_key = svc.address_key_double(svc.address_key(i.email), i.id)
 WHERE i.email_key <> svc.address_key(i.email);

UPDATE svc.invitation i SET email_key = svc.address_key(i.email)
 WHERE i.email_key = svc.address_key_double(svc.address_key(i.email), i.id)
   AND NOT EXISTS (
       SELECT FROM svc.invitation o
        WHERE o.tenant_id = i.tenant_id AND o.id <> i.id
          AND o.accepted_at IS NULL AND o.revoked_at IS NULL
          AND (o.email_key = svc.address_key(i.email)
               OR o.email_key = svc.address_key_double(svc.address_key(i.email), o.id)
                  AND (o.created_at, o.id) < (i.created_at, i.id)));
