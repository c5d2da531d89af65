#!/usr/bin/perl

# make install, and nginx -t with what it installed.

use strict;
use warnings;

use File::Path qw(remove_tree make_path);
use File::Temp ();
use Test::More;

use SvcTest::Process qw(on_exit slurp);

plan skip_all => 'the modules are built in'
    if defined $ENV{SVC_TEST_MODULES} && $ENV{SVC_TEST_MODULES} eq '';

my $dir = File::Temp::tempdir('/tmp/svcinst.XXXXXX');
on_exit(sub { remove_tree($dir) });

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};

my $text = qx(make --no-print-directory install DESTDIR=$dir 2>&1);
is($?, 0, 'make install') or diag($text);

ok(-x "$dir/usr/sbin/svcctl", 'svcctl');
ok(-x "$dir/usr/share/doc/ngx_svc/examples/webhook-receiver", 'the receiver');
ok(-e "$dir/usr/share/ngx_svc/sql/0001_init.sql", 'migrations');
ok(-e "$dir/usr/lib/nginx/modules/$_", $_)
    for qw(ngx_http_svc_common_module.so ngx_http_svc_scim_module.so
           ngx_http_svc_admin_module.so ngx_http_svc_webhook_module.so);

# the example, with a certificate and the paths of here

make_path("$dir/etc", "$dir/tmp");
system("openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
       . " -keyout $dir/etc/login.example.com.key"
       . " -out $dir/etc/login.example.com.pem 2>/dev/null");
system("umask 077; echo \"k1:\$(openssl rand -hex 32)\" > $dir/etc/svc.keys");

my $load = slurp("$dir/usr/share/nginx/modules-available/mod-http-svc.conf");
my $example = slurp("$dir/usr/share/doc/ngx_svc/examples/svc.conf.example");

$load =~ s{ modules/}{ $dir/usr/lib/nginx/modules/}g;
$example =~ s{/etc/nginx/}{$dir/etc/}g;
$example =~ s{/var/log/nginx/}{$dir/tmp/}g;

# nginx -t binds, and an ordinary user may not take these ports

$example =~ s{\blisten (\[::\]:)?\K(\d+)\b}{$2 + 20000}ge;

open my $conf, '>', "$dir/nginx.conf" or die $!;
print $conf $load, <<"TXT", $example, "}\n";
pid $dir/tmp/pid;
error_log stderr;
events { }
http {
    client_body_temp_path $dir/tmp/1; proxy_temp_path $dir/tmp/2;
    fastcgi_temp_path $dir/tmp/3; uwsgi_temp_path $dir/tmp/4;
    scgi_temp_path $dir/tmp/5;
TXT
close $conf;

$text = qx(/usr/sbin/nginx -t -c $dir/nginx.conf 2>&1);
is($?, 0, 'nginx -t with what was installed') or diag($text);

done_testing();
