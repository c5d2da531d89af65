#!/usr/bin/perl

# The directives of webhooks, as nginx -t takes them.

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


# --- what a worker keeps --------------------------------------------------------

passes(svc_webhook_keep => $_) for 1, 10000, 1000000;
fails(svc_webhook_keep => $_, qr/must be a number from 1 to 1000000/)
    for 0, -1, 1000001, '10k', 'off', '""';

passes(svc_webhook_keep_size => $_) for '4k', '16m', '1024m', 65536;
fails(svc_webhook_keep_size => $_, qr/must be a size from 4k to 1024m/)
    for 0, '1k', '1025m', '16x', '""';

passes(svc_webhook_keep_time => $_) for '1ms', '30s', '10m';
fails(svc_webhook_keep_time => $_, qr/must be a time from 1ms to 10m/)
    for 0, '11m';
fails(svc_webhook_keep_time => 'soon', qr/invalid value/);

for my $name (qw(svc_webhook_keep svc_webhook_keep_size
                 svc_webhook_keep_time))
{
    my $value = $name eq 'svc_webhook_keep_time' ? '5s' : '8192';

    fails($name => [ $value, $value ], qr/is duplicate/);
}

done_testing();
