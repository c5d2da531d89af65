package SvcBench::Passkeys;

# Sign-ins with passkeys, whose assertions are made beforehand.

use strict;
use warnings;

use MIME::Base64 qw(encode_base64url);

use SvcBench::Load;
use SvcBench::Login;
use SvcBench::Scim;
use SvcTest;
use SvcTest::Authenticator;
use SvcTest::Browser qw($PASSWORD);
use SvcTest::Process qw(wait_for write_file);


my $HOST = 'login.bench0.test';         # passkeys need a host name
my $EMAIL = 'user10@bench0.test';
my $USERS = 1_000;                      # as in lua/login.lua
my $CONNECTIONS = 64;
my $VERIFY = '/v1/auth/passkey/verify';


# Measures at most so many sign-ins.  Each answer of 200 has stored one.

sub sign_ins {
    my ($system, $seconds, $most) = @_;

    my ($authenticator, $id) = prepare($system);
    my @users = copies($system);
    my $file = "$system->{dir}/passkeys";

    write_file($file, join '', map { "$_\n" }
                          assertions($system, $authenticator, $id, $most,
                                     @users));

    my $before = SvcBench::Login::signed_in($system);
    my $n = SvcBench::Load::wrk($system, 'lines', seconds => $seconds,
                                connections => $CONNECTIONS, threads => 1,
                                method => 'POST', path => $VERIFY, lines => $file);

    SvcBench::Scim::check($n, SvcBench::Login::signed_in($system) - $before,
                          'sign-ins are stored');
    clean($system);

    return $n;
}


# Returns a browser in which one user has registered a passkey, and its id.

sub prepare {
    my ($system) = @_;

    my $s = $system->{s};
    my $b = SvcTest::Browser->new($s, tenant => 'bench0');
    my $authenticator = SvcTest::Authenticator->new($s->root, "https://$HOST");

    $s->sql("INSERT INTO svc.domain (tenant_id, domain, verified_at)"
            . " SELECT id, 'login.' || slug || '.test', now() FROM svc.tenant");
    done($b->login($EMAIL, $PASSWORD), 200);

    my $r = done($b->post('/v1/mfa/passkeys/options', {}, Host => $HOST), 200);
    my $credential = $authenticator->answer($r->json->{publicKey});

    done($b->post('/v1/mfa/passkeys', { credential => $credential },
                  Host => $HOST), 201);

    return ($authenticator, $credential->{id});
}


sub done {
    my ($r, $status) = @_;

    die 'a passkey: ' . $r->body . "\n" if $r->status != $status;

    return $r;
}


# Gives each of the others that key, under an id that follows from the user's.
# Returns them: tenant, its Host, user.

sub copies {
    my ($system) = @_;

    my $s = $system->{s};

    $s->sql(<<"EOT");
WITH u AS (
    SELECT tenant_id, id, domain FROM svc.user_account u
    JOIN svc.domain USING (tenant_id)
    WHERE source = 'ldap' AND user_name <> '$EMAIL'
      AND right(id::text, 12)::bigint < $USERS
), f AS (
    INSERT INTO svc.factor (tenant_id, user_id, id, type, name, confirmed_at)
    SELECT tenant_id, id, id, 'passkey', 'Passkey', now() FROM u
)
INSERT INTO svc.passkey
SELECT u.tenant_id, sha256(uuid_send(u.id)), u.id, u.id, uuid_send(u.id),
       p.public_key, p.alg, u.domain, 0, p.be, p.bs, p.transports, p.aaguid
FROM u, svc.passkey p
EOT
    $s->sql("VACUUM (ANALYZE) svc.$_") for qw(factor passkey user_account);

    return $s->sql('SELECT tenant_id, rp_id, user_id FROM svc.passkey'
                   . ' WHERE user_id = factor_id ORDER BY user_id');
}


# Makes so many lines of a Host and a body, of the users in turn, for challenges
# of their own.

sub assertions {
    my ($system, $authenticator, $id, $n, @users) = @_;

    my $c = $system->{s}->connection;
    my @lines;

    for my $i (0 .. $n - 1) {
        my ($tenant, $host, $user) = @{ $users[$i % @users] };
        my $r = $c->request(POST => '/v1/auth/passkey/options',
                            { Host => $host }, '{}')
            // die 'no options: ' . $c->error . "\n";
        my $a = $authenticator->answer(done($r, 200)->json->{publicKey},
                                       origin => "https://$host", id => $id);

        $a->{id} = $a->{rawId} = base64url($user);
        $a->{response}{userHandle} = base64url("$tenant$user");
        push @lines, "$host " . SvcTest::encode({ credential => $a });
    }

    return @lines;
}


# Returns the bytes of UUIDs.

sub base64url {
    my ($uuids) = @_;

    return encode_base64url(pack 'H*', $uuids =~ tr/-//dr);
}


# Waits, as requests in flight when wrk left still have their locks.

sub clean {
    my ($system) = @_;

    my $s = $system->{s};

    wait_for { $s->sessions("state <> 'idle'") == 0 } 10
        or die "sign-ins do not end\n";
    $s->sql('DELETE FROM svc.factor');
    $s->sql('TRUNCATE svc.challenge_used');
    $s->sql('DELETE FROM svc.domain');
    $s->sql("VACUUM (ANALYZE) svc.$_") for qw(factor passkey);
    SvcBench::Login::clean($system);
}


1;
