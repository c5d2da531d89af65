package SvcTest::Session;

# Sessions without a browser, made in the database as a sign-in makes them; the
# live sessions of a user; and the addresses of sign-ins.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(session_of live_sessions add_addresses);


# Returns the statement that makes a session: none for a user who is not active,
# and none while somebody changes the user.  expires: in how long; the default
# is "1 h".

sub session_of {
    my ($user, $expires) = @_;

    $expires //= '1 h';

    return <<"EOT";
INSERT INTO svc.session (tenant_id, user_id, token_hash, expires_at)
SELECT tenant_id, id, sha256(gen_random_uuid()::text::bytea),
       now() + interval '$expires'
FROM svc.user_account WHERE id = '$user' AND status = 'active'
FOR NO KEY UPDATE
EOT
}


# Returns how many live sessions a user has.

sub live_sessions {
    my ($s, $user) = @_;

    return scalar $s->sql(<<"EOT");
SELECT count(*) FROM svc.session s
JOIN svc.user_account u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
WHERE s.user_id = '$user' AND u.status = 'active' AND s.ended_at IS NULL
  AND s.expires_at > now()
  AND s.created_at >= coalesce(u.valid_after, '-infinity')
EOT
}


# Adds the addresses of sign-ins that were inserted directly, as each sign-in
# would have added its own.

sub add_addresses {
    my ($s) = @_;

    $s->sql(<<'EOT');
INSERT INTO svc.sign_in_address (tenant_id, ip, last_at)
SELECT tenant_id, ip, max(at) FROM svc.sign_in WHERE outcome = 'success' GROUP BY 1, 2
ON CONFLICT (tenant_id, ip) DO UPDATE SET last_at = excluded.last_at
EOT
}


1;
