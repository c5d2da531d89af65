#!/usr/bin/perl

# The directives of webhooks, and which values nginx -t accepts.

use strict;
use warnings;

use Test::More;

use SvcTest;


my $s = SvcTest->new(pg => 0, redis => 0, svc => {
    svc_webhooks => 'on',
    svc_webhook_ca_file => '/etc/ssl/certs/ca-certificates.crt' });
my $nginx = $s->nginx;
my %svc = %{ $nginx->{svc} };


sub check {
    my (%set) = @_;

    $nginx->{svc} = { %svc, %set };
    $nginx->write_configuration;

    return $nginx->test_configuration;
}


sub passes {
    my ($name, $value) = @_;

    my ($status, $text) = check($name => $value);

    is($status, 0, "$name $value") or diag($text);
    unlike($text, qr/\[warn\]/, 'without a warning');
}


sub fails {
    my ($name, $value, $pattern) = @_;

    my ($status, $text) = check($name => $value);

    isnt($status, 0, "$name @{[ ref $value ? @$value : $value ]} is refused");
    like($text, qr/"$name\b.*$pattern/, 'and says what would be right');
}


# --- what is gone ---------------------------------------------------------------

my %gone = (svc_webhook_keep => 10000, svc_webhook_keep_size => '16m',
            svc_webhook_keep_time => '30s');

for my $name (sort keys %gone) {
    my ($status, $text) = check($name => $gone{$name});

    is($status, 0, "$name is accepted, for one version") or diag($text);
    like($text, qr/\[warn\] .*"$name"\ does\ nothing\ any\ more:
                   .*"svc_webhook_outbox"/x, 'with a warning of what is so now');
}


passes(svc_webhook_outbox => $_) for '1ms', '5s', '1h', 'off';
fails(svc_webhook_outbox => $_, qr/must be a time from 1ms to 1h, or "off"/)
    for 0, '2h', 'on', 'soon';
fails(svc_webhook_outbox => [ '5s', '5s' ], qr/is duplicate/);


# --- SCIM targets -----------------------------------------------------------------

passes(svc_scim_rate => $_) for 1, 10, 1000, 'off';
fails(svc_scim_rate => $_, qr/must be a number from 1 to 1000, or "off"/)
    for 0, -1, 1001, '10r/s', 'on', '""';
fails(svc_scim_rate => [ 5, 5 ], qr/is duplicate/);
fails(svc_scim_targets => 'yes', qr/it must be "on" or "off"/);
fails(svc_scim_targets => [ 'on', 'on' ], qr/is duplicate/);

for my $row ([ svc_redis => 'svc_redis 127' ],
             [ svc_key_file => 'svc_key_file /etc/' ])
{
    my ($name, $hint) = @$row;
    my ($status, $text) = check(svc_webhooks => 'off', svc_scim_targets => 'on',
                                $name => undef);

    isnt($status, 0, "SCIM targets without $name");
    like($text, qr/"svc_scim_targets on" needs "\Q$hint\E/, 'says what it needs');
}

is((check(svc_webhooks => 'off', svc_scim_targets => 'on'))[0], 0, 'with all of it');


# --- logout tokens ------------------------------------------------------------------

fails(svc_backchannel_logout => 'yes', qr/it must be "on" or "off"/);
fails(svc_backchannel_logout => [ 'on', 'on' ], qr/is duplicate/);

{
    my ($status, $text) = check(svc_webhooks => 'off', svc_backchannel_logout => 'on',
                                svc_key_file => undef);

    isnt($status, 0, 'logout tokens without a key');
    like($text, qr/"svc_backchannel_logout on" needs "svc_key_file/, 'says what it needs');
}

is((check(svc_webhooks => 'off', svc_backchannel_logout => 'on'))[0], 0, 'with all of it');


# --- networks that are too wide -------------------------------------------------

# as in Debian's nginx.conf: error_log comes first, and has no level

sub check_as_debian {
    my ($value) = @_;

    $nginx->{svc} = { %svc, svc_webhook_allow => $value };
    my $text = $nginx->configuration;
    $text =~ s/^(error_log \S+) info;/$1;/m or die "no error_log\n";
    $nginx->write_configuration($text);

    return $nginx->test_configuration;
}

for my $row ([ '0.0.0.0/0', '10.0.0.0/8' ], [ '::/0', 'fc00::/7' ],
             [ '0.0.0.0/1', '10.0.0.0/8' ], [ '::ffff:0:0/96', '10.0.0.0/8' ],
             [ '10.0.0.0/8', '10.0.0.0/8' ], [ '172.0.0.0/8', '172.16.0.0/12' ],
             [ '192.0.0.0/7', '192.168.0.0/16' ], [ 'fc00::/6', 'fc00::/7' ],
             [ '10.1.0.0/16 0.0.0.0/0', '10.0.0.0/8' ])
{
    my ($value, $range) = @$row;
    my ($status, $text) = check_as_debian($value);
    my ($wide) = $value =~ /(\S+)$/;

    is($status, 0, "svc_webhook_allow $value is taken");
    like($text, qr/\[warn\]\ "svc_webhook_allow\ \Q$wide\E"\ lets\ .*
                   \ reach\ all\ of\ \Q$range\E: .* \ in\ \S+:\d+/x,
         'with a warning');
}

for my $value ('10.20.0.0/16', '127.0.0.0/8', '192.168.1.0/24', '10.0.0.0/9',
               'fd00:1::/32', '203.0.113.0/24', '128.0.0.0/3 2001:db8::/32')
{
    my ($status, $text) = check_as_debian($value);

    is($status, 0, "svc_webhook_allow $value");
    unlike($text, qr/\[warn\]/, 'without one');
}

done_testing();
