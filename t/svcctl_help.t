#!/usr/bin/perl

# What svcctl says of itself, by --help, in its manual page, and to bash; and
# the version, which is the same everywhere.

use strict;
use warnings;

use File::Path qw(remove_tree);
use File::Temp ();
use Test::More;

use SvcTest;
use SvcTest::Process qw(on_exit run run_apart slurp);
use SvcTest::Skip;

needs(program => 'man mandoc');

my $dir = File::Temp::tempdir('/tmp/svchelp.XXXXXX');
on_exit(sub { remove_tree($dir) });

my $s = SvcTest->new->start;
my $ctl = $s->root . '/conf/svcctl';
my $version = slurp($s->root . '/conf/version') =~ s/\n//r;
my (%options, @commands);


# Without PostgreSQL: neither psql nor the server to connect to exists.

mkdir "$dir/bin" or die $!;

for my $program (qw(bash cat fmt readlink sort)) {
    my ($path) = grep { -x } map { "$_/$program" } qw(/usr/bin /bin);

    symlink $path, "$dir/bin/$program" or die "$program: $!";
}

sub svcctl {
    my (@args) = @_;
    my ($status, $out, $err) = run_apart([ '/usr/bin/env', "PATH=$dir/bin",
                                           "SVC_PG=host=$dir/none", $ctl, @args ]);

    return ($out, $status >> 8 || $status, $err);
}


sub shows {
    my (@args) = @_;
    my ($out, $rc, $err) = svcctl(@args);

    is($rc, 0, "svcctl @args");
    is($err, '', 'says nothing else');

    return $out;
}


# --- the commands -------------------------------------------------------------------

for my $line (split /\n/, shows('commands')) {
    my ($name, $options) = $line =~ /^([a-z-]+(?: [a-z-]+){0,2})((?: --[a-z-]+=?)+)$/
        or die "svcctl commands: $line\n";

    push @commands, $name;
    $options{$name} = [ $options =~ / --([a-z-]+=?)/g ];
}

cmp_ok(scalar @commands, '>', 12, 'commands');
is_deeply([ shows('--help') =~ /^  ([a-z-]+(?: [a-z-]+){0,2})  +\S/mg ], \@commands,
          'svcctl --help has each of them');
is_deeply([ shows('help'), shows('-h') ], [ (shows('--help')) x 2 ],
          'as have help and -h');

# each example is run, in an order in which they work

my $id;
my %example;

for my $name (@commands) {
    my @words = split / /, $name;
    my $text = shows(@words, '--help');

    like($text, qr/\Ausage: svcctl \Q$name\E(?: |$)/m, 'its usage');
    is_deeply([ map { s/ [A-Z]+/=/r }
                    $text =~ /^  --([a-z-]+(?: [A-Z]+)?)  +\S/mg ],
              $options{$name}, 'its options');
    is($text, shows('help', @words), "svcctl help $name");
    is($text, shows('-h', @words), "svcctl -h $name");
    ($example{$name}) = $text =~ /^Example:\n\n    svcctl (\Q$name\E.*)\n\z/m;
    ok($example{$name}, 'and an example');
    cmp_ok(length $_, '<=', 100, 'no line is too long') for split /\n/, $text;
}

like(shows('tenant', '--help'),
     qr/\Ausage:[ ]svcctl[ ]tenant[ ]create[ ]--slug.*\n[ ]{7}svcctl[ ]tenant[ ]list\n
        [ ]{7}svcctl[ ]tenant[ ]suspend[ ].*\n[ ]{7}svcctl[ ]tenant[ ]resume[ ].*\n
        [ ]{7}svcctl[ ]tenant[ ]delete[ ].*\n\z/x,
     'those that begin so');

for my $wrong ([ 'nothing' ], [ 'status', 'x' ], [ 'tenant', 'nothing' ]) {
    my ($out, $rc, $err) = svcctl(@$wrong, '--help');

    is_deeply([ $out, $rc ], [ '', 1 ], "svcctl @$wrong --help");
    is($err, "svcctl: unknown command \"@$wrong\"; see svcctl --help\n", 'is none');
}

open my $csv, '>', "$dir/sign-ins.csv" or die $!;
print $csv "at,ip,country,email\n2026-11-20T08:15:00Z,203.0.113.7,FR,\n";
close $csv;

open my $users, '>', "$dir/users.jsonl" or die $!;
print $users '{"email":"ada@acme.example","passwordHash":"$2b$12$', 'A' x 53, '"}', "\n";
close $users;

open my $list, '>', "$dir/hashes.txt" or die $!;
print $list '5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:2', "\n";
close $list;

my $redis = $s->redis->{socket};

$s->svcctl(qw(tenant create --slug old --name Old --owner ada@old.example));

for my $name (@commands) {
    my ($line, $input) = split / < /, $example{$name};
    my @args = split / /, $line;

    s{^(sign-ins\.csv|users\.jsonl|breached\.bin|svc-backup)$}{$dir/$1},
        s{^svc\.keys$}{$s->{key_file}}, s{^127\.0\.0\.1:6379$}{$redis},
        s/^[0-9a-f]{8}-.*/$id/ for @args;

    my ($out, $rc, $err) = $s->svcctl({ in => $input && "$dir/$input" }, @args);

    is($rc, 0, "svcctl $example{$name}") or diag($err);
    $s->secret($out =~ /\b((?:svc|scim)_[\w-]{43})/g);
    ($id) = $out =~ /^id +(\S+)$/m if $name eq 'token create';
}


