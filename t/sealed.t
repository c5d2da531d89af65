#!/usr/bin/perl

# Compares the table of what is sealed under svc_key_file with the schema: a
# column in neither of the lists would be lost when the first key is removed.

use strict;
use warnings;

use File::Basename qw(basename);
use Test::More;

use SvcTest;
use SvcTest::Process qw(slurp);


my $s = SvcTest->new(redis => 0);

$s->pg->create;


# --- the columns ----------------------------------------------------------------------

# Digests, MACs and public values: no key opens them.

my @OTHERS = qw(
    challenge_used.hash
    credential.token_hash
    email_challenge.binding_hash email_challenge.code_mac email_challenge.email_mac
    email_challenge.token_hash
    federated_identity.subject_hash
    federation_flow.binding_hash federation_flow.email_mac federation_flow.subject_hash
    federation_flow.token_hash
    federation_seen.digest
    idempotency.body_hash
    invitation.token_hash
    login_phantom.email_mac
    logo.data
    oauth_code.challenge oauth_code.digest oauth_code.jkt
    oauth_login.digest
    oauth_once.digest
    oauth_par.browser oauth_par.digest oauth_par.jkt
    oauth_refresh.digest oauth_refresh.jkt oauth_refresh.successor
    oauth_token.jkt oauth_token.secret_hash
    organization_signup.binding_hash organization_signup.code_mac
    organization_signup.email_mac organization_signup.token_hash
    passkey.aaguid passkey.credential_hash passkey.credential_id passkey.public_key
    password_reset.token_hash
    recovery_code.mac
    scim_item.remote_hash
    session.token_hash session.upstream_sid session.upstream_subject
    sign_in.email_mac
    user_device.hash
);

