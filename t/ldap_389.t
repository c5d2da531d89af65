#!/usr/bin/perl

# Sign-in with a password that Debian's 389 Directory Server has: what it knows entries by,
# groups, locked accounts, and its certificate.

use strict;
use warnings;
use utf8;

use Digest::SHA qw(sha256_hex);
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser;
use SvcTest::Connection qw(verified);
use SvcTest::Dirsrv;
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND);

my $TRUE = JSON::PP::true();
my $PASSWORD = "pässwörd of ünicode \x{1f511}";
my $BYTES = $PASSWORD;

utf8::encode($BYTES);

my $s = SvcTest->new(workers => 1, svc => {
    svc_sign_in => 'on', svc_federation => 'on', svc_federation_allow => '127.0.0.0/8',
    svc_set => [ 'RATE_LIMIT_LOGIN_EMAIL_MAX 0' ] });
my $dirsrv = SvcTest::Dirsrv->new($s);

$dirsrv->launch;
$s->start;
$s->secret($BYTES);

my $acme = $s->tenant('acme');

verified($s, $acme, 'example.test');


sub configure {
    my (%change) = @_;
    my $r = $acme->admin(PUT => '/ldap', {
        url => $dirsrv->urls, bindDn => $SERVICE, bindPassword => $BIND, baseDn => $SUFFIX,
        userFilter => '(&(objectClass=inetOrgPerson)(mail={email}))', enabled => $TRUE,
        jitProvisioning => $TRUE, caCertificates => $dirsrv->ca,
        attributeMapping => { email => 'mail', displayName => 'cn' },
        domains => [ 'example.test' ], %change });

    is($r->status, 200, 'configured') or diag($r->body);
    $s->sql('UPDATE svc.ldap SET vouched_owner = true');
}

sub login {
    my ($who, $password) = @_;

    return SvcTest::Browser->new($s, tenant => 'acme')
        ->login("$who\@example.test", $password // $PASSWORD);
}

sub steps {
    my ($who) = @_;
    my $r = $acme->admin(POST => '/ldap/test', { email => "$who\@example.test",
                                                 password => $PASSWORD });

    is($r->status, 200, "$who is tested") or diag($r->body);

    return @{ $r->json->{steps} };
}

sub reason {
    return ($acme->events_where("action = 'user.login_failed'", 'details'))[-1][0]{reason};
}

# Whether somebody is linked with what an attribute of an entry has.

sub linked_by {
    my ($who, $dn, $name) = @_;
    my ($connection, $hash) = @{ ($s->sql(
        q(SELECT connection_id, encode(subject_hash, 'hex') FROM svc.federated_identity identity)
        . ' JOIN svc.user_account account ON account.id = identity.user_id'
        . " WHERE user_name = '$who\@example.test'"))[0] };

    is($hash, sha256_hex(pack('H*', $connection =~ tr/-//dr) . $dirsrv->value($dn, $name)),
       "linked by $name");
}


# --- in and out ------------------------------------------------------------------------

configure();

my $ada = $dirsrv->person(ada => (userPassword => $BYTES, cn => 'Ada Lovelace'));
my $r = login('ada');

is($r->status, 200, 'a password that is not ASCII') or diag($r->body);
is($r->json->{user}{email}, 'ada@example.test', 'of hers');

my $same = "pa\x{308}sswo\x{308}rd of u\x{308}nicode \x{1f511}";

for my $case ([ 'the same in other bytes', ada => $same, 'wrong' ],
              [ 'a space', ada => ' ', 'wrong' ],
              [ 'that of nobody', eve => undef, 'unknown' ])
{
    my ($name, $who, $password, $why) = @$case;

    admin_error(login($who, $password), 401, 'invalid_credentials', "$name is refused");
    is(reason(), $why, "since $why");
}


# --- what it knows entries by ------------------------------------------------------------

linked_by(ada => $ada, 'entryUUID');
configure(uniqueIdAttribute => 'nsUniqueId');
is(login('ada')->status, 200, 'by what is configured');
linked_by(ada => $ada, 'nsUniqueId');
configure();

# entries that were made by its first release have none

$dirsrv->plugin(entryuuid => 'off');

my $bob = $dirsrv->person(bob => (userPassword => $BYTES));

is(login('bob')->status, 200, 'an entry without entryUUID');
linked_by(bob => $bob, 'nsUniqueId');

$dirsrv->add("dn: $bob\nchangetype: modrdn\nnewrdn: uid=robert\ndeleteoldrdn: 1\n"
             . "newsuperior: $SUFFIX\n");
$bob = "uid=robert,$SUFFIX";
$dirsrv->add("dn: $bob\nchangetype: modify\nreplace: mail\nmail: robert\@example.test\n");
is(login('robert')->json->{user}{email}, 'bob@example.test', 'whatever its name becomes');


# --- groups ----------------------------------------------------------------------------

my $inner = $dirsrv->group(inner => $ada);

$dirsrv->group(outer => $inner);
$dirsrv->add("dn: cn=unique,ou=groups,$SUFFIX\nobjectClass: groupOfUniqueNames\ncn: unique\n"
             . "uniqueMember: $bob\n");

for my $case ([ ada => qw(inner outer) ], [ robert => 'unique' ]) {
    my ($who, @groups) = @$case;
    my @steps = steps($who);
    my $said = join ', ', map { qq("cn=$_,ou=groups,$SUFFIX") } @groups;

    is_deeply([ map { "$_->{step} $_->{ok}" } @steps ],
              [ map { "$_ 1" } qw(resolve connect tls bind search user_bind groups) ],
              'all steps work') or diag(explain(\@steps));
    like($steps[-1]{detail}, qr/^\d groups?: \Q$said\E\.$/, "with the groups of $who");
}


# --- a locked account ------------------------------------------------------------------

$dirsrv->add("dn: $ada\nchangetype: modify\nadd: nsAccountLock\nnsAccountLock: true\n");
admin_error(login('ada'), 401, 'invalid_credentials', 'a locked account');
is(reason(), 'directory_disabled', 'is disabled');

my ($search, $bind) = @{ [ steps('ada') ] }[4, 5];

is($search->{detail}, "\"$ada\", which is disabled.", 'as its entry says');
is($bind->{detail}, 'The directory refuses the password: the account is disabled'
                    . ' (result code 53).', 'and the directory does');


# --- its certificate ---------------------------------------------------------------------

my $ca = $dirsrv->ca;

$dirsrv->certify('IP:127.0.0.1');
isnt($dirsrv->ca, $ca, 'a CA of the same name');
configure(caCertificates => $dirsrv->ca);
admin_error(login('robert'), 503, 'unavailable', 'another CA');
like((steps('robert'))[-1]{detail}, qr/^Nobody that is trusted here has issued/, 'is not trusted');
configure(caCertificates => $ca);
is(login('robert')->status, 200, 'its own is');

$dirsrv->stop('KILL');

$s->done;
done_testing();
