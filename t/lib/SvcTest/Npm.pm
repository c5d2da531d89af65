package SvcTest::Npm;

# Programs for Node.js in a folder with a package-lock.json, whose packages are
# installed when they are not there: those of t/npm into build/npm.

use strict;
use warnings;

use Exporter qw(import);
use Fcntl qw(LOCK_EX);
use File::Copy qw(copy);
use File::Path qw(make_path);
use IPC::Open2;

use SvcTest::Process qw(slurp);
use SvcTest::Skip;

needs(program => 'node npm');

our @EXPORT = qw(npm_run npm_install);

my @PACKAGES = qw(package.json package-lock.json);


# Runs t/npm/$script, or one of another folder as of npm_install(), with $input;
# what it printed.  Dies when it fails.

sub npm_run {
    my ($root, $script, $input, @folder) = @_;

    my $dir = npm_install($root, @folder);
    my $pid = open2(my $out, my $in, 'node', "$dir/$script");

    print $in $input;
    close $in;

    my $text = do { local $/; <$out> };

    waitpid $pid, 0;
    die "node $script: status $?\n" if $?;

    return $text;
}


# The folder with the packages and all files of the programs; both folders are
# below $root.

sub npm_install {
    my ($root, $programs, $into) = @_;

    my $from = "$root/" . ($programs // 't/npm');
    my $dir = "$root/" . ($into // 'build/npm');

    make_path($dir);

    open my $lock, '>', "$dir/lock" or die "$dir/lock: $!\n";
    flock $lock, LOCK_EX;

    update($from, $dir, grep { !/^package/ } map { s{.*/}{}r }
                        grep { -f } glob "$from/*");

    return $dir if !update($from, $dir, @PACKAGES) && -e "$dir/installed";

    unlink "$dir/installed";

    system("cd '$dir' && npm ci --ignore-scripts --no-audit --no-fund"
           . " --loglevel=error >npm.log 2>&1") == 0
        or die 'npm ci: ' . slurp("$dir/npm.log") . "\n";

    open my $fh, '>', "$dir/installed" or die "$dir/installed: $!\n";
    close $fh;

    return $dir;
}


# Copies files that differ; how many.

sub update {
    my ($from, $dir, @names) = @_;

    my @new = grep { slurp("$from/$_") ne (slurp("$dir/$_") // '') } @names;

    for my $name (@new) {
        copy("$from/$name", $dir) or die "$from/$name: $!\n";
    }

    return scalar @new;
}


1;
