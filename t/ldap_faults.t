#!/usr/bin/perl

# Shows what becomes of questions to directories that hang, that move, or whose names
# lead where they must not; and of requests and workers that go meanwhile.

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use JSON::PP ();
use POSIX ();
use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Connection qw(verified);
use SvcTest::Admin;
use SvcTest::Dns;
use SvcTest::Process qw(signal_pid slow spawn wait_for write_file);
use SvcTest::Slapd qw($SUFFIX $SERVICE $BIND $NAME);

my $s = SvcTest->new(workers => 1, svc => { svc_federation => 'on', svc_sign_in => 'on',
                                        svc_federation_allow => '127.0.0.0/8',
                                            svc_federation_jobs => 'ldap=12 queue=2' });
my $dns = SvcTest::Dns->new($s);
my $slapd = SvcTest::Slapd->new($s, names => "DNS:$NAME");

$slapd->launch;
$s->start;

my %tenant = map { $_ => $s->tenant($_) } qw(acme globex);
my @workers = $s->workers;


# A server that takes connections, answers with what it is told to, and keeps them.

sub server {
    my ($answer, $pause) = @_;

    my $listen = IO::Socket::INET->new(Listen => 64, LocalAddr => '127.0.0.1') or die "$!\n";
    my $file = "$s->{dir}/accepted." . $listen->sockport;

    write_file($file, '');
    defined(my $pid = fork) or die "fork: $!\n";

    if ($pid == 0) {
        my @kept;
        local $SIG{PIPE} = 'IGNORE';

        while (my $c = $listen->accept) {
            open my $fh, '>>', $file;
            print $fh "accepted\n";
            close $fh;
            push @kept, $c;

            for my $part (ref $answer ? @$answer : ()) {
                select undef, undef, undef, $pause // 0;
                syswrite $c, $part or last;
            }
        }

        POSIX::_exit(0);
    }

    return { port => $listen->sockport, pid => $pid,
             accepted => sub { scalar(() = SvcTest::Process::slurp($file) =~ /accepted/g) } };
}

my @servers;

sub hung { push @servers, server(@_); return $servers[-1] }

END { kill KILL => map { $_->{pid} } @servers if @servers }


sub configure {
    my ($tenant, $url, %change) = @_;
    my $r = $tenant{$tenant}->admin(PUT => '/ldap',
        { url => $url, bindDn => $SERVICE, bindPassword => $BIND, baseDn => $SUFFIX,
          userFilter => '(mail={email})', domains => [ "$tenant.test" ],
          caCertificates => $slapd->ca, %change });

    is($r->status, 200, "$tenant has $url") or diag($r->body);
}

verified($s, $tenant{$_}, "$_.test") for keys %tenant;

# A test may ask more often than is allowed.

