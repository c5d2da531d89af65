#!/usr/bin/perl

# Shows what make install installs, replaces and removes, and that nginx -t takes it.

use strict;
use warnings;

use Cwd qw(realpath);
use File::Path qw(remove_tree make_path);
use File::Temp ();
use Test::More;

use SvcTest;
use SvcTest::Documents qw(documents section);
use SvcTest::Load;
use SvcTest::Process qw(on_exit run slurp);
use SvcTest::Skip;

needs(program => 'make openssl');

skip_built_in();

my $dir = File::Temp::tempdir('/tmp/svcinst.XXXXXX');
on_exit(sub { remove_tree($dir) });

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};


# Runs make on a copy of the checkout: its folder has a blank, and so has the folder
# where it installs.

my $copy = "$dir/a copy";
my $root = "$dir/the root";

sub make {
    my (@args) = @_;
    my ($status, $output) = run([ 'make', '--no-print-directory', '-C', $copy,
                                  @args ], timeout => 300);

    is($status, 0, "make @args") or diag($output);

    return $output;
}


sub files {
    my ($folder) = @_;
    my ($status, $list) = run([ 'find', $folder, '!', '-type', 'd', '-printf',
                                '%P\n' ]);

    return [ sort split /\n/, $list ];
}


sub append {
    my ($path, $content) = @_;

    open my $file, '>>', $path or die "$path: $!";
    print $file $content;
    close $file or die "$path: $!";
}


mkdir $copy or die "$copy: $!";
system("cp -a --parents Makefile README.md config conf sql ngx_svc_* t/README.md .github"
       . " '$copy'"
       . " && mkdir '$copy/build'"
       . " && cp -a build/modules build/nginx-dev-* '$copy/build'") == 0 or die;
chmod 0755, $dir;

# Pages have folders within that of the others.

make_path("$copy/conf/www/svc/ui");
append("$copy/conf/www/svc/ui/one.js", 'export {};');

# Earlier versions installed a file here.

make_path("$root/usr/share/doc/ngx_svc/examples");
system("touch '$root/usr/share/doc/ngx_svc/examples/README.md'") == 0 or die;

make('install', "DESTDIR=$root");
rename $root, "$dir/root" or die "$root: $!";
$root = "$dir/root";

ok(-x "$root/usr/sbin/svcctl", 'svcctl');
like(qx('$root/usr/sbin/svcctl' --help), qr/^usage: svcctl/, 'which runs there');
like(qx('$root/usr/sbin/svcctl' --pg 'host=$dir/none' migrate 2>&1 >/dev/null),
     qr{PostgreSQL: .*$dir/none/}, 'and finds its migrations');
is(qx('$root/usr/sbin/svcctl' version),
   'svcctl ' . slurp('conf/version'), 'and the version');
like(slurp("$root/usr/share/man/man8/svcctl.8") // '', qr/^\.Nm svcctl$/m,
     'its manual page');
