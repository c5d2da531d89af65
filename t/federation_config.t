#!/usr/bin/perl

# svc_federation and svc_federation_allow, and what nginx -t says of them.

use strict;
use warnings;

use Test::More;

use SvcTest;


my $s = SvcTest->new(pg => 0, redis => 0, svc => {
    svc_federation => 'on', svc_sign_in => 'on',
    svc_webhook_ca_file => '/etc/ssl/certs/ca-certificates.crt' });
my $nginx = $s->nginx;
my %svc = %{ $nginx->{svc} };


sub check {
    my (%set) = @_;

    $nginx->{svc} = { %svc, %set };
    $nginx->write_configuration;

    return $nginx->test_configuration;
}


sub fails {
    my ($what, $pattern, %set) = @_;
    my ($status, $text) = check(%set);

    isnt($status, 0, "$what is refused");
    like($text, $pattern, 'and says what would be right');
}


is((check())[0], 0, 'with all that it needs');
is((check(svc_base_url => $_))[0], 0, $_)
    for qw(https://login.example.com http://localhost:8080 http://[::1]:8080);

fails('no key', qr/needs a "svc_key_file"/, svc_key_file => undef);
fails('no Redis', qr/"svc_federation on" needs "svc_redis 127/, svc_redis => undef);
fails('no sign-in', qr/"svc_federation on" needs "svc_sign_in on;"/, svc_sign_in => 'off');
fails('sign-in by default', qr/"svc_federation on" needs "svc_sign_in on;"/,
      svc_sign_in => undef);
fails("$_ as base URL", qr{"svc_federation on" needs "svc_base_url https://},
      svc_base_url => $_)
    for qw(http://login.example.com http://10.0.0.1 http://localhost.example.com);
fails('yes', qr/it must be "on" or "off"/, svc_federation => 'yes');
fails('twice', qr/is duplicate/, svc_federation => [ 'on', 'on' ]);

is((check(svc_federation => 'off', svc_sign_in => 'off',
          svc_base_url => 'http://login.example.com'))[0], 0, 'off it needs nothing');

{
    local $nginx->{load} = [ map { "ngx_http_svc_${_}_module.so" } qw(common scim admin) ];

    fails('no helper',
          qr/"svc_federation on" needs "load_module modules\/ngx_http_svc_webhook_module/,
          svc_webhook_ca_file => undef)
        if $nginx->modules;
}

for my $row ([ '10.1.0.0/16' ], [ '127.0.0.1' ], [ '10.1.0.0/16 fd00:1::/32' ],
             [ '10.0.0.0/8', qr/\[warn\] "svc_federation_allow 10\.0\.0\.0\/8" lets/ ])
{
    my ($status, $text) = check(svc_federation_allow => $row->[0]);

    is($status, 0, "svc_federation_allow $row->[0]") or diag($text);

    $row->[1] ? like($text, $row->[1], 'with a warning')
              : unlike($text, qr/\[warn\]/, 'without a warning');
}

fails('a name', qr/"svc_federation_allow" takes networks such as 10\.1\.0\.0\/16/,
      svc_federation_allow => 'idp.example.com');

done_testing();