my @places = map { [ split /\t/ ] } grep { !/^#/ } split /\n/,
             slurp($s->root . '/conf/svcctl.d/secrets.tsv');
my %sealed = map { ("$_->[0].$_->[1]" => 1) } @places;

is_deeply([ map { scalar @$_ } @places ], [ (6) x @places ], 'six members each');

my @columns = map { $_->[0] } $s->sql(<<'EOT');
SELECT c.relname || '.' || a.attname
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind IN ('r', 'p')
   AND NOT c.relispartition AND a.atttypid = 'bytea'::regtype AND NOT a.attisdropped
 ORDER BY 1
EOT

is_deeply([ sort @columns ], [ sort keys %sealed, @OTHERS ],
          'each bytea of the schema is either sealed, or nothing that a key opens');


# The primary key finds the rows again.

for my $place (@places) {
    my ($table, $column, $kind, $key, $where, $aad) = @$place;

    is_deeply([ map { "$_->[0] $_->[1]" } $s->sql(<<"EOT") ],
SELECT a.attname, format_type(a.atttypid, a.atttypmod)
  FROM pg_index i, unnest(i.indkey) WITH ORDINALITY k (n, at)
  JOIN pg_attribute a ON a.attnum = k.n
 WHERE i.indrelid = 'svc.$table'::regclass AND i.indisprimary
   AND a.attrelid = i.indrelid
 ORDER BY k.at
EOT
              [ split /, /, $key ], "$kind: the primary key");
    is($s->sql("SELECT pg_typeof(($aad))::text FROM (SELECT) o LEFT JOIN svc.$table t"
               . " ON $where LIMIT 1"), 'bytea', 'and what it is sealed for');
}


# --- which keys are needed ------------------------------------------------------------

# The modules find each place's key, and by an index alone.

my %id = map { ($places[$_][2] => sprintf 'k%02d', $_) } 0 .. $#places;
my ($tenant) = $s->tenant('acme')->{id};

$s->sql('SET session_replication_role = replica');

sub fill {
    my ($place, $id) = @_;
    my ($table, $column, $kind, $key, $where) = @$place;
    my %value = map { ($_->[0] => $_->[1]) } $s->sql(<<"EOT");
SELECT a.attname, CASE t.typname WHEN 'uuid' THEN 'gen_random_uuid()'
       WHEN 'timestamptz' THEN 'now()' WHEN 'bool' THEN 'true' WHEN 'json' THEN '''{}'''
       WHEN 'jsonb' THEN '''{}''' WHEN 'text' THEN '''x''' WHEN '_text' THEN '''{x}'''
       WHEN 'bytea' THEN 'decode(repeat(''00'', 32), ''hex'')' ELSE '1' END
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
 WHERE a.attrelid = 'svc.$table'::regclass AND a.attnum > 0 AND a.attnotnull
   AND NOT a.atthasdef
EOT

    my %odd = (provider => "'google'", url => $table eq 'ldap' ? "'ldaps://x'" : "'https://x'",
               user_filter => "'(%{email}%)'", type => "'totp'", bind_dn => "'x'",
               bind_password_id => 'gen_random_uuid()', base_url => "'https://x'",
               purpose => "'sign_in'");

    for my $name (keys %odd) {
        my $there = $s->sql("SELECT count(*) FROM pg_attribute WHERE attrelid ="
                            . " 'svc.$table'::regclass AND attname = '$name'");
        $value{$name} = $odd{$name} if $there;
    }

    $value{tenant_id} = "'$tenant'" if $key =~ /tenant_id/;
    $value{kind} = "'$1'" if $where =~ /'(\w+)'/;
    $value{$_} = "decode(repeat('00', 16), 'hex')"
        for grep { /_mac$/ } keys %value;
    $value{$column} = sprintf "decode('%02x%s' || repeat('00', 40), 'hex')", length $id,
                              unpack 'H*', $id;

    my @names = sort keys %value;

    return $s->sql("INSERT INTO svc.$table (" . join(', ', @names) . ') VALUES ('
                   . join(', ', @value{@names}) . ')');
}

is($s->sql('SELECT count(*) FROM svc.sealed_keys()'), 0, 'no key is needed');
fill($_, $id{ $_->[2] }) for @places;
$s->sql("INSERT INTO svc.recovery_code (tenant_id, user_id, mac, key_id)"
        . " VALUES ('$tenant', gen_random_uuid(), '\\x00', 'k-codes')");

is_deeply([ map { $_->[0] } $s->sql('SELECT * FROM svc.sealed_keys()') ],
          [ sort values %id, 'k-codes' ], 'each is found');

fill($places[0], 'k00') for 1 .. 3;
is($s->sql('SELECT count(*) FROM svc.sealed_keys()'), 1 + @places, 'each once');

is_deeply([ map { $_->[0] } $s->sql("SELECT coalesce(svc.sealed_by(v), '-') FROM (VALUES"
            . " ('\\x'::bytea), ('\\x00'), ('\\x24'), ('\\x0341'), ('\\x0141ff'),"
            . ' (NULL)) v (v)') ],
          [ '-', '-', '-', 'A', 'A', '-' ], 'what is not sealed has none');

# not even a million rows are read

my @tables = map { $_->[0] } @places;

for my $table (do { my %once; grep { !$once{$_}++ } @tables }) {
    is($s->sql(<<"EOT"), 1, "$table: an index tells its keys");
SELECT count(*) FROM pg_index i
 WHERE i.indrelid = 'svc.$table'::regclass
   AND pg_get_indexdef(i.indexrelid) LIKE '%svc.sealed_by(%'
EOT
}

# --- older recovery codes -------------------------------------------------------------

# When everything was sealed under one key, so were the codes; otherwise their
# key is unknown.

my $before = $s->dir . '/before';

mkdir $before or die $!;
symlink $_, "$before/" . basename($_)
    or die $! for grep { basename($_) lt '0039' } glob $s->root . '/sql/*.sql';

for my $row ([ [ qw(k1) ], 'k1' ], [ [ qw(k1 k2) ], '-' ], [ [], '-' ]) {
    my ($ids, $is) = @$row;
    my $name = 'before' . @$ids;

    $s->sql("CREATE DATABASE $name");

    my $pg = $s->pg->conninfo('postgres') =~ s/dbname=\S+/dbname=$name/r;

    is(($s->svcctl({}, 'migrate', '--pg', $pg, '--sql', $before))[1], 0, 'the schema before');

    my $db = $s->pg->connect('postgres', $name);

    $db->query('SET session_replication_role = replica');
    $db->query("INSERT INTO svc.password (tenant_id, user_id, hash) VALUES"
               . " ('$tenant', gen_random_uuid(), '\\x02" . unpack('H*', $_) . "ff')")
        for @$ids;
    $db->query("INSERT INTO svc.recovery_code (tenant_id, user_id, mac)"
               . " VALUES ('$tenant', gen_random_uuid(), '\\x00')");
    is(($s->svcctl({}, 'migrate', '--pg', $pg))[1], 0, 'and now');
    $db->query("INSERT INTO svc.recovery_code (tenant_id, user_id, mac)"
               . " VALUES ('$tenant', gen_random_uuid(), '\\x01')");
    is(join(' ', map { $_->[0] } @{ $db->query('SELECT coalesce(key_id, \'-\') FROM'
                                               . ' svc.recovery_code ORDER BY mac') }),
       "$is -", "codes beside @$ids");
}


# --- status, by svcctl ----------------------------------------------------------------

my ($out, $rc, $err) = $s->svcctl({}, qw(secrets status --keys), $s->{key_file});

is($rc >> 8, 3, 'rows need keys that are not there');
is($err, 'svcctl: rows need ' . join(', ', sort values %id, 'k-codes')
   . ', which the key file lacks: put it back behind the first key, reload NGINX, and run'
   . " \"svcctl secrets reseal\"\n", 'which');
is_deeply([ split /\n/, $out ],
          [ '1 seals nothing',
            'k-codes missing 1 recovery codes of 1 users, who need new ones when it goes',
            map { "$id{$_->[2]} missing " . ($_->[2] eq 'passwords' ? 4 : 1) . " $_->[2]" }
                @places ], 'rows by key and kind');

$s->done;
done_testing();
