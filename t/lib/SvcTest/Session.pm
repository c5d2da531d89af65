package SvcTest::Session;

# Sessions that no browser has, in the database: as a sign-in makes them, and
# those of a user that are alive; and what a sign-in says of its address.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(session_of live_sessions add_addresses);


# The statement that makes one: none of a user who is not active, and none
# while somebody changes the user.  expires: in, "1 h" when left out.

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


# How many.

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


# The addresses of sign-ins that have been put into the table, as each sign-in
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