$s->redis->command('SET svc.rate.t.t.' . $_->{id} =~ tr/-//dr . ' -1000000 EX 3600')
    for values %tenant;


sub begin {
    my ($tenant) = @_;

    return $s->begin(POST => '/v1/admin/ldap/test',
                     [ Authorization => "Bearer $tenant{$tenant}{api_token}",
                       Connection => 'close' ]);
}

sub last_step {
    my ($tenant) = @_;
    my $r = $tenant{$tenant // 'acme'}->admin(POST => '/ldap/test', {});

    is($r->status, 200, 'tested') or diag($r->body);

    return @{ $r->json->{steps}[-1] }{qw(step ok detail)};
}


# --- names ----------------------------------------------------------------------------

configure(acme => "ldaps://$NAME:$slapd->{ports}");

for ([ 'is none', { rcode => 'NXDOMAIN' }, qr/DNS has no address of "\Q$NAME\E"/ ],
     [ 'has none', {}, qr/DNS has no address/ ],
     [ 'is refused', { rcode => 'REFUSED' }, qr/does not tell the addresses/ ],
     [ 'leads inward', { a => [ '169.254.169.254' ] },
       qr/169\.254\.169\.254, which is link-local/ ],
     [ 'leads to this machine', { aaaa => [ '::1' ] }, qr/::1, which is loopback/ ],
     [ 'leads there by another name', { cname => [ 'x.test' ], a => [ '10.0.0.1' ] },
       qr/10\.0\.0\.1, which is private/ ],
     [ 'leads there by IPv6', { aaaa => [ '::ffff:c0a8:1' ] }, qr/192\.168\.0\.1, which/ ])
{
    my ($name, $what, $detail) = @$_;

    $dns->set($NAME => $what);

    my @step = last_step();

    is_deeply([ @step[0, 1] ], [ 'resolve', JSON::PP::false() ], "a name that $name");
    like($step[2], $detail, 'which is said');
}

for ([ 'has one that is allowed', { a => [ '169.254.169.254', '127.0.0.1' ] } ],
     [ 'has many', { a => [ ('127.0.0.1') x 80 ], aaaa => [ ('::1') x 80 ] } ],
     [ 'has one of two families', { a => [ '127.0.0.1' ], AAAA => { rcode => 'SERVFAIL' } } ],
     [ 'is told by TCP', { a => [ '127.0.0.1' ], truncate => 1 } ])
{
    my ($name, $what) = @$_;

    $dns->set($NAME => $what);
    is_deeply([ (last_step())[0, 1] ], [ 'search', JSON::PP::true() ], "a name that $name");
}

$dns->set($NAME => { a => [ '127.0.0.1' ], AAAA => { silence => 30 } });

my $before = time;

is((last_step())[0], 'search', 'a name whose other family is not told');
cmp_ok(time - $before, '<', slow(2), 'is not waited for');

# The address is looked up once, and is then the one that is connected to.

$dns->set($NAME => { a => [ '127.0.0.1' ] });

my $asked = () = $dns->queries($NAME);

last_step();
is(scalar(() = $dns->queries($NAME)) - $asked, 2, 'asked once for each family');
$dns->set($NAME => { broken => 7, a => [ '127.0.0.1', '127.0.0.2' ], aaaa => [ '::1' ] });
$_->read for map { begin('acme') } 1 .. 30;
$s->unharmed(\@workers, 'malformed packets');


# --- servers that hang -------------------------------------------------------------------

my $started = "\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00";
my %hung = (tls => [ hung(), 'ldaps' ],
            start => [ hung(), 'ldap' ],
            begun => [ hung([ $started ]), 'ldap' ],
            trickle => [ hung([ map { chr } 0x16, 3, 3, 0x40, (0) x 100 ], 0.3), 'ldaps' ],
            bytes => [ hung([ map { chr } 0x30, 0x84, 0, 0, 0xff, (0) x 100 ], 0.3), 'ldap' ]);

my @waits;

for my $name (sort keys %hung) {
    my ($server, $scheme) = @{ $hung{$name} };

    configure(acme => "$scheme://127.0.0.1:$server->{port}",
              startTls => $scheme eq 'ldap' ? JSON::PP::true() : JSON::PP::false());
    push @waits, [ $name, time, begin('acme') ];
    ok((wait_for { $server->{accepted}->() }), 'a server that hangs is connected');
}

for (@waits) {
    my ($name, $began, $c) = @$_;
    my $step = $c->read->json->{steps}[-1];

    cmp_ok(time - $began, '<', slow(8.5), "a server that hangs: $name");
    is_deeply([ @$step{qw(step ok)} ], [ 'tls', JSON::PP::false() ], 'it fails in time');
    like($step->{detail}, qr/nothing came in time/, 'which is said');
}

my ($cpu) = map { (split ' ', SvcTest::Process::slurp("/proc/$_/stat"))[13] } @workers;

cmp_ok($cpu, '<', slow(400), 'and takes no processor time to wait');

configure(acme => 'ldaps://127.0.0.1:' . hung([ 'x' x 65536, 'x' x 65536 ])->{port});
is((last_step())[0], 'tls', 'a server that says something else');


# --- many at a time ------------------------------------------------------------------------

# Of twelve threads one tenant has six; two more may wait.

my $hung = hung();

configure(acme => "ldaps://127.0.0.1:$hung->{port}");
configure(globex => "ldaps://127.0.0.1:$slapd->{ports}");

my @c;

for (1 .. 6) {
    push @c, begin('acme');
    ok((wait_for { $hung->{accepted}->() == @c }), 'a thread waits');
}

my @more = map { begin('acme') } 1 .. 3;
my $one;

ok((wait_for { ($one) = grep { !$more[$_]->silent(0) } 0 .. 2; defined $one }),
   'one of three more is answered at once');
admin_error($more[$one]->read, 503, 'unavailable', 'too many wait');
is($s->health->{status}, 200, 'others go on');
is($hung->{accepted}->(), 6, 'a tenant has half of the threads');

$_->abort for @more;
is($tenant{globex}->admin(POST => '/ldap/test', {})->status, 200, 'another tenant has the rest');

$_->abort for @c;
is((last_step('globex'))[0], 'tls', 'clients that have gone leave it alone');
$s->unharmed(\@workers, 'clients that leave');


# --- workers that quit ------------------------------------------------------------------

my $last = hung();

configure(acme => "ldaps://127.0.0.1:$last->{port}");

my $c = begin('acme');

ok((wait_for { $last->{accepted}->() == 1 }), 'a thread waits again');
$s->reload(linger => 1);
is($c->read->status, 200, 'a reload lets it end');

my $node = $s->node(svc => { svc_federation => 'on', svc_sign_in => 'on',
                                        svc_federation_allow => '127.0.0.0/8',
                             svc_resolver => "127.0.0.1:$dns->{port}" });

$c = $s->begin(POST => '/v1/admin/ldap/test',
               [ Authorization => "Bearer $tenant{acme}{api_token}" ], undef,
               port => $node->{port});
ok((wait_for { $last->{accepted}->() == 2 }), 'at a node');
$node->stop;
is($c->read, undef, 'which ends: no answer');

$s->done;

done_testing();