# --- the version --------------------------------------------------------------------

like($version, qr/\A\d+\.\d+\.\d+\z/, 'the version');
is(shows('version'), "svcctl $version\n", 'of svcctl');
is(shows('--version'), "svcctl $version\n", 'in both ways');
is($s->http(GET => '/v1/openapi.json')->json->{info}{version}, $version,
   'of the contract');

sub told {
    return scalar grep { /\[notice\] .*: ngx_svc \Q$version\E$/ }
                       $s->nginx->log_lines;
}


is(told(), 1, 'in the error log, once');
is(($s->nginx->test_configuration)[0], 0, 'nginx -t');
is(told(), 1, 'starts nothing');
ok($s->reload, 'a reload');
is(told(), 2, 'says it again');


# --- the manual page ----------------------------------------------------------------

my ($status) = run([ $s->root . '/conf/svcctl.8.sh' ], out => "$dir/svcctl.8");
is($status, 0, 'svcctl.8.sh');
is((run([ 'mandoc', '-T', 'lint', '-W', 'warning', "$dir/svcctl.8" ]))[1], '',
   'mandoc has nothing to say');
is((run([ 'sh', '-c', 'man --warnings -E UTF-8 -l "$1" 2>&1 > "$1.txt"', 'sh',
          "$dir/svcctl.8" ], env => { MANWIDTH => 200, LC_ALL => 'C.UTF-8' }))[1],
   '', 'nor has groff');

my $page = slurp("$dir/svcctl.8.txt") =~ s/.\x08//gr;

for my $name (@commands) {
    like($page, qr/^ {5,7}\Q$name\E(?:  | [-\[]|$)/m, "it has $name");
    like($page, qr/^ +svcctl \Q$example{$name}\E$/m, 'and the example');
}

for my $option (map { @$_ } values %options) {
    my $name = $option =~ s/=//r;

    like($page, qr/^ {5,7}--\Q$name\E(?: [A-Z]+)?(?:$|  )/m, "it has --$name");
}

like($page, qr/\bngx_svc \Q$version\E\b/, 'and the version');
like($page, qr/^\Q$_\E$/m, $_) for 'ENVIRONMENT', 'FILES', 'EXIT STATUS';


# --- completion ---------------------------------------------------------------------

my $COMPLETE = <<'EOT';
. conf/svcctl.bash-completion
complete -p svcctl > /dev/null || exit
COMP_WORDS=(conf/svcctl "$@")
COMP_CWORD=$#
_svcctl
printf '%s\n' "${COMPREPLY[@]}"
EOT

sub completed {
    my (@words) = @_;
    my ($status, $out, $err) = run_apart([ 'bash', '-uc', $COMPLETE, 'bash',
                                           @words ], cwd => $s->root);

    is($err, '', "completion of \"@words\"");

    return [ sort grep { $_ ne '' } split /\n/, $out ];
}


my %first = map { s/ .*//r => 1 } @commands;

is_deeply(completed(''), [ sort keys %first, 'help' ], 'commands');
is_deeply(completed('te'), [ 'tenant' ], 'one that begins so');
is_deeply(completed('tenant', ''), [ qw(create delete list resume suspend) ], 'what follows');
is_deeply(completed('help', 'tenant', 'c'), [ 'create' ], 'of help, too');
is_deeply(completed('--pg', 'x', 'sta'), [ 'status' ], 'behind an option');
is_deeply(completed('oauth', ''), [ qw(key partitions retain) ], 'three words:');
is_deeply(completed('oauth', 'key', 'r'), [ qw(revoke rotate) ], 'the last');
is_deeply(completed('-'), [ qw(--help --pg --version) ], 'options of none');
is_deeply(completed('audit', 'retain', '--months', ''), [], 'no number');
is_deeply(completed('tenant', 'create', '--slug', 'a', '--name', 'b c', '--o'),
          [ '--owner' ], 'an option that is not there yet');
is_deeply(completed('tenant', 'create', '--slug', '=', 'a', '--s'), [],
          'and none that is');
is_deeply(completed('status', 'x', ''), [], 'nothing, behind an error');
is_deeply(completed('sign-ins', 'import', '--file', 'conf/svcctl.8'),
          [ 'conf/svcctl.8.sh' ], 'a file');
is_deeply(completed('sign-ins', 'import', '--file', '=', 'conf/svcctl.8'),
          [ 'conf/svcctl.8.sh' ], 'behind "="');
is_deeply(completed('breached', 'build', '--out', 'conf/svcctl.8'),
          [ 'conf/svcctl.8.sh' ], 'one to write');
is_deeply(completed('breached', 'check', '--password-stdin', '--f'), [ '--file' ],
          'an option behind one without a value');
is_deeply(completed('migrate', '--sql', 'conf/svcctl.'), [ 'conf/svcctl.d' ],
          'a folder');
is_deeply(completed('restore', '--rehearse', '--from', 'conf/svcctl.'), [ 'conf/svcctl.d' ],
          'that of a backup');
is_deeply(completed('backup', '--keys', 'conf/svcctl.8'), [ 'conf/svcctl.8.sh' ],
          'a file of keys');
is_deeply(completed('tenant', 'delete', '--now', '--c'), [ '--confirm' ],
          'behind a switch');

for my $name (@commands) {
    is_deeply(completed(split(/ /, $name), '-'),
              [ sort '--help', map { s/=//r =~ s/^/--/r } @{ $options{$name} } ],
              "all options of $name");
}

$s->done;
done_testing();