is(qx(bash -c '. "$root/usr/share/bash-completion/completions/svcctl"
               complete -p svcctl'), "complete -F _svcctl svcctl\n",
   'what bash completes');
ok(-x "$root/usr/share/doc/ngx_svc/examples/webhook-receiver", 'the receiver');
ok(-x "$root/usr/share/doc/ngx_svc/examples/tenant-pipeline", 'the pipeline\'s script');
is(slurp("$root/usr/share/doc/ngx_svc/$_"), slurp($_), "the document $_")
    for documents(), '.github/console.png';
ok(!-e "$root/usr/share/doc/ngx_svc/examples/README.md", 'which is no example');
ok(-e "$root/usr/share/ngx_svc/sql/0001_init.sql", 'migrations');

# The pages: a compressed file lies beside each, and the next make writes the same.

my @pages = grep { $_ ne 'README.md' } @{ files("$copy/conf/www") };
my $www = "$root/usr/share/ngx_svc/www";

is_deeply(files($www), [ sort map { ($_, "$_.gz") } @pages ],
          'pages, and each compressed');
ok((grep { m{^svc/ui/} } @pages), 'those in folders, too');
is_deeply([ map { scalar qx(gzip -dc '$www/$_.gz') } @pages ], [ map { slurp("$www/$_") } @pages ],
          'which is the same page');
is_deeply([ map { slurp("$www/$_.gz") } @pages ],
          [ map { scalar qx(gzip -9nc '$copy/conf/www/$_') } @pages ],
          'and is made of nothing else');
ok(-e "$root/usr/lib/nginx/modules/$_", $_)
    for qw(ngx_http_svc_common_module.so ngx_http_svc_scim_module.so
           ngx_http_svc_admin_module.so ngx_http_svc_webhook_module.so);

# The example gets a certificate, and the paths of this test.

make_path("$dir/etc", "$dir/tmp");
system("openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
       . " -keyout $dir/etc/login.example.com.key"
       . " -out $dir/etc/login.example.com.pem 2>/dev/null");
system("umask 077; echo \"k1:\$(openssl rand -hex 32)\" > $dir/etc/svc.keys;"
       . " : > $dir/etc/svc.pgpass");

my $lines = slurp("$root/usr/share/nginx/modules-available/mod-http-svc.conf");
my $example = slurp("$root/usr/share/doc/ngx_svc/examples/svc.conf.example");

$lines =~ s{ modules/}{ $root/usr/lib/nginx/modules/}g;
($example =~ s{# (include) /usr/share/ngx_svc/}{$1 $dir/etc/}g) == 2
    or die 'no pages in the example';

for my $name (qw(svc-www.conf svc-console.conf svc-headers.conf)) {
    append("$dir/etc/$name", slurp("$root/usr/share/ngx_svc/$name")
                             =~ s{include /usr/share/ngx_svc/}{include $dir/etc/}r);
}

$example =~ s{/etc/nginx/}{$dir/etc/}g;
$example =~ s{/var/log/nginx/}{$dir/tmp/}g;

# nginx -t binds, and an ordinary user may not bind these ports.

$example =~ s{\blisten (\[::\]:)?\K(\d+)\b}{$2 + 20000}ge;

open my $conf, '>', "$dir/nginx.conf" or die $!;
print $conf $lines, <<"TXT", $example, "}\n";
pid $dir/tmp/pid;
error_log stderr;
events { }
http {
    client_body_temp_path $dir/tmp/1; proxy_temp_path $dir/tmp/2;
    fastcgi_temp_path $dir/tmp/3; uwsgi_temp_path $dir/tmp/4;
    scgi_temp_path $dir/tmp/5;
TXT
close $conf;

my $text = qx(/usr/sbin/nginx -t -c $dir/nginx.conf 2>&1);
is($?, 0, 'nginx -t with what was installed') or diag($text);
unlike($text, qr/deprecated/, 'has nothing to say against it');


# --- the packages that the modules need ---------------------------------------------

# These packages are nginx, which depends on what it needs itself, and those of the
# libraries that the modules name.

my @so = glob(quotemeta("$root/usr/lib/nginx/modules") . '/*.so');
my %libraries = map { $_ => 1 }
                map { (run([ 'objdump', '-p', $_ ]))[1] =~ /NEEDED +(\S+)/g }
                @so;
my %paths = map { /^\t(\S+) .*=> (\S+)$/ ? ($1 => $2) : () }
            reverse split /\n/, (run([ 'ldconfig', '-p' ]))[1];
my %needed = ('nginx' => 1);

for my $library (grep { !/^lib(?:c|crypto|ssl)\.so/ } keys %libraries) {
    # Some packages have it in /lib, which is a link to /usr/lib.
    my $path = realpath($paths{$library}) =~ s{^/usr(?=/lib/)}{*}r;
    my ($status, $owner) = run([ 'dpkg', '-S', $path ]);

    is($status, 0, "$library is of a package") or diag($owner);
    $needed{ $owner =~ s/:.*//sr } = 1;
}

my ($release) = slurp('/etc/os-release') =~ /^VERSION_ID="?(\d+)/m;
my ($row) = section('conf/install.md', 'Installing')
            =~ /^\| Debian $release \| (.*) \|$/m;

is_deeply([ sort keys %needed ], [ sort +($row // '') =~ /`([^`]+)`/g ],
          'documented: the packages that the modules need');


# --- files in use are replaced ----------------------------------------------------

# Half of the modules are loaded as they were built, half as they were installed.

my $s = SvcTest->new(load => [ map({ "copy/ngx_http_svc_${_}_module.so" }
                                   qw(common scim)),
                               map({ "usr/ngx_http_svc_${_}_module.so" }
                                   qw(admin webhook)) ]);

mkdir "$s->{dir}/modules" or die $!;
symlink "$copy/build/modules", "$s->{dir}/modules/copy" or die $!;
symlink "$root/usr/lib/nginx/modules", "$s->{dir}/modules/usr" or die $!;

$s->start;

# Returns where a process has code of the modules, as the kernel shows it.

sub mapped {
    my ($pid) = @_;

    return { map { /^\S+ \S+ \S+ \S+ (\d+) +(.*\.so)( \(deleted\))?$/
                   && index($2, $dir) == 0 ? ($1 => $3 // '') : () }
             split /\n/, slurp("/proc/$pid/maps") };
}

my @workers = $s->workers;
my $load = SvcTest::Load->start($s, $s->tenant('acme'), creates => 2, reads => 2);

is_deeply([ values %{ mapped($workers[0]) } ], [ ('') x 4 ],
          'a worker has four modules');

for my $time (1 .. 3) {
    append("$copy/build/nginx-dev-cc/objs/.built", '');
    system('touch', "$copy/build/nginx-dev-cc/objs/.built");

    make('install', "DESTDIR=$root");
}

is_deeply([ values %{ mapped($workers[0]) } ], [ (' (deleted)') x 4 ],
          'they are not written into');

my $seen = $load->stop;
is_deeply([ $s->workers ], \@workers, 'no worker has died');
is_deeply([ grep { $_->[1] !~ ($_->[0] =~ /^bad/ ? qr/^400$/ : qr/^20[01]$/) }
            @{ $seen->{create} }, @{ $seen->{read} } ], [],
          'no request has failed');
$s->done;

# svcctl is a script: a shell that runs it goes on reading the old file.

my %reader;

for my $file ('usr/sbin/svcctl', 'usr/share/man/man8/svcctl.8',
              'usr/share/bash-completion/completions/svcctl')
{
    open $reader{$file}, '<', "$root/$file" or die "$file: $!";
}

make('install', "DESTDIR=$root");

for my $file (sort keys %reader) {
    isnt((stat "$root/$file")[1], (stat $reader{$file})[1],
         "$file is another file than the one that is being read");
    close $reader{$file};
}


# --- stale files, static builds, and removal ----------------------------------------

my $installed = files($root);

append("$root/usr/share/ngx_svc/sql/9999_later.sql", 'SELECT 1/0;');
make('install', "DESTDIR=$root");
is_deeply(files($root), $installed, 'migrations of another version are removed');

make('uninstall', "DESTDIR=$root");
is_deeply(files($root), [], 'make uninstall leaves nothing');

make('install', 'MODULES=', "DESTDIR=$root");
is_deeply(files($root), [ grep { !/\.so$|mod-http/ } @$installed ],
          'without modules: all the rest');
make('uninstall', 'MODULES=', "DESTDIR=$root");
is_deeply(files($root), [], 'make uninstall leaves nothing');

done_testing();
