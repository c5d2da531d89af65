package SvcBench::Directory;

# Sign-ins with passwords of a directory, Debian's slapd, and the same passwords presented to
# it by ldapwhoami, one after the other: each time by a connection of its own. And imports of
# all people of another one.

use strict;
use warnings;

use Time::HiRes qw(time);

use SvcBench::Load;
use SvcBench::Login;
use SvcBench::Scim;
use SvcTest::Process qw(run wait_for write_file);


my $PASSWORD = 'the password in the directory';
my $PEOPLE = 256;                      # nobody comes twice at the same time
my $CONNECTIONS = 32;
my $LINES = 40_000;                     # more sign-ins than there will be

my ($slapd, $node, $import);


# Measures sign-ins, at a node of its own.  Each answer of 200 has stored one.

sub sign_ins {
    my ($system, $seconds) = @_;

    prepare($system);
    owns($system);

    my $before = SvcBench::Login::signed_in($system);
    my $n = SvcBench::Load::wrk($system, 'lines', seconds => $seconds, threads => 1,
                                method => 'POST', connections => $CONNECTIONS,
                                path => '/v1/auth/login', lines => "$system->{dir}/directory",
                                url => "http://127.0.0.1:$node->{port}");

    SvcBench::Scim::check($n, SvcBench::Login::signed_in($system) - $before,
                          'sign-ins are stored');
    SvcBench::Login::clean($system);

    # other rows count users, and take any domain

    $system->{s}->sql("DELETE FROM svc.user_account WHERE user_name LIKE '%\@example.test'");
    $system->{s}->sql("DELETE FROM svc.domain WHERE domain = 'example.test'");

    return $n;
}


# The first tenant has verified the domain of the addresses.

sub owns {
    my ($system) = @_;

    $system->{s}->sql('INSERT INTO svc.domain (tenant_id, domain, verified_at)'
                      . " VALUES ('$system->{tenants}[0]{id}', 'example.test', now())"
                      . ' ON CONFLICT DO NOTHING');
}


sub whoami {
    my ($system, $seconds) = @_;

    prepare($system);

    my ($n, $begin) = (0, time);

    while (time - $begin < $seconds || $n == 0) {
        my $who = 'uid=p' . $n++ % $PEOPLE . ",ou=people,$SvcTest::Slapd::SUFFIX";
        my ($status, $text) = run([ 'ldapwhoami', '-x', '-H', $slapd->urls, '-D', $who,
                                    '-w', $PASSWORD ],
                                  env => { LDAPTLS_CACERT => $slapd->ca_file });

        die "ldapwhoami: $text\n" if $status != 0;
    }

    return { rate => $n / (time - $begin), requests => $n, faults => [] };
}


# Has people in a directory, and the first tenant ask it.

sub prepare {
    my ($system) = @_;

    return if $slapd;

    -x '/usr/sbin/slapd' or die "slapd is not installed\n";
    require SvcTest::Slapd;

    my ($s, $tenant) = ($system->{s}, $system->{tenants}[0]);
    my $made = SvcTest::Slapd->new($s);

    $made->launch;
    $made->person("p$_" => (userPassword => $PASSWORD)) for 0 .. $PEOPLE - 1;
    owns($system);

    $node = $s->node(workers => 2, svc => {
        SvcBench::Login::directives(), svc_federation => 'on',
        svc_federation_allow => '127.0.0.0/8' });

    my $r = $tenant->admin(PUT => '/ldap', {
        url => $made->urls, bindDn => $SvcTest::Slapd::SERVICE,
        bindPassword => $SvcTest::Slapd::BIND, baseDn => $SvcTest::Slapd::SUFFIX,
        userFilter => '(mail={email})', caCertificates => $made->ca, attributeMapping => {},
        domains => [ 'example.test' ], enabled => JSON::PP::true(),
        jitProvisioning => JSON::PP::true() });

    die 'a directory: ' . $r->body . "\n" if $r->status != 200;

    $s->sql("UPDATE svc.ldap SET vouched_owner = true;"
            . " DELETE FROM svc.domain WHERE domain = 'example.test'");
    write_file("$system->{dir}/directory", join '', map {
        my $who = 'p' . $_ % $PEOPLE;

        '127.0.0.1 ' . SvcTest::encode({ email => "$who\@example.test", password => $PASSWORD,
                                         tenant => $tenant->{slug} }) . "\n";
    } 1 .. $LINES);
    $slapd = $made;
}


# Imports so many people whom the second tenant does not know yet.  The rate is that of entries,
# from when the import began until it has ended.

sub imports {
    my ($system, $people) = @_;

    my ($s, $tenant) = ($system->{s}, $system->{tenants}[1]);

    $s->sql('INSERT INTO svc.domain (tenant_id, domain, verified_at)'
            . " VALUES ('$tenant->{id}', 'import.test', now())");
    $import //= many($system, $people);
    $s->sql('UPDATE svc.ldap SET vouched_owner = true, sync_enabled = true'
            . " WHERE tenant_id = '$tenant->{id}'");
    wait_for { $s->sql('SELECT count(*) FROM svc.ldap_sync WHERE finished_at IS NOT NULL') } 120;

    my ($row) = $s->sql('SELECT status, created, extract(epoch FROM finished_at - started_at)'
                        . " FROM svc.ldap_sync WHERE tenant_id = '$tenant->{id}'");
    my ($status, $created, $took) = @{ $row // [ 'none', 0, 1 ] };

    # the next import is a first one, too

    $s->sql("UPDATE svc.ldap SET sync_enabled = false WHERE tenant_id = '$tenant->{id}';"
            . " UPDATE svc.ldap_sync SET finished_at = NULL, started_at = NULL;"
            . " DELETE FROM svc.user_account WHERE user_name LIKE '%\@import.test';"
            . " DELETE FROM svc.domain WHERE domain = 'import.test'");

    return { rate => $created / $took, requests => $created,
             faults => $status eq 'ok' && $created == $people ? []
                       : [ "an import is $status, of $created people" ] };
}


# Has people in a directory, which nobody signs in by.

sub many {
    my ($system, $people) = @_;

    -x '/usr/sbin/slapd' or die "slapd is not installed\n";
    require SvcTest::Slapd;

    my ($s, $tenant) = ($system->{s}, $system->{tenants}[1]);
    my $service = $SvcTest::Slapd::SERVICE;
    my $suffix = $SvcTest::Slapd::SUFFIX;
    my $made = SvcTest::Slapd->new($s, dir => 'many',
                                   conf => "limits dn.exact=\"$service\" size=unlimited\n");

    $made->launch(join '', map { <<"EOT" } 1 .. $people);
dn: uid=i$_,ou=people,$suffix
objectClass: inetOrgPerson
uid: i$_
cn: Person $_
givenName: Some
sn: Person
mail: i$_\@import.test

EOT

    my $r = $tenant->admin(PUT => '/ldap', {
        url => $made->urls, bindDn => $service, bindPassword => $SvcTest::Slapd::BIND,
        baseDn => $suffix, userFilter => '(mail={email})', caCertificates => $made->ca,
        attributeMapping => { email => 'mail', displayName => 'cn', firstName => 'givenName',
                              lastName => 'sn' },
        domains => [ 'import.test' ], enabled => JSON::PP::true(),
        jitProvisioning => JSON::PP::true() });

    die 'a directory: ' . $r->body . "\n" if $r->status != 200;

    return $made;
}


1;
