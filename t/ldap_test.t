#!/usr/bin/perl

# Shows POST /v1/admin/ldap/test with Debian's slapd: what each step says when it
# works, and when it does not.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND $NAME);

my $PASSWORD = 'a password of this test';

my $s = SvcTest->new(workers => 1, svc => { svc_federation_allow => '127.0.0.0/8' });
my $slapd = SvcTest::Slapd->new($s);

$slapd->launch;
$s->start;
$s->secret($PASSWORD);

my $acme = $s->tenant('acme');
my %LDAP = (url => $slapd->urls, bindDn => $SERVICE, bindPassword => $BIND,
            baseDn => $SUFFIX, userFilter => '(mail={email})',
            attributeMapping => { displayName => 'cn' });



# Sets what CONFIG's members do not yet, too.

sub configure {
    my (%change) = @_;
    my $ca = exists $change{ca} ? delete $change{ca} : $slapd->ca;
    my $unique = delete $change{unique};
    my %body = (%LDAP, %change);

    delete @body{ grep { !defined $body{$_} } keys %body };

    my $r = $acme->admin(PUT => '/ldap', \%body);

    is($r->status, 200, 'configured') or diag($r->body);
    $s->sql('UPDATE svc.ldap SET ca_certificates = '
            . (defined $ca ? "'$ca'" : 'NULL') . ', unique_id_attribute = '
            . (defined $unique ? "'$unique'" : 'NULL'));
}

sub free { $s->redis->command('DEL svc.rate.t.t.' . $acme->{id} =~ tr/-//dr) }


# Tests the directory.  Returns the steps, each as [ step, ok, detail ].

sub steps {
    my ($body, $name) = @_;

    free();

    my $r = $acme->admin(POST => '/ldap/test', $body);

    is($r->status, 200, $name) or diag($r->body);

    return map { [ $_->{step}, $_->{ok} ? 1 : 0, $_->{detail} ] } @{ $r->json->{steps} };
}


# Expects that all steps work but the last one, whose sentence matches.

sub fails {
    my ($step, $detail, $body, $name) = @_;
    my @steps = steps($body, $name);
    my $last = pop @steps;

    is_deeply([ grep { !$_->[1] } @steps ], [], "$name: only the last step fails");
    is($last->[0], $step, "$name: it is $step") or diag(explain($last));
    is($last->[1], 0, "$name: which fails");
    like($last->[2], $detail, "$name: and says why");
    like($last->[2], qr/[.?]\z/, "$name: in a sentence");
}


my $ada = $slapd->person(ada => (userPassword => $PASSWORD, cn => 'Ada Lovelace'));

$slapd->group(staff => $ada);


# --- what works ----------------------------------------------------------------------

admin_error($acme->admin(POST => '/ldap/test', {}), 404, undef, 'there is none');

my %user = (email => 'ada@example.test', password => $PASSWORD);

for my $url ($slapd->urls, $slapd->url) {
    configure(url => $url, startTls => $url =~ /^ldap:/ ? JSON::PP::true() : undef);

    my @steps = steps(\%user, $url);

    is_deeply([ map { "$_->[0] $_->[1]" } @steps ],
              [ map { "$_ 1" } qw(resolve connect tls bind search user_bind groups) ],
              'all steps work') or diag(explain(\@steps));
    like($steps[2][2], qr/TLS1\.[23].* "127\.0\.0\.1"/, 'encrypted');
    is($steps[3][2], "As \"$SERVICE\".", 'as the service');
    is($steps[4][2], "\"$ada\".", 'whose entry it is');
    is($steps[6][2], "1 group: \"cn=staff,ou=groups,$SUFFIX\".", 'of which group');
}

$s->done;
done_testing();
