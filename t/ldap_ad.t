#!/usr/bin/perl

# Shows what is read of Active Directory, with Samba: by which number it refuses a
# password, objectGUID, the primary group, and groups of groups; and sign-ins by it, on the
# page in Chromium, too.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Connection qw(verified);
use SvcTest::Admin;
use SvcTest::Browser;
use SvcTest::Chromium;
use SvcTest::Dns;
use SvcTest::Process qw(wait_for);
use SvcTest::Samba qw($DOMAIN $ADMIN);
use SvcTest::Www qw(with_pages);

my $PASSWORD = 'A passw0rd of this test';

my $s = SvcTest->new(workers => 1, svc => { svc_federation => 'on', svc_sign_in => 'on',
                                        svc_federation_allow => '127.0.0.0/8' });
my $origin = with_pages($s);
my $dns = SvcTest::Dns->new($s);
my $ad = SvcTest::Samba->new($s);

$ad->launch;
$s->start;
$s->secret($PASSWORD);

my $acme = $s->tenant('acme');
my $NAME = 'dc1.ad.example.test';

# Its certificate has this name.

$dns->set($NAME => { a => [ $ad->{address} ] });
$s->redis->command('SET svc.rate.t.t.' . $acme->{id} =~ tr/-//dr . ' -1000000 EX 3600');

verified($s, $acme, 'ad.example.test');

my $r = $acme->admin(PUT => '/ldap', {
    url => "ldaps://$NAME", bindDn => "CN=Administrator,CN=Users,$DOMAIN",
    bindPassword => $ADMIN, baseDn => $DOMAIN,
    userFilter => '(userPrincipalName={email})', attributeMapping => { displayName => 'cn' },
    domains => [ 'ad.example.test' ], caCertificates => $ad->ca, enabled => JSON::PP::true(),
    jitProvisioning => JSON::PP::true() });

is($r->status, 200, 'configured') or diag($r->body);


sub steps {
    my ($who, $password) = @_;
    my $r = $acme->admin(POST => '/ldap/test', { email => "$who\@ad.example.test",
        defined $password ? (password => $password) : () });

    is($r->status, 200, "$who is tested") or diag($r->body);

    return map { [ $_->{step}, $_->{ok} ? 1 : 0, $_->{detail} ] } @{ $r->json->{steps} };
}

sub refused {
    my ($who, $password, $reason) = @_;
    my $last = (steps($who, $password))[-1];

    is_deeply([ @$last[0, 1] ], [ 'user_bind', 0 ], "$who is refused") or diag($last->[2]);
    like($last->[2], qr/refuses the password: $reason \(result code 49\)/, "since $reason");
}


# --- groups -----------------------------------------------------------------------------

$ad->tools((map { [ qw(user create), $_, $PASSWORD ] } qw(ada eve old new off)),
           (map { [ qw(group add), $_ ] } qw(inner outer whole)),
           [ qw(group addmembers inner ada) ], [ qw(group addmembers outer inner) ],
           [ qw(group addmembers whole), 'Domain Users' ]);

my @steps = steps(ada => $PASSWORD);

is_deeply([ map { "$_->[0] $_->[1]" } @steps ],
          [ map { "$_ 1" } qw(resolve connect tls bind search user_bind groups) ],
          'all steps work') or diag(explain(\@steps));
like($steps[4][2], qr/^"CN=ada,CN=Users,\Q$DOMAIN\E"\.$/, 'the entry');
like($steps[6][2], qr/^5 groups: "CN=inner,/, 'its own group, the primary one, and theirs')
    or diag(explain(\@steps));


# --- refusals ---------------------------------------------------------------------------

refused(ada => 'wrong', 'the password is wrong');

$ad->tool(qw(user disable off));
refused(off => $PASSWORD, 'the account is disabled');
like((steps('off'))[4][2], qr/which is disabled/, 'the entry says so, too');

$ad->change("CN=old,CN=Users,$DOMAIN",
            "replace: accountExpires\naccountExpires: 130000000000000000\n");
refused(old => $PASSWORD, 'the account has expired');
like((steps('old'))[4][2], qr/which is disabled/, 'the entry says so, too');

$ad->change("CN=new,CN=Users,$DOMAIN", "replace: pwdLastSet\npwdLastSet: 0\n");
refused(new => $PASSWORD, 'the user must change the password first');

$ad->tool(qw(domain passwordsettings set --account-lockout-threshold=2));
refused(eve => 'wrong', 'the password is wrong') for 1 .. 2;
refused(eve => $PASSWORD, 'the account is locked');


# --- sign-ins ---------------------------------------------------------------------------

$s->sql("UPDATE svc.ldap SET vouched_owner = true, vouched = '{groups:manage}'");
$s->sql("INSERT INTO svc.user_group (tenant_id, id, name)"
        . " SELECT '$acme->{id}', gen_random_uuid(), unnest('{outer,whole,other}'::text[])");
$s->sql("UPDATE svc.ldap SET group_mapping = (SELECT jsonb_agg(jsonb_build_object('external',"
        . " 'cn=' || name || ', CN=Users,$DOMAIN', 'groupId', id)) FROM svc.user_group)");

sub login {
    my ($who, $password) = @_;

    return SvcTest::Browser->new($s, tenant => 'acme')
        ->login("$who\@ad.example.test", $password // $PASSWORD);
}

sub reason {
    return ($acme->events_where("action = 'user.login_failed'", 'details'))[-1][0]{reason};
}

$r = login('ada');
is($r->status, 200, 'ada signs in') or diag($r->body);
is($s->sql('SELECT count(*) FROM svc.federated_identity'), 1, 'and is linked');
is($s->sql("SELECT string_agg(name, ' ' ORDER BY name) FROM svc.group_member"
           . ' JOIN svc.user_group ON id = group_id'), 'outer whole',
   'into the groups of her groups, and of the primary one');

for my $case ([ ada => 'wrong', 'wrong' ], [ nobody => undef, 'unknown' ],
              [ off => undef, 'directory_disabled' ],
              [ old => undef, 'directory_account_expired' ],
              [ eve => undef, 'directory_locked' ])
{
    my ($who, $password, $why) = @$case;

    admin_error(login($who, $password), 401, 'invalid_credentials', "$who does not");
    is(reason(), $why, "for $why");
}

admin_error(login('new'), 403, 'directory_password_expired', 'new has to change the password');
is(reason(), 'directory_password_expired', 'which is written down');
is($s->sql('SELECT count(*) FROM svc.login_phantom'), 4, 'but is no failure');


# --- on the page ------------------------------------------------------------------------

my $page = SvcTest::Chromium->new($s->root, "$origin/login?tenant=acme");

sub typed {
    my ($who, $selector, $text, $name) = @_;
    my $field = 'document.querySelector("#view form").elements';

    ok((wait_for { eval { $page->run("$field.password.value = '$PASSWORD'") } }), 'a form');
    $page->run("$field.email.value = '$who\@ad.example.test';"
               . ' document.querySelector("#view form").requestSubmit()');
    ok((wait_for { (eval { $page->run("document.querySelector('$selector').innerText") } // '')
                   eq $text }), $name) or diag(eval { $page->run('document.body.innerText') });
}

typed(new => '#error', "Your password has expired: change it in your organisation's directory,"
                       . ' and sign in with the new one.', 'new is told so');
typed(ada => 'h1', 'You are signed in', 'ada comes in');


# --- a lock that comes meanwhile ---------------------------------------------------------

$s->sql('CREATE OR REPLACE FUNCTION svc.sign_in_locked(tenant uuid, account uuid, mac bytea)'
        . " RETURNS bigint LANGUAGE sql AS 'SELECT CASE WHEN mac IS NULL THEN 60 END::bigint'");
admin_error(login('new'), 401, 'invalid_credentials', 'of an account that is locked it is not told');
is(reason(), 'locked', 'but written down');
$page->end;


# --- others -----------------------------------------------------------------------------

is((steps('nobody'))[-1][0], 'search', 'nobody');

$ad->stop;
$s->done;

done_testing();
