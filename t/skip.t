#!/usr/bin/perl

# What cannot be tested is reported and listed; with SVC_TEST_ALL it is a
# failure.  What is missing, or does not fit any more, is reported in one line.

use strict;
use warnings;

use Cwd ();
use File::Basename qw(basename);
use File::Path qw(make_path remove_tree);
use File::Temp ();
use Test::More;

use SvcTest::Postgres;
use SvcTest::Process qw(on_exit run slurp write_file);
use SvcTest::Skip;

needs(program => 'cc python3');

my $ROOT = Cwd::getcwd();
my $dir = File::Temp::tempdir('/tmp/svcskip.XXXXXX');
my $list = "$dir/skipped";

chmod 0755, $dir;
on_exit(sub { remove_tree($dir) });


# Runs a test file by prove, with an environment.

sub proved {
    my ($file, %env) = @_;

    unlink $list;

    return run([ 'prove', '-I', 't/lib', $file ], cwd => $ROOT,
               env => { SVC_TEST_SKIPPED => $list, SVC_TEST_ALL => '', %env });
}


# Tests that a file prints that line only; with SVC_TEST_ALL it fails.

sub left_out {
    my ($file, $why, %env) = @_;
    my ($status, $text) = proved($file, %env);

    is($status, 0, "$file is left out");
    is_deeply([ $text =~ /^# (.*)$/mg ], [ "not tested: $why" ], 'and says why');
    is(slurp($list), "$file: $why\n", 'which is listed');

    ($status, $text) = proved($file, %env, SVC_TEST_ALL => 1);

    isnt($status, 0, 'where all is tested it is a failure');
    is(($text =~ /^# (.*)$/m)[0], "not tested, and SVC_TEST_ALL is set: $why",
       'with the reason');
    unlike($text, qr/ line \d+/, 'and not with a place in a program');
}


# Tests that no test is run.

sub bails_out {
    my ($file, $why, %env) = @_;
    my ($status, $text) = proved($file, %env);

    isnt($status, 0, "$file is not run");
    like($text, qr/^FAILED--Further testing stopped: \Q$why\E$/m, 'and no other');
}


left_out('t/install.t', 'the modules are built into this nginx',
         SVC_TEST_MODULES => '');


# --- what is not installed ------------------------------------------------------------

# Returns a PATH that has all programs except one.

sub without {
    my ($name) = @_;
    my $bin = "$dir/without-$name";

    mkdir $bin or die "$bin: $!\n";

    for my $file (map { glob "$_/*" } split /:/, $ENV{PATH}) {
        symlink $file, "$bin/" . basename($file) if basename($file) ne $name;
    }

    return (PATH => $bin);
}

mkdir "$dir/python";
write_file("$dir/python/dnslib.py", "raise ImportError('there is none')\n");

left_out('t/domains_verify.t', 'dnslib for Python is not installed: apt-get install'
         . ' python3-dnslib, or make deps-test', PYTHONPATH => "$dir/python");
left_out('t/mfa.t', 'oathtool is not installed: apt-get install oathtool, or make'
         . ' deps-test', without('oathtool'));
bails_out('t/health.t', 'redis-server is not installed: apt-get install redis-server,'
          . ' or make deps-test', without('redis-server'));


# --- what does not fit ----------------------------------------------------------------

mkdir "$dir/none";
bails_out('t/health.t', "no modules are in $dir/none: make build",
          SVC_TEST_MODULES => "$dir/none");

# a module built for nginx 0.0.1

mkdir "$dir/other";
write_file("$dir/other.c", <<'EOT');
static long module[32] = { -1, -1, 0, 0, 0, 1 };
void *ngx_modules[] = { module, 0 };
const char *ngx_module_names[] = { "other", 0 };
EOT
system('cc', '-shared', '-fPIC', '-o', "$dir/other/other.so", "$dir/other.c") == 0
    or die "cc: $?\n";
write_file("$dir/other.t", <<'EOT');
use SvcTest;
SvcTest->new(pg => 0, redis => 0, load => [ 'other.so' ])->start;
EOT
bails_out("$dir/other.t", 'the modules are built for another nginx than '
          . ($ENV{SVC_TEST_NGINX} || '/usr/sbin/nginx')
          . ': remove build/nginx-dev-* and make build',
          SVC_TEST_MODULES => "$dir/other");


# --- PostgreSQL upgraded under a cluster ----------------------------------------------

# A copy of PostgreSQL's program, and of its libraries.

my $bin = SvcTest::Postgres->new(root => $ROOT, dir => $dir)->{bin};
my ($version) = $bin =~ m{^/usr/lib/postgresql/(\d+)/bin\z};
my $copy = "$dir/usr/lib/postgresql/$version";

make_path("$copy/bin", "$copy/lib", "$dir/usr/share/postgresql");
symlink "/usr/share/postgresql/$version", "$dir/usr/share/postgresql/$version";
system('cp', "$bin/postgres", "$copy/bin") == 0 or die "cp\n";
write_file("$dir/empty.c", "extern int gone; int *here = &gone;\n");
system('cc', '-shared', '-fPIC', '-o', "$dir/empty.so", "$dir/empty.c") == 0
    or die "cc: $?\n";

write_file("$dir/upgraded.t", <<"EOT");
use Test::More;
use SvcTest;
my \$s = SvcTest->new;
\$s->pg->{bin} = '$copy/bin';
\$s->pg->create;
\$s->sql('SELECT 1');
my \$new = \$ENV{NEW};
if (\$new) {
    system('cp', \$new, "\$ENV{OVER}.new") == 0 && rename "\$ENV{OVER}.new", \$ENV{OVER}
        or die "no \$new";
}
\$s->sql('DO \$\$ BEGIN END \$\$');
ok(0, 'it fails');
\$s->done;
done_testing();
EOT

my $told = qr/^# PostgreSQL was upgraded under this test's cluster: run it again$/m;

for my $row ([ 'nothing' ],
             [ 'the program' => "$bin/postgres", "$copy/bin/postgres" ],
             [ 'the library' => "$dir/empty.so", "$copy/lib/plpgsql.so" ])
{
    my ($what, $new, $over) = @$row;

    system('cp', "$bin/../lib/plpgsql.so", "$copy/lib") == 0 or die "cp\n";

    my ($status, $text) = proved("$dir/upgraded.t", NEW => $new // '',
                                 OVER => $over // '');

    isnt($status, 0, "a failure, with $what replaced meanwhile");
    is(scalar(() = $text =~ /$told/g), $new ? 1 : 0,
       $new ? 'is explained' : 'is one of the test') or diag($text);
    is(scalar(() = $text =~ /undefined symbol: gone/g), $what eq 'the library' ? 1 : 0,
       'as PostgreSQL says');
}


# --- all that tests need --------------------------------------------------------------

# conf/deps.sh installs everything

my %installed = map { $_ => 1 } map { split }
                slurp('conf/deps.sh') =~ /^ *\w+="(?:\$\w+ )?([^"\$]+)"$/mg;
my %known = map { $_ => 1 } map { values %{ $_->{package} } } values %SvcTest::Skip::KIND;

is_deeply([ grep { !$installed{$_} } sort keys %known ], [],
          'conf/deps.sh installs what tests say they need');
is_deeply([ grep { /^python3-/ && !$known{$_} } sort keys %installed ], [],
          'tests say that they need what it installs for Python');

# each test that uses something calls needs(), or a library that it loads does

my %text = map { $_ => slurp($_) =~ s/^ *#.*//mgr }
           grep { !m{/Skip\.pm$} } glob 't/*.t t/lib/*.pm t/lib/SvcTest/*.pm';


sub said_by {
    my ($file, $seen) = @_;

    return if !$text{$file} || $seen->{$file}++;

    my @said = map { my ($kind, $names) = /(\w+) => '(.*)'/;
                     map { "$kind $_" } split ' ', $names }
               map { /\w+ => '[^']+'/g }
               $text{$file} =~ /^ *(?:needs|must_have)\((.*?)\)/msg;

    return @said, map { said_by('t/lib/' . s{::}{/}gr . '.pm', $seen) }
                  $text{$file} =~ /^use (SvcTest(?:::\w+)?)\b/mg;
}


# Returns the modules that a text imports, except Python's own and those beside
# it.

my %own = map { $_ => 1 } split ' ', `/usr/bin/python3 -c 'import sys
print(*sys.stdlib_module_names)'`;

sub imports {
    my ($text) = @_;

    return grep { !$own{$_} && !-e "t/lib/$_.py" } $text =~ /^ *(?:import|from) (\w+)(?=[ .,\n])(?!.*")/mg;
}

my %script = map { $_ => [ imports(slurp($_)) ] }
             grep { /\.py$/ || slurp($_) =~ /\A#!.*python/ } glob 't/lib/* t/oracle/*';
my @programs = keys %{ $SvcTest::Skip::KIND{program}{package} };
my @silent;

for my $file (sort keys %text) {
    my $text = $text{$file};

    # a module for Python needs Python

    my %said = map { $_ => 1, /^python / ? ('program python3' => 1) : () }
               said_by($file, {});
    my @uses = map { "program $_" } grep {
        $text =~ m{(?:\[\ ?|system\(|'-\|',\ |new\(|start\(|sh\(|\ \|\|\ )
                   (?:'|"|qw\()(?:/usr/s?bin/)?\Q$_\E['\ ]}x
    } @programs;

    push @uses, 'program curl' if $text =~ /\bcurl /;
    push @uses, map { "python $_" } imports($text) if $text =~ /python3/;
    push @uses, map { my $name = $_; map { "python $_" } @{ $script{$name} } }
                grep { $text =~ m{\Q$_\E(?![\w.-])} } keys %script;

    push @silent, map { "$file: $_" } grep { !$said{$_}++ } @uses;
}

is(join("\n", @silent), '', 'all say what they need');

# no test skips anything in another way

my @others = grep { $_ ne $0 && $text{$_} =~ /\bskip_all\b|\bskip\b *\(|^\s*skip\b/m }
             sort keys %text;

is("@others", '', 'all say so');

done_testing();
